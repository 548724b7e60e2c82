"""CPU of the console's process while nodes stream a document each a second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from .console import SESSION, Console, console
from .nodes import TARGET, names, nodes
from .sitting import NotMeasured
from .table import Row, at_most, row

NODES = {1: at_most(3), 16: at_most(15), 64: at_most(50)}
PARTS, PART_SECONDS = 4, 4.0
PRESET, KEY = "mixed-75-25", "6"
_START_SECONDS = 90.0
_RUNTIME = 20
_DRAWN = b"--direct=1"
"""In the preview of the command, which is drawn when the console listens to keys."""
_KEPT_PACE = 0.95
_HOW = (
    f"user and system time over {PARTS * PART_SECONDS:.0f} s; documents of 16 to 30 KB over SSH from another process, "
    "read, stored and merged; spread: least and greatest of its parts"
)


def rows(root: Path, say: Callable[[str], None]) -> Iterator[Row]:
    """With more and more nodes: the console on a terminal, and ``run --json``."""
    for number, goal in NODES.items():
        for what, drawing in (("console", True), ("run --json", False)):
            say(f"{what}, nodes that stream: {number}")
            parts = _measure(number, root / f"{number}-{drawing}", drawing=drawing)
            name = f"CPU of {what}, {number} node{'s' if number > 1 else ''}"
            spread = (min(parts), max(parts))
            yield row(name, sum(parts) / PARTS, "% of a core", goal, spread=spread, how=_HOW, values=parts)


def _measure(number: int, directory: Path, *, drawing: bool) -> list[float]:
    directory.mkdir(parents=True)
    with nodes("recorded", directory / "ssh") as ssh_config:
        where = ["-F", str(ssh_config), *(word for name in names(number) for word in ("--node", name))]
        where += ["--target", TARGET, "--session", SESSION]
        words = where if drawing else ["run", PRESET, *where, "--set", f"runtime={_RUNTIME}", "--json"]
        with console(words, directory, terminal=drawing) as running:
            if drawing:
                running.wait_for_text(_DRAWN, _START_SECONDS)
                time.sleep(1.0)
                running.press(KEY)
            running.wait_for_run(_START_SECONDS)
            return _watch(running, number)


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
