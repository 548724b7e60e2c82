"""Why a cluster is slow: what runs that were measured one after the other show together. Pure.

No cause is named without evidence of its own: each is a kind of finding that a run has. What the OSDs have counted says
how much of the latency a cause costs; where they can't, it is at most the time in the stages in which it acts.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from statistics import fmean, median

from cephtui.analysis.detectors.machine import lost_together
from cephtui.analysis.runs.facts import in_flight
from cephtui.analysis.runs.links import Link, links_of, measures_links
from cephtui.analysis.runs.stages import FLOWS, Flow
from cephtui.analysis.verdicts.causes import (
    CAUSES,
    LIMITS_OF,
    NOT_OF_DISKS,
    SIGNS,
    SYMPTOMS,
    Change,
    Sureness,
    options_in,
    osds_in,
)
from cephtui.ceph.health import only_slowness
from cephtui.frozen import dataclass
from cephtui.models import Finding, MachineUse, Run
from cephtui.models.ceilings import LIMITED
from cephtui.models.findings.client import ONE_THREAD, SLOW_JOB, SLOW_LINK
from cephtui.models.findings.cluster import BUSY_OSD, HEALTH_SPEED, MESSAGE_CAP, OSD_COUNTERS, SLOW_COMMITS, SLOW_OSD
from cephtui.models.findings.kind import FindingKind, Value, Values, finding_kind
from cephtui.models.findings.machine import ROUND_TRIP, STEAL
from cephtui.models.findings.measurement import STALLED, STUCK
from cephtui.models.findings.setup import LOW_LIMITS, MCLOCK_CAPACITY, OSD_PINGS, QOS_LIMIT

_MUCH = 0.2
"""A cause that costs so large a share of the latency comes before those of which only the work was seen."""
_AT_DEPTH = (MESSAGE_CAP.code, QOS_LIMIT.code)
"""What holds back nothing but I/Os that are in flight together."""
_LITTLE = 0.1
"""One that costs less is slight."""
_UNEVEN = 1.5
"""I/Os wait where most of them go, however little more that is: what does so many times an even share is a cause."""
_FAR_SLOWER = 5.0
"""An OSD that takes so many times as long as the others is to be looked at, however seldom it is needed."""
_FLUSH_AT_ONCE = frozenset(("ssd", "nvme"))
"""Device classes whose disks need not move anything for a flush."""
_SLOW_COMMIT_SECONDS = 0.004
"""A commit of such a disk, with nothing else in flight, takes a tenth of that where it has power loss protection."""
_LINK_SHARE, _LINKS_LEAST = 0.5, 3
"""A link is slow that does so much less than its NICs, or than the other links where there are so many."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A finding, and the run that has it."""

    run: Run
    finding: Finding


@dataclass(frozen=True, slots=True)
class Cost:
    """What of a mean latency a cause costs."""

    run: Run
    flow: Flow
    seconds: float
    of_seconds: float
    """The mean latency that the client measured."""
    is_measured: bool
    """Whether it is known; else it is the time in the stages in which the cause acts, and at most that."""

    @property
    def share(self) -> float:
        """The fraction of the latency."""
        return self.seconds / self.of_seconds if self.of_seconds else 0.0


