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
_INSPECT = packaged_text("cephtui.targets.devices", "inspect.sh")
_LIST = packaged_text("cephtui.targets.devices", "list.sh")


@dataclass(frozen=True, slots=True)
class RbdMapping:
    """The image behind a ``/dev/rbdN``, from sysfs."""

    pool: str
    image: str
    namespace: str = ""
    snapshot: str = ""
    """Name of the snapshot that is mapped; empty for the image itself."""
    client: int | None = None
    """Ceph's number of the node's kernel client: the image's watcher with this number is the mapping itself."""
    fsid: str | None = None
    """Of the cluster."""


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """What a node reports of a block device; None and False stand for what could not be found out."""

    kind: str
    """``device``, ``missing``, or what else is there in the words of stat."""
    name: str | None = None
    """The kernel's: ``sda1``, ``dm-3``, ``rbd0``."""
    number: str | None = None
    """``major:minor``."""
    size: int = 0
    """Bytes."""
    readonly: bool = False
    root: bool = False
    """True where the script ran as root; others can't see who has the device open."""
    whole: str | None = None
    """The disk that this is a partition of."""
    volume: str | None = None
    """The device mapper's name."""
    volume_uuid: str | None = None
    backing: str | None = None
    """The file behind a loop device."""
    partitions: tuple[str, ...] = ()
    holders: tuple[str, ...] = ()
    """Devices made of this one, of its partitions or of its disk."""
    mounts: tuple[str, ...] = ()
    """Where it or a partition of it is mounted."""
    swaps: tuple[str, ...] = ()
    openers: tuple[str, ...] = ()
    """Processes that have it or a partition of it open: ``kvm (4711)``."""
    signatures: tuple[str, ...] | None = None
    """wipefs' names of what the device carries; None where wipefs failed."""
    claim: str | None = None
    """``free`` or ``busy`` for an exclusive opening, ``untried`` without a program for it, None for other errors."""
    aliases: tuple[str, ...] = ()
    """All its paths below /dev."""
    references: tuple[str, ...] = ()
    """Proxmox VE guests' files that name it."""
    unreadable: tuple[str, ...] = ()
    """Proxmox VE guests' files that can't be read."""
    rbd: RbdMapping | None = None
    queues: Mapping[str, str] = field(default_factory=dict)
    """Settings of the queues of its disks, by their names in sysfs: ``queue/scheduler``."""


def inspect_argv(path: str, sys: str = "/sys", pve: str = "/etc/pve") -> tuple[str, ...]:
    """A command that reports DeviceFacts; it writes nothing. ``sys`` and ``pve`` are where those trees are."""
    return ("bash", "-c", QUEUES_FUNCTION + LEADS_FUNCTIONS + _INSPECT, "cephtui-device", path, sys, pve)


def list_argv(sys: str = "/sys", dev: str = "/dev") -> tuple[str, ...]:
    """A command that reports the disks, partitions and volumes of a node; it opens none of them."""
    return ("bash", "-c", _LIST, "cephtui-devices", sys, dev)


def parse_list(text: str) -> tuple[DeviceFacts, ...]:
    """What ``list_argv`` printed: of each device what shows without opening it, its path as the only alias."""
    blocks = re.split(r"^(?=kind\tdevice$)", text, flags=re.MULTILINE)
    return tuple(parse_device(block) for block in blocks if block.startswith("kind\t"))


def parse_device(text: str) -> DeviceFacts:
    """What ``inspect_argv`` printed; raises ValueError for anything else."""
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
    """``kvm (4711)`` of each process that has it open."""
    named = (value.partition("\t") for value in values)
    return _unique(f"{name or 'process'} ({process})" for process, _, name in named)


def _signatures(fields: Mapping[str, Sequence[str]]) -> tuple[str, ...] | None:
    """wipefs' answer, empty in versions that print nothing for nothing; and OSD labels that it does not know."""
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
