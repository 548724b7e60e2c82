"""The run in progress, or the last one: what comes in is drawn a few times a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message
from textual.widgets import Static

from cephtui import units
from cephtui.analysis.live import Live, LiveRun
from cephtui.models import ClusterSample, Event, Mark, Notice, Run, Sample
from cephtui.reports.text import cluster_line, notes
from cephtui.running.queue import Queue
from cephtui.tui.terminal.profile import profile_of
from cephtui.tui.textual_private import unwritten_frames
from cephtui.tui.widgets.run_view import NodesNow, RunView, of_live, of_saved

DRAWS_PER_SECOND = 4
_PHASES = {"prepare": "prefilling", "ramp": "ramp-up", "run": "running"}
_BAR_COLUMNS = 16
_STALE_SECONDS, _WIDE_COLUMNS = 5.0, 100


class Source(Protocol):
    """Where events come from: the runner's inbox, or a recording."""

    def drain(self) -> list[Event]:
        """All that has happened since the last call; never waits."""
        ...


class Progress(Static):
    """One row: phase, progress, time left; or the outcome of the run."""

    def show(self, state: LiveRun | None, since_sample_seconds: float) -> None:
        """Draw a run in progress."""
        if state is None:
            self.update(Text("press 1 to 6, or enter, to run", style="dim"))
            return
        progress = state.progress(since_sample_seconds)
        text = Text.assemble((f"#{state.run.run} {state.run.preset} ", "bold"), f"{_PHASES[progress.phase]} ")
        if progress.fraction is not None or progress.phase == "prepare":
            done = round((progress.fraction or 0.0) * _BAR_COLUMNS)
            full, rest = ("=", ".") if profile_of(self).ascii_only else ("━", "─")
            text.append(full * done, "bold green").append(rest * (_BAR_COLUMNS - done), "dim")
        text.append(f" {self._how_far(state, progress.elapsed_seconds)}")
        if progress.eta_seconds:
            text.append(f", {units.duration(progress.eta_seconds)} left")
        if state.notice:
            text.append(f"  {state.notice}", "bold yellow")
        self.update(text, layout=False)

    @staticmethod
    def _how_far(state: LiveRun, elapsed: float) -> str:
        if state.phase == "prepare":
            written = f"{units.size(state.prepared_bytes)} of {units.size(state.wanted_bytes)}"
            return f"{written}, flushing" if state.prepared_bytes >= state.wanted_bytes else written
        expected = state.expected_seconds
        return f"{elapsed:.0f} s" if expected is None else f"{min(elapsed, expected):.0f} of {expected:.0f} s"

    def show_end(self, run: Run) -> None:
        """Draw the outcome of a run, and what limits its figures."""
        style = "bold green" if run.outcome == "ok" else "bold red"
        text = Text.assemble((f"#{run.run} {run.preset} ", "bold"), (str(run.outcome), style))
        for note in notes(run):
            text.append(f"  ! {note}", "yellow")
        self.update(text, layout=False)


class ClusterNow(Static):
    """The cluster's state, in one row, with its age where it is stale."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._shown: ClusterSample | None = None
        self._since = 0.0

    def clear(self) -> None:
        """Forget the last run's."""
        self._shown = None
        self.display = False

    def show(self, state: LiveRun, now: float) -> None:
        """Draw the latest answer."""
        if state.cluster is None:
            return
        if state.cluster is not self._shown:
            self._shown, self._since = state.cluster, now
        age = now - self._since
        text = Text(cluster_line(state.cluster, narrow=self.size.width < _WIDE_COLUMNS))
        if age > _STALE_SECONDS:
            text.append(f"  {units.duration(age)} ago", "bold yellow")
        self.display = True
        self.update(text, layout=False)


