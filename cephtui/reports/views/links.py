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
_FIELDS = ("network", "source", "destination", "bandwidth_bytes", "retransmits", "rtt_seconds", "runs")
"""A link and its row have them alike."""
Grid = list[list[str]]


def _title(network: str, both_directions: bool) -> str:
    """``public network, both directions at once``."""
    where = f"{network} network" if network else "network between the given addresses"
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
    figures = ", ".join(f"{metric.title} {metric.text_of(slowest)}" for metric in (RETRANSMITS, RTT))
    more = f"{figures}, #{ranges(slowest.runs)}"
    return f"slowest: {' → '.join(slowest.ends)}, {BIT_RATE.as_text(slowest.bandwidth_bytes)}, {below} ({more})"


def links_view(links: Sequence[Link], session: str) -> View:
    """The network between the nodes: nothing for people of a single link."""
    return View(
        document=lambda: Document("network", "", tuple(links_blocks(links))),
        lines=lambda: link_rows(links, session),
        sheet=lambda: sheet_of(LinkRow, link_rows(links, session), "links"),
    )


def links_blocks(links: Sequence[Link]) -> Iterator[Block]:
    """The matrix of each kind, and which link is the slowest; nothing for a single link."""
    if len(links) < 2:
        return
    ordered = sorted(links, key=lambda link: (link.is_bidirectional, link.network != "public", link.network))
    for kind, same in groupby(ordered, key=lambda link: link.kind):
        alike = list(same)
        titles, *rows = grid_of(alike)
        yield Text("")
        yield Text(_title(*kind), "strong")
        yield Table(columns(titles, "l" + "r" * (len(titles) - 1)), tuple(map(tuple, rows)))
        if slowest := slowest_text(alike):
            yield Text(naming_runs(slowest, "limited"))


def link_rows(links: Iterable[Link], session: str) -> list[LinkRow]:
    """Links as rows for programs."""
    return [
        LinkRow(
            session=session,
            slowest=link.is_slowest,
            both=link.is_bidirectional,
            **{name: getattr(link, name) for name in _FIELDS},
        )
        for link in links
    ]
