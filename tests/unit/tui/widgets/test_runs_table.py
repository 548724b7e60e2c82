"""The table of runs: its rows as data, the columns for which there is room, and the run in progress."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.text import Text
from textual.app import ComposeResult
from textual.pilot import Pilot

from cephtui import units
from cephtui.models import Finding, Interval, Mark, OptionValue, Run, Summary
from cephtui.presets import options_by_preset
from cephtui.reports.styles import STYLES, Style
from cephtui.tui.app import CephtuiApp
from cephtui.tui.widgets.fitted import cells_across, fitted_widths
from cephtui.tui.widgets.run_rows import LiveFigures, RunRow, TableContent
from cephtui.tui.widgets.runs_table import RunsTable, columns_for
from tests.support.known import known
from tests.support.plans import catalogue
from tests.support.replayed import cells_of, columns, console_screen, in_a_run, rows, text_of, until
from tests.support.runs import recorded

BEGUN = datetime(2026, 11, 21, 18, 0, tzinfo=UTC)
PRESETS = options_by_preset(catalogue())
RUNNING = {"outcome": None, "summary": Summary()}
SIZES = [(80, 24), (93, 25), (120, 36), (200, 50)]


def at(minutes: float) -> datetime:
    return BEGUN + timedelta(minutes=minutes)


def run(number: int, **fields: Any) -> Run:
    """One of preset write-iops on a pool, as it is without changed options."""
    options = {**PRESETS["write-iops"], "ioengine": "rbd"}
    usual = {"batch": f"b{number}", "target": "rbd:bench", "options": options, "findings": (), "started_at": at(number)}
    return recorded(number, **{**usual, **fields})


def changed(**options: OptionValue) -> dict[str, OptionValue]:
    return {**run(1).options, **options}


def content(
    *runs: Run, marks: Sequence[Mark] = (), baseline: int | None = None, now: LiveFigures | None = None
) -> TableContent:
    return TableContent({each.run: each for each in runs}, tuple(marks), PRESETS, baseline, now)


def texts(found: Sequence[RunRow], *names: str) -> list[tuple[str, ...]]:
    return [tuple(row.texts.get(name, "") for name in names) for row in found if row.across is None]


# ---------------------------------------------------------------------------------------------- rows


def test_a_run_as_its_preset_has_it_differs_in_nothing() -> None:
    assert texts(content(run(1)).rows(), "#", "preset", "differs", "direction") == [("1", "write-iops", "", "write")]


@pytest.mark.parametrize(
    ("target", "options", "differs"),
    [
        ("rbd:bench", {"iodepth": 1, "numjobs": 15, "size": "128M"}, "qd1 j15 size=128M"),
        ("rbd:bench", {"bs": "64k", "rw": "randread", "runtime": 30.0}, "rw=randread bs=64k 30s"),
        ("file:/mnt/x", {"ioengine": "io_uring", "direct": False}, "ioengine=io_uring direct=no"),
        ("rbd:bench/image", {"iodepth": 512, "numjobs": 1}, ""),
        ("nonsense", {"iodepth": 1}, ""),
    ],
)
def test_what_differs_from_the_preset_stands_in_short(
    target: str, options: dict[str, OptionValue], differs: str
) -> None:
    assert texts(content(run(1, target=target, options=changed(**options))).rows(), "differs") == [(differs,)]


def test_of_a_preset_that_is_not_known_only_a_sweep_is_shown() -> None:
    sweep = [run(n, preset="mine", batch="b", options=changed(iodepth=n, bs="64k")) for n in (1, 2)]
    assert texts(content(*sweep).rows(), "differs") == [("qd2",), ("qd1",)]


def test_the_baseline_is_named_before_what_differs() -> None:
    runs = run(1, options=changed(iodepth=1)), run(2)
    assert texts(content(*runs, baseline=1).rows(), "differs") == [("",), ("baseline qd1",)]


def repeats(*iops: float, begun: int = 1, **fields: Any) -> list[Run]:
    """The runs of a batch of repeats, with these IOPS."""
    usual = {"batch": "b", "options": recorded().options, "target": recorded().target, **fields}
    return [run(number, iops=rate, p99=0.1, **usual) for number, rate in enumerate(iops, begun)]


def opened(*runs: Run, **changes: Any) -> list[RunRow]:
    """The rows with all repeats opened."""
    found = replace(content(*runs), **changes)
    return replace(found, chosen={row.point: True for row in found.rows() if row.point}).rows()


def test_repeats_are_one_row_with_their_mean_its_interval_their_spread_and_number() -> None:
    runs = repeats(10000, 10400, 9800, 10200, 9900)
    (row,) = content(*runs).rows()
    shown = "#", "preset", "iops", "iops margin", "iops spread", "outcome"
    assert texts([row], *shown) == [("1-5", "▸ write-iops", "10.1k", "±3.0 %", "2.4 %", "n=5")]
    assert (row.run, row.repeats) == (runs[-1], tuple(runs))
    (row,) = replace(content(*runs), ascii_only=True).rows()
    assert texts([row], "iops margin") == [("+-3.0 %",)]


def test_opened_repeats_stand_below_their_mean() -> None:
    found = opened(*repeats(9800, 17400))
    assert texts(found, "#", "preset", "iops", "iops margin", "outcome") == [
        ("1-2", "▾ write-iops", "13.1k", "-97..>+999 %", "n=2"),
        ("2", "  write-iops", "17.4k", "", "ok"),
        ("1", "  write-iops", "9.80k", "", "ok"),
    ]
    assert [bool(row.repeats) for row in found] == [True, False, False]
    assert len({row.point for row in found}) == 1


def test_repeats_are_open_until_the_last_has_ended() -> None:
    first, second, third = repeats(100, 101, 102)
    running = second.model_copy(update=RUNNING)
    assert len(content(first, running).rows()) == 3
    assert len(content(first, second).rows()) == 1
    assert len(replace(content(first, second), measuring=frozenset("b")).rows()) == 3
    assert len(replace(content(first, second, third), measuring=frozenset(["other"])).rows()) == 1


def test_the_newest_of_a_repeated_sweep_is_open_while_it_is_measured() -> None:
    sweep = [run(n, batch="b", options=changed(iodepth=depth)) for n, depth in ((1, 1), (2, 4), (3, 1))]
    found = replace(content(*sweep), measuring=frozenset("b")).rows()
    assert texts(found, "#", "differs") == [("1,3", "qd1"), ("3", "qd1"), ("1", "qd1"), ("2", "qd4")]


def test_repeats_with_the_baseline_name_it() -> None:
    assert texts(content(*repeats(100, 101), baseline=1).rows(), "differs") == [("baseline 20s",)]


def test_limited_figures_have_a_sign_and_those_of_a_run_that_did_not_end_well() -> None:
    finding = Finding(code="in-flight", text="IOPS and bandwidth disagree")
    first, second, third = repeats(100, 900, 300)
    second = second.model_copy(update={"outcome": "stopped"})
    third = third.model_copy(update={"findings": (finding,)})
    result, *others = opened(first, second, third)
    assert texts([result], "iops", "outcome") == [("173!", "n=2 of 3 !")]
    assert result.run == third
    signed = [{name for name, text in row.texts.items() if text.endswith("!")} for row in (result, *others)]
    every = {"iops", "bandwidth_bytes", "latency_mean_seconds", "latency_p99_seconds"}
    assert signed == [{"iops", "outcome"}, {"iops"}, every, set()]
    assert (result.styles["iops"], others[0].styles["iops"]) == (STYLES["open"], STYLES["limited"])
    assert not any("dim" in style for row in (result, *others) for style in row.styles.values())


@pytest.mark.parametrize(
    ("codes", "outcome", "word", "style"),
    [
        ((), "ok", "ok", "ok"),
        (("recovery",), "ok", "questionable", "limited"),
        (("page-cache",), "ok", "not counted", "limited"),
        ((), "stopped", "stopped", "limited"),
        (("recovery",), "failed", "failed", "bad"),
    ],
)
def test_the_outcome_has_the_colour_of_what_its_word_means(
    codes: Sequence[str], outcome: str, word: str, style: Style
) -> None:
    findings = tuple(Finding(code=code, text="x") for code in codes)
    (row,) = content(run(1, findings=findings, outcome=outcome)).rows()
    assert (row.texts["outcome"], row.styles["outcome"]) == (word, STYLES[style])


def test_only_another_day_has_its_date() -> None:
    day = BEGUN.astimezone()
    found = {
        today: [row.texts["started"] for row in replace(content(run(1)), today=today).rows()]
        for today in (day.date(), day.date() + timedelta(days=1), day.date().replace(year=2027), None)
    }
    time = f"{at(1).astimezone():%H:%M}"
    assert [*found.values()] == [[time], [f"11-21 {time}"], [f"2026-11-21 {time}"], [f"11-21 {time}"]]
    assert content(run(1, is_dated=False)).rows()[0].texts["started"] == "-"


def test_repeats_have_the_time_of_the_first() -> None:
    (row,) = replace(content(*repeats(100, 101, begun=5)), today=BEGUN.astimezone().date()).rows()
    assert row.texts["started"] == f"{at(5).astimezone():%H:%M}"


FILTERED = [
    run(1, preset="read-iops"),
    run(2, target="rbd:bench/vm-3-disk", outcome="failed"),
    run(3, findings=(Finding(code="recovery", text="x"),)),
    *(run(n, batch="b", preset="latency") for n in (4, 5)),
    *(run(n, batch="sweep", preset="depths", options=changed(iodepth=n)) for n in (16, 32)),
]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", ["32", "16", "4-5", "3", "2", "1"]),
        ("read-iops", ["1"]),
        ("FAILED", ["2"]),
        ("questionable", ["3"]),
        ("3", ["3", "2"]),
        ("#3", ["3"]),
        ("5", ["4-5"]),
        ("latency ok", ["4-5"]),
        ("latency failed", []),
        ("qd16", ["16"]),
        ("vm-3 failed", ["2"]),
    ],
)
def test_the_filter_finds_what_is_seen_of_a_run(text: str, numbers: list[str]) -> None:
    rows = replace(content(*FILTERED), filter=text).rows()
    assert [row.texts["#"] for row in rows if row.run] == numbers
    headings = [row for row in rows if row.across]
    assert len(headings) == bool({"16", "32"} & {*numbers}), "with a run below it"


def test_the_filter_finds_marks() -> None:
    found = replace(content(run(1), marks=[Mark(at=at(2), text="cache off")]), filter="Cache").rows()
    assert [known(row.across).plain.endswith("cache off") for row in found] == [True]


def test_of_repeats_the_filter_finds_those_that_have_the_words() -> None:
    first, second = repeats(100, 101)
    found = opened(first, second.model_copy(update={"outcome": "failed"}), filter="failed")
    assert [row.texts["#"] for row in found] == ["1-2", "2"]


def test_a_sweep_has_its_values_above_it_and_one_of_directions_has_none() -> None:
    sweep = [run(n, batch="b", options=changed(iodepth=depth)) for n, depth in ((1, 1), (2, 4), (3, 16))]
    heading, *others = content(*sweep).rows()
    assert known(heading.across).plain == " write-iops  iodepth=1,4,16 (3 runs)"
    assert texts(others, "#", "differs") == [("3", "qd16"), ("2", "qd4"), ("1", "qd1")]
    latency = [run(n, batch="b", options=changed(rw=rw)) for n, rw in ((1, "randread"), (2, "randwrite"))]
    assert [row.run for row in content(*latency).rows()] == [latency[1], latency[0]]


def test_each_point_of_a_repeated_sweep_has_a_result() -> None:
    order = ((1, "4k"), (2, "64k"), (3, "4k"), (4, "64k"))
    runs = [run(n, batch="b", options=changed(bs=bs)) for n, bs in order]
    found = content(*runs).rows()
    assert texts(found, "#", "differs", "outcome") == [("1,3", "bs=4k", "n=2"), ("2,4", "bs=64k", "n=2")]
    (row,) = replace(content(*runs), chosen={found[1].point: True}).rows()[-1:]
    assert texts([row], "#", "differs") == [("2", "bs=64k")]


def test_marks_made_in_a_batch_stand_below_its_result() -> None:
    runs = [run(1), *(run(n, batch="b") for n in (2, 3))]
    marks = [
        Mark(at=at(1.5), text="before"),
        Mark(at=at(2.5), text="in it"),
        Mark(at=at(3.5), run=3, text="at the end"),
    ]
    marks.append(Mark(at=at(9), text="after"))

    def order(rows: Sequence[RunRow]) -> list[str]:
        return [known(row.across).plain.split("  ", 1)[1] if row.across else row.texts["#"] for row in rows]

    assert order(opened(*runs, marks=tuple(marks))) == ["after", "2-3", "at the end", "3", "in it", "2", "before", "1"]
    assert order(content(*runs, marks=marks).rows()) == ["after", "2-3", "at the end", "in it", "before", "1"]


@pytest.mark.parametrize(
    ("now", "outcome", "iops"),
    [
        (None, "running", "-"),
        (LiveFigures(2, {}, "run"), "running", "-"),
        (LiveFigures(1, {}, "prepare"), "prefill", "-"),
        (LiveFigures(1, {"write": Interval(1, 1, 16500.0, 1.0)}, "run"), "running", "16.5k"),
        (LiveFigures(1, {"write": None}, "ramp"), "ramp-up", "-"),
    ],
)
def test_a_run_in_progress_has_the_figures_of_its_last_second(now: LiveFigures | None, outcome: str, iops: str) -> None:
    (row,) = content(run(1, **RUNNING), now=now).rows()
    assert (row.texts["outcome"], row.texts["iops"]) == (outcome, iops)
    assert "dim" not in row.styles.values()


# ---------------------------------------------------------------------------------------------- columns


def test_columns_are_left_out_in_the_order_of_their_importance() -> None:
    runs = [run(n, batch="b", options=changed(iodepth=16, size="256M", bs="64k", runtime=15.0)) for n in (1, 2, 3)]
    found, before, gone = opened(*runs), set[str](), list[str]()
    for width in range(220, 69, -1):
        widths = columns_for(found, width).widths
        assert sum(widths.values()) <= width
        assert widths["differs"] >= 8, "it is shown as far as there is room"
        assert not widths.keys() - before or not before, "no column comes back on a narrower screen"
        gone += sorted(before - widths.keys())
        before = set(widths)
    assert gone == [
        "started",
        "target",
        *(f"{name} spread" for name in ("bandwidth_bytes", "latency_mean_seconds", "latency_p99_seconds", "iops")),
        *(f"{name} margin" for name in ("bandwidth_bytes", "latency_mean_seconds", "latency_p99_seconds")),
        "latency_mean_seconds",
        "bandwidth_bytes",
        "iops margin",
    ]
    assert before == {"#", "preset", "differs", "direction", "iops", "latency_p99_seconds", "outcome"}


def test_a_column_without_any_text_takes_no_room() -> None:
    assert "differs" not in columns_for(content(run(1)).rows(), 200).widths
    assert not {"iops margin", "iops spread"} & columns_for(content(run(1)).rows(), 200).widths.keys()


def test_a_column_is_left_out_only_for_what_is_there() -> None:
    natural = {"a": 10, "b": 10, "rest": 4}
    assert fitted_widths(natural, 24, "rest", {"a": 8}) == natural
    assert fitted_widths(natural, 23, "rest", {"a": 8}) == {"b": 10, "rest": 4}
    assert fitted_widths(natural, 23, "rest", {"a": 2}) == {"a": 10, "b": 10, "rest": 3}


@pytest.mark.parametrize("text", ["changed cache mode", "\N{CJK UNIFIED IDEOGRAPH-6E2C}" * 12, "", "x" * 99])
def test_a_text_goes_over_cells_without_a_gap(text: str) -> None:
    cells = cells_across(Text(text), [4, 1, 7, 30])
    assert len(cells) == 4
    assert "".join(cell.plain for cell in cells) == (text if cell_len(text) <= 42 else f"{text[:41]}…")
    assert all(cell.cell_len <= width for cell, width in zip(cells, [4, 1, 7, 30], strict=True))


# ---------------------------------------------------------------------------------------------- the table


class TableApp(CephtuiApp):
    """Only the table."""

    def compose(self) -> ComposeResult:
        yield RunsTable()


@asynccontextmanager
async def table_of(
    *runs: Run, marks: Sequence[Mark] = (), size: tuple[int, int] = (120, 24)
) -> AsyncIterator[tuple[RunsTable, Pilot[None]]]:
    """A table that shows these."""
    app = TableApp(Path("none"))
    async with app.run_test(size=size) as pilot:
        table = app.screen.query_one(RunsTable)
        table.show_session(runs, marks, PRESETS)
        await pilot.pause()
        yield table, pilot


def last_second(iops: float) -> dict[str, Interval]:
    return {"write": Interval(int(iops), 4096, iops, 4096 * iops, 0.001, 0.002)}


async def test_the_row_of_a_run_in_progress_is_updated_in_its_place() -> None:
    async with table_of(run(1), run(2, **RUNNING)) as (table, pilot):
        table.show_live(run(2, **RUNNING), last_second(9800.0))
        await pilot.pause()
        built = table.ordered_rows
        for iops in (16500.0, 100.0):
            table.show_live(run(2, **RUNNING), last_second(iops))
            await pilot.pause()
            shown = [units.iops(iops), units.latency(0.001), units.latency(0.002), "running"]
            assert columns(table, "IOPS", "clat mean", "clat p99", "outcome")[0] == shown
            assert all(word in text_of(pilot.app, table) for word in shown)
        assert [row is before for row, before in zip(table.ordered_rows, built, strict=True)] == [True, True]


async def test_nothing_is_drawn_where_no_text_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    async with table_of(run(1, **RUNNING)) as (table, _):
        table.show_live(run(1, **RUNNING), last_second(9800.0))
        updates: list[object] = []
        monkeypatch.setattr(table, "update_cell_at", lambda *args: updates.append(args))
        table.show_live(run(1, **RUNNING), last_second(9800.4))
        assert updates == []
        table.show_live(run(1, **RUNNING), last_second(9700.0))
        assert updates


async def test_a_direction_that_rests_for_a_second_keeps_its_row() -> None:
    both = {**last_second(100.0), "read": last_second(50.0)["write"]}
    async with table_of(run(1, **RUNNING)) as (table, _):
        for flows in (both, last_second(90.0)):
            table.show_live(run(1, **RUNNING), flows)
            assert {row[0] for row in columns(table, "")} == {"read", "write"}
        assert ["read", "-"] in columns(table, "", "IOPS")


async def test_a_run_that_has_ended_shows_its_own_figures() -> None:
    async with table_of(run(1, **RUNNING)) as (table, _):
        table.show_live(run(1, **RUNNING), last_second(1.0))
        table.put(run(1))
        table.show_live(run(1, **RUNNING), last_second(1.0))
        assert columns(table, "outcome", "IOPS") == [["ok", units.iops(known(run(1).summary.write).iops)]]


async def test_the_cursor_follows_the_newest_run_and_stays_on_any_other() -> None:
    async with table_of(run(1), run(2)) as (table, pilot):
        assert known(table.chosen).run == 2
        table.put(run(3, **RUNNING))
        table.put_mark(Mark(at=at(3.5), run=3, text="x"))
        assert known(table.chosen).run == 3
        table.show_live(run(3, **RUNNING), last_second(1.0))
        assert known(table.chosen).run == 3
        pilot.app.set_focus(table)
        await pilot.press("down")
        assert known(table.chosen).run == 2
        table.put(run(4))
        table.put_mark(Mark(at=at(4.5), text="y"))
        assert known(table.chosen).run == 2


def seen(table: RunsTable) -> list[str]:
    """The numbers in the first column."""
    return [cells[0] for cells in cells_of(table)]


@pytest.mark.parametrize("size", SIZES)
async def test_repeats_are_opened_and_closed_again(size: tuple[int, int]) -> None:
    async with table_of(run(1), *repeats(10000, 10400, 9800, begun=2), size=size) as (table, pilot):
        pilot.app.set_focus(table)
        assert "10.1k" in text_of(pilot.app, table)
        assert "±7.8 %" in text_of(pilot.app, table)
        for key, shown in (
            ("enter", ["2-4", "4", "3", "2", "1"]),
            ("enter", ["2-4", "1"]),
            ("left", ["2-4", "1"]),
            ("right", ["2-4", "4", "3", "2", "1"]),
            ("right", ["2-4", "4", "3", "2", "1"]),
        ):
            await pilot.press(key)
            await pilot.pause()
            assert seen(table) == shown
        await pilot.press("down", "down")
        assert known(table.chosen).run == 3
        await pilot.press("left")
        assert seen(table) == ["2-4", "1"]
        assert (table.cursor_row, known(table.chosen).run) == (0, 4)
        await pilot.press("down", "right", "left")
        assert seen(table) == ["2-4", "1"], "a run that is not repeated has nothing to open"


async def test_repeats_are_opened_by_a_click() -> None:
    async with table_of(run(1), *repeats(10000, 10400, begun=2)) as (table, pilot):
        await pilot.click(table, offset=(8, 1))
        assert seen(table) == ["2-3", "3", "2", "1"]
        await pilot.click(table, offset=(8, 1))
        assert seen(table) == ["2-3", "1"]


async def test_the_selection_is_kept_when_a_repeat_begins_and_when_the_last_has_ended() -> None:
    first, second, third = repeats(100, 101, 102, begun=2)
    async with table_of(run(1), first, second) as (table, pilot):
        table.put_measuring(frozenset("b"))
        assert seen(table) == ["2-3", "3", "2", "1"]
        pilot.app.set_focus(table)
        await pilot.press("down", "down")
        assert known(table.chosen).run == 2
        table.put(third.model_copy(update=RUNNING))
        assert seen(table) == ["2-4", "4", "3", "2", "1"]
        assert known(table.chosen).run == 2
        table.put(third)
        assert known(table.chosen).run == 2
        table.put_measuring(frozenset())
        assert seen(table) == ["2-4", "1"]
        assert (table.cursor_row, known(table.chosen).run) == (0, 4)


async def test_what_the_filter_shows_is_counted_and_the_cursor_stays_on_its_run() -> None:
    async with table_of(*FILTERED) as (table, pilot):
        pilot.app.set_focus(table)
        assert table.counts == (7, 7)
        await pilot.press("down", "down", "down")
        assert known(table.chosen).run == 3
        table.put_filter("bench")
        assert (table.counts, known(table.chosen).run) == ((7, 7), 3)
        table.put_filter("questionable")
        assert (table.counts, known(table.chosen).run) == ((1, 7), 3)
        table.put(run(33))
        assert (table.counts, known(table.chosen).run) == ((1, 8), 3)
        table.put_filter("nothing has it")
        assert (table.counts, table.chosen) == ((0, 8), None)
        table.put_filter("")
        assert table.counts == (8, 8)


async def test_a_sign_stands_behind_figures_that_stay_below_each_other() -> None:
    limited = run(2, findings=(Finding(code="recovery", text="x"),))
    async with table_of(run(1), limited) as (table, pilot):
        iops = units.iops(known(limited.summary.write).iops)
        below, above = (line.index(iops) for line in text_of(pilot.app, table).splitlines()[2:0:-1])
        assert above == below
        assert f"{iops}! " in text_of(pilot.app, table)


async def test_a_live_run_of_repeats_that_the_user_has_closed_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = repeats(100, 101)
    async with table_of(first, second.model_copy(update=RUNNING)) as (table, pilot):
        pilot.app.set_focus(table)
        await pilot.press("left")
        assert seen(table) == ["1-2"]
        monkeypatch.setattr(table, "rebuild", lambda: pytest.fail("nothing of it is shown"))
        table.show_live(second.model_copy(update=RUNNING), last_second(1.0))


async def test_the_cursor_stays_on_its_direction() -> None:
    mixed = recorded(2, started_at=at(2), batch="mixed")
    written = known(mixed.summary.write)
    mixed = mixed.model_copy(update={"summary": Summary(read=written, write=written)})
    async with table_of(run(1), mixed) as (table, pilot):
        pilot.app.set_focus(table)
        await pilot.press("down")
        assert (table.cursor_row, known(table.chosen).run) == (1, 2)
        table.put_mark(Mark(at=at(3), text="x"))
        assert (table.cursor_row, known(table.chosen).run) == (2, 2)
        table.show_session([run(1)])
        assert known(table.chosen).run == 1


def numbers_in(pilot: Pilot[None], table: RunsTable) -> list[str]:
    """Of the runs that are seen."""
    return [line.split()[0] for line in text_of(pilot.app, table).splitlines()]


async def test_what_is_seen_stays_where_it_is_when_something_comes_above() -> None:
    async with table_of(*map(run, range(1, 41)), size=(120, 24)) as (table, pilot):
        pilot.app.set_focus(table)
        await pilot.press("end", "up", "up")
        await pilot.pause()
        before = numbers_in(pilot, table)
        assert "3" in before
        table.put(run(41))
        await pilot.pause()
        assert numbers_in(pilot, table) == before


async def test_the_cursor_is_hidden_where_there_are_only_marks() -> None:
    async with table_of(marks=[Mark(at=at(1), text="x")]) as (table, pilot):
        pilot.app.set_focus(table)
        await pilot.press("down", "enter", "home", "end")
        assert table.chosen is None
        assert not table.show_cursor
        assert cells_of(table)[0][0] == "*"
        table.put(run(2))
        assert known(table.chosen).run == 2
        assert table.show_cursor


async def test_a_long_mark_has_the_whole_width() -> None:
    text = "osd_memory_target 8G on all of the hosts, and a new kernel"
    async with table_of(run(1), marks=[Mark(at=at(2), text=text), Mark(at=at(3), text="y" * 300)], size=(80, 24)) as (
        table,
        pilot,
    ):
        drawn = text_of(pilot.app, table)
        assert text in drawn
        assert "yyy…" in drawn


@pytest.mark.parametrize("size", SIZES)
async def test_the_console_shows_the_last_second_in_the_table(tmp_path: Path, size: tuple[int, int]) -> None:
    async with in_a_run(tmp_path, size=size) as (app, pilot, _):
        table = console_screen(app).query_one(RunsTable)
        await until(pilot, lambda: "-" not in columns(table, "IOPS")[0])
        ((iops, outcome),) = columns(table, "IOPS", "outcome")
        assert outcome == "running", "how far it is stands once, below the charts"
        assert iops in text_of(app, table)
        assert rows(app)[0][0] == "1"
