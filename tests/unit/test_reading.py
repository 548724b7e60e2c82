"""What a session's files may hold, or be, without a reader that fails, waits for ever or shows what is no figure."""

from __future__ import annotations

import copy
import json
import os
import re
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cephtui import reading, stats, units
from cephtui.analysis.runs.marks import marks_between, runs_with_marks
from cephtui.analysis.runs.merge import as_sample
from cephtui.analysis.runs.sides import Side, side_of
from cephtui.analysis.verdicts.conditions import differences
from cephtui.analysis.verdicts.figures import compared_figures
from cephtui.ceph.answers import json_object as answered
from cephtui.ceph.cluster import parse_status
from cephtui.ceph.rates import osd_latency_of
from cephtui.cluster.monitor import _Answers as Answers
from cephtui.config import ConfigError, load_config
from cephtui.models import (
    ClusterEnvironment,
    ClusterSample,
    DiskUse,
    Event,
    FilePlace,
    Finding,
    JobResult,
    MachineUse,
    Mark,
    NodeEnvironment,
    NodeResult,
    NodeSample,
    NodeStep,
    Notice,
    OptionValue,
    Plan,
    Run,
    Sample,
    SessionNotes,
    Summary,
    Total,
)
from cephtui.models.base import Model
from cephtui.nodes.probe import parse_environment
from cephtui.presets import PresetError, load_preset
from cephtui.reports.render.rich import draw
from cephtui.reports.views.listings import leftovers_blocks
from cephtui.sessions import archive, playback, store
from cephtui.sessions.jsonlines import line, parse_sample
from cephtui.sessions.listing import list_sessions
from cephtui.sessions.store import StoreError
from cephtui.sessions.undo import Undo, left_behind
from cephtui.sessions.writer import SessionWriter, take_lock
from cephtui.tools.base import OptionError, ToolResult
from cephtui.tools.fio import Fio
from cephtui.tools.fio.output import FioParser
from tests.support.drawings import draw_comparison, draw_run, draw_runs, draw_sessions, printed
from tests.support.golden import Golden
from tests.support.matrix import cases
from tests.support.plans import step
from tests.unit.sessions.test_store import run_of, sample_of

HUGE = 10**400
HOSTILE: tuple[Any, ...] = (
    float("nan"),
    float("inf"),
    -float("inf"),
    1e308,
    -1e308,
    -0.0,
    -1,
    HUGE,
    10**4300,
    1e300,
    True,
    None,
    [],
    {},
    [[[]]],
    {"a": float("nan")},
    "a\0b",
    "",
    "../../../etc/passwd",
    "x" * 5000,
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999Z",
    "\u0663",
)
APART = 3
"""Of so many fields side by side one is hostile in a drawing, so that it is drawn with sound ones beside it."""
TOTAL = Total(
    ios=60_000,
    bytes=60_000 * 4096,
    runtime_seconds=60.0,
    iops=1000.0,
    bandwidth_bytes=4_096_000.0,
    **{f"latency_{name}_seconds": 0.001 for name in ("mean", "p50", "p95", "p99", "p999", "min", "max", "stddev")},
)
OPTIONS: dict[str, OptionValue] = {
    "rw": "randwrite",
    "bs": "4k",
    "iodepth": 4,
    "runtime": 60.0,
    "time_based": True,
    "numjobs": 1,
}
FULL = {
    "outcome": "ok",
    "error": "an error",
    "cephtui_version": "1.0",
    "duration_seconds": 62.0,
    "start_spread_seconds": 0.01,
    "options": OPTIONS,
    "findings": (Finding(code="short", text="too short"),),
    "cluster": ClusterEnvironment(
        ceph_version="16.2.15",
        health="HEALTH_OK",
        checks=("A",),
        osds=3,
        osds_up=3,
        osds_in=3,
        pg_states={"active+clean": 33},
        pool={"name": "bench", "size": 3, "nearfull_ratio": 0.85, "max_bytes": 5},
        osd_op_queue="mclock_scheduler",
        osd_mclock_profile="balanced",
        image_features=("layering",),
        no_permission=("ceph osd perf",),
    ),
    "environment": {
        "local": NodeEnvironment(
            os="Debian",
            kernel="6",
            cpu="x",
            cpu_count=2,
            memory_bytes=1 << 30,
            load_1m=0.5,
            tools={"fio": "fio-3.33"},
            nic_bits_per_second={"eth0": 10**10},
            filesystem="ext4",
            device="sda",
        )
    },
    "summary": Summary(read=TOTAL, write=TOTAL),
    "nodes": tuple(
        NodeResult(
            node=name,
            outcome="ok",
            command="fio",
            started_seconds=0.0,
            ended_seconds=62.0,
            summary=Summary(write=TOTAL),
            cpu_user_percent=1.0,
            cpu_system_percent=2.0,
            disks=(DiskUse(name="sda", utilisation_percent=99.0),),
            jobs=(JobResult(job="a 1", summary=Summary(write=TOTAL)),),
        )
        for name in ("local", "other")
    ),
}
STEP = step(
    batch="b1",
    writes=True,
    options=OPTIONS,
    nodes=(NodeStep(node="local", argv=("fio",), command="fio", place=FilePlace(kind="file", path="/x")),),
    prepare_seconds=1.0,
    ramp_seconds=2.0,
)


