"""Saved output of tools beside fio and rados bench. Figures are read from the text a second time, in another way."""

from __future__ import annotations

import json
import random
import re
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cephtui import paths
from cephtui.cli.verbs import cli
from cephtui.models import Run
from cephtui.sessions import store
from cephtui.sessions.log_files import read_log_file
from cephtui.tools.logs import LINE_MOST, FoundRun, read_log
from cephtui.tools.saved import SAVED
from cephtui.tools.unread import find_unread, problem_of
from tests import RECORDINGS
from tests.support.imported import assert_cuts_are_read_or_named, import_texts
from tests.unit.sessions.importing.test_documents import figures, mutated

FORMS = RECORDINGS / "forms"


def found_in(text: str) -> list[FoundRun]:
    log = read_log(text)
    return sorted((run for saved in SAVED.values() for run in saved.find(log)), key=lambda run: run.line)


def only(text: str) -> FoundRun:
    (found,) = found_in(text)
    return found


def codes(run: FoundRun) -> list[str]:
    return [finding.code for finding in run.findings]


def numbers(text: str) -> list[float]:
    """Every number of a line."""
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]


# ---------------------------------------------------------------------------------------------- rbd bench


def rbd_bench(name: str) -> str:
    lines = (RECORDINGS / "ceph-tools-16.2" / f"{name}.jsonl").read_text().splitlines()[1:]
    return "".join(text for stream, _, text in map(json.loads, lines) if stream == "stdout")


WRITE = "root@pve1:~# rbd bench --io-type write --io-size 4K --io-total 1G --io-pattern rand volumes/a\n"
WRITTEN = """\
bench  type write io_size 4096 io_threads 16 bytes 1073741824 pattern random
  SEC       OPS   OPS/SEC   BYTES/SEC
    1      1504   1551.02   6.1 MiB/s
    2      2656      1336   5.2 MiB/s
    5      3776   1272.48   5.0 MiB/s
elapsed: 6   ops: 4500   ops/sec: 750.25   bytes/sec: 2.9 MiB/s
"""
"""Its third line came three seconds after the second."""
OLD = """\
$ rbd bench-write img --pool rbd --io-threads 4
bench-write  io_size 4096 io_threads 4 bytes 1073741824 pattern sequential
  SEC       OPS   OPS/SEC   BYTES/SEC
    1     35143  35156.96  143996901.14
elapsed:     1  ops:   70000  ops/sec: 46000.00  bytes/sec: 188416000.00
"""


@pytest.mark.parametrize("name", ["bench-write", "bench-read", "bench-mixed", "bench-cached"])
def test_rbd_bench_has_its_totals_and_its_seconds(name: str) -> None:
    text = rbd_bench(name)
    found = only(text)
    elapsed = next(line for line in text.splitlines() if line.startswith("elapsed"))
    _, ops, rate, *_ = numbers(elapsed)
    seconds = ops / rate
    parts = {line.split("_")[0]: numbers(line)[0] for line in text.splitlines() if "_ops:" in line}
    wanted = parts or {"read" if "read" in name else "write": ops}
    assert {flow: total.ios for flow, total in found.summary.flows.items()} == wanted
    for flow, total in found.summary.flows.items():
        assert total.iops == pytest.approx(wanted[flow] / seconds)
        assert total.bandwidth_bytes == pytest.approx(wanted[flow] * 4096 / seconds)
        assert total.latency_mean_seconds is None
    done = sum(interval.ios or 0 for reading in found.readings for interval in reading.flows.values())
    assert done == ops
    assert sum(reading.interval_seconds for reading in found.readings) == pytest.approx(seconds, abs=0.1)
    assert found.options["io-size"] == "4k"
    assert "rbd-cache" not in found.options  # without its command that is not known
    assert not found.has_all_options


def test_a_line_of_rbd_bench_that_comes_late_is_a_longer_interval() -> None:
    rates = [reading.flows["write"].iops for reading in only(WRITTEN).readings]
    assert rates[:3] == [1504, 2656 - 1504, (3776 - 2656) / 3]


def test_the_command_of_rbd_bench_gives_the_rest() -> None:
    found = only(WRITE + WRITTEN)
    assert found.options == {
        "io-type": "write", "io-size": "4k", "io-threads": 16, "io-pattern": "rand", "rbd-cache": True,
    }  # fmt: skip
    assert (found.other_options, found.has_all_options) == ({"io-total": "1G"}, True)
    assert (found.target, found.node) == ("rbd:volumes/a", "pve1")
    assert codes(found) == ["librbd-cache"]
    without = only(WRITE.replace("volumes/a", "volumes/a --rbd-cache=false --rbd_qos_iops_limit 100") + WRITTEN)
    assert (without.options["rbd-cache"], codes(without)) == (False, [])
    assert without.other_options["rbd-qos-iops-limit"] == "100"


@pytest.mark.parametrize("other", ["--io-size 8K", "--io-type read", "--io-threads 1", "--io-pattern seq", ""])
def test_the_command_of_another_rbd_bench_is_not_taken(other: str) -> None:
    wrong = f"# rbd bench {other} volumes/b\n"
    assert only(wrong + WRITTEN).command == ""
    first, second = found_in(f"{WRITE}{wrong.replace('volumes/b', '--io-type write volumes/b')}{WRITTEN}{WRITTEN}")
    assert (first.target, second.target) == ("rbd:volumes/a", "")


