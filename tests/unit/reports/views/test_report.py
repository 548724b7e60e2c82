"""Reports: what they say and in which order, as Markdown and as HTML, with texts of any origin in them."""

from __future__ import annotations

import csv
import errno
import hashlib
import math
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from html.parser import HTMLParser
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import openpyxl
import pytest
from click.testing import CliRunner, Result
from markdown_it import MarkdownIt

from cephtui.analysis.runs.batches import name_of
from cephtui.analysis.verdicts.conclusion import ConclusionTerms, conclude
from cephtui.analysis.verdicts.versus import WholeSession, versus
from cephtui.cli.verbs import cli
from cephtui.models import Ceiling, Finding, Mark, Summary
from cephtui.models.findings import KINDS
from cephtui.models.study import CHECK, CheckGoal, SavedStudy
from cephtui.printable import printable
from cephtui.reports import writing
from cephtui.reports.blocks import (
    ChartSeries,
    Code,
    Document,
    Facts,
    Items,
    LineChart,
    Section,
    Table,
    Text,
    plain_text,
)
from cephtui.reports.render.gfm import markdown_of
from cephtui.reports.render.html import html_of
from cephtui.reports.render.svg import draw
from cephtui.reports.views.report.content import document_of
from cephtui.reports.views.report.material import Material, of_session, of_versus, with_stand_ins
from cephtui.sessions import store
from tests.support import studies
from tests.support.canaries import CANARY, HOSTILE
from tests.support.documents import AFTER, AT, BEFORE, document, material, recorded, study, utc
from tests.support.drawings import report_csv, report_xlsx
from tests.support.golden import Golden
from tests.support.known import known
from tests.support.runs import IOPS, LATENCY, STARTED, cluster, environment, nodes, run, total

__all__ = ["utc"]
HOSTILE_TEXTS = (
    "<script>alert(1)</script>",
    "a | b `c` **d** [e](http://pwned.example) <img src=x onerror=alert(1)>",
    "{{ 7 * 7 }} {% raw %}",
    "# heading",
    "- item",
    "1. item",
    "=1+1",
    "</style></title></pre>```",
    "&lt;b&gt;",
    CANARY,
)
SAME = tuple(value * 1.01 for value in BEFORE)


