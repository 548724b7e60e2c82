"""The data of a report: its sheets in a workbook, and as CSV one row for each run, direction and figure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cephtui.analysis.runs.batches import SweepPoint, metric_of_flow, name_of, summarize
from cephtui.models import Run, Sample, Total
from cephtui.models.metrics import BY_NAME, LIVE, METRICS, Metric
from cephtui.models.verdict import Verdict
from cephtui.reports.blocks import Document, Text, plain_text
from cephtui.reports.sheets import Sheet, SheetChart
from cephtui.reports.views.expected import expected_sheet
from cephtui.reports.views.report.material import Material
from cephtui.reports.views.report.tables import measured_in, points_of
from cephtui.reports.views.runs import conditions_of
from cephtui.reports.words.quality import quality_of

_COLUMNS = (
    *("session", "run", "side", "preset", "direction", "figure", "value", "unit", "quality", "outcome", "at"),
    *("batch", "repeat", "tool", "target", "nodes", "block_bytes", "pattern", "depth", "jobs", "runtime_seconds"),
    *("options", "text", "imported_from", "cephtui_version", "tool_version", "ceph_version", "health"),
    *("pool", "pool_size", "heading"),
)
"""``text`` is the error and the findings of a run."""
_ELAPSED = "elapsed_seconds"
"""Of a second: its end, from the release of the benchmark; empty for the whole run."""
_LINES_MOST = 12
"""Runs that have a line in the chart of the seconds."""
_STARTED = "started [UTC]"
_RUN = {
    "preset": "preset",
    "target": "target",
    "nodes": "nodes",
    "block [B]": "block_bytes",
    "pattern": "pattern",
    "depth": "depth",
    "jobs": "jobs",
    "runtime [s]": "runtime_seconds",
}
"""By heading the fields of a run's conditions."""
_RUN_END = {
    "outcome": "outcome",
    "quality": "quality",
    "findings": "text",
    "imported from": "imported_from",
    "heading": "heading",
    "options": "options",
}


def sheets_of_report(material: Material, content: Document, *, seconds: bool = False) -> Iterator[Sheet]:
    """The sheets of a workbook; with ``seconds`` one of every second of the runs. Raises StoreError."""
    yield _verdict_sheet(material, content) if material.judgement else _points_sheet(material, content)
    if material.expected:
        yield expected_sheet(material.expected)
    yield _runs_sheet(material)
    if seconds:
        yield _seconds_sheet(material)


def _title(metric: Metric) -> str:
    return f"{metric.full_title} [{metric.unit}]"


def _verdict_sheet(material: Material, content: Document) -> Sheet:
    """The answer in words, and below it a row for each figure, with a bar for its interval."""
    rows = [_row_of(verdict, material.sides) for verdict in (material.judgement.verdicts if material.judgement else ())]
    chart = SheetChart(
        "bar",
        "Change with its interval",
        ("preset", "figure"),
        "change [%]",
        ends=("reaches up [%]", "reaches down [%]"),
    )
    return Sheet("verdict", tuple(rows[0]) if rows else (), rows, _lead_of(content), (chart,) if rows else ())


def _lead_of(content: Document) -> tuple[str, ...]:
    """The heading, and the sentences below it."""
    return (plain_text(content.heading), *(plain_text(block.text) for block in content.lead if isinstance(block, Text)))


def _points_sheet(material: Material, content: Document) -> Sheet:
    """What a study shows in words, and below it a row for each direction of what was set up alike, and a chart."""
    points, measured_texts = points_of(material), measured_in(material)
    rows = [row for point in points for row in _rows_of_point(point, material, measured_texts)]
    metric = _title(material.headline(material.runs[0]))
    depths = {row["depth"] for row in rows}
    is_load = len(depths) == len(rows) > 1 and None not in depths
    chart = SheetChart("curve", f"{metric} by depth", ("depth",), metric) if is_load else SheetChart(
        "bar", f"{metric}, means", ("measured", "target", "nodes", "direction"), metric
    )  # fmt: skip
    columns = (*_POINT, *map(_title, METRICS), *_POINT_END)
    return Sheet("summary", columns, rows, _lead_of(content), (chart,))


_POINT = ("measured", "target", "nodes", "depth", "direction", "runs", "counted")
_POINT_END = ("95 % low", "95 % high", "spread [fraction]", "quality")
"""The interval and the spread are those of the figure that the preset is about."""


def _rows_of_point(
    point: SweepPoint, material: Material, measured_texts: Mapping[str, str]
) -> Iterator[dict[str, object]]:
    summary, run = summarize(point), point.repeats[-1]
    load = conditions_of(run)
    head = {
        "measured": measured_texts[name_of(run)] or run.preset,
        "target": run.target,
        "nodes": load["nodes"],
        "depth": load.get("depth"),
        "runs": material.ids(map(name_of, point.repeats)).plain,
        "counted": len(summary.counted),
        "quality": quality_of(point.repeats),
    }
    if not summary.estimates:
        yield head
    for flow, estimates in summary.estimates.items():
        main = estimates.get(metric_of_flow(material.headline(run), summary.counted, flow).name)
        low, high = main.interval if main and main.interval else (None, None)
        figures = {_title(metric): estimates[metric.name].value for metric in METRICS if metric.name in estimates}
        of_main = (low, high, main.spread if main else None)
        yield {**head, "direction": flow, **figures, **dict(zip(_POINT_END, of_main, strict=False))}


