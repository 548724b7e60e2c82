"""``cephtui demo``: the recorded session, told as a story."""

from __future__ import annotations

from cephtui.cli.commands.replay import show_replay
from cephtui.cli.saved import opened
from cephtui.sessions import demo
from cephtui.sessions.demo.story import STORY
from cephtui.tui.screens.story import StoryScreen


def play_demo(speed: float) -> None:
    """Play the recorded session until the user leaves; raises Refused where it can't be unpacked."""
    directory = opened(demo.directory())
    show_replay(directory, StoryScreen(directory, STORY, speed))
