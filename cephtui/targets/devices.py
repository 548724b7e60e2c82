"""Block devices: what a node says of one, and whether it may be overwritten.

A device carries no mark of cephtui's, so that everything that could be somebody's is refused, and so is whatever
could not be found out. The guard is a pure function on what one script reports; the script writes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from cephtui import units
from cephtui.models.refusal import Refusal
from cephtui.reading import load_json

# O_RDONLY|O_EXCL asks the kernel for the claim that mounts, swap, LVM, RAID, ZFS, OSDs and exports take, in every
# mount namespace; read-only, since closing a device that was open for writing wakes udev. No coreutils opens so.
_CLAIM = r"""
claim() {
    if command -v perl >/dev/null; then
        perl -MFcntl -MErrno -e 'exit 0 if sysopen(my $f, $ARGV[0], O_RDONLY | O_EXCL); exit($!{EBUSY} ? 75 : 76)' "$1"
    elif command -v python3 >/dev/null; then
        python3 -c 'if True:
            import errno, os, sys
            try:
                os.open(sys.argv[1], os.O_RDONLY | os.O_EXCL)
            except OSError as error:
                sys.exit(75 if error.errno == errno.EBUSY else 76)' "$1"
    else
        return 77
    fi 2>/dev/null
}
"""

_INSPECT = r"""
path=$1 sys=$2 pve=$3
say() { printf '%s' "$1"; shift; printf '\t%s' "$@"; printf '\n'; }
number_of() { set -- $(stat -Lc '%t %T' -- "$1" 2>/dev/null) && [ $# = 2 ] && number=$(( 0x$1 )):$(( 0x$2 )); }
ours() { case " $family " in *" $1 "*) return 0; esac; return 1; }
unescaped() { printf -- "${1//%/%%}"; } # the kernel's \040; %b would take a digit after it too
if [ ! -b "$path" ]; then
    if [ -e "$path" ] || [ -L "$path" ]; then say kind "$(stat -Lc %F -- "$path" 2>/dev/null || echo 'dangling link')"
    else say kind missing; fi
    exit 0
fi
say kind device
number_of "$path" && node=$(readlink -f -- "$sys/dev/block/$number") && [ -r "$node/size" ] || exit 0
say name "${node##*/}"; say number "$number"
say size "$(( $(cat "$node/size") * 512 ))"
[ "$(cat "$node/ro")" = 0 ] || say readonly yes
[ "$(id -u)" = 0 ] && say root yes
whole=$node; [ -e "$node/partition" ] && { whole=${node%/*}; say whole "${whole##*/}"; }
[ -r "$node/dm/name" ] && { say dm.name "$(cat "$node/dm/name")"; say dm.uuid "$(cat "$node/dm/uuid")"; }
[ -r "$node/loop/backing_file" ] && say backing "$(cat "$node/loop/backing_file")"

family=$number
for part in "$node"/*/partition; do
    [ -e "$part" ] || continue
    part=${part%/partition}; say partition "${part##*/}"; family="$family $(cat "$part/dev")"
done
[ "$whole" = "$node" ] || family="$family $(cat "$whole/dev")"
for holder in "$node"/holders/* "$node"/*/holders/* "$whole"/holders/*; do
    [ -e "$holder" ] && say holder "${holder##*/}"
done

# the kernel neither claims nor links what is below a loop device or exported over NVMe
for file in "$sys"/block/loop*/loop/backing_file "$sys"/kernel/config/nvmet/subsystems/*/namespaces/*/device_path; do
    [ -r "$file" ] && other=$(cat "$file") && [ -b "$other" ] && number_of "$other" && ours "$number" || continue
    case $file in */loop/*) file=${file%/loop/*};; *) file=${file%/namespaces/*}; esac
    say holder "${file##*/}"
done

while read -r _ _ number _ point rest; do
    rest=${rest#* - } rest=${rest#* } source=${rest%% *}
    # btrfs and its like mount under a number of their own
    case "$number $source" in 0:*' /dev/'*) [ -b "$source" ] && number_of "$source"; esac
    ours "$number" && say mounted "$(unescaped "$point")"
done < /proc/self/mountinfo
while read -r file _; do
    file=$(unescaped "$file"); [ -b "$file" ] && number_of "$file" && ours "$number" && say swap "$file"
done < /proc/swaps
# by the descriptor itself: in a container the same device has another name. /dev alone, since others may hang
find /proc/[0-9]*/fd -maxdepth 1 -lname '/dev/*' -xtype b -exec stat -Lc '%t %T %n' -- {} + 2>/dev/null |
    while read -r major minor file; do
        ours $(( 0x$major )):$(( 0x$minor )) && file=${file%/fd/*} || continue
        say opened "${file##*/}" "$(cat "$file/comm" 2>/dev/null)"
    done

