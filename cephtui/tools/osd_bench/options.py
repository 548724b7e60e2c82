"""``ceph tell osd.N bench``: which options a preset may set. What it writes at once is cephtui's to decide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cephtui.models import OptionValue
from cephtui.tools.base import OptionError
from cephtui.tools.options import Size, WholeRuntime, explain
from cephtui.units import parse_size

BLOCK_LEAST, BLOCK_MOST = 512, 64 << 20
"""``osd_bench_max_block_size``: a larger block ends with EINVAL."""
ABOUT = {
    "block-size": "bytes of one write",
    "runtime": "how long all of it takes; each OSD writes at least once",
    "together": "all OSDs at once instead of one after the other",
}
"""What a user changes most, in this order."""
TITLES = {"block-size": "block size", "runtime": "runtime", "together": "together"}


class OsdBenchOptions(BaseModel):
    """The typed allow-list."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    block_size: Annotated[Size, Field(alias="block-size")] = "4M"
    runtime: WholeRuntime = 60
    together: bool = False


_REFUSED = (
    (r"count|bytes|size|total", "cephtui has the OSDs write in portions of about a second: use runtime"),
    (r"object-?size|object-?num|objects", "each write is a new object"),
    (r"osd|host|class", "the target decides it (--target osd:N)"),
)


def check(options: Mapping[str, object]) -> dict[str, OptionValue]:
    """One value per option, normalised; raises OptionError."""
    try:
        checked = OsdBenchOptions.model_validate(dict(options))
    except ValidationError as error:
        raise explain(error, OsdBenchOptions, refused=_REFUSED, verbs="") from None
    if not BLOCK_LEAST <= parse_size(checked.block_size) <= BLOCK_MOST:
        problem = f"an OSD takes 512 to 64M at once (osd_bench_max_block_size), got {checked.block_size}"
        raise OptionError("block-size", problem)
    return checked.model_dump(exclude_none=True, by_alias=True)
