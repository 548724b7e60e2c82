"""A session told in scenes: each is shown as long as it says, and the story waits for whoever looks at something."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from cephtui.sessions import demo, store
from cephtui.sessions.demo.story import STORY, Scene
from cephtui.tui.app import SavedApp
from cephtui.tui.dialogs import Help
from cephtui.tui.screens.compare import CompareScreen, compared
from cephtui.tui.screens.replay import ReplayScreen
from cephtui.tui.screens.story import Caption, StoryScreen
from cephtui.tui.screens.why import WhyScreen
from tests.support.known import known
from tests.support.replayed import screen_text, until

PLAYED = Scene("writes, from the middle", 1, 10.0, begin_seconds=5.0, speed=4.0)
OTHER = Scene("another run", 2, 6.0)
VERDICT = Scene("a verdict", 2, 8.0, view="verdict", before=1)
WHY = Scene("a diagnosis", 2, 8.0, view="diagnosis")


class Clock:
    """Says what it was set to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def told(
    session: Path, scenes: Sequence[Scene], size: tuple[int, int] = (120, 36)
) -> AsyncIterator[tuple[SavedApp, Pilot[None], StoryScreen, Clock]]:
    clock = Clock()
    story = StoryScreen(session, scenes, clock=clock)
    app = SavedApp(session.parent, [story])
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: bool(story.query(Caption)))
        yield app, pilot, story, clock


async def test_scenes_follow_each_other_and_the_last_one_stays(demo_session: Path) -> None:
    async with told(demo_session, (PLAYED, OTHER)) as (app, pilot, story, clock):
        assert "1 of 2  writes, from the middle" in screen_text(app)
        assert (story.player.run.run, story.player.speed) == (1, 4.0)
        assert story.player.position >= 5
        clock.now = 9.9
        await pilot.pause(0.6)
        assert story.scene is PLAYED
        clock.now = 10.1
        await until(pilot, lambda: story.scene is OTHER)
        await until(pilot, lambda: "2 of 2  another run" in screen_text(app) and "demo/2 " in screen_text(app))
        assert (story.player.run.run, story.player.speed) == (2, 1.0)
        clock.now = 100
        await pilot.pause(0.6)
        assert story.scene is OTHER


async def test_a_view_is_opened_and_closed_again(demo_session: Path) -> None:
    async with told(demo_session, (PLAYED, VERDICT, WHY, OTHER)) as (app, pilot, story, clock):
        clock.now = 11
        await until(pilot, lambda: isinstance(app.screen, CompareScreen))
        await until(pilot, lambda: "2 of 4  a verdict" in screen_text(app))
        clock.now = 20
        await until(pilot, lambda: isinstance(app.screen, WhyScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is story)
        await until(pilot, lambda: story.scene is OTHER)


@pytest.mark.parametrize("keys", [["space"], ["question_mark"]])
async def test_it_waits_while_it_is_paused_or_something_else_is_looked_at(demo_session: Path, keys: list[str]) -> None:
    async with told(demo_session, (PLAYED, OTHER)) as (app, pilot, story, clock):
        await pilot.press(*keys)
        await until(pilot, lambda: story.player.paused or isinstance(app.screen, Help))
        clock.now = 30
        await pilot.pause(0.6)
        assert story.scene is PLAYED
        await pilot.press("escape" if isinstance(app.screen, Help) else "space")
        await until(pilot, lambda: app.screen is story and not story.player.paused)
        await pilot.press("n")
        await until(pilot, lambda: story.scene is OTHER)


async def test_the_key_for_the_next_scene_leaves_a_view_too(demo_session: Path) -> None:
    async with told(demo_session, (PLAYED, WHY, OTHER), (80, 24)) as (app, pilot, story, _):
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, WhyScreen))
        story.action_next_scene()
        await until(pilot, lambda: app.screen is story and story.scene is OTHER)
        assert isinstance(story, ReplayScreen)
        await pilot.press("escape")
        await until(pilot, lambda: not app.is_running)


def test_the_demo_is_told_in_four_minutes_of_runs_that_it_has(tmp_path: Path) -> None:
    session = demo.unpack(tmp_path)
    runs = {run.run: run for run in store.read_runs(session)[0]}
    assert 230 <= sum(scene.seconds for scene in STORY) <= 250
    assert {scene.run for scene in STORY} | {scene.before for scene in STORY if scene.before} <= runs.keys()
    assert {scene.view for scene in STORY} == {"run", "verdict", "curve", "diagnosis"}
    hints = {scene: "" if scene.view == "run" else "   esc: next scene" for scene in STORY}
    assert max(len(f"10 of {len(STORY)}  {scene.text}{hints[scene]}") for scene in STORY) < 80
    assert demo.ARCHIVE.stat().st_size <= 2_000_000
    told = [_answer_of(session, scene) for scene in STORY if scene.view == "verdict"]
    assert told[0] == "better"
    assert told[1] not in ("better", "worse")


def _answer_of(session: Path, scene: Scene) -> str:
    (verdict,) = known(compared((session, scene.before), (session, scene.run))._judged).deciding
    return verdict.word
