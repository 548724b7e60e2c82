"""Curves of a study: figures over what was varied, and under load the hockey stick of throughput and latency."""

from __future__ import annotations

import math
from collections.abc import Iterable

from cephtui.analysis.verdicts.knee import OF_PEAK, Knee, knee_of, load_points
from cephtui.analysis.views.curve import Curve
from cephtui.models import Run
from cephtui.models.metrics import BY_NAME, Metric
from cephtui.reports.blocks import Block, Chart, Items, Point, Series, Tick
from cephtui.reports.ticks import on_logarithms
from cephtui.reports.views.curve import curves_of, knee_words, lines_of, runs_of, short_place
from cephtui.reports.views.report.material import Material
from cephtui.reports.views.report.pictures import colors_of, round_ticks, thinned
from cephtui.reports.words.text import metric_of

_IOPS, _LATENCY = BY_NAME["iops"], BY_NAME["latency_mean_seconds"]
_SERIES_MOST = 8
"""Of one chart."""


def curves(material: Material, most: int) -> tuple[Block, ...]:
    """A chart for each of the first presets of which something was varied, over the first of its axes; the knee."""
    found: list[Block] = []
    for number, curve in enumerate(curves_of(material.runs, material.marks)[:most], 1):
        run = runs_of(curve)[0]
        draw = _hockey_stick if curve.axis.load else _over_axis
        chart = draw(curve, run, material.headline(run), f"curve-{number}")
        lines = [f"{name}: {line}" if name else line for name, text in knee_words(curve) for line in text]
        found += [chart, *[Items(tuple(lines))] * bool(lines)] if chart else []
    return tuple(found)


# ---------------------------------------------------------------------------------------------- under load


def _hockey_stick(curve: Curve, run: Run, metric: Metric, name: str) -> Chart | None:
    """Throughput to the right, latency upwards on logarithms, each point with its depth; the knee of a single curve."""
    named = [(series.name, knee) for series in curve.series if (knee := knee_of(load_points(series)))][:_SERIES_MOST]
    if not named:
        return None
    colors = colors_of([word for word, _ in named])
    series: list[Series] = []
    for word, knee in named:
        points = tuple((point.rate, math.log10(point.latency)) for point in knee.points)
        p99s = tuple((point.rate, math.log10(point.p99)) for point in knee.points if point.p99)
        labels = tuple(point.label for point in knee.points)
        series.append(Series("", points, colors[word]))
        series.append(Series(f"{word} mean".strip(), points, colors[word], "dots", labels))
        series += [Series(f"{word} p99, dashed".strip(), p99s, colors[word], "dashed")] * bool(p99s)
    low, high = _ends(at for each in series for _, at in each.points)
    if len(named) == 1:
        series += _marks(named[0][1], low, high)
    right = 1.1 * max(at for each in series for at, _ in each.points)
    title = f"{run.preset}: latency over throughput, each point with its {curve.axis.title}"
    ticks = round_ticks(0, right, _IOPS)
    return Chart(name, title, tuple(series), ticks, _log_ticks(low, high), (0, right), (low, high), "IOPS", 300)


def _marks(knee: Knee, low: float, high: float) -> list[Series]:
    """The knee where it is located, and where 80 % of the peak is."""
    if not knee.is_known:
        return []
    knee_at, most_at = knee.at_knee.rate, knee.at_most_of_peak.rate
    return [
        *[Series("knee", ((knee_at, low), (knee_at, high)), "limit", "dashed")] * (knee.gap is None),
        Series(f"{100 * OF_PEAK:.0f} % of the peak", ((most_at, low), (most_at, high)), "ink", "dashed"),
    ]


def _ends(values: Iterable[float]) -> Point:
    found = list(values)
    pad = 0.14 * (max(found) - min(found)) or 0.2
    return min(found) - pad, max(found) + pad


def _log_ticks(low: float, high: float) -> tuple[Tick, ...]:
    """Round latencies on a scale of their decimal logarithms."""
    return tuple((at, _LATENCY.as_text(10**at)) for at in on_logarithms(low, high))


# ---------------------------------------------------------------------------------------------- over any axis


def _over_axis(curve: Curve, run: Run, metric: Metric, name: str) -> Chart | None:
    """A line for each series and flow, with the interval of each point that was repeated."""
    lines = [(line.name, line.series, line.flow) for line in lines_of(curve, metric)]
    places = {place: float(at) for at, place in enumerate(curve.places)}
    colors = colors_of([str(number) for number in range(_SERIES_MOST)]).values()
    series: list[Series] = []
    for (word, own, flow), color in zip(lines, colors, strict=False):
        known = [(places[point.place], e) for point in own.points if (e := point.estimate(flow, metric))]
        points = tuple((at, estimate.value) for at, estimate in known)
        if points:
            line = [Series("", points, color)] * curve.is_numeric  # between two nodes there is nothing
            series += [*line, Series(word, points, color, "dots")]
        for at, estimate in known:
            low, high = estimate.interval or (estimate.value, estimate.value)
            whisker = (at, max(low, estimate.value / 2)), (at, min(high, 2 * estimate.value))
            series += [Series("", whisker, color, "thick")] * (high > low)
    if not series:
        return None
    top = 1.08 * max(value for each in series for _, value in each.points) or 1.0
    ticks = thinned([(at, short_place(curve.axis, place)) for place, at in places.items()])
    what = metric_of(metric.name, run.tool).full_title
    title = f"{run.preset}: {what} over {curve.axis.title}, with the 95 % interval of what was repeated"
    ends = -0.5, len(places) - 0.5
    return Chart(name, title, tuple(series), ticks, round_ticks(0, top, metric), ends, (0, top), curve.axis.title, 240)
