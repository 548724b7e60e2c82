"""Curves: what was measured over what was varied, as bars, as a chart, the knee in words, and rows of data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from cephtui.analysis.runs.batches import Estimate
from cephtui.analysis.verdicts.knee import OF_PEAK, Knee, in_flight_of, knee_of, load_points
from cephtui.analysis.verdicts.sweep import depth_run_of
from cephtui.analysis.views.curve import (
    Axis,
    AxisPlace,
    Curve,
    CurvePoint,
    CurveSeries,
    axes_or_depth,
    curve_of,
    family,
    varying_axes,
)
from cephtui.frozen import dataclass
from cephtui.models import Mark, Run
from cephtui.models.metrics import BY_NAME, DIRECTIONS, LIVE, METRICS, Metric
from cephtui.models.rows import CurvePointRow, Estimated, KneeRow
from cephtui.reports.blocks import (
    Bar,
    Block,
    Cell,
    ChartSeries,
    Color,
    Column,
    Document,
    Items,
    LineChart,
    NextStep,
    Point,
    Table,
    Text,
    View,
    naming_runs,
    words,
)
from cephtui.reports.sheets import Sheet
from cephtui.reports.ticks import on_logarithms
from cephtui.reports.views.charts import colors_of, round_ticks, thinned
from cephtui.reports.words.curve import IOPS, again_line, knee_lines, peak_line
from cephtui.reports.words.cutting import short_target
from cephtui.reports.words.facts import ranges
from cephtui.reports.words.text import margin_of, metric_of, title_of, tools_of

_MEAN = BY_NAME["latency_mean_seconds"]
_BAR, _LATENCY_BAR = 14, 8
"""Columns of the bars of the figure, and of the latency under load."""
_PLACE_MOST = 28
_LINES_MOST = 8
"""Of one chart."""
_LABEL_WIDE, _LABEL_HIGH = 0.03, 0.05
"""The room of a label, as a fraction of its chart."""


Knees: TypeAlias = Sequence[tuple[CurveSeries, Knee]]
"""The series of a load curve that have one, each with its knee."""


@dataclass(frozen=True, slots=True)
class CurveLine:
    """One series and flow of a curve: what is a line in a chart, and a block in a table."""

    curve: Curve
    series: CurveSeries
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
    curves, numbers = list[Curve](), set[int]()
    for run in runs:
        if run.run not in numbers:
            members = family(run, runs)
            numbers |= {member.run for member in members}
            curves += [curve_of(members, axis, marks) for axis in varying_axes(members, marks)[:1]]
    return curves


def curve_of_run(run: Run, runs: Sequence[Run], marks: Sequence[Mark] = ()) -> Curve | None:
    """The curve of a run's family; a single point stands on the axis of the depth. None where there is no axis."""
    members = family(run, runs)
    return next((curve_of(members, axis, marks) for axis in axes_or_depth(members, marks)), None)


def title_of_curve(curve: Curve) -> str:
    """``write-iops over the depth: #1-9``."""
    runs = runs_of(curve)
    presets = dict.fromkeys(run.preset for run in runs)
    axis = curve.axis
    over = axis.name if axis.kind == "option" and not axis.load else f"the {axis.title}"
    return f"{', '.join(presets)} over {over}: #{ranges(sorted(run.run for run in runs))}"


def runs_of(curve: Curve) -> list[Run]:
    """The runs of all points of a curve."""
    return [run for series in curve.series for point in series.points for run in point.summary.point.repeats]


def knees_of(curve: Curve) -> Knees:
    """Each series of a load curve that has one, with its knee; none of other curves."""
    knees = [(series, knee_of(load_points(series))) for series in curve.series] if curve.axis.load else []
    return [(series, knee) for series, knee in knees if knee]


def peak_words(axis: Axis, knees: Knees, metric: Metric = IOPS) -> list[tuple[str, str]]:
    """A line on the peak of each series of a load, by its name."""
    return [(series.name, peak_line(knee, axis, metric, _only_flow(series))) for series, knee in knees]


def _only_flow(series: CurveSeries) -> str:
    """The flow of all I/Os of a series; empty where there are several."""
    flows = [flow for flow in series.flows if flow in DIRECTIONS]
    return flows[0] if len(flows) == 1 else ""


def knee_words(axis: Axis, knees: Knees, metric: Metric = IOPS) -> list[tuple[str, list[str]]]:
    """Lines on the knee of each series of a load, by its name."""
    return [(series.name, [*knee_lines(knee, axis, metric), *_again(series)]) for series, knee in knees]


