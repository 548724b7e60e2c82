"""Percentiles up to the tail and the histogram of a whole run, against their definitions and against fio's own."""

from __future__ import annotations

import json
import math
import shutil
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from cephtui import stats
from cephtui.analysis.runs.ladder import PERCENTS, LogAxis, axis_of, ladder, shares
from cephtui.models import Run
from cephtui.models.samples import GRID_BUCKETS
from cephtui.reports.blocks import Histogram
from cephtui.reports.render.charts import LatencyChart
from cephtui.sessions import store
from cephtui.sessions.histograms import read_histograms
from cephtui.stats import Buckets
from tests import RECORDINGS
from tests.support.drawings import draw_run, printed, run_markdown
from tests.support.known import known
from tests.support.runs import SESSION, WRITE_IOPS, recorded
from tests.unit.reports.views.test_details import of_jobs

LATENCIES = st.lists(st.integers(1, 16 * 10**9), min_size=1, max_size=300)
RECORDED = RECORDINGS / "sessions-0.1.0"


def histogram(latencies: list[int]) -> dict[int, int]:
    return stats.add_buckets({stats.bucket_of(ns): 1} for ns in latencies)


# ---------------------------------------------------------------------------------------------- the figures


@given(st.integers(0, GRID_BUCKETS - 1))
def test_a_bucket_holds_what_lies_within_its_bounds(index: int) -> None:
    low, high = stats.bucket_bounds(index)
    assert stats.bucket_of(low) == stats.bucket_of(high - 1) == index
    assert stats.bucket_of(high) == min(index + 1, GRID_BUCKETS - 1)
    assert low <= stats.bucket_nanoseconds(index) < high


@given(LATENCIES, st.integers(1, 400))
def test_each_rung_is_the_exact_percentile_but_for_the_width_of_a_bucket(latencies: list[int], times: int) -> None:
    ordered = sorted(latencies * times)
    for rung in ladder(histogram(ordered)):
        at = math.ceil(Fraction(str(rung.percent)) / 100 * len(ordered))
        assert rung.beyond == len(ordered) - at
        if rung.beyond < 10:
            assert rung.seconds is None
        else:
            assert known(rung.seconds) == pytest.approx(ordered[at - 1] / 1e9, rel=1 / 64)


def test_an_empty_histogram_has_no_ladder() -> None:
    assert ladder({}) == ()


@given(LATENCIES, st.lists(st.integers(1, GRID_BUCKETS - 1), min_size=2, max_size=40, unique=True))
def test_the_shares_between_edges_are_what_was_counted(latencies: list[int], indexes: list[int]) -> None:
    """At the bounds of buckets nothing has to be guessed."""
    edges = [stats.bucket_bounds(index)[0] for index in sorted(indexes)]
    found = shares(histogram(latencies), [edge / 1e9 for edge in edges])
    inner = edges[1:-1]
    parts = [
        sum(low <= ns < high for ns in latencies) for low, high in zip([0, *inner], [*inner, 1 << 60], strict=True)
    ]
    assert found == pytest.approx([part / len(latencies) for part in parts], abs=1e-6)
    assert sum(found) == pytest.approx(1)


@given(LATENCIES, st.integers(1, 200))
def test_finer_parts_add_up_to_the_coarser_ones(latencies: list[int], parts: int) -> None:
    buckets = histogram(latencies)
    axis = axis_of(buckets)
    fine, coarse = shares(buckets, axis.edges(2 * parts)), shares(buckets, axis.edges(parts))
    assert all(share >= -1e-9 for share in fine)
    assert [a + b for a, b in zip(fine[::2], fine[1::2], strict=True)] == pytest.approx(coarse, abs=1e-9)


