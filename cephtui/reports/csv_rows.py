"""Rows as CSV (RFC 4180) that a spreadsheet takes as data: no text of any origin becomes a formula there."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO

_BEGINS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_of(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """A header and the rows; what a row does not have is empty, and what has no column is left out."""
    file = StringIO()
    writer = csv.DictWriter(file, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows({name: _as_data(value) for name, value in row.items()} for row in rows)
    return file.getvalue()


def _as_data(value: object) -> object:
    """A text that a spreadsheet would calculate has an apostrophe before it; numbers are as they are."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_BEGINS_A_FORMULA) else value
