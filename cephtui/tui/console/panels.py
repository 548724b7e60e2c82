"""The presets as tiles: their keys, and what they measure now or measured last."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text
from textual import events, work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from cephtui import units
from cephtui.models import Run
from cephtui.presets import Preset
from cephtui.reports.drawn.sparks import spark
from cephtui.sessions import store
from cephtui.sessions.store import StoreError
from cephtui.tui.charts.colors import FLOW_COLORS
from cephtui.tui.console.tile_result import TileResult, direction_of, headline_text, tile_result_of
from cephtui.tui.keys import key
from cephtui.tui.terminal.profile import profile_of

if TYPE_CHECKING:
    from cephtui.analysis.views.live import LiveRun, Progress

_FULL_TITLE_COLUMNS = 20


class PresetPanel(Static):
    """One preset: key and title, the result with its history; in one row where there is no more room."""

    result: reactive[TileResult] = reactive(TileResult())

    def __init__(self, preset: Preset) -> None:
        super().__init__(id=f"panel-{preset.file.key}")
        self.preset = preset
        self._runs: list[Run] = []
        """Those of its last batch that have ended."""

    def show_result(self, values: Sequence[float | None], *runs: Run) -> None:
        """Show the last of these with the others of its batch; ``values`` are its own."""
        for run in runs:
            earlier = (other for other in self._runs if other.batch == run.batch and other.run != run.run)
            self._runs = [*earlier, run]
        ascii_only = profile_of(self).ascii_only
        self.result = tile_result_of(self._runs, self.preset.file.headline, values, ascii_only=ascii_only)

    def show_begun(self) -> None:
        """A run of its preset has begun."""
        self.result = TileResult("starting", "starting")

    def show_live(self, state: LiveRun, progress: Progress, silent_seconds: float) -> None:
        """Show the run of its preset as it is now, or that its samples are overdue."""
        flows = state.latest.flows if state.latest else {}
        text = headline_text(flows, self.preset.file.headline)
        if state.phase == "prepare":
            text = f"prefill {units.bandwidth(flows['write'].bandwidth_bytes)}" if "write" in flows else "prefill"
        if silent_seconds:
            text = "no sample"
        history = tuple(state.history.total("iops").values())
        percent = None if progress.fraction is None else round(100 * progress.fraction)
        self.result = TileResult(text, text, history, direction_of(flows), percent or 0)

    def render(self) -> Text:
        """At the size it has."""
        width, rows = self.content_size
        file, shown = self.preset.file, self.result
        title = Text.assemble((f"{file.key} ", "bold"), no_wrap=True, overflow="ellipsis")
        if rows < 2:
            title.append(shown.short or file.short or file.title, self._style() if shown.short else "")
            return title
        result = Text(shown.fitting(width) or units.DASH, self._style(), no_wrap=True, overflow="ellipsis")
        full = file.title + (" (yours)" if self.preset.user else "")
        title.append(full if width >= _FULL_TITLE_COLUMNS else file.short or full)
        return Text("\n", no_wrap=True, overflow="ellipsis").join([title, self._with_history(result, width)])

    def _style(self) -> str:
        """On the ground of the selected one only the usual colour of text can be read from afar."""
        color = "" if self.has_class("selected") else FLOW_COLORS.get(self.result.direction, "")
        return f"bold {color}" if self.result.text else "dim"

    def _with_history(self, result: Text, width: int) -> Text:
        """What is done of the run in progress stands at the right edge."""
        shown = self.result
        percent = "" if shown.percent is None else f"{shown.percent:>3} %"
        room = width - result.cell_len - len(percent) - 2
        if room > 0:
            history = spark(shown.values, room, ascii_only=profile_of(self).ascii_only, fills=True)
            color = FLOW_COLORS.get(shown.direction, "")
            result.append(" ").append(history.ljust(room), f"not bold {color}")
        return result.append(f" {percent}" if percent else "", "not bold")

    def on_click(self, event: events.Click) -> None:
        """A click selects; the second one of a double click runs."""
        self.post_message(Panels.Chosen(self.preset, run=event.chain > 1))


class Panels(Horizontal, can_focus=True):
    """The row of tiles; one of them may be selected."""

    BINDINGS = [
        key("left", "move(-1)", "previous", "select a preset and see its command", "run", display="left right"),
        key("right", "move(1)", "next", "select a preset and see its command", "run", display="left right"),
    ]

    @dataclass
    class Chosen(Message):
        """A preset was selected, or is to be run."""

        preset: Preset
        run: bool

    def __init__(self, presets: list[Preset]) -> None:
        super().__init__(id="panels")
        self._presets = presets
        self._selected = 0
        self._begun: set[str] = set()
        """The presets of which a run has begun here: what they measured before is of no interest any more."""

    def compose(self) -> ComposeResult:
        for preset in self._presets:
            yield PresetPanel(preset)

    def select(self, preset: Preset) -> None:
        """Mark a preset's tile; none for one without a key."""
        for index, panel in enumerate(self.query_children(PresetPanel)):
            panel.set_class(panel.preset is preset, "selected")
            if panel.preset is preset:
                self._selected = index

    @work
    async def show_earlier(self, runs: Sequence[Run], directory: Path | None) -> None:
        """What the presets measured before, in a session that is continued."""
        latest = {run.preset: run for run in runs}
        for name, run in latest.items():
            values: list[float | None] = []
            with contextlib.suppress(StoreError):
                if directory:
                    history = await asyncio.to_thread(store.read_history, directory, run.run)
                    values = history.total("iops").values()
            for panel in self._of(run) if name not in self._begun else ():
                panel.show_result(values, *(preset_run for preset_run in runs if preset_run.preset == name))

    def show_begun(self, run: Run) -> None:
        """A run has begun."""
        self._begun.add(run.preset)
        for panel in self._of(run):
            panel.show_begun()

    def show_live(self, state: LiveRun, progress: Progress, silent_seconds: float) -> None:
        """Put the run in progress on the tile of its preset."""
        for panel in self._of(state.run):
            panel.show_live(state, progress, silent_seconds)

    def show_result(self, run: Run, values: Sequence[float | None]) -> None:
        """Put a run's result on the tile of its preset."""
        for panel in self._of(run):
            panel.show_result(values, run)

    def _of(self, run: Run) -> list[PresetPanel]:
        return [panel for panel in self.query_children(PresetPanel) if panel.preset.name == run.preset]

    def action_move(self, by: int) -> None:
        self.post_message(self.Chosen(self._presets[(self._selected + by) % len(self._presets)], run=False))
