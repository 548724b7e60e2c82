"""A screen with a run on it: how it is drawn, and what can be done with it. Live, saved and replayed runs alike.

What opens on a key is imported then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textual.message import Message

from cephtui.models.metrics import HEADLINES
from cephtui.tui.copying import CopyingScreen, MarkdownSnippet, run_snippet
from cephtui.tui.keys import key
from cephtui.tui.screens.timeline import HasRun, TimelineScreen
from cephtui.tui.widgets.live_view import LiveView
from cephtui.tui.widgets.run_view import RunView

if TYPE_CHECKING:
    from cephtui.analysis.views.live import LiveRun
    from cephtui.models import Mark, Run
    from cephtui.reports.masking.mask import Names
    from cephtui.tui.screens.player import Player
    from cephtui.tui.widgets.runs_filter import RunsFilter
    from cephtui.tui.widgets.runs_table import RunsTable


@dataclass
class CompareWanted(Message):
    """Asks for the comparison of a run with another one."""

    directory: Path
    number: int


_FILTER_BY = "filter the runs by words: preset, target, outcome, number, what differs"
FILTER = key("slash", "filter", "filter", _FILTER_BY, "runs", shown=True)
CURVE = key("V", "curve", "curve", "results against depth, block size, target, node or mark", "view")


def _why_none(run: Run) -> str:
    """Why there is no curve with a run."""
    if run.imported_from:
        return f"no curve: the imported runs of {run.preset} don't differ in exactly one option or heading"
    return f"no curve: {run.preset} has no depth, and no option was varied"


class RunScreen(CopyingScreen, TimelineScreen):
    """The keys that choose how a run is drawn, and the actions that all screens with a run have."""

    NOTHING = "no run is selected"
    """Why there is nothing to show."""
    PRESENTS_NOTHING = "nothing is running: esc goes back"
    """What is presented without a run."""
    CAN_MOVE = False
    player: Player | None = None

    BINDINGS = [
        key("v", "next_metric", "metric", "switch the metric of the chart: IOPS, bandwidth or latency", "view"),
        key("h", "toggle_panel('heat')", "heat map", "latency heat map, second by second", "view"),
        key("w", "panels", "panels", "show or hide charts, nodes, cluster and the table of runs", "view"),
        key("b", "by_node", "by node", "one line per node, or all nodes together", "view"),
        key("F", "full_screen", "full screen", "charts only, on the whole screen", "view"),
    ]

    @property
    def run_screen(self) -> HasRun:
        return self

    @property
    def view(self) -> RunView:
        """The view in which the run is drawn."""
        return self.query_one(RunView)

    def find_view(self) -> RunView | None:
        """The same; None before it is there."""
        return self.query_one_optional(RunView)

    @property
    def live(self) -> LiveRun | None:
        """The run in progress; None where there is none."""
        return next((view.current for view in self.query(LiveView)), None)

    def catch_up(self) -> None:
        """Draw what has happened since it was drawn last."""
        for view in self.query(LiveView):
            view.catch_up()

    @property
    def table(self) -> RunsTable | None:
        """The table of runs; None where the screen has none, or none yet."""
        return cast("RunsTable | None", self.query_one_optional("#runs"))

    @property
    def _filter(self) -> RunsFilter | None:
        """The filter of the table, where there is one."""
        return cast("RunsFilter | None", self.query_one_optional("#runs-filter"))

    def more_to_say(self) -> str:
        """The legend of the table of runs."""
        from cephtui.tui.widgets.run_rows import LEGEND

        return LEGEND if self.table else ""

    @property
    def drawn(self) -> tuple[Path, Run] | None:
        """The session's directory and the run that is drawn; None where there is none."""
        return None

    def names_to_hide(self) -> Names:
        """Names of the run that is drawn, and of those in the table."""
        from cephtui.reports.masking.mask import names_in

        runs = list(self.table.content.runs.values()) if self.table else []
        runs += [self.drawn[1]] if self.drawn else []
        return names_in(runs)

    def _drawn_or_notified(self) -> tuple[Path, Run] | None:
        if self.drawn is None:
            self.notify(self.NOTHING)
        return self.drawn

    def action_next_metric(self) -> None:
        self.view.figure = (self.view.figure + 1) % len(HEADLINES)

    def action_by_node(self) -> None:
        self.view.by_node = not self.view.by_node
        shown = self.view.shown
        if self.view.by_node and shown and len(shown.history.nodes) < 2:
            self.notify("there is only one node")

    def action_panels(self) -> None:
        from cephtui.tui.screens.panels import PanelsDialog

        self.app.push_screen(PanelsDialog(self.visible_panels, self.toggle_panel))

    def visible_panels(self) -> set[str]:
        """The names of those that are on the screen."""
        table = {"runs"} if self.table and self.table.display else set()
        return {*self.view.laid_out.names, *table}

    def toggle_panel(self, name: str) -> None:
        """Show a panel, or hide it."""
        if name != "runs":
            self.view.toggle(name)
        elif self.table:
            self.leave_filter()
            self.table.display = not self.table.display

    def action_toggle_panel(self, name: str) -> None:
        """Show a panel or hide it, and say why it can't be shown."""
        self.toggle_panel(name)
        shown = self.view.shown
        if name == "heat" and self.view.chosen[name] and shown and not any(shown.history.heat.values()):
            none = "no heat map: the tool of this run reports no latency histogram"
            self.notify(none if shown.whole else "the heat map begins when the ramp is over")

    def action_curve(self) -> None:
        """Show the curve of the run under the cursor and of those that belong to it; it grows with the table."""
        from cephtui.analysis.views.curve import axes_or_depth, family
        from cephtui.tui.screens.curve import CurveScreen

        table = self.table
        if table is None or table.chosen is None:
            self.notify("no curve: nothing has run yet")
            return

        def source() -> tuple[list[Run], tuple[Mark, ...]]:
            return list(table.content.runs.values()), tuple(table.content.marks)

        runs, marks = source()
        if axes_or_depth(family(table.chosen, runs), marks):
            self.app.push_screen(CurveScreen(table.chosen, source))
        else:
            self.notify(_why_none(table.chosen))

    def action_full_screen(self) -> None:
        """Show the charts on the whole screen, or go back; the run continues."""
        self.toggle_class("-full-screen")

    def leave_full_screen(self) -> bool:
        """Leave the full screen; whether it was shown."""
        shown = self.has_class("-full-screen")
        self.remove_class("-full-screen")
        return shown

    def action_presenter(self) -> None:
        from cephtui.tui.screens.presenter import Presenter

        self.app.push_screen(Presenter(self))

    def action_log(self) -> None:
        from cephtui.tui.screens.log import LogScreen

        if drawn := self._drawn_or_notified():
            self.app.push_screen(LogScreen(*drawn))

    def action_runs(self) -> None:
        self.set_focus(self.table)

    def action_filter(self) -> None:
        """Filter the table of runs by what is typed from now on."""
        if self.table is None or self._filter is None:
            self.notify(self.NOTHING)
            return
        self.table.display = True
        self._filter.open()

    def leave_filter(self) -> bool:
        """Show all runs again; whether some were filtered out, or words for it were being typed."""
        if self._filter is None or not self._filter.is_open:
            return False
        self._filter.close()
        self.action_runs()
        return True

    def action_compare(self) -> None:
        if drawn := self._drawn_or_notified():
            self.post_message(CompareWanted(drawn[0], drawn[1].run))

    def handout(self) -> Callable[[], MarkdownSnippet] | None:
        """The Markdown of the run under the table's cursor, else of the run that is drawn."""
        chosen = self.table.chosen if self.table else None
        if chosen:
            return partial(run_snippet, self._directory_of(chosen), chosen)
        drawn = self._drawn_or_notified()
        return partial(run_snippet, *drawn) if drawn else None

    def _directory_of(self, run: Run) -> Path:
        """The session of a run in the table: that of the run that is drawn, if one is."""
        root: Path = getattr(self.app, "root", Path())
        return self.drawn[0] if self.drawn else root / run.session

    def on_runs_table_opened(self, message: RunsTable.Opened) -> None:
        from cephtui.tui.screens.details import DetailsScreen

        self.app.push_screen(DetailsScreen(self._directory_of(message.run), message.run))

    def action_back(self) -> None:
        """Leave the full screen, else the filter, else the screen."""
        if not (self.leave_full_screen() or self.leave_filter()):
            self.dismiss()
