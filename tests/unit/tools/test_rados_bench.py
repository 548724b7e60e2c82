"""What may be asked of rados bench, the command lines, and its recorded output whole and in pieces.

tests/recordings/record_rados_bench.py made the recordings.
"""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.ceph.objects import ABSENT_STATUS, OTHERS_STATUS, claim_argv, empty_argv
from cephtui.models import Interval, RadosPlace
from cephtui.models.metrics import METRICS
from cephtui.stats import Flow, total
from cephtui.tools.base import OptionError, Reading, Stream, ToolResult
from cephtui.tools.lines import SHORTEST_INTERVAL
from cephtui.tools.logs import read_log
from cephtui.tools.rados_bench import RadosBench
from cephtui.tools.rados_bench.command import RadosBenchWorkload
from cephtui.tools.rados_bench.options import RadosBenchOptions
from cephtui.tools.rados_bench.output import RadosBenchParser
from cephtui.tools.rados_bench.saved import find_runs
from cephtui.units import parse_size
from tests import RECORDINGS
from tests.support.golden import Golden
from tests.support.known import known

TOOL = RadosBench()
PLACE = RadosPlace(kind="pool", pool="bench", namespace="cephtui-1", ceph_id="admin")
MIB, GIB = 1 << 20, 1 << 30
FOLDER = RECORDINGS / "rados-16.2"
NAMES = tuple(json.loads((FOLDER / "commands.json").read_text()))
WHOLE = (
    *("write", "write-objects", "write-long", "fill-again", "fill-short"),
    *("seq", "seq-short", "rand", "rand-deep", "no-time"),
)
STOPPED = ("stopped-int", "stopped-term", "stopped-rand", "quota")
ERRORS = {
    "no-data": "Must write data before running a read benchmark!",
    "no-pool": "error opening pool none: (2) No such file or directory",
    "no-keyring": (
        "auth: unable to find a keyring on /srv/bench/.lab/ceph.client.nobody.keyring: (2) No such file or directory"
    ),
    "denied": "error during benchmark: (1) Operation not permitted",
    "too-large": "error during benchmark: (90) Message too long",
    "missing-object": (
        "error during benchmark: (2) No such file or directory: benchmark_data_lab1_915_object20 is not correct!"
    ),
    "changed-object": (
        "error during benchmark: (5) Input/output error: benchmark_data_lab1_915_object20 is not correct!"
    ),
}


# ---------------------------------------------------------------------------------------------- options


def check(**options: object) -> dict[str, Any]:
    return TOOL.check_options({"mode": "write", **{name.replace("_", "-"): value for name, value in options.items()}})


def refusal(**options: object) -> str:
    with pytest.raises(OptionError) as error:
        check(**options)
    assert error.value.option in {name.replace("_", "-") for name in options}
    return str(error.value)


def test_defaults_are_those_of_rados() -> None:
    assert check() == {"mode": "write", "runtime": 60, "concurrent-ios": 16, "block-size": "4M"}


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        ("runtime", "90s", 90),
        ("runtime", "1.5m", 90),
        ("runtime", 30.0, 30),
        ("concurrent-ios", "64", 64),
        ("block-size", 4096, "4096"),
        ("block-size", "4k", "4k"),
        ("object-size", "8M", "8M"),
        ("no-hints", "true", True),
        ("mode", "rand", "rand"),
    ],
)
def test_text_becomes_a_value(option: str, text: object, value: object) -> None:
    assert check(**{option: text})[option] == value


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("mode", "read"),
        ("mode", "write --striper"),
        ("runtime", 0),
        ("runtime", "8d"),
        ("runtime", "0.5"),
        ("runtime", 1.5),
        ("runtime", "soon"),
        ("runtime", float("nan")),
        ("concurrent-ios", 0),
        ("concurrent-ios", 65537),
        ("concurrent-ios", 2048),
        ("block-size", "0"),
        ("block-size", "4KiB"),
        ("block-size", True),
        ("block-size", "91M"),
        ("object-size", "3M"),
        ("object-size", "132M"),
        ("no-verify", True),
    ],
)
def test_bad_values_are_refused_with_what_was_expected(option: str, value: object, golden: Golden) -> None:
    text = refusal(**{option: value})
    assert text.startswith(f"{option}: ")
    golden.same(text)


