"""What is wrong with the hardware of nodes, as far as it can be read."""

from __future__ import annotations

import ipaddress
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from cephtui.ceph.osd_devices import OsdDevices, osds_by_disk
from cephtui.models.inventory import Disk, Inventory, Nic
from cephtui.models.rows import NodeRow

_BLOCK_BYTES = 4096
_SMALL_BYTES = 1 << 20
"""The size of a boot loader's partition, or of the frame around others, which hold no data."""


def with_osds(inventory: Inventory, osds: Iterable[OsdDevices], hostname: str | None) -> Inventory:
    """The inventory with the OSDs that the cluster knows on this host, where the node itself could not name them."""
    here = osds_by_disk(osds, hostname)
    disks = (
        disk.model_copy(update={"osds": tuple(dict.fromkeys([*disk.osds, *here.get(disk.name, ())]))})
        for disk in inventory.disks
    )
    return inventory.model_copy(update={"disks": tuple(disks)})


def with_hardware(row: NodeRow, inventory: Inventory) -> NodeRow:
    """The row of a node with its disks and network interfaces."""
    return row.model_copy(update={"disks": inventory.disks, "nics": inventory.nics})


def with_findings(rows: Sequence[NodeRow]) -> list[NodeRow]:
    """The rows with what is wrong on each of these nodes, and between them."""
    mtus = differing_mtus({row.node: row.nics for row in rows})
    return [
        row.model_copy(
            update={"findings": (*misaligned(row.disks), *(text for text, nodes in mtus.items() if row.node in nodes))}
        )
        for row in rows
    ]


def misaligned(disks: Iterable[Disk]) -> list[str]:
    """A line for each partition that does not begin at a multiple of 4 KiB."""
    return [
        f"{part.name} begins at byte {part.start_bytes:,} of {disk.name}, not at a multiple of 4 KiB, so each "
        f"4 KiB I/O needs two blocks of the disk: create the partition again at 1 MiB (parted -a optimal)"
        for disk in disks
        for part in disk.partitions
        if part.start_bytes % _BLOCK_BYTES and part.size_bytes > _SMALL_BYTES
    ]


def differing_mtus(nodes: Mapping[str, Sequence[Nic]]) -> dict[str, tuple[str, ...]]:
    """A line for each network whose interfaces on these nodes have not all the same MTU, with the nodes in it."""
    places: dict[str, dict[int, list[tuple[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for node, nics in nodes.items():
        for nic in nics:
            for network in {_network(address) for address in nic.addresses} - {""}:
                if nic.mtu:
                    places[network][nic.mtu].append((node, nic.name))
    return {
        f"different MTUs in {network} ({_listed(mtus)}): set the same MTU on all of them and on the switch": tuple(
            dict.fromkeys(node for places in mtus.values() for node, _ in places)
        )
        for network, mtus in places.items()
        if len(mtus) > 1
    }


def _listed(mtus: Mapping[int, Sequence[tuple[str, str]]]) -> str:
    return "; ".join(
        f"{mtu} on {', '.join(f'{nic} of {node}' for node, nic in places)}" for mtu, places in sorted(mtus.items())
    )


def _network(address: str) -> str:
    """``10.0.0.0/24`` of ``10.0.0.1/24``; empty for a network of one address."""
    try:
        network = ipaddress.ip_interface(address).network
    except ValueError:
        return ""
    return str(network) if network.num_addresses > 1 else ""
