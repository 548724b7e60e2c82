"""A saved session on the screen: its runs and marks, the charts of each, and what can be done with one."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import DataTable

from cephtui import units
from cephtui.models import Run, SessionNotes
from cephtui.models.metrics import Metric
from cephtui.presets import headline_metric
from cephtui.reports.words.quality import outcome_word
from cephtui.reports.words.text import clock, conditions
from cephtui.sessions import archive, store
from cephtui.sessions.importing import Importer
from cephtui.sessions.log_files import read_log_file
from cephtui.sessions.writer import take_lock
from cephtui.tui.app import SavedApp
from cephtui.tui.charts.chart import Chart
from cephtui.tui.dialogs import Help
from cephtui.tui.pickers.runs import RunPicker
from cephtui.tui.screens.compare import CompareScreen
from cephtui.tui.screens.details import DetailsScreen
from cephtui.tui.screens.log import LogScreen
from cephtui.tui.screens.presenter import Presenter
from cephtui.tui.screens.replay import ReplayScreen
from cephtui.tui.screens.session import SessionScreen
from cephtui.tui.widgets.big import Big
from cephtui.tui.widgets.runs_filter import RunsFilter
from cephtui.tui.widgets.runs_table import RunsTable
from tests.support import two_copies
from tests.support.golden import Golden
from tests.support.known import known
from tests.support.logs import COMMAND, WRITES
from tests.support.plans import catalogue
from tests.support.replayed import cells_of, columns, screen_text, until
from tests.unit.tui.screens.test_replay import border_title, keep_what_is_said, text_in

SIZES = [(80, 24), (93, 25), (120, 36), (200, 50)]


class Shown:
    """The screen, and what it says."""

    def __init__(self, app: SavedApp, pilot: Pilot[None], screen: SessionScreen, said: list[str]) -> None:
        self.app, self.pilot, self.screen, self.said = app, pilot, screen, said

    @property
    def table(self) -> RunsTable:
        return self.screen.query_one(RunsTable)

    @property
    def rows(self) -> list[list[str]]:
        """The cells of the table, from the top."""
        return cells_of(self.table)

    def columns(self, *names: str) -> list[list[str]]:
        """The number of each run, and what it has in the columns of these titles."""
        return [cells for cells in columns(self.table, "#", *names) if cells[0].isdigit()]

    @property
    def title(self) -> str:
        """The figures over the chart."""
        return border_title(self.screen.view.query_one("#chart", Chart))

    async def at(self, number: int) -> None:
        """With the cursor on a run, and its charts drawn."""
        row = next(n for n, cells in enumerate(self.rows) if cells[0] == str(number))
        while self.table.cursor_row != row:
            await self.pilot.press("j" if self.table.cursor_row < row else "k")
        await until(self.pilot, lambda: text_in(self.screen, "#conditions").startswith(f"#{number} "))

    async def until_on(self, kind: type) -> None:
        """A screen or dialog lies on it, or it is seen again."""
        await until(self.pilot, lambda: isinstance(self.app.screen, kind) and self.app.screen.is_mounted)


@contextlib.asynccontextmanager
async def showing(directory: Path, size: tuple[int, int] = (120, 36), *, opened: bool = True) -> AsyncIterator[Shown]:
    """The screen, once it has read the session; with repeats ``opened``, where it has some."""
    screen = SessionScreen(directory)
    app = SavedApp(directory.parent, [screen])
    said = keep_what_is_said(app)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.screen is screen and bool(screen.query("#conditions")))
        await until(pilot, lambda: text_in(screen, "#conditions") not in ("", "reading the session ..."))
        found = Shown(app, pilot, screen, said)
        if opened:
            found.table._change(chosen={row.point: True for row in found.table._rows if row.point})
            await pilot.pause()
        yield found


def about(run: Run) -> Metric:
    """What the preset of a run is about."""
    return headline_metric(catalogue(), run)


def whole_title(run: Run) -> list[str]:
    """What the chart's title tells of a run."""
    totals = {name: t for name in ("read", "write") if (t := getattr(run.summary, name))}
    return [f"{name} {about(run).text_of(total)} " for name, total in totals.items()] + ["whole run"]


# ---------------------------------------------------------------------------------------------- what is there


