"""Two runs beside each other: their charts over each other, then what differed; and the choice of the other run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from cephtui import units
from cephtui.analysis.sides import Side
from cephtui.models.metrics import DIRECTIONS, LIVE
from cephtui.reports import report
from cephtui.sessions.saved_runs import SavedRun, candidates
from cephtui.sessions.store import StoreError
from cephtui.stats import known_sum
from cephtui.tui.charts.overlay import Curves, Overlay
from cephtui.tui.keys import KeyBar, key
from cephtui.tui.terminal.profile import profile_of
from cephtui.tui.widgets.pick_list import Filter, Picker, PickList, Row

_ROWS_BESIDE = 9
"""Rows that the sides, the headings and the first figures take: what is left is for differences."""


class Comparison(VerticalScroll):
    """What differed, and the figures: scrolled with the usual keys."""

    BINDINGS = [
        key("down,j", "scroll_down", "down", "scroll down"),
        key("up,k", "scroll_up", "up", "scroll up"),
        key("home,g", "scroll_home", "top", "to the top"),
        key("end,G", "scroll_end", "end", "to the end"),
    ]
    DEFAULT_CSS = """
    Comparison { height: 1fr; padding: 0 0 0 1; border-top: solid $primary-darken-1; scrollbar-size-vertical: 1; }
    Comparison > Static { height: auto; }
    """

    def compose(self) -> ComposeResult:
        """The text."""
        yield Static()

    def show(self, left: Side, right: Side) -> None:
        """Draw both, with as many differences first as leave room for figures."""
        room = self.content_size.height - _ROWS_BESIDE
        shown = report.compare(left, right, ascii=profile_of(self).ascii, most_differences=room)
        self.query_one(Static).update(shown)


class CompareScreen(Screen[None]):
    """Two runs: charts over each other, and below them what differed in conditions and figures."""

    BINDINGS = [
        key("v", "next_figure", "figure", "IOPS, bandwidth, mean or p99 latency in the charts", "view", shown=True),
        key("w", "swap", "swap", "swap A and B: changes are told from A to B", "view", shown=True),
        key("escape", "dismiss", "back", "back", "more", shown=True),
        key("q", "app.quit", "quit", "quit", "more"),
    ]
    DEFAULT_CSS = """
    CompareScreen { layout: vertical; }
    CompareScreen #overlays { height: 35%; min-height: 7; max-height: 50%; }
    """

    def __init__(self, left: Side, right: Side, left_curves: Curves, right_curves: Curves) -> None:
        super().__init__()
        self._sides, self._curves, self._figure = (left, right), (left_curves, right_curves), 0

    def compose(self) -> ComposeResult:
        """Reads and writes beside each other, then the text."""
        with Horizontal(id="overlays"):
            for direction in DIRECTIONS:
                yield Overlay(direction)
        yield Comparison()
        yield KeyBar()

    def on_mount(self) -> None:
        """Keys scroll at once."""
        self._draw_charts()
        self.set_focus(self.query_one(Comparison))

    @on(events.Resize)
    def _fit(self) -> None:
        self.call_after_refresh(self._draw_text)

    def _draw_charts(self) -> None:
        metric, directions = LIVE[self._figure], self._directions()
        for direction in DIRECTIONS:
            overlay = self.query_one(f"#{direction}-overlay", Overlay)
            overlay.display = direction in directions
            name = f"{direction}.{metric.name}"
            overlay.show(metric, *(curves.get(name, ()) for curves in self._curves))

    def _directions(self) -> list[str]:
        """Those of either side; an empty chart where there are none."""
        found = [d for d in DIRECTIONS if any(name.startswith(f"{d}.") for curves in self._curves for name in curves)]
        return list(found) or ["write"]

    def _draw_text(self) -> None:
        self.query_one(Comparison).show(*self._sides)

    def action_next_figure(self) -> None:
        """The next figure in the charts."""
        self._figure = (self._figure + 1) % len(LIVE)
        self._draw_charts()

    def action_swap(self) -> None:
        """A becomes B."""
        self._sides, self._curves = self._sides[::-1], self._curves[::-1]
        self._draw_charts()
        self._draw_text()


# ---------------------------------------------------------------------------------------------- the other run


_AT_ONCE, _SHOWN = 50, 200
"""Runs that are read in one go, and that are listed before the user has asked for more."""


def _row(saved: SavedRun) -> Row:
    """As it stands in the list."""
    run = saved.run
    iops = known_sum(total.iops for total in (run.summary.read, run.summary.write) if total)
    figure = units.DASH if iops is None else f"{units.iops(iops)} IOPS"
    cells = (saved.name, run.preset, figure, run.outcome or "running", "baseline" if saved.baseline else "")
    return Row(saved.name, cells, f"{report.conditions(run)}, {run.target}")


class RunPicker(Picker[tuple[Path, int]]):
    """The run to compare with, of any session: its directory and number."""

    TITLE_TEXT = "compare with"
    PLACEHOLDER = "type to filter: session, preset, target, option, outcome, baseline"
    BINDINGS = [key("enter", "use", "compare", "compare with this run", priority=True)]

    def __init__(self, root: Path, exclude: tuple[str, int]) -> None:
        super().__init__()
        self._source = candidates(root, exclude)
        self._found: dict[str, SavedRun] = {}
        self._rows: list[Row] = []
        self._most = _SHOWN
        self._reading = self._all_read = False

    def on_mount(self) -> None:
        """Begin to read."""
        self._read_more()

    def rows(self) -> list[Row]:
        """See Picker."""
        return list(islice(self._fitting(), self._most))

    def _fitting(self) -> Iterable[Row]:
        words = self.typed.lower().split()
        return (row for row in self._rows if row.fits(words))

    def note(self) -> str:
        """See Picker: how many there are, and whether that is all."""
        if not self._all_read and not self._rows:
            return "looking for runs ..."
        if not self._rows:
            return "there is no other run yet: run a preset, then compare"
        return super().note() or f"{len(self._rows)} runs{'' if self._all_read else ', more below'}"

    def use(self, row: Row | None) -> None:
        """See Picker."""
        found = self._found.get(row.key) if row else None
        if found:
            self.dismiss((found.directory, found.run.run))

    @on(Filter.Changed)
    def _look_further(self) -> None:
        self._read_more()

    @on(PickList.OptionHighlighted)
    def _come_to_the_end(self, event: PickList.OptionHighlighted) -> None:
        if event.option_index == self._most - 1:
            self._most += _SHOWN
            self.show_rows()
            self._read_more()

    def _read_more(self) -> None:
        """Read on, unless that is being done or there is enough to show."""
        if not self._reading and self._wants_more():
            self._reading = True
            self._read()

    def _wants_more(self) -> bool:
        return not self._all_read and sum(1 for _ in islice(self._fitting(), self._most)) < self._most

    @work
    async def _read(self) -> None:
        """Only one at a time: what is read from can't be asked by two."""
        while self._wants_more():
            try:
                found = await asyncio.to_thread(lambda: list(islice(self._source, _AT_ONCE)))
            except StoreError as error:
                self.notify(str(error), severity="error", timeout=15, markup=False)
                found = []
            self._take(found)
        self._reading = False

    def _take(self, found: list[SavedRun]) -> None:
        self._all_read = not found
        self._found |= {each.name: each for each in found}
        self._rows += [_row(each) for each in found]
        self.show_rows()