@dataclass(frozen=True, slots=True)
class Cause:
    """What makes the cluster slow, or its figures better than it is."""

    kind: FindingKind
    evidence: tuple[Evidence, ...]
    """At least one; the findings of its own kind come first, and of a stop of all I/O there may be none."""
    cost: Cost | None
    """In the run in which it costs the most; None where nothing is known of it."""

    @property
    def finding(self) -> Finding:
        """The one that stands for it: of the run in which it costs the most, else of the first."""
        run = self.cost.run if self.cost else None
        return next((evidence for evidence in self._own if evidence.run is run), self._own[0]).finding

    @property
    def cures(self) -> tuple[str, ...]:
        """What to do, in the order of the runs: what was slow may be another part of it in each."""
        cures = dict.fromkeys(evidence.finding.cure for evidence in self._own)
        return tuple(cure for cure in cures if cure != self.kind.cure) or (self.finding.cure,)

    @property
    def _own(self) -> Sequence[Evidence]:
        return [part for part in self.evidence if part.finding.code == self.kind.code] or self.evidence

    @property
    def sureness(self) -> Sureness:
        """How much is known of what it costs."""
        if self.cost and self.cost.is_measured:
            return "measured"
        return "set-up" if self.kind.code in CAUSES and CAUSES[self.kind.code].is_set_up else "seen"

    @property
    def spoils(self) -> bool:
        """Whether the figures are not those of the disks for it."""
        return self.kind.code in NOT_OF_DISKS

    @property
    def change(self) -> Change:
        """The command that takes it away, and the one that takes that back; empty where there is none."""
        findings = (self.finding, *(part.finding for part in self.evidence))
        changes = (CAUSES[finding.code].change(finding.values) for finding in findings if finding.code in CAUSES)
        return next((change for change in changes if any(change)), ("", ""))


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the runs show."""

    runs: tuple[Run, ...]
    """Those that measured I/O."""
    failed: tuple[Run, ...]
    """Those that ended otherwise than ``ok``: they say nothing."""
    causes: tuple[Cause, ...]
    """What matters most comes first; empty where nothing stands out."""
    slight: tuple[Cause, ...]
    """What is known to cost less than a tenth of the latency."""
    unexplained: tuple[Evidence, ...]
    """What was slow, and no cause explains it."""
    caveats: tuple[Evidence, ...]
    """What may make figures better than the disks are."""
    without_counters: bool
    """Whether the OSDs may not be asked."""
    hosts_not_seen: tuple[str, ...]
    """Hosts of OSDs of the pool that are no nodes: nothing is known of their CPUs and networks."""
    links: tuple[Link, ...]
    """The network between the nodes; empty where it was not measured."""


def diagnosis(runs: Iterable[Run]) -> Diagnosis:
    """Of runs in the order of their begin."""
    runs = list(runs)
    good = [run for run in runs if run.outcome == "ok"]
    measured = [run for run in good if not measures_links(run)]
    evidence = [Evidence(run, finding) for run in good for finding in run.findings]
    evidence += [*_slow_links(good), *_limits_reached(measured), *_slow_commits(measured)]
    evidence += _lost_together(measured, {part.finding.code for part in evidence})
    named = sorted(_causes(evidence, measured), key=_order)
    causes, slight = [[cause for cause in named if _is_slight(cause) is little] for little in (False, True)]
    known = {part.finding.code for cause in named for part in cause.evidence}
    symptoms = [part for part in evidence if part.finding.code in SYMPTOMS]
    return Diagnosis(
        runs=tuple(measured),
        failed=tuple(run for run in runs if run.outcome != "ok"),
        causes=tuple(causes),
        slight=tuple(slight),
        unexplained=tuple(part for part in symptoms if part.finding.values.get("cause_code") not in known),
        caveats=tuple(part for part in evidence if part.finding.code in NOT_OF_DISKS - known),
        without_counters=any(part.finding.code == OSD_COUNTERS.code for part in evidence),
        hosts_not_seen=tuple(_hosts_not_seen(measured)),
        links=tuple(links_of(good)),
    )


def _causes(evidence: Sequence[Evidence], runs: Sequence[Run]) -> Iterator[Cause]:
    """Each cause that any run shows."""
    by_cause: dict[tuple[str, ...], list[Evidence]] = {}
    for part in evidence:
        if signs := _signs(part.finding, evidence):
            by_cause.setdefault(signs, []).append(part)
    for part in evidence:
        if (signs := _signs_in_a_stop(part.finding)) and signs not in by_cause:
            by_cause[signs] = []
    for signs, parts in by_cause.items():
        symptoms = [part for part in evidence if part.finding.values.get("cause_code") in signs]
        codes = [part.finding.code for part in parts if part.finding.code in signs]
        codes = codes or [str(part.finding.values["cause_code"]) for part in symptoms]
        code = min(codes, key=signs.index)
        if code == BUSY_OSD.code and not any(map(_is_uneven, parts)):
            continue
        parts.sort(key=lambda part: part.finding.code != code)
        costs = [cost for part in parts for cost in _costs(part, runs)]
        cost = max(costs, key=lambda cost: (cost.is_measured, cost.share), default=None)
        yield Cause(finding_kind(code), (*parts, *symptoms), cost)


def _signs_in_a_stop(finding: Finding) -> tuple[str, ...]:
    """The codes of all signs of the cause that a stop of all I/O names, as an OSD that did not answer then."""
    if finding.code not in (STALLED.code, STUCK.code) or finding.values.get("cause_code") == HEALTH_SPEED.code:
        return ()
    return SIGNS.get(str(finding.values.get("cause_code")), ())


def _is_uneven(part: Evidence) -> bool:
    """Whether a busy OSD has much more to do than it would have if all had the same."""
    share = part.finding.values.get("share")
    return not isinstance(share, float) or share * len(part.run.osds) >= _UNEVEN


def _signs(finding: Finding, evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """The codes of all signs of the cause that a finding is a sign of; empty where it is none."""
    if finding.code in NOT_OF_DISKS and finding.level != "note":
        return (finding.code,)
    if finding.code == HEALTH_SPEED.code and only_slowness(_checks(finding)):
        return ()
    return SIGNS.get(_explained_by(finding, evidence) or finding.code, ())


def _checks(finding: Finding) -> tuple[str, ...]:
    """The health checks that a finding names, in words."""
    details = finding.values.get("details")
    return tuple(map(str, details)) if isinstance(details, tuple | list) else ()


def _explained_by(finding: Finding, evidence: Sequence[Evidence]) -> str:
    """The code of another finding whose cause a finding is a sign of, as others show; empty where there is none."""

    def others(kind: FindingKind) -> list[Finding]:
        return [part.finding for part in evidence if part.finding.code == kind.code]

    own = {*osds_in(finding.values)} or {str(finding.values.get("job"))}
    if finding.code == SLOW_OSD.code and finding.values.get("part") != "commit":
        held_back = {osd for other in others(MCLOCK_CAPACITY) for osd in osds_in(other.values)}
        return MCLOCK_CAPACITY.code if own <= held_back else ""
    if finding.code in (BUSY_OSD.code, SLOW_JOB.code, OSD_PINGS.code):
        slow = next((other for other in others(SLOW_OSD) if own <= {*osds_in(other.values)}), None)
        return (_explained_by(slow, evidence) or SLOW_OSD.code) if slow else ""
    if finding.code == LOW_LIMITS.code:
        reached = [kind for kind, limits in LIMITS_OF.items() if others(kind) and options_in(finding.values) <= limits]
        return reached[0].code if reached else ""
    return ""


def _is_slight(cause: Cause) -> bool:
    """Whether it is known to cost little; of an OSD that has more to do than others, also where that is not known.

    One of many OSDs costs the mean little, however slow it is: it costs the tail.
    """
    if cause.kind.code == SLOW_OSD.code and any(_is_far_slower(part.finding) for part in cause.evidence):
        return False
    if cause.cost is None or not cause.cost.is_measured:
        return cause.kind.code == BUSY_OSD.code
    return cause.cost.share < _LITTLE


def _is_far_slower(finding: Finding) -> bool:
    """Whether an OSD, or a part of what it does, takes many times as long as those of the others."""
    values = finding.values
    pairs = [
        ("seconds", "others"),
        ("commit_seconds", "others"),
        ("read_seconds", "others"),
        ("part_seconds", "part_others"),
    ]
    known = [(values.get(slow), values.get(other)) for slow, other in pairs]
    return any(isinstance(s, float) and isinstance(o, float) and s >= _FAR_SLOWER * o for s, o in known)


def _order(cause: Cause) -> tuple[int, float, int]:
    """Of causes: what spoils figures, what is known to cost much, what was seen, the rest; each by what it costs."""
    share = cause.cost.share if cause.cost else 0.0
    likely = list(CAUSES).index(cause.kind.code) if cause.kind.code in CAUSES else 0
    if cause.spoils:
        rank = 0
    elif cause.sureness == "set-up" or (cause.kind.level == "note" and cause.kind.code != ROUND_TRIP.code):
        rank = 4
    elif cause.sureness == "measured" or cause.kind.code in _AT_DEPTH:
        rank = 1 if share >= _MUCH else 3
    else:
        rank = 2
    return rank, -share, likely


# ------------------------------------------------------------------ what a cause costs


def _costs(part: Evidence, runs: Sequence[Run]) -> Iterator[Cost]:
    """What a cause costs in its run, of each flow whose stages are known."""
    acts = CAUSES.get(part.finding.code)
    if acts is None:
        return
    for flow, stages in part.run.stages.items():
        if not (total := stages.seconds):
            continue
        at_most = sum(getattr(stages, f"{stage}_seconds") for stage in acts.stages)
        if part.finding.code in _AT_DEPTH:
            at_most = _more_than_alone(part.run, flow, runs, at_most)
        seconds = _known_cost(part, flow)
        if seconds is not None:
            yield Cost(part.run, flow, min(max(0.0, seconds), total), total, is_measured=True)
        elif not acts.is_set_up:
            yield Cost(part.run, flow, min(at_most, total), total, is_measured=False)


def _known_cost(part: Evidence, flow: Flow) -> float | None:
    """Seconds of the mean that a cause costs, by what was counted; None where that does not say it."""
    values: Values = part.finding.values
    if part.finding.code in (SLOW_OSD.code, BUSY_OSD.code):
        is_by_answers = "late" in values or "answer_seconds" in values
        return None if is_by_answers else excess_of_osds(part.run, flow, osds_in(values))
    if part.finding.code == SLOW_COMMITS.code:
        commit = values.get("seconds")
        return commit if flow == "write" and isinstance(commit, float) else 0.0
    trip = values.get("mean_seconds") if part.finding.code == ROUND_TRIP.code else None
    if isinstance(trip, float):  # of an I/O of that node; the others have findings of their own
        return min(trip, part.run.stages[flow].outside_seconds) / max(1, len(part.run.nodes))
    ratio = values.get("ratio") if part.finding.code == STEAL.code else None
    # as many I/Os are in flight as before, and all of them take as much longer as the machine stands still
    return ratio * part.run.stages[flow].seconds if isinstance(ratio, float) else None


def excess_of_osds(run: Run, flow: Flow, osds: Iterable[str]) -> float | None:
    """The seconds by which the mean of a flow is longer because some OSDs take longer than the others.

    A read takes one OSD. A write takes as many as there are copies and waits for the slowest: what an OSD takes itself
    is known by its writes as a replica, since those as a primary wait for other OSDs too. None where it is not known.
    """
    slow = {osd.removeprefix("osd.") for osd in osds}
    takes, touches, operations = dict[str, float](), dict[str, int](), 0
    for osd, result in run.osds.items():
        alone = result.read_seconds if flow == "read" else result.subop_seconds or result.write_seconds
        if alone is not None:
            takes[osd] = alone
        touches[osd] = result.reads if flow == "read" else result.writes + result.subops
        operations += result.reads if flow == "read" else result.writes
    others = [seconds for osd, seconds in takes.items() if osd not in slow]
    those = [osd for osd in takes if osd in slow]
    if not (others and those and operations):
        return None
    share = min(1.0, sum(touches[osd] for osd in those) / operations)
    return share * (fmean(takes[osd] for osd in those) - median(others))


def _more_than_alone(run: Run, flow: Flow, runs: Sequence[Run], otherwise: float) -> float:
    """How much longer an I/O was outside of the OSDs than with the fewest in flight; else ``otherwise``."""
    flows = [(in_flight(other) or 0, other.stages[flow]) for other in runs if flow in other.stages]
    fewest, stages = min(flows, key=lambda pair: pair[0], default=(0, None))
    if stages is None or fewest >= (in_flight(run) or 0):
        return otherwise
    return run.stages[flow].outside_seconds - stages.outside_seconds


# ------------------------------------------------------------------ links, and what is not seen


def _slow_links(runs: Sequence[Run]) -> Iterator[Evidence]:
    """Links that carry far less than the others, or than their NICs have."""
    network = [run for run in runs if measures_links(run)]
    links = links_of(network)
    for link in links:
        run = next(run for run in network if run.run == link.runs[0])
        others = [other.bandwidth_bytes for other in links if other.kind == link.kind and other is not link]
        named: dict[str, Value] = {"link": f"{link.source} to {link.destination}", "rate_bytes": link.bandwidth_bytes}
        if len(others) >= _LINKS_LEAST - 1 and link.bandwidth_bytes < _LINK_SHARE * median(others):
            yield Evidence(run, SLOW_LINK.found(**named, others=median(others)))
        elif (nic := _nic_bytes(run, link)) and link.bandwidth_bytes < _LINK_SHARE * nic and not _is_one_thread(run):
            yield Evidence(run, SLOW_LINK.found(**named, nic=nic))


def _limits_reached(runs: Iterable[Run]) -> Iterator[Evidence]:
    """Limits of librbd that runs have reached, by their ceilings."""
    for run in runs:
        bases = [
            ceiling.basis for ceiling in run.ceilings or () if ceiling.limit == "rbd_qos" and ceiling.share >= LIMITED
        ]
        if bases:
            yield Evidence(run, QOS_LIMIT.found(basis=", ".join(dict.fromkeys(bases))))


def _slow_commits(runs: Iterable[Run]) -> Iterator[Evidence]:
    """SSDs all of which take long for a flush, where nothing else is in flight."""
    for run in runs:
        if "write" not in run.stages or (in_flight(run) or math.inf) > len(run.nodes):
            continue
        classes = run.cluster.class_by_osd if run.cluster else {}
        for device_class in _FLUSH_AT_ONCE.intersection(classes.values()):
            commits = [
                osd.commit_seconds
                for name, osd in run.osds.items()
                if osd.commit_seconds is not None and classes.get(name) == device_class
            ]
            if commits and median(commits) >= _SLOW_COMMIT_SECONDS:
                yield Evidence(
                    run, SLOW_COMMITS.found(seconds=median(commits), osds=len(commits), device_class=device_class)
                )


def _lost_together(runs: Sequence[Run], known: Collection[str]) -> Iterator[Evidence]:
    """What nodes lost in all runs together, where no run shows it by itself: slow I/O sends few segments."""
    uses: dict[str, list[tuple[Run, MachineUse]]] = {}
    for run in runs:
        for node in run.nodes:
            if node.machine:
                uses.setdefault(node.node, []).append((run, node.machine))
    for name, of_runs in uses.items():
        most, _ = max(of_runs, key=lambda pair: pair[1].tcp_segments_resent or 0)
        for finding in lost_together(name, (use for _, use in of_runs)):
            if finding.code not in known:
                yield Evidence(most, finding)


def _nic_bytes(run: Run, link: Link) -> float | None:
    """The speed of the slowest NIC at both ends in bytes a second, since it may be the one; None where not known."""
    speeds = [
        min(environment.nic_bits_per_second.values(), default=0)
        for end in link.ends
        if (environment := run.environment.get(end))
    ]
    return min(speeds) / 8 if len(speeds) == len(link.ends) and all(speeds) else None


def _is_one_thread(run: Run) -> bool:
    return any(finding.code == ONE_THREAD.code for finding in run.findings)


def _hosts_not_seen(runs: Sequence[Run]) -> Iterator[str]:
    """Hosts of OSDs of the pool that are no nodes."""
    run = next((run for run in reversed(runs) if run.cluster and run.cluster.osds_by_host), None)
    if run is None or run.cluster is None:
        return
    seen = {(node.hostname or name).partition(".")[0] for name, node in run.environment.items()}
    seen |= set(run.environment)
    yield from sorted(host for host in run.cluster.osds_by_host if host.partition(".")[0] not in seen)


def flows_of(run: Run) -> list[Flow]:
    """The flows of a run that move data."""
    return [flow for flow in FLOWS if flow in run.summary.flows]
