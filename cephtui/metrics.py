"""The figures that a run can have, in one table: what they are called, and what may be done with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cephtui import units

Unit: TypeAlias = Literal["IO/s", "B/s", "s"]
_AS_TEXT: Mapping[Unit, Callable[[float | None], str]] = {
    "IO/s": units.iops,
    "B/s": units.bandwidth,
    "s": units.latency,
}


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure of reads, of writes or of another flow."""

    name: str
    """Its field in a Total; and in an Interval, where it is measured each second."""
    title: str
    """In tables."""
    unit: Unit
    better: Literal["more", "less"]
    over_nodes: Literal["sum", "mean", "completions"]
    """How nodes add up: the sum, the mean weighted by their completions, or taken from all completions together."""
    live: bool = False
    """Whether it is measured each second."""

    def as_text(self, value: float | None) -> str:
        """With its unit; a dash for a figure that is not known."""
        return _AS_TEXT[self.unit](value)


METRICS = (
    Metric("iops", "IOPS", "IO/s", "more", "sum", live=True),
    Metric("bandwidth_bytes", "bandwidth", "B/s", "more", "sum", live=True),
    Metric("latency_mean_seconds", "mean", "s", "less", "mean", live=True),
    Metric("latency_p50_seconds", "p50", "s", "less", "completions"),
    Metric("latency_p95_seconds", "p95", "s", "less", "completions"),
    Metric("latency_p99_seconds", "p99", "s", "less", "completions", live=True),
    Metric("latency_p999_seconds", "p99.9", "s", "less", "completions"),
    Metric("latency_max_seconds", "max", "s", "less", "completions"),
)
BY_NAME: Mapping[str, Metric] = {metric.name: metric for metric in METRICS}
