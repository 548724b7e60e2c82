"""rbd bench: which options a preset may set, by rbd's own long names; ``runtime`` and ``size`` are cephtui's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cephtui.models import OptionValue
from cephtui.tools.base import OptionError
from cephtui.tools.options import NUMBER, Runtime, Size, explain
from cephtui.units import parse_size

IN_FLIGHT_MOST = 4 << 30
"""rbd holds every I/O in flight in memory."""
ABOUT = {
    "io-size": "bytes of one I/O",
    "io-threads": "I/Os in flight on each node; they are not threads",
    "runtime": "how long it measures",
    "io-type": "what it does; rw mixes reads and writes",
    "io-pattern": "rand, or seq: each of the I/Os in flight in a region of its own",
    "size": "bytes of the image of each node",
}
"""What a user changes most, in this order."""
TITLES = {"io-size": "block size", "io-threads": "depth", "runtime": "runtime"}


class RbdBenchOptions(BaseModel):
    """The typed allow-list."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    io_type: Annotated[Literal["write", "read", "rw"], Field(alias="io-type")]
    runtime: Runtime = 60
    io_size: Annotated[Size, Field(alias="io-size")] = "4k"
    io_threads: Annotated[int, Field(ge=1, le=65536, alias="io-threads"), NUMBER] = 16
    io_pattern: Annotated[Literal["seq", "rand"], Field(alias="io-pattern")] = "seq"
    rw_mix_read: Annotated[int | None, Field(ge=0, le=100, alias="rw-mix-read"), NUMBER] = None
    """Per cent of rw that are reads; None is rbd's own 50."""
    size: Size | None = None
    rbd_cache: Annotated[bool | None, Field(alias="rbd-cache")] = None
    """None is without it."""


_REFUSED = (
    (r"io-total", "use runtime for the length of the run"),
    (r"pool|namespace|image|image-spec|id|name|cluster|conf|keyring|mon-host|user", "the target decides it (--target)"),
    (r"rbd[-_].*|debug[-_].*|log[-_].*", "it is a setting of Ceph: ceph config set client"),
)


def check(options: Mapping[str, object]) -> dict[str, OptionValue]:
    """One value per option, normalised; raises OptionError."""
    try:
        checked = RbdBenchOptions.model_validate(dict(options))
    except ValidationError as error:
        raise explain(error, RbdBenchOptions, refused=_REFUSED, verbs="write, read, rw") from None
    if checked.rw_mix_read is not None and checked.io_type != "rw":
        raise OptionError("rw-mix-read", "only io-type=rw mixes reads and writes")
    if checked.io_threads * parse_size(checked.io_size) > IN_FLIGHT_MOST:
        most = IN_FLIGHT_MOST // parse_size(checked.io_size)
        raise OptionError("io-threads", f"expected at most {most} of {checked.io_size}: all are held in memory")
    return checked.model_dump(exclude_none=True, by_alias=True)
