"""Sessions on disk: one directory each, plain text, written so that a crash loses at most a torn line.

SESSION/session.json      what it is
        lock              held while a console writes the session
        plans.jsonl       every plan, as it was shown
        undo.jsonl        what was created and must be removed again, and what has been
        001/run.json      a run; without an outcome it is in progress or lost
            samples.jsonl the public samples
            cluster.jsonl what the cluster said of itself meanwhile
            overview.json at the end: some 2,000 points of each series
            raw/          each node's output verbatim, and when which piece arrived
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from cephtui import stats, units
from cephtui.jsonlines import parse_sample
from cephtui.models import SCHEMA_VERSION, ClusterSample, Model, Node, Plan, Run, Sample, Session, SessionRow

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SLACK_BYTES = 512 << 10

M = TypeVar("M", bound=Model)


class StoreError(Exception):
    """A session can't be opened, read or written; the text names it, the cause and the next step."""


class Overview(Model):
    """What listing and opening a run read instead of its samples."""

    schema_version: int = SCHEMA_VERSION
    series: dict[str, list[stats.Point]]
    """``read.iops`` and the like: elapsed seconds, least, mean and greatest value."""


class Undo(Model):
    """Something that was created outside the session's directory."""

    node: str
    target: str
    at: Node | None = None
    """How the node is reached; null for the console's own machine."""
    done: bool = False


def is_locked(directory: Path) -> bool:
    """Whether somebody writes the session now."""
    try:
        file = (directory / "lock").open("rb")
    except OSError:
        return False
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
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
        data = json.loads(path.read_bytes())
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
    except (ValueError, AttributeError, RecursionError) as error:
        raise StoreError(f"{path}: not readable: {error}") from None


def run_directories(directory: Path) -> list[tuple[int, Path]]:
    """The numbers of a session's runs, and where they are."""
    found = [(int(path.name), path) for path in directory.iterdir() if path.name.isdecimal() and path.is_dir()]
    return sorted(found)


def read_session(directory: Path) -> Session:
    """What a session is; raises StoreError."""
    return _load(directory / "session.json", Session)


def read_run(directory: Path, number: int) -> Run:
    """A run; one that nobody writes any more and that has no outcome is ``lost``. Raises StoreError."""
    run = _load(directory / f"{number:03}" / "run.json", Run)
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
    return any((run / name).exists() for name in ("run.json", "samples.jsonl"))


def read_samples(directory: Path, number: int) -> Iterator[Sample]:
    """A run's samples up to the last complete line; raises StoreError for a line that is none."""
    path = directory / f"{number:03}" / "samples.jsonl"
    try:
        with path.open("rb") as file:
            for row, text in enumerate(file, 1):
                if not text.endswith(b"\n"):
                    return
                yield _parse_line(path, row, text)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}") from None


def read_cluster(directory: Path, number: int) -> Iterator[ClusterSample]:
    """What the cluster said during a run; lines that can't be read are left out."""
    path = directory / f"{number:03}" / "cluster.jsonl"
    with contextlib.suppress(OSError):
        for text in path.read_bytes().splitlines():
            with contextlib.suppress(ValueError):
                yield ClusterSample.model_validate_json(text)


def _parse_line(path: Path, row: int, text: bytes) -> Sample:
    try:
        return parse_sample(text)
    except ValueError as error:
        raise StoreError(f"{path}: line {row}: {error}") from None


def read_overview(directory: Path, number: int) -> Overview | None:
    """A run's overview; None where it did not come to its end. Raises StoreError."""
    path = directory / f"{number:03}" / "overview.json"
    return _load(path, Overview) if path.exists() else None


def iops_history(directory: Path, number: int) -> list[float | None]:
    """Mean IOPS over time, reads and writes together, ramp included; raises StoreError.

    From the overview, or from the samples of a run that has none.
    """
    overview = read_overview(directory, number)
    if overview is None:
        merged = (s for s in read_samples(directory, number) if s.node is None and s.phase != "prepare")
        return [sum(i.iops for i in (s.read, s.write) if i) for s in merged]
    sums: dict[float, float] = {}
    for direction in ("read", "write"):
        for elapsed, _, mean, _ in overview.series.get(f"{direction}.iops", []):
            sums[elapsed] = sums.get(elapsed, 0.0) + mean
    return [sums[elapsed] for elapsed in sorted(sums)]


def find_session(root: Path, name: str) -> Path:
    """The directory of a session; raises StoreError."""
    if not _NAME.fullmatch(name) or not (root / name).is_dir():
        raise StoreError(f"no session {name!r}: cephtui sessions lists them")
    return root / name


def list_sessions(root: Path) -> list[SessionRow]:
    """Every session, the oldest first; a broken one is listed with what is wrong."""
    if not root.is_dir():
        return []
    rows = [_row(path) for path in root.iterdir() if not path.name.startswith(".") and _is_session(path)]
    return sorted(rows, key=lambda row: (row.created_at or datetime.min.replace(tzinfo=UTC), row.session))


def _is_session(directory: Path) -> bool:
    """False for a directory where the disk was too full to begin one."""
    return directory.is_dir() and any(path.name != "lock" for path in directory.iterdir())


def _row(directory: Path) -> SessionRow:
    base = SessionRow(session=directory.name, path=str(directory))
    try:
        session = read_session(directory)
        runs, broken = read_runs(directory)
    except StoreError as error:
        return base.model_copy(update={"error": str(error)})
    outcomes = [run.outcome or "running" for run in runs]
    return base.model_copy(
        update={
            "created_at": session.created_at,
            "runs": len(runs),
            "presets": tuple(dict.fromkeys(run.preset for run in runs)),
            "outcomes": {outcome: outcomes.count(outcome) for outcome in dict.fromkeys(outcomes)},
            "writing": is_locked(directory),
            "error": "; ".join(map(str, broken)) or None,
        }
    )


def left_behind(root: Path) -> list[tuple[Path, Undo]]:
    """What sessions that nobody writes any more have created and not removed."""
    found = []
    for path in sorted(root.glob("*/undo.jsonl")):
        if not is_locked(path.parent):
            found += [(path.parent, undo) for undo in _pending(path)]
    return found


def _pending(path: Path) -> list[Undo]:
    pending: dict[tuple[str, str], Undo] = {}
    with contextlib.suppress(OSError):
        for text in path.read_bytes().splitlines():
            with contextlib.suppress(ValueError):  # a torn line
                undo = Undo.model_validate_json(text)
                pending[undo.node, undo.target] = undo
    return [undo for undo in pending.values() if not undo.done]
