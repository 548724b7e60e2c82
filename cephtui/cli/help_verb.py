"""The verb that shows the documentation."""

from __future__ import annotations

import click

from cephtui.cli.topics import complete_topics


@click.command(
    "help",
    epilog="\b\nExamples:\n  cephtui help\n  cephtui help presets\n  cephtui help production | less\n"
    "  cephtui help import-preset",
)
@click.argument("name", required=False, metavar="[TOPIC | COMMAND]", shell_complete=complete_topics)
def help_topic(name: str | None) -> None:
    """List the pages of the documentation, or show one: how-tos, reference, explanations.

    A page that is longer than the screen is shown by $PAGER. Of a command that has no page it shows --help.
    """
    from cephtui.cli.commands.help import show_help

    show_help(name)
