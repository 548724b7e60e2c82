"""Findings about what was read and written: holes, caches, memory."""

from __future__ import annotations

from cephtui.models.findings.kind import FindingKind, Values, says, worded

_RBD_CONFIG = "https://docs.ceph.com/en/latest/rbd/rbd-config-ref/"
_DIRECT = "https://fio.readthedocs.io/en/latest/fio_doc.html#cmdoption-arg-direct"
_COMPRESSION = "https://docs.ceph.com/en/latest/rados/configuration/bluestore-config-ref/#inline-compression"

_NEVER_WRITTEN = "Data that was never written is not read from any disk: the figures are far too good."


def _thin(values: Values) -> str:
    """An earlier cephtui knew no share."""
    share = "{share_percent:percent} of what is read was never written; " if "share_percent" in values else ""
    holes = "unwritten data reads as zeros" if share else "unwritten objects read as zeros"
    return worded(f"image {{image}} is sparse: {share}{holes} without disk I/O, which is much too fast", values)


def _holes(values: Values) -> str:
    if "path" not in values:
        return "holes were read: each object has only its last byte and what this run wrote"
    return worded(
        "{share_percent:percent} of what is read of {path} was never written: holes read as zeros without disk I/O, "
        "which is much too fast",
        values,
    )


THIN = FindingKind(
    "thin", "invalidates", "data", "thin image", _thin,
    why=_NEVER_WRITTEN,
    cure="let cephtui create and prefill an image, or write all of this image first",
    source="https://docs.ceph.com/en/latest/rbd/rados-rbd-cmds/",
)  # fmt: skip
HOLES = FindingKind(
    "holes", "invalidates", "data", "holes were read", _holes,
    why=_NEVER_WRITTEN,
    cure="read objects that were written in full, with the preset rados-rand; for a device, write all of it first",
    cured=lambda values: "write all of it first" if "path" in values else
    "read objects that were written in full: preset rados-rand",
)  # fmt: skip
UNVERIFIED = FindingKind(
    "unverified", "limits", "data", "holes possible",
    lambda values: worded(
        "cephtui did not prefill the data that was read: holes read much faster than data"
        + ("; {why}" if "why" in values else ""), values
    ),
    why="If part of it was never written, the figures are better than for real data.",
    cure="let cephtui prefill the target, or write all of it first",
)  # fmt: skip
PAGE_CACHE = FindingKind(
    "page-cache", "invalidates", "data", "page cache",
    says("direct=0: the page cache is used, so this may be the speed of memory"),
    why="The kernel serves cached reads from memory, and completes writes before they are on the storage.",
    cure="measure with direct=1", source=_DIRECT,
)  # fmt: skip


def _librbd_cache(values: Values) -> str:
    scope = " of image {image}" if "image" in values else " of pool {pool}" if "pool" in values else ""
    if _PERSISTENT in values["option"]:
        does = "librbd's persistent cache is used: writes complete on the client's own disk before the cluster has them"
    else:
        does = "librbd's cache is used: this is largely the speed of the client's memory, not of the cluster"
    return worded(f"{{option}}{scope}: {does}", values)


def _without_librbd_cache(values: Values) -> str:
    option, _, value = str(values.get("option")).partition("=")
    if not option.startswith("rbd_"):
        return f"measure with {'direct=1' if option == 'direct' else 'rbd-cache=false'}"
    off = f"{option} {'false' if value == 'true' else 'disabled'}"
    scope = next((f"rbd config {name} set {values[name]}" for name in ("image", "pool") if name in values), "")
    return f"switch the cache off while you measure: {scope or 'ceph config set client'} {off}"


_PERSISTENT = "rbd_persistent_cache_mode"
LIBRBD_CACHE = FindingKind(
    "librbd-cache", "invalidates", "data", "librbd's cache", _librbd_cache,
    why="librbd keeps writes in the client's memory and sends them later, several merged into one, unless "
    "rbd_cache=false is set for the client. A setting of the image or its pool overrides that of the client. The "
    "persistent cache (rbd_persistent_cache_mode) does the same with the client's disk or persistent memory.",
    cure="measure with direct=1 (fio) or rbd-cache=false (rbd bench), and with no cache set for the image or the pool",
    cured=_without_librbd_cache,
    source=f"{_RBD_CONFIG}#cache-settings",
)  # fmt: skip
MEMORY = FindingKind(
    "memory", "invalidates", "data", "memory",
    says("the target is on {file_system}: this is memory, not a disk"),
    why="No disk and no cluster is used.",
    cure="choose a target on a disk",
)  # fmt: skip
FILE_SYSTEM_CACHE = FindingKind(
    "file-system-cache", "limits", "data", "file system's cache",
    says("the target is on {file_system}, which may cache despite direct=1: this may be the speed of memory"),
    why="A cache below the target can serve reads without a disk: that of the file system itself, or the page cache "
    "that a loop device uses for its file.",
    cure="choose a target on another file system, or a file much larger than the node's memory; attach a loop device "
    "with losetup --direct-io=on",
    cured=lambda values: "attach the loop device with losetup --direct-io=on"
    if "loop device" in str(values.get("file_system"))
    else "choose a target on another file system, or a file much larger than the node's memory",
)  # fmt: skip
CACHE_DEVICE = FindingKind(
    "cache-device", "limits", "data", "cache device",
    says("the disk of the target has a cache in front of it: {caches}; the figures may be those of the cache"),
    why="dm-cache (lvmcache), dm-writecache and bcache keep part of a slow disk on a fast one: the fast disk alone "
    "serves reads of recently used data, and writes in write-back mode.",
    cure="choose a target without a cache, or detach the cache while you measure: lvconvert --splitcache, "
    "bcache/detach in sysfs",
    source="https://man7.org/linux/man-pages/man7/lvmcache.7.html",
)  # fmt: skip


