"""Whether what a run reads fits into the caches that its reads go through: then the figures are those of memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from cephtui.analysis.runs.facts import load_of, working_set
from cephtui.frozen import dataclass
from cephtui.models import ClusterEnvironment, Finding, Run, Step
from cephtui.models.findings.data import WORKING_SET
from cephtui.tools.skew import MOST, hot_share

OSD_MEMORY_BYTES = 4 << 30
"""``osd_memory_target``, as it is by default."""
_TARGET = "osd_memory_target"
_SEEN_AGAIN = 0.5
"""How often each block of what is hot has been read at least, on average, where caches make a difference."""


@dataclass(frozen=True, slots=True)
class HotSet:
    """What a step reads again and again, on all nodes together."""

    working_set_bytes: int
    share: float
    """The part of it that gets 90 % of the reads; 1 where all blocks are as likely."""

    @property
    def bytes(self) -> int:
        """Those of the part that gets most reads."""
        return round(self.working_set_bytes * self.share)


def hot_set(step: Step | Run) -> HotSet | None:
    """What a step reads again and again; None where it reads nothing, or that is not known."""
    load, span = load_of(step), working_set(step)
    if load is None or not span or load.pattern.removeprefix("rand") == "write":
        return None
    blocks = span // max(1, len(step.nodes)) // load.jobs // load.block_bytes if load.block_bytes else 0
    return HotSet(span, hot_share(load.distribution, blocks))


def cached_reads(run: Run) -> Finding | None:
    """That what a run has read fits into the memory of the pool's OSDs, and was read often enough for that to matter.

    What an OSD keeps there is less than its memory target, and what it keeps of the pool may be less still: a larger
    set is not judged.
    """
    hot, read, cluster = hot_set(run), run.summary.read, run.cluster
    if hot is None or read is None or cluster is None or not cluster.pool:
        return None
    cache = osd_memory(cluster)
    most = 1.0 if hot.share == 1 else MOST
    if not 0 < hot.bytes <= cache or most * read.bytes < _SEEN_AGAIN * hot.bytes:
        return None
    skew = {"hot_bytes": hot.bytes, "hot_share": hot.share} if hot.share < 1 else {}
    return WORKING_SET.found(working_set_bytes=hot.working_set_bytes, cache_bytes=cache, **skew)


def osd_memory(cluster: ClusterEnvironment) -> int:
    """Bytes of memory that the OSDs of the pool may take (``osd_memory_target``); 0 where they are not known."""
    config = cluster.config or {}
    if not cluster.pgs_by_osd:
        return (cluster.osds_in or 0) * _target(config, ())
    return sum(_target(config, _sections(osd, cluster.class_by_osd.get(osd))) for osd in cluster.pgs_by_osd)


def _sections(osd: str, device_class: str | None) -> tuple[str, ...]:
    """The sections of the configuration that are about an OSD alone, the nearest first."""
    return (f"osd.{osd}", *([f"osd/class:{device_class}"] if device_class else []))


def _target(config: Mapping[str, str], sections: Iterable[str]) -> int:
    """The memory target of an OSD: that of a host, which is not known to be the OSD's, counts where it is greater."""
    for section in (*sections, *_of_hosts(config), "osd", "global"):
        value = config.get(f"{section} {_TARGET}", "")
        if value.isdecimal():
            return int(value)
    return OSD_MEMORY_BYTES


def _of_hosts(config: Mapping[str, str]) -> list[str]:
    """The sections of hosts, the one with the greatest target first."""
    matches = (re.fullmatch(rf"(osd/host:\S+) {_TARGET}", name) for name in config)
    values = {match[1]: config[match[0]] for match in matches if match and config[match[0]].isdecimal()}
    return sorted(values, key=lambda section: -int(values[section]))
