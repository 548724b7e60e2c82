"""hsbench: which options a preset may set, by words for its one-letter options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from cephtui.models import OptionValue
from cephtui.tools.base import OptionError
from cephtui.tools.options import NUMBER, Size, explain, seconds
from cephtui.units import parse_size

OBJECT_MOST = 5 << 30
"""Of one PUT; larger objects are uploaded in parts, which hsbench does not do."""
_SECONDS = "whole seconds from 1, or a time such as 5m; at most 1 day"
_MODES = "p (PUT) first, then any of l (LIST), g (GET) and d (DELETE), each once: plgd"
ABOUT = {
    "size": "bytes of one object",
    "threads": "requests in flight on each node",
    "runtime": "how long each operation is measured at most",
    "modes": "the operations, in their order",
    "buckets": "how many buckets each node spreads its objects over",
}
"""What a user changes most, in this order."""
TITLES = {"size": "object size", "threads": "depth", "runtime": "runtime"}


def _modes(value: str) -> str:
    """What is read, listed or deleted has to be written before, in the same process."""
    if value[:1] != "p" or not set(value) <= set("plgd") or len(set(value)) < len(value):
        raise ValueError(f"expected {_MODES}")
    return value


class HsbenchOptions(BaseModel):
    """The typed allow-list."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    modes: Annotated[str, AfterValidator(_modes), Field(description=_MODES)] = "plgd"
    threads: Annotated[int, Field(ge=1, le=4096), NUMBER] = 16
    size: Size = "4M"
    runtime: Annotated[int, BeforeValidator(seconds), Field(ge=1, le=86400, description=_SECONDS), NUMBER] = 60
    buckets: Annotated[int, Field(ge=1, le=100), NUMBER] = 1


_REFUSED = (
    (r"[asu]|access.*|secret.*|url|endpoint", "the target decides it (--target), and where its keys are the config"),
    (r"bp|op|bucket.prefix|object.prefix", "cephtui decides the names of buckets, and removes them"),
    (r"[cxi]", "cephtui makes and removes the buckets"),
    (r"[ojl]|output|json|loops|ri|interval|n|objects", "it distorts the results"),
)


def check(options: Mapping[str, object]) -> dict[str, OptionValue]:
    """One value per option, normalised; raises OptionError."""
    try:
        checked = HsbenchOptions.model_validate(dict(options))
    except ValidationError as error:
        raise explain(error, HsbenchOptions, refused=_REFUSED, verbs="") from None
    if parse_size(checked.size) > OBJECT_MOST:
        raise OptionError("size", f"S3 takes at most 5G in one PUT, got {checked.size}")
    return checked.model_dump(exclude_none=True, by_alias=True)
