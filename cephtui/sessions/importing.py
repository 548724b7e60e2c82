"""Saved logs become a session: each run that a tool finds in them, with what is known of it and no more."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from pathlib import Path

from cephtui import units
from cephtui.analysis.incidents import Course
from cephtui.analysis.merge import as_sample
from cephtui.analysis.settling import LEAST_SECONDS, SHORT_SECONDS, too_short
from cephtui.frozen import dataclass
from cephtui.models import Finding, NodeEnvironment, NodeResult, Outcome, Run
from cephtui.printable import one_line
from cephtui.reading import open_regular, read_bytes
from cephtui.sessions.fio_logs import why_no_run, with_seconds
from cephtui.sessions.store import StoreError, cannot_write, check_name
from cephtui.sessions.trees import UNKNOWN_COMMAND, heading_of, is_beside, together
from cephtui.sessions.writer import SessionWriter
from cephtui.tools import TOOLS
from cephtui.tools.headings import places
from cephtui.tools.logs import FoundRun, Log, is_variable, read_log
from cephtui.tools.saved import FINDERS, JOB_FILES
from cephtui.tools.unread import problem_of

FILE_MOST_BYTES = 32 << 20
"""Of one log. An hour of fio's json+ with a status each second has 100 MB, and can be cut."""
FILES_MOST, RUNS_MOST = 10_000, 5_000
"""Of one session."""
NOTHING_FOUND = f"no output found of {', '.join(TOOLS[name].title for name in FINDERS)}"
_HEAD_BYTES = 4096
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""How the text of a Windows shell begins."""
_NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
_EARLIEST, _LATEST = datetime(1970, 1, 2, tzinfo=UTC), datetime(2999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file as it was read."""

    path: Path
    text: str = ""
    runs: tuple[tuple[str, FoundRun], ...] = ()
    """Each with the name of its tool, in the order of the file."""
    problem: str | None = None
    """Why there are none."""
    modified_at: datetime | None = None
    is_binary: bool = False
    by_node: Mapping[str, str] = field(default_factory=dict)
    """The text of each node, where a run on several has a file of each."""
    is_beside: bool = False
    """Whether what is in it belongs to the run of a file beside it."""


def files_of(path: Path) -> Iterator[Path]:
    """A file itself; of a directory all files below it, sorted, without hidden ones. Raises OSError.

    No link to a directory is followed.
    """
    if not path.is_dir():
        yield path
        return
    for folder, names, files in os.walk(path, onerror=_raise):
        names[:] = sorted(name for name in names if not name.startswith("."))
        yield from (Path(folder) / name for name in sorted(files) if not name.startswith("."))


def _raise(error: OSError) -> None:
    raise error


def read_log_file(path: Path) -> LogFile:
    """The runs in a file, or why there are none; raises nothing that a file can cause."""
    if is_beside(path):
        return LogFile(path, problem="one of cbt's files beside its output", is_beside=True)
    try:
        with open_regular(path) as file:
            if _is_binary(file.read(_HEAD_BYTES)):
                return LogFile(path, problem="not a text file", is_binary=True)
        data = read_bytes(path, FILE_MOST_BYTES)
        modified_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError as error:
        return LogFile(path, problem=error.strerror or str(error))
    text = data.decode("utf-16" if data.startswith(_UTF_16) else "utf-8-sig", "replace")
    try:
        log = read_log(text)
    except ValueError as error:
        return LogFile(path, problem=str(error))
    runs = [(tool, run) for tool, find in FINDERS.items() for run in find(log)]
    runs.sort(key=lambda found: found[1].line)
    if not runs:
        problem, has_run = why_no_run(path, text)
        return LogFile(path, problem=problem or _nothing(path, log), modified_at=modified_at, is_beside=has_run)
    return LogFile(path, text, _placed(log, with_seconds(path, text, runs), heading_of(path)), None, modified_at)


def read_together(paths: Sequence[Path]) -> list[LogFile]:
    """Files, as one where each has a run of one test that ran on several nodes; raises nothing."""
    files = [read_log_file(path) for path in paths]
    tools = {tool for file in files for tool, _ in file.runs}
    if len(files) < 2 or len(tools) > 1 or any(len(file.runs) != 1 for file in files):
        return files
    run, names = together([(file.path, file.runs[0][1]) for file in files])
    texts = {node: file.text for node, name in names.items() for file in files if file.path.name == name}
    return [replace(files[0], runs=((tools.pop(), run),), by_node=texts)]


