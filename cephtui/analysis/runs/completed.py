"""Saved runs whose I/Os were counted as they began: corrected, as the parser of fio corrects those of new runs."""

from __future__ import annotations

from cephtui.analysis.runs.facts import load_of
from cephtui.models import NodeResult, Run, Summary, Total
from cephtui.models.findings.measurement import IN_FLIGHT
from cephtui.models.metrics import DIRECTIONS


def with_completed(run: Run) -> Run:
    """The run with the I/Os that were completed, by their bytes, and without the finding that there were others.

    A run whose I/Os have several sizes, or that has no such finding, is as it was.
    """
    load = load_of(run) if any(finding.code == IN_FLIGHT.code for finding in run.findings) else None
    block = load.block_bytes if load else 0
    totals = [total for name, total in run.summary.flows.items() if name in DIRECTIONS]
    if not block or any(total.bytes % block for total in totals):
        return run
    return run.model_copy(
        update={
            "summary": _summary(run.summary, block),
            "nodes": tuple(_node(node, block) for node in run.nodes),
            "findings": tuple(finding for finding in run.findings if finding.code != IN_FLIGHT.code),
        }
    )


def is_corrected(run: Run) -> bool:
    """Whether the tool of a run has counted other I/Os than were completed."""
    return any(total.ios_reported is not None for total in run.summary.flows.values())


def corrected_block(run: Run) -> int:
    """The bytes of each I/O of a run that is corrected; 0 for any other run.

    The seconds of a run that an earlier cephtui has saved are as the tool has counted them.
    """
    load = load_of(run) if is_corrected(run) else None
    return load.block_bytes if load else 0


def _node(node: NodeResult, block: int) -> NodeResult:
    jobs = tuple(job.model_copy(update={"summary": _summary(job.summary, block)}) for job in node.jobs)
    return node.model_copy(update={"summary": _summary(node.summary, block), "jobs": jobs})


def _summary(summary: Summary, block: int) -> Summary:
    totals = {name: _total(total, block) for name, total in summary.flows.items() if name in DIRECTIONS}
    return summary.model_copy(update=totals)


def _total(total: Total, block: int) -> Total:
    ios = total.bytes // block
    if ios == total.ios or not total.runtime_seconds:
        return total
    return total.model_copy(
        update={"ios": ios, "iops": ios / total.runtime_seconds, "ios_reported": total.ios_reported or total.ios}
    )
