"""What a run can be at most: a figure, its bound, and what the bound rests on."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from pydantic import Field

from cephtui.models.base import Amount, Line, Model, Name
from cephtui.models.metrics import BY_NAME, Metric

Limit: TypeAlias = Literal["the rate that is set", "rbd_qos", "network", "OSDs", "depth", "client CPU", "CPU", "disk"]
_SET: frozenset[str] = frozenset(("the rate that is set", "rbd_qos"))
"""Limits that the user sets: once reached they come first, whatever else is near."""
_PASSED: frozenset[str] = frozenset(("network", "OSDs"))
"""What all of the data passes."""
LIMITED = 0.9
"""The share of a ceiling from which on it limits the run."""
NEAR = 0.5
"""The share of a ceiling below which it is not near."""
TOO_GOOD = 1.05
"""The share of a ceiling above which the figure or the ceiling is wrong."""
_BUSY: Mapping[str, float] = {"client CPU": 0.85, "CPU": 0.85, "disk": 0.9}
"""How busy something has to be, to say something of a limit."""


class Ceiling(Model):
    """A figure of a run, and what it can be at most, as it was known when the run ended."""

    limit: Name
    """``network``, ``OSDs``, ``depth``, ``client CPU``, ``CPU``, ``disk``, ``rbd_qos``, or ``the rate that is set``.

    ``CPU`` is that of a node which is busy mostly with something else than the benchmark.
    """
    direction: Name
    """``read`` or ``write``; ``read and write`` of a figure of both together."""
    metric: Literal["iops", "bandwidth_bytes"]
    measured: Amount
    at_most: Amount | None
    """Null where nothing that may be used is known of the limit: then the basis says why."""
    basis: Line
    """The facts that it follows from, in words: ``1 of 3 OSD hosts, size 3``."""
    is_estimate: bool = Field(default=False, exclude_if=lambda is_estimate: not is_estimate)
    """Whether it is no bound: ``about``, not ``at most``. Left out where it is one."""
    has_flushes: bool = Field(default=False, exclude_if=lambda has_flushes: not has_flushes)
    """Whether, with one I/O in flight, flushes take their turns too, whose time is in no latency of an I/O."""

    not_measured: tuple[Line, ...] = Field(default=(), exclude_if=lambda links: not links)
    """Of the network the hosts on the way of the data with a link of which no more than the NIC's speed is known:
    ``pve3 (cluster)`` of the OSDs' own network. Left out where there is none."""

    @property
    def figure(self) -> Metric:
        """The figure that is limited."""
        return BY_NAME[self.metric]

    @property
    def share(self) -> float:
        """How much of it was measured; 1 is all of it, 0 of what is not known."""
        return self.measured / self.at_most if self.at_most else 0.0

    @property
    def is_itself(self) -> bool:
        """Whether it is what was measured: with one I/O in flight the next one begins when that has ended."""
        return self.limit == "depth" and self.measured == self.at_most

    @property
    def is_set(self) -> bool:
        """Whether the user wants no more than that."""
        return self.limit in _SET

    @property
    def is_known(self) -> bool:
        """Whether it says how far the run is from a limit."""
        return self.at_most is not None and self.share >= _BUSY.get(self.limit, 0.0)

    @property
    def is_exceeded(self) -> bool:
        """Whether the run is above it, which shows that the figure or the ceiling is wrong."""
        return self.limit in _PASSED and not self.is_estimate and self.share > TOO_GOOD
