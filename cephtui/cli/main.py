"""The command line: no arguments open the console, verbs run headless."""

from __future__ import annotations

import contextlib
import functools
import gc
import logging
import logging.handlers
import os
import re
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from cephtui import __version__
from cephtui.exit_codes import EXIT_FAILED, EXIT_INCOMPLETE, EXIT_REFUSED
from cephtui.printable import lines, printable
from cephtui.terminal import ENDING, Ending, Interrupted, handling, make_console, prepare_streams, say, silence, waiting

# Everything heavier than click is imported where it is used: --version and completion must answer at once.
if TYPE_CHECKING:
    from rich.console import RenderableType

    from cephtui.analysis.sides import Side
    from cephtui.config import Config
    from cephtui.models import Mark, Node, Run
    from cephtui.presets import Catalogue
    from cephtui.targets import Target
    from cephtui.tui.terminal.profile import Profile

_NUMBER_MOST = 9
"""Digits of a run's number."""
_GRACE_SECONDS = 15.0
_TARGET_HELP = (
    "What to test: file:PATH, rbd:POOL, rbd:POOL/IMAGE, device:PATH or pool:POOL (its objects). "
    "Default: a scratch file of its own."
)
_WORD = re.compile(r"[A-Za-z0-9._-]+")
"""What a shell takes for one word and nothing else; other names are not completed."""
log = logging.getLogger("cephtui.cli.main")


class _Formatter(logging.Formatter):
    """For a file that is read in a terminal: one line, and those of a traceback."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return printable(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:
        return lines(super().formatException(ei))


class Refused(click.ClickException):
    """Something can't be used or is not safe; one line, and its exit code."""

    exit_code = EXIT_REFUSED


def main() -> None:
    """The entry point: errors are one line, the traceback goes to the log file."""
    prepare_streams()
    with handling(Ending(_interrupt, _leave, lambda seconds: seconds > _GRACE_SECONDS and _leave()).handlers()):
        _main()


def _interrupt() -> NoReturn:
    raise Interrupted


def _leave() -> NoReturn:
    """At once, whatever still runs on other threads."""
    os._exit(EXIT_INCOMPLETE)


