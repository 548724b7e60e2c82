"""`make bench`: all measures, or those named: `make bench ARGS="observer cpu"`; "console" are all of the console."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.bench import (
    cpu,
    keys,
    launch,
    lines,
    memory,
    observer,
    order,
    precedence,
    saved,
    stages,
    stall,
    start,
    statistics,
    why,
)
from tests.bench.conditions import conditions, load
from tests.bench.honest import rows as honest
from tests.bench.interactive import NotMeasured
from tests.bench.table import Row, as_json, as_text
from tests.lab import Lab, LabError

FILE = Path(__file__).resolve().parents[2] / ".bench" / "latest.json"
Say = Callable[[str], None]
_MEASURES = {
    "observer": "whether fio is slower because cephtui looks on",
    "start": "how far apart nodes begin",
    "order": "how long the first sample takes",
    "launch": "the version and the console's first paint",
    "memory": "the console's memory, idle and after a day",
    "keys": "how soon a key is answered",
    "lines": "how soon a node's second is on the screen",
    "cpu": "the CPU of the console's process",
    "saved": "opening and listing sessions",
    "stall": "the run while the terminal takes no output",
    "honest": "findings that are invented, and lies that are caught",
    "why": "faults that `cephtui why` names first, and causes of healthy labs",
    "stages": "whether a delay shows in the stage of the latency in which it is",
    "statistics": "what the texts promise of runs, by simulation",
}
_LONG = ("honest", "why", "stages")
"""Measures that take half an hour or more: only where they are named."""
_WITHOUT_LAB: dict[str, Callable[[Path, Say], Iterator[Row]]] = {
    "launch": launch.rows,
    "memory": memory.rows,
    "keys": keys.rows,
    "lines": lines.rows,
    "cpu": cpu.rows,
    "saved": saved.rows,
    "stall": stall.rows,
    "statistics": statistics.rows,
}
_CONSOLE = "console"
"""Names all of these together but the statistics."""


def chosen(named: Sequence[str]) -> list[str]:
    """The measures that are meant, each once; raises KeyError for a name of none."""
    every = list(_MEASURES)
    groups = {_CONSOLE: [name for name in _WITHOUT_LAB if name != "statistics"], **{name: [name] for name in every}}
    meant = {name for word in named for name in groups[word]} or {*every} - {*_LONG}
    return [name for name in every if name in meant]


def main() -> int:
    """Measures, prints and stores; the exit status tells whether all could be measured, not what came out."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    known = ", ".join(f"{name} ({what})" for name, what in _MEASURES.items())
    told = f"one of {known}; {_CONSOLE}: those from launch to stall; default: all but {', '.join(_LONG)}"
    parser.add_argument("measures", nargs="*", metavar="MEASURE", help=told)
    honest.add_options(parser)
    asked = parser.parse_args()
    try:
        measures = chosen(asked.measures)
    except KeyError as error:
        parser.error(f"{error.args[0]}: expected one of {', '.join([*_MEASURES, _CONSOLE])}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was begun is taken down
    began, loads, rows, failed = time.monotonic(), [load()], list[Row](), False
    with ExitStack() as stack:
        if {*measures} - {*_LONG}:
            stack.enter_context(precedence.own_session())
        bench = _Bench(stack, honest.options(asked))
        for name in measures:
            try:
                for each in bench.measure(name):
                    rows.append(each)
            except (NotMeasured, LabError) as error:
                failed = True
                _say(f"{name}: not measured: {error}")
            loads.append(load())
    print(as_text(rows))
    _store(rows, {**conditions(), "load_1m": loads, "seconds": round(time.monotonic() - began)})
    return 1 if failed else 0


class _Bench:
    """What the measures share: a lab, brought up when it is first needed, and a directory."""

    def __init__(self, stack: ExitStack, of_honest: honest.Options) -> None:
        self._stack, self._of_honest = stack, of_honest
        self._started: Lab | None = None

    def measure(self, name: str) -> Iterator[Row]:
        """The rows of one measure as they come; raises NotMeasured and LabError."""

        def say(text: str) -> None:
            _say(f"{name}: {text}")

        with tempfile.TemporaryDirectory(prefix="cephtui-bench-", dir="/var/tmp") as directory:
            yield from self._rows(name, Path(directory), say)

    def _rows(self, name: str, root: Path, say: Say) -> Iterator[Row]:
        if name in _WITHOUT_LAB:
            yield from _WITHOUT_LAB[name](root, say)
        elif name == "observer":
            yield from observer.rows(self._lab(), root, say)
        elif name == "honest":
            yield from honest.rows(self._of_honest, say)
        elif name == "why":
            yield from why.rows(root, say, self._of_honest.release)
        elif name == "stages":
            yield from stages.rows(root, say, self._of_honest.release)
        elif name == "order":
            yield from order.rows(self._lab(), root, say)
        else:
            yield from start.lab_rows(self._lab(), root / "lab", say)
            yield from start.simulated_rows(root / "simulated", say)

    def _lab(self) -> Lab:
        if self._started is None:
            _say("lab: up")
            self._started = self._stack.enter_context(_own_lab())
        return self._started


@contextmanager
def _own_lab() -> Iterator[Lab]:
    """A lab without Ceph; it goes by itself where this process is killed."""
    directory = Path(tempfile.mkdtemp(prefix="lab-", dir="/var/tmp"))
    try:
        lab = Lab.start(directory, "--owner", str(os.getpid()), "--no-ceph")
        precedence.every_command(lab)
        yield lab
    finally:
        Lab(directory).stop()
        with contextlib.suppress(OSError):
            directory.rmdir()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _store(rows: list[Row], found: dict[str, object]) -> None:
    FILE.parent.mkdir(exist_ok=True)
    partial = FILE.with_suffix(".new")
    partial.write_text(json.dumps(as_json(rows, found), indent=1) + "\n")
    partial.replace(FILE)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
