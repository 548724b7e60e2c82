"""Every view in every format: the same figures and the same marks, whoever reads them."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from html import unescape
from html.parser import HTMLParser
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from markdown_it import MarkdownIt

from cephtui.analysis.runs.links import links_of
from cephtui.analysis.runs.sides import Side
from cephtui.analysis.verdicts.conclusion import ConclusionTerms, judge_sides
from cephtui.analysis.verdicts.diagnosis import diagnosis
from cephtui.analysis.verdicts.versus import conclude_versus, versus
from cephtui.cli.commands.explain import row_of_kind
from cephtui.cli.emit import FORMS
from cephtui.models import Finding, Mark, MeasuredVolume, Promise
from cephtui.models.expectation import Expected
from cephtui.models.findings import KINDS
from cephtui.models.findings.examples import example_findings
from cephtui.models.inventory import Disk, Nic
from cephtui.models.preset_rows import PresetRow, SuiteRow, SuiteStepRow
from cephtui.models.rows import KnownCeiling, NodeRow
from cephtui.models.session_row import SessionRow
from cephtui.presets import headline_metric
from cephtui.reports.blocks import (
    Bar,
    Block,
    Code,
    Column,
    ConfidenceInterval,
    Facts,
    Histograms,
    Items,
    LineChart,
    NextStep,
    Table,
    Text,
    View,
    naming_runs,
    plain_text,
    sheets_of,
    together,
    words,
)
from cephtui.reports.render import FORMATS
from cephtui.reports.render.gfm import inline
from cephtui.reports.render.rich import draw
from cephtui.reports.views.ceilings import ceilings_view
from cephtui.reports.views.comparison import comparison_view
from cephtui.reports.views.curve import curves_of, curves_view
from cephtui.reports.views.diagnosis import diagnosis_view
from cephtui.reports.views.expected import expected_view
from cephtui.reports.views.host import host_view
from cephtui.reports.views.judgement import judgement_view
from cephtui.reports.views.links import links_view
from cephtui.reports.views.listings import kinds_view
from cephtui.reports.views.matrix import matrix_view
from cephtui.reports.views.nodes import nodes_view
from cephtui.reports.views.presets import presets_view
from cephtui.reports.views.report.content import report_view
from cephtui.reports.views.run import RunDetails, run_view
from cephtui.reports.views.runs import session_view
from cephtui.reports.views.sessions import sessions_view
from cephtui.reports.views.versus import versus_view
from cephtui.sessions.jsonlines import line
from cephtui.sessions.matrix import MatrixReader
from tests.support import documents, studies
from tests.support.drawings import printed
from tests.support.plans import catalogue
from tests.support.runs import IOPS, STARTED, recorded, sweep
from tests.unit.analysis.runs.test_ladder import histogram
from tests.unit.analysis.runs.test_links import TRIANGLE
from tests.unit.analysis.verdicts.test_versus import of_presets
from tests.unit.cli.test_doctor import CEPH, HEALTHY, TOOLS, examined, rows_of
from tests.unit.reports.views.test_details import of_jobs

LIMIT = Finding(code="scrub", text="up to 3 of 33 PGs were being scrubbed")
AT = datetime(2026, 11, 24, tzinfo=UTC)


def sides() -> tuple[Side, Side]:
    """Three runs a side, the later ones slower and limited by a finding."""
    left, right = documents.side((1000, 1010, 990), 1, "5"), documents.side((500, 505, 495), 4, "8", findings=(LIMIT,))
    mark = Mark(at=right[0].started_at - timedelta(seconds=1), text="size 2 | [x] *y* #9")
    return Side(left, (mark,)), Side(right, (mark,))


def of_session() -> View:
    left, right = sides()
    return session_view([*left.runs, *right.runs], left.marks)


def of_run() -> View:
    run = of_jobs({"a": [(300, 1.0)], "b": [(200, 2.0), (250, 2.0)]}, images=True)
    latencies = {"write": histogram([1_000_000] * 2000 + [3_000_000] * 50)}
    return run_view(run, (), lambda: RunDetails(histograms=latencies), tuple)


def of_comparison() -> View:
    return comparison_view(*sides(), judge_sides(*sides(), lambda _: IOPS, AT))


def of_judgement() -> View:
    judged = judge_sides(*sides(), lambda _: IOPS, AT)
    assert judged
    return judgement_view(judged)


def of_versus() -> View:
    compared = versus(*of_presets([((1000, 1010, 990), (500, 510, 495)), ((9, 9, 9), (9, 9, 9))]))
    return versus_view(compared, conclude_versus(compared, ConclusionTerms(lambda _: IOPS), STARTED), has_answer=True)


def of_matrix(folder: Path) -> View:
    directory = studies.write(folder, list(studies.runs(33)), studies.order())
    reader = MatrixReader(directory, partial(headline_metric, catalogue()))
    return matrix_view(reader.read(), reader.runs, "study")


def of_curve() -> View:
    runs = sweep((1, 4, 16, 64))
    runs[1] = runs[1].model_copy(update={"findings": (LIMIT,)})
    return curves_view(curves_of(runs), lambda _: IOPS)


def of_expected() -> View:
    (run, *_) = sides()[0].runs
    found = Expected(
        step="write-iops", preset="write-iops", target=run.target, at=AT, expectation="write iops>=8000",
        direction="write", figure="iops", promised=8000.0, measured=1000.0, word="FAIL", answer="not met",
        runs=(f"{run.session}/{run.run}",), tolerance_percent=1.0,
    )  # fmt: skip
    return expected_view([found], [run], None)


def of_volumes() -> View:
    """One that was measured, and one of which a part was not."""
    (run, other, *_) = sides()[0].runs
    volume = MeasuredVolume(name="disk1", device_class="NVME", part="write")
    promise = Promise(step="disk1 write", expect=("iops>=8000",), volume=volume)
    runs = [each.model_copy(update={"promise": promise, "batch": each.run}) for each in (run, other)]
    expected = Expected(
        step="disk1 write", preset="randwrite", target=run.target, at=AT, expectation="iops>=8000",
        direction=None, figure="iops", promised=8000.0, measured=1000.0, word="FAIL", answer="not met",
        runs=(f"{run.session}/{run.run}",),
        tolerance_percent=1.0, seconds=60, seconds_reached=6, of_volume=True, given="PASS",
    )  # fmt: skip
    return expected_view([expected], runs, None)


def of_diagnosis() -> View:
    findings = [finding for code in ("slow-osd", "scrub", "few-osds") for finding in example_findings(code)[:1]]
    return diagnosis_view(diagnosis([recorded(findings=tuple(findings))]), {})


def of_nodes() -> View:
    disk = Disk(name="sda", device_class="hdd", size_bytes=1 << 40, osds=("osd.3", "osd.4 db"))
    nic = Nic(name="eth0", state="up", bits_per_second=10**10, mtu=9000, addresses=("10.0.0.1/24",))
    rows = [
        NodeRow(
            node=name, ready=name == "a", round_trip_seconds=0.002, disks=(disk,), nics=(nic,), findings=("slow: x",)
        )
        for name in "ab"
    ]
    return nodes_view(rows)


def of_sessions() -> View:
    rows = [
        SessionRow(
            session="s", path="p", created_at=AT, runs=2, presets=("a", "b"), best_write_iops=16.7e3, note="hdd"
        ),
        SessionRow(session="t", path="p", error="session.json: broken"),
    ]
    return sessions_view(lambda: rows, lambda: rows)


def of_listing() -> View:
    """Of the user's and of others, one that can't be read, and a suite."""
    presets = [
        PresetRow(preset="a", title="A", description="reads", tool="fio", key=3, user=True, options={"rw": "randread"}),
        PresetRow(preset="b", group="fio", error="b.toml: no title"),
    ]
    step = SuiteStepRow(
        title="reads", preset="a", options={}, targets=("file", "rbd"), repeats=3, each=None, optional=True, expect=()
    )
    suite = SuiteRow(suite="quick", title="Quick", steps=(step,), runs=3, duration_seconds=270.0, path="p")
    return presets_view(presets, [suite])


def of_kinds(*codes: str) -> View:
    rows = [row_of_kind(KINDS[code]) for code in codes]
    return kinds_view(rows, in_full=len(rows) == 1)


def known(limit: str, what: str, figure: str, value: float, why: str = "") -> KnownCeiling:
    fields = {"limit": limit, "what": what, "figure": figure, "value": value, "why_unused": why}
    return KnownCeiling.model_validate({"fsid": "f", "measured_at": STARTED, "session": "s", "run": 1, **fields})


CEILINGS = [
    known("network", "a to b, public network", "bandwidth_bytes", 125e6, "before a NIC changed"),
    known("OSDs", "osd.0, 4.00 KiB writes", "iops", 900.0),
    known("depth", "randread 4k on rbd:x from a, read with one in flight", "latency_mean_seconds", 0.001),
]


VIEWS: Mapping[str, Callable[[], View]] = {
    "host": lambda: host_view(list(rows_of(examined("pve8", TOOLS | CEPH, HEALTHY)).values())),
    "presets": of_listing,
    "findings": lambda: of_kinds("thin", "scrub"),
    "finding": lambda: of_kinds("thin"),
    "session": of_session,
    "run": of_run,
    "comparison": of_comparison,
    "judgement": of_judgement,
    "versus": of_versus,
    "curve": of_curve,
    "ceilings": lambda: ceilings_view(CEILINGS, STARTED + timedelta(hours=30)),
    "links": lambda: links_view(links_of(TRIANGLE), "s"),
    "expected": of_expected,
    "volumes": of_volumes,
    "nodes": of_nodes,
    "diagnosis": of_diagnosis,
    "sessions": of_sessions,
    "report": lambda: report_view(documents.material(findings=(LIMIT,))),
    "several": lambda: together(of_session(), links_view(links_of(TRIANGLE), "s"), of_expected()),
}
MARKS = "!▲▼"


@pytest.fixture(params=[*VIEWS, "matrix"])
def view(request: pytest.FixtureRequest, tmp_path: Path) -> View:
    return of_matrix(tmp_path) if request.param == "matrix" else VIEWS[request.param]()


def blocks_of(view: View, *, in_sheets: bool = True) -> list[Block]:
    content = view.document()
    sections = [section.blocks for section in content.sections if in_sheets or not section.is_data]
    return [block for blocks in (content.lead, *sections) for block in blocks]


def tables_in(view: View, *, in_sheets: bool = True) -> list[Table]:
    """Also those of what is drawn elsewhere."""
    blocks = [block.table if isinstance(block, Histograms) else block for block in blocks_of(view, in_sheets=in_sheets)]
    return [block for block in blocks if isinstance(block, Table)]


def texts_in(view: View) -> Iterator[str]:
    """What stands outside of tables."""
    for block in blocks_of(view):
        match block:
            case Text() if plain_text(block.text):
                yield plain_text(block.text)
            case Items():
                yield from map(plain_text, block.items)
            case Facts():
                yield from (text for name, fact in block.facts for text in (name, plain_text(fact)) if text)


def squeezed(text: str) -> str:
    return " ".join(text.split())


def rendered(view: View, form: str) -> str:
    content = FORMATS[form].render(view)
    assert isinstance(content, str)
    return content


def drawn(view: View, width: int = 1000, *, ascii_only: bool = False) -> str:
    return printed(draw(view.document(), ascii_only=ascii_only), width)


@pytest.mark.parametrize("form", FORMATS)
def test_nothing_is_a_view_too(form: str) -> None:
    empty = [session_view([]), links_view([], "s"), nodes_view([]), sessions_view(list, list)]
    assert all(FORMATS[form].render(each) for each in empty)
    assert [drawn(each).strip() for each in empty[:3]] == ["no runs", "", ""]


def test_columns_of_the_greatest_rank_are_left_out_first_then_another_table_is_taken() -> None:
    def shown(width: int, *narrower: Block) -> list[str]:
        heads = (Column("name", is_whole=True), Column("target", rank=1), Column("started", rank=2))
        table = Table(heads, (("tuning", "rbd:bench", "2026-11-22"),), narrower=narrower)
        return printed(draw([table]), width).split()

    assert shown(40) == ["name", "target", "started", "tuning", "rbd:bench", "2026-11-22"]
    assert shown(20) == ["name", "target", "tuning", "rbd:bench"]
    assert shown(10) == ["name", "tuning"]
    assert shown(20, Text("short")) == ["name", "target", "tuning", "rbd:bench"]
    assert shown(4, Text("short"))[0] == "shor"


def test_a_column_that_is_wrapped_needs_no_more_than_is_enough() -> None:
    heads = (Column("presets", enough=9), Column("target", rank=1, is_whole=True))
    assert "rbd:bench" in printed(draw([Table(heads, (("write-iops, read-iops", "rbd:bench"),))]), 20)


def test_runs_are_named_in_texts_of_cephtuis_own_only() -> None:
    text = words("ticket #12: ", naming_runs("3 s into #3, before #5-7, 9"))
    assert text.plain == "ticket #12: 3 s into #3, before #5-7, 9"
    assert inline(text) == "ticket #12: 3 s into run 3, before runs 5-7, 9"
    assert inline(words(("#3", "runs"), " failed")) == "run 3: failed"


def test_a_note_stands_in_a_cell_of_a_file() -> None:
    table = Table((Column("#"), Column("preset")), (("1", "a"), ("*", "")), notes=("failed", "size 2"))
    assert table.with_notes_in_cells().titles == ("#", "preset", "note")
    assert table.with_notes_in_cells().texts == (("1", "a", "failed"), ("*", "size 2", ""))
    alone = replace(table, notes=("", "size 2")).with_notes_in_cells()
    assert (alone.titles, alone.texts) == (("#", "preset"), (("1", "a"), ("*", "size 2")))


# ---------------------------------------------------------------------------------------------- for people


def test_a_terminal_has_each_row_in_a_line_and_each_text(view: View) -> None:
    lines = [squeezed(each) for each in drawn(view).splitlines()]
    for table in (block for block in blocks_of(view) if isinstance(block, Table)):
        notes = table.notes or [""] * len(table.rows)
        for row, note in zip(table.texts, notes, strict=True):
            cells = [squeezed(cell) for cell in (*row, plain_text(note)) if cell]
            assert any(in_order(cells, each) for each in lines), cells
    whole = squeezed(" ".join(lines))
    short = {plain_text(block.in_short) for block in blocks_of(view) if isinstance(block, Facts)}
    for block in blocks_of(view):
        if isinstance(block, Facts) and block.in_short:
            assert squeezed(plain_text(block.in_short)) in whole
    hidden = {text for block in blocks_of(view) if isinstance(block, Facts) and block.in_short
              for name, fact in block.facts for text in (name, plain_text(fact))}  # fmt: skip
    assert [text for text in texts_in(view) if text not in hidden | short and squeezed(text) not in whole] == []


def in_order(cells: Sequence[str], text: str) -> bool:
    at = 0
    for cell in cells:
        at = text.find(cell, at)
        if at < 0:
            return False
        at += len(cell)
    return True


@pytest.mark.parametrize("width", [60, 80, 120])
def test_with_less_room_no_mark_and_no_name_is_lost(view: View, width: int) -> None:
    text = drawn(view, width)
    assert max(map(len, text.splitlines())) <= width
    for mark in MARKS:
        shown = sum(mark in cell for table in tables_in(view) for row in table.texts for cell in row)
        assert (mark in text) or not shown, mark


def test_a_terminal_without_unicode_gets_none(view: View) -> None:
    assert drawn(view, 120, ascii_only=True).isascii()


def as_named(text: str) -> str:
    """In tickets runs are named: ``run 3`` instead of ``#3``."""
    return squeezed(re.sub(r"#(?=\d)|\bruns (?=\d)", "run ", text)).replace(":", "")