def _main() -> None:
    try:
        code = cli.main(prog_name="cephtui", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        say(error.format_message())
        sys.exit(error.exit_code)
    except (click.Abort, Interrupted) as error:
        silence(sys.stdout)
        with handling(dict.fromkeys(ENDING, signal.SIG_IGN)), waiting(sys.stderr, False):
            for text in ("interrupted", *error.args):
                say(text)
        _leave()
    except BrokenPipeError:
        silence(sys.stdout)
        sys.exit(EXIT_INCOMPLETE)
    except Exception as error:
        from cephtui.paths import log_file

        silence(sys.stdout)
        _start_log()
        log.exception("unexpected error")
        say(f"unexpected error: {error!r}; the traceback is in {log_file()}")
        sys.exit(EXIT_FAILED)
    sys.exit(code or 0)


def _start_log() -> None:
    from cephtui.paths import log_file

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
    handler.setFormatter(_Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
    root.addHandler(handler)
    for library in ("asyncio", "asyncssh"):  # what they have to say must not end up on the terminal
        other = logging.getLogger(library)
        other.setLevel(logging.WARNING)
        other.propagate = False
        other.addHandler(handler)


# ---------------------------------------------------------------------------------------------- completion


def _complete_presets(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in _catalogue() if name.startswith(incomplete) and _WORD.fullmatch(name)]


def _complete_sessions(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from cephtui.paths import sessions_dir

    with contextlib.suppress(OSError):
        names = [path.name for path in sessions_dir().iterdir()]
        return sorted(name for name in names if name.startswith(incomplete) and _WORD.fullmatch(name))
    return []


def _complete_runs(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Sessions, and the runs where it is clear of which: a shell puts a space behind what is the only one."""
    from cephtui.paths import sessions_dir

    name, slash, number = incomplete.partition("/")
    if not slash:
        found = _complete_sessions(context, parameter, name)
        if len(found) != 1:
            return [f"{session}/" for session in found]
        name = found[0]
    with contextlib.suppress(OSError):
        runs = sorted(int(p.name) for p in (sessions_dir() / name).iterdir() if p.name.isdecimal())
        return [f"{name}/{run}" for run in runs if str(run).startswith(number)]
    return []


def _catalogue() -> Catalogue:
    from cephtui.paths import packaged_presets_dir, user_presets_dir
    from cephtui.presets import find_presets

    return find_presets(packaged_presets_dir(), user_presets_dir())


# ---------------------------------------------------------------------------------------------- nodes


@dataclass(frozen=True)
class Where:
    """The options that say where to run, common to several commands."""

    names: tuple[str, ...]
    config: Path | None
    ssh_config: Path | None
    ceph: dict[str, str]
    ceph_node: str | None

    def with_more(self, more: Where) -> Where:
        """Both; what ``more`` says wins."""
        return Where(
            more.names or self.names,
            more.config or self.config,
            more.ssh_config or self.ssh_config,
            {**self.ceph, **more.ceph},
            more.ceph_node or self.ceph_node,
        )

    def loaded(self) -> Config:
        """The config file; raises UsageError."""
        from cephtui import config, paths

        path = self.config or paths.config_dir() / "config.toml"
        ssh_config = str(self.ssh_config.absolute()) if self.ssh_config else None
        try:
            return config.load(path, required=self.config is not None, ssh_config=ssh_config)
        except config.ConfigError as error:
            raise click.UsageError(str(error)) from None

    def nodes(self) -> tuple[Node, ...]:
        """The chosen nodes; raises UsageError."""
        from cephtui import config

        try:
            chosen = self.loaded().choose(self.names or (config.LOCAL,))
        except config.ConfigError as error:
            raise click.UsageError(str(error)) from None
        names = [node.name for node in chosen]
        if self.ceph_node and self.ceph_node not in names:
            raise click.UsageError(f"--ceph-node {self.ceph_node}: expected one of {', '.join(names)}")
        return tuple(node.model_copy(update=self.ceph) for node in chosen)

    def known(self) -> dict[str, Node]:
        """This machine, the nodes of the config file and the chosen ones, by their names; raises UsageError."""
        from cephtui.config import LOCAL

        every = replace(self, names=(LOCAL, *self.loaded().nodes), ceph_node=None)
        return {node.name: node for node in (*every.nodes(), *self.nodes())}


_existing = click.Path(exists=True, dir_okay=False, path_type=Path)
_where_options = (
    click.option(
        "--node",
        "nodes",
        multiple=True,
        metavar="NODE",
        help="Where to run: [USER@]HOST[:PORT], or a node or group of the config file. Default: local.",
    ),
    click.option("--config", type=_existing, metavar="FILE", help="Named nodes and groups (TOML). See cephtui info."),
    click.option("-F", "ssh_config", type=_existing, metavar="FILE", help="SSH config instead of ~/.ssh/config."),
    click.option("--ceph-conf", metavar="PATH", help="ceph.conf, on the node."),
    click.option("--ceph-id", metavar="ID", help="Ceph's user, without client."),
    click.option("--ceph-keyring", metavar="PATH", help="Its keyring, on the node."),
    click.option("--ceph-node", metavar="NODE", help="The node that asks the cluster. Default: the first."),
)


_data_pool_option = click.option(
    "--data-pool", metavar="POOL", help="Erasure-coded pool for the data of the images that are created."
)


def where_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that say where to run; they arrive as ``where``."""

    @functools.wraps(command)
    def wrapped(
        nodes: tuple[str, ...],
        config: Path | None,
        ssh_config: Path | None,
        ceph_conf: str | None,
        ceph_id: str | None,
        ceph_keyring: str | None,
        ceph_node: str | None,
        **others: Any,
    ) -> Any:
        given = {"ceph_conf": ceph_conf, "ceph_id": ceph_id, "ceph_keyring": ceph_keyring}
        ceph = {key: value for key, value in given.items() if value}
        where = Where(nodes, config, ssh_config, ceph, ceph_node)
        context = click.get_current_context()
        before = context.find_object(Where)  # given before the command
        context.obj = where if before is None else before.with_more(where)
        return command(where=context.obj, **others)

    for option in reversed(_where_options):
        wrapped = option(wrapped)
    return wrapped


# ---------------------------------------------------------------------------------------------- the console


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  cephtui                                  the console, on a scratch file of its own
  cephtui --target file:/mnt/pve/nfs/test  the console, on a file that it makes there
  cephtui --node pve1 --target rbd:bench   the console, on images that it makes in a pool
  cephtui run write-iops                   one preset, with progress and a table
  cephtui run latency --json | jq .        the same for a script
  cephtui demo                             a recorded session of a real cluster
  cephtui sessions                         what has been measured
""",
)
@click.version_option(__version__, message="cephtui %(version)s")
@where_options
@click.option("--target", metavar="TARGET", help=_TARGET_HELP)
@_data_pool_option
@click.option("--session", metavar="NAME", help="Save into this session. Default: a new one, named by the time.")
@click.option("--safe", is_flag=True, help="Draw with ASCII and at most 8 colours, whatever the terminal is.")
@click.pass_context
def cli(
    context: click.Context, where: Where, target: str | None, data_pool: str | None, session: str | None, safe: bool
) -> int | None:
    """Measure storage live in the terminal, and keep every result with its conditions.

    Without a command this opens the console: keys 1 to 6 run a preset, the arrow keys only select it.
    """
    _start_log()
    if context.invoked_subcommand is not None:
        given = {"--target": target, "--data-pool": data_pool, "--session": session}
        option = next((name for name, value in given.items() if value), None)
        if option:
            raise click.UsageError(
                f"{option} belongs behind the command: cephtui {context.invoked_subcommand} {option}"
            )
        return None
    _begin_screen("the console", ": use cephtui run PRESET (see cephtui --help)")
    from cephtui.planning import new_batch
    from cephtui.sessions.store import StoreError
    from cephtui.tui.console.start import Start
    from cephtui.tui.main import run_console

    look = _look()
    _check_session_name(session)
    nodes = where.nodes()
    with ExitStack() as stack:
        owner_id = new_batch()
        chosen = _target(target, stack, nodes, data_pool, owner_id)
        try:
            earlier, marks = _continued(session)
            start = Start(
                nodes, chosen, data_pool, where.ceph_node, earlier, marks, where.loaded(), where.ceph, owner_id
            )
            problems, code = run_console(_catalogue(), start, session, stack.close, look)
        except StoreError as error:
            raise click.ClickException(str(error)) from None
    for problem in problems:
        say(problem)
    return code


def _look() -> Profile:
    """What the terminal can show, --safe standing before a command too; raises UsageError."""
    from cephtui.tui.terminal.profile import UnknownLevel, as_started, detect

    try:
        return detect(as_started(os.environ), safe=click.get_current_context().find_root().params["safe"])
    except UnknownLevel as error:
        raise click.UsageError(str(error)) from None


def _continued(session: str | None) -> tuple[tuple[Run, ...], tuple[Mark, ...]]:
    """Runs and marks of a session that is gone on with; raises StoreError."""
    from cephtui import paths
    from cephtui.sessions import store

    directory = paths.sessions_dir() / session if session else None
    if directory is None or not directory.is_dir():
        return (), ()
    return tuple(store.read_runs(directory)[0]), tuple(store.read_marks(directory))


# ---------------------------------------------------------------------------------------------- run


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
@click.argument("presets", nargs=-1, metavar="PRESET...", required=True, shell_complete=_complete_presets)
@where_options
@click.option("--target", metavar="TARGET", help=_TARGET_HELP)
@_data_pool_option
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="OPTION=VALUE",
    help="Change an option of the preset, in its tool's spelling; A,B,C runs once for each value.",
)
@click.option("--repeat", type=click.IntRange(1, 1000), default=1, show_default=True, help="Run so many times.")
@click.option("--session", metavar="NAME", help="Save into this session. Default: a new one, named by the time.")
@click.option(
    "--destroy", multiple=True, metavar="NAME", help="Give up the contents of an existing file, device or image."
)
@click.option("--shared-pool", is_flag=True, help="Load a pool that others use, too.")
@click.option(
    "--stall-timeout",
    type=click.FloatRange(min=10.0),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="Stop a run that completes nothing for so long.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON Lines on stdout: plan, samples, runs.")
@click.option("--dry-run", is_flag=True, help="Show commands, writes and duration; run nothing.")
def run(
    presets: tuple[str, ...],
    where: Where,
    target: str | None,
    data_pool: str | None,
    overrides: tuple[str, ...],
    repeat: int,
    session: str | None,
    destroy: tuple[str, ...],
    shared_pool: bool,
    stall_timeout: float,
    as_json: bool,
    dry_run: bool,
) -> int:
    """Run presets one after the other and save what they measure."""
    from cephtui.cli import headless
    from cephtui.paths import sessions_dir
    from cephtui.planning import Request, make_plan, new_batch
    from cephtui.presets import PresetError, choose, parse_overrides
    from cephtui.running.launch import NotRun
    from cephtui.running.runner import Runner
    from cephtui.sessions.store import StoreError
    from cephtui.tools.base import OptionError

    _check_session_name(session)
    nodes = where.nodes()
    with ExitStack() as stack:
        chosen = _target(target, stack, nodes, data_pool, new_batch())
        try:
            request = Request(
                choose(_catalogue(), presets),
                nodes,
                chosen,
                parse_overrides(overrides),
                repeat,
                destroy,
                where.ceph_node,
                shared_pool,
            )
            draft = make_plan(request, new_batch)  # what is wrong with it is told before any node is asked
            runner = stack.enter_context(Runner(sessions_dir(), session, stall_seconds=stall_timeout))
            plan = make_plan(headless.survey(runner, request, draft), new_batch)
            if dry_run:
                return headless.dry_run(runner, plan, as_json)
            return headless.carry_out(runner, plan, headless.JsonOutput() if as_json else headless.TerminalOutput())
        except (PresetError, OptionError) as error:
            raise click.UsageError(str(error)) from None
        except (StoreError, NotRun) as error:
            raise Refused(str(error)) from None


def _check_session_name(name: str | None) -> None:
    from cephtui.sessions.store import StoreError, check_name

    try:
        check_name(name)
    except StoreError as error:
        raise click.UsageError(str(error)) from None


def _target(text: str | None, stack: ExitStack, nodes: Sequence[Node], data_pool: str | None, owner_id: str) -> Target:
    from cephtui.paths import cache_dir
    from cephtui.targets import TargetError, kind_of, parse_target
    from cephtui.targets.scratch import scratch_target

    remote = [node.name for node in nodes if node.host is not None]
    if not text and remote:
        raise click.UsageError(f"--target is missing: say what to test on {remote[0]}, such as rbd:POOL or file:PATH")
    kind = kind_of(text) if text else None
    if text and remote and kind and kind.is_path and not text.partition(":")[2].startswith("/"):
        raise click.UsageError(f"target {text!r}: expected an absolute path on {remote[0]}")
    try:
        if text:
            return parse_target(text, sitting=owner_id, data_pool=data_pool)
        return stack.enter_context(scratch_target(cache_dir()))
    except TargetError as error:
        raise click.UsageError(str(error)) from None
    except OSError as error:
        raise Refused(f"can't make a scratch file in {cache_dir()}: {error.strerror}: use --target") from None


# ---------------------------------------------------------------------------------------------- nodes and leftovers


@cli.command(
    epilog="\b\nExamples:\n  cephtui nodes --node pve1 --node root@10.0.0.2\n  cephtui nodes rados-write --node pve\n"
    "  cephtui nodes --node pve --json"
)
@click.argument("presets", nargs=-1, metavar="[PRESET]...", shell_complete=_complete_presets)
@where_options
@click.option("--json", "as_json", is_flag=True, help="JSON Lines instead of a table.")
def nodes(presets: tuple[str, ...], where: Where, as_json: bool) -> int:
    """Look at nodes: what works there, what is missing, and the command that installs it.

    A node is ready where it can run the presets that are named; without any, where it can run some.
    """
    from cephtui.cli import headless
    from cephtui.paths import sessions_dir
    from cephtui.presets import PresetError, choose
    from cephtui.reports import report
    from cephtui.running.runner import Runner
    from cephtui.sessions.jsonlines import line

    try:
        needed = {preset.tool.name for preset in choose(_catalogue(), presets)}
    except PresetError as error:
        raise click.UsageError(str(error)) from None
    with Runner(sessions_dir()) as runner:
        rows = headless.diagnose(runner, where.nodes(), needed)
    if as_json:
        for row in rows:
            print(line(row))
    else:
        make_console().print(report.nodes(rows))
    return 0 if all(row.ready for row in rows) else EXIT_REFUSED


@cli.command(
    epilog="\b\nExamples:\n  cephtui cleanup --dry-run\n  cephtui cleanup\n  cephtui cleanup --yes --node root@10.0.0.2"
)
@where_options
@click.option("--dry-run", is_flag=True, help="Only list what would be removed, and how its nodes are reached.")
@click.option("--yes", is_flag=True, help="Don't ask whether to remove it.")
@click.option(
    "--as-listed", is_flag=True, help="Reach nodes as the sessions' lists say where you do not: see --dry-run before."
)
def cleanup(where: Where, dry_run: bool, yes: bool, as_listed: bool) -> int:
    """Remove what consoles that were killed have left: images, namespaces and files that carry their session's mark.

    Nodes are reached as your config file and these options have them. Where a session's list says otherwise (another
    host, a prefix, an ssh_config, a way to Ceph), that is shown and asked for: it may run anything.
    """
    from cephtui.cli import headless
    from cephtui.paths import sessions_dir
    from cephtui.reports import report
    from cephtui.running.runner import Runner
    from cephtui.sessions.store import left_behind, unreadable_lists

    left = left_behind(sessions_dir())
    unreadable = unreadable_lists(sessions_dir())
    for problem in unreadable:
        say(f"{problem}: what it lists may still be there")
    code = EXIT_FAILED if unreadable else 0
    if not left:
        make_console().print("nothing else was left behind" if unreadable else "nothing was left behind")
        return code
    own = where.known()
    make_console().print(report.left_behind(left, own))
    if dry_run:
        return code
    if not yes and not (sys.stdin.isatty() and click.confirm("Remove this?", err=True)):
        raise Refused("nothing was removed: say --yes" if not sys.stdin.isatty() else "nothing was removed")
    with Runner(sessions_dir()) as runner:
        return headless.clean_up(runner, left, own, as_listed=as_listed) or code


# ---------------------------------------------------------------------------------------------- listings


def _list(rows: Iterable[Any], render: Callable[[Any], RenderableType], as_json: bool) -> None:
    from cephtui.sessions.jsonlines import line

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
    from cephtui.presets import PresetError, choose, rows
    from cephtui.reports import report

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
    from cephtui.paths import sessions_dir
    from cephtui.reports import report
    from cephtui.sessions.store import list_sessions

    _list(list_sessions(sessions_dir()), report.sessions, as_json)


@cli.command(
    epilog="\b\nExamples:\n  cephtui show 2026-11-21-101530\n  cephtui show 2026-11-21-101530/2\n"
    "  cephtui show tuning/2 --json"
)
@click.argument("what", metavar="SESSION[/RUN]", shell_complete=_complete_sessions)
@_json_option
def show(what: str, as_json: bool) -> None:
    """Show the runs and marks of a session, or one run in full; with --json a run's samples and its figures."""
    from cephtui.analysis.marks import in_order
    from cephtui.reports import report
    from cephtui.sessions import store

    try:
        if what.partition("/")[2]:
            _show_run(*_find_run(what), as_json)
            return
        directory = _find_session(what)
        runs, broken = store.read_runs(directory)
        marks = store.read_marks(directory)
        if as_json:
            _list(in_order(runs, marks), report.runs, as_json)
        else:
            make_console().print(report.runs(runs, marks))
        if broken:
            raise broken[0]
    except store.StoreError as error:
        raise click.ClickException(str(error)) from None


def _find_session(name: str) -> Path:
    """Where a saved session is; raises UsageError."""
    from cephtui.paths import sessions_dir
    from cephtui.sessions import store

    try:
        return store.find_session(sessions_dir(), name)
    except store.StoreError as error:
        raise click.UsageError(str(error)) from None


def _find_run(what: str) -> tuple[Path, int]:
    """A saved run, given as SESSION/RUN: its session's directory and its number; raises UsageError."""
    name, _, number = what.partition("/")
    if not number.isdecimal() or len(number) > _NUMBER_MOST:
        raise click.UsageError(f"{what!r}: expected SESSION/RUN, the run being a number: cephtui sessions lists them")
    directory = _find_session(name)
    if not (directory / f"{int(number):03}").is_dir():
        raise click.UsageError(f"session {name} has no run {int(number)}: cephtui show {name}")
    return directory, int(number)


def _show_run(directory: Path, number: int, as_json: bool) -> None:
    from cephtui.reports import report
    from cephtui.sessions import store
    from cephtui.sessions.jsonlines import line

    value = store.read_run(directory, number)
    marks = [mark for mark in store.read_marks(directory) if mark.run == number]
    if as_json:
        for sample in store.read_samples(directory, number):
            print(line(sample))
        for said in store.read_cluster(directory, number):
            print(line(said))
        for mark in marks:
            print(line(mark))
        print(line(value))
        return
    make_console().print(report.run(value, store.read_history(directory, number), marks))


@cli.command(
    epilog="\b\nExamples:\n  cephtui compare tuning/1 tuning/4\n"
    "  cephtui compare 2026-11-21-101530/2 2026-11-22-090000/2\n"
    "  cephtui compare tuning/1 tuning/4 --json | jq 'select(.event == \"figure\")'"
)
@click.argument("left", metavar="SESSION/RUN", shell_complete=_complete_runs)
@click.argument("right", metavar="SESSION/RUN", shell_complete=_complete_runs)
@_json_option
def compare(left: str, right: str, as_json: bool) -> None:
    """Compare two runs of any sessions: what differed in their conditions, marks from one to the other, their figures.

    A run stands together with its repeats in the same session.
    """
    from cephtui.analysis.conditions import differences
    from cephtui.analysis.figures import figures
    from cephtui.analysis.marks import marks_between
    from cephtui.reports import report
    from cephtui.sessions import store
    from cephtui.sessions.jsonlines import line

    try:
        sides = _side(left), _side(right)
    except store.StoreError as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        marks = [mark for _, mark in marks_between(*sides)]
        for row in (*differences(*sides), *marks, *figures(*sides)):
            print(line(row))
    else:
        make_console().print(report.compare(*sides))


def _side(what: str) -> Side:
    """A run with its repeats; raises UsageError, and StoreError for a run that can't be read."""
    from cephtui.analysis.sides import side_of
    from cephtui.sessions import store

    directory, number = _find_run(what)
    return side_of(store.read_run(directory, number), store.read_runs(directory)[0], store.read_marks(directory))


# ---------------------------------------------------------------------------------------------- saved runs, shown


def _begin_screen(verb: str, instead: str = "") -> None:
    """Before anything of Textual is imported; raises UsageError where there is no terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError(f"{verb} needs a terminal{instead}")
    gc.disable()  # a fifth of the time until something is seen; the application turns it on again then


@cli.command(
    epilog="\b\nExamples:\n  cephtui replay tuning/2\n  cephtui replay tuning/2 --speed 8\n"
    "\nIn it: space pauses, left and right go back and on, + and - change the speed."
)
@click.argument("what", metavar="SESSION/RUN", shell_complete=_complete_runs)
@click.option("--speed", type=click.FloatRange(1, 20), default=1.0, show_default=True, help="How many times as fast.")
def replay(what: str, speed: float) -> None:
    """Play a saved run again, as it was live: through the same parser, on the same screen."""
    _begin_screen("replay")
    from cephtui.sessions.store import StoreError
    from cephtui.tui.main import show_saved
    from cephtui.tui.screens.replay import ReplayScreen

    directory, number = _find_run(what)
    try:
        screen = ReplayScreen(directory, number, speed)
    except StoreError as error:
        raise click.ClickException(str(error)) from None
    show_saved(directory.parent, [screen], _look())


@cli.command(epilog="\b\nExamples:\n  cephtui watch tuning")
@click.argument("session", shell_complete=_complete_sessions)
def watch(session: str) -> None:
    """Follow a session that another cephtui on this machine is writing; changes nothing."""
    _begin_screen("watch")
    from cephtui.tui.main import show_saved
    from cephtui.tui.screens.replay import WatchScreen

    directory = _find_session(session)
    show_saved(directory.parent, [WatchScreen(directory)], _look())


@cli.command(epilog="\b\nExamples:\n  cephtui demo\n  cephtui demo --speed 1")
@click.option("--speed", type=click.FloatRange(1, 20), default=4.0, show_default=True, help="How many times as fast.")
def demo(speed: float) -> None:
    """Show a recorded session of a real cluster, for a talk without one: needs no Ceph, no fio, no network.

    A run on three nodes is played; behind it are the session's other runs, to open, to play and to compare.
    """
    _begin_screen("demo")
    from cephtui.paths import cache_dir
    from cephtui.sessions.demo import STAR, unpack
    from cephtui.targets.scratch import scratch_directory
    from cephtui.tui.main import show_saved
    from cephtui.tui.screens.replay import ReplayScreen
    from cephtui.tui.screens.session import SessionScreen
    from cephtui.tui.screens.sessions import SessionsScreen

    with ExitStack() as stack:
        try:
            folder = stack.enter_context(scratch_directory(cache_dir()))
            directory = unpack(folder)
        except OSError as error:
            why = f"can't unpack the demo in {cache_dir()}: {error.strerror or error}"
            raise Refused(f"{why}: set XDG_CACHE_HOME to a folder with room") from None
        screens = (SessionsScreen(folder), SessionScreen(directory), ReplayScreen(directory, STAR, speed))
        show_saved(folder, screens, _look(), stack.close)


@cli.command()
@_json_option
def info(as_json: bool) -> None:
    """Show versions, and where presets, sessions, config and log are."""
    import platform

    from cephtui import paths
    from cephtui.models import Info
    from cephtui.reports import report
    from cephtui.sessions.jsonlines import line
    from cephtui.tools import TOOLS

    tools = {name: _version(tool.version_argv) for name, tool in TOOLS.items()}
    value = Info(
        cephtui_version=__version__,
        python_version=platform.python_version(),
        tools={name: version for name, version in tools.items() if version},
        presets=(str(paths.packaged_presets_dir()), str(paths.user_presets_dir())),
        sessions=str(paths.sessions_dir()),
        config=str(paths.config_dir()),
        cache=str(paths.cache_dir()),
        log=str(paths.log_file()),
    )
    if as_json:
        print(line(value))
    else:
        make_console().print(report.info(value))


def _version(argv: Sequence[str]) -> str | None:
    """What a program here says of its version; None where it is not installed."""
    import subprocess

    try:
        asked = subprocess.run(argv, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return asked.stdout.strip() or None


@cli.command()
def schema() -> None:
    """Print the JSON Schema of what `run --json` prints and a session keeps."""
    import json

    from cephtui.sessions.jsonlines import schema as event_schema

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
