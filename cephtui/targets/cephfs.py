"""``cephfs:PATH``: a file of cephtui's own on a mounted CephFS, with the guards of the pool that has its data.

In all else it is a file: it is created, prefilled, used and removed as ``file:PATH`` is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Self

from cephtui.ceph.file_systems import FileSystems
from cephtui.cluster import reader
from cephtui.cluster.reader import ClusterError, ClusterReader
from cephtui.frozen import dataclass
from cephtui.nodes.shell import Shell
from cephtui.paths import packaged_text
from cephtui.targets.base import TargetFault, TargetKind
from cephtui.targets.candidates import Candidate
from cephtui.targets.file import FileTarget, parse_file_path

if TYPE_CHECKING:
    from cephtui.ceph.surroundings import Surroundings

_INSPECT = packaged_text("cephtui.targets", "cephfs_inspect.sh")
_TYPES = ("ceph", "fuse.ceph", "fuse.ceph-fuse")
_NAMED = re.compile(r"(?:^|,)(?:mds_namespace|fs)=([^,]+)")
_SOURCE = re.compile(r"[^@]*@[0-9a-f-]*\.([^=]+)=")
"""The source of a mount in the kernel's syntax since Linux 5.16: ``USER@FSID.NAME=/PATH``."""


@dataclass(frozen=True, slots=True)
class CephfsFacts:
    """What a node reports of a directory."""

    type: str | None = None
    """The type of the directory's file system; None where there is no such directory."""
    name: str | None = None
    """The name of the CephFS, where the mount has it."""
    pool: str | None = None
    """The pool of a layout on the directory or above it."""


@dataclass(frozen=True, slots=True)
class CephfsTarget(FileTarget):
    """A file, or one for each node, on a CephFS that the nodes have mounted."""

    @property
    def spec(self) -> str:
        return f"cephfs:{self.path}"

    async def locate(self, shells: Mapping[str, Shell], cluster_shell: Shell) -> Self:
        """The target with the pool that the file's data will be in."""
        directory = str(PurePosixPath(self.path).parent)
        answer = await cluster_shell.run(("bash", "-c", _INSPECT, "cephtui-cephfs", directory))
        facts = parse_cephfs_facts(answer.stdout)
        if facts.type is None:
            raise TargetFault(f"{cluster_shell.node.name}: there is no directory {directory}")
        if facts.type not in _TYPES:
            problem = f"{cluster_shell.node.name}: {directory} is on {facts.type}, not on a CephFS"
            raise TargetFault(f"{problem}: mount it first, or use file:{self.path}")
        return replace(self, pool=facts.pool or await _default_pool(cluster_shell, directory, facts.name))


class CephfsKind(TargetKind):
    """Mounted CephFS file systems. Their parts are files, and are removed as files."""

    scheme = "cephfs"
    examples = ("cephfs:PATH",)
    is_path = True

    def parse(self, name: str, owner_id: str | None = None) -> CephfsTarget:
        return CephfsTarget(parse_file_path(self.spec(name), name))

    async def on_node(self, shell: Shell) -> Sequence[Candidate]:
        """A new file on each CephFS that is mounted."""
        answer = await shell.run(("findmnt", "-rn", "-o", "TARGET", "-t", ",".join(_TYPES)))
        paths = [path for path in answer.stdout.splitlines() if path.startswith("/") and "\\" not in path]
        return [
            self.candidate(f"{path}/cephtui", f"a new file on the CephFS mounted on {path}", None) for path in paths
        ]

    def in_surroundings(self, surroundings: Surroundings) -> Sequence[Candidate]:
        titles = {storage.path: f"storage {storage.name}: " for storage in surroundings.storages}
        return [
            self.candidate(f"{path}/cephtui", f"{titles.get(path, '')}a new file on the CephFS mounted on {path}", None)
            for path in surroundings.mounts
            if "\\" not in path
        ]


def parse_cephfs_facts(text: str) -> CephfsFacts:
    """The facts in the output of the script; what it did not print is None."""
    fields: Mapping[str, str] = dict(line.split("\t", 1) for line in text.splitlines() if "\t" in line)
    match = _NAMED.search(fields.get("options", "")) or _SOURCE.match(fields.get("source", ""))
    return CephfsFacts(fields.get("type") or None, match[1] if match else None, fields.get("pool") or None)


async def _default_pool(shell: Shell, directory: str, name: str | None) -> str:
    """The pool of new files in the file system of this name; raises TargetFault where the cluster does not tell."""
    cluster = ClusterReader(shell)
    try:
        known_file_systems, osd_map = await cluster.ask(reader.FILE_SYSTEMS), await cluster.ask(reader.OSD_MAP)
    except ClusterError as error:
        raise TargetFault(str(error)) from None
    pool_id = default_pool_id(known_file_systems, name)
    pool_name = next((pool.name for pool in osd_map.pools.values() if pool.id == pool_id), None)
    if pool_name is None:
        remedy = "set a layout on the directory, or use file:PATH"
        raise TargetFault(f"{shell.node.name}: can't tell which CephFS {directory} is on: {remedy}")
    return pool_name


def default_pool_id(known_file_systems: FileSystems, name: str | None) -> int | None:
    """The pool of new files in the file system of this name, else in the default or the only one."""
    only = next(iter(known_file_systems.by_name)) if len(known_file_systems.by_name) == 1 else None
    chosen = known_file_systems.by_name.get(name or known_file_systems.default or only or "")
    return chosen.data_pools[0] if chosen and chosen.data_pools else None
