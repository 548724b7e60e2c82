"""The command line as users see it: each verb with its arguments, options and help.

Every start of cephtui loads this module, --help and completion among them, so it imports little. Each verb's code is a
module of its own under ``cephtui.cli.commands``, which is imported when the verb is run.
"""

from __future__ import annotations

import difflib
import gc
import os
import sys
from typing import Any

import click

from cephtui import __version__
from cephtui.cli.complete import (
    complete_options,
    complete_presets,
    complete_runs,
    complete_served,
    complete_sessions,
)
from cephtui.cli.log import start_log
from cephtui.cli.options import (
    Where,
    data_pool_option,
    format_option,
    json_option,
    session_option,
    target_option,
    where_options,
)

_REPEATS_MOST = 1000


def _begin_screen(verb: str, instead: str = "") -> None:
    """Before anything of Textual is imported; raises UsageError where there is no terminal and no browser."""
    if not (os.environ.get("TEXTUAL_DRIVER") or (sys.stdin.isatty() and sys.stdout.isatty())):
        raise click.UsageError(f"{verb} needs a terminal{instead}")
    gc.disable()  # saves a fifth of the time to the first paint; the application enables it again


def _repeats(context: click.Context, option: click.Parameter, value: int) -> int:
    """1 to 1000; click's own range is given in the help as mathematics."""
    if not 1 <= value <= _REPEATS_MOST:
        raise click.BadParameter(f"{value} is not in the range 1 to {_REPEATS_MOST}.")
    return value


class _Verbs(click.Group):
    """Names a verb that is near to an unknown one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not args or args[0].startswith("-") or args[0] in self.commands:
            return super().resolve_command(ctx, args)
        near = difflib.get_close_matches(args[0], self.commands, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise click.UsageError(f"no command {args[0]!r}: {hint}cephtui --help lists them", ctx)


@click.group(
    cls=_Verbs,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  cephtui                                  the console, on a scratch file
  cephtui --target file:/mnt/pve/nfs/test  the console, on a file that it creates there
  cephtui --node pve1 --target rbd:bench   the console, on images that it creates in a pool
  cephtui run write-iops                   one preset, with progress and a table
  cephtui run latency --json | jq .        the same for a script
  cephtui demo                             a recorded session of a real cluster
  cephtui serve                            the same in a browser
  cephtui sessions                         the saved sessions
""",
)
@click.version_option(__version__, message="cephtui %(version)s")
@where_options
@target_option
@data_pool_option
@session_option
@click.option("--safe", is_flag=True, help="Draw with ASCII and at most 8 colours on any terminal.")
@click.pass_context
def cli(
    context: click.Context, where: Where, target: str | None, data_pool: str | None, session: str | None, safe: bool
) -> int | None:
    """Measure storage live in the terminal, and keep every result with its conditions.

    Without a command this opens the console: keys 1 to 6 select a preset, enter runs it.
    """
    start_log()
    if context.invoked_subcommand is not None:
        given = {"--target": target, "--data-pool": data_pool, "--session": session}
        option = next((name for name, value in given.items() if value), None)
        if option:
            raise click.UsageError(f"{option} belongs after the command: cephtui {context.invoked_subcommand} {option}")
        return None
    _begin_screen("the console", ": use cephtui run PRESET (see cephtui --help)")
    from cephtui.cli.commands.console import open_console

    return open_console(where, target, data_pool, session)


@cli.command(
    epilog="""\b
Examples:
  cephtui run write-iops
  cephtui run read-iops write-iops --set runtime=30 --repeat 3
  cephtui run write-iops --set iodepth=1,4,16,64
  cephtui run mixed-75-25 --target file:/mnt/pve/cephfs/test --set size=2G
  cephtui run write-iops --node pve1 --node root@10.0.0.2 --target rbd:bench
  cephtui run rados-write rados-seq --node pve1 --target pool:bench
  cephtui run latency --json > latency.jsonl
  cephtui run write-throughput --dry-run

\b
Exit codes:
  0 ok, 1 the benchmark failed, 2 wrong usage, 3 refused, 4 stopped, lost, incomplete or not saved
"""
)
@click.argument("presets", nargs=-1, metavar="PRESET...", required=True, shell_complete=complete_presets)
@where_options
@target_option
@data_pool_option
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="OPTION=VALUE",
    shell_complete=complete_options,
    help="Change an option of the preset, named as the tool names it; A,B,C makes one run for each value.",
)
@click.option("--repeat", type=int, callback=_repeats, default=1, metavar="N", help="Run each preset N times.")
@session_option
@click.option("--destroy", multiple=True, metavar="NAME", help="Allow overwriting an existing file, device or image.")
@click.option("--shared-pool", is_flag=True, help="Allow load on a pool that is in use.")
@click.option(
    "--stall-timeout",
    type=click.FloatRange(min=10.0),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="Stop a run after SECONDS without a completed I/O.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON Lines on stdout: plan, samples, runs.")
