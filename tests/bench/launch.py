"""How long a user waits for the command to begin: its version, its listings, and the console's first paint."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.bench import bare_textual
from tests.bench.console import CEPHTUI, environment, running
from tests.bench.interactive import NotMeasured
from tests.bench.recording import CHECKOUT
from tests.bench.table import Row, at_most, row, row_of_times

RUNS = 9
_PYTHON = (sys.executable, "-c", "pass")
_LIBRARIES = (sys.executable, "-c", "import click, rich.table, pydantic")
"""What any listing with these libraries takes."""
_LISTINGS = {("presets",): 1.5, ("sessions",): 1.5, ("show", "demo"): 3.0}
"""The verbs that are measured against it, each with its goal."""
_BARE = (sys.executable, "-m", "tests.bench.bare_textual")
_WORDS = bare_textual.TEXT.encode()
"""On a panel of the console's too."""
_LIMIT_SECONDS = 60.0
_MEDIAN = f"median of {RUNS} starts after one that is not counted; spread: least and greatest"
_VERSION = f"from the start of the process to its end, {_MEDIAN}"
_RATIO = (
    "the same, of what has not changed since it was printed last, over that of importing click, rich.table and "
    f"pydantic, in turn; {_MEDIAN}"
)
_PAINT = (
    "from the start of the process until its terminal (120x36, xterm-256color) has the word 'Write IOPS'; console and "
    f"bare Textual in turn, {_MEDIAN}"
)


def rows(root: Path, say: Callable[[str], None]) -> Iterator[Row]:
    """The version beside bare Python, listings beside their libraries, the first paint beside that of bare Textual."""

    def run(command: Sequence[str]) -> float:
        return _seconds(command, root)

    say("version")
    versions, nothing = _in_turn(run, (*CEPHTUI, "--version"), _PYTHON)
    yield row_of_times("cephtui --version", versions, at_most(100), _VERSION)
    yield row_of_times("the same, Python alone", nothing, None, _VERSION)
    say("listings")
    libraries, *listings = _in_turn(run, _LIBRARIES, *((*CEPHTUI, *words) for words in _LISTINGS))
    yield row_of_times("its libraries alone", libraries, None, _VERSION)
    for (words, limit), seconds in zip(_LISTINGS.items(), listings, strict=True):
        yield _ratio(f"cephtui {' '.join(words)}, over libraries", seconds, libraries, limit, _RATIO)
    say("first paint")
    console, bare = _in_turn(lambda command: _first_paint(command, root), CEPHTUI, _BARE)
    yield row_of_times("first paint of the console", console, None, _PAINT)
    yield row_of_times("first paint of bare Textual", bare, None, _PAINT)
    yield _ratio("first paint, over bare Textual", console, bare, 1.9, _PAINT)


def _ratio(measure: str, ones: Sequence[float], others: Sequence[float], limit: float, how: str) -> Row:
    """The ratio of the medians, with the least and the greatest ratio of two that were measured after each other."""
    pairs = [one / other for one, other in zip(ones, others, strict=True)]
    value = statistics.median(ones) / statistics.median(others)
    return row(measure, value, "x", at_most(limit), spread=(min(pairs), max(pairs)), how=how, values=pairs)


def _in_turn(measure: Callable[[Sequence[str]], float], *commands: Sequence[str]) -> list[list[float]]:
    """Each so many times; the first time of each, which fills the caches, is left out."""
    turns = [[measure(command) for command in commands] for _ in range(RUNS + 1)]
    return [list(times) for times in zip(*turns[1:], strict=True)]


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
