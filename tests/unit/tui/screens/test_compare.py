"""Comparing in the console: the screen with two runs, and the choice of the other run."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input

from cephtui.analysis.runs.sides import Side
from cephtui.models import Finding, Mark, Run, SessionNotes, Summary
from cephtui.reports.words.quality import outcome_word
from cephtui.reports.words.text import clock
from cephtui.sessions import store
from cephtui.sessions.archive import annotate
from cephtui.sessions.saved_runs import candidates
from cephtui.tui.app import _older_first
from cephtui.tui.charts.colors import SIDE_COLORS
from cephtui.tui.charts.overlay import Curves, Overlay, overlay_lines
from cephtui.tui.pickers.runs import RunPicker
from cephtui.tui.screens.compare import CompareScreen, Comparison
from cephtui.tui.screens.compare_presenter import ComparePresenter
from cephtui.tui.terminal.profile import FULL, Profile
from cephtui.tui.widgets.pick_list import PickList
from tests.support.golden import Golden
from tests.support.replayed import until
from tests.support.runs import MIXED, SESSION, WRITE_IOPS, recorded
from tests.support.sessions import write_session

SIZES = [(80, 24), (93, 25), (120, 36), (200, 50)]
FIGURES = ["IOPS", "bandwidth", "clat mean", "clat p99"]


class Host(App[None]):
    """Shows one screen, and keeps what it was dismissed with."""

    def __init__(self, screen: Screen[Any], profile: Profile) -> None:
        super().__init__()
        self.profile = profile
        self.shown = screen
        self.answers: list[object] = []
        self.said: list[str] = []

    def notify(self, message: str, **more: Any) -> None:
        """Keep it."""
        self.said.append(message)

    def on_mount(self) -> None:
        """Show it."""
        self.push_screen(self.shown, self.answers.append)


def curves(number: int) -> Curves:
    return {name: curve.points() for name, curve in store.read_history(SESSION, number).curves.items()}


def two_runs() -> CompareScreen:
    """A run that writes, and one that reads and writes."""
    left, right = (Side((recorded(of=number),)) for number in (WRITE_IOPS, MIXED))
    return CompareScreen(left, right, curves(WRITE_IOPS), curves(MIXED))


@contextlib.asynccontextmanager
async def host(
    screen: Screen[Any], size: tuple[int, int] = (80, 24), profile: Profile = FULL
) -> AsyncIterator[tuple[Host, Pilot[None]]]:
    app = Host(screen, profile)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.screen is screen)
        await pilot.pause()
        yield app, pilot


def rows(app: App[None]) -> list[str]:
    """What is on the screen."""
    return [strip.text.rstrip() for strip in app.screen._compositor.render_strips()]


def text(app: App[None]) -> str:
    return "\n".join(rows(app))


# ---------------------------------------------------------------------------------------------- two runs


async def test_charts_differences_and_first_figures_are_on_the_screen() -> None:
    async with host(two_runs(), SIZES[0]) as (app, pilot):
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await until(pilot, lambda size: tuple(app.size) == size, size)
            await until(pilot, lambda: "bandwidth" in text(app) and "v metric" in text(app))
            await pilot.pause()
            assert_all_there(text(app), size)
            assert all(4 <= overlay.size.height <= size[1] / 2 for overlay in app.screen.query(Overlay))


def assert_all_there(found: str, size: tuple[int, int]) -> None:
    """Titles, what differs, the first figure and the keys."""
    for words in ("compare read IOPS   A   B", "compare write IOPS", "A #1 write-iops: 4k randwrite, depth 64"):
        assert words in found
    for difference in ("preset    write-iops mixed-75-25", "numjobs   8          1", "rwmixread -          75"):
        assert difference in found
    assert "IOPS               -      50.2k" in found
    assert "v metric" in found
    assert "esc back" in found
    assert max(map(len, found.splitlines())) <= size[0]


async def test_the_rest_is_reached_by_keys() -> None:
    async with host(two_runs()) as (app, pilot):
        await until(pilot, lambda: "differs" in text(app))
        assert "not comparable: " in text(app)
        assert "p99.9" not in text(app)
        await pilot.press("G")
        await until(pilot, lambda: "p99.9" in text(app) and "IOPS 40.7k 16.8k" in " ".join(text(app).split()))
        await pilot.press("g")
        await until(pilot, lambda: "A #1" in text(app))
        await pilot.press("j", "j")
        await until(pilot, lambda: "A #1" not in text(app))
        await pilot.press("k", "k")
        await until(pilot, lambda: "A #1" in text(app))


async def test_the_figure_of_the_charts_is_cycled() -> None:
    async with host(two_runs(), (120, 36)) as (app, pilot):
        seen = []
        for _ in range(5):
            overlay = app.screen.query_one("#write-overlay", Overlay)
            seen.append(str(overlay.border_title))
            await until(pilot, lambda: f"compare {FIGURES[(len(seen) - 1) % 4]}" in text(app).replace("write ", ""))
            drawn = str(overlay.render())
            unit = {"IOPS": "k┤", "bandwidth": "MiB/s"}.get(FIGURES[(len(seen) - 1) % 4], "ms")
            assert unit in drawn
            await pilot.press("v")
    assert [title.split("write ")[1].split("  ")[0] for title in seen] == [*FIGURES, "IOPS"]


async def test_the_sides_are_swapped_in_charts_and_text() -> None:
    async with host(two_runs(), (120, 50)) as (app, pilot):
        await until(pilot, lambda: "IOPS 40.7k 16.8k" in " ".join(text(app).split()))
        before = app.screen.query_one("#read-overlay", Overlay).render()
        await pilot.press("w")
        await until(pilot, lambda: "IOPS 16.8k 40.7k" in " ".join(text(app).split()))
        assert "A #2 mixed-75-25" in text(app)
        assert "B #1 write-iops" in text(app)
        after = app.screen.query_one("#read-overlay", Overlay).render()
        assert before.plain == after.plain
        assert before.spans != after.spans  # what was B's colour is A's


async def test_a_swap_says_which_side_is_the_later_one_also_in_large(golden: Golden) -> None:
    first = recorded()
    second = recorded(MIXED, started_at=first.started_at + timedelta(minutes=1))
    screen = CompareScreen(Side((first,)), Side((second,)), curves(WRITE_IOPS), curves(WRITE_IOPS))
    async with host(screen, (120, 50)) as (app, pilot):
        await until(pilot, lambda: "A 2026-" in text(app))
        assert "change" in text(app)
        await pilot.press("w")
        await until(pilot, lambda: "B vs A" in text(app))
        golden.same(app.said)
        await pilot.press("f")
        await until(pilot, lambda: isinstance(app.screen, ComparePresenter) and "A replay/2" in text(app))
        assert "no marks in or between these runs" in text(app)
        await pilot.press("w")
        await until(pilot, lambda: "A replay/1" in text(app))
        golden.same(app.said[1:])
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, ComparePresenter))
        await until(pilot, lambda: "A #1" in text(app))


def test_the_older_run_is_a_unless_there_is_a_baseline(tmp_path: Path) -> None:
    directory = tmp_path / SESSION.name
    shutil.copytree(SESSION, directory)
    older, newer = (directory, WRITE_IOPS), (directory, MIXED)
    for chosen in ((older, newer), (newer, older)):
        assert _older_first(*chosen) == [older, newer]
    annotate(directory, baseline=MIXED)
    for chosen in ((older, newer), (newer, older)):
        assert _older_first(*chosen) == [newer, older]


async def test_both_lines_are_in_one_chart_over_the_longer_time() -> None:
    short = {name: [(x, y and y / 2) for x, y in points][:10] for name, points in curves(WRITE_IOPS).items()}
    side = Side((recorded(),))
    async with host(CompareScreen(side, side, short, curves(WRITE_IOPS)), (120, 36)) as (app, pilot):
        await until(pilot, lambda: "no difference" in text(app))
        assert not app.screen.query_one("#read-overlay").display
        drawn = app.screen.query_one("#write-overlay", Overlay).render()
    assert "20 s" in drawn.plain
    assert {str(span.style) for span in drawn.spans} >= {*SIDE_COLORS.values()}


@pytest.mark.parametrize("profile", [Profile(ascii_only=True, colors="8"), Profile(ascii_only=False, colors="none")])
async def test_without_colours_and_in_ascii_names_tell_the_lines_apart(profile: Profile) -> None:
    lower = {name: [(x, y and y / 4) for x, y in points] for name, points in curves(WRITE_IOPS).items()}
    side = Side((recorded(),))
    async with host(CompareScreen(side, side, curves(WRITE_IOPS), lower), (80, 24), profile) as (app, pilot):
        await until(pilot, lambda: "no difference" in text(app))
        drawn = app.screen.query_one("#write-overlay", Overlay).render()
        shown = app.screen.query_one(Comparison).query_one("Static").render()
    assert (drawn.plain.count("A"), drawn.plain.count("B")) == (3, 3)
    assert drawn.plain.rindex("A") < drawn.plain.index("B")  # the one above the other
    assert not drawn.spans
    assert not profile.ascii_only or (drawn.plain.isascii() and str(shown).isascii())


async def test_a_side_without_figures_has_its_reason_on_the_screen() -> None:
    failed = Side((recorded(7, outcome="failed", summary=Summary()),))
    async with host(CompareScreen(Side((recorded(),)), failed, curves(WRITE_IOPS), {})) as (app, pilot):
        await until(pilot, lambda: "failed: no results" in text(app))
        assert "compare write IOPS" in text(app)
        assert "run outcome ok failed" in " ".join(text(app).split())


async def test_neither_side_has_figures(golden: Golden) -> None:
    failed = Side((recorded(outcome="failed", summary=Summary()),))
    async with host(CompareScreen(failed, failed, {}, {})) as (app, pilot):
        await until(pilot, lambda: "neither run" in text(app))
        golden.same(row.strip() for row in rows(app) if "neither" in row)


async def test_many_differences_leave_the_first_figures_on_a_small_screen(golden: Golden) -> None:
    options = {**recorded().options, **{f"option{number}": str(number) for number in range(20)}}
    marked = recorded(2, options=options, findings=(Finding(code="recovery", text="7 % degraded"),))
    screen = CompareScreen(Side((recorded(),)), Side((marked,)), curves(WRITE_IOPS), curves(WRITE_IOPS))
    async with host(screen) as (app, pilot):
        await until(pilot, lambda: "more differences" in text(app))
        golden.same(row.strip() for row in rows(app) if "more differences" in row)
        assert "option  option0" in text(app)
        assert "bandwidth  159 MiB/s 159 MiB/s! 0.0 %" in text(app)
        await pilot.press("G")
        await until(pilot, lambda: "recovery" in rows(app)[-2])
        await pilot.resize_terminal(120, 70)
        await until(pilot, lambda: "more differences" not in text(app) and "option19" in text(app))


async def test_resizing_does_no_harm() -> None:
    async with host(two_runs()) as (app, pilot):
        for size in ((20, 5), (1, 1), (250, 70), (93, 25)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
        await until(pilot, lambda: "A #1" in text(app))


async def test_escape_goes_back() -> None:
    async with host(two_runs()) as (app, pilot):
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, CompareScreen))
    assert app.answers == [None]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 50])
def test_a_line_in_pieces_is_whole(count: int) -> None:
    points = [(float(x), 1.0) for x in range(count)]
    lines = overlay_lines(points, [], in_pieces=True)
    assert {line.label for line in lines} == ({"A"} if count else set())
    joined = [lines[0].points[0], *(point for line in lines for point in line.points[1:])] if lines else []
    assert joined == points
    assert all(before.points[-1] == after.points[0] for before, after in pairwise(lines))


# ---------------------------------------------------------------------------------------------- the other run


def save(root: Path, name: str, day: int, runs: Sequence[Run], baseline: int | None = None) -> None:
    """A session of a day in November, perhaps with a baseline."""
    notes = SessionNotes(baseline=baseline)
    write_session(root, runs, name=name, created_at=datetime(2026, 11, day, 10, tzinfo=UTC), notes=notes)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three sessions: an old one, the own one, a new one."""
    save(tmp_path, "old", 1, [recorded(n, preset="read-iops") for n in (1, 2, 3)], baseline=2)
    save(tmp_path, "own", 2, [recorded(n) for n in (1, 2, 3, 4)], baseline=2)
    failed = recorded(2, of=MIXED, outcome="failed", summary=Summary())
    save(tmp_path, "new", 3, [recorded(1, of=MIXED), failed])
    return tmp_path


