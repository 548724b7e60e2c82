"""rbd bench: the command lines, and what they take and do.

It ends with its data (``--io-total``) and has no option for a time: so it gets more data than it can move, and is
ended by ``timeout``. Ended like that it prints its totals and has status 0, unless the signal reaches it twice: then it
dies at once, and its image stays in use for half a minute. ``timeout`` signals a process and then its group, hence
``--foreground``, and ``setsid`` against the one of the watchdog.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cephtui.tools.base import OptionError, Parser, Workload
from cephtui.tools.load import Load
from cephtui.units import duration, parse_size, short_size

if TYPE_CHECKING:
    from cephtui.models import Kind, Place

OPERATIONS_MOST = 2_000_000_000
"""rbd prints them as an int."""
_FILL_BLOCK, _FILL_IN_FLIGHT = 4 << 20, 16
_TIMEOUT = ("setsid", "-w", "timeout", "--foreground", "--preserve-status")
_GRACE_SECONDS = 10
"""After which it is killed, should I/Os in flight never complete."""


class RbdBenchWorkload(Workload):
    """rbd bench with its options."""

    block_option = "io-size"
    uses_span = True

    def jobs_and_size(self, default_span_bytes: int) -> tuple[int, int]:
        """One image, which is used as a whole."""
        image_bytes = parse_size(str(self.options["size"])) if "size" in self.options else default_span_bytes
        block = self.block_bytes()
        whole = math.lcm(block, _FILL_BLOCK)
        size = image_bytes - image_bytes % (whole if whole <= image_bytes else block)
        if not size:
            raise OptionError("io-size", f"expected at most {short_size(image_bytes)}, the size of the image")
        return 1, size

    def argv(self, name: str, size_bytes: int, place: Place) -> tuple[str, ...]:
        """The command; the image has its own size, whatever ``size_bytes`` are."""
        kind = str(self.options["io-type"])
        mix = ("--rw-mix-read", str(self.options["rw-mix-read"])) if "rw-mix-read" in self.options else ()
        total = self.block_bytes() * OPERATIONS_MOST
        words = _bench(place, kind, self.block_bytes(), self._in_flight, total, str(self.options["io-pattern"]))
        cache = "true" if self._cached else "false"
        until = (f"{float(self.options['runtime']):g}s", *words[:-1], *mix, f"--rbd-cache={cache}", words[-1])
        return (*_TIMEOUT, "-k", f"{_GRACE_SECONDS}s", *until)

    def prefill_argv(self, sizes: Sequence[int], place: Place) -> tuple[str, ...]:
        """``full-seq`` writes each block once, if they divide the size."""
        size = sum(sizes)
        block = min(_FILL_BLOCK, size & -size)
        words = _bench(place, "write", block, min(_FILL_IN_FLIGHT, size // block), size, "full-seq")
        return (*words[:-1], "--rbd-cache=false", words[-1])

    def writes(self) -> bool:
        return self.options["io-type"] != "read"

    def needs_data(self, kind: Kind) -> bool:
        """Holes of an image are read from nowhere, and a first write of an object is another than the next."""
        return True

    def describe(self) -> str:
        mix = f" {self.options['rw-mix-read']} % reads" if "rw-mix-read" in self.options else ""
        cached = ", rbd-cache" if self._cached else ""
        lasts = duration(float(self.options["runtime"]))
        pattern = f"{self.options['io-pattern']} {self.options['io-type']}{mix}"
        return f"{self.options['io-size']} {pattern}, depth {self._in_flight}{cached}, {lasts}"

    def load(self) -> Load:
        random = "rand" if self.options["io-pattern"] == "rand" else ""
        pattern, seconds = f"{random}{self.options['io-type']}", self.times()[1]
        return Load(self.block_bytes(), pattern, self._in_flight, 1, seconds, is_cached=self._cached)

    def parser(self, *, ramp: bool, seconds: float | None) -> Parser:
        from cephtui.tools.rbd_bench.output import RbdBenchParser

        return RbdBenchParser(seconds, cached=self._cached)

    def prefill_parser(self) -> Parser:
        from cephtui.tools.rbd_bench.output import RbdBenchParser

        return RbdBenchParser(None)

    @property
    def _in_flight(self) -> int:
        return int(self.options["io-threads"])

    @property
    def _cached(self) -> bool:
        return bool(self.options.get("rbd-cache"))


def _bench(place: Place, kind: str, block: int, in_flight: int, total: int, pattern: str) -> tuple[str, ...]:
    """The command, the image last; raises ValueError without exactly one."""
    (image,) = place.images
    user = ("--id", place.ceph_id) if place.ceph_id else ()
    size = ("--io-size", short_size(block).upper(), "--io-threads", str(in_flight), "--io-total", str(total))
    return ("rbd", *user, "bench", "--io-type", kind, *size, "--io-pattern", pattern, f"{place.pool}/{image}")
