"""How busy the client of a run was, in words: depth, CPU and disks of a node."""

from __future__ import annotations

from collections.abc import Mapping

from cephtui import units
from cephtui.analysis.conditions import load_of, threads_not_counted
from cephtui.models import DiskUse, NodeResult, Run
from cephtui.reports.text import cut

_SHOWN_PERCENT = 0.15
"""Of a range of depths; fio has 0.1 for every smaller share."""


def client_facts(run: Run, node: NodeResult) -> dict[str, str]:
    """By name; what the tool did not report is left out."""
    found = {"depth": depth_text(run, node.depths), "cpu": cpu_text(run, node), "disks": disks_text(node)}
    return {name: text for name, text in found.items() if text}


def depth_text(run: Run, depths: Mapping[str, float]) -> str:
    """``64 asked: 93.0 % of the I/Os were submitted with 64 in flight, 7.0 % with 32 to 63``; empty where not known."""
    load = load_of(run)
    if not depths or load is None:
        return ""
    firsts = [int(name.removeprefix(">=")) for name in depths]
    lasts = [*(first - 1 for first in firsts[1:]), max(load.depth, firsts[-1])]
    shares = [
        (share, _range(first, min(last, max(first, load.depth))), first <= load.depth <= last)
        for first, last, share in zip(firsts, lasts, depths.values(), strict=True)
        if share >= _SHOWN_PERCENT
    ][::-1]
    if not shares:
        return ""
    reached = "" if any(asked for *_, asked in shares) else ", not reached"
    (share, number, _), *others = shares
    first = f"{units.percent(share)} of the I/Os were submitted with {number} in flight"
    return ", ".join([f"{load.depth} asked{reached}: {first}", *(f"{units.percent(s)} with {n}" for s, n, _ in others)])


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first} to {last}"


def cpu_text(run: Run, node: NodeResult) -> str:
    """``user 2.6 %, system 17.7 % of one CPU for each job; 12,345 context switches``; empty where not known."""
    if node.cpu_user_percent is None and node.cpu_system_percent is None:
        return ""
    switches = "" if node.context_switches is None else f"; {node.context_switches:,} context switches"
    used = f"user {units.percent(node.cpu_user_percent)}, system {units.percent(node.cpu_system_percent)}"
    return f"{used} of one CPU for each job{threads_not_counted(run)}{switches}"


def disks_text(node: NodeResult) -> str:
    """``vda 39.5 % busy, 213 reads (80 us each), 3 merged``: of the whole machine, the ramp included."""
    shown, more = cut(map(_disk, node.disks), "disks")
    return "; ".join([*shown, *[more] * bool(more)])


def _disk(disk: DiskUse) -> str:
    parts = [f"{disk.name} {units.percent(disk.utilisation_percent)} busy"]
    for word, ios, waited in (
        ("reads", disk.read_ios, disk.read_wait_seconds),
        ("writes", disk.write_ios, disk.write_wait_seconds),
    ):
        if ios:
            each = f" ({units.latency(waited / ios)} each)" if waited is not None else ""
            parts.append(f"{ios:,} {word}{each}")
    merged = (disk.read_merges or 0) + (disk.write_merges or 0)
    return ", ".join([*parts, *[f"{merged:,} merged"] * bool(merged)])
