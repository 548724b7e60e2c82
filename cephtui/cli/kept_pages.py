"""Pages that were printed, kept in the user's cache until anything that they were made of has changed.

What most of a listing's time goes into is not its work but the import of what that takes: models, statistics, tools.
A page is plain data, which is read back in a few milliseconds; ``make bench`` measures both.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from cephtui import paths
from cephtui.cli.emit import Output, emit
from cephtui.cli.printing import print_blocks
from cephtui.reading import load_json, read_bytes
from cephtui.reports.blocks import Bar, Column, Document, Facts, Items, NextStep, Table, Text, View, Words

_PACKAGE = Path(__file__).parent.parent
_KINDS = {
    kind.__name__: kind for kind in (Bar, Column, Document, Facts, Items, NextStep, Table, Text, Words, frozenset)
}
"""What a page may be made of; one with anything else is not kept."""


def emit_kept(verb: str, output: Output, files: Iterable[str], make: Callable[[], View]) -> None:
    """Emit a view that is made of these files; a table is printed from the page that was kept, where it still holds.

    One page is kept for each verb.
    """
    if output != Output():
        emit(make(), output)
        return
    file, made_of = paths.cache_dir() / "pages" / f"{verb}.json", _made_of(files)
    kept = _kept(file, made_of)
    document = kept or make().document()
    print_blocks(document)
    if not kept:
        _keep(file, made_of, document)


def _made_of(files: Iterable[str]) -> str:
    """Everything that a page depends on: the time zone, cephtui itself, and these files."""
    return "\n".join(
        (*time.tzname, str((time.timezone, time.altzone)), *map(_stamp, files_in(_PACKAGE)), *map(_stamp, files))
    )


def files_in(folder: Path | str) -> Iterator[str]:
    """Every file below a folder, but compiled code; of a folder that can't be read its own name."""
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        yield str(folder)
        return
    for entry in entries:
        if not entry.is_dir():
            yield entry.path
        elif entry.name != "__pycache__":
            yield from files_in(entry.path)


def _stamp(name: str) -> str:
    try:
        file_stat = os.stat(name)  # noqa: PTH116 - there may be ten thousand
    except OSError as error:
        return f"{name} {error.errno}"
    return f"{name} {file_stat.st_ino} {file_stat.st_size} {file_stat.st_mtime_ns}"


def _kept(file: Path, made_of: str) -> Document | None:
    """The page in a file; None where there is none, or the file is of something else or broken."""
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
        was_made_of, kept = load_json(read_bytes(file))
        document = _read(kept) if was_made_of == made_of else None
        return document if isinstance(document, Document) else None
    return None


def _keep(file: Path, made_of: str, document: Document) -> None:
    """Keep a page where that can be done."""
    from cephtui.writing import write_whole

    with contextlib.suppress(OSError, TypeError):
        text = json.dumps([made_of, _written(document)])
        paths.make_private(file.parent)
        write_whole(file, text)


def _written(value: Any) -> Any:
    """The value as JSON: a block as an object of its kind's name and its fields; raises TypeError for other kinds."""
    if isinstance(value, tuple):
        return [_written(part) for part in value]
    if isinstance(value, frozenset):
        return {"frozenset": [sorted(value)]}
    if type(value).__name__ in _KINDS and is_dataclass(value):
        return {type(value).__name__: [_written(getattr(value, field.name)) for field in fields(value)]}
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"{type(value).__name__} is no part of a page that is kept")


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_read, value))
    if isinstance(value, dict):
        ((name, parts),) = value.items()
        return _KINDS[name](*map(_read, parts))
    return value
