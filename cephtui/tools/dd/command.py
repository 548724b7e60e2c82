"""dd: the command lines, what they take and do, and what they do not measure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Self

from cephtui.tools.base import OptionError, Parser
from cephtui.tools.filling import COPY_ARGV, PROGRESS, FilledWorkload

if TYPE_CHECKING:
    from cephtui.models import Finding, Kind, Place

_ZERO = "/dev/zero"
_OSD = "measure an OSD with --target osd:N"


class DdWorkload(FilledWorkload):
    """dd with its options."""

    block_option = "bs"
    uses_span = True

    def fit(self, kind: Kind) -> Self:
        """The workload for a file of cephtui's own: nothing else is written; raises OptionError."""
        if self.writes() and kind != "file":
            where = "use --target file:PATH, or krbd:POOL+ext4 for an image"
            raise OptionError("target", f"dd only writes to a file of cephtui: {where}; {_OSD}")
        return self

    def jobs_and_size(self, default_span_bytes: int) -> tuple[int, int]:
        """One region, in whole blocks."""
        return 1, self.in_whole_blocks("size", default_span_bytes)

    def argv(self, name: str, size_bytes: int, place: Place) -> tuple[str, ...]:
        """A write ends when the data is on the disk; the file keeps its length, and with it cephtui's mark."""
        blocks = (f"bs={self.block_bytes()}", f"count={size_bytes // self.block_bytes()}")
        if self.writes():
            direct = ("oflag=direct",) if self.options["direct"] else ()
            flags = ("iflag=fullblock", *direct, "conv=notrunc,fsync")
            return (*COPY_ARGV, f"if={self._source}", f"of={place.path}", *blocks, *flags, PROGRESS)
        direct = ("iflag=direct",) if self.options["direct"] else ()
        return (*COPY_ARGV, f"if={place.path}", "of=/dev/null", *blocks, *direct, PROGRESS)

    def parser(self, *, ramp: bool, seconds: float | None) -> Parser:
        from cephtui.tools.copied import CopyParser

        findings = tuple(self._findings())
        return CopyParser(writes=self.writes(), block_bytes=self.block_bytes(), findings=findings)

    def times(self) -> tuple[float, float | None]:
        """There is no ramp, and it ends with its data."""
        return 0.0, None

    def describe(self) -> str:
        cached = "" if self.options["direct"] else ", through the page cache"
        return f"{self.options['mode']} blocks of {self.options['bs']}, one stream{cached}"

    def writes(self) -> bool:
        return self.options["mode"] == "write"

    @property
    def _source(self) -> str:
        return str(self.options.get("if", _ZERO))

    def _findings(self) -> Iterator[Finding]:
        """Findings that limit dd's figures."""
        from cephtui.models.findings.client import ONE_STREAM
        from cephtui.models.findings.data import RANDOM_DATA, ZEROS

        yield ONE_STREAM.found()
        if self.writes() and self._source == _ZERO:
            yield ZEROS.found()
        elif self.writes():
            yield RANDOM_DATA.found()
