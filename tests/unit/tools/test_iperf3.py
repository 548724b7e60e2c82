"""iperf3: its options, its command lines, its recorded output of two versions, whole, in pieces and spoilt."""

from __future__ import annotations

import itertools
import json
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.models import FilePlace, HostPlace, Node, OptionValue
from cephtui.tools import TOOLS
from cephtui.tools.base import OptionError, Reading, Stream, ToolResult
from cephtui.tools.iperf3.command import Iperf3Workload
from cephtui.tools.iperf3.output import Iperf3Parser
from tests import RECORDINGS
from tests.support.golden import Golden
from tests.support.known import known

IPERF3 = TOOLS["iperf3"]
FOLDERS = {version: RECORDINGS / f"iperf3-{version}" for version in ("3.12", "3.18")}
"""Two hosts with a link of 200 Mbit/s one way and 400 Mbit/s back (``tc qdisc ... tbf``): ``out`` of 4 s after a ramp
of 2 s, ``in`` and ``both`` (2 streams) of 4 s after 1 s, ``retr`` with 4 streams and too small a queue, ``stopped`` by
TERM after 3.4 s and ``killed``, whose server was. 3.12 was asked for ``-V -f k``, 3.18 for ``--json-stream``."""
RECORDED = {"out": ("out", 1), "in": ("in", 1), "both": ("both", 2), "retr": ("out", 4), "stopped": ("out", 1),
            "killed": ("out", 1)}  # fmt: skip
"""Direction and streams of each."""
PLACE = HostPlace(kind="host", host="b", addresses={"public": "10.1.1.2", "cluster": "10.2.2.2"}, port=5201)
each_version = pytest.mark.parametrize("version", FOLDERS)


def check(**options: object) -> dict[str, OptionValue]:
    return IPERF3.check_options({name.replace("_", "-"): value for name, value in options.items()})


def bind(**options: object) -> Iperf3Workload:
    found = IPERF3.bind(check(**options))
    assert isinstance(found, Iperf3Workload)
    return found


# ---------------------------------------------------------------------------------------------- options, commands


def test_defaults() -> None:
    assert check() == {"runtime": 10, "direction": "out", "parallel": 1, "network": "public", "omit": 1}
    assert check(runtime="2m", window="256k") == {**check(), "runtime": 120, "window": "256k"}


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("runtime", 0),
        ("runtime", "1.5"),
        ("parallel", 129),
        ("direction", "up"),
        ("network", "x"),
        ("omit", 61),
        ("length", "2M"),
        ("window", "1G"),
        ("reverse", True),
        ("time", 5),
        ("udp", True),
        ("bind", "10.0.0.1"),
        ("logfile", "/x"),
        ("rsa-private-key-path", "/x"),
        ("paralel", 4),
    ],
)
def test_what_is_refused(option: str, value: object, golden: Golden) -> None:
    with golden.raises(OptionError):
        check(**{option: value})


def test_the_client_sends_to_the_address_in_the_network_that_is_asked_for() -> None:
    assert shlex.join(bind(runtime=5).argv("network", 0, PLACE)) == (
        "iperf3 -c 10.1.1.2 -p 5201 -t 5 -O 1 --connect-timeout 5000 -i 1 --forceflush -V -f k"
    )
    words = bind(direction="both", parallel=4, network="cluster", window="1M", length="64k", zerocopy=True)
    assert shlex.join(words.argv("network", 0, PLACE)) == (
        "iperf3 -c 10.2.2.2 -p 5201 -t 10 -O 1 -P 4 --bidir --window=1M --length=64k --zerocopy --connect-timeout 5000 "
        "-i 1 --forceflush -V -f k"
    )
    assert "--reverse" in bind(direction="in").argv("network", 0, PLACE)
    typed = PLACE.model_copy(update={"addresses": {"": "10.9.9.9"}})
    assert bind(network="cluster").argv("network", 0, typed)[2] == "10.9.9.9", "what was typed counts"
    unknown = PLACE.model_copy(update={"addresses": {}})
    assert bind().argv("network", 0, unknown)[2] == "b", "before its node was asked"


