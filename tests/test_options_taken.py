"""An option is taken, or refused with the reason: none is accepted and then ignored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from cephtui.cli.verbs import cli
from cephtui.models import Run
from tests import studies

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

REFUSED = {
    ("show", STUDY, "--metric", "p99"): "--metric belongs to --table and --curve",
    ("show", f"{STUDY}/1", "--metric", "p99"): "--metric belongs to --table and --curve",
    ("show", STUDY, "--curve", "--metric", "p99", "--json"): "have every figure in json: leave it out",
    ("show", STUDY, "--format", "md", "--json"): "--format md is not --json: leave one of them out",
    ("compare", f"{STUDY}/1", f"{STUDY}/4", "--format", "csv", "--json"): "--format csv is not --json",
    ("report", STUDY, "--require", "5"): "--require belongs to a verdict: ",
    ("report", STUDY, "--direction", "read"): "--direction belongs to a verdict: ",
    ("report", STUDY, "--same", "5"): "--same belongs to a verdict: ",
    ("report", STUDY, "--without", "3"): "--without belongs to a verdict: ",
    ("report", f"{STUDY}/1", "--confidence", "99"): "--confidence belongs to a verdict: a run alone",
    ("report", STUDY, "--metric", "p99", "--metric", "p50"): "the report is about one figure",
    ("report", STUDY, "--format", "csv", "--metric", "p99"): "--metric is not for csv",
    ("report", STUDY, "--format", "csv", "--title", "x"): "--title is not for csv",
    ("report", STUDY, "--force"): "--force belongs to -o FILE",
    ("check", STUDY, "--runs", "5"): "--runs belongs to a check that measures, with --preset, --against, --continue",
    ("check", STUDY, "--change", "true"): "--change belongs to a check that measures",
    ("check", STUDY, "--dry-run"): "--dry-run belongs to a check that measures",
    ("check", f"{STUDY}/1", f"{STUDY}/4", "--node", "x"): "--node belongs to a check that measures",
    ("--node", "x", "check", STUDY): "--node belongs to a check that measures",
    ("check", STUDY, "--continue", STUDY): "saved runs are judged without --continue",
    ("check", "--preset", "write-iops", "--mark", "2"): "--mark belongs to the form: cephtui check SESSION",
    ("check", "--preset", "write-iops", "--runs", "4", "--most", "8"): "leave out --most",
    ("check", "--preset", "write-iops", "--data-pool", "ec", "--dry-run"): "--data-pool is for the images",
    ("check", "--against", f"{STUDY}/1", "--set", "runtime=5"): "--set is not for --against",
    ("check", "--continue", STUDY, "--require", "5"): "--require is for a new check",
    ("check", "--continue", STUDY, "--set", "runtime=5"): "--set is for a new check",
    ("cleanup", "--undo", STUDY, "--as-listed"): "--as-listed is not for --undo",
    ("cleanup", "--undo", STUDY, "--node", "x"): "--node is not for --undo",
    ("--node", "x", "show", STUDY): "--node is for commands that use nodes, and cephtui show uses none",
    ("--ceph-id", "x", "sessions"): "--ceph-id is for commands that use nodes",
    ("provisioned", "--volume", "file:/x=5", "--set", "rw=randread"): "--set rw: each step has its own",
    ("provisioned", "--volume", "file:/x=5", "--set", "bs=1M"): "--set bs: each step has its own",
    ("provisioned", "--volume", "file:/x=5", "--set", "numjobs=2"): "--jobs says with how many jobs",
}  # fmt: skip


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_what_would_be_ignored_is_refused(sessions: Path, words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 2, done.output
    assert REFUSED[words] in " ".join(done.output.replace("│", " ").split())


def test_safe_holds_for_each_verb(sessions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "█" in call("show", STUDY, "--curve")
    assert "█" not in call("--safe", "show", STUDY, "--curve")
