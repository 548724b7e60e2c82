"""Charts as static SVG: no script, nothing that is loaded, colours for a light and a dark page."""

from __future__ import annotations

import sys
from typing import Any

import pygal
from pygal.style import Style

from cephtui.printable import printable
from cephtui.reports.blocks import ChartSeries, Color, Document, LineChart, Stroke

# pygal's finder of maps, which are not used here, has no find_spec: Python warns of that at each import after it
sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, pygal.PluginImportFixer)]
_WIDTH = 720
_FONT, _LETTER = 11, 6.6
"""Pixels of labels: their size, and the width that is enough for a letter."""
_LEGEND_BOX, _LEGEND_GAP, _LEGEND_ROW = 9, 20, 16.5
_MARGIN = 8
_COLORS: dict[Color, str] = {
    "before": "#7d8792",
    "after": "#7a66e8",
    "limit": "#c23b4b",
    "ink": "#808894",
    "s1": "#3f7fc4",
    "s2": "#cf6a1e",
    "s3": "#2f9461",
    "s4": "#9b62c9",
    "s5": "#b98a12",
    "s6": "#1c9aa8",
    "s7": "#c23b4b",
    "s8": "#808894",
}
"""Each is legible on white and on black; a page may have others in ``--chart-NAME``."""
_STROKES: dict[Stroke, str] = {
    "line": "stroke-width: 1.4",
    "thick": "stroke-width: 7; stroke-linecap: round; stroke-opacity: 0.45",
    "dashed": "stroke-width: 1.6; stroke-dasharray: 5 4",
    "dots": "",
}
"""In the style of each path: pygal's own style sheet has the same width for all."""
_LEFT_OUT = ("script", "desc", "title")
"""Elements: of a tooltip that only a script shows, and what they are named by."""


def svgs_of(content: Document) -> dict[str, str]:
    """The charts of a document, by the names of their files."""
    blocks = (block for section in content.sections for block in section.blocks)
    return {f"{block.name}.svg": draw(block) for block in blocks if isinstance(block, LineChart)}


def draw(chart: LineChart) -> str:
    """The SVG element; the same for the same chart."""
    legend_columns, more_rows, unused_rows = _legend(chart)
    drawn = pygal.XY(
        style=_style(chart),
        js=[],
        width=_WIDTH,
        height=chart.height + round(_LEGEND_ROW * more_rows),
        show_legend=any(series.name for series in chart.series),
        legend_at_bottom=True,
        legend_at_bottom_columns=legend_columns,
        legend_box_size=_LEGEND_BOX,
        truncate_legend=-1,
        margin=_MARGIN,
        margin_bottom=round(_MARGIN - _LEGEND_ROW * unused_rows),
        margin_right=22,
        spacing=6,
        x_title=chart.x_title or None,
        show_x_guides=True,
        dots_size=4.5,
        print_labels=any(series.labels for series in chart.series),
        include_x_axis=False,
        x_labels=[{"value": at, "label": printable(text)} for at, text in chart.x],
        y_labels=[{"value": at, "label": printable(text)} for at, text in chart.y],
        xrange=chart.x_range,
        range=chart.y_range,
        disable_xml_declaration=True,
        pretty_print=False,
    )
    drawn.uuid = chart.name
    drawn.add_xml_filter(lambda root: _plain(root, chart))
    for series in chart.series:
        is_line = series.stroke != "dots"
        drawn.add(printable(series.name) or None, _values(series), stroke=is_line, show_dots=not is_line)
    return str(drawn.render())


def _legend(chart: LineChart) -> tuple[int, int, int]:
    """How many columns the legend has, so that no name reaches the next one; its rows beyond the first; and how many
    more than it needs pygal keeps free, which counts series without a name too."""
    names = [series.name for series in chart.series if series.name]
    if not names:
        return 1, 0, 0
    labels = max((len(label) for _, label in chart.y), default=0)
    room = _WIDTH - _LETTER * labels - 2 * _LEGEND_GAP
    widest = _LEGEND_BOX + _LEGEND_GAP + _LETTER * max(map(len, names))
    columns = max(1, min(len(names), int(room / widest)))
    rows = -(-len(names) // columns)
    return columns, rows - 1, len(chart.series) // columns - rows


def _values(series: ChartSeries) -> list[Any]:
    if not series.labels:
        return list(series.points)
    pairs = zip(series.points, series.labels, strict=True)
    return [{"value": point, "label": printable(label)} for point, label in pairs]


def _style(chart: LineChart) -> Style:
    ink, line = "var(--chart-text, #808894)", "var(--chart-line, #80889455)"
    return Style(
        background="transparent",
        plot_background="transparent",
        foreground=ink,
        foreground_strong=ink,
        foreground_subtle=ink,
        guide_stroke_color=line,
        major_guide_stroke_color=line,
        guide_stroke_dasharray="1,0",
        major_guide_stroke_dasharray="1,0",
        colors=tuple(_color(series) for series in chart.series),
        value_colors=tuple(ink for _ in chart.series),
        value_label_font_size=10,
        opacity="1",
        stroke_opacity="1",
        transition="0s",
        font_family="system-ui, sans-serif",
        label_font_size=_FONT,
        major_label_font_size=_FONT,
        legend_font_size=_FONT,
        title_font_size=_FONT,
    )


def _color(series: ChartSeries) -> str:
    return f"var(--chart-{series.color}, {_COLORS[series.color]})"


def _plain(root: Any, chart: LineChart) -> Any:
    """Without scripts and tooltips; named by the chart's title for those who hear the page."""
    for parent in root.iter():
        for child in list(parent):
            name = child.tag.rpartition("}")[2] if isinstance(child.tag, str) else "script"
            if name in _LEFT_OUT or child.get("class") == "plot tooltip-overlay":
                parent.remove(child)
    for number, series in enumerate(chart.series):
        for path in _paths(root, number):
            path.set("style", _STROKES[series.stroke])
    root.set("role", "img")
    root.set("aria-label", printable(chart.title))
    return root


def _paths(root: Any, number: int) -> list[Any]:
    groups = [element for element in root.iter() if f"serie-{number}" in str(element.get("class")).split()]
    return [element for group in groups for element in group.iter() if str(element.tag).endswith("path")]
