"""What can make a cluster slow: for each kind of finding the stages of an I/O in which it costs time. Pure data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeAlias

from cephtui.frozen import dataclass
from cephtui.models.findings import client, cluster, data, machine, measurement, setup
from cephtui.models.findings.kind import FindingKind, Values

Stage: TypeAlias = Literal["outside", "queue", "prepare", "store"]
"""A stage of ``cephtui.models.Stages``, without ``_seconds``."""
Sureness: TypeAlias = Literal["measured", "seen", "set-up"]
"""Whether the time that a cause costs is ``measured``, or the cause was only ``seen`` at work; or it is in the
``set-up`` of the cluster, and whether it costs time is not known."""
Change: TypeAlias = tuple[str, str]
"""A command that takes a cause away, and the one that takes this back; empty where there is none."""

_OSD, _CAPACITY = re.compile(r"osd\.[0-9]{1,6}"), re.compile(r"osd_mclock_max_capacity_iops_(hdd|ssd)")
_SET = re.compile(
    r"(?P<section>global|osd|client|osd\.[0-9]{1,6}|osd\.\*) (?P<option>[a-z][a-z_]{2,60}) "
    r"(?P<value>[0-9][0-9./]{0,30})(?: \(default [^()]*\))?(?P<at_run_time>, set at run time)?"
)
"""An option in a finding; no other text, which a session of others could make a command of."""
_OUTSIDE: tuple[Stage, ...] = ("outside",)
_IN_OSDS: tuple[Stage, ...] = ("queue", "prepare", "store")
_ON_LINKS: tuple[Stage, ...] = ("outside", "store")
"""A message is lost, or waits, on its way from the client as well as between OSDs."""


def _scrubs_off(values: Values) -> Change:
    return (
        "; ".join(f"ceph osd set {flag}" for flag in cluster.NO_SCRUBS),
        "; ".join(f"ceph osd unset {flag}" for flag in cluster.NO_SCRUBS),
    )


def osds_in(values: Values) -> tuple[str, ...]:
    """The OSDs that a finding names, ``osd.3``; nothing else, which a session of others could make a command of."""
    named = values.get("osds", (values.get("osd"),))
    names = map(str, named) if isinstance(named, tuple) else ()
    return tuple(name for name in names if _OSD.fullmatch(name))


def _default_capacity(values: Values) -> Change:
    option = str(values.get("option"))
    if not _CAPACITY.fullmatch(option):
        return "", ""
    return "; ".join(f"ceph config rm {osd} {option}" for osd in osds_in(values)), ""


def options_in(values: Values) -> set[str]:
    """The names of the options that a finding is about; an empty one for a text that is not as expected."""
    return {match["option"] if (match := _SET.match(text)) else "" for text in _option_texts(values)}


def _option_texts(values: Values) -> Iterable[str]:
    options = values.get("options")
    return map(str, options) if isinstance(options, tuple) else ()


def _defaults(values: Values) -> Change:
    """Of options in a ceph.conf there is no command."""
    matches = [_SET.fullmatch(text) for text in _option_texts(values)]
    parts = [match.groupdict() for match in matches if match]
    if len(parts) < len(matches):
        return "", ""
    orders = [
        ("ceph tell {section} config unset {option}", "ceph tell {section} config set {option} {value}")
        if part["at_run_time"]
        else ("ceph config rm {section} {option}", "ceph config set {section} {option} {value}")
        for part in parts
    ]
    rows = list(zip(orders, parts, strict=True))
    return "; ".join(order.format(**part) for (order, _), part in rows), "; ".join(
        undo.format(**part) for (_, undo), part in rows
    )


def _no_change(values: Values) -> Change:
    return "", ""


@dataclass(frozen=True, slots=True)
class Acts:
    """How a kind of finding slows I/O."""

    stages: tuple[Stage, ...]
    is_set_up: bool = False
    together: bool = False
    """Whether the kinds that stand in one row with it are signs of one cause, named by the first of them."""
    change: Callable[[Values], Change] = _no_change


_WORK, _CLIENT, _LINKS = Acts(_IN_OSDS), Acts(_OUTSIDE), Acts(_ON_LINKS)
_KINDS: tuple[tuple[Acts, tuple[FindingKind, ...]], ...] = (
    (
        Acts(_IN_OSDS, together=True),
        (
            *(cluster.PGS_MOSTLY_INACTIVE, cluster.PGS_INACTIVE, cluster.OSD_DOWN, cluster.OSD_OUT),
            *(cluster.PGS_SPLIT, cluster.RECOVERY, cluster.PGS, cluster.HEALTH_SPEED),
        ),
    ),
    (Acts(_IN_OSDS, change=_scrubs_off), (cluster.SCRUB,)),
    (_WORK, (cluster.SNAPTRIM, cluster.OTHER_CLIENTS)),
    (Acts(("queue",), change=_default_capacity), (setup.MCLOCK_CAPACITY,)),
    (Acts(_IN_OSDS), (cluster.SLOW_OSD, cluster.BUSY_OSD)),
    (_CLIENT, (cluster.MESSAGE_CAP, setup.QOS_LIMIT)),
    (_WORK, (cluster.BLUESTORE_THROTTLE,)),
    (Acts(("store",)), (cluster.SLOW_COMMITS,)),
    (_CLIENT, (machine.ROUND_TRIP,)),
    (_LINKS, (client.MTU, client.SLOW_LINK)),
    (
        Acts(_ON_LINKS, together=True),
        (machine.NIC_ERRORS, machine.NIC_DROPS, machine.RETRANSMITS, machine.DISORDERED),
    ),
    (_CLIENT, (machine.CPU_QUOTA, machine.CLIENT_CPU, machine.CPU_TAKEN, machine.STEAL, machine.MEMORY_WANTED)),
    (_CLIENT, (machine.THROTTLED, machine.KERNEL_ERRORS, client.SLOW_NODE)),
    (_CLIENT, (measurement.RATE_LIMITED, measurement.RATE_SET)),
    (Acts((*_OUTSIDE, *_IN_OSDS), is_set_up=True, change=_defaults), (setup.LOW_LIMITS,)),
    (Acts(_IN_OSDS, is_set_up=True, change=_defaults), (setup.DEBUG_LEVELS,)),
    (Acts(_IN_OSDS, is_set_up=True), (setup.OSD_PINGS, setup.CLASSES_MIXED, setup.FEW_OSDS)),
)
CAUSES: Mapping[str, Acts] = {kind.code: acts for acts, kinds in _KINDS for kind in kinds}
"""What makes I/O slow, by the codes of findings; of the same sureness and cost the first is the likelier one."""
SIGNS: Mapping[str, tuple[str, ...]] = {
    kind.code: tuple(sign.code for sign in (kinds if acts.together else (kind,)))
    for acts, kinds in _KINDS
    for kind in kinds
}
"""The codes of all findings that are signs of the same cause."""
LIMITS_OF: Mapping[FindingKind, frozenset[str]] = {
    cluster.MESSAGE_CAP: frozenset(cluster.MESSAGE_CAPS),
    cluster.BLUESTORE_THROTTLE: frozenset(cluster.THROTTLES),
}
"""The options by which what a finding names is limited."""
SYMPTOMS = frozenset(
    kind.code
    for kind in (
        measurement.STALLED, measurement.STUCK, measurement.COLLAPSE, measurement.DIP, measurement.SAW,
        measurement.NOT_SETTLED, measurement.DEVIATION, cluster.SLOW_OPS, cluster.CLUSTER_SILENT,
    )
)  # fmt: skip
"""What only shows that something is slow; some of them name what was so at the same time."""
NOT_OF_DISKS = frozenset(
    kind.code
    for kind in (
        data.THIN, data.HOLES, data.UNVERIFIED, data.PAGE_CACHE, data.LIBRBD_CACHE, data.MEMORY,
        data.FILE_SYSTEM_CACHE, data.CACHE_DEVICE, data.WORKING_SET, data.CACHES, data.ZEROS_COMPRESSED,
        data.COMPRESSED, measurement.ABOVE_CEILING,
    )
)  # fmt: skip
"""What makes I/O faster than the disks are: the figures are not those of the cluster."""