STATES = "001/cluster.jsonl 001/nodes.jsonl"


def write_session(root: Path) -> Path:
    """A session with every file there is, and a value in every field."""
    session = SessionWriter.open(root, "tuning")
    session.add_plan(Plan(steps=(STEP,), duration_seconds=62.0, session_bytes=1000))
    for number in (1, 2):
        run = run_of("tuning", session.next_run()).model_copy(update=FULL)
        writer = session.start_run(run)
        for second in range(1, 4):
            for node in ("local", "other", None):
                writer.sample(sample_of(second, node))
        said = ClusterSample(run=number, elapsed_seconds=1.0, health="HEALTH_OK", osds=3, pg_states={"active": 1})
        writer.state(said.model_copy(update={"client_iops": 5.0, "osd_latency_seconds": {"0": 0.1}}))
        use = MachineUse(cpus=2, cpu_busy_ratio=0.5, clock_offset_seconds=-0.1, nic_drops={"eth0": 1})
        writer.state(NodeSample(run=number, elapsed_seconds=1.0, node="local", interval_seconds=1.0, machine=use))
        for node in ("local", "other"):
            writer.raw(node, "stdout", b"{}\n", 0.5)
        writer.finish(run)
    at = datetime(2026, 1, 2, 3, 4, 25, tzinfo=UTC)
    session.mark(Mark(at=at, run=1, elapsed_seconds=3.0, text="pulled a disk"))
    session.undo(Undo(node="local", target="file:/x", done=True))
    session.close()
    archive.write_notes(session.directory, SessionNotes(note="n", tags=("a",), baseline=1))
    return session.directory


def drawn(*parts: Any) -> str:
    """As a terminal would show it."""
    return "".join(printed(part, 100) for part in parts)


def shown(directory: Path, name: str = "") -> Iterator[str]:
    """All that any verb prints of a session (as far as it reads this file); what can't be read says why."""
    pieces: dict[Callable[[], str], str] = {
        lambda: _sessions(directory.parent): "session.json notes.json row.json 001/run.json",
        lambda: _session(directory): "001/run.json marks.jsonl",
        lambda: _run(
            directory, 1
        ): "001/run.json 001/overview.json 001/samples.jsonl 001/cluster.jsonl 001/nodes.jsonl marks.jsonl",
        lambda: _compared(directory): "001/run.json marks.jsonl",
        lambda: _played(
            directory
        ): "001/run.json plans.jsonl 001/cluster.jsonl 001/nodes.jsonl marks.jsonl 001/raw/local.index.jsonl",
        lambda: str(playback.Follower(directory).drain())[:0]: "plans.jsonl marks.jsonl",
        lambda: drawn(draw(leftovers_blocks(left_behind(directory.parent), {}))): "undo.jsonl",
    }
    for piece, files in pieces.items():
        if not name or name in files.split():
            try:
                yield piece()
            except StoreError as error:
                yield f"refused: {error}"


