"""Files that are to be imported: which there are, and the runs that are found in each, or why there are none."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from pathlib import Path

from cephtui.frozen import dataclass
from cephtui.reading import open_regular, read_bytes
from cephtui.sessions.fio_logs import why_no_run, with_seconds
from cephtui.sessions.trees import heading_of, is_beside, join_clients
from cephtui.tools import TOOLS
from cephtui.tools.dates import dated
from cephtui.tools.headings import places
from cephtui.tools.logs import FoundRun, Log, read_log
from cephtui.tools.saved import JOB_FILES, SAVED
from cephtui.tools.unread import Unread, find_unread, problem_of

FILE_MOST_BYTES = 32 << 20
"""Bytes of a log. An hour of fio's json+ with a status each second has 100 MB, and can be cut."""
_CUT = "split a file with several runs with split or csplit"
_SMALLER = f"the end of the file has the totals (tail -c 30M FILE > end.log), {_CUT}"
"""What to do with a log that is too large."""
FILES_MOST = 10_000
"""The greatest number of files of a directory."""
NOTHING_FOUND = f"no output found of {', '.join(TOOLS[name].title for name in SAVED)}"
HIDDEN, LINKED = "hidden", "a link to a directory"
"""Why a file or directory below a directory is left out."""
_HEAD_BYTES = 4096
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""The marks at the start of UTF-16 text, as shells of Windows write it."""


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file with what was read from it."""

    path: Path
    text: str = ""
    runs: tuple[tuple[str, FoundRun], ...] = ()
    """The runs, each with the name of its tool, in the order of the file."""
    unread: tuple[Unread, ...] = ()
    """Lines that look like output of a benchmark, or its command, and are in no run."""
    problem: str | None = None
    """Why the file has no runs."""
    modified_at: datetime | None = None
    is_binary: bool = False
    by_node: Mapping[str, str] = field(default_factory=dict)
    """The text of each node, where a run on several nodes has a file of each."""
    is_beside: bool = False
    """Whether the file belongs to the run of a file beside it."""


def files_of(path: Path) -> Iterator[tuple[Path, str | None]]:
    """A file itself, or all files below a directory, sorted, each with why it is left out, if so; raises OSError."""
    if not path.is_dir():
        yield path, None
        return
    for folder, names, files in os.walk(path, onerror=_raise):
        for name in sorted((*names, *files)):
            entry = Path(folder) / name
            if name.startswith("."):
                yield entry, HIDDEN
            elif name in files:
                yield entry, None
            elif entry.is_symlink():
                yield entry, LINKED
        names[:] = sorted(name for name in names if not name.startswith("."))


def _raise(error: OSError) -> None:
    raise error


def read_log_file(path: Path) -> LogFile:
    """The runs in a file, or why there are none; no content of a file raises an error."""
    if is_beside(path):
        return LogFile(path, problem="a file of cbt, not its output", is_beside=True)
    try:
        with open_regular(path) as file:
            if _is_binary(file.read(_HEAD_BYTES)):
                return LogFile(path, problem="not a text file", is_binary=True)
        data = read_bytes(path, FILE_MOST_BYTES)
        modified_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError as error:
        what_helps = f": {_SMALLER}" if error.errno == errno.EFBIG else ""
        return LogFile(path, problem=f"{error.strerror or error}{what_helps}")
    text = data.decode("utf-16" if data.startswith(_UTF_16) else "utf-8-sig", "replace")
    try:
        log = read_log(text)
    except ValueError as error:
        return LogFile(path, problem=f"{error}: {_CUT}")
    runs = [(tool, run) for tool, saved in SAVED.items() for run in saved.find(log)]
    runs = dated(log, sorted(runs, key=lambda tool_run: tool_run[1].line))
    if not runs:
        problem, has_run = why_no_run(path, text)
        if problem:
            return LogFile(path, problem=problem, modified_at=modified_at, is_beside=has_run)
    unread = _under_headings(log, runs, find_unread(log, runs))
    if not runs:
        return LogFile(path, unread=unread, problem=_why_no_runs(path, log, unread), modified_at=modified_at)
    placed_runs = _place_runs(log, with_seconds(path, text, runs), heading_of(path))
    return LogFile(path, text, placed_runs, unread, modified_at=modified_at)


def _under_headings(log: Log, runs: Sequence[tuple[str, FoundRun]], unread: Sequence[Unread]) -> tuple[Unread, ...]:
    if not unread:
        return ()
    spans = {(run.line, run.last_line) for _, run in runs} | {(piece.line, piece.last_line) for piece in unread}
    headings = dict(zip(sorted(spans), (place.heading for place in places(log, sorted(spans))), strict=True))
    return tuple(replace(piece, heading=headings[piece.line, piece.last_line]) for piece in unread)


def read_together(paths: Sequence[Path]) -> list[LogFile]:
    """The logs of files; those of one test that ran on several nodes are one. Raises nothing."""
    files = [read_log_file(path) for path in paths]
    tools = {tool for file in files for tool, _ in file.runs}
    if len(files) < 2 or len(tools) > 1 or any(len(file.runs) != 1 for file in files):
        return files
    run, names = join_clients([(file.path, file.runs[0][1]) for file in files])
    texts = {node: file.text for node, name in names.items() for file in files if file.path.name == name}
    whole = replace(files[0], runs=((tools.pop(), run),), by_node=texts)
    return [whole, *(replace(file, text="", runs=()) for file in files[1:] if file.unread)]


def _place_runs(log: Log, runs: Sequence[tuple[str, FoundRun]], above: str) -> tuple[tuple[str, FoundRun], ...]:
    """The runs of a file, each with the part of the file that it is in, below what its directories say."""
    at = places(log, [(run.line, run.last_line) for _, run in runs])
    return tuple(
        (tool, replace(run, part=place.part, heading=" / ".join(filter(None, (above, place.heading)))))
        for (tool, run), place in zip(runs, at, strict=True)
    )


def _is_binary(head: bytes) -> bool:
    return b"\0" in head and not head.startswith(_UTF_16)


def _why_no_runs(path: Path, log: Log, unread: Sequence[Unread]) -> str:
    if not log.text.strip():
        return "the file is empty"
    what = JOB_FILES.get(path.suffix)
    return f"{what}: cephtui import-preset makes presets of it" if what else problem_of(log, unread) or NOTHING_FOUND
