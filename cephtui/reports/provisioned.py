"""Volumes with what is promised of them and what was measured: a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from cephtui import units
from cephtui.analysis.expectation import Expectation, measured_of
from cephtui.frozen import dataclass
from cephtui.models import Run
from cephtui.models.expectation import Expected
from cephtui.models.metrics import BY_NAME
from cephtui.reports.expectation import BY_BYTES, STYLES
from cephtui.reports.tables import add_row, make_table, plain
from cephtui.reports.verdict import left_out_lines

_BY_BYTES = f"IOPS{BY_BYTES}: the tool's count of I/Os leaves some out, or has some too many"
PARTS = ("read", "write", "75/25")


@dataclass(frozen=True, slots=True)
class Row:
    """A volume with one block size and number of jobs."""

    volume: str
    device_class: str
    depth: str
    """``64``, ``64 x 8 jobs``."""
    parts: Mapping[str, Expected]
    """By what was done: ``read``, ``write``, ``75/25``; what was not measured is left out."""


def draw_provisioned(rows: Sequence[Row], runs: Mapping[str, Run]) -> RenderableType:
    """A row for each volume, why something is invalid, and how many volumes are as promised.

    ``runs`` are those that were measured, by their names.
    """
    classes = any(row.device_class for row in rows)
    columns = ("volume", *["class"] * classes, "depth", "promised", *PARTS, "seconds >= 90 %")
    table = make_table(*columns, right=("depth", "promised"), whole=columns[1:])
    for row in rows:
        cells = [_measured(row.parts.get(part), runs) for part in PARTS]
        add_row(table, row.volume, *[row.device_class] * classes, row.depth, _promised(row), *cells, _seconds(row))
    lines = [
        f"{row.volume} {part}: {line}"
        for row in rows
        for part, found in row.parts.items()
        for line in [*left_out_lines((*found.left_out, *found.limited)), *[_BY_BYTES] * found.by_bytes]
    ]
    volumes = {row.volume for row in rows}
    missed = {row.volume for row in rows if {each.answer for each in row.parts.values()} != {"met"}}
    kept = f"{len(volumes - missed)} of {len(volumes)} volumes reach what is promised"
    return Group(table, *(plain(line, "yellow") for line in lines), plain(kept, "bold"))


def _measured(found: Expected | None, runs: Mapping[str, Run]) -> Text:
    """``PASS 8,006``; of reads and writes together also each of them."""
    if found is None:
        return Text(units.DASH)
    text = f"{found.word} {_figure(found, found.measured)}" if found.measured is not None else found.word
    metric = BY_NAME[found.figure]
    parts = [
        _figure(found, measured_of(run, Expectation(metric, found.promised, name)))
        for run in [runs[name] for name in found.runs if name in runs][-1:]
        for name in run.summary.flows
    ]
    return Text(f"{text} ({' + '.join(parts)})" if len(parts) > 1 else text, STYLES.get(found.word, "bold yellow"))


def _figure(found: Expected, value: float | None) -> str:
    if value is None:
        return units.DASH
    return f"{value:,.0f}" if found.figure == "iops" else units.bandwidth(value)


def _promised(row: Row) -> str:
    """Once, where it is the same of all parts."""
    return " / ".join(dict.fromkeys(_figure(found, found.promised) for found in row.parts.values())) or units.DASH


def _seconds(row: Row) -> str:
    """Of the part with the fewest."""
    shares = [
        found.seconds_reached / found.seconds
        for found in row.parts.values()
        if found.seconds and found.seconds_reached is not None
    ]
    if not shares:
        return units.DASH
    return "100 %" if min(shares) == 1 else f"{min(100 * min(shares), 99.9):.1f} %"
