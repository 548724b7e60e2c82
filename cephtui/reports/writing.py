"""A report as a file: whole or not at all, and none that is there overwritten by mistake."""

from __future__ import annotations

import os
from pathlib import Path

from cephtui.writing import write_whole


class ExportError(Exception):
    """A file can't be written, or is not overwritten; the text names it, the cause and the next step."""


def default_name(session: str, form: str) -> str:
    """``tuning-report.html``."""
    return f"{session}-report.{form}"


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
        raise ExportError(f"can't write {path}: {error.strerror}: name another file, or free up space") from None
