"""What became of a run, and what limits its figures."""

from __future__ import annotations

import pytest

from cephtui.models import Outcome, Step
from cephtui.outcomes import decide, run_findings, worst
from cephtui.stats import Flow
from cephtui.tools import ToolResult
from cephtui.transport import HEARTBEAT_SILENT, LOCK_HELD

FLOW = Flow(
    ios=1000,
    bytes=4096 * 1000,
    runtime_seconds=60.0,
    iops=16.7,
    bandwidth_bytes=68e3,
    buckets={},
    moments=None,
    bounds=None,
)
STEP = Step(
    preset="write-iops",
    tool="fio",
    batch="b",
    target="file:/mnt/bench/test",
    span_bytes=1 << 30,
    block_bytes=4096,
    options={"rw": "randwrite", "bs": "4k"},
    nodes=(),
    prepare_seconds=0.0,
    ramp_seconds=2.0,
    run_seconds=60.0,
)
FULL = "the session can't be written any more"


@pytest.mark.parametrize(
    ("status", "reason", "flow", "outcome"),
    [
        (0, None, FLOW, "ok"),
        (0, "", FLOW, "ok"),  # the user's wish came after the end
        (128, "", FLOW, "stopped"),
        (0, FULL, FLOW, "stopped"),  # what could not be kept is no success
        (None, None, FLOW, "lost"),
        (HEARTBEAT_SILENT, None, FLOW, "lost"),
        (LOCK_HELD, None, None, "refused"),
        (124, None, FLOW, "failed"),
        (1, None, FLOW, "failed"),
        (0, None, None, "failed"),
    ],
)
def test_an_end_has_one_outcome(status: int | None, reason: str | None, flow: Flow | None, outcome: Outcome) -> None:
    found, error = decide(status, reason, ToolResult(write=flow))
    assert found == outcome
    if reason:
        assert error == reason


def test_the_worst_node_decides() -> None:
    assert worst(["ok", "stopped", "ok"]) == "stopped"
    assert worst(["lost", "failed"]) == "failed"
    assert worst([]) == "ok"


def codes(flow: Flow | None, outcome: Outcome = "ok") -> list[str]:
    return [finding.code for finding in run_findings(STEP, outcome, ToolResult(write=flow))]


def test_a_run_in_full_has_nothing_to_say() -> None:
    assert codes(FLOW) == []


def test_a_short_run_says_so_and_a_stopped_one_only_that() -> None:
    short = Flow(**{**_fields(FLOW), "runtime_seconds": 3.0})
    assert codes(short) == ["short"]
    assert codes(short, "stopped") == ["incomplete"]
    assert codes(None, "stopped") == ["incomplete"]


def test_iops_and_bandwidth_that_disagree_are_told() -> None:
    assert codes(Flow(**{**_fields(FLOW), "bytes": 4096 * 1021})) == ["in-flight"]
    assert codes(Flow(**{**_fields(FLOW), "bytes": 4096 * 1020})) == []


def _fields(flow: Flow) -> dict[str, object]:
    return {name: getattr(flow, name) for name in Flow.__dataclass_fields__}
