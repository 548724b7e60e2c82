"""``krbd:POOL``: an image of cephtui's own that the node's kernel maps; with ``+ext4`` or ``+xfs`` a file system on it.

It is created, mapped, and made a file system that is mounted, in this order, and taken away in reverse. All of it is
found again by the name of the image: what it is mapped to in sysfs, and its directory in ``/run/cephtui``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar, Literal

from cephtui.ceph import pool_guards
from cephtui.ceph.images import ImageInfo
from cephtui.frozen import dataclass
from cephtui.models import FilePlace, Finding, Kind, Node, Part, Place
from cephtui.models.findings.client import KRBD
from cephtui.models.refusal import Refusal
from cephtui.nodes.shell import Shell, failure_reason
from cephtui.paths import packaged_text
from cephtui.targets import file, rbd
from cephtui.targets.base import (
    OWN_PREFIX,
    DataLayout,
    Removed,
    Target,
    TargetError,
    TargetFault,
    TargetKind,
    TargetState,
    Use,
    safe_name,
)
from cephtui.targets.candidates import Candidate, PoolFacts
from cephtui.targets.devices import QUEUES_FUNCTION, parse_queues
from cephtui.targets.findings import page_cache

FILE_SYSTEMS: Mapping[str, str] = {"ext4": "e2fsprogs", "xfs": "xfsprogs"}
"""The file systems, with the packages that have their mkfs."""
FEATURES: Mapping[str, int] = {
    "layering": 1,
    "exclusive-lock": 4,
    "object-map": 8,
    "fast-diff": 16,
    "deep-flatten": 32,
}
"""The features that an image has by default, with their bits in ``/sys/bus/rbd/supported_features`` (Linux,
Documentation/ABI/testing/sysfs-bus-rbd)."""
_DATA_POOL = 128
_DIRECTORY = "/run/cephtui"
"""The directory of the mounts; it is in memory, as the mappings are: a node that has booted has neither."""
_OVERHEAD_BYTES, _OVERHEAD_DIVISOR = 512 << 20, 20
"""What a file system takes for its log, inodes and reserve, and the least that mkfs.xfs takes."""
_MAP_SECONDS, _PLACE_SECONDS, _WITHDRAW_SECONDS = 90.0, 600.0, 300.0
_BUSY_STATUS = 16
_STATUSES: Mapping[int, Literal["busy", "not ours"]] = {75: "busy", 76: "not ours"}
_FUNCTIONS = packaged_text("cephtui.targets", "krbd_mapping.sh")
_SCRIPTS = {name: packaged_text("cephtui.targets", f"krbd_{name}.sh") for name in ("inspect", "place", "withdraw")}
_SCRIPTS["inspect"] = QUEUES_FUNCTION + _SCRIPTS["inspect"]


def _script(name: str, *arguments: str) -> tuple[str, ...]:
    return ("bash", "-c", _FUNCTIONS + _SCRIPTS[name], f"cephtui-krbd-{name}", *arguments)


@dataclass(frozen=True, slots=True)
class KrbdFacts:
    """What a node reports of its kernel, and of an image there."""

    kernel: str = "?"
    root: bool = False
    module: Literal["loaded", "loadable"] | None = None
    """The state of the module rbd; None where the kernel has none."""
    features: int | None = None
    """The bits of features that the kernel can map; None before the module is loaded."""
    udev: bool = False
    mkfs: bool = False
    identity: str | None = None
    """The identity of the image, where it is mapped and mounted as it has to be."""
    queues: Mapping[str, str] = field(default_factory=dict)
    """Settings of the queue of the image's device: ``queue/scheduler``."""


