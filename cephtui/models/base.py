"""What all models have in common: types with their bounds, and how they are validated."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema

from cephtui.frozen import dataclass
from cephtui.models.pydantic_private import use_no_plugins
from cephtui.printable import one_line, printable

use_no_plugins()
SCHEMA_VERSION = 1
"""The major version of every stored and printed object: keys may be added under it, never changed or removed."""
OVERHEAD_SECONDS = 1.0
"""Seconds that each step takes to start its commands and to end them."""
REPEATS_MOST = 1000
"""Repeats of a step at most."""
Outcome: TypeAlias = Literal["ok", "failed", "stopped", "lost", "refused"]
Kind: TypeAlias = Literal["file", "device", "rbd", "image", "pool", "host", "s3", "osd", "new-pool"]
"""What a target is to tools. ``rbd`` is images of cephtui's own in a pool, one for each job; ``image`` is one that
exists, for a single job; ``host`` is another node; ``new-pool`` is a pool of cephtui's own as a whole."""
Scheme: TypeAlias = Literal["file", "rbd", "krbd", "device", "pool", "cephfs", "host", "s3", "osd", "new-pool"]
"""What the name of a target begins with, before a colon."""
Phase: TypeAlias = Literal["prepare", "ramp", "run"]
NameKind: TypeAlias = Literal[
    "node", "address", "fsid", "pool", "image", "device", "path", "bucket", "rule", "profile", "user"
]
"""What a thing is that has a name of its own."""
Said: TypeAlias = NameKind | Literal["target"]
"""What a text is; that of a target, like others of the same shape, has several names in it."""
Quiet: TypeAlias = Literal["", "scrubs", "all"]
"""What of the cluster's own work is held back for a study: nothing, scrubs, or the balancer and the PG autoscaler as
well."""
QUIET_OPTIONS: Mapping[Quiet, str] = {"scrubs": "--quiet-cluster", "all": "--quiet-all"}
"""The option of a command line that holds it back."""
FIGURE_MOST = 1e60
"""A number above every figure; sums, quotients and squares of smaller ones are still finite."""
ELAPSED_MOST_SECONDS = 1e9
"""About thirty years: longer than any run."""
Line: TypeAlias = Annotated[str, AfterValidator(one_line)]
"""Text of any origin for display, on one line."""
Name: TypeAlias = Annotated[str, AfterValidator(printable)]
"""Text of any origin for display, with all its blanks; what commands are made of is a plain ``str``, and exact."""
NODES_MOST = 10_000
"""The greatest number of nodes of a run."""
OptionValue: TypeAlias = bool | Annotated[int, Field(gt=-(10**60))] | float | Name
Amount: TypeAlias = Annotated[float, Field(ge=0)]
Elapsed: TypeAlias = Annotated[float, Field(gt=-ELAPSED_MOST_SECONDS, lt=ELAPSED_MOST_SECONDS)]
_BOUNDS: Mapping[str, Mapping[str, Any]] = {
    "int": {"ge": 0, "lt": 10**60},
    "float": {"gt": -FIGURE_MOST, "lt": FIGURE_MOST, "allow_inf_nan": False},
    # far enough from the ends of the calendar for every time zone
    "datetime": {"ge": datetime(1970, 1, 1, tzinfo=UTC), "lt": datetime(3000, 1, 1, tzinfo=UTC)},
}
"""The bounds of every value of a type in a model, unless the field has its own."""


@dataclass(frozen=True, slots=True)
class NamesOf:
    """Says, beside the type of a field, what its texts, or the keys of its mapping, are names of.

    A text without it is words, in which names may be.
    """

    kind: Said


class Model(BaseModel):
    """Metadata: validated when read, unknown keys ignored so that newer minor versions stay readable.

    Whole numbers are counts and not negative; no number is infinite or none; times are of the years 1970 to 2999.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        json_schema_serialization_defaults_required=True,
        defer_build=True,  # most are not used before something is seen
    )

    def __hash__(self) -> int:
        """The hash of its plain values: mappings can be compared, but not hashed."""
        values = (getattr(self, name) for name in type(self).model_fields)
        return hash(tuple(value for value in values if isinstance(value, str | int | float)))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The fields' own schemas, with the bounds of their types."""
        schema = handler(source)
        _set_bounds(schema)
        return schema


def _set_bounds(schema: Any) -> None:
    """Set the bounds in a schema and in all its parts; a part that has its own bound keeps it."""
    if isinstance(schema, dict):
        for name, bound in _BOUNDS.get(str(schema.get("type")), {}).items():
            if not (name in ("ge", "gt") and schema.keys() & {"ge", "gt"}):
                schema.setdefault(name, bound)
    if isinstance(schema, dict | list | tuple):
        for part in schema.values() if isinstance(schema, dict) else schema:
            _set_bounds(part)
