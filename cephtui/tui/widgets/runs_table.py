"""The session's runs, the newest first, repeats in one row that can be opened, with the user's marks between them."""

from __future__ import annotations

import dataclasses
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Any

from rich.cells import cell_len
from rich.text import Text
from textual.coordinate import Coordinate
from textual.events import Click
from textual.geometry import Region, Spacing
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import DataTable

from cephtui.analysis.runs.batches import flow_names
from cephtui.frozen import dataclass
from cephtui.models import Interval, Mark, Phase, Run
from cephtui.models.metrics import LIVE, Metric
from cephtui.presets import Choice
from cephtui.reports.words.text import title_of
from cephtui.tui.keys import key
from cephtui.tui.terminal.profile import profile_of
from cephtui.tui.widgets.fitted import cells_across, fitted_widths, padded_cell, show_rows_in
from cephtui.tui.widgets.run_rows import LIMITED, MARGINS, SPREADS, LiveFigures, RunRow, TableContent


def _of_metric(metric: Metric, tools: Collection[str], flows: Collection[str]) -> dict[str, str]:
    return {metric.name: title_of(metric, tools, flows), MARGINS[metric]: "95 %", SPREADS[metric]: "spread"}


def _titles(tools: Collection[str], flows: Collection[str]) -> dict[str, str]:
    """Titles by column, from the left; a column that is not always there is left out where it has no text."""
    return {
        **{name: name for name in ("#", "preset", "differs", "target", "started")},
        "direction": "",
        **{name: title for metric in LIVE for name, title in _of_metric(metric, tools, flows).items()},
        "outcome": "outcome",
    }


_RIGHT = {"#", *(metric.name for metric in LIVE), *SPREADS.values()}
_ALWAYS = {"#", "preset", "direction", *(metric.name for metric in LIVE), "outcome"}
_IOPS, _BANDWIDTH, _MEAN, _P99 = LIVE
_SPARED = {
    "started": 40,
    "target": 40,
    **dict.fromkeys((SPREADS[metric] for metric in (_BANDWIDTH, _MEAN, _P99, _IOPS)), 24),
    MARGINS[_BANDWIDTH]: 24,
    MARGINS[_MEAN]: 24,
    MARGINS[_P99]: 18,
    _MEAN.name: 12,
    _BANDWIDTH.name: 10,
    MARGINS[_IOPS]: 10,
}
"""Columns that are left out, in this order, where what differs would have less room than this."""
_LEAST = {_IOPS.name: len("16.5k"), _BANDWIDTH.name: len("1023 KiB/s")}
"""The least widths of figures that change."""
_PRESET_MOST = 30
_PADDING = 2


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns for which there is room."""

    room: int = 0
    """Columns of the terminal for all of them."""
    widths: Mapping[str, int] = field(default_factory=dict)
    """The width of each column, with a blank at each side."""
    tools: frozenset[str] = frozenset()
    """Tools of the runs: a latency has their word for it."""
    flows: frozenset[str] = frozenset()
    """Names of the runs' flows."""

    @property
    def titles(self) -> list[Text]:
        titles = _titles(self.tools, self.flows)
        return [padded_cell(titles[name], width, right=name in _RIGHT) for name, width in self.widths.items()]

    def cells(self, row: RunRow) -> list[Text]:
        """The cells of a row, from the left."""
        if row.across is None:
            return [self.cell(row, name) for name in self.widths]
        _, *widths = self.widths.values()
        return [self.cell(row, "#"), *cells_across(row.across, widths)]

    def cell(self, row: RunRow, name: str) -> Text:
        """What a row has in a column."""
        style = row.styles.get(name, row.style)
        text = row.texts.get(name, "")
        return padded_cell(text, self.widths[name], style, right=name in _RIGHT, sign=LIMITED)

    def has_room(self, name: str, text: str) -> bool:
        """Whether a column shows the whole text."""
        return cell_len(text) + _PADDING <= self.widths[name]


def columns_for(rows: Iterable[RunRow], room: int) -> Columns:
    """The columns for these rows on so many columns of the terminal."""
    rows = list(rows)
    tools = frozenset(row.run.tool for row in rows if row.run)
    flows = frozenset(flow_names(row.run for row in rows if row.run))
    natural = {name: cell_len(title) for name, title in _titles(tools, flows).items()}
    natural |= {name: max(natural[name], least) for name, least in _LEAST.items()}
    used = set(_ALWAYS)
    for row in rows:
        for name, text in row.texts.items():
            if text:
                natural[name] = max(natural[name], cell_len(text.removesuffix(LIMITED)))
                used.add(name)
    natural["preset"] = min(natural["preset"], _PRESET_MOST)
    padded = {name: size + _PADDING for name, size in natural.items() if name in used}
    return Columns(
        room, fitted_widths(padded, room, "differs", {n: s + _PADDING for n, s in _SPARED.items()}), tools, flows
    )


