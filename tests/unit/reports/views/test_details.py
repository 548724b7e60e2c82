"""What a run has beside its figures: its jobs, how deep its queue was, CPU and disks."""

from __future__ import annotations

import re
from functools import partial
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui import stats
from cephtui.analysis.runs.sides import Side
from cephtui.analysis.runs.stages import is_capped
from cephtui.analysis.verdicts.conclusion import judge_sides
from cephtui.models import Commits, DiskUse, Finding, JobResult, MachineUse, NodeResult, OsdResult, Run, Stages
from cephtui.models.findings.cluster import MESSAGE_CAP
from cephtui.models.verdict import StageChange
from cephtui.reports.render.rich import draw
from cephtui.reports.views.comparison import comparison_document
from cephtui.reports.views.jobs import job_blocks, job_rows, sum_note
from cephtui.reports.views.judgement import judgement_view
from cephtui.reports.views.osds import osd_blocks
from cephtui.reports.views.stages import stage_blocks
from cephtui.reports.words.run import client_facts, depth_text, reported_text
from cephtui.reports.words.stages import commits_text, moved_line, named_stages, round_trips_text, stage_shares
from cephtui.reports.words.text import began, spread
from cephtui.stats import Flow
from tests.support.drawings import draw_run, printed
from tests.support.golden import Golden
from tests.support.known import known
from tests.support.runs import IOPS, STARTED, recorded, run, total

text_of = partial(printed, width=120)


# ---------------------------------------------------------------------------------------------- OSDs


def osd(share: float, seconds: float, refused: int = 0) -> OsdResult:
    return OsdResult(
        share=share,
        reads=0,
        read_seconds=None,
        writes=52_481,
        write_seconds=seconds,
        queue_seconds=0.0003,
        commits=90_000,
        commit_seconds=seconds / 2,
        subops=40_000,
        subop_seconds=seconds / 2,
        received=60_000,
        refused=refused,
    )


def test_a_run_in_full_has_its_osds(golden: Golden) -> None:
    slow = Finding(code="slow-osd", text="osd.11 was slow", values={"osd": "osd.11"})
    run = recorded(osds={"0": osd(0.64, 0.0093), "11": osd(0.36, 0.084, 20_000)}, findings=(slow,))
    golden.same(text_of(draw([*osd_blocks({"": run})])))
    assert osd_blocks({"": recorded()}) == ()


def test_each_osd_of_a_finding_is_marked() -> None:
    slow = Finding(code="slow-osd", text="osd.0, osd.11 were slow", values={"osds": ("osd.0", "osd.11")})
    run = recorded(osds={name: osd(0.3, 0.0093) for name in ("0", "5", "11")}, findings=(slow,))
    lines = text_of(draw([*osd_blocks({"": run})])).splitlines()
    assert [line.split()[0] for line in lines if "▼ slow" in line] == ["osd.0", "osd.11"]


# ---------------------------------------------------------------------------------------------- stages


def stages(*milliseconds: float, operations: int = 18_948) -> Stages:
    outside, queue, prepare, store = (part / 1000 for part in milliseconds)
    return Stages(
        ios=18_940,
        operations=operations,
        outside_seconds=outside,
        queue_seconds=queue,
        prepare_seconds=prepare,
        store_seconds=store,
    )


def test_a_run_in_full_has_where_the_latency_goes(golden: Golden) -> None:
    both = {"read": stages(0.6, 0.02, 0.0, 1.5, operations=25_000), "write": stages(3.06, 0.3, 0.34, 9.1)}
    golden.same(text_of(draw([*stage_blocks({"": recorded(stages=both)})])))
    assert stage_blocks({"": recorded()}) == ()


@pytest.mark.parametrize(
    ("parts", "line"),
    [
        ((2.27, 3.39, 0.02), "5.79 ms: 59 % commit of the key-value store, 39 % queue before it"),
        (
            (0.1, 4.0, 1.5),
            "5.79 ms: 69 % commit of the key-value store, 26 % held by the throttle, 3 % the rest",
        ),
    ],
)
def test_what_a_commit_of_bluestore_takes(parts: tuple[float, ...], line: str) -> None:
    queue, commit, throttle = (part / 1000 for part in parts)
    of = {"kv_queue_seconds": queue, "kv_commit_seconds": commit, "throttle_seconds": throttle}
    commits = Commits(commits=9, commit_seconds=0.00579, **of)
    assert commits_text(commits, "#2") == f"#2: a commit of BlueStore took {line}"
    blocks = stage_blocks({"": recorded(stages={"write": stages(3.06, 0.3, 0.34, 9.1)}, commits=commits)})
    assert line in " ".join(text_of(draw([*blocks])).split())


