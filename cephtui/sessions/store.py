"""Sessions on disk: one directory each, plain text, written so that a crash loses at most a torn line.

SESSION/session.json      what it is
        notes.json        what the user has noted of it
        row.json          its line of the listing, while no process writes it; can be made again
        lock              held while a console writes the session
        plans.jsonl       every plan, as it was shown
        marks.jsonl       the marks of the user, and when
        verdicts.jsonl what checks have said of its runs, and what was said of what was expected of them
        studies.jsonl     what was ordered as a whole, a study each, with what has not been measured yet
        changes.jsonl     commands of the user that made the change, and whether they were undone
        undo.jsonl        what was created and must be removed again, and what has been
        001/run.json      a run; without an outcome it is in progress, or its console ended before it
            stop          that its end was asked for, and the reason where it was not the user's wish
            samples.jsonl the public samples
            cluster.jsonl the state of the cluster during the run
            nodes.jsonl   what the nodes did beside the benchmark
            osds.jsonl    what the OSDs of the pool counted
            ended.jsonl   when the part of each of several nodes was over, and why
            overview.json at the end: its curves, thinned
            raw/          each node's output verbatim, and when which piece arrived
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from cephtui import models, units
from cephtui.printable import one_line, printable
from cephtui.reading import (
    DOCUMENT_MOST_BYTES,
    LINE_MOST_BYTES,
    SERIES_MOST_BYTES,
    load_json,
    open_descriptor,
    read_bytes,
    read_lines,
)

if TYPE_CHECKING:
    from pydantic import ValidationError

    from cephtui.analysis.runs.history import History, Overview
    from cephtui.models import Mark, Model, Plan, Run, Sample, Session, SessionNotes, StateSample
    from cephtui.models.expectation import Expected
    from cephtui.models.verdict import Verdict

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SLACK_BYTES = 512 << 10

M = TypeVar("M", bound="Model")
W = TypeVar("W", bound="StateSample")
NOTES_FILE = "notes.json"
ROW_FILE = "row.json"
STUDIES_FILE, VERDICTS_FILE, UNDO_FILE = "studies.jsonl", "verdicts.jsonl", "undo.jsonl"
STOP_FILE = "stop"
_UNSAVED = "cephtui ended before the results were saved"
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


@cache
def state_files() -> Mapping[type[StateSample], str]:
    """The files of a run with what was watched during it."""
    return MappingProxyType(
        {models.ClusterSample: "cluster.jsonl", models.NodeSample: "nodes.jsonl", models.OsdSample: "osds.jsonl"}
    )


class StoreError(Exception):
    """A session can't be opened, read or written; the text names it, the cause and the next step."""


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
        raise cannot_write(error, f"sessions in {root}") from None
    if free < needed:
        raise StoreError(
            f"not enough space for the session in {root}: needs about {units.size(needed)}, "
            f"{units.size(free)} free: free up space, choose a shorter run, or set CEPHTUI_DATA_DIR"
        )


def unwritable(error: OSError, what: str = "the session") -> str:
    """Why sessions can't be written where they are, in a line; with the file, where that is known."""
    file = str(error.filename or "")
    return f"can't write {what}: {error.strerror or error}{f' ({file})' * bool(file and not what.endswith(file))}"


def cannot_write(error: OSError, what: str = "the session") -> StoreError:
    """Why a directory can't be written, with what helps."""
    room = "free up space, or " if error.errno in NO_ROOM else ""
    return StoreError(f"{unwritable(error, what)}: {room}set CEPHTUI_DATA_DIR to another directory")


def check_name(name: str | None) -> None:
    """Raises StoreError for a name that no session can have."""
    if name is not None and not _NAME.fullmatch(name):
        raise StoreError(f"session name {name!r}: expected up to 64 letters, digits, dots, dashes and underscores")


