"""``cephtui sessions``: the saved sessions."""

from __future__ import annotations

from cephtui import paths
from cephtui.cli.printing import print_lines, print_report
from cephtui.reports.listings import draw_sessions
from cephtui.sessions.listing import list_sessions, list_with_demo


def print_sessions(as_json: bool) -> None:
    """Print the saved sessions; the demo too, but for a script."""
    root = paths.sessions_dir()
    if as_json:
        print_lines(list_sessions(root))
    else:
        print_report(draw_sessions(list_with_demo(root)))
