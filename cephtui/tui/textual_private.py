"""What Textual has no public name for. Seen in Textual 8.2.8."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TextIO, TypeAlias, cast

from rich.console import Console, RenderableType
from rich.control import Control
from textual import screen as textual_screen
from textual._compositor import ChopsUpdate, Compositor, CompositorUpdate, LayoutUpdate
from textual._xterm_parser import XTermParser
from textual.actions import ActionParseResult
from textual.app import App
from textual.await_remove import AwaitRemove
from textual.dom import DOMNode
from textual.drivers import linux_driver
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key
from textual.filter import LineFilter
from textual.geometry import Region, Size
from textual.keys import Keys
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from cephtui.nodes.asyncio_private import is_awaited

Piece: TypeAlias = tuple[int, int, Strip]
"""A row, the column where it begins, and what stands there."""


class Changes(CompositorUpdate):
    """The pieces of a frame that the terminal does not show already: its link may be slow."""

    def __init__(self, pieces: Iterable[Piece], shown: dict[int, dict[int, tuple[int, str]]]) -> None:
        """``shown`` has what the terminal shows, as far as it is known: by row and column the end and the text."""
        self._pieces, self._shown = pieces, shown

    def render_segments(self, console: Console) -> str:
        """What is sent; it is taken as shown from then on."""
        sent, cursor = [], (-1, -1)
        for row, column, strip in self._pieces:
            line, end, text = self._shown.setdefault(row, {}), column + strip.cell_length, strip.render(console)
            if line.get(column) == (end, text):
                continue
            for covered in [at for at, (until, _) in line.items() if at < end and until > column]:
                del line[covered]
            line[column] = end, text
            sent += [] if cursor == (row, column) else [Control.move_to(column, row).segment.text]
            sent.append(text)
            cursor = row, end
        return "".join(sent)


class TerminalFile:
    """A terminal's file; what it does not take, as after a hang-up, is dropped.

    The thread of Textual's that writes would end with the error, and the application stand still at its queue.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self.fileno = file.fileno

    def write(self, text: str) -> None:
        """Text for the terminal."""
        with contextlib.suppress(OSError):
            self._file.write(text)

    def flush(self) -> None:
        """Send it."""
        with contextlib.suppress(OSError):
            self._file.flush()


_UNFINISHED = re.compile(r"\x1b(\[[\[0-?]*[ -/]*|O)\Z")
"""The beginning of an escape sequence (ECMA-48, CSI; SS3) at the end of what was read."""
_UNKNOWN = re.compile(r"\x1b\[[0-?]*[ -/]*[@-LN-Z\\-ln-xz-~]")
"""A whole sequence, but those that Textual takes for other events than keys: mouse, modes."""
_REST = re.compile(r"\A(\[[0-?]*[ -/]*[@-Z\\-~]|O[A-DFHP-S])")
"""What follows the escape of a sequence, at the beginning of what was read."""


class KeyParser(XTermParser):
    """Reads keys so that nothing of an escape sequence is text, however a slow link cuts or joins what is typed.

    Textual types what it does not know, and takes escape with a key right behind it for alt and that key, which an
    input types too: here they are two keys.
    """

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._unfinished = ""
        self._has_waited = False
        """Whether an escape by itself was taken for the key."""

    def feed(self, data: str) -> Iterable[Message]:
        """The events of what was read; the beginning of a sequence waits for its end."""
        if data:
            data = ("" if data[0] == "\x1b" else self._unfinished) + (_REST.sub("", data) if self._has_waited else data)
            self._unfinished, self._has_waited = "", False
            if unfinished := _UNFINISHED.search(data):
                self._unfinished, data = unfinished[0], data[: unfinished.start()]
            if not data:
                return ()
        return super().feed(data)

    def tick(self) -> Iterable[Message]:
        """The events of what has waited for more."""
        waited = list(super().tick())
        self._has_waited = self._has_waited or bool(waited)
        return waited

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[Key]:
        keys = list(super()._sequence_to_key_events(sequence))
        typed = sequence.removeprefix("\x1b")
        is_pair = len(typed) == 1 < len(sequence) and (not keys or keys[0].character is not None)  # but ctrl+right
        if alt or (is_pair and typed not in "[O"):
            return [Key("escape", "\x1b"), *super()._sequence_to_key_events(typed)]
        return [Key(Keys.Ignore, sequence)] if not keys and _UNKNOWN.fullmatch(sequence) else keys


