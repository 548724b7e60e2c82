"""``cephtui help``: the pages of the documentation, in a listing or one of them."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Collection
from itertools import groupby

import click
from rich.console import Group
from rich.text import Text

from cephtui.cli.printing import ascii_only, print_report
from cephtui.cli.topics import Topic, topics, verbs_of
from cephtui.paths import packaged_docs_dir
from cephtui.printable import shortened, suggestion
from cephtui.terminal import make_console, signal_handlers, until_seen

_NAME_MOST = 60
"""Characters of a wrong name that its error repeats."""


def show_help(name: str | None) -> None:
    """Print all topics, a topic's page or a verb's --help; raises UsageError for any other name."""
    with until_seen():
        _print(name)
        sys.stdout.flush()


def _print(name: str | None) -> None:
    pages = topics()
    root = click.get_current_context().find_root()
    verbs = verbs_of(root)
    if name is None:
        _list(pages.values())
    elif name in pages:
        _show(pages[name])
    elif name in verbs:
        click.echo(verbs[name].get_help(click.Context(verbs[name], root, name)))
    else:
        near = " ".join(filter(None, (suggestion(name, (*pages, *verbs)), "cephtui help lists the topics")))
        raise click.UsageError(f"no topic {shortened(name, _NAME_MOST)!r}: {near}")


def _list(pages: Collection[Topic]) -> None:
    if not pages:
        raise click.ClickException(f"{packaged_docs_dir()} has no pages: install cephtui again")
    wide = max(len(page.name) for page in pages)
    lines: list[Text] = []
    for kind, alike in groupby(pages, key=lambda page: page.kind):
        lines += [Text(kind, "bold"), *(Text(f"  {page.name:{wide}}  {_said(page)}") for page in alike)]
    for line in lines:
        line.no_wrap, line.overflow = True, "ellipsis"
    print_report(Group(*lines))
    print("\ncephtui help TOPIC shows a page, cephtui help COMMAND the options of a command")


def _said(page: Topic) -> str:
    """What it is about, in a line of 80 columns; the titles of tutorials and guides say what one gets."""
    return page.title if page.kind in ("tutorial", "how-to") else page.about


def _show(page: Topic) -> None:
    """As it is where no terminal reads it; else drawn, and by a pager where it is longer than the screen."""
    if not sys.stdout.isatty():
        click.echo(page.text, nl=False)
        return
    text, rows = _drawn(page)
    if text.count("\n") < rows:
        click.echo(text, nl=False)
        return
    with signal_handlers({signal.SIGINT: lambda number, frame: None}):  # it is the pager's
        click.echo_via_pager(text)


def _drawn(page: Topic) -> tuple[str, int]:
    """For the terminal, with escape sequences, and how many rows that has."""
    from rich.markdown import Markdown

    console = make_console()
    with console.capture() as capture:
        print_report(Markdown(page.text, code_theme="ansi_dark", hyperlinks=False), console)
    text = capture.get()
    if ascii_only():
        from cephtui.tui.terminal.filters import in_ascii

        text = re.sub(r"[^\x00-\x7f]+", lambda letters: in_ascii(letters[0]), text)
    return text, console.height
