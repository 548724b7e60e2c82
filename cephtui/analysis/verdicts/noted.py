"""What the user noted as changed, and what was seen to differ: the one is no evidence of the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cephtui.analysis.runs.marks import CHANGED, UNDONE, marks_between
from cephtui.analysis.runs.sides import Side
from cephtui.analysis.verdicts.conclusion import Judgement
from cephtui.analysis.verdicts.conditions import NOT_KNOWN, differences
from cephtui.models import ClusterEnvironment, NodeEnvironment, Run
from cephtui.models.nodes import FOUND_IN_RUNS
from cephtui.models.rows import Difference

NOT_SEEN = "no difference in pool, options, nodes or cluster settings was recorded: did the change take effect?"
UNSEEN = f"a change was marked, but {NOT_SEEN}"
_MEASURED = ("finding", "run", NOT_KNOWN)
"""Topics of differences that are results, or are said elsewhere."""
_BY_ITSELF = ("health", "checks")
"""Facts that a cluster reports of itself: they come and go without anybody's doing, as the states of PGs do."""


def with_noted(judgement: Judgement, sides: Sequence[tuple[Side, Side]]) -> Judgement:
    """The judgement with what was noted, and what was seen to differ, between the sides of each change."""
    noted = dict.fromkeys(text for pair in sides for text in noted_between(*pair))
    differ = [difference for pair in sides for difference in differences(*pair)]
    in_order = all(verdict.in_order for verdict in judgement.verdicts)
    texts = dict.fromkeys(
        difference_text(difference, in_order=in_order) for difference in differ if difference.topic not in _MEASURED
    )
    conclusion = judgement.conclusion
    doubts = [UNSEEN] if noted and not any(map(is_effect, differ)) else []
    update = {"noted": tuple(noted), "changed": tuple(texts), "notes": (*doubts, *conclusion.notes)}
    return replace(judgement, conclusion=conclusion.model_copy(update=update))


def noted_between(left: Side, right: Side) -> list[str]:
    """The user's notes from the first run to the last: words, or the command that was run; not what undid it."""
    marks = (mark for _, mark in marks_between(left, right))
    return [mark.text.removeprefix(CHANGED) for mark in marks if not mark.text.startswith(UNDONE)]


def difference_text(difference: Difference, *, in_order: bool) -> str:
    """``cluster pool size 3 -> 2``; ``cluster pool size A 2, B 3`` of sides that are not in order of time."""
    values = f"{difference.left} -> {difference.right}" if in_order else f"A {difference.left}, B {difference.right}"
    return f"{difference.topic} {difference.name} {values}"


def is_effect(difference: Difference) -> bool:
    """Whether a difference may be the effect of a change of pool, options, nodes or cluster settings."""
    topic, name = difference.topic, difference.name
    if topic == "run":
        return name in ("preset", "tool", "target")
    return topic not in ("finding", "cephtui", NOT_KNOWN) and not (
        topic == "cluster" and (name in _BY_ITSELF or name.startswith("PGs "))
    )


def is_seen(before: Run, cluster: ClusterEnvironment | None, nodes: Mapping[str, NodeEnvironment]) -> bool | None:
    """Whether anything differs now from the state before a run; None where that can't be seen.

    What is read only while a run is made is taken to be as it was.
    """
    known_nodes = {name: environment for name, environment in nodes.items() if name in before.environment}
    if (cluster is None) != (before.cluster is None) or not known_nodes:
        return None
    earlier_caches = {name: {"page_cache_dropped": before.environment[name].page_cache_dropped} for name in known_nodes}
    now = {name: environment.model_copy(update=earlier_caches[name]) for name, environment in known_nodes.items()}
    if cluster and before.cluster:
        run_facts = {name: getattr(before.cluster, name) for name in FOUND_IN_RUNS}
        cluster = cluster.model_copy(update=run_facts)
    after = before.model_copy(update={"cluster": cluster, "environment": {**before.environment, **now}})
    return any(map(is_effect, differences(Side((before,)), Side((after,)))))
