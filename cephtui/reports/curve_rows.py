"""Curves as data: rows of JSON and CSV, in base units."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from cephtui.analysis.batches import Estimate
from cephtui.analysis.curve import Axis, Curve, CurvePoint, Series
from cephtui.analysis.knee import Knee, in_flight_of, knee_of, load_points
from cephtui.models.metrics import METRICS
from cephtui.models.rows import CurvePointRow, Estimated, KneeRow
from cephtui.reports.blocks import Sheet
from cephtui.reports.curve import CurveLine, lines_of, runs_of
from cephtui.reports.knee import knee_lines
from cephtui.reports.render.csv import csv_of


def rows_of_curve(curve: Curve) -> Iterator[CurvePointRow | KneeRow]:
    """Every point in each direction, then the knees of a load."""
    first = runs_of(curve)[0]
    common = {"session": first.session, "preset": first.preset, "axis": curve.axis.name or curve.axis.kind}
    for line in lines_of(curve):
        for point in line.series.points:
            yield _point_row(line, point, common)
    for series in curve.series if curve.axis.load else ():
        if knee := knee_of(load_points(series)):
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


def _knee_row(knee: Knee, series: Series, axis: Axis, common: Mapping[str, str]) -> KneeRow:
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


def curves_csv(curves: Iterable[Curve]) -> str:
    """A row for each point in each direction, in base units; a figure that is not known is empty."""
    found = (row for curve in curves for row in rows_of_curve(curve))
    return csv_of(Sheet("x", tuple(_COLUMNS), (_cells(row) for row in found if isinstance(row, CurvePointRow))))


def _cells(row: CurvePointRow) -> dict[str, object]:
    ends = {name: (each.value, each.low, each.high) for name, each in row.figures.items()}
    figures = {f"{name}{end}": value for name, found in ends.items() for end, value in zip(_ENDS, found, strict=True)}
    texts = {"runs": " ".join(map(str, row.runs)), "findings": " ".join(row.findings)}
    return {**row.model_dump(include=set(_COLUMNS)), **texts, **figures}


_ENDS = ("", "_low", "_high")
_COLUMNS = (
    *("session", "preset", "axis", "place", "place_number", "series", "direction", "runs", "in_flight"),
    *(f"{metric.name}{end}" for metric in METRICS for end in _ENDS),
    "findings",
)
