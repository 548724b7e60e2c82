"""What can be tested on a node, as a picker lists it. What a guard would refuse to write is listed with its reason."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from cephtui.frozen import dataclass
from cephtui.models.refusal import Refusal

if TYPE_CHECKING:
    from cephtui.ceph.pools import Pool

INSPECTED_MOST = 50
"""How many images of a pool, or devices of a node, are inspected: each takes a few commands."""
INSPECTED_AT_ONCE = 4
ASKS_FIRST = "needs confirmation"
"""Words in the text of a candidate that may be written to once its name is typed."""
NOT_INSPECTED = "not inspected"


@dataclass(frozen=True, slots=True)
class Candidate:
    """What can be tested, or could be if no guard refused it."""

    spec: str
    """The target as it is typed on the command line: ``rbd:bench``, ``device:/dev/sdb``."""
    text: str
    """A description of the target."""
    reason: str | None = None
    """Why a guard would refuse to write there; None where it would not."""
    remedy: str = ""
    """What can be done about the reason."""


OnFound = Callable[[Sequence[Candidate]], None]
"""Called with candidates as they are found; a candidate with the same ``spec`` as an earlier one replaces it."""


@dataclass(frozen=True, slots=True)
class PoolFacts:
    """A pool of the cluster, and whether its guards allow a write."""

    pool: Pool
    unserved: Refusal | None
    """Why the pool can't serve a write."""
    full: Refusal | None
    room: str
    """Who else uses the pool and what fits into it, in words."""


async def inspect_each(
    listed: Sequence[Candidate], inspect: Callable[[Candidate], Awaitable[Candidate]], on_found: OnFound
) -> None:
    """Inspect the first candidates that no guard has refused yet, a few at a time; raises TransportError."""
    waiting = iter([candidate for candidate in listed if candidate.reason is None][:INSPECTED_MOST])

    async def take_turns() -> None:
        for candidate in waiting:
            on_found([await inspect(candidate)])

    ended = await asyncio.gather(*(take_turns() for _ in range(INSPECTED_AT_ONCE)), return_exceptions=True)
    for error in ended:
        if error is not None:
            raise error


def by_number(name: str) -> list[tuple[int, str]]:
    """A key to sort names with numbers by value: disk 2 before disk 10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]