@pytest.fixture
def home(demo_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one's own beside the recorded session, from which commands are run."""
    monkeypatch.setenv("CEPHTUI_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def report(*words: str) -> Result:
    return CliRunner().invoke(cli, ["report", *words])


def texts_of(blocks: Sequence[object]) -> list[str]:
    return [plain_text(block.text) for block in blocks if isinstance(block, Text)]


def section(of: Document, title: str) -> Section:
    (found,) = [each for each in of.sections if each.title == title]
    return found


def tables(of: Document, title: str) -> list[Table]:
    return [block for block in section(of, title).blocks if isinstance(block, Table)]


# ---------------------------------------------------------------------------------------------- what it says


def test_the_verdict_comes_first_and_the_rest_in_the_order_of_reading(golden: Golden) -> None:
    found = document(material())
    sentence, figures, answer = texts_of(found.lead)
    golden.same(answer)
    golden.same(sentence)
    assert "10.1k -> 8.25k, -18.0 % (95 %: -21.0 .. -14.9)" in figures
    golden.same(figures)
    golden.same(each.title for each in found.sections)
    golden.same(found.title)


@pytest.mark.parametrize(
    ("after", "answer", "tone", "strong"),
    [
        (SAME, "Met (exit 0)", "good", {0}),
        (AFTER, "Not met (exit 5)", "bad", {0}),
        ((9100.0, 9700.0, 8600.0, 9500.0, 9000.0), "Inconclusive (exit 6)", "open", set()),
        (AFTER[:1], "Inconclusive (exit 6)", "open", set()),
    ],
)
def test_nothing_is_bold_that_the_runs_do_not_carry(
    after: Sequence[float], answer: str, tone: str, strong: set[int]
) -> None:
    found = document(material(after=after))
    lead = found.lead[-1]
    assert isinstance(lead, Text)
    assert (plain_text(lead.text).partition(":")[0], lead.style) == (answer, tone)
    (figures,) = tables(found, "Figures")
    assert figures.strong == strong


def test_figures_have_per_cent_interval_runs_and_quality() -> None:
    (figures,) = tables(document(material()), "Figures")
    assert figures.titles == ("", "before", "after", "change", "95 % interval", "runs", "quality", "verdict")
    assert figures.texts[0] == (
        "write IOPS", "10.1k", "8.25k", "-18.0 %", "-21.0 .. -14.9 %", "5 / 5", "valid", "worse"
    )  # fmt: skip
    assert [row[-1] for row in figures.texts[1:]] == ["for information"] * (len(figures.texts) - 1)


def test_who_is_slower_stands_in_the_table_and_in_the_workbook_whatever_is_required() -> None:
    of = material(after=tuple(value * 0.93 for value in BEFORE))
    (figures,) = tables(document(of), "Figures")
    assert figures.texts[0][-1] == "slower"
    sheet = openpyxl.load_workbook(BytesIO(report_xlsx(of)))["verdict"]
    (row, *_), (names, *_) = ([[c.value for c in row] for row in sheet.iter_rows() if row[0].value == first]
                              for first in ("write-iops", "preset"))  # fmt: skip
    assert row[names.index("differs")] == "slower"


def test_a_finding_makes_figures_suspect_and_has_a_cure(golden: Golden) -> None:
    scrub = (Finding(code="scrub", text="up to 3 of 33 PGs were being scrubbed"),)
    of = material(findings=scrub)
    (figures,) = tables(document(of), "Figures")
    golden.same(figures.texts[0][6])
    (findings,) = tables(document(of), "Findings")
    assert findings.texts == (
        (
            "#1-10",
            "up to 3 of 33 PGs were being scrubbed",
            "questionable (counted)",
            KINDS["scrub"].cure,
        ),
    )


def test_of_a_figure_of_one_side_the_side_without_it_is_named() -> None:
    of = material()
    (change,) = of.changes
    scrub = (Finding(code="scrub", text="up to 3 of 33 PGs were being scrubbed"),)
    summaries = [Summary(write=run.summary.write, other={"commit": total(iops=310.0)}) for run in change.before]
    before = tuple(
        run.model_copy(update={"findings": scrub, "summary": summary})
        for run, summary in zip(change.before, summaries, strict=True)
    )
    change = replace(change, before=before)
    asked = ConclusionTerms(of.headline, metrics=(IOPS,), directions=("commit",))
    of = replace(of, runs=change.runs, changes=(change,), judgement=conclude([change], asked, AT))
    (figures,) = tables(document(of), "Figures")
    assert (figures.texts[0][0], *figures.texts[0][5:7]) == (
        "commit IOPS",
        "5 / 0",
        "questionable (5 of 5), none of after",
    )


def test_all_that_was_seen_to_differ_is_in_the_heading() -> None:
    of = material()
    assert of.judgement
    seen = [f"option {name} 0 -> 1" for name in ("iodepth", "fsync", "fdatasync", "size")]
    for number, more in ((1, ""), (3, ""), (4, " and 1 more")):
        said = of.judgement.conclusion.model_copy(update={"changed": tuple(seen[:number])})
        found = document(replace(of, marks=(), judgement=replace(of.judgement, conclusion=said)))
        assert found.heading == f"tuning: {', '.join(seen[: min(number, 3)])}{more}"


def test_what_takes_no_part_is_named_with_its_reason(golden: Golden) -> None:
    thin = (Finding(code="thin", text="image bench/x is sparse"),)
    found = document(material(findings=thin))
    (figures,) = tables(found, "Figures")
    golden.same([row[-1] for row in figures.texts])
    method = " ".join(texts_of(section(found, "Method").blocks))
    assert method.endswith("Left out: #1-10: image bench/x is sparse.")


def test_an_imported_run_is_named_with_its_file(golden: Golden) -> None:
    found = document(material(imported_from="old/fio-2024.log"))
    (runs,) = tables(found, "Each run")
    golden.same(runs.texts[0][-1])
    golden.same(line for line in markdown_of(found).splitlines() if "imported" in line and "|" not in line)


def test_conditions_that_are_alike_stand_once_and_differences_in_a_table() -> None:
    found = document(material())
    assert tables(found, "Conditions")[0].texts == (("cluster", "osd osd_op_num_shards_hdd", "5", "8"),)
    text = markdown_of(found)
    assert text.count("kernel 6.8.12-4-pve") == text.count("HEALTH\\_OK".replace("\\", "")) == 1


def test_each_run_is_a_dot_and_a_row() -> None:
    found = document(material())
    charts = {block.name: block for each in found.sections for block in each.blocks if isinstance(block, LineChart)}
    assert list(charts) == ["interval", "runs-1", "time-1"]
    dots = [series for series in charts["runs-1"].series if series.stroke == "dots"]
    assert [[value for _, value in series.points] for series in dots] == [list(BEFORE), list(AFTER)]
    assert len(tables(found, "Each run")[0].rows) == 10
    assert len([series for series in charts["time-1"].series if series.color == "before"]) == 5


def test_commands_stand_once_with_their_runs() -> None:
    codes = [block for block in section(document(material()), "Commands").blocks if isinstance(block, Code)]
    (code,) = codes
    assert (plain_text(code.caption), code.text) == ("on pve1: #1-10", "fio")


def test_commands_that_differ_in_one_option_stand_once() -> None:
    command = "fio --name={name} --iodepth={depth} --rbdname=x-{node}"
    runs = [
        run(
            number,
            nodes=tuple(
                result
                for node in ("pve1", "pve2")
                for result in nodes(node, command=command.format(name=name, depth=depth, node=node))
            ),
        )
        for number, (name, depth) in enumerate([("a", 16), ("a", 1), ("a", 4), ("b", 16)], 1)
    ]
    codes = section(document(replace(study(), runs=tuple(runs))), "Commands").blocks
    assert [(plain_text(code.caption), code.text) for code in codes if isinstance(code, Code)] == [
        ("on pve1 (and on pve2, each with its own name): #1-3", "fio --name=a --iodepth={1,4,16} --rbdname=x-pve1"),
        ("on pve1 (and on pve2, each with its own name): #4", "fio --name=b --iodepth=16 --rbdname=x-pve1"),
    ]


def test_a_session_without_a_change_is_a_study(golden: Golden) -> None:
    found = document(study())
    golden.same(texts_of(found.lead))
    (points,) = tables(found, "Figures")
    assert "change" not in points.titles
    assert points.titles[:3] == ("runs", "", "IOPS")
    assert points.texts[0][:3] == ("#1-10", "write", "9.11k")
    golden.same(line for line in markdown_of(found).splitlines() if "load: " in line)
    golden.same(found.title)


def test_digests_are_those_of_sha256sum(demo_session: Path) -> None:
    files = dict(recorded(demo_session).files)
    assert [name for name in files if name.startswith("demo/007/")] == ["demo/007/run.json", "demo/007/samples.jsonl"]
    assert files == {name: hashlib.sha256((demo_session.parent / name).read_bytes()).hexdigest() for name in files}
    assert "demo/marks.jsonl" in files


def test_ceilings_are_those_of_the_last_run_of_each_side(demo_session: Path) -> None:
    (ceilings,) = tables(document(recorded(demo_session)), "Ceilings")
    assert [row[:4] for row in ceilings.texts] == [("#9", "depth", "11 %", "write IOPS")]
    assert ceilings.texts[0][5].startswith("about ")


def test_a_ceiling_that_is_not_known_says_why_and_is_not_said_to_be_unmeasured() -> None:
    value = material()
    known = {"direction": "write", "metric": "iops", "measured": 1.0}
    why = Ceiling.model_validate({"limit": "network", "at_most": None, "basis": "not known: a link of May", **known})
    names = [name_of(run) for run in value.runs[:3]]
    of = document(replace(value, ceilings={names[0]: (why,), **dict.fromkeys(names[1:], ())}))
    (section,) = [section for section in of.sections if section.title == "Ceilings"]
    depth = "limit unknown. Run the same preset at depth 1 in this session to learn the latency limit"
    (items,) = section.blocks
    assert isinstance(items, Items)
    assert [*map(plain_text, items.items)] == ["#1: network: not known: a link of May", f"#1-3: {depth}"]


def test_a_study_of_a_suite_begins_with_its_matrix(tmp_path: Path) -> None:
    directory = studies.write(tmp_path, [*studies.runs()], studies.order())
    of = of_session(directory, ConclusionTerms(lambda _: IOPS), AT)
    found = document(of)
    assert found.heading == "study: RBD from each node"
    assert plain_text(known(texts_of(found.lead)[0])).startswith("▼ slowest node: pve2, 40 % below the median")
    (matrix,) = [block for block in found.lead if isinstance(block, Table)]
    (points,) = tables(found, "Figures")
    assert matrix.titles[:6] == ("step", "figure", "pve1", "spread", "runs", "pve2")
    assert matrix.texts[0][2:8] == ("16.7k !", "2.0 %", "3 of 3", "9.80k", "2.0 %", "3 of 3 ▼ slowest")
    assert points.titles[:4] == ("runs", "measured", "nodes", "")
    assert points.texts[0][:3] == ("#1-3", "4k random writes: qd64", "pve1")
    assert [chart.name for chart in charts_of(found)] == ["curve-1", "curve-2", "curve-3"]
    hidden = markdown_of(document(with_stand_ins(of)))
    assert "pve" not in hidden
    assert "| 9.80k | 2.0 % | 3 of 3 ▼ slowest |" in hidden


def swept(rates: Mapping[int, float]) -> Material:
    """A study of a run at each depth."""
    at_depths = []
    for number, (depth, rate) in enumerate(rates.items(), 1):
        write = total(iops=rate, latency_mean_seconds=depth / rate, latency_p99_seconds=3 * depth / rate)
        at_depths.append(run(number, write=write, options={**run().options, "iodepth": depth}))
    return replace(study(), runs=tuple(at_depths), lines={})


def test_a_sweep_out_of_order_has_no_knee_in_its_chart(golden: Golden) -> None:
    of = swept({1: 300.0, 2: 520.0, 4: 900.0, 8: 700.0, 16: 1100.0, 32: 800.0, 64: 1050.0, 128: 900.0})
    (chart,) = charts_of(document(of))
    assert [series.name for series in chart.series if series.name] == ["mean", "p99, dashed"]
    golden.same(line for line in markdown_of(document(of)).splitlines() if "no knee" in line)


def test_a_sweep_of_the_depth_is_a_hockey_stick_with_its_knee(golden: Golden) -> None:
    rates = {1: 1000.0, 2: 2000.0, 4: 4000.0, 8: 8000.0, 16: 14000.0, 32: 16000.0, 64: 16100.0}
    of = swept(rates)
    (chart,) = charts_of(document(of))
    golden.same(chart.title)
    (points,) = [series for series in chart.series if series.labels]
    assert points.labels == tuple(map(str, rates))
    assert [x for x, _ in points.points] == list(rates.values())
    assert [y for _, y in points.points] == pytest.approx([math.log10(n / rate) for n, rate in rates.items()])
    golden.same(series.name for series in chart.series if series.name)
    assert "knee at depth 16" in markdown_of(document(of))
    assert ">16</text>" in draw(chart)


def test_two_sessions_stand_against_each_other(demo_session: Path, tmp_path: Path, golden: Golden) -> None:
    for name in ("cephadm", "rook"):
        shutil.copytree(demo_session, tmp_path / name)
    sides = [WholeSession(*(store.read_runs(tmp_path / name)[0], ())) for name in ("cephadm", "rook")]
    found = document(of_versus(versus(*sides), tmp_path / "rook", ConclusionTerms(lambda _: IOPS), AT))
    assert found.heading == "cephadm against rook"
    (figures,) = tables(found, "Figures")
    assert figures.titles[:3] == ("", "cephadm", "rook")
    names = [row[0] for row in figures.texts]
    assert "write-iops 15s write IOPS" in names
    assert "write-iops 40s write IOPS" in names, "pairs of one preset have names of their own"
    golden.same(line for line in markdown_of(found).splitlines() if "Holm" in line)
    of_all, answer = texts_of(section(found, "Method").blocks)[:2]
    assert "its interval by itself holds with 95 %" in of_all
    assert f"of the {len(figures.texts)} figures" in answer
    assert "(Holm)" in answer


# ---------------------------------------------------------------------------------------------- golden


def test_the_report_of_the_recorded_session_as_markdown(demo_session: Path, golden: Golden) -> None:
    golden.same(markdown_of(document(recorded(demo_session))))


def test_a_report_as_markdown(golden: Golden) -> None:
    golden.same(markdown_of(document(material()), "charts"))


def test_a_report_as_html(golden: Golden) -> None:
    """Without the drawings and the style, which are looked at as pictures."""
    text = re.sub(r"<svg.*?</svg>", "<svg/>", html_of(document(material())), flags=re.DOTALL)
    golden.same(re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL))


# ---------------------------------------------------------------------------------------------- texts of any origin


def hostile(text: str) -> Document:
    """A report with a text wherever a user or a file may have put it."""
    of = material(mark=text, preset=text, target=f"rbd:{text}", imported_from=text, command=text, user=text,
                  findings=(Finding(code="scrub", text=text),))  # fmt: skip
    return document(replace(of, title="", notes=(text,), other_runs=()))


class Elements(HTMLParser):
    """What a page is made of, as a browser sees it."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def elements(page: str) -> Elements:
    found = Elements()
    found.feed(page)
    found.close()
    return found


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_a_page_has_no_script_and_loads_nothing_whatever_is_in_it(text: str) -> None:
    usual, found = (
        elements(html_of(document(material(findings=(Finding(code="scrub", text="x"),), imported_from="x")))),
        None,
    )
    found = elements(html_of(hostile(text)))
    assert set(found.tags) <= set(usual.tags)
    assert not {"script", "link", "img", "iframe", "object", "base", "use", "image"} & set(found.tags)
    assert [
        value for name, value in found.attributes if name in ("href", "src", "action") or name.startswith("on")
    ] == []
    assert not any("url(" in value or "@import" in value for value in found.texts if "{" in value and "--ink" in value)
    assert not set("".join(found.texts)) & set(HOSTILE)


def test_a_mark_with_a_script_is_shown_as_it_was_typed() -> None:
    page = html_of(hostile("<script>alert(1)</script>"))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script" not in page


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_markdown_has_its_tables_and_no_markup_of_others(text: str) -> None:
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    usual, found = parser.parse(markdown_of(document(material(findings=(Finding(code="scrub", text="x"),))))), None
    found = parser.parse(markdown_of(hostile(text)))
    kinds = [token.type for token in found]
    assert (
        kinds.count("table_open") == len(re.findall(r"^\| [-:| ]+\|$", markdown_of(hostile(text)), re.MULTILINE)) >= 4
    )
    assert kinds.count("heading_open") == [token.type for token in usual].count("heading_open")
    inline = {child.type for token in found for child in token.children or ()}
    assert not {"html_inline", "link_open", "image"} & inline
    assert "html_block" not in kinds
    assert not set(markdown_of(hostile(text))) & set(HOSTILE)


# ---------------------------------------------------------------------------------------------- tables of numbers


def csv_rows(of: Material, *, seconds: bool = False) -> list[dict[str, str]]:
    text = report_csv(of, seconds=seconds)
    assert text.count("\r\n") == text.count("\n"), "RFC 4180"
    return list(csv.DictReader(StringIO(text), strict=True))


def test_csv_is_tidy_and_in_si_units() -> None:
    rows = csv_rows(material())
    assert len({(row["run"], row["direction"], row["figure"]) for row in rows}) == len(rows) == 30
    iops = [row for row in rows if row["figure"] == "iops"]
    assert [float(row["value"]) for row in iops] == [*BEFORE, *AFTER]
    assert {(row["figure"], row["unit"]) for row in rows} == {
        ("iops", "IO/s"), ("bandwidth_bytes", "B/s"), ("latency_p99_seconds", "s")
    }  # fmt: skip
    assert [row["side"] for row in iops] == ["before"] * 5 + ["after"] * 5
    assert {row["quality"] for row in rows} == {"VALID"}
    assert iops[0]["block_bytes"] == "4096"


def test_csv_has_the_seconds_where_they_are_asked_for(demo_session: Path) -> None:
    of = recorded(demo_session)
    rows, short = csv_rows(of, seconds=True), csv_rows(of)
    whole = [row for row in rows if not row.pop("elapsed_seconds")]
    assert whole == short
    seconds = [row for row in rows if row not in whole and row["run"] == "7" and row["figure"] == "iops"]
    own = [each for each in store.read_samples(demo_session, 7) if each.node is None and each.phase != "prepare"]
    assert [float(row["value"]) for row in seconds] == [known(known(each.write).iops) for each in own]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", '=HYPERLINK("http://pwned.example")'])
def test_no_text_is_a_formula_in_a_spreadsheet(text: str) -> None:
    of = replace(material(preset=text, imported_from=text, mark=text), title=text)
    rows = csv_rows(of)
    assert {row["preset"] for row in rows} == {f"'{text}"}
    assert not [value for row in rows for value in row.values() if value[:1] in ("=", "+", "@", "\t", "\r")]
    book = openpyxl.load_workbook(BytesIO(report_xlsx(of)))
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert [cell.value for cell in cells if cell.data_type == "f"] == []
    assert [cell.hyperlink for cell in cells if cell.hyperlink] == []
    assert book["verdict"]["A1"].value == printable(text)


def test_a_workbook_has_numbers_frozen_headings_and_charts(demo_session: Path) -> None:
    of = recorded(demo_session)
    book = openpyxl.load_workbook(BytesIO(report_xlsx(of, seconds=True)))
    assert book.sheetnames == ["verdict", "runs", "seconds", "conditions"]
    assert [len(book[name]._charts) for name in book.sheetnames] == [1, 1, 1, 0]
    head, *rows = book["runs"].iter_rows(values_only=True)
    assert [row[head.index("IOPS [IO/s]")] for row in rows] == [
        pytest.approx(known(known(run.summary.write).iops)) for run in of.runs
    ]
    assert rows[0][head.index("started [UTC]")] == datetime(2026, 11, 21, 18, 3, 30, 362000)
    assert [row[head.index("quality")] for row in rows].count("SUSPECT") == 1
    verdict = dict(zip(*tabled(book["verdict"])[:2], strict=True))
    assert verdict["change [%]"] == pytest.approx(-0.5904, abs=1e-4)
    assert (verdict["met"], verdict["runs before"], verdict["figure"]) == (False, 3, "iops")
    assert all(book[name].freeze_panes for name in book.sheetnames)
    seconds = list(book["seconds"].iter_rows(values_only=True))
    assert len(seconds) > 90
    assert all(isinstance(row[2], float) and isinstance(row[5], int | float) for row in seconds[1:])
    assert "seconds" not in openpyxl.load_workbook(BytesIO(report_xlsx(of))).sheetnames


def tabled(sheet: Any) -> list[tuple[Any, ...]]:
    """From the heading of the table on."""
    rows = list(sheet.iter_rows(values_only=True))
    return rows[next(at for at, row in enumerate(rows) if row[0] == "preset") :]


def test_a_study_is_a_workbook_too(golden: Golden) -> None:
    book = openpyxl.load_workbook(BytesIO(report_xlsx(study())))
    assert book.sheetnames == ["summary", "runs", "conditions"]
    golden.same(book["summary"]["A2"].value)
    assert book["runs"].max_row == 11


def test_the_first_sheet_of_a_study_has_its_points_with_formats_and_a_curve() -> None:
    rates = {1: 1000.0, 4: 4000.0, 16: 14000.0}
    book = openpyxl.load_workbook(BytesIO(report_xlsx(swept(rates))))
    sheet = book.worksheets[0]
    rows = list(sheet.iter_rows())
    (top,) = [number for number, row in enumerate(rows) if row[0].value == "measured"]
    head, *points = rows[top:][: 1 + len(rates)]
    at = [cell.value for cell in head].index("IOPS [IO/s]")
    assert [(row[0].value, row[at].value) for row in points] == [(f"qd{depth}", rate) for depth, rate in rates.items()]
    assert {row[at].number_format for row in points} == {"#,##0"}
    (chart,) = sheet._charts
    assert chart.tagname == "scatterChart"
    assert len(chart.series) == 1
    widths = [sheet.column_dimensions[letter].width for letter in "AB"]
    assert all(8 <= width <= 62 for width in widths)
    assert len(study_book().worksheets[0]._charts) == 1, "bars"


def study_book() -> Any:
    return openpyxl.load_workbook(BytesIO(report_xlsx(study())))


@pytest.mark.parametrize(("values", "text"), [
    (({"seconds": 3.0, "nodes": ("lab1",)}, {"seconds": 8.0, "nodes": ("lab2", "lab1")}),
     "stalls of 3 to 8 s on lab1, lab2 in 2 of 10 runs"),
    (({"seconds": 4.0, "everywhere": True}, {"seconds": 4.2}), "stalls of 4 s on every node in 2 of 10 runs"),
    (({}, {}), "a; 1 more like it"),
])  # fmt: skip
def test_findings_of_a_kind_are_summed_over_runs(values: Sequence[Mapping[str, Any]], text: str) -> None:
    of = study()
    stalls = [Finding(code="stalled", text=word, values=dict(each)) for word, each in zip("ab", values, strict=True)]
    first, second, *rest = of.runs
    stalled = [
        each.model_copy(update={"findings": (stall,)}) for each, stall in zip((first, second), stalls, strict=True)
    ]
    (findings,) = tables(document(replace(of, runs=(*stalled, *rest))), "Findings")
    assert [row[:2] for row in findings.texts] == [("#1-2", text)]


def test_a_diagnosis_leads_with_its_cause_and_has_what_would_prove_it() -> None:
    of = study()
    scrub = Finding(code="scrub", text="up to 3 of 33 PGs were being scrubbed")
    runs = tuple(each.model_copy(update={"findings": (scrub,)}) for each in of.runs)
    found = document(replace(of, runs=runs, is_diagnosis=True))
    assert texts_of(found.lead)[0] == scrub.text
    (facts,) = [block for block in section(found, "Causes").blocks if isinstance(block, Facts)]
    assert dict(facts.facts)["what to do"] == KINDS["scrub"].cure
    assert "Causes" not in [each.title for each in document(of).sections]


def test_a_study_without_repeats_has_its_figures_once() -> None:
    found = document(swept({1: 1000.0, 4: 4000.0, 16: 14000.0}))
    (points,) = tables(found, "Figures")
    assert points.titles[:4] == ("runs", "measured", "started", "")
    assert "Each run" not in [each.title for each in found.sections]


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", CANARY, "</svg>"])
def test_a_chart_is_static_and_a_file_of_its_own(text: str) -> None:
    charts = [block for each in hostile(text).sections for block in each.blocks if isinstance(block, LineChart)]
    assert len(charts) == 3
    for chart in charts:
        drawn = draw(chart)
        root = ElementTree.fromstring(drawn)
        assert "script" not in {each.tag.rpartition("}")[2] for each in root.iter()}
        names = {name for each in root.iter() for name in each.attrib}
        assert not [name for name in names if "href" in name or name.startswith("on")]
        assert draw(chart) == drawn


# ---------------------------------------------------------------------------------------------- names


NAMES = ("pve-frankfurt", "frankfurt.corp.example", "10.11.12.13", "customer-gold", "vm-4711-disk-0", "rack9-mon",
         "6c5d9a90-1b1c-4f5e-9d2b-0a1b2c3d4e5f", "fd00:17::9", "/etc/secret/ceph.conf", "alice")  # fmt: skip


def named() -> Material:
    """A report with names wherever they may stand."""
    command = (
        "env CEPH_CONF=/etc/secret/ceph.conf fio --ioengine=rbd --pool=customer-gold --rbdname=vm-4711-disk-0 "
        "# root@10.11.12.13 fsid 6c5d9a90-1b1c-4f5e-9d2b-0a1b2c3d4e5f"
    )
    of = material(
        mark="moved customer-gold from pve-frankfurt to [fd00:17::9], frankfurt.corp.example",
        target="rbd:customer-gold/vm-4711-disk-0",
        command=command,
        nodes=nodes("pve-frankfurt", command=command),
        findings=(Finding(code="health", text="mon.rack9-mon is low on space on pve-frankfurt"),),
        imported_from="/etc/secret/ceph.conf",
        cluster=cluster().model_copy(update={"pool": {"name": "customer-gold"}}),
    )
    node = environment().model_copy(update={"hostname": "frankfurt.corp.example"})
    runs = {
        run.run: run.model_copy(update={"environment": {"pve-frankfurt": node}, "user": "alice"}) for run in of.runs
    }
    runs[1] = runs[1].model_copy(update={"imported_from": None})  # nobody is said to have measured imported runs alone
    (change,) = of.changes
    sides = (tuple(runs[run.run] for run in side) for side in (change.before, change.after))
    return replace(
        of,
        runs=tuple(runs.values()),
        changes=(type(change)(*sides),),
        files=(("tuning/001/raw/pve-frankfurt.stdout", "0" * 64),),
        title="customer-gold after the move",
        notes=("pve-frankfurt was new",),
    )


def test_names_are_replaced_everywhere_and_alike() -> None:
    found = with_stand_ins(named())
    content = document_of(found)
    for text in (markdown_of(content), html_of(content), content.title, *map(draw, charts_of(content))):
        assert [name for name in NAMES if name in text] == []
        assert "frankfurt" not in text
    text = markdown_of(content)
    assert "--pool=pool-1 --rbdname=image-1" in text
    assert "rbd:pool-1/image-1" in text
    assert "tuning/001/raw/node-1.stdout" in text
    assert "moved pool-1 from node-1 to" in text
    assert "-18.0 %" in text, "the figures are the same"
    book = openpyxl.load_workbook(BytesIO(report_xlsx(found)))
    cells = [str(cell.value) for sheet in book for row in sheet.iter_rows() for cell in row]
    for text in (report_csv(found), "\n".join(cells)):
        assert [name for name in NAMES if name in text] == []


def test_a_name_is_known_before_any_text_is_masked_whatever_makes_it_known() -> None:
    of = material(
        mark="gold-ssd/vm-9 was moved",
        findings=(Finding(code="health", text="vm-9 is slow, gate9 too"),),
    )
    of = replace(of, notes=("rados --pool=gold-ssd", "ssh: Could not resolve hostname gate9"))
    text = markdown_of(document_of(with_stand_ins(of)))
    assert [name for name in ("vm-9", "gate9", "gold-ssd") if name in text] == []


@pytest.mark.parametrize("pool", ["write", "bs", "fio", "iops"])
def test_what_is_looked_up_stays_whatever_is_called_like_it(pool: str) -> None:
    options = {"rw": "write", "bs": "4k"}
    of = material(target=f"rbd:{pool}", options=options)
    found = with_stand_ins(of)
    assert {run.target for run in found.runs} == {"rbd:pool-1"}
    assert all((run.options, run.tool) == (options, "fio") for run in found.runs)
    assert [verdict.ratio for verdict in known(found.judgement).verdicts] == [
        verdict.ratio for verdict in known(of.judgement).verdicts
    ]
    document_of(found)


def test_the_figure_of_a_preset_is_known_although_its_name_is_hidden() -> None:
    named = [run.model_copy(update={"preset": "gold-write", "target": "rbd:gold"}) for run in study().runs]
    of = replace(study(), runs=tuple(named), headline=lambda run: LATENCY if run.preset == "gold-write" else IOPS)
    hidden = with_stand_ins(of)
    assert {run.preset for run in hidden.runs} == {"pool-1-write"}
    assert hidden.headline(hidden.runs[0]) == LATENCY


def charts_of(of: Document) -> list[LineChart]:
    return [block for each in of.sections for block in each.blocks if isinstance(block, LineChart)]


def test_names_are_there_if_they_are_not_hidden() -> None:
    text = markdown_of(document_of(named()))
    assert [name for name in NAMES if name not in text] == []


# ---------------------------------------------------------------------------------------------- the command


def test_it_is_printed_as_markdown(home: Path) -> None:
    printed = report("demo")
    assert printed.exit_code == 0
    assert printed.stdout.startswith(
        "# demo: ceph osd pool set bench size 2\n\n**write-iops: WORSE: 59 % fewer write IOPS"
    )
    assert list(home.iterdir()) == []


def test_the_format_is_that_of_the_files_name(home: Path, golden: Golden) -> None:
    assert report("demo", "-o", "x.html").exit_code == 0
    assert report("demo/7", "demo/10", "-o", "x.md").exit_code == 0
    assert report("demo", "--format", "html").exit_code == 0
    assert sorted(path.name for path in home.iterdir()) == ["demo-report.html", "x.html", "x.md"]
    assert (home / "x.html").read_text().startswith("<!doctype html>")
    for form in ("csv", "xlsx"):
        assert report("demo", "-o", f"x.{form}", "--seconds").exit_code == 0
        assert (home / f"x.{form}").stat().st_size > 10_000
    assert report("demo", "--seconds").exit_code == 2
    wrong = report("demo", "-o", "x.pdf")
    assert wrong.exit_code == 2
    assert "x.pdf: " in wrong.stderr
    golden.same(" ".join(wrong.stderr.split()))


def test_a_file_that_exists_is_kept_without_force(home: Path, golden: Golden) -> None:
    (home / "x.md").write_text("mine")
    kept = report("demo", "-o", "x.md")
    assert kept.exit_code == 3
    golden.same(kept.stderr)
    assert (home / "x.md").read_text() == "mine"
    assert report("demo", "-o", "x.md", "--force").exit_code == 0
    assert (home / "x.md").read_text().startswith("# demo")
    assert [path.name for path in home.iterdir()] == ["x.md"], "nothing is left of the file that was written first"


@pytest.mark.parametrize(("file", "code"), [("none/x.md", 3), (".", 2), ("pipe.md", 3)])
def test_where_nothing_can_be_written_is_said(home: Path, file: str, code: int, golden: Golden) -> None:
    os.mkfifo(home / "pipe.md")
    found = report("demo", "-o", file, "--force")
    assert found.exit_code == code
    golden.same(" ".join(found.stderr.split()))


def test_a_full_disk_leaves_what_was_there(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "x.html").write_text("mine")

    def full(path: Path, content: str | bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(writing, "write_whole", full)
    found = report("demo", "-o", "x.html", "--force")
    assert found.exit_code == 3
    assert "x.html: No space left on device" in found.stderr
    assert (home / "x.html").read_text() == "mine"


def test_a_chart_that_exists_is_kept_too(home: Path) -> None:
    (home / "charts").mkdir()
    (home / "charts" / "runs-1.svg").write_text("mine")
    assert "charts/runs-1.svg exists" in report("demo", "-o", "x.md", "--assets", "charts").stderr
    assert [path.name for path in (home / "charts").iterdir()] == ["runs-1.svg"]
    assert not (home / "x.md").exists()


def test_a_guided_check_is_reported_as_it_was_asked(home: Path) -> None:
    directory = home.parent / "sessions" / "demo"
    batches = {run.run: run.batch for run in store.read_runs(directory)[0]}
    goal = CheckGoal(before=(batches[7],), after=(batches[10],), before_runs=3, most=12, require_percent=20,
                     same_percent=10, confidence=0.95)  # fmt: skip
    check = SavedStudy(id="s1", at=STARTED, kind=CHECK, cells=(), goal=goal.model_dump())
    (directory / "studies.jsonl").write_text(f"{check.model_dump_json()}\n")
    text = report("demo").stdout
    assert "required was at least 20 % better" in text
    assert "95 % over up to 4 looks" in text
    assert "required was at most 5 % worse" in report("demo", "--require", "-5").stdout
    assert "with several looks expected 90, 95, 99" in report("demo", "--confidence", "97").stderr


def test_charts_are_files_beside_markdown(home: Path) -> None:
    assert report("demo", "-o", "x.md", "--assets", "charts").exit_code == 0
    links = re.findall(r"!\[[^]]*\]\(([^)]+)\)", (home / "x.md").read_text())
    assert links == ["charts/interval.svg", "charts/runs-1.svg", "charts/time-1.svg"]
    assert all(ElementTree.parse(home / link).getroot().tag.endswith("svg") for link in links)


def test_a_run_with_its_repeats_is_a_study(home: Path, golden: Golden) -> None:
    printed = report("demo/7")
    golden.same(line for line in printed.stdout.splitlines() if line.startswith("3 runs"))
    assert "runs 7-9" in printed.stdout


def test_a_report_is_no_further_look_at_the_runs(home: Path) -> None:
    assert CliRunner().invoke(cli, ["check", "demo"]).exit_code == 0
    assert "look" not in report("demo").stdout.partition("\n## ")[0]
    directory = home.parent / "sessions" / "demo"
    kept = len(store.read_verdicts(directory))
    assert kept > 0
    stricter = report("demo", "--require", "-5").stdout
    assert "look" not in stricter.partition("\n## ")[0], "the interval is the same"
    assert len(store.read_verdicts(directory)) > kept, "a new verdict is kept, as that of a check is"


def test_a_title_of_ones_own(home: Path) -> None:
    printed = report("demo", "--title", "CHG-1234 | pool size", "--format", "html", "-o", "-").stdout
    assert "<title>CHG-1234 | pool size</title>" in printed


def test_a_mark_that_there_is_not(home: Path) -> None:
    found = report("demo", "--mark", "9")
    assert found.exit_code == 2
    assert "3 marks" in found.stderr


def test_marks_stay_in_the_order_of_time() -> None:
    of = material()
    early = Mark(at=STARTED, text="before all")
    found = document(replace(of, marks=(*of.marks, early)))
    assert "before all" not in markdown_of(found), "it was made before the first run"


@pytest.mark.parametrize(
    "names", [("mean",), ("read", "write"), tuple(f"pve{n} of a long name, dashed" for n in range(7))]
)
def test_names_in_a_legend_have_room(names: Sequence[str]) -> None:
    series = [ChartSeries(each, ((0.0, 1.0), (1.0, 2.0)), "s1") for name in names for each in ("", name)]
    root = ElementTree.fromstring(draw(LineChart("x", "x", tuple(series), ((0, "0"),), ((1, "1"),), (0, 1), (1, 2))))
    groups = {each.get("class", ""): each for each in root.iter() if each.get("class")}
    left, top = map(float, re.findall(r"[\d.]+", groups["legends"].get("transform", "")))
    texts = [each for each in groups["legends"].iter() if each.tag.endswith("text")]
    rows: dict[float, list[tuple[float, int]]] = {}
    for text in texts:
        rows.setdefault(float(text.get("y", 0)), []).append((float(text.get("x", 0)), len(text.text or "")))
    assert sum(map(len, rows.values())) == len(names)
    width, height = map(float, root.get("viewBox", "").split()[2:])
    assert top + max(rows) <= height
    for row in rows.values():
        ends = [*(x for x, _ in row[1:]), width - left]
        assert all(x + 6 * letters <= end for (x, letters), end in zip(row, ends, strict=True))
