"""How commands run on a node: the protocols of every kind of connection."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import KW_ONLY, field
from typing import Protocol

from cephtui.frozen import dataclass
from cephtui.models import Node
from cephtui.tools.base import Stream

COMMAND_SECONDS = 60.0
"""Seconds that a short command may take."""


class TransportError(Exception):
    """A node can't be reached, or can't start a command; the text is for the user."""


class TurnedAway(TransportError):
    """The server has hung up before the login: it may be busy, and accept another attempt."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of output as it arrived, cut anywhere."""

    stream: Stream
    time: float
    """The time on the console's monotonic clock."""
    data: bytes


@dataclass(frozen=True, slots=True)
class Record(Chunk):
    """A whole record of what the machine does (nodes/machine.py): output of the watchdog, not of the command."""


@dataclass(frozen=True, slots=True)
class Question:
    """A connection's question to the user before it can be made; the answer goes into the next attempt."""

    node: str
    key: str
    """The name of the answer in the next attempt: a host key's fingerprint, a key file, a prompt."""
    text: str
    secret: bool
    """Whether the answer is masked and never stored; else it is ``yes`` to accept."""
    refused: tuple[str, ...] = ()
    """Keys of other answers that the server has refused with this one: they have to be asked for again."""

    @property
    def topic(self) -> str:
        """The text without the mark that invites an answer."""
        return self.text.rstrip("?: ")


@dataclass(frozen=True, slots=True)
class Lock:
    """The file or device that a benchmark locks as long as it runs."""

    path: str = ""
    """The path on the node, as the benchmark sees it; empty where nothing is locked."""
    owner: str = ""
    """The owner in the mark of cephtui's file; with another owner, another console has taken the file over."""
    identity: str = ""
    """The identity of the file or device when it was inspected, which it has to have still: ``DEVICE:INODE``, of a
    block device ``MAJOR:MINOR``, as stat(1) has them. Empty where that is not known."""


UNLOCKED = Lock()


@dataclass(frozen=True, slots=True)
class Command:
    """A benchmark, or another long command, that runs behind the watchdog."""

    argv: Sequence[str]
    _: KW_ONLY
    prefix: Sequence[str] = ()
    """Words before the watchdog's command line (``sudo -n``, ``kubectl exec -i ... --``): so the watchdog is in the
    same container as the command, and has the same rights."""
    limit_seconds: float
    """The watchdog ends the command after this time."""
    lock: Lock = UNLOCKED
    token: str = field(default_factory=lambda: secrets.token_hex(16))
    """The text that marks the watchdog's own lines, and the processes of the command."""
    access: Sequence[str] = ()
    """The command that prints the ceph.conf and keyring that are needed; they are in a file in the node's memory as
    long as the benchmark runs."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """The lines of the command's stdin, which is empty without any."""
    is_detached: bool = False
    """Whether processes that it leaves in the background, where it ends by itself, go on."""
    reports_machine: bool = False
    """Whether the watchdog reports each second what the whole machine does."""
    goes_on: bool = False
    """Whether the command waits on its stdin, after the secrets, for one more line: ``Process.go_on``."""


@dataclass(frozen=True, slots=True)
class Completed:
    """A short command that has ended."""

    status: int
    """The exit status as a shell has it: 128 and the signal's number where a signal ended the command."""
    stdout: str
    stderr: str


class Process(Protocol):
    """A benchmark behind its watchdog: ready to begin, until it is released."""

    released_at: float
    """When the command began, by the console's monotonic clock: when its start was reported, less half the round trip.
    Until that is known, the time of ``release``."""
    longest_pause_seconds: float
    """The longest time without a heartbeat from the console: console or node stood still."""
    connection_lost: bool
    """Whether the connection broke, so that there is no exit status."""

    def release(self) -> None:
        """Let the command begin; sends the order and returns at once."""
        ...

    def go_on(self) -> None:
        """Let a command that ``goes_on`` do so, which counts as its start; sends the order and returns at once."""
        ...

    def chunks(self) -> AsyncIterator[Chunk]:
        """All output of the command until both streams have ended; where it could not begin, the reason.

        Between its pieces are the records of a command that ``reports_machine``.
        """
        ...

    async def stop(self) -> None:
        """End the command by ending its heartbeat; it may still print its figures. May be called again."""
        ...

    async def wait(self) -> int | None:
        """The command's exit status; None where there is none: the watchdog was killed, or the connection lost."""
        ...


class Connection(Protocol):
    """A connection to one node."""

    node: Node
    round_trip_seconds: float
    """Seconds from the console to a command on the node and back; 0 on the console's own machine."""

    @property
    def closed(self) -> bool:
        """True once nothing can be run on it any more; a new connection may still be made."""
        ...

    async def run(self, argv: Sequence[str], *, timeout_seconds: float = COMMAND_SECONDS, stdin: str = "") -> Completed:
        """Run a short command to its end; raises TransportError.

        ``stdin`` is all that it reads there, and is in no argument, environment or file.
        """
        ...

    async def start(self, command: Command) -> Process:
        """Bring a command up to its release, or to its end where it can't begin (``wait`` and ``chunks`` report why).

        Raises TransportError.
        """
        ...

    async def close(self) -> None:
        """End the connection, and with it all that still runs on it. May be called again."""
        ...
