"""ioping: its options, its command lines, its recorded output whole and in pieces, and a run of it."""

from __future__ import annotations

import itertools
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui import stats
from cephtui.analysis.runs.sides import side_of
from cephtui.analysis.verdicts.figures import compared_figures
from cephtui.models import Event, FilePlace, Interval, OptionValue, Plan, Sample
from cephtui.sessions import store
from cephtui.sessions.playback import Playback
from cephtui.tools import TOOLS
from cephtui.tools.base import OptionError, Parser, Reading, Stream, ToolResult
from cephtui.tools.copied import CopyParser
from cephtui.tools.ioping.output import IopingParser
from tests import RECORDINGS
from tests.support.execution import carry_out_here
from tests.support.golden import Golden
from tests.support.plans import plan

IOPING = TOOLS["ioping"]
FOLDER = RECORDINGS / "ioping-1.3"
READ, FILL = FOLDER / "read.stdout", FOLDER.parent / "dd-9.1" / "fill.stderr"
"""``ioping -D -q -p 1 -i 20000us -w 3000ms -s 4096 -S 16777216 FILE``, and dd that fills 600 MiB."""
PLACE = FilePlace(kind="file", path="/mnt/bench/test")
MIB = 1 << 20


def check(**options: object) -> dict[str, OptionValue]:
    return IOPING.check_options({name.replace("_", "-"): value for name, value in options.items()})


# ---------------------------------------------------------------------------------------------- options


def test_defaults() -> None:
    assert check() == {"runtime": 60.0, "interval": 0.1, "size": "4k"}
    assert check(runtime="5m", interval="0.5")["runtime"] == 300.0


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("runtime", 0),
        ("interval", 0),
        ("interval", 6),
        ("size", "0"),
        ("work_size", "1k"),
        ("write", True),
        ("keep", True),
        ("cached", True),
        ("warmup", 2),
        ("sise", "4k"),
    ],
)
def test_what_is_refused(option: str, value: object, golden: Golden) -> None:
    with golden.raises(OptionError):
        check(**{option: value})


def test_the_command_reads_the_region_and_prints_each_request() -> None:
    line = IOPING.bind(check(runtime=3, interval=0.02)).argv("ping", 16 * MIB, PLACE)
    assert shlex.join(line) == "ioping -D -q -p 1 -i 20000us -w 3000ms -s 4096 -S 16777216 /mnt/bench/test"
    assert "-L" in IOPING.bind(check(linear=True)).argv("ping", 16 * MIB, PLACE)


def test_the_region_is_whole_requests(golden: Golden) -> None:
    assert IOPING.bind(check(size="3k")).jobs_and_size(10 << 10) == (1, 9 << 10)
    assert IOPING.bind(check(work_size="1M")).jobs_and_size(1 << 30) == (1, MIB)
    with golden.raises(OptionError):
        IOPING.bind(check()).jobs_and_size(1 << 10)


def test_versions(golden: Golden) -> None:
    assert IOPING.check_version("ioping 1.3") is None
    for text in ("ioping 1.0", None):
        golden.same(IOPING.check_version(text))


# ---------------------------------------------------------------------------------------------- output


def parsed(parser: Parser, pieces: list[bytes], stream: Stream = "stdout") -> tuple[list[Reading], ToolResult]:
    readings = [reading for piece in pieces for reading in parser.feed(stream, piece, 0.0)]
    return [*readings, *parser.finish()], parser.result()


def test_each_request_of_the_recording_counts_with_its_own_time() -> None:
    data = READ.read_bytes()
    times = [int(line.split()[1]) for line in data.splitlines()]
    readings, result = parsed(IopingParser(4096), [data])
    assert result.read is not None
    assert result.read.ios == len(times) == 149
    assert result.read.bytes == 149 * 4096
    assert result.read.moments is not None
    assert result.read.moments.mean == pytest.approx(sum(times) / len(times) / 1e9)
    assert result.read.bounds == (min(times) / 1e9, max(times) / 1e9)
    assert result.read.buckets == stats.add_buckets([{stats.bucket_of(time): 1} for time in times])
    assert result.read.iops == pytest.approx(50, abs=1), "not the 6,000 that it claims itself"
    assert [reading.interval_seconds for reading in readings] == pytest.approx([1.0] * 3, abs=0.05)
    assert sum(flow.ios or 0 for reading in readings for flow in reading.flows.values()) == 149
    assert readings[-1].elapsed_seconds == pytest.approx(result.read.runtime_seconds)


