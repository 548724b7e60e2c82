"""What the runner publishes, for one listener."""

from __future__ import annotations

import threading
from collections import deque

from cephtui.models import Event, Sample

INBOX_EVENTS = 4096


class Inbox:
    """What has happened, for one listener; bounded, so that a listener that stands still costs no memory."""

    def __init__(self) -> None:
        self.dropped = 0
        """Samples that were left out because the listener was too slow; the session has them."""
        self._events: deque[Event] = deque()
        self._changed = threading.Condition()

    def put(self, event: Event) -> None:
        """Called by the runner; never waits."""
        with self._changed:
            if isinstance(event, Sample) and len(self._events) >= INBOX_EVENTS:
                self.dropped += 1
                return
            self._events.append(event)
            self._changed.notify()

    def drain(self, timeout_seconds: float = 0.0) -> list[Event]:
        """All that has happened since the last call; waits up to the timeout for the first of it."""
        with self._changed:
            if not self._events and timeout_seconds:
                self._changed.wait(timeout_seconds)
            events = list(self._events)
            self._events.clear()
            return events
