"""The listing of sessions, and the file from which a closed session's line of it is read at once."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from cephtui.models import SCHEMA_VERSION, Run, SessionRow
from cephtui.reading import load_json, read_bytes
from cephtui.sessions.store import NOTES_FILE, StoreError, is_locked, read_notes, read_runs, read_session

ROW_FILE = "row.json"
_FIGURES = {"created_at", "runs", "presets", "outcomes", "cluster", "nodes"}
"""What a row.json keeps of a SessionRow: all that does not change while no process writes the session."""
_Stamps: TypeAlias = dict[str, list[int] | None]
"""Size and time of each file that a row is made from; None where there is no such file."""


def list_sessions(root: Path) -> list[SessionRow]:
    """Every session, the oldest first; a broken one is listed with what is wrong.

    Raises StoreError where the directory of the sessions itself can't be read.
    """
    if not root.is_dir():
        return []
    try:
        directories = [path for path in root.iterdir() if path.name[0] != "." and path.is_dir()]
    except OSError as error:
        raise StoreError(f"{root}: {error.strerror}") from None
    rows = [row for directory in directories if (row := session_row(directory))]
    return sorted(rows, key=lambda row: (row.created_at or datetime.min.replace(tzinfo=UTC), row.session))


def session_row(directory: Path) -> SessionRow | None:
    """A session's line of the listing; None where the disk was too full to begin one, or it has just been removed."""
    base = SessionRow(session=directory.name, path=str(directory))
    try:
        names = {path.name for path in directory.iterdir()}
    except FileNotFoundError:
        return None
    except OSError as error:
        return base.model_copy(update={"error": f"{directory}: {error.strerror}"})
    if names <= {"lock"}:
        return None
    writing = is_locked(directory)
    kept = None if writing or ROW_FILE not in names else _kept_figures(directory, names)
    found = _figures(directory) if kept is None else kept
    return base.model_copy(update=_with_notes(directory, names, {**found, "writing": writing}))


def _with_notes(directory: Path, names: set[str], found: dict[str, Any]) -> dict[str, Any]:
    """Columns of a row, with those that the user edits."""
    if NOTES_FILE not in names:
        return found
    try:
        notes = read_notes(directory)
    except StoreError as error:
        return {**found, "error": "; ".join(filter(None, [found.get("error"), str(error)]))}
    return {**found, "note": notes.note, "tags": notes.tags, "baseline": notes.baseline}


def _figures(directory: Path) -> dict[str, Any]:
    """The columns of a row that come from the session's files."""
    try:
        session = read_session(directory)
        runs, broken = read_runs(directory)
    except StoreError as error:
        return {"error": str(error)}
    outcomes = [run.outcome or "running" for run in runs]
    versions = [f"ceph {run.cluster.ceph_version or ''}".strip() for run in runs if run.cluster]
    return {
        "created_at": session.created_at,
        "runs": len(runs),
        "presets": tuple(dict.fromkeys(run.preset for run in runs)),
        "outcomes": {outcome: outcomes.count(outcome) for outcome in dict.fromkeys(outcomes)},
        "cluster": versions[-1] if versions else None,
        "nodes": tuple(dict.fromkeys(name for run in runs for name in _nodes(run))),
        "error": "; ".join(map(str, broken)) or None,
    }


def _nodes(run: Run) -> list[str]:
    """Of a run that was refused there are no results."""
    return [node.node for node in run.nodes] or list(run.environment)


def _stamps(directory: Path, names: set[str]) -> _Stamps:
    runs = [f"{name}/run.json" for name in sorted(names) if name.isdecimal()]
    return {name: _stamp(f"{directory}/{name}") for name in ("session.json", *runs)}


def _stamp(path: str) -> list[int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - a thousand sessions are listed at once
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns]


def _kept_figures(directory: Path, names: set[str]) -> dict[str, Any] | None:
    """The content of row.json; None where it is broken, of another schema, or not of the files as they are now."""
    try:
        kept = load_json(read_bytes(directory / ROW_FILE))
        if kept["schema_version"] != SCHEMA_VERSION or kept["files"] != _stamps(directory, names):
            return None
        row = SessionRow.model_validate({"session": "", "path": "", **{name: kept["row"][name] for name in _FIGURES}})
        return {name: getattr(row, name) for name in _FIGURES}
    except (OSError, ValueError, LookupError, TypeError):
        return None


def row_to_keep(directory: Path) -> str | None:
    """The text of row.json for a session that is about to be closed; None where something of it is not in order.

    Raises OSError.
    """
    stamps = _stamps(directory, {path.name for path in directory.iterdir()})
    found = _figures(directory)
    if found.get("error") or "running" in found["outcomes"]:
        return None
    row = SessionRow(session="", path="").model_copy(update=found).model_dump(mode="json", include=_FIGURES)
    return json.dumps({"schema_version": SCHEMA_VERSION, "row": row, "files": stamps})
