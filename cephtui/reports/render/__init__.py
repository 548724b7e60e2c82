"""The formats of files: each renders any view, and knows no result.

A format is a module here and a row in ``FORMATS``. The command line loads this table at its start, and what a format
needs with its first use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cephtui.frozen import dataclass

if TYPE_CHECKING:
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
    """A format of files."""

    suffixes: tuple[str, ...]
    """Of the names of its files, the usual one first."""
    render: Callable[[View], str | bytes]
    """The whole file. Raises StoreError, where a view reads what it shows."""
    about: str = ""
    """For the help, behind its name: ``is Markdown``."""
    is_text: bool = True
    is_printed: bool = True
    """Whether a report is printed where no file is named; else it gets a file with the name of its session."""


FORMATS: Mapping[str, Format] = {
    "md": Format((".md", ".markdown"), _markdown, "is Markdown, for a ticket"),
    "html": Format((".html", ".htm"), _html, is_printed=False),
    "csv": Format((".csv",), _csv, "has base units"),
    "xlsx": Format((".xlsx",), _xlsx, is_text=False, is_printed=False),
}


def format_of(path: Path) -> str | None:
    """The name of the format that a file's name stands for."""
    return next((name for name, file_format in FORMATS.items() if path.suffix.lower() in file_format.suffixes), None)
