"""fio's recorded output, whole and in pieces: tests/recordings/record_fio.py made the recordings."""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui import stats
from cephtui.models import Interval, Sample, Total
from cephtui.models.samples import GRID_BUCKETS
from cephtui.sessions.jsonlines import sample_line
from cephtui.tools import TOOLS
from cephtui.tools.base import Reading, ToolResult
from cephtui.tools.fio.output import FioParser
from cephtui.tools.lines import SHORTEST_INTERVAL
from cephtui.units import parse_size
from tests import RECORDINGS
from tests.support.golden import Golden
from tests.support.known import known

FOLDER = RECORDINGS
DIRECTIONS = ("read", "write")
Document = dict[str, Any]
Piece = Document | str
"""A document, or the text between two."""


@dataclass(frozen=True)
class Recording:
    name: str
    """``3.33/randwrite``."""
    argv: tuple[str, ...]
    status: int
    stdout: bytes
    stderr: bytes = b""

    @property
    def ramp(self) -> bool:
        return any(argument.startswith("--ramp_time=") for argument in self.argv)

    @property
    def block_bytes(self) -> int:
        """Of every I/O."""
        return next(parse_size(word.removeprefix("--bs=")) for word in self.argv if word.startswith("--bs="))

    @cached_property
    def pieces(self) -> list[Piece]:
        """Taken apart without the parser's help."""
        text, decoder, at = self.stdout.decode(), json.JSONDecoder(), 0
        pieces: list[Piece] = []
        for start in (match.start() for match in re.finditer(r'^\{\n  "fio version"', text, re.MULTILINE)):
            document, end = decoder.raw_decode(text, start)
            pieces += [text[at:start], document]
            at = end
        return [*pieces, text[at:]]

    @cached_property
    def documents(self) -> list[Document]:
        return [piece for piece in self.pieces if not isinstance(piece, str)]

    def with_documents(self, change: Callable[[Document], Document]) -> Recording:
        """Each document changed, the text between them as it was."""
        return replace(self, stdout=as_fio_writes(p if isinstance(p, str) else change(p) for p in self.pieces))


def as_fio_writes(pieces: Iterable[Piece]) -> bytes:
    written = (p if isinstance(p, str) else json.dumps(p, indent=2, separators=(",", " : ")) for p in pieces)
    return "".join(written).encode()


@cache
def load(name: str) -> Recording:
    version, _, kind = name.partition("/")
    folder = FOLDER / f"fio-{version}"
    command = json.loads((folder / "commands.json").read_text())[kind]
    texts = (folder / f"{kind}.{stream}" for stream in ("stdout", "stderr"))
    stdout, stderr = (path.read_bytes() if path.exists() else b"" for path in texts)
    return Recording(name, tuple(command["argv"]), command["status"], stdout, stderr)


def names(*kinds: str) -> list[str]:
    """The recordings of these kinds, of every version that has them; all recordings for none."""
    every = [
        f"{folder.name.removeprefix('fio-')}/{kind}"
        for folder in sorted(FOLDER.glob("fio-*"))
        for kind in json.loads((folder / "commands.json").read_text())
    ]
    return [name for name in every if not kinds or name.partition("/")[2] in kinds]


GROUPED = names("randwrite", "mixed", "no-ramp", "one-second", "fill", "fill-short")
APART = names("jobs-apart", "ends-apart")
STOPPED = names("stopped")
FAILED = names("no-directory", "no-space", "unknown-engine")


def feed(parser: FioParser, data: bytes, size: int | None = None) -> list[Reading]:
    size = size or len(data) or 1
    return [r for i in range(0, len(data), size) for r in parser.feed("stdout", data[i : i + size], 0.0)]


def parse(recording: Recording, chunk_bytes: int | None = None) -> tuple[list[Reading], ToolResult]:
    parser = FioParser(ramp=recording.ramp)
    parser.feed("stderr", recording.stderr, 0.0)
    readings = feed(parser, recording.stdout, chunk_bytes)
    return [*readings, *parser.finish()], parser.result()


def parse_stopped(recording: Recording, documents_before: int) -> tuple[list[Reading], ToolResult]:
    """As a user's stop goes: announced after so many documents, then fio's last words."""
    starts = [match.start() for match in re.finditer(rb'^\{\n  "fio version"', recording.stdout, re.MULTILINE)]
    parser = FioParser(ramp=recording.ramp)
    readings = feed(parser, recording.stdout[: starts[documents_before]])
    parser.expect_end()
    readings += feed(parser, recording.stdout[starts[documents_before] :])
    return [*readings, *parser.finish()], parser.result()


def intervals(readings: Iterable[Reading], direction: str, phase: str = "run") -> list[Interval]:
    found = (getattr(reading, direction) for reading in readings if reading.phase == phase)
    return [interval for interval in found if interval]


def total_of(document: Document, direction: str, key: str) -> int:
    return sum(job[direction][key] for job in document["jobs"])


def totals(result: ToolResult, direction: str) -> Total | None:
    return stats.total(getattr(result, direction))


