"""Findings about the machines that run the benchmark: what takes their CPUs and their network from it."""

from __future__ import annotations

from collections.abc import Callable

from cephtui import units
from cephtui.models.findings.kind import FindingKind, Values, joined_words, says, worded

_PROC_STAT = "https://man7.org/linux/man-pages/man5/proc_stat.5.html"
_COUNTERS = "https://docs.kernel.org/networking/snmp_counter.html"
_INTERFACES = "https://docs.kernel.org/networking/statistics.html"


def _timed(state: Callable[[Values], str]) -> Callable[[Values], str]:
    """Words for what a node did from when to when, or in several runs, made of the words for what it did."""

    def words(values: Values) -> str:
        when = " from {from_seconds:clock} to {to_seconds:clock}" if "from_seconds" in values else ""
        return joined_words(values) or state(values) + worded(when, values)

    return words


def _percent(ratio: float) -> str:
    return units.percent(100 * ratio)


CPU_TAKEN = FindingKind(
    "cpu-taken", "limits", "client", "CPU taken",
    _timed(lambda values: worded("{node}: the CPUs were ", values) + f"{_percent(values['busy_ratio'])} busy, "
           f"{_percent(values['others_ratio'])} with other programs than the benchmark and Ceph"),
    label=says("CPU of {node} taken"),
    slows=True,
    why="A client that waits for a CPU sends fewer I/Os, and each looks slower than it was.",
    cure="end what else runs there, top shows it, and measure again", source=_PROC_STAT,
)  # fmt: skip
CLIENT_CPU = FindingKind(
    "client-cpu", "limits", "client", "client CPU",
    lambda values: worded("{node}: all CPUs were ", values) + f"{_percent(values['busy_ratio'])} busy, "
    f"{_percent(values['own_ratio'])} with the benchmark itself: the client limits its figures",
    slows=True,
    why="With all its CPUs busy a client can't send more I/Os: what is measured may be able to do more.",
    cure="measure from more nodes at once, or with larger blocks", source=_PROC_STAT,
)  # fmt: skip
STEAL = FindingKind(
    "steal", "limits", "client", "steal",
    _timed(lambda values: f"{values['node']}: the hypervisor took {_percent(values['ratio'])} of the CPU time"),
    label=says("steal on {node}"),
    slows=True,
    why="In that time nothing of the VM ran, the benchmark neither: its I/Os look slower than they were.",
    cure="measure while the host's other VMs are idle, or on a node that is no VM", source=_PROC_STAT,
)  # fmt: skip
MEMORY_WANTED = FindingKind(
    "memory-wanted", "limits", "client", "memory wanted",
    _timed(lambda values: f"{values['node']}: processes waited for memory {_percent(values['ratio'])} of the time, "
           f"{values['pages']:,} pages came back from swap"),
    label=says("memory of {node} wanted"),
    slows=True,
    why="A process whose memory is in swap waits for the swap's disk, the benchmark as well as an OSD.",
    cure="end what else runs there, or lower osd_memory_target, until vmstat 1 shows no si, and measure again",
    source="https://docs.kernel.org/accounting/psi.html",
)  # fmt: skip
RETRANSMITS = FindingKind(
    "retransmits", "limits", "client", "retransmits",
    _timed(lambda values: f"{values['node']}: {_percent(values['resent'] / max(1, values['sent'] + values['resent']))} "
           f"of the TCP segments were sent again ({values['resent']:,})"),
    label=says("{node} retransmits"),
    slows=True,
    why="A segment that was lost is sent again after a pause of milliseconds to seconds, in which its I/O waits. In a "
    "network without faults hardly one in a thousand is.",
    cure="look for the lossy link: ip -s link, ethtool -S INTERFACE, the switch's counters; measure it with the preset "
    "network", source=_COUNTERS,
)  # fmt: skip

DISORDERED = FindingKind(
    "disordered", "limits", "client", "out of order",
    _timed(lambda values: f"{values['node']}: {_percent(values['disordered'] / max(1, values['received']))} of the TCP "
           f"segments came out of order ({values['disordered']:,})"),
    label=says("{node} out of order"),
    slows=True,
    why="A segment that was lost on its way, or that took a slower one, holds up all that came behind it. In a network "
    "without faults hardly one in a thousand does.",
    cure="look for the lossy link: ip -s link, ethtool -S INTERFACE, the switch's counters; of a bond, use a mode that "
    "keeps the packets of a connection in order", source=_COUNTERS,
)  # fmt: skip


