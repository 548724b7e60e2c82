"""rados bench: which options a preset may set, and the command lines made of them.

Options keep rados's own long names (``rados --help``, "BENCH OPTIONS" and "GLOBAL OPTIONS"; ``--block-size`` is
``-b`` and ``--object-size`` is ``-O``). What is not in ``RadosBenchOptions`` cannot reach a command line.

All objects of a step are in a RADOS namespace of its own: ``rados cleanup`` cannot be trusted with anything else
(without the run's metadata, as after an abort, it takes every benchmark object of the host), and
``rados purge`` empties the whole pool whatever ``-N`` says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from cephtui.models import OptionValue
from cephtui.tools import Kind, OptionError, OptionField, Place, Sizing, V
from cephtui.tools.options import NUMBER, Size, explain, fields, seconds
from cephtui.tools.rados_bench_output import RadosBenchParser
from cephtui.units import duration, parse_size, short_size

RUN_NAME = "cephtui"
"""Of the object that says how many objects there are and how large; a namespace has one run's only."""
BLOCK_MOST = 90 << 20
"""``osd_max_write_size``: a larger write ends with ``(90) Message too long``."""
OBJECT_MOST = 128 << 20
"""``osd_max_object_size``."""
IN_FLIGHT_MOST = 4 << 30
"""rados holds every operation in flight in memory."""
OPERATIONS_MOST = 2_000_000_000
"""rados counts them in an int: over that it stops at once, and 2**32 objects are 0 to it, which means no limit."""
_FILL_IN_FLIGHT = 16
_FILL_MOST_BYTES = 64 << 30
_FIRST_BYTES, _PROBE_SECONDS = 256 << 20, 2
"""Enough to read for a moment, and for how long."""
_SLOWEST_FILL_BYTES_PER_SECOND = 1 << 20
_FILL_SECONDS_LEAST = 600


_SECONDS = "whole seconds, or a time such as 5m"
ABOUT = {
    "block-size": "bytes of one operation",
    "concurrent-ios": "operations in flight on each node",
    "runtime": "how long it measures",
    "mode": "what it does; seq and rand read objects that are written first",
    "object-size": "bytes of one object, where it takes several operations",
}
"""What a user changes most, in this order."""

Mode = Literal["write", "seq", "rand"]


class RadosBenchOptions(BaseModel):
    """The typed allow-list."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mode: Mode
    runtime: Annotated[int, BeforeValidator(seconds), Field(ge=1, le=7 * 86400, description=_SECONDS), NUMBER] = 60
    """Whole seconds: rados refuses others, and 0 would mean for ever."""
    concurrent_ios: Annotated[int, Field(ge=1, le=65536, alias="concurrent-ios"), NUMBER] = 16
    block_size: Annotated[Size, Field(alias="block-size")] = "4M"
    """Of one operation."""
    object_size: Annotated[Size | None, Field(alias="object-size")] = None
    """None is that of one operation."""
    no_hints: Annotated[bool | None, Field(alias="no-hints")] = None
    no_verify: Annotated[bool | None, Field(alias="no-verify")] = None


_NAMES = tuple(field.alias or name for name, field in RadosBenchOptions.model_fields.items())
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


def _rados_size(size_bytes: int) -> str:
    """rados knows ``4K`` and refuses ``4k``."""
    return short_size(size_bytes).upper()


def _object_bytes(options: Mapping[str, OptionValue]) -> int:
    return parse_size(str(options.get("object-size", options["block-size"])))


def _objects(options: Mapping[str, OptionValue], size_bytes: int) -> int:
    """How many objects so many bytes are; raises OptionError.

    A run begins as many operations as are to be in flight at once without looking at a limit: with fewer it would
    write more than it may, or read what is not there.
    """
    block, whole = parse_size(str(options["block-size"])), _object_bytes(options)
    most = OPERATIONS_MOST // (whole // block)
    objects = min(size_bytes // whole, most)
    wanted = -(-int(options["concurrent-ios"]) * block // whole)
    if objects < wanted:
        problem = f"{options['concurrent-ios']} at once need {short_size(wanted * whole)}"
        raise OptionError("concurrent-ios", f"{problem}, and there is room for {short_size(size_bytes)}")
    return objects


def rados(place: Place, *words: str) -> tuple[str, ...]:
    """A rados command on a place's own objects; raises ValueError where they are not told from others."""
    if not place.pool or not place.namespace:
        raise ValueError("expected a pool and a namespace")
    user = ("--id", place.ceph_id) if place.ceph_id else ()
    return ("rados", *user, "-p", place.pool, "-N", place.namespace, *words)


