"""Findings about the cluster: its state before a run, and what happened in it during the run."""

from __future__ import annotations

import math
from collections.abc import Callable

from cephtui.models.findings.kind import (
    FindingKind,
    Value,
    Values,
    joined_words,
    says,
    slow_label,
    were_slow,
    worded,
)
from cephtui.units import clock, percent, times

_DOCS = "https://docs.ceph.com/en/latest/rados"
_HEALTH = f"{_DOCS}/operations/health-checks/"
_PGS = f"{_DOCS}/operations/pg-states/"
_PG_COUNT = f"{_DOCS}/operations/placement-groups/"
NO_SCRUBS, _NO_TRIM = ("noscrub", "nodeep-scrub"), "nosnaptrim"
_CLEARED = "clear the flag, or measure both sides with it"


def _when(values: Values) -> str:
    begin, early = clock(values["from_seconds"]), values.get("early")
    if values.get("to_the_end"):
        return "during the whole run" if early else f"from {begin} to the end"
    over = clock(values["to_seconds"])
    return f"until {over}" if early else f"from {begin} to {over}"


def _course(state: Callable[[Values], str]) -> Callable[[Values], str]:
    """Words for a state that the cluster reported for some time, made of the words for the state."""

    def words(values: Values) -> str:
        if joined := joined_words(values):
            return joined
        times = f" {values['times']} times" if "times" in values else ""
        when = f" {_when(values)}" if "from_seconds" in values else ""
        details = worded(": {details:listed}", values) if values.get("details") else ""
        return f"{state(values)}{times}{when}{details}"

    return words


def _is_during(values: Values) -> bool:
    return "from_seconds" in values


def _pgs(rest: str) -> Callable[[Values], str]:
    """``up to 4 of 32 PGs were not active``."""

    def state(values: Values) -> str:
        number, of = values["pgs"], values["of"]
        if number == 1:
            return f"1 of {of} PGs was {rest.format_map(values)}"
        most = "up to " if _is_during(values) else ""
        return f"{most}{number} of {of} PGs were {rest.format_map(values)}"

    return state


def _osds(word: str) -> Callable[[Values], str]:
    """``osd.2 was down``; ``2 of 3 OSDs of the cluster were down``, whichever of them have PGs of the pool."""

    def state(values: Values) -> str:
        if "osd" in values:
            return f"{values['osd']} was {word}"
        number = values["osds"]
        return f"{number} of {values['of']} OSDs of the cluster {'was' if number == 1 else 'were'} {word}"

    return state


def _osd_label(word: str) -> Callable[[Values], str]:
    return lambda values: f"{values['osd']} {word}" if "osd" in values else _counted_osds(values.get("osds"), word)


def _counted_osds(number: Value | None, word: str) -> str:
    return f"{number or ''} OSD{'s' * (number not in (None, 1))} {word}".strip()


def _healthy(values: Values) -> str:
    """Words for a health that is not OK; the checks follow, and where none is known, neither is the reason."""
    if not str(values["status"]).startswith("HEALTH_"):
        return "the health of the cluster was not known"
    return worded(
        "the cluster was {status}" if values.get("details") else "the cluster was {status} (reason unknown)", values
    )


def _until_healthy(values: Values) -> str:
    when = "these health checks are gone" if values.get("details") else "the cluster is HEALTH_OK"
    return f"measure again when {when}: ceph health detail"


