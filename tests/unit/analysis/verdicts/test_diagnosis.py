"""Why a cluster is slow: causes, in the order of what they cost, with evidence; and when there is none."""

from __future__ import annotations

from typing import Any

import pytest

from cephtui.analysis.verdicts.causes import CAUSES, NOT_OF_DISKS, SYMPTOMS
from cephtui.analysis.verdicts.diagnosis import diagnosis, excess_of_osds
from cephtui.models import Finding, MachineUse, NodeEnvironment, NodeResult, OsdResult, Run, Stages
from cephtui.models.ceilings import Ceiling
from cephtui.models.findings import KINDS, client, cluster, data, machine, measurement, setup
from cephtui.models.findings.examples import example_findings
from cephtui.models.findings.kind import Value
from cephtui.reports.render.rich import draw
from cephtui.reports.views.diagnosis import diagnosis_view
from cephtui.reports.views.runs import session_view
from cephtui.reports.words.diagnosis import (
    conclusion_text,
    disk_lines,
    hint_lines,
    look_line,
    not_seen_lines,
    proof_command,
)
from cephtui.sessions.jsonlines import line
from tests.support.drawings import printed
from tests.support.golden import Golden
from tests.support.runs import cluster as of_cluster
from tests.support.runs import environment, nodes, run, total

SLOW = cluster.SLOW_OSD.found(osd="osd.1", seconds=0.009, others=0.001)
CAP = cluster.MESSAGE_CAP.found(share=0.3, cap=256, osds=3, in_flight=1536)
MCLOCK = setup.MCLOCK_CAPACITY.found(osd="osd.1", option="osd_mclock_max_capacity_iops_ssd", iops=10.0, others=21_500.0)
SCRUB = cluster.SCRUB.found(pgs=4, of=32, scrubbed="deep scrubbed")
THIN = example_findings(data.THIN.code)[0]


def stages(outside: float, queue: float, prepare: float, store: float) -> Stages:
    return Stages(
        ios=1000,
        operations=1000,
        outside_seconds=outside,
        queue_seconds=queue,
        prepare_seconds=prepare,
        store_seconds=store,
    )


def osd(writes: int = 100, subops: int = 100, subop: float | None = 0.001, reads: int = 0, **fields: Any) -> OsdResult:
    usual = {"share": 0.3, "write_seconds": 0.004, "read_seconds": None, "received": 300, "refused": 0}
    return OsdResult(writes=writes, subops=subops, subop_seconds=subop, reads=reads, **{**usual, **fields})


def written(number: int = 1, *found: Finding, iodepth: int = 1, split: Stages | None = None, **fields: Any) -> Run:
    """A run of small writes with its stages."""
    split = split or stages(0.0003, 0.0001, 0.0001, 0.0035)
    mean = sum(getattr(split, name) for name in Stages.model_fields if name.endswith("_seconds"))
    options = {"rw": "randwrite", "bs": "4k", "iodepth": iodepth, "numjobs": 1, "direct": True, "runtime": 10}
    usual = {"options": options, "findings": found, "stages": {"write": split}, "batch": f"b{number}"}
    return run(number, write=total(iops=iodepth / mean, latency_mean_seconds=mean), **{**usual, **fields})


def codes(*runs: Run) -> list[str]:
    return [cause.kind.code for cause in diagnosis(runs).causes]


# ---------------------------------------------------------------------------------------------- what a cause costs


def test_a_slow_osd_costs_what_it_takes_longer_of_the_writes_that_it_takes_part_in() -> None:
    osds = {"0": osd(), "1": osd(subop=0.004), "2": osd()}
    (cause,) = diagnosis([written(1, SLOW, osds=osds)]).causes
    assert cause.cost
    # two of three writes have a copy on it, and each of them waits for 3 ms more
    assert cause.cost.seconds == pytest.approx(0.002)
    assert cause.sureness == "measured"
    assert cause.cost.share == pytest.approx(0.5)


