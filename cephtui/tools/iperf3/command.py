"""iperf3: the command lines of client and server, and what they do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from cephtui.tools.base import Companion, OptionError, Parser, Workload
from cephtui.tools.load import Load
from cephtui.units import duration

if TYPE_CHECKING:
    from cephtui.models import Node, Place

_STREAMS_JSON = (3, 17)
"""The first version that prints JSON while it runs."""
_IDLE_SECONDS = 15
"""A server whose client never comes ends by itself."""
_CONNECT_MILLISECONDS = 5000
_FLAGS = {"zerocopy": "--zerocopy", "no-delay": "--no-delay"}
_DIRECTIONS = {"in": ("--reverse",), "both": ("--bidir",)}
_PATTERNS = {"out": "write", "in": "read", "both": "rw"}


@dataclass(frozen=True)
class Iperf3Workload(Workload):
    """iperf3 with its options."""

    as_json: bool = False
    """Whether its output is JSON; of a saved run the parser sees it."""

    def for_version(self, text: str) -> Self:
        """JSON has exact bytes and round-trip times, where it can be had while it runs."""
        version = re.search(r"(\d+)\.(\d+)", text)
        return replace(self, as_json=version is not None and (int(version[1]), int(version[2])) >= _STREAMS_JSON)

    def jobs_and_size(self, default_span_bytes: int) -> tuple[int, int]:
        """There is no data."""
        return 1, 0

    def argv(self, name: str, size_bytes: int, place: Place) -> tuple[str, ...]:
        """A line for each second and stream, at once; text in kbit, which has the most digits."""
        to = ("-c", self._address(place), *_port(place))
        lasts = ("-t", str(self.options["runtime"]), "-O", str(self.options["omit"]))
        streams = ("-P", str(self._streams)) if self._streams > 1 else ()
        sizes = [f"--{option}={self.options[option]}" for option in ("window", "length") if option in self.options]
        flags = [flag for option, flag in _FLAGS.items() if self.options.get(option)]
        prints = ("--json-stream",) if self.as_json else ("-V", "-f", "k")
        words = (*to, *lasts, *streams, *_DIRECTIONS.get(self._direction, ()), *sizes, *flags)
        return ("iperf3", *words, "--connect-timeout", str(_CONNECT_MILLISECONDS), "-i", "1", "--forceflush", *prints)

    def companions(self, nodes: Sequence[Node], place: Place) -> tuple[Companion, ...]:
        """A server for this one test, on this one address: it knows no password."""
        where = ("-B", self._address(place), *_port(place))
        argv = ("iperf3", "-s", "-1", *where, "--idle-timeout", str(_IDLE_SECONDS), "--forceflush")
        return (Companion("server", place.host, argv, ready="Server listening"),)

    def _address(self, place: Place) -> str:
        """The target's name where its addresses are not known yet; raises OptionError."""
        if not place.addresses:
            return place.host
        network = str(self.options["network"])
        address = place.addresses.get("") or place.addresses.get(network)
        if address is None:
            networks = " and ".join(f"the {name} network ({address})" for name, address in place.addresses.items())
            problem = f"{place.host} has no address in the {network} network, only in {networks}"
            raise OptionError("network", f"{problem}: name one with --target host:NODE@ADDRESS")
        return address

    def parser(self, *, ramp: bool, seconds: float | None) -> Parser:
        from cephtui.tools.iperf3.output import Iperf3Parser

        return Iperf3Parser(self._direction, self._streams)

    def times(self) -> tuple[float, float | None]:
        return float(self.options["omit"]), float(self.options["runtime"])

    def describe(self) -> str:
        """``out, 4 streams, public network, 10 s``."""
        streams = f"{self._streams} stream{'s' * (self._streams > 1)}"
        lasts = duration(float(self.options["runtime"]))
        return f"{self._direction}, {streams}, {self.options['network']} network, {lasts}"

    def writes(self) -> bool:
        return False

    def load(self) -> Load:
        return Load(0, _PATTERNS[self._direction], 1, self._streams, self.times()[1])

    @property
    def _direction(self) -> str:
        return str(self.options["direction"])

    @property
    def _streams(self) -> int:
        return int(self.options["parallel"])


def _port(place: Place) -> tuple[str, ...]:
    """The one that was free; none before that is known."""
    return ("-p", str(place.port)) if place.port else ()
