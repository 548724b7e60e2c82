"""``cephtui demo``: the recorded session, played."""

from __future__ import annotations

from cephtui.cli.look import find_look
from cephtui.cli.saved import opened
from cephtui.sessions import demo
from cephtui.tui import main
from cephtui.tui.screens.replay import ReplayScreen
from cephtui.tui.screens.session import SessionScreen
from cephtui.tui.screens.sessions import SessionsScreen


def play_demo(speed: float) -> None:
    """Play the recorded session until the user leaves; raises Refused where it can't be unpacked."""
    directory = opened(demo.directory())
    folder = directory.parent
    screens = (SessionsScreen(folder), SessionScreen(directory), ReplayScreen(directory, demo.STAR, speed))
    main.show_screens(folder, screens, find_look())
