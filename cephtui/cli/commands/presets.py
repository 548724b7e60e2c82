"""``cephtui presets``: presets and suites in a listing, or one of them."""

from __future__ import annotations

import click

from cephtui import presets, suites
from cephtui.cli.choice import find_all_suites, find_catalogue
from cephtui.cli.printing import print_lines, print_report
from cephtui.presets import PresetError
from cephtui.reports.drawn.listings import draw_preset, draw_presets
from cephtui.reports.drawn.suites import draw_suite, draw_suites
from cephtui.suites import choose_suite


def list_presets(name: str | None, as_json: bool) -> None:
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
    found, groups = presets.preset_rows(catalogue), suites.suite_rows(every)
    if as_json:
        print_lines([*found, *groups])
    elif name is None:
        print_report(draw_presets(found))
        print_report(draw_suites(groups))
    else:
        print_report(draw_preset(found[0]) if found else draw_suite(groups[0]))
