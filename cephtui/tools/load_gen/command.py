"""rados load-gen: the command line, and what it takes and does.

It takes no notice of ``-N``: its objects, ``obj-`` and 15 characters, are in no namespace. It removes them when it ends
by itself, and leaves them when it is ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cephtui.tools.base import OptionError, Parser, Workload
from cephtui.tools.load import Load, Rate
from cephtui.units import bandwidth, duration, parse_size
from cephtui.units import size as size_text

if TYPE_CHECKING:
    from cephtui.models import Place

_OBJECTS = 50
"""Objects by default, where there is room for them."""


class LoadGenWorkload(Workload):
    """load-gen with its options."""

    uses_span = True

    def jobs_and_size(self, default_span_bytes: int) -> tuple[int, int]:
        """All its objects in full, which are all that it writes: by default no more than there is room for."""
        object_bytes, fitting = self.object_bytes(), default_span_bytes // self.object_bytes()
        chosen = self.options.get("num-objects")
        number = min(_OBJECTS, max(fitting, 1)) if chosen is None else int(chosen)
        if number > fitting:
            problem = f"{number} of {self.options['max-object-size']} take {size_text(number * object_bytes)}"
            raise OptionError(
                "num-objects", f"{problem}, and there is room for {size_text(default_span_bytes)}: at most {fitting}"
            )
        return 1, number * object_bytes

    def argv(self, name: str, size_bytes: int, place: Place) -> tuple[str, ...]:
        """The command, with a limit of bytes in flight that never counts: else 10 MiB, whatever ``max-ops`` is."""
        sizes = ("min-object-size", "max-object-size", "min-op-len", "max-op-len", "offset-align")
        plain = ("max-ops", "read-percent")
        words = [(f"--{name}", str(self._bytes(name))) for name in sizes if name in self.options]
        words += [(f"--{name}", str(self.options[name])) for name in plain]
        words += [
            ("--num-objects", str(size_bytes // self.object_bytes())),
            ("--max-backlog", str(self._in_flight * self._bytes("max-op-len"))),
            ("--target-throughput", str(self._bytes("target-throughput"))),
            ("--run-length", str(self.options["runtime"])),
        ]
        user = ("--id", place.ceph_id) if place.ceph_id else ()
        return ("rados", *user, "-p", place.pool, "load-gen", *(word for pair in words for word in pair))

    def writes(self) -> bool:
        """Its objects, even where it only reads them."""
        return True

    def object_bytes(self) -> int:
        return self._bytes("max-object-size")

    def describe(self) -> str:
        reads = int(self.options["read-percent"])
        what = {0: "write", 100: "read"}.get(reads, f"{reads} % read")
        rate = bandwidth(float(self._bytes("target-throughput")))
        lasts = duration(float(self.options["runtime"]))
        return f"{self.options['max-op-len']} {what}, {self._in_flight} at once, at most {rate}, {lasts}"

    def load(self) -> Load:
        reads = int(self.options["read-percent"])
        pattern = {0: "randwrite", 100: "randread"}.get(reads, "randrw")
        most, option = float(self._bytes("target-throughput")), ("target-throughput",)
        rate = Rate(bandwidth_bytes=most, together=True, options=option, is_needed=True)
        return Load(self.block_bytes(), pattern, self._in_flight, 1, self.times()[1], rate)

    def block_bytes(self) -> int:
        most = self._bytes("max-op-len")
        return most if self._bytes("min-op-len") == most else 0

    def parser(self, *, ramp: bool, seconds: float | None) -> Parser:
        from cephtui.tools.load_gen.output import LoadGenParser

        return LoadGenParser(seconds)

    @property
    def _in_flight(self) -> int:
        return int(self.options["max-ops"])

    def _bytes(self, option: str) -> int:
        return parse_size(str(self.options[option]))
