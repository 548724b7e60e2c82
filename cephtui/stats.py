"""Histograms, percentiles, merging over nodes and thinning; pure functions on plain data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from cephtui.frozen import dataclass
from cephtui.models import Interval, Summary, Total

# The latency grid is fio's own (stat.h: FIO_IO_U_PLAT_BITS 6, FIO_IO_U_PLAT_GROUP_NR 29), so that fio's
# histograms lose nothing on it and every other tool's can be laid onto it.
_BITS = 6
_PER_OCTAVE = 1 << _BITS
GRID_BUCKETS = 29 * _PER_OCTAVE

Buckets = Mapping[int, int]
T = TypeVar("T")
Number = TypeVar("Number", int, float)


def bucket_of(nanoseconds: int) -> int:
    """Index of the grid bucket that holds a latency (fio's ``plat_val_to_idx``)."""
    exponent = nanoseconds.bit_length() - 1 - _BITS
    if exponent <= 0:
        return max(nanoseconds, 0)
    return min(((exponent + 1) << _BITS) + ((nanoseconds >> exponent) & (_PER_OCTAVE - 1)), GRID_BUCKETS - 1)


def bucket_nanoseconds(index: int) -> int:
    """The latency that stands for a bucket: its middle (fio's ``plat_idx_to_val``)."""
    if index < 2 * _PER_OCTAVE:
        return index
    exponent = (index >> _BITS) - 1
    return ((_PER_OCTAVE + index % _PER_OCTAVE) << exponent) + (1 << exponent >> 1)


def percentile_seconds(buckets: Buckets, percent: float) -> float | None:
    """Latency below which ``percent`` of the completions lie; None without completions.

    The first bucket whose cumulative count reaches ``percent / 100 * N``, as fio's ``calc_clat_percentiles``.
    """
    total = sum(buckets.values())
    if not total:
        return None
    wanted, seen, found = percent / 100.0 * total, 0, 0
    for found in sorted(buckets):
        seen += buckets[found]
        if seen >= wanted:
            break
    return bucket_nanoseconds(found) / 1e9


def add_buckets(parts: Iterable[Buckets]) -> dict[int, int]:
    """Sum of histograms on the grid."""
    result: dict[int, int] = {}
    for part in parts:
        for index, number in part.items():
            result[index] = result.get(index, 0) + number
    return result


def subtract_buckets(later: Buckets, earlier: Buckets) -> dict[int, int]:
    """What was added between two cumulative histograms; a bucket that fell counts as unchanged."""
    return {i: n - earlier.get(i, 0) for i, n in later.items() if n > earlier.get(i, 0)}


def known_sum(values: Iterable[Number | None]) -> Number | None:
    """The sum; None where one of them is not known, or there are none."""
    found = list(values)
    known = [value for value in found if value is not None]
    return sum(known[1:], known[0]) if known and len(known) == len(found) else None


def by_name(parts: Iterable[Mapping[str, T]]) -> dict[str, list[T]]:
    """What has the same name in several, together; the names in the order in which they come."""
    found: dict[str, list[T]] = {}
    for part in parts:
        for name, value in part.items():
            found.setdefault(name, []).append(value)
    return found


def make_interval(
    ios: int | None, nbytes: int, seconds: float, mean_seconds: float | None, buckets: Buckets | None
) -> Interval:
    """The figures of one interval from its counts; rates are zero for an interval without length."""
    return Interval(
        ios=ios,
        bytes=nbytes,
        iops=None if ios is None else ios / seconds if seconds > 0 else 0.0,
        bandwidth_bytes=nbytes / seconds if seconds > 0 else 0.0,
        latency_mean_seconds=mean_seconds,
        latency_p99_seconds=percentile_seconds(buckets, 99.0) if buckets else None,
        latency_buckets=buckets or None,
    )


def _weighted_mean(pairs: Iterable[tuple[float | None, int]]) -> float | None:
    known = [(value, weight) for value, weight in pairs if value is not None and weight > 0]
    weight = sum(w for _, w in known)
    return sum(v * w for v, w in known) / weight if weight else None


def completions(interval: Interval) -> int:
    """How many completions the latency of an interval stands for."""
    return sum(interval.latency_buckets.values()) if interval.latency_buckets else interval.ios or 0


def done(intervals: Iterable[Interval]) -> int:
    """How much was completed: I/O operations, or bytes where they are not counted."""
    parts = list(intervals)
    ios = known_sum(part.ios for part in parts)
    return sum(part.bytes for part in parts) if ios is None else ios


def join_intervals(first: Interval | None, second: Interval | None, seconds: float) -> Interval | None:
    """One interval of two that follow each other, ``seconds`` long together."""
    parts = [part for part in (first, second) if part is not None]
    if not parts:
        return None
    mean = _weighted_mean((p.latency_mean_seconds, completions(p)) for p in parts)
    buckets = add_buckets(p.latency_buckets for p in parts if p.latency_buckets)
    return make_interval(known_sum(p.ios for p in parts), sum(p.bytes for p in parts), seconds, mean, buckets)


def add_intervals(parts: Sequence[Interval]) -> Interval | None:
    """One interval of several nodes that ran beside each other: sums, and percentiles of the summed histograms.

    Without percentiles where a part with completions has no histogram.
    """
    if len(parts) <= 1:
        return parts[0] if parts else None
    whole = all(p.latency_buckets or not done([p]) for p in parts)
    buckets = add_buckets(p.latency_buckets for p in parts if p.latency_buckets) if whole else {}
    return Interval(
        ios=known_sum(p.ios for p in parts),
        bytes=sum(p.bytes for p in parts),
        iops=known_sum(p.iops for p in parts),
        bandwidth_bytes=sum(p.bandwidth_bytes for p in parts),
        latency_mean_seconds=_weighted_mean((p.latency_mean_seconds, completions(p)) for p in parts),
        latency_p99_seconds=percentile_seconds(buckets, 99.0) if buckets else None,
        latency_buckets=buckets or None,
    )


@dataclass(frozen=True, slots=True)
class Moments:
    """Count, mean and standard deviation (population) of latencies in seconds; None where a tool prints none."""

    count: int
    mean: float
    stddev: float | None


def pool_moments(parts: Sequence[Moments]) -> Moments | None:
    """Mean and standard deviation of the union; None without completions."""
    parts = [p for p in parts if p.count > 0]
    count = sum(p.count for p in parts)
    if not count:
        return None
    if len(parts) == 1:
        return parts[0]
    mean = sum(p.count * p.mean for p in parts) / count
    squares = [p.count * (p.stddev**2 + (p.mean - mean) ** 2) for p in parts if p.stddev is not None]
    return Moments(count, mean, math.sqrt(sum(squares) / count) if len(squares) == len(parts) else None)


def latency_of(
    buckets: Buckets, moments: Moments | None, bounds: tuple[float, float] | None
) -> dict[str, float | None]:
    """The latency fields of a Total from a histogram, its moments and (min, max) in seconds."""
    if moments is None:
        return {}
    return {
        "latency_mean_seconds": moments.mean,
        "latency_stddev_seconds": moments.stddev,
        "latency_min_seconds": bounds[0] if bounds else None,
        "latency_max_seconds": bounds[1] if bounds else None,
        "latency_p50_seconds": percentile_seconds(buckets, 50.0),
        "latency_p95_seconds": percentile_seconds(buckets, 95.0),
        "latency_p99_seconds": percentile_seconds(buckets, 99.0),
        "latency_p999_seconds": percentile_seconds(buckets, 99.9),
    }


@dataclass(frozen=True, slots=True)
class Flow:
    """A whole run of reads, writes or another flow before its percentiles are taken: nodes and jobs can be added up."""

    ios: int | None
    """None where the tool does not count them."""
    bytes: int
    runtime_seconds: float
    iops: float | None
    bandwidth_bytes: float
    buckets: Buckets
    moments: Moments | None
    bounds: tuple[float, float] | None
    """Least and greatest latency in seconds."""


def add_flows(flows: Sequence[Flow]) -> Flow | None:
    """Jobs or nodes that ran at the same time as one; None for none."""
    if len(flows) <= 1:
        return flows[0] if flows else None
    bounds = [f.bounds for f in flows if f.bounds]
    return Flow(
        ios=known_sum(f.ios for f in flows),
        bytes=sum(f.bytes for f in flows),
        runtime_seconds=max(f.runtime_seconds for f in flows),
        iops=known_sum(f.iops for f in flows),
        bandwidth_bytes=sum(f.bandwidth_bytes for f in flows),
        buckets=add_buckets(f.buckets for f in flows),
        moments=pool_moments([f.moments for f in flows if f.moments]),
        bounds=(min(low for low, _ in bounds), max(high for _, high in bounds)) if bounds else None,
    )


def total(flow: Flow | None) -> Total | None:
    """The public figures of a flow."""
    if flow is None:
        return None
    return Total(
        ios=flow.ios,
        bytes=flow.bytes,
        runtime_seconds=flow.runtime_seconds,
        iops=flow.iops,
        bandwidth_bytes=flow.bandwidth_bytes,
        **latency_of(flow.buckets, flow.moments, flow.bounds),
    )


def summarise(parts: Iterable[Mapping[str, Flow]]) -> Summary:
    """Jobs' or nodes' flows by name as one summary."""
    totals = {name: found for name, flows in by_name(parts).items() if (found := total(add_flows(flows)))}
    return Summary(read=totals.pop("read", None), write=totals.pop("write", None), other=totals)
