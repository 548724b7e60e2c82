"""hsbench: the command line, and what it takes and does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cephtui.paths import packaged_text
from cephtui.tools.base import Parser, Workload
from cephtui.tools.load import Load
from cephtui.units import duration

if TYPE_CHECKING:
    from cephtui.models import Place

START = "cephtui-keys"
"""Behind it is hsbench's own command line."""
_KEYS_IN_MEMORY = packaged_text("cephtui.tools.hsbench", "keys_in_memory.sh")
_OPERATIONS = {"p": "PUT", "l": "LIST", "g": "GET", "d": "DELETE"}
_UNTIMED_SECONDS = 120.0
"""Seconds for making the buckets and listing them, which have no bound of their own."""


class HsbenchWorkload(Workload):
    """hsbench with its options."""

    block_option = "size"

    def argv(self, name: str, size_bytes: int, place: Place) -> tuple[str, ...]:
        """Its own default operations would delete all objects of the buckets that they find: they are always named.

        How many objects there may be is never given: it would read and delete beyond those that it has written.
        """
        where = ("-u", place.endpoint, "-bp", place.bucket_prefix, "-b", str(self.options["buckets"]))
        load = ("-m", f"i{self._modes}", "-d", str(self.options["runtime"]), "-t", str(self.options["threads"]))
        command = ("hsbench", *where, *load, "-z", f"{self.block_bytes()}B")
        return ("bash", "-c", _KEYS_IN_MEMORY, START, *command)

    def display_command(self, argv: Sequence[str], place: Place) -> tuple[str, ...]:
        """The command without the script that hands over the keys."""
        return tuple(argv[argv.index(START) + 1 :])

    def parser(self, *, ramp: bool, seconds: float | None) -> Parser:
        from cephtui.tools.hsbench.output import HsbenchParser

        return HsbenchParser(self.block_bytes(), int(self.options["threads"]))

    def times(self) -> tuple[float, float | None]:
        """There is no ramp; what reads and deletes ends with the objects that were written."""
        return 0.0, None

    def most_seconds(self) -> float:
        timed = sum(mode != "l" for mode in self._modes)
        return timed * float(self.options["runtime"]) + _UNTIMED_SECONDS

    def describe(self) -> str:
        *before, last = [_OPERATIONS[mode] for mode in self._modes]
        named = f"{', '.join(before)} and {last}" if before else last
        objects = f"{self.options['size']} objects, {self.options['threads']} threads"
        return f"{named} of {objects}, up to {duration(float(self.options['runtime']))} each"

    def writes(self) -> bool:
        return True

    def load(self) -> Load:
        moves = [mode for mode in self._modes if mode in "pg"]
        pattern = "mixed" if len(moves) > 1 else "read" if moves == ["g"] else "write"
        return Load(self.block_bytes(), pattern, int(self.options["threads"]), 1, None)

    @property
    def _modes(self) -> str:
        return str(self.options["modes"])
