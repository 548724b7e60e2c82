"""Marks: what the user says that was changed, on the time line, in the table and in the session."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from textual.pilot import Pilot
from textual.widgets import Input

from cephtui.cli import verbs
from cephtui.models import Event, Mark
from cephtui.models.findings.measurement import STALLED
from cephtui.running.bench import Bench
from cephtui.sessions import store
from cephtui.sessions.writer import SessionWriter
from cephtui.tui.charts.chart import Chart
from cephtui.tui.console.app import ConsoleApp
from cephtui.tui.dialogs import EnterText
from cephtui.tui.pickers.runs import RunPicker
from cephtui.tui.screens.details import DetailsScreen
from cephtui.tui.widgets.runs_table import RunsTable
from tests.support.golden import Golden
from tests.support.known import known
from tests.support.replayed import (
    burst,
    connector_to,
    console,
    console_screen,
    finished,
    held,
    in_a_run,
    let_go,
    rows,
    running,
    said,
    saved,
    screen_text,
    text_of,
    until,
)
from tests.support.runs import WRITE_IOPS, run
from tests.support.sessions import write_session

SMALL, USUAL = (80, 24), (120, 36)
CHANGE = "osd_memory_target 8G"


def marks(root: Path, session: str = "tuning") -> list[Mark]:
    return store.read_marks(root / "sessions" / session)


def marked(app: ConsoleApp) -> list[str]:
    """The texts of the marks in the table, the newest first."""
    return [row[1].split("  ", 1)[1] for row in rows(app) if row[0] == "*"]


async def mark(app: ConsoleApp, pilot: Pilot[None], text: str) -> None:
    """Set one by keys, and wait until the table shows it."""
    await pilot.press("m")
    await until(pilot, lambda: isinstance(app.screen, EnterText))
    await pilot.press(*text, "enter")
    await until(pilot, lambda: not isinstance(app.screen, EnterText))
    await until(pilot, lambda: any(row.startswith(text[:12]) for row in marked(app)))


@pytest.mark.parametrize("size", [SMALL, USUAL])
async def test_a_mark_in_a_run_is_kept_and_shown(tmp_path: Path, size: tuple[int, int]) -> None:
    async with in_a_run(tmp_path, size=size) as (app, pilot, hosts):
        await mark(app, pilot, CHANGE)
        await until(pilot, lambda: CHANGE in text_of(app, console_screen(app).query_one("#chart")))
        in_its_row = CHANGE[: None if size == USUAL else 12]
        await until(pilot, lambda: in_its_row in text_of(app, console_screen(app).query_one("#runs")))
        assert app.busy, "the run continues"
        kept = marks(tmp_path)
        let_go(app, hosts)
        await finished(app, pilot)
        assert CHANGE in text_of(app, console_screen(app).query_one(Chart)), "it stays when the run is over"
    assert [(each.text, each.run) for each in kept] == [(CHANGE, 1)]
    assert kept[0].elapsed_seconds is not None
    run = saved(tmp_path)[0]
    assert 0.0 <= kept[0].elapsed_seconds <= run.duration_seconds
    assert kept[0].at >= run.started_at
    assert run.outcome == "ok"


@pytest.mark.parametrize("size", [SMALL, USUAL])
async def test_a_mark_is_whole_also_when_it_is_drawn_at_once(tmp_path: Path, size: tuple[int, int]) -> None:
    """Between two messages of the table the screen may be drawn, before the table is idle."""
    async with console(tmp_path, run=WRITE_IOPS, speed=60, size=size) as (app, pilot):
        table = console_screen(app).query_one(RunsTable)
        await pilot.pause()
        table.put_mark(Mark(at=datetime.now(UTC), text=CHANGE, run=None, elapsed_seconds=None))
        at_once = text_of(app, table)
        await pilot.pause()
        assert CHANGE[: None if size == USUAL else 12] in text_of(app, table), at_once


async def test_a_mark_between_runs_belongs_to_none(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=60, size=SMALL) as (app, pilot):
        await pilot.press("2", "enter")
        await finished(app, pilot)
        await mark(app, pilot, CHANGE)
        assert [row[0] for row in rows(app)] == ["*", "1"], "the newest is the first"
        assert CHANGE not in text_of(app, console_screen(app).query_one("#chart"))
        await pilot.press("2", "enter")
        await until(pilot, lambda: len(saved(tmp_path)) == 2)
        await finished(app, pilot)
        assert [row[0] for row in rows(app)] == ["2", "*", "1"]
    assert [(each.text, each.run, each.elapsed_seconds) for each in marks(tmp_path)] == [(CHANGE, None, None)]


async def test_a_mark_while_a_target_is_filled_has_no_second_of_the_run(tmp_path: Path) -> None:
    hosts = held("local")
    hosts["local"].scripts["fill"] = hosts["local"].scripts.pop("latency")
    hosts["local"].scripts["fill"].waits_after = 0.5
    async with console(tmp_path, connect=connector_to(hosts), speed=1, size=SMALL) as (app, pilot):
        await pilot.press("2", "enter")
        await until(pilot, lambda: bool(hosts["local"].log.of("waits in fill")))
        await mark(app, pilot, CHANGE)
        app._runner._thread.call_soon(hosts["local"].scripts["fill"].go_on.set)
        await running(app, pilot)
        assert CHANGE not in text_of(app, console_screen(app).query_one("#chart"))
    assert [(each.run, each.elapsed_seconds) for each in marks(tmp_path)] == [(1, None)]


@pytest.mark.parametrize("session", ["tuning", None])
async def test_a_mark_before_any_run_begins_the_session(tmp_path: Path, session: str | None) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=60, size=SMALL, session=session) as (app, pilot):
        assert not (tmp_path / "sessions" / "tuning").exists()
        await mark(app, pilot, "nothing changed yet")
        (directory,) = (tmp_path / "sessions").iterdir()
        assert session in (None, directory.name)
        await until(pilot, lambda: f"session {directory.name}" in text_of(app, console_screen(app).query_one("#bar")))
        await pilot.press("2", "enter")
        await finished(app, pilot)
    assert [each.run for each in marks(tmp_path, directory.name)] == [None]
    assert [run.run for run in saved(tmp_path, directory.name)] == [1]


@pytest.mark.parametrize("text", ["", "   "])
async def test_an_empty_text_is_not_taken(tmp_path: Path, text: str) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=60, size=SMALL) as (app, pilot):
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, EnterText))
        await pilot.press(*["space"] * len(text), "enter")
        await pilot.pause()
        assert isinstance(app.screen, EnterText)
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, EnterText))
    assert marks(tmp_path) == []


async def test_escape_sets_no_mark(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=60, size=SMALL) as (app, pilot):
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, EnterText))
        await pilot.press(*CHANGE, "escape")
        await until(pilot, lambda: not isinstance(app.screen, EnterText))
    assert marks(tmp_path) == []


async def test_keys_of_the_console_are_letters_in_a_mark(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=SMALL) as (app, pilot, _):
        await mark(app, pilot, "qsx1a")
        assert app.busy
        assert console_screen(app).dispatcher.queue.entries == ()
    assert [each.text for each in marks(tmp_path)] == ["qsx1a"]


async def test_a_mark_is_of_the_moment_of_its_key_also_where_its_run_has_ended_meanwhile(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=USUAL) as (app, pilot, hosts):
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, EnterText))
        pressed = datetime.now(UTC)
        assert re.search(r"marked at \d\d:\d\d:\d\d, \d+ s into #1;", screen_text(app)), screen_text(app)
        let_go(app, hosts)
        await finished(app, pilot)
        await pilot.press(*CHANGE, "enter")
        await until(pilot, lambda: marked(app) == [CHANGE])
        await until(pilot, lambda: CHANGE in text_of(app, console_screen(app).query_one("#chart")))
    (kept,), run = marks(tmp_path), saved(tmp_path)[0]
    assert kept.run == 1
    assert kept.elapsed_seconds is not None
    assert run.started_at < kept.at < pressed < run.started_at + timedelta(seconds=run.duration_seconds)


async def test_keys_right_behind_m_are_the_text_of_the_mark(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=SMALL) as (app, pilot, _):
        burst(app, "m" + "qsx1a", "enter")
        await until(pilot, lambda: marked(app) == ["qsx1a"])
        assert app.busy
    assert [each.text for each in marks(tmp_path)] == ["qsx1a"]


async def test_a_text_is_no_markup_and_a_long_one_is_cut_in_the_table_only(tmp_path: Path) -> None:
    text = "[b]pg_num[/b] 128 and " + "osd_op_queue mclock_scheduler " * 2
    async with console(tmp_path, run=WRITE_IOPS, speed=60, size=SMALL) as (app, pilot):
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, EnterText))
        app.screen.query_one(Input).value = f"  {text} "
        await pilot.press("enter")
        await until(pilot, lambda: bool(marked(app)))
        assert marked(app)[0].startswith("[b]pg_num[/b]")
        assert marked(app)[0].endswith("…")
        await until(pilot, lambda: "[b]pg_num[/b]" in screen_text(app))
    assert [each.text for each in marks(tmp_path)] == [text.strip()]


async def test_a_mark_leaves_the_cursor_on_the_newest_run(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=60, size=SMALL) as (app, pilot):
        await pilot.press("2", "enter")
        await finished(app, pilot)
        await mark(app, pilot, CHANGE)
        await pilot.press("r", "home", "c")
        await until(pilot, lambda: isinstance(app.screen, RunPicker))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is console_screen(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, DetailsScreen))


async def test_before_the_first_run_a_mark_is_no_run_either(tmp_path: Path, golden: Golden) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=60, size=SMALL) as (app, pilot):
        await mark(app, pilot, CHANGE)
        await pilot.press("r", "j", "enter", "c")
        await until(pilot, lambda: bool(said(app)))
        golden.same(said(app))
        assert app.screen is console_screen(app)


async def test_the_cursor_stays_with_its_run_when_something_comes_above(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=60, size=USUAL) as (app, pilot):
        table = console_screen(app).query_one(RunsTable)
        for number in (1, 2):
            await pilot.press("2", "enter")
            await until(pilot, lambda number: len(saved(tmp_path)) == number, number)
            await finished(app, pilot)
            assert known(table.chosen).run == number, "on the newest as long as it was there"
        await pilot.press("r", "j")
        assert table.cursor_row == 1
        await mark(app, pilot, CHANGE)
        assert [row[0] for row in rows(app)] == ["*", "2", "1"]
        assert known(table.chosen).run == 1


# ---------------------------------------------------------------------------------------------- on the command line


def test_a_mark_worded_after_the_end_of_its_run_explains_what_began_after_it(tmp_path: Path) -> None:
    stalled = STALLED.found((16.0, 20.0), seconds=4.0, unexplained=True)
    write_session(tmp_path, [run(number, findings=(stalled,)) for number in (1, 2)])
    session, published = SessionWriter.open(tmp_path, "tuning"), list[Event]()
    bench = Bench(session, published.append, stall_seconds=2.0)
    mark = Mark(at=datetime(2026, 1, 2, tzinfo=UTC), run=1, elapsed_seconds=15.5, text="osd.1 frozen")
    of_no_run = Mark(at=mark.at, run=3, elapsed_seconds=15.5, text="the run is gone")
    assert [bench.keep_mark(each) for each in (mark, of_no_run)] == [mark, of_no_run]
    session.close()

    assert published == store.read_marks(tmp_path / "tuning") == [mark, of_no_run]
    explained, other = (store.read_run(tmp_path / "tuning", number).findings for number in (1, 2))
    assert [finding.values.get("mark") for finding in explained] == ["osd.1 frozen"]
    assert other == (stalled,)


def printed_by(root: Path, monkeypatch: pytest.MonkeyPatch, *args: str) -> str:
    """What a verb prints."""
    monkeypatch.setenv("CEPHTUI_DATA_DIR", str(root))
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr(verbs, "start_log", lambda: None)
    done = CliRunner().invoke(verbs.cli, args)
    assert done.exit_code == 0, done.output
    return done.output


def events(text: str) -> list[tuple[str, str]]:
    """Each event, with the text of a mark or the number of a run."""
    found = [json.loads(each) for each in text.splitlines()]
    return [(each["event"], str(each.get("text", each.get("run", "")))) for each in found if each["event"] != "sample"]


def test_marks_stand_where_they_were_made_in_show_and_compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = datetime(2026, 1, 2, 3, 0, tzinfo=UTC)
    runs = [
        run(number, started_at=begun + timedelta(minutes=10 * number), batch=f"b{number}", duration_seconds=60.0)
        for number in (1, 2, 3)
    ]
    marks = [
        Mark(at=begun, text="first of all"),
        Mark(at=begun + timedelta(minutes=10, seconds=12), run=1, elapsed_seconds=9.0, text="pulled a disk"),
        Mark(at=begun + timedelta(minutes=15), text="target 8G"),
        Mark(at=begun + timedelta(minutes=20, seconds=1), run=2, text="filling"),
        Mark(at=begun + timedelta(minutes=40), text="last of all"),
    ]
    write_session(tmp_path / "sessions", runs, marks=marks)

    marks_of = ["first of all", "1", "pulled a disk", "target 8G", "2", "filling", "3", "last of all"]
    assert [text for _, text in events(printed_by(tmp_path, monkeypatch, "show", "tuning", "--json"))] == marks_of
    table = printed_by(tmp_path, monkeypatch, "show", "tuning")
    lines = [each for each in table.splitlines() if each[:2] in ("1 ", "2 ", "3 ", "* ")]
    assert [next((text for text in marks_of if len(text) > 1 and text in each), each[0]) for each in lines] == marks_of
    assert "9 s into #1" in table
    assert "before #2 measured" in table

    own = printed_by(tmp_path, monkeypatch, "show", "tuning/1")
    assert "pulled a disk" in own
    assert "target 8G" not in own
    assert ("mark", "pulled a disk") in events(printed_by(tmp_path, monkeypatch, "show", "tuning/1", "--json"))

    for sides in (("tuning/1", "tuning/2"), ("tuning/2", "tuning/1")):
        compared = printed_by(tmp_path, monkeypatch, "compare", *sides)
        shown = [text for text in marks_of if len(text) > 1 and f"mark: {text}" in compared]
        assert shown == ["pulled a disk", "target 8G", "filling"]
        printed = [text for event, text in events(printed_by(tmp_path, monkeypatch, "compare", *sides, "--json"))
                   if event == "mark"]  # fmt: skip
        assert printed == shown
    assert "mark: filling " in printed_by(tmp_path, monkeypatch, "compare", "tuning/2", "tuning/3")
    assert "* target 8G " not in printed_by(tmp_path, monkeypatch, "compare", "tuning/2", "tuning/3")