def load_model(path: Path, model: type[M]) -> M:
    """A model's file; raises StoreError naming it."""
    from pydantic import ValidationError

    try:
        data = load_json(read_bytes(path))
        version = data.get("schema_version", models.SCHEMA_VERSION)
        if isinstance(version, int) and version > models.SCHEMA_VERSION:
            raise StoreError(f"{path}: written by a newer cephtui (schema {version}): update cephtui to read it")
        return model.model_validate(data)
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}") from None
    except ValidationError as error:
        raise StoreError(f"{path}: {first_problem(error)}") from None
    except (ValueError, AttributeError) as error:
        raise StoreError(f"{path}: not readable: {error}") from None


def first_problem(error: ValidationError) -> str:
    """The first thing that is wrong with a model, and where: ``goal.most: Input should be ...``."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    problem = first["msg"].removeprefix("Value error, ")
    return f"{where}: {problem}" if where else problem


def run_directories(directory: Path) -> list[tuple[int, Path]]:
    """The numbers of a session's runs, with their directories."""
    directories = [(int(path.name), path) for path in directory.iterdir() if path.name.isdecimal() and path.is_dir()]
    return sorted((number, path) for number, path in directories if path.name == f"{number:03}")


def read_session(directory: Path) -> Session:
    """The session of a directory; raises StoreError."""
    return load_model(directory / "session.json", models.Session)


def read_run(directory: Path, number: int) -> Run:
    """A run; one without outcome that no process writes any more is cut off. Raises StoreError."""
    run = load_model(directory / f"{number:03}" / "run.json", models.Run)
    if (run.session, run.run) != (printable(directory.name), number):  # the session, or the run, is renamed or copied
        run = run.model_copy(update={"session": printable(directory.name), "run": number})
    from cephtui.models.findings.measurement import IN_FLIGHT

    if any(finding.code == IN_FLIGHT.code for finding in run.findings):
        from cephtui.analysis.runs.completed import with_completed  # loads the tools, and few runs have it

        run = with_completed(run)
    return run if run.outcome or is_locked(directory) else cut_off(directory, run)


def may_be_unended(run: Path) -> bool:
    """Whether a run has no outcome, or only seems so; quick, since there may be a thousand."""
    try:
        return b'"outcome": null' in read_bytes(run / "run.json")
    except OSError:
        return False


def cut_off(directory: Path, run: Run) -> Run:
    """A run whose console ended before it: ``stopped`` where its end had been asked for, else ``lost``."""
    try:
        reason = one_line(read_bytes(directory / f"{run.run:03}" / STOP_FILE).decode(errors="replace").strip())
    except OSError:
        return run.model_copy(update={"outcome": "lost", "error": "cephtui ended during the run"})
    return run.model_copy(update={"outcome": "stopped", "error": f"{reason}; {_UNSAVED}" if reason else _UNSAVED})


def read_runs(
    directory: Path, known_runs: Mapping[int, Run] = MappingProxyType({})
) -> tuple[list[Run], list[StoreError]]:
    """The runs of a session in order, and what is wrong with those that can't be read; raises StoreError.

    ``known_runs``, by their numbers, are not read again.
    """
    runs: list[Run] = []
    broken: list[StoreError] = []
    try:
        numbers = [number for number, path in run_directories(directory) if _begun(path)]
    except OSError as error:
        raise StoreError(f"{directory}: {error.strerror}") from None
    for number in numbers:
        try:
            runs.append(known_runs[number] if number in known_runs else read_run(directory, number))
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


def read_states(directory: Path, number: int, model: type[W]) -> Iterator[W]:
    """What was watched during a run, by its model in ``state_files``; lines that can't be read are left out."""
    return readable_lines(directory / f"{number:03}" / state_files()[model], model, SERIES_MOST_BYTES)


def readable_lines(
    path: Path, model: type[M], most_bytes: int = DOCUMENT_MOST_BYTES, line_most_bytes: int = LINE_MOST_BYTES
) -> Iterator[M]:
    """The lines of a file that are what they should be, none where there is no such file."""
    with contextlib.suppress(OSError):
        for text in read_lines(path, most_bytes, line_most_bytes):
            with contextlib.suppress(ValueError):
                yield model.model_validate_json(text)


