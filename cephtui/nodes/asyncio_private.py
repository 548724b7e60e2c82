"""Private names of asyncio. Seen in Python 3.11."""

from __future__ import annotations

import asyncio
from typing import cast


def transport_of(process: asyncio.subprocess.Process) -> asyncio.SubprocessTransport:
    """Closing it closes the pipes of a process that still runs."""
    return cast(asyncio.SubprocessTransport, process._transport)  # type: ignore[attr-defined]


def is_awaited(event: asyncio.Event) -> bool:
    """Whether a task waits for it now."""
    return not event.is_set() and bool(event._waiters)
