"""Why a cluster is slow, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cephtui import units
from cephtui.analysis.detectors.ceiling import nearest
from cephtui.analysis.detectors.jobs import job_figures
from cephtui.analysis.runs.batches import name_of
from cephtui.analysis.runs.facts import in_flight, load_of
from cephtui.analysis.runs.links import Link
from cephtui.analysis.runs.stages import Flow, is_capped
from cephtui.analysis.verdicts.causes import Sureness, osds_in
from cephtui.analysis.verdicts.diagnosis import Cause, Cost, Diagnosis, Evidence, diagnosis, flows_of
from cephtui.analysis.verdicts.since import Moved, moved
from cephtui.models import Run
from cephtui.models.ceilings import NEAR
from cephtui.models.findings import cluster, setup
from cephtui.printable import listed
from cephtui.reports.words.run import ceiling_lines
from cephtui.reports.words.stages import named_stages, shares_text, stage_name, stage_shares
from cephtui.tools import TOOLS

NOTHING = "Nothing stands out"
SURE: Mapping[Sureness, str] = {
    "measured": "measured",
    "seen": "observed",
    "set-up": "set-up",
}
_BEFORE = frozenset(
    kind.code
    for kind in (
        cluster.HEALTH_SPEED, cluster.OSD_DOWN, cluster.OSD_OUT, cluster.PGS, cluster.PGS_INACTIVE, cluster.PGS_SPLIT,
        cluster.RECOVERY, cluster.SCRUB, cluster.SNAPTRIM, setup.MCLOCK_CAPACITY, setup.CLASSES_MIXED,
        setup.FEW_OSDS, setup.DEBUG_LEVELS, setup.LOW_LIMITS,
        setup.OSD_PINGS,
    )
)  # fmt: skip
"""What is seen of a cluster before a run."""
_HOSTS_MOST, _HINTS_MOST = 6, 2
_HINT_SHARE = 0.1
"""What may cost less is no hint."""


def io_text(run: Run, flow: Flow) -> str:
    """``4 KiB write with 16 in flight``; ``4 KiB write, one at a time``."""
    load, number, nodes = load_of(run), in_flight(run) or 0, len(run.nodes)
    what = f"{units.short_size(load.block_bytes)} {flow}" if load and load.block_bytes else flow
    if number > nodes:
        return f"{what} with {number} in flight"
    return f"{what}, one at a time{f' from each of {nodes} nodes' * (nodes > 1)}" if number else what


def latency_sentences(run: Run) -> Iterator[str]:
    """``4k write, one at a time: 4.20 ms, of it 86 % slowest copy, 7 % network and client``, for each flow of a run."""
    for flow in flows_of(run):
        total = run.summary.flows[flow]
        if total.latency_mean_seconds is None:
            continue
        mean = units.latency(total.latency_mean_seconds)
        rate = f" ({units.iops(total.iops)} IOPS)" if total.iops is not None else ""
        yield f"{io_text(run, flow)}: {mean}{rate}{_stages_text(run, flow)}"


def look_line(run: Run) -> str:
    """``HEALTH_OK, 3 of 3 OSDs up, pool bench with 10 to 12 PGs on each of 3 OSDs (3 ssd)``, and what stands out before
    any load; empty without a cluster.
    """
    if (seen := run.cluster) is None:
        return ""
    pgs, classes = sorted(seen.pgs_by_osd.values()), Counter(seen.class_by_osd.values())
    parts = [seen.health or "", f"{seen.osds_up} of {seen.osds} OSDs up" if seen.osds else ""]
    if pgs:
        each = " to ".join(dict.fromkeys(map(str, (pgs[0], pgs[-1]))))
        of_class = f" ({', '.join(f'{number} {name}' for name, number in classes.most_common())})" if classes else ""
        parts.append(f"pool {seen.pool.get('name')} with {each} PGs on each of {len(pgs)} OSDs{of_class}")
    before = (each for each in run.findings if each.code in _BEFORE and "from_seconds" not in each.values)
    parts += dict.fromkeys(finding.text for finding in before)
    return f"before any load: {', '.join(filter(None, parts))}"


def network_line(links: Sequence[Link]) -> str:
    """``network: 38.0 to 43.4 Gbit/s on 6 links``; empty where it was not measured."""
    if not links:
        return ""
    rates = [link.bandwidth_bytes for link in links]
    least, most = units.link_rate(min(rates)), units.link_rate(max(rates))
    return f"network: {least} on 1 link" if len(rates) == 1 else f"network: {least} to {most} on {len(rates)} links"


def osds_line(run: Run) -> str:
    """``OSDs themselves: 3 OSDs write 81.0 to 93.4 MB/s each``; empty for a run of clients."""
    rates = [figure.bandwidth_bytes for figure in job_figures(run.nodes)]
    if not rates or run.tool not in TOOLS or "osd" not in TOOLS[run.tool].kinds:
        return ""
    least, most = units.bandwidth(min(rates)), units.bandwidth(max(rates))
    return f"OSDs themselves: {len(rates)} OSDs write {least} to {most} each"


def _stages_text(run: Run, flow: Flow) -> str:
    stages = run.stages.get(flow)
    if stages is None:
        return ""
    return f", of it {shares_text(stages, flow, is_capped=is_capped(run.findings))}"


def conclusion_text(found: Diagnosis) -> str:
    """``osd.1 was slow: ...; that costs 2.91 ms of the 4.20 ms of a 4k write, one at a time (69 %)``; or that nothing
    stands out, where most of the time goes, and what is nearest to a limit.
    """
    if not found.runs:
        return "Nothing was measured"
    if not found.causes:
        return "; ".join([f"{NOTHING}{_most_of_it(found.runs)}", *_limit(found.runs)])
    first, *rest = found.causes
    more = f"; {len(rest)} more cause{'s' * (len(rest) > 1)} below" if rest else ""
    costs = f"; that costs {cost_text(first.cost)}" if first.cost else ""
    return f"{first.finding.text}{costs}{more}"


def hint_lines(runs: Sequence[Run]) -> list[str]:
    """``slow OSD costs 3.81 ms of the 23.6 ms of a 4k write, one at a time (16 %): cephtui why tuning/3``: the causes
    that cost the most, two at most.
    """
    costly = [cause for cause in diagnosis(runs).causes if cause.cost and cause.cost.share >= _HINT_SHARE]
    return [
        f"{cause.kind.title} costs {cost_text(cause.cost)}: cephtui why {name_of(cause.cost.run)}"
        for cause in costly[:_HINTS_MOST]
        if cause.cost
    ]


def _most_of_it(runs: Sequence[Run]) -> str:
    """``: of the 4.20 ms of a 4k write, one at a time, 67 % is slowest copy``: of the run with the fewest in flight."""
    known = [(run, flow) for run in runs for flow, stages in run.stages.items() if stages.seconds]
    if not known:
        return ""
    run, flow = min(known, key=lambda pair: in_flight(pair[0]) or 0)
    (name, share), *_ = stage_shares(named_stages(run.stages[flow], flow, is_capped=is_capped(run.findings)))
    mean = units.latency(run.stages[flow].seconds)
    return f": of the {mean} of a {io_text(run, flow)}, {100 * share:.0f} % is {name}{_commits_text(run, flow)}"


def _commits_text(run: Run, flow: Flow) -> str:
    """``; a commit took 0.61 to 0.83 ms on each of 3 OSDs``; empty for reads, and where it is not known."""
    commits = [osd.commit_seconds for osd in run.osds.values() if osd.commit_seconds is not None]
    if flow != "write" or not commits:
        return ""
    took = " to ".join(dict.fromkeys((units.latency(min(commits)), units.latency(max(commits)))))
    return f"; a commit took {took} on each of {len(commits)} OSDs"


def _limit(runs: Sequence[Run]) -> list[str]:
    """What limits the run with the most in flight, or is nearest to that, where anything is near.

    With one I/O at a time it is always that.
    """
    deep = [run for run in runs if flows_of(run) and (in_flight(run) or 0) > len(run.nodes)]
    limited = [run for run in deep if (near := nearest(run.ceilings or ())) and near.share >= NEAR]
    if not limited:
        return []
    run = max(limited, key=lambda run: in_flight(run) or 0)
    return [f"a {io_text(run, flows_of(run)[0])}: {ceiling_lines(run.ceilings or (), run)[-1]}"]


def cost_text(cost: Cost | None) -> str:
    """``2.91 ms of the 4.20 ms of a 4k write, one at a time (69 %)``; where it is not measured ``at most``."""
    if cost is None:
        return "not known"
    most = "" if cost.is_measured else "at most "
    of = f"{units.latency(cost.of_seconds)} of a {io_text(cost.run, cost.flow)}"
    return f"{most}{units.latency(cost.seconds)} of the {of} ({100 * cost.share:.0f} %)"


def cost_in_short(cost: Cost | None) -> str:
    """``2.91 ms (69 %)``: without what it is of."""
    if cost is None:
        return "not known"
    return f"{'' if cost.is_measured else 'at most '}{units.latency(cost.seconds)} ({100 * cost.share:.0f} %)"


def evidence_lines(evidence: Iterable[Evidence]) -> list[str]:
    """Each text once, with the runs that have it."""
    runs_by_text: dict[str, list[Run]] = {}
    for part in evidence:
        runs_by_text.setdefault(part.finding.text, []).append(part.run)
    return [f"{text} ({', '.join(f'#{run.run}' for run in runs)})" for text, runs in runs_by_text.items()]


def disk_lines(cause: Cause) -> list[str]:
    """``osd.3, osd.7: Samsung SSD 870 EVO 1TB``: the disks of the OSDs that a cause names, as far as they are known."""
    osds: dict[str, list[str]] = {}
    for part in cause.evidence:
        models = part.run.cluster.model_by_osd if part.run.cluster else {}
        for osd in osds_in(part.finding.values):
            if (model := models.get(osd.removeprefix("osd."))) and osd not in osds.setdefault(model, []):
                osds[model].append(osd)
    return [f"{listed(names, _HOSTS_MOST)}: {model}" for model, names in osds.items() if names]


def proof_command(cause: Cause) -> str:
    """What shows whether a cause is one: the same measured before and after it is taken away."""
    run = cause.cost.run if cause.cost else cause.evidence[0].run
    change, undo = cause.change
    options = [f"--change '{change}'"] if change else []
    options += [f"--undo '{undo}'"] if undo else []
    return " ".join(["cephtui check --against", name_of(run), *options])


def not_seen_lines(found: Diagnosis) -> list[str]:
    """What could not be seen, with what would show it."""
    lines = [f"#{run.run} {run.preset}: {run.outcome}{f', {run.error}' * bool(run.error)}" for run in found.failed]
    if found.without_counters:
        lines.append("OSD counters, so neither stages nor slow OSDs: use a Ceph user with osd 'allow *'")
    elif not any(run.stages for run in found.runs):
        lines.append("where the latency goes: there are no OSD counters")
    if not found.links:
        lines.append("links between nodes: give two or more nodes that can run the preset network")
    if hosts := found.hosts_not_seen:
        lines.append(f"CPU and network of hosts that are not nodes of the run: {listed(hosts, _HOSTS_MOST)}")
    return lines


def since_lines(before: Diagnosis, now: Diagnosis) -> list[str]:
    """``since 2026-11-21 10:00 UTC (why-1): 4k write, one at a time: slowest copy 900 us -> 6.10 ms``, a line for each
    time that has changed and each cause that is new or gone.
    """
    changes = [_moved_text(change) for change in moved(before, now)]
    codes = [{cause.kind.code: cause.kind.title for cause in found.causes} for found in (before, now)]
    changes += [f"new: {title}" for code, title in codes[1].items() if code not in codes[0]]
    changes += [f"gone: {title}" for code, title in codes[0].items() if code not in codes[1]]
    first = before.runs[0]
    when = f"{first.started_at:%Y-%m-%d %H:%M} UTC ({first.session})"
    return [f"since {when}: {text}" for text in changes] or [f"as on {when}"]


def _moved_text(change: Moved) -> str:
    """``a commit of osd.3 took 0.90 ms -> 6.10 ms``."""
    times = f"{units.latency(change.before_seconds)} -> {units.latency(change.after_seconds)}"
    if change.what is None:
        return f"{io_text(change.run, change.flow)}: a commit of osd.{change.osd} took {times}"
    return f"{io_text(change.run, change.flow)}: {stage_name(change.what, change.flow)} {times}"
