"""Conducts the studies of a queue: one entry after the other, until it is empty, held or stopped."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cephtui.running.runner import Runner
from cephtui.sessions import store
from cephtui.sessions.store import StoreError
from cephtui.studies.queue import Entry, Queue
from cephtui.tools.base import OptionError

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Protocol

    from cephtui.models import Plan
    from cephtui.planning import Request
    from cephtui.running.launch import Ask
    from cephtui.studies.base import Study, StudyResult
    from cephtui.studies.conducting import Attempts, Conducting, Connecting, Display

    class Front(Connecting, Protocol):
        """Plans studies, gets them ready to run and asks about them, in a front end."""

        def plans(self, drafts: Sequence[Request]) -> list[Plan]:
            """Their plans, one after the other, as far as they are known before their turn; raises OptionError."""
            ...

        def ask(self, dispatcher: Dispatcher) -> Ask:
            """Answers questions about what the dispatcher measures until its queue is worked off."""
            ...

        def start(self, work: Coroutine[None, None, None]) -> None:
            """Run this beside everything else."""
            ...


class Dispatcher:
    """Owns the queue of a front end, and has its entries conducted."""

    def __init__(self, runner: Runner, front: Front, display: Display, changed: Callable[[], None]) -> None:
        """``changed`` is called after each change of the queue or of ``busy``."""
        self._runner, self._front, self._display, self._changed = runner, front, display, changed
        self._queue = Queue()
        self._busy = self._closed = False
        self._current: Conducting | None = None
        self._attempts: Attempts | None = None
        """None before anything was run."""

    @property
    def queue(self) -> Queue:
        """The entries that wait."""
        return self._queue

    @property
    def current(self) -> Conducting | None:
        """The entry that is being checked or run; None where there is none."""
        return self._current if self._busy else None

    @property
    def busy(self) -> bool:
        """Whether an entry is being checked or run."""
        return self._busy

    @property
    def batches(self) -> frozenset[str]:
        """Of the study that is being checked or run; empty where there is none."""
        return self.current.entry.study.batches if self.current else frozenset()

    def waiting(self, batches: Collection[str]) -> Entry | None:
        """The entry that waits whose study has these batches; None where there is none."""
        return next((entry for entry in self._queue.entries if entry.study.batches == batches), None)

    def push(self, entries: Sequence[Entry]) -> None:
        """Queue these, at once: the next call sees them."""
        self._go(self._queue.push(entries))

    def release(self, entry: Entry | None = None) -> None:
        """Run what is held, or only this entry."""
        if self._attempts:
            self._attempts.clear()
        self._go(self._queue.release() if entry is None else self._queue.released(entry))

    def reorder(self, queue: Queue) -> None:
        """Take the queue with its entries in another order, or with fewer of them."""
        self._queue = queue
        self._changed()

    def stop(self) -> bool:
        """End the current entry and hold the others; False where nothing runs."""
        if not self._busy:
            return False
        self._queue = self._queue.hold("stopped")
        self._display.announce_end("stopping")
        if self._current:
            self._current.is_stopped = True
        self._runner.stop()
        self._changed()
        return True

    def skip(self) -> bool:
        """End the current run and begin the next; False where nothing runs."""
        if not self._busy:
            return False
        self._display.announce_end("skipping")
        if self._current:
            self._current.is_skipped = True
        self._runner.skip()
        return True

    def close(self) -> None:
        """Begin nothing more: the front end is about to end. A change that can be taken back is taken back."""
        self._closed, self._queue = True, self._queue.hold("")
        if self._current:
            self._current.is_stopped = True

    def _go(self, queue: Queue) -> None:
        self._queue = queue
        if not self._busy and queue.ready:
            self._busy = True
            self._front.start(self._work_off())
        self._changed()

    async def _work_off(self) -> None:
        from cephtui.studies.conducting import Attempts, Conducting

        ask, self._attempts = self._front.ask(self), Attempts()
        try:
            while self._queue.ready:
                entry, self._queue = self._queue.take()
                self._current = Conducting(entry, self._runner, self._front, self._display, ask, self._attempts)
                self._changed()
                await self._conduct(self._current)
                self._hold_what_is_given_up(self._attempts)
        finally:
            self._busy, self._current = False, None
            self._changed()

    async def _conduct(self, current: Conducting) -> None:
        if refused := current.why_refused:
            self._queue = self._queue.put_back(current.entry, refused)
            self._display.report_error(refused, "not run")
            return
        try:
            ended = await current.conduct()
        except StoreError as error:
            self._queue = self._queue.hold("").put_back(current.entry, str(error))
            self._display.report_error(str(error), "not run")
            return
        finally:
            if current.left_changed:
                self._display.report_error(current.left_changed)
        entry = replace(current.entry, runs=(*current.entry.runs, *ended.runs))
        note = "stopped" if current.is_stopped else current.why_held
        is_left = ended.is_judged and entry.study.next(entry.runs, ended.without) is not None
        if is_left:
            with contextlib.suppress(OptionError):  # reported when its turn comes
                entry = entry.planned(self._front.plans)
            self._queue = self._queue.put_back(entry, note)
        elif ended.is_judged:
            await self._conclude(entry)
        if self._queue.is_held and (is_left or current.is_stopped) and not (self._closed or current.wants_change):
            self._display.report_hold(self._queue)

    def _hold_what_is_given_up(self, attempts: Attempts) -> None:
        held = self._queue.without_given_up(attempts.why_given_up)
        if held != self._queue:
            self._queue = held
            self._display.report_hold(held)

    async def _conclude(self, entry: Entry) -> None:
        """Keep and show what all runs of a study show that has come to its end."""
        study, directory = entry.study, self._runner.directory
        if directory is None or not entry.runs or (study.is_one_run and not study.saved.promises):
            return
        try:
            conclusion = await asyncio.to_thread(_conclusion, study, directory)
        except (OSError, StoreError) as error:
            self._display.say(f"the results were not saved: {error}")
            return
        self._display.concluded(study, conclusion)


def _conclusion(study: Study[Any], directory: Path) -> StudyResult:
    """Raises StoreError and OSError."""
    runs, _ = store.read_runs(directory)
    conclusion = study.conclude(runs, store.read_marks(directory), directory, datetime.now(UTC))
    conclusion.keep(directory)
    return conclusion
