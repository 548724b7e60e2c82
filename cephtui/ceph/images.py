"""RBD images: what one is, who uses it, and whether it may be overwritten."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from cephtui import units
from cephtui.ceph import answers
from cephtui.frozen import dataclass
from cephtui.models.refusal import Refusal
from cephtui.paths import packaged_text

_WRITTEN = packaged_text("cephtui.ceph", "image_written.sh")
_FAST_DIFF, _INVALID = "fast-diff", {"object map invalid", "fast diff invalid"}
_FEW_OBJECTS = 4096
"""So many are asked for one by one in a few seconds."""
_GUEST = re.compile(r"(vm|base)-")
_DUMPED_LENGTH = re.compile(r"^value \((\d+) bytes\)", re.MULTILINE)
_DUMPED = re.compile(r"^[0-9a-f]{8} ((?: +[0-9a-f]{2})+) +\|", re.MULTILINE)
"""A line of rados' dump of a value: ``00000000  32 30 32  |202|``."""
_OTHER = "choose another image, or let cephtui make its own with rbd:POOL"


@dataclass(frozen=True, slots=True)
class ImageInfo:
    """What ``rbd info`` says of an image."""

    pool: str
    name: str
    id: str = ""
    size: int = 0
    """Bytes."""
    object_size: int = 0
    prefix: str = ""
    """What the names of its objects begin with: ``rbd_data.104f27624d4f``."""
    features: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    """``object map invalid``, ``fast diff invalid``."""
    data_pool: str | None = None
    """The pool of its data; None where that is the image's own pool."""
    parent: str | None = None
    """The snapshot ``pool/image@snapshot`` from which a clone reads what it does not have itself."""
    mirroring: str | None = None
    """``snapshot`` or ``journal``; None where the image is not mirrored."""

    @property
    def spec(self) -> str:
        """``pool/image``."""
        return f"{self.pool}/{self.name}"

    @property
    def tells_objects(self) -> bool:
        """Whether it can be asked soon which of its objects exist: by its object map, or one by one if they are few."""
        has_map = _FAST_DIFF in self.features and not _INVALID & set(self.flags)
        return has_map or self.size <= _FEW_OBJECTS * self.object_size


@dataclass(frozen=True, slots=True)
class Watcher:
    """A client that has an image open."""

    address: str
    client: int | None = None
    """Ceph's number of the client: the one in ``RbdMapping.client`` where the node itself has mapped the image."""


@dataclass(frozen=True, slots=True)
class ImageUse:
    """Who has an image open, and whether it is being migrated."""

    watchers: tuple[Watcher, ...] = ()
    migrating: bool = False


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """All that decides whether an image may be overwritten; None where the cephx caps deny it, which refuses."""

    info: ImageInfo
    use: ImageUse | None
    snapshots: tuple[str, ...] | None
    """The snapshots, those in the trash too, so that an image with children has at least one."""
    children: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    """Configuration files of Proxmox VE's guests that name the image."""
    unreadable: tuple[str, ...] = ()
    """Configuration files of Proxmox VE's guests that can't be read."""


def _image_options(pool: str, image: str) -> tuple[str, ...]:
    return ("--pool", pool, "--image", image, "--format", "json")


def list_argv(pool: str) -> tuple[str, ...]:
    """The command that lists the names of a pool's images, without opening any of them."""
    return ("rbd", "ls", "--pool", pool, "--format", "json")


def parse_list(text: str) -> tuple[str, ...]:
    """The answer to ``list_argv``; raises ValueError."""
    answer = answers.parse_answer(text)
    if not isinstance(answer, list):
        raise ValueError(f"unexpected answer: {text.strip()[:200]!r}")
    return answers.names(answer)


def info_argv(pool: str, image: str) -> tuple[str, ...]:
    """The command that reports an ImageInfo; status 2 where the image does not exist, see ``answers.missing``."""
    return ("rbd", "info", *_image_options(pool, image))


def status_argv(pool: str, image: str) -> tuple[str, ...]:
    """The command that reports ImageUse. The watcher of a client that was killed stays for 30 s."""
    return ("rbd", "status", *_image_options(pool, image))


def snapshots_argv(pool: str, image: str) -> tuple[str, ...]:
    """The command that lists all snapshots: the user's, mirroring's, and those in the trash that clones still need."""
    return ("rbd", "snap", "ls", "--all", *_image_options(pool, image))


