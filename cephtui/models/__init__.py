"""Every noun of cephtui as plain frozen data; nothing here does I/O.

Quantities are SI base units and the unit is in the name: ``bandwidth_bytes`` is bytes per second,
``latency_mean_seconds`` seconds, ``ios`` a count. The objects with an ``event`` are the public JSON Lines
interface and, unchanged, what a session keeps on disk. The lines of listings are in ``cephtui.models.rows``.

The module of a name is imported when the name is first used: a model takes a third of a millisecond to make, there are
a hundred, and most commands need few.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cephtui.models.base import (
        ELAPSED_MOST_SECONDS,
        FIGURE_MOST,
        NODES_MOST,
        SCHEMA_VERSION,
        Amount,
        Elapsed,
        Kind,
        Line,
        Model,
        Name,
        NameKind,
        NamesOf,
        OptionValue,
        Outcome,
        Phase,
        Said,
    )
    from cephtui.models.ceilings import Ceiling, Limit
    from cephtui.models.findings import Finding
    from cephtui.models.node import Node
    from cephtui.models.nodes import (
        ClusterEnvironment,
        ClusterLink,
        HostNics,
        NodeEnvironment,
        OsdOption,
        OsdPing,
        PoolActivity,
    )
    from cephtui.models.plan import (
        CompanionStep,
        FilePlace,
        HostPlace,
        NodeStep,
        OsdPlace,
        Part,
        Place,
        Plan,
        RadosPlace,
        RbdPlace,
        S3Place,
        Step,
        Write,
    )
    from cephtui.models.promise import MeasuredVolume, Promise, VolumePart
    from cephtui.models.refusal import ConfirmKind, Refusal
    from cephtui.models.results import (
        Commits,
        DiskUse,
        JobResult,
        Latency,
        LatencyShare,
        NodeResult,
        OsdResult,
        RateSamples,
        Seconds,
        SlowestOperation,
        Stages,
        Summary,
        Total,
    )
    from cephtui.models.run import Event, Mark, NodeEnded, Notice, Run
    from cephtui.models.samples import (
        ClusterSample,
        Interval,
        JobSample,
        MachineUse,
        NodeSample,
        OsdInterval,
        OsdSample,
        Sample,
        StateSample,
    )
    from cephtui.models.session import Session, SessionNotes, Tags

_NAMES = {
    "base": "ELAPSED_MOST_SECONDS FIGURE_MOST NODES_MOST SCHEMA_VERSION Amount Elapsed Kind Line Model Name "
    "NameKind NamesOf OptionValue Outcome Phase Said",
    "ceilings": "Ceiling Limit",
    "findings": "Finding",
    "node": "Node",
    "nodes": "ClusterEnvironment ClusterLink HostNics NodeEnvironment OsdOption OsdPing PoolActivity",
    "plan": "CompanionStep FilePlace HostPlace NodeStep OsdPlace Part Place Plan RadosPlace RbdPlace S3Place "
    "Step Write",
    "promise": "MeasuredVolume Promise VolumePart",
    "refusal": "ConfirmKind Refusal",
    "results": "Commits DiskUse JobResult Latency LatencyShare NodeResult OsdResult RateSamples Seconds "
    "SlowestOperation Stages Summary Total",
    "run": "Event Mark NodeEnded Notice Run",
    "samples": "ClusterSample Interval JobSample MachineUse NodeSample OsdInterval OsdSample Sample StateSample",
    "session": "Session SessionNotes Tags",
}
"""The names of each module."""
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

if not TYPE_CHECKING:

    def __getattr__(name):
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        return value
