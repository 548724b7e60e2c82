"""All that was expected of runs and what became of it: of volumes a table, of others a line each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from types import MappingProxyType
from typing import TypeAlias

from cephtui import units
from cephtui.analysis.runs.batches import name_of, node_names
from cephtui.analysis.verdicts.expectation import Expectation, figure_of
from cephtui.frozen import dataclass
from cephtui.models import MeasuredVolume, Run, VolumePart
from cephtui.models.expectation import Expected
from cephtui.models.metrics import BY_NAME
from cephtui.models.study import Ordered
from cephtui.reports.blocks import Block, Cell, Column, Items, Table, Text, View, document, words
from cephtui.reports.sheets import Sheet, columns_of, sheet_of
from cephtui.reports.words.expectation import SECONDS, STYLES, expected_lines, given_text, runs_of, word_text
from cephtui.reports.words.verdict import left_out_lines


def expected_view(expected: Sequence[Expected], runs: Sequence[Run], ordered: Ordered | None) -> View:
    """Expected figures with what became of them; ``ordered`` has the volumes that were not measured."""
    return View(
        document=lambda: document("expected", *expected_blocks(expected, runs, ordered)),
        lines=lambda: expected,
        sheet=lambda: expected_sheet(expected),
    )


def expected_sheet(expected: Iterable[Expected]) -> Sheet:
    """A row for each; why runs were left out, and what limits figures, as texts."""
    rows = [
        {
            **columns_of(figure),
            "left_out": "; ".join(left_out_lines(figure.left_out)),
            "limited": "; ".join(left_out_lines(figure.limited)),
        }
        for figure in expected
    ]
    return replace(sheet_of(Expected, (), "expected"), rows=rows)


def expected_blocks(expected: Sequence[Expected], runs: Sequence[Run], ordered: Ordered | None) -> Iterator[Block]:
    """The volumes of these runs, then what is in none of them."""
    named: Mapping[str, Run] = {name_of(run): run for run in runs}
    has_volumes = any(run.promise and run.promise.volume for run in runs)
    rows = volume_rows(expected, named, ordered) if has_volumes else []
    if rows:
        yield from volume_blocks(rows, named)
    in_table = {id(figure) for row in rows for figure in row.parts.values()}
    if lines := expected_lines([figure for figure in expected if id(figure) not in in_table]):
        yield Items(tuple(words(text, style=style) for text, style in lines))


PARTS: tuple[VolumePart, ...] = ("read", "write", "75/25")
_Key: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A volume with one block size and number of jobs."""

    volume: str
    device_class: str
    depth: str
    """``64``, ``64 x 8 jobs``."""
    parts: Mapping[VolumePart, Expected] = field(default_factory=dict)
    """By what was done; what was not measured is left out."""
    missing: frozenset[VolumePart] = frozenset()
    """What was to be measured and was not."""


def volume_rows(every: Iterable[Expected], runs: Mapping[str, Run], ordered: Ordered | None = None) -> list[Row]:
    """Rows of volumes; ``runs`` are by their names, and ``ordered`` has what was not measured."""
    rows: dict[_Key, list[Row]] = {}
    for key, volume, depth, expected in (*_measured_parts(every, runs), *_missing_parts(runs.values(), ordered)):
        same = rows.setdefault(key, [])
        at = next((number for number, row in enumerate(same) if volume.part not in row.parts), len(same))
        before = same[at] if at < len(same) else Row(volume.name, volume.device_class, depth)
        now = replace(before, missing=before.missing | {volume.part})
        if expected:
            now = replace(before, parts={**before.parts, volume.part: expected})
        same[at:] = [now, *same[at + 1 :]]
    return [row for same in rows.values() for row in same]


_Part: TypeAlias = tuple[_Key, MeasuredVolume, str, Expected | None]


def _measured_parts(every: Iterable[Expected], runs: Mapping[str, Run]) -> Iterator[_Part]:
    for expected in every:
        run = next((runs[name] for name in runs_of(expected) if name in runs), None)
        if run and run.promise and run.promise.volume and expected.expectation in run.promise.expect:
            volume, depth = run.promise.volume, _depth(run.options, run.asked)
            yield (volume.name, run.target, *node_names(run), run.options.get("bs"), depth), volume, depth, expected


