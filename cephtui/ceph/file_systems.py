"""The CephFS file systems of a cluster: their names and the pools of their data."""

from __future__ import annotations

from cephtui.ceph import answers
from cephtui.frozen import dataclass

FILE_SYSTEMS_ARGV = ("ceph", "fs", "dump", "-f", "json")
"""Reports FileSystems."""


@dataclass(frozen=True, slots=True)
class FileSystem:
    """One of them."""

    name: str
    data_pools: tuple[int, ...]
    """Ids; the first is the default of new files."""


@dataclass(frozen=True, slots=True)
class FileSystems:
    """All of a cluster."""

    by_name: dict[str, FileSystem]
    default: str | None = None
    """The one that is mounted where no name is given; None where none is set."""


def parse_file_systems(text: str) -> FileSystems:
    """The answer to ``FILE_SYSTEMS_ARGV``; raises ValueError."""
    answer = answers.document(text, "filesystems")
    by_name, default = {}, None
    for file_system in answers.objects(answer["filesystems"]):
        mdsmap = answers.part(file_system, "mdsmap")
        pools = mdsmap.get("data_pools")
        name = str(mdsmap.get("fs_name", ""))
        by_name[name] = FileSystem(name, tuple(map(answers.whole, pools if isinstance(pools, list) else ())))
        if file_system.get("id") == answer.get("default_fscid"):
            default = name
    return FileSystems(by_name, default)