def test_two_commands_that_may_both_have_begun_a_run_have_not() -> None:
    assert only(WRITE + WRITE.replace("volumes/a", "volumes/b") + WRITTEN).command == ""


def test_the_form_of_old_releases_is_read() -> None:
    found = only(OLD)
    assert (found.name, found.target, found.options["io-threads"]) == ("rbd-write", "rbd:rbd/img", 4)
    assert found.summary.write
    assert found.summary.write.ios == 70000
    assert found.summary.write.bandwidth_bytes == pytest.approx(188_416_000)


def test_rbd_bench_without_its_totals_was_stopped() -> None:
    found = only(WRITTEN.partition("elapsed")[0])
    assert (found.stopped, codes(found)) == (True, ["incomplete"])
    assert found.summary.write
    assert (found.summary.write.ios, found.duration_seconds) == (3776, 5)


TOTALS = "elapsed: {} ops: 1310720 ops/sec: {} bytes/sec: 31 MiB/s\n"
THREE = "".join(TOTALS.format(*each) for each in ((162, 8063.03), (185, 7064.55), (181, 7226.28)))


def test_totals_of_rbd_bench_are_runs_where_their_command_says_of_what() -> None:
    found = found_in(f"# rbd bench --io-type write volumes/disk --io-total 5G\nthree times:\n{THREE}")
    assert [run.target for run in found] == ["rbd:volumes/disk"] * 3
    for run, line in zip(found, THREE.splitlines(), strict=True):
        _, ops, rate, *_ = numbers(line)
        write = run.summary.write
        assert write
        assert (write.ios, write.bytes) == (ops, 5 << 30)
        assert write.iops == pytest.approx(rate)
        assert run.readings == ()
        assert {each.code for each in run.findings} == {"librbd-cache"}


@pytest.mark.parametrize(
    "command",
    [
        "",
        "# rbd bench --io-type write volumes/disk\n",
        "# rbd bench --io-type write volumes/disk --io-total 5G --io-size 8K\n",
        "# rbd bench --io-type write volumes/disk --io-total $SIZE\n",
        "# rbd bench volumes/disk --io-total 5G\n",
    ],
)
def test_totals_of_rbd_bench_are_named_where_no_command_can_have_made_them(command: str) -> None:
    assert found_in(f"{command}{THREE}") == []
    assert "output" in {unread.kind for unread in find_unread(read_log(f"{command}{THREE}"), [])}


def test_runs_of_rbd_bench_whose_command_is_not_known_are_no_repeats(tmp_path: Path) -> None:
    assert [run.repeat for run in import_texts(tmp_path, "bare", {"a.txt": WRITTEN + WRITTEN})] == [1, 1]
    assert [run.repeat for run in import_texts(tmp_path, "same", {"a.txt": (WRITE + WRITTEN) * 2})] == [1, 2]


# ---------------------------------------------------------------------------------------------- OSD bench

OSDS = """\
[ceph: root@pve1 /]# ceph tell osd.3 bench -f json-pretty
{
    "bytes_written": 1073741824,
    "blocksize": 4194304,
    "elapsed_sec": 6.1254,
    "bytes_per_sec": 175293339.86,
    "iops": 41.79
}
# ceph tell osd.4 bench 12288000 4096 4194304 100
{"bytes_written":12288000,"blocksize":4096,"elapsed_sec":0.25,"bytes_per_sec":49152000,"iops":12000}
# ceph tell osd.* bench
osd.0: {
    "bytes_written": 1073741824,
    "blocksize": 4194304,
    "bytes_per_sec": "175293339.860000"
}
osd.1: {
    "bytes_written": 1073741824,
    "blocksize": 4194304,
    "bytes_per_sec": 275293339.860000
}
2013-01-01 10:00:00.1 osd.5 10.0.0.1:6800/1 5 : [INF] bench: wrote 1024 MB in blocks of 4096 KB in 7.5 sec at 136 MB/sec
bench: wrote 1 GiB in blocks of 4 MiB in 4.38 sec at 233 MiB/sec 58 IOPS
"""


def test_each_answer_of_an_osd_is_a_run() -> None:
    found = found_in(OSDS)
    assert [run.target for run in found] == ["osd:3", "osd:4", "osd:0", "osd:1", "osd:5", ""]
    rates = [run.summary.write.bandwidth_bytes for run in found if run.summary.write]
    gib = 1024**3
    assert rates == pytest.approx([gib / 6.1254, 49_152_000, 175293339.86, 275293339.86, gib / 7.5, gib / 4.38])
    assert [run.summary.write.ios for run in found if run.summary.write] == [256, 3000, 256, 256, 256, 256]
    assert [bool(run.command) for run in found] == [True, True, True, True, False, False]
    assert found[1].options == {"block-size": "4k"}
    assert found[1].other_options == {"count": "12000k", "object_size": "4194304", "object_num": "100"}
    assert found[0].node == "pve1"


def test_the_objects_of_a_recorded_osd_bench_are_read() -> None:
    text = (RECORDINGS / "osd-bench-16.2" / "small.stdout").read_text()
    objects = [json.loads(line) for line in text.splitlines()[1:]]
    found = found_in(text)
    assert [run.duration_seconds for run in found] == [each["elapsed_sec"] for each in objects]
    assert [run.summary.write.iops for run in found if run.summary.write] == pytest.approx(
        [each["iops"] for each in objects]
    )


