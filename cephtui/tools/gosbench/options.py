"""gosbench: which options a preset may set, by the names of its config file.

``runtime`` is its ``stop_with_runtime``; ``objects`` and ``buckets`` are the ``number_min`` of these sections, and
sizes carry their unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from cephtui.models import OptionValue
from cephtui.tools.base import OptionError
from cephtui.tools.options import NUMBER, Size, explain, reason, seconds
from cephtui.units import parse_size, short_size

OBJECT_MOST = 5 << 30
"""Of one PUT."""
OBJECTS_MOST = 100_000
"""They are prepared one after the other."""
IN_FLIGHT_MOST = 4 << 30
"""A PUT holds its object in memory."""
WEIGHTS = ("write_weight", "read_weight", "delete_weight", "list_weight")
ABOUT = {
    "size_min": "bytes of an object",
    "parallel_clients": "operations in flight on each node",
    "runtime": "how long it measures",
    "write_weight": "share of PUT",
    "read_weight": "share of GET",
    "delete_weight": "share of DELETE",
    "list_weight": "share of LIST",
    "objects": "objects in each bucket",
    "buckets": "buckets of each node",
    "size_max": "bytes of the largest object, with size_distribution random",
    "size_distribution": "constant is size_min, random is between size_min and size_max",
    "stop_with_ops": "operations of each node after which it ends, instead of runtime",
}
"""What a user changes most, in this order."""
TITLES = {"size_min": "object size", "parallel_clients": "clients", "runtime": "runtime"}
_Weight = Annotated[int, Field(ge=0, le=1000), NUMBER]


class GosbenchOptions(BaseModel):
    """The typed allow-list."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    write_weight: _Weight = 0
    read_weight: _Weight = 0
    delete_weight: _Weight = 0
    list_weight: _Weight = 0
    size_min: Size = "4M"
    size_max: Size | None = None
    size_distribution: Literal["constant", "random"] = "constant"
    objects: Annotated[int, Field(ge=1, le=OBJECTS_MOST), NUMBER] = 100
    buckets: Annotated[int, Field(ge=1, le=1000), NUMBER] = 1
    parallel_clients: Annotated[int, Field(ge=1, le=4096), NUMBER] = 16
    runtime: Annotated[
        float | None,
        BeforeValidator(seconds),
        Field(ge=1, le=7 * 86400, description="seconds from 1, or a time such as 5m, 1h; at most 7 days"),
        NUMBER,
    ] = None
    """60 where there is no ``stop_with_ops`` either."""
    stop_with_ops: Annotated[int | None, Field(ge=1), NUMBER] = None


_REFUSED = (
    (
        r"s3_config|access_key|secret_key|region|endpoint|timeout|skipSSLverify|usePathStyle",
        "the target decides it (--target), and keys are never stored",
    ),
    (r"bucket_prefix|object_prefix|clean_after", "cephtui decides which buckets there are, and removes them"),
    (r"workers|workers_share_buckets", "each node has one worker, with buckets of its own (--node)"),
    (r"existing_read_weight", "the buckets are new: use read_weight, whose objects are written first"),
    (r"stop_with_runtime", "use runtime for the length of the run"),
    (r"number_min|number_max|number_distribution", "use objects and buckets for how many there are"),
    (r"unit", "sizes carry their unit: size_min = 4k"),
    (r"part_size", "gosbench takes it and does nothing with it"),
    (r"grafana_config", "cephtui draws the run itself"),
    (r"name", "it is the name of the preset"),
)


def reason_against(option: str) -> str | None:
    """Why a preset may not set an option that gosbench has; None for one that is not listed."""
    return reason(option, refused=_REFUSED)


def check(options: Mapping[str, object]) -> dict[str, OptionValue]:
    """One value per option, normalised; raises OptionError."""
    try:
        checked = GosbenchOptions.model_validate(dict(options))
    except ValidationError as error:
        raise explain(error, GosbenchOptions, refused=_REFUSED, verbs="") from None
    if not any(getattr(checked, weight) for weight in WEIGHTS):
        raise OptionError("write_weight", f"expected more than 0 for one of {', '.join(WEIGHTS)}")
    _check_sizes(checked)
    _check_end(checked)
    decided = {"runtime": 60.0} if checked.runtime is None and checked.stop_with_ops is None else {}
    return {**checked.model_dump(exclude_none=True), **decided}


def _check_sizes(checked: GosbenchOptions) -> None:
    least, most = parse_size(checked.size_min), parse_size(checked.size_max or checked.size_min)
    if checked.size_distribution == "random" and most <= least:
        raise OptionError("size_max", f"expected more than size_min ({checked.size_min}) with random sizes")
    if checked.size_distribution == "constant" and most != least:
        raise OptionError("size_max", "it is for size_distribution random: constant sizes are all size_min")
    if max(least, most) > OBJECT_MOST:
        raise OptionError("size_min", f"expected at most {short_size(OBJECT_MOST)}, which is the most of one PUT")
    if checked.parallel_clients * max(least, most) > IN_FLIGHT_MOST:
        fit = IN_FLIGHT_MOST // max(least, most)
        raise OptionError("parallel_clients", f"expected at most {fit} of such objects: all are held in memory")
    if checked.objects * checked.buckets > OBJECTS_MOST:
        raise OptionError("objects", f"expected at most {OBJECTS_MOST:,} in all buckets together")


def _check_end(checked: GosbenchOptions) -> None:
    """A worker takes its objects in turn: before each had its operation, the mix is not the one asked for."""
    if checked.stop_with_ops is None:
        return
    if checked.runtime is not None:
        raise OptionError("stop_with_ops", "expected either this or runtime: with both gosbench takes runtime")
    queue = checked.objects * checked.buckets
    if checked.stop_with_ops < queue:
        problem = f"{checked.stop_with_ops} operations end before each of {queue} objects had its own"
        raise OptionError("stop_with_ops", f"{problem}: expected {queue} or more, or use runtime")
