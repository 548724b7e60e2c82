"""A sweep of the depth in words: each point, what the way back shows, how long it may take, and what confirms it."""

from __future__ import annotations

from collections.abc import Sequence

from cephtui import units
from cephtui.analysis.runs.batches import CONFIDENCE
from cephtui.analysis.runs.facts import load_of
from cephtui.analysis.verdicts.knee import OF_PEAK, combined_figures
from cephtui.analysis.verdicts.sweep import DepthRun, change_again
from cephtui.models import Run
from cephtui.models.metrics import BY_NAME

_SAME = 0.1
"""A change of less counts as none."""
_REACHED = 0.98
"""Of the offered rate."""
_RATE, _MEAN, _P99 = (BY_NAME[name] for name in ("iops", "latency_mean_seconds", "latency_p99_seconds"))


def point_line(measured: Sequence[DepthRun]) -> str:
    """``depth 8: 6.10k IOPS, 1.30 ms, +38 %``: of the last, against the depth below it, or itself before."""
    *earlier, last = measured
    text = f"{units.iops(last.rate)} IOPS, {units.latency(last.latency)}"
    again = [each for each in earlier if each.depth == last.depth]
    below = [each for each in earlier if each.depth < last.depth]
    if again:
        return f"depth {last.depth} again: {text}, {_change(last.rate / again[0].rate)} from the first time"
    if not below:
        return f"depth {last.depth}: {text}"
    return f"depth {last.depth}: {text}, {_change(last.rate / max(below, key=lambda each: each.depth).rate)}"


def _change(ratio: float) -> str:
    percent = round(100 * (ratio - 1))
    return f"{percent:+d} %" if percent else "0 %"


def again_line(measured: Sequence[DepthRun]) -> str:
    """Where the same depths gave other figures the second time; empty where they did not."""
    ratio = change_again(measured)
    if ratio is None:
        return ""
    low, high = ratio.interval(CONFIDENCE)
    if abs(ratio.value - 1) <= _SAME or low <= 1 <= high:
        return ""
    why = "filling up or throttling" if ratio.value < 1 else "warming up"
    percent = f"{_change(ratio.value)} IOPS at the same depths the second time"
    ends = f"95 %: {100 * (low - 1):+.0f} .. {100 * (high - 1):+.0f}"
    return f"{percent} ({ends}): the target may have been {why}, or others had a share of it"


def confirmed_line(run: Run) -> str:
    """``at 80 % of peak (9.90k IOPS offered): 9.88k IOPS, mean 0.80 ms, p99 1.90 ms``."""
    load = load_of(run)
    offered = float(run.options.get("rate_iops", 0)) * (load.jobs if load else 1) * max(1, len(run.nodes))
    rates, means, p99s = (combined_figures([run], metric) for metric in (_RATE, _MEAN, _P99))
    figures = [f"{units.iops(rate)} IOPS" for rate in rates]
    figures += [f"{word} {units.latency(value)}" for word, found in (("mean", means), ("p99", p99s)) for value in found]
    missed = "" if rates and rates[0] >= _REACHED * offered else ": less than was offered, so I/Os have waited"
    return f"at {100 * OF_PEAK:.0f} % of peak ({units.iops(offered)} IOPS offered): {', '.join(figures)}{missed}"