@click.option("--dry-run", is_flag=True, help="Show commands, writes and duration; run nothing.")
def run(**given: Any) -> int:
    """Run presets one after the other and save what they measure."""
    from cephtui.cli.commands.run import run_presets

    return run_presets(**given)


@cli.command(
    epilog="\b\nExamples:\n  cephtui nodes --node pve1 --node root@10.0.0.2\n  cephtui nodes rados-write --node pve\n"
    "  cephtui nodes --node pve --json"
)
@click.argument("presets", nargs=-1, metavar="[PRESET]...", shell_complete=complete_presets)
@where_options
@json_option
def nodes(**given: Any) -> int:
    """Check nodes: what works, what is missing, and how to install it.

    A node is ready if it can run the named presets; without any named, if it can run at least one.
    """
    from cephtui.cli.commands.nodes import check_nodes

    return check_nodes(**given)


@cli.command(
    epilog="\b\nExamples:\n  cephtui cleanup --dry-run\n  cephtui cleanup\n  cephtui cleanup --yes --node root@10.0.0.2"
)
@where_options
@click.option("--dry-run", is_flag=True, help="Only list what would be removed, and how the nodes are reached.")
@click.option("--yes", is_flag=True, help="Remove without asking.")
@click.option(
    "--as-listed",
    is_flag=True,
    help="Use the connection settings of undo lists for nodes that yours don't reach: see --dry-run.",
)
def cleanup(**given: Any) -> int:
    """Remove leftovers (images, namespaces, files) of cephtui processes that were killed.

    Nodes are reached with the settings of your config file and these options. If a session's undo list has others
    (host, prefix, ssh_config, Ceph access), they are shown and need your consent, since they can run any command.
    """
    from cephtui.cli.commands.cleanup import clean_up

    return clean_up(**given)


@cli.command(epilog="\b\nExamples:\n  cephtui presets\n  cephtui presets write-iops\n  cephtui presets --json")
@click.argument("name", required=False, shell_complete=complete_presets)
@json_option
def presets(**given: Any) -> None:
    """List the presets, or show one with its options."""
    from cephtui.cli.commands.presets import list_presets

    list_presets(**given)


@cli.command(epilog="\b\nExamples:\n  cephtui sessions\n  cephtui sessions --json | jq -r .session")
@json_option
def sessions(**given: Any) -> None:
    """List the saved sessions."""
    from cephtui.cli.commands.sessions import print_sessions

    print_sessions(**given)


@cli.command(
    epilog="\b\nExamples:\n  cephtui show\n  cephtui show 2026-11-21-101530/2\n  cephtui show last --format md\n"
    "  cephtui show tuning --format csv > tuning.csv\n  cephtui show tuning/2 --json"
)
@click.argument("name", metavar="[SESSION[/RUN]]", default="last", shell_complete=complete_runs)
@format_option("table", "md", "csv", "json")
def show(**given: Any) -> None:
    """Show the runs and marks of a session, or one run in full; as JSON with a run's samples.

    Without SESSION it is the last one, also named "last" or "-"; the beginning of a name is enough.
    """
    from cephtui.cli.commands.show import show_saved

    show_saved(**given)


