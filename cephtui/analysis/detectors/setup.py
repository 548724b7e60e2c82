"""What of a cluster's set-up makes a pool slow, whatever runs on it: by the conditions that each run is kept with.

Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from statistics import median

from cephtui.analysis.detectors.slowest import LEAST
from cephtui.ceph.osd_options import HOLDING_BACK, SHARE_OF_CLIENTS, is_high_level
from cephtui.models import ClusterEnvironment, Finding, OsdOption, OsdPing
from cephtui.models.findings.kind import named
from cephtui.models.findings.setup import (
    CLASSES_MIXED,
    DEBUG_LEVELS,
    FEW_OSDS,
    LOW_LIMITS,
    MCLOCK_CAPACITY,
    OSD_PINGS,
)

_MCLOCK = "mclock_scheduler"
_CAPACITY = "osd_mclock_max_capacity_iops_{}"
_USUAL_IOPS = {"hdd": 315.0, "ssd": 21_500.0}
"""The default of the option for disks that rotate, and for all others (18.2 to 20.2)."""
_SLOWEST_IOPS = {"hdd": 50.0, "ssd": 500.0}
"""Random writes of 4 KiB that every such disk does: with less it was measured while something else was at work."""
_LOWER = 3.0
"""So many times less than that of the other OSDs, or than the default, is out of line."""
_SOURCES = {"mon": "", "override": ", set at run time", "file": ", by ceph.conf"}
_OF_CLIENTS = {"objecter_inflight_ops": 1024.0, "objecter_inflight_op_bytes": 104_857_600.0}
"""The defaults of options with less of which a client has less in flight (16.2 to 20.2)."""


def setup_findings(cluster: ClusterEnvironment) -> Iterator[Finding]:
    """Of the pool of a run, and of its OSDs."""
    if cluster.osd_op_queue == _MCLOCK:
        for kind in _USUAL_IOPS:
            yield from _capacities_out_of_line(cluster, kind)
    if options := tuple(dict.fromkeys(_debug_levels(cluster))):
        yield DEBUG_LEVELS.found(options=options)
    if options := tuple(dict.fromkeys(_low_limits(cluster))):
        yield LOW_LIMITS.found(options=options)
    if pings := cluster.slow_pings:
        yield _slow_pings(pings)
    pool = cluster.pool.get("name")
    classes = Counter(cluster.class_by_osd.values())
    if len(classes) > 1:
        yield CLASSES_MIXED.found(
            pool=pool, classes=tuple(f"{number} {name}" for name, number in classes.most_common())
        )
    osds, of = len(cluster.pgs_by_osd), sum(cluster.osds_by_host.values())
    are_all_there = {cluster.osds_in, cluster.osds_up} <= {None, cluster.osds}
    if osds < of and osds and are_all_there and (2 * osds <= of or osds == cluster.pool.get("size")):
        yield FEW_OSDS.found(pool=pool, osds=osds, of=of)
    elif are_all_there and 0 < 2 * cluster.primaries <= osds:
        yield FEW_OSDS.found(pool=pool, osds=cluster.primaries, of=osds, primaries=True)


def _slow_pings(pings: Sequence[OsdPing]) -> Finding:
    """The longest, with the one OSD that all of them are from or to, where there is one."""
    common = set.intersection(*({ping.osd, ping.peer} for ping in pings))
    longest = pings[0]
    return OSD_PINGS.found(
        osd=f"osd.{common.pop()}" if len(common) == 1 else None,
        pair=(f"osd.{longest.osd}", f"osd.{longest.peer}"),
        networks=tuple(sorted({ping.network for ping in pings})),
        seconds=longest.seconds,
        pairs=len({frozenset((ping.osd, ping.peer)) for ping in pings}),
    )


def _debug_levels(cluster: ClusterEnvironment) -> Iterator[str]:
    """``osd debug_bluestore 20/20``: what OSDs and clients write to their logs for each operation."""
    for name, level in (cluster.config or {}).items():
        section, _, option = name.rpartition(" ")
        if is_high_level(option, level) and _daemon(section) in ("global", "osd", "client"):
            yield f"{name} {level}"
    for differing in cluster.osd_options:
        if is_high_level(differing.name, differing.value) and differing.source in _SOURCES:
            yield from _sections(cluster, differing, differing.value)


def _daemon(section: str) -> str:
    """``osd`` of ``osd.3`` and of ``osd/class:hdd``."""
    return section.partition(".")[0].partition("/")[0]


def _low_limits(cluster: ClusterEnvironment) -> Iterator[str]:
    """``osd bluestore_throttle_bytes 4096 (default 67108864)``: what OSDs and clients have in work at once."""
    for name, value in (cluster.config or {}).items():
        section, _, option = name.rpartition(" ")
        usual = _OF_CLIENTS.get(option)
        if usual and _daemon(section) in ("global", "client") and 0 < _figure(value) < usual / _LOWER:
            yield f"{name} {value} (default {usual:.0f})"
    for differing in cluster.osd_options:
        if differing.source in _SOURCES and _is_low(cluster, differing):
            yield from _sections(cluster, differing, f"{differing.value} (default {differing.default})")


def _is_low(cluster: ClusterEnvironment, option: OsdOption) -> bool:
    """Whether an option has a limit that is far below the default; 0 is no limit."""
    classes = {cluster.class_by_osd.get(osd) for osd in option.osds}
    is_of_others = ("hdd" not in classes and option.name.endswith("_hdd")) or (
        classes == {"hdd"} and option.name.endswith("_ssd")
    )
    if is_of_others or (option.name.startswith("osd_mclock") and cluster.osd_op_queue != _MCLOCK):
        return False
    value, usual = _figure(option.value), _figure(option.default)
    if option.name == SHARE_OF_CLIENTS:
        usual = usual or 1.0
    return option.name in (*HOLDING_BACK, SHARE_OF_CLIENTS) and 0 < value < usual / _LOWER


def _figure(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _sections(cluster: ClusterEnvironment, option: OsdOption, text: str) -> Iterator[str]:
    """An option as it is set: for the sections of the configuration database that have it, or for running OSDs."""
    sections: Iterable[str] = (f"osd.{osd}" for osd in option.osds)
    if option.source == "mon":
        sections = [
            name.rpartition(" ")[0]
            for name, value in (cluster.config or {}).items()
            if name.endswith(f" {option.name}") and value == option.value
        ] or sections
    elif len(option.osds) == cluster.osds:
        sections = ("osd.*",)
    for section in sections:
        yield f"{section} {option.name} {text}{_SOURCES[option.source]}"


def _capacities_out_of_line(cluster: ClusterEnvironment, kind: str) -> Iterator[Finding]:
    """OSDs that mClock believes to be far slower than the others, or than any disk of their kind."""
    option = _CAPACITY.format(kind)
    capacities = {
        f"osd.{osd}": _set_for(cluster.config or {}, osd, cluster.class_by_osd.get(osd, ""), option, _USUAL_IOPS[kind])
        for osd in cluster.pgs_by_osd
        if (cluster.class_by_osd.get(osd) == "hdd") is (kind == "hdd")
    }
    low = [osd for osd, iops in capacities.items() if iops < _SLOWEST_IOPS[kind]]
    if not low and len(capacities) >= LEAST:
        usual = median(capacities.values())
        low = [osd for osd, iops in capacities.items() if iops < usual / _LOWER]
    if low:
        iops = median(capacities[osd] for osd in low)
        others = [capacity for osd, capacity in capacities.items() if osd not in low]
        yield MCLOCK_CAPACITY.found(
            **named(tuple(low), "osd", "osds"),
            option=option,
            iops=iops,
            others=median(others) if others else None,
            default=None if others else _USUAL_IOPS[kind],
        )


def _set_for(config: Mapping[str, str], osd: str, device_class: str, option: str, usual: float) -> float:
    """What is set for an OSD, by the nearest section of the configuration database; else the default."""
    for section in (f"osd.{osd}", f"osd/class:{device_class}", "osd", "global"):
        with suppress(KeyError, ValueError):
            return float(config[f"{section} {option}"])
    return usual
