"""What is typed is handled key by key, whatever a key opens or closes, and however late that is there."""

from __future__ import annotations

import asyncio

import pytest
from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.events import Key, Paste
from textual.message import Message
from textual.screen import ModalScreen, Screen
from textual.widgets import Input, Static

from cephtui.tui.terminal import in_order
from cephtui.tui.terminal.in_order import OrderedApp, opening
from tests.support.golden import Golden
from tests.support.replayed import burst, until


class Fields(ModalScreen[None]):
    """Two fields, made when it is let go; escape leaves it."""

    BINDINGS = [Binding("escape", "leave", "leave")]

    def __init__(self, gate: asyncio.Event) -> None:
        super().__init__()
        self.gate = gate
        self.fields = Input(), Input()

    async def on_mount(self) -> None:
        await self.gate.wait()
        await self.mount(*self.fields)

    def action_leave(self) -> None:
        self.dismiss()


class Below(Screen[None]):
    """Notes the keys that it gets."""

    def on_key(self, event: Key) -> None:
        assert isinstance(self.app, Typed)
        self.app.got.append(event.key)


class Typed(OrderedApp):
    """``e`` opens the fields at once, ``w`` after some work."""

    BINDINGS = [Binding("e", "fields", "fields"), Binding("w", "work", "work"), Binding("ctrl+c", "now", priority=True)]

    def __init__(self) -> None:
        super().__init__()
        self.worked, self.mounted = asyncio.Event(), asyncio.Event()
        self.got: list[str] = []
        self.fields = Fields(self.mounted)

    def get_default_screen(self) -> Screen[None]:
        return Below()

    def action_fields(self) -> None:
        self.push_screen(self.fields)

    @work
    async def action_work(self) -> None:
        with opening(self):
            await self.worked.wait()
            await self.push_screen_wait(self.fields)

    def action_now(self) -> None:
        self.got.append("now")


def texts(app: Typed) -> list[str]:
    """What has been typed into the fields."""
    return [field.value for field in app.fields.fields]


async def test_what_is_typed_ahead_of_a_screen_is_for_that_screen() -> None:
    app = Typed()
    async with app.run_test() as pilot:
        burst(app, "we12", "tab")
        burst(app, "3")
        app.post_message(Paste("45"))
        burst(app, "", "left", "left", "left")
        burst(app, "6", "escape")
        burst(app, "78")
        await pilot.pause(0.1)
        assert app.got == ["w"], "all others wait"
        app.worked.set()
        await until(pilot, lambda: app.screen is app.fields, settles=False)
        assert texts(app) == ["", ""]
        app.mounted.set()
        await until(pilot, lambda: app.got[-1:] == ["8"])
    assert texts(app) == ["e12", "6345"]
    assert app.got == ["w", "7", "8"], "in their order, for the screen that is there then"


async def test_keys_that_move_the_cursor_do_not_fall_behind_letters() -> None:
    app = Typed()
    app.mounted.set()
    async with app.run_test() as pilot:
        burst(app, "e")
        for _ in range(20):
            burst(app, "ab", "left", "backspace", "home")
        burst(app, "", "tab")
        burst(app, "x")
        await until(pilot, lambda: texts(app)[1:] == ["x"])
        assert texts(app)[0] == "b" * 20


async def test_a_key_that_is_released_is_not_overtaken_by_one_that_arrives_then() -> None:
    class Late(Typed):
        """Gets a further key at the moment one that waited is released."""

        def post_message(self, message: Message) -> bool:
            if late and message is self._released:
                burst(self, late.pop(0))
            return super().post_message(message)

    late = ["3", "5"]
    app = Late()
    async with app.run_test() as pilot:
        burst(app, "12")
        await until(pilot, lambda: len(app.got) == 4)
    assert app.got == ["1", "2", "3", "5"]


async def test_the_keys_that_quit_wait_for_nothing() -> None:
    app = Typed()
    async with app.run_test() as pilot:
        burst(app, "w1", "ctrl+c")
        await until(pilot, lambda: sorted(app.got) == ["now", "w"], settles=False)
        app.worked.set()
        app.mounted.set()
        await until(pilot, lambda: texts(app) == ["1", ""])


async def test_what_is_typed_for_a_screen_that_does_not_come_reaches_no_other(
    monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    monkeypatch.setattr(in_order, "_POLLS_MOST", 3)
    app = Typed()
    async with app.run_test() as pilot:
        burst(app, "w12")
        await until(pilot, lambda: bool(app._notifications))
        golden.same([notice.message for notice in app._notifications])
        app.worked.set()
        app.mounted.set()
        await until(pilot, lambda: texts(app) == ["", ""])
        burst(app, "3")
        await until(pilot, lambda: texts(app) == ["3", ""])
        assert app.got == ["w"]


async def test_a_screen_that_did_not_come_after_all_holds_nothing_up() -> None:
    class Failing(Typed):
        @work(exit_on_error=False)
        async def action_work(self) -> None:
            with opening(self):
                raise ValueError

    app = Failing()
    async with app.run_test() as pilot:
        burst(app, "w12")
        await until(pilot, lambda: app.got == ["w", "1", "2"])


async def test_elsewhere_nothing_is_held() -> None:
    """As where a screen is tried without the application."""
    app: App[None] = App()
    async with app.run_test():
        with opening(app):
            assert not isinstance(app, OrderedApp)


# ---------------------------------------------------------------------------------------------- what is left


class Working(Screen[None]):
    """Works on what it shows, as often as it can."""

    def compose(self) -> ComposeResult:
        yield Static()

    @work
    async def on_mount(self) -> None:
        while True:
            self.query_one(Static).update("worked")
            await asyncio.sleep(0)


@pytest.mark.parametrize("is_left", [True, False], ids=["left", "ended"])
async def test_the_work_of_a_screen_ends_before_what_it_shows_is_removed(is_left: bool) -> None:
    app, screen = OrderedApp(), Working()
    async with app.run_test():
        await app.push_screen(screen)
        if is_left:
            await screen.dismiss()
    assert not screen.children  # and nothing was raised
