"""How commands run on a node: the protocols, the watchdog, and the console's own machine.

A benchmark runs behind ``watchdog.sh``, which ends it when the console's heartbeat stops; the same script stands
on every kind of node.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.resources
import os
import shlex
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar, cast

from cephtui.models import Node
from cephtui.nodes.asyncio_private import transport_of
from cephtui.printable import one_line
from cephtui.tools.base import Stream

HEARTBEAT_SECONDS = 5.0
NO_LOCK, LOCK_HELD, HEARTBEAT_SILENT, NOT_RELEASED, NO_HEARTBEAT = 74, 75, 76, 77, 78
"""Exit statuses of the watchdog itself."""
COMMAND_SECONDS = 30.0
"""Bound of a short command."""
READY_SECONDS = 30.0
"""Bound of what comes before a benchmark: a session, a login shell, a container, the lock."""
_TURNS_ON_A_HOST, _TURNS_IN_ALL = 6, 24
"""Commands side by side: many nodes may be containers of one host."""
_STANDSTILL_SECONDS = 2 * COMMAND_SECONDS
_ABANDON_SECONDS = 10.0
_TOLD_BYTES = 65536
ANSWER_MOST_BYTES = 64 << 20
"""Of a short command: the PGs of the largest clusters are a quarter of it."""
_QUEUE_MOST_BYTES = 4 << 20
"""Of output that has arrived and waits for its reader; beyond it the process waits."""
_TEXT_MOST = 2000
_Spawned = TypeVar("_Spawned")


class TransportError(Exception):
    """A node can't be reached, or can't start a command; the text is for the user."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of output as it arrived, cut anywhere."""

    stream: Stream
    time: float
    """The console's monotonic clock."""
    data: bytes


@dataclass(frozen=True, slots=True)
class Question:
    """What a connection needs from the user before it can be made; the answer goes into the next attempt."""

    node: str
    key: str
    """Under which ``connect`` looks for the answer: a host key's fingerprint, a key file, a prompt."""
    text: str
    secret: bool
    """Masked when typed and never stored; where it is not, ``yes`` accepts."""
    refused: tuple[str, ...] = ()
    """Keys of the other answers that the server has refused with it: they are to be asked for again."""

    @property
    def topic(self) -> str:
        """The text without the mark that invites an answer."""
        return self.text.rstrip("?: ")


@dataclass(frozen=True, slots=True)
class Lock:
    """What a benchmark holds as long as it runs."""

    path: str = ""
    """Of a file or device on the node, as the benchmark sees it; empty where nothing is held."""
    owner: str = ""
    """Of a file of cephtui's: it has to be in the file's mark, else another has taken it over."""


UNLOCKED = Lock()


@dataclass(frozen=True, slots=True)
class Completed:
    """A short command that has ended."""

    status: int
    """As a shell has it: 128 and the signal's number where a signal ended it."""
    stdout: str
    stderr: str


class Process(Protocol):
    """A benchmark behind its watchdog: ready to begin, until it is released."""

    released_at: float
    """When the command began, by the console's monotonic clock: the time at which its start was reported, less half
    the round trip. The time of ``release`` until that is known."""
    longest_pause_seconds: float
    """The longest time in which the console has sent no heartbeat: tells who stood still."""
    way_lost: bool
    """Whether what led to it broke, so that there is no exit status."""

    def release(self) -> None:
        """Let the command begin; gives the order and returns at once."""
        ...

    def chunks(self) -> AsyncIterator[Chunk]:
        """All output of the command until both streams have ended; where it could not begin, the reason."""
        ...

    async def stop(self) -> None:
        """End the command by ending its heartbeat; it may still print its figures. May be called again."""
        ...

    async def wait(self) -> int | None:
        """The command's exit status; None where there is none, because what ran it is gone."""
        ...