def test_answers_of_unknown_osds_are_no_repeats(tmp_path: Path) -> None:
    line = OSDS.splitlines()[-1]
    assert [run.repeat for run in import_texts(tmp_path, "osds", {"a.txt": f"{line}\n{line}\n"})] == [1, 1]


# ---------------------------------------------------------------------------------------------- iperf3


def test_a_document_of_iperf3_has_what_has_arrived() -> None:
    text = (FORMS / "iperf3-3.12.json").read_text()
    end, intervals = json.loads(text)["end"], json.loads(text)["intervals"]
    found = only(text)
    assert found.summary.write
    assert found.summary.write.bytes == end["sum_received"]["bytes"]
    assert found.summary.write.bandwidth_bytes == pytest.approx(end["sum_received"]["bits_per_second"] / 8)
    assert found.summary.write.retransmits == end["sum_sent"]["retransmits"]
    assert found.summary.write.ios is None
    assert [reading.flows["write"].bytes for reading in found.readings] == [each["sum"]["bytes"] for each in intervals]
    assert found.options == {"direction": "out", "parallel": 1, "omit": 0, "runtime": 3}
    assert (found.node, found.target, found.has_all_options) == ("lab1", "host:127.0.0.1", False)
    assert found.started_at


@pytest.mark.parametrize("name", ["streams", "both"])
def test_the_text_of_iperf3_is_read_in_any_unit(name: str) -> None:
    text = (FORMS / f"iperf3-3.12-{name}.txt").read_text()
    found = only(text)
    totals = [
        line for line in text.splitlines() if line.rstrip().endswith("receiver") and (name == "both" or "SUM" in line)
    ]
    wanted = sorted(float(line.split("Bytes")[1].split()[0]) * 1e9 / 8 for line in totals)
    assert sorted(total.bandwidth_bytes or 0 for total in found.summary.flows.values()) == pytest.approx(wanted)
    assert found.options["parallel"] == (2 if name == "streams" else 1)
    assert found.options["direction"] == ("out" if name == "streams" else "both")
    assert "runtime" not in found.options
    command = (
        "root@a:~# iperf3 -c 127.0.0.1 -t3 -P 2 -C cubic" if name == "streams" else "$ iperf3 -c127.0.0.1 --bidir -t 2"
    )
    known = only(f"{command}\n{text}")
    assert known.has_all_options
    assert known.options["runtime"] == (3 if name == "streams" else 2)
    assert known.other_options == ({"congestion": "cubic"} if name == "streams" else {})
    for wrong in ("-P 3", "-t 5 -R", "-u"):
        assert not only(f"$ iperf3 -c 127.0.0.1 {wrong}\n{text}").command or (wrong == "-t 5" and name == "streams")


@pytest.mark.parametrize("version", ["3.12", "3.18"])
@pytest.mark.parametrize("name", ["out", "in", "both", "retr"])
def test_recorded_runs_of_iperf3_are_read(version: str, name: str) -> None:
    text = (RECORDINGS / f"iperf3-{version}" / f"{name}.stdout").read_text()
    found = only(text)
    assert found.name == f"iperf3-{'out' if name == 'retr' else name}"
    assert found.options["runtime"] == 4
    assert found.options["omit"] == (2 if name == "out" else 1)
    assert found.version == f"iperf {version}"
    assert {reading.phase for reading in found.readings} == {"ramp", "run"}


def test_what_a_server_of_iperf3_has_received_is_read_there() -> None:
    found = only((RECORDINGS / "iperf3-3.12" / "out.server.stdout").read_text())
    assert (found.name, found.target) == ("iperf3-in", "host:10.77.0.1")


def test_iperf3_over_udp_is_no_run() -> None:
    text = (FORMS / "iperf3-3.12-streams.txt").read_text()
    assert not found_in(text.replace("Retr", "Total Datagrams"))
    document = json.loads((FORMS / "iperf3-3.12.json").read_text())
    document["start"]["test_start"]["protocol"] = "UDP"
    assert not found_in(json.dumps(document))


# ---------------------------------------------------------------------------------------------- ioping, dd


def test_ioping_is_read_as_it_prints_for_people_and_raw() -> None:
    text = (FORMS / "ioping.txt").read_text()
    people, raw = found_in(text)
    read = people.summary.read
    assert read
    times = [line.split(" = ")[1].split(" / ")[1] for line in text.splitlines() if line.startswith("min/avg")]
    assert read.latency_mean_seconds == pytest.approx(
        float(times[0].split()[0]) / {"us": 1e6, "ms": 1e3}[times[0].split()[1]]
    )
    assert (read.ios, people.options, people.other_options) == (2, {"size": "4k", "interval": 0.2}, {"count": "3"})
    rows = [line.split() for line in text.splitlines() if line.count(" ") == 9 and line.replace(" ", "").isdecimal()]
    counted = [row for row in rows if row[0] != "0"]
    assert raw.summary.read
    assert raw.summary.read.ios == len(counted)
    assert raw.summary.read.iops == pytest.approx(len(counted) * 1e9 / sum(int(row[9]) for row in rows))
    assert raw.summary.read.latency_mean_seconds == pytest.approx(
        sum(int(row[1]) for row in counted) / len(counted) / 1e9
    )
    assert raw.options == {"size": "8k", "interval": 0.05, "runtime": 2.0}
    assert (raw.target, raw.node) == ("file:/mnt/bench", "lab1")
    assert not found_in("\n".join(" ".join(row) for row in rows))  # how large its requests were is not known


