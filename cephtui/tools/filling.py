"""What tools have in common that copy data with dd: the command that fills a file, and dd's progress as readings.

Format: coreutils' dd with ``status=progress`` in the locale C, on stderr: ``67108864 bytes (67 MB, 64 MiB) copied,
0.0993816 s, 675 MB/s``, each time over the one before, and once more at the end. Its rate is rounded: bytes and
seconds are not.
"""

from __future__ import annotations

import re

from cephtui import stats
from cephtui.models import Finding
from cephtui.tools.base import Parser, Reading, Stream, ToolResult
from cephtui.tools.stderr import Errors, spoken

COPY_ARGV = ("env", "LC_ALL=C", "dd")
"""Begins a command whose output is read here."""
PROGRESS = "status=progress"
_COPIED = re.compile(rb"([0-9]{1,18}) bytes [^\r\n]*?copied, ([0-9.]{1,12}(?:e[-+][0-9]+)?) s")
_RECORDS = re.compile(r"[0-9+]+ records (in|out)")
_REST_MOST = 4096


def fill_argv(path: str, size_bytes: int) -> tuple[str, ...]:
    """Writes so many bytes of a file or device in full; data that compresses would read too fast."""
    count = f"count={size_bytes}"
    where = ("if=/dev/urandom", f"of={path}", "bs=1M", count, "iflag=count_bytes,fullblock")
    return (*COPY_ARGV, *where, "conv=notrunc,fsync", PROGRESS)


def has_copied(text: str) -> bool:
    """Whether a line says how much was copied, on its way or at the end."""
    return "copied" in text and _COPIED.search(text.encode("utf-8", "replace")) is not None


class CopyParser(Parser):
    """Bytes and seconds from the start, as they are printed each second and at the end."""

    def __init__(
        self,
        *,
        writes: bool = True,
        block_bytes: int = 0,
        findings: tuple[Finding, ...] = (),
    ) -> None:
        """I/Os are counted where ``block_bytes`` is given; ``findings`` are those of a copy that did anything."""
        self._writes, self._block_bytes, self._findings = writes, block_bytes, findings
        self._rest = b""
        self._errors = Errors()
        self._bytes, self._seconds = 0, 0.0

    def feed(self, stream: Stream, data: bytes, elapsed_seconds: float) -> list[Reading]:
        if stream == "stdout":
            return []
        *lines, rest = re.split(rb"[\r\n]", self._rest + data)
        self._rest = rest[-_REST_MOST:]
        return [reading for line in lines for reading in self._take(line)]

    def _take(self, line: bytes) -> list[Reading]:
        """Its last figures before the end are on the same line as those of a second earlier."""
        found = [(int(nbytes), float(seconds)) for nbytes, seconds in _COPIED.findall(line)]
        if not found:
            self._errors.add(line + b"\n")
        return [reading for nbytes, seconds in found for reading in self._reading(nbytes, seconds)]

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
        rest, self._rest = self._rest, b""
        return self._take(rest)

    def result(self) -> ToolResult:
        lines = [line for line in spoken(self._errors.text) if not _RECORDS.match(line)]
        error = next(iter(lines), None)
        if not self._bytes:
            return ToolResult(error=error)
        whole = stats.make_interval(self._ios(self._bytes), self._bytes, self._seconds, None, None)
        flow = stats.Flow(
            whole.ios, whole.bytes, self._seconds, whole.iops, whole.bandwidth_bytes, {}, moments=None, bounds=None
        )
        read, write = (None, flow) if self._writes else (flow, None)
        return ToolResult(read, write, error=error, findings=self._findings)
