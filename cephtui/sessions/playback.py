"""A saved run as it happened: its raw output through the same parsers, as the events that a runner published.

The same reader plays a run that is over, and follows one that another process is writing.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from cephtui import units
from cephtui.analysis.runs.batches import is_run_of
from cephtui.analysis.runs.merge import Merger, as_sample
from cephtui.models import ELAPSED_MOST_SECONDS, Event, Mark, Model, NodeEnded, Plan, Run, Step, Summary
from cephtui.reading import DOCUMENT_MOST_BYTES, LINE_MOST_BYTES, SERIES_MOST_BYTES, excerpt, load_json, open_regular
from cephtui.sessions import store
from cephtui.sessions.store import StoreError, state_files
from cephtui.tools import TOOLS
from cephtui.tools.base import Parser, Reading, Stream

M = TypeVar("M", bound=Model)
_PIECE_MOST_BYTES = 16 << 20
"""Bytes of output that arrived at once; usually some 100 KB."""


def step_of(directory: Path, run: Run) -> Step:
    """The step that a run carried out; raises StoreError."""
    return step_and_plan(directory, run)[0]


def step_and_plan(directory: Path, run: Run) -> tuple[Step, tuple[Step, ...]]:
    """The step that a run carried out, and all steps of its plan; raises StoreError."""
    if run.imported_from:
        problem = f"run {run.run} was imported from {run.imported_from}, which has no live output to replay"
        raise StoreError(f"{problem}: cephtui show {run.session}/{run.run}")
    lines = _Lines(directory / "plans.jsonl", most_bytes=DOCUMENT_MOST_BYTES)
    step_and_plan: tuple[Step, tuple[Step, ...]] | None = None  # of a plan that was stopped, the rest is planned again
    while (text := lines.take()) is not None:
        try:
            steps = Plan.model_validate_json(text).steps
        except ValueError as error:
            if step_and_plan:
                break
            raise StoreError(f"{lines.path}: not readable: {error}") from None
        for step in steps:
            if is_run_of(run, step):
                step_and_plan = step, steps
                break
    if step_and_plan is None:
        raise StoreError(f"{lines.path}: it lacks the plan of run {run.run}")
    return step_and_plan


@dataclass(slots=True)
class _Lines:
    """The complete lines of a file that may grow."""

    path: Path
    most_bytes: int = LINE_MOST_BYTES
    """The greatest length of a line."""
    _offset: int = 0
    _ahead: list[bytes] = field(default_factory=list)

    def peek(self) -> bytes | None:
        """The next line, or None where there is none yet; raises StoreError."""
        if not self._ahead:
            try:
                with open_regular(self.path) as file:
                    file.seek(self._offset)
                    data = file.read(LINE_MOST_BYTES) or b""
                    if len(data) == LINE_MOST_BYTES < self.most_bytes and b"\n" not in data:
                        data += file.readline(self.most_bytes - LINE_MOST_BYTES)
            except FileNotFoundError:
                return None
            except OSError as error:
                raise StoreError(f"{self.path}: {error.strerror}") from None
            whole = data[: data.rfind(b"\n") + 1]
            if not whole and len(data) == self.most_bytes:
                raise StoreError(f"{self.path}: not readable: a line of more than {units.size(self.most_bytes)}")
            self._offset += len(whole)
            self._ahead = whole.splitlines()[::-1]
        return self._ahead[-1] if self._ahead else None

    def take(self) -> bytes | None:
        """The next line, and go on to the one after it."""
        line = self.peek()
        if line is not None:
            self._ahead.pop()
        return line

    def peek_at(self, model: type[M]) -> M | None:
        """The next line as a model; lines that can't be read are left out."""
        with contextlib.suppress(StoreError):
            while (text := self.peek()) is not None:
                with contextlib.suppress(ValueError):
                    return model.model_validate_json(text)
                self.take()
        return None