if found=$(wipefs -n -J -- "$path" 2>/dev/null); then say signatures "$(printf %s "$found" | tr -d '\n\t')"; fi
for at in 0 1073741824 10737418240 107374182400 1073741824000; do # BlueStore keeps copies of its label there
    label=$(dd if="$path" bs=22 count=1 skip="$at" iflag=skip_bytes,fullblock status=none 2>/dev/null | tr -d '\0')
    [ "$label" = 'bluestore block device' ] && say osd "$at"
done
claim "$path"; case $? in 0) say claim free;; 75) say claim busy;; 77) say claim untried;; esac

find -L /dev -xdev -samefile "$path" 2>/dev/null | sort | while read -r alias; do say alias "$alias"; done
for file in "$pve"/qemu-server/*.conf "$pve"/lxc/*.conf "$pve"/nodes/*/qemu-server/*.conf "$pve"/nodes/*/lxc/*.conf; do
    [ -e "$file" ] || continue
    [ -r "$file" ] || { say unreadable "$file"; continue; }
    grep -oE '/dev/[^,[:space:]]+' -- "$file" | sort -u | while read -r other; do
        [ -b "$other" ] && number_of "$other" && ours "$number" && say reference "$file"
    done
done

mapping=${whole##*/}
case $mapping in rbd[0-9]*)
    for key in pool name pool_ns current_snap client_id cluster_fsid; do
        [ -r "$sys/bus/rbd/devices/${mapping#rbd}/$key" ] || continue
        say "rbd.$key" "$(cat "$sys/bus/rbd/devices/${mapping#rbd}/$key")"
    done
esac
exit 0
"""

# what is only memory, or takes a medium that may be out, is no disk
_LIST = r"""
sys=$1 dev=$2
say() { printf '%s\t%s\n' "$1" "$2"; }
said() { local value; [ -r "$2" ] && IFS= read -r value < "$2" && say "$1" "$value"; }
for node in "$sys"/class/block/*; do
    name=${node##*/} path=$dev/${node##*/} size=0
    path=${path//!//}
    case $name in ram[0-9]*|zram[0-9]*|fd[0-9]*|sr[0-9]*) continue;; esac
    [ -r "$node/size" ] && read -r size < "$node/size" && [ "$size" -gt 0 ] || continue
    [ -r "$node/dm/name" ] && IFS= read -r volume < "$node/dm/name" && [ -b "$dev/mapper/$volume" ] &&
        path=$dev/mapper/$volume
    [ -b "$path" ] || continue
    say kind device; say alias "$path"; say name "$name"; say size "$(( size * 512 ))"
    read -r readonly < "$node/ro" && [ "$readonly" = 0 ] || say readonly yes
    said dm.name "$node/dm/name"; said dm.uuid "$node/dm/uuid"; said backing "$node/loop/backing_file"
    for part in "$node"/*/partition; do
        [ -e "$part" ] && part=${part%/partition} && say partition "${part##*/}"
    done
    for holder in "$node"/holders/* "$node"/*/holders/*; do
        [ -e "$holder" ] && say holder "${holder##*/}"
    done
done
exit 0
"""

_MEMBERS = {
    "LVM2_member": "is part of LVM (a physical volume)",
    "LVM1_member": "is part of LVM (a physical volume)",
    "linux_raid_member": "is part of a RAID array",
    "zfs_member": "is part of a ZFS pool",
    "ceph_bluestore": "is a Ceph OSD's",
    "swap": "is swap space",
    "crypto_LUKS": "is an encrypted (LUKS) device",
}
_TABLES = {"gpt", "dos", "PMBR", "sgi", "sun", "mac", "bsd", "atari"}
_GUEST = re.compile(r"(vm|base)-")
_ELSEWHERE = "choose a device that nothing uses"


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
    """What a node says of a block device; None and False stand for what could not be found out."""

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
    """wipefs' names of what the device carries; None where wipefs could not tell."""
    claim: str | None = None
    """``free`` or ``busy`` for an exclusive opening, ``untried`` without a program for it, None for other errors."""
    aliases: tuple[str, ...] = ()
    """All its paths below /dev."""
    references: tuple[str, ...] = ()
    """Proxmox VE guests' files that name it."""
    unreadable: tuple[str, ...] = ()
    """Proxmox VE guests' files that can't be read."""
    rbd: RbdMapping | None = None