def check_totals(total: Total | None, part: Document, block: int) -> None:
    """Exactly what fio says of one job or group in one direction, but for the I/Os: those that were completed."""
    if not part["total_ios"]:
        assert total is None
        return
    assert total is not None
    clat = part["clat_ns"]
    assert (total.ios, total.bytes) == (part["io_bytes"] // block, part["io_bytes"])
    assert total.ios_reported == (None if total.ios == part["total_ios"] else part["total_ios"])
    bandwidth = part.get("bw_bytes", part["io_bytes"] / part["runtime"] * 1000)
    assert total.iops == pytest.approx(1000 * part["io_bytes"] / block / part["runtime"])
    assert total.bandwidth_bytes == pytest.approx(bandwidth, abs=1)
    assert total.runtime_seconds == part["runtime"] / 1000
    for figure in ("mean", "stddev", "min", "max"):
        assert getattr(total, f"latency_{figure}_seconds") == clat[figure] / 1e9
    for name, percent in (("p50", "50"), ("p95", "95"), ("p99", "99"), ("p999", "99.9")):
        expected = clat["percentile"][f"{float(percent):.6f}"] / 1e9
        assert getattr(total, f"latency_{name}_seconds") == expected
    for found, spread in ((total.slat, part["slat_ns"]), (total.lat, part["lat_ns"])):
        timed = spread.get("N", spread["max"])
        wanted = {f"{k}_seconds": spread[k] / 1e9 for k in ("mean", "stddev", "min", "max")} if timed else None
        assert (found and found.model_dump()) == wanted


# ---------------------------------------------------------------------------------------------- figures


def test_recordings_are_of_several_versions() -> None:
    versions = {name.partition("/")[0] for name in names()}
    assert versions >= {"3.1", "3.7", "3.12", "3.16", "3.25", "3.33", "3.39", "3.41"}
    for name in names():
        version = name.partition("/")[0]
        assert all(document["fio version"] == f"fio-{version}" for document in load(name).documents)


@pytest.mark.parametrize("name", [*GROUPED, *APART, *names("no-latency")])
def test_readings_add_up_to_the_last_document(name: str) -> None:
    readings, _ = parse(load(name))
    for direction in DIRECTIONS:
        for figure, key in (("ios", "total_ios"), ("bytes", "io_bytes")):
            added = sum(getattr(interval, figure) for interval in intervals(readings, direction))
            assert added == pytest.approx(total_of(load(name).documents[-1], direction, key), rel=0.01)


@pytest.mark.parametrize("name", GROUPED)
def test_result_is_the_last_document(name: str) -> None:
    recording = load(name)
    _, result = parse(recording)
    (job,) = recording.documents[-1]["jobs"]
    for direction in DIRECTIONS:
        check_totals(totals(result, direction), job[direction], recording.block_bytes)
    assert (result.cpu_user_percent, result.cpu_system_percent) == (job["usr_cpu"], job["sys_cpu"])
    assert result.context_switches == job["ctx"]
    levels = job["iodepth_level"]
    whole = max(100.0, sum(levels.values()))  # some versions count the ramp's I/Os in the parts alone
    assert dict(result.depths) == pytest.approx({depth: s * 100 / whole for depth, s in levels.items()}, rel=0.01)
    used = [
        (d["name"], d["util"], d["read_ios"], d["write_merges"], d["read_ticks"] / 1000, d["in_queue"] / 1000)
        for d in recording.documents[-1].get("disk_util", [])
    ]
    assert [
        (d.name, d.utilisation_percent, d.read_ios, d.write_merges, d.read_wait_seconds, d.queue_seconds)
        for d in result.disks
    ] == used
    assert (result.jobs, result.error, result.findings) == ((), None, ())


@pytest.mark.parametrize("name", APART)
def test_jobs_that_are_not_grouped_are_told_apart_and_together(name: str) -> None:
    recording = load(name)
    _, result = parse(recording)
    jobs = recording.documents[-1]["jobs"]
    assert [job.job for job in result.jobs] == [f"{job['jobname']} {i}" for i, job in enumerate(jobs, 1)]
    for told, job in zip(result.jobs, jobs, strict=True):
        for direction in DIRECTIONS:
            check_totals(getattr(told.summary, direction), job[direction], recording.block_bytes)
    for direction in DIRECTIONS:
        parts = [job[direction] for job in jobs if job[direction]["total_ios"]]
        total = totals(result, direction)
        if not parts:
            assert total is None
            continue
        assert total is not None
        assert total.ios == sum(part["io_bytes"] for part in parts) // recording.block_bytes
        reported = sum(part["total_ios"] for part in parts)
        assert total.ios_reported == (None if total.ios == reported else reported)
        longest = max(part["runtime"] for part in parts) / 1000
        assert total.runtime_seconds == longest
        assert total.iops == pytest.approx(known(total.ios) / longest)
        assert total.bandwidth_bytes == pytest.approx(sum(part["io_bytes"] for part in parts) / longest)
        submitted = sum(part["slat_ns"]["N"] * part["slat_ns"]["mean"] for part in parts)
        mean_of_all = submitted / sum(part["slat_ns"]["N"] for part in parts)
        assert known(total.slat).mean_seconds == pytest.approx(mean_of_all / 1e9)
        latencies = sorted(ns for part in parts for key, n in part["clat_ns"]["bins"].items() for ns in [int(key)] * n)
        number = len(latencies)
        mean = sum(part["clat_ns"]["N"] * part["clat_ns"]["mean"] for part in parts) / number
        assert total.latency_mean_seconds == pytest.approx(mean / 1e9)
        assert total.latency_p99_seconds == latencies[math.ceil(0.99 * number) - 1] / 1e9
        assert total.latency_min_seconds == min(part["clat_ns"]["min"] for part in parts) / 1e9
        assert total.latency_max_seconds == max(part["clat_ns"]["max"] for part in parts) / 1e9


@pytest.mark.parametrize("name", APART)
def test_the_depth_of_jobs_that_are_not_grouped_is_that_of_all_their_ios(name: str) -> None:
    jobs = load(name).documents[-1]["jobs"]
    _, result = parse(load(name))
    ios = [sum(job[direction]["total_ios"] for direction in DIRECTIONS) for job in jobs]
    for level, share in result.depths.items():
        counted = sum(number * job["iodepth_level"][level] for number, job in zip(ios, jobs, strict=True))
        assert share == pytest.approx(counted / sum(ios))
    assert sum(result.depths.values()) == pytest.approx(100, abs=0.1)
    assert result.context_switches == sum(job["ctx"] for job in jobs)


def test_the_images_of_jobs_that_are_not_grouped() -> None:
    def on_images(document: Document) -> Document:
        document = copy.deepcopy(document)
        for number, job in enumerate(document["jobs"]):
            job["job options"]["rbdname"] = f"image-{number}"
        return document

    _, result = parse(load("3.33/jobs-apart").with_documents(on_images))
    assert [job.image for job in result.jobs] == ["image-0", "image-1"]
    assert [job.image for job in parse(load("3.33/jobs-apart"))[1].jobs] == [None, None]


@pytest.mark.parametrize("name", [*GROUPED, *APART])
def test_the_rate_of_the_whole_run_is_the_mean_of_its_seconds(name: str) -> None:
    readings, result = parse(load(name))
    lasted = sum(reading.interval_seconds for reading in readings if reading.phase == "run")
    ios = sum(known(i.ios) for direction in DIRECTIONS for i in intervals(readings, direction))
    flows = result.flows.values()
    longest = max(flow.runtime_seconds for flow in flows)
    assert sum(known(flow.iops) * flow.runtime_seconds / longest for flow in flows) == pytest.approx(
        ios / lasted, rel=0.02
    )


@pytest.mark.parametrize("name", [*GROUPED, *APART])
def test_the_histogram_of_the_run_has_every_percentile_of_fio(name: str) -> None:
    """That of the result, and the sum of the seconds' histograms, which a saved session has."""
    recording = load(name)
    readings, result = parse(recording)
    for direction, flow in result.flows.items():
        last = known(stats.total(flow, histogram=True)).latency_buckets
        seconds = [i.latency_buckets for i in intervals(readings, direction) if i.latency_buckets]
        assert stats.add_buckets(seconds) == last
        if len(recording.documents[-1]["jobs"]) == 1:
            own = recording.documents[-1]["jobs"][0][direction]["clat_ns"]["percentile"]
            assert {float(p) for p in own} >= {50.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99}
            for percent, nanoseconds in ((percent, value) for percent, value in own.items() if percent != "0.00"):
                assert stats.percentile_seconds(known(last), float(percent)) == nanoseconds / 1e9


@pytest.mark.parametrize(
    ("engine", "depth", "levels", "found"),
    [
        ("psync", 64, (100.0, 0.0), [{"iodepth": 64, "ioengine": "psync"}]),
        ("psync", 1, (100.0, 0.0), []),
        ("libaio", 64, (100.0, 0.0), []),
        ("psync", 64, (0.1, 99.9), []),
    ],
)
def test_a_depth_that_the_engine_can_not_have_is_a_finding(
    engine: str, depth: int, levels: tuple[float, float], found: list[dict[str, object]]
) -> None:
    def at_depth(document: Document) -> Document:
        document = copy.deepcopy(document)
        for job in document["jobs"]:
            job["iodepth_level"] |= dict.fromkeys(job["iodepth_level"], 0.0) | {"1": levels[0], ">=64": levels[1]}
        return document

    options = TOOLS["fio"].check_options({"rw": "read", "ioengine": engine, "iodepth": depth})
    parser = TOOLS["fio"].bind(options).parser(ramp=False, seconds=None)
    parser.feed("stdout", load("3.33/no-ramp").with_documents(at_depth).stdout, 1.0)
    assert [finding.values for finding in parser.result().findings if finding.code == "depth"] == found


def bins_of(document: Document, direction: str) -> dict[int, int]:
    bins: dict[int, int] = {}
    for job in document["jobs"]:
        for key, number in job[direction]["clat_ns"].get("bins", {}).items():
            bins[int(key)] = bins.get(int(key), 0) + number
    return bins


@pytest.mark.parametrize("name", [*GROUPED, *APART])
def test_latency_of_a_second_is_that_of_the_difference_of_two_documents(name: str) -> None:
    recording = load(name)
    readings, _ = parse(recording)
    checked = 0
    for direction in DIRECTIONS:
        before: dict[int, int] = {}
        ended = 0
        for interval in intervals(readings, direction):
            ended += interval.bytes
            ends = [
                d for d in recording.documents if total_of(d, direction, "io_bytes") == ended and bins_of(d, direction)
            ]
            if not interval.ios or not ends:
                continue
            now = bins_of(ends[-1], direction)
            latencies = sorted(ns for ns, n in now.items() for _ in range(n - before.get(ns, 0)))
            assert interval.latency_p99_seconds == latencies[math.ceil(0.99 * len(latencies)) - 1] / 1e9
            assert sum((interval.latency_buckets or {}).values()) == len(latencies)
            # a bin is 1.6 % wide at most, and stands for its middle
            assert interval.latency_mean_seconds == pytest.approx(sum(latencies) / len(latencies) / 1e9, rel=0.01)
            before = now
            checked += 1
    assert checked == sum(len([i for i in intervals(readings, d) if i.ios]) for d in DIRECTIONS)


@pytest.mark.parametrize("name", [n for n in names() if n not in FAILED])
def test_rates_are_the_counts_over_the_interval(name: str) -> None:
    for reading in parse(load(name))[0]:
        for interval in (reading.read, reading.write):
            if interval:
                assert interval.iops == pytest.approx(known(interval.ios) / reading.interval_seconds)
                assert interval.bandwidth_bytes == pytest.approx(interval.bytes / reading.interval_seconds)


def test_without_latency_there_are_counts_and_no_latency() -> None:
    for name in names("no-latency"):
        readings, result = parse(load(name))
        flow = result.read
        assert flow is not None
        assert (flow.ios, flow.moments, flow.bounds) == (
            total_of(load(name).documents[-1], "read", "total_ios"),
            None,
            None,
        )
        assert all(i.latency_mean_seconds is None and i.latency_buckets is None for i in intervals(readings, "read"))
        total = stats.total(flow)
        assert total is not None
        assert total.latency_p99_seconds is None


# ---------------------------------------------------------------------------------------------- intervals


@pytest.mark.parametrize("name", names())
def test_only_an_interval_that_is_alone_in_its_phase_is_short(name: str) -> None:
    readings, _ = parse(load(name))
    for phase in ("ramp", "run"):
        lengths = [reading.interval_seconds for reading in readings if reading.phase == phase]
        assert len(lengths) == 1 or all(length >= SHORTEST_INTERVAL for length in lengths)


@pytest.mark.parametrize("name", names("fill-short"))
def test_a_process_that_is_over_at_once_has_one_reading(name: str) -> None:
    readings, result = parse(load(name))
    assert [reading.write and reading.write.ios for reading in readings] == [8]
    assert readings[0].interval_seconds < SHORTEST_INTERVAL
    assert result.write is not None
    assert result.write.bytes == 8 << 20


@pytest.mark.parametrize("name", names("no-directory"))
def test_a_process_that_did_nothing_has_no_reading(name: str) -> None:
    readings, result = parse(load(name))
    assert readings == []
    assert (result.read, result.write) == (None, None)


@pytest.mark.parametrize("name", names("one-second"))
def test_the_end_joins_the_first_second_too(name: str) -> None:
    """fio has no estimate of its end in the first second: it may come at any moment."""
    readings, _ = parse(load(name))
    assert [reading.interval_seconds for reading in readings] == [pytest.approx(1.0, abs=0.01)]


@pytest.mark.parametrize("name", [n for n in names() if load(n).ramp])
def test_the_ramp_comes_first_is_marked_and_left_out(name: str) -> None:
    recording = load(name)
    readings, result = parse(recording)
    phases = [reading.phase for reading in readings]
    assert "ramp" in phases
    assert phases == sorted(phases)
    assert all(i.latency_mean_seconds is None for d in DIRECTIONS for i in intervals(readings, d, "ramp"))
    if name in names("stopped-in-ramp"):
        assert set(phases) == {"ramp"}
        assert (result.read, result.write) == (None, None)
    else:
        assert "run" in phases


@pytest.mark.parametrize("name", names("stopped-in-ramp"))
def test_a_document_of_the_ramp_that_is_printed_late_is_of_the_ramp(name: str) -> None:
    """As the last one is on a busy machine: the time of day has gone on, and ``runtime`` has not."""
    recording = load(name)
    *before, last = recording.documents
    late = last | {"timestamp_ms": last["timestamp_ms"] + 5000}
    readings, result = parse(replace(recording, stdout=as_fio_writes([*before, late])))
    assert {reading.phase for reading in readings} == {"ramp"}
    assert (result.read, result.write) == (None, None)


@pytest.mark.parametrize("name", [n for n in names() if not load(n).ramp and n not in FAILED])
def test_without_a_ramp_all_is_measured(name: str) -> None:
    assert {reading.phase for reading in parse(load(name))[0]} == {"run"}


@pytest.mark.parametrize("documents_before", [0, 1, 2])
@pytest.mark.parametrize("name", STOPPED)
def test_an_announced_end_joins_the_interval_before(name: str, documents_before: int) -> None:
    recording = load(name)
    readings, result = parse_stopped(recording, documents_before)
    assert result.write is not None
    assert sum(known(i.ios) for i in intervals(readings, "write")) == result.write.ios
    assert result.write.ios == total_of(recording.documents[-1], "write", "io_bytes") // recording.block_bytes
    assert all(reading.interval_seconds >= SHORTEST_INTERVAL for reading in readings)
    assert result.error is None


@pytest.mark.parametrize("name", STOPPED)
def test_a_short_rest_after_a_reading_that_was_given_is_left_out(name: str) -> None:
    recording = load(name)
    readings, result = parse(recording)
    last_whole = total_of(recording.documents[-2], "write", "io_bytes") // recording.block_bytes
    assert sum(known(i.ios) for i in intervals(readings, "write")) == last_whole
    assert result.write is not None
    assert result.write.ios == total_of(recording.documents[-1], "write", "io_bytes") // recording.block_bytes


def test_stopped_right_after_the_ramp_there_is_one_short_reading() -> None:
    recording = load("3.33/stopped")
    ramp, first = copy.deepcopy(recording.documents[:2])
    first["jobs"][0]["write"]["runtime"] = 230
    readings, result = parse(replace(recording, stdout=as_fio_writes([ramp, first])))
    assert [(reading.phase, reading.interval_seconds) for reading in readings] == [("ramp", 0.889), ("run", 0.23)]
    assert result.write is not None
    assert readings[1].write is not None
    assert readings[1].write.ios == result.write.ios


def test_while_some_jobs_are_still_in_the_ramp_so_is_the_run() -> None:
    recording = load("3.33/jobs-apart")
    ramp, first, *rest = recording.documents
    between = copy.deepcopy(ramp)
    between["jobs"][0] = copy.deepcopy(first["jobs"][0])
    started = between["jobs"][0]["read"]
    started |= {
        "total_ios": 3,
        "io_bytes": 12288,
        "runtime": 10,
        "clat_ns": {"N": 3, "mean": 500.0, "bins": {"500": 3}},
    }
    between["jobs"][1]["read"] |= {"total_ios": 215, "io_bytes": 215 * 4096, "runtime": 1071}
    readings, result = parse(replace(recording, stdout=as_fio_writes([ramp, between, first, *rest])))
    assert result.read is not None
    assert sum(known(i.ios) for i in intervals(readings, "read")) == pytest.approx(result.read.ios, rel=0.01)


# ---------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("kind", "said"),
    [("no-directory", "Not a directory"), ("no-space", "No space left on device"), ("unknown-engine", "libaoi")],
)
def test_what_went_wrong_is_told_in_fios_words(kind: str, said: str) -> None:
    for name in names(kind):
        recording = load(name)
        _, result = parse(recording)
        assert recording.status == 1
        assert result.error is not None
        assert said in result.error
        assert "\n" not in result.error


