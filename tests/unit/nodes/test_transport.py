"""What all channels to a process have in common, over one that does nothing."""

from __future__ import annotations

import asyncio
import itertools
import os
import time
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.nodes import local, watched
from cephtui.nodes.local import LocalConnection
from cephtui.nodes.replay import ReplayProcess, _Piece
from cephtui.nodes.transport import Chunk, Command, TransportError
from cephtui.nodes.watched import WatchedProcess, until_ready
from cephtui.printable import shortened
from cephtui.tools.base import Stream
from tests.lab.processes import all_pids, command_of
from tests.support.golden import Golden

READY, STARTED = b"cephtui ready t\n", b"cephtui started t\n"
COMMAND = Command(["true"], limit_seconds=1, token="t")


class NoChannel:
    """Remembers what was sent."""

    def __init__(self) -> None:
        self.sent: list[bytes | str] = []

    def write(self, data: bytes) -> None:
        self.sent.append(data)

    def write_eof(self) -> None:
        self.sent.append("eof")

    def pause(self) -> None:
        self.sent.append("pause")

    def resume(self) -> None:
        self.sent.append("resume")

    def abandon(self) -> None:
        self.sent.append("abandon")


async def everything(process: Any) -> list[tuple[Stream, bytes]]:
    """All output."""
    return [(chunk.stream, chunk.data) async for chunk in process.chunks()]


def outputs(events: list[tuple[Stream, bytes]]) -> dict[Stream, bytes]:
    """The output of each stream, put together."""

    async def run() -> dict[Stream, bytes]:
        process = WatchedProcess(NoChannel(), COMMAND)
        for stream, data in events:
            process.received(stream, data)
        process.ended()
        found: dict[Stream, bytes] = {"stdout": b"", "stderr": b""}
        for stream, data in await everything(process):
            found[stream] += data
        return found

    return asyncio.run(run())


@given(st.binary(max_size=40), st.binary(max_size=40), st.lists(st.integers(0, 200)), st.lists(st.integers(0, 200)))
def test_output_may_be_cut_anywhere(noise: bytes, output: bytes, cuts: list[int], more_cuts: list[int]) -> None:
    def pieces(stream: Stream, data: bytes, at: list[int]) -> list[tuple[Stream, bytes]]:
        edges = sorted({0, len(data), *(cut for cut in at if cut < len(data))})
        return [(stream, data[a:b]) for a, b in itertools.pairwise(edges)]

    told = pieces("stdout", noise + READY + noise + STARTED + output, cuts)
    assert outputs(told + pieces("stderr", noise + READY + output, more_cuts)) == {"stdout": output, "stderr": output}


def test_a_flood_before_the_start_is_not_kept() -> None:
    streams: tuple[Stream, ...] = ("stdout", "stderr")
    flood = [(stream, bytes(1 << 20)) for stream in streams for _ in range(5)]
    assert len(outputs(flood)["stderr"]) <= 2 * 65536
    told: list[tuple[Stream, bytes]] = [*flood, ("stdout", READY + STARTED + b"out"), ("stderr", READY + b"err")]
    assert outputs(told) == {"stdout": b"out", "stderr": b"err"}


def test_what_was_said_instead_of_ready_is_told_as_an_error() -> None:
    told: list[tuple[Stream, bytes]] = [("stdout", b"not available\n"), ("stderr", b"no such account\n")]
    assert outputs(told) == {"stdout": b"", "stderr": b"not available\nno such account\n"}


def test_what_was_said_before_ready_is_nothing_where_it_was_ready() -> None:
    told: list[tuple[Stream, bytes]] = [("stderr", b"motd\n" + READY), ("stdout", b"motd\n" + READY + b"odd\n")]
    assert outputs(told) == {"stdout": b"", "stderr": b""}


async def test_the_heartbeat_goes_on_until_the_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched, "HEARTBEAT_SECONDS", 0.02)
    channel = NoChannel()
    process = WatchedProcess(channel, COMMAND)
    assert channel.sent == []
    process.opened()
    assert channel.sent == [b"\n"]
    await asyncio.sleep(0.2)
    process.release()
    await asyncio.sleep(0.2)
    await process.stop()
    beats = list(channel.sent)
    assert beats[-1] == "eof"
    assert 5 < beats.count(b"\n") < 25
    assert 2 < beats.index(b"go\n") < len(beats) - 3
    await asyncio.sleep(0.1)
    assert channel.sent == beats
    process.ended()


