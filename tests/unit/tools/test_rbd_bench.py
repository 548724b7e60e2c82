"""rbd bench: its options, its command lines, and its recorded output whole and in pieces."""

from __future__ import annotations

import itertools
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.models import OptionValue, RbdPlace
from cephtui.models.findings.data import LIBRBD_CACHE
from cephtui.tools import TOOLS
from cephtui.tools.base import OptionError, Reading, Workload
from cephtui.tools.rbd_bench.output import MIXED, RbdBenchParser
from tests.recordings.pieces import Piece, cut, parsed, pieces_of
from tests.support.golden import Golden
from tests.support.plans import plan

TOOL = TOOLS["rbd-bench"]
PLACE = RbdPlace(kind="rbd", pool="bench", images=("cephtui-1-a-0",), ceph_id="admin")
MIB = 1 << 20
SHOWN = ("bench-write", "bench-read", "bench-mixed", "bench-cached", "bench-killed")


def check(**options: object) -> dict[str, OptionValue]:
    return TOOL.check_options({name.replace("_", "-"): value for name, value in options.items()})


def bound(**options: object) -> Workload:
    return TOOL.bind(check(**options))


# ---------------------------------------------------------------------------------------------- options, commands


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"io_type": "write", "runtime": 0},
        {"io_type": "write", "io_size": "0"},
        {"io_type": "write", "io_total": "1G"},
        {"io_type": "write", "rw_mix_read": 30},
        {"io_type": "write", "io_threads": 2000, "io_size": "4M"},
        {"io_type": "write", "rbd_cache_size": "1G"},
        {"io_type": "write", "image": "x"},
        {"io_type": "write", "io_sise": "4k"},
    ],
)
def test_what_is_refused(options: dict[str, object], golden: Golden) -> None:
    with golden.raises(OptionError):
        check(**options)


def test_it_is_ended_by_its_time_and_never_by_its_data() -> None:
    line = shlex.join(bound(io_type="write", runtime=3).argv("x", 64 * MIB, PLACE))
    assert line == (
        "setsid -w timeout --foreground --preserve-status -k 10s 3s rbd --id admin bench --io-type write --io-size 4K "
        "--io-threads 16 --io-total 8192000000000 --io-pattern seq --rbd-cache=false bench/cephtui-1-a-0"
    )


def test_the_cache_takes_part_only_where_it_is_asked_for() -> None:
    for options, cached in (({}, "false"), ({"rbd_cache": False}, "false"), ({"rbd_cache": True}, "true")):
        workload = bound(io_type="rw", rw_mix_read=70, **options)
        assert f"--rbd-cache={cached}" in workload.argv("x", MIB, PLACE)
        assert ("rbd-cache" in workload.describe()) == (cached == "true")
        assert ("--rw-mix-read", "70") in itertools.pairwise(workload.argv("x", MIB, PLACE))
        assert "--rbd-cache=false" in workload.prefill_argv([MIB], PLACE)


@pytest.mark.parametrize(
    ("asked", "size", "block"),
    [(64 * MIB + 5, 64 * MIB, "4M"), (3 * MIB, 3 * MIB, "1M"), ((10 << 30) - 1, (10 << 30) - 4 * MIB, "4M")],
)
def test_the_prefill_writes_each_block_of_the_image_once(asked: int, size: int, block: str) -> None:
    workload = bound(io_type="read")
    assert workload.jobs_and_size(asked) == (1, size)
    words = workload.prefill_argv([size], PLACE)
    pairs = set(itertools.pairwise(words))
    assert {("--io-size", block), ("--io-total", str(size)), ("--io-pattern", "full-seq")} <= pairs


def test_an_image_holds_at_least_one_io(golden: Golden) -> None:
    with golden.raises(OptionError):
        bound(io_type="read", io_size="4M", size="1M").jobs_and_size(10 << 30)


def test_each_node_has_one_image_of_its_own_and_it_is_written_before_it_is_read() -> None:
    (step,) = plan("rbd-bench-read", nodes=("a", "b"), target="rbd:bench", options=("size=64M",)).steps
    assert [node.parts[0].spec for node in step.nodes] == [
        "rbd:bench/cephtui-0a1b2c3d-a-0",
        "rbd:bench/cephtui-0a1b2c3d-b-0",
    ]
    assert all(node.prepare_argv and "full-seq" in node.prepare_argv for node in step.nodes)
    with pytest.raises(OptionError, match="--target rbd:POOL"):
        plan("rbd-bench-read", nodes=("a",), target="rbd:bench/disk")


def test_versions(golden: Golden) -> None:
    assert TOOL.check_version("ceph version 16.2.15 (618f44) pacific (stable)") is None
    golden.same(TOOL.check_version("ceph version 14.2.22 (ca74598)"))


# ---------------------------------------------------------------------------------------------- output


def done(readings: list[Reading], flow: str) -> int:
    return sum(reading.flows[flow].ios or 0 for reading in readings)


