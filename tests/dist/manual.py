"""Pages for man(1): of the commands, as click has them, and of each page of docs/."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime

import click

from cephtui import __version__
from cephtui.cli.verbs import cli

from .wheels import CHECKOUT

_PAGE = re.compile(r"\[([^\]]+)\]\((?:[^)\s]*/)?([a-z0-9-]+)\.md(?:#[^)]*)?\)")
_PICTURE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_SUMMARY = "terminal console that benchmarks storage and shows the results live"


def pages(epoch: int) -> dict[str, bytes]:
    """Pages in the language of man(1), by the name of the file: ``cephtui.1``, ``cephtui-targets.7``."""
    made = {"cephtui.1": _heading("cephtui", 1, "User Commands", epoch) + of_commands()}
    for path in sorted((CHECKOUT / "docs").glob("*/**/*.md")):
        name = f"cephtui-{path.stem}"
        made[f"{name}.7"] = _heading(name, 7, "cephtui Manual", epoch) + of_document(name, path.read_text())
    return {name: _for_man(text) for name, text in made.items()}


def _heading(name: str, section: int, manual: str, epoch: int) -> str:
    day = datetime.fromtimestamp(epoch, UTC).date().isoformat()
    line = f'{name} {section} "{day}" "cephtui {__version__}" "{manual}"'
    return f"{line}\n{'=' * len(line)}\n\n"


def _for_man(markdown: str) -> bytes:
    return subprocess.run(["go-md2man"], input=markdown.encode(), capture_output=True, check=True).stdout


def of_document(name: str, text: str) -> str:
    """A page of docs/, whose links to other pages are to those for man(1)."""
    title, _, body = text.partition("\n")
    body = _PAGE.sub(r"\1 (**cephtui-\2**(7))", _PICTURE.sub(r"\1", body))
    return f"# NAME\n\n{name} - {title.lstrip('# ')}\n{body}\n\n# SEE ALSO\n\n**cephtui**(1)\n"


def of_commands() -> str:
    """All commands, with their options and examples."""
    context = click.Context(cli, info_name="cephtui")
    usage, *rest = _parts(cli, context)
    parts = ["# NAME", f"cephtui - {_SUMMARY}", "# SYNOPSIS", usage, "# DESCRIPTION", *rest, "# COMMANDS"]
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        if command and not command.hidden:
            inner = click.Context(command, info_name=name, parent=context)
            parts += [f"## cephtui {_plain(name)}", *_parts(command, inner)]
    return "\n\n".join(parts) + "\n"


def _parts(command: click.Command, context: click.Context) -> Iterator[str]:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"**{_plain(usage)}**"
    yield from _paragraphs(command.help or "")
    for parameter in command.params:
        if record := parameter.get_help_record(context):
            names, text = record
            yield f"**{_plain(names)}**\n:   {_plain(' '.join(text.split()))}"
    yield from _paragraphs(command.epilog or "")


def _paragraphs(text: str) -> Iterator[str]:
    """As click has them: one that begins with a backspace keeps its lines."""
    for paragraph in filter(None, text.replace("\r", "").strip("\n").split("\n\n")):
        if paragraph.lstrip().startswith("\b"):
            first, *lines = paragraph.lstrip().removeprefix("\b").strip("\n").split("\n")
            yield _plain(first)
            if lines:
                yield "\n".join(f"    {line.removeprefix('  ')}" for line in lines)
        else:
            yield _plain(" ".join(paragraph.split()))


def _plain(text: str) -> str:
    """Text in which nothing is taken for Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>()#|~&-])", r"\\\1", text)
