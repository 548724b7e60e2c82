"""What a host has for measuring, and what it lacks, on one screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from cephtui import units
from cephtui.analysis.detectors.host import FOLDERS, can_measure
from cephtui.models.host import HostRow
from cephtui.printable import listed
from cephtui.reports.blocks import Block, Cell, Column, Table, Text, View, document, words
from cephtui.reports.sheets import sheet_of
from cephtui.reports.words.cutting import joined

_TITLES = {"machine": "machine", "programs": "programs", "ceph": "Ceph", "proxmox": "Proxmox", "ssh": "SSH"}
_SIGNS: Mapping[str, Cell] = {
    "works": words(("ok", "ok")),
    "missing": words(("no", "bad")),
    "unknown": words(("? ", "limited")),
    "optional": words(("- ", "dim")),
}
"""As wide as each other, so that the tables of several nodes are alike."""
_GROUP_COLUMNS = 8
_Line: TypeAlias = tuple[Cell, Cell, Cell]
"""A sign, what it is of, and what stands beside that where there is room."""
_TARGETS_MOST, _NAMED_MOST = 5, 8


def host_view(rows: Sequence[HostRow]) -> View:
    """The answer, then what works, what is missing with the next step, and what can be tried."""
    return View(
        document=lambda: document("", *_blocks(rows)),
        lines=lambda: rows,
        sheet=lambda: sheet_of(HostRow, rows, "host"),
    )


def _blocks(rows: Sequence[HostRow]) -> Iterator[Block]:
    yield _answer(rows)
    yield Text("")
    nodes = dict.fromkeys(row.node for row in rows)
    for node in nodes:
        if len(nodes) > 1:
            yield Text(node, "strong")
        shown = [row for row in rows if row.node == node]
        yield _table([(title, _lines([row for row in shown if row.group == name])) for name, title in _TITLES.items()])
        if can_measure(rows) and (targets := [row for row in shown if row.group == "targets"]):
            yield _table([("try", _tries(targets))])


def _answer(rows: Sequence[HostRow]) -> Text:
    if can_measure(rows):
        missing = sum(row.status == "missing" for row in rows)
        more = f" {missing} optional thing{'s' * (missing > 1)} {'are' if missing > 1 else 'is'} missing."
        return Text(f"Ready to measure.{more if missing else ''}", "good")
    first = next(row for row in rows if row.essential and row.status != "works")
    on = f"{first.node}: " if len({row.node for row in rows}) > 1 and first.what != "node" else ""
    return Text(f"Not ready to measure: {on}{_problem(first)}", "bad")


def _table(groups: Iterable[tuple[str, Iterable[_Line]]]) -> Table:
    """The lines of groups, each title once; what stands beside a line is left out where there is no room for it."""
    rows = [
        (words((("" if number else title).ljust(_GROUP_COLUMNS), "strong")), *line)
        for title, lines in groups
        for number, line in enumerate(lines)
    ]
    heads = (Column(is_whole=True), Column(is_whole=True), Column(), Column(rank=1))
    return Table(heads, tuple(rows))


def _lines(rows: Sequence[HostRow]) -> Iterator[_Line]:
    """Lines for what works, as few as it takes, then one for each cause of what does not."""
    for text in _together([row for row in rows if row.status == "works"]):
        yield _SIGNS["works"], text, ""
    for status in ("missing", "unknown", "optional"):
        rows_by_problem: dict[tuple[str, str], list[HostRow]] = {}
        for row in rows:
            if row.status == status:
                rows_by_problem.setdefault((row.problem, row.cure if status != "optional" else ""), []).append(row)
        for same in rows_by_problem.values():
            yield _SIGNS[status], words(_problem(*same), style="dim" if status == "optional" else ""), ""


def _together(rows: Sequence[HostRow]) -> Iterator[str]:
    """Programs, and what the system is, stand in a line; folders too while nothing else is to be reported of them."""
    programs = [f"{row.what} {row.facts.get('version', '')}".strip() for row in rows if row.group == "programs"]
    if programs:
        yield joined(programs, "programs")
    folders = [row for row in rows if row.group == "machine" and row.what in FOLDERS]
    system = [_SAID[row.what](row.facts) for row in rows if row.group == "machine" and row.what in ("node", "Python")]
    if system:
        yield ", ".join(reversed(system))
    for row in rows:
        if row.group != "programs" and row not in folders and row.what not in ("node", "Python"):
            yield _SAID[row.what](row.facts)
    if folders:
        free = [int(row.facts["free_bytes"]) for row in folders if "free_bytes" in row.facts]
        room = f" ({units.size(min(free))} free)" if free else ""
        yield f"folders can be written: {', '.join(row.what for row in folders)}{room}"


def _problem(*rows: HostRow) -> str:
    """A line for rows with the same cause."""
    names, first = ", ".join(filter(None, map(_named, rows))), rows[0]
    joint = " is " if first.problem == "not installed" else ": " if names else ""
    text = f"{names}{joint}{first.problem}"
    cure = "" if first.status == "optional" and len(rows) > 1 else first.cure
    return f"{text}: {cure}" if cure else text


def _named(row: HostRow) -> str:
    """A problem of the cluster names it, with who asked; one of a node has its name."""
    if row.what == "node":
        return ""
    if row.what == "cluster":
        return f"as {_access(row.facts)}" if "client" in row.facts else ""
    path = row.facts.get("path")
    return f"{row.what} ({path})" if path else row.what


def _tries(rows: Sequence[HostRow]) -> Iterator[_Line]:
    """The commands, each with a few words."""
    for row in rows[:_TARGETS_MOST]:
        yield words(("$ ", "dim")), row.cure, words((f"# {row.facts.get('about', '')}", "dim"))
    if len(rows) > _TARGETS_MOST:
        yield "", words((f"and {len(rows) - _TARGETS_MOST} more: cephtui doctor --json lists them", "dim")), ""


# ---------------------------------------------------------------------------------------------- in words

Facts = Mapping[str, object]


def _listed(*parts: object) -> str:
    return ", ".join(str(part) for part in parts if part not in (None, "", 0))


def _some(names: object) -> str:
    """The first of names with commas between them, and how many more there are."""
    return listed(str(names).split(", "), _NAMED_MOST)


def _node(facts: Facts) -> str:
    kernel = f"kernel {facts['kernel']}" if "kernel" in facts else ""
    return _listed(facts.get("os") or facts.get("name"), kernel)


def _terminal(facts: Facts) -> str:
    colors = {"none": "no colours", "truecolor": "all colours"}.get(str(facts["colors"]), f"{facts['colors']} colours")
    size = f"{facts['columns']}x{facts['rows']}" if "columns" in facts else ""
    return f"terminal: {_listed(colors, facts['characters'], size)}"


def _cluster(facts: Facts) -> str:
    osds = facts.get("osds")
    gateways = f"S3 at {facts['gateways']}" if "gateways" in facts else ""
    return _listed(
        facts.get("release"), facts.get("health"), f"{osds} OSDs" if osds else "", f"as {_access(facts)}", gateways
    )


def _access(facts: Facts) -> str:
    return f"{facts['client']} ({facts['conf']})"


def _proxmox(facts: Facts) -> str:
    other_nodes = facts.get("others")
    version = f"VE {facts['version']}" if "version" in facts else "VE"
    return _listed(version, f"node {facts.get('node')}", f"with {_some(other_nodes)}" if other_nodes else "")


def _keys(facts: Facts) -> str:
    agent = facts.get("agent_keys")
    hosts = f"{facts['hosts']} hosts in the SSH configuration" if "hosts" in facts else ""
    return _listed(f"{agent} keys of the agent" if agent else "no agent", facts.get("keys"), hosts)


_SAID: Mapping[str, Callable[[Facts], str]] = {
    "Python": lambda facts: f"Python {facts['version']}",
    "node": _node,
    "terminal": _terminal,
    "cluster": _cluster,
    "Proxmox VE": _proxmox,
    "storages": lambda facts: f"storages: {_some(facts.get('names', 'none'))}",
    "keys": _keys,
}
"""How the facts of what works are worded."""
