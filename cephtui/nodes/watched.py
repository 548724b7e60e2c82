"""Commands behind ``watchdog.sh``, which ends them when the console's heartbeat stops.

The same script runs on every kind of node.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from typing import Protocol

from cephtui import units
from cephtui.nodes import machine
from cephtui.nodes.answers import decoded
from cephtui.nodes.transport import Chunk, Command, Record, TransportError
from cephtui.paths import packaged_text
from cephtui.printable import one_line
from cephtui.tools.base import Stream

HEARTBEAT_SECONDS = 5.0
NO_LOCK, LOCK_HELD, HEARTBEAT_SILENT, NOT_RELEASED, NO_HEARTBEAT, NO_ACCESS = 74, 75, 76, 77, 78, 79
"""Exit statuses of the watchdog."""
READY_SECONDS = 60.0
"""Seconds for what comes before a benchmark: a session, a login shell, a container, the lock."""
_SCRIPT = packaged_text("cephtui.nodes", "watchdog.sh")
_ABANDON_SECONDS = 10.0
_HELD_BYTES = 65536
_QUEUE_MOST_BYTES = 4 << 20
"""Bytes of output that wait for their reader; when there are more, the process waits."""


def watchdog_argv(command: Command) -> tuple[str, ...]:
    """The command line of the watchdog, behind the prefix, that runs a command."""
    limit, lock = str(round(command.limit_seconds)), command.lock
    held, detached = (lock.path, lock.owner, lock.identity), "detached" if command.is_detached else ""
    reporter = machine.SCRIPT if command.reports_machine else ""
    watchdog = ("bash", "-c", _SCRIPT, "cephtui-watchdog", command.token, limit, *held, detached, reporter)
    return (*command.prefix, *watchdog, str(len(command.access)), *command.access, *command.argv)


class ProcessChannel(Protocol):
    """The channel to a process: stdin, EOF, abandon. Its output arrives through WatchedProcess."""

    def write(self, data: bytes) -> None:
        """Send bytes to stdin without waiting; a process that has ended is no error."""
        ...

    def write_eof(self) -> None:
        """End stdin. May be called again."""
        ...

    def pause(self) -> None:
        """Stop reading the output; the process will have to wait."""
        ...

    def resume(self) -> None:
        """Read the output again."""
        ...

    def abandon(self) -> None:
        """Close the channel, whatever the process does."""
        ...


class _Gate:
    """Lets a stream through after the last of some lines; output before each of these lines is held back."""

    def __init__(self, *lines: str) -> None:
        self.held = b""
        self._lines = [line.encode() + b"\n" for line in lines]

    @property
    def closed_by(self) -> int:
        """How many of the lines have not come yet; 0 when the gate is open."""
        return len(self._lines)

    def feed(self, data: bytes) -> bytes:
        """The part of the output that may go through."""
        while self._lines:
            before, line, data = (self.held + data).partition(self._lines[0])
            if not line:
                self.held = before[-_HELD_BYTES:]
                return b""
            self.held = b""
            del self._lines[0]
        return data


class _Records:
    """Takes the records of the machine out of a command's stderr, wherever they stand in it, of a cut line too."""

    def __init__(self, token: str) -> None:
        self._mark = machine.record_mark(token)
        self._held = b""

    def feed(self, data: bytes, now: float) -> Iterator[Chunk]:
        """The command's own output, as it was, and whole records."""
        data, self._held = self._held + data, b""
        while self._mark in data:
            before, _, rest = data.partition(self._mark)
            record, newline, after = rest.partition(b"\n")
            if not newline and len(record) <= machine.RECORD_MOST_BYTES:
                self._held = self._mark + rest
                data = before
                break
            if before:
                yield Chunk("stderr", now, before)
            yield Record("stderr", now, record) if newline else Chunk("stderr", now, self._mark + record)
            data = after
        else:
            begun = data.rfind(self._mark[:1], -len(self._mark))
            if begun >= 0 and self._mark.startswith(data[begun:]):
                data, self._held = data[:begun], data[begun:]
        if data:
            yield Chunk("stderr", now, data)

    def end(self) -> bytes:
        """What was held back and is no record."""
        return b"" if self._held.startswith(self._mark) else self._held


