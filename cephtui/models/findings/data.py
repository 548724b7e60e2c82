"""Findings about what was read and written: holes, caches, memory."""

from __future__ import annotations

from cephtui.models.findings.kind import FindingKind, Values, says, worded

_RBD_CONFIG = "https://docs.ceph.com/en/latest/rbd/rbd-config-ref/"
_DIRECT = "https://fio.readthedocs.io/en/latest/fio_doc.html#cmdoption-arg-direct"
_COMPRESSION = "https://docs.ceph.com/en/latest/rados/configuration/bluestore-config-ref/#inline-compression"

_NEVER_WRITTEN = "What was never written is read from nowhere: no disk takes part, and the figures are far too good."


def _thin(values: Values) -> str:
    """An earlier cephtui knew no share."""
    share = "{share_percent:percent} of what is read was never written; " if "share_percent" in values else ""
    holes = "what was never written reads as zeros" if share else "objects never written read as zeros"
    return worded(f"image {{image}} is sparse: {share}{holes} without disk I/O, which is much too fast", values)


def _holes(values: Values) -> str:
    if "path" not in values:
        return "what was read are holes: of each object only the last byte and what this run has written is there"
    return worded(
        "{share_percent:percent} of what is read of {path} was never written: holes read as zeros without disk I/O, "
        "which is much too fast",
        values,
    )


THIN = FindingKind(
    "thin", "invalidates", "data", "thin image", _thin,
    why=_NEVER_WRITTEN,
    cure="read what was written before: let cephtui prefill an image of its own, or write all of this one first",
    source="https://docs.ceph.com/en/latest/rbd/rados-rbd-cmds/",
)  # fmt: skip
HOLES = FindingKind(
    "holes", "invalidates", "data", "holes were read", _holes,
    why=_NEVER_WRITTEN,
    cure="read objects that were written in full before, with the preset rados-rand; write all of a device first",
    cured=lambda values: "write all of it first" if "path" in values else
    "read objects that were written in full before: preset rados-rand",
)  # fmt: skip
UNVERIFIED = FindingKind(
    "unverified", "limits", "data", "holes possible",
    lambda values: worded(
        "unverified: cephtui did not prefill what was read, holes in it read much faster than data"
        + ("; {why}" if "why" in values else ""), values
    ),
    why="If a part of what was read was never written, the figures are better than those of data.",
    cure="let cephtui prefill the target, or write all of it first",
)  # fmt: skip
PAGE_CACHE = FindingKind(
    "page-cache", "invalidates", "data", "page cache",
    says("direct=0: the page cache takes part, this may be memory"),
    why="The kernel answers from memory what it has there, and takes writes before the storage has them.",
    cure="measure with direct=1", source=_DIRECT,
)  # fmt: skip


def _librbd_cache(values: Values) -> str:
    scope = " of image {image}" if "image" in values else " of pool {pool}" if "pool" in values else ""
    if _PERSISTENT in values["option"]:
        does = "librbd's persistent cache takes part, writes end on the client's own disk before the cluster has them"
    else:
        does = "librbd's cache takes part, much of this is the client's memory and not the cluster"
    return worded(f"{{option}}{scope}: {does}", values)


def _without_librbd_cache(values: Values) -> str:
    option, _, value = str(values.get("option")).partition("=")
    if not option.startswith("rbd_"):
        return f"measure with {'direct=1' if option == 'direct' else 'rbd-cache=false'}"
    off = f"{option} {'false' if value == 'true' else 'disabled'}"
    scope = next((f"rbd config {name} set {values[name]}" for name in ("image", "pool") if name in values), "")
    return f"switch it off while you measure: {scope or 'ceph config set client'} {off}"


_PERSISTENT = "rbd_persistent_cache_mode"
LIBRBD_CACHE = FindingKind(
    "librbd-cache", "invalidates", "data", "librbd's cache", _librbd_cache,
    why="librbd takes writes into the client's memory and sends them later, many joined to one, unless rbd_cache=false "
    "is set for the client. What is set for an image or its pool holds in spite of that. The persistent cache of "
    "rbd_persistent_cache_mode does the same with the client's disk or persistent memory.",
    cure="measure with direct=1 (fio), with rbd-cache=false (rbd bench), and with no cache set for image or pool",
    cured=_without_librbd_cache,
    source=f"{_RBD_CONFIG}#cache-settings",
)  # fmt: skip
MEMORY = FindingKind(
    "memory", "invalidates", "data", "memory",
    says("the target is on {file_system}: this is memory, not a disk"),
    why="No disk and no cluster takes part.",
    cure="choose a target on a disk",
)  # fmt: skip
FILE_SYSTEM_CACHE = FindingKind(
    "file-system-cache", "limits", "data", "file system's cache",
    says("the target is on {file_system}, which may cache in spite of direct=1: this may be memory"),
    why="Reads that a cache below the target answers take no disk: that of the file system itself, or the page cache, "
    "through which a loop device reads and writes its file.",
    cure="choose a target on another file system, or a file much larger than the node's memory; attach a loop device "
    "with losetup --direct-io=on",
    cured=lambda values: "attach the loop device with losetup --direct-io=on"
    if "loop device" in str(values.get("file_system"))
    else "choose a target on another file system, or a file much larger than the node's memory",
)  # fmt: skip
CACHE_DEVICE = FindingKind(
    "cache-device", "limits", "data", "cache device",
    says("a cache is in front of the disk of the target: {caches}; the figures may be those of the cache"),
    why="dm-cache (lvmcache), dm-writecache and bcache keep a part of a slow disk on a fast one: reads of what was "
    "used before, and writes with write-back, are done once the fast disk has done them.",
    cure="choose a target without a cache, or detach the cache while you measure: lvconvert --splitcache, "
    "bcache/detach in sysfs",
    source="https://man7.org/linux/man-pages/man7/lvmcache.7.html",
)  # fmt: skip


