"""fio's figures in the forms of all its versions, beside a reader of their own that takes them another way."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cephtui.models import Total
from cephtui.stats import total
from cephtui.tools.base import Reading
from cephtui.tools.fio.output import FioParser
from cephtui.tools.fio.saved import find_runs
from cephtui.tools.logs import FoundRun, read_log
from tests import RECORDINGS
from tests.support import drawings
from tests.support.drawings import draw_run
from tests.support.golden import Golden
from tests.support.imported import import_texts
from tests.support.known import known

RECORDED = RECORDINGS
LOGS = RECORDED / "logs"
WITHOUT_NUMBER = ("3.1", "3.7", "3.12", "3.16")
"""Versions whose latencies have no number N."""
_UNIT = {"": 1.0, "k": 1e3, "K": 1024.0, "M": 1e6, "Ki": 1024.0, "Mi": 1048576.0, "Gi": 1073741824.0}


def only(text: str) -> FoundRun:
    (found,) = find_runs(read_log(text))
    return found


def log(name: str) -> str:
    return (LOGS / name).read_text()


def flow(text: str, name: str) -> Total:
    return known(only(text).summary.flows.get(name))


def documents(text: str) -> list[dict[str, Any]]:
    """Those of a stream, taken apart at the brace that begins each."""
    return [json.loads(part[: part.rindex("\n}") + 2]) for part in re.split(r"^(?=\{)", text, flags=re.MULTILINE)[1:]]


def nearest_rank(bins: Mapping[str, int], percent: float) -> float:
    """Of all latencies in nanoseconds one by one, in seconds."""
    each = sorted(int(latency) for latency, number in bins.items() for _ in range(number))
    return each[math.ceil(percent / 100 * len(each)) - 1] / 1e9


# ---------------------------------------------------------------------------------------------- without N


@pytest.mark.parametrize("version", WITHOUT_NUMBER)
def test_latency_without_its_number_is_there_in_a_live_run(version: str) -> None:
    text = (RECORDED / f"fio-{version}" / "randwrite.stdout").read_text()
    assert '"N"' not in text
    parser = FioParser(ramp=True)
    readings: list[Reading] = []
    for at in range(0, len(text), 1000):
        readings += parser.feed("stdout", text[at : at + 1000].encode(), float(at))
    readings += parser.finish()
    part = documents(text)[-1]["jobs"][0]["write"]
    found = known(total(parser.result().write))
    assert found.latency_mean_seconds == part["clat_ns"]["mean"] / 1e9
    for name, percent in (("p50", 50.0), ("p99", 99.0), ("p999", 99.9)):
        assert getattr(found, f"latency_{name}_seconds") == nearest_rank(part["clat_ns"]["bins"], percent)
    assert [reading.phase for reading in readings][:1] == ["ramp"]
    measured = [known(reading.write) for reading in readings if reading.phase == "run"]
    assert sum(known(second.ios) for second in measured) == part["io_bytes"] // 4096
    assert all(second.latency_mean_seconds and second.latency_p99_seconds for second in measured)
    timed = [sum(known(second.latency_buckets).values()) for second in measured]
    assert sum(timed) == sum(part["clat_ns"]["bins"].values())
    spent = sum(known(second.latency_mean_seconds) * number for second, number in zip(measured, timed, strict=True))
    assert spent / sum(timed) == pytest.approx(part["clat_ns"]["mean"] / 1e9)


@pytest.mark.parametrize("version", WITHOUT_NUMBER)
def test_latency_without_its_number_is_there_in_a_saved_document(version: str) -> None:
    text = log(f"fio-{version}-json.txt")
    job = json.loads(text[text.index("{") :])["jobs"][0]
    for name in ("read", "write"):
        found, part = flow(text, name), job[name]
        assert found.latency_mean_seconds == part["clat_ns"]["mean"] / 1e9
        assert found.latency_max_seconds == part["clat_ns"]["max"] / 1e9
        assert found.latency_p99_seconds == part["clat_ns"]["percentile"]["99.000000"] / 1e9
        assert known(found.slat).mean_seconds == part["slat_ns"]["mean"] / 1e9
        assert known(found.lat).mean_seconds == part["lat_ns"]["mean"] / 1e9


def test_a_direction_without_latency_has_none() -> None:
    text = re.sub(r'"(min|max)" : \d+|"(mean|stddev)" : [\d.]+', r'"\1\2" : 0', log("fio-3.1-json.txt"))
    found = flow(text, "read")
    assert known(found.ios) > 0
    assert (found.latency_mean_seconds, found.latency_max_seconds, found.slat, found.lat) == (None, None, None, None)


# ---------------------------------------------------------------------------------------------- older documents


def test_documents_without_a_number_of_ios_are_read() -> None:
    text = log("fio-2.1.11-json.txt")
    assert "total_ios" not in text
    job = json.loads(text)["jobs"][0]
    for name in ("read", "write"):
        found, part = flow(text, name), job[name]
        assert (found.iops, found.bytes) == (part["iops"], part["io_bytes"] * 1024)
        assert found.bandwidth_bytes == pytest.approx(part["io_bytes"] * 1024 / (part["runtime"] / 1000))
        assert found.runtime_seconds == part["runtime"] / 1000
        assert found.latency_mean_seconds == pytest.approx(part["clat"]["mean"] / 1e6)
        assert known(found.ios) == pytest.approx(part["io_bytes"] / 4, rel=0.01)


def test_one_slow_io_is_some_io() -> None:
    text = re.sub(r'"iops" : \d+', '"iops" : 0', log("fio-2.1.11-json.txt"))
    assert known(flow(text, "read").ios) > 0


def test_slow_runs_have_all_their_bandwidth() -> None:
    """Until 3.1 there are whole KiB per second alone, which are 6 % less of 10.6."""
    text = re.sub(r'"io_bytes" : \d+', '"io_bytes" : 10929', log("fio-3.1-json.txt"))
    text = re.sub(r'"bw" : \d+', '"bw" : 10', text)
    text = re.sub(r'"runtime" : \d+', '"runtime" : 1000', text)
    assert flow(text, "read").bandwidth_bytes == 10929


def test_bins_that_are_named_by_their_place_are_read() -> None:
    text = log("fio-2.17-json-plus.txt")
    job = json.loads(text)["jobs"][0]
    assert "FIO_IO_U_PLAT_BITS" in job["read"]["clat"]["bins"]
    for name in ("read", "write"):
        found, clat = flow(text, name), job[name]["clat"]
        assert found.ios == sum(n for place, n in clat["bins"].items() if place.isdecimal())
        for field, percent in (("p50", "50.000000"), ("p95", "95.000000"), ("p99", "99.000000")):
            printed = clat["percentile"][percent] / 1e6
            assert getattr(found, f"latency_{field}_seconds") == pytest.approx(printed, rel=0.02)


def test_a_document_that_is_not_understood_is_named(tmp_path: Path, golden: Golden) -> None:
    text = log("fio-3.1-json.txt").replace('"runtime" : 1', '"ran" : 1')
    (run,) = import_texts(tmp_path, "s", {"log.txt": text})
    assert (run.outcome, run.summary.flows) == ("failed", {})
    golden.same(run.error)


# ---------------------------------------------------------------------------------------------- lines of text


def printed(text: str) -> float:
    """``9595Kibit``, ``107325 B`` or ``232k`` in bytes or I/Os."""
    number, unit = known(re.fullmatch(r"([\d.]+) ?(\D*)", text)).groups()
    scale = unit.removesuffix("bit") if unit.endswith("bit") else unit.removesuffix("B")
    return float(number) * _UNIT[scale] / (8 if unit.endswith("bit") else 1)


@pytest.mark.parametrize(
    ("name", "flow_name"),
    [("fio-3.33-mixed.txt", "mixed"), ("fio-3.33-bits.txt", "write"), ("fio-3.1-text.txt", "read")],
)
def test_rates_are_those_that_are_printed(name: str, flow_name: str) -> None:
    line = known(
        re.search(rf"^ *{flow_name}: IOPS=(\S+), BW=(\S+)/s \(\S+/s\)\((\S+)/(\d+)msec", log(name), re.MULTILINE)
    )
    found = flow(log(name), flow_name)
    assert found.iops == pytest.approx(printed(line[1]), rel=0.005)
    assert found.bandwidth_bytes == printed(line[2])
    assert found.bytes == printed(line[3])
    assert found.runtime_seconds == int(line[4]) / 1000
    assert list(only(log(name)).summary.flows) == (["read", "write"] if flow_name == "read" else [flow_name])


def test_a_document_with_mixed_flows_is_read() -> None:
    text = log("fio-3.33-mixed-json.txt")
    part = json.loads(text)["jobs"][0]["mixed"]
    found = flow(text, "mixed")
    assert (found.ios, found.iops, found.bandwidth_bytes) == (part["total_ios"], part["iops"], part["bw_bytes"])
    assert found.latency_mean_seconds == part["clat_ns"]["mean"] / 1e9


JOB = "a: (groupid=0, jobs=1): err= 0: pid=7: Fri Nov 27 13:06:42 2026\n"


@pytest.mark.parametrize(
    ("rate", "name", "iops", "bandwidth"),
    [
        ("  read : io=6288.5KB, bw=107325 B/s, iops=26 , runt= 60001msec", "read", 26, 107325),
        ("  read : io=6288.5KB, bw=107325B/s, iops=26, runt= 60001msec", "read", 26, 107325),
        ("  write: io=9216.0Mbit, bw=157286Kbit/s, iops=4799, runt= 60001msec", "write", 4799, 157286 * 128),
        ("  read : io=1.5PB, bw=26214MB/s, iops=1302.6K, runt= 62915msec", "read", 1302600, 26214 << 20),
        ("  trim: IOPS=1200, BW=75.0MiB/s (78.6MB/s)(4500MiB/60001msec)", "trim", 1200, 75 << 20),
        ("  write: IOPS=20, BW=10.0KiB/s (10.2kB/s)(600KiB/60001msec); 0 zone resets", "write", 20, 10240),
        ("  write: IOPS=7, BW=3850B/s (3850B/s)(226KiB/60001msec); 0 zone resets", "write", 7, 3850),
        ("  read: IOPS=200k, BW=780MiB/s (818MB/s)(46.3GiB/60781msec)", "read", 200_000, 780 << 20),
        # until 3.25 a fraction near the next whole number is lost
        ("  write: IOPS=3068, BW=11.0MiB/s (12.6MB/s)(4096MiB/341704msec)", "write", 3068, 12_600_000),
    ],
)  # fmt: skip
def test_each_form_of_a_rate_is_read(rate: str, name: str, iops: float, bandwidth: float) -> None:
    found = flow(f"{JOB}{rate}\n", name)
    assert (found.iops, found.bandwidth_bytes) == (iops, bandwidth)


def test_the_number_of_ios_changes_no_bytes() -> None:
    rate = "  read: IOPS=197k, BW=780MiB/s (818MB/s)(46.3GiB/60781msec)"
    issued = "     issued rwts: total=11997000,0,0,0 short=0,0,0,0 dropped=0,0,0,0"
    start = "a: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=64"
    found = flow(f"{start}\n{JOB}{rate}\n{issued}\n", "read")
    assert (found.ios, found.bandwidth_bytes) == (11_997_000, 780 << 20)
    assert found.bytes == pytest.approx(46.3 * (1 << 30))


@pytest.mark.parametrize("greatest", ["1302.6K", "1302.6k", "1302600 "])
def test_a_latency_with_a_scaled_bound_has_its_mean(greatest: str) -> None:
    rate = "  write: io=241236KB, bw=24035KB/s, iops=6008, runt= 10037msec"
    latency = f"    clat (usec): min=1 , max={greatest}, avg= 5.93, stdev=228.12"
    found = flow(f"{JOB}{rate}\n{latency}\n", "write")
    assert (found.latency_mean_seconds, found.latency_max_seconds) == pytest.approx((5.93e-6, 1.3026))


@pytest.mark.parametrize("issued", ["issued r/w/d: total=7/0/0, short=0/0/0", "issued    : total=r=7/w=0/d=0, short="])
def test_older_counts_of_ios_are_read(issued: str) -> None:
    assert flow(f"{JOB}  read : io=28672 B, bw=4096 B/s, iops=1 , runt=  7000msec\n     {issued}\n", "read").ios == 7


NOT_RATES = (
    "  read: IOPS=232k, BW=905 furlongs/s (949MB/s)(1811MiB/2001msec)",
    "  write: IOPS=232k,",
    "  mixed: io=12 apples, bw=3KB/s, iops=1, runt= 7msec",
)


@pytest.mark.parametrize("line", NOT_RATES)
def test_a_rate_that_is_not_understood_is_named(tmp_path: Path, line: str) -> None:
    (run,) = import_texts(tmp_path, "s", {"log.txt": f"{JOB}{line}\n"})
    assert run.outcome == "failed"
    assert line.strip() in known(run.error)


def test_what_is_counted_again_is_no_other_flow() -> None:
    """unified_rw_reporting=both."""
    rate = "  read: IOPS=7, BW=28.0KiB/s (28.7kB/s)(28.0KiB/1000msec)\n"
    for again in (rate.replace("read", "mixed"), "  mixed: IOPS=0, BW=0 (0)(0B/1001msec)\n"):
        found = only(JOB + rate + again)
        assert (list(found.summary.flows), found.error) == (["read"], None)


def test_rates_that_are_not_there_are_no_run_without_ios(tmp_path: Path, golden: Golden) -> None:
    issued = "     issued rwts: total={},0,0,0 short=0,0,0,0 dropped=0,0,0,0\n"
    texts = {"cut.txt": JOB, "lost.txt": JOB + issued.format(7), "none.txt": JOB + issued.format(0)}
    lost, none = (known(run.error) for run in import_texts(tmp_path, "s", texts))
    assert lost != none
    golden.same([lost, none])


# ---------------------------------------------------------------------------------------------- what is shown


def test_all_that_text_has_of_a_latency_is_shown(tmp_path: Path) -> None:
    (run,) = import_texts(tmp_path, "s", {"log.txt": log("fio-3.33-mixed.txt")})
    text = drawings.printed(draw_run(run))
    for word in (
        "lat ",
        "p50 1.93 us",
        "p90 2.61 us",
        "p95 2.90 us",
        "p99.5 46.8 us",
        "p99.95 222 us",
        "p99.99 618 us",
    ):
        assert word in text
    assert "4,993 writes" in text
