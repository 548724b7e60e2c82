"""Proxmox VE: which guests name an image, which storages are Ceph's, and where its keys are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cephtui.ceph.qos import Limits
from cephtui.frozen import dataclass
from cephtui.paths import packaged_text

_PVE = "/etc/pve"
READ_SECONDS = 10.0
"""Seconds to wait for Proxmox VE's file system: it does not answer while its daemon hangs."""
_REFERENCES = packaged_text("cephtui.ceph", "proxmox_references.sh")
_ACCESS = packaged_text("cephtui.ceph", "lines.sh") + packaged_text("cephtui.ceph", "proxmox_access.sh")


@dataclass(frozen=True, slots=True)
class References:
    """Configuration files of guests that name an image."""

    files: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Storage:
    """An RBD storage of Proxmox VE."""

    name: str
    pool: str = "rbd"
    data_pool: str | None = None
    namespace: str | None = None
    monhost: tuple[str, ...] = ()
    """The monitors of a cluster that is not the node's own; empty where it is."""
    username: str = "admin"
    krbd: bool = False

    @property
    def conf(self) -> str:
        """The path of its own ceph.conf, if there is one."""
        return f"{_PVE}/priv/ceph/{self.name}.conf" if self.monhost else f"{_PVE}/ceph.conf"

    @property
    def keyring(self) -> str:
        """The path of its key."""
        own_keyring = f"{_PVE}/priv/ceph.client.{self.username}.keyring"
        return f"{_PVE}/priv/ceph/{self.name}.keyring" if self.monhost else own_keyring