def test_an_osd_that_is_slow_in_one_run_and_busy_in_another_is_one_cause() -> None:
    reads = {name: osd(reads=100, subops=0, writes=0, read_seconds=0.009 if name == "1" else 0.001) for name in "012"}
    busy = cluster.BUSY_OSD.found(osd="osd.1", seconds=0.009, others=0.001, share=0.4, more=1.5)
    read = run(2, read=total(latency_mean_seconds=0.004), findings=(busy,), osds=reads,
               stages={"read": stages(0.001, 0.0, 0.0, 0.003)})  # fmt: skip
    assert codes(written(1, SLOW), read) == ["slow-osd"]
    (cause,) = diagnosis([written(1, SLOW), read]).causes
    assert cause.cost
    assert cause.cost.flow == "read"
    assert cause.cost.seconds == pytest.approx(0.008 / 3)
    for share, more in ((0.52, ["busy-osd"]), (0.47, [])):
        other = busy.model_copy(update={"values": {**busy.values, "osd": "osd.2", "share": share}})
        found = diagnosis([written(1, SLOW), read.model_copy(update={"findings": (other,)})])
        assert [cause.kind.code for cause in (*found.causes, *found.slight)] == ["slow-osd", *more], "an even third"


@pytest.mark.parametrize(("others", "is_slight"), [(0.0007, False), (0.003, True)])
def test_an_osd_that_is_slow_by_far_is_a_cause_however_seldom_it_is_needed(others: float, is_slight: bool) -> None:
    slow = cluster.SLOW_OSD.found(osd="osd.1", part="commit", commit_seconds=0.0085, others=others)
    found = diagnosis([written(1, slow, osds={"0": osd(), "1": osd(subop=0.0011), "2": osd()})])
    named = found.slight if is_slight else found.causes
    assert [cause.kind.code for cause in named] == ["slow-osd"]
    assert all(cause.cost and cause.cost.share < 0.1 for cause in named)


def test_a_limit_that_is_reached_and_the_option_that_sets_it_are_one_cause() -> None:
    low = setup.LOW_LIMITS.found(options=("osd osd_client_message_cap 4 (default 256)",))
    (cause,) = diagnosis([written(1, low, CAP)]).causes
    assert cause.kind.code == "message-cap"
    assert cause.change[0] == "ceph config rm osd osd_client_message_cap"
    other = setup.LOW_LIMITS.found(options=("osd bluestore_throttle_bytes 4 (default 256)",))
    assert codes(written(1, other, CAP)) == ["message-cap", "low-limits"]
    assert codes(written(1, low)) == ["low-limits"]


def test_a_busy_osd_is_held_back_by_mclock_where_it_is_slow_for_that() -> None:
    busy = cluster.BUSY_OSD.found(osd="osd.1", seconds=0.009, others=0.001, share=0.4, more=1.5)
    assert codes(written(1, SLOW, MCLOCK, busy)) == ["mclock-capacity"]


def test_a_slow_disk_is_a_sign_of_an_osd_that_clients_find_slow() -> None:
    slow_disk = client.SLOW_JOB.found(job="osd.1", direction="write", rate_bytes=9e6, fraction=0.8)
    written_by_itself = run(2, write=total(), tool="osd-bench", findings=(slow_disk,))
    (cause,) = diagnosis([written(1, SLOW), written_by_itself]).causes
    assert [part.finding.code for part in cause.evidence] == ["slow-osd", "slow-job"]
    assert codes(written(1, SCRUB), written_by_itself) == ["scrub"]


@pytest.mark.parametrize(
    ("commit_seconds", "device_class", "iodepth", "is_said"),
    [(0.006, "ssd", 1, True), (0.006, "nvme", 1, True), (0.003, "ssd", 1, False), (0.006, "hdd", 1, False),
     (0.006, "ssd", 16, False)],
)  # fmt: skip
def test_flushes_that_take_long_on_all_ssds(
    commit_seconds: float, device_class: str, iodepth: int, is_said: bool
) -> None:
    osds = {name: osd(commits=900, commit_seconds=commit_seconds) for name in "012"}
    seen = of_cluster(class_by_osd=dict.fromkeys("012", device_class))
    slow = written(1, iodepth=iodepth, osds=osds, cluster=seen, split=stages(0.0003, 0.0001, 0.0001, 0.0085))
    causes = diagnosis([slow]).causes
    assert [cause.kind.code for cause in causes] == ["slow-commits"] * is_said
    assert [cause.cost.seconds for cause in causes if cause.cost] == [0.006] * is_said