def _again(series: CurveSeries) -> list[str]:
    """A line where the same loads gave other figures the second time."""
    runs = sorted((run for point in series.points for run in point.summary.counted), key=lambda run: run.run)
    measured = [depth_run_of(run, in_flight_of(run) or 0) for run in runs]
    return list(filter(None, [again_line([figures for figures in measured if figures])]))


# ------------------------------------------------------------------ as a view


def curves_view(curves: Sequence[Curve], metric_of_run: Callable[[Run], Metric]) -> View:
    """The curves of a session, each with the figure that its runs are about first."""
    return View(
        document=lambda: _document(curves, metric_of_run),
        lines=lambda: (row for curve in curves for row in rows_of_curve(curve)),
        sheet=lambda: curves_sheet(curves),
    )


def curve_view(curve: Curve, metric: Metric = IOPS) -> View:
    """One curve."""
    return curves_view([curve], lambda run: metric)


def _document(curves: Sequence[Curve], metric_of_run: Callable[[Run], Metric]) -> Document:
    blocks: list[Block] = []
    for number, curve in enumerate(curves, 1):
        metric, knees = metric_of_run(runs_of(curve)[0]), knees_of(curve)
        chart = curve_chart(curve, knees, metric, f"curve-{number}")
        blocks += [Text("")] if blocks else []
        blocks += [*curve_blocks(curve, knees, metric), *([chart] if chart else [])]
    first = runs_of(curves[0])[0]
    more = NextStep("details", f"cephtui show {first.session} --curve", is_aside=True)
    return Document(title_of_curve(curves[0]), "", (*blocks, more))


def curve_blocks(curve: Curve, knees: Knees, metric: Metric) -> Iterator[Block]:
    """The title of a curve, its points, and the knees of a load."""
    yield Text(naming_runs(title_of_curve(curve), "strong"))
    yield from points_blocks(curve, metric)
    if knees:
        yield Items(knee_items(curve.axis, knees, metric))


def knee_items(axis: Axis, knees: Knees, metric: Metric) -> tuple[Cell, ...]:
    """What a load curve shows: each sentence once, behind the series that it is said of; the knees are strong."""
    series: dict[tuple[str, bool], list[str]] = {}
    for name, lines in knee_words(axis, knees, metric):
        for number, text in enumerate(lines):
            series.setdefault((text, number == 0), []).append(name)
    return tuple(
        words(f"{name}: {text}" if (name := ", ".join(names)) else text, style="strong" if is_knee else "")
        for (text, is_knee), names in series.items()
    )


def points_blocks(curve: Curve, metric: Metric) -> Iterator[Block]:
    """A table for each line, its figure as bars, under load its latency too."""
    lines = lines_of(curve)
    for line in lines:
        if len(lines) > 1:
            yield Text(line.name, "strong")
        yield _table(line, [*_columns(line, metric, lines)])


_Column = tuple[str, Callable[[CurvePoint], Cell | Bar]]


def _table(line: CurveLine, shown: Sequence[_Column]) -> Table:
    """One point in each row, with the codes of what limits its figures."""
    heads = [
        Column(title, "l" if not title or (number == 0 and not line.curve.is_numeric) else "r", is_whole=True)
        for number, (title, _) in enumerate(shown)
    ]
    rows = (
        (*(cell(point) for _, cell in shown), words(" ".join(point.summary.findings), style="limited"))
        for point in line.series.points
    )
    return Table((*heads, Column()), tuple(rows))


def _columns(line: CurveLine, metric: Metric, lines: Sequence[CurveLine]) -> Iterator[_Column]:
    """Bars are as long as in the other tables; they have no title."""
    flow, load = line.flow, line.curve.axis.load
    yield line.curve.axis.title, lambda point: short_place(line.curve.axis, point.place)
    yield "runs", lambda point: words((f"#{ranges(run.run for run in point.summary.point.repeats)}", "runs"))
    for figure in (metric, *(other for other in LIVE if other != metric)):
        yield title_of(figure, tools_of(runs_of(line.curve)), [flow]), partial(_figure, flow, figure)
        if figure == metric and any(len(point.summary.counted) > 1 for point in line.series.points):
            yield "95 %", lambda point: margin_of(point.estimate(flow, metric))
        if figure == metric or (figure == _MEAN and load):
            width = _BAR if figure == metric else _LATENCY_BAR
            yield "", partial(_bar, flow, figure, _most(lines, figure), width)


def short_place(axis: Axis, place: AxisPlace) -> str:
    """A place for a column: the end of a long target, the beginning of a long mark."""
    if axis.kind == "target" or len(place.label) <= _PLACE_MOST:
        return short_target(place.label)
    return f"{place.label[: _PLACE_MOST - 1]}…"


