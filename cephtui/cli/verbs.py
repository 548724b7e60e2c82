"""The command line as users see it: the options of the console, and its verbs.

A verb has its arguments, options and help in a module of its kind, and its code in one under ``cephtui.cli.commands``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import click

from cephtui import __version__
from cephtui.cli.errors import ReaderGone
from cephtui.cli.log import start_log
from cephtui.cli.screen import begin_screen
from cephtui.cli.where import (
    Where,
    data_pool_option,
    refuse_other_options,
    session_option,
    target_option,
    where_options,
)


def _verbs() -> Iterator[click.Command]:
    """All verbs. Until one is asked for, the module that has it is not imported: the console begins without any."""
    from cephtui.cli.about_verbs import ABOUT_VERBS

    yield from ABOUT_VERBS
    from cephtui.cli.saved_verbs import SAVED_VERBS

    yield from SAVED_VERBS
    from cephtui.cli.measuring_verbs import MEASURING_VERBS

    yield from MEASURING_VERBS
    from cephtui.cli.provisioned_verb import provisioned

    yield provisioned


def every_verb() -> dict[str, click.Command]:
    """The verbs by their names, as ``--help`` lists them."""
    return dict(sorted((verb.name or "", verb) for verb in _verbs()))


@contextlib.contextmanager
def _hinted() -> Iterator[None]:
    """In the block an option that there is not is an error that names the one that is meant."""
    try:
        yield
    except click.NoSuchOption as error:
        from cephtui.cli.hints import unknown_option

        raise click.UsageError(unknown_option(error), error.ctx) from None


class _Verbs(click.Group):
    """Names the verbs and options that are meant by unknown ones; raises ReaderGone for a BrokenPipeError."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*every_verb()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return next((verb for verb in _verbs() if verb.name == cmd_name), None)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with _hinted():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _hinted():
                return super().invoke(ctx)
        except BrokenPipeError:
            raise ReaderGone from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not args or args[0].startswith("-") or self.get_command(ctx, args[0]):
            return super().resolve_command(ctx, args)
        from cephtui.cli.hints import unknown_verb

        raise click.UsageError(unknown_verb(args[0], every_verb()), ctx)


@click.group(
    cls=_Verbs,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  cephtui doctor                           what works here, what is missing
  cephtui                                  the console, on a scratch file
  cephtui --target file:/mnt/pve/nfs/test  the console, on a new file there
  cephtui --node pve1 --target rbd:bench   the console, on images it creates
  cephtui run write-iops                   a preset, with progress and a table
  cephtui run latency --json | jq .        the same for a script
  cephtui demo                             a session of a real cluster
  cephtui serve                            the same in a browser
  cephtui sessions                         the saved sessions
  cephtui help                             the documentation
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
        _check_where(context, context.invoked_subcommand)
        return None
    begin_screen("the console", ": use cephtui run PRESET (see cephtui --help)")
    from cephtui.cli.commands.console import open_console

    return open_console(where, target, data_pool, session)


def _check_where(context: click.Context, verb: str) -> None:
    """Raises UsageError for nodes that are named before a verb which has none."""
    command = cli.get_command(context, verb)
    options = {name for option in (command.params if command else ()) for name in option.opts}
    refuse_other_options(options, f"is for commands that use nodes, and cephtui {verb} uses none")
