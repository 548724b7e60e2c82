"""rados load-gen: its options, its command line, and its recorded output whole and in pieces."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.models import OptionValue, RadosPlace
from cephtui.tools import TOOLS
from cephtui.tools.base import OptionError, Workload
from cephtui.tools.load_gen.output import LoadGenParser
from tests.recordings.pieces import Piece, cut, parsed, pieces_of
from tests.support.golden import Golden

TOOL = TOOLS["load-gen"]
PLACE = RadosPlace(kind="pool", pool="cephtui-0a1b2c3d-pg8-size1", namespace="", ceph_id="admin")
MIB = 1 << 20
SHOWN = ("load-mixed", "load-stopped")


def check(**options: object) -> dict[str, OptionValue]:
    return TOOL.check_options({name.replace("_", "-"): value for name, value in options.items()})


def bound(**options: object) -> Workload:
    return TOOL.bind(check(**{"target_throughput": "100M", **options}))


def parser() -> LoadGenParser:
    return LoadGenParser(4.0)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"target_throughput": "1G", "run_length": 5},
        {"target_throughput": "1G", "max_object_size": "32M"},
        {"target_throughput": "1G", "min_op_len": "8M"},
        {"target_throughput": "1G", "max_op_len": "65M"},
        {"target_throughput": "1G", "percent": 5},
        {"target_throughput": "1G", "pool": "x"},
    ],
)
def test_what_is_refused(options: dict[str, object], golden: Golden) -> None:
    with golden.raises(OptionError):
        check(**options)


def test_a_length_is_always_given_and_what_is_in_flight_is_limited_by_operations_only() -> None:
    words = bound(runtime=7, max_ops=8, max_op_len="1M", min_op_len="1M").argv("x", 192 * MIB, PLACE)
    pairs = set(itertools.pairwise(words))
    assert words[:5] == ("rados", "--id", "admin", "-p", PLACE.pool)
    assert "-N" not in words
    assert {("--num-objects", "3"), ("--run-length", "7"), ("--max-ops", "8"), ("--max-backlog", str(8 * MIB))} <= pairs
    assert ("--target-throughput", str(100 * MIB)) in pairs


def test_it_takes_the_space_of_all_its_objects(golden: Golden) -> None:
    workload = bound(num_objects=5)
    assert workload.jobs_and_size(1 << 40) == (1, 320 * MIB)
    assert workload.object_bytes() == 64 * MIB
    with golden.raises(OptionError):
        workload.jobs_and_size(100 * MIB)


def test_without_a_number_it_makes_as_many_objects_as_there_is_room_for(golden: Golden) -> None:
    assert bound().jobs_and_size(1 << 40) == (1, 3200 * MIB)
    assert bound().jobs_and_size(1000 * MIB) == (1, 960 * MIB)
    with golden.raises(OptionError):
        bound().jobs_and_size(63 * MIB)


def lengths(name: str) -> dict[str, list[int]]:
    """The sizes of what was completed, by what the operations are."""
    text = b"".join(data for stream, _, data in pieces_of(name) if stream == "stdout").decode()
    begun = re.findall(r"^(READ|WRITE) : .* len=(\d+)$", text, re.MULTILINE)
    found: dict[str, list[int]] = {"read": [], "write": []}
    for number in map(int, re.findall(r"^op (\d+) completed", text, re.MULTILINE)):
        kind, size = begun[number]
        found[kind.lower()].append(int(size))
    return found


@pytest.mark.parametrize("name", SHOWN)
def test_figures_are_the_sums_of_what_was_completed(name: str) -> None:
    readings, result = parsed(parser(), pieces_of(name))
    expected = lengths(name)
    for kind, flow in (("read", result.read), ("write", result.write)):
        assert flow is not None
        assert (flow.ios, flow.bytes) == (len(expected[kind]), sum(expected[kind]))
        assert sum(reading.flows[kind].bytes for reading in readings if kind in reading.flows) == flow.bytes
        assert flow.moments is None
    assert all(reading.interval_seconds >= 0.5 for reading in readings)
    assert result.error is None
    assert [finding.code for finding in result.findings] == ["holes"]


def test_a_second_without_a_completion_is_one_of_zero() -> None:
    begin = "load-gen will run 4 seconds\nWRITE : oid=obj-1 off=0 len=4096\n"
    pieces: list[Piece] = [("stdout", 0.0, begin.encode())]
    pieces += [("stdout", float(at), f"    {at}: throughput=0MB/sec pending data=4096\n".encode()) for at in (1, 2)]
    pieces.append(("stdout", 2.5, b"op 0 completed, throughput=0.001MB/sec\n"))
    readings, _ = parsed(parser(), pieces)
    assert [(reading.interval_seconds, reading.write and reading.write.ios) for reading in readings] == [
        (1.0, 0),
        (1.0, 0),
        (0.5, 1),
    ]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("load-too-large", "aio_write failed"),
        ("load-no-pool", "error opening pool none: (2) No such file or directory"),
    ],
)
def test_its_own_words_are_the_error(name: str, said: str, golden: Golden) -> None:
    readings, result = parsed(parser(), pieces_of(name))
    assert (readings, result.flows) == ([], {})
    assert str(result.error).endswith(said)
    golden.same(result.error)


@given(st.sampled_from(SHOWN), st.lists(st.integers(0, 400), max_size=6))
def test_pieces_cut_anywhere_make_the_same(name: str, cuts: list[int]) -> None:
    pieces = pieces_of(name)
    assert parsed(parser(), cut(pieces, cuts)) == parsed(parser(), pieces)


@given(st.sampled_from(SHOWN), st.integers(0, 40), st.binary(max_size=120))
def test_anything_else_is_borne(name: str, at: int, data: bytes) -> None:
    pieces = pieces_of(name)
    garbled: list[Piece] = [*pieces[:at], ("stdout", 1.5, data), ("stderr", 1.5, data), *pieces[at:]]
    readings, result = parsed(parser(), garbled)
    assert all(reading.interval_seconds > 0 for reading in readings)
    assert all(flow.bytes >= 0 for flow in result.flows.values())
