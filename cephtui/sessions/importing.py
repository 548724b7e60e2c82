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
from cephtui.analysis.detectors.incidents import Course
from cephtui.analysis.detectors.settling import SHORT_SECONDS, too_short
from cephtui.analysis.runs.merge import as_sample
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
"""The greatest number of runs of a session."""
_NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
_LEAST_BY_DATA_SECONDS = 30.0
"""A run that ended with its data before that was too short."""
_EARLIEST, _LATEST = datetime(1970, 1, 2, tzinfo=UTC), datetime(2999, 1, 1, tzinfo=UTC)


def imported_session_name(first: Path, file: LogFile) -> str:
    """A session's name made of the first path and the date of the first run, if it has one: ``rook-2025-04-07``."""
    stem = _UNFIT.sub("-", first.resolve().stem).strip("-._") or "imported"
    started = _started_at(file.runs[0][1])
    return f"{stem[:50]}-{started.astimezone():%Y-%m-%d}" if started else stem[:50]


def check_new(root: Path, name: str) -> None:
    """Raises StoreError for a name that no session can have, or that one already has."""
    check_session_name(root, name)
    if os.path.lexists(root / name):
        problem = f"session {name} exists already, perhaps from the same files"
        raise StoreError(f"{problem}: choose another name with --session, or delete that one")


class Numbering:
    """Makes runs of what is read from logs, numbered from 1.

    Runs repeat each other that stand in one part of a file and are known to have been asked to do the same. Others
    whose options look alike, as far as these are known, are put into batches of their own.
    """

    def __init__(self) -> None:
        self._batches: dict[object, str] = {}
        self._requests: dict[object, list[str]] = {}
        self._repeats: dict[object, int] = {}
        self._number = 0

    def run(self, session: str, file: LogFile, tool: str, logged: FoundRun) -> Run:
        """The next run, made of a run in a log."""
        self._number += 1
        preset = one_line(logged.name) or tool
        target = units.DASH if is_variable(logged.target) else logged.target or units.DASH
        node = logged.node if _NODE.fullmatch(logged.node) else units.DASH
        node_names = (node, *(client.node for client in logged.nodes))
        looks = (target, frozenset(logged.options.items()), frozenset(logged.other_options.items()), node_names)
        batch = self._batch(file, tool, preset, looks, logged)
        repeat_key = (batch, *looks)
        self._repeats[repeat_key] = self._repeats.get(repeat_key, 0) + 1
        result, started = _result(logged, node), _started_at(logged)
        commands = {"command": result.command}
        nodes = tuple(client.model_copy(update=commands) for client in logged.nodes) or (result,)
        return Run(
            session=session,
            run=self._number,
            batch=batch,
            repeat=self._repeats[repeat_key],
            preset=preset,
            tool=tool,
            target=target,
            options=dict(logged.options),
            other_options={one_line(name): one_line(value) for name, value in logged.other_options.items()},
            has_all_options=logged.has_all_options,
            outcome=result.outcome,
            error=result.error,
            command=result.command,
            imported_from=f"{file.path.name}:{logged.line}",
            heading=one_line(logged.heading) or None,
            started_at=started or _written_at(file),
            is_dated=started is not None,
            duration_seconds=logged.duration_seconds,
            findings=tuple(_findings(logged)),
            environment={
                client.node: NodeEnvironment(tools={tool: logged.version}) for client in nodes if logged.version
            },
            summary=logged.summary,
            nodes=nodes,
        )

    def _batch(self, file: LogFile, tool: str, preset: str, looks: object, logged: FoundRun) -> str:
        """The batch of a run; where it is not known what was asked for, the run has a batch of its own."""
        part, is_known = (file.path, logged.part, tool, preset), TOOLS[tool].load_options <= logged.options.keys()
        if any(map(is_variable, (logged.target, *logged.other_options.values()))):
            logged, is_known = replace(logged, request=""), False
        requests = self._requests.setdefault((part, looks), [])
        if logged.request not in requests:
            requests.append(logged.request)
        number = requests.index(logged.request) if logged.request or is_known else f"run {self._number}"
        return self._batches.setdefault((part, number), f"imported-{len(self._batches) + 1}")


