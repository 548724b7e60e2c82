"""What the command line speaks through: standard streams that may be closed, gone or stalled, and signals."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO

from cephtui.printable import one_line, printable

if TYPE_CHECKING:
    from rich.console import Console

Handler = Callable[[int, FrameType | None], Any]


def prepare_streams() -> None:
    """A caller may have closed some (``>&-``): no other file may take their place. And none may stumble on a letter."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def say(text: str) -> None:
    """One line on stderr."""
    try:
        print(f"cephtui: {one_line(text)}", file=sys.stderr)
    except OSError:
        silence(sys.stderr)


def silence(stream: TextIO) -> None:
    """The reader is gone or stands still; what is buffered for it must neither raise nor wait at exit."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextlib.contextmanager
def waiting(stream: TextIO, wait: bool) -> Iterator[None]:
    """Whether to wait for a reader that stands still: not when cephtui was told to leave."""
    os.set_blocking(stream.fileno(), wait)
    try:
        yield
    finally:
        os.set_blocking(stream.fileno(), True)


def make_console() -> Console:
    """Rich on stdout: text is neither markup nor a command to the terminal; a broken pipe raises."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class Ours(Console):
        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
            for text, style, control in super().render(renderable, options):
                yield Segment(text if control else "\n".join(map(printable, text.split("\n"))), style, control)

        def on_broken_pipe(self) -> None:
            raise  # rich would exit with 1, which says that the benchmark failed

    return Ours(highlight=False, markup=False, emoji=False, soft_wrap=not sys.stdout.isatty())


@contextlib.contextmanager
def handling(handlers: Mapping[signal.Signals, Handler]) -> Iterator[None]:
    """Signal handlers for a while; an alarm that one of them has set is called off at the end."""
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        signal.alarm(0)
        for number, handler in before.items():
            signal.signal(number, handler)
