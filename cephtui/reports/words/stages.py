"""Where the latency of client I/O goes, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cephtui import units
from cephtui.models import Commits, MachineUse, Run, Stages
from cephtui.models.verdict import StageChange
from cephtui.reports.words.cutting import joined

_LEAST = 0.02
"""Stages of a smaller share are joined."""
LAST_STAGE = {"read": "reading", "write": "slowest copy"}
_MOVED, _MOVED_MOST = 0.05, 0.2
"""A stage has moved by so large a share of the latency at least, and of the stage that has moved most."""
_OFF = 0.02
"""The OSDs' operations are those of the run where they are as many as its I/Os, but for so many."""


def named_stages(stages: Stages, flow: str, *, is_capped: bool = False) -> dict[str, float]:
    """The seconds of each stage of a flow by its name, in their order."""
    return {
        "network, client and message cap" if is_capped else stage_name("outside", flow): stages.outside_seconds,
        **{stage_name(stage, flow): getattr(stages, f"{stage}_seconds") for stage in ("queue", "prepare", "store")},
    }


def stage_name(stage: str, flow: str) -> str:
    """What a stage is called, by its field in ``Stages`` without the unit."""
    return {"outside": "network and client", "store": LAST_STAGE[flow], "prepare": "preparation"}.get(stage, stage)


def stage_shares(named: Mapping[str, float]) -> list[tuple[str, float]]:
    """The share of each stage, as of ``named_stages``, the largest first; those below 2 % together as ``rest``."""
    total = sum(named.values()) or 1.0
    shares = sorted(((name, part / total) for name, part in named.items()), key=lambda pair: -pair[1])
    rest = sum(share for _, share in shares if share < _LEAST)
    named_shares = [(name, share) for name, share in shares if share >= _LEAST]
    return [*named_shares, ("rest", rest)] if rest >= _LEAST / 4 else named_shares


def shares_text(stages: Stages, flow: str, *, is_capped: bool = False) -> str:
    """``67 % slowest copy, 29 % queue, 4 % rest``."""
    shares = stage_shares(named_stages(stages, flow, is_capped=is_capped))
    return ", ".join(f"{100 * share:.0f} % {name}" for name, share in shares)


def moved_line(change: StageChange) -> str:
    """``write latency: slowest copy 9.10 ms -> 3.20 ms, the rest as before``: what differs, the most first."""
    flow = change.direction
    before, after = (
        named_stages(stages, flow, is_capped=change.message_cap) for stages in (change.before, change.after)
    )
    differences = {name: abs(seconds - after.get(name, 0.0)) for name, seconds in before.items()}
    least = max(_MOVED_MOST * max(differences.values()), _MOVED * max(sum(before.values()), sum(after.values())))
    moved = sorted((name for name in before if differences[name] >= least > 0), key=lambda name: -differences[name])
    if not moved:
        return f"{flow} latency: each stage as before"
    texts = [f"{name} {units.latency(before[name])} -> {units.latency(after.get(name, 0.0))}" for name in moved]
    rest = ", the rest as before" if len(moved) < len(before) else ""
    return f"{flow} latency: {', '.join(texts)}{rest}"


def commits_text(commits: Commits, name: str = "") -> str:
    """``a commit of BlueStore took 5.79 ms: 59 % commit of the key-value store, 39 % queue before it``."""
    parts = {
        "commit of the key-value store": commits.kv_commit_seconds,
        "queue before it": commits.kv_queue_seconds,
        "held by the throttle": commits.throttle_seconds,
    }
    known = {text: seconds / commits.commit_seconds for text, seconds in parts.items() if commits.commit_seconds}
    shares = {**known, "the rest": 1 - sum(known.values())}
    named = [f"{100 * share:.0f} % {text}" for text, share in shares.items() if share >= _LEAST]
    of_run = f"{name}: " if name else ""
    return f"{of_run}a commit of BlueStore took {units.latency(commits.commit_seconds)}: {', '.join(named)}"


def round_trips_text(runs: Iterable[Run]) -> str:
    """``a round trip from pve1, pve2 to the OSDs takes 90.0 us to 120 us at least``: the shortest of each node; empty
    where it is not known.
    """
    least: dict[str, float] = {}
    for node in (node for run in runs for node in run.nodes):
        for trip in (node.machine or MachineUse()).round_trips_seconds.values():
            least[node.node] = min(trip, least.get(node.node, trip))
    if not least:
        return ""
    texts = dict.fromkeys(units.latency(trip) for trip in (min(least.values()), max(least.values())))
    return f"a round trip from {joined(least, 'nodes')} to the OSDs takes {' to '.join(texts)} at least"


def operations_per_io(stages: Stages) -> tuple[str, bool]:
    """How many operations the OSDs counted for each I/O of the run: ``1.00``; and whether these are the run's alone."""
    ratio = stages.operations / stages.ios
    return f"{ratio:.2f}", abs(ratio - 1) <= _OFF
