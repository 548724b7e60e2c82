"""Where the latency goes, in a row below the chart."""

from __future__ import annotations

import pytest

from cephtui.analysis.runs.history import History
from cephtui.models import Interval
from cephtui.tui.widgets.run_view import RunView
from cephtui.tui.widgets.shown import Shown
from cephtui.tui.widgets.stages import stages_text
from tests.support.replayed import text_of
from tests.unit.tui.widgets.test_run_view import bare

WRITE = {"network and client": 0.00306, "queue": 0.0003, "preparation": 0.00034, "slowest copy": 0.0091}
READ = {"network and client": 0.0005, "queue": 0.00001, "preparation": 0.0001, "reading": 0.0014}


def drawn(columns: int, rows: int = 30, *, ascii_only: bool = False, **stages: dict[str, float]) -> list[str]:
    return stages_text(stages, columns, rows, ascii_only=ascii_only).plain.split("\n")


def test_a_small_screen_has_them_in_words() -> None:
    (row,) = drawn(80, write=WRITE)
    assert row == "where: slowest copy 71 %  network and client 24 %  preparation 3 %  queue 2 %"
    assert len(row) <= 78


@pytest.mark.parametrize("ascii_only", [False, True])
def test_a_wide_screen_has_a_band_too(*, ascii_only: bool) -> None:
    (row,) = drawn(120, ascii_only=ascii_only, write=WRITE)
    _, _, rest = row.partition("where: ")
    band, _, legend = rest.partition("  ")
    assert len(band) == 24
    assert set(band) == (set("#+=") if ascii_only else {"█"})
    assert legend.startswith("# slowest copy 71 %  + network and" if ascii_only else "slowest copy 71 %")
    assert len(row) <= 118


def test_reads_and_writes_have_a_row_each() -> None:
    assert [row.split(":")[0] for row in drawn(80, read=READ, write=WRITE)] == ["read", "write"]


def test_where_there_are_few_rows_it_is_the_flow_that_takes_longest() -> None:
    assert [row.split(":")[0] for row in drawn(80, 10, read=READ, write=WRITE)] == ["write"]


def test_each_stage_has_its_colour_in_band_and_legend() -> None:
    even = dict.fromkeys(WRITE, 0.002)
    text = stages_text({"write": even}, 120, 30, ascii_only=False)
    colours = [str(span.style) for span in text.spans if str(span.style).startswith("#")]
    assert colours[: len(colours) // 2] == colours[len(colours) // 2 :]


async def test_the_row_stays_while_the_run_goes_on() -> None:
    view, known, later = RunView(), {"write": {"queue": 0.002, "store": 0.001}}, History()
    write = {"write": Interval(1, 4096, 1.0, 4096.0, 0.1, 0.2)}
    async with bare(view, size=(120, 36)) as (app, pilot):
        for history, stages, words in (
            (later, {}, ""),
            (later, known, "where:"),
            (later, {}, "where: unknown in the last seconds"),
            (History(), {}, ""),
        ):
            view.show(Shown(history, write, (), 60.0, stages=stages))
            await pilot.pause()
            row = view.query_one("#stages")
            assert row.display is bool(words)
            assert not words or words in text_of(app, row)
