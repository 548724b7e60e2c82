"""``cephtui watch``: the session that another cephtui is writing."""

from __future__ import annotations

from cephtui import paths
from cephtui.cli.look import find_look
from cephtui.cli.saved import find_session
from cephtui.tui import main
from cephtui.tui.screens.replay import WatchScreen


def watch_session(name: str) -> None:
    """Follow a session until the user leaves."""
    directory = find_session(name)
    main.show_screens(paths.sessions_dir(), [WatchScreen(directory)], find_look())
