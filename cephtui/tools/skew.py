"""Random offsets of which some are more likely than others: the part of the data that most I/Os go to."""

from __future__ import annotations

import math

MOST = 0.9
"""The share of the I/Os that are most."""
_EXACT = 1000
"""Terms that are added one by one; the sum of the others is that of an integral."""


def hot_share(distribution: str, blocks: int) -> float:
    """The smallest part of the blocks that gets 90 % of the I/Os; 1 for offsets that are all as likely, or not known.

    ``distribution`` is as fio has it in ``random_distribution``, of which two are known:

    - ``zipf:THETA``: the block of rank k gets a share of k ** -THETA. The part is n / N with the least n for which
      H(n, THETA) >= 0.9 H(N, THETA), H being generalised harmonic numbers.
    - ``pareto:H``: an offset is N * u ** p of a uniform u, with p = log(H) / log(1 - H) (lib/zipf.c of fio). So the
      first x of the blocks get x ** (1 / p) of the I/Os; with H above 0.5 the last are the more likely ones.
    """
    name, _, parameters = distribution.partition(":")
    try:
        parameter = float(parameters.partition(":")[0])
    except ValueError:
        return 1.0
    if name == "zipf" and parameter > 0 and blocks > 0:
        return _zipf(parameter, blocks)
    if name == "pareto" and 0 < parameter < 1:
        power = math.log(parameter) / math.log1p(-parameter)
        return float(MOST**power if power >= 1 else 1 - (1 - MOST) ** power)
    return 1.0


def _zipf(theta: float, blocks: int) -> float:
    wanted = MOST * _harmonic(blocks, theta)
    low, high = 0, blocks
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _harmonic(middle, theta) >= wanted else (middle, high)
    return high / blocks


def _harmonic(number: int, theta: float) -> float:
    """The sum of k ** -theta for all k up to ``number``, by Euler and Maclaurin where they are many."""
    first, last = float(min(number, _EXACT)), float(number)
    total = math.fsum(math.pow(k, -theta) for k in range(1, int(first) + 1))
    if last <= first:
        return total
    ends = (math.pow(last, -theta) - math.pow(first, -theta)) / 2
    if math.isclose(theta, 1.0):
        return total + math.log(last / first) + ends
    return total + (math.pow(last, 1 - theta) - math.pow(first, 1 - theta)) / (1 - theta) + ends
