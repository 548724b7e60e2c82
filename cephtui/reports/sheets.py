"""The data of a view, for CSV and for workbooks: rows in base units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from cephtui.frozen import dataclass

if TYPE_CHECKING:
    from cephtui.models import Model


@dataclass(frozen=True, slots=True)
class SheetChart:
    """A chart of columns of a sheet, by their names."""

    kind: Literal["bar", "dots", "lines", "curve"]
    title: str
    x: tuple[str, ...]
    """A bar is named by the texts of the columns from the first to the last of these."""
    y: str
    by: tuple[str, ...] = ()
    """Rows that have the same in these columns are a series of their own."""
    ends: tuple[str, ...] = ()
    """The columns of how far an interval reaches above and below a value."""
    series_most: int | None = None


@dataclass(frozen=True, slots=True)
class Sheet:
    """Data in base units: a row by the names of its columns."""

    name: str
    columns: tuple[str, ...]
    rows: Iterable[Mapping[str, object]]
    """What a row does not have is not known."""
    lead: tuple[str, ...] = ()
    """Above it in a workbook."""
    charts: tuple[SheetChart, ...] = ()
    """Of a workbook."""
    is_filtered: bool = False


def iso_time(moment: datetime) -> str:
    """ISO 8601, as in the JSON Lines."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


_OF_LINES = ("event", "schema_version")
"""What JSON Lines have beside the data."""


def sheet_of(model: type[Model], rows: Iterable[Model], name: str, leaving_out: tuple[str, ...] = ()) -> Sheet:
    """A row for each model, a column for each of its fields; what a field has several of stands in one cell."""
    columns = tuple(field for field in model.model_fields if field not in (*_OF_LINES, *leaving_out))
    return Sheet(name, columns, map(columns_of, rows))


def columns_of(row: Model) -> dict[str, object]:
    """The cells of a row by the names of its fields."""
    return {field: _in_one_cell(getattr(row, field)) for field in type(row).model_fields}


def _in_one_cell(value: object) -> object:
    """``3 4``, ``iodepth=16 bs=4k``: lists and options with blanks between them, sentences with semicolons."""
    if isinstance(value, Mapping):
        from cephtui.presets import choice_text

        return " ".join(f"{key}={choice_text(item)}" for key, item in value.items())
    if isinstance(value, tuple):
        texts = [*map(str, value)]
        return ("; " if any(" " in text for text in texts) else " ").join(texts)
    return iso_time(value) if isinstance(value, datetime) else value
