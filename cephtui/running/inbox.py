"""The events of a runner, for each of its listeners."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

from cephtui import models

if TYPE_CHECKING:
    from cephtui.models import Event

INBOX_EVENTS = 4096


class Inbox:
    """Events for one listener; bounded, so that a listener that stands still costs no memory."""

    def __init__(self) -> None:
        self.dropped = 0
        """Samples left out because the listener was too slow; the session has them."""
        self._events: deque[Event] = deque()
        self._changed = threading.Condition()

    def put(self, event: Event) -> None:
        """Called by the runner; never waits."""
        with self._changed:
            if isinstance(event, models.Sample) and len(self._events) >= INBOX_EVENTS:
                self.dropped += 1
                return
            self._events.append(event)
            self._changed.notify()

    def drain(self, timeout_seconds: float = 0.0) -> list[Event]:
        """All events since the last call; waits up to the timeout for the first of them."""
        with self._changed:
            if not self._events and timeout_seconds:
                self._changed.wait(timeout_seconds)
            events = list(self._events)
            self._events.clear()
            return events


class Inboxes:
    """The inboxes of all listeners."""

    def __init__(self) -> None:
        self._inboxes: list[Inbox] = []

    def subscribe(self) -> Inbox:
        """One more inbox, which gets every event from now on. Called from any thread."""
        inbox = Inbox()
        self._inboxes.append(inbox)
        return inbox

    def publish(self, event: Event) -> None:
        """Called by the runner; never waits."""
        for inbox in self._inboxes:
            inbox.put(event)
