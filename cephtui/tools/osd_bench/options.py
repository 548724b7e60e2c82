"""``ceph tell osd.N bench``: which options a preset may set. What it writes at once is cephtui's to decide."""

from typing import Self

from pydantic import Field, model_validator

from cephtui.tools.base import OptionError
from cephtui.tools.options import Size, ToolOptions, WholeRuntime
from cephtui.units import parse_size

BLOCK_LEAST, BLOCK_MOST = 512, 64 << 20
"""``osd_bench_max_block_size``: a larger block ends with EINVAL."""


class OsdBenchOptions(ToolOptions):
    """The typed allow-list."""

    block_size: Size = Field("4M", alias="block-size", title="block size", description="bytes of one write")
    runtime: WholeRuntime = Field(
        60, title="runtime", description="run time for all OSDs; each OSD writes at least once"
    )
    together: bool = Field(False, title="together", description="all OSDs at once instead of one after the other")

    refused = (
        (r"count|bytes|size|total", "cephtui lets OSDs write for about a second at a time: use runtime"),
        (r"object-?size|object-?num|objects", "each write is a new object"),
        (r"osd|host|class", "the target decides it (--target osd:N)"),
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not BLOCK_LEAST <= parse_size(self.block_size) <= BLOCK_MOST:
            problem = f"an OSD accepts 512 to 64M (osd_bench_max_block_size), got {self.block_size}"
            raise OptionError("block-size", problem)
        return self
