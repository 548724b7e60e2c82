"""The common form of all tables."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from cephtui.models.metrics import LIVE
from cephtui.printable import printable
from cephtui.reports.text import shorter

LIVE_COLUMNS = tuple(metric.title for metric in LIVE)


def make_table(*columns: str, right: Iterable[str] = ()) -> Table:
    """A table without lines; the columns named in ``right`` hold figures, which are never wrapped."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for column in columns:
        figure = column in right
        table.add_column(column, justify="right" if figure else "left", overflow="fold", no_wrap=figure)
    return table


def add_row(table: Table, *cells: RenderableType) -> None:
    """A row; strings are drawn as they are, never as markup."""
    table.add_row(*(plain(cell) if isinstance(cell, str) else cell for cell in cells))


def add_more(table: Table, more: str) -> None:
    """A row that says how many were left out; none for an empty text."""
    if more:
        add_row(table, "", more)


def plain(text: str, style: str = "") -> Text:
    """Text that is no markup, printable and of a bearable length."""
    return Text(printable(shorter(text)), style=style)
