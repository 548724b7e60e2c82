"""dd: its options, its command lines, its recorded output whole and in pieces, runs of it, and what it is refused."""

from __future__ import annotations

import itertools
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.models import Event, FilePlace, OptionValue, Sample
from cephtui.stats import Flow
from cephtui.tools import TOOLS
from cephtui.tools.base import OptionError, Reading, ToolResult
from cephtui.tools.copied import CopyParser
from tests import RECORDINGS
from tests.support import plans
from tests.support.execution import carry_out_here
from tests.support.golden import Golden

DD = TOOLS["dd"]
FOLDER = RECORDINGS / "dd-9.1"
WRITE, READ, STOPPED, FILL = (FOLDER / f"{name}.stderr" for name in ("write", "read", "stopped", "fill"))
"""1,500 MiB of zeros in blocks of 64 KiB; the same read in 16 KiB; 4 KiB blocks ended by TERM; a file filled."""
PLACE = FilePlace(kind="file", path="/mnt/bench/test")
MIB = 1 << 20


def check(**options: object) -> dict[str, OptionValue]:
    return DD.check_options({name.removesuffix("_"): value for name, value in options.items()})


# ---------------------------------------------------------------------------------------------- options


def test_defaults() -> None:
    assert check(mode="write") == {"mode": "write", "bs": "1M", "direct": True}


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        ({}, "mode"),
        ({"mode": "write", "bs": "2G"}, "bs"),
        ({"mode": "write", "bs": "1000"}, "bs"),
        ({"mode": "write", "size": "512k"}, "size"),
        ({"mode": "read", "if_": "/dev/zero"}, "if"),
        ({"mode": "write", "if_": "/dev/sda"}, "if"),
        ({"mode": "write", "of": "/dev/sda"}, "of"),
        ({"mode": "write", "oflag": "direct"}, "oflag"),
        ({"mode": "write", "conv": "notrunc"}, "conv"),
    ],
)
def test_what_is_refused(options: dict[str, object], refused: str, golden: Golden) -> None:
    with pytest.raises(OptionError) as error:
        check(**options)
    assert error.value.option == refused
    golden.same(str(error.value))


def test_a_thousand_bytes_go_through_the_page_cache() -> None:
    assert check(mode="write", bs="1000", direct=False)["bs"] == "1000"


def test_a_write_keeps_the_length_of_the_file_and_waits_for_the_disk() -> None:
    line = DD.bind(check(mode="write")).argv("dd-write", 16 * MIB, PLACE)
    assert shlex.join(line) == (
        "env LC_ALL=C dd if=/dev/zero of=/mnt/bench/test bs=1048576 count=16 iflag=fullblock oflag=direct "
        "conv=notrunc,fsync status=progress"
    )


def test_a_read_writes_nothing() -> None:
    line = DD.bind(check(mode="read", bs="4k")).argv("dd-read", MIB, PLACE)
    assert shlex.join(line) == (
        "env LC_ALL=C dd if=/mnt/bench/test of=/dev/null bs=4096 count=256 iflag=direct status=progress"
    )
    assert "iflag=direct" not in DD.bind(check(mode="read", direct=False)).argv("dd-read", MIB, PLACE)


def test_the_region_is_whole_blocks(golden: Golden) -> None:
    assert DD.bind(check(mode="write", bs="3M")).jobs_and_size(10 * MIB) == (1, 9 * MIB)
    assert DD.bind(check(mode="write", size="4M")).jobs_and_size(10 * MIB) == (1, 4 * MIB)
    with golden.raises(OptionError):
        DD.bind(check(mode="write")).jobs_and_size(512 << 10)


# ---------------------------------------------------------------------------------------------- output


def parsed(parser: CopyParser, pieces: list[bytes]) -> tuple[list[Reading], ToolResult]:
    readings = [reading for piece in pieces for reading in parser.feed("stderr", piece, 0.0)]
    return [*readings, *parser.finish()], parser.result()


@pytest.mark.parametrize(
    ("path", "block", "ios", "seconds"), [(WRITE, 65536, 24000, 4.71333), (READ, 16384, 96000, 9.76288)]
)
def test_the_figures_are_of_bytes_and_seconds(path: Path, block: int, ios: int, seconds: float) -> None:
    writes = path == WRITE
    readings, result = parsed(CopyParser(writes=writes, block_bytes=block), [path.read_bytes()])
    flow = result.write if writes else result.read
    assert isinstance(flow, Flow)
    assert result.flows == {"write" if writes else "read": flow}
    assert (flow.ios, flow.bytes, flow.runtime_seconds) == (ios, ios * block, seconds)
    assert flow.bandwidth_bytes == pytest.approx(flow.bytes / seconds)
    assert flow.iops == pytest.approx(ios / seconds)
    assert (flow.moments, flow.bounds) == (None, None), "dd times no I/O"
    parts = [each for reading in readings for each in reading.flows.values()]
    assert sum(part.ios or 0 for part in parts) == ios
    assert sum(part.bytes for part in parts) == flow.bytes
    assert all(part.latency_mean_seconds is None for part in parts)


