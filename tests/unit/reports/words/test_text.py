"""What is said of the conditions of a run: all that is not usual, the data that it uses, and what runs instead."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path

import pytest

from cephtui.analysis.verdicts.conditions import spread_of_seconds
from cephtui.models import Node, Run, Seconds, Step, Total
from cephtui.models.findings.measurement import STALLED
from cephtui.models.metrics import BY_NAME, HEADLINE_BY_NAME, METRICS, is_carried
from cephtui.models.verdict import LeftOut
from cephtui.planning import Request, make_plan, new_batch
from cephtui.reports.words.text import conditions, latency_word, metric_of, short_conditions, title_of
from cephtui.reports.words.verdict import left_out_lines
from cephtui.sessions import store
from cephtui.sessions.jsonlines import as_json
from cephtui.targets import parse_target
from cephtui.tui.console.edits import Edits
from cephtui.tui.console.preview import fitted_to_target
from cephtui.tui.widgets.shown import range_since_ramp, shown_of_run
from tests.support import runs, two_copies
from tests.support.drawings import runs_csv, runs_markdown
from tests.support.golden import Golden
from tests.support.known import known
from tests.support.plans import FILE, packaged, plan
from tests.support.runs import recorded, run


def step_of(preset: str, *options: str, target: str = FILE, nodes: int = 1) -> Step:
    return plan(preset, nodes=[f"pve{number}" for number in range(nodes)], target=target, options=options).steps[0]


def test_a_preset_as_it_is_has_nothing_to_be_named() -> None:
    assert conditions(step_of("write-iops")) == "4k randwrite, depth 64, jobs 8, 60 s, working set 1.00 GiB"
    assert short_conditions(step_of("write-iops")) == "4k randwrite qd64 j8 60 s on 1.00 GiB"


@pytest.mark.parametrize(
    "option",
    ["fsync=1", "fdatasync=1", "sync=dsync", "rate=1M", "rate_iops=50", "direct=no", "ramp_time=9", "io_size=32M"],
)
def test_what_is_not_usual_is_named(option: str) -> None:
    for text in (conditions, short_conditions):
        assert option in text(step_of("write-iops", option))


def test_what_the_preset_has_beside_the_tools_defaults_is_named() -> None:
    assert "fsync=1" in conditions(step_of("sync-latency"))


def test_the_default_of_the_tool_is_named_where_the_preset_has_another() -> None:
    step = step_of("mixed-75-25", "rwmixread=50")
    assert step.edited == ("rwmixread",)
    assert "rwmixread=50" in conditions(step)
    as_default = step.model_copy(update={"options": {**step.options, "ramp_time": 2.0}, "edited": ("ramp_time",)})
    assert "ramp_time=2" in conditions(as_default)


def test_the_working_set_is_that_of_all_jobs_and_nodes() -> None:
    step = step_of("write-iops", "size=16M", nodes=3)
    assert conditions(step).endswith("60 s, size=16M, working set 384 MiB")
    assert short_conditions(step).endswith("60 s size=16M on 384 MiB")


def test_of_a_run_of_an_earlier_version_it_follows_from_the_size() -> None:
    options = {"rw": "randread", "bs": "4k", "iodepth": 1, "numjobs": 8, "size": "16M"}
    assert "working set 128 MiB" in conditions(run(1, options=options))
    assert "working set" not in conditions(run(1, options={**options, "size": "10%"}))
    assert "working set" not in conditions(run(1, tool="ioping", options={"size": "4k", "interval": 0.1, "runtime": 9}))


@pytest.mark.parametrize(("preset", "target"), [("rados-write", "pool:bench"), ("osd-write", "osd:*")])
def test_what_grows_with_its_speed_has_no_working_set(preset: str, target: str) -> None:
    assert "working set" not in conditions(step_of(preset, target=target))


def test_rates_that_an_import_has_for_reads_and_writes_spoil_nothing() -> None:
    options = {"rw": "randrw", "bs": "4k", "iodepth": 8, "rate_iops": "100,200", "rate": "1m,,2m"}
    assert conditions(run(1, options=options)) == "4k randrw, depth 8, rate_iops=100,200 rate=1m,,2m"
    assert short_conditions(run(1, options=options)) == "4k randrw qd8 rate_iops=100,200 rate=1m,,2m"


def test_they_are_in_what_is_copied() -> None:
    step = step_of("write-iops", "size=16M", "rate_iops=50")
    made = run(1, options=step.options, edited=step.edited, span_bytes=step.span_bytes)
    assert "size=16M rate_iops=50, working set 128 MiB" in runs_markdown([made])


def test_the_object_size_of_rados_bench_is_not_that_of_its_operations() -> None:
    step = step_of("rados-write", "block-size=4k", "object-size=4M", target="pool:bench")
    assert conditions(step).startswith("4k write, 16 at once, 60 s, object-size=4M")


def test_a_depth_that_an_engine_can_not_have_is_said() -> None:
    step = step_of("write-iops", "ioengine=psync")
    assert "depth 64 (1 with psync)" in conditions(step)
    assert "qd1 j8" in short_conditions(step)


# ---------------------------------------------------------------------------------------------- what runs instead


def test_jobs_on_one_image_are_one_job_and_that_is_said(golden: Golden) -> None:
    step = step_of("provisioned", "numjobs=8", target="rbd:bench/vm")
    assert (step.options["iodepth"], step.options["numjobs"]) == (512, 1)
    assert step.asked == {"iodepth": 64, "numjobs": 8}
    assert "depth 512, jobs 1" in conditions(step)
    golden.same(conditions(step))


def test_what_librbd_does_not_take_is_said(golden: Golden) -> None:
    step = step_of("write-iops", "direct=false", "ioengine=io_uring", target="rbd:bench")
    assert step.asked == {"direct": False, "ioengine": "io_uring"}
    golden.same(conditions(step))
    assert "ioengine=rbd" not in conditions(step)


@pytest.mark.parametrize("target", [FILE, "device:/dev/sdz", "rbd:bench", "krbd:bench"])
def test_where_all_runs_as_asked_nothing_is_said(target: str) -> None:
    assert step_of("write-iops", target=target).asked == {}


def test_the_form_has_what_runs() -> None:
    (preset,) = packaged("provisioned")
    edits = Edits({"provisioned": {"numjobs": "8"}})
    for target, fitted in (("rbd:bench/vm", {"iodepth": "512", "numjobs": "1", "ioengine": "rbd"}), (FILE, {})):
        parsed = parse_target(target, owner_id="0a1b2c3d")
        host = Node(name="pve1", host="pve1")
        overrides = edits.overrides(preset)
        plan = make_plan(Request((preset,), (host,), parsed, overrides), new_batch)
        assert fitted_to_target(preset, overrides, plan) == fitted


# ---------------------------------------------------------------------------------------------- latencies


def total(ios: int | None) -> Total:
    figures = {metric.name: 0.01 for metric in METRICS if metric.unit == "s"}
    return runs.total(ios=ios, iops=100.0, **figures)


@pytest.mark.parametrize(("name", "least"), [("p50", 20), ("p95", 200), ("p99", 1_000), ("p999", 10_000)])
def test_a_percentile_that_too_few_carry_is_none(name: str, least: int) -> None:
    metric = BY_NAME[f"latency_{name}_seconds"]
    assert metric.percent
    assert is_carried(least, metric.percent)
    assert (metric.of(total(least - 1)), metric.of(total(least)), metric.of(total(None))) == (None, 0.01, 0.01)
    assert metric.text_of(total(least - 1)) == "-"


def test_it_is_none_in_every_table() -> None:
    few = run(1, write=total(500))
    assert "| 10.0 ms | - | - |" in runs_markdown([few])


def test_it_is_none_in_everything_that_is_written() -> None:
    few = run(1, write=total(1552))
    known = {f"latency_{name}_seconds": 0.01 for name in ("p50", "p95", "p99")}
    wanted = {**known, "latency_p999_seconds": None}
    node = few.model_copy(update={"nodes": runs.nodes("a", summary=few.summary)})
    for summary in (json.loads(as_json(node))["summary"], json.loads(as_json(node))["nodes"][0]["summary"]):
        assert {name: summary["write"][name] for name in wanted} == wanted
    (row,) = csv.DictReader(StringIO(runs_csv([few])))
    assert {name: float(row[name]) if row[name] else None for name in wanted} == wanted
    assert Run.model_validate_json(as_json(few)).model_dump() == few.model_dump()


def test_a_latency_is_called_what_it_is() -> None:
    mean = BY_NAME["latency_mean_seconds"]
    assert [title_of(mean, tools) for tools in (["fio"], ["fio", "ioping"], ["ioping"], ["unknown"])] == [
        "clat mean",
        "latency mean",
        "latency mean",
        "latency mean",
    ]
    assert latency_word(["fio", "fio"]) == "clat"
    assert metric_of(mean.name, "fio").full_title == "clat mean"
    assert metric_of(mean.name, "ioping").full_title == "latency mean"


@pytest.mark.parametrize(
    ("span", "values", "least"),
    [
        ((11.0, 15.0), {}, 0.0),
        ((0.0, 4.0), {}, 0.0),
        ((0.0, 3.0), {}, 15.5),
        ((11.0, 15.0), {"nodes": ("a",)}, 15.5),
        ((11.0, 12.9), {}, 15.5),
    ],
    ids=str,
)
def test_in_a_gap_on_all_nodes_the_least_second_is_none(
    span: tuple[float, float], values: dict[str, tuple[str, ...]], least: float
) -> None:
    """The tool reports the gap as one long time, with what completed at its end; a ramp of 2 s is no part of it."""
    seconds = Seconds(metric="iops", count=15, least=15.5, mean=2000.0, greatest=2370.0, stddev=600.0)
    stalled = STALLED.found(span, seconds=span[1] - span[0], **values)
    run = recorded()
    options = {**run.options, "ramp_time": 2}
    changed = run.model_copy(update={"seconds": seconds, "options": options, "findings": (stalled,)})
    assert known(spread_of_seconds(changed)).least == least
    assert known(spread_of_seconds(changed.model_copy(update={"findings": ()}))).least == 15.5


def test_the_range_of_a_saved_run_has_its_gap_in_it(demo_session: Path) -> None:
    run = store.read_run(demo_session, two_copies.STAR)
    shown = shown_of_run(run, store.read_history(demo_session, two_copies.STAR), ())
    assert [known(range_since_ramp(shown, HEADLINE_BY_NAME[name])).least for name in ("iops", "bandwidth")] == [
        0.0,
        0.0,
    ]


@pytest.mark.parametrize(
    ("reasons", "lines"),
    [
        (["too short"] * 3, ["a/1-3: too short"]),
        (["osd.1 took 114 ms", "osd.1 took 7.35 ms", "osd.1 took 2 s"], ["a/1-3: osd.1 took 114 ms; 2 more like it"]),
        (["osd.1 took 114 ms", "osd.2 took 114 ms"], ["a/1: osd.1 took 114 ms", "a/2: osd.2 took 114 ms"]),
        (
            ["lab1 5 % busy", "lab-2 5 % busy", "lab1 7 % busy"],
            ["a/1, 3: lab1 5 % busy; 1 more like it", "a/2: lab-2 5 % busy"],
        ),
    ],
)
def test_runs_with_the_same_reason_are_one_line(reasons: list[str], lines: list[str]) -> None:
    left_out = [LeftOut(run=f"a/{number}", why=why) for number, why in enumerate(reasons, 1)]
    assert left_out_lines(left_out) == lines