def test_without_words_the_error_number_is_told() -> None:
    silent = load("3.33/no-space").with_documents(lambda document: document)
    pieces = [piece for piece in silent.pieces if not isinstance(piece, str)]
    _, result = parse(replace(silent, stdout=as_fio_writes(pieces), stderr=b""))
    assert result.error == "No space left on device"


@pytest.mark.parametrize("name", [n for n in names() if n not in FAILED])
def test_a_run_without_an_error_tells_none(name: str) -> None:
    assert parse(load(name))[1].error is None


def test_words_before_a_torn_document_are_told_without_it() -> None:
    recording = load("3.33/no-ramp")
    words = "fio: something broke"
    torn = f"{words}\n".encode() + recording.stdout[:700]
    assert parse(replace(recording, stdout=torn))[1].error == words


def test_words_are_the_same_however_they_are_cut(golden: Golden) -> None:
    said = b"fio: failed {here} and\nnot {there} fio: }\n"
    for size in range(1, len(said)):
        parser = FioParser(ramp=False)
        feed(parser, said, size)
        golden.same(parser.result().error)


# ---------------------------------------------------------------------------------------------- pieces


def compact(recording: Recording) -> Recording:
    """Only what the parser reads, and few bins, so that every byte can be tried."""

    def shorten(document: Document) -> Document:
        jobs = [
            {
                **{key: job[key] for key in ("jobname", "error", "eta", "usr_cpu", "sys_cpu")},
                **{direction: shorten_flow(job[direction]) for direction in DIRECTIONS},
            }
            for job in document["jobs"]
        ]
        return {key: document[key] for key in ("fio version", "timestamp_ms")} | {"jobs": jobs}

    def shorten_flow(part: Document) -> Document:
        kept = {k: part[k] for k in ("io_bytes", "bw_bytes", "bw", "iops", "runtime", "total_ios")}
        clat = part["clat_ns"]
        bins: dict[str, int] = {}
        for key, number in clat.get("bins", {}).items():
            coarse = str(1 << (int(key).bit_length() - 1))
            bins[coarse] = bins.get(coarse, 0) + number
        measured = {k: clat[k] for k in ("min", "max", "mean", "stddev", "N")} | ({"bins": bins} if bins else {})
        return kept | {"clat_ns": measured}

    return recording.with_documents(shorten)


