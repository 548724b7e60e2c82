"""The limits that librbd sets for the clients of an image: ``rbd_qos_iops_limit`` and its like."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from cephtui.ceph import answers
from cephtui.frozen import dataclass

_SI = re.compile(r"([0-9]{1,18})([kKMGTP]?)")
_FACTORS = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}


@dataclass(frozen=True, slots=True)
class Limits:
    """What the clients of an image may do at most, each of them; None is no limit."""

    iops: float | None = None
    """IOPS of reads and writes together."""
    read_iops: float | None = None
    write_iops: float | None = None
    bandwidth_bytes: float | None = None
    """Bytes per second of reads and writes together."""
    read_bandwidth_bytes: float | None = None
    write_bandwidth_bytes: float | None = None
    burst_seconds: float = 0.0
    """Seconds for which more is let through; 0 where there is no burst."""

    @property
    def is_set(self) -> bool:
        """Whether there is any limit."""
        return replace(self, burst_seconds=0.0) != Limits()


_NAMES = {
    "iops": "iops",
    "read_iops": "read_iops",
    "write_iops": "write_iops",
    "bps": "bandwidth_bytes",
    "read_bps": "read_bandwidth_bytes",
    "write_bps": "write_bandwidth_bytes",
}


def limits_argv(pool: str, image: str | None) -> tuple[str, ...]:
    """The command that reports the Limits of an image, or of the images that are created in a pool."""
    scope = ("image", "list", "--pool", pool, "--image", image) if image else ("pool", "list", pool)
    return ("rbd", "config", *scope, "--format", "json")


def parse_limits(text: str) -> Limits:
    """The answer to ``limits_argv``."""
    options = {str(option.get("name")): option.get("value") for option in answers.rows(text)}
    rates = {field: _number(options, f"rbd_qos_{name}_limit") for name, field in _NAMES.items()}
    bursts = [
        _number(options, f"rbd_qos_{name}_burst_seconds") or 1.0
        for name in _NAMES
        if _number(options, f"rbd_qos_{name}_burst")
    ]
    return Limits(**rates, burst_seconds=max(bursts, default=0.0))


def librbd_options(limits: Limits) -> dict[str, float]:
    """The limits that are set, by the names of librbd's options: ``rbd_qos_iops_limit``."""
    values = {f"rbd_qos_{name}_limit": getattr(limits, field) for name, field in _NAMES.items()}
    return {name: value for name, value in values.items() if value is not None}


def _number(options: Mapping[str, object], name: str) -> float | None:
    """The value of a limit as librbd reads it, where ``K`` is 1000; None for 0, which is no limit."""
    match = _SI.fullmatch(str(options.get(name, "")))
    return float(int(match[1]) * _FACTORS[match[2]]) or None if match else None
