"""``cephtui replay``: a saved run, played again."""

from __future__ import annotations

from pathlib import Path

import click

from cephtui.cli.look import find_look
from cephtui.cli.saved import find_run
from cephtui.sessions.store import StoreError
from cephtui.tui import main
from cephtui.tui.read_only import is_read_only
from cephtui.tui.screens.replay import ReplayScreen
from cephtui.tui.screens.session import SessionScreen
from cephtui.tui.screens.sessions import SessionsScreen


def replay_run(name: str, speed: float) -> None:
    """Play a saved run until the user leaves."""
    directory, number = find_run(name)
    try:
        screen = ReplayScreen(directory, number, speed)
    except StoreError as error:
        raise click.ClickException(str(error)) from None
    show_replay(directory, screen)


def show_replay(directory: Path, screen: ReplayScreen) -> None:
    """Show a replay over its session, and that over the sessions beside it, which an audience does not see."""
    root = directory.parent
    below = () if is_read_only() else (SessionsScreen(root, with_demo=True),)
    main.show_screens(root, (*below, SessionScreen(directory), screen), find_look())
