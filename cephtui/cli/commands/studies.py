"""``cephtui studies``: what was ordered in a session as a whole, and what is missing of it."""

from __future__ import annotations

import click

from cephtui.cli.catalogue import find_catalogue
from cephtui.cli.printing import print_lines, print_report
from cephtui.cli.saved import find_session
from cephtui.reports.studies.listing import draw_studies
from cephtui.sessions.store import StoreError
from cephtui.studies.saved import row_of, study_states


def print_studies(name: str, as_json: bool) -> None:
    """Print the studies of a session, the oldest first."""
    directory = find_session(name)
    try:
        rows = [row_of(directory.name, state) for state in study_states(directory, find_catalogue())]
    except StoreError as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        print_lines(rows)
    else:
        print_report(draw_studies(rows, directory.name))
