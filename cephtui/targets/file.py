"""``file:PATH``: a file that cephtui creates, prefills, uses and removes.

Everything is done by small shell scripts on the node that runs the benchmark, so that a remote node needs
nothing but a shell. The guard is a pure function on what those scripts report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, ClassVar, Literal

from cephtui import models, units
from cephtui.frozen import dataclass
from cephtui.models.refusal import Refusal
from cephtui.nodes.shell import (
    Shell,
    failure_reason,
)
from cephtui.paths import packaged_text
from cephtui.printable import listed
from cephtui.targets.base import (
    DataLayout,
    Removed,
    Target,
    TargetError,
    TargetFault,
    TargetKind,
    TargetState,
    Use,
    is_text,
)
from cephtui.targets.devices import LEADS_FUNCTIONS, MEMORY_FUNCTIONS, QUEUES_FUNCTION, openers_of, parse_queues
from cephtui.tools import check_path

if TYPE_CHECKING:
    from cephtui.ceph.surroundings import Surroundings
    from cephtui.models import Finding, Kind, Node, OptionValue, Part, Place
    from cephtui.targets.candidates import Candidate

MARK_BYTES = 4096
MARK = "cephtui scratch file"
"""The block after the span of a file of cephtui's begins with this, its owner in the second line: no benchmark
reaches it, every file system keeps it, and it moves with the file."""
_REMOVE_STATUSES: Mapping[int, Literal["done", "absent", "busy", "not ours"]] = {
    0: "done",
    75: "busy",
    76: "not ours",
    77: "absent",
}
_RESERVE_PERCENT, _RESERVE_MOST_BYTES = 5, 10 << 30
_OWN_CACHE = {"zfs"}
_OF_FILES = {"dir", "btrfs", "nfs", "cifs"}
"""Types of storages in Proxmox VE that are a folder of a file system."""
_MARK_FUNCTIONS = packaged_text("cephtui.targets", "file_mark.sh")
_NAMES = ("inspect", "create", "extend", "remove")
_SCRIPTS = {name: packaged_text("cephtui.targets", f"file_{name}.sh") for name in _NAMES}


def _script(name: str, *arguments: str) -> tuple[str, ...]:
    functions = _MARK_FUNCTIONS
    if name == "inspect":
        functions += QUEUES_FUNCTION + MEMORY_FUNCTIONS + LEADS_FUNCTIONS
    return ("bash", "-c", functions + _SCRIPTS[name], f"cephtui-{name}", *arguments)


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What a node reports of a path."""

    kind: str
    """``missing``, ``file``, or the type of what else is there in the words of stat."""
    size: int = 0
    allocated: int = 0
    inode: str | None = None
    writable: bool = False
    marked: bool = False
    busy: bool = False
    directory: bool = False
    osd: str | None = None
    """The number of the OSD in whose data directory the path is; empty where the number is not known."""
    is_osd_data: bool = False
    """Whether the file is one of an OSD, whatever its name."""
    claim: str | None = None
    """``free`` where nobody has the file open or locked, ``busy`` where somebody has, None where that can't be told."""
    openers: tuple[str, ...] = ()
    """Processes that have the file open or mapped: ``kvm (4711)``."""
    holders: tuple[str, ...] = ()
    """Loop devices and exports that use the file."""
    swaps: tuple[str, ...] = ()
    root: bool = False
    """Whether the script ran as root; other users can't see who has the file open."""
    free: int | None = None
    total: int | None = None
    mount: str | None = None
    """The mount point of the file system."""
    filesystem: str | None = None
    device: str | None = None
    memory: tuple[str, ...] = ()
    """What of the file system, or below it, is memory: ``tmpfs``, ``zram0``."""
    cached: tuple[str, ...] = ()
    """Loop devices without direct I/O below it."""
    caches: tuple[str, ...] = ()
    """Caches in front of disks below it: ``vg-data (dm-cache)``."""
    queues: Mapping[str, str] = field(default_factory=dict)
    """Settings of the queues of the disks under the file system: ``queue/scheduler``."""


