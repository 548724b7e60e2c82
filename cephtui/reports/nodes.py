"""Nodes: whether they are ready, their tools, their disks and their network, in tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cephtui import units
from cephtui.ceph.answers import listed
from cephtui.models.inventory import Disk, Nic
from cephtui.models.rows import NodeRow
from cephtui.reports.tables import add_row, make_table, plain
from cephtui.reports.text import joined, short_version

_PRESETS_NAMED = 3


def draw_nodes(rows: Sequence[NodeRow]) -> RenderableType:
    """The state of each node, then what they have, and what is missing or wrong there with the next step."""
    parts = [_states(rows), *_tools(rows), *_disks(rows), *_nics(rows)]
    return Group(*_apart(parts), *_texts(rows))


def _apart(parts: Sequence[RenderableType]) -> list[RenderableType]:
    """With an empty line between them."""
    return [each for part in parts for each in (part, Text())][:-1]


def _states(rows: Sequence[NodeRow]) -> Table:
    table = make_table("node", "state", "round trip", "system", "ceph", "cluster", right=("round trip",))
    for row in rows:
        found = row.environment
        word = "not ready" if found else "unreachable"
        add_row(
            table,
            row.node,
            Text("ready", style="green") if row.ready else Text(word, style="bold red"),
            units.latency(row.round_trip_seconds),
            (found.os if found else None) or units.DASH,
            short_version(found.tools.get("ceph") if found else None),
            row.cluster or "",
        )
    return table


def _texts(rows: Sequence[NodeRow]) -> list[Text]:
    """What is missing, what is wrong, and what is missing where it is not needed."""
    problems = [plain(f"{row.node}: {_without(row.node, text)}", "yellow") for row in rows for text in row.problems]
    findings = _of_nodes(((row.node, text) for row in rows for text in row.findings), "yellow")
    lacking = _of_nodes(((row.node, f"where it is needed: {text}") for row in rows for text in row.lacking), "dim")
    return [*[Text()] * bool(problems or findings or lacking), *problems, *findings, *lacking]


def _of_nodes(said: Iterable[tuple[str, str]], style: str) -> list[Text]:
    """Each text once, behind the names of its nodes."""
    nodes: dict[str, list[str]] = {}
    for node, text in said:
        nodes.setdefault(text, []).append(node)
    return [plain(f"{joined(names, 'nodes')}: {text}", style) for text, names in nodes.items()]


def _without(node: str, text: str) -> str:
    return text.removeprefix(f"{node}: ")


def _table(rows: Sequence[NodeRow], *columns: str, right: Iterable[str] = (), whole: Iterable[str] = ()) -> Table:
    """With a column for the node where there are several."""
    names = ("node",) * (len(rows) > 1)
    return make_table(*names, *columns, right=right, whole=(*names, *whole))


def _tools(rows: Sequence[NodeRow]) -> list[Table]:
    """Each version of a tool with the nodes that have it; ``-`` where it is missing."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        for each in row.tools:
            version = short_version(each.version) if each.version else units.DASH
            key = (each.tool, version, listed(each.presets, _PRESETS_NAMED))
            found.setdefault(key, []).append(row.node)
    if not found:
        return []
    on = ("on",) * (len(rows) > 1)
    table = make_table("tool", "version", *on, "presets", whole=("tool",))
    for (tool, version, presets), names in found.items():
        add_row(table, tool, version, *[joined(names, "nodes")] * len(on), presets)
    return [table]


def _disks(rows: Sequence[NodeRow]) -> list[Table]:
    if not any(row.disks for row in rows):
        return []
    table = _table(rows, "disk", "class", "size", "model", "OSDs", right=("size",), whole=("disk", "class"))
    for row in rows:
        for disk in row.disks:
            add_row(table, *[row.node] * (len(rows) > 1), *_disk_cells(disk))
    return [table]


def _disk_cells(disk: Disk) -> tuple[str, ...]:
    return disk.name, disk.device_class, units.size(disk.size_bytes), disk.model or units.DASH, ", ".join(disk.osds)


def _nics(rows: Sequence[NodeRow]) -> list[Table]:
    if not any(row.nics for row in rows):
        return []
    whole = ("NIC", "kind")
    table = _table(rows, "NIC", "kind", "speed", "MTU", "made of", "addresses", right=("speed", "MTU"), whole=whole)
    for row in rows:
        for nic in row.nics:
            add_row(table, *[row.node] * (len(rows) > 1), *_nic_cells(nic))
    return [table]


def _nic_cells(nic: Nic) -> tuple[str, ...]:
    """One that is down has that in the place of its speed."""
    speed = units.DASH if nic.bits_per_second is None else units.bit_rate(nic.bits_per_second)
    return (
        nic.name,
        nic.kind or units.DASH,
        speed if nic.state != "down" else "down",
        units.DASH if nic.mtu is None else str(nic.mtu),
        ", ".join(nic.members),
        ", ".join(nic.addresses),
    )
