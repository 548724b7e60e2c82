"""What OSDs counted in a run: each as a whole, over time in bounded space, and their message cap."""

from __future__ import annotations

import pytest

from cephtui.analysis.detectors.incidents import Course
from cephtui.analysis.detectors.osds import OsdsSoFar
from cephtui.models import Interval, OsdInterval, OsdSample, Sample
from tests.support.plans import plan

STEP = plan("write-iops", target="rbd:bench", nodes=("a", "b", "c")).steps[0]


def sample(second: float, received: int = 1000, refused: int = 0, **fields: object) -> OsdSample:
    osds = {
        "0": OsdInterval(writes=300, write_seconds=0.01, received=received // 2, refused=refused),
        "10": OsdInterval(reads=100, read_seconds=0.04, subops=300, subop_seconds=0.006, received=received // 2),
    }
    counted = OsdSample(run=1, elapsed_seconds=second, interval_seconds=1.0, osds=osds, message_cap=256)
    return counted.model_copy(update=fields)


def test_each_osd_has_its_share_and_its_latencies() -> None:
    osds = OsdsSoFar()
    osds.add(sample(-1.0, phase="prepare"))
    for second in range(10):
        osds.add(sample(second))
    results = osds.results()
    assert list(results) == ["0", "10"]
    assert [(one.share, one.reads, one.writes, one.subops) for one in results.values()] == [
        (0.75, 0, 3000, 0),
        (0.25, 1000, 0, 3000),
    ]
    assert results["0"].read_seconds is None
    assert results["0"].write_seconds == pytest.approx(0.01)
    assert results["10"].subop_seconds == pytest.approx(0.006)


@pytest.mark.parametrize(
    ("slow", "alike", "codes"),
    [
        ({"writes": 300, "write_seconds": 0.05}, {"writes": 300, "write_seconds": 0.01}, ["slow-osd"]),
        ({"writes": 300, "write_seconds": 0.01}, {"writes": 300, "write_seconds": 0.01}, []),
        ({"reads": 300, "read_seconds": 0.05}, {"reads": 300, "read_seconds": 0.01, "writes": 9}, ["slow-osd"]),
        (
            {"writes": 300, "write_seconds": 0.06, "subops": 300, "subop_seconds": 0.05},
            {"writes": 300, "write_seconds": 0.06, "subops": 300, "subop_seconds": 0.01},
            ["slow-osd"],
        ),
    ],
    ids=["one copy", "alike", "reads", "copies"],
)
def test_an_osd_that_answers_later_than_the_others_is_a_finding(
    slow: dict[str, float], alike: dict[str, float], codes: list[str]
) -> None:
    osds = OsdsSoFar()
    by_id = {"0": OsdInterval(**slow), "1": OsdInterval(**alike), "2": OsdInterval(**alike)}
    for second in range(1, 21):
        osds.add(sample(second, osds=by_id))
    findings = list(osds.findings())
    assert [finding.code for finding in findings] == codes
    assert all(finding.values["osd"] == "osd.0" for finding in findings)


def test_a_message_cap_that_holds_clients_back_is_a_finding() -> None:
    osds = OsdsSoFar(STEP)
    for second in range(1, 11):
        osds.add(sample(second, refused=400 if second > 4 else 0))
    (finding,) = osds.findings()
    assert (finding.code, finding.from_seconds, finding.to_seconds) == ("message-cap", 4.0, 10.0)
    assert finding.values == {"share": pytest.approx(2400 / 12400), "cap": 256, "osds": 2, "in_flight": 1536}


@pytest.mark.parametrize("refused", [0, 20])
def test_few_refusals_are_no_finding(refused: int) -> None:
    osds = OsdsSoFar(STEP)
    for second in range(1, 31):
        osds.add(sample(second, refused=refused))
    assert [*osds.findings()] == []


def test_many_refusals_for_a_moment_are_no_finding() -> None:
    osds = OsdsSoFar(STEP)
    for second in range(1, 31):
        osds.add(sample(second, refused=9000 if second < 3 else 0))
    assert [*osds.findings()] == []


def test_no_permission_is_one_note() -> None:
    course = Course()
    course.add(Sample(1, "a", "p", "run", 1.0, 1.0, None, Interval(1, 4096, 1.0, 4096.0)))
    course.osds_denied()
    course.osds_denied()
    assert [(finding.code, finding.level) for finding in course.findings()] == [("osd-counters", "note")]


@pytest.mark.parametrize(("refused", "cause"), [(400, "message cap reached"), (0, None)])
def test_a_stall_while_osds_receive_no_more_has_that_cause(refused: int, cause: str | None) -> None:
    course = Course("iops", "fio", step=STEP)
    for second in range(1, 31):
        ios = 0 if 10 < second <= 16 else 500
        for node in ("a", None):
            course.add(Sample(1, node, "p", "run", second, 1.0, None, Interval(ios, ios * 4096, ios, ios * 4096.0)))
        course.osds(sample(second, refused=refused if second > 8 else 0))
    course.end("a", 30.0)
    assert cause_of(course) == cause


def cause_of(course: Course) -> object:
    (stall,) = [finding for finding in course.findings() if finding.code == "stalled"]
    return stall.values.get("cause")


@pytest.mark.parametrize(
    ("missing", "cause"),
    [(("10",), "osd.10 did not answer"), (("0", "10"), "osd.0, osd.10 did not answer"), ((), None)],
)
def test_a_stall_while_an_osd_does_not_answer_has_that_cause(missing: tuple[str, ...], cause: str | None) -> None:
    course = Course("iops", "fio", step=STEP)
    for second in range(1, 31):
        ios = 0 if 10 < second <= 16 else 500
        for node in ("a", None):
            course.add(Sample(1, node, "p", "run", second, 1.0, None, Interval(ios, ios * 4096, ios, ios * 4096.0)))
        silent = missing if 11 < second <= 17 else ()
        course.osds(sample(second, missing=silent, interval_seconds=0.0 if len(silent) == 2 else 1.0))
    course.end("a", 30.0)
    assert cause_of(course) == cause
