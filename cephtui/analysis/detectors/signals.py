"""What is unusual in the state of a cluster at a moment: OSDs, PGs, flags, health, load of other clients."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from cephtui import units
from cephtui.ceph.cluster import is_clean, scrubs, serves, trims
from cephtui.ceph.health import by_effect, new_checks
from cephtui.frozen import dataclass
from cephtui.models import ClusterSample, Sample
from cephtui.models.findings.cluster import (
    FLAG,
    HEALTH_OTHER,
    HEALTH_SPEED,
    MONITORS,
    OSD_DOWN,
    OSD_OUT,
    OTHER_CLIENTS,
    PGS,
    PGS_INACTIVE,
    RECOVERY,
    SCRUB,
    SLOW_OPS,
    SNAPTRIM,
)
from cephtui.models.findings.kind import FindingKind, Value
from cephtui.models.metrics import COMMIT, FLUSH

_RATE_LAG_SECONDS, _OTHERS_FACTOR, _OTHERS_BYTES, _OTHERS_ANSWERS = 20.0, 2.0, 16 << 20, 3
"""The cluster's rates are means of some seconds: only a rate far above the run's own in that time is another's."""
_SEVERITY = {"HEALTH_WARN": 1, "HEALTH_ERR": 2}


@dataclass(frozen=True, slots=True)
class Signal:
    """One thing that the cluster reports at a moment."""

    kind: FindingKind
    values: Mapping[str, Value] = field(default_factory=dict)
    subject: str = ""
    """``osd.2``, a flag; empty where the kind is enough."""
    weight: float = 1.0
    """How much of it: of a signal that lasts, the heaviest is shown."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """Details by name."""
    since: float | None = None
    """When it began, in elapsed seconds, where that is known to have been before this moment."""


def signals(sample: ClusterSample, before: ClusterSample | None, *, has_mds: bool = True) -> Iterator[Signal]:
    """All signals of a moment; ``before`` is the state before the run, whose complaints are not repeated.

    Without ``has_mds``, those for what does not pass an MDS.
    """
    yield from _osds(sample.osds_down, sample.osds, sample.osds_up, OSD_DOWN)
    yield from _osds(sample.osds_out, sample.osds, sample.osds_in, OSD_OUT)
    yield from _pgs(sample)
    if rate := sample.recovery_bandwidth_bytes:
        yield Signal(RECOVERY, {"rate_bytes": rate}, weight=rate)
    for flag in sample.flags:
        yield Signal(FLAG, {"flag": flag}, flag)
    if sample.slow_ops:
        yield Signal(SLOW_OPS, {"operations": sample.slow_ops}, weight=sample.slow_ops)
    missing = (sample.monitors or 0) - (sample.monitors_in_quorum or 0)
    if sample.monitors and sample.monitors_in_quorum is not None and missing > 0:
        yield Signal(MONITORS, {"missing": missing, "of": sample.monitors}, weight=missing)
    yield from _health(sample, before, has_mds)


def _health(sample: ClusterSample, before: ClusterSample | None, has_mds: bool) -> Iterator[Signal]:
    """New health checks, those that cost speed apart from the others; or a worse status."""
    checks = before.checks if before else {}
    new = new_checks(checks, sample.checks)
    severity = _SEVERITY.get(sample.health or "", 0)
    worse = severity > _SEVERITY.get((before.health if before else None) or "", 0)
    is_before = before is None and sample.phase == "prepare"
    stood = sample.checks.keys() - (() if is_before else new.keys())
    # without a new check one has become graver, or none is known
    effects = by_effect(new or (sample.checks if worse else {}), stood=stood, has_mds=has_mds)
    if severity and (effects.speed or (worse and not effects.other)):
        yield Signal(HEALTH_SPEED, {"status": str(sample.health)}, weight=severity, parts=effects.speed)
    if severity and effects.other:
        yield Signal(HEALTH_OTHER, {"status": str(sample.health)}, weight=severity, parts=effects.other)


def _osds(names: Sequence[str] | None, total: int | None, remaining: int | None, kind: FindingKind) -> Iterator[Signal]:
    """OSDs that are down or out, by name where that is known."""
    for name in names or ():
        yield Signal(kind, {"osd": name}, name)
    number = (total or 0) - (remaining or 0)
    if names is None and total and remaining is not None and number > 0:
        yield Signal(kind, {"osds": number, "of": total}, weight=number)


def _pgs(sample: ClusterSample) -> Iterator[Signal]:
    """PGs that are inactive, that lack copies or have them elsewhere, that are being scrubbed, that trim snapshots."""
    number = sum(sample.pg_states.values())
    # a PG that is being created is of a new pool, which nothing is read from or written to yet
    states = {state: count for state, count in sample.pg_states.items() if "creating" not in state.split("+")}
    inactive = {state: count for state, count in states.items() if not serves(state)}
    unclean = {s: count for s, count in sample.pg_states.items() if serves(s) and not is_clean(s)}
    scrubbed = {state: count for state, count in sample.pg_states.items() if scrubs(state)}
    if inactive:
        yield _pg_signal(PGS_INACTIVE, inactive, number, _counted(inactive))
    if unclean:
        ratios = (("degraded", sample.degraded_ratio), ("misplaced", sample.misplaced_ratio))
        parts = {word: f"{units.percent(100 * ratio)} of the objects {word}" for word, ratio in ratios if ratio}
        is_degraded = any("degraded" in state for state in unclean)
        yield _pg_signal(PGS, unclean, number, {**parts, **_counted(unclean)}, degraded=is_degraded)
    if scrubbed:
        is_deep = any("deep" in state.split("+") for state in scrubbed)
        yield _pg_signal(SCRUB, scrubbed, number, {}, scrubbed="deep-scrubbed" if is_deep else "scrubbed")
    if trimming := {state: count for state, count in sample.pg_states.items() if trims(state)}:
        yield _pg_signal(SNAPTRIM, trimming, number, {})


def _pg_signal(
    kind: FindingKind, states: Mapping[str, int], total: int, parts: Mapping[str, str], **values: Value
) -> Signal:
    number = sum(states.values())
    return Signal(kind, {"pgs": number, "of": total, **values}, "", number, parts)


def _counted(states: Mapping[str, int]) -> dict[str, str]:
    return {state: f"{count} {state}" for state, count in sorted(states.items(), key=lambda pair: -pair[1])}


class OtherClients:
    """Compares the rate of all clients with the run's own."""

    def __init__(self) -> None:
        self._own: deque[tuple[float, float]] = deque()
        """Elapsed seconds and bytes per second of the last samples of all nodes."""
        self._answers = 0
        """How many in a row are above the run's own."""

    def add(self, merged: Sample) -> None:
        """Take in a sample of all nodes merged."""
        rates = [flow.bandwidth_bytes for name, flow in merged.flows.items() if name not in (FLUSH, COMMIT)]
        own_rate = sum(math.inf if rate is None else rate for rate in rates)  # of a DELETE, what moves is not known
        self._own.append((merged.elapsed_seconds, own_rate))
        while self._own[0][0] < merged.elapsed_seconds - _RATE_LAG_SECONDS:
            self._own.popleft()

    def signals(self, sample: ClusterSample) -> Iterator[Signal]:
        """Far more client I/O than the run itself can have done, several times in a row."""
        rate, own_rate = sample.client_bandwidth_bytes or 0.0, max((rate for _, rate in self._own), default=0.0)
        is_known = sample.phase == "run" and sample.elapsed_seconds > _RATE_LAG_SECONDS and self._own
        is_more = is_known and rate > _OTHERS_FACTOR * own_rate + _OTHERS_BYTES
        self._answers = self._answers + 1 if is_more else 0
        if self._answers >= _OTHERS_ANSWERS:
            yield Signal(OTHER_CLIENTS, {"rate_bytes": rate - own_rate}, weight=rate - own_rate)