class Connection(Protocol):
    """A way to one node."""

    node: Node
    round_trip_seconds: float
    """From the console to a command on the node and back; 0 on the console's own machine."""

    @property
    def closed(self) -> bool:
        """True once nothing can be run on it any more; a new connection may still be had."""
        ...

    async def run(self, argv: Sequence[str], *, timeout_seconds: float = COMMAND_SECONDS) -> Completed:
        """Run a short command, with an empty stdin, to its end; raises TransportError."""
        ...

    async def start(
        self,
        argv: Sequence[str],
        *,
        prefix: Sequence[str] = (),
        token: str,
        limit_seconds: float,
        lock: Lock = UNLOCKED,
    ) -> Process:
        """Bring a benchmark up to its release, or to its end where it can't begin (``wait`` and ``chunks`` tell why).

        The watchdog stands behind ``prefix`` (``sudo -n``, ``kubectl exec -i ... --``), so in the same container and
        with the same rights as the benchmark. Raises TransportError.
        """
        ...

    async def close(self) -> None:
        """End the connection, and with it all that still runs on it. May be called again."""
        ...


class Turns:
    """Bounds how many commands run, and benchmarks start, side by side, so that each has its time from its own start.

    A turn is waited for as long as something moves.
    """

    def __init__(self) -> None:
        self._in_all, self._hosts = asyncio.Semaphore(_TURNS_IN_ALL), dict[str | None, asyncio.Semaphore]()
        self._moved_at = 0.0

    @contextlib.asynccontextmanager
    async def taken(self, node: Node) -> AsyncIterator[None]:
        """A turn on the node's host; raises TransportError where none comes."""
        host = self._hosts.setdefault(node.host, asyncio.Semaphore(_TURNS_ON_A_HOST))
        await self._wait_for(host, node)
        try:
            await self._wait_for(self._in_all, node)
            try:
                yield
                self._moved_at = time.monotonic()
            finally:
                self._in_all.release()
        finally:
            host.release()

    async def _wait_for(self, turn: asyncio.Semaphore, node: Node) -> None:
        waits_since = time.monotonic()
        acquiring = asyncio.ensure_future(turn.acquire())
        try:
            while not (await asyncio.wait([acquiring], timeout=1.0))[0]:
                still = time.monotonic() - max(waits_since, self._moved_at)
                if still > _STANDSTILL_SECONDS:
                    text = f"no command on any node has ended well for {still:.0f} s, and others wait before this one"
                    raise TransportError(f"{node.name}: {text}")
        except BaseException:
            if not acquiring.cancel() and not acquiring.cancelled():
                turn.release()
            raise


class Paced:
    """See Connection: one whose commands take their turns with those of others."""

    def __init__(self, connection: Connection, turns: Turns) -> None:
        self._connection, self._turns = connection, turns
        self.node, self.round_trip_seconds = connection.node, connection.round_trip_seconds

    @property
    def closed(self) -> bool:
        """See Connection."""
        return self._connection.closed

    async def run(self, argv: Sequence[str], *, timeout_seconds: float = COMMAND_SECONDS) -> Completed:
        """See Connection."""
        async with self._turns.taken(self.node):
            return await self._connection.run(argv, timeout_seconds=timeout_seconds)

    async def start(
        self,
        argv: Sequence[str],
        *,
        prefix: Sequence[str] = (),
        token: str,
        limit_seconds: float,
        lock: Lock = UNLOCKED,
    ) -> Process:
        """See Connection."""
        async with self._turns.taken(self.node):
            return await self._connection.start(
                argv, prefix=prefix, token=token, limit_seconds=limit_seconds, lock=lock
            )

    async def close(self) -> None:
        """See Connection."""
        await self._connection.close()


def watchdog_argv(argv: Sequence[str], *, token: str, limit_seconds: float, lock: Lock = UNLOCKED) -> tuple[str, ...]:
    """The command line that runs ``argv`` behind the watchdog."""
    script = importlib.resources.files("cephtui.nodes").joinpath("watchdog.sh").read_text("utf-8")
    return ("bash", "-c", script, "cephtui-watchdog", token, str(round(limit_seconds)), lock.path, lock.owner, *argv)


