"""dd: which options a preset may set. Files and counts are cephtui's to decide, so few are dd's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cephtui.models import OptionValue
from cephtui.tools.base import OptionError
from cephtui.tools.options import Size, explain
from cephtui.units import parse_size

BLOCK_MOST = 1 << 30
"""dd holds a block in memory."""
_ALIGNED = 512
"""Direct I/O takes whole sectors."""
ABOUT = {
    "bs": "bytes of one I/O",
    "size": "how much it copies; the default is 1 GiB of a file, 10 GiB of a device",
    "direct": "past the page cache: oflag=direct, iflag=direct",
    "mode": "what it does; read reads a file that is written first",
    "if": "what it writes: zeros, or random data",
}
"""What a user changes most, in this order."""
TITLES = {"bs": "block size", "size": "size", "direct": "direct I/O"}


class DdOptions(BaseModel):
    """The typed allow-list."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    mode: Literal["read", "write"]
    bs: Size = "1M"
    size: Size | None = None
    direct: bool = True
    source: Annotated[Literal["/dev/zero", "/dev/urandom"] | None, Field(alias="if")] = None


_REFUSED = (
    (r"of|seek|skip|count|(i|o)?seek", "the target and size decide it (--target, size=1G)"),
    (r"iflag|oflag", "use direct=true or direct=false"),
    (r"conv", "cephtui writes into a file of its own (notrunc), and counts the time until it is on the disk (fsync)"),
    (r"ibs|obs|cbs", "use bs"),
    (r"status", "cephtui decides what dd prints"),
)


def check(options: Mapping[str, object]) -> dict[str, OptionValue]:
    """One value per option, normalised; raises OptionError."""
    try:
        checked = DdOptions.model_validate(dict(options))
    except ValidationError as error:
        raise explain(error, DdOptions, refused=_REFUSED, verbs="read, write") from None
    block = parse_size(checked.bs)
    if block > BLOCK_MOST:
        raise OptionError("bs", f"expected at most 1G, which dd holds in memory, got {checked.bs}")
    if checked.direct and block % _ALIGNED:
        raise OptionError("bs", f"expected a multiple of 512 with direct I/O, got {checked.bs}")
    if checked.size and parse_size(checked.size) < block:
        raise OptionError("size", f"expected at least one block of {checked.bs}, got {checked.size}")
    if checked.source and checked.mode == "read":
        raise OptionError("if", "a read is from the target: leave it out")
    return checked.model_dump(exclude_none=True, by_alias=True)
