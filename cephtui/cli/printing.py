"""Results on stdout: reports for people, or JSON Lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

import click
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment

from cephtui.frozen import dataclass
from cephtui.terminal import make_console, until_seen
from cephtui.tui.terminal.profile import UnknownLevel, as_started, detect

if TYPE_CHECKING:
    from cephtui.models import Model, Sample
    from cephtui.reports.blocks import Block, Document


def print_lines(rows: Iterable[Model | Sample]) -> None:
    """Print each row as a JSON object on a line of its own, as long as they are read."""
    from cephtui.sessions.jsonlines import line

    with until_seen():
        for row in rows:
            print(line(row))
        sys.stdout.flush()


def ascii_only() -> bool:
    """Whether the terminal, or what reads the output, can't be expected to take more than ASCII."""
    context = click.get_current_context(silent=True)
    safe = bool(context and context.find_root().params.get("safe"))
    with suppress(UnknownLevel):
        return detect(as_started(os.environ), safe=safe).ascii_only
    return False


def print_blocks(blocks: Document | Iterable[Block]) -> None:
    """Print blocks for people, with what this terminal can show."""
    from cephtui.reports.render.rich import draw

    print_report(draw(blocks, ascii_only=ascii_only()))


def print_report(value: RenderableType, console: Console | None = None) -> None:
    """Print for people: as wide as the terminal, in a pipe as wide as it is; no line ends with blanks."""
    with until_seen():
        (console or make_console()).print(_Trimmed(value))


@dataclass(frozen=True, slots=True)
class _Trimmed:
    value: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for parts in console.render_lines(self.value, options, pad=False):
            while parts and not parts[-1].text.strip(" "):
                parts.pop()
            yield from parts[:-1]
            for text, style, control in parts[-1:]:
                yield Segment(text.rstrip(" "), style, control)
            yield Segment.line()