def test_markdown_has_the_cells_of_each_table_and_each_text(view: View) -> None:
    text = rendered(view, "md")
    found = tables_of_markdown(text)
    assert [[[*map(as_named, row)] for row in table] for table in found] == [
        [[*map(as_named, row)] for row in written(table)] for table in tables_in(view)
    ]
    whole = as_named(re.sub(r"\\(?=[^\w\s])|\*\*", "", text))
    assert [each for each in texts_in(view) if as_named(each.replace("**", "").replace("\\", "")) not in whole] == []


def tables_of_markdown(text: str) -> list[list[list[str]]]:
    """The cells of each table, as a GFM reader shows them."""
    found: list[list[list[str]]] = []
    for token in (tokens := iter(MarkdownIt("commonmark").enable("table").parse(text))):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type in ("th_open", "td_open"):
            found[-1][-1].append("".join(child.content for child in next(tokens).children or ()))
    return found


def written(noted: Table) -> list[list[str]]:
    """The heading and the rows without what is only drawn."""
    table = noted.with_notes_in_cells()
    kept = [at for at in range(len(table.columns)) if not any(isinstance(row[at], Bar) for row in table.rows)]
    return [[row[at] for at in kept] for row in (table.titles, *table.texts)]


class Page(HTMLParser):
    """The tables of a page, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.text = ""
        self._in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("th", "td"):
            self.tables[-1][-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self._in_cell = self._in_cell and tag not in ("th", "td")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._in_cell:
            self.tables[-1][-1][-1] += data


def filled(row: Sequence[str]) -> list[str]:
    """Without empty cells at the end: the last text has their room."""
    cells = [*map(squeezed, row)]
    while cells and not cells[-1]:
        cells.pop()
    return cells


def test_a_page_has_the_cells_of_each_table_and_each_text(view: View) -> None:
    page = Page()
    page.feed(rendered(view, "html"))
    tables = [table.with_notes_in_cells() for table in tables_in(view)]
    assert [[filled(row) for row in table] for table in page.tables] == [
        [filled(row) for row in (table.titles, *table.texts)] for table in tables
    ]
    whole = squeezed(page.text)
    assert [each for each in texts_in(view) if squeezed(each) not in whole] == []


# ---------------------------------------------------------------------------------------------- for programs


def sheets(view: View) -> dict[str, list[list[Any]]]:
    content = FORMATS["xlsx"].render(view)
    assert isinstance(content, bytes)
    book = openpyxl.load_workbook(BytesIO(content))
    return {sheet.title: [list(row) for row in sheet.iter_rows(values_only=True)] for sheet in book}


def test_a_workbook_has_the_rows_of_its_sheets_and_the_cells_of_each_table(view: View) -> None:
    book = sheets(view)
    for sheet in sheets_of(view):
        head = len(sheet.lead) + bool(sheet.lead)
        rows = [dict(zip(sheet.columns, row, strict=False)) for row in book[sheet.name][head + 1 :]]
        wanted = [{name: row.get(name) for name in sheet.columns} for row in sheet.rows]
        assert [[*map(as_cell, row.values())] for row in rows] == [[*map(as_cell, row.values())] for row in wanted]
    text = [[str(cell or "") for cell in row] for row in [*book.values()][-1]]
    lines = {tuple(filter(None, row)) for row in text}
    for table in tables_in(view, in_sheets=False):
        for row in table.with_notes_in_cells().texts:
            cells = tuple(filter(None, row))
            assert any(each[-len(cells) :] == cells for each in lines), cells


def as_cell(value: object) -> object:
    """As it comes out of a workbook; dates there have no time zone."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None, microsecond=0)
    if isinstance(value, float | int) and not isinstance(value, bool):
        return pytest.approx(value)
    return value if value not in (None, "") else None