SMALL = compact(load("3.39/stopped"))
assert any(isinstance(piece, str) and "terminating" in piece for piece in SMALL.pieces)


def test_cut_in_two_anywhere() -> None:
    whole = parse(SMALL)
    assert len(whole[0]) == 3
    for cut in range(len(SMALL.stdout) + 1):
        parser = FioParser(ramp=True)
        readings = feed(parser, SMALL.stdout[:cut]) + feed(parser, SMALL.stdout[cut:])
        assert (readings + parser.finish(), parser.result()) == whole, f"cut at {cut}"


def test_torn_off_anywhere() -> None:
    whole, _ = parse(SMALL)
    for end in range(len(SMALL.stdout)):
        parser = FioParser(ramp=True)
        given_live = feed(parser, SMALL.stdout[:end])
        assert given_live == whole[: len(given_live)], f"torn at {end}"
        held = parser.finish()
        assert len(held) <= 1
        assert all(reading.interval_seconds <= whole[len(given_live)].interval_seconds for reading in held)
        parser.result()


@pytest.mark.parametrize("name", [*names("stopped"), "3.33/randwrite", "3.33/jobs-apart", "3.33/fill", *FAILED])
def test_byte_by_byte(name: str) -> None:
    assert parse(load(name), 1) == parse(load(name))


