"""Every noun of cephtui as plain frozen data; nothing here does I/O.

Quantities are SI base units and the unit is in the name: ``bandwidth_bytes`` is bytes per second,
``latency_mean_seconds`` seconds, ``ios`` a count. The objects with an ``event`` are the public JSON Lines
interface and, unchanged, what a session keeps on disk. The lines of listings are in ``cephtui.models.rows``: the
console starts without them.
"""

from __future__ import annotations

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
from cephtui.models.findings import Finding
from cephtui.models.nodes import ClusterEnvironment, ClusterLink, Node, NodeEnvironment, PoolActivity
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
    DiskUse,
    JobResult,
    Latency,
    LatencyShare,
    NodeResult,
    RateSamples,
    Seconds,
    Summary,
    Total,
)
from cephtui.models.run import Event, Mark, NodeEnded, Notice, Run
from cephtui.models.samples import ClusterSample, Interval, JobSample, Sample, flows_of
from cephtui.models.session import Session, SessionNotes, Tags

__all__ = [
    "ELAPSED_MOST_SECONDS",
    "FIGURE_MOST",
    "NODES_MOST",
    "SCHEMA_VERSION",
    "Amount",
    "ClusterEnvironment",
    "ClusterLink",
    "ClusterSample",
    "CompanionStep",
    "ConfirmKind",
    "DiskUse",
    "Elapsed",
    "Event",
    "FilePlace",
    "Finding",
    "HostPlace",
    "Interval",
    "JobResult",
    "JobSample",
    "Kind",
    "Latency",
    "LatencyShare",
    "Line",
    "Mark",
    "MeasuredVolume",
    "Model",
    "Name",
    "NameKind",
    "NamesOf",
    "Node",
    "NodeEnded",
    "NodeEnvironment",
    "NodeResult",
    "NodeStep",
    "Notice",
    "OptionValue",
    "OsdPlace",
    "Outcome",
    "Part",
    "Phase",
    "Place",
    "Plan",
    "PoolActivity",
    "Promise",
    "RadosPlace",
    "RateSamples",
    "RbdPlace",
    "Refusal",
    "Run",
    "S3Place",
    "Said",
    "Sample",
    "Seconds",
    "Session",
    "SessionNotes",
    "Step",
    "Summary",
    "Tags",
    "Total",
    "VolumePart",
    "Write",
    "flows_of",
]
