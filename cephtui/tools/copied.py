"""dd's progress as readings.

Format: coreutils' dd with ``status=progress`` in the locale C, on stderr: ``67108864 bytes (67 MB, 64 MiB) copied,
0.0993816 s, 675 MB/s``, each time over the one before, and once more at the end. Its rate is rounded: bytes and
seconds are not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cephtui import stats
from cephtui.tools.base import Reading, ToolResult
from cephtui.tools.lines import LineParser

if TYPE_CHECKING:
    from cephtui.models import Finding
    from cephtui.tools.base import Stream

_COPIED = re.compile(r"([0-9]{1,18}) bytes [^\r\n]*?copied, ([0-9.]{1,12}(?:e[-+][0-9]+)?) s")
_RECORDS = re.compile(r"[0-9+]+ records (in|out)")


def has_copied(text: str) -> bool:
    """Whether a line says how much was copied, on its way or at the end."""
    return "copied" in text and _COPIED.search(text) is not None


class CopyParser(LineParser):
    """Bytes and seconds from the start, as they are printed each second and at the end."""

    stream = "stderr"
    line_end = re.compile(rb"[\r\n]")

    def __init__(
        self,
        *,
        writes: bool = True,
        block_bytes: int = 0,
        findings: tuple[Finding, ...] = (),
    ) -> None:
        """I/Os are counted where ``block_bytes`` is given; ``findings`` are those of a copy that did anything."""
        super().__init__()
        self._writes, self._block_bytes, self._findings = writes, block_bytes, findings
        self._bytes, self._seconds = 0, 0.0

    def feed(self, stream: Stream, data: bytes, elapsed_seconds: float) -> list[Reading]:
        return super().feed(stream, data, elapsed_seconds) if stream == self.stream else []

    def take(self, line: str, elapsed_seconds: float) -> list[Reading]:
        """dd's last figures before the end are on the same line as those of a second earlier."""
        progress = [(int(nbytes), float(seconds)) for nbytes, seconds in _COPIED.findall(line)]
        if not progress:
            self.errors.add(f"{line}\n".encode())
        return [reading for nbytes, seconds in progress for reading in self._reading(nbytes, seconds)]

    def _reading(self, nbytes: int, seconds: float) -> list[Reading]:
        more, lasted = nbytes - self._bytes, seconds - self._seconds
        ios = self._ios(nbytes, self._bytes)
        self._bytes, self._seconds = nbytes, seconds
        if more <= 0 or lasted <= 0:
            return []
        interval = stats.make_interval(ios, more, lasted, None, None)
        read, write = (None, interval) if self._writes else (interval, None)
        return [Reading("run", seconds, lasted, read, write)]

    def _ios(self, nbytes: int, before: int = 0) -> int | None:
        """Whole blocks that were completed."""
        return nbytes // self._block_bytes - before // self._block_bytes if self._block_bytes else None

    def finish(self) -> list[Reading]:
        """The last of its progress ends with the next, not with itself."""
        return self.take_rest(self._seconds)

    def result(self) -> ToolResult:
        lines = [line for line in self.errors.spoken if not _RECORDS.match(line)]
        error = next(iter(lines), None)
        if not self._bytes:
            return ToolResult(error=error)
        flow = stats.make_flow(self._ios(self._bytes), self._bytes, self._seconds)
        read, write = (None, flow) if self._writes else (flow, None)
        return ToolResult(read, write, error=error, findings=self._findings)
