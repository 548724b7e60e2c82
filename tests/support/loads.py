"""Runs under load: of systems whose throughput is known, as a session has them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from cephtui.models import OptionValue, Run, Summary, Total
from tests.support.closed_loops import System, hard
from tests.support.runs import recorded

BLOCK_BYTES = 4096


def under_load(number: int, rate: float, latency: float, batch: str = "sweep", **options: OptionValue) -> Run:
    """A run of so many IOPS at this mean latency, in seconds; its p99 is twice that."""
    run = recorded(number)
    total = Total(
        ios=round(60 * rate),
        bytes=round(60 * rate) * BLOCK_BYTES,
        runtime_seconds=60,
        iops=rate,
        bandwidth_bytes=rate * BLOCK_BYTES,
        latency_mean_seconds=latency,
        latency_p99_seconds=2 * latency,
    )
    return run.model_copy(
        update={
            "batch": batch,
            "options": {**run.options, "bs": "4k", "numjobs": 1, **options},
            "summary": Summary(write=total),
            "findings": (),
            "started_at": run.started_at + timedelta(minutes=number),
        }
    )


def sweep(depths: Sequence[int], system: System | None = None, first: int = 1, **options: OptionValue) -> list[Run]:
    """A run at each depth, by default of a system with its knee at depth 16."""
    rate = system or hard(16)
    return [
        under_load(number, rate(depth), depth / rate(depth), "sweep", iodepth=depth, **options)
        for number, depth in enumerate(depths, first)
    ]
