"""rbd bench: which options a preset may set, by rbd's own long names; ``runtime`` and ``size`` are cephtui's."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from cephtui.tools.base import OptionError
from cephtui.tools.options import NUMBER, Runtime, Size, ToolOptions
from cephtui.units import parse_size

IN_FLIGHT_MOST = 4 << 30
"""rbd holds every I/O in flight in memory."""


class RbdBenchOptions(ToolOptions):
    """The typed allow-list."""

    io_size: Size = Field("4k", alias="io-size", title="block size", description="bytes of one I/O")
    io_threads: Annotated[int, Field(ge=1, le=65536), NUMBER] = Field(
        16, alias="io-threads", title="depth", description="I/Os in flight on each node (not threads)"
    )
    runtime: Runtime = Field(60, title="runtime", description="how long to measure")
    io_type: Literal["write", "read", "rw"] = Field(alias="io-type", description="read, write or rw, which mixes both")
    io_pattern: Literal["seq", "rand"] = Field(
        "seq", alias="io-pattern", description="rand, or seq with a separate region for each I/O in flight"
    )
    size: Size | None = Field(None, description="bytes of the image of each node")
    rw_mix_read: Annotated[int | None, Field(ge=0, le=100), NUMBER] = Field(None, alias="rw-mix-read")
    """Percent of rw that are reads; None is rbd's own 50."""
    rbd_cache: bool | None = Field(None, alias="rbd-cache")
    """None is without it."""

    refused = (
        (r"io-total", "use runtime for the length of the run"),
        (
            r"pool|namespace|image|image-spec|id|name|cluster|conf|keyring|mon-host|user",
            "the target decides it (--target)",
        ),
        (r"rbd[-_].*|debug[-_].*|log[-_].*", "it is a setting of Ceph: ceph config set client"),
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.rw_mix_read is not None and self.io_type != "rw":
            raise OptionError("rw-mix-read", "only io-type=rw mixes reads and writes")
        block = parse_size(self.io_size)
        if self.io_threads * block > IN_FLIGHT_MOST:
            most = IN_FLIGHT_MOST // block
            raise OptionError("io-threads", f"expected at most {most} of {self.io_size}: all are held in memory")
        return self