@given(data=st.data(), name=st.sampled_from(names()))
def test_in_any_pieces(data: st.DataObject, name: str) -> None:
    recording = load(name)
    length = len(recording.stdout)
    cuts = sorted(data.draw(st.lists(st.integers(0, length), max_size=12)))
    parser = FioParser(ramp=recording.ramp)
    parser.feed("stderr", recording.stderr, 0.0)
    readings = [r for a, b in pairwise([0, *cuts, length]) for r in feed(parser, recording.stdout[a:b])]
    assert (readings + parser.finish(), parser.result()) == parse(recording)


def test_a_reading_has_the_time_of_its_last_piece() -> None:
    recording = load("3.33/randwrite")
    parser = FioParser(ramp=True)
    readings = []
    for arrived, start in enumerate(range(0, len(recording.stdout), 1000)):
        readings += parser.feed("stdout", recording.stdout[start : start + 1000], arrived / 20)
    ends = [m.start() + 1 for m in re.finditer(rb"\n\}", recording.stdout)]
    assert [reading.elapsed_seconds for reading in readings] == [end // 1000 / 20 for end in ends[: len(readings)]]


def test_what_is_told_late_is_placed_when_it_was_measured() -> None:
    recording = load("3.33/randwrite")
    ends = [m.start() + 3 for m in re.finditer(rb"\n\}", recording.stdout)]
    parser, readings = FioParser(ramp=True), []
    for second, (start, end) in enumerate(pairwise([0, *ends]), 1):
        arrived = second + (4.0 if second == 3 else 0.0)  # fio stood still before it printed, and catches up
        readings += parser.feed("stdout", recording.stdout[start:end], max(arrived, 7.0 if second > 2 else 0.0))
    assert readings[2].elapsed_seconds == pytest.approx(readings[1].elapsed_seconds + readings[2].interval_seconds)
    times = [reading.elapsed_seconds for reading in readings]
    assert times == sorted(times)
    assert times[0] == 1.0


# ---------------------------------------------------------------------------------------------- noise


NOISE = [
    "fio: terminating on signal 15\n",
    "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1\n",
    "{",
    "}",
    "\n}\n",
    "{}{}{}\n",
    'a { "b" : {\n}\n} c\n',
    '{"fio version"',
    '{\n  "fio version" : "fio-3.33",\n',
    '{ "fio version" : "none" }\n}\n',
    '{ "fio version" : 1, "jobs" : [ {} ]\n}\n',
    '{ "fio version" : 1, "jobs" : 5\n}\n',
    "[" * 5000 + "\n",
    "x" * 10000,
    "\x00\ufffd é \u2028\n",
]


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("name", ["3.33/mixed", "3.39/stopped"])
def test_text_between_documents_changes_nothing(name: str, noise: str) -> None:
    recording = load(name)
    pieces = [part for piece in recording.pieces for part in ((piece,) if isinstance(piece, str) else (noise, piece))]
    noisy = replace(recording, stdout=as_fio_writes([*pieces, noise]))
    readings, result = parse(recording)
    for chunk_bytes in (None, 777):
        noisy_readings, noisy_result = parse(noisy, chunk_bytes)
        assert noisy_readings == readings
        assert replace(noisy_result, findings=(), error=None) == replace(result, findings=(), error=None)


@pytest.mark.parametrize("how", ["no end", "run into the next", "a quote lost", "a number lost"])
def test_a_broken_document_is_told_and_its_second_joins_the_next(how: str) -> None:
    recording = load("3.33/mixed")
    text = recording.stdout
    start, following = [match.start() for match in re.finditer(rb'^\{\n  "fio version"', text, re.MULTILINE)][2:4]
    middle = (start + following) // 2
    broken = {
        "no end": text[: text.rindex(b"\n}", start, following)] + text[following:],
        "run into the next": text[:middle] + text[following:],
        "a quote lost": text[:start] + text[start:].replace(b'"jobs"', b'jobs"', 1),
        "a number lost": text[:start] + text[start:].replace(b'"total_ios"', b'"total_oops"', 1),
    }[how]
    readings, result = parse(replace(recording, stdout=broken))
    assert [(finding.code, finding.values) for finding in result.findings] == [("unreadable", {"reports": 1})]
    assert len(readings) == len(parse(recording)[0]) - 1
    assert result.read is not None
    assert sum(known(i.ios) for i in intervals(readings, "read")) == result.read.ios
    assert result.read == parse(recording)[1].read


def test_an_endless_document_is_given_up() -> None:
    recording = load("3.33/no-ramp")
    parser = FioParser(ramp=False)
    assert feed(parser, b'{ "fio version"' + b" " * (17 << 20)) == []
    readings = feed(parser, recording.stdout) + parser.finish()
    assert readings == parse(recording)[0]
    assert [finding.code for finding in parser.result().findings] == ["unreadable"]


def check_sane(readings: Sequence[Reading]) -> None:
    """Every figure can be stored and drawn."""
    for reading in readings:
        sample_line(Sample(1, None, "x", reading.phase, 0.0, reading.interval_seconds, reading.read, reading.write))
        assert reading.interval_seconds >= 0
        for interval in (reading.read, reading.write):
            if interval:
                assert min(known(interval.ios), interval.bytes, known(interval.iops)) >= 0
                assert known(interval.bandwidth_bytes) >= 0
                assert (interval.latency_mean_seconds or 0) >= 0


@given(
    chunks=st.lists(st.binary(max_size=300) | st.sampled_from([n.encode() for n in NOISE]), max_size=12),
    ramp=st.booleans(),
)
def test_anything_at_all_is_borne(chunks: list[bytes], ramp: bool) -> None:
    parser = FioParser(ramp=ramp)
    readings = [r for chunk in chunks for s in ("stdout", "stderr") for r in parser.feed(s, chunk, 1.0)]
    check_sane(readings + parser.finish())
    parser.result()


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.text(max_size=3),
    st.just([]),
    st.just({}),
    st.just({"bins": {"x": 1}}),
    st.integers(300, 400).map(lambda digits: 10**digits),
)


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, inner in items for found in paths(inner, (*path, key)))]


