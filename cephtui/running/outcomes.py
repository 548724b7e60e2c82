"""How a run begins, its outcome, and the findings that follow from its length and its end: decided nowhere else."""

from __future__ import annotations

import os
import pwd
import signal
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import combinations

from cephtui import __version__
from cephtui.frozen import dataclass
from cephtui.models import ClusterEnvironment, Finding, NodeEnvironment, NodeResult, Outcome, Run, Step
from cephtui.models.findings import finding_kind
from cephtui.models.findings.client import MTU
from cephtui.models.findings.data import COMPRESSED, COMPRESSIBLE, ZEROS, ZEROS_COMPRESSED
from cephtui.models.findings.measurement import IN_FLIGHT, INCOMPLETE, NO_RAMP, RATE_LIMITED, RATE_SET
from cephtui.models.findings.record import PARTLY_SAVED, UNSAVED
from cephtui.nodes.watched import (
    HEARTBEAT_SILENT,
    LOCK_HELD,
    NO_ACCESS,
    NO_HEARTBEAT,
    NO_LOCK,
    NOT_RELEASED,
    stood_still,
)
from cephtui.printable import one_line
from cephtui.stats import Flow
from cephtui.tools import TOOLS
from cephtui.tools.base import ToolResult
from cephtui.tools.load import Load

_COMPRESSING = {"aggressive", "force"}
"""Values of a pool's compression_mode with which it compresses what clients write without a hint."""
_OSD_MODE = " bluestore_compression_mode"
_DISAGREE = 0.02
_HELD = 0.95
"""The share of a rate from which on a node could do more."""
_WORST: tuple[Outcome, ...] = ("ok", "stopped", "lost", "refused", "failed")


class PartEnded(Exception):
    """A node's part of the run ends here, with this outcome."""

    def __init__(self, outcome: Outcome, error: str | None) -> None:
        super().__init__(error)
        self.outcome: Outcome = outcome
        self.error = error


@dataclass(frozen=True, slots=True)
class NodeEnd:
    """How a node's part in a run ended."""

    node: str
    outcome: Outcome
    error: str | None

    @property
    def named(self) -> str:
        """The error, with the name of the node before it."""
        error = self.error or ""
        return error if error.startswith(f"{self.node}: ") else f"{self.node}: {error}"


def begin_run(session: str, number: int, step: Step) -> Run:
    """The run of a step that begins now."""
    return Run(
        session=session,
        run=number,
        batch=step.batch,
        repeat=step.repeat,
        step=step.number,
        promise=step.promise,
        preset=step.preset,
        tool=step.tool,
        target=step.target,
        options=step.options,
        edited=step.edited,
        asked=step.asked,
        span_bytes=step.span_bytes,
        command=step.nodes[0].command,
        cephtui_version=__version__,
        user=_user(),
        started_at=datetime.now(UTC),
        nodes=tuple(NodeResult(node=n.node, command=n.command) for n in step.nodes),
    )


def _user() -> str | None:
    """The user of this process, with sudo the one who called it; None where the user has no name."""
    try:
        return one_line(os.environ.get("SUDO_USER") or pwd.getpwuid(os.getuid()).pw_name) or None
    except KeyError:
        return None


def worst(outcomes: list[Outcome]) -> Outcome:
    """The worst of several outcomes."""
    return max(outcomes, key=_WORST.index, default="ok")


def unsaved(run: Run) -> str:
    """Why a part of a run could not be written to its session; empty where all was written."""
    return next((finding.text for finding in run.findings if finding.code in (UNSAVED.code, PARTLY_SAVED.code)), "")


def decide(
    status: int | None,
    stop_reason: str | None,
    result: ToolResult,
    pause_seconds: float = 0.0,
    *,
    was_ended: bool = False,
    program: str = "it",
) -> tuple[Outcome, str | None]:
    """The outcome of a command, and the error; the only place that decides it for a run that has begun.

    ``pause_seconds`` is the longest time in which the console sent no heartbeat. ``was_ended`` says whether a stop was
    sent while it still ran: some tools have status 0 all the same. The user's wish may also come after the end.
    ``program`` is what the error calls the command.
    """
    if stop_reason or (stop_reason is not None and (status != 0 or was_ended)):
        return "stopped", stop_reason or None
    if status is None:
        return "lost", ended_with(status)
    if status in (HEARTBEAT_SILENT, NOT_RELEASED, NO_HEARTBEAT):
        return "lost", _silence(status, pause_seconds, result)
    if status in (LOCK_HELD, NO_LOCK, NO_ACCESS):
        return "refused", result.error
    if status == 124:
        return "failed", "it did not end in time and was stopped"
    if status != 0 or result.failed:
        return "failed", result.error or ended_with(status, program)
    if not result.flows:
        return "failed", result.error or "it ended without any I/O"
    return "ok", None


def _silence(status: int, pause_seconds: float, result: ToolResult) -> str:
    """The side that stood still when no heartbeat came through: the console knows when it has sent one."""
    if stood := stood_still(pause_seconds):
        return f"the console {stood} and sent no heartbeat, so the benchmark was stopped"
    if status == NO_HEARTBEAT:
        return result.error or "no heartbeat of the console arrived: does the prefix pass on stdin?"
    ended = "it was not started" if status == NOT_RELEASED else "the benchmark was stopped"
    text = "the console sent its heartbeats in time, but they did not arrive"
    return f"{text}: the connection, sshd or the node was blocked, so {ended}"


def ended_with(status: int | None, program: str = "it") -> str:
    """That a ``program`` ended with this exit status, and the signal where it stands for one."""
    if status is None:
        return "it ended without an exit status: the command or its prefix was killed"
    if status == 128 + signal.SIGKILL:
        return f"{program} was killed (SIGKILL)"
    names = {128 + number: number.name for number in signal.Signals}
    return f"{program} ended with status {status}" + (f" ({names[status]})" if status in names else "")


