"""``cephtui nodes``: whether nodes are ready."""

from __future__ import annotations

import click

from cephtui import paths
from cephtui.cli import headless
from cephtui.cli.choice import chosen_nodes, find_catalogue
from cephtui.cli.options import Where
from cephtui.cli.printing import print_lines
from cephtui.exit_codes import EXIT_REFUSED
from cephtui.presets import PresetError, choose
from cephtui.reports import report
from cephtui.running.runner import Runner
from cephtui.terminal import make_console


def check_nodes(presets: tuple[str, ...], where: Where, as_json: bool) -> int:
    """Print what works on the nodes and what is missing; the exit code."""
    try:
        needed = {preset.tool.name for preset in choose(find_catalogue(), presets)}
    except PresetError as error:
        raise click.UsageError(str(error)) from None
    with Runner(paths.sessions_dir()) as runner:
        rows = headless.diagnose(runner, chosen_nodes(where), needed)
    if as_json:
        print_lines(rows)
    else:
        make_console().print(report.nodes(rows))
    return 0 if all(row.ready for row in rows) else EXIT_REFUSED
