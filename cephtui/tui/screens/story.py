"""A session told in scenes: parts of runs, verdicts, a curve, a diagnosis, one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.text import Text
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import Static

from cephtui.models import Run
from cephtui.sessions import store
from cephtui.sessions.demo.story import Scene
from cephtui.tui.keys import key
from cephtui.tui.screens.player import Player
from cephtui.tui.screens.replay import ReplayScreen
from cephtui.tui.widgets.title_bar import TitleBar


class Caption(Static):
    """What is seen, over the first row of a screen."""

    DEFAULT_CSS = """
    Caption { dock: top; height: 1; padding: 0 1; background: $primary; color: $text; text-style: bold;
              text-wrap: nowrap; text-overflow: ellipsis; }
    """


class StoryScreen(ReplayScreen):
    """Plays scenes; the story waits while another screen is looked at, and while the replay is paused."""

    BINDINGS = [key("n", "next_scene", "next", "the next scene of the story", "replay", shown=True)]

    def __init__(
        self,
        directory: Path,
        scenes: Sequence[Scene],
        speed: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``speed`` is how much faster than at 1x all of it goes. Raises StoreError."""
        super().__init__(directory, scenes[0].run, scenes[0].speed * speed)
        self.player.seek(scenes[0].begin_seconds)
        self._scenes, self._speed, self._clock = scenes, speed, clock
        self._number = 0
        self._left_seconds = scenes[0].seconds / speed
        self._looked_at = clock()
        self._opened: Screen[None] | None = None
        """The view that the story has opened."""

    @property
    def scene(self) -> Scene:
        """What is shown."""
        return self._scenes[self._number]

    def compose(self) -> ComposeResult:
        yield Caption(self._caption())
        yield from super().compose()

    def _caption(self) -> Text:
        leave = "" if self.scene.view == "run" else "   esc: next scene"
        number = f"{self._number + 1} of {len(self._scenes)}  "
        return Text.assemble((number, "dim"), self.scene.text, (leave, "dim"))

    def follow(self) -> None:
        """Show where it is, and go on with the next scene when this one has been shown for its time."""
        super().follow()
        now = self._clock()
        passed, self._looked_at = now - self._looked_at, now
        if self.player.paused or self.app.screen not in (self, self._opened):
            return
        self._left_seconds -= passed
        if self._left_seconds <= 0:
            self.action_next_scene()

    def on_screen_resume(self) -> None:
        """A view that the user has left makes room for the next scene."""
        if self._opened:
            self._opened = None
            self.action_next_scene()

    def action_next_scene(self) -> None:
        """Go on with the next scene; the last one stays."""
        if self._opened:
            self._opened.dismiss()  # and is resumed
            return
        if self._number + 1 == len(self._scenes):
            return
        self._number += 1
        self._left_seconds = self.scene.seconds / self._speed
        self.query_one(Caption).update(self._caption())
        if self.scene.view == "run":
            self._play()
        else:
            self._open(self._view())

    def _play(self) -> None:
        if self.scene.run != self.player.run.run:
            self.player = Player(self._directory, self.scene.run)
            self.query_one(TitleBar).show(self._title())
        self.player.speed = self.scene.speed * self._speed
        self.player.seek(self.scene.begin_seconds)
        self.catch_up()

    def _open(self, screen: Screen[None]) -> None:
        self._opened = screen
        self.app.push_screen(screen)
        screen.call_after_refresh(screen.mount, Caption(self._caption()))

    def _view(self) -> Screen[None]:
        """The screen of a view; raises StoreError."""
        from cephtui.tui.screens.compare import compared
        from cephtui.tui.screens.curve import CurveScreen
        from cephtui.tui.screens.why import WhyScreen

        scene = self.scene
        if scene.view == "verdict":
            return compared((self._directory, scene.before), (self._directory, scene.run))
        if scene.view == "diagnosis":
            return WhyScreen(self._directory)
        runs, marks = store.read_runs(self._directory)[0], store.read_marks(self._directory)
        chosen: Run = next(run for run in runs if run.run == scene.run)
        return CurveScreen(chosen, lambda: (runs, marks))
