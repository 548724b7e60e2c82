"""CPU of the console's process while nodes stream a document each a second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bench.console import COLUMNS, LARGE, NODES_PLACE, ROWS, START_SECONDS, Console, console, on_nodes, where
from tests.bench.interactive import NotMeasured
from tests.bench.nodes import nodes
from tests.bench.recording import KEYS, PRESET
from tests.bench.table import Goal, Row, at_most, row

PARTS, PART_SECONDS = 4, 4.0
HEAT_KEY = "h"
_RUNTIME = 20
_KEPT_PACE = 0.95
_HOW = (
    f"user and system time over {PARTS * PART_SECONDS:.0f} s; documents of 16 to 30 KB over SSH from another process, "
    "read, stored and merged; spread: least and greatest of its parts"
)


@dataclass(frozen=True, slots=True)
class Case:
    """What runs, and on how many nodes."""

    what: str
    nodes: int
    goal: Goal
    headless: bool = False
    heat: bool = False
    """Whether the heat maps are drawn too: then every chart is."""
    size: tuple[int, int] = (COLUMNS, ROWS)
    """Columns and rows of its terminal."""


_GOALS = {1: at_most(3), 16: at_most(15), 64: at_most(50)}
CASES = (
    *(
        Case("run --json" if headless else "console", number, goal, headless)
        for number, goal in _GOALS.items()
        for headless in (False, True)
    ),
    Case("console with heat maps", 16, _GOALS[16], heat=True),
    Case("console with every panel at 200x50", 16, _GOALS[16], size=LARGE),
)


def rows(root: Path, say: Callable[[str], None]) -> Iterator[Row]:
    """With more and more nodes: the console on a terminal, and ``run --json``; at last with every chart."""
    for number, case in enumerate(CASES):
        say(f"{case.what}, nodes that stream: {case.nodes}")
        parts = _measure(case, root / f"{number}")
        name = f"CPU of {case.what}, {case.nodes} node{'s' if case.nodes > 1 else ''}"
        spread = (min(parts), max(parts))
        yield row(name, sum(parts) / PARTS, "% of a core", case.goal, spread=spread, how=_HOW, values=parts)


def _measure(case: Case, directory: Path) -> list[float]:
    directory.mkdir(parents=True)
    begun: AbstractContextManager[Console] = _headless(case, directory) if case.headless else _drawn(case, directory)
    with begun as running:
        running.wait_for_run(START_SECONDS)
        return _watch(running, case.nodes)


@contextmanager
def _headless(case: Case, directory: Path) -> Iterator[Console]:
    with nodes("recorded", directory / NODES_PLACE) as ssh_config:
        words = ["run", PRESET, *where(case.nodes, ssh_config), "--set", f"runtime={_RUNTIME}", "--json"]
        with console(words, directory, terminal=False) as running:
            yield running


@contextmanager
def _drawn(case: Case, directory: Path) -> Iterator[Console]:
    with on_nodes(case.nodes, directory, size=case.size) as running:
        if case.heat:
            running.press(HEAT_KEY)
        running.press(KEYS)
        yield running
        if case.heat and b" write latency: " not in running.drawn:
            raise NotMeasured("the heat maps were not drawn")


def _watch(running: Console, number: int) -> list[float]:
    """CPU in each part of the time, in percent of a core; raises NotMeasured where the console did not keep pace."""
    running.look()
    stored, percents = len(running.seen), []
    for _ in range(PARTS):
        before, began = running.cpu_seconds(), time.monotonic()
        time.sleep(PART_SECONDS)
        percents.append(100 * (running.cpu_seconds() - before) / (time.monotonic() - began))
    running.look()
    kept = sum(sample.node is not None for sample in running.seen[stored:])
    wanted = number * PARTS * PART_SECONDS
    if kept < _KEPT_PACE * wanted - number:
        raise NotMeasured(f"the console has stored {kept} samples of {wanted:.0f}: it did not keep pace")
    return percents
