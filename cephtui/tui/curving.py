"""The key that draws the curve which a run of a table is on."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from cephtui.models import Mark, Run
from cephtui.tui.copying import CopyingScreen
from cephtui.tui.keys import key

if TYPE_CHECKING:
    from cephtui.tui.widgets.runs_table import RunsTable

CURVE = key("V", "curve", "curve", "the figures over what was varied: depth, block size, target, node, mark", "view")


def _why_none(run: Run) -> str:
    """Why there is no curve with a run."""
    if run.imported_from:
        return f"no curve: no option and no heading by itself sets imported runs of {run.preset} apart"
    return f"no curve: {run.preset} has no depth, and nothing was varied"


class CurvingScreen(CopyingScreen):
    """A screen with a table of runs: it has the key ``CURVE``."""

    def action_curve(self) -> None:
        """Of the run under the cursor, with those that belong to it; it grows with the table."""
        from cephtui.analysis.views.curve import axes_or_depth, family
        from cephtui.tui.screens.curve import CurveScreen

        table = cast("RunsTable | None", self.query_one_optional("#runs"))
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
