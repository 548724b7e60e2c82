"""Findings about how it was measured: its length, its course, what was counted."""

from __future__ import annotations

from collections.abc import Sequence

from cephtui import units
from cephtui.models.findings.kind import LATENCIES, FindingKind, Values, says, worded

_FIO = "https://fio.readthedocs.io/en/latest/fio_doc.html"
_RADOS_BENCH = "https://docs.ceph.com/en/latest/man/8/rados/"
_HELD_UP = "look for slow operations and full pools: ceph health detail, ceph df"
_SLOW = "https://docs.ceph.com/en/latest/rados/troubleshooting/troubleshooting-osd/"


def _incomplete(values: Values) -> str:
    if values.get("in_ramp"):
        return "ended before the ramp was over: its figures are those of the ramp"
    if values.get("log"):
        return "incomplete: the log ends before the totals"
    if "measured_seconds" not in values:
        return "stopped before the ramp was over: nothing was measured"
    measured, wanted = values["measured_seconds"], values.get("wanted_seconds")
    if wanted and measured >= wanted - 0.05:
        return worded(
            "the run did not end by itself: {measured_seconds:.1f} s measured, {wanted_seconds:duration} wanted", values
        )
    of_wanted = worded(" of {wanted_seconds:duration}", values) if wanted else ""
    return f"incomplete: {measured:.1f} s{of_wanted} measured"


INCOMPLETE = FindingKind(
    "incomplete", "invalidates", "measurement", "incomplete", _incomplete,
    why="A run that was cut off misses what comes later, such as a full journal, a flush or a compaction.",
    cure="let the run end by itself", one_of_all=True,
)  # fmt: skip


def _short(values: Values) -> str:
    if "objects" in values:
        return worded(
            "ended after {measured_seconds:.1f} s of {wanted_seconds:.0f} s: all {objects:,} objects were written",
            values,
        )
    ending = "ended after {:.1f} s, when all data was done" if values.get("by_its_data") else "only {:.1f} s measured"
    return f"{ending.format(values['measured_seconds'])}: too short for caches to settle"


_MORE_OBJECTS = "choose a larger --max-objects, or leave it out"
_MORE_ROOM = (
    "free up space in the pool, use a larger pool, or choose a shorter runtime: cephtui lets a run fill at most half "
    "of the free space of its pool"
)


def _longer(values: Values) -> str:
    """The cure for a run that ended too soon: more time, more data, or, with rados bench, a pool with more room."""
    if "objects" in values:
        return _MORE_OBJECTS if values.get("imported") else _MORE_ROOM
    return "choose a larger size" if values.get("by_its_data") else "choose a longer runtime"


SHORT = FindingKind(
    "short", "limits", "measurement", "too short", _short,
    why="In the first seconds, caches and write buffers absorb what the disks can't keep up with, and few I/Os are "
    "counted: a longer run has other figures.",
    cure="choose a longer runtime; if the run ends with its data, a larger size; if it ends with its objects, a pool "
    "with more free space",
    cured=_longer, one_of_all=True,
)  # fmt: skip


def _change(base: float, value: float) -> str:
    """How far ``value`` is above or below ``base``, in percent of the base."""
    return "more than tenfold" if value >= 10 * base else f"{100 * abs(value - base) / base:.0f} %"


def _moved(values: Values) -> str:
    before, after = values["before"], values["after"]
    return f"{'rose' if after > before else 'fell'} by {_change(before, after)}"


_WAITED = "an operation took {slow_seconds:latency} on {slow_osd}, {stage_seconds:latency} of it {slow_stage}"


def _marked(values: Values) -> str:
    """``, 1 s after your mark "osd.1 frozen"``; empty without a mark."""
    if "mark" not in values:
        return ""
    later = values["from_seconds"] - values["marked_seconds"]
    when = f"{units.duration(later)} after" if later >= 1 else "at"
    return worded(f', {when} your mark "{{mark}}"', values)


def _explained(values: Values) -> str:
    """What was so at the same time, and explains it."""
    beside = f"meanwhile {'; '.join(values['beside'])}" if "beside" in values else ""
    waited = worded(_WAITED, values) if "slow_osd" in values else ""
    explanation = "; ".join(filter(None, (values.get("cause"), waited, beside)))
    return explanation or ("the cluster reported no reason" if values.get("unexplained") else "")