async def test_all_runs_and_marks_are_listed_the_newest_first(demo_copy: Path) -> None:
    runs, marks = store.read_runs(demo_copy)[0], store.read_marks(demo_copy)
    assert len(runs) > 3
    assert marks
    by_time = [*((run.started_at, str(run.run)) for run in runs), *((mark.at, "*") for mark in marks)]
    async with showing(demo_copy) as shown:
        rows = [cells for cells in shown.rows if cells[0] == "*" or cells[0].isdigit()]
        found = shown.columns("preset", "", "IOPS", "bandwidth", "latency mean", "latency p99", "outcome")
    first = list(dict.fromkeys(cells[0] for cells in found))
    assert first == [str(run.run) for run in reversed(runs)]
    stars = [cells[1] for cells in rows if cells[0] == "*"]
    assert stars == [f"{clock(mark.at, datetime.now().date(), seconds=True)}  {mark.text}" for mark in reversed(marks)]
    order = [cells[0] for n, cells in enumerate(rows) if cells[0] == "*" or cells[0] != rows[n - 1][0]]
    assert order == [name for _, name in sorted(by_time, reverse=True)]
    found = [[cell.removesuffix("!") for cell in cells] for cells in found]
    for run in runs:
        for direction, total in (("read", run.summary.read), ("write", run.summary.write)):
            figures = [cells for cells in found if cells[0] == str(run.run) and cells[2] == direction]
            expected = [
                str(run.run),
                run.preset,
                direction,
                units.iops(total.iops),
                units.bandwidth(total.bandwidth_bytes),
                units.latency(total.latency_mean_seconds),
                units.latency(total.latency_p99_seconds),
                outcome_word(run),
            ] if total else None  # fmt: skip
            assert figures == ([expected] if expected else [])


async def test_the_cursor_starts_on_the_newest_run_not_on_a_mark(demo_copy: Path) -> None:
    runs = store.read_runs(demo_copy)[0]
    last = runs[-1]
    late = store.read_marks(demo_copy)[0].model_copy(update={"at": last.started_at + timedelta(days=1)})
    with (demo_copy / "marks.jsonl").open("a") as file:
        file.write(late.model_dump_json() + "\n")
    async with showing(demo_copy) as shown:
        assert shown.rows[0][0] == "*"
        await until(shown.pilot, lambda: all(words in shown.title for words in whole_title(last)))
        assert shown.table.chosen is not None
        assert shown.table.chosen.run == last.run
        assert shown.screen.focused is shown.table


async def test_everything_is_on_the_screen(demo_copy: Path) -> None:
    archive.annotate(demo_copy, note="jumbo frames on [x]", tags=("lab", "hdd"))
    run = store.read_run(demo_copy, two_copies.STAR)
    said = ("session demo   jumbo frames on [x]   #lab #hdd", conditions(run), run.target)
    named = ("outcome", "whole run", "p play", "B baseline", "esc back", *(n.node for n in run.nodes))
    async with showing(demo_copy, SIZES[0]) as shown:
        await shown.at(two_copies.STAR)
        for size in SIZES:
            await shown.pilot.resize_terminal(*size)
            await until(shown.pilot, lambda size: tuple(shown.app.size) == size, size)
            await until(shown.pilot, lambda: "p play" in screen_text(shown.app) and "whole run" in shown.title)
            await shown.pilot.pause()
            text = screen_text(shown.app)
            assert shown.screen.query_one("#chart", Chart).size.height >= 5
            on_screen = " ".join(text.split())  # what is long is wrapped
            assert [words for words in said if " ".join(words.split()) not in on_screen] == [], size
            assert [words for words in named if words not in text] == [], size
            assert max(map(len, text.splitlines())) <= size[0]


async def test_the_charts_follow_the_cursor(demo_copy: Path) -> None:
    runs = {run.run: run for run in store.read_runs(demo_copy)[0]}
    chosen = [runs[number] for number in (max(runs), max(runs) - 1, min(runs), max(runs))]
    async with showing(demo_copy) as shown:
        for run in chosen:
            await shown.at(run.run)
            await until(shown.pilot, lambda run: all(words in shown.title for words in whole_title(run)), run)
            said = text_in(shown.screen, "#conditions")
            assert said.startswith(f"#{run.run} {run.preset} {conditions(run)}, {run.target} on ")
            assert all(finding.text in said for finding in run.findings)
            drawn = known(shown.screen.query_one("#chart", Chart)._shown)
            lines = {line.label: line.points for line in drawn.lines}
            history = store.read_history(demo_copy, run.run)
            for name in history.directions:
                assert lines[name] == tuple(history.curves[f"{name}.{about(run).name}"].points())
    assert {about(run).name for run in chosen} == {"iops", "bandwidth_bytes"}


