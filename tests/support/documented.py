"""The pages of the documentation as a reader takes them: their commands, what is quoted below these, their links."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from markdown_it import MarkdownIt

from tests import ROOT

DOCS, EXAMPLES = ROOT / "docs", ROOT / "examples"
README = ROOT / "README.md"
COMMANDS = "docs/reference/commands.md"
"""The page that is made of the help of the commands: there a text stands behind a command, and an answer is any."""
ELSEWHERE = {"toml", "json", "yaml", "text", "xml", "ini"}
"""Languages of blocks that are no shell: a line of them is a command only where it begins with cephtui itself."""
_PROMPT = re.compile(r"^(?:\$|#) ")
_CALL = re.compile(r"(?:^|[|;&(]\s*|\bssh\s[^|;]*\s)(?:[\w./~-]*/)?cephtui(?=\s|$|\))")
"""Where a line of a shell calls cephtui."""
_EXIT = re.compile(r"\bexit (?:code )?(\d(?:(?:, | or )\d)*)\b")
_INSTALLS = re.compile(r"\b(?:pipx?|apt|apt-get|dpkg|install|uv|sha256sum|scp|cp|mv|rm|cd|git|chmod|python3?)\b")
_WORD = re.compile(r"(?<![\w./~-])cephtui(?![\w./:'\"-])")
_BEHIND = re.compile(r"(?<=\S) {2,}(?=[a-z]).*")
"""A text behind a command, as help has it."""
_ANSWERS = (0, 5, 6)
_TAG = re.compile(r"<[^>]+>")
_PARSER = MarkdownIt("commonmark").enable("table")


@dataclass(frozen=True, slots=True)
class Command:
    """A line of a page that calls cephtui."""

    page: str
    """Relative to the checkout."""
    number: int
    """Of its line."""
    text: str
    """For a shell, without a prompt."""
    quoted: tuple[str, ...] = ()
    """What stands below it as its output; a line ``...`` is any number of lines."""

    @property
    def codes(self) -> tuple[int, ...]:
        """The exit codes with which it may end: those that a comment behind it or its output names, else 0."""
        said = _EXIT.search(_comment(self.text)) or next(filter(None, map(_EXIT.search, self.quoted)), None)
        if said:
            return tuple(int(digit) for digit in re.findall(r"\d", said[1]))
        return _ANSWERS if self.page == COMMANDS and "cephtui check " in self.text else (0,)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code of a page."""

    language: str
    number: int
    """Of its first line."""
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A page of Markdown."""

    path: Path

    @property
    def name(self) -> str:
        """Relative to the checkout."""
        return str(self.path.relative_to(ROOT))

    @property
    def text(self) -> str:
        """Its source."""
        return self.path.read_text()

    @property
    def blocks(self) -> list[Block]:
        """Its blocks of code, fenced or indented."""
        found = [token for token in _PARSER.parse(self.text) if token.type in ("fence", "code_block")]
        return [_block(token) for token in found]

    @property
    def commands(self) -> list[Command]:
        """What calls cephtui in its blocks, in the order of the page."""
        return [command for block in self.blocks for command in commands_of(self.name, block)]

    @property
    def unread(self) -> list[str]:
        """Lines of its blocks that name cephtui and neither call nor install it."""
        return [
            f"{self.name}:{block.number + at}: {line}"
            for block in self.blocks
            if block.language not in ELSEWHERE
            for at, line in enumerate(block.lines)
            if _WORD.search(line.partition(" # ")[0]) and not (_CALL.search(_bare(line)) or _INSTALLS.search(line))
        ]

    @property
    def inline(self) -> list[str]:
        """The pieces of code in its sentences and tables."""
        children = [child for token in _PARSER.parse(self.text) for child in token.children or ()]
        return [" ".join(child.content.split()) for child in children if child.type == "code_inline"]

    @property
    def links(self) -> list[str]:
        """Where its links and pictures lead."""
        children = [child for token in _PARSER.parse(self.text) for child in token.children or ()]
        named = [child.attrGet("href") or child.attrGet("src") for child in children]
        return [str(link) for link in named if link]

    @property
    def anchors(self) -> set[str]:
        """Of its headings, as GitHub makes them."""
        tokens = _PARSER.parse(self.text)
        headings = [tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open"]
        return set(map(_anchor, headings))

    @property
    def words(self) -> int:
        """How many a reader meets, those of commands among them, without the addresses of links."""
        return len(_TAG.sub(" ", _PARSER.render(self.text)).split())


def pages() -> list[Page]:
    """All pages for users: the README and what is below ``docs`` and ``examples``."""
    below = [path for folder in (DOCS, EXAMPLES) for path in sorted(folder.rglob("*.md"))]
    return [Page(path) for path in (README, *below)]


def commands_of(page: str, block: Block) -> Iterator[Command]:
    """The commands of a block; of one with prompts what stands below a command is its output."""
    has_prompts = any(line.startswith("$ ") for line in block.lines)
    at = 0
    while at < len(block.lines):
        first, text = at, _bare(block.lines[at])
        is_command = block.lines[at].startswith("$ ") if has_prompts else True
        while is_command and text.endswith("\\") and at + 1 < len(block.lines):
            at += 1
            text += "\n" + block.lines[at]
        at += 1
        if not is_command or not _calls(text, block.language):
            continue
        until = next((n for n in range(at, len(block.lines)) if block.lines[n].startswith("$ ")), len(block.lines))
        output = block.lines[at:until] if has_prompts else ()
        yield Command(page, block.number + first, text, _stripped(output))


def scripts() -> dict[Path, str]:
    """The shell scripts of the examples: of a CI job what it has below ``script``."""
    jobs = {path: _script_of(path) for path in sorted(EXAMPLES.rglob("*.yml"))}
    return jobs | {path: path.read_text() for path in sorted(EXAMPLES.rglob("*.sh"))}


def _script_of(path: Path) -> str:
    found: list[str] = []

    def look(value: Any) -> None:
        if isinstance(value, dict):
            for key, below in value.items():
                lines = below if isinstance(below, list) else [below]
                found.extend(map(str, lines)) if key in ("script", "run") else look(below)
        elif isinstance(value, list):
            for each in value:
                look(each)

    look(yaml.safe_load(path.read_text()))
    return "\n".join(found)


def _block(token: Any) -> Block:
    is_fence = token.type == "fence"
    start = token.map[0] + (2 if is_fence else 1)
    return Block(token.info.strip() if is_fence else "", start, tuple(token.content.splitlines()))


def _calls(text: str, language: str) -> bool:
    if "[OPTIONS]" in text:  # what it can be called with
        return False
    return text.startswith("cephtui ") if language in ELSEWHERE else bool(_CALL.search(text.partition(" # ")[0]))


def _bare(line: str) -> str:
    return _BEHIND.sub("", _PROMPT.sub("", line.lstrip()))


def _comment(text: str) -> str:
    return text.partition(" # ")[2]


def _stripped(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple("\n".join(lines).rstrip().splitlines())


def _anchor(heading: str) -> str:
    kept = re.sub(r"[^\w\- ]", "", heading.lower().replace("`", ""))
    return kept.replace(" ", "-")
