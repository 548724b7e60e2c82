"""Where the parts of a run stand: which panels there are, and which of them a screen has room for. Data and a function.

The chart of the chosen metric has the most room; other charts stand below it, figures beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

from cephtui.frozen import dataclass
from cephtui.models.metrics import HEADLINES

PanelPlace = Literal["chart", "side", "table"]


@dataclass(frozen=True, slots=True)
class Panel:
    """One part of what is shown of a run."""

    name: str
    title: str
    place: PanelPlace
    columns: int
    """It appears by default where the run has at least so many columns,"""
    rows: int
    """and so many rows."""
    least_rows: int = 0
    """A side panel takes at least so many, its frame included."""


PANELS = (
    *(Panel(headline.name, headline.title, "chart", 140, 24) for headline in HEADLINES),
    Panel("heat", "latency heat map", "chart", 140, 24),
    Panel("now", "large digits", "side", 98, 7, 8),
    Panel("nodes", "nodes", "side", 70, 6, 3),
    Panel("jobs", "bars of OSDs", "side", 70, 6, 3),
    Panel("cluster", "cluster and its slowest OSDs", "side", 118, 18, 5),
    Panel("runs", "table of runs", "table", 0, 0),
    Panel("spread", "I/Os by latency", "side", 98, 15, 6),
)
"""The panels by their numbers, from 1; the tenth has the key 0."""
_CHARTS = tuple(panel for panel in PANELS if panel.place == "chart")
_SIDES = tuple(panel for panel in PANELS if panel.place == "side")
_BELOW_ROWS, _BELOW_COLUMNS = 15, 32
"""With fewer rows one chart has all of them; and a chart below the main one is at least so wide."""
_SIDE_COLUMNS = ((150, 46), (110, 40), (98, 34), (0, 30))
"""Width of the side panels, by the least width of the run."""


@dataclass(frozen=True, slots=True)
class PanelLayout:
    """What stands where, by the names of the panels."""

    main: str
    below: tuple[str, ...] = ()
    """Charts below the main one, from the left."""
    side: tuple[str, ...] = ()
    """Side panels, from the top."""
    side_columns: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """All that is visible."""
        return (self.main, *self.below, *self.side)


def lay_out(columns: int, rows: int, main: str, chosen: Mapping[str, bool], has: Collection[str]) -> PanelLayout:
    """The layout of a run in so many columns and rows.

    ``main`` is the chart of the chosen metric; ``chosen`` are the panels that the user has switched on or off, the
    others appear where there is room; ``has`` are the panels for which the run has data.
    """

    def is_wanted(panel: Panel) -> bool:
        fits = columns >= panel.columns and rows >= panel.rows
        return panel.name in has and chosen.get(panel.name, fits)

    side = _stacked([panel for panel in _SIDES if is_wanted(panel)], rows)
    width = next(width for least, width in _SIDE_COLUMNS if columns >= least) if side else 0
    charts = [panel.name for panel in _CHARTS if panel.name != main and is_wanted(panel)]
    if not chosen.get(main, True) and charts:
        main = charts.pop(0)
    if rows < _BELOW_ROWS:
        return PanelLayout("heat" if chosen.get("heat") and "heat" in charts else main, (), side, width)
    most = max(1, (columns - width) // _BELOW_COLUMNS)
    preferred = sorted(charts, key=lambda name: not chosen.get(name, False))[:most]
    return PanelLayout(main, tuple(name for name in charts if name in preferred), side, width)


@dataclass(frozen=True, slots=True)
class Need:
    """Rows of a side panel, its frame included."""

    least: int
    """With fewer it would not be drawn; 0 where it gives way to what the others need."""
    most: int
    """What all of its content needs."""
    some: int = 0
    """What a part of it needs that is worth more than all of another one."""
    is_whole: bool = False
    """Whether it is drawn with no fewer than the most."""


_GROWTH = ("nodes", "jobs", "cluster", "spread", "now")
"""The order in which panels get rows: first some for each, then the most."""
_FILLING = ("spread", "cluster")
"""What is drawn in as many rows as there are; the first of them takes those that are left."""


def share_out(rows: int, needs: Mapping[str, Need]) -> dict[str, int]:
    """The rows of each side panel by its name, of so many in the column: none where it has to give way."""
    given = {name: need.least for name, need in needs.items()}
    names = [name for name in _GROWTH if name in needs]
    for name, goal in [*((name, needs[name].some) for name in names), *((name, needs[name].most) for name in names)]:
        wanted = max(0, goal - given[name])
        more = min(wanted, max(0, rows - sum(given.values())))
        given[name] += 0 if needs[name].is_whole and more < wanted else more
    filling = next((name for name in _FILLING if given.get(name)), "")
    if filling:
        given[filling] += max(0, rows - sum(given.values()))
    return given


def _stacked(panels: Collection[Panel], rows: int) -> tuple[str, ...]:
    """The names of as many panels as fit above each other, the first of them always."""
    names: list[str] = []
    for panel in panels:
        rows -= panel.least_rows
        if rows >= 0 or not names:
            names.append(panel.name)
    return tuple(names)
