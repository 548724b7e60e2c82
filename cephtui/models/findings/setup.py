"""Findings about how a cluster is set up: what makes it slow whatever runs on it."""

from __future__ import annotations

from cephtui.models.findings.kind import FindingKind, Values, names_in, says, worded
from cephtui.printable import listed

_DOCS = "https://docs.ceph.com/en/latest/rados"
_PG_COUNT = f"{_DOCS}/operations/placement-groups/"

LOW_LIMITS = FindingKind(
    "low-limits", "note", "cluster", "low limits",
    says("options are far below their defaults: {options:listed}"),
    why="With less of them an OSD, or a client, has less in work at a time: I/Os wait before it.",
    cure="set the default again, if there is no reason for less: ceph config rm osd OPTION; what was set at run time: "
    "ceph tell osd.N config unset OPTION",
    source=f"{_DOCS}/configuration/ceph-conf/",
)  # fmt: skip


def _mclock_capacity(values: Values) -> str:
    expected = worded("mClock expects {iops:iops} IOPS of ", values) + listed(names_in(values, "osd", "osds"))
    usual = "{others:iops} of the other OSDs" if "others" in values else "the default is {default:iops}"
    return f"{expected} ({values['option']}), {worded(usual, values)}"


MCLOCK_CAPACITY = FindingKind(
    "mclock-capacity", "limits", "cluster", "mClock capacity", _mclock_capacity,
    slows=True,
    why="An OSD measures itself at its first start and keeps that figure. It is what mClock hands out to clients, "
    "recovery and scrubs: an OSD that was busy then is held back since.",
    cure="measure that OSD again while nothing runs (ceph tell osd.N bench 12288000 4096 4194304 100), and set what it "
    "does: ceph config set osd.N OPTION IOPS; ceph config rm osd.N OPTION is the default",
    source=f"{_DOCS}/configuration/mclock-config-ref/",
)  # fmt: skip

CLASSES_MIXED = FindingKind(
    "classes-mixed", "note", "cluster", "device classes mixed",
    says("pool {pool} lies on OSDs of several device classes: {classes:listed}"),
    why="A write waits for the slowest of its copies, and a read for the disk that it happens to lie on: the pool is "
    "about as fast as its slowest class.",
    cure="use a CRUSH rule for one class: ceph osd crush rule create-replicated NAME default host CLASS",
    source=f"{_DOCS}/operations/crush-map/#device-classes",
)  # fmt: skip


def _few_osds(values: Values) -> str:
    if "primaries" in values:
        only = worded("only {osds} of the {of} OSDs of pool {pool}", values)
        return f"{only} {'is the primary' if values['osds'] == 1 else 'are primaries'} of its PGs"
    return worded("pool {pool} lies on {osds} of the {of} OSDs that its CRUSH rule may use", values)


def _few_osds_cure(values: Values) -> str:
    if "primaries" in values:
        return (
            "see which OSDs may be primaries: PRI-AFF in ceph osd tree, ceph osd primary-affinity osd.N 1; where all "
            "may be, a pool with more PGs has more primaries"
        )
    return "see how PGs lie: ceph pg ls-by-pool POOL; a pool with more PGs (pg_num), or the balancer, uses more OSDs"


FEW_OSDS = FindingKind(
    "few-osds", "note", "cluster", "few OSDs",
    _few_osds,
    why="Only these OSDs work for the pool: the others can't make it faster. Clients read from primaries alone, and "
    "write to no other OSD themselves.",
    cure=_few_osds_cure({}), cured=_few_osds_cure,
    source=_PG_COUNT,
)  # fmt: skip


def _osd_pings(values: Values) -> str:
    took = worded("{seconds:latency} (mean of a minute) in the {networks:listed} network", values)
    if "osd" in values:
        return f"heartbeats from and to {values['osd']} took up to {took}"
    more = f", between {values['pairs']} pairs in all" if values["pairs"] > 1 else ""
    return f"heartbeats between OSDs took up to {took}, those of {worded('{pair:listed}', values)}{more}"


OSD_PINGS = FindingKind(
    "osd-pings", "note", "cluster", "slow heartbeats", _osd_pings,
    why="OSDs answer each other's heartbeats within a millisecond: where it takes longer, packets are lost or wait on "
    "the network between them, or the OSD that answers has hardly any CPU. A write waits for the same network.",
    cure="look at the network between these OSDs: ip -s link, ethtool -S, cephtui run network; ceph tell osd.N "
    "dump_osd_network 20 shows all heartbeats that take 20 ms and more",
    source=f"{_DOCS}/operations/monitoring/#network-performance-checks",
)  # fmt: skip

QOS_LIMIT = FindingKind(
    "qos-limit", "limits", "cluster", "QoS limit",
    says("the limit of librbd for the image was reached: {basis}"),
    slows=True,
    why="librbd holds I/Os back, in the client, until the rbd_qos_* limit of the image or its pool allows the next.",
    cure="raise or remove that limit: rbd config image ls POOL/IMAGE and rbd config pool ls POOL show where it is set",
    source="https://docs.ceph.com/en/latest/rbd/rbd-config-ref/#qos-settings",
)  # fmt: skip

DEBUG_LEVELS = FindingKind(
    "debug-levels", "note", "cluster", "debug levels",
    says("high debug levels are set: {options:listed}"),
    why="From level 10 on a daemon writes many lines for each operation to its log, and needs CPU and disk for that.",
    cure="set the default again, if nothing is being looked for: ceph config rm osd debug_osd",
    source=f"{_DOCS}/troubleshooting/log-and-debug/",
)  # fmt: skip
