"""What a result is made of, before it has a format: paragraphs, lists, tables, charts and commands.

A view describes a result in blocks, once; ``cephtui.reports.render`` writes any of them in a format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

from cephtui import __version__
from cephtui.frozen import dataclass
from cephtui.reports.styles import Style
from cephtui.reports.words.cutting import cut

if TYPE_CHECKING:
    from cephtui.models import Model, Sample
    from cephtui.reports.sheets import Sheet
    from cephtui.stats import Buckets

Color: TypeAlias = Literal["before", "after", "limit", "ink", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"]
"""By its part in a chart; the last ones are for lines that are equals."""
Stroke: TypeAlias = Literal["line", "thick", "dashed", "dots"]
Side: TypeAlias = Literal["l", "r"]
"""Names stand to the left, figures to the right."""
Tick: TypeAlias = tuple[float, str]
Point: TypeAlias = tuple[float, float]
Part: TypeAlias = tuple[str, Style]

_RUNS = re.compile(r"(#\d+(?:(?:, |-)\d+)*)")


@dataclass(frozen=True, slots=True)
class Words:
    """A text in parts that have styles of their own."""

    parts: tuple[Part, ...]
    style: Style = ""
    """Of all of it."""
    share: float | None = None
    """Of a figure: how near it is to the best of its like, which is 1; None where it has no like."""

    @property
    def plain(self) -> str:
        """The text alone."""
        return "".join(text for text, _ in self.parts)


Cell: TypeAlias = str | Words


def words(*parts: str | Part | Words, style: Style = "") -> Words:
    """A text of several parts; a string has the style of all of it."""
    return Words(tuple(styled_part for part in parts for styled_part in _parts(part)), style)


def _parts(part: str | Part | Words) -> tuple[Part, ...]:
    if isinstance(part, Words):
        return tuple((text, style or part.style) for text, style in part.parts)
    return ((part, ""),) if isinstance(part, str) else (part,)


def share_of(cell: Cell | Bar) -> float | None:
    """How near a figure is to the best of its like."""
    return cell.share if isinstance(cell, Words) else None


def naming_runs(text: str, style: Style = "") -> Words:
    """A text of cephtui's own, in which ``#3`` is a run; no text of any other origin."""
    return Words(
        tuple((piece, "runs" if _RUNS.fullmatch(piece) else "") for piece in _RUNS.split(text) if piece), style
    )


def joined_words(cells: Iterable[Cell], between: str) -> Words:
    """The texts that are not empty, joined on one line."""
    parts: list[str | Words] = []
    for cell in cells:
        if plain_text(cell):
            parts += [between] if parts else []
            parts.append(cell)
    return words(*parts)


def plain_text(cell: Cell) -> str:
    """Without its styles."""
    return cell if isinstance(cell, str) else cell.plain


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph; an empty one is an empty line on a terminal."""

    text: Cell
    style: Style = ""
    indent: int = 0
    """Columns, on a terminal."""


@dataclass(frozen=True, slots=True)
class Items:
    """A list; on a terminal lines."""

    items: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts by name. An empty name continues the fact before it."""

    facts: tuple[tuple[str, Cell], ...]
    in_short: Cell = ""
    """A line that stands for all of them on a terminal."""


@dataclass(frozen=True, slots=True)
class Column:
    """The heading of a table's column."""

    title: Cell = ""
    side: Side = "l"
    is_whole: bool = False
    """Whether a terminal breaks no line in it, as it never does in a figure."""
    rank: int = 0
    """Where a terminal has no room for all columns, those of the greatest rank are left out first; 0 stays."""
    enough: int = 0
    """Characters that are enough for a column that is wrapped; 0 is all."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A share of the greatest value of a column, as a bar; the figure stands beside it."""

    share: float
    width: int
    """Columns of a whole bar."""
    style: Style = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell | Bar, ...], ...]
    strong: frozenset[int] = frozenset()
    """Rows that decide."""
    notes: tuple[Cell, ...] = ()
    """One for each row, empty for none: on a terminal behind it where there is room, else below it."""
    note_indent: int = 0
    """Columns, of a note below its row."""
    narrower: tuple[Block, ...] = ()
    """What stands in its place on a terminal without room for it."""

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the columns, without styles."""
        return tuple(plain_text(column.title) for column in self.columns)

    @property
    def has_notes(self) -> bool:
        """Whether any row has one."""
        return any(map(plain_text, self.notes))

    @property
    def filled(self) -> Table:
        """The table without columns that are empty in all of its rows."""
        numbers = [at for at, cells in enumerate(zip(*self.rows, strict=True)) if any(map(_is_filled, cells))]
        return self.with_columns(numbers) if self.rows else self

    def with_columns(self, numbers: Sequence[int]) -> Table:
        """The table with these columns only."""
        columns = tuple(self.columns[at] for at in numbers)
        return replace(self, columns=columns, rows=tuple(tuple(row[at] for at in numbers) for row in self.rows))

    def with_notes_in_cells(self) -> Table:
        """The table of a file: notes stand in the second cell of rows that have no more, else in a last column."""
        if not self.has_notes:
            return self
        alone = [not any(map(_text_of, row[1:])) for row in self.rows]
        rows = [
            (row[0], note, *row[2:]) if is_alone else row
            for row, note, is_alone in zip(self.rows, self.notes, alone, strict=True)
        ]
        notes = ["" if is_alone else note for note, is_alone in zip(self.notes, alone, strict=True)]
        if not any(map(plain_text, notes)):
            return replace(self, rows=tuple(rows), notes=())
        noted = tuple((*row, note) for row, note in zip(rows, notes, strict=True))
        return replace(self, columns=(*self.columns, Column("note")), rows=noted, notes=())

    @property
    def texts(self) -> tuple[tuple[str, ...], ...]:
        """The rows without styles; a bar is empty."""
        return tuple(tuple(map(_text_of, row)) for row in self.rows)


def _is_filled(cell: Cell | Bar) -> bool:
    return isinstance(cell, Bar) or bool(plain_text(cell))


def _text_of(cell: Cell | Bar) -> str:
    return "" if isinstance(cell, Bar) else plain_text(cell)


def columns(titles: Iterable[str], sides: str, *, is_whole: bool = False) -> tuple[Column, ...]:
    """Columns by their titles: names (``l``) stand to the left, figures (``r``) to the right."""
    pairs = zip(titles, sides, strict=True)
    return tuple(Column(title, "r" if side == "r" else "l", is_whole=is_whole) for title, side in pairs)


def cut_rows(rows: Iterable[tuple[Cell | Bar, ...]], what: str) -> tuple[tuple[Cell | Bar, ...], ...]:
    """The first rows, and one with the number of the rest."""
    shown, more = cut(rows, what)
    return (*shown, (more, *[""] * (len(shown[0]) - 1))) if more else tuple(shown)


def cut_items(items: Iterable[Cell], what: str) -> tuple[Cell, ...]:
    """The first items, and one with the number of the rest."""
    shown, more = cut(items, what)
    return (*shown, more) if more else tuple(shown)


@dataclass(frozen=True, slots=True)
class Code:
    """Text to be copied as it is."""

    caption: Cell
    text: str
    is_command: bool = False
    """Whether it is one that was run on a node."""
    is_aside: bool = False
    """Whether a terminal leaves it out."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """A command of cephtui's that shows more."""

    caption: str
    command: str
    is_aside: bool = False
    """Whether a terminal leaves it out: it is what was typed there."""


