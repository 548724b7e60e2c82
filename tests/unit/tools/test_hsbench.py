"""hsbench: its options and command line, its lines as readings, and keys that are in its memory only."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.models import Kind, S3Place
from cephtui.running.outcomes import decide
from cephtui.stats import total
from cephtui.tools import TOOLS
from cephtui.tools.base import OptionError, Reading, ToolResult
from cephtui.tools.hsbench.command import START, HsbenchWorkload
from cephtui.tools.hsbench.output import HsbenchParser
from tests import RECORDINGS
from tests.support.golden import Golden
from tests.support.known import known

RECORDED = RECORDINGS / "hsbench"
TOOL = TOOLS["hsbench"]
PLACE = S3Place(kind="s3", endpoint="http://gw:7480", bucket_prefix="cephtui-1-")
WHOLE = (RECORDED / "4k-put-get-delete.txt").read_bytes()
KEYS = ("canary-access", "canary-secret-key")


def workload(**options: object) -> HsbenchWorkload:
    bound = TOOL.bind(TOOL.check_options(options))
    assert isinstance(bound, HsbenchWorkload)
    return bound


def parsed(data: bytes, *cuts: int, block: int = 4096, threads: int = 4) -> tuple[list[Reading], ToolResult]:
    """The lines of a recording, each when hsbench printed it; cut further where that is asked for."""
    parser, readings, begun = HsbenchParser(block, threads), [], None
    ends = sorted({*cuts, *(found.end() for found in re.finditer(rb"\n", data)), len(data)})
    seconds = 0.0
    for start, end in zip([0, *ends], ends, strict=False):
        if time_of := re.search(rb" (\d\d):(\d\d):(\d\d) ", data[data.rfind(b"\n", 0, start) + 1 : end]):
            hours, minutes, rest = map(int, time_of.groups())
            begun = begun if begun is not None else 3600 * hours + 60 * minutes + rest
            seconds = 3600 * hours + 60 * minutes + rest - begun
        readings += parser.feed("stderr", data[start:end], seconds)
    return [*readings, *parser.finish()], parser.result()


# ---------------------------------------------------------------------------------------------- options, command


def test_the_command_names_its_operations_and_never_those_that_empty_buckets() -> None:
    argv = workload(size="64K", threads=8, runtime="1m", buckets=2, modes="pg").argv("s3", 1 << 40, PLACE)
    assert argv[3:] == (
        *(START, "hsbench", "-u", "http://gw:7480", "-bp", "cephtui-1-", "-b", "2"),
        *("-m", "ipg", "-d", "60", "-t", "8", "-z", "65536B"),
    )
    assert not {"-a", "-s", "-j", "-o", "-n"} & {*argv}
    assert workload().display_command(argv, PLACE) == argv[4:]  # and not the script before it


def test_its_load_is_no_plain_write_where_it_reads_too() -> None:
    assert [workload(modes=modes).load().pattern for modes in ("plgd", "pl", "pg")] == ["mixed", "write", "mixed"]


def test_what_it_does_and_how_long(golden: Golden) -> None:
    usual = workload()
    golden.same(usual.describe())
    assert (usual.times(), usual.most_seconds()) == ((0.0, None), 300.0)
    assert workload(modes="p", runtime=10).most_seconds() == 130.0
    golden.same(workload(modes="p").describe())
    load = usual.load()
    assert (load.block_bytes, load.depth, load.jobs) == (4 << 20, 16, 1)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("modes", "g"),
        ("modes", "cxipgd"),
        ("modes", "ppg"),
        ("modes", "px"),
        ("modes", ""),
        ("size", "6G"),
        ("threads", 0),
        ("runtime", 0.5),
        ("secret_key", "x"),
        ("n", 5),
        ("thread", 5),
    ],
)
def test_what_can_not_be_set_is_refused(option: str, value: object, golden: Golden) -> None:
    with pytest.raises(OptionError) as error:
        TOOL.check_options({option: value})
    assert error.value.option == option
    golden.same(str(error.value))


def test_it_uses_s3_only_and_says_how_to_get_it(golden: Golden) -> None:
    assert TOOL.check_kind("s3") is None
    others: list[Kind] = ["file", "device", "pool", "rbd", "image"]
    assert {TOOL.check_kind(kind) for kind in others} == {TOOL.other_kinds}
    assert TOOL.check_version("hsbench 0.1") is None
    golden.same(TOOL.check_version("") or "")


# ---------------------------------------------------------------------------------------------- output


def test_operations_are_flows_of_their_own() -> None:
    readings, result = parsed(WHOLE)
    write, read = known(result.write), known(result.read)
    assert (write.ios, write.bytes) == (1042, 1042 * 4096)
    assert write.iops == pytest.approx(1042 / 5.0, rel=0.01)
    assert known(write.moments).mean == pytest.approx(0.0193)
    assert write.bounds == (0.0023, 0.7372)
    assert known(total(write)).latency_p99_seconds == 0.1513
    deleted, listed = result.other["delete"], result.other["list"]
    assert (deleted.ios, deleted.bytes, listed.ios, listed.bytes) == (854, 0, 2, 0), "no data is moved"
    assert (deleted.bandwidth_bytes, listed.bandwidth_bytes) == (None, None)
    assert (result.error, result.failed) == (None, False)
    assert [finding.code for finding in result.findings] == ["first-byte"]
    for name, flow in result.flows.items():
        intervals = [reading.flows[name] for reading in readings if name in reading.flows]
        assert sum(known(interval.ios) for interval in intervals) == flow.ios, name
        assert sum(interval.bytes for interval in intervals) == flow.bytes, name
    assert {*result.flows} == {"read", "write", "list", "delete"}
    assert read.ios == sum(known(reading.read.ios) for reading in readings if reading.read)


def test_an_interval_has_the_figures_of_its_line() -> None:
    readings, _ = parsed(WHOLE)
    first = readings[0]
    write = known(first.write)
    assert (first.phase, first.interval_seconds, write.ios, write.iops) == ("run", 1.0, 236, 236.0)
    assert (write.latency_mean_seconds, write.latency_p99_seconds, write.latency_buckets) == (0.0165, 0.1296, None)
    ends = [reading.elapsed_seconds for reading in readings]
    assert ends == sorted(ends)
    assert all(reading.interval_seconds >= 0.5 for reading in readings if not reading.other)


def test_what_the_intervals_leave_is_the_rest() -> None:
    begin = b"2026/11/21 09:54:41 Running Loop 0 OBJECT PUT TEST\n"
    latency = b"Lat(ms): [ min: 1.0, avg: 2.0, 99%: 3.0, max: 4.0 ], Slowdowns: 0\n"
    lines = [
        begin,
        b"Loop: 0, Int: 0, Dur(s): 1.0, Mode: PUT, Ops: 10, MB/s: 0.04, IO/s: 10, " + latency,
        b"Loop: 0, Int: TOTAL, Dur(s): 2.0, Mode: PUT, Ops: 17, MB/s: 0.04, IO/s: 9, " + latency,
    ]
    parser = HsbenchParser(4096, 1)
    readings = [
        reading for at, line in zip((5.0, 6.5, 6.97), lines, strict=True) for reading in parser.feed("stderr", line, at)
    ]
    assert [(r.elapsed_seconds, round(r.interval_seconds, 3), known(r.write).ios) for r in readings] == [
        (6.0, 1.0, 10),
        (6.97, 0.97, 7),
    ]
    assert known(readings[1].write).latency_mean_seconds is None, "no line has it"
    assert known(parser.result().write).runtime_seconds == pytest.approx(1.97)


def test_a_short_rest_is_joined_with_the_interval_before_it() -> None:
    """Some requests end a moment after the time: their rate in that moment means nothing."""
    latency = b"Lat(ms): [ min: 1.0, avg: 2.0, 99%: 3.0, max: 4.0 ], Slowdowns: 0\n"
    parser = HsbenchParser(4096, 4)
    assert parser.feed("stderr", b"Running Loop 0 OBJECT PUT TEST\n", 0.0) == []
    interval = b"Loop: 0, Int: 0, Dur(s): 1.0, Mode: PUT, Ops: 149, MB/s: 0.58, IO/s: 149, "
    whole = b"Loop: 0, Int: TOTAL, Dur(s): 1.0, Mode: PUT, Ops: 153, MB/s: 0.58, IO/s: 149, "
    assert parser.feed("stderr", interval + latency, 1.0) == []
    (reading,) = parser.feed("stderr", whole + latency, 1.03)
    write = known(reading.write)
    assert (write.ios, write.latency_p99_seconds) == (153, None)
    assert write.iops == pytest.approx(149, rel=0.01)


def test_intervals_that_come_late_are_of_their_own_time() -> None:
    parser = HsbenchParser(4 << 20, 2)
    parser.feed("stderr", b"Running Loop 0 OBJECT GET TEST\n", 10.0)
    text = "".join(
        f"Loop: 0, Int: {n}, Dur(s): 1.0, Mode: GET, Ops: {n}, MB/s: 4.00, IO/s: {n}, "
        "Lat(ms): [ min: 0.0, avg: 0.0, 99%: 0.0, max: 0.0 ], Slowdowns: 0\n"
        for n in range(4)
    )
    readings = [*parser.feed("stderr", text.encode(), 14.5), *parser.finish()]
    assert [(r.elapsed_seconds, known(r.read).ios) for r in readings] == [(11.0, 0), (12.0, 1), (13.0, 2), (14.0, 3)]


def test_threads_that_have_died_are_told_and_with_all_of_them_it_has_failed(golden: Golden) -> None:
    _, result = parsed((RECORDED / "quota.txt").read_bytes(), block=65536)
    (text,) = (finding.text for finding in result.findings if finding.code == "errors")
    golden.same(text)
    assert (result.failed, result.error) == (True, text)
    assert decide(0, None, result) == ("failed", text), "though it ends with status 0"
    _, some = parsed((RECORDED / "quota.txt").read_bytes(), block=65536, threads=6)
    assert not some.failed
    assert decide(0, None, some)[0] == "ok"
    golden.same([finding.text for finding in some.findings if finding.code == "errors"])


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("wrong-secret", "Unable to create bucket hotsauce-bench000000000000: SignatureDoesNotMatch: status 403"),
        (
            "refused",
            "Unable to create bucket hotsauce-bench000000000000: dial tcp 127.0.0.1:1: connect: connection refused",
        ),
    ],
)
def test_why_it_could_not_begin_is_told_in_one_line(name: str, error: str) -> None:
    readings, result = parsed((RECORDED / f"{name}.txt").read_bytes())
    assert (readings, result.flows, result.error) == ([], {}, error)
    assert decide(1, None, result) == ("failed", error)


@pytest.mark.parametrize("text", ["cephtui: the keys can't be given to hsbench: x", "sh: 1: /opt/hsbench: not found"])
def test_why_it_was_not_started_is_told(text: str) -> None:
    assert parsed(f"{text}\n".encode())[1].error == text


def test_what_was_stopped_has_the_figures_of_its_intervals() -> None:
    cut = WHOLE.index(b"Int: 4, Dur(s): 1.0, Mode: PUT")
    readings, result = parsed(WHOLE[:cut])
    write = known(result.write)
    assert (write.ios, write.runtime_seconds) == (236 + 16 + 196 + 251, 4.0)
    assert write.p99_seconds is None, "that of the whole is not known"
    assert sum(known(known(reading.write).ios) for reading in readings) == write.ios


@given(st.lists(st.integers(0, len(WHOLE)), max_size=20))
def test_it_is_the_same_wherever_it_is_cut(cuts: list[int]) -> None:
    assert parsed(WHOLE, *cuts)[1] == parsed(WHOLE)[1]


@given(st.binary(max_size=300), st.integers(0, len(WHOLE)), st.sampled_from(["stdout", "stderr"]))
def test_garbage_is_no_error_of_the_parser(data: bytes, at: int, stream: str) -> None:
    parser = HsbenchParser(4096, 4)
    for piece in (WHOLE[:at], data, WHOLE[at:]):
        parser.feed("stdout" if stream == "stdout" else "stderr", piece, 1.0)
    parser.finish()
    parser.result()


@pytest.mark.parametrize("figure", ["NaN", "+Inf", "-Inf"])
def test_rates_of_nothing_are_read(figure: str) -> None:
    line = f"Loop: 0, Int: TOTAL, Dur(s): 0.0, Mode: LIST, Ops: 0, MB/s: {figure}, IO/s: {figure}, "
    readings, result = parsed(f"{line}Lat(ms): [ min: 0.0, avg: 0.0, 99%: 0.0, max: 0.0 ], Slowdowns: 0\n".encode())
    assert (readings, result.flows, result.error) == ([], {}, None)


# ---------------------------------------------------------------------------------------------- keys in memory

HELD = """
import os, sys, time
copied = [name + b"=" + value for name, value in os.environb.items()]
print("first line", file=sys.stderr, flush=True)
keys = dict(each.decode().split("=", 1) for each in copied)
print(keys["AWS_ACCESS_KEY_ID"], len(keys["AWS_SECRET_ACCESS_KEY"]), keys["AWS_SECRET_ACCESS_KEY"][::-1], flush=True)
"""


def started(*command: str, keys: Sequence[str] = KEYS) -> subprocess.Popen[str]:
    argv = workload().argv("s3", 0, PLACE)[:4]
    process = subprocess.Popen(
        [*argv, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdin
    process.stdin.write("".join(f"{key}\n" for key in keys))
    process.stdin.close()
    process.stdin = None
    return process


def test_keys_get_into_the_memory_of_a_program_and_not_into_its_environment() -> None:
    """It reads them from its copy of the environment, which others can't see."""
    look = "print(open('/proc/self/environ').read().count('canary'), flush=True); print('last', file=sys.stderr)"
    with started(sys.executable, "-c", HELD + look) as process:
        stdout, stderr = process.communicate(timeout=60)
    assert stdout == f"{KEYS[0]} {len(KEYS[1])} {KEYS[1][::-1]}\n0\n"
    assert (process.returncode, stderr) == (0, "first line\nlast\n")


