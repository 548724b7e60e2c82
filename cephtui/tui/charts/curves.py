"""Plots of a curve: a figure over its axis, and the hockey stick of a load, its latency over its throughput."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TypeAlias

from cephtui.analysis.runs.batches import Estimate
from cephtui.analysis.statistics.ratio import geometric_mean
from cephtui.analysis.verdicts.knee import OF_PEAK, Knee, LoadPoint, knee_of, load_points
from cephtui.analysis.views.curve import Curve
from cephtui.models.metrics import BY_NAME, Metric
from cephtui.reports.views.curve import lines_of, short_place
from cephtui.tui.charts.axes import HUGE
from cephtui.tui.charts.colors import MEAN_COLOR, P99_COLOR, flow_color, node_color
from cephtui.tui.charts.plot import Dot, Joined, Plot
from cephtui.tui.charts.scales import from_zero, logarithmic, scale_of_places

_LATENCY = BY_NAME["latency_mean_seconds"]


def over_axis(curve: Curve, metric: Metric) -> Plot | None:
    """A metric at each place; None without any figure."""
    scale, values = scale_of_places(
        [place.number for place in curve.places], [short_place(curve.axis, place) for place in curve.places]
    )
    at = dict(zip(curve.places, values, strict=True))
    lines = []
    for number, line in enumerate(lines_of(curve, metric)):
        color = flow_color(line.flow) if len(curve.series) == 1 else node_color(number)
        estimates = ((at[point.place], point.estimate(line.flow, metric)) for point in line.series.points)
        dots = tuple(Dot(x, mean.value, upright=_ends(mean)) for x, mean in estimates if mean and mean.value < HUGE)
        lines += [Joined(line.name, dots, color)] * bool(dots)
    peak = max((value for line in lines for dot in line.dots for value in (dot.y, *(dot.upright or ()))), default=0.0)
    return (
        Plot(tuple(lines), lambda _: scale, partial(from_zero, peak, metric.as_text, metric.binary)) if lines else None
    )


def _ends(estimate: Estimate) -> tuple[float, float] | None:
    return (estimate.least, estimate.greatest) if estimate.runs > 1 else None


def hockey_stick(curve: Curve, metric: Metric) -> Plot | None:
    """The latency of every depth over its throughput in IOPS, or in bytes; None without any figure."""
    loads = [(series.name, load_points(series)) for series in curve.series]
    lines = tuple(_sticks([(name, points) for name, points in loads if points], metric))
    if not lines:
        return None
    knee = knee_of(loads[0][1]) if len(loads) == 1 else None
    dots = [dot for line in lines for dot in line.dots]
    latencies = [value for dot in dots for value in (dot.y, *(dot.upright or ()))]
    widest = max(value for dot in dots for value in (dot.x, *(dot.across or ())))
    uprights = _uprights(knee, _size(loads[0][1], metric)) if knee and knee.is_known else ((), ())
    return Plot(
        lines,
        partial(from_zero, widest, metric.as_text, metric.binary),
        partial(logarithmic, latencies, _LATENCY.as_text),
        *uprights,
    )


_Upright: TypeAlias = tuple[tuple[float, str], ...]


def _uprights(knee: Knee, size: float) -> tuple[_Upright, _Upright]:
    """The knee where it is located, and most of the peak."""
    at_knee: _Upright = () if knee.gap else ((knee.at_knee.rate * size, "knee"),)
    return at_knee, ((OF_PEAK * knee.peak * size, f"{100 * OF_PEAK:.0f} %"),)


def _sticks(loads: Sequence[tuple[str, list[LoadPoint]]], metric: Metric) -> Iterator[Joined]:
    """The mean and the p99; of several series only the mean."""
    for number, (name, points) in enumerate(loads):
        size = _size(points, metric)
        if len(loads) > 1:
            yield Joined(name, tuple(_dot(point, point.latencies, size) for point in points), node_color(number))
            continue
        yield Joined("mean", tuple(_dot(point, point.latencies, size) for point in points), MEAN_COLOR)
        if tails := tuple(_dot(point, point.p99s, size, is_named=False) for point in points if point.p99s):
            yield Joined("p99", tails, P99_COLOR)


def _dot(point: LoadPoint, latencies: Sequence[float], size: float, *, is_named: bool = True) -> Dot:
    """A point with whiskers from the least to the greatest run."""
    rates = [rate * size for rate in point.rates]
    return Dot(
        point.rate * size,
        geometric_mean(latencies) or 0.0,
        point.label if is_named else "",
        across=(min(rates), max(rates)) if is_named and len(rates) > 1 else None,
        upright=(min(latencies), max(latencies)) if len(latencies) > 1 else None,
    )


def _size(points: Sequence[LoadPoint], metric: Metric) -> float:
    """What one I/O is of the metric: its bytes, or one."""
    return float(points[0].block_bytes or 1) if metric.unit == "B/s" else 1.0
