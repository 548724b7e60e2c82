"""rados load-gen: which options a preset may set, by rados's own long names; ``runtime`` is its ``run-length``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cephtui.models import OptionValue
from cephtui.tools.base import OptionError
from cephtui.tools.options import NUMBER, Size, WholeRuntime, explain
from cephtui.units import parse_size

ABOUT = {
    "max-op-len": "bytes of the largest operation",
    "max-ops": "operations in flight on each node",
    "runtime": "how long it measures",
    "target-throughput": "bytes a second at which it is held",
    "read-percent": "per cent of the operations that are reads",
    "num-objects": "objects that it makes before: 50, or as many as there is room for",
    "max-object-size": "bytes of the largest object",
}
"""What a user changes most, in this order."""
TITLES = {"max-op-len": "block size", "max-ops": "depth", "runtime": "runtime"}


class LoadGenOptions(BaseModel):
    """The typed allow-list."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    target_throughput: Annotated[Size, Field(alias="target-throughput")]
    runtime: WholeRuntime = 60
    read_percent: Annotated[int, Field(ge=0, le=100, alias="read-percent"), NUMBER] = 0
    num_objects: Annotated[int | None, Field(ge=1, le=1_000_000, alias="num-objects"), NUMBER] = None
    min_object_size: Annotated[Size, Field(alias="min-object-size")] = "64M"
    max_object_size: Annotated[Size, Field(alias="max-object-size")] = "64M"
    min_op_len: Annotated[Size, Field(alias="min-op-len")] = "4M"
    max_op_len: Annotated[Size, Field(alias="max-op-len")] = "4M"
    max_ops: Annotated[int, Field(ge=1, le=65536, alias="max-ops"), NUMBER] = 16
    offset_align: Annotated[Size | None, Field(alias="offset-align")] = None


_REFUSED = (
    (r"pool|namespace|id|name|cluster|conf|keyring", "the target decides it (--target)"),
    (r"run-length", "use runtime for the length of the run"),
    (r"max-backlog", "cephtui lets as much be in flight as max-ops operations have"),
    (r"percent", "use read-percent"),
)


def check(options: Mapping[str, object]) -> dict[str, OptionValue]:
    """One value per option, normalised; raises OptionError."""
    try:
        checked = LoadGenOptions.model_validate(dict(options))
    except ValidationError as error:
        raise explain(error, LoadGenOptions, refused=_REFUSED, verbs="a rate such as 100M") from None
    for what, least, most in (
        ("object-size", checked.min_object_size, checked.max_object_size),
        ("op-len", checked.min_op_len, checked.max_op_len),
    ):
        if parse_size(least) > parse_size(most):
            raise OptionError(f"max-{what}", f"expected at least min-{what} ({least}), got {most}")
    if parse_size(checked.max_op_len) > parse_size(checked.min_object_size):
        raise OptionError("max-op-len", f"expected at most min-object-size ({checked.min_object_size})")
    return checked.model_dump(exclude_none=True, by_alias=True)
