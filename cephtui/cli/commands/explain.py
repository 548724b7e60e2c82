"""``cephtui explain``: what findings mean, all of them in a listing, or one."""

from __future__ import annotations

import click

from cephtui.cli.printing import print_lines, print_report
from cephtui.models.findings import KINDS, FindingKind
from cephtui.models.findings.examples import example_findings
from cephtui.models.rows import FindingKindRow
from cephtui.printable import suggestion
from cephtui.reports.drawn.findings import draw_kind, draw_kinds


def explain_findings(code: str | None, as_json: bool) -> None:
    """Print all kinds of findings, or the one with this code in full; raises UsageError for an unknown code."""
    if code is not None and code not in KINDS:
        near = " ".join(filter(None, (suggestion(code, KINDS), "cephtui explain lists them")))
        raise click.UsageError(f"no finding {code!r}: {near}")
    rows = [_row(kind) for kind in KINDS.values() if code in (None, kind.code)]
    if as_json:
        print_lines(rows)
    else:
        print_report(draw_kinds(rows) if code is None else draw_kind(rows[0]))


def _row(kind: FindingKind) -> FindingKindRow:
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