def found_in(directory: Path, name: str) -> object:
    """What a reader of one file finds, who does not draw it; raises StoreError."""
    readers: dict[str, Callable[[], object]] = {
        "session.json": lambda: store.read_session(directory),
        "notes.json": lambda: store.read_notes(directory),
        "row.json": lambda: list_sessions(directory.parent),
        "plans.jsonl": lambda: playback.step_of(directory, store.read_run(directory, 2)),
        "marks.jsonl": lambda: store.read_marks(directory),
        "undo.jsonl": lambda: left_behind(directory.parent),
        "001/run.json": lambda: store.read_run(directory, 1),
        "001/overview.json": lambda: store.read_overview(directory, 1),
        "001/samples.jsonl": lambda: list(store.read_samples(directory, 1)),
        "001/cluster.jsonl": lambda: list(store.read_states(directory, 1, ClusterSample)),
        "001/nodes.jsonl": lambda: list(store.read_states(directory, 1, NodeSample)),
        "001/raw/local.index.jsonl": lambda: _played(directory),
    }
    return readers[name]()


def refusal(directory: Path, name: str) -> str:
    """Why a file is not read."""
    with pytest.raises(StoreError) as error:
        found_in(directory, name)
    return str(error.value)


def _sessions(root: Path) -> str:
    rows = list_sessions(root)
    return drawn(draw_sessions(rows)) + "\n".join(map(line, rows))


def _session(directory: Path) -> str:
    runs, broken = store.read_runs(directory)
    marks = store.read_marks(directory)
    text = drawn(draw_runs(runs, marks)) + "\n".join(map(line, runs_with_marks(runs, marks)))
    return text + "".join(f"refused: {error}" for error in broken)


def _run(directory: Path, number: int) -> str:
    run = store.read_run(directory, number)
    states = [state for model in store.state_files() for state in store.read_states(directory, number, model)]
    events: list[Model | Sample] = [*store.read_samples(directory, number), *states, run]
    history = store.read_history(directory, number)
    text = drawn(draw_run(run, history, store.read_marks(directory)))
    return text + "\n".join(map(line, events)) + history.overview().model_dump_json()


def _compared(directory: Path) -> str:
    runs, marks = store.read_runs(directory)[0], store.read_marks(directory)
    left, right = (side_of(store.read_run(directory, number), runs, marks) for number in (1, 2))
    rows = [
        *differences(left, right),
        *compared_figures(left, right),
        *(mark for _, mark in marks_between(left, right)),
    ]
    return drawn(draw_comparison(left, right)) + "\n".join(map(line, rows))


def _played(directory: Path) -> str:
    played = playback.Playback(directory, 1)
    length = playback.lasted_seconds(directory, played.run, played.step)
    events = [*played.until(length), *played.until(float("inf"))]
    return drawn(units.duration(length)) + "\n".join(_public(event) for event in events if not isinstance(event, Plan))


def _public(event: Event) -> str:
    assert not isinstance(event, Notice)
    return line(event)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where every value in a JSON document is, containers too; of a list the first."""
    if path:
        yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for index in range(min(1, len(value))):
            yield from places(value[index], (*path, index))


def changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy with another value there."""
    document = copy.deepcopy(document)
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return document


