"""A tool that stalls is detected from the times of its output and of its completed I/Os alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.models import Part
from cephtui.running.follow import SILENCE_SECONDS, Follow, StallDetector, ToolStall
from cephtui.targets import parse_target


@pytest.mark.parametrize(
    ("spec", "identity", "at_path"),
    [
        ("file:/mnt/x", "64769:12", "64769:12"),
        ("cephfs:/mnt/x", "64769:12", "64769:12"),
        ("device:/dev/sdb", "8:16 1000000", "8:16"),
        ("rbd:bench/disk", "5e8d", ""),
    ],
)
def test_what_has_a_path_is_begun_on_what_was_inspected_only(spec: str, identity: str, at_path: str) -> None:
    """The watchdog refuses a path that leads to something else."""
    target, parts = parse_target(spec), (Part(spec=spec, bytes=1),)
    follow = Follow(cast("Any", SimpleNamespace(target=target, node_step=SimpleNamespace(parts=parts))), [])
    assert follow.identity == ""
    for known in ({spec: identity}, {}):
        follow.identify(known)
        assert follow.identity == at_path


def test_a_tool_that_prints_nothing_is_stalled_for_as_long_as_that() -> None:
    detector = StallDetector(100.0)
    short = detector.check(109.9)
    assert short is not None
    assert short == ToolStall("no completion", short.seconds, is_new=False)
    assert short.seconds == pytest.approx(9.9)
    assert detector.check(110.0) == ToolStall("no output", 10.0, is_new=True)
    assert detector.check(125.0) == ToolStall("no output", 25.0, is_new=False)


def test_a_tool_that_prints_and_completes_nothing_is_stalled_too() -> None:
    detector = StallDetector(0.0)
    for second in range(1, 30):
        detector.output(float(second))
    assert detector.check(30.0) == ToolStall("no completion", 30.0, is_new=True)
    detector.completed(30.0)
    assert detector.check(31.0) == ToolStall("no completion", 1.0, is_new=False)


def test_silence_is_named_before_missing_completions() -> None:
    detector = StallDetector(0.0)
    detector.output(20.0)
    assert detector.check(29.0) == ToolStall("no completion", 29.0, is_new=True)
    assert detector.check(30.0) == ToolStall("no output", 10.0, is_new=False)


def test_a_stall_is_new_again_after_the_tool_has_gone_on() -> None:
    detector = StallDetector(0.0)
    assert detector.check(10.0).is_new
    detector.output(11.0)
    detector.completed(11.0)
    assert not detector.check(12.0).is_new
    assert [detector.check(now).is_new for now in (20.9, 21.0, 22.0)] == [False, True, False]


@given(st.lists(st.tuples(st.sampled_from(["output", "completed", "check"]), st.floats(0.0, 8.0)), max_size=60))
def test_each_stall_is_new_once(events: list[tuple[str, float]]) -> None:
    detector, now, completed_at, is_stalled = StallDetector(0.0), 0.0, 0.0, False
    for what, after in events:
        now += after
        if what != "check":
            detector.output(now)
        if what == "completed":
            completed_at = now
            detector.completed(now)
        if what == "check":
            stall = detector.check(now)
            was_stalled, is_stalled = is_stalled, now - completed_at >= SILENCE_SECONDS
            assert (stall.seconds >= SILENCE_SECONDS, stall.is_new) == (is_stalled, is_stalled and not was_stalled)