class Way(Protocol):
    """The way to a process that runs somewhere, and nothing of what it says."""

    def write(self, data: bytes) -> None:
        """Send to its stdin; never waits, and a process that is gone is no error."""
        ...

    def write_eof(self) -> None:
        """End its stdin. May be called again."""
        ...

    def pause(self) -> None:
        """Take no more of what it says; it will have to wait."""
        ...

    def resume(self) -> None:
        """Take what it says again."""
        ...

    def abandon(self) -> None:
        """Forget it, whatever it does."""
        ...


class _Gate:
    """Lets one stream through after the last of some lines; what comes before each of them is held back."""

    def __init__(self, *lines: str) -> None:
        self.held = b""
        self._lines = [line.encode() + b"\n" for line in lines]

    @property
    def closed_by(self) -> int:
        """How many of the lines are still to come; 0 when the gate is open."""
        return len(self._lines)

    def feed(self, data: bytes) -> bytes:
        """What may go through."""
        while self._lines:
            before, line, data = (self.held + data).partition(self._lines[0])
            if not line:
                self.held = before[-_TOLD_BYTES:]
                return b""
            self.held = b""
            del self._lines[0]
        return data


class WatchedProcess:
    """See Process: a command behind the watchdog, over any way. The way's owner calls ``received`` and so on."""

    def __init__(self, way: Way, token: str, round_trip_seconds: float = 0.0) -> None:
        self.released_at = time.monotonic()
        self._way, self._half_trip = way, round_trip_seconds / 2
        ready, started = f"cephtui ready {token}", f"cephtui started {token}"
        self._gates: dict[Stream, _Gate] = {"stdout": _Gate(ready, started), "stderr": _Gate(ready)}
        self._queue: asyncio.Queue[Chunk | None] = asyncio.Queue()
        self._queued_bytes = 0
        self._paused = self._stopping = False
        self._ready, self._ended = asyncio.Event(), asyncio.Event()
        self._status: int | None = None
        self._giving_up: asyncio.TimerHandle | None = None
        self._beating: asyncio.TimerHandle | None = None
        self._beaten_at: float | None = None
        self.longest_pause_seconds, self.way_lost = 0.0, False

    # ------------------------------------------------------------------ for whoever runs it

    async def ready(self) -> None:
        """Wait until it waits for its release, or has ended before."""
        await self._ready.wait()

    def give_up(self) -> None:
        """Let go of it, whatever becomes of it."""
        self._way.abandon()
        self.ended()

    def release(self) -> None:
        """See Process."""
        self.released_at = time.monotonic()
        self._way.write(b"go\n")

    async def chunks(self) -> AsyncIterator[Chunk]:
        """See Process."""
        while (chunk := await self._queue.get()) is not None:
            self._queued_bytes -= len(chunk.data)
            if self._paused and self._queued_bytes < _QUEUE_MOST_BYTES // 2:
                self._resume()
            yield chunk
        self._queue.put_nowait(None)  # for whoever asks again

    async def stop(self) -> None:
        """See Process."""
        self._stop_beating()
        self._way.write_eof()
        self._stopping = True  # its end must not wait for a reader that may be gone
        self._resume()
        self._give_up_later()

    async def wait(self) -> int | None:
        """See Process."""
        await self._ended.wait()
        return self._status

    # ------------------------------------------------------------------ for the owner of the way

    def opened(self) -> None:
        """The way is open: the heartbeat begins."""
        self._note_pause()
        self._way.write(b"\n")
        self._beating = asyncio.get_running_loop().call_later(HEARTBEAT_SECONDS, self.opened)

    def received(self, stream: Stream, data: bytes) -> None:
        """Output has arrived."""
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
            self._queue.put_nowait(Chunk(stream, now, data))
            self._queued_bytes += len(data)
        if is_full and not self._paused and not self._stopping:
            self._paused = True
            self._way.pause()

    def exited(self, status: int | None) -> None:
        """The watchdog has ended; its output may still come, but a process beyond KILL must not keep it open."""
        self._status = status
        self._stop_beating()
        self._way.write_eof()  # where the watchdog itself was killed, its watcher ends the command
        self._give_up_later()

    def ended(self, *, lost: bool = False) -> None:
        """No output will come any more. Where the way was ``lost``, no status counts. May be called again."""
        if self._ended.is_set():
            return
        if lost:
            self._status, self.way_lost = None, True
        self._stop_beating()
        if self._giving_up:
            self._giving_up.cancel()
        self._tell_what_was_held()
        self._queue.put_nowait(None)
        self._ready.set()
        self._ended.set()

    # ------------------------------------------------------------------

    def _tell_what_was_held(self) -> None:
        """Something stood in the way of the watchdog: what a login shell, sudo or a container runtime said."""
        if self._ready.is_set():
            return
        for gate in self._gates.values():
            if gate.held:
                self._queue.put_nowait(Chunk("stderr", time.monotonic(), gate.held))

    def _resume(self) -> None:
        if self._paused:
            self._paused = False
            self._way.resume()

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


