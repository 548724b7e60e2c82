"""gosbench: options, and what its worker prints, parsed against recordings of a real radosgw."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui import stats
from cephtui.models import OptionValue, S3Place
from cephtui.tools.base import OptionError, Parser, Reading, Stream, ToolResult
from cephtui.tools.gosbench import Gosbench
from cephtui.tools.gosbench.command import GosbenchWorkload
from cephtui.tools.gosbench.log import is_error, message_of
from cephtui.tools.gosbench.output import GosbenchParser
from tests import RECORDINGS, ROOT
from tests.support.golden import Golden

RECORDED = RECORDINGS / "gosbench-0.7"
KIB = 1 << 10
GOSBENCH = Gosbench()


# ---------------------------------------------------------------------------------------------- options


def test_what_is_not_given_is_decided() -> None:
    assert GOSBENCH.check_options({"write_weight": 1}) == {
        "write_weight": 1,
        "read_weight": 0,
        "delete_weight": 0,
        "list_weight": 0,
        "size_min": "4M",
        "size_distribution": "constant",
        "objects": 100,
        "buckets": 1,
        "parallel_clients": 16,
        "runtime": 60.0,
    }
    assert "runtime" not in GOSBENCH.check_options({"write_weight": 1, "stop_with_ops": 100})


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"objects": 10, "buckets": 10, "stop_with_ops": 10},
        {"stop_with_ops": 500, "runtime": 5},
        {"size_distribution": "random"},
        {"size_max": "8M"},
        {"size_distribution": "sequential"},
        {"size_min": "8G"},
        {"size_min": "1G", "parallel_clients": 5},
        {"objects": 1000, "buckets": 1000},
        {"secret_key": "S"},
        {"bucket_prefix": "a"},
        {"workers": 2},
        {"existing_read_weight": 1},
        {"stop_with_runtime": "60s"},
        {"read_wieght": 1},
        {"parallel_clients": True},
    ],
)
def test_what_can_not_be_measured_is_refused_before_it_runs(options: dict[str, OptionValue], golden: Golden) -> None:
    with golden.raises(OptionError):
        GOSBENCH.check_options({**({"write_weight": 1} if options else {}), **options})


# ---------------------------------------------------------------------------------------------- command

PLACE = S3Place(kind="s3", endpoint="http://gw:7480", bucket_prefix="cephtui-0123abcd-")


def workload(**options: OptionValue) -> GosbenchWorkload:
    return GosbenchWorkload(
        GOSBENCH.check_options({"write_weight": 50, "read_weight": 50, "size_min": "64k", **options})
    )


def test_the_config_has_our_buckets_path_style_and_no_keys() -> None:
    argv = workload(runtime=5, objects=20, parallel_clients=4).argv("s3-mixed", 0, PLACE)
    config = json.loads(argv[-1])
    assert (argv[:2], argv[-2]) == (("python3", "-c"), "gosbench")
    assert config["s3_config"] == [
        {"region": "us-east-1", "endpoint": "http://gw:7480", "skipSSLverify": False, "usePathStyle": True}
    ]
    (test,) = config["tests"]
    assert (test["bucket_prefix"], test["workers_share_buckets"]) == ("cephtui-0123abcd-", True)
    assert (test["workers"], test["clean_after"], test["parallel_clients"]) == (1, False, 4)
    assert test["stop_with_runtime"] == "5s"
    assert "stop_with_ops" not in test
    assert (test["objects"]["size_min"], test["objects"]["unit"], test["objects"]["number_min"]) == (65536, "B", 20)
    assert workload().display_command(argv, PLACE) == ("gosbench", argv[-1])  # and not the programs before it
    assert GOSBENCH.short_command(shlex.join(argv)) == (
        "gosbench endpoint=http://gw:7480 write_weight=50 read_weight=50 size_min=64k objects=20 buckets=1 "
        "parallel_clients=4 stop_with_runtime=5s bucket_prefix=cephtui-0123abcd-"
    )


@pytest.mark.parametrize("text", ["", "{}", "'{\"tests\":[]}'", "'", '{"s3_config":[1],"tests":[2]}', "[[[["])
def test_the_short_command_of_what_is_none_is_its_end(text: str) -> None:
    assert GOSBENCH.short_command(f"python3 -c x {text}") == f"gosbench {text}"


def test_the_end_may_be_a_number_of_operations() -> None:
    work = workload(stop_with_ops=500)
    (test,) = json.loads(work.argv("s3-mixed", 0, PLACE)[-1])["tests"]
    assert test["stop_with_ops"] == 500
    assert "stop_with_runtime" not in test
    assert (work.times(), work.most_seconds()) == ((0.0, None), None)
    assert work.describe() == "64k objects, PUT 50, GET 50, 16 clients, 500 operations"


def test_the_room_that_it_needs_is_known_before(golden: Golden) -> None:
    assert workload(objects=20, parallel_clients=4).jobs_and_size(1 << 40) == (1, 2 * 24 * 64 * KIB)
    with golden.raises(OptionError):
        workload().jobs_and_size(1 << 20)


def test_what_is_prepared_takes_its_time() -> None:
    assert workload(read_weight=0).prepare_seconds() == 5.0, "a PUT needs no data; its server rests"
    assert workload(objects=1000).prepare_seconds() == pytest.approx(5 + 500 * (0.01 + 65536 / 100e6), abs=0.1)


def test_versions(golden: Golden) -> None:
    assert GOSBENCH.check_version("gosbench 0.7 or later in /opt/gosbench") is None
    for text in ("gosbench 0.6 or older in /opt/gosbench", None):
        golden.same(GOSBENCH.check_version(text))


def test_its_programs_are_found_by_their_usage(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    for name in ("server", "worker"):
        (tmp_path / "other" / name).write_text("#!/bin/sh\necho another program\n")
        (tmp_path / "other" / name).chmod(0o755)
    stand_in = ROOT / "tests" / "gosbench_stand_in"
    path = f"{tmp_path}/other:{stand_in}:{os.environ['PATH']}"
    asked = subprocess.run(
        GOSBENCH.version_argv, capture_output=True, text=True, check=True, env={**os.environ, "PATH": path}
    )
    assert asked.stdout.endswith(f" {stand_in}\n")
    assert GOSBENCH.check_version(asked.stdout.strip()) is None


# ---------------------------------------------------------------------------------------------- output


def pieces(name: str) -> tuple[bytes, bytes]:
    return (RECORDED / f"{name}.out").read_bytes(), (RECORDED / f"{name}.err").read_bytes()


def parsed(name: str, parser: Parser) -> tuple[list[Reading], ToolResult]:
    out, err = pieces(name)
    readings = [*parser.feed("stdout", out, 0.0), *parser.feed("stderr", err, 0.0), *parser.finish()]
    return readings, parser.result()


def counted(name: str, counter: str, method: str) -> int:
    """The last value of a counter in a recording."""
    found = re.findall(rf'gosbench_{counter}{{method="{method}",testName="cephtui"}} (\S+)', pieces(name)[0].decode())
    return int(float(found[-1])) if found else 0


def test_each_method_is_a_flow_with_the_totals_of_its_counters() -> None:
    readings, result = parsed("mixed", GosbenchParser(0, 4.0))
    assert list(result.flows) == ["read", "write", "delete", "list"]
    for flow, method in (("read", "GET"), ("write", "PUT"), ("delete", "DELETE"), ("list", "LIST")):
        done = result.flows[flow]
        assert done.ios == counted("mixed", "finished_ops", method) > 0
        assert done.bytes == counted("mixed", "uploaded_bytes", method) + counted("mixed", "downloaded_bytes", method)
        assert sum(reading.flows[flow].ios or 0 for reading in readings if flow in reading.flows) >= done.ios
        assert (done.bandwidth_bytes is None) == (flow in ("delete", "list")), "these move no bytes"
        live = sum(reading.flows[flow].ios or 0 for reading in readings if reading.phase == "run")
        assert live == done.ios, "nothing is lost between the seconds"
    own = re.search(r"PROM VALUES .*Operations:(\d+) .*Duration:([0-9.]+)s", pieces("mixed")[1].decode())
    assert own is not None
    assert sum(flow.ios or 0 for flow in result.flows.values()) == int(own[1])
    assert result.flows["read"].runtime_seconds == pytest.approx(float(own[2]), abs=0.005)
    assert [finding.code for finding in result.findings] == ["coarse"]


def test_a_run_that_lasts_much_longer_than_asked_says_so(golden: Golden) -> None:
    _, result = parsed("mixed", GosbenchParser(0, 1.0))
    golden.same(next(finding.text for finding in result.findings if finding.code == "overrun"))


def test_seconds_are_seconds_and_the_preparation_has_its_own() -> None:
    readings, _ = parsed("mixed", GosbenchParser(0, 4.0))
    before = [reading for reading in readings if reading.phase == "prepare"]
    run = [reading for reading in readings if reading.phase == "run"]
    assert readings == [*before, *run]
    assert len(before) >= 4
    assert all(reading.write and reading.write.ios is None and reading.read is None for reading in before)
    assert sum(reading.write.bytes for reading in before if reading.write) > 10 * 20 * KIB, "prepared through the relay"
    assert min(reading.interval_seconds for reading in run) > 0.5, "no rate of a moment"
    assert sum(reading.interval_seconds for reading in run) == pytest.approx(4, abs=0.7)


def test_latency_is_an_upper_bound() -> None:
    _, result = parsed("mixed", GosbenchParser(0, 4.0))
    assert result.write is not None
    out = pieces("mixed")[0].decode().rpartition("# at ")[2]
    within = {int(e): int(n) for e, n in re.findall(r'bucket{method="PUT",testName="cephtui",le="(\d+)"} (\d+)', out)}
    wanted = 0.99 * max(within.values())
    end = min(end for end, count in within.items() if count >= wanted)
    p99 = stats.percentile_seconds(result.write.buckets, 99.0)
    assert p99 == pytest.approx((end + 1) / 1e3, rel=0.01), "times are cut to whole ms: 8.9 ms is in the range up to 8"
    assert sum(result.write.buckets.values()) == result.write.ios
    spent = int(re.findall(r'latency_sum{method="PUT",testName="cephtui"} (\d+)', out)[-1])
    assert result.write.moments is not None
    assert result.write.moments.mean == pytest.approx(spent / 1e3 / (result.write.ios or 1))


def test_what_failed_is_no_operation_and_has_no_bytes(golden: Golden) -> None:
    _, result = parsed("gateway-killed", GosbenchParser(64 * KIB, 6.0))
    assert result.read is not None
    assert result.write is not None
    assert (result.read.ios, result.write.ios) == (29, 26)
    assert (result.read.bytes, result.write.bytes) == (29 * 64 * KIB, 26 * 64 * KIB)
    golden.same(finding.text for finding in result.findings if finding.code == "failed-ops")
    _, unknown = parsed("gateway-killed", GosbenchParser(0, 6.0))
    golden.same(finding.text for finding in unknown.findings if finding.code == "failed-ops")


def test_what_failed_has_the_first_error_of_its_own_method() -> None:
    """All are in one log, which may have one of another method, or of the preparation, before it."""
    parser = GosbenchParser(0, None)
    failed = 'worker: time="T" level=error msg="{}" error="operation error S3: {}, {}"\n'
    log = [
        ("Error during work preparation - ignoring", "GetObject", "before"),
        ("Issues when performing work - ignoring", "PutObject", "first of PUT"),
        ("Issues when performing work - ignoring", "ListObjectsV2", "first of LIST"),
        ("Issues when performing work - ignoring", "ListObjectsV2", "second"),
    ]
    parser.feed("stderr", "".join(failed.format(*each) for each in log).encode(), 0.0)
    counts = [f'gosbench_failed_ops{{method="{name}",testName="cephtui"}} 3\n' for name in ("GET", "PUT", "LIST")]
    parser.feed("stdout", f"# at 1.0 working 0 0\n# end\n# at 9.0 done 0 0\n{''.join(counts)}# end\n".encode(), 0.0)
    values = [finding.values for finding in parser.result().findings]
    assert {str(each["operation"]): str(each.get("why", ""))[-13:] for each in values} == {
        "GET": "",
        "PUT": " first of PUT",
        "LIST": "first of LIST",
    }
    _, recorded = parsed("gateway-killed", GosbenchParser(64 * KIB, 6.0))
    found = {finding.values.get("operation"): str(finding.values.get("why")) for finding in recorded.findings}
    assert "GetObject" in found["GET"]
    assert "PutObject" in found["PUT"]


def test_a_time_without_a_range_is_bounded_by_the_run() -> None:
    lines = [
        b"# at 1.0 working 0 0\n# end\n# at 9.0 done 0 0\n",
        b'gosbench_finished_ops{method="PUT",testName="cephtui"} 2\n',
        b'gosbench_ops_latency_bucket{method="PUT",testName="cephtui",le="4096"} 1\n',
        b'gosbench_ops_latency_bucket{method="PUT",testName="cephtui",le="+Inf"} 2\n# end\n',
    ]
    parser = GosbenchParser(0, None)
    readings = parser.feed("stdout", b"".join(lines), 0.0)
    assert len(readings) == 1
    assert readings[0].write is not None
    buckets = readings[0].write.latency_buckets or {}
    assert [round(stats.bucket_nanoseconds(bucket) / 1e9, 1) for bucket in buckets] == [4.1, 8.0]


def test_it_prepares_and_then_waits_before_it_measures() -> None:
    parser = GosbenchParser(0, None)
    seen = [(parser.is_preparing(), parser.is_prepared())]
    for state in ("preparing", "prepared", "working", "done"):
        parser.feed("stdout", f"# at 1.0 {state} 0 0\n# end\n".encode(), 0.0)
        seen.append((parser.is_preparing(), parser.is_prepared()))
    assert seen == [(True, False), (True, False), (True, True), (False, False), (False, False)]


def test_an_error_is_one_line_in_its_own_words(golden: Golden) -> None:
    _, result = parsed("wrong-secret", GosbenchParser(0, 4.0))
    assert not result.flows
    golden.same(result.error)


@pytest.mark.parametrize("name", ["mixed", "constant", "gateway-killed"])
@given(cuts=st.lists(st.integers(0, 30000), max_size=8))
def test_pieces_cut_anywhere_make_the_same(name: str, cuts: list[int]) -> None:
    out, err = pieces(name)
    whole, parts = GosbenchParser(64 * KIB, 4.0), GosbenchParser(64 * KIB, 4.0)
    wanted = [*whole.feed("stdout", out, 0.0), *whole.finish()]
    whole.feed("stderr", err, 0.0)
    readings: list[Reading] = []
    streams: list[tuple[Stream, bytes]] = [("stdout", out), ("stderr", err)]
    for stream, data in streams:
        edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
        for start, end in itertools.pairwise(edges):
            readings += parts.feed(stream, data[start:end], 0.0)
    assert [*readings, *parts.finish()] == wanted
    assert parts.result() == whole.result()


_WORDS = st.sampled_from(
    [
        b"# at 1.0 working 0 0\n",
        b"# at 0.5 done 9 9\n",
        b"# at 99.9 preparing 5 5\n",
        b"# end\n",
        b'gosbench_finished_ops{method="PUT",testName="cephtui"} 9e+99\n',
        b'gosbench_finished_ops{method="PUT",testName="cephtui"} 7\n',
        b'gosbench_failed_ops{method="PUT",testName="cephtui"} 900\n',
        b'gosbench_uploaded_bytes{method="PUT",testName="cephtui"} 5\n',
        b'gosbench_ops_latency_bucket{method="PUT",testName="cephtui",le="I+I"} 7\n',
        b'gosbench_ops_latency_bucket{method="PUT",testName="cephtui",le="+Inf"} 7\n',
        b'gosbench_ops_latency_bucket{method="PUT",testName="cephtui",le="999999999"} 3\n',
        b'gosbench_test_start{testName="cephtui"} 5\n',
        b'gosbench_test_end{testName="cephtui"} 4.1.2\n',
        b"cephtui: \n",
        b"worker: PROM VALUES {TestName: Operations:1e+99 \n",
    ]
)


@given(st.lists(st.one_of(_WORDS, st.binary(max_size=40)), max_size=30))
def test_anything_else_is_borne(words: list[bytes]) -> None:
    for stream in ("stdout", "stderr"):
        parser = GosbenchParser(4, 4.0)
        for word in words:
            parser.feed(stream, word, 0.0)
        parser.finish()
        parser.result()


@pytest.mark.parametrize(
    ("line", "message", "error"),
    [
        ('time="T" level=info msg="Ready to accept connections"', "Ready to accept connections", False),
        ('time="T" level=error msg="a \\"b\\"" error="c: d"', 'a "b": c: d', True),
        ("panic: runtime error: integer divide by zero", "panic: runtime error: integer divide by zero", False),
        ('level=fatal msg=short error="unfinished', "short: unfinished", True),
        ("", "", False),
    ],
)
def test_lines_of_the_log(line: str, message: str, error: bool) -> None:
    assert (message_of(line), is_error(line)) == (message, error)
