"""dd: which options a preset may set. Files and counts are cephtui's to decide, so few are dd's own."""

from typing import Literal, Self

from pydantic import Field, model_validator

from cephtui.tools.base import OptionError
from cephtui.tools.options import Size, ToolOptions
from cephtui.units import parse_size

BLOCK_MOST = 1 << 30
"""dd holds a block in memory."""
_ALIGNED = 512
"""Direct I/O takes whole sectors."""


class DdOptions(ToolOptions):
    """The typed allow-list."""

    bs: Size = Field("1M", title="block size", description="bytes of one I/O")
    size: Size | None = Field(
        None,
        title="size",
        description="how much to copy; default: 1 GiB for a file, 10 GiB for a device",
    )
    direct: bool = Field(True, title="direct I/O", description="bypass the page cache: oflag=direct, iflag=direct")
    mode: Literal["read", "write"] = Field(description="read or write; read first writes the file that it reads")
    source: Literal["/dev/zero", "/dev/urandom"] | None = Field(
        None, alias="if", description="data to write: zeros, or random data"
    )

    refused = (
        (r"of|seek|skip|count|(i|o)?seek", "the target and size decide it (--target, size=1G)"),
        (r"iflag|oflag", "use direct=yes or direct=no"),
        (
            r"conv",
            "cephtui writes to a file of its own (notrunc), and measures until the data is on disk (fsync)",
        ),
        (r"ibs|obs|cbs", "use bs"),
        (r"status", "cephtui sets the output of dd"),
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        block = parse_size(self.bs)
        if block > BLOCK_MOST:
            raise OptionError("bs", f"expected at most 1G, which dd holds in memory, got {self.bs}")
        if self.direct and block % _ALIGNED:
            raise OptionError("bs", f"expected a multiple of 512 with direct I/O, got {self.bs}")
        if self.size and parse_size(self.size) < block:
            raise OptionError("size", f"expected at least one block of {self.bs}, got {self.size}")
        if self.source and self.mode == "read":
            raise OptionError("if", "a read comes from the target: leave it out")
        return self
