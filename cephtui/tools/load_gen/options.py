"""rados load-gen: which options a preset may set, by rados's own long names; ``runtime`` is its ``run-length``."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from cephtui.tools.base import OptionError
from cephtui.tools.options import NUMBER, Size, ToolOptions, WholeRuntime
from cephtui.units import parse_size


class LoadGenOptions(ToolOptions):
    """The typed allow-list."""

    max_op_len: Size = Field("4M", alias="max-op-len", title="block size", description="bytes of the largest operation")
    max_ops: Annotated[int, Field(ge=1, le=65536), NUMBER] = Field(
        16, alias="max-ops", title="depth", description="operations in flight on each node"
    )
    runtime: WholeRuntime = Field(60, title="runtime", description="how long to measure")
    target_throughput: Size = Field(alias="target-throughput", description="limit in bytes per second")
    read_percent: Annotated[int, Field(ge=0, le=100), NUMBER] = Field(
        0, alias="read-percent", description="percent of the operations that are reads"
    )
    num_objects: Annotated[int | None, Field(ge=1, le=1_000_000), NUMBER] = Field(
        None, alias="num-objects", description="objects created before the run: 50, or as many as there is room for"
    )
    max_object_size: Size = Field("64M", alias="max-object-size", description="bytes of the largest object")
    min_object_size: Size = Field("64M", alias="min-object-size")
    min_op_len: Size = Field("4M", alias="min-op-len")
    offset_align: Size | None = Field(None, alias="offset-align")

    refused = (
        (r"pool|namespace|id|name|cluster|conf|keyring", "the target decides it (--target)"),
        (r"run-length", "use runtime for the length of the run"),
        (r"max-backlog", "cephtui allows the bytes of max-ops operations in flight"),
        (r"percent", "use read-percent"),
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        for what, least, most in (
            ("object-size", self.min_object_size, self.max_object_size),
            ("op-len", self.min_op_len, self.max_op_len),
        ):
            if parse_size(least) > parse_size(most):
                raise OptionError(f"max-{what}", f"expected at least min-{what} ({least}), got {most}")
        if parse_size(self.max_op_len) > parse_size(self.min_object_size):
            raise OptionError("max-op-len", f"expected at most min-object-size ({self.min_object_size})")
        return self
