"""``rbd:POOL`` and ``rbd:POOL/IMAGE``: images of cephtui's own in a pool, or one that exists."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from cephtui import units
from cephtui.ceph import answers, images, pool_guards, proxmox
from cephtui.ceph.images import ImageFacts, ImageInfo
from cephtui.ceph.qos import Limits
from cephtui.cluster import preflight, reader
from cephtui.cluster.reader import ClusterError, ClusterReader
from cephtui.frozen import dataclass
from cephtui.models import Finding, Kind, Node, Part, Place, RbdPlace
from cephtui.models.findings.data import THIN, UNVERIFIED
from cephtui.models.refusal import Refusal
from cephtui.nodes.shell import Shell, failure_reason
from cephtui.nodes.transport import Completed
from cephtui.targets.base import (
    OWN_NAME,
    OWN_PREFIX,
    OWNER_KEY,
    DataLayout,
    Removed,
    Target,
    TargetError,
    TargetFault,
    TargetKind,
    TargetState,
    Use,
    is_text,
    safe_name,
)
from cephtui.targets.candidates import NOT_INSPECTED, Candidate, OnFound, PoolFacts, by_number, inspect_each
from cephtui.targets.devices import RbdMapping
from cephtui.targets.findings import never_written

if TYPE_CHECKING:
    from cephtui.ceph.surroundings import Surroundings

_BUSY_STATUSES = {16}
_EXISTS_STATUS = 17
_PARENTS_MOST = 8
_NAME = re.compile(r"[^/@#;:\s]+")
"""A name of a pool or an image; tools end a value at some of the excluded characters."""


@dataclass(frozen=True, slots=True)
class RbdPool(Target):
    """New images: one for each node and job, since jobs that share an image fight for its lock."""

    kind: ClassVar[Kind] = "rbd"
    opens_for_writing: ClassVar[bool] = True
    creates_images: ClassVar[bool] = True

    pool: str
    owner_id: str | None = None
    """The console session's id for the names of new images; None where they have been named."""

    @property
    def spec(self) -> str:
        return f"rbd:{self.pool}"

    @property
    def listed_by(self) -> str:
        return self.spec

    def lay_out(self, node: Node, layout: DataLayout) -> tuple[Place, tuple[Part, ...]]:
        assert self.owner_id, "new images can't be named without it"
        base = f"{OWN_PREFIX}{self.owner_id}-{safe_name(node.name)}"
        images = tuple(f"{base}-{job}" for job in range(layout.jobs))
        parts = tuple(Part(spec=f"rbd:{self.pool}/{image}", bytes=layout.size_bytes) for image in images)
        return RbdPlace(kind="rbd", pool=self.pool, images=images), parts

    async def inspect(self, shell: Shell, use: Use) -> TargetState:
        """Ask which images exist already; the guards of the pool are those of the cluster."""
        prefilled = [part for part in use.parts if part.spec in use.prefilled]
        identities = await asyncio.gather(*(_identity(shell, part.spec.removeprefix("rbd:")) for part in prefilled))
        existing = {part.spec: identity for part, identity in zip(prefilled, identities, strict=True) if identity}
        return TargetState(identities=existing, to_create=use.parts)

    async def create(self, shell: Shell, part: Part, owner: str) -> str:
        """Make an image, whose id is its identity. An image of this console session that is too small is made again."""
        pool, _, image = part.spec.removeprefix("rbd:").partition("/")
        return await make_image(shell, f"{pool}/{image}", part.bytes, owner, data_pool=self.data_pool)

    async def image_info(self, shell: Shell, part: Part) -> ImageInfo | None:
        return await image_of(shell, part.spec.removeprefix("rbd:"))

    async def limits(self, shell: Shell) -> Limits:
        """The limits of images that are created in the pool."""
        return await _limits(shell, self.pool)

    async def room(self, shell: Shell, nodes: int) -> int | None:
        """Half of what the guards allow; the other half is left to other clients of the pool."""
        most = await preflight.room_bytes(shell, self.data_pool or self.pool)
        return None if most is None else most // 2 // nodes


