"""Saved logs become a session: each run that a tool finds in them, with what is known of it and no more."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from cephtui import units
from cephtui.analysis.incidents import Course
from cephtui.analysis.merge import as_sample
from cephtui.analysis.settling import LEAST_SECONDS, SHORT_SECONDS, too_short
from cephtui.models import Finding, NodeEnvironment, NodeResult, Outcome, Run
from cephtui.printable import one_line
from cephtui.sessions.log_files import LogFile
from cephtui.sessions.names import check_session_name
from cephtui.sessions.store import StoreError, cannot_write
from cephtui.sessions.trees import UNKNOWN_COMMAND
from cephtui.sessions.writer import SessionWriter
from cephtui.tools import TOOLS
from cephtui.tools.logs import FoundRun, is_variable, node_result

RUNS_MOST = 5_000
"""Of one session."""
_NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
_EARLIEST, _LATEST = datetime(1970, 1, 2, tzinfo=UTC), datetime(2999, 1, 1, tzinfo=UTC)


def default_name(first: Path, file: LogFile) -> str:
    """A session's name after what was named first and the date of the first run, if it has one: ``rook-2025-04-07``."""
    stem = _UNFIT.sub("-", first.resolve().stem).strip("-._") or "imported"
    started = _started_at(file.runs[0][1])
    return f"{stem[:50]}-{started.astimezone():%Y-%m-%d}" if started else stem[:50]


def check_new(root: Path, name: str) -> None:
    """Raises StoreError for a name that a session can't have, or that one has."""
    check_session_name(root, name)
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
        preset = one_line(found.name) or tool
        target = units.DASH if is_variable(found.target) else found.target or units.DASH
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
        if any(map(is_variable, (found.target, *found.other_options.values()))):
            found, is_known = replace(found, request=""), False
        asked = self._asked.setdefault((part, looks), [])
        if found.request not in asked:
            asked.append(found.request)
        number = asked.index(found.request) if found.request or is_known else f"run {self._number}"
        return self._batches.setdefault((part, number), f"imported-{len(self._batches) + 1}")


def _result(found: FoundRun, node: str) -> NodeResult:
    known = found if found.command else replace(found, command=UNKNOWN_COMMAND)
    return node_result(known, node, *_outcome(found))


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
