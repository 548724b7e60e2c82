"""The latencies of a whole run: a histogram, and below it on the same axis the ladder of its percentiles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from cephtui import units
from cephtui.analysis.ladder import LogAxis, axis_of, ladder, shares
from cephtui.frozen import dataclass
from cephtui.models import Latency, Run, Total
from cephtui.models.metrics import COMMIT, FLUSH
from cephtui.reports.tables import add_row, make_table
from cephtui.reports.text import latency_word
from cephtui.stats import Buckets, percentile_seconds
from cephtui.tools import TOOLS
from cephtui.tools.tool import Tool

_ROWS = 5
"""Of the histogram."""
_LABELS = 18
"""Columns left of the axis."""
_WIDEST, _NARROWEST = 100, 20
"""Columns of the axis."""
_BESIDE = range(150, 1000)
"""Columns in which two flows stand beside each other; a pipe has more, and what it is read in may have fewer."""
_BLOCKS = " ▁▂▃▄▅▆▇█"
FLOW_COLORS = {"read": "cyan", "write": "yellow"}
_ABOUT = {"slat": "until it is submitted", "lat": "of the whole I/O, from its begin to its completion"}
"""What fio measures of each I/O beside its own word for the latency."""
_BESIDE_IO = {FLUSH: "of fsync, fdatasync", COMMIT: "of the write and its flush"}
"""What the latency of such a flow is; that of a commit is the sum of two means."""
_FROM_SUBMISSION = "slat of the write, and its flush, in whose time is the rest of the write"


@dataclass(frozen=True, slots=True)
class LatencyChart:
    """One flow of a run, as wide as there is room."""

    name: str
    """Of the flow."""
    buckets: Buckets
    greatest: float
    """The latency of the slowest I/O in seconds."""
    style: str
    ascii_only: bool
    word: str = "latency"
    """What its latency is called."""
    about: str = Tool.latency_about
    """What that is."""

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(_LABELS + _NARROWEST, _LABELS + _WIDEST)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns = max(_NARROWEST, min(_WIDEST, options.max_width - _LABELS - 1))
        axis = axis_of(self.buckets, self.greatest)
        count = sum(self.buckets.values())
        about = f", {self.about}" if self.about else ""
        yield Text.assemble((f"{self.name} {self.word}", "bold"), f"{about}, {count:,} completions")
        yield from self._histogram(axis, columns)
        yield from _scale(axis, columns, self.ascii_only)
        yield from self._ladder(axis, columns)

    def _histogram(self, axis: LogAxis, columns: int) -> Iterator[Text]:
        """The share of I/Os in each column; one with any at all has the lowest mark."""
        found = shares(self.buckets, axis.edges(columns))
        most = max(found)
        heights = [max(share / most * _ROWS, 1 / 8 if share > 1e-12 else 0.0) for share in found]
        bar = "|" if self.ascii_only else "│"
        for row in reversed(range(_ROWS)):
            label = units.percent(100 * most) if row == _ROWS - 1 else ""
            cells = "".join(_cell(height - row, self.ascii_only) for height in heights)
            yield Text.assemble(f"{label:>{_LABELS - 1}}", (bar, "dim"), (cells.rstrip(), self.style))

    def _ladder(self, axis: LogAxis, columns: int) -> Iterator[Text]:
        """A bar up to each percentile, and up to the slowest."""
        for rung in ladder(self.buckets):
            if rung.seconds is None:
                yield Text.assemble(_label(rung.title, units.DASH), (f" {few(rung.beyond)}", "dim"))
            else:
                yield self._rung(rung.title, rung.seconds, axis, columns)
        yield self._rung("max", self.greatest, axis, columns)

    def _rung(self, title: str, seconds: float, axis: LogAxis, columns: int) -> Text:
        line, end = ("-", "o") if self.ascii_only else ("━", "●")
        bar = line * round(axis.place(seconds) * (columns - 1)) + end
        return Text.assemble(_label(title, units.latency(seconds)), " ", (bar, self.style))


def few(beyond: int) -> str:
    """Why there is no percentile."""
    return f"only {beyond:,} {'I/O' if beyond == 1 else 'I/Os'} took longer: too few" if beyond else "too few I/Os"


def _label(title: str, value: str) -> str:
    return f"{title:<8}{value:>{_LABELS - 9}}"


def _cell(height: float, ascii_only: bool) -> str:
    """A character of a column that reaches so many rows above the bottom of this one."""
    if ascii_only:
        return "#" if height >= 0.5 else "." if height > 0 else " "
    return _BLOCKS[max(0, min(8, round(8 * height)))]


def _scale(axis: LogAxis, columns: int, ascii_only: bool) -> Iterator[Text]:
    """The rule with its ticks, and below it as many labels as have room."""
    rule, labels = list(("-" if ascii_only else "─") * columns), [" "] * columns
    for seconds in axis.ticks():
        at, label = round(axis.place(seconds) * (columns - 1)), _tick(seconds)
        begin = max(0, min(at - len(label) // 2, columns - len(label)))
        if set(labels[max(0, begin - 1) : begin + len(label) + 1]) == {" "}:
            labels[begin : begin + len(label)] = label
            rule[at] = "+" if ascii_only else "┴"
    corner = "+" if ascii_only else "└"
    yield Text(f"{'':{_LABELS - 1}}{corner}{''.join(rule)}", "dim")
    yield Text(f"{'':{_LABELS}}{''.join(labels).rstrip()}", "dim")


def _tick(seconds: float) -> str:
    """``20 ms``: of a round value."""
    unit, scale = next((unit, scale) for unit, scale in _UNITS if seconds >= scale * 0.999)
    return f"{seconds / scale:.0f} {unit}"


_UNITS = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9))


def latency_parts(run: Run, flow: str) -> dict[str, Latency]:
    """What was measured of a flow, by what it is called there."""
    total = run.summary.flows[flow]
    mean = total.latency_mean_seconds
    own = None if mean is None else Latency(
        mean_seconds=mean,
        stddev_seconds=total.latency_stddev_seconds,
        min_seconds=total.latency_min_seconds,
        max_seconds=total.latency_max_seconds,
    )  # fmt: skip
    found = {"slat": total.slat, latency_word([run.tool], [flow]): own, "lat": total.lat}
    return {name: latency for name, latency in found.items() if latency}


def part_words(run: Run, flow: str, name: str) -> str:
    """What a part is; of a commit, which part of the write comes before the flush."""
    if name in _ABOUT:
        return _ABOUT[name]
    write, flush, commit = (run.summary.flows.get(each) for each in ("write", FLUSH, COMMIT))
    if flow == COMMIT and write and flush and commit and write.slat:
        lead = (commit.latency_mean_seconds or 0.0) - (flush.latency_mean_seconds or 0.0)
        whole = write.lat.mean_seconds if write.lat else write.latency_mean_seconds or 0.0
        if abs(lead - write.slat.mean_seconds) < abs(lead - whole):
            return _FROM_SUBMISSION
    return _about(run.tool, flow)


def _about(tool: str, flow: str) -> str:
    """What the latency of a flow is."""
    return _BESIDE_IO.get(flow) or (TOOLS[tool].latency_about if tool in TOOLS else "")


TIMES = ("mean", "stddev", "min", "max")


def times_of(latency: Latency) -> list[str]:
    """In the order of ``TIMES``."""
    return [units.latency(getattr(latency, f"{name}_seconds")) for name in TIMES]


def _parts(run: Run) -> Table:
    """What was measured of each I/O: of fio submission, completion and both."""
    table = make_table("", "", *TIMES, "", right=TIMES)
    for flow in run.summary.flows:
        for number, (name, latency) in enumerate(latency_parts(run, flow).items()):
            add_row(table, "" if number else flow, name, *times_of(latency), Text(part_words(run, flow, name), "dim"))
    return table


def draw_latency(
    run: Run,
    histograms: Mapping[str, Buckets],
    *,
    colors: Mapping[str, str] = FLOW_COLORS,
    ascii_only: bool = False,
) -> RenderableType:
    """All flows of a run that have a histogram, then what is known of submission and completion."""
    charts = [
        LatencyChart(
            name,
            buckets,
            greatest_of(run.summary.flows.get(name), buckets),
            colors.get(name, ""),
            ascii_only,
            latency_word([run.tool], [name]),
            _about(run.tool, name),
        )
        for name, buckets in histograms.items()
    ]
    parts = [_parts(run)] * any(latency_parts(run, flow) for flow in run.summary.flows)
    return Group(*[_Beside(charts)] * bool(charts), *parts)


def greatest_of(total: Total | None, buckets: Buckets) -> float:
    """The latency of the slowest I/O in seconds; that of its bucket where the run has not kept it."""
    known = total.latency_max_seconds if total else None
    return known if known is not None else percentile_seconds(buckets, 100.0) or 0.0


@dataclass(frozen=True, slots=True)
class _Beside:
    """Charts beside each other where there is room for it, else below each other."""

    charts: Sequence[LatencyChart]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if len(self.charts) < 2 or options.max_width not in _BESIDE:
            for chart in self.charts:
                yield chart
                yield Text()
            return
        grid = Table.grid(padding=(0, 2), expand=True)
        for _ in self.charts:
            grid.add_column(ratio=1)
        grid.add_row(*self.charts)
        yield grid
        yield Text()
