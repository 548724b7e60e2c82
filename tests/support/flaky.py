"""Tests that failed and pass when they are run again: flaky, which is a fault to look into, and no reason to stop.

Kept a line each in ``build/flaky.jsonl``, with the commit and how busy the machine was.
"""

from __future__ import annotations

import datetime
import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.support.outcomes import Failure

FILE = Path("build") / "flaky.jsonl"
RUNS = 3
"""So often a test that failed has to pass, alone."""
MOST = 3
"""More of them are no bad luck."""
_SHOWN_CHARACTERS = 6000

RunAgain = Callable[[Failure], str]
"""Runs what failed, alone; gives what failed of it, and nothing if it passed."""


def are_few(failures: Sequence[Failure]) -> bool:
    """Whether they may be bad luck; says so if not."""
    if len(failures) > MOST:
        print(f"{len(failures)} failures are more than {MOST}: none is run again", flush=True)
    return len(failures) <= MOST


def is_flaky(failure: Failure, run_again: RunAgain) -> bool:
    """Whether it passes so often when it is run again; says what became of it."""
    for run in range(1, RUNS + 1):
        print(f"again, alone, {run} of {RUNS}: {failure.what}", flush=True)
        text = run_again(failure)
        if text:
            print(f"FAILED again: {failure.what}\n{text[-_SHOWN_CHARACTERS:]}", flush=True)
            return False
    print(
        f"FLAKY: {failure.what}: failed, then passed {RUNS} times alone\n{failure.text[-_SHOWN_CHARACTERS:]}",
        flush=True,
    )
    _keep(failure)
    return True


def _keep(failure: Failure) -> None:
    FILE.parent.mkdir(parents=True, exist_ok=True)
    line = {
        "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "load_average": failure.load,
        "test": failure.what,
        "text": failure.text,
    }
    with FILE.open("a") as file:
        file.write(json.dumps(line) + "\n")


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or "unknown"
