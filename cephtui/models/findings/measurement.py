"""Findings about how it was measured: its length, its course, what was counted."""

from __future__ import annotations

from collections.abc import Sequence

from cephtui import units
from cephtui.models.findings.kind import LATENCIES, FindingKind, Values, says, worded

_FIO = "https://fio.readthedocs.io/en/latest/fio_doc.html"
_RADOS_BENCH = "https://docs.ceph.com/en/latest/man/8/rados/"
_HELD_UP = "look for slow operations and for full pools: ceph health detail, ceph df"
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
            "it did not end by itself: {measured_seconds:.1f} s measured, {wanted_seconds:duration} wanted", values
        )
    of_wanted = worded(" of {wanted_seconds:duration}", values) if wanted else ""
    return f"incomplete: {measured:.1f} s{of_wanted} measured"


INCOMPLETE = FindingKind(
    "incomplete", "invalidates", "measurement", "incomplete", _incomplete,
    why="A run that was cut off has not seen what comes later, such as a full journal, a flush or a compaction.",
    cure="let the run end by itself", one_of_all=True,
)  # fmt: skip


def _short(values: Values) -> str:
    if "objects" in values:
        return worded(
            "ended after {measured_seconds:.1f} s of {wanted_seconds:.0f} s: all {objects:,} objects were written",
            values,
        )
    ending = "ended with its data after {:.1f} s" if values.get("by_its_data") else "only {:.1f} s measured"
    return f"{ending.format(values['measured_seconds'])}: too short for caches to settle"


_MORE_OBJECTS = "choose a larger --max-objects, or leave it out"
_MORE_ROOM = (
    "make room in the pool, use a pool with more room, or choose a shorter runtime: cephtui lets a run fill no more "
    "than half of the room of its pool"
)


def _longer(values: Values) -> str:
    """The cure for a run that ended too soon: more time, more data, or, with rados bench, a pool with more room."""
    if "objects" in values:
        return _MORE_OBJECTS if values.get("imported") else _MORE_ROOM
    return "choose a larger size" if values.get("by_its_data") else "choose a longer runtime"


SHORT = FindingKind(
    "short", "limits", "measurement", "too short", _short,
    why="In the first seconds caches and write buffers take what the disks can't keep up with, and few I/Os are "
    "counted: a longer run has other figures.",
    cure="choose a longer runtime; where the run ends with its data a larger size; where it ends with its objects a "
    "pool with more room",
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
    return explanation or ("nothing that the cluster reported explains it" if values.get("unexplained") else "")


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
    why="The mean of a run whose level changes belongs to neither level: how long each lasted decides it.",
    cure="choose a longer ramp_time or runtime",
)  # fmt: skip


def _level(values: Values, name: str) -> str:
    """A level of the run's figure: ``540``, ``732 MiB/s``."""
    return (units.bandwidth if values["figure"] == "bandwidth" else units.iops)(values[name])


def _no_ramp(values: Values) -> str:
    if "first" not in values:
        whether = worded("runs of {least_seconds:.0f} s or more tell whether they differ", values)
        return f"no ramp: the first seconds are in the figures; {whether}"
    first, rest = values["first"], values["rest"]
    off = f"{_change(rest, first)} {'above' if first > rest else 'below'} the rest"
    return worded("no ramp: the first {first_seconds:.0f} s count too, in {figure} ", values) + off


NO_RAMP = FindingKind(
    "ramp", "note", "measurement", "no ramp", _no_ramp,
    why="Caches fill and connections are made in the first seconds: a ramp leaves these out of the figures.",
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
    why="Clients wait as long: the mean hides it, the greatest latency and the gap in the chart show it.",
    cure="ask the OSDs within 10 minutes for their slowest operations, ceph tell osd.N dump_historic_ops, or look into "
    "their logs; outside of Ceph look into dmesg",
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
    why="Something slowed the run from then on: its mean is neither what the cluster can do nor what it does once "
    "slowed.",
    cure="look for what began then: load and network of the nodes, a disk that is full or throttled, ceph health "
    "detail; measure again without it, or from then on",
)  # fmt: skip
DIP = FindingKind(
    "dip", "limits", "measurement", "dip", _dipped, label=_fell,
    slows=True,
    why="The mean has a time in it in which something took its part: how long that lasted decides the figure.",
    cure="look for what ran at that time: scrubs, backups, other clients, jobs on the nodes; measure again",
)  # fmt: skip


def _saw(values: Values) -> str:
    levels = f"{values['figure']} fell from {_level(values, 'high')} to {_level(values, 'low')}"
    times = worded("from {from_seconds:clock} to {to_seconds:clock}", values)
    return _with_cause(f"{levels} and rose again about every {values['period_seconds']:.0f} s, {times}", values)