@dataclass(frozen=True, slots=True)
class KrbdPool(Target):
    """A new image on each node, used as a device."""

    kind: ClassVar[Kind] = "device"
    opens_for_writing: ClassVar[bool] = True
    creates_images: ClassVar[bool] = True
    marks_paths: ClassVar[bool] = False
    file_system: ClassVar[str] = ""

    pool: str
    owner_id: str | None = None
    """The console session's id for the names of new images; None where they have been named."""

    @property
    def spec(self) -> str:
        return f"krbd:{self.pool}{self.file_system and '+'}{self.file_system}"

    @property
    def listed_by(self) -> str:
        return rbd.RbdPool(self.pool).spec

    def lay_out(self, node: Node, layout: DataLayout) -> tuple[Place, tuple[Part, ...]]:
        """One image for each node, which its jobs share, as they share a disk."""
        assert self.owner_id, "new images can't be named without it"
        image = f"{OWN_PREFIX}{self.owner_id}-{safe_name(node.name)}-{self.file_system or 'krbd'}"
        part = Part(spec=f"krbd:{self.pool}/{image}", bytes=layout.jobs * layout.size_bytes)
        return self._place(_directory(image)), (part,)

    def _place(self, directory: str) -> FilePlace:
        return FilePlace(kind="device", path=f"{directory}/device")

    async def inspect(self, shell: Shell, use: Use) -> TargetState:
        """Apply the guards of the node; the guards of the pool are those of the cluster."""
        (part,) = use.parts
        facts = await self._facts(shell, _image_of(part))
        return TargetState(
            refusal=guard_krbd(shell.node.name, facts, self.file_system, f"rbd:{self.pool}"),
            findings=(_finding(facts), *page_cache(use.options)),
            identities={part.spec: facts.identity} if facts.identity else {},
            to_create=use.parts,
            filesystem=self.file_system or None,
            queues=facts.queues,
        )

    async def _facts(self, shell: Shell, image: str) -> KrbdFacts:
        return await krbd_facts(shell, image, self.file_system)

    async def create(self, shell: Shell, part: Part, owner: str) -> str:
        """Map a new image, after what an earlier attempt has left was removed."""
        image = _image_of(part)
        held = await _withdraw(shell, image)
        if held:
            raise TargetFault(f"can't create image {self.pool}/{image} again: {held.text}")
        facts = await self._load(shell, image)
        name = f"{self.pool}/{image}"
        options = ("--image-feature", ",".join(usable_features(facts)))
        size = self._image_bytes(part.bytes)
        await rbd.make_image(shell, name, size, owner, data_pool=self.data_pool, options=options)
        device = await _map(shell, name, facts)
        placed = await shell.run(
            _script("place", _directory(image), device, self.file_system), timeout_seconds=_PLACE_SECONDS
        )
        if placed.status != 0:
            raise TargetFault(f"can't use {device}: {failure_reason(placed)}")
        await self._make_file(shell, _directory(image), part.bytes, owner)
        identity = (await self._facts(shell, image)).identity
        if identity is None:
            raise TargetFault(f"image {name} no longer exists, {device} was unmapped")
        return identity

    async def _load(self, shell: Shell, image: str) -> KrbdFacts:
        loaded = await shell.run(("modprobe", "rbd"))
        facts = await self._facts(shell, image)
        if facts.features is None:
            raise TargetFault(f"can't load the kernel's rbd module: {failure_reason(loaded)}")
        if self.data_pool and not facts.features & _DATA_POOL:
            raise TargetFault(f"Linux {facts.kernel} can't map an image with a data pool: leave --data-pool out")
        return facts

    def _image_bytes(self, span_bytes: int) -> int:
        return span_bytes

    async def _make_file(self, shell: Shell, directory: str, span_bytes: int, owner: str) -> None:
        """Make the file, where the target is one on a file system; raises TargetFault and TransportError."""

    async def image_info(self, shell: Shell, part: Part) -> ImageInfo | None:
        return await rbd.image_of(shell, part.spec.removeprefix("krbd:"))

    async def queues(self, shell: Shell, part: Part) -> Mapping[str, str]:
        return (await self._facts(shell, _image_of(part))).queues

    async def room(self, shell: Shell, nodes: int) -> int | None:
        """The same room as for images of librbd."""
        return await rbd.RbdPool(self.pool, data_pool=self.data_pool).room(shell, nodes)


@dataclass(frozen=True, slots=True)
class KrbdFileSystem(KrbdPool):
    """A file on a file system on a new image on each node."""

    kind: ClassVar[Kind] = "file"
    marks_paths: ClassVar[bool] = True

    def _place(self, directory: str) -> FilePlace:
        return FilePlace(kind="file", path=_file_in(directory))

    def _image_bytes(self, span_bytes: int) -> int:
        return span_bytes + span_bytes // _OVERHEAD_DIVISOR + _OVERHEAD_BYTES

    async def _make_file(self, shell: Shell, directory: str, span_bytes: int, owner: str) -> None:
        path = _file_in(directory)
        done = await shell.run(file.create_argv(path, span_bytes, owner))
        if done.status != 0:
            raise TargetFault(f"can't create {path}: {failure_reason(done)}")


class KrbdExt4(KrbdFileSystem):
    """A file on ext4 on a new image on each node."""

    __slots__ = ()
    file_system: ClassVar[str] = "ext4"


class KrbdXfs(KrbdFileSystem):
    """A file on XFS on a new image on each node."""

    __slots__ = ()
    file_system: ClassVar[str] = "xfs"


_TARGETS: Mapping[str, type[KrbdPool]] = {target.file_system: target for target in (KrbdPool, KrbdExt4, KrbdXfs)}


class KrbdKind(TargetKind):
    """Pools for new images that the kernel maps."""

    scheme = "krbd"
    examples = ("krbd:POOL", "krbd:POOL+ext4")
    in_pool = True

    def parse(self, name: str, owner_id: str | None = None) -> KrbdPool:
        pool, _, file_system = name.partition("+")
        if not rbd.is_name(pool) or file_system not in _TARGETS or name.endswith("+"):
            expected = ", ".join(["krbd:POOL", *(f"krbd:POOL+{name}" for name in FILE_SYSTEMS)])
            raise TargetError(f"target {self.spec(name)!r}: expected one of {expected}")
        return _TARGETS[file_system](pool, owner_id)

    async def remove(self, shell: Shell, name: str, owner: str | None) -> Removed:
        """Remove an image; it is unmounted and unmapped only once its mark has proved its owner."""
        pool, _, image = name.partition("/")
        if not rbd.is_own_name(pool, image):
            return await rbd.remove_own_image(shell, pool, image, owner)
        reason = await rbd.reason_to_keep(shell, pool, image, owner)
        if reason and reason.status != "absent":
            return reason
        return await _withdraw(shell, image) or await rbd.remove_own_image(shell, pool, image, owner)

    async def is_usable(self, shell: Shell) -> bool:
        """Whether the node's kernel has rbd."""
        return (await krbd_facts(shell, "", "")).module is not None

    def in_this_pool(self, facts: PoolFacts) -> Candidate:
        refusal = facts.unserved or pool_guards.guard_image_pool(facts.pool, None) or facts.full
        text = f"new images mapped by the kernel, {facts.room}; {' or '.join(f'+{name}' for name in FILE_SYSTEMS)}"
        return self.candidate(facts.pool.name, f"{text} for a file on a file system", refusal)


