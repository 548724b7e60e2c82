"""The command palette, and the picker of themes."""

from __future__ import annotations

from collections.abc import Iterable

from textual.app import SystemCommand

from cephtui.tui.keys import key
from cephtui.tui.pickers.picker import Picker
from cephtui.tui.widgets.pick_list import PickRow


class CommandPicker(Picker[SystemCommand]):
    """Every command; those whose own names have what is typed come before those that only explain themselves so."""

    TITLE_TEXT, PLACEHOLDER = "commands", "type to find a command"
    BINDINGS = [key("enter", "use", "run", "run the command", priority=True)]

    def __init__(self, commands: Iterable[SystemCommand]) -> None:
        super().__init__()
        self._commands = {str(number): command for number, command in enumerate(commands)}

    def rows(self) -> list[PickRow]:
        """The commands in their order, the better matches first."""
        words = self.filter_text.lower().split()
        rows = [PickRow(number, (command.title,), command.help) for number, command in self._commands.items()]
        return sorted(rows, key=lambda row: not PickRow(row.key, row.cells).fits(words))

    def use(self, row: PickRow | None) -> None:
        if row:
            self.dismiss(self._commands[row.key])


class ThemePicker(Picker[str]):
    """The themes that this terminal can show."""

    TITLE_TEXT, PLACEHOLDER = "themes", "type to find a theme"
    BINDINGS = [key("enter", "use", "choose", "use the theme", priority=True)]

    def __init__(self, names: Iterable[str], current: str) -> None:
        super().__init__()
        self._names, self._current = sorted(names), current

    def first(self) -> str | None:
        return self._current

    def rows(self) -> list[PickRow]:
        return [PickRow(name, (name,), "current theme" if name == self._current else "") for name in self._names]

    def use(self, row: PickRow | None) -> None:
        if row:
            self.dismiss(row.key)
