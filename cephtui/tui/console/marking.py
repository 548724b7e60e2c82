"""A mark of what the user changes: begun by the key, kept with the words that are typed after it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from textual.app import App

from cephtui.reports.words.text import moment
from cephtui.running.runner import Runner
from cephtui.sessions.store import StoreError
from cephtui.tui.terminal.in_order import opening


async def note_change(app: App[Any], runner: Runner, agrees: Callable[[], Awaitable[bool]] | None = None) -> bool:
    """Ask what was changed, and keep it as a mark of the moment of this call; whether it was kept. Needs a worker.

    It is not where what ``agrees`` gives, once the words are typed, is false.
    """
    begun = runner.begin_mark()
    from cephtui.tui.dialogs import EnterText

    when = moment(begun.mark, dated=False)
    dialog = EnterText(
        "What have you changed?", check=lambda text: None if text.strip() else "", hint=f"marked at {when}"
    )
    with opening(app):
        text = await app.push_screen_wait(dialog)
    if text is None or (agrees and not await agrees()):
        return False
    try:
        await asyncio.wrap_future(begun.keep(text.strip()))
    except StoreError as error:
        app.notify(str(error), severity="error", markup=False)
        return False
    return True