SMALL_PATHS = [[path for path in paths(document) if path] for document in SMALL.documents]


@given(data=st.data())
def test_documents_with_other_values_are_borne(data: st.DataObject) -> None:
    """As a version of fio yet to come might write them; what can't be read is told."""
    documents = copy.deepcopy(SMALL.documents)
    for _ in range(data.draw(st.integers(1, 3))):
        number = data.draw(st.integers(0, len(documents) - 1))
        *way, last = data.draw(st.sampled_from(SMALL_PATHS[number]))
        inner: Any = documents[number]
        try:
            for key in way:
                inner = inner[key]
            if data.draw(st.booleans()):
                inner[last] = data.draw(VALUES)
            else:
                del inner[last]
        except (KeyError, IndexError, TypeError):
            pass  # an earlier change has taken away what this one would change
    readings, result = parse(replace(SMALL, stdout=as_fio_writes(documents)))
    check_sane(readings)
    for direction in DIRECTIONS:
        totals(result, direction)


@given(data=st.data())
def test_damaged_bytes_are_borne(data: st.DataObject) -> None:
    damaged = bytearray(SMALL.stdout)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(damaged)))
        damaged[start : start + data.draw(st.integers(0, 40))] = data.draw(st.binary(max_size=20))
    recording = replace(SMALL, stdout=bytes(damaged))
    whole = parse(recording)
    check_sane(whole[0])
    assert parse(recording, data.draw(st.integers(1, 500))) == whole