def _with_cause(text: str, values: Values) -> str:
    """A text with the user's mark before it, and what explains it."""
    return ": ".join(filter(None, (f"{text}{_marked(values)}", _explained(values))))


def _not_settled(values: Values) -> str:
    is_step = values["from_seconds"] == values["to_seconds"]
    when = worded("at {from_seconds:clock}" if is_step else "from {from_seconds:clock} to {to_seconds:clock}", values)
    whole, settled = values["whole"], values["settled"]
    off = f"{_change(settled, whole)} {'above' if whole > settled else 'below'} its last third"
    text = f"not settled: the whole run's mean is {off}; {values['figure']} {_moved(values)} {when}"
    return _with_cause(text, values)


NOT_SETTLED = FindingKind(
    "not-settled", "limits", "measurement", "not settled", _not_settled,
    label=lambda values: _moved(values).replace(" by", ""),
    why="When the level changes during a run, the mean depends on how long each level lasted and describes neither.",
    cure="choose a longer ramp_time or runtime",
)  # fmt: skip


def _level(values: Values, name: str) -> str:
    """A level of the run's figure: ``540``, ``732 MiB/s``."""
    return (units.bandwidth if values["figure"] == "bandwidth" else units.iops)(values[name])


def _no_ramp(values: Values) -> str:
    if "first" not in values:
        whether = worded("a run of {least_seconds:.0f} s or more would show whether they differ", values)
        return f"no ramp: the first seconds are included; {whether}"
    first, rest = values["first"], values["rest"]
    off = f"{_change(rest, first)} {'above' if first > rest else 'below'} the rest"
    return worded("no ramp: the first {first_seconds:.0f} s are included, with {figure} ", values) + off


NO_RAMP = FindingKind(
    "ramp", "note", "measurement", "no ramp", _no_ramp,
    why="In the first seconds caches fill and connections are made: a ramp leaves them out of the figures.",
    cure="set a ramp: --set ramp_time=10", source=f"{_FIO}#cmdoption-arg-ramp-time",
)  # fmt: skip


def _stalled(values: Values) -> str:
    if "times" in values:
        times = "once more" if values["times"] == 1 else f"{values['times']} more times"
        return worded(f"all I/O stopped {times}, for {{seconds:duration}} in all", values)
    where = worded(" on {nodes:listed}", values) if "nodes" in values else ""
    end = "the end" if values.get("to_the_end") else units.clock(values["to_seconds"])
    stall = worded(f"all I/O{where} stopped for {{seconds:duration}} ({{from_seconds:clock}} to {end})", values)
    return _with_cause(f"{stall}{' on every node' if values.get('everywhere') else ''}", values)


def _stalls(stalls: Sequence[Values]) -> str:
    """``stalls of 3 to 8 s on pve1, pve2``."""
    lengths = [values["seconds"] for values in stalls if "seconds" in values and "times" not in values]
    if not lengths:
        return ""
    least, most = units.duration(min(lengths)), units.duration(max(lengths))
    nodes = dict.fromkeys(node for values in stalls for node in values.get("nodes", ()))
    everywhere = any(values.get("everywhere") for values in stalls)
    place = " on every node" if everywhere else worded(" on {nodes:listed}", {"nodes": [*nodes]}) if nodes else ""
    lasted = most if least == most else f"{least.removesuffix(' s')} to {most}"
    return f"stalls of {lasted}{place}"


def _gap(values: Values) -> str:
    return worded("no I/O for {seconds:duration}", values)


STALLED = FindingKind(
    "stalled", "limits", "measurement", "no I/O", _stalled, label=_gap, summed=_stalls,
    slows=True,
    why="Clients wait for that time: the mean hides it, but the maximum latency and the gap in the chart show it.",
    cure="within 10 minutes, dump the slowest operations of the OSDs (ceph tell osd.N dump_historic_ops), or read "
    "their logs; without Ceph, read dmesg",
    source=_SLOW,
)  # fmt: skip


def _fallen(values: Values, when: str) -> str:
    levels = f"{values['figure']} fell from {_level(values, 'before')} to {_level(values, 'after')}"
    return _with_cause(f"{levels} {worded(when, values)}", values)


