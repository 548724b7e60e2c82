"""A widget whose title in its border is the longest of several for which there is room."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.text import Text
from textual.widget import Widget

_BESIDE_TITLE = 6
"""Columns of a border that its title leaves free."""


class Titled(Widget):
    """A widget with a border in which a title stands."""

    _titles: Sequence[Callable[[], Text]] = ()

    def show_title(self, *titles: Callable[[], Text]) -> None:
        """Show the first title for which there is room, or the last; those behind it are not made."""
        self._titles = titles
        self._fit_title()

    def on_resize(self) -> None:
        self._fit_title()

    def _fit_title(self) -> None:
        columns, title = self.outer_size.width, None
        for make in self._titles:
            title = make()
            if not columns or title.cell_len <= columns - _BESIDE_TITLE:
                break
        if title is not None:
            self.border_title = title.markup