def test_csv_has_the_same_rows_as_its_sheet(view: View) -> None:
    rows = list(csv.DictReader(StringIO(rendered(view, "csv")), strict=True))
    sheet = view.sheet()
    assert [*rows[0]] == [*sheet.columns] if rows else True
    for row, wanted in zip(rows, view.sheet().rows, strict=True):
        for name, text in row.items():
            value = wanted.get(name)
            assert text.removeprefix("'") == ("" if value is None else str(value))


def test_the_figures_of_csv_are_in_the_json_lines(view: View) -> None:
    """Of a report there are none: what it is made from has them."""
    lines = [json.loads(line(row)) for row in view.lines()]
    numbers = {float(each) for each in numbers_in(lines)}
    rows = list(csv.DictReader(StringIO(rendered(view, "csv"))))
    given = {
        name for name in (rows[0] if rows else ()) if re.search("iops|bandwidth|latency|^left|^right|^ratio", name)
    }
    figures = [float(row[name]) for row in rows for name in given if re.fullmatch(r"-?[\d.e+-]+", row[name])]
    assert not lines or [each for each in figures if each not in numbers] == []


def numbers_in(value: object) -> Iterator[float]:
    if isinstance(value, Mapping):
        value = [*value.values()]
    if isinstance(value, list):
        for each in value:
            yield from numbers_in(each)
    elif isinstance(value, float | int) and not isinstance(value, bool):
        yield value


