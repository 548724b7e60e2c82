"""Tables whose columns are as wide as their texts at once, and those of which not all columns have room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from rich.text import Text
from textual.widgets import DataTable


class _Cell(Text):
    """DataTable measures each cell, which takes a third of the time that a table takes: its columns have widths."""

    __rich_measure__ = None  # type: ignore[assignment]


_BLANK = _Cell()


def show_rows(table: DataTable[Text], titles: Sequence[Text], rows: Mapping[str, Sequence[Text]]) -> None:
    """Replace all rows of a table, and its columns; ``rows`` has the cells by the row's key."""
    columns = zip(titles, *rows.values(), strict=True)
    show_rows_in(table, [max(text.cell_len for text in column) for column in columns], titles, rows)


def show_rows_in(
    table: DataTable[Text], widths: Sequence[int], titles: Sequence[Text], rows: Mapping[str, Sequence[Text]]
) -> None:
    """Replace all rows of a table, and its columns, which get these widths.

    DataTable (Textual 8.2.8) measures columns when it is idle; a row that is drawn before that stays cut off.
    """
    table.clear(columns=True)
    for title, width in zip(titles, widths, strict=True):
        table.add_column(title, width=width)
    for key, cells in rows.items():
        table.add_row(*cells, key=key)


def fitted_widths(natural: Mapping[str, int], width: int, elastic: str, spared: Mapping[str, int]) -> dict[str, int]:
    """The columns for which there is room, and how wide they are.

    ``natural`` has the width of every column's texts. The ``elastic`` column takes what is left. While that is less
    than it needs, and less than a ``spared`` column lets it have, that column is left out; the first one first.
    """
    widths = dict(natural)
    for name, enough in spared.items():
        if _left(widths, width, elastic) < min(natural.get(elastic, 0), enough):
            widths.pop(name, None)
    if elastic in widths:
        widths[elastic] = max(0, min(widths[elastic], _left(widths, width, elastic)))
    return widths


def _left(widths: Mapping[str, int], width: int, elastic: str) -> int:
    return width - sum(size for name, size in widths.items() if name != elastic)


def padded_cell(text: str, width: int, style: str = "", *, right: bool = False, sign: str = "") -> Text:
    """A cell of this width, with a blank at each side and an ellipsis where it is cut off.

    A ``sign`` behind a figure on the right stands in the place of the blank: figures stay below each other.
    """
    if not text:
        return _BLANK
    room = max(0, width - 2)
    pad = " " * (room - cell_len(text.removesuffix(sign))) if right else ""
    cell = _Cell(f" {pad}{text}", style, end="")
    if not right and cell_len(text) > room:
        cell.truncate(room + 1, overflow="ellipsis")
    return cell


def cells_across(text: Text, widths: Sequence[int]) -> list[Text]:
    """A text over several cells that touch each other, with a sign where it is cut off."""
    if text.cell_len > sum(widths):
        text = text.copy()
        text.truncate(sum(widths), overflow="ellipsis")
    ends, end = [], 0
    for width in widths:
        room = width
        while end < len(text) and (size := cell_len(text.plain[end])) <= room:
            room, end = room - size, end + 1
        ends.append(end)
    pieces = list(text.divide(ends))
    return [piece if piece else _BLANK for piece in pieces[: len(widths)]]