def _placed(log: Log, runs: Sequence[tuple[str, FoundRun]], above: str) -> tuple[tuple[str, FoundRun], ...]:
    """The runs of a file with the part of it that each stands in, below what its directories say."""
    at = places(log, [(run.line, run.last_line) for _, run in runs])
    return tuple(
        (tool, replace(run, part=place.part, heading=" / ".join(filter(None, (above, place.heading)))))
        for (tool, run), place in zip(runs, at, strict=True)
    )


def _is_binary(head: bytes) -> bool:
    return b"\0" in head and not head.startswith(_UTF_16)


def _nothing(path: Path, log: Log) -> str:
    what = JOB_FILES.get(path.suffix)
    return f"{what}: cephtui import-preset makes presets of it" if what else problem_of(log) or NOTHING_FOUND


def default_name(first: Path, file: LogFile) -> str:
    """A session's name after what was named first and the date of the first run, if it has one: ``rook-2025-04-07``."""
    stem = _UNFIT.sub("-", first.resolve().stem).strip("-._") or "imported"
    started = _started_at(file.runs[0][1])
    return f"{stem[:50]}-{started.astimezone():%Y-%m-%d}" if started else stem[:50]


def check_new(root: Path, name: str) -> None:
    """Raises StoreError for a name that a session can't have, or that one has."""
    check_name(name)
    if os.path.lexists(root / name):
        problem = f"there is a session {name} already, perhaps of the same files"
        raise StoreError(f"{problem}: choose another name with --session, or delete that one")


class Numbering:
    """Makes runs of what is found, numbered from 1.

    Runs repeat each other that stand in one part of a file and are known to have been asked to do the same. Others
    whose options look alike, as far as these are known, are put into batches of their own.
    """

    def __init__(self) -> None:
        self._batches: dict[object, str] = {}
        self._asked: dict[object, list[str]] = {}
        self._repeats: dict[object, int] = {}
        self._number = 0

    def run(self, session: str, file: LogFile, tool: str, found: FoundRun) -> Run:
        """The next one."""
        self._number += 1
        preset, target = one_line(found.name) or tool, found.target or units.DASH
        node = found.node if _NODE.fullmatch(found.node) else units.DASH
        where = (node, *(each.node for each in found.nodes))
        looks = (target, frozenset(found.options.items()), frozenset(found.other_options.items()), where)
        batch = self._batch(file, tool, preset, looks, found)
        alike = (batch, *looks)
        self._repeats[alike] = self._repeats.get(alike, 0) + 1
        result, started = _result(found, node), _started_at(found)
        commands = {"command": result.command}
        nodes = tuple(each.model_copy(update=commands) for each in found.nodes) or (result,)
        return Run(
            session=session,
            run=self._number,
            batch=batch,
            repeat=self._repeats[alike],
            preset=preset,
            tool=tool,
            target=target,
            options=dict(found.options),
            other_options={one_line(name): one_line(value) for name, value in found.other_options.items()},
            has_all_options=found.has_all_options,
            outcome=result.outcome,
            error=result.error,
            command=result.command,
            imported_from=f"{file.path.name}:{found.line}",
            heading=one_line(found.heading) or None,
            started_at=started or _written_at(file),
            is_dated=started is not None,
            duration_seconds=found.duration_seconds,
            findings=tuple(_findings(found)),
            environment={each.node: NodeEnvironment(tools={tool: found.version}) for each in nodes if found.version},
            summary=found.summary,
            nodes=nodes,
        )

    def _batch(self, file: LogFile, tool: str, preset: str, looks: object, found: FoundRun) -> str:
        """A run of which it is not known what it was asked to do has one of its own."""
        part, is_known = (file.path, found.part, tool, preset), TOOLS[tool].load_options <= found.options.keys()
        if any(map(is_variable, found.other_options.values())):
            found, is_known = replace(found, asked=""), False
        asked = self._asked.setdefault((part, looks), [])
        if found.asked not in asked:
            asked.append(found.asked)
        number = asked.index(found.asked) if found.asked or is_known else f"run {self._number}"
        return self._batches.setdefault((part, number), f"imported-{len(self._batches) + 1}")