@dataclass(frozen=True, slots=True)
class CephAccess:
    """The parts of Ceph access that a node has."""

    programs: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """Configurations and keyrings that can be read."""
    unreadable: tuple[str, ...] = ()
    storages: tuple[Storage, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundAccess:
    """Access to a cluster: a node's ``ceph_conf``, ``ceph_keyring`` and ``ceph_id``."""

    source: str
    """Where the access was found: ``/etc/ceph``, or the name of a storage."""
    conf: str | None
    keyring: str | None
    id: str = "admin"
    monhost: tuple[str, ...] = ()
    """The monitors, where there is no ``conf``."""


def references_argv(image: str, pve: str = _PVE) -> tuple[str, ...]:
    """The command that reports the lines with an image's name in all guests' files, on all nodes of the cluster."""
    return ("bash", "-c", _REFERENCES, "cephtui-guests", pve, image)


def access_argv(root: str = "") -> tuple[str, ...]:
    """The command that reports CephAccess; ``root`` stands before all paths."""
    return ("bash", "-c", _ACCESS, "cephtui-access", root)


def parse_references(text: str, image: str) -> References:
    """The answer to ``references_argv``: lines where the name is that of a volume, as in ``ceph:vm-1-disk-0``."""
    pairs = _pairs(text)
    files = (file for file, _ in _lines(pairs, image))
    return References(tuple(dict.fromkeys(files)), tuple(path for key, path in pairs if key == "unreadable"))


def parse_guest_limits(text: str, image: str) -> Limits:
    """What QEMU lets the guest of an image do at most, in the answer to ``references_argv``.

    The options of a disk in Proxmox VE's ``qm.conf(5)``: ``iops_rd=8000``, ``mbps=200`` (of 1024 * 1024 bytes).
    """
    disk = next((line for _, line in _lines(_pairs(text), image) if _DISK.match(line)), "")
    options = dict(part.strip().partition("=")[::2] for part in disk.split(",")[1:])
    rates = {f"{way}iops": _number(options, f"iops{suffix}") for way, suffix in _WAYS}
    for way, suffix in _WAYS:
        mebibytes = _number(options, f"mbps{suffix}")
        rates[f"{way}bandwidth_bytes"] = mebibytes * 2**20 if mebibytes else _number(options, f"bps{suffix}")
    bursts = (_number(options, f"{what}{suffix}_max_length") or 1.0
              for what, most in (("iops", "iops"), ("bps", "mbps"), ("bps", "bps")) for _, suffix in _WAYS
              if _number(options, f"{most}{suffix}_max"))  # fmt: skip
    return Limits(**rates, burst_seconds=max(bursts, default=0.0))


_DISK = re.compile(r"(ide|sata|scsi|virtio)\d+:")
"""A line of a guest's file that is about a disk in use: QEMU's, since containers have no limits."""
_WAYS = (("", ""), ("read_", "_rd"), ("write_", "_wr"))
"""Prefixes of a limit's name here, and suffixes of it in Proxmox VE."""


def _number(options: Mapping[str, str], name: str) -> float | None:
    """The value of a limit; None where there is none, which 0 means too."""
    return float(text) or None if re.fullmatch(r"\d{1,15}(\.\d{1,6})?", text := options.get(name, "")) else None


def _lines(pairs: Iterable[tuple[str, str]], image: str) -> Iterator[tuple[str, str]]:
    """The lines in which an image's name is a volume's, each with its file."""
    volume = re.compile(rf"[:/]{re.escape(image)}(?=[,\s@\"']|$)")
    for key, value in pairs:
        file, _, line = value.partition("\t")
        if key == "line" and volume.search(line):
            yield file, line


def parse_access(text: str) -> CephAccess:
    """The answer to ``access_argv``."""
    pairs = _pairs(text)

    def all_of(word: str) -> tuple[str, ...]:
        return tuple(value for key, value in pairs if key == word)

    storages = parse_storage_cfg("\n".join(all_of("storage")))
    return CephAccess(all_of("program"), all_of("file"), all_of("unreadable"), storages)


def _pairs(text: str) -> list[tuple[str, str]]:
    """The pairs of an answer, which ends with ``done``; raises ValueError."""
    pairs = [(key, value) for key, tab, value in (line.partition("\t") for line in text.splitlines()) if tab]
    if not pairs or pairs[-1][0] != "done":
        raise ValueError(f"unexpected answer: {text.strip()[:200]!r}")
    return pairs[:-1]


def parse_storage_cfg(text: str) -> tuple[Storage, ...]:
    """The RBD storages in a ``/etc/pve/storage.cfg``; whatever else is in it is passed over."""
    return tuple(_storage(name, keys) for kind, name, keys in sections(text) if kind == "rbd" and "disable" not in keys)


def sections(text: str) -> list[tuple[str, str, dict[str, str]]]:
    """The type, the name and the keys of each storage in a ``/etc/pve/storage.cfg``."""
    storages: list[tuple[str, str, dict[str, str]]] = []
    for line in text.splitlines():
        head = re.match(r"(\w+):\s*(\S+)\s*$", line)
        if head:
            storages.append((head[1], head[2], {}))
        elif storages and line[:1].isspace() and line.strip():
            key, _, value = line.strip().partition(" ")
            storages[-1][2][key] = value.strip()
    return storages


def _storage(name: str, keys: dict[str, str]) -> Storage:
    return Storage(
        name=name,
        pool=keys.get("pool", "rbd"),
        data_pool=keys.get("data-pool"),
        namespace=keys.get("namespace"),
        monhost=tuple(host for host in re.split(r"[,;\s]+", keys.get("monhost", "")) if host),
        username=keys.get("username", "admin"),
        krbd=keys.get("krbd", "0") in ("1", "yes", "true", "on"),
    )


def found_access(access: CephAccess) -> tuple[FoundAccess, ...]:
    """The ways to Ceph that a node has by its files, the most usual first; empty where a key can't be read."""
    ways = [way for way in (_usual(access, "/etc/ceph"), _usual(access, _PVE)) if way]
    outside = (storage for storage in access.storages if storage.monhost and storage.keyring in access.files)
    for storage in outside:
        conf = storage.conf if storage.conf in access.files else None
        ways.append(FoundAccess(storage.name, conf, storage.keyring, storage.username, storage.monhost))
    return tuple(ways)


def _usual(access: CephAccess, folder: str) -> FoundAccess | None:
    """The cluster's own ceph.conf with the administrator's key."""
    conf = f"{folder}/ceph.conf"
    keys = ("/etc/ceph/ceph.client.admin.keyring", "/etc/ceph/keyring", f"{_PVE}/priv/ceph.client.admin.keyring")
    keyring = next((key for key in keys if key in access.files), None)
    return FoundAccess(folder, conf, keyring) if conf in access.files and keyring else None


def storage_of(storages: Sequence[Storage], pool: str) -> tuple[str, ...]:
    """The names of the storages that are in a pool."""
    return tuple(storage.name for storage in storages if pool in (storage.pool, storage.data_pool))
