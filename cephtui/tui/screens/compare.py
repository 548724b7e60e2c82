"""Two runs beside each other: their charts over each other, then what differed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal

from cephtui.analysis.runs.batches import tool_of
from cephtui.analysis.runs.change import Change
from cephtui.analysis.runs.sides import Side, side_of, without_shared_runs
from cephtui.analysis.verdicts.conclusion import Judgement, judge_sides
from cephtui.analysis.verdicts.noted import with_noted
from cephtui.models.metrics import COMMIT, DIRECTIONS, FLUSH, LIVE, Metric
from cephtui.paths import packaged_presets_dir, user_presets_dir
from cephtui.presets import find_presets, headline_metric
from cephtui.reports.masking.mask import Names, names_in
from cephtui.reports.render.rich import draw
from cephtui.reports.views.comparison import comparison_document
from cephtui.reports.words.text import metric_of
from cephtui.sessions import store
from cephtui.tui.charts.overlay import Curves, Overlay, curve_points
from cephtui.tui.copying import COPY, CopyingScreen, MarkdownSnippet, comparison_snippet
from cephtui.tui.keys import KeyBar, key
from cephtui.tui.screens.compare_presenter import SWAP, TwoSides
from cephtui.tui.terminal.profile import profile_of
from cephtui.tui.widgets.scrolled import Scrolled

_ROWS_BESIDE = 10
"""Rows that the sides, their times, the headings and the first figures take; verdicts and differences have the rest."""
_VERDICT_ROWS, _INTERVAL_ROWS = 2, 3


def compared(first: tuple[Path, int], second: tuple[Path, int]) -> CompareScreen:
    """The comparison of two runs, each with its repeats, by session and number; raises StoreError."""
    (left, left_curves), (right, right_curves) = _side(*first), _side(*second)
    return CompareScreen(*without_shared_runs(left, right), left_curves, right_curves)


def _side(directory: Path, number: int) -> tuple[Side, Curves]:
    """A run with its repeats, and its curves; raises StoreError."""
    run = store.read_run(directory, number)
    side = side_of(run, store.read_runs(directory)[0], store.read_marks(directory))
    return side, curve_points(store.read_history(directory, number))


def judged_now(left: Side, right: Side) -> Judgement | None:
    """The judgement by the figure that the preset is about; None where the runs can't be compared."""
    catalogue = find_presets(packaged_presets_dir(), user_presets_dir())
    judged = judge_sides(left, right, partial(headline_metric, catalogue), datetime.now(UTC))
    return judged and with_noted(judged, [(left, right)])


def which_is_a(left: Side, right: Side) -> str:
    """A sentence that says which side is A now, and whether it is the later one."""
    change = Change(left.runs, right.runs)
    when = "the earlier one" if change.is_in_order else "the later one" if change.is_reversed else "among the runs of B"
    return f"A is now {left.name}, {when}; B is {right.name}"


class Comparison(Scrolled):
    """The differences and the figures."""

    DEFAULT_CSS = "Comparison { border-top: solid $primary-darken-1; }"

    def show(self, left: Side, right: Side, judged: Judgement | None) -> None:
        """Draw both, with as many differences first as leave room for figures."""
        verdicts = judged.deciding if judged else []
        rows = sum(_VERDICT_ROWS + _INTERVAL_ROWS * (verdict.interval is not None) for verdict in verdicts)
        room = self.content_size.height - _ROWS_BESIDE - rows
        shown = comparison_document(left, right, judged, most_differences=room)
        self.update(draw(shown, ascii_only=profile_of(self).ascii_only))


class CompareScreen(CopyingScreen):
    """Two runs: charts over each other, and below them what differed in conditions and figures."""

    BINDINGS = [
        key("v", "next_metric", "metric", "switch the metric: IOPS, bandwidth, latency mean, p99", "view", shown=True),
        key("f", "presenter", "present", "A, B and the change in large digits, for an audience", "view", shown=True),
        SWAP,
        COPY,
        key("escape", "dismiss", "back", "leave the comparison", "more", shown=True),
        key("q", "app.quit", "quit", "quit", "more"),
    ]
    DEFAULT_CSS = """
    CompareScreen { layout: vertical; }
    CompareScreen #overlays { height: 35%; min-height: 7; max-height: 50%; }
    """

    def __init__(self, left: Side, right: Side, left_curves: Curves, right_curves: Curves) -> None:
        super().__init__()
        self._compared, self._figure = TwoSides(left, right, left_curves, right_curves), 0
        self._judged = judged_now(left, right)
        self._tool = tool_of((*left.runs, *right.runs))

    def names_to_hide(self) -> Names:
        """Names of the runs of both sides."""
        return names_in(run for side in self._compared.sides for run in side.runs)

    def compose(self) -> ComposeResult:
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
        metric, directions = metric_of(LIVE[self._figure].name, self._tool), self._directions()
        for direction in DIRECTIONS:
            overlay = self.query_one(f"#{direction}-overlay", Overlay)
            overlay.display = direction in directions
            flow = self._flow_at(direction, metric)
            name = f"{flow}.{metric.name}"
            overlay.show(
                metric_of(metric.name, self._tool, flow),
                *(curves.get(name, ()) for curves in self._compared.curves),
                flow=flow,
            )

    def _flow_at(self, direction: str, metric: Metric) -> str:
        """The flow in a direction's place: of writes that both sides flushed each, latency is that of commits."""
        left, right = ({name.rpartition(".")[0] for name in curves} for curves in self._compared.curves)
        whole = metric.names_of_whole(left & right)
        beside = [name for name in whole if name in (FLUSH, COMMIT)]
        return beside[0] if direction == "write" and beside else direction

    def _directions(self) -> list[str]:
        """The directions of either side; an empty chart where there are none."""
        directions = [
            d
            for d in DIRECTIONS
            if any(name.startswith(f"{d}.") for curves in self._compared.curves for name in curves)
        ]
        return list(directions) or ["write"]

    def handout(self) -> Callable[[], MarkdownSnippet]:
        return partial(comparison_snippet, *self._compared.sides, self._judged)

    def _draw_text(self) -> None:
        self.query_one(Comparison).show(*self._compared.sides, self._judged)

    def action_next_metric(self) -> None:
        self._figure = (self._figure + 1) % len(LIVE)
        self._draw_charts()

    def action_presenter(self) -> None:
        from cephtui.tui.screens.compare_presenter import ComparePresenter

        self.app.push_screen(ComparePresenter(self._compared, self._judged, self.swap))

    def action_swap(self) -> None:
        self.swap()

    def swap(self) -> tuple[TwoSides, Judgement | None]:
        """Call A what was B, and say so; what is compared now, and its verdict."""
        self._compared = self._compared.swapped()
        self._judged = judged_now(*self._compared.sides)
        self._draw_charts()
        self._draw_text()
        self.notify(which_is_a(*self._compared.sides), markup=False)
        return self._compared, self._judged
