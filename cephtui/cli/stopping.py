"""INT, TERM and HUP while something runs without the console."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import NoReturn

from cephtui.terminal import Ending, Interrupted, set_blocking, signal_handlers

AGAIN = " (a second Ctrl+C or signal ends at once)"
_GRACE_SECONDS = 15


@contextlib.contextmanager
def stopping(
    first: Callable[[], object], is_overdue: Callable[[float], bool], left: Callable[[], Sequence[str]]
) -> Iterator[Ending]:
    """The first signal calls ``first`` and the block continues; a second raises Interrupted with the lines of ``left``.

    So does the first alone once it ``is_overdue``, which is asked with the time of the signal by the monotonic clock.
    """

    def leave() -> NoReturn:
        raise Interrupted(*left())

    def tick(seconds: float) -> None:
        if seconds > _GRACE_SECONDS:  # writing to a stalled reader raises OSError from now on, instead of blocking
            set_blocking(False)
        if ending.requested_at is not None and is_overdue(ending.requested_at):
            leave()

    ending = Ending(first, leave, tick)
    with signal_handlers(ending.handlers()):
        try:
            yield ending
        finally:
            if ending.is_requested:
                set_blocking(True)
