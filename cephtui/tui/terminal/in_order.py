"""What is typed is handled key by key: a key that opens or closes a screen is done before the next one is read."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterator
from typing import Any

from textual import events
from textual.app import App
from textual.screen import Screen

from cephtui.tui.textual_private import HookedApp, is_exiting, is_idle

AT_ONCE = frozenset({"ctrl+c", "ctrl+q"})
"""Keys that are never held up."""
_POLL_SECONDS, _POLLS_MOST = 0.004, 300
"""Counted, not timed: while the event loop is busy, what a key has caused is not done either."""


def _is_held(event: events.Event) -> bool:
    """Whether it is something typed that has its place in the order, on its way into the application."""
    if isinstance(event, events.Key):
        return not event.is_forwarded and event.key not in AT_ONCE
    return isinstance(event, events.Paste) and not event.is_forwarded


@contextlib.contextmanager
def opening(app: App[Any]) -> Iterator[None]:
    """Hold what is typed until a screen is there that is opened after some work of its own."""
    if not isinstance(app, OrderedApp):
        yield
        return
    below = app.screen
    app.openings.append(below)
    try:
        yield
    finally:
        app.openings.remove(below)


class OrderedApp(HookedApp):
    """An application in which each key is handled before the next one.

    By itself Textual forwards a key at once to what has the focus now, though the key before it is about to move
    the focus or to open a screen. The first key is not delayed; the keys behind it wait until nothing is left to do.
    """

    def __init__(self) -> None:
        super().__init__()
        self._held: deque[events.Event] = deque()
        self._released: events.Event | None = None
        self._turn: asyncio.Task[None] | None = None
        """Waits until the last key is done."""
        self.openings: list[Screen[Any]] = []
        """Screens on top of which another one is about to be opened."""

    async def on_event(self, event: events.Event) -> None:
        """Hold what is typed while the key before it is not done."""
        if not _is_held(event):
            await super().on_event(event)
        elif event is self._released or (self._is_there and not self._is_waited_for):
            self._released = None
            self._turn = asyncio.create_task(self._take_turn())
            await super().on_event(event)
        else:
            self._held.append(event)
            if not self._is_waited_for:
                self._turn = asyncio.create_task(self._take_turn())

    @property
    def _is_waited_for(self) -> bool:
        """Whether a key is being worked on, or is on its way here; a wait that has failed holds nothing up."""
        return self._released is not None or (self._turn is not None and not self._turn.done())

    async def _take_turn(self) -> None:
        """Wait until the last key is done, then release the next one."""
        for _ in range(_POLLS_MOST):
            if is_exiting(self) or await self._is_settled():
                break
            await asyncio.sleep(_POLL_SECONDS)
        if self._held and not self._is_there:
            self._held.clear()  # it must not reach the screen below
            self.notify("keys typed meanwhile were dropped", severity="warning")
        if self._held:
            self._released = self._held.popleft()
            self.post_message(self._released)
        else:
            self._turn = None

    @property
    def _is_there(self) -> bool:
        """Whether the screen on top is drawn, and no other is about to be opened on it."""
        return self.screen.is_mounted and self.screen not in self.openings

    async def _is_settled(self) -> bool:
        """Whether nothing is left to do for the screen on top; seen twice, for what is just being handed over."""
        for _ in range(2):
            # the application first: it is the one that works longest on a key, and the others need not be looked for
            if not (self._is_there and is_idle(self)):
                return False
            if not all(map(is_idle, self.screen.walk_children(with_self=True))):
                return False
            await asyncio.sleep(0)
        return True
