"""The screen with a curve: what it draws at every size, how it is switched, and that it grows with the session."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from textual.pilot import Pilot

from cephtui import units
from cephtui.analysis.views.curve import Axis, curve_of
from cephtui.models import Mark, Run
from cephtui.models.metrics import BY_NAME
from cephtui.tui.app import SavedApp
from cephtui.tui.charts.curves import hockey_stick, over_axis
from cephtui.tui.charts.ink import Ink
from cephtui.tui.charts.plot import Dot, Joined, Plot, draw_plot
from cephtui.tui.charts.scales import from_zero, labels_below, logarithmic, scale_of_places
from cephtui.tui.screens.curve import CurveScreen
from cephtui.tui.screens.session import SessionScreen
from cephtui.tui.screens.sessions import SessionsScreen
from cephtui.tui.terminal.profile import FULL, Profile
from tests.support.golden import Golden
from tests.support.known import known
from tests.support.replayed import screen_text, until
from tests.support.runs import sweep, under_load
from tests.unit.tui.screens.test_compare import SIZES, rows
from tests.unit.tui.screens.test_replay import keep_what_is_said

IOPS, MEAN = BY_NAME["iops"], BY_NAME["latency_mean_seconds"]
DEPTH, DEPTHS = Axis("option", "iodepth", "depth"), (1, 2, 4, 8, 16, 32, 64)
PLAIN = Profile(colors="none", ascii_only=True)


def screen_of(runs: list[Run], marks: Sequence[Mark] = ()) -> CurveScreen:
    return CurveScreen(runs[0], lambda: (list(runs), marks))


@contextlib.asynccontextmanager
async def opened(
    screen: CurveScreen, size: tuple[int, int] = (120, 36), profile: Profile = FULL
) -> AsyncIterator[tuple[SavedApp, Pilot[None]]]:
    app = SavedApp(Path("none"), [screen], profile)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "write-iops" in screen_text(app), seconds=20)
        yield app, pilot


def title(app: SavedApp) -> str:
    """Of the chart, with the names of its lines."""
    return rows(app)[1]


@pytest.mark.parametrize("size", SIZES)
async def test_a_load_is_a_hockey_stick_with_its_knee_at_every_size(size: tuple[int, int]) -> None:
    async with opened(screen_of([*sweep(DEPTHS), *sweep(DEPTHS, first=9)]), size) as (app, _):
        lines = rows(app)
        shown = "\n".join(lines)
        assert "latency (log) over IOPS" in lines[1]
        assert {"knee", "80 %"} <= {word for word in ("knee", "80 %") if word in shown}
        assert all(f" {depth}" in shown for depth in (1, 2, 4, 8))
        assert "knee at depth 16 (95 %: 15 .. 17): 1.00k IOPS at 16.0 ms" in shown
        assert ("depth runs" in " ".join(shown.split())) == (size[1] >= 32)
        assert max(map(len, lines)) <= size[0]


async def test_in_ascii_and_without_colours_lines_have_names() -> None:
    async with opened(screen_of(sweep(DEPTHS)), (100, 30), PLAIN) as (app, _):
        shown = "\n".join(rows(app))
        assert shown.isascii()
        plot = shown.split("knee at depth")[0]
        assert (plot.count("mean"), plot.count("p99")) == (2, 2)


async def test_keys_switch_the_metric_and_the_axis() -> None:
    runs = [*sweep(DEPTHS, bs="4k"), *sweep(DEPTHS, first=9, bs="64k")]
    async with opened(screen_of(runs), (120, 36)) as (app, pilot):
        seen = [title(app)]
        for _ in range(5):
            await pilot.press("v")
            seen.append(title(app))
        assert [each.strip("─ ").split("  ")[0] for each in seen] == [
            "latency (log) over IOPS",
            "IOPS over depth",
            "bandwidth over depth",
            "latency mean over depth",
            "latency p99 over depth",
            "latency (log) over IOPS",
        ]
        await pilot.press("x")
        assert "IOPS over bs" in title(app)
        assert "depth 64" in title(app)
        await pilot.press("tab")
        assert "latency (log) over IOPS" in title(app)


async def test_points_appear_as_runs_end() -> None:
    every = sweep(DEPTHS)
    runs = every[:1]
    async with opened(screen_of(runs), (120, 36)) as (app, pilot):
        assert "knee" not in "\n".join(rows(app))
        running = every[1].model_copy(update={"outcome": None})
        runs.append(running)
        await until(pilot, lambda: "#1-2" in "\n".join(rows(app)))
        runs[1:] = every[1:]
        await until(pilot, lambda: "knee at depth 16" in "\n".join(rows(app)))


async def test_hostile_names_are_no_markup() -> None:
    first, second = under_load(1, 100.0, 0.01), under_load(2, 50.0, 0.02)
    mark = Mark(at=first.started_at + timedelta(seconds=first.duration_seconds + 1), text="[red]x[/] \\[b] \x1b[2J")
    other = [under_load(3, 90.0, 0.01, target="rbd:[blink]a"), under_load(4, 40.0, 0.02, target="rbd:[blink]a")]
    async with opened(screen_of([first, second, *other], [mark])) as (app, pilot):
        assert "[red]x[/]" in "\n".join(rows(app))
        for _ in range(6):
            await pilot.press("v", "x")
        assert app.is_running


async def test_it_is_opened_from_a_saved_session_copied_and_left(demo_session: Path, golden: Golden) -> None:
    root = demo_session.parent
    app = SavedApp(root, [SessionsScreen(root), SessionScreen(demo_session)])
    said = keep_what_is_said(app)
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "write-iops" in screen_text(app))
        await pilot.press("V")
        await until(pilot, lambda: isinstance(app.screen, CurveScreen))
        await until(pilot, lambda: "#7-12, 14" in screen_text(app))
        golden.same(screen_text(app).splitlines()[0].strip())
        await pilot.press("y")
        await until(pilot, lambda: len(said) == 1)
        golden.same(app.clipboard.splitlines()[0])
        await pilot.press("x")
        await until(pilot, lambda: len(said) == 2)
        golden.same(said)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, SessionScreen))


async def test_a_run_that_has_no_depth_and_no_siblings_has_no_curve(demo_session: Path, golden: Golden) -> None:
    screen = SessionScreen(demo_session)
    app = SavedApp(demo_session.parent, [SessionsScreen(demo_session.parent), screen])
    said = keep_what_is_said(app)
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: bool(screen.table and screen.table.chosen))
        table = known(screen.table)
        alone = known(table.chosen).model_copy(update={"tool": "ioping", "run": 99, "preset": "alone"})
        table.show_session([alone])
        await pilot.press("V")
        await until(pilot, lambda: said != [])
        golden.same(said)


# ------------------------------------------------------------------ plots


def drawn(plot: Plot, width: int = 60, height: int = 16) -> list[str]:
    return draw_plot(plot, width, height, Ink(colors=False)).plain.split("\n")


def test_the_stick_is_throughput_over_latency_and_the_tail_is_another_line() -> None:
    plot = known(hockey_stick(curve_of(sweep(DEPTHS), DEPTH), IOPS))
    assert [line.label for line in plot.lines] == ["mean", "p99"]
    assert [dot.text for dot in plot.lines[0].dots] == ["1", "2", "4", "8", "16", "32", "64"]
    assert plot.lines[0].dots[4].x == pytest.approx(1000)
    assert plot.lines[0].dots[4].across is None
    assert [text for _, text in (*plot.dashed, *plot.dotted)] == ["knee", "80 %"]
    assert [value for value, _ in (*plot.dashed, *plot.dotted)] == pytest.approx([1000, 800])
    in_bytes = known(hockey_stick(curve_of(sweep(DEPTHS), DEPTH), BY_NAME["bandwidth_bytes"]))
    assert in_bytes.lines[0].dots[4].x == pytest.approx(1000 * 4096)


def test_repeats_have_whiskers_and_a_curve_that_rises_no_uprights() -> None:
    faster = [under_load(n, 2 * n * 100.0, 0.01, "sweep", iodepth=n) for n in (1, 2)]
    slower = [under_load(n + 4, n * 100.0, 0.02, "sweep", iodepth=n) for n in (1, 2)]
    plot = known(hockey_stick(curve_of([*faster, *slower], DEPTH), IOPS))
    first = plot.lines[0].dots[0]
    assert (first.across, first.upright) == ((100.0, 200.0), (0.01, 0.02))
    rising = known(hockey_stick(curve_of(sweep((1, 2, 4)), DEPTH), IOPS))
    assert rising.dashed == rising.dotted == ()
    over = known(over_axis(curve_of([*faster, *slower], DEPTH), IOPS))
    assert over.lines[0].dots[0].upright == (100.0, 200.0)


def test_without_figures_there_is_no_plot() -> None:
    runs = [run.model_copy(update={"outcome": "failed"}) for run in sweep((1, 2))]
    assert hockey_stick(curve_of(runs, DEPTH), IOPS) is None
    assert over_axis(curve_of(runs, DEPTH), IOPS) is None


def test_every_point_is_on_the_screen_where_its_axes_say() -> None:
    line = Joined("a", (Dot(0.0, 0.0), Dot(50.0, 100.0)), "red")
    lines = drawn(Plot((line,), lambda n: from_zero(100, str, False, n), lambda n: from_zero(100, str, False, n)))
    found = {row: line.index("●") for row, line in enumerate(lines) if "●" in line}
    assert found == {0: 4 + 28, 13: 4}


@pytest.mark.parametrize("size", [(0, 0), (1, 1), (10, 40), (200, 4), (24, 7)])
def test_a_plot_fills_its_box_at_any_size(size: tuple[int, int]) -> None:
    plot = known(hockey_stick(curve_of(sweep(DEPTHS), DEPTH), IOPS))
    lines = draw_plot(plot, *size, Ink()).plain.split("\n")
    assert len(lines) == max(1, size[1])
    assert all(len(line) <= max(size[0], 0) for line in lines)


@pytest.mark.parametrize("values", [(0.001,), (0.0009, 0.0011), (1e-9, 1e4), (3.0, 3.0), (0.01, 0.01000001)])
@pytest.mark.parametrize("rows", [3, 10, 40])
def test_a_logarithmic_axis_holds_its_values_between_round_labels(values: tuple[float, ...], rows: int) -> None:
    scale = logarithmic(values, units.latency, rows)
    assert all(0 <= scale.fraction(value) <= 1 for value in values)
    assert scale.fraction(min(values)) < 1
    assert 2 <= len(scale.ticks) <= max(3, rows // 2 + 1)
    assert [scale.fraction(value) for value, _ in scale.ticks] == sorted(scale.fraction(v) for v, _ in scale.ticks)


def test_places_are_logarithmic_where_they_are_far_apart() -> None:
    far, _ = scale_of_places([1.0, 10.0, 100.0], ["1", "10", "100"])
    assert far.fraction(10.0) == pytest.approx(0.5)
    near, _ = scale_of_places([1.0, 2.0, 3.0], ["1", "2", "3"])
    assert near.fraction(2.0) == pytest.approx(0.5)
    texts, values = scale_of_places([None, 3.0], ["default", "3"])
    assert values == [0.0, 1.0]
    assert texts.fraction(0.0) == pytest.approx(0.25)
    assert scale_of_places([5.0], ["5"])[0].fraction(0.0) == 0.5
    assert scale_of_places([-1.0, 0.0, 80.0], ["a", "b", "c"])[0].fraction(-1.0) < 0.1


def test_labels_that_have_no_room_are_left_out() -> None:
    scale, _ = scale_of_places([None] * 30, [f"a long label {number}" for number in range(30)])
    rule, row = labels_below(scale, 50, 4, Ink().glyphs)
    assert len(rule) == len(row) == 54
    assert row.count("a long label") == rule.count("┬") == 3
    assert labels_below(scale_of_places([None], ["a\x1b[2J漢"])[0], 50, 4, Ink().glyphs)[1].strip() == "a?[2J?"