def list_argv(place: Place) -> tuple[str, ...]:
    """The command that prints the name of every object of a place, one a line."""
    return rados(place, "ls")


ABSENT_STATUS, OTHERS_STATUS = 66, 76
"""Of ``empty_argv``: nothing is there; what is there does not carry the mark."""

_CLAIM = r"""
mark=$1; shift
"$@" stat "$mark" >/dev/null 2>&1 && exit 0
left=$("$@" ls | wc -l; exit "${PIPESTATUS[0]}") || exit 1
[ "$left" -eq 0 ] || { echo "$left objects of others are in it" >&2; exit 76; }
"$@" create "$mark"
"""

_EMPTY = r"""
mark=$1; shift
# all but the mark
others() (
    set -o pipefail
    "$@" ls | { grep -Fxv -e "$mark" || [ $? -eq 1 ]; }
)
count() { others "$@" | wc -l; return "${PIPESTATUS[0]}"; }
if ! "$@" stat "$mark" >/dev/null 2>&1; then
    left=$("$@" ls | wc -l; exit "${PIPESTATUS[0]}") || exit 1
    echo "$left"
    [ "$left" -eq 0 ] && exit 66
    # it may have been the question that failed
    [ "$left" -eq "$(count "$@")" ] && exit 76
    exit 1
fi
before= most=200
while :; do
    left=$(count "$@") || exit 1
    [ "$left" -gt 0 ] || break
    # objects that come back as fast as they go are somebody's who is still at work
    [ -z "$before" ] || [ "$left" -lt "$before" ] || break
    before=$left
    # a batch ends at the first name that is gone already: the next round takes its rest
    [ "$left" -ge 1600 ] || most=$(( left / 8 + 1 ))
    others "$@" | xargs -r -d '\n' -n "$most" -P 8 "$@" rm --force-full --
done
echo "$left"
[ "$left" -eq 0 ] || exit 1
"$@" rm --force-full -- "$mark"
"""


def claim_argv(place: Place, mark: str) -> tuple[str, ...]:
    """The command that makes an object of this name the first of a place; it fails where others have objects there.

    No benchmark reads, writes or counts it.
    """
    return ("bash", "-c", _CLAIM, "cephtui-claim", mark, *rados(place))


def empty_argv(place: Place, mark: str) -> tuple[str, ...]:
    """The command that removes every object of a place that carries the mark, on a full pool too, the mark last.

    It prints how many others are left; status 0 only for none, with the reason on stderr otherwise, or one of the two
    above. It needs bash and GNU xargs, and takes a second for 400 to 2,000 objects.
    """
    return ("bash", "-c", _EMPTY, "cephtui-empty", mark, *rados(place))


