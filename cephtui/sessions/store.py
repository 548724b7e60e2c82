"""Sessions on disk: one directory each, plain text, written so that a crash loses at most a torn line.

SESSION/session.json      what it is
        notes.json        what the user has noted of it
        row.json          its line of the listing, while no process writes it; can be made again
        lock              held while a console writes the session
        plans.jsonl       every plan, as it was shown
        marks.jsonl       the marks of the user, and when
        undo.jsonl        what was created and must be removed again, and what has been
        001/run.json      a run; without an outcome it is in progress or lost
            samples.jsonl the public samples
            cluster.jsonl the state of the cluster during the run
            overview.json at the end: its curves, thinned
            raw/          each node's output verbatim, and when which piece arrived
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from pydantic import ValidationError

from cephtui import units
from cephtui.analysis.history import History, Overview
from cephtui.models import (
    SCHEMA_VERSION,
    ClusterSample,
    Mark,
    Model,
    Name,
    Node,
    Plan,
    Run,
    Sample,
    Session,
    SessionNotes,
    SessionRow,
)
from cephtui.printable import printable
from cephtui.reading import (
    DOCUMENT_MOST_BYTES,
    LINE_MOST_BYTES,
    SERIES_MOST_BYTES,
    load_json,
    open_descriptor,
    read_bytes,
    read_lines,
)
from cephtui.sessions.jsonlines import parse_sample

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SLACK_BYTES = 512 << 10

M = TypeVar("M", bound=Model)
ROW_FILE, NOTES_FILE = "row.json", "notes.json"
_FIGURES = {"created_at", "runs", "presets", "outcomes", "cluster", "nodes"}
"""What a row.json keeps of a SessionRow: all that does not change while no process writes the session."""
_Stamps: TypeAlias = dict[str, list[int] | None]
"""Size and time of each file that a row is made from; None where there is no such file."""


class StoreError(Exception):
    """A session can't be opened, read or written; the text names it, the cause and the next step."""


class Undo(Model):
    """Something that was created outside the session's directory."""

    node: Name
    target: str
    at: Node | None = None
    """How the node is reached; null for the console's own machine."""
    owner: Name | None = None
    """The owner in its mark; null for parts that were created before marks had owners."""
    cluster: Name | None = None
    """The fsid of the Ceph cluster that it is in; null where there is none, or it could not be asked."""
    pool_id: int | None = None
    """Of its pool: one that is deleted and made again has another."""
    done: bool = False


def is_locked(directory: Path) -> bool:
    """Whether a process writes the session now."""
    try:
        descriptor = open_descriptor(directory / "lock")
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def check_space(root: Path, plan: Plan) -> None:
    """Raises StoreError where what a plan will store does not fit."""
    needed = plan.session_bytes + _SLACK_BYTES
    try:
        free = shutil.disk_usage(next(path for path in (root, *root.parents) if path.exists())).free
    except OSError as error:
        raise StoreError(f"can't write sessions in {root}: {error.strerror}") from None
    if free < needed:
        raise StoreError(
            f"not enough space for the session in {root}: needs about {units.size(needed)}, "
            f"{units.size(free)} free: make room, run shorter, or set CEPHTUI_DATA_DIR"
        )


def check_name(name: str | None) -> None:
    """Raises StoreError for a name that no session can have."""
    if name is not None and not _NAME.fullmatch(name):
        raise StoreError(f"session name {name!r}: expected up to 64 letters, digits, dots, dashes and underscores")


def _load(path: Path, model: type[M]) -> M:
    """A model's file; raises StoreError naming it."""
    try:
        data = load_json(read_bytes(path))
        version = data.get("schema_version", SCHEMA_VERSION)
        if isinstance(version, int) and version > SCHEMA_VERSION:
            raise StoreError(f"{path}: written by a newer cephtui (schema {version}): update cephtui to read it")
        return model.model_validate(data)
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise StoreError(f"{path}: {where}: {first['msg']}") from None
    except (ValueError, AttributeError) as error:
        raise StoreError(f"{path}: not readable: {error}") from None


def run_directories(directory: Path) -> list[tuple[int, Path]]:
    """The numbers of a session's runs, and where they are."""
    found = [(int(path.name), path) for path in directory.iterdir() if path.name.isdecimal() and path.is_dir()]
    return sorted((number, path) for number, path in found if path.name == f"{number:03}")


def read_session(directory: Path) -> Session:
    """What a session is; raises StoreError."""
    return _load(directory / "session.json", Session)


def read_run(directory: Path, number: int) -> Run:
    """A run; one without outcome that no process writes any more is ``lost``. Raises StoreError."""
    run = _load(directory / f"{number:03}" / "run.json", Run)
    if (run.session, run.run) != (printable(directory.name), number):  # the session, or the run, is renamed or copied
        run = run.model_copy(update={"session": printable(directory.name), "run": number})
    if run.outcome is None and not is_locked(directory):
        return run.model_copy(update={"outcome": "lost", "error": "the console ended during the run"})
    return run


