"""What would limit a run at the latest: a rate that is set, network, OSDs, depth, the client's CPU, a disk. Pure.

Each that is no estimate is an upper bound of a figure from what was known of the run when it began: what a model does
not know costs more. Depth: Little's law, with the latency of a single I/O in flight; with one I/O in flight it is the
limit by itself. CPU and disk: the utilisation law.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta

from cephtui import units
from cephtui.analysis.detectors.machine import OWN
from cephtui.analysis.detectors.network import VALID_FOR, limited_by_network, links_before, network_limit
from cephtui.analysis.detectors.osd_limit import limited_by_osds, osd_limit, rates_before
from cephtui.analysis.runs.batches import measured, name_of, node_names
from cephtui.analysis.runs.facts import Asked, load_of, threads_not_counted, why_invalid
from cephtui.analysis.runs.links import measures_links
from cephtui.analysis.statistics.ratio import geometric_mean
from cephtui.frozen import dataclass
from cephtui.models import FIGURE_MOST, Ceiling, ClusterEnvironment, ClusterLink, Finding, Limit, NodeResult, Run
from cephtui.models.base import OptionValue
from cephtui.models.ceilings import LIMITED, TOO_GOOD
from cephtui.models.findings.measurement import ABOVE_CEILING
from cephtui.models.metrics import BY_NAME, COMMIT, DIRECTIONS, FLUSH, METRICS, Metric
from cephtui.models.nodes import OsdRates
from cephtui.tools import TOOLS
from cephtui.tools.load import Load

_OF_CLIENTS: tuple[Limit, ...] = ("depth", "client CPU")
_SEEK_SECONDS = 0.001
"""How long a disk that rotates is busy with a request at least; virtual disks say that they rotate, too."""
_LENGTHS = ("runtime", "ramp_time", "time_based")
"""Options that say how long is measured."""
_IOPS, _BANDWIDTH, _LATENCY = BY_NAME["iops"], BY_NAME["bandwidth_bytes"], BY_NAME["latency_mean_seconds"]
_QOS: Mapping[str, tuple[str, Metric]] = {
    f"rbd_qos_{direction}{'_' * bool(direction)}{unit}_limit": (direction, metric)
    for unit, metric in (("iops", _IOPS), ("bps", _BANDWIDTH))
    for direction in ("", *DIRECTIONS)
}
"""The direction and metric of each limit of an image; an empty direction is of reads and writes together."""


@dataclass(frozen=True, slots=True)
class ClusterRecords:
    """What was measured of a cluster in any session."""

    links: tuple[ClusterLink, ...] = ()
    osds: tuple[OsdRates, ...] = ()
    alone: tuple[Run, ...] = ()
    """Runs with one I/O in flight, of which only what decides its latency is known."""


def ceilings(run: Run, session_runs: Iterable[Run] = (), records: ClusterRecords | None = None) -> list[Ceiling]:
    """All ceilings of a run by what was known before it began, the nearest first.

    ``session_runs`` are the runs of its session, ``records`` what was measured of its cluster: of both what is not
    older than the run is left out, so that what is measured later changes nothing.
    """
    if why_invalid(run) or measures_links(run):
        return []
    records = records or ClusterRecords()
    runs = [other for other in session_runs if other.started_at < run.started_at]
    links, benches = links_before(run, runs, records.links), rates_before(run, runs, records.osds)
    alone = _runs_alone(run, runs, records.alone)
    limits = list(_limits_set(run))
    is_held = any(ceiling.share >= LIMITED for ceiling in limits)
    for direction in DIRECTIONS:
        if direction in run.summary.flows:
            limits += _network(run, direction, links)
            limits += _osds(run, direction, benches)
            limits += _depth(run, direction, alone, is_held=is_held)
    return sorted([*limits, *_client_cpu(run), *_disk(run)], key=_order)


def bears_on(other: Asked, run: Run) -> bool:
    """Whether an earlier run of the session may say something of a run, by what it was asked to do.

    It has measured links, or what OSDs write, or the same with one I/O in flight.
    """
    tool = TOOLS.get(other.tool)
    if tool is None:
        return False
    return tool.measures_network or "osd" in tool.kinds or _asks_for_one(other, run)


def _order(ceiling: Ceiling) -> tuple[bool, float]:
    """First the limits that the user has set and the run has reached, then the nearest."""
    return not (ceiling.is_set and ceiling.share >= LIMITED), -ceiling.share


def nearest(ceilings: Iterable[Ceiling]) -> Ceiling | None:
    """The ceiling that the run is nearest to; None where none is known."""
    return next((ceiling for ceiling in ceilings if ceiling.is_known), None)


def above_ceilings(ceilings: Iterable[Ceiling]) -> list[Finding]:
    """A finding for each bound that a run is above."""
    return [
        ABOVE_CEILING.found(
            limit=ceiling.limit,
            direction=ceiling.direction,
            measured=ceiling.measured,
            at_most=ceiling.at_most,
            basis=ceiling.basis,
        )
        for ceiling in ceilings
        if ceiling.is_exceeded
    ]


def not_known(run: Run, ceilings: Iterable[Ceiling]) -> list[Limit]:
    """The limits that a run may have and of which there is no ceiling, nor one that says why it is not known."""
    tool, load = TOOLS.get(run.tool), load_of(run)
    if tool is None or tool.measures_network or "osd" in tool.kinds or (load and load.pauses) or why_invalid(run):
        return []
    limits: list[Limit] = ["network", "OSDs"] if run.cluster else ["disk"]
    known = {ceiling.limit for ceiling in ceilings}
    if "CPU" in known:
        known.add("client CPU")
    if threads_not_counted(run) and any(_busy(node) is None for node in run.nodes):
        known.discard("client CPU")
    return [limit for limit in (*limits, *_OF_CLIENTS) if limit not in known and (limit != "depth" or has_depth(run))]


def measurable(run: Run) -> list[Limit]:
    """The limits of a run like this one that ``cephtui ceilings`` may make known."""
    may_limit: dict[Limit, bool] = {"network": limited_by_network(run), "OSDs": bool(limited_by_osds(run))}
    return [limit for limit, is_one in may_limit.items() if is_one]


def has_depth(run: Run) -> bool:
    """Whether a run with one I/O in flight would show what its depth lets through: it has several, and latencies."""
    load = load_of(run)
    times = (metric for metric in METRICS if metric.unit == "s")
    timed = any(measured([run], name, metric) for metric in times for name in DIRECTIONS)
    return timed and load is not None and load.depth * load.jobs > 1 and not _flushes_between(run, load)


# ---------------------------------------------------------------------------------------------- what the user has set


def _limits_set(run: Run) -> Iterator[Ceiling]:
    """The rate of the tool's options, and the limits that librbd keeps for each image."""
    load = load_of(run)
    if load is None:
        return
    nodes, rate, basis = len(node_names(run)), load.rate, _rate_options(run, load)
    for metric, most in ((_IOPS, rate.iops), (_BANDWIDTH, rate.bandwidth_bytes)):
        if most:
            directions = ("",) if rate.together else DIRECTIONS
            for direction in directions:
                yield from _ceiling(run, "the rate that is set", direction, metric, most * nodes, basis)
    yield from _image_limits(run)


