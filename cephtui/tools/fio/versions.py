"""A job of one of fio's JSON documents as the newest version has it, whichever version wrote it.

Until 3.17 latencies have no number ``N``; until 3.1 there is no ``bw_bytes``; until 2.21 latencies are ``clat`` in
microseconds; until 2.20 ``io_bytes`` are KiB; until 2.19 bins are named by their place on fio's grid; until 2.1.13
IOPS are whole, without ``total_ios``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cephtui import stats
from cephtui.models.metrics import DIRECTIONS

FLOWS = (*DIRECTIONS, "trim", "mixed")
"""Flows that fio reports; all of it is ``mixed`` with unified_rw_reporting."""
_LATENCIES = ("slat", "clat", "lat")
_BY_PLACE = "FIO_IO_U_PLAT_BITS"
"""In bins that are named by their place on the grid."""


def checked_figure(value: Any) -> Any:
    """A number as fio can mean it: no text, no NaN, nothing that a sum or a quotient could overflow with."""
    if not 0 <= value < 1 << 63:
        raise ValueError(value)
    return value


def as_of_now(job: Mapping[str, Any]) -> dict[str, Any]:
    """A job with each flow of its own in the newest form; one of ``BROKEN`` for what is no job."""
    return {**job, **{name: _flow(job[name]) for name in FLOWS if name in job}}


def _flow(part: Mapping[str, Any]) -> dict[str, Any]:
    converted = dict(part)
    if not {"io_kbytes", "bw_bytes"} & converted.keys():
        converted["io_bytes"] = checked_figure(converted["io_bytes"]) * 1024
        converted.setdefault("total_ios", _ios(converted))
    if "bw_bytes" not in converted:
        converted["bw_bytes"] = _bandwidth(converted)
    for name in _LATENCIES:
        old, key = converted.get(name), f"{name}_ns"
        if isinstance(old, dict) and key not in converted:
            converted[key] = _in_nanoseconds(old)
        if isinstance(converted.get(key), dict) and "N" not in converted[key]:
            converted[key] = {**converted[key], "N": _number(converted[key], converted["total_ios"])}
    return converted


def _ios(part: Mapping[str, Any]) -> int:
    """The number of I/Os: at least one of a direction that has moved anything."""
    ios = round(checked_figure(part["iops"]) * checked_figure(part["runtime"]) / 1e3)
    return ios or int(bool(part["io_bytes"]))


def _bandwidth(part: Mapping[str, Any]) -> float:
    """All bytes over the time where that is what is printed as whole KiB per second, which is 6 % less of 16."""
    printed = float(checked_figure(part["bw"])) * 1024
    exact = checked_figure(part["io_bytes"]) * 1e3 / (checked_figure(part["runtime"]) or 1e3)
    return exact if printed <= exact < printed + 1024 else printed


def _number(latency: Mapping[str, Any], ios: Any) -> Any:
    """How many were timed: all that the bins hold; without bins all I/Os, or none where there is no latency."""
    counts: Mapping[str, Any] = latency.get("bins") or {}
    return sum(map(checked_figure, counts.values())) or (ios if latency.get("max") else 0)


def _in_nanoseconds(old: Mapping[str, Any]) -> dict[str, Any]:
    counts, percentile = old.get("bins", {}), old.get("percentile", {})
    if _BY_PLACE in counts:
        counts = {stats.bucket_nanoseconds(int(place)): n for place, n in counts.items() if place.isdecimal()}
    return {
        **{name: checked_figure(old[name]) * 1000 for name in ("min", "max", "mean", "stddev")},
        "bins": {str(int(microseconds) * 1000): number for microseconds, number in counts.items()},
        "percentile": {percent: checked_figure(microseconds) * 1000 for percent, microseconds in percentile.items()},
    }
