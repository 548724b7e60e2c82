"""What reports draw: plans, runs in progress and saved, listings, comparisons."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cephtui import paths, units
from cephtui.analysis.runs.batches import varied
from cephtui.analysis.runs.sides import Side
from cephtui.analysis.views.live import Live
from cephtui.models import (
    ClusterEnvironment,
    ClusterSample,
    Finding,
    Interval,
    Mark,
    Node,
    NodeEnvironment,
    Notice,
    Plan,
    PoolActivity,
    Run,
    Sample,
    Summary,
)
from cephtui.models.findings.machine import STEAL
from cephtui.models.metrics import BY_NAME, METRICS
from cephtui.models.preset_rows import PresetRow
from cephtui.models.rows import Info, NodeRow
from cephtui.models.session_row import SessionRow
from cephtui.nodes.state import NodeState
from cephtui.reports.blocks import plain_text
from cephtui.reports.drawn.live import draw_live
from cephtui.reports.drawn.plan import draw_plans
from cephtui.reports.render.rich import draw
from cephtui.reports.views.listings import info_view, leftovers_blocks
from cephtui.reports.views.presets import presets_view
from cephtui.reports.views.runs import finding_items
from cephtui.reports.words import cutting, text
from cephtui.reports.words.facts import facts, head_line
from cephtui.reports.words.quality import first_of_each
from cephtui.sessions import store
from cephtui.sessions.undo import Undo
from cephtui.tui.console.preview import preview_text
from tests.support import plans
from tests.support.conducting import Bed, conduct, figures, study
from tests.support.drawings import draw_comparison, draw_nodes, draw_run, draw_runs, draw_sessions, printed
from tests.support.golden import Golden
from tests.support.plans import packaged
from tests.support.runs import SESSION, WRITE_IOPS, recorded, total


def line_of(drawn: str, word: str) -> str:
    """The only line with this in it."""
    (line,) = [line for line in drawn.splitlines() if word in line]
    return line


AT = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def planned(
    *presets: str, nodes: tuple[str, ...] = ("a",), repeat: int = 1, options: tuple[str, ...] = ("runtime=20",)
) -> Plan:
    return plans.plan(*presets, nodes=nodes, options=(*options, "size=64M", "numjobs=1"), repeats=repeat)


def finding(text: str) -> Finding:
    return Finding(code="x", text=text)


# ---------------------------------------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("output", "short"),
    [
        ("ceph version 16.2.15 (618f440) pacific (stable)", "16.2.15"),
        ("fio-3.33", "fio-3.33"),
        ("ceph version", "ceph version"),
        ("", "-"),
        (None, "-"),
    ],
)
def test_of_cephs_version_only_the_number_is_shown(output: str | None, short: str) -> None:
    assert text.short_version(output) == short


def test_a_long_list_is_cut_and_the_others_are_counted() -> None:
    assert cutting.cut(range(100), "nodes") == (list(range(100)), "")
    assert cutting.cut(range(1300), "nodes") == (list(range(100)), "... and 1,200 more nodes")
    assert cutting.joined("ab", "jobs") == "a, b"
    assert cutting.joined(map(str, range(101)), "jobs").endswith(", 99 ... and 1 more jobs")
    assert len(cutting.shorter("x" * 3000)) == len("x" * 2000 + " ...")


def test_options_of_an_unknown_tool_are_listed() -> None:
    assert text.conditions(recorded()) == "4k randwrite, depth 64, jobs 8, 20 s"
    assert text.conditions(recorded(tool="drip", options={"for": 4, "name": "x"})) == "for=4, name=x"
    assert text.short_command("drip --for=4", "drip") == "drip --for=4"


def test_the_ceph_access_is_left_out_of_a_shown_command() -> None:
    command = "sudo -n env CEPH_CONF=/etc/ceph/c.conf 'CEPH_ARGS=--id x' fio --name=x"
    assert text.tool_command(command, "fio") == "fio --name=x"


def test_notes_are_the_error_and_then_the_findings() -> None:
    run = recorded(error="node a: lost", findings=(finding("short"), finding("y" * 3000)))
    first, second, third = text.notes(run)
    assert (first, second) == ("node a: lost", "questionable (counted): short")
    assert len(third) < 2010


def test_a_mark_has_its_place_in_the_run() -> None:
    local = f"{AT.astimezone():%Y-%m-%d %H:%M:%S}"
    moments = [
        text.moment(Mark(at=AT, text="m", run=run, elapsed_seconds=elapsed))
        for run, elapsed in ((None, None), (3, None), (3, 12.0))
    ]
    assert moments == [local, f"{local}, before #3 measured", f"{local}, 12 s into #3"]


def test_the_cluster_stands_in_one_line(golden: Golden) -> None:
    sample = ClusterSample(
        run=1,
        elapsed_seconds=1.0,
        health="HEALTH_WARN",
        osds=3,
        osds_up=2,
        pg_states={"active+clean": 30, "active+undersized": 2},
        client_iops=1000.0,
        client_bandwidth_bytes=float(1 << 20),
        recovery_bandwidth_bytes=0.0,
        osd_latency_seconds={"0": 0.001, "2": 0.04},
    )
    wide, narrow = text.cluster_line(sample), text.cluster_line(sample, narrow=True)
    parts = ["HEALTH_WARN", "2/3 osd", f"client {units.iops(1000.0)} IOPS 1.00 MiB/s"]
    assert wide.startswith("  ".join(parts))
    assert wide.endswith("osd.2 40.0 ms  2 pgs active+undersized")
    golden.same(wide)
    assert "IOPS" not in narrow
    assert text.cluster_line(ClusterSample(run=1, elapsed_seconds=1.0)).startswith("health unknown  client - IOPS")


def test_nodes_that_can_not_be_used_are_named_first(golden: Golden) -> None:
    nodes = [Node(name=name) for name in "abcd"]
    states = {
        "a": NodeState(nodes[0], NodeEnvironment(tools={"fio": "fio-3.33"})),
        "b": NodeState(nodes[1], NodeEnvironment()),
        "c": NodeState(nodes[2], problem="c: no route to host"),
    }
    golden.same(text.node_states(nodes, states, "fio").plain)
    many = [Node(name=f"n{number}") for number in range(5)]
    assert text.node_states(many, {}, "fio").plain == "5 nodes connecting"


# ---------------------------------------------------------------------------------------------- plans


def test_a_plan_lists_commands_writes_and_how_long_it_takes(golden: Golden) -> None:
    plan = planned("read-iops", "write-iops", nodes=("a", "b"), repeat=2)
    drawn = printed(draw_plans([plan]))
    headings = [line for line in drawn.splitlines() if line[:3] in ("1. ", "2. ")]
    assert [heading.partition(" 4k")[0] for heading in headings] == [
        "1. read-iops",
        "2. write-iops",
    ]
    assert all(heading.endswith(", 2 times") for heading in headings)
    of_all = "depth 64, jobs 1, 20 s, size=64M, working set 128 MiB, file:/mnt/bench/test"
    assert all(of_all in heading for heading in headings)
    assert drawn.count("   b$ fio --name=read-iops ") == 1
    assert "200 MB/s" in line_of(drawn, "4 runs take about")
    golden.same([line_of(drawn, "4 runs take about"), line_of(drawn, "session grows")])
    assert "pool " not in drawn


@pytest.mark.parametrize(
    ("runtime", "heading", "takes"), [("60", "jobs 1, at most 60 s, ", "at most "), ("0", "jobs 1, ", "more than ")]
)
def test_a_plan_that_its_data_may_end_says_so(runtime: str, heading: str, takes: str) -> None:
    plan = planned("write-iops", options=(f"runtime={runtime}", "time_based=0"))
    drawn = printed(draw_plans([plan]))
    assert heading in line_of(drawn, "1. write-iops")
    assert f"takes {takes}" in drawn
    bed = Bed(figures(1.0, 1.0))
    conduct(study("write-iops", paths=("/x", "/y"), options={"runtime": runtime, "time_based": False}), bed)
    assert bed.begun[0].startswith("1 of 2: write-iops, file:/x on local, ")
    assert f", {takes[:5]}" in bed.begun[0]
    assert f"left {takes[:5]}" in bed.begun[0]
    assert "left" not in bed.begun[1]


def test_a_plan_names_what_it_writes_and_who_else_uses_the_pool() -> None:
    plan = planned("write-iops").model_copy(update={"pool_use": PoolActivity(pool="bench", text="2 images in use")})
    drawn = printed(draw_plans([plan]))
    assert drawn.startswith("pool bench: 2 images in use\n")
    assert "64.0 MiB" in next(line for line in drawn.splitlines() if line.startswith("   a: writes: "))


@pytest.mark.parametrize(
    ("nodes", "osds", "words"),
    [
        (("a",), 1, "512 in flight, but 1 OSD accepts 256 messages at once"),
        (("a", "b", "c"), 3, "1,536 in flight, but 3 OSDs accept 768 messages at once"),
        (("a", "b", "c"), 6, ""),
        (("a", "b", "c"), None, ""),
    ],
)
def test_a_plan_says_that_osds_take_fewer_messages_than_are_in_flight(
    nodes: tuple[str, ...], osds: int | None, words: str
) -> None:
    plan = plans.plan("write-iops", nodes=nodes, options=("size=64M",))
    of_pool = plan.model_copy(update={"pool_use": PoolActivity(pool="bench", osds_in=osds)})
    said = [line.strip() for line in printed(draw_plans([of_pool])).splitlines() if "osd_client_message_cap" in line]
    assert [line.startswith(words) for line in said] == [True] * bool(words)
    assert ("osd_client_message_cap" in preview_text(of_pool).plain) is bool(words)
    assert "osd_client_message_cap" not in printed(draw_plans([plan])), "a file is in no pool"


SMALL_SETS: list[tuple[str, dict[str, str], str]] = [
    ("read-iops", {}, "   reads 64.0 MiB, which fits into the memory of one OSD (4.00 GiB by default)"),
    ("read-iops", {"size": "64G"}, ""),
    ("read-iops", {"size": "64G", "random_distribution": "zipf:1.2"}, "   90 % of the reads are of 62.8 MiB,"),
    ("write-iops", {}, ""),
]


@pytest.mark.parametrize(("preset", "options", "words"), SMALL_SETS)
def test_a_plan_says_what_of_a_pool_may_come_from_memory(preset: str, options: dict[str, str], words: str) -> None:
    chosen = {"size": "64M", "numjobs": "1", **options}
    plan = plans.plan(preset, nodes=("a",), options=tuple(f"{name}={value}" for name, value in chosen.items()))
    of_pool = plan.model_copy(update={"pool_use": PoolActivity(pool="bench", text="2 images in use")})
    lines = printed(draw_plans([of_pool])).splitlines()
    said = [line for line in lines if "the memory of one OSD" in line]
    assert [line.startswith(words) for line in said] == [True] * bool(words)
    assert "the memory of one OSD" not in printed(draw_plans([plan])), "a file is in no pool"


# ---------------------------------------------------------------------------------------------- a run in progress


def sample(node: str | None, second: float, iops: float, missing: tuple[str, ...] = ()) -> Sample:
    interval = Interval(int(iops), int(4096 * iops), iops, 4096 * iops, 0.001, 0.002)
    return Sample(1, node, "write-iops", "run", second, 1.0, None, interval, missing)


def following(plan: Plan, *events: Sample | ClusterSample | Notice) -> Live:
    live = Live()
    run = recorded(1, outcome=None, step=plan.steps[0].number)
    for event in (plan, run, *events):
        live.take(event)
    return live


def test_nothing_is_drawn_before_a_run_and_after_it() -> None:
    live = following(planned("write-iops"))
    assert "write-iops" in printed(draw_live(live, 0.0))
    live.take(recorded())
    assert printed(draw_live(live, 0.0)).strip() == ""
    assert printed(draw_live(Live(), 0.0)).strip() == ""


def test_a_run_in_progress_has_its_place_its_figures_and_what_is_left() -> None:
    plan = planned("write-iops")
    drawn = printed(draw_live(following(plan, sample("a", 4.0, 500.0), sample(None, 4.0, 500.0)), 1.0))
    assert line_of(drawn, "(1/1)").startswith("write-iops (1/1) 4k randwrite")
    assert line_of(drawn, "5 s, 17 s left").startswith("run ")
    assert line_of(drawn, "write ").split()[:6] == ["write", "500", "1.95", "MiB/s", "1.00", "ms"]
    assert "node" not in drawn, "one node alone has no rows of its own"


def test_several_nodes_have_rows_and_one_without_a_sample_is_marked() -> None:
    plan = planned("write-iops", nodes=("a", "b", "c"))
    events = (sample("a", 4.0, 500.0), sample("b", 3.0, 300.0), sample(None, 4.0, 500.0, missing=("b", "c")))
    drawn = printed(draw_live(following(plan, *events), 0.0))
    assert line_of(drawn, "a  ").split()[:2] == ["a", "500"]
    assert line_of(drawn, "b  ").split()[:2] == ["b", "300"]
    assert line_of(drawn, "b  ").rstrip().endswith("no sample")
    assert line_of(drawn, "c  ").split() == ["c", *"----", "no", "sample"]


def test_the_cluster_and_a_notice_stand_below_the_figures() -> None:
    cluster = ClusterSample(run=1, elapsed_seconds=2.0, health="HEALTH_OK")
    drawn = printed(draw_live(following(planned("write-iops"), cluster, Notice(1, "stopping ...")), 0.0))
    assert [line.split()[0] for line in drawn.splitlines()[-2:]] == ["HEALTH_OK", "stopping"]


def test_while_a_target_is_prefilled_its_bytes_are_counted() -> None:
    plan = planned("read-iops")
    written = Interval(16, 16 << 20, 16.0, float(16 << 20))
    event = Sample(1, None, "read-iops", "prepare", 2.0, 2.0, None, written)
    drawn = printed(draw_live(following(plan, event), 0.0))
    assert "16.0 MiB of 64.0 MiB written, 6 s left" in drawn
    assert "IOPS" not in drawn


def test_a_prefill_that_was_an_earlier_runs_to_make_is_drawn_as_one() -> None:
    plan = planned("read-iops")
    step = plan.steps[0].model_copy(update={"prepare_seconds": 0.0})
    event = Sample(1, None, "read-iops", "prepare", 2.0, 2.0, None, Interval(16, 16 << 20, 16.0, float(16 << 20)))
    drawn = printed(draw_live(following(plan.model_copy(update={"steps": (step,)}), event), 0.0))
    assert "prepare" in drawn
    assert "IOPS" not in drawn


# ---------------------------------------------------------------------------------------------- runs


def test_the_runs_of_a_sweep_are_distinguished() -> None:
    runs = [
        recorded(number, batch="sweep", options={"rw": "randread", "iodepth": depth, "bs": "4k"})
        for number, depth in ((1, 1), (2, 64))
    ]
    alone = recorded(3, batch="other", options={"rw": "randread", "iodepth": 8, "bs": "4k"})
    assert varied([*runs, alone]) == {1: "iodepth=1", 2: "iodepth=64", 3: ""}
    assert "iodepth=64" in printed(draw_runs([*runs, alone]))


def test_reading_and_writing_in_turn_is_shown_by_the_direction() -> None:
    runs = [recorded(number, batch="sweep", options={"rw": rw}) for number, rw in ((1, "randread"), (2, "randwrite"))]
    assert varied(runs) == {1: "", 2: ""}


def test_a_table_fits_eighty_columns() -> None:
    drawn = printed(draw_runs([recorded(preset="write-throughput", outcome="stopped")]), width=80)
    assert "write-throughput write" in drawn
    assert "stopped" in drawn.splitlines()[1]


def test_marks_stand_between_the_runs() -> None:
    first = recorded(1)
    second = recorded(2, batch="other", started_at=first.started_at + timedelta(minutes=5))
    mark = Mark(at=first.started_at + timedelta(minutes=1), text="jumbo frames on [x]")
    drawn = printed(draw_runs([first, second], [mark]))
    assert [line.split()[0] for line in drawn.splitlines()] == ["all", "#", "1", "*", "2"]
    assert f"jumbo frames on [x] ({text.moment(mark)})" in drawn


def repeats(*iops: float, **fields: Any) -> list[Run]:
    """The runs of a batch, a minute apart, with these IOPS."""
    times = [recorded().started_at + timedelta(minutes=number) for number in range(1, len(iops) + 1)]
    return [
        recorded(number, iops=rate, p99=0.1, started_at=started_at, **fields)
        for number, (rate, started_at) in enumerate(zip(iops, times, strict=True), 1)
    ]


@pytest.mark.parametrize("width", [80, 120])
def test_below_repeats_stand_their_mean_its_interval_and_their_spread(width: int) -> None:
    drawn = printed(draw_runs(repeats(10000, 10400, 9800, 10200, 9900)), width=width)
    mean, interval, spread = (
        next(line for line in drawn.splitlines() if word in line) for word in ("mean  ", "95 %", "spread")
    )
    assert mean.split()[:4] == ["1-5", "mean", "write", "10.1k"]
    assert mean.split()[-1] == "n=5"
    assert (interval.split()[2:4], spread.split()[1:3]) == (["±3.0", "%"], ["2.4", "%"])
    assert "+-3.0 %" in printed(draw_runs(repeats(10000, 10400, 9800, 10200, 9900), ascii_only=True))


def test_each_point_of_a_repeated_sweep_has_its_mean() -> None:
    depths = [{"rw": "randwrite", "bs": "4k", "iodepth": depth} for depth in (1, 4, 1, 4)]
    runs = [run.model_copy(update={"options": depth}) for run, depth in zip(repeats(1, 2, 1, 8), depths, strict=True)]
    lines = [line.split() for line in printed(draw_runs(runs)).splitlines() if "mean " in line][1:]
    assert [line[:6] for line in lines] == [
        ["1,", "3", "mean", "iodepth=1", "write", "1"],
        ["2,", "4", "mean", "iodepth=4", "write", "4"],
    ]


def test_runs_that_did_not_end_well_are_not_in_the_mean() -> None:
    first, second, third = repeats(100, 900, 100)
    drawn = printed(draw_runs([first, second.model_copy(update={"outcome": "stopped"}), third]))
    assert line_of(drawn, "1-3 ").split()[-3:] == ["n=2", "of", "3"]
    one = printed(draw_runs([first, second.model_copy(update={"outcome": "failed"})]))
    assert "95 %" not in one
    assert line_of(one, "1-2 ").endswith("n=1 of 2")


def test_marks_made_in_the_last_repeat_stand_above_the_mean() -> None:
    runs = repeats(100, 100)
    marks = [Mark(at=runs[1].started_at + timedelta(seconds=n), run=run, text="m") for n, run in ((1, 2), (90, None))]
    after = recorded(3, batch="c", started_at=runs[1].started_at + timedelta(minutes=9))
    drawn = printed(draw_runs([*runs, after], marks))
    begin = [line.split()[0] for line in drawn.splitlines() if not line.startswith("  #")]
    assert begin[-7:] == ["2", "*", "1-2", "95", "spread", "*", "3"]


def test_an_error_stands_in_its_row_and_findings_below_the_table(golden: Golden) -> None:
    run = recorded(outcome="failed", error="fio: no space", findings=(finding("the run was short"),))
    drawn = printed(draw_runs([run]))
    row, note = drawn.splitlines()[-2:]
    assert row.endswith("failed fio: no space")
    golden.same(note)


def test_a_finding_of_several_runs_stands_once_with_their_numbers(golden: Golden) -> None:
    short, lost = finding("the run was short"), finding("node a was lost")
    by_number = {2: (short, short), 3: (short, lost), 5: (short,)}
    runs = [recorded(number, findings=findings) for number, findings in by_number.items()]
    golden.same(
        [
            line.strip()
            for line in printed(draw_runs(runs)).splitlines()
            if "questionable" in line and line.startswith("#")
        ]
    )


def test_a_run_without_figures_has_dashes() -> None:
    row = line_of(printed(draw_runs([recorded(summary=Summary(), outcome=None)])), "write-iops")
    assert row.split("60 s" if "60 s" in row else "20 s")[1].split() == [*"-----", "running"]


def test_a_run_in_full_has_every_figure() -> None:
    run = recorded()
    drawn = printed(draw_run(run, store.read_history(SESSION, WRITE_IOPS)))
    latencies = line_of(drawn, "write clat")
    total = run.summary.flows["write"]
    assert [part.split()[0] for part in latencies.removeprefix("write clat").split(", ")] == [
        "min",
        "p50",
        "p95",
        "max",
        "stddev",
    ]
    assert all(metric.title in drawn and metric.text_of(total) in drawn for metric in METRICS)
    assert line_of(drawn, "options").split()[1:] == ["4k", "randwrite,", "depth", "64,", "jobs", "8,", "20", "s"]
    assert "$ fio --name=write-iops" in drawn
    assert line_of(drawn, "disks").split()[1:] == ["vda", "99.6", "%", "busy", "(ramp", "included)"]
    assert "None" not in drawn
    assert [line.split()[0] for line in drawn.splitlines() if line][-1] == "IOPS", "its course over time"


def test_a_run_of_several_nodes_has_a_row_for_each(golden: Golden) -> None:
    whole = recorded()
    (one,) = whole.nodes
    results = tuple(
        one.model_copy(update={"node": name, "outcome": outcome, "started_seconds": 0.002, "ended_seconds": 20.5})
        for name, outcome in (("a", "ok"), ("b", "lost"))
    )
    run = recorded(nodes=results, start_spread_seconds=0.004)
    drawn = printed(draw_run(run))
    rows = [line.split() for line in drawn.splitlines() if line.split()[-1:] in (["ok"], ["lost"])]
    assert [row[-5:] for row in rows[1:]] == [["2.0", "ms", "20.5", "s", "ok"], ["2.0", "ms", "20.5", "s", "lost"]]
    golden.same(line_of(drawn, "nodes began"))


def test_jobs_and_marks_of_a_run_are_shown() -> None:
    run = recorded()
    (result,) = run.nodes
    rates = {"iops": 10.0, "bandwidth_bytes": 40960.0, "latency_mean_seconds": 0.005}
    write = total(ios=10, bytes=40960, runtime_seconds=1.0, **rates)
    job = {"job": "w.0", "summary": {"write": write}}
    shown = recorded(nodes=(result.model_validate({**result.model_dump(), "jobs": [job]}),))
    marks = [Mark(at=AT, text="mine", run=run.run), Mark(at=AT, text="another run's", run=99)]
    drawn = printed(draw_run(shown, marks=marks))
    assert " ".join(line_of(drawn, "w.0").split()) == "w.0 write 10 40.0 KiB/s 5.00 ms - 1.0 s 100.0 %"
    assert "mine (" in line_of(drawn, "before #1 measured")
    assert "another run's" not in drawn


def test_the_cluster_of_a_run_is_described_as_far_as_it_is_known(golden: Golden) -> None:
    cluster = ClusterEnvironment(
        ceph_version="16.2.15",
        health="HEALTH_OK",
        osds=3,
        osds_up=3,
        osds_in=2,
        pg_states={"active+clean": 32},
        pool={"size": 3, "type": "replicated", "compression": None},
        osd_op_queue="mclock_scheduler",
        osd_mclock_profile="balanced",
        image_features=("layering", "exclusive-lock"),
        osds_by_class={"hdd": 2, "ssd": 1},
        config={"osd osd_max_backfills": "3"},
        config_more=1200,
        pool_settings={"fast_read": "false"},
        no_permission=("ceph pg ls", "ceph config get osd osd_op_queue"),
    )
    line = line_of(printed(draw_run(recorded(cluster=cluster)), width=600), "before the run: HEALTH_OK")
    golden.same(line.removeprefix("cluster").strip().split("; "))


def test_the_state_of_the_cluster_is_said_to_be_the_one_before_the_run() -> None:
    """Findings may say that it was another during the run."""
    state = ClusterEnvironment(health="HEALTH_OK", osds=3, osds_up=3, osds_in=3, pg_states={"active+clean": 32})
    run = recorded(cluster=state)
    drawn = printed(draw_run(run), width=600).splitlines()
    lines = [*(line for line in drawn if "HEALTH" in line), head_line([run]), facts([run])["cluster"]]
    assert len(lines) == 4
    assert all("before the run" in line for line in lines)
    unknown = recorded(cluster=state.model_copy(update={"health": None}))
    assert "before the run" not in head_line([unknown])
    assert "before the run" not in head_line([recorded()])


def test_the_settings_of_a_node_are_counted(golden: Golden) -> None:
    node = NodeEnvironment(
        os="Debian",
        nic_bits_per_second={"a": 10**10},
        nic_mtu={"a": 9000, "b": 1500},
        nic_shaping={"a": "tbf rate 80Mbit"},
        settings={"vm.swappiness": "1"},
    )
    line = line_of(printed(draw_run(recorded(environment={"pve1": node})), width=400), "Debian")
    golden.same(line.removeprefix("pve1").strip())


# ---------------------------------------------------------------------------------------------- listings


def test_a_users_text_is_no_markup() -> None:
    row = PresetRow(preset="b[x]", title="Cold [fast] reads", description="closes [/b] nothing", path="[/]")
    for value in (draw(presets_view([row], ()).document()), draw(presets_view([row], (), in_full=True).document())):
        drawn = printed(value)
        assert all(part in drawn for part in ("b[x]", "closes [/b] nothing"))
    assert "Cold [fast] reads" in printed(draw(presets_view([row], (), in_full=True).document()))
    assert "[bold]" in printed(draw_sessions([SessionRow(session="s", path="p", error="[bold] [/x]")]))


def test_missing_tools_of_a_node_stand_below_the_table(golden: Golden) -> None:
    row = NodeRow(
        node="a",
        ready=True,
        round_trip_seconds=0.002,
        environment=NodeEnvironment(os="Debian"),
        cluster="HEALTH_OK",
        problems=("a: no fio: apt-get install fio",),
        lacking=("no ioping: apt-get install ioping",),
    )
    drawn = printed(draw_nodes([row])).splitlines()
    assert drawn[1].split() == ["a", "ready", "2.00", "ms", "Debian", "-", "HEALTH_OK"]
    assert not drawn[2].strip()
    golden.same(line.rstrip() for line in drawn[3:])


def test_what_several_nodes_lack_stands_once() -> None:
    rows = [NodeRow(node=name, ready=True, lacking=("no ioping",)) for name in ("a", "b")]
    assert printed(draw_nodes(rows)).count("a, b: where it is needed: no ioping") == 1


def test_leftovers_are_listed_with_how_their_node_is_reached() -> None:
    own, listed = Node(name="a", host="10.0.0.1"), Node(name="a", host="10.0.0.9")
    left = [
        (Path("/s/mine"), Undo(node="a", target="file:/x/1", at=own)),
        (Path("/s/other"), Undo(node="a", target="file:/x/2", at=listed)),
    ]
    drawn = printed(draw(leftovers_blocks(left, {"a": own})))
    assert line_of(drawn, "file:/x/1").split() == ["a", "file:/x/1", "mine"]
    assert "needs consent" not in line_of(drawn, "10.0.0.1")
    assert "needs consent" in line_of(drawn, "10.0.0.9")
    many = printed(draw(leftovers_blocks(left[:1] * 203, {"a": own})))
    assert "and 3 more\n" in many


def test_presets_are_packaged_or_the_users() -> None:
    rows = [
        PresetRow(
            preset="a",
            title="A",
            description="reads",
            tool="fio",
            key=3,
            user=True,
            path="/p",
            options={"rw": "randread", "iodepth": [1, 4], "bs": "4k", "direct": True},
        ),
        PresetRow(preset="b", title="B", description="writes"),
        PresetRow(preset="c", error="c.toml: no title"),
    ]
    drawn = printed(draw(presets_view(rows, ()).document()))
    assert line_of(drawn, "reads").split() == ["3", "a", "4k", "1,4", "yours", "reads"]
    assert line_of(drawn, "writes").split() == ["b", "writes"]
    assert "c.toml: no title" in drawn
    full = printed(draw(presets_view([rows[0]], (), in_full=True).document()))
    assert line_of(full, "iodepth").split(maxsplit=1)[1].strip() == "1, then 4"
    assert line_of(full, "direct").split() == ["direct", "yes"], "as it is typed"
    assert line_of(full, "/p") == "yours: /p"
    assert "packaged: " in printed(draw(presets_view([rows[1]], (), in_full=True).document()))


def test_sessions_are_listed_with_what_the_user_noted() -> None:
    assert "no sessions yet" in printed(draw_sessions([]))
    rows = [
        SessionRow(
            session="s",
            path="p",
            created_at=AT,
            runs=2,
            presets=("latency",),
            outcomes={"ok": 1, "lost": 1},
            tags=("hdd",),
            baseline=2,
            note="before",
            writing=True,
        ),
        SessionRow(session="t", path="p", error="session.json: broken"),
    ]
    drawn = printed(draw_sessions(rows))
    first = line_of(drawn, "latency")
    assert first.split()[3:] == ["2", "latency", "1", "ok,", "1", "lost", "(being", "written)"]
    assert "cluster" not in drawn
    assert "s: tags hdd; baseline #2; before" in drawn
    assert "t: session.json: broken" in drawn
    assert "cluster" in printed(draw_sessions([rows[0].model_copy(update={"cluster": "lab"})]))


def test_the_listing_of_sessions_leaves_out_what_has_no_room() -> None:
    row = SessionRow(
        session=f"{AT.astimezone():%Y-%m-%d-%H%M%S}",
        path="p",
        created_at=AT,
        runs=6,
        presets=("write-iops", "read-iops", "write-throughput"),
        outcomes={"ok": 4, "failed": 1, "stopped": 1},
        cluster="ceph 16.2.15",
        targets=("file:/mnt/pve/a-long-name-of-a-storage/test",),
        best_read_iops=120e3,
        best_write_iops=16.7e3,
        best_write_bandwidth_bytes=732 << 20,
    )
    wide = printed(draw_sessions([row]), 200)
    for word in ("…long-name-of-a-storage/test ", "r 120k  w 16.7k", "w 732 MiB/s", "ceph 16.2.15"):
        assert word in line_of(wide, row.session)
    narrow = printed(draw_sessions([row]), 80)
    assert narrow.splitlines()[0].split() == ["session", "best", "IOPS", "outcomes"]
    assert "r 120k  w 16.7k 4 ok, 1 failed, 1 stopped" in line_of(narrow, row.session)
    assert "2 targets" in printed(draw_sessions([row.model_copy(update={"targets": ("a", "b")})]), 200)


def test_info_names_what_is_not_installed() -> None:
    folders = {name: f"/{name}" for name in ("sessions", "config", "cache", "log")}
    value = Info(cephtui_version="1.2", python_version="3.11", tools={"fio": "fio-3.33"}, presets=("/p",), **folders)
    drawn = printed(draw(info_view(value).document()))
    assert line_of(drawn, "fio-3.33").split() == ["fio", "fio-3.33"]
    assert "not installed: apt-get install ioping" in line_of(drawn, "ioping")
    assert all(line_of(drawn, path) for path in (*folders.values(), "/p"))


# ---------------------------------------------------------------------------------------------- comparisons


def test_differences_that_do_not_fit_stand_at_the_end() -> None:
    left = recorded(options={f"option{number}": number for number in range(9)})
    right = recorded(2, options={f"option{number}": -number - 1 for number in range(9)})
    whole = printed(draw_comparison(Side((left,)), Side((right,))))
    short = printed(draw_comparison(Side((left,)), Side((right,)), most_differences=3))
    assert "6 more" not in whole
    assert "6 more" in short
    assert short.index("option2") < short.index("bandwidth") < short.index("option  option3")
    assert all(f"option{number}" in short for number in range(9))


def test_findings_are_named_with_their_run() -> None:
    left, right = recorded(findings=(finding("the run was short"),)), recorded(2)
    drawn = printed(draw_comparison(Side((left,)), Side((right,))))
    assert line_of(drawn, "the run was short").startswith("A: questionable (counted): ")
    assert "B: " not in drawn


def test_a_long_target_is_shown_by_its_end_and_a_short_one_whole() -> None:
    assert cutting.short_target("rbd:bench") == "rbd:bench"
    spec = "file:/var/lib/cephtui/scratch-0khf75_g/scratch"
    shown = cutting.short_target(spec)
    assert (len(shown), shown[0]) == (28, "…")
    assert spec.endswith(shown[1:])


def test_a_scratch_file_is_no_path() -> None:
    assert cutting.short_target(f"file:{paths.cache_dir()}/scratch-0khf75_g/scratch") == "a scratch file"


def test_what_came_again_is_told_once_with_its_times() -> None:
    def steal(node: str, begin: float, end: float) -> Finding:
        return STEAL.found((begin, end), node=node, ratio=0.09 + begin / 1e4)

    run = recorded(findings=(steal("a", 3, 17), steal("a", 27, 45), steal("b", 27, 45), finding("the run was short")))
    texts = [each.text for each in first_of_each(run.findings)]
    assert texts == [
        "a: the hypervisor took 9.0 % of the CPU time from 0:03 to 0:17; again 0:27 to 0:45",
        "b: the hypervisor took 9.3 % of the CPU time from 0:27 to 0:45",
        "the run was short",
    ]


def test_findings_that_differ_in_figures_alone_are_one_line_for_all_runs() -> None:
    def slow(osd: str, seconds: float) -> Finding:
        return Finding(code="slow", text=f"osd.{osd}: {seconds:g} s", values={"osd": osd, "seconds": seconds})

    runs = [
        recorded(number, findings=(slow("1", seconds), *(slow("2", 3.0) for _ in range(number == 3))))
        for number, seconds in ((1, 1.0), (2, 2.5), (3, 2.0))
    ]
    items = [plain_text(item) for item in finding_items(runs)]
    assert [item.partition(": ")[::2] for item in items] == [
        ("#1-3 questionable (counted)", "osd.1: 1 s; 2 more like it"),
        ("#3 questionable (counted)", "osd.2: 3 s"),
    ]


def test_what_moves_no_bytes_has_no_bandwidth() -> None:
    bandwidth = BY_NAME["bandwidth_bytes"]
    idle = Interval(ios=0, bytes=0, iops=0.0, bandwidth_bytes=0.0)

    assert bandwidth.text_of(Interval(ios=5, bytes=0, iops=5.0, bandwidth_bytes=0.0)) == "-"
    assert bandwidth.text_of(idle) == "0 B/s"
    assert bandwidth.text_of(Interval(ios=None, bytes=0, iops=None, bandwidth_bytes=0.0)) == "0 B/s"


def test_without_latencies_there_is_no_line_of_them_and_none_is_proposed() -> None:
    run = recorded(1, iops=100.0, p99=0.01)
    assert run.summary.write
    bare = total(ios=5, bytes=5, runtime_seconds=1, iops=5, bandwidth_bytes=5)

    for write, shown in ((run.summary.write, True), (bare, False)):
        text = printed(draw_run(run.model_copy(update={"summary": Summary(write=write)}), found=()))
        assert ("write clat" in text, "limit unknown" in text) == (shown, shown)


def test_presets_of_no_block_have_a_dash() -> None:
    (preset,) = packaged("network")
    row = PresetRow(preset="network", tool="iperf3", options=preset.file.options)
    assert printed(draw(presets_view([row], ()).document())).splitlines()[-1].split()[:3] == ["network", "-", "1"]
