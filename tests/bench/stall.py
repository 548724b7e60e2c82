"""Whether a run goes on while its terminal takes no output: the heartbeat of its nodes, and what is stored."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from cephtui.nodes.watched import HEARTBEAT_SECONDS
from tests.bench.console import NODES_PLACE, START_SECONDS, Console, on_nodes
from tests.bench.figures import largest_gap
from tests.bench.interactive import NotMeasured
from tests.bench.nodes import Note, told_notes
from tests.bench.recording import KEYS
from tests.bench.table import Row, at_most, row

NODES = 16
STALL_SECONDS, BEFORE_SECONDS = 6.0, 4.0
_AFTER_SECONDS = HEARTBEAT_SECONDS + 1.0
_LOOK_SECONDS, _PRESS_SECONDS = 0.01, 0.25
_FIGURE = "v"
_BEAT = (
    f"most by which a node waited longer than {HEARTBEAT_SECONDS:g} s for the newline that keeps its benchmark alive, "
    f"while nothing was read from the terminal for {STALL_SECONDS:g} s and v was pressed 4 times a second; noted by "
    f"{NODES} nodes that stream"
)
_STORED = (
    f"longest time without growth of samples.jsonl, looked at every 10 ms; {NODES} nodes, each a document a second, "
    "spread over the second"
)


def rows(root: Path, say: Callable[[str], None]) -> Iterator[Row]:
    """The heartbeat, and the storing beside that of a terminal which is read."""
    say(f"nodes that stream: {NODES}")
    with on_nodes(NODES, root, "apart") as console:
        console.press(KEYS)
        console.wait_for_run(START_SECONDS)
        before = _stored(console, BEFORE_SECONDS)
        begun = time.monotonic()
        during = _stalled(console)
        stalled = (begun, time.monotonic())
        time.sleep(_AFTER_SECONDS)
        notes = told_notes(root / NODES_PLACE)
    yield row("heartbeat, terminal stalled", late_beat(notes, *stalled), "s", at_most(1), how=_BEAT)
    yield row("storing, terminal stalled, largest gap", during, "s", at_most(1), how=_STORED)
    yield row("the same, terminal read", before, "s", how=_STORED)


def _stalled(console: Console) -> float:
    """The largest gap while the terminal takes nothing; raises NotMeasured where the console draws no more after it."""
    console.read.clear()
    gap = _stored(console, STALL_SECONDS, _FIGURE)
    size = len(console.drawn.data)
    console.read.set()
    console.wait(lambda: len(console.drawn.data) > size, "nothing was drawn after the stall", STALL_SECONDS)
    return gap


def _stored(console: Console, seconds: float, key: str = "") -> float:
    """The longest time without a new sample on disk in so many seconds, the key pressed now and then."""
    begun = time.monotonic()
    size, grown, pressed = _size(console), list[float](), begun
    while (now := time.monotonic()) < begun + seconds:
        if (new := _size(console)) != size:
            size, grown = new, [*grown, now]
        if key and now - pressed >= _PRESS_SECONDS:
            pressed = console.press(key)
        time.sleep(_LOOK_SECONDS)
    return largest_gap(grown, begun, begun + seconds)


def _size(console: Console) -> int:
    return console.samples.stat().st_size


def late_beat(notes: Sequence[Note], begun: float, ended: float) -> float:
    """The most by which a heartbeat came too late around these moments, in seconds; raises NotMeasured."""
    gaps = []
    for process in {note.process for note in notes}:
        beats = [note.at for note in notes if note.what == "beat" and note.process == process]
        gaps += [b - a for a, b in pairwise(beats) if b > begun and a < ended]
    if not gaps:
        raise NotMeasured("no heartbeat around the stall")
    return max(gaps) - HEARTBEAT_SECONDS
