"""The presenter: what it says of a run at a moment, and how it is drawn; a comparison presented."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Static

from cephtui.analysis.runs.history import History
from cephtui.analysis.views.live import LiveRun
from cephtui.models import ClusterSample, Interval, Run, Sample
from cephtui.models.metrics import HEADLINES
from cephtui.models.plan import FilePlace, NodeStep, Part
from cephtui.sessions import store
from cephtui.tui.app import SavedApp
from cephtui.tui.charts.axes import TimeSpan
from cephtui.tui.charts.chart import Chart, Period
from cephtui.tui.keys import active_commands
from cephtui.tui.screens import presenter
from cephtui.tui.screens.compare import CompareScreen, _side
from cephtui.tui.screens.compare_presenter import ComparePresenter, percent_text
from cephtui.tui.screens.presenter import Banner, PresentedFigure, Presenter
from cephtui.tui.screens.run import RunScreen
from cephtui.tui.terminal.profile import FULL, Profile
from cephtui.tui.terminal.themes import CSS
from cephtui.tui.widgets.big import Big
from cephtui.tui.widgets.run_view import RunView
from cephtui.tui.widgets.shown import Shown, shown_of_live
from cephtui.tui.widgets.time_bar import TimeBar, TimeLine
from tests.support.golden import Golden
from tests.support.known import known
from tests.support.plans import step
from tests.support.replayed import until
from tests.support.runs import MIXED, SESSION, WRITE_IOPS

IOPS, BANDWIDTH, LATENCY = HEADLINES
SIZES = [(80, 24), (120, 36), (200, 50), (250, 70)]


def interval(iops: float, mean: float | None = 0.001, p99: float | None = 0.004) -> Interval:
    return Interval(int(iops), int(iops * 4096), iops, iops * 4096, mean, p99)


def shown(**changes: Any) -> Shown:
    history = History()
    history.reached = 20.0
    return replace(Shown(history, {"write": interval(16_700)}, (), 60.0), **changes)


def live(phase: str = "run", **changes: Any) -> LiveRun:
    """A recorded run in progress, of which 4 GiB were to be prefilled."""
    run = store.read_run(SESSION, WRITE_IOPS)
    fill = (Part(spec=run.target, bytes=4 << 30),)
    place = FilePlace(kind="file", path="/mnt/x")
    node = NodeStep(node="local", argv=("fio",), command="fio", place=place, parts=fill, fill=fill)
    fields = run.model_dump(include={"preset", "tool", "batch", "target", "options"})
    state = LiveRun(run, step(**fields, nodes=(node,), span_bytes=4 << 30, prepare_seconds=5.0, ramp_seconds=2.0))
    state.phase = phase  # type: ignore[assignment]
    for name, value in changes.items():
        setattr(state, name, value)
    return state


# ---------------------------------------------------------------------------------------------- figures


def test_the_metric_and_the_p99_with_their_units() -> None:
    assert presenter.two_figures(shown(), None, IOPS) == (
        PresentedFigure("IOPS write", "16.7k", "write"),
        PresentedFigure("latency p99 ms", "4.00", "write"),
    )
    assert presenter.two_figures(shown(), None, BANDWIDTH)[0] == PresentedFigure("MiB/s write", "65.2", "write")
    assert presenter.two_figures(shown(), None, LATENCY)[0] == PresentedFigure("latency mean ms", "1.00", "write")


def test_reads_and_writes_are_together_and_apart() -> None:
    both = shown(current={"read": interval(3000, 0.001, 0.002), "write": interval(1000, 0.005, 0.009)})
    assert presenter.two_figures(both, None, IOPS) == (
        PresentedFigure("IOPS", "4.00k", "", (("read", "3.00k"), ("write", "1.00k"))),
        PresentedFigure("latency p99 ms", "9.00", "", (("read", "2.00 ms"), ("write", "9.00 ms"))),
    )
    assert presenter.two_figures(both, None, LATENCY)[0].value == "2.00", "the mean of all completions"


def test_without_a_figure_there_is_a_dash() -> None:
    assert presenter.two_figures(None, None, IOPS) == (
        PresentedFigure("IOPS", "-"),
        PresentedFigure("latency p99", "-"),
    )
    silent = shown(current={"write": interval(0, None, None)})
    assert presenter.two_figures(silent, None, LATENCY) == (
        PresentedFigure("latency mean", "-"),
        PresentedFigure("latency p99", "-"),
    )


def test_prefilling_has_a_rate_of_its_own() -> None:
    written = Sample(1, None, "write-iops", "prepare", 2.0, 1.0, None, interval(256 * 800))
    state = live("prepare", latest=written, prepared_bytes=1 << 30)
    rate, done = presenter.two_figures(None, state, IOPS)
    assert (rate.word, rate.value) == ("prefill MiB/s", "800")
    assert (done.word, done.value) == ("of 4.00 GiB", "25 %")
    assert presenter.banner(None, state) == Banner(("prefilling",), "-phase")
    assert presenter.presented_progress(None, state) == TimeLine("prefilling", 0.0, 2.0, None)


def test_a_tool_that_prepares_its_own_data_has_no_total() -> None:
    state = live("prepare", prepared_bytes=140 << 20)
    own = state.step.nodes[0].model_copy(update={"fill": ()})
    state.step = state.step.model_copy(update={"nodes": (own,)})
    _, done = presenter.two_figures(None, state, IOPS)
    assert (done.word, done.value) == ("MiB written", "140")


# ---------------------------------------------------------------------------------------------- what happens


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Banner()),
        ({"marks": ((3.0, "osd.1 frozen"), (8.0, "osd.1 resumed"))}, Banner(("osd.1 resumed",), "-mark")),
        ({"spans": (Period(15.0, 19.5, "no completion"),)}, Banner(("no completion",), "-wrong")),
        ({"spans": (Period(5.0, 9.0, "no completion"),)}, Banner()),
        ({"spans": (Period(5.0, 9.0, "no completion"),), "whole": True}, Banner(("no completion",), "-wrong")),
        (
            {"spans": (Period(15.0, 20.0, "no completion"),), "marks": ((14.0, "osd.1 frozen"),)},
            Banner(("osd.1 frozen → no completion", "no completion"), "-wrong"),
        ),
        (
            {"spans": (Period(15.0, 20.0, "no completion"),), "marks": ((1.0, "cache off"), (19.0, "osd.1 resumed"))},
            Banner(("cache off → no completion", "no completion"), "-wrong"),
        ),
        (
            {"spans": (Period(15.0, 20.0, "no completion"),), "marks": ((15.9, "osd.1 frozen"),)},
            Banner(("osd.1 frozen → no completion", "no completion"), "-wrong"),
        ),
        (
            {"spans": (Period(15.0, 20.0, "no completion"),), "marks": ((16.1, "osd.1 resumed"),)},
            Banner(("no completion",), "-wrong"),
        ),
    ],
)
def test_a_stall_of_now_comes_first_then_the_newest_mark(changes: dict[str, Any], expected: Banner) -> None:
    assert presenter.banner(shown(**changes), live()) == expected


def test_the_health_of_the_cluster_stands_once() -> None:
    warned = {"spans": (Period(15.0, 20.0, "HEALTH_WARN"),), "marks": ((3.0, "osd.1 frozen"),)}
    known = live(cluster=cluster(health="HEALTH_WARN"))
    assert presenter.banner(shown(**warned), known) == Banner(("osd.1 frozen",), "-mark")
    assert presenter.banner(shown(**warned), live()).kind == "-wrong", "where it stands nowhere else"


def test_the_ramp_is_named() -> None:
    assert presenter.banner(shown(), live("ramp")).kind == "-phase"
    assert presenter.presented_progress(shown(), live("ramp")) == TimeLine("ramp-up", 0.0, 0.0, 62.0)


def test_stalls_and_marks_of_a_run_in_progress_are_ticks() -> None:
    spans = (Period(5.0, 9.0, "no completion", True), Period(2.0, 3.0, "recovery"))
    line = presenter.presented_progress(shown(spans=spans, marks=((4.0, "osd.1 frozen"),)), live())
    assert (line.stalls, line.marks) == (((5.0, 9.0),), (4.0,))


def cluster(**changes: Any) -> ClusterSample:
    return ClusterSample(run=1, elapsed_seconds=1.0, **changes)


def test_the_health_is_a_word_and_a_class() -> None:
    for word, kind in (("HEALTH_OK", "-ok"), ("HEALTH_WARN", "-warn"), ("HEALTH_ERR", "-err"), ("other", "")):
        assert presenter.health(cluster(health=word)) == (word, kind)
    assert presenter.health(cluster()) == presenter.health(None) == ("", "")


def test_an_osd_that_is_down_comes_before_the_slowest(golden: Golden) -> None:
    slow = {"osd_latency_seconds": {"0": 0.001, "1": 0.072}}
    wide, narrow = presenter.osd_texts(cluster(**slow, osds=3, osds_up=3))
    golden.same(wide)
    assert narrow == "OSD.1 72.0 ms"
    golden.same(presenter.osd_texts(cluster(**slow, osds=3, osds_up=2))[0])
    assert presenter.osd_texts(cluster()) == presenter.osd_texts(None) == ("",)


# ---------------------------------------------------------------------------------------------- the screen


class Below(RunScreen):
    """A run at a moment."""

    PRESENTS_NOTHING = "nothing is running"

    def __init__(self, shown: Shown | None, state: LiveRun | None, run: Run | None) -> None:
        super().__init__()
        self._shown, self._state, self._drawn = shown, state, run

    def compose(self) -> ComposeResult:
        """The view."""
        yield RunView()

    def on_mount(self) -> None:
        """Drawn as it is."""
        self.view.shown = self._shown

    @property
    def live(self) -> LiveRun | None:
        return self._state

    @property
    def drawn(self) -> tuple[Path, Run] | None:
        return (Path(), self._drawn) if self._drawn else None


class Host(App[None]):
    """The presenter over a run."""

    CSS = CSS
    VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-tall"), (45, "-huge")]

    def __init__(self, shown: Shown | None, state: LiveRun | None, run: Run | None, profile: Profile = FULL) -> None:
        super().__init__()
        self.profile, self.below = profile, Below(shown, state, run)

    async def on_ready(self) -> None:
        """Present it."""
        await self.push_screen(self.below)
        await self.push_screen(Presenter(self.below))


@asynccontextmanager
async def presenting(
    drawn: Shown | None, state: LiveRun | None = None, size: tuple[int, int] = (120, 36), profile: Profile = FULL
) -> AsyncIterator[tuple[Host, Pilot[None]]]:
    app = Host(drawn, state, state.run if state else None, profile)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Presenter))
        await pilot.pause()
        yield app, pilot


def said(app: App[None], selector: str) -> list[str]:
    return [big._texts[-1] for big in app.screen.query(selector).results(Big) if big._texts and big.display]


def rows(app: App[None]) -> list[str]:
    return [strip.text for strip in app.screen._compositor.render_strips()]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("profile", [FULL, Profile("8", ascii_only=True)])
async def test_figures_headline_chart_and_health_have_their_room(size: tuple[int, int], profile: Profile) -> None:
    state = live(cluster=cluster(health="HEALTH_WARN", osd_latency_seconds={"1": 0.072}))
    for second in range(1, 20):
        state.add(Sample(1, None, "write-iops", "run", float(second), 1.0, None, interval(16_700)))
    drawn = replace(shown_of_live(state), marks=((12.0, "osd.1 frozen"),))
    async with presenting(drawn, state, size, profile) as (app, _):
        assert said(app, ".value") == ["16.7k", "4.00"]
        values = app.screen.query(".value").results(Big)
        assert all(sum(bool(row.strip()) for row in str(value.render()).split("\n")) >= 5 for value in values)
        assert said(app, "#banner") == ["osd.1 frozen"]
        assert said(app, "#health") == ["HEALTH_WARN"]
        assert app.screen.query_one("#health").has_class("-warn")
        assert app.screen.query_one("#presented-chart").size.height >= size[1] / 3
        assert len(rows(app)) == size[1]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("profile", [FULL, Profile("8", ascii_only=True)])
async def test_where_the_latency_goes_is_a_band_and_the_largest_stages(size: tuple[int, int], profile: Profile) -> None:
    state = live(cluster=cluster(health="HEALTH_OK"))
    for second in range(1, 20):
        state.add(Sample(1, None, "write-iops", "run", float(second), 1.0, None, interval(16_700)))
    stages = {"write": {"network and client": 0.003, "queue": 0.0003, "preparation": 0.0003, "slowest copy": 0.0091}}
    async with presenting(replace(shown_of_live(state), stages=stages), state, size, profile) as (app, _):
        assert app.screen.query_one("#where", Big)._texts[-1].startswith("slowest copy 72 %")
        band = str(app.screen.query_one("#band", Static).render())
        assert len(band) == size[0] - 2
        assert set(band) == (set("#+=-") if profile.ascii_only else {"█"})
        assert app.screen.query_one("#presented-chart").size.height >= size[1] / 4
    async with presenting(shown_of_live(state), state, size, profile) as (app, _):
        assert not app.screen.query_one("#stages-now").display


async def test_in_mixed_runs_reads_and_writes_stand_below(tmp_path: Path) -> None:
    both = shown(current={"read": interval(3000), "write": interval(1000)})
    async with presenting(both, live(), (200, 50)) as (app, _):
        assert said(app, ".part") == ["3.00k", "1.00k", "4.00 ms", "4.00 ms"]
        assert app.screen.query_one("#cluster-now").display is False


async def test_v_switches_the_metric() -> None:
    async with presenting(shown(), live()) as (app, pilot):
        seen = []
        for _ in range(3):
            seen.append(said(app, ".word")[0])
            await pilot.press("v")
            await pilot.pause()
        assert seen == ["IOPS write", "MiB/s write", "latency mean ms"]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("profile", [FULL, Profile("8", ascii_only=True)])
async def test_the_bar_at_the_bottom_is_the_only_figure_of_how_far_it_is(
    size: tuple[int, int], profile: Profile
) -> None:
    state = live()
    for second in range(1, 20):
        state.add(Sample(1, None, "write-iops", "run", float(second), 1.0, None, interval(16_700)))
    async with presenting(shown_of_live(state), state, size, profile) as (app, _):
        assert rows(app)[-1].split()[0] == "running"
        assert rows(app)[-1].rstrip().endswith(" 19 s of 62 s")
        assert "".join(rows(app)).count("62 s") == 1
    async with presenting(shown(whole=True), None, size, profile) as (app, _):
        assert not app.screen.query_one(TimeBar).display


async def test_a_run_in_progress_is_neither_paused_nor_moved() -> None:
    async with presenting(shown(), live()) as (app, _):
        words = {command.word for command in active_commands(app.screen)}
        assert words >= {"back", "metric", "zoom"}
        assert not words & {"pause", "resume", "again", "seek", "speed", "beginning", "end"}


async def test_z_zooms_in_on_the_newest_seconds() -> None:
    state = live()
    for second in range(1, 40):
        state.add(Sample(1, None, "write-iops", "run", float(second), 1.0, None, interval(16_700)))
    async with presenting(shown_of_live(state), state) as (app, pilot):
        chart = app.screen.query_one(Chart)
        seen = []
        for _ in range(3):
            seen.append(known(chart._shown).part)
            await pilot.press("z")
            await pilot.pause()
        assert seen == [None, TimeSpan(24.0, 39.0, 39.0), None]


async def test_while_prefilling_the_figures_have_the_room_of_the_chart() -> None:
    async with presenting(shown(current={}), live("prepare")) as (app, _):
        assert not app.screen.query_one("#presented-chart").display
        assert app.screen.query(".value").first().size.height > 12


async def test_without_a_run_there_is_a_hint_only() -> None:
    async with presenting(None) as (app, _):
        assert [row.strip() for row in rows(app) if row.strip()] == ["nothing is running"]


# ---------------------------------------------------------------------------------------------- two runs


@pytest.mark.parametrize(("fraction", "text"), [(-0.588, "-59 %"), (0.05, "+5 %"), (0.001, "0 %"), (None, "-")])
def test_a_change_in_per_cent(fraction: float | None, text: str) -> None:
    assert percent_text(fraction) == text


@pytest.mark.parametrize("size", SIZES)
async def test_a_comparison_is_presented(demo_session: Path, size: tuple[int, int]) -> None:
    (left, left_curves), (right, right_curves) = _side(demo_session, 7), _side(demo_session, 10)
    app = SavedApp(demo_session.parent, [CompareScreen(left, right, left_curves, right_curves)])
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, CompareScreen))
        await pilot.press("f")
        await until(pilot, lambda: isinstance(app.screen, ComparePresenter))
        await pilot.pause()
        seen, verdicts = [], []
        for _ in range(4):
            seen.append((said(app, "#metric")[0], *said(app, ".value")))
            verdicts.append(
                said(app, "VerdictInLarge Big")[0] if app.screen.query_one("VerdictInLarge").display else ""
            )
            await pilot.press("v")
            await pilot.pause()
        assert seen[0] == ("IOPS write", "3.83k", "1.57k", "-59 %")
        assert [each[0] for each in seen[1:]] == ["bandwidth write", "clat mean write", "clat p99 write"]
        assert verdicts[0].startswith("worse")
        assert verdicts[1:] == ["", "", ""], "only of the figure that the preset is about"
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, CompareScreen))


async def test_runs_without_figures_are_said_to_have_none(demo_session: Path) -> None:
    side, _ = _side(SESSION, MIXED)
    empty = replace(side, runs=(side.run.model_copy(update={"summary": type(side.run.summary)()}),))
    app = SavedApp(demo_session.parent, [CompareScreen(empty, empty, {}, {})])
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, CompareScreen))
        await pilot.press("f", "v")
        await until(pilot, lambda: isinstance(app.screen, ComparePresenter))
        await until(pilot, lambda: "neither run has results" in "".join(rows(app)))
