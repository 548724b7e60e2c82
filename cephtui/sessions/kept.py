"""Which sessions are kept: those in which something was measured, or that have something of the user's."""

from __future__ import annotations

import contextlib
import logging
import secrets
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from cephtui.printable import one_line
from cephtui.sessions.store import (
    ROW_FILE,
    STUDIES_FILE,
    UNDO_FILE,
    VERDICTS_FILE,
    StoreError,
    read_run,
    read_runs,
    read_session,
    run_directories,
)

if TYPE_CHECKING:
    from cephtui.models import Run

DELETED = ".deleted-"
"""The prefix of a directory that is being removed; its dot hides it from every listing."""
_OF_ANY_ATTEMPT = {"session.json", "lock", "plans.jsonl", ROW_FILE, VERDICTS_FILE, STUDIES_FILE, UNDO_FILE}
log = logging.getLogger(__name__)


def holds_nothing(directory: Path) -> bool:
    """Whether no run of a session has begun to measure, and nothing of it is the user's or must still be removed."""
    try:
        names = {path.name for path in directory.iterdir() if path.name[0] != "."}
        if any(not name.isdecimal() for name in names - _OF_ANY_ATTEMPT):
            return False
        if "session.json" in names:
            read_session(directory)  # what is wrong with a broken one is listed
        if UNDO_FILE in names:
            from cephtui.sessions.undo import check_undone

            check_undone(directory)
        return not any(_has_measured(directory, number, path) for number, path in run_directories(directory))
    except (OSError, StoreError):
        return False


def _has_measured(directory: Path, number: int, path: Path) -> bool:
    """Whether a run has output; what a node says that refuses it is none. Raises OSError and StoreError."""
    if (path / "samples.jsonl").exists():
        return True
    if not (path / "run.json").exists():
        return False
    run = read_run(directory, number)
    if run.outcome == "ok" or run.imported_from:
        return True
    raw = path / "raw"
    return run.outcome != "refused" and raw.is_dir() and any(raw.iterdir())


def drop_if_nothing(directory: Path) -> bool:
    """Remove a session that holds nothing, and log why its runs have not begun; whether it was removed.

    The caller holds its lock.
    """
    if not holds_nothing(directory):
        return False
    with contextlib.suppress(OSError, StoreError):
        why = "; ".join(map(_ending, read_runs(directory)[0]))
        shutil.rmtree(take_out(directory), ignore_errors=True)
        log.warning("session %s is not kept, since nothing was measured: %s", directory.name, why or "no run")
        return True
    return False


def _ending(run: Run) -> str:
    return one_line(f"{run.preset} #{run.run} {run.outcome or 'lost'}" + (f": {run.error}" if run.error else ""))


def take_out(directory: Path) -> Path:
    """Take a session out of the listing in one step, so that no crash can leave half of it there; its new path.

    Raises OSError.
    """
    return directory.rename(directory.with_name(f"{DELETED}{secrets.token_hex(4)}-{directory.name}"))