@dataclass(frozen=True, slots=True)
class RbdImage(Target):
    """An image that exists, for one node and one job, since only one client can hold its lock."""

    kind: ClassVar[Kind] = "image"
    is_managed: ClassVar[bool] = False
    single_client: ClassVar[bool] = True
    opens_for_writing: ClassVar[bool] = True

    pool: str
    image: str

    @property
    def spec(self) -> str:
        return f"rbd:{self.pool}/{self.image}"

    @property
    def listed_by(self) -> str:
        return RbdPool(self.pool).spec

    @property
    def names(self) -> tuple[str, ...]:
        return self.image, f"{self.pool}/{self.image}"

    def lay_out(self, node: Node, layout: DataLayout) -> tuple[Place, tuple[Part, ...]]:
        part = Part(spec=self.spec, bytes=layout.jobs * layout.size_bytes)
        return RbdPlace(kind="image", pool=self.pool, images=(self.image,)), (part,)

    async def inspect(self, shell: Shell, use: Use) -> TargetState:
        return await inspect_image(shell, self.pool, self.image, use)

    async def limits(self, shell: Shell) -> Limits:
        """The limits of the image, or of its pool; else those of the guest of Proxmox VE that uses it."""
        limits = await _limits(shell, self.pool, self.image)
        return limits if limits.is_set else await _guests_limits(shell, self.image)

    async def room(self, shell: Shell, nodes: int) -> int | None:
        """The size of the image."""
        info = await find_image(shell, self.pool, self.image)
        return info.size if info else None


async def _limits(shell: Shell, pool: str, image: str | None = None) -> Limits:
    """The limits of ``rbd_qos_*``, which hold for clients of librbd."""
    try:
        return await ClusterReader(shell).ask(reader.image_limits(pool, image))
    except ClusterError as error:
        raise TargetFault(str(error)) from None


async def _guests_limits(shell: Shell, image: str) -> Limits:
    """The limits of the guest of Proxmox VE that uses an image; none where they can't be read."""
    answer = await shell.run(proxmox.references_argv(image))
    try:
        return proxmox.parse_guest_limits(answer.stdout, image)
    except ValueError:
        return Limits()


class RbdKind(TargetKind):
    """Pools for new images, and the images that exist."""

    scheme = "rbd"
    examples = ("rbd:POOL", "rbd:POOL/IMAGE")
    in_pool = True

    def parse(self, name: str, owner_id: str | None = None) -> RbdPool | RbdImage:
        pool, slash, image = name.partition("/")
        text = self.spec(name)
        if "/" in image:
            raise TargetError(f"target {text!r}: fio can't open an image in an RBD namespace: use rbd:POOL/IMAGE")
        if not _NAME.fullmatch(pool) or (slash and not _NAME.fullmatch(image)) or not is_text(name):
            raise TargetError(f"target {text!r}: expected rbd:POOL or rbd:POOL/IMAGE")
        return RbdImage(pool, image) if slash else RbdPool(pool, owner_id)

    async def remove(self, shell: Shell, name: str, owner: str | None) -> Removed:
        pool, _, image = name.partition("/")
        return await remove_own_image(shell, pool, image, owner)

    def in_this_pool(self, facts: PoolFacts) -> Candidate:
        refusal = facts.unserved or pool_guards.guard_image_pool(facts.pool, None) or facts.full
        return self.candidate(facts.pool.name, f"new images, {facts.pool.text}, {facts.room}", refusal)

    def in_surroundings(self, surroundings: Surroundings) -> Sequence[Candidate]:
        pools = [storage for storage in surroundings.storages if storage.type == self.scheme]
        return [
            self.candidate(storage.pool, f"storage {storage.name}{storage.differs}: new images", None)
            for storage in pools
        ]

    async def discover(self, shell: Shell, name: str, on_found: OnFound) -> str:
        """The images of a pool: all names at once, then the facts of each image."""
        names = await ClusterReader(shell).ask(reader.image_names(name))
        listed = [self._listed_candidate(name, image) for image in sorted(names, key=by_number)]
        on_found(listed)
        await inspect_each(listed, lambda candidate: self._inspect_candidate(shell, candidate), on_found)
        return "" if names else f"pool {name} has no images"

    def _listed_candidate(self, pool: str, image: str) -> Candidate:
        """A candidate before it is inspected; a guest's disk is recognised by its name."""
        refusal = images.guard_name(pool, image)
        return self.candidate(f"{pool}/{image}", "image" if refusal else f"image, {NOT_INSPECTED}", refusal)

    async def _inspect_candidate(self, shell: Shell, listed: Candidate) -> Candidate:
        name = listed.spec.removeprefix("rbd:")
        pool, _, image = name.partition("/")
        try:
            facts = await image_facts(shell, pool, image)
        except ClusterError as error:
            return self.candidate(name, "image", error.refusal)
        return self.candidate(name, _text_of(facts), images.guard_image(facts, 0, ()))


def _text_of(facts: ImageFacts) -> str:
    info = facts.info
    clone = f", clone of {info.parent}" if info.parent else ""
    data = f", data in pool {info.data_pool}" if info.data_pool else ""
    return f"image of {units.size(info.size)}{clone}{data}"


