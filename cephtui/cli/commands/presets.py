"""``cephtui presets``: presets and suites in a listing, or one of them."""

from __future__ import annotations

import click

from cephtui import presets, suites
from cephtui.cli.catalogue import find_all_suites, find_catalogue
from cephtui.cli.emit import Output, emit
from cephtui.presets import PresetError
from cephtui.reports.views.presets import presets_view
from cephtui.suites import choose_suite


def list_presets(name: str | None, output: Output) -> None:
    """Print all presets and suites, or the one of this name in full."""
    catalogue = find_catalogue()
    every = find_all_suites(catalogue)
    if name is not None:
        try:
            suite = choose_suite(every, catalogue, name)
            presets.choose(catalogue, [] if suite else [name])
        except PresetError as error:
            raise click.UsageError(str(error)) from None
        catalogue, every = ({}, {name: suite}) if suite else ({name: catalogue[name]}, {})
    emit(presets_view(presets.preset_rows(catalogue), suites.suite_rows(every), in_full=name is not None), output)