@pytest.mark.parametrize(
    "option",
    [
        *("pool", "namespace", "all", "id", "conf", "object-locator", "create"),
        *("run-name", "no-cleanup", "reuse-bench", "max-objects", "prefix"),
        *("show-time", "format", "output"),
        *("striper", "write-omap", "write-xattr", "write-object"),
        *("force-full", "yes-i-really-really-mean-it", "delete-after"),
    ],
)
def test_what_cephtui_decides_is_refused_with_the_reason(option: str, golden: Golden) -> None:
    text = refusal(**{option: "1"})
    assert text.startswith(f"{option}: ")
    golden.same(text)


def test_unknown_options_are_refused_with_what_is_near(golden: Golden) -> None:
    golden.same(refusal(blocksize=4))
    golden.same(refusal(zzz=4))
    with golden.raises(OptionError):
        TOOL.check_options({})


@given(
    st.sampled_from([field.alias or name for name, field in RadosBenchOptions.model_fields.items()]),
    st.text(max_size=12) | st.integers() | st.floats(),
    st.sampled_from(["write", "seq", "rand"]),
)
def test_no_value_can_start_another_option(option: str, value: object, mode: str) -> None:
    try:
        options = TOOL.check_options({"mode": mode, option: value})
        lines = TOOL.bind(options).argv("x", 64 * GIB, PLACE), TOOL.bind(options).prefill_argv([64 * GIB], PLACE)
    except OptionError:
        return
    for line in lines:
        assert re.fullmatch(
            r"rados --id admin -p bench -N cephtui-1 bench \d+ (write|seq|rand) -t \d+( -b \d+[KMG]?"
            r"( -O \d+[KMG]?)? --max-objects \d+ --no-cleanup)?( --no-hints)?( --no-verify)?"
            r" --run-name cephtui --show-time",
            shlex.join(line),
        )


# ---------------------------------------------------------------------------------------------- command lines


def test_the_commands_that_measure() -> None:
    lines = [shlex.join(TOOL.bind(check(mode=mode)).argv("x", GIB, PLACE)) for mode in ("write", "seq", "rand")]
    assert lines == [
        "rados --id admin -p bench -N cephtui-1 bench 60 write -t 16 -b 4M --max-objects 256 --no-cleanup "
        "--run-name cephtui --show-time",
        "rados --id admin -p bench -N cephtui-1 bench 60 seq -t 16 --run-name cephtui --show-time",
        "rados --id admin -p bench -N cephtui-1 bench 60 rand -t 16 --run-name cephtui --show-time",
    ]


def test_without_a_user_the_default_is_left_to_rados() -> None:
    line = TOOL.bind(check()).argv("x", GIB, replace_place(ceph_id=None))
    assert line[:5] == ("rados", "-p", "bench", "-N", "cephtui-1")


def test_the_command_that_fills() -> None:
    options = check(mode="rand", block_size="4k", object_size="4M", concurrent_ios=64, runtime=5)
    assert shlex.join(TOOL.bind(options).prefill_argv([GIB], PLACE)) == (
        "rados --id admin -p bench -N cephtui-1 bench 1024 write -t 16 -b 4K -O 4M --max-objects 256 --no-cleanup "
        "--run-name cephtui --show-time"
    )
    assert "--reuse-bench" in RadosBenchWorkload(options).prefill_argv([GIB], PLACE, again=True)


def test_a_filling_has_time() -> None:
    assert TOOL.bind(check(mode="seq")).prefill_argv([64 * MIB], PLACE)[8] == "600"
    assert TOOL.bind(check(mode="seq")).prefill_argv([1 << 40], PLACE)[8] == str(1 << 20)


def test_a_filling_never_has_more_at_once_than_it_may_write() -> None:
    """rados begins as many as are to be in flight without looking at the limit."""
    line = TOOL.bind(check(mode="seq", concurrent_ios=2)).prefill_argv([8 * MIB], PLACE)
    assert line[line.index("-t") + 1] == "2"


def test_too_little_room_for_what_is_in_flight_is_refused(golden: Golden) -> None:
    for size in (0, 4 * MIB, 63 * MIB):
        with golden.raises(OptionError):
            TOOL.bind(check()).argv("x", size, PLACE)
        with pytest.raises(OptionError):
            TOOL.bind(check(mode="seq")).jobs_and_size(size)


def test_size_is_whole_objects() -> None:
    assert TOOL.bind(check()).jobs_and_size(GIB + 5) == (1, GIB)
    assert TOOL.bind(check(block_size="3M")).jobs_and_size(100 * MIB) == (1, 99 * MIB)