def _result(found: FoundRun, node: str) -> NodeResult:
    outcome, error = _outcome(found)
    return NodeResult(
        node=node,
        outcome=outcome,
        error=error,
        command=found.command or UNKNOWN_COMMAND,
        summary=found.summary,
        cpu_user_percent=found.cpu_user_percent,
        cpu_system_percent=found.cpu_system_percent,
        context_switches=found.context_switches,
        depths=dict(found.depths),
        disks=found.disks,
        jobs=found.jobs,
    )


class Importer:
    """Writes what is found into one new session, file by file."""

    def __init__(self, root: Path, name: str | None, first: Path) -> None:
        """``first`` is what the session is named after where it has no name."""
        self._root, self._name, self._first = root, name, first
        self._writer: SessionWriter | None = None
        self._numbering = Numbering()

    @property
    def session(self) -> str | None:
        """Its name; None before the first run."""
        return self._writer.name if self._writer else None

    def add(self, file: LogFile) -> list[Run]:
        """Store the runs of a file; raises StoreError where the session exists, or can't be written."""
        if not file.runs:
            return []
        if self._writer is None:
            name = self._name or default_name(self._first, file)
            check_new(self._root, name)
            self._writer = SessionWriter.open(self._root, name)
        lines = file.text.split("\n")
        try:
            return [self._store(self._writer, file, lines, *each) for each in file.runs]
        except OSError as error:
            raise cannot_write(error) from None

    def close(self) -> None:
        """Let go of the session."""
        if self._writer:
            self._writer.close()

    def _store(self, writer: SessionWriter, file: LogFile, lines: Sequence[str], tool: str, found: FoundRun) -> Run:
        run = self._numbering.run(writer.name, file, tool, found)
        if run.run > RUNS_MOST:
            raise StoreError(f"more than {RUNS_MOST:,} runs: import the others into another session")
        output, course = writer.start_run(run), Course("iops")
        node = run.nodes[0].node
        own = "".join(f"{line}\n" for line in lines[found.line - 1 : found.last_line])
        for each, text in (file.by_node or {node: own}).items():
            output.raw(each, "stdout", text.encode("utf-8", "replace"), found.duration_seconds)
        for reading in found.readings:
            for name in (node, None):
                sample = as_sample(run.run, run.preset, name, reading, preparing=False)
                output.sample(sample)
                course.add(sample)
        course.end(node, found.duration_seconds)
        findings = (*run.findings, *(course.findings({}) if found.readings else ()), *output.findings())
        finished = run.model_copy(update={"findings": findings, "seconds": course.seconds.summary()})
        output.finish(finished)
        return finished


def _started_at(found: FoundRun) -> datetime | None:
    """By the log, which has the node's clock, taken for one in this time zone; None where it has no possible date."""
    with contextlib.suppress(OSError, OverflowError, ValueError):
        started = found.started_at.astimezone(UTC) if found.started_at else None
        return started if started and _EARLIEST <= started <= _LATEST else None
    return None


def _written_at(file: LogFile) -> datetime:
    """When a file was last written, by its time; at the latest now."""
    now = datetime.now(UTC)
    return max(_EARLIEST, min(file.modified_at or now, now))


def _outcome(found: FoundRun) -> tuple[Outcome, str | None]:
    if found.error:
        return "failed", found.error
    if not found.summary.flows:
        return "failed", "it ended without having done any I/O"
    return ("stopped", None) if found.stopped else ("ok", None)


def _findings(found: FoundRun) -> Iterable[Finding]:
    """Those of the log, and that it was too short."""
    yield from found.findings
    if found.summary.flows and not found.stopped and all(each.code != "short" for each in found.findings):
        lasted = max(total.runtime_seconds for total in found.summary.flows.values())
        by_its_data = found.options.get("time_based") is False  # such a run was meant to last longer
        short = too_short(lasted, by_its_data=by_its_data, least=LEAST_SECONDS if by_its_data else SHORT_SECONDS)
        if short and lasted:  # 0 is not known
            yield short