def _rate_options(run: Run, load: Load) -> str:
    """The factors of the rate: ``rate_iops=50 x 8 jobs x 3 nodes``."""
    nodes, jobs = len(node_names(run)), load.jobs
    return f"{load.rate.named(run.options)}{f' x {jobs} jobs' * (jobs > 1)}{f' x {nodes} nodes' * (nodes > 1)}"


def _image_limits(run: Run) -> Iterator[Ceiling]:
    """The limits of as many images as there are places: librbd holds each client of an image to its limits."""
    set_for = run.cluster.image_limits if run.cluster else {}
    load = load_of(run)
    images = (load.jobs if load else 1) * len(node_names(run))
    for name, most in set_for.items():
        if name in _QOS:
            direction, metric = _QOS[name]
            basis = f"{name} {most:g}{f', {images} images' * (images > 1)}"
            yield from _ceiling(run, "rbd_qos", direction, metric, most * images, basis)


# ---------------------------------------------------------------------------------------------- network


def _network(run: Run, direction: str, links: Sequence[ClusterLink]) -> Iterator[Ceiling]:
    if limit := network_limit(run, direction, links):
        more = {"not_measured": limit.not_measured}
        yield from _ceiling(run, "network", direction, _BANDWIDTH, limit.at_most, limit.basis, **more)


# ---------------------------------------------------------------------------------------------- OSDs


