"""Bytes, IOPS and seconds to and from text: the only formatter."""

from __future__ import annotations

import re

_SIZE = re.compile(r"(\d+)([kmgtp]?)b?", re.IGNORECASE | re.ASCII)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(s|m|h|d)?", re.IGNORECASE | re.ASCII)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
DASH = "-"
"""Stands for a figure that was not measured."""
_FAR = 0.2
"""From this fraction on both ends of an interval are said."""


def parse_size(text: str) -> int:
    """Bytes of a size in fio's spelling, where ``k`` is 1024; raises ValueError.

    ``KiB`` is refused: fio reads it as 1000 bytes, the opposite of what it means elsewhere.
    """
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise ValueError(f"expected a size such as 4k, 1M or 10G, got {text!r}")
    power = _POWERS[match[2].lower()]
    return int(match[1]) << 10 * power


def parse_duration(text: str) -> float:
    """Seconds of ``60``, ``60s``, ``1.5m``, ``2h``; raises ValueError."""
    match = _DURATION.fullmatch(text.strip())
    if not match:
        raise ValueError(f"expected a duration such as 60, 60s or 5m, got {text!r}")
    return float(match[1]) * _SECONDS[(match[2] or "s").lower()]


def _scaled(value: float, base: float, names: tuple[str, ...]) -> tuple[float, str]:
    for name in names[:-1]:
        if abs(value) < base * 0.9995:
            return value, name
        value /= base
    return value, names[-1]


def _digits(value: float) -> str:
    """Three significant digits, never in exponent form."""
    if abs(value) >= 99.95 or value == 0:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 9.995 else f"{value:.2f}"


def size(value: float) -> str:
    """``1.00 GiB``; bytes in binary steps."""
    scaled, name = _scaled(value, 1024, ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"))
    return f"{scaled:.0f} B" if name == "B" else f"{_digits(scaled)} {name}"


def size_of(done_bytes: float, total_bytes: float) -> str:
    """``89.0 MiB of 5.77 GiB``; just the first where the total is not known (0)."""
    return f"{size(done_bytes)} of {size(total_bytes)}" if total_bytes else size(done_bytes)


def short_size(value: int) -> str:
    """A size in fio's spelling, exact: ``128M``, ``4k``, ``1000``."""
    for name in ("t", "g", "m", "k"):
        unit = 1 << 10 * _POWERS[name]
        if value and value % unit == 0:
            return f"{value // unit}{name if name == 'k' else name.upper()}"
    return str(value)


def bandwidth(bytes_per_second: float | None) -> str:
    """``65.4 MiB/s``."""
    return DASH if bytes_per_second is None else f"{size(bytes_per_second)}/s"


def bit_rate(bits_per_second: float) -> str:
    """``10.0 Gbit/s``; network links count in powers of ten."""
    scaled, name = _scaled(bits_per_second, 1000, ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"))
    return f"{_digits(scaled)} {name}"


def link_rate(bytes_per_second: float | None) -> str:
    """``9.42 Gbit/s`` of bytes a second."""
    return DASH if bytes_per_second is None else bit_rate(8 * bytes_per_second)


def count(value: float | None) -> str:
    """``1,234``."""
    return DASH if value is None else f"{value:,.0f}"


def iops(value: float | None) -> str:
    """``16.7k``, as fio writes it."""
    if value is None:
        return DASH
    scaled, name = _scaled(value, 1000, ("", "k", "M", "G", "T"))
    return f"{_digits(scaled)}{name}" if name else f"{value:.3g}"


def latency(seconds: float | None) -> str:
    """``30.6 ms``, from ns to s."""
    if seconds is None:
        return DASH
    scaled, name = _scaled(seconds * 1e9, 1000, ("ns", "us", "ms", "s"))
    return f"{_digits(scaled)} {name}"


def duration(seconds: float) -> str:
    """``37 s``, ``2:05 min``, ``1:02:05 h``."""
    whole = round(seconds)
    if whole < 100:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes}:{rest:02} min"
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02} h"


def clock(seconds: float) -> str:
    """``0:12``, ``1:02:05``: a moment of a run, as it is on the time line."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def percent(value: float | None) -> str:
    """``99.4 %``."""
    return DASH if value is None else f"{value:.1f} %"


def margin(fraction: float, *, ascii_only: bool = False) -> str:
    """``±2.9 %``: how far the interval of a geometric mean reaches above it, as a fraction.

    Below the mean it reaches less far: ``-57..+130 %`` where that makes a difference, ``-98..>+999 %`` at most.
    """
    value, sign = 100 * fraction, "+-" if ascii_only else "±"
    if fraction < _FAR:
        return f"{sign}{value:.{int(value < 9.95)}f} %"
    return f"-{value / (1 + fraction):.0f}..{'>+999' if value > 999 else f'+{value:.0f}'} %"
