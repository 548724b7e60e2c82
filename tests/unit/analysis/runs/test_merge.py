"""Seconds of several nodes become seconds of all of them: nothing is lost, counted twice or made up."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui import stats
from cephtui.analysis.runs.merge import LATE_SECONDS, Merged, Merger
from cephtui.models import Interval, Phase
from cephtui.tools.base import Reading
from tests.support.known import known

NODES = ("a", "b", "c")
BLOCK = 4096
PHASES: tuple[Phase, ...] = ("ramp", "run")


def interval(ios: int, seconds: float = 1.0, bucket: int = 1000) -> Interval:
    mean = stats.bucket_nanoseconds(bucket) / 1e9 if ios else None
    return stats.make_interval(ios, BLOCK * ios, seconds, mean, {bucket: ios} if ios else None)


def reading(elapsed: float, ios: int, phase: Phase = "run", *, seconds: float = 1.0, bucket: int = 1000) -> Reading:
    return Reading(phase, elapsed, seconds, None, interval(ios, seconds, bucket))


def written(merged: Merged) -> Interval:
    assert merged.reading.read is None
    assert merged.reading.write is not None
    return merged.reading.write


# ---------------------------------------------------------------------------------------------- in step


def test_one_node_passes_through_unchanged_and_at_once() -> None:
    merger = Merger(["a"])
    for second in range(1, 6):
        said = reading(second + 0.013, 1000 + second, "ramp" if second < 3 else "run")
        (merged,) = merger.add("a", [said], second + 0.013)
        assert merged.reading is said
        assert merged.missing == ()
    assert merger.tick(100.0) == []
    assert merger.end("a", 100.0) == []


def test_three_nodes_in_step_are_one_to_one() -> None:
    merger = Merger(NODES)
    jitter = {"a": 0.01, "b": 0.09, "c": -0.07}
    for second in range(1, 11):
        order = sorted(NODES, key=lambda node: jitter[node] * (-1) ** second)
        said = [reading(second + jitter[node], 100 * second + index) for index, node in enumerate(order)]
        found = [merger.add(node, [r], second + r.elapsed_seconds) for node, r in zip(order, said, strict=True)]
        assert found[:2] == [[], []]
        (merged,) = found[2]
        assert merged.missing == ()
        assert merged.reading.phase == "run"
        assert merged.reading.interval_seconds == 1.0
        assert merged.reading.elapsed_seconds == max(r.elapsed_seconds for r in said)
        assert written(merged) == stats.add_intervals([r.write for r in said if r.write])
        assert written(merged).ios == 300 * second + 3


def test_reads_and_writes_stay_apart_and_what_nobody_does_is_null() -> None:
    merger = Merger(["a", "b"])
    merger.add("a", [Reading("run", 1.0, 1.0, interval(10), None)], 1.0)
    (both,) = merger.add("b", [Reading("run", 1.0, 1.0, interval(5), interval(7))], 1.0)
    assert both.reading.read is not None
    assert both.reading.write is not None
    assert (both.reading.read.ios, both.reading.write.ios) == (15, 7)
    merger.add("a", [Reading("run", 2.0, 1.0, None, interval(1))], 2.0)
    (one,) = merger.add("b", [Reading("run", 2.0, 1.0, None, interval(2))], 2.0)
    assert one.reading.read is None


# ---------------------------------------------------------------------------------------------- late


def test_a_node_that_stalls_is_waited_for_then_missed_then_added_later() -> None:
    """b says nothing from 3.0 to 8.0; its five seconds come as one, as fio's next status does."""
    merger = Merger(NODES)
    closed: list[tuple[float, Merged]] = []
    now = 0.0
    for tenth in range(1, 121):
        now = tenth / 10
        found: list[Merged] = []
        if tenth % 10 == 0:
            second = tenth // 10
            found += merger.add("a", [reading(now, 100)], now)
            found += merger.add("c", [reading(now, 1)], now)
            if second <= 3 or second > 8:
                found += merger.add("b", [reading(now, 10)], now)
            elif second == 8:
                found += merger.add("b", [reading(now, 50, seconds=5.0)], now)
        found += merger.tick(now)
        closed += [(now, merged) for merged in found]
    before = [merged for at, merged in closed if at <= 3.0]
    without = [(at, merged) for at, merged in closed if merged.missing]
    assert [(m.missing, written(m).ios) for m in before] == [((), 111)] * 3
    assert without[0][0] == pytest.approx(4.0 + LATE_SECONDS), "not before two seconds, and not later"
    assert all(3.0 < at <= 8.0 and m.missing == ("b",) for at, m in without)
    assert all(written(m).iops == 101.0 for _, m in without), "what is missing is no zero"
    back = next(index for index, (at, m) in enumerate(closed) if at >= 8.0 and not m.missing)
    assert 50 < known(written(closed[back][1]).ios) <= 50 + 3 * 101, "what it did meanwhile is in a later second"
    after = [m for _, m in closed[back + 1 :]]
    assert len(after) >= 3
    assert [(m.missing, written(m).ios) for m in after] == [((), 111)] * len(after)
    closed += [(now, merged) for node in NODES for merged in merger.end(node, now)]
    assert sum(known(written(m).ios) for _, m in closed) == 12 * 101 + 12 * 10


