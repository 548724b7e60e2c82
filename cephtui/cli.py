"""The command line: no arguments open the console, verbs run headless."""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cephtui import __version__
from cephtui.terminal import make_console, prepare_streams, say, silence, waiting

# Everything heavier than click is imported where it is used: --version and completion must answer at once.
if TYPE_CHECKING:
    from rich.console import RenderableType

    from cephtui.models import Plan
    from cephtui.presets import Catalogue
    from cephtui.targets import FileTarget

EXIT_FAILED, EXIT_REFUSED, EXIT_INCOMPLETE = 1, 3, 4
log = logging.getLogger("cephtui.cli")


class Refused(click.ClickException):
    """Something can't be used or is not safe; one line, and its exit code."""

    exit_code = EXIT_REFUSED


def main() -> None:
    """The entry point: errors are one line, the traceback goes to the log file."""
    prepare_streams()
    try:
        code = cli.main(prog_name="cephtui", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        say(error.format_message())
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        silence(sys.stdout)
        with waiting(sys.stderr, False):
            say("interrupted")
        sys.exit(EXIT_INCOMPLETE)
    except BrokenPipeError:
        silence(sys.stdout)
        sys.exit(EXIT_INCOMPLETE)
    except Exception as error:
        from cephtui.places import log_file

        silence(sys.stdout)
        _start_log()
        log.exception("unexpected error")
        say(f"unexpected error: {error!r}; the traceback is in {log_file()}")
        sys.exit(EXIT_FAILED)
    sys.exit(code or 0)


def _start_log() -> None:
    from cephtui.places import log_file

    path = log_file()
    logging.raiseExceptions = False
    root = logging.getLogger("cephtui")
    if root.handlers:
        return
    root.setLevel(logging.INFO)
    root.propagate = False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler: logging.Handler = logging.handlers.RotatingFileHandler(path, maxBytes=1 << 20, backupCount=2)
    except OSError:
        handler = logging.NullHandler()  # a log that can't be written must not stop a measurement
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
    root.addHandler(handler)


# ---------------------------------------------------------------------------------------------- completion


def _complete_presets(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in _catalogue() if name.startswith(incomplete)]


def _complete_sessions(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from cephtui.places import sessions_dir

    with contextlib.suppress(OSError):
        return sorted(p.name for p in sessions_dir().iterdir() if p.name.startswith(incomplete))
    return []


def _catalogue() -> Catalogue:
    from cephtui.places import packaged_presets_dir, user_presets_dir
    from cephtui.presets import find_presets

    return find_presets(packaged_presets_dir(), user_presets_dir())


# ---------------------------------------------------------------------------------------------- the console


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  cephtui                                  the console, on a scratch file of its own
  cephtui --target file:/mnt/pve/nfs/test  the console, on a file that it makes there
  cephtui run write-iops                   one preset, with progress and a table
  cephtui run latency --json | jq .        the same for a script
  cephtui sessions                         what has been measured
""",
)
@click.version_option(__version__, message="cephtui %(version)s")
@click.option("--target", metavar="TARGET", help="What to test: file:PATH. Default: a scratch file of its own.")
@click.option("--session", metavar="NAME", help="Save into this session. Default: a new one, named by the time.")
@click.pass_context
def cli(context: click.Context, target: str | None, session: str | None) -> int | None:
    """Measure storage live in the terminal, and keep every result with its conditions.

    Without a command this opens the console: keys 1 to 6 run a preset, the arrow keys only select it.
    """
    _start_log()
    if context.invoked_subcommand is not None:
        if target or session:
            option = "--target" if target else "--session"
            raise click.UsageError(
                f"{option} belongs behind the command: cephtui {context.invoked_subcommand} {option}"
            )
        return None
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("the console needs a terminal: use cephtui run PRESET (see cephtui --help)")
    from cephtui.store import StoreError
    from cephtui.tui.app import run_console

    _check_session_name(session)
    with ExitStack() as stack:
        chosen = _target(target, stack)
        try:
            problems = run_console(_catalogue(), chosen, session, stack.close)
        except StoreError as error:
            raise click.ClickException(str(error)) from None
    for problem in problems:
        say(problem)
    return None


# ---------------------------------------------------------------------------------------------- run


@cli.command(
    epilog="""\b
Examples:
  cephtui run write-iops
  cephtui run read-iops write-iops --set runtime=30 --repeat 3
  cephtui run write-iops --set iodepth=1,4,16,64
  cephtui run mixed-75-25 --target file:/mnt/pve/cephfs/test --set size=2G
  cephtui run latency --json > latency.jsonl
  cephtui run write-throughput --dry-run

\b
Exit codes:
  0 ok, 1 the benchmark failed, 2 wrong usage, 3 refused, 4 stopped, lost or incomplete
"""
)
@click.argument("presets", nargs=-1, metavar="PRESET...", required=True, shell_complete=_complete_presets)
@click.option("--node", "nodes", multiple=True, metavar="NODE", help="Where to run. Default: local.")
@click.option("--target", metavar="TARGET", help="What to test: file:PATH. Default: a scratch file of its own.")
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="OPTION=VALUE",
    help="Change an option of the preset, in fio's spelling; A,B,C runs once for each value.",
)
@click.option("--repeat", type=click.IntRange(1, 1000), default=1, show_default=True, help="Run so many times.")
@click.option("--session", metavar="NAME", help="Save into this session. Default: a new one, named by the time.")
@click.option("--destroy", multiple=True, metavar="NAME", help="Give up the contents of an existing file, by its name.")
@click.option(
    "--stall-timeout",
    type=click.FloatRange(min=10.0),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="Stop a run that prints nothing for so long.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON Lines on stdout: plan, samples, runs.")
@click.option("--dry-run", is_flag=True, help="Show commands, writes and duration; run nothing.")
def run(
    presets: tuple[str, ...],
    nodes: tuple[str, ...],
    target: str | None,
    overrides: tuple[str, ...],
    repeat: int,
    session: str | None,
    destroy: tuple[str, ...],
    stall_timeout: float,
    as_json: bool,
    dry_run: bool,
) -> int:
    """Run presets one after the other and save what they measure."""
    from cephtui import headless
    from cephtui.places import sessions_dir
    from cephtui.runner import Runner
    from cephtui.store import StoreError

    _check_nodes(nodes)
    _check_session_name(session)
    with ExitStack() as stack:
        plan = _plan(presets, _target(target, stack), overrides, repeat, destroy)
        runner = stack.enter_context(Runner(sessions_dir(), session, stall_seconds=stall_timeout))
        if dry_run:
            return headless.dry_run(runner, plan, as_json)
        try:
            return headless.carry_out(runner, plan, headless.JsonOutput() if as_json else headless.TerminalOutput())
        except StoreError as error:
            raise Refused(str(error)) from None


def _check_nodes(nodes: Sequence[str]) -> None:
    for node in nodes:
        if node != "local":
            raise click.UsageError(f"unknown node {node!r}: the only node is local")


def _check_session_name(name: str | None) -> None:
    from cephtui.store import StoreError, check_name

    try:
        check_name(name)
    except StoreError as error:
        raise click.UsageError(str(error)) from None


def _target(text: str | None, stack: ExitStack) -> FileTarget:
    from cephtui.places import cache_dir
    from cephtui.scratch import scratch_target
    from cephtui.targets import TargetError, parse_target

    try:
        return parse_target(text) if text else stack.enter_context(scratch_target(cache_dir()))
    except TargetError as error:
        raise click.UsageError(str(error)) from None
    except OSError as error:
        raise Refused(f"can't make a scratch file in {cache_dir()}: {error.strerror}: use --target") from None


def _plan(
    names: Sequence[str], target: FileTarget, overrides: Sequence[str], repeats: int, destroy: tuple[str, ...]
) -> Plan:
    from cephtui.plan import Request, make_plan, new_batch
    from cephtui.presets import PresetError, choose, parse_overrides
    from cephtui.tools import OptionError

    try:
        presets = choose(_catalogue(), names)
        request = Request(presets, ("local",), target, parse_overrides(overrides), repeats, destroy)
        return make_plan(request, new_batch)
    except (PresetError, OptionError) as error:
        raise click.UsageError(str(error)) from None


# ---------------------------------------------------------------------------------------------- listings


def _list(rows: Iterable[Any], render: Callable[[Any], RenderableType], as_json: bool) -> None:
    from cephtui.jsonlines import line

    found = list(rows)
    if not as_json:
        make_console().print(render(found))
        return
    for row in found:
        print(line(row))


_json_option = click.option("--json", "as_json", is_flag=True, help="JSON Lines instead of a table.")


@cli.command(epilog="\b\nExamples:\n  cephtui presets\n  cephtui presets write-iops\n  cephtui presets --json")
@click.argument("name", required=False, shell_complete=_complete_presets)
@_json_option
def presets(name: str | None, as_json: bool) -> None:
    """List the presets, or show one with its options."""
    from cephtui import report
    from cephtui.presets import PresetError, choose, rows

    catalogue = _catalogue()
    if name is None:
        _list(rows(catalogue), report.presets, as_json)
        return
    try:
        choose(catalogue, [name])
    except PresetError as error:
        raise click.UsageError(str(error)) from None
    _list(rows({name: catalogue[name]}), lambda found: report.preset(found[0]), as_json)


@cli.command(epilog="\b\nExamples:\n  cephtui sessions\n  cephtui sessions --json | jq -r .session")
@_json_option
def sessions(as_json: bool) -> None:
    """List the saved sessions."""
    from cephtui import report
    from cephtui.places import sessions_dir
    from cephtui.store import list_sessions

    _list(list_sessions(sessions_dir()), report.sessions, as_json)


@cli.command(
    epilog="\b\nExamples:\n  cephtui show 2026-11-21-101530\n  cephtui show 2026-11-21-101530/2\n"
    "  cephtui show tuning/2 --json"
)
@click.argument("what", metavar="SESSION[/RUN]", shell_complete=_complete_sessions)
@_json_option
def show(what: str, as_json: bool) -> None:
    """Show the runs of a session, or one run in full; with --json a run's samples and its figures."""
    from cephtui import report, store
    from cephtui.places import sessions_dir

    name, _, number = what.partition("/")
    if number and not number.isdigit():
        raise click.UsageError(f"{what!r}: expected SESSION or SESSION/RUN, the run being a number")
    try:
        directory = store.find_session(sessions_dir(), name)
    except store.StoreError as error:
        raise click.UsageError(str(error)) from None
    try:
        if not number:
            runs, broken = store.read_runs(directory)
            _list(runs, report.runs, as_json)
            if broken:
                raise broken[0]
        else:
            _show_run(directory, int(number), as_json)
    except store.StoreError as error:
        raise click.ClickException(str(error)) from None


def _show_run(directory: Path, number: int, as_json: bool) -> None:
    from cephtui import report, store
    from cephtui.jsonlines import line

    if not (directory / f"{number:03}").is_dir():
        raise click.UsageError(f"session {directory.name} has no run {number}: cephtui show {directory.name}")
    value = store.read_run(directory, number)
    if as_json:
        for sample in store.read_samples(directory, number):
            print(line(sample))
        print(line(value))
        return
    make_console().print(report.run(value, store.iops_history(directory, number)))


@cli.command()
@_json_option
def info(as_json: bool) -> None:
    """Show versions, and where presets, sessions, config and log are."""
    import platform
    import subprocess

    from cephtui import places, report
    from cephtui.jsonlines import line
    from cephtui.models import Info

    try:
        asked = subprocess.run(["fio", "--version"], capture_output=True, text=True, timeout=10, check=False)
        fio = asked.stdout.strip() or None
    except (OSError, subprocess.TimeoutExpired):
        fio = None
    value = Info(
        cephtui_version=__version__,
        python_version=platform.python_version(),
        tools={"fio": fio} if fio else {},
        presets=(str(places.packaged_presets_dir()), str(places.user_presets_dir())),
        sessions=str(places.sessions_dir()),
        config=str(places.config_dir()),
        cache=str(places.cache_dir()),
        log=str(places.log_file()),
    )
    if as_json:
        print(line(value))
    else:
        make_console().print(report.info(value))


@cli.command()
def schema() -> None:
    """Print the JSON Schema of what `run --json` prints and a session keeps."""
    import json

    from cephtui.jsonlines import schema as event_schema

    print(json.dumps(event_schema(), indent=2))


@cli.command(
    epilog='\b\nExamples:\n  eval "$(cephtui completion bash)"\n'
    "  cephtui completion fish > ~/.config/fish/completions/cephtui.fish"
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(cli, {}, "cephtui", "_CEPHTUI_COMPLETE").source())


if __name__ == "__main__":
    main()
