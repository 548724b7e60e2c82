"""The figures of one job as fio prints them for people; the format is in ``saved_text``.

Figures are rounded to three or four digits there. The number of I/Os is exact, so IOPS are that over the time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from cephtui import stats
from cephtui.models import ELAPSED_MOST_SECONDS, DiskUse
from cephtui.models.metrics import DIRECTIONS, FLUSH
from cephtui.models.results import PERCENTILES
from cephtui.tools.fio.flushes import Flushing, Lead, flushing, shares_of_all
from cephtui.tools.fio.printed import A_SECOND, in_bytes, printed_figure, scaled
from cephtui.tools.fio.saved_run import NOT_UNDERSTOOD, Job
from cephtui.tools.fio.spread import printed_shares, with_printed
from cephtui.tools.logs import LogLine

_FLOW = r"\s*(?P<flow>read|write|trim|mixed)\s*: *"
_RATE = re.compile(
    _FLOW + r"IOPS=\s*(?P<iops>[\d.]+)(?P<scale>[kKMGTP]?) *, *"
    r"BW=\s*(?P<bw>[\d.]+) ?(?P<unit>[kKMGTP]?i?(?:B|bit))/s"
    r"(?: ?\((?P<bw_10>[\d.]+) ?(?P<unit_10>[kKMGTP]?i?(?:B|bit))/s\))?.{0,40}?"
    r"\((?P<io>[\d.]+) ?(?P<io_unit>[kKMGTPE]?i?(?:B|bit))/(?P<ms>\d+)msec\)"
)
_RATE_2 = re.compile(
    _FLOW + r"io=\s*(?P<io>[\d.]+) ?(?P<io_unit>[KMGPE]?i?(?:B|bit)) *, *"
    r"bw=\s*(?P<bw>[\d.]+) ?(?P<unit>[KMGPE]?i?(?:B|bit))/s *, *iops=\s*(?P<iops>[\d.]+)(?P<scale>[kKMGPE]?) *, *"
    r"runt=\s*(?P<ms>\d+)msec"
)
_LIKE_RATE = re.compile(r"\s*(?P<flow>read|write|trim|mixed)\s*: *(?:IOPS|BW|io|iops|bw) *=")
_TIMES = (
    r" \((?P<unit>nsec|usec|msec)\) *: *min=\s*(?P<min>[\d.]+)(?P<min_k>[kKMGTPE]?) *, *"
    r"max=\s*(?P<max>[\d.]+)(?P<max_k>[kKMGTPE]?) *, *avg=\s*(?P<avg>[\d.]+) *, *stdev=\s*(?P<stdev>[\d.]+)"
)
_LATENCY = re.compile(r"\s*(?P<kind>[sc]?lat)" + _TIMES)
_LADDER = re.compile(r"\s*(?P<kind>\w+)(?: prio \S+)? percentiles \((?P<unit>nsec|usec|msec)\):")
_RUNG = re.compile(r"([\d.]{1,12})th=\[\s*(\d{1,18})\]")
_CPU = re.compile(r"\s*cpu\s*: *usr=\s*([\d.]+)%, *sys=\s*([\d.]+)%(?:, *ctx=(\d{1,18}))?")
_DEPTHS = re.compile(r"\s*IO depths\s*:(.*)")
_SHARE = re.compile(r"((?:>=)?\d+)=\s*([\d.]+)%")
_ISSUED = re.compile(
    r"\s*issued(?: rwts?| r/w(?:/d)?)?\s*: *total=(?:r=)?(?P<read>\d{1,18})(?:,|/w=|/)(?P<write>\d{1,18})"
    r"(?:(?:,|/d=|/)(?P<trim>\d{1,18}))?(?:,(?P<fsync>\d{1,18}) short=(?P<fdatasync>\d{1,18}),)?"
)
_FLUSH = re.compile(r"\s*sync" + _TIMES)
_PAIR = re.compile(r"\b(ios|merge|ticks)=(\d{1,18})/(\d{1,18})")
_QUEUE = re.compile(r"\bin_queue=(\d{1,18})")
_LINE_MOST = 200
"""Characters of a line that is told."""
NO_RATES = f"{NOT_UNDERSTOOD}: there is no line of rates below the job"
_SAME = 0.015
"""The fraction by which figures of three digits may differ and mean the same."""


def read_job(head: re.Match[str], body: Sequence[LogLine], lead: Lead | None = None, block: int = 0) -> Job:
    """A job from its heading and the lines below.

    ``lead`` is what of a write comes before its flush (``lead_of``), ``block`` the bytes of each I/O; 0 is not known.
    """
    issued = next((match for line in body if (match := _ISSUED.match(line.text))), None)
    cpu = next((match for line in body if (match := _CPU.match(line.text))), None)
    ios = _issued(issued) if issued else {}
    flows: dict[str, stats.Flow] = {}
    percentiles: dict[str, dict[float, float]] = {}
    for rate, lines in _directions(body):
        if flow := _flow(rate, lines, ios.get(rate["flow"]), block):
            flows[rate["flow"]] = with_printed(flow, lines, old=rate.re is _RATE_2)
            percentiles[rate["flow"]] = _percentiles(lines, "clat")
    if len(flows) > 1:
        flows.pop("mixed", None)  # all of the others again (unified_rw_reporting=both)
    if flushed := _flushing(body, flows, issued, lead):
        flows |= flushed.flows
        percentiles[FLUSH] = _percentiles((line.text for line in body), "sync")
    return Job(
        name=head["name"],
        flows=flows,
        percentiles=percentiles,
        error=_error(head) or _not_understood(body, flows, ios),
        user_percent=printed_figure(cpu[1]) if cpu else None,
        system_percent=printed_figure(cpu[2]) if cpu else None,
        switches=int(cpu[3]) if cpu and cpu[3] else None,
        latency_shares=printed_shares(line.text for line in body),
    )


def _issued(issued: re.Match[str]) -> dict[str, int]:
    """How many I/Os of each flow; with unified_rw_reporting all are counted as reads."""
    counts = {name: int(issued[name]) for name in DIRECTIONS}
    return {**counts, "trim": int(issued["trim"] or 0), "mixed": counts["read"]}


def _not_understood(body: Iterable[LogLine], flows: Mapping[str, stats.Flow], ios: Mapping[str, int]) -> str | None:
    """A line that has figures of a flow in another form, or that none is there though I/Os are counted, or may be."""
    rates = ((match["flow"], line.text) for line in body if (match := _LIKE_RATE.match(line.text)))
    unread = [text.strip() for name, text in rates if not _rate(text) and not (name == "mixed" and flows)]
    if unread:
        return f"{NOT_UNDERSTOOD}: {unread[0][:_LINE_MOST]}"
    return NO_RATES if not flows and (not ios or any(ios.values())) else None


def _flushing(
    body: Iterable[LogLine], flows: Mapping[str, stats.Flow], issued: re.Match[str] | None, lead: Lead | None
) -> Flushing | None:
    """Below the writes. fio prints the count of fdatasync as that of short reads (stat.h, ``total_io_u``)."""
    flush = next((match for line in body if "sync (" in line.text and (match := _FLUSH.match(line.text))), None)
    write = flows.get("write")
    if flush is None or write is None:
        return None
    counts = (issued["fsync"], issued["fdatasync"] if "read" not in flows else None) if issued else ()
    ios = next((number for count in counts if count and (number := int(count))), None)
    times = _times(flush, ios or write.ios or 1)
    return flushing(write, ios, {}, times, lead) if times else None


def _error(head: re.Match[str]) -> str | None:
    if not int(head["error"]):
        return None
    why = (head["why"] or "").rpartition("error=")[2]
    return why or f"fio: error {head['error']}"


def _directions(body: Iterable[LogLine]) -> list[tuple[re.Match[str], list[str]]]:
    """Each line of rates with the lines up to the next."""
    directions: list[tuple[re.Match[str], list[str]]] = []
    for line in body:
        if rate := _rate(line.text):
            directions.append((rate, []))
        elif directions:
            directions[-1][1].append(line.text)
    return directions


def _rate(text: str) -> re.Match[str] | None:
    return _RATE.match(text) or _RATE_2.match(text)


def _flow(rate: re.Match[str], body: Sequence[str], ios: int | None, block: int) -> stats.Flow | None:
    """A flow; None without a whole figure.

    The number of I/Os counts where it fits the rounded figures; where it does not fit the bytes, those do.
    """
    old = rate.re is _RATE_2
    moved, printed = in_bytes(rate["io"], rate["io_unit"], old=old), in_bytes(rate["bw"], rate["unit"], old=old)
    iops, seconds = scaled(rate["iops"], rate["scale"]), (printed_figure(rate["ms"]) or 0.0) / 1e3
    if not ios and not moved:
        return None
    if moved is None or printed is None or iops is None or not 0 < seconds < ELAPSED_MOST_SECONDS:
        return None
    bandwidth = printed if old else _bandwidth(rate, printed, moved / seconds)
    if ios is not None and not _near(ios / seconds, iops, 1.0):
        ios = None
    times = _latencies(body, ios or round(iops * seconds))
    clat = times.get("clat")
    flow = stats.Flow(
        ios=ios,
        bytes=round(moved if _near(moved / seconds, bandwidth, 0.0) else bandwidth * seconds),
        runtime_seconds=seconds,
        iops=iops if ios is None else ios / seconds,
        bandwidth_bytes=bandwidth,
        buckets={},
        moments=clat.moments if clat else None,
        bounds=clat.bounds if clat else None,
        slat=times.get("slat"),
        lat=times.get("lat"),
    )
    if not ios or not block or _near(flow.bytes / block, ios, 1.0):
        return flow
    return stats.with_completed(flow, round(flow.bytes / block))


def _bandwidth(rate: re.Match[str], printed: float, by_bytes: float) -> float:
    """Bandwidth as fio prints it, which until 3.25 loses a carry: 11.99 MiB/s are ``BW=11.0MiB/s (12.6MB/s)``."""
    other = in_bytes(rate["bw_10"], rate["unit_10"], old=False) if rate["bw_10"] else None
    if other is None or _near(other, printed, 0.0):
        return printed
    return other if abs(other - by_bytes) < abs(printed - by_bytes) else printed


def _near(value: float, printed: float, within: float) -> bool:
    return abs(value - printed) <= max(_SAME * printed, within)


def _latencies(body: Iterable[str], count: int) -> dict[str, stats.Times]:
    """The times of submission (``slat``), of completion (``clat``) and of both, in seconds."""
    latencies: dict[str, stats.Times] = {}
    for text in body:
        match = _LATENCY.match(text) if "lat (" in text else None
        times = _times(match, count) if match and count else None
        if match and times:
            latencies.setdefault(match["kind"], times)
    return latencies


def _times(latency: re.Match[str], count: int) -> stats.Times | None:
    unit = A_SECOND[latency["unit"]]
    low, high = scaled(latency["min"], latency["min_k"]), scaled(latency["max"], latency["max_k"])
    mean, stdev = printed_figure(latency["avg"]), printed_figure(latency["stdev"])
    if mean is None or stdev is None:
        return None
    bounds = (low / unit, high / unit) if low is not None and high is not None else None
    return stats.Times(stats.Moments(count, mean / unit, stdev / unit), bounds)


def depths_of(body: Iterable[LogLine]) -> dict[str, float]:
    """Percent of the I/Os of a job by how many were in flight; empty where it is not printed."""
    printed = next((match[1] for line in body if (match := _DEPTHS.match(line.text))), "")
    return shares_of_all(
        {depth: value for depth, text in _SHARE.findall(printed) if (value := printed_figure(text)) is not None}
    )


def disk_use(printed: re.Match[str]) -> DiskUse | None:
    """The disk of ``ios=1/2, merge=0/0, ticks=3/4, in_queue=7, util=99.91%``; None for a share that is no figure."""
    util = printed_figure(printed["util"])
    if util is None:
        return None
    counts: dict[str, int] = {}
    for name, reads, writes in _PAIR.findall(printed["pairs"]):
        counts |= {f"read_{name}": int(reads), f"write_{name}": int(writes)}
    queue = _QUEUE.search(printed["pairs"])
    milliseconds = [counts.get("read_ticks"), counts.get("write_ticks"), int(queue[1]) if queue else None]
    waits = [None if wait is None else wait / 1e3 for wait in milliseconds]
    return DiskUse(
        name=printed["name"],
        utilisation_percent=min(util, 100.0),
        read_ios=counts.get("read_ios"),
        write_ios=counts.get("write_ios"),
        read_merges=counts.get("read_merge"),
        write_merges=counts.get("write_merge"),
        read_wait_seconds=waits[0],
        write_wait_seconds=waits[1],
        queue_seconds=waits[2],
    )


def _percentiles(body: Iterable[str], kind: str) -> dict[float, float]:
    """The percentiles of one kind of latency, those that a Total has."""
    percentiles: dict[float, float] = {}
    unit = 0.0
    for text in body:
        if ladder := _LADDER.match(text):
            unit = A_SECOND[ladder["unit"]] if ladder["kind"] == kind else 0.0
        elif unit and text.lstrip().startswith("|"):
            for percent, value in _RUNG.findall(text):
                if (share := printed_figure(percent) or 0.0) in PERCENTILES:
                    percentiles.setdefault(share, int(value) / unit)
        elif text.strip("` "):  # a page may end in between
            unit = 0.0
    return percentiles