# ---------------------------------------------------------------------------------------------- other versions' shapes


EVERY_BIN = [str(stats.bucket_nanoseconds(index)) for index in range(GRID_BUCKETS)]


def bins_with_zeros(document: Document) -> Document:
    """fio 3.1 to 3.13 list every bin."""
    document = copy.deepcopy(document)
    for job in document["jobs"]:
        for direction in DIRECTIONS:
            clat = job[direction]["clat_ns"]
            if "bins" in clat:
                clat["bins"] = dict.fromkeys(EVERY_BIN, 0) | clat["bins"]
    return document


def few_keys(document: Document) -> Document:
    """Without all that came after fio 3.1, or is left out where it does not apply."""
    document = copy.deepcopy(document)
    document.pop("disk_util", None)
    for job in document["jobs"]:
        for key in ("sync", "job_runtime", "latency_ns"):
            job.pop(key, None)
        for direction in DIRECTIONS:
            part = job[direction]
            for key in [k for k in part if k.startswith(("iops_", "bw_", "lat_ns", "slat", "drop", "short"))]:
                del part[key]
            if not part["clat_ns"].get("N", part["clat_ns"]["max"]):
                del part["clat_ns"]
    return document


@pytest.mark.parametrize("name", [*GROUPED, *APART])
def test_bins_with_zeros_are_the_same(name: str) -> None:
    assert parse(load(name).with_documents(bins_with_zeros)) == parse(load(name))


@pytest.mark.parametrize("name", [*GROUPED, *APART])
def test_missing_keys_are_done_without(name: str) -> None:
    readings, result = parse(load(name).with_documents(few_keys))
    known_readings, known = parse(load(name))
    assert readings == known_readings
    assert (result.disks, result.error, result.findings) == ((), None, ())
    for direction in DIRECTIONS:
        flow, known_flow = getattr(result, direction), getattr(known, direction)
        if known_flow:
            # without bw_bytes there are only whole KiB per second, for each job
            assert flow.bandwidth_bytes == pytest.approx(known_flow.bandwidth_bytes, abs=2048)
            flow = replace(flow, bandwidth_bytes=known_flow.bandwidth_bytes)
            assert (flow.slat, flow.lat) == (None, None)
            known_flow = replace(known_flow, slat=None, lat=None)
        assert flow == known_flow


@pytest.mark.parametrize("name", GROUPED)
def test_without_the_time_of_day(name: str) -> None:
    def timeless(document: Document) -> Document:
        return {key: value for key, value in document.items() if key != "timestamp_ms"}

    assert parse(load(name).with_documents(timeless)) == parse(load(name))


