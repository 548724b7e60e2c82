"""What was expected of runs stays with them: show, reports and JSON have it, and saved runs can be asked later."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from click.testing import CliRunner

from cephtui.cli.verbs import cli
from cephtui.models import Interval, MeasuredVolume, Node, Promise, Run, Sample, VolumePart
from cephtui.models.expectation import Expected
from cephtui.models.findings.cluster import RECOVERY
from cephtui.models.study import Cell, SavedStudy
from cephtui.ordering import plan_of, requests_of
from cephtui.planning import new_batch
from cephtui.reports.render import FORMATS
from cephtui.sessions import store
from cephtui.sessions.expected import judge_expected, keep_expected
from cephtui.sessions.store import STUDIES_FILE, VERDICTS_FILE
from cephtui.targets import parse_target
from tests.support.golden import Golden
from tests.support.imported import import_texts, rados
from tests.support.logs import WRITES
from tests.support.plans import packaged
from tests.support.runs import STARTED
from tests.support.sessions import write_session
from tests.unit.analysis.verdicts.test_expectation import wrote

SESSION = "tuning"
SECONDS = 60


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CEPHTUI_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "160")
    return tmp_path / "sessions"


def save(root: Path, runs: Sequence[Run], *studies: SavedStudy, slow: int = 0) -> Path:
    """A session with these runs, whose seconds all have their mean but for the ``slow`` ones, which have nothing."""

    def samples(run: Run) -> list[Sample]:
        iops = (run.summary.write.ios or 0) / SECONDS if run.summary.write else 0.0
        seconds = enumerate([0.0] * slow + [iops] * (SECONDS - slow), 1)
        return [
            Sample(run.run, None, run.preset, "run", at, 1.0, None, Interval(int(rate), 0, rate, 0.0))
            for at, rate in seconds
        ]

    return write_session(root, runs, name=SESSION, created_at=STARTED, studies=studies, samples=samples)


def promised(number: int, iops: float, *expect: str, **changes: Any) -> Run:
    return wrote(number, iops, promise=Promise(step="write-iops", expect=expect), **changes)


def of_volume(number: int, iops: float, part: VolumePart, batch: str, **changes: Any) -> Run:
    volume = MeasuredVolume(name="disk1", device_class="NVME", part=part)
    promise = Promise(step=f"disk1 {part}", expect=("iops>=8000",), volume=volume)
    return wrote(number, iops, promise=promise, batch=batch, options={"bs": "4k", "iodepth": 64}, **changes)


def call(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(cli, words, standalone_mode=False)
    assert (done.exception, done.return_value or 0) == (None, code), done.output
    return done.stdout


def events(text: str) -> list[dict[str, Any]]:
    return [row for each in text.splitlines() if (row := json.loads(each))["event"] == "expectation"]


# ---------------------------------------------------------------------------------------------- a part of the run


def test_what_is_expected_goes_from_the_order_to_each_step() -> None:
    chosen = {preset.name: preset for preset in packaged("write-iops", "read-iops")}
    batches = [new_batch(), new_batch(), new_batch()]
    cells = [
        Cell(step=name, preset=name, target="rbd:x", nodes=("a",), batch=batch, expect=expect)
        for name, batch, expect in zip(
            ("write-iops", "read-iops", "read-iops"), batches, (("iops>=5k",), (), ("p99<=1ms",)), strict=True
        )
    ]
    target = {"rbd:x": parse_target("rbd:x", owner_id="o")}
    ordered = SavedStudy(at=STARTED, cells=tuple(cells))
    (request,) = requests_of(ordered, chosen, target, {"a": Node(name="a")})
    steps = plan_of(request).steps
    assert [step.promise and step.promise.expect for step in steps] == [("iops>=5k",), None, ("p99<=1ms",)]


@pytest.mark.parametrize("form", FORMATS)
def test_a_check_is_written_in_each_format_once(root: Path, tmp_path: Path, form: str) -> None:
    """The exit code is that of the answer, or 3 for a file that exists."""
    save(root, [wrote(1, 8006)])
    file = tmp_path / f"answer.{form}"
    words = ("check", f"{SESSION}/1", "--expect", "iops>=5k", "-o", str(file))
    assert call(*words) == ""
    content = file.read_bytes()
    assert b"8,006 IOPS" in content or b"8006" in content or content.startswith(b"PK")
    assert CliRunner().invoke(cli, words).exit_code == 3
    assert file.read_bytes() == content
    assert ",not met," in call("check", SESSION, "--expect", "iops>=9k", "--format", "csv", code=5)


PASS = "PASS write-iops: write 8,006 IOPS (one run: no interval), expected 8,000 IOPS, 100 %"


@pytest.mark.parametrize("words", [("show", SESSION), ("show", f"{SESSION}/1"), ("show", SESSION, "--table")])
def test_it_is_shown_with_its_answer(root: Path, words: tuple[str, ...]) -> None:
    save(root, [promised(1, 8006, "write iops>=8k")])
    assert PASS in call(*words)


@pytest.mark.parametrize("words", [(SESSION,), (f"{SESSION}/1",), (SESSION, "--table")])
def test_json_has_it(root: Path, words: tuple[str, ...]) -> None:
    save(root, [promised(1, 8006, "write iops>=8k", "p99<=1s")])
    found = events(call("show", *words, "--json"))
    assert [(each["expectation"], each["word"]) for each in found] == [
        ("write iops>=8000", "PASS"),
        ("p99<=1s", "INVALID"),
    ]


@pytest.mark.parametrize("words", [("show", SESSION, "--format", "md"), ("report", SESSION)])
def test_markdown_has_a_row_for_each(root: Path, words: tuple[str, ...]) -> None:
    save(root, [promised(1, 8006, "write iops>=8k"), promised(2, 4000, "iops>=5000", batch="c")], slow=1)
    text = call(*words)
    assert "- **PASS write-iops: write 8,006 IOPS (one run: no interval), expected 8,000 IOPS, 98.3 % of" in text
    assert "- **FAIL write-iops: 4,000 IOPS (one run: no interval), expected 5,000 IOPS, 0.0 % of seconds" in text


def test_a_report_says_above_all_how_many_are_reached(root: Path, golden: Golden) -> None:
    save(root, [promised(1, 8006, "write iops>=8k", "iops>=9k", "read iops>=1")])
    text = call("report", SESSION)
    golden.same(next(line for line in text.splitlines() if line.startswith("**1 run: ")))
    page = call("report", SESSION, "--format", "html", "-o", "-")
    assert "<title>tuning: write-iops: " in page
    golden.same(page.partition("<title>")[2].partition("</title>")[0])


def test_a_workbook_has_numbers(root: Path, tmp_path: Path, golden: Golden) -> None:
    recovered = RECOVERY.found((1.0, 30.0), rate_bytes=64e6)
    save(root, [promised(1, 8006, "write iops>=8k", findings=(recovered,))])
    call("report", SESSION, "-o", str(tmp_path / "x.xlsx"))
    head, row = openpyxl.load_workbook(BytesIO((tmp_path / "x.xlsx").read_bytes()))["expected"].iter_rows(
        values_only=True
    )
    golden.same(map(str, head))
    cells = dict(zip(head, row, strict=True))
    assert (cells["promised"], cells["measured"], cells["interval"]) == (8000, 8006, None)
    assert (cells["seconds"], cells["seconds_reached"], cells["word"]) == (SECONDS, SECONDS, "NO VERDICT")
    assert recovered.text in cells["limited"]


def test_runs_without_any_have_no_section(root: Path) -> None:
    save(root, [wrote(1, 8006)])
    assert "expected" not in call("report", SESSION)
    assert "expected" not in call("show", SESSION)


def test_what_a_newer_cephtui_expects_is_left_out(root: Path) -> None:
    save(root, [promised(1, 8006, "warmth>=3", "iops>=8k")])
    assert [each["expectation"] for each in events(call("show", SESSION, "--json"))] == ["iops>=8000"]


def test_of_an_earlier_session_it_is_read_from_the_order(root: Path) -> None:
    cell = Cell(step="x", preset="write-iops", target="rbd:bench", nodes=("pve1",), batch="b", expect=("iops>=8k",))
    save(root, [wrote(1, 8006, batch="b")], SavedStudy(at=STARTED, cells=(cell,)))
    assert "PASS write-iops: 8,006 IOPS" in call("show", SESSION)


def test_alike_steps_are_told_apart_by_their_runs(root: Path) -> None:
    save(root, [promised(1, 8006, "iops>=8k", batch="a"), promised(2, 7000, "iops>=8k", batch="b")])
    lines = call("show", SESSION).splitlines()[-2:]
    assert [each.partition(": ")[0] for each in lines] == ["PASS write-iops (tuning/1)", "FAIL write-iops (tuning/2)"]


# ---------------------------------------------------------------------------------------------- volumes


def test_volumes_have_their_table_again(root: Path, golden: Golden) -> None:
    save(root, [of_volume(1, 8006, "read", "a"), of_volume(2, 4000, "write", "b")])
    *lines, last = [" ".join(each.split()) for each in call("show", SESSION).splitlines()[-3:]]
    assert lines == [
        "volume class depth promised read write 75/25 seconds >= 90 %",
        "disk1 NVME 64 8,000 PASS 8,006 FAIL 4,000 - 0.0 %",
    ]
    golden.same(last)
    assert "| disk1 | NVME | 64 | 8,000 | PASS 8,006 | FAIL 4,000 | - | 0.0 % |" in call("report", SESSION)


def test_a_volume_that_was_not_measured_does_not_reach_what_is_promised(root: Path, golden: Golden) -> None:
    runs = [of_volume(1, 8006, "read", "a")]
    cells = [
        Cell(
            step=f"{name} {part}", preset="provisioned", target=runs[0].target, nodes=("pve1",), batch=batch,
            expect=("iops>=8000",), options={"bs": "4k", "iodepth": 64},
            volume=MeasuredVolume(name=name, device_class="NVME", part=part),
        )
        for batch, name, part in (("a", "disk1", "read"), ("b", "disk1", "write"), ("c", "disk2", "read"))
    ]  # fmt: skip
    save(root, runs, SavedStudy(at=STARTED, cells=tuple(cells)))
    *lines, last = [" ".join(each.split()) for each in call("show", SESSION).splitlines()[-3:]]
    assert lines == [
        "disk1 NVME 64 8,000 PASS 8,006 - - 100 %",
        "disk2 NVME 64 - - - - -",
    ]
    golden.same(last)


def test_of_one_run_of_a_volume_no_table_is_shown(root: Path, golden: Golden) -> None:
    save(root, [of_volume(1, 8006, "read", "a"), of_volume(2, 4000, "write", "b")])
    last = call("show", f"{SESSION}/1").splitlines()[-1]
    golden.same(last)


# ---------------------------------------------------------------------------------------------- asked later


@pytest.mark.parametrize(
    ("expect", "code"), [("iops>=5000", 0), ("write iops >= 20k", 5), ("read iops>=1", 6), ("p99<=1ms", 6)]
)
def test_saved_runs_are_asked_with_the_codes_of_a_run(root: Path, expect: str, code: int) -> None:
    save(root, [wrote(1, 5100)])
    assert len(events(call("check", SESSION, "--expect", expect, "--json", code=code))) == 1


@pytest.mark.parametrize("slow", [0, 30])
def test_imported_runs_are_judged_as_live_ones(root: Path, slow: int) -> None:
    live = save(root, [wrote(1, 5100)], slow=slow)
    said = call("check", SESSION, "--expect", "iops>=5k")
    shutil.rmtree(live)
    save(root, [wrote(1, 5100, imported_from="x.txt:1")], slow=slow)
    assert call("check", SESSION, "--expect", "iops>=5k") == said
    assert f"{'50.0' if slow else '100'} % of seconds" in said, "shown, and it decides nothing"


@pytest.mark.parametrize(
    ("expect", "word", "code"),
    [
        ("iops>=1000", "PASS", 0),
        ("write bandwidth>=1MiB/s", "PASS", 0),
        ("iops>=100k", "FAIL", 5),
        ("latency<=1s", "PASS", 0),
        ("p99<=1s", "PASS", 0),
        ("p99<=1ms", "FAIL", 5),
    ],
)
def test_a_log_without_seconds_is_judged_by_its_sums(root: Path, expect: str, word: str, code: int) -> None:
    import_texts(root.parent, "old", {"a.txt": WRITES})
    (found,) = events(call("check", "old", "--expect", expect, "--json", code=code))
    assert (found["word"], found["seconds"]) == (word, None)
    assert found["limited"] == []


def test_the_rows_of_rados_bench_are_its_seconds(root: Path, golden: Golden) -> None:
    import_texts(root.parent, "old", {"a.txt": rados("write")})
    (found,) = events(call("check", "old", "--expect", "iops>=50", "--json"))
    assert (found["word"], found["seconds"], found["seconds_reached"]) == ("PASS", 40, 40)
    golden.same(call("check", "old", "--expect", "p99<=1s", code=6))  # it has no percentiles


def test_what_was_asked_later_is_a_part_of_the_session(root: Path) -> None:
    save(root, [promised(1, 8006, "iops>=8k")])
    call("check", SESSION, "--expect", "iops>=20k", code=5)
    call("check", f"{SESSION}/1", "--expect", "iops>=10k", code=5)
    found = events(call("show", SESSION, "--json"))
    assert [each["expectation"] for each in found] == ["iops>=10000"], "of a figure the last"
    assert "expected 10,000 IOPS" in call("show", SESSION)
    assert "expected 10,000 IOPS" in call("report", SESSION)


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        (("p99<=1s",), ["iops>=8000", "p99<=1s"]),
        (("write iops>=20k",), ["iops>=8000", "write iops>=20000"]),
        (("iops>=1k", "iops>=8k"), ["iops>=8000"]),
        (("iops>=1k", "iops>=2k", "iops>=1k"), ["iops>=1000"]),
    ],
)
def test_of_each_figure_the_last_that_was_asked_counts(root: Path, asked: tuple[str, ...], shown: list[str]) -> None:
    directory = save(root, [promised(1, 8006, "iops>=8k")])
    keep_expected(judge_expected(directory, store.read_runs(directory)[0], STARTED), directory)
    for text in asked:
        CliRunner().invoke(cli, ("check", SESSION, "--expect", text), standalone_mode=False)
    assert [each["expectation"] for each in events(call("show", SESSION, "--json"))] == shown


def test_what_is_promised_of_a_volume_stays_whatever_is_asked_of_it(root: Path) -> None:
    save(root, [of_volume(1, 8006, "write", "a")])
    call("check", SESSION, "--expect", "iops>=5k")
    found = events(call("show", SESSION, "--json"))
    assert [(each["expectation"], each["of_volume"]) for each in found] == [("iops>=8000", True), ("iops>=5000", False)]


def test_a_small_latency_is_read_again(root: Path) -> None:
    save(root, [wrote(1, 8006)])
    call("check", SESSION, "--expect", "p99<=1us", code=6)
    assert [each["expectation"] for each in events(call("show", SESSION, "--json"))] == ["p99<=0.000001s"]


def test_an_order_that_can_not_be_read_is_in_no_ones_way(root: Path) -> None:
    directory = save(root, [wrote(1, 8006)])
    for name in (STUDIES_FILE, "suite.json"):
        (directory / name).write_text("{")
    assert "write-iops" in call("show", SESSION)


def test_a_dry_run_says_what_is_expected(root: Path, golden: Golden) -> None:
    text = call("run", "write-iops", "--expect", "iops>=5k", "--dry-run")
    golden.same(text.splitlines()[-1])


def test_what_was_said_is_kept_as_it_was_said_once(root: Path) -> None:
    directory = save(root, [wrote(1, 8006)])
    for _ in range(2):
        call("check", SESSION, "--expect", "iops>=8k")
    (kept,) = store.read_expected(directory)
    assert (kept.word, kept.runs) == ("PASS", ("tuning/1",))
    assert store.read_verdicts(directory) == []


def test_where_another_word_was_given_before_it_is_said(root: Path, golden: Golden) -> None:
    directory = save(root, [promised(1, 8006, "iops>=8k")])
    (now,) = judge_expected(directory, store.read_runs(directory)[0], STARTED)
    keep_expected([now.model_copy(update={"word": "FAIL", "answer": "not met"})], directory)
    golden.same(call("show", SESSION).splitlines()[-1])
    assert events(call("show", SESSION, "--json"))[0]["given"] == "FAIL"
    assert "given as FAIL before" in call("report", SESSION)


def test_a_session_that_can_not_be_written_is_judged_all_the_same(
    root: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    save(root, [wrote(1, 8006)])

    def refuse(path: Path, lines: Sequence[Expected]) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("cephtui.sessions.expected.append_lines", refuse)
    done = CliRunner().invoke(cli, ["check", SESSION, "--expect", "iops>=8k"], standalone_mode=False)
    assert (done.return_value, done.stdout.split()[0]) == (0, "PASS")
    assert "Read-only file system" in done.stderr
    golden.same(done.stderr)


def test_lines_that_are_no_expectations_are_left_out(root: Path) -> None:
    directory = save(root, [wrote(1, 8006)])
    (directory / VERDICTS_FILE).write_text('{"event":"verdict"}\nx\n{"event":"expectation"}\n')
    assert store.read_expected(directory) == []


@pytest.mark.parametrize(
    "words",
    [
        ("fast",),
        ("iops>=1", "--require", "5"),
        ("iops>=1", "--mark", "1"),
        ("iops>=1", "--preset", "write-iops"),
        ("iops>=1", "other"),
    ],
)
def test_what_does_not_go_with_it_is_refused(root: Path, words: tuple[str, ...], golden: Golden) -> None:
    save(root, [wrote(1, 8006)])
    done = CliRunner().invoke(cli, ["check", SESSION, "--expect", *words])
    assert done.exit_code == 2
    golden.same(done.output.splitlines()[-1])