@dataclass(slots=True)
class _Output:
    """The output of one process of a node, and the parser that reads it; a prefill may take several commands."""

    node: str
    raw: Path
    process: str
    lines: _Lines
    parser: Parser
    commands_seconds: float = 0.0
    """How long the commands before this one took."""
    elapsed_seconds: float = 0.0
    """When the newest piece of this command arrived."""
    ended: bool = False
    broken: bool = False
    """Whether reading has ended with an error, which was reported."""
    _next: dict[str, Any] | None = None
    """The next line of the index; None where it was not read yet."""

    def due(self) -> float | None:
        """When the next piece arrived; None where there is none yet. Raises StoreError."""
        row = self._row()
        if row is None:
            return None
        before = self.commands_seconds + (self.elapsed_seconds if self.restarts() else 0.0)
        return before + float(row["elapsed_seconds"])

    def restarts(self) -> bool:
        """Whether the next piece is a new command's."""
        row = self._row()
        return row is not None and row["elapsed_seconds"] < self.elapsed_seconds

    def restart(self, parser: Parser) -> None:
        """Begin to read a new command's output."""
        self.commands_seconds += self.elapsed_seconds
        self.elapsed_seconds, self.parser = 0.0, parser

    def feed(self) -> list[Reading]:
        """Read the next piece; raises StoreError."""
        row = self._row()
        assert row is not None
        self.lines.take()
        self._next = None
        self.elapsed_seconds = float(row["elapsed_seconds"])
        stream: Stream = "stderr" if row["stream"] == "stderr" else "stdout"
        path = self.raw / f"{self.process}.{stream}"
        try:
            with open_regular(path) as file:
                file.seek(row["offset"])
                data = file.read(row["bytes"]) or b""
        except OSError as error:
            raise self._give_up(f"{path}: {error.strerror}") from None
        if len(data) < row["bytes"]:
            raise self._give_up(f"{path}: shorter than its index: the rest can't be played")
        return self.parser.feed(stream, data, self.elapsed_seconds)

    def _row(self) -> dict[str, Any] | None:
        if self.broken or self._next is not None:
            return self._next
        try:
            text = self.lines.peek()
            row: dict[str, Any] | None = None if text is None else load_json(text)
            if row is not None and not _is_index(row):
                raise ValueError("not an index of output")
            self._next = row
            return row
        except StoreError as error:
            raise self._give_up(str(error)) from None
        except (ValueError, AttributeError) as error:
            raise self._give_up(f"{self.lines.path}: not readable: {error}") from None

    def _give_up(self, text: str) -> StoreError:
        self.broken, self._next = True, None
        return StoreError(text)


def _is_index(row: dict[str, Any]) -> bool:
    """Whether a row of the index is possible: a wrong one must not read for ever, or use up the memory."""
    kinds = {"elapsed_seconds": int | float, "stream": str, "offset": int, "bytes": int}
    return (
        all(isinstance(row.get(name), kind) for name, kind in kinds.items())
        and -ELAPSED_MOST_SECONDS < row["elapsed_seconds"] < ELAPSED_MOST_SECONDS
        and 0 <= row["offset"] <= SERIES_MOST_BYTES
        and 0 <= row["bytes"] <= _PIECE_MOST_BYTES
    )


