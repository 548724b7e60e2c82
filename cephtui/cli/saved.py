"""Saved sessions and runs by their names; a wrong name raises UsageError."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import click

from cephtui import paths
from cephtui.cli.errors import Refused
from cephtui.sessions import names, store
from cephtui.terminal import say

_DIGITS_MOST = 9
"""Of a run's number."""
_QUIET_SECONDS = 1.0
"""What takes longer is announced."""


def find_session(name: str) -> Path:
    """The directory of a saved session, or of the demo."""
    try:
        directory = names.find_session(paths.sessions_dir(), name)
    except store.StoreError as error:
        raise click.UsageError(str(error)) from None
    return opened(directory)


def opened(directory: Path) -> Path:
    """This directory, with the demo unpacked; raises Refused where there is no room for it."""
    try:
        with _announced("unpacking the demo ..."):
            return names.ensure_unpacked(directory)
    except store.StoreError as error:
        raise Refused(str(error)) from None


@contextlib.contextmanager
def _announced(text: str) -> Iterator[None]:
    timer = threading.Timer(_QUIET_SECONDS, say, [text])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def find_run(name: str) -> tuple[Path, int]:
    """A saved run, given as SESSION/RUN: its session's directory and its number. Without RUN it is the newest."""
    session, slash, number = name.partition("/")
    if slash and (not number.isdecimal() or len(number) > _DIGITS_MOST):
        raise click.UsageError(f"{name!r}: expected SESSION/RUN, the run being a number: cephtui sessions lists them")
    directory = find_session(session)
    try:
        run = int(number) if slash else store.newest_run(directory)
    except store.StoreError as error:
        raise click.UsageError(str(error)) from None
    if not (directory / f"{run:03}").is_dir():
        raise click.UsageError(
            f"session {directory.name} has no run {run}: cephtui show {directory.name} lists its runs"
        )
    return directory, run


def find_two_runs(first: str, second: str) -> tuple[tuple[Path, int], tuple[Path, int]]:
    """Two saved runs that are compared; raises UsageError for one run by two names, too."""
    places = find_run(first), find_run(second)
    if places[0] == places[1]:
        directory, number = places[0]
        raise click.UsageError(
            f"both are run {directory.name}/{number}: name two different runs, cephtui show {directory.name} lists them"
        )
    return places
