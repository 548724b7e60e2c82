"""The file from which a closed session's line of the listing is read at once, and the figures that it keeps."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from cephtui import __version__
from cephtui.models import SCHEMA_VERSION
from cephtui.models.session_row import SessionRow
from cephtui.reading import load_json, read_bytes
from cephtui.sessions.store import ROW_FILE, StoreError, last_at, read_runs, read_session

if TYPE_CHECKING:
    from cephtui.models import Run

_BEST = {f"best_{direction}_{figure}" for direction in ("read", "write") for figure in ("iops", "bandwidth_bytes")}
_FIGURES = {"created_at", "last_at", "runs", "presets", "outcomes", "validity", "cluster", "nodes", "targets",
            "imported", *_BEST}  # fmt: skip
"""The columns of a SessionRow that row.json keeps: those that change only while a process writes the session."""
Stamps: TypeAlias = dict[str, list[int] | None]
"""Size and time of each file that a row is made of; None where there is no such file."""


def session_figures(directory: Path) -> dict[str, Any]:
    """The columns of a row that are read from the session's files."""
    try:
        session = read_session(directory)
        runs, broken = read_runs(directory)
    except StoreError as error:
        return {"last_at": last_at(directory), "error": str(error)}
    outcomes = [run.outcome or "running" for run in runs]
    valid = [run.validity for run in runs if run.validity]
    versions = [f"ceph {run.cluster.ceph_version or ''}".strip() for run in runs if run.cluster]
    return {
        "created_at": session.created_at,
        "last_at": last_at(directory),
        "runs": len(runs),
        "presets": tuple(dict.fromkeys(run.preset for run in runs)),
        "outcomes": {outcome: outcomes.count(outcome) for outcome in dict.fromkeys(outcomes)},
        "validity": {word: valid.count(word) for word in dict.fromkeys(valid)},
        "cluster": versions[-1] if versions else None,
        "nodes": tuple(dict.fromkeys(name for run in runs for name in _nodes(run))),
        "targets": tuple(dict.fromkeys(run.target for run in runs)),
        "imported": any(run.imported_from for run in runs),
        **_best(runs),
        "error": "; ".join(map(str, broken)) or None,
    }


def _best(runs: Iterable[Run]) -> dict[str, float | None]:
    """The greatest IOPS and bandwidth, read and write apart."""
    good = [run.summary for run in runs if run.outcome == "ok"]
    by_direction = {"read": [summary.read for summary in good], "write": [summary.write for summary in good]}
    return {
        f"best_{direction}_{figure}": max(
            (value for total in totals if (value := getattr(total, figure, None))), default=None
        )
        for direction, totals in by_direction.items()
        for figure in ("iops", "bandwidth_bytes")
    }


def _nodes(run: Run) -> list[str]:
    """The names of a run's nodes; a run that was refused has no results."""
    return [node.node for node in run.nodes] or list(run.environment)


def stamps_of(directory: Path, names: set[str]) -> Stamps:
    """The stamps of a session's files, given the names in its directory."""
    runs = [f"{name}/run.json" for name in sorted(names) if name.isdecimal()]
    return {name: _stamp(f"{directory}/{name}") for name in ("session.json", *runs)}


def _stamp(path: str) -> list[int] | None:
    try:
        file_stat = os.stat(path)  # noqa: PTH116 - a thousand sessions are listed at once
    except OSError:
        return None
    return [file_stat.st_size, file_stat.st_mtime_ns]


def kept_figures(directory: Path, names: set[str]) -> dict[str, Any] | None:
    """The content of row.json; None where it is broken, of another version, or does not fit the files any more."""
    try:
        content = load_json(read_bytes(directory / ROW_FILE))
        made_by = (content["schema_version"], content["cephtui_version"])
        if made_by != (SCHEMA_VERSION, __version__) or content["files"] != stamps_of(directory, names):
            return None
        figures = {name: content["row"][name] for name in _FIGURES}
        row = SessionRow.model_validate({"session": "", "path": "", **figures})
        return {name: getattr(row, name) for name in _FIGURES}
    except (OSError, ValueError, LookupError, TypeError):
        return None


def row_to_keep(directory: Path) -> str | None:
    """The text of row.json for a session that is about to be closed; None where something in it is not in order.

    Raises OSError.
    """
    stamps = stamps_of(directory, {path.name for path in directory.iterdir()})
    return row_text(session_figures(directory), stamps)


def row_text(figures: Mapping[str, Any], stamps: Stamps) -> str | None:
    """The text of row.json for figures that were read after the stamps; None where something is not in order."""
    if figures.get("error") or "running" in figures["outcomes"]:
        return None
    row = SessionRow(session="", path="").model_copy(update=figures).model_dump(mode="json", include=_FIGURES)
    return json.dumps({"schema_version": SCHEMA_VERSION, "cephtui_version": __version__, "row": row, "files": stamps})
