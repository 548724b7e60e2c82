"""OSD bench: its options, its program on a fake cluster, recorded output whole and in pieces, guards, plan and bars."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.analysis.detectors.jobs import JobFigure, JobsSoFar, job_figures, slow_jobs, slower
from cephtui.analysis.runs.merge import as_sample
from cephtui.ceph.commands import parse_answers, script_argv
from cephtui.models import Finding, Node, NodeResult, OptionValue, OsdPlace, Part, Sample
from cephtui.nodes.transport import Completed
from cephtui.planning import Request, make_plan
from cephtui.reports.blocks import Table
from cephtui.reports.drawn.bars import bars
from cephtui.reports.drawn.plan import draw_plans
from cephtui.reports.views.jobs import job_blocks
from cephtui.reports.views.report.tables import jobs_table
from cephtui.sessions.jsonlines import parse_sample, sample_line
from cephtui.targets import parse_target
from cephtui.targets.base import TargetError, TargetState, Use
from cephtui.tools import TOOLS
from cephtui.tools.base import OptionError, Reading, ToolResult
from cephtui.tools.osd_bench.output import OsdBenchParser
from tests import RECORDINGS
from tests.support import plans
from tests.support.clusters import RecordedShell
from tests.support.drawings import draw_session, printed, run_markdown
from tests.support.golden import Golden
from tests.support.known import known
from tests.support.runs import nodes
from tests.support.runs import run as measured_run

OSD_BENCH = TOOLS["osd-bench"]
FOLDER = RECORDINGS / "osd-bench-16.2"
IN_TURN, TOGETHER, SMALL = (FOLDER / f"{name}.stdout" for name in ("in-turn", "together", "small"))
"""Three OSDs for 6 s, of which osd.1 compresses what it writes and so is slow; two OSDs with blocks of 4 KiB."""
MIB = 1 << 20


def check(**options: object) -> dict[str, OptionValue]:
    return OSD_BENCH.check_options({name.replace("_", "-"): value for name, value in options.items()})


def argv_of(osds: str = "*", ceph_id: str | None = None, **options: object) -> tuple[str, ...]:
    place = OsdPlace(kind="osd", osds=osds, ceph_id=ceph_id)
    return OSD_BENCH.bind(check(**options)).argv("osd-write", 0, place)


# ---------------------------------------------------------------------------------------------- options


def test_defaults() -> None:
    assert check() == {"block-size": "4M", "runtime": 60, "together": False}
    assert check(runtime="5m")["runtime"] == 300


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("block_size", "128M"),
        ("block_size", "100"),
        ("runtime", 0),
        ("together", "maybe"),
        ("count", "1G"),
        ("osd", "3"),
    ],
)
def test_what_is_refused(option: str, value: object, golden: Golden) -> None:
    with golden.raises(OptionError):
        check(**{option: value})


@pytest.mark.parametrize(
    ("block", "sizes"),
    [
        ("4M", [4 * MIB, 16 * MIB, 256 * MIB]),
        ("64M", [64 * MIB, 64 * MIB, 256 * MIB]),
        ("3M", [3 * MIB, 15 * MIB, 255 * MIB]),
        ("4k", [4096, 187 * 4096, 12_288_000]),
    ],
)
def test_a_portion_is_what_an_osd_takes_at_once(block: str, sizes: list[int]) -> None:
    """Of blocks below 1 MiB at most 3,000, or it says EINVAL."""
    assert [int(word) for word in argv_of(block_size=block)[-3:]] == sizes


def test_in_turn_and_together_are_told_apart() -> None:
    loads = [TOOLS["osd-bench"].bind(check(together=together)).load() for together in (False, True)]

    assert [load.pattern for load in loads] == ["write, in turn", "write, together"]


def test_what_is_shown_is_what_an_admin_would_type() -> None:
    workload = OSD_BENCH.bind(check())
    typed = {
        osds: " ".join(workload.display_command((), OsdPlace(kind="osd", osds=osds, ceph_id="admin")))
        for osds in ("*", "3", "0,1", "class=hdd")
    }
    assert typed["*"] == "ceph --id admin tell osd.* bench 16777216 4194304"
    assert typed["3"] == "ceph --id admin tell osd.3 bench 16777216 4194304"
    assert typed["0,1"] == typed["class=hdd"] == "ceph --id admin tell osd.N bench 16777216 4194304"


# ---------------------------------------------------------------------------------------------- the program

RADOS = """
import atexit, json, os, time
class Error(Exception): pass
class TimedOut(Error): pass
class Rados:
    def __init__(self, name, conffile): self.name = name
    def conf_parse_argv(self, words): pass
    def conf_set(self, name, value): pass
    def connect(self, timeout):
        atexit.register(os.abort)
        if "unreached" in os.environ: raise Error("can't connect as " + self.name)
    def mon_command(self, text, data):
        asked = json.loads(text)
        classes = {0: "hdd", 1: "hdd", 2: "ssd"}
        nodes = [{"id": -2, "name": "pve1", "type": "host", "children": [0, 2]}]
        nodes += [{"id": n, "type": "osd", "device_class": kind} for n, kind in classes.items()]
        answers = {
            "osd ls": [0, 1, 2],
            "osd ls-tree": [0, 2] if asked.get("name") == "pve1" else None,
            "osd crush class ls-osd": [n for n, kind in classes.items() if kind == asked.get("class")],
            "osd tree": {"nodes": nodes},
            "osd metadata": [{"id": 0, "devices": "sda"}, {"id": 2, "devices": "sdb,nvme0n1"}],
        }
        found = answers[asked["prefix"]]
        return (-2, b"", "does not exist") if found is None else (0, json.dumps(found).encode(), "")
    def osd_command(self, osd, text, data):
        asked = json.loads(text)
        if osd == 9: return -6, b"", "problem getting command descriptions"
        rate = float(os.environ.get("rate", 40 << 20)) * (osd + 1)
        time.sleep(0.01)
        found = {"bytes_written": asked["count"], "blocksize": asked["size"], "elapsed_sec": asked["count"] / rate}
        return 0, json.dumps(dict(found, bytes_per_sec=rate)).encode(), ""
