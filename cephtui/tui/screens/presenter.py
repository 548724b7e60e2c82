"""Two figures, a headline and a chart, nothing else: readable from the last row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from cephtui import units
from cephtui.analysis.detectors.explaining import mark_of
from cephtui.analysis.views.live import LiveRun
from cephtui.frozen import dataclass
from cephtui.models import ClusterSample
from cephtui.models.metrics import BY_NAME, COMMIT, FLUSH, HEADLINES, Headline, Metric
from cephtui.reports.words.text import conditions, phase_words, title_of
from cephtui.tui.charts.chart import Chart
from cephtui.tui.charts.colors import FLOW_COLORS
from cephtui.tui.dialogs import Dialog
from cephtui.tui.keys import key
from cephtui.tui.screens.timeline import HasRun, TimelineScreen
from cephtui.tui.terminal.profile import profile_of
from cephtui.tui.widgets.big import Big
from cephtui.tui.widgets.shown import Shown, picture
from cephtui.tui.widgets.stages import band, stage_texts
from cephtui.tui.widgets.time_bar import TimeBar, TimeLine

_ACTIVE_SECONDS = 2.0
"""What ended so long ago is still shown: the newest figures are of the second before."""
_P99 = BY_NAME["latency_p99_seconds"]


@dataclass(frozen=True, slots=True)
class PresentedFigure:
    """A number, and what it is."""

    word: str
    """What the number is, with its unit: ``IOPS write``, ``latency p99 ms``, ``flush p99 ms``."""
    value: str
    flow: str = ""
    """``read``, ``write`` or another, if it is of that alone."""
    parts: tuple[tuple[str, str], ...] = ()
    """Flows with their numbers and units, where there are several."""


def two_figures(
    shown: Shown | None, live: LiveRun | None, headline: Headline
) -> tuple[PresentedFigure, PresentedFigure]:
    """The metric and the p99; while a target is prefilled, how fast that is and how far."""
    if live and live.phase == "prepare":
        return _prefill(live)
    flows = shown.current if shown else {}
    tool = shown.tool if shown else ""
    return _figure(headline.metric, flows, tool), _figure(_P99, flows, tool)


def _figure(metric: Metric, flows: Mapping[str, Any], tool: str) -> PresentedFigure:
    texts = {name: metric.as_text(value) for name, value in metric.of_whole(flows).items()}
    number, _, unit = metric.as_text(metric.combined(flows)).partition(" ")
    flow = next(iter(texts)) if len(texts) == 1 else ""
    whole = metric.names_of_whole(flows)
    title = title_of(metric, [tool])
    of_time = (f"{whole[0]} {metric.title}" if whole and whole[0] in (FLUSH, COMMIT) else title, unit)
    words = of_time if metric.unit == "s" else (unit or title, flow)
    return PresentedFigure(" ".join(filter(None, words)), number, flow, tuple(texts.items()) if len(texts) > 1 else ())


def _prefill(live: LiveRun) -> tuple[PresentedFigure, PresentedFigure]:
    written = live.latest.write if live.latest else None
    rate, _, unit = units.bandwidth(written.bandwidth_bytes if written else None).partition(" ")
    speed = PresentedFigure(f"prefill {unit}".strip(), rate, "write")
    if not live.prefill_bytes:
        number, _, unit = units.size(live.prepared_bytes).partition(" ")
        return speed, PresentedFigure(f"{unit} written", number)
    done = live.progress().fraction
    percent = units.DASH if done is None else f"{100 * done:.0f} %"
    return speed, PresentedFigure(f"of {units.size(live.prefill_bytes)}", percent)


@dataclass(frozen=True, slots=True)
class Banner:
    """The headline: what happens or has happened, in a few words."""

    texts: tuple[str, ...] = ("",)
    """The first that fits is shown."""
    kind: str = ""
    """``-wrong`` for a stall or another finding, ``-mark``, ``-phase``; empty for none."""


def banner(shown: Shown | None, live: LiveRun | None) -> Banner:
    """A stall or another finding of now first, then the newest mark, then the phase before the benchmark.

    The health of the cluster has a place of its own, where it is known.
    """
    if shown is None or (live and live.phase == "prepare"):
        return Banner(("prefilling",), "-phase") if live else Banner()
    now = float("-inf") if shown.whole else shown.history.reached - _ACTIVE_SECONDS
    elsewhere = health(live.cluster if live else None)[0]
    active = next((span for span in shown.spans if span.end_seconds >= now and span.text != elsewhere), None)
    if active:
        cause = mark_of(active.begin_seconds, shown.marks)
        with_cause = [f"{cause[1]} → {active.text}"] if cause else []
        return Banner((*with_cause, active.text), "-wrong")
    if mark := max(shown.marks, default=None):
        return Banner((mark[1],), "-mark")
    return Banner(("ramp, not counted", "ramp"), "-phase") if live and live.phase == "ramp" else Banner()


def health(cluster: ClusterSample | None) -> tuple[str, str]:
    """What Ceph says of itself, and how bad that is: ``-ok``, ``-warn``, ``-err``, or empty where it is not known."""
    text = (cluster.health or "").split() if cluster else []
    word = text[0] if text else ""
    return word, {"HEALTH_OK": "-ok", "HEALTH_WARN": "-warn", "HEALTH_ERR": "-err"}.get(word, "")


def osd_texts(cluster: ClusterSample | None) -> tuple[str, ...]:
    """OSDs that are down, else the slowest one of the cluster; the first text that fits is shown."""
    if cluster is None:
        return ("",)
    if cluster.osds and cluster.osds_up is not None and cluster.osds_up < cluster.osds:
        return (f"{cluster.osds_up} of {cluster.osds} OSDs up", f"{cluster.osds_up}/{cluster.osds} OSD")
    slowest = max(cluster.osd_latency_seconds.items(), key=lambda item: item[1], default=None)
    if slowest is None:
        return ("",)
    text = f"OSD.{slowest[0]} {units.latency(slowest[1])}"
    return (f"slowest of all: {text}", text)


def presented_progress(shown: Shown | None, live: LiveRun) -> TimeLine:
    """How far a run in progress is; how far a prefill is stands in its figures."""
    elapsed, expected = live.progress().elapsed_seconds, None if live.phase == "prepare" else live.expected_seconds
    stalls = tuple((begin, end) for begin, end, _, stalled in (shown.spans if shown else ()) if stalled)
    marks = tuple(at for at, _ in (shown.marks if shown else ()))
    end = None if expected is None else max(expected, elapsed)
    return TimeLine(phase_words(live, live.phase), 0.0, elapsed, end, stalls, marks)


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
        """Show a figure in a colour; its parts have those of their flows."""
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


class Presenter(PresenterScreen, TimelineScreen):
    """Follows the screen with the run below, which goes on; a recording is played from here too."""

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
    Presenter #banner.-wrong { color: $error; }
    Presenter #banner.-phase { color: $foreground 60%; }
    Presenter Chart { height: 1fr; }
    Presenter #stages-now { height: auto; padding: 0 1; }
    Presenter #band, Presenter #where { height: 1; }
    Presenter.-tall #where { height: 3; }
    Presenter.-huge #where { height: 5; }
    Presenter.-plain.-tall #where { height: 1; }
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

    def __init__(self, below: HasRun) -> None:
        super().__init__()
        self._below = below

    @property
    def run_screen(self) -> HasRun:
        return self._below

    def compose(self) -> ComposeResult:
        yield Static(id="presented")
        with Horizontal(id="figures"):
            yield BigFigure()
            yield BigFigure()
        yield Big(id="banner")
        yield Static(self._below.PRESENTS_NOTHING, id="nothing")
        yield Chart(id="presented-chart")
        with Vertical(id="stages-now"):
            yield Static(id="band")
            yield Big(id="where")
        with Horizontal(id="cluster-now"):
            yield Big(id="health")
            yield Big(id="osds")
        yield TimeBar()

    def on_mount(self) -> None:
        self.follow()
        self.set_interval(1 / _DRAWS_PER_SECOND, self.follow)

    def follow(self) -> None:
        view, live = self._below.view, self._below.live
        headline, shown = view.headline, view.shown
        drawn = picture(shown, headline, view.part) if shown else None
        self.set_class(shown is None and live is None, "-nothing")
        self.set_class(drawn is None or not drawn.lines, "-empty")
        run = self._below.drawn[1] if self._below.drawn else None  # another may have begun
        whole = "over the whole run" if shown and shown.whole else ""
        parts = [run.preset, whole, self.app.sub_title, conditions(run)] if run else []
        self.query_one("#presented", Static).update(Text("   ".join(filter(None, parts)), "bold"), layout=False)
        for box, figure in zip(self.query(BigFigure), two_figures(shown, live, headline), strict=True):
            box.show(figure, FLOW_COLORS.get(figure.flow))
        if drawn:
            self.query_one(Chart).show(drawn)
        self._show_stages(shown)
        self._show_banner(banner(shown, live))
        self._show_cluster(live)
        self._show_time(shown, live)

    def _show_stages(self, shown: Shown | None) -> None:
        """Where the latency goes, of the flow that takes longest."""
        stages = shown.stages if shown else {}
        row = self.query_one("#stages-now")
        row.display = bool(stages)
        if stages:
            ascii_only = profile_of(self).ascii_only
            self.query_one("#band", Static).update(band(stages, self.size.width - 2, ascii_only=ascii_only))
            self.query_one("#where", Big).say(*stage_texts(stages))

    def _show_banner(self, banner: Banner) -> None:
        box = self.query_one("#banner", Big)
        box.display = bool(banner.kind)
        box.set_classes(banner.kind)
        box.say(*banner.texts)

    def _show_cluster(self, live: LiveRun | None) -> None:
        cluster = live.cluster if live else None
        self.query_one("#cluster-now").display = cluster is not None
        word, kind = health(cluster)
        badge = self.query_one("#health", Big)
        badge.set_classes(kind)
        badge.say(word or "health unknown")
        self.query_one("#osds", Big).say(*osd_texts(cluster))

    def _show_time(self, shown: Shown | None, live: LiveRun | None) -> None:
        player, bar = self._below.player, self.query_one(TimeBar)
        line = player.line if player else presented_progress(shown, live) if live else None
        bar.display = line is not None
        if line:
            bar.show(line)

    def action_next_metric(self) -> None:
        self._below.view.figure = (self._below.view.figure + 1) % len(HEADLINES)
        self.follow()