def lossy(number: int, resent: int, *found: Finding) -> Run:
    use = MachineUse(tcp_segments_sent=1900, tcp_segments_resent=resent)
    nodes_ = (NodeResult(node="a", outcome="ok", command="fio", machine=use),)
    return written(number, *found, nodes=nodes_, iodepth=2)


def test_segments_that_are_lost_in_all_runs_together() -> None:
    (cause,) = diagnosis([lossy(1, 23), lossy(2, 31), lossy(3, 20)]).causes
    assert cause.kind.code == "retransmits"
    assert [part.run.run for part in cause.evidence] == [2]
    assert "1.3 % of the TCP segments were retransmitted (74)" in cause.finding.text
    assert codes(lossy(1, 23), lossy(2, 3), lossy(3, 3)) == [], "fewer than 50"
    assert codes(lossy(1, 60), *(lossy(number, 0) for number in range(2, 6))) == ["retransmits"], "0.6 %"
    assert codes(lossy(1, 60), *(lossy(number, 0) for number in range(2, 13))) == [], "0.3 %, nearly"
    shown = machine.RETRANSMITS.found(node="a", resent=60, sent=1900)
    (cause,) = diagnosis([lossy(1, 60, shown), lossy(2, 31)]).causes
    assert len(cause.evidence) == 1


def test_reads_take_one_osd() -> None:
    osds = {name: osd(reads=100, read_seconds=0.005 if name == "1" else 0.001) for name in "012"}
    assert excess_of_osds(written(osds=osds), "read", ["osd.1"]) == pytest.approx(0.004 / 3)
    assert excess_of_osds(written(osds=osds), "read", ["osd.7"]) is None
    assert excess_of_osds(written(osds={"1": osds["1"]}), "read", ["osd.1"]) is None, "no other"


def test_without_replicas_the_writes_of_a_primary_are_its_own() -> None:
    osds = {name: osd(subops=0, subop=None, write_seconds=seconds) for name, seconds in (("0", 0.001), ("1", 0.007))}
    assert excess_of_osds(written(osds=osds), "write", ["osd.1"]) == pytest.approx(0.003)


def test_no_cost_is_above_the_latency() -> None:
    osds = {"0": osd(), "1": osd(subop=9.0), "2": osd()}
    (cause,) = diagnosis([written(1, SLOW, osds=osds)]).causes
    assert cause.cost
    assert cause.cost.seconds == cause.cost.of_seconds


def test_the_message_cap_costs_what_i_os_wait_longer_than_one_at_a_time() -> None:
    capped = written(2, CAP, iodepth=64, split=stages(0.11, 0.06, 0.001, 0.17))
    (cause,) = diagnosis([written(1), capped]).causes
    assert cause.cost
    assert cause.cost.seconds == pytest.approx(0.11 - 0.0003)
    (alone,) = diagnosis([capped]).causes
    assert alone.sureness == "seen"


def test_a_long_way_to_the_osds_costs_a_round_trip_of_each_i_o() -> None:
    far = machine.ROUND_TRIP.found(node="a", addresses=("10.0.0.5",), far=1, seconds=0.003, mean_seconds=0.002)
    slow = written(1, far, split=stages(0.0024, 0.0001, 0.0001, 0.0005))
    (cause,) = diagnosis([slow]).causes
    assert cause.cost
    assert (cause.sureness, cause.cost.seconds) == ("measured", 0.002)
    assert codes(written(1, far, SCRUB, split=stages(0.0024, 0.0001, 0.0001, 0.0005))) == ["round-trip", "scrub"]
    (cause,) = diagnosis([written(1, far, split=stages(0.0015, 0.0001, 0.0001, 0.0005))]).causes
    assert cause.cost
    assert cause.cost.seconds == 0.0015, "what was outside of the OSDs is no shorter"
    assert not codes(written(1, far, split=stages(0.0021, 0.0, 0.0, 0.2)))


