"""Findings about nodes and tools: what of them takes part in the figures."""

from __future__ import annotations

from cephtui import units
from cephtui.models.findings.kind import FindingKind, Values, says, slow_label, were_slow, worded

_FIO = "https://fio.readthedocs.io/en/latest/fio_doc.html"

DEPTH = FindingKind(
    "depth", "note", "client", "depth 1",
    says("depth {iodepth} was not reached: {ioengine} has one I/O in flight in each job, libaio as many as asked"),
    why="With one I/O in flight IOPS are one divided by the latency: the figure is not that of the depth.",
    cure="measure with ioengine=libaio, or more jobs", source=f"{_FIO}#cmdoption-arg-iodepth",
)  # fmt: skip
ONE_STREAM = FindingKind(
    "one-stream", "note", "client", "one stream",
    says("one stream with one I/O at a time: many clients, or a deeper queue, can have much more"),
    why="Its rate is that of one round trip after the other, a small part of what a cluster can do.",
    cure="measure many I/Os at a time: write-throughput, read-throughput",
)  # fmt: skip


def _one_thread(values: Values) -> str:
    was = worded("was busy for more than {busy_percent} % of the time {where}", values)
    if "version" in values:
        more = "the link may carry more, which 3.16 or later shows"
        return worded("one thread of iperf3 {version} serves all streams and ", values) + f"{was}: {more}"
    return f"the thread of the only stream {was}: the link may carry more, try parallel=4"


ONE_THREAD = FindingKind(
    "one-thread", "note", "client", "one thread", _one_thread,
    why="One CPU limits what one thread sends: the link may carry more.",
    cure="measure with more streams (parallel=4), with iperf3 3.16 or later",
    source="https://github.com/esnet/iperf/releases/tag/3.16",
)  # fmt: skip


def under_median(fraction: float, group: str | None) -> str:
    """``38 % under the median of hdd``."""
    return f"{100 * fraction:.0f} % under the median of {group or 'all'}"


def _slow_job(values: Values) -> str:
    place = f" ({values['place']})" if "place" in values else ""
    under = under_median(values["fraction"], values.get("group"))
    return worded("{job}", values) + place + worded(": {direction} {rate_bytes:bandwidth}, ", values) + under


SLOW_JOB = FindingKind(
    "slow-job", "note", "client", "slow disk", _slow_job,
    why="In a cluster every client waits for the slowest disk that its data lies on.",
    cure="look at that disk: smartctl -a, its log, its cables, its place in the controller",
)  # fmt: skip


def _slow_node(values: Values) -> str:
    is_bandwidth = values["figure"] == "bandwidth"
    rate, others = (units.bandwidth(values[name]) if is_bandwidth else units.iops(values[name]) for name in _RATES)
    did = f"{were_slow(values, 'node', 'slow_nodes')}: {rate}{'' if is_bandwidth else ' IOPS'}"
    if values["nodes"] == 2:
        return f"{did}, the other node did {others}"
    of_several = " (median)" if "slow_nodes" in values else ""
    return f"{did}{of_several}, the median of the other nodes is {others}"


