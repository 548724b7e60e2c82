"""Dialogs in which something is typed."""

from __future__ import annotations

from typing import Any

import pytest

from cephtui.tui.dialogs import Dialog, EnterText, NodeQuestion, TypeName
from cephtui.tui.terminal.in_order import OrderedApp
from tests.support.replayed import burst, until

NAME = "ata-Samsung_SSD_870_EVO_1TB_S6PTNX0R"
DIALOGS: dict[str, tuple[Dialog[Any], object]] = {
    "name of a device": (TypeName(f"{NAME} holds data", NAME), True),
    "password": (NodeQuestion("pve1", "root's password", secret=True), NAME),
    "text": (EnterText("note"), NAME),
}


@pytest.mark.parametrize("name", DIALOGS)
async def test_what_comes_at_once_is_taken_whole(name: str) -> None:
    """As over a slow link, or from a password manager: enter comes with the letters, and more behind it."""
    dialog, expected = DIALOGS[name]
    answers: list[object] = []
    app = OrderedApp()
    async with app.run_test() as pilot:
        app.push_screen(dialog, answers.append)
        await until(pilot, lambda: app.screen is dialog and app.focused is not None)
        burst(app, NAME, "enter", "1")
        await until(pilot, lambda: bool(answers))
    assert answers == [expected]
