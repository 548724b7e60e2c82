"""The table of findings: each kind with its level, the figures that it limits, its words, and what helps."""

from __future__ import annotations

from cephtui.models.findings import client, cluster, data, machine, measurement, record, setup
from cephtui.models.findings.kind import (
    KINDS,
    TOPICS,
    Finding,
    FindingKind,
    Level,
    Topic,
    enter,
    finding_kind,
    limiting,
)

__all__ = ["KINDS", "TOPICS", "Finding", "FindingKind", "Level", "Topic", "finding_kind", "limiting"]

for _rows in (measurement, data, client, machine, cluster, setup, record):
    enter(kind for kind in vars(_rows).values() if isinstance(kind, FindingKind))
