"""When an imported run was measured: by its log, and else not at all, wherever the time of a run is used."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cephtui import units
from cephtui.analysis.runs.batches import in_time_order
from cephtui.analysis.runs.change import Change, around
from cephtui.analysis.runs.marks import marks_among
from cephtui.analysis.verdicts.conclusion import ConclusionTerms, conclude
from cephtui.analysis.verdicts.verdict import Figures
from cephtui.cli.verbs import cli
from cephtui.models import Mark, Run
from cephtui.presets import headline_metric
from cephtui.reports.blocks import Items, plain_text
from cephtui.reports.views.report.content import document_of
from cephtui.reports.words.facts import facts, head_line, period
from cephtui.tools.logs import read_log
from cephtui.tools.rados_bench.saved import find_runs as find_rados
from cephtui.tui.widgets.run_rows import TableContent
from tests.support import documents
from tests.support.drawings import runs_csv
from tests.support.golden import Golden
from tests.support.imported import WRITTEN, import_texts, rados
from tests.support.logs import WRITES
from tests.support.runs import IOPS, STARTED, run, runs


def undated(number: int, iops: float = 1000.0, **fields: Any) -> Run:
    """A run that was imported from a log without a date; its file was written long after the others had run."""
    source = {"is_dated": False, "started_at": WRITTEN, "imported_from": f"old.txt:{number}"}
    return run(number, iops, **{**source, **fields})


UNKNOWN = facts([undated(1)])["date"]
"""What is said instead of its date."""


def local(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone()


# ------------------------------------------------------------------ the log's own date


@pytest.mark.parametrize(
    ("clock", "began"),
    [
        ("2016-06-16 21:24:44.123456 ", local("2016-06-16T21:24:24.123456")),
        ("2016-06-16 21:24:44 ", local("2016-06-16T21:24:24")),
        ("2025-11-12T17:26:04.352451+0100 ", local("2025-11-12T17:25:44.352451+01:00")),
    ],
)
@pytest.mark.parametrize("mode", ["write", "seq"])
def test_the_line_of_the_extremes_dates_a_run_of_rados_bench(mode: str, clock: str, began: datetime) -> None:
    (found,) = find_rados(read_log(rados(mode, clock=clock)))
    assert found.started_at == began


def test_rows_with_the_times_of_old_releases_are_read() -> None:
    lines = [
        f"2016-06-16 21:24:{second:02}.500000 {second:>5}  16  {20 * second + 16}  {20 * second}  80  80  0.3  0.3"
        for second in range(4)
    ]
    (found,) = find_rados(read_log("\n".join(lines)))
    assert found.started_at == local("2016-06-16T21:24:00.500000")
    assert len(found.readings) == 3


def test_a_line_of_cephs_own_log_dates_the_run_below_it_and_no_other() -> None:
    line = "2016-06-16 21:40:00.700892 7f8b4c7f8700 -1 WARNING: experimental features are enabled\n"
    first, second = find_rados(read_log(rados("write") + line + rados("seq")))
    assert (first.started_at, second.started_at) == (None, local("2016-06-16T21:40:00.700892"))
    (far,) = find_rados(read_log(line + 30 * "\n" + rados("seq")))
    assert far.started_at is None
    (other,) = find_rados(read_log(line + "$ rados bench -p a 40 seq\n" + rados("seq")))
    assert other.started_at is None


@pytest.mark.parametrize(
    ("shown", "began"),
    [
        ("Thu Jun 16 21:24:44 UTC 2016", datetime(2016, 6, 16, 21, 24, 44, tzinfo=UTC)),
        ("Thu 16 Jun 2016 09:24:44 PM UTC", datetime(2016, 6, 16, 21, 24, 44, tzinfo=UTC)),
        ("=== Thu Jun 16 21:24:44 CEST 2016 ===", local("2016-06-16T21:24:44").astimezone(UTC)),
    ],
)
def test_the_date_that_a_shell_printed_dates_the_run_below_it_and_no_other(
    tmp_path: Path, shown: str, began: datetime
) -> None:
    command = "$ rados bench -p a 40 seq\n"
    first, second = import_texts(tmp_path, "a", {"a.txt": f"$ date\n{shown}\n{2 * (command + rados('seq'))}"})
    assert (first.started_at, first.is_dated, second.is_dated) == (began, True, False)
    (far,) = import_texts(tmp_path, "b", {"a.txt": shown + 30 * "\n" + rados("seq")})
    (said,) = import_texts(tmp_path, "c", {"a.txt": f"On {shown} we began:\n{rados('seq')}"})
    assert (far.is_dated, said.is_dated) == (False, False)
    (own,) = import_texts(tmp_path, "d", {"a.txt": f"{shown}\n{WRITES}"})
    assert own.started_at.year == 2025


# ------------------------------------------------------------------ without one


def test_a_log_without_a_date_has_none(tmp_path: Path) -> None:
    dated = rados("write", clock="2016-06-16 21:24:44.123456 ")
    found = import_texts(tmp_path, "old", {"a.txt": dated + rados("seq"), "b.txt": WRITES})
    assert [run.is_dated for run in found] == [True, False, True]
    assert (found[1].started_at, found[2].started_at.year) == (WRITTEN, 2025)
    kept = [json.loads((tmp_path / f"sessions/old/{number:03}/run.json").read_text()) for number in (1, 2)]
    assert [run.get("is_dated") for run in kept] == [None, False]


def test_an_impossible_date_is_none(tmp_path: Path) -> None:
    (found,) = import_texts(tmp_path, "old", {"a.txt": rados("write", clock="1969-06-16 21:24:44.123456 ")})
    assert (found.is_dated, found.started_at) == (False, WRITTEN)


def test_what_is_said_of_a_run_without_a_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CEPHTUI_DATA_DIR", str(tmp_path))
    import_texts(tmp_path, "old", {"a.txt": rados("seq")})
    said = {
        words: CliRunner().invoke(cli, words.split()).stdout
        for words in ("show old", "show old/1", "show old --format md", "report old --format md")
    }
    assert f"date {UNKNOWN}" in said["show old"]
    assert f"{UNKNOWN}, 40 s" in said["show old/1"]
    assert f"- date: {UNKNOWN}" in said["show old --format md"]
    assert f"date {UNKNOWN}\n" in said["report old --format md"]
    rows = [line for line in said["report old --format md"].splitlines() if line.startswith("| run 1 |")]
    assert rows
    assert "11-25" not in "".join(rows)


def test_a_session_is_named_after_a_date_only_where_it_has_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CEPHTUI_DATA_DIR", str(tmp_path))
    for name, text in {"ssd": rados("seq"), "hdd": rados("write", clock="2016-06-16 21:24:44.123456 ")}.items():
        (tmp_path / f"{name}.txt").write_text(text)
        CliRunner().invoke(cli, ["import", str(tmp_path / f"{name}.txt")])
    assert {path.name for path in (tmp_path / "sessions").iterdir()} == {"ssd", "hdd-2016-06-16"}


def test_nobody_is_named_as_the_one_who_measured_what_was_imported(golden: Golden) -> None:
    for first, is_named in ((undated(1), False), (run(1, user="root"), True)):
        document = document_of(replace(documents.study(), runs=(first, undated(2))))
        (section,) = [each for each in document.sections if each.title == "What was measured"]
        (block,) = section.blocks
        assert isinstance(block, Items)
        items = [*map(plain_text, block.items)]
        (measured,) = [item for item in items if UNKNOWN in item]
        assert ("root" in measured) is is_named
        golden.same(items)


def test_the_dates_of_some_are_known(golden: Golden) -> None:
    dated = run(1)
    golden.same(period([dated, undated(2)]))
    assert f"{WRITTEN.astimezone():%Y-%m-%d}" in UNKNOWN
    golden.same(UNKNOWN)
    golden.same(head_line([undated(2)]))
    others = undated(3, started_at=WRITTEN - timedelta(days=400), imported_from="b.txt:3")
    golden.same(period([undated(2), others]))


def test_tables_have_no_time_of_a_run_without_a_date() -> None:
    (row,) = TableContent({1: undated(1)}).rows()
    assert row.texts["started"] == units.DASH
    assert "2026-11-25" not in runs_csv([undated(1)])


def test_a_run_without_a_date_stays_behind_the_one_before_it() -> None:
    first, second, third = run(1), undated(2), run(3)
    assert in_time_order([third, second, first]) == [first, second, third]
    apart = [run.model_copy(update={"batch": f"b{run.run}"}) for run in (first, second, third)]
    rows = TableContent({run.run: run for run in apart}).rows()
    assert [row.run.run for row in rows if row.run] == [3, 2, 1]


# ------------------------------------------------------------------ no claim is made of its time


def test_a_mark_is_never_placed_before_or_between_runs_without_a_date() -> None:
    runs = [undated(1), undated(2)]
    earlier = Mark(at=STARTED, text="a change")
    assert around(runs, [earlier]) == []
    assert marks_among(runs, [earlier]) == []
    assert marks_among([run(1), *runs], [Mark(at=WRITTEN - timedelta(days=1), text="a change")]) == []


def test_runs_without_a_date_do_not_take_turns() -> None:
    before, after = [run(1), run(3)], [run(2), run(4)]
    assert Figures.of("write", IOPS, before, after).take_turns
    without = [undated(2, started_at=after[0].started_at), after[1]]
    assert not Figures.of("write", IOPS, before, without).take_turns


def test_a_verdict_says_that_it_does_not_know_the_day(golden: Golden) -> None:
    before = tuple(undated(number, 1000.0 + number) for number in (1, 2, 3))
    after = runs((990.0, 1010.0, 1005.0), first=4)
    judged = conclude([Change(before, after)], ConclusionTerms(partial(headline_metric, {})), datetime.now(UTC))
    golden.same(judged.conclusion.notes)
