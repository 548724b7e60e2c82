"""Runs before and after a change on one scale: a dot for each run, dropped when the run ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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
    """Exactly ``height`` rows of ``width`` columns: a row for each run where there is room, more where there is more,
    one for each side at least; below them the scale, empty before the first run. Nothing in too little room.
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
    scale, drawn = _scale(dots, columns), list[list[Text]]()
    for side, side_names, side_notes in zip(dots.sides, names, notes, strict=True):
        edge = dots.required if side is dots.sides[-1] and len(side_names) > 1 else None
        uprights = _uprights(side, edge, scale, columns, signs)
        cells = _rows(side, len(side_names), uprights, scale, columns, signs)
        named = zip(side_names, cells, side_notes, strict=True)
        lines = [Text.assemble((f"{name:<{gutter}}", side.color), row, (note, side.color)) for name, row, note in named]
        drawn.append(_spaced(lines, Text.assemble(" " * gutter, *_cells(uprights, columns)), _apart(rows, room)))
    rule, labels = labels_below(scale, columns, gutter, ink.glyphs)
    axis = [Text(rule, ink.axis)] * has_rule + [Text(labels, ink.axis)]
    first, *others = drawn
    free = [Text() for _ in range(room - sum(map(len, drawn)))]
    whole = [*first, *free, *(row for side_rows in others for row in side_rows), *axis]
    for row in whole:
        row.pad_right(width - row.cell_len)
    text = Text("\n", no_wrap=True, end="").join(whole)
    return text if ink.colors else Text(text.plain, no_wrap=True, end="")


def _shared(runs: Sequence[int], rows: int) -> list[int]:
    """How many rows each side has: one for each of its runs, else as many as are its share."""
    if sum(runs) <= rows:
        return list(runs)
    return [max(1, min(number, rows * number // sum(runs))) for number in runs]


def _apart(rows: Sequence[int], room: int) -> int:
    """How many rows there are between two runs of a side, which leave as many between the sides."""
    return max(0, room - sum(rows)) // max(1, sum(rows) - 1)


def _spaced(lines: Sequence[Text], between: Text, apart: int) -> list[Text]:
    spaced = [row for line in lines for row in (line, *(between.copy() for _ in range(apart)))]
    return spaced[: len(spaced) - apart]


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


_Cell = tuple[str, StyleType]


def _uprights(side: Side, required: float | None, scale: Scale, columns: int, signs: _Signs) -> dict[int, _Cell]:
    """The cells of a side's mean, and of what is required, by their columns."""
    uprights: dict[int, _Cell] = {}
    if required is not None:
        uprights[_column(required, scale, columns)] = (signs.required, "bold")
    if side.mean is not None:
        uprights[_column(side.mean, scale, columns)] = (signs.mean, side.color)
    return uprights


def _column(value: float, scale: Scale, columns: int) -> int:
    return min(columns - 1, int(scale.fraction(value) * columns))


def _cells(signs: Mapping[int, _Cell], columns: int, guide: _Cell = (" ", ""), until: int = 0) -> list[_Cell]:
    """These, and the guide up to a column."""
    return [signs.get(place, guide if place < until else (" ", "")) for place in range(columns)]


def _rows(
    side: Side, rows: int, uprights: Mapping[int, _Cell], scale: Scale, columns: int, signs: _Signs
) -> Iterator[Text]:
    """The rows of a side: its runs from the top, in front of the uprights."""
    bold = Style.parse(side.color) + Style(bold=True)
    for number in range(rows):
        values = [value for run, value in enumerate(side.values) if run * rows // side.runs == number]
        at = Counter(_column(value, scale, columns) for value in values)
        runs = {place: (signs.run if count == 1 else str(min(count, 9)), bold) for place, count in at.items()}
        text = Text.assemble(*_cells({**uprights, **runs}, columns, (signs.guide, "dim"), max(at, default=0)))
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
