"""Bytes, IOPS and seconds to and from text: the only formatter."""

from __future__ import annotations

import re

_SIZE = re.compile(r"(\d+)([kmgtp]?)b?", re.IGNORECASE | re.ASCII)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(s|m|h|d)?", re.IGNORECASE | re.ASCII)
_WORDY_SIZE = re.compile(r"(\d+) ?([kmgtp])i?b?", re.IGNORECASE | re.ASCII)
_WORDY_DURATION = re.compile(
    r"(\d+(?:\.\d+)?) ?(?:(s)(?:ecs?|econds?)?|(m)(?:ins?|inutes?)?|(h)(?:rs?|ours?)?|(d)(?:ays?)?)",
    re.IGNORECASE | re.ASCII,
)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
DASH = "-"
"""The text for a figure that was not measured."""
_FAR = 0.2
"""The fraction from which on both ends of an interval are printed."""


def parse_size(text: str) -> int:
    """The bytes of a size in fio's spelling, where ``k`` is 1024; raises ValueError.

    ``KiB`` is refused: fio reads it as 1000 bytes, the opposite of what it means elsewhere.
    """
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise ValueError(f"expected {_shortest(_WORDY_SIZE, text) or 'a size such as 4k, 1M or 10G'}, got {text!r}")
    power = _POWERS[match[2].lower()]
    return int(match[1]) << 10 * power


def parse_duration(text: str) -> float:
    """The seconds in ``60``, ``60s``, ``1.5m`` or ``2h``; raises ValueError."""
    match = _DURATION.fullmatch(text.strip())
    if not match:
        expected = _shortest(_WORDY_DURATION, text) or "a duration such as 60, 60s or 5m"
        raise ValueError(f"expected {expected}, got {text!r}")
    return float(match[1]) * _SECONDS[(match[2] or "s").lower()]


def _shortest(words: re.Pattern[str], text: str) -> str:
    """How a figure with a longer unit is typed, ``5s`` for ``5 sec``; empty for any other text."""
    match = words.fullmatch(text.strip())
    return "".join(filter(None, match.groups())) if match else ""


def parse_percent(text: str) -> float:
    """The percentage in ``10``, ``10%`` or ``-10 %``; raises ValueError."""
    try:
        return float(text.strip().removesuffix("%"))
    except ValueError:
        raise ValueError(f"expected a percentage such as 10, got {text!r}") from None


def _scaled(value: float, base: float, names: tuple[str, ...]) -> tuple[float, str]:
    for name in names[:-1]:
        if abs(value) < base * 0.9995:
            return value, name
        value /= base
    return value, names[-1]


def _digits(value: float) -> str:
    """A number with three significant digits, never in exponent form."""
    if abs(value) >= 99.95 or value == 0:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 9.995 else f"{value:.2f}"


def size(value: float) -> str:
    """A size in binary units: ``1.00 GiB``."""
    scaled, name = _scaled(value, 1024, ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"))
    return f"{scaled:.0f} B" if name == "B" else f"{_digits(scaled)} {name}"


def size_of(done_bytes: float, total_bytes: float) -> str:
    """A part of a size, ``89.0 MiB of 5.77 GiB``; the part alone where the total is not known (0)."""
    return f"{size(done_bytes)} of {size(total_bytes)}" if total_bytes else size(done_bytes)


def short_size(value: int) -> str:
    """A size in fio's spelling, exact: ``128M``, ``4k``, ``1000``."""
    for name in ("t", "g", "m", "k"):
        unit = 1 << 10 * _POWERS[name]
        if value and value % unit == 0:
            return f"{value // unit}{name if name == 'k' else name.upper()}"
    return str(value)


def bandwidth(bytes_per_second: float | None) -> str:
    """A bandwidth: ``65.4 MiB/s``."""
    return DASH if bytes_per_second is None else f"{size(bytes_per_second)}/s"


def bit_rate(bits_per_second: float) -> str:
    """A bit rate in powers of ten, as of network links: ``10.0 Gbit/s``."""
    scaled, name = _scaled(bits_per_second, 1000, ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"))
    return f"{_digits(scaled)} {name}"


def link_rate(bytes_per_second: float | None) -> str:
    """The bit rate of bytes per second: ``9.42 Gbit/s``."""
    return DASH if bytes_per_second is None else bit_rate(8 * bytes_per_second)


def count(value: float | None) -> str:
    """A number with separators: ``1,234``."""
    return DASH if value is None else f"{value:,.0f}"


def iops(value: float | None) -> str:
    """IOPS as fio writes them: ``16.7k``."""
    if value is None:
        return DASH
    scaled, name = _scaled(value, 1000, ("", "k", "M", "G", "T"))
    return f"{_digits(scaled)}{name}" if name else f"{value:.3g}"


def latency(seconds: float | None) -> str:
    """A latency in ns, us, ms or s: ``30.6 ms``."""
    if seconds is None:
        return DASH
    scaled, name = _scaled(seconds * 1e9, 1000, ("ns", "us", "ms", "s"))
    return f"{_digits(scaled)} {name}"


def duration(seconds: float) -> str:
    """A duration: ``37 s``, ``2:05 min``, ``1:02:05 h``."""
    whole = round(seconds)
    if whole < 100:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes}:{rest:02} min"
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02} h"


def clock(seconds: float) -> str:
    """A moment of a run as on the time line: ``0:12``, ``1:02:05``."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def percent(value: float | None) -> str:
    """A percentage: ``99.4 %``."""
    return DASH if value is None else f"{value:.1f} %"


def times(ratio: float) -> str:
    """A ratio in words: ``2.3 times``, ``224 times``."""
    return f"{ratio:.{1 if ratio < 9.95 else 0}f} times"


def margin(fraction: float, *, ascii_only: bool = False) -> str:
    """How far the interval of a geometric mean reaches above it, given as a fraction: ``±2.9 %``.

    Below the mean it reaches less far: ``-57..+130 %`` where that makes a difference, ``-98..>+999 %`` at most.
    """
    value, sign = 100 * fraction, "+-" if ascii_only else "±"
    if fraction < _FAR:
        return f"{sign}{value:.{int(value < 9.95)}f} %"
    return f"-{value / (1 + fraction):.0f}..{'>+999' if value > 999 else f'+{value:.0f}'} %"
