"""Two runs beside each other: conditions, figures, words, table, and the command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.cells import cell_len
from rich.console import Console

from cephtui.analysis.runs.sides import Side, findings_with_runs, side_of, without_shared_runs
from cephtui.analysis.verdicts.conclusion import judge_sides
from cephtui.analysis.verdicts.conditions import differences
from cephtui.analysis.verdicts.figures import compared_figures
from cephtui.cli.verbs import cli
from cephtui.models import ClusterEnvironment, Finding, NodeEnvironment, Run, Summary, Total
from cephtui.models.metrics import BY_NAME, METRICS
from cephtui.models.rows import Figure
from cephtui.reports.views.comparison import about, change_text, none_differed
from cephtui.sessions import store
from tests.support import runs
from tests.support.drawings import comparison_markdown, draw_comparison, printed
from tests.support.golden import Golden
from tests.support.known import known
from tests.support.runs import IOPS, MIXED, SESSION, STARTED, WRITE_IOPS

NOW = datetime(2026, 11, 23, tzinfo=UTC)
FIGURES = tuple(metric.name for metric in METRICS)
CLUSTER = ClusterEnvironment(
    ceph_version="16.2.15",
    health="HEALTH_OK",
    osds=3,
    osds_up=3,
    osds_in=3,
    pg_states={"active+clean": 97},
    pool={"name": "bench", "size": 3, "quota_bytes": 1 << 30, "erasure_code_profile": None},
    osd_op_queue="mclock_scheduler",
    osd_mclock_profile="balanced",
    image_features=("layering", "exclusive-lock"),
)
NODE = NodeEnvironment(
    os="Debian 12", kernel="6.1", cpu="EPYC", cpu_count=8, memory_bytes=64 << 30, load_1m=0.1, tools={"fio": "fio-3.33"}
)


def total(iops: float | None = 1000.0, **figures: float | None) -> Total:
    """With all its figures."""
    latencies = {name: 0.01 for name in FIGURES if name.startswith("latency")}
    return runs.total(**{"iops": iops, "bandwidth_bytes": (iops or 0.0) * 4096, **latencies, **figures})


def run(number: int = 1, iops: float = 1000.0, **fields: Any) -> Run:
    """A run that wrote with all its figures, on a node and a cluster that are known; all began at the same time."""
    usual = {"cluster": CLUSTER, "environment": {"pve1": NODE}, "cephtui_version": "0.1.0", "started_at": STARTED}
    return runs.run(number, **{"write": total(iops), **usual, "duration_seconds": 0.0, **fields})


def side(*runs: Run) -> Side:
    return Side(runs)


def differing(left: Run, right: Run) -> dict[str, tuple[str, str]]:
    """What differed, in order."""
    return {f"{d.topic} {d.name}": (d.left, d.right) for d in differences(side(left), side(right))}


def figure(left: Side, right: Side, name: str = "iops", direction: str = "write") -> Figure:
    return next(f for f in compared_figures(left, right) if (f.name, f.direction) == (name, direction))


text_of = partial(printed, width=80)


# ---------------------------------------------------------------------------------------------- sides


def test_a_run_stands_with_its_repeats() -> None:
    chosen = run(3, repeat=2)
    session = [run(5, repeat=4), run(1), chosen, run(2, options={"rw": "randwrite", "bs": "8k"})]
    assert [each.run for each in side_of(chosen, session).runs] == [3, 1, 5]


@pytest.mark.parametrize(
    "change",
    [
        {"batch": "another"},
        {"preset": "latency"},
        {"target": "rbd:other"},
        {"nodes": runs.nodes("pve2")},
        {"outcome": "failed"},
        {"outcome": "lost"},
        {"outcome": "refused"},
        {"outcome": "stopped"},
        {"outcome": None},
        {"summary": Summary()},
    ],
    ids=str,
)
def test_what_is_set_up_otherwise_or_ended_badly_is_no_repeat(change: Mapping[str, Any]) -> None:
    chosen = run(1)
    assert side_of(chosen, [chosen, run(2, **change)]).runs == (chosen,)


@pytest.mark.parametrize("outcome", ["failed", "stopped", "lost", "refused", None])
def test_a_chosen_run_that_did_not_end_well_stands_alone(outcome: str | None) -> None:
    chosen = run(1, outcome=outcome)
    assert side_of(chosen, [chosen, run(2)]).runs == (chosen,)


def test_repeats_of_each_other_are_compared_alone() -> None:
    session = [run(1), run(2, repeat=2), run(3, batch="another")]
    sides = [side_of(each, session) for each in session]
    assert [[each.run for each in side.runs] for side in without_shared_runs(sides[0], sides[1])] == [[1], [2]]
    assert without_shared_runs(sides[0], sides[2]) == (sides[0], sides[2])


def test_a_side_without_figures_says_so() -> None:
    assert side(run(1)).problem is None
    assert side(run(1, outcome="refused", summary=Summary())).problem == "refused: no results"
    assert side(run(1, outcome=None, summary=Summary())).problem == "running: no results"
    assert side(run(7)).name == "tuning/7"


# ---------------------------------------------------------------------------------------------- conditions


def test_nothing_differs_between_a_run_and_its_like() -> None:
    assert differing(run(1), run(2, iops=5.0, batch="other", repeat=3, started_at=STARTED + timedelta(days=1))) == {}


def test_all_differences_are_listed_in_order() -> None:
    other = run(
        2,
        preset="mine",
        target="rbd:other",
        options={"rw": "randwrite", "bs": "4k", "iodepth": 32, "runtime": 30.5, "direct": False, "size": "1G"},
        environment={"pve1": NODE.model_copy(update={"kernel": "6.8", "tools": {"fio": "fio-3.39"}})},
        cephtui_version="0.2.0",
        findings=(Finding(code="recovery", text="r"),),
        outcome="stopped",
        write=total(runtime_seconds=30.0),
        cluster=CLUSTER.model_copy(update={"ceph_version": "19.2.0", "health": "HEALTH_WARN", "checks": ("slow",)}),
    )
    assert list(differing(run(1), other).items()) == [
        ("run preset", ("write-iops", "mine")),
        ("run target", ("rbd:bench", "rbd:other")),
        ("option iodepth", ("64", "32")),
        ("option runtime", ("60", "30.5")),
        ("option direct", ("yes", "no")),
        ("option size", ("-", "1G")),
        ("pve1 kernel", ("6.1", "6.8")),
        ("pve1 fio", ("fio-3.33", "fio-3.39")),
        ("cephtui version", ("0.1.0", "0.2.0")),
        ("finding recovery", ("no", "yes")),
        ("run outcome", ("ok", "stopped")),
        ("run measured", ("60 s", "30 s")),
        ("cluster ceph", ("16.2.15", "19.2.0")),
        ("cluster health", ("HEALTH_OK", "HEALTH_WARN")),
        ("cluster checks", ("none", "slow")),
    ]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"osds_up": 2}, {"cluster OSDs up": ("3", "2")}),
        ({"osds_in": None}, {"cluster OSDs in": ("3", "-")}),
        (
            {"pg_states": {"active+clean": 90, "active+degraded": 7}},
            {"cluster PGs active+clean": ("97", "90"), "cluster PGs active+degraded": ("0", "7")},
        ),
        ({"pg_states": {}}, {"cluster PGs active+clean": ("97", "-")}),
        ({"pool": {**CLUSTER.pool, "size": 2}}, {"cluster pool size": ("3", "2")}),
        ({"pool": {**CLUSTER.pool, "quota_bytes": None}}, {"cluster pool quota": ("1.00 GiB", "-")}),
        ({"osd_mclock_profile": "high_client_ops"}, {"cluster mclock profile": ("balanced", "high_client_ops")}),
        (
            {"osd_op_queue": "wpq"},
            {"cluster OSD queue": ("mclock_scheduler", "wpq"), "cluster mclock profile": ("balanced", "-")},
        ),
        ({"image_features": ("layering",)}, {"cluster image features": ("layering, exclusive-lock", "layering")}),
        ({"health": None}, {"cluster health": ("HEALTH_OK", "-"), "cluster checks": ("none", "-")}),
    ],
    ids=str,
)
def test_each_fact_of_the_cluster(change: Mapping[str, Any], expected: Mapping[str, tuple[str, str]]) -> None:
    assert differing(run(1), run(2, cluster=CLUSTER.model_copy(update=change))) == expected


SET = CLUSTER.model_copy(
    update={
        "config": {"osd osd_max_backfills": "1", "osd osd_op_queue": "wpq"},
        "osd_flags": ("sortbitwise",),
        "pool_settings": {"fast_read": "false"},
        "osds_by_class": {"hdd": 3},
    }
)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {"config": {"osd osd_op_num_shards_hdd": "8", "osd osd_max_backfills": "3"}},
            {"cluster osd osd_max_backfills": ("1", "3"), "cluster osd osd_op_num_shards_hdd": ("default", "8")},
        ),
        ({"config": {}}, {"cluster osd osd_max_backfills": ("1", "default")}),
        ({"config": None}, {}),
        ({"config": {"osd osd_max_backfills": "3", "osd x": "1"}, "config_more": 1},
         {"cluster osd osd_max_backfills": ("1", "3")}),
        ({"osd_flags": ("noout", "sortbitwise")}, {"cluster OSD flag noout": ("not set", "set")}),
        (
            {"pool_settings": {"fast_read": "false", "compression_mode": "force"}},
            {"cluster pool compression_mode": ("-", "force")},
        ),
        ({"config": None, "osd_flags": (), "pool_settings": {}, "osds_by_class": {}}, {}),
    ],
    ids=str,
)  # fmt: skip
def test_each_setting_of_the_cluster(change: Mapping[str, Any], expected: Mapping[str, tuple[str, str]]) -> None:
    """What one side does not know, such as that of an earlier version, is no difference."""
    assert differing(run(1, cluster=SET), run(2, cluster=SET.model_copy(update=change))) == expected


def test_the_osds_of_each_class_are_compared(golden: Golden) -> None:
    other = SET.model_copy(update={"osds_by_class": {"hdd": 2, "ssd": 1}})
    found = differing(run(1, cluster=SET), run(2, cluster=other))
    assert [*found.values()] == [("3", "2"), ("-", "1")]
    golden.same(found)


def test_pgs_that_are_being_split_are_counted_as_asked_for() -> None:
    splitting, done = (
        CLUSTER.model_copy(update={"pool": {**CLUSTER.pool, "pg_num": number, "pg_num_target": target}})
        for number, target in ((40, 64), (64, None))
    )
    assert differing(run(1, cluster=splitting), run(2, cluster=done)) == {}
    assert differing(run(1, cluster=splitting), run(2)) == {"cluster pool pg_num": ("64", "-")}


def test_settings_come_after_the_options_and_before_the_rest() -> None:
    first = run(1, cluster=SET, environment={"pve1": NODE.model_copy(update={"settings": {"vm.swappiness": "60"}})})
    other = run(
        2,
        options={**first.options, "iodepth": 1},
        cluster=SET.model_copy(update={"config": {}, "health": "HEALTH_WARN", "pool": {**CLUSTER.pool, "size": 2}}),
        environment={"pve1": NODE.model_copy(update={"settings": {"vm.swappiness": "1"}, "kernel": "6.8"})},
    )
    assert list(differing(first, other)) == [
        "option iodepth",
        "cluster osd osd_max_backfills",
        "cluster pool size",
        "pve1 vm.swappiness",
        "pve1 kernel",
        "cluster health",
    ]


def test_the_profile_of_a_queue_that_is_not_used_is_no_difference() -> None:
    queues = [CLUSTER.model_copy(update={"osd_op_queue": "wpq", "osd_mclock_profile": p}) for p in ("balanced", "x")]
    assert differing(run(1, cluster=queues[0]), run(2, cluster=queues[1])) == {}


def test_a_run_without_a_cluster_takes_one_line() -> None:
    assert differing(run(1, cluster=None), run(2)) == {"cluster state": ("-", "ceph 16.2.15, HEALTH_OK")}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"os": "Debian 13"}, {"pve1 os": ("Debian 12", "Debian 13")}),
        ({"cpu": None}, {"pve1 cpu": ("EPYC", "-")}),
        ({"cpu_count": 16}, {"pve1 cpus": ("8", "16")}),
        ({"memory_bytes": 32 << 30}, {"pve1 memory": ("64.0 GiB", "32.0 GiB")}),
        ({"filesystem": "xfs"}, {"pve1 filesystem": ("-", "xfs")}),
        ({"device": "/dev/sdb"}, {"pve1 device": ("-", "/dev/sdb")}),
        ({"nic_bits_per_second": {"eth0": 10**10}}, {"pve1 nic eth0": ("-", "10.0 Gbit/s")}),
        ({"nic_shaping": {"eth0": "tbf rate 80Mbit"}}, {"pve1 tc eth0": ("-", "tbf rate 80Mbit")}),
        ({"tools": {"fio": "fio-3.33", "ceph": "v", "rados-bench": "v"}}, {"pve1 ceph": ("-", "v")}),
        ({"tools": {"fio": "fio-3.33", "rados-bench": "another that did not run"}}, {}),
        ({"load_1m": 7.5}, {}),
        ({"settings": {"vm.swappiness": "1"}, "nic_mtu": {"eth0": 9000}}, {}),
    ],
    ids=str,
)
def test_each_fact_of_a_node(change: Mapping[str, Any], expected: Mapping[str, tuple[str, str]]) -> None:
    assert differing(run(1), run(2, environment={"pve1": NODE.model_copy(update=change)})) == expected


def test_the_settings_of_a_node() -> None:
    def on(settings: dict[str, str], mtu: int) -> Run:
        return run(1, environment={"pve1": NODE.model_copy(update={"settings": settings, "nic_mtu": {"eth0": mtu}})})

    assert differing(
        on({"vm.swappiness": "60", "queue/scheduler": "none"}, 1500),
        on({"vm.swappiness": "60", "queue/scheduler": "mq-deadline", "kernel.pid_max": "1"}, 9000),
    ) == {
        "pve1 queue/scheduler": ("none", "mq-deadline"),
        "pve1 kernel.pid_max": ("-", "1"),
        "pve1 nic eth0 MTU": ("1500", "9000"),
    }


def test_nodes_are_compared_by_name_then_in_their_order() -> None:
    def on(**kernels: str) -> Run:
        facts = {name: NODE.model_copy(update={"kernel": kernel}) for name, kernel in kernels.items()}
        return run(1, nodes=runs.nodes(*kernels), environment=facts)

    assert differing(on(a="1", b="2", c="3"), on(b="9", d="4")) == {
        "nodes names": ("a, b, c", "b, d"),
        "b kernel": ("2", "9"),
        "a / d kernel": ("1", "4"),
    }


def test_a_timer_that_ends_a_little_later_is_no_difference() -> None:
    def lasting(seconds: float) -> Run:
        return run(1, write=total(runtime_seconds=seconds))

    assert differing(lasting(20.4), lasting(20.6)) == {}
    assert differing(lasting(600.0), lasting(610.0)) == {}
    assert differing(lasting(20.0), lasting(22.0)) == {"run measured": ("20 s", "22 s")}
    assert differing(lasting(20.0), run(2, summary=Summary())) == {"run measured": ("20 s", "-")}


def test_findings_of_repeats_count_and_say_in_how_many_runs(golden: Golden) -> None:
    scrub = (Finding(code="scrub", text="2 PGs were being scrubbed"),)
    left, right = side(run(1, findings=scrub), run(2, findings=scrub)), side(run(3, batch="c"), run(4, findings=scrub))
    found = differences(left, right)
    assert [(d.name, d.left) for d in found] == [("scrub", "yes")]
    golden.same(found[0].right)
    assert differences(left, side(run(3, findings=scrub))) == []
    assert [text for _, text in findings_with_runs(left)] == [""]
    golden.same([text for _, text in findings_with_runs(right)])


# ---------------------------------------------------------------------------------------------- figures


@pytest.mark.parametrize(
    ("name", "before", "after", "change"),
    [
        ("iops", 1000.0, 1100.0, 0.1),
        ("iops", 1000.0, 900.0, -0.1),
        ("latency_p99_seconds", 0.01, 0.02, 1.0),
        ("latency_max_seconds", 0.02, 0.02, 0.0),
        ("iops", 1000.0, 1004.9, 0.0049),
        ("iops", 0.0, 0.0, 0.0),
        ("iops", 0.0, 5.0, None),
        ("iops", 5.0, 0.0, -1.0),
        ("latency_p50_seconds", 0.0, 0.1, None),
        ("latency_p50_seconds", None, 0.1, None),
        ("latency_p50_seconds", 0.1, None, None),
        ("latency_p50_seconds", None, None, None),
        ("iops", 5e-324, 1e56, None),
    ],
)
def test_a_change_is_a_number_and_no_word(
    name: str, before: float | None, after: float | None, change: float | None
) -> None:
    left, right = (side(run(1, write=total(**{name: value}))) for value in (before, after))
    found = figure(left, right, name)
    assert (found.left, found.right, found.better) == (before, after, None)
    assert found.change_fraction == (None if change is None else pytest.approx(change, abs=1e-9))


def test_several_runs_are_their_geometric_mean() -> None:
    def slow(number: int, iops: float, seconds: float) -> Run:
        names = ("latency_mean_seconds", "latency_p99_seconds", "latency_max_seconds")
        return run(number, write=total(iops, **dict.fromkeys(names, seconds)))

    left, right = side(slow(1, 500, 0.1), slow(2, 1000, 0.2), slow(3, 2000, 1.6)), side(slow(4, 1100, 0.2))
    iops = figure(left, right)
    assert iops.left == pytest.approx(1000)
    assert iops.change_fraction == pytest.approx(0.1)
    assert (iops.left_spread, iops.right_spread) == ((500.0, 2000.0), None)
    for name in ("latency_mean_seconds", "latency_p99_seconds", "latency_max_seconds"):
        assert figure(left, right, name).left == pytest.approx(0.032 ** (1 / 3))
        assert figure(left, right, name).left_spread == (0.1, 1.6)


def test_a_repeat_without_a_figure_is_left_out_of_it() -> None:
    def with_p99(number: int, seconds: float | None) -> Run:
        return run(number, write=total(latency_p99_seconds=seconds))

    found = figure(side(with_p99(1, None), with_p99(2, 0.3)), side(with_p99(3, None)), "latency_p99_seconds")
    assert (found.left, found.left_spread, found.right, found.better) == (0.3, None, None, None)


def test_directions_of_either_side_are_there() -> None:
    reads, writes = run(1, summary=Summary(read=total())), run(2)
    found = compared_figures(side(reads), side(writes))
    assert [(f.direction, f.name) for f in found] == [(d, name) for d in ("read", "write") for name in FIGURES]
    assert all((f.left is None) == (f.direction == "write") and f.better is None for f in found)
    assert compared_figures(side(run(1, summary=Summary())), side(run(2, summary=Summary()))) == []


@pytest.mark.parametrize(
    ("code", "spoiled"),
    [("recovery", FIGURES), ("never seen before", FIGURES), ("in-flight", ("iops",)), ("space", ())],
)
def test_a_finding_is_named_at_the_figures_that_it_spoils(code: str, spoiled: tuple[str, ...]) -> None:
    found = compared_figures(side(run(1)), side(run(2), run(3, findings=(Finding(code=code, text="t"),))))
    assert tuple(f.name for f in found if f.right_findings == (code,)) == spoiled
    assert all(not f.left_findings for f in found)


def test_what_is_shown_is_said_plainly(golden: Golden) -> None:
    alone, pair = side(run(1)), side(run(1), run(2))
    empty = side(run(1, outcome="failed", summary=Summary()))
    assert about(alone, alone) == about(alone, pair) == []
    golden.same(about(alone, empty))
    golden.same(about(empty, empty))


def test_other_operations_are_not_compared(golden: Golden) -> None:
    other = side(run(2, options={**run(1).options, "bs": "1M", "rw": "write"}))
    golden.same(about(side(run(1)), other))
    deeper = side(run(2, options={**run(1).options, "iodepth": 1, "numjobs": 2}))
    assert about(side(run(1)), deeper) == []


# ---------------------------------------------------------------------------------------------- table


def shown(left: Side, right: Side, **options: Any) -> list[str]:
    judged = judge_sides(left, right, lambda run: BY_NAME["iops"], NOW)
    return [line.rstrip() for line in text_of(draw_comparison(left, right, judged, **options)).splitlines()]


def test_what_is_shown_stands_first_then_differences_figures_and_findings() -> None:
    marked = run(2, 1123.0, target="rbd:other", findings=(Finding(code="recovery", text="7 % degraded [x]"),))
    lines = shown(side(run(1)), side(marked))
    assert lines[0].startswith("session tuning, write-iops: 4k randwrite")
    order = [
        "A #1",
        "B #2",
        "write-iops  INCONCLUSIVE: 1 run per side: too few for a verdict (3 needed)",
        "  write IOPS 1.00k -> 1.12k, +12.3 %",
        "run     target",
        "finding recovery",
        "IOPS",
        "B: questionable (counted): 7 % degraded [x]",
    ]
    positions = [next(i for i, line in enumerate(lines) if line.startswith(words)) for words in order]
    assert positions == sorted(positions)
    assert "IOPS            1.00k      1.12k! +12.3 %" in lines


@pytest.mark.parametrize(
    ("iops", "words"), [(1123.0, "+12.3 %"), (950.0, "-5.0 %"), (1003.0, "+0.3 %"), (999.99, "0.0 %")]
)
def test_of_one_run_each_a_change_has_no_arrow(iops: float, words: str) -> None:
    line = next(line for line in shown(side(run(1)), side(run(2, iops))) if line.startswith("IOPS"))
    assert line.split()[3:] == words.split()


def several(values: Sequence[float], first: int = 1, **changes: Any) -> Side:
    return side(*(run(number, value, **changes) for number, value in enumerate(values, first)))


@pytest.mark.parametrize(
    ("iops", "arrow"),
    [
        ([1100.0, 1120.0, 1110.0], "▲"),
        ([900.0, 910.0, 890.0], "▼"),
        ([1000.0, 1500.0, 1010.0], ""),
        ([1100.0, 1110.0], ""),
    ],
)
def test_a_change_that_the_runs_show_has_an_arrow(iops: list[float], arrow: str) -> None:
    sides = several([1000, 1010, 990]), several(iops, 4)
    change = change_text(figure(*sides))
    assert change.startswith(f"{arrow} " if arrow else "+")
    verdict = known(judge_sides(*sides, lambda _: IOPS, STARTED)).deciding[0]
    assert bool(arrow) == (verdict.differs is not None), "the table says what the verdict says"


def test_runs_that_do_not_count_show_no_change() -> None:
    thin = Finding(code="thin", text="the image is thin")
    sides = several([1000, 1010, 990]), several([1100, 1120, 1110], 4, findings=(thin,))
    assert figure(*sides).shown is None


def test_what_is_not_comparable_has_no_change() -> None:
    sides = several([1000, 1010, 990]), several([100, 110, 90], 4, options={**run(1).options, "bs": "1M"})
    assert {(each.same_load, each.shown, change_text(each)) for each in compared_figures(*sides)} == {
        (False, None, "-")
    }
    lines = shown(*sides)
    assert not set("▲▼") & set("".join(lines))
    assert next(line for line in lines if line.startswith("write  ")).split()[:4] == ["write", "A", "B", "range"]
    assert "| change |" not in comparison_markdown(*sides)
    assert "| change |" in comparison_markdown(sides[0], several([100], 4))


def test_nothing_is_called_better_or_worse() -> None:
    slower = run(2, 500.0, write=total(500.0, latency_p99_seconds=0.02))
    text = "\n".join(shown(side(run(1)), side(slower)) + shown(side(slower), side(run(1))))
    assert " +100.0 %" in text
    assert not set(text.split()) & {"better", "worse", "same"}
    assert text.count("INCONCLUSIVE: 1 run per side: too few for a verdict") == 2


def styles(left: Side, right: Side) -> dict[str, list[str]]:
    """Of the row of IOPS, by the style the words in it."""
    console = Console(file=StringIO(), width=120, force_terminal=True, color_system="truecolor")
    found: dict[str, list[str]] = {}
    for segments in console.render_lines(draw_comparison(left, right)):
        if segments[0].text.startswith("IOPS"):
            for text, style, _ in segments:
                found.setdefault(str(style), []).append(text.strip())
    return found


def test_a_change_has_no_colour_and_what_is_not_comparable_is_grey() -> None:
    three = [run(number, batch=batch) for number, batch in enumerate("aabb", 1)]
    repeated = styles(side(*three[:2]), side(*three[2:]))
    assert repeated["dim"] == ["0.0 %"]
    alone = styles(side(run(1)), side(run(2, 500.0)))
    assert alone["dim"] == ["1.00k", "500", "-50.0 %"]
    other = run(3, options={**run(1).options, "bs": "1M"})
    assert len(styles(side(*three[:2]), side(other, other))["dim"]) == 2
    assert not {style for style in {**repeated, **alone} if "green" in style or "red" in style}


def test_in_ascii_mode_everything_is_ascii() -> None:
    lines = shown(several([1000] * 3), several([1250] * 3, 4), ascii_only=True)
    assert "".join(lines).isascii()
    assert any("^ +25.0 %" in line for line in lines)


def test_from_zero_there_is_no_percentage() -> None:
    lines = shown(side(run(1, 0.0)), side(run(2, 10.0)))
    assert next(line for line in lines if line.startswith("IOPS")).split()[-1] == "-"


def test_the_spread_is_shown_where_a_side_has_repeats() -> None:
    alone, repeated = side(run(1)), side(run(2, 1000), run(3, 1250))
    assert not any("range of" in line for line in shown(alone, alone))
    lines = shown(alone, repeated)
    assert any(line.endswith("range of B") for line in lines)
    assert not any("range of A" in line for line in lines)
    assert next(line for line in lines if line.startswith("IOPS")).endswith("1.00k..1.25k")
    assert next(line for line in lines if line.startswith("bandwidth")).endswith("3.91..4.88 MiB/s")
    assert next(line for line in lines if line.startswith("clat p99 ")).endswith("10.0 ms")


def test_what_was_not_asked_is_not_said_to_be_alike(golden: Golden) -> None:
    known, unknown = run(1), run(2).model_copy(update={"cluster": None})
    log = unknown.model_copy(update={"imported_from": "x.txt:1"})
    texts = [none_differed(runs) for runs in ([known], [unknown], [known, unknown], [known, log])]
    golden.same(texts)
    assert ["queried" in text for text in texts] == [False, True, True, False]
    (line,) = (line for line in shown(side(unknown), side(unknown)) if line.startswith("no difference"))
    assert line == texts[1]
    assert texts[1] in comparison_markdown(side(unknown), side(unknown))


def test_where_nothing_differed_it_says_so() -> None:
    assert "no difference in parameters, nodes, versions and cluster" in shown(side(run(1)), side(run(2)))


def test_the_build_is_shown_where_the_version_is_the_same() -> None:
    def with_ceph(text: str) -> Side:
        return side(run(1, environment={"pve1": NODE.model_copy(update={"tools": {"ceph": text}})}))

    first, second, newer = (f"ceph version {v} pacific (stable)" for v in ("16.2.15 (aaa)", "16.2.15 (bbb)", "19 (c)"))
    assert any(line.split()[-2:] == ["16.2.15", "19"] for line in shown(with_ceph(first), with_ceph(newer)))
    text = " ".join(shown(with_ceph(first), with_ceph(second)))
    assert "(aaa)" in text
    assert "(bbb)" in text


def test_many_differences_leave_room_for_the_figures_and_continue_at_the_end() -> None:
    options = {f"option{number}": str(number) for number in range(8)}
    left, right = side(run(1)), side(run(2, options={**run(1).options, **options}))
    lines = shown(left, right, most_differences=3)
    first = next(i for i, line in enumerate(lines) if "5 more differences" in line)
    figures_at = next(i for i, line in enumerate(lines) if line.startswith("IOPS"))
    assert [line for line in lines[:first] if line.startswith("option")] == [
        f"option  option{n} - {n}" for n in range(3)
    ]
    assert first < figures_at
    assert [line for line in lines[figures_at:] if line.startswith("option  ")] == [
        f"option  option{n} - {n}" for n in range(3, 8)
    ]
    assert not any("more differences" in line for line in shown(left, right, most_differences=7))


def test_a_run_without_figures_is_shown_as_such(golden: Golden) -> None:
    failed = side(run(9, outcome="failed", summary=Summary()))
    lines = shown(side(run(1)), failed)
    assert lines[0].startswith("session tuning, ")
    assert lines[2].startswith("B #9")
    golden.same(lines[3])
    golden.same(line for line in lines[4:] if "no results" in line)
    golden.same(shown(failed, failed)[-1])


@pytest.mark.parametrize("width", [78, 80])
def test_the_worst_case_fits_the_width(width: int) -> None:
    finding = (Finding(code="recovery", text="of the objects 7.2 % degraded, 100 MiB/s of recovery during the run"),)

    def wide(number: int, factor: float) -> Run:
        figures = {name: 0.0123456 * factor for name in FIGURES if name.startswith("latency")}
        return run(number, write=total(16700 * factor, **figures), findings=finding)

    left, right = side(wide(1, 1.0), wide(2, 1.1)), side(wide(3, 0.0127), wide(4, 0.0131))
    text = text_of(draw_comparison(left, right), width=width)
    rows = [line.split()[0] for line in text.splitlines() if line.strip()]
    first = rows.index("IOPS")
    assert rows[first : first + 2] == ["IOPS", "bandwidth"]
    names = [line.split()[1] for line in text.splitlines() if line.startswith("clat ")]
    assert names == ["mean", "p50", "p95", "p99", "p99.9", "max"]  # each in one row
    assert max(cell_len(line) for line in text.splitlines()) <= width
    for words in (
        "-98.8 %",
        "12.3..13.6 ms",
        "157..162 us",
        "16.7k..18.4k",
        "B: questionable (counted): of the objects",
    ):
        assert words in text


# ---------------------------------------------------------------------------------------------- command


@pytest.fixture
def data(tmp_path: Path) -> Path:
    shutil.copytree(SESSION, tmp_path / "sessions" / "replay")
    shutil.copytree(SESSION / f"{WRITE_IOPS:03}", tmp_path / "sessions" / "replay" / "003")
    return tmp_path


def cephtui(data: Path, *args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    own = {"CEPHTUI_DATA_DIR": str(data), "XDG_STATE_HOME": str(data), "XDG_CONFIG_HOME": str(data), "COLUMNS": "80"}
    return subprocess.run(
        [sys.executable, "-m", "cephtui", *args],
        capture_output=True,
        text=True,
        env={**os.environ, **own, **environment},
        check=False,
    )


def test_the_command_prints_the_table(data: Path) -> None:
    done = cephtui(data, "compare", f"replay/{WRITE_IOPS}", f"replay/{MIXED}")
    assert (done.returncode, done.stderr) == (0, "")
    directory = data / "sessions" / "replay"
    runs = store.read_runs(directory)[0]
    left, right = (side_of(store.read_run(directory, number), runs) for number in (WRITE_IOPS, MIXED))
    assert done.stdout.split() == text_of(draw_comparison(left, right)).split()


def test_the_command_gives_json_lines(data: Path) -> None:
    done = cephtui(data, "compare", f"replay/{MIXED}", f"replay/{WRITE_IOPS}", "--json")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["event"] for row in rows] == ["difference"] * 4 + ["figure"] * 16
    assert {"topic": "option", "name": "numjobs", "left": "1", "right": "8"}.items() <= rows[2].items()
    written = next(row for row in rows[4:] if (row["direction"], row["name"]) == ("write", "iops"))
    assert written["better"] is None
    assert written["change_fraction"] == pytest.approx(written["right"] / written["left"] - 1)
    assert (written["same_load"], written["shown"]) == (False, None), "reads and writes against writes"
    assert written["left_spread"] is None


def test_a_wrong_run_is_named_with_the_next_step(data: Path, golden: Golden) -> None:
    for what in ("replay/x", "replay/9", "nope/1"):
        done = CliRunner(env={"CEPHTUI_DATA_DIR": str(data)}).invoke(cli, ["compare", "replay/1", what])
        assert done.exit_code == 2
        message = done.output.splitlines()[-1].removeprefix("Error: ")
        golden.same(message)
    last = cephtui(data, "compare", "replay/1", what)
    assert (last.returncode, last.stdout, last.stderr) == (2, "", f"cephtui: {message}\n")


def test_a_broken_run_is_named(data: Path) -> None:
    (data / "sessions" / "replay" / "003" / "run.json").write_text("{")
    done = cephtui(data, "compare", "replay/1", "replay/3")
    assert done.returncode == 1
    assert "003/run.json" in done.stderr


COMPLETIONS = {
    "": ["other/", "replay/", "last/", "demo/"],
    "last/": ["last/1", "last/2", "last/3"],
    "rep": ["replay/1", "replay/2", "replay/3"],
    "replay/": ["replay/1", "replay/2", "replay/3"],
    "replay/2": ["replay/2"],
    "none/": [],
}


def test_the_shell_completes_sessions_and_their_runs(data: Path) -> None:
    (data / "sessions" / "other").mkdir()
    for typed, expected in COMPLETIONS.items():
        words = {"COMP_WORDS": f"cephtui compare {typed}", "COMP_CWORD": "2", "_CEPHTUI_COMPLETE": "bash_complete"}
        done = CliRunner(env={**words, "CEPHTUI_DATA_DIR": str(data)}).invoke(cli, prog_name="cephtui")
        assert done.exit_code == 0
        assert [line.removeprefix("plain,") for line in done.output.split()] == expected, typed


def test_options_that_differ_stand_in_the_line_of_each_side() -> None:
    options = {"rw": "randwrite", "bs": "4k", "iodepth": 4, "numjobs": 1, "runtime": 4.0}
    left, right = (
        Side((run(number, options=options | own),)) for number, own in ((1, {"fsync": 8}), (2, {"fdatasync": 4}))
    )
    lines = text_of(draw_comparison(left, right), width=120).splitlines()
    assert ["fsync=8" in lines[1], "fdatasync=4" in lines[2]] == [True, True]


def test_an_arrow_stands_only_where_the_verdict_shows_a_difference() -> None:
    """By itself the figure differs; of all that decide together (Holm), or at this look, it may not."""
    sides = several([1000, 1010, 990]), several([900, 910, 890], 4)
    (verdict, *_) = known(judge_sides(*sides, lambda _: IOPS, STARTED)).deciding
    changed = [
        verdict,
        verdict.model_copy(update={"differs": None}),
        verdict.model_copy(update={"decides": False, "differs": None}),
        verdict.model_copy(update={"decides": False, "interval": (0.7, 1.1)}),
    ]
    assert [each.shown for each in changed] == ["less", None, "less", None]
    for each in changed:
        figures = compared_figures(*sides, [each])
        assert [row.shown for row in figures if (row.direction, row.name) == ("write", "iops")] == [each.shown]
