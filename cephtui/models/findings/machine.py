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
    "cpu-taken", "limits", "client", "CPU shared",
    _timed(lambda values: worded("{node}: the CPUs were ", values) + f"{_percent(values['busy_ratio'])} busy, "
           f"{_percent(values['others_ratio'])} by programs other than the benchmark and Ceph"),
    label=says("CPU of {node} shared"),
    slows=True,
    why="A client that waits for a CPU sends fewer I/Os, and each I/O looks slower than it was.",
    cure="stop the other programs on that node (top shows them), and measure again", source=_PROC_STAT,
)  # fmt: skip
CLIENT_CPU = FindingKind(
    "client-cpu", "limits", "client", "client CPU",
    lambda values: worded("{node}: all CPUs were ", values) + f"{_percent(values['busy_ratio'])} busy, "
    f"{_percent(values['own_ratio'])} by the benchmark itself: the client is the limit",
    slows=True,
    why="With all CPUs busy, the client can't send more I/Os: the target may be able to do more.",
    cure="measure from more nodes, or with larger blocks", source=_PROC_STAT,
)  # fmt: skip
STEAL = FindingKind(
    "steal", "limits", "client", "steal",
    _timed(lambda values: f"{values['node']}: the hypervisor took {_percent(values['ratio'])} of the CPU time"),
    label=says("steal on {node}"),
    slows=True,
    why="During steal time nothing in the VM runs, including the benchmark: its I/Os look slower than they were.",
    cure="measure while the host's other VMs are idle, or on a node that is not a VM", source=_PROC_STAT,
)  # fmt: skip
MEMORY_WANTED = FindingKind(
    "memory-wanted", "limits", "client", "memory pressure",
    _timed(lambda values: f"{values['node']}: processes waited for memory {_percent(values['ratio'])} of the time, "
           f"{values['pages']:,} pages were read back from swap"),
    label=says("memory pressure on {node}"),
    slows=True,
    why="A process waits for the disk when its memory is in swap: the benchmark as well as an OSD.",
    cure="stop other programs on that node, or lower osd_memory_target, until vmstat 1 shows si 0, and measure again",
    source="https://docs.kernel.org/accounting/psi.html",
)  # fmt: skip
RETRANSMITS = FindingKind(
    "retransmits", "limits", "client", "retransmits",
    _timed(lambda values: f"{values['node']}: {_percent(values['resent'] / max(1, values['sent'] + values['resent']))} "
           f"of the TCP segments were retransmitted ({values['resent']:,})"),
    label=says("{node} retransmits"),
    slows=True,
    why="A lost segment is retransmitted after milliseconds to seconds, and its I/O waits. In a healthy network, fewer "
    "than one in a thousand is retransmitted.",
    cure="find the lossy link: ip -s link, ethtool -S INTERFACE, the counters of the switch; measure it with the "
    "preset network", source=_COUNTERS,
)  # fmt: skip

DISORDERED = FindingKind(
    "disordered", "limits", "client", "out of order",
    _timed(lambda values: f"{values['node']}: {_percent(values['disordered'] / max(1, values['received']))} of the TCP "
           f"segments came out of order ({values['disordered']:,})"),
    label=says("{node} out of order"),
    slows=True,
    why="A segment that was lost or took a slower path holds up all segments after it. In a healthy network, fewer "
    "than one in a thousand comes out of order.",
    cure="find the lossy link: ip -s link, ethtool -S INTERFACE, the counters of the switch; for a bond, use a mode "
    "that keeps the packets of a connection in order", source=_COUNTERS,
)  # fmt: skip


def _round_trip(values: Values) -> str:
    addresses = ", ".join(values["addresses"]) + (" and others" if values["far"] > len(values["addresses"]) else "")
    others = worded(", to the other OSDs {others:latency}", values) if values.get("others") is not None else ""
    took = worded("{seconds:latency} at least", values)
    return f"{values['node']}: a round trip to the OSDs on {addresses} took {took}{others}"


ROUND_TRIP = FindingKind(
    "round-trip", "note", "client", "long round trip", _round_trip,
    label=says("{node} far from OSDs"),
    slows=True,
    why="Each I/O waits for at least one round trip to an OSD. Within one site a round trip takes about 0.1 ms.",
    cure="check the path to that address (mtr), the link speed (ethtool), interrupt coalescing (ethtool -c), power "
    "saving of the CPUs, a VPN or a second site in between",
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
    why="A dropped packet is sent again after a pause, and its I/O waits.",
    cure="check ethtool -S INTERFACE, and enlarge the ring buffers: ethtool -G INTERFACE rx N", source=_INTERFACES,
)  # fmt: skip
NIC_ERRORS = FindingKind(
    "nic-errors", "limits", "client", "NIC errors",
    _timed(lambda values: worded("{node}: {nics:listed} had errors in ", values) + _of_packets(values)),
    label=says("{node} NIC errors"),
    slows=True,
    why="A damaged packet is dropped and sent again after a pause, and its I/O waits.",
    cure="check ethtool -S INTERFACE, and replace the cable or the transceiver", source=_INTERFACES,
)  # fmt: skip
THROTTLED = FindingKind(
    "throttled", "limits", "client", "CPU throttled",
    lambda values: worded("{node}: the CPUs overheated and were throttled {times} times", values)
    + (worded(", for {seconds:duration} on all CPUs together", values) if "seconds" in values else ""),
    slows=True,
    why="The client is slower when it is hot: the figures depend on the temperature.",
    cure="check fans and sensors, let the node cool down, and measure again",
)  # fmt: skip
CPU_QUOTA = FindingKind(
    "cpu-quota", "limits", "client", "CPU quota",
    says("{node}: the benchmark used up the CPU quota of its cgroup {times} times and was held back for "
         "{seconds:duration}, summed over all CPUs"),
    slows=True,
    why="A cgroup that has used up its quota gets no CPU until the next period, usually a tenth of a second, and its "
    "I/Os wait: the CPUs look idle, and the target may be able to do more.",
    cure="raise the limit (cpu.max of the cgroup, CPUQuota of the unit, cpulimit of the container), and measure again",
    source="https://docs.kernel.org/scheduler/sched-bwc.html",
)  # fmt: skip
KERNEL_ERRORS = FindingKind(
    "kernel-errors", "limits", "client", "kernel errors",
    lambda values: f"{values['node']}: the kernel's log has {'; '.join(values['lines'])}",
    slows=True,
    why="A failing disk or link, or a program killed for lack of memory, affects the figures.",
    cure="read dmesg on that node, and measure again once the fault is repaired",
)  # fmt: skip
CLOCK = FindingKind(
    "clock", "note", "client", "clock off",
    lambda values: worded("{node}: the clock is {by_seconds:duration} ", values)
    + f"{'ahead of' if values['is_ahead'] else 'behind'} the console's",
    why="The figures don't depend on the clock, but the logs of that node have other times.",
    cure="let chrony or ntpd set the clock: chronyc tracking",
)  # fmt: skip
CLOCK_STEP = FindingKind(
    "clock-step", "limits", "client", "clock set",
    lambda values: worded("{node}: the clock was set {by_seconds:duration} ", values)
    + worded("{} at {from_seconds:clock}".replace("{}", "forward" if values["is_ahead"] else "back"), values),
    label=says("clock of {node} set"),
    why="Tools that measure by the time of day then have wrong figures, and Ceph daemons report clock skew.",
    cure="measure again once chrony or ntpd keeps the clock",
)  # fmt: skip