_RATES = ("rate", "others")
SLOW_NODE = FindingKind(
    "slow-node", "limits", "client", "slow node", _slow_node, label=slow_label("node", "slow_nodes"),
    slows=True,
    why="One node was held up by something of its own: the sum of all nodes is not what the cluster can do.",
    cure="look at that node: its link and errors of its NIC (ip -s link, cephtui run network), its load, its disk; "
    "measure without it to see what the others do",
)  # fmt: skip
PORTION = FindingKind(
    "portion", "note", "client", "written to the end",
    says("an OSD can't be stopped: what it had begun, about a second's, it has written to the end"),
    why="The OSD was busy for a second longer than the run.",
    cure="let the run end by itself",
)  # fmt: skip
KRBD = FindingKind(
    "krbd", "note", "client", "through krbd",
    says(
        "measured through krbd, the RBD client of Linux {kernel}, not librbd, which VMs of Proxmox VE use unless "
        "their storage has krbd"
    ),
    why="krbd and librbd have different figures: compare with what VMs and containers of this cluster use.",
    cure="none needed; choose a target rbd: to measure through librbd",
    source="https://pve.proxmox.com/wiki/Storage:_RBD",
)  # fmt: skip
NETWORK_UNKNOWN = FindingKind(
    "network-unknown", "note", "client", "network unknown",
    says("the cluster's networks are not known on {node}: measured to the address that SSH uses"),
    why="The link between these addresses may not be the one that Ceph uses.",
    cure="install ceph-common and a keyring on the node, or name the address as the target",
)  # fmt: skip
MTU = FindingKind(
    "mtu", "note", "client", "different MTUs",
    says("the MTU of the nodes differs in a network that joins them: {nodes:listed}"),
    why="Whatever their network is, the MTU of its interfaces is not the same on these nodes: large packets may be "
    "lost, and a node with a smaller MTU sends more packets for the same data.",
    cure="set the same MTU on all nodes and hosts of OSDs of a network and on its switch",
    source="https://docs.ceph.com/en/latest/rados/configuration/network-config-ref/",
)  # fmt: skip


def _slow_link(values: Values) -> str:
    rate = f"{values['link']}: {units.link_rate(values['rate_bytes'])}"
    if "others" in values:
        return f"{rate}, the median of the other links is {units.link_rate(values['others'])}"
    return f"{rate}, and its NICs have {units.link_rate(values['nic'])}"


SLOW_LINK = FindingKind(
    "slow-link", "limits", "client", "slow link", _slow_link,
    slows=True,
    why="Every I/O whose data passes this link waits for it: large blocks, recovery, and all that comes at once.",
    cure="look at that link: its speed and errors (ethtool INTERFACE, ip -s link), what tc holds back (tc qdisc), "
    "cable and port of the switch",
    source="https://docs.ceph.com/en/latest/rados/configuration/network-config-ref/",
)  # fmt: skip
UNKILLABLE = FindingKind(
    "unkillable", "note", "client", "process left",
    says("{process}"),
    why="A process that even KILL does not end waits in the kernel for its I/O: it may still load the cluster.",
    cure="look for the process on the node, and for what its I/O waits for: ceph health detail",
)  # fmt: skip
CONSOLE = FindingKind(
    "console", "note", "client", "console stood still",
    lambda values: worded(
        "the console stood still from {from_seconds:clock} to {to_seconds:clock}: samples and answers of that time "
        "came late", values
    ),
    why="Samples that came late are placed by their own times; of the cluster nothing is known in between.",
    cure="give the console's machine less to do, and measure again where that time matters",
)  # fmt: skip
LEFT_CHANGED = FindingKind(
    "left-changed", "limits", "client", "change in place",
    lambda values: worded(
        "with a change of session {session} in place: {command}" if values.get("is_in_place")
        else "session {session} has run {command}", values
    ),
    why="The cluster was not as its settings were before that check, and may be changed back at any time.",
    cure="take the change back, or wait for the end of that check: cephtui cleanup",
)  # fmt: skip


def ended_words(values: Values) -> str:
    """``lab2 ended at 0:12: fio was killed (SIGKILL)``; a node that never began has no ``from_seconds``."""
    if values.get("from_seconds") is None:
        return worded("{node} took no part: {why}", values)
    return worded("{node} ended at {from_seconds:clock}: {why}", values)


def _node_ended(values: Values) -> str:
    if values.get("from_seconds") is None:
        return f"{ended_words(values)}; all figures are of the other nodes"
    figures = "all figures are of the whole run time, those after {from_seconds:clock} without {node}"
    return f"{ended_words(values)}; {worded(figures, values)}"


NODE_ENDED = FindingKind(
    "node-ended", "limits", "client", "node ended early", _node_ended, label=says("without {node}"),
    why="From then on the cluster had less load: the figures are those of two different loads.",
    cure="look for the reason on that node, and measure again",
)  # fmt: skip
