"""Views as GitHub Flavored Markdown, for a ticket: tables and text, no HTML; charts only as files beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from cephtui.frozen import dataclass
from cephtui.printable import lines, printable
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
    LineChart,
    NextStep,
    Section,
    Table,
    Text,
    Words,
)
from cephtui.reports.styles import Style
from cephtui.reports.words.cutting import shorter

_BEGINS = re.compile(r"^(\s*\d*)([#+=.)-])")
_SYNTAX = re.compile(r"[\\`*\[\]<|~&]|(?<!-)>|(?<!\w)_|_(?!\w)")
_BOLD = ("strong", "good", "bad", "open")


def markdown_of(content: Document, assets: str = "") -> str:
    """``assets`` is the folder of the charts, as seen from the file; empty leaves them out."""
    writing = _Writing(assets)
    if not content.sections:
        heading = [_styled(inline(content.heading), "strong")] if content.heading else []
        return _joined([heading, *writing.all_of(content.lead)])
    parts = [[f"# {inline(content.heading)}"], *writing.all_of(content.lead)]
    for section in content.sections:
        parts += writing.section(section)
    return _joined([*parts, [f"_{escaped(content.footer)}_"]])


def _joined(parts: Sequence[Sequence[str]]) -> str:
    """Parts with an empty line between them; those without lines are left out."""
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


@dataclass(frozen=True, slots=True)
class _Writing:
    """Blocks as lines."""

    assets: str

    def section(self, section: Section) -> list[list[str]]:
        return [[f"## {escaped(section.title)}"], *self.all_of(section.blocks)]

    def all_of(self, blocks: Sequence[Block]) -> list[list[str]]:
        return [list(self.block(block)) for block in blocks]

    def block(self, block: Block) -> Iterator[str]:
        match block:
            case Text() if block.text:
                yield paragraph(block.text, block.style)
            case Items():
                yield from (f"- {paragraph(item)}" for item in block.items)
            case Facts():
                yield from _facts(block)
            case Table():
                yield from table_lines(block)
            case Code():
                yield from [*([f"{paragraph(block.caption)}:", ""] if block.caption else []), *_fenced(block)]
            case NextStep():
                yield f"{escaped(block.caption)}: `{block.command}`"
            case Histograms():
                yield from table_lines(block.table)
            case LineChart() if self.assets:
                yield f"![{escaped(block.title)}]({quote(f'{self.assets}/{block.name}.svg')})"
            case ConfidenceInterval() | LineChart() | Text():
                pass


def _facts(block: Facts) -> Iterator[str]:
    """A fact of several lines is one item."""
    item = ""
    for name, fact in block.facts:
        if name and item:
            yield item
        item = f"- {escaped(name)}: {inline(fact)}" if name else f"{item}; {inline(fact)}" if item else inline(fact)
    if item:
        yield item


def table_lines(noted: Table) -> Iterator[str]:
    """Without what is only drawn."""
    whole = noted.with_notes_in_cells()
    numbers = range(len(whole.columns))
    table = whole.with_columns([at for at in numbers if not any(isinstance(row[at], Bar) for row in whole.rows)])
    yield _row([inline(column.title) for column in table.columns])
    yield _row(["---:" if column.side == "r" else "---" for column in table.columns])
    for number, row in enumerate(table.rows):
        mark = "**" if number in table.strong else ""
        cells = [inline(cell) for cell in row if not isinstance(cell, Bar)]
        yield _row([f"{mark}{cell}{mark}" if cell.strip() else "" for cell in cells])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _fenced(code: Code) -> list[str]:
    """Lines of code; what they contain ends nothing."""
    text = printable(shorter(code.text)) if code.is_command else lines(code.text)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return [fence, text, fence]


def inline(cell: Cell) -> str:
    """A text of any origin as itself, its styles left out."""
    return escaped(cell) if isinstance(cell, str) else "".join(text for text, _ in _parts(cell))


def _parts(cell: Words) -> Iterator[tuple[str, Style]]:
    """The parts of a text, in which runs are named: ``#3`` would be a link where tickets are tracked."""
    for number, (text, style) in enumerate(cell.parts):
        if style == "runs":
            colon = ":" if number == 0 and any(after.startswith(" ") for after, _ in cell.parts[1:2]) else ""
            yield escaped(text.replace("#", "run " if text[1:].isdecimal() else "runs ") + colon), style
        else:
            yield escaped(text), style


def paragraph(cell: Cell, style: Style = "") -> str:
    """A text that begins a line: no heading, no item of a list, no rule; what counts is bold."""
    if isinstance(cell, str):
        return _styled(_begun(escaped(cell)), style)
    style = cell.style or style
    if style in _BOLD:
        return _styled(_begun(inline(cell)), style)
    return _begun("".join(_styled(text, part_style) for text, part_style in _parts(cell)))


def _begun(text: str) -> str:
    return _BEGINS.sub(r"\1\\\2", text)


def _styled(text: str, style: Style) -> str:
    """Blanks stand outside of what is bold."""
    if style not in _BOLD or not text.strip():
        return text
    begin, end = len(text) - len(text.lstrip()), len(text.rstrip())
    return f"{text[:begin]}**{text[begin:end]}**{text[end:]}"


def escaped(text: str) -> str:
    """A text of any origin as itself: no markup, no cell's end, no link."""
    return _SYNTAX.sub(r"\\\g<0>", printable(shorter(text)))
