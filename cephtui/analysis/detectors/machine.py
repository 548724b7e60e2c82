"""What the nodes did beside the benchmark: what took their CPUs or their packets from it, and when. Pure.

A rule holds in a second or does not; a stretch of such seconds counts where it is long and clear enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from statistics import fmean

from cephtui.frozen import dataclass as frozen_dataclass
from cephtui.models import Finding, MachineUse, NodeSample
from cephtui.models.findings.kind import FindingKind, Value
from cephtui.models.findings.machine import (
    CLIENT_CPU,
    CLOCK,
    CLOCK_STEP,
    CPU_QUOTA,
    CPU_TAKEN,
    DISORDERED,
    KERNEL_ERRORS,
    MEMORY_WANTED,
    NIC_DROPS,
    NIC_ERRORS,
    RETRANSMITS,
    ROUND_TRIP,
    STEAL,
    THROTTLED,
)

LEAST_SECONDS = 4.0
"""A shorter stretch is an accident of every machine."""
_STRETCHES_MOST = 12
_FULL, _TAKEN, OWN = 0.95, 0.2, 0.5
"""CPUs that are so busy have no time to spare; so much of it, taken by others, is missing; so much is the most part."""
_STEAL, _HEAVY_STEAL, _LOST = 0.05, 0.2, 0.01
"""Steal that counts; that counts however short it is; else the least share of the whole run's CPU time."""
_MEMORY, _SWAPPED = 0.1, 100
"""Share of the time and pages a second. Without swapping the kernel waits for memory too: it frees that of files."""
_RESENT, _RESENT_SECOND, _RESENT_TOGETHER, _RESENT_LEAST = 0.01, 0.005, 0.003, 50
"""Shares of the segments, of a stretch, a second and several runs. In networks without faults it is below 0.001."""
_DROPPED_LEAST, _DAMAGED_LEAST = 100, 10
_LOSSES = {"nic_drops": 0.001, "nic_errors": 1e-5}
"""Shares of an interface's packets. A host drops some that are for none of its programs, such as multicast."""
_CARRIES = 0.1
"""An interface with a smaller part of all packets does not carry the run: what it loses is not the run's."""
_THROTTLED_TIMES, _THROTTLED = 10, 0.01
_OFF_SECONDS = 2.0
_FAR_SECONDS, _FAR_MOST = 5e-4, 8
"""A round trip between hosts of one place takes a fraction of that; and how many addresses are named."""
_MEANS = (
    "cpu_busy_ratio",
    "cpu_steal_ratio",
    "cpu_own_ratio",
    "cpu_others_ratio",
    "processes_running",
    "memory_wait_ratio",
    "received_bytes_per_second",
    "sent_bytes_per_second",
)
_AT_THE_END = ("throttled", "throttled_seconds", "quota_ended", "quota_seconds", "kernel_errors")
_SUMS = (
    "pages_swapped_in",
    "tcp_segments_sent",
    "tcp_segments_resent",
    "tcp_segments_received",
    "tcp_segments_disordered",
    "packets",
)


@frozen_dataclass(frozen=True, slots=True)
class Timed:
    """What a machine did in so many seconds."""

    seconds: float
    use: MachineUse

    def joined(self, other: Timed) -> Timed:
        """Both together: means by their time, and sums; what only one of them knows is that one's."""
        whole = self.seconds + other.seconds
        values: dict[str, object] = {"cpus": self.use.cpus or other.use.cpus}
        for name in (*_MEANS, *_SUMS):
            first, second = getattr(self.use, name), getattr(other.use, name)
            if first is None or second is None:
                values[name] = second if first is None else first
            elif name in _SUMS:
                values[name] = first + second
            else:
                values[name] = (first * self.seconds + second * other.seconds) / whole
        for name in ("nic_packets", *_LOSSES):
            values[name] = _added(getattr(self.use, name), getattr(other.use, name))
        values["disk_busy_ratio"] = {
            disk: (self.use.disk_busy_ratio.get(disk, 0.0) * self.seconds
                   + other.use.disk_busy_ratio.get(disk, 0.0) * other.seconds) / whole
            for disk in {**self.use.disk_busy_ratio, **other.use.disk_busy_ratio}
        }  # fmt: skip
        return Timed(whole, self.use.model_copy(update=values))


