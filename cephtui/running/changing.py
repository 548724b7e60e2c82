"""A command of the user that makes a change or takes it back, noted in the session before and after it runs."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from cephtui.reading import open_to_append
from cephtui.running.command import run_command
from cephtui.sessions.changes import CHANGES_FILE, Ran
from cephtui.sessions.writer import append_lines

log = logging.getLogger(__name__)


async def run_noted(
    directory: Path,
    kind: Literal["change", "undo"],
    command: str,
    undo: str | None,
    is_stopped: Callable[[], bool],
    study: str = "",
) -> str:
    """Run it; why it failed, or an empty text. ``undo`` takes the change back, ``study`` is the check that it is of.

    Raises OSError where it can't be noted: then a change is not made. What takes it back runs nevertheless.
    """
    noted = Ran(at=datetime.now(UTC), kind=kind, command=command, undo=undo, study=study)
    path = directory / CHANGES_FILE

    def begins() -> None:
        try:
            append_lines(path, [noted])
        except OSError:
            if kind == "change":
                raise
            log.exception("the undo list can't be written")

    with contextlib.suppress(OSError):
        open_to_append(path).close()  # so that it is there to be locked
    ended = await run_command(command, path, begins, is_stopped)
    after = {"at": datetime.now(UTC), "status": ended.status, "output": ended.output}
    try:
        append_lines(path, [noted.model_copy(update=after)])
    except OSError:
        log.exception("the end of a command can't be recorded")
    return ended.problem