def test_letters_of_an_option_stand_together_and_with_their_value() -> None:
    text = """\
root@pve-20:~# ioping -c10 -RLWWW /dev/nvme0n1 -D -s512
512 B >>> /dev/nvme0n1 (block device 894.3 GiB): request=1 time=1.28 ms (warmup)
512 B >>> /dev/nvme0n1 (block device 894.3 GiB): request=2 time=678.8 us (fast)

--- /dev/nvme0n1 (block device 894.3 GiB) ioping statistics ---
9 requests completed in 9.54 ms, 4.50 KiB written, 943 iops, 471.9 KiB/s
generated 10 requests in 9.00 s, 5 KiB, 1 iops, 568 B/s
min/avg/max/mdev = 388.1 us / 1.06 ms / 1.83 ms / 487.4 us
"""
    found = only(text)
    assert (found.node, found.target) == ("pve-20", "device:/dev/nvme0n1")
    assert found.options == {"size": "512", "interval": 1.0, "linear": True}
    assert found.other_options == {"count": "10", "rapid": "true", "write": "true", "direct": "true"}
    assert found.summary.write
    assert (found.summary.write.ios, found.summary.write.bytes) == (9, 9 * 512)
    assert found.summary.write.latency_max_seconds == pytest.approx(1.83e-3)


def test_what_a_shell_has_put_into_a_command_is_not_known() -> None:
    text = OSDS.splitlines()[1:8]
    found = only("\n".join(["$ ceph tell osd.7 bench $[1024*1024*1024] $SIZE $OBJECT", *text]))
    assert (found.target, found.other_options) == ("osd:7", {"count": "1G", "object_size": "$OBJECT"})


def test_dd_is_read_where_its_command_says_what_it_did() -> None:
    text = (FORMS / "dd.txt").read_text()
    write, read = found_in(text)
    first, second, _ = (
        numbers(line.split("copied,")[1])[0] for line in text.replace("\r", "\n").splitlines() if "copied" in line
    )
    assert write.summary.write
    assert read.summary.read
    assert write.summary.write.bandwidth_bytes == pytest.approx(300 * 1024**2 / first)
    assert read.summary.read.iops == pytest.approx(300 * 256 / second)
    assert write.options == {"mode": "write", "bs": "1M", "direct": True, "size": "300M"}
    assert (codes(write), codes(read)) == (["one-stream", "zeros"], ["one-stream", "page-cache"])
    assert (write.target, write.node, write.has_all_options) == ("file:/mnt/bench/x", "lab1", True)
    assert not found_in("\n".join(line for line in text.splitlines() if "$ dd" not in line))


def test_options_of_dd_that_no_preset_has_are_kept() -> None:
    text = (FORMS / "dd.txt").read_text().replace("oflag=direct", "oflag=dsync,nocache conv=fdatasync")
    found = found_in(text)[0]
    assert found.options["direct"] is False
    assert found.other_options == {"oflag": "dsync,nocache", "conv": "fdatasync"}
    assert "page-cache" not in codes(found)


# ---------------------------------------------------------------------------------------------- hsbench, gosbench

FLOWS = {"PUT": "write", "GET": "read", "LIST": "list", "DEL": "delete"}


def test_the_text_of_hsbench_is_read_with_its_parameters() -> None:
    text = (RECORDINGS / "hsbench" / "4k-put-get-delete.txt").read_text()
    found = only(text)
    totals = [line for line in text.splitlines() if "Int: TOTAL" in line and "Mode: B" not in line]
    modes = [line.split("Mode: ")[1].split(",")[0] for line in totals]
    done = {FLOWS[mode]: int(line.split("Ops: ")[1].split(",")[0]) for mode, line in zip(modes, totals, strict=True)}
    assert {flow: total.ios for flow, total in found.summary.flows.items()} == done
    for mode, line in zip(modes, totals, strict=True):
        total = found.summary.flows[FLOWS[mode]]
        assert total.iops == pytest.approx(float(line.split("IO/s: ")[1].split(",")[0]), abs=0.51)
        assert total.latency_mean_seconds == pytest.approx(float(line.split("avg: ")[1].split(",")[0]) / 1000)
        assert total.latency_p99_seconds == pytest.approx(float(line.split("99%: ")[1].split(",")[0]) / 1000)
    assert found.options == {"size": "4k", "threads": 4, "runtime": 5, "buckets": 2, "modes": "plgd"}
    assert (found.has_all_options, found.target) == (True, "s3:http://127.0.0.1:17480")
    assert f"{found.started_at:%Y-%m-%d %H:%M:%S}" == "2026-11-21 09:54:40"


def test_hsbench_that_could_not_begin_has_failed_with_what_it_said() -> None:
    found = only((RECORDINGS / "hsbench" / "refused.txt").read_text())
    assert found.error
    assert "connection refused" in found.error


