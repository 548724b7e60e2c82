"""The pages of the documentation: each is a topic, named as its file.

Every start of cephtui loads this module, so its functions import what they need themselves.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import click

KINDS = ("tutorial", "how-to", "reference", "explanation")
"""The folders of pages, in the order in which topics are listed."""
_PICTURE = re.compile(r"!\[([^]]*)\]\([^)]*\)")
_LINK = re.compile(r"\[([^]]+)\]\(([^)\s]+)\)")
_ADDRESS = re.compile(r"<(https?://[^>]+)>")
_COMMENT = re.compile(r"^<!--.*?-->\n\n?", re.MULTILINE)
_SENTENCE = re.compile(r".+?(?:[.?!](?=\s)|$)")


class Topic(NamedTuple):
    """A page."""

    name: str
    kind: str
    """The folder that it is in."""
    path: Path

    @property
    def text(self) -> str:
        """Markdown for a reader who types: links to other pages are commands, pictures are what they show."""
        return _typed(_COMMENT.sub("", self.path.read_text("utf-8")))

    @property
    def title(self) -> str:
        """Its first line."""
        return self.text.partition("\n")[0].removeprefix("# ")

    @property
    def about(self) -> str:
        """The first sentence of its first paragraph, without marks."""
        paragraph = self.text.partition("\n\n")[2].partition("\n\n")[0]
        sentence = _SENTENCE.match(" ".join(paragraph.split()))
        return re.sub(r"[`*]", "", sentence[0]) if sentence else ""


def topics() -> dict[str, Topic]:
    """All pages by name, grouped by kind; empty where none are installed."""
    from cephtui.paths import packaged_docs_dir

    folder = packaged_docs_dir()
    pages = [Topic(path.stem, kind, path) for kind in KINDS for path in sorted((folder / kind).glob("*.md"))]
    return {page.name: page for page in pages}


def _typed(text: str) -> str:
    return _ADDRESS.sub(r"\1", _LINK.sub(_reference, _PICTURE.sub(r"(picture: \1)", text)))


def _reference(link: re.Match[str]) -> str:
    words, target = link.groups()
    page = re.fullmatch(r"(?:[\w./-]*/)?([a-z\d-]+)\.md(?:#.*)?", target)
    if target.startswith("#"):
        return words
    if not page:
        return link[0] if ":" in target else words
    return f"{words} (`cephtui help {page[1]}`)"


def complete_topics(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Topics and verbs."""
    return sorted(name for name in {*topics(), *verbs_of(context)} if name.startswith(incomplete))


def verbs_of(context: click.Context) -> dict[str, click.Command]:
    """The verbs of the whole command line, by their names."""
    root = context.find_root()
    group = root.command
    if not isinstance(group, click.Group):
        return {}
    every = ((name, group.get_command(root, name)) for name in group.list_commands(root))
    return {name: verb for name, verb in every if verb}
