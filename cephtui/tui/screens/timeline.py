"""The keys of time on a screen with a run, where a recording is played and charts show a part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from textual.screen import Screen

from cephtui.tui.keys import key
from cephtui.tui.widgets.run_view import RunView

if TYPE_CHECKING:
    from pathlib import Path

    from cephtui.analysis.views.live import LiveRun
    from cephtui.models import Run
    from cephtui.tui.screens.player import Player


class HasRun(Protocol):
    """A screen with a run, as a screen over it knows it."""

    PRESENTS_NOTHING: str
    """What is presented without a run."""
    CAN_MOVE: bool
    """Whether a part of a run that is over can be moved."""

    @property
    def player(self) -> Player | None:
        """What plays the run, of one that is played."""
        ...

    @property
    def view(self) -> RunView:
        """Where the run is drawn."""
        ...

    def find_view(self) -> RunView | None:
        """The same; None before it is there."""
        ...

    @property
    def drawn(self) -> tuple[Path, Run] | None:
        """The session's directory and the run that is drawn; None where there is none."""
        ...

    @property
    def live(self) -> LiveRun | None:
        """The run in progress; None where there is none."""
        ...

    def catch_up(self) -> None:
        """Draw what has happened since it was drawn last."""
        ...


ZOOM = key("z", "zoom", "zoom", "zoom in time: the whole run, 60 s, 15 s", "view")
_SEEK, _SPEED = "back/forward 5 s", "faster/slower: 1x to 20x"


class TimelineScreen(Screen[None]):
    """The keys of time, on a screen with a run and on what lies over it; only those that do something are active."""

    BINDINGS = [
        key("space", "pause('playing')", "pause", "pause", "replay", shown=True),
        key("space", "pause('paused')", "resume", "resume", "replay", shown=True),
        key("space", "pause('finished')", "again", "play it again", "replay", shown=True),
        key("left", "seek(-5)", "seek", _SEEK, "replay", shown=True, display="left right"),
        key("right", "seek(5)", "5 s forward", _SEEK, "replay", display="left right"),
        key("shift+right", "seek(30)", "30 s forward", "forward 30 s", "replay"),
        key("shift+left", "seek(-30)", "30 s back", "back 30 s", "replay"),
        key("home", "seek(-1e9)", "beginning", "to the beginning", "replay"),
        key("end", "seek(1e9)", "end", "to the end", "replay"),
        key("plus,equals_sign", "speed(1)", "speed", _SPEED, "replay", shown=True, display="+ -"),
        key("minus", "speed(-1)", "slower", _SPEED, "replay", display="+ -"),
        ZOOM,
    ]

    @property
    def run_screen(self) -> HasRun:
        """The screen with the run: this one, or the one below."""
        raise NotImplementedError

    def follow(self) -> None:
        """Draw what has changed."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether a key of time does something now; others are not decided here."""
        if action not in ("pause", "seek", "speed", "zoom"):
            return super().check_action(action, parameters)
        player, view = self.run_screen.player, self.run_screen.find_view()
        if action == "zoom":
            return view is not None and view.can_zoom
        if action == "seek":
            return player is not None or (self.run_screen.CAN_MOVE and view is not None and view.part is not None)
        return player is not None and (action == "speed" or parameters == (player.state,))

    def _moved(self) -> None:
        self.run_screen.catch_up()
        self.follow()
        self.refresh_bindings()

    def action_pause(self, state: str) -> None:
        if player := self.run_screen.player:
            player.pause()
        self._moved()

    def action_seek(self, seconds: float) -> None:
        if player := self.run_screen.player:
            player.seek(player.position + seconds)
        else:
            self.run_screen.view.move(seconds)
        self._moved()

    def action_speed(self, by: int) -> None:
        if player := self.run_screen.player:
            player.change_speed(by)
        self._moved()

    def action_zoom(self) -> None:
        """Draw less of the time; after the least, all of it."""
        self.run_screen.view.next_zoom()
        self._moved()
