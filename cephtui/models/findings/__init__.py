"""The table of findings: each kind with its level, the figures that it limits, its words, and what helps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cephtui.models.findings import client, cluster, data, measurement, record
from cephtui.models.findings.kind import TOPICS, Finding, FindingKind, Level, Topic, says

__all__ = ["KINDS", "TOPICS", "Finding", "FindingKind", "Level", "Topic", "kind_of", "limiting"]

KINDS: Mapping[str, FindingKind] = {
    kind.code: kind
    for module in (measurement, data, client, cluster, record)
    for kind in vars(module).values()
    if isinstance(kind, FindingKind)
}
"""By code."""


def kind_of(code: str) -> FindingKind:
    """The kind with this code; of a code that only an earlier or a later cephtui has, one that limits all figures."""
    return KINDS.get(code) or FindingKind(
        code, "limits", "measurement", code, says(code),
        why="This version of cephtui does not know the finding: it counts as one that limits all figures.",
        cure="read the finding's text",
    )  # fmt: skip


def limiting(codes: Iterable[str], figure: str) -> tuple[str, ...]:
    """Those of some codes that make a figure doubtful, by the figure's field in a Total."""
    return tuple(code for code in codes if kind_of(code).limits(figure))