def _working_set(values: Values) -> str:
    where = "into the memory of the pool's OSDs, {cache_bytes:size} at most"
    if "hot_bytes" not in values:
        return worded(f"the data read, {{working_set_bytes:size}}, fits {where}: reads may come from memory", values)
    part = "90 % of the reads go to {hot_bytes:size} of {working_set_bytes:size}, which fit "
    return worded(f"{part}{where}: these reads may come from memory", values)


WORKING_SET = FindingKind(
    "working-set", "note", "data", "fits into caches", _working_set,
    why="An OSD caches what it reads, up to osd_memory_target: data that fits is read from disk only once.",
    cure="if your own data is larger, choose a larger size, or a more even random_distribution",
    cured=lambda values: "if your own data is larger, choose a larger size"
    + (", or a more even random_distribution" if "hot_bytes" in values else ""),
    source="https://docs.ceph.com/en/latest/rados/configuration/bluestore-config-ref/#automatic-cache-sizing",
)  # fmt: skip
CACHES = FindingKind(
    "caches", "limits", "data", "caches not dropped",
    says("{problem}: reads may come from memory"),
    why="The caches were not dropped before the run as requested: its repeats may start from another state.",
    cure="give the permission that the finding names, or compare with runs that don't drop caches",
)  # fmt: skip
_ZEROS = "Storage that compresses, deduplicates or skips zeros stores them in next to no space and time."
ZEROS = FindingKind(
    "zeros", "note", "data", "zeros written",
    says("only zeros were written: storage that compresses, deduplicates or skips zeros may not store them"),
    why=_ZEROS,
    cure="write random data: if=/dev/urandom, or another preset",
)  # fmt: skip
ZEROS_COMPRESSED = FindingKind(
    "zeros-compressed", "invalidates", "data", "zeros compressed",
    says("only zeros were written to pool {pool}, which compresses: hardly anything is stored"),
    why=_ZEROS,
    cure="write random data: if=/dev/urandom, or another preset", source=_COMPRESSION,
)  # fmt: skip
_SMALLER = "Storage that compresses or deduplicates stores such data in less space and time than ordinary data."
_LIKE_OURS = "measure with data like yours: set its compression ratio, or leave these options out for random data"
COMPRESSIBLE = FindingKind(
    "compressible", "note", "data", "compressible data",
    says("the written data is easy to compress ({options}): storage that compresses or deduplicates stores less of it"),
    why=_SMALLER,
    cure=_LIKE_OURS, source="https://fio.readthedocs.io/en/latest/fio_doc.html#cmdoption-arg-buffer-compress-percentage",
)  # fmt: skip
COMPRESSED = FindingKind(
    "compressed", "limits", "data", "data compressed",
    says("the written data is easy to compress ({options}), and pool {pool} compresses: less of it is stored"),
    why=_SMALLER,
    cure=_LIKE_OURS, source=_COMPRESSION,
)  # fmt: skip
RANDOM_DATA = FindingKind(
    "random-data", "note", "data", "random data",
    says("one CPU generated the random data during the run, and may have been the limit"),
    why="A CPU generates a few hundred MB of random data per second, less than fast storage can write.",
    cure="compare with zeros, or measure with another preset",
)  # fmt: skip


def _space(values: Values) -> str:
    if values.get("by_osd"):
        return worded("it is unknown how full each OSD of pool {pool} gets: no permission", values)
    return worded("free space of pool {pool}: no permission", values)


SPACE = FindingKind(
    "space", "note", "data", "free space unknown", _space,
    why="It could not be checked beforehand whether the data of the run makes an OSD nearly full.",
    cure="give the user read access to the cluster's state: caps mon 'allow r', mgr 'allow r'",
    source="https://docs.ceph.com/en/latest/rados/operations/user-management/",
)  # fmt: skip
RESIDUE = FindingKind(
    "residue", "note", "data", "objects may be left",
    says(
        "osd.{osd} did not finish its last bench command: if the OSD was killed, its store still has objects "
        "disk_bw_test_* of up to {count_bytes:size}: ceph tell osd.{osd} bench {count_bytes} {block_bytes} removes them"
    ),
    why="An OSD removes the objects of a bench command when the command is done: an OSD that ends before keeps them.",
    cure="if the OSD was killed, run the command that the finding names",
)  # fmt: skip
