"""What Textual has no public name for. Seen in Textual 8.2.8."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import RenderableType
from textual.app import App
from textual.filter import LineFilter
from textual.screen import Screen


class HookedApp(App[None]):
    """An application that may replace what is drawn, and that reports its own failure."""

    def replaced(self, frame: RenderableType | None) -> RenderableType | None:
        """What is drawn in the place of a frame; None draws nothing."""
        return frame

    def fail(self, error: BaseException | None) -> None:
        """Called where a handler has raised; by default Textual's traceback, with all local variables, is printed."""
        super()._fatal_error()

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        super()._display(screen, self.replaced(renderable))

    def _fatal_error(self) -> None:
        self.fail(sys.exc_info()[1])


def is_exiting(app: App[Any]) -> bool:
    """Whether ``exit`` was called."""
    return app._exit


def loop_of(app: App[Any]) -> asyncio.AbstractEventLoop | None:
    """The event loop that an application runs in; None before it runs and after it has ended."""
    return app._loop


def line_filters(app: App[Any]) -> Sequence[LineFilter]:
    """What every line goes through before it is written."""
    return app._filters


def set_line_filters(app: App[Any], filters: Sequence[LineFilter]) -> None:
    """Replace them all."""
    app._filters = list(filters)


def unwritten_frames(app: App[Any]) -> int:
    """Frames that the terminal has not taken yet; Textual's queue to it holds 30, and then the application waits."""
    writer = getattr(app._driver, "_writer_thread", None)
    return writer._queue.qsize() if writer else 0
