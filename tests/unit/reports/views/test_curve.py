"""Curves as a text, as Markdown, CSV and JSON, and the knee in words."""

from __future__ import annotations

import csv
import io
import random
import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.markup import escape

from cephtui.analysis.verdicts.knee import LoadPoint, knee_of
from cephtui.analysis.views.curve import Axis, Curve, curve_of, varying_axes
from cephtui.cli.verbs import cli
from cephtui.models import Finding, Mark, NodeResult, Run, Summary
from cephtui.models.metrics import BY_NAME
from cephtui.models.rows import CurvePointRow, KneeRow
from cephtui.reports.views.curve import curve_of_run, curves_of, rows_of_curve
from cephtui.reports.words.curve import knee_lines, peak_line
from cephtui.tui.charts.curves import hockey_stick
from tests.support.closed_loops import hard, one_queue, swept
from tests.support.drawings import curve_markdown, curves_csv, draw_curve, printed
from tests.support.golden import Golden
from tests.support.known import known
from tests.support.runs import sweep, under_load

DEPTH = Axis("option", "iodepth", "depth")
DEPTHS = (1, 4, 16, 64)


def said(system_knee: int, *depths: int, repeats: int = 1) -> list[str]:
    found = swept(hard(system_knee), random.Random(0), 0.02 if repeats > 1 else 0.0, repeats, depths)
    return knee_lines(known(knee_of(found)), DEPTH)


def drawn(runs: list[Run], width: int = 80, ascii_only: bool = False) -> str:
    text = printed(draw_curve(known(curve_of_run(runs[0], runs)), ascii_only=ascii_only), width)
    return "\n".join(line.rstrip() for line in text.splitlines())


def rows_of(curve: Curve) -> list[CurvePointRow | KneeRow]:
    return list(rows_of_curve(curve))


# ------------------------------------------------------------------ in words


def test_a_knee_is_said_with_both_numbers(golden: Golden) -> None:
    golden.same(said(16, 1, 2, 4, 16, 64))


def test_repeats_give_it_an_interval() -> None:
    assert said(16, 1, 4, 16, 64, repeats=3)[0].startswith("knee at depth 16 (95 %: 15 .. 17): ")


def test_why_there_is_none(golden: Golden) -> None:
    golden.same(said(64, 1, 4, 16, 64))
    golden.same(said(4, 8, 16))


def test_what_is_to_be_known_of_it(golden: Golden) -> None:
    (_, fewest) = said(16, 4, 8, 12, 16, 64)
    golden.same(fewest)
    rates = (1, 100.0), (2, 130.0), (8, 290.0), (64, 850.0), (128, 860.0)
    slow = [LoadPoint(n, (x,), (n / x,), label=str(n)) for n, x in rates]
    golden.same(knee_lines(known(knee_of(slow)), DEPTH)[1])


@pytest.mark.parametrize(
    ("rates", "line"),
    [
        ((1000.0, 7000.0, 8300.0), "peak 8.30k write IOPS at depth 64; 84 % of it at depth 8 (2.00 ms)"),
        ((1000.0, 2000.0, 8300.0), "peak 8.30k write IOPS at depth 64 (7.00 ms)"),
    ],
)
def test_where_most_of_the_peak_is_to_be_had(rates: tuple[float, ...], line: str) -> None:
    measured = zip((1, 8, 64), rates, (0.001, 0.002, 0.007), strict=True)
    points = [LoadPoint(depth, (rate,), (latency,), label=str(depth)) for depth, rate, latency in measured]
    assert peak_line(known(knee_of(points)), DEPTH, flow="write") == line


@pytest.mark.parametrize(("latency", "word"), [(0.005, "is less"), (0.02, "is more")])
def test_littles_law_is_a_finding(latency: float, word: str, golden: Golden) -> None:
    points = [LoadPoint(n, (x,), (r,), label=str(n)) for n, x, r in ((1, 100.0, 0.01), (8, 800.0, latency))]
    points.append(LoadPoint(32, (810.0,), (32 / 810,), label="32"))
    lines = knee_lines(known(knee_of(points)), DEPTH)
    assert word in lines[-1]
    golden.same(lines[-1])


def test_the_depth_is_that_of_a_job_and_the_rest_is_in_flight() -> None:
    points = [
        LoadPoint(8 * n, (x,), (8 * n / x,), label=str(n), block_bytes=4096)
        for n, x in ((1, 4000.0), (2, 8000.0), (4, 16000.0), (8, 16100.0), (16, 16050.0))
    ]
    knee = known(knee_of(points))
    assert knee_lines(knee, DEPTH)[0].startswith("knee at depth 4, 32 in flight, from one run each: 16.0k IOPS at ")
    assert "peak 62.7 MiB/s;" in knee_lines(knee, DEPTH, BY_NAME["bandwidth_bytes"])[0]


