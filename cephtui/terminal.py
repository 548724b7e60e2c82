"""Standard streams that may be closed, broken or stalled, and signals."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO

from cephtui.printable import one_line, printable

if TYPE_CHECKING:
    from rich.console import Console

Handler = Callable[[int, FrameType | None], Any] | signal.Handlers
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_TOGETHER_SECONDS = 0.2
_AGAIN_SECONDS = 0.01
_TICK_SECONDS = 1.0
_UNLIMITED_COLUMNS = 1 << 20


class Interrupted(SystemExit):
    """The user wants cephtui to end at once; each argument is a line about a leftover. Raised by signal handlers.

    A SystemExit, since an event loop lets no other exception out of its callbacks (except
    KeyboardInterrupt, which click replaces by its own).
    """


def prepare_streams() -> None:
    """Open /dev/null for streams that the caller has closed (``>&-``), lest another file gets their descriptor.

    Characters that the locale's encoding lacks are replaced.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def say(text: str) -> None:
    """Print a line on stderr."""
    say_exactly(one_line(text))


def say_exactly(text: str) -> None:
    """Print a line on stderr with every character of a command, which is about to run or may be typed again."""
    try:
        print(f"cephtui: {printable(text)}", file=sys.stderr)
    except OSError:
        silence(sys.stderr)


def silence(stream: TextIO) -> None:
    """Redirect the stream to /dev/null, so that the flush at exit neither fails (EPIPE) nor blocks."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextlib.contextmanager
def until_seen() -> Iterator[None]:
    """A block that prints, which ends where the reader of stdout has seen enough and closed it, as ``head`` does."""
    try:
        yield
    except BrokenPipeError:
        silence(sys.stdout)


@contextlib.contextmanager
def blocking(stream: TextIO, wait: bool) -> Iterator[None]:
    """In the block, writes wait for a stalled reader, or, with ``wait`` false, raise BlockingIOError."""
    os.set_blocking(stream.fileno(), wait)
    try:
        yield
    finally:
        os.set_blocking(stream.fileno(), True)


def set_blocking(wait: bool) -> None:
    """Whether writes to stdout and stderr wait for a stalled reader, from now on."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            os.set_blocking(stream.fileno(), wait)


def make_console() -> Console:
    """A Rich console on stdout: text is no markup, escapes have no effect, a broken pipe raises BrokenPipeError.

    Lines are as long as they need to be where stdout is no terminal.
    """
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class Ours(Console):
        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
            for segment in super().render(renderable, options):
                text, style, control = segment
                if control or text == "\n" or (text.isascii() and text.isprintable()):
                    yield segment  # as nearly all: a segment comes through here once for each level of nesting
                else:
                    yield Segment("\n".join(map(printable, text.split("\n"))), style)

        def on_broken_pipe(self) -> None:
            raise  # rich would exit with 1, which means a failed benchmark

    width = None if sys.stdout.isatty() else _UNLIMITED_COLUMNS
    return Ours(highlight=False, markup=False, emoji=False, width=width)


@contextlib.contextmanager
def signal_handlers(handlers: Mapping[signal.Signals, Handler]) -> Iterator[None]:
    """Set signal handlers for the block; an alarm that one of them has set is cancelled at the end."""
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        signal.alarm(0)
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def hangup_at_close(descriptor: int) -> Iterator[None]:
    """In the block, the end of the terminal on this descriptor, if it is one, is a SIGHUP.

    The kernel sends it to the leader of the terminal's session only: a shell passes it on, make does not.
    """
    done = threading.Event()
    device = os.fstat(descriptor).st_rdev

    def watch() -> None:
        while not done.wait(_TICK_SECONDS):
            if not os.isatty(descriptor):
                if os.fstat(descriptor).st_rdev == device:  # else it was replaced, by what ends the program already
                    # raised in this thread it would not interrupt the main one, which handles it
                    os.kill(os.getpid(), signal.SIGHUP)
                return

    if os.isatty(descriptor):
        threading.Thread(target=watch, name="hang-up", daemon=True).start()
    try:
        yield
    finally:
        done.set()


@contextlib.contextmanager
def deferred_signals() -> Iterator[None]:
    """INT, TERM and HUP come after the block: a process that is being started then would be lost."""
    late: list[int] = []
    with signal_handlers(dict.fromkeys(ENDING, lambda number, frame: late.append(number))):
        yield
    for number in late:
        signal.raise_signal(number)


class Ending:
    """Handles INT, TERM and HUP: the first signal calls ``first``, a later one ``second``.

    Signals within 0.2 s count as one: the end of a terminal or of a service often sends several.
    """

    def __init__(
        self, first: Callable[[], object], second: Callable[[], object], tick: Callable[[float], object]
    ) -> None:
        self.requested_at: float | None = None
        """When the first signal came, by the monotonic clock."""
        self._first, self._second, self._tick = first, second, tick

    @property
    def is_requested(self) -> bool:
        """Whether a signal has arrived."""
        return self.requested_at is not None

    def handlers(self) -> dict[signal.Signals, Handler]:
        """The handlers for ``signal_handlers``; after the first signal ``tick`` is called each second with the seconds
        since.

        The timer repeats by itself: an alarm that comes just before a call blocks wakes nothing, the next one does.
        """
        return {**dict.fromkeys(ENDING, self._ask), signal.SIGALRM: self._wait}

    def _ask(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.requested_at is None:
            self.requested_at = now
            signal.setitimer(signal.ITIMER_REAL, _TICK_SECONDS, _TICK_SECONDS)
            self._first()
        elif now - self.requested_at > _TOGETHER_SECONDS:
            self._second()

    def _wait(self, number: int, frame: FrameType | None) -> None:
        if self.requested_at is None:
            self._ask(number, frame)
        else:
            self._tick(time.monotonic() - self.requested_at)

    @contextlib.contextmanager
    def persistent(self) -> Iterator[None]:
        """In the block, an ``Interrupted`` is raised again that Python ignored because it was raised in ``__del__``.

        Libraries do the same in callbacks of theirs. By then other handlers may be in place: it is their signal then.
        """
        before = sys.unraisablehook

        def ignored(what: sys.UnraisableHookArgs) -> None:
            if isinstance(what.exc_value, Interrupted):
                self.requested_at = None
                signal.setitimer(signal.ITIMER_REAL, _AGAIN_SECONDS, _TICK_SECONDS)
            else:
                before(what)

        sys.unraisablehook = ignored
        try:
            yield
        finally:
            sys.unraisablehook = before
