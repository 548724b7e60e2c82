"""What developers read is so: layers, words, paths, targets of make, marks, links."""

from __future__ import annotations

import re
import tomllib
from functools import cache

import pytest

from cephtui import __version__
from cephtui.cli.verbs import every_verb
from tests import ROOT
from tests.unit.project.test_imports import CORE, LAYERS, MODULES

WORDS = {"ARCHITECTURE.md": 1700, "CONTRIBUTING.md": 1200, "CHANGELOG.md": 1200, "SECURITY.md": 1800}
"""Each document, and the most words that it may have."""
_STAND_INS = ("NAME", "VERSION")
"""In a path, what a reader puts something else in place of."""
_FOLDERS = ("cephtui/", "docs/", "examples/", "presets/", "tests/", ".ci/")


@cache
def text_of(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def code_in(text: str) -> list[str]:
    """What stands between backticks in the text, blocks left out."""
    return re.findall(r"`([^`\n]+(?:\n[^`\n]+)?)`", re.sub(r"(?ms)^```.*?^```", "", text))


def paths_in(name: str) -> set[str]:
    """The files and folders that a document names, blocks included."""
    words = re.findall(r"[\w./*-]+", text_of(name))
    return {word.rstrip(".") for word in words if word.startswith(_FOLDERS) and not any(x in word for x in _STAND_INS)}


def section(name: str, title: str) -> str:
    """What a document has below a heading, up to the next."""
    return text_of(name).partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rows_of(text: str) -> list[list[str]]:
    """The cells of each line of a table, its head left out."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"][2:]


def is_defined(dotted: str) -> bool:
    """Whether ``models.plan.Step`` is a module of the package, or stands in one at the beginning of a line."""
    module, _, name = dotted.rpartition(".")
    return dotted in MODULES or (
        module in MODULES and re.search(rf"(?m)^(class |def )?{name}\b", MODULES[module].read_text("utf-8")) is not None
    )


@pytest.mark.parametrize("name", WORDS)
def test_what_is_named_exists(name: str) -> None:
    assert not {path for path in paths_in(name) if not [*ROOT.glob(path)]}


@pytest.mark.parametrize("name", WORDS)
def test_links_lead_somewhere(name: str) -> None:
    links = re.findall(r"\]\(([^)#\s]+)\)", text_of(name))
    assert not [link for link in links if "://" not in link and not (ROOT / link).exists()]


@pytest.mark.parametrize("name", WORDS)
def test_it_is_read_at_once(name: str) -> None:
    lines = text_of(name).splitlines()
    assert sum(any(map(str.isalnum, word)) for word in text_of(name).split()) <= WORDS[name]
    assert lines[0].startswith("# ")
    assert not [line for line in lines if len(line) > 120 and line[:1] != "|"]


@pytest.mark.parametrize("name", WORDS)
def test_targets_of_make_exist(name: str) -> None:
    known = set(re.findall(r"(?m)^([a-z][a-z0-9-]*):", text_of("Makefile")))
    assert {
        match for text in code_in(text_of(name)) for match in re.findall(r"\bmake ([a-z][a-z0-9-]*)", text)
    } <= known


def test_the_layers_are_those_of_the_imports() -> None:
    named = [tuple(re.findall(r"`(\w+)`", first)) for first, _ in rows_of(section("ARCHITECTURE.md", "The layers"))]
    assert named == [*LAYERS]
    assert f"below `{CORE[-1][0]}` only" in section("ARCHITECTURE.md", "The layers")


def test_each_word_lives_where_it_is_said_to() -> None:
    rows = rows_of(section("ARCHITECTURE.md", "Words"))
    assert len(rows) >= 20
    assert not [place for _, _, place in rows if not is_defined(place.strip("`"))]


def test_modules_that_are_named_exist() -> None:
    """``models.plan`` or ``running.runner.Runner``, whichever package of this one it begins with."""
    drawn = re.findall(r"[\w.]+", section("ARCHITECTURE.md", "The flow"))
    words = {text.removeprefix("cephtui.") for name in WORDS for text in code_in(text_of(name))} | {*drawn}
    packages = {module.partition(".")[0] for module in MODULES}
    dotted = {word for word in words if re.fullmatch(r"(\w+)(\.\w+)+", word) and word.partition(".")[0] in packages}
    assert len(dotted) > 20
    assert not {word for word in dotted if not is_defined(word)}


@pytest.mark.parametrize("name", WORDS)
def test_verbs_of_the_command_line_exist(name: str) -> None:
    words = re.findall(r"`cephtui ([a-z][a-z-]+)", text_of(name))
    assert {*words} <= {*every_verb()}


def test_marks_are_those_of_pytest() -> None:
    options = tomllib.loads(text_of("pyproject.toml"))["tool"]["pytest"]["ini_options"]
    marks = {mark.partition(":")[0] for mark in options["markers"]}
    assert {first.strip("`") for first, _ in rows_of(section("CONTRIBUTING.md", "Marks"))} == marks


def test_the_newest_release_is_this_version() -> None:
    headings = re.findall(r"(?m)^## \[?([^\]\s]+)\]?", text_of("CHANGELOG.md"))
    assert headings[:2] == ["Unreleased", __version__]