def _figure(flow: str, metric: Metric, point: CurvePoint) -> str:
    estimate = point.estimate(flow, metric)
    return metric.as_text(estimate.value if estimate else None)


def _most(lines: Iterable[CurveLine], metric: Metric) -> float:
    estimates = [point.estimate(line.flow, metric) for line in lines for point in line.series.points]
    return max((estimate.value for estimate in estimates if estimate), default=0.0)


def _bar(flow: str, metric: Metric, most: float, width: int, point: CurvePoint) -> Bar:
    estimate = point.estimate(flow, metric)
    return Bar(estimate.value / most if estimate and most else 0.0, width)


# ------------------------------------------------------------------ as a chart


def curve_chart(curve: Curve, knees: Knees, metric: Metric, name: str) -> LineChart | None:
    """Under load throughput and latency, of other axes this figure; ``name`` is that of its file."""
    if not curve.axis.load:
        return _axis_chart(curve, metric, name)
    named = [(series.name, knee) for series, knee in knees[:_LINES_MOST]]
    return _load_chart(curve, named, name) if named else None


def _load_chart(curve: Curve, knees: Sequence[tuple[str, Knee]], name: str) -> LineChart:
    """Throughput to the right, latency upwards on logarithms, each point with its depth; the knee of a single curve."""
    colors = colors_of([title for title, _ in knees])
    drawn: list[ChartSeries] = []
    for title, knee in knees:
        means = tuple((point.rate, math.log10(point.latency)) for point in knee.points)
        p99s = tuple((point.rate, math.log10(point.p99)) for point in knee.points if point.p99)
        labels = tuple(point.label for point in knee.points)
        drawn.append(ChartSeries("", means, colors[title]))
        drawn.append(ChartSeries(f"{title} mean".strip(), means, colors[title], "dots", labels))
        if p99s:
            drawn.append(ChartSeries(f"{title} p99, dashed".strip(), p99s, colors[title], "dashed"))
    latencies = [latency for series in drawn for _, latency in series.points]
    pad = 0.14 * (max(latencies) - min(latencies)) or 0.2
    low, high = min(latencies) - pad, max(latencies) + pad
    if len(knees) == 1:
        drawn += _knee_marks(knees[0][1], low, high)
    right = 1.1 * max(rate for series in drawn for rate, _ in series.points)
    return LineChart(
        name,
        f"{runs_of(curve)[0].preset}: latency over throughput, each point with its {curve.axis.title}",
        tuple(_labelled_apart(drawn, right, high - low)),
        round_ticks(0, right, IOPS),
        tuple((exponent, _MEAN.as_text(10**exponent)) for exponent in on_logarithms(low, high)),
        (0, right),
        (low, high),
        "IOPS",
        300,
    )


def _labelled_apart(drawn: Iterable[ChartSeries], width: float, height: float) -> Iterator[ChartSeries]:
    """The series without labels that would stand on those of points before them."""
    labelled: list[Point] = []
    for series in drawn:
        labels = []
        for point, label in zip(series.points, series.labels, strict=False):
            x, y = point[0] / width, point[1] / height
            is_free = all(abs(x - at) > _LABEL_WIDE or abs(y - above) > _LABEL_HIGH for at, above in labelled)
            labelled += [(x, y)] if is_free else []
            labels.append(label if is_free else "")
        yield replace(series, labels=tuple(labels))


def _knee_marks(knee: Knee, low: float, high: float) -> list[ChartSeries]:
    """The knee where it is located, and where 80 % of the peak is."""
    if not knee.is_known:
        return []
    knee_at, most_at = knee.at_knee.rate, knee.at_most_of_peak.rate
    peak = ChartSeries(f"{100 * OF_PEAK:.0f} % of the peak", ((most_at, low), (most_at, high)), "ink", "dashed")
    return [peak] if knee.gap else [ChartSeries("knee", ((knee_at, low), (knee_at, high)), "limit", "dashed"), peak]


