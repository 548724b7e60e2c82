"""Histograms, percentiles, merging over nodes and thinning; pure functions on plain data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from cephtui.frozen import dataclass
from cephtui.models import Interval, Latency, Summary, Total
from cephtui.models.metrics import is_carried
from cephtui.models.samples import GRID_BUCKETS

if TYPE_CHECKING:
    from cephtui.models import RateSamples

# The latency grid is fio's own (stat.h: FIO_IO_U_PLAT_BITS 6, FIO_IO_U_PLAT_GROUP_NR 29), so that fio's
# histograms lose nothing on it and every other tool's can be laid onto it.
_BITS = 6
_PER_OCTAVE = 1 << _BITS

Buckets = Mapping[int, int]
T = TypeVar("T")
Number = TypeVar("Number", int, float)


def bucket_of(nanoseconds: int) -> int:
    """The index of the grid bucket that holds a latency (fio's ``plat_val_to_idx``)."""
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


def bucket_bounds(index: int) -> tuple[int, int]:
    """The first latency in nanoseconds that a bucket holds, and the first that it does not."""
    if index < 2 * _PER_OCTAVE:
        return index, index + 1
    exponent = (index >> _BITS) - 1
    return (_PER_OCTAVE + index % _PER_OCTAVE) << exponent, (_PER_OCTAVE + index % _PER_OCTAVE + 1) << exponent


def percentile_seconds(buckets: Buckets, percent: float) -> float | None:
    """Latency below which ``percent`` of the completions lie; None without completions.

    The first bucket whose cumulative count reaches ``percent / 100 * N``, as fio's ``calc_clat_percentiles``.
    """
    total = sum(buckets.values())
    if not total:
        return None
    rank, cumulative, bucket = percent / 100.0 * total, 0, 0
    for bucket in sorted(buckets):
        cumulative += buckets[bucket]
        if cumulative >= rank:
            break
    return bucket_nanoseconds(bucket) / 1e9


def supported_percentile(buckets: Buckets, percent: float) -> float | None:
    """The percentile in seconds; None where fewer than 10 I/Os took longer: it would be the time of a few."""
    return percentile_seconds(buckets, percent) if is_carried(sum(buckets.values()), percent) else None


def add_buckets(parts: Iterable[Buckets]) -> dict[int, int]:
    """The sum of histograms on the grid."""
    counts: dict[int, int] = {}
    for part in parts:
        for index, number in part.items():
            counts[index] = counts.get(index, 0) + number
    return counts


def subtract_buckets(later: Buckets, earlier: Buckets) -> dict[int, int]:
    """The counts that came between two cumulative histograms; a bucket that fell counts as unchanged."""
    return {bucket: count - earlier.get(bucket, 0) for bucket, count in later.items() if count > earlier.get(bucket, 0)}


def known_sum(values: Iterable[Number | None]) -> Number | None:
    """The sum of values; None where one of them is not known, or there are none."""
    values = list(values)
    numbers = [value for value in values if value is not None]
    return sum(numbers[1:], numbers[0]) if numbers and len(numbers) == len(values) else None


def group_by_name(parts: Iterable[Mapping[str, T]]) -> dict[str, list[T]]:
    """Values with the same name as lists, in the order in which the names come."""
    gathered: dict[str, list[T]] = {}
    for part in parts:
        for name, value in part.items():
            gathered.setdefault(name, []).append(value)
    return gathered


def make_interval(
    ios: int | None, nbytes: int | None, seconds: float, mean_seconds: float | None, buckets: Buckets | None
) -> Interval:
    """The figures of an interval from its counts; rates are zero for an interval without length.

    What moves no bytes has None of them, and no bandwidth.
    """
    return Interval(
        ios=ios,
        bytes=nbytes or 0,
        iops=None if ios is None else ios / seconds if seconds > 0 else 0.0,
        bandwidth_bytes=None if nbytes is None else nbytes / seconds if seconds > 0 else 0.0,
        latency_mean_seconds=mean_seconds,
        latency_p99_seconds=percentile_seconds(buckets, 99.0) if buckets else None,
        latency_buckets=buckets or None,
    )


def mean_of_known(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are known; None without any."""
    numbers = [value for value in values if value is not None]
    return sum(numbers) / len(numbers) if numbers else None


def _weighted_mean(pairs: Iterable[tuple[float | None, int]]) -> float | None:
    measured = [(value, weight) for value, weight in pairs if value is not None and weight > 0]
    weight = sum(weight for _, weight in measured)
    return sum(value * weight for value, weight in measured) / weight if weight else None


def completions(interval: Interval) -> int:
    """How many completions the latency of an interval stands for."""
    return sum(interval.latency_buckets.values()) if interval.latency_buckets else interval.ios or 0


def completed(intervals: Iterable[Interval]) -> int:
    """How much was done: I/O operations, or bytes where they are not counted."""
    parts = list(intervals)
    ios = known_sum(part.ios for part in parts)
    return sum(part.bytes for part in parts) if ios is None else ios


def join_intervals(first: Interval | None, second: Interval | None, seconds: float) -> Interval | None:
    """Two intervals that follow each other as one, ``seconds`` long."""
    parts = [part for part in (first, second) if part is not None]
    if not parts:
        return None
    mean = _weighted_mean((part.latency_mean_seconds, completions(part)) for part in parts)
    buckets = add_buckets(part.latency_buckets for part in parts if part.latency_buckets)
    nbytes = None if _none_moves(parts) else sum(part.bytes for part in parts)
    joined = make_interval(known_sum(part.ios for part in parts), nbytes, seconds, mean, buckets)
    return replace(joined, retransmits=known_sum(part.retransmits for part in parts), rtt_seconds=_rtt(parts))


def _none_moves(parts: Iterable[Interval | Flow]) -> bool:
    """Whether all parts are of what moves no bytes."""
    return all(part.bandwidth_bytes is None for part in parts)


def _rtt(parts: Sequence[Interval]) -> float | None:
    return mean_of_known(part.rtt_seconds for part in parts)


def add_intervals(parts: Sequence[Interval]) -> Interval | None:
    """Intervals of nodes that ran at the same time as one: sums, and percentiles of the summed histograms.

    Without percentiles where a part with completions has no histogram.
    """
    if len(parts) <= 1:
        return parts[0] if parts else None
    whole = all(part.latency_buckets or not completed([part]) for part in parts)
    buckets = add_buckets(part.latency_buckets for part in parts if part.latency_buckets) if whole else {}
    return Interval(
        ios=known_sum(part.ios for part in parts),
        bytes=sum(part.bytes for part in parts),
        iops=known_sum(part.iops for part in parts),
        bandwidth_bytes=known_sum(part.bandwidth_bytes for part in parts),
        latency_mean_seconds=_weighted_mean((part.latency_mean_seconds, completions(part)) for part in parts),
        latency_p99_seconds=percentile_seconds(buckets, 99.0) if buckets else None,
        latency_buckets=buckets or None,
        retransmits=known_sum(part.retransmits for part in parts),
        rtt_seconds=_rtt(parts),
    )


@dataclass(frozen=True, slots=True)
class Moments:
    """Count, mean and standard deviation (population) of latencies in seconds; None where a tool prints none."""

    count: int
    mean: float
    stddev: float | None


def pool_moments(parts: Sequence[Moments]) -> Moments | None:
    """Mean and standard deviation of all parts together; None without completions."""
    parts = [part for part in parts if part.count > 0]
    count = sum(part.count for part in parts)
    if not count:
        return None
    if len(parts) == 1:
        return parts[0]
    mean = sum(part.count * part.mean for part in parts) / count
    squares = [part.count * (part.stddev**2 + (part.mean - mean) ** 2) for part in parts if part.stddev is not None]
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
        "latency_p90_seconds": supported_percentile(buckets, 90.0),
        "latency_p995_seconds": supported_percentile(buckets, 99.5),
        "latency_p9995_seconds": supported_percentile(buckets, 99.95),
        "latency_p9999_seconds": supported_percentile(buckets, 99.99),
    }


Bounds = tuple[float, float]
"""The least and the greatest latency in seconds."""


def join_bounds(parts: Sequence[Bounds]) -> Bounds | None:
    """The least and the greatest latency of all parts; None without any."""
    return (min(low for low, _ in parts), max(high for _, high in parts)) if parts else None


@dataclass(frozen=True, slots=True)
class Times:
    """How long I/Os took, without their histogram."""

    moments: Moments
    bounds: Bounds | None


def pool_times(parts: Sequence[Times | None]) -> Times | None:
    """The times of all parts together; None where a part has none."""
    times = [part for part in parts if part]
    moments = pool_moments([part.moments for part in times])
    if moments is None or len(times) < len(parts):
        return None
    return Times(moments, join_bounds([part.bounds for part in times if part.bounds]))


def _latency(times: Times | None) -> Latency | None:
    if times is None:
        return None
    low, high = times.bounds or (None, None)
    moments = times.moments
    return Latency(mean_seconds=moments.mean, stddev_seconds=moments.stddev, min_seconds=low, max_seconds=high)


@dataclass(frozen=True, slots=True)
class Flow:
    """What a run did in reads, writes or another flow, before percentiles are taken: nodes and jobs can be added up."""

    ios: int | None
    """None where the tool does not count them."""
    bytes: int
    runtime_seconds: float
    iops: float | None
    bandwidth_bytes: float | None
    """None for what moves no bytes."""
    buckets: Buckets
    moments: Moments | None
    bounds: Bounds | None
    slat: Times | None = None
    """Times of submission alone."""
    lat: Times | None = None
    """Times of submission and completion together."""
    retransmits: int | None = None
    """See ``Total``."""
    rtt_seconds: float | None = None
    """See ``Total``."""
    p99_seconds: float | None = None
    """The tool's own p99, where it has no histogram: percentiles of several flows can't be added up."""
    iops_samples: RateSamples | None = None
    """See ``Total``; None for several flows, as is ``bandwidth_samples``."""
    bandwidth_samples: RateSamples | None = None
    """See ``Total``."""
    ios_reported: int | None = None
    """See ``Total``."""


def make_flow(
    ios: int | None,
    nbytes: int | None,
    seconds: float,
    buckets: Buckets | None = None,
    moments: Moments | None = None,
    bounds: Bounds | None = None,
) -> Flow:
    """A whole run from its counts, with rates as ``make_interval`` has them."""
    whole = make_interval(ios, nbytes, seconds, None, None)
    return Flow(ios, whole.bytes, seconds, whole.iops, whole.bandwidth_bytes, buckets or {}, moments, bounds)


def with_completed(flow: Flow, ios: int) -> Flow:
    """A flow with the I/Os that were completed, where the tool has counted those that began."""
    if ios == flow.ios:
        return flow
    iops = ios / flow.runtime_seconds if flow.runtime_seconds else 0.0
    return replace(flow, ios=ios, iops=iops, ios_reported=flow.ios)


def add_flows(flows: Sequence[Flow]) -> Flow | None:
    """The flows of jobs or nodes that ran at the same time, as one; None for none.

    Its rates are all I/Os, or all bytes, over the longest run time, as fio's own of grouped jobs. The sum of the
    parts' rates would be more wherever they end apart: a rate that the whole never had for the whole time.
    """
    if len(flows) <= 1:
        return flows[0] if flows else None
    seconds = max(flow.runtime_seconds for flow in flows)
    ios, nbytes = known_sum(flow.ios for flow in flows), sum(flow.bytes for flow in flows)
    all_ios = known_sum(_ios_done(flow) for flow in flows)
    return Flow(
        ios=ios,
        bytes=nbytes,
        runtime_seconds=seconds,
        iops=None if all_ios is None else all_ios / seconds if seconds else 0.0,
        bandwidth_bytes=None if _none_moves(flows) else nbytes / seconds if seconds else 0.0,
        buckets=add_buckets(flow.buckets for flow in flows),
        moments=pool_moments([flow.moments for flow in flows if flow.moments]),
        bounds=join_bounds([flow.bounds for flow in flows if flow.bounds]),
        slat=pool_times([flow.slat for flow in flows]),
        lat=pool_times([flow.lat for flow in flows]),
        ios_reported=_reported(flows),
        retransmits=known_sum(flow.retransmits for flow in flows),
        rtt_seconds=mean_of_known(flow.rtt_seconds for flow in flows),
    )


def _reported(flows: Sequence[Flow]) -> int | None:
    """What the tool counts of all flows; None where it counts what was completed."""
    if all(flow.ios_reported is None for flow in flows):
        return None
    return known_sum(flow.ios if flow.ios_reported is None else flow.ios_reported for flow in flows)


def _ios_done(flow: Flow) -> float | None:
    """The I/Os of a flow, from its rate where the tool does not count them."""
    if flow.ios is not None:
        return flow.ios
    return None if flow.iops is None else flow.iops * flow.runtime_seconds


def total(flow: Flow | None, *, histogram: bool = False) -> Total | None:
    """The public figures of a flow, and its ``histogram`` where that is wanted."""
    if flow is None:
        return None
    latency = latency_of(flow.buckets, flow.moments, flow.bounds)
    if flow.p99_seconds is not None:
        latency["latency_p99_seconds"] = flow.p99_seconds
    return Total(
        ios=flow.ios,
        bytes=flow.bytes,
        runtime_seconds=flow.runtime_seconds,
        iops=flow.iops,
        bandwidth_bytes=flow.bandwidth_bytes,
        **latency,
        slat=_latency(flow.slat),
        lat=_latency(flow.lat),
        ios_reported=flow.ios_reported,
        latency_buckets=(dict(flow.buckets) or None) if histogram else None,
        iops_samples=flow.iops_samples,
        bandwidth_samples=flow.bandwidth_samples,
        retransmits=flow.retransmits,
        rtt_seconds=flow.rtt_seconds,
    )


def summarise(parts: Iterable[Mapping[str, Flow]], *, histogram: bool = False) -> Summary:
    """The flows of jobs or nodes, by name, as one summary; with its ``histogram`` where that is wanted."""
    added = {name: total(add_flows(flows), histogram=histogram) for name, flows in group_by_name(parts).items()}
    totals = {name: figures for name, figures in added.items() if figures}
    return Summary(read=totals.pop("read", None), write=totals.pop("write", None), other=totals)