def _row_of(verdict: Verdict, sides: tuple[str, str]) -> dict[str, object]:
    """A verdict by headings; the last two are how far the interval reaches, for the chart."""
    ratio, (low, high) = verdict.ratio, verdict.interval or (None, None)
    before, after = sides
    return {
        "preset": verdict.preset,
        "direction": verdict.direction,
        "figure": verdict.figure,
        "unit": BY_NAME[verdict.figure].unit,
        before: verdict.left,
        after: verdict.right,
        "change [%]": None if ratio is None else ratio - 1,
        "interval low [%]": None if low is None else low - 1,
        "interval high [%]": None if high is None else high - 1,
        "confidence": verdict.confidence,
        f"runs {before}": len(verdict.before),
        f"runs {after}": len(verdict.after),
        "required [%]": verdict.require_percent / 100,
        "verdict": verdict.word,
        "differs": verdict.differs,
        "met": verdict.met,
        "decides": verdict.decides,
        "reaches up [%]": None if ratio is None or high is None else high - ratio,
        "reaches down [%]": None if ratio is None or low is None else ratio - low,
    }


def _runs_sheet(material: Material) -> Sheet:
    """A row for each direction of each run, which is a dot: those that stand together have a colour for each side."""
    place = "place in time" if all(run.is_dated for run in material.runs) else "place"
    metric = material.headline(material.runs[0])
    chart = SheetChart(
        "dots", f"{_title(metric)} of each run", (place,), _title(metric), ("preset", "direction", "side")
    )
    columns = (place, "run", "side", *_RUN, _STARTED, "direction", *map(_title, METRICS), *_RUN_END)
    return Sheet("runs", columns, _rows_of_runs(material, place), charts=(chart,), is_filtered=True)


def _rows_of_runs(material: Material, place: str) -> Iterator[Mapping[str, object]]:
    for number, run in enumerate(material.runs, 1):
        head = _head_of(material, run)
        fields = {title: head.get(name) for title, name in {**_RUN, **_RUN_END}.items()}
        flows: Mapping[str, Total | None] = run.summary.flows or {"": None}
        for direction, total in flows.items():
            yield {
                place: number,
                "run": name_of(run),
                "side": head["side"],
                **fields,
                _STARTED: run.started_at if run.is_dated else None,
                "direction": direction,
                **{_title(metric): metric.of(total) for metric in METRICS},
            }


def _seconds_sheet(material: Material) -> Sheet:
    """A row for each direction of each second, and a line for each of the first runs."""
    chart = SheetChart(
        "lines", "IOPS in each second", ("elapsed [s]",), _title(BY_NAME["iops"]), ("run",), series_most=_LINES_MOST
    )
    columns = ("run", "side", "elapsed [s]", "phase", "direction", *map(_title, LIVE))
    return Sheet("seconds", columns, _rows_of_seconds(material), charts=(chart,))


def _rows_of_seconds(material: Material) -> Iterator[Mapping[str, object]]:
    for run in material.runs:
        for sample in _measured(material.seconds(name_of(run))):
            head = {"run": name_of(run), "side": material.side_of(run), "elapsed [s]": sample.elapsed_seconds}
            for direction, interval in sample.flows.items():
                figures = {_title(metric): metric.of(interval) for metric in LIVE}
                yield {**head, "phase": sample.phase, "direction": direction, **figures}


def _measured(samples: Iterable[Sample]) -> Iterator[Sample]:
    """The prefill is none of the benchmark; the ramp is, and has its own elapsed time."""
    return (sample for sample in samples if sample.phase != "prepare")


# ---------------------------------------------------------------------------------------------- as CSV


def figures_sheet(material: Material, *, seconds: bool = False) -> Sheet:
    """Tidy rows; with ``seconds`` the figures of each second follow those of their run. Raises StoreError."""
    columns = (*_COLUMNS[:5], _ELAPSED, *_COLUMNS[5:]) if seconds else _COLUMNS
    return Sheet("figures", columns, _tidy_rows(material, seconds=seconds))


def _tidy_rows(material: Material, *, seconds: bool) -> Iterator[Mapping[str, object]]:
    for run in material.runs:
        head = _head_of(material, run)
        for direction, total in run.summary.flows.items():
            yield from _figures(head, direction, total, METRICS)
        if not run.summary.flows:
            yield head
        for sample in _measured(material.seconds(name_of(run))) if seconds else ():
            for direction, interval in sample.flows.items():
                yield from _figures({**head, _ELAPSED: sample.elapsed_seconds}, direction, interval, LIVE)


def _figures(
    head: Mapping[str, object], direction: str, flow: Any, metrics: Iterable[Metric]
) -> Iterator[Mapping[str, object]]:
    for metric in metrics:
        if (value := metric.of(flow)) is not None:
            yield {**head, "direction": direction, "figure": metric.name, "value": value, "unit": metric.unit}


def _head_of(material: Material, run: Run) -> dict[str, object]:
    """The conditions of a run by column, with its side and whether its figures are to be believed."""
    return {
        **conditions_of(run),
        "side": material.side_of(run),
        "quality": run.validity or "",
        "imported_from": run.imported_from,
    }
