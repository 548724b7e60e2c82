"""Whether fio is slower because cephtui looks on: interleaved with bare ssh, beside bare ssh against itself."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

from cephtui.models import OptionValue
from tests.bench import bare, precedence
from tests.bench.figures import Estimate, of_ratios
from tests.bench.interactive import ConsoleSession, NotMeasured, console_session, ssh_nodes
from tests.bench.table import Row, at_least, row
from tests.lab import Lab

PAIRS = 15
NODE = "lab1"
TARGET = "file:/dev/shm/cephtui-bench"
OPTIONS: dict[str, OptionValue] = {
    # In memory and without a queue, so that nothing but CPU time decides: whatever takes some away shows.
    "rw": "randread",
    "bs": "4k",
    "ioengine": "psync",
    "direct": False,
    "size": "64M",
    "ramp_time": 2,  # while it lasts, fio gets its precedence
    "runtime": 3,
}
_LOW, _MEDIAN = at_least(0.97), at_least(0.99)


def rows(lab: Lab, root: Path, say: Callable[[str], None]) -> Iterator[Row]:
    """The ratio to bare ssh, and that of bare ssh to itself."""
    with console_session(root, ssh_nodes([NODE], lab.ssh_config), TARGET, OPTIONS) as session:
        precedence.servers(lab)
        session.run()  # which fills the file
        blocks = []
        for number in range(1, PAIRS + 1):
            say(f"pair {number} of {PAIRS}")
            blocks.append(_block(session, lab))
    observed = [watched / once for watched, once, _ in blocks]
    control = [again / once for _, once, again in blocks]
    yield from _rows("cephtui / bare ssh", observed, of_ratios(control))
    yield from _rows("A/A control, ssh / ssh", control, None)


def _block(session: ConsoleSession, lab: Lab) -> tuple[float, float, float]:
    """The IOPS with cephtui, with bare ssh and with bare ssh again, measured in random order."""
    argv = session.plan().steps[0].nodes[0].argv
    command = bare.through_ssh(argv, lab.ssh_config, NODE)
    found = {}

    def begun() -> None:
        precedence.fio(lab, NODE)

    for index in random.sample(range(3), 3):
        found[index] = bare.read_iops(command, begun) if index else _watched(session, begun)
    return found[0], found[1], found[2]


def _watched(session: ConsoleSession, begun: Callable[[], None]) -> float:
    read = session.run(begun).summary.read
    if read is None or read.iops is None:
        raise NotMeasured("a run without reads")
    return read.iops


def _rows(name: str, ratios: list[float], control: Estimate | None) -> Iterator[Row]:
    """Where the control misses a goal too, that cephtui misses it means nothing."""
    found = of_ratios(ratios)
    how = f"fio's IOPS, 4k randread in memory, {len(ratios)} pairs; spread: 95 % interval of the mean ratio"
    told = control is None or _LOW.holds(control.low), control is None or _MEDIAN.holds(control.median)
    goals = (_LOW, _MEDIAN) if control else (None, None)
    interval = (found.low, found.high)
    yield row(f"{name}, lower end", found.low, "ratio", goals[0], told=told[0], spread=interval, how=how, values=ratios)
    yield row(f"{name}, median", found.median, "ratio", goals[1], told=told[1], spread=interval, how=how)
