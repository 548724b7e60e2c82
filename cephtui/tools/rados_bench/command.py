"""rados bench: the command lines, and what they take and do.

All objects of a step are in a RADOS namespace of its own: ``rados cleanup`` cannot be trusted with anything else
(without the run's metadata, as after an abort, it takes every benchmark object of the host), and
``rados purge`` empties the whole pool whatever ``-N`` is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cephtui.ceph.objects import rados
from cephtui.tools.base import OptionError, Parser, Workload
from cephtui.tools.load import Load, Sizing
from cephtui.units import duration, parse_size, short_size

if TYPE_CHECKING:
    from cephtui.models import Kind, Place

RUN_NAME = "cephtui"
"""The object with the number and size of the others; a namespace has one run's only."""
OPERATIONS_MOST = 2_000_000_000
"""rados counts them in an int: over that it stops at once, and 2**32 objects are 0 to it, which means no limit."""
_FILL_IN_FLIGHT = 16
_FILL_MOST_BYTES = 64 << 30
_FIRST_BYTES, _PROBE_SECONDS = 256 << 20, 2
"""Enough to read for a moment, and for how long."""
_SLOWEST_FILL_BYTES_PER_SECOND = 1 << 20
_FILL_SECONDS_LEAST = 600


def _rados_size(size_bytes: int) -> str:
    """rados knows ``4K`` and refuses ``4k``."""
    return short_size(size_bytes).upper()


class RadosBenchWorkload(Workload):
    """rados bench with its options."""

    block_option = "block-size"

    def jobs_and_size(self, default_span_bytes: int) -> tuple[int, int]:
        """One, in whole objects."""
        return 1, self._objects(default_span_bytes) * self._object_bytes

    def argv(self, name: str, size_bytes: int, place: Place) -> tuple[str, ...]:
        """``size_bytes`` bounds what a write run may leave, which may end it before its time."""
        mode = str(self.options["mode"])
        words = ["bench", str(self.options["runtime"]), mode, "-t", str(self._in_flight)]
        if mode == "write":
            words += self._written(self._objects(size_bytes))
        return rados(place, *words, *self._flags(), "--run-name", RUN_NAME, "--show-time")

    def prefill_argv(self, sizes: Sequence[int], place: Place, *, again: bool = False) -> tuple[str, ...]:
        """The write that reads need; it ends as soon as all objects are there.

        ``again`` is for a namespace that has been prefilled before, with more or fewer objects of the same size: they
        are written once more under the same names. Without it a second prefill would leave the objects of the
        first where no read finds them.
        """
        size = sum(sizes)
        objects = self._objects(size)
        operations = objects * (self._object_bytes // self.block_bytes())
        seconds = max(_FILL_SECONDS_LEAST, size // _SLOWEST_FILL_BYTES_PER_SECOND)
        words = ["bench", str(seconds), "write", "-t", str(min(_FILL_IN_FLIGHT, operations))]
        words += [*self._written(objects), *(["--reuse-bench"] if again else [])]
        hints = ["--no-hints"] if self.options.get("no-hints") else []
        return rados(place, *words, *hints, "--run-name", RUN_NAME, "--show-time")

    def sizing(self, place: Place, most_bytes: int) -> Sizing | None:
        """``seq`` ends with its objects, and ``rand`` of a few would read from memory."""
        whole = self._object_bytes
        least = -(-self._in_flight * self.block_bytes() // whole) * whole
        first = max(least, min(most_bytes, _FIRST_BYTES) // whole * whole)
        words = ["bench", str(_PROBE_SECONDS), "seq", "-t", str(self._in_flight), *self._flags()]
        return Sizing(
            first_bytes=first,
            most_bytes=max(first, min(most_bytes, _FILL_MOST_BYTES) // whole * whole),
            unit_bytes=whole,
            probe_argv=rados(place, *words, "--run-name", RUN_NAME, "--show-time"),
            prefill_again_argv=lambda size: self.prefill_argv([size], place, again=True),
            run_seconds=float(self.options["runtime"]),
        )

    def writes(self) -> bool:
        return self.options["mode"] == "write"

    def needs_data(self, kind: Kind) -> bool:
        """Reads want what a write has left; a write makes new objects."""
        return not self.writes()

    def describe(self) -> str:
        lasts = duration(float(self.options["runtime"]))
        return f"{self.options['block-size']} {self.options['mode']}, {self.options['concurrent-ios']} at once, {lasts}"

    def load(self) -> Load:
        return Load(self.block_bytes(), str(self.options["mode"]), self._in_flight, 1, self.times()[1])

    def parser(self, *, ramp: bool, seconds: float | None) -> Parser:
        """A run of ``seq`` may end at any time, with its objects."""
        seconds = float(self.options["runtime"]) if self.options["mode"] == "rand" else None
        from cephtui.tools.rados_bench.output import RadosBenchParser

        return RadosBenchParser(block_bytes=self.block_bytes(), seconds=seconds, measures_writes=self.writes())

    @property
    def _in_flight(self) -> int:
        return int(self.options["concurrent-ios"])

    @property
    def _object_bytes(self) -> int:
        return parse_size(str(self.options.get("object-size", self.options["block-size"])))

    def _objects(self, size_bytes: int) -> int:
        """How many objects so many bytes are; raises OptionError.

        A run begins as many operations as are to be in flight at once without looking at a limit: with fewer it would
        write more than it may, or read what is not there.
        """
        block, whole = self.block_bytes(), self._object_bytes
        most = OPERATIONS_MOST // (whole // block)
        objects = min(size_bytes // whole, most)
        least = -(-self._in_flight * block // whole)
        if objects < least:
            problem = f"{self._in_flight} at once need {short_size(least * whole)}"
            raise OptionError("concurrent-ios", f"{problem}, and there is room for {short_size(size_bytes)}")
        return objects

    def _written(self, objects: int) -> list[str]:
        sizes = ["-b", _rados_size(self.block_bytes())]
        if "object-size" in self.options:
            sizes += ["-O", _rados_size(self._object_bytes)]
        return [*sizes, "--max-objects", str(objects), "--no-cleanup"]

    def _flags(self) -> list[str]:
        return [f"--{option}" for option in ("no-hints", "no-verify") if self.options.get(option)]
