"""A matrix in print: the words of its cells, the table at any width, Markdown, CSV and JSON Lines."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.cells import cell_len
from rich.style import Style

from cephtui.analysis.views.matrix import Matrix
from cephtui.cli import verbs
from cephtui.models import Stages
from cephtui.models.metrics import BY_NAME
from cephtui.models.rows import MatrixCell
from cephtui.presets import headline_metric
from cephtui.reports.blocks import Words, plain_text
from cephtui.reports.render.html import html_of
from cephtui.reports.render.rich import styled
from cephtui.reports.views.matrix import (
    cell_lines,
    column_titles,
    legend,
    matrix_cells,
    matrix_view,
    progress_text,
    remarks,
    row_texts,
    row_titles,
    runs_heading,
)
from cephtui.sessions.matrix import MatrixReader
from cephtui.sessions.writer import take_lock
from tests.support import studies, two_copies
from tests.support.drawings import draw_matrix, matrix_csv, matrix_markdown, printed
from tests.support.golden import Golden
from tests.support.known import known
from tests.support.plans import catalogue

MEASURED = 33
"""Runs, the last one in progress."""
LATENCY = BY_NAME["latency_mean_seconds"]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a session of 48 runs, as far as it has been measured."""
    return studies.write(tmp_path_factory.mktemp("study"), list(studies.runs(MEASURED)), studies.order())


def reader(directory: Path) -> MatrixReader:
    return MatrixReader(directory, partial(headline_metric, catalogue()))


@pytest.fixture(scope="module")
def matrix(study: Path) -> Matrix:
    """Of the study, while it is measured."""
    lock = known(take_lock(study))
    try:
        return reader(study).read()
    finally:
        lock.close()


def drawn(matrix: Matrix, width: int, *, ascii_only: bool = False) -> list[str]:
    table = draw_matrix(matrix, [*studies.runs(MEASURED)], live=True, ascii_only=ascii_only)
    return [line.rstrip() for line in printed(table, width).splitlines()]