@cli.command(
    epilog="\b\nExamples:\n  cephtui compare\n  cephtui compare tuning/1 tuning/4 --format md\n"
    "  cephtui compare 2026-11-21-101530/2 2026-11-22-090000/2\n"
    "  cephtui compare tuning/1 tuning/4 --json | jq 'select(.event == \"figure\")'"
)
@click.argument("left", metavar="[SESSION/RUN", required=False, shell_complete=complete_runs)
@click.argument("right", metavar="SESSION/RUN]", required=False, shell_complete=complete_runs)
@format_option("table", "md", "json")
def compare(**given: Any) -> None:
    """Compare two runs of any sessions: differences in their conditions, marks between them, their results.

    A run is grouped with its repeats in the same session. Without names, the last two measurements are compared.
    """
    from cephtui.cli.commands.compare import compare_runs

    compare_runs(**given)


@cli.command(
    epilog="\b\nExamples:\n  cephtui replay\n  cephtui replay tuning/2\n  cephtui replay tuning/2 --speed 8\n"
    "\nKeys: space pauses, left and right go back and forth, + and - change the speed."
)
@click.argument("name", metavar="[SESSION[/RUN]]", default="last", shell_complete=complete_runs)
@click.option("--speed", type=click.FloatRange(1, 20), default=1.0, show_default=True, help="Times the recorded speed.")
def replay(**given: Any) -> None:
    """Replay a saved run as it was live: through the same parser, on the same screen.

    Without RUN it is the newest of the session, without SESSION that of the last one.
    """
    _begin_screen("replay")
    from cephtui.cli.commands.replay import replay_run

    replay_run(**given)


@cli.command(epilog="\b\nExamples:\n  cephtui watch\n  cephtui watch tuning")
@click.argument("name", metavar="[SESSION]", default="last", shell_complete=complete_sessions)
def watch(**given: Any) -> None:
    """Follow a session that another cephtui on this machine is writing, read-only; by default the last one."""
    _begin_screen("watch")
    from cephtui.cli.commands.watch import watch_session

    watch_session(**given)


@cli.command(epilog="\b\nExamples:\n  cephtui demo\n  cephtui demo --speed 1")
@click.option("--speed", type=click.FloatRange(1, 20), default=4.0, show_default=True, help="Times the recorded speed.")
def demo(**given: Any) -> None:
    """Play a recorded session of a real cluster. Needs no Ceph, fio or network.

    A run on three nodes is replayed; esc leads to the session's other runs, to open, replay and compare them.
    """
    _begin_screen("demo")
    from cephtui.cli.commands.demo import play_demo

    play_demo(**given)


@cli.command(
    epilog="""\b
Examples:
  cephtui serve                            the demo, at http://127.0.0.1:8000/
  cephtui serve watch tuning               a session, while it is measured
  cephtui serve --port 8080 replay tuning/2
  cephtui serve --public --host 10.0.0.5   for browsers on other machines
  cephtui serve --interactive -- --node pve1 --target rbd:bench

\b
From your desk, over SSH:
  ssh -L 8000:127.0.0.1:8000 pve1 cephtui serve
"""
)
@click.argument(
    "words", nargs=-1, metavar="[demo | watch SESSION | replay SESSION/RUN]", shell_complete=complete_served
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to serve on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes any free one.")
@click.option("--public", is_flag=True, help="Allow any address; each browser needs a one-time link.")
@click.option("--interactive", is_flag=True, help="Serve the console, with its options after --; on this machine only.")
def serve(**given: Any) -> int:
    """Show the demo, a session or a run in a browser, read-only: keys change the view and nothing else.

    Each page that is open is a process, 8 at most, which ends with it; Ctrl+C ends all. Needs textual-serve, which is
    installed with cephtui[web].
    """
    from cephtui.cli.commands.serve import serve_pages

    return serve_pages(**given)


@cli.command()
@json_option
def info(**given: Any) -> None:
    """Show versions, and the paths of presets, sessions, config and log."""
    from cephtui.cli.commands.info import print_info

    print_info(**given)


@cli.command()
def schema() -> None:
    """Print the JSON Schema of the objects that `run --json` prints and sessions contain."""
    from cephtui.cli.commands.schema import print_schema

    print_schema()


@cli.command(
    epilog='\b\nExamples:\n  eval "$(cephtui completion bash)"\n'
    "  cephtui completion fish > ~/.config/fish/completions/cephtui.fish"
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell."""
    from cephtui.cli.commands.completion import print_completion

    print_completion(context.find_root().command, shell)
