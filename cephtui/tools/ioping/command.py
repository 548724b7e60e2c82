"""ioping: the command lines, and what they take and do."""

from __future__ import annotations

from collections.abc import Sequence

from cephtui.models import Kind, Place
from cephtui.tools.base import OptionError, Parser, Workload
from cephtui.tools.filling import CopyParser, fill_argv
from cephtui.tools.load import Load, Rate
from cephtui.units import duration, parse_size, short_size


class IopingWorkload(Workload):
    """ioping with its options."""

    uses_span = True

    def jobs_and_size(self, default_span_bytes: int) -> tuple[int, int]:
        """One region, in whole requests."""
        block = self.block_bytes()
        asked = parse_size(str(self.options["work-size"])) if "work-size" in self.options else default_span_bytes
        if asked < block:
            raise OptionError("size", f"expected at most {short_size(asked)}, the size of the target")
        return 1, asked - asked % block

    def argv(self, name: str, size_bytes: int, place: Place) -> tuple[str, ...]:
        """A line for each request, with its exact time; the first is not counted."""
        asked = [f"-{letter}" for letter, option in (("L", "linear"),) if self.options.get(option)]
        each = f"{round(float(self.options['interval']) * 1e6)}us"
        lasts = f"{round(float(self.options['runtime']) * 1000)}ms"
        words = ("-D", *asked, "-q", "-p", "1", "-i", each, "-w", lasts, "-s", str(self.block_bytes()))
        return ("ioping", *words, "-S", str(size_bytes), place.path)

    def prefill_argv(self, sizes: Sequence[int], place: Place) -> tuple[str, ...]:
        """ioping writes nothing that could be read in full afterwards."""
        return fill_argv(place.path, sum(sizes))

    def prefill_parser(self) -> Parser:
        return CopyParser()

    def parser(self, *, ramp: bool, seconds: float | None) -> Parser:
        from cephtui.tools.ioping.output import IopingParser

        return IopingParser(self.block_bytes())

    def times(self) -> tuple[float, float | None]:
        """There is no ramp."""
        return 0.0, float(self.options["runtime"])

    def describe(self) -> str:
        each = f"every {float(self.options['interval']):g} s"
        order = "in order" if self.options.get("linear") else "at random"
        return f"{self.options['size']} read {order} {each}, {duration(float(self.options['runtime']))}"

    def load(self) -> Load:
        """A request each interval, or when the one before has ended."""
        pattern = "read" if self.options.get("linear") else "randread"
        rate = Rate(iops=1 / float(self.options["interval"]), options=("interval",), is_needed=True)
        return Load(self.block_bytes(), pattern, 1, 1, self.times()[1], rate, pauses=True)

    def block_bytes(self) -> int:
        return parse_size(str(self.options["size"]))

    def writes(self) -> bool:
        return False

    def needs_data(self, kind: Kind) -> bool:
        """What was never written is read from nowhere, and much too fast."""
        return True
