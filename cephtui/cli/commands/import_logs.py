"""``cephtui import``: saved output of fio, rados bench and other tools becomes a session."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from pathlib import Path

import click
from rich.text import Text

from cephtui import paths, units
from cephtui.cli.emit import emit_table
from cephtui.cli.printing import print_blocks, print_lines, print_report
from cephtui.exit_codes import EXIT_FAILED, EXIT_INCOMPLETE
from cephtui.frozen import dataclass
from cephtui.models import Run
from cephtui.models.rows import ImportedFile, ImportedPart
from cephtui.reports.views.listings import parts_blocks
from cephtui.reports.views.runs import session_view
from cephtui.reports.words.text import saved_line
from cephtui.sessions.imported_parts import imported_parts
from cephtui.sessions.importing import Importer, Numbering, check_new
from cephtui.sessions.log_files import FILE_MOST_BYTES, FILES_MOST, LogFile, files_of, read_together
from cephtui.sessions.store import StoreError
from cephtui.sessions.trees import by_test
from cephtui.terminal import say

_LARGE_BYTES = 4 << 20


def import_logs(files: tuple[Path, ...], session: str | None, dry_run: bool, as_json: bool) -> int:
    """Read all that can be read, say what each file has and what was not read, and keep the runs; the exit code."""
    root = paths.sessions_dir()
    importer = Importer(root, session, files[0])
    numbering, done = Numbering(), _Done(as_json)
    try:
        if session:
            check_new(root, session)
        for file in _log_files(files):
            if isinstance(file, _LeftOut):
                done.leave_out(file)
            else:
                done.add(file, _numbered(numbering, session, file) if dry_run else importer.add(file), importer.session)
    except StoreError as error:
        raise click.ClickException(str(error)) from None
    finally:
        importer.close()
    done.show(importer.session)
    return done.exit_code


@dataclass(frozen=True, slots=True)
class _LeftOut:
    """What was found below a directory and is not to be imported."""

    path: Path
    why: str
    is_beside: bool = False
    """Whether it belongs to a file beside it, which is imported."""


class _Done:
    """What has been read so far: as JSON each file is printed at once, for people all of them at the end."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._runs: list[Run] = []
        self._parts: list[ImportedPart] = []
        self._left_out = Counter[str]()
        self._is_incomplete = False

    def add(self, file: LogFile, runs: Sequence[Run], session: str | None) -> None:
        """A file, and what was made of its runs."""
        parts = imported_parts(file, runs)
        self._runs += runs
        self._parts += parts
        self._is_incomplete |= any(part.lost for part in parts) or (bool(file.problem) and not file.is_beside)
        if self._as_json:
            numbers = tuple(run.run for run in runs)
            whole = ImportedFile(path=str(file.path), session=session, runs=numbers, problem=file.problem)
            print_lines([*runs, *(part for part in parts if part.line is not None), whole])

    def leave_out(self, left_out: _LeftOut) -> None:
        """Of many only their number is shown."""
        self._left_out["belongs to the output in the same directory" if left_out.is_beside else left_out.why] += 1
        if self._as_json:
            why = left_out.why if left_out.is_beside else f"left out: {left_out.why}"
            print_lines([ImportedFile(path=str(left_out.path), problem=why)])

    @property
    def exit_code(self) -> int:
        """Whether all was read, some of it, or nothing."""
        if not self._runs:
            return EXIT_FAILED
        return EXIT_INCOMPLETE if self._is_incomplete else 0

    def show(self, session: str | None) -> None:
        """All of it, for people."""
        if not self._as_json:
            left_out = [f"{why} ({number:,})" for why, number in self._left_out.items()]
            print_blocks(parts_blocks(self._parts, left_out))
            _print(self._runs, session)
        if not self._runs:
            say("nothing was imported")


def _log_files(named: Sequence[Path]) -> Iterator[LogFile | _LeftOut]:
    """Each file as it was read, of a directory those below it; files that are named in a row may be of one test."""
    for is_file, some in groupby(named, Path.is_file):
        if is_file:
            yield from _read(list(some), named)
            continue
        for path in some:
            try:
                paths_below = list(islice(files_of(path), FILES_MOST + 1))
            except OSError as error:
                yield LogFile(Path(error.filename or path), problem=error.strerror)
                continue
            if len(paths_below) > FILES_MOST:
                raise StoreError(f"{path}: more than {FILES_MOST:,} files: name its directories one by one")
            files = [file_path for file_path, why in paths_below if why is None]
            if not files:
                yield LogFile(path, problem="it has no files")
            yield from (_LeftOut(file_path, why) for file_path, why in paths_below if why)
            yield from _read(files, named)


def _read(files: Sequence[Path], named: Sequence[Path]) -> Iterator[LogFile | _LeftOut]:
    """Those that have been written in one test together; what is no text is a problem only where it was named."""
    for group in by_test(files):
        for path in group:
            _announce_large(path)
        for file in read_together(group):
            is_left_out = (file.is_binary or file.is_beside) and file.path not in named
            yield _LeftOut(file.path, file.problem or "", is_beside=file.is_beside) if is_left_out else file


def _announce_large(path: Path) -> None:
    """A file that takes more than a second."""
    with contextlib.suppress(OSError):
        size = path.stat().st_size
        if _LARGE_BYTES < size <= FILE_MOST_BYTES:
            say(f"{path}: reading {units.size(size)} ...")


def _numbered(numbering: Numbering, session: str | None, file: LogFile) -> list[Run]:
    return [numbering.run(session or "imported", file, tool, run) for tool, run in file.runs]


def _print(runs: Sequence[Run], session: str | None) -> None:
    if not runs:
        return
    emit_table(session_view(runs, is_saved=session is not None))
    last = saved_line(session, len(runs)) if session else "nothing is saved: leave out --dry-run to import them"
    print_report(Text(last, style="dim"))
