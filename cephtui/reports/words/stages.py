"""Where the latency of client I/O goes, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cephtui import units
from cephtui.models import Commits, Finding, Stages
from cephtui.models.findings.cluster import MESSAGE_CAP

_LEAST = 0.02
"""Stages of a smaller share are joined."""
LAST_STAGE = {"read": "reading", "write": "slowest copy"}
_MOVED, _MOVED_MOST = 0.05, 0.2
"""A stage has moved by so large a share of the latency at least, and of the stage that has moved most."""
_OFF = 0.02
"""The OSDs' operations are those of the run where they are as many as its I/Os, but for so many."""


def named_stages(stages: Stages, flow: str, findings: Sequence[Finding]) -> dict[str, float]:
    """The seconds of each stage of a flow by its name, in their order; ``findings`` are those of the run so far."""
    is_capped = any(finding.code == MESSAGE_CAP.code for finding in findings)
    return {
        "network, client and message cap" if is_capped else "network and client": stages.outside_seconds,
        "queue": stages.queue_seconds,
        "preparation": stages.prepare_seconds,
        LAST_STAGE[flow]: stages.store_seconds,
    }


def stage_shares(named: Mapping[str, float]) -> list[tuple[str, float]]:
    """The share of each stage, as of ``named_stages``, the largest first; those below 2 % together as ``rest``."""
    total = sum(named.values()) or 1.0
    shares = sorted(((name, part / total) for name, part in named.items()), key=lambda pair: -pair[1])
    rest = sum(share for _, share in shares if share < _LEAST)
    named_shares = [(name, share) for name, share in shares if share >= _LEAST]
    return [*named_shares, ("rest", rest)] if rest >= _LEAST / 4 else named_shares


def moved_line(flow: str, before: Mapping[str, float], after: Mapping[str, float]) -> str:
    """``write latency: slowest copy 9.10 ms -> 3.20 ms, the rest as before``: the stages that differ, the most first.

    Both have the seconds of each stage by its name, as of ``named_stages``.
    """
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


def counted_text(stages: Stages) -> str:
    """How many operations the OSDs counted for the run's I/Os: ``as many``, ``12.0 % more``."""
    off = stages.operations / stages.ios - 1
    if abs(off) <= _OFF:
        return "as many"
    return f"{100 * abs(off):.1f} % {'more' if off > 0 else 'fewer'}"
