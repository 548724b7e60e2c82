"""Nodes that break off a run that others complete: their findings, and which seconds of the run count then."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping

from cephtui import units
from cephtui.analysis.detectors.settling import PerSecond
from cephtui.models import Finding, NodeEnded, Outcome, Run, Sample
from cephtui.models.findings.client import NODE_ENDED, ended_words

_WORDS: Mapping[Outcome, str] = {"failed": "ended", "lost": "lost", "refused": "refused"}
"""The outcomes of a node that broke off."""
_TOGETHER_SECONDS = 1.0
"""What ends within this time ends together, whatever the reason."""
_HELD_MOST = 120


def broke_off(ended: NodeEnded) -> bool:
    """Whether a node did not come to the end of its part, and the user did not stop it."""
    return ended.outcome in _WORDS


def left_early(ended: Mapping[str, NodeEnded], nodes: Collection[str]) -> tuple[NodeEnded, ...]:
    """The nodes that broke off while another went on, in the order of time; ``ended`` is by node, ``nodes`` are all."""

    def leaves_another(end: NodeEnded) -> bool:
        other_ends = [ended.get(name) for name in nodes if name != end.node]
        return any(other is None or _moment(other) > _moment(end) + _TOGETHER_SECONDS for other in other_ends)

    return tuple(sorted((end for end in ended.values() if broke_off(end) and leaves_another(end)), key=_moment))


def _moment(ended: NodeEnded) -> float:
    """Elapsed seconds of the end; a node that never began comes first."""
    return float("-inf") if ended.elapsed_seconds is None else ended.elapsed_seconds


def ends_of(run: Run) -> dict[str, NodeEnded]:
    """When each node of a run that is over ended, and why, by its name."""
    return {
        node.node: NodeEnded(
            run=run.run, node=node.node, elapsed_seconds=node.ended_seconds, outcome=node.outcome, error=node.error
        )
        for node in run.nodes
        if node.outcome
    }


def ended_word(ended: NodeEnded) -> str:
    """The state of a node, and since when: ``ended 0:12``, ``lost 0:12``; ``done`` at the end of its part."""
    word = _WORDS.get(ended.outcome, "done")
    return word if ended.elapsed_seconds is None or word == "done" else f"{word} {units.clock(ended.elapsed_seconds)}"


def ended_text(ended: NodeEnded) -> str:
    """Node, time and reason of an end: ``lab2 ended at 0:12: fio was killed (SIGKILL)``."""
    return ended_words({"node": ended.node, "why": _why(ended), "from_seconds": ended.elapsed_seconds})


def _why(ended: NodeEnded) -> str:
    return (ended.error or ended.outcome).removeprefix(f"{ended.node}: ")


def finding_of(ended: NodeEnded, over: float) -> Finding:
    """The finding of a node that left early; ``over`` is the end of the run, or its newest second."""
    begun = ended.elapsed_seconds
    span = None if begun is None else (begun, max(over, begun))
    return NODE_ENDED.found(span, node=ended.node, why=_why(ended))


class WholeSeconds:
    """Adds the seconds in which all nodes took part that had not broken off.

    That a node has broken off may come to light some seconds after its last figures: until then what the others did is
    held back. A node that is heard again was only late, and those seconds are none of all.
    """

    def __init__(self, seconds: PerSecond) -> None:
        self._seconds = seconds
        self._left = set[str]()
        self._held: deque[tuple[Sample, frozenset[str]]] = deque(maxlen=_HELD_MOST)

    def __bool__(self) -> bool:
        """Whether all nodes are still there."""
        return not self._left

    def add(self, sample: Sample, absent: Collection[str]) -> None:
        """Take in a second of all nodes; ``absent`` are those that are not in it."""
        missed = frozenset(absent) - self._left
        if missed:
            self._held.append((sample, missed))
        else:
            self._held.clear()
            self._seconds.add(sample)

    def leave(self, node: str) -> None:
        """A node has broken off: what the others did without it counts."""
        self._left.add(node)
        held, self._held = self._held, deque(maxlen=_HELD_MOST)
        for sample, missed in held:
            self.add(sample, missed)
