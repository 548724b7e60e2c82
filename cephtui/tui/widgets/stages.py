"""Where the latency goes, in a row for each flow: a band of the stages, and these in words, the largest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.text import Text

from cephtui import units
from cephtui.analysis.runs.stages import is_capped
from cephtui.analysis.verdicts.diagnosis import flows_of
from cephtui.models import Run
from cephtui.reports.words.diagnosis import io_text
from cephtui.reports.words.stages import named_stages, stage_shares
from cephtui.tui.charts.colors import STAGE_COLORS, flow_color

_BAND_COLUMNS, _BAND_FROM = 24, 110
"""A band has so many columns, where the screen has at least so many."""
_ROWS_FOR_ALL = 15
_LATENCY_COLUMNS = 9
"""Of a latency behind its bar."""
_APART_MOST = 6
"""Bars with a blank row between them."""
_FULL, _ASCII = "█", "+=-#."
"""Without colours each stage has a sign of its own."""


def stages_text(stages: Mapping[str, Mapping[str, float]], columns: int, rows: int, *, ascii_only: bool) -> Text:
    """A row for each flow; where there are few rows, for the one that takes longest.

    ``stages`` has the seconds of each of its stages by its name; it is empty where they are not known now.
    """
    if not stages:
        return Text("where: unknown in the last seconds", "dim")
    labels = {flow: f"{flow}: " for flow in stages} if len(stages) > 1 else dict.fromkeys(stages, "where: ")
    flows = stages if rows >= _ROWS_FOR_ALL else [_longest(stages)]
    width = max(len(labels[flow]) for flow in flows)
    parts = [
        Text.assemble((labels[flow].ljust(width), "dim"), _row(stages[flow], columns, ascii_only=ascii_only))
        for flow in flows
    ]
    return Text("\n", no_wrap=True, overflow="ellipsis").join(parts)


def band(stages: Mapping[str, Mapping[str, float]], columns: int, *, ascii_only: bool) -> Text:
    """The stages of the flow that takes longest, over so many columns."""
    return _band(stages[_longest(stages)], columns, ascii_only=ascii_only)


def stage_texts(stages: Mapping[str, Mapping[str, float]]) -> tuple[str, ...]:
    """``slowest copy 71 %   network and client 24 %``, of the same flow: each with a stage less than the one before."""
    texts = [f"{name} {100 * share:.0f} %" for name, share in stage_shares(stages[_longest(stages)])]
    return tuple("   ".join(texts[:number]) for number in range(len(texts), 0, -1))


def _longest(stages: Mapping[str, Mapping[str, float]]) -> str:
    return max(stages, key=lambda flow: sum(stages[flow].values()))


def _places(named: Mapping[str, float]) -> list[tuple[str, float, int]]:
    """Name and share of each stage, the largest first, with the number of its colour and sign."""
    places = {name: place for place, name in enumerate(named)}
    return [(name, share, places.get(name, len(places))) for name, share in stage_shares(named)]


def _band(named: Mapping[str, float], columns: int, *, ascii_only: bool) -> Text:
    drawn, until = Text(), 0.0
    for _, share, place in _places(named):
        until += share
        cells = round(until * columns) - len(drawn)
        drawn.append((_ASCII[place] if ascii_only else _FULL) * cells, STAGE_COLORS[place])
    return drawn


def _row(named: Mapping[str, float], columns: int, *, ascii_only: bool) -> Text:
    if columns < _BAND_FROM:
        return _legend(named, signs="")
    band = _band(named, _BAND_COLUMNS, ascii_only=ascii_only)
    return Text.assemble(band, "  ", _legend(named, signs=_ASCII if ascii_only else ""))


def _legend(named: Mapping[str, float], *, signs: str) -> Text:
    legend = Text()
    for name, share, place in _places(named):
        sign = f"{signs[place]} " if signs else ""
        legend.append("  " if legend else "").append(f"{sign}{name} {100 * share:.0f} %", STAGE_COLORS[place])
    return legend


def latency_bars(runs: Iterable[Run], columns: int, *, ascii_only: bool) -> list[Text]:
    """The mean latency of each flow of each run as a bar, the longest first; in its stages, where these are known."""
    means = [
        (run, flow, mean)
        for run in runs
        for flow in flows_of(run)
        if (mean := run.summary.flows[flow].latency_mean_seconds)
    ]
    means.sort(key=lambda row: -row[2])
    lines, gap = list[Text](), [Text()] * (len(means) <= _APART_MOST)
    for run, flow, mean in means:
        width, stages = max(1, round((columns - _LATENCY_COLUMNS) * mean / means[0][2])), run.stages.get(flow)
        named = named_stages(stages, flow, is_capped=is_capped(run.findings)) if stages else {}
        bar = Text(("=" if ascii_only else _FULL) * width, flow_color(flow))
        if named:
            bar = _band(named, width, ascii_only=ascii_only)
        lines += [Text(f"#{run.run} {io_text(run, flow)}", "bold"), Text.assemble(bar, f" {units.latency(mean)}")]
        lines += [_legend(named, signs=_ASCII if ascii_only else "")] * bool(named)
        lines += gap
    return lines
