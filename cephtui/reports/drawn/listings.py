"""Leftovers, presets and paths, in tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cephtui import units
from cephtui.models import Node
from cephtui.models.rows import Info, PresetRow
from cephtui.presets import choice_text, combinations
from cephtui.printable import one_line
from cephtui.reports.render.tables import add_row, make_table, plain
from cephtui.sessions.undo import Undo
from cephtui.targets.leftovers import connection_settings, describe
from cephtui.tools import TOOLS

_SWEPT_MOST = 3
"""Values of a sweep that are listed."""
_LEFT_MOST = 200
"""Leftovers that are listed; a line counts the others."""


def draw_left_behind(rows: Sequence[tuple[Path, Undo]], own: Mapping[str, Node]) -> RenderableType:
    """Leftovers, the sessions that left them, and how their nodes would be reached."""
    table = make_table("node", "left behind", "by session")
    for directory, undo in rows[:_LEFT_MOST]:
        add_row(table, one_line(undo.node), one_line(undo.target), directory.name)
    more = [Text(f"and {len(rows) - _LEFT_MOST} more")] if len(rows) > _LEFT_MOST else []
    ways = dict.fromkeys(connection_settings(undo, own) for _, undo in rows)
    reached = make_table("node", "reached", "")
    for way in list(ways)[:_LEFT_MOST]:
        name, is_own = one_line(way.listed.name), way.is_own and way.configured
        add_row(
            reached,
            name,
            describe(way.configured or way.listed) if is_own else way.unusable or describe(way.listed),
            "" if is_own else "only in its undo list: needs consent",
        )
    return Group(table, *more, Text(), reached)


def draw_presets(rows: Sequence[PresetRow]) -> RenderableType:
    """The presets, packaged or the user's."""
    yours = any(row.user for row in rows)
    names = ("key", "preset", "block", "depth")
    table = make_table(*names, *["yours"] * yours, "what it measures", whole=(*names, "yours"))
    groups = {""}
    for row in rows:
        if row.group not in groups and row.key is None:
            add_row(table, "", plain(row.group, "dim"))
        groups.add(row.group)
        if row.error:
            add_row(table, "", row.preset, "", "", *[""] * yours, Text(row.error, style="red"))
        else:
            blocks, depths = _blocks_and_depths(row)
            own = ["yours" if row.user else ""] * yours
            key = "" if row.key is None else str(row.key)
            add_row(table, key, row.preset, blocks, depths, *own, row.description)
    return table


def _blocks_and_depths(row: PresetRow) -> tuple[str, str]:
    """Of a sweep all values, or the first and the last: ``4k,64k`` and ``1..128``."""
    tool = TOOLS.get(row.tool)
    loads = [tool.bind(options).load() for options in combinations(tool, row.options)] if tool else []
    blocks = [units.short_size(load.block_bytes) if load.block_bytes else units.DASH for load in loads]
    return _swept(blocks), _swept([str(load.depth or units.DASH) for load in loads])


def _swept(values: Sequence[str]) -> str:
    each = list(dict.fromkeys(values))
    return ",".join(each) if len(each) <= _SWEPT_MOST else f"{each[0]}..{each[-1]}"


def draw_preset(row: PresetRow) -> RenderableType:
    """One preset in full."""
    table = Table.grid(padding=(0, 2))
    for option, value in row.options.items():
        shown = ", then ".join(map(choice_text, value)) if isinstance(value, list) else choice_text(value)
        add_row(table, option, shown)
    whose = "yours" if row.user else "packaged"
    heading = Text(f"{row.preset}: {row.title}", style="bold")
    return Group(heading, Text(row.description), "", table, "", Text(f"{whose}: {row.path}", style="dim"))


def draw_info(value: Info) -> RenderableType:
    """Versions and paths."""
    table = Table.grid(padding=(0, 2))
    add_row(table, "cephtui", value.cephtui_version)
    add_row(table, "python", value.python_version)
    for name, tool in TOOLS.items():
        add_row(table, name, value.tools.get(name, f"not installed: {tool.how_to_install}"))
    for path in value.presets:
        add_row(table, "presets", path)
    for name in ("sessions", "config", "cache", "log"):
        add_row(table, name, str(getattr(value, name)))
    return table
