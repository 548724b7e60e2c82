"""Sessions that an earlier cephtui has written are read as it read them: the same figures, every key of its output."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cephtui.cli.verbs import cli
from cephtui.models import Run, Sample, Total
from cephtui.sessions import store
from cephtui.sessions.jsonlines import line
from cephtui.sessions.playback import Playback
from cephtui.sessions.undo import pending
from tests import RECORDINGS
from tests.support import two_copies
from tests.support.runs import without_ios

EARLIER = RECORDINGS / "sessions-0.1.0"
COMMANDS = {
    "sessions": ("sessions",),
    "show-recorded": ("show", "recorded"),
    "show-recorded-1": ("show", "recorded/1"),
    "compare-recorded": ("compare", "recorded/1", "recorded/2"),
    "show-demo": ("show", "demo"),
    "compare-demo": ("compare", "demo/13", "demo/14"),
}
"""What printed the files below ``output``."""
SAMPLES = json.loads((EARLIER / "output" / "samples-demo.json").read_text())
# as the earlier program read them
RECORDED = [
    (1, "read", 901, 1230710.0, 0.004620288),
    (1, "write", 900, 1227981.0, 0.007962624),
    (2, "read", 882, 1204786.0, 0.00507904),
    (2, "write", 880, 1200692.0, 0.007962624),
    (3, "write", 5669, 415052181.0, 0.023199744),
]
DEMO = [
    (1, "write", 10973, 767097881.0, 0.252706816),
    (2, "read", 13504, 941269785.0, 0.299892736),
    (3, "read", 119543, 32630440.0, 0.05373952),
    (4, "read", 84128, 22968542.0, 0.002408448),
    (5, "write", 29855, 8151319.0, 0.004620288),
    (6, "read", 66417, 18128778.0, 0.041680896),
    (6, "write", 21999, 6007181.0, 0.064749568),
    (7, "write", 62263, 16994487.0, 0.060555264),
    (8, "write", 54373, 14839681.0, 0.069730304),
    (9, "write", 56171, 15334594.0, 0.063176704),
    (10, "write", 25757, 7036439.0, 0.082313216),
    (11, "write", 24237, 6622613.0, 0.085458944),
    (12, "write", 20933, 5720669.0, 0.10223616),
    (13, "write", 483, 568303859.8684661, None),
    (14, "write", 63069, 6460613.0, 0.08650752),
]
MARKS = [
    (None, None, "ceph osd pool set bench size 2"),
    (14, 15.255, "osd.1 frozen"),
    (14, 19.268, "osd.1 resumed"),
]
STAR_FINDINGS = ["stalled"]
NOT_CARRIED = {("compare-recorded", f"latency_{name}_seconds") for name in ("p99", "p999")}
"""Percentiles that the earlier program compared although fewer than 10 I/Os had taken longer."""
PERCENTS = {"p50": 50.0, "p95": 95.0, "p99": 99.0, "p999": 99.9}
DEMO_RUNS = range(1, two_copies.STAR + 1)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with both sessions."""
    home = tmp_path_factory.mktemp("home")
    shutil.copytree(EARLIER / "recorded", home / "sessions" / "recorded")
    two_copies.unpack(home / "sessions")
    return home


@pytest.fixture(scope="module")
def recorded(home: Path) -> Path:
    return home / "sessions" / "recorded"


def printed(home: Path, *argv: str) -> list[dict[str, Any]]:
    """The lines of a verb with ``--json``."""
    done = CliRunner().invoke(cli, [*argv, "--json"], env={"CEPHTUI_DATA_DIR": str(home)})
    assert done.exit_code == 0, done.output
    return [json.loads(text) for text in done.stdout.splitlines()]


def missing(earlier: Any, today: Any, where: str = "") -> list[str]:
    """Where a value lacks a part of the earlier one; further keys are allowed."""
    if isinstance(earlier, dict) and isinstance(today, dict):
        return [m for key in earlier for m in missing(earlier[key], today.get(key, "no key"), f"{where}.{key}")]
    if isinstance(earlier, list) and isinstance(today, list) and len(earlier) == len(today):
        return [
            m
            for i, (old, new) in enumerate(zip(earlier, today, strict=True))
            for m in missing(old, new, f"{where}[{i}]")
        ]
    return [] if earlier == today and type(earlier) is type(today) else [f"{where}: {earlier!r} -> {today!r}"]


def without_uncarried(value: Any) -> Any:
    """What was printed, without the percentiles that fewer than 10 I/Os took longer than: they are null now."""
    if isinstance(value, list):
        return [without_uncarried(each) for each in value]
    if not isinstance(value, dict):
        return value
    gone = {f"latency_{name}_seconds": None for name, percent in PERCENTS.items()
            if "runtime_seconds" in value and not Total.model_validate(value).carries(percent)}  # fmt: skip
    return {key: gone.get(key, without_uncarried(each)) for key, each in value.items()}


