"""The network between the nodes as a session has measured it, for the command line."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from rich.console import Group

from cephtui.analysis.links import links_of
from cephtui.cli.printing import ascii_only, print_lines, print_report
from cephtui.models import Run
from cephtui.models.study import Cell
from cephtui.reports.links import link_lines, link_rows
from cephtui.sessions import store


def print_links(runs: Iterable[Run], session: str, *, as_json: bool) -> None:
    """The links that these runs have measured: rows of JSON, or of several a matrix."""
    found = links_of(runs)
    if as_json and found:
        print_lines(link_rows(found, session))
        sys.stdout.flush()
    elif len(found) > 1:
        print_report(Group("", *link_lines(found, ascii_only=ascii_only())))


def conclude_links(directory: Path | None, cells: Iterable[Cell], *, as_json: bool) -> None:
    """The same of all that was ordered in a session, also by an earlier command that this one has resumed."""
    batches = {cell.batch for cell in cells}
    if directory is not None:
        runs = [run for run in store.read_runs(directory)[0] if run.batch in batches]
        print_links(runs, directory.name, as_json=as_json)
