"""The run in progress, or the last one: what comes in is drawn a few times a second.

What only runs need is imported with the first of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message
from textual.widgets import Static

from cephtui import models, units
from cephtui.models.metrics import HEADLINE_BY_NAME
from cephtui.reports.words.quality import is_marked, outcome_word, short_notes
from cephtui.reports.words.text import how_far, phase_words, time_left
from cephtui.tui.terminal.profile import profile_of
from cephtui.tui.textual_private import unwritten_frames
from cephtui.tui.widgets.cluster_now import ClusterNow
from cephtui.tui.widgets.run_view import RunView
from cephtui.tui.widgets.time_bar import progress_bar

if TYPE_CHECKING:
    from cephtui.analysis.views.live import Live, LiveRun, Progress
    from cephtui.models import Event, Mark, Run

DRAWS_PER_SECOND = 4
_BAR_COLUMNS = 16
_SILENT_SECONDS = 2.5
"""A sample comes every second, and of many nodes up to two seconds late."""


def _is_merged(event: Event) -> bool:
    """Whether it is a sample of all nodes."""
    return isinstance(event, models.Sample) and event.node is None


class EventSource(Protocol):
    """Where events come from: the runner's inbox, or a recording."""

    def drain(self) -> list[Event]:
        """All that has happened since the last call; never waits."""
        ...


class ProgressLine(Static):
    """One row: phase, progress, time left; or the outcome of the run."""

    def __init__(self, *, has_bar: bool, id: str) -> None:
        """Without a bar it does not tell how far the run is: a player does."""
        super().__init__(id=id)
        self._has_bar, self._shown = has_bar, Text()

    def show(self, state: LiveRun, progress: Progress, remaining: str, silent_seconds: float) -> None:
        """Draw a run in progress."""
        text = Text.assemble((f"#{state.run.run} {state.run.preset} ", "bold"), phase_words(state, progress.phase))
        if self._has_bar:
            if progress.fraction is not None or progress.phase == "prepare":
                bar = progress_bar(progress.fraction or 0.0, _BAR_COLUMNS, ascii_only=profile_of(self).ascii_only)
                text.append(" ").append(bar)
            text.append(f" {self._how_far(state, progress.elapsed_seconds)}{remaining and f', {remaining}'}")
        if silent_seconds:
            from cephtui.tui.widgets.now import silence_text

            text.append(f"  {silence_text(silent_seconds)}", "bold yellow")
        for node_end in state.left_early:
            from cephtui.analysis.detectors.ended import ended_text

            text.append(f"  {ended_text(node_end)}", "bold red")
        if state.notice:
            text.append(f"  {state.notice}", "bold yellow")
        self._draw(text, layout=False)

    @staticmethod
    def _how_far(state: LiveRun, elapsed: float) -> str:
        if state.phase == "prepare":
            written = units.size_of(state.prepared_bytes, state.prefill_bytes)
            rate = state.latest.write.bandwidth_bytes if state.latest and state.latest.write else None
            is_written = 0 < state.prefill_bytes <= state.prepared_bytes
            return f"{written}, flushing" if is_written else f"{written}, {units.bandwidth(rate)}"
        return how_far(elapsed, state.expected_seconds)

    def show_end(self, run: Run) -> None:
        """Draw the outcome of a run, and what limits its figures."""
        style = "bold red" if run.outcome != "ok" else "bold yellow" if is_marked(run) else "bold green"
        text = Text.assemble((f"#{run.run} {run.preset} ", "bold"), (outcome_word(run), style))
        first, *notes = short_notes(run) or [""]
        text.append(f"  {first}", "yellow").append("\n" if notes else "").append("  ".join(notes), "yellow")
        self._draw(text)

    def announce(self, text: str) -> None:
        """Draw what is being done before a run begins."""
        self._draw(Text(text, style="dim"))

    def _draw(self, text: Text, *, layout: bool = True) -> None:
        if text != self._shown:
            self._shown = text
            self.update(text, layout=layout)


