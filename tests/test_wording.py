"""The wording of what users read, in one file: ``make golden`` writes it again."""

from __future__ import annotations

from collections.abc import Iterator

from syrupy.assertion import SnapshotAssertion

from cephtui.models.findings import KINDS
from cephtui.models.findings.examples import examples
from cephtui.reports.quality import finding_line


def findings() -> Iterator[str]:
    """Each kind with each form of its words."""
    for code, kind in KINDS.items():
        yield f"{code}: {kind.title}. {kind.why} {kind.source}".rstrip()
        yield from (f"  {finding.label or '-'}: {finding_line(finding)}" for finding in examples(code))


def test_findings(snapshot: SnapshotAssertion) -> None:
    assert "\n".join(findings()) == snapshot