_HEALTHY = _course(_healthy)
HEALTH_SPEED = FindingKind(
    "health-speed", "limits", "cluster", "health", _HEALTHY, label=lambda values: values["status"],
    why="The health checks named here cost speed, or may: missing or moving copies, OSDs, MDSs, disks and networks "
    "that are down, full or slow, and checks that cephtui does not know. Without a named check, the reason why the "
    "cluster was not HEALTH_OK is unknown and may cost speed.",
    cure="measure again when ceph health detail shows no check that costs speed", source=_HEALTH,
    cured=_until_healthy,
)  # fmt: skip
HEALTH_OTHER = FindingKind(
    "health-other", "note", "cluster", "health", _HEALTHY, label=lambda values: values["status"],
    why="These health checks don't affect speed, concern the setup of the cluster, or report slow operations and reads "
    "of the last 24 h (by default), which may have happened before the run.",
    cure="for slow operations or reads, find the slow OSD: ceph health detail; the other checks don't change the "
    "figures", source=_HEALTH,
)  # fmt: skip
OSDS = FindingKind(
    "osds", "note", "cluster", "OSDs out",
    lambda values: f"{_osds('out')(values)}: the other OSDs do {'its' if values['osds'] == 1 else 'their'} work",
    why="The figures are those of the remaining OSDs.",
    cure="compare only with runs that had the same number of OSDs in", source=f"{_DOCS}/operations/monitoring-osd-pg/",
)  # fmt: skip
OSD_DOWN = FindingKind(
    "osd-down", "limits", "cluster", "OSD down", _course(_osds("down")), label=_osd_label("down"),
    why="The PGs of an OSD that is down peer again and then have fewer copies. After mon_osd_down_out_interval (600 s "
    "by default; never with noout) the OSD is marked out, and the other OSDs begin to recover its data. An OSD that "
    "comes up before that is brought up to date during the run.",
    cure="measure again with all OSDs up and in", source=f"{_HEALTH}#osd-down",
)  # fmt: skip
OSD_OUT = FindingKind(
    "osd-out", "limits", "cluster", "OSD out", _course(_osds("out")), label=_osd_label("out"),
    why="The PGs of an OSD that is out move to the other OSDs during the run, which also take over its work.",
    cure="measure again with all OSDs up and in", source=f"{_DOCS}/operations/monitoring-osd-pg/",
)  # fmt: skip
PGS = FindingKind(
    "pgs", "limits", "cluster", "PGs not clean", _course(_pgs("not active+clean")),
    label=lambda values: "PGs degraded" if values.get("degraded") else "PGs not clean",
    why="PGs with missing or misplaced copies take other write paths, and the same disks have to recover and move data "
    "(for an OSD that is down, once it is marked out).",
    cure="wait until all PGs are active+clean", source=_PGS,
)  # fmt: skip
_INACTIVE = "I/O to a PG waits until the PG is active."
PGS_INACTIVE = FindingKind(
    "pgs-inactive", "limits", "cluster", "PGs not active", _course(_pgs("not active")),
    slows=True,
    why=_INACTIVE, cure="wait until all PGs are active+clean", source=_PGS,
)  # fmt: skip
PGS_MOSTLY_INACTIVE = FindingKind(
    "pgs-mostly-inactive", "invalidates", "cluster", "PGs not active", _course(_pgs("not active")),
    why=f"{_INACTIVE} For more than a tenth of the time, the run measured that wait.",
    cure="wait until all PGs are active+clean", source=_PGS,
)  # fmt: skip


def _split(values: Values) -> str:
    what = "split" if values["after"] > values["before"] else "merged"
    counts = worded("from {before} to {after}", values)
    if "pool" in values:
        return worded("PGs of pool {pool} were being ", values) + f"{what}, {counts}: that moves data"
    begin, over = values["from_seconds"], values["to_seconds"]
    to = f" to {clock(over)}" if over > begin else ""
    return f"PGs of a pool were being {what}, {counts} in the cluster, at {clock(begin)}{to}: that moves data"


PGS_SPLIT = FindingKind(
    "pgs-split", "limits", "cluster", "PGs split", _split,
    label=lambda values: "PGs split" if values["after"] > values["before"] else "PGs merged",
    why="A PG pauses while it is split or merged, and its data moves to other OSDs during the run.",
    cure="set pg_autoscale_mode to off while you measure, and wait until the PGs have moved", source=_PG_COUNT,
)  # fmt: skip
AUTOSCALE = FindingKind(
    "autoscale", "note", "cluster", "autoscale on",
    says("pool {pool} has pg_autoscale_mode on: its number of PGs may change between runs"),
    why="A pool with another number of PGs performs differently: figures from before and after can't be compared.",
    cure="set pg_autoscale_mode to off while you measure", source=_PG_COUNT,
)  # fmt: skip


def _recovery(values: Values) -> str:
    if _is_during(values):
        return worded("recovery of up to {rate_bytes:bandwidth}", values)
    ratios = ((values.get("degraded_ratio", 0.0), "degraded"), (values.get("misplaced_ratio", 0.0), "misplaced"))
    parts = [f"{percent(100 * ratio)} {word}" for ratio, word in ratios if ratio > 0]
    rate = worded("recovery of {rate_bytes:bandwidth}", values) if "rate_bytes" in values else ""
    return ", ".join(filter(None, (f"of the objects {' and '.join(parts)}" if parts else "", rate)))