@given(LATENCIES, st.floats(0, 1e60))
def test_an_axis_holds_all_but_the_fastest_per_cent(latencies: list[int], greatest: float) -> None:
    buckets = histogram(latencies)
    axis = axis_of(buckets, greatest)
    assert axis.first < axis.last
    assert axis.first <= known(stats.percentile_seconds(buckets, 1.0)) * 1.001
    assert axis.last >= min(greatest, 1e9) * 0.999
    assert axis.last >= known(stats.percentile_seconds(buckets, 100.0)) * 0.999
    assert {f"{edge:e}"[0] for edge in (axis.first, axis.last)} <= {*"125"}
    assert axis.ticks()
    assert all(axis.first * 0.999 <= tick <= axis.last * 1.001 for tick in axis.ticks())


def test_places_on_an_axis() -> None:
    axis = LogAxis(1e-3, 1.0)
    assert [axis.place(seconds) for seconds in (1e-6, 1e-3, 10**-1.5, 1.0, 60.0)] == pytest.approx([0, 0, 0.5, 1, 1])
    assert axis.ticks() == pytest.approx([1e-3, 1e-2, 1e-1, 1.0, 2e-3, 5e-3, 2e-2, 5e-2, 0.2, 0.5])
    assert axis.edges(3) == pytest.approx([1e-3, 1e-2, 1e-1, 1.0])


# ---------------------------------------------------------------------------------------------- the picture


def drawn(buckets: Buckets, width: int, *, ascii_only: bool = False, greatest: float = 0.0) -> list[str]:
    chart = LatencyChart(Histogram("write", "latency", "", buckets, greatest), "yellow", ascii_only)
    return printed(chart, width).splitlines()


@given(LATENCIES, st.integers(60, 220), st.booleans())
def test_a_picture_fits_and_has_every_rung(latencies: list[int], width: int, ascii_only: bool) -> None:
    lines = drawn(histogram(latencies), width, ascii_only=ascii_only)
    assert max(map(len, lines)) <= width
    assert [line.split()[0] for line in lines[-len(PERCENTS) - 1 :]] == [*(f"p{p:g}" for p in PERCENTS), "max"]
    assert not ascii_only or all(map(str.isascii, lines))


def test_a_longer_latency_has_a_longer_bar_and_one_that_is_not_carried_its_reason() -> None:
    latencies = [1_000_000] * 9000 + [5_000_000] * 900 + [80_000_000] * 94 + [4_000_000_000] * 6
    lines = {line.split()[0]: line for line in drawn(histogram(latencies), 100, greatest=4.0)[-9:]}
    ends = [lines[title].index("●") for title in ("p50", "p95", "p99.5", "max")]
    assert ends == sorted(set(ends))
    assert lines["p95"].split()[1:3] == ["5.01", "ms"]
    assert lines["p99.9"].split()[1:3] == ["80.2", "ms"]
    assert lines["p99.95"].split(maxsplit=1)[1] == "- only 5 I/Os took longer: too few"
    assert lines["p99.99"].split(maxsplit=1)[1] == "- only 1 I/O took longer: too few"
    assert lines["max"].split()[1:3] == ["4.00", "s"]


def test_what_a_few_took_is_seen_in_the_histogram_too() -> None:
    lines = drawn(histogram([1_000_000] * 100_000 + [900_000_000]), 80)
    bottom = lines[5]
    assert bottom.rstrip().endswith("▁"), "one I/O in a hundred thousand"
    assert lines[1].split()[0].endswith("%") or lines[1].strip().startswith("100")
    assert "1 ms" in lines[7]
    assert "1 s" in lines[7]


# ---------------------------------------------------------------------------------------------- saved runs


def test_a_run_of_an_earlier_version_has_the_histogram_of_its_seconds(demo_session: Path) -> None:
    """The percentiles that it has kept are those of the ladder."""
    for run in store.read_runs(demo_session)[0]:
        found = read_histograms(demo_session, run)
        measured = {name: total for name, total in run.summary.flows.items() if total.latency_p50_seconds is not None}
        assert found.keys() == measured.keys()
        for name, total in measured.items():
            for percent, figure in ((50, "p50"), (95, "p95"), (99, "p99"), (99.9, "p999")):
                kept = getattr(total, f"latency_{figure}_seconds")
                assert stats.percentile_seconds(found[name], percent) == pytest.approx(kept, rel=0.02)
            assert sum(found[name].values()) == pytest.approx(known(total.ios), rel=0.01)