def test_a_limit_of_librbd_that_is_reached_costs_what_i_os_wait_for_it() -> None:
    def limited(at_most: float) -> Run:
        ceiling = Ceiling(
            limit="rbd_qos", direction="write", metric="iops", measured=100, at_most=at_most, basis="rbd_qos_iops_limit"
        )
        return written(2, iodepth=16, split=stages(0.138, 0.006, 0.0003, 0.016), ceilings=(ceiling,))

    (cause,) = diagnosis([written(1), limited(101)]).causes
    assert cause.kind is setup.QOS_LIMIT
    assert cause.cost
    assert cause.cost.seconds == pytest.approx(0.138 - 0.0003)
    assert not codes(written(1), limited(200))
    assert codes(written(1), limited(101), written(3, SCRUB)) == ["qos-limit", "scrub"]


def test_work_of_the_cluster_costs_at_most_the_time_in_the_osds() -> None:
    (cause,) = diagnosis([written(1, SCRUB)]).causes
    assert cause.cost
    assert not cause.cost.is_measured
    assert cause.cost.seconds == pytest.approx(0.0037)
    assert cause.sureness == "seen"


def test_without_counters_nothing_is_known_of_costs() -> None:
    found = diagnosis([written(1, SCRUB, cluster.OSD_COUNTERS.found(), stages={})])
    assert found.causes[0].cost is None
    assert found.without_counters


# ---------------------------------------------------------------------------------------------- the order


def test_what_costs_much_comes_before_what_was_only_seen_and_that_before_the_set_up() -> None:
    osds = {"0": osd(), "1": osd(subop=0.004), "2": osd()}
    few = setup.FEW_OSDS.found(pool="bench", osds=3, of=12)
    assert codes(written(1, few, SCRUB, SLOW, osds=osds)) == ["slow-osd", "scrub", "few-osds"]


def test_a_cause_that_costs_little_is_none() -> None:
    osds = {"0": osd(), "1": osd(subop=0.0011), "2": osd()}
    little = cluster.SLOW_OSD.found(osd="osd.1", seconds=0.004, others=0.001)
    found = diagnosis([written(1, little, SCRUB, osds=osds)])
    assert [cause.kind.code for cause in found.causes] == ["scrub"]
    assert [cause.kind.code for cause in found.slight] == ["slow-osd"]


def test_an_osd_that_mclock_holds_back_is_not_slow_by_itself() -> None:
    queued = cluster.SLOW_OSD.found(
        osd="osd.1", seconds=0.009, others=0.001, part="queue", part_seconds=0.008, part_others=0.0001
    )
    osds = {"0": osd(), "1": osd(subop=0.004), "2": osd()}
    found = diagnosis([written(1, queued, MCLOCK, osds=osds)])
    (cause,) = found.causes
    assert cause.kind.code == "mclock-capacity"
    assert [part.finding.code for part in cause.evidence] == ["mclock-capacity", "slow-osd"]
    assert cause.cost
    assert cause.cost.is_measured, "by how much longer that OSD takes"
    slow_disk = queued.model_copy(update={"values": {**queued.values, "part": "commit"}})
    assert codes(written(1, slow_disk, MCLOCK, osds=osds)) == ["slow-osd", "mclock-capacity"]


def test_figures_of_no_disk_come_first() -> None:
    found = diagnosis([written(1, SLOW, THIN, osds={"0": osd(), "1": osd(subop=0.004), "2": osd()})])
    assert [cause.kind.code for cause in found.causes] == ["thin", "slow-osd"]
    assert found.causes[0].spoils
    assert found.caveats == ()