def children_argv(pool: str, image: str) -> tuple[str, ...]:
    """The command that lists the clones, needed only to name them; it searches all pools for old-format clones."""
    return ("rbd", "children", "--all", *_image_options(pool, image))


def parent_argv(parent: str) -> tuple[str, ...]:
    """The command that reports an ImageInfo of the snapshot that a clone was made of, ``ImageInfo.parent``."""
    return ("rbd", "info", "--format", "json", parent)


def written_argv(chain: Sequence[ImageInfo], span_bytes: int) -> tuple[str, ...]:
    """The command that reports how many of the first bytes of an image were written; slow where it does not tell its
    objects.

    The first of the ``chain`` is the image, and each other one what the one before it is a clone of.
    """
    image = chain[0]
    sizes = (span_bytes, image.object_size, image.size)
    alike = [info for info in chain if info.object_size == image.object_size]
    objects = [word for info in alike for word in (info.data_pool or info.pool, info.prefix)]
    return ("bash", "-c", _WRITTEN, "cephtui-image-written", image.pool, image.name, *map(str, sizes), *objects)


def metadata_argv(pool: str, image_id: str, key: str) -> tuple[str, ...]:
    """The command that prints a value set with ``rbd image-meta set``, for ``parse_metadata``.

    From where librbd keeps it: ``rbd image-meta`` opens the image for writing, which hangs in a full pool.
    """
    return ("rados", "-p", pool, "getomapval", f"rbd_header.{image_id}", f"metadata_{key}")


def parse_metadata(status: int, text: str) -> str | None:
    """The answer to ``metadata_argv``, a dump in hexadecimal; None where there is no such key. Raises ValueError."""
    if status != 0 and "No such key" in text:
        return None
    content = bytes.fromhex("".join(_DUMPED.findall(text)))
    length = _DUMPED_LENGTH.search(text)
    if status != 0 or length is None or len(content) != int(length[1]):
        raise ValueError(f"unexpected answer: {text.strip()[:200]!r}")
    return content.decode("utf-8", "replace")


def parse_info(text: str, pool: str) -> ImageInfo:
    """The answer to ``info_argv``."""
    answer = answers.json_object(text, "name", "size")
    mirroring = answers.part(answer, "mirroring")
    is_mirrored = mirroring.get("state", "disabled") != "disabled"
    return ImageInfo(
        pool=pool,
        name=str(answer["name"]),
        id=str(answer.get("id", "")),
        size=answers.whole(answer["size"]),
        object_size=answers.whole(answer.get("object_size"), 1 << min(answers.whole(answer.get("order")), 63)),
        prefix=str(answer.get("block_name_prefix", "")),
        features=answers.names(answer.get("features")),
        flags=answers.names(answer.get("flags")),
        data_pool=str(answer["data_pool"]) if answer.get("data_pool") else None,
        parent=_parent(answers.part(answer, "parent")),
        # without a mode before Octopus, where there was only one
        mirroring=str(mirroring.get("mode", "journal")) if is_mirrored else None,
    )


def _parent(answer: Any) -> str | None:
    if not answer:
        return None
    places = [answer.get("pool"), answer.get("pool_namespace"), answer.get("image")]
    return f"{'/'.join(str(place) for place in places if place)}@{answer.get('snapshot')}"


def parse_image_use(text: str) -> ImageUse:
    """The answer to ``status_argv``."""
    answer = answers.json_object(text, "watchers")
    watchers = answer["watchers"]
    if isinstance(watchers, dict):  # by name up to Mimic
        watchers = list(watchers.values())
    return ImageUse(
        tuple(Watcher(str(watcher.get("address", "?")), _client(watcher)) for watcher in answers.objects(watchers)),
        migrating=bool(answer.get("migration")),
    )


def _client(answer: Any) -> int | None:
    return answers.whole(answer["client"]) if "client" in answer else None


def parse_snapshots(text: str) -> tuple[str, ...]:
    """The names in the answer to ``snapshots_argv``; a snapshot in the trash has the name that it had before."""
    snapshots = []
    for snapshot in answers.rows(text):
        place = answers.part(snapshot, "namespace")
        snapshots.append(str(place.get("original_name") or snapshot.get("name")))
    return tuple(snapshots)


def parse_children(text: str) -> tuple[str, ...]:
    """The clones in the answer to ``children_argv``, as ``pool/image``."""
    keys = ("pool", "pool_namespace", "image")
    return tuple("/".join(str(child[key]) for key in keys if child.get(key)) for child in answers.rows(text))


