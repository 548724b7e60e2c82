"""The formats of files: each renders any view, and knows no result.

A format is a module here and a row in ``FORMATS``. Each library is loaded with its own format only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from cephtui.frozen import dataclass
from cephtui.reports.blocks import View


def _markdown(view: View) -> str:
    from cephtui.reports.render.gfm import markdown_of

    return markdown_of(view.document())


def _html(view: View) -> str:
    from cephtui.reports.render.html import html_of

    return html_of(view.document())


def _csv(view: View) -> str:
    from cephtui.reports.render.csv import csv_of

    return csv_of(view.sheet())


def _xlsx(view: View) -> bytes:
    from cephtui.reports.render.xlsx import xlsx_of

    return xlsx_of(view)


@dataclass(frozen=True, slots=True)
class Format:
    """That of a file."""

    suffixes: tuple[str, ...]
    """Of the names of its files, the usual one first."""
    render: Callable[[View], str | bytes]
    """The whole file. Raises StoreError, where a view reads what it shows."""
    is_text: bool = True


FORMATS: Mapping[str, Format] = {
    "md": Format((".md", ".markdown"), _markdown),
    "html": Format((".html", ".htm"), _html),
    "csv": Format((".csv",), _csv),
    "xlsx": Format((".xlsx",), _xlsx, is_text=False),
}


def format_of(path: Path) -> str | None:
    """The name of the format that a file's name stands for."""
    return next((name for name, each in FORMATS.items() if path.suffix.lower() in each.suffixes), None)
