"""What a preset's tile shows of its last batch.

What only runs need is imported with the first of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cephtui.frozen import dataclass
from cephtui.models import Interval, Run, Total
from cephtui.models.metrics import COMMIT, HEADLINE_BY_NAME, HeadlineName, Metric
from cephtui.reports.words.quality import is_marked
from cephtui.reports.words.text import counted, margin_of
from cephtui.stats import known_sum

_SHORT = {"read": "r", "write": "w"}
_SHOWN = (*_SHORT, COMMIT)


@dataclass(frozen=True, slots=True)
class TileResult:
    """What a tile shows of its preset."""

    text: str = ""
    short: str = ""
    """Where that has no room: of reads and writes apart, those that were measured last."""
    values: tuple[float | None, ...] = ()
    """IOPS over time."""
    direction: str = ""
    """``read`` or ``write`` where it is one of them, for the colour."""
    percent: int | None = None
    """How much of the run is done; None where none is in progress."""
    longer: tuple[str, ...] = ()
    """Of repeats, where there is more room: with the interval of the mean and their number, the longest first."""

    def fitting(self, width: int) -> str:
        """The longest that has room, else the shortest."""
        return next((text for text in (*self.longer, self.text) if len(text) <= width), self.short)


def headline_text(flows: Mapping[str, Total | Interval], name: HeadlineName) -> str:
    """The headline metric of reads and writes: together where they add up; empty where there are none."""
    return " ".join(map(_metric(name).as_text, _values(flows, name)))


def tile_result_of(
    runs: Sequence[Run], name: HeadlineName, values: Sequence[float | None], *, ascii_only: bool = False
) -> TileResult:
    """Of the runs of a batch up to now, the last of which has these ``values``; of repeats, their mean.

    Where they read and wrote in turn, both.
    """
    latest: dict[str, Run] = {}
    direction = ""
    for run in runs:
        direction = direction_of(run.summary.flows)
        latest = {**latest, direction: run} if direction and "" not in latest else {direction: run}
    several = len(latest) > 1
    parts = {flow: _part(runs, run, name, ascii_only) for flow, run in latest.items()}
    signed = {flow: replace(part, text=f"{_SHORT[flow]} {part.text}") if several else part
              for flow, part in parts.items()}  # fmt: skip
    text, *longer = ("  ".join(part.at(length) for part in signed.values()) for length in range(3))
    short = signed[direction].text
    return TileResult(text, short, tuple(values), "" if several else direction, longer=tuple(reversed(longer)))


def direction_of(flows: Mapping[str, object]) -> str:
    """The only one of the I/Os; empty for several."""
    names = _metric("iops").names_of_whole(flows)
    return names[0] if len(names) == 1 else ""


@dataclass(frozen=True, slots=True)
class _Part:
    """Of the runs of one direction."""

    text: str
    margin: str = ""
    number: str = ""

    def at(self, length: int) -> str:
        """The text alone, with the margin, or with all."""
        return " ".join(filter(None, (self.text, self.margin, self.number)[: length + 1]))


def _part(runs: Sequence[Run], run: Run, name: HeadlineName, ascii_only: bool) -> _Part:
    """A run with those of the ``runs`` that it repeats."""
    from cephtui.analysis.runs.batches import Estimate, SweepPoint, set_up, summarize

    summary = summarize(Point(run.options, tuple(repeat for repeat in runs if set_up(repeat) == set_up(run))))
    by_flow = zip(*(_values(repeat.summary.flows, name) for repeat in summary.counted), strict=False)
    columns = [[value for value in values if value is not None] for values in by_flow]
    if len(summary.point.repeats) < 2 or not run.summary.flows or not columns or not all(columns):
        text = headline_text(run.summary.flows, name) or run.outcome or ""
        return _Part(f"{text} !" if is_marked(run) and run.summary.flows else text)
    estimates = [Estimate.of(column) for column in columns]
    text = " ".join(_metric(name).as_text(estimate.value) for estimate in estimates)
    margin = margin_of(estimates[0], ascii_only=ascii_only) if len(estimates) == 1 else ""
    return _Part(f"{text} !" if any(map(is_marked, summary.counted)) else text, margin, counted(summary))


def _metric(name: HeadlineName) -> Metric:
    return HEADLINE_BY_NAME[name].metric


def _values(flows: Mapping[str, Total | Interval], name: HeadlineName) -> list[float | None]:
    """One where reads and writes add up, else one of each; of writes that are flushed, that of the commit."""
    metric = _metric(name)
    values = [metric.of(flows[flow]) for flow in metric.names_of_whole(flows) if flow in _SHOWN]
    return [known_sum(values)] if values and HEADLINE_BY_NAME[name].sums else values
