"""What a node has that decides how fast it can be: disks, network interfaces, tools."""

from typing import Literal

from cephtui.models.base import Line, Model, Name


class Partition(Model):
    """A part of a disk."""

    name: Name
    start_bytes: int
    """Where the partition begins on the disk."""
    size_bytes: int


class Disk(Model):
    """A block device that is made of no other."""

    name: Name
    """The kernel's name: ``sda``, ``nvme0n1``."""
    device_class: Literal["hdd", "ssd", "nvme"]
    """The class in Ceph's words, by what the kernel reports of the disk."""
    size_bytes: int
    model: Line | None = None
    partitions: tuple[Partition, ...] = ()
    osds: tuple[Line, ...] = ()
    """What OSDs have on it: ``osd.3``, ``osd.4 db``."""


class Nic(Model):
    """A network interface: a physical one, or one that is up."""

    name: Name
    kind: Literal["physical", "bond", "bridge", "vlan"] | None = None
    state: Name
    """The state as the kernel calls it: ``up``, ``down``."""
    bits_per_second: int | None = None
    """Null where the kernel does not know it."""
    mtu: int | None = None
    """Bytes."""
    members: tuple[Name, ...] = ()
    """The names of the interfaces that it is made of."""
    addresses: tuple[Line, ...] = ()
    """The addresses, each with the length of its network's prefix: ``10.0.0.1/24``."""


class Inventory(Model):
    """The hardware of a node, as far as the kernel and the cluster report it."""

    disks: tuple[Disk, ...] = ()
    nics: tuple[Nic, ...] = ()


class ToolRow(Model):
    """A benchmark program on a node."""

    tool: Name
    version: Line | None = None
    """The version as the program prints it; null where it is not installed."""
    problem: Line | None = None
    """Why it can't be used, with the next step."""
    presets: tuple[Name, ...] = ()
    """The names of the presets that need it."""
