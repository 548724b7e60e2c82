"""``cephtui cleanup``: leftovers of killed consoles."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TypeVar

import click

from cephtui import paths
from cephtui.cli.choice import known_nodes, known_secrets
from cephtui.cli.errors import Refused
from cephtui.cli.measuring import say_notices
from cephtui.cli.printing import print_blocks, print_report
from cephtui.cli.prompts import ask_secrets, connect
from cephtui.cli.saved import find_session
from cephtui.cli.stopping import AGAIN, stopping
from cephtui.cli.where import Where, refuse_other_options
from cephtui.exit_codes import EXIT_FAILED, EXIT_INCOMPLETE, EXIT_REFUSED
from cephtui.models import Node
from cephtui.nodes.state import NodeState
from cephtui.printable import one_line, printable
from cephtui.reports.views.listings import leftovers_blocks
from cephtui.running.changing import run_noted
from cephtui.running.cleanup import leftovers
from cephtui.running.command import time_limit
from cephtui.running.inbox import Inbox
from cephtui.running.runner import Runner
from cephtui.sessions.changes import CHANGES_FILE, left_changed, left_text, newest_command, not_undone, remedy_of
from cephtui.sessions.undo import Undo, left_behind, unreadable_lists
from cephtui.sessions.writer import take_lock
from cephtui.targets import removal_groups
from cephtui.targets.base import Removed
from cephtui.targets.leftovers import ConnectionSettings, connection_settings, describe
from cephtui.terminal import Interrupted, say, say_exactly

_CONTROLS = "line breaks or characters that a terminal does not show"
_AT_ONCE, _ASKED_MOST = 32, 32
"""Nodes that are connected, or things that are removed, at the same time; and nodes that the user is asked for."""
T = TypeVar("T")


def clean_up(where: Where, dry_run: bool, yes: bool, as_listed: bool, undone: str | None) -> int:
    """List leftovers and remove them, or take a change back; the exit code."""
    if undone is not None:
        refuse_other_options(
            ("--undo", "--dry-run", "--yes"), "can't be used with --undo, which runs a command on this machine"
        )
        directory = find_session(undone)
        if directory.name != undone:
            raise click.UsageError(f"--undo {undone}: give the session's full name, since a command is run")
        return _undo(directory, dry_run=dry_run, yes=yes)
    for directory, command in left_changed(paths.sessions_dir()):
        say_exactly(left_text(directory.name, command))
    left = left_behind(paths.sessions_dir())
    unreadable = unreadable_lists(paths.sessions_dir())
    for problem in unreadable:
        say(f"{problem}: the leftovers it lists may still exist")
    code = EXIT_FAILED if unreadable else 0
    if not left:
        print_report("nothing else was left behind" if unreadable else "nothing was left behind")
        return code
    nodes = known_nodes(where)
    print_blocks(leftovers_blocks(left, nodes))
    if dry_run:
        return code
    if not yes and not (sys.stdin.isatty() and click.confirm("Remove this?", err=True)):
        raise Refused("nothing was removed: add --yes" if not sys.stdin.isatty() else "nothing was removed")
    with Runner(paths.sessions_dir(), vault=known_secrets(where)) as runner:
        return _remove(runner, left, nodes, as_listed=as_listed) or code


def _undo(directory: Path, *, dry_run: bool, yes: bool) -> int:
    """Run what takes back the change of a check, which was given on its command line; the exit code."""
    command, remedy = dict(left_changed(directory.parent)).get(directory), remedy_of(directory.name)
    if command is None:
        raise click.UsageError(f"session {directory.name} has no change to undo, or a check of it is running")
    click.echo(f"session {directory.name}, in a shell on this machine, {time_limit()}: {printable(command)}")
    if printable(command) != command:
        raise Refused(
            f"nothing was run: the command contains {_CONTROLS}, which no check allows: "
            f"look at {directory / CHANGES_FILE}"
        )
    if dry_run:
        return 0
    if not yes and not (sys.stdin.isatty() and click.confirm("Run this?", err=True)):
        raise Refused("nothing was run: add --yes" if not sys.stdin.isatty() else "nothing was run")
    lock = take_lock(directory)
    if lock is None:
        raise Refused(f"session {directory.name} is in use by another cephtui: nothing was run")
    with lock:
        if not_undone(directory) != command:
            raise Refused(f"the change of session {directory.name} was undone meanwhile: nothing was run")
        try:
            problem = asyncio.run(_undone(directory, command))
        except Interrupted:
            raise Interrupted(f"the change was not undone: {remedy}") from None
    say(f"the change was not undone: {problem}: {remedy}" if problem else "the change is undone")
    return EXIT_FAILED if problem else 0


async def _undone(directory: Path, command: str) -> str:
    """Why a change could not be undone; empty where it was."""
    last = newest_command(directory)
    return await run_noted(directory, "undo", command, command, lambda: False, last.study if last else "")


def _remove(runner: Runner, left: Sequence[tuple[Path, Undo]], nodes: Mapping[str, Node], *, as_listed: bool) -> int:
    """Remove leftovers, and print the result of each; the exit code.

    ``nodes`` are the user's nodes by their names. Connection settings that only a session's undo list has are used with
    ``as_listed``, or if the user agrees to them on the terminal.
    """
    inbox = runner.subscribe()
    by_settings: dict[ConnectionSettings, list[tuple[Path, Undo]]] = {}
    for path, undo in left:
        by_settings.setdefault(connection_settings(undo, nodes), []).append((path, undo))
    there = dict.fromkeys((undo.node, undo.target) for _, undo in left)

    def still_there() -> list[str]:
        runner.abandon()
        return leftovers(list(there))

    try:
        states, refused = _ways_taken(runner, by_settings, as_listed)
        for way in states:
            ask_secrets(runner, states[way].node, [undo.target for _, undo in by_settings[way]])
    except (Interrupted, click.Abort):
        raise Interrupted(*still_there()) from None
    failed = 0
    with stopping(lambda: say(f"finishing the removal{AGAIN}"), runner.cleanup.is_overdue, still_there) as ending:
        for way, undo_entries in by_settings.items():
            if way in refused:
                failed += len(undo_entries)
                say(f"{one_line(way.listed.name)}: {_things(undo_entries)} not removed: {refused[way]}")
                continue
            groups = removal_groups(undo_entries, lambda entry: entry[1].target)
            some = (batch for group in groups for batch in _batches(group))
            failed += sum(_removed(runner, states[way], batch, inbox, there) for batch in some)
    if ending.is_requested:
        return EXIT_INCOMPLETE
    if not failed:
        return 0
    return EXIT_REFUSED if failed == sum(len(by_settings[way]) for way in refused) else EXIT_FAILED


def _things(undo_entries: Sequence[tuple[Path, Undo]]) -> str:
    first = one_line(undo_entries[0][1].target)
    return f"{first} was" if len(undo_entries) == 1 else f"{first} and {len(undo_entries) - 1} more were"


def _ways_taken(
    runner: Runner, by_settings: Mapping[ConnectionSettings, Sequence[tuple[Path, Undo]]], as_listed: bool
) -> tuple[dict[ConnectionSettings, NodeState], dict[ConnectionSettings, str]]:
    """The connected nodes, and why not_configured were refused."""
    states = _reached(runner, {way: way.configured for way in by_settings if way.is_own and way.configured})
    not_configured = [
        way for way in by_settings if way not in states or not (states[way].problem or way.fits(states[way].node))
    ]
    refused = {way: why for way in not_configured if (why := way.unusable)}
    to_agree = [way for way in not_configured if way not in refused]
    refused |= dict.fromkeys(
        to_agree[_ASKED_MOST:],
        f"more than {_ASKED_MOST} nodes have other settings in their undo lists: run cephtui cleanup again",
    )
    to_agree = to_agree[:_ASKED_MOST]
    if to_agree and not (as_listed or _agreed(to_agree, by_settings)):
        remedy = "name the node with --node, in --config or by --ceph-conf, or allow these with --as-listed"
        refused |= dict.fromkeys(to_agree, f"these connection settings are only in the undo list: {remedy}")
        to_agree = []
    return {**states, **_reached(runner, {way: way.listed for way in to_agree})}, refused


def _reached(runner: Runner, nodes: Mapping[ConnectionSettings, Node]) -> dict[ConnectionSettings, NodeState]:
    """The nodes of one pool are connected together: the pool decides between several Ceph accesses."""
    states: dict[ConnectionSettings, NodeState] = {}
    for pool in dict.fromkeys(way.pool for way in nodes):
        for some in _batches([(way, node) for way, node in nodes.items() if way.pool == pool]):
            connected = connect(runner, [node for _, node in some], pool)
            states |= {way: state for (way, _), state in zip(some, connected, strict=True)}
    return states


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Slices to work on at the same time: an undo list may be very long."""
    return (items[start : start + _AT_ONCE] for start in range(0, len(items), _AT_ONCE))


