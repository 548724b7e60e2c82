"""What is unusual in the state of a cluster at a moment: OSDs, PGs, flags, health, load of other clients."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from cephtui import units
from cephtui.ceph.cluster import is_clean, scrubs, serves
from cephtui.frozen import dataclass
from cephtui.models import ClusterSample, Sample

_RATE_LAG_SECONDS, _OTHERS_FACTOR, _OTHERS_BYTES, _OTHERS_ANSWERS = 20.0, 2.0, 16 << 20, 3
"""The cluster's rates are means of some seconds: only a rate far above the run's own in that time is another's."""
_SEVERITY = {"HEALTH_WARN": 1, "HEALTH_ERR": 2}


@dataclass(frozen=True, slots=True)
class Signal:
    """One thing that the cluster reports at a moment."""

    code: str
    text: str
    label: str
    subject: str = ""
    """``osd.2``, a flag; empty where the code is enough."""
    weight: float = 1.0
    """How much of it: of a signal that lasts, the heaviest is shown."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """Details by name."""


def signals(sample: ClusterSample, before: ClusterSample | None) -> Iterator[Signal]:
    """All of a moment; ``before`` is the state before the run, whose complaints are not repeated."""
    yield from _osds(sample.osds_down, sample.osds, sample.osds_up, "down")
    yield from _osds(sample.osds_out, sample.osds, sample.osds_in, "out")
    yield from _pgs(sample)
    if sample.recovery_bandwidth_bytes:
        rate = units.bandwidth(sample.recovery_bandwidth_bytes)
        text = f"recovery of up to {rate} during the run"
        yield Signal("recovery", text, f"recovery {rate}", weight=sample.recovery_bandwidth_bytes)
    for flag in sample.flags:
        yield Signal("flag", f"the cluster's flag {flag} was set", f"{flag} set", flag)
    if sample.slow_ops:
        text = f"up to {sample.slow_ops} operations were slow"
        yield Signal("slow-ops", text, "slow ops", weight=sample.slow_ops)
    missing = (sample.monitors or 0) - (sample.monitors_in_quorum or 0)
    if sample.monitors_in_quorum is not None and missing > 0:
        text = f"{missing} of {sample.monitors} monitors {'was' if missing == 1 else 'were'} out of quorum"
        yield Signal("monitors", text, "monitor down", weight=missing)
    yield from _health(sample, before)


def _health(sample: ClusterSample, before: ClusterSample | None) -> Iterator[Signal]:
    """New health checks, or a worse status."""
    checks = before.checks if before else {}
    new = {code: text for code, text in sample.checks.items() if code not in checks}
    severity = _SEVERITY.get(sample.health or "", 0)
    worse = severity > _SEVERITY.get((before.health if before else None) or "", 0)
    if severity and (new or worse):
        text = f"the cluster was {sample.health}"
        yield Signal("health", text, str(sample.health), weight=severity, parts=new)


def _osds(names: Sequence[str] | None, all_: int | None, rest: int | None, word: str) -> Iterator[Signal]:
    """OSDs that are down or out, by name where that is known."""
    code = f"osd-{word}"
    for name in names or ():
        yield Signal(code, f"{name} was {word}", f"{name} {word}", name)
    number = (all_ or 0) - (rest or 0)
    if names is None and all_ and rest is not None and number > 0:
        was = "was" if number == 1 else "were"
        yield Signal(code, f"{number} of {all_} OSDs {was} {word}", f"{number} OSD {word}", weight=number)


def _pgs(sample: ClusterSample) -> Iterator[Signal]:
    """PGs that are inactive, that lack copies or have them elsewhere, and that are being scrubbed."""
    number = sum(sample.pg_states.values())
    inactive = {state: count for state, count in sample.pg_states.items() if not serves(state)}
    unclean = {s: count for s, count in sample.pg_states.items() if serves(s) and not is_clean(s)}
    scrubbed = {state: count for state, count in sample.pg_states.items() if scrubs(state)}
    if inactive:
        text = f"{_some(inactive, number)} not active"
        yield Signal("pgs-inactive", text, "PGs not active", "", sum(inactive.values()), _counted(inactive))
    if unclean:
        ratios = (("degraded", sample.degraded_ratio), ("misplaced", sample.misplaced_ratio))
        parts = {word: f"{units.percent(100 * ratio)} of the objects {word}" for word, ratio in ratios if ratio}
        text = f"{_some(unclean, number)} not active+clean"
        label = "PGs degraded" if any("degraded" in state for state in unclean) else "PGs not clean"
        yield Signal("pgs", text, label, "", sum(unclean.values()), {**parts, **_counted(unclean)})
    if scrubbed:
        deep = "deep-scrubbed" if any("deep" in state.split("+") for state in scrubbed) else "scrubbed"
        text = f"{_some(scrubbed, number)} being {deep}"
        yield Signal("scrub", text, "scrub", weight=sum(scrubbed.values()))


def _some(states: Mapping[str, int], all_: int) -> str:
    number = sum(states.values())
    return f"1 of {all_} PGs was" if number == 1 else f"up to {number} of {all_} PGs were"


def _counted(states: Mapping[str, int]) -> dict[str, str]:
    return {state: f"{count} {state}" for state, count in sorted(states.items(), key=lambda item: -item[1])}


class OtherClients:
    """Compares the rate of all clients with the run's own."""

    def __init__(self) -> None:
        self._own: deque[tuple[float, float]] = deque()
        """Elapsed seconds and bytes per second of the last samples of all nodes."""
        self._answers = 0
        """How many in a row are above the run's own."""

    def add(self, merged: Sample) -> None:
        """Take in a sample of all nodes merged."""
        self._own.append((merged.elapsed_seconds, sum(i.bandwidth_bytes or 0.0 for i in merged.flows.values())))
        while self._own[0][0] < merged.elapsed_seconds - _RATE_LAG_SECONDS:
            self._own.popleft()

    def signals(self, sample: ClusterSample) -> Iterator[Signal]:
        """Far more client I/O than the run itself can have done, several times in a row."""
        rate, own = sample.client_bandwidth_bytes or 0.0, max((rate for _, rate in self._own), default=0.0)
        is_known = sample.phase == "run" and sample.elapsed_seconds > _RATE_LAG_SECONDS and self._own
        is_more = is_known and rate > _OTHERS_FACTOR * own + _OTHERS_BYTES
        self._answers = self._answers + 1 if is_more else 0
        if self._answers >= _OTHERS_ANSWERS:
            text = f"other clients moved up to {units.bandwidth(rate - own)}"
            yield Signal("other-clients", text, "other clients", weight=rate - own)
