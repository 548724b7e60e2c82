"""The common form of all tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from cephtui.frozen import dataclass
from cephtui.printable import printable
from cephtui.reports.words.cutting import shorter


def make_table(*columns: str, right: Iterable[str] = (), whole: Iterable[str] = ()) -> Table:
    """A table without lines; the columns in ``right`` hold figures and those in ``whole`` names: neither is wrapped."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for column in columns:
        figure = column in right
        no_wrap = figure or column in whole
        table.add_column(column, justify="right" if figure else "left", overflow="fold", no_wrap=no_wrap)
    return table


def add_row(table: Table, *cells: RenderableType) -> None:
    """A row; strings are drawn as they are, never as markup."""
    table.add_row(*(plain(cell) if isinstance(cell, str) else cell for cell in cells))


def plain(text: str, style: str = "") -> Text:
    """Text that is no markup, printable and of a bearable length."""
    return Text(printable(shorter(text)), style=style)


@dataclass(frozen=True, slots=True)
class Noted:
    """A table whose rows are one line each and may have a note: behind the row where there is room, else below it."""

    table: Table
    """All its columns are of one line."""
    notes: Sequence[Text]
    """One for each row, empty for none."""
    indent: int
    """Columns, of a note below its row."""

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self.table)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self.table, options, pad=False)
        for line, note in zip(lines, (Text(), *self.notes), strict=True):
            row = Text.assemble(*((part.text, part.style or "") for part in line))
            row.rstrip()
            beside = Text.assemble(row, " " if note else "", note)
            if beside.cell_len <= options.max_width:
                yield beside
            else:
                yield row
                yield Padding(note, (0, 0, 0, self.indent), expand=False)
