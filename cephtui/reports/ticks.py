"""Round values for the axes of charts, on screens and in documents."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
"""Of a linear axis, times powers of ten."""
WHOLE_STEPS = (1.0, 2.0, 5.0, 10.0)
"""Of a logarithmic axis."""
SECONDS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
           *(86400.0 * days for days in (1, 2, 5, 10, 20, 50, 100)))  # fmt: skip
"""Steps of an axis of times."""
_ZEROS = re.compile(r"(\.\d*?)0+(?!\d)")
_NEARLY = 1e-9


def round_up(value: float, steps: Sequence[float] = STEPS) -> float:
    """The least round value that is not below this one, which is above 0."""
    power = 10.0 ** math.floor(math.log10(value))
    return next((power * step for step in steps if power * step >= value * (1 - _NEARLY)), power * 10.0)


def round_down(value: float, steps: Sequence[float] = WHOLE_STEPS) -> float:
    """The greatest round value that is not above this one, which is above 0."""
    power = 10.0 ** math.floor(math.log10(value))
    return next((power * step for step in reversed(steps) if power * step <= value * (1 + _NEARLY)), power)


def multiples(step: float, low: float, high: float) -> list[float]:
    """Multiples of a step from one end to the other."""
    return [step * number for number in range(math.ceil(low / step - _NEARLY), math.floor(high / step + _NEARLY) + 1)]


def on_logarithms(low: float, high: float) -> list[float]:
    """The decimal logarithms of 1, 2 and 5 times powers of ten between two of them, and at them."""
    powers = range(math.floor(low), math.ceil(high) + 1)
    logarithms = (power + math.log10(step) for power in powers for step in WHOLE_STEPS[:-1])
    return [at for at in logarithms if low - _NEARLY <= at <= high + _NEARLY]


def trimmed(label: str) -> str:
    """A label without the zeros that a format of fixed precision leaves: 5.00k is 5k, 2.50k is 2.5k."""
    return _ZEROS.sub(lambda match: match[1].rstrip("."), label)
