"""The statistics and the table of `make bench`; what it measures is no matter of tests."""

from __future__ import annotations

import json
import math
import random
import statistics

import pytest

from tests.bench.figures import of_differences, of_ratios, t95
from tests.bench.table import Goal, as_json, as_text, at_least, at_most, row


def test_the_interval_is_students() -> None:
    found = of_differences([1.0, 2.0, 3.0, 4.0, 10.0])

    half = 2.776 * statistics.stdev([1, 2, 3, 4, 10]) / math.sqrt(5)
    assert (found.median, found.low, found.high) == pytest.approx((3.0, 4.0 - half, 4.0 + half))


def test_an_interval_needs_two_values() -> None:
    with pytest.raises(ValueError, match="two values"):
        of_differences([1.0])


def test_beyond_the_table_of_t_the_interval_is_rather_too_wide() -> None:
    assert t95(14) == 2.145
    assert t95(500) == t95(30)


def test_the_interval_holds_the_truth_19_times_of_20() -> None:
    chance = random.Random(1)
    held = 0
    for _ in range(2000):
        found = of_ratios([math.exp(chance.gauss(0.02, 0.05)) for _ in range(15)])
        held += found.low <= math.exp(0.02) <= found.high

    assert 0.93 <= held / 2000 <= 0.97


def test_ratios_are_the_same_from_either_side() -> None:
    ratios = [0.9, 1.0, 1.3]
    found, turned = of_ratios(ratios), of_ratios([1 / ratio for ratio in ratios])

    assert (found.low, found.high) == pytest.approx((1 / turned.high, 1 / turned.low))
    assert found.median == pytest.approx(1 / turned.median)


@pytest.mark.parametrize(
    ("value", "goal", "told", "met"),
    [
        (0.97, at_least(0.97), True, True),
        (0.96, at_least(0.97), True, False),
        (0.96, at_least(0.97), False, None),
        (0.98, at_least(0.97), False, True),
        (3.0, at_most(3), True, True),
        (3.1, at_most(3), True, False),
        (3.1, None, True, None),
    ],
)
def test_a_goal_is_met_missed_or_not_to_be_told(value: float, goal: Goal | None, told: bool, met: bool | None) -> None:
    assert row("m", value, "u", goal, told=told).met is met


def test_the_table_and_the_file_say_the_same() -> None:
    rows = [
        row("start spread", 12.345, "ms", at_most(10), spread=(1.0, 20.0), how="median", values=[1.0, 20.0]),
        row("ratio", 0.99512, "ratio", at_least(0.97)),
        row("control", 0.9, "ratio"),
        row("noise", 0.9, "ratio", at_least(0.97), told=False),
    ]

    assert as_text(rows).splitlines() == [
        "measure       value  unit   goal     met          spread",
        "--------------------------------------------------------",
        "start spread  12.35  ms     <= 10    NO   1.000 .. 20.00",
        "ratio         0.995  ratio  >= 0.97  yes",
        "control       0.900  ratio",
        "noise         0.900  ratio  >= 0.97  ?",
    ]
    stored = json.loads(json.dumps(as_json(rows, {"python": "3"})))
    assert stored["conditions"] == {"python": "3"}
    assert stored["rows"][0] == {
        "measure": "start spread",
        "value": 12.345,
        "unit": "ms",
        "goal": "<= 10",
        "met": False,
        "spread": [1.0, 20.0],
        "how": "median",
        "values": [1.0, 20.0],
    }
    assert [each["met"] for each in stored["rows"]] == [False, True, None, None]