def test_a_stall_is_not_told_as_more_than_it_was() -> None:
    """Rates are those of the nodes in it; a second with several seconds of a node is as long as they are."""
    merger = Merger(["a", "b"])
    assert merger.add("a", [reading(1.0, 100)], 1.0) == []
    assert merger.add("a", [reading(2.0, 300)], 2.0) == []
    found = merger.tick(1.0 + LATE_SECONDS)
    assert [(m.missing, m.reading.elapsed_seconds, written(m).ios, written(m).iops) for m in found] == [
        (("b",), 1.0, 100, 100.0),
        (("b",), 2.0, 300, 300.0),
    ]
    assert merger.add("b", [reading(1.0, 10), reading(2.0, 20), reading(3.0, 30)], 3.5) == []
    (merged,) = merger.add("a", [reading(4.0, 100)], 4.0)
    assert merged.missing == ()
    assert (merged.reading.elapsed_seconds, merged.reading.interval_seconds) == (4.0, 3.0)
    assert (written(merged).ios, written(merged).iops, written(merged).bandwidth_bytes) == (160, 120.0, 120.0 * BLOCK)


def test_a_node_that_is_ahead_waits_for_the_others() -> None:
    """fio's last two intervals are told together: the second of them is of the same second as the others' last."""
    merger = Merger(NODES)
    merger.add("a", [reading(16.4, 100), reading(17.5, 110)], 17.5)
    assert merger.end("a", 17.5) == []
    merger.add("b", [reading(16.7, 10)], 17.6)
    (first,) = merger.add("c", [reading(16.7, 1)], 17.6)
    merger.add("b", [reading(17.7, 20)], 17.7)
    (last,) = merger.add("c", [reading(17.7, 2)], 17.7)
    assert [written(merged).ios for merged in (first, last)] == [111, 132]
    assert [merged.reading.interval_seconds for merged in (first, last)] == [1.0, 1.0]
    assert [merged.reading.elapsed_seconds for merged in (first, last)] == [16.7, 17.7]
    assert [merged for node in NODES for merged in merger.end(node, 17.8)] == []


def test_silence_of_all_makes_no_sample() -> None:
    merger = Merger(NODES)
    assert [merger.tick(float(now)) for now in range(60)] == [[]] * 60


def test_a_node_that_never_spoke_is_missed_by_its_name_in_the_order_of_the_nodes() -> None:
    merger = Merger(NODES)
    merger.add("b", [reading(1.0, 5)], 1.0)
    (merged,) = merger.tick(1.0 + LATE_SECONDS)
    assert merged.missing == ("a", "c")
    assert written(merged).ios == 5


def test_a_node_that_was_missed_is_not_waited_for_again_until_it_speaks() -> None:
    merger = Merger(["a", "b"])
    merger.add("a", [reading(1.0, 1)], 1.0)
    assert len(merger.tick(3.0)) == 1
    (second,) = merger.add("a", [reading(4.0, 1)], 4.0)
    assert second.missing == ("b",)
    (back,) = merger.add("b", [reading(4.5, 7)], 4.5) or merger.add("a", [reading(5.0, 1)], 5.0)
    assert (back.missing, written(back).ios) == ((), 8)
    assert merger.add("a", [reading(6.0, 1)], 6.0) == []


# ---------------------------------------------------------------------------------------------- the end


def test_a_node_that_has_ended_is_neither_waited_for_nor_missed() -> None:
    merger = Merger(NODES)
    merger.add("a", [reading(1.0, 1)], 1.0)
    merger.add("c", [reading(1.0, 4)], 1.0)
    (merged,) = merger.end("b", 1.2)
    assert (merged.missing, written(merged).ios) == ((), 5)
    merger.add("a", [reading(2.0, 1)], 2.0)
    assert [m.missing for m in merger.add("c", [reading(2.0, 4)], 2.0)] == [()]


def test_the_last_words_of_all_are_kept() -> None:
    merger = Merger(["a", "b"])
    merger.add("a", [reading(9.6, 3, seconds=0.6)], 9.6)
    assert merger.end("a", 9.6) == []
    (merged,) = merger.end("b", 9.7)
    assert written(merged).ios == 3


def test_what_is_said_after_the_end_is_kept_too() -> None:
    merger = Merger(["a", "b"])
    merger.end("a", 1.0)
    merger.end("b", 1.0)
    (merged,) = merger.add("a", [reading(1.0, 3)], 1.1)
    assert written(merged).ios == 3


# ---------------------------------------------------------------------------------------------- phases


def test_a_node_that_is_through_its_ramp_waits_for_the_others() -> None:
    merger = Merger(["a", "b"])
    assert merger.add("a", [reading(2.0, 10, "ramp"), reading(3.0, 20)], 3.0) == []
    (ramp,) = merger.add("b", [reading(2.4, 1, "ramp")], 3.1)
    assert (ramp.reading.phase, written(ramp).ios, ramp.missing) == ("ramp", 11, ())
    (run,) = merger.add("b", [reading(3.4, 2)], 3.4)
    assert (run.reading.phase, written(run).ios) == ("run", 22)


