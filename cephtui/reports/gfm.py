"""GitHub Flavored Markdown, as GitHub, GitLab and others take it: text of any origin is itself, never markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from cephtui.printable import printable
from cephtui.reports.text import shorter

_BEGINS = re.compile(r"^(\s*\d*)([#+=.)-])")
_SYNTAX = re.compile(r"[\\`*\[\]<>|~&]|(?<!\w)_|_(?!\w)")


def document(*parts: Sequence[str]) -> str:
    """Parts with an empty line between them; those without lines are left out."""
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def table(columns: Sequence[str], sides: str, rows: Iterable[Sequence[str]]) -> list[str]:
    """A table; ``sides`` has ``l`` or ``r`` for each column."""
    heads, *body = ([escaped(cell) for cell in row] for row in (columns, *rows))
    return grid(heads, sides, body)


def grid(columns: Sequence[str], sides: str, rows: Iterable[Sequence[str]]) -> list[str]:
    """The same of cells that are Markdown already."""
    rule = ["---:" if side == "r" else "---" for side in sides]
    return [f"| {' | '.join(cells)} |" for cells in (columns, rule, *rows)]


def code_block(text: str) -> list[str]:
    """As code, whatever it contains, on one line."""
    return fenced(printable(shorter(text)))


def fenced(text: str) -> list[str]:
    """Lines of code; what they contain ends nothing."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return [fence, text, fence]


def escaped(text: str) -> str:
    """A text of any origin as itself: no markup, no cell's end, no link."""
    return _SYNTAX.sub(r"\\\g<0>", printable(shorter(text)))


def paragraph(text: str) -> str:
    """The same where it begins a line: no heading, no item of a list, no rule."""
    return _BEGINS.sub(r"\1\\\2", escaped(text))