"""


@pytest.fixture
def cluster(tmp_path: Path) -> dict[str, str]:
    """The environment in which ``rados`` is a fake, whose OSDs are faster by their number.

    Its process crashes in the end of Python, as that of librados seldom does.
    """
    (tmp_path / "rados.py").write_text(RADOS)
    return {**os.environ, "PYTHONPATH": str(tmp_path)}


def done(argv: tuple[str, ...], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, *argv[1:])
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_a_question_has_its_answer_and_no_crash_after_it(cluster: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "ceph").touch(mode=0o755)
    environment = {**cluster, "PATH": f"{tmp_path}:{cluster['PATH']}"}
    ended = done(script_argv([("ceph", "osd", "ls", "-f", "json")]), environment)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert parse_answers(ended.stdout, 1) == ((0, "[0, 1, 2]", ""),)


def rows_of(text: str) -> tuple[list[dict[str, object]], list[dict[str, int]]]:
    first, *portions = map(json.loads, text.splitlines())
    return first["osds"], portions


@pytest.mark.parametrize("together", [False, True])
def test_each_osd_writes_and_says_what_it_is(cluster: dict[str, str], together: bool) -> None:
    ended = done(argv_of(runtime=1, together=together), cluster)
    assert (ended.returncode, ended.stderr) == (0, "")
    osds, portions = rows_of(ended.stdout)
    assert osds == [
        {"id": 0, "class": "hdd", "host": "pve1", "devices": "sda"},
        {"id": 1, "class": "hdd", "host": "", "devices": ""},
        {"id": 2, "class": "ssd", "host": "pve1", "devices": "sdb,nvme0n1"},
    ]
    assert {portion["osd"] for portion in portions} == {0, 1, 2}
    if not together:
        assert [portion["osd"] for portion in portions[:6]] == [0, 1, 2, 0, 1, 2]


def test_a_portion_is_as_much_as_takes_a_second(cluster: dict[str, str]) -> None:
    _, portions = rows_of(done(argv_of("0", runtime=1), cluster).stdout)
    assert [portion["bytes_written"] for portion in portions[:3]] == [16 * MIB, 40 * MIB, 40 * MIB]
    _, portions = rows_of(done(argv_of("0", runtime=1), {**cluster, "rate": "1e10"}).stdout)
    assert portions[1]["bytes_written"] == 256 * MIB
    _, portions = rows_of(done(argv_of("0", runtime=1), {**cluster, "rate": "1000"}).stdout)
    assert portions[1]["bytes_written"] == 4 * MIB


@pytest.mark.parametrize(
    ("which", "expected"), [("0,2", [0, 2]), ("host=pve1", [0, 2]), ("class=hdd", [0, 1]), ("1", [1])]
)
def test_which_osds(cluster: dict[str, str], which: str, expected: list[int]) -> None:
    osds, _ = rows_of(done(argv_of(which, runtime=1), cluster).stdout)
    assert [osd["id"] for osd in osds] == expected


@pytest.mark.parametrize("together", [False, True])
def test_an_osd_that_fails_ends_it(cluster: dict[str, str], together: bool) -> None:
    ended = done(argv_of("0,9", runtime=50, together=together), cluster)
    assert ended.returncode == 6
    assert ended.stderr == "osd.9: Error ENXIO: problem getting command descriptions\n"


@pytest.mark.parametrize(
    ("which", "environment"),
    [
        ("host=none", {}),
        ("class=nvme", {}),
        ("*", {"unreached": "yes"}),
    ],
)
def test_what_can_not_begin_says_why(
    cluster: dict[str, str], which: str, environment: dict[str, str], golden: Golden
) -> None:
    ended = done(argv_of(which, "bench"), {**cluster, **environment})
    assert ended.returncode != 0
    golden.same(ended.stderr)
    assert ended.stdout == ""


def test_without_rados_it_says_what_to_install(tmp_path: Path, golden: Golden) -> None:
    (tmp_path / "rados.py").write_text("raise ImportError")
    others = {"PYTHONPATH": str(tmp_path), "CEPHTUI_PYTHON_TRIED": "/usr/bin/python3"}
    ended = done(argv_of(), {**os.environ, **others})
    assert ended.returncode == 127
    golden.same(ended.stderr)


def test_a_python_of_another_gives_way_to_that_of_ceph(cluster: dict[str, str], tmp_path: Path) -> None:
    """The first ``python3`` of PATH has no module rados, as in a venv."""
    first = tmp_path / "first"
    first.mkdir()
    (tmp_path / "python3-of-ceph").write_text(
        f'#!/bin/sh\nPYTHONPATH={cluster["PYTHONPATH"]} exec {sys.executable} "$@"\n'
    )
    (first / "ceph").write_text(f"#!{tmp_path}/python3-of-ceph\n")
    (first / "rados.py").write_text("raise ImportError")
    (first / "python3").write_text(f'#!/bin/sh\nPYTHONPATH={first} exec {sys.executable} "$@"\n')
    for path in (tmp_path / "python3-of-ceph", first / "ceph", first / "python3"):
        path.chmod(0o755)
    environment = {**cluster, "PATH": f"{first}:{cluster['PATH']}"}
    argv = argv_of("0", runtime=1)
    ended = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert [osd["id"] for osd in rows_of(ended.stdout)[0]] == [0]


@pytest.mark.parametrize("together", [False, True])
def test_it_ends_with_its_reader_and_by_term(cluster: dict[str, str], together: bool) -> None:
    argv = (sys.executable, *argv_of(runtime=600, together=together)[1:])
    with subprocess.Popen(argv, env=cluster, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=30) == 0
    with subprocess.Popen(argv, env=cluster, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout
        process.stdout.readline()
        process.terminate()
        assert process.wait(timeout=30) == -signal.SIGTERM


# ---------------------------------------------------------------------------------------------- output


def parsed(pieces: list[bytes], *, together: bool = False, errors: bytes = b"") -> tuple[list[Reading], ToolResult]:
    parser = OsdBenchParser(together=together)
    readings = [reading for number, piece in enumerate(pieces, 1) for reading in parser.feed("stdout", piece, number)]
    parser.feed("stderr", errors, 0.0)
    return [*readings, *parser.finish()], parser.result()


def portions_of(path: Path) -> dict[int, tuple[int, float]]:
    """Bytes and busy seconds of each OSD, as they stand in a recording."""
    found: dict[int, tuple[int, float]] = {}
    for row in map(json.loads, path.read_text().splitlines()[1:]):
        nbytes, seconds = found.get(row["osd"], (0, 0.0))
        found[row["osd"]] = nbytes + row["bytes_written"], seconds + row["elapsed_sec"]
    return found


def test_osds_in_turn_have_the_rate_of_the_mean_osd() -> None:
    """All bytes over all the time in which one was writing: what lies between the portions is nobody's."""
    readings, result = parsed([IN_TURN.read_bytes()])
    own = portions_of(IN_TURN)
    nbytes, seconds = (sum(each[part] for each in own.values()) for part in (0, 1))
    total = known(result.write)
    assert (total.bytes, total.ios) == (nbytes, nbytes // (4 * MIB))
    assert total.runtime_seconds == pytest.approx(seconds)
    assert total.bandwidth_bytes == pytest.approx(nbytes / seconds)
    assert (total.moments, total.buckets) == (None, {}), "an OSD times no write"
    assert len(readings) == len(IN_TURN.read_text().splitlines()) - 1
    assert sum(known(reading.write).bytes for reading in readings) == nbytes
    assert sum(reading.interval_seconds for reading in readings) == pytest.approx(seconds)


def test_osds_together_have_the_sum_of_their_rates() -> None:
    readings, result = parsed([TOGETHER.read_bytes()], together=True)
    own = portions_of(TOGETHER)
    total = known(result.write)
    assert total.bandwidth_bytes == pytest.approx(sum(nbytes / seconds for nbytes, seconds in own.values()))
    assert total.bytes == sum(nbytes for nbytes, _ in own.values())
    assert total.bytes / total.runtime_seconds == pytest.approx(total.bandwidth_bytes)
    assert sum(known(reading.write).bytes for reading in readings) == total.bytes
    for reading in readings[:-1]:
        assert {job.job for job in reading.jobs} == {"osd.0", "osd.1", "osd.2"}, "a round has all of them"
        rates = sum(job.bytes / job.seconds for job in reading.jobs)
        assert known(reading.write).bandwidth_bytes == pytest.approx(rates)


def test_each_osd_is_a_job_with_its_class_and_place() -> None:
    _, result = parsed([IN_TURN.read_bytes()])
    assert [(job.job, job.group, job.place) for job in result.jobs] == [
        (f"osd.{osd}", "hdd", "ceph vda") for osd in range(3)
    ]
    for job, (nbytes, seconds) in zip(result.jobs, portions_of(IN_TURN).values(), strict=True):
        total = known(job.summary.write)
        assert (total.bytes, total.latency_mean_seconds) == (nbytes, None)
        assert total.bandwidth_bytes == pytest.approx(nbytes / seconds)


def test_small_blocks_are_counted() -> None:
    total = known(parsed([SMALL.read_bytes()])[1].write)
    assert total.ios == total.bytes // 4096
    assert total.iops == pytest.approx(known(total.ios) / total.runtime_seconds)


@pytest.mark.parametrize("path", [IN_TURN, TOGETHER, SMALL], ids=lambda path: path.stem)
@given(cuts=st.lists(st.integers(0, 5000), max_size=8))
def test_pieces_cut_anywhere_make_the_same(path: Path, cuts: list[int]) -> None:
    data = path.read_bytes()
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[start:end] for start, end in itertools.pairwise(edges)]
    together = path == TOGETHER
    cut, whole = parsed(pieces, together=together), parsed([data], together=together)
    assert cut[1] == whole[1]
    assert [replace(each, elapsed_seconds=0.0) for each in cut[0]] == [
        replace(each, elapsed_seconds=0.0) for each in whole[0]
    ]


