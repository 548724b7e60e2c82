"""A text that may be longer than the screen, scrolled with the usual keys."""

from __future__ import annotations

from rich.console import RenderableType
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from cephtui.tui.keys import key


class Scrolled(VerticalScroll):
    """A text as high as there is room."""

    BINDINGS = [
        key("down,j", "scroll_down", "down", "scroll down"),
        key("up,k", "scroll_up", "up", "scroll up"),
        key("home,g", "scroll_home", "top", "to the top"),
        key("end,G", "scroll_end", "end", "to the end"),
    ]
    DEFAULT_CSS = """
    Scrolled { height: 1fr; padding: 0 0 0 1; scrollbar-size-vertical: 1; }
    Scrolled > Static { height: auto; }
    """

    def compose(self) -> ComposeResult:
        yield Static()

    def update(self, value: RenderableType) -> None:
        """Show this instead."""
        self.query_one(Static).update(value)
