"""The network between nodes as a matrix, from the sender to the receiver: text, Markdown and rows of JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from rich.text import Text

from cephtui import units
from cephtui.analysis.links import Link
from cephtui.models.metrics import BIT_RATE, RETRANSMITS, RTT
from cephtui.models.rows import LinkRow
from cephtui.reports.facts import ranges
from cephtui.reports.gfm import table

_SLOWEST, _SLOWEST_ASCII = "▼", "v"
_CORNER = "from \\ to"
Grid = list[list[str]]


def _by_kind(links: Iterable[Link]) -> list[tuple[str, list[Link]]]:
    """Those that can be compared, with what they are."""
    found = sorted(links, key=lambda link: (link.both, link.network != "public", link.network))
    return [(_title(*kind), list(alike)) for kind, alike in groupby(found, key=lambda link: link.kind)]


def _title(network: str, both: bool) -> str:
    """``public network, both directions at once``."""
    where = f"{network} network" if network else "network at the addresses that were typed"
    return f"{where}, {'both directions at once' if both else 'one direction at a time'}"


def grid_of(links: Sequence[Link], *, ascii_only: bool = False) -> Grid:
    """Node by node, the names first; the slowest marked, a dash for what was not measured."""
    nodes = sorted({name for link in links for name in link.ends})
    by_ends: Mapping[tuple[str, str], Link] = {link.ends: link for link in links}
    sign = _SLOWEST_ASCII if ascii_only else _SLOWEST
    rows = [
        [source, *(_cell(by_ends.get((source, to)), sign) if to != source else "" for to in nodes)] for source in nodes
    ]
    return [[_CORNER, *nodes], *rows]


def _cell(link: Link | None, sign: str) -> str:
    if link is None:
        return units.DASH
    return f"{BIT_RATE.as_text(link.bandwidth_bytes)}{f' {sign}' if link.is_slowest else ''}"


def slowest_text(links: Sequence[Link], *, ascii_only: bool = False) -> str:
    """``slowest: a -> c, 188 Mbit/s, 80 % below the median of 6 links (retransmits 12, rtt -, #3)``; empty for one."""
    found = next((link for link in links if link.is_slowest), None)
    if found is None:
        return ""
    below = f"{units.percent(100 * found.below_median)} below the median of {len(links)} links"
    more = f"{_figures(found)}, #{ranges(found.runs)}"
    ends = _ends_text(found, ascii_only=ascii_only)
    return f"slowest: {ends}, {BIT_RATE.as_text(found.bandwidth_bytes)}, {below} ({more})"


def _ends_text(link: Link, *, ascii_only: bool) -> str:
    return f" {'->' if ascii_only else '→'} ".join(link.ends)


def _figures(link: Link) -> str:
    return ", ".join(f"{metric.title} {metric.text_of(link)}" for metric in (RETRANSMITS, RTT))


def link_lines(links: Iterable[Link], *, ascii_only: bool = False) -> list[Text]:
    """The matrix of each kind in aligned columns, and which link is the slowest."""
    lines: list[Text] = []
    for title, alike in _by_kind(links):
        lines += [Text()] * bool(lines)
        lines.append(Text(title, "bold"))
        grid = grid_of(alike, ascii_only=ascii_only)
        widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
        for row in grid:
            text = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            lines.append(Text(text.rstrip()))
        if slowest := slowest_text(alike, ascii_only=ascii_only):
            lines.append(Text(slowest, "yellow"))
    return lines


def links_markdown(links: Iterable[Link]) -> str:
    """The same as tables; empty without any."""
    parts = []
    for title, alike in _by_kind(links):
        columns, *rows = grid_of(alike)
        drawn = "\n".join(table(columns, "l" + "r" * (len(columns) - 1), rows))
        slowest = slowest_text(alike).replace("#", "run ")
        parts.append("\n\n".join(filter(None, (f"**{title}**", drawn, slowest))))
    return "".join(f"\n{part}\n" for part in parts)


def links_in_tables(links: Iterable[Link]) -> list[tuple[str, Grid, str]]:
    """Of each kind what it is, the matrix, and which link is the slowest; empty for a single one."""
    return [(title, grid_of(alike), slowest_text(alike)) for title, alike in _by_kind(links)]


def link_rows(links: Iterable[Link], session: str) -> list[LinkRow]:
    """As JSON Lines."""
    return [
        LinkRow(
            session=session,
            network=link.network,
            both=link.both,
            source=link.source,
            destination=link.destination,
            bandwidth_bytes=link.bandwidth_bytes,
            retransmits=link.retransmits,
            rtt_seconds=link.rtt_seconds,
            runs=link.runs,
            slowest=link.is_slowest,
        )
        for link in links
    ]
