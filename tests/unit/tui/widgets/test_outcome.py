"""What stands beside the charts of a run that is over: percentiles, OSDs and findings, as far as there is room."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from rich.cells import cell_len

from cephtui.analysis.runs.history import History
from cephtui.models import Finding, Interval, OsdResult
from cephtui.tui.widgets.now import Now
from cephtui.tui.widgets.outcome import finding_lines, percentile_bars
from cephtui.tui.widgets.run_view import RunView
from cephtui.tui.widgets.shown import Shown, shown_of_run
from cephtui.tui.widgets.side_panels import cluster_text
from tests.support.replayed import text_of, until
from tests.support.runs import run, total
from tests.unit.tui.widgets.test_run_view import bare

WIDTH = 36
STALLED = Finding(
    code="stalled", text="all I/O stopped for 4 s (0:15 to 0:19) on every node, at your mark osd.1 frozen"
)
TOTAL = total(
    iops=1000.0,
    latency_mean_seconds=0.01,
    latency_p50_seconds=0.005,
    latency_p95_seconds=0.02,
    latency_p99_seconds=0.04,
    latency_p999_seconds=0.08,
)


def lengths(**flows: Any) -> list[tuple[str, int]]:
    """The label of each bar, and its length."""
    bars = percentile_bars(flows, WIDTH, ascii_only=True)
    assert all(cell_len(line.plain) <= WIDTH for line in bars)
    return [(line.plain.rpartition("s ")[0].rsplit(maxsplit=2)[0], line.plain.count("=")) for line in bars]


def test_each_percentile_has_a_bar_as_long_as_its_logarithm() -> None:
    shown = lengths(write=TOTAL)
    assert [label for label, _ in shown] == ["p50", "p95", "p99", "p99.9"]
    room = WIDTH - len("p99.9 80.0 ms   ")
    assert [length for _, length in shown] == pytest.approx([room / 4, 3 * room / 4, room, 5 * room / 4], abs=5)
    steps = [after - before for (_, before), (_, after) in pairwise(shown[1:])]
    assert max(steps) - min(steps) <= 1, "each is twice the one before"


def test_reads_and_writes_are_on_one_axis() -> None:
    slower = total(latency_p50_seconds=0.005, latency_p99_seconds=0.16)
    shown = lengths(read=TOTAL, write=slower)
    assert [label for label, _ in shown] == [*(f"read  {name}" for name in ("p50", "p95", "p99", "p99.9")),
                                             "write p50", "write p99"]  # fmt: skip
    assert shown[0][1] == shown[4][1] < shown[3][1] < shown[5][1]


@pytest.mark.parametrize(
    "flow", [total(), Interval(1, 4096, 1.0, 4096.0, 0.1, 0.2), TOTAL.model_copy(update={"ios": 9})]
)
def test_where_no_percentile_is_known_there_is_no_bar(flow: Any) -> None:
    assert percentile_bars({"write": flow}, WIDTH, ascii_only=False) == []


def test_the_latency_of_an_osd_is_the_mean_of_all_that_it_did() -> None:
    did = {"subops": 7, "subop_seconds": 9.0, "received": 1, "refused": 0}
    osd = OsdResult(share=0.5, reads=30, read_seconds=0.001, writes=10, write_seconds=0.005, **did)
    idle = OsdResult(share=0, reads=0, read_seconds=None, writes=0, write_seconds=None, **did)
    assert osd.op_seconds == pytest.approx(0.002)
    assert idle.op_seconds is None


def test_findings_stand_in_full_or_say_where_they_do() -> None:
    found = run(findings=(STALLED,))
    assert " ".join(line.plain.strip() for line in finding_lines(found, WIDTH)) == f"! {STALLED.text}"
    shown = shown_of_run(found, History(), ())
    lines = cluster_text(shown, WIDTH, 2, ascii_only=True).plain.split("\n")
    assert len(lines) == 2
    assert lines[1] == "... i shows all of it"
    assert cluster_text(shown, WIDTH, 0, ascii_only=True).plain == ""


def over() -> Shown:
    """A run of one node that is over."""
    return shown_of_run(run(write=TOTAL, findings=(STALLED,)), History(), ())


@pytest.mark.parametrize("size", [(120, 36), (120, 18), (200, 50)])
async def test_the_column_of_a_run_that_is_over_is_full(size: tuple[int, int]) -> None:
    view = RunView()
    async with bare(view, size=size) as (app, pilot):
        view.show(over())
        await until(pilot, lambda: "all I/O stopped for 4 s" in " ".join(text_of(app, view.query_one("#side")).split()))
        assert "p99.9" in text_of(app, view.query_one("#side"))
        view.show(Shown(History(), {"write": Interval(1, 4096, 1.0, 4096.0, 0.1, 0.2)}, (), 60.0))
        await pilot.pause()
        assert "p99.9" not in text_of(app, view.query_one("#side"))
        assert view.query_one(Now).size.height < 9


async def test_percentiles_without_room_are_left_out() -> None:
    view = RunView()
    async with bare(view, size=(120, 12)) as (app, pilot):
        view.show(over())
        await until(pilot, lambda: "clat mean 10.0 ms" in text_of(app, view.query_one("#side")))
        assert "p99.9" not in text_of(app, view.query_one("#side"))