def run_findings(step: Step, outcome: Outcome, result: ToolResult) -> list[Finding]:
    """Findings that follow from the length and the end of a run."""
    flows = list(result.flows.values())
    if not flows:
        if outcome == "stopped" and step.ramp_seconds:
            return [INCOMPLETE.found()]
        return []
    lasted = max(flow.runtime_seconds for flow in flows)
    findings = [finding for flow in (result.read, result.write) if flow and (finding := _in_flight(step, flow))]
    from cephtui.analysis.runs.facts import load_of  # no run has ended yet as the console starts

    if load := load_of(step):
        findings += [finding for finding in (_held(step, load, flows), _compressible(load)) if finding]
    if outcome in ("stopped", "lost"):
        return [*findings, INCOMPLETE.found(measured_seconds=lasted, wanted_seconds=step.run_seconds)]
    if TOOLS[step.tool].measures_network:  # a network has no caches
        return findings
    from cephtui.analysis.detectors.settling import too_short

    short = too_short(lasted, by_its_data=step.run_seconds is None)
    return [*findings, *filter(None, (short, _without_ramp(step, lasted)))]


def _without_ramp(step: Step, seconds: float) -> Finding | None:
    """That the first seconds count, of a run that could have left them out and is too short to tell what they do."""
    from cephtui.analysis.detectors.first_seconds import LEAST_SECONDS  # no run has ended yet as the console starts

    if step.ramp_seconds or not TOOLS[step.tool].ramp_option or seconds >= LEAST_SECONDS:
        return None
    return NO_RAMP.found(least_seconds=float(LEAST_SECONDS))


def _in_flight(step: Step, flow: Flow) -> Finding | None:
    """A tool may count I/Os when they begin and bytes when they end: an I/O in flight as the ramp ended is in the bytes
    only, one in flight at the end in the I/Os only."""
    block = step.block_bytes
    if not block or flow.ios is None:
        return None
    missing = flow.bytes // block - flow.ios
    if abs(missing) <= _DISAGREE * flow.ios:
        return None
    return IN_FLIGHT.found(missing_ios=missing, ios=flow.ios)


def _compressible(load: Load) -> Finding | None:
    """That storage may make what was written smaller; ``with_the_pool`` knows whether it does."""
    smaller = load.smaller
    if not smaller.options:
        return None
    return COMPRESSIBLE.found(options=smaller.options, compresses=bool(smaller.compressible))


def _held(step: Step, load: Load, flows: Sequence[Flow]) -> Finding | None:
    """That a node did as much as its options let it do: the user wants that, or it is the preset's rate."""
    if load.pauses:
        return None
    rate, of_all = load.rate, sum if load.rate.together else max
    done = (
        (rate.iops, of_all(flow.iops or 0.0 for flow in flows)),
        (rate.bandwidth_bytes, of_all(flow.bandwidth_bytes or 0.0 for flow in flows)),
    )
    if not any(most and rate_done >= _HELD * most for most, rate_done in done):
        return None
    is_preset = rate.is_needed and not set(rate.options) & set(step.edited)
    return (RATE_LIMITED if is_preset else RATE_SET).found(options=rate.named(step.options))


def once_each(findings: list[Finding]) -> tuple[Finding, ...]:
    """The findings, one of several nodes once, in the words of the first."""
    by_key = {(f.code if finding_kind(f.code).one_of_all else f.text): f for f in reversed(findings)}
    return tuple(by_key.values())[::-1]


def mtus_apart(environments: Mapping[str, NodeEnvironment]) -> tuple[Finding, ...]:
    """The finding for nodes whose MTU differs in a network that joins them: in one that both are known to be in, or in
    whatever network that is, where they have none in common.
    """
    mtus = {name: set(node.nic_mtu.values()) for name, node in environments.items() if node.nic_mtu}
    by_network: dict[str, set[int]] = {}
    for node in environments.values():
        for nic, network in node.nic_networks.items():
            by_network.setdefault(network, set()).update({node.nic_mtu[nic]} if nic in node.nic_mtu else ())
    differs = any(len(sizes) > 1 for sizes in by_network.values())
    if not differs and not any(one.isdisjoint(other) for one, other in combinations(mtus.values(), 2)):
        return ()
    return (MTU.found(nodes=tuple(f"{name} {'/'.join(map(str, sorted(of)))}" for name, of in mtus.items())),)


def with_the_pool(findings: tuple[Finding, ...], environment: ClusterEnvironment | None) -> tuple[Finding, ...]:
    """The findings with what the pool makes of zeros, and of other data: one that compresses stores less of it."""
    if environment is None or not _compresses(environment):
        return findings
    return tuple(_compressed(finding, str(environment.pool.get("name") or "-")) for finding in findings)


def _compresses(environment: ClusterEnvironment) -> bool:
    """Whether the pool compresses, or where it does not say it, its OSDs."""
    of_osds = [value for name, value in (environment.config or {}).items() if name.endswith(_OSD_MODE)]
    mode = environment.pool_settings.get("compression_mode")
    return mode in _COMPRESSING if mode else bool(_COMPRESSING & set(of_osds))


def _compressed(finding: Finding, pool: str) -> Finding:
    """A finding on what was written, as it is in a pool that compresses."""
    if finding.code == ZEROS.code:
        return ZEROS_COMPRESSED.found(pool=pool)
    if finding.code == COMPRESSIBLE.code and finding.values.get("compresses"):
        return COMPRESSED.found(pool=pool, options=finding.values["options"])
    return finding
