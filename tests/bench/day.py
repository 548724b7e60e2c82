"""A day of many nodes through the console's own view, as fast as it goes: what has stayed in memory at its end.

    python -m tests.bench.day NODES SECONDS FILE

It draws on its terminal, and writes a JSON object to the file: ``before_bytes``, ``after_bytes``,
``cpu_seconds`` and ``batch_seconds``, how much of the day was told at once.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from textual.app import ComposeResult

from cephtui.analysis.runs.history import History
from cephtui.models import Event
from cephtui.tui import app
from cephtui.tui.screens.run import RunScreen
from cephtui.tui.widgets.live_view import LiveView
from tests.bench import stream
from tests.bench.process import resident_bytes

BATCH_SECONDS = 180
"""So few that what is handed out at once takes no memory to speak of; each time is drawn."""
_SETTLE_SECONDS, _FRAME_SECONDS = 5.0, 0.01


class Day:
    """Hands out some minutes at once after it has begun, and keeps a history as the session's writer does."""

    def __init__(self, nodes: int, seconds: int) -> None:
        self.kept = History()
        self.begun = self.over = False
        self._events = self._told(nodes, seconds)

    def drain(self) -> list[Event]:
        """See Source."""
        if not self.begun:
            return []
        batch = list(itertools.chain.from_iterable(itertools.islice(self._events, BATCH_SECONDS)))
        self.over = not batch
        return batch

    def _told(self, nodes: int, seconds: int) -> Iterator[list[Event]]:
        yield [*stream.begin(nodes, seconds)]
        for samples in stream.samples(nodes, seconds):
            for sample in samples:
                self.kept.add(sample)
            yield [*samples]


class DayScreen(RunScreen):
    """The live view with all its charts."""

    def __init__(self, day: Day) -> None:
        super().__init__()
        self._day = day

    def compose(self) -> ComposeResult:
        """The view."""
        yield LiveView(self._day)


class DayApp(app.CephtuiApp):
    """Waits until it is idle, lives through the day, and writes down what that took."""

    CSS_PATH = Path(app.__file__).with_name("app.tcss")

    def __init__(self, day: Day, file: Path) -> None:
        super().__init__(file.parent)
        self._day, self._file = day, file

    def on_mount(self) -> None:
        """Begin."""
        screen = DayScreen(self._day)
        self.push_screen(screen)
        self.run_worker(self._live(screen))

    async def _live(self, screen: DayScreen) -> None:
        await asyncio.sleep(_SETTLE_SECONDS)
        before, began = resident_bytes(), time.process_time()
        screen.view.chosen = {"heat": True}
        self._day.begun = True
        while not self._day.over:
            screen.query_one(LiveView).catch_up()
            await asyncio.sleep(_FRAME_SECONDS)
        seconds = time.process_time() - began
        await asyncio.sleep(_SETTLE_SECONDS)
        found = {"before_bytes": before, "after_bytes": resident_bytes()}
        self._write({**found, "cpu_seconds": seconds, "batch_seconds": BATCH_SECONDS})
        self.exit()

    def _write(self, found: dict[str, float]) -> None:
        """Complete or not at all: somebody waits for the file."""
        partial = self._file.with_suffix(".new")
        partial.write_text(json.dumps(found))
        partial.replace(self._file)


if __name__ == "__main__":
    DayApp(Day(int(sys.argv[1]), int(sys.argv[2])), Path(sys.argv[3])).run()
