"""``cephtui`` without a verb: the console."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from cephtui import paths
from cephtui.cli.catalogue import find_catalogue
from cephtui.cli.choice import check_session_name, chosen_nodes, chosen_target, load_config
from cephtui.cli.look import find_look
from cephtui.planning import new_batch
from cephtui.sessions import store
from cephtui.terminal import say
from cephtui.tui.console.start import Start
from cephtui.tui.main import run_console

if TYPE_CHECKING:
    from cephtui.cli.where import Where
    from cephtui.models import Mark, Run


def open_console(where: Where, target: str | None, data_pool: str | None, session: str | None) -> int | None:
    """Open the console; the exit code."""
    look = find_look()
    check_session_name(session)
    nodes = chosen_nodes(where)
    with ExitStack() as stack:
        owner_id = new_batch()
        chosen = chosen_target(target, stack, nodes, data_pool, owner_id)
        try:
            earlier, marks = _continued(session)
            config = load_config(where)
            first = not (target or where.names or config.nodes or earlier)
            start = Start(
                nodes,
                chosen,
                data_pool,
                where.ceph_node,
                earlier,
                marks,
                config,
                where.ceph,
                looks_around=first,
                owner_id=owner_id,
            )
            lines, code = run_console(find_catalogue(), start, session, stack.close, look)
        except store.StoreError as error:
            raise click.ClickException(str(error)) from None
    for line in lines:
        say(line)
    return code


def _continued(session: str | None) -> tuple[tuple[Run, ...], tuple[Mark, ...]]:
    """Runs and marks of a session that is resumed; raises StoreError."""
    directory = paths.sessions_dir() / session if session else None
    if directory is None or not directory.is_dir():
        return (), ()
    return tuple(store.read_runs(directory)[0]), tuple(store.read_marks(directory))
