"""Results handed on as Markdown: into the terminal's clipboard, or shown to be selected.

The Markdown's own modules are imported when something is copied.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from textual import work
from textual.screen import Screen

from cephtui import paths
from cephtui.frozen import dataclass
from cephtui.sessions import store
from cephtui.sessions.store import StoreError
from cephtui.tui.keys import key
from cephtui.tui.terminal.apply import PlainDriver

if TYPE_CHECKING:
    from cephtui.analysis.runs.sides import Side
    from cephtui.analysis.verdicts.conclusion import Judgement
    from cephtui.models import Run
    from cephtui.reports.blocks import View

_TOAST_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class MarkdownSnippet:
    """Results as Markdown."""

    name: str
    """The name in a message: ``#3``, ``#7-9``."""
    text: str


def snippet_of(name: str, view: View) -> MarkdownSnippet:
    """A view as Markdown; raises StoreError, where it reads what it shows."""
    from cephtui.reports.render.gfm import markdown_of

    return MarkdownSnippet(name, markdown_of(view.document()))


def run_snippet(directory: Path, run: Run) -> MarkdownSnippet:
    """A run, or the whole batch that it is one of several of, with the marks made in that time; raises StoreError."""
    from cephtui.analysis.runs.batches import group
    from cephtui.analysis.runs.marks import marks_among
    from cephtui.reports.views.runs import session_view
    from cephtui.reports.words.facts import ranges
    from cephtui.sessions.studies import batches_until_stable

    runs = {saved.run: saved for saved in (run, *store.read_runs(directory)[0])}
    chosen = runs.pop(run.run)  # as it is saved: a run that is replayed has no results yet
    batch = sorted(group([chosen, *runs.values()])[0].runs, key=lambda saved: saved.run)
    marks = marks_among(batch, store.read_marks(directory))
    view = session_view(batch, marks, until_stable=batches_until_stable(directory))
    return snippet_of(f"#{ranges(saved.run for saved in batch)}", view)


def details_snippet(directory: Path, run: Run) -> MarkdownSnippet:
    """One run with its latencies, its jobs and how busy its nodes were; raises StoreError."""
    from cephtui.reports.views.run import saved_run_view

    return snippet_of(f"#{run.run}", saved_run_view(directory, run.run))


def comparison_snippet(left: Side, right: Side, judged: Judgement | None) -> MarkdownSnippet:
    """Two sides beside each other, with the verdict where they can be compared."""
    from cephtui.reports.views.comparison import comparison_view

    return snippet_of("the comparison", comparison_view(left, right, judged))


COPY = key("y", "copy", "copy", "copy the results as Markdown, for a ticket; y again shows it", "view", shown=True)


class CopyingScreen(Screen[None]):
    """A screen whose results can be copied: it has the key ``COPY``."""

    _copied: tuple[str, float] = "", 0.0
    """What is in the clipboard, and since when by the monotonic clock."""

    def handout(self) -> Callable[[], MarkdownSnippet] | None:
        """What makes the Markdown, on any thread; None where there is nothing to copy, and the user is notified."""
        return None

    @work(exclusive=True, group="copy")
    async def action_copy(self) -> None:
        """Copy into the clipboard; where the terminal takes none, and pressed again, the Markdown is shown."""
        make = self.handout()
        if make is None:
            return
        try:
            snippet = await asyncio.to_thread(make)
        except StoreError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        copied, at = self._copied
        again = copied == snippet.text and time.monotonic() - at < _TOAST_SECONDS
        if again or issubclass(self.app.driver_class, PlainDriver):
            from cephtui.tui.dialogs import Selectable

            file = await asyncio.to_thread(_save, snippet.text)
            self.app.push_screen(Selectable(f"{snippet.name} as Markdown", snippet.text, file))
            return
        self.app.copy_to_clipboard(snippet.text)
        self._copied = snippet.text, time.monotonic()
        self.notify(f"copied {snippet.name} as Markdown (y again shows it)", timeout=_TOAST_SECONDS)


def _save(text: str) -> Path | None:
    """The file that keeps the text until the next is copied; None where that is not possible."""
    file = paths.cache_dir() / "copied.md"
    try:
        paths.make_private(file.parent)
        file.write_text(text, "utf-8")
    except OSError:
        return None
    return file
