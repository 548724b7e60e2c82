"""Runs on a node, as ``python3 -c``: one gosbench server and one worker that nobody else can connect to.

Both listen on every address and have no option for it, and the server hands the S3 keys to whoever connects. So they
run in an enclosure, and the worker connects to its server through this program, which puts the keys into the server's
order and holds back the order to begin until it is released. The server's config has no keys. The worker's metrics
are read inside and printed once a second. Nothing but the standard library is used, of Python 3.9.

argv: DIRECTORY with ``server`` and ``worker`` (without a slash: as they are found), CONFIG (JSON, without keys).
stdin: the access key and the secret key, a line each; then a line that releases the test, or the end.
stdout: scrapes, each ``# at SECONDS STATE SENT RECEIVED``, the worker's metrics, ``# end``. SECONDS since its start,
SENT and RECEIVED the bytes that went to and from the endpoint. stderr: the logs, and its own errors as ``cephtui: ``.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Sequence
from pathlib import Path

from cephtui.tools.gosbench.enclosure_on_node import PRIVATE, Endpoint, Failure, Relays, enter_namespace
from cephtui.tools.gosbench.log import is_error, message_of

CONFIG = f"{PRIVATE}/config.json"
_SERVER_PORT, _RELAY_PORT = 2000, 2001
_END_SECONDS, _SCRAPE_SECONDS, _ANSWER_SECONDS = 1.0, 1.0, 5.0
_LOST_SERVER, _CAUSE_SECONDS = "Issues with server connection", 1.0
_ERRORS_MOST = 20
"""Lines of them that are printed: without a gateway there are thousands a second."""
_SHORT_KEY = 5
"""So short is only one that is none, and would take ordinary words out of the log."""
_KEPT = re.compile(rb"gosbench_(?:finished_ops|failed_ops|uploaded_bytes|downloaded_bytes|ops_latency|test_)")
_SERVER_USAGE, _WORKER_USAGE = b"Config file describing test run", b"Gosbench Server IP and Port"


def find_programs(directory: str) -> tuple[str, str]:
    """The paths of ``server`` and ``worker``; raises Failure."""
    places = [directory] if "/" in directory else [*os.get_exec_path(), str(Path("~/go/bin").expanduser())]
    for place in places:
        server, worker = f"{place}/server", f"{place}/worker"
        if _says(server, _SERVER_USAGE) and _says(worker, _WORKER_USAGE):
            return server, worker
    where = f"in {directory}" if "/" in directory else "in PATH and ~/go/bin"
    raise Failure(f"gosbench server and worker are not {where}")


def _says(program: str, usage: bytes) -> bool:
    """Whether a program has this in its usage: their names are those of many programs."""
    if not os.access(program, os.X_OK):
        return False
    try:
        completed = subprocess.run(
            [program, "-h"], capture_output=True, timeout=10, stdin=subprocess.DEVNULL, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return usage in completed.stderr + completed.stdout


# ---------------------------------------------------------------------------------------------- server and worker


class Test:
    """The server, its worker, and what is between them."""

    def __init__(self, programs: tuple[str, str], keys: Sequence[str], relays: Relays) -> None:
        self.server, self.worker = programs
        self.keys, self.relays = keys, relays
        self.state, self.failure = "preparing", ""
        self.began = time.monotonic()
        self.ready, self.released, self.scrape_now, self.over = (asyncio.Event() for _ in range(4))
        self.processes: list[asyncio.subprocess.Process] = []

    async def run(self) -> int:
        """Run both programs from their start to their end; gives the exit status, raises Failure."""
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self.over.set)
        tasks = [asyncio.create_task(work) for work in (self.wait_for_release(), self.scrape_each_second())]
        try:
            await self.start()
            await self.over.wait()
        finally:
            for task in tasks:
                task.cancel()
            await self.end()
        if self.failure:
            raise Failure(self.failure)
        return 0 if self.state == "done" else 128 + signal.SIGTERM

    async def start(self) -> None:
        """The server first, then its worker."""
        await self.launch("server", self.server, "-c", CONFIG, "-p", str(_SERVER_PORT))
        await within(None, self.ready.wait(), self.over.wait())
        if not self.over.is_set():
            await asyncio.start_server(self.join, "127.0.0.1", _RELAY_PORT)
            await self.launch("worker", self.worker, "-s", f"127.0.0.1:{_RELAY_PORT}")

    async def launch(self, name: str, *argv: str) -> None:
        """Start one of them and follow its log."""
        passed_on = ("CEPHTUI_RUN", "PATH", "SSL_CERT_FILE", "SSL_CERT_DIR")
        env = {"HOME": PRIVATE, **{name: os.environ[name] for name in passed_on if name in os.environ}}
        process = await asyncio.create_subprocess_exec(
            *argv,
            cwd=PRIVATE,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a TERM of timeout(1) to its group must leave the last figures
        )
        self.processes.append(process)
        asyncio.create_task(self.follow(name, process))  # noqa: RUF006  # lives as long as the process

    async def follow(self, name: str, process: asyncio.subprocess.Process) -> None:
        """Print its log, and see in it where the test is."""
        assert process.stdout
        last, errors = "", 0
        while line := await read_line(process.stdout):
            text = self.without_keys(line)
            errors += is_error(text)
            if not is_error(text) or errors <= _ERRORS_MOST:
                print(f"{name}: {text}", file=sys.stderr, flush=True)
            last = text or last
            self.take(name, text)
        status = await process.wait()
        if status > 0:  # the other may have been killed, which is the cause and may be seen later
            await within(_CAUSE_SECONDS, self.over.wait())
        if not self.over.is_set():
            self.fail(f"gosbench's {name} has ended with status {status}: {message_of(last)}")

    def without_keys(self, line: bytes) -> str:
        """A line of the log; no key is expected in one."""
        text = line.decode("utf-8", "replace").rstrip()
        for key in self.keys:
            text = text.replace(key, "***") if len(key) > _SHORT_KEY else text
        return text

    def take(self, name: str, text: str) -> None:
        """A line of the log."""
        message = message_of(text)
        if name == "server" and message == "Ready to accept connections":
            self.ready.set()
        elif name == "worker" and message == "All clients finished":
            self.state = "done"
            self.over.set()
        elif self.state == "preparing" and is_error(text):
            reason = f"the preparation failed: {message}"
            if message.startswith(_LOST_SERVER):  # the end of the server, its cause, may be seen later
                asyncio.get_running_loop().call_later(_CAUSE_SECONDS, self.fail, reason)
            else:
                self.fail(reason)

    def enter(self, state: str) -> None:
        """A part of the test begins."""
        self.state = state
        self.scrape_now.set()

    def fail(self, reason: str) -> None:
        """End it; the first reason counts."""
        self.failure = self.failure or reason
        self.over.set()

    async def join(self, from_worker: asyncio.StreamReader, to_worker: asyncio.StreamWriter) -> None:
        """Connect the worker to the server."""
        with contextlib.suppress(OSError):  # one of them has ended, which its log explains
            from_server, to_server = await asyncio.open_connection("127.0.0.1", _SERVER_PORT)
            await asyncio.gather(self.report(from_worker, to_server), self.order(from_server, to_worker))

    async def report(self, from_worker: asyncio.StreamReader, to_server: asyncio.StreamWriter) -> None:
        """What the worker reports goes to the server as it is."""
        while line := await read_line(from_worker):
            to_server.write(line)
        to_server.close()

    async def order(self, from_server: asyncio.StreamReader, to_worker: asyncio.StreamWriter) -> None:
        """What the server orders: the keys go into the first, and the second waits for the release."""
        while line := await read_line(from_server):
            order = json.loads(line)
            if order.get("Message") == "init":
                access_key, secret_key = self.keys
                order["Config"]["S3Config"].update(access_key=access_key, secret_key=secret_key)
                line = json.dumps(order).encode() + b"\n"
            elif order.get("Message") == "start work":
                self.enter("prepared")
                await self.released.wait()
                self.enter("working")
            to_worker.write(line)
        to_worker.close()

    async def wait_for_release(self) -> None:
        """A line on stdin, or its end where nobody releases it."""
        reader = asyncio.StreamReader()
        with contextlib.suppress(OSError, ValueError):
            protocol = asyncio.StreamReaderProtocol(reader)
            await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
            await reader.readline()
        self.released.set()

    async def scrape_each_second(self) -> None:
        """Until it is cancelled."""
        at = time.monotonic()
        while True:
            at = max(at + _SCRAPE_SECONDS, time.monotonic())
            await within(at - time.monotonic(), self.scrape_now.wait())
            self.scrape_now.clear()
            await self.scrape()

    async def scrape(self) -> None:
        """Print the worker's metrics, once."""
        state, reading = self.state, asyncio.ensure_future(get_metrics())
        await within(_ANSWER_SECONDS, reading)
        metrics = b"" if reading.cancelled() or reading.exception() else reading.result()
        if not metrics and state in ("working", "done"):
            return
        sent, received = self.relays.passed_on
        lines = [f"# at {time.monotonic() - self.began:.6f} {state} {sent} {received}"]
        lines += [line.decode("utf-8", "replace") for line in metrics.splitlines() if _KEPT.match(line)]
        print("\n".join([*lines, "# end"]), flush=True)

    async def end(self) -> None:
        """End both programs with TERM, then KILL; what was done until now is printed first.

        Nothing is waited for: the worker would rest for 10 s, and the server for ever.
        """
        if self.state in ("working", "done"):
            await self.scrape()
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
        await asyncio.gather(*(within(_END_SECONDS, process.wait()) for process in self.processes))
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                process.kill()