def test_one_that_was_ended_has_its_last_second() -> None:
    _, result = parsed(CopyParser(block_bytes=4096), [STOPPED.read_bytes()])
    assert result.error is None
    assert result.write is not None
    assert (result.write.bytes, result.write.runtime_seconds) == (72454144, 2.0)


@given(st.lists(st.integers(0, 1500), max_size=8), st.sampled_from([WRITE, READ, STOPPED, FILL]))
def test_pieces_cut_anywhere_make_the_same(cuts: list[int], path: Path) -> None:
    data = path.read_bytes()
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[start:end] for start, end in itertools.pairwise(edges)]
    assert parsed(CopyParser(block_bytes=4096), pieces) == parsed(CopyParser(block_bytes=4096), [data])


@given(st.binary(max_size=200))
def test_anything_else_is_borne(data: bytes) -> None:
    parsed(CopyParser(block_bytes=4096), [data])
    assert CopyParser().feed("stdout", data, 0.0) == []


def test_what_went_wrong_is_in_its_own_words() -> None:
    said = b"dd: failed to open '/x': Permission denied\n"
    assert parsed(CopyParser(), [said])[1] == ToolResult(error=said.decode().strip())


# ---------------------------------------------------------------------------------------------- what it measured


def codes(**options: object) -> set[str]:
    parser = DD.bind(check(**options)).parser(ramp=False, seconds=None)
    parser.feed("stderr", WRITE.read_bytes(), 0.0)
    return {finding.code for finding in parser.result().findings}


def test_the_findings_say_what_was_measured() -> None:
    assert codes(mode="write") == {"one-stream", "zeros"}
    assert codes(mode="write", if_="/dev/urandom") == {"one-stream", "random-data"}
    assert codes(mode="read") == {"one-stream"}


def test_nothing_is_found_of_a_copy_that_did_nothing() -> None:
    assert DD.bind(check(mode="write")).parser(ramp=False, seconds=None).result().findings == ()


# ---------------------------------------------------------------------------------------------- a run


def test_a_device_is_only_read(golden: Golden) -> None:
    (step,) = plans.plan("dd-read", target="device:/dev/sdb").steps
    assert (step.writes, step.fill_bytes, step.nodes[0].prepare_argv) == (False, 0, None)
    assert "if=/dev/sdb" in step.nodes[0].argv
    for target in ("device:/dev/sdb", "krbd:bench"):
        with golden.raises(OptionError):
            plans.plan("dd-write", target=target)


@pytest.mark.parametrize(
    ("preset", "direction", "found"),
    [("dd-write", "write", {"one-stream", "zeros", "page-cache"}), ("dd-read", "read", {"one-stream", "page-cache"})],
)
async def test_a_file_is_copied(tmp_path: Path, preset: str, direction: str, found: set[str]) -> None:
    events: list[Event] = []
    plan = plans.plan(preset, target=f"file:{tmp_path}/file", options=["size=8M", "bs=64k", "direct=false"])
    (run,) = await carry_out_here(plan, tmp_path, events)
    assert (run.outcome, run.error) == ("ok", None)
    total = run.summary.flows[direction]
    assert (total.ios, total.bytes, total.latency_mean_seconds) == (128, 8 * MIB, None)
    measured = [e for e in events if isinstance(e, Sample) and e.node is None and e.phase == "run"]
    assert sum(sample.flows[direction].bytes for sample in measured) == 8 * MIB
    in_memory = {"memory"} if run.environment["local"].filesystem in ("tmpfs", "ramfs", "zfs") else set()
    assert found - {"page-cache" if in_memory else ""} | in_memory <= {finding.code for finding in run.findings}
    assert (tmp_path / "file").stat().st_size == 8 * MIB + 4096, "with the mark of its owner behind the data"


@pytest.mark.parametrize("below", ["", "/deeper"])
async def test_the_directory_of_an_osd_is_refused(tmp_path: Path, below: str, golden: Golden) -> None:
    osd = tmp_path / "ceph-3"
    (osd / "deeper").mkdir(parents=True)
    (osd / "whoami").write_text("3\n")
    (osd / "ceph_fsid").write_text("00000000-0000-0000-0000-000000000000\n")
    (tmp_path / "link").symlink_to(osd)
    plan = plans.plan("dd-write", target=f"file:{tmp_path}/link{below}/deleteme", options=["size=1M"])
    (run,) = await carry_out_here(plan, tmp_path, [])
    assert run.outcome == "refused"
    assert "osd.3" in (run.error or "")
    golden.same(run.error or "")
    assert [path.name for path in osd.rglob("deleteme")] == []
