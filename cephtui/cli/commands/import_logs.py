"""``cephtui import``: saved output of fio, rados bench and other tools becomes a session."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from pathlib import Path

import click
from rich.text import Text

from cephtui import paths, units
from cephtui.cli.printing import ascii_only, print_lines, print_report
from cephtui.exit_codes import EXIT_FAILED, EXIT_INCOMPLETE
from cephtui.models import Run
from cephtui.models.rows import ImportedFile
from cephtui.reports.runs import draw_session
from cephtui.reports.text import saved_line
from cephtui.sessions.importing import (
    FILE_MOST_BYTES,
    FILES_MOST,
    Importer,
    LogFile,
    Numbering,
    check_new,
    files_of,
    read_together,
)
from cephtui.sessions.store import StoreError
from cephtui.sessions.trees import by_test
from cephtui.terminal import say

_LARGE_BYTES = 4 << 20


def import_logs(files: tuple[Path, ...], session: str | None, dry_run: bool, as_json: bool) -> int:
    """Read all that can be read, say of each other file why not, and keep the runs; the exit code."""
    root = paths.sessions_dir()
    importer = Importer(root, session, files[0])
    numbering, runs, read, others, skipped = Numbering(), [], 0, 0, 0
    try:
        if session:
            check_new(root, session)
        for file, is_named in _log_files(files):
            if (file.is_binary or file.is_beside) and not is_named:
                skipped += file.is_binary
                continue
            found = _numbered(numbering, session, file) if dry_run else importer.add(file)
            runs += found
            read, others = read + bool(found), others + (not found and not file.is_beside)
            _report(file, found, importer.session, as_json)
    except StoreError as error:
        raise click.ClickException(str(error)) from None
    finally:
        importer.close()
    if skipped:
        say(f"{skipped:,} {'files that are' if skipped > 1 else 'file that is'} no text left out")
    if not as_json:
        _print(runs, importer.session)
    return (EXIT_INCOMPLETE if others else 0) if read else EXIT_FAILED


def _log_files(named: Sequence[Path]) -> Iterator[tuple[LogFile, bool]]:
    """Each file, and whether it was named itself; those of a directory are found below it."""
    for is_file, some in groupby(named, Path.is_file):
        if is_file:
            yield from _read(list(some), named)
            continue
        for path in some:
            try:
                found = list(islice(files_of(path), FILES_MOST + 1))
            except OSError as error:
                yield LogFile(path, problem=error.strerror), True
                continue
            if len(found) > FILES_MOST:
                raise StoreError(f"{path}: more than {FILES_MOST:,} files: name its directories one by one")
            if not found:
                yield LogFile(path, problem="there are no files in it"), True
            yield from _read(found, named)


def _read(found: Sequence[Path], named: Sequence[Path]) -> Iterator[tuple[LogFile, bool]]:
    """Those that have been written in one test together."""
    for group in by_test(found):
        for each in group:
            _announce_large(each)
        yield from ((file, file.path in named) for file in read_together(group))


def _announce_large(path: Path) -> None:
    """A file that takes more than a second."""
    with contextlib.suppress(OSError):
        size = path.stat().st_size
        if _LARGE_BYTES < size <= FILE_MOST_BYTES:
            say(f"{path}: reading {units.size(size)} ...")


def _numbered(numbering: Numbering, session: str | None, file: LogFile) -> list[Run]:
    return [numbering.run(session or "imported", file, tool, found) for tool, found in file.runs]


def _report(file: LogFile, found: Sequence[Run], session: str | None, as_json: bool) -> None:
    """A file as soon as it has been read; in words on stderr."""
    if as_json:
        numbers = tuple(run.run for run in found)
        print_lines([*found, ImportedFile(path=str(file.path), session=session, runs=numbers, problem=file.problem)])
    elif file.problem:
        say(f"{file.path}: {file.problem}")
    else:
        say(f"{file.path}: {len(found):,} run{'s' * (len(found) != 1)}")


def _print(runs: Sequence[Run], session: str | None) -> None:
    if not runs:
        return
    print_report(draw_session(runs, ascii_only=ascii_only(), saved=session is not None))
    last = saved_line(session, len(runs)) if session else "nothing is saved: leave out --dry-run to keep them"
    print_report(Text(last, style="dim"))
