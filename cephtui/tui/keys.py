"""Keys: one definition gives the binding, the command in the palette, and the line in the help."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding
from textual.screen import Screen
from textual.widgets import Footer
from textual.widgets._footer import FooterKey

_TOPICS = ("here", "run", "replay", "runs", "look", "more")
_SIGNS = {"question_mark": "?", "slash": "/", "escape": "esc", "plus": "+", "minus": "-", "equals_sign": "="}


def key(
    keys: str, action: str, word: str, about: str, topic: str, *, shown: bool = False, display: str | None = None
) -> Binding:
    """A key (or several, with commas) for an action: a word for the footer, and what it does for the help."""
    return Binding(keys, action, word, show=shown, key_display=display, tooltip=about, id=f"{topic}.{action}.{keys}")


def own(bindings: Iterable[ActiveBinding]) -> Iterable[ActiveBinding]:
    """Those that mean something here: what every list and scroll bar of Textual's can do is left out."""
    return (a for a in bindings if a.binding.description and (a.binding.id or isinstance(a.node, Screen)))


def help_table(bindings: Iterable[ActiveBinding]) -> Table:
    """All keys that work now, by topic."""
    topics: dict[str, dict[str, list[str]]] = {topic: {} for topic in _TOPICS}
    for active in own(bindings):
        binding = active.binding
        about = binding.tooltip or binding.description
        if about:
            topic = binding.id.partition(".")[0] if binding.id else "here"
            keys = topics.setdefault(topic, {}).setdefault(about, [])
            name = binding.key_display or _SIGNS.get(binding.key, binding.key)
            if name not in keys:
                keys.append(name)
    topics.setdefault("more", {})["all of this as commands, and the theme"] = ["ctrl+p"]
    table = Table.grid(padding=(0, 2))
    for topic, lines in topics.items():
        for row, (about, keys) in enumerate(lines.items()):
            table.add_row(Text("" if row else topic, "bold"), Text(" ".join(keys), "bold"), Text(about))
    return table


class KeyBar(Footer):
    """The most important keys; on a narrow terminal without those that the screen can spare there."""

    def __init__(self, *spared: str) -> None:
        """``spared`` are actions."""
        super().__init__(show_command_palette=False)
        self._spared = spared

    def compose(self) -> ComposeResult:
        """As the footer does."""
        for child in super().compose():
            if isinstance(child, FooterKey) and child.action.rpartition(".")[2] in self._spared:
                child.add_class("-spared")
            yield child
