"""A saved run's raw output, played through the same runner, parser and screens as a real node's."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from cephtui.frozen import dataclass
from cephtui.models import Node, NodeEnvironment
from cephtui.nodes.transport import COMMAND_SECONDS, Chunk, Command, Completed, TransportError
from cephtui.reading import load_json, read_bytes
from cephtui.tools.base import Stream

_GIB = 1 << 30
_NOT_REPLAYED = {"tools", "nic_bits_per_second", "nic_mtu", "nic_networks", "nic_shaping", "settings", "missing"}


@dataclass(frozen=True, slots=True)
class _Piece:
    stream: Stream
    elapsed_seconds: float
    data: bytes


def read_pieces(raw: Path, process: str) -> list[_Piece]:
    """The output of ``NODE`` or ``NODE.prepare`` in a run's ``raw`` directory, in the order of its arrival.

    Raises TransportError where it is not there or does not fit its index.
    """
    try:
        rows = [load_json(line) for line in read_bytes(raw / f"{process}.index.jsonl").splitlines()]
        streams = {row["stream"]: read_bytes(raw / f"{process}.{row['stream']}") for row in rows}
        return [
            _Piece(row["stream"], row["elapsed_seconds"], streams[row["stream"]][row["offset"] :][: row["bytes"]])
            for row in rows
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TransportError(f"{raw}/{process} can't be replayed: {error}") from None


class ReplayProcess:
    """Plays the pieces at their times, divided by ``speed``."""

    def __init__(self, pieces: Sequence[_Piece], speed: float) -> None:
        self.released_at = time.monotonic()
        self.longest_pause_seconds, self.connection_lost = 0.0, False
        self._pieces, self._speed = pieces, speed
        self._released, self._stopped = asyncio.Event(), asyncio.Event()
        self._status = 128  # as fio ends at TERM, unless the recording comes to its end

    def release(self) -> None:
        self.released_at = time.monotonic()
        self._released.set()

    def go_on(self) -> None:
        """Do nothing, since the recording goes on by itself."""

    async def chunks(self) -> AsyncIterator[Chunk]:
        """The chunks with the times of the recording, whatever the speed."""
        await self._released.wait()
        for piece in self._pieces:
            due = self.released_at + piece.elapsed_seconds / self._speed
            try:
                await asyncio.wait_for(self._stopped.wait(), max(0.0, due - time.monotonic()))
                return
            except TimeoutError:
                yield Chunk(piece.stream, self.released_at + piece.elapsed_seconds, piece.data)
        self._status = 0

    async def stop(self) -> None:
        self._stopped.set()
        self._released.set()

    async def wait(self) -> int | None:
        return self._status


class ReplayConnection:
    """A node that answers as the recorded one did; any target exists and is unused, and nothing is written."""

    round_trip_seconds = 0.0
    closed = False

    def __init__(
        self, raw: Path, environment: NodeEnvironment, *, speed: float = 1.0, node: Node | None = None
    ) -> None:
        self.node = node or Node(name="local")
        self._raw, self._environment, self._speed = raw, environment, speed

    async def run(self, argv: Sequence[str], *, timeout_seconds: float = COMMAND_SECONDS, stdin: str = "") -> Completed:
        answers = {
            "cephtui-probe": {
                **self._environment.model_dump(exclude_none=True, exclude=_NOT_REPLAYED),
                **{f"tools.{name}": version for name, version in self._environment.tools.items()},
            },
            "cephtui-inspect": {
                "kind": "missing",
                "writable": "yes",
                "directory": "yes",
                "free": 100 * _GIB,
                "total": 100 * _GIB,
                "filesystem": self._environment.filesystem,
                "device": self._environment.device,
            },
            "cephtui-create": {"0:0": ""},
        }
        answer = answers.get(argv[3], {})
        return Completed(0, "\n".join(f"{key}\t{value}" for key, value in answer.items()), "")

    async def start(self, command: Command) -> ReplayProcess:
        process = f"{self.node.name}.prepare" if "--name=fill" in command.argv else self.node.name
        return ReplayProcess(read_pieces(self._raw, process), self._speed)

    async def close(self) -> None:
        pass
