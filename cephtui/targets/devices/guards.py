"""Whether a block device may be overwritten: the only place that decides it.

A device carries no mark of cephtui's, so a device that may be in use by anything is refused, and so is one of which any
of the facts could not be found out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from cephtui import units
from cephtui.models.refusal import Refusal
from cephtui.printable import listed
from cephtui.targets.devices.facts import DeviceFacts, RbdMapping

_OSD = "ceph_bluestore"
_MEMBERS = {
    "LVM2_member": "is part of LVM (a physical volume)",
    "LVM1_member": "is part of LVM (a physical volume)",
    "linux_raid_member": "is part of a RAID array",
    "zfs_member": "is part of a ZFS pool",
    _OSD: "is a Ceph OSD's",
    "swap": "is swap space",
    "crypto_LUKS": "is an encrypted (LUKS) device",
}
_CONTENTS = {
    **{name: f"an {name} file system" for name in ("ext2", "ext3", "ext4", "xfs", "exfat", "ntfs", "iso9660")},
    **{name: f"a {name} file system" for name in ("btrfs", "vfat", "f2fs", "udf", "squashfs")},
    "crypto_LUKS": "a LUKS volume",
}
_TABLES = {"gpt", "dos", "PMBR", "sgi", "sun", "mac", "bsd", "atari"}
_OF_OSD = "measure the OSD itself with --target osd:N, or choose a device that nothing uses"
_GUEST = re.compile(r"(vm|base)-")
_ELSEWHERE = "choose a device that nothing uses"


def confirm_names(path: str) -> tuple[str, str]:
    """The names that the user may type to give up a device: its path, or the last part of it."""
    return path, PurePosixPath(path).name


def guard_device(path: str, facts: DeviceFacts, span_bytes: int, destroy: Sequence[str]) -> Refusal | None:
    """Why ``span_bytes`` of the device may not be written, or None; the only place that decides it.

    For a ``/dev/rbdN`` the image's own guard comes on top: see ``facts.rbd``.
    """
    return (
        _guard_kind(path, facts)
        or _guard_use(path, facts)
        or _guard_contents(path, facts)
        or _guard_guests(path, facts)
        or _guard_unknown(path, facts)
        or _guard_rbd(path, facts)
        or _guard_size(path, facts, span_bytes)
        or _guard_ownership(path, facts, destroy)
    )


def guard_listed(path: str, facts: DeviceFacts) -> Refusal | None:
    """Why a device of ``parse_list`` may not be written, before it is inspected; None where it has to be inspected."""
    hopeful = replace(facts, root=True, claim="free", signatures=(), rbd=RbdMapping("", ""))
    return guard_device(path, hopeful, 0, confirm_names(path))


def guard_reading(path: str, facts: DeviceFacts, span_bytes: int) -> Refusal | None:
    """Why ``span_bytes`` of the device can't be read, or None: reading destroys nothing."""
    if facts.kind == "device":
        return _guard_size(path, facts, span_bytes)
    return _guard_kind(path, facts)


def _guard_kind(path: str, facts: DeviceFacts) -> Refusal | None:
    if facts.kind == "missing":
        return Refusal(f"there is no device {path}", "check the path with lsblk")
    if facts.kind != "device":
        return Refusal(f"{path} is a {facts.kind}, not a block device", "use file:PATH, or the path of a device")
    if facts.readonly:
        return Refusal(f"{path} is read-only", "choose a device that can be written")
    return None


def _guard_use(path: str, facts: DeviceFacts) -> Refusal | None:
    if facts.mounts:
        return Refusal(
            f"{path} is mounted on {listed(facts.mounts)}", "unmount it if it is not needed, or choose another"
        )
    if facts.swaps:
        return Refusal(f"{path} is used as swap space", _ELSEWHERE)
    if facts.holders:
        return Refusal(f"{path} is held by {listed(facts.holders)} (LVM, RAID or another mapping)", _ELSEWHERE)
    return None