@given(st.binary(max_size=200))
def test_anything_else_is_borne(data: bytes) -> None:
    for together in (True, False):
        parsed([data, b"\n"], together=together, errors=data)


@pytest.mark.parametrize(
    "line",
    [
        '{"osds": 5}',
        '{"osds": [5]}',
        '{"osds": [{"id": []}]}',
        '{"osd": 1}',
        '{"osd": 1, "bytes_written": 0, "blocksize": 4096, "elapsed_sec": 1}',
        '{"osd": 1, "bytes_written": 4096, "blocksize": 4096, "elapsed_sec": 0}',
        '{"osd": 1, "bytes_written": 4096, "blocksize": 4096, "elapsed_sec": "x"}',
        '{"osd": 1, "bytes_written": 4096, "blocksize": 0, "elapsed_sec": 1}',
        '{"osd": 1e999, "bytes_written": 4096, "blocksize": 4096, "elapsed_sec": 1}',
        "[]",
        "5",
        "null",
    ],
)
def test_what_looks_like_a_portion_and_is_none_is_left_out(line: str) -> None:
    assert parsed([line.encode(), b"\n"]) == ([], ToolResult())


def test_hostile_names_are_made_harmless() -> None:
    about = {"osds": [{"id": 0, "class": "\x1b[31m", "host": "a\nb", "devices": "[bold]"}]}
    portion = {"osd": 0, "bytes_written": 4096, "blocksize": 4096, "elapsed_sec": 1}
    (reading,), result = parsed([f"{json.dumps(about)}\n{json.dumps(portion)}\n".encode()])
    for text in (reading.jobs[0].group, reading.jobs[0].place, known(result.jobs[0].place)):
        assert text.isprintable()
    assert "[bold]" in bars(job_figures([NodeResult(node="a", command="x", jobs=result.jobs)])).plain


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("denied", "osd.0: Error EACCES: "),
        ("absent", "osd.9: Error ENOENT: osd dne"),
        ("limited", "osd.0: Error EINVAL: 'count' values greater than 3000000 for a block size of 4 MiB"),
    ],
)
def test_what_went_wrong_is_one_line(name: str, expected: str, golden: Golden) -> None:
    data, errors = ((FOLDER / f"{name}.{stream}").read_bytes() for stream in ("stdout", "stderr"))
    readings, result = parsed([data], errors=errors)
    assert (readings, result.flows) == ([], {})
    assert known(result.error).startswith(expected)
    assert "\n" not in known(result.error)
    golden.same(result.error)


