"""What a node reports of a block device: the scripts that ask, and their answers parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from cephtui.frozen import dataclass
from cephtui.paths import packaged_text
from cephtui.reading import load_json
from cephtui.targets.devices.queues import QUEUES_FUNCTION, parse_queues

LEADS_FUNCTIONS = packaged_text("cephtui.targets", "leads.sh")
MEMORY_FUNCTIONS = packaged_text("cephtui.targets.devices", "memory.sh")
_INSPECT = packaged_text("cephtui.targets.devices", "inspect.sh")
_LIST = packaged_text("cephtui.targets.devices", "list.sh")
_WRITTEN = packaged_text("cephtui.targets.devices", "written.sh")


@dataclass(frozen=True, slots=True)
class RbdMapping:
    """The image behind a ``/dev/rbdN``, from sysfs."""

    pool: str
    image: str
    namespace: str = ""
    snapshot: str = ""
    """The name of the snapshot that is mapped; empty for the image itself."""
    client: int | None = None
    """The number that Ceph gave the node's kernel client: the watcher of the image with this number is the mapping."""
    fsid: str | None = None
    """The id of the cluster."""


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """What a node reports of a block device; None and False stand for what could not be found out."""

    kind: str
    """``device``, ``missing``, or the type of what else is there in the words of stat."""
    name: str | None = None
    """The kernel's name: ``sda1``, ``dm-3``, ``rbd0``."""
    number: str | None = None
    """The device number, ``major:minor``."""
    size: int = 0
    """Bytes."""
    readonly: bool = False
    root: bool = False
    """Whether the script ran as root; other users can't see who has the device open."""
    whole: str | None = None
    """The disk that this is a partition of."""
    volume: str | None = None
    """The device mapper's name of the device."""
    volume_uuid: str | None = None
    backing: str | None = None
    """The file behind a loop device."""
    memory: tuple[str, ...] = ()
    """What of the device, or below it, is memory: ``tmpfs``, ``zram0``."""
    cached: tuple[str, ...] = ()
    """Loop devices without direct I/O, the device itself or below it: the page cache has what their files have."""
    caches: tuple[str, ...] = ()
    """Caches in front of disks, the device itself or below it: ``vg-data (dm-cache)``, ``bcache0 (bcache, writeback)``.
    """
    partitions: tuple[str, ...] = ()
    holders: tuple[str, ...] = ()
    """Devices made of this one, of its partitions or of its disk."""
    mounts: tuple[str, ...] = ()
    """Mount points of the device or of its partitions."""
    swaps: tuple[str, ...] = ()
    openers: tuple[str, ...] = ()
    """Processes that have the device or one of its partitions open: ``kvm (4711)``."""
    signatures: tuple[str, ...] | None = None
    """wipefs' names of what the device carries; None where wipefs failed."""
    claim: str | None = None
    """``free`` or ``busy`` after an exclusive open, ``untried`` without a program for it, None for other errors."""
    aliases: tuple[str, ...] = ()
    """All paths of the device below /dev."""
    references: tuple[str, ...] = ()
    """Configuration files of Proxmox VE's guests that name the device."""
    unreadable: tuple[str, ...] = ()
    """Configuration files of Proxmox VE's guests that can't be read."""
    rbd: RbdMapping | None = None
    queues: Mapping[str, str] = field(default_factory=dict)
    """Settings of the queues of the device's disks, by their names in sysfs: ``queue/scheduler``."""


def inspect_device_argv(path: str, sys: str = "/sys", pve: str = "/etc/pve") -> tuple[str, ...]:
    """The command that reports DeviceFacts; it writes nothing. ``sys`` and ``pve`` are where those trees are."""
    script = QUEUES_FUNCTION + MEMORY_FUNCTIONS + LEADS_FUNCTIONS + _INSPECT
    return ("bash", "-c", script, "cephtui-device", path, sys, pve)