def _missing_parts(runs: Iterable[Run], ordered: Ordered | None) -> Iterator[_Part]:
    measured = {run.batch for run in runs}
    for cell in ordered.cells if ordered else ():
        if cell.volume and cell.batch not in measured:
            options = {**cell.of_preset, **cell.options}
            depth = _depth(options)
            yield (cell.volume.name, cell.target, *cell.nodes, options.get("bs"), depth), cell.volume, depth, None


def _depth(options: Mapping[str, object], requested: Mapping[str, object] = MappingProxyType({})) -> str:
    """The depth as it runs: ``64 x 8 jobs``; where several were asked for on one image, ``512 in one job``."""
    depth, jobs = options.get("iodepth", 1), str(options.get("numjobs", 1))
    return f"{depth} x {jobs} jobs" if jobs != "1" else f"{depth} in one job" if "numjobs" in requested else str(depth)


def volume_blocks(rows: Sequence[Row], runs: Mapping[str, Run]) -> Iterator[Block]:
    """A row for each volume, why something is invalid, and how many volumes are as promised.

    ``runs`` are those that were measured, by their names.
    """
    heads = (Column("volume"), Column("class", is_whole=True), Column("depth", "r"), Column("promised", "r"))
    cells = [
        (
            *(row.volume, row.device_class, row.depth, _promised(row)),
            *(_measured(row.parts.get(part), runs) for part in PARTS),
            _seconds(row),
        )
        for row in rows
    ]
    yield Table((*heads, *map(Column, (*PARTS, SECONDS))), tuple(cells)).filled
    *lines, reached = _lines(rows)
    if lines:
        yield Items(tuple(words(line, style="limited") for line in lines))
    yield Text(reached, "strong")


def _lines(rows: Sequence[Row]) -> list[str]:
    """Why something is invalid, what was given as something else before, and how many volumes are as promised."""
    named = [(f"{row.volume} {part}", expected) for row in rows for part, expected in row.parts.items()]
    lines = [
        f"{name}: {line}"
        for name, expected in named
        for line in left_out_lines((*expected.left_out, *expected.limited))
    ]
    lines += [f"{name}: {word_text(expected.word)}{given_text(expected)}" for name, expected in named if expected.given]
    volumes = {row.volume for row in rows}
    missed = {
        row.volume for row in rows if row.missing or {expected.answer for expected in row.parts.values()} != {"met"}
    }
    return [*lines, f"{len(volumes - missed)} of {len(volumes)} volumes deliver what they promise"]


def _measured(expected: Expected | None, runs: Mapping[str, Run]) -> Cell:
    """``PASS 8,006``; of reads and writes together also each of them."""
    if expected is None:
        return units.DASH
    text = word_text(expected.word)
    if expected.measured is not None:
        text = f"{text} {_figure(expected, expected.measured)}"
    metric = BY_NAME[expected.figure]
    parts = [
        _figure(expected, figure_of(run, Expectation(metric, expected.promised, name)))
        for run in [runs[name] for name in expected.runs if name in runs][-1:]
        for name in run.summary.flows
    ]
    whole = f"{text} ({' + '.join(parts)})" if len(parts) > 1 else text
    return words(whole, style=STYLES.get(expected.word, "open"))


def _figure(expected: Expected, value: float | None) -> str:
    if value is None:
        return units.DASH
    return f"{value:,.0f}" if expected.figure == "iops" else units.bandwidth(value)


def _promised(row: Row) -> str:
    """Once, where it is the same of all parts."""
    return (
        " / ".join(dict.fromkeys(_figure(expected, expected.promised) for expected in row.parts.values())) or units.DASH
    )


def _seconds(row: Row) -> str:
    """The share of seconds that reach the promise, of the part with the fewest."""
    shares = [
        expected.seconds_reached / expected.seconds
        for expected in row.parts.values()
        if expected.seconds and expected.seconds_reached is not None
    ]
    if not shares:
        return units.DASH
    return "100 %" if min(shares) == 1 else f"{min(100 * min(shares), 99.9):.1f} %"