def test_a_stop_says_what_still_happened(golden: Golden) -> None:
    parser = OsdBenchParser(together=False)
    parser.feed("stdout", IN_TURN.read_bytes(), 1.0)
    assert parser.result().findings == ()
    parser.expect_end()
    (finding,) = parser.result().findings
    assert finding.code == "portion"
    golden.same(finding.text)


# ---------------------------------------------------------------------------------------------- the target


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("osd:*", "osd:*"),
        ("osd:3", "osd:3"),
        ("osd:0,01,0", "osd:0,1"),
        ("osd:host=pve1.example.net", "osd:host=pve1.example.net"),
        ("osd:class=hdd", "osd:class=hdd"),
    ],
)
def test_targets(text: str, spec: str) -> None:
    target = parse_target(text)
    assert (target.spec, target.kind, target.pool) == (spec, "osd", None)


@pytest.mark.parametrize("name", ["x", "-1", "1,", "1-3", "host=", "host=-x", "host=a b", "rack=a", "class=a,b", "**"])
def test_no_targets(name: str, golden: Golden) -> None:
    with golden.raises(TargetError):
        parse_target(f"osd:{name}")


def tree(**down: str) -> Completed:
    """osd.0 and osd.1 on pve1, osd.2 on pve2; ``down`` are states by name."""
    classes = {0: "hdd", 1: "ssd", 2: "hdd"}
    nodes: list[dict[str, object]] = [
        {"id": -1, "name": "default", "type": "root", "children": [-2, -3]},
        {"id": -2, "name": "pve1", "type": "host", "children": [0, 1]},
        {"id": -3, "name": "pve2", "type": "host", "children": [2]},
    ]
    for osd, name in classes.items():
        status = down.get(f"osd{osd}", "up")
        nodes.append({"id": osd, "name": f"osd.{osd}", "type": "osd", "device_class": name, "status": status})
    return Completed(0, json.dumps({"nodes": nodes, "stray": []}), "")


