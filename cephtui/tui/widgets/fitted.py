"""Tables whose columns are as wide as their texts at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text
from textual.widgets import DataTable


def show_rows(table: DataTable[Text], titles: Sequence[Text], rows: Mapping[str, Sequence[Text]]) -> None:
    """Replace all rows of a table, and its columns; ``rows`` has the cells by the row's key.

    DataTable (Textual 8.2.8) measures columns when it is idle; a row that is drawn before that stays cut off.
    """
    table.clear(columns=True)
    for title, *texts in zip(titles, *rows.values(), strict=True):
        table.add_column(title, width=max(text.cell_len for text in (title, *texts)))
    for key, cells in rows.items():
        table.add_row(*cells, key=key)
