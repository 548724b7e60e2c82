"""A stand-in for hsbench: the same options, requests and lines, with less speed. Started as a script.

Like a program in Go it copies its environment at its start, and looks into that copy later.
"""

from __future__ import annotations

import argparse
import http.client
import os
import re
import ssl
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

# With its package would come libraries that the Python of a node does not have.
signing = sys.modules["signing"] = types.ModuleType("signing")
exec((Path(__file__).parents[2] / "cephtui/targets/s3/signing.py").read_text(), vars(signing))

OPERATIONS = {"i": ("BUCKET INIT", "BINIT"), "p": ("OBJECT PUT", "PUT"), "l": ("BUCKET LIST", "LIST"),
              "g": ("OBJECT GET", "GET"), "d": ("OBJECT DELETE", "DEL")}  # fmt: skip
_PAUSE_SECONDS = 0.005
"""Before each request: it is no measure of a gateway, and others want the processor."""
ERRORS = {"p": "upload", "g": "download", "d": "delete"}


def log(text: str) -> None:
    print(f"{datetime.now():%Y/%m/%d %H:%M:%S} {text}", file=sys.stderr, flush=True)


def fail(text: str) -> None:
    log(text)
    os._exit(1)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("-a", default="")
    parser.add_argument("-s", default="")
    parser.add_argument("-u", required=True)
    parser.add_argument("-m", default="cxiplgdcx")
    parser.add_argument("-bp", default="hotsauce-bench")
    parser.add_argument("-b", type=int, default=1)
    parser.add_argument("-d", type=int, default=60)
    parser.add_argument("-t", type=int, default=1)
    parser.add_argument("-z", default="1048576B")
    return parser.parse_args()


class Refused(Exception):
    """The endpoint did not do it."""


def connection(url: str) -> http.client.HTTPConnection:
    """As hsbench connects: it looks at no certificate."""
    found = urlsplit(url)
    if found.scheme == "https":
        unchecked = ssl._create_unverified_context()
        return http.client.HTTPSConnection(found.netloc, timeout=30, context=unchecked)
    return http.client.HTTPConnection(found.netloc, timeout=30)


class Client:
    """One connection."""

    def __init__(self, url: str, keys: tuple[str, str]) -> None:
        self._url, self._keys = url, keys
        self._connection = connection(url)

    def send(self, method: str, path: str, body: str = "", query: dict[str, str] | None = None) -> str:
        request = signing.S3Request(method, self._url, path, query or {}, body)
        headers = signing.signed_headers(request, self._keys, datetime.now(UTC))
        self._connection.request(method, request.url.removeprefix(self._url), body, headers)
        answer = self._connection.getresponse()
        text = answer.read().decode("utf-8", "replace")
        if answer.status >= 300:
            found = re.search(r"<Code>(\w+)</Code>", text)
            raise Refused(
                f"{found[1] if found else 'Unknown'}: \n\tstatus code: {answer.status}, request id: tx0, host id: "
            )
        return text


class Bench:
    """All threads of an operation, one operation after the other."""

    def __init__(self, options: argparse.Namespace, keys: tuple[str, str]) -> None:
        self.options, self.keys = options, keys
        self.size = int(options.z.removesuffix("B"))
        self.body = "x" * self.size
        self.count = 0
        """Objects that were written."""
        self._lock = threading.Lock()

    def run(self, letter: str) -> None:
        title, mode = OPERATIONS[letter]
        log(f"Running Loop 0 {title} TEST")
        self._next, self._slow, self._said = iter(self._work(letter)), 0, 0
        self._done: list[tuple[float, float]] = []
        self._begun = time.monotonic()
        threads = [threading.Thread(target=self._thread, args=(letter, mode)) for _ in range(self.options.t)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        lasted = time.monotonic() - self._begun
        if letter == "p":
            self.count = len(self._done)
        self._print("TOTAL", lasted, mode, [took for _, took in self._done])

    def _work(self, letter: str) -> Iterator[Callable[[Client], object]]:
        """What is to be done, until its time is over."""
        until = time.monotonic() + self.options.d
        buckets = [f"/{self.options.bp}{number:012}" for number in range(self.options.b)]
        if letter in "il":
            method, query = ("PUT", {}) if letter == "i" else ("GET", {"max-keys": "1000"})
            for bucket in buckets:
                yield lambda client, at=bucket: client.send(method, at, "", query)  # type: ignore[misc]
            return
        number = 0
        while time.monotonic() < until and (letter == "p" or number < self.count):
            path = f"{buckets[number % len(buckets)]}/{number:012}"
            method, body = {"p": ("PUT", self.body), "g": ("GET", ""), "d": ("DELETE", "")}[letter]
            yield lambda client, at=path, how=method, what=body: client.send(how, at, what)  # type: ignore[misc]
            number += 1

    def _thread(self, letter: str, mode: str) -> None:
        client, errors = Client(self.options.u, self.keys), 0
        while errors < 3:
            with self._lock:
                work = next(self._next, None)
            if work is None:
                return
            time.sleep(_PAUSE_SECONDS)
            began = time.monotonic()
            try:
                work(client)
            except (Refused, OSError) as error:
                if letter == "i":
                    what = f"Unable to create bucket {self.options.bp} (is your access and secret correct?)"
                    fail(f"FATAL: {what}: {error}")
                errors += 1
                self._slow += 1
                log(f"{ERRORS[letter]} err%!(EXTRA *s3err.RequestFailure={error})")
                continue
            with self._lock:
                now = time.monotonic()
                self._say_intervals(mode, now)
                self._done.append((now - self._begun, now - began))

    def _say_intervals(self, mode: str, now: float) -> None:
        while now - self._begun > self._said + 1:
            took = [took for at, took in self._done if self._said <= at < self._said + 1]
            self._print(str(self._said), 1.0, mode, took)
            self._said += 1

    def _print(self, number: str, lasted: float, mode: str, took: list[float]) -> None:
        ms = sorted(1000 * each for each in took) or [0.0]
        moved = len(took) * (self.size if mode in ("PUT", "GET", "DEL") else 0)
        p99 = ms[max(0, round(0.99 * len(ms)) - 1)]
        latency = f"min: {ms[0]:.1f}, avg: {sum(ms) / len(ms):.1f}, 99%: {p99:.1f}, max: {ms[-1]:.1f}"
        log(
            f"Loop: 0, Int: {number}, Dur(s): {lasted:.1f}, Mode: {mode}, Ops: {len(took)}, "
            f"MB/s: {moved / lasted / (1 << 20):.2f}, IO/s: {len(took) / lasted:.0f}, "
            f"Lat(ms): [ {latency} ], Slowdowns: {self._slow}"
        )


def main() -> None:
    copied = [name + b"=" + value for name, value in os.environb.items()]
    options = parsed()
    if not options.a and not any(each.startswith(b"AWS_ACCESS_KEY_ID=") for each in copied):
        fail("Missing argument -a for access key.")
    log("Hotsauce S3 Benchmark Version 0.1")
    log("Parameters:")
    log(f"url={options.u}")
    known = dict(each.decode().split("=", 1) for each in copied)
    keys = options.a or known["AWS_ACCESS_KEY_ID"], options.s or known["AWS_SECRET_ACCESS_KEY"]
    bench = Bench(options, keys)
    for letter in options.m:
        bench.run(letter)


if __name__ == "__main__":
    main()
