"""What of a cluster's set-up makes a pool slow, whatever runs on it: by the conditions that each run is kept with.

Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from statistics import median

from cephtui.analysis.detectors.slowest import LEAST
from cephtui.models import ClusterEnvironment, Finding
from cephtui.models.findings.cluster import CLASSES_MIXED, DEBUG_LEVELS, FEW_OSDS, MCLOCK_CAPACITY
from cephtui.models.findings.kind import named

_MCLOCK = "mclock_scheduler"
_CAPACITY = "osd_mclock_max_capacity_iops_{}"
_USUAL_IOPS = {"hdd": 315.0, "ssd": 21_500.0}
"""The default of the option for disks that rotate, and for all others (18.2 to 20.2)."""
_SLOWEST_IOPS = {"hdd": 50.0, "ssd": 500.0}
"""Random writes of 4 KiB that every such disk does: with less it was measured while something else was at work."""
_HIGH_LEVELS = {str(level) for level in range(10, 21)}
_LOWER = 3.0
"""So many times less than that of the other OSDs is out of line."""


def setup_findings(cluster: ClusterEnvironment) -> Iterator[Finding]:
    """Of the pool of a run, and of its OSDs."""
    if cluster.osd_op_queue == _MCLOCK:
        for kind in _USUAL_IOPS:
            yield from _capacities_out_of_line(cluster, kind)
    if options := tuple(_debug_levels(cluster.config or {})):
        yield DEBUG_LEVELS.found(options=options)
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


def _debug_levels(config: Mapping[str, str]) -> Iterator[str]:
    """``osd debug_bluestore 20/20``: what OSDs and clients write to their logs for each operation."""
    for name, level in config.items():
        section, _, option = name.rpartition(" ")
        is_high = option.startswith("debug_") and level.partition("/")[0] in _HIGH_LEVELS
        if is_high and section.split(".")[0].split("/")[0] in ("global", "osd", "client"):
            yield f"{name} {level}"


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
