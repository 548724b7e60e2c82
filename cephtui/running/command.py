"""A command that the user gave on the command line, run on this machine in a shell."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from cephtui import units
from cephtui.frozen import dataclass
from cephtui.nodes.answers import decoded
from cephtui.nodes.local import LocalConnection
from cephtui.nodes.transport import UNLOCKED, Command, Lock, Process, TransportError
from cephtui.nodes.watched import HEARTBEAT_SILENT, LOCK_HELD, stood_still
from cephtui.printable import shortened

TIME_LIMIT_SECONDS = 600.0
_TIMED_OUT = (124, 137)
"""Exit statuses of timeout(1), the second where TERM had no effect."""
_POLL_SECONDS = 0.05
_HELD_MOST_SECONDS = 30.0
"""One that is being ended, since its console was killed, is waited for so long."""
_OUTPUT_MOST_BYTES = 16 << 10
_LINE_MOST = 300


def time_limit() -> str:
    """How long a command may take, in words."""
    return f"{units.duration(TIME_LIMIT_SECONDS)} at most"


@dataclass(frozen=True, slots=True)
class CommandEnd:
    """How a command has ended."""

    status: int
    """Its exit status; as a shell has it, 128 and the signal's number where a signal ended it."""
    output: str
    """Both streams; of a long one the end."""
    problem: str
    """Why it counts as failed, in words, with the last line of its output; empty where it does not."""


def run_command(
    command: str,
    lock: Path,
    begins: Callable[[], None],
    is_stopped: Callable[[], bool],
) -> Awaitable[CommandEnd]:
    """Run it to its end, to the limit, or until it ``is_stopped``; with this process it ends as well.

    ``lock`` is a file that is locked meanwhile: what another process, perhaps killed, has begun so is waited for. Where
    there is none it runs without. ``begins`` is called before; what it raises is raised.
    """
    in_shell, held = ("/bin/sh", "-c", command), Lock(str(lock)) if lock.exists() else UNLOCKED
    watched = Command(in_shell, limit_seconds=TIME_LIMIT_SECONDS, lock=held, is_detached=True)
    return _run(watched, begins, is_stopped)


async def _run(command: Command, begins: Callable[[], None], is_stopped: Callable[[], bool]) -> CommandEnd:
    try:
        process = await _ready(command)
    except TransportError as error:
        return CommandEnd(1, "", str(error))
    try:
        begins()
        return await _followed(process, is_stopped, command.limit_seconds)
    finally:
        await process.stop()


async def _ready(command: Command) -> Process:
    """Raises TransportError."""
    connection, until = LocalConnection(), time.monotonic() + _HELD_MOST_SECONDS
    while True:
        process = await connection.start(command)
        waiting = asyncio.create_task(process.wait())
        ended, _ = await asyncio.wait([waiting], timeout=0)
        if not ended:
            waiting.cancel()
            return process
        if waiting.result() != LOCK_HELD:
            return process
        if time.monotonic() > until:
            raise TransportError("an earlier command of this session is still running")


async def _followed(process: Process, is_stopped: Callable[[], bool], limit_seconds: float) -> CommandEnd:
    process.release()
    began, problem = time.monotonic(), ""
    reading = asyncio.create_task(_tail(process))
    while not (await asyncio.wait([reading], timeout=_POLL_SECONDS))[0]:
        if is_stopped() and not problem:
            problem = "stopped"
            await process.stop()
    status = await process.wait()
    if not problem and status in _TIMED_OUT and time.monotonic() - began >= limit_seconds:
        problem = f"it did not end within {units.duration(limit_seconds)}"
    if not problem and status == HEARTBEAT_SILENT and (stood := stood_still(process.longest_pause_seconds)):
        problem = f"this console {stood}, so the command was stopped"
    if not problem and status:
        problem = f"status {status}"
    if status is None:
        problem = problem or "its shell was killed"
    output = reading.result()
    last = output.strip().splitlines()
    text = f"{problem}: {shortened(last[-1], _LINE_MOST)}" if problem and last else problem
    return CommandEnd(1 if status is None else status, output, text)


async def _tail(process: Process) -> str:
    tail = bytearray()
    async for chunk in process.chunks():
        tail += chunk.data
        del tail[:-_OUTPUT_MOST_BYTES]
    return decoded(bytes(tail))