def test_what_is_marked_for_people_is_named_for_programs(tmp_path: Path) -> None:
    (table, *_) = tables_in(of_matrix(tmp_path))
    marked = [row.count("!") for row in ("".join(row) for row in table.texts)]
    rows = list(csv.DictReader(StringIO(rendered(of_matrix(tmp_path / "again"), "csv"))))
    assert sum(marked) == sum(bool(row["findings"]) for row in rows) > 0
    limited = [json.loads(line(row)) for row in of_comparison().lines()]
    figures = [row for row in limited if row["event"] == "figure"]
    cells = [cell for table in tables_in(of_comparison()) for row in table.texts for cell in row if cell.endswith("!")]
    assert len(cells) == sum(bool(row["right_findings"]) for row in figures) > 0


# ---------------------------------------------------------------------------------------------- the formats


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_has_every_view(form: str, view: View) -> None:
    content = FORMATS[form].render(view)
    assert isinstance(content, str) is FORMATS[form].is_text
    assert len(content) > len(view.sheet().columns)
    assert FORMATS[form].suffixes[0] == f".{form}", "a report is named after its format"
    assert form in FORMS
    if isinstance(content, str):
        people = {cell for table in tables_in(view) for row in written(table) for cell in row}
        values = (row.get(name) for row in view.sheet().rows for name in view.sheet().columns)
        programs = {str(value) for value in values if type(value) in (str, int, float)}
        content = bare(unescape(re.sub(r"<[^>]+>", "", content)))
        assert all(bare(text) in content for text in people) or all(bare(text) in content for text in programs)


