"""Nodes, leftovers, presets, sessions and paths, in tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cephtui import units
from cephtui.models import Info, Node, NodeRow, PresetRow, SessionRow
from cephtui.printable import one_line
from cephtui.reports.tables import add_row, make_table, plain
from cephtui.reports.text import joined, short_version
from cephtui.sessions.undo import Undo
from cephtui.targets.leftovers import connection_settings, describe
from cephtui.tools import TOOLS

_LEFT_MOST = 200
"""Leftovers that are listed; a line counts the others."""


def draw_nodes(rows: Sequence[NodeRow]) -> RenderableType:
    """The state and software of each node, and what is missing there with the next step."""
    own = [name for name, tool in TOOLS.items() if not tool.of_ceph]
    table = make_table("node", "state", "round trip", "system", "tools", "ceph", "cluster", right=("round trip",))
    for row in rows:
        found = row.environment
        tools = found.tools if found else {}
        word = "not ready" if found else "unreachable"
        ready = Text("ready", style="green") if row.ready else Text(word, style="bold red")
        add_row(
            table,
            row.node,
            ready,
            units.latency(row.round_trip_seconds),
            (found.os if found else None) or units.DASH,
            Text("\n").join(plain(tools[name]) for name in own if name in tools) or units.DASH,
            short_version(tools.get("ceph")),
            row.cluster or "",
        )
    problems = [
        Text(f"{row.node}: {_without(row.node, text)}", style="yellow") for row in rows for text in row.problems
    ]
    lacking = [Text(f"{row.node}: where it is needed: {text}", style="dim") for row in rows for text in row.lacking]
    return Group(table, *problems, *lacking)


def _without(node: str, text: str) -> str:
    return text.removeprefix(f"{node}: ")


def draw_left_behind(rows: Sequence[tuple[Path, Undo]], own: Mapping[str, Node]) -> RenderableType:
    """Leftovers, the sessions that left them, and how their nodes would be reached."""
    table = make_table("node", "left behind", "by session")
    for directory, undo in rows[:_LEFT_MOST]:
        add_row(table, one_line(undo.node), one_line(undo.target), directory.name)
    more = [Text(f"and {len(rows) - _LEFT_MOST} more")] if len(rows) > _LEFT_MOST else []
    ways = dict.fromkeys(connection_settings(undo, own) for _, undo in rows)
    reached = make_table("node", "reached", "")
    for way in list(ways)[:_LEFT_MOST]:
        name, is_own = one_line(way.listed.name), way.is_own and way.own
        add_row(
            reached,
            name,
            describe(way.own or way.listed) if is_own else way.unusable or describe(way.listed),
            "" if is_own else "only in its undo list: needs consent",
        )
    return Group(table, *more, Text(), reached)


def draw_presets(rows: Sequence[PresetRow]) -> RenderableType:
    """The presets, packaged or the user's."""
    table = make_table("preset", "title", "", "what it measures")
    for row in rows:
        if row.error:
            add_row(table, row.preset, Text(row.error, style="red"))
        else:
            add_row(table, row.preset, row.title, "yours" if row.user else "", row.description)
    return table


def draw_preset(row: PresetRow) -> RenderableType:
    """One preset in full."""
    table = Table.grid(padding=(0, 2))
    for option, value in row.options.items():
        shown = ", then ".join(map(str, value)) if isinstance(value, list) else str(value)
        add_row(table, option, shown)
    whose = "yours" if row.user else "packaged"
    heading = Text(f"{row.preset}: {row.title}", style="bold")
    return Group(heading, Text(row.description), "", table, "", Text(f"{whose}: {row.path}", style="dim"))


def draw_sessions(rows: Sequence[SessionRow]) -> RenderableType:
    """The saved sessions, the oldest first."""
    if not rows:
        return Text("no sessions yet: cephtui run write-iops makes one")
    clusters = any(row.cluster for row in rows)
    table = make_table("session", "created", *["cluster"] * clusters, "runs", "presets", "outcomes", right=("runs",))
    table.columns[0].no_wrap = table.columns[1].no_wrap = True
    for row in rows:
        outcomes = joined((f"{number} {outcome}" for outcome, number in row.outcomes.items()), "outcomes")
        state = outcomes + (" (being written)" if row.writing else "")
        created = f"{row.created_at.astimezone():%Y-%m-%d %H:%M}" if row.created_at else "broken"
        cluster = [row.cluster or ""] * clusters
        add_row(table, row.session, created, *cluster, str(row.runs), joined(row.presets, "presets"), state)
    remarks = [plain(f"{row.session}: {text}", "dim") for row in rows if (text := _remarks(row))]
    errors = [plain(f"{row.session}: {row.error}", "red") for row in rows if row.error]
    return Group(table, *remarks, *errors)


def _remarks(row: SessionRow) -> str:
    """Tags, baseline and note."""
    baseline = "" if row.baseline is None else f"baseline #{row.baseline}"
    tags = f"tags {joined(row.tags, 'tags')}" if row.tags else ""
    return "; ".join(part for part in (tags, baseline, row.note) if part)


def draw_info(value: Info) -> RenderableType:
    """Versions and paths."""
    table = Table.grid(padding=(0, 2))
    add_row(table, "cephtui", value.cephtui_version)
    add_row(table, "python", value.python_version)
    for name, tool in TOOLS.items():
        add_row(table, name, value.tools.get(name, f"not installed: apt-get install {tool.package}"))
    for path in value.presets:
        add_row(table, "presets", path)
    for name in ("sessions", "config", "cache", "log"):
        add_row(table, name, str(getattr(value, name)))
    return table