def _round_trip(values: Values) -> str:
    addresses = ", ".join(values["addresses"]) + (" and others" if values["far"] > len(values["addresses"]) else "")
    others = worded(", to the other OSDs {others:latency}", values) if values.get("others") is not None else ""
    took = worded("{seconds:latency} at least", values)
    return f"{values['node']}: a packet to the OSDs on {addresses} and back took {took}{others}"


ROUND_TRIP = FindingKind(
    "round-trip", "note", "client", "long round trip", _round_trip,
    label=says("{node} far from OSDs"),
    slows=True,
    why="Each I/O waits for at least one round trip to an OSD. Between hosts of one place a packet takes about 0.1 ms.",
    cure="look at the path to that address: mtr; ethtool for the speed, ethtool -c for a NIC that reports packets "
    "late; power saving of the CPUs; a VPN or a second site in between",
    source="https://docs.ceph.com/en/latest/rados/configuration/network-config-ref/",
)  # fmt: skip


def _of_packets(values: Values) -> str:
    share = values["number"] / max(1, values["packets"])
    return f"{values['number']:,} packets" + (f" ({_percent(share)} of all)" if share < 1 else "")


NIC_DROPS = FindingKind(
    "nic-drops", "limits", "client", "NIC drops",
    _timed(lambda values: worded("{node}: {nics:listed} dropped ", values) + _of_packets(values)),
    label=says("{node} drops packets"),
    slows=True,
    why="A packet that was dropped is sent again after a pause, in which its I/O waits.",
    cure="look at ethtool -S INTERFACE, and make its rings larger: ethtool -G INTERFACE rx N", source=_INTERFACES,
)  # fmt: skip
NIC_ERRORS = FindingKind(
    "nic-errors", "limits", "client", "NIC errors",
    _timed(lambda values: worded("{node}: {nics:listed} had errors in ", values) + _of_packets(values)),
    label=says("{node} NIC errors"),
    slows=True,
    why="A packet that came in damaged is dropped and sent again after a pause, in which its I/O waits.",
    cure="look at ethtool -S INTERFACE, and change the cable or the transceiver", source=_INTERFACES,
)  # fmt: skip
THROTTLED = FindingKind(
    "throttled", "limits", "client", "CPU throttled",
    lambda values: worded("{node}: the CPUs were too hot and were slowed down {times} times", values)
    + (worded(", for {seconds:duration} on all of them together", values) if "seconds" in values else ""),
    slows=True,
    why="The same client is slower when it is hot: the figures depend on the temperature.",
    cure="look at its fans and at sensors, let it cool down, and measure again",
)  # fmt: skip
CPU_QUOTA = FindingKind(
    "cpu-quota", "limits", "client", "CPU quota",
    says("{node}: the CPU quota of the benchmark's cgroup ran out {times} times and held it back for "
         "{seconds:duration}, all CPUs added up"),
    slows=True,
    why="Until its next period, a tenth of a second as a rule, a cgroup whose quota ran out gets no CPU, and its I/Os "
    "wait: the CPUs look idle, and what is measured may be able to do more.",
    cure="raise the limit, and measure again: cpu.max of the cgroup, CPUQuota of the unit, cpulimit of a container",
    source="https://docs.kernel.org/scheduler/sched-bwc.html",
)  # fmt: skip
KERNEL_ERRORS = FindingKind(
    "kernel-errors", "limits", "client", "kernel errors",
    lambda values: f"{values['node']}: the kernel's log has {'; '.join(values['lines'])}",
    slows=True,
    why="A disk or a link that fails, or a program that was killed for memory, takes part in the figures.",
    cure="look into dmesg on that node, and measure again once it is repaired",
)  # fmt: skip
CLOCK = FindingKind(
    "clock", "note", "client", "clock off",
    lambda values: worded("{node}: the clock is {by_seconds:duration} ", values)
    + f"{'ahead of' if values['is_ahead'] else 'behind'} the console's",
    why="The figures don't depend on it, but what happened stands at other times in the logs of that node.",
    cure="let chrony or ntpd set it: chronyc tracking",
)  # fmt: skip
CLOCK_STEP = FindingKind(
    "clock-step", "limits", "client", "clock set",
    lambda values: worded("{node}: the clock was set {by_seconds:duration} ", values)
    + worded("{} at {from_seconds:clock}".replace("{}", "forward" if values["is_ahead"] else "back"), values),
    label=says("clock of {node} set"),
    why="A tool that measures by the time of day has wrong seconds then, and daemons of Ceph complain.",
    cure="measure again once the clock is kept by chrony or ntpd",
)  # fmt: skip
