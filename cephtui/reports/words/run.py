"""A run in words: how near it is to its ceilings, and what its tool says of a node."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from cephtui import units
from cephtui.analysis.detectors.ceiling import measurable, nearest, not_known
from cephtui.analysis.runs.facts import load_of, threads_not_counted
from cephtui.models import Ceiling, DiskUse, LatencyShare, NodeResult, Run, Total
from cephtui.models.ceilings import LIMITED, NEAR, Limit
from cephtui.models.metrics import BY_NAME
from cephtui.reports.words.cutting import cut, joined
from cephtui.reports.words.machine import machine_text

_UNKNOWN = "limit unknown"
_ONE_IN_FLIGHT = "with one I/O in flight on each node the next I/O begins when the one before it has ended"
_WITH_FLUSHES = "with one I/O in flight on each node each I/O and each flush waits for the one before it"


def ceiling_lines(ceilings: Sequence[Ceiling], run: Run | None = None) -> list[str]:
    """Lines on the ceilings of a run, then on what limits it; where none is known, on what would show one."""
    near, unknown = nearest(ceilings), not_known(run, ceilings) if run else []
    links = dict.fromkeys(link for ceiling in ceilings if ceiling.is_known for link in ceiling.not_measured)
    conclusion = _conclusion(near, unknown, links) if near else _none_known(unknown, measurable(run) if run else ())
    return [*(_line(ceiling) for ceiling in ceilings if not ceiling.is_itself), conclusion]


def _line(ceiling: Ceiling) -> str:
    """``network 58 %: write 512 MiB/s, at most 882 MiB/s (from 1 of 3 OSD hosts, size 3, NIC 10.0 Gbit/s x 0.94)``."""
    share = f"{ceiling.limit} {100 * ceiling.share:,.0f} %"
    if not ceiling.is_known:
        return f"{ceiling.limit}: {ceiling.basis}"
    value, most = ceiling.figure.as_text(ceiling.measured), ceiling.figure.as_text(ceiling.at_most)
    what = f"{value} IOPS" if ceiling.figure.unit == "IO/s" else value
    return (
        f"{share}: {ceiling.direction} {what}, {'about' if ceiling.is_estimate else 'at most'} {most} ({ceiling.basis})"
    )


def _none_known(not_known: Sequence[Limit], measurable: Container[Limit]) -> str:
    """How those limits of a run that are not known would have been."""
    unmeasured = [limit for limit in not_known if limit in measurable]
    parts = [_UNKNOWN]
    if unmeasured:
        parts.append(f"Not measured before the run: {', '.join(unmeasured)} (cephtui ceilings measures them)")
    if "depth" in not_known:
        parts.append("Run the same preset at depth 1 in this session to learn the latency limit")
    return ". ".join(parts)


def _conclusion(nearest: Ceiling, not_known: Sequence[str], links: Iterable[str]) -> str:
    limit, share = nearest.limit, nearest.share
    if nearest.is_itself:
        return f"limited by {limit}: {_WITH_FLUSHES if nearest.has_flushes else _ONE_IN_FLIGHT}"
    if nearest.is_exceeded:
        return f"above its own ceiling ({limit}): cache, compression, thin data or a wrong ceiling"
    if share >= LIMITED:
        return f"limited by {limit}"
    if round(share, 2) >= NEAR:
        return f"nearest limit: {limit}"
    unknown = f"; not known: {', '.join(not_known)}" if not_known else ""
    unmeasured = f"; links not measured: {names}" if (names := joined(links, "links")) else ""
    return f"no known limit was near: the greatest share is {100 * share:.0f} % ({limit}){unknown}{unmeasured}"


_IOPS, _BANDWIDTH = BY_NAME["iops"], BY_NAME["bandwidth_bytes"]
_BEGAN = "counted as I/Os are submitted, the figures above as they complete"
_LEAST_PERCENT = 0.05
"""Of a range of latencies; fio has 0.01 for every smaller share."""
_SHOWN_PERCENT = 0.15
"""Of a range of depths; fio has 0.1 for every smaller share."""


def reported_text(total: Total) -> str:
    """The IOPS as the tool has counted them; empty where they are shown as the same."""
    if total.ios_reported is None or not total.runtime_seconds:
        return ""
    reported, iops = _IOPS.as_text(total.ios_reported / total.runtime_seconds), _IOPS.as_text(_IOPS.of(total))
    return "" if reported == iops else f"{reported} IOPS: {_BEGAN}"


def client_facts(run: Run, node: NodeResult) -> dict[str, str]:
    """Facts by name of what the tool reported of a node, and of what the whole node did."""
    facts = {
        "samples": "; ".join(_samples(node)),
        "lat": shares_text(node.latency_shares),
        "depth": depth_text(run, node.depths),
        "cpu": cpu_text(run, node),
        "disks": disks_text(node),
        "machine": machine_text(node.machine) if node.machine else "",
    }
    return {name: text for name, text in facts.items() if text}


def _samples(node: NodeResult) -> Iterator[str]:
    """``write IOPS 7.56k to 14.1k, mean 13.2k, standard deviation 1.47k (39 samples)`` of each flow and rate."""
    for name, total in node.summary.flows.items():
        for metric, samples in ((_IOPS, total.iops_samples), (_BANDWIDTH, total.bandwidth_samples)):
            if samples:
                least, greatest, mean, stddev = map(
                    metric.as_text, (samples.least, samples.greatest, samples.mean, samples.stddev)
                )
                count = f" ({samples.count:,} samples)" if samples.count else ""
                yield f"{name} {metric.title} {least} to {greatest}, mean {mean}, standard deviation {stddev}{count}"


def shares_text(shares: Sequence[LatencyShare]) -> str:
    """``67.8 % of the I/Os within 10 ms, 99.0 % within 20 ms``; a share that is rounded to nothing adds no end."""
    sums = zip(accumulate(share.percent for share in shares), shares, strict=True)
    ends = [
        (units.percent(min(done, 100.0)), units.latency(share.up_to_seconds))
        for done, share in sums
        if share.up_to_seconds is not None and share.percent >= _LEAST_PERCENT
    ]
    words = (" of the I/Os" if number == 0 else "" for number in range(len(ends)))
    return ", ".join(f"{percent}{of} within {end}" for (percent, end), of in zip(ends, words, strict=True))


def depth_text(run: Run, depths: Mapping[str, float]) -> str:
    """``64 asked: 93.0 % of the I/Os were submitted with 64 in flight, 7.0 % with 32 to 63``; empty where not known."""
    load = load_of(run)
    if not depths or load is None:
        return ""
    firsts = [int(name.removeprefix(">=")) for name in depths]
    lasts = [*(first - 1 for first in firsts[1:]), max(load.depth, firsts[-1])]
    shares = [
        (share, _range(first, min(last, max(first, load.depth))), first <= load.depth <= last)
        for first, last, share in zip(firsts, lasts, depths.values(), strict=True)
        if share >= _SHOWN_PERCENT
    ][::-1]
    if not shares:
        return ""
    reached = "" if any(is_asked_depth for *_, is_asked_depth in shares) else ", not reached"
    (share, number, _), *lesser = shares
    first = f"{units.percent(share)} of the I/Os were submitted with {number} in flight"
    return ", ".join([f"{load.depth} asked{reached}: {first}", *(f"{units.percent(s)} with {n}" for s, n, _ in lesser)])


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first} to {last}"


def cpu_text(run: Run, node: NodeResult) -> str:
    """``user 2.6 %, system 17.7 % of one CPU for each job; 12,345 context switches``; empty where not known."""
    if node.cpu_user_percent is None and node.cpu_system_percent is None:
        return ""
    switches = "" if node.context_switches is None else f"; {node.context_switches:,} context switches"
    used = f"user {units.percent(node.cpu_user_percent)}, system {units.percent(node.cpu_system_percent)}"
    return f"{used} of one CPU for each job{threads_not_counted(run)}{switches}"


def disks_text(node: NodeResult) -> str:
    """``vda 39.5 % busy, 213 reads (80 us each), 3 merged (ramp included)``: of the whole machine."""
    shown, more = cut(map(_disk, node.disks), "disks")
    parts = [*shown, more] if more else shown
    return f"{'; '.join(parts)} (ramp included)" if parts else ""


def _disk(disk: DiskUse) -> str:
    parts = [f"{disk.name} {units.percent(disk.utilisation_percent)} busy"]
    for word, ios, waited in (
        ("reads", disk.read_ios, disk.read_wait_seconds),
        ("writes", disk.write_ios, disk.write_wait_seconds),
    ):
        if ios:
            waiting = f" ({units.latency(waited / ios)} each)" if waited else ""
            parts.append(f"{ios:,} {word}{waiting}")
    merged = (disk.read_merges or 0) + (disk.write_merges or 0)
    return ", ".join([*parts, f"{merged:,} merged"] if merged else parts)