@pytest.mark.parametrize(("script", "status"), [("sys.exit(3)", 3), ("os.kill(os.getpid(), 9)", 137)])
def test_its_status_is_that_of_the_program(script: str, status: int) -> None:
    with started(sys.executable, "-c", HELD + script) as process:
        process.communicate(timeout=60)
    assert process.returncode == status


def test_term_ends_the_program_and_its_last_words_are_passed_on() -> None:
    waits = "import signal\ndef end(*_):\n  print('ended', file=sys.stderr, flush=True)\n  sys.exit(5)\n"
    waits += "signal.signal(signal.SIGTERM, end)\nprint('waits', flush=True)\ntime.sleep(60)"
    with started(sys.executable, "-c", HELD + waits) as process:
        assert process.stdout
        while "waits" not in process.stdout.readline():
            pass
        os.killpg(process.pid, signal.SIGTERM)  # as timeout(1) does
        _, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (5, "first line\nended\n")


def test_a_program_that_keeps_no_copy_is_ended_before_it_goes_on(tmp_path: Path) -> None:
    """As where this user may not write to its memory: nothing was given to it, and nothing was done."""
    made = tmp_path / "made"
    script = f'env -i sh -c "echo first >&2; touch {made}"'
    with started("sh", "-c", f"exec {script}") as process:
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 79
    assert "the keys can't be given to sh: this user may not write to the memory of its processes" in stderr
    assert not made.exists()


def test_what_is_missing_is_told_as_the_shell_tells_it(golden: Golden) -> None:
    with started("/nonexistent/hsbench") as process:
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 127
    assert "/nonexistent/hsbench: No such file or directory" in stderr
    with started("true", keys=KEYS[:1]) as process:
        golden.same(process.communicate(timeout=60)[1])
    assert process.returncode == 79