class WatchedProcess:
    """A command behind the watchdog, over any channel, whose owner calls ``opened``, ``received`` and so on."""

    def __init__(self, channel: ProcessChannel, command: Command, round_trip_seconds: float = 0.0) -> None:
        self.released_at = time.monotonic()
        self._before = [f"secret {secret}" for secret in command.secrets]
        if command.goes_on:
            self._before.append("later")
        self._channel, self._half_trip = channel, round_trip_seconds / 2
        ready, started = f"cephtui ready {command.token}", f"cephtui started {command.token}"
        self._gates: dict[Stream, _Gate] = {"stdout": _Gate(ready, started), "stderr": _Gate(ready)}
        self._records = _Records(command.token) if command.reports_machine else None
        self._queue: asyncio.Queue[Chunk | None] = asyncio.Queue()
        self._queued_bytes = 0
        self._paused = self._stopping = False
        self._ready, self._ended = asyncio.Event(), asyncio.Event()
        self._status: int | None = None
        self._giving_up: asyncio.TimerHandle | None = None
        self._beating: asyncio.TimerHandle | None = None
        self._beaten_at: float | None = None
        self.longest_pause_seconds, self.connection_lost = 0.0, False

    # ------------------------------------------------------------------ for its user

    async def ready(self) -> None:
        """Wait until the process waits for its release, or has ended before."""
        await self._ready.wait()

    def give_up(self) -> None:
        """Close the channel and end without a status, whatever becomes of the process."""
        self._channel.abandon()
        self.ended()

    def release(self) -> None:
        self.released_at = time.monotonic()
        lines, self._before = self._before, []
        self._channel.write("\n".join([*lines, "go", ""]).encode())

    def go_on(self) -> None:
        self.released_at = time.monotonic()
        self._channel.write(b"on\n")

    async def chunks(self) -> AsyncIterator[Chunk]:
        while (chunk := await self._queue.get()) is not None:
            self._queued_bytes -= len(chunk.data)
            if self._paused and self._queued_bytes < _QUEUE_MOST_BYTES // 2:
                self._resume()
            yield chunk
        self._queue.put_nowait(None)  # for the next call

    async def stop(self) -> None:
        self._stop_beating()
        self._channel.write_eof()
        self._stopping = True  # its end must not wait for a reader that may have ended
        self._resume()
        self._give_up_later()

    async def wait(self) -> int | None:
        await self._ended.wait()
        return self._status

    # ------------------------------------------------------------------ for the owner of the channel

    def opened(self) -> None:
        """Begin the heartbeat, now that the channel is open."""
        self._note_pause()
        self._channel.write(b"\n")
        self._beating = asyncio.get_running_loop().call_later(HEARTBEAT_SECONDS, self.opened)

    def received(self, stream: Stream, data: bytes) -> None:
        """Take output that has arrived."""
        now = time.monotonic()
        gate = self._gates[stream]
        before = gate.closed_by
        data = gate.feed(data)
        if stream == "stdout" and gate.closed_by < before:
            self._ready.set()
            if not gate.closed_by:
                # a trip may have taken longer when it was measured, but nothing begins before its release
                self.released_at = max(self.released_at, now - self._half_trip)
        if not data or self._ended.is_set():
            return
        is_full = self._queued_bytes >= _QUEUE_MOST_BYTES
        if not (is_full and self._stopping):
            records = self._records if stream == "stderr" else None
            for chunk in records.feed(data, now) if records else [Chunk(stream, now, data)]:
                self._queue.put_nowait(chunk)
                self._queued_bytes += len(chunk.data)
        if is_full and not self._paused and not self._stopping:
            self._paused = True
            self._channel.pause()

    def exited(self, status: int | None) -> None:
        """Take the watchdog's status; output may still come, but a process beyond KILL must not keep it open."""
        self._status = status
        self._stop_beating()
        self._channel.write_eof()  # where the watchdog itself was killed, its watcher ends the command
        self._give_up_later()

    def ended(self, *, lost: bool = False) -> None:
        """Take the end of the output. Where the connection was ``lost``, no status counts. May be called again."""
        if self._ended.is_set():
            return
        if lost:
            self._status, self.connection_lost = None, True
        self._stop_beating()
        if self._giving_up:
            self._giving_up.cancel()
        self._pass_on_held()
        self._queue.put_nowait(None)
        self._ready.set()
        self._ended.set()

    # ------------------------------------------------------------------

    def _pass_on_held(self) -> None:
        """Pass held output on: without the watchdog's lines it is the error of a login shell, sudo or a container."""
        if self._ready.is_set():
            if self._records and (rest := self._records.end()):
                self._queue.put_nowait(Chunk("stderr", time.monotonic(), rest))
            return
        for gate in self._gates.values():
            if gate.held:
                self._queue.put_nowait(Chunk("stderr", time.monotonic(), gate.held))

    def _resume(self) -> None:
        if self._paused:
            self._paused = False
            self._channel.resume()

    def _stop_beating(self) -> None:
        if self._beating:
            self._beating.cancel()
            self._beating = None
            self._note_pause()

    def _note_pause(self) -> None:
        now = time.monotonic()
        if self._beaten_at is not None:
            self.longest_pause_seconds = max(self.longest_pause_seconds, now - self._beaten_at)
        self._beaten_at = now

    def _give_up_later(self) -> None:
        if not self._giving_up:
            self._giving_up = asyncio.get_running_loop().call_later(_ABANDON_SECONDS, self.give_up)


def stood_still(pause_seconds: float) -> str:
    """The text ``stood still for 20 s``, by the longest time between two heartbeats; empty where it was short."""
    return f"was blocked for {units.duration(pause_seconds)}" if pause_seconds > 2 * HEARTBEAT_SECONDS else ""


async def until_ready(process: WatchedProcess, node: str) -> None:
    """Wait READY_SECONDS at most until the process can be released; where that fails, give it up.

    Raises TransportError.
    """
    try:
        await asyncio.wait_for(process.ready(), READY_SECONDS)
    except asyncio.CancelledError:
        process.give_up()
        raise
    except TimeoutError:
        process.give_up()
        text = one_line(decoded(b"".join([chunk.data async for chunk in process.chunks()])))[-500:]
        reason = f": {text}" if text else ""
        raise TransportError(f"{node}: not ready to run anything within {READY_SECONDS:.0f} s{reason}") from None
