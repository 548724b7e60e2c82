"""A list to choose from, with a filter above it: what the pickers have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option

from cephtui.printable import one_line, printable
from cephtui.tui.dialogs import Dialog
from cephtui.tui.keys import ANY_LETTER, commands, key

_GAP = 2
_COLUMN_MOST = 24
"""Cells; the text of a longer cell stands below it."""
_TEXT_LEAST = 26
"""With less room than this behind the columns, a row's text stands below them."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Row:
    """A row to choose, or a heading over some."""

    key: str
    """Unique in its list."""
    cells: tuple[str, ...]
    text: str = ""
    """Flows behind the cells, or below them where it is narrow."""
    refused: str = ""
    """Why it can't be chosen, as a whole sentence with the next step; such a row is dim, and its text says so too."""
    more: str = ""
    """What the filter looks at besides what is shown."""
    heading: bool = False
    always: bool = False
    """Whether it is shown whatever the filter says."""

    def fits(self, words: Sequence[str]) -> bool:
        """Whether it has all these words, which are in small letters."""
        shown = " ".join((*self.cells, self.text, self.more)).lower()
        return self.always or all(word in shown for word in words)


def matching(rows: Iterable[Row], typed: str) -> list[Row]:
    """The rows with all the words that were typed, under their headings; a heading without rows goes."""
    words, found, heading = typed.lower().split(), [], None
    for row in rows:
        if row.heading:
            heading = row
            if row.always:
                found.append(row)
                heading = None
        elif row.fits(words):
            found += [row] if heading is None else [heading, row]
            heading = None
    return found


def widths(rows: Sequence[Row]) -> tuple[int, ...]:
    """The width of each column, in cells; a heading counts where it is one of columns."""
    columns = max((len(row.cells) for row in rows if not row.heading), default=0)
    cells = [_shown(row).cells for row in rows if not row.heading or len(row.cells) == columns > 1]
    lengths = [[Content(row[column]).cell_length for row in cells if len(row) > column] for column in range(columns)]
    return tuple(max((length for length in each if length <= _COLUMN_MOST), default=_COLUMN_MOST) for each in lengths)


def _shown(row: Row) -> Row:
    """The row in letters that a terminal shows; what is chosen is still its own."""
    return replace(row, cells=tuple(map(printable, row.cells)), text=one_line(row.text))


def _wrapped(text: str, width: int) -> list[Content]:
    return Content(text).wrap(width) if text else []


