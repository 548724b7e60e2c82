"""Samples as lines and back, and their schema."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from cephtui.models import (
    ClusterSample,
    Commits,
    FilePlace,
    Interval,
    JobSample,
    Model,
    OsdInterval,
    OsdResult,
    OsdSample,
    Phase,
    Place,
    Plan,
    Promise,
    RadosPlace,
    RbdPlace,
    Run,
    S3Place,
    Sample,
    Seconds,
    SlowestOperation,
    Stages,
)
from cephtui.models.rows import NodeRow
from cephtui.printable import printable
from cephtui.sessions.jsonlines import as_json, line, parse_sample, sample_line, schema
from tests.support.golden import Golden

COUNTS = st.integers(0, 1 << 62)
RATES = st.floats(0, 1e12).map(lambda value: round(value, 1))
LATENCIES = st.none() | st.floats(0, 1e3).map(lambda value: round(value, 10))
BUCKETS = st.none() | st.dictionaries(st.integers(0, 1855), st.integers(1, 1 << 40), min_size=1, max_size=8)
INTERVALS = st.none() | st.builds(
    Interval, st.none() | COUNTS, COUNTS, st.none() | RATES, RATES, LATENCIES, LATENCIES, BUCKETS
)
SECONDS = st.floats(0, 1e6).map(lambda value: round(value, 3))
PHASES: st.SearchStrategy[Phase] = st.sampled_from(["prepare", "ramp", "run"])
NAMES = st.text(min_size=1, max_size=10).map(printable)
JOBS = st.builds(
    JobSample,
    job=NAMES,
    direction=NAMES,
    ios=st.none() | COUNTS,
    bytes=COUNTS,
    seconds=SECONDS,
    group=NAMES,
    place=NAMES,
)
SAMPLES = st.builds(
    Sample,
    run=st.integers(1, 9999),
    node=st.none() | NAMES,
    preset=NAMES,
    phase=PHASES,
    elapsed_seconds=SECONDS,
    interval_seconds=SECONDS,
    read=INTERVALS,
    write=INTERVALS,
    missing=st.lists(NAMES, max_size=3).map(tuple),
    other=st.dictionaries(NAMES, INTERVALS.filter(bool), max_size=2),
    jobs=st.lists(JOBS, max_size=2).map(tuple),
)
SAMPLE = Sample(
    run=3,
    node=None,
    preset="write-iops",
    phase="run",
    elapsed_seconds=7.0,
    interval_seconds=1.0,
    read=None,
    write=Interval(16000, 65536000, 16000.0, 65536000.0, 0.031, 0.073, {1000: 15000, 1100: 1000}),
)


@given(SAMPLES)
def test_a_sample_survives_its_line(sample: Sample) -> None:
    text = line(sample)
    assert "\n" not in text
    assert parse_sample(text) == sample
    assert parse_sample(text.encode() + b"\n") == sample


@given(SAMPLES)
def test_a_line_has_every_key(sample: Sample) -> None:
    row = json.loads(line(sample))
    assert list(row) == [
        *("event", "run", "node", "preset", "phase", "elapsed_seconds", "interval_seconds", "read", "write"),
        *(["missing"] if sample.missing else []),
        *(["other"] if sample.other else []),
        *(["jobs"] if sample.jobs else []),
    ]
    assert row["event"] == "sample"
    for interval in (row["read"], row["write"]):
        assert interval is None or list(interval) == [
            *("ios", "bytes", "iops", "bandwidth_bytes"),
            *("latency_mean_seconds", "latency_p99_seconds", "latency_buckets"),
        ]


def test_what_is_not_measured_is_null() -> None:
    assert SAMPLE.write is not None
    bare = replace(SAMPLE.write, latency_mean_seconds=None, latency_p99_seconds=None, latency_buckets=None)
    row = json.loads(line(replace(SAMPLE, write=bare)))
    assert (row["node"], row["read"]) == (None, None)
    assert [row["write"][key] for key in row["write"] if key.startswith("latency")] == [None] * 3


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_json_is_not_written(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        sample_line(replace(SAMPLE, elapsed_seconds=value))


def test_unknown_keys_are_ignored() -> None:
    row = json.loads(line(SAMPLE))
    row["colour"] = "red"
    row["write"]["depth"] = [1, 2]
    assert parse_sample(json.dumps(row)) == SAMPLE


def changed(**values: Any) -> str:
    return json.dumps(json.loads(line(SAMPLE)) | values)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "5",
        "null",
        '"sample"',
        "{}",
        '{"event":"sample"}',
        "\x00",
        b"\xff\xfe",
        "[" * 100_000,
        line(SAMPLE)[:-1],
        line(SAMPLE) * 2,
        changed(phase="pause"),
        changed(phase=[]),
        changed(run="first"),
        changed(run=None),
        changed(elapsed_seconds=None),
        changed(elapsed_seconds="soon"),
        changed(elapsed_seconds=10**400),
        changed(write=5),
        changed(write={}),
        changed(write={"ios": 1}),
        line(SAMPLE).replace('"ios":16000', '"ios":1e999'),
        line(SAMPLE).replace("0.073", '"slow"'),
        line(SAMPLE).replace("0.031", "[]"),
        line(SAMPLE).replace('"1000":15000', '"x":15000'),
        line(SAMPLE).replace('"1000":15000', '"1000":null'),
        line(SAMPLE).replace('{"1000":15000,"1100":1000}', "[1]"),
    ],
)
def test_what_is_no_sample(text: str | bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any reason will do, no other exception may
        parse_sample(text)


@given(st.binary(max_size=60), st.integers(0, 300), st.integers(0, 20))
def test_a_damaged_line_is_a_sample_or_a_value_error(damage: bytes, start: int, length: int) -> None:
    text = line(SAMPLE).encode()
    try:
        sample = parse_sample(text[:start] + damage + text[start + length :])
    except ValueError:
        return
    assert (type(sample.run), type(sample.elapsed_seconds)) == (int, float)
    assert sample.phase in ("prepare", "ramp", "run")


# ---------------------------------------------------------------------------------------------- schema


def validates(event: Any, text: str) -> None:
    """The printed object is one of those that the schema was made of, key for key."""
    adapter: TypeAdapter[Any] = TypeAdapter(type(event))
    assert adapter.validate_json(text) == event
    properties = schema()["$defs"][type(event).__name__]["properties"]
    assert set(json.loads(text)) == set(properties)


def test_the_nodes_that_are_missing_are_named_only_where_there_are_any() -> None:
    assert "missing" not in json.loads(line(SAMPLE))
    assert json.loads(line(replace(SAMPLE, missing=("b", "c"))))["missing"] == ["b", "c"]
    assert "missing" not in schema()["$defs"]["Sample"]["required"]
    assert parse_sample(line(SAMPLE)).missing == ()


def test_what_else_was_done_is_told_only_where_there_is_any() -> None:
    assert "other" not in json.loads(line(SAMPLE))
    assert "other" not in schema()["$defs"]["Sample"]["required"]
    row = json.loads(line(replace(SAMPLE, other={"delete": Interval(3, 0, 3.0, 0.0)})))
    assert (row["other"]["delete"]["ios"], row["other"]["delete"]["latency_mean_seconds"]) == (3, None)


def test_jobs_are_told_only_where_there_are_any(golden: Golden) -> None:
    assert "jobs" not in json.loads(line(SAMPLE))
    assert "jobs" not in schema()["$defs"]["Sample"]["required"]
    sample = replace(SAMPLE, jobs=(JobSample("osd.3", "write", 4, 4096, 0.5, "hdd", "pve1 sdb"),))
    assert [job["job"] for job in json.loads(line(sample))["jobs"]] == ["osd.3"]
    with golden.raises(ValueError):
        parse_sample(line(sample).replace('"seconds":0.5', '"seconds":null'))


OSD = OsdResult(
    share=1.0,
    reads=3,
    read_seconds=0.01,
    writes=0,
    write_seconds=None,
    refused_by_size=1,
    subops=0,
    subop_seconds=None,
    received=3,
    refused=0,
)


SLOWEST = SlowestOperation(osd="osd.3", seconds=9.14, stages={"queue": 9.0}, at_seconds=3.0, own=True)
COMMITS = Commits(
    commits=3, commit_seconds=0.003, kv_queue_seconds=0.001, kv_commit_seconds=0.0015, throttle_seconds=0.0
)


STAGES = Stages(
    ios=3,
    operations=3,
    outside_seconds=0.001,
    queue_seconds=0.0001,
    prepare_seconds=0.0002,
    store_seconds=0.002,
)


def test_what_an_osd_did_not_do_is_not_in_its_interval() -> None:
    interval = OsdInterval(reads=3, read_seconds=0.01)
    sample = OsdSample(run=1, elapsed_seconds=2.0, interval_seconds=1.0, osds={"0": interval})
    row = json.loads(line(sample))
    assert row["osds"] == {"0": {"reads": 3, "read_seconds": 0.01}}
    assert OsdSample.model_validate(row) == sample
    many = {
        str(osd): OsdInterval(writes=412, write_seconds=0.0093142, subops=398, subop_seconds=0.0060123)
        for osd in range(48)
    }
    assert len(line(sample.model_copy(update={"osds": many}))) < 5000, "bytes a line"


def test_the_schema_has_the_events_and_their_keys() -> None:
    run = Run(
        session="s",
        run=1,
        batch="b",
        preset="p",
        tool="fio",
        target="file:/x",
        options={"direct": True, "bs": "4k", "runtime": 1.5},
        command="fio",
        started_at=datetime(2026, 1, 2, tzinfo=UTC),
        seconds=Seconds(metric="iops", count=2, least=1.0, mean=2.0, greatest=3.0, stddev=1.4),
        imported_from="last-year.txt",
        promise=Promise(step="p", expect=("iops>=1",)),
        heading="1 OSD",
        is_dated=False,
        edited=("runtime",),
        asked={"iodepth": 64},
        other_options={"bssplit": "4k/50:64k/50"},
        has_all_options=True,
        span_bytes=4096,
        user="admin",
        ceilings=(),
        osds={"0": OSD},
        stages={"read": STAGES},
        commits=COMMITS,
        slowest=(SLOWEST,),
    )
    sample = replace(SAMPLE, missing=("b",), other={"delete": Interval(3, 0, 3.0, 0.0)})
    sample = replace(sample, jobs=(JobSample("osd.3", "write", 4, 4096, 0.5),))
    cluster = ClusterSample(run=1, elapsed_seconds=2.0, pg_states={"active+clean": 32}, osd_latency_seconds={"0": 0.01})
    node = NodeRow(node="b", host="b.example.net", problems=("fio is not installed: apt-get install fio",))
    osds = OsdSample(run=1, elapsed_seconds=2.0, interval_seconds=1.0, osds={"0": OsdInterval(reads=3)}, missing=("1",))
    osds = osds.model_copy(update={"size_cap_bytes": 1 << 20})
    plan = Plan(steps=(), duration_seconds=0.0, session_bytes=0, quiet="all", quiet_agreed=True)
    for event in (sample, run, cluster, osds, node, plan):
        validates(event, line(event))


def test_the_schema_is_json_and_tells_events_apart() -> None:
    whole = json.loads(json.dumps(schema()))
    events = {
        "Plan": "plan",
        "Sample": "sample",
        "ClusterSample": "cluster",
        "NodeSample": "node-sample",
        "OsdSample": "osds",
        "Run": "run",
        "Mark": "mark",
        "NodeEnded": "node-ended",
    }
    events |= {"NodeEnded": "node-ended"}
    events |= {"SessionRow": "session", "PresetRow": "preset", "SuiteRow": "suite", "NodeRow": "node", "Info": "info"}
    events |= {"HostRow": "host", "KnownCeiling": "ceiling"}
    events |= {"Difference": "difference", "Figure": "figure", "MatrixCell": "cell", "LinkRow": "link"}
    events |= {"ImportedFile": "file", "ImportedPart": "part", "CurvePointRow": "point", "KneeRow": "knee"}
    events |= {"StudyRow": "study", "ConcludedRow": "concluded", "DiagnosisRow": "diagnosis", "CauseRow": "cause"}
    events |= {"Verdict": "verdict", "Conclusion": "conclusion", "Expected": "expectation"}
    assert {reference["$ref"].rpartition("/")[2] for reference in whole["anyOf"]} == set(events)
    assert {name: whole["$defs"][name]["properties"]["event"]["const"] for name in events} == events


@pytest.mark.parametrize(
    ("kind", "own", "model"),
    [
        ("file", {"path": "/mnt/x"}, FilePlace),
        ("device", {"path": "/dev/sdz"}, FilePlace),
        ("rbd", {"pool": "bench", "images": ["a-0", "a-1"]}, RbdPlace),
        ("image", {"pool": "bench", "images": ["vm"]}, RbdPlace),
        ("pool", {"pool": "bench", "namespace": "cephtui-1", "ceph_id": "bench"}, RadosPlace),
        ("s3", {"endpoint": "http://gw", "bucket_prefix": "cephtui-1-"}, S3Place),
    ],
)
def test_a_place_has_the_same_keys_whatever_its_kind(kind: str, own: dict[str, Any], model: type[Model]) -> None:
    """As in sessions written when there was one model for all of them."""
    stored = {"kind": kind, "path": "", "pool": "", "images": [], "namespace": "", "ceph_id": None, **own}
    adapter: TypeAdapter[Any] = TypeAdapter(Place)
    place = adapter.validate_json(json.dumps(stored))
    assert type(place) is model
    assert list(json.loads(as_json(place)).items()) == list(stored.items())
