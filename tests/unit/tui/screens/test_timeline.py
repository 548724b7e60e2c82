"""Time on a screen with a run: a part of a recording is played, charts are zoomed, and the presenter has the keys."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cephtui.models import Run, Sample
from cephtui.sessions import store
from cephtui.sessions.playback import prefilled_seconds
from cephtui.tui.charts.axes import TimeSpan
from cephtui.tui.charts.chart import Chart
from cephtui.tui.charts.heat_map import HeatMap
from cephtui.tui.keys import active_commands
from cephtui.tui.screens.player import SPEEDS, Player
from cephtui.tui.screens.presenter import Presenter
from tests.support import two_copies
from tests.support.known import known
from tests.support.replayed import screen_text, until
from tests.unit.tui.screens.test_replay import SIZES, Clock, Playing, moment, playing, text_in
from tests.unit.tui.screens.test_session import Shown
from tests.unit.tui.screens.test_session import showing as showing_session

# ---------------------------------------------------------------------------------------------- a player


def test_a_part_of_a_recording_is_played(demo_session: Path) -> None:
    clock = Clock()
    player = Player(demo_session, two_copies.STAR, 4.0, clock, begin_seconds=10.0, end_seconds=20.0)
    begun = [event for event in player.drain() if isinstance(event, Sample)]
    assert begun, "what was before it is told too"
    assert (player.state, player.position) == ("playing", 10.0)
    clock.now += 1.0
    player.drain()
    assert player.position == pytest.approx(14.0)
    clock.now += 60.0
    assert not any(isinstance(event, Run) for event in player.drain()), "the run goes on behind it"
    assert (player.state, player.position) == ("finished", 20.0)
    player.seek(-1e9)
    assert (player.state, player.position) == ("playing", 10.0)
    player.seek(1e9)
    player.pause()
    assert (player.state, player.position) == ("playing", 10.0), "again from its beginning"


def test_an_end_behind_that_of_the_recording_is_that_of_the_recording(demo_session: Path) -> None:
    whole, more = Player(demo_session, two_copies.STAR), Player(demo_session, two_copies.STAR, end_seconds=1e9)
    assert more.seconds == whole.seconds
    more.seek(1e9)
    assert isinstance(more.drain()[-1], Run)
    assert more.state == "finished"


def test_its_line_has_the_stalls_and_the_marks_of_the_whole_run(demo_session: Path) -> None:
    player = Player(demo_session, two_copies.STAR)
    begun = prefilled_seconds(demo_session, player.run)
    assert begun > 0
    marks = [known(mark.elapsed_seconds) for mark in store.read_marks(demo_session) if mark.run == two_copies.STAR]
    stalls = [f for f in player.run.findings if f.code == "stalled"]
    assert player.line.marks == tuple(begun + at for at in marks)
    assert [begin - begun for begin, _ in player.line.stalls] == pytest.approx([f.from_seconds for f in stalls])
    assert marks
    assert stalls


def test_the_speed_has_steps(demo_session: Path) -> None:
    player = Player(demo_session, two_copies.STAR, 3.0)
    player.change_speed(1)
    assert player.speed == 4.0
    for _ in SPEEDS:
        player.change_speed(-1)
    assert player.speed == SPEEDS[0]


# ---------------------------------------------------------------------------------------------- in the presenter


def words(playing: Playing) -> set[str]:
    """The words of the keys that do something now."""
    return {command.word for command in active_commands(playing.app.screen)}


def last_row(playing: Playing) -> str:
    return screen_text(playing.app).rstrip("\n").splitlines()[-1].strip()


@pytest.mark.parametrize("size", SIZES)
async def test_the_presenter_of_a_replay_is_a_player(demo_session: Path, size: tuple[int, int]) -> None:
    async with playing(demo_session, size=size) as shown:
        await shown.seek(moment(demo_session, seconds=5))
        await shown.press("f")
        await until(shown.pilot, lambda: isinstance(shown.app.screen, Presenter))
        await shown.press("space")
        assert shown.screen.player.paused
        assert last_row(shown).startswith("paused 1x ━")
        assert "┃▒" in last_row(shown)
        assert {"resume", "seek", "speed"} <= words(shown)
        assert "pause" not in words(shown)
        before = shown.position
        await shown.press("right", "right", "left", "plus")
        assert shown.position == pytest.approx(before + 5)
        assert last_row(shown).startswith("paused 2x ")
        reached = known(shown.screen.view.shown).history.reached
        assert reached == pytest.approx(10, abs=1.1), "drawn at once"
        await shown.press("end")
        assert last_row(shown).startswith("finished ")
        assert "again" in words(shown)
        assert "over the whole run" in screen_text(shown.app)
        await shown.press("space")
        assert (shown.position, shown.screen.player.paused) == (0.0, False)
        await shown.press("escape")
        await until(shown.pilot, lambda: shown.app.screen is shown.screen)
        await until(shown.pilot, lambda: shown.transport.startswith("playing 2x "))


async def test_the_bar_of_a_replay_names_its_keys_by_their_state(demo_session: Path) -> None:
    async with playing(demo_session) as shown:
        seen = []
        for key in ("", "space", "end"):
            await shown.press(*filter(None, [key]))
            bar = last_row(shown)
            seen.append(next(word for word in ("pause", "resume", "again") if f"space {word} " in bar))
            assert ("z zoom" in bar) == (key == "end"), "there is a part to be seen only when there is more than that"
        assert seen == ["pause", "resume", "again"]


@pytest.mark.parametrize("size", SIZES)
async def test_how_far_a_replay_is_stands_once(demo_session: Path, size: tuple[int, int]) -> None:
    async with playing(demo_session, size=size) as shown:
        shown.screen.view.chosen = {"spread": False}  # whose bars have shares in per cent
        await shown.seek(moment(demo_session))
        assert text_in(shown.screen, "#progress") == f"#{two_copies.STAR} write-iops running"
        assert re.findall(r"\S+ of \d+ s|\d+/\d+ s|\d+ %", screen_text(shown.app)) == ["s of 45 s"]


# ---------------------------------------------------------------------------------------------- zoomed


async def test_z_zooms_in_on_what_was_played_last_in_every_chart(demo_session: Path) -> None:
    async with playing(demo_session, size=(200, 50)) as shown:
        await shown.seek(moment(demo_session, seconds=30.5))
        view = shown.screen.view
        await until(shown.pilot, lambda: known(view.shown).history.reached > 29)
        reached = known(view.shown).history.reached
        await shown.press("h", "h", "z")
        part = TimeSpan(reached - 15, reached, reached)
        assert known(view.query_one("#chart", Chart)._shown).part == part
        assert view.query_one(HeatMap)._span == part
        assert screen_text(shown.app).count(f"of {reached:.0f} s") >= 3
        await shown.seek(moment(demo_session, seconds=20.5))
        assert known(view.part).end == pytest.approx(20, abs=1)
        await shown.press("f", "z")
        assert view.part is None
        await shown.press("escape")
        assert known(view.query_one("#chart", Chart)._shown).part is None


async def test_a_run_that_is_shorter_than_any_part_is_not_zoomed(demo_session: Path) -> None:
    async with playing(demo_session) as shown:
        await shown.seek(moment(demo_session, seconds=10))
        assert "zoom" not in words(shown)
        await shown.press("z")
        assert shown.screen.view.zoom is None


def part(shown: Shown) -> TimeSpan:
    """What is drawn of a saved run."""
    return known(known(shown.screen.view.query_one("#chart", Chart)._shown).part)


async def test_a_saved_run_is_zoomed_around_its_stall_and_moved(demo_session: Path) -> None:
    run = store.read_run(demo_session, two_copies.STAR)
    stall = next(known(finding.from_seconds) for finding in run.findings if finding.code == "stalled")
    async with showing_session(demo_session) as shown:
        await shown.at(two_copies.STAR)
        names = {command.word for command in active_commands(shown.screen)}
        assert "zoom" in names
        assert not {"30 s back", "pause"} & names
        await shown.pilot.press("z")
        assert part(shown).seconds == 15.0
        assert part(shown).begin < stall < part(shown).end
        await shown.pilot.press("shift+right")
        assert part(shown).end == part(shown).of
        await shown.pilot.press("shift+left", "shift+left", "shift+left")
        assert part(shown).begin == 0.0
        await shown.pilot.press("f")
        await shown.until_on(Presenter)
        await shown.pilot.press("right")
        presented = known(shown.app.screen.query_one(Chart)._shown)
        assert presented.part == part(shown) == TimeSpan(5.0, 20.0, part(shown).of)