ORDER = ["own/2", "own/4", "own/1", "new/2", "new/1", "old/2"]
"""Beside own/3, the runs that it repeats stand by themselves; those of the old session are one."""


def names(root: Path, exclude: tuple[str, int]) -> list[str]:
    return [found.name for found in candidates(root, exclude)]


def test_the_own_session_is_first_in_each_the_baseline_then_the_newest(root: Path) -> None:
    assert names(root, ("own", 3)) == ORDER
    assert [found.name for found in candidates(root, ("own", 3)) if found.baseline] == ["own/2", "old/2"]
    assert names(root, ("own", 2)) == ["own/4", "own/3", "own/1", "new/2", "new/1", "old/2"]
    assert names(root, ("old", 1)) == ["old/2", "old/3", "new/2", "new/1", "own/2"]


def test_repeats_are_one_and_those_that_did_not_end_well_stand_apart(tmp_path: Path) -> None:
    save(tmp_path, "own", 1, [recorded(1, batch="other")])
    repeats = [recorded(n) for n in (1, 2, 3)]
    save(tmp_path, "old", 2, [*repeats, recorded(4, outcome="stopped"), recorded(5, batch="another")])
    found = [(saved.run.run, [run.run for run in saved.repeats]) for saved in candidates(tmp_path, ("own", 1))]
    assert found == [(5, [5]), (4, [4]), (3, [1, 2, 3])]