@pytest.mark.parametrize("options", [{}, {"block_size": "4k"}, {"block_size": "4k", "object_size": "4M"}])
def test_no_number_of_objects_is_one_that_rados_takes_for_another(options: dict[str, str]) -> None:
    checked = check(**options)
    _, size = TOOL.bind(checked).jobs_and_size(1 << 60)
    line = TOOL.bind(checked).argv("x", size, PLACE)
    objects = int(line[line.index("--max-objects") + 1])
    each = parse_size(checked.get("object-size", checked["block-size"]))
    assert 0 < objects * each // parse_size(checked["block-size"]) <= 2_000_000_000
    assert objects * each == size


def test_what_it_does(golden: Golden) -> None:
    write, seq, rand = (check(mode=mode, runtime=7, block_size="64k") for mode in ("write", "seq", "rand"))
    assert [TOOL.bind(o).writes() for o in (write, seq, rand)] == [True, False, False]
    assert [TOOL.bind(o).needs_data("pool") for o in (write, seq, rand)] == [False, True, True]
    assert TOOL.bind(seq).times() == (0.0, 7.0)
    assert TOOL.bind(seq).block_bytes() == 65536
    assert TOOL.bind(seq).entries() == 1
    assert TOOL.bind(seq).fit("pool").options == seq
    assert TOOL.check_kind("pool") is None
    golden.same(TOOL.check_kind("file"))


def test_versions(golden: Golden) -> None:
    assert (
        TOOL.check_version("ceph version 16.2.15 (618f440892089921c3e944a991122ddc44e60516) pacific (stable)") is None
    )
    golden.same(TOOL.check_version(None))
    assert TOOL.check_version(" ") == TOOL.check_version(None)


# ---------------------------------------------------------------------------------------------- emptying


def replace_place(**changes: Any) -> RadosPlace:
    return PLACE.model_copy(update=changes)


@pytest.mark.parametrize("missing", ["pool", "namespace"])
def test_nothing_is_done_to_a_place_that_is_not_only_cephtuis(missing: str, golden: Golden) -> None:
    place = replace_place(**{missing: ""})
    for command in (empty_argv, claim_argv):
        with golden.raises(ValueError):
            command(place, MARK)
    with golden.raises(ValueError):
        TOOL.bind(check()).argv("x", GIB, place)


MARK = "cephtui.session.one-0f"
STAND_IN = r"""#!/bin/bash
# a pool in a directory: rados --id I -p P -N N ls | stat NAME | create NAME | rm --force-full -- NAME...
[ "$1 $3 $5" = "--id -p -N" ] || exit 64
here=$STORE/$4/$6
[ -d "$STORE/$4" ] || { echo "error opening pool $4: (2) No such file or directory" >&2; exit 1; }
shift 6
case $1 in
ls) ls -A "$here" 2>/dev/null; exit 0 ;;
stat) [ -e "$here/$2" ] ;;
create) ( set -o noclobber; : > "$here/$2" ) ;;
rm)
    [ "$2 $3" = "--force-full --" ] || exit 64
    shift 3
    for name; do
        [ -z "$STUCK" ] || [[ $name != "$STUCK"* ]] ||
            { echo "error removing $name: (1) Operation not permitted" >&2; exit 1; }
        [ -e "$here/$name" ] || { echo "error removing $name: (2) No such file or directory" >&2; exit 1; }
        rm -- "$here/$name"
    done ;;
*) exit 64 ;;
esac
"""


def rados(root: Path, argv: Sequence[str], **environment: str) -> subprocess.CompletedProcess[str]:
    tool = root / "bin" / "rados"
    tool.parent.mkdir(exist_ok=True)
    tool.write_text(STAND_IN)
    tool.chmod(0o755)
    path = {"PATH": f"{tool.parent}:{os.environ['PATH']}", "STORE": str(root / "store")}
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, env={**path, **environment})


def empty(root: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return rados(root, empty_argv(PLACE, MARK), **environment)


def put(root: Path, namespace: str, names: list[str]) -> Path:
    folder = root / "store" / "bench" / namespace
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).touch()
    return folder


def test_emptying_removes_all_and_nothing_else(tmp_path: Path) -> None:
    objects = [f"benchmark_data_lab1_1_object{n}" for n in range(250)]
    own = put(tmp_path, "cephtui-1", [*objects, "cephtui", "-x y'$", f"{MARK}0", MARK])
    others = put(tmp_path, "cephtui-10", ["benchmark_data_lab1_1_object0", "cephtui", MARK])
    done = empty(tmp_path)
    assert (done.returncode, done.stdout) == (0, "0\n")
    assert not list(own.iterdir())
    assert len(list(others.iterdir())) == 3


