"""What a node does beside the benchmark, as ``machine.sh`` reports it each second. Pure.

The counters are the kernel's: proc(5), and its documentation of iostats and of snmp_counter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from cephtui import models
from cephtui.frozen import dataclass
from cephtui.paths import packaged_text

if TYPE_CHECKING:
    from cephtui.models import MachineUse

SCRIPT = packaged_text("cephtui.nodes", "machine.sh")
RECORD_MOST_BYTES = 4096
LEAST_SECONDS = 0.5
"""Of a shorter time there are no figures: the kernel counts CPU time in hundredths of a second."""
_STEP_SECONDS = 2.0
"""A clock that moves on by so much more or less than time does was set."""
_SAME_STEP_SECONDS = 0.5
_BUSY_LEAST, _DISKS_MOST = 0.01, 16
_DIGITS_MOST = 20
_TICK_SECONDS = 0.01
_FEW_TICKS = 0.02
"""A share of the CPU time that changes nothing."""

Counts = tuple[int, ...]


def record_mark(token: str) -> bytes:
    """What a record begins with."""
    return f"\x01cephtui node {token}".encode()


@dataclass(frozen=True, slots=True)
class _Moment:
    """The counters of a node at a moment; what it did not report is missing."""

    time_of_day: float
    uptime_seconds: float
    groups: Mapping[str, Counts] = field(default_factory=dict)
    """``cpu``, ``own``, ``ceph``, ``watch`` (the reporter itself), ``others`` are ticks, ``heat`` and ``quota`` have
    how often CPUs were throttled and milliseconds and nanoseconds in which they were, ``memory`` has microseconds in
    which a process waited for memory and pages that came back from swap, ``waited`` nanoseconds in which processes
    waited for a CPU and had one, ``cgroups`` microseconds, ``tcp`` segments sent and sent again, ``needless`` those
    that were sent again and that the receiver had already (RFC 2883), ``order`` those that came, and that came out of
    order.
    """
    nics: Mapping[str, Counts] = field(default_factory=dict)
    """Bytes, packets, errors and drops: of what came in, then of what went out."""
    disks: Mapping[str, Counts] = field(default_factory=dict)
    """Milliseconds with something to do."""
    trips: Mapping[str, Counts] = field(default_factory=dict)
    """Microseconds of the shortest round trip to each address of OSDs."""
    errors: tuple[str, ...] = ()


_LENGTHS = {"cpus": 1, "cpu": 8, "run": 1, "own": 2, "ceph": 2, "watch": 2, "others": 2, "heat": 2, "nic": 8, "disk": 1}
_LENGTHS |= {"trip": 1, "memory": 2, "quota": 2, "waited": 2, "cgroups": 1, "tcp": 2, "needless": 1, "order": 2}
"""How many numbers each group has at least."""

_AT_ENDS = ("heat", "quota")


def _moment_of(record: bytes) -> _Moment | None:
    """The moment of a record; None where the record does not have its time. What can't be read is left out."""
    groups: dict[str, Counts] = {}
    things: dict[str, dict[str, Counts]] = {"nic": {}, "disk": {}, "trip": {}}
    times, errors = None, list[str]()
    for text in record.decode("utf-8", "replace").split("\x1f"):
        name, _, rest = text.partition(" ")
        words = rest.split()
        if name == "log":
            errors.append(rest)
        elif name == "time":
            times = _times(words)
        elif name in things and words:
            things[name][words[0]] = _counts(words[1:], _LENGTHS[name])
        elif name in _LENGTHS:
            groups[name] = _counts(words, _LENGTHS[name])
    if times is None:
        return None
    kept = {name: counts for name, counts in groups.items() if counts}
    of_things = ({name: counts for name, counts in counted.items() if counts} for counted in things.values())
    nics, disks, trips = of_things
    return _Moment(*times, kept, nics, disks, trips, tuple(reversed(errors)))


def _times(words: Sequence[str]) -> tuple[float, float] | None:
    try:
        now, uptime = (float(word.replace(",", ".")) for word in words)
    except ValueError:
        return None
    return (now, uptime) if 0 <= uptime < 1e10 and 0 <= now < 1e11 else None


