"""Keys: one definition gives the binding, the command in the palette, the word in the footer, the line in the help."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from rich.table import Table
from rich.text import Text
from textual.binding import Binding
from textual.content import Content
from textual.dom import DOMNode
from textual.events import Click
from textual.screen import Screen
from textual.widgets import Static

from cephtui.frozen import dataclass

SESSIONS = "sessions"
"""The class of the screen that lists the saved sessions."""
ANY_LETTER = "any letter"
"""A word in the place of a key: what typing does in an input. No terminal sends it."""
_TOPICS = ("here", "run", "replay", "runs", "view", "more")
SIGNS = {
    "question_mark": "?",
    "slash": "/",
    "escape": "esc",
    "plus": "+",
    "minus": "-",
    "equals_sign": "=",
}
"""What stands for a key on screens, where that is not its name in Textual."""


def key(
    keys: str,
    action: str,
    word: str,
    about: str,
    topic: str = "here",
    *,
    shown: bool = False,
    display: str | None = None,
    priority: bool = False,
) -> Binding:
    """A key (or several, with commas) for an action: a word for the footer, and what it does for the help.

    With ``priority`` it takes the place of the focused widget's own binding of that key.
    """
    name = f"{topic}.{action}.{keys}"
    return Binding(keys, action, word, show=shown, key_display=display, priority=priority, tooltip=about, id=name)


HELP = key("question_mark,f1", "app.help", "help", "show all keys; f1 while typing text", "more", shown=True)
MASK = key(
    "P",
    "app.mask_names",
    "mask names",
    "hide names of hosts, pools and paths on a shared screen, or show them again",
    "view",
)
WHY_ABOUT = "why it is slow: causes by cost, with evidence and what to do"
MATRIX_ABOUT = "table of the session: steps by target and node, what is missing, what is slowest"
COMMANDS = key("ctrl+p", "app.command_palette", "commands", "command palette (and themes)", "more", priority=True)


@dataclass(frozen=True, slots=True)
class KeyCommand:
    """An action that can be taken now."""

    node: DOMNode
    """The node that has the action."""
    action: str
    word: str
    about: str
    topic: str
    shown: bool
    """Whether it has a place in the footer."""
    keys: tuple[str, ...]
    """The keys as they are shown."""

    @property
    def title(self) -> str:
        """The command's title in the palette."""
        return f"{self.word} ({' '.join(self.keys)})"


def active_commands(screen: Screen[Any]) -> list[KeyCommand]:
    """All that has a ``key`` and works where the focus is; what every list of Textual's can do is left out."""
    by_action: dict[tuple[DOMNode, str, str], KeyCommand] = {}
    for node, binding, enabled, _ in screen.active_bindings.values():
        if binding.id is None or not enabled:
            continue
        topic, sign = binding.id.partition(".")[0], binding.key_display or SIGNS.get(binding.key, binding.key)
        new = KeyCommand(node, binding.action, binding.description, binding.tooltip, topic, binding.show, (sign,))
        at = (node, new.action, new.word)
        keys = by_action.setdefault(at, new).keys
        if sign not in keys:
            by_action[at] = replace(by_action[at], keys=(*keys, sign))
    return list(by_action.values())


def help_table(commands: Iterable[KeyCommand]) -> Table:
    """All keys, by topic."""
    topics: dict[str, dict[str, list[str]]] = {topic: {} for topic in _TOPICS}
    for command in commands:
        signs = topics[command.topic].setdefault(command.about, [])
        signs += [sign for sign in command.keys if sign not in signs]
    table = Table.grid(padding=(0, 2))
    for topic, lines in topics.items():
        for row, (about, signs) in enumerate(lines.items()):
            table.add_row(Text("" if row else topic, "bold"), Text(" ".join(signs), "bold"), Text(about))
    return table


def footer(commands: Iterable[KeyCommand]) -> str:
    """The keys that are shown in the frame of a dialog."""
    return "  ".join(f"{command.keys[0]} {command.word}" for command in commands if command.shown)


class KeyBar(Static):
    """The most important keys, to be clicked too; where they have no room, without those that the screen can spare.

    Textual's own footer is a widget for each key, and took 50 ms of the 150 that the first frame takes.
    """

    DEFAULT_CSS = """
    KeyBar { dock: bottom; height: 1; background: $footer-background; padding: 0 1; text-wrap: nowrap; }
    KeyBar { color: $footer-description-foreground; }
    """

    def __init__(self, *spared: str) -> None:
        """``spared`` are actions, the first one the first to be left out."""
        super().__init__()
        self._spared = spared
        self._places: list[tuple[int, KeyCommand]] = []
        """The columns at which keys end."""

    def on_mount(self) -> None:
        """Show what works now, whenever that changes."""
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.show_keys())
        self.show_keys()

    def on_resize(self) -> None:
        self.show_keys()

    def show_keys(self) -> None:
        """Show each key once, with its word."""
        text, self._places = Content(), []
        for command in self._fitting(self.app.size.width - 2):
            text += Content("  " if text else "")
            text += Content.assemble((command.keys[0], "b $footer-key-foreground"), f" {command.word}")
            self._places.append((text.cell_length, command))
        self.update(text, layout=False)

    def _fitting(self, columns: int) -> list[KeyCommand]:
        """As many commands as have room."""
        active = active_commands(self.screen)
        is_masked = bool(self.app.sub_title)
        masked = [replace(command, word="masked") for command in active if command.action == MASK.action and is_masked]
        shown = [*masked, *(command for command in active if command.shown)]
        for spared in self._spared:
            if sum(len(command.keys[0]) + len(command.word) + 3 for command in shown) - 2 <= columns:
                break
            shown = [command for command in shown if command.action != spared]
        return shown

    async def on_click(self, event: Click) -> None:
        """Do what the key under the pointer does."""
        command = next((command for end, command in self._places if event.x - 1 <= end), None)
        if command:
            await self.app.run_action(command.action, command.node)
