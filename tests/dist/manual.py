"""Pages for man(1): of the commands, as click has them, and of each page of docs/."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import click

from cephtui import __version__
from cephtui.cli.verbs import cli

from tests.dist.roff import block, entry, of_markdown, plain
from tests.dist.wheels import CHECKOUT

_SUMMARY = "terminal console that benchmarks storage and shows the results live"


def pages(epoch: int) -> dict[str, bytes]:
    """Pages in the language of man(1), by the name of the file: ``cephtui.1``, ``cephtui-targets.7``."""
    made = {"cephtui.1": _heading("cephtui", 1, "User Commands", epoch) + of_commands()}
    for path in sorted((CHECKOUT / "docs").glob("*/**/*.md")):
        name = f"cephtui-{path.stem}"
        made[f"{name}.7"] = _heading(name, 7, "cephtui Manual", epoch) + of_document(name, path.read_text())
    return {name: text.encode() for name, text in made.items()}


def _heading(name: str, section: int, manual: str, epoch: int) -> str:
    day = datetime.fromtimestamp(epoch, UTC).date().isoformat()
    return f'.TH {plain(name)} {section} "{day}" "cephtui {__version__}" "{manual}"\n.nh\n.ad l\n'


def of_document(name: str, text: str) -> str:
    """A page of docs/, whose links to other pages are to those for man(1)."""
    title, _, body = text.partition("\n")
    begin = f".SH NAME\n{plain(name)} \\- {plain(title.lstrip('# '))}\n.SH DESCRIPTION\n"
    return f"{begin}{of_markdown(body)}.SH SEE ALSO\n\\fBcephtui\\fR(1)\n"


def of_commands() -> str:
    """All commands, with their options and examples."""
    context = click.Context(cli, info_name="cephtui")
    usage, *rest = _parts(cli, context)
    parts = [f".SH NAME\ncephtui \\- {_SUMMARY}\n.SH SYNOPSIS\n{usage}.SH DESCRIPTION\n", *rest, ".SH COMMANDS\n"]
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        if command and not command.hidden:
            inner = click.Context(command, info_name=name, parent=context)
            parts += [f".SS cephtui {plain(name)}\n", *_parts(command, inner)]
    return "".join(parts)


def _parts(command: click.Command, context: click.Context) -> Iterator[str]:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"\\fB{plain(usage)}\\fR\n"
    yield from _paragraphs(command.help or "")
    for parameter in command.params:
        names, text = parameter.get_help_record(context) or ("", "")
        if text:
            yield entry(rf"\fB{plain(names)}\fR", plain(" ".join(text.split())))
    yield from _paragraphs(command.epilog or "")


def _paragraphs(text: str) -> Iterator[str]:
    """As click has them: one that begins with a backspace keeps its lines."""
    for paragraph in filter(None, text.strip("\n").split("\n\n")):
        kept = paragraph.lstrip()
        if kept.startswith("\b"):
            first, _, lines = kept.removeprefix("\b").strip("\n").partition("\n")
            yield f".PP\n{plain(first)}\n" + (block(lines) if lines else "")
        else:
            yield f".PP\n{plain(' '.join(paragraph.split()))}\n"