SAW = FindingKind(
    "saw", "limits", "measurement", "falls and rises", _saw,
    slows=True,
    why="The mean belongs to neither level: the part of the cycles that a run happens to have decides it.",
    cure="look for what comes as often: a rate limit that allows bursts, CPU that is throttled, write-back and "
    "compaction of the OSDs, a job on a node; or measure for many such cycles",
)  # fmt: skip
DEVIATION = FindingKind(
    "deviation", "limits", "measurement", "seconds differ",
    lambda values: _with_cause(
        worded("the seconds differ: the standard deviation of {figure} is {share_percent:.0f} % of the mean", values),
        values,
    ),
    why="A mean of seconds so different says little about any of them, and another run has another mean.",
    cure="look at the chart for when it falls, and measure for longer",
)  # fmt: skip
STUCK = FindingKind(
    "stuck", "limits", "measurement", "stuck",
    lambda values: worded("nothing was completed in the last {seconds:.0f} s", values)
    + (": the pool may be full or over its quota" if values.get("writes") else ""),
    why="The run ended while I/O was waiting: what it waited for is in none of its figures but the time.",
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
    why="fio counts an I/O when it begins and its bytes when it ends: what was in flight at the end of the ramp is in "
    "the bytes alone, and what was in flight at the end in the I/Os alone.",
    cure="choose a longer runtime, or bandwidth as the figure", one_of_all=True,
    source=f"{_FIO}#cmdoption-arg-ramp-time",
)  # fmt: skip
OVERRUN = FindingKind(
    "overrun", "limits", "measurement", "measured too long",
    says(
        "measured {measured_seconds:duration} instead of {wanted_seconds:duration}: gosbench writes what DELETE has "
        "removed again between two passes over its objects, one after the other, and looks at the time only then"
    ),
    why="What was measured meanwhile has pauses in which nothing was measured.",
    cure="measure DELETE with more objects, so that one pass lasts for the whole time",
)  # fmt: skip
RATE_LIMITED = FindingKind(
    "rate-limited", "limits", "measurement", "rate limited",
    says("held at {options}, which the preset has: this is no measure of what the pool can do"),
    slows=True,
    why="The figure is the rate that was asked for, however much more the pool can do.",
    cure="set a higher rate to see what the pool can do", source=_RADOS_BENCH,
)  # fmt: skip
RATE_SET = FindingKind(
    "rate-set", "note", "measurement", "rate set",
    says("held at {options}, as it was set: this is no measure of what the target can do"),
    why="The IOPS and the bandwidth are the rate that was asked for; the latency is that at this rate.",
    cure="leave the rate out to see what the target can do",
    source=f"{_FIO}#cmdoption-arg-rate-iops",
)  # fmt: skip
NO_SECONDS = FindingKind(
    "no-seconds", "limits", "measurement", "no seconds", figures=("seconds",),
    words=says("rbd printed nothing in its {seconds:.0f} s: nothing is known of each second"),
    why="Without sums by second a pause, a drift or a limit in bursts leaves no sign.",
    cure=_HELD_UP, source=_SLOW,
)  # fmt: skip
COARSE = FindingKind(
    "coarse", "limits", "measurement", "coarse latency", figures=LATENCIES,
    words=says(
        "percentiles are upper bounds, the true ones may be half as long, below 3 ms and above 4 s any part of it: "
        "gosbench cuts times to whole ms and counts them in ranges that double from 2 ms to 4096 ms; the time of a PUT "
        "has the making of its data in it"
    ),
    why="Latencies of this tool compare with its own only, and small changes of them do not show.",
    cure="measure latency with hsbench, that of GET with small objects",
)  # fmt: skip
FIRST_BYTE = FindingKind(
    "first-byte", "limits", "measurement", "time to first byte", figures=LATENCIES, flow="read",
    words=says("latency of GET ends with the headers of the answer: it is the time to the first byte"),
    why="The transfer of the object is not in it: of large objects that is most of the time.",
    cure="take bandwidth as the figure of GET, or measure latency with small objects",
)  # fmt: skip
UNREADABLE = FindingKind(
    "unreadable", "limits", "measurement", "reports unreadable",
    says("{reports} of fio's progress reports could not be read; their seconds are joined to the next"),
    why="A second that is joined to the next hides how the two differed.",
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
    return f"{text}: {ended} of {values['threads']} threads ended early, each with its third error"


ERRORS = FindingKind(
    "errors", "limits", "measurement", "requests failed", _errors,
    why="A request that fails is often faster than one that does its work, and threads that end early leave less load.",
    cure="look at the log of the gateway for the reason, and measure again",
)  # fmt: skip
FAILED_OPS = FindingKind(
    "failed-ops", "limits", "measurement", "operations failed",
    lambda values: worded(
        "{failed:,} {operation} failed ({share_percent:percent}), counted in {figures}"
        + ("; the first error: {why}" if "why" in values else ""), values
    ),
    why="The times of operations that failed are among those of the others.",
    cure="look at the log of the gateway for the reason, and measure again",
)  # fmt: skip
ERRORS_COUNTED = FindingKind(
    "errors-counted", "limits", "measurement", "errors may be counted",
    says("fio's rados engine counts operations that failed as I/O: these may be the figures of errors"),
    why="An operation that fails at once makes figures that no cluster can have.",
    cure="measure with rados bench or fio's rbd engine, which report errors",
)  # fmt: skip


def _above(values: Values) -> str:
    return worded(
        "{direction} bandwidth {measured:bandwidth} is above its ceiling by the {limit}, {at_most:bandwidth} ({basis})",
        values,
    )


ABOVE_CEILING = FindingKind(
    "above-ceiling", "limits", "measurement", "above its ceiling", _above,
    why="Nothing is faster than what it passes through: either not all of the figure has passed it, as with caches, "
    "compressed or thin data, or the ceiling is wrong, as where it was measured while something else held it back.",
    cure="measure again what the ceiling rests on: cephtui ceilings --again",
)  # fmt: skip
