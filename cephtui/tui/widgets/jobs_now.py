"""The jobs of a run that are compared with each other, such as OSDs: a bar each, the slow ones marked."""

from __future__ import annotations

from textual.widgets import Static

from cephtui.reports.drawn.bars import bars
from cephtui.tui.charts.colors import flow_color
from cephtui.tui.terminal.profile import profile_of
from cephtui.tui.widgets.shown import Shown


class JobsNow(Static):
    """What each job did so far, or in the whole run."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._shown: Shown | None = None

    def on_mount(self) -> None:
        self.border_title = " bandwidth of each "

    def show(self, shown: Shown) -> None:
        self._shown = shown
        self.styles.height = max(1, len(shown.jobs)) + self.gutter.height
        self.on_resize()

    def on_resize(self) -> None:
        if self._shown and self._shown.jobs:
            width, rows = self.content_size
            color, plain = flow_color(self._shown.jobs[0].direction), profile_of(self).ascii_only
            self.update(bars(self._shown.jobs, width=width, rows=rows, ascii_only=plain, style=color), layout=False)