def _guard_contents(path: str, facts: DeviceFacts) -> Refusal | None:
    signatures = facts.signatures or ()
    member = next((_MEMBERS[signature] for signature in signatures if signature in _MEMBERS), None)
    if member:
        return Refusal(f"{path} {member}", _OF_OSD if _OSD in signatures else _ELSEWHERE)
    if facts.partitions or _TABLES & set(signatures):
        shown = f": {listed(facts.partitions)}" if facts.partitions else ""
        return Refusal(f"{path} has a partition table{shown}", "choose one of its unused partitions or another device")
    if signatures:
        text = f"{path} contains {listed([_CONTENTS.get(signature, signature) for signature in signatures])}"
        return Refusal(text, f"if it is not needed, remove it with wipefs -a {path}; or choose another")
    return None


def _guard_guests(path: str, facts: DeviceFacts) -> Refusal | None:
    if facts.references:
        return Refusal(f"{path} is a guest's disk in {listed(facts.references)}", _ELSEWHERE)
    guest = next((name for name in _device_names(path, facts) if _GUEST.match(name)), None)
    if guest:
        return Refusal(f"{path} is {guest}, a guest's disk by its name", _ELSEWHERE)
    if facts.volume_uuid and re.fullmatch(r"LVM-\w{64}-.+", facts.volume_uuid):
        return Refusal(f"{path} ({facts.volume}) is an internal part of an LVM volume", _ELSEWHERE)
    if facts.openers:
        return Refusal(
            f"{path} is in use by {listed(facts.openers)}", "wait until it is free, or choose another device"
        )
    if facts.claim == "busy":
        return Refusal(
            f"{path} is in use by the system", "find out with lsblk and dmsetup what uses it, or choose another"
        )
    return None


def _device_names(path: str, facts: DeviceFacts) -> list[str]:
    """The last parts of the device's paths, and the logical volume in the device mapper's GROUP-VOLUME."""
    parts = [part.replace("\0", "-") for part in (facts.volume or "").replace("--", "\0").split("-")]
    return [*(PurePosixPath(alias).name for alias in (path, *facts.aliases)), *(parts[1:2] or parts)]


def _guard_unknown(path: str, facts: DeviceFacts) -> Refusal | None:
    if not facts.root:
        return Refusal(f"can't tell who uses {path}", "run on the node as root, for example with prefix sudo -n")
    if facts.unreadable:
        return Refusal(f"can't tell who owns {path}: {facts.unreadable[0]} can't be read", "run on the node as root")
    if facts.name is None or facts.claim is None:
        return Refusal(
            f"can't tell whether {path} is in use", "check that it can be opened: blockdev --getsize64 " + path
        )
    if facts.claim == "untried":
        return Refusal(f"can't tell whether {path} is in use", "install perl or python3 on the node")
    if facts.signatures is None:
        return Refusal(
            f"can't tell what {path} contains", "install wipefs (util-linux) on the node and check: wipefs " + path
        )
    return None


def _guard_rbd(path: str, facts: DeviceFacts) -> Refusal | None:
    if facts.name and facts.name.startswith("rbd") and facts.rbd is None:
        return Refusal(f"can't tell which image {path} is", "check /sys/bus/rbd/devices, or use rbd:POOL/IMAGE")
    if facts.rbd and facts.rbd.namespace:
        text = f"{path} is {facts.rbd.pool}/{facts.rbd.namespace}/{facts.rbd.image}, in an RBD namespace"
        return Refusal(text, "images in RBD namespaces are not supported: use another image")
    if facts.rbd and facts.rbd.snapshot:
        return Refusal(f"{path} is the snapshot {facts.rbd.snapshot} of {facts.rbd.image}", "map the image itself")
    return None


def _guard_size(path: str, facts: DeviceFacts, span_bytes: int) -> Refusal | None:
    if span_bytes <= facts.size:
        return None
    text = f"{path} is too small: needs {units.size(span_bytes)} (size x numjobs), has {units.size(facts.size)}"
    return Refusal(text, "choose a smaller size or another device")


def _guard_ownership(path: str, facts: DeviceFacts, destroy: Sequence[str]) -> Refusal | None:
    if set(confirm_names(path)) & set(destroy):
        return None
    confirm = confirm_names(path)[1]
    shown = f", {facts.backing}" if facts.backing else ""
    return Refusal(
        f"{path} is an existing device ({units.size(facts.size)}{shown})",
        f"choose another target, or allow overwriting it with --destroy {confirm}",
        confirm=confirm,
    )