OK = Completed(0, "16.2.15", "")


async def inspected(
    spec: str, *folders: str, shared: bool = True, portion: int = 256 * MIB, block: str = "4M", **instead: Completed
) -> TargetState:
    shell = RecordedShell(*folders, "healthy", **{"ceph_osd_tree": tree(), "ceph_tell": OK, **instead})
    parts = (Part(spec=spec, bytes=portion),)
    options: dict[str, OptionValue] = {"block-size": block}
    use = Use(parts, writes=True, filled=True, options=options, destroy=(), shared_pool=shared)
    return await parse_target(spec).inspect(shell, use)


async def refusal(spec: str, *folders: str, portion: int = 256 * MIB, **instead: Completed) -> str:
    found = (await inspected(spec, *folders, shared=True, portion=portion, block="4M", **instead)).refusal
    return found.text if found else ""


@pytest.mark.parametrize("spec", ["osd:*", "osd:1", "osd:host=pve1", "osd:class=hdd"])
async def test_healthy_osds_are_measured_with_consent(spec: str) -> None:
    assert await inspected(spec) == TargetState()


async def test_osds_that_are_not_there_are_named(golden: Golden) -> None:
    golden.same(await refusal("osd:0,7,9"))
    golden.same(await refusal("osd:host=pve9"))
    golden.same(await refusal("osd:class=nvme"))