@dataclass(frozen=True, slots=True)
class FileTarget(Target):
    """A file, or one for each node."""

    kind: ClassVar[Kind] = "file"
    default_span_bytes: ClassVar[int] = 1 << 30
    identified_at_path: ClassVar[bool] = True
    has_mds: ClassVar[bool] = True

    path: str

    @property
    def spec(self) -> str:
        return f"file:{self.path}"

    @property
    def names(self) -> tuple[str, ...]:
        return confirm_names(self.path)

    def lay_out(self, node: Node, layout: DataLayout) -> tuple[Place, tuple[Part, ...]]:
        """A file for each node, since several nodes may share the file system."""
        path = self.path if layout.alone else f"{self.path}.{node.name}"
        part = models.Part(spec=f"file:{path}", bytes=layout.jobs * layout.size_bytes)
        return models.FilePlace(kind="file", path=path), (part,)

    async def inspect(self, shell: Shell, use: Use) -> TargetState:
        (part,) = use.parts
        path = part.spec.removeprefix("file:")
        facts = await inspect_path(shell, path)
        refusal = guard_file(path, facts, part.bytes, use.destroy)
        taken_as_it_is = facts.kind == "file" and not facts.marked
        is_small = taken_as_it_is and use.writes and facts.size < part.bytes
        return TargetState(
            refusal=refusal,
            findings=file_findings(facts, use.options),
            identities={part.spec: facts.inode} if facts.inode else {},
            to_create=() if taken_as_it_is else (part,),
            to_extend=(extend_argv(path, facts.inode or "", part.bytes),) if is_small else (),
            mount=facts.mount,
            filesystem=facts.filesystem,
            device=facts.device,
            queues=facts.queues,
        )

    async def create(self, shell: Shell, part: Part, owner: str) -> str:
        """Make the file, or resize and take over one of cephtui's; device and inode identify it."""
        path = part.spec.removeprefix("file:")
        done = await shell.run(create_argv(path, part.bytes, owner))
        if done.status != 0:
            raise TargetFault(f"can't create {path}: {failure_reason(done)}")
        return done.stdout.strip()


class FileKind(TargetKind):
    """Files. Their room is not asked: the default size is small, and the guard knows the free space."""

    scheme = "file"
    examples = ("file:PATH",)
    is_path = leaves_files = True

    def parse(self, name: str, owner_id: str | None = None) -> FileTarget:
        return FileTarget(parse_file_path(self.spec(name), name))

    def in_surroundings(self, surroundings: Surroundings) -> Sequence[Candidate]:
        return [
            self.candidate(f"{storage.path}/cephtui", f"storage {storage.name} ({storage.type}): a new file", None)
            for storage in surroundings.storages
            if storage.path and storage.type in _OF_FILES and storage.mount_point in ("", *surroundings.mounted)
        ]

    async def remove(self, shell: Shell, name: str, owner: str | None) -> Removed:
        if not name.startswith("/") or not is_text(name):
            return await super().remove(shell, name, owner)
        return await remove_file(shell, name, owner)


def inspect_file_argv(path: str) -> tuple[str, ...]:
    """The command that reports FileFacts."""
    return _script("inspect", path)


def create_argv(path: str, span_bytes: int, owner: str = "") -> tuple[str, ...]:
    """The command that makes the file, or resizes one of cephtui's, marks it, and prints its device and inode."""
    return _script("create", path, str(span_bytes), owner)


def extend_argv(path: str, identity: str, span_bytes: int) -> tuple[str, ...]:
    """The command that extends the file with this device and inode to a size, where it is smaller."""
    return _script("extend", path, identity, str(span_bytes))


def remove_argv(path: str, owner: str = "") -> tuple[str, ...]:
    """The command that removes the file if it carries its owner's mark, has no other name and nothing uses it.

    Without an owner: one that was made before files had theirs in the mark.
    """
    return _script("remove", path, owner, "")


async def inspect_path(shell: Shell, path: str) -> FileFacts:
    """What a node reports of a path; raises TargetFault."""
    answer = await shell.run(inspect_file_argv(path))
    try:
        return parse_file_facts(answer.stdout)
    except ValueError as error:
        raise TargetFault(f"can't inspect {path}: {error} {answer.stderr}".strip()) from None


async def remove_file(shell: Shell, path: str, owner: str | None) -> Removed:
    """Remove a file if it carries the mark of its owner and nothing uses it."""
    answer = await shell.run(remove_argv(path, owner or ""))
    return Removed(_REMOVE_STATUSES.get(answer.status, "failed"), answer.stderr.strip())


def confirm_names(path: str) -> tuple[str, str]:
    """The names that the user may type to give up an existing file or device."""
    return path, PurePosixPath(path).name


def parse_file_path(text: str, path_text: str) -> str:
    """The absolute path in a target's text; raises TargetError."""
    try:
        path = Path(path_text).expanduser().absolute()
    except RuntimeError:
        raise TargetError(f"target {text!r}: there is no such user") from None
    except OSError:
        raise TargetError(
            f"target {text!r}: the working directory does not exist any more, use an absolute path"
        ) from None
    if not is_text(str(path)) or path.name in ("", ".", ".."):
        raise TargetError(f"target {text!r}: expected the path of a file, in UTF-8")
    # of any tool, since which of them will use it is not known yet
    if problem := check_path(str(path)):
        raise TargetError(f"target {text!r}: {problem}")
    return str(path)


