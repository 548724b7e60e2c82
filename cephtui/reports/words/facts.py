"""What a report says before its figures, so that it can be read alone: when, where, with what, on what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from cephtui import units
from cephtui.analysis.runs.batches import node_names
from cephtui.config import LOCAL
from cephtui.reports.words.cutting import cut, joined
from cephtui.reports.words.text import imported, short_version
from cephtui.tools import TOOLS

if TYPE_CHECKING:
    from cephtui.models import ClusterEnvironment, Run

_NODES_NAMED = 4
"""More nodes are only counted in a line."""
_DATE = "date "


def facts(runs: Sequence[Run]) -> dict[str, str]:
    """Facts by name, in the order of reading; one that was not the same in all runs has their numbers."""
    texts = {
        "date": period(runs).removeprefix(_DATE),
        "nodes": by_run(runs, lambda run: joined(_hosts(run), "nodes")),
        "versions": ", ".join(filter(None, [by_run(runs, _own_version), _versions(runs)])),
        "cluster": by_run(runs, _cluster_state),
        "target": by_run(runs, lambda run: "" if run.target == units.DASH else run.target),
        "pool": by_run(runs, lambda run: pool_facts(run.cluster) if run.cluster else ""),
        "caches": by_run(runs, _caches),
        "imported": by_run(runs, lambda run: imported(run).removeprefix("imported ")),
    }
    return {name: text for name, text in texts.items() if text}


def head_line(runs: Sequence[Run], *, ascii_only: bool = False) -> str:
    """The most important in one line: ``2026-11-22 01:28 UTC · pve1 · fio 3.33 · Ceph 19.2.1 · rbd:bench``."""
    parts = [
        period(runs),
        by_run(runs, _nodes_in_short),
        _versions(runs, _health_in_short),
        by_run(runs, _target_in_short),
        by_run(runs, lambda run: "caches dropped" if any(_page_caches(run)) else ""),
        by_run(runs, lambda run: "quiet cluster" if run.cluster and run.cluster.quiet else ""),
        by_run(runs, lambda run: "imported" if run.imported_from else ""),
    ]
    return (" | " if ascii_only else " · ").join(filter(None, parts))


def by_run(runs: Iterable[Run], text_of: Callable[[Run], str]) -> str:
    """The text of all runs that have one; different texts with the numbers of their runs."""
    numbers_by_text: dict[str, list[int]] = {}
    for run in runs:
        if text := text_of(run):
            numbers_by_text.setdefault(text, []).append(run.run)
    if len(numbers_by_text) < 2:
        return next(iter(numbers_by_text), "")
    shown, more = cut(numbers_by_text.items(), "others")
    texts = [f"{text} (run{'s' * (len(numbers) > 1)} {ranges(numbers)})" for text, numbers in shown]
    return "; ".join(filter(None, [*texts, more]))


def ranges(numbers: Iterable[int]) -> str:
    """``1-9, 12`` of rising numbers."""
    stretches: list[list[int]] = []
    for number in numbers:
        if stretches and number == stretches[-1][-1] + 1:
            stretches[-1][1:] = [number]
        else:
            stretches.append([number])
    return ", ".join("-".join(map(str, ends)) for ends in stretches)


def run_names(names: Iterable[str]) -> str:
    """``tuning/1-3, 5; other/2`` of the names of runs."""
    sessions: dict[str, list[int]] = {}
    for name in dict.fromkeys(names):
        session, _, number = name.rpartition("/")
        sessions.setdefault(session, []).append(int(number))
    return "; ".join(f"{session}/{ranges(sorted(numbers))}" for session, numbers in sessions.items())


def period(runs: Sequence[Run]) -> str:
    """``2026-11-22 01:28 UTC``, ``2026-11-22 01:28 to 02:10 UTC``; local time, empty without a run.

    Of runs without a date ``date unknown (file of 2026-11-25)``, which is that of the files they were imported from.
    """
    undated = [run for run in runs if not run.is_dated]
    if not undated:
        return _period(runs)
    unknown = f"{_DATE}{_unknown_date(undated)}"
    if len(undated) == len(runs):
        return unknown
    return f"{_period([run for run in runs if run.is_dated])}; {len(undated)} of {len(runs)} runs: {unknown}"


def start_of(run: Run) -> str:
    """``2026-11-22 01:28:03``, local time; ``unknown (file of 2026-11-25)`` of a run without a date."""
    return f"{run.started_at.astimezone():%Y-%m-%d %H:%M:%S}" if run.is_dated else _unknown_date([run])


def _unknown_date(runs: Iterable[Run]) -> str:
    """``unknown (file of 2026-11-25)``, ``unknown (files of 2025-01-02 to 2026-11-25)``."""
    files = {(run.imported_from or "").rpartition(":")[0]: run.started_at.astimezone().date() for run in runs}
    first, last = min(files.values()), max(files.values())
    return f"unknown (file{'s' * (len(files) > 1)} of {first}{f' to {last}' if last > first else ''})"


def _period(runs: Sequence[Run]) -> str:
    if not runs:
        return ""
    first = min(run.started_at for run in runs).astimezone()
    last = max(run.started_at + timedelta(seconds=run.duration_seconds) for run in runs).astimezone()
    begin, end = (f"{moment:%Y-%m-%d %H:%M}" for moment in (first, last))
    if len(runs) == 1 or begin == end:
        return f"{begin} {first:%Z}"
    return f"{begin} to {end[11:] if first.date() == last.date() else end} {last:%Z}"


def _hosts(run: Run) -> list[str]:
    """The console's own machine by the name it has in its network, if that is known."""
    names = node_names(run)
    local = run.environment.get(LOCAL)
    names = [name for name in names if name != units.DASH]  # of an imported run it may not be known
    return [local.hostname if name == LOCAL and local and local.hostname else name for name in names]