def parse_written(text: str) -> int:
    """The bytes in the answer to ``written_argv``: those of the objects that exist, by what is written in some of them.

    Where that is not known of any, they count as a whole.
    """
    match = re.fullmatch(r"(\d{1,19}) (\d{1,19}) (\d{1,19})", text.strip())
    if match is None:
        raise ValueError(f"unexpected answer: {text.strip()[:200]!r}")
    existing, done, possible = map(int, match.groups())
    return round(existing * min(1.0, done / possible)) if possible else existing


def confirm_names(info: ImageInfo) -> tuple[str, str]:
    """The names that the user may type to give up an image."""
    return info.spec, info.name


def guard_image(
    facts: ImageFacts,
    span_bytes: int,
    destroy: Sequence[str],
    *,
    own_clients: frozenset[int] = frozenset(),
    is_own: bool = False,
) -> Refusal | None:
    """Why ``span_bytes`` of an existing image may not be written, or None; the only place that decides it.

    ``own_clients`` are the numbers of the node's own mapping where that is the target. ``is_own`` is for images that
    cephtui has made: they need not be given up, but everything else that refuses an image refuses them, too.
    """
    return (
        _guard_owner(facts)
        or _guard_use(facts, own_clients)
        or _guard_unknown(facts)
        or _guard_size(facts.info, span_bytes)
        or (None if is_own else _guard_contents(facts.info, destroy))
    )


def guard_name(pool: str, image: str) -> Refusal | None:
    """Why an image may not be written, by its name alone; None where it has to be inspected."""
    facts = ImageFacts(ImageInfo(pool, image), ImageUse(), snapshots=())
    return guard_image(facts, 0, (image,))


def _guard_owner(facts: ImageFacts) -> Refusal | None:
    info = facts.info
    if _GUEST.match(info.name):
        return Refusal(f"image {info.spec} is a guest's disk by its name", _OTHER)
    if facts.references:
        return Refusal(f"image {info.spec} is a guest's disk in {answers.listed(facts.references)}", _OTHER)
    if info.mirroring:
        return Refusal(f"image {info.spec} is mirrored ({info.mirroring}): writes would also go to the mirror", _OTHER)
    if facts.use and facts.use.migrating:
        return Refusal(f"image {info.spec} is being migrated", _OTHER)
    if facts.children:
        return Refusal(f"image {info.spec} has clones: {answers.listed(facts.children)}", _OTHER)
    if facts.snapshots:
        return Refusal(f"image {info.spec} has snapshots: {answers.listed(facts.snapshots)}", _OTHER)
    return None


def _guard_use(facts: ImageFacts, own_clients: frozenset[int]) -> Refusal | None:
    watchers = facts.use.watchers if facts.use else ()
    addresses = [watcher.address for watcher in watchers if watcher.client is None or watcher.client not in own_clients]
    if not addresses:
        return None
    remedy = f"{_OTHER}; a client that just died is listed for 30 s"
    return Refusal(f"image {facts.info.spec} is in use by {answers.listed(addresses)}", remedy)


def _guard_unknown(facts: ImageFacts) -> Refusal | None:
    spec = facts.info.spec
    if facts.use is None:
        return Refusal(f"can't tell who uses image {spec}", "the cephx caps deny it: use another client id (ceph_id)")
    if facts.snapshots is None:
        return Refusal(
            f"can't tell whether image {spec} has snapshots", "the cephx caps deny it: use another client id (ceph_id)"
        )
    if facts.unreadable:
        text = f"can't tell who owns image {spec}: {facts.unreadable[0]} can't be read"
        return Refusal(text, "run on the node as root, for example with prefix sudo -n")
    return None


def _guard_size(info: ImageInfo, span_bytes: int) -> Refusal | None:
    if span_bytes <= info.size:
        return None
    text = (
        f"image {info.spec} is too small: needs {units.size(span_bytes)} (size x numjobs), has {units.size(info.size)}"
    )
    return Refusal(text, "choose a smaller size or another image")


def _guard_contents(info: ImageInfo, destroy: Sequence[str]) -> Refusal | None:
    if set(confirm_names(info)) & set(destroy):
        return None
    return Refusal(
        f"image {info.spec} exists and was not made by cephtui ({units.size(info.size)})",
        f"choose another image, or allow overwriting it with --destroy {info.name}",
        confirm=info.name,
    )