class TerminalDriver(LinuxDriver):
    """A driver whose application ends in order after a hang-up of its terminal."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._is_suspended = False
        if self._file is not None:
            self._file = TerminalFile(self._file)  # type: ignore[assignment]

    def run_input_thread(self) -> None:
        """As Textual's, with keys as ``KeyParser`` reads them: it makes the parser there."""
        linux_driver.XTermParser = KeyParser  # type: ignore[attr-defined]
        super().run_input_thread()

    def _sigtstp_application(self, *_: Any) -> None:
        self._soon(super()._sigtstp_application)

    def _sigcont_application(self, *_: Any) -> None:
        self._soon(super()._sigcont_application)

    def _soon(self, act: Callable[[], object]) -> None:
        """Act outside of the signal handler: what it has interrupted may hold a lock, such as that of the output."""
        with contextlib.suppress(RuntimeError):  # the application has ended
            self._loop.call_soon_threadsafe(act)

    def suspend_application_mode(self) -> None:
        """As Textual's."""
        self._is_suspended = True
        super().suspend_application_mode()

    def resume_application_mode(self) -> None:
        """As Textual's, on a terminal that is still there: with each hang-up comes a SIGCONT.

        It also comes after a SIGSTOP. Without a suspension before it, two threads would read the keys from then on.
        """
        if not os.isatty(self.fileno):
            return
        if not self._is_suspended:
            self._must_signal_resume = True
            self.suspend_application_mode()
        self._is_suspended = False
        super().resume_application_mode()


def _pieces(frame: LayoutUpdate | ChopsUpdate) -> Iterator[Piece]:
    """The pieces of a frame, from the top and from the left."""
    if isinstance(frame, LayoutUpdate):
        for row, strips in enumerate(frame.strips, frame.region.y):
            column = frame.region.x
            for strip in strips:
                yield row, column, strip
                column += strip.cell_length
    else:
        for row, begin, end in frame.spans:
            for column, piece in frame.chops[row].items():
                if piece is not None and column < end and column + piece.cell_length > begin:
                    yield row, column, piece


class LeastCompositor(Compositor):
    """Renders what stands in a line that has changed. Textual's renders all that is in a container of what has changed.

    With Textual's a console that follows one node took 3.2 % of a core, and 2.6 % with this one.
    """

    def __init__(self) -> None:
        super().__init__()
        self._changed: Callable[[Region], bool] | None = None

    def _render_chops(self, crop: Region, is_rendered_line: Callable[[int], bool]) -> Sequence[Mapping[int, Strip]]:
        _ = self.cuts  # which Textual keeps for further frames: those of all widgets
        self._changed = lambda region: region.overlaps(crop) and any(map(is_rendered_line, region.line_range))
        try:
            return super()._render_chops(crop, is_rendered_line)
        finally:
            self._changed = None

    @property
    def visible_widgets(self) -> dict[Widget, tuple[Region, Region]]:
        """Each with its region and what of it can be seen; while something is rendered, only those that are needed."""
        every = super().visible_widgets
        if self._changed is None:
            return every
        return {widget: place for widget, place in every.items() if self._changed(place[0])}