def inspect_argv(path: str, sys: str = "/sys", pve: str = "/etc/pve") -> tuple[str, ...]:
    """A command that reports DeviceFacts; it writes nothing. ``sys`` and ``pve`` are where those trees are."""
    return ("bash", "-c", _CLAIM + _INSPECT, "cephtui-device", path, sys, pve)


def list_argv(sys: str = "/sys", dev: str = "/dev") -> tuple[str, ...]:
    """A command that reports the disks, partitions and volumes of a node; it opens none of them."""
    return ("bash", "-c", _LIST, "cephtui-devices", sys, dev)


def parse_list(text: str) -> tuple[DeviceFacts, ...]:
    """What ``list_argv`` printed: of each device what shows without opening it, its path as the only alias."""
    blocks = re.split(r"^(?=kind\tdevice$)", text, flags=re.MULTILINE)
    return tuple(parse_device(block) for block in blocks if block.startswith("kind\t"))


def parse_device(text: str) -> DeviceFacts:
    """What ``inspect_argv`` printed; raises ValueError for anything else."""
    said: dict[str, list[str]] = {}
    for key, tab, value in (line.partition("\t") for line in text.splitlines()):
        if tab:
            said.setdefault(key, []).append(value)
    if "kind" not in said:
        raise ValueError(f"unexpected answer: {text[:200]!r}")
    one = {key: values[0] for key, values in said.items() if values[0]}
    return DeviceFacts(
        kind=one.get("kind", "missing"),
        name=one.get("name"),
        number=one.get("number"),
        size=int(one["size"]) if one.get("size", "").isdigit() else 0,
        readonly="readonly" in one,
        root="root" in one,
        whole=one.get("whole"),
        volume=one.get("dm.name"),
        volume_uuid=one.get("dm.uuid"),
        backing=one.get("backing"),
        partitions=tuple(said.get("partition", ())),
        holders=_unique(said.get("holder", ())),
        mounts=_unique(said.get("mounted", ())),
        swaps=_unique(said.get("swap", ())),
        openers=_unique(_opener(value) for value in said.get("opened", ())),
        signatures=_signatures(said),
        claim=one.get("claim"),
        aliases=tuple(said.get("alias", ())),
        references=_unique(said.get("reference", ())),
        unreadable=_unique(said.get("unreadable", ())),
        rbd=_mapping(one),
    )


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def _opener(value: str) -> str:
    process, _, name = value.partition("\t")
    return f"{name or 'process'} ({process})"


def _signatures(said: Mapping[str, Sequence[str]]) -> tuple[str, ...] | None:
    """wipefs' answer, empty in versions that print nothing for nothing; and OSD labels that it does not know."""
    osd = ("ceph_bluestore",) if "osd" in said else ()
    if "signatures" not in said:
        return osd or None
    answer = said["signatures"][0].strip()
    try:
        found = load_json(answer)["signatures"] if answer else []
        return _unique([*osd, *(str(one["type"]) for one in found)])
    except (ValueError, KeyError, TypeError):
        return osd or None


def _mapping(one: Mapping[str, str]) -> RbdMapping | None:
    if not one.get("rbd.pool") or not one.get("rbd.name"):
        return None
    client = one.get("rbd.client_id", "").removeprefix("client")
    snapshot = one.get("rbd.current_snap", "-")
    return RbdMapping(
        pool=one["rbd.pool"],
        image=one["rbd.name"],
        namespace=one.get("rbd.pool_ns", ""),
        snapshot="" if snapshot == "-" else snapshot,
        client=int(client) if client.isdigit() else None,
        fsid=one.get("rbd.cluster_fsid"),
    )


def names(path: str) -> tuple[str, str]:
    """What the user may type to give up a device: its path, or the last part of it."""
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
        or _ask(path, facts, destroy)
    )


def guard_listed(path: str, facts: DeviceFacts) -> Refusal | None:
    """Why a device of ``parse_list`` may not be written whatever else it is; None where it has to be looked at."""
    hopeful = replace(facts, root=True, claim="free", signatures=(), rbd=RbdMapping("", ""))
    return guard_device(path, hopeful, 0, names(path))


def guard_reading(path: str, facts: DeviceFacts, span_bytes: int) -> Refusal | None:
    """Why ``span_bytes`` of the device can't be read, or None: reading harms nobody."""
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
            f"{path} is mounted on {_listed(facts.mounts)}", "unmount it if it is not needed, or choose another"
        )
    if facts.swaps:
        return Refusal(f"{path} is used as swap space", _ELSEWHERE)
    if facts.holders:
        return Refusal(f"{path} is held by {_listed(facts.holders)} (LVM, RAID or another mapping)", _ELSEWHERE)
    return None


