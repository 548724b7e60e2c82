"""Saved sessions and runs by their names; a wrong name raises UsageError."""

from __future__ import annotations

from pathlib import Path

import click

from cephtui import paths
from cephtui.sessions import store

_DIGITS_MOST = 9
"""Of a run's number."""


def find_session(name: str) -> Path:
    """Where a saved session is."""
    try:
        return store.find_session(paths.sessions_dir(), name)
    except store.StoreError as error:
        raise click.UsageError(str(error)) from None


def find_run(name: str) -> tuple[Path, int]:
    """A saved run, given as SESSION/RUN: its session's directory and its number."""
    session, _, number = name.partition("/")
    if not number.isdecimal() or len(number) > _DIGITS_MOST:
        raise click.UsageError(f"{name!r}: expected SESSION/RUN, the run being a number: cephtui sessions lists them")
    directory = find_session(session)
    if not (directory / f"{int(number):03}").is_dir():
        raise click.UsageError(f"session {session} has no run {int(number)}: cephtui show {session}")
    return directory, int(number)
