"""What a host has to measure, by its files alone: the storages and nodes of Proxmox VE, access to Ceph, CephFS."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import field

from cephtui.ceph.corosync import ClusterNode, is_node_name, parse_corosync
from cephtui.ceph.proxmox import sections
from cephtui.frozen import dataclass
from cephtui.paths import packaged_text

_SCRIPT = packaged_text("cephtui.ceph", "lines.sh") + packaged_text("cephtui.ceph", "surroundings.sh")
_LINES_MOST, _STORAGES_MOST, _PLACES_MOST = 50_000, 200, 200
_FALSE = {"", "0", "no", "off", "false"}
_MOUNTED = {"nfs", "cifs", "cephfs", "glusterfs"}
"""Storages that Proxmox VE mounts on /mnt/pve/NAME."""
_OCTAL = re.compile(r"\\([0-7]{3})")
"""An octal escape, as /proc/self/mounts has them for blanks."""


@dataclass(frozen=True, slots=True)
class PveStorage:
    """A storage that Proxmox VE has on this host."""

    name: str
    type: str
    """The type as in storage.cfg: ``rbd``, ``cephfs``, ``dir``, ``zfspool``, ``lvmthin``."""
    path: str = ""
    """The folder where its files are; empty where it has none."""
    mount_point: str = ""
    """The path that has to be mounted for its files; empty where nothing has to be."""
    pool: str = ""
    """The pool of Ceph or ZFS; empty where it has none."""
    data_pool: str = ""
    """Ceph's pool for the data of images; empty where that is ``pool``."""
    namespace: str = ""

    @property
    def differs(self) -> str:
        """How images of this storage differ from images that are in its pool alone, in words."""
        data_text = f", whose data is in {self.data_pool} (--data-pool {self.data_pool})" if self.data_pool else ""
        return f"{data_text}, which uses namespace {self.namespace}" if self.namespace else data_text


@dataclass(frozen=True, slots=True)
class System:
    """A Linux distribution, as in os-release(5)."""

    name: str = ""
    ids: tuple[str, ...] = ()
    """The id of the distribution and of those that it is like: ``ubuntu``, ``debian``."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a host has for measuring."""

    host: str = ""
    system: System = System()
    proxmox: str | None = None
    """The version of Proxmox VE, empty where that is not known; None where the host has none."""
    storages: tuple[PveStorage, ...] = ()
    """The storages that are enabled on this host."""
    nodes: tuple[ClusterNode, ...] = ()
    """The nodes of the Proxmox VE cluster, this host among them."""
    confs: tuple[str, ...] = ()
    """Paths of the ceph.conf files that can be read."""
    keyrings: tuple[str, ...] = ()
    """Paths of Ceph's keyrings that can be read."""
    mounts: tuple[str, ...] = ()
    """Mount points of CephFS."""
    mounted: frozenset[str] = frozenset()
    """Mount points of other file systems."""
    programs: frozenset[str] = frozenset()
    """The programs of Ceph that are installed, and those that install packages."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """The versions of curl and ssh, as they print them."""
    unreadable: tuple[str, ...] = ()
    """Paths of files that exist and can't be read."""

    @property
    def other_nodes(self) -> tuple[ClusterNode, ...]:
        """The other nodes of the Proxmox VE cluster."""
        return tuple(node for node in self.nodes if node.name != self.host)

    @property
    def has_ceph(self) -> bool:
        """Whether the host is set up to reach a cluster."""
        pools = any(storage.pool and storage.type in _OF_CEPH for storage in self.storages)
        return bool(self.confs or self.keyrings or self.mounts or pools)

    @property
    def is_admin(self) -> bool:
        """Whether the host has the key of Ceph's administrator."""
        return bool(self.confs) and any("client.admin." in name for name in self.keyrings)


_OF_CEPH = {"rbd", "cephfs"}


def surroundings_argv(root: str = "") -> tuple[str, ...]:
    """The command that reports Surroundings; ``root`` stands before all paths."""
    return ("bash", "-c", _SCRIPT, "cephtui-surroundings", root)


def parse_surroundings(text: str) -> Surroundings:
    """The answer to ``surroundings_argv``; lines that are not as expected are passed over. Raises ValueError."""
    rows: dict[str, list[str]] = {}
    for line in text.split("\n")[:_LINES_MOST]:
        key, tab, value = line.partition("\t")
        if tab:
            rows.setdefault(key, []).append(value)
    if "done" not in rows:
        raise ValueError(f"unexpected answer: {text.strip()[:200]!r}")

    def all_of(key: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(rows.get(key, ())))[:_PLACES_MOST]

    host = next(iter(all_of("host")), "").partition(".")[0]
    return Surroundings(
        host=host,
        system=parse_release(rows.get("release", ())),
        proxmox=next(iter(all_of("proxmox")), None),
        storages=parse_storages("\n".join(rows.get("storage", ())), host),
        nodes=_cluster_nodes(all_of("node"), parse_corosync("\n".join(rows.get("corosync", ())))),
        confs=all_of("conf"),
        keyrings=all_of("keyring"),
        mounts=tuple(map(_unescaped, all_of("mount"))),
        mounted=frozenset(map(_unescaped, rows.get("mounted", ()))),
        programs=frozenset(all_of("program")),
        versions={name: lines[0] for name in ("curl", "ssh") if (lines := [line for line in all_of(name) if line])},
        unreadable=all_of("unreadable"),
    )


def parse_release(lines: Sequence[str]) -> System:
    """The distribution in the lines of an os-release(5)."""
    fields: dict[str, str] = {}
    for line in lines:
        key, _, value = line.partition("=")
        try:
            fields[key.strip()] = " ".join(shlex.split(value))
        except ValueError:  # a quote that is not closed
            continue
    ids = f"{fields.get('ID', '')} {fields.get('ID_LIKE', '')}".lower().split()
    return System(fields.get("PRETTY_NAME", ""), tuple(dict.fromkeys(ids)))


def parse_storages(text: str, host: str) -> tuple[PveStorage, ...]:
    """The storages in a ``/etc/pve/storage.cfg`` that are enabled on a host."""
    storages = []
    for kind, name, keys in sections(text):
        hosts = [node for node in re.split(r"[,;\s]+", keys.get("nodes", "")) if node]
        if "disable" not in keys and (not hosts or host in hosts):
            storages.append(_storage(kind, name, keys))
    return tuple(storages[:_STORAGES_MOST])


def _storage(kind: str, name: str, keys: Mapping[str, str]) -> PveStorage:
    path = keys.get("path", f"/mnt/pve/{name}" if kind in _MOUNTED else "").rstrip("/")
    mount_point = keys.get("is_mountpoint", "1" if kind in _MOUNTED else "")
    return PveStorage(
        name=name,
        type=kind,
        path=path if path.startswith("/") and path.isprintable() else "",
        mount_point="" if mount_point in _FALSE else mount_point if mount_point.startswith("/") else path,
        pool=keys.get("pool", "rbd" if kind == "rbd" else ""),
        data_pool=keys.get("data-pool", ""),
        namespace=keys.get("namespace", ""),
    )


def _cluster_nodes(names: Sequence[str], nodes: Sequence[ClusterNode]) -> tuple[ClusterNode, ...]:
    """The nodes of the cluster; without a cluster, the host has a folder of its own among ``names``."""
    return tuple(nodes) or tuple(ClusterNode(name) for name in names if is_node_name(name))


def _unescaped(path: str) -> str:
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), path)
