"""Signals that arrive while a process is being started."""

from __future__ import annotations

import signal
import subprocess
from typing import Any

import pytest

from cephtui.cli.commands import info
from cephtui.terminal import ENDING, Interrupted, handling

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
    with handling(dict.fromkeys(ENDING, interrupt)), pytest.raises(Interrupted):
        info._version(SLEEPS)
    (process,) = started
    assert process.poll() == -signal.SIGKILL
