"""``ceph tell osd.N bench``: the command line that has OSDs write in portions, and what that takes and does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cephtui.paths import packaged_text
from cephtui.tools.base import Parser, Workload
from cephtui.tools.load import Load
from cephtui.units import duration

if TYPE_CHECKING:
    from cephtui.models import Place

PORTION_MOST = 256 << 20
"""Bytes that an OSD is asked to write at once, at most."""
_SMALL_BLOCK, _SMALL_BLOCKS = 1 << 20, 3000
"""Of blocks of fewer bytes an OSD takes what is 30 s at 100 a second (``osd_bench_small_size_max_iops``)."""
_FIRST = 16
"""The first portion is that part of the largest: how fast the OSD is, is not known yet."""
_NAME = "cephtui-osd-bench"


def portion_most(block_bytes: int) -> int:
    """The most that an OSD is asked to write at once, in whole blocks of so many bytes."""
    blocks = PORTION_MOST // block_bytes
    return block_bytes * (min(blocks, _SMALL_BLOCKS) if block_bytes < _SMALL_BLOCK else blocks)


class OsdBenchWorkload(Workload):
    """OSD bench with its options."""

    block_option = "block-size"

    def jobs_and_size(self, default_span_bytes: int) -> tuple[int, int]:
        """One job, and the bytes that an OSD has written at most before it removes them."""
        return 1, portion_most(self.block_bytes())

    def argv(self, name: str, size_bytes: int, place: Place) -> tuple[str, ...]:
        from cephtui.ceph.commands import with_connection

        block, first, most = self._sizes()
        words = (place.osds, "yes" if self.options["together"] else "no", str(self.options["runtime"]))
        script = with_connection(packaged_text("cephtui.tools.osd_bench", "bench_on_node.py"))
        return ("python3", "-c", script, _NAME, place.ceph_id or "", *words, str(block), str(first), str(most))

    def display_command(self, argv: Sequence[str], place: Place) -> tuple[str, ...]:
        """The command of a first portion, on one of the OSDs."""
        block, first, _ = self._sizes()
        osd = place.osds if place.osds == "*" or place.osds.isdecimal() else "N"
        user = ("--id", place.ceph_id) if place.ceph_id else ()
        return ("ceph", *user, "tell", f"osd.{osd}", "bench", str(first), str(block))

    def parser(self, *, ramp: bool, seconds: float | None) -> Parser:
        from cephtui.tools.osd_bench.output import OsdBenchParser

        return OsdBenchParser(together=bool(self.options["together"]))

    def describe(self) -> str:
        order = "all together" if self.options["together"] else "one after the other"
        return f"{self.options['block-size']} writes, OSDs {order}, {duration(float(self.options['runtime']))}"

    def writes(self) -> bool:
        return True

    def load(self) -> Load:
        """Together they share disks, hosts and CPUs, which is another load; how many are in flight an OSD decides."""
        pattern = "write, together" if self.options["together"] else "write, in turn"
        return Load(self.block_bytes(), pattern, 0, 1, self.times()[1])

    def _sizes(self) -> tuple[int, int, int]:
        """Bytes of a block, of the first portion, and of one at most."""
        block = self.block_bytes()
        most = portion_most(block)
        return block, max(block, most // _FIRST // block * block), most
