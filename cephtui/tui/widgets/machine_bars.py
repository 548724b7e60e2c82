"""What the only node of a run did beside the benchmark, as bars: its CPUs, its memory, its disks, its network."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import set_cell_size
from rich.text import Text

from cephtui import units
from cephtui.analysis.detectors.machine import troubles
from cephtui.models import MachineUse

_PARTS = {
    "cpu_own_ratio": "benchmark",
    "cpu_others_ratio": "others",
    "cpu_steal_ratio": "steal",
}
"""Parts of the time in which the CPUs were busy."""
_LEAST_RATIO, _LEAST_RATE = 0.01, 1e5
"""Less is nothing that tells on a benchmark."""
_DISKS_MOST, _NAME_MOST, _VALUE_COLUMNS, _BAR_LEAST = 3, 14, 8, 4


def machine_bars(use: MachineUse | None, width: int, *, ascii_only: bool) -> list[Text]:
    """A row for each share of the time, with a bar of which the full length is 100 %, and for the network.

    The most important come first; none where the machine is not watched.
    """
    if use is None or use.cpu_busy_ratio is None:
        return []
    rows = list(_rows(use))
    names = min(_NAME_MOST, max(len(name) for name, _, _ in rows))
    columns, style = width - names - _VALUE_COLUMNS - 2, "yellow" if troubles(use) else "dim"
    lines = []
    for name, value, ratio in rows:
        line = Text(f"{set_cell_size(name, names)} {value:>{_VALUE_COLUMNS}} ")
        if ratio is not None and columns >= _BAR_LEAST:
            line.append(("=" if ascii_only else "━") * round(columns * min(1.0, ratio)), style)
        lines.append(line)
    return lines


def _rows(use: MachineUse) -> Iterator[tuple[str, str, float | None]]:
    """The name, the value and the share of each row."""
    shares = {"cpu": use.cpu_busy_ratio}
    shares |= {f"  {name}": getattr(use, field) for field, name in _PARTS.items()}
    disks = sorted(use.disk_busy_ratio.items(), key=lambda disk: -disk[1])[:_DISKS_MOST]
    shares |= {**dict(disks), "memory wait": use.memory_wait_ratio}
    for name, ratio in shares.items():
        if ratio is not None and (ratio >= _LEAST_RATIO or name == "cpu"):
            yield name, f"{100 * ratio:.0f} %", ratio
    for name, rate in {"net in": use.received_bytes_per_second, "net out": use.sent_bytes_per_second}.items():
        if rate is not None and rate >= _LEAST_RATE:
            yield name, units.bandwidth(rate), None
