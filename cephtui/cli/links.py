"""The network between the nodes as a session has measured it, for the command line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cephtui.analysis.links import links_of
from cephtui.cli.emit import Output, emit
from cephtui.models.suite import Cell
from cephtui.reports.views.links import links_view
from cephtui.sessions import store


def conclude_links(directory: Path | None, cells: Iterable[Cell], *, as_json: bool) -> None:
    """The links of all that was ordered in a session, also by an earlier command that this one has resumed."""
    batches = {cell.batch for cell in cells}
    if directory is not None:
        runs = [run for run in store.read_runs(directory)[0] if run.batch in batches]
        if links := links_of(runs):
            emit(links_view(links, directory.name), Output("json" if as_json else "table"))
