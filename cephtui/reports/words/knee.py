"""The knee of a load curve in words."""

from __future__ import annotations

from collections.abc import Callable

from cephtui import units
from cephtui.analysis.verdicts.knee import OF_PEAK, Knee, LoadPoint, Problem, Working
from cephtui.analysis.views.curve import Axis
from cephtui.models.metrics import BY_NAME, Metric

IOPS = BY_NAME["iops"]


def knee_lines(knee: Knee, axis: Axis, metric: Metric = IOPS) -> list[str]:
    """``knee at depth 16 (95 %: 14 .. 19): ...``, or why there is none; then what is to be known of it.

    The throughput is that of ``metric``: IOPS, or the bandwidth.
    """
    return [_sentence(knee, axis, metric), *_notes(knee, axis)]


def rate_text(knee: Knee, rate: float, metric: Metric = IOPS) -> str:
    """``12.4k IOPS``, ``812 MiB/s``."""
    block = knee.points[0].block_bytes
    return units.bandwidth(rate * block) if metric.unit == "B/s" and block else f"{units.iops(rate)} IOPS"


def _sentence(knee: Knee, axis: Axis, metric: Metric) -> str:
    if knee.problem is not None:
        return f"no knee: {_why_none(knee, knee.problem, axis, metric)}"
    peak = rate_text(knee, knee.peak, metric).removesuffix(" IOPS")
    working = working_text(knee, knee.at_most_of_peak, metric)
    there = "" if knee.gap else f"{working_text(knee, knee.at_knee, metric, p99=False)}, "
    once = "" if knee.is_repeated else f", from {_once(knee)}"
    return f"knee {_place(knee, axis)}{once}: {there}peak {peak}; {100 * OF_PEAK:.0f} % of peak: {working}"


def _why_none(knee: Knee, problem: Problem, axis: Axis, metric: Metric) -> str:
    first, last = knee.points[0], knee.points[-1]
    if problem == "flat":
        return f"{axis.title} {first.label} is as fast as any, the knee is there or below"
    if problem == "rising":
        return f"the curve still rises at {axis.title} {last.label} ({rate_text(knee, last.rate, metric)})"
    if problem == "few":
        why = "too few points rise before throughput levels off"
    elif problem == "not shown":
        greatest = max(point.rate for point in knee.points)
        why = f"throughput rises by {100 * (greatest / first.rate - 1):.0f} % at most"
    else:
        points = [knee.points[place] for place in knee.order.disorder or ()]
        named = " and ".join(f"{rate_text(knee, point.rate, metric)} at {point.label}" for point in points)
        why = f"throughput is not in the order of the {axis.title}: {named}"
    if knee.is_repeated:
        return f"{why}, no more than its runs are spread" if problem == "not shown" else why
    return f"{why}; with {_once(knee)} that may be chance: repeat them"


def _place(knee: Knee, axis: Axis) -> str:
    """``at depth 16 (95 %: 14 .. 19), 128 in flight``; between two depths where these are far apart."""
    ends = f" (95 %: {' .. '.join(str(knee.whole(end)) for end in knee.interval)})" if knee.interval else ""
    in_flight = "" if knee.step == 1 else f", {knee.located:.0f} in flight"  # where several jobs or nodes have a depth
    at = f"{knee.whole(knee.located)}{ends}{in_flight}"
    if knee.gap is None:
        return f"at {axis.title} {at}"
    below, above = knee.gap
    return f"between {axis.title} {below.label} and {above.label}, where nothing was measured, at about {at}"


def _once(knee: Knee) -> str:
    """``one run of 3 s each``: of the points."""
    texts = list(dict.fromkeys(units.duration(point.seconds) for point in sorted(knee.points, key=_seconds)))
    lasted = f" of {texts[0]}{' or more' if len(texts) > 1 else ''}" if _seconds(knee.points[0]) else ""
    return f"one run{lasted} each"


def _seconds(point: LoadPoint) -> float:
    return point.seconds


def working_text(knee: Knee, point: Working, metric: Metric = IOPS, *, p99: bool = True) -> str:
    """``9.92k IOPS at 0.90 ms, p99 2.10 ms``."""
    tail = f", p99 {units.latency(point.p99)}" if p99 and point.p99 else ""
    return f"{rate_text(knee, point.rate, metric)} at {units.latency(point.latency)}{tail}"


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
        (lambda share: share > 0, "fewer I/Os were in flight than were asked for: the client took the rest of the time "
         "between the end of an I/O and the begin of the next. The CPU of the client may be the limit there: measure "
         "these points from more nodes"),
        (lambda share: share < 0, "more I/Os were in flight than were asked for, or the rate changed during the run. "
         "Do not rely on these points: measure them again, for longer"),
    ]  # fmt: skip
    found = []
    for applies, text in texts:
        if labels := [point.label for point in knee.unexplained if applies(point.unexplained)]:
            found.append(f"at {axis.title} {', '.join(labels)}, by throughput x latency (Little's law), {text}")
    return found