def _working_set(values: Values) -> str:
    where = "into the memory of the pool's OSDs, {cache_bytes:size} at most"
    if "hot_bytes" not in values:
        return worded(f"what is read, {{working_set_bytes:size}}, fits {where}: reads may have come from there", values)
    part = "90 % of the reads go to {hot_bytes:size} of {working_set_bytes:size}, which fit "
    return worded(f"{part}{where}: they may have come from there", values)


WORKING_SET = FindingKind(
    "working-set", "note", "data", "fits into caches", _working_set,
    why="An OSD keeps what it has read in its memory, osd_memory_target: what fits there is read from disks once.",
    cure="where your data is larger, choose a larger size, or a random_distribution with less in one place",
    cured=lambda values: "where your data is larger, choose a larger size"
    + (", or a random_distribution with less in one place" if "hot_bytes" in values else ""),
    source="https://docs.ceph.com/en/latest/rados/configuration/bluestore-config-ref/#automatic-cache-sizing",
)  # fmt: skip
CACHES = FindingKind(
    "caches", "limits", "data", "caches not dropped",
    says("{problem}: reads may come from memory"),
    why="The caches were to be dropped before the run, and were not: it starts from another state than its repeats.",
    cure="give the permission that the finding names, or compare with runs that keep their caches",
)  # fmt: skip
_ZEROS = "Storage that compresses, deduplicates or leaves out zeros stores them in next to no space and time."
ZEROS = FindingKind(
    "zeros", "note", "data", "zeros written",
    says("only zeros were written: storage that compresses, deduplicates or leaves out zeros may not store them"),
    why=_ZEROS,
    cure="write random data: if=/dev/urandom, or another preset",
)  # fmt: skip
ZEROS_COMPRESSED = FindingKind(
    "zeros-compressed", "invalidates", "data", "zeros compressed",
    says("only zeros were written to pool {pool}, which compresses: next to nothing of them is stored"),
    why=_ZEROS,
    cure="write random data: if=/dev/urandom, or another preset", source=_COMPRESSION,
)  # fmt: skip
_SMALLER = "Storage that compresses or deduplicates stores such data in less space and time than most data."
_LIKE_OURS = "measure with data like yours: set what yours compresses by, or leave these options out for random data"
COMPRESSIBLE = FindingKind(
    "compressible", "note", "data", "compressible data",
    says("what was written is easy to make smaller ({options}): storage that compresses or deduplicates stores less"),
    why=_SMALLER,
    cure=_LIKE_OURS, source="https://fio.readthedocs.io/en/latest/fio_doc.html#cmdoption-arg-buffer-compress-percentage",
)  # fmt: skip
COMPRESSED = FindingKind(
    "compressed", "limits", "data", "data compressed",
    says("what was written is easy to compress ({options}), and pool {pool} compresses: less than that is stored"),
    why=_SMALLER,
    cure=_LIKE_OURS, source=_COMPRESSION,
)  # fmt: skip
RANDOM_DATA = FindingKind(
    "random-data", "note", "data", "random data",
    says("one CPU made the random data as it was written: it may have been what limits"),
    why="A CPU makes some hundred MB of random data a second, less than fast storage takes.",
    cure="compare with zeros, or measure with another preset",
)  # fmt: skip


def _space(values: Values) -> str:
    if values.get("by_osd"):
        return worded("how full each OSD of pool {pool} gets is unknown: no permission", values)
    return worded("free space of pool {pool}: no permission", values)


SPACE = FindingKind(
    "space", "note", "data", "free space unknown", _space,
    why="Whether the run's data brings an OSD near its limit could not be looked at before.",
    cure="let the user read the cluster's state: caps mon 'allow r', mgr 'allow r'",
    source="https://docs.ceph.com/en/latest/rados/operations/user-management/",
)  # fmt: skip
RESIDUE = FindingKind(
    "residue", "note", "data", "objects may be left",
    says(
        "osd.{osd} has not reported its last portion: if it was killed, its store keeps objects disk_bw_test_* of up "
        "to {count_bytes:size}: ceph tell osd.{osd} bench {count_bytes} {block_bytes} removes them"
    ),
    why="An OSD removes what its bench has written at the end of a portion: one that ends before keeps it.",
    cure="where the OSD was killed run the command that the finding names",
)  # fmt: skip
