"""The ceilings of a run: those that it was stored with, or what follows from what was measured before it."""

from __future__ import annotations

import contextlib
from pathlib import Path

from cephtui.analysis.detectors.ceiling import above_ceilings, bears_on, ceilings
from cephtui.models import Ceiling, Run
from cephtui.models.base import Model, Name, OptionValue
from cephtui.reading import load_json, read_bytes
from cephtui.sessions import store
from cephtui.sessions.cluster_records import kept_records


class _Head(Model):
    """What decides whether a run says something of another one."""

    tool: Name
    target: Name
    options: dict[Name, OptionValue]


def ceilings_of(directory: Path, run: Run) -> tuple[Ceiling, ...]:
    """The ceilings of a run of a session; a run of an earlier cephtui is not stored with them."""
    if run.ceilings is not None or run.imported_from:
        return run.ceilings or ()
    records = kept_records(directory.parent, run.cluster.fsid if run.cluster else None)
    return tuple(ceilings(run, _runs_before(directory, run), records))


def with_ceilings(directory: Path, run: Run) -> Run:
    """A run that has ended, with its ceilings by what is known now, and with what being above one means."""
    limits = ceilings_of(directory, run)
    return run.model_copy(update={"ceilings": limits, "findings": (*run.findings, *above_ceilings(limits))})


def _runs_before(directory: Path, run: Run) -> list[Run]:
    """The earlier runs of a session that say something of this one.

    Of a thousand runs the heads are read, in about 0.3 s, and the rest of the few that say something.
    """
    try:
        earlier = [(number, path) for number, path in store.run_directories(directory) if number < run.run]
    except OSError:
        return []
    runs = []
    for number, path in earlier:
        head = _head(path)
        if head and bears_on(head, run):
            with contextlib.suppress(store.StoreError):
                runs.append(store.read_run(directory, number))
    return runs


def _head(run: Path) -> _Head | None:
    """What a run was asked to do; None where that can't be read."""
    try:
        return _Head.model_validate(load_json(read_bytes(run / "run.json")))
    except (OSError, ValueError):
        return None