def test_marks_stand_above_what_was_measured_before_them(tmp_path: Path) -> None:
    begun = datetime(2026, 11, 1, 10, tzinfo=UTC)

    def at(minute: int, text: str, run: int | None = None) -> Mark:
        return Mark(at=begun + timedelta(minutes=minute), text=text, run=run)

    runs = [recorded(n, batch=f"b{n}", started_at=begun + timedelta(minutes=10 * n)) for n in (1, 2, 3, 4)]
    marks = [at(5, "before all"), at(15, "first"), at(16, "second"), at(32, "while 3 ran", run=3), at(45, "last")]
    write_session(tmp_path, runs, name="own", created_at=begun, marks=marks)
    found = {each.run.run: [mark.text for mark in each.marks] for each in candidates(tmp_path, ("own", 4))}
    assert found == {3: ["last"], 2: ["while 3 ran"], 1: ["second", "first"]}
    write_session(tmp_path, runs, name="other", created_at=begun, marks=marks)
    assert not any(each.marks for each in candidates(tmp_path, ("own", 4)) if not each.is_own)


def test_what_is_broken_or_gone_is_left_out(root: Path) -> None:
    (root / "old" / "003" / "run.json").write_text("{")
    (root / "own" / "notes.json").write_text("[1")
    shutil.rmtree(root / "new")
    save(root, "gone", 4, [], baseline=7)
    assert names(root, ("own", 3)) == ["own/4", "own/2", "own/1", "old/2"]
    assert names(root / "nowhere", ("own", 3)) == []


