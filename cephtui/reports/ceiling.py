"""How near a run is to its ceilings, in words: a line for each."""

from __future__ import annotations

from collections.abc import Sequence

from cephtui.analysis.ceiling import LIMITED, TOO_GOOD, Ceiling

_UNKNOWN = "none known: the same with one I/O in flight, in the same session, shows that of the depth"


def ceiling_lines(found: Sequence[Ceiling]) -> list[str]:
    """Of a run, in their order, then which is the nearest; where none is known, what would show that of the depth."""
    near = [each for each in found if each.is_near]
    return [*map(_line, found), _nearest(near[0]) if near else _UNKNOWN]


def _line(each: Ceiling) -> str:
    """``network 58 %: write 512 MiB/s, at most 882 MiB/s (from 1 of 3 OSD hosts, size 3, NIC 10.0 Gbit/s x 0.94)``."""
    share = f"{each.limit} {100 * each.share:.0f} %"
    if not each.is_near:
        return f"{share} {each.basis}"
    value, most = each.metric.as_text(each.measured), each.metric.as_text(each.at_most)
    what = f"{value} IOPS" if each.metric.unit == "IO/s" else value
    return f"{share}: {each.direction} {what}, {'about' if each.is_estimate else 'at most'} {most} ({each.basis})"


def _nearest(each: Ceiling) -> str:
    if each.share > TOO_GOOD and not each.is_estimate:
        return f"above its own ceiling ({each.limit}): cache, compression, thin data or a wrong ceiling"
    return f"limited by {each.limit}" if each.share >= LIMITED else f"nearest limit: {each.limit}"