class _Phase:
    """A prefill or a benchmark on all nodes."""

    def __init__(self, run: Run, step: Step, directory: Path, *, preparing: bool) -> None:
        self._run, self._step, self.preparing = run, step, preparing
        raw = directory / f"{run.run:03}" / "raw"
        word = ".prepare" if preparing else ""
        self.outputs = [
            _Output(n.node, raw, f"{n.node}{word}", _Lines(raw / f"{n.node}{word}.index.jsonl"), self._parser())
            for n in run.nodes
        ]
        self._merger = Merger(node.node for node in run.nodes)
        self.seconds = 0.0
        """When the newest piece arrived."""

    def _parser(self) -> Parser:
        workload, step = TOOLS[self._run.tool].bind(self._run.options), self._step
        if self.preparing:
            return workload.prefill_parser()
        return workload.parser(ramp=step.ramp_seconds > 0, seconds=step.run_seconds)

    def next_due(self) -> float | None:
        """When the next piece of any node arrived."""
        return min((due for output in self.outputs if (due := output.due()) is not None), default=None)

    def take(self) -> list[Event]:
        """Read the next piece of whichever node."""
        due, output = min(((due, o) for o in self.outputs if (due := o.due()) is not None), key=lambda pair: pair[0])
        self.seconds = max(self.seconds, due)
        if output.restarts():
            output.restart(self._parser())
        return self._samples(output, output.feed())

    def end(self, *, all_of_them: bool, node: str = "") -> list[Event]:
        """The last figures of nodes whose output has ended: of those that are done, of all, or of one ``node``."""
        events: list[Event] = []
        for output in self.outputs:
            is_meant = node in ("", output.node)
            if is_meant and not output.ended and (all_of_them or output.due() is None):
                output.ended = True
                events += self._samples(output, output.parser.finish(), ended=True)
        return events

    def _samples(self, output: _Output, readings: list[Reading], *, ended: bool = False) -> list[Event]:
        run, preset = self._run.run, self._run.preset
        merged = self._merger.add(output.node, readings, self.seconds)
        if ended:
            merged += self._merger.end(output.node, self.seconds)
        samples = [as_sample(run, preset, output.node, reading, preparing=self.preparing) for reading in readings]
        of_all = [as_sample(run, preset, None, m.reading, m.missing, preparing=self.preparing) for m in merged]
        return [*samples, *of_all]


class Playback:
    """The events of a run in their order, as far as they are asked for and have happened."""

    def __init__(self, directory: Path, number: int, *, alone: bool = True) -> None:
        """A run that is not played ``alone`` also has the events of the other runs of its plan. Raises StoreError."""
        self.directory, self.number = directory, number
        self.run = store.read_run(directory, number)
        self.step, steps = step_and_plan(directory, self.run)
        # alone it is no third of three: others of its order may have been repeated, or never begun
        self._steps = (self.step.model_copy(update={"number": None}),) if alone else steps
        try:
            self._filling = _Phase(self.run, self.step, directory, preparing=True)
            self._measuring = _Phase(self.run, self.step, directory, preparing=False)
        except (LookupError, ValueError, OverflowError) as error:
            path = directory / f"{number:03}" / "run.json"
            raise StoreError(
                f"{path}: can't be played: tool {excerpt(self.run.tool)} or its options: {error}"
            ) from None
        self._states = [(model, _Lines(directory / f"{number:03}" / name)) for model, name in state_files().items()]
        self._ended = _Lines(directory / f"{number:03}" / "ended.jsonl")
        self._marks = _Lines(directory / "marks.jsonl")
        self._begun = self.over = False
        self._undelivered: list[Event] = []
        missing = _missing_index(directory / f"{number:03}" / "raw") if self.run.outcome else None
        self._problem = StoreError(f"{missing}: missing: the node's output can't be played") if missing else None

    @property
    def prepared_seconds(self) -> float:
        """How long the prefill took, as far as it has been read."""
        return self._filling.seconds

    def until(self, seconds: float) -> list[Event]:
        """The events of the first so many seconds that have not been given yet.

        Raises StoreError, once for each output that can't be read; the next call gives what there is without it.
        """
        if self._problem:
            problem, self._problem = self._problem, None
            raise problem
        if self.run.outcome is None:  # checked before the pieces are read: a run that has ended has all of them
            self.run = store.read_run(self.directory, self.number)
        for event in self._events(seconds):
            self._undelivered.append(event)
        events, self._undelivered = self._undelivered, []
        return events

    def _events(self, seconds: float) -> Iterator[Event]:
        if not self._begun:
            yield from self._begin()
        if self.over:
            return
        yield from self._phase(self._filling, seconds)
        if self._filling.next_due() is None and self._is_released():
            yield from self._filling.end(all_of_them=True)
            yield from self._phase(self._measuring, seconds - self.prepared_seconds)
            if self._is_over and self._measuring.next_due() is None:
                yield from self._measuring.end(all_of_them=True)
                self.over = True
                yield self.run

    def _begin(self) -> list[Event]:
        self._begun = True
        empty = {"outcome": None, "error": None, "findings": (), "summary": Summary()}
        plan = Plan(steps=self._steps, duration_seconds=0.0, session_bytes=0)
        return [plan, self.run.model_copy(update=empty)]

    def _phase(self, phase: _Phase, seconds: float) -> Iterator[Event]:
        while (due := phase.next_due()) is not None and due <= seconds:
            yield from self._other_events(phase, due)
            yield from phase.take()
            if self._is_over:
                yield from phase.end(all_of_them=False)
        yield from self._other_events(phase, seconds)

    def _other_events(self, phase: _Phase, seconds: float) -> Iterator[Event]:
        """What was watched, ends of nodes and marks during a phase."""
        for model, lines in self._states:
            while (sample := lines.peek_at(model)) is not None:
                if (sample.phase == "prepare") != phase.preparing or sample.elapsed_seconds > seconds:
                    break
                yield sample
                lines.take()
        while not phase.preparing and (ended := self._ended.peek_at(NodeEnded)) is not None:
            if (ended.elapsed_seconds or 0.0) > seconds:
                break
            yield from phase.end(all_of_them=False, node=ended.node)
            yield ended
            self._ended.take()
        while not phase.preparing and (mark := self._marks.peek_at(Mark)) is not None:
            if mark.run == self.number and (mark.elapsed_seconds or 0.0) > seconds:
                break
            if mark.run == self.number:
                yield mark
            self._marks.take()

    def _is_released(self) -> bool:
        """Whether the prefill has ended."""
        return self._measuring.next_due() is not None or self._is_over

    @property
    def _is_over(self) -> bool:
        return self.run.outcome is not None


