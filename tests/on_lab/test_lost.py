"""Runs that lose their console, session, link or process, of every tool: nothing runs on, nothing is forgotten."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from tests.lab import Lab
from tests.lab.processes import Process, all_pids, command_of, environment_of, parent_of
from tests.on_lab.conftest import NewBench
from tests.on_lab.runs import (
    RUN,
    WATCHDOG,
    Bench,
    Console,
    Event,
    images,
    noted,
    objects,
    read_samples,
    sets,
    shaping,
    wait_for,
)
from tests.on_lab.s3 import own_at, programs
from tests.on_lab.tools import ROWS, Row
from tests.support.waiting import FairClock

pytestmark = pytest.mark.essential
CONTAINER = ["unshare", "--pid", "--fork", "--mount-proc"]
NODES = {
    "link down": "lab3",
    "session killed": "lab2",
    "console killed": "lab1",
    "console of a container killed": "lab1",
    "prefix killed": "lab1",
    "tool killed": "lab1",
    "terminal closed": "lab1",
}
"""Each way to lose a run, and where: sessions and links are lost by all that is on the node."""
OTHER = {"lab1": "lab2", "lab2": "lab1", "lab3": "lab1"}
"""Where what a run needs beside it is, which is lost in no other way meanwhile."""
IN_CONTAINER = ("console of a container killed", "prefix killed")
KILLED = ("console killed", "console of a container killed")
"""The console says nothing any more."""
OUTCOMES = {"terminal closed": ("stopped", 4), "tool killed": ("failed", 1)}
"""And the exit status; of every other way, the run is lost."""
WATCH = " cephtui-ceph "
_MARK = re.compile(rf"{RUN}\S+")
Key = tuple[str, str]
"""A tool and a way."""
KEYS: list[Key] = [
    (tool, way) for tool, row in ROWS.items() for way in NODES if row.in_container or way not in IN_CONTAINER
]
ALWAYS = {
    "fio": {"link down", "session killed", "console killed", "terminal closed"},
    "rados-bench": {"console of a container killed", "tool killed"},
    "iperf3": {"console killed"},
}


def params(keys: Sequence[Key]) -> list[Any]:
    """The ways, each with some tool; the others in the matrix."""
    marks = [() if way in ALWAYS.get(tool, ()) else pytest.mark.matrix for tool, way in keys]
    return [pytest.param(key, marks=mark, id="-".join(key)) for key, mark in zip(keys, marks, strict=True)]


TOLD = [(tool, way) for tool, way in KEYS if way not in KILLED]
UNREACHABLE = [(tool, way) for tool, way in KEYS if way in (*KILLED, "link down")]


class Case:
    """A run that is about to be lost."""

    def __init__(self, row: Row, way: str, bench: Bench) -> None:
        self.row, self.bench, self.node = row, bench, NODES[way]
        self.name = f"CASE={secrets.token_hex(6)}"
        """In the environment of all that it runs on any node."""
        self.marks = {self.name}
        """One of them is there in any case: a tool may give its own processes that of the watchdog alone."""
        self.gone_after: float | None = None
        """In seconds of a fair clock."""
        self._terminal: int | None = None
        before = ["env", self.name, *(CONTAINER if way in IN_CONTAINER else [])]
        plain = ["env", self.name]
        prefixes = (
            {"prefix": plain, "ceph_prefix": before}
            if row.ships_with_ceph
            else {"prefix": before, "ceph_prefix": plain}
        )
        bench.configure(programs(bench.lab), **dict.fromkeys(bench.lab.nodes, prefixes))
        self.console = self._start(on_terminal=way == "terminal closed")

    def _start(self, *, on_terminal: bool) -> Console:
        row, bench = self.row, self.bench
        target = self._named(row.target)
        words = ["--config", str(bench.config), "--node", self.node, "--target", target, "--session", "S"]
        command = ["run", row.preset, *words, "--shared-pool", *sets(**row.options)]
        if not on_terminal:
            return bench.sandbox.start(*command, "--json")
        self._terminal, theirs = os.openpty()
        try:
            return bench.sandbox.start(*command, terminal=theirs)
        finally:
            os.close(theirs)

    def _named(self, text: str) -> str:
        lab = self.bench.lab
        gateway = lab.gateway() if "{gateway}" in text else ""
        return text.format(pool=lab.pool, name=self.name[-12:], other=OTHER[self.node], gateway=gateway)

    @property
    def directory(self) -> Path:
        """Of its run."""
        return self.bench.sandbox.data / "sessions" / "S" / "001"

    @property
    def samples(self) -> list[dict[str, Any]]:
        """What was measured by all nodes together."""
        found = read_samples(self.directory) if (self.directory / "samples.jsonl").exists() else []
        return [sample for sample in found if sample["phase"] == "run" and sample["node"] is None]

    @property
    def made(self) -> str:
        """How what it makes is called on the undo list, or how that begins."""
        return self._named(self.row.made)

    @cached_property
    def runs(self) -> list[Event]:
        """What there is to see of its session after the end of the console."""
        return self.bench.cephtui("show", "S", "--json").events

    @property
    def listed(self) -> set[str]:
        """What has ever been on its undo list."""
        path = self.directory.parent / "undo.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return {json.loads(line)["target"] for line in lines}

    def drain(self) -> None:
        """Read what it prints on its terminal: it waits for that."""
        if self._terminal is not None:
            os.set_blocking(self._terminal, False)
            with contextlib.suppress(OSError):
                while os.read(self._terminal, 65536):
                    pass

    def measures(self) -> bool:
        """Whether the run is well under way."""
        self.drain()
        return len(self.samples) >= 2

    def close(self) -> None:
        """As a terminal that is closed."""
        if self._terminal is not None:
            os.close(self._terminal)
            self._terminal = None
            self.console.process.send_signal(signal.SIGHUP)


def living(
    lab: Lab, cases: Mapping[Key, Case], nodes: Sequence[str] = Lab.nodes, *, of_runs: bool = False
) -> dict[Key, dict[int, str]]:
    """What is there of each on these nodes, all of it or what belongs to a run: the tool and its watchdog.

    A process in a network of its own is on any of them.
    """
    elsewhere = {lab.network(node) for node in lab.nodes if node not in nodes}
    there: dict[int, tuple[str, str]] = {}
    for pid in all_pids():
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/ns/net").stat().st_ino not in elsewhere and Process.of(pid):
                there[pid] = command_of(pid), environment_of(pid)
    for case in cases.values():
        case.marks |= {mark for _, text in there.values() if case.name in text for mark in _MARK.findall(text)}
    return {
        key: {
            pid: command
            for pid, (command, text) in there.items()
            if any(mark in command or mark in text for mark in case.marks)
            and (WATCHDOG in command or RUN in text or not of_runs)
        }
        for key, case in cases.items()
    }


def is_there(lab: Lab, node: str, target: str) -> bool:
    """Whether what an undo list names exists."""
    scheme, _, rest = target.partition(":")
    name = rest.rpartition("/")[2]
    return {
        "rbd": lambda: name in images(lab),
        "pool": lambda: name in objects(lab),
        "new-pool": lambda: name in lab.ceph("osd", "pool", "ls"),
        "file": lambda: lab.outside(node, rest).exists(),
        "s3": lambda: name.removeprefix("user:") in own_at(lab),
    }[scheme]()


# ---------------------------------------------------------------------------------------------- losing them


@pytest.fixture(scope="module")
def lost(request: pytest.FixtureRequest, lab: Lab, new_bench: NewBench) -> Iterator[dict[Key, Case]]:
    """Runs of every tool, lost in every way there is; how long anything of them is still there is timed meanwhile.

    Only those are started that a test was chosen for, as with ``-k ioping``.
    """
    cases: dict[Key, Case] = {}
    chosen = {item.callspec.params.get("key") for item in request.session.items if hasattr(item, "callspec")}
    wanted = chosen & {*KEYS} or {*KEYS}
    # iperf3 takes all that it gets, and others run beside it
    with shaping(lab, lab.nodes, "50mbit"), ThreadPoolExecutor() as threads:
        try:
            timed = []
            for way in NODES:
                keys = [key for key in KEYS if key in wanted and key[1] == way]
                begun: dict[Key, Case] = {}
                for key in keys:
                    cases[key] = begun[key] = Case(ROWS[key[0]], way, new_bench())
                for case in begun.values():
                    _wait_for_samples(case)
                _lose(lab, way, begun)
                timed.append(threads.submit(_time, lab, begun))
            for each in timed:
                each.result()
            for key, case in cases.items():
                if key[1] == "link down":
                    case.console.wait(120)  # it tries to reach the node as long as that is allowed
        finally:
            lab.link_up(NODES["link down"])
    yield cases
    for case in cases.values():
        case.bench.cleanup("--yes")


def _wait_for_samples(case: Case) -> None:
    wait_for(case.measures, 120, "samples", case.console.describe)


def _lose(lab: Lab, way: str, cases: Mapping[Key, Case]) -> None:
    run_on = living(lab, cases, [NODES[way]])
    for key, case in cases.items():
        assert len(run_on[key]) >= 2, f"{key}: {case.console.describe()}"
        if way in KILLED:
            case.console.process.kill()
        elif way == "prefix killed":
            os.kill(_outermost(run_on[key], "unshare", case.row.program), signal.SIGKILL)
        elif way == "tool killed":
            os.kill(_outermost(run_on[key], *case.row.program.split()), signal.SIGKILL)
        elif way == "terminal closed":
            case.close()
    if way == "session killed":
        for pid in lab.session_pids(NODES[way]):
            os.kill(pid, signal.SIGKILL)
    elif way == "link down":
        lab.link_down(NODES[way])


def _outermost(commands: Mapping[int, str], program: str, *words: str) -> int:
    """The process of a program that has started the others of it; what watches the cluster is not meant."""
    found = {
        pid
        for pid, command in commands.items()
        if _is_of(command, program) and all(f" {word} " in command for word in words) and WATCH not in command
    }
    outermost = [pid for pid in found if parent_of(pid) not in found]
    shown = {pid: f"{command[:60]} ... {command[-200:]}" for pid, command in commands.items()}
    assert len(outermost) == 1, f"{outermost} are {program} of {shown}"
    return outermost[0]


def _is_of(command: str, program: str) -> bool:
    """Whether it runs this program, which may be a script."""
    first, second, *_ = (Path(word).name for word in f"{command} ".split(" "))
    return first == program or second.startswith(program)


def _time(lab: Lab, cases: Mapping[Key, Case]) -> None:
    """Note how long each is still there, as long as that may take and as long again."""
    clock, limit = FairClock(), 2 * max((case.row.gone_seconds for case in cases.values()), default=0.0)
    while clock.seconds() < limit and (waiting := {k: case for k, case in cases.items() if case.gone_after is None}):
        # what a console that lives removes at the end does not belong to the run
        run_on = living(lab, waiting, of_runs=not set(waiting) & set(UNREACHABLE))
        for key, case in waiting.items():
            if not run_on[key]:
                case.gone_after = clock.seconds()
        time.sleep(1.5)  # each look is at all processes of the machine


# ---------------------------------------------------------------------------------------------- what is left


@pytest.mark.parametrize("key", params(KEYS))
def test_nothing_of_it_runs_on(lost: dict[Key, Case], lab: Lab, key: Key) -> None:
    case = lost[key]
    assert case.gone_after is not None, f"still there: {living(lab, lost)[key]}"
    assert case.gone_after <= case.row.gone_seconds, f"gone after {case.gone_after:.1f} s"
    if key[1] not in KILLED:
        case.console.wait(120)
    assert not living(lab, lost)[key]


def test_nothing_of_any_run_is_left_on_any_node(lost: dict[Key, Case]) -> None:
    (bench, *_) = [case.bench for case in lost.values()]
    bench.wait_nothing_runs()


@pytest.mark.parametrize("key", params(TOLD))
def test_the_console_ends_by_itself_and_says_what_happened(lost: dict[Key, Case], key: Key) -> None:
    case = lost[key]
    outcome, status = OUTCOMES.get(key[1], ("lost", 4))
    assert case.console.wait(60) == status, case.console.describe()
    (run,) = case.runs
    assert run["outcome"] == outcome, case.console.describe()
    if key[1] != "terminal closed":
        assert run["error"]
        assert run["error"] in case.console.stderr
    assert "Traceback" not in case.console.stderr
    assert not case.bench.sandbox.processes(), case.console.describe()


@pytest.mark.parametrize("key", params(KEYS))
def test_what_was_measured_is_kept(lost: dict[Key, Case], key: Key) -> None:
    case = lost[key]
    case.console.wait(60)
    assert case.samples
    assert [run["outcome"] for run in case.runs] == [OUTCOMES.get(key[1], ("lost", 4))[0]]


@pytest.mark.parametrize("key", params([key for key in KEYS if key not in UNREACHABLE]))
def test_what_it_made_is_removed_where_the_node_can_be_reached(lost: dict[Key, Case], lab: Lab, key: Key) -> None:
    case = lost[key]
    case.console.wait(60)
    assert noted(case.bench.sandbox) == set()
    assert not [target for target in case.listed if is_there(lab, case.node, target)]


@pytest.mark.parametrize("key", params(UNREACHABLE))
def test_what_is_left_is_noted_and_cleaned_up(lost: dict[Key, Case], lab: Lab, key: Key) -> None:
    case = lost[key]
    left = noted(case.bench.sandbox)
    assert all(target.startswith(case.made) and is_there(lab, case.node, target) for target in left)
    assert len(left) == bool(case.row.made)
    if key[1] == "link down" and left:
        assert "cephtui cleanup tries again" in case.console.stderr
    console = case.bench.cleanup("--yes")
    assert console.process.returncode == 0, console.describe()
    assert not [target for target in left if is_there(lab, case.node, target)]
    assert noted(case.bench.sandbox) == set()
