"""``cephtui presets``: a listing, or one preset."""

from __future__ import annotations

import click

from cephtui.cli.choice import find_catalogue
from cephtui.cli.printing import print_lines, print_report
from cephtui.presets import PresetError, choose, rows
from cephtui.reports.listings import draw_preset, draw_presets


def list_presets(name: str | None, as_json: bool) -> None:
    """Print all presets, or the one of this name in full."""
    catalogue = find_catalogue()
    if name is not None:
        try:
            choose(catalogue, [name])
        except PresetError as error:
            raise click.UsageError(str(error)) from None
        catalogue = {name: catalogue[name]}
    found = rows(catalogue)
    if as_json:
        print_lines(found)
    else:
        print_report(draw_presets(found) if name is None else draw_preset(found[0]))
