"""The session's runs, the newest first."""

from __future__ import annotations

from rich.text import Text
from textual.message import Message
from textual.widgets import DataTable

from cephtui import units
from cephtui.models import Run, Total
from cephtui.report import OUTCOME_STYLES, varied

_COLUMNS = ("#", "preset", "", "IOPS", "bandwidth", "mean", "p99", "outcome", "")
_RIGHT = {"#", "IOPS", "bandwidth", "mean", "p99"}


def _cells(run: Run, direction: str, total: Total | None, apart: str) -> list[Text]:
    figures = [units.DASH] * 4
    if total:
        figures = [
            units.iops(total.iops),
            units.bandwidth(total.bandwidth_bytes),
            units.latency(total.latency_mean_seconds),
            units.latency(total.latency_p99_seconds),
        ]
    outcome = run.outcome or "running"
    marked = f"{outcome} !" if run.findings else outcome
    texts = [str(run.run), run.preset, direction, *figures, marked, apart]
    cells = [
        Text(text, justify="right" if column in _RIGHT else "left")
        for column, text in zip(_COLUMNS, texts, strict=True)
    ]
    cells[-2].stylize(OUTCOME_STYLES.get(outcome, ""))
    return cells


class RunsTable(DataTable[Text]):
    """One row for each direction of each run."""

    BINDINGS = [("j", "cursor_down", "down"), ("k", "cursor_up", "up")]

    class Opened(Message):
        """A run is to be shown in full."""

        def __init__(self, run: Run) -> None:
            super().__init__()
            self.run = run

    def __init__(self) -> None:
        super().__init__(id="runs", cursor_type="row", zebra_stripes=True)
        self._runs: list[Run] = []

    def on_mount(self) -> None:
        """The columns."""
        for column in _COLUMNS:
            self.add_column(Text(column, justify="right" if column in _RIGHT else "left"))

    def put(self, run: Run) -> None:
        """Add a run, or show what has become of it."""
        self._runs = [run, *(other for other in self._runs if other.run != run.run)]
        self._runs.sort(key=lambda other: other.run, reverse=True)
        self.clear()
        apart = varied(self._runs)
        for each in self._runs:
            totals: list[tuple[str, Total | None]] = [("read", each.summary.read), ("write", each.summary.write)]
            for direction, total in [pair for pair in totals if pair[1]] or [("", None)]:
                self.add_row(*_cells(each, direction, total, apart[each.run]), key=f"{each.run} {direction}")

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Enter or a click."""
        number = int(str(event.row_key.value).split()[0])
        self.post_message(self.Opened(next(run for run in self._runs if run.run == number)))
