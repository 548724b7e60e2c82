"""The presets as panels: their keys, and what they last measured."""

from __future__ import annotations

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from cephtui import units
from cephtui.models import Run
from cephtui.presets import Headline, Preset


def headline(run: Run, figure: Headline) -> str:
    """The figure that a preset is about, of reads and writes together; of latency the mean. Marked if spoiled."""
    totals = [t for t in (run.summary.read, run.summary.write) if t]
    if not totals:
        return run.outcome or ""
    texts = {
        "iops": lambda: units.iops(sum(t.iops for t in totals)),
        "bandwidth": lambda: units.bandwidth(sum(t.bandwidth_bytes for t in totals)),
        "latency": lambda: " ".join(units.latency(t.latency_mean_seconds) for t in totals),
    }
    return texts[figure]() + (" !" if run.findings else "")


class PresetPanel(Static):
    """One preset: key and title, and the last result."""

    result = reactive("")

    def __init__(self, preset: Preset) -> None:
        super().__init__(id=f"panel-{preset.file.key}")
        self.preset = preset
        self._batch = ""
        self._figures: dict[str, str] = {}

    def show_result(self, run: Run) -> None:
        """Show a run's figure; where the runs of one batch read and wrote in turn, both."""
        if run.batch != self._batch:
            self._batch, self._figures = run.batch, {}
        self._figures[str(run.options.get("rw", ""))] = headline(run, self.preset.file.headline)
        self.result = "\n".join(self._figures.values())

    def render(self) -> Text:
        """Key, title and last result; the title may take two rows."""
        title = Text.assemble((f"{self.preset.file.key} ", "bold"), self.preset.file.title)
        if self.preset.user:
            title.append(" (yours)", "italic")
        return Text.assemble(title, "\n", (self.result or units.DASH, "bold" if self.result else "dim"))

    def on_click(self, event: events.Click) -> None:
        """A click selects; the second one of a double click runs."""
        self.post_message(Panels.Chosen(self.preset, run=event.chain > 1))


class Panels(Horizontal, can_focus=True):
    """The row of panels; one of them is selected."""

    BINDINGS = [
        Binding("left,h", "move(-1)", "previous preset", show=False),
        Binding("right,l", "move(1)", "next preset", show=False),
    ]

    selected = reactive(0)

    class Chosen(Message):
        """A preset was selected, or is to be run."""

        def __init__(self, preset: Preset, *, run: bool) -> None:
            super().__init__()
            self.preset, self.run = preset, run

    def __init__(self, presets: list[Preset]) -> None:
        super().__init__(id="panels")
        self._presets = presets

    def compose(self) -> ComposeResult:
        """One panel for each preset."""
        for preset in self._presets:
            yield PresetPanel(preset)

    @property
    def preset(self) -> Preset:
        """The selected one."""
        return self._presets[self.selected]

    def watch_selected(self) -> None:
        """Mark the selected panel."""
        for index, panel in enumerate(self.query(PresetPanel)):
            panel.set_class(index == self.selected, "selected")

    def select(self, preset: Preset) -> None:
        """Select a preset."""
        self.selected = self._presets.index(preset)

    def show_result(self, run: Run) -> None:
        """Put a run's figure on the panel of its preset."""
        for panel in self.query(PresetPanel):
            if panel.preset.name == run.preset:
                panel.show_result(run)

    def action_move(self, by: int) -> None:
        """Select the neighbour."""
        self.post_message(self.Chosen(self._presets[(self.selected + by) % len(self._presets)], run=False))
