"""Runs that measured what a test wants them to have, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from cephtui.models import NodeResult, Run, Summary, Total
from cephtui.models.metrics import BY_NAME

IOPS, LATENCY, P99 = BY_NAME["iops"], BY_NAME["latency_mean_seconds"], BY_NAME["latency_p99_seconds"]
STARTED = datetime(2026, 11, 21, 10, tzinfo=UTC)
RUN_SECONDS = 62.0
STEP_SECONDS = 65.0
"""From the start of a run to that of the next."""
_OPTIONS = {"rw": "randwrite", "bs": "4k", "iodepth": 64, "runtime": 60.0, "direct": True}


def total(figures: Mapping[str, float | None]) -> Total:
    fields: dict[str, Any] = {"ios": 100_000, "bytes": 1, "runtime_seconds": 60.0, "iops": None, "bandwidth_bytes": 1.0}
    return Total.model_construct(**fields | dict(figures))


def run(number: int, write: Mapping[str, float | None] | float = 1000.0, **changes: Any) -> Run:
    """A run that ended well; its number is its turn. A figure without a name is IOPS."""
    figures = {"iops": float(write)} if isinstance(write, int | float) else write
    fields = {
        "session": "tuning",
        "run": number,
        "batch": "b",
        "preset": "write-iops",
        "tool": "fio",
        "target": "rbd:bench",
        "options": _OPTIONS,
        "outcome": "ok",
        "command": "fio",
        "started_at": STARTED + timedelta(seconds=STEP_SECONDS * number),
        "duration_seconds": RUN_SECONDS,
        "nodes": (NodeResult(node="pve1", command="fio"),),
    }
    given = {"summary": Summary.model_construct(write=total(figures)), **changes}
    return Run.model_validate(fields).model_copy(update=given)


def runs(values: Iterable[float], first: int = 1, figure: str = "iops", **changes: Any) -> tuple[Run, ...]:
    """One after the other, numbered from ``first``."""
    return tuple(run(number, {figure: value}, **changes) for number, value in enumerate(values, first))