class LiveView(Container):
    """Listens to a source, and draws the run in progress or the last one."""

    @dataclass
    class Began(Message):
        """A run has begun."""

        run: Run

    @dataclass
    class Ended(Message):
        """A run has ended."""

        run: Run
        values: list[float | None]
        """IOPS over time."""

    @dataclass
    class Drawn(Message):
        """A sample of the run in progress has been drawn, or a second has passed without one."""

        state: LiveRun
        progress: Progress
        remaining: str
        """Which run of its order it is, and the time left: ``run 2 of 4, 1:40 min left``."""
        silent_seconds: float
        """Since the latest sample, where it is overdue; otherwise 0."""

    @dataclass
    class Marked(Message):
        """The user has set a mark."""

        mark: Mark

    def __init__(
        self,
        source: EventSource,
        clock: Callable[[], float] = time.monotonic,
        *,
        empty: str = "",
        listens: bool = True,
        is_played: bool = False,
    ) -> None:
        """``clock``, in seconds, gives the age of the last event; that of a recording pauses with it.

        ``empty`` is shown before the first run. Where it does not listen from the beginning, it does after `listen`.
        How far a run is that ``is_played`` is told by its player.
        """
        super().__init__()
        self._is_played = is_played
        self._source, self._clock, self._empty, self._listens = source, clock, empty, listens
        self._live: Live | None = None
        self._ended: Run | None = None
        """The run that is shown where none is in progress."""
        self._received = clock()
        self._undrawn = False
        """Whether more has arrived than samples of single nodes."""
        self._posted = float("-inf")
        """When the last Drawn was posted, by the clock."""

    def compose(self) -> ComposeResult:
        yield RunView(self._empty)
        yield ClusterNow(id="cluster")
        yield ProgressLine(id="progress", has_bar=not self._is_played)

    def on_mount(self) -> None:
        self.query_one(ClusterNow).clear()
        if self._listens:
            self.listen()

    def listen(self) -> None:
        """Take in what happens from now on, and what has happened since the source was opened."""
        self.set_interval(1 / DRAWS_PER_SECOND, self.catch_up)

    @property
    def current(self) -> LiveRun | None:
        return self._live.current if self._live else None

    def _clear(self) -> None:
        self._ended = None
        self.query_one(RunView).clear()
        self.query_one(ClusterNow).clear()

    def catch_up(self) -> None:
        """Take in what has happened since the last call, and draw it where the terminal keeps up."""
        events = self._source.drain()
        for event in events:
            self._take(event)
        if any(isinstance(e, models.Run) or _is_merged(e) for e in events):
            self._received = self._clock()
        self._undrawn |= any(
            isinstance(e, (models.Mark, models.ClusterSample, models.NodeEnded, models.Run)) or _is_merged(e)
            for e in events
        )
        if self._live is None or self._live.current is None or unwritten_frames(self.app) > 1:
            return  # nothing runs, or the terminal has not yet taken the frames before
        from cephtui.tui.widgets.shown import shown_of_live

        state, view = self._live.current, self.query_one(RunView)
        is_new, self._undrawn = self._undrawn, False
        is_due = is_new or self._clock() - self._posted >= 1
        if is_new:
            view.show(shown_of_live(state))
        elif is_due:
            view.show_nodes(shown_of_live(state))
        self._show_cluster(state)
        since = max(0.0, self._clock() - self._received)
        progress, batch = state.progress(since), self._live.batch_progress(since)
        remaining = time_left(batch) if batch else ""
        silent = since if since >= _SILENT_SECONDS and state.phase != "prepare" else 0.0
        view.show_silence(silent)
        self.query_one(ProgressLine).show(state, progress, remaining, silent)
        if is_due:
            self._posted = self._clock()
            self.post_message(self.Drawn(state, progress, remaining, silent))

    def _show_cluster(self, state: LiveRun) -> None:
        """Show the cluster in one row, where its panel has no room."""
        line = self.query_one(ClusterNow)
        line.show(state.cluster, self._clock())
        if "cluster" in self.query_one(RunView).laid_out.names:
            line.display = False

    def _take(self, event: Event) -> None:
        if self._live is None:
            from cephtui.analysis.views.live import Live

            self._live = Live()
        if isinstance(event, models.Notice) and self._live.current is None:
            self.notify(event.text, markup=False)
        elif isinstance(event, models.Mark):
            self._show_late(event)
            self.post_message(self.Marked(event))
        elif isinstance(event, models.Run) and event.outcome is None:
            self._clear()
            self.post_message(self.Began(event))
        elif isinstance(event, models.Run):
            self._end(event)
        self._live.take(event)
        if isinstance(event, models.Run) and (begun := self._live.current):
            self.query_one(RunView).follow(event.preset, HEADLINE_BY_NAME[begun.step.headline].metric)

    def _show_late(self, mark: Mark) -> None:
        """Draw a mark whose run had ended when its words were typed."""
        view, run = self.query_one(RunView), self._ended
        if view.shown and run and run.run == mark.run and mark.elapsed_seconds is not None:
            view.show(replace(view.shown, marks=(*view.shown.marks, (mark.elapsed_seconds, mark.text))))

    def _end(self, run: Run) -> None:
        """Draw the figures of the whole run instead of those of its last second."""
        self._ended = run
        values: list[float | None] = []
        if state := self.current:
            from cephtui.tui.widgets.shown import shown_of_run, spans_of

            shown = shown_of_run(run, state.history, state.marks, state.course.other_operations.curve)
            # runs of earlier versions were saved without them
            self.query_one(RunView).show(replace(shown, spans=shown.spans or spans_of(state.findings())))
            values = state.history.total("iops").values()
        self.query_one(ClusterNow).clear()
        self.query_one(ProgressLine).show_end(run)
        self.post_message(self.Ended(run, values))

    def announce(self, text: str) -> None:
        """Show what is being done before a run begins."""
        self.query_one(ProgressLine).announce(text)

    def announce_end(self, word: str) -> None:
        """Show at once that the run in progress, or what precedes it, is being ended."""
        if self.current:
            self.current.notice = f"{word}, the results so far are kept"  # until its next sample
        else:
            self.announce(f"{word} ...")
