"""The picker of nodes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from rich.console import RenderableType
from textual import work
from textual.widgets import Static

from cephtui.config import Config, ConfigError, parse_node
from cephtui.reports.masking.mask import Names, names_in, names_of_hosts
from cephtui.targets.discovery import KnownNode
from cephtui.tui.dialogs import Details
from cephtui.tui.keys import ANY_LETTER, key
from cephtui.tui.pickers.picker import Filter, Picker
from cephtui.tui.widgets.pick_list import PickRow

_TYPED = "typed"
_MARK = key("space", "screen.mark", "mark", "mark the node, or all nodes of the group", priority=True)


class NodeDetails(Details):
    """What nodes have: tools, disks, network interfaces."""

    def __init__(self, names: str, read: Callable[[], Awaitable[RenderableType]]) -> None:
        super().__init__(f" {names} ", "reading tools, disks and network interfaces ...")
        self._read = read

    def on_mount(self) -> None:
        self._show()

    @work
    async def _show(self) -> None:
        self.query_one(Static).update(await self._read())


class NameFilter(Filter):
    """There is no blank in a node's name: space is for marks."""

    BINDINGS = [_MARK]


class NodePicker(Picker[tuple[str, ...]]):
    """The nodes to run on; a group stands for its members."""

    TITLE_TEXT = "nodes"
    PLACEHOLDER = "type to filter, or [user@]host[:port]"
    FILTER = NameFilter
    BINDINGS = [
        _MARK,
        key("ctrl+d", "details", "details", "tools, disks and network interfaces of the node", priority=True),
        key(f"{ANY_LETTER},slash", "filter", "filter", "filter, or type [user@]host[:port]"),
        key("enter", "use", "use", "use the marked nodes, or without a mark the highlighted one", priority=True),
    ]

    def __init__(
        self,
        config: Config,
        nodes: Sequence[KnownNode],
        chosen: Sequence[str],
        reports: Mapping[str, str],
        details: Callable[[Sequence[str]], Awaitable[RenderableType]],
    ) -> None:
        """``chosen`` are names as they were typed; ``reports`` say of nodes that were reached how they are.

        ``details`` draws what nodes of these names have.
        """
        super().__init__()
        self._config, self._reports, self._details = config, reports, details
        self._by_name = {node.name: node for node in nodes}
        self._marked = list(self._members(chosen))
        for name in self._marked:
            self._by_name.setdefault(name, KnownNode(name, "typed"))
        self._touched = False

    def first(self) -> str | None:
        return self._marked[0] if self._marked else None

    def names_to_hide(self) -> Names:
        """Names of all nodes that can be chosen."""
        nodes = (*self._config.nodes.values(), *self._config.neighbours.values())
        return {**names_of_hosts(self._by_name), **names_in(nodes)}

    # ------------------------------------------------------------------ rows

    def rows(self) -> list[PickRow]:
        """Known nodes, then what was typed."""
        return [*map(self._row, self._by_name.values()), *self._typed_rows()]

    def _row(self, node: KnownNode) -> PickRow:
        return PickRow(
            node.name, (self._sign(node.name), node.name), "; ".join(filter(None, [node.text, self._report(node)]))
        )

    def _report(self, node: KnownNode) -> str:
        return self._reports.get(node.name if node.members else self._name_of(node.name), "")

    def _name_of(self, text: str) -> str:
        """The node's name, where it was typed with a user."""
        if text in self._reports:
            return text
        try:
            return parse_node(text, None).name
        except ValueError:
            return text

    def _sign(self, name: str) -> str:
        members = self._members([name])
        marked = [member in self._marked for member in members]
        return "[x]" if marked and all(marked) else "[-]" if any(marked) else "[ ]"

    def _typed_rows(self) -> Iterator[PickRow]:
        if not self.filter_text or self.filter_text in self._by_name:
            return
        try:
            parse_node(self.filter_text, None)
        except ValueError:
            return
        yield PickRow(_TYPED, ("[ ]", self.filter_text), "use what is typed", always=True)

    def note(self) -> str:
        """What enter would do."""
        row = self.highlighted
        if row is None and self.filter_text:
            return "expected [user@]host[:port] or a name from the list"
        return f"space marks; enter uses {', '.join(self._would_use(row)) or 'nothing yet'}"

    # ------------------------------------------------------------------ marks

    def _members(self, names: Iterable[str]) -> tuple[str, ...]:
        """The nodes of these names and groups, each once."""
        nodes = (self._by_name[name].members or (name,) if name in self._by_name else (name,) for name in names)
        return tuple(dict.fromkeys(name for some in nodes for name in some))

    def _named_in(self, row: PickRow) -> str:
        return row.cells[1]

    def _would_use(self, row: PickRow | None) -> tuple[str, ...]:
        """What is marked; where nothing was marked anew, the node that the keys are at."""
        if row is None or self._touched or self._named_in(row) in self._marked:
            return tuple(self._marked)
        return self._members([self._named_in(row)])

    def action_mark(self) -> None:
        """Mark the highlighted node, or take its mark away."""
        row = self.highlighted
        if row is None:
            return
        name, self._touched = self._named_in(row), True
        members = self._members([name])
        if self._sign(name) == "[x]":
            self._marked = [other for other in self._marked if other not in members]
        else:
            self._marked += [member for member in members if member not in self._marked]
        if row.key == _TYPED:
            self._by_name[name] = KnownNode(name, "typed")
            self.query_one(Filter).value = ""
        self.show_rows(highlight=name, follow=row.key == _TYPED)

    def action_details(self) -> None:
        """Show what the highlighted node has, or each of the group."""
        if self.highlighted is not None:
            names = [self._name_of(name) for name in self._members([self._named_in(self.highlighted)])]
            self.app.push_screen(NodeDetails(", ".join(names), partial(self._details, names)))

    def click(self, row: PickRow) -> None:
        self.action_mark()

    def use(self, row: PickRow | None) -> None:
        names = self._would_use(row)
        try:
            self._config.choose(names)
        except ConfigError as error:
            self.notify(str(error), title="can't be used", severity="warning", markup=False)
            return
        if names:
            self.dismiss(names)
        else:
            self.notify("mark at least one node with space", severity="warning")