async def test_osds_that_are_down_are_named_with_the_others(golden: Golden) -> None:
    found = await refusal("osd:*", ceph_osd_tree=tree(osd1="down"))
    golden.same(found)
    golden.same(await refusal("osd:1", ceph_osd_tree=tree(osd1="down")))
    assert await refusal("osd:0", ceph_osd_tree=tree(osd1="down")) == ""


async def test_a_full_cluster_and_a_full_osd_are_refused(golden: Golden) -> None:
    golden.same(await refusal("osd:*", "full"))
    golden.same(await refusal("osd:1", portion=2 << 30))


async def test_a_cluster_with_inactive_pgs_is_refused(golden: Golden) -> None:
    status = json.loads(known(RecordedShell("healthy")._answers.get(("0", "ceph", "status", "-f", "json"))).stdout)
    status["pgmap"]["pgs_by_state"] = [{"state_name": "peering", "count": 4}]
    golden.same(await refusal("osd:*", ceph_status=Completed(0, json.dumps(status), "")))


async def test_denied_caps_are_explained_before_it_starts(golden: Golden) -> None:
    denied = Completed(13, "", "Error EACCES: problem getting command descriptions from osd.0")
    golden.same(await refusal("osd:*", ceph_tell=denied))
    absent = Completed(6, "", "Error ENXIO: problem getting command descriptions")
    golden.same(await refusal("osd:*", ceph_tell=absent))


async def test_it_asks_before_osds_with_data_are_loaded(golden: Golden) -> None:
    found = known((await inspected("osd:*", shared=False)).refusal)
    assert (found.confirm, found.confirm_kind) == ("osd:*", "shared-pool")
    golden.same(found.problem)
    golden.same(found.remedy)


async def test_small_blocks_are_warned_of_in_the_question(golden: Golden) -> None:
    small = known((await inspected("osd:*", shared=False, block="4k")).refusal).problem
    usual = known((await inspected("osd:*", shared=False, block="1M")).refusal).problem
    assert small.startswith(f"{usual}; ")
    golden.same(small)


