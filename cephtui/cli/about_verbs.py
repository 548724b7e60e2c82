"""The verbs about a host and about cephtui itself, which measure nothing; each one imports its code when it is run."""

from __future__ import annotations

from typing import Any

import click

from cephtui.cli.complete import complete_findings
from cephtui.cli.emit import output_options
from cephtui.cli.topics import complete_topics
from cephtui.cli.where import where_options


@click.command(
    short_help="Show what works here, what is missing, how to install it.",
    epilog="""\b
Examples:
  cephtui doctor
  cephtui doctor --node pve2
  cephtui doctor --json | jq 'select(.status == "missing") | .cure'

\b
Exit codes:
  0 ready to measure: fio is installed, data and results can be written; 1 not ready, 2 wrong usage
""",
)
@where_options
@output_options
def doctor(**arguments: Any) -> int:
    """Show what works on this host, what is missing, and the command that installs it.

    Python and the terminal, benchmark programs, the Ceph cluster, Proxmox VE with its storages and nodes, SSH keys;
    then the commands that try what can be measured here without touching what is there. Nothing is written.
    """
    from cephtui.cli.commands.doctor import examine

    return examine(**arguments)


@click.command(
    short_help="Explain the findings: why they matter, and what helps.",
    epilog="\b\nExamples:\n  cephtui explain\n  cephtui explain in-flight\n  cephtui explain thin --json",
)
@click.argument("code", required=False, shell_complete=complete_findings)
@output_options
def explain(**arguments: Any) -> None:
    """List the findings, or show one: what was observed, why it matters for the figures, what helps."""
    from cephtui.cli.commands.explain import explain_findings

    explain_findings(**arguments)


@click.command(short_help="Show versions and paths.")
@output_options
def info(**arguments: Any) -> None:
    """Show versions, and the paths of presets, sessions, config and log."""
    from cephtui.cli.commands.info import print_info

    print_info(**arguments)


@click.command(short_help="Print the JSON Schema of --json and of sessions.")
def schema() -> None:
    """Print the JSON Schema of the objects that `run --json` prints and sessions contain."""
    from cephtui.cli.commands.schema import print_schema

    print_schema()


@click.command(
    epilog='\b\nExamples:\n  eval "$(cephtui completion bash)"\n'
    "  cephtui completion fish > ~/.config/fish/completions/cephtui.fish"
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell."""
    from cephtui.cli.commands.completion import print_completion

    print_completion(context.find_root().command, shell)


@click.command(
    "help",
    short_help="Show the documentation: tutorials, how-tos, reference.",
    epilog="\b\nExamples:\n  cephtui help\n  cephtui help presets\n  cephtui help production | less\n"
    "  cephtui help import-preset",
)
@click.argument("name", required=False, metavar="[TOPIC | COMMAND]", shell_complete=complete_topics)
def help_topic(name: str | None) -> None:
    """List the pages of the documentation, or show one: how-tos, reference, explanations.

    A page that is longer than the screen is shown in $PAGER. For a command without a page, its --help is shown.
    """
    from cephtui.cli.commands.help import show_help

    show_help(name)


ABOUT_VERBS = (doctor, explain, info, schema, completion, help_topic)
