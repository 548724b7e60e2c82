"""The presets as panels: their keys, and what they last measured."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from pathlib import Path

from rich.text import Text
from textual import events, work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from cephtui import units
from cephtui.models import Run
from cephtui.models.metrics import HEADLINES, HeadlineName
from cephtui.presets import Preset
from cephtui.reports.sparks import spark
from cephtui.sessions import store
from cephtui.sessions.store import StoreError
from cephtui.stats import known_sum
from cephtui.tui.keys import key
from cephtui.tui.terminal.profile import profile_of


def headline(run: Run, name: HeadlineName) -> str:
    """The headline figure of a preset, of reads and writes together if they add up; marked if there are findings."""
    totals = [t for t in (run.summary.read, run.summary.write) if t]
    if not totals:
        return run.outcome or ""
    figure = next(figure for figure in HEADLINES if figure.name == name)
    values = [figure.metric.of(total) for total in totals]
    shown = [known_sum(values)] if figure.sums else values
    return " ".join(map(figure.metric.as_text, shown)) + (" !" if run.findings else "")


_SHORT = {"read": "r", "write": "w"}


class PresetPanel(Static):
    """One preset: key and title, the last result, and its history."""

    result = reactive("")
    values: reactive[tuple[float | None, ...]] = reactive(())

    def __init__(self, preset: Preset) -> None:
        super().__init__(id=f"panel-{preset.file.key}")
        self.preset = preset
        self._batch = ""
        self._figures: dict[str, str] = {}

    def show_result(self, run: Run, values: list[float | None]) -> None:
        """Show a run's figure; where the runs of one batch read and wrote in turn, both."""
        if run.batch != self._batch:
            self._batch, self._figures = run.batch, {}
        self._figures["write" if run.summary.write else "read"] = headline(run, self.preset.file.headline)
        several = len(self._figures) > 1
        self.result = " ".join(f"{_SHORT[d]} {text}" if several else text for d, text in self._figures.items())
        self.values = tuple(values)

    def render(self) -> Text:
        """Key and title, which may take two rows; the last result; a tiny history."""
        width = self.content_size.width
        chosen = self.has_class("selected")
        title = Text.assemble((f"{self.preset.file.key}{'>' if chosen else ' '}", "bold"), self.preset.file.title)
        if self.preset.user:
            title.append(" (yours)", "italic")
        lines = title.wrap(self.app.console, max(1, width))[:2]
        rows = [*lines, *[Text("")] * (2 - len(lines))]
        style = "bold" if self.result else "dim"
        rows.append(Text(self.result or units.DASH, style, no_wrap=True, overflow="ellipsis"))
        rows.append(Text(spark(self.values, width, ascii_only=profile_of(self).ascii_only), "dim", no_wrap=True))
        return Text("\n").join(rows)

    def on_click(self, event: events.Click) -> None:
        """A click selects; the second one of a double click runs."""
        self.post_message(Panels.Chosen(self.preset, run=event.chain > 1))


class Panels(Horizontal, can_focus=True):
    """The row of panels; one of them may be selected."""

    BINDINGS = [
        key("left", "move(-1)", "previous", "select a preset and see its command", "run", display="left right"),
        key("right", "move(1)", "next", "select a preset and see its command", "run", display="left right"),
    ]

    class Chosen(Message):
        """A preset was selected, or is to be run."""

        def __init__(self, preset: Preset, *, run: bool) -> None:
            super().__init__()
            self.preset, self.run = preset, run

    def __init__(self, presets: list[Preset]) -> None:
        super().__init__(id="panels")
        self._presets = presets
        self._selected = 0

    def compose(self) -> ComposeResult:
        for preset in self._presets:
            yield PresetPanel(preset)

    def select(self, preset: Preset) -> None:
        """Mark a preset's panel; none for one without a key."""
        for index, panel in enumerate(self.query(PresetPanel)):
            panel.set_class(panel.preset is preset, "selected")
            panel.refresh()
            if panel.preset is preset:
                self._selected = index

    @work
    async def show_earlier(self, runs: Sequence[Run], directory: Path | None) -> None:
        """What the presets measured before, in a session that is continued."""
        latest = {run.preset: run for run in runs}
        for run in runs:
            values: list[float | None] = []
            with contextlib.suppress(StoreError):
                if directory and run is latest[run.preset]:
                    history = await asyncio.to_thread(store.read_history, directory, run.run)
                    values = history.total("iops").values()
            self.show_result(run, values)

    def show_running(self, run: Run) -> None:
        """Mark the preset that is running."""
        for panel in self.query(PresetPanel):
            if panel.preset.name == run.preset:
                panel.result, panel.values = "running", ()

    def show_result(self, run: Run, values: list[float | None]) -> None:
        """Put a run's figure on the panel of its preset."""
        for panel in self.query(PresetPanel):
            if panel.preset.name == run.preset:
                panel.show_result(run, values)

    def action_move(self, by: int) -> None:
        self.post_message(self.Chosen(self._presets[(self._selected + by) % len(self._presets)], run=False))