def test_a_run_has_its_own_histogram_and_its_samples_are_not_read(tmp_path: Path) -> None:
    run = recorded()
    total = known(run.summary.write).model_copy(update={"latency_buckets": {100: 7}})
    own = run.model_copy(update={"summary": run.summary.model_copy(update={"write": total})})
    assert read_histograms(tmp_path / "nowhere", own) == {"write": {100: 7}}
    assert known(Run.model_validate_json(own.model_dump_json()).summary.write).latency_buckets == {100: 7}


def test_a_tool_without_percentiles_has_no_histogram_and_its_samples_are_not_read(tmp_path: Path) -> None:
    run = recorded()
    total = known(run.summary.write).model_copy(update={"latency_p50_seconds": None})
    bare = run.model_copy(update={"summary": run.summary.model_copy(update={"write": total})})
    assert read_histograms(tmp_path / "nowhere", bare) == {}


def test_a_run_that_was_lost_has_the_histogram_of_the_seconds_until_then(tmp_path: Path) -> None:
    session = tmp_path / "lost"
    shutil.copytree(SESSION, session)
    path = session / f"{WRITE_IOPS:03}" / "run.json"
    whole = json.loads(path.read_text())
    path.write_text(json.dumps({**whole, "outcome": None, "summary": {}, "nodes": []}))
    samples = path.with_name("samples.jsonl")
    lines = samples.read_text().splitlines(keepends=True)
    samples.write_text("".join(lines[: len(lines) // 2]))
    run = store.read_run(session, WRITE_IOPS)
    assert run.outcome == "lost"
    buckets = read_histograms(session, run)["write"]
    count = sum(buckets.values())
    assert 0 < count < whole["summary"]["write"]["ios"]
    text = printed(draw_run(run, histograms={"write": buckets}), 120)
    assert f"write clat, from submission to completion, {count:,} completions" in text


# ---------------------------------------------------------------------------------------------- in full


@pytest.mark.parametrize("width", [80, 120, 200])
def test_a_run_in_full_has_the_ladder_and_no_line_of_the_same_percentiles(demo_session: Path, width: int) -> None:
    run = store.read_run(demo_session, 6)
    text = printed(draw_run(run, histograms=read_histograms(demo_session, run)), width)
    beside = [line for line in text.splitlines() if line.count("p99.99") == 2]
    assert len(beside) == (width == 200), "reads and writes stand beside each other where there is room"
    assert text.count("p99.99") == 2
    assert "write clat  min" not in text
    assert all(len(line) <= width for line in text.splitlines())


def test_a_run_as_markdown_has_its_ladder_its_parts_and_its_jobs() -> None:
    run = of_jobs({"lab1": [(300, 1.0)], "lab2": [(200, 2.0), (250, 2.0)]}, images=True)
    text = run_markdown(run, (), {"write": histogram([1_000_000] * 2000 + [3_000_000] * 50)})
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    assert [token.type for token in tokens].count("table_open") == 5
    assert "| write clat | 2,050 | 1.00 ms | 1.00 ms | 1.00 ms | 3.00 ms | 3.00 ms | - | - | - | 1.00 ms |" in text
    assert "| write | clat | 1.00 ms | 0 ns | 1.00 ms | 1.00 ms | from submission to completion |" in text
    assert "| lab1 | w 1 | image-1 | write | 300 | 1.17 MiB/s | 1.00 ms | - | 1.0 s | 40.0 % | ▲ most |" in text
    assert "The jobs' own IOPS add up to more, write 525 (+40.0 %)" in text
    assert text.index("write clat") < text.index("image-1") < text.index("```")
