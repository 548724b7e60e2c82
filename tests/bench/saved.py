"""How long a user waits for what is saved: a session of a day on many nodes, and the list of many sessions."""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from cephtui.models import Plan, Run
from cephtui.sessions.listing import list_sessions
from cephtui.sessions.writer import SessionWriter
from cephtui.writing import write_whole
from tests.bench import stream
from tests.bench.console import LISTENING, START_SECONDS, Console, console
from tests.bench.interactive import NotMeasured
from tests.bench.table import Goal, Row, at_most, row

NODES, DAY_SECONDS = 16, 86_400
SESSIONS, RUNS_EACH = 1000, 6
TIMES = 7
SESSION = "day"
_OPEN, _BACK = "\r", "\x1b"
_LIMIT_SECONDS = 30.0
_DRAWN = b"24:00 h"
"""At the end of the chart's time axis: there where its curves are."""
_LISTED = f"{SESSION} ".encode()
_OPENING = (
    f"from enter in the list of sessions to the chart's last hour on the terminal, 120x36: runs and {{size:.1f}} MB of "
    f"overview are read, there are no samples; median of {TIMES} times in one console; spread: least and greatest"
)
_LISTING = (
    f"list_sessions on sessions of {RUNS_EACH} runs, as their writer leaves them, files in the page cache; "
    f"median of {TIMES} times; spread: least and greatest"
)


def rows(root: Path, say: Callable[[str], None]) -> Iterator[Row]:
    """Opening one, and listing many."""
    say(f"a saved day of {NODES} nodes")
    size = _save_day(root / "one" / "sessions")
    say("opening it")
    opened = _open(root / "one")
    yield _row(f"opening 24 h x {NODES} nodes", opened, at_most(1), _OPENING.format(size=size / 1e6))
    say(f"saving {SESSIONS} sessions")
    _save_many(root / "many")
    say("listing them")
    yield _row(f"listing {SESSIONS} sessions", _list(root / "many"), at_most(0.3), _LISTING)


def _save_day(root: Path) -> int:
    """The session, without its samples; the result is the size of its overview in bytes."""
    plan, run = stream.begin(NODES, DAY_SECONDS)
    directory = _save(root, SESSION, plan, [run])
    overview = stream.history(NODES, DAY_SECONDS).overview().model_dump_json()
    write_whole(directory / "001" / "overview.json", overview)
    return len(overview)


def _save(root: Path, name: str, plan: Plan, runs: list[Run]) -> Path:
    """A session as its writer leaves it, of runs that have come to their good end."""
    writer = SessionWriter.open(root, name)
    writer.add_plan(plan)
    for run in runs:
        begun = run.model_copy(update={"session": name, "run": writer.next_run()})
        writer.start_run(begun).finish(stream.ended(begun, plan.steps[0]))
    writer.close()
    return writer.directory


def _open(directory: Path) -> list[float]:
    with console([], directory, terminal=True) as started:
        started.wait_for_text(LISTENING, START_SECONDS)
        pressed = started.press("o")
        started.wait_for_text(_LISTED, _LIMIT_SECONDS, pressed)
        return [_open_once(started) for _ in range(TIMES)]


def _open_once(console: Console) -> float:
    time.sleep(0.5)
    pressed = console.press(_OPEN)
    seconds = console.wait_for_text(_DRAWN, _LIMIT_SECONDS, pressed) - pressed
    time.sleep(0.5)
    pressed = console.press(_BACK)
    console.wait_for_text(_LISTED, _LIMIT_SECONDS, pressed)
    return seconds


def _save_many(root: Path) -> None:
    """One is written and the others are its copies, times of the files included."""
    plan, run = stream.begin(1, 60.0)
    first = _save(root, "s0000", plan, [run] * RUNS_EACH)
    for number in range(1, SESSIONS):
        shutil.copytree(first, root / f"s{number:04}")


def _list(root: Path) -> list[float]:
    seconds = []
    for _ in range(TIMES):
        began = time.monotonic()
        found = list_sessions(root)
        seconds.append(time.monotonic() - began)
        if sum(each.runs for each in found) != SESSIONS * RUNS_EACH or any(each.error for each in found):
            raise NotMeasured("the sessions are not listed as they were saved")
    return seconds


def _row(measure: str, seconds: list[float], goal: Goal, how: str) -> Row:
    spread = (min(seconds), max(seconds))
    return row(measure, statistics.median(seconds), "s", goal, spread=spread, how=how, values=seconds)