@pytest.mark.parametrize(
    ("version", "as_json"),
    [
        ("", False),
        ("iperf 3.12 (cJSON 1.7.15)", False),
        ("iperf 3.16", False),
        ("iperf 3.17", True),
        ("iperf 4.0", True),
    ],
)
def test_the_version_decides_what_it_prints(version: str, as_json: bool) -> None:
    argv = bind().for_version(version).argv("network", 0, PLACE)
    assert ("--json-stream" in argv, "-V" in argv) == (as_json, not as_json)


def test_a_network_that_the_target_is_not_in_is_refused(golden: Golden) -> None:
    alone = PLACE.model_copy(update={"addresses": {"public": "10.1.1.2"}})
    with golden.raises(OptionError):
        bind(network="cluster").argv("network", 0, alone)


def test_the_server_serves_one_test_on_one_address() -> None:
    (server,) = bind(network="cluster").companions([Node(name="a")], PLACE)
    assert (server.name, server.node, server.ready) == ("server", "b", "Server listening")
    assert shlex.join(server.argv) == "iperf3 -s -1 -B 10.2.2.2 -p 5201 --idle-timeout 15 --forceflush"


@each_version
def test_the_recorded_server_says_that_it_is_ready_before_a_client_comes(version: str) -> None:
    said = (FOLDERS[version] / "out.server.stdout").read_text()
    (server,) = bind().companions([Node(name="a")], PLACE)
    assert server.ready in said.partition("Accepted connection")[0]


def test_it_writes_no_data_and_needs_none() -> None:
    workload = bind(parallel=4, omit=2, runtime=20)
    assert not workload.writes()
    assert not workload.needs_data("host")
    assert workload.times() == (2.0, 20.0)
    assert workload.jobs_and_size(1 << 30) == (1, 0)
    assert workload.describe() == "out, 4 streams, public network, 20 s"
    assert bind(direction="both").describe() == "both, 1 stream, public network, 10 s"
    assert (workload.load().jobs, workload.load().pattern) == (4, "write")


def test_versions(golden: Golden) -> None:
    assert IPERF3.check_version("iperf 3.12 (cJSON 1.7.15)") is None
    for text in ("iperf 3.9", None):
        golden.same(IPERF3.check_version(text))


# ---------------------------------------------------------------------------------------------- output


def pieces_of(version: str, name: str) -> list[tuple[Stream, bytes]]:
    found: list[tuple[Stream, bytes]] = []
    for stream in ("stdout", "stderr"):
        path = FOLDERS[version] / f"{name}.{stream}"
        if path.exists():
            found.append((stream, path.read_bytes()))
    return found


def parsed(name: str, pieces: list[tuple[Stream, bytes]]) -> tuple[list[Reading], ToolResult]:
    parser = Iperf3Parser(*RECORDED[name])
    readings = [reading for stream, data in pieces for reading in parser.feed(stream, data, 0.0)]
    return [*readings, *parser.finish()], parser.result()


def megabits(rate: float | None) -> int:
    return round(8 * known(rate) / 1e6)


@each_version
def test_what_is_sent_is_a_write_and_the_ramp_is_left_out(version: str) -> None:
    readings, result = parsed("out", pieces_of(version, "out"))
    assert [reading.phase for reading in readings] == ["ramp"] * 2 + ["run"] * 4
    assert [round(reading.elapsed_seconds) for reading in readings] == [1, 2, 3, 4, 5, 6], "by one clock"
    assert all(abs(reading.interval_seconds - 1) < 0.01 for reading in readings)
    assert all(185 < megabits(known(reading.write).bandwidth_bytes) < 210 for reading in readings)
    assert {reading.read for reading in readings} == {None}
    write = known(result.write)
    assert (write.ios, write.iops, write.buckets, write.moments) == (None, None, {}, None), "it has none of these"
    assert megabits(write.bandwidth_bytes) == 191, "what has arrived, as the receiver has counted it"
    assert write.retransmits == 0
    measured = sum(known(reading.write).bytes for reading in readings if reading.phase == "run")
    assert measured == pytest.approx(write.bytes, rel=0.01)
    assert (result.read, result.error, result.findings) == (None, None, ())


