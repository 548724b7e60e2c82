"""Sessions on disk: one directory each, plain text, written so that a crash loses at most a torn line.

SESSION/session.json      what it is
        lock              held while a console writes the session
        plans.jsonl       every plan, as it was shown
        undo.jsonl        what was created and must be removed again, and what has been
        001/run.json      a run; without an outcome it is in progress or lost
            samples.jsonl the public samples
            overview.json at the end: some 2,000 points of each series
            raw/          each node's output verbatim, and when which piece arrived
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TypeVar

from pydantic import ValidationError

from cephtui import __version__, stats, units
from cephtui.jsonlines import line, parse_sample, sample_line
from cephtui.models import SCHEMA_VERSION, Model, Plan, Run, Sample, Session, SessionRow
from cephtui.tools import Stream

OVERVIEW_POINTS = 2000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_RESERVE_BYTES = 256 << 10
_SLACK_BYTES = 512 << 10
_LOCK_TRIES = 5

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
    done: bool = False


# ---------------------------------------------------------------------------------------------- writing


def _write_all(file: IO[bytes], data: bytes) -> None:
    """To an unbuffered file, so that what was written survives the process; a full disk takes all of it or nothing."""
    start, view = file.tell(), memoryview(data)
    try:
        while view:
            view = view[file.write(view) :]
    except OSError:
        file.truncate(file.seek(start))
        raise


def _write_whole(path: Path, text: str) -> None:
    """A file that is there complete or not at all."""
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with partial.open("wb", buffering=0) as file:
            _write_all(file, text.encode())
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _lock(directory: Path) -> IO[bytes] | None:
    """The session's lock, or None where another process holds it."""
    file = (directory / "lock").open("ab")
    for _ in range(_LOCK_TRIES):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        except OSError:
            time.sleep(0.02)  # a reader that looks whether it is held holds it for a moment itself
    file.close()
    return None


def _is_locked(directory: Path) -> bool:
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


class RunWriter:
    """Writes one run; every method raises OSError as the file system gives it."""

    def __init__(self, directory: Path, run: Run, reserve: Path) -> None:
        self.directory = directory
        self._reserve = reserve
        self._offsets: dict[tuple[str, Stream], int] = {}
        self._files: dict[str, IO[bytes]] = {}
        self._series: dict[str, list[tuple[float, float]]] = {}
        (directory / "raw").mkdir(parents=True)
        self.write(run)

    def write(self, run: Run) -> None:
        """The run as it stands; makes room from the reserve where the disk is full."""
        text = run.model_dump_json(indent=1)
        try:
            _write_whole(self.directory / "run.json", text)
        except OSError:
            self._reserve.unlink(missing_ok=True)
            _write_whole(self.directory / "run.json", text)

    def sample(self, sample: Sample) -> None:
        """One line of samples."""
        _write_all(self._file("samples.jsonl"), sample_line(sample).encode() + b"\n")
        if sample.node is None and sample.phase != "prepare":
            self._remember(sample)

    def raw(self, process: str, stream: Stream, data: bytes, elapsed_seconds: float) -> None:
        """A piece of output of ``NODE`` or ``NODE.prepare``, and when it arrived."""
        offset = self._offsets.get((process, stream), 0)
        _write_all(self._file(f"raw/{process}.{stream}"), data)
        self._offsets[process, stream] = offset + len(data)
        entry = {"stream": stream, "offset": offset, "bytes": len(data), "elapsed_seconds": elapsed_seconds}
        _write_all(self._file(f"raw/{process}.index.jsonl"), json.dumps(entry).encode() + b"\n")

    def finish(self, run: Run) -> None:
        """The run with its outcome, and its overview."""
        self.close()
        self.write(run)
        overview = Overview(series={k: stats.thin(v, OVERVIEW_POINTS) for k, v in self._series.items()})
        with contextlib.suppress(OSError):  # it can be made again from the samples
            _write_whole(self.directory / "overview.json", overview.model_dump_json())

    def close(self) -> None:
        """Leave the run as it stands."""
        for file in self._files.values():
            file.close()

    def _file(self, name: str) -> IO[bytes]:
        if name not in self._files:
            self._files[name] = (self.directory / name).open("ab", buffering=0)
        return self._files[name]

    def _remember(self, sample: Sample) -> None:
        for direction, interval in (("read", sample.read), ("write", sample.write)):
            if interval is None:
                continue
            for figure in ("iops", "bandwidth_bytes", "latency_mean_seconds", "latency_p99_seconds"):
                value = getattr(interval, figure)
                if value is not None:
                    series = self._series.setdefault(f"{direction}.{figure}", [])
                    series.append((sample.elapsed_seconds, value))


