"""The first seconds of a run without a ramp, against the rest of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from cephtui.analysis.detectors.first_seconds import FirstSeconds
from cephtui.analysis.detectors.incidents import Course
from cephtui.models import Finding, Interval, Phase, Sample
from tests.support.golden import Golden

TIMES = 600


def second(at: int, iops: float, *, phase: Phase = "run", node: str | None = None, seconds: float = 1.0) -> Sample:
    return Sample(1, node, "p", phase, float(at), seconds, None, Interval(int(iops), 0, iops, 0.0))


def found(rates: Iterable[float], *, ramp: int = 0) -> Finding | None:
    first = FirstSeconds()
    for at, iops in enumerate(rates, 1):
        first.add(second(at, iops, phase="ramp" if at <= ramp else "run"))
    return first.finding()


FAST, SLOW = [1400.0] * 5 + [1000.0, 1010.0, 990.0] * 10, [300.0, 500.0, 700.0, 800.0, 900.0] + [1000.0, 1010.0] * 20


@pytest.mark.parametrize("rates", [FAST, SLOW], ids=["fast", "slow"])
def test_first_seconds_that_differ_are_said(rates: list[float], golden: Golden) -> None:
    finding = found(rates)
    assert finding
    assert (finding.code, finding.level, finding.from_seconds, finding.to_seconds) == ("ramp", "note", 0.0, 5.0)
    golden.same(finding.text)
    assert found(rates, ramp=2) is None, "it has a ramp"


@pytest.mark.parametrize(
    "rates",
    [
        [1100.0] * 5 + [1000.0] * 30,  # too little
        [1400.0] * 5 + [1000.0] * 20,  # too short to know the rest
        [1400.0] * 5 + [600.0, 1500.0, 1000.0, 1600.0, 500.0, 400.0, 700.0] * 6,  # the rest is as uneven
        [0.0] * 40,
    ],
)
def test_else_nothing_is_said(rates: list[float]) -> None:
    assert found(rates) is None


def clean(length: int, spread: float, lag: float) -> Iterator[list[float]]:
    """Seconds of one level, each of which depends on the one before it."""
    chance = np.random.default_rng(1)
    deviation = math.sqrt(math.log1p(spread**2))
    for noise in chance.normal(0, deviation, (TIMES, length)):
        for at in range(1, length):
            noise[at] = lag * noise[at - 1] + math.sqrt(1 - lag**2) * noise[at]
        yield np.exp(noise).tolist()


@pytest.mark.parametrize("length", [30, 60, pytest.param(300, marks=pytest.mark.matrix)])
@pytest.mark.parametrize(("spread", "lag"), [(0.1, 0.35), (0.2, 0.5), (0.35, 0.7)])
def test_noise_alone_is_hardly_ever_found(length: int, spread: float, lag: float) -> None:
    assert sum(found(rates) is not None for rates in clean(length, spread, lag)) / TIMES <= 0.0125


@pytest.mark.parametrize(("tool", "is_said"), [("fio", True), ("rados-bench", False), ("", False)])
def test_only_a_tool_that_has_a_ramp_could_have_left_them_out(tool: str, *, is_said: bool) -> None:
    incidents = Course(tool=tool)
    for at, iops in enumerate([1400.0] * 5 + [1000.0, 1010.0, 990.0] * 10, 1):
        incidents.add(second(at, iops, node="pve1"))
        incidents.add(second(at, iops))
    assert ("ramp" in {finding.code for finding in incidents.findings()}) == is_said