def _collapsed(values: Values) -> str:
    return _fallen(values, "at {from_seconds:clock} and stayed there")


def _dipped(values: Values) -> str:
    return _fallen(values, "between {from_seconds:clock} and {to_seconds:clock}")


def _fell(values: Values) -> str:
    return _moved(values).replace(" by", "")


COLLAPSE = FindingKind(
    "collapse", "limits", "measurement", "collapse", _collapsed, label=_fell,
    why="Something slowed the run from then on: the mean shows neither the normal nor the slowed rate.",
    cure="find what began at that time: load and network of the nodes, a full or throttled disk, ceph health detail; "
    "then measure again",
)  # fmt: skip
DIP = FindingKind(
    "dip", "limits", "measurement", "dip", _dipped, label=_fell,
    slows=True,
    why="The mean includes a time when something else used the cluster, and depends on how long that lasted.",
    cure="find what ran at that time (scrubs, backups, other clients, jobs on the nodes), and measure again",
)  # fmt: skip


def _saw(values: Values) -> str:
    levels = f"{values['figure']} fell from {_level(values, 'high')} to {_level(values, 'low')}"
    times = worded("from {from_seconds:clock} to {to_seconds:clock}", values)
    return _with_cause(f"{levels} and rose again about every {values['period_seconds']:.0f} s, {times}", values)


SAW = FindingKind(
    "saw", "limits", "measurement", "falls and rises", _saw,
    slows=True,
    why="The mean describes neither level: it depends on which part of the cycles the run happened to cover.",
    cure="find what happens at the same interval: a rate limit with bursts, CPU throttling, write-back or compaction "
    "of the OSDs, a job on a node; or measure over many cycles",
)  # fmt: skip
DEVIATION = FindingKind(
    "deviation", "limits", "measurement", "uneven",
    lambda values: _with_cause(
        worded("the standard deviation of {figure} between seconds is {share_percent:.0f} % of the "
            "mean", values),
        values,
    ),
    why="With seconds so different, the mean says little, and the next run has another mean.",
    cure="see in the chart when the rate drops, and measure for longer",
)  # fmt: skip
STUCK = FindingKind(
    "stuck", "limits", "measurement", "stuck",
    lambda values: worded("no I/O completed in the last {seconds:.0f} s", values)
    + (": the pool may be full or over its quota" if values.get("writes") else ""),
    why="The run ended while I/O was waiting: these I/Os count in the run time, but in no other figure.",
    cure=_HELD_UP, source=_SLOW,
)  # fmt: skip


def _in_flight(values: Values) -> str:
    missing = values["missing_ios"]
    were = "1 I/O was" if abs(missing) == 1 else f"{abs(missing)} I/Os were"
    when = "as the ramp ended" if missing > 0 else "at the end and did not complete"
    off = units.percent(100 * abs(missing) / values["ios"])
    return f"IOPS and bandwidth disagree by {off}: {were} in flight {when}"


