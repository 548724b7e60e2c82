"""A document as Markdown for a ticket: tables and text, no HTML; charts only as files beside it."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from cephtui.printable import lines
from cephtui.reports.document.blocks import Block, Chart, Code, Document, Items, Section, Table, Text
from cephtui.reports.gfm import document, escaped, fenced, grid, paragraph


def markdown_of(content: Document, assets: str = "") -> str:
    """``assets`` is the folder of the charts, as seen from the file; empty leaves them out."""
    parts = [[f"# {escaped(content.heading)}"], *_blocks(content.lead, assets)]
    for section in content.sections:
        parts += _section(section, assets)
    return document(*parts, [f"_{escaped(content.made)}_"])


def _section(section: Section, assets: str) -> list[list[str]]:
    return [[f"## {escaped(section.title)}"], *_blocks(section.blocks, assets)]


def _blocks(blocks: Sequence[Block], assets: str) -> list[list[str]]:
    return [_block(block, assets) for block in blocks]


def _block(block: Block, assets: str) -> list[str]:
    match block:
        case Text():
            return [f"**{escaped(block.text)}**" if block.strong else paragraph(block.text)]
        case Items():
            return [f"- {paragraph(item)}" for item in block.items]
        case Table():
            return _table(block)
        case Code():
            return [paragraph(f"{block.caption}:"), "", *fenced(lines(block.text))]
        case Chart():
            return [f"![{escaped(block.title)}]({quote(f'{assets}/{block.name}.svg')})"] if assets else []


def _table(table: Table) -> list[str]:
    rows = []
    for number, row in enumerate(table.rows):
        mark = "**" if number in table.strong else ""
        rows.append([f"{mark}{escaped(cell)}{mark}" if cell.strip() else "" for cell in row])
    return grid([escaped(column) for column in table.columns], table.sides, rows)
