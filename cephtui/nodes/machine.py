"""What a node does beside the benchmark, as ``machine.sh`` reports it each second. Pure.

The counters are the kernel's: proc(5), and its documentation of iostats and of snmp_counter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from cephtui.frozen import dataclass
from cephtui.models import MachineUse
from cephtui.paths import packaged_text

SCRIPT = packaged_text("cephtui.nodes", "machine.sh")
RECORD_MOST_BYTES = 4096
LEAST_SECONDS = 0.5
"""Of a shorter time there are no figures: the kernel counts CPU time in hundredths of a second."""
_STEP_SECONDS = 2.0
"""A clock that moves on by so much more or less than time does was set."""
_SAME_STEP_SECONDS = 0.5
_BUSY_LEAST, _DISKS_MOST = 0.01, 16
_DIGITS_MOST = 20

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
    """``cpu``, ``own``, ``ceph``, ``others`` are ticks, ``tcp`` segments sent and sent again, ``order`` those
    that came, and that came out of order."""
    nics: Mapping[str, Counts] = field(default_factory=dict)
    """Bytes, packets, errors and drops: of what came in, then of what went out."""
    disks: Mapping[str, Counts] = field(default_factory=dict)
    """Milliseconds with something to do."""
    errors: tuple[str, ...] = ()


_LENGTHS = {"cpus": 1, "cpu": 8, "run": 1, "own": 2, "ceph": 2, "others": 1, "heat": 2, "nic": 8, "disk": 1}
_LENGTHS |= {"tcp": 2, "order": 2}
"""How many numbers each group has at least."""


def _moment_of(record: bytes) -> _Moment | None:
    """The moment of a record; None where the record does not have its time. What can't be read is left out."""
    groups: dict[str, Counts] = {}
    things: dict[str, dict[str, Counts]] = {"nic": {}, "disk": {}}
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
    nics, disks = ({name: counts for name, counts in things[kind].items() if counts} for kind in ("nic", "disk"))
    return _Moment(*times, kept, nics, disks, tuple(reversed(errors)))


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
        self._heat: Counts | None = None
        """The counts at the begin."""
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
        before, heat = self._before, now.groups.get("heat")
        self._heat = self._heat or heat
        seconds = now.uptime_seconds - before.uptime_seconds if before else 0.0
        step = self._stepped(now)
        disks = self._busy(now, seconds)
        if before and 0 < seconds < LEAST_SECONDS and not (now.errors or heat):
            return None  # the next one has these counts too
        self._before = now
        if before is None or seconds <= 0:
            return None
        use = _use(before, now, seconds, disks) if seconds >= LEAST_SECONDS else MachineUse()
        throttled = _grown(self._heat, heat) if heat else None
        return seconds, use.model_copy(
            update={
                "clock_offset_seconds": round(now.time_of_day - console_time, 3),
                "clock_step_seconds": step,
                "throttled": throttled[0] if throttled else None,
                "throttled_seconds": throttled[1] / 1000 if throttled else None,
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
    tcp, order = (_grown(before.groups.get(name), now.groups.get(name)) for name in ("tcp", "order"))
    received, sent = (sum(grown[at] for grown in nics.values()) / seconds for at in (0, 4))
    cpus, running = (now.groups.get(name) for name in ("cpus", "run"))
    return MachineUse(
        cpus=cpus[0] if cpus else None,
        processes_running=max(0, running[0] - 1) if running else None,  # the reporter itself runs then
        tcp_segments_sent=tcp[0] if tcp else None,
        tcp_segments_resent=tcp[1] if tcp else None,
        tcp_segments_received=order[0] if order else None,
        tcp_segments_disordered=order[1] if order else None,
        packets=sum(grown[1] + grown[5] for grown in nics.values()) if nics else None,
        received_bytes_per_second=round(received) if nics else None,
        sent_bytes_per_second=round(sent) if nics else None,
        nic_drops={name: drops for name, grown in nics.items() if (drops := grown[3] + grown[7])},
        nic_errors={name: errors for name, grown in nics.items() if (errors := grown[2] + grown[6])},
        disk_busy_ratio=disks,
        **_cpu_ratios(before, now),
    )


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
    own, ceph, others = (_grown(before.groups.get(name), now.groups.get(name)) for name in ("own", "ceph", "others"))
    ratios = {"cpu_busy_ratio": 1 - (idle + waiting) / total, "cpu_steal_ratio": steal / total}
    if own:
        ratios["cpu_own_ratio"] = min(1.0, sum(own) / total)
    if own and ceph:
        ratios["cpu_others_ratio"] = max(0, user - own[0] - ceph[0]) / total
    elif others:  # in a container
        ratios["cpu_others_ratio"] = min(1.0, others[0] / total)
    return {name: round(ratio, 4) for name, ratio in ratios.items()}