def _counts(words: Sequence[str], least: int) -> Counts:
    """So many numbers; none where there are fewer, or one is none."""
    counted = words[:least]
    if len(counted) < least or not all(w.isascii() and w.isdigit() and len(w) <= _DIGITS_MOST for w in counted):
        return ()
    return tuple(int(word) for word in counted)


def _grown(before: Counts | None, after: Counts | None) -> Counts | None:
    """How far counters have grown; None where one is not known, or began anew."""
    if not before or not after or any(last < first for first, last in zip(before, after, strict=True)):
        return None
    return tuple(last - first for first, last in zip(before, after, strict=True))


class Machine:
    """Makes the use of a node's machine from one record to the next."""

    def __init__(self) -> None:
        self._before: _Moment | None = None
        self._begun: dict[str, Counts] = {}
        """The counts at the begin of what is reported then and at the end."""
        self._disks: dict[str, Counts] = {}
        self._ahead: float | None = None
        """How far the time of day is ahead of the uptime."""
        self._ahead_before = 0.0
        """The same by the record before."""

    def take(self, record: bytes, console_time: float) -> tuple[float, MachineUse] | None:
        """Seconds since the last record and the use in them; None of the first record, and of what is none.

        ``console_time`` is the console's time of day when the record left the node.
        """
        now = _moment_of(record)
        if now is None:
            return None
        before, ended = self._before, {name: now.groups[name] for name in _AT_ENDS if name in now.groups}
        self._begun = ended | self._begun
        seconds = now.uptime_seconds - before.uptime_seconds if before else 0.0
        step = self._stepped(now)
        disks = self._busy(now, seconds)
        if before and 0 < seconds < LEAST_SECONDS and not (now.errors or ended):
            return None  # the next one has these counts too
        self._before = now
        if before is None or seconds <= 0:
            return None
        use = _use(before, now, seconds, disks) if seconds >= LEAST_SECONDS else models.MachineUse()
        heat, quota = (_grown(self._begun.get(name), ended.get(name)) for name in _AT_ENDS)
        return seconds, use.model_copy(
            update={
                "clock_offset_seconds": round(now.time_of_day - console_time, 3),
                "clock_step_seconds": step,
                "throttled": heat[0] if heat else None,
                "throttled_seconds": heat[1] / 1000 if heat else None,
                "quota_ended": quota[0] if quota else None,
                "quota_seconds": round(quota[1] * 1e-9, 3) if quota else None,
                "kernel_errors": now.errors,
            }
        )

    def _stepped(self, now: _Moment) -> float | None:
        """How far the clock was set, once a second record agrees: between its two times a process may have to wait."""
        ahead, before = now.time_of_day - now.uptime_seconds, self._ahead_before
        self._ahead_before = ahead
        step = 0.0 if self._ahead is None else ahead - self._ahead
        if abs(step) < _STEP_SECONDS:
            self._ahead = ahead  # it may drift
        elif abs(ahead - before) < _SAME_STEP_SECONDS:
            self._ahead = ahead
            return round(step, 3)
        return None

    def _busy(self, now: _Moment, seconds: float) -> dict[str, float]:
        """The share of the time in which each disk was busy; a disk that is not reported was not."""
        grown = {name: _grown(self._disks.get(name), ticks) for name, ticks in now.disks.items()}
        self._disks |= now.disks
        if seconds < LEAST_SECONDS:
            return {}
        ratios = {name: min(1.0, ticks[0] / 1000 / seconds) for name, ticks in grown.items() if ticks}
        busiest = sorted(ratios.items(), key=lambda disk: -disk[1])[:_DISKS_MOST]
        return {name: round(ratio, 3) for name, ratio in busiest if ratio >= _BUSY_LEAST}


