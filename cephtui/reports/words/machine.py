"""What a machine did beside the benchmark, in words."""

from __future__ import annotations

from cephtui import units
from cephtui.models import MachineUse
from cephtui.reports.words.cutting import joined

_LEAST_RATIO = 0.005
"""A smaller share is not told: it would be 0 or 1 %."""
_SHARES = {"cpu_own_ratio": "the benchmark", "cpu_others_ratio": "other programs", "cpu_steal_ratio": "steal"}


def busy_text(use: MachineUse | None) -> str:
    """``96 %`` of the time of all CPUs; ``-`` where it is not known."""
    return "-" if use is None or use.cpu_busy_ratio is None else f"{100 * use.cpu_busy_ratio:.0f} %"


def machine_text(use: MachineUse) -> str:
    """``2 CPUs 96.1 % busy (the benchmark 81.0 %), 3.5 threads runnable; TCP ...; network ...; sdb 98.0 % busy``."""
    lost = {**use.nic_drops, **use.nic_errors}
    interfaces = (
        f"{name} {use.nic_drops.get(name, 0):,} drops, {use.nic_errors.get(name, 0):,} errors" for name in sorted(lost)
    )
    disks = (f"{name} {units.percent(100 * ratio)} busy" for name, ratio in use.disk_busy_ratio.items())
    parts = (_cpus(use), _tcp(use), _traffic(use), joined(interfaces, "interfaces"), joined(disks, "disks"))
    return "; ".join(filter(None, parts))


def _cpus(use: MachineUse) -> str:
    if use.cpu_busy_ratio is None:
        return ""
    ratios = {word: getattr(use, name) or 0.0 for name, word in _SHARES.items()}
    shares = ", ".join(f"{word} {units.percent(100 * r)}" for word, r in ratios.items() if r >= _LEAST_RATIO)
    running = "" if use.processes_running is None else f", {use.processes_running:.1f} threads runnable"
    number = f"{use.cpus} CPU{'s' * (use.cpus > 1)} " if use.cpus else ""
    return f"{number}{units.percent(100 * use.cpu_busy_ratio)} busy{f' ({shares})' if shares else ''}{running}"


def _tcp(use: MachineUse) -> str:
    sent, resent, disordered = use.tcp_segments_sent, use.tcp_segments_resent or 0, use.tcp_segments_disordered
    late = f", {disordered:,} came out of order" if disordered else ""
    return f"TCP {sent:,} segments sent, {resent:,} again{late}" if sent else ""


def _traffic(use: MachineUse) -> str:
    received, sent = use.received_bytes_per_second, use.sent_bytes_per_second
    if not (received or sent):
        return ""
    return f"network in {units.bandwidth(received)}, out {units.bandwidth(sent)}"
