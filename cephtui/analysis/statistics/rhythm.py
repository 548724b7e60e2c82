"""Whether a series falls and rises again and again. Pure: values only."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate
from operator import mul

from cephtui.analysis.statistics.levels import correlation_in, sum_of_squares
from cephtui.frozen import dataclass

_LEAST_CYCLES = 3
"""What falls twice may be chance, or two troubles."""
_LIMIT, _LIMIT_OF_FEW = 14.0, 1000.0
"""The strength of noise at one frequency is about an exponential variable of mean 1, and there are half as many
frequencies as values (Fisher 1929): the greatest exceeds ``14 + 1000 / (n - 3)^2`` in about one of 1,000 series, as
few values have less to estimate noise and correlation by."""
_DEPTHS = (-0.3, 0.0, 0.5, 0.8)
"""Where a sine is that deep it is low: three fifths of each cycle, half, a third, a fifth."""
_APART, _LEAST_OF_LEVEL, _LEAST_FOR_LEVELS, _LEAST_FALLS = 5.0, 0.15, 20, 4
"""Two levels are so many standard deviations apart, which the halves of noise, 2.7 apart, hardly ever are; each has so
much of the values, of which there are so many, with so many falls."""
_OF_CYCLES = 0.75
"""The share of the cycles in which the fall is there: a single dip has a rhythm too, but only once."""
_OF_FALL = 1 / 3
"""The share of the mean fall that counts as one."""


@dataclass(frozen=True, slots=True)
class Rhythm:
    """A fall and rise that is repeated."""

    strength: float
    """How much more of the spread it explains than noise does: noise has 1 on the average."""
    period: float
    """Values from one fall to the next."""
    low: tuple[int, ...]
    """The numbers of the values in the lower part of each cycle."""


def rhythm_of(values: Sequence[float]) -> Rhythm | None:
    """The clearest rhythm of at least three cycles; None where that may be noise, or of fewer than six values."""
    count = len(values)
    mean = sum(values) / count if count else 0.0
    centred = [value - mean for value in values]
    whole = sum_of_squares(centred)
    if count < 2 * _LEAST_CYCLES or not whole:
        return None
    frequency, wave = max(_waves(centred), key=lambda pair: sum_of_squares(pair[1]))
    levels, low = max((_levels(centred, wave, depth) for depth in _DEPTHS), key=lambda pair: sum_of_squares(pair[0]))
    residuals = [value - level for value, level in zip(centred, levels, strict=True)]
    noise = sum_of_squares(residuals) / (count - 3) * _spectrum(correlation_in(residuals), frequency)
    strength = sum_of_squares(levels) / 2 / noise if noise > 1e-12 * whole else math.inf
    is_noise = strength <= _LIMIT + _LIMIT_OF_FEW / (count - 3) ** 2
    if is_noise or not _is_repeated(values, low, 1 / frequency):
        return _alternation(values)
    return Rhythm(strength, 1 / frequency, low)


def _alternation(values: Sequence[float]) -> Rhythm | None:
    """Falls and rises that come irregularly, between two levels far apart; the period is their mean."""
    count, ordered = len(values), sorted(values)
    least = math.ceil(_LEAST_OF_LEVEL * count)
    if count < _LEAST_FOR_LEVELS:
        return None
    sums = [0.0, *accumulate(ordered)]
    below = max(
        range(least, count - least + 1), key=lambda at: sums[at] ** 2 / at + (sums[-1] - sums[at]) ** 2 / (count - at)
    )
    low_mean, high_mean = sums[below] / below, (sums[-1] - sums[below]) / (count - below)
    rest = sum((value - low_mean) ** 2 for value in ordered[:below])
    rest += sum((value - high_mean) ** 2 for value in ordered[below:])
    noise = rest / (count - 2)
    low = tuple(at for at, value in enumerate(values) if value < (low_mean + high_mean) / 2)
    falls = sum(at - 1 not in low for at in low if at)
    if falls < _LEAST_FALLS or len(low) < least or high_mean - low_mean <= _APART * math.sqrt(noise):
        return None
    strength = below * (count - below) / count * (high_mean - low_mean) ** 2 / 2 / noise if noise else math.inf
    return Rhythm(strength, count / falls, low)


def _levels(centred: Sequence[float], wave: Sequence[float], depth: float) -> tuple[list[float], tuple[int, ...]]:
    """The mean below so much of a wave's depth, and that above, for each value; and the numbers of those below."""
    least = min(wave)
    low = tuple(at for at, part in enumerate(wave) if part < depth * least)
    is_low = set(low)
    below = sum(centred[at] for at in low) / max(1, len(low))
    above = -below * len(low) / max(1, len(centred) - len(low))
    return [below if at in is_low else above for at in range(len(centred))], low


def _waves(centred: Sequence[float]) -> Iterator[tuple[float, list[float]]]:
    """The sine of each frequency, in cycles a value, that fits best."""
    count = len(centred)
    for quarters in range(4 * _LEAST_CYCLES, 2 * count + 1):
        frequency = quarters / 4 / count
        angles = [2 * math.pi * frequency * at for at in range(count)]
        cosines, sines = [math.cos(angle) for angle in angles], [math.sin(angle) for angle in angles]
        yield frequency, _fitted(centred, cosines, sines)


def _fitted(centred: Sequence[float], cosines: Sequence[float], sines: Sequence[float]) -> list[float]:
    by_cosine, by_sine = sum(map(mul, centred, cosines)), sum(map(mul, centred, sines))
    both = sum(map(mul, cosines, sines))
    cosine_squares, sine_squares = sum_of_squares(cosines), sum_of_squares(sines)
    determinant = cosine_squares * sine_squares - both**2
    if determinant <= 1e-6 * cosine_squares**2:  # two values a cycle: the sine is 0 everywhere
        return [by_cosine / cosine_squares * part for part in cosines]
    first = (by_cosine * sine_squares - by_sine * both) / determinant
    second = (by_sine * cosine_squares - by_cosine * both) / determinant
    return [first * cosine + second * sine for cosine, sine in zip(cosines, sines, strict=True)]


def _spectrum(correlation: float, frequency: float) -> float:
    """How strong noise with this correlation is at a frequency, 1 without any; nowhere weaker than that."""
    noise = (1 - correlation**2) / (1 - 2 * correlation * math.cos(2 * math.pi * frequency) + correlation**2)
    return max(1.0, noise)


def _is_repeated(values: Sequence[float], low: Sequence[int], period: float) -> bool:
    is_low, falls = set(low), []
    cycles = int(len(values) / period)
    for cycle in range(cycles):
        numbers = range(round(cycle * period), round((cycle + 1) * period))
        lower, upper = (
            [values[at] for at in numbers if at in is_low],
            [values[at] for at in numbers if at not in is_low],
        )
        if lower and upper:
            falls.append(sum(upper) / len(upper) - sum(lower) / len(lower))
    least = _OF_FALL * sum(falls) / len(falls) if falls else 0.0
    return least > 0 and sum(fall >= least for fall in falls) >= _OF_CYCLES * cycles