async def inspect_image(
    shell: Shell, pool: str, image: str, use: Use, own_clients: frozenset[int] = frozenset()
) -> TargetState:
    """Inspect an existing image, and apply its guards; ``own_clients`` are those of the node's own mapping."""
    try:
        facts = await image_facts(shell, pool, image)
    except ClusterError as error:
        return TargetState(refusal=error.refusal)
    span = sum(part.bytes for part in use.parts)
    refusal = None
    if use.writes:
        refusal = images.guard_image(facts, span, use.destroy, own_clients=own_clients)
    elif span > facts.info.size:
        text = f"image {facts.info.spec} is too small: needs {units.size(span)}, has {units.size(facts.info.size)}"
        refusal = Refusal(text, "choose a smaller size or another image")
    findings = () if use.filled or use.writes else await _holes(shell, facts, span)
    return TargetState(refusal, findings, {f"rbd:{facts.info.spec}": facts.info.id}, image=facts.info)


async def _holes(shell: Shell, facts: ImageFacts, span: int) -> tuple[Finding, ...]:
    """What of the first bytes of an image, and of what it is a clone of, was never written, as far as objects tell."""
    cluster = ClusterReader(shell)
    chain = await _chain(cluster, facts)
    if isinstance(chain, str):
        return (UNVERIFIED.found(why=chain),)
    written = await cluster.optional(reader.image_written(chain, span))
    if written is None:
        return (UNVERIFIED.found(),)
    return never_written(THIN, written, span, image=facts.info.spec)


async def _chain(cluster: ClusterReader, facts: ImageFacts) -> list[ImageInfo] | str:
    """An image with all that it is a clone of; or why it is not known soon which of their objects exist."""
    if facts.use is None or facts.use.migrating:
        return f"image {facts.info.spec} may be in migration"
    chain = [facts.info]
    while len(chain) <= _PARENTS_MOST:
        if not chain[-1].tells_objects:
            return f"image {chain[-1].spec} has no valid object map (feature fast-diff)"
        if chain[-1].parent is None:
            return chain
        parent = await cluster.optional(reader.image_parent(chain[-1].parent))
        if parent is None:
            return f"the image that {facts.info.spec} is a clone of can't be inspected"
        chain.append(parent)
    return f"image {facts.info.spec} has too many parents"


async def image_facts(shell: Shell, pool: str, image: str) -> ImageFacts:
    """All that decides whether an image may be overwritten; raises ClusterError where that can't be found out."""
    cluster = ClusterReader(shell)
    info = await cluster.ask(reader.image_info(pool, image))
    use, snapshots, guests = await asyncio.gather(
        cluster.permitted(reader.image_use(pool, image)),
        cluster.permitted(reader.image_snapshots(pool, image)),
        shell.run(proxmox.references_argv(image)),
    )
    children = await cluster.optional(reader.image_children(pool, image)) if snapshots else None
    try:
        references = proxmox.parse_references(guests.stdout, image)
    except ValueError as error:
        raise ClusterError(f"can't inspect image {pool}/{image}: {error}") from None
    return ImageFacts(info, use, snapshots, children or (), references.files, references.unreadable)


async def inspect_mapped(shell: Shell, mapping: RbdMapping, use: Use) -> TargetState:
    """The image behind a device of the node, whose own mapping is no reason to refuse."""
    own_clients = frozenset({mapping.client} if mapping.client is not None else ())
    # giving up the device gives up the image behind it
    agreed = replace(use, destroy=(*use.destroy, f"{mapping.pool}/{mapping.image}"))
    return await inspect_image(shell, mapping.pool, mapping.image, agreed, own_clients)


async def find_image(shell: Shell, pool: str, image: str) -> ImageInfo | None:
    """The info of an image; None where it does not exist or can't be asked."""
    return await ClusterReader(shell).optional(reader.image_info(pool, image))


async def image_of(shell: Shell, name: str) -> ImageInfo | None:
    """The info of the image ``POOL/IMAGE``; None where it can't be asked."""
    pool, _, image = name.partition("/")
    return await find_image(shell, pool, image)


async def _identity(shell: Shell, name: str) -> str | None:
    info = await image_of(shell, name)
    return info.id if info else None


