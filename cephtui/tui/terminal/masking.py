"""A mask between the widgets and the terminal, switched on for an audience."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.app import App
from textual.color import Color
from textual.filter import LineFilter
from textual.widget import Widget

from cephtui.tui.textual_private import line_filters, set_line_filters

if TYPE_CHECKING:
    from cephtui.reports.masking.mask import Mask, Names


class Masked(LineFilter):
    """Every line through a mask. Textual keeps what a filter has made: other names need another filter."""

    def __init__(self, mask: Callable[[], Mask]) -> None:
        super().__init__()
        self._mask = mask

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same styles and widths; a name may lie in several segments."""
        line = "".join(segment.text for segment in segments if not segment.control)
        new = self._mask().line(line)
        return segments if new == line else list(_spread(new, segments))


def _spread(text: str, segments: Iterable[Segment]) -> Iterator[Segment]:
    """A text over segments, by their widths."""
    begun = 0
    for segment in segments:
        if segment.control:
            yield segment
            continue
        end, room = begun, segment.cell_length
        while room > 0 and end < len(text):
            room -= cell_len(text[end])
            end += 1
        yield Segment(text[begun:end], segment.style)
        begun = end


class Masking:
    """Switches the mask of an application, and keeps it up to date with the names that the application knows."""

    def __init__(self, app: App[None], names: Callable[[], Names]) -> None:
        """``names`` is called once for each frame."""
        self._app, self._names = app, names
        self._filtered = 0
        """Names of the filter that is in use."""
        self._is_fresh = False
        self.is_on = False

    @cached_property
    def _mask(self) -> Mask:
        from cephtui.reports.masking.mask import Mask

        return Mask()

    def toggle(self) -> None:
        """Hide the names, or show them again."""
        self.is_on = not self.is_on
        self._draw_anew()

    def text(self, text: str) -> str:
        """A text as it may be shown or handed on."""
        return self._now().text(text) if self.is_on else text

    def _now(self) -> Mask:
        """The mask with all names of this moment; they are asked for again when the frame is done."""
        if not self._is_fresh:
            self._is_fresh = True
            self._mask.learn(self._names())
            asyncio.get_running_loop().call_soon(self._end_frame)
        return self._mask

    def _end_frame(self) -> None:
        """Draw anew what was drawn before a name was known."""
        self._is_fresh = False
        if self.is_on and len(self._mask) != self._filtered:
            self._draw_anew()

    def _draw_anew(self) -> None:
        if self.is_on:
            self._mask.learn(self._names())
        self._filtered = len(self._mask)
        printable, *rest = (
            line_filter for line_filter in line_filters(self._app) if not isinstance(line_filter, Masked)
        )
        set_line_filters(self._app, [printable, *([Masked(self._now)] if self.is_on else []), *rest])
        for screen in self._app.screen_stack:
            for widget in screen.walk_children(Widget, with_self=True):
                widget.refresh()


def masked_text(widget: Widget, text: str) -> str:
    """A text as it may be shown, for what is drawn in big letters, in which no filter finds a name."""
    masking: Masking | None = getattr(widget.app, "masking", None)
    return masking.text(text) if masking else text