def as_json(document: Any) -> str:
    """With numbers of more digits than Python likes; what has overflowed is written as it may have been."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return json.dumps(document).replace("1e+308", "1e400")
    finally:
        sys.set_int_max_str_digits(limit)


DOCUMENTS = ("session.json", "notes.json", "row.json", "001/run.json", "001/overview.json")
LINES = (
    "plans.jsonl",
    "marks.jsonl",
    "undo.jsonl",
    "001/samples.jsonl",
    "001/cluster.jsonl",
    "001/nodes.jsonl",
    "001/raw/local.index.jsonl",
)
ALWAYS = ("session.json", "001/run.json", "001/samples.jsonl")
NO_FIGURE = re.compile(r"(?i)\b(nan|-?inf(inity)?)\b")


@pytest.mark.parametrize("name", cases((*DOCUMENTS, *LINES), ALWAYS))
def test_whatever_stands_in_a_field_is_refused_by_its_name_or_shown_as_what_it_is(tmp_path: Path, name: str) -> None:
    directory = write_session(tmp_path)
    path = directory / name
    whole = path.read_text()
    first, newline, rest = whole.partition("\n") if name in LINES else (whole, "", "")
    document = json.loads(first)
    assert not [text for text in shown(directory) if "refused" in text]
    if "series" in document:
        document["series"] = {key: document["series"][key] for key in ("write.iops", "write.latency_p99_seconds")}
    nothing_new: tuple[object, ...] = ([], found_in(directory, name))
    accepted: dict[tuple[Any, ...], list[Any]] = {}
    for number, place in enumerate(places(document)):
        for value in (*HOSTILE[number % len(HOSTILE) :], *HOSTILE[: number % len(HOSTILE)]):
            path.write_text(as_json(changed(document, place, value)) + newline + rest)
            try:
                found, problem = found_in(directory, name), ""
            except StoreError as error:
                found, problem = None, str(error)
            # an index may be refused by the name of the output beside it
            assert problem.startswith(str(path).removesuffix("index.jsonl")) or not problem, (place, value, problem)
            if not problem and found not in nothing_new:
                accepted.setdefault(place, []).append(value)
    for changes in drawings(document, accepted):
        hostile = document
        for place, value in changes.items():
            hostile = changed(hostile, place, value)
        path.write_text(as_json(hostile) + newline + rest)
        assert found_in(directory, name) not in nothing_new, changes
        for text in shown(directory, name):
            if str(path) not in text:  # else it says why that file can't be used
                assert text.count("refused: ") == text.count(f"refused: {directory}/"), (changes, text)
                assert not NO_FIGURE.search(text), (changes, text)


def drawings(document: Any, accepted: Mapping[tuple[Any, ...], Sequence[Any]]) -> Iterator[dict[tuple[Any, ...], Any]]:
    """What to change together, so that every value that a field accepts is drawn; containers change alone."""
    fields = [place for place in accepted if not isinstance(value_at(document, place), dict | list)]
    for place in [place for place in accepted if place not in fields]:
        for value in accepted[place][:2]:
            yield {place: value}
    for turn in range(max((len(accepted[place]) for place in fields), default=0)):
        for first in range(APART):
            together = [place for place in fields[first::APART] if turn < len(accepted[place])]
            if together:
                yield {place: accepted[place][turn] for place in together}


def value_at(document: Any, path: tuple[Any, ...]) -> Any:
    """What stands there."""
    for key in path:
        document = document[key]
    return document


@pytest.mark.parametrize(("name", "field"), [("session.json", "created_at"), ("001/run.json", "started_at")])
@pytest.mark.parametrize("date", ["0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59Z"])
def test_a_date_that_no_clock_shows_is_refused_by_name(tmp_path: Path, name: str, field: str, date: str) -> None:
    """In some time zone it is none of the calendar's."""
    directory = write_session(tmp_path)
    path = directory / name
    path.write_text(as_json(json.loads(path.read_text()) | {field: date}))
    (row,) = list_sessions(tmp_path)
    assert str(row.error).startswith(f"{path}: {field}: Input should be ")
    with pytest.raises(StoreError, match=f"^{re.escape(str(path))}: {field}: "):
        found_in(directory, name)
    assert row.runs == (0 if name == "session.json" else 1), "the other run is still there"