async def make_image(
    shell: Shell, name: str, size_bytes: int, owner: str, *, data_pool: str | None = None, options: Sequence[str] = ()
) -> str:
    """Make the image ``POOL/IMAGE`` that carries its owner, again if it exists; return its id. Raises TargetFault.

    rbd can't create and mark an image at once. So it gets its own name last: until then it has one that no other
    client can have given (see ``_unmarked_name``), and under its own name it is never without its mark.
    """
    pool, _, image = name.partition("/")
    unmarked = f"{pool}/{_unmarked_name(image, owner)}"
    data_option = ("--data-pool", data_pool) if data_pool else ()
    create = ("rbd", "create", "--size", f"{size_bytes}B", *data_option, *options, unmarked)
    done = await shell.ceph(create)
    if done.status == _EXISTS_STATUS:  # of an attempt that was broken off
        await shell.ceph(_remove_argv(unmarked))
        done = await shell.ceph(create)
    if done.status == 0:
        done = await shell.ceph(("rbd", "image-meta", "set", unmarked, OWNER_KEY, owner))
    if done.status == 0:
        done = await _rename(shell, unmarked, name, owner)
    identity = await _identity(shell, name) if done.status == 0 else None
    if not identity:
        raise TargetFault(f"can't create image {name}: {failure_reason(done)}")
    return identity


def _unmarked_name(image: str, owner: str) -> str:
    """The name of an image until it carries its owner: the name proves the owner, which is a secret."""
    return f"{OWN_PREFIX}new-{hashlib.sha256(f'{owner}/{image}'.encode()).hexdigest()[:32]}"


async def _rename(shell: Shell, unmarked: str, name: str, owner: str) -> Completed:
    """Give an image its own name; an image of the same owner that has the name is removed first."""
    rename = ("rbd", "rename", unmarked, name)
    done = await shell.ceph(rename)
    if done.status != _EXISTS_STATUS:
        return done
    pool, _, image = name.partition("/")
    removed = await _remove_marked(shell, pool, image, owner)
    if removed.status not in ("done", "absent"):
        raise TargetFault(f"can't create image {name}: {removed.text}")
    return await shell.ceph(rename)


async def remove_own_image(shell: Shell, pool: str, image: str, owner: str | None) -> Removed:
    """Remove an image that carries its owner, and check that it is: no name alone proves the owner of an image.

    With it goes what is left where a console was killed before it had marked the image. Without an owner nothing is
    removed: that is what was made before images were marked.
    """
    if not is_own_name(pool, image):
        return Removed("not ours", f"{pool}/{image} does not have a name that cephtui gives images")
    if owner:
        unmarked = _unmarked_name(image, owner)
        remaining = await shell.ceph(images.info_argv(pool, unmarked))
        if not answers.missing(remaining.status, remaining.stderr):
            removed = await _remove_image(shell, pool, unmarked)
            if removed.status != "done":
                return removed
    return await _remove_marked(shell, pool, image, owner)


def is_name(name: str) -> bool:
    """Whether a pool or an image may be called so."""
    return bool(_NAME.fullmatch(name)) and is_text(name)


def is_own_name(pool: str, image: str) -> bool:
    """Whether cephtui may have made an image of this name."""
    return bool(OWN_NAME.fullmatch(image) and _NAME.fullmatch(pool)) and not pool.startswith("-")


async def _remove_marked(shell: Shell, pool: str, image: str, owner: str | None) -> Removed:
    return await reason_to_keep(shell, pool, image, owner) or await _remove_image(shell, pool, image)


async def reason_to_keep(shell: Shell, pool: str, image: str, owner: str | None) -> Removed | None:
    """Why an image is not removed: it does not exist, or does not carry its owner; None where it may be removed."""
    try:
        info = await ClusterReader(shell).ask(reader.image_info(pool, image))
    except ClusterError as error:
        return Removed("absent") if error.missing else Removed("failed", str(error))
    try:
        mark = await shell.ceph(images.metadata_argv(pool, info.id, OWNER_KEY))
        image_owner = images.parse_metadata(mark.status, mark.stdout + mark.stderr)
    except ValueError as error:
        return Removed("failed", f"can't tell who created it: {error}")
    if not owner or image_owner != owner:
        whose = "the mark of another session" if image_owner else "no mark of cephtui"
        return Removed("not ours", f"it has {whose}; if it is yours: rbd rm {pool}/{image}")
    return None


async def _remove_image(shell: Shell, pool: str, image: str) -> Removed:
    """Remove an image that is known to be cephtui's, if it exists."""
    answer = await shell.ceph(_remove_argv(f"{pool}/{image}"), timeout_seconds=300.0)
    remaining = await shell.ceph(images.info_argv(pool, image))
    if answers.missing(remaining.status, remaining.stderr):
        return Removed("done")
    failed = answer if answer.status != 0 else remaining
    busy = answer.status in _BUSY_STATUSES or "watchers" in answer.stderr
    return Removed("busy" if busy else "failed", failure_reason(failed))


def _remove_argv(name: str) -> tuple[str, ...]:
    return ("rbd", "rm", "--no-progress", name)
