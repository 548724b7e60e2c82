"""A row of small histories: each with a label, its current value, and blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text
from textual.widget import Widget

from cephtui.frozen import dataclass
from cephtui.reports.drawn.sparks import spark_rows
from cephtui.tui.terminal.profile import Graph, profile_of

# Textual's own Sparkline does not serve here: it scales min..max, so a flat line looks like full swing,
# it keeps the maximum of each bucket, which hides a stall, and it raises on None.

_GAP = 2
_HISTORY_LEAST = 12
"""Columns of a history behind its extent."""


@dataclass(frozen=True, slots=True)
class Spark:
    """One history, its name and its value for now."""

    label: str
    value: str
    values: tuple[float | None, ...] = ()
    extent: str = ""
    """The least and greatest value, by `reports.sparks.extent`; where they have room, the scale goes by them."""


def draw_spark(spark: Spark, width: int, height: int, *, graph: Graph, label_style: Style) -> list[Text]:
    """A spark in exactly ``height`` rows of ``width`` columns; in a single row the history stands behind the value."""
    if height < 2:
        return [_inline(spark, width, graph, label_style)]
    title = _title(spark, width, label_style)
    history = _history(spark, width, height - 1, graph, fitted=bool(spark.extent) and spark.extent in title.plain)
    return [title, *(Text(row.ljust(width)) for row in history)]


def _history(spark: Spark, width: int, height: int, graph: Graph, *, fitted: bool) -> list[str]:
    ascii_only, dots = graph == "ascii", graph == "braille"
    return spark_rows(spark.values, width, height, ascii_only=ascii_only, dots=dots, fills=True, fitted=fitted)


def _inline(spark: Spark, width: int, graph: Graph, label_style: Style) -> Text:
    text = Text.assemble((f"{spark.label} ", label_style), (f"{spark.value} ", "bold"))
    fitted = bool(spark.extent) and width - text.cell_len - len(spark.extent) > _HISTORY_LEAST
    if fitted:
        text.append(f"{spark.extent} ", label_style)
    room = width - text.cell_len
    if room > 0:
        text.append(_history(spark, room, 1, graph, fitted=fitted)[0])
    text.truncate(width, pad=True)
    return text


def _title(spark: Spark, width: int, label_style: Style) -> Text:
    """The first row; the extent, then the label gives way where not all fit."""
    value = spark.value if cell_len(spark.value) <= width else set_cell_size(spark.value, width)
    room = width - cell_len(value)
    label = f"{spark.label} {spark.extent}" if cell_len(spark.label) + len(spark.extent) + 2 < room else spark.label
    label = set_cell_size(label, max(0, room - 1)) + " " * min(1, room)
    return Text.assemble((label, label_style), value)


class Sparks(Widget):
    """Several sparks beside each other, of equal width, behind a name.

    `.sparks--label` (its colour) styles the labels.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"sparks--label"}
    DEFAULT_CSS = """
    Sparks { height: 2; }
    Sparks > .sparks--label { color: $foreground 60%; }
    """

    def __init__(self, name: str, color: str = "", *, id: str | None = None) -> None:
        """`name` stands before the first."""
        super().__init__(id=id)
        if color:
            self.styles.color = color
        self._name_text = name
        self._sparks: tuple[Spark, ...] = ()

    def show(self, sparks: Sequence[Spark]) -> None:
        """Show these; the same ones again cost no redraw."""
        if tuple(sparks) != self._sparks:
            self._sparks = tuple(sparks)
            self.refresh()

    def render(self) -> Text:
        width, height = self.content_size
        label = Style(color=self.get_component_rich_style("sparks--label").color)
        head = [Text(f"{self._name_text:>5} ", label), *[Text(" " * 6)] * (height - 1)][:height]
        room = (width - 6) // len(self._sparks) - _GAP if self._sparks else 0
        if room < 1:
            return Text("\n").join(head)
        graph = profile_of(self).symbols
        drawn = [draw_spark(spark, room, height, graph=graph, label_style=label) for spark in self._sparks]
        rows = [Text(" " * _GAP).join(columns) for columns in zip(*drawn, strict=True)]
        return Text("\n").join(Text.assemble(*pair) for pair in zip(head, rows, strict=True))
