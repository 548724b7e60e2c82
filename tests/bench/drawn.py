"""What has come out of a terminal, and when."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field

_ESCAPES = re.compile(rb"\x1b(\][^\x07\x1b]*(\x07|\x1b\\)|\[[0-?]*[ -/]*[@-~]|[ -/]*[0-~])")
_KEPT_BYTES = 65_536


@dataclass(slots=True)
class Drawn:
    """Output as it has arrived; filled by one thread, looked at by another."""

    data: bytearray = field(default_factory=bytearray)
    _ends: list[int] = field(default_factory=list)
    _times: list[float] = field(default_factory=list)

    def add(self, data: bytes, at: float) -> None:
        """A piece has arrived at this moment of the monotonic clock."""
        self.data += data
        self._times.append(at)
        self._ends.append(len(self.data))

    def words(self) -> str:
        """The newest words, without what moves the cursor, colours or draws lines."""
        text = _ESCAPES.sub(b" ", bytes(self.data[-_KEPT_BYTES:])).decode(errors="ignore")
        return " ".join(word for word in text.split() if word.isascii())

    def __contains__(self, text: bytes) -> bool:
        return text in self.data

    def when(self, text: bytes, since: float) -> float | None:
        """When the last byte of the first such text arrived that began after ``since``; None if it has not."""
        earlier = bisect_right(self._times, since)
        found = self.data.find(text, self._ends[earlier - 1] if earlier else 0)
        return None if found < 0 else self._times[bisect_left(self._ends, found + len(text))]
