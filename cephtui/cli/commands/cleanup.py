"""``cephtui cleanup``: what killed consoles have left behind."""

from __future__ import annotations

import sys

import click

from cephtui import paths
from cephtui.cli import headless
from cephtui.cli.choice import known_nodes
from cephtui.cli.errors import Refused
from cephtui.cli.options import Where
from cephtui.exit_codes import EXIT_FAILED
from cephtui.reports import report
from cephtui.running.runner import Runner
from cephtui.sessions.store import left_behind, unreadable_lists
from cephtui.terminal import make_console, say


def clean_up(where: Where, dry_run: bool, yes: bool, as_listed: bool) -> int:
    """List what was left behind and remove it; the exit code."""
    left = left_behind(paths.sessions_dir())
    unreadable = unreadable_lists(paths.sessions_dir())
    for problem in unreadable:
        say(f"{problem}: what it lists may still be there")
    code = EXIT_FAILED if unreadable else 0
    if not left:
        make_console().print("nothing else was left behind" if unreadable else "nothing was left behind")
        return code
    own = known_nodes(where)
    make_console().print(report.left_behind(left, own))
    if dry_run:
        return code
    if not yes and not (sys.stdin.isatty() and click.confirm("Remove this?", err=True)):
        raise Refused("nothing was removed: say --yes" if not sys.stdin.isatty() else "nothing was removed")
    with Runner(paths.sessions_dir()) as runner:
        return headless.clean_up(runner, left, own, as_listed=as_listed) or code