IN_FLIGHT = FindingKind(
    "in-flight", "limits", "measurement", "IOPS and bytes differ", _in_flight, figures=("iops",),
    why="fio counts an I/O when it is submitted, and its bytes when it completes: I/Os in flight at the end of the "
    "ramp count only in the bytes, and I/Os in flight at the end only in the IOPS.",
    cure="choose a longer runtime, or use the bandwidth", one_of_all=True,
    source=f"{_FIO}#cmdoption-arg-ramp-time",
)  # fmt: skip
OVERRUN = FindingKind(
    "overrun", "limits", "measurement", "measured too long",
    says(
        "measured {measured_seconds:duration} instead of {wanted_seconds:duration}: between two passes gosbench writes "
        "the deleted objects again, one after the other, and checks the time only after that"
    ),
    why="The measured time has pauses without any operation in it.",
    cure="measure DELETE with more objects, so that one pass lasts for the whole run",
)  # fmt: skip
RATE_LIMITED = FindingKind(
    "rate-limited", "limits", "measurement", "rate limited",
    says("limited to {options} by the preset: this is not what the pool can do"),
    slows=True,
    why="The figure is the requested rate, even if the pool can do more.",
    cure="set a higher rate to see what the pool can do", source=_RADOS_BENCH,
)  # fmt: skip
RATE_SET = FindingKind(
    "rate-set", "note", "measurement", "rate set",
    says("limited to {options} by an option: this is not what the target can do"),
    why="IOPS and bandwidth are the requested rate; the latency is that at this rate.",
    cure="leave the rate out to see what the target can do",
    source=f"{_FIO}#cmdoption-arg-rate-iops",
)  # fmt: skip
NO_SECONDS = FindingKind(
    "no-seconds", "limits", "measurement", "no seconds", figures=("seconds",),
    words=says("rbd printed nothing for {seconds:.0f} s: the course of the run is unknown"),
    why="Without figures per second, pauses, drift and bursts can't be seen.",
    cure=_HELD_UP, source=_SLOW,
)  # fmt: skip
COARSE = FindingKind(
    "coarse", "limits", "measurement", "coarse latency", figures=LATENCIES,
    words=says(
        "percentiles are upper bounds, the true ones may be half of that (below 3 ms and above 4 s even less): "
        "gosbench counts times in whole ms, in ranges that double from 2 ms to 4096 ms; the time of a PUT includes "
        "generating its data"
    ),
    why="Latencies of gosbench can only be compared with each other, and small changes don't show.",
    cure="measure latency with hsbench, and for GET with small objects",
)  # fmt: skip
FIRST_BYTE = FindingKind(
    "first-byte", "limits", "measurement", "time to first byte", figures=LATENCIES, flow="read",
    words=says("the latency of GET ends with the headers of the response: it is the time to first byte"),
    why="It does not include the transfer of the object, which takes most of the time for large objects.",
    cure="use the bandwidth for GET, or measure latency with small objects",
)  # fmt: skip
UNREADABLE = FindingKind(
    "unreadable", "limits", "measurement", "reports unreadable",
    says("{reports} progress reports of fio could not be read; their seconds are merged with the next"),
    why="Merged seconds hide the differences between them.",
    cure="measure again; the raw output is in the session",
)  # fmt: skip


def _errors(values: Values) -> str:
    number = values["failed"]
    requests = "1 request" if number == 1 else f"{number} requests"
    why = f" ({values['why']})" if "why" in values else ""
    text = f"{values['operation']}: {requests} failed{why}"
    least, most = values.get("threads_least", 0), values.get("threads_most", 0)
    if not most:
        return text
    ended = str(most) if least == most else f"{least} to {most}"
    return f"{text}: {ended} of {values['threads']} threads ended early, after three errors each"


ERRORS = FindingKind(
    "errors", "limits", "measurement", "requests failed", _errors,
    why="Failed requests are often faster than successful ones, and threads that end early reduce the load.",
    cure="find the reason in the log of the gateway, and measure again",
)  # fmt: skip
FAILED_OPS = FindingKind(
    "failed-ops", "limits", "measurement", "operations failed",
    lambda values: worded(
        "{failed:,} {operation} failed ({share_percent:percent}), counted in {figures}"
        + ("; the first error: {why}" if "why" in values else ""), values
    ),
    why="The figures include the times of failed operations.",
    cure="find the reason in the log of the gateway, and measure again",
)  # fmt: skip
ERRORS_COUNTED = FindingKind(
    "errors-counted", "limits", "measurement", "errors may be counted",
    says("fio's rados engine counts failed operations as I/O: these may be the figures of errors"),
    why="Operations that fail at once make figures that no cluster can reach.",
    cure="measure with rados bench or fio's rbd engine, which report errors",
)  # fmt: skip


def _above(values: Values) -> str:
    return worded(
        "{direction} bandwidth {measured:bandwidth} is above its ceiling by the {limit}, {at_most:bandwidth} ({basis})",
        values,
    )


ABOVE_CEILING = FindingKind(
    "above-ceiling", "limits", "measurement", "above its ceiling", _above,
    why="Nothing is faster than what it passes through: either some of the data did not pass it, as with caches, "
    "compressed or thin data, or the ceiling is wrong, for example because it was measured on a busy cluster.",
    cure="measure the ceiling again: cephtui ceilings --again",
)  # fmt: skip