async def test_marks_are_in_the_chart_of_their_run_only(demo_copy: Path) -> None:
    runs = [run.run for run in store.read_runs(demo_copy)[0]]
    marks = [mark for mark in store.read_marks(demo_copy) if mark.run is not None and mark.elapsed_seconds is not None]
    marked = known(marks[0].run)
    other = next(number for number in runs if number not in {mark.run for mark in marks})
    async with showing(demo_copy) as shown:
        chart = shown.screen.query_one("#chart", Chart)
        await shown.at(marked)
        own = [(mark.elapsed_seconds, mark.text) for mark in marks if mark.run == marked]
        await until(shown.pilot, lambda: list(known(chart._shown).marks) == own)
        await shown.at(other)
        await until(shown.pilot, lambda: not known(chart._shown).marks)


async def test_repeats_are_one_row_whose_keys_mean_all_of_them(demo_copy: Path) -> None:
    """Compared, they are all of them; what only one run has is that of the last."""
    runs = {run.run: run for run in store.read_runs(demo_copy)[0]}
    async with showing(demo_copy, opened=False) as shown:
        rows = [cells[0] for cells in shown.rows]
        assert "7-9" in rows
        assert not {"7", "8", "9"} & {*rows}
        while "7-9" not in shown.rows[shown.table.cursor_row]:
            await shown.pilot.press("j")
        await until(shown.pilot, lambda: text_in(shown.screen, "#conditions").startswith("#7-9 "))
        assert "; charts: #9" in text_in(shown.screen, "#conditions")
        await until(shown.pilot, lambda: all(words in shown.title for words in whole_title(runs[9])))
        await shown.pilot.press("c")
        await shown.until_on(RunPicker)
        await until(shown.pilot, lambda: "#13 " in screen_text(shown.app))
        await shown.pilot.press(*"demo/13", "enter")
        await shown.until_on(CompareScreen)
        await until(shown.pilot, lambda: "A #7-9 write-iops" in screen_text(shown.app))
        assert "B #13 " in screen_text(shown.app)


async def test_the_cursor_goes_past_marks_and_results_of_batches(demo_copy: Path) -> None:
    runs = [run.run for run in store.read_runs(demo_copy)[0]]
    async with showing(demo_copy, SIZES[0]) as shown:
        kinds = {cells[0] if not cells[0].isdigit() else "run" for cells in shown.rows}
        assert kinds == {"*", "10-12", "7-9", "run"}
        for key, order in (("down", sorted(runs, reverse=True)), ("up", sorted(runs))):
            reached = [known(shown.table.chosen).run]
            for _ in range(2 * len(runs)):
                await shown.pilot.press(key)
                reached.append(known(shown.table.chosen).run)
            assert list(dict.fromkeys(reached)) == order
        for key, number in (("end", min(runs)), ("home", max(runs)), ("pageup", max(runs))):
            await shown.pilot.press(key)
            assert known(shown.table.chosen).run == number
        while known(shown.table.chosen).run != min(runs):
            before = shown.table.cursor_row
            await shown.pilot.press("pagedown")
            assert shown.table.cursor_row > before


async def test_what_stands_above_the_newest_run_is_seen_again(demo_copy: Path) -> None:
    """The cursor does not go there."""
    async with showing(demo_copy, SIZES[0]) as shown:
        assert [cells[0] for cells in shown.rows[:3]] == ["*", "*", str(two_copies.STAR)]
        await shown.pilot.press("end")
        await until(shown.pilot, lambda: shown.table.scroll_offset.y > 2)
        await shown.pilot.press("home")
        await until(shown.pilot, lambda: shown.table.scroll_offset.y == 0)


async def test_a_click_on_a_mark_does_nothing(demo_copy: Path) -> None:
    async with showing(demo_copy) as shown:
        before = known(shown.table.chosen)
        star = next(n for n, cells in enumerate(shown.rows) if cells[0] == "*")
        for _ in range(2):
            await shown.pilot.click(DataTable, offset=(5, star + 1))
        await shown.pilot.pause()
        assert shown.table.chosen is before
        assert shown.app.screen is shown.screen