def listed(app: App[None]) -> list[str]:
    return [row.key for row in app.screen.query_one(PickList).shown if not row.heading]


async def test_the_picker_lists_every_other_run(root: Path) -> None:
    async with host(RunPicker(root, ("own", 3)), SIZES[0]) as (app, pilot):
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await until(pilot, lambda size: tuple(app.size) == size and listed(app) == ORDER, size)
            await until(pilot, lambda: "8 runs" in text(app))
            await pilot.pause()
            for words in (
                "#2",
                "baseline, ",
                "40.7k IOPS",
                "failed",
                "4k randwrite",
                "file:/mnt",
                "old/1-3",
                "3 runs, ",
            ):
                assert words in text(app)
            assert max(map(len, text(app).splitlines())) <= size[0]


async def test_a_run_that_is_marked_is_called_what_it_is_called_elsewhere(tmp_path: Path) -> None:
    doubtful = recorded(1, findings=(Finding(code="recovery", text="7 % degraded"),))
    save(tmp_path, "own", 1, [doubtful, recorded(2)])
    async with host(RunPicker(tmp_path, ("own", 2))) as (app, pilot):
        await until(pilot, lambda: listed(app) == ["own/1"])
        _, row = app.screen.query_one(PickList).shown
        assert outcome_word(doubtful) == "questionable"
        assert row.text.startswith("questionable, ")
        assert row.fits(["questionable"])