@each_version
def test_what_is_received_is_a_read(version: str) -> None:
    readings, result = parsed("in", pieces_of(version, "in"))
    assert [reading.phase for reading in readings] == ["ramp"] + ["run"] * 4
    assert {reading.write for reading in readings} == {None}
    assert {megabits(known(reading.read).bandwidth_bytes) for reading in readings} <= {382, 383, 384, 385}
    assert megabits(known(result.read).bandwidth_bytes) == 382
    assert {known(reading.read).retransmits for reading in readings} == {None}, "only the sender knows"
    assert known(result.read).retransmits == 0
    assert result.write is None


@each_version
def test_both_directions_are_one_reading_a_second(version: str) -> None:
    readings, result = parsed("both", pieces_of(version, "both"))
    assert [reading.phase for reading in readings] == ["ramp"] + ["run"] * 4
    assert all(reading.read and reading.write for reading in readings)
    assert [round(reading.elapsed_seconds) for reading in readings] == [1, 2, 3, 4, 5]
    assert (megabits(known(result.read).bandwidth_bytes), megabits(known(result.write).bandwidth_bytes)) in (
        (374, 191),
        (372, 191),
    )


@each_version
def test_of_several_streams_the_sum_counts_with_its_retransmits(version: str) -> None:
    readings, result = parsed("retr", pieces_of(version, "retr"))
    counted = [known(known(reading.write).retransmits) for reading in readings if reading.phase == "run"]
    assert len(counted) == 4
    assert min(counted) > 3000
    assert known(result.write).retransmits == sum(counted)
    assert 80 < megabits(known(result.write).bandwidth_bytes) < 95


def test_only_json_knows_the_round_trip_time() -> None:
    readings, result = parsed("out", pieces_of("3.18", "out"))
    assert all(0.002 < known(known(reading.write).rtt_seconds) < 0.01 for reading in readings)
    assert known(result.write).rtt_seconds == pytest.approx(0.003952)
    readings, result = parsed("out", pieces_of("3.12", "out"))
    assert {known(reading.write).rtt_seconds for reading in readings} == {known(result.write).rtt_seconds} == {None}


@each_version
def test_after_a_stop_what_was_sent_counts(version: str) -> None:
    readings, result = parsed("stopped", pieces_of(version, "stopped"))
    assert readings[-1].interval_seconds == pytest.approx(0.47, abs=0.01)
    assert known(result.write).runtime_seconds == pytest.approx(2.47, abs=0.01), (
        "not 0 bytes, as the receiver's line has it"
    )
    assert megabits(known(result.write).bandwidth_bytes) in (190, 194)


@each_version
def test_a_lost_server_is_the_error_and_its_last_line_is_not_counted_twice(version: str, golden: Golden) -> None:
    readings, result = parsed("killed", pieces_of(version, "killed"))
    assert len(readings) == 3
    assert known(result.write).runtime_seconds == pytest.approx(3.0, abs=0.01)
    golden.same(known(result.error))


@pytest.mark.parametrize("reason", ["Connection refused", "Connection timed out"])
def test_errors_are_one_line_with_the_next_step(reason: str, golden: Golden) -> None:
    _, result = parsed("out", [("stderr", f"iperf3: error - unable to connect to server: {reason}\n".encode())])
    golden.same(result.error)
    assert result.flows == {}


@pytest.mark.parametrize("stderr", [b"warning: Report format (-f) flag ignored with JSON output (-J)\n", b""])
def test_what_is_no_error_is_not_told(stderr: bytes) -> None:
    _, result = parsed("out", [("stderr", stderr)])
    assert (result.error, result.flows) == (None, {})


