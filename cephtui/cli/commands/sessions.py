"""``cephtui sessions``: the saved sessions."""

from __future__ import annotations

from cephtui import paths
from cephtui.cli.printing import print_lines, print_report
from cephtui.reports.listings import draw_sessions
from cephtui.sessions.listing import list_sessions


def print_sessions(as_json: bool) -> None:
    """Print the saved sessions."""
    found = list(list_sessions(paths.sessions_dir()))
    if as_json:
        print_lines(found)
    else:
        print_report(draw_sessions(found))
