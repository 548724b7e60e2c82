"""What users read is plain English in the words of the field: no turn that one stops at."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import ROOT

BANNED = (
    r"\bgo(es)? on\b",
    r"going on\b",
    r"went on\b",
    r"waiting on\b",
    r"somebody",
    r"nobody",
    r"the way to\b",
    r"\btold\b",
    r"\btells\b",
    r"\bsays of\b",
    r"of (its|their) own accord",
    r"of itself",
    r"\bwhat waits\b",
    r"present (target|session)",
    r"\basks first\b",
    r"stands? still",
    r"all the same\b",
    r"for a room",
    r"the brighter, the more",
    r"runs once for each",
    r"how often each is run",
    r"left out of the figures",
    r"\bspoils?\b",
    r"carries a signature",
    r"told from \w+ to",
    r"so many times\b",
    r"without a hand",
    r"\bverdict yet\b",
    r"\bno figures\b",
    r"\bis nobody's\b",
    r"must not be lost",
)
"""Regular expressions, over text in small letters."""


def texts(source: str) -> Iterator[tuple[int, str]]:
    """What a program may show: its strings, docstrings left out but for those of its commands."""
    tree = ast.parse(source)
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in bare
            and " " in node.value
        ):
            yield node.lineno, node.value
        if isinstance(node, ast.FunctionDef) and any("command" in ast.unparse(each) for each in node.decorator_list):
            yield node.lineno, ast.get_docstring(node) or ""


def banned_in(text: str) -> list[str]:
    return [turn for turn in BANNED if re.search(turn, " ".join(text.lower().split()))]


def test_screens_errors_and_help_have_no_turn_that_one_stops_at() -> None:
    sources = sorted((ROOT / "cephtui").rglob("*.py"))
    assert len(sources) > 100
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text[:80]!r}: {turns}"
        for path in sources
        for line, text in texts(path.read_text("utf-8"))
        if (turns := banned_in(text))
    ]
    assert found == []


def test_a_sentence_of_an_analysis_or_a_report_stands_in_one_module() -> None:
    """A phrase of four words or more: who needs it too takes it from there."""
    places: dict[str, set[str]] = {}
    for part in ("analysis", "reports", "tui", "cli"):
        for path in sorted((ROOT / "cephtui" / part).rglob("*.py")):
            for _, text in texts(path.read_text("utf-8")):
                if len(re.findall(r"(?<!%)\b[A-Za-z]+", text)) >= 4:
                    places.setdefault(text.strip(" :;,."), set()).add(f"{part}/{path.name}")
    pure = ("analysis", "reports")
    found = [text for text, where in places.items() if len(where) > 1 and any(each.startswith(pure) for each in where)]
    assert found == []


@pytest.mark.parametrize(
    "path", [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "presets").glob("*.toml"))], ids=lambda p: p.name
)
def test_the_documents_neither(path: Path) -> None:
    assert banned_in(path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x = 'the run goes on'", ["\\bgo(es)? on\\b"]),
        ("x = f'{name}: Somebody writes'", ["somebody"]),
        ("'''A docstring: nobody reads it.'''", []),
        ("@cli.command()\ndef show():\n    '''Look at what waits.'''", ["\\bwhat waits\\b"]),
        ("x = 'goes'", []),
        ("x = 'the cargo on board'", []),
    ],
)
def test_this_test_sees_what_users_see(source: str, found: list[str]) -> None:
    assert [turn for _, text in texts(source) for turn in banned_in(text)] == found
