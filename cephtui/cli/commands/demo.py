"""``cephtui demo``: a recorded session."""

from __future__ import annotations

from contextlib import ExitStack

from cephtui import paths
from cephtui.cli.errors import Refused
from cephtui.cli.look import find_look
from cephtui.sessions import demo
from cephtui.targets.scratch import scratch_directory
from cephtui.tui import main
from cephtui.tui.screens.replay import ReplayScreen
from cephtui.tui.screens.session import SessionScreen
from cephtui.tui.screens.sessions import SessionsScreen


def play_demo(speed: float) -> None:
    """Play the recorded session until the user leaves; raises Refused where it can't be unpacked."""
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(scratch_directory(paths.cache_dir()))
            directory = demo.unpack(folder)
        except OSError as error:
            why = f"can't unpack the demo in {paths.cache_dir()}: {error.strerror or error}"
            raise Refused(f"{why}: set XDG_CACHE_HOME to a folder with room") from None
        screens = (SessionsScreen(folder), SessionScreen(directory), ReplayScreen(directory, demo.STAR, speed))
        main.show_saved(folder, screens, find_look(), stack.close)
