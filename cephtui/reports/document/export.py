"""A document as a file: in which format, under which name, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from cephtui.reports.document.blocks import Chart
from cephtui.reports.document.content import document_of
from cephtui.reports.document.csv_figures import csv_text_of
from cephtui.reports.document.markdown import markdown_of
from cephtui.reports.document.material import Material
from cephtui.sessions.writer import write_whole

Form: TypeAlias = Literal["md", "html", "csv", "xlsx"]
FORMS: tuple[Form, ...] = get_args(Form)
_SUFFIXES: Mapping[str, Form] = {".md": "md", ".markdown": "md", ".html": "html", ".htm": "html",
                                   ".csv": "csv", ".xlsx": "xlsx"}  # fmt: skip


class ExportError(Exception):
    """A file can't be written, or is not overwritten; the text names it, the cause and the next step."""


def form_of(path: Path) -> Form | None:
    """The format that a file's name stands for."""
    return _SUFFIXES.get(path.suffix.lower())


def default_name(session: str, form: Form) -> str:
    """``tuning-report.html``."""
    return f"{session}-report.{form}"


def exported(material: Material, form: Form, assets: str = "", *, seconds: bool = False) -> str | bytes:
    """The whole file; raises StoreError. Each library is loaded with its own format only."""
    if form == "xlsx":
        from cephtui.reports.document.xlsx import xlsx_of

        return xlsx_of(material, seconds=seconds)
    if form == "csv":
        return csv_text_of(material, seconds=seconds)
    if form == "html":
        from cephtui.reports.document.html import html_of

        return html_of(document_of(material))
    return markdown_of(document_of(material), assets)


def svgs_of(material: Material) -> dict[str, str]:
    """The charts by the names of their files."""
    from cephtui.reports.document.charts import draw

    blocks = [block for section in document_of(material).sections for block in section.blocks]
    return {f"{block.name}.svg": draw(block) for block in blocks if isinstance(block, Chart)}


def check_free(path: Path, *, force: bool) -> None:
    """Raises ExportError where a file must not, or can't, be written."""
    if path.is_dir():
        raise ExportError(f"{path} is a directory: name a file in it")
    if path.exists() and not path.is_file():
        raise ExportError(f"{path} is no regular file: use -o - for the output")
    if os.path.lexists(path) and not force:
        raise ExportError(f"{path} exists: --force overwrites it")
    if not path.parent.is_dir():
        raise ExportError(f"no directory {path.parent}: make it first, or name another")


def write(path: Path, content: str | bytes, *, force: bool) -> None:
    """Raises ExportError; what was there before is kept then."""
    check_free(path, force=force)
    try:
        write_whole(path.resolve(), content)
    except OSError as error:
        raise ExportError(f"can't write {path}: {error.strerror}: name a file elsewhere, or make room") from None