def _result(logged: FoundRun, node: str) -> NodeResult:
    with_command = logged if logged.command else replace(logged, command=UNKNOWN_COMMAND)
    return node_result(with_command, node, *_outcome(logged))


class Importer:
    """Writes the runs of logs into one new session, file by file."""

    def __init__(self, root: Path, name: str | None, first: Path) -> None:
        """``first`` is the path after which a session without a name is named."""
        self._root, self._name, self._first = root, name, first
        self._writer: SessionWriter | None = None
        self._numbering = Numbering()

    @property
    def session(self) -> str | None:
        """The session's name; None before the first run."""
        return self._writer.name if self._writer else None

    def add(self, file: LogFile) -> list[Run]:
        """Store the runs of a file; raises StoreError where the session exists, or can't be written."""
        if not file.runs:
            return []
        if self._writer is None:
            name = self._name or imported_session_name(self._first, file)
            check_new(self._root, name)
            self._writer = SessionWriter.open(self._root, name)
        lines = file.text.split("\n")
        try:
            return [self._store(self._writer, file, lines, tool, logged) for tool, logged in file.runs]
        except OSError as error:
            raise cannot_write(error) from None

    def close(self) -> None:
        """Close the session."""
        if self._writer:
            self._writer.close()

    def _store(self, writer: SessionWriter, file: LogFile, lines: Sequence[str], tool: str, logged: FoundRun) -> Run:
        run = self._numbering.run(writer.name, file, tool, logged)
        if run.run > RUNS_MOST:
            raise StoreError(f"more than {RUNS_MOST:,} runs: import the others into another session")
        output, course = writer.start_run(run), Course("iops")
        node = run.nodes[0].node
        output_text = "".join(f"{line}\n" for line in lines[logged.line - 1 : logged.last_line])
        for host, text in (file.by_node or {node: output_text}).items():
            output.raw(host, "stdout", text.encode("utf-8", "replace"), logged.duration_seconds)
        for reading in logged.readings:
            for name in (node, None):
                sample = as_sample(run.run, run.preset, name, reading, preparing=False)
                output.sample(sample)
                course.add(sample)
        course.end(node, logged.duration_seconds)
        findings = (*run.findings, *(course.findings({}) if logged.readings else ()), *output.findings())
        finished = run.model_copy(update={"findings": findings, "seconds": course.seconds.summary()})
        output.finish(finished)
        return finished


def _started_at(logged: FoundRun) -> datetime | None:
    """When a run began by its log, whose times are taken for this time zone; None where the date is not possible."""
    with contextlib.suppress(OSError, OverflowError, ValueError):
        started = logged.started_at.astimezone(UTC) if logged.started_at else None
        return started if started and _EARLIEST <= started <= _LATEST else None
    return None


def _written_at(file: LogFile) -> datetime:
    """When a file was last written, at the latest now."""
    now = datetime.now(UTC)
    return max(_EARLIEST, min(file.modified_at or now, now))


def _outcome(logged: FoundRun) -> tuple[Outcome, str | None]:
    if logged.error:
        return "failed", logged.error
    if not logged.summary.flows:
        return "failed", "it ended without any I/O"
    return ("stopped", None) if logged.stopped else ("ok", None)


def _findings(logged: FoundRun) -> Iterable[Finding]:
    """The findings of the log, and one if the run was too short."""
    yield from logged.findings
    if logged.summary.flows and not logged.stopped and all(finding.code != "short" for finding in logged.findings):
        run_seconds = max(total.runtime_seconds for total in logged.summary.flows.values())
        by_its_data = logged.options.get("time_based") is False  # such a run was meant to last longer
        least = _LEAST_BY_DATA_SECONDS if by_its_data else SHORT_SECONDS
        short = too_short(run_seconds, by_its_data=by_its_data, least=least)
        if short and run_seconds:  # 0 is not known
            yield short