def _nodes_in_short(run: Run) -> str:
    names = _hosts(run)
    return ", ".join(names) if len(names) <= _NODES_NAMED else f"{len(names)} nodes"


def _own_version(run: Run) -> str:
    return f"cephtui {run.cephtui_version}" if run.cephtui_version else ""


def _versions(runs: Sequence[Run], more_of_ceph: Callable[[Run], str] = lambda run: "") -> str:
    """``fio 3.33, Ceph 19.2.1 HEALTH_OK before the run``."""
    ceph = by_run(runs, lambda run: " ".join(filter(None, [_ceph_version(run), more_of_ceph(run)])))
    return ", ".join(filter(None, [by_run(runs, tool_version), ceph]))


def tool_version(run: Run) -> str:
    """``fio 3.33``: as the tool of a run prints it on its nodes; empty for one of Ceph's, which has Ceph's version."""
    if run.tool in TOOLS and TOOLS[run.tool].ships_with_ceph:
        return ""
    versions = dict.fromkeys(environment.tools.get(run.tool, "") for environment in run.environment.values())
    return " / ".join(text.replace(f"{run.tool}-", f"{run.tool} ", 1) for text in versions if text)


def _ceph_version(run: Run) -> str:
    """The cluster's, or where that is not known the nodes'."""
    if run.cluster is None:
        return ""
    of_nodes = (environment.tools.get("ceph") for environment in run.environment.values())
    version = run.cluster.ceph_version or next((short_version(text) for text in of_nodes if text), None)
    return f"Ceph {version}" if version else ""


def _health_in_short(run: Run) -> str:
    return f"{run.cluster.health} before the run" if run.cluster and run.cluster.health else ""


def _target_in_short(run: Run) -> str:
    """The target with how its pool is kept: ``rbd:bench size 3``."""
    pool: Mapping[str, object] = run.cluster.pool if run.cluster else {}
    profile, size = pool.get("erasure_code_profile"), pool.get("size")
    where = "" if run.target == units.DASH else run.target
    return " ".join(
        filter(None, [where, f"erasure-coded {profile}" if profile else "", f"size {size}" if size else ""])
    )


def _caches(run: Run) -> str:
    """``page cache dropped on 2 of 3 nodes, caches of 12 OSDs dropped``; empty where that was not asked for."""
    page_caches = _page_caches(run)
    if not page_caches:
        return ""
    nodes = "" if all(page_caches) else f" on {sum(page_caches)} of {len(page_caches)} nodes"
    dropped = run.cluster.osd_caches_dropped if run.cluster else None
    of_osds = [] if dropped is None else [f"caches of {dropped} OSDs dropped"]
    return ", ".join([f"page cache dropped{nodes}", *of_osds])


def _page_caches(run: Run) -> list[bool]:
    """Whether each node that was to drop its page cache did."""
    return [node.page_cache_dropped for node in run.environment.values() if node.page_cache_dropped is not None]


def pool_facts(cluster: ClusterEnvironment) -> str:
    """``name bench, type replicated, size 3``: what is known of the pool, and how it compresses."""
    compression = {name: text for name, text in cluster.pool_settings.items() if name.startswith("compression_")}
    facts = {**cluster.pool, **compression}
    return joined((f"{name} {fact}" for name, fact in facts.items() if fact is not None), "facts")


def space_used(cluster: ClusterEnvironment) -> str:
    """``4.00 GiB stored take 12.3 GiB raw: 33 %``; empty where that is not known, or nothing is stored."""
    stored, raw = cluster.stored_bytes, cluster.raw_bytes
    if not stored or not raw:
        return ""
    return f"{units.size(stored)} stored take {units.size(raw)} raw: {units.percent(100 * stored / raw)}"


def osds(cluster: ClusterEnvironment) -> str:
    """``3/3 OSDs up, 3 in``; empty where that is not known."""
    return f"{cluster.osds_up}/{cluster.osds} OSDs up, {cluster.osds_in} in" if cluster.osds is not None else ""


def before_the_run(states: Iterable[str]) -> str:
    """The state of a cluster before a run: what it was in the run, findings say."""
    texts = ", ".join(filter(None, states))
    return f"before the run: {texts}" if texts else ""


def _cluster_state(run: Run) -> str:
    """Health with its checks, OSDs, and placement groups that are not as they should be."""
    if (cluster := run.cluster) is None:
        return ""
    unclean = {state: number for state, number in cluster.pg_states.items() if state != "active+clean"}
    checks = f" ({joined(cluster.checks, 'checks')})" if cluster.checks else ""
    parts = [
        f"{cluster.health or 'health unknown'}{checks}",
        osds(cluster),
        joined((f"{number} PGs {state}" for state, number in unclean.items()), "states"),
        f"OSD queue {cluster.osd_op_queue}" if cluster.osd_op_queue else "",
    ]
    return before_the_run(parts)