RECOVERY = FindingKind(
    "recovery", "limits", "cluster", "recovery", _course(_recovery),
    label=lambda values: worded("recovery {rate_bytes:bandwidth}", values) if "rate_bytes" in values else "recovery",
    why="Recovery and backfill use the same disks and links.",
    cure="wait until recovery is complete", source=f"{_DOCS}/configuration/mclock-config-ref/",
)  # fmt: skip


def _scrub(values: Values) -> str:
    return _pgs("being {scrubbed}")({"scrubbed": "scrubbed", **values}) + (
        "" if _is_during(values) else ", which reads from the same disks"
    )


def _kept(flag: str) -> str:
    """The cure for a flag that keeps work of the cluster out of runs: set it on both sides, remove it afterwards."""
    return f"measure both sides with {flag} set, and clear the flag afterwards"


SCRUB = FindingKind(
    "scrub", "limits", "cluster", "scrub", _course(_scrub),
    slows=True,
    why="A scrub reads from the same disks; a deep scrub reads all data of the PG.",
    cure="measure both sides with --quiet-cluster, which sets noscrub and nodeep-scrub and waits for running scrubs",
    source=f"{_DOCS}/configuration/osd-config-ref/#scrubbing",
)  # fmt: skip
SNAPTRIM = FindingKind(
    "snaptrim", "limits", "cluster", "snapshots trimmed", _course(_pgs("trimming snapshots")),
    slows=True,
    why="The same disks delete the data that only a deleted snapshot used.",
    cure=f"wait until no PG is in snaptrim, or {_kept(_NO_TRIM)}", source=_PGS,
)  # fmt: skip


def _flag_cure(values: Values) -> str:
    """The cure for several flags, or for flags that an earlier cephtui has not named: what is true for any flag."""
    flag = values.get("flag")
    if flag is None or "things" in values:
        return f"{_kept('noscrub, nodeep-scrub or nosnaptrim')}; {_CLEARED.replace('the flag', 'any other flag')}"
    return _kept(str(flag)) if flag in (*NO_SCRUBS, _NO_TRIM) else _CLEARED


FLAG = FindingKind(
    "flag", "note", "cluster", "flag set", _course(says("the cluster's flag {flag} was set")),
    label=says("{flag} set"),
    why="A cluster flag blocks what it names: pause blocks all client I/O, noscrub blocks scrubs.",
    cure=_flag_cure({}), source=f"{_HEALTH}#osdmap-flags", cured=_flag_cure,
)  # fmt: skip
SLOW_OPS = FindingKind(
    "slow-ops", "limits", "cluster", "slow ops", _course(says("up to {operations} operations were slow")),
    slows=True,
    why="Operations that take longer than osd_op_complaint_time (30 s by default) are blocked by something: a disk, a "
    "PG, another OSD.",
    cure="find the slow OSD: ceph health detail", source=f"{_HEALTH}#slow-ops",
)  # fmt: skip


def _slow_osd(values: Values) -> str:
    slow = were_slow(values, "osd", "osds")
    are_several = "osds" in values
    they = "they" if are_several else "it"
    named = {**values, "whose": "their" if are_several else "its", "how": " (median)" if are_several else ""}
    if "late" in values:
        answers = worded("{late} of {answers} requests for {whose} counters only after {late_seconds:latency}", named)
        return f"{slow}: {they} answered {answers} or more, the other OSDs hardly ever"
    if "answer_seconds" in values:
        took = "{answer_seconds:latency} (median) for requests for {whose} counters, the other OSDs at most"
        return f"{slow} to answer: {worded(took, named)} {worded('{others:latency}', values)}"
    for name, took in (("commit_seconds", "a commit took"), ("read_seconds", "reading took")):
        if name in values:
            there = worded(f"{{{name}:latency}} there, {{others:latency}} on the other OSDs", named)
            return f"{slow}: {took} {there} (median)"
    took = worded("{seconds:latency}{how}, ", named)
    others = worded("the median of the other OSDs, {others:latency}", values)
    return f"{slow}: {named['whose']} operations took {took}{_longer(values)} {others}{_slow_part(values)}"


