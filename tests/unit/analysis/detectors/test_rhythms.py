"""The rhythm of a run, by its windows as they come."""

from __future__ import annotations

import pytest

from cephtui.analysis.detectors.rhythms import JOINED_SECONDS, Rhythms, Saw
from tests.support.known import known


def saw_of(values: list[float]) -> Saw | None:
    rhythms = Rhythms()
    for second, value in enumerate(values, 1):
        rhythms.add(float(second), value)
    return rhythms.saw()


def teeth(seconds: int, low: float = 500.0) -> list[float]:
    return [low + second % 3 if second % 6 < 3 else 1000.0 - second % 5 for second in range(seconds)]


EVEN = [1000.0 + second % 7 for second in range(60)]


@pytest.mark.parametrize("seconds", [18, 40, 60, 75, 200, 600])
def test_a_saw_of_any_length_is_one(seconds: int) -> None:
    saw = known(saw_of(teeth(seconds)))
    assert saw.period_seconds == pytest.approx(6.0, rel=0.05)
    assert [saw.low, saw.high] == pytest.approx([501, 998], abs=3)
    assert (saw.begun, saw.over) == (0.0, seconds if seconds % 60 >= 20 or seconds < 60 else seconds // 60 * 60)


@pytest.mark.parametrize(("period", "seconds"), [(16, 60), (25, 120), (30, 120), (30, 600), (80, 480)])
def test_a_slow_saw_is_seen_by_the_means_of_some_seconds(period: int, seconds: int) -> None:
    rhythms = Rhythms(JOINED_SECONDS)
    for second in range(seconds):
        rhythms.add(second + 1.0, 500.0 + second % 3 if second % period < period / 2 else 1000.0 - second % 5)
    saw = known(rhythms.saw())
    assert saw.period_seconds == pytest.approx(period, rel=0.05)
    assert [saw.low, saw.high] == pytest.approx([500, 1000], rel=0.1)
    assert (saw.begun, saw.over) == (0.0, seconds)


def test_most_windows_have_to_have_it() -> None:
    assert saw_of([*EVEN, *teeth(60)]) is None
    saw = known(saw_of([*EVEN, *teeth(120)]))
    assert (saw.begun, saw.over) == (60.0, 180.0)
    assert saw_of([*EVEN, *EVEN, *teeth(60)]) is None


def test_what_is_joined_has_the_mean_of_its_windows() -> None:
    saw = known(saw_of([*teeth(60, 400.0), *teeth(60, 600.0)]))
    assert saw.low == pytest.approx(501, abs=3)


def test_a_small_rhythm_is_none_and_so_is_nothing() -> None:
    assert saw_of(teeth(60, 800.0)) is None
    assert saw_of([0.0] * 60) is None
    assert saw_of([]) is None
