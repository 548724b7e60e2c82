"""The lies that are provoked, each a row: who provokes it, and what is expected to be said."""

from __future__ import annotations

from collections.abc import Callable

from cephtui.frozen import dataclass
from tests.bench.honest import client_lies as client
from tests.bench.honest import cluster_lies as cluster
from tests.bench.honest import data_lies as data
from tests.bench.honest.judging import Expected, Observed, Sign
from tests.bench.honest.scene import Scene

_COURSE = ("not-settled", "collapse", "dip", "saw", "slope", "step", "deviation", "stalled", "stuck", "slow-ops")
"""Findings that tell how the seconds went, and not why."""
_DATA = ("thin", "holes", "unverified", "memory", "page-cache")
_NETWORK = "network"


@dataclass(frozen=True, slots=True)
class Lie:
    """One of them."""

    number: int
    title: str
    provoke: Callable[[Scene], Observed]
    expected: Expected
    has_kernel: bool = False
    """Whether it needs a host with a kernel of its own."""

    @property
    def name(self) -> str:
        """``L7``."""
        return f"L{self.number}"


def _signs(*codes: str, text: str = "") -> tuple[Sign, ...]:
    return tuple(Sign(code, text) for code in codes)


_HOLES, _OTHERS = _signs("thin", "holes", "unverified"), _signs("other-clients")
_LOST = _signs("nic-drops", "retransmits")
LIES = (
    Lie(1, "thin image read", data.thin_image, Expected(_signs("thin"))),
    Lie(2, "sparse file read", data.sparse_file, Expected(_HOLES, refused="exists and was not made by cephtui")),
    Lie(3, "loop over a sparse file", data.loop_over_sparse_file, Expected(_HOLES)),
    Lie(4, "image written in full, read", data.full_image, Expected(untrue=_DATA)),
    Lie(5, "page cache", data.page_cache, Expected(_signs("page-cache"))),
    Lie(6, "librbd's cache", data.librbd_cache, Expected(_signs("librbd-cache"), prevented="--direct=1")),
    Lie(7, "tmpfs", data.memory, Expected(_signs("memory"))),
    Lie(8, "loop over tmpfs", data.loop_over_memory, Expected(_signs("memory"))),
    Lie(9, "compressible data", data.compressible, Expected(_signs("compressible", "compressed"))),
    Lie(10, "zeros", data.zeros, Expected(_signs("zeros", "zeros-compressed"))),
    Lie(
        11, "pool that compresses, random data", data.pool_that_compresses,
        Expected(untrue=("zeros-compressed", "compressible", "compressed", *_DATA), kept='"compression_mode": "force"'),
    ),
    Lie(12, "small working set", data.small_working_set, Expected(_signs("working-set"))),
    Lie(13, "zipf", data.zipf, Expected(_signs("working-set"))),
    Lie(14, "lockstep", data.lockstep, Expected(prevented="--offset_increment=")),
    Lie(15, "too short", data.too_short, Expected(_signs("short"))),
    Lie(16, "ramp counted in", data.ramp_counted, Expected(_signs("ramp", "no-ramp"))),
    Lie(17, "reads that run out", data.reads_that_end, Expected(_signs("short"), refused="run out|ran out|ended")),
    Lie(
        18, "recovery", cluster.recovery,
        Expected(
            _signs("recovery", "pgs"), _COURSE,
            beside=("osd-out", "pgs-inactive", "pgs-mostly-inactive", "health-speed"), limits="OSDs",
        ),
    ),
    Lie(19, "deep scrub", cluster.scrub, Expected(_signs("scrub"), _COURSE, beside=("pgs",), limits="OSDs")),
    Lie(
        20, "PGs split", cluster.split,
        Expected(
            _signs("pgs-split"), _COURSE,
            beside=("pgs", "recovery", "pgs-inactive", "pgs-mostly-inactive", "health-speed"), limits="OSDs",
        ),
    ),
    Lie(21, "large foreign load", cluster.large_foreign_load, Expected(_OTHERS, _COURSE, limits="OSDs")),
    Lie(22, "foreign 4k load", cluster.small_foreign_load, Expected(_OTHERS, _COURSE, limits="OSDs")),
    Lie(
        23, "OSD stopped in pulses", cluster.osd_in_pulses,
        Expected(_signs("slow-osd", text=r"osd\.1"), _COURSE, limits="OSDs"),
    ),
    Lie(
        24, "OSD stopped for 3.5 s", cluster.osd_stands_still,
        Expected(_signs("slow-osd", "stalled", "dip", text=r"osd\.1"), _COURSE, limits="OSDs"),
    ),
    Lie(
        25, "all OSDs stopped for 3.5 s", cluster.osds_stand_still,
        Expected(_signs("slow-osd", "stalled", "dip", text=r"osd\.\d|OSDs"), _COURSE, limits="OSDs"),
    ),
    Lie(
        26, "one slow node", client.slow_node,
        Expected(_signs("slow-node", "nic-drops", "retransmits", text="lab2"), _COURSE, limits=_NETWORK),
    ),
    Lie(
        27, "network limited one way", client.limited_one_way,
        Expected(limited_by=f"limited by .*{_NETWORK}", limits=_NETWORK, beside=("nic-drops", "retransmits")),
    ),
    Lie(
        28, "network limited both ways", client.limited_both_ways,
        Expected(limited_by=f"limited by .*{_NETWORK}", limits=_NETWORK, beside=("nic-drops", "retransmits")),
    ),
    Lie(
        29, "network limited, never measured", client.limited_unmeasured,
        Expected(_LOST, limited_by=f"limited by .*{_NETWORK}", limits=_NETWORK),
    ),
    Lie(30, "client's CPU taken", client.cpu_taken, Expected(_signs("client-cpu", "cpu-taken"), _COURSE, limits="CPU")),
    Lie(31, "drops and retransmits", client.packets_lost, Expected(_LOST, _COURSE, limits=_NETWORK)),
    Lie(32, "message cap", cluster.message_cap, Expected(_signs("message-cap"), _COURSE, limits="message|OSDs")),
    Lie(33, "OSD nearly full", cluster.nearly_full, Expected(refused="nearly full|near-?full")),
    Lie(34, "flags set before", cluster.flag_set, Expected(_signs("flag", "health-other", text="noscrub"))),
    Lie(35, "clock off", client.clock_off, Expected(_signs("clock")), has_kernel=True),
    Lie(
        36, "rate that the user set", client.rate_set,
        Expected(_signs("rate-set"), limited_by="limited by the rate that is set", limits="rate"),
    ),
)  # fmt: skip
"""In the order of their numbers."""
