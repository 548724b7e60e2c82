"""The findings about where the data of a target is; a console that has not measured yet starts without them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cephtui.models import Finding, OptionValue
from cephtui.models.findings.data import CACHE_DEVICE, FILE_SYSTEM_CACHE, MEMORY, PAGE_CACHE, UNVERIFIED
from cephtui.models.findings.kind import FindingKind, Value

_SMALL_SHARE_PERCENT = 1.0
"""Holes of less change the figures by less than runs differ."""


def never_written(kind: FindingKind, written: int, span: int, **values: Value) -> tuple[Finding, ...]:
    """The finding for data of which so many bytes of a span were ever written; none where that is all.

    ``kind`` is for holes that make up a share of the figures.
    """
    share_percent = 100 * (span - written) / span if span else 0.0
    if share_percent <= 0:
        return ()
    if share_percent < _SMALL_SHARE_PERCENT:
        return (UNVERIFIED.found(why=f"{max(share_percent, 0.1):.1f} % of it was never written"),)
    return (kind.found(share_percent=round(share_percent, 1), **values),)


def memory(parts: Sequence[str]) -> tuple[Finding, ...]:
    """The finding for a target that is in memory, of which these are the parts: ``tmpfs``, ``zram0``."""
    return (MEMORY.found(file_system=", ".join(parts)),) if parts else ()


def cached_below(loop_devices: Sequence[str]) -> tuple[Finding, ...]:
    """The finding for loop devices without direct I/O: they read and write their files through the page cache."""
    names = ", ".join(loop_devices)
    return (FILE_SYSTEM_CACHE.found(file_system=f"{names} (loop device without direct-io)"),) if loop_devices else ()


def in_front(caches: Sequence[str]) -> tuple[Finding, ...]:
    """The finding for caches in front of the disks of a target."""
    return (CACHE_DEVICE.found(caches=", ".join(caches)),) if caches else ()


def page_cache(options: Mapping[str, OptionValue]) -> tuple[Finding, ...]:
    """The finding for I/O without direct I/O: the kernel's memory takes part."""
    if options.get("direct", True):
        return ()
    return (PAGE_CACHE.found(),)
