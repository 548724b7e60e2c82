"""What a host has for measuring, and what it lacks, on one screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cephtui import units
from cephtui.analysis.detectors.host import FOLDERS, can_measure
from cephtui.models.host import HostRow
from cephtui.printable import listed
from cephtui.reports.render.tables import Fitting, plain
from cephtui.reports.words.text import joined

_TITLES = {
    "machine": "machine",
    "programs": "programs",
    "ceph": "Ceph",
    "proxmox": "Proxmox",
    "ssh": "SSH",
    "targets": "try",
}
_SIGNS = {"works": ("ok", "green"), "missing": ("no", "bold red"), "unknown": ("?", "yellow"), "optional": ("-", "dim")}
_GROUP_COLUMNS, _SIGN_COLUMNS = 8, 2
"""At least, so that the tables of several nodes are alike."""
_TARGETS_MOST, _NAMED_MOST = 5, 8


def draw_host(rows: Sequence[HostRow]) -> RenderableType:
    """The answer, then what works, what is missing with the next step, and what can be tried."""
    parts: list[RenderableType] = [_answer(rows), Text()]
    by_node: dict[str, list[HostRow]] = {}
    for row in rows:
        by_node.setdefault(row.node, []).extend([row] if row.group != "targets" or can_measure(rows) else [])
    for node, rows_of_node in by_node.items():
        parts += [plain(node, "bold underline")] if len(by_node) > 1 else []
        parts.append(_table(rows_of_node))
    return Group(*parts)


def _answer(rows: Sequence[HostRow]) -> Text:
    if can_measure(rows):
        missing = sum(row.status == "missing" for row in rows)
        more = f" {missing} thing{'s' * (missing > 1)} that it could use {'are' if missing > 1 else 'is'} missing."
        return Text(f"Ready to measure.{more if missing else ''}", style="bold green")
    first = next(row for row in rows if row.essential and row.status != "works")
    on = f"{first.node}: " if len({row.node for row in rows}) > 1 and first.what != "node" else ""
    return plain(f"Not ready to measure: {on}{_problem(first)}", "bold red")


def _table(rows: Sequence[HostRow]) -> Table:
    """The rows of a node by groups, each title once."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), show_header=False)
    for column, width in (("group", _GROUP_COLUMNS), ("sign", _SIGN_COLUMNS)):
        table.add_column(column, no_wrap=True, min_width=width)
    table.add_column("what", overflow="fold")
    for group, title in _TITLES.items():
        shown = [row for row in rows if row.group == group]
        lines = _tries(shown) if group == "targets" else _lines(shown)
        for number, (sign, line) in enumerate(lines):
            table.add_row(Text(title if number == 0 else "", style="bold"), sign, line)
    return table


def _lines(rows: Sequence[HostRow]) -> Iterator[tuple[Text, RenderableType]]:
    """What works in as few lines as it takes, then a line for each cause of what does not."""
    works = [row for row in rows if row.status == "works"]
    for text in _together(works):
        yield Text(*_SIGNS["works"]), plain(text)
    for status in ("missing", "unknown", "optional"):
        rows_by_problem: dict[tuple[str, str], list[HostRow]] = {}
        for row in rows:
            if row.status == status:
                rows_by_problem.setdefault((row.problem, row.cure if status != "optional" else ""), []).append(row)
        for same in rows_by_problem.values():
            yield Text(*_SIGNS[status]), plain(_problem(*same), "dim" if status == "optional" else "")


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
    """Of rows with the same cause, in a line."""
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


def _tries(rows: Sequence[HostRow]) -> Iterator[tuple[Text, RenderableType]]:
    """The commands, each with a few words where there is room."""
    for row in rows[:_TARGETS_MOST]:
        command = plain(row.cure)
        about = plain(f"  # {row.facts.get('about', '')}", "dim")
        yield Text("$", style="dim"), Fitting(Text.assemble(command, about), command)
    if len(rows) > _TARGETS_MOST:
        yield Text(), plain(f"and {len(rows) - _TARGETS_MOST} more: cephtui doctor --json lists them", "dim")


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