def test_an_error_in_json_is_told_alike(golden: Golden) -> None:
    lines = b'{"event":"error","data":"unable to connect to server: Connection refused"}\n{"event":"end","data":{}}\n'
    _, result = parsed("out", [("stdout", lines)])
    golden.same(result.error, "tools/iperf3: errors are one line with the next step [0] 1")


CPU = b"CPU Utilization: local/sender %d%% (1.0%%u/%d.0%%s), remote/receiver %d%% (1.0%%u/9.0%%s)\n"


@pytest.mark.parametrize(
    ("version", "streams", "local", "remote", "limits"),
    [
        (b"3.12", 4, 97, 40, True),
        (b"3.12", 1, 40, 99, True),
        (b"3.18", 1, 97, 40, True),
        (b"3.18", 4, 97, 40, False),
        (b"3.12", 4, 60, 60, False),
    ],
)
def test_a_thread_that_limits_is_a_finding(
    version: bytes, streams: int, local: int, remote: int, limits: bool, golden: Golden
) -> None:
    parser = Iperf3Parser("out", streams)
    parser.feed("stdout", b"iperf " + version + b"\n" + CPU % (local, local - 1, remote), 0.0)
    result = parser.result()
    assert (result.cpu_user_percent, result.cpu_system_percent) == (1.0, local - 1.0)
    assert [finding.code for finding in result.findings] == ["one-thread"] * limits
    for finding in result.findings:
        golden.same(finding.text)


@each_version
@pytest.mark.parametrize("name", RECORDED)
@given(data=st.data())
def test_output_cut_anywhere_gives_the_same(version: str, name: str, data: st.DataObject) -> None:
    whole = pieces_of(version, name)
    cut: list[tuple[Stream, bytes]] = []
    for stream, text in whole:
        at = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
        edges = [0, *at, len(text)]
        cut += [(stream, text[a:b]) for a, b in itertools.pairwise(edges)]
    assert parsed(name, cut) == parsed(name, whole)


@given(st.data())
def test_spoilt_output_raises_nothing(data: st.DataObject) -> None:
    version, name = data.draw(st.sampled_from([*FOLDERS])), data.draw(st.sampled_from([*RECORDED]))
    text = bytearray(pieces_of(version, name)[0][1])
    for at in data.draw(st.lists(st.integers(0, len(text) - 1), max_size=20)):
        text[at] = data.draw(st.integers(0, 255))
    readings, result = parsed(name, [("stdout", bytes(text)), ("stderr", data.draw(st.binary(max_size=200)))])
    assert all(reading.interval_seconds > 0 for reading in readings)
    assert all(flow.bytes >= 0 and flow.runtime_seconds > 0 for flow in result.flows.values())


@given(st.binary())
def test_any_bytes_raise_nothing(data: bytes) -> None:
    for direction in ("out", "in", "both"):
        parser = Iperf3Parser(direction, 1)
        parser.feed("stdout", data, 0.0)
        parser.feed("stdout", b"\n" + data, 0.0)
        parser.finish()
        parser.result()


@given(
    st.sampled_from(["start", "interval", "end", "error"]),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.integers(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["sum", "streams", "start", "end", "bytes", "sender", "sum_sent", "retransmits", "version"]
                ),
                inner,
                max_size=5,
            )
        ),
        max_leaves=20,
    ),
)
def test_json_of_any_shape_raises_nothing(kind: str, value: object) -> None:
    parser = Iperf3Parser("out", 1)
    parser.feed("stdout", json.dumps({"event": kind, "data": value}).encode() + b"\n", 0.0)
    parser.result()


def test_a_place_that_is_no_host_has_no_address() -> None:
    assert bind().argv("network", 0, FilePlace(kind="file", path="/x"))[2] == ""


def test_no_port_is_shown_before_one_is_known() -> None:
    unknown = PLACE.model_copy(update={"port": 0})
    (server,) = bind().companions([Node(name="a")], unknown)

    assert "-p" not in {*bind().argv("network", 0, unknown), *server.argv}
