"""How long a user waits for the command to begin: its version, and the console's first paint."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.bench import bare_textual
from tests.bench.console import CEPHTUI, environment, running
from tests.bench.interactive import NotMeasured
from tests.bench.recording import CHECKOUT
from tests.bench.table import Row, at_most, row_of_times

RUNS = 9
_PYTHON = (sys.executable, "-c", "pass")
_BARE = (sys.executable, "-m", "tests.bench.bare_textual")
_WORDS = bare_textual.TEXT.encode()
"""On a panel of the console's too."""
_LIMIT_SECONDS = 60.0
_MEDIAN = f"median of {RUNS} starts after one that is not counted; spread: least and greatest"
_VERSION = f"from the start of the process to its end, {_MEDIAN}"
_PAINT = (
    "from the start of the process until its terminal (120x36, xterm-256color) has the word 'Write IOPS'; console and "
    f"bare Textual in turn, {_MEDIAN}"
)


def rows(root: Path, say: Callable[[str], None]) -> Iterator[Row]:
    """The version beside bare Python, the first paint beside that of bare Textual."""
    say("version")
    versions, nothing = _in_turn(lambda command: _seconds(command, root), (*CEPHTUI, "--version"), _PYTHON)
    yield row_of_times("cephtui --version", versions, at_most(100), _VERSION)
    yield row_of_times("the same, Python alone", nothing, None, _VERSION)
    say("first paint")
    console, bare = _in_turn(lambda command: _first_paint(command, root), CEPHTUI, _BARE)
    yield row_of_times("first paint of the console", console, at_most(350), _PAINT)
    yield row_of_times("first paint of bare Textual", bare, None, _PAINT)


def _in_turn(
    measure: Callable[[Sequence[str]], float], first: Sequence[str], second: Sequence[str]
) -> tuple[list[float], list[float]]:
    """Both so many times; the first time of each, which fills the caches, is left out."""
    pairs = [(measure(first), measure(second)) for _ in range(RUNS + 1)]
    return [one for one, _ in pairs[1:]], [other for _, other in pairs[1:]]


def _seconds(command: Sequence[str], directory: Path) -> float:
    began = time.monotonic()
    done = subprocess.run(command, cwd=CHECKOUT, env=environment(directory), capture_output=True, check=False)
    seconds = time.monotonic() - began
    if done.returncode:
        raise NotMeasured(f"{command}: {done.stderr[-300:]!r}")
    return seconds


def _first_paint(command: Sequence[str], directory: Path) -> float:
    with running(command, directory, terminal=True) as started:
        return started.wait_for_text(_WORDS, _LIMIT_SECONDS) - started.began