class LiveView(Container):
    """Listens to a source, and draws the run in progress or the last one."""

    class Began(Message):
        """A run has begun."""

        def __init__(self, run: Run) -> None:
            super().__init__()
            self.run = run

    class Ended(Message):
        """A run has ended."""

        def __init__(self, run: Run, values: list[float | None]) -> None:
            super().__init__()
            self.run, self.values = run, values
            """IOPS over time."""

    class Marked(Message):
        """The user has set a mark."""

        def __init__(self, mark: Mark) -> None:
            super().__init__()
            self.mark = mark

    def __init__(self, source: Source, clock: Callable[[], float] = time.monotonic) -> None:
        """``clock``, in seconds, gives the age of the last event; that of a recording pauses with it."""
        super().__init__()
        self._source, self._clock = source, clock
        self._live = Live()
        self._received = clock()
        self._undrawn = False
        """Whether more has arrived than samples of single nodes."""

    def compose(self) -> ComposeResult:
        """The charts, the cluster, the progress."""
        yield RunView()
        yield ClusterNow(id="cluster")
        yield Progress(id="progress")

    def on_mount(self) -> None:
        """Nothing has run yet."""
        self.query_one(ClusterNow).clear()
        self.query_one(Progress).show(None, 0.0)
        self.set_interval(1 / DRAWS_PER_SECOND, self.catch_up)

    @property
    def current(self) -> LiveRun | None:
        return self._live.current

    def begin_anew(self) -> None:
        """Forget what was shown: the source begins again with its first event."""
        self._live = Live()
        self.query_one(RunView).clear()
        self.query_one(ClusterNow).clear()

    def catch_up(self) -> None:
        """Take in what has happened since the last call, and draw it where the terminal keeps up."""
        events = self._source.drain()
        for event in events:
            self._take(event)
        if events:
            self._received = self._clock()
        self._undrawn |= any(
            isinstance(e, (Mark, ClusterSample)) or (isinstance(e, Sample) and e.node is None) for e in events
        )
        state = self._live.current
        if state is None or self._is_behind():
            return
        self.query_one(ClusterNow).show(state, self._clock())
        if self._undrawn:
            self.query_one(RunView).show(of_live(state))
        elif events:
            self.query_one(NodesNow).show(of_live(state))
        self._undrawn = False
        self.query_one(Progress).show(state, max(0.0, self._clock() - self._received))

    def _is_behind(self) -> bool:
        """Whether the terminal has not yet taken the frames before."""
        return unwritten_frames(self.app) > 1

    def _take(self, event: Event) -> None:
        if isinstance(event, Notice) and self._live.current is None:
            self.notify(event.text, markup=False)
        elif isinstance(event, Mark):
            self.post_message(self.Marked(event))
        elif isinstance(event, Run) and event.outcome is None:
            self.query_one(RunView).clear()
            self.query_one(ClusterNow).clear()
            self.post_message(self.Began(event))
        elif isinstance(event, Run):
            self._end(event)
        self._live.take(event)

    def _end(self, run: Run) -> None:
        """The figures of the whole run instead of those of its last second."""
        values: list[float | None] = []
        if state := self._live.current:
            self.query_one(RunView).show(of_saved(run, state.history, state.marks))
            values = state.history.total("iops").values()
        self.query_one(ClusterNow).clear()
        self.query_one(Progress).show_end(run)
        self.post_message(self.Ended(run, values))

    def announce(self, text: str) -> None:
        """Show what is being done before a run begins."""
        self.query_one(Progress).update(Text(text, style="dim"))

    def announce_end(self, word: str) -> None:
        """Show at once that the run in progress, or what precedes it, is being ended."""
        if self._live.current:
            self._live.current.notice = f"{word}, what was measured is kept"  # until its next sample
        else:
            self.announce(f"{word} ...")

    def report_error(self, text: str, title: str = "") -> None:
        """A notification that stays for a while."""
        self.notify(text, title=title, severity="error", timeout=15, markup=False)

    def report_hold(self, queue: Queue) -> None:
        """Why the queue is held, and what waits in it."""
        self.report_error(f"{queue.note}. {queue.summary} (u shows the queue)")
