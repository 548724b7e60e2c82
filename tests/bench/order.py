"""How long a user waits for the first figure, beyond what fio itself takes for it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cephtui.models import OptionValue, Run, Sample
from cephtui.running.inbox import Inbox
from tests.bench import bare, precedence
from tests.bench.figures import of_differences
from tests.bench.interactive import ConsoleSession, NotMeasured, console_session, ssh_nodes
from tests.bench.table import Goal, Row, at_most, row
from tests.lab import Lab

RUNS = 10
NODE = "lab1"
TARGET = "file:/var/tmp/cephtui-bench"
OPTIONS: dict[str, OptionValue] = {"rw": "randread", "bs": "4k", "size": "64M", "rate_iops": 200, "runtime": 30}
RAMPS = (2, 0)
"""As the presets have it, and without: then the first sample is one of the run itself."""
_ENOUGH = ("timeout", "1.8")
"""Ends a bare fio after its first document."""
_LIMIT_SECONDS = 30.0
_HOW = (
    "submit of a plan to the first sample of all nodes in the inbox, on a connection in use and a file that is filled: "
    "the look at node and target, the session's files, the watchdog, the release, fio's first second, reading, "
    "storing; median of the differences, spread: 95 % interval of their mean"
)


def rows(lab: Lab, root: Path, say: Callable[[str], None]) -> Iterator[Row]:
    """The wait, less that for fio alone; beside it, less that for fio through a warm ssh."""
    with _master(lab, root / "control") as options:
        for ramp in RAMPS:
            waits, alone, warm = _measure(lab, root / f"{ramp}", ramp, options, say)
            name = "order to first sample" if ramp else "the same without a ramp"
            goal = at_most(0.3)
            yield _row(f"{name}, less bare fio's", waits, alone, goal)
            yield _row(f"{name}, less that of ssh -S", waits, warm, None)


def _measure(
    lab: Lab, root: Path, ramp: int, options: list[str], say: Callable[[str], None]
) -> tuple[list[float], list[float], list[float]]:
    waits, alone, warm = [], [], []
    with console_session(root, ssh_nodes([NODE], lab.ssh_config), TARGET, {**OPTIONS, "ramp_time": ramp}) as session:
        precedence.servers(lab)
        inbox = session.runner.subscribe()
        _wait(session, inbox, "run")  # which fills the file
        argv = (*_ENOUGH, *session.plan().steps[0].nodes[0].argv)
        for number in range(1, RUNS + 1):
            say(f"run {number} of {RUNS} with a ramp of {ramp} s")
            waits.append(_wait(session, inbox))
            alone.append(bare.seconds_to_first_document(lab.command(NODE, *argv)))
            warm.append(bare.seconds_to_first_document(bare.through_ssh(argv, lab.ssh_config, NODE, *options)))
    return waits, alone, warm


def _row(measure: str, waits: list[float], others: list[float], goal: Goal | None) -> Row:
    differences = [wait - other for wait, other in zip(waits, others, strict=True)]
    found = of_differences(differences)
    return row(measure, found.median, "s", goal, spread=(found.low, found.high), how=_HOW, values=differences)


def _wait(session: ConsoleSession, inbox: Inbox, *phases: str) -> float:
    """From the order to the first sample; then ends the run."""
    plan = session.plan()
    inbox.drain()
    started = time.monotonic()
    done = session.runner.submit(plan, session.request.target)
    while time.monotonic() < started + _LIMIT_SECONDS:
        for event in inbox.drain(1.0):
            if isinstance(event, Sample) and event.node is None and event.phase in (phases or ("ramp", "run")):
                seconds = time.monotonic() - started
                session.runner.stop()
                done.result(_LIMIT_SECONDS)
                return seconds
            if isinstance(event, Run) and event.outcome:
                raise NotMeasured(f"a run was {event.outcome}: {event.error}")
    raise NotMeasured("no sample")


@contextmanager
def _master(lab: Lab, control: Path) -> Iterator[list[str]]:
    """A connection of OpenSSH's own that stays open; gives the options that use it."""
    options = ["-S", str(control)]
    command = ["ssh", "-F", str(lab.ssh_config), *options]
    nothing = subprocess.DEVNULL  # no pipe: ssh in the background would keep it open
    subprocess.run([*command, "-M", "-N", "-f", NODE], check=True, stdin=nothing, stdout=nothing, stderr=nothing)
    try:
        yield options
    finally:
        subprocess.run([*command, "-O", "exit", NODE], check=False, capture_output=True)
