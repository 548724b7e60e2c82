"""A list of rows to choose from, in columns, with texts that wrap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from textual.content import Content
from textual.css.styles import RulesMap
from textual.events import Resize
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from cephtui.frozen import dataclass
from cephtui.printable import one_line, printable

_GAP = 2
_COLUMN_MOST = 24
"""Cells; the text of a longer cell stands below it."""
_TEXT_LEAST = 26
"""With less room than this behind the columns, a row's text stands below them."""


@dataclass(frozen=True, slots=True)
class PickRow:
    """A row to choose, or a heading over some."""

    key: str
    """Unique in its list."""
    cells: tuple[str, ...]
    text: str = ""
    """Flows behind the cells, or below them where it is narrow."""
    refused: str = ""
    """Why it can't be chosen, as a sentence with the next step; such a row is dim, with the reason in its text."""
    more: str = ""
    """More text that the filter searches."""
    heading: bool = False
    always: bool = False
    """Whether it is shown with any filter."""

    def fits(self, words: Sequence[str]) -> bool:
        """Whether it has all these words, which are in small letters."""
        shown = " ".join((*self.cells, self.text, self.more)).lower()
        return self.always or all(word in shown for word in words)


def matching(rows: Iterable[PickRow], filter_text: str) -> list[PickRow]:
    """The rows with all words of a filter, under their headings; a heading without rows goes."""
    words, matches, heading = filter_text.lower().split(), [], None
    for row in rows:
        if row.heading:
            heading = row
            if row.always:
                matches.append(row)
                heading = None
        elif row.fits(words):
            matches += [row] if heading is None else [heading, row]
            heading = None
    return matches


def widths(rows: Sequence[PickRow]) -> tuple[int, ...]:
    """The width of each column, in cells; a heading counts where it is one of columns."""
    columns = max((len(row.cells) for row in rows if not row.heading), default=0)
    cells = [_shown(row).cells for row in rows if not row.heading or len(row.cells) == columns > 1]
    lengths = [[Content(row[column]).cell_length for row in cells if len(row) > column] for column in range(columns)]
    return tuple(
        max((length for length in column if length <= _COLUMN_MOST), default=_COLUMN_MOST) for column in lengths
    )


def _shown(row: PickRow) -> PickRow:
    """The row in letters that a terminal shows; what is chosen is still its own."""
    return replace(row, cells=tuple(map(printable, row.cells)), text=one_line(row.text))


class RowVisual(Visual):
    """A row as it is drawn: nothing is cut off at any width."""

    def __init__(self, row: PickRow, columns: tuple[int, ...]) -> None:
        self.row, self._columns = _shown(row), columns
        self._lines: tuple[int, list[Content]] = (0, [])

    def lines(self, width: int) -> list[Content]:
        """The lines at a width in cells."""
        if self._lines[0] != width:
            self._lines = (width, self._laid_out(max(1, width)))
        return self._lines[1]

    def _laid_out(self, width: int) -> list[Content]:
        if self.row.heading and len(self.row.cells) == 1:
            return (Content(self.row.cells[0]).stylize("bold underline") + f" {self.row.text}").wrap(width)
        head_style, text_style = self._styles()
        column = sum(self._columns) + _GAP * len(self._columns)
        below = width - column < _TEXT_LEAST
        indent = min(4, width // 4) if below else column
        head = [line.stylize(head_style) for line in self._head(width).wrap(width)]
        wrapped = Content(self.row.text).wrap(width - indent) if self.row.text else []
        text = [line.stylize(text_style) for line in wrapped]
        if text and not below and len(head) == 1 and head[0].cell_length <= indent - _GAP:
            head = [head[0].pad_right(indent - head[0].cell_length) + text.pop(0)]
        return head if self.row.heading else [*head, *(line.pad_left(indent) for line in text)]

    def _styles(self) -> tuple[str, str]:
        """Styles of the cells, and of the text."""
        if self.row.heading:
            return "bold underline", "bold underline"
        return ("dim", "dim") if self.row.refused else ("bold", "")

    def _head(self, room: int) -> Content:
        """The cells in their columns, or close together where these have no room."""
        head, in_columns = Content(), sum(self._columns) + _GAP * (len(self._columns) - 1) <= room
        for cell, width in zip(map(Content, self.row.cells), self._columns, strict=False):
            head += cell.pad_right(max(0, width - cell.cell_length) * in_columns + _GAP)
        return head.rstrip()

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        return container_width

    def get_height(self, rules: RulesMap, width: int) -> int:
        return len(self.lines(width))

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        lines = self.lines(width)[:height]
        return [strip for line in lines for strip in line.render_strips(width, 1, style, options)]


class PickList(OptionList):
    """The list of rows."""

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._shown: list[PickRow] = []
        self._visuals: dict[tuple[PickRow, tuple[int, ...]], RowVisual] = {}
        """The visuals of the rows shown: most rows stay the same when something arrives."""

    def grow_to(self, rows: int) -> None:
        """Let the list be as high as its rows, up to so many."""
        self.styles.min_height, self.styles.max_height = 1, max(1, rows)

    def on_resize(self, event: Resize) -> None:
        """Keep the height while a filter is typed: the box around the list would jump."""
        self.styles.min_height = event.size.height

    @property
    def shown(self) -> Sequence[PickRow]:
        return self._shown

    @property
    def row(self) -> PickRow | None:
        """The highlighted row."""
        return None if self.highlighted is None else self._shown[self.highlighted]

    def show(self, rows: list[PickRow], highlight: str | None, *, follow: bool) -> None:
        """Show these rows and highlight the one of this key, else the first that can be chosen.

        ``follow`` scrolls to it; without it the list stays where it is.
        """
        top, columns = self.scroll_offset.y, widths(rows)
        self._shown = rows
        self._visuals = {(row, columns): self._visuals.get((row, columns)) or RowVisual(row, columns) for row in rows}
        self.set_options(Option(self._visuals[row, columns], disabled=row.heading) for row in rows)
        at = _index(rows, highlight)
        if follow:
            self.highlighted = at
        else:
            self.set_reactive(OptionList.highlighted, at)
            self.scroll_to(y=top, animate=False, immediate=True)
            self.refresh()


def _index(rows: Sequence[PickRow], key: str | None) -> int | None:
    """The index of the row of this key, else of the first that can be chosen, else of the first that is no heading."""
    usable = [(row, index) for index, row in enumerate(rows) if not row.heading]
    named = (index for row, index in usable if row.key == key)
    free = (index for row, index in usable if not row.refused)
    return next(named, next(free, usable[0][1] if usable else None))