async def test_enter_chooses_the_highlighted_run(root: Path) -> None:
    async with host(RunPicker(root, ("own", 3))) as (app, pilot):
        await until(pilot, lambda: listed(app) == ORDER)
        await pilot.press("down", "down", "down", "enter")
        await until(pilot, lambda: bool(app.answers))
    assert app.answers == [(root / "new", 2)]


async def test_sessions_and_marks_are_headings_and_a_mark_finds_what_was_before_it(tmp_path: Path) -> None:
    day = datetime(2024, 3, 1, 12, tzinfo=UTC)
    runs = [recorded(n, batch=f"b{n}", started_at=day + timedelta(minutes=n)) for n in (1, 2, 3)]
    marks = [Mark(at=day + timedelta(minutes=1.5), text="cache off")]
    write_session(tmp_path, runs, name="own", created_at=day, marks=marks)
    save(tmp_path, "old", 1, [recorded(1, started_at=day)])
    async with host(RunPicker(tmp_path, ("own", 3))) as (app, pilot):
        await until(pilot, lambda: listed(app) == ["own/2", "own/1", "old/1"])
        shown = app.screen.query_one(PickList).shown
        assert [row.cells[0] for row in shown if row.heading] == [
            "this session",
            f"before cache off ({clock(marks[0].at, datetime.now().date())})",
            "other sessions",
        ]
        times = [f"{at.astimezone():%Y-%m-%d %H:%M}" for at in (runs[1].started_at, runs[0].started_at, day)]
        assert [row.cells[2] for row in shown if not row.heading] == times
        await pilot.press(*"cache")
        await until(pilot, lambda: listed(app) == ["own/1"])
        await until(pilot, lambda: "1 of 3 runs" in text(app))


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("baseline", ["own/2", "old/2"]),
        ("old", ["old/2"]),
        ("MIXED failed", ["new/2"]),
        ("randrw", ["new/2", "new/1"]),
        ("zzz", []),
    ],
)
async def test_the_list_is_filtered_as_one_types(root: Path, typed: str, expected: list[str], golden: Golden) -> None:
    picker = RunPicker(root, ("own", 3))
    async with host(picker) as (app, pilot):
        await until(pilot, lambda: listed(app) == ORDER)
        await pilot.press(*(key if key != " " else "space" for key in typed))
        await until(pilot, lambda: listed(app) == expected)
        if not expected:
            golden.same(picker.note())
            await until(pilot, lambda: picker.note() in text(app))
        await pilot.press("enter")
        await until(pilot, lambda: bool(app.answers) == bool(expected))
    assert app.answers == [(root / name.split("/")[0], int(name.split("/")[1])) for name in expected[:1]]


async def test_escape_chooses_nothing(root: Path) -> None:
    async with host(RunPicker(root, ("own", 3))) as (app, pilot):
        await pilot.press("escape")
        await until(pilot, lambda: bool(app.answers))
    assert app.answers == [None]


async def test_where_there_is_no_other_run_it_says_so(tmp_path: Path, golden: Golden) -> None:
    save(tmp_path, "own", 1, [recorded(1)])
    picker = RunPicker(tmp_path, ("own", 1))
    async with host(picker) as (app, pilot):
        await until(pilot, lambda: "other run" in text(app))
        golden.same(picker.note())
        assert picker.note() in text(app)


async def test_of_many_sessions_no_more_are_read_than_are_needed(tmp_path: Path) -> None:
    runs = [recorded(1)]
    for number in range(400):
        preset = {3: "needle", 399: "newest"}.get(number, "write-iops")
        save(tmp_path, f"s{number:03}", 1 + number // 20, [runs[0].model_copy(update={"preset": preset})])
    async with host(RunPicker(tmp_path, ("none", 1))) as (app, pilot):
        await until(pilot, lambda: len(listed(app)) == 200)
        picker = app.screen
        assert isinstance(picker, RunPicker)
        assert listed(app)[0] == "s399/1"
        await until(pilot, lambda: "200 runs, more below" in text(app))
        app.screen.query_one(Input).value = "needle"
        await until(pilot, lambda: listed(app) == ["s003/1"])
        app.screen.query_one(Input).value = ""
        await until(pilot, lambda: len(listed(app)) == 200)
        app.screen.query_one(PickList).highlighted = 200  # below the heading
        await until(pilot, lambda: len(listed(app)) == 400)
        await until(pilot, lambda: "400 runs" in text(app) and "more below" not in text(app))
