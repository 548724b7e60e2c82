"""Runs and marks as CSV (RFC 4180): a row for each direction of each run, and one for each mark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from cephtui.analysis.batches import node_names
from cephtui.analysis.conditions import load_of
from cephtui.analysis.marks import in_order
from cephtui.models import ClusterEnvironment, Mark, Run, Total
from cephtui.models.metrics import METRICS
from cephtui.presets import choice_text
from cephtui.reports.csv_rows import csv_of
from cephtui.reports.facts import tool_version

_METRICS = tuple(metric.name for metric in METRICS)
_COLUMNS = (
    "event",
    "session",
    "run",
    "at",
    "batch",
    "repeat",
    "preset",
    "tool",
    "target",
    "nodes",
    "block_bytes",
    "pattern",
    "depth",
    "jobs",
    "runtime_seconds",
    "options",
    "direction",
    *_METRICS,
    "outcome",
    "text",
    "cephtui_version",
    "tool_version",
    "ceph_version",
    "health",
    "pool",
    "pool_size",
    "heading",
)
"""Figures are in base units; ``text`` is that of a mark, or the error and the findings of a run."""


def runs_csv(runs: Sequence[Run], marks: Iterable[Mark] = ()) -> str:
    """A header and the rows; a figure that is not known is empty."""
    return csv_of(_COLUMNS, _rows(runs, marks))


def _rows(runs: Sequence[Run], marks: Iterable[Mark]) -> Iterator[Mapping[str, object]]:
    session = runs[0].session if runs else None
    for row in in_order(runs, marks):
        if isinstance(row, Mark):
            yield {"event": "mark", "session": session, "run": row.run, "at": iso_time(row.at), "text": row.text}
            continue
        totals: Mapping[str, Total | None] = row.summary.flows or {"": None}
        for direction, total in totals.items():
            figures = {metric.name: metric.of(total) for metric in METRICS}
            yield {**conditions_of(row), "direction": direction, **figures}


def iso_time(moment: datetime) -> str:
    """ISO 8601, as in the JSON Lines."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def conditions_of(run: Run) -> dict[str, object]:
    """By column what a run was, without its figures."""
    cluster = run.cluster or ClusterEnvironment()
    load = load_of(run)
    asked = {
        "block_bytes": load.block_bytes,
        "pattern": load.pattern,
        "depth": load.depth or None,
        "jobs": load.jobs,
        "runtime_seconds": load.seconds,
    } if load else {}  # fmt: skip
    return {
        "event": "run",
        "session": run.session,
        "run": run.run,
        "at": iso_time(run.started_at) if run.is_dated else None,
        "batch": run.batch,
        "repeat": run.repeat,
        "preset": run.preset,
        "tool": run.tool,
        "target": run.target,
        "nodes": " ".join(node_names(run)),
        **asked,
        "options": " ".join(f"{name}={choice_text(value)}" for name, value in run.options.items()),
        "outcome": run.outcome or "running",
        "text": "; ".join(filter(None, [run.error, *(finding.text for finding in run.findings)])),
        "cephtui_version": run.cephtui_version,
        "tool_version": tool_version(run),
        "ceph_version": cluster.ceph_version,
        "health": cluster.health,
        "pool": cluster.pool.get("name"),
        "pool_size": cluster.pool.get("size"),
        "heading": run.heading,
    }
