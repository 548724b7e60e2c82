"""Whether an application of Textual has done all that it was given, and shows it. Private names of Textual 8.2.8."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from textual._context import active_app
from textual.app import App
from textual.geometry import Size
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.widget import Widget

from cephtui.tui.terminal.in_order import OrderedApp
from cephtui.tui.textual_private import is_exiting, is_idle

_LOOKS_MOST, _LOOKS_AFTER_A_KEY, _LOOKS_AT_THREADS, _LOOKS_IN_A_ROW = 150, 500, 100, 4
"""Counted, not timed: what waits for a processor is not done either. Some tests hold back what the rest waits for."""
_POLL_SECONDS = 0.002
_draw = Screen._compositor_refresh
_dirty = WeakKeyDictionary[Screen[Any], WeakSet[Widget]]()
_drawn = WeakKeyDictionary[Screen[Any], Size]()


async def settled(app: App[Any], looks: int = _LOOKS_MOST, *, draws: bool = True) -> None:
    """Wait until every message is handled, every screen laid out and drawn, and no thread works for the application.

    What comes later by itself, from a timer or the runner's thread, has to be waited for. It gives up after so many
    looks.
    """
    in_a_row = 0
    for look in range(looks):
        if not app.is_running or is_exiting(app):
            return
        has_work = look < _LOOKS_AT_THREADS and _has_work(asyncio.get_running_loop())
        in_a_row = in_a_row + 1 if not has_work and _is_settled(app) else 0
        if in_a_row == _LOOKS_IN_A_ROW:
            if draws:
                draw(app.screen)
            return
        await asyncio.sleep(0 if in_a_row else _POLL_SECONDS)
    raise AssertionError(f"not settled after {looks} looks: {', '.join(_unsettled(app)) or 'a thread works for it'}")


def _unsettled(app: App[Any]) -> Iterator[str]:
    """What is not done."""
    if isinstance(app, OrderedApp) and (app._turn is not None or app._held):
        yield "a key is held back"
    if app._resize_timer is not None:
        yield "a resize"
    yield from (repr(pump) for pump in _pumps(app) if not _is_done(pump))
    if not _is_drawn(app.screen):
        yield "the next frame"


async def until_settled(*_: float) -> None:
    """In the place of Textual's own, which holds a process that waits for a processor for one with nothing to do."""
    await _until_settled(draws=True)


async def until_handled(*_: float) -> None:
    """The same, but for the drawing: between the keys of one ``pilot.press``."""
    await _until_settled(draws=False)


async def _until_settled(*, draws: bool) -> None:
    app = active_app.get(None)
    if app is None:
        await asyncio.sleep(0)
    else:
        await settled(app, _LOOKS_AFTER_A_KEY, draws=draws)


def draw_later(screen: Screen[Any]) -> None:
    """In the place of Textual's own: no frame is composed for a terminal that is not there.

    It took a third of the time of all tests. What tests look at, a text or a picture, is composed when they look.
    """
    app = screen.app
    if app.is_headless and not app.is_inline and screen is app.screen:
        _dirty.setdefault(screen, WeakSet()).update(screen._dirty_widgets)
        screen._dirty_widgets.clear()
        app._update_mouse_over(screen)
    else:
        _draw(screen)


def draw(screen: Screen[Any]) -> None:
    """Draw a screen that is new or has another size; later ask what is dirty for what it shows, which may fail."""
    dirty = _dirty.pop(screen, ())
    if _drawn.get(screen) != screen.size:
        _drawn[screen] = screen.size
        _draw(screen)
    else:
        for widget in dirty:
            if widget.is_attached and widget.visible:
                widget._render()


def _is_settled(app: App[Any]) -> bool:
    if isinstance(app, OrderedApp) and (app._turn is not None or app._held):
        return False
    if app._resize_timer is not None:
        return False
    return all(map(_is_done, _pumps(app))) and _is_drawn(app.screen)


def _pumps(app: App[Any]) -> Iterator[MessagePump]:
    yield app
    for screen in app.screen_stack:
        yield from screen.walk_children(with_self=True)


def _is_done(pump: MessagePump) -> bool:
    return is_idle(pump) and not pump._next_callbacks


def _is_drawn(screen: Screen[Any]) -> bool:
    """Whether nothing waits for the next frame; what does is laid out now."""
    waits = screen._layout_required or screen._scroll_required or screen._repaint_required
    if waits or screen._dirty_widgets or screen._callbacks:
        screen._on_timer_update()
        return False
    return True


def _has_work(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether something that was handed to a thread is not done."""
    executor: ThreadPoolExecutor | None = getattr(loop, "_default_executor", None)
    if executor is None:
        return False
    return executor._work_queue.qsize() > 0 or executor._idle_semaphore._value < len(executor._threads)
