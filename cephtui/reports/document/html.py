"""A document as one HTML file: no script, nothing that is loaded, for a screen in light or dark and for A4."""

from __future__ import annotations

from jinja2 import Environment
from markupsafe import Markup

from cephtui.paths import packaged_text
from cephtui.printable import lines
from cephtui.reports.document.blocks import Chart, Document
from cephtui.reports.document.charts import draw


def html_of(content: Document) -> str:
    """The whole page; every text of any origin is escaped."""
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, finalize=_shown)
    template = environment.from_string(packaged_text("cephtui.reports.document", "report.html"))
    style = Markup(packaged_text("cephtui.reports.document", "report.css"))
    return template.render(document=content, style=style, svg=_svg, kind=lambda block: type(block).__name__)


def _svg(chart: Chart) -> Markup:
    return Markup(draw(chart))


def _shown(value: object) -> object:
    """Text as a terminal would show it: what turns the direction of a line, or shows nothing, stands as an escape."""
    return lines(value) if type(value) is str else value