def test_a_symptom_belongs_to_its_cause_or_is_not_explained() -> None:
    explained = measurement.DIP.found(
        (3.0, 6.0), figure="iops", before=900.0, after=300.0, cause="4 PGs were scrubbed", cause_code="scrub"
    )
    alone = measurement.DIP.found((3.0, 6.0), figure="iops", before=900.0, after=300.0, unexplained=True)
    found = diagnosis([written(1, SCRUB, explained), written(2, alone)])
    (cause,) = found.causes
    assert [part.finding.code for part in cause.evidence] == ["scrub", "dip"]
    assert [part.finding for part in found.unexplained] == [alone]


# ---------------------------------------------------------------------------------------------- links


def link(number: int, source: str, destination: str, bandwidth: float, **fields: Any) -> Run:
    speeds = {"nic_bits_per_second": {"eth0": 10**10}}
    return run(
        number,
        write=total(bandwidth_bytes=bandwidth, iops=None, ios=None),
        **{
            "tool": "iperf3",
            "preset": "network",
            "target": f"host:{destination}",
            "options": {"runtime": 3, "direction": "out", "network": "public"},
            "nodes": nodes(source),
            "environment": {name: NodeEnvironment(hostname=name, **speeds) for name in (source, destination)},
            **fields,
        },
    )


def test_an_osd_that_did_not_answer_while_all_io_stopped_is_the_cause() -> None:
    silent: dict[str, Value] = {
        "seconds": 5.0,
        "everywhere": True,
        "cause": "osd.1 did not answer",
        "cause_code": "slow-osd",
    }
    stop = measurement.STALLED.found((20.0, 25.0), **silent)
    (cause,) = diagnosis([written(1, stop)]).causes
    assert (cause.kind.code, cause.sureness, cause.cost) == ("slow-osd", "seen", None)
    assert cause.finding is stop
    assert cause.cures == (cluster.SLOW_OSD.cure,)
    assert codes(written(1, stop, SLOW, osds={"0": osd(), "1": osd(subop=0.004), "2": osd()})) == ["slow-osd"]
    for code in ("health-speed", "node-ended"):
        assert codes(written(1, measurement.STALLED.found((20.0, 25.0), **{**silent, "cause_code": code}))) == []


def test_a_health_check_that_only_says_that_operations_are_slow_is_no_cause() -> None:
    slow = "BLUESTORE_SLOW_OP_ALERT (1 OSD(s) experiencing slow operations in BlueStore)"
    for details, causes in (((slow,), []), ((slow, "OSD_NEARFULL (1 nearfull osd(s))"), ["health-speed"])):
        assert codes(written(1, cluster.HEALTH_SPEED.found(status="HEALTH_WARN", details=details))) == causes


def test_what_to_do_about_each_part_of_an_osd_that_is_slow() -> None:
    by_commit = SLOW.model_copy(update={"values": {**SLOW.values, "part": "commit"}})
    by_queue = SLOW.model_copy(update={"values": {**SLOW.values, "part": "queue"}})
    (cause,) = diagnosis([written(1, by_commit), written(2, SLOW), written(3, by_queue)]).causes
    assert [cure.partition(":")[0] for cure in cause.cures] == [
        "check the disk of that OSD",
        "check the CPU of that OSD and of its host",
    ]


def test_a_link_that_carries_far_less_than_the_others_is_slow() -> None:
    links = [link(1, "a", "b", 1.1e9), link(2, "b", "a", 1.1e9), link(3, "a", "c", 4e7), link(4, "c", "a", 1.1e9)]
    (cause,) = diagnosis([*links, written(5)]).causes
    assert cause.kind.code == "slow-link"
    assert cause.finding.text == "a to c: 320 Mbit/s, the median of the other links is 8.80 Gbit/s"


def test_a_link_that_carries_far_less_than_its_nics_is_slow() -> None:
    assert codes(link(1, "a", "b", 1.1e9), link(2, "b", "a", 4e7), written(3)) == ["slow-link"]
    assert codes(link(1, "a", "b", 1.1e9), link(2, "b", "a", 1.2e9), written(3)) == []
    one_thread = example_findings(client.ONE_THREAD.code)[0]
    assert codes(link(1, "a", "b", 4e7, findings=(one_thread,)), written(3)) == []


