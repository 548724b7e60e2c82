"""The figures that a run can have, in one table: what they are called, and what may be done with them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Literal, TypeAlias, TypeVar

from cephtui import units
from cephtui.frozen import dataclass

Unit: TypeAlias = Literal["IO/s", "B/s", "bit/s", "s", ""]
_AS_TEXT: Mapping[Unit, Callable[[float | None], str]] = {
    "IO/s": units.iops,
    "B/s": units.bandwidth,
    "bit/s": units.link_rate,
    "s": units.latency,
    "": units.count,
}
DIRECTIONS = ("read", "write")
FLUSH, COMMIT = "flush", "commit"
"""Flows beside reads and writes: flushes; and where each write is flushed, each write together with its flush."""
_BEYOND_LEAST = 10
"""The number of I/Os that have to take longer than a percentile, for it to be one."""
_T = TypeVar("_T")


def flows_of(read: _T | None, write: _T | None, other: Mapping[str, _T]) -> dict[str, _T]:
    """All flows of a run by name: reads first, then writes."""
    return {name: flow for name, flow in (("read", read), ("write", write), *other.items()) if flow is not None}


def ios_beyond(count: int, percent: float) -> int:
    """How many of so many I/Os took longer than a percentile; ``percent`` has two decimals at most."""
    return count * (10_000 - round(100 * percent)) // 10_000


def is_carried(count: int, percent: float) -> bool:
    """Whether enough of so many I/Os took longer than a percentile for it to be one."""
    return ios_beyond(count, percent) >= _BEYOND_LEAST


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure of reads, of writes or of another flow."""

    name: str
    """The field of the figure in a Total; and in an Interval, where it is measured each second."""
    title: str
    """The name of the figure in tables."""
    unit: Unit
    better: Literal["more", "less"]
    over_nodes: Literal["sum", "mean", "completions"]
    """How the figures of nodes are combined: their sum, their mean weighted by completions, or from all completions."""
    live: bool = False
    """Whether the figure is measured each second."""
    short: str = ""
    """The name where there is no room for the title; empty where the title is short."""
    percent: float | None = None
    """The percentile, where the figure is one."""
    word: str = "latency"
    """What a latency is called where no other latency is beside it."""

    @property
    def full_title(self) -> str:
        """The title where no other latency is beside it: ``latency p99``, ``clat p99``."""
        return f"{self.word} {self.title}" if self.unit == "s" else self.title

    @property
    def binary(self) -> bool:
        """Whether its axis has steps of powers of two."""
        return self.unit == "B/s"

    @property
    def is_log(self) -> bool:
        """Whether its axis over time is logarithmic: a latency may be a hundred times the usual one."""
        return self.unit == "s"

    def as_text(self, value: float | None) -> str:
        """A value with its unit; a dash for one that is not known."""
        return _AS_TEXT[self.unit](value)

    def of(self, flow: Any) -> float | None:
        """The figure's value in a Total, or in an Interval; None without either.

        What moves no bytes, such as the deletion of an object, has no bandwidth; where nothing was done it is 0. A
        whole run has no percentile that too few of its I/Os carry: it would be the time of a few.
        """
        if flow is None or (self.name == "bandwidth_bytes" and flow.ios and not flow.bytes):
            return None
        if self.percent is not None and not flow.carries(self.percent):
            return None
        value: float | None = getattr(flow, self.name)
        return value

    def text_of(self, flow: Any) -> str:
        """The figure's value in a Total, or in an Interval, with its unit."""
        return self.as_text(self.of(flow))

    def names_of_whole(self, flows: Collection[str]) -> list[str]:
        """The names of the flows that count for the figure of a whole run.

        A rate is that of the I/Os: a flush moves nothing of its own. Where each write is flushed, its latency is that
        of the commit: the mean of both together, and of the flush where they can't be added up.
        """
        commit_flow = ""
        if self.unit == "s" and COMMIT in flows:
            commit_flow = COMMIT if self.over_nodes == "mean" else FLUSH
        left_out = {FLUSH, COMMIT, "write"} - {commit_flow} if commit_flow else {FLUSH, COMMIT}
        return [name for name in flows if name not in left_out] or list(flows)

    def of_whole(self, flows: Mapping[str, Any]) -> dict[str, float]:
        """The figure's values in the flows that count for a whole run, by the flows' names."""
        values = {name: self.of(flows[name]) for name in self.names_of_whole(flows)}
        return {name: value for name, value in values.items() if value is not None}

    def combined(self, flows: Mapping[str, Any]) -> float | None:
        """The figure of a whole run: a sum, the mean of all completions, or the worst percentile; None without any."""
        measured = [(value, flows[name].ios or 0) for name, value in self.of_whole(flows).items()]
        if not measured:
            return None
        if self.over_nodes == "sum":
            return sum(value for value, _ in measured)
        completed = sum(ios for _, ios in measured)
        if self.over_nodes == "mean" and completed:
            return sum(value * ios for value, ios in measured) / completed
        return max(value for value, _ in measured)