def show(root: Path, *words: str) -> str:
    data = {"CEPHTUI_DATA_DIR": str(root)}
    done = CliRunner().invoke(verbs.cli, ["show", *words], prog_name="cephtui", env=data)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the study and the recorded session are the saved sessions; no process writes them."""
    root = tmp_path_factory.mktemp("home")
    studies.write(root / "sessions", list(studies.runs(MEASURED)), studies.order())
    two_copies.unpack(root / "sessions")
    return root


# ---------------------------------------------------------------------------------------------- words


def test_rows_and_columns_have_titles(matrix: Matrix) -> None:
    assert column_titles(matrix) == ["pve1", "pve2", "pve3", "all 3 nodes"]
    assert row_titles(matrix) == [
        "4k random writes",
        "mixed 75/25 read",
        "mixed 75/25 write",
        "writes by depth iodepth=1",
        "writes by depth iodepth=16",
    ]


def test_the_legend_and_the_headings_are_of_what_there_is(matrix: Matrix) -> None:
    assert legend(matrix).endswith("; !: a finding limits the figure")
    assert runs_heading(row_texts(matrix.rows[0])) == "runs"
    once = replace(known(matrix.rows[0].cells[1]), runs_ordered=1)
    assert known(once).findings == ()
    row = replace(matrix.rows[0], cells=(once,) * len(matrix.columns))
    assert "!" not in legend(replace(matrix, rows=(row,)))
    texts = row_texts(row, "medium")
    assert {text.runs.plain for text in texts} == {"▼ slowest"}
    assert runs_heading(texts) == ""


def cells(matrix: Matrix, row: int, *, ascii_only: bool = False) -> list[list[str]]:
    found = matrix.rows[row]
    return [
        [
            " ".join(styled(part, ascii_only=ascii_only).plain for part in parts if part.plain)
            for parts in ((texts.marked_figure, texts.spread, texts.runs) for texts in row_texts(found, room))
        ]
        for room in ("wide", "medium", "narrow")
    ]


def test_cells_say_figure_spread_state_and_what_is_slowest(matrix: Matrix) -> None:
    assert cells(matrix, 0) == [
        ["16.7k ! ▇ 2.0 % 3 of 3", "9.80k ▄ 2.0 % 3 of 3 ▼ slowest", "16.4k ▆ 2.8 % failed 2 of 3",
         "21.9k █ 2.0 % 3 of 3 ▼ slowest pve2"],
        ["16.7k ! ▇ 2.0 %", "9.80k ▄ 2.0 % ▼ slowest", "16.4k ▆ 2.8 % failed 2/3", "21.9k █ 2.0 % ▼ pve2"],
        ["16.7k ! ▇", "9.80k ▄ ▼", "16.4k ▆ failed 2/3", "21.9k █ ▼"],
    ]  # fmt: skip
    assert cells(matrix, 3)[0] == ["2.90k █ 1.0 % 3 of 3", "2.84k █ 0.7 % running 3 of 3", "waiting", "waiting"]
    assert cells(matrix, 0, ascii_only=True)[2] == [
        "16.7k ! *", "9.80k - v", "16.4k + failed 2/3", "21.9k # v",
    ]  # fmt: skip


def _spans(part: Words) -> list[str | Style]:
    return [span.style for span in styled(part).spans]


def test_a_share_is_of_the_best_of_its_row(matrix: Matrix) -> None:
    assert matrix.rows[0].shares == pytest.approx((0.763, 0.447, 0.749, 1.0), abs=0.002)
    assert matrix.rows[3].shares[2:] == (None, None), "nothing is measured there yet"
    assert matrix.rows[4].shares == (None,) * 4
    latencies = replace(matrix.rows[0], metric=LATENCY)
    assert latencies.shares == pytest.approx((0.587, 1.0, 0.598, 0.447), abs=0.002), "less is better"
    alone = replace(matrix.rows[0], cells=matrix.rows[0].cells[:1])
    assert alone.shares == (None,), "it has no like"


def test_a_page_has_a_ground_by_the_share(matrix: Matrix) -> None:
    page = html_of(matrix_view(matrix, [*studies.runs(MEASURED)], "study").document())
    assert 'class="r share" style="--share: 1.00">21.9k</td>' in page
    assert 'style="--share: 0.45">9.80k</td>' in page


def test_the_colours_repeat_what_the_words_say(matrix: Matrix) -> None:
    def styles(row: int, column: int) -> str:
        found = matrix.rows[row]
        texts = row_texts(found)[column]
        return " ".join(
            str(style) for part in (texts.marked_figure, texts.runs) for style in (styled(part).style, *_spans(part))
        )

    assert "yellow" in styles(0, 0)
    assert "red" in styles(0, 2)
    assert "bold" in styles(3, 1)
    assert "dim" in styles(3, 2)


def test_the_progress_in_one_line(matrix: Matrix, golden: Golden) -> None:
    golden.same(progress_text(matrix, live=True))
    golden.same(progress_text(matrix, live=False))
    golden.same(progress_text(replace(matrix, runs_ordered=1, missing=0), live=False))  # ordered before, too


# ---------------------------------------------------------------------------------------------- drawn


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_table_fits(matrix: Matrix, width: int) -> None:
    lines = drawn(matrix, width)
    assert max(map(cell_len, lines)) <= width
    shown = " ".join(" ".join(lines).split())
    for word in ("pve1", "all 3 nodes", "16.7k !", "failed 2", "running 3", "waiting", "54.0k", "iodepth=16"):
        assert word in shown, word
    for remark in remarks(matrix):
        assert " ".join(plain_text(remark).split()) in shown


def test_what_the_marks_mean(matrix: Matrix, golden: Golden) -> None:
    golden.same(plain_text(remark) for remark in remarks(matrix))


def test_a_cell_in_full_and_as_data_has_where_the_latency_goes(matrix: Matrix) -> None:
    row = next(row for row in matrix.rows if row.flow == "write" and row.cells[0] and row.cells[0].state == "ok")
    cell = known(row.cells[0])
    of = {"ios": 100, "operations": 100, "queue_seconds": 0.0, "prepare_seconds": 0.0, "store_seconds": 0.003}
    stages = [Stages(outside_seconds=seconds, **of) for seconds in (0.0005, 0.0015)]
    runs = [run.model_copy(update={"stages": {"write": each}}) for run, each in zip(cell.runs, stages, strict=False)]
    measured = replace(matrix, rows=(replace(row, cells=(replace(cell, runs=tuple(runs)), *row.cells[1:])),))
    lines = [plain_text(line) for line in cell_lines(measured, 0, 0)]
    assert "latency 4.00 ms: 75 % slowest copy, 25 % network and client" in lines
    (data, *_) = matrix_cells(measured, "s")
    assert data.stages
    assert data.stages.outside_seconds == pytest.approx(0.001)
    assert not [line for line in map(plain_text, cell_lines(matrix, 0, 0)) if line.startswith("latency")]


def test_with_less_room_the_least_needed_is_left_out(matrix: Matrix) -> None:
    (wide,) = (" ".join(line.split()) for line in drawn(matrix, 200) if line.startswith("4k random writes "))
    (narrow,) = (" ".join(line.split()) for line in drawn(matrix, 80) if line.startswith("4k random writes "))
    assert wide.startswith(
        "4k random writes IOPS 16.7k ! ▇ 2.0 % 3 of 3 9.80k ▄ 2.0 % 3 of 3 ▼ slowest 16.4k ▆ 2.8 % f"
    )
    assert narrow == "4k random writes 16.7k ! 9.80k ▼ 16.4k failed 2/3 21.9k ▼"
    assert "  pve2          9.80k ▄ 2.0 % 3 of 3 ▼ slowest" in drawn(matrix, 60)  # turned


def test_a_terminal_without_unicode_gets_none(matrix: Matrix) -> None:
    assert all(line.isascii() for line in drawn(matrix, 80, ascii_only=True))


def test_a_session_without_a_suite_has_its_presets(home: Path) -> None:
    lines = show(home, "demo", "--table").splitlines()
    rows = [line.split() for line in lines if line.startswith(("latency", "write-iops", "rados"))]
    assert [row[:2] for row in rows] == [
        ["latency", "read"],
        ["latency", "write"],
        ["write-iops", "runtime=15"],
        ["write-iops", "runtime=15"],
        ["write-iops", "runtime=40"],
        ["rados-write", "pool:bench"],
    ]
    assert lines[1] == "14 runs"
    assert "result" in lines[2]


# ---------------------------------------------------------------------------------------------- handed on


def test_show_writes_the_table_as_markdown(home: Path) -> None:
    text = show(home, "study", "--table", "--format", "md")
    table = [line for line in text.splitlines() if line.startswith("|")]
    places = " | spread | runs | ".join(("pve1", "pve2", "pve3", "all 3 nodes"))
    assert table[0] == f"| step | figure | {places} | spread | runs |"
    assert table[2].startswith("| 4k random writes | IOPS | 16.7k ! | 2.0 % | 3 of 3 | 9.80k | 2.0 % |")
    assert len(table) == 2 + 5
    assert "\n31 of 48 runs, 17 missing" in text


def test_show_writes_the_table_as_csv_and_json(home: Path) -> None:
    rows = list(csv.DictReader(StringIO(show(home, "study", "--table", "--format", "csv"))))
    objects = [json.loads(line) for line in show(home, "study", "--table", "--json").splitlines()]
    assert len(rows) == len(objects) == 5 * 4
    assert (rows[1]["step"], rows[1]["nodes"], rows[1]["state"], rows[1]["runs"]) == (
        "4k random writes", "pve2", "ok", "4 5 6",
    )  # fmt: skip
    assert float(rows[1]["slower_fraction"]) == pytest.approx(0.4, abs=0.01)
    assert (rows[-1]["value"], rows[-1]["state"], rows[-1]["options"]) == ("", "waiting", "iodepth=16")
    assert {row["event"] for row in objects} == {"cell"}
    assert (objects[2]["state"], objects[2]["done"], objects[2]["wanted"]) == ("failed", 2, 3)
    assert objects[0]["slowest_within"] == {"osd.2": pytest.approx(3.75)}
    assert all(MatrixCell.model_validate(row) for row in objects)


def test_a_table_of_one_run_is_refused(home: Path, golden: Golden) -> None:
    done = CliRunner().invoke(verbs.cli, ["show", "demo/1", "--table"], env={"CEPHTUI_DATA_DIR": str(home)})
    assert done.exit_code == 2
    golden.same(done.output.splitlines()[-1])


HOSTILE = "=1+1|[red]`x`\x1b[2J"


def hostile(tmp_path: Path) -> tuple[Matrix, Sequence[object]]:
    """A suite whose steps, targets and nodes have such names."""
    first, second, *_ = studies.order().cells
    cells = (
        first.model_copy(update={"step": HOSTILE, "target": f"file:/{HOSTILE}"}),
        second.model_copy(update={"step": HOSTILE, "nodes": (HOSTILE,)}),
    )
    order = studies.order().model_copy(update={"cells": cells, "title": HOSTILE})
    found = reader(studies.write(tmp_path, [*studies.runs(3)], order))
    return found.read(), found.runs


def test_hostile_names_are_text_everywhere(tmp_path: Path) -> None:
    matrix, _ = hostile(tmp_path)
    lines = "\n".join(drawn(matrix, 200))
    assert "=1+1|[red]`x`\\x1b[2J" in lines
    text = matrix_markdown(matrix, [*studies.runs(3)])
    assert "=1+1\\|\\[red\\]\\`x\\`\\x1b\\[2J" in text.replace("\\\\x1b", "\\x1b")
    assert "\x1b" not in lines + text + matrix_csv(matrix, "study") + str(matrix_cells(matrix, "study"))
    columns = len(text.split("| --- |")[0].splitlines()[-1].replace("\\|", "").split("|"))
    assert all(len(row.replace("\\|", "").split("|")) == columns for row in text.splitlines() if row.startswith("|"))
