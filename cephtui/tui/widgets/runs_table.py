"""The session's runs, the newest first, with the user's marks between them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from rich.text import Text
from textual.message import Message
from textual.widgets import DataTable

from cephtui.models import Mark, Run, Total
from cephtui.models.metrics import LIVE
from cephtui.reports.text import OUTCOME_STYLES, varied
from cephtui.tui.keys import key
from cephtui.tui.widgets.fitted import show_rows

_FIGURES = [metric.title for metric in LIVE]
_COLUMNS = ("#", "preset", "", *_FIGURES, "outcome", "")
_RIGHT = {"#", *_FIGURES}
_TITLES = [Text(column, justify="right" if column in _RIGHT else "left") for column in _COLUMNS]
_MARKS_MOST = 500
"""The newest marks: a table of more is slow."""
_MARK_COLUMNS, _OTHER_COLUMNS = 40, 64


def _cells(run: Run, direction: str, total: Total | None, apart: str) -> list[Text]:
    figures = [metric.text_of(total) for metric in LIVE]
    outcome = run.outcome or "running"
    marked = f"{outcome} !" if run.findings else outcome
    texts = [str(run.run), run.preset, direction, *figures, marked, apart]
    cells = [
        Text(text, justify="right" if column in _RIGHT else "left")
        for column, text in zip(_COLUMNS, texts, strict=True)
    ]
    cells[-2].stylize(OUTCOME_STYLES.get(outcome, ""))
    return cells


def _mark_cells(mark: Mark, columns: int) -> list[Text]:
    text = mark.text if len(mark.text) <= columns else mark.text[: columns - 1] + "…"
    when = f"{mark.at.astimezone():%H:%M:%S}"
    blank = [Text("")] * (1 + len(_FIGURES))
    return [Text("*", "bold", justify="right"), Text(text, "bold italic"), *blank, Text(when, "dim"), Text("")]


class RunsTable(DataTable[Text]):
    """One row for each direction of each run, and one for each mark."""

    BINDINGS = [
        key("down,j", "cursor_down", "down", "the run below", "runs"),
        key("up,k", "cursor_up", "up", "the run above", "runs"),
        key("enter", "select_cursor", "open", "all of the run: conditions, figures, what limits them", "runs"),
    ]

    class Opened(Message):
        """A run is to be shown in full."""

        def __init__(self, run: Run) -> None:
            super().__init__()
            self.run = run

    class Reached(Message):
        """The cursor is on a run."""

        def __init__(self, run: Run) -> None:
            super().__init__()
            self.run = run

    def __init__(self) -> None:
        super().__init__(id="runs", cursor_type="row", zebra_stripes=True)
        self._runs: list[Run] = []
        self._marks: list[Mark] = []
        self.baseline: int | None = None

    def on_mount(self) -> None:
        self.rebuild()

    @property
    def _room(self) -> int:
        """Columns for the text of a mark."""
        return max(16, min(_MARK_COLUMNS, self.size.width - _OTHER_COLUMNS))

    def on_resize(self) -> None:
        """Marks take what room there is."""
        if self._marks:
            self.rebuild()

    @property
    def chosen(self) -> Run | None:
        """The run under the cursor."""
        number = self._key_here.partition(" ")[0]
        return next((run for run in self._runs if str(run.run) == number), None)

    @property
    def marks(self) -> tuple[Mark, ...]:
        return tuple(self._marks)

    def put(self, *runs: Run) -> None:
        """Add runs, or update those that are in the table."""
        numbers = {run.run for run in runs}
        self._runs = [*runs, *(other for other in self._runs if other.run not in numbers)]
        self.rebuild()

    def put_mark(self, *marks: Mark) -> None:
        """Add marks."""
        self._marks += marks
        self.rebuild()

    def rebuild(self) -> None:
        """All rows, the newest first; the cursor stays on its run or mark, and at the top with the newest."""
        rows: list[tuple[datetime, int, int, Run | Mark]] = [
            *((run.started_at, 0, run.run, run) for run in self._runs),
            *((mark.at, 1, number, mark) for number, mark in list(enumerate(self._marks))[-_MARKS_MOST:]),
        ]
        rows.sort(key=lambda row: row[:3], reverse=True)
        apart = varied(self._runs)
        cells: dict[str, list[Text]] = {}
        for _, _, number, row in rows:
            if isinstance(row, Mark):
                cells[f"mark {number}"] = _mark_cells(row, self._room)
            else:
                cells |= self._of_run(row, apart[row.run])
        before, here = self.cursor_row, self._key_here
        show_rows(self, _TITLES, cells)
        self.move_cursor(row=before and self._row_of(here, before))

    @property
    def _key_here(self) -> str:
        """Of the row under the cursor; empty where there is none."""
        return str(self.coordinate_to_cell_key(self.cursor_coordinate).row_key.value) if self.row_count else ""

    def _row_of(self, key: str, otherwise: int) -> int:
        """The row with a key; a run in progress has none of a direction yet."""
        names = [str(name.value) for name in self.rows]
        same = [row for row, name in enumerate(names) if name == key] or [
            row for row, name in enumerate(names) if name.split()[0] == key.split()[0] != "mark"
        ]
        return same[0] if same else otherwise

    def to_newest(self) -> None:
        """Move the cursor to the newest run, not to a mark after it."""
        for row in range(self.row_count):
            self.move_cursor(row=row)
            if self.chosen:
                return

    def _of_run(self, run: Run, apart: str) -> dict[str, list[Text]]:
        """Its rows by their keys."""
        if run.run == self.baseline:
            apart = f"baseline {apart}".strip()
        totals: Mapping[str, Total | None] = run.summary.flows or {"": None}
        return {f"{run.run} {name}": _cells(run, name, total, apart) for name, total in totals.items()}

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        event.stop()
        if self.chosen:
            self.post_message(self.Opened(self.chosen))

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        """The cursor has moved."""
        event.stop()
        if self.chosen:
            self.post_message(self.Reached(self.chosen))
