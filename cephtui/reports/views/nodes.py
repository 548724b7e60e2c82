"""Nodes: whether they are ready, their tools, their disks and their network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from cephtui import units
from cephtui.ceph.answers import listed
from cephtui.models import Model
from cephtui.models.inventory import Disk, Nic
from cephtui.models.rows import NodeRow
from cephtui.reports.blocks import Block, Cell, Column, Document, Items, Table, Text, View, words
from cephtui.reports.sheets import Sheet, columns_of, sheet_of
from cephtui.reports.styles import Style
from cephtui.reports.words.cutting import joined
from cephtui.reports.words.text import short_version

_PRESETS_NAMED = 3
_PARTS = ("environment", "tools", "disks", "nics")
"""Fields of a node that are sheets of their own, or too many columns."""
T = TypeVar("T", bound=Model)


def nodes_view(rows: Sequence[NodeRow]) -> View:
    """The state of each node, then what they have, and what is missing or wrong there with the next step."""
    return View(
        document=lambda: Document("nodes", "", tuple(nodes_blocks(rows))),
        lines=lambda: rows,
        sheet=lambda: sheet_of(NodeRow, rows, "nodes", leaving_out=_PARTS),
        sheets=lambda: _sheets(rows),
    )


def _sheets(rows: Sequence[NodeRow]) -> Iterator[Sheet]:
    """The nodes, and a row for each of their parts."""
    yield sheet_of(NodeRow, rows, "nodes", leaving_out=_PARTS)
    for name in _PARTS[1:]:
        parts = [{"node": row.node, **columns_of(part)} for row in rows for part in getattr(row, name)]
        yield Sheet(name, tuple(dict.fromkeys(column for part in parts for column in part)), parts)


def nodes_blocks(rows: Sequence[NodeRow]) -> Iterator[Block]:
    """The tables of nodes, tools, disks and interfaces, then what is missing or wrong."""
    tables = [_states(rows), _tools(rows), _parts_of(rows, "disks", _DISK), _parts_of(rows, "nics", _NIC)]
    for number, table in enumerate(table for table in tables if table.rows):
        if number:
            yield Text("")
        yield table
    if texts := tuple(_texts(rows)):
        yield Text("")
        yield Items(texts)


def _states(rows: Sequence[NodeRow]) -> Table:
    heads = (*map(Column, ("node", "state")), Column("round trip", "r"), *map(Column, ("system", "ceph", "cluster")))
    return Table(heads, tuple(map(_state, rows)))


def _state(row: NodeRow) -> tuple[Cell, ...]:
    environment = row.environment
    word = "not ready" if environment else "unreachable"
    return (
        row.node,
        words(("ready", "ok") if row.ready else (word, "bad")),
        units.latency(row.round_trip_seconds),
        (environment.os if environment else None) or units.DASH,
        short_version(environment.tools.get("ceph") if environment else None),
        row.cluster or "",
    )


def _texts(rows: Sequence[NodeRow]) -> Iterator[Cell]:
    """What is missing, what is wrong, and what is missing where it is not needed."""
    problems = (f"{row.node}: {text.removeprefix(f'{row.node}: ')}" for row in rows for text in row.problems)
    yield from (words(problem, style="limited") for problem in problems)
    yield from _of_nodes(((row.node, text) for row in rows for text in row.findings), "limited")
    yield from _of_nodes(((row.node, f"where it is needed: {text}") for row in rows for text in row.lacking), "dim")


def _of_nodes(named: Iterable[tuple[str, str]], style: Style) -> Iterator[Cell]:
    """Texts, each once, behind the names of its nodes."""
    nodes: dict[str, list[str]] = {}
    for node, text in named:
        nodes.setdefault(text, []).append(node)
    return (words(f"{joined(names, 'nodes')}: {text}", style=style) for text, names in nodes.items())


def _tools(rows: Sequence[NodeRow]) -> Table:
    """Each version of a tool with the nodes that have it; ``-`` where it is missing."""
    having: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        for tool_row in row.tools:
            version = short_version(tool_row.version) if tool_row.version else units.DASH
            key = (tool_row.tool, version, listed(tool_row.presets, _PRESETS_NAMED))
            having.setdefault(key, []).append(row.node)
    heads = (Column("tool", is_whole=True), *map(Column, ("version", "on", "presets")))
    cells = (
        (tool, version, joined(names, "nodes") if len(rows) > 1 else "", presets)
        for (tool, version, presets), names in having.items()
    )
    return Table(heads, tuple(cells)).filled


def _parts_of(rows: Sequence[NodeRow], name: str, shown: Mapping[Column, Callable[[T], str]]) -> Table:
    """A row for each disk or interface, with a column for the node where there are several."""
    heads = Column("node", is_whole=True), *shown
    parts = [(row.node if len(rows) > 1 else "", part) for row in rows for part in getattr(row, name)]
    cells = tuple((node, *(text(part) for text in shown.values())) for node, part in parts)
    return Table(heads, cells).filled


_DISK: Mapping[Column, Callable[[Disk], str]] = {
    Column("disk", is_whole=True): lambda disk: disk.name,
    Column("class", is_whole=True): lambda disk: disk.device_class,
    Column("size", "r"): lambda disk: units.size(disk.size_bytes),
    Column("model"): lambda disk: disk.model or units.DASH,
    Column("OSDs"): lambda disk: ", ".join(disk.osds),
}
_NIC: Mapping[Column, Callable[[Nic], str]] = {
    Column("NIC", is_whole=True): lambda nic: nic.name,
    Column("kind", is_whole=True): lambda nic: nic.kind or units.DASH,
    Column("speed", "r"): lambda nic: _speed(nic),
    Column("MTU", "r"): lambda nic: units.DASH if nic.mtu is None else str(nic.mtu),
    Column("made of"): lambda nic: ", ".join(nic.members),
    Column("addresses"): lambda nic: ", ".join(nic.addresses),
}


def _speed(nic: Nic) -> str:
    """One that is down has that in the place of its speed."""
    if nic.state == "down":
        return "down"
    return units.DASH if nic.bits_per_second is None else units.bit_rate(nic.bits_per_second)
