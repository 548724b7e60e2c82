"""The one writer of a session: what was written survives a crash, a full disk and a second console.

The layout is in ``store``, which reads it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import secrets
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

from cephtui import __version__
from cephtui.analysis.runs.history import History
from cephtui.frozen import dataclass
from cephtui.models import Finding, Mark, Model, NodeEnded, Plan, Run, Sample, Session, StateSample
from cephtui.models.findings.record import RAW_CUT
from cephtui.paths import make_private
from cephtui.reading import open_to_append
from cephtui.sessions.jsonlines import as_json, line, sample_line
from cephtui.sessions.kept import drop_if_nothing, holds_nothing
from cephtui.sessions.names import check_session_name, check_writable
from cephtui.sessions.store import (
    NO_ROOM,
    ROW_FILE,
    STOP_FILE,
    STUDIES_FILE,
    UNDO_FILE,
    StoreError,
    cannot_write,
    cut_off,
    is_locked,
    may_be_unended,
    read_run,
    read_session,
    run_directories,
    state_files,
)
from cephtui.sessions.undo import Undo
from cephtui.tools.base import Stream
from cephtui.writing import write_all, write_whole

if TYPE_CHECKING:
    from cephtui.models.study import SavedStudy

_RESERVE, _RESERVE_BYTES, _LOCK_TRIES = ".reserve", 256 << 10, 5
_TAIL_BYTES = 64 << 10
"""Bytes of the end of a raw output that is stored in part."""
_SPARE_MOST_BYTES, _SPARE_SHARE = 1 << 30, 20
"""Raw output leaves a twentieth of the disk free, or so much."""


@dataclass(frozen=True, slots=True)
class RawLimits:
    """How much raw output of a run is stored; of each stream of a process, with its index."""

    first_bytes: int = 64 << 20
    bytes_per_second: int = 128 << 10
    """Bytes that may be added in each second of the process; several times what a tool prints."""
    spare_bytes: int = 0
    """Bytes that have to be free after it: many times what the samples need."""


@dataclass(slots=True)
class _RawOutput:
    """A stream of a process."""

    said_bytes: int = 0
    stored_bytes: int = 0
    index_bytes: int = 0
    tail: bytes = b""
    is_cut: bool = False
    """Whether it is stored no more, but for its tail."""


def take_lock(directory: Path) -> IO[bytes] | None:
    """The session's lock, held until the file is closed; None where a console writes the session.

    Raises OSError, and StoreError for a session that is read-only.
    """
    check_writable(directory)
    file = open_to_append(directory / "lock")
    for _ in range(_LOCK_TRIES):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(file.fileno()).st_nlink:
                return file
            break  # its session was removed meanwhile
        except OSError:
            time.sleep(0.02)  # a reader that tests the lock holds it for a moment itself
    file.close()
    return None


class RunWriter:
    """Writes one run; every method raises OSError as the file system gives it."""

    def __init__(self, directory: Path, run: Run, reserve: Path, limits: RawLimits) -> None:
        self.directory = directory
        self._reserve, self._limits = reserve, limits
        self._outputs: dict[tuple[str, Stream], _RawOutput] = {}
        self._files: dict[str, IO[bytes]] = {}
        self._history = History()
        directory.mkdir()  # not ``exist_ok``: of a removed session the lock and the undo list are missing
        (directory / "raw").mkdir()
        self.write(run)

    def write(self, run: Run) -> None:
        """The run as it stands; makes room from the reserve where the disk is full."""
        text = as_json(run, indent=1)
        try:
            write_whole(self.directory / "run.json", text)
        except OSError:
            with contextlib.suppress(OSError):
                self._reserve.unlink()
            write_whole(self.directory / "run.json", text)

    def stop_asked(self, reason: str) -> None:
        """Note that its end was asked for, in case the console ends before the run does."""
        with contextlib.suppress(OSError):
            (self.directory / STOP_FILE).write_text(reason)

    def sample(self, sample: Sample) -> None:
        """One line of samples."""
        write_all(self._file("samples.jsonl"), sample_line(sample).encode() + b"\n")
        self._history.add(sample)

    def state(self, sample: StateSample) -> None:
        """One line of what is watched during the run."""
        write_all(self._file(state_files()[type(sample)]), line(sample).encode() + b"\n")

    def node_ended(self, ended: NodeEnded) -> None:
        """One line for a node whose part is over."""
        write_all(self._file("ended.jsonl"), line(ended).encode() + b"\n")

    def raw(self, process: str, stream: Stream, data: bytes, elapsed_seconds: float) -> None:
        """A piece of output of ``NODE`` or ``NODE.prepare``, and when it arrived.

        Of more than is normal, or than the disk has room for, the beginning is stored, and at the end of the run the
        end, in a file of its own.
        """
        output = self._outputs.setdefault((process, stream), _RawOutput())
        output.said_bytes += len(data)
        if not output.is_cut:
            output.is_cut = not self._store(process, stream, output, data, elapsed_seconds)
        if output.is_cut:
            output.tail = (output.tail + data)[-_TAIL_BYTES:]

    def _store(self, process: str, stream: Stream, output: _RawOutput, data: bytes, elapsed_seconds: float) -> bool:
        """Whether there was room for it."""
        offset = output.stored_bytes
        entry = {"stream": stream, "offset": offset, "bytes": len(data), "elapsed_seconds": elapsed_seconds}
        index = json.dumps(entry).encode() + b"\n"
        most = self._limits.first_bytes + self._limits.bytes_per_second * elapsed_seconds
        if offset + output.index_bytes + len(data) + len(index) > most or not self._has_room(len(data)):
            return False
        try:
            file = self._file(f"raw/{process}.{stream}")
            write_all(file, data)
            try:
                write_all(self._file(f"raw/{process}.index.jsonl"), index)
            except OSError:
                file.truncate(offset)  # else it would be in the tail once more
                raise
        except OSError as error:
            if error.errno in NO_ROOM:
                return False  # raw output may be missing: only a sample that can't be stored ends the run
            raise
        output.stored_bytes += len(data)
        output.index_bytes += len(index)
        return True

    def _has_room(self, more_bytes: int) -> bool:
        try:
            disk = os.statvfs(self.directory)
        except OSError:
            return True  # what is the matter shows when it is written
        share = disk.f_blocks * disk.f_frsize // _SPARE_SHARE
        spare = max(self._limits.spare_bytes, min(_SPARE_MOST_BYTES, share))
        return disk.f_bavail * disk.f_frsize >= more_bytes + spare

    def findings(self) -> tuple[Finding, ...]:
        """The finding of output that is stored in part. Called once all output is there: its ends are written now."""
        cut = {f"{process}.{stream}": o for (process, stream), o in self._outputs.items() if o.is_cut}
        ends = {name: self._write_tail(name, output) for name, output in cut.items()}
        lacking = [name for name, output in cut.items() if output.said_bytes > output.stored_bytes + ends[name]]
        if not lacking:
            return ()
        name, output, more = lacking[0], cut[lacking[0]], len(lacking) - 1 or None
        sizes = {"stored_bytes": output.stored_bytes, "said_bytes": output.said_bytes, "end_bytes": ends[name]}
        return (RAW_CUT.found(output=name, others=more, **sizes),)

    def _write_tail(self, name: str, output: _RawOutput) -> int:
        """How many bytes of the end are stored: none where there is no room."""
        left_out = output.said_bytes - output.stored_bytes - len(output.tail)
        content = b"cephtui: %d bytes are left out here\n" % left_out + output.tail
        with contextlib.suppress(OSError):
            write_whole(self.directory / "raw" / f"{name}.tail", content)
            return len(output.tail)
        return 0

    def finish(self, run: Run) -> None:
        """The run with its outcome, and its overview."""
        self.close()
        self.write(run)
        with contextlib.suppress(OSError):  # it can be made again from the samples
            write_whole(self.directory / "overview.json", as_json(self._history.overview()))

    def close(self) -> None:
        """Leave the run as it stands; raises OSError, once all files are closed, for one that is not there any more."""
        with contextlib.ExitStack() as stack:
            for file in self._files.values():
                stack.callback(file.close)
            for name, file in self._files.items():
                if not file.closed and not os.fstat(file.fileno()).st_nlink:
                    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.directory / name))

    def _file(self, name: str) -> IO[bytes]:
        if name not in self._files:
            self._files[name] = open_to_append(self.directory / name)
        return self._files[name]


class SessionWriter:
    """The one writer of a session, from ``open`` to ``close``."""

    def __init__(self, directory: Path, lock: IO[bytes]) -> None:
        self.directory = directory
        self.owner = f"{directory.name}-{secrets.token_hex(16)}"
        """The owner in the mark of all that the session creates; unique, also among sessions of the same name."""
        self._held = lock
        self._run: RunWriter | None = None
        self._reserve = directory / _RESERVE
        self._next = 1 + max((number for number, _ in run_directories(directory)), default=0)

    @property
    def name(self) -> str:
        """The session's name."""
        return self.directory.name

    @classmethod
    def open(cls, root: Path, name: str | None) -> SessionWriter:
        """Open or create a session (by default one named after the time); raises StoreError."""
        check_session_name(root, name)
        try:
            directory = root / name if name else _new_directory(root)
            make_private(directory)
            name = directory.name
            lock = take_lock(directory)
            if lock is None:
                raise StoreError(f"session {name} is being written by another cephtui: choose another --session")
            return cls._prepared(directory, lock)
        except OSError as error:
            raise cannot_write(error, f"session {root / (name or '')}") from None

    @classmethod
    def _prepared(cls, directory: Path, lock: IO[bytes]) -> SessionWriter:
        try:
            (directory / ROW_FILE).unlink(missing_ok=True)  # it is about to become wrong
            if (directory / "session.json").exists():
                read_session(directory)
            else:
                new = Session(session=directory.name, created_at=datetime.now(UTC), cephtui_version=__version__)
                write_whole(directory / "session.json", as_json(new, indent=1))
            writer = cls(directory, lock)
            writer._end_lost_runs()
            # given up when the disk is full, so that a run's outcome can still be written
            write_whole(writer._reserve, "0" * _RESERVE_BYTES)
            return writer
        except BaseException:
            lock.close()
            raise

    def _end_lost_runs(self) -> None:
        """End the runs of consoles that were killed, which would be taken for runs of this one. Raises OSError."""
        for number, path in run_directories(self.directory):
            with contextlib.suppress(StoreError):
                if may_be_unended(path) and (run := read_run(self.directory, number)).outcome is None:
                    self.amend(cut_off(self.directory, run))

    def add_plan(self, plan: Plan) -> None:
        """Keep a plan; raises StoreError."""
        try:
            self._append("plans.jsonl", line(plan))
        except OSError as error:
            raise cannot_write(error, f"session {self.directory}") from None

    def keep_study(self, study: SavedStudy) -> SavedStudy:
        """Keep a study under a name of its own, unless it is kept already; raises OSError and StoreError."""
        from cephtui.sessions.studies import next_name, read_studies, study_in_session

        named = study_in_session(self.directory, study)
        if not named.id:
            named = study.model_copy(update={"id": next_name(read_studies(self.directory))})
            self._append(STUDIES_FILE, line(named))
        return named

    def next_run(self) -> int:
        """The number of the next run; counts on from what the session holds."""
        number, self._next = self._next, self._next + 1
        return number

    def start_run(self, run: Run, limits: RawLimits | None = None) -> RunWriter:
        """Begin to write a run; raises OSError."""
        self._run = RunWriter(self.directory / f"{run.run:03}", run, self._reserve, limits or RawLimits())
        return self._run

    def amend(self, run: Run) -> None:
        """Replace a run that has ended; raises OSError."""
        write_whole(self.directory / f"{run.run:03}" / "run.json", as_json(run, indent=1))

    def undo(self, entry: Undo) -> None:
        """Note what is about to be created, or (``done``) that it has been removed; raises OSError."""
        self._append(UNDO_FILE, line(entry))

    def mark(self, mark: Mark) -> None:
        """Store a mark of the user; raises OSError."""
        self._append("marks.jsonl", line(mark))

    def close(self) -> None:
        """Let go of the session, which is removed where nothing was measured in it.

        What can't be written any more is left as it is.
        """
        with contextlib.suppress(OSError):
            if self._run:
                self._run.close()
        with contextlib.suppress(OSError):
            self._reserve.unlink()
        if not self._held.closed and not drop_if_nothing(self.directory):
            self._keep_row()
        with contextlib.suppress(OSError):
            self._held.close()

    def _keep_row(self) -> None:
        """Keep the session's row, which makes listing quick; without it the runs are read."""
        from cephtui.sessions.row_file import row_to_keep

        with contextlib.suppress(OSError):
            text = row_to_keep(self.directory)
            if text is not None:
                write_whole(self.directory / ROW_FILE, text)

    def _append(self, name: str, text: str) -> None:
        _append_text(self.directory / name, f"{text}\n")


