"""The first row of a screen that shows what is saved."""

from __future__ import annotations

from rich.text import Text
from textual.widgets import Static


class TitleBar(Static):
    """The program's name, what the screen shows, and remarks."""

    def __init__(self, text: str = "") -> None:
        super().__init__(id="bar")
        self.show(text)

    def show(self, text: str, remarks: str = "") -> None:
        self.update(Text.assemble(("cephtui", "bold"), f"   {text}", (remarks and f"   {remarks}", "italic")))