@dataclass(frozen=True, slots=True)
class ChartSeries:
    """Points of one kind in a chart."""

    name: str
    """In the legend; empty where it has no entry."""
    points: tuple[Point, ...]
    color: Color
    stroke: Stroke = "line"
    labels: tuple[str, ...] = ()
    """Beside each point; none without."""


@dataclass(frozen=True, slots=True)
class LineChart:
    """Points over two linear axes, with all labels decided."""

    name: str
    """Of its file, where it is one of its own."""
    title: str
    series: tuple[ChartSeries, ...]
    x: tuple[Tick, ...]
    y: tuple[Tick, ...]
    x_range: Point
    y_range: Point
    x_title: str = ""
    height: int = 220
    """Pixels, of 720 in width."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """Latencies of one flow, with the ladder of their percentiles."""

    flow: str
    word: str
    """What its latency is called."""
    about: str
    """What that is."""
    buckets: Buckets
    greatest_seconds: float


@dataclass(frozen=True, slots=True)
class Histograms:
    """The histograms of a run's flows, with the same figures as a table."""

    charts: tuple[Histogram, ...]
    table: Table


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    """The interval of a ratio against what is required: a terminal draws a bar, the text above has the figures."""

    low: float
    ratio: float
    high: float
    required: float
    required_text: str
    same: float
    """How far from 1 a ratio is that counts as 1."""
    style: Style
    indent: int = 0


Block: TypeAlias = Text | Items | Facts | Table | Code | NextStep | LineChart | Histograms | ConfidenceInterval


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it."""

    title: str
    blocks: tuple[Block, ...]
    is_data: bool = False
    """Whether a workbook has all of it in sheets of its own."""


@dataclass(frozen=True, slots=True)
class Document:
    """A result for people, what matters most first."""

    title: str
    """What several open documents are known by."""
    heading: Cell
    """On a terminal it is left out: the command says it. Empty where the blocks say what each is."""
    lead: tuple[Block, ...]
    """Above the first section."""
    sections: tuple[Section, ...] = ()
    """Without any it is a part of a ticket, not a document of its own."""
    footer: str = f"cephtui {__version__}"
    """By which cephtui, and when."""
    made_at: datetime | None = None


def document(heading: str, *blocks: Block) -> Document:
    """One that is a part of a ticket."""
    return Document(heading, heading, blocks)


@dataclass(frozen=True, slots=True)
class View:
    """A result: for people, for programs, for spreadsheets. Each is made when it is asked for."""

    document: Callable[[], Document]
    lines: Callable[[], Iterable[Model | Sample]]
    """As JSON Lines."""
    sheet: Callable[[], Sheet]
    """As CSV."""
    sheets: Callable[[], Iterable[Sheet]] | None = None
    """Of a workbook, where it has others."""


def together(first: View, *rest: View) -> View:
    """Several as one; in a workbook each has its sheet, and the first is that of CSV."""
    return View(
        document=lambda: _joined(first.document(), [view.document() for view in rest]),
        lines=lambda: (line for view in (first, *rest) for line in view.lines()),
        sheet=first.sheet,
        sheets=lambda: (sheet for view in (first, *rest) for sheet in sheets_of(view)),
    )


def sheets_of(view: View) -> Iterator[Sheet]:
    """The sheets that a workbook has of a view."""
    yield from view.sheets() if view.sheets else [view.sheet()]


def _joined(first: Document, rest: Sequence[Document]) -> Document:
    more = (block for document in rest for block in document.lead)
    return Document(first.title, first.heading, (*first.lead, *more), first.sections, first.footer)
