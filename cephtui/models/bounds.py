"""How an estimate relates to what it estimates. It needs no pydantic: the console begins with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

Bound: TypeAlias = Literal["about", "at most", "more than"]
"""How an estimated time relates to the true one, as the word before it."""
_BOUNDS: tuple[Bound, ...] = get_args(Bound)
"""The bounds in an order in which the last of several holds for the sum of their times."""


def bound_of_all(bounds: Iterable[Bound]) -> Bound:
    """The bound of the sum of some times."""
    return max(bounds, key=_BOUNDS.index, default="about")
