"""What limits the figures of runs, each with its effect and its cure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cephtui.analysis.runs.batches import name_of
from cephtui.analysis.runs.facts import why_invalid
from cephtui.models import Run
from cephtui.reports.blocks import Block, Table, Text, columns
from cephtui.reports.words.facts import run_names
from cephtui.reports.words.quality import QUALITY, effect_of, quality_of
from cephtui.reports.words.text import cut


def findings_of(runs: Sequence[Run]) -> tuple[Block, ...]:
    """Each once, with the runs that have it."""
    rows = [(run_names(map(name_of, having)), text, *why) for (text, *why), having in _grouped(runs).items()]
    if not rows:
        return (Text("none: nothing was found that limits what the figures mean"),)
    shown, more = cut(rows, "findings")
    heads = columns(("runs", "finding", "effect", "what helps"), "llll")
    return (Table(heads, tuple(shown)), *[Text(more)] * bool(more))


def _grouped(runs: Iterable[Run]) -> dict[tuple[str, str, str], list[Run]]:
    """The runs by text, effect and cure."""
    found: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        if run.outcome != "ok":
            found.setdefault((why_invalid(run), QUALITY["INVALID"], "measure again"), []).append(run)
        for finding in run.findings:
            found.setdefault((finding.text, effect_of(finding), finding.cure), []).append(run)
    return found


def status_of(run: Run) -> str:
    """Whether it counts, in words; with the file that an imported run was read from."""
    source = f", imported from {run.imported_from}" if run.imported_from else ""
    return f"{quality_of([run])}{source}"