@pytest.mark.parametrize(
    "names", [["ledger"], ["a", "cephtui.session.another-0f"], [f"x{MARK}", f"{MARK}0", "cephtui"]]
)
def test_objects_without_the_mark_are_neither_removed_nor_claimed(tmp_path: Path, names: list[str]) -> None:
    theirs = put(tmp_path, "cephtui-1", names)
    done = empty(tmp_path)
    assert (done.returncode, done.stdout) == (OTHERS_STATUS, f"{len(names)}\n")
    claimed = rados(tmp_path, claim_argv(PLACE, MARK))
    assert (claimed.returncode, claimed.stderr) == (76, f"{len(names)} objects of others are in it\n")
    assert {path.name for path in theirs.iterdir()} == {*names}


def test_the_mark_is_the_first_object_and_the_last(tmp_path: Path) -> None:
    own = put(tmp_path, "cephtui-1", [])
    for _ in range(2):  # a second time it is there already
        assert rados(tmp_path, claim_argv(PLACE, MARK)).returncode == 0
        assert [path.name for path in own.iterdir()] == [MARK]
        (own / "benchmark_data_lab1_1_object0").touch()
        assert rados(tmp_path, claim_argv(PLACE, MARK)).returncode == 0
        assert empty(tmp_path, STUCK="benchmark").returncode == 1
        assert len(list(own.iterdir())) == 2
        # broken off before the last: the next goes on
        assert empty(tmp_path, STUCK=MARK).returncode == 1
        assert [path.name for path in own.iterdir()] == [MARK]
    assert (empty(tmp_path).returncode, list(own.iterdir())) == (0, [])