def parse_file_facts(text: str) -> FileFacts:
    """The facts in the output of ``inspect_file_argv``; raises ValueError for any other text."""
    pairs = [line.split("\t", 1) for line in text.splitlines() if "\t" in line]
    fields = dict(pairs)
    if "kind" not in fields:
        raise ValueError(f"unexpected answer: {text[:200]!r}")

    def every(key: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(value for name, value in pairs if name == key))

    def number(key: str) -> int | None:
        return int(fields[key]) if fields.get(key, "").isdigit() else None

    return FileFacts(
        kind="file" if fields["kind"].startswith("file") else fields["kind"],
        size=number("size") or 0,
        allocated=number("allocated") or 0,
        inode=fields.get("inode"),
        writable="writable" in fields,
        marked="marked" in fields,
        busy="busy" in fields,
        directory="directory" in fields,
        osd=max(every("osd"), default=None),
        is_osd_data="osd-data" in fields,
        claim=fields.get("claim"),
        openers=openers_of(every("opened")),
        holders=every("holder"),
        swaps=every("swap"),
        root="root" in fields,
        free=number("free"),
        total=number("total"),
        mount=fields.get("mount"),
        filesystem=fields.get("filesystem"),
        device=fields.get("device"),
        memory=every("memory"),
        cached=every("cached"),
        caches=every("cache"),
        queues=parse_queues(text),
    )


def guard_file(path: str, facts: FileFacts, span_bytes: int, destroy: tuple[str, ...]) -> Refusal | None:
    """Why ``span_bytes`` may not be written to the file, or None; the only place that decides it."""
    if not facts.directory:
        return Refusal(f"{path}: there is no directory {PurePosixPath(path).parent}", "create it or choose another")
    if facts.is_osd_data or facts.osd is not None:
        return _is_osds(path, facts)
    if facts.kind not in ("missing", "file"):
        return Refusal(f"{path} is a {facts.kind}", "choose the path of a new file")
    if facts.busy:
        return Refusal(f"{path} is in use by another run", "wait until it is free, or choose another file")
    if refusal := _guard_use(path, facts):
        return refusal
    if facts.kind == "file" and not facts.marked and not set(confirm_names(path)) & set(destroy):
        return Refusal(
            f"{path} exists and was not made by cephtui ({units.size(facts.size)})",
            f"choose a new file, or allow overwriting it with --destroy {PurePosixPath(path).name}",
            confirm=PurePosixPath(path).name,
        )
    if facts.kind == "file" and not (facts.claim or facts.marked or facts.root):
        return Refusal(f"can't tell who uses {path}", "run on the node as root, for example with prefix sudo -n")
    if not facts.writable:
        return Refusal(f"{path} can't be written", "check its permissions and that the file system is writable")
    return _guard_space(path, facts, span_bytes)


def _is_osds(path: str, facts: FileFacts) -> Refusal:
    number = facts.osd or ""
    osd = number if number.isdecimal() else "N"
    text = f"{path} is in the data directory of osd.{osd}, which is not on the disk of the OSD"
    if facts.is_osd_data:
        text = f"{path} is data of an OSD" if osd == "N" else f"{path} is data of osd.{osd}"
    return Refusal(text, f"measure the OSD itself with --target osd:{osd}")


def _guard_use(path: str, facts: FileFacts) -> Refusal | None:
    """Why a file may not be used, given up or not: somebody has it open, locked or behind a device."""
    remedy = "wait until it is free, or choose another file"
    if facts.swaps:
        return Refusal(f"{path} is used as swap space", "choose another file")
    if facts.holders:
        return Refusal(f"{path} is behind {listed(facts.holders)}", "choose another file")
    if facts.openers:
        return Refusal(f"{path} is in use by {listed(facts.openers)}", remedy)
    if facts.claim == "busy":
        who = "another process, perhaps in a container or on another host"
        return Refusal(f"{path} is open or locked by {who}", remedy)
    return None


def _guard_space(path: str, facts: FileFacts, span_bytes: int) -> Refusal | None:
    if facts.free is None or facts.total is None:
        return None
    reserve = min(facts.total * _RESERVE_PERCENT // 100, _RESERVE_MOST_BYTES)
    usable = max(0, facts.free - reserve)
    needed = max(0, span_bytes + MARK_BYTES - facts.allocated)
    if needed <= usable:
        return None
    return Refusal(
        f"not enough free space for {path}: needs {units.size(needed)} (size x numjobs), "
        f"{units.size(facts.free)} free, of which {units.size(reserve)} are kept in reserve",
        "choose a smaller size or another target",
    )


def file_findings(facts: FileFacts, options: Mapping[str, OptionValue]) -> tuple[Finding, ...]:
    """The findings about the file system that the data is on."""
    from cephtui.models.findings.data import FILE_SYSTEM_CACHE
    from cephtui.targets.findings import cached_below, in_front, memory, page_cache

    if facts.memory:
        return memory(facts.memory)
    if facts.filesystem in _OWN_CACHE:
        return (FILE_SYSTEM_CACHE.found(file_system=facts.filesystem),)
    return (*page_cache(options), *cached_below(facts.cached), *in_front(facts.caches))