def _guard_contents(path: str, facts: DeviceFacts) -> Refusal | None:
    found = facts.signatures or ()
    member = next((_MEMBERS[one] for one in found if one in _MEMBERS), None)
    if member:
        return Refusal(f"{path} {member}", _ELSEWHERE)
    if facts.partitions or _TABLES & set(found):
        shown = f": {_listed(facts.partitions)}" if facts.partitions else ""
        return Refusal(f"{path} has a partition table{shown}", "choose one of its unused partitions or another device")
    if found:
        text = f"{path} carries a signature of {_listed(found)}"
        return Refusal(text, f"if it is not needed, remove it with wipefs -a {path}; or choose another")
    return None


def _guard_guests(path: str, facts: DeviceFacts) -> Refusal | None:
    if facts.references:
        return Refusal(f"{path} is a guest's disk in {_listed(facts.references)}", _ELSEWHERE)
    guest = next((name for name in _known_as(path, facts) if _GUEST.match(name)), None)
    if guest:
        return Refusal(f"{path} is {guest}, by its name a guest's disk", _ELSEWHERE)
    if facts.volume_uuid and re.fullmatch(r"LVM-\w{64}-.+", facts.volume_uuid):
        return Refusal(f"{path} ({facts.volume}) is an internal part of an LVM volume", _ELSEWHERE)
    if facts.openers:
        return Refusal(f"{path} is in use by {_listed(facts.openers)}", "wait for its end or choose another device")
    if facts.claim == "busy":
        return Refusal(
            f"{path} is in use by the system", "find out with lsblk and dmsetup what holds it, or choose another"
        )
    return None


def _known_as(path: str, facts: DeviceFacts) -> list[str]:
    """The last parts of all its paths, and the logical volume's name out of the device mapper's GROUP-VOLUME."""
    parts = [part.replace("\0", "-") for part in (facts.volume or "").replace("--", "\0").split("-")]
    return [*(PurePosixPath(one).name for one in (path, *facts.aliases)), *(parts[1:2] or parts)]


def _guard_unknown(path: str, facts: DeviceFacts) -> Refusal | None:
    if not facts.root:
        return Refusal(f"can't tell who uses {path}", "run on the node as root, for example with prefix sudo -n")
    if facts.unreadable:
        return Refusal(f"can't tell whose {path} is: {facts.unreadable[0]} can't be read", "run on the node as root")
    if facts.name is None or facts.claim is None:
        return Refusal(
            f"can't tell whether {path} is in use", "check that it can be opened: blockdev --getsize64 " + path
        )
    if facts.claim == "untried":
        return Refusal(f"can't tell whether {path} is in use", "install perl or python3 on the node")
    if facts.signatures is None:
        return Refusal(
            f"can't tell what {path} carries", "install wipefs (util-linux) on the node and check: wipefs " + path
        )
    return None


def _guard_rbd(path: str, facts: DeviceFacts) -> Refusal | None:
    if facts.name and facts.name.startswith("rbd") and facts.rbd is None:
        return Refusal(f"can't tell which image {path} is", "check /sys/bus/rbd/devices, or use rbd:POOL/IMAGE")
    if facts.rbd and facts.rbd.namespace:
        text = f"{path} is {facts.rbd.pool}/{facts.rbd.namespace}/{facts.rbd.image}, in an RBD namespace"
        return Refusal(text, "namespaces are not supported: use an image outside of them")
    if facts.rbd and facts.rbd.snapshot:
        return Refusal(f"{path} is the snapshot {facts.rbd.snapshot} of {facts.rbd.image}", "map the image itself")
    return None


def _guard_size(path: str, facts: DeviceFacts, span_bytes: int) -> Refusal | None:
    if span_bytes <= facts.size:
        return None
    text = f"{path} is too small: needs {units.size(span_bytes)} (size x numjobs), has {units.size(facts.size)}"
    return Refusal(text, "use a smaller --set size=... or another device")


def _ask(path: str, facts: DeviceFacts, destroy: Sequence[str]) -> Refusal | None:
    if set(names(path)) & set(destroy):
        return None
    confirm = names(path)[1]
    shown = f", {facts.backing}" if facts.backing else ""
    return Refusal(
        f"{path} is an existing device ({units.size(facts.size)}{shown})",
        f"give up its contents with --destroy {confirm}, or choose another target",
        confirm=confirm,
    )


def _listed(values: Sequence[str], most: int = 3) -> str:
    shown = ", ".join(values[:most])
    return shown if len(values) <= most else f"{shown} and {len(values) - most} more"
