"""A connection that is up: short commands, and sessions for benchmarks."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import statistics
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import asyncssh

from cephtui.models import Node
from cephtui.nodes.answers import EndlessAnswer, command_text, decoded, read_answer
from cephtui.nodes.ssh.proxy import GOODBYE_SECONDS, Proxy
from cephtui.nodes.ssh.route import Route
from cephtui.nodes.transport import COMMAND_SECONDS, Command, Completed, Question, TransportError
from cephtui.nodes.watched import READY_SECONDS, WatchedProcess, until_ready, watchdog_argv
from cephtui.printable import one_line, shortened

COMMANDS_AT_ONCE = 4
"""Short commands on one connection; an sshd allows ten sessions (MaxSessions), and a benchmark needs one."""
_PINGS = 5
_LAST_WORDS_BYTES = 4096
_PLAIN: dict[str, Any] = {"encoding": None, "request_pty": False, "env": {}, "send_env": []}
"""Options of a session: bytes, no terminal, and nothing of the console's environment, whatever ssh_config has."""


LOGIN_LINE = 'exec bash -c \'IFS= read -r -d "" line && eval "$line"\''
"""The command for a login shell, which may be any (csh, fish): commands are on stdin, and only bash reads them.

``exec`` because a shell that stays would report the end by a signal as a status. bash reads no byte beyond the NUL.
"""
_BEGIN = "cephtui begin"
"""A line on both streams before the output of a short command: what start-up files print ends with it."""
_BEGINS = f"echo {_BEGIN}; echo {_BEGIN} >&2; "


async def open_connection(node: Node, host: str, answers: Mapping[str, str]) -> SshConnection | Question:
    """A connection to a node at this host, or a question; see ``connect``."""
    route = Route(node, answers)
    reached = await route.take(host)
    if isinstance(reached, Question):
        return reached
    connection = SshConnection(node, reached, route.proxies)
    try:
        await connection.measure()
    except BaseException:
        await connection.close()
        raise
    return connection


async def _last_words(process: asyncssh.SSHClientProcess[bytes]) -> bytes:
    """The beginning of a process's stderr until it ends; it may print without end, or not end."""
    try:
        async with asyncio.timeout(GOODBYE_SECONDS):
            return await process.stderr.readexactly(_LAST_WORDS_BYTES)
    except asyncio.IncompleteReadError as error:
        return error.partial
    except TimeoutError:
        return b""


def script_of(argv: Sequence[str], before: str = "") -> bytes:
    """The script that ``LOGIN_LINE`` reads from stdin; the rest of stdin is the command's own."""
    return f"unset line; {before}exec {shlex.join(argv)}\0".encode()


def own_output(output: bytes) -> bytes:
    """The output of a short command itself, without what start-up files print; all of it where it did not begin."""
    before, begin, command_output = output.partition(f"{_BEGIN}\n".encode())
    return command_output if begin else before


class _Session(asyncssh.SSHClientSession[bytes]):
    """The channel to a process, and the receiver of asyncssh's events of its session."""

    def __init__(self, command: Command, round_trip_seconds: float) -> None:
        self.process = WatchedProcess(self, command, round_trip_seconds)
        self._script = script_of(watchdog_argv(command))
        self._channel: asyncssh.SSHClientChannel[bytes] | None = None

    def connection_made(self, chan: asyncssh.SSHClientChannel[bytes]) -> None:
        self._channel = chan

    def session_started(self) -> None:
        self.write(self._script)
        self.process.opened()

    def data_received(self, data: bytes, datatype: int | None) -> None:
        self.process.received("stdout" if datatype is None else "stderr", data)

    def eof_received(self) -> bool:
        return True  # the exit status may still come

    def exit_status_received(self, status: int) -> None:
        self.process.exited(status)

    def exit_signal_received(self, signal: str, core_dumped: bool, msg: str, lang: str) -> None:
        self.process.exited(None)  # the watchdog itself was killed

    def connection_lost(self, exc: Exception | None) -> None:
        self.process.ended(lost=exc is not None)  # without exc the session has ended, and not the connection

    def write(self, data: bytes) -> None:
        with contextlib.suppress(OSError):
            if self._channel:
                self._channel.write(data)

    def write_eof(self) -> None:
        with contextlib.suppress(OSError):
            if self._channel:
                self._channel.write_eof()

    def pause(self) -> None:
        if self._channel:
            self._channel.pause_reading()

    def resume(self) -> None:
        if self._channel:
            self._channel.resume_reading()

    def abandon(self) -> None:
        if self._channel:
            self._channel.close()


