"""The network between nodes as a matrix, from the sender to the receiver."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from cephtui import units
from cephtui.analysis.runs.links import Link
from cephtui.models.metrics import BIT_RATE, RETRANSMITS, RTT
from cephtui.models.rows import LinkRow
from cephtui.reports.blocks import Block, Document, Table, Text, View, columns, naming_runs
from cephtui.reports.sheets import sheet_of
from cephtui.reports.words.facts import ranges

_SLOWEST = "▼"
_CORNER = "from \\ to"
Grid = list[list[str]]


def _by_kind(links: Iterable[Link]) -> list[tuple[str, list[Link]]]:
    """Those that can be compared, with what they are."""
    ordered = sorted(links, key=lambda link: (link.both, link.network != "public", link.network))
    return [(_title(*kind), list(alike)) for kind, alike in groupby(ordered, key=lambda link: link.kind)]


def _title(network: str, both_directions: bool) -> str:
    """``public network, both directions at once``."""
    where = f"{network} network" if network else "network at the addresses that were typed"
    return f"{where}, {'both directions at once' if both_directions else 'one direction at a time'}"


def grid_of(links: Sequence[Link]) -> Grid:
    """Node by node, the names first; the slowest marked, a dash for what was not measured."""
    nodes = sorted({name for link in links for name in link.ends})
    by_ends: Mapping[tuple[str, str], Link] = {link.ends: link for link in links}
    rows = [[source, *(_cell(by_ends.get((source, to))) if to != source else "" for to in nodes)] for source in nodes]
    return [[_CORNER, *nodes], *rows]


def _cell(link: Link | None) -> str:
    if link is None:
        return units.DASH
    return f"{BIT_RATE.as_text(link.bandwidth_bytes)}{f' {_SLOWEST}' if link.is_slowest else ''}"


def slowest_text(links: Sequence[Link]) -> str:
    """``slowest: a -> c, 188 Mbit/s, 80 % below the median of 6 links (retransmits 12, rtt -, #3)``; empty for one."""
    slowest = next((link for link in links if link.is_slowest), None)
    if slowest is None:
        return ""
    below = f"{units.percent(100 * slowest.below_median)} below the median of {len(links)} links"
    more = f"{_figures(slowest)}, #{ranges(slowest.runs)}"
    return f"slowest: {' → '.join(slowest.ends)}, {BIT_RATE.as_text(slowest.bandwidth_bytes)}, {below} ({more})"


def _figures(link: Link) -> str:
    return ", ".join(f"{metric.title} {metric.text_of(link)}" for metric in (RETRANSMITS, RTT))


def links_view(links: Sequence[Link], session: str) -> View:
    """The network between the nodes: nothing for people of a single link."""
    return View(
        document=lambda: Document("network", "", tuple(links_blocks(links))),
        lines=lambda: link_rows(links, session),
        sheet=lambda: sheet_of(LinkRow, link_rows(links, session), "links"),
    )


def links_blocks(links: Sequence[Link]) -> Iterator[Block]:
    """The matrix of each kind, and which link is the slowest; nothing for a single link."""
    for title, alike in _by_kind(links) if len(links) > 1 else ():
        titles, *rows = grid_of(alike)
        yield Text("")
        yield Text(title, "strong")
        yield Table(columns(titles, "l" + "r" * (len(titles) - 1)), tuple(map(tuple, rows)))
        if slowest := slowest_text(alike):
            yield Text(naming_runs(slowest, "limited"))


def link_rows(links: Iterable[Link], session: str) -> list[LinkRow]:
    """As JSON Lines."""
    return [
        LinkRow(
            session=session,
            network=link.network,
            both=link.is_bidirectional,
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
