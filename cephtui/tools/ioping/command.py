"""ioping: the command lines, and what they take and do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cephtui.tools.filling import FilledWorkload
from cephtui.tools.load import Load, Rate
from cephtui.units import duration

if TYPE_CHECKING:
    from cephtui.models import Place
    from cephtui.tools.base import Parser


class IopingWorkload(FilledWorkload):
    """ioping with its options."""

    block_option = "size"
    uses_span = True

    def jobs_and_size(self, default_span_bytes: int) -> tuple[int, int]:
        """One region, in whole requests."""
        return 1, self.in_whole_blocks("work-size", default_span_bytes)

    def argv(self, name: str, size_bytes: int, place: Place) -> tuple[str, ...]:
        """A line for each request, with its exact time; the first is not counted."""
        flags = [f"-{letter}" for letter, option in (("L", "linear"),) if self.options.get(option)]
        interval = f"{round(float(self.options['interval']) * 1e6)}us"
        lasts = f"{round(float(self.options['runtime']) * 1000)}ms"
        words = ("-D", *flags, "-q", "-p", "1", "-i", interval, "-w", lasts, "-s", str(self.block_bytes()))
        return ("ioping", *words, "-S", str(size_bytes), place.path)

    def parser(self, *, ramp: bool, seconds: float | None) -> Parser:
        from cephtui.tools.ioping.output import IopingParser

        return IopingParser(self.block_bytes())

    def describe(self) -> str:
        interval = f"every {float(self.options['interval']):g} s"
        order = "in order" if self.options.get("linear") else "at random"
        return f"{self.options['size']} read {order} {interval}, {duration(float(self.options['runtime']))}"

    def load(self) -> Load:
        """A request each interval, or when the one before has ended."""
        pattern = "read" if self.options.get("linear") else "randread"
        rate = Rate(iops=1 / float(self.options["interval"]), options=("interval",), is_needed=True)
        return Load(self.block_bytes(), pattern, 1, 1, self.times()[1], rate, pauses=True)

    def writes(self) -> bool:
        return False
