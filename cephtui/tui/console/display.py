"""Shows in the console what becomes of the studies of its queue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text
from textual.screen import Screen
from textual.widgets import Static

if TYPE_CHECKING:
    from cephtui.models import Plan, Run
    from cephtui.studies.base import Measure, Study, StudyResult
    from cephtui.studies.queue import Queue
    from cephtui.tui.widgets.live_view import LiveView

_STAYS_SECONDS = 15.0


class StudyLine(Static):
    """How far the study is that is measured, and what is known so far; no row where there is nothing to say."""

    DEFAULT_CSS = "StudyLine { height: auto; max-height: 2; padding: 0 1; }"

    def on_mount(self) -> None:
        self.say([])

    def say(self, lines: Sequence[str]) -> None:
        """The last lines, as long as there is nothing newer."""
        self.display = bool(lines)
        self.update(Text("\n".join(lines[-2:])))


class ConsoleDisplay:
    """Draws on the console's screen; what the user has to see is a notification too."""

    def __init__(self, screen: Screen[None], live_view: LiveView) -> None:
        self._screen, self._live_view = screen, live_view

    def announce(self, text: str) -> None:
        """In the line of progress."""
        self._live_view.announce(text)

    def announce_end(self, word: str) -> None:
        """At once, also before a run has begun."""
        self._live_view.announce_end(word)

    def catch_up(self) -> None:
        """Draw what the runner has published."""
        self._live_view.catch_up()

    def begins(self, study: Study[Any], step: Measure, plan: Plan, runs: Sequence[Run]) -> None:
        """In the line of the study, with what was known before it."""
        from cephtui.reports.studies import view_of

        view = view_of(study)
        earlier = view.brought(study, runs)[-1:] if runs else []
        self._tell([*earlier, *filter(None, [view.begins(study, step, plan, runs)])])

    def brought(self, study: Study[Any], runs: Sequence[Run]) -> None:
        """In the line of the study."""
        from cephtui.reports.studies import view_of

        self._tell(view_of(study).brought(study, runs))

    def concluded(self, study: Study[Any], conclusion: StudyResult) -> None:
        """What is said beyond what the last run has brought is a notification too."""
        from cephtui.reports.studies import view_of

        lines = view_of(study).sentences(study, conclusion)
        if lines:
            self._tell(lines)
            severity = "information" if conclusion.exit_code == 0 else "warning"
            self._notify("\n".join(lines), severity)

    def want_change(self, study: Study[Any]) -> None:
        """On the screen of checks it is said that it is made."""
        self._tell(["make the change now, then press C: describe the change, and the runs after it begin"])

    def say(self, text: str) -> None:
        """In the line of the study too, where it stays."""
        self._tell([text])
        self._notify(text, "warning")

    def report_error(self, text: str, title: str = "") -> None:
        self._screen.notify(text, title=title, severity="error", timeout=_STAYS_SECONDS, markup=False)

    def report_hold(self, queue: Queue) -> None:
        """Why the queue is held, what is in it, and how that is run."""
        self._notify(f"{queue.note}; {queue.held}: press u, then g to resume", "warning")

    def _tell(self, lines: Sequence[str]) -> None:
        for line in self._screen.query(StudyLine):
            line.say(lines)

    def _notify(self, text: str, severity: Any) -> None:
        self._screen.notify(text, severity=severity, timeout=_STAYS_SECONDS, markup=False)
