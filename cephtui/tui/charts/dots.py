"""Runs before and after a change on one scale: a dot for each run, dropped when the run ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from rich.style import Style, StyleType
from rich.text import Text
from textual.widget import Widget

from cephtui.frozen import dataclass
from cephtui.models.metrics import Metric
from cephtui.reports.views.charts import round_ticks
from cephtui.tui.charts.ink import Ink, ink_of
from cephtui.tui.charts.scales import Scale, labels_below
from cephtui.tui.terminal.profile import profile_of

_MIN_COLUMNS, _LEAST_ROWS = 24, 3
_LABEL_COLUMNS = 12
"""Columns for each label of the scale."""
_PAD = 0.08
"""Of the extent of the values, which is free at each end; of a single value, the part of itself."""


class _Signs(NamedTuple):
    """What stands for what."""

    run: str
    mean: str
    required: str
    guide: str
    """Up to the run of a row."""


_SIGNS, _ASCII_SIGNS = _Signs("●", "┃", "┊", "·"), _Signs("o", "|", ":", ".")


@dataclass(frozen=True, slots=True)
class Side:
    """The runs of one side, in the order in which they were measured."""

    name: str
    values: tuple[float, ...]
    planned: int
    """How many runs there are to be, at most."""
    mean: float | None
    """None before any run."""
    color: str
    hint: str = ""
    """On its next run, such as that it is measured now."""

    @property
    def runs(self) -> int:
        """Those that there are to be, or there are."""
        return max(1, self.planned, len(self.values))


@dataclass(frozen=True, slots=True)
class Dots:
    """Both sides, and where the second one has to be."""

    sides: tuple[Side, ...]
    metric: Metric
    required: float | None = None
    """The worst that the second side may be; None before it is known."""

    @property
    def values(self) -> list[float]:
        """All that the scale has to show."""
        means = [side.mean for side in self.sides if side.mean is not None]
        return [*(value for side in self.sides for value in side.values), *means]


def draw_dots(dots: Dots, width: int, height: int, ink: Ink) -> Text:
    """Exactly ``height`` rows of ``width`` columns: a row for each run where there is room, one for each side at least;
    below them the scale, empty before the first run. Nothing where there is too little room.
    """
    if width < _MIN_COLUMNS or height < _LEAST_ROWS:
        return Text("\n".join([" " * max(0, width)] * max(0, height)), no_wrap=True, end="")
    has_rule = height > _LEAST_ROWS
    room = height - 1 - has_rule
    rows = _shared([side.runs for side in dots.sides], room)
    names = [_row_names(side, of_side) for side, of_side in zip(dots.sides, rows, strict=True)]
    gutter = max(cell_len(name) for of_side in names for name in of_side) + 1
    signs = _ASCII_SIGNS if ink.ascii_only else _SIGNS
    notes = [_notes(dots, side, of_side, signs) for side, of_side in zip(dots.sides, rows, strict=True)]
    columns = width - gutter - max(cell_len(note) for of_side in notes for note in of_side)
    scale, drawn = _scale(dots, columns), list[Text]()
    for side, side_names, side_notes in zip(dots.sides, names, notes, strict=True):
        if drawn and sum(rows) < room:
            drawn.append(Text())
        edge = dots.required if side is dots.sides[-1] and len(side_names) > 1 else None
        cells = _rows(side, len(side_names), edge, scale, columns, signs)
        for name, row, note in zip(side_names, cells, side_notes, strict=True):
            drawn.append(Text.assemble((f"{name:<{gutter}}", side.color), row, (note, side.color)))
    rule, labels = labels_below(scale, columns, gutter, ink.glyphs)
    axis = [Text(rule, ink.axis)] * has_rule + [Text(labels, ink.axis)]
    whole = [*drawn, *axis, *(Text() for _ in range(room - len(drawn)))]
    for row in whole:
        row.pad_right(width - row.cell_len)
    text = Text("\n", no_wrap=True, end="").join(whole)
    return text if ink.colors else Text(text.plain, no_wrap=True, end="")


def _shared(runs: Sequence[int], rows: int) -> list[int]:
    """How many rows each side has: one for each of its runs, else as many as are its share."""
    if sum(runs) <= rows:
        return list(runs)
    return [max(1, min(number, rows * number // sum(runs))) for number in runs]


def _row_names(side: Side, rows: int) -> list[str]:
    if rows == side.runs > 1:
        return [f"{side.name} {number}" for number in range(1, rows + 1)]
    return [side.name, *[""] * (rows - 1)]


def _notes(dots: Dots, side: Side, rows: int, signs: _Signs) -> list[str]:
    """What stands behind the rows of a side: what its uprights are."""
    mean = "" if side.mean is None else f" {signs.mean} mean {dots.metric.as_text(side.mean)}"
    notes = [mean, *[""] * (rows - 1)]
    if rows > 1 and dots.required is not None and side is dots.sides[-1]:
        notes[-1] = f" {signs.required} required"
    return notes


def _scale(dots: Dots, columns: int) -> Scale:
    if not dots.values:
        return Scale(0.0, 1.0, ())
    values = [*dots.values, *([dots.required] if dots.required is not None else [])]
    low, high = min(values), max(values)
    pad = _PAD * (high - low) or _PAD * abs(high) or 1.0
    low, high = max(0.0, low - pad), high + pad
    return Scale(low, high, round_ticks(low, high, dots.metric, max(2, columns // _LABEL_COLUMNS)))


def _rows(side: Side, rows: int, required: float | None, scale: Scale, columns: int, signs: _Signs) -> Iterator[Text]:
    """The rows of a side: its runs from the top, in front of its mean and of what is required."""

    def column(value: float) -> int:
        return min(columns - 1, int(scale.fraction(value) * columns))

    for number in range(rows):
        values = [value for run, value in enumerate(side.values) if run * rows // side.runs == number]
        at = Counter(map(column, values))
        guide = max(at, default=0)
        cells: list[tuple[str, StyleType]] = [(signs.guide, "dim")] * guide
        cells += [(" ", "")] * (columns - guide)
        if required is not None:
            cells[column(required)] = (signs.required, "bold")
        if side.mean is not None:
            cells[column(side.mean)] = (signs.mean, side.color)
        for place, runs in at.items():
            cells[place] = (signs.run if runs == 1 else str(min(runs, 9)), Style.parse(side.color) + Style(bold=True))
        text = Text.assemble(*cells)
        if number == len(side.values) * rows // side.runs and not values and (hint := side.hint):
            text = Text.assemble((f" {hint}", "dim"), text[len(hint) + 1 :])
        yield text


class RunDots(Widget):
    """A dot for each run, as large as its box; `.rundots--axis` styles the scale."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"rundots--axis"}
    DEFAULT_CSS = """
    RunDots { width: 1fr; height: 1fr; min-height: 3; padding: 0 2; }
    RunDots > .rundots--axis { color: $foreground 60%; }
    """

    def __init__(self) -> None:
        super().__init__(id="dots")
        self._shown: Dots | None = None

    def show(self, dots: Dots) -> None:
        """Show these; the same ones again cost no redraw."""
        if dots != self._shown:
            self._shown = dots
            self.refresh()

    def render(self) -> Text:
        if self._shown is None:
            return Text()
        profile = profile_of(self)
        axis = Style(color=self.get_component_rich_style("rundots--axis").color)
        ink = ink_of(self, colors=profile.colors != "none", axis=axis)
        return draw_dots(self._shown, *self.content_size, ink)