# ---------------------------------------------------------------------------------------------- what is said


def test_a_diagnosis_in_full(golden: Golden) -> None:
    osds = {"0": osd(), "1": osd(subop=0.004), "2": osd()}
    where: dict[str, Any] = {
        "cluster": of_cluster(osds_by_host={"pve1": 2, "pve2": 2, "pve3": 2}),
        "environment": {"pve1": environment()},
        "osds": osds,
    }
    flat = measurement.DIP.found((3.0, 6.0), figure="iops", before=900.0, after=300.0, unexplained=True)
    loaded = written(2, SLOW, SCRUB, flat, iodepth=16, split=stages(0.003, 0.001, 0.0003, 0.008), **where)
    found = diagnosis([written(1, SLOW, **where), loaded])
    view = diagnosis_view(found, {"b1": "write and flush", "b2": "writes"})
    golden.same(printed(draw(view.document()), width=120))
    golden.same("\n".join(map(line, view.lines())))


def test_nothing_stands_out(golden: Golden) -> None:
    found = diagnosis([written(1), written(2, iodepth=16, split=stages(0.003, 0.001, 0.0003, 0.008))])
    assert found.causes == ()
    golden.same(conclusion_text(found))
    assert conclusion_text(diagnosis([])) == "Nothing was measured"


def test_the_proof_has_the_command_that_takes_the_cause_away() -> None:
    (cause,) = diagnosis([written(1, SCRUB)]).causes
    assert proof_command(cause) == (
        "cephtui check --against tuning/1 --change 'ceph osd set noscrub; ceph osd set nodeep-scrub' "
        "--undo 'ceph osd unset noscrub; ceph osd unset nodeep-scrub'"
    )
    (cause,) = diagnosis([written(1, MCLOCK)]).causes
    assert cause.change == ("ceph config rm osd.1 osd_mclock_max_capacity_iops_ssd", "")


def test_levels_are_taken_back_as_they_were_and_only_what_is_one() -> None:
    def change(*options: str) -> tuple[str, str]:
        (cause,) = diagnosis([written(1, setup.DEBUG_LEVELS.found(options=options))]).causes
        assert cause.sureness == "set-up"
        return cause.change

    assert change("osd debug_osd 20/20", "osd.3 debug_bdev 10") == (
        "ceph config rm osd debug_osd; ceph config rm osd.3 debug_bdev",
        "ceph config set osd debug_osd 20/20; ceph config set osd.3 debug_bdev 10",
    )
    assert change("osd.* debug_osd 20/20, set at run time") == (
        "ceph tell osd.* config unset debug_osd",
        "ceph tell osd.* config set debug_osd 20/20",
    )
    assert change("osd bluestore_throttle_bytes 4096 (default 67108864)")[0] == (
        "ceph config rm osd bluestore_throttle_bytes"
    )
    assert change("osd.1 debug_osd 20/20, by ceph.conf") == ("", "")
    for foreign in ("osd debug_osd 20/20; reboot", "osd/class:hdd debug_osd 20", "mon debug_mon 20", "osd debug_osd"):
        assert change("osd debug_osd 20/20", foreign) == ("", "")


def test_the_disks_of_the_osds_that_a_cause_names() -> None:
    seen = of_cluster(model_by_osd={"0": "Other 1", "1": "Samsung SSD 870 EVO 1TB"})
    (cause,) = diagnosis([written(1, SLOW, cluster=seen), written(2, SLOW, cluster=seen)]).causes
    assert disk_lines(cause) == ["osd.1: Samsung SSD 870 EVO 1TB"]
    (cause,) = diagnosis([written(1, SLOW, cluster=None)]).causes
    assert disk_lines(cause) == []


