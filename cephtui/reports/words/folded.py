"""Texts that differ in one place alone, as one: ``fio --rw=randwrite --iodepth={1,2,4}``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

_PIECES_MOST = 200
"""Longer texts are left as they are."""
_OPTIONS_MOST = 3
"""That have several values in one text."""
Pieces: TypeAlias = tuple[str, ...]
"""The words of a command, or what stands between the commas of a sentence."""
Folded: TypeAlias = tuple[Pieces, list[int]]
"""Pieces, and the places of the texts that they stand for."""


def folded(texts: Sequence[Pieces]) -> list[Folded]:
    """The texts, those as one that differ only in the value of one option; or of several, in all combinations.

    The option that joins the most comes first.
    """
    every: list[Folded] = [(text, [number]) for number, text in enumerate(texts)]
    places = range(1, min(_PIECES_MOST, max(map(len, texts), default=0)))
    for _ in range(_OPTIONS_MOST):
        every = min((every, *(_folded_at(at, every) for at in places)), key=len)
    return every


def _folded_at(at: int, every: Sequence[Folded]) -> list[Folded]:
    """Those as one that differ at this place alone."""
    alike: dict[tuple[Pieces, str, Pieces], list[Folded]] = {}
    for text, numbers in every:
        name = _option(text[at]) if at < len(text) <= _PIECES_MOST else ""
        alike.setdefault((text[:at], name, text[at + 1 :]), []).append((text, numbers))
    return [_as_one(same, name, at) for (_, name, _), same in alike.items()]


def _option(piece: str) -> str:
    """``--iodepth=`` of ``--iodepth=4``, ``depth `` of ``depth 4``; empty for a value alone."""
    return piece[: max(piece.rfind("="), piece.rfind(" ")) + 1]


def _as_one(same: Sequence[Folded], name: str, at: int) -> Folded:
    text, numbers = same[0]
    if len(same) == 1:
        return text, numbers
    values = [other[at].removeprefix(name) for other, _ in same]
    in_order = sorted(values, key=int) if all(map(str.isdecimal, values)) else values
    return (*text[:at], f"{name}{{{','.join(in_order)}}}", *text[at + 1 :]), [at for _, places in same for at in places]
