"""``cephtui replay``: a saved run, played again."""

from __future__ import annotations

import click

from cephtui import paths
from cephtui.cli.look import find_look
from cephtui.cli.saved import find_run
from cephtui.sessions.store import StoreError
from cephtui.tui import main
from cephtui.tui.screens.replay import ReplayScreen


def replay_run(name: str, speed: float) -> None:
    """Play a saved run until the user leaves."""
    directory, number = find_run(name)
    try:
        screen = ReplayScreen(directory, number, speed)
    except StoreError as error:
        raise click.ClickException(str(error)) from None
    main.show_screens(paths.sessions_dir(), [screen], find_look())
