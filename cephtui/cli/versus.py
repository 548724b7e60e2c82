"""Two whole sessions for the command line: read, judged and printed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from cephtui.analysis.verdicts.conclusion import ConclusionTerms, Judgement
from cephtui.analysis.verdicts.versus import Versus, WholeSession, conclude_versus, versus
from cephtui.cli.saved import find_session
from cephtui.sessions import store


def are_sessions(*names: str | None) -> bool:
    """Whether these are names of sessions, not of runs."""
    return all(name and "/" not in name for name in names)


def find_versus(left: str, right: str) -> Versus:
    """Two sessions by their names; raises StoreError, and UsageError where nothing can be compared."""
    directories = find_session(left), find_session(right)
    if directories[0] == directories[1]:
        name = directories[0].name
        raise click.UsageError(f"both are session {name}: name two of its runs: cephtui compare {name}/1 {name}/2")
    two_sessions = versus(*map(_whole, directories))
    if not two_sessions.pairs:
        names = " and ".join(path.name for path in directories)
        raise click.UsageError(
            f"sessions {names} have no preset with the same options on as many nodes: name a run of each: "
            f"cephtui compare {directories[0].name}/1 {directories[1].name}/1"
        )
    return two_sessions


def _whole(directory: Path) -> WholeSession:
    runs, broken = store.read_runs(directory)
    if not runs:
        raise broken[0] if broken else click.UsageError(f"session {directory.name} has no runs")
    return WholeSession(runs, store.read_marks(directory))


def judged_versus(versus: Versus, terms: ConclusionTerms) -> Judgement:
    """The judgement of two sessions, made now."""
    return conclude_versus(versus, terms, datetime.now(UTC))