class RowVisual(Visual):
    """A row as it is drawn: nothing is cut off at any width."""

    def __init__(self, row: Row, columns: tuple[int, ...]) -> None:
        self.row, self._columns = _shown(row), columns
        self._lines: tuple[int, list[Content]] = (0, [])

    def lines(self, width: int) -> list[Content]:
        """The lines at a width in cells."""
        if self._lines[0] != width:
            self._lines = (width, self._laid_out(max(1, width)))
        return self._lines[1]

    def _laid_out(self, width: int) -> list[Content]:
        if self.row.heading and len(self.row.cells) == 1:
            return (Content(self.row.cells[0]).stylize("bold underline") + f" {self.row.text}").wrap(width)
        head_style, text_style = self._styles()
        column = sum(self._columns) + _GAP * len(self._columns)
        below = width - column < _TEXT_LEAST
        indent = min(4, width // 4) if below else column
        head = [line.stylize(head_style) for line in self._head().wrap(width)]
        text = [line.stylize(text_style) for line in _wrapped(self.row.text, width - indent)]
        if text and not below and len(head) == 1 and head[0].cell_length <= indent - _GAP:
            head = [head[0].pad_right(indent - head[0].cell_length) + text.pop(0)]
        return head if self.row.heading else [*head, *(line.pad_left(indent) for line in text)]

    def _styles(self) -> tuple[str, str]:
        """Of the cells, and of the text."""
        if self.row.heading:
            return "bold underline", "bold underline"
        return ("dim", "dim") if self.row.refused else ("bold", "")

    def _head(self) -> Content:
        """The cells in their columns."""
        head = Content()
        for cell, width in zip(map(Content, self.row.cells), self._columns, strict=False):
            head += cell.pad_right(max(0, width - cell.cell_length) + _GAP)
        return head.rstrip()

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """See Visual."""
        return container_width

    def get_height(self, rules: RulesMap, width: int) -> int:
        """See Visual."""
        return len(self.lines(width))

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """See Visual."""
        lines = self.lines(width)[:height]
        return [strip for line in lines for strip in line.render_strips(width, 1, style, options)]


class PickList(OptionList):
    """The rows."""

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._shown: list[Row] = []
        self._visuals: dict[tuple[Row, tuple[int, ...]], RowVisual] = {}
        """Of what is shown: most of it stays the same when something arrives."""

    @property
    def shown(self) -> Sequence[Row]:
        """What is in the list now, headings included."""
        return self._shown

    @property
    def row(self) -> Row | None:
        """The highlighted one."""
        return None if self.highlighted is None else self._shown[self.highlighted]

    def show(self, rows: list[Row], highlight: str | None, *, follow: bool) -> None:
        """Show these rows and highlight the one of this key, else the first that can be chosen.

        ``follow`` scrolls to it; without it the list stays where it is.
        """
        top, columns = self.scroll_offset.y, widths(rows)
        self._shown = rows
        self._visuals = {(row, columns): self._visuals.get((row, columns)) or RowVisual(row, columns) for row in rows}
        self.set_options(Option(self._visuals[row, columns], disabled=row.heading) for row in rows)
        at = _index(rows, highlight)
        if follow:
            self.highlighted = at
        else:
            self.set_reactive(OptionList.highlighted, at)
            self.scroll_to(y=top, animate=False, immediate=True)
            self.refresh()


def _index(rows: Sequence[Row], key: str | None) -> int | None:
    """Where the row of this key is, else the first that can be chosen, else the first that is no heading."""
    usable = [(row, index) for index, row in enumerate(rows) if not row.heading]
    named = (index for row, index in usable if row.key == key)
    free = (index for row, index in usable if not row.refused)
    return next(named, next(free, usable[0][1] if usable else None))


class Filter(Input):
    """Where the filter is typed."""


class Picker(Dialog[T | None], Generic[T]):
    """A filter, a list, and what enter would do; what there is to choose is the subclass's."""

    DEFAULT_CSS = """
    Picker { align: center middle; }
    Picker > .picker {
        width: 96%; max-width: 140; height: 92%; padding: 0 1; background: $surface; border: round $primary;
    }
    Picker Filter { height: 1; border: none; padding: 0; background: $surface-lighten-1; }
    Picker PickList { height: 1fr; border: none; padding: 0; background: $surface; overflow-y: scroll;
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
        key(f"{ANY_LETTER},slash", "filter", "filter", "filter: rows with all the words that are typed"),
        # before the list's own and the filter's
        key("down,j", "move('cursor_down')", "down", "the row below", priority=True),
        key("up,k", "move('cursor_up')", "up", "the row above", priority=True),
        key("pagedown", "move('page_down')", "page down", "a page down", priority=True),
        key("pageup", "move('page_up')", "page up", "a page up", priority=True),
        key("enter", "use", "choose", "choose", priority=True),
        key("tab", "app.focus_next", "list", "to the list, and back to the filter"),
        key("escape", "close", "close", "close"),
    ]
    TITLE_TEXT, PLACEHOLDER = "", "type to filter"
    FILTER: type[Filter] = Filter

    def compose(self) -> ComposeResult:
        """The filter has the focus; buttons are for the mouse alone."""
        with Vertical(classes="picker") as box:
            box.border_title = self.TITLE_TEXT
            yield self.FILTER(placeholder=self.PLACEHOLDER, compact=True)
            yield PickList()
            yield Static(classes="note", markup=False)
            with Horizontal(classes="answer"):
                for command in commands(self):
                    if command.action in ("use", "close"):
                        button = Button(command.title, id=command.action, compact=True)
                        button.can_focus = False
                        yield button

    def on_mount(self) -> None:
        """Show what is known."""
        self.show_rows(follow=True, highlight=self.first())
        self.set_focus(self.query_one(Filter))

    # ------------------------------------------------------------------ of the subclass

    def rows(self) -> list[Row]:
        """All that there is to choose."""
        raise NotImplementedError

    def first(self) -> str | None:
        """The key of the row to begin at; by default the first that can be chosen."""
        return None

    def note(self) -> str:
        """What is to be said below the list: of the highlighted row, or of what was typed."""
        row = self.highlighted
        if row is not None:
            return row.refused
        return "nothing fits the filter" if self.typed else ""

    def use(self, row: Row | None) -> None:
        """Enter: the highlighted row is chosen."""
        raise NotImplementedError

    def click(self, row: Row) -> None:
        """A row was clicked; by default that chooses it."""
        self.choose(row)

    # ------------------------------------------------------------------ for the subclass

    @property
    def typed(self) -> str:
        """What is in the filter."""
        return self.query_one(Filter).value.strip()

    @property
    def highlighted(self) -> Row | None:
        """The row that the keys are at."""
        return self.query_one(PickList).row

    def show_rows(self, *, follow: bool = False, highlight: str | None = None) -> None:
        """Show what has changed; by default what was highlighted stays so, and where it was."""
        pick_list = self.query_one(PickList)
        here = pick_list.row.key if pick_list.row and not follow else None
        pick_list.show(matching(self.rows(), self.typed), highlight or here, follow=follow)
        self.show_note()

    def show_note(self) -> None:
        """Show what is to be said now."""
        self.query_one(".note", Static).update(one_line(self.note()))

    def choose(self, row: Row | None) -> None:
        """Use a row, or say why that can't be."""
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
        self.show_rows(follow=True)

    @on(PickList.OptionSelected)
    def _clicked(self, event: PickList.OptionSelected) -> None:
        event.stop()
        self.click(self.query_one(PickList).shown[event.option_index])

    @on(PickList.OptionHighlighted)
    def _highlighted(self, event: PickList.OptionHighlighted) -> None:
        event.stop()
        self.show_note()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id == "use":
            self.action_use()
        else:
            self.action_close()

    def action_use(self) -> None:
        """Choose the highlighted row."""
        self.choose(self.highlighted)

    async def action_move(self, action: str) -> None:
        """A key of the list's while the filter has the focus."""
        await self.query_one(PickList).run_action(action)

    def action_filter(self) -> None:
        """Back to the filter."""
        self.set_focus(self.query_one(Filter))

    def action_close(self) -> None:
        """Nothing is chosen."""
        self.dismiss(None)