# ------------------------------------------------------------------ as a text


def test_a_load_has_bars_for_throughput_and_latency_and_its_knee(golden: Golden) -> None:
    runs = [*sweep(DEPTHS), *sweep(DEPTHS, first=5)]
    text = drawn(runs, width=120)
    title, _, *rows, knee = text.splitlines()
    golden.same(title)
    assert [row.split()[0] for row in rows] == ["1", "4", "16", "64"]
    assert "█" * 14 in rows[-1]
    assert [row.count("█") for row in rows] == [2, 5, 16, 22]
    assert knee.startswith("knee at depth 16 (95 %: 15 .. 17): ")
    assert all(len(row) <= 80 for row in rows)
    assert drawn(runs, ascii_only=True).isascii()


def test_a_curve_out_of_order_says_where_and_of_how_many_runs(golden: Golden) -> None:
    rates = {1: 300.0, 2: 520.0, 4: 900.0, 8: 700.0, 16: 1100.0, 32: 800.0, 64: 1050.0, 128: 900.0}
    curve = curve_of(sweep(tuple(rates), lambda depth: rates[depth]), DEPTH)
    *_, knee = rows_of(curve)
    assert isinstance(knee, KneeRow)
    assert (knee.known, knee.in_flight, knee.working_iops) == (False, None, None)
    golden.same(knee.text)
    assert known(hockey_stick(curve, BY_NAME["iops"])).dashed == ()


def test_a_rise_that_may_be_chance_is_no_knee(golden: Golden) -> None:
    points = [
        LoadPoint(n, (x,), (n / x,), (), str(n), seconds=s)
        for n, x, s in ((1, 600.0, 3), (4, 990.0, 9), (8, 1000.0, 3))
    ]
    (line,) = knee_lines(known(knee_of(points)), DEPTH)
    assert f"rises by {100 * (1000 / 600 - 1):.0f} % at most" in line
    golden.same(line)


def test_a_knee_between_depths_far_apart_is_said_to_lie_between_them(golden: Golden) -> None:
    golden.same(said(12, 1, 2, 4, 64, 256)[0])
    curve = curve_of(sweep((1, 2, 4, 64, 256), hard(12)), DEPTH)
    *_, knee = rows_of(curve)
    assert isinstance(knee, KneeRow)
    plot = known(hockey_stick(curve, BY_NAME["iops"]))
    assert (plot.dashed, [text for _, text in plot.dotted]) == ((), ["80 %"])
    assert (knee.in_flight, knee.between) == (12, (4, 64))


def test_series_are_blocks_with_bars_of_one_scale() -> None:
    runs = [*sweep(DEPTHS, bs="4k"), *sweep(DEPTHS, lambda n: one_queue(16)(n) / 4, first=5, bs="64k")]
    lines = drawn(runs, width=140).splitlines()
    assert [line for line in lines if line.startswith("bs ")][:2] == ["bs 4k", "bs 64k"]
    at = lines.index("bs 64k")
    assert [sum("█" * 14 in line for line in block) for block in (lines[:at], lines[at:])] == [2, 0]
    assert [line.partition(":")[0] for line in lines[-2:]] == ["bs 4k", "bs 64k"]


def test_findings_and_missing_figures_are_in_their_row() -> None:
    runs = sweep((1, 4, 16))
    runs[1] = runs[1].model_copy(update={"findings": (Finding(code="stalled", text="no I/O"),)})
    runs[2] = runs[2].model_copy(update={"outcome": "failed", "summary": Summary()})
    lines = drawn(runs).splitlines()
    assert lines[3].endswith("stalled")
    assert lines[4].split()[:3] == ["16", "#3", "-"]


def test_hostile_marks_are_texts_in_every_form() -> None:
    evil = "[bold]x[/] | `y` \x1b[2J " + "z" * 60
    first, second = under_load(1, 100.0, 0.01), under_load(2, 50.0, 0.02)
    mark = Mark(at=first.started_at + timedelta(seconds=first.duration_seconds + 1), text=evil)
    (curve,) = curves_of([first, second], [mark])
    text = printed(draw_curve(curve), 80)
    assert "[bold]x[/]" in text
    assert "\x1b[2J" not in text
    markdown = curve_markdown(curve, BY_NAME["iops"])
    assert r"\| \`y\`" in markdown
    assert "\x1b" not in markdown + curves_csv([curve])
    assert escape("[bold]") not in text


