"""A saved run played again, and a run of another process followed: the same screen as a live one."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Static

from cephtui import units
from cephtui.models import Event, Run
from cephtui.reports.masking.mask import Names, names_in
from cephtui.reports.words.text import conditions, tool_command
from cephtui.sessions.playback import Follower, Playback, lasted_seconds
from cephtui.sessions.store import StoreError
from cephtui.tui.copying import COPY
from cephtui.tui.keys import KeyBar, key
from cephtui.tui.screens.run import RunScreen
from cephtui.tui.terminal.profile import profile_of
from cephtui.tui.widgets.live_view import DRAWS_PER_SECOND, LiveView, progress_bar
from cephtui.tui.widgets.title_bar import TitleBar

SPEEDS = (1.0, 2.0, 4.0, 8.0, 12.0, 20.0)
_BAR_COLUMNS = 40


class Player:
    """A recording with a position; ``drain`` gives the events before it. Raises StoreError."""

    def __init__(self, directory: Path, number: int, speed: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._directory, self._number, self._clock = directory, number, clock
        self._playback = Playback(directory, number)
        self.seconds = lasted_seconds(directory, self.run, self._playback.step)
        self.speed, self.paused = speed, False
        self._unreadable = False
        """Whether it stands where something could not be read, until it is resumed or moved."""
        self.position = 0.0
        self._drained_at = clock()

    @property
    def run(self) -> Run:
        """The run that is played."""
        return self._playback.run

    @property
    def over(self) -> bool:
        """Whether its end was reached."""
        return self._playback.over

    def drain(self) -> list[Event]:
        """What has happened since the last call; pauses where something can't be read."""
        now = self._clock()
        if not self.paused and not self.over:
            self.position = min(self.seconds, self.position + (now - self._drained_at) * self.speed)
        self._drained_at = now
        if self._unreadable:
            return []
        try:
            return self._playback.until(self.position if self.position < self.seconds else float("inf"))
        except StoreError:
            self.paused = self._unreadable = True
            raise

    def pause(self) -> None:
        """Pause, or resume."""
        self.paused, self._unreadable = not self.paused, False

    def seek(self, seconds: float) -> bool:
        """Go to a position; whether ``drain`` begins again with the first event."""
        seconds = max(0.0, min(self.seconds, seconds))
        back, self._unreadable = seconds < self.position, False
        if back:
            self._playback = Playback(self._directory, self._number)
        self.position = seconds
        return back


class PlayedScreen(RunScreen):
    """What replaying and watching have in common: a run that is played."""

    BINDINGS = [
        key("c", "compare", "compare", "compare the run with another", "view", shown=True),
        COPY,
        key("f", "presenter", "present", "large numbers and the chart, for an audience", "view", shown=True),
        key("l", "log", "log", "exact commands and raw output", "view"),
        key("escape", "back", "back", "leave the replay", "more", shown=True, display="esc"),
    ]
    NOTHING = "no run has begun yet"
    DEFAULT_CSS = """
    PlayedScreen #transport { height: 1; padding: 0 1; background: $surface; }
    """

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self._directory = directory
        self.run: Run | None = None
        self._reported = ""

    @property
    def drawn(self) -> tuple[Path, Run] | None:
        return (self._directory, self.run) if self.run else None

    def _report(self, error: StoreError) -> None:
        """Notify once: an unreadable file fails again with every read."""
        if str(error) != self._reported:
            self._reported = str(error)
            self.notify(self._reported, severity="error", timeout=15, markup=False)

    def on_live_view_began(self, message: LiveView.Began) -> None:
        self.run = message.run
        self.query_one("#command", Static).update(Text(f"$ {tool_command(message.run.command, message.run.tool)}"))


class ReplayScreen(PlayedScreen):
    """Plays, pauses, and seeks; raises StoreError where there is nothing to play."""

    BINDINGS = [
        key("space", "pause", "pause", "pause/resume", "replay", shown=True),
        key("left", "seek(-5)", "seek", "back/forward 5 s", "replay", shown=True, display="left right"),
        key("right", "seek(5)", "5 s forward", "back/forward 5 s", "replay", display="left right"),
        key("shift+right", "seek(30)", "30 s forward", "forward 30 s", "replay"),
        key("shift+left", "seek(-30)", "30 s back", "back 30 s", "replay"),
        key("home", "seek(-1e9)", "beginning", "to the beginning", "replay"),
        key("end", "seek(1e9)", "end", "to the end", "replay"),
        key("plus,equals_sign", "speed(1)", "speed", "faster/slower: 1x to 20x", "replay", shown=True, display="+ -"),
        key("minus", "speed(-1)", "slower", "faster/slower: 1x to 20x", "replay", display="+ -"),
    ]

    def __init__(self, directory: Path, number: int, speed: float = 1.0) -> None:
        super().__init__(directory)
        self.player = Player(directory, number, speed)

    def names_to_hide(self) -> Names:
        """Names of the run, also before it has begun."""
        return {**names_in([self.player.run]), **super().names_to_hide()}

    def compose(self) -> ComposeResult:
        run = self.player.run
        yield TitleBar(f"replay of {self._directory.name}/{run.run}   {conditions(run)}, {run.target}")
        yield Static(id="command")
        yield LiveView(self, lambda: self.player.position)
        yield Static(id="transport")
        yield KeyBar("compare", "presenter", "copy")

    def on_mount(self) -> None:
        self._show_transport()
        self.set_interval(1 / DRAWS_PER_SECOND, self._show_transport)

    def drain(self) -> list[Event]:
        """The events since the last call; what cannot be read is reported."""
        try:
            return self.player.drain()
        except StoreError as error:
            self._report(error)
            return []

    def _show_transport(self) -> None:
        player = self.player
        state = "finished" if player.over else "paused" if player.paused else "playing"
        fraction = min(1.0, player.position / player.seconds) if player.seconds else 1.0
        bar = progress_bar(fraction, _BAR_COLUMNS, ascii_only=profile_of(self.view).ascii_only)
        text = Text.assemble((f"{state} {player.speed:g}x ", "bold"), bar)
        text.append(f" {units.duration(player.position)} of {units.duration(player.seconds)}")
        text.append("  space plays again, esc shows all runs" if player.over else "", "dim")
        self.query_one("#transport", Static).update(text, layout=False)

    def action_pause(self) -> None:
        """Pause or resume; at the end, begin again."""
        if self.player.over:
            self.action_seek(-1e9)
            self.player.paused = False
        else:
            self._reported = ""
            self.player.pause()
        self._show_transport()

    def action_seek(self, seconds: float) -> None:
        view, self._reported = self.query_one(LiveView), ""
        try:
            if self.player.seek(self.player.position + seconds):
                view.begin_anew()
        except StoreError as error:
            self._report(error)
        view.catch_up()
        self._show_transport()

    def action_speed(self, by: int) -> None:
        speeds = [s for s in SPEEDS if (s > self.player.speed if by > 0 else s < self.player.speed)]
        if speeds:
            self.player.speed = min(speeds) if by > 0 else max(speeds)
        self._show_transport()


class WatchScreen(PlayedScreen):
    """Follows a session that another process is writing; writes nothing."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._follower = Follower(directory)

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
            self._report(error)
            return []
