"""How near a run is to its ceilings, in words: a line for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cephtui.analysis.detectors.ceiling import LIMITED, NEAR, TOO_GOOD, Ceiling, has_depth, nearest
from cephtui.models import Run

_UNKNOWN = "none known"
_OF_DEPTH = "to see the limit of the depth, measure the same with one I/O in flight in this session"
_ONE_IN_FLIGHT = "with one I/O in flight on each node the next I/O begins when the one before it has ended"
_WITH_FLUSHES = "with one I/O in flight on each node each I/O and each flush waits for the one before it"


def ceiling_lines(ceilings: Sequence[Ceiling], runs: Iterable[Run] = ()) -> list[str]:
    """Of a run, in their order, then what limits it; where none is known, what would show that of a depth."""
    near = nearest(ceilings)
    unknown = f"{_UNKNOWN}: {_OF_DEPTH}" if any(map(has_depth, runs)) else _UNKNOWN
    return [*(_line(each) for each in ceilings if not each.is_itself), _conclusion(near) if near else unknown]


def _line(ceiling: Ceiling) -> str:
    """``network 58 %: write 512 MiB/s, at most 882 MiB/s (from 1 of 3 OSD hosts, size 3, NIC 10.0 Gbit/s x 0.94)``."""
    share = f"{ceiling.limit} {100 * ceiling.share:,.0f} %"
    if not ceiling.is_known:
        return f"{ceiling.limit}: {ceiling.basis}"
    value, most = ceiling.metric.as_text(ceiling.measured), ceiling.metric.as_text(ceiling.at_most)
    what = f"{value} IOPS" if ceiling.metric.unit == "IO/s" else value
    return (
        f"{share}: {ceiling.direction} {what}, {'about' if ceiling.is_estimate else 'at most'} {most} ({ceiling.basis})"
    )


def _conclusion(nearest: Ceiling) -> str:
    limit, share = nearest.limit, nearest.share
    if nearest.is_itself:
        return f"limited by {limit}: {_WITH_FLUSHES if nearest.has_flushes else _ONE_IN_FLIGHT}"
    if share > TOO_GOOD and not nearest.is_estimate and not nearest.is_set:
        return f"above its own ceiling ({limit}): cache, compression, thin data or a wrong ceiling"
    if share >= LIMITED:
        return f"limited by {limit}"
    if round(share, 2) >= NEAR:
        return f"nearest limit: {limit}"
    return f"no known limit was near: the greatest share is {100 * share:.0f} % ({limit})"