async def until_ready(process: WatchedProcess, node: str) -> None:
    """Wait for what comes before the release, within READY_SECONDS; where that fails, let go of it.

    Raises TransportError.
    """
    try:
        await asyncio.wait_for(process.ready(), READY_SECONDS)
    except asyncio.CancelledError:
        process.give_up()
        raise
    except TimeoutError:
        process.give_up()
        said = one_line(decoded(b"".join([chunk.data async for chunk in process.chunks()])))[-500:]
        reason = f": {said}" if said else ""
        raise TransportError(f"{node}: not ready to run anything within {READY_SECONDS:.0f} s{reason}") from None


class _LocalPipes(asyncio.SubprocessProtocol):
    """Hands on what asyncio says of a process, and is the way to it."""

    def __init__(self, token: str) -> None:
        self.process = WatchedProcess(self, token)
        self._transport: asyncio.SubprocessTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio.BaseProtocol."""
        self._transport = cast(asyncio.SubprocessTransport, transport)
        self.process.opened()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """See asyncio.SubprocessProtocol."""
        self.process.received("stdout" if fd == 1 else "stderr", data)

    def process_exited(self) -> None:
        """See asyncio.SubprocessProtocol."""
        status = self._transport.get_returncode() if self._transport else None
        self.process.exited(status if status is not None and status >= 0 else None)

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.BaseProtocol: it has exited and all its pipes have ended."""
        self.abandon()
        self.process.ended()

    def write(self, data: bytes) -> None:
        """See Way."""
        if stdin := self._stdin():
            stdin.write(data)

    def write_eof(self) -> None:
        """See Way."""
        if stdin := self._stdin():
            stdin.close()

    def pause(self) -> None:
        """See Way."""
        for pipe in self._outputs():
            pipe.pause_reading()

    def resume(self) -> None:
        """See Way."""
        for pipe in self._outputs():
            pipe.resume_reading()

    def abandon(self) -> None:
        """See Way. The watcher is not killed: it may still get rid of the command."""
        if self._transport:
            _close(self._transport)

    def _outputs(self) -> list[asyncio.ReadTransport]:
        pipes = [self._transport.get_pipe_transport(fd) for fd in (1, 2)] if self._transport else []
        return [cast(asyncio.ReadTransport, pipe) for pipe in pipes if pipe and not pipe.is_closing()]

    def _stdin(self) -> asyncio.WriteTransport | None:
        return cast("asyncio.WriteTransport | None", self._transport.get_pipe_transport(0)) if self._transport else None