_PARTS = {"commit": "a commit took", "read": "reading took", "queue": "operations waited for a worker thread for"}
"""Where the time of a slow OSD's operations goes."""


def _slow_part(values: Values) -> str:
    if values.get("part") not in _PARTS:
        return ""
    took = worded("{part_seconds:latency} there, {part_others:latency} on the others", values)
    return f"; {_PARTS[values['part']]} {took}"


def _longer(values: Values) -> str:
    return times(values["seconds"] / values["others"])


def _busy_osd(values: Values) -> str:
    if "objects" in values:
        took = worded("{osd} took {seconds:latency} for an operation, the other OSDs {others:latency}", values)
        objects = f"it has only about {values['objects']} objects of this run"
        return f"{took} (median): {objects}, and operations on the same object wait for each other"
    more = f"{values['osd']} had {percent(100 * values['share'])} of the operations, {times(values['more'])} as many"
    latencies = worded("{seconds:latency}, the others {others:latency}", values)
    return f"{more} as the other OSDs (median), and took {_longer(values)} as long: {latencies}"


def _slow_osd_cure(values: Values) -> str:
    return _PART_CURES.get(str(values.get("part")), SLOW_OSD.cure)


_PART_CURES = {
    "commit": "check the disk of that OSD: smartctl -a, iostat -x, ceph tell osd.N bench",
    "queue": "check the CPU of that OSD and of its host: top, the CPU quota of its cgroup, other daemons on the host",
}
SLOW_OSD = FindingKind(
    "slow-osd", "limits", "cluster", "slow OSD", _slow_osd,
    label=slow_label("osd", "osds"),
    slows=True,
    why="Every client waits for the slowest OSD that holds its data: the figures are those of one disk or one host "
    "rather than those of the cluster.",
    cure="check that OSD: its disk (smartctl -a, iostat -x), its host, ceph tell osd.N bench; if it answers slowly, or "
    "if several OSDs of one host are slow, check the host and its link (cephtui run network)",
    cured=_slow_osd_cure,
    source=f"{_DOCS}/troubleshooting/troubleshooting-osd/",
)  # fmt: skip


def _busy_osd_cure(values: Values) -> str:
    return "choose a larger size: more objects use more PGs" if "objects" in values else BUSY_OSD.cure


BUSY_OSD = FindingKind(
    "busy-osd", "note", "cluster", "busy OSD", _busy_osd,
    label=says("{osd} busy"),
    why="The PGs of the pool, or their primaries, are spread unevenly over the OSDs: the OSD with the most of them is "
    "saturated first, and every client waits for it. An OSD does the operations of one PG one after the other, so "
    "little data on few PGs has the same effect. The figures are true for this pool and this data.",
    cure="see how PGs are spread: ceph osd df; more PGs, or the balancer, spread the work: ceph balancer status",
    cured=_busy_osd_cure,
    source=f"{_DOCS}/operations/balancer/",
)  # fmt: skip


def _monitors(values: Values) -> str:
    number = values["missing"]
    return f"{number} of {values['of']} monitors {'was' if number == 1 else 'were'} out of quorum"


MONITORS = FindingKind(
    "monitors", "note", "cluster", "monitor down", _course(_monitors),
    why="Client I/O does not pass through monitors, but the state that the cluster reports may be late.",
    cure="measure again with all monitors in quorum", source=f"{_HEALTH}#mon-down",
)  # fmt: skip


def _other_clients(values: Values) -> str:
    if "iops" not in values:
        return worded("other clients moved up to {rate_bytes:bandwidth}", values)
    did = worded("other clients did up to {iops:iops} operations/s and moved {rate_bytes:bandwidth}", values)
    return f"{did} ({100 * values['share']:.0f} % of the load of the OSDs at that time)"


OTHER_CLIENTS = FindingKind(
    "other-clients", "limits", "cluster", "other clients",
    _course(_other_clients),
    slows=True,
    why="Other clients use the same disks and links: the figures are those of a shared cluster. In their share of the "
    "load, 64 KiB count as one operation. With an image that has a parent or journaling, the load may be that of the "
    "run itself: the first write to an object copies all of it from the parent, and journaling writes all data twice.",
    cure="measure while the cluster is quiet, or do more runs",
)  # fmt: skip