async def test_keys_of_the_chart(demo_copy: Path) -> None:
    async with showing(demo_copy) as shown:
        await shown.at(two_copies.STAR)
        chart = shown.screen.query_one("#chart", Chart)
        height = chart.size.height
        await shown.pilot.press("v")
        await until(shown.pilot, lambda: shown.title.startswith(" bandwidth "))
        await shown.pilot.press("b")
        await until(shown.pilot, lambda: shown.title == " bandwidth by node ")
        await shown.pilot.press("b", "h")
        await until(shown.pilot, lambda: shown.screen.query_one("#write-heat").display)
        await shown.pilot.press("h", "F")
        await until(shown.pilot, lambda: chart.size.height > height and not shown.table.region.height)
        await shown.pilot.press("escape")
        await until(shown.pilot, lambda: chart.size.height == height)
        assert shown.app.screen is shown.screen


# ---------------------------------------------------------------------------------------------- doing


@pytest.mark.parametrize("size", SIZES)
async def test_slash_filters_the_runs_and_escape_shows_all_again(demo_copy: Path, size: tuple[int, int]) -> None:
    async with showing(demo_copy, size) as shown:
        number = len(store.read_runs(demo_copy)[0])
        all_rows = shown.rows
        await shown.pilot.press("slash", *"latency")
        await until(shown.pilot, lambda: len(shown.rows) < len(all_rows))
        some = shown.table.counts[0]
        assert all("latency" in cells[1] for cells in shown.rows if cells[0].isdigit())
        await until(shown.pilot, lambda: f"{some} of {number} runs" in screen_text(shown.app))
        assert "enter to the runs" in screen_text(shown.app)
        await shown.pilot.press("enter")
        await until(shown.pilot, lambda: shown.app.focused is shown.table)
        assert f"{some} of {number} runs" in screen_text(shown.app), "the filter stays"
        await shown.pilot.press("escape")
        await until(shown.pilot, lambda: shown.rows == all_rows)
        assert not shown.screen.query_one(RunsFilter).display
        assert "latency" in known(shown.table.chosen).preset, "the cursor stays on its run"
        await shown.pilot.press("slash", "x", "escape")
        await until(shown.pilot, lambda: shown.rows == all_rows)
        assert shown.app.focused is shown.table
        await shown.pilot.press("escape")
        await until(shown.pilot, lambda: shown.app.screen is not shown.screen)


async def test_the_filter_shows_the_table_again_and_goes_with_it(demo_copy: Path) -> None:
    async with showing(demo_copy) as shown:
        shown.screen.toggle_panel("runs")
        await shown.pilot.press("slash", "7")
        await until(shown.pilot, lambda: bool(shown.table.region.height))
        shown.screen.toggle_panel("runs")
        await until(shown.pilot, lambda: not shown.screen.query_one(RunsFilter).display)
        assert shown.table.content.filter == ""


async def test_the_help_says_what_the_sign_behind_a_figure_is(demo_copy: Path, golden: Golden) -> None:
    async with showing(demo_copy) as shown:
        await shown.pilot.press("question_mark")
        await shown.until_on(Help)
        golden.same(shown.screen.more_to_say())
        assert shown.screen.more_to_say()[:40] in screen_text(shown.app)


async def test_b_makes_a_baseline_another_one_and_none(demo_copy: Path, golden: Golden) -> None:
    archive.annotate(demo_copy, note="kept", tags=("lab",))
    async with showing(demo_copy) as shown:
        for number, baseline in ((two_copies.STAR, two_copies.STAR), (2, 2), (2, None)):
            await shown.at(number)
            await shown.pilot.press("B")
            await until(shown.pilot, lambda baseline: archive.read_notes(demo_copy).baseline == baseline, baseline)
            await until(
                shown.pilot,
                lambda names: {run for run, text in shown.columns("differs") if text.startswith("baseline")} == names,
                {str(baseline)} if baseline else set(),
            )
            assert shown.table.chosen is not None
            assert shown.table.chosen.run == number
        golden.same(shown.said)
    assert archive.read_notes(demo_copy) == SessionNotes(note="kept", tags=("lab",), baseline=None)


async def test_the_baseline_is_there_when_the_session_is_opened_again(demo_copy: Path) -> None:
    archive.annotate(demo_copy, baseline=2)
    async with showing(demo_copy) as shown:
        assert {run for run, text in shown.columns("differs") if "baseline" in text} == {"2"}


