"""The filter above the table of runs: typed words, and how many runs have them."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Label

from cephtui.tui.keys import key
from cephtui.tui.widgets.runs_table import RunsTable


class FilterText(Input):
    """What is typed."""

    BINDINGS = [key("enter", "screen.runs", "to the runs", "the runs that are left", "runs", shown=True)]


class RunsFilter(Horizontal):
    """Shown while it is typed in, or filters."""

    DEFAULT_CSS = """
    RunsFilter { height: 1; display: none; padding: 0 1; }
    RunsFilter.-open { display: block; }
    RunsFilter Input { width: 1fr; height: 1; border: none; padding: 0; background: $surface-lighten-1; }
    RunsFilter Label { padding-left: 1; }
    """

    def __init__(self, table: RunsTable) -> None:
        super().__init__(id="runs-filter")
        self._table = table

    def compose(self) -> ComposeResult:
        yield FilterText(placeholder="filter: preset, target, outcome, number, what differs", compact=True)
        yield Label(markup=False)

    def on_mount(self) -> None:
        self.watch(self._table, "counts", self._count)

    @property
    def is_open(self) -> bool:
        """Whether it is on the screen."""
        return self.has_class("-open")

    def open(self) -> None:
        """Take what is typed."""
        self.add_class("-open")
        self.query_one(FilterText).focus()

    def close(self) -> None:
        """Show all runs again."""
        self.query_one(FilterText).value = ""
        self.remove_class("-open")

    @on(Input.Changed)
    def _narrow(self, event: Input.Changed) -> None:
        event.stop()
        self._table.put_filter(event.value)

    def _count(self, counts: tuple[int, int]) -> None:
        shown, number = counts
        self.query_one(Label).update(f"{shown} of {number} runs, esc shows all")