def test_a_second_is_what_was_completed_in_it_and_not_what_rbd_prints() -> None:
    readings, result = parsed(RbdBenchParser(None), pieces_of("bench-write"))
    assert result.write is not None
    assert (result.write.ios, result.write.bytes) == (6593, 6593 * 4096)
    assert result.write.runtime_seconds == pytest.approx(6593 / 1289.71), "the whole seconds that are printed are cut"
    assert [reading.write and reading.write.ios for reading in readings] == [1504, 1152, 1120, 1408, 1409]
    assert readings[1].write is not None
    assert readings[1].write.iops == pytest.approx(1152 / (2.2521 - 1.2313)), "not the mean of the lines so far, 1336"
    assert done(readings, "write") == 6593, "the rest is so short that it is a part of the last second"
    assert (result.read, result.error, result.findings) == (None, None, ())
    assert result.write.moments is None, "it times nothing"


def test_lines_are_given_at_once_but_those_that_may_be_the_last() -> None:
    parser = RbdBenchParser(5.3)
    given_at = [len(parser.feed(stream, data, at)) for stream, at, data in pieces_of("bench-read")]
    assert given_at[:4] == [0, 1, 1, 1]
    assert len(parser.finish()) == 1


def test_a_mix_is_divided_by_its_totals() -> None:
    pieces = pieces_of("bench-mixed")
    readings, result = parsed(RbdBenchParser(None), pieces)
    assert {name for reading in readings for name in reading.flows} == {MIXED}
    assert result.read is not None
    assert result.write is not None
    assert not result.other
    assert (result.read.ios or 0) + (result.write.ios or 0) == done(readings, MIXED)
    _, killed = parsed(RbdBenchParser(None), pieces[:4])
    assert (killed.read, killed.write, list(killed.other)) == (None, None, [MIXED])


def test_of_one_that_was_killed_the_last_line_counts() -> None:
    readings, result = parsed(RbdBenchParser(60.0), pieces_of("bench-killed"))
    assert result.write is not None
    assert result.write.ios == done(readings, "write") == 4544
    assert result.write.runtime_seconds == pytest.approx(4.1689 - 0.1538)


def test_one_that_waits_for_the_lock_of_another_has_done_nothing() -> None:
    readings, result = parsed(RbdBenchParser(None), pieces_of("bench-waits"))
    assert readings == []
    assert (result.write, result.error) == (None, None)


def test_the_cache_is_a_finding() -> None:
    _, result = parsed(RbdBenchParser(None, cached=True), pieces_of("bench-cached"))
    assert [finding.code for finding in result.findings] == [LIBRBD_CACHE.code]


def test_a_stall_is_one_long_interval() -> None:
    begin = b"bench  type read io_size 4096 io_threads 16 bytes 4096 pattern random\n"
    lines = [(0.2, begin), (1.2, b"    1   1000   1000   4 MiB/s\n"), (6.2, b"    6   1500   750   3 MiB/s\n")]
    readings, _ = parsed(RbdBenchParser(60.0), [("stdout", at, line) for at, line in lines])
    assert [reading.interval_seconds for reading in readings] == pytest.approx([1.0, 5.0])
    assert [reading.read.iops for reading in readings if reading.read] == pytest.approx([1000, 100])


def test_totals_without_a_second_before_them_are_said_to_be_alone() -> None:
    text = b"bench  type read io_size 4096 io_threads 1 bytes 40960000 pattern random\n"
    text += b"elapsed:     9  ops:    10000  ops/sec:  1000.00  bytes/sec: 4096000.00\n"
    readings, result = parsed(RbdBenchParser(None), [("stdout", 10.0, text)])
    assert result.read is not None
    assert result.read.ios == 10000
    assert result.read.runtime_seconds == pytest.approx(10.0)
    assert [finding.code for finding in result.findings] == ["no-seconds"]
    assert "ceph health detail" in result.findings[0].cure, "an rbd that is too old to print is refused beforehand"
    assert len(readings) == 1


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (pieces_of("bench-no-image"), "rbd: error opening image none: (2) No such file or directory"),
        (
            [("stdout", 1.0, b"write error: (28) No space left on device\n")],
            "write error: (28) No space left on device",
        ),
        ([], None),
    ],
)
def test_its_own_words_are_the_error(pieces: list[Piece], expected: str | None) -> None:
    readings, result = parsed(RbdBenchParser(None), pieces)
    assert (readings, result.flows, result.error) == ([], {}, expected)


@given(st.sampled_from(SHOWN), st.lists(st.integers(0, 200), max_size=6))
def test_pieces_cut_anywhere_make_the_same(name: str, cuts: list[int]) -> None:
    pieces = pieces_of(name)
    assert parsed(RbdBenchParser(None), cut(pieces, cuts)) == parsed(RbdBenchParser(None), pieces)


@given(st.sampled_from(SHOWN), st.integers(0, 12), st.binary(max_size=120))
def test_anything_else_is_borne(name: str, at: int, data: bytes) -> None:
    pieces = pieces_of(name)
    garbled: list[Piece] = [*pieces[:at], ("stdout", 3.0, data), ("stderr", 3.0, data), *pieces[at:]]
    readings, result = parsed(RbdBenchParser(None), garbled)
    for reading in readings:
        assert reading.interval_seconds > 0
    for flow in result.flows.values():
        assert flow.ios is not None
        assert flow.bytes == flow.ios * 4096