class SshConnection:
    """A node reached over SSH."""

    round_trip_seconds = 0.0

    def __init__(self, node: Node, connection: asyncssh.SSHClientConnection, proxies: Sequence[Proxy]) -> None:
        self.node = node
        self._connection, self._proxies = connection, proxies
        self._turns = asyncio.Semaphore(COMMANDS_AT_ONCE)

    @property
    def closed(self) -> bool:
        return self._connection.is_closed()

    async def measure(self) -> None:
        """Measure the round trip: the median of a few lines sent to ``cat`` and back; raises TransportError.

        It is the time that the order to begin takes, and the report of it: network, sshd and pipe,
        but not the start of a shell, as it would be by running ``true``.
        """
        async with self._time_limit(READY_SECONDS, "not ready to run anything"):
            self.round_trip_seconds = await self._echoed()

    async def run(self, argv: Sequence[str], *, timeout_seconds: float = COMMAND_SECONDS, stdin: str = "") -> Completed:
        async with self._turns, self._time_limit(timeout_seconds, "no answer", argv):
            return await self._run(argv, stdin)

    async def start(self, command: Command) -> WatchedProcess:
        session = _Session(command, self.round_trip_seconds)
        async with self._time_limit(READY_SECONDS, "no new session"):
            await self._connection.create_session(lambda: session, LOGIN_LINE, **_PLAIN)
        await until_ready(session.process, self.node.name)
        if self.closed:
            raise self._failure(None)
        return session.process

    async def close(self) -> None:
        self._connection.close()
        try:
            await asyncio.wait_for(self._connection.wait_closed(), GOODBYE_SECONDS)
        except TimeoutError:
            self._connection.abort()
        for proxy in self._proxies:
            await proxy.ended()

    async def _run(self, argv: Sequence[str], stdin: str) -> Completed:
        async with self._process(argv) as process:
            process.stdin.write(stdin.encode())
            process.stdin.write_eof()
            try:
                stdout, stderr = await read_answer(process.stdout, process.stderr)
            except EndlessAnswer as error:
                raise TransportError(f"{self.node.name}: {error.message(argv)}") from None
            await process.wait_closed()
            status = process.returncode
        if status is None:
            raise self._failure(None)
        output, errors = (decoded(own_output(stream)) for stream in (stdout, stderr))
        return Completed(128 - status if status < 0 else status, output, errors)

    async def _echoed(self) -> float:
        times = []
        async with self._process(["cat"]) as process:
            for number in range(_PINGS + 1):
                line = b"cephtui %d\n" % number
                started = time.monotonic()
                process.stdin.write(line)
                try:
                    await process.stdout.readuntil(line)
                except asyncio.IncompleteReadError as error:
                    words = shortened(one_line(decoded(own_output(error.partial) + await _last_words(process))), 300)
                    problem = f"can't run commands there: {words or 'no reason given'}"
                    raise TransportError(f"{self.node.name}: {problem}") from None
                times.append(time.monotonic() - started)
        return statistics.median(times[1:])  # the first waits for the login shell

    @contextlib.asynccontextmanager
    async def _process(self, argv: Sequence[str]) -> AsyncIterator[asyncssh.SSHClientProcess[bytes]]:
        """A process that is let go of at the end; asyncssh's own context would wait for a node that is silent."""
        process = await self._connection.create_process(LOGIN_LINE, **_PLAIN)
        try:
            process.stdin.write(script_of(argv, _BEGINS))
            yield process
        finally:
            process.close()

    @contextlib.asynccontextmanager
    async def _time_limit(self, seconds: float, late: str, argv: Sequence[str] = ()) -> AsyncIterator[None]:
        """A time limit for what is done on the connection; each error becomes a TransportError with the command."""
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError:
            command = f": {command_text(argv)}" if argv else ""
            raise TransportError(f"{self.node.name}: {late} within {seconds:.0f} s{command}") from None
        except (asyncssh.Error, OSError) as error:
            raise self._failure(error) from None

    def _failure(self, error: Exception | None) -> TransportError:
        if self.closed or not isinstance(error, asyncssh.ChannelOpenError):
            return TransportError(f"{self.node.name}: the connection was lost")
        return TransportError(f"{self.node.name}: no session there (MaxSessions?): {one_line(error.reason)}")
