"""Findings about nodes and tools: what of them takes part in the figures."""

from __future__ import annotations

from cephtui import units
from cephtui.models.findings.kind import FindingKind, Values, says, slow_label, were_slow, worded

_FIO = "https://fio.readthedocs.io/en/latest/fio_doc.html"

DEPTH = FindingKind(
    "depth", "note", "client", "depth 1",
    says("depth {iodepth} was not reached: {ioengine} keeps one I/O in flight per job, libaio as many as iodepth"),
    why="With one I/O in flight, IOPS is one divided by the latency: the figure is not that of this depth.",
    cure="measure with ioengine=libaio, or with more jobs", source=f"{_FIO}#cmdoption-arg-iodepth",
)  # fmt: skip
ONE_STREAM = FindingKind(
    "one-stream", "note", "client", "one stream",
    says("one stream with one I/O at a time: several clients, or more depth, can reach much more"),
    why="Each I/O waits for the round trip of the one before it, which is a small part of what a cluster can do.",
    cure="measure with many I/Os in flight: write-throughput, read-throughput",
)  # fmt: skip


def _one_thread(values: Values) -> str:
    was = worded("was busy for more than {busy_percent} % of the time {where}", values)
    if "version" in values:
        more = "the link may carry more, which iperf3 3.16 or later can show"
        return worded("one thread of iperf3 {version} serves all streams and ", values) + f"{was}: {more}"
    return f"the only stream has one thread, which {was}: the link may carry more, try parallel=4"


ONE_THREAD = FindingKind(
    "one-thread", "note", "client", "one thread", _one_thread,
    why="One thread can send only what one CPU can: the link may carry more.",
    cure="measure with more streams (parallel=4) and iperf3 3.16 or later",
    source="https://github.com/esnet/iperf/releases/tag/3.16",
)  # fmt: skip


def under_median(fraction: float, group: str | None) -> str:
    """``38 % below the median of hdd``."""
    return f"{100 * fraction:.0f} % below the median of {group or 'all'}"


def _slow_job(values: Values) -> str:
    place = f" ({values['place']})" if "place" in values else ""
    under = under_median(values["fraction"], values.get("group"))
    return worded("{job}", values) + place + worded(": {direction} {rate_bytes:bandwidth}, ", values) + under


SLOW_JOB = FindingKind(
    "slow-job", "note", "client", "slow disk", _slow_job,
    why="In a cluster, every client waits for the slowest disk that holds its data.",
    cure="check that disk: smartctl -a, its error log, its cables, its slot in the controller",
)  # fmt: skip


def _slow_node(values: Values) -> str:
    is_bandwidth = values["figure"] == "bandwidth"
    rate, others = (units.bandwidth(values[name]) if is_bandwidth else units.iops(values[name]) for name in _RATES)
    did = f"{were_slow(values, 'node', 'slow_nodes')}: {rate}{'' if is_bandwidth else ' IOPS'}"
    if values["nodes"] == 2:
        return f"{did}, the other node reached {others}"
    of_several = " (median)" if "slow_nodes" in values else ""
    return f"{did}{of_several}, the median of the other nodes is {others}"


