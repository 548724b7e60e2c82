"""A list to choose from, with a filter above it: what the pickers have in common."""

from __future__ import annotations

from typing import Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.events import Resize
from textual.widgets import Button, Input, Static

from cephtui.printable import one_line
from cephtui.tui.dialogs import Dialog
from cephtui.tui.keys import ANY_LETTER, active_commands, key
from cephtui.tui.widgets.pick_list import PickList, PickRow, matching

T = TypeVar("T")
_REST_ROWS = 6
"""Rows of the box beside the list: its frame, the filter, two rows of the note, the answers."""


class Filter(Input):
    """The input of the filter."""


class Picker(Dialog[T | None], Generic[T]):
    """A filter and a list; the rows are the subclass's."""

    DEFAULT_CSS = """
    Picker { align: center middle; }
    Picker > .picker {
        width: 96%; max-width: 140; height: auto; max-height: 92%;
        padding: 0 1; background: $surface; border: round $primary;
    }
    Picker Filter { height: 1; border: none; padding: 0; background: $surface-lighten-1; }
    Picker PickList { height: auto; border: none; padding: 0; background: $surface; overflow-y: scroll;
        scrollbar-size-vertical: 1; }
    Picker PickList:focus { border: none; background-tint: $foreground 0%; }
    Picker PickList > .option-list--option { padding: 0 1 0 0; }
    Picker PickList > .option-list--option-disabled { color: $foreground; }
    Picker PickList > .option-list--option-highlighted { background: $primary; color: $text; text-style: bold; }
    Picker PickList:focus > .option-list--option-highlighted { background: $primary; color: $text; text-style: bold; }
    Picker .note { height: auto; max-height: 5; }
    Picker .answer { height: 1; }
    Picker Button { margin-right: 1; }
    """
    BINDINGS = [
        key(f"{ANY_LETTER},slash", "filter", "filter", "filter: rows with all typed words"),
        # before the list's own and the filter's
        key("down,j", "move('cursor_down')", "down", "the row below", priority=True),
        key("up,k", "move('cursor_up')", "up", "the row above", priority=True),
        key("pagedown", "move('page_down')", "page down", "a page down", priority=True),
        key("pageup", "move('page_up')", "page up", "a page up", priority=True),
        key("enter", "use", "choose", "choose", priority=True),
        key("tab", "app.focus_next", "list", "to the list, and back to the filter"),
        key("escape", "dismiss", "close", "close"),
    ]
    TITLE_TEXT, PLACEHOLDER = "", "type to filter"
    FILTER: type[Filter] = Filter
    _filter = ""
    """The filter by which the rows in the list were chosen."""

    def compose(self) -> ComposeResult:
        """The filter has the focus; buttons are for the mouse alone."""
        with Vertical(classes="picker") as box:
            box.border_title = self.TITLE_TEXT
            yield self.FILTER(placeholder=self.PLACEHOLDER, compact=True)
            yield PickList()
            yield Static(classes="note", markup=False)
            with Horizontal(classes="answer"):
                for command in active_commands(self):
                    if command.action in ("use", "details", "dismiss"):
                        button = Button(
                            command.title, id=command.action, compact=True, action=f"screen.{command.action}"
                        )
                        button.can_focus = False
                        yield button

    def on_mount(self) -> None:
        self.show_rows(follow=True, highlight=self.first())
        self.set_focus(self.query_one(Filter))

    # ------------------------------------------------------------------ of the subclass

    def rows(self) -> list[PickRow]:
        """All rows, before the filter."""
        raise NotImplementedError

    def first(self) -> str | None:
        """The key of the row to begin at; by default the first that can be chosen."""
        return None

    def note(self) -> str:
        """The text below the list: about the highlighted row, or about the filter."""
        row = self.highlighted
        if row is not None:
            return row.refused
        return "nothing matches the filter" if self.filter_text else ""

    def use(self, row: PickRow | None) -> None:
        """Enter: the highlighted row is chosen."""
        raise NotImplementedError

    def click(self, row: PickRow) -> None:
        """A row was clicked; by default that chooses it."""
        self.choose(row)

    # ------------------------------------------------------------------ for the subclass

    @property
    def filter_text(self) -> str:
        """What is in the filter."""
        return self.query_one(Filter).value.strip()

    @property
    def highlighted(self) -> PickRow | None:
        """The row that the keys are at."""
        return self.query_one(PickList).row

    def show_rows(self, *, follow: bool = False, highlight: str | None = None) -> None:
        """Show what has changed; by default what was highlighted stays so, and where it was."""
        pick_list = self.query_one(PickList)
        here = pick_list.row.key if pick_list.row and not follow else None
        self._filter = self.filter_text
        pick_list.show(matching(self.rows(), self._filter), highlight or here, follow=follow)
        self.show_note()

    def on_resize(self, event: Resize) -> None:
        """The list has what the rest of the box leaves."""
        self.query_one(PickList).grow_to(event.size.height * 92 // 100 - _REST_ROWS)

    def show_note(self) -> None:
        """Update the text below the list."""
        self.query_one(".note", Static).update(one_line(self.note()))

    def choose(self, row: PickRow | None) -> None:
        """Use a row, or notify why it can't be chosen."""
        if row is None:
            return
        if row.refused:
            self.notify(row.refused, title="can't be chosen", severity="warning", markup=False)
        else:
            self.use(row)

    # ------------------------------------------------------------------ keys and mouse

    @on(Filter.Changed)
    def _filtered(self, event: Filter.Changed) -> None:
        event.stop()
        if self.filter_text != self._filter:
            self.show_rows(follow=True)

    @on(PickList.OptionSelected)
    def _clicked(self, event: PickList.OptionSelected) -> None:
        event.stop()
        self.click(self.query_one(PickList).shown[event.option_index])

    @on(PickList.OptionHighlighted)
    def _highlighted(self, event: PickList.OptionHighlighted) -> None:
        event.stop()
        self.show_note()

    def action_use(self) -> None:
        self.choose(self.highlighted)

    async def action_move(self, action: str) -> None:
        """Move in the list, also while the filter has the focus."""
        await self.query_one(PickList).run_action(action)

    def action_filter(self) -> None:
        self.set_focus(self.query_one(Filter))
