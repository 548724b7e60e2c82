"""The key that exports a report from the list of sessions, and from a session."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Label

from cephtui.sessions import demo
from cephtui.tui.app import SavedApp
from cephtui.tui.dialogs import Confirm, EnterText
from cephtui.tui.screens.session import SessionScreen
from cephtui.tui.screens.sessions import SessionsScreen
from tests.support.golden import Golden
from tests.support.replayed import screen_text, until


@pytest.fixture
def root(demo_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The recorded session; commands are run from a folder beside it."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return demo_copy.parent


def notices(app: SavedApp) -> list[str]:
    return [notice.message for notice in app._notifications]


async def asked(app: SavedApp, pilot: Pilot[None]) -> Input:
    """Press the key, and give the field with the name of the file."""
    await until(pilot, lambda: "e export" in screen_text(app) or isinstance(app.screen, SessionScreen))
    await pilot.press("e")
    await until(pilot, lambda: isinstance(app.screen, EnterText) and app.screen.focused is not None)
    return app.screen.query_one(Input)


async def test_a_report_is_exported_and_never_overwritten_unasked(root: Path) -> None:
    app, here = SavedApp(root, [SessionsScreen(root)]), Path.cwd()
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "demo" in screen_text(app))
        field = await asked(app, pilot)
        assert field.value == str(here / "demo-report.html")
        await pilot.press("enter")
        await until(pilot, lambda: f"report in {here / 'demo-report.html'}" in notices(app))
        page = (here / "demo-report.html").read_text()
        assert "Not met (exit 5)" in page

        (here / "demo-report.html").write_text("mine")
        await asked(app, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, SessionsScreen))
        assert (here / "demo-report.html").read_text() == "mine"

        await asked(app, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("y")
        await until(pilot, lambda: (here / "demo-report.html").read_text() == page)


async def test_the_name_chooses_the_format_and_what_is_wrong_is_shown(
    root: Path, tmp_path: Path, golden: Golden
) -> None:
    app, here = SavedApp(root, [SessionsScreen(root), SessionScreen(root / demo.SESSION)]), Path.cwd()
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "write-iops" in screen_text(app))
        field = await asked(app, pilot)
        problem, said = app.screen.query_one("#wrong", Label), [""]
        for name in ("x.pdf", "none/x.csv"):
            field.value = str(here / name)
            await until(pilot, lambda: str(problem.render()) not in said)
            assert problem.region.height
            said.append(str(problem.render()))
            golden.same(said[-1])
        field.value = str(here / "x.csv")
        await pilot.press("enter")
        await until(pilot, lambda: f"report in {here / 'x.csv'}" in notices(app))
        assert (here / "x.csv").read_text().startswith("session,run,side,")