def test_the_files_of_hsbench_are_read() -> None:
    rows = json.loads((FORMS / "hsbench" / "64k.json").read_text())
    totals = {FLOWS[row["Mode"]]: row for row in rows if row["IntervalName"] == "TOTAL" and row["Mode"] in FLOWS}
    as_json, as_csv = (only((FORMS / "hsbench" / f"64k.{kind}").read_text()) for kind in ("json", "csv"))
    assert totals.keys() == as_json.summary.flows.keys()
    for flow, row in totals.items():
        exact, rounded = as_json.summary.flows[flow], as_csv.summary.flows[flow]
        assert (exact.ios, rounded.ios) == (row["Ops"], row["Ops"])
        assert exact.iops == pytest.approx(row["Iops"], rel=1e-6)
        assert rounded.iops == pytest.approx(row["Iops"], rel=0.03)
        assert exact.latency_p99_seconds == pytest.approx(row["NinetyNineLat"] / 1e3, abs=1e-6)
        if flow in ("read", "write"):
            assert exact.bandwidth_bytes == pytest.approx(row["Mbps"] * 1024**2, rel=1e-6)
    assert as_json.options == as_csv.options == {"size": "64k"}
    put = [row["Ops"] for row in rows if row["Mode"] == "PUT" and row["IntervalName"] != "TOTAL"]
    seen = [reading.flows["write"].ios or 0 for reading in as_json.readings if "write" in reading.flows]
    assert seen[: len(put) - 1] == put[:-1]
    assert sum(seen) == totals["write"]["Ops"]


def test_each_loop_of_hsbench_is_a_run() -> None:
    rows = json.loads((FORMS / "hsbench" / "64k.json").read_text())
    both = [*rows, *({**row, "Loop": 1, "Ops": 2 * row["Ops"]} for row in rows)]
    first, second = found_in(json.dumps(both))
    assert first.summary.write
    assert second.summary.write
    assert second.summary.write.ios == 2 * (first.summary.write.ios or 0)


def test_the_results_of_gosbench_have_all_methods_in_one() -> None:
    text = (FORMS / "gosbench" / "gosbench_results.csv").read_text()
    found = found_in(text)
    for run, line in zip(found, text.splitlines()[1:], strict=True):
        name, ops, nbytes, bandwidth, latency, _ = line.split(",")
        total = run.summary.flows["operations"]
        assert (run.name, total.ios, total.bytes) == (name, int(ops), int(nbytes))
        assert total.bandwidth_bytes == float(bandwidth)
        assert total.iops == pytest.approx(int(ops) * float(bandwidth) / int(nbytes))
        assert total.latency_mean_seconds == pytest.approx(float(latency) / 1000)
    for log in ("server.log", "worker.log"):
        assert only((FORMS / "gosbench" / log).read_text()).summary.flows["operations"].ios == 587


def test_a_scrape_of_gosbench_after_its_end_has_each_method() -> None:
    text = (FORMS / "gosbench" / "metrics.prom").read_text()
    values = {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines()}
    at = {name: next(value for key, value in values.items() if f"test_{name}" in key) for name in ("start", "end")}
    found = only(text)
    for method, flow in {"PUT": "write", "GET": "read", "LIST": "list", "DELETE": "delete"}.items():
        count = next(value for key, value in values.items() if "finished_ops" in key and method in key)
        assert found.summary.flows[flow].ios == count
        assert found.summary.flows[flow].iops == pytest.approx(count * 1000 / (at["end"] - at["start"]))
    assert not found_in("\n".join(line for line in text.splitlines() if "test_end" not in line))


# ---------------------------------------------------------------------------------------------- fio's terse form


@pytest.mark.parametrize("form", [2, 3, 4, 5])
def test_a_line_of_each_terse_version_has_the_figures_of_its_job(form: int) -> None:
    text = (FORMS / "terse" / f"version-{form}.txt").read_text()
    fields = text.splitlines()[1].split(";")
    begin = 4 if form == 2 else 5
    found = only(text)
    for flow, at in (("read", begin), ("write", begin + (47 if form == 5 else 41))):
        total = found.summary.flows[flow]
        kib, rate, iops, milliseconds = map(int, fields[at : at + 4])
        assert (total.bytes, total.runtime_seconds) == (kib * 1024, milliseconds / 1000)
        assert total.ios == kib / 4
        assert total.iops == pytest.approx(iops, abs=1)
        assert total.bandwidth_bytes == pytest.approx(rate * 1024, abs=1024)
        assert total.latency_mean_seconds == pytest.approx(float(fields[at + 10]) / 1e6)
        assert total.latency_max_seconds == int(fields[at + 9]) / 1e6
        p99 = next(field for field in fields[at + 12 : at + 32] if field.startswith("99.000000%"))
        assert total.latency_p99_seconds == int(p99.split("=")[1]) / 1e6
        assert total.lat
        assert total.lat.mean_seconds == pytest.approx(float(fields[at + 34]) / 1e6)
    assert f"{found.cpu_user_percent:f}%" in fields
    assert f"{found.cpu_system_percent:f}%" in fields
    assert str(found.context_switches) in fields
    assert found.depths["1"] == 100
    assert [disk.name for disk in found.disks] == ([] if form == 2 else ["vda"])
    assert found.version == ("" if form == 2 else "fio-3.33")
    assert (found.node, found.target, found.options["rw"]) == ("lab1", "file:/mnt/bench/t", "randrw")
    assert found.has_all_options


def test_without_its_command_a_terse_line_has_no_count_and_no_options() -> None:
    line = (FORMS / "terse" / "version-3.txt").read_text().splitlines()[1]
    found = only(line)
    assert (found.options, found.command, found.has_all_options) == ({}, "", False)
    assert {total.ios for total in found.summary.flows.values()} == {None}


