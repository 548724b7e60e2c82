"""The latencies of a whole run: histograms with the ladder of their percentiles, and what is in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cephtui import units
from cephtui.analysis.runs.ladder import PERCENTS, ladder
from cephtui.models import Latency, Run, Total
from cephtui.models.metrics import COMMIT, FLUSH
from cephtui.reports.blocks import Block, Cell, Histogram, Histograms, Table, columns, words
from cephtui.reports.words.text import latency_word
from cephtui.stats import Buckets, percentile_seconds
from cephtui.tools import TOOLS

_ABOUT = {"slat": "until submission", "lat": "of the whole I/O, from start to completion"}
"""What fio measures of each I/O beside its own word for the latency."""
_BESIDE_IO = {FLUSH: "of fsync, fdatasync", COMMIT: "of the write and its flush"}
"""What the latency of such a flow is; that of a commit is the sum of two means."""
_FROM_SUBMISSION = "slat of the write, plus its flush, which includes the rest of the write"


def latency_parts(run: Run, flow: str) -> dict[str, Latency]:
    """The latencies of a flow, by what each is called."""
    total = run.summary.flows[flow]
    mean = total.latency_mean_seconds
    of_tool = None if mean is None else Latency(
        mean_seconds=mean,
        stddev_seconds=total.latency_stddev_seconds,
        min_seconds=total.latency_min_seconds,
        max_seconds=total.latency_max_seconds,
    )  # fmt: skip
    parts = {"slat": total.slat, latency_word([run.tool], [flow]): of_tool, "lat": total.lat}
    return {name: latency for name, latency in parts.items() if latency}


def part_words(run: Run, flow: str, name: str) -> str:
    """A few words on a part of a latency; of a commit, on which part of the write comes before the flush."""
    if name in _ABOUT:
        return _ABOUT[name]
    write, flush, commit = (run.summary.flows.get(name_of_flow) for name_of_flow in ("write", FLUSH, COMMIT))
    if flow == COMMIT and write and flush and commit and write.slat:
        lead = (commit.latency_mean_seconds or 0.0) - (flush.latency_mean_seconds or 0.0)
        whole = write.lat.mean_seconds if write.lat else write.latency_mean_seconds or 0.0
        if abs(lead - write.slat.mean_seconds) < abs(lead - whole):
            return _FROM_SUBMISSION
    return _about(run.tool, flow)


def _about(tool: str, flow: str) -> str:
    """A few words on the latency of a flow."""
    return _BESIDE_IO.get(flow) or (TOOLS[tool].latency_about if tool in TOOLS else "")


_TIMES = ("mean", "stddev", "min", "max")


def latency_blocks(run: Run, histograms: Mapping[str, Buckets]) -> Iterator[Block]:
    """All flows of a run that have a histogram, then what is known of submission and completion."""
    charts = tuple(
        Histogram(
            name,
            latency_word([run.tool], [name]),
            _about(run.tool, name),
            buckets,
            greatest_of(run.summary.flows.get(name), buckets),
        )
        for name, buckets in histograms.items()
    )
    if charts:
        yield Histograms(charts, _ladder(charts))
    in_parts = any(total.slat or total.lat for total in run.summary.flows.values())
    if (charts or in_parts) and (parts := tuple(_parts(run))):
        yield Table(columns(("", "", *_TIMES, ""), "llrrrrl"), parts)


def _ladder(charts: tuple[Histogram, ...]) -> Table:
    """The percentiles of each flow; a dash where too few I/Os took longer."""
    rows = [
        (
            f"{chart.flow} {chart.word}",
            f"{sum(chart.buckets.values()):,}",
            *(units.latency(rung.seconds) for rung in ladder(chart.buckets)),
            units.latency(chart.greatest_seconds),
        )
        for chart in charts
    ]
    titles = ("", "I/Os", *(f"p{percent:g}" for percent in PERCENTS), "max")
    return Table(columns(titles, "l" + "r" * (len(titles) - 1)), tuple(rows))


def _parts(run: Run) -> Iterator[tuple[Cell, ...]]:
    """The parts of each flow's latency: of fio submission, completion and both."""
    for flow in run.summary.flows:
        for number, (name, latency) in enumerate(latency_parts(run, flow).items()):
            times = (units.latency(getattr(latency, f"{time}_seconds")) for time in _TIMES)
            yield "" if number else flow, name, *times, words(part_words(run, flow, name), style="dim")


def greatest_of(total: Total | None, buckets: Buckets) -> float:
    """The latency of the slowest I/O in seconds; that of its bucket where the run has not kept it."""
    greatest = total.latency_max_seconds if total else None
    return greatest if greatest is not None else percentile_seconds(buckets, 100.0) or 0.0
