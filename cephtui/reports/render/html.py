"""A document as one HTML file: no script, nothing that is loaded, for a screen in light or dark and for A4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jinja2 import Environment
from markupsafe import Markup

from cephtui.paths import packaged_text
from cephtui.printable import lines
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
    Table,
    Text,
    plain_text,
    share_of,
)
from cephtui.reports.render.svg import draw

_KINDS: Mapping[type[Block], str] = {
    Text: "text",
    Items: "list",
    Facts: "facts",
    Table: "table",
    Histograms: "histograms",
    Code: "code",
    NextStep: "next step",
    LineChart: "chart",
    ConfidenceInterval: "",
}
"""What the page draws of each block; empty for nothing, as an interval stands in a chart. A block has to be here."""


_WORD_MOST = 16


def html_of(content: Document) -> str:
    """The whole page; every text of any origin is escaped."""
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, finalize=_shown)
    template = environment.from_string(packaged_text("cephtui.reports.render", "page.html"))
    style = Markup(packaged_text("cephtui.reports.render", "page.css"))
    functions = {
        "svg": _svg,
        "cell": _cell,
        "filled": _filled,
        "is_long": _is_long,
        "kind": _kind,
        "share_of": share_of,
    }
    return template.render(document=content, style=style, **functions)


def _kind(block: Block) -> str:
    return _KINDS[type(block)]


def _is_long(cell: Cell | Bar) -> bool:
    """Whether a word in it is so long that a table as wide as a page may have to break it."""
    return not isinstance(cell, Bar) and any(len(word) > _WORD_MOST for word in plain_text(cell).split())


def _filled(table: Table, row: Sequence[Cell | Bar]) -> Sequence[Cell | Bar]:
    """The cells of a row up to its last text, which has the room of the others; all of one that ends in a figure."""
    last = max((at for at, cell in enumerate(row) if isinstance(cell, Bar) or plain_text(cell)), default=0)
    return row[: last + 1] if table.columns[last].side == "l" else row


def _svg(chart: LineChart) -> Markup:
    return Markup(draw(chart))


def _cell(cell: Cell | Bar) -> Markup:
    """Parts with a style of their own are marked with it; a bar is as wide as its share."""
    if isinstance(cell, Bar):
        return Markup('<span class="bar {}" style="width: {:.1f}%"></span>').format(cell.style, 100 * cell.share)
    if isinstance(cell, str):
        return Markup("{}").format(lines(cell))
    parts = Markup("").join(
        Markup('<span class="{}">{}</span>').format(style, lines(text)) if style else Markup("{}").format(lines(text))
        for text, style in cell.parts
    )
    return Markup('<span class="{}">{}</span>').format(cell.style, parts) if cell.style else parts


def _shown(value: object) -> object:
    """Text as a terminal would show it: what turns the direction of a line, or shows nothing, stands as an escape."""
    return lines(value) if type(value) is str else value