# ---------------------------------------------------------------------------------------------- files that are none


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    short = Path(f"/proc/self/fd/{os.open(path.parent, os.O_RDONLY)}")  # an address has at most 108 characters
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(short / path.name))


def link_to(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


def make_sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(80 << 30)


def make_long_line(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(reading.DOCUMENT_MOST_BYTES - 1)


def make_deep(path: Path) -> None:
    path.write_text("[" * 200_000 + "\n")


def make_deep_objects(path: Path) -> None:
    path.write_text('{"elapsed_seconds":' * 100_000 + "\n")


WRONG: dict[str, tuple[Callable[[Path], None], bool]] = {
    "a FIFO": (make_fifo, True),
    "a socket": (make_socket, True),
    "a directory": (Path.mkdir, True),
    "a device": (link_to("/dev/zero"), True),
    "a terminal": (link_to("/dev/ptmx"), True),
    "itself": (lambda path: path.symlink_to(path.name), True),
    "too large": (make_sparse, True),
    "one line": (make_long_line, False),
    "deep lists": (make_deep, False),
    "deep objects": (make_deep_objects, False),
}
"""What makes such a file, and whether it is refused in cephtui's own words."""
REFUSED = ("session.json", "notes.json", "001/run.json", "001/overview.json", "001/samples.jsonl", "plans.jsonl")
PASSED_OVER = ("row.json", "lock", "marks.jsonl", "undo.jsonl", "001/cluster.jsonl", "001/nodes.jsonl")
PLAYED = ("001/raw/local.index.jsonl", "001/raw/local.stdout")
MOST_SECONDS = 60.0
"""Of readers that would wait for ever; on a busy machine all of them take seconds."""


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_file_is_refused_by_name_and_holds_up_no_reader(tmp_path: Path, wrong: str, golden: Golden) -> None:
    directory = write_session(tmp_path)
    (make, has_words), reasons = WRONG[wrong], set[str]()
    for name in (*REFUSED, *PASSED_OVER, *PLAYED):
        path = directory / name
        kept = path.read_bytes()
        overview = (directory / "001/overview.json").read_bytes()
        path.unlink()
        make(path)
        if name == "001/samples.jsonl":
            (directory / "001/overview.json").unlink()  # else they are not read for the charts
        began = time.monotonic()
        # a FIFO would hold up any reader; what else is no file is met by those that read it
        readers = name if wrong != "a FIFO" and name in (*REFUSED, *PASSED_OVER) and name != "lock" else ""
        texts = [text for text in shown(directory, readers) if "refused: " in text or str(path) in text]
        assert time.monotonic() - began < MOST_SECONDS, name
        if name in REFUSED:
            said = refusal(directory, name) if has_words else str(path)
            assert any(said in text for text in texts), (name, texts)
            reasons |= {said.replace(name, "FILE")} if has_words else set()
        elif name in PASSED_OVER:
            assert not texts, (name, texts)
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        path.write_bytes(kept)
        (directory / "001/overview.json").write_bytes(overview)
    if has_words:
        golden.same(sorted(reasons))


def test_a_link_to_a_file_is_one(tmp_path: Path) -> None:
    directory = write_session(tmp_path / "sessions")
    for name in REFUSED:
        (directory / name).rename(tmp_path / "elsewhere")
        (directory / name).symlink_to(tmp_path / "elsewhere")
        assert not [text for text in shown(directory) if "refused: " in text], name
        (directory / name).unlink()
        (tmp_path / "elsewhere").rename(directory / name)


def test_a_writer_waits_for_no_fifo(tmp_path: Path, golden: Golden) -> None:
    directory = write_session(tmp_path)
    for name in ("undo.jsonl", "plans.jsonl", "marks.jsonl", "lock"):
        (directory / name).unlink()
        os.mkfifo(directory / name)
    with golden.raises(OSError):
        take_lock(directory)
    with golden.raises(StoreError):
        SessionWriter.open(tmp_path, "tuning")
    (directory / "lock").unlink()
    session = SessionWriter.open(tmp_path, "tuning")
    with golden.raises(StoreError):
        session.add_plan(Plan(steps=(), duration_seconds=1.0, session_bytes=1))
    with pytest.raises(OSError, match="a FIFO"):
        session.undo(Undo(node="local", target="file:/x"))
    session.close()


def test_a_writer_follows_no_link(tmp_path: Path) -> None:
    """A session of others leads nothing that is written into a file of the user's."""
    directory, elsewhere = write_session(tmp_path / "sessions"), tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    for name, target in (("marks.jsonl", elsewhere), ("undo.jsonl", elsewhere), ("lock", tmp_path / "new")):
        (directory / name).unlink()
        (directory / name).symlink_to(target)
        with pytest.raises(OSError, match="a link, expected a regular file"):
            reading.open_to_append(directory / name)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["elsewhere", "sessions"]
    assert elsewhere.read_text() == "mine"


def test_one_bad_directory_hides_no_session(tmp_path: Path) -> None:
    directory = write_session(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "nowhere").symlink_to("not-there")
    (directory / "003").symlink_to("003")
    (directory / "0001").mkdir()
    (directory / "٣").mkdir()
    os.mkfifo(tmp_path / "fifo")
    assert [(row.session, row.runs, row.error) for row in list_sessions(tmp_path)] == [("tuning", 2, None)]


def test_a_run_that_was_copied_has_the_number_of_its_directory(tmp_path: Path) -> None:
    directory = write_session(tmp_path)
    (directory / "002" / "run.json").write_bytes((directory / "001" / "run.json").read_bytes())
    assert [run.run for run in store.read_runs(directory)[0]] == [1, 2]


# ---------------------------------------------------------------------------------------------- very many


def test_thousands_of_anything_are_cut_with_a_word(tmp_path: Path) -> None:
    number = 8_000
    many = run_of("tuning").model_copy(
        update={
            **FULL,
            "findings": tuple(Finding(code=f"c{n}", text=f"finding {n}") for n in range(number)),
            "nodes": tuple(NodeResult(node=f"n{n}", command="fio") for n in range(number)),
            "environment": {f"n{n}": NodeEnvironment(os="x") for n in range(number)},
            "options": {f"o{n}": n for n in range(number)},
            "cluster": ClusterEnvironment(pg_states={f"s{n}": n for n in range(number)}, osds=1),
            "error": "x" * 1_000_000,
        }
    )
    at = datetime(2026, 1, 2, 3, 4, 6, tzinfo=UTC)
    marks = tuple(Mark(at=at, run=1, text=f"mark {n}") for n in range(number))
    other = many.model_copy(update={"run": 2, "findings": (), "environment": {}})
    began = time.monotonic()
    listed = drawn(draw_runs([many], marks))
    assert "... and 7,900 more findings of #1" in listed
    assert "... and 7,900 more marks" in listed
    full = drawn(draw_run(many, marks=marks))
    assert full.count("... and 7,900 more nodes") == 3
    assert "... and 7,900 more states" in full.replace("\n", "")
    compared = drawn(draw_comparison(Side((many,), marks), Side((other,), marks)))
    assert "... and 7,900 more findings of A" in compared
    assert "... and 7,900 more marks" in compared
    assert re.search(r"\.\.\. and [0-9,]+ more differences", compared)
    assert max(map(len, (listed, full, compared))) < 200_000
    assert time.monotonic() - began < MOST_SECONDS


# ---------------------------------------------------------------------------------------------- TOML


def test_a_preset_or_config_that_would_take_minutes_is_refused_by_name(tmp_path: Path, golden: Golden) -> None:
    path = tmp_path / "bad.toml"
    texts = [
        "a = " + "[" * 60_000,
        "a = " + "{a=" * 20_000,
        ".".join(["a"] * 30_000) + " = 1",
        "[" + ".".join(["a"] * 16_000) + "]\n" + "k = 1\n" * 5000,
        "[" + ".".join(["a"] * 301) + "]\n",
        "# " + "x" * 70_000,
        "a = 0x" + "f" * 60_000,
        "title = 0x" + "f" * 60_000,
        "nodes = 0x" + "f" * 60_000,
        f'title = "{"x" * 60_000}"',
        "ab" * 30_000 + " = 1",
    ]
    found: dict[str, list[int]] = {}
    for number, text in enumerate(texts):
        path.write_text(text)
        for load in (lambda: load_preset(path, user=True), lambda: load_config(path, required=True)):
            with pytest.raises((PresetError, ConfigError), match=re.escape(str(path))) as error:
                load()
            found.setdefault(str(error.value), []).append(number)
    golden.same(f"{numbers}: {problem}" for problem, numbers in found.items())
    assert max(map(len, found)) < 1000
    path.unlink()
    os.mkfifo(path)
    for load in (lambda: load_preset(path, user=True), lambda: load_config(path, required=True)):
        with golden.raises(PresetError, ConfigError):
            load()


def test_true_is_no_number_and_a_number_has_an_end() -> None:
    for option in ("runtime", "ramp_time", "iodepth", "numjobs", "rwmixread", "fsync", "rate_iops", "randseed"):
        for value in (True, False, HUGE, float("nan"), float("inf"), "1e999", "9" * 400, -1):
            with pytest.raises(OptionError, match=f"^{option}: expected "):
                Fio().check_options({"rw": "write", option: value})
    for option in ("bs", "size", "io_size", "rate"):
        for value in (True, HUGE, "9" * 400, "0", float("nan")):
            with pytest.raises(OptionError, match=f"^{option}: "):
                Fio().check_options({"rw": "write", option: value})


# ---------------------------------------------------------------------------------------------- tools and the cluster


def fio_document(**changes: Any) -> dict[str, Any]:
    """One of fio's, with every figure that is read."""
    clat = {"min": 1000, "max": 2000, "mean": 1500.0, "stddev": 10.0, "N": 100, "bins": {"1500": 100}}
    part = {"io_bytes": 409_600, "bw_bytes": 40_960, "iops": 10.0, "runtime": 10_000, "total_ios": 100, "clat_ns": clat}
    nothing = {"io_bytes": 0, "bw_bytes": 0, "iops": 0.0, "runtime": 0, "total_ios": 0}
    job = {"jobname": "a", "error": 0, "eta": 0, "read": nothing, "write": part, "usr_cpu": 1.0, "sys_cpu": 2.0}
    disk = {"name": "sda", "util": 99.0}
    return {
        "fio version": "fio-3.33",
        "timestamp_ms": 10**12,
        "jobs": [job, {**job}],
        "disk_util": [disk, {**disk}],
        **changes,
    }


def test_no_figure_of_fio_is_kept_that_is_none(tmp_path: Path) -> None:
    whole = fio_document()
    for place in places(whole):
        for value in (*HOSTILE, 1e18, 2**63 - 1):
            parser = FioParser(ramp=False, seconds=None)
            text = as_json(changed(whole, place, value)).replace('{"fio', '\n{\n"fio', 1)[:-1] + "\n}\n"
            readings = [*parser.feed("stdout", text.encode(), 10.0), *parser.finish()]
            result = parser.result()
            run = run_of("tuning").model_copy(update={"nodes": (node_result(result),)})
            again = Run.model_validate_json(line(run))  # without percentiles that too few I/Os carry
            assert line(again) == line(run), (place, value)
            for each in readings:
                text = line(as_sample(1, "write-iops", "local", each, preparing=False))
                assert line(parse_sample(text)) == text, (place, value)
    for bad in (float("nan"), float("inf"), None, "x"):
        figures = measured(changed(whole, ("disk_util", 0, "util"), bad))
        assert [disk.utilisation_percent for disk in figures.disks] == [99.0]
        assert figures.write is not None, "the other figures hold"
        assert measured(changed(whole, ("jobs", 0, "usr_cpu"), bad)).write is not None


def measured(document: Any) -> ToolResult:
    parser = FioParser(ramp=False, seconds=None)
    parser.feed("stdout", (as_json(document).replace('{"fio', '\n{\n"fio', 1)[:-1] + "\n}\n").encode(), 10.0)
    return parser.result()


def node_result(result: ToolResult) -> NodeResult:
    """As a node's part of a run is made of it."""
    return NodeResult(
        node="local",
        command="fio",
        summary=Summary(read=stats.total(result.read), write=stats.total(result.write)),
        cpu_user_percent=result.cpu_user_percent,
        cpu_system_percent=result.cpu_system_percent,
        disks=result.disks,
        jobs=result.jobs,
    )


STATUS = {
    "health": {"status": "HEALTH_OK", "checks": {"A": {"severity": "x", "summary": {"message": "1 a", "count": 1}}}},
    "osdmap": {"num_osds": 3, "num_up_osds": 3, "num_in_osds": 3},
    "pgmap": {
        "num_pgs": 33,
        "pgs_by_state": [{"state_name": "active+clean", "count": 33}],
        "misplaced_ratio": 0.1,
        "degraded_ratio": 0.1,
        "read_bytes_sec": 1,
        "write_bytes_sec": 1,
        "read_op_per_sec": 1,
        "write_op_per_sec": 1,
        "recovering_bytes_per_sec": 1,
    },
}
PERF = {"osdstats": {"osd_perf_infos": [{"id": 0, "perf_stats": {"commit_latency_ms": 1, "commit_latency_ns": 10}}]}}


def test_no_figure_of_the_cluster_is_kept_that_is_none() -> None:
    for document in (STATUS, PERF):
        for place in places(document):
            for value in (*HOSTILE, "9" * 5000, 2**64):
                text = as_json(changed(document, place, value))
                try:
                    answer = parse_status(text) if document is STATUS else osd_latency_of(answered(text))
                except ValueError:
                    continue
                answers = [one for one in (answer, parse_status(json.dumps(STATUS))) if one]
                known = Answers()
                seen = [known.take(one) for one in answers]
                for said in [one.sample() for one in seen if one]:
                    assert ClusterSample.model_validate_json(line(said)) == said, (place, value)


def test_no_figure_of_a_node_is_kept_that_is_none() -> None:
    for name in ("cpu_count", "memory_bytes", "load_1m", "nics.eth0", "mtu.eth0"):
        for value in ("-1", "nan", "inf", "1e400", "9" * 5000, "\u0663", "x", "", "1.5.5", "0x10"):
            found = parse_environment(f"{name}\t{value}\nos\tDebian\n")
            assert found == NodeEnvironment(os="Debian"), (name, value)


def test_only_known_settings_of_a_node_are_kept() -> None:
    text = "settings.vm.swappiness\t60\nsettings.net.ipv4.tcp_rmem\t4096\t131072\nsettings.unknown\t1\nmtu.eth0\t9000\n"
    found = parse_environment(text)
    assert found.settings == {"vm.swappiness": "60", "net.ipv4.tcp_rmem": "4096 131072"}
    assert found.nic_mtu == {"eth0": 9000}
    huge = "".join(f"settings.x{n}\t{n}\nmtu.nic{n}\t1500\n" for n in range(100_000))
    huge += "".join(f"shaping.nic{n}\ttbf {n}\nroute.nic{n}.0A000000\t000000FF\n" for n in range(100_000))
    many = parse_environment(f"{huge}settings.vm.swappiness\t{'6' * 10_000}\n")
    assert len(many.model_dump_json()) < 20_000
