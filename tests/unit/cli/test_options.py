"""An option is taken, or refused with the reason: none is accepted and then ignored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from cephtui.cli.verbs import cli
from cephtui.models import Mark, Run
from tests.support import studies
from tests.support.golden import Golden

STUDY = studies.NAME


@pytest.fixture
def sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study whose latencies are 1, 2, ... ms and its p99s ten times as much."""
    monkeypatch.setenv("CEPHTUI_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    found = [with_latency(run) for run in studies.runs(9)]
    studies.write(tmp_path / "sessions", found, studies.order())
    return tmp_path / "sessions"


def with_latency(run: Run) -> Run:
    if run.summary.write is None:
        return run
    figures = {"latency_mean_seconds": run.run / 1e3, "latency_p99_seconds": run.run / 1e2}
    write = run.summary.write.model_copy(update=figures)
    return run.model_copy(update={"summary": run.summary.model_copy(update={"write": write})})


def call(*words: str) -> str:
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    return done.stdout


# ---------------------------------------------------------------------------------------------- the figure


def test_a_report_of_a_study_is_about_the_figure_that_is_named(sessions: Path) -> None:
    usual, asked = call("report", STUDY), call("report", STUDY, "--metric", "p99")
    assert "| 4k random writes | IOPS |" in usual
    assert "| 4k random writes | latency p99 |" in asked
    assert "18.2 ms" in asked, "the geometric mean of 10, 20 and 30 ms"


def test_so_are_the_matrix_and_its_data(sessions: Path) -> None:
    assert "latency p99" in call("show", STUDY, "--table", "--metric", "p99")
    assert "| latency |" in call("show", STUDY, "--table", "--metric", "latency", "--format", "md")
    rows = [json.loads(line) for line in call("show", STUDY, "--table", "--metric", "p99", "--json").splitlines()]
    assert {row["name"] for row in rows if row["value"] is not None} == {"latency_p99_seconds"}


@pytest.mark.parametrize("form", ["table", "md"])
def test_a_curve_has_the_figure_first(sessions: Path, form: str) -> None:
    text = call("show", STUDY, "--curve", "--metric", "p95", "--format", form)
    assert "lat p95" in text.replace("|", "").split("runs", 1)[-1].split("IOPS")[0]


def test_runs_are_compared_by_the_figure_that_is_named(sessions: Path) -> None:
    words = ("compare", f"{STUDY}/1", f"{STUDY}/4", "--json")
    deciding = []
    for more in ((), ("--metric", "p99")):
        rows = [json.loads(line) for line in call(*words, *more).splitlines()]
        deciding.append([row["figure"] for row in rows if row["event"] == "verdict" and row["decides"]])
    assert deciding == [["iops"], ["latency_p99_seconds"]]


# ---------------------------------------------------------------------------------------------- refused

REFUSED = [
    ("show", STUDY, "--metric", "p99"),
    ("show", f"{STUDY}/1", "--metric", "p99"),
    ("show", STUDY, "--curve", "--metric", "p99", "--json"),
    ("show", STUDY, "--format", "md", "--json"),
    ("compare", f"{STUDY}/1", f"{STUDY}/4", "--format", "csv", "--json"),
    ("report", STUDY, "--require", "5"),
    ("report", STUDY, "--direction", "read"),
    ("report", STUDY, "--same", "5"),
    ("report", STUDY, "--without", "3"),
    ("report", f"{STUDY}/1", "--confidence", "99"),
    ("report", STUDY, "--metric", "p99", "--metric", "p50"),
    ("report", STUDY, "--format", "csv", "--metric", "p99"),
    ("report", STUDY, "--format", "csv", "--title", "x"),
    ("report", STUDY, "--force"),
    ("check", STUDY, "--runs", "5"),
    ("check", STUDY, "--change", "true"),
    ("check", STUDY, "--dry-run"),
    ("check", f"{STUDY}/1", f"{STUDY}/4", "--node", "x"),
    ("--node", "x", "check", STUDY),
    ("check", STUDY, "--continue", STUDY),
    ("check", "--preset", "write-iops", "--mark", "2"),
    ("check", "--preset", "write-iops", "--runs", "4", "--most", "8"),
    ("check", "--preset", "write-iops", "--data-pool", "ec", "--dry-run"),
    ("check", "--against", f"{STUDY}/1", "--set", "runtime=5"),
    ("check", "--continue", STUDY, "--require", "5"),
    ("check", "--continue", STUDY, "--set", "runtime=5"),
    ("cleanup", "--undo", STUDY, "--as-listed"),
    ("cleanup", "--undo", STUDY, "--node", "x"),
    ("--node", "x", "show", STUDY),
    ("--ceph-id", "x", "sessions"),
    ("provisioned", "--volume", "file:/x=5", "--set", "rw=randread"),
    ("provisioned", "--volume", "file:/x=5", "--set", "bs=1M"),
    ("provisioned", "--volume", "file:/x=5", "--set", "numjobs=2"),
    ("check", "--preset", "latency", "--dry-run"),
    ("check", "--preset", "latency", "--set", "iodepth=1,4", "--dry-run"),
    ("check", "--preset", "write-iops", "--set", "blocksize=4k,8k", "--dry-run"),
    ("check", f"{STUDY}/1", f"{STUDY}/1"),
    ("check", f"{STUDY}/9", f"{STUDY}/09"),
    ("compare", f"{STUDY}/1", f"{STUDY}/1"),
    ("compare", STUDY, f"{STUDY}/9"),
    ("report", f"{STUDY}/1", f"{STUDY}/1"),
    ("check", STUDY, "--format", "md", "--json"),
    ("check", STUDY, "--force"),
    ("provisioned", "--volume", "file:/x=5", "--json", "-o", "x.md"),
    ("ceilings", "--set", "runtime=5"),
    ("ceilings", "--drop-caches"),
]  # fmt: skip


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_what_would_be_ignored_is_refused(sessions: Path, words: tuple[str, ...], golden: Golden) -> None:
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 2, done.output
    _, error, text = done.output.partition("Error: ")
    assert error
    golden.same(text.rstrip())


def test_a_run_during_which_a_mark_was_made_is_not_before_what_is_measured(sessions: Path) -> None:
    words = ("check", "--against", f"{STUDY}/1", "--target", "file:/tmp/none", "--dry-run")
    assert "mark" not in CliRunner().invoke(cli, words).output
    mark = Mark(at=next(iter(studies.runs(1))).started_at, run=1, elapsed_seconds=1.0, text="tuned")
    (sessions / STUDY / "marks.jsonl").write_text(f"{mark.model_dump_json()}\n", "utf-8")
    marked = CliRunner().invoke(cli, words)
    assert (marked.exit_code, f"during {STUDY}/1," in marked.output) == (2, True)


def test_safe_holds_for_each_verb(sessions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "█" in call("show", STUDY, "--curve")
    assert "█" not in call("--safe", "show", STUDY, "--curve")
