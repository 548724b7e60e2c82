"""What explains a span of a run: the user's newest mark before it, what the cluster reported beside it, or nothing."""

from __future__ import annotations

import pytest

from cephtui.analysis.detectors.explaining import (
    explanation,
    explanation_of_rise,
    joined_if_many,
    mark_of,
    with_mark,
    with_operations,
)
from cephtui.analysis.detectors.incidents import Course
from cephtui.models import Finding, Interval, Mark, Sample, SlowestOperation
from cephtui.models.findings.cluster import (
    FLAG,
    HEALTH_OTHER,
    HEALTH_SPEED,
    OSD_DOWN,
    PGS_INACTIVE,
    PGS_SPLIT,
    RECOVERY,
    SCRUB,
    SLOW_OPS,
    SLOW_OSD,
)
from cephtui.models.findings.kind import FindingKind
from cephtui.models.findings.machine import STEAL
from cephtui.models.findings.measurement import STALLED
from tests.support.runs import STARTED
from tests.support.runs import run as measured

FROZEN, RESUMED = (15.3, "osd.1 frozen"), (19.3, "osd.1 resumed")
DOWN = OSD_DOWN.found((16.0, 22.0), osd="osd.1")
SILENT = {"cause": "osd.1 did not answer", "cause_code": SLOW_OSD.code}


def caused(event: Finding) -> dict[str, object]:
    return {"cause": event.text, "cause_code": event.code}


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ((), None),
        ((FROZEN, RESUMED), FROZEN),
        ((RESUMED, FROZEN), FROZEN),
        (((1.0, "cache off"), FROZEN), FROZEN),
        (((1.0, "cache off"),), (1.0, "cache off")),
        (((16.0, "as it begins"),), (16.0, "as it begins")),
        (((16.1, "too late"),), None),
    ],
)
def test_the_newest_mark_at_or_before_the_begin(
    marks: tuple[tuple[float, str], ...], expected: tuple[float, str] | None
) -> None:
    assert mark_of(15.0, marks) == expected


def test_a_mark_and_what_the_cluster_reported_stand_together() -> None:
    noted = {"marked_seconds": FROZEN[0], "mark": FROZEN[1]}
    assert explanation(15.0, 19.0, [FROZEN], [DOWN], is_asked=True) == {**noted, **caused(DOWN)}
    assert explanation(15.0, 19.0, [FROZEN, RESUMED], [], is_asked=True) == noted


def test_the_likeliest_of_what_was_reported_beside_it_explains_it() -> None:
    flag, scrub = FLAG.found((14.0, 20.0), flag="pause"), SCRUB.found((1.0, 30.0), pgs=1, of=32)
    earlier = OSD_DOWN.found((1.0, 5.0), osd="osd.2")
    assert explanation(15.0, 19.0, [], [scrub, flag, DOWN, earlier], is_asked=True) == caused(DOWN)
    assert explanation(15.0, 19.0, [], [scrub, flag, earlier], is_asked=True) == caused(flag)
    assert explanation(15.0, 19.0, [], [scrub, earlier], is_asked=True) == {"beside": (scrub.text,)}
    assert explanation(15.0, 19.0, [], [earlier], is_asked=True) == {"unexplained": True}
    assert explanation(15.0, 19.0, [], [earlier], is_asked=False) == {}, "the cluster was not asked"


def test_what_else_the_cluster_reported_beside_a_span_is_told() -> None:
    split = PGS_SPLIT.found((10.0, 20.0), before=32, after=64)
    full = HEALTH_SPEED.found((12.0, 20.0), status="HEALTH_ERR", details=("1 full osd(s)",))
    recovery = RECOVERY.found((8.0, 30.0), rate_bytes=5e8)
    later, scrub = SCRUB.found((24.0, 30.0), pgs=1, of=32), SCRUB.found((1.0, 30.0), pgs=1, of=32)
    others = [later, scrub, recovery, split, full, HEALTH_OTHER.found((1.0, 30.0), status="HEALTH_WARN")]
    known = explanation(11.0, 15.0, [], others, is_asked=True)
    assert known == {"beside": (split.text, full.text, recovery.text)}, "the three that began next to it"
    assert "nothing" not in STALLED.found((11.0, 15.0), seconds=4.0, **known).text
    assert explanation(11.0, 15.0, [(10.0, "m")], [full], is_asked=True) == {
        "mark": "m",
        "marked_seconds": 10.0,
        "beside": (full.text,),
    }
    assert "beside" not in explanation(11.0, 15.0, [], [*others, DOWN], is_asked=True)


PEERING = PGS_INACTIVE.found((300.0, 304.0), pgs=4, of=32)


@pytest.mark.parametrize("flag", ["noout", "noscrub", "nodeep-scrub", "norebalance"])
def test_a_flag_that_leaves_clients_alone_explains_nothing(flag: str) -> None:
    beside = FLAG.found((299.0, 310.0), flag=flag)
    assert explanation(300.0, 304.0, [], [beside], is_asked=True) == {"unexplained": True}
    assert explanation(300.0, 304.0, [], [beside, PEERING], is_asked=True) == caused(PEERING)