class HookedApp(App[None]):
    """An application that may replace what is drawn, refuse actions, and that reports its own failure."""

    def __init__(self) -> None:
        textual_screen.Compositor = LeastCompositor  # type: ignore[attr-defined]
        super().__init__()
        self._shown: dict[int, dict[int, tuple[int, str]]] = {}
        self._shown_size = Size()

    def action_redraw(self) -> None:
        """Draw the whole screen again, whatever the terminal shows."""
        self._shown.clear()
        self.refresh(layout=True)

    def allows(self, node: DOMNode, action: str) -> bool:
        """Whether this action of a node may be taken; keys of others are neither active nor listed."""
        return True

    def replaced(self, frame: RenderableType | None) -> RenderableType | None:
        """What is drawn in the place of a frame; None draws nothing."""
        return frame

    def fail(self, error: BaseException | None) -> None:
        """Called where a handler has raised; by default Textual's traceback, with all local variables, is printed."""
        super()._fatal_error()

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Run an action as Textual does, where it is allowed."""
        node, name, _ = self._parse_action(action, default_namespace or self, namespaces)
        return self.allows(node, name) and await super().run_action(action, default_namespace, namespaces)

    def _check_action_state(self, action: str, default_namespace: DOMNode) -> bool | None:
        node, name, _ = self._parse_action(action, default_namespace)
        return self.allows(node, name) and super()._check_action_state(action, default_namespace)

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        super()._display(screen, self._shortened(self.replaced(renderable)))

    def _shortened(self, frame: RenderableType | None) -> RenderableType | None:
        """The frame without what the terminal shows already."""
        if frame is None or self._batch_count:
            return frame  # it is not sent
        if not isinstance(frame, LayoutUpdate | ChopsUpdate) or self.size != self._shown_size:
            self._shown.clear()
            self._shown_size = self.size
        if not isinstance(frame, LayoutUpdate | ChopsUpdate):
            return frame
        return cast("RenderableType", Changes(_pieces(frame), self._shown))  # all it is asked for is its segments

    def refresh_css(self, animate: bool = True) -> None:
        """Refresh as Textual does, unless all was parsed with these variables, as at the start."""
        if self.get_css_variables() != self.stylesheet._variables:
            super().refresh_css(animate)

    def _prune(self, *nodes: Widget, parent: DOMNode | None = None) -> AwaitRemove:
        """Cancel the work of nodes, then remove them: Textual does it in the other order."""
        leaving = {descendant for node in nodes for descendant in node.walk_children(with_self=True)}
        for worker in [worker for worker in self.workers if worker.node in leaving]:
            worker.cancel()
        return super()._prune(*nodes, parent=parent)

    def _fatal_error(self) -> None:
        self.fail(sys.exc_info()[1])


def is_exiting(app: App[Any]) -> bool:
    """Whether ``exit`` was called."""
    return app._exit


def is_idle(pump: MessagePump) -> bool:
    """Whether it has been mounted and has handled every message that was posted to it."""
    return is_awaited(pump._message_queue.ready_event)


def loop_of(app: App[Any]) -> asyncio.AbstractEventLoop | None:
    """The event loop that an application runs in; None before it runs and after it has ended."""
    return app._loop


def line_filters(app: App[Any]) -> Sequence[LineFilter]:
    """What every line goes through before it is written."""
    return app._filters


def set_line_filters(app: App[Any], filters: Sequence[LineFilter]) -> None:
    """Replace them all."""
    app._filters = list(filters)


def write_raw(app: App[Any], text: str) -> None:
    """Send something that is not drawn to the terminal."""
    if app._driver:
        app._driver.write(text)


def unwritten_frames(app: App[Any]) -> int:
    """Frames that the terminal has not taken yet; Textual's queue to it holds 30, and then the application waits."""
    writer = getattr(app._driver, "_writer_thread", None)
    return writer._queue.qsize() if writer else 0


def set_breakpoints(screen: Screen[Any], app: App[Any]) -> None:
    """Before a screen is mounted, set its classes by the terminal's size: Textual does so after the first frame."""
    columns, rows = app.size
    wide = screen._get_breakpoint_classes(columns, app.HORIZONTAL_BREAKPOINTS or [])
    screen._classes |= wide | screen._get_breakpoint_classes(rows, app.VERTICAL_BREAKPOINTS or [])