class SessionWriter:
    """The one writer of a session, from ``open`` to ``close``."""

    def __init__(self, directory: Path, lock: IO[bytes]) -> None:
        self.directory = directory
        self._held = lock
        self._run: RunWriter | None = None
        self._reserve = directory / ".reserve"
        self._next = 1 + max((number for number, _ in _run_directories(directory)), default=0)

    @property
    def name(self) -> str:
        """The session's name."""
        return self.directory.name

    @classmethod
    def open(cls, root: Path, name: str | None) -> SessionWriter:
        """Open or create a session (by default one named after the time); raises StoreError."""
        check_name(name)
        name = name or _free_name(root)
        directory = root / name
        try:
            directory.mkdir(parents=True, exist_ok=True)
            lock = _lock(directory)
            if lock is None:
                raise StoreError(f"session {name} is being written by another cephtui: choose another --session")
            return cls._prepared(directory, lock)
        except OSError as error:
            raise StoreError(f"can't write session {directory}: {error.strerror}") from None

    @classmethod
    def _prepared(cls, directory: Path, lock: IO[bytes]) -> SessionWriter:
        try:
            if (directory / "session.json").exists():
                read_session(directory)
            else:
                new = Session(session=directory.name, created_at=datetime.now(UTC), cephtui_version=__version__)
                _write_whole(directory / "session.json", new.model_dump_json(indent=1))
            writer = cls(directory, lock)
            # given up when the disk is full, so that a run's outcome can still be written
            _write_whole(writer._reserve, "0" * _RESERVE_BYTES)
            return writer
        except BaseException:
            lock.close()
            raise

    def add_plan(self, plan: Plan) -> None:
        """Keep a plan; raises StoreError."""
        try:
            self._append("plans.jsonl", line(plan))
        except OSError as error:
            raise StoreError(f"can't write session {self.directory}: {error.strerror}") from None

    def next_run(self) -> int:
        """The number of the next run; counts on from what the session holds."""
        number, self._next = self._next, self._next + 1
        return number

    def start_run(self, run: Run) -> RunWriter:
        """Begin to write a run; raises OSError."""
        self._run = RunWriter(self.directory / f"{run.run:03}", run, self._reserve)
        return self._run

    def undo(self, entry: Undo) -> None:
        """Note what is about to be created, or (``done``) that it has been removed; raises OSError."""
        self._append("undo.jsonl", line(entry))

    def close(self) -> None:
        """Let go of the session."""
        if self._run:
            self._run.close()
        self._reserve.unlink(missing_ok=True)
        self._held.close()

    def _append(self, name: str, text: str) -> None:
        with (self.directory / name).open("ab", buffering=0) as file:
            _write_all(file, text.encode() + b"\n")
            os.fsync(file.fileno())


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


def _free_name(root: Path) -> str:
    base = datetime.now().strftime("%Y-%m-%d-%H%M%S")
    names = [base, *(f"{base}-{number}" for number in range(2, 100))]
    return next(name for name in names if not (root / name).exists())


# ---------------------------------------------------------------------------------------------- reading


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


def _run_directories(directory: Path) -> list[tuple[int, Path]]:
    found = [(int(path.name), path) for path in directory.iterdir() if path.name.isdecimal() and path.is_dir()]
    return sorted(found)


def read_session(directory: Path) -> Session:
    """What a session is; raises StoreError."""
    return _load(directory / "session.json", Session)


def read_run(directory: Path, number: int) -> Run:
    """A run; one that nobody writes any more and that has no outcome is ``lost``. Raises StoreError."""
    run = _load(directory / f"{number:03}" / "run.json", Run)
    if run.outcome is None and not _is_locked(directory):
        return run.model_copy(update={"outcome": "lost", "error": "the console ended during the run"})
    return run


def read_runs(directory: Path) -> list[Run]:
    """All runs of a session in order; raises StoreError for a broken one."""
    runs = [number for number, path in _run_directories(directory) if _begun(path)]
    return [read_run(directory, number) for number in runs]


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
    columns = [[point[2] for point in overview.series.get(f"{d}.iops", [])] for d in ("read", "write")]
    return [sum(values) for values in itertools.zip_longest(*columns, fillvalue=0.0)]


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
        runs = read_runs(directory)
    except StoreError as error:
        return base.model_copy(update={"error": str(error)})
    outcomes = [run.outcome or "running" for run in runs]
    return base.model_copy(
        update={
            "created_at": session.created_at,
            "runs": len(runs),
            "presets": tuple(dict.fromkeys(run.preset for run in runs)),
            "outcomes": {outcome: outcomes.count(outcome) for outcome in dict.fromkeys(outcomes)},
            "writing": _is_locked(directory),
        }
    )


def left_behind(root: Path) -> list[tuple[Path, Undo]]:
    """What sessions that nobody writes any more have created and not removed."""
    found = []
    for path in sorted(root.glob("*/undo.jsonl")):
        if not _is_locked(path.parent):
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


def mark_undone(directory: Path, undo: Undo) -> None:
    """Note in a session that nobody writes that something it left behind has been removed; raises OSError."""
    with (directory / "undo.jsonl").open("ab", buffering=0) as file:
        _write_all(file, line(undo.model_copy(update={"done": True})).encode() + b"\n")
