"""What limits the figures of runs, each with its effect and its cure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cephtui.analysis.batches import name_of
from cephtui.analysis.conclusion import validity, why_invalid
from cephtui.models import Run
from cephtui.reports.document.blocks import Block, Table, Text
from cephtui.reports.facts import run_names
from cephtui.reports.text import cut

CURES: Mapping[str, str] = {
    "incomplete": "let it run to its end",
    "short": "choose a longer runtime, or more objects",
    "thin": "read what was written before: prefill the image",
    "holes": "read objects that were written in full before: preset rados-rand",
    "rate-limited": "choose a higher target-throughput",
    "no-seconds": "use Ceph 16 or later on the node",
    "unverified": "let cephtui prefill the target, or write all of it first",
    "slow-job": "look at that disk: smartctl -a, its log, its cables, its place in the controller",
    "portion": "let it run to its end",
    "one-stream": "measure many I/Os at a time: write-throughput, read-throughput",
    "zeros": "write random data: if=/dev/urandom, or another preset",
    "random-data": "compare it with zeros, or measure with another preset",
    "page-cache": "measure with direct=1",
    "memory": "choose a target on a disk",
    "not-settled": "choose a longer ramp or runtime",
    "depth": "measure with ioengine=libaio, or more jobs",
    "in-flight": "choose a longer runtime, or bandwidth as the figure",
    "stuck": "look for slow operations: ceph health detail",
    "stalled": "look for slow operations in that time: ceph health detail, the logs of the OSDs",
    "unreadable": "measure again; its raw output is in the session",
    "residue": "where the OSD was killed run the command that the finding names",
    "left-changed": "take the change back, or wait for the end of that check: cephtui cleanup",
    "raw-cut": "nothing: all samples are kept",
    "partly-saved": "make room for the session and measure again",
    "unsaved": "make room for the session and measure again",
    "unkillable": "look for the process on the node",
    "space": "make room in the pool",
    "autoscale": "switch pg_autoscale_mode off while you measure, and wait until the PGs have moved",
    "health": "measure again with HEALTH_OK",
    "osds": "measure again with all OSDs up and in",
    "pgs": "wait until all PGs are active+clean",
    "recovery": "wait until the recovery has ended",
    "scrub": "set noscrub and nodeep-scrub while you measure",
    "osd-down": "measure again with all OSDs up and in",
    "osd-out": "measure again with all OSDs up and in",
    "pgs-inactive": "wait until all PGs are active+clean",
    "flag": "clear the flag, or measure both sides with it",
    "monitors": "measure again with all monitors in quorum",
    "other-clients": "measure while the cluster is quiet, or more runs",
    "slow-ops": "look for the OSD that is slow: ceph health detail",
    "cluster-silent": "look at the monitors: ceph -s",
}
"""By a finding's code what helps; a finding of another code says so itself."""

_EFFECTS = {
    "VALID": "none on the figures",
    "SUSPECT": "SUSPECT: counts, and may be off",
    "INVALID": "INVALID: takes no part",
}


def findings_of(runs: Sequence[Run]) -> tuple[Block, ...]:
    """Each once, with the runs that have it."""
    rows = [(run_names(map(name_of, having)), text, *why) for (text, *why), having in _grouped(runs).items()]
    if not rows:
        return (Text("none: nothing was found that limits what the figures mean"),)
    shown, more = cut(rows, "findings")
    columns = ("runs", "finding", "effect", "what helps")
    return (Table(columns, "llll", tuple(shown)), *[Text(more)] * bool(more))


def _grouped(runs: Iterable[Run]) -> dict[tuple[str, str, str], list[Run]]:
    """The runs by text, effect and cure."""
    found: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        if run.outcome != "ok":
            found.setdefault((why_invalid(run), _EFFECTS["INVALID"], "measure again"), []).append(run)
        for finding in run.findings:
            effect = _EFFECTS[validity(run.model_copy(update={"outcome": "ok", "findings": (finding,)}))]
            found.setdefault((finding.text, effect, CURES.get(finding.code, "")), []).append(run)
    return found


def status_of(run: Run) -> str:
    """``VALID``, ``SUSPECT``, ``INVALID``; with the file that an imported run was read from."""
    source = f", imported from {run.imported_from}" if run.imported_from else ""
    return f"{validity(run)}{source}"
