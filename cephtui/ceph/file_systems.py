"""The CephFS file systems of a cluster: their names and the pools of their data."""

from __future__ import annotations

from cephtui.ceph import answers
from cephtui.frozen import dataclass

FILE_SYSTEMS_ARGV = ("ceph", "fs", "dump", "-f", "json")
"""The command that reports FileSystems."""


@dataclass(frozen=True, slots=True)
class FileSystem:
    """A CephFS file system."""

    name: str
    data_pools: tuple[int, ...]
    """The ids of its data pools; the first is the default for new files."""


@dataclass(frozen=True, slots=True)
class FileSystems:
    """All CephFS file systems of a cluster."""

    by_name: dict[str, FileSystem]
    default: str | None = None
    """The name of the file system that is mounted where none is named; None where none is set."""


def parse_file_systems(text: str) -> FileSystems:
    """The answer to ``FILE_SYSTEMS_ARGV``; raises ValueError."""
    answer = answers.json_object(text, "filesystems")
    by_name, default = {}, None
    for file_system in answers.objects(answer["filesystems"]):
        mdsmap = answers.part(file_system, "mdsmap")
        pools = mdsmap.get("data_pools")
        name = str(mdsmap.get("fs_name", ""))
        by_name[name] = FileSystem(name, tuple(map(answers.whole, pools if isinstance(pools, list) else ())))
        if file_system.get("id") == answer.get("default_fscid"):
            default = name
    return FileSystems(by_name, default)
