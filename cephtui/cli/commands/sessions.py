"""``cephtui sessions``: the saved sessions."""

from __future__ import annotations

from functools import partial

from cephtui import paths
from cephtui.cli.emit import Output, emit
from cephtui.reports.views.sessions import sessions_view
from cephtui.sessions.listing import list_sessions, list_with_demo


def print_sessions(output: Output) -> None:
    """The saved sessions; the demo too, but for a script."""
    root = paths.sessions_dir()
    emit(sessions_view(partial(list_with_demo, root), partial(list_sessions, root)), output)