async def test_osds_without_data_of_clients_are_measured_without_a_question() -> None:
    """The manager's pool has no clients, and a pool without objects has nothing that they could ask for."""
    usage = {"pools": [{"name": name, "stats": {"objects": 0}} for name in ("bench", "rec", "recdata", "recquota")]}
    assert (await inspected("osd:*", shared=False, ceph_df=Completed(0, json.dumps(usage), ""))).refusal is None


async def test_it_asks_where_it_is_not_known_whose_the_data_is(golden: Golden) -> None:
    denied = Completed(13, "", "Error EACCES: access denied")
    found = known((await inspected("osd:0", shared=False, ceph_pg=denied)).refusal)
    golden.same(found.problem)
    assert found.confirm_kind == "shared-pool"


# ---------------------------------------------------------------------------------------------- the plan


def request(spec: str, *names: str, ceph_node: str | None = None) -> Request:
    nodes = [Node(name=name, host=name, ceph_prefix=("cephadm", "shell", "--")) for name in names]
    return plans.request("osd-write", nodes=nodes, target=spec, options=["runtime=10"], ceph_node=ceph_node)


def test_one_node_asks_however_many_are_chosen(golden: Golden) -> None:
    plan = make_plan(request("osd:*", "a", "b", "c"), lambda: "00000001")
    (step,) = plan.steps
    assert (step.names, plan.idle, len(plan.hosts)) == (("a",), ("b", "c"), 3)
    assert make_plan(request("osd:*", "a", "b", ceph_node="b"), lambda: "1").steps[0].names == ("b",)
    shown = printed(draw_plans([plan]))
    golden.same(line.strip() for line in shown.splitlines() if "osd:*" in line)
    assert "a$ cephadm shell -- ceph tell 'osd.*' bench 16777216 4194304" in shown
    assert "takes about 11 s" in shown
    assert step.nodes[0].argv[:2] == ("python3", "-c"), "behind the prefix of Ceph's commands"
    assert step.nodes[0].prefix == ("cephadm", "shell", "--")
    assert make_plan(request("osd:*", "a"), lambda: "1").idle == ()


def test_other_tools_are_told_what_they_can_measure() -> None:
    with pytest.raises(OptionError, match=re.escape("--target 'osd:*', osd:N")):
        make_plan(replace(request("osd:*", "a"), target=parse_target("file:/mnt/x")), lambda: "1")


# ---------------------------------------------------------------------------------------------- bars


def figure(job: str, rate: float, group: str = "hdd", place: str = "pve1 sda") -> JobFigure:
    return JobFigure(job, "write", group, place, rate, rate * MIB)


def test_slow_ones_are_15_percent_under_the_median_of_their_class() -> None:
    found = [figure("osd.0", 100), figure("osd.1", 100), figure("osd.2", 86), figure("osd.3", 79)]
    fast = [figure("osd.4", 900, "ssd"), figure("osd.5", 500, "ssd")]
    marked = slower([*found, *fast])
    assert {each.job: round(fraction, 3) for each, fraction in marked.items()} == {"osd.3": 0.151}, "of 93"
    assert slower([*found[:3], figure("osd.3", 80)]) == {}
    assert slower(fast) == {}, "two have no median that one falls short of"


def test_the_slow_osd_of_the_recordings_is_found(golden: Golden) -> None:
    for path, together in ((IN_TURN, False), (TOGETHER, True)):
        result = parsed([path.read_bytes()], together=together)[1]
        (finding,) = slow_jobs(NodeResult(node="a", command="x", jobs=result.jobs))
        assert finding.code == "slow-job"
        golden.same(finding.text)


