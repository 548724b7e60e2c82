"""What is given up after two failures in a row: the next would fail too, and load the cluster for nothing.

A failure counts against what it belongs to: the tool on its target and nodes, the target that refuses, the node that is
lost. Other steps go on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from cephtui.analysis.runs.batches import node_names
from cephtui.frozen import dataclass
from cephtui.models import Run


@dataclass(frozen=True, slots=True)
class Needs:
    """The tool, target and nodes that a step can't be measured without."""

    tool: str
    target: str
    nodes: tuple[str, ...]


def failure_of(run: Run) -> str:
    """Why a run ended by itself without a result; empty where it did not."""
    failed = run.outcome in ("failed", "refused", "lost")
    return f"{run.preset} {run.outcome}{f': {run.error}' if run.error else ''}" if failed else ""


def given_up(
    needs: Needs,
    runs: Sequence[Run],
    *,
    failure: Callable[[Run], str] = failure_of,
    optional: Collection[str] = (),
) -> str:
    """Why what needs this is not measured after these runs, in the order in which they were made; empty where it is.

    ``optional`` are the batches whose failures count against their own tool only. Runs that the user has stopped are
    neither failures nor results.
    """
    counting = [run for run in runs if run.outcome != "stopped"]
    failed_here = _twice(failure(run) for run in counting if _is_part(run, needs))
    if failed_here:
        return failed_here
    required = [run for run in counting if run.batch not in optional]
    return _of_target(needs, required) or next(filter(None, (_of_node(node, required) for node in needs.nodes)), "")


def _is_part(run: Run, needs: Needs) -> bool:
    """Whether what fails there fails here too: the same tool on the same target, from these nodes or some of them."""
    return (run.tool, run.target) == (needs.tool, needs.target) and set(node_names(run)) <= set(needs.nodes)


def _twice(failures: Iterable[str]) -> str:
    """The last of two failures in a row at the end; else empty."""
    last = [*failures][-2:]
    return last[-1] if len(last) == 2 and all(last) else ""


def _of_target(needs: Needs, runs: Sequence[Run]) -> str:
    """Why the target is given up: two refusals in a row, or two tools failed on it twice each, with no result since."""
    on_target = [run for run in runs if run.target == needs.target]
    refused = _twice(failure_of(run) if run.outcome == "refused" else "" for run in on_target)
    if refused:
        return refused
    results = [number for number, run in enumerate(on_target, 1) if not failure_of(run)]
    failed = on_target[max(results, default=0) :]
    tools = [tool for tool in {run.tool for run in failed} if sum(run.tool == tool for run in failed) > 1]
    return failure_of(failed[-1]) if len(tools) > 1 else ""


def _of_node(name: str, runs: Sequence[Run]) -> str:
    """Why a node is given up: it was lost in two runs in a row."""
    node_parts = [(run, node) for run in runs for node in run.nodes if node.node == name]
    return _twice(failure_of(run) if node.outcome == "lost" else "" for run, node in node_parts)