def test_terse_lines_are_one_run_only_where_the_command_says_so(tmp_path: Path) -> None:
    text = (FORMS / "terse" / "jobs.txt").read_text()
    lines = text.splitlines()[1:]
    kib = [int(line.split(";")[5]) for line in lines]
    found = only(text)
    assert found.summary.read
    assert found.summary.read.bytes == sum(kib) * 1024
    assert (len(found.jobs), found.options["numjobs"]) == (2, 2)
    apart = import_texts(tmp_path, "apart", {"a.txt": "\n".join(lines)})
    assert [run.summary.read.bytes for run in apart if run.summary.read] == [each * 1024 for each in kib]
    assert [run.repeat for run in apart] == [1, 1]


def test_a_run_in_three_forms_is_one() -> None:
    assert only((FORMS / "terse" / "three-forms.txt").read_text()).name == "both"


def test_options_above_a_terse_line_that_no_preset_has_are_kept() -> None:
    text = (FORMS / "terse" / "version-3.txt").read_text().replace("--size=8M", "--size=8M --zonemode=zbd --offset=1G")
    assert only(text).other_options == {"zonemode": "zbd", "offset": "1G"}


# ---------------------------------------------------------------------------------------------- fio's logs


def copied(tmp_path: Path) -> Path:
    """A directory with a run of fio and its logs."""
    return Path(shutil.copytree(FORMS / "fio-logs", tmp_path / "logs"))


def windows(folder: Path, kind: str, flow: int) -> list[list[int]]:
    """The lines of each job, in their order."""
    rows = [[line.split(", ") for line in path.read_text().splitlines()] for path in folder.glob(f"lg_{kind}.*.log")]
    return [[int(row[1]) for row in each if row[2] == str(flow)] for each in rows]


