"""How long a node's second takes to the screen, beyond the time between two frames."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from cephtui import units
from cephtui.models import Interval
from cephtui.nodes.replay import read_pieces
from cephtui.sessions import store
from cephtui.stats import add_intervals
from cephtui.tools.base import Reading
from cephtui.tools.fio import Fio
from cephtui.tui.widgets.live_view import DRAWS_PER_SECOND
from tests.bench.console import NODES_PLACE, START_SECONDS, Console, on_nodes
from tests.bench.figures import p95
from tests.bench.interactive import NotMeasured
from tests.bench.nodes import Note, told_notes
from tests.bench.recording import KEYS, RECORDING, RUN
from tests.bench.table import Row, at_most, row
from tests.support.known import known

NODES = (1, 16)
RUNS = 2
LEAST = 30
_RUNTIME = 60.0
"""As long as the console expects, whatever was recorded."""
_LIMIT_SECONDS, _DRAWN_SECONDS = 60.0, 3.0
_HOW = (
    "from the moment at which the last node wrote its document of a second to the total IOPS of that second on the "
    f"terminal, less the {1 / DRAWS_PER_SECOND:g} s between two frames; p95 of {{number}} seconds in {RUNS} runs; "
    "spread: least and greatest"
)


def rows(root: Path, say: Callable[[str], None]) -> Iterator[Row]:
    """One row for each number of nodes."""
    for number in NODES:
        say(f"nodes that stream: {number}")
        values = [1e3 * (seconds - 1 / DRAWS_PER_SECOND) for seconds in _measure(number, root / f"{number}")]
        if len(values) < LEAST:
            raise NotMeasured(f"only {len(values)} seconds were seen on the screen")
        name = f"line to screen beyond a frame, {number} node{'s' if number > 1 else ''}, p95"
        how, spread = _HOW.format(number=len(values)), (min(values), max(values))
        yield row(name, p95(values), "ms", at_most(150), spread=spread, how=how, values=values)


def _measure(number: int, directory: Path) -> list[float]:
    wanted = shown_figures(recorded_readings(), number)
    with on_nodes(number, directory) as console:
        for run in range(1, RUNS + 1):
            console.press(KEYS)
            console.wait_for_end(run, START_SECONDS + _LIMIT_SECONDS)
            time.sleep(1.0)
        notes = told_notes(directory / NODES_PLACE)
    runs = [range(first, first + number) for first in range(0, number * RUNS, number)]
    return [value for run in runs for value in _of_run(written(notes, run), wanted, console)]


def _of_run(moments: Sequence[float], wanted: dict[int, str], console: Console) -> Iterator[float]:
    """Of each second that was drawn: two may share a frame where the machine is slow."""
    for piece, text in wanted.items():
        seen = console.drawn.when(f" total {text} ".encode(), moments[piece])
        if seen is not None and seen - moments[piece] < _DRAWN_SECONDS:
            yield seen - moments[piece]


def written(notes: Sequence[Note], processes: range) -> list[float]:
    """When the last of these benchmarks wrote its first piece of output, its second one, and so on."""
    each = [[note.at for note in notes if note.what == "piece" and note.process == number] for number in processes]
    return [max(moments) for moments in zip(*each, strict=True)]


def recorded_readings() -> list[tuple[int, Reading]]:
    """What the recorded node measured, each reading with the number of the piece of output that completed it."""
    run = store.read_run(RECORDING, RUN)
    parser = Fio().bind(run.options).parser(ramp=True, seconds=_RUNTIME)
    pieces = read_pieces(RECORDING / f"{RUN:03}" / "raw", "local")
    return [
        (number, reading)
        for number, piece in enumerate(pieces)
        for reading in parser.feed(piece.stream, piece.data, piece.elapsed_seconds)
    ]


def shown_figures(readings: Sequence[tuple[int, Reading]], nodes: int) -> dict[int, str]:
    """By piece the total IOPS that it brings to the screen; left out where the figure before it is the same."""
    texts = [(piece, units.iops(_total(reading, nodes))) for piece, reading in readings]
    return {piece: text for (_, before), (piece, text) in pairwise([(-1, ""), *texts]) if text != before}


def _total(reading: Reading, nodes: int) -> float:
    def added(interval: Interval | None) -> float:
        total = add_intervals([interval] * nodes) if interval else None
        return known(total.iops) if total else 0.0

    return added(reading.read) + added(reading.write)
