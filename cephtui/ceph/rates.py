"""The present load: the rates of a pool's clients, and each OSD's latency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cephtui.ceph import answers
from cephtui.frozen import dataclass

OSD_PERF_ARGV = ("ceph", "osd", "perf", "-f", "json")
"""The command that reports OsdLatency; it needs caps for the manager, unless the monitors forward it."""


@dataclass(frozen=True, slots=True)
class PoolRates:
    """What clients do in one pool, per second; it lags about 3 s behind."""

    pool: str
    read_bytes: float = 0.0
    write_bytes: float = 0.0
    read_iops: float = 0.0
    write_iops: float = 0.0
    recovery_bytes: float = 0.0

    @property
    def iops(self) -> float:
        """IOPS of reads and writes together."""
        return self.read_iops + self.write_iops


@dataclass(frozen=True, slots=True)
class OsdLatency:
    """Commit latency of each OSD in seconds, by its number."""

    seconds: Mapping[int, float]

    @property
    def worst(self) -> tuple[int, float] | None:
        """The number and the latency of the slowest OSD; None where there is no OSD."""
        return max(self.seconds.items(), key=lambda item: item[1], default=None)


def pool_stats_argv(pool: str) -> tuple[str, ...]:
    """The command that reports PoolRates; it needs cephx caps for the manager, unless the monitors forward it.

    To be asked before anything about images: each such query is client I/O itself, and in the rates for some 10 s.
    """
    return ("ceph", "osd", "pool", "stats", pool, "-f", "json")


def osd_latency_of(answer: Mapping[str, Any]) -> OsdLatency | None:
    """The latencies in an answer to ``OSD_PERF_ARGV``; None for any other answer."""
    inner = answers.part(answer, "osdstats") or answer  # not nested before Nautilus
    if "osd_perf_infos" not in inner:
        return None
    seconds: dict[int, float] = {}
    for osd in answers.objects(inner["osd_perf_infos"]):
        figures = answers.part(osd, "perf_stats")
        milliseconds = answers.number(figures.get("commit_latency_ms"))
        seconds[answers.whole(osd.get("id"))] = (
            answers.number(figures.get("commit_latency_ns"), milliseconds * 1e6) / 1e9
        )
    return OsdLatency(seconds)


def parse_pool_stats(text: str, pool: str) -> PoolRates:
    """The answer to ``pool_stats_argv``."""
    rates = pool_rates_of(answers.rows(text), pool)
    if rates is None:
        raise ValueError(f"unexpected answer: {text.strip()[:200]!r}")
    return rates


def pool_rates_of(answer: Sequence[Mapping[str, Any]], pool: str | None = None) -> PoolRates | None:
    """The rates of a pool, by default the first, in an answer to ``pool_stats_argv``; None for any other answer."""
    for stats in answer:
        if "pool_name" not in stats or pool not in (None, stats["pool_name"]):
            continue
        client, recovery = answers.part(stats, "client_io_rate"), answers.part(stats, "recovery_rate")
        return PoolRates(
            pool=str(stats["pool_name"]),
            read_bytes=answers.number(client.get("read_bytes_sec")),
            write_bytes=answers.number(client.get("write_bytes_sec")),
            read_iops=answers.number(client.get("read_op_per_sec")),
            write_iops=answers.number(client.get("write_op_per_sec")),
            recovery_bytes=answers.number(recovery.get("recovering_bytes_per_sec")),
        )
    return None
