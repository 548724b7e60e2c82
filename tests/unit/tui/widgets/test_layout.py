"""Where the parts of a run stand at which size; what they show; and the keys that show and hide them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from cephtui import units
from cephtui.analysis.runs.history import History, TimeSeries
from cephtui.models import ClusterSample, Interval, OsdInterval, OsdSample, Sample, Summary
from cephtui.models.metrics import HEADLINES
from cephtui.sessions import store
from cephtui.tui.charts.colors import FLOW_COLORS
from cephtui.tui.console.panels import PresetPanel, TileResult, tile_result_of
from cephtui.tui.console.status_bar import StatusBar
from cephtui.tui.widgets.layout import PANELS, Need, PanelLayout, lay_out, share_out
from cephtui.tui.widgets.now import large_figure
from cephtui.tui.widgets.run_view import RunView
from cephtui.tui.widgets.shown import Shown, chart_title, picture
from cephtui.tui.widgets.side_panels import cluster_text
from tests.support.golden import Golden
from tests.support.replayed import console, console_screen, finished, in_a_run, let_go, screen_text, text_of, until
from tests.support.runs import SESSION, WRITE_IOPS, recorded

SMALL, USUAL, LARGE, HUGE = (80, 24), (120, 36), (150, 45), (250, 70)
CHARTS = tuple(headline.name for headline in HEADLINES)
ALL = (*CHARTS, "heat", "now", "nodes", "cluster")


# ------------------------------------------------------------------ the layout alone


def test_at_80x24_one_chart_has_the_room_and_the_nodes_stand_beside_it() -> None:
    assert lay_out(80, 10, "iops", {}, ALL) == PanelLayout("iops", (), ("nodes",), 30)


def test_from_100_columns_the_metric_stands_in_large_digits() -> None:
    assert "now" not in lay_out(97, 20, "iops", {}, ALL).side
    assert lay_out(100, 10, "iops", {}, ALL).side[0] == "now"


def test_on_a_large_terminal_all_stands_together() -> None:
    assert set(lay_out(150, 30, "iops", {}, ALL).names) == set(ALL)


@pytest.mark.parametrize("main", CHARTS)
def test_the_chosen_metric_is_the_main_chart_and_no_chart_stands_twice(main: str) -> None:
    found = lay_out(200, 40, main, {}, ALL)
    assert found.main == main
    assert sorted((*CHARTS, "heat")) == sorted((found.main, *found.below))


def test_what_has_no_data_has_no_place() -> None:
    assert lay_out(200, 40, "iops", {"heat": True, "nodes": True}, CHARTS) == PanelLayout(
        "iops", ("bandwidth", "latency")
    )


def test_a_panel_that_was_switched_on_is_there_where_it_would_not_be() -> None:
    assert lay_out(100, 20, "iops", {"heat": True}, ALL).below == ("heat",)
    assert lay_out(80, 10, "iops", {"heat": True}, ALL).main == "heat", "in the place of the only chart"


def test_a_panel_that_was_switched_off_is_gone_and_the_last_chart_stays() -> None:
    off = dict.fromkeys(ALL, False)
    assert lay_out(200, 40, "iops", off, ALL) == PanelLayout("iops")
    assert lay_out(200, 40, "iops", {"iops": False}, ALL).main == "bandwidth"


@pytest.mark.parametrize("rows", [1, 5, 9, 14, 15, 24, 60])
def test_charts_keep_room_at_every_size(rows: int) -> None:
    for columns in range(1, 260, 7):
        found = lay_out(columns, rows, "iops", dict.fromkeys(ALL, True), ALL)
        assert len(set(found.names)) == len(found.names)
        assert len(found.below) <= max(1, (columns - found.side_columns) // 32)
        assert not found.below or rows >= 15
        assert found.side_columns <= 46


DIGITS, DIGITS_AND_NODE = Need(7, 9, 9), Need(7, 15, 9)
NODES, CLUSTER, SPREAD = Need(3, 5, 5), Need(3, 12, 5), Need(0, 7, is_whole=True)


@pytest.mark.parametrize(("rows", "needs", "given"), [
    (39, {"now": DIGITS, "nodes": NODES, "cluster": CLUSTER, "spread": SPREAD}, [9, 5, 12, 13]),
    (33, {"now": DIGITS, "nodes": NODES, "cluster": CLUSTER, "spread": SPREAD}, [9, 5, 12, 7]),
    (32, {"now": DIGITS, "nodes": NODES, "cluster": CLUSTER, "spread": SPREAD}, [9, 5, 18, 0]),
    (20, {"now": DIGITS, "nodes": NODES, "cluster": CLUSTER}, [9, 5, 6]),
    (20, {"now": DIGITS, "nodes": Need(3, 40, 5), "cluster": CLUSTER}, [9, 6, 5]),
    (17, {"now": DIGITS, "nodes": NODES, "cluster": CLUSTER}, [7, 5, 5]),
    (14, {"now": DIGITS, "nodes": NODES, "cluster": CLUSTER}, [7, 4, 3]),
    (11, {"now": DIGITS, "jobs": NODES}, [7, 4]),
    (22, {"now": DIGITS_AND_NODE, "spread": SPREAD}, [15, 7]),
    (18, {"now": DIGITS_AND_NODE, "spread": SPREAD}, [11, 7]),
    (15, {"now": DIGITS_AND_NODE, "spread": SPREAD}, [15, 0]),
    (40, {"now": DIGITS_AND_NODE, "spread": SPREAD}, [15, 25]),
    (30, {"nodes": NODES}, [5]),
])  # fmt: skip
def test_the_column_is_divided_so_that_nothing_of_importance_is_cut_and_nothing_is_empty(
    rows: int, needs: dict[str, Need], given: list[int]
) -> None:
    assert list(share_out(rows, needs).values()) == given


@pytest.mark.parametrize("nodes", [0, 3, 30])
@pytest.mark.parametrize("findings", [0, 2, 25])
def test_the_column_is_full_wherever_there_is_something_that_fills_it(nodes: int, findings: int) -> None:
    needs = {"now": DIGITS_AND_NODE}
    needs |= {"nodes": Need(3, nodes + 2, 5)} if nodes else {}
    needs |= {"cluster": Need(3, findings + 2, min(findings, 3) + 2)} if findings else {}
    least = sum(need.least for need in needs.values())
    for rows in range(70):
        given = share_out(rows, {**needs, "spread": SPREAD})
        assert sum(given.values()) == max(rows, least) or sum(given.values()) == 15 < rows < 15 + SPREAD.most
        assert all(given[name] >= need.least for name, need in needs.items())


# ------------------------------------------------------------------ what the panels show


def test_the_range_is_that_after_the_ramp_and_its_mean_is_over_time() -> None:
    curve = TimeSeries()
    for end, value in ((1.0, 900.0), (2.0, 100.0), (3.0, 100.0), (7.0, 0.0), (8.0, None), (9.0, 50.0)):
        curve.add(end, value)
    assert curve.since(1.0) == (0.0, (100 + 100 + 4 * 0 + 50) / 7, 100.0)
    assert curve.since(9.0) is None


def test_the_slowest_osds_come_first_and_the_cluster_fits_its_panel() -> None:
    latencies = {"0": 0.008, "1": 0.072, "12": 0.007}
    cluster = ClusterSample(
        run=1,
        elapsed_seconds=1.0,
        health="HEALTH_WARN",
        osds=3,
        osds_up=2,
        client_iops=1480.0,
        client_bandwidth_bytes=5.79 * 2**20,
        recovery_bandwidth_bytes=2.0**20,
        pg_states={"active+clean": 30, "peering": 3},
        osd_latency_seconds=latencies,
    )
    shown = Shown(History(), {}, (), 10.0, cluster=cluster)
    lines = cluster_text(shown, 38, 20, ascii_only=True).plain.split("\n")
    assert lines[0] == "HEALTH_WARN  2/3 osd"
    assert lines[1:4] == ["client 1.48k IOPS, 5.79 MiB/s", "recovery 1.00 MiB/s", "3 PGs peering"]
    assert [line.split()[0] for line in lines[4:]] == ["osd.1", "osd.0", "osd.12"]
    assert lines[4].count("#") > lines[5].count("#") > 0
    for width, rows in ((38, 5), (20, 3), (12, 1)):
        assert len(cluster_text(shown, width, rows, ascii_only=True).plain.split("\n")) <= max(rows, 1)


def test_op_latency_comes_before_commit_latency_and_other_clients_have_a_line() -> None:
    cluster = ClusterSample(run=1, elapsed_seconds=1.0, health="HEALTH_OK", osds=3, osd_latency_seconds={"0": 0.008})
    counted = {
        "1": OsdInterval(reads=10, read_seconds=0.01, writes=30, write_seconds=0.05),
        "2": OsdInterval(writes=3, write_seconds=0.09),
        "3": OsdInterval(subops=3, subop_seconds=0.2),
    }
    osds = OsdSample(run=1, elapsed_seconds=1.0, interval_seconds=1.0, osds=counted)
    shown = Shown(History(), {}, (), 10.0, cluster=cluster, osds=osds, other_clients_iops=1200.0)
    lines = cluster_text(shown, 38, 20, ascii_only=True).plain.split("\n")
    assert lines[2] == "other clients 1.20k/s"
    assert [line.split()[:2] for line in lines[3:]] == [["osd.2", "90.0"], ["osd.1", "40.0"]]


# ------------------------------------------------------------------ on the console


async def test_a_value_of_the_past_is_not_shown_as_that_of_now(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=USUAL, silent=True) as (app, pilot, hosts):
        await until(pilot, lambda: screen_text(app).count("no sample") == 3)
        seen = [text_of(app, console_screen(app).query_one(each)) for each in ("#now", "#progress", "#panel-2")]
        assert all("no sample" in text for text in seen)
        let_go(app, hosts)
        await finished(app, pilot)
        assert "no sample" not in screen_text(app)


async def test_the_running_presets_tile_is_live(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=USUAL) as (app, pilot, hosts):
        tile = console_screen(app).query_one("#panel-2", PresetPanel)
        await until(pilot, lambda: len(tile.result.values) >= 6)
        seen = text_of(app, tile)
        assert "Write IOPS" in seen
        assert "k" in tile.result.text
        assert tile.result.text in seen
        assert any(block in seen for block in "▁▂▃▄▅▆▇█")
        bar = text_of(app, console_screen(app).query_one(StatusBar))
        assert "#1 write-iops" in bar
        let_go(app, hosts)
        await finished(app, pilot)
        await until(pilot, lambda: "●" not in text_of(app, console_screen(app).query_one(StatusBar)))


@pytest.mark.parametrize("size", [SMALL, USUAL, (200, 50)])
async def test_how_far_a_run_is_stands_once(tmp_path: Path, size: tuple[int, int]) -> None:
    async with in_a_run(tmp_path, size=size) as (app, pilot, _):
        console_screen(app).view.chosen = {"spread": False}  # whose bars have shares in per cent
        await until(pilot, lambda: " of 22 s" in screen_text(app))
        assert len(re.findall(r"\d+ of \d+ s|\d+/\d+ s|\d+ %", screen_text(app))) == 1


async def test_the_value_on_the_selected_tile_has_the_colour_of_text(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=USUAL) as (app, pilot, _):
        tile = console_screen(app).query_one("#panel-2", PresetPanel)
        await until(pilot, lambda: tile.result.direction == "write" and "k" in text_of(app, tile))
        colors = []
        for key in ("2", "1"):
            await pilot.press(key)
            await until(pilot, lambda: tile.has_class("selected") == (key == "2"))  # noqa: B023
            colors.append(str(tile.render().get_style_at_offset(app.console, tile.render().plain.index("k"))))
        assert [FLOW_COLORS["write"] in color for color in colors] == [False, True]


async def test_a_run_without_a_result_says_so_on_its_tile_and_is_no_read(tmp_path: Path) -> None:
    measured = store.read_run(SESSION, WRITE_IOPS)
    stopped = measured.model_copy(update={"run": 2, "repeat": 2, "outcome": "stopped", "summary": Summary()})
    async with console(tmp_path, speed=60, size=USUAL) as (app, _):
        tile = console_screen(app).query_one("#panel-2", PresetPanel)
        for each, words in ((measured, "k"), (stopped, "stopped"), (measured, "k")):
            tile.show_result([], each)
            assert words in tile.result.text
            assert tile.result.text.split()[0] not in ("r", "w")


@pytest.mark.parametrize(
    ("size", "words"),
    [(SMALL, ["10.1k"]), (USUAL, ["10.1k", "±7.8", "%", "n=3"]), (HUGE, ["10.1k", "±7.8", "%", "n=3"])],
)
async def test_after_repeats_the_tile_shows_their_mean(tmp_path: Path, size: tuple[int, int], words: list[str]) -> None:
    async with console(tmp_path, speed=60, size=size) as (app, pilot):
        tile = console_screen(app).query_one("#panel-2", PresetPanel)
        for number, iops in enumerate((10000, 10400, 9800)):
            tile.show_result([], recorded(number, iops=iops, p99=0.1, findings=()))
        await until(pilot, lambda: "10.1k" in text_of(app, tile))
        assert [word for word in words if word not in text_of(app, tile).split()] == []
        tile.show_result([], recorded(4, iops=500, p99=0.1, batch="another", findings=()))
        assert (tile.result.text, tile.result.longer[0]) == ("500", "500")


def test_the_mean_is_that_of_reads_and_writes_together_and_in_turn_of_each(golden: Golden) -> None:
    write = [recorded(n, iops=iops, p99=0.1, findings=()) for n, iops in ((1, 100), (2, 100))]
    options = {**write[0].options, "rw": "randread"}
    read = [run.model_copy(update={"run": run.run + 2, "options": options,
                                   "summary": Summary(read=run.summary.write)}) for run in write]  # fmt: skip
    in_turn = tile_result_of([write[0], read[0], write[1], read[1]], "iops", [])
    assert (in_turn.text, in_turn.short) == ("w 100  r 100", "r 100")
    assert in_turn.longer[0] == "w 100 ±0.0 % n=2  r 100 ±0.0 % n=2"
    both = [run.model_copy(update={"summary": Summary(read=run.summary.write, write=run.summary.write)})
            for run in write]  # fmt: skip
    assert tile_result_of(both, "iops", []).longer[0] == "200 ±0.0 % n=2"
    assert tile_result_of(both, "latency", [], ascii_only=True).longer == ("12.4 ms 12.4 ms n=2", "12.4 ms 12.4 ms")
    stopped = recorded(3, iops=7, p99=0.1, outcome="stopped", findings=())
    golden.same(tile_result_of([*write, stopped], "iops", [], ascii_only=True).longer[0])


async def test_a_tile_without_room_for_reads_and_writes_shows_the_last_one_whole(tmp_path: Path) -> None:
    async with console(tmp_path, speed=60, size=(100, 36)) as (app, pilot):
        tile = console_screen(app).query_one("#panel-5", PresetPanel)
        tile.result = TileResult("r 497 us w 1.45 ms", "w 1.45 ms")
        await until(pilot, lambda: "w 1.45 ms" in text_of(app, tile))
        assert "497" not in text_of(app, tile)
        tile.result = TileResult("w 1.45 ms of a very long latency", "w 1.45 ms of a very long latency")
        await until(pilot, lambda: text_of(app, tile).rstrip().endswith("…"))


def test_the_mean_is_the_same_wherever_it_stands() -> None:
    """Also in the last seconds, when one node has ended and the others have not."""
    history = History()
    for second, ios in ((1.0, 3_000), (2.0, 5_000), (2.01, 1_000), (2.02, 900)):
        write = Interval(ios, ios * 4096, float(ios), ios * 4096.0)
        history.add(Sample(1, None, "p", "run", second, 1.0, None, write))
    now = Shown(history, {"write": Interval(900, 900 * 4096, 900.0, 900.0 * 4096)}, (), 2.0)
    mean = f"mean {units.iops(9_900 / 2.02)} "
    assert mean in chart_title(now, HEADLINES[0]).plain
    assert large_figure(now, HEADLINES[0]).lines[0] == f"{mean} 3.00k..5.00k"


async def test_the_lines_below_the_large_digits_have_each_figure_and_its_unit_once(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=USUAL) as (app, pilot, _):
        view = console_screen(app).query_one(RunView)
        await until(pilot, lambda: view.shown is not None and bool(view.shown.current))
        assert view.shown
        history = History()
        for second, value in enumerate((900.0, 1020.0), 1):
            history.curves.setdefault("write.bandwidth_bytes", TimeSeries()).add(float(second), value * 2**20)
        shown = replace(view.shown, history=history)
        assert large_figure(shown, HEADLINES[1]).lines[0] == "mean 960 MiB/s  900..1020 MiB/s"
        assert "clat mean" in large_figure(shown, HEADLINES[1]).lines[1]
        of_latency = large_figure(view.shown, HEADLINES[2])
        assert of_latency.title == "clat mean write"
        assert of_latency.lines[-1].startswith("clat p99 ")
        assert large_figure(replace(shown, current={}), HEADLINES[0]).title == "IOPS"


async def test_the_lines_are_not_named_where_there_is_only_one_node(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=USUAL) as (app, pilot, _):
        view = console_screen(app).query_one(RunView)
        await until(pilot, lambda: view.shown is not None)
        assert view.shown
        assert not picture(view.shown, HEADLINES[0], by_node=True).named


async def test_the_tiles_are_one_row_at_80x24_with_the_value_or_a_short_title(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=SMALL) as (app, pilot, _):
        await until(pilot, lambda: "k" in text_of(app, console_screen(app).query_one("#panel-2")))
        tiles = [text_of(app, tile) for tile in console_screen(app).query(PresetPanel)]
        assert all(len(tile.splitlines()) == 1 for tile in tiles)
        assert [tile.split()[0] for tile in tiles] == list("123456")
        assert "Write MB/s" in tiles[0]


@pytest.mark.parametrize(("size", "shown", "hidden"), [
    (SMALL, {"iops"}, {"now", "bandwidth", "heat"}),
    (USUAL, {"iops", "now"}, {"bandwidth", "heat"}),
    (LARGE, {*CHARTS, "heat", "now"}, set()),
    (HUGE, {*CHARTS, "heat", "now"}, set()),
])  # fmt: skip
async def test_each_size_has_its_panels(
    tmp_path: Path, size: tuple[int, int], shown: set[str], hidden: set[str]
) -> None:
    async with in_a_run(tmp_path, size=size) as (app, pilot, _):
        view = console_screen(app).view
        await until(pilot, lambda: shown <= set(view.laid_out.names))
        assert not hidden & set(view.laid_out.names)
        await pilot.pause()
        assert max(map(cell_len, screen_text(app).splitlines())) <= size[0]


async def test_panels_are_switched_by_their_numbers(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=USUAL) as (app, pilot, _):
        view, numbers = console_screen(app).view, {panel.name: str(n % 10) for n, panel in enumerate(PANELS, 1)}
        await until(pilot, lambda: "now" in view.laid_out.names)
        await pilot.press("w")
        await until(pilot, lambda: "large digits" in screen_text(app))
        assert f"{numbers['now']} [x] large digits" in screen_text(app)
        assert numbers["spread"] == "0"
        await pilot.press("0")
        await until(pilot, lambda: "0 [ ] I/Os by latency" in screen_text(app))
        await pilot.press(numbers["now"], numbers["latency"], numbers["runs"])
        await until(pilot, lambda: "latency" in view.laid_out.below and "now" not in view.laid_out.names)
        assert f"{numbers['now']} [ ] large digits" in screen_text(app)
        assert not console_screen(app).query_one("#runs").display
        await pilot.press("escape")
        await until(pilot, lambda: "panels" not in screen_text(app))
        assert "latency" in view.laid_out.below, "and stays so"


async def test_before_the_first_run_the_screen_says_how_to_begin(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=1, size=SMALL) as (app, pilot):
        await until(pilot, lambda: "cephtui demo" in screen_text(app))
        assert all(word in screen_text(app) for word in ("enter runs", "file:/mnt/bench/test"))