async def test_c_chooses_the_other_run_and_compares(demo_copy: Path) -> None:
    archive.annotate(demo_copy, baseline=3)
    async with showing(demo_copy) as shown:
        await shown.at(two_copies.STAR)
        await shown.pilot.press("c")
        await shown.until_on(RunPicker)
        await until(shown.pilot, lambda: "#3 " in screen_text(shown.app))
        assert f"#{two_copies.STAR} " not in screen_text(shown.app), "it is no use to compare a run with itself"
        await shown.pilot.press("enter")
        await shown.until_on(CompareScreen)
        await until(shown.pilot, lambda: f"B #{two_copies.STAR} " in screen_text(shown.app))
        text = screen_text(shown.app)
        assert "session demo" in text
        assert "A #3 " in text
        assert "differs" in text
        await shown.pilot.press("escape")
        await until(shown.pilot, lambda: shown.app.screen is shown.screen)
        await shown.pilot.press("c")
        await shown.until_on(RunPicker)
        await shown.pilot.press("escape")
        await until(shown.pilot, lambda: shown.app.screen is shown.screen)


async def test_a_run_that_went_away_meanwhile_is_not_compared(demo_copy: Path) -> None:
    archive.annotate(demo_copy, baseline=3)
    async with showing(demo_copy) as shown:
        await shown.at(two_copies.STAR)
        await shown.pilot.press("c")
        await shown.until_on(RunPicker)
        await until(shown.pilot, lambda: "#3 " in screen_text(shown.app))
        shutil.rmtree(demo_copy / "003")
        await shown.pilot.press("enter")
        await until(shown.pilot, lambda: bool(shown.said))
        (said,) = shown.said
        assert str(demo_copy / "003") in said
        assert shown.app.screen is shown.screen


async def test_p_plays_the_run_and_escape_comes_back_to_it(demo_copy: Path) -> None:
    async with showing(demo_copy) as shown:
        await shown.at(2)
        await shown.pilot.press("p")
        await shown.until_on(ReplayScreen)
        assert "demo/2" in screen_text(shown.app)
        await shown.pilot.press("escape")
        await until(shown.pilot, lambda: shown.app.screen is shown.screen)
        assert shown.table.chosen is not None
        assert shown.table.chosen.run == 2


async def test_enter_shows_all_of_a_run(demo_copy: Path) -> None:
    run = store.read_run(demo_copy, two_copies.STAR)
    async with showing(demo_copy) as shown:
        await shown.at(two_copies.STAR)
        await shown.pilot.press("enter")
        await shown.until_on(DetailsScreen)
        assert f"demo/{two_copies.STAR}" in screen_text(shown.app)
        await until(shown.pilot, lambda: "p99.99" in screen_text(shown.app))
        assert "write clat, from submission to completion, 63,114 completions" in screen_text(shown.app)
        await shown.pilot.press("end")
        await until(shown.pilot, lambda: "started" in screen_text(shown.app))
        assert all(node.node in screen_text(shown.app) for node in run.nodes)
        await shown.pilot.press("l")
        await shown.until_on(LogScreen)
        await shown.pilot.press("escape")
        await shown.until_on(DetailsScreen)
        await shown.pilot.press("escape")
        await until(shown.pilot, lambda: shown.app.screen is shown.screen)


async def test_f_and_l_show_the_run_under_the_cursor(demo_copy: Path) -> None:
    run = store.read_run(demo_copy, two_copies.STAR)
    write = known(run.summary.write)
    async with showing(demo_copy) as shown:
        await shown.at(two_copies.STAR)
        await until(shown.pilot, lambda: all(words in shown.title for words in whole_title(run)))
        await shown.pilot.press("f")
        await shown.until_on(Presenter)
        value = shown.app.screen.query(".value").first(Big)
        await until(shown.pilot, lambda: value._texts == (units.iops(write.iops),))
        assert " whole run " in text_in(shown.app.screen, "#presented")
        await shown.pilot.press("escape", "l")
        await shown.until_on(LogScreen)
        assert text_in(shown.app.screen, "#log-command") == f"$ {run.nodes[0].command}"
        await shown.pilot.press("escape")
        await until(shown.pilot, lambda: shown.app.screen is shown.screen)


async def test_a_click_on_a_run_shows_it(demo_copy: Path) -> None:
    async with showing(demo_copy) as shown:
        below = next(cells[0] for cells in shown.rows[3:] if cells[0].isdigit())
        row = next(n for n, cells in enumerate(shown.rows) if cells[0] == below)
        await shown.pilot.click(DataTable, offset=(5, row + 1))
        await until(shown.pilot, lambda: text_in(shown.screen, "#conditions").startswith(f"#{below} "))
        assert shown.app.screen is shown.screen


# ---------------------------------------------------------------------------------------------- what may be wrong