def _agreed(
    ways: Sequence[ConnectionSettings], by_settings: Mapping[ConnectionSettings, Sequence[tuple[Path, Undo]]]
) -> bool:
    """Show the connection settings that only undo lists have, and ask for consent on the terminal."""
    for way in ways:
        name, session = one_line(way.listed.name), by_settings[way][0][0].name
        say(f"{name}: session {session} has other connection settings than you:")
        say_exactly(f"  its undo list: {describe(way.listed)}")
        yours = describe(way.configured) if way.configured else "no such node in your config or on the command line"
        say_exactly(f"  yours: {yours}")
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return click.confirm(
        "Use the settings of the undo lists? Their prefixes and ssh_config can run any command", err=True
    )


def _removed(
    runner: Runner,
    state: NodeState,
    undo_entries: Sequence[tuple[Path, Undo]],
    inbox: Inbox,
    there: dict[tuple[str, str], None],
) -> int:
    """Remove these from a node and from ``there``, which is all that still exists; the number of failures."""
    removing = [None if state.problem else runner.nodes.remove(state.node, undo, path) for path, undo in undo_entries]
    failed = 0
    for (_, undo), done in zip(undo_entries, removing, strict=True):
        removed = _waited_for(done, inbox) if done else Removed("failed", state.problem or "")
        node, spec = one_line(undo.node), one_line(undo.target)
        if removed.is_settled:
            there.pop((undo.node, undo.target), None)
        if removed.status == "done":
            say(f"{node}: {spec}: {removed.text}" if removed.text else f"{node}: removed {spec}")
            continue
        failed += 1
        off = " (it was taken off the undo list)" if removed.is_settled else ""
        say(f"{node}: {spec} was not removed: {removed.text}{off}")
    return failed


def _waited_for(done: Future[Removed], inbox: Inbox) -> Removed:
    while not done.done():
        say_notices(inbox)
    return done.result()
