"""How soon a key press is answered on the screen while many nodes stream."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from cephtui.paths import packaged_presets_dir
from cephtui.presets import by_key, find_presets
from tests.bench.console import START_SECONDS, Console, on_nodes
from tests.bench.figures import p95
from tests.bench.interactive import NotMeasured
from tests.bench.recording import KEYS, PRESET
from tests.bench.table import Row, at_most, row

NODES = 64
PRESSES = 44
PAUSE_SECONDS = (0.1, 0.4)
_FIGURE = "v"
_TITLES = ("bandwidth", "latency", "IOPS")
"""Of the chart, as its key shows them one after the other."""
_LIMIT_SECONDS = 10.0
_HOW = (
    f"p95 of {PRESSES} presses at irregular moments, in turn another preset (1 to 5) and another metric of the chart "
    "(v), from the press to the changed text on the terminal, 120x36; each node a document a second, over SSH from "
    "another process; spread: least and greatest"
)


def rows(root: Path, say: Callable[[str], None]) -> Iterator[Row]:
    """One row."""
    say(f"nodes that stream: {NODES}")
    with on_nodes(NODES, root) as console:
        console.press(KEYS)
        console.wait_for_run(START_SECONDS)
        values = [1e3 * seconds for seconds in _answers(console)]
        if outcome := console.outcome():
            raise NotMeasured(f"the run had ended before the last key press: {outcome}")
    spread = (min(values), max(values))
    measure = f"key press to screen, {NODES} nodes, p95"
    yield row(measure, p95(values), "ms", at_most(50), spread=spread, how=_HOW, values=values)


def _answers(console: Console) -> Iterator[float]:
    expected = zip(_selections(), _figures(), strict=False)
    turns = itertools.chain.from_iterable(expected)
    for key, text in itertools.islice(turns, PRESSES):
        time.sleep(random.uniform(*PAUSE_SECONDS))
        pressed = console.press(key)
        yield console.wait_for_text(text, _LIMIT_SECONDS, pressed) - pressed


def _selections() -> Iterator[tuple[str, bytes]]:
    """Key and what answers it: the tile of a preset, of those that do not run."""
    others = [preset for preset in by_key(find_presets(packaged_presets_dir(), Path())) if preset.name != PRESET]
    for preset in itertools.cycle(others):
        yield str(preset.file.key), (preset.file.short or preset.file.title).encode()


def _figures() -> Iterator[tuple[str, bytes]]:
    for title in itertools.cycle(_TITLES):
        yield _FIGURE, f" {title} ".encode()