@pytest.mark.parametrize("path", [IN_TURN, TOGETHER], ids=lambda path: path.stem)
def test_what_is_seen_live_is_in_the_end_the_result(path: Path) -> None:
    readings, result = parsed([path.read_bytes()], together=path == TOGETHER)
    so_far = JobsSoFar()
    for reading in readings:
        sample = parse_sample(sample_line(as_sample(1, "osd-write", "a", reading, preparing=False)))
        so_far.add("a", sample.jobs)
    live, saved = so_far.figures(), job_figures([NodeResult(node="a", command="x", jobs=result.jobs)])
    assert sorted(each.job for each in live) == [each.job for each in saved]
    for one, other in zip(sorted(live, key=lambda each: each.job), saved, strict=True):
        assert (one.group, one.place) == (other.group, other.place)
        assert one.bandwidth_bytes == pytest.approx(other.bandwidth_bytes, rel=1e-4)
        assert known(one.iops) == pytest.approx(known(other.iops), rel=1e-4)


def test_jobs_are_in_the_samples_of_their_node_only() -> None:
    reading = parsed([IN_TURN.read_bytes()])[0][0]
    merged = as_sample(1, "p", None, reading, preparing=False)
    own = as_sample(1, "p", "a", reading, preparing=False)
    assert (len(merged.jobs), len(own.jobs)) == (0, 1)
    assert "jobs" not in json.loads(sample_line(merged))
    again = parse_sample(sample_line(own))
    assert isinstance(again, Sample)
    assert again.jobs == tuple(replace(job, seconds=round(job.seconds, 6)) for job in own.jobs)


def test_bars_are_from_zero_and_the_slow_one_is_marked() -> None:
    shown = bars([figure("osd.0", 100), figure("osd.1", 50), figure("osd.10", 100, place="pve2 nvme0n1")]).plain
    assert [line.partition(" % ")[0] for line in shown.splitlines()] == [
        "osd.0  hdd pve1 sda     ━━━━━━━━━━━━━━━━━━━━━━━━  100 MiB/s",
        "osd.1  hdd pve1 sda     ━━━━━━━━━━━━──────────── 50.0 MiB/s ▼ 50",
        "osd.10 hdd pve2 nvme0n1 ━━━━━━━━━━━━━━━━━━━━━━━━  100 MiB/s",
    ]
    assert bars([figure("osd.0", 100), figure("osd.1", 50)], ascii_only=True).plain.isascii()


@pytest.mark.parametrize("width", [1, 20, 28, 34, 46, 100])
def test_bars_fit_where_they_stand(width: int) -> None:
    figures = [figure(f"osd.{number}", 100 - number, place=f"pve{number} nvme0n1") for number in range(20)]
    lines = bars(figures, width=width, rows=6).plain.splitlines()
    assert len(lines) == 6
    assert lines[-1] == "+15 faster"
    assert [line.split()[0] for line in lines[:5]] == [f"osd.{number}" for number in range(15, 20)]
    if width >= 34:
        assert all(len(line) <= width for line in lines)


def test_a_slow_osd_is_a_result_and_no_doubt_about_it() -> None:
    assert measured_run(1, findings=(Finding(code="slow-job", text="osd.1 is slow"),)).validity == "VALID"


def test_the_slowest_has_the_only_row() -> None:
    shown = bars([figure("osd.0", 100), figure("osd.1", 50)], width=40, rows=1).plain
    assert shown.startswith("osd.1")


def test_no_jobs_have_no_bars() -> None:
    assert bars([]).plain == ""
    assert bars([figure("osd.0", 0)]).plain.startswith("osd.0 hdd pve1 sda ────")


def test_a_run_ends_with_its_bars_and_the_report_has_a_table() -> None:
    jobs = parsed([IN_TURN.read_bytes()])[1].jobs
    run = measured_run(nodes=nodes("a", jobs=jobs))
    shown = printed(draw_session([run]))
    assert re.search(r"osd\.1 hdd +ceph vda █+.* +▼ \d\d % ", shown)
    (compared,) = job_blocks(run)
    assert isinstance(compared, Table)
    assert [row[0] for row in compared.texts] == ["osd.0", "osd.1", "osd.2"]
    assert [bool(row[-1]) for row in compared.texts] == [False, True, False]
    (table,) = jobs_table({"": run})
    assert table.strong == {1}
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert "| **osd.1** | **hdd** | **ceph vda** | " in run_markdown(run, (), {})