_RATES = ("rate", "others")
SLOW_NODE = FindingKind(
    "slow-node", "limits", "client", "slow node", _slow_node, label=slow_label("node", "slow_nodes"),
    slows=True,
    why="Something on that node slowed it down: the sum of all nodes is not what the cluster can do.",
    cure="check that node: its link and NIC errors (ip -s link, cephtui run network), its load, its disk; "
    "measure without it to see what the other nodes reach",
)  # fmt: skip
PORTION = FindingKind(
    "portion", "note", "client", "written to the end",
    says("an OSD can't be stopped: it finished what it had begun, about a second of writes"),
    why="The OSD was busy for about a second after the run.",
    cure="let the run end by itself",
)  # fmt: skip
KRBD = FindingKind(
    "krbd", "note", "client", "through krbd",
    says(
        "measured through krbd, the RBD client of Linux {kernel}; VMs of Proxmox VE use librbd unless "
        "krbd is set for their storage"
    ),
    why="krbd and librbd have different figures: compare only with the one that VMs and containers of this cluster "
    "use.",
    cure="none needed; choose an rbd: target to measure through librbd",
    source="https://pve.proxmox.com/wiki/Storage:_RBD",
)  # fmt: skip
NETWORK_UNKNOWN = FindingKind(
    "network-unknown", "note", "client", "network unknown",
    says("the cluster's networks are not known on {node}: the link to its SSH address was measured"),
    why="Ceph may use another link.",
    cure="install ceph-common and a keyring on the node, or name the address in the target: host:NODE@ADDRESS",
)  # fmt: skip
MTU = FindingKind(
    "mtu", "note", "client", "different MTUs",
    says("the nodes have different MTUs in the same network: {nodes:listed}"),
    why="With different MTUs in one network, large packets may be lost, and a node with a smaller MTU sends more "
    "packets for the same data.",
    cure="set the same MTU on all nodes, OSD hosts and switches of that network",
    source="https://docs.ceph.com/en/latest/rados/configuration/network-config-ref/",
)  # fmt: skip


def _slow_link(values: Values) -> str:
    rate = f"{values['link']}: {units.link_rate(values['rate_bytes'])}"
    if "others" in values:
        return f"{rate}, the median of the other links is {units.link_rate(values['others'])}"
    return f"{rate}, the NICs have {units.link_rate(values['nic'])}"


SLOW_LINK = FindingKind(
    "slow-link", "limits", "client", "slow link", _slow_link,
    slows=True,
    why="Every I/O that passes this link waits for it, above all large blocks, recovery and bursts.",
    cure="check that link: its speed and errors (ethtool INTERFACE, ip -s link), traffic shaping (tc qdisc), the cable "
    "and the switch port",
    source="https://docs.ceph.com/en/latest/rados/configuration/network-config-ref/",
)  # fmt: skip
UNKILLABLE = FindingKind(
    "unkillable", "note", "client", "process left",
    says("{process}"),
    why="A process that survives SIGKILL waits in the kernel for its I/O: it may still load the cluster.",
    cure="find the process on the node, and what blocks its I/O: ceph health detail",
)  # fmt: skip
CONSOLE = FindingKind(
    "console", "note", "client", "console blocked",
    lambda values: worded(
        "the console was blocked from {from_seconds:clock} to {to_seconds:clock}: samples and answers of that time "
        "came late", values
    ),
    why="Late samples are shown at their own times, but the state of the cluster in that time is not known.",
    cure="reduce the load on the machine of the console; measure again if that time matters",
)  # fmt: skip
LEFT_CHANGED = FindingKind(
    "left-changed", "limits", "client", "change in place",
    lambda values: worded(
        "measured while a change of session {session} was in place: {command}" if values.get("is_in_place")
        else "session {session} ran {command}", values
    ),
    why="A setting of the cluster was changed by that check, and may be changed back at any time.",
    cure="undo the change with cephtui cleanup, or wait for the end of that check",
)  # fmt: skip


def ended_words(values: Values) -> str:
    """``lab2 ended at 0:12: fio was killed (SIGKILL)``; a node that never began has no ``from_seconds``."""
    if values.get("from_seconds") is None:
        return worded("{node} took no part: {why}", values)
    return worded("{node} ended at {from_seconds:clock}: {why}", values)


def _node_ended(values: Values) -> str:
    if values.get("from_seconds") is None:
        return f"{ended_words(values)}; all figures are those of the other nodes"
    figures = "all figures cover the whole run, without {node} after {from_seconds:clock}"
    return f"{ended_words(values)}; {worded(figures, values)}"


NODE_ENDED = FindingKind(
    "node-ended", "limits", "client", "node ended early", _node_ended, label=says("without {node}"),
    why="From then on the cluster had less load: the figures mix two different loads.",
    cure="find the reason on that node, and measure again",
)  # fmt: skip
