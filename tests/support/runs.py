"""Runs with given figures, made from a recorded one."""

from __future__ import annotations

from cephtui.models import Run
from cephtui.sessions import store
from tests.support.replayed import SESSION, WRITE_IOPS


def recorded(number: int = WRITE_IOPS, **changes: object) -> Run:
    return store.read_run(SESSION, WRITE_IOPS).model_copy(update={"run": number, **changes})


def measured(number: int, iops: float, p99: float, **changes: object) -> Run:
    """A run that wrote at this rate."""
    run = recorded(number, **changes)
    assert run.summary.write
    total = run.summary.write.model_copy(update={"iops": iops, "latency_p99_seconds": p99})
    return run.model_copy(update={"summary": run.summary.model_copy(update={"write": total})})
