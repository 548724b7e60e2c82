"""cephtui's core as its front ends use it: a runner on nodes that have been reached, and plans for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cephtui.models import Node, OptionValue, Plan, Run
from cephtui.planning import Request, make_plan, new_batch
from cephtui.presets import Preset, PresetFile
from cephtui.running.runner import Runner
from cephtui.targets import parse_target

PRESET = "bench"
_LIMIT_SECONDS = 120


class NotMeasured(Exception):
    """What was to be measured did not happen; the text says why."""


@dataclass(frozen=True, slots=True)
class ConsoleSession:
    """A runner with warm connections to its nodes."""

    runner: Runner
    request: Request

    def plan(self) -> Plan:
        """The plan for the next run: nothing to be filled after the first."""
        return make_plan(self.request, new_batch, self.runner.prefilled())

    def run(self, begun: Callable[[], None] = lambda: None) -> Run:
        """One run to its good end; ``begun`` is called beside it. Raises NotMeasured."""
        done = self.runner.submit(self.plan(), self.request.target)
        begun()
        (run,) = done.result(_LIMIT_SECONDS)
        if run.outcome != "ok":
            raise NotMeasured(f"a run was {run.outcome}: {run.error}")
        return run


@contextmanager
def console_session(
    root: Path, nodes: Sequence[Node], target: str, options: Mapping[str, OptionValue]
) -> Iterator[ConsoleSession]:
    """A console session while the block lasts; what it has created is removed at its end."""
    file = PresetFile(title=PRESET, options=dict(options))
    request = Request((Preset(PRESET, Path(), True, file),), tuple(nodes), parse_target(target), {})
    with Runner(root) as runner:
        states = [reached.result() for reached in [runner.nodes.reach(node) for node in nodes]]
        if problem := next((state.problem or state.question for state in states if not state.environment), None):
            raise NotMeasured(str(problem))
        yield ConsoleSession(runner, request)
        if problems := runner.close():
            raise NotMeasured("; ".join(problems))


def ssh_nodes(names: Sequence[str], ssh_config: Path) -> tuple[Node, ...]:
    """Nodes by their names in an ssh_config."""
    return tuple(Node(name=name, host=name, ssh_config=str(ssh_config)) for name in names)