async def test_a_session_without_runs_says_so(demo_copy: Path, golden: Golden) -> None:
    for path in demo_copy.iterdir():
        if path.name.isdecimal():
            shutil.rmtree(path)
    (demo_copy / "marks.jsonl").unlink()
    async with showing(demo_copy) as shown:
        golden.same(text_in(shown.screen, "#conditions"))
        await shown.pilot.press("p", "c", "B", "f", "l", "enter", "v", "h", "b", "j", "k")
        assert shown.app.screen is shown.screen
        (said,) = set(shown.said)
        golden.same(said)


async def test_torn_notes_are_told_and_the_runs_are_shown(demo_copy: Path) -> None:
    (demo_copy / "notes.json").write_text('{"note": "hal')
    async with showing(demo_copy) as shown:
        await shown.at(two_copies.STAR)
        (said,) = shown.said
        assert str(demo_copy / "notes.json") in said
        assert "\n" not in said
        await shown.pilot.press("B")
        await until(shown.pilot, lambda: len(shown.said) == 2)
        assert shown.app.screen is shown.screen
    assert (demo_copy / "notes.json").read_text() == '{"note": "hal'


async def test_a_broken_run_is_told_and_the_others_are_there(demo_copy: Path) -> None:
    (demo_copy / "002" / "run.json").write_text("{}")
    runs = [run.run for run in store.read_runs(demo_copy)[0]]
    async with showing(demo_copy) as shown:
        await until(shown.pilot, lambda: bool(shown.said))
        (said,) = shown.said
        assert str(demo_copy / "002" / "run.json") in said
        assert {cells[0] for cells in shown.columns()} == {str(number) for number in runs}
    assert 2 not in runs


async def test_a_run_without_readable_curves_keeps_its_figures(demo_copy: Path) -> None:
    run = store.read_run(demo_copy, two_copies.STAR)
    (demo_copy / f"{two_copies.STAR:03}" / "overview.json").write_text("{")
    async with showing(demo_copy) as shown:
        await shown.at(two_copies.STAR)
        await until(shown.pilot, lambda: all(words in shown.title for words in whole_title(run)))
        assert str(demo_copy / f"{two_copies.STAR:03}" / "overview.json") in shown.said[0]


async def test_what_can_not_be_played_is_told(demo_copy: Path) -> None:
    (demo_copy / "plans.jsonl").unlink()
    async with showing(demo_copy) as shown:
        await shown.at(two_copies.STAR)
        await shown.pilot.press("p")
        await until(shown.pilot, lambda: bool(shown.said))
        (said,) = shown.said
        assert str(demo_copy / "plans.jsonl") in said
        assert shown.app.screen is shown.screen


async def test_a_session_that_has_gone_is_told(demo_copy: Path) -> None:
    shutil.rmtree(demo_copy)
    screen = SessionScreen(demo_copy)
    app = SavedApp(demo_copy.parent, [screen])
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: bool(screen.query("#conditions")))
        await until(pilot, lambda: str(demo_copy) in text_in(screen, "#conditions"))
        await pilot.press("p", "enter", "B", "escape")
        await until(pilot, lambda: not app.is_running)


async def test_a_session_that_is_being_written_is_shown_and_noted(demo_copy: Path) -> None:
    text = (demo_copy / f"{two_copies.STAR:03}" / "run.json").read_text()
    (demo_copy / f"{two_copies.STAR:03}" / "run.json").write_text(text.replace('"outcome": "ok"', '"outcome": null', 1))
    with contextlib.closing(known(take_lock(demo_copy))):
        async with showing(demo_copy) as shown:
            assert [text for run, text in shown.columns("outcome") if run == str(two_copies.STAR)] == ["running"]
            await shown.at(2)
            await shown.pilot.press("B")
            await until(shown.pilot, lambda: archive.read_notes(demo_copy).baseline == 2)


async def test_an_imported_run_says_where_it_is_from_and_is_not_played(tmp_path: Path, golden: Golden) -> None:
    (tmp_path / "old.txt").write_text(COMMAND + WRITES)
    importer = Importer(tmp_path / "sessions", "old", tmp_path / "old.txt")
    importer.add(read_log_file(tmp_path / "old.txt"))
    importer.close()
    async with showing(tmp_path / "sessions" / "old") as shown:
        await until(shown.pilot, lambda: "without seconds" in text_in(shown.screen, "#conditions"))
        line = "device:/dev/rbd0 on pve1, imported from old.txt:4, without seconds to draw"
        assert line in text_in(shown.screen, "#conditions")
        await shown.pilot.press("p")
        await until(shown.pilot, lambda: bool(shown.said))
        golden.same(shown.said[0])
