"""Student's t distribution, by mpmath, which is imported with the first interval: it takes 76 ms."""

from __future__ import annotations

from functools import lru_cache
from statistics import NormalDist
from typing import Any

_DIGITS = 20
_ENOUGH = 1e-15
"""Relative step after which a quantile is exact enough for a float."""


def cdf(value: float, df: float) -> float:
    """P(T <= ``value``) with ``df`` degrees of freedom, above 0.

    By the regularised incomplete beta function: Abramowitz and Stegun, 26.5.27 and 26.7.1.
    """
    import mpmath

    with mpmath.workdps(_DIGITS):
        return float(_cdf(mpmath.mpf(value), df))


@lru_cache(256)
def quantile(probability: float, df: float) -> float:
    """The value below which T lies with this probability, between 0 and 1 but neither."""
    import mpmath

    if probability < 0.5:
        return -quantile(1 - probability, df)
    with mpmath.workdps(_DIGITS):
        density = mpmath.gamma((df + 1) / 2) / mpmath.gamma(df / 2) / mpmath.sqrt(df * mpmath.pi)
        least = mpmath.mpf(NormalDist().inv_cdf(probability))
        value = _near(least, df)
        while True:
            step = (probability - _cdf(value, df)) / (density * (1 + value**2 / df) ** (-(df + 1) / 2))
            # T has heavier tails than the normal distribution; Newton's steps from below never lead above the value
            value = max(least, value + step)
            if abs(step) <= value * _ENOUGH:
                return float(value)


def _near(z: Any, df: float) -> Any:
    """The quantile, roughly, by that of the normal distribution: Abramowitz and Stegun, 26.7.5."""
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / df**power for power, term in enumerate(terms, 1))


def _cdf(value: Any, df: float) -> Any:
    import mpmath

    tail = mpmath.betainc(mpmath.mpf(df) / 2, 0.5, 0, df / (df + value**2), regularized=True) / 2
    return tail if value < 0 else 1 - tail
