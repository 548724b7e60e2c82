"""Signals that arrive where what they raise is lost, or would lose sight of a process."""

from __future__ import annotations

import signal
import subprocess
import time
from typing import Any

import pytest

from cephtui.cli.commands import info
from cephtui.terminal import ENDING, Ending, Interrupted, signal_handlers

Popen = subprocess.Popen
SLEEPS = ("sleep", "300")


def interrupt(*arguments: object) -> None:
    raise Interrupted


@pytest.mark.parametrize("number", ENDING)
def test_a_process_that_is_just_being_started_is_ended_too(
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: Any, **options: Any) -> subprocess.Popen[str]:
        started.append(Popen(*arguments, **options))
        signal.raise_signal(number)
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    with signal_handlers(dict.fromkeys(ENDING, interrupt)), pytest.raises(Interrupted):
        info._version(SLEEPS)
    (process,) = started
    assert process.poll() == -signal.SIGKILL


class Ended:
    """Gets a signal where Python ignores what is raised."""

    def __init__(self, number: signal.Signals) -> None:
        self.number = number

    def __del__(self) -> None:
        signal.raise_signal(self.number)


def end(number: signal.Signals) -> None:
    ended = Ended(number)
    del ended


def end_and_wait(number: signal.Signals) -> None:
    end(number)
    time.sleep(30)


@pytest.mark.parametrize("number", ENDING)
def test_an_interruption_that_is_ignored_comes_again(number: signal.Signals) -> None:
    ending = Ending(interrupt, lambda: None, lambda seconds: None)
    with signal_handlers(ending.handlers()), ending.persistent(), pytest.raises(Interrupted):
        end_and_wait(number)
    assert ending.is_requested


def test_an_interruption_that_is_ignored_is_that_of_the_handlers_of_then() -> None:
    """As those of a run that has begun meanwhile."""
    stopped: list[float] = []
    ending = Ending(interrupt, lambda: None, lambda seconds: None)
    of_a_run = Ending(lambda: stopped.append(time.monotonic()), lambda: None, lambda seconds: None)
    with signal_handlers(ending.handlers()), ending.persistent():
        end(signal.SIGTERM)
        with signal_handlers(of_a_run.handlers()):
            until = time.monotonic() + 30
            while not stopped and time.monotonic() < until:
                time.sleep(0.01)
    assert len(stopped) == 1
    assert of_a_run.is_requested


def test_an_alarm_that_is_lost_is_followed_by_others() -> None:
    """One that comes just before a write to a stalled reader wakes nothing; the second after it has to."""
    ticks: list[float] = []
    ending = Ending(lambda: None, lambda: None, ticks.append)
    with signal_handlers(ending.handlers()):
        signal.raise_signal(signal.SIGTERM)
        lost = signal.signal(signal.SIGALRM, lambda number, frame: None)
        time.sleep(1.5)
        ticks.clear()
        signal.signal(signal.SIGALRM, lost)
        until = time.monotonic() + 30
        while not ticks and time.monotonic() < until:
            time.sleep(0.01)
    assert ticks


def test_other_exceptions_that_are_ignored_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[object] = []
    monkeypatch.setattr("sys.unraisablehook", lambda what: reported.append(what.exc_value))

    class Broken:
        def __del__(self) -> None:
            raise ValueError

    with Ending(interrupt, lambda: None, lambda seconds: None).persistent():
        broken = Broken()
        del broken
    (error,) = reported
    assert isinstance(error, ValueError)