@pytest.mark.parametrize(
    ("parts", "line"),
    [
        ((3.06, 0.3, 0.34, 9.1), "slowest copy 71 %, network and client 24 %, preparation 3 %, queue 2 %"),
        ((110.0, 66.0, 1.7, 178.4), "slowest copy 50 %, network and client 31 %, queue 19 %"),
        ((1.0, 0.01, 0.01, 1.0), "network and client 50 %, slowest copy 50 %, rest 1 %"),
        ((0.0, 0.0, 0.0, 0.0), ""),
    ],
)
def test_where_the_latency_goes_by_shares(parts: tuple[float, ...], line: str) -> None:
    shares = stage_shares(named_stages(stages(*parts), "write"))
    assert ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares) == line


def test_the_round_trip_is_what_is_known_of_the_first_stage() -> None:
    def node(name: str, *trips: float) -> NodeResult:
        use = MachineUse(round_trips_seconds={f"10.0.0.{at}": trip for at, trip in enumerate(trips)})
        return NodeResult(node=name, command="fio", outcome="ok", machine=use)

    split = {"write": stages(3.06, 0.3, 0.34, 9.1)}
    nodes = (node("pve1", 0.0021, 0.0001), node("pve2", 0.00025), node("pve3"))
    assert round_trips_text([recorded(stages=split, nodes=nodes)]) == (
        "a round trip from pve1, pve2 to the OSDs takes 100 us to 250 us at least"
    )
    assert round_trips_text([recorded(stages=split, nodes=(node("pve3"),))]) == ""
    (line,) = [text for text in stage_blocks({"": recorded(stages=split, nodes=nodes[1:2])}) if "trip" in str(text)]
    assert "a round trip from pve2 to the OSDs takes 250 us at least" in str(line)


def test_what_waits_behind_the_message_cap_has_no_stage_of_its_own() -> None:
    named = named_stages(stages(90, 0, 0, 10), "read", is_capped=is_capped([MESSAGE_CAP.found(share=0.2)]))
    assert stage_shares(named) == [("network, client and message cap", 0.9), ("reading", 0.1)]


@pytest.mark.parametrize(
    ("after", "line"),
    [
        ((3.0, 0.3, 0.3, 3.2), "slowest copy 9.10 ms -> 3.20 ms, the rest as before"),
        (
            (13.0, 0.3, 0.3, 3.2),
            "network and client 3.00 ms -> 13.0 ms, slowest copy 9.10 ms -> 3.20 ms, the rest as before",
        ),
        ((3.1, 0.3, 0.3, 9.3), "each stage as before"),
    ],
)
def test_the_stages_that_a_change_has_moved(after: tuple[float, ...], line: str) -> None:
    change = StageChange(preset="p", direction="write", before=stages(3.0, 0.3, 0.3, 9.1), after=stages(*after))
    assert moved_line(change) == f"write latency: {line}"


def test_a_verdict_says_which_stage_the_change_has_moved() -> None:
    def side(store: float, first: int) -> tuple[Run, ...]:
        split = {"write": stages(3.0, 0.3, 0.3, store)}
        return tuple(recorded(number, stages=split) for number in range(first, first + 3))

    judged = known(judge_sides(Side(side(9.1, 1)), Side(side(3.2, 4)), lambda _: IOPS, STARTED))
    assert "\nwrite latency: slowest copy 9.10 ms -> 3.20 ms, the rest as before\n" in printed(
        draw(judgement_view(judged).document())
    )
    assert judged.conclusion.stages[0].after.store_seconds == pytest.approx(0.0032)
    without = known(judge_sides(Side((recorded(1),)), Side((recorded(2),)), lambda _: IOPS, STARTED))
    assert without.conclusion.stages == ()


def test_two_runs_beside_each_other_have_the_stage_that_differs() -> None:
    left, right = (Side((recorded(stages={"write": stages(3.0, 0.3, 0.3, store)}),)) for store in (9.1, 3.2))
    text = text_of(draw(comparison_document(left, right)))
    assert "write latency: slowest copy 9.10 ms -> 3.20 ms, the rest as before" in text


# ---------------------------------------------------------------------------------------------- jobs

Job = tuple[int, float]
"""I/Os of 4 KiB, and the seconds that they took."""


def of_jobs(nodes: dict[str, list[Job]], *, images: bool = False, direction: str = "write") -> Run:
    """A run of jobs that were measured apart, by node."""
    number = count(1)
    flows = {node: [of_job(job) for job in jobs] for node, jobs in nodes.items()}
    results = tuple(
        NodeResult(
            node=node,
            command="fio",
            summary=stats.summarise([{direction: flow} for flow in parts]),
            jobs=tuple(
                JobResult(
                    job=f"w {place}",
                    image=f"image-{next(number)}" if images else None,
                    summary=stats.summarise([{direction: flow}]),
                )
                for place, flow in enumerate(parts, 1)
            ),
        )
        for node, parts in flows.items()
    )
    added = [{direction: known(stats.add_flows(parts))} for parts in flows.values()]
    return recorded(nodes=results, summary=stats.summarise(added, histogram=True))


