"""What tools have in common that fill a file with dd before they measure: its command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cephtui.tools.base import OptionError, Parser, Workload
from cephtui.units import parse_size, short_size

if TYPE_CHECKING:
    from cephtui.models import Kind, Place

COPY_ARGV = ("env", "LC_ALL=C", "dd")
"""Begins a command whose output is read by ``cephtui.tools.copied``."""
PROGRESS = "status=progress"


def fill_argv(path: str, size_bytes: int) -> tuple[str, ...]:
    """Writes so many bytes of a file or device in full; data that compresses would read too fast."""
    count = f"count={size_bytes}"
    where = ("if=/dev/urandom", f"of={path}", "bs=1M", count, "iflag=count_bytes,fullblock")
    return (*COPY_ARGV, *where, "conv=notrunc,fsync", PROGRESS)


class FilledWorkload(Workload):
    """Reads what a copy has written in full before: what was never written is read from nowhere, and much too fast."""

    def prefill_argv(self, sizes: Sequence[int], place: Place) -> tuple[str, ...]:
        return fill_argv(place.path, sum(sizes))

    def prefill_parser(self) -> Parser:
        from cephtui.tools.copied import CopyParser

        return CopyParser()

    def needs_data(self, kind: Kind) -> bool:
        return not self.writes()

    def in_whole_blocks(self, size_option: str, default_span_bytes: int) -> int:
        """Bytes of the one region: what the option says, else the whole span; raises OptionError."""
        block = self.block_bytes()
        size = parse_size(str(self.options[size_option])) if size_option in self.options else default_span_bytes
        if size < block:
            raise OptionError(self.block_option, f"expected at most {short_size(size)}, the size of the target")
        return size - size % block
