"""Where the latency goes, in a row for each flow: a band of the stages, and these in words, the largest first."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text

from cephtui.reports.words.stages import stage_shares
from cephtui.tui.charts.colors import STAGE_COLORS

_BAND_COLUMNS, _BAND_FROM = 24, 110
"""A band has so many columns, where the screen has at least so many."""
_ROWS_FOR_ALL = 15
_FULL, _ASCII = "█", "+=-#."
"""Without colours each stage has a sign of its own."""


def stages_text(stages: Mapping[str, Mapping[str, float]], columns: int, rows: int, *, ascii_only: bool) -> Text:
    """A row for each flow; where there are few rows, for the one that takes longest.

    ``stages`` has the seconds of each of its stages by its name.
    """
    labels = {flow: f"{flow}: " for flow in stages} if len(stages) > 1 else dict.fromkeys(stages, "where: ")
    flows = stages if rows >= _ROWS_FOR_ALL else [max(stages, key=lambda flow: sum(stages[flow].values()))]
    width = max(len(labels[flow]) for flow in flows)
    parts = [
        Text.assemble((labels[flow].ljust(width), "dim"), _row(stages[flow], columns, ascii_only=ascii_only))
        for flow in flows
    ]
    return Text("\n", no_wrap=True, overflow="ellipsis").join(parts)


def _row(named: Mapping[str, float], columns: int, *, ascii_only: bool) -> Text:
    places = {name: place for place, name in enumerate(named)}
    band, legend, until = Text(), Text(), 0.0
    for name, share in stage_shares(named):
        place, until = places.get(name, len(places)), until + share
        cells = round(until * _BAND_COLUMNS) - len(band)
        band.append((_ASCII[place] if ascii_only else _FULL) * cells, STAGE_COLORS[place])
        sign = f"{_ASCII[place]} " if ascii_only and columns >= _BAND_FROM else ""
        legend.append("  " if legend else "").append(f"{sign}{name} {100 * share:.0f} %", STAGE_COLORS[place])
    return Text.assemble(band, "  ", legend) if columns >= _BAND_FROM else legend