@pytest.mark.parametrize(("begun", "explains"), [(5.0, False), (15.0, False), (25.0, True)])
def test_of_many_flags_one_that_holds_clients_explains_what_is_beside_it(begun: float, explains: bool) -> None:
    spans = {"noout": (0.0, 40.0), "noscrub": (0.0, 40.0), "nodeep-scrub": (0.0, 40.0), "pauserd": (24.0, 30.0)}
    flags = [FLAG.found(span, flag=flag) for flag, span in spans.items()]
    found = explanation(begun, begun + 4.0, [], flags, is_asked=True)
    assert found == (caused(flags[-1]) if explains else {"unexplained": True})


def test_of_many_osds_that_were_down_those_beside_it_explain_it() -> None:
    away = [OSD_DOWN.found((16.0, 22.0), osd=f"osd.{number}") for number in range(4)]
    later = [OSD_DOWN.found((100.0, 110.0), osd=f"osd.{number}") for number in range(4, 8)]
    (together,) = joined_if_many(away)
    assert explanation(15.0, 19.0, [], [*later, *away], is_asked=True) == caused(together)


def test_an_osd_that_is_down_explains_what_is_beside_its_going_or_its_return() -> None:
    down = OSD_DOWN.found((16.0, 305.0), osd="osd.1")
    assert explanation(10.0, 18.0, [], [down], is_asked=True) == caused(down)
    assert explanation(300.0, 304.0, [], [down, PEERING], is_asked=True) == caused(down)
    assert explanation(150.0, 154.0, [], [down], is_asked=True) == {"beside": (down.text,)}
    early = OSD_DOWN.found((0.0, 305.0), osd="osd.1", early=True)
    assert explanation(1.0, 4.0, [], [early], is_asked=True) == {"beside": (early.text,)}, "it went before the run"
    assert explanation(303.0, 308.0, [], [early], is_asked=True) == caused(early)
    to_the_end = OSD_DOWN.found((16.0, 305.0), osd="osd.1", to_the_end=True)
    assert explanation(300.0, 304.0, [], [to_the_end, PEERING], is_asked=True) == caused(PEERING)
    flapping = OSD_DOWN.found((16.0, 305.0), osd="osd.1", times=9)
    assert explanation(150.0, 154.0, [], [flapping], is_asked=True) == caused(flapping)


TAKEN = STEAL.found((29.0, 34.0), node="pve1", ratio=0.25)


def test_what_was_so_all_the_time_is_no_cause_but_beside_it() -> None:
    always = STEAL.found((0.0, 60.0), node="pve1", ratio=0.25)
    paused = FLAG.found((0.0, 60.0), flag="pause", early=True)
    for event in (always, paused, SLOW_OPS.found((1.0, 60.0), operations=3)):
        for begun in (3.0, 30.0):
            values = explanation(begun, begun + 6.0, [], [event], is_asked=True)
            assert values == ({"beside": (event.text,)} if event.code != FLAG.code else {"unexplained": True})
    assert explanation(30.0, 34.0, [], [always], is_asked=True, otherwise=SILENT) == SILENT
    assert explanation(0.0, 8.0, [], [paused], is_asked=True) == caused(paused), "I/O has stopped as the run began"


@pytest.mark.parametrize(("at", "causes"), [(25.0, False), (26.0, True), (34.0, True), (35.0, False)])
def test_a_cause_begins_next_to_what_it_causes(at: float, causes: bool) -> None:
    for event in (STEAL.found((at, 50.0), node="pve1", ratio=0.25), PGS_INACTIVE.found((at, 50.0), pgs=1, of=32)):
        values = explanation(30.0, 50.0, [], [event], is_asked=True)
        assert values == (caused(event) if causes else {"beside": (event.text,)})


@pytest.mark.parametrize(("kind", "latest"), [(OSD_DOWN, 64.0), (SLOW_OPS, 74.0)])
def test_what_ceph_reports_late_is_a_cause_for_so_long(kind: FindingKind, latest: float) -> None:
    for at in (latest, latest + 1):
        event = kind.found((at, 90.0), osd="osd.1", operations=3, to_the_end=True)
        assert explanation(30.0, 90.0, [], [event], is_asked=True) == (
            caused(event) if at == latest else {"beside": (event.text,)}
        )


def test_what_osds_tell_comes_before_what_nodes_did_and_after_an_osd_that_went() -> None:
    down = OSD_DOWN.found((30.0, 50.0), osd="osd.1")
    assert explanation(30.0, 34.0, [], [TAKEN], is_asked=True, otherwise=SILENT) == SILENT
    assert explanation(30.0, 34.0, [], [TAKEN, down], is_asked=True, otherwise=SILENT) == caused(down)
    assert explanation(30.0, 34.0, [], [TAKEN], is_asked=True) == caused(TAKEN)


