"""Two figures, a headline and a chart, nothing else: readable from the last row."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from cephtui.analysis.views.live import LiveRun
from cephtui.models import Run
from cephtui.models.metrics import HEADLINES
from cephtui.reports.words.text import conditions
from cephtui.tui.charts.chart import Chart
from cephtui.tui.charts.colors import FLOW_COLORS
from cephtui.tui.dialogs import Dialog
from cephtui.tui.keys import key
from cephtui.tui.screens import presented
from cephtui.tui.screens.presented import PresentedFigure
from cephtui.tui.terminal.profile import profile_of
from cephtui.tui.widgets.big import Big
from cephtui.tui.widgets.run_view import RunView
from cephtui.tui.widgets.shown import picture

_DRAWS_PER_SECOND = 4
_FLOWS_MOST = 2


class BigFigure(Vertical):
    """What a number is, the number, and its parts where there are several."""

    def compose(self) -> ComposeResult:
        yield Big(classes="word")
        yield Big(classes="value")
        with Horizontal(classes="parts"):
            for _ in range(_FLOWS_MOST):
                yield Big(classes="part")

    def show(self, figure: PresentedFigure, color: str | None) -> None:
        """In a colour; the parts have those of their flows."""
        for name, text in (("word", figure.word), ("value", figure.value)):
            big = self.query_one(f".{name}", Big)
            big.styles.color = color
            big.say(text)
        self.query_one(".parts").display = bool(figure.parts)
        for part, (flow, text) in zip(self.query(".part").results(Big), figure.parts, strict=False):
            part.styles.color = FLOW_COLORS.get(flow)
            part.say(f"{flow} {text}", text)


class PresenterScreen(Dialog[None]):
    """A screen of large figures beside each other."""

    DEFAULT_CSS = """
    PresenterScreen { background: $background; }
    PresenterScreen #figures { height: auto; }
    PresenterScreen BigFigure { width: 1fr; height: auto; padding: 0 2; }
    PresenterScreen .word { height: 1; }
    PresenterScreen .value { height: 5; }
    PresenterScreen .parts { height: 1; }
    PresenterScreen.-tall .word { height: 3; }
    PresenterScreen.-tall .value { height: 8; }
    PresenterScreen.-huge .word { height: 3; padding: 0 10; }
    PresenterScreen.-huge .value { height: 25vh; margin-top: 1; }
    PresenterScreen.-huge .parts { height: 3; margin-top: 1; }
    PresenterScreen.-plain .word { height: 1; }
    PresenterScreen.-plain.-tall .value { height: 6; padding-top: 1; }
    """

    def on_mount(self) -> None:
        """Words are not big in so few rows of ASCII."""
        self.set_class(profile_of(self.query(Big).first()).ascii_only, "-plain")


class Presenter(PresenterScreen):
    """Follows the view of the screen below; the run is not affected."""

    BINDINGS = [
        key("escape,f,q", "app.pop_screen", "back", "back; the run continues"),
        key("v", "next_metric", "metric", "IOPS, bandwidth or latency"),
    ]
    DEFAULT_CSS = """
    Presenter #presented { height: 1; padding: 0 1; text-align: center; width: 100%; text-wrap: nowrap; }
    Presenter.-empty BigFigure { height: 1fr; }
    Presenter.-empty .value { height: 1fr; }
    Presenter #banner { height: 3; }
    Presenter.-tall #banner { height: 4; padding-top: 1; }
    Presenter.-huge #banner { height: 7; padding: 1 0; }
    Presenter.-plain.-tall #banner { height: 7; padding: 1 0; }
    Presenter.-plain.-tall #cluster-now { height: 1; }
    Presenter #banner.-wrong { color: #d55e00; }
    Presenter #banner.-phase { color: $foreground 60%; }
    Presenter Chart { height: 1fr; }
    Presenter #cluster-now { height: 1; }
    Presenter.-tall #cluster-now { height: 3; }
    Presenter.-huge #cluster-now { height: 5; }
    Presenter #cluster-now Big { width: 1fr; height: 100%; }
    Presenter #health { background: $surface; color: $foreground; }
    Presenter #health.-ok { background: $success; color: $text; }
    Presenter #health.-warn { background: $warning; color: $text; }
    Presenter #health.-err { background: $error; color: $text; }
    Presenter #nothing { height: 1fr; width: 100%; content-align: center middle; display: none; }
    Presenter.-empty Chart { display: none; }
    Presenter.-empty #figures { height: 1fr; }
    Presenter.-nothing #figures, Presenter.-nothing #banner { display: none; }
    Presenter.-nothing #nothing { display: block; }
    """

    def __init__(
        self, view: RunView, run: Callable[[], Run | None], live: Callable[[], LiveRun | None], nothing: str
    ) -> None:
        """``run`` is what is drawn on the view, ``live`` its state while it runs; without a run, ``nothing``."""
        super().__init__()
        self._view, self._run, self._live, self._nothing = view, run, live, nothing

    def compose(self) -> ComposeResult:
        yield Static(id="presented")
        with Horizontal(id="figures"):
            yield BigFigure()
            yield BigFigure()
        yield Big(id="banner")
        yield Static(self._nothing, id="nothing")
        yield Chart(id="presented-chart")
        with Horizontal(id="cluster-now"):
            yield Big(id="health")
            yield Big(id="osds")

    def on_mount(self) -> None:
        self._follow()
        self.set_interval(1 / _DRAWS_PER_SECOND, self._follow)

    def _follow(self) -> None:
        headline, shown, live = self._view.headline, self._view.shown, self._live()
        drawn = picture(shown, headline) if shown else None
        self.set_class(shown is None and live is None, "-nothing")
        self.set_class(drawn is None or not drawn.lines, "-empty")
        run = self._run()
        parts = [run.preset, conditions(run), presented.progress(shown, live), self.app.sub_title] if run else []
        self.query_one("#presented", Static).update(Text("   ".join(filter(None, parts)), "bold"), layout=False)
        for box, figure in zip(self.query(BigFigure), presented.two_figures(shown, live, headline), strict=True):
            box.show(figure, FLOW_COLORS.get(figure.flow))
        if drawn:
            self.query_one(Chart).show(drawn)
        self._show_banner(presented.banner(shown, live))
        self._show_cluster(live)

    def _show_banner(self, banner: presented.Banner) -> None:
        box = self.query_one("#banner", Big)
        box.display = bool(banner.kind)
        box.set_classes(banner.kind)
        box.say(*banner.texts)

    def _show_cluster(self, live: LiveRun | None) -> None:
        cluster = live.cluster if live else None
        self.query_one("#cluster-now").display = cluster is not None
        word, kind = presented.health(cluster)
        badge = self.query_one("#health", Big)
        badge.set_classes(kind)
        badge.say(word or "health unknown")
        self.query_one("#osds", Big).say(*presented.osd_texts(cluster))

    def action_next_metric(self) -> None:
        self._view.figure = (self._view.figure + 1) % len(HEADLINES)
        self._follow()
