"""The columns of the table of runs: which there is room for, how wide they are, and what stands in them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field

from rich.cells import cell_len
from rich.text import Text

from cephtui.analysis.runs.batches import flow_names
from cephtui.frozen import dataclass
from cephtui.models.metrics import LIVE, Metric
from cephtui.reports.words.text import title_of
from cephtui.tui.widgets.fitted import across, fitted_widths, placed
from cephtui.tui.widgets.run_rows import MARGINS, SPREADS, RunRow


def _of_metric(metric: Metric, tools: Collection[str], flows: Collection[str]) -> dict[str, str]:
    return {metric.name: title_of(metric, tools, flows), MARGINS[metric]: "95 %", SPREADS[metric]: "spread"}


def _titles(tools: Collection[str], flows: Collection[str]) -> dict[str, str]:
    """From the left; a column that is not always there is left out where it has no text."""
    return {
        **{name: name for name in ("#", "preset", "differs", "target", "started")},
        "direction": "",
        **{name: title for metric in LIVE for name, title in _of_metric(metric, tools, flows).items()},
        "outcome": "outcome",
    }


_RIGHT = {"#", *(metric.name for metric in LIVE), *SPREADS.values()}
_ALWAYS = {"#", "preset", "direction", *(metric.name for metric in LIVE), "outcome"}
_IOPS, _BANDWIDTH, _MEAN, _P99 = LIVE
_SPARED = {
    "started": 40,
    "target": 40,
    **dict.fromkeys((SPREADS[metric] for metric in (_BANDWIDTH, _MEAN, _P99, _IOPS)), 24),
    MARGINS[_BANDWIDTH]: 24,
    MARGINS[_MEAN]: 24,
    MARGINS[_P99]: 18,
    _MEAN.name: 12,
    _BANDWIDTH.name: 10,
    MARGINS[_IOPS]: 10,
}
"""Left out in this order where what differs would have fewer columns."""
_LEAST = {_IOPS.name: len("16.5k"), _BANDWIDTH.name: len("1023 KiB/s")}
"""The least widths of figures that change."""
_RUNNING = len("running 54 %")
_PRESET_MOST = 30
_PADDING = 2


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns for which there is room."""

    room: int = 0
    """Columns of the terminal for all of them."""
    widths: Mapping[str, int] = field(default_factory=dict)
    """The width of each column, with a blank at each side."""
    tools: frozenset[str] = frozenset()
    """Tools of the runs: a latency has their word for it."""
    flows: frozenset[str] = frozenset()
    """Names of the runs' flows."""

    @property
    def titles(self) -> list[Text]:
        titles = _titles(self.tools, self.flows)
        return [placed(titles[name], width, right=name in _RIGHT) for name, width in self.widths.items()]

    def cells(self, row: RunRow) -> list[Text]:
        """The cells of a row, from the left."""
        if row.across is None:
            return [self.cell(row, name) for name in self.widths]
        _, *widths = self.widths.values()
        return [self.cell(row, "#"), *across(row.across, widths)]

    def cell(self, row: RunRow, name: str) -> Text:
        """What a row has in a column."""
        style = row.styles.get(name, row.style)
        return placed(row.texts.get(name, ""), self.widths[name], style, right=name in _RIGHT)

    def has_room(self, name: str, text: str) -> bool:
        """Whether a column shows the whole text."""
        return cell_len(text) + _PADDING <= self.widths[name]


def columns_for(rows: Iterable[RunRow], room: int) -> Columns:
    """The columns for these rows on so many columns of the terminal."""
    rows = list(rows)
    tools = frozenset(row.run.tool for row in rows if row.run)
    flows = frozenset(flow_names(row.run for row in rows if row.run))
    natural = {name: cell_len(title) for name, title in _titles(tools, flows).items()}
    natural |= {name: max(natural[name], least) for name, least in _LEAST.items()}
    used = set(_ALWAYS)
    for row in rows:
        for name, text in row.texts.items():
            if text:
                natural[name] = max(natural[name], cell_len(text))
                used.add(name)
        if row.run and not row.run.outcome:
            natural["outcome"] = max(natural["outcome"], _RUNNING)
    natural["preset"] = min(natural["preset"], _PRESET_MOST)
    padded = {name: size + _PADDING for name, size in natural.items() if name in used}
    return Columns(
        room, fitted_widths(padded, room, "differs", {n: s + _PADDING for n, s in _SPARED.items()}), tools, flows
    )
