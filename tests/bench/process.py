"""What the kernel says of a process."""

from __future__ import annotations

import re
from pathlib import Path

_RSS = re.compile(r"^Rss:\s+(\d+) kB$", re.MULTILINE)


def resident_bytes(pid: int | None = None) -> int:
    """Memory of a process (by default of this one) that is in RAM, what it shares with others included."""
    return parse_resident(Path(f"/proc/{pid or 'self'}/smaps_rollup").read_text())


def parse_resident(rollup: str) -> int:
    """The bytes in a file like that; raises ValueError where it does not tell them."""
    found = _RSS.search(rollup)
    if found is None:
        raise ValueError(f"no Rss in {rollup!r}")
    return int(found[1]) << 10