def only(value: Any, keys: set[str], prefix: str = "") -> Any:
    """A value without the keys that were added since."""
    if not isinstance(value, dict):
        return value
    return {key: only(found, keys, f"{prefix}{key}.") for key, found in value.items() if f"{prefix}{key}" in keys}


# ---------------------------------------------------------------------------------------------- what is printed


@pytest.mark.parametrize("name", COMMANDS)
def test_every_key_and_value_is_printed_as_before(home: Path, name: str) -> None:
    """Lines of further events (marks) may be among them."""
    earlier = [json.loads(text) for text in (EARLIER / "output" / f"{name}.jsonl").read_text().splitlines()]
    today = [row for row in printed(home, *COMMANDS[name]) if row["event"] in {row["event"] for row in earlier}]
    for row in earlier:
        if row["event"] == "figure":  # what the earlier program concluded from the number alone
            row["better"] = None
            if (name, row["name"]) in NOT_CARRIED:
                row |= {"left": None, "right": None, "change_fraction": None, "left_findings": [], "right_findings": []}
    if name == "sessions":
        earlier[0]["path"] = str(home / "sessions" / "recorded")
        today = [row for row in today if row["session"] == "recorded"]
    assert len(earlier) > 0
    assert len(today) == len(earlier)
    assert missing(without_uncarried(earlier), today) == []


@pytest.mark.parametrize("number", DEMO_RUNS)
def test_every_sample_of_the_demo_is_printed_as_before(home: Path, number: int) -> None:
    today = printed(home, "show", f"demo/{number}")
    for event, expected in SAMPLES["runs"][str(number)].items():
        keys = set(SAMPLES["keys"][event])
        lines = [json.dumps(only(found, keys), sort_keys=True) for found in today if found["event"] == event]
        assert len(lines) == expected["lines"]
        assert hashlib.sha256("\n".join(lines).encode()).hexdigest() == expected["sha256"]


def test_a_key_or_a_value_that_is_missing_would_be_found() -> None:
    earlier = {"a": [{"b": 1.5}], "c": None}
    assert missing(earlier, {"a": [{"b": 1.5, "d": 2}], "c": None}) == []
    assert missing(earlier, {"a": [{"b": 1.25}], "c": None}) == [".a[0].b: 1.5 -> 1.25"]
    assert missing(earlier, {"a": [{}], "c": None}) == [".a[0].b: 1.5 -> 'no key'"]
    assert missing(earlier, {"a": [{"b": 1.5}]}) == [".c: None -> 'no key'"]
    assert missing(earlier, {"a": [], "c": None}) == [".a: [{'b': 1.5}] -> []"]
    assert only({"a": {"b": 1, "c": 2}, "d": 3}, {"a", "a.b"}) == {"a": {"b": 1}}


# ---------------------------------------------------------------------------------------------- what is read


def test_the_figures_of_the_recorded_runs(recorded: Path) -> None:
    runs, errors = store.read_runs(recorded)
    assert errors == []
    assert [(run.run, run.preset, run.outcome, run.options["iodepth"]) for run in runs] == [
        (1, "mixed-75-25", "ok", 1),
        (2, "mixed-75-25", "ok", 2),
        (3, "write-throughput", "stopped", 64),
    ]
    assert [len(list(store.read_samples(recorded, run.run))) for run in runs] == [10, 8, 32]
    assert [[finding.code for finding in run.findings] for run in runs] == [["short"], ["short"], ["incomplete"]]
    assert figures(runs) == RECORDED


def test_notes_marks_and_what_is_left_behind(recorded: Path, home: Path) -> None:
    notes = store.read_notes(recorded)
    assert (notes.note, notes.tags, notes.baseline) == ("a file on one disk", ("disk", "sweep"), 1)
    assert pending(recorded) == []
    assert store.read_marks(recorded) == []
    assert [
        (mark.run, mark.elapsed_seconds, mark.text) for mark in store.read_marks(home / "sessions" / "demo")
    ] == MARKS


def test_the_figures_of_the_demo(home: Path) -> None:
    runs, errors = store.read_runs(home / "sessions" / "demo")
    assert errors == []
    assert figures(runs) == DEMO
    assert [finding.code for finding in runs[-1].findings] == STAR_FINDINGS


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_recorded_run_is_replayed(recorded: Path, number: int) -> None:
    events = Playback(recorded, number).until(float("inf"))
    (played, stored) = (
        [e for e in found if isinstance(e, Sample) and e.node]
        for found in (events, store.read_samples(recorded, number))
    )
    for ours, theirs in zip(played, stored, strict=True):
        assert ours.elapsed_seconds == pytest.approx(theirs.elapsed_seconds, abs=0.002)
        assert line(without_ios(ours)) == line(without_ios(theirs))
    assert events[-1] == store.read_run(recorded, number)


def figures(runs: list[Run]) -> list[tuple[int, str, int, float | None, float | None]]:
    """Of each run and flow: operations, bytes a second, 99th percentile."""
    return [
        (run.run, name, total.ios or 0, total.bandwidth_bytes, total.latency_p99_seconds)
        for run in runs
        for name, total in run.summary.flows.items()
    ]
