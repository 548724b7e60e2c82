"""gosbench's server and worker on a node, with stand-ins that speak as they do: nobody else reaches them."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import hmac
import json
import secrets
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from cephtui.nodes.local import LocalConnection
from cephtui.nodes.transport import Command
from cephtui.nodes.watched import WatchedProcess
from cephtui.tools.base import Reading
from cephtui.tools.gosbench.output import GosbenchParser
from cephtui.tools.gosbench.script import script_argv
from tests.end_to_end.sandbox import Process, processes_marked, wait_for
from tests.lab.processes import holders
from tests.support.waiting import LEAST_SECONDS

STAND_IN = Path(__file__).parents[1] / "gosbench_stand_in"
ACCESS, SECRET = "canary-access-key", "canary-secret-key"
SIZE, PREPARED = 1000, 3
"""Bytes of an object, and how many are there before."""
pytestmark = pytest.mark.root


class Gateway(ThreadingHTTPServer):
    """An S3 service that takes everything, and counts it."""

    daemon_threads = True

    def __init__(self, *, status: int = 200) -> None:
        super().__init__(("127.0.0.1", 0), _Request)
        self.status, self.counted, self.unsigned = status, Counter[str](), list[str]()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://localhost:{self.server_port}"


class _Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Gateway

    def do_PUT(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def do_GET(self) -> None:
        self._answer(b"")

    def _answer(self, body: bytes) -> None:
        body = body or bytes(SIZE)
        self.server.counted["bucket" if self.path.endswith("/") else self.command] += 1
        text = f"{self.command}\n\n\n{self.headers['Date']}\n{self.path}"
        signature = base64.b64encode(hmac.new(SECRET.encode(), text.encode(), hashlib.sha1).digest()).decode()
        if self.headers["Authorization"] != f"AWS {ACCESS}:{signature}":
            self.server.unsigned.append(self.path)
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(SIZE if self.command == "GET" else 0))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


class Bench:
    """Test runs on this machine, and what lives of them."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway, self.token = gateway, secrets.token_hex(16)
        self.parser = GosbenchParser(SIZE, None)
        self.readings: list[Reading] = []
        self.text = ""

    def config(self, name: str, seconds: float) -> str:
        objects = {"size_min": SIZE, "number_min": 2 * PREPARED}
        test = {"name": name, "objects": objects, "bucket_prefix": "cephtui-", "workers": 1}
        return json.dumps(
            {
                "s3_config": [{"endpoint": self.gateway.url}],
                "tests": [{**test, "stop_with_runtime": f"{seconds}s"}],
            }
        )

    async def start(self, name: str = "cephtui", seconds: float = 1.5, where: str = str(STAND_IN)) -> WatchedProcess:
        """From its release on."""
        argv = script_argv(where, self.config(name, seconds))
        command = Command(argv, limit_seconds=60, token=self.token, secrets=(ACCESS, SECRET), goes_on=True)
        process = await LocalConnection().start(command)
        process.release()
        return process

    async def until(self, process: WatchedProcess, words: str) -> None:
        """Read on until the output has these words, or has ended."""
        async for chunk in process.chunks():
            self.text += chunk.data.decode()
            self.readings += self.parser.feed(chunk.stream, chunk.data, 0.0)
            if words and words in self.text:
                return

    async def end(self, process: WatchedProcess) -> int | None:
        """Its exit status, when it has ended; nothing of it lives then."""
        await self.until(process, "")
        self.readings += self.parser.finish()
        status = await process.wait()
        wait_for(lambda: not self.living(), 30, "the end of every process", lambda: str(self.living()))
        return status

    def living(self) -> list[Process]:
        """The processes of the run."""
        return processes_marked(f"CEPHTUI_RUN={self.token}")

    def victim(self, name: str) -> Process:
        """A process of the run: the program on the node itself, one that relays outside, or one of gosbench's."""
        programs = [each for each in self.living() if each.program.startswith("python")]
        if name in ("server", "worker"):
            return next(each for each in programs if each.argv[1].endswith(f"/{name}"))
        own = [each for each in programs if each.argv[1] == "-c"]
        return next(each for each in own if is_outside(each) == (name == "relay"))


def is_outside(process: Process) -> bool:
    """Whether it is in the network namespace of the tests."""
    return Path(f"/proc/{process.pid}/ns/net").readlink() == Path("/proc/self/ns/net").readlink()


@pytest.fixture
def bench() -> Iterator[Bench]:
    gateway = Gateway()
    bench = Bench(gateway)
    yield bench
    for process in bench.living():
        process.kill()
    gateway.shutdown()
    gateway.server_close()


