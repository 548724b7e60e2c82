"""Findings about how a cluster is set up: what makes it slow whatever runs on it."""

from __future__ import annotations

from cephtui.models.findings.kind import FindingKind, Values, names_in, says, worded
from cephtui.printable import listed

_DOCS = "https://docs.ceph.com/en/latest/rados"
_PG_COUNT = f"{_DOCS}/operations/placement-groups/"

LOW_LIMITS = FindingKind(
    "low-limits", "note", "cluster", "low limits",
    says("options are far below their defaults: {options:listed}"),
    why="With such a low limit, an OSD or a client works on fewer I/Os at a time, and the others wait.",
    cure="reset the option, unless there is a reason for it: ceph config rm osd OPTION; if it was set at run time: "
    "ceph tell osd.N config unset OPTION",
    source=f"{_DOCS}/configuration/ceph-conf/",
)  # fmt: skip


def _mclock_capacity(values: Values) -> str:
    expected = worded("mClock assumes {iops:iops} IOPS for ", values) + listed(names_in(values, "osd", "osds"))
    usual = "{others:iops} for the other OSDs" if "others" in values else "the default is {default:iops}"
    return f"{expected} ({values['option']}), {worded(usual, values)}"


MCLOCK_CAPACITY = FindingKind(
    "mclock-capacity", "limits", "cluster", "mClock capacity", _mclock_capacity,
    slows=True,
    why="An OSD measures its capacity at its first start and keeps that figure. mClock shares it out between clients, "
    "recovery and scrubs: an OSD that was busy at its first start is held back ever since.",
    cure="measure that OSD again while it is idle (ceph tell osd.N bench 12288000 4096 4194304 100), and set the "
    "result: ceph config set osd.N OPTION IOPS; ceph config rm osd.N OPTION restores the default",
    source=f"{_DOCS}/configuration/mclock-config-ref/",
)  # fmt: skip

CLASSES_MIXED = FindingKind(
    "classes-mixed", "note", "cluster", "device classes mixed",
    says("pool {pool} uses OSDs of several device classes: {classes:listed}"),
    why="A write waits for its slowest copy, and a read for the disk that happens to have the data: the pool is about "
    "as fast as its slowest class.",
    cure="use a CRUSH rule for one class: ceph osd crush rule create-replicated NAME default host CLASS",
    source=f"{_DOCS}/operations/crush-map/#device-classes",
)  # fmt: skip


def _few_osds(values: Values) -> str:
    if "primaries" in values:
        only = worded("only {osds} of the {of} OSDs of pool {pool}", values)
        return f"{only} {'is the primary' if values['osds'] == 1 else 'are primaries'} of its PGs"
    return worded("pool {pool} uses only {osds} of the {of} OSDs that its CRUSH rule allows", values)


def _few_osds_cure(values: Values) -> str:
    if "primaries" in values:
        return (
            "see which OSDs may be primaries: PRI-AFF in ceph osd tree, ceph osd primary-affinity osd.N 1; if all may, "
            "give the pool more PGs"
        )
    return "see how PGs are spread: ceph pg ls-by-pool POOL; more PGs (pg_num), or the balancer, use more OSDs"


FEW_OSDS = FindingKind(
    "few-osds", "note", "cluster", "few OSDs",
    _few_osds,
    why="Only these OSDs work for the pool: the others don't make it faster. Clients read from primaries, and send "
    "writes to primaries only.",
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
    why="OSDs normally answer heartbeats within a millisecond. If it takes longer, packets are lost or delayed on the "
    "network between them, or the answering OSD lacks CPU. Writes use the same network.",
    cure="check the network between these OSDs: ip -s link, ethtool -S, cephtui run network; ceph tell osd.N "
    "dump_osd_network 20 lists all heartbeats that take 20 ms or more",
    source=f"{_DOCS}/operations/monitoring/#network-performance-checks",
)  # fmt: skip

QOS_LIMIT = FindingKind(
    "qos-limit", "limits", "cluster", "QoS limit",
    says("the image reached its librbd limit: {basis}"),
    slows=True,
    why="librbd holds I/Os back in the client until the rbd_qos_* limit of the image or its pool allows them.",
    cure="raise or remove that limit: rbd config image ls POOL/IMAGE and rbd config pool ls POOL show where it is set",
    source="https://docs.ceph.com/en/latest/rbd/rbd-config-ref/#qos-settings",
)  # fmt: skip

DEBUG_LEVELS = FindingKind(
    "debug-levels", "note", "cluster", "debug levels",
    says("high debug levels are set: {options:listed}"),
    why="From level 10 on, a daemon logs many lines per operation, which costs CPU and disk.",
    cure="reset the level if you are not debugging: ceph config rm osd debug_osd",
    source=f"{_DOCS}/troubleshooting/log-and-debug/",
)  # fmt: skip