def written_argv(path: str, span_bytes: int, sys: str = "/sys") -> tuple[str, ...]:
    """The command that prints how many of the first bytes of a device were ever written; nothing where none tells."""
    return ("bash", "-c", _WRITTEN, "cephtui-device-written", path, str(span_bytes), sys)


def list_devices_argv(sys: str = "/sys", dev: str = "/dev") -> tuple[str, ...]:
    """The command that reports the disks, partitions and volumes of a node; it opens none of them."""
    return ("bash", "-c", _LIST, "cephtui-devices", sys, dev)


def parse_devices(text: str) -> tuple[DeviceFacts, ...]:
    """The devices in the output of ``list_devices_argv``, as seen without opening them; the path is the only alias."""
    blocks = re.split(r"^(?=kind\tdevice$)", text, flags=re.MULTILINE)
    return tuple(parse_device(block) for block in blocks if block.startswith("kind\t"))


def parse_device(text: str) -> DeviceFacts:
    """The device in the output of ``inspect_device_argv``; raises ValueError for any other text."""
    fields: dict[str, list[str]] = {}
    for key, tab, value in (line.partition("\t") for line in text.splitlines()):
        if tab:
            fields.setdefault(key, []).append(value)
    if "kind" not in fields:
        raise ValueError(f"unexpected answer: {text[:200]!r}")
    first = {key: values[0] for key, values in fields.items() if values[0]}
    return DeviceFacts(
        kind=first.get("kind", "missing"),
        name=first.get("name"),
        number=first.get("number"),
        size=int(first["size"]) if first.get("size", "").isdigit() else 0,
        readonly="readonly" in first,
        root="root" in first,
        whole=first.get("whole"),
        volume=first.get("dm.name"),
        volume_uuid=first.get("dm.uuid"),
        backing=first.get("backing"),
        memory=_unique(fields.get("memory", ())),
        cached=_unique(fields.get("cached", ())),
        caches=_unique(fields.get("cache", ())),
        partitions=tuple(fields.get("partition", ())),
        holders=_unique(fields.get("holder", ())),
        mounts=_unique(fields.get("mounted", ())),
        swaps=_unique(fields.get("swap", ())),
        openers=openers_of(fields.get("opened", ())),
        signatures=_signatures(fields),
        claim=first.get("claim"),
        aliases=tuple(fields.get("alias", ())),
        references=_unique(fields.get("reference", ())),
        unreadable=_unique(fields.get("unreadable", ())),
        rbd=_mapping(first),
        queues=parse_queues(text),
    )


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def openers_of(values: Iterable[str]) -> tuple[str, ...]:
    """The processes that have a device open, as ``kvm (4711)``."""
    processes = (value.partition("\t") for value in values)
    return _unique(f"{name or 'process'} ({process})" for process, _, name in processes)


def _signatures(fields: Mapping[str, Sequence[str]]) -> tuple[str, ...] | None:
    """The signatures that wipefs has found, and OSD labels that it does not know; None where wipefs failed."""
    osd = ("ceph_bluestore",) if {"osd", "osd-data"} & fields.keys() else ()
    if "signatures" not in fields:
        return osd or None
    answer = fields["signatures"][0].strip()
    try:
        signatures = load_json(answer)["signatures"] if answer else []
        return _unique([*osd, *(str(signature["type"]) for signature in signatures)])
    except (ValueError, KeyError, TypeError):
        return osd or None


def _mapping(fields: Mapping[str, str]) -> RbdMapping | None:
    if not fields.get("rbd.pool") or not fields.get("rbd.name"):
        return None
    client = fields.get("rbd.client_id", "").removeprefix("client")
    snapshot = fields.get("rbd.current_snap", "-")
    return RbdMapping(
        pool=fields["rbd.pool"],
        image=fields["rbd.name"],
        namespace=fields.get("rbd.pool_ns", ""),
        snapshot="" if snapshot == "-" else snapshot,
        client=int(client) if client.isdigit() else None,
        fsid=fields.get("rbd.cluster_fsid"),
    )
