"""One figure of two runs, in large, with its change: readable from the last row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Static

from cephtui import units
from cephtui.analysis.runs.change import between
from cephtui.analysis.runs.marks import marks_between
from cephtui.analysis.runs.sides import Side
from cephtui.analysis.verdicts.conclusion import Judgement
from cephtui.analysis.verdicts.figures import compared_figures
from cephtui.frozen import dataclass
from cephtui.models.metrics import LIVE
from cephtui.models.rows import Figure
from cephtui.models.verdict import Verdict
from cephtui.reports.views.comparison import NO_RESULTS
from cephtui.reports.words.facts import period
from cephtui.reports.words.text import conditions, metric_of, moment, title_of
from cephtui.reports.words.verdict import change_of, word_text
from cephtui.tui.charts.colors import SIDE_COLORS
from cephtui.tui.charts.overlay import Curves, Overlay
from cephtui.tui.keys import key
from cephtui.tui.screens.presenter import BigFigure, PresentedFigure, PresenterScreen
from cephtui.tui.widgets.big import Big
from cephtui.tui.widgets.verdict_in_large import VerdictInLarge

SWAP = key("w", "swap", "swap", "swap A and B; A begins as the baseline, else as the older one", "view", shown=True)


@dataclass(frozen=True, slots=True)
class TwoSides:
    """Two sides, and the points of every figure of each chosen run."""

    left: Side
    right: Side
    left_curves: Curves
    right_curves: Curves

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.left, self.right

    @property
    def curves(self) -> tuple[Curves, Curves]:
        return self.left_curves, self.right_curves

    def swapped(self) -> TwoSides:
        """The sides with B as A."""
        return TwoSides(self.right, self.left, self.right_curves, self.left_curves)


def presented_figures(left: Side, right: Side) -> list[Figure]:
    """What is measured each second, of each direction that either side has."""
    names = [metric.name for metric in LIVE]
    return [f for f in compared_figures(left, right) if f.name in names and not (f.left is None and f.right is None)]


def percent_text(fraction: float | None) -> str:
    """``-59 %``, and a dash where there is no change to tell."""
    if fraction is None:
        return units.DASH
    percent = round(100 * fraction)
    return f"{percent:+d} %" if percent else "0 %"


class ComparePresenter(PresenterScreen):
    """A, B and the change from A to B; the curves of both below."""

    BINDINGS = [
        key("escape,f,q", "app.pop_screen", "back", "back to the comparison"),
        key("v", "next_metric", "metric", "IOPS, bandwidth, latency mean or p99"),
        replace(SWAP, show=False),
    ]
    DEFAULT_CSS = """
    ComparePresenter #sides { height: 3; padding: 0 1; width: 100%; text-wrap: nowrap; text-overflow: ellipsis; }
    ComparePresenter #metric { height: 1; }
    ComparePresenter.-tall #metric { height: 3; }
    ComparePresenter.-huge #metric { height: 7; padding: 1 0; }
    ComparePresenter.-plain #metric { height: 1; padding: 0; }
    ComparePresenter #change { color: $foreground 70%; }
    ComparePresenter #overlays { height: 1fr; }
    """

    def __init__(
        self,
        compared: TwoSides,
        judged: Judgement | None,
        swap: Callable[[], tuple[TwoSides, Judgement | None]],
    ) -> None:
        """``swap`` swaps the sides, says so, and gives what is compared then."""
        super().__init__()
        self._swap, self._chosen = swap, 0
        self._take(compared, judged)

    def _take(self, compared: TwoSides, judged: Judgement | None) -> None:
        deciding = judged.deciding if judged else ()
        self._verdicts = {(verdict.direction, verdict.figure): verdict for verdict in deciding}
        self._sides, self._curves = compared.sides, compared.curves
        self._figures = presented_figures(*compared.sides)
        judged_figures = (n for n, figure in enumerate(self._figures) if self._verdict_of(figure))
        self._chosen = next(judged_figures, 0)

    def _verdict_of(self, figure: Figure) -> Verdict | None:
        """The verdict on a figure; None where it decides nothing."""
        return self._verdicts.get((figure.direction, figure.name))

    def compose(self) -> ComposeResult:
        yield Static(self._names(), id="sides")
        yield Big(id="metric")
        with Horizontal(id="figures"):
            for name in ("A", "B", "change"):
                yield BigFigure(id=name)
        yield VerdictInLarge()
        with Horizontal(id="overlays"):
            for direction in dict.fromkeys(figure.direction for figure in self._figures):
                yield Overlay(direction)

    def on_mount(self) -> None:
        self._draw()

    def _names(self) -> Text:
        lines = []
        for name, side in zip("AB", self._sides, strict=True):
            several = f", {len(side.runs)} runs" if len(side.runs) > 1 else ""
            text = f" {side.name}  {period(side.runs)}  {side.run.preset}  {conditions(side.run)}{several}"
            lines.append(Text.assemble((name, f"bold {SIDE_COLORS[name]}"), text))
        noted = [f"{mark.text} ({moment(mark)})" for _, mark in marks_between(*self._sides)]
        lines.append(Text(f"* {'; '.join(noted)}" if noted else "no marks in or between these runs", style="dim"))
        return Text("\n").join(lines)

    def _draw(self) -> None:
        if not self._figures:
            self.query_one("#metric", Big).say(NO_RESULTS)
            return
        figure = self._figures[self._chosen]
        metric = metric_of(figure.name, figure.tool)
        self.query_one("#metric", Big).say(f"{title_of(metric, [figure.tool], [figure.direction])} {figure.direction}")
        for name, value in (("A", figure.left), ("B", figure.right)):
            number, _, unit = metric.as_text(value).partition(" ")
            self.query_one(f"#{name}", BigFigure).show(
                PresentedFigure(f"{name} {unit}".strip(), number), SIDE_COLORS[name]
            )
        is_change = between(*self._sides).is_in_order
        change = PresentedFigure(
            "change" if is_change else "B vs A", percent_text(figure.change_fraction if figure.same_load else None)
        )
        self.query_one("#change", BigFigure).show(change, None)
        verdict = self._verdict_of(figure)
        words = [f"{word_text(verdict)}  {change_of(verdict)}"] if verdict else []
        self.query_one(VerdictInLarge).show(verdict, *words)
        for overlay in self.query(Overlay):
            overlay.display = overlay.id == f"{figure.direction}-overlay"
            name = f"{figure.direction}.{metric.name}"
            overlay.show(metric, *(curves.get(name, ()) for curves in self._curves))

    def action_swap(self) -> None:
        """Call A what was B, here and in the comparison below."""
        self._take(*self._swap())
        self.query_one("#sides", Static).update(self._names())
        self._draw()

    def action_next_metric(self) -> None:
        self._chosen = (self._chosen + 1) % max(1, len(self._figures))
        self._draw()