METRICS = (
    Metric("iops", "IOPS", "IO/s", "more", "sum", live=True),
    Metric("bandwidth_bytes", "bandwidth", "B/s", "more", "sum", live=True, short="bw"),
    Metric("latency_mean_seconds", "mean", "s", "less", "mean", live=True),
    Metric("latency_p50_seconds", "p50", "s", "less", "completions", percent=50.0),
    Metric("latency_p95_seconds", "p95", "s", "less", "completions", percent=95.0),
    Metric("latency_p99_seconds", "p99", "s", "less", "completions", live=True, percent=99.0),
    Metric("latency_p999_seconds", "p99.9", "s", "less", "completions", percent=99.9),
    Metric("latency_max_seconds", "max", "s", "less", "completions"),
)
BY_NAME: Mapping[str, Metric] = {metric.name: metric for metric in METRICS}
LIVE = tuple(metric for metric in METRICS if metric.live)
"""The metrics that are measured each second: they are drawn over time, and every table has them."""

BIT_RATE = Metric("bandwidth_bytes", "bandwidth", "bit/s", "more", "sum", live=True, short="bw")
"""The bandwidth, written as that of a network link."""
RETRANSMITS = Metric("retransmits", "retransmits", "", "less", "sum", live=True)
RTT = Metric("rtt_seconds", "rtt", "s", "less", "mean", live=True)
"""The figure that a network link has beside its bandwidth."""


def judged_by(metric: Metric, flows: Iterable[Any]) -> Metric:
    """The figure by which a flow is judged: the metric if it has that, else its IOPS, else its mean latency.

    ``flows`` are its Totals in all runs. What moves no bytes, such as the deletion of an object, has no bandwidth.
    """
    totals = list(flows)
    candidates = (metric, BY_NAME["iops"], BY_NAME["latency_mean_seconds"])
    return next(
        (candidate for candidate in candidates if any(candidate.of(total) is not None for total in totals)), metric
    )


HeadlineName: TypeAlias = Literal["iops", "bandwidth", "latency"]


@dataclass(frozen=True, slots=True)
class Headline:
    """What a preset is about, which the main chart shows."""

    name: HeadlineName
    title: str
    metrics: tuple[Metric, ...]
    """The metric itself first, then those that are drawn beside it."""
    short: str
    """The title where there is little room."""

    @property
    def metric(self) -> Metric:
        """The metric that the headline is about."""
        return self.metrics[0]

    @property
    def sums(self) -> bool:
        """Whether reads and writes add up."""
        return self.metric.over_nodes == "sum"

    @property
    def parts(self) -> dict[str, Metric]:
        """The metrics that are drawn of each flow, by the word that follows the flow's name."""
        return {"": self.metric, **{f" {metric.title}": metric for metric in self.metrics[1:]}}

    @property
    def of_node(self) -> Metric:
        """The metric that is drawn of each node."""
        return self.metrics[-1]


HEADLINES = (
    Headline("iops", "IOPS", (BY_NAME["iops"],), "IOPS"),
    Headline("bandwidth", "bandwidth", (BY_NAME["bandwidth_bytes"],), "bw"),
    Headline("latency", "latency", (BY_NAME["latency_mean_seconds"], BY_NAME["latency_p99_seconds"]), "lat"),
)
HEADLINE_BY_NAME: Mapping[str, Headline] = {headline.name: headline for headline in HEADLINES}
