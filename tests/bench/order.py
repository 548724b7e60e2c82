"""How long a user waits for the first figure, beyond what fio itself takes for it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cephtui.models import Run, Sample
from cephtui.runner import Inbox
from tests.lab import Lab

from . import bare
from .figures import of_differences
from .sitting import NotMeasured, Sitting, sitting, ssh_nodes
from .table import Goal, Row, at_most, row

RUNS = 10
NODE = "lab1"
OPTIONS = {"rw": "randread", "bs": "4k", "size": "64M", "rate_iops": 200, "ramp_time": 0, "runtime": 3}
_LIMIT_SECONDS = 30.0
_HOW = (
    "submit of a plan to the first sample of all nodes in the inbox, on a connection in use and a file that is filled: "
    "the look at the node and the target, the session's files, the watchdog, the release, fio's first second, "
    "reading, storing; median of the differences, spread: 95 % interval of their mean"
)


def rows(lab: Lab, root: Path, say: Callable[[str], None]) -> Iterator[Row]:
    """The wait, less that for fio alone; beside it, less that for fio through a warm ssh."""
    waits, alone, warm = [], [], []
    with (
        sitting(
            root / "sessions", ssh_nodes([NODE], lab.ssh_config), "file:/var/tmp/cephtui-bench", OPTIONS
        ) as session,
        _master(lab, root / "control") as options,
    ):
        inbox = session.runner.subscribe()
        session.run()  # which fills the file
        argv = session.plan().steps[0].nodes[0].argv
        for number in range(1, RUNS + 1):
            say(f"run {number} of {RUNS}")
            waits.append(_wait(session, inbox))
            alone.append(bare.seconds_to_first_document(lab.command(NODE, *argv)))
            warm.append(bare.seconds_to_first_document(bare.through_ssh(argv, lab.ssh_config, NODE, *options)))
    yield _row("order to first sample, less bare fio's", waits, alone, at_most(0.3), _HOW)
    yield _row("the same, less bare fio's through ssh -S", waits, warm, None, _HOW)


def _row(measure: str, waits: list[float], others: list[float], goal: Goal | None, how: str) -> Row:
    differences = [wait - other for wait, other in zip(waits, others, strict=True)]
    found = of_differences(differences)
    return row(measure, found.median, "s", goal, spread=(found.low, found.high), how=how, values=differences)


def _wait(session: Sitting, inbox: Inbox) -> float:
    """From the order to the first sample; waits for the end of the run."""
    plan = session.plan()
    inbox.drain()
    started = time.monotonic()
    done = session.runner.submit(plan)
    while time.monotonic() < started + _LIMIT_SECONDS:
        events = inbox.drain(1.0)
        if any(isinstance(event, Sample) and event.node is None for event in events):
            seconds = time.monotonic() - started
            done.result(_LIMIT_SECONDS)
            return seconds
        if ended := [event for event in events if isinstance(event, Run) and event.outcome]:
            raise NotMeasured(f"a run was {ended[0].outcome}: {ended[0].error}")
    raise NotMeasured("no sample")


@contextmanager
def _master(lab: Lab, control: Path) -> Iterator[list[str]]:
    """A connection of OpenSSH's own that stays open; gives the options that use it."""
    options = ["-S", str(control)]
    command = ["ssh", "-F", str(lab.ssh_config), *options]
    # in the background it keeps its stderr open: with a pipe this would wait for its end
    silent = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([*command, "-M", "-N", "-f", NODE], check=True, **silent)
    try:
        yield options
    finally:
        subprocess.run([*command, "-O", "exit", NODE], check=False, capture_output=True)