async def test_a_console_that_stands_still_knows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the heartbeats that it sent, and where the process has ended meanwhile too."""
    monkeypatch.setattr(watched, "HEARTBEAT_SECONDS", 0.02)
    quick, stood = WatchedProcess(NoChannel(), COMMAND), WatchedProcess(NoChannel(), COMMAND)
    time.sleep(0.4)  # before the way is open there is no heartbeat to miss
    quick.opened()
    await asyncio.sleep(0.05)
    await quick.stop()
    assert quick.longest_pause_seconds < 0.3
    stood.opened()
    time.sleep(0.4)
    stood.exited(76)
    assert stood.longest_pause_seconds >= 0.4
    assert not stood.connection_lost
    stood.ended(lost=True)
    assert stood.connection_lost
    quick.ended()


async def test_the_start_is_timed_by_its_report_less_half_the_round_trip() -> None:
    process = WatchedProcess(NoChannel(), COMMAND, round_trip_seconds=0.2)
    process.received("stdout", READY)
    await process.ready()
    before = time.monotonic()
    process.release()
    released = process.released_at
    assert before <= released <= time.monotonic()
    process.received("stdout", b"cephtui star")
    await asyncio.sleep(0.3)
    assert process.released_at == released
    before = time.monotonic()
    process.received("stdout", b"ted t\nout")
    assert before - 0.1 <= process.released_at <= time.monotonic() - 0.1
    process.ended()
    (chunk,) = [chunk async for chunk in process.chunks()]
    assert chunk == Chunk("stdout", chunk.time, b"out")
    assert before <= chunk.time <= time.monotonic()


async def test_nothing_has_begun_before_its_release() -> None:
    process = WatchedProcess(NoChannel(), COMMAND, round_trip_seconds=60)
    process.received("stdout", READY)
    process.release()
    released = process.released_at
    process.received("stdout", STARTED)
    assert process.released_at == released
    process.ended()


@pytest.mark.parametrize(("status", "lost", "expected"), [(3, False, 3), (0, True, None), (None, False, None)])
async def test_no_status_of_what_was_lost(status: int | None, lost: bool, expected: int | None) -> None:
    process = WatchedProcess(NoChannel(), COMMAND)
    process.exited(status)
    process.ended(lost=lost)
    process.ended()
    assert await process.wait() is expected
    assert await everything(process) == []
    assert await everything(process) == []


@pytest.mark.parametrize("exited", [True, False])
async def test_what_does_not_end_is_let_go(exited: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched, "_ABANDON_SECONDS", 0.1)
    channel = NoChannel()
    process = WatchedProcess(channel, COMMAND)
    if exited:
        process.exited(5)
    else:
        await process.stop()
    assert await asyncio.wait_for(process.wait(), 1) == (5 if exited else None)
    assert channel.sent == ["eof", "abandon"]


async def test_what_is_never_ready_is_let_go_with_its_last_words(
    monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    monkeypatch.setattr(watched, "READY_SECONDS", 0.1)
    channel = NoChannel()
    process = WatchedProcess(channel, COMMAND)
    process.received("stderr", b"a\n\n  moment\x1b\n")
    with pytest.raises(TransportError) as error:
        await until_ready(process, "n1")
    golden.same(str(error.value))
    assert channel.sent == ["abandon"]


async def test_a_replay_waits_for_its_release_too() -> None:
    process = ReplayProcess([_Piece("stdout", 0.0, b"out")], speed=1.0)
    reading = asyncio.create_task(everything(process))
    await asyncio.sleep(0.1)
    assert not reading.done()
    process.release()
    assert await reading == [("stdout", b"out")]
    assert await process.wait() == 0


async def test_output_that_is_not_read_makes_its_process_wait() -> None:
    channel = NoChannel()
    process = WatchedProcess(channel, COMMAND)
    process.received("stdout", READY + STARTED)
    for _ in range(200):
        if "pause" in channel.sent:
            break
        process.received("stdout", b"x" * 65536)
    assert channel.sent.count("pause") == 1
    assert process._queued_bytes < 8 << 20
    reader = process.chunks()
    while "resume" not in channel.sent:
        assert (await anext(reader)).data == b"x" * 65536
    assert 0 < process._queued_bytes < 4 << 20
    # whoever stops it may not read it any more: its end is not held up, and costs no memory
    await process.stop()
    for _ in range(2000):
        process.received("stderr", b"y" * 65536)
    assert process._queued_bytes < 8 << 20
    assert channel.sent.count("pause") == 1
    process.ended()
    assert await process.wait() is None


@pytest.mark.parametrize("stream", ["", ">&2"])
async def test_a_short_command_that_prints_without_end(stream: str, golden: Golden) -> None:
    connection = LocalConnection()
    tracemalloc.start()
    try:
        with pytest.raises(TransportError) as error:
            await connection.run(["bash", "-c", f"yes 'never the same' {stream}"])
        assert tracemalloc.get_traced_memory()[1] < 200 << 20
    finally:
        tracemalloc.stop()
    golden.same(str(error.value).replace(stream, ""), "nodes/transport: a command that prints without end")
    assert len(str(error.value)) < 250
    large = await connection.run(["head", "-c", "20M", "/dev/zero"])
    assert len(large.stdout) == 20 << 20


async def test_a_benchmark_here_waits_for_its_reader() -> None:
    script = "head -c 60M /dev/zero; head -c 60M /dev/zero >&2"
    process = await LocalConnection().start(Command(["bash", "-c", script], limit_seconds=60))
    process.release()
    while not process._paused:
        await asyncio.sleep(0.05)
    said = 0
    async for chunk in process.chunks():
        said += len(chunk.data)
        assert process._queued_bytes < 8 << 20
    assert said == 120 << 20
    assert await process.wait() == 0


@pytest.mark.parametrize(("length", "kept"), [(10, 10), (2000, 2000), (50_000_000, 2100)])
def test_a_long_text_is_shortened(length: int, kept: int) -> None:
    text = f"head{'x' * (length - 8)}tail"
    short = shortened(text)
    assert short.startswith("head")
    assert short.endswith("tail")
    assert len(short) <= kept
    assert (short == text) == (length <= 2000)


async def test_a_short_command_that_is_cancelled_twice_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """As at the end of the event loop: the second time while the process, which was killed, has not ended yet."""
    started: list[asyncio.SubprocessTransport] = []
    begin, killed = local._begin, asyncio.Event()

    async def remember(
        reads: bool, argv: Sequence[str]
    ) -> tuple[asyncio.SubprocessTransport, asyncio.subprocess.Process]:
        transport, process = await begin(reads, argv)
        started.append(transport)
        return transport, process

    monkeypatch.setattr(local, "_begin", remember)
    monkeypatch.setattr(os, "killpg", lambda *_: killed.set())
    task = asyncio.create_task(LocalConnection().run(["sleep", "60"]))
    while not started:
        await asyncio.sleep(0.01)
    task.cancel()
    await killed.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (transport,) = started
    is_closed = transport.is_closing()
    transport.close()
    while transport.get_returncode() is None:
        await asyncio.sleep(0.01)
    assert is_closed


async def test_a_command_that_is_cancelled_while_it_is_started_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its children, which hold its pipes."""
    loop, mark, begun, cancelled = asyncio.get_running_loop(), f"300.{os.getpid()}", tmp_path / "begun", asyncio.Event()
    connect_pipe = loop.connect_read_pipe

    async def connect_later(factory: Any, pipe: Any) -> Any:
        await cancelled.wait()
        return await connect_pipe(factory, pipe)

    monkeypatch.setattr(loop, "connect_read_pipe", connect_later)
    task = asyncio.create_task(LocalConnection().run(["bash", "-c", f"x=$(touch {begun}; exec sleep {mark}); true"]))
    while not begun.exists():
        await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.sleep(0)
    cancelled.set()
    ended, _ = await asyncio.wait([task], timeout=30)
    assert ended
    assert task.cancelled()
    assert mark not in [word for pid in all_pids() for word in command_of(pid).split()]
