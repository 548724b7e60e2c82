"""What asyncio has no public name for. Seen in Python 3.11."""

from __future__ import annotations

import asyncio
from typing import cast


def transport_of(process: asyncio.subprocess.Process) -> asyncio.SubprocessTransport:
    """What has to be closed for the pipes of a process that goes on."""
    return cast(asyncio.SubprocessTransport, process._transport)  # type: ignore[attr-defined]
