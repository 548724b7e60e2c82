"""What became of a run, and what its length and its end do to the figures: decided here and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence

from cephtui import units
from cephtui.models import Finding, Outcome, Run, Step
from cephtui.stats import Flow
from cephtui.tools import ToolResult
from cephtui.transport import HEARTBEAT_SILENT, LOCK_HELD, NO_HEARTBEAT, NO_LOCK, NOT_RELEASED

SHORT_RUN_SECONDS = 10.0
UNSAVED, PARTLY_SAVED = "unsaved", "partly-saved"
"""Findings of a run whose session could not be written."""
_DISAGREE = 0.02
_WORST: tuple[Outcome, ...] = ("ok", "stopped", "lost", "refused", "failed")


def worst(outcomes: list[Outcome]) -> Outcome:
    """The outcome that several add up to."""
    return max(outcomes, key=_WORST.index, default="ok")


def got_nowhere(run: Run) -> bool:
    """Whether a run ended by itself without a result."""
    return run.outcome in ("failed", "refused", "lost")


def unsaved(run: Run) -> str:
    """What of a run could not be written to its session, and why; empty where all of it was."""
    return next((finding.text for finding in run.findings if finding.code in (UNSAVED, PARTLY_SAVED)), "")


def fails_on(runs: Sequence[Run]) -> bool:
    """Whether the last two of the runs so far got nowhere: those that follow would not either."""
    return len(runs) > 1 and all(map(got_nowhere, runs[-2:]))


def decide(status: int | None, stop_reason: str | None, result: ToolResult) -> tuple[Outcome, str | None]:
    """What became of a command; the only place that decides it for a run that has begun."""
    if stop_reason or (stop_reason is not None and status != 0):  # the user's wish may come after the end
        return "stopped", stop_reason or None
    if status is None:
        return "lost", "the benchmark's process is gone and nothing said how it ended"
    if status in (HEARTBEAT_SILENT, NOT_RELEASED, NO_HEARTBEAT):
        return "lost", "the console stood still and gave no sign of life, so the benchmark was ended"
    if status in (LOCK_HELD, NO_LOCK):
        return "refused", result.error
    if status == 124:
        return "failed", "it did not end in its time and was ended"
    if status != 0:
        return "failed", result.error or f"it ended with status {status}"
    if result.read is None and result.write is None:
        return "failed", result.error or "it ended without having done any I/O"
    return "ok", None


def run_findings(step: Step, outcome: Outcome, result: ToolResult) -> list[Finding]:
    """What the length and the end of a run do to its figures."""
    flows = [flow for flow in (result.read, result.write) if flow]
    if not flows:
        if outcome == "stopped" and step.ramp_seconds:
            return [Finding(code="incomplete", text="stopped before the ramp was over: nothing was measured")]
        return []
    lasted = max(flow.runtime_seconds for flow in flows)
    found = [finding for flow in flows if (finding := _in_flight(step, flow))]
    if outcome in ("stopped", "lost"):
        asked = f" of {units.duration(step.run_seconds)}" if step.run_seconds else ""
        return [*found, Finding(code="incomplete", text=f"incomplete: {lasted:.1f} s{asked} measured")]
    if lasted < SHORT_RUN_SECONDS:
        text = f"only {lasted:.1f} s measured: too short for caches to settle"
        found.append(Finding(code="short", text=text))
    return found


def _in_flight(step: Step, flow: Flow) -> Finding | None:
    """fio counts I/Os when they begin and bytes when they end: what was in flight as the ramp ended is in one only."""
    block = step.block_bytes
    missing = flow.bytes // block - flow.ios if block else 0
    if abs(missing) <= _DISAGREE * flow.ios:
        return None
    text = f"IOPS and bandwidth disagree by {units.percent(100 * missing / flow.ios)}: {missing} I/Os were in flight"
    return Finding(code="in-flight", text=f"{text} as the ramp ended")