def test_a_ramp_that_lasts_longer_on_one_node_is_told_apart() -> None:
    merger = Merger(["a", "b"])
    merger.add("a", [reading(3.0, 20)], 3.0)
    (ramp,) = merger.add("b", [reading(3.0, 1, "ramp")], 3.0)
    assert (ramp.reading.phase, written(ramp).ios) == ("ramp", 1)
    (run,) = merger.add("b", [reading(4.0, 2)], 4.0)
    assert (run.reading.phase, written(run).ios) == ("run", 22)


# ---------------------------------------------------------------------------------------------- whatever comes


@dataclass(frozen=True)
class Said:
    at: float
    node: str
    readings: tuple[Reading, ...]


@st.composite
def stories(draw: st.DrawFn) -> tuple[tuple[str, ...], list[Said], dict[str, float]]:
    """What some nodes say, in the order of its arrival, and when each of them ends."""
    nodes = NODES[: draw(st.integers(1, 3))]
    said: list[Said] = []
    ends: dict[str, float] = {}
    for number, node in enumerate(nodes):
        now = draw(st.floats(0.0, 0.5))
        ramp: list[Phase] = ["ramp"]
        run: list[Phase] = ["run"]
        phases = ramp * draw(st.integers(0, 3)) + run * draw(st.integers(0, 8))
        waiting: list[Reading] = []
        for phase in phases:
            stalled = draw(st.sampled_from([0.0] * 6 + [2.5, 5.0]))
            seconds = 1.0 + stalled
            now += seconds + draw(st.floats(-0.3, 0.3))
            ios = draw(st.integers(0, 50))
            waiting.append(reading(now, ios, phase, seconds=seconds, bucket=500 + number))
            if not draw(st.sampled_from([False, False, False, True])):  # else it comes with the next, late
                said.append(Said(now, node, tuple(waiting)))
                waiting = []
        said.append(Said(now, node, tuple(waiting)))
        ends[node] = now + draw(st.floats(0.0, 1.0))
    return nodes, sorted(said, key=lambda s: s.at), ends


def play(nodes: tuple[str, ...], said: list[Said], ends: dict[str, float]) -> list[tuple[float, Merged]]:
    """All that is merged, with its time, as if a watch ticked twice a second."""
    merger = Merger(nodes)
    closed: list[tuple[float, Merged]] = []
    events: list[tuple[float, int, str, tuple[Reading, ...]]] = [(s.at, 0, s.node, s.readings) for s in said]
    events += [(at, 1, node, ()) for node, at in ends.items()]
    last = max(at for at, *_ in events)
    events += [(half / 2, 2, "", ()) for half in range(int(last * 2) + 1)]
    for at, kind, node, readings in sorted(events, key=lambda event: event[:2]):
        if kind == 0:
            found = merger.add(node, list(readings), at)
        else:
            found = merger.end(node, at) if kind == 1 else merger.tick(at)
        closed += [(at, merged) for merged in found]
    return closed


@given(stories())
def test_nothing_is_lost_counted_twice_or_made_up(story: tuple[tuple[str, ...], list[Said], dict[str, float]]) -> None:
    nodes, said, ends = story
    merged = [m.reading for _, m in play(nodes, said, ends)]
    single = [r for s in said for r in s.readings]
    for phase in PHASES:
        parts = [r.write for r in single if r.phase == phase and r.write]
        sums = [r.write for r in merged if r.phase == phase and r.write]
        assert sum(known(i.ios) for i in sums) == sum(known(i.ios) for i in parts)
        assert sum(i.bytes for i in sums) == sum(i.bytes for i in parts)
        buckets = stats.add_buckets(i.latency_buckets for i in sums if i.latency_buckets)
        assert buckets == stats.add_buckets(i.latency_buckets for i in parts if i.latency_buckets)
    silent = sum(1 for r in single if r.write and not r.write.ios)
    assert sum(1 for r in merged if r.write is None or not r.write.ios) <= silent, "no gap is filled with zeros"


@given(stories())
def test_nobody_waits_for_long_and_only_the_silent_are_missed(
    story: tuple[tuple[str, ...], list[Said], dict[str, float]],
) -> None:
    nodes, said, ends = story
    played = play(nodes, said, ends)
    for s in said:
        for r in s.readings:
            closed = min(at for at, m in played if at >= s.at and m.reading.phase == r.phase)
            # a node that is through its ramp lets the others finish theirs first, however long these take
            before = (at for at, m in played if at <= closed and PHASES.index(m.reading.phase) < PHASES.index(r.phase))
            assert closed - max([s.at, *before]) <= 2 * (LATE_SECONDS + 0.5)
    for at, merged in played:
        assert all(ends[node] >= at for node in merged.missing), "who has ended is not missed"
        assert len(merged.missing) < len(nodes)
    first = {r.phase for s in said for r in s.readings}
    assert {m.reading.phase for _, m in played} == first