_WIDE = 99
"""Columns of the terminal from which directions are written out."""


class RunsTable(DataTable[Text]):
    """One row for each direction of each run, one for each direction of repeats together, and one for each mark.

    Repeats are closed when their batch has ended: their result stands for them. The cursor does not go to marks.
    """

    BINDINGS = [
        key("down,j", "cursor_down", "down", "the run below", "runs"),
        key("up,k", "cursor_up", "up", "the run above", "runs"),
        key("home", "scroll_top", "newest", "the newest run", "runs"),
        key("end", "scroll_bottom", "oldest", "the oldest run", "runs"),
        key(
            "enter",
            "select_cursor",
            "open",
            "show the run in full; for the mean of repeats, their runs",
            "runs",
        ),
        key("right", "open(True)", "show repeats", "right: each repeat; left: only the mean", "runs"),
        key("left", "open(False)", "hide repeats", "right: each repeat; left: only the mean", "runs"),
    ]
    DEFAULT_CSS = "RunsTable { overflow-x: hidden; scrollbar-size-vertical: 1; }"

    @dataclasses.dataclass
    class Opened(Message):
        """A run is to be shown in full."""

        run: Run

    @dataclasses.dataclass
    class Reached(Message):
        """The cursor is on a run, or on one that stands for all its ``repeats``."""

        run: Run
        repeats: Sequence[Run]

    counts: reactive[tuple[int, int]] = reactive((0, 0), repaint=False)
    """How many runs are shown, and of how many."""

    def __init__(self) -> None:
        super().__init__(id="runs", cursor_type="row", zebra_stripes=True, cell_padding=0)
        self.content = TableContent()
        """The runs, marks and baseline that it shows."""
        self._rows: list[RunRow] = []
        self._lines: list[int] = []
        """The rows of runs and of repeats, by their numbers from the top."""
        self._columns = Columns()

    def on_resize(self) -> None:
        if self._columns.room != self._width():
            self.rebuild()

    def _width(self) -> int:
        """Columns of the terminal for all columns of the table; before it is laid out, as if it had all of them."""
        return (self.size.width or self.app.size.width) - self.styles.scrollbar_size_vertical

    @property
    def chosen(self) -> Run | None:
        """The run under the cursor; on repeats together the last of them."""
        return self._row.run

    @property
    def _row(self) -> RunRow:
        """The row under the cursor; an empty one where there is none."""
        return self._rows[self.cursor_row] if self.cursor_row < len(self._rows) else RunRow("")

    def show_session(
        self,
        runs: Sequence[Run],
        marks: Sequence[Mark] = (),
        presets: Mapping[str, Mapping[str, Choice]] | None = None,
        baseline: int | None = None,
    ) -> None:
        """Show these instead; ``presets`` has the options of each preset, for what differs from them."""
        plain = profile_of(self).ascii_only
        self.content = TableContent(
            {run.run: run for run in runs}, tuple(marks), presets or {}, baseline, ascii_only=plain
        )
        self.rebuild()

    def put_filter(self, text: str) -> None:
        """Show the runs that have all these words, and the marks."""
        self.content = replace(self.content, filter=text)
        self.rebuild(stays=True)

    def put(self, run: Run) -> None:
        """Add a run, or update the one that is in the table."""
        self._change(runs={**self.content.runs, run.run: run})

    def put_mark(self, mark: Mark) -> None:
        """Add a mark."""
        self._change(marks=(*self.content.marks, mark))

    def put_baseline(self, baseline: int | None) -> None:
        """Name the run that others are compared with, or none."""
        self._change(baseline=baseline)

    def put_measuring(self, batches: frozenset[str]) -> None:
        """Name the batches that are being measured, whose repeats stay open between two of them."""
        if batches != self.content.measuring:
            self._change(measuring=batches)

    def _change(self, **changes: Any) -> None:
        self.content = replace(self.content, **changes)
        self.rebuild()

    def show_live(self, run: Run, flows: Mapping[str, Interval], phase: Phase = "run") -> None:
        """Show the figures of the last second of a run in progress, and its phase."""
        before, current = self.content.now, self.content.runs.get(run.run)
        if current is None or current.outcome:
            return
        earlier_flows = dict.fromkeys(before.flows) if before and before.run == run.run else {}
        self.content = replace(self.content, now=LiveFigures(run.run, {**earlier_flows, **flows}, phase))
        if not self._update_in_place(current):
            self.rebuild()

    def _update_in_place(self, run: Run) -> bool:
        """Whether the rows of a run in progress have room for what has changed in them."""
        content, columns = self.content, self._columns
        lines = {row.key: line for line, row in enumerate(self._rows)}
        for direction, flow in content.flows(run).items():
            line = lines.get(f"{run.run} {direction}")
            if line is None:
                return str(run.run) not in {row.name for row in self._rows}  # the user has closed its repeats
            row, texts = self._rows[line], content.live_texts(run, flow)
            changed = [name for name in columns.widths if name in texts and texts[name] != row.texts[name]]
            if not all(columns.has_room(name, texts[name]) for name in changed):
                return False
            self._rows[line] = row = replace(row, texts={**row.texts, **texts})
            for name in changed:
                self.update_cell_at(Coordinate(line, [*columns.widths].index(name)), columns.cell(row, name))
        return True

    # ------------------------------------------------------------------ all rows

    def rebuild(self, *, stays: bool = False) -> None:
        """Draw all rows, the newest first; the cursor on the newest run goes to a newer one, unless it ``stays``."""
        here = self._row if self._lines else RunRow("")
        is_newest = not self._lines or (not stays and here.name == self._rows[self._lines[0]].name)
        above = self.cursor_row - self.scroll_offset.y
        room, self.content = self._width(), replace(self.content, today=datetime.now().date())
        self._rows, self._lines = self.content.rows(narrow=room < _WIDE), []  # no line is a run's until all are there
        self.counts = len({run.run for row in self._rows for run in row.runs}), len(self.content.runs)
        self._columns = columns_for(self._rows, room)
        cells = {row.key: self._columns.cells(row) for row in self._rows}
        show_rows_in(self, [*self._columns.widths.values()], self._columns.titles, cells)
        self._lines = [line for line, row in enumerate(self._rows) if row.run]
        self.show_cursor = bool(self._lines)
        if self._lines:
            line = _line_after({line: self._rows[line] for line in self._lines}, here, is_newest=is_newest)
            if not is_newest:
                self.scroll_to(y=line - above, animate=False)
                self.call_after_refresh(self.scroll_to, y=line - above, animate=False)  # now there is room for it
            self.move_cursor(row=line)

    # ------------------------------------------------------------------ the cursor

    def validate_cursor_coordinate(self, value: Coordinate) -> Coordinate:
        """Skip marks: the next row in the direction of the movement, else the last one before."""
        row, column = super().validate_cursor_coordinate(value)
        at = bisect_left(self._lines, row)
        below, above = self._lines[at : at + 1], self._lines[max(0, at - 1) : at]
        if below == [row] or not self._lines:
            return Coordinate(row, column)
        return Coordinate([*below, *above][0] if row > self.cursor_row else [*above, *below][0], column)

    def on_click(self, event: Click) -> None:
        """Select no mark; open or close repeats."""
        line = event.style.meta.get("row", -1)
        row = self._rows[line] if 0 <= line < len(self._rows) else None
        if row and (row.repeats or not row.run):
            event.prevent_default().stop()
        if row and row.repeats:
            self.move_cursor(row=line)
            self.action_open()

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        event.stop()
        if self._row.repeats:
            self.action_open()
        elif self.chosen:
            self.post_message(self.Opened(self.chosen))

    def action_open(self, is_open: bool | None = None) -> None:
        """Show the runs of the repeats under the cursor, or only their result; by default, what is not shown now."""
        if point := self._row.point:
            if is_open is None:
                is_open = all(row.repeats for row in self._rows if row.point == point)
            self._change(chosen={**self.content.chosen, point: is_open})

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        event.stop()
        if self.chosen:
            self.post_message(self.Reached(self.chosen, self._row.repeats))
            self._show_around()

    def _show_around(self) -> None:
        """Scroll to the marks beside the run under the cursor too: the cursor does not go to them."""
        at = bisect_left(self._lines, self.cursor_row)
        first = self._lines[at - 1] + 1 if at else 0
        last = self._lines[at + 1] if at + 1 < len(self._lines) else self.row_count
        for line, rows in ((first, last - first), (self.cursor_row, 1)):
            region = Region(0, line + self.header_height, 1, rows)
            self.scroll_to_region(region, animate=False, spacing=Spacing(top=self.header_height), force=True)


def _line_after(rows: Mapping[int, RunRow], before: RunRow, *, is_newest: bool) -> int:
    """Where a row is now, or that of its run, which has no direction at first; else the result of its repeats.

    ``rows`` are those of runs, by their lines. Another run is the newest: its row, if this one ``is_newest``.
    """
    first = next(iter(rows))
    same = [line for line, row in rows.items() if row.name == before.name]
    same = same or [line for line, row in rows.items() if before.point and row.point == before.point]
    if not same or (is_newest and same[0] != first):
        return first
    return next((line for line in same if rows[line].key == before.key), same[0])
