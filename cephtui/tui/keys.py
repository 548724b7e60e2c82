"""Keys: one definition gives the binding, the command in the palette, and the line in the help."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text
from textual.binding import ActiveBinding, Binding

_SIGNS = {"question_mark": "?", "slash": "/", "escape": "esc", "plus": "+", "minus": "-", "equals_sign": "="}


def key(
    keys: str, action: str, word: str, about: str, topic: str, *, shown: bool = False, display: str | None = None
) -> Binding:
    """A key (or several, with commas) for an action: a word for the footer, and what it does for the help."""
    return Binding(keys, action, word, show=shown, key_display=display, tooltip=about, id=f"{topic}.{action}.{keys}")


def help_table(bindings: Iterable[ActiveBinding]) -> Table:
    """All keys that work now, by topic."""
    topics: dict[str, dict[str, list[str]]] = {}
    for active in bindings:
        binding = active.binding
        about = binding.tooltip or binding.description
        if about:
            topic = binding.id.partition(".")[0] if binding.id else "more"
            keys = topics.setdefault(topic, {}).setdefault(about, [])
            name = binding.key_display or _SIGNS.get(binding.key, binding.key)
            if name not in keys:
                keys.append(name)
    table = Table.grid(padding=(0, 2))
    for topic, lines in topics.items():
        for row, (about, keys) in enumerate(lines.items()):
            table.add_row(Text("" if row else topic, "bold"), Text(" ".join(keys), "bold"), Text(about))
    return table
