"""The part of the data that most I/Os go to: against the distributions themselves, and as fio draws from them."""

from __future__ import annotations

import math
import random

import pytest

from cephtui.tools.skew import hot_share


@pytest.mark.parametrize("theta", [0.5, 0.9, 1.0, 1.1, 1.2, 2.0])
@pytest.mark.parametrize("blocks", [1, 10, 999, 1000, 1001, 50_000])
def test_zipf_is_the_least_number_of_blocks_with_nine_of_ten_ios(theta: float, blocks: int) -> None:
    weights = [rank**-theta for rank in range(1, blocks + 1)]
    wanted, done, number = 0.9 * sum(weights), 0.0, 0
    while done < wanted and number < blocks:
        done += weights[number]
        number += 1
    assert hot_share(f"zipf:{theta}", blocks) * blocks == pytest.approx(number, abs=1)


def test_a_sharp_zipf_of_many_blocks_is_of_few() -> None:
    """1.2 over 64 GiB in blocks of 4k."""
    assert hot_share("zipf:1.2", 1 << 24) * (1 << 24) < 20_000
    assert 0.2 < hot_share("zipf:0.5", 1 << 24) < 0.9


@pytest.mark.parametrize("parameter", [0.1, 0.2, 0.5, 0.8, 0.9])
def test_pareto_is_as_fio_draws_it(parameter: float) -> None:
    """fio 3.33, lib/zipf.c: n * pow(u, log(h) / log(1 - h)); what is likely is at one of both ends."""
    power = math.log(parameter) / math.log(1 - parameter)
    generator = random.Random(7)
    offsets = sorted(generator.random() ** power for _ in range(50_000))
    first, last = offsets[45_000], 1 - offsets[5_000]
    assert hot_share(f"pareto:{parameter}", 1000) == pytest.approx(min(first, last), abs=0.01)


@pytest.mark.parametrize(
    "distribution",
    ["", "random", "normal:50", "zipf", "zipf:x", "zipf:0", "pareto:1", "pareto:0", "zoned:50/5:30/15:20/80"],
)
def test_what_is_not_known_is_all_of_it(distribution: str) -> None:
    assert hot_share(distribution, 1000) == 1.0


def test_a_center_changes_nothing() -> None:
    assert hot_share("zipf:1.2:0.5", 1000) == hot_share("zipf:1.2", 1000)
    assert hot_share("zipf:1.2", 0) == 1.0