# ------------------------------------------------------------------ which curves a session has


def test_a_session_has_a_curve_for_each_family_that_varies() -> None:
    runs = [*sweep(DEPTHS), under_load(9, 100.0, 0.01, batch="alone", iodepth=1)]
    found = curves_of(runs)
    assert [curve.axis for curve in found] == [DEPTH]
    assert sum(len(series.points) for series in found[0].series) == 4
    single = known(curve_of_run(runs[-1], runs))
    assert [place.label for place in single.places] == ["1"]


# ------------------------------------------------------------------ as data


def test_markdown_has_the_points_and_the_words() -> None:
    text = curve_markdown(
        known(curve_of_run(sweep((1, 2, *DEPTHS[1:]))[0], sweep((1, 2, *DEPTHS[1:])))), BY_NAME["iops"]
    )
    assert text.startswith("**write-iops over the depth: runs 1-5**\n")
    assert "| 16 | run 4 | " in text
    assert "- **knee at depth 16, from one run of 60 s each: " in text
    assert text.endswith("details: `cephtui show replay --curve`\n")


def test_rows_have_base_units_and_the_interval() -> None:
    runs = [*sweep(DEPTHS), *sweep(DEPTHS, first=5)]
    *points, knee = rows_of(curve_of(runs, DEPTH))
    first = points[0]
    assert isinstance(first, CurvePointRow)
    assert (first.axis, first.place, first.place_number, first.direction, first.runs) == (
        "iodepth",
        "1",
        1.0,
        "write",
        (1, 5),
    )
    assert (first.in_flight, first.figures["iops"].runs) == (1, 2)
    assert known(first.figures["iops"].low) == pytest.approx(first.figures["iops"].value)
    assert isinstance(knee, KneeRow)
    assert known(knee.in_flight) == pytest.approx(16, rel=0.01)
    assert known(knee.working_latency_p99_seconds) == pytest.approx(2 * known(knee.working_latency_seconds))
    assert knee.text.startswith("knee at depth 16")


def test_a_curve_without_a_knee_has_a_row_that_says_so() -> None:
    knee = rows_of(curve_of(sweep((1, 2, 4)), DEPTH))[-1]
    assert isinstance(knee, KneeRow)
    assert (knee.known, knee.in_flight, knee.working_iops) == (False, None, None)


def test_csv_has_a_row_for_each_point_and_direction() -> None:
    runs = sweep(DEPTHS)
    rows = list(csv.DictReader(io.StringIO(curves_csv([curve_of(runs, DEPTH)]))))
    assert [row["place"] for row in rows] == ["1", "4", "16", "64"]
    assert float(rows[0]["iops"]) == pytest.approx(known(known(runs[0].summary.write).iops))
    assert (rows[0]["iops_low"], rows[0]["latency_p95_seconds"]) == ("", "")


def test_nodes_are_named() -> None:
    one, two = sweep((1, 4))
    result = NodeResult(node="pve1", command="fio")
    runs = [
        one.model_copy(update={"nodes": (result,), "options": two.options}),
        two.model_copy(update={"nodes": (result.model_copy(update={"node": "pve2"}),)}),
    ]
    (axis,) = varying_axes(runs)
    assert axis == Axis("nodes")
    assert [place.label for place in curve_of(runs, axis).places] == ["pve1", "pve2"]


# ------------------------------------------------------------------ on the command line


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["demo", "--curve"], "write-iops over the marks: #7-12, 14"),
        (["demo/8", "--curve", "--format", "md"], "**write-iops over the marks: runs 7-12, 14**"),
        (["demo", "--curve", "--format", "csv"], "demo,write-iops,marks,before,"),
        (["demo/2", "--curve", "--json"], '"event":"point"'),
    ],
)
def test_show_has_the_curves_of_a_session_and_that_of_a_run(
    demo_session: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], expected: str
) -> None:
    monkeypatch.setenv("CEPHTUI_DATA_DIR", str(demo_session.parent.parent))
    done = CliRunner().invoke(cli, ["show", *words])
    assert (done.exit_code, expected in done.output) == (0, True), done.output


def test_runs_that_are_all_alike_have_no_curve(
    demo_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    monkeypatch.setenv("CEPHTUI_DATA_DIR", str(tmp_path))
    one = demo_copy.rename(demo_copy.with_name("one"))
    for number in range(2, 15):
        shutil.rmtree(one / f"{number:03}", ignore_errors=True)
    done = CliRunner().invoke(cli, ["show", "one", "--curve"])
    assert done.exit_code == 2
    golden.same(" ".join(done.output.split()))