def _osds(run: Run, direction: str, benches: Sequence[OsdRates]) -> Iterator[Ceiling]:
    limit = osd_limit(run, direction, benches)
    if limit is None:
        return
    at_most, basis = limit.at_most, limit.basis
    if limit.is_estimate and sum(measured([run], direction, limit.metric)) > TOO_GOOD * at_most:
        text = limit.metric.as_text(at_most)
        yield from _ceiling(run, "OSDs", direction, limit.metric, None, f"not known: more than about {text} ({basis})")
        return
    flags = {"is_estimate": True} if limit.is_estimate else {}
    yield from _ceiling(run, "OSDs", direction, limit.metric, at_most, basis, **flags)


# ---------------------------------------------------------------------------------------------- depth, CPU


def _depth(run: Run, direction: str, alone: Sequence[Run], *, is_held: bool) -> Iterator[Ceiling]:
    """The ceiling by the same runs with one I/O in flight on each node; with one, by the run itself.

    ``is_held``: a rate that is set keeps the next I/O back.
    """
    load = load_of(run)
    if load and load.depth * load.jobs == 1 and not load.pauses and not is_held:
        has_flushes = _flushes_between(run, load)
        basis = f"one I/O in flight on each node{', and flushes between' * has_flushes}"
        for rate in measured([run], direction, _IOPS):
            if rate:
                yield _made("depth", direction, _IOPS, rate, rate, basis, has_flushes=has_flushes)
        return
    in_flight = load.depth * load.jobs * len(node_names(run)) if load else 0
    flow = COMMIT if direction == "write" and _commits(run) else direction
    seconds = geometric_mean(measured(alone, flow, _LATENCY))
    if not load or load.depth * load.jobs < 2 or not seconds or _flushes_between(run, load):
        return
    numbers = ", ".join(f"#{other.run}" if other.session == run.session else name_of(other) for other in alone)
    basis = f"{in_flight} in flight, {units.latency(seconds)} with 1 on each node ({numbers})"
    # an I/O may be faster with others in flight than it is alone
    yield from _ceiling(run, "depth", direction, _IOPS, in_flight / seconds, basis, is_estimate=True)


def _runs_alone(run: Run, runs: Iterable[Run], kept: Iterable[Run]) -> list[Run]:
    """The runs that did the same with one I/O in flight: of the session; without any, the newest of others of a day."""
    of_session = [other for other in runs if _is_alone(other, run)]
    of_others = [
        other
        for other in kept
        if timedelta() < run.started_at - other.started_at <= VALID_FOR and _is_alone(other, run)
    ]
    return of_session or sorted(of_others, key=lambda other: other.started_at)[-1:]


def one_in_flight(run: Run) -> Run | None:
    """What of a run with one I/O in flight decides its latency, and that; None of another run."""
    load = load_of(run)
    if load is None or load.depth * load.jobs != 1 or load.pauses or run.cluster is None or why_invalid(run):
        return None
    if not any(measured([run], flow, _LATENCY) for flow in run.summary.flows):
        return None
    pool = ClusterEnvironment(fsid=run.cluster.fsid, pool=run.cluster.pool)
    return Run.model_validate(
        {name: getattr(run, name) for name in ("session", "run", "batch", "preset", "tool", "target", "outcome")}
        | {"options": run.options, "command": "", "started_at": run.started_at, "cluster": pool}
        | {"nodes": tuple(NodeResult(node=node, command="") for node in node_names(run))}
        | {"summary": run.summary.without_histograms()}
    )


def _is_alone(other: Run, run: Run) -> bool:
    """Whether another run did the same with one I/O in flight on each node, under the same conditions."""
    return (
        _asks_for_one(other, run)
        and node_names(other) == node_names(run)
        and (other.cluster.pool if other.cluster else None) == (run.cluster.pool if run.cluster else None)
        and _commits(other) == _commits(run)
        and not why_invalid(other)
    )


def _asks_for_one(other: Asked, run: Run) -> bool:
    """Whether another run had the options of a run but for one I/O in flight on each node."""
    load = load_of(other) if (other.tool, other.target) == (run.tool, run.target) else None
    return load is not None and load.depth * load.jobs == 1 and _but_for_depth(other) == _but_for_depth(run)


def _but_for_depth(run: Asked) -> Mapping[str, OptionValue]:
    """The options that decide how long one I/O takes, whatever is in flight beside it and for however long."""
    tool = TOOLS[run.tool]
    other = {tool.depth_option, tool.jobs_option, *_LENGTHS}
    return {name: value for name, value in run.options.items() if name not in other}


