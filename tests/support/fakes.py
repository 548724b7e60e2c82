"""Nodes that play recorded output and fail when they are told to; they speak the protocols of the real ones."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cephtui.models import Node
from cephtui.nodes.replay import read_pieces
from cephtui.nodes.transport import (
    COMMAND_SECONDS,
    Chunk,
    Command,
    Completed,
    Connection,
    Question,
    TransportError,
)
from tests import RECORDINGS

RECORDED = RECORDINGS / "replay" / "001" / "raw"
"""Random writes of 4 KiB for 20 s after a ramp of 2 s, and the filling of 1 GiB before."""
GIB = 1 << 30
FIO = "fio-3.33"
Argv = tuple[str, ...]


@dataclass
class Log:
    """What has happened on all nodes, in its order."""

    events: list[tuple[str, str]] = field(default_factory=list)
    """What, and on which node."""
    undo: Path | None = None
    """Copied beside each creation: what had been noted until then."""
    noted: list[tuple[str, str]] = field(default_factory=list)
    """What was created, and the undo list as it was before."""

    def add(self, what: str, node: str) -> None:
        self.events.append((what, node))

    def of(self, what: str) -> list[str]:
        """The nodes on which it has happened."""
        return [node for event, node in self.events if event == what]


class FakeProcess:
    """See Process. Plays the recording as fast as it is read; its times are those of the recording."""

    def __init__(self, host: FakeNode, name: str, argv: Argv) -> None:
        self.argv = argv
        self.released_at = time.monotonic()
        self.released, self.ended = asyncio.Event(), asyncio.Event()
        self.longest_pause_seconds, self.connection_lost = 0.0, False
        self._host, self._name = host, name
        self._status: int | None = 0
        self._stopped = False

    def release(self) -> None:
        """See Process."""
        self._host.log.add(f"released {self._name}", self._host.name)
        self.released_at = time.monotonic()
        self.released.set()

    def go_on(self) -> None:
        """See Process."""
        self._host.log.add(f"on {self._name}", self._host.name)
        self.released_at = time.monotonic()

    async def chunks(self) -> AsyncIterator[Chunk]:
        """See Process."""
        await self._unless_ended(self.released.wait())
        script = self._host.scripts.get(self._name, Script())
        if script.says is not None:
            async for chunk in self._instead(script, script.says):
                yield chunk
            return
        for piece in read_pieces(RECORDED, "local.prepare" if self._name == "fill" else "local"):
            if self.ended.is_set():
                return
            if script.lost_after is not None and piece.elapsed_seconds > script.lost_after:
                if script.and_away:
                    self._host.unreachable = "no route to host"
                self._host.lose()
                return
            if script.waits_after is not None and piece.elapsed_seconds > script.waits_after:
                self._host.log.add(f"waits in {self._name}", self._host.name)
                await self._unless_ended(script.go_on.wait())
                if self.ended.is_set():
                    return
            yield Chunk(piece.stream, self.released_at + piece.elapsed_seconds, piece.data)
            await asyncio.sleep(0)  # so that nodes take turns, as they do in time
        if script.status:
            yield Chunk("stderr", time.monotonic(), script.stderr.encode())
        self._status = script.status
        self.ended.set()

    async def _instead(self, script: Script, says: str) -> AsyncIterator[Chunk]:
        yield Chunk("stdout", time.monotonic(), says.encode())
        await self._unless_ended(script.go_on.wait())
        if not self.ended.is_set():
            yield Chunk("stderr", time.monotonic(), script.stderr.encode())
            self._status = script.status
            self.ended.set()

    async def _unless_ended(self, waiting: Awaitable[object]) -> None:
        tasks = [asyncio.ensure_future(waiting), asyncio.ensure_future(self.ended.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()

    async def stop(self) -> None:
        """See Process. It ends at TERM, unless it has ended already."""
        if not self._stopped:
            self._stopped = True
            self._host.log.add(f"stopped {self._name}", self._host.name)
        if not self.ended.is_set():
            self._status = self._host.scripts.get(self._name, Script()).stopped_status
            self.ended.set()

    async def wait(self) -> int | None:
        """See Process."""
        await self.ended.wait()
        self._host.log.add(f"ended {self._name}", self._host.name)
        return self._status

    def vanish(self) -> None:
        """What ran it is gone."""
        if not self.ended.is_set():
            self._status = None
            self.ended.set()


@dataclass
class Script:
    """What becomes of one kind of process (``fill``, or the preset's name) on a node."""

    ready: asyncio.Event | None = None
    """It is not ready before this is set."""
    fails: str | None = None
    """It can't be started, with this reason."""
    waits_after: float | None = None
    """It says nothing more after so many seconds of the recording, until it is told to go on or to stop."""
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    lost_after: float | None = None
    """The connection breaks after so many seconds of the recording."""
    and_away: bool = False
    """It can't be reached again after that."""
    says: str | None = None
    """What it prints instead of the recording, to run until it is let go or stopped."""
    status: int = 0
    stopped_status: int = 128
    """Where it is ended with TERM; this is fio's."""
    stderr: str = ""


class FakeConnection:
    """See Connection."""

    round_trip_seconds = 0.002

    def __init__(self, host: FakeNode) -> None:
        self.node = host.node
        self.closed = False
        self.processes: list[FakeProcess] = []
        self._host = host

    async def run(self, argv: Sequence[str], *, timeout_seconds: float = COMMAND_SECONDS, stdin: str = "") -> Completed:
        """See Connection."""
        self._check()
        await asyncio.sleep(0)
        completed = self._host.answer_to(tuple(argv))
        self._check()
        return completed

    async def start(self, command: Command) -> FakeProcess:
        """See Connection."""
        self._check()
        assert command.limit_seconds > 0
        assert command.token
        host, name = self._host, _name_of(tuple(command.argv))
        host.log.add(f"started {name}", host.name)
        host.started.append((*command.prefix, *command.argv))
        host.locks.append(command.lock.path)
        script = host.scripts.get(name, Script())
        if script.fails:
            raise TransportError(f"{host.name}: {script.fails}")
        process = FakeProcess(host, name, tuple(command.argv))
        self.processes.append(process)
        if script.ready:
            await script.ready.wait()
        self._check()
        host.log.add(f"ready {name}", host.name)
        return process

    async def close(self) -> None:
        """See Connection."""
        self.closed = True
        self._host.log.add("closed", self._host.name)

    def _check(self) -> None:
        if self.closed:
            raise TransportError(f"{self._host.name}: the connection was lost")


def _name_of(argv: Argv) -> str:
    """``fill``, or the preset: fio's jobs are named after it; of what has no such name the program."""
    name = next((word for word in argv if word.startswith("--name=")), argv[0]).removeprefix("--name=")
    return name.rpartition("-")[0] if "--ioengine=rbd" in argv else name


class FakeNode:
    """A host: what is there, what it answers, and what goes wrong with it."""

    def __init__(self, node: Node, log: Log | None = None) -> None:
        self.node, self.name = node, node.name
        self.log = log or Log()
        self.commands: list[Argv] = []
        """All short commands, as they arrived."""
        self.started: list[Argv] = []
        """All that was to be measured or filled, behind its prefix."""
        self.locks: list[str] = []
        self.there: dict[str, str] = {}
        """Files and images of cephtui's, with their identity."""
        self.owners: dict[str, dict[str, str]] = {}
        """What the images carry."""
        self.scripts: dict[str, Script] = {}
        self.facts: dict[str, object] = {}
        """What the file's inspection says beside, or instead of, the usual."""
        self.tools: dict[str, str] = {"fio": FIO}
        self.busy = 0
        """So many removals find an image in use."""
        self.unreachable: str | None = None
        self.questions: list[Question] = []
        """Asked one after the other, until each has its answer."""
        self.connections: list[FakeConnection] = []
        self._answers: list[tuple[Callable[[Argv], bool], Completed]] = []
        self._made = 0

    # ------------------------------------------------------------------ for the tests

    def answer(self, to: Callable[[Argv], bool], stdout: str = "", stderr: str = "", status: int = 0) -> None:
        """What it answers to some commands, before anything else."""
        self._answers.append((to, Completed(status, stdout, stderr)))

    def lose(self) -> None:
        """Its connections break, and what ran on them is gone."""
        for connection in self.connections:
            connection.closed = True
            for process in connection.processes:
                process.vanish()

    async def connect(self, answers: Mapping[str, str] | None = None) -> Connection:
        """A way to it; raises TransportError."""
        made = await self.ask(answers or {})
        assert not isinstance(made, Question)
        return made

    async def ask(self, answers: Mapping[str, str]) -> Connection | Question:
        """A way to it, or what it needs before; raises TransportError."""
        if self.unreachable:
            raise TransportError(f"{self.name}: {self.unreachable}")
        for question in self.questions:
            if not answers.get(question.key):
                return question
        self.log.add("connected", self.name)
        connection = FakeConnection(self)
        self.connections.append(connection)
        return connection

    # ------------------------------------------------------------------ what it is

    def answer_to(self, argv: Argv) -> Completed:
        """What a short command says."""
        self.commands.append(argv)
        for matches, completed in self._answers:
            if matches(argv):
                return completed
        argv = _behind_env(argv[len(self._prefix_of(argv)) :])
        if "bash" in argv[:1]:
            return self._script(argv[3], *argv[4:])
        if argv[:1] == ("rbd",):
            return self._rbd(*argv[1:])
        if argv[:1] == ("rados",) and argv[3] == "getomapval":
            return self._omap(*argv[4:])
        return Completed(127, "", f"{argv[0]}: command not found")

    def _prefix_of(self, argv: Argv) -> Argv:
        prefixes = (self.node.prefix, self.node.ceph_prefix)
        return next((prefix for prefix in prefixes if prefix and argv[: len(prefix)] == prefix), ())

    def _script(self, name: str, *arguments: str) -> Completed:
        if name == "cephtui-probe":
            return _table({"os": "Debian", "cpu_count": 2} | {f"tools.{n}": v for n, v in self.tools.items()})
        if name == "cephtui-inspect":
            return self._inspect_file(arguments[0])
        if name == "cephtui-create":
            return Completed(0, f"{self._make(f'file:{arguments[0]}')}\n", "")
        if name == "cephtui-extend":
            return Completed(0, "", "")
        if name == "cephtui-remove":
            return self._remove(f"file:{arguments[0]}", Completed(0, "", ""))
        return Completed(127, "", f"{name}: unknown")

    def _inspect_file(self, path: str) -> Completed:
        identity = self.there.get(f"file:{path}")
        known = {"kind": "file", "marked": "yes", "inode": identity} if identity else {"kind": "missing"}
        space = {"free": 100 * GIB, "total": 100 * GIB, "filesystem": "ext4"}
        usual = {"writable": "yes", "directory": "yes", "root": "yes", **space}
        return _table(known | usual | self.facts)

    def _rbd(self, verb: str, *arguments: str) -> Completed:
        named = dict(itertools.pairwise(arguments))
        spec = f"rbd:{named['--pool']}/{named['--image']}" if "--image" in named else f"rbd:{arguments[-1]}"
        if verb == "rename":
            before = f"rbd:{arguments[0]}"
            self.there[spec], self.owners[spec] = self.there.pop(before), self.owners.pop(before)
            return Completed(0, "", "")
        if verb == "image-meta" and arguments[0] == "set":
            self.owners[f"rbd:{arguments[1]}"] = {arguments[2]: arguments[3]}
            return Completed(0, "", "")
        if verb == "create":
            self._make(spec)
            return Completed(0, "", "")
        if verb == "rm" and self.busy:
            self.busy -= 1
            self.log.add("busy", self.name)
            return Completed(16, "", "rbd: error: image still has watchers")
        if verb == "rm":
            return self._remove(spec, Completed(2, "", "rbd: delete error: (2) No such file or directory"))
        if verb == "info" and spec in self.there:
            info = {"name": spec.rpartition("/")[2], "id": self.there[spec], "size": GIB}
            return Completed(0, json.dumps(info), "")
        return Completed(2, "", f"rbd: error opening image {spec}: (2) No such file or directory")

    def _omap(self, header: str, key: str) -> Completed:
        """What ``rbd image-meta set`` attached to an image, as rados prints it."""
        spec = next(spec for spec, identity in self.there.items() if header == f"rbd_header.{identity}")
        value = self.owners.get(spec, {}).get(key.removeprefix("metadata_"))
        return Completed(0, dumped(value), "") if value else Completed(1, "", f"No such key: {header}/{key}")

    def _make(self, spec: str) -> str:
        self._made += 1
        self.log.add(f"created {spec}", self.name)
        if self.log.undo is not None:
            self.log.noted.append((spec, self.log.undo.read_text() if self.log.undo.exists() else ""))
        return self.there.setdefault(spec, f"{self.name}:{self._made}")

    def _remove(self, spec: str, missing: Completed) -> Completed:
        self.log.add(f"removed {spec}", self.name)
        return Completed(0, "", "") if self.there.pop(spec, None) else missing


def dumped(value: str) -> str:
    """A value of an omap as rados prints it."""
    data = value.encode()
    rows = [(at, data[at : at + 16]) for at in range(0, len(data), 16)]
    lines = [f"{at:08x}  {row[:8].hex(' ')}  {row[8:].hex(' '):23}  |{row.decode()}|" for at, row in rows]
    return "\n".join([f"value ({len(data)} bytes) :", *lines, f"{len(data):08x}", ""])


def _table(rows: Mapping[str, object]) -> Completed:
    return Completed(0, "".join(f"{key}\t{value}\n" for key, value in rows.items()), "")


def _behind_env(argv: Argv) -> Argv:
    """A command without the environment that is set for it."""
    if argv[:1] != ("env",):
        return argv
    start = next(index for index, word in enumerate(argv[1:], 1) if "=" not in word)
    return argv[start:]


def connector(
    hosts: Mapping[str, FakeNode],
) -> Callable[[Node, Mapping[str, str]], Awaitable[Connection | Question]]:
    """What connects a runner to these hosts."""

    async def connect(node: Node, answers: Mapping[str, str]) -> Connection | Question:
        await asyncio.sleep(0)
        return await hosts[node.name].ask(answers)

    return connect