async def krbd_facts(shell: Shell, image: str, file_system: str) -> KrbdFacts:
    """What a node reports of its kernel, and of an image that it may have mapped."""
    answer = await shell.run(_script("inspect", _directory(image), image, file_system))
    return parse_krbd_facts(answer.stdout)


def parse_krbd_facts(text: str) -> KrbdFacts:
    """The facts in the output of the script; what it did not print is None."""
    fields = dict(line.split("\t", 1) for line in text.splitlines() if "\t" in line)
    module, features = fields.get("module"), fields.get("features", "")
    return KrbdFacts(
        kernel=fields.get("kernel") or "?",
        root="root" in fields,
        module="loaded" if module == "loaded" else "loadable" if module == "loadable" else None,
        features=int(features, 16) if re.fullmatch(r"0x[0-9a-f]{1,16}", features) else None,
        udev="udev" in fields,
        mkfs="mkfs" in fields,
        identity=fields.get("identity"),
        queues=parse_queues(text),
    )


def guard_krbd(node: str, facts: KrbdFacts, file_system: str, other: str) -> Refusal | None:
    """Why a node can't map an image or make the file system, or None; ``other`` is the target for librbd."""
    if not facts.root:
        return Refusal(
            f"{node}: only root can map an image", "run on the node as root, for example with prefix sudo -n"
        )
    if facts.module is None:
        return Refusal(
            f"{node}: its kernel, Linux {facts.kernel}, has no rbd module",
            f"use {other} (librbd), or a node whose kernel has it",
        )
    if file_system and not facts.mkfs:
        package = FILE_SYSTEMS[file_system]
        return Refusal(f"{node}: mkfs.{file_system} is not installed", f"install {package} on the node")
    return None


def usable_features(facts: KrbdFacts) -> tuple[str, ...]:
    """The features of an image that the kernel can map."""
    return tuple(name for name, bit in FEATURES.items() if (facts.features or 0) & bit)


def _finding(facts: KrbdFacts) -> Finding:
    return KRBD.found(kernel=facts.kernel)


def _image_of(part: Part) -> str:
    return part.spec.rpartition("/")[2]


def _directory(image: str) -> str:
    return f"{_DIRECTORY}/{image}"


def _file_in(directory: str) -> str:
    return f"{directory}/mnt/data"


def _udev_options(shell: Shell, has_udev: bool) -> tuple[str, ...]:
    """The options that keep rbd from waiting for udev for ever, where there is none or rbd is in a container."""
    is_seen = has_udev and shell.node.ceph_prefix == shell.node.prefix
    return () if is_seen else ("--options", "noudev")


async def _map(shell: Shell, name: str, facts: KrbdFacts) -> str:
    """Map an image, and return its device; raises TargetFault and TransportError."""
    argv = ("rbd", "map", *_udev_options(shell, facts.udev), name)
    mapped = await shell.ceph(argv, timeout_seconds=_MAP_SECONDS)
    device = re.search(r"^/dev/rbd\d+$", mapped.stdout, re.MULTILINE)
    if mapped.status != 0 or device is None:
        raise TargetFault(f"can't map image {name}: {failure_reason(mapped)}")
    return device[0]


async def _withdraw(shell: Shell, image: str) -> Removed | None:
    """Unmount and unmap an image; what prevents that, or None. Raises TransportError."""
    argv = _script("withdraw", _directory(image), image)
    answer = await shell.run(argv, timeout_seconds=_WITHDRAW_SECONDS)
    if answer.status != 0:
        return Removed(_STATUSES.get(answer.status, "failed"), failure_reason(answer))
    lines = [line.partition("\t") for line in answer.stdout.splitlines()]
    fields = {key: value for key, _, value in lines}
    holders, waits = fields.get("holders", ""), _udev_options(shell, "udev" in fields)
    for device in (value for key, _, value in lines if key == "device"):
        unmapped = await shell.ceph(("rbd", "unmap", *waits, device), timeout_seconds=_MAP_SECONDS)
        if unmapped.status != 0:
            is_busy = unmapped.status == _BUSY_STATUS
            text = f"{device} is in use{holders and f' by {holders}'}" if is_busy else failure_reason(unmapped)
            return Removed("busy" if is_busy else "failed", text)
    return None