def _missing_index(raw: Path) -> Path | None:
    """The first missing index, which should have the times at which the pieces of an output arrived."""
    indexes = [output.with_suffix(".index.jsonl") for output in sorted(raw.glob("*.stdout"))]
    return next((index for index in indexes if not index.exists()), None)


class Follower:
    """The runs of a session that another process writes, from the newest on: the source of ``watch``."""

    def __init__(self, directory: Path) -> None:
        """Raises StoreError."""
        self._directory = directory
        self._playback: Playback | None = None

    def drain(self) -> list[Event]:
        """All events since the last call; raises StoreError."""
        if self._playback is None or self._playback.over:
            self._playback = self._next_playback()
        return self._playback.until(float("inf")) if self._playback else []

    def _next_playback(self) -> Playback | None:
        """The playback of the newest run; the same playback where no newer run has begun."""
        try:
            runs = store.run_directories(self._directory)
        except OSError as error:
            raise StoreError(f"{self._directory}: {error.strerror}") from None
        numbers = [number for number, path in runs if os.path.lexists(path / "run.json")]
        if not numbers or (self._playback and self._playback.number == numbers[-1]):
            return self._playback
        return Playback(self._directory, numbers[-1], alone=False)


def lasted_seconds(directory: Path, run: Run, step: Step) -> float:
    """How long a run took, the prefill included; of one in progress, how long it is expected to take."""
    measured = _longest(directory, run, "index.jsonl")
    if run.outcome is None:
        measured = max(measured, step.ramp_seconds + (step.run_seconds or 0.0))
    return prefilled_seconds(directory, run) + measured


def prefilled_seconds(directory: Path, run: Run) -> float:
    """How long the prefill of a run took."""
    return _longest(directory, run, "prepare.index.jsonl")


def _longest(directory: Path, run: Run, ending: str) -> float:
    """When the last piece of any node arrived; 0 where there is none."""
    raw = directory / f"{run.run:03}" / "raw"
    return max((_last_elapsed(raw / f"{node.node}.{ending}") for node in run.nodes), default=0.0)


def _last_elapsed(index: Path) -> float:
    """When the last piece in an index arrived; 0 where there is none."""
    try:
        with open_regular(index) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 4096))
            last = load_json(file.read(4096).splitlines()[-1])
        return float(last["elapsed_seconds"]) if _is_index(last) else 0.0
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return 0.0
