"""The data of a view as CSV (RFC 4180) that a spreadsheet takes as data: no text becomes a formula there."""

from __future__ import annotations

import csv
from io import StringIO

from cephtui.reports.sheets import Sheet

_BEGINS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_of(sheet: Sheet) -> str:
    """A header and the rows; what a row does not have is empty, and what has no column is left out."""
    file = StringIO()
    writer = csv.DictWriter(file, sheet.columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows({name: _as_data(value) for name, value in row.items()} for row in sheet.rows)
    return file.getvalue()


def _as_data(value: object) -> object:
    """A text that a spreadsheet would calculate has an apostrophe before it; numbers are as they are."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_BEGINS_A_FORMULA) else value
