"""Curves in words: the points of a sweep, the knee, and what confirms it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cephtui import units
from cephtui.analysis.runs.batches import CONFIDENCE
from cephtui.analysis.runs.facts import load_of
from cephtui.analysis.verdicts.knee import OF_PEAK, Knee, LoadPoint, Problem, Working, combined_figures
from cephtui.analysis.verdicts.sweep import DepthRun, change_again
from cephtui.analysis.views.curve import Axis
from cephtui.models import Run
from cephtui.models.metrics import BY_NAME, Metric

IOPS = BY_NAME["iops"]


def knee_lines(knee: Knee, axis: Axis, metric: Metric = IOPS) -> list[str]:
    """``knee at depth 16 (95 %: 14 .. 19): ...``, or why there is none; then what is to be known of it.

    The throughput is that of ``metric``: IOPS, or the bandwidth.
    """
    return [_sentence(knee, axis, metric), *_notes(knee, axis)]


def peak_line(knee: Knee, axis: Axis, metric: Metric = IOPS, flow: str = "") -> str:
    """``peak 33.7k write IOPS at depth 64; 87 % of it at depth 16 (0.50 ms)``: where most of it is to be had.

    The ``flow`` is that of all I/Os; empty where there are several.
    """
    best = max(knee.points, key=lambda point: point.rate)
    enough = next(point for point in knee.points if point.rate >= OF_PEAK * best.rate)
    rate, of_flow = rate_text(knee, best.rate, metric), f" {flow}" if flow else ""
    what = rate.replace(" IOPS", f"{of_flow} IOPS") if rate.endswith(" IOPS") else f"{of_flow} {rate}".strip()
    peak = f"peak {what} at {axis.title} {best.label}"
    if enough is best:
        return f"{peak} ({units.latency(best.latency)})"
    share = f"{100 * enough.rate / best.rate:.0f} % of it"
    return f"{peak}; {share} at {axis.title} {enough.label} ({units.latency(enough.latency)})"


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
        why = f"throughput does not follow the {axis.title}: {named}"
    if knee.is_repeated:
        return f"{why}, within the spread of its runs" if problem == "not shown" else why
    return f"{why}; with {_once(knee)} this may be chance: repeat the runs"


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
    notes = []
    if knee.is_known and (first := knee.points[0]).in_flight > 1:
        notes.append(
            f"no run had fewer than {first.in_flight} I/Os in flight: where they wait for each other, "
            "the knee is lower than this"
        )
    if knee.is_known and knee.is_doubtful:
        notes.append(
            f"the best ratio of throughput to latency is at {axis.title} {knee.power.label}, more than a factor of two "
            "from the knee: the curve bends slowly, or twice"
        )
    return [*notes, *_little(knee, axis)]


def _little(knee: Knee, axis: Axis) -> list[str]:
    """Lines on points whose throughput times latency is not what was in flight."""
    texts: list[tuple[Callable[[float], bool], str]] = [
        (lambda share: share > 0, "part of each I/O's turn was spent in the client, outside the latency shown: "
         "throughput x latency (Little's law) is less than the depth. The CPU of the client may be the limit there: "
         "measure these points from more nodes"),
        (lambda share: share < 0, "throughput x latency (Little's law) is more than the depth: the rate changed during "
         "the run. Do not rely on these points: measure them again, for longer"),
    ]  # fmt: skip
    lines = []
    for applies, text in texts:
        if labels := [point.label for point in knee.unexplained if applies(point.unexplained)]:
            lines.append(f"at {axis.title} {', '.join(labels)}, {text}")
    return lines


_SAME = 0.1
"""A change of less counts as none."""
_REACHED = 0.98
"""Of the offered rate."""
_RATE, _MEAN, _P99 = (BY_NAME[name] for name in ("iops", "latency_mean_seconds", "latency_p99_seconds"))


def point_line(measured: Sequence[DepthRun]) -> str:
    """``depth 8: 6.10k IOPS, 1.30 ms, +38 %``: of the last, against the depth below it, or itself before."""
    *earlier, last = measured
    text = f"{units.iops(last.rate)} IOPS, {units.latency(last.latency)}"
    again = [point for point in earlier if point.depth == last.depth]
    below = [point for point in earlier if point.depth < last.depth]
    if again:
        return f"depth {last.depth} again: {text}, {_change(last.rate / again[0].rate)} from the first time"
    if not below:
        return f"depth {last.depth}: {text}"
    return f"depth {last.depth}: {text}, {_change(last.rate / max(below, key=lambda point: point.depth).rate)}"


def _change(ratio: float) -> str:
    percent = round(100 * (ratio - 1))
    return f"{percent:+d} %" if percent else "0 %"


def again_line(measured: Sequence[DepthRun]) -> str:
    """A line that says by how much the same depths gave other figures the second time; empty where they did not."""
    ratio = change_again(measured)
    if ratio is None:
        return ""
    low, high = ratio.interval(CONFIDENCE)
    if abs(ratio.value - 1) <= _SAME or low <= 1 <= high:
        return ""
    why = "filling up or throttling" if ratio.value < 1 else "warming up"
    percent = f"{_change(ratio.value)} IOPS at the same depths the second time"
    ends = f"95 %: {100 * (low - 1):+.0f} .. {100 * (high - 1):+.0f}"
    return f"{percent} ({ends}): the target may have been {why}, or other clients used it"


def confirmed_line(run: Run) -> str:
    """``at 80 % of peak (9.90k IOPS offered): 9.88k IOPS, mean 0.80 ms, p99 1.90 ms``."""
    load = load_of(run)
    offered = float(run.options.get("rate_iops", 0)) * (load.jobs if load else 1) * max(1, len(run.nodes))
    rates, means, p99s = (combined_figures([run], metric) for metric in (_RATE, _MEAN, _P99))
    figures = [f"{units.iops(rate)} IOPS" for rate in rates]
    figures += [
        f"{word} {units.latency(value)}" for word, values in (("mean", means), ("p99", p99s)) for value in values
    ]
    missed = "" if rates and rates[0] >= _REACHED * offered else ": less than offered, so I/Os waited"
    return f"at {100 * OF_PEAK:.0f} % of peak ({units.iops(offered)} IOPS offered): {', '.join(figures)}{missed}"
