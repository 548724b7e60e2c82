"""The presets as tiles: their keys, and what they measure now or measured last."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import replace
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
from cephtui.frozen import dataclass
from cephtui.models.metrics import COMMIT, HEADLINE_BY_NAME, HeadlineName, Metric
from cephtui.reports.drawn.sparks import spark
from cephtui.reports.words.quality import is_marked
from cephtui.reports.words.text import counted, margin_of
from cephtui.sessions import store
from cephtui.sessions.store import StoreError
from cephtui.tui.charts.colors import FLOW_COLORS
from cephtui.tui.keys import key
from cephtui.tui.terminal.profile import profile_of

if TYPE_CHECKING:
    from cephtui.analysis.views.live import LiveRun
    from cephtui.models import Interval, Run, Total
    from cephtui.presets import Preset

_SHORT = {"read": "r", "write": "w"}
_SHOWN = (*_SHORT, COMMIT)


@dataclass(frozen=True, slots=True)
class TileResult:
    """What a tile shows of its preset."""

    text: str = ""
    short: str = ""
    """The text where there is less room: of reads and writes in turn, those that were measured last."""
    values: tuple[float | None, ...] = ()
    """IOPS over time."""
    direction: str = ""
    """``read`` or ``write`` where it is one of them, for the colour."""
    longer: tuple[str, ...] = ()
    """Texts where there is more room: with the interval of the mean and the number of repeats, the longest first."""

    def fitting(self, width: int) -> str:
        """The longest that has room, else the shortest."""
        return next((text for text in (*self.longer, self.text) if len(text) <= width), self.short)


def headline_text(flows: Mapping[str, Total | Interval], name: HeadlineName) -> str:
    """The headline metric of reads and writes: together where they add up; empty where there are none."""
    return " ".join(map(_metric(name).as_text, _values(flows, name)))


def tile_result_of(
    runs: Sequence[Run], name: HeadlineName, values: Sequence[float | None], *, ascii_only: bool = False
) -> TileResult:
    """What the runs of a batch show up to now, the last of which has these ``values``; of repeats, their mean.

    Where they read and wrote in turn, both.
    """
    latest: dict[str, Run] = {}
    direction = ""
    for run in runs:
        direction = direction_of(run.summary.flows)
        latest = {**latest, direction: run} if direction and "" not in latest else {direction: run}
    several = len(latest) > 1
    parts = {flow: _part(runs, run, name, ascii_only) for flow, run in latest.items()}
    signed = {flow: replace(part, text=f"{_SHORT[flow]} {part.text}") if several else part
              for flow, part in parts.items()}  # fmt: skip
    text, *longer = ("  ".join(part.at(length) for part in signed.values()) for length in range(3))
    short = signed[direction].text
    return TileResult(text, short, tuple(values), "" if several else direction, longer=tuple(reversed(longer)))


def direction_of(flows: Mapping[str, object]) -> str:
    """The only one of the I/Os; empty for several."""
    names = _metric("iops").names_of_whole(flows)
    return names[0] if len(names) == 1 else ""


@dataclass(frozen=True, slots=True)
class _Part:
    """What the runs of one direction show."""

    text: str
    margin: str = ""
    number: str = ""

    def at(self, length: int) -> str:
        """The text alone, with the margin, or with all."""
        return " ".join(filter(None, (self.text, self.margin, self.number)[: length + 1]))


def _part(runs: Sequence[Run], run: Run, name: HeadlineName, ascii_only: bool) -> _Part:
    """What a run shows with those of the ``runs`` that it repeats."""
    from cephtui.analysis.runs.batches import Estimate, SweepPoint, set_up, summarize

    summary = summarize(SweepPoint(run.options, tuple(repeat for repeat in runs if set_up(repeat) == set_up(run))))
    by_flow = zip(*(_values(repeat.summary.flows, name) for repeat in summary.counted), strict=False)
    columns = [[value for value in values if value is not None] for values in by_flow]
    if len(summary.point.repeats) < 2 or not run.summary.flows or not columns or not all(columns):
        text = headline_text(run.summary.flows, name) or run.outcome or ""
        return _Part(f"{text} !" if is_marked(run) and run.summary.flows else text)
    estimates = [Estimate.of(column) for column in columns]
    text = " ".join(_metric(name).as_text(estimate.value) for estimate in estimates)
    margin = margin_of(estimates[0], ascii_only=ascii_only) if len(estimates) == 1 else ""
    return _Part(f"{text} !" if any(map(is_marked, summary.counted)) else text, margin, counted(summary))


def _metric(name: HeadlineName) -> Metric:
    return HEADLINE_BY_NAME[name].metric


def _values(flows: Mapping[str, Total | Interval], name: HeadlineName) -> list[float | None]:
    """One value where reads and writes add up, else one of each; of writes that are flushed, that of the commit."""
    from cephtui.stats import known_sum

    metric = _metric(name)
    values = [metric.of(flows[flow]) for flow in metric.names_of_whole(flows) if flow in _SHOWN]
    return [known_sum(values)] if values and HEADLINE_BY_NAME[name].sums else values


_FULL_TITLE_COLUMNS = 20


class PresetPanel(Static):
    """One preset: key and title, the result with its history; in one row where there is no more room."""

    result: reactive[TileResult] = reactive(TileResult())

    def __init__(self, preset: Preset) -> None:
        super().__init__(id=f"panel-{preset.file.key}")
        self.preset = preset
        self._runs: list[Run] = []
        """The runs of its last batch that have ended."""

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

    def show_live(self, state: LiveRun, silent_seconds: float) -> None:
        """Show the run of its preset as it is now, or that its samples are overdue."""
        flows = state.latest.flows if state.latest else {}
        text = headline_text(flows, self.preset.file.headline)
        if state.phase == "prepare":
            text = f"prefill {units.bandwidth(flows['write'].bandwidth_bytes)}" if "write" in flows else "prefill"
        if silent_seconds:
            text = "no sample"
        history = tuple(state.history.total("iops").values())
        self.result = TileResult(text, text, history, direction_of(flows))

    def render(self) -> Text:
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
        """The result's style; on the ground of a selected tile only the usual colour of text can be read from afar."""
        color = "" if self.has_class("selected") else FLOW_COLORS.get(self.result.direction, "")
        return f"bold {color}" if self.result.text else "dim"

    def _with_history(self, result: Text, width: int) -> Text:
        shown = self.result
        room = width - result.cell_len - 2
        if room > 0:
            history = spark(shown.values, room, ascii_only=profile_of(self).ascii_only, fills=True)
            color = FLOW_COLORS.get(shown.direction, "")
            result.append(" ").append(history.ljust(room), f"not bold {color}")
        return result

    def on_click(self, event: events.Click) -> None:
        self.post_message(Panels.Chosen(self.preset, run=event.chain > 1))


class Panels(Horizontal, can_focus=True):
    """The row of tiles; one of them may be selected."""

    BINDINGS = [
        key("left", "move(-1)", "previous", "select a preset and see its command", "run", display="left right"),
        key("right", "move(1)", "next", "select a preset and see its command", "run", display="left right"),
    ]

    @dataclasses.dataclass
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

    def show_live(self, state: LiveRun, silent_seconds: float) -> None:
        """Put the run in progress on the tile of its preset."""
        for panel in self._of(state.run):
            panel.show_live(state, silent_seconds)

    def show_result(self, run: Run, values: Sequence[float | None]) -> None:
        """Put a run's result on the tile of its preset."""
        for panel in self._of(run):
            panel.show_result(values, run)

    def _of(self, run: Run) -> list[PresetPanel]:
        return [panel for panel in self.query_children(PresetPanel) if panel.preset.name == run.preset]

    def action_move(self, by: int) -> None:
        self.post_message(self.Chosen(self._presets[(self._selected + by) % len(self._presets)], run=False))