def test_the_logs_beside_a_run_of_fio_are_its_seconds(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    ((_, found),) = read_log_file(folder / "lg.json").runs
    assert [reading.interval_seconds for reading in found.readings] == [1.0] * 4
    for number, flow in enumerate(("read", "write")):
        iops, kib, clat = (windows(folder, kind, number) for kind in ("iops", "bw", "clat"))
        for second, reading in enumerate(found.readings):
            two = slice(2 * second, 2 * second + 2)
            interval = reading.flows[flow]
            assert interval.iops == pytest.approx(sum(sum(each[two]) for each in iops) / 2, abs=1)
            assert interval.bandwidth_bytes == pytest.approx(sum(sum(each[two]) for each in kib) / 2 * 1024, abs=1)
            mean = sum(sum(each[two]) for each in clat) / sum(len(each[two]) for each in clat)
            assert interval.latency_mean_seconds == pytest.approx(mean / 1e9, rel=1e-3)


def test_logs_are_found_by_the_prefix_that_the_output_names(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    (folder / "lg.json").rename(folder / "result.txt")
    ((_, found),) = read_log_file(folder / "result.txt").runs
    assert len(found.readings) == 4
    log = read_log_file(folder / "lg_bw.1.log")
    assert (log.is_beside, log.problem) == (True, "fio's bandwidth log of the run in result.txt")


def test_logs_of_single_ios_are_no_seconds(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    for path in folder.glob("*.log"):
        path.write_text(path.read_text().replace(", 0, 0\n", ", 4096, 0\n"))
    ((_, found),) = read_log_file(folder / "lg.json").runs
    assert found.readings == ()


def test_a_log_alone_is_named(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    (folder / "lg.json").unlink()
    named = {path.name: read_log_file(path).problem for path in folder.iterdir()}
    assert named["lg_lat.1.log"] == named["lg_clat.2.log"] == "fio's latency log, without the output of the run"
    assert named["lg_iops.1.log"] == "fio's IOPS log, without the output of the run"


def test_a_directory_with_logs_is_read_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = copied(tmp_path)
    assert cli.main(["import", str(folder), "--session", "logs"], standalone_mode=False) == 0
    assert cli.main(["import", str(folder / "lg_bw.1.log"), "--session", "one"], standalone_mode=False) == 1


# ---------------------------------------------------------------------------------------------- trees of results

CONFIG = """\
cluster:
  benchmark: librbdfio
  client_endpoints: [a, b]
  cmd_path: /usr/bin/fio
  mode: randwrite
  vol_size: 1024
  volumes_per_client: 1
"""


def document(factor: int) -> dict[str, Any]:
    """A document of fio with a histogram, and so many times its I/Os."""
    text = (RECORDINGS / "logs" / "fio-2.21-json-plus.txt").read_text()
    found: dict[str, Any] = json.loads(text[text.index("{") : text.rindex("}") + 1])
    for flow in ("read", "write"):
        for job in found["jobs"]:
            job[flow]["total_ios"] *= factor
            job[flow]["io_bytes"] *= factor
            job[flow]["clat"]["bins"] = {time: n * factor for time, n in job[flow]["clat"]["bins"].items()}
    return found


def test_bins_of_fio_2_that_share_a_bucket_are_added_up() -> None:
    jobs = document(1)["jobs"]
    for flow, total in only(json.dumps(document(1))).summary.flows.items():
        timed = sum(n for job in jobs for n in job[flow]["clat"]["bins"].values())
        assert sum((total.latency_buckets or {}).values()) == timed


def tree_of_cbt(tmp_path: Path, clients: Mapping[str, int]) -> Path:
    """Clients by what is in the name of their file."""
    top = tmp_path / "results" / "00000000" / "id-12ab34cd"
    folder = top / "op_size-00004096" / "concurrent_procs-002" / "iodepth-016" / "randwrite"
    folder.mkdir(parents=True)
    (top / "benchmark_config.yaml").write_text(CONFIG)
    (folder / "ceph_settings.out").write_text("[global]\nmon_allow_pool_delete = true\n")
    for client, factor in clients.items():
        text = json.dumps(document(factor))
        (folder / f"output.{client}").write_text(f"{text}\n")
        (folder / f"json_output.{client}").write_text(text)
    return tmp_path / "results"


def imported_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[Run]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert cli.main(["import", str(folder), "--session", "tree"], standalone_mode=False) == 0
    return store.read_runs(paths.sessions_dir() / "tree")[0]


def test_clients_of_a_test_of_cbt_are_nodes_of_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (run,) = imported_tree(tmp_path, monkeypatch, tree_of_cbt(tmp_path, {"0.node1": 1, "0.node2": 3}))
    jobs = document(1)["jobs"]
    assert [node.node for node in run.nodes] == ["node1", "node2"]
    for flow in ("read", "write"):
        ios = sum(job[flow]["total_ios"] for job in jobs)
        seconds = max(job[flow]["runtime"] for job in jobs) / 1000
        total = run.summary.flows[flow]
        assert total.ios == 4 * ios
        assert total.iops == pytest.approx(4 * ios / seconds)
        assert [node.summary.flows[flow].ios for node in run.nodes] == [ios, 3 * ios]
        timed = sum(n for job in jobs for n in job[flow]["clat"]["bins"].values())
        assert sum((total.latency_buckets or {}).values()) == 4 * timed
    assert run.heading == "op_size-00004096 / concurrent_procs-002 / iodepth-016 / randwrite"
    assert run.other_options == {"vol_size": "1024", "volumes_per_client": "1"}
    assert {path.name for path in (paths.sessions_dir() / "tree").rglob("*node*")}


def test_clients_of_cbt_may_be_named_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    files = sorted(tree_of_cbt(tmp_path, {"0.node1": 1, "0.node2": 3}).rglob("*output.0.*"))
    assert len(files) == 4
    assert cli.main(["import", *map(str, files), "--session", "named"], standalone_mode=False) == 0
    (run,) = store.read_runs(paths.sessions_dir() / "named")[0]
    assert [node.node for node in run.nodes] == ["node1", "node2"]


def test_processes_of_one_client_are_added_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (run,) = imported_tree(tmp_path, monkeypatch, tree_of_cbt(tmp_path, {"0.node1": 1, "1.node1": 1, "0.node2": 1}))
    ios = sum(job["write"]["total_ios"] for job in document(1)["jobs"])
    assert [node.summary.flows["write"].ios for node in run.nodes] == [2 * ios, ios]
    assert run.other_options["processes"] == "2"


def test_files_of_that_name_elsewhere_are_runs_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    for number in (1, 2):
        (folder / f"output.{number}.txt").write_text(json.dumps(document(number)))
    runs = imported_tree(tmp_path, monkeypatch, folder)
    assert [len(run.nodes) for run in runs] == [1, 1]


def test_directories_of_bench_fio_are_headings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("sda/4k", "sda/1M", "sdb/4k", "sdb/randrw75/4k"):
        (tmp_path / "bench" / name).mkdir(parents=True)
        (tmp_path / "bench" / name / "randrw-1-2.json").write_text(json.dumps(document(1)))
    runs = imported_tree(tmp_path, monkeypatch, tmp_path / "bench")
    assert [run.heading for run in runs] == ["sda / 1M", "sda / 4k", "sdb / 4k", "sdb / randrw75 / 4k"]
    assert {run.repeat for run in runs} == {1}


# ---------------------------------------------------------------------------------------------- what can't be read

OTHERS = {
    "elbencho": "OPERATION   RESULT TYPE         FIRST DONE  LAST DONE\nWRITE  Elapsed time : 1s\n",
    "warp": "Operation: GET. Concurrency: 20\n* Average: 92.05 MiB/s, 9652.01 obj/s\n",
    "sysbench": "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nRunning the test\n",
    "bonnie++": "Version  2.00       ------Sequential Output------ --Sequential Input- --Random-\n",
    "iozone": "\tIozone: Performance Test of File I/O\n",
    "CrystalDiskMark": "CrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo\n",
    "vdbench": "Copyright (c) 2000, 2018, Oracle and/or its affiliates.\nVdbench distribution: vdbench50407\n",
    "hdparm": "/dev/sda:\n Timing O_DIRECT disk reads: 1500 MB in  3.00 seconds = 500.0 MB/sec\n",
    "smallfile": "                                 version : 3.2\nsmallfile_cli.py --operation create\n",
    "mdtest": "-- started at 01/01/2024 --\n\nmdtest-4.0.0 was launched with 4 total task(s)\n",
    "IOR": "IOR-3.3.0: MPI Coordinated Test of Parallel I/O\n",
    "s3-benchmark": "Wasabi benchmark program v2.0\n",
    "COSBench": "<workload name='x' description='y'>\n <storage type='s3' config='a' />\n</workload>\n",
    "netperf": "MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to host () port 0 AF_INET\n",
    "DISKSPD": "Command Line: diskspd -b4K -d60 test.dat\n",
    "Prometheus": "# HELP node_disk_io_now The number of I/Os\n# TYPE node_disk_io_now gauge\nnode_disk_io_now 1\n",
    "ceph -s": "  cluster:\n    id:     01234567-0123-0123-0123-0123456789ab\n    health: HEALTH_OK\n",
    "ceph osd perf": "osd  commit_latency(ms)  apply_latency(ms)\n  0                   1                  1\n",
    "iostat": "Device            r/s     rkB/s   rrqm/s  %rrqm r_await\n",
    "blktrace": "  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]\n",
    "iperf 2": "[  3]  0.0-10.0 sec  1.10 GBytes   941 Mbits/sec\n",
    "iperf3 that has failed": '"intervals": [],\n"end": {},\n"error": "unable to connect to server"\n',
    "iperf3 over UDP": "[ ID] Interval           Transfer     Bitrate         Total Datagrams\n",
    "ceph df": "GLOBAL:\n    SIZE     AVAIL     RAW USED\n    28 TiB   20 TiB\n",
    "sar": "Linux 6.1.0-13-amd64 (pve1) \t11/25/2025 \t_x86_64_\n\n10:00:01        CPU     %user\n",
    "rbd bench without its first line or its command": "elapsed: 6 ops: 4500 ops/sec: 750.25 bytes/sec: 2.9 MiB/s\n",
}


def problem_in(text: str) -> str:
    """Of a file with this text alone."""
    log = read_log(text)
    return problem_of(log, find_unread(log, []))


@pytest.mark.parametrize("name", OTHERS)
def test_what_cannot_be_read_is_named(name: str) -> None:
    assert problem_in(OTHERS[name]) == f"cephtui can't import output of {name}"
    assert not found_in(OTHERS[name])


def test_ioping_of_an_old_version_is_named() -> None:
    text = """\
--- . (ext4 /dev/sda3) ioping statistics ---
5 requests completed in 4794.0 ms, 364 iops, 1.4 MiB/s
min/avg/max/mdev = 0.2/2.8/12.7/5.0 ms
"""
    assert not found_in(text)
    assert problem_in(text) == "cephtui can't import output of ioping before 1.0"


@pytest.mark.parametrize("name", ["ioping.txt", "dd.txt"])
def test_output_that_needs_its_command_is_named_without_it(name: str) -> None:
    lines = (FORMS / name).read_text().splitlines()[-35:]
    text = "\n".join(line for line in lines if "ioping" not in line and "$ dd" not in line)
    assert not found_in(text)
    assert problem_in(text).startswith(f"cephtui can't import output of {name[:-4]} without its command")


@pytest.mark.parametrize("text", ['{"a": [1, 2]}', "[1, 2]\n", '{"a": 1}\n{"b": 2}\n', '{\n "a": 1\n}\n'])
def test_json_of_no_known_kind_is_called_that(text: str) -> None:
    assert problem_in(text) == "JSON of an unknown program"


@pytest.mark.parametrize("text", ["", "hello\n", "{ not JSON", "[root@pve1 ~]# ls\n"])
def test_other_text_has_no_name(text: str) -> None:
    assert problem_in(text) == ""


def test_a_long_line_is_named_at_once() -> None:
    began = time.monotonic()
    for text in ("[" * 200_000, "[1] " * 100_000, "\n" * 20_000, "Operation: GET " * 20_000, "1 " * 200_000):
        problem_in(text)
    assert time.monotonic() - began < 20


# ---------------------------------------------------------------------------------------------- whatever comes

BASES = [
    WRITE + WRITTEN,
    OLD,
    rbd_bench("bench-mixed"),
    OSDS,
    *((FORMS / name).read_text() for name in ("iperf3-3.12.json", "iperf3-3.12-both.txt", "ioping.txt", "dd.txt")),
    (RECORDINGS / "hsbench" / "4k-put-get-delete.txt").read_text(),
    *((FORMS / "terse" / f"{name}.txt").read_text() for name in ("version-2", "version-5", "jobs")),
    *((FORMS / name).read_text() for name in ("hsbench/64k.json", "hsbench/64k.csv", "gosbench/metrics.prom")),
]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_damaged_log_raises_nothing_and_all_figures_are_some(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(20):
        whole = read_log(mutated(chance.choice(BASES), chance))
        for each in (run for saved in SAVED.values() for run in saved.find(whole)):
            values = list(figures(each.summary.model_dump()))
            assert all(0 <= value < 1e300 for value in values)
            assert 0 <= each.duration_seconds < 2e9
            assert 1 <= each.line <= each.last_line <= len(whole.lines)


@pytest.mark.parametrize("base", BASES)
def test_a_log_that_was_cut_anywhere_is_read_or_named(base: str) -> None:
    assert_cuts_are_read_or_named(base)


@pytest.mark.parametrize("name", ["iperf3-3.12.json", "hsbench/64k.json"])
def test_json_in_one_line_of_any_length_is_whole(name: str) -> None:
    text = (FORMS / name).read_text()
    one_line = f"{'.' * LINE_MOST} {json.dumps(json.loads(text))}"
    assert [run.summary for run in found_in(one_line)] == [run.summary for run in found_in(text)] != []
