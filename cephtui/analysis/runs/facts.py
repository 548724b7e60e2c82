"""Facts of one run: whether it counts, and its load on the target."""

from __future__ import annotations

from typing import Protocol

from cephtui.models.base import OptionValue
from cephtui.models.plan import Step
from cephtui.models.run import Run
from cephtui.tools import TOOLS
from cephtui.tools.load import Load
from cephtui.units import parse_size


class Asked(Protocol):
    """What a step or a run was asked to do; or as much of it as was read."""

    @property
    def tool(self) -> str:
        """The name of the tool."""

    @property
    def target(self) -> str:
        """What is tested, as it is typed."""

    @property
    def options(self) -> dict[str, OptionValue]:
        """The options of the tool."""


def why_invalid(run: Run) -> str:
    """Why a run takes no part in a verdict; empty where it does."""
    if run.outcome != "ok":
        return f"{run.outcome or 'running'}{f': {run.error}' if run.error else ''}"
    return next((finding.text for finding in run.findings if finding.level == "invalidates"), "")


def load_of(step: Asked) -> Load | None:
    """The load on the target; None for an unknown tool, or options changed by hand."""
    try:
        return TOOLS[step.tool].bind(step.options).load()
    except (LookupError, ValueError, OverflowError):
        return None


def in_flight(step: Step | Run) -> int | None:
    """I/Os of all nodes that are in flight at once; None where that is not known."""
    load = load_of(step)
    return (load.depth * load.jobs * len(step.nodes) or None) if load else None


def threads_not_counted(run: Run) -> str:
    """The words behind the CPU of a job's own thread on the threads that it leaves out; empty for none."""
    load = load_of(run)
    return f"; {load.other_threads}, which do most of the work, are not counted" if load and load.other_threads else ""


def working_set(step: Step | Run) -> int:
    """Bytes that are read or written again and again, of all nodes together; 0 where that is not known."""
    try:
        workload, option = TOOLS[step.tool].bind(step.options), TOOLS[step.tool].size_option
        size, jobs = str(step.options.get(option, "0")), workload.load().jobs
        bytes_of_node = (step.span_bytes or parse_size(size) * jobs) if workload.uses_span else 0
    except (LookupError, ValueError, OverflowError):
        return 0
    return bytes_of_node * max(1, len(step.nodes))