class LocalConnection:
    """The console's own machine."""

    round_trip_seconds = 0.0

    def __init__(self, node: Node | None = None) -> None:
        self.node = node or Node(name="local")
        self.closed = False
        self._starting = asyncio.Lock()

    async def run(self, argv: Sequence[str], *, timeout_seconds: float = COMMAND_SECONDS) -> Completed:
        """See Connection."""
        transport, process = await self._spawn(argv, _begin)
        try:
            async with asyncio.timeout(timeout_seconds):
                assert process.stdout
                assert process.stderr
                stdout, stderr = await answer_of(process.stdout, process.stderr)
                await process.wait()
        except TimeoutError:
            raise TransportError(f"{self.node.name}: no answer within {timeout_seconds:.0f} s") from None
        except EndlessAnswer as error:
            raise TransportError(f"{self.node.name}: {error.of(argv)}") from None
        finally:
            await _let_go(transport)
        status = process.returncode or 0
        return Completed(128 - status if status < 0 else status, decoded(stdout), decoded(stderr))

    async def start(
        self,
        argv: Sequence[str],
        *,
        prefix: Sequence[str] = (),
        token: str,
        limit_seconds: float,
        lock: Lock = UNLOCKED,
    ) -> WatchedProcess:
        """See Connection."""
        wrapped = (*prefix, *watchdog_argv(argv, token=token, limit_seconds=limit_seconds, lock=lock))
        _, pipes = await self._spawn(wrapped, partial(_begin_watched, token))
        await until_ready(pipes.process, self.node.name)
        return pipes.process

    async def close(self) -> None:
        """See Connection.

        An event loop that ends while a process is being started waits for it for ever (Python 3.11 to 3.13: it
        cancels the opening of the pipes, too); so what is being started comes to its start here.
        """
        async with self._starting:
            self.closed = True

    async def _spawn(self, argv: Sequence[str], begin: Callable[[Sequence[str]], Awaitable[_Spawned]]) -> _Spawned:
        """In a session of its own, which the terminal's signals do not reach."""
        try:
            async with self._starting:
                if self.closed:
                    raise TransportError(f"{self.node.name}: the connection is closed")
                return await begin(argv)
        except OSError as error:
            raise TransportError(f"{self.node.name}: can't start {argv[0]}: {error.strerror}") from None


class EndlessAnswer(Exception):
    """A short command prints more than any answer is long."""

    @staticmethod
    def of(argv: Sequence[str]) -> str:
        """What is wrong, in words."""
        command = shortened(one_line(shlex.join(argv)), 60)
        size = f"{ANSWER_MOST_BYTES >> 20} MiB"
        return f"more than {size} came from {command}: does a prefix or a login script there print without end?"


class Reads(Protocol):
    """A stream of a command's output."""

    async def read(self, n: int, /) -> bytes:
        """Up to so many bytes; empty at the end."""
        ...


async def answer_of(stdout: Reads, stderr: Reads) -> tuple[bytes, bytes]:
    """All that a short command says on both streams; raises EndlessAnswer."""
    said = 0

    async def all_of(stream: Reads) -> bytes:
        nonlocal said
        pieces = []
        while piece := await stream.read(65536):
            said += len(piece)
            if said > ANSWER_MOST_BYTES:
                raise EndlessAnswer
            pieces.append(piece)
        return b"".join(pieces)

    return await asyncio.gather(all_of(stdout), all_of(stderr))


def shortened(text: str, most: int = _TEXT_MOST) -> str:
    """A text for eyes: its head and its tail where it is long."""
    half = most // 2
    if len(text) <= most:
        return text
    return f"{text[:half]} ... {len(text) - 2 * half:,} characters left out ... {text[-half:]}"


def decoded(output: bytes) -> str:
    """A short command's output as text, whatever it is."""
    return output.decode("utf-8", "replace")


async def _begin(argv: Sequence[str]) -> tuple[asyncio.SubprocessTransport, asyncio.subprocess.Process]:
    """A short command."""
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    return transport_of(process), process


async def _begin_watched(token: str, argv: Sequence[str]) -> tuple[asyncio.SubprocessTransport, _LocalPipes]:
    """A command behind its watchdog."""
    loop = asyncio.get_running_loop()
    return await loop.subprocess_exec(lambda: _LocalPipes(token), *argv, start_new_session=True)


async def _let_go(transport: asyncio.SubprocessTransport) -> None:
    """Kill a process and close its pipes, without waiting for a child that holds them open.

    A child, or the process itself, may be beyond KILL (a dead mount), and Python 3.11's ``Process.wait`` would wait.
    """
    if transport.get_returncode() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(transport.get_pid(), signal.SIGKILL)
    for _ in range(50):
        if transport.get_returncode() is not None:
            break
        await asyncio.sleep(0.02)
    _close(transport)


def _close(transport: asyncio.SubprocessTransport) -> None:
    """Close all pipes to a process, and kill it; sudo and what runs under it may not be ours to kill."""
    with contextlib.suppress(PermissionError):
        transport.close()
