"""Flushes and commits: what fio says of them, live and saved, and by which figure a flow is judged."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from cephtui.analysis.detectors.settling import PerSecond
from cephtui.analysis.runs.change import Change
from cephtui.analysis.runs.history import History
from cephtui.analysis.runs.sides import Side
from cephtui.analysis.verdicts.conclusion import ConclusionTerms, conclude
from cephtui.analysis.verdicts.expectation import figure_of, parse_expectation
from cephtui.analysis.verdicts.figures import compared_figures
from cephtui.analysis.views.matrix import matrix_of
from cephtui.models import Finding, Run, Sample, Summary, Total
from cephtui.models.metrics import BY_NAME, HEADLINE_BY_NAME, LIVE, judged_by
from cephtui.models.results import Latency
from cephtui.presets import headline_metric, load_preset
from cephtui.reports.views.latency import latency_parts, part_words
from cephtui.reports.words.quality import LEVELS
from cephtui.reports.words.text import latency_word, metric_of, title_of
from cephtui.sessions.jsonlines import parse_sample, sample_line
from cephtui.stats import summarise
from cephtui.tools.base import Reading
from cephtui.tools.fio.flushes import lead_of
from cephtui.tools.fio.output import FioParser
from cephtui.tools.fio.saved import find_runs
from cephtui.tools.logs import FoundRun, read_log
from cephtui.tui.console.panels import direction_of, headline_text
from cephtui.tui.screens import presenter
from cephtui.tui.terminal.notification import text_of
from cephtui.tui.widgets.now import large_figure as shown_reading
from cephtui.tui.widgets.shown import Shown, chart_lines, chart_title, range_since_ramp
from tests import RECORDINGS
from tests.support.drawings import draw_run, runs_csv
from tests.support.known import known
from tests.support.plans import catalogue
from tests.support.runs import run, total

FOLDER = RECORDINGS / "flushes"
IOPS, BANDWIDTH, MEAN, P99 = LIVE
FSYNC = {"rw": "write", "bs": "4k", "fsync": 1}
AT = datetime(2026, 1, 1, tzinfo=UTC)


def found(name: str) -> FoundRun:
    (only,) = find_runs(read_log((FOLDER / name).read_text()))
    return only


def flows_in(name: str) -> dict[str, Total]:
    return found(name).summary.flows


def live(name: str) -> tuple[list[Reading], Summary]:
    """The readings without the ramp, and the whole run."""
    parser = FioParser(ramp=True, seconds=3.0)
    readings = parser.feed("stdout", (FOLDER / name).read_bytes(), 4.0) + parser.finish()
    return [each for each in readings if each.phase == "run"], summarise([parser.result().flows])


def samples(readings: list[Reading], node: str | None = None) -> list[Sample]:
    return [
        Sample(1, node, "sync-latency", "run", second, r.interval_seconds, r.read, r.write, other=r.other)
        for second, r in enumerate(readings, 1)
    ]


def flushed(number: int, mean: float = 0.004, **changes: Any) -> Run:
    """A run whose commits took so long, 1 ms of it for the write."""
    rates = {"iops": 100.0, "bandwidth_bytes": 409600.0, "latency_mean_seconds": 0.001, "latency_p99_seconds": 0.002}
    write = total(ios=1000, bytes=4096000, runtime_seconds=10.0, **rates)
    moves_none = write.model_copy(update={"bytes": 0, "bandwidth_bytes": None, "latency_p99_seconds": None})
    flush = moves_none.model_copy(update={"latency_mean_seconds": mean - 0.001, "latency_p99_seconds": 0.009})
    commit = moves_none.model_copy(update={"latency_mean_seconds": mean})
    summary = Summary(write=write, other={"flush": flush, "commit": commit})
    return run(number, summary=summary, preset="sync-latency", **changes)


def deleting(number: int, iops: float = 100.0) -> Run:
    """A run of S3 that writes, and deletes what it has written."""
    write = known(flushed(1).summary.write)
    none = {"bytes": 0, "bandwidth_bytes": None, "iops": iops, "latency_mean_seconds": None}
    return run(number, summary=Summary(write=write, other={"delete": write.model_copy(update=none)}), preset="s3")


# ---------------------------------------------------------------------------------------------- what fio says


def test_each_second_has_its_flushes_and_commits() -> None:
    readings, _ = live("live.stdout")
    assert len(readings) == 3
    for each in readings:
        write, flush, commit = known(each.write), each.other["flush"], each.other["commit"]
        # at both ends of a second each of the two jobs may be between a write and its flush
        assert flush.ios == pytest.approx(known(write.ios), abs=4)
        assert flush.iops == commit.iops == pytest.approx(120, abs=8), "two jobs with 60 a second each"
        assert (flush.bytes, flush.bandwidth_bytes, commit.bandwidth_bytes) == (0, None, None)
        parts = known(write.latency_mean_seconds) + known(flush.latency_mean_seconds)
        assert commit.latency_mean_seconds == pytest.approx(parts, rel=0.02), "clat, and what is before it"
        assert known(flush.latency_p99_seconds) > known(flush.latency_mean_seconds)
        assert (commit.latency_p99_seconds, commit.latency_buckets) == (None, None), "percentiles are never summed"


def test_the_ramp_has_no_flushes() -> None:
    parser = FioParser(ramp=True, seconds=3.0)
    readings = parser.feed("stdout", (FOLDER / "live.stdout").read_bytes(), 4.0) + parser.finish()
    assert [bool(each.other) for each in readings] == [each.phase == "run" for each in readings]


@pytest.mark.parametrize("name", ["live.stdout", "live-libaio.stdout"])
def test_the_whole_run_is_the_sum_of_its_seconds(name: str) -> None:
    readings, whole = live(name)
    flush, commit = whole.flows["flush"], whole.flows["commit"]
    assert sum(known(each.other["flush"].ios) for each in readings) == flush.ios == commit.ios
    spent = sum(known(r.other["flush"].ios) * known(r.other["flush"].latency_mean_seconds) for r in readings)
    assert spent / known(flush.ios) == pytest.approx(known(flush.latency_mean_seconds))
    spent = sum(known(r.other["commit"].ios) * known(r.other["commit"].latency_mean_seconds) for r in readings)
    assert spent / known(commit.ios) == pytest.approx(known(commit.latency_mean_seconds), rel=0.01)
    assert flush.bandwidth_bytes is None
    assert known(flush.latency_p99_seconds) > known(flush.latency_mean_seconds)
    assert dict.fromkeys(("p50", "p99", "min", "max", "stddev")) == {
        name: getattr(commit, f"latency_{name}_seconds") for name in ("p50", "p99", "min", "max", "stddev")
    }


def test_the_mean_so_far_is_that_of_what_is_drawn() -> None:
    readings, whole = live("live.stdout")
    history = History()
    for each in samples(readings):
        history.add(each)
    found = known(range_since_ramp(Shown(history, {}, (), history.reached), HEADLINE_BY_NAME["latency"]))
    assert found.least < found.mean < found.greatest
    assert found.mean == pytest.approx(known(whole.flows["commit"].latency_mean_seconds), rel=0.01)


@pytest.mark.parametrize(
    "name", ["psync-fsync.txt", "psync-fsync.json", "libaio-fdatasync.txt", "libaio-fdatasync.json"]
)
def test_one_commit_after_the_other_takes_the_time_of_all(name: str) -> None:
    flows = flows_in(name)
    commit = flows["commit"]
    assert commit.latency_mean_seconds == pytest.approx(commit.runtime_seconds / known(commit.ios), rel=0.02)
    assert list(flows) == ["write", "flush", "commit"]


def test_text_has_the_percentiles_and_the_number_of_flushes() -> None:
    flush = flows_in("psync-fsync.txt")["flush"]
    assert (flush.ios, flush.latency_p50_seconds, flush.latency_p99_seconds) == (511, 0.001614, 0.01278)
    assert (flush.latency_min_seconds, flush.latency_max_seconds) == (128e-6, 0.01589)
    assert flows_in("libaio-fdatasync.txt")["flush"].ios == 511, "which fio prints as the number of short reads"
    assert flows_in("psync-fsync.txt")["write"].latency_p99_seconds == 0.013698, "that of the write stays its own"


def test_json_without_bins_has_the_percentiles_that_it_prints() -> None:
    flush = flows_in("psync-fsync.json")["flush"]
    assert flush.ios == 511
    assert flush.latency_p99_seconds == pytest.approx(0.015925248)


@pytest.mark.parametrize("name", ["psync-fsync.txt", "psync-fsync.json"])
def test_the_depth_is_of_all_that_was_submitted(name: str) -> None:
    assert found(name).depths["1"] == pytest.approx(100.0)


@pytest.mark.parametrize(
    ("name", "flows"),
    [
        ("every-32.txt", ["write", "flush"]),
        ("uring-depth.txt", ["write", "flush"]),  # several in flight: a flush waits for no write
        ("dsync.txt", ["write"]),  # its latency is that of the commit
    ],
)
def test_only_a_write_that_is_flushed_is_a_commit(name: str, flows: list[str]) -> None:
    assert list(flows_in(name)) == flows


@pytest.mark.parametrize(
    ("engine", "depth", "version", "lead"),
    [
        ("psync", 64, "fio-3.33", "lat"),
        ("libaio", 1, "fio-3.33", "slat"),
        ("libaio", 1, "fio-3.40-12-gabc", "slat"),
        ("libaio", 1, "fio-3.41", "lat"),
        ("libaio", 4, "fio-3.41", None),
        ("rbd", 1, "fio-3.33", "lat"),
        ("io_uring", 1, "", None),
        ("", 1, "fio-3.33", None),
    ],
)
def test_when_the_time_of_a_flush_begins(engine: str, depth: int, version: str, lead: str | None) -> None:
    assert lead_of(engine, depth, version) == lead


@pytest.mark.parametrize("broken", ['"N" : "x"', '"N" : -1', '"N" : 1e400', '"N" : null'])
def test_a_number_of_flushes_that_is_none_leaves_the_rest(broken: str) -> None:
    head, tail = (FOLDER / "psync-fsync.json").read_text().split('"sync" : {')
    runs = find_runs(read_log(head + '"sync" : {' + tail.replace('"N" : 511', broken, 1)))
    assert [run.summary.write is not None for run in runs] == [True]


# ---------------------------------------------------------------------------------------------- what it is of


def test_a_second_without_bandwidth_is_saved() -> None:
    for sample in samples(live("live.stdout")[0]):
        again = parse_sample(sample_line(sample))
        assert list(again.flows) == ["write", "flush", "commit"]
        assert again.other["flush"].bandwidth_bytes is None
        assert again.other["flush"].latency_p99_seconds == sample.other["flush"].latency_p99_seconds


def test_rates_are_those_of_the_ios_and_latency_is_that_of_the_commit() -> None:
    flows = flushed(1).summary.flows
    assert (IOPS.combined(flows), BANDWIDTH.combined(flows)) == (100.0, 409600.0)
    assert (MEAN.combined(flows), P99.combined(flows)) == (0.004, 0.009)
    without = {name: flow for name, flow in flows.items() if name != "commit"}
    assert (MEAN.combined(without), P99.combined(without)) == (0.001, 0.002), "every 32nd write is flushed"


def test_reads_beside_commits_stay() -> None:
    flows = dict.fromkeys(("read", "write", "flush", "commit"))
    assert IOPS.names_of_whole(flows) == ["read", "write"]
    assert MEAN.names_of_whole(flows) == ["read", "commit"]
    assert P99.names_of_whole(flows) == ["read", "flush"]


@pytest.mark.parametrize(
    ("headlined", "flow", "metric"),
    [
        (BANDWIDTH, "write", BANDWIDTH),
        (BANDWIDTH, "flush", IOPS),
        (P99, "flush", P99),
        (P99, "commit", IOPS),
        (MEAN, "commit", MEAN),
    ],
)
def test_a_flow_is_judged_by_a_figure_that_it_has(headlined: Any, flow: str, metric: Any) -> None:
    assert judged_by(headlined, [flushed(1).summary.flows.get(flow)]) == metric


def test_the_seconds_of_a_run_are_those_of_its_writes() -> None:
    found = PerSecond()
    for sample in samples(live("live.stdout")[0]):
        found.add(sample)
    assert known(found.summary()).mean == pytest.approx(120, abs=2)


def test_a_node_is_drawn_by_its_commits() -> None:
    history = History()
    readings, _ = live("live.stdout")
    for sample in (*samples(readings), *samples(readings, "pve1")):
        history.add(sample)
    own = history.nodes["pve1"]
    assert own["latency_mean_seconds"].last() == readings[-1].other["commit"].latency_mean_seconds
    assert own["latency_p99_seconds"].last() == readings[-1].other["flush"].latency_p99_seconds
    assert own["iops"].last() == known(readings[-1].write).iops
    assert history.curves["flush.bandwidth_bytes"].last() is None


# ---------------------------------------------------------------------------------------------- on the screens


def view() -> Shown:
    history = History()
    readings, whole = live("live.stdout")
    for sample in samples(readings):
        history.add(sample)
    return Shown(history, whole.flows, (), 3.0, whole=True, tool="fio")


def test_the_panel_has_the_commit_and_its_parts() -> None:
    shown = view()
    commit, flush = shown.current["commit"], shown.current["flush"]
    found = shown_reading(shown, HEADLINE_BY_NAME["latency"])
    assert found.title == "latency mean commit, whole run"
    assert f"{found.value} {found.unit}" == MEAN.text_of(commit)
    assert f"flush sync mean {MEAN.text_of(flush)}  p99 {P99.text_of(flush)}" in found.lines
    found = shown_reading(shown, HEADLINE_BY_NAME["iops"])
    assert (found.title, found.value) == ("IOPS write, whole run", "120")
    assert f"commit latency mean {MEAN.text_of(commit)}" in found.lines


def test_the_chart_of_latency_has_the_commit_and_the_flushs_percentile() -> None:
    shown = view()
    latency, rate = HEADLINE_BY_NAME["latency"], HEADLINE_BY_NAME["iops"]
    assert [line.label for line in chart_lines(shown, latency, by_node=False)] == ["flush p99", "commit"]
    assert [line.label for line in chart_lines(shown, rate, by_node=False)] == ["write"]
    assert f"commit {MEAN.text_of(shown.current['commit'])}" in chart_title(shown, latency).plain


def test_presented_latency_says_of_what_it_is() -> None:
    found = presenter.two_figures(view(), None, HEADLINE_BY_NAME["latency"])
    assert [figure.word for figure in found] == ["commit mean ms", "flush p99"]


def test_a_tile_and_a_notification_name_the_commit() -> None:
    flows = flushed(1).summary.flows
    assert (headline_text(flows, "latency"), headline_text(flows, "iops"), direction_of(flows)) == (
        "4.00 ms",
        "100",
        "write",
    )
    assert text_of(flushed(1), "latency") == "cephtui: sync-latency ok, commit latency 4.00 ms"
    assert text_of(flushed(1), "iops") == "cephtui: sync-latency ok, 100 IOPS"
    doubtful = flushed(1, findings=(Finding(code="stalled", text="all I/O stopped for 4 s"),))
    assert text_of(doubtful, "iops") == f"cephtui: sync-latency {LEVELS['limits']}, 100 IOPS"


def test_parts_of_a_latency_have_names_that_are_true_of_them() -> None:
    run = flushed(1)
    assert {flow: [*latency_parts(run, flow)] for flow in run.summary.flows} == {
        "write": ["clat"],
        "flush": ["sync"],
        "commit": ["latency"],
    }


def test_a_latency_has_one_name_wherever_it_stands() -> None:
    """A column has that of all that is below it, or none that belongs to one of them alone."""
    assert [latency_word(["fio"], [flow]) for flow in ("write", "flush", "commit")] == ["clat", "sync", "latency"]
    assert latency_word(["fio"], ["read", "write"]) == "clat"
    assert latency_word(["fio"], ["write", "flush"]) == latency_word(["fio", "rados-bench"]) == "latency"
    assert title_of(P99, ["ioping"]) == metric_of(P99.name, "ioping").full_title == "latency p99"
    assert metric_of(P99.name, "fio", "flush").full_title == "sync p99"
    assert [*latency_parts(flushed(1).model_copy(update={"tool": "ioping"}), "write")] == ["latency"]


def test_the_latency_of_flushes_is_not_called_that_of_ios(capsys: pytest.CaptureFixture[str]) -> None:
    Console(width=150).print(draw_run(flushed(1), histograms={"write": {400: 1000}, "flush": {500: 1000}}))
    drawn = capsys.readouterr().out
    assert "flush clat" not in drawn
    assert "flush sync, of fsync, fdatasync" in drawn
    assert "write clat, from submission" in drawn


def test_a_commit_says_which_part_of_the_write_is_in_it() -> None:
    """libaio before fio 3.41 has only the submission before the flush, whose time has the rest."""
    run = flushed(1)
    flows = dict(run.summary.flows)
    flush, write = flows["flush"].latency_mean_seconds or 0.0, flows["write"].latency_mean_seconds or 0.0
    flows["write"] = flows["write"].model_copy(update={"slat": Latency(mean_seconds=write / 10)})
    words = []
    for lead in (write, write / 10):
        flows["commit"] = flows["commit"].model_copy(update={"latency_mean_seconds": lead + flush})
        other = {name: flows[name] for name in ("flush", "commit")}
        changed = run.model_copy(update={"summary": Summary(write=flows["write"], other=other)})
        words.append(part_words(changed, "commit", "latency"))
    assert "slat" not in words[0]
    assert "slat" in words[1]


def test_what_moves_no_bytes_has_no_bandwidth_in_csv() -> None:
    header, *lines = (line.split(",") for line in runs_csv([flushed(1)]).splitlines())
    values = {line[header.index("direction")]: line[header.index("bandwidth_bytes")] for line in lines}
    assert values == {"write": "409600.0", "flush": "", "commit": ""}


# ---------------------------------------------------------------------------------------------- what is judged


def asked(metric: str = "latency_mean_seconds", **changes: Any) -> ConclusionTerms:
    return ConclusionTerms(lambda run: BY_NAME[metric], **changes)


def test_a_check_judges_the_commit() -> None:
    before, after = (flushed(n, 0.004 + n / 1e6) for n in (1, 2, 3)), (flushed(n, 0.006 + n / 1e6) for n in (4, 5, 6))
    judged = conclude([Change(tuple(before), tuple(after))], asked(), AT)
    assert [(each.direction, each.figure, each.word) for each in judged.deciding] == [
        ("commit", "latency_mean_seconds", "worse")
    ]
    also = [(each.direction, each.figure) for each in judged.verdicts if not each.decides]
    assert ("flush", "latency_p99_seconds") in also
    assert ("commit", "bandwidth_bytes") not in also


def test_a_percentile_that_is_asked_for_is_that_of_the_flush() -> None:
    change = Change((flushed(1),), (flushed(2),))
    judged = conclude([change], asked(metrics=(P99,)), AT)
    assert [each.direction for each in judged.deciding] == ["flush"]
    judged = conclude([change], asked(metrics=(MEAN,), directions=("write",)), AT)
    assert [each.direction for each in judged.deciding] == ["write"]


def test_against_runs_without_commits_the_writes_are_judged() -> None:
    old = flushed(1)
    old = old.model_copy(update={"summary": Summary(write=old.summary.write)})
    judged = conclude([Change((old,), (flushed(2),))], asked("iops"), AT)
    assert [(each.direction, each.figure) for each in judged.deciding] == [("write", "iops")]
    judged = conclude([Change((old,), (flushed(2),))], asked(), AT)
    assert [each.direction for each in judged.deciding] == ["write"]


def test_each_operation_of_s3_is_judged_by_a_figure_that_it_has() -> None:
    change = Change(tuple(map(deleting, (1, 2, 3))), tuple(map(deleting, (4, 5, 6))))
    judged = conclude([change], asked("bandwidth_bytes"), AT)
    assert [(each.direction, each.figure) for each in judged.deciding] == [
        ("write", "bandwidth_bytes"),
        ("delete", "iops"),
    ]
    assert all(each.is_judged for each in judged.deciding)
    typed = conclude([change], asked(metrics=(BANDWIDTH,)), AT)
    assert [each.direction for each in typed.deciding] == ["write"], "a deletion has none"


def test_each_row_of_a_matrix_has_a_figure_that_its_flow_has() -> None:
    rows = matrix_of([deleting(1)], lambda run: BANDWIDTH).rows
    assert [(row.flow, known(row.metric).name) for row in rows] == [("write", "bandwidth_bytes"), ("delete", "iops")]
    assert all(known(row.cells[0]).estimate for row in rows)


def test_what_neither_side_has_is_no_row_of_a_comparison() -> None:
    rows = compared_figures(Side((flushed(1),)), Side((flushed(2),)))
    assert [each.name for each in rows if each.direction == "commit"] == ["iops", "latency_mean_seconds"]


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("latency<=5ms", 0.004),
        ("commit latency<=5ms", 0.004),
        ("flush p99<=10ms", 0.009),
        ("p99<=10ms", 0.009),
        ("write p99<=5ms", 0.002),
        ("iops>=90", 100.0),
        ("commit iops>=90", 100.0),
    ],
)
def test_what_is_expected_of_commits(typed: str, value: float) -> None:
    assert figure_of(flushed(1), parse_expectation(typed)) == value


# ---------------------------------------------------------------------------------------------- presets


def test_the_preset_of_commits_is_about_their_latency() -> None:
    assert headline_metric(catalogue(), flushed(1)) == MEAN
    assert headline_metric({}, flushed(1)) == MEAN, "an import has no preset"
    old = flushed(1).model_copy(update={"summary": Summary(write=flushed(1).summary.write), "options": FSYNC})
    assert headline_metric(catalogue(), old) == IOPS, "of an earlier cephtui only the rate has the flush in it"


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ("fsync = 1", "latency"),
        ("fdatasync = 1", "latency"),
        ("fsync = 32", "iops"),
        ('sync = "dsync"', "iops"),
    ],
)
def test_a_preset_whose_writes_are_flushed_is_about_latency(tmp_path: Path, options: str, wanted: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'title = "Mine"\n[options]\nrw = "write"\nioengine = "psync"\ntime_based = false\n{options}\n')
    assert load_preset(path, user=True).file.headline == wanted
    path.write_text('headline = "bandwidth"\n' + path.read_text())
    assert load_preset(path, user=True).file.headline == "bandwidth", "as it is given"
