"""What a document is made of, before it has a format: sections of paragraphs, tables, charts and commands."""

from __future__ import annotations

from typing import Literal, TypeAlias

from cephtui.frozen import dataclass

Tone: TypeAlias = Literal["plain", "good", "bad", "open"]
"""Of a verdict: met, not met, neither."""
Color: TypeAlias = Literal["before", "after", "limit", "ink", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"]
"""By its part in a chart; the last ones are for lines that are equals."""
Stroke: TypeAlias = Literal["line", "thick", "dashed", "dots"]
Tick: TypeAlias = tuple[float, str]
Point: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: str
    strong: bool = False
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text cells."""

    columns: tuple[str, ...]
    sides: str
    """``l`` or ``r`` for each column: names to the left, figures to the right."""
    rows: tuple[tuple[str, ...], ...]
    strong: frozenset[int] = frozenset()
    """Rows that decide."""


@dataclass(frozen=True, slots=True)
class Code:
    """Text to be copied as it is."""

    caption: str
    text: str


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one kind in a chart."""

    name: str
    """In the legend; empty where it has no entry."""
    points: tuple[Point, ...]
    color: Color
    stroke: Stroke = "line"
    labels: tuple[str, ...] = ()
    """Beside each point; none without."""


@dataclass(frozen=True, slots=True)
class Chart:
    """Points over two linear axes, with all labels decided."""

    name: str
    """Of its file, where it is one of its own."""
    title: str
    series: tuple[Series, ...]
    x: tuple[Tick, ...]
    y: tuple[Tick, ...]
    x_range: Point
    y_range: Point
    x_title: str = ""
    height: int = 220
    """Pixels, of 720 in width."""


Block: TypeAlias = Text | Items | Table | Code | Chart


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A report: the verdict first, then what it rests on."""

    title: str
    """What several open documents are known by: session, change, verdict."""
    heading: str
    lead: tuple[Block, ...]
    """Above the first section: the verdict."""
    sections: tuple[Section, ...]
    made: str
    """By which cephtui, and when."""
