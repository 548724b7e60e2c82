"""Saved output of the tools as a test gives it, imported into a session."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from cephtui.models import Run
from cephtui.sessions import store
from cephtui.sessions.importing import Importer
from cephtui.sessions.log_files import read_log_file

WRITTEN = datetime.fromisoformat("2026-11-25T14:57:00+00:00")
"""When the files of a test were last written."""


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
