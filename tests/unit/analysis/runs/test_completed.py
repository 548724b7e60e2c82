"""Runs of an earlier cephtui whose I/Os were counted as they began."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cephtui.analysis.runs.completed import corrected_block, with_completed
from cephtui.models import Finding, JobResult, NodeResult, Run, Summary
from cephtui.models.findings.measurement import IN_FLIGHT, SHORT
from cephtui.sessions import store
from tests.support.known import known
from tests.support.runs import run, total

OPTIONS = {"rw": "randwrite", "bs": "4k", "iodepth": 256, "numjobs": 1}
FOUND = IN_FLIGHT.found(missing_ios=300, ios=1164)


def in_flight(
    findings: Sequence[Finding] = (SHORT.found(measured_seconds=3.0), FOUND), nbytes: int = 1464 * 4096, **changes: Any
) -> Run:
    """388 IOPS as fio counts, 488 that were completed."""
    write = total(iops=388.0, ios=1164, runtime_seconds=3.0, bytes=nbytes, bandwidth_bytes=nbytes / 3)
    summary = Summary(write=write)
    node = NodeResult(node="pve1", command="fio", summary=summary, jobs=(JobResult(job="x 1", summary=summary),))
    return run(1, **{"options": OPTIONS, "write": write, "findings": tuple(findings), "nodes": (node,), **changes})


def test_the_ios_of_run_node_and_job_are_those_of_their_bytes() -> None:
    before = in_flight()
    after = with_completed(before)
    (node,) = after.nodes
    for summary in (after.summary, node.summary, node.jobs[0].summary):
        write = known(summary.write)
        assert (write.ios, write.iops, write.ios_reported) == (1464, 488.0, 1164)
        assert write.bytes == 1464 * 4096
    assert [finding.code for finding in after.findings] == ["short"]
    assert with_completed(after) == after
    assert (corrected_block(before), corrected_block(after)) == (0, 4096)


@pytest.mark.parametrize(
    "changes",
    [{"findings": ()}, {"tool": "unknown"}, {"nbytes": 1464 * 4096 - 512}, {"options": {**OPTIONS, "bs": "4k,8k"}}],
    ids=["no finding", "no tool", "no whole blocks", "two sizes"],
)
def test_what_is_not_known_stays(changes: dict[str, Any]) -> None:
    before = in_flight(**changes)
    assert with_completed(before) == before


def test_a_saved_run_is_corrected_as_it_is_read(tmp_path: Path) -> None:
    saved = in_flight(session="old")
    folder = tmp_path / "old" / "001"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(saved.model_dump_json())
    assert store.read_run(tmp_path / "old", 1) == with_completed(saved)
