"""What happened during a run: what is found in what the cluster and the nodes said, and what is not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from cephtui.analysis.detectors import stalls
from cephtui.analysis.detectors.incidents import Course
from cephtui.models import ClusterSample, Finding, Interval, Sample
from cephtui.sessions import store
from cephtui.sessions.jsonlines import parse_sample
from tests.support.golden import Golden

CLEAN = {"active+clean": 33}


def said(at: float, **changes: object) -> ClusterSample:
    """A healthy cluster, but for these."""
    healthy = {
        "health": "HEALTH_OK",
        "osds": 3,
        "osds_up": 3,
        "osds_in": 3,
        "osds_down": (),
        "osds_out": (),
        "monitors": 3,
        "monitors_in_quorum": 3,
        "pools": 2,
        "pg_states": CLEAN,
    }
    return ClusterSample.model_validate({"run": 1, "elapsed_seconds": at, **healthy, **changes})


def sample(end: float, ios: int, node: str | None = "a", interval: float = 1.0) -> Sample:
    done = Interval(ios, 4096 * ios, ios / interval, 4096 * ios / interval)
    return Sample(1, node, "write-iops", "run", end, interval, None, done if ios else None)


def course(
    cluster: Mapping[tuple[float, float], Mapping[str, object]] | None = None,
    ios: Mapping[str, Iterable[int]] | None = None,
    *,
    before: Mapping[str, object] | None = None,
    prepared: Mapping[str, object] | None = None,
    seconds: int = 40,
    silent: tuple[float, float] = (0.0, 0.0),
    ended: float | None = None,
) -> Course:
    """A run in which the cluster was like this from when to when, and each node did so much in each second."""
    found = Course()
    found.cluster(said(0.0, phase="prepare", **(before or {})))
    if prepared is not None:
        found.cluster(said(5.0, phase="prepare", **prepared))
    figures = {node: list(each) for node, each in (ios or {"a": [1000] * seconds}).items()}
    for second in range(1, seconds + 1):
        for node, each in figures.items():
            if second <= len(each) and each[second - 1] >= 0:
                found.add(sample(second, each[second - 1], node))
        found.add(sample(second, sum(each[second - 1] for each in figures.values() if second <= len(each)), None))
        if second % 2 == 0 and not silent[0] < second < silent[1]:
            changes = dict(before or {})
            for (begun, over), what in (cluster or {}).items():
                changes |= what if begun <= second < over else {}
            found.cluster(said(second, **changes))
    for node in figures:
        found.end(node, ended or seconds + 0.2)
    return found


def texts(found: Iterable[Finding]) -> list[str]:
    return [finding.text for finding in found]


# ---------------------------------------------------------------------------------------------- what is nothing


def recorded(directory: Path, number: int) -> tuple[Finding, ...]:
    found = Course()
    run = store.read_run(directory, number)
    for event in store.read_states(directory, number, ClusterSample):
        found.cluster(event)
    with (directory / f"{number:03}" / "samples.jsonl").open() as file:
        for line in file:
            found.add(parse_sample(line))
    for node in run.nodes:
        assert node.ended_seconds
        found.end(node.node, node.ended_seconds)
    return found.findings()


def test_quiet_runs_of_a_real_cluster_have_no_findings(demo_session: Path, golden: Golden) -> None:
    """All but two of those that were recorded: after the pool was changed, and when an OSD stood still."""
    numbers = [number for number, _ in store.run_directories(demo_session)]
    findings = {number: recorded(demo_session, number) for number in numbers}
    changed, stood = 10, 14
    quiet = [number for number in numbers if number not in (changed, stood)]
    assert [texts(findings[number]) for number in quiet] == [[]] * (len(numbers) - 2)
    golden.same(texts(findings[changed]))
    (stall,) = findings[stood]
    assert stall.code == "stalled"
    golden.same(stall.text)


def test_a_healthy_quiet_run_has_none() -> None:
    assert course().findings() == ()
    assert Course().findings() == ()


def test_nothing_is_found_before_anything_was_measured() -> None:
    found = Course()
    found.cluster(said(0.0, phase="prepare"))
    found.cluster(said(3.0, phase="prepare", osds_up=2, osds_down=("osd.2",)))
    assert found.findings() == ()


WAS_SO = {
    "osds_up": 2,
    "osds_down": ("osd.2",),
    "health": "HEALTH_WARN",
    "checks": {"OSD_DOWN": "1 osds down"},
    "flags": ("noout",),
    "pg_states": {"active+clean": 20, "active+undersized+degraded": 13},
    "recovery_bandwidth_bytes": 1e6,
}


def test_what_was_so_before_and_stays_so_is_told_of_the_state_before_only() -> None:
    assert course(before=WAS_SO).findings() == ()


def test_what_was_so_before_and_ends_is_told(golden: Golden) -> None:
    healthy = {**dict.fromkeys(WAS_SO), "osds_up": 3, "osds_down": (), "health": "HEALTH_OK", "pg_states": CLEAN}
    healthy |= {"checks": {}, "flags": ()}
    golden.same(texts(course({(20, 99): healthy}, before=WAS_SO).findings()))


def test_what_is_over_before_the_release_is_nothing_of_the_run() -> None:
    assert course(prepared={"osds_up": 2, "osds_down": ("osd.2",)}).findings() == ()


def test_what_begins_in_the_filling_and_goes_on_is(golden: Golden) -> None:
    down = {"osds_up": 2, "osds_down": ("osd.2",)}
    golden.same(texts(course({(0, 99): down}, prepared=down).findings()))


# ---------------------------------------------------------------------------------------------- what the cluster says


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"osds_up": 2, "osds_down": ("osd.2",)}, "osd-down"),
        ({"osds_up": 1, "osds_down": None}, "osd-down"),
        ({"osds_in": 2, "osds_out": ("osd.1",)}, "osd-out"),
        (
            {"pg_states": {"active+clean": 24, "stale+active+clean": 9}},
            "pgs-mostly-inactive",
        ),
        (
            {"pg_states": {"active+clean": 30, "down": 1, "incomplete": 2}},
            "pgs-mostly-inactive",
        ),
        (
            {"pg_states": {"active+clean": 31, "active+remapped+backfilling": 2}, "misplaced_ratio": 0.125},
            "pgs",
        ),
        (
            {"recovery_bandwidth_bytes": 100 << 20},
            "recovery",
        ),
        (
            {"pg_states": {"active+clean": 32, "active+clean+scrubbing+deep": 1}},
            "scrub",
        ),
        (
            {"health": "HEALTH_ERR", "checks": {"PG_DAMAGED": "Possible data damage: 1 pg inconsistent"}},
            "health-other",
        ),
        (
            {"health": "HEALTH_WARN", "checks": {"RECENT_CRASH": "1 daemons have recently crashed"}},
            "health-other",
        ),
        (
            {"health": "HEALTH_WARN", "checks": {"OSDMAP_FLAGS": "noscrub flag(s) set"}},
            "health-other",
        ),
        ({"health": "HEALTH_WARN"}, "health-speed"),
        ({"flags": ("noscrub",)}, "flag"),
        ({"slow_ops": 7}, "slow-ops"),
        ({"monitors_in_quorum": 2}, "monitors"),
        ({"pg_states": {"active+clean": 24, "active+clean+snaptrim": 2, "active+clean+snaptrim_wait": 7}}, "snaptrim"),
    ],
)
def test_what_the_cluster_says_is_found_with_its_time(changes: dict[str, object], code: str, golden: Golden) -> None:
    (found,) = course({(10, 20): changes}).findings()
    assert found.code == code
    golden.same(found.text)
    assert (found.from_seconds, found.to_seconds) == (10.0, 20.0)
    assert found.label


def test_checks_that_cost_speed_are_told_apart_from_the_others() -> None:
    checks = {"SLOW_OPS": "3 slow ops", "POOL_APP_NOT_ENABLED": "1 pool(s) do not have an application enabled"}
    found = course({(10, 20): {"health": "HEALTH_WARN", "checks": checks}}).findings()
    assert {finding.code: finding.text.partition(": ")[2] for finding in found} == {
        "health-speed": "SLOW_OPS (3 slow ops)",
        "health-other": "POOL_APP_NOT_ENABLED (1 pool(s) do not have an application enabled)",
    }


@pytest.mark.parametrize(("code", "kind"), [("POOL_NO_REDUNDANCY", "health-other"), ("OSD_NEARFULL", "health-speed")])
def test_a_check_that_becomes_graver_is_of_its_kind(code: str, kind: str, golden: Golden) -> None:
    warned = {"health": "HEALTH_WARN", "checks": {code: "so"}}
    found = course({(10, 20): {**warned, "health": "HEALTH_ERR"}}, before=warned).findings()
    assert [finding.code for finding in found] == [kind]
    golden.same(texts(found))


@pytest.mark.parametrize(
    ("has_mds", "kind"),
    [(False, "health-other"), (True, "health-speed")],
)
def test_an_mds_that_is_behind_limits_only_what_passes_it(has_mds: bool, kind: str) -> None:
    found = Course("iops", "fio", has_mds=has_mds)
    found.cluster(said(0.0, phase="prepare"))
    for second in range(1, 41):
        for node in ("a", None):
            found.add(sample(second, 1000, node))
        if second % 2 == 0:
            found.cluster(said(second, health="HEALTH_WARN", checks={"MDS_TRIM": "1 MDSs behind on trimming"}))
    found.end("a", 40.2)
    assert [each.code for each in found.findings()] == [kind]


def test_what_goes_on_to_the_end_says_so(golden: Golden) -> None:
    (found,) = course({(30, 99): {"flags": ("noout",)}}).findings()
    golden.same(found.text)
    assert found.to_seconds == 40.2


def test_what_comes_and_goes_is_one_finding(golden: Golden) -> None:
    down = {"osds_up": 2, "osds_down": ("osd.2",)}
    (found,) = course({(4, 6): down, (10, 12): down, (20, 24): down}).findings()
    golden.same(found.text)
    far = course({(4, 6): down, (30, 32): down}).findings()
    golden.same(texts(far))


def test_many_of_a_kind_are_one_finding(golden: Golden) -> None:
    names = tuple(f"osd.{number}" for number in range(24))
    (found,) = course({(10, 20): {"osds": 60, "osds_up": 36, "osds_down": names}}).findings()
    golden.same(found.text)


def test_a_cluster_that_does_not_answer_is_found(golden: Golden) -> None:
    (found,) = course(silent=(10, 24)).findings()
    assert found.code == "cluster-silent"
    golden.same(found.text)
    golden.same(texts(course(silent=(30, 99)).findings()))
    assert course(silent=(10, 16)).findings() == (), "one answer that is late is none"


def test_a_cluster_that_is_not_asked_any_more_is_told_with_the_reason(golden: Golden) -> None:
    found = course(silent=(30, 99))
    found.no_longer_asked("the connection to a was lost")
    golden.same(texts(found.findings()))


def test_a_console_that_stood_still_is_no_silence_of_the_cluster(golden: Golden) -> None:
    found = course(silent=(10, 24))
    found.console_stalled(11.0, 23.5)
    (finding,) = found.findings()
    golden.same(finding.text)


def test_pgs_that_are_split_are_found_and_a_new_pool_is_not(golden: Golden) -> None:
    more = {"pg_states": {"active+clean": 48}}
    (found,) = course({(10, 20): more, (20, 99): {"pg_states": {"active+clean": 64}}}).findings()
    assert found.code == "pgs-split"
    golden.same(found.text)
    assert course({(10, 99): {**more, "pools": 3}}).findings() == ()


def test_other_clients_are_found_where_they_do_far_more_than_the_run() -> None:
    (found,) = course({(26, 36): {"client_bandwidth_bytes": 200 << 20}}).findings()
    assert found.code == "other-clients"
    own = course({(2, 99): {"client_bandwidth_bytes": 4096e3}})
    assert own.findings() == (), "its own I/O is nobody else's"
    linger = course({(2, 14): {"client_bandwidth_bytes": 500 << 20}})
    assert linger.findings() == (), "the rates of the filling linger"


def test_of_a_run_that_does_not_know_its_bytes_no_load_is_said_to_be_of_others() -> None:
    """gosbench writes again what DELETE has removed, and has no figure of it."""
    found = Course()
    found.cluster(said(0.0, phase="prepare"))
    for second in range(1, 41):
        for node in ("a", None):
            delete = Interval(1000, 0, 1000.0, None)
            found.add(Sample(1, node, "s3", "run", second, 1.0, None, None, other={"delete": delete}))
        if second % 2 == 0:
            found.cluster(said(second, client_bandwidth_bytes=200 << 20))
    found.end("a", 40.2)
    assert found.findings() == ()


def test_sessions_of_earlier_versions_are_read(golden: Golden) -> None:
    """Nothing is known of them but numbers."""
    old = {"osds_down": None, "osds_out": None, "monitors": None, "monitors_in_quorum": None, "pools": None}
    assert course({(0, 99): old}, before=old).findings() == ()
    golden.same(texts(course({(10, 20): {**old, "osds_up": 2}}, before=old).findings()))


# ---------------------------------------------------------------------------------------------- stalls


def seconds_of(found: Iterable[Finding]) -> list[tuple[float | None, float | None]]:
    return [(finding.from_seconds, finding.to_seconds) for finding in found if finding.code == "stalled"]


BUSY, NOTHING = [1000], [0]


def test_a_stall_is_told_with_its_cause(golden: Golden) -> None:
    down = {"osds_up": 2, "osds_down": ("osd.2",)}
    found = course({(14, 32): down}, {"a": BUSY * 12 + NOTHING * 13 + BUSY * 15}).findings()
    assert [finding.code for finding in found] == ["stalled", "osd-down"]
    golden.same(found[0].text)
    assert seconds_of(found) == [(12.0, 25.0)]


@pytest.mark.parametrize(
    "changes",
    [{"flags": ("pausewr",)}, {"slow_ops": 3}, {"pg_states": {"peering": 33}}, {"recovery_bandwidth_bytes": 1e6}],
)
def test_causes(changes: dict[str, object], golden: Golden) -> None:
    found = course({(12, 16): changes}, {"a": BUSY * 11 + NOTHING * 4 + BUSY * 25}).findings()
    assert seconds_of(found) == [(11.0, 15.0)]
    golden.same(finding.text for finding in found if finding.code == "stalled")


def test_a_stall_is_explained_by_one_of_many_events_and_not_by_all() -> None:
    idle = ("noout", "noscrub", "nodeep-scrub")
    found = course(
        {(2, 24): {"flags": idle}, (24, 30): {"flags": (*idle, "pausewr")}, (30, 99): {"flags": idle}},
        {"a": BUSY * 11 + NOTHING * 4 + BUSY * 8 + NOTHING * 4 + BUSY * 13},
    ).findings()
    flags, first, second = found
    assert (flags.values["things"], flags.values["number"]) == ((*(f"{each} set" for each in idle), "pausewr set"), 4)
    assert "unexplained" in first.values
    cause = str(second.values["cause"])
    assert ("pausewr" in cause, "noout" in cause) == (True, False)


@pytest.mark.parametrize("before", [{"slow_ops": 3}, {"recovery_bandwidth_bytes": 1e8}])
def test_what_stood_before_the_run_is_no_event_of_it_and_stands_beside_one(before: dict[str, object]) -> None:
    (stall,) = course(ios={"a": BUSY * 11 + NOTHING * 4 + BUSY * 25}, before=before).findings()
    assert stall.code == "stalled"
    assert "beside" in stall.values


@pytest.mark.parametrize(("flow", "is_own"), [("delete", True), ("list", False)])
def test_a_pause_of_the_tool_itself_is_not_unexplained(flow: str, is_own: bool) -> None:
    """gosbench writes what DELETE has removed again, and counts none of it."""
    found = Course("iops", "gosbench")
    found.cluster(said(0.0, phase="prepare"))
    for second in range(1, 41):
        done = Interval(0 if 15 <= second < 20 else 400, 0, 400.0, None)
        for node in ("a", None):
            found.add(Sample(1, node, "s3", "run", second, 1.0, None, None, other={flow: done}))
        if second % 2 == 0:
            found.cluster(said(second))
    found.end("a", 40.2)
    (stall,) = [each for each in found.findings() if each.code == "stalled"]
    assert ("gosbench" in stall.text, "the cluster reported no reason" in stall.text) == (is_own, not is_own)


def test_without_a_cluster_nothing_is_said_of_one(golden: Golden) -> None:
    found = Course()
    for second, ios in enumerate(BUSY * 10 + NOTHING * 3 + BUSY * 10, 1):
        found.add(sample(second, ios))
    found.end("a", 23.1)
    golden.same(texts(found.findings()))


def test_two_seconds_are_a_stall_and_one_is_none() -> None:
    assert seconds_of(course(ios={"a": BUSY * 10 + NOTHING * 2 + BUSY * 28}).findings()) == [(10.0, 12.0)]
    assert seconds_of(course(ios={"a": BUSY * 10 + NOTHING * 1 + BUSY * 29}).findings()) == []
    # what is missing in the seconds beside counts, as a stall does not begin with a second
    assert seconds_of(course(ios={"a": [*BUSY * 10, 400, 0, 300, *BUSY * 27]}).findings()) == [(10.414, 12.69)]


def test_a_second_that_the_tool_kept_silent_for_is_a_stall_where_little_was_done_in_it(golden: Golden) -> None:
    def late(ios: int) -> tuple[Finding, ...]:
        found = Course()
        for second in range(1, 11):
            found.add(sample(second, 1000))
        found.add(sample(23.0, ios, interval=13.0))
        for second in range(24, 34):
            found.add(sample(second, 1000))
        found.end("a", 33.1)
        return found.findings()

    golden.same(texts(late(500)))
    assert late(13000) == (), "it was only late to say so"


def test_a_hole_in_the_samples_of_a_node_is_a_stall() -> None:
    found = course(ios={"a": BUSY * 10 + [-1] * 6 + BUSY * 24})
    assert seconds_of(found.findings()) == [(10.0, 16.0)]


def test_slow_storage_has_natural_gaps() -> None:
    """One operation in some seconds is no stall each time; where there are none for much longer, it is."""
    every_third = [0, 0, 1] * 13
    assert course(ios={"a": every_third}, seconds=39).findings() == ()
    long = [*every_third * 3, *[0] * 60, *every_third * 3]
    assert seconds_of(course(ios={"a": long}, seconds=len(long)).findings()) != []
    steady = [3, 2, 4, 0, 3, 2, 0, 0, 4, 3] * 4
    assert course(ios={"a": steady}).findings() == ()


def test_a_stall_of_all_nodes_is_one_and_of_some_names_them(golden: Golden) -> None:
    three = dict.fromkeys(("a", "b", "c"), BUSY * 10 + NOTHING * 5 + BUSY * 25)
    golden.same(texts(course(ios=three).findings())[0])
    two = {**three, "c": BUSY * 40}
    golden.same(texts(course(ios=two).findings())[0])
    apart = {**two, "b": BUSY * 20 + NOTHING * 5 + BUSY * 15}
    golden.same([text.partition(" from")[0] for text in texts(course(ios=apart).findings())])


def test_a_stall_to_the_end_and_one_from_the_beginning() -> None:
    assert seconds_of(course(ios={"a": BUSY * 30}, ended=40.0).findings()) == [(30.0, 40.0)]
    assert seconds_of(course(ios={"a": BUSY * 30 + NOTHING * 10}, ended=40.5).findings()) == [(30.0, 40.0)]
    assert seconds_of(course(ios={"a": NOTHING * 8 + BUSY * 32}).findings()) == [(0.0, 8.0)]
    assert seconds_of(course(ios={"a": NOTHING * 3 + BUSY * 37}).findings()) == [], "a tool takes a moment to begin"
    assert seconds_of(course(ios={"a": BUSY * 38}, ended=41.0).findings()) == [], "and to end"


def test_a_lost_node_is_the_cause_of_its_own_silence(golden: Golden) -> None:
    found = course(ios={"a": BUSY * 40, "b": BUSY * 15})
    found.end("b", 31.0)
    lost = {"b": "b: the connection was lost"}
    golden.same(texts(found.findings(lost)))


def test_many_stalls_are_summed_up(golden: Golden) -> None:
    found = course(ios={"a": (BUSY * 6 + NOTHING * 2) * 10}, seconds=80).findings()
    assert len(found) == 6
    (rest,) = [finding for finding in found if finding.from_seconds is None]
    golden.same(rest.text)


def test_while_it_goes_on_a_stall_is_found_as_soon_as_the_cluster_is_that_far(golden: Golden) -> None:
    found = Course()
    found.cluster(said(0.0, phase="prepare"))
    for second in range(1, 11):
        found.add(sample(second, 1000))
    for second in (2, 4, 6, 8, 10, 12, 14):
        found.cluster(said(second))
    assert found.findings() == ()
    found.cluster(said(16, osds_up=2, osds_down=("osd.0",)))
    golden.same(texts(found.findings())[0])


def test_what_is_kept_of_a_day_is_bounded() -> None:
    found = course(seconds=86400 // 8)
    assert found.findings() == ()
    assert len(found._others._own) < 30
    assert stalls.STALL_SECONDS == 2.0


# ---------------------------------------------------------------------------------------------- falls and rises

SLOWED = {"recovery_bandwidth_bytes": 100 << 20}


@pytest.mark.parametrize(
    ("cluster", "levels", "word"),
    [
        ({(20, 99): SLOWED}, (1000, 600), "cause"),
        ({(20, 99): SLOWED}, (1000, 300), "cause"),
        ({(4, 99): SLOWED}, (1000, 600), "beside"),
        ({}, (1000, 600), "unexplained"),
        ({(0, 22): SLOWED}, (600, 1000), "cause"),
        ({(0, 34): SLOWED}, (600, 1000), None),
    ],
    ids=str,
)
def test_a_step_has_what_began_or_ended_with_it_as_its_cause(
    cluster: dict[tuple[float, float], dict[str, object]], levels: tuple[int, int], word: str | None, golden: Golden
) -> None:
    findings = course(cluster, {"a": [levels[0]] * 20 + [levels[1]] * 20}).findings()
    (step,) = [finding for finding in findings if finding.code in ("not-settled", "collapse")]
    assert [name for name in ("cause", "beside", "unexplained") if name in step.values] == ([word] if word else [])
    assert ("wait until recovery is complete" in step.cure) == (word == "cause")
    golden.same(step.text)


# ---------------------------------------------------------------------------------------------- one slow node


def test_a_node_that_is_slower_all_the_time_is_named() -> None:
    found = course(ios={"a": [1670] * 20, "b": [370] * 20, "c": [1790] * 20}, seconds=20).findings()
    assert [(finding.code, finding.values["node"], finding.values["rate"]) for finding in found] == [
        ("slow-node", "b", 370.0)
    ]


def test_slow_nodes_are_named_beside_a_stall_of_another() -> None:
    ios = {"a": [1670] * 20, "b": [370] * 20, "c": [1790] * 20, "d": [400] * 20}
    findings = course(ios={**ios, "e": [*[1700] * 10, *[0] * 5, *[1700] * 5]}, seconds=20).findings()
    assert [finding.values["slow_nodes"] for finding in findings if finding.code == "slow-node"] == [("b", "d")]
    assert "stalled" in {finding.code for finding in findings}


def test_a_node_that_stands_still_is_told_once() -> None:
    found = course(ios={"a": [1670] * 20, "b": [*[1700] * 4, *[0] * 16], "c": [1790] * 20}, seconds=20).findings()
    assert {finding.code for finding in found} == {"stalled"}
