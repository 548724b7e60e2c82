"""All that was expected of runs and what became of it: of volumes a table, of others a line each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cephtui.analysis.runs.batches import name_of
from cephtui.models import Run
from cephtui.models.expectation import Expected
from cephtui.models.study import Ordered
from cephtui.reports.blocks import Block, Items, View, document, words
from cephtui.reports.sheets import sheet_of
from cephtui.reports.views.volumes import volume_blocks, volume_rows
from cephtui.reports.words.expectation import expected_lines


def expected_view(expected: Sequence[Expected], runs: Sequence[Run], ordered: Ordered | None) -> View:
    """What became of it; ``ordered`` has the volumes that were not measured."""
    return View(
        document=lambda: document("expected", *expected_blocks(expected, runs, ordered)),
        lines=lambda: expected,
        sheet=lambda: sheet_of(Expected, expected, "expected", leaving_out=("left_out", "limited")),
    )


def expected_blocks(expected: Sequence[Expected], runs: Sequence[Run], ordered: Ordered | None) -> Iterator[Block]:
    """The volumes of these runs, then what is in none of them."""
    named: Mapping[str, Run] = {name_of(run): run for run in runs}
    has_volumes = any(run.promise and run.promise.volume for run in runs)
    rows = volume_rows(expected, named, ordered) if has_volumes else []
    if rows:
        yield from volume_blocks(rows, named)
    shown = {id(each) for row in rows for each in row.parts.values()}
    if lines := expected_lines([each for each in expected if id(each) not in shown]):
        yield Items(tuple(words(text, style=style) for text, style in lines))
