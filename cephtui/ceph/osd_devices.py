"""Which disks of which hosts the OSDs of a cluster are on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import field

from cephtui.ceph import answers
from cephtui.frozen import dataclass

OSD_METADATA_ARGV = ("ceph", "osd", "metadata", "-f", "json")
"""The command that reports OsdDevices of every OSD that was ever up, 3 KB each; the cephx caps ``mon r`` are enough."""
_PARTS = {"bluestore_bdev_devices": "", "bluefs_db_devices": " db", "bluefs_wal_devices": " wal"}


@dataclass(frozen=True, slots=True)
class OsdDevices:
    """An OSD with the disks that it reported at its last start."""

    id: int
    host: str
    disks: Mapping[str, str]
    """What the OSD has on each disk, ``osd.3`` or ``osd.3 db``, by the kernel's name of the disk."""
    serials: Mapping[str, str] = field(default_factory=dict)
    """Model and serial number of each disk that has them, by the kernel's name of the disk."""

    @property
    def data_disk(self) -> str:
        """The host and the disk that the OSD has its data on, to be compared; empty where it is not known.

        A disk with a serial number is known by a digest of it, whatever the kernel calls it: ``pve1 3f2a9c1d``.
        """
        names = self._data_names
        return " ".join([self.host, *map(self._identity, names)]) if names else ""

    @property
    def model(self) -> str:
        """The model of that disk, ``Samsung SSD 870 EVO 1TB``, without its serial number; empty where it is not known,
        or there are several."""
        names = self._data_names
        model, _, serial = self.serials.get(names[0], "").rpartition("_") if len(names) == 1 else ("", "", "")
        return model.replace("_", " ").strip() if serial else ""

    @property
    def _data_names(self) -> list[str]:
        return sorted(disk for disk, use in self.disks.items() if use == f"osd.{self.id}")

    def _identity(self, disk: str) -> str:
        serial = self.serials.get(disk)
        return hashlib.blake2s(serial.encode(), digest_size=4).hexdigest() if serial else disk


def parse_osd_metadata(text: str) -> tuple[OsdDevices, ...]:
    """The answer to ``OSD_METADATA_ARGV``; an OSD without a host has not reported yet."""
    return tuple(_devices(osd) for osd in answers.rows(text) if osd.get("hostname"))


def _devices(answer: Mapping[str, object]) -> OsdDevices:
    osd = answers.whole(answer.get("id"))
    disks: dict[str, str] = {}
    for key, part in _PARTS.items():
        for disk in _names(answer.get(key)):
            disks.setdefault(disk, f"osd.{osd}{part}")
    for disk in _names(answer.get("devices")):  # all of them; the only ones up to Nautilus
        disks.setdefault(disk, f"osd.{osd}")
    serials = dict(part.split("=", 1) for part in _names(answer.get("device_ids")) if "=" in part)
    return OsdDevices(osd, str(answer["hostname"]), disks, serials)


def _names(value: object) -> Iterable[str]:
    return [name for name in str(value or "").split(",") if name]


def osds_by_disk(osds: Iterable[OsdDevices], hostname: str | None) -> dict[str, list[str]]:
    """What OSDs have on each disk of a host, by the disk's name; ``hostname`` is with or without its domain."""
    short = (hostname or "").partition(".")[0].lower()
    by_disk: dict[str, list[str]] = {}
    for osd in sorted(osds, key=lambda osd: osd.id):
        if short and osd.host.partition(".")[0].lower() == short:
            for disk, use in osd.disks.items():
                by_disk.setdefault(disk, []).append(use)
    return by_disk
