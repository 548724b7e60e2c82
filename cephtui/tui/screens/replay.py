"""A saved run played again, and a run of another process followed: the same screen as a live one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Static

from cephtui.models import Event, Run
from cephtui.reports.masking.mask import Names, names_in
from cephtui.reports.words.text import conditions, tool_command
from cephtui.sessions.playback import Follower
from cephtui.sessions.store import StoreError
from cephtui.tui.copying import COPY
from cephtui.tui.keys import KeyBar, key
from cephtui.tui.screens.player import Player
from cephtui.tui.screens.run import RunScreen
from cephtui.tui.screens.timeline import ZOOM
from cephtui.tui.widgets.live_view import DRAWS_PER_SECOND, LiveView
from cephtui.tui.widgets.time_bar import TimeBar
from cephtui.tui.widgets.title_bar import TitleBar


class PlayedScreen(RunScreen):
    """What replaying and watching have in common: a run that is played."""

    BINDINGS = [
        key("c", "compare", "compare", "compare the run with another", "view", shown=True),
        COPY,
        key("f", "presenter", "present", "large digits and the chart, for an audience", "view", shown=True),
        key("l", "log", "log", "exact commands and raw output", "view"),
        key("escape", "back", "back", "leave the replay", "more", shown=True, display="esc"),
    ]
    NOTHING = "no run has begun yet"

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self._directory = directory
        self.run: Run | None = None

    @property
    def drawn(self) -> tuple[Path, Run] | None:
        return (self._directory, self.run) if self.run else None

    def _report(self, error: StoreError) -> None:
        self.notify(str(error), severity="error", timeout=15, markup=False)

    def on_live_view_began(self, message: LiveView.Began) -> None:
        self.run = message.run
        self.query_one("#command", Static).update(Text(f"$ {tool_command(message.run.command, message.run.tool)}"))


class ReplayScreen(PlayedScreen):
    """Plays, pauses, and seeks; raises StoreError where there is nothing to play."""

    BINDINGS = [replace(ZOOM, show=True)]

    def __init__(self, directory: Path, number: int, speed: float = 1.0) -> None:
        super().__init__(directory)
        self.player: Player = Player(directory, number, speed)
        self._followed = ""

    def names_to_hide(self) -> Names:
        """Names of the run, also before it has begun."""
        return {**names_in([self.player.run]), **super().names_to_hide()}

    def compose(self) -> ComposeResult:
        yield TitleBar(self._title())
        yield Static(id="command")
        yield LiveView(self, lambda: self.player.position, is_played=True)
        yield TimeBar(id="transport")
        yield KeyBar("compare", "copy", "sessions", "presenter", "zoom")

    def _title(self) -> str:
        run = self.player.run
        return f"replay of {self._directory.name}/{run.run}   {conditions(run)}, {run.target}"

    def on_mount(self) -> None:
        self.follow()
        self.set_interval(1 / DRAWS_PER_SECOND, self.follow)

    def drain(self) -> list[Event]:
        """The events since the last call; what cannot be read is reported."""
        try:
            return self.player.drain()
        except StoreError as error:
            self._report(error)
            return []

    def follow(self) -> None:
        """Show where it is, and the keys that do something there."""
        self.query_one(TimeBar).show(self.player.line)
        now = f"{self.player.state} {self.view.can_zoom}"
        if now != self._followed:
            self._followed = now
            self.refresh_bindings()


class WatchScreen(PlayedScreen):
    """Follows a session that another process is writing; writes nothing."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._follower = Follower(directory)
        self._reported = ""

    def compose(self) -> ComposeResult:
        yield TitleBar(f"watching session {self._directory.name}   (read-only)")
        yield Static(id="command")
        yield LiveView(self)
        yield KeyBar("compare", "copy")

    def on_mount(self) -> None:
        self.query_one(LiveView).announce("waiting for a run ...")

    def drain(self) -> list[Event]:
        try:
            return self._follower.drain()
        except StoreError as error:
            if str(error) != self._reported:  # an unreadable file fails again with every read
                self._reported = str(error)
                self._report(error)
            return []