def _flushes_between(run: Run, load: Load) -> bool:
    """Whether flushes take turns whose time is in no latency of an I/O, as it is in that of a commit."""
    return (load.flushes or FLUSH in run.summary.flows) and not _commits(run)


def _commits(run: Run) -> bool:
    return COMMIT in run.summary.flows


def _client_cpu(run: Run) -> Iterator[Ceiling]:
    """The ceiling by the CPU of the busiest node: all of its CPUs, or that of its jobs' threads, on average.

    Of all CPUs it is the client's only where the benchmark has at least half of what is busy.
    """
    used = {
        node.node: (node.cpu_user_percent + node.cpu_system_percent) / 100
        for node in run.nodes
        if node.cpu_user_percent is not None and node.cpu_system_percent is not None
    }
    node, most = max(used.items(), key=lambda pair: pair[1], default=("", 0.0))
    basis = f"on {node} each job's own thread used {100 * most:.0f} % of one CPU{threads_not_counted(run)}"
    limit: Limit = "client CPU"
    busiest = max(run.nodes, key=lambda node: _busy(node) or 0.0, default=None)
    busy = (busiest and _busy(busiest)) or 0.0
    if busiest and (busy > most or (busy and most < LIMITED and threads_not_counted(run))):
        own = busiest.machine.cpu_own_ratio if busiest.machine else None
        with_own = "" if own is None else f", {100 * own:.0f} % by the benchmark"
        most, basis = busy, f"all CPUs of {busiest.node} together were {100 * busy:.0f} % busy{with_own}"
        limit = "client CPU" if own is not None and own >= OWN * busy else "CPU"
    yield from _of_use(run, limit, most, basis)


def _busy(node: NodeResult) -> float | None:
    """The share of all CPUs of a node that was busy; None where it was not watched."""
    return node.machine.cpu_busy_ratio if node.machine else None


def _disk(run: Run) -> Iterator[Ceiling]:
    """The ceiling by the busiest disk under a file or device, where it serves one request after the other.

    Of SSDs and RAID arrays, which serve several at once, %util of iostat(1) is no measure of what they can do.
    """
    if run.cluster is not None or run.target.partition(":")[0] not in ("file", "device"):
        return
    disks = [(disk.utilisation_percent / 100, node, disk) for node in run.nodes for disk in node.disks]
    busy, node, disk = max(disks, key=lambda use: use[0], default=(0.0, None, None))
    if node is None or disk is None:
        return
    basis = f"{disk.name} on {node.node} was {units.percent(100 * busy)} busy"
    environment, ios = run.environment.get(node.node), (disk.read_ios or 0) + (disk.write_ios or 0)
    rotates = environment is not None and environment.settings.get("queue/rotational") == "1"
    seconds = max((total.runtime_seconds for total in run.summary.flows.values()), default=0.0)
    if busy < LIMITED or (rotates and busy * seconds >= _SEEK_SECONDS * ios):
        yield from _of_use(run, "disk", min(busy, 1.0), basis)
    else:
        yield from _of_use(run, "disk", None, f"not known: {basis}, but may serve several requests at once")


def _of_use(run: Run, limit: Limit, used: float | None, basis: str) -> Iterator[Ceiling]:
    """The ceiling by how busy something was, by the utilisation law; None where that says nothing."""
    flows = {name: value for name in DIRECTIONS for value in measured([run], name, _IOPS)}
    if not flows or used == 0:
        return
    direction = max(flows, key=lambda name: flows[name])
    at_most = None if used is None else flows[direction] / used
    yield _made(limit, direction, _IOPS, flows[direction], at_most, basis, is_estimate=True)


def _ceiling(
    run: Run, limit: Limit, direction: str, metric: Metric, at_most: float | None, basis: str, **more: object
) -> Iterator[Ceiling]:
    """The ceiling, unless the run has no such figure; without a direction it is of reads and writes together."""
    flows = [direction] if direction else [name for name in DIRECTIONS if name in run.summary.flows]
    values = [value for flow in flows for value in measured([run], flow, metric)]
    if sum(values) > 0 and (at_most is None or 0 < at_most < FIGURE_MOST):
        yield _made(limit, " and ".join(flows), metric, sum(values), at_most, basis, **more)


def _made(
    limit: Limit, direction: str, metric: Metric, measured: float, at_most: float | None, basis: str, **more: object
) -> Ceiling:
    return Ceiling.model_validate(
        {"limit": limit, "direction": direction, "metric": metric.name, "measured": measured, "at_most": at_most}
        | {"basis": basis, **more}
    )