def _use(before: _Moment, now: _Moment, seconds: float, disks: dict[str, float]) -> MachineUse:
    nics = {name: grown for name, counts in now.nics.items() if (grown := _grown(before.nics.get(name), counts))}
    tcp, needless, order, memory = (
        _grown(before.groups.get(name), now.groups.get(name)) for name in ("tcp", "needless", "order", "memory")
    )
    received, sent = (sum(grown[at] for grown in nics.values()) / seconds for at in (0, 4))
    cpus, running = (now.groups.get(name) for name in ("cpus", "run"))
    return models.MachineUse(
        cpus=cpus[0] if cpus else None,
        processes_running=max(0, running[0] - 1) if running else None,  # the reporter itself runs then
        memory_wait_ratio=round(min(1.0, memory[0] * 1e-6 / seconds), 4) if memory else None,
        pages_swapped_in=memory[1] if memory else None,
        tcp_segments_sent=tcp[0] if tcp else None,
        tcp_segments_resent=max(0, tcp[1] - (needless[0] if needless else 0)) if tcp else None,
        tcp_segments_received=order[0] if order else None,
        tcp_segments_disordered=order[1] if order else None,
        packets=sum(grown[1] + grown[5] for grown in nics.values()) if nics else None,
        nic_packets={name: packets for name, grown in nics.items() if (packets := grown[1] + grown[5])},
        received_bytes_per_second=round(received) if nics else None,
        sent_bytes_per_second=round(sent) if nics else None,
        nic_drops={name: drops for name, grown in nics.items() if (drops := grown[3] + grown[7])},
        nic_errors={name: errors for name, grown in nics.items() if (errors := grown[2] + grown[6])},
        disk_busy_ratio=disks,
        round_trips_seconds={_address(peer): trip[0] / 1e6 for peer, trip in now.trips.items()},
        **_cpu_ratios(before, now),
    )


def _address(peer: str) -> str:
    """An address as it is written elsewhere; ss puts those of IPv6 into brackets, and IPv4 may be written as IPv6."""
    return peer.strip("[]").removeprefix("::ffff:")


def _cpu_ratios(before: _Moment, now: _Moment) -> dict[str, float]:
    """The shares of CPU time that are known, by their fields."""
    first, last = before.groups.get("cpu"), now.groups.get("cpu")
    if first is None or last is None:
        return {}
    # of idle and iowait the kernel's own counters go back at times
    user, nice, system, idle, waiting, hard, soft, steal = (max(0, b - a) for a, b in zip(first, last, strict=True))
    total = user + nice + system + idle + waiting + hard + soft + steal
    if not total:
        return {}
    own = _grown(before.groups.get("own"), now.groups.get("own"))
    ratios = {"cpu_busy_ratio": 1 - (idle + waiting) / total, "cpu_steal_ratio": steal / total}
    if own:
        ratios["cpu_own_ratio"] = min(1.0, sum(own) / total)
    if own and (others := _others_ticks(before, now, own, user, nice, total)) is not None:
        ratios["cpu_others_ratio"] = min(1.0, others / total)
    return {name: round(ratio, 4) for name, ratio in ratios.items()}


def _others_ticks(before: _Moment, now: _Moment, own: Counts, user: int, nice: int, total: int) -> float | None:
    """The time of other programs at least, as far as they can have taken it from the benchmark; None: not known.

    Of a lower priority they can where the benchmark waited for a CPU longer than it had one: priorities count only
    within a cgroup or a session.
    """
    names = ("ceph", "watch", "others", "waited", "cgroups")
    ceph, watch, others, waited, cgroups = (_grown(before.groups.get(name), now.groups.get(name)) for name in names)
    has_waited = waited is not None and waited[0] > waited[1]
    if ceph:
        known = [own, ceph, watch or (0, 0)]
        in_user_mode = user + (nice if has_waited else 0) - sum(ticks[0] for ticks in known)
        # of programs with a lower priority the time in the kernel is not known
        counts_all = cgroups is not None and (has_waited or nice <= _FEW_TICKS * total)
        in_cgroups = cgroups[0] * 1e-6 / _TICK_SECONDS if cgroups and counts_all else 0.0
        return max(0.0, in_user_mode, in_cgroups - sum(map(sum, known)))
    if others:  # in a container
        return others[0] + (others[1] if has_waited else 0)
    return None
