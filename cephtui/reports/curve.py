"""Curves as text: a table with bars and the knee in words; and as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from rich.console import Group, RenderableType

from cephtui.analysis.batches import Estimate
from cephtui.analysis.curve import Axis, Curve, CurvePoint, Place, Series, axes, axes_or_depth, curve_of, family
from cephtui.analysis.knee import in_flight_of, knee_of, load_points
from cephtui.analysis.sweep import measured_of
from cephtui.frozen import dataclass
from cephtui.models import Mark, Run
from cephtui.models.metrics import BY_NAME, LIVE, Metric
from cephtui.reports.facts import ranges
from cephtui.reports.gfm import document, escaped, table
from cephtui.reports.knee import IOPS, knee_lines
from cephtui.reports.sweep import again_line
from cephtui.reports.tables import add_row, make_table, plain
from cephtui.reports.text import margin_of, short_target, title_of, titles_of, tools_of

_MEAN = BY_NAME["latency_mean_seconds"]
_BAR, _LATENCY_BAR = 14, 8
"""Columns of the bars of the figure, and of the latency under load."""
_PLACE_MOST = 28
_EIGHTHS = "▏▎▍▌▋▊▉█"


@dataclass(frozen=True, slots=True)
class CurveLine:
    """One series and flow of a curve: what is a line in a chart, and a block in a table."""

    curve: Curve
    series: Series
    flow: str

    @property
    def name(self) -> str:
        return self.curve.name_of(self.series, self.flow)


def lines_of(curve: Curve, metric: Metric | None = None) -> list[CurveLine]:
    """Every series with each of its flows; one without any figure has an empty flow.

    Of a ``metric`` only those that it is of: a commit's latency, and not also that of its write and of its flush.
    """
    return [
        CurveLine(curve, series, flow)
        for series in curve.series
        for flow in (metric.names_of_whole(series.flows) if metric else series.flows) or [""]
    ]


def curves_of(runs: Sequence[Run], marks: Sequence[Mark] = ()) -> list[Curve]:
    """The curve of each family of these runs, over its first axis; those of single points are left out."""
    found, seen = list[Curve](), set[int]()
    for run in runs:
        if run.run not in seen:
            same = family(run, runs)
            seen |= {each.run for each in same}
            found += [curve_of(same, axis, marks) for axis in axes(same, marks)[:1]]
    return found


def curve_of_run(run: Run, runs: Sequence[Run], marks: Sequence[Mark] = ()) -> Curve | None:
    """That of a run's family; a single point stands on the axis of the depth. None where there is no such axis."""
    same = family(run, runs)
    return next((curve_of(same, axis, marks) for axis in axes_or_depth(same, marks)), None)


def title_of_curve(curve: Curve) -> str:
    """``write-iops over the depth: #1-9``."""
    runs = runs_of(curve)
    presets = dict.fromkeys(run.preset for run in runs)
    return f"{', '.join(presets)} over {_over(curve.axis)}: #{ranges(sorted(run.run for run in runs))}"


def _over(axis: Axis) -> str:
    return axis.name if axis.kind == "option" and not axis.load else f"the {axis.title}"


def runs_of(curve: Curve) -> list[Run]:
    """Of all its points."""
    return [run for series in curve.series for point in series.points for run in point.summary.point.repeats]


def words(curve: Curve, metric: Metric = IOPS) -> list[tuple[str, list[str]]]:
    """What a load curve shows, by the name of each series; nothing of others."""
    if not curve.axis.load:
        return []
    found = [(series, knee_of(load_points(series))) for series in curve.series]
    return [(series.name, [*knee_lines(knee, curve.axis, metric), *_again(series)]) for series, knee in found if knee]


def _again(series: Series) -> list[str]:
    """Where the same loads gave other figures the second time."""
    runs = sorted((run for point in series.points for run in point.summary.counted), key=lambda run: run.run)
    found = [measured_of(run, in_flight_of(run) or 0) for run in runs]
    return list(filter(None, [again_line([each for each in found if each])]))


# ------------------------------------------------------------------ as a text


def draw_curve(curve: Curve, metric: Metric = IOPS, *, ascii_only: bool = False) -> RenderableType:
    """What it is, its points, and the knees of a load."""
    said = [
        plain(f"{name}: {text}" if name else text, "" if number else "bold")
        for name, found in words(curve, metric)
        for number, text in enumerate(found)
    ]
    return Group(plain(title_of_curve(curve), "bold"), draw_points(curve, metric, ascii_only=ascii_only), *said)


