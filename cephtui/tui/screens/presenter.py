"""The current figure in big digits and one chart, nothing else: readable from the last row."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Static

from cephtui.models import Interval, Total
from cephtui.models.metrics import HEADLINES, Headline
from cephtui.tui.charts.chart import Chart
from cephtui.tui.dialogs import Dialog
from cephtui.tui.keys import key
from cephtui.tui.widgets.big import Big
from cephtui.tui.widgets.run_view import RunView, Shown, picture

_DRAWS_PER_SECOND = 4


def figure_text(shown: Shown | None, figure: Headline) -> tuple[str, str]:
    """The figure of all directions now, as a number and its unit."""
    known: list[Interval | Total] = list(shown.current.values()) if shown else []
    values = [value for now in known if (value := figure.metric.of(now)) is not None]
    if not values:
        return "-", ""
    text = figure.metric.as_text(sum(values) if figure.sums else max(values))
    number, _, unit = text.partition(" ")
    return number, unit or figure.title


class Presenter(Dialog[None]):
    """Follows the view of the screen below; the run is not affected."""

    BINDINGS = [
        key("escape,f,q", "app.pop_screen", "back", "back; the run continues"),
        key("v", "next_figure", "figure", "IOPS, bandwidth or latency"),
    ]
    DEFAULT_CSS = """
    Presenter { background: $background; }
    Presenter Big { height: 1fr; color: $accent; }
    Presenter #presented { height: 1; padding: 0 1; text-align: center; width: 100%; }
    Presenter Chart { height: 1fr; }
    """

    def __init__(self, view: RunView, title: Callable[[], str]) -> None:
        super().__init__()
        self._view, self._title = view, title

    def compose(self) -> ComposeResult:
        """The digits above, the chart below."""
        yield Static(id="presented")
        yield Big()
        yield Chart(id="presented-chart")

    def on_mount(self) -> None:
        self._follow()
        self.set_interval(1 / _DRAWS_PER_SECOND, self._follow)

    def _follow(self) -> None:
        figure, shown = HEADLINES[self._view.figure], self._view.shown
        self.query_one(Big).show(*figure_text(shown, figure))
        over = " (over the whole run)" if shown and shown.whole else ""
        self.query_one("#presented", Static).update(Text(f"{self._title()}  {figure.title}{over}"))
        if shown:
            self.query_one(Chart).show(picture(shown, figure))

    def action_next_figure(self) -> None:
        """IOPS, then bandwidth, then latency."""
        self._view.figure = (self._view.figure + 1) % len(HEADLINES)
        self._follow()