def _axis_chart(curve: Curve, metric: Metric, name: str) -> LineChart | None:
    """A line for each series and flow, with the interval of each point that was repeated."""
    places = {place: float(number) for number, place in enumerate(curve.places, 1)}
    colors = colors_of([str(number) for number in range(_LINES_MOST)]).values()
    drawn: list[ChartSeries] = []
    for line, color in zip(lines_of(curve, metric), colors, strict=False):
        estimates = [(places[point.place], point.estimate(line.flow, metric)) for point in line.series.points]
        drawn += _line_with_intervals(line, [(at, estimate) for at, estimate in estimates if estimate], color)
    if not drawn:
        return None
    top = 1.08 * max(value for series in drawn for _, value in series.points) or 1.0
    run = runs_of(curve)[0]
    what = metric_of(metric.name, run.tool).full_title
    return LineChart(
        name,
        f"{run.preset}: {what} over {curve.axis.title}, with the 95 % interval of what was repeated",
        tuple(drawn),
        thinned([(at, short_place(curve.axis, place)) for place, at in places.items()]),
        round_ticks(0, top, metric),
        (0.5, len(places) + 0.5),
        (0, top),
        curve.axis.title,
        240,
    )


def _line_with_intervals(
    line: CurveLine, estimates: Sequence[tuple[float, Estimate]], color: Color
) -> Iterator[ChartSeries]:
    """The points of a line, and the interval of each, cut where it is wider than half or twice the value."""
    points = tuple((at, estimate.value) for at, estimate in estimates)
    if points and line.curve.is_numeric:  # between two nodes there is nothing
        yield ChartSeries("", points, color)
    if points:
        yield ChartSeries(line.name, points, color, "dots")
    for at, estimate in estimates:
        low, high = estimate.interval or (estimate.value, estimate.value)
        if high > low:
            ends = (at, max(low, estimate.value / 2)), (at, min(high, 2 * estimate.value))
            yield ChartSeries("", ends, color, "thick")


# ------------------------------------------------------------------ as data


def rows_of_curve(curve: Curve) -> Iterator[CurvePointRow | KneeRow]:
    """Every point in each direction, then the knees of a load."""
    first = runs_of(curve)[0]
    common = {"session": first.session, "preset": first.preset, "axis": curve.axis.name or curve.axis.kind}
    for line in lines_of(curve):
        for point in line.series.points:
            yield _point_row(line, point, common)
    for series, knee in knees_of(curve):
        yield _knee_row(knee, series, curve.axis, common)


def _point_row(line: CurveLine, point: CurvePoint, common: Mapping[str, str]) -> CurvePointRow:
    return CurvePointRow(
        **common,
        place=point.place.label,
        place_number=point.place.number,
        series=line.series.name,
        direction=line.flow,
        runs=tuple(run.run for run in point.summary.point.repeats),
        in_flight=in_flight_of(point.summary.last),
        figures={
            metric.name: _estimated(estimate) for metric in METRICS if (estimate := point.estimate(line.flow, metric))
        },
        findings=point.summary.findings,
    )


def _estimated(estimate: Estimate) -> Estimated:
    low, high = estimate.interval or (None, None)
    return Estimated(value=estimate.value, low=low, high=high, runs=estimate.runs)


def _knee_row(knee: Knee, series: CurveSeries, axis: Axis, common: Mapping[str, str]) -> KneeRow:
    low, high = (
        [knee.whole(end) * knee.step for end in knee.interval] if knee.is_known and knee.interval else (None, None)
    )
    working = knee.at_most_of_peak if knee.is_known else None
    gap = knee.gap if knee.is_known else None
    return KneeRow(
        **common,
        series=series.name,
        known=knee.is_known,
        in_flight=knee.located if knee.is_known else None,
        between=(gap[0].in_flight, gap[1].in_flight) if gap else None,
        low=low,
        high=high,
        peak_iops=knee.peak,
        working_iops=working.rate if working else None,
        working_latency_seconds=working.latency if working else None,
        working_latency_p99_seconds=working.p99 if working else None,
        text=knee_lines(knee, axis)[0],
    )


def curves_sheet(curves: Iterable[Curve]) -> Sheet:
    """A row for each point in each direction; a figure that is not known is empty."""
    rows = (row for curve in curves for row in rows_of_curve(curve))
    return Sheet("points", _COLUMNS, (_cells(row) for row in rows if isinstance(row, CurvePointRow)))


def _cells(row: CurvePointRow) -> dict[str, object]:
    ends = {name: (estimated.value, estimated.low, estimated.high) for name, estimated in row.figures.items()}
    figures = {f"{name}{end}": value for name, values in ends.items() for end, value in zip(_ENDS, values, strict=True)}
    texts = {"runs": " ".join(map(str, row.runs)), "findings": " ".join(row.findings)}
    return {**row.model_dump(include=set(_COLUMNS)), **texts, **figures}


_ENDS = ("", "_low", "_high")
_COLUMNS = (
    *("session", "preset", "axis", "place", "place_number", "series", "direction", "runs", "in_flight"),
    *(f"{metric.name}{end}" for metric in METRICS for end in _ENDS),
    "findings",
)