def draw_points(curve: Curve, metric: Metric, *, ascii_only: bool = False) -> RenderableType:
    """A block for each line, its figure as bars, under load its latency too."""
    lines = lines_of(curve)
    blocks: list[RenderableType] = []
    for line in lines:
        blocks += [plain(line.name, "bold")] * (len(lines) > 1)
        blocks.append(_table(line, [*_columns(line, metric, lines, ascii_only)]))
    return Group(*blocks)


_Column = tuple[str, Callable[[CurvePoint], str]]


def _table(line: CurveLine, columns: Sequence[_Column]) -> RenderableType:
    """One point in each row, with the codes of what limits its figures."""
    titles = [title for title, _ in columns]
    right = titles if line.curve.is_numeric else titles[1:]
    rows = make_table(*titles, "", right=[title for title in right if title], whole=titles)
    for point in line.series.points:
        add_row(rows, *(cell(point) for _, cell in columns), plain(" ".join(point.summary.findings), "yellow"))
    return rows


def _columns(line: CurveLine, metric: Metric, lines: Sequence[CurveLine], ascii_only: bool) -> Iterator[_Column]:
    """Bars are as long as in the other tables; they have no title."""
    flow, load = line.flow, line.curve.axis.load
    yield line.curve.axis.title, lambda point: short_place(line.curve.axis, point.place)
    yield "runs", lambda point: ranges(run.run for run in point.summary.point.repeats)
    for each in (metric, *(other for other in LIVE if other != metric)):
        yield title_of(each, tools_of(runs_of(line.curve)), [flow]), partial(_figure, flow, each)
        if each == metric and any(len(point.summary.counted) > 1 for point in line.series.points):
            yield "95 %", lambda point: margin_of(point.estimate(flow, metric), ascii_only=ascii_only)
        if each == metric or (each == _MEAN and load):
            width = _BAR if each == metric else _LATENCY_BAR
            yield "", partial(_bar, flow, each, _most(lines, each), width, ascii_only)


def short_place(axis: Axis, place: Place) -> str:
    """For a column: of a long target its end, of a long mark its beginning."""
    if axis.kind == "target" or len(place.label) <= _PLACE_MOST:
        return short_target(place.label)
    return f"{place.label[: _PLACE_MOST - 1]}…"


def _figure(flow: str, metric: Metric, point: CurvePoint) -> str:
    estimate = point.estimate(flow, metric)
    return metric.as_text(estimate.value if estimate else None)


def _most(lines: Iterable[CurveLine], metric: Metric) -> float:
    found = [point.estimate(line.flow, metric) for line in lines for point in line.series.points]
    return max((each.value for each in found if each), default=0.0)


def _bar(flow: str, metric: Metric, most: float, width: int, ascii_only: bool, point: CurvePoint) -> str:
    estimate = point.estimate(flow, metric)
    share = estimate.value / most if estimate and most else 0.0
    if ascii_only:
        return "#" * round(width * share)
    whole, eighths = divmod(round(8 * width * share), 8)
    return "█" * whole + (_EIGHTHS[eighths - 1] if eighths else "")


# ------------------------------------------------------------------ as Markdown


def curve_markdown(curve: Curve, metric: Metric) -> str:
    """A table of its points with this figure first, and what they show of a load."""
    metrics = (metric, *(other for other in LIVE if other != metric))
    columns = (curve.axis.title, "", "runs", *titles_of(metrics, runs_of(curve)), "findings")
    rows = [
        (
            point.place.label,
            line.name,
            ranges(run.run for run in point.summary.point.repeats),
            *(_with_margin(each, point.estimate(line.flow, each)) for each in metrics),
            " ".join(point.summary.findings),
        )
        for line in lines_of(curve)
        for point in line.series.points
    ]
    said = [
        f"- {escaped(f'{name}: {text}' if name else text)}" for name, found in words(curve, metric) for text in found
    ]
    return document(
        [f"**{escaped(title_of_curve(curve).replace('#', 'runs '))}**"],
        table(columns, "rlr" + "r" * len(metrics) + "l", rows),
        said,
        [f"details: `cephtui show {runs_of(curve)[0].session} --curve`"],
    )


def _with_margin(metric: Metric, estimate: Estimate | None) -> str:
    return f"{metric.as_text(estimate.value if estimate else None)} {margin_of(estimate)}".rstrip()