def test_what_only_slows_io_is_a_cause_of_a_fall_and_beside_a_stall() -> None:
    recovery = RECOVERY.found((31.0, 60.0), rate_bytes=5e8)
    assert explanation(30.0, 60.0, [], [recovery], is_asked=True, stopped=False) == caused(recovery)
    assert explanation(30.0, 60.0, [], [recovery], is_asked=True) == {"beside": (recovery.text,)}
    idle = FLAG.found((31.0, 60.0), flag="noout")
    assert explanation(30.0, 60.0, [], [idle], is_asked=True, stopped=False) == {"unexplained": True}


def test_what_ends_as_a_run_rises_had_slowed_it() -> None:
    ended = RECOVERY.found((0.0, 31.0), rate_bytes=5e8, early=True)
    going_on = RECOVERY.found((0.0, 31.0), rate_bytes=5e8, to_the_end=True)
    begun, earlier = SCRUB.found((29.0, 31.0), pgs=1, of=32), SCRUB.found((1.0, 20.0), pgs=1, of=32)
    assert explanation_of_rise(30.0, [(29.5, "backup ended")], [begun, ended, earlier]) == {
        "mark": "backup ended", "marked_seconds": 29.5, **caused(ended)
    }  # fmt: skip
    assert explanation_of_rise(30.0, [], [begun, going_on, earlier]) == {}


@pytest.mark.parametrize("early", [(), ((1.0, "cache off"),), (FROZEN,)])
@pytest.mark.parametrize("late", [FROZEN, RESUMED, (5.0, "noout set")])
@pytest.mark.parametrize("events", [[], [DOWN]])
@pytest.mark.parametrize("is_asked", [False, True])
def test_a_mark_that_is_worded_after_the_end_explains_as_one_before_it(
    early: tuple[tuple[float, str], ...], late: tuple[float, str], events: list[Finding], is_asked: bool
) -> None:
    def found(*marks: tuple[float, str]) -> Finding:
        span = (15.0, 19.0)
        return STALLED.found(span, seconds=4.0, **explanation(*span, marks, events, is_asked=is_asked))

    run = measured(1, findings=(found(*early), DOWN))
    assert with_mark(run, *late).findings == (found(*early, late), DOWN)


def test_a_finding_of_an_earlier_cephtui_stays_as_it_is() -> None:
    run = measured(1, findings=(Finding(code="stalled", text="4 s", from_seconds=15.0, to_seconds=19.0),))
    assert with_mark(run, *FROZEN) == run


def stalled(*marks: tuple[float, str]) -> str:
    """What a run says of its only gap, from 15 s to 19 s."""
    course = Course("iops", "fio")
    for second in [*range(1, 16), *range(20, 31)]:
        done = Interval(100, 409600, 100.0, 409600.0)
        for node in ("a", None):
            course.add(Sample(1, node, "write-iops", "run", float(second), 1.0, None, done))
    for at, text in marks:
        course.mark(Mark(at=STARTED, run=1, elapsed_seconds=at, text=text))
    course.end("a", 30.0)
    (finding,) = course.findings()
    return finding.text


def test_the_finding_of_a_gap_names_the_mark_before_it() -> None:
    assert "osd.1 frozen" in stalled(FROZEN, RESUMED)
    assert "osd.1 resumed" not in stalled(FROZEN, RESUMED)
    assert "mark" not in stalled()
    assert "mark" not in stalled(RESUMED)


@pytest.mark.parametrize(
    ("at", "seconds", "own", "explains"),
    [
        (14.8, 4.3, True, True),
        (14.8, 4.3, None, True),
        (14.8, 4.3, False, False),  # another client's
        (2.0, 4.3, True, False),
        (14.8, 1.0, True, False),  # over long before the stall is
    ],
)
def test_an_operation_that_was_under_way_says_what_a_stall_waited_for(
    at: float, seconds: float, own: bool | None, *, explains: bool
) -> None:
    stall = STALLED.found((15.0, 19.0), seconds=4.0, unexplained=True)
    operation = SlowestOperation(
        osd="osd.1", seconds=seconds, stages={"queue": 0.1, "throttled": seconds - 0.1}, at_seconds=at, own=own
    )
    (found,) = with_operations(measured(findings=(stall,), slowest=(operation,))).findings
    said = "an operation took 4.30 s on osd.1, 4.20 s of it throttled"
    assert (said in found.text) is explains
    assert ("the cluster reported no reason" in found.text) is not explains


def test_a_stall_whose_cause_is_known_keeps_it() -> None:
    stall = STALLED.found((15.0, 19.0), seconds=4.0, **SILENT)
    operation = SlowestOperation(osd="osd.1", seconds=4.0, stages={"queue": 4.0}, at_seconds=15.0, own=True)
    assert with_operations(measured(findings=(stall,), slowest=(operation,))).findings == (stall,)
    assert with_operations(measured(findings=(stall,))).findings == (stall,)