def opened(process: Process) -> Iterator[str]:
    """Its files and sockets."""
    for file in Path(f"/proc/{process.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            yield str(file.readlink())


def listening(processes: Iterable[Process], net: Path) -> set[str]:
    """The addresses on which these listen, of those that ``net``, a network namespace's tables, has."""
    held = {name for process in processes for name in opened(process)}
    rows = [row.split() for name in ("tcp", "tcp6") for row in (net / name).read_text().splitlines()]
    return {row[1] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in held}


async def test_what_it_counts_is_what_the_gateway_has_served(bench: Bench) -> None:
    process = await bench.start()
    await bench.until(process, " prepared ")
    process.go_on()
    assert await bench.end(process) == 0, bench.text
    result = bench.parser.result()
    assert result.read is not None
    assert result.write is not None
    assert result.error is None
    puts, gets = result.write.ios or 0, result.read.ios or 0
    assert bench.gateway.counted == {"bucket": 1, "PUT": PREPARED + puts, "GET": gets}
    assert bench.gateway.unsigned == [], "the keys came by stdin, into the server's order"
    assert (result.write.bytes, result.read.bytes) == (puts * SIZE, gets * SIZE)
    run = [reading for reading in bench.readings if reading.phase == "run"]
    assert sum(reading.write.ios or 0 for reading in run if reading.write) == puts
    assert "canary" not in bench.text


async def test_nobody_reaches_its_ports_or_its_keys(bench: Bench) -> None:
    process = await bench.start(seconds=30)
    await bench.until(process, " prepared ")
    process.go_on()
    await bench.until(process, " working ")
    assert listening(bench.living(), Path("/proc/net")) == set()
    assert holders("canary") == set()
    inside = bench.victim("server")
    files = [path for path in Path(f"/proc/{inside.pid}/root/dev/shm").iterdir() if path.is_file()]
    assert {path.name for path in files} == {"config.json", "gosbench_results.csv", "hosts"}
    assert "canary" not in "".join(path.read_text() for path in files)
    ports = {address[-4:] for address in listening(bench.living(), Path(f"/proc/{inside.pid}/net"))}
    assert "07D0" in ports, "it listens there, on every address of its own"
    await process.stop()
    await bench.end(process)


async def test_it_waits_for_the_others(bench: Bench) -> None:
    process = await bench.start(seconds=0.2)
    await bench.until(process, " prepared ")
    await asyncio.sleep(0.5)
    assert bench.gateway.counted == {"bucket": 1, "PUT": PREPARED}, "nothing is measured before the order"
    process.go_on()
    assert await bench.end(process) == 0


async def test_one_that_dies_in_its_preparation_ends_the_run_with_its_reason(bench: Bench) -> None:
    process = await bench.start("dies")
    assert await bench.end(process) == 1
    assert (bench.parser.result().error or "").endswith(": Problems when listing contents of bucket")


async def test_a_preparation_that_fails_is_no_test(bench: Bench) -> None:
    bench.gateway.status = 403
    process = await bench.start()
    assert await bench.end(process) == 1
    assert (bench.parser.result().error or "").endswith(": Issues when creating bucket: StatusCode: 403")


async def test_a_gateway_that_is_not_there_is_named(bench: Bench) -> None:
    bench.gateway.shutdown()
    bench.gateway.server_close()
    process = await bench.start()
    assert await bench.end(process) == 1
    assert (bench.parser.result().error or "").endswith(f"{bench.gateway.url}: Connection refused")


async def test_programs_of_these_names_that_are_others(bench: Bench, tmp_path: Path) -> None:
    for name in ("server", "worker"):
        (tmp_path / name).write_text("#!/bin/sh\necho 'another program'\n")
        (tmp_path / name).chmod(0o755)
    process = await bench.start(where=str(tmp_path))
    assert await bench.end(process) == 1
    assert (bench.parser.result().error or "").endswith(f" {tmp_path}")


async def test_a_stop_keeps_the_figures(bench: Bench) -> None:
    process = await bench.start(seconds=30)
    await bench.until(process, " prepared ")
    process.go_on()
    await bench.until(process, 'finished_ops{method="PUT"')
    async with asyncio.timeout(LEAST_SECONDS):
        await process.stop()
        assert await bench.end(process) == 143, bench.text
    result = bench.parser.result()
    assert result.write is not None
    assert result.write.ios


@pytest.mark.parametrize("step", ["Got config from server", " prepared ", " working "])
@pytest.mark.parametrize("victim", ["itself", "server", "worker", "relay"])
async def test_nothing_lives_after_a_kill_at_each_step(bench: Bench, step: str, victim: str) -> None:
    process = await bench.start(seconds=30)
    await bench.until(process, " prepared " if step == " working " else step)
    if step == " working ":
        process.go_on()
        await bench.until(process, step)
    bench.victim(victim).kill()
    if victim == "relay":  # there are others
        await process.stop()
    assert await bench.end(process) not in (0, None)
    if victim in ("server", "worker"):
        reason = bench.parser.result().error or ""
        assert f"{victim} " in reason
        assert " -9: " in reason
