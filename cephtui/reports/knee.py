"""The knee of a load curve in words."""

from __future__ import annotations

from collections.abc import Callable

from cephtui import units
from cephtui.analysis.curve import Axis
from cephtui.analysis.knee import OF_PEAK, Knee, Working
from cephtui.models.metrics import BY_NAME, Metric

IOPS = BY_NAME["iops"]


def knee_lines(knee: Knee, axis: Axis, metric: Metric = IOPS) -> list[str]:
    """``knee at depth 16 (14 .. 19): ...``, or why there is none; then what is to be known of it.

    The throughput is that of ``metric``: IOPS, or the bandwidth.
    """
    return [_sentence(knee, axis, metric), *_notes(knee, axis)]


def rate_text(knee: Knee, rate: float, metric: Metric = IOPS) -> str:
    """``12.4k IOPS``, ``812 MiB/s``."""
    block = knee.points[0].block_bytes
    return units.bandwidth(rate * block) if metric.unit == "B/s" and block else f"{units.iops(rate)} IOPS"


def _sentence(knee: Knee, axis: Axis, metric: Metric) -> str:
    first, last = knee.points[0], knee.points[-1]
    if knee.is_rising:
        return f"no knee: the curve still rises at {axis.title} {last.label} ({rate_text(knee, last.rate, metric)})"
    if knee.is_flat:
        return f"no knee: {axis.title} {first.label} is as fast as any, the knee is there or below"
    interval = f" ({' .. '.join(_at(knee, end) for end in knee.interval)})" if knee.interval else ""
    at = f"{axis.title} {_at(knee, knee.in_flight)}{interval}{_in_flight(knee)}"
    peak = rate_text(knee, knee.peak, metric).removesuffix(" IOPS")
    working = working_text(knee, knee.at_most_of_peak, metric)
    there = working_text(knee, knee.at_knee, metric, p99=False)
    return f"knee at {at}: {there}, peak {peak}; {100 * OF_PEAK:.0f} % of peak: {working}"


def working_text(knee: Knee, point: Working, metric: Metric = IOPS, *, p99: bool = True) -> str:
    """``9.92k IOPS at 0.90 ms, p99 2.10 ms``."""
    tail = f", p99 {units.latency(point.p99)}" if p99 and point.p99 else ""
    return f"{rate_text(knee, point.rate, metric)} at {units.latency(point.latency)}{tail}"


def _at(knee: Knee, in_flight: float) -> str:
    """On the axis, of which the points may have several I/Os in flight for each step."""
    value = in_flight / (_each(knee) or 1.0)
    return f"{value:.0f}" if value >= 9.95 else f"{value:.2g}"


def _in_flight(knee: Knee) -> str:
    """Where several jobs or nodes have that depth: ``, 128 in flight``."""
    return "" if _each(knee) == 1 else f", {knee.in_flight:.0f} in flight"


def _each(knee: Knee) -> float | None:
    """How many I/Os in flight one step of the axis is; None where that is not the same everywhere."""
    found = {point.in_flight / float(point.label) if point.label.isdecimal() else 0.0 for point in knee.points}
    return next(iter(found)) or None if len(found) == 1 else None


def _notes(knee: Knee, axis: Axis) -> list[str]:
    found = []
    if knee.is_known and (first := knee.points[0]).in_flight > 1:
        found.append(
            f"no run had fewer than {first.in_flight} I/Os in flight: where they wait for each other, "
            "the knee is lower than this"
        )
    if knee.is_known and knee.is_doubtful:
        found.append(
            f"the most throughput for its latency is at {axis.title} {knee.power.label}: more than a doubling from "
            "the knee, so the curve bends slowly, or twice"
        )
    return [*found, *_little(knee, axis)]


def _little(knee: Knee, axis: Axis) -> list[str]:
    """Where throughput times latency is not what was in flight."""
    texts: list[tuple[Callable[[float], bool], str]] = [
        (lambda share: share > 0, "more were in flight than throughput and latency account for: the rest waited in "
         "the client, so the latency of the target alone is shown"),
        (lambda share: share < 0, "fewer were in flight than throughput and latency account for: the runs held more, "
         "or their rates changed"),
    ]  # fmt: skip
    found = []
    for applies, text in texts:
        if labels := [point.label for point in knee.unexplained if applies(point.unexplained)]:
            found.append(f"Little's law does not hold at {axis.title} {', '.join(labels)}: {text}")
    return found