@given(st.lists(st.integers(0, 9000), max_size=8))
def test_pieces_cut_anywhere_make_the_same(cuts: list[int]) -> None:
    tools: list[tuple[Path, Callable[[], Parser], Stream]] = [
        (READ, lambda: IopingParser(4096), "stdout"),
        (FILL, CopyParser, "stderr"),
    ]
    for path, make, stream in tools:
        data = path.read_bytes()
        edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
        pieces = [data[start:end] for start, end in itertools.pairwise(edges)]
        assert parsed(make(), pieces, stream) == parsed(make(), [data], stream)


def test_a_request_that_hung_is_one_long_interval() -> None:
    lines = [b"1 200000 5000 1 1 1 1 0 2 1000000000\n", b"1 4900000000 0 1 1 1 1 0 1 5000000000\n"]
    readings, result = parsed(IopingParser(4096), lines)
    assert [(reading.elapsed_seconds, reading.interval_seconds) for reading in readings] == [(1.0, 1.0), (6.0, 5.0)]
    assert [reading.read and reading.read.latency_mean_seconds for reading in readings] == [0.0002, 4.9]
    assert result.read is not None
    assert result.read.bounds == (0.0002, 4.9)


@given(st.binary(max_size=200))
def test_anything_else_is_borne(data: bytes) -> None:
    for stream in ("stdout", "stderr"):
        parsed(IopingParser(4096), [data], stream)
        parsed(CopyParser(), [data], stream)


def test_what_went_wrong_is_in_its_own_words() -> None:
    said = b'ioping: stat "/nonexistent" failed: No such file or directory\n'
    assert parsed(IopingParser(4096), [said], "stderr")[1] == ToolResult(error=said.decode().strip())
    said = b"dd: failed to open '/x': Permission denied\n"
    assert parsed(CopyParser(), [said], "stderr")[1] == ToolResult(error=said.decode().strip())


def test_filling_is_followed_and_counts_no_requests() -> None:
    readings, result = parsed(CopyParser(), [FILL.read_bytes()], "stderr")
    assert result.error is None
    assert result.write is not None
    assert (result.write.ios, result.write.bytes, result.write.runtime_seconds) == (None, 600 * MIB, 7.47988)
    assert len(readings) >= 7
    assert sum(reading.write.bytes for reading in readings if reading.write) == 600 * MIB


# ---------------------------------------------------------------------------------------------- a run


def planned(target: str) -> Plan:
    return plan("ping", target=target, options=["runtime=2", "interval=0.02", "work-size=8M"], repeats=2)


def test_a_device_is_only_read() -> None:
    first, _ = planned("device:/dev/sdb").steps
    assert (first.writes, first.fill_bytes, first.nodes[0].prepare_argv) == (False, 0, None)
    assert first.nodes[0].argv[-1] == "/dev/sdb"


async def test_a_file_is_filled_read_saved_replayed_and_compared(tmp_path: Path) -> None:
    assert shutil.which("ioping"), "ioping is not installed: apt-get install ioping"
    plan, events = planned(f"file:{tmp_path}/file"), list[Event]()
    runs = await carry_out_here(plan, tmp_path, events)
    assert [(run.outcome, run.error) for run in runs] == [("ok", None)] * 2
    for run in runs:
        total = run.summary.flows["read"]
        assert total.iops == pytest.approx(50, abs=10)
        assert total.latency_p99_seconds is not None
        assert total.latency_max_seconds is not None
        assert 0 < total.latency_p99_seconds <= 1.02 * total.latency_max_seconds
    live = [event for event in events if isinstance(event, Sample) and event.run == 1]
    filled = [sample for sample in live if sample.phase == "prepare" and sample.node is None]
    assert sum(sample.flows["write"].bytes for sample in filled) == 8 * MIB
    assert {sample.flows["write"].ios for sample in filled} == {None}
    assert [e for e in Playback(tmp_path / "s", 1).until(600.0) if isinstance(e, Sample)] == live
    assert store.read_history(tmp_path / "s", 1).directions == ["read"]
    found = compared_figures(side_of(runs[0], [runs[0]]), side_of(runs[1], [runs[1]]))
    assert {figure.direction for figure in found} == {"read"}
    assert {figure.name for figure in found if figure.change_fraction is None} <= {
        "latency_p95_seconds",
        "latency_p99_seconds",
        "latency_p999_seconds",
    }, "of a hundred requests too few are slower"
    measured = [sample for sample in live if sample.phase == "run" and sample.node is None]
    last = measured[-1].flows["read"]
    assert isinstance(last, Interval)
    assert last.latency_buckets