def read_runs(directory: Path) -> tuple[list[Run], list[StoreError]]:
    """The runs of a session in order, and what is wrong with those that can't be read; raises StoreError."""
    runs: list[Run] = []
    broken: list[StoreError] = []
    try:
        numbers = [number for number, path in run_directories(directory) if _begun(path)]
    except OSError as error:
        raise StoreError(f"{directory}: {error.strerror}") from None
    for number in numbers:
        try:
            runs.append(read_run(directory, number))
        except StoreError as error:
            broken.append(error)
    return runs, broken


def _begun(run: Path) -> bool:
    """False where the console ended, or the disk was full, before the first file of a run was there."""
    try:
        return not {"run.json", "samples.jsonl"}.isdisjoint(path.name for path in run.iterdir())
    except OSError:
        return True  # reading it raises the reason


def read_samples(directory: Path, number: int) -> Iterator[Sample]:
    """A run's samples up to the last complete line; raises StoreError for a line that is none."""
    path = directory / f"{number:03}" / "samples.jsonl"
    try:
        for row, text in enumerate(read_lines(path, SERIES_MOST_BYTES), 1):
            if len(text) == LINE_MOST_BYTES and not text.endswith(b"\n"):
                raise StoreError(f"{path}: line {row}: not a sample: more than {units.size(LINE_MOST_BYTES)}")
            if not text.endswith(b"\n"):
                return
            yield _parse_line(path, row, text)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}") from None


def read_cluster(directory: Path, number: int) -> Iterator[ClusterSample]:
    """The states of the cluster during a run; lines that can't be read are left out."""
    return _readable(directory / f"{number:03}" / "cluster.jsonl", ClusterSample, SERIES_MOST_BYTES)


def _readable(path: Path, model: type[M], most_bytes: int = DOCUMENT_MOST_BYTES) -> Iterator[M]:
    """The lines of a file that are what they should be, none where there is no such file."""
    with contextlib.suppress(OSError):
        for text in read_lines(path, most_bytes):
            with contextlib.suppress(ValueError):
                yield model.model_validate_json(text)


def _parse_line(path: Path, row: int, text: bytes) -> Sample:
    try:
        return parse_sample(text)
    except ValueError as error:
        raise StoreError(f"{path}: line {row}: {error}") from None


def read_overview(directory: Path, number: int) -> Overview | None:
    """A run's overview; None where it did not come to its end. Raises StoreError."""
    path = directory / f"{number:03}" / "overview.json"
    return _load(path, Overview) if os.path.lexists(path) else None


def read_history(directory: Path, number: int) -> History:
    """A run over time: from its overview, or from the samples of a run that has none. Raises StoreError."""
    overview = read_overview(directory, number)
    if overview is not None:
        return History.of(overview)
    history = History()
    for sample in read_samples(directory, number):
        history.add(sample)
    return history


def read_marks(directory: Path) -> list[Mark]:
    """The marks of a session; lines that can't be read are left out."""
    return list(_readable(directory / "marks.jsonl", Mark))


def find_session(root: Path, name: str) -> Path:
    """The directory of a session; raises StoreError."""
    if not _NAME.fullmatch(name) or not (root / name).is_dir():
        raise StoreError(f"no session {name!r}: cephtui sessions lists them")
    return root / name


def read_notes(directory: Path) -> SessionNotes:
    """What the user has noted of a session, nothing where there is no such file; raises StoreError."""
    path = directory / NOTES_FILE
    return _load(path, SessionNotes) if os.path.lexists(path) else SessionNotes()


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


def left_behind(root: Path) -> list[tuple[Path, Undo]]:
    """What sessions that no process writes any more have created and not removed."""
    found = []
    for path in sorted(root.glob("*/undo.jsonl")):
        if not is_locked(path.parent):
            found += [(path.parent, undo) for undo in pending(path.parent)]
    return found


def unreadable_lists(root: Path) -> list[str]:
    """Why undo lists can't be read at all: what they name may still be there."""
    problems = []
    for path in (directory / "undo.jsonl" for directory in sorted(root.glob("*"))):
        if not os.path.lexists(path):
            continue
        try:
            os.close(open_descriptor(path, DOCUMENT_MOST_BYTES))
        except OSError as error:
            problems.append(f"{path}: {error.strerror}")
    return problems


def pending(directory: Path) -> list[Undo]:
    """What a session has created and not removed, whether a process writes it or not."""
    newest = {(undo.node, undo.target): undo for undo in _readable(directory / "undo.jsonl", Undo)}
    return [undo for undo in newest.values() if not undo.done]
