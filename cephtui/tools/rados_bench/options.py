"""rados bench: which options a preset may set.

They keep rados's own long names (``rados --help``, "BENCH OPTIONS" and "GLOBAL OPTIONS"; ``--block-size`` is ``-b``
and ``--object-size`` is ``-O``). What is not in ``RadosBenchOptions`` cannot reach a command line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cephtui.models import OptionValue
from cephtui.tools.base import OptionError
from cephtui.tools.options import NUMBER, Size, WholeRuntime, explain, reason
from cephtui.units import parse_size, short_size

BLOCK_MOST = 90 << 20
"""``osd_max_write_size``: a larger write ends with ``(90) Message too long``."""
OBJECT_MOST = 128 << 20
"""``osd_max_object_size``."""
IN_FLIGHT_MOST = 4 << 30
"""rados holds every operation in flight in memory."""
ABOUT = {
    "block-size": "bytes of one operation",
    "concurrent-ios": "operations in flight on each node",
    "runtime": "how long it measures",
    "mode": "what it does; seq and rand read objects that are written first",
    "object-size": "bytes of one object, where it takes several operations",
}
"""What a user changes most, in this order."""
TITLES = {"block-size": "block size", "concurrent-ios": "depth", "runtime": "runtime"}

Mode = Literal["write", "seq", "rand"]


class RadosBenchOptions(BaseModel):
    """The typed allow-list."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    mode: Mode
    runtime: WholeRuntime = 60
    """Whole seconds: rados refuses others, and 0 would mean for ever."""
    concurrent_ios: Annotated[int, Field(ge=1, le=65536, alias="concurrent-ios"), NUMBER] = 16
    block_size: Annotated[Size, Field(alias="block-size")] = "4M"
    """Of one operation."""
    object_size: Annotated[Size | None, Field(alias="object-size")] = None
    """None is that of one operation."""
    no_hints: Annotated[bool | None, Field(alias="no-hints")] = None
    no_verify: Annotated[bool | None, Field(alias="no-verify")] = None


_REFUSED = (
    (
        r"pool|pgid|namespace|all|default|object-?locator|id|name|cluster|conf|keyring|target-.*|snap|snapid|create"
        r"|create-pool",
        "the target decides it (--target)",
    ),
    (
        r"run-name|no-cleanup|reuse-bench|max-objects|prefix|obj-name-file",
        "cephtui decides which objects there are, and removes them",
    ),
    (r"show-time|format|pretty-format|output|input-file", "cephtui decides what rados writes and how"),
    (r"striper|write-object|write-omap|write-xattr|with-clones|workers", "cephtui measures plain objects"),
    (r"force-full|yes-i-really.*|delete-after|setuser|setgroup", "it can harm data"),
)


def reason_against(option: str) -> str:
    """Why a preset can't have an option of rados, in words."""
    return reason(option, refused=_REFUSED, needless=()) or "cephtui does not set it"


def _check_sizes(checked: RadosBenchOptions) -> None:
    block, whole = parse_size(checked.block_size), parse_size(checked.object_size or checked.block_size)
    if block > BLOCK_MOST:
        raise OptionError(
            "block-size", f"Ceph takes at most {short_size(BLOCK_MOST)} at once, got {checked.block_size}"
        )
    if whole > OBJECT_MOST or whole % block:
        wanted = f"a multiple of block-size ({checked.block_size}) up to {short_size(OBJECT_MOST)}"
        raise OptionError("object-size", f"expected {wanted}, got {checked.object_size}")
    if checked.concurrent_ios * block > IN_FLIGHT_MOST:
        most = IN_FLIGHT_MOST // block
        raise OptionError("concurrent-ios", f"expected at most {most} of {checked.block_size}: all are held in memory")


def check(options: Mapping[str, object]) -> dict[str, OptionValue]:
    """One value per option, normalised; raises OptionError."""
    try:
        checked = RadosBenchOptions.model_validate(dict(options))
    except ValidationError as error:
        raise explain(error, RadosBenchOptions, refused=_REFUSED, verbs="write, seq, rand") from None
    _check_sizes(checked)
    if checked.no_verify and checked.mode == "write":
        raise OptionError("no-verify", "only seq and rand verify what they read")
    return checked.model_dump(exclude_none=True, by_alias=True)