MESSAGE_CAPS = ("osd_client_message_cap", "osd_client_message_size_cap")
THROTTLES = ("bluestore_throttle_bytes", "bluestore_throttle_deferred_bytes")
"""The options of an OSD by which what the findings below name is limited."""


def _message_cap(values: Values) -> str:
    refused = f"OSDs delayed {percent(100 * values['share'])} of the client messages"
    by_number, by_size = MESSAGE_CAPS
    cap = ""
    if "size_cap_bytes" in values:
        cap = worded(f": {by_size} is {{size_cap_bytes:size}} for each of {{osds}} OSDs", values)
    elif "cap" in values:
        cap = worded(f": {by_number} is {{cap}} for each of {{osds}} OSDs", values)
    if "in_flight" not in values:
        return refused + cap
    return f"{refused}{cap}, and the run had {values['in_flight']} I/Os in flight"


def _message_cap_cure(values: Values) -> str:
    """Fewer I/Os in flight than one OSD takes are not what fills it: those of other clients do."""
    is_own = values.get("in_flight", math.inf) > values.get("cap", 0)
    by_number, by_size = MESSAGE_CAPS
    cure = MESSAGE_CAP.cure.replace(by_number, by_size) if "size_cap_bytes" in values else MESSAGE_CAP.cure
    return cure if is_own else "measure while the other clients are quiet"


MESSAGE_CAP = FindingKind(
    "message-cap", "limits", "cluster", "message cap reached", _message_cap,
    label=lambda values: "message cap",
    slows=True,
    why="An OSD with osd_client_message_cap client messages in progress, or osd_client_message_size_cap bytes of them, "
    "accepts no more until some are done: messages wait in the network, and clients starve each other. The figures "
    "show that cap, not the disks.",
    cure=f"choose less depth or fewer jobs, or raise {MESSAGE_CAPS[0]} on both sides", cured=_message_cap_cure,
    source=f"{_DOCS}/configuration/osd-config-ref/",
)  # fmt: skip


BLUESTORE_THROTTLE = FindingKind(
    "bluestore-throttle", "limits", "cluster", "BlueStore throttle",
    says("BlueStore held transactions back for {seconds:latency} of the {commit_seconds:latency} that a commit took"),
    slows=True,
    why="BlueStore accepts no more transactions while those in progress amount to bluestore_throttle_bytes: the worker "
    "threads of the OSD wait, and so do the operations queued behind them.",
    cure="if bluestore_throttle_bytes is below its default, reset it (ceph config rm osd bluestore_throttle_bytes); "
    "otherwise find the slow disk: ceph osd perf",
    source=f"{_DOCS}/configuration/bluestore-config-ref/",
)  # fmt: skip
SLOW_COMMITS = FindingKind(
    "slow-commits", "limits", "cluster", "slow commits",
    says("a commit took about {seconds:latency} on each of {osds} OSDs of class {device_class}, with one write at a "
        "time"),
    slows=True,
    why="Each write waits for a flush of the disk. An SSD with power loss protection completes a flush in a fraction "
    "of a millisecond, from its own memory; an SSD without it needs milliseconds, whatever its data sheet says.",
    cure="measure each OSD by itself (cephtui why --osds) and list the disks (ceph device ls): use SSDs with power "
    "loss protection, at least for DB and WAL; behind a controller, check the write cache (smartctl -g wcache)",
    source="https://docs.ceph.com/en/latest/start/hardware-recommendations/#solid-state-drives",
)  # fmt: skip
OSD_COUNTERS = FindingKind(
    "osd-counters", "note", "cluster", "OSD counters", says("OSD counters: no permission"),
    why="Without them the latency of each OSD is unknown, and other clients show late, by the rates of the pool.",
    cure="use a Ceph user with osd 'allow *'", source=f"{_DOCS}/operations/user-management/",
)  # fmt: skip


def _silent(values: Values) -> str:
    if "why" in values:
        return f"the cluster was not queried {_when(values)}: {values['why']}"
    return f"the cluster did not answer {_when(values)}"


CLUSTER_SILENT = FindingKind(
    "cluster-silent", "limits", "cluster", "no answer",
    lambda values: _silent(values) if "things" not in values else _course(says(""))(values),
    why="The state of the cluster in that time is unknown: nothing can be ruled out.",
    cure="check the monitors: ceph -s", source=f"{_DOCS}/troubleshooting/troubleshooting-mon/",
)  # fmt: skip
