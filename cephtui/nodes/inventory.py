"""Asks a node which disks, network interfaces and OSDs it has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from cephtui.models.inventory import Disk, Inventory, Nic, Partition
from cephtui.nodes.shell import Shell
from cephtui.paths import packaged_text

_SCRIPT = packaged_text("cephtui.nodes", "inventory.sh")
_ROWS_MOST = 20_000
"""More lines than any node has disks, partitions and interfaces."""
_SPEED_UNIT = 1_000_000
"""Bits per second in the kernel's unit; it has -1, or nothing, where it does not know."""
_WHOLE = re.compile(r"[0-9]{1,20}")
_KINDS: Mapping[str, Literal["physical", "bond", "bridge", "vlan"]] = {
    "physical": "physical",
    "bond": "bond",
    "bridge": "bridge",
    "vlan": "vlan",
}
_USES = {"block": "", "block.db": " db", "block.wal": " wal"}
Rows = Mapping[str, Sequence[Sequence[str]]]


def inventory_argv(sys: str = "/sys", ceph: str = "/var/lib/ceph") -> tuple[str, ...]:
    """The command that reports an Inventory; it only reads. ``sys`` and ``ceph`` are where those trees are."""
    return ("bash", "-c", _SCRIPT, "cephtui-inventory", sys, ceph)


async def inventory(shell: Shell) -> Inventory:
    """The hardware of a node; empty where it can't be read. Raises TransportError."""
    return parse_inventory((await shell.run(inventory_argv())).stdout)


def parse_inventory(text: str) -> Inventory:
    """The output of ``inventory_argv``; lines that are not as expected are passed over."""
    rows: dict[str, list[list[str]]] = {}
    for line in text.splitlines()[:_ROWS_MOST]:
        key, *values = line.split("\t")
        rows.setdefault(key, []).append(values)
    return Inventory(disks=tuple(_disks(rows)), nics=tuple(_nics(rows)))


def _is_whole(text: str) -> bool:
    return _WHOLE.fullmatch(text) is not None


def _disks(rows: Rows) -> Iterable[Disk]:
    for values in rows.get("disk", ()):
        match values:
            case [name, size, rotational, *model] if name and _is_whole(size):
                yield Disk(
                    name=name,
                    device_class="nvme" if name.startswith("nvme") else "hdd" if rotational == "1" else "ssd",
                    size_bytes=int(size),
                    model=" ".join(model).strip() or None,
                    partitions=tuple(_partitions(rows, name)),
                    osds=tuple(_osds(rows, name)),
                )


def _partitions(rows: Rows, disk: str) -> Iterable[Partition]:
    for values in rows.get("partition", ()):
        match values:
            case [on, name, start, size] if on == disk and _is_whole(start) and _is_whole(size):
                yield Partition(name=name, start_bytes=int(start), size_bytes=int(size))


def _osds(rows: Rows, disk: str) -> Iterable[str]:
    for values in rows.get("osd", ()):
        match values:
            case [number, use, on] if on == disk and _is_whole(number) and use in _USES:
                yield f"osd.{int(number)}{_USES[use]}"


def _nics(rows: Rows) -> Iterable[Nic]:
    for values in rows.get("nic", ()):
        match values:
            case [name, kind, state, mtu, speed, members] if name:
                yield Nic(
                    name=name,
                    kind=_KINDS.get(kind),
                    state=state,
                    bits_per_second=_SPEED_UNIT * int(speed) if _is_whole(speed) and int(speed) else None,
                    mtu=int(mtu) if _is_whole(mtu) else None,
                    members=tuple(members.split()),
                    addresses=tuple(row[1] for row in rows.get("address", ()) if len(row) == 2 and row[0] == name),
                )
