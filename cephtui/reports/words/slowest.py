"""The slowest operations of a run, in words."""

from __future__ import annotations

from collections.abc import Sequence

from cephtui import units
from cephtui.models import SlowestOperation

_LEAST, _MOST = 0.05, 3
"""Stages of a smaller share are left out, and more are."""
_WHOSE = {True: "", False: ", of another client", None: ", of any client"}


def slowest_line(operation: SlowestOperation) -> str:
    """``9.14 s on osd.0 at 0:12: 7.68 s throttled, 1.14 s commit of a replica``: the longest stages first."""
    shown = sorted(operation.stages.items(), key=lambda stage: -stage[1])[:_MOST]
    stages = [f"{units.latency(part)} {name}" for name, part in shown if part >= _LEAST * operation.seconds]
    at = "" if operation.at_seconds is None else f" at {units.clock(max(0.0, operation.at_seconds))}"
    where = f"{units.latency(operation.seconds)} on {operation.osd}{at}{_WHOSE[operation.own]}"
    return f"{where}: {', '.join(stages)}" if stages else where


def slowest_lines(operations: Sequence[SlowestOperation]) -> list[str]:
    """A line for each."""
    return [slowest_line(operation) for operation in operations]
