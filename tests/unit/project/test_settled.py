"""Waiting until an application shows all that was begun."""

from __future__ import annotations

import asyncio

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Static

from tests.support.settled import settled


class Slow(App[None]):
    """Does something that does not come to its end before it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.may_end = asyncio.Event()
        self.works = False
        self.shown: list[str] = []

    def compose(self) -> ComposeResult:
        yield Shown("begun", self.shown)

    async def key_x(self) -> None:
        self.works = True
        await self.may_end.wait()


class Shown(Static):
    """Notes each text that it has to show."""

    def __init__(self, text: str, shown: list[str]) -> None:
        super().__init__(text)
        self._shown = shown

    def render(self) -> str:
        self._shown.append(str(self.content))
        return str(self.content)


async def test_what_does_not_settle_fails_and_is_named() -> None:
    app = Slow()
    async with app.run_test() as pilot:
        press = asyncio.create_task(pilot.press("x"))
        await asyncio.sleep(0)
        while not app.works:
            await asyncio.sleep(0.01)
        with pytest.raises(AssertionError, match=r"^not settled after 20 looks: Slow\("):
            await settled(app, 20)
        app.may_end.set()
        await press
        await settled(app)


async def test_what_changed_is_asked_for_what_it_shows() -> None:
    app = Slow()
    async with app.run_test() as pilot:
        app.query_one(Shown).update("changed")
        await pilot.pause()
        assert app.shown[-1] == "changed"


async def test_what_can_not_be_shown_fails() -> None:
    app = Slow()

    def fail() -> str:
        raise ValueError("nothing to show")

    async def show() -> None:
        async with app.run_test() as pilot:
            shown = app.query_one(Shown)
            setattr(shown, "render", fail)  # noqa: B010
            shown.refresh()
            await pilot.pause()

    with pytest.raises(ValueError, match="nothing to show"):
        await show()
