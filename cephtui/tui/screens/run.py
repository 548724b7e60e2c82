"""A screen with a run on it: how it is drawn, and what can be done with it. Live, saved and replayed runs alike.

What opens on a key is imported then.
"""

from __future__ import annotations

from pathlib import Path

from textual import on
from textual.message import Message
from textual.screen import Screen

from cephtui.models import Run
from cephtui.models.metrics import HEADLINES
from cephtui.reports.runs import draw_run
from cephtui.reports.text import conditions
from cephtui.tui.dialogs import Details
from cephtui.tui.keys import key
from cephtui.tui.widgets.run_view import RunView
from cephtui.tui.widgets.runs_table import RunsTable


class CompareWanted(Message):
    """Asks for the comparison of a run with another one."""

    def __init__(self, directory: Path, number: int) -> None:
        super().__init__()
        self.directory, self.number = directory, number


class RunScreen(Screen[None]):
    """The keys that choose how a run is drawn, and the actions that all screens with a run have."""

    NOTHING = "no run is selected"
    """Why there is nothing to show."""

    BINDINGS = [
        key("v", "next_figure", "figure", "the chart: IOPS, bandwidth or latency", "view"),
        key("h", "heat", "heat map", "the distribution of latencies in each second", "view"),
        key("b", "by_node", "by node", "a line for each node, or all together", "view"),
        key("z", "zoom", "full screen", "the charts on the whole screen; the run continues", "view"),
    ]

    @property
    def view(self) -> RunView:
        """Where the run is drawn."""
        return self.query_one(RunView)

    @property
    def drawn(self) -> tuple[Path, Run] | None:
        """The session's directory and the run that is drawn; None where there is none."""
        return None

    def _drawn_or_notified(self) -> tuple[Path, Run] | None:
        if self.drawn is None:
            self.notify(self.NOTHING)
        return self.drawn

    def action_next_figure(self) -> None:
        """IOPS, then bandwidth, then latency."""
        self.view.figure = (self.view.figure + 1) % len(HEADLINES)

    def action_by_node(self) -> None:
        """A line for each node, or of all together."""
        self.view.by_node = not self.view.by_node
        shown = self.view.shown
        if self.view.by_node and shown and len(shown.history.nodes) < 2:
            self.notify("there is only one node")

    def action_heat(self) -> None:
        """The heat map of latencies, or none."""
        self.view.heat = not self.view.heat
        shown = self.view.shown
        if self.view.heat and shown and not any(shown.history.heat.values()):
            none = "the tool of this run gives no histogram of latencies"
            why = none if shown.whole else "it begins when the ramp is over"
            self.notify(f"no heat map: {why}")

    def action_zoom(self) -> None:
        """The charts on the whole screen, or back; the run continues."""
        self.toggle_class("-zoomed")

    def leave_zoom(self) -> bool:
        """Back from the full screen; whether it was there."""
        zoomed = self.has_class("-zoomed")
        self.remove_class("-zoomed")
        return zoomed

    def action_presenter(self) -> None:
        from cephtui.tui.screens.presenter import Presenter

        self.app.push_screen(Presenter(self.view, self._title))

    def _title(self) -> str:
        """Of the run that is drawn then: another may have begun."""
        run = self.drawn[1] if self.drawn else None
        return f"{run.preset}  {conditions(run)}" if run else ""

    def action_log(self) -> None:
        from cephtui.tui.screens.log import LogScreen

        if found := self._drawn_or_notified():
            self.app.push_screen(LogScreen(*found))

    def action_compare(self) -> None:
        if found := self._drawn_or_notified():
            self.post_message(CompareWanted(found[0], found[1].run))

    @on(RunsTable.Opened)
    def _open(self, message: RunsTable.Opened) -> None:
        run, marks = message.run, self.query_one(RunsTable).marks
        self.app.push_screen(Details(f"{run.session}/{run.run}", draw_run(run, marks=marks)))

    def action_back(self) -> None:
        """From the full-screen chart, else to where it was opened."""
        if not self.leave_zoom():
            self.dismiss()
