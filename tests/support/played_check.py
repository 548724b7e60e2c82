"""A recorded check as it was measured: what the console lends to its screen, up to a moment that moves on."""

from __future__ import annotations

from collections.abc import Coroutine
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

from textual.app import App

from cephtui.analysis.views.live import Live
from cephtui.models import Mark, Run
from cephtui.ordering import plans_of
from cephtui.running.bench import BegunMark
from cephtui.running.survey import Conditions
from cephtui.sessions import store
from cephtui.studies.check import Check
from cephtui.studies.dispatcher import Dispatcher
from cephtui.tui.console.check import CheckContext
from cephtui.tui.console.marking import note_change
from cephtui.tui.screens.player import Player


class PlayedCheck:
    """Plays the runs of a check in place of measuring them; nothing is known of it but what has happened."""

    def __init__(self, app: App[Any], directory: Path, study: Check) -> None:
        """The study's batches are those of saved runs, with a mark between them."""
        runs, marks = store.read_runs(directory)[0], store.read_marks(directory)
        sides = [[run for run in runs if run.batch in batches] for batches in (study.goal.before, study.goal.after)]
        self.before, self.after = sides
        self.change = next(mark for mark in marks if mark.run is None and mark.at > self.before[-1].started_at)
        self._directory, self._study = directory, study
        self._live, self._player = Live(), Player(directory, self.before[0].run)
        self._ended, self._marks = list[Run](), list[Mark]()
        self._dispatcher = Dispatcher(Mock(), Mock(start=self._start), Mock(), lambda: None)
        self.context = CheckContext(
            self._dispatcher,
            lambda: (self._ended, self._marks, self._directory),
            lambda: self._live.current,
            plans_of,
            Mock(),
            partial(note_change, app, Mock(begin_mark=lambda: BegunMark(self.change, self._keep))),
            self._conditions,
        )

    def _start(self, work: Coroutine[None, None, None]) -> None:
        """What the dispatcher would measure is played."""
        work.close()
        entry, self._dispatcher._queue = self._dispatcher.queue.take()
        self._dispatcher._current = Mock(entry=entry, command_text="")

    def _keep(self, mark: Mark) -> Future[Mark]:
        self._marks.append(mark)
        kept: Future[Mark] = Future()
        kept.set_result(mark)
        return kept

    async def _conditions(self, *_: object) -> Conditions:
        """As they were when the first run after the change began."""
        return Conditions(self.after[0].cluster, self.after[0].environment)

    def begin(self, run: Run) -> float:
        """Play this run from now on; how long it takes, with its prefill."""
        self._player = Player(self._directory, run.run)
        self._player.paused = True
        return self._player.seconds

    def play_to(self, seconds: float) -> None:
        """Go on in the run that was begun; at its end it belongs to the session."""
        self._player.seek(seconds)
        for event in self._player.drain():
            self._live.take(event)
            if isinstance(event, Run) and event.outcome is not None:
                self._ended.append(event)

    def end_side(self) -> None:
        """Now that all runs of a side have been made, the check waits, or is over."""
        current, self._dispatcher._current, self._dispatcher._busy = self._dispatcher.current, None, False
        if current and not self._marks:
            self._dispatcher.reorder(self._dispatcher.queue.put_back(current.entry, "make the change"))

    def skip_to_end(self) -> None:
        """All has been measured."""
        self._ended, self._marks = [*self.before, *self.after], [self.change]
