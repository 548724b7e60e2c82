"""The figures of a document as tidy CSV: one row for each run, direction and figure, in SI units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cephtui.analysis.batches import name_of
from cephtui.models import Run, Sample
from cephtui.models.metrics import LIVE, METRICS, Metric
from cephtui.reports.csv_rows import csv_of
from cephtui.reports.csv_text import conditions_of
from cephtui.reports.document.material import Material

COLUMNS = (
    *("session", "run", "side", "preset", "direction", "figure", "value", "unit", "quality", "outcome", "at"),
    *("batch", "repeat", "tool", "target", "nodes", "block_bytes", "pattern", "depth", "jobs", "runtime_seconds"),
    *("options", "text", "imported_from", "cephtui_version", "tool_version", "ceph_version", "health"),
    *("pool", "pool_size", "heading"),
)
"""``text`` is the error and the findings of a run."""
ELAPSED = "elapsed_seconds"
"""Of a second: its end, from the release of the benchmark; empty for the whole run."""


def csv_text_of(material: Material, *, seconds: bool = False) -> str:
    """All of it; with ``seconds`` the figures of each second follow those of their run. Raises StoreError."""
    columns = (*COLUMNS[:5], ELAPSED, *COLUMNS[5:]) if seconds else COLUMNS
    return csv_of(columns, _rows(material, seconds=seconds))


def _rows(material: Material, *, seconds: bool) -> Iterator[Mapping[str, object]]:
    for run in material.runs:
        head = head_of(material, run)
        for direction, total in run.summary.flows.items():
            yield from _figures(head, direction, total, METRICS)
        if not run.summary.flows:
            yield head
        for sample in material.seconds(name_of(run)) if seconds else ():
            yield from _second(head, sample)


def _second(head: Mapping[str, object], sample: Sample) -> Iterator[Mapping[str, object]]:
    """The prefill is none of the benchmark; the ramp is, and has its own elapsed time."""
    if sample.phase == "prepare":
        return
    for direction, interval in sample.flows.items():
        yield from _figures({**head, ELAPSED: sample.elapsed_seconds}, direction, interval, LIVE)


def _figures(
    head: Mapping[str, object], direction: str, flow: Any, metrics: tuple[Metric, ...]
) -> Iterator[Mapping[str, object]]:
    for metric in metrics:
        if (value := metric.of(flow)) is not None:
            yield {**head, "direction": direction, "figure": metric.name, "value": value, "unit": metric.unit}


def head_of(material: Material, run: Run) -> dict[str, object]:
    """By column what a run was, on which side it is, and whether its figures are to be believed."""
    return {
        **conditions_of(run),
        "side": material.side_of(run),
        "quality": run.validity or "",
        "imported_from": run.imported_from,
    }
