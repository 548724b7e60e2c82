"""The logs that fio has written beside a file with its output: they are the seconds of the run in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cephtui.reading import open_regular, read_bytes
from cephtui.tools.fio import Fio
from cephtui.tools.fio.saved_logs import KINDS, LogName, is_log, read_name, seconds_of
from cephtui.tools.logs import FoundRun

_LOGS_MOST, _BYTES_MOST = 1000, 64 << 20
"""Logs of a run, and bytes of them."""
_BESIDE_MOST, _HEAD_BYTES = 100, 256 << 10
"""Files of a directory that are searched for a run, and bytes of each."""


def with_seconds(path: Path, text: str, runs: Sequence[tuple[str, FoundRun]]) -> list[tuple[str, FoundRun]]:
    """The only run of a file with its seconds, where logs of it stand beside the file and the output has none."""
    if len(runs) != 1 or runs[0][0] != Fio.name or runs[0][1].readings:
        return list(runs)
    tool, run = runs[0]
    logs: list[tuple[str, str]] = []
    room = _BYTES_MOST
    for name in _names(path.parent):
        log_name = read_name(name)
        if log_name is None or not log_name.is_of(path.name, text):
            continue
        try:
            data = read_bytes(path.parent / name, room)
        except OSError:  # without it, or with more than there is room for, the seconds are not whole
            return list(runs)
        room -= len(data)
        logs.append((log_name.kind, data.decode("utf-8", "replace")))
        if len(logs) > _LOGS_MOST:
            return list(runs)
    return [(tool, replace(run, readings=seconds_of(logs, run.version)))]


def why_no_run(path: Path, text: str) -> tuple[str, bool]:
    """What a log is, and whether a file with its run is beside it; empty for a file that is no log."""
    name = read_name(path.name)
    if name is None or not is_log(text):
        return "", False
    kind = f"fio's {KINDS[name.kind]} log"
    beside = _output_beside(path.parent, name)
    if beside:
        return f"{kind} of the run in {beside}", True
    return f"{kind}, without the output of the run", False


def _output_beside(folder: Path, log_name: LogName) -> str:
    outputs = [output for output in _names(folder) if read_name(output) is None]
    for output in outputs:
        if log_name.is_of(output, ""):
            return output
    for output in outputs[:_BESIDE_MOST]:
        try:
            with open_regular(folder / output) as file:
                text = file.read(_HEAD_BYTES).decode("utf-8", "replace")
        except OSError:
            continue
        if log_name.is_of(output, text):
            return output
    return ""


def _names(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir())
    except OSError:
        return []
