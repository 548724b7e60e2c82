"""Saved output of the tools as a test gives it, imported into a session."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from cephtui.models import Run
from cephtui.sessions import store
from cephtui.sessions.importing import Importer
from cephtui.sessions.log_files import read_log_file
from cephtui.tools.logs import FoundRun, Log, read_log
from cephtui.tools.saved import SAVED
from cephtui.tools.unread import find_unread
from tests.support.logs import WRITES

WRITTEN = datetime.fromisoformat("2026-11-25T14:57:00+00:00")
"""When the files of a test were last written."""
_HEAD_LINES = 4
"""Of an output that may be of any program."""


def import_texts(root: Path, name: str, texts: Mapping[str, str]) -> list[Run]:
    """The runs of a new session below ``root/sessions``; the texts are by the names of their files."""
    files = root / f"{name}-files"
    files.mkdir()
    importer = Importer(root / "sessions", name, files)
    for file, text in texts.items():
        (files / file).write_text(text)
        os.utime(files / file, (WRITTEN.timestamp(), WRITTEN.timestamp()))
        importer.add(read_log_file(files / file))
    importer.close()
    return store.read_runs(root / "sessions" / name)[0]


def rados(mode: str, iops: int = 50, *, in_flight: int = 16, clock: str = "") -> str:
    """What ``rados bench`` prints of 40 s: of a write with the line that announces it, of a read without.

    ``clock`` stands before the line of the extremes, which is printed after 19 s.
    """
    kind = "write" if mode == "write" else "read"
    began = (
        f"Maintaining {in_flight} concurrent writes of 4194304 bytes to objects of size 4194304 for up to 40 seconds "
        "or 0 objects\n"
    )
    rows = []
    for second in range(41):
        done, rate = iops * second, 4 * iops * bool(second)
        if second == 20:
            rows.append(f"{clock}min lat: 0.01 max lat: 0.9 avg lat: 0.3")
        latency = "0.3" if second else "-"
        rows.append(f"{second:>5} {in_flight:>7} {done + in_flight:>9} {done:>9} {rate:>9} {rate:>9} {latency:>11} 0.3")
    totals = [
        "Total time run:         40.0",
        f"Total {kind}s made:      {40 * iops}",
        f"{kind.title()} size:             4194304",
        "Object size:            4194304",
        f"Bandwidth (MB/sec):     {4 * iops}",
        f"Average IOPS:           {iops}",
        "Average Latency(s):     0.3",
        "Max latency(s):         0.9",
        "Min latency(s):         0.01",
    ]
    head = [
        "hints = 1\n",
        began * (mode == "write"),
        "  sec Cur ops   started  finished  avg MB/s  cur MB/s last lat\n",
    ]
    return "".join([*head, "\n".join([*rows, *totals, ""])])


def found_in(log: Log) -> list[tuple[str, FoundRun]]:
    """The runs of a log with the names of their tools."""
    return [(tool, run) for tool, saved in SAVED.items() for run in saved.find(log)]


def assert_cuts_are_read_or_named(base: str, number: int = 60) -> None:
    """Wherever a log ends, the runs before the end are whole, and what is left of another is a run or is named."""
    text = f"{WRITES}\n# Then\n\n{base}"
    whole = found_in(read_log(text))
    assert len(whole) > 1
    for end in sorted(random.Random(base).sample(range(len(text)), number)):
        log = read_log(text[:end])
        found, last = found_in(log), log.lines[-1].number
        for tool, run in whole:
            if run.last_line < last:
                assert run.summary in [each.summary for name, each in found if name == tool]
            elif 1 < run.line < last - _HEAD_LINES:
                tools = {name for name, each in found if each.line >= run.line}
                assert tool in {*tools, *(unread.tool for unread in find_unread(log, found))}, log.text[-200:]
