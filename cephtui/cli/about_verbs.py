"""The verbs about presets, a host and cephtui itself, which measure nothing; each imports its code when it is run."""

from __future__ import annotations

from typing import Any

import click

from cephtui.cli.complete import complete_findings, complete_listed
from cephtui.cli.emit import output_options
from cephtui.cli.topics import complete_topics
from cephtui.cli.where import where_options


@click.command(
    short_help="List presets and suites, or show one.",
    epilog="\b\nExamples:\n  cephtui presets\n  cephtui presets write-iops\n  cephtui presets quick\n"
    "  cephtui presets --json",
)
@click.argument("name", required=False, shell_complete=complete_listed)
@output_options
def presets(**arguments: Any) -> None:
    """List the presets and suites, or show one with its options or steps."""
    from cephtui.cli.commands.presets import list_presets

    list_presets(**arguments)


@click.command(
    "import-preset",
    short_help="Make presets from job files and command lines.",
    epilog="""\b
Examples:
  cephtui import-preset ssd-test.fio
  cephtui import-preset --dry-run mixed.fio
  cephtui import-preset 'fio -direct=1 -iodepth=128 -rw=randwrite -bs=4k -name=writes'
  cephtui import-preset jobs.fio --in-order --name before
  cephtui import-preset gosbench.yaml --dry-run
  history | grep fio | cephtui import-preset -

\b
Exit codes:
  0 ok, 1 nothing could become a preset, 2 wrong usage, 3 a preset of that name exists, 4 some jobs were left out
""",
)
@click.argument("source", metavar="FILE | 'fio ...'")
@click.option(
    "--name", metavar="NAME", help="Name of the preset; of several, how the names begin. Default: that of the job."
)
@click.option("--together", "how", flag_value="together", help="Merge identical jobs into one preset.")
@click.option("--in-order", "how", flag_value="in-order", help="Each job becomes a preset, or one value of a sweep.")
@click.option("--dry-run", is_flag=True, help="Print the presets; write nothing.")
@click.option("--force", is_flag=True, help="Overwrite your own preset, or replace a packaged one.")
def import_preset(**arguments: Any) -> int:
    """Make presets from fio job files and command lines, and from configs of the gosbench server.

    Options that are left out are listed with the reason. A preset has no target: choose it with --target when you run
    the preset. Without time_based a run ends when all of its data is read or written, as in fio.
    """
    from cephtui.cli.commands.import_preset import import_presets

    return import_presets(**arguments)


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


ABOUT_VERBS = (presets, import_preset, doctor, explain, info, schema, completion, help_topic)
