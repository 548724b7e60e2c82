"""The guided check of the console, on replayed runs: before, the change, after, the verdict; stopped and continued."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from cephtui.analysis.runs.change import Change
from cephtui.analysis.verdicts.conclusion import ConclusionTerms, conclude
from cephtui.analysis.verdicts.noted import NOT_SEEN, UNSEEN
from cephtui.models import Run
from cephtui.models.study import CheckGoal
from cephtui.reports.words.verdict import word_text
from cephtui.sessions import demo, store
from cephtui.sessions.changes import CHANGES_FILE, Ran
from cephtui.sessions.store import STUDIES_FILE, readable_lines
from cephtui.sessions.studies import check_goal, read_studies
from cephtui.studies import KINDS
from cephtui.studies.queue import Queue
from cephtui.tui.app import CephtuiApp, SavedApp
from cephtui.tui.charts.chart import Chart
from cephtui.tui.console.app import ConsoleApp
from cephtui.tui.console.check import CheckScreen, judged_text
from cephtui.tui.console.edits import Edits
from cephtui.tui.console.how_often import HowOftenScreen, OptionInput
from cephtui.tui.dialogs import Confirm, EnterText
from cephtui.tui.keys import active_commands
from cephtui.tui.screens.sessions import SessionsScreen
from cephtui.tui.terminal.profile import FULL, Profile
from cephtui.tui.widgets.big import Big
from tests.support import desks
from tests.support.golden import Golden
from tests.support.played_check import PlayedCheck
from tests.support.replayed import (
    RECORDED_SECONDS,
    burst,
    connector_to,
    console,
    console_screen,
    held,
    let_go,
    said,
    saved,
    screen_text,
    shown,
    text_of,
    until,
)
from tests.support.runs import IOPS, STARTED, WRITE_IOPS, run, total

FAST = 200.0


def phase(app: ConsoleApp) -> str:
    """The longest words of the step."""
    texts = app.screen.query_one("#phase", Big)._texts
    return texts[0] if texts else ""


def step(app: ConsoleApp) -> str:
    """The shortest word of the step."""
    return app.screen.query_one("#phase", Big)._texts[-1]


def words(app: CephtuiApp, selector: str) -> str:
    return str(app.screen.query_one(selector, Static).visual)


async def opened(app: ConsoleApp, pilot: Pilot[None]) -> None:
    await pilot.press("C")
    await until(pilot, lambda: isinstance(app.screen, CheckScreen) and bool(phase(app)))


async def changed(app: ConsoleApp, pilot: Pilot[None], text: str) -> None:
    """Say what was changed, when it is asked for, though nothing of it is seen."""
    await named(app, pilot, text)
    await measured_as_it_is(app, pilot)


async def named(app: ConsoleApp, pilot: Pilot[None], text: str) -> None:
    """Say what was changed."""
    await until(pilot, lambda: step(app) == "change")
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.screen, EnterText))
    await pilot.press(*text, "enter")


async def measured_as_it_is(app: CephtuiApp, pilot: Pilot[None]) -> None:
    """What is replayed is never changed, which is asked about."""
    await until(pilot, lambda: isinstance(app.screen, Confirm))
    assert words(app, "Label")[1:] == NOT_SEEN[1:]
    await pilot.press("y")
    await until(pilot, lambda: isinstance(app.screen, CheckScreen))


def goal_in(root: Path) -> CheckGoal:
    """Of the only study of the session."""
    (study,) = read_studies(root / "sessions" / "tuning")
    goal = check_goal(study)
    assert goal
    return goal


async def decided(app: ConsoleApp, pilot: Pilot[None]) -> None:
    await until(pilot, lambda: phase(app) == "verdict")


@pytest.mark.parametrize(
    ("size", "profile"),
    [
        ((80, 24), FULL),
        pytest.param((120, 36), Profile("8", ascii_only=True), marks=pytest.mark.matrix),
        pytest.param((200, 50), FULL, marks=pytest.mark.matrix),
    ],
)
async def test_before_the_change_after_and_the_verdict(
    tmp_path: Path, size: tuple[int, int], profile: Profile, golden: Golden
) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=size, profile=profile) as (app, pilot):
        await pilot.press("2")
        await opened(app, pilot)
        assert phase(app) == "before"
        golden.same(words(app, "#next"))
        golden.same(words(app, "#sentence"))
        await pilot.press("enter")
        await changed(app, pilot, "scheduler")
        await decided(app, pilot)
        # what is replayed is the same each time
        golden.same(app.screen.query_one("VerdictInLarge Big", Big)._texts[0])
        golden.same(words(app, "#sentence"))
        golden.same(words(app, "#next"))
        for selector in ("VerdictInLarge .word", "VerdictInLarge .interval", "#sentence", "#dots", "#next"):
            await until(pilot, lambda shown: shown.region.height > 0, app.screen.query_one(selector))
            assert app.screen.query_one(selector).region.bottom <= size[1], selector
        dot = "o" if profile.ascii_only else "●"
        assert dot in screen_text(app)
        has_details = size[1] >= 36
        assert app.screen.query_one("#details").display is has_details
        assert ("write clat p99" in screen_text(app)) is has_details
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(app.screen, CheckScreen))
    runs = saved(tmp_path)
    directory = tmp_path / "sessions" / "tuning"
    goal = goal_in(tmp_path)
    assert [run.batch for run in runs] == [*goal.before * 6, *goal.after * 4]
    assert [run.repeat for run in runs] == [1, 2, 3, 4, 5, 6, 1, 2, 3, 4]
    (verdict,) = (each for each in store.read_verdicts(directory) if each.decides)
    assert (verdict.word, verdict.met, verdict.looks, verdict.looks_most) == ("same", True, 1, 4)
    assert [mark.text for mark in store.read_marks(directory)] == ["scheduler"]
    assert NOT_SEEN not in said(app), "it was asked about"


async def test_the_change_has_the_time_at_which_it_was_said_to_be_made(tmp_path: Path, golden: Golden) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=(80, 24)) as (app, pilot):
        await pilot.press("2")
        await opened(app, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: step(app) == "change")
        golden.same(phase(app))
        burst(app, "", "enter")
        burst(app, "qsn")
        await until(pilot, lambda: isinstance(app.screen, EnterText) and "qsn" in screen_text(app))
        asked = datetime.now(UTC)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("n")
        await until(pilot, lambda: step(app) == "change")
        assert not app.busy
        assert store.read_marks(tmp_path / "sessions" / "tuning") == [], "the change is not made yet"
        await changed(app, pilot, "qsn")
        assert UNSEEN not in words(app, "#next")
        await decided(app, pilot)
        assert UNSEEN in words(app, "#next")
    (mark,) = store.read_marks(tmp_path / "sessions" / "tuning")
    assert (mark.text, mark.run) == ("qsn", None)
    assert mark.at > asked, "of the second time"


async def test_a_check_that_was_stopped_is_continued_also_by_another_console(tmp_path: Path, golden: Golden) -> None:
    hosts = held("local")
    async with console(tmp_path, connect=connector_to(hosts), speed=1, size=(80, 24)) as (app, pilot):
        await pilot.press("2")
        await opened(app, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: "running" in words(app, "#next"))
        await pilot.press("s")
        await until(pilot, lambda: not app.busy and "enter continues" in words(app, "#next"))
        await pilot.press("enter")
        await until(pilot, lambda: "running" in words(app, "#next"))
        await pilot.press("escape")
        let_go(app, hosts)
        await until(pilot, lambda: not app.busy)
        golden.same(shown(app, "StudyLine"))
    assert [run.outcome for run in saved(tmp_path)] == ["stopped", *["ok"] * 6], "also where its screen was left"
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=(120, 36)) as (app, pilot):
        await opened(app, pilot)
        golden.same(phase(app))
        await named(app, pilot, "x")  # what is replayed differs from what stands still: the change is seen
        await decided(app, pilot)
    goal = goal_in(tmp_path)
    runs = [run.batch for run in saved(tmp_path) if run.outcome == "ok"]
    assert runs == [*goal.before * 6, *goal.after * 4]


async def test_after_a_stop_nothing_runs_by_itself(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=(80, 24)) as (app, pilot):
        await pilot.press("2")
        await opened(app, pilot)
        await pilot.press("enter", "s")
        await until(pilot, lambda: not app.busy)
        runs = len(saved(tmp_path))
        await pilot.pause(1.5)
        assert not app.busy
        assert len(saved(tmp_path)) == runs


async def test_several_values_are_refused(tmp_path: Path, golden: Golden) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=(80, 24)) as (app, pilot):
        console_screen(app).choice.edits = Edits({"write-iops": {"iodepth": "1,2"}}, RECORDED_SECONDS)
        await pilot.press("2", "C")
        await until(pilot, lambda: any("iodepth" in text for text in said(app)))
        golden.same(said(app))
        assert not isinstance(app.screen, CheckScreen)


async def test_a_preset_of_several_values_is_refused_until_one_is_chosen(tmp_path: Path, golden: Golden) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=(80, 24)) as (app, pilot):
        await pilot.press("5", "C")
        await until(pilot, lambda: bool(said(app)))
        golden.same(said(app))
        assert not isinstance(app.screen, CheckScreen)
        console_screen(app).choice.edits = Edits({"latency": {"rw": "randwrite"}}, RECORDED_SECONDS)
        await opened(app, pilot)
        assert "randwrite" in words(app, "#what")
    assert saved(tmp_path) == []


async def test_what_is_required_is_decided_before_the_first_run(tmp_path: Path, golden: Golden) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=(80, 24)) as (app, pilot):
        await pilot.press("2")
        await opened(app, pilot)
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, EnterText))
        await pilot.press("ctrl+u", *"x", "enter")
        await pilot.pause()
        assert isinstance(app.screen, EnterText)
        await pilot.press("ctrl+u", *"20", "enter")
        await until(pilot, lambda: isinstance(app.screen, CheckScreen))
        await until(pilot, lambda: "20 %" in words(app, "#sentence"))
        golden.same(words(app, "#sentence"))
        await pilot.press("enter")
        await changed(app, pilot, "x")
        await decided(app, pilot)
        golden.same(app.screen.query_one("VerdictInLarge Big", Big)._texts[0])
        golden.same(words(app, "#next"))
        await pilot.press("r")
        await pilot.pause()
        assert isinstance(app.screen, CheckScreen)
        await pilot.press("n")
        await until(pilot, lambda: phase(app) == "before")
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, EnterText))


async def test_before_the_first_run_is_said_what_can_be_seen_and_what_runs(tmp_path: Path, golden: Golden) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=(120, 36)) as (app, pilot):
        await pilot.press("2")
        await opened(app, pilot)
        details = app.screen.query_one("#details")
        await until(pilot, lambda: "after 12 runs" in text_of(app, details))
        shown_lines = text_of(app, details).splitlines()
        golden.same(line.rstrip() for line in shown_lines if "spread" in line or " % " in line)
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: not details.display)


# ------------------------------------------------------------------ recorded runs


def offered(app: CephtuiApp) -> set[str]:
    """The actions of the keys in the footer."""
    return {command.action for command in active_commands(app.screen) if command.shown}


async def until_offered(app: CephtuiApp, pilot: Pilot[None], *actions: str) -> None:
    await until(pilot, lambda: offered(app) == {*actions, "app.pop_screen"})


async def test_the_footer_has_the_keys_that_do_something_then(tmp_path: Path) -> None:
    session = demo.unpack(tmp_path)
    before, after = (store.read_run(session, number).batch for number in (9, 22))
    study = desks.check("write-iops", fixed=3, before=(before,), after=(after,))
    app = SavedApp(tmp_path, [SessionsScreen(tmp_path)])
    async with app.run_test(size=(120, 36)) as pilot:
        played = PlayedCheck(app, session, study)
        app.push_screen(CheckScreen(study, played.context))
        await until_offered(app, pilot, "begin", "require")
        await pilot.press("enter")
        for side, then in ((played.before, {"change", "anew"}), (played.after, {"close", "anew"})):
            for run in side:
                await until_offered(app, pilot, "stop")
                chart, seconds = app.screen.query_one(Chart), played.begin(run)
                played.play_to(seconds / 2)
                await until(pilot, lambda chart: chart.region.height > 0, chart)
                played.play_to(seconds)
            played.end_side()
            await until_offered(app, pilot, *then)
            assert not chart.region.height
            if side is played.before:
                await pilot.press("enter")
                await until(pilot, lambda: isinstance(app.screen, EnterText))
                await pilot.press(*"disk", "enter")
                await measured_as_it_is(app, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(app.screen, CheckScreen))


# ------------------------------------------------------------------ commands that make the change


async def typed(app: ConsoleApp, pilot: Pilot[None], presets: str = "write-iops", **texts: str) -> None:
    """Choose a check in the dialog of how often, with these texts in its fields, and start it."""
    await pilot.press("H")
    await until(pilot, lambda: isinstance(app.screen, HowOftenScreen))
    await pilot.press("up")  # the last of the kinds
    app.screen.query_one("#presets", Input).value = presets
    for field in app.screen.query(OptionInput):
        if field.option in KINDS["check"].fields:
            field.value = texts.get(field.option.field, "")
    await until(pilot, lambda: " runs, " in words(app, "#cost"))
    await pilot.press("enter")
    await until(pilot, lambda: not isinstance(app.screen, HowOftenScreen))


def commands_in(root: Path) -> list[tuple[str, int | None]]:
    """The commands that were run, with their exit status."""
    directory = root / "sessions" / "tuning"
    return [(ran.kind, ran.status) for ran in readable_lines(directory / CHANGES_FILE, Ran) if ran.status is not None]


async def test_commands_make_the_change_and_take_it_back_in_turns(tmp_path: Path, golden: Golden) -> None:
    """And several presets are measured on each side."""
    made = tmp_path / "made"
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=(120, 36)) as (app, pilot):
        await typed(app, pilot, "write-iops, read-iops", change=f"touch {made}", undo=f"rm {made}", fixed="2")
        await pilot.press("C")
        await until(pilot, lambda: isinstance(app.screen, CheckScreen) and bool(phase(app)))
        await decided(app, pilot)
        await until(pilot, lambda: not app.busy)
        golden.same(words(app, "#next"))
        golden.same(text for text in said(app) if text.startswith("required"))
    goal, runs = goal_in(tmp_path), saved(tmp_path)
    sides = ["before" if run.batch in goal.before else "after" for run in runs]
    assert sides == [side for side in ("before", "after", "after", "before") for _ in range(2)]
    assert [run.preset for run in runs[:2]] == ["write-iops", "read-iops"]
    assert commands_in(tmp_path) == [("change", 0), ("undo", 0)]
    assert not made.exists()
    directory = tmp_path / "sessions" / "tuning"
    assert "touch" not in (directory / STUDIES_FILE).read_text()
    assert {each.preset for each in store.read_verdicts(directory)} == {"write-iops", "read-iops"}


async def test_a_stop_takes_the_change_back_and_it_is_continued_with_its_commands(tmp_path: Path) -> None:
    made, goes_on, hosts = tmp_path / "made", tmp_path / "goes on", held("local")
    change = f"touch {made}; while [ ! -e '{goes_on}' ]; do sleep 0.02; done"
    async with console(tmp_path, connect=connector_to(hosts), speed=1, size=(80, 24)) as (app, pilot):
        await typed(app, pilot, change=change, undo=f"rm {made}", fixed="2")
        await until(pilot, lambda: "#1 write-iops running" in shown(app, "#progress"))
        assert not made.exists()
        let_go(app, hosts)
        await until(pilot, made.exists)
        for script in hosts["local"].scripts.values():  # what is measured after the change stands still again
            app._runner._thread.call_soon(script.go_on.clear)
        goes_on.touch()
        await until(pilot, lambda: "#2 write-iops running" in shown(app, "#progress"))
        await pilot.press("s")
        await until(pilot, lambda: not app.busy)
        assert not made.exists()
        (entry,) = console_screen(app).dispatcher.queue.entries
        assert entry.commands
        let_go(app, hosts)
        console_screen(app).dispatcher.release()
        await until(pilot, lambda: not app.busy)
    assert not made.exists()
    assert [kind for kind, _ in commands_in(tmp_path)] == ["change", "undo"] * 2
    goal = goal_in(tmp_path)
    good = [run.batch for run in saved(tmp_path) if run.outcome == "ok"]
    assert (good.count(goal.before[0]), good.count(goal.after[0])) == (2, 2)


async def test_quitting_waits_until_the_change_is_taken_back(tmp_path: Path) -> None:
    made, hosts = tmp_path / "made", held("local")
    hosts["local"].scripts["write-iops"].waits_after = None
    async with console(tmp_path, connect=connector_to(hosts), speed=200, size=(80, 24)) as (app, pilot):
        await typed(app, pilot, change=f"touch {made}", undo=f"sleep 2; rm {made}", fixed="2")
        await until(pilot, made.exists)
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("y")
        await until(pilot, lambda: "undo, 10:00 min at most" in screen_text(app))
        assert made.exists()
        await until(pilot, lambda: not app.is_running, settles=False)
    assert not made.exists()
    assert app.left is None


async def left(root: Path, change: str) -> None:
    """A check whose change a command makes, stopped by an earlier console in its first run."""
    async with console(root, connect=connector_to(held("local")), speed=1, size=(80, 24)) as (app, pilot):
        await typed(app, pilot, change=change, fixed="2")
        await until(pilot, lambda: "#1 write-iops running" in shown(app, "#progress"))
        await pilot.press("s")
        await until(pilot, lambda: not app.busy)


async def resumed(app: ConsoleApp, pilot: Pilot[None], *answer: str) -> None:
    """From the queue, with this answer to what its command is."""
    await pilot.press("u")
    await until(pilot, lambda: "s1" in screen_text(app))
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.screen, EnterText))
    await pilot.press(*answer)
    await until(pilot, lambda: not isinstance(app.screen, EnterText))


async def test_a_change_whose_end_is_not_known_is_not_made_again_unasked(tmp_path: Path, golden: Golden) -> None:
    made = tmp_path / "made"
    change = f"touch {made}"
    await left(tmp_path, change)
    begun = Ran(at=datetime.now(UTC), kind="change", command=change, study="s1")
    (tmp_path / "sessions" / "tuning" / CHANGES_FILE).write_text(f"{begun.model_dump_json()}\n")
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=(80, 24)) as (app, pilot):
        for answers in (("escape", "escape"), ("n", "y")):
            await resumed(app, pilot, *change, "enter")
            for answer in answers:
                await until(pilot, lambda: isinstance(app.screen, Confirm))
                await pilot.press(answer)
            await until(pilot, lambda: not app.busy)
            assert made.exists() == (answers == ("n", "y"))
            console_screen(app).dispatcher.reorder(Queue())
        golden.same(text for text in said(app) if "not known" in text)
    assert len([run for run in saved(tmp_path) if run.outcome == "ok"]) == 4


async def test_a_check_that_needs_its_commands_again_asks_for_them(tmp_path: Path, golden: Golden) -> None:
    made = tmp_path / "made"
    await left(tmp_path, f"touch {made}")
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=(80, 24)) as (app, pilot):
        for answer in (["escape"], [*f"touch {made}", "enter"]):
            await resumed(app, pilot, *answer)
        golden.same(text for text in said(app) if "s1" in text)
        await until(pilot, lambda: not app.busy and made.exists())
    goal = goal_in(tmp_path)
    good = [run.batch for run in saved(tmp_path) if run.outcome == "ok"]
    assert good == [*goal.before * 2, *goal.after * 2]


def mixed(number: int, read: float, write: float) -> Run:
    return run(number, read=total(iops=read), write=total(iops=write))


@pytest.mark.parametrize(
    ("writes", "answer"),
    [
        ((500, 501, 502, 503), "not met"),
        ((860, 940, 880, 930), "undecided"),
        ((1000, 1001, 1002, 1003), "met"),
    ],
)
def test_of_reads_and_writes_the_one_that_decides_is_in_large(
    writes: tuple[float, ...], answer: str, golden: Golden
) -> None:
    change = Change(
        tuple(mixed(number, 1000 + number, 1000 + number) for number in range(4)),
        tuple(mixed(number, 1000 + number, write) for number, write in enumerate(writes, 4)),
    )
    judged = conclude([change], ConclusionTerms(lambda _: IOPS), STARTED)
    assert judged.conclusion.answer == answer
    assert judged.decisive
    assert judged.decisive.direction == ("read" if answer == "met" else "write")
    golden.same(word_text(judged.decisive))
    lines = judged_text(judged).splitlines()
    assert ["read" in line for line in lines[:2]] == [True, False]


def test_what_is_not_met_by_itself_alone_is_in_large_as_open(golden: Golden) -> None:
    barely = [0.992, 1.004, 1.0, 0.998, 1.006]
    change = Change(
        tuple(mixed(number, 1000 * each, 1000 * each) for number, each in enumerate(barely)),
        tuple(mixed(number, 1000 * each, 892 * each) for number, each in enumerate(barely, 5)),
    )
    judged = conclude([change], ConclusionTerms(lambda _: IOPS), STARTED)
    assert (judged.deciding[1].met, judged.conclusion.answer) == (None, "undecided")
    assert judged.decisive
    golden.same(word_text(judged.decisive))
