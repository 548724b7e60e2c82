"""Blocks on a terminal: as wide as it is, what has no room in another form or left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text as RichText

from cephtui.frozen import dataclass
from cephtui.printable import printable
from cephtui.reports.blocks import (
    Bar,
    Block,
    Cell,
    Code,
    ConfidenceInterval,
    Document,
    Facts,
    Histograms,
    Items,
    NextStep,
    Table,
    Text,
    plain_text,
)
from cephtui.reports.render.tables import Noted, plain
from cephtui.reports.styles import STYLES, Style, color_of_flow
from cephtui.reports.words.cutting import shorter

_ASCII = str.maketrans(
    dict(zip("▲▼·→┊│─━●█▉▊▋▌▁▂▃▄▅▆▇", "^v|>:|-=o#####_.:-=+*", strict=True))
    | {"±": "+-", "→": "->", "…": "...", "▍": "", "▎": "", "▏": ""}
)
"""What a terminal shows that has no more."""
_INTERVAL_COLUMNS = 76
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def draw(
    content: Document | Iterable[Block],
    *,
    ascii_only: bool = False,
    color_of: Callable[[str], str] = color_of_flow,
) -> RenderableType:
    """All blocks below each other; ``color_of`` a flow is that of its histogram."""
    drawing = _Drawing(ascii_only, color_of)
    if not isinstance(content, Document):
        return drawing.all_of(content)
    parts: list[RenderableType] = [drawing.all_of(content.lead)]
    for section in content.sections:
        parts += [RichText(), drawing.line(section.title, "strong"), drawing.all_of(section.blocks)]
    return Group(*parts)


def styled(cell: Cell, style: Style = "", *, ascii_only: bool = False) -> RichText:
    """A text of any origin as it is, printable and of a bearable length."""
    if isinstance(cell, str):
        return plain(_shown(cell, ascii_only), STYLES[style])
    text = RichText(style=STYLES[cell.style or style])
    for part, part_style in cell.parts:
        text.append(printable(shorter(_shown(part, ascii_only))), STYLES[part_style] or None)
    if cell.share is not None:
        from cephtui.reports.drawn.sparks import share_bar

        text.append(f" {share_bar(cell.share, ascii_only=ascii_only)}", STYLES["code"])
    return text


def _shown(text: str, ascii_only: bool) -> str:
    return text.translate(_ASCII) if ascii_only else text


@dataclass(frozen=True, slots=True)
class _Drawing:
    """Draws blocks with the characters and colours that a terminal has."""

    ascii_only: bool
    color_of: Callable[[str], str]

    def line(self, cell: Cell, style: Style = "") -> RichText:
        return styled(cell, style, ascii_only=self.ascii_only)

    def all_of(self, blocks: Iterable[Block]) -> Group:
        return Group(*(part for block in blocks for part in self.block(block)))

    def block(self, block: Block) -> Iterator[RenderableType]:
        match block:
            case Text():
                yield _indented(self.line(block.text, block.style), block.indent)
            case Items():
                yield from map(self.line, block.items)
            case Facts():
                yield self.line(block.in_short) if block.in_short else self._facts(block)
            case Table():
                yield self._table(block)
            case Code():
                yield from self._code(block)
            case NextStep() if not block.is_aside:
                yield self.line(f"{block.caption}: {block.command}", "dim")
            case Histograms():
                from cephtui.reports.render.charts import draw_histograms

                yield draw_histograms(block.charts, color_of=self.color_of, ascii_only=self.ascii_only)
            case ConfidenceInterval():
                from cephtui.reports.render.charts import interval_bar

                bar = Group(*interval_bar(block, _INTERVAL_COLUMNS - block.indent, ascii_only=self.ascii_only))
                yield _indented(bar, block.indent)

    def _facts(self, block: Facts) -> RichTable:
        grid = RichTable.grid(padding=(0, 2))
        grid.add_column()
        grid.add_column(overflow="fold")
        for name, fact in block.facts:
            grid.add_row(self.line(name), self.line(fact))
        return grid

    def _code(self, block: Code) -> Iterator[RichText]:
        if block.is_aside:
            return
        if block.is_command:
            yield self.line(f"{plain_text(block.caption)}{'  ' if block.caption else ''}$ {block.text}", "code")
            return
        yield self.line(block.caption)
        yield from (self.line(f"  {line}", "code") for line in block.text.splitlines())

    def _table(self, table: Table) -> RenderableType:
        """The widest form that fits: all columns, some of them, or what is narrower."""
        ranks = sorted({column.rank for column in table.columns if column.rank}, reverse=True)
        tables = [table, *(_without(table, rank) for rank in ranks)]
        variants = tuple(partial(self._rows, variant) for variant in tables)
        return _FirstThatFits(variants, self.all_of(table.narrower) if table.narrower else None)

    def _rows(self, table: Table, width: int) -> tuple[int, RenderableType]:
        """How many columns of the terminal it needs, its notes below the rows, and the table in this width."""
        drawn = RichTable(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold",
                          show_header=any(table.titles))  # fmt: skip
        styles: list[Style] = ["strong" if number in table.strong else "" for number in range(len(table.rows))]
        rows = [[self._cell(cell, style) for cell in row] for row, style in zip(table.rows, styles, strict=True)]
        titles = [self.line(column.title) for column in table.columns]
        longest = [max(cell.cell_len for cell in cells) for cells in zip(titles, *rows, strict=True)]
        gaps = len(titles) - 1
        fits = sum(longest) + gaps <= width
        for title, column, most in zip(titles, table.columns, longest, strict=True):
            drawn.add_column(
                title,
                justify="right" if column.side == "r" else "left",
                overflow="fold",
                no_wrap=fits or column.side == "r" or column.is_whole,
                width=most if fits else None,  # else rich measures each cell again
            )
        least = (
            max(title.cell_len, min(most, column.enough or most))
            for title, column, most in zip(titles, table.columns, longest, strict=True)
        )
        for row in rows:
            drawn.add_row(*row)
        notes = [self.line(note) for note in table.notes]
        return gaps + sum(least), Noted(drawn, notes, table.note_indent) if table.has_notes else drawn

    def _cell(self, cell: Cell | Bar, style: Style) -> RichText:
        if not isinstance(cell, Bar):
            return self.line(cell, style)
        whole, eighths = divmod(round(8 * cell.width * cell.share), 8)
        text = "█" * whole + _EIGHTHS[eighths].strip()
        return self.line("#" * round(cell.width * cell.share) if self.ascii_only else text, cell.style)


def _indented(drawn: RenderableType, columns: int) -> RenderableType:
    return Padding(drawn, (0, 0, 0, columns), expand=False) if columns else drawn


@dataclass(frozen=True, slots=True)
class _FirstThatFits:
    """The first of several with the columns that each needs, else another."""

    variants: Sequence[Callable[[int], tuple[int, RenderableType]]]
    """Each is drawn if no one before it fits."""
    otherwise: RenderableType | None
    """None is the last of them."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for variant in self.variants:
            needed, drawn = variant(options.max_width)
            if needed <= options.max_width:
                break
        else:
            drawn = self.otherwise or drawn
        yield drawn


def _without(table: Table, rank: int) -> Table:
    """The table without the columns from this rank on."""
    return table.with_columns([number for number, column in enumerate(table.columns) if column.rank < rank])