def test_emptying_what_is_empty(tmp_path: Path) -> None:
    put(tmp_path, "cephtui-1", [])
    done = empty(tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (ABSENT_STATUS, "0\n", "")


def test_emptying_says_what_is_left_and_why(tmp_path: Path) -> None:
    put(tmp_path, "cephtui-1", ["a", "b", "c", MARK])
    done = empty(tmp_path, STUCK="a")
    assert (done.returncode, done.stdout) == (1, "1\n")
    assert "Operation not permitted" in done.stderr


def test_emptying_without_the_pool(tmp_path: Path, golden: Golden) -> None:
    (tmp_path / "store").mkdir()
    done = empty(tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    golden.same(done.stderr)


# ---------------------------------------------------------------------------------------------- recordings


@dataclass(frozen=True)
class Recording:
    name: str
    argv: tuple[str, ...]
    status: int
    pieces: tuple[tuple[Stream, float, bytes], ...]
    """Stream, seconds since the start, data."""

    @property
    def stdout(self) -> str:
        return b"".join(data for stream, _, data in self.pieces if stream == "stdout").decode()

    @property
    def direction(self) -> str:
        return "write" if "write" in self.argv else "read"

    @property
    def block_bytes(self) -> int:
        """What the preset's option would say."""
        sizes = re.findall(r"(?:Write|Read) size: +(\d+)|writes of (\d+)", self.stdout)
        return int(sizes[-1][0] or sizes[-1][1]) if sizes else 262144

    @property
    def seconds(self) -> float | None:
        return float(self.argv[self.argv.index("bench") + 1]) if "rand" in self.argv else None

    def total(self, name: str) -> float:
        (value,) = re.findall(rf"{re.escape(name)}: +(\S+)", self.stdout)
        return float(value)

    @property
    def rows(self) -> list[tuple[int, int, float]]:
        """Second, finished and mean latency, taken apart without the parser's help."""
        found = []
        for line in self.stdout.splitlines():
            words = re.sub(r"^\d{4}-\S+ ", "", line).split()
            if len(words) == 8 and words[0].isdigit():
                found.append((int(words[0]), int(words[3]), float(words[7])))
        return found


@cache
def load(name: str) -> Recording:
    command = json.loads((FOLDER / "commands.json").read_text())[name]
    left = {
        stream: (FOLDER / f"{name}.{stream}").read_bytes() if (FOLDER / f"{name}.{stream}").exists() else b""
        for stream in ("stdout", "stderr")
    }
    pieces = []
    for stream, seconds, length in command["pieces"]:
        pieces.append((stream, seconds, left[stream][:length]))
        left[stream] = left[stream][length:]
    assert not any(left.values())
    return Recording(name, tuple(command["argv"]), command["status"], tuple(pieces))


def parser_of(recording: Recording) -> RadosBenchParser:
    writes = "write" in recording.argv and not recording.name.startswith("fill")
    return RadosBenchParser(block_bytes=recording.block_bytes, seconds=recording.seconds, measures_writes=writes)


def parse(recording: Recording) -> tuple[list[Reading], ToolResult]:
    parser, readings = parser_of(recording), []
    for stream, seconds, data in recording.pieces:
        readings += parser.feed(stream, data, seconds)
    readings += parser.finish()
    assert parser.finish() == []
    return readings, parser.result()


def flow_of(recording: Recording, result: ToolResult) -> Flow:
    flow: Flow | None = getattr(result, recording.direction)
    other = getattr(result, "read" if recording.direction == "write" else "write")
    assert flow is not None
    assert other is None
    return flow


def intervals(recording: Recording, readings: list[Reading]) -> list[Interval]:
    found = []
    for reading in readings:
        interval: Interval | None = getattr(reading, recording.direction)
        assert interval is not None
        assert (reading.read is None) != (reading.write is None)
        found.append(interval)
    return found


@pytest.mark.parametrize("name", WHOLE)
def test_the_result_is_what_rados_says(name: str) -> None:
    recording = load(name)
    result = parse(recording)[1]
    flow = flow_of(recording, result)
    made = "Total writes made" if recording.direction == "write" else "Total reads made"
    assert result.error is None
    assert flow.ios == recording.total(made)
    assert flow.runtime_seconds == recording.total("Total time run")
    assert flow.bytes == flow.ios * recording.block_bytes
    assert flow.bandwidth_bytes == pytest.approx(recording.total("Bandwidth (MB/sec)") * MIB, rel=1e-4)
    assert int(known(flow.iops)) == recording.total("Average IOPS")
    assert flow.buckets == {}
    assert flow.moments is not None
    assert (flow.moments.count, flow.moments.mean) == (flow.ios, recording.total("Average Latency(s)"))
    if recording.direction == "write":
        assert flow.moments.stddev == recording.total("Stddev Latency(s)")
    else:
        assert flow.moments.stddev is None
    assert flow.bounds == (recording.total("Min latency(s)"), recording.total("Max latency(s)"))


def test_it_has_the_figures_that_it_says() -> None:
    totals = [total(flow_of(recording, parse(recording)[1])) for recording in map(load, WHOLE)]
    had = {metric.name for metric in METRICS for each in totals if getattr(each, metric.name) is not None}
    assert had == {metric.name for metric in TOOL.metrics}


@pytest.mark.parametrize("name", WHOLE)
def test_seconds_add_up_to_the_whole(name: str) -> None:
    recording = load(name)
    readings, result = parse(recording)
    flow, parts = flow_of(recording, result), intervals(recording, readings)
    assert sum(known(part.ios) for part in parts) == flow.ios
    assert sum(part.bytes for part in parts) == flow.bytes
    assert sum(reading.interval_seconds for reading in readings) == pytest.approx(flow.runtime_seconds, abs=2e-3)
    means = [(part.latency_mean_seconds, known(part.ios)) for part in parts if part.latency_mean_seconds is not None]
    assert sum(number for _, number in means) == flow.ios
    assert flow.moments is not None
    assert sum(mean * number for mean, number in means) / known(flow.ios) == pytest.approx(flow.moments.mean, rel=1e-3)


@pytest.mark.parametrize("name", [*WHOLE, *STOPPED])
def test_an_interval_is_the_difference_of_two_rows(name: str) -> None:
    recording = load(name)
    parts = intervals(recording, parse(recording)[0])
    pairs = list(pairwise(recording.rows))
    assert len(parts) in (len(pairs), len(pairs) + 1)
    inner = parts[: len(pairs) - 1] if name in WHOLE else parts
    for part, (before, now) in zip(inner, pairs, strict=False):
        start = before[1] if before[0] else 0
        assert part.ios == now[1] - start
        if part.ios:
            spent = now[2] * now[1] - (before[2] * before[1] if before[0] else 0)
            assert part.latency_mean_seconds == pytest.approx(spent / part.ios)
        else:
            assert (part.latency_mean_seconds, part.iops) == (None, 0)
        assert part.latency_p99_seconds is None
        assert part.latency_buckets is None


@pytest.mark.parametrize("name", [*WHOLE, *STOPPED])
def test_readings_are_about_a_second_long_and_in_order(name: str) -> None:
    recording = load(name)
    readings = parse(recording)[0]
    for reading, part in zip(readings, intervals(recording, readings), strict=True):
        assert part.iops == pytest.approx(known(part.ios) / reading.interval_seconds)
        assert part.bandwidth_bytes == pytest.approx(part.bytes / reading.interval_seconds)
        assert reading.phase == "run"
        assert len(readings) == 1 or SHORTEST_INTERVAL <= reading.interval_seconds < 1.5
    ends = [reading.elapsed_seconds for reading in readings]
    assert ends == sorted(ends)
    assert ends[-1] <= recording.pieces[-1][1] + 1e-3
    for before, now in pairwise(readings):
        assert now.elapsed_seconds - before.elapsed_seconds == pytest.approx(now.interval_seconds, abs=0.05)


def test_a_rest_of_a_few_milliseconds_joins_the_last_second() -> None:
    readings = parse(load("write"))[0]
    assert [round(reading.interval_seconds, 4) for reading in readings] == [1.0001, 1.0001, 1.0002, 1.0057]


def test_a_rest_of_more_is_an_interval() -> None:
    recording = load("rand-deep")
    readings = parse(recording)[0]
    assert len(readings) == 4
    assert readings[-1].interval_seconds == pytest.approx(0.659, abs=1e-3)
    assert readings[-1].read is not None
    assert readings[-1].read.ios == 8803 - 8404


def test_a_run_of_less_than_a_second_is_one_interval() -> None:
    (reading,) = parse(load("fill-short"))[0]
    assert reading.write is not None
    assert reading.write.ios == 40
    assert reading.interval_seconds == load("fill-short").total("Total time run")


@pytest.mark.parametrize("name", STOPPED)
def test_of_a_run_that_was_ended_the_last_row_is_known(name: str) -> None:
    recording = load(name)
    readings, result = parse(recording)
    flow = flow_of(recording, result)
    second, finished, mean = recording.rows[-1]
    assert recording.status < 0
    assert flow.ios == finished == sum(known(part.ios) for part in intervals(recording, readings))
    assert flow.runtime_seconds == pytest.approx(second, abs=0.05)
    assert flow.moments is not None
    assert (flow.moments.mean, flow.moments.stddev, flow.bounds) == (mean, None, None)
    assert len(readings) == second
    assert result.error is None


def test_a_run_that_was_ended_at_once_has_no_figures() -> None:
    readings, result = parse(load("stopped-at-once"))
    assert readings == []
    assert result == ToolResult()


@pytest.mark.parametrize("name", ERRORS)
def test_what_rados_says_went_wrong(name: str) -> None:
    recording = load(name)
    result = parse(recording)[1]
    assert recording.status == 1
    assert result.error == ERRORS[name]


@pytest.mark.parametrize(("name", "late"), [("write", 0), ("write-long", 0), ("rand", 0), ("seq", 1)])
def test_a_row_is_a_reading_as_soon_as_it_is_there(name: str, late: int) -> None:
    """Only where the run may end with a rest too short to stand alone is one held back."""
    recording = load(name)
    last = recording.rows[-1][0]
    parser, readings = parser_of(recording), 0
    for stream, seconds, data in recording.pieces:
        readings += len(parser.feed(stream, data, seconds))
        rows = [int(row) for row in re.findall(rb"^(?:\d{4}-\S+)? +(\d+) +\d+ +\d+ ", data, re.MULTILINE)]
        if rows and 0 < rows[-1] < last - 1:
            assert readings == rows[-1] - late


def test_findings(golden: Golden) -> None:
    found = {name: parse(load(name))[1].findings for name in NAMES}
    assert [finding.code for finding in found.pop("quota")] == ["stuck"]
    (short,) = found.pop("write-objects")
    assert short.code == "short"
    golden.same(short.text)
    assert not any(found.values())


def test_what_helps_against_too_few_objects_is_what_their_number_comes_from() -> None:
    """An own run has as many as the pool has room for: the option is none that the user can set."""
    (own,) = parse(load("write-objects"))[1].findings
    text = b"".join(data for stream, _, data in load("write-objects").pieces if stream == "stdout").decode()
    (found,) = find_runs(read_log(text))
    (imported,) = (finding for finding in found.findings if finding.code == own.code)
    assert ("--max-objects" in own.cure, "--max-objects" in imported.cure) == (False, True)
    with pytest.raises(OptionError):
        check(max_objects=1000)


def test_stuck_writes_are_said_to_be_so(golden: Golden) -> None:
    (finding,) = parse(load("quota"))[1].findings
    golden.same(finding.text)


# ---------------------------------------------------------------------------------------------- in pieces and broken


def feed_all(parser: RadosBenchParser, pieces: list[bytes]) -> tuple[list[Reading], ToolResult]:
    readings = [reading for piece in pieces for reading in parser.feed("stdout", piece, 1.0)]
    return readings + parser.finish(), parser.result()


@given(st.sampled_from([*WHOLE, *STOPPED]), st.lists(st.integers(0, 7000), max_size=30))
def test_it_does_not_matter_where_output_is_cut(name: str, cuts: list[int]) -> None:
    recording = load(name)
    data = recording.stdout.encode()
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    whole = feed_all(parser_of(recording), [data])
    assert feed_all(parser_of(recording), [data[a:b] for a, b in pairwise(edges)]) == whole
    assert feed_all(parser_of(recording), [bytes([byte]) for byte in data]) == whole


def sane(readings: list[Reading], result: ToolResult) -> None:
    """Whatever came, nothing that a figure can't be, and nothing that can't be written as JSON."""
    for reading in readings:
        assert math.isfinite(reading.interval_seconds)
        assert reading.interval_seconds >= 0
        for part in (reading.read, reading.write):
            if part:
                assert known(part.ios) >= 0
                assert part.bytes >= 0
                assert math.isfinite(known(part.iops))
                assert math.isfinite(known(part.bandwidth_bytes))
                assert part.latency_mean_seconds is None or 0 <= part.latency_mean_seconds < math.inf
    for flow in (result.read, result.write):
        if flow:
            assert all(map(math.isfinite, (known(flow.ios), flow.bytes, known(flow.iops), known(flow.bandwidth_bytes))))
    if result.error is not None:
        assert result.error == result.error.strip()
        assert "\n" not in result.error


@given(st.sampled_from(NAMES), st.integers(0, 7000))
def test_output_that_ends_anywhere(name: str, end: int) -> None:
    recording = load(name)
    readings, result = feed_all(parser_of(recording), [recording.stdout.encode()[:end]])
    sane(readings, result)
    rows = [finished for second, finished, _ in recording.rows if second]
    total = sum(known(part.ios) for reading in readings for part in (reading.read, reading.write) if part)
    made = re.findall(r"Total (?:writes|reads) made: +(\d+)", recording.stdout)
    assert total in {0, *rows, *map(int, made)}


GARBAGE = st.one_of(
    st.binary(max_size=40),
    st.sampled_from([b"\x00", b"\n", b"\r\n", b"\xff\xfe", b"hints = 1\n", b"9" * 400, b"\n" + b" 9" * 8 + b"\n"]),
    st.sampled_from([b"Total time run: 1e308\n", b"Total time run: nan\n", b"Total writes made: inf\n"]),
    st.sampled_from([b"Total reads made: 99999999999999\n", b"Total time run: 1e-300\n", b"Write size: 1e18\n"]),
    st.sampled_from([b"\n 2 16 5 999999999999 1 1 1 1e308\n", b"\n 3 16 5 999999999999 1 1 1 1e-320\n"]),
    st.sampled_from([b"\n9999-99-99T99:99:99.999999+0000 4 1 5 9 1 1 1 1\n", b"\n 999999999 1 1 1 1 1 1 1\n"]),
    st.just(
        b"\nMaintaining 0 concurrent writes of 0 bytes to objects of size 0 for up to 0 seconds or 0 objects\n"
    ),
    st.sampled_from([b"\n0001-01-01T00:00:00.000000+2359 5 1 5 9 1 1 1 1\n", b"\n 6 16 5 7 1 1 - nan\n"]),
)  # fmt: skip


@given(st.sampled_from(NAMES), st.lists(st.tuples(st.integers(0, 7000), GARBAGE), max_size=8), st.binary(max_size=80))
def test_garbage_in_between(name: str, garbage: list[tuple[int, bytes]], said: bytes) -> None:
    recording = load(name)
    data = recording.stdout.encode()
    for at, text in garbage:
        data = data[:at] + text + data[at:]
    parser = parser_of(recording)
    parser.feed("stderr", said, 0.5)
    parser.expect_end()
    sane(*feed_all(parser, [data]))


@given(st.lists(GARBAGE, max_size=30))
def test_garbage_alone(pieces: list[bytes]) -> None:
    sane(*feed_all(RadosBenchParser(block_bytes=4 * MIB, seconds=None), pieces))


def test_no_line_is_kept_for_ever() -> None:
    parser = RadosBenchParser(block_bytes=4 * MIB, seconds=None)
    for _ in range(100):
        parser.feed("stdout", b"x" * 65536, 1.0)
        parser.feed("stderr", b"x" * 65536, 1.0)
    assert len(parser.result().error or "") <= 8192
    assert parser.feed("stdout", b"\n    0 0 0 0 0 0 - 0\n    1 1 5 4 1 1 1 1\n    2 1 9 8 1 1 1 1\n", 3.0)


# ---------------------------------------------------------------------------------------------- precision, clocks


def table(rows: list[tuple[int, int, float]], *, clock: list[float] | None = None) -> bytes:
    lines = []
    for number, (second, finished, mean) in enumerate(rows):
        time = f"2026-11-21T14:{int(clock[number]) // 60:02}:{clock[number] % 60:09.6f}+0000 " if clock else ""
        latency = f"{mean:9.6g}"
        lines.append(f"{time}{second:5} {16:7} {finished + 16:9} {finished:9} {1:9} {1:9} {0.01:11} {latency:>11}\n")
    return "".join(lines).encode()


@given(st.lists(st.tuples(st.integers(0, 50000), st.floats(1e-5, 5)), min_size=2, max_size=200))
def test_a_mean_that_is_given_is_right(seconds: list[tuple[int, float]]) -> None:
    """Made of means with six digits, and left out where these are not enough."""
    rows, finished, spent = [(0, 0, 0.0)], 0, 0.0
    for second, (ios, mean) in enumerate(seconds, 1):
        finished, spent = finished + ios, spent + ios * mean
        rows.append((second, finished, spent / finished if finished else 0.0))
    readings, _ = feed_all(RadosBenchParser(block_bytes=4096, seconds=None), [table(rows)])
    for reading, (ios, mean) in zip(readings, seconds, strict=True):
        assert reading.read is not None
        assert reading.read.ios == ios
        given_mean = reading.read.latency_mean_seconds
        assert given_mean is None or given_mean == pytest.approx(mean, rel=0.025)


def test_a_mean_is_given_in_the_first_quarter_of_an_hour() -> None:
    rows = [(second, second * 1000, 0.0123456) for second in range(901)]
    readings, _ = feed_all(RadosBenchParser(block_bytes=4096, seconds=None), [table(rows)])
    assert all(reading.read and reading.read.latency_mean_seconds for reading in readings)


def test_a_mean_is_not_given_once_six_digits_are_too_few() -> None:
    rows = [(second, second * 1000, 0.0123456) for second in (0, 1, 2, 5000, 5001)]
    readings, _ = feed_all(RadosBenchParser(block_bytes=4096, seconds=None), [table(rows)])
    assert [bool(reading.read and reading.read.latency_mean_seconds) for reading in readings] == [True] * 3 + [False]


def test_the_clock_counts_and_not_the_seconds_column() -> None:
    rows = [(second, second * 100, 0.01) for second in range(4)]
    readings, _ = feed_all(
        RadosBenchParser(block_bytes=4096, seconds=None), [table(rows, clock=[0.0, 1.25, 2.5, 3.75])]
    )
    assert [reading.interval_seconds for reading in readings] == pytest.approx([1.25] * 3)
    assert [reading.read.iops for reading in readings if reading.read] == pytest.approx([80] * 3)


def test_a_clock_that_was_set_does_not_count() -> None:
    rows = [(second, second * 100, 0.01) for second in range(5)]
    clock = [600.0, 601.0, 5.0, 3005.0, 3006.0]
    readings, _ = feed_all(RadosBenchParser(block_bytes=4096, seconds=None), [table(rows, clock=clock)])
    assert [reading.interval_seconds for reading in readings] == [1.0] * 4


def test_a_row_that_was_lost_makes_a_longer_interval() -> None:
    readings, _ = feed_all(
        RadosBenchParser(block_bytes=4096, seconds=None), [table([(0, 0, 0.0), (1, 10, 0.1), (3, 40, 0.1)])]
    )
    assert [(r.interval_seconds, r.read.ios) for r in readings if r.read] == [(1.0, 10), (2.0, 30)]


def test_what_older_versions_call_the_latency() -> None:
    text = load("write").stdout.replace("Latency(s)", "Latency").replace("latency(s)", "latency")
    flow = feed_all(parser_of(load("write")), [text.encode()])[1].write
    assert flow == parse(load("write"))[1].write


def test_the_parser_for_a_preset() -> None:
    """Reads do not say how large they are until they are over."""
    recording = replace(load("rand"), pieces=load("rand").pieces[:3])
    parser = TOOL.bind(check(mode="rand", block_size="256k", runtime=4)).parser(ramp=False, seconds=4.0)
    readings = [r for stream, at, data in recording.pieces for r in parser.feed(stream, data, at)]
    assert [r.read.bytes // known(r.read.ios) for r in readings if r.read] == [262144] * len(readings)
