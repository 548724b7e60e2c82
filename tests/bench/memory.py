"""How much memory the console's process takes: idle, and more after a day of many nodes."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.bench import stream
from tests.bench.console import LISTENING, START_SECONDS, Console, console, running
from tests.bench.interactive import NotMeasured
from tests.bench.process import resident_bytes
from tests.bench.table import Row, at_most, row

NODES, DAY_SECONDS = 16, 86_400
IDLE_RUNS = 3
_MIB = 1 << 20
_QUIET_SECONDS, _QUIET_BYTES, _SETTLE_SECONDS = 2.0, _MIB // 2, 20.0
_DAY_LIMIT_SECONDS = 600.0
_IDLE = (
    "resident memory (smaps_rollup), shared libraries included, once it has not changed for "
    f"{_QUIET_SECONDS:g} s after the first paint; median of {IDLE_RUNS} starts; spread: least and greatest"
)
_DAY = (
    "resident memory after the run less that of the same process before it: {samples} samples, each with reads and "
    "writes and {buckets} latency buckets of each (copies of which only all nodes together have), {minutes:g} minutes "
    "at once and then drawn, through Live, History and the view with heat maps, and through the history that the "
    "session's writer keeps; {cpu:.0f} s of CPU"
)


def rows(root: Path, say: Callable[[str], None]) -> Iterator[Row]:
    """Idle, and what a day adds."""
    idle = []
    for number in range(1, IDLE_RUNS + 1):
        say(f"idle {number} of {IDLE_RUNS}")
        idle.append(_idle(root / f"{number}") / _MIB)
    spread = (min(idle), max(idle))
    yield row("memory, idle", statistics.median(idle), "MiB", at_most(80), spread=spread, how=_IDLE, values=idle)
    say(f"a day of {NODES} nodes")
    yield _day_row(_day(root / "day"))


def _idle(directory: Path) -> int:
    directory.mkdir(parents=True)
    with console([], directory, terminal=True) as started:
        started.wait_for_text(LISTENING, START_SECONDS)
        return _settled(started)


def _settled(console: Console) -> int:
    """The memory once it has not changed for a while; raises NotMeasured."""
    pid, end = console.process.pid, time.monotonic() + _SETTLE_SECONDS
    size, since = resident_bytes(pid), time.monotonic()
    while time.monotonic() - since < _QUIET_SECONDS:
        if time.monotonic() > end:
            raise NotMeasured("the memory of the idle console does not come to rest")
        time.sleep(0.1)
        now = resident_bytes(pid)
        if abs(now - size) > _QUIET_BYTES:
            size, since = now, time.monotonic()
    return resident_bytes(pid)


def _day(directory: Path) -> dict[str, float]:
    directory.mkdir(parents=True)
    file = directory / "day.json"
    command = [sys.executable, "-m", "tests.bench.day", str(NODES), str(DAY_SECONDS), str(file)]
    with running(command, directory, terminal=True) as started:
        started.wait(file.exists, "the day did not end", _DAY_LIMIT_SECONDS)
    found: dict[str, float] = json.loads(file.read_bytes())
    return found


def _day_row(found: dict[str, float]) -> Row:
    more = (found["after_bytes"] - found["before_bytes"]) / _MIB
    values = [found["before_bytes"] / _MIB, found["after_bytes"] / _MIB]
    minutes, told = found["batch_seconds"] / 60, (NODES + 1) * DAY_SECONDS
    how = _DAY.format(samples=told, buckets=stream.BUCKETS, minutes=minutes, cpu=found["cpu_seconds"])
    return row(f"memory, more after 24 h of {NODES} nodes", more, "MiB", at_most(40), how=how, values=values)