async def within(seconds: float | None, *waits: Awaitable[object]) -> None:
    """Wait for the first of these, so long at most; what has not ended then is cancelled."""
    futures = [asyncio.ensure_future(wait) for wait in waits]
    await asyncio.wait(futures, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for future in futures:
        future.cancel()
    await asyncio.gather(*futures, return_exceptions=True)


async def read_line(reader: asyncio.StreamReader) -> bytes:
    """The next line; one that is too long is left out."""
    while True:
        try:
            return await reader.readline()
        except ValueError:
            continue


def metrics_port() -> int:
    """Where the worker has its metrics, 0 where that is not known yet.

    It opens the port before it reads the option that names one, and so takes any. In the namespace nothing else
    listens on every address but the server.
    """
    rows = [row.split() for name in ("tcp6", "tcp") for row in Path("/proc/self/net", name).read_text().splitlines()]
    listening = [row[1].split(":") for row in rows if len(row) > 3 and row[3] == "0A"]
    ports = [int(port, 16) for address, port in listening if not address.strip("0")]
    return next((port for port in ports if port != _SERVER_PORT), 0)


async def get_metrics() -> bytes:
    """All of the worker's metrics; raises OSError."""
    reader, writer = await asyncio.open_connection("127.0.0.1", metrics_port())
    try:
        writer.write(b"GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n")
        return await reader.read()
    finally:
        writer.close()


def read_keys() -> list[str]:
    """A line each, and not a byte more: what follows is the release. Raises Failure."""
    text = b""
    while text.count(b"\n") < 2 and (byte := os.read(0, 1)):
        text += byte
    keys = text.decode().splitlines()
    if len(keys) != 2:
        raise Failure("no S3 keys came on stdin")
    return keys


async def run_test(programs: tuple[str, str], keys: Sequence[str], relays: Relays) -> int:
    """In the loop that Python 3.9 has its events belong to."""
    return await Test(programs, keys, relays).run()


def main() -> int:
    """Its exit status."""
    directory, config = sys.argv[1:3]
    os.environ["PATH"] = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    try:
        programs = find_programs(directory)
        keys = read_keys()
        endpoint = Endpoint(json.loads(config)["s3_config"][0]["endpoint"])
        relays = Relays(endpoint)
        enter_namespace()
        relays.hand_over(endpoint.listen())
        Path(CONFIG).write_text(config)
        Path(PRIVATE, "gosbench_results.csv").touch()  # else it would be appended to one in /tmp
        return asyncio.run(run_test(programs, keys, relays))
    except Failure as failure:
        print(f"cephtui: {failure}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
