"""A widget of one small history: a label, its current value, and a row of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text
from textual.widget import Widget

from cephtui.sparks import spark_rows
from cephtui.tui.chart import is_ascii

# Textual's own Sparkline does not serve here: it scales min..max, so a flat line looks like full swing,
# it keeps the maximum of each bucket, which hides a stall, and it raises on None.


class Spark(Widget):
    """A label, its current value flush right, and below them the history in the rows that are left.

    In a single row the history stands behind the value.

    The history has the colour of the widget; `.spark--label` (its colour) styles the label.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"spark--label"}
    DEFAULT_CSS = """
    Spark { height: 2; }
    Spark > .spark--label { color: $foreground 60%; }
    """

    def __init__(
        self,
        label: str = "",
        *,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        """Make a sparkline without values."""
        super().__init__(name=name, id=id, classes=classes)
        self._label = label
        self._value = ""
        self._values: tuple[float | None, ...] = ()

    def show(self, values: Sequence[float | None], value: str) -> None:
        """Show the history `values` and the text `value` for now; the same ones again cost no redraw."""
        fresh = tuple(values)
        if (fresh, value) != (self._values, self._value):
            self._values, self._value = fresh, value
            self.refresh()

    def render(self) -> Text:
        """Draw what was last shown at the present size."""
        width, height = self.content_size
        if height < 2:
            return self._inline(width)
        rows = spark_rows(self._values, width, height - 1, ascii=is_ascii(self))
        return self._title(width).append("".join(f"\n{row}" for row in rows))

    def _inline(self, width: int) -> Text:
        label = Style(color=self.get_component_rich_style("spark--label").color)
        text = Text.assemble((f"{self._label} ", label), (f"{self._value} ", "bold"), no_wrap=True, end="")
        room = width - text.cell_len
        if room > 0:
            text.append(spark_rows(self._values, room, 1, ascii=is_ascii(self))[0])
        text.truncate(width)
        return text

    def _title(self, width: int) -> Text:
        """The first row; the label gives way where both do not fit."""
        value = self._value if cell_len(self._value) <= width else set_cell_size(self._value, width)
        room = width - cell_len(value)
        label = set_cell_size(self._label, max(0, room - 1)) + " " * min(1, room)
        style = Style(color=self.get_component_rich_style("spark--label").color)
        return Text.assemble((label, style), value, no_wrap=True, end="")