def bare(text: str) -> str:
    """Letters and figures alone."""
    return re.sub(r"[\W_]+", " ", text).strip()


def test_every_kind_of_block_is_looked_at_here() -> None:
    seen = {type(block) for make in VIEWS.values() for block in blocks_of(make())}
    assert seen == {Text, Items, Facts, Table, Code, NextStep, LineChart, Histograms, ConfidenceInterval}


@pytest.mark.parametrize("form", ["md", "html", "xlsx"])
def test_what_is_to_be_copied_is_whole(form: str) -> None:
    for make in (of_run, of_session, VIEWS["report"]):
        view = make()
        content = str(sheets(view)) if form == "xlsx" else rendered(view, form)
        codes = [block.text for block in blocks_of(view) if isinstance(block, Code)]
        steps = [block.command for block in blocks_of(view) if isinstance(block, NextStep)]
        assert codes or steps
        assert [text for code in codes for text in (*code.splitlines(), *steps) if text not in content] == []


@pytest.mark.parametrize("name", ["report", "judgement", "comparison", "versus", "curve"])
def test_a_page_has_its_charts_and_a_terminal_none(name: str) -> None:
    titles = [block.title for block in blocks_of(VIEWS[name]()) if isinstance(block, LineChart)]
    assert titles
    page = rendered(VIEWS[name](), "html")
    assert page.count("<svg") == len(titles)
    assert all(title in page for title in titles)
    assert not any(title in drawn(VIEWS[name]()) for title in titles)
