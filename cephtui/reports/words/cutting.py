"""Long lists and long texts, cut for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from cephtui import paths

_LISTED_MOST = 100
"""Lines of one kind, such as nodes or findings, that are shown; a line says how many more there are."""
_TARGET_MOST = 28
_CELL_MOST = 2000
"""Characters of a text in a table."""
T = TypeVar("T")


def cut(items: Iterable[T], what: str) -> tuple[list[T], str]:
    """The first items, and a text with the number of the rest; empty where these are all."""
    every = list(items)
    rest = len(every) - _LISTED_MOST
    return (every[:_LISTED_MOST], f"... and {rest:,} more {what}") if rest > 0 else (every, "")


def joined(texts: Iterable[str], what: str) -> str:
    """Texts on one line, with commas between them."""
    shown, more = cut(texts, what)
    return ", ".join(shown) + (f" {more}" if more else "")


def shorter(text: str) -> str:
    """At most 2,000 characters of a text."""
    return text if len(text) <= _CELL_MOST else f"{text[:_CELL_MOST]} ..."


def short_target(target: str) -> str:
    """A target for a column: of a long one its end, which names the file or the image; ``a scratch file``."""
    if str(paths.cache_dir()) in target:
        from cephtui.targets.scratch import SCRATCH, is_scratch

        if is_scratch(target):
            return SCRATCH
    return target if len(target) <= _TARGET_MOST else f"…{target[1 - _TARGET_MOST :]}"