def _parse_line(path: Path, row: int, text: bytes) -> Sample:
    from cephtui.sessions.jsonlines import parse_sample

    try:
        return parse_sample(text)
    except ValueError as error:
        raise StoreError(f"{path}: line {row}: {error}") from None


def read_overview(directory: Path, number: int) -> Overview | None:
    """A run's overview; None where it did not come to its end. Raises StoreError."""
    from cephtui.analysis.runs.history import Overview

    path = directory / f"{number:03}" / "overview.json"
    return load_model(path, Overview) if os.path.lexists(path) else None


def read_history(directory: Path, number: int) -> History:
    """A run over time: from its overview, or from the samples of a run that has none. Raises StoreError."""
    from cephtui.analysis.runs.history import History

    overview = read_overview(directory, number)
    if overview is not None:
        return History.of(overview)
    history = History()
    for sample in read_samples(directory, number):
        history.add(sample)
    return history


def read_marks(directory: Path) -> list[Mark]:
    """The marks of a session; lines that can't be read are left out."""
    return list(readable_lines(directory / "marks.jsonl", models.Mark))


def read_verdicts(directory: Path) -> list[Verdict]:
    """The verdicts of checks on the runs of a session; lines that can't be read, and those of answers, are left out."""
    from cephtui.models.verdict import Verdict

    return list(readable_lines(directory / VERDICTS_FILE, Verdict))


def read_expected(directory: Path) -> list[Expected]:
    """The judged expectations of the runs of a session; lines that can't be read are left out."""
    from cephtui.models.expectation import Expected

    return list(readable_lines(directory / VERDICTS_FILE, Expected))


def session_names(root: Path) -> list[str]:
    """The names of all sessions, sorted; none where their directory can't be read."""
    with contextlib.suppress(OSError):
        return sorted(path.name for path in root.iterdir() if _NAME.fullmatch(path.name) and path.is_dir())
    return []


def by_last(at: datetime | None, name: str) -> tuple[datetime, str]:
    """The sort key of sessions, with ``last_at`` of each: the last of all is ``last``. The name decides a tie."""
    return at or datetime.min.replace(tzinfo=UTC), name


def last_at(directory: Path) -> datetime | None:
    """When its newest run began, or the session itself where that is later, as an imported one; None where unknown.

    By what stands in it: files may be copied, and notes, marks and checks of saved runs don't count.
    """
    with contextlib.suppress(OSError):
        runs = (_time(path / "run.json", "started_at") for _, path in run_directories(directory)[::-1])
        times = (_time(directory / "session.json", "created_at"), next(filter(None, runs), None))
        return max(filter(None, times), default=None)
    return None


def _time(path: Path, field: str) -> datetime | None:
    """A time of a file, without the rest of it: all sessions are looked at; None where it can't be read."""
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
        time = datetime.fromisoformat(load_json(read_bytes(path))[field])
        return time if time.tzinfo else None
    return None


def newest_run(directory: Path) -> int:
    """The number of a session's newest run; raises StoreError where it has none."""
    try:
        return [number for number, path in run_directories(directory) if _begun(path)][-1]
    except (IndexError, OSError):
        raise StoreError(f"session {directory.name} has no runs: cephtui sessions lists others") from None


def count_runs(directory: Path) -> int:
    """How many runs a session has; 0 where it can't be read."""
    with contextlib.suppress(OSError):
        return sum(_begun(path) for _, path in run_directories(directory))
    return 0


def read_notes(directory: Path) -> SessionNotes:
    """The user's notes on a session, empty where there is no such file; raises StoreError."""
    path = directory / NOTES_FILE
    return load_model(path, models.SessionNotes) if os.path.lexists(path) else models.SessionNotes()
