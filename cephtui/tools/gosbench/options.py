"""gosbench: which options a preset may set, by the names of its config file.

``runtime`` is its ``stop_with_runtime``; ``objects`` and ``buckets`` are the ``number_min`` of these sections, and
sizes carry their unit.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from cephtui.tools.base import OptionError
from cephtui.tools.options import NUMBER, Runtime, Size, ToolOptions
from cephtui.units import parse_size, short_size

OBJECT_MOST = 5 << 30
"""Bytes of one PUT, at most."""
OBJECTS_MOST = 100_000
"""They are prepared one after the other."""
IN_FLIGHT_MOST = 4 << 30
"""A PUT holds its object in memory."""
WEIGHTS = ("write_weight", "read_weight", "delete_weight", "list_weight")
_Weight = Annotated[int, Field(ge=0, le=1000), NUMBER]


class GosbenchOptions(ToolOptions):
    """The typed allow-list."""

    size_min: Size = Field("4M", title="object size", description="bytes of an object")
    parallel_clients: Annotated[int, Field(ge=1, le=4096), NUMBER] = Field(
        16, title="clients", description="operations in flight on each node"
    )
    runtime: Runtime | None = Field(None, title="runtime", description="how long to measure")
    """60 where there is no ``stop_with_ops`` either."""
    write_weight: _Weight = Field(0, description="share of PUT")
    read_weight: _Weight = Field(0, description="share of GET")
    delete_weight: _Weight = Field(0, description="share of DELETE")
    list_weight: _Weight = Field(0, description="share of LIST")
    objects: Annotated[int, Field(ge=1, le=OBJECTS_MOST), NUMBER] = Field(100, description="objects in each bucket")
    buckets: Annotated[int, Field(ge=1, le=1000), NUMBER] = Field(1, description="buckets of each node")
    size_max: Size | None = Field(None, description="bytes of the largest object, with size_distribution random")
    size_distribution: Literal["constant", "random"] = Field(
        "constant", description="constant is size_min, random is between size_min and size_max"
    )
    stop_with_ops: Annotated[int | None, Field(ge=1), NUMBER] = Field(
        None, description="end after this number of operations per node, instead of runtime"
    )

    refused = (
        (
            r"s3_config|access_key|secret_key|region|endpoint|timeout|skipSSLverify|usePathStyle",
            "the target decides it (--target), and keys are never stored",
        ),
        (r"bucket_prefix|object_prefix|clean_after", "cephtui creates and removes the buckets"),
        (r"workers|workers_share_buckets", "each node has one worker, with buckets of its own (--node)"),
        (r"existing_read_weight", "the buckets are new: use read_weight, whose objects are written first"),
        (r"stop_with_runtime", "use runtime for the length of the run"),
        (r"number_min|number_max|number_distribution", "use objects and buckets for their number"),
        (r"unit", "sizes carry their unit: size_min = 4k"),
        (r"part_size", "gosbench ignores it"),
        (r"grafana_config", "cephtui draws the run itself"),
        (r"name", "it is the name of the preset"),
    )

    @model_validator(mode="before")
    @classmethod
    def _with_an_end(cls, options: dict[str, Any]) -> dict[str, Any]:
        return options if {"runtime", "stop_with_ops"} & options.keys() else {**options, "runtime": 60}

    @model_validator(mode="after")
    def _check_weights(self) -> Self:
        if not any(getattr(self, weight) for weight in WEIGHTS):
            raise OptionError("write_weight", f"expected more than 0 for one of {', '.join(WEIGHTS)}")
        return self

    @model_validator(mode="after")
    def _check_sizes(self) -> Self:
        least, most = parse_size(self.size_min), parse_size(self.size_max or self.size_min)
        if self.size_distribution == "random" and most <= least:
            raise OptionError("size_max", f"expected more than size_min ({self.size_min}) with random sizes")
        if self.size_distribution == "constant" and most != least:
            raise OptionError("size_max", "it is for size_distribution random: constant sizes are all size_min")
        if max(least, most) > OBJECT_MOST:
            raise OptionError("size_min", f"expected at most {short_size(OBJECT_MOST)}, which is the most of one PUT")
        if self.parallel_clients * max(least, most) > IN_FLIGHT_MOST:
            fit = IN_FLIGHT_MOST // max(least, most)
            raise OptionError("parallel_clients", f"expected at most {fit} of such objects: all are held in memory")
        if self.objects * self.buckets > OBJECTS_MOST:
            raise OptionError("objects", f"expected at most {OBJECTS_MOST:,} in all buckets together")
        return self

    @model_validator(mode="after")
    def _check_end(self) -> Self:
        """A worker takes its objects in turn: before each had its operation, the mix is not the one asked for."""
        if self.stop_with_ops is None:
            return self
        if self.runtime is not None:
            raise OptionError("stop_with_ops", "expected either this or runtime: with both gosbench takes runtime")
        queue = self.objects * self.buckets
        if self.stop_with_ops < queue:
            problem = f"{self.stop_with_ops} operations are fewer than {queue} objects, one each"
            raise OptionError("stop_with_ops", f"{problem}: expected {queue} or more, or use runtime")
        return self