def _new_directory(root: Path) -> Path:
    """A new one, named after the time; another console may start in the same second. Raises OSError."""
    make_private(root)
    base = datetime.now().strftime("%Y-%m-%d-%H%M%S")
    for name in (base, *(f"{base}-{number}" for number in range(2, 100))):
        with contextlib.suppress(FileExistsError):
            (root / name).mkdir(mode=0o700)
            return root / name
    raise FileExistsError(errno.EEXIST, "too many sessions in one second", str(root / base))


def append_lines(path: Path, lines: Iterable[Model]) -> None:
    """Add lines to a file of a session that another process may be writing.

    Raises OSError, and StoreError for a session that is read-only.
    """
    check_writable(path.parent)
    _append_text(path, "".join(line(model) + "\n" for model in lines))


def _append_text(path: Path, text: str) -> None:
    """Whole lines, also behind one that a crash has torn; raises OSError."""
    with open_to_append(path) as file:
        write_all(file, b"\n" * _is_torn(path) + text.encode())
        os.fsync(file.fileno())


def _is_torn(path: Path) -> bool:
    """Whether the last line of a file has no end."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        return bool(size) and os.pread(file.fileno(), 1, size - 1) != b"\n"


def mark_undone(directory: Path, undo: Undo) -> None:
    """Note in a session that no process writes that a leftover of it has been removed; raises OSError.

    It was all that a session holds in which nothing was measured.
    """
    append_lines(directory / UNDO_FILE, [undo.model_copy(update={"done": True})])
    _drop_unheld(directory)


def drop_killed(root: Path) -> None:
    """Of the sessions whose consoles were killed, remove the reserves, and those in which nothing was measured."""
    for path in root.glob(f"*/{_RESERVE}"):
        if not is_locked(path.parent):
            with contextlib.suppress(OSError):
                path.unlink()
            _drop_unheld(path.parent)


def _drop_unheld(directory: Path) -> None:
    """Remove a session that holds nothing, unless a process writes it."""
    with contextlib.suppress(OSError):
        if holds_nothing(directory) and (lock := take_lock(directory)):
            with lock:
                drop_if_nothing(directory)