def _added(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    return {name: first.get(name, 0) + second.get(name, 0) for name in {**first, **second}}


@frozen_dataclass(frozen=True, slots=True)
class _Rule:
    """What counts where it goes on for some time."""

    kind: FindingKind
    holds: Callable[[MachineUse], bool]
    """Whether a second is like that."""
    counts: Callable[[Timed, float], bool]
    """Whether a stretch counts, in a run that was measured for so many seconds."""
    values: Callable[[MachineUse], dict[str, Value]]
    gap_seconds: float = 2.0
    """A stretch that is interrupted for so long goes on."""


def _is_taken(use: MachineUse) -> bool:
    return (use.cpu_busy_ratio or 0.0) >= _FULL and (use.cpu_others_ratio or 0.0) >= _TAKEN


def _steal_counts(stretch: Timed, measured_seconds: float) -> bool:
    ratio = stretch.use.cpu_steal_ratio or 0.0
    return ratio >= _HEAVY_STEAL or ratio * stretch.seconds >= _LOST * measured_seconds


def _resent(use: MachineUse, least: int, share: float) -> bool:
    resent, sent = use.tcp_segments_resent or 0, use.tcp_segments_sent or 0
    return resent >= least and resent >= share * (sent + resent)


def _disordered(use: MachineUse, least: int, share: float) -> bool:
    disordered, received = use.tcp_segments_disordered or 0, use.tcp_segments_received or 0
    return disordered >= least and disordered >= share * received


def _with_its_losses(stretch: Timed, whole: Timed) -> Timed:
    """A stretch of a run with the losses of those interfaces only that carry the run, and that lose too many packets.

    They are compared with at least as many packets as the interface has in so long a time: what it drops all along,
    with nothing else to do, is not why the run stands still.
    """
    carried, packets = _packets(whole.use), _packets(stretch.use)
    share = stretch.seconds / max(whole.seconds, 1e-9)
    of_all = {
        name: max(number * share, packets.get(name, 0))
        for name, number in carried.items()
        if number >= _CARRIES * sum(carried.values())
    }
    losses = {
        field: {n: lost for n, lost in getattr(stretch.use, field).items() if n in of_all and lost >= least * of_all[n]}
        for field, least in _LOSSES.items()
    }
    return Timed(stretch.seconds, stretch.use.model_copy(update=losses))


def _packets(use: MachineUse) -> Mapping[str, int]:
    """Packets by interface; those of all where an earlier cephtui has not told them apart."""
    lossy = dict.fromkeys({**use.nic_drops, **use.nic_errors}, use.packets) if use.packets else {}
    return use.nic_packets or lossy


def _losses(use: MachineUse) -> MachineUse:
    second = Timed(1.0, use)
    return _with_its_losses(second, second).use


def _cpu_values(use: MachineUse) -> dict[str, Value]:
    return {"busy_ratio": round(use.cpu_busy_ratio or 0.0, 4), "others_ratio": round(use.cpu_others_ratio or 0.0, 4)}


def _packet_values(counts: Mapping[str, int], use: MachineUse) -> dict[str, Value]:
    packets = sum(_packets(use).get(name, 0) for name in counts)
    return {"nics": tuple(sorted(counts)), "number": sum(counts.values()), "packets": packets}


_RULES = (
    _Rule(CPU_TAKEN, _is_taken, lambda stretch, _: stretch.seconds >= LEAST_SECONDS, _cpu_values),
    _Rule(
        STEAL,
        lambda use: (use.cpu_steal_ratio or 0.0) >= _STEAL,
        lambda stretch, measured: stretch.seconds >= LEAST_SECONDS and _steal_counts(stretch, measured),
        lambda use: {"ratio": round(use.cpu_steal_ratio or 0.0, 4)},
    ),
    _Rule(
        MEMORY_WANTED,
        lambda use: (use.memory_wait_ratio or 0.0) >= _MEMORY and (use.pages_swapped_in or 0) >= _SWAPPED,
        lambda stretch, _: stretch.seconds >= LEAST_SECONDS,
        lambda use: {"ratio": round(use.memory_wait_ratio or 0.0, 4), "pages": use.pages_swapped_in or 0},
    ),
    _Rule(
        RETRANSMITS,
        lambda use: _resent(use, 3, _RESENT_SECOND),
        lambda stretch, _: _resent(stretch.use, _RESENT_LEAST, _RESENT),
        lambda use: {"resent": use.tcp_segments_resent or 0, "sent": use.tcp_segments_sent or 0},
        gap_seconds=10.0,
    ),
    _Rule(
        DISORDERED,
        lambda use: _disordered(use, 3, _RESENT_SECOND),
        lambda stretch, _: _disordered(stretch.use, _RESENT_LEAST, _RESENT),
        lambda use: {"disordered": use.tcp_segments_disordered or 0, "received": use.tcp_segments_received or 0},
        gap_seconds=10.0,
    ),
    _Rule(
        NIC_DROPS,
        lambda use: sum(_losses(use).nic_drops.values()) >= 10,
        lambda stretch, _: sum(stretch.use.nic_drops.values()) >= _DROPPED_LEAST,
        lambda use: _packet_values(use.nic_drops, use),
        gap_seconds=10.0,
    ),
    _Rule(
        NIC_ERRORS,
        lambda use: sum(_losses(use).nic_errors.values()) >= 1,
        lambda stretch, _: sum(stretch.use.nic_errors.values()) >= _DAMAGED_LEAST,
        lambda use: _packet_values(use.nic_errors, use),
        gap_seconds=10.0,
    ),
)


def lost_together(node: str, uses: Iterable[MachineUse]) -> Iterator[Finding]:
    """What of a node's segments was lost in several runs, at least one, each of which may have too few to show it."""
    together = reduce(Timed.joined, (Timed(1.0, use) for use in uses))
    lost = {RETRANSMITS: _resent, DISORDERED: _disordered}
    for rule in _RULES:
        if rule.kind in lost and lost[rule.kind](together.use, _RESENT_LEAST, _RESENT_TOGETHER):
            yield rule.kind.found(node=node, **rule.values(together.use))


def troubles(use: MachineUse) -> tuple[str, ...]:
    """What is unusual in a second, in a few words each; it is a finding only where it lasts."""
    return tuple(rule.kind.title for rule in _RULES if rule.holds(use))


@dataclass(slots=True)
class _Stretch:
    begun: float
    over: float
    timed: Timed


@dataclass(slots=True)
class _Node:
    """What is kept of a node."""

    measured: Timed | None = None
    stretches: dict[str, list[_Stretch]] = field(default_factory=dict)
    """By the code of the rule's kind."""
    offset_seconds: float | None = None
    """The greatest of the clock, since an answer that takes longer makes it less."""
    steps: list[tuple[float, float]] = field(default_factory=list)
    """When the clock was set, and how far."""
    trips: dict[str, float] = field(default_factory=dict)
    """The shortest round trip to each address of OSDs."""
    end: MachineUse | None = None
    """The use with what is known at the end only."""


class Machines:
    """Takes in what the nodes did in a run."""

    def __init__(self) -> None:
        self._nodes: dict[str, _Node] = {}

    def add(self, sample: NodeSample) -> None:
        """Take in a sample."""
        use, node = sample.machine, self._nodes.setdefault(sample.node, _Node())
        offset = use.clock_offset_seconds
        if offset is not None and (node.offset_seconds is None or offset > node.offset_seconds):
            node.offset_seconds = offset
        if use.clock_step_seconds is not None and len(node.steps) < _STRETCHES_MOST:
            node.steps.append((sample.elapsed_seconds, use.clock_step_seconds))
        for address, trip in use.round_trips_seconds.items():
            node.trips[address] = min(trip, node.trips.get(address, trip))
        if any(getattr(use, name) not in (None, ()) for name in _AT_THE_END):
            node.end = use
        if sample.phase == "run":
            timed = Timed(sample.interval_seconds, use)
            node.measured = node.measured.joined(timed) if node.measured else timed
            for rule in _RULES:
                if rule.holds(use):
                    _extend(node.stretches.setdefault(rule.kind.code, []), rule, sample.elapsed_seconds, timed)

    def use(self, name: str) -> MachineUse | None:
        """What a node did while it measured, with what was known at its end; None where it was not watched."""
        node = self._nodes.get(name)
        if node is None or node.measured is None:
            return None
        end = node.end or MachineUse()
        return _rounded(node.measured.use).model_copy(
            update={
                "clock_offset_seconds": node.offset_seconds,
                "clock_step_seconds": sum(step for _, step in node.steps) if node.steps else None,
                "round_trips_seconds": dict(node.trips),
                **{name: getattr(end, name) for name in _AT_THE_END},
            }
        )

    def events(self) -> Iterator[Finding]:
        """What has a time, each stretch for itself."""
        for name, node in self._nodes.items():
            for rule in _RULES:
                for stretch in node.stretches.get(rule.kind.code, ()):
                    measured = node.measured or stretch.timed
                    timed = _with_its_losses(stretch.timed, measured)
                    if rule.counts(timed, measured.seconds):
                        span = (stretch.begun, stretch.over)
                        yield rule.kind.found(span, node=name, **rule.values(timed.use))
            for at, step in node.steps:
                yield CLOCK_STEP.found((at, at), node=name, by_seconds=abs(step), is_ahead=step > 0)

    def states(self) -> Iterator[Finding]:
        """What is true of a node as a whole."""
        for name, node in self._nodes.items():
            if node.measured:
                yield from _client_cpu(name, node.measured)
            yield from _round_trips(name, node.trips)
            if node.end and node.measured:
                yield from _at_the_end(name, node.end, node.measured)
            if node.offset_seconds is not None and abs(node.offset_seconds) >= _OFF_SECONDS and not node.steps:
                off = node.offset_seconds
                yield CLOCK.found(node=name, by_seconds=abs(off), is_ahead=off > 0)


def _extend(stretches: list[_Stretch], rule: _Rule, at: float, timed: Timed) -> None:
    """Go on with the newest stretch, or begin another, in place of one that will not count."""
    begun = max(0.0, at - timed.seconds)
    if stretches and (begun - stretches[-1].over <= rule.gap_seconds or len(stretches) >= _STRETCHES_MOST):
        newest = stretches[-1]
        newest.over, newest.timed = at, newest.timed.joined(timed)
        return
    if stretches and not rule.counts(_with_its_losses(stretches[-1].timed, stretches[-1].timed), 0.0):
        stretches.pop()
    stretches.append(_Stretch(begun, at, timed))


def _rounded(use: MachineUse) -> MachineUse:
    ratios = {name: round(value, 4) for name in _MEANS if (value := getattr(use, name)) is not None}
    disks = {disk: round(ratio, 3) for disk, ratio in use.disk_busy_ratio.items()}
    return use.model_copy(update={**ratios, "disk_busy_ratio": disks})


def _client_cpu(name: str, measured: Timed) -> Iterator[Finding]:
    use = measured.use
    busy, own = use.cpu_busy_ratio or 0.0, use.cpu_own_ratio or 0.0
    is_own = own >= OWN * busy and (use.cpu_others_ratio or 0.0) < _TAKEN
    if measured.seconds >= LEAST_SECONDS and busy >= _FULL and is_own and (use.cpu_steal_ratio or 0.0) < _STEAL:
        yield CLIENT_CPU.found(node=name, busy_ratio=round(busy, 4), own_ratio=round(own, 4))


def _round_trips(name: str, trips: Mapping[str, float]) -> Iterator[Finding]:
    """A path to OSDs that takes long; the values have the mean of all paths, since I/Os are spread over the OSDs."""
    far = sorted((address for address, trip in trips.items() if trip >= _FAR_SECONDS), key=lambda name: -trips[name])
    near = [trip for address, trip in trips.items() if address not in far]
    if far:
        yield ROUND_TRIP.found(
            node=name,
            addresses=tuple(far[:_FAR_MOST]),
            far=len(far),
            seconds=trips[far[0]],
            mean_seconds=fmean(trips.values()),
            others=fmean(near) if near else None,
        )


def _at_the_end(name: str, end: MachineUse, measured: Timed) -> Iterator[Finding]:
    times, seconds = end.throttled or 0, end.throttled_seconds or 0.0
    if times >= _THROTTLED_TIMES or seconds >= _THROTTLED * measured.seconds * (measured.use.cpus or 1):
        yield THROTTLED.found(node=name, times=times, seconds=seconds or None)
    quota_ended, held_back = end.quota_ended or 0, end.quota_seconds or 0.0
    if quota_ended >= _THROTTLED_TIMES and held_back >= _THROTTLED * measured.seconds * (measured.use.cpus or 1):
        yield CPU_QUOTA.found(node=name, times=quota_ended, seconds=held_back)
    if end.kernel_errors:
        yield KERNEL_ERRORS.found(node=name, lines=end.kernel_errors)


def beside(events: Sequence[Finding], nodes: Sequence[str]) -> list[Finding]:
    """The events without those of other nodes than these."""
    return [event for event in events if event.values.get("node", nodes[0]) in nodes]
