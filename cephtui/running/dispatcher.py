"""Works off a queue: one entry after the other, until it is empty, stopped, or two runs in a row have failed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Coroutine, Sequence
from typing import Protocol

from cephtui.models import Plan
from cephtui.planning import Request
from cephtui.running.launch import FAULTS, Ask, Launcher, NotRun
from cephtui.running.outcomes import failed_twice, yielded_nothing
from cephtui.running.queue import Entry, Queue
from cephtui.running.runner import Runner
from cephtui.tools.base import OptionError


class Front(Protocol):
    """Plans entries and gets them ready to run, in a front end."""

    def plan(self, request: Request) -> Plan:
        """The plan as far as it is known before its turn; raises OptionError."""
        ...

    async def connect(self, entry: Entry) -> Entry:
        """The entry with its nodes connected and their Ceph access found; raises NotRun."""
        ...

    def ask(self, dispatcher: Dispatcher) -> Ask:
        """Answers questions about the current entry of the dispatcher until its queue is worked off."""
        ...

    def start(self, work: Coroutine[None, None, None]) -> None:
        """Run this beside everything else."""
        ...


class Display(Protocol):
    """Shows what becomes of the entries."""

    def announce(self, text: str) -> None:
        """What is being done before a run begins, or why none has begun."""
        ...

    def announce_end(self, word: str) -> None:
        """The current entry is being ended: ``stopping`` or ``skipping``."""
        ...

    def report_error(self, text: str, title: str = "") -> None:
        """An error that the user has to see."""
        ...

    def report_hold(self, queue: Queue) -> None:
        """Nothing more is run: the queue is held, for the reason in its note."""
        ...

    def catch_up(self) -> None:
        """Show what the runner has published up to now."""
        ...


class Dispatcher:
    """Owns the queue of a front end, and submits its entries to the runner."""

    def __init__(self, runner: Runner, front: Front, display: Display, changed: Callable[[], None]) -> None:
        """``changed`` is called after each change of the queue or of ``busy``."""
        self._runner, self._front, self._display, self._changed = runner, front, display, changed
        self._queue = Queue()
        self._current: Entry | None = None
        self._busy = self._cancelled = self._stopped = False

    @property
    def queue(self) -> Queue:
        """The entries that wait."""
        return self._queue

    @property
    def current(self) -> Entry | None:
        """The entry that was taken last from the queue."""
        return self._current

    @property
    def busy(self) -> bool:
        """Whether an entry is being checked or run."""
        return self._busy

    @property
    def batch(self) -> str:
        """Of the entry that is being checked or run; empty where there is none."""
        return self._current.batch if self._busy and self._current else ""

    def push(self, entries: Sequence[Entry]) -> None:
        """Queue these, at once: the next call sees them."""
        self._go(self._queue.push(entries))

    def release(self) -> None:
        """Run what is held."""
        self._go(self._queue.release())

    def reorder(self, queue: Queue) -> None:
        """Take the queue with its entries in another order, or with fewer of them."""
        self._queue = queue
        self._changed()

    def stop(self) -> bool:
        """End the current entry and hold the others; False where nothing runs."""
        if not self._busy:
            return False
        self._stopped, self._queue = True, self._queue.hold("stopped")
        self._cancel("stopping")
        self._runner.stop()
        self._changed()
        return True

    def skip(self) -> bool:
        """End the current run and begin the next; False where nothing runs."""
        if not self._busy:
            return False
        self._cancel("skipping")
        self._runner.skip()
        return True

    def close(self) -> None:
        """Begin nothing more: the front end is about to end."""
        self._cancelled, self._stopped, self._queue = True, True, self._queue.hold("")

    def _go(self, queue: Queue) -> None:
        self._queue = queue
        if not self._busy and queue.ready:
            self._busy, self._cancelled = True, False
            self._front.start(self._work_off())
        self._changed()

    def _cancel(self, word: str) -> None:
        """Effective at once, also before the runner has the plan of the current entry."""
        self._cancelled = True
        self._display.announce_end(word)

    async def _work_off(self) -> None:
        ask, failures = self._front.ask(self), list[str]()
        try:
            while self._queue.ready:
                self._current, self._queue = self._queue.take()
                self._changed()
                failures += await self._run(self._current, ask)
                if self._queue.note and self._stopped and self._queue.is_held:
                    self._display.report_hold(self._queue)
                if self._queue.ready and (why := failed_twice(failures)):
                    self._queue = self._queue.hold(why)
                    self._display.report_hold(self._queue)
        finally:
            self._busy = self._cancelled = False
            self._changed()

    async def _run(self, entry: Entry, ask: Ask) -> list[str]:
        """Run an entry; gives for each of its runs why it failed, empty where it did not."""
        self._cancelled = self._stopped = False
        self._display.announce("checking the nodes and the target ...")
        try:
            ready = await self._front.connect(entry)
            if self._cancelled:
                raise NotRun
            launcher = Launcher(self._runner, ask)
            runs = await launcher.launch(ready.request, entry.batch, lambda: self._cancelled, entry.study)
        except (NotRun, *FAULTS) as why:
            return [self._not_run(entry, why)]
        self._display.catch_up()
        if self._stopped:
            self._put_back(entry.after(runs))
        if not runs:
            self._display.announce("not run")
        return [str(run.error or run.outcome) if yielded_nothing(run) else "" for run in runs] or [""]

    def _not_run(self, entry: Entry, why: Exception) -> str:
        """Why an entry failed before its first run; empty where the user ended it."""
        text = str(why)
        self._display.announce(f"not run: {text}" if text else "not run")
        if isinstance(why, NotRun) and self._cancelled:
            self._put_back(entry.after(()))
            return ""
        if text:
            self._display.report_error(text, "not run")
        return text

    def _put_back(self, rest: Entry | None) -> None:
        """The rest of a sweep or of repeats: after a stop it is held before all that waits, else it is next."""
        if rest is None:
            return
        with contextlib.suppress(OptionError):  # reported when its turn comes
            rest = rest.planned(self._front.plan)
        self._queue = self._queue.put_back(rest, held=self._stopped)