def of_job(job: Job) -> Flow:
    ios, seconds = job
    moments = stats.Moments(ios, 0.001, 0.0)
    return Flow(ios, 4096 * ios, seconds, ios / seconds, 4096 * ios / seconds, {}, moments, (0.001, 0.001))


JOBS = st.lists(st.tuples(st.integers(1, 10**6), st.floats(0.01, 1e4)), min_size=1, max_size=5)


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), JOBS, min_size=1))
def test_the_rate_of_all_jobs_on_all_nodes_is_all_ios_over_the_longest_time(nodes: dict[str, list[Job]]) -> None:
    """In whatever order jobs and nodes are added up."""
    run = of_jobs(nodes)
    every = [job for jobs in nodes.values() for job in jobs]
    total = known(run.summary.write)
    assert total.ios == sum(ios for ios, _ in every)
    assert total.iops == pytest.approx(total.ios / max(seconds for _, seconds in every))
    rows = job_rows(run)
    assert sum(known(row.total.ios) for row in rows) == total.ios
    assert sum(known(row.share) for row in rows) == pytest.approx(1)
    rates = [known(row.total.iops) for row in rows]
    marked = {row.word: known(row.total.iops) for row in rows if row.word}
    assert marked == ({"most": max(rates), "least": min(rates)} if min(rates) < max(rates) else {})
    more = sum(ios / seconds for ios, seconds in every) > known(total.iops) * 1.001
    assert bool(sum_note(run, rows)) == more


def test_each_job_has_a_line_and_the_least_and_the_most_are_named(golden: Golden) -> None:
    run = of_jobs({"local": [(300, 1.0), (200, 2.0), (250, 2.0)]})
    lines = text_of(draw([*job_blocks(run)])).splitlines()
    assert [" ".join(line.split()) for line in lines[:5]] == [
        "job IOPS bandwidth clat mean clat p99 run time share",
        "w 1 write 300 1.17 MiB/s 1.00 ms - 1.0 s 40.0 % ▲ most",
        "w 2 write 100 400 KiB/s 1.00 ms - 2.0 s 26.7 % ▼ least",
        "w 3 write 125 500 KiB/s 1.00 ms - 2.0 s 33.3 %",
        "all write 375 1.46 MiB/s 1.00 ms - 2.0 s 100.0 %",
    ]
    assert "write 525 (+40.0 %)" in " ".join(lines[5:])
    golden.same(" ".join(lines[5:]))


def test_jobs_on_images_of_several_nodes_are_named_by_both_where_there_is_room() -> None:
    run = of_jobs({"lab1": [(100, 1.0), (100, 1.0)], "lab2": [(90, 1.0), (110, 1.0)]}, images=True)
    wide, narrow = text_of(draw([*job_blocks(run)])), text_of(draw([*job_blocks(run)], ascii_only=True), width=75)
    assert wide.splitlines()[3].split()[:5] == ["lab2", "w", "1", "image-3", "write"]
    assert "image-" not in narrow
    assert narrow.splitlines()[3].split()[:4] == ["lab2", "w", "1", "write"]
    assert narrow.isascii()
    assert max(map(len, narrow.splitlines())) <= 75
    assert sum_note(run, job_rows(run)) == ""


def test_jobs_that_are_alike_are_not_marked_and_grouped_ones_have_no_table() -> None:
    rows = job_rows(of_jobs({"local": [(100, 2.0), (100, 2.0)]}))
    assert [row.word for row in rows] == ["", ""]
    assert list(job_blocks(recorded())) == []


def test_more_jobs_than_can_be_read_are_counted() -> None:
    run = of_jobs({"local": [(100 + number, 1.0) for number in range(150)]})
    drawn = text_of(draw_run(run))
    assert "w 100 " in drawn
    assert "... and 50 more jobs" in drawn
    assert "w 101 " not in drawn


# ---------------------------------------------------------------------------------------------- the client

LEVELS = ("1", "2", "4", "8", "16", "32", ">=64")


def depths(*shares: float) -> dict[str, float]:
    return dict(zip(LEVELS, shares, strict=True))


@pytest.mark.parametrize(
    ("asked", "shares"),
    [
        (64, (0.1, 0.1, 0.1, 0.1, 0.1, 6.7, 93.0)),
        (100, (0.0,) * 6 + (100.0,)),
        (1, (100.0, *(0.0,) * 6)),
        (20, (10.0, 0.0, 0.0, 0.0, 90.0, 0.0, 0.0)),
        (64, (99.0, 1.0, *(0.0,) * 5)),
    ],
)
def test_how_deep_the_queue_was_in_words(asked: int, shares: tuple[float, ...], golden: Golden) -> None:
    run = recorded()
    run = run.model_copy(update={"options": {**run.options, "iodepth": asked}})
    golden.same(depth_text(run, depths(*shares)))


