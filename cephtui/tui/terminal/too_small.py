"""What is shown in the place of any screen while the terminal is too small for it."""

from __future__ import annotations

from textwrap import wrap

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.control import Control
from rich.segment import Segment
from textual import events
from textual.geometry import Size

from cephtui.tui.terminal.in_order import OrderedApp

SMALLEST = Size(80, 24)
"""Everything is laid out for this at least."""
_QUIT_KEYS = frozenset({"q", "ctrl+q", "ctrl+c"})


def is_too_small(size: Size) -> bool:
    """Whether something would be cut off."""
    return size.width < SMALLEST.width or size.height < SMALLEST.height


def message(size: Size, *, busy: bool) -> list[str]:
    """The notice in as many lines as the terminal has, none longer than it is wide; what matters most comes first."""
    needed = f"cephtui needs {SMALLEST.width}x{SMALLEST.height}, this terminal has {size.width}x{size.height}."
    then = "Make it larger: the run continues." if busy else "Make it larger, or press q to quit."
    text = [line for part in (needed, then) for line in wrap(part, max(1, size.width))][: size.height]
    above = (size.height - len(text)) // 2
    lines = [*[""] * above, *text, *[""] * (size.height - above - len(text))]
    return [line.center(size.width) for line in lines]


class TooSmallNotice:
    """The message, on the whole terminal; no colours, so that it can be read on any."""

    def __init__(self, size: Size, *, busy: bool) -> None:
        self._lines = message(size, busy=busy)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw each line at its place."""
        for row, line in enumerate(self._lines):
            yield Control.move_to(0, row).segment
            yield Segment(line)


class MinimumSizeApp(OrderedApp):
    """An application whose screens are neither seen nor used while the terminal is too small.

    They stay as they are, with the dialogs on them, and take the changes of size and whatever else happens.
    """

    @property
    def busy(self) -> bool:
        """Whether a run is in progress."""
        return False

    @property
    def too_small(self) -> bool:
        """Whether the notice is shown."""
        return is_too_small(self.size)

    def replaced(self, frame: RenderableType | None) -> RenderableType | None:
        """The notice in the place of every frame."""
        return TooSmallNotice(self.size, busy=self.busy) if frame is not None and self.too_small else frame

    async def on_event(self, event: events.Event) -> None:
        """Nothing that is typed or clicked reaches what can't be seen."""
        if not (self.too_small and isinstance(event, events.InputEvent | events.Paste)):
            await super().on_event(event)
        elif isinstance(event, events.Key) and event.key in _QUIT_KEYS and not self.busy:
            await self.action_quit()