class RadosBench:
    """The tool ``rados-bench``."""

    name = "rados-bench"
    of_ceph = True

    def canonical(self, options: Mapping[str, V]) -> dict[str, V]:
        """See Tool: each has one long name."""
        return dict(options)

    def check_options(self, options: Mapping[str, object]) -> dict[str, OptionValue]:
        """See Tool."""
        try:
            checked = RadosBenchOptions.model_validate(dict(options))
        except ValidationError as error:
            raise explain(error, names=_NAMES, refused=_REFUSED, verbs="write, seq, rand") from None
        _check_sizes(checked)
        if checked.no_verify and checked.mode == "write":
            raise OptionError("no-verify", "only seq and rand verify what they read")
        return checked.model_dump(exclude_none=True, by_alias=True)

    def fields(self) -> tuple[OptionField, ...]:
        """See Tool."""
        return fields(RadosBenchOptions, ABOUT)

    def check_version(self, text: str | None) -> str | None:
        """See Tool: any rados will do."""
        return None if text and text.strip() else "rados is not installed: apt-get install ceph-common"

    def fit(self, options: dict[str, OptionValue], kind: Kind) -> dict[str, OptionValue]:
        """See Tool: it writes and reads a pool's objects and nothing else."""
        if kind != "pool":
            raise OptionError("target", "rados bench measures a pool's objects: use --target pool:POOL")
        return options

    def jobs_and_size(self, options: Mapping[str, OptionValue], default_span_bytes: int) -> tuple[int, int]:
        """See Tool: one, in whole objects."""
        return 1, _objects(options, default_span_bytes) * _object_bytes(options)

    def argv(self, name: str, options: Mapping[str, OptionValue], size_bytes: int, place: Place) -> tuple[str, ...]:
        """See Tool: ``size_bytes`` bounds what a write run may leave, which may end it before its time."""
        mode = str(options["mode"])
        words = ["bench", str(options["runtime"]), mode, "-t", str(options["concurrent-ios"])]
        if mode == "write":
            words += self._written(options, _objects(options, size_bytes))
        return rados(place, *words, *self._flags(options), "--run-name", RUN_NAME, "--show-time")

    def fill_argv(
        self, options: Mapping[str, OptionValue], sizes: Sequence[int], place: Place, *, again: bool = False
    ) -> tuple[str, ...]:
        """See Tool: the write that reads need; it ends as soon as all objects are there.

        ``again`` is for a namespace that has been filled before, with more or fewer objects of the same size: they
        are written once more under the same names. Without it a second filling would leave the objects of the
        first where no read finds them.
        """
        size = sum(sizes)
        objects = _objects(options, size)
        operations = objects * (_object_bytes(options) // self.block_bytes(options))
        seconds = max(_FILL_SECONDS_LEAST, size // _SLOWEST_FILL_BYTES_PER_SECOND)
        words = ["bench", str(seconds), "write", "-t", str(min(_FILL_IN_FLIGHT, operations))]
        words += [*self._written(options, objects), *(["--reuse-bench"] if again else [])]
        hints = ["--no-hints"] if options.get("no-hints") else []
        return rados(place, *words, *hints, "--run-name", RUN_NAME, "--show-time")

    def sizing(self, options: Mapping[str, OptionValue], place: Place, most_bytes: int) -> Sizing | None:
        """See Tool: ``seq`` ends with its objects, and ``rand`` of a few would read from memory."""
        whole = _object_bytes(options)
        least = -(-int(options["concurrent-ios"]) * self.block_bytes(options) // whole) * whole
        first = max(least, min(most_bytes, _FIRST_BYTES) // whole * whole)
        words = ["bench", str(_PROBE_SECONDS), "seq", "-t", str(options["concurrent-ios"]), *self._flags(options)]
        return Sizing(
            first_bytes=first,
            most_bytes=max(first, min(most_bytes, _FILL_MOST_BYTES) // whole * whole),
            unit_bytes=whole,
            probe_argv=rados(place, *words, "--run-name", RUN_NAME, "--show-time"),
            refill_argv=lambda size: self.fill_argv(options, [size], place, again=True),
            run_seconds=float(options["runtime"]),
        )

    def _written(self, options: Mapping[str, OptionValue], objects: int) -> list[str]:
        sizes = ["-b", _rados_size(self.block_bytes(options))]
        if "object-size" in options:
            sizes += ["-O", _rados_size(_object_bytes(options))]
        return [*sizes, "--max-objects", str(objects), "--no-cleanup"]

    def _flags(self, options: Mapping[str, OptionValue]) -> list[str]:
        return [f"--{option}" for option in ("no-hints", "no-verify") if options.get(option)]

    def times(self, options: Mapping[str, OptionValue]) -> tuple[float, float | None]:
        """See Tool: there is no ramp."""
        return 0.0, float(options["runtime"])

    def most_seconds(self, options: Mapping[str, OptionValue]) -> float | None:
        """See Tool."""
        return float(options["runtime"])

    def writes(self, options: Mapping[str, OptionValue]) -> bool:
        """See Tool."""
        return options["mode"] == "write"

    def needs_data(self, options: Mapping[str, OptionValue], kind: Kind) -> bool:
        """See Tool: reads want what a write has left; a write makes new objects."""
        return not self.writes(options)

    def describe(self, options: Mapping[str, OptionValue]) -> str:
        """See Tool: ``4M seq, 16 at once, 60 s``."""
        size = options.get("object-size", options["block-size"])
        return f"{size} {options['mode']}, {options['concurrent-ios']} at once, {duration(float(options['runtime']))}"

    def block_bytes(self, options: Mapping[str, OptionValue]) -> int:
        """See Tool."""
        return parse_size(str(options["block-size"]))

    def entries(self, options: Mapping[str, OptionValue]) -> int:
        """See Tool."""
        return 1

    def parser(self, options: Mapping[str, OptionValue], *, ramp: bool, seconds: float | None) -> RadosBenchParser:
        """See Tool. A run of ``seq`` may end at any time, with its objects."""
        seconds = float(options["runtime"]) if options["mode"] == "rand" else None
        block, writes = self.block_bytes(options), self.writes(options)
        return RadosBenchParser(block_bytes=block, seconds=seconds, measures_writes=writes)
