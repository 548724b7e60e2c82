"""The clock by which tests wait for other processes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import pytest

from tests.support import waiting
from tests.support.waiting import FairClock, wait_for

CORES = 2


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets what there is to see: the time, how many want a processor, what was stolen, and the own nice value."""
    now = {"time": 0.0, "running": 1, "stolen": 0.0, "nice": 0}

    def see(**values: float) -> None:
        now.update(values)

    monkeypatch.setattr(waiting, "_CORES", CORES)
    monkeypatch.setattr(waiting, "_busy", lambda: (now["running"], now["stolen"]))
    monkeypatch.setattr(os, "getpriority", lambda *_: now["nice"])
    monkeypatch.setattr(time, "monotonic", lambda: now["time"])
    monkeypatch.setattr(time, "sleep", lambda seconds: see(time=now["time"] + seconds))
    return see


def test_on_a_quiet_machine_it_is_the_clock_on_the_wall(machine: Callable[..., None]) -> None:
    clock = FairClock()
    for seconds in (1, 5, 9):
        machine(time=seconds, running=CORES)
        assert clock.seconds() == seconds


def test_it_goes_slower_the_more_want_a_processor(machine: Callable[..., None]) -> None:
    clock = FairClock()
    machine(time=10, running=20)
    assert clock.seconds() == 1
    machine(time=20, running=1)
    assert clock.seconds() == 11


@pytest.mark.parametrize(("nice", "seconds"), [(10, 1.02), (0, 6.67), (-10, 10)])
def test_it_goes_as_its_nice_value_lets_it(machine: Callable[..., None], nice: int, seconds: float) -> None:
    """Beside two others. Of nice 10 the weight is a tenth: see sched_prio_to_weight in kernel/sched/core.c of Linux."""
    machine(nice=nice)
    clock = FairClock()
    machine(time=10, running=3)
    assert clock.seconds() == pytest.approx(seconds, abs=0.01)


def test_it_stands_still_while_the_processors_are_stolen(machine: Callable[..., None]) -> None:
    clock = FairClock()
    machine(time=10, stolen=20)
    assert clock.seconds() == 0
    machine(time=20, stolen=30)
    assert clock.seconds() == 5


@pytest.mark.parametrize(("running", "at_least"), [(1, 40), (20, 400)])
def test_a_limit_is_one_of_that_clock(machine: Callable[..., None], running: int, at_least: float) -> None:
    machine(running=running)
    with pytest.raises(AssertionError, match=r"^not within 40 s \(\d+ s on this busy machine\): the end\nsomething"):
        wait_for(lambda: False, 40, "the end", lambda: "something")
    assert at_least < time.monotonic() < 1.1 * at_least


def test_no_limit_is_shorter_than_the_least(machine: Callable[..., None]) -> None:
    with pytest.raises(AssertionError, match=r"^not within 30 s"):
        wait_for(lambda: False, 1, "the end")


def test_what_holds_gives_the_seconds_on_the_wall(machine: Callable[..., None]) -> None:
    machine(running=20)
    assert wait_for(lambda: time.monotonic() > 3, 1, "a while") == pytest.approx(3.1, abs=0.2)
