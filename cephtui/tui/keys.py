"""Keys: one definition gives the binding, the command in the palette, and the line in the help."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text
from textual.binding import ActiveBinding, Binding
from textual.content import Content
from textual.events import Click
from textual.screen import Screen
from textual.widgets import Static

_WIDE_COLUMNS = 100
_TEXTUALS = ("app.focus_", "screen.copy_", "screen.minimize", "screen.maximize", "app.help_quit")
_TOPICS = ("here", "run", "replay", "runs", "look", "more")
_SIGNS = {
    "enter": "enter",
    "question_mark": "?",
    "slash": "/",
    "escape": "esc",
    "plus": "+",
    "minus": "-",
    "equals_sign": "=",
}


def key(
    keys: str, action: str, word: str, about: str, topic: str, *, shown: bool = False, display: str | None = None
) -> Binding:
    """A key (or several, with commas) for an action: a word for the footer, and what it does for the help."""
    return Binding(keys, action, word, show=shown, key_display=display, tooltip=about, id=f"{topic}.{action}.{keys}")


def own(bindings: Iterable[ActiveBinding]) -> Iterable[ActiveBinding]:
    """Those that mean something here: what every list and scroll bar of Textual's can do is left out."""
    return (
        a
        for a in bindings
        if a.binding.description
        and (a.binding.id or isinstance(a.node, Screen))
        and not a.binding.action.startswith(_TEXTUALS)
    )


def help_table(bindings: Iterable[ActiveBinding]) -> Table:
    """All keys that work now, by topic."""
    topics: dict[str, dict[str, list[str]]] = {topic: {} for topic in _TOPICS}
    for active in own(bindings):
        binding = active.binding
        about = binding.tooltip if binding.id else binding.tooltip or binding.description
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


class KeyBar(Static):
    """The most important keys, to be clicked too; on a narrow terminal without those that the screen can spare there.

    Textual's own footer is a widget for each key, and took 50 ms of the 150 that the first frame takes.
    """

    DEFAULT_CSS = """
    KeyBar { dock: bottom; height: 1; background: $footer-background; color: $footer-foreground; padding: 0 1; }
    KeyBar { text-wrap: nowrap; }
    """

    def __init__(self, *spared: str) -> None:
        """``spared`` are actions."""
        super().__init__()
        self._spared = spared
        self._places: list[tuple[int, ActiveBinding]] = []
        """Where each key ends, in columns."""

    def on_mount(self) -> None:
        """Show what works now, whenever that changes."""
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.show_keys())
        self.show_keys()

    def on_resize(self) -> None:
        """There may be room for more."""
        self.show_keys()

    def show_keys(self) -> None:
        """Each key once, with its word."""
        narrow = self.app.size.width < _WIDE_COLUMNS
        shown: dict[str, ActiveBinding] = {}
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if binding.show and active.enabled and not (narrow and binding.action in self._spared):
                shown.setdefault(binding.action, active)
        text, self._places = Content(), []
        for active in shown.values():
            text += Content("  " if text else "") + self._text(active.binding)
            self._places.append((text.cell_length, active))
        self.update(text)

    def _text(self, binding: Binding) -> Content:
        name = binding.key_display or _SIGNS.get(binding.key) or self.app.get_key_display(binding)
        return Content.assemble((name, "b $footer-key-foreground"), f" {binding.description}")

    async def on_click(self, event: Click) -> None:
        """The key under the pointer."""
        found = next((active for end, active in self._places if event.x - 1 <= end), None)
        if found:
            await self.app.run_action(found.binding.action, found.node)
