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
    answer = answers.table(text, "filesystems")
    found, default = {}, None
    for one in answers.objects(answer["filesystems"]):
        mdsmap = answers.part(one, "mdsmap")
        pools = mdsmap.get("data_pools")
        name = str(mdsmap.get("fs_name", ""))
        found[name] = FileSystem(name, tuple(map(answers.whole, pools if isinstance(pools, list) else ())))
        if one.get("id") == answer.get("default_fscid"):
            default = name
    return FileSystems(found, default)
