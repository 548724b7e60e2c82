"""``cephtui explain``: what findings mean, all of them in a listing, or one."""

from __future__ import annotations

import click

from cephtui.cli.emit import Output, emit
from cephtui.models.findings import KINDS, FindingKind
from cephtui.models.findings.examples import example_findings
from cephtui.models.rows import FindingKindRow
from cephtui.printable import suggestion
from cephtui.reports.views.listings import kinds_view


def explain_findings(code: str | None, output: Output) -> None:
    """Print all kinds of findings, or the one with this code in full; raises UsageError for an unknown code."""
    if code is not None and code not in KINDS:
        near = " ".join(filter(None, (suggestion(code, KINDS), "cephtui explain lists them")))
        raise click.UsageError(f"no finding {code!r}: {near}")
    rows = [row_of_kind(kind) for kind in KINDS.values() if code in (None, kind.code)]
    emit(kinds_view(rows, in_full=code is not None), output)


def row_of_kind(kind: FindingKind) -> FindingKindRow:
    """A kind with examples of what is observed, as ``--json`` prints it."""
    return FindingKindRow(
        code=kind.code,
        title=kind.title,
        level=kind.level,
        figures=kind.figures,
        topic=kind.topic,
        observed=tuple(finding.text for finding in example_findings(kind.code)),
        why=kind.why,
        cure=kind.cure,
        source=kind.source,
    )
