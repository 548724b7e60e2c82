"""rados bench: which options a preset may set.

They keep rados's own long names (``rados --help``, "BENCH OPTIONS" and "GLOBAL OPTIONS"; ``--block-size`` is ``-b``
and ``--object-size`` is ``-O``). What is not in ``RadosBenchOptions`` cannot reach a command line.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from cephtui.tools.base import OptionError
from cephtui.tools.options import NUMBER, Size, ToolOptions, WholeRuntime
from cephtui.units import parse_size, short_size

BLOCK_MOST = 90 << 20
"""``osd_max_write_size``: a larger write ends with ``(90) Message too long``."""
OBJECT_MOST = 128 << 20
"""``osd_max_object_size``."""
IN_FLIGHT_MOST = 4 << 30
"""rados holds every operation in flight in memory."""


class RadosBenchOptions(ToolOptions):
    """The typed allow-list."""

    block_size: Size = Field("4M", alias="block-size", title="block size", description="bytes of one operation")
    concurrent_ios: Annotated[int, Field(ge=1, le=65536), NUMBER] = Field(
        16, alias="concurrent-ios", title="depth", description="operations in flight on each node"
    )
    runtime: WholeRuntime = Field(60, title="runtime", description="how long to measure")
    """Whole seconds: rados refuses others, and 0 would mean for ever."""
    mode: Literal["write", "seq", "rand"] = Field(
        description="write, or read with seq and rand, which first write their objects"
    )
    object_size: Size | None = Field(
        None, alias="object-size", description="bytes of one object, if it takes several operations"
    )
    """None is that of one operation."""
    no_hints: bool | None = Field(None, alias="no-hints")
    no_verify: bool | None = Field(None, alias="no-verify")

    refused = (
        (
            r"pool|pgid|namespace|all|default|object-?locator|id|name|cluster|conf|keyring|target-.*|snap|snapid|create"
            r"|create-pool",
            "the target decides it (--target)",
        ),
        (
            r"run-name|no-cleanup|reuse-bench|max-objects|prefix|obj-name-file",
            "cephtui names and removes the objects",
        ),
        (r"show-time|format|pretty-format|output|input-file", "cephtui sets what rados writes and how"),
        (r"striper|write-object|write-omap|write-xattr|with-clones|workers", "cephtui measures plain objects"),
        (r"force-full|yes-i-really.*|delete-after|setuser|setgroup", "it can harm data"),
    )

    @model_validator(mode="after")
    def _check_sizes(self) -> Self:
        block, whole = parse_size(self.block_size), parse_size(self.object_size or self.block_size)
        if block > BLOCK_MOST:
            raise OptionError(
                "block-size", f"Ceph accepts at most {short_size(BLOCK_MOST)} per operation, got {self.block_size}"
            )
        if whole > OBJECT_MOST or whole % block:
            expected = f"a multiple of block-size ({self.block_size}) up to {short_size(OBJECT_MOST)}"
            raise OptionError("object-size", f"expected {expected}, got {self.object_size}")
        if self.concurrent_ios * block > IN_FLIGHT_MOST:
            most = IN_FLIGHT_MOST // block
            raise OptionError("concurrent-ios", f"expected at most {most} of {self.block_size}: all are held in memory")
        return self

    @model_validator(mode="after")
    def _check_mode(self) -> Self:
        if self.no_verify and self.mode == "write":
            raise OptionError("no-verify", "only seq and rand verify what they read")
        return self