def test_without_bins_there_are_means_and_no_percentiles() -> None:
    def plain_json(document: Document) -> Document:
        document = copy.deepcopy(document)
        for job in document["jobs"]:
            for direction in DIRECTIONS:
                job[direction]["clat_ns"].pop("bins", None)
        return document

    readings, result = parse(load("3.33/randwrite").with_documents(plain_json))
    known = parse(load("3.33/randwrite"))[0]
    assert [r.write and r.write.latency_mean_seconds for r in readings] == [
        r.write and r.write.latency_mean_seconds for r in known
    ]
    assert all(i.latency_p99_seconds is None for i in intervals(readings, "write"))
    total = totals(result, "write")
    assert total is not None
    assert total.latency_mean_seconds is not None
    assert total.latency_p99_seconds is None


@pytest.mark.parametrize("name", names("no-ramp"))
def test_a_run_of_known_length_tells_its_first_second_at_once(name: str) -> None:
    """Without the length, fio's second document may be its last but one, and the first second has to wait for it."""
    recording = load(name)
    first = recording.stdout[: recording.stdout.index(b"\n}") + 2]
    known, unknown = FioParser(ramp=False, seconds=600.0), FioParser(ramp=False)
    assert [len(feed(known, first)), len(feed(unknown, first))] == [1, 0]
    feed(known, recording.stdout[len(first) :])
    assert known.result() == parse(recording)[1]


# ---------------------------------------------------------------------------------------------- errors in words

LOG = "2026-11-22T03:49:40.336+0000 7f432ffff6c0 -1 "
LIBRBD = (
    f"{LOG}librbd::io::ObjectRequest: 0x7f432002b7a0 handle_write_object: rbd_data.1117.0d failed to write object: "
)
IO_ERROR = "fio: io_u error on file write-iops-0.0.0: Operation not permitted: write offset=42635264, buflen=4096"


@pytest.mark.parametrize(
    ("said", "error"),
    [
        (f"{LIBRBD}(1) Operation not permitted\n{IO_ERROR}\n", IO_ERROR),
        (
            f"{LIBRBD}(1) Operation not permitted\n",
            "rbd_data.1117.0d failed to write object: (1) Operation not permitted",
        ),
        (
            f"{LOG}librbd::image::OpenRequest: failed to stat v2 image header: (2) gone\n",
            "failed to stat v2 image header: (2) gone",
        ),
        # a flood of them: the first is the cause, and no line is cut
        (f"{IO_ERROR}\n" + 5000 * f"{LIBRBD}(1) Operation not permitted\n", IO_ERROR),
    ],
)
def test_an_error_is_a_sentence_and_no_line_of_a_log(said: str, error: str) -> None:
    parser = FioParser(ramp=False)
    for start in range(0, len(said), 4096):
        parser.feed("stderr", said[start : start + 4096].encode(), 1.0)
    assert parser.result().error == error


# ---------------------------------------------------------------------------------------------- in flight


def deep(document: Document, missing: int, **options: str) -> Document:
    """As where so many I/Os were in flight when the ramp ended; with other options."""
    document = copy.deepcopy(document)
    (job,) = document["jobs"]
    job["job options"] |= options
    if job["write"]["clat_ns"].get("N"):
        job["write"]["total_ios"] = max(1, job["write"]["total_ios"] - missing)
        job["write"]["iops"] = 1000 * job["write"]["total_ios"] / job["write"]["runtime"]
    return document


@pytest.mark.parametrize("options", [{}, {"bsrange": "4k-8k"}, {"bssplit": "4k/50:8k/50"}, {"bs": "4k,8k"}], ids=str)
def test_ios_in_flight_at_the_end_of_the_ramp_are_counted_as_they_complete(options: dict[str, str]) -> None:
    """By their bytes, or where they have several sizes by their latencies, of which each has one."""
    recording = load("3.33/randwrite")
    whole = recording.documents[-1]["jobs"][0]["write"]
    readings, result = parse(recording.with_documents(lambda document: deep(document, 500, **options)))
    flow = known(result.write)
    seconds = whole["runtime"] / 1000
    assert flow.ios == whole["clat_ns"]["N"] == whole["io_bytes"] // 4096
    assert flow.iops == pytest.approx(known(flow.ios) / seconds)
    assert flow.ios_reported == whole["total_ios"] - 500
    assert sum(known(interval.ios) for interval in intervals(readings, "write")) == flow.ios
    assert known(flow.iops) * 4096 == pytest.approx(known(flow.bandwidth_bytes), abs=1)


def test_without_latency_ios_of_several_sizes_are_as_fio_counts_them() -> None:
    recording = load("3.33/no-latency")
    (job,) = recording.documents[-1]["jobs"]
    _, result = parse(recording.with_documents(lambda document: deep(document, 0, bsrange="4k-8k")))
    assert (known(result.read).ios, known(result.read).ios_reported) == (job["read"]["total_ios"], None)


@pytest.mark.parametrize("bs", ["4kx", "", "0", "3k"])
def test_a_block_size_that_can_not_be_is_not_counted_by(bs: str) -> None:
    _, result = parse(load("3.33/randwrite").with_documents(lambda document: deep(document, 0, bs=bs)))
    assert known(result.write).ios == 6008, "as many as there are latencies"
