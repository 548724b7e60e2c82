"""Numbers with units as fio prints them for people."""

from __future__ import annotations

from collections.abc import Mapping

A_SECOND = {"nsec": 1e9, "usec": 1e6, "msec": 1e3}
"""Units of latency in a second."""
_POWERS: Mapping[str, int] = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5, "e": 6}
_POWERS_2: Mapping[str, int] = {**_POWERS, "p": 4, "e": 5}
"""Of fio 2, which has no T."""


def in_bytes(number: str, unit: str, *, old: bool) -> float | None:
    """The bytes of ``65.4`` and ``MiB`` or ``Mibit``; without the i a power of ten, in fio 2 one of 1024."""
    prefix, value = unit.removesuffix("bit").removesuffix("B"), printed_figure(number)
    if value is None:
        return None
    base = 1024 if old or prefix.endswith("i") else 1000
    powers = _POWERS_2 if old else _POWERS
    return value * float(base) ** powers[prefix[:1].lower()] / (8.0 if unit.endswith("bit") else 1.0)


def scaled(number: str, scale: str) -> float | None:
    """The number of ``16.7`` and ``k``."""
    value = printed_figure(number)
    return None if value is None else value * 1000.0 ** _POWERS[scale.lower()]


def printed_figure(text: str) -> float | None:
    """A number as fio can mean it: nothing that a sum or a quotient could overflow with."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < 1 << 63 else None


def block_bytes(number: str, unit: str) -> int:
    """The block size of ``64.0`` and ``K``; 0 for what is no number."""
    value = printed_figure(number)
    return round(value * 1024 ** _POWERS[unit.lower()]) if value is not None else 0