def test_what_a_tool_does_not_report_is_left_out() -> None:
    assert depth_text(recorded(), {}) == ""
    assert client_facts(recorded(), NodeResult(node="a", command="x")) == {}
    assert depth_text(recorded(tool="unknown"), depths(*(10.0,) * 7)) == ""


def test_cpu_and_disks_in_words(golden: Golden) -> None:
    disk = DiskUse(
        name="vda",
        utilisation_percent=39.51,
        read_ios=0,
        write_ios=2000,
        read_merges=0,
        write_merges=3,
        read_wait_seconds=0.0,
        write_wait_seconds=0.5,
        queue_seconds=0.5,
    )
    earlier = DiskUse(name="vdb", utilisation_percent=1.0)
    node = NodeResult(
        node="a",
        command="x",
        cpu_user_percent=2.6,
        cpu_system_percent=17.7,
        context_switches=12345,
        disks=(disk, earlier),
    )
    facts = client_facts(recorded(), node)
    assert [*facts] == ["cpu", "disks"]
    golden.same(facts.values())


BUSY = MachineUse(
    cpus=8,
    cpu_busy_ratio=0.961,
    cpu_steal_ratio=0.001,
    cpu_own_ratio=0.81,
    cpu_others_ratio=0.03,
    processes_running=9.5,
    tcp_segments_sent=12345,
    tcp_segments_resent=3,
    tcp_segments_received=2000,
    tcp_segments_disordered=4,
    received_bytes_per_second=1.2e9,
    sent_bytes_per_second=8e7,
    nic_drops={"eth0": 7},
    nic_errors={"eth1": 1},
    disk_busy_ratio={"sda": 0.98},
)


def test_what_a_node_did_in_words(golden: Golden) -> None:
    uses = [BUSY, MachineUse(cpus=1, cpu_busy_ratio=0.001), MachineUse(tcp_segments_sent=5), MachineUse()]
    facts = [client_facts(recorded(), NodeResult(node="a", command="x", machine=use)) for use in uses]
    golden.same([named.get("machine", "-") for named in facts])


def test_how_busy_each_of_several_nodes_was() -> None:
    (node,) = recorded().nodes
    machines = {"a": BUSY, "b": None, "c": MachineUse()}
    several = tuple(node.model_copy(update={"node": name, "machine": use}) for name, use in machines.items())
    drawn = printed(draw_run(recorded(nodes=several)), width=160)
    assert re.search(r"node .*cpu +began +ended", drawn)
    assert re.findall(r"^([abc]) .*? (96 %|-) +\S+(?: s)? ", drawn, re.MULTILINE) == [
        ("a", "96 %"),
        ("b", "-"),
        ("c", "-"),
    ]
    alone = printed(draw_run(recorded(nodes=tuple(n.model_copy(update={"machine": None}) for n in several))), width=160)
    assert not re.search(r"node .*cpu +began", alone)


@pytest.mark.parametrize(
    ("seconds", "within", "since"),
    [
        (0.0, "0.1 ms", "0.0 ms"),
        (0.00004, "0.1 ms", "0.0 ms"),
        (0.0123, "12.3 ms", "12.3 ms"),
        (2.0, "2.00 s", "2.00 s"),
    ],
)
def test_when_nodes_began_is_no_more_precise_than_it_is_known(seconds: float, within: str, since: str) -> None:
    nodes = tuple(NodeResult(node=name, command="x", started_seconds=seconds) for name in ("a", "b"))
    text = spread(recorded().model_copy(update={"nodes": nodes, "start_spread_seconds": seconds}))
    assert text.endswith(f"2 nodes began within {within}")
    assert began(seconds) == since


@pytest.mark.parametrize(
    ("ios", "reported", "words"),
    [(60_000, None, ""), (60_000, 59_999, ""), (60_000, 54_000, "900 IOPS: "), (60_000, 66_000, "1.10k IOPS: ")],
)
def test_what_the_tool_has_counted_stands_beside_what_was_completed(ios: int, reported: int | None, words: str) -> None:
    text = reported_text(total(ios=ios, iops=ios / 60, ios_reported=reported))
    assert text.startswith(words)
    assert bool(text) == bool(words)


def test_a_run_shows_what_its_tool_has_counted() -> None:
    write = total(ios=60_000, iops=1000.0, ios_reported=54_000)
    assert "write by fio" in printed(draw_run(run(write=write)))
    assert "by fio" not in printed(draw_run(run(write=total(ios=60_000, iops=1000.0))))
