"""``cephtui presets``: presets and suites in a listing, or one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cephtui import paths
from cephtui.cli.emit import Output, emit
from cephtui.cli.kept_pages import emit_kept, files_in

if TYPE_CHECKING:
    from cephtui.reports.blocks import View


def list_presets(name: str | None, output: Output) -> None:
    """Print all presets and suites, or the one of this name in full."""
    if name is not None:
        emit(_one(name), output)
        return
    folders = (paths.packaged_presets_dir(), paths.user_presets_dir(), paths.user_suites_dir())
    emit_kept("presets", output, (file for folder in folders for file in files_in(folder)), _all)


def _all() -> View:
    from cephtui.cli.catalogue import find_all_suites, find_catalogue
    from cephtui.presets import preset_rows
    from cephtui.reports.views.presets import presets_view
    from cephtui.suites import suite_rows

    catalogue = find_catalogue()
    return presets_view(preset_rows(catalogue), suite_rows(find_all_suites(catalogue)))


def _one(name: str) -> View:
    """The preset or the suite; raises UsageError for a name that is neither's."""
    from cephtui.cli.catalogue import find_all_suites, find_catalogue
    from cephtui.presets import PresetError, choose, preset_rows
    from cephtui.reports.views.presets import presets_view
    from cephtui.suites import choose_suite, suite_rows

    catalogue = find_catalogue()
    try:
        suite = choose_suite(find_all_suites(catalogue), catalogue, name)
        choose(catalogue, [] if suite else [name])
    except PresetError as error:
        raise click.UsageError(str(error)) from None
    if suite:
        return presets_view([], suite_rows({name: suite}), in_full=True)
    return presets_view(preset_rows({name: catalogue[name]}), [], in_full=True)
