"""A node that breaks off a run which others complete: what is said of it, and which seconds count."""

from __future__ import annotations

import pytest

from cephtui.analysis.detectors.ended import ended_text, ended_word, finding_of, left_early
from cephtui.analysis.detectors.incidents import Course
from cephtui.models import Interval, NodeEnded, Outcome, Sample
from tests.support.golden import Golden

NODES = ("lab1", "lab2", "lab3")
ASKED = 60.0


def end(node: str, at: float | None, outcome: Outcome = "ok", error: str | None = None) -> NodeEnded:
    return NodeEnded(run=1, node=node, elapsed_seconds=at, outcome=outcome, error=error)


def early(*ended: NodeEnded, nodes: tuple[str, ...] = NODES) -> list[str]:
    return [each.node for each in left_early({each.node: each for each in ended}, nodes)]


@pytest.mark.parametrize(
    ("ended", "left"),
    [
        ((end("lab2", 12.0, "failed"),), ["lab2"]),
        ((end("lab2", 12.0, "failed"), end("lab1", 60.0), end("lab3", 60.1)), ["lab2"]),
        ((end("lab2", 12.0, "lost"), end("lab1", 5.0, "failed"), end("lab3", 60.0)), ["lab1", "lab2"]),
        ((end("lab2", None, "refused"),), ["lab2"]),
        ((end("lab2", None, "failed"), end("lab1", 60.0), end("lab3", 60.0)), ["lab2"]),
        # the end of its part, and what ends all of them
        ((end("lab2", 58.0), end("lab1", 60.0), end("lab3", 60.0)), []),
        ((end("lab2", 12.0, "failed"), end("lab1", 12.3, "failed"), end("lab3", 12.1, "failed")), []),
        ((end("lab2", 12.0, "stopped"), end("lab1", 14.0, "stopped"), end("lab3", 14.0, "stopped")), []),
        ((end("lab2", None, "failed"), end("lab1", None, "failed"), end("lab3", None, "failed")), []),
    ],
)
def test_who_left_the_others_early(ended: tuple[NodeEnded, ...], left: list[str]) -> None:
    assert early(*ended) == left


def test_a_single_node_leaves_nobody() -> None:
    assert early(end("lab2", 12.0, "failed"), nodes=("lab2",)) == []


def test_what_where_and_since_when_is_told(golden: Golden) -> None:
    killed = end("lab2", 12.34, "failed", "fio was killed (SIGKILL)")
    golden.same(ended_text(killed))
    assert ended_word(killed) == "ended 0:12"
    lost = end("lab2", 12.34, "lost", "lab2: the connection was lost while measuring")
    golden.same(ended_text(lost))
    assert ended_word(lost) == "lost 0:12"
    golden.same(ended_text(end("lab2", None, "refused", "no space left")))
    assert ended_word(end("lab2", 60.0)) == "done"


def test_the_finding_has_the_time_from_the_end_of_the_node_on(golden: Golden) -> None:
    found = finding_of(end("lab2", 12.34, "failed", "fio was killed (SIGKILL)"), ASKED)
    assert (found.code, found.label) == ("node-ended", "without lab2")
    assert (found.from_seconds, found.to_seconds) == (12.34, ASKED)
    golden.same(found.text)
    never = finding_of(end("lab2", None, "failed", "no space left"), ASKED)
    assert never.from_seconds is None
    golden.same(never.text)


# ---------------------------------------------------------------------------------------------- which seconds count


def second(at: float, *nodes: str, missing: tuple[str, ...] = ()) -> list[Sample]:
    """One in which each of these did 100 I/Os, and that of all."""

    def sample(node: str | None, ios: int) -> Sample:
        return Sample(
            1, node, "write-iops", "run", at, 1.0, None, Interval(ios, 4096 * ios, ios, 4096.0 * ios), missing
        )

    return [*(sample(node, 100) for node in nodes), sample(None, 100 * len(nodes))]


def of_seconds(course: Course) -> tuple[int, float, float]:
    found = course.seconds.summary()
    assert found
    return found.count, found.least, found.greatest


def measured(seconds: int, *nodes: str, course: Course, after: int = 0, missing: tuple[str, ...] = ()) -> None:
    for at in range(after + 1, after + seconds + 1):
        for sample in second(float(at), *nodes, missing=missing):
            course.add(sample)


def test_the_seconds_after_a_node_broke_off_count_as_those_before_do() -> None:
    """The sum over the whole run time does so too."""
    course = Course()
    measured(10, *NODES, course=course)
    course.end("lab2", 10.2, broke_off=True)
    measured(50, "lab1", "lab3", course=course, after=10)
    assert of_seconds(course) == (60, 200.0, 300.0)
    found = course.seconds.summary()
    assert found
    assert found.mean == pytest.approx((10 * 300 + 50 * 200) / 60)


def test_the_seconds_until_it_comes_to_light_count_too() -> None:
    course = Course()
    measured(10, *NODES, course=course)
    measured(15, "lab1", "lab3", course=course, after=10, missing=("lab2",))
    assert of_seconds(course) == (10, 300.0, 300.0), "it may only be late"
    course.end("lab2", 25.4, broke_off=True)
    measured(35, "lab1", "lab3", course=course, after=25)
    assert of_seconds(course) == (60, 200.0, 300.0)


def test_seconds_without_a_node_that_is_heard_again_are_none_of_all() -> None:
    course = Course()
    measured(10, *NODES, course=course)
    measured(3, "lab1", "lab3", course=course, after=10, missing=("lab2",))
    measured(10, *NODES, course=course, after=13)
    course.end("lab2", 23.2, broke_off=True)
    assert of_seconds(course) == (20, 300.0, 300.0)


def test_seconds_after_a_node_came_to_its_end_are_none_of_all() -> None:
    course = Course()
    measured(10, *NODES, course=course)
    course.end("lab2", 10.2)
    measured(5, "lab1", "lab3", course=course, after=10)
    assert of_seconds(course) == (10, 300.0, 300.0)


def test_the_level_without_a_node_is_no_run_that_did_not_settle() -> None:
    course = Course()
    measured(30, *NODES, course=course)
    course.end("lab2", 30.2, broke_off=True)
    measured(30, "lab1", "lab3", course=course, after=30)
    assert "not-settled" not in [finding.code for finding in course.findings()]
