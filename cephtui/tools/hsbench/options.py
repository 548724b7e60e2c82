"""hsbench: which options a preset may set, by words for its one-letter options."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from cephtui.tools.base import OptionError
from cephtui.tools.options import NUMBER, DayRuntime, Size, ToolOptions, worded
from cephtui.units import parse_size

OBJECT_MOST = 5 << 30
"""Bytes of one PUT, at most; larger objects are uploaded in parts, which hsbench does not do."""
_MODES = "p (PUT) first, then any of l (LIST), g (GET) and d (DELETE), each once: plgd"


def _modes(value: str) -> str:
    """The modes: what is read, listed or deleted has to be written before, in the same process."""
    if value[:1] != "p" or not set(value) <= set("plgd") or len(set(value)) < len(value):
        raise ValueError(f"expected {_MODES}")
    return value


class HsbenchOptions(ToolOptions):
    """The typed allow-list."""

    size: Size = Field("4M", title="object size", description="bytes of one object")
    threads: Annotated[int, Field(ge=1, le=4096), NUMBER] = Field(
        16, title="depth", description="requests in flight on each node"
    )
    runtime: DayRuntime = Field(60, title="runtime", description="maximum run time of each operation")
    modes: Annotated[str, AfterValidator(_modes), worded(_MODES)] = Field(
        "plgd", description="the operations, in their order"
    )
    buckets: Annotated[int, Field(ge=1, le=100), NUMBER] = Field(1, description="buckets of each node")

    refused = (
        (
            r"[asu]|access.*|secret.*|url|endpoint",
            "the target decides it (--target), and its keys are in the config",
        ),
        (r"bp|op|bucket.prefix|object.prefix", "cephtui names and removes the buckets"),
        (r"[cxi]", "cephtui creates and removes the buckets"),
        (r"[ojl]|output|json|loops|ri|interval|n|objects", "it distorts the results"),
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if parse_size(self.size) > OBJECT_MOST:
            raise OptionError("size", f"S3 takes at most 5G in one PUT, got {self.size}")
        return self