def test_the_look_before_any_load_in_one_line() -> None:
    seen = of_cluster(
        health="HEALTH_OK", osds=3, osds_up=3, pool={"name": "bench"},
        pgs_by_osd={"0": 12, "1": 10}, class_by_osd={"0": "ssd", "1": "ssd"},
    )  # fmt: skip
    during = SCRUB.model_copy(update={"values": {**SCRUB.values, "from_seconds": 1.0, "to_seconds": 4.0}})
    few = setup.FEW_OSDS.found(pool="bench", osds=2, of=3)
    assert look_line(written(1, few, during, SLOW, cluster=seen)) == (
        "before any load: HEALTH_OK, 3 of 3 OSDs up, pool bench with 10 to 12 PGs on each of 2 OSDs (2 ssd), "
        "pool bench uses only 2 of the 3 OSDs that its CRUSH rule allows"
    )
    assert look_line(written(1, cluster=None)) == ""


def test_below_results_stand_the_two_causes_that_cost_the_most() -> None:
    osds = {"0": osd(), "1": osd(subop=0.004), "2": osd()}
    few = setup.FEW_OSDS.found(pool="bench", osds=3, of=12)
    cpu = example_findings(machine.CPU_TAKEN.code)[0]
    assert hint_lines([written(1, few, SCRUB, SLOW, cpu, osds=osds)]) == [
        "slow OSD costs 2.00 ms of the 4.00 ms of a 4k write, one at a time (50 %): cephtui why tuning/1",
        "scrub costs at most 3.70 ms of the 4.00 ms of a 4k write, one at a time (92 %): cephtui why tuning/1",
    ]
    assert hint_lines([written(1, few), written(2)]) == []
    text = printed(draw(session_view([written(1, SLOW, osds=osds)]).document()))
    assert "slow OSD costs 2.00 ms" in text


def test_runs_that_failed_say_nothing() -> None:
    found = diagnosis([written(1, SLOW, outcome="failed", error="fio: killed", osds={"0": osd()})])
    assert (found.runs, found.causes) == ((), ())
    assert "#1 write-iops: failed, fio: killed" in not_seen_lines(found)


def test_every_finding_about_speed_is_a_cause_a_symptom_or_about_the_data() -> None:
    """One that is added later has to be one of them, or to stand here."""
    sorted_in = {*CAUSES, *SYMPTOMS, *NOT_OF_DISKS}
    left = {kind.code for kind in KINDS.values() if kind.slows or kind.topic == "cluster"} - sorted_in
    assert left == {"autoscale", "flag", "health-other", "monitors", "osd-counters", "osds"}


@pytest.mark.parametrize("code", sorted({*CAUSES, *NOT_OF_DISKS, *SYMPTOMS}))
@pytest.mark.parametrize("values", [{}, {"osd": "$(reboot)", "option": "x; reboot", "ratio": "much", "osds": 3}])
def test_findings_of_a_session_of_others_harm_nothing(code: str, values: dict[str, Any]) -> None:
    """They may lack values, as those of an earlier cephtui do, and no command is made of what they have."""
    odd = Finding(code=code, text="odd", values=values)
    found = diagnosis([written(1, odd, osds={"0": osd(), "1": osd()})])
    said = printed(draw(diagnosis_view(found, {}).document()))
    assert "reboot" not in said


def test_a_node_with_a_slow_nic_beside_the_one_that_is_measured_has_no_slow_link() -> None:
    several = {
        name: NodeEnvironment(hostname=name, nic_bits_per_second={"eth0": 10**9, "eth1": 10**10}) for name in "ab"
    }
    assert codes(link(1, "a", "b", 1.1e8, environment=several), written(2)) == []


def test_stages_of_a_session_of_others_need_not_fit_its_flows() -> None:
    odd = written(1, stages={"read": stages(0.0, 0.0, 0.0, 0.0)})
    assert conclusion_text(diagnosis([odd])) == "Nothing stands out"
    assert "% is " in conclusion_text(diagnosis([written(1, stages={"read": stages(0.1, 0.0, 0.0, 0.0)})]))
