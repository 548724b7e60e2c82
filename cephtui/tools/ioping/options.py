"""ioping: which options a preset may set, by ioping's own long names; ``runtime`` is its ``work-time``."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from cephtui.tools.base import OptionError
from cephtui.tools.options import NUMBER, Runtime, Size, ToolOptions, worded
from cephtui.units import parse_size


class IopingOptions(ToolOptions):
    """The typed allow-list."""

    interval: Annotated[float, Field(ge=0.001, le=5), worded("0.001 to 5 seconds"), NUMBER] = Field(
        0.1, title="interval", description="from the start of one request to that of the next"
    )
    """It prints a line for each request: at most a thousand a second, and often enough not to be taken for stalled."""
    size: Size = Field("4k", title="block size", description="bytes of one request")
    runtime: Runtime = Field(60, title="runtime", description="how long to measure")
    work_size: Size | None = Field(None, alias="work-size", description="part of the target that is read")
    linear: bool | None = Field(None, description="sequential instead of random")

    refused = (
        (r"work-time|count", "use runtime for the length of the run"),
        (r"write|read-write|keep|sync|dsync", "cephtui uses ioping for reads only"),
        (r"cached|direct|async|nowait|hipri|rapid", "cephtui measures direct, synchronous reads"),
        (r"batch|time|json|print-.*|quiet|burst|warmup|min-time|max-time", "it distorts the results"),
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.work_size and parse_size(self.work_size) < parse_size(self.size):
            raise OptionError("work-size", f"expected at least one request of {self.size}, got {self.work_size}")
        return self
