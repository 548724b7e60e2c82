"""ioping: which options a preset may set, by ioping's own long names; ``runtime`` is its ``work-time``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cephtui.models import OptionValue
from cephtui.tools.base import OptionError
from cephtui.tools.options import NUMBER, Runtime, Size, explain
from cephtui.units import parse_size

ABOUT = {
    "interval": "from the start of one request to that of the next",
    "size": "bytes of one request",
    "runtime": "how long it measures",
    "work-size": "how much of the target it reads",
    "linear": "one after the other instead of at random",
}
"""What a user changes most, in this order."""
TITLES = {"interval": "interval", "size": "block size", "runtime": "runtime"}


class IopingOptions(BaseModel):
    """The typed allow-list."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    runtime: Runtime = 60
    interval: Annotated[float, Field(ge=0.001, le=5, description="0.001 to 5 seconds"), NUMBER] = 0.1
    """It prints a line for each request: at most a thousand a second, and often enough not to be taken for stalled."""
    size: Size = "4k"
    work_size: Annotated[Size | None, Field(alias="work-size")] = None
    linear: bool | None = None


_REFUSED = (
    (r"work-time|count", "use runtime for the length of the run"),
    (r"write|read-write|keep|sync|dsync", "cephtui has ioping read only"),
    (r"cached|direct|async|nowait|hipri|rapid", "cephtui measures direct, synchronous reads"),
    (r"batch|time|json|print-.*|quiet|burst|warmup|min-time|max-time", "it distorts the results"),
)


def check(options: Mapping[str, object]) -> dict[str, OptionValue]:
    """One value per option, normalised; raises OptionError."""
    try:
        checked = IopingOptions.model_validate(dict(options))
    except ValidationError as error:
        raise explain(error, IopingOptions, refused=_REFUSED, verbs="") from None
    if checked.work_size and parse_size(checked.work_size) < parse_size(checked.size):
        raise OptionError("work-size", f"expected at least one request of {checked.size}, got {checked.work_size}")
    return checked.model_dump(exclude_none=True, by_alias=True)
