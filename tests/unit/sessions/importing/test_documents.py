"""Saved output of fio and rados bench: what is found in it, and the session that it becomes."""

from __future__ import annotations

import json
import math
import random
import re
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui import units
from cephtui.analysis.runs.sides import Side
from cephtui.analysis.verdicts.conditions import differences, unlike
from cephtui.cli.verbs import cli
from cephtui.models import Run, Summary
from cephtui.models.findings.measurement import ERRORS_COUNTED
from cephtui.sessions import log_files, store
from cephtui.sessions.listing import list_sessions
from cephtui.sessions.log_files import read_log_file
from cephtui.sessions.playback import Playback
from cephtui.sessions.store import StoreError
from cephtui.tools import TOOLS
from cephtui.tools.fio.saved import find_runs as find_fio
from cephtui.tools.logs import FoundRun, read_log
from cephtui.tools.rados_bench.saved import find_runs as find_rados
from tests import RECORDINGS
from tests.support.golden import Golden
from tests.support.logs import COMMAND, WRITES
from tests.support.runs import SESSION, WRITE_IOPS
from tests.unit.tools.test_rados_bench import FOLDER as RADOS

LOGS = RECORDINGS / "logs"
FIO = RECORDINGS

RADOS_READ = """\
$ rados bench -p volumes 3 seq
hints = 1
  sec Cur ops   started  finished  avg MB/s  cur MB/s last lat(s)  avg lat(s)
    0       0         0         0         0         0           -           0
    1      16        76        60   239.974       240    0.639121    0.193516
    2      16       116       100   199.978       160    0.712224    0.270871
    3      16       163       147   195.975       188    0.279109     0.29202
Total time run:       3.78572
Total reads made:     177
Read size:            4194304
Object size:          4194304
Bandwidth (MB/sec):   187.019
Average IOPS:         46
Average Latency(s):   0.318287
Max latency(s):       0.85219
Min latency(s):       0.00218221
"""


def fio(text: str) -> list[FoundRun]:
    return find_fio(read_log(text))


def only(text: str) -> FoundRun:
    (found,) = fio(text)
    return found


def log(name: str) -> str:
    return (LOGS / name).read_text()


# ---------------------------------------------------------------------------------------------- fio's text


def test_a_run_with_its_command_is_known_in_full() -> None:
    found = only(COMMAND + WRITES)
    assert found.name == "write_iops"
    assert found.command.startswith("fio --name=write_iops --filename=/dev/rbd0 --size=10G --time_based")
    assert (found.node, found.target, found.version) == ("pve1", "device:/dev/rbd0", "fio-3.33")
    assert found.options == {
        "rw": "randwrite",
        "bs": "4k",
        "iodepth": 64,
        "numjobs": 8,
        "size": "10G",
        "ioengine": "libaio",
        "direct": True,
        "time_based": True,
        "group_reporting": True,
        "runtime": 60.0,
        "ramp_time": 2.0,
    }
    assert found.started_at
    assert f"{found.started_at:%Y-%m-%d %H:%M:%S}" == "2025-04-07 22:11:57"  # printed at the end, 62 s later
    assert found.duration_seconds == pytest.approx(62.022)
    (disk,) = found.disks
    assert (disk.name, disk.utilisation_percent) == ("rbd0", 99.91)
    assert (disk.read_ios, disk.write_ios, disk.read_merges, disk.write_merges) == (0, 1_032_448, 0, 0)
    assert (disk.read_wait_seconds, disk.write_wait_seconds, disk.queue_seconds) == (0.0, 31720.156, 31720.157)
    assert (found.cpu_user_percent, found.cpu_system_percent) == (1.11, 2.05)


def test_figures_are_those_that_are_printed_with_iops_from_the_number_of_ios() -> None:
    total = only(WRITES).summary.write
    assert total
    assert (total.ios, total.bytes) == (1_004_687, 3927 << 20)
    assert total.iops == pytest.approx(1_004_687 / 60.022)
    assert total.bandwidth_bytes == pytest.approx(65.4 * (1 << 20))
    assert (total.latency_min_seconds, total.latency_max_seconds) == pytest.approx((0.001451, 0.175353))
    assert (total.latency_mean_seconds, total.latency_stddev_seconds) == pytest.approx((0.03057911, 0.01859101))
    assert (total.latency_p50_seconds, total.latency_p95_seconds) == (0.031, 0.062)
    assert (total.latency_p99_seconds, total.latency_p999_seconds) == (0.073, 0.127)


@pytest.mark.parametrize(("counted", "printed"), [(904_687, "15.1k"), (1_104_687, "18.4k")])
def test_ios_that_do_not_fit_the_bytes_were_in_flight(counted: int, printed: str) -> None:
    text = WRITES.replace("1004687", str(counted)).replace("IOPS=16.7k", f"IOPS={printed}")
    total = only(text).summary.write
    assert total
    assert total.ios == (3927 << 20) // 4096
    assert total.ios_reported == counted
    assert total.iops == pytest.approx(total.ios / 60.022)
    several = text.replace("(W) 4096B-4096B", "(W) 4096B-8192B")
    unknown = only(several).summary.write
    assert unknown
    assert (unknown.ios, unknown.ios_reported) == (counted, None)


def test_what_ended_in_its_ramp_has_measured_the_ramp(golden: Golden) -> None:
    """fio then prints what it did in the ramp, without any latency."""
    text = "\n".join(line for line in WRITES.splitlines() if "lat " not in line and "th=[" not in line)
    ramp = COMMAND.replace("--ramp_time=2s", "--ramp_time=90s")
    assert ramp != COMMAND
    (finding,) = [finding for finding in only(ramp + text).findings if finding.level == "invalidates"]
    golden.same(finding.text)
    without_latency = ramp.replace("--ramp_time=90s", "--ramp_time=90s --gtod_reduce=1")
    for other in (without_latency + text, ramp + WRITES, ramp.replace("--ramp_time=90s", "") + text):
        assert "incomplete" not in [finding.code for finding in only(other).findings]


def test_without_its_command_only_what_fio_prints_is_known() -> None:
    found = only(WRITES)
    assert found.options == {"rw": "randwrite", "bs": "4k", "iodepth": 64, "numjobs": 8, "ioengine": "libaio"}
    assert (found.command, found.node, found.target) == ("", "", "")


@pytest.mark.parametrize(
    "other",
    [
        COMMAND.replace("--name=write_iops", "--name=other"),
        COMMAND.replace("--rw=randwrite", "--rw=randread"),
        COMMAND.replace("--iodepth=64", "--iodepth=1"),
        "We ran fio --name='write_iops and so on\n",
    ],
)
def test_the_command_of_another_run_is_not_taken(other: str) -> None:
    assert only(other + WRITES).command == ""


def test_commands_may_all_stand_before_the_runs() -> None:
    second = WRITES.replace("write_iops", "again")
    commands = COMMAND + COMMAND.replace("--name=write_iops", "--name=again")
    assert ["--name=write_iops" in run.command for run in fio(commands + WRITES + second)] == [True, False]
    assert all(run.command for run in fio(commands + WRITES + second))


def crlf(text: str) -> str:
    return text.replace("\n", "\r\n")


def coloured(text: str) -> str:
    return re.sub(r"(?m)^(.*)$", "\x1b[0;32m\\1\x1b[0m\x1b[K", text)


def progress(text: str) -> str:
    return re.sub(r"(?m)^(Jobs: .*)\n", r"\1\r\1\r", text)


def numbered(text: str) -> str:
    """As a web page has it, with a page break in it."""
    lines = [f"{number} {line}" for number, line in enumerate(text.splitlines(), 1)]
    return "\n".join(["Results:", "", "```", *lines[:12], "```", "", "", "```", *lines[12:], "```", ""])


def broken(text: str) -> str:
    """Numbered, with the long lines in two."""
    pieces = (re.sub(r"^(.{70}\S*) ", r"\1\n  ", line) for line in text.splitlines())
    return "\n".join(f"{number} {line}" for number, line in enumerate(pieces, 1)) + "\n"


def quoted(text: str) -> str:
    return re.sub(r"(?m)^", "> ", text)


@pytest.mark.parametrize("kept", [crlf, coloured, progress, numbered, broken, quoted])
def test_a_run_is_the_same_however_the_log_was_kept(kept: Callable[[str], str]) -> None:
    plain, found = only(WRITES), only(kept(WRITES))
    assert (found.summary, found.options, found.disks) == (plain.summary, plain.options, plain.disks)
    assert found.started_at == plain.started_at


def test_runs_stand_in_a_document_with_other_text() -> None:
    text = f"# Writes\n\n```\n{COMMAND}{WRITES}```\n\nand 5 minutes later:\n\n```\n{WRITES}```\n"
    first, second = fio(text)
    assert first.summary == second.summary
    assert text.splitlines()[first.line - 1].startswith("write_iops: (g=0)")
    assert text.splitlines()[second.last_line - 1].startswith("  rbd0")


@pytest.mark.parametrize("version", ["fio-2.2.10", "fio-3.33"])
def test_old_and_new_text_have_reads_and_writes(version: str) -> None:
    found = only(log(f"{version}-text.txt"))
    read, write = found.summary.read, found.summary.write
    assert read
    assert write
    assert found.version == version
    assert (found.name, found.options["numjobs"], found.options["bs"]) == ("mixed", 2, "4k")
    for total, ios in ((read, 402 if version == "fio-2.2.10" else 400), (write, 400)):
        assert (total.ios, total.bytes) == (ios, ios * 4096)
        assert total.iops == pytest.approx(ios / total.runtime_seconds)
        assert total.latency_p99_seconds
        assert total.latency_min_seconds
        assert total.latency_max_seconds
        assert total.latency_min_seconds < total.latency_p99_seconds <= 1.1 * total.latency_max_seconds


@pytest.mark.parametrize("version", ["fio-2.2.10", "fio-2.21"])
def test_jobs_that_are_reported_apart_are_one_run_over_the_longest(version: str) -> None:
    found = only(log(f"{version}-jobs.txt"))
    each = [job.summary.write for job in found.jobs]
    whole = found.summary.write
    assert whole
    assert [job.job for job in found.jobs] == ["seq 1", "seq 2"]
    longest = max(total.runtime_seconds for total in each if total)
    assert (whole.ios, whole.runtime_seconds) == (128, longest)
    assert whole.iops == pytest.approx(128 / longest)
    assert whole.bandwidth_bytes == pytest.approx(128 * 65536 / longest)
    assert whole.latency_p99_seconds is None  # no sum of percentiles is one
    assert all(total and total.latency_p99_seconds for total in each)
    assert found.options["numjobs"] == 2


def test_jobs_one_behind_the_other_are_runs_of_their_own() -> None:
    first, second = fio(log("fio-3.33-groups.txt"))
    assert (first.name, first.summary.read, second.name, second.summary.write) == ("a", None, "b", None)
    assert first.started_at
    assert second.started_at
    assert (second.started_at - first.started_at).total_seconds() == pytest.approx(first.duration_seconds)


def test_a_state_that_is_printed_each_second_is_one_run() -> None:
    found = only(log("fio-3.33-status.txt"))
    assert found.summary.read
    assert found.summary.read.ios == 600


def test_an_error_is_the_runs_own() -> None:
    found = only(log("fio-3.33-error.txt"))
    assert (found.error, found.summary) == ("No space left on device", Summary())


def test_the_rados_engine_is_not_believed() -> None:
    found = only(WRITES.replace("ioengine=libaio", "ioengine=rados"))
    assert found.findings == (ERRORS_COUNTED.found(),)


def test_a_run_through_the_page_cache_says_so() -> None:
    found = only(COMMAND.replace("--direct=1 ", "") + WRITES)
    assert [finding.code for finding in found.findings] == ["page-cache"]
    assert found.options["direct"] is False


def test_a_run_through_the_cache_of_librbd_says_so(golden: Golden) -> None:
    """fio's rbd engine switches it off with direct=1 only, and 0 is the default."""
    command = COMMAND.replace("--ioengine=libaio", "--ioengine=rbd") + WRITES.replace("ioengine=libaio", "ioengine=rbd")
    assert not only(command).findings
    for cached in ("", "--direct=0 ", "--buffered=1 "):
        found = only(command.replace("--direct=1 ", cached))
        assert [finding.code for finding in found.findings] == ["librbd-cache"]
        golden.same(
            [found.findings[0].text, found.findings[0].cure],
            "sessions/importing/documents: through the cache of librbd",
        )
    older = command.replace("--direct=1 ", "").replace("fio-3.33", "fio-3.25")
    assert not only(older).findings, "without a first flush librbd writes through"
    assert only(older.replace("--bs", "--fsync=1 --bs")).findings


# ---------------------------------------------------------------------------------------------- fio's JSON


@pytest.mark.parametrize("name", ["fio-2.2.10-json.txt", "fio-2.21-json-plus.txt", "fio-3.33-json.txt"])
def test_documents_of_all_versions_have_the_same_figures(name: str) -> None:
    found = only("warning: something\n" + log(name))
    content = json.loads(log(name))
    for flow, total in found.summary.flows.items():
        part = content["jobs"][0][flow]
        clat, scale = (part["clat_ns"], 1e9) if "clat_ns" in part else (part["clat"], 1e6)
        assert (total.ios, total.bytes) == (part["total_ios"], part["total_ios"] * 4096)
        assert total.latency_mean_seconds == pytest.approx(clat["mean"] / scale)
        assert total.latency_max_seconds == pytest.approx(clat["max"] / scale)
        assert total.latency_p99_seconds == pytest.approx(clat["percentile"]["99.000000"] / scale, rel=0.02)
    assert set(found.summary.flows) == {"read", "write"}
    assert found.line == 2


def test_what_a_document_does_not_list_is_not_known() -> None:
    assert only(log("fio-2.2.10-json.txt")).options == {"iodepth": 1}
    listed = only(log("fio-3.33-json.txt"))
    assert listed.target == "file:/scratch/test"
    assert "time_based" not in listed.options
    assert (listed.options["rw"], listed.options["direct"], listed.options["ramp_time"]) == ("randrw", True, 0.0)


def test_text_and_json_of_a_run_are_one() -> None:
    assert only(log("fio-3.33-text-and-json.txt")).options["bs"] == "64k"


def test_a_document_each_second_gives_the_seconds_of_the_run() -> None:
    text = (FIO / "fio-3.41" / "randwrite.stdout").read_text()
    found, *others = fio(text + text.replace('"randwrite"', '"other"'))
    assert len(others) == 1
    assert found.summary.write
    assert found.summary.write.ios == sum(r.write.ios or 0 for r in found.readings if r.write and r.phase == "run")
    assert [round(reading.interval_seconds) for reading in found.readings] == [1, 1, 1, 1]
    assert found.readings[0].phase == "ramp"


def test_the_same_command_again_is_another_run() -> None:
    text = log("fio-3.33-json.txt")
    later = re.sub(r'"timestamp_ms" : (\d+)', lambda m: f'"timestamp_ms" : {int(m[1]) + 60_000}', text)
    assert len(fio(text + later)) == 2


def test_a_document_that_was_cut_does_not_hide_the_next() -> None:
    text = log("fio-3.33-json.txt")
    assert only(text[: len(text) // 2] + text).line == text[: len(text) // 2].count("\n") + 1


def test_a_log_of_nothing_but_beginnings_is_given_up() -> None:
    assert fio('{"fio version":[' * 900 + log("fio-3.33-json.txt"))
    assert not fio('{"fio version":[' * 1000 + log("fio-3.33-json.txt"))


# ---------------------------------------------------------------------------------------------- rados bench


def test_reads_have_their_seconds_and_totals() -> None:
    (found,) = find_rados(read_log(RADOS_READ))
    read = found.summary.read
    assert read
    assert (found.name, found.target, found.command) == ("rados-seq", "pool:volumes", "rados bench -p volumes 3 seq")
    assert found.options == {"mode": "seq", "runtime": 3, "concurrent-ios": 16, "block-size": "4M"}
    assert (read.ios, read.bytes, read.runtime_seconds) == (177, 177 << 22, 3.78572)
    assert (read.latency_mean_seconds, read.latency_max_seconds) == (0.318287, 0.85219)
    assert [reading.read.ios for reading in found.readings if reading.read] == [60, 40, 47, 30]


@pytest.mark.parametrize("kept", [crlf, coloured, numbered, quoted])
def test_a_table_is_the_same_however_the_log_was_kept(kept: Callable[[str], str]) -> None:
    (plain,), (found,) = find_rados(read_log(RADOS_READ)), find_rados(read_log(kept(RADOS_READ)))
    assert (found.summary, found.readings, found.options) == (plain.summary, plain.readings, plain.options)


def test_several_runs_follow_each_other() -> None:
    text = "".join((RADOS / f"{name}.stdout").read_text() for name in ("write", "seq", "write-long", "rand"))
    found = find_rados(read_log(text))
    assert [run.name for run in found] == ["rados-write", "rados-read", "rados-write", "rados-read"]
    assert [round(run.duration_seconds) for run in found] == [4, 5, 43, 4]
    assert [run.node for run in found] == ["lab1", "", "lab1", ""]
    assert found[2].options["object-size"] == "4M"
    assert found[0].started_at
    assert found[0].started_at.isoformat() == "2026-11-21T14:33:12.178564+00:00"


def test_a_run_that_was_ended_is_stopped() -> None:
    (found,) = find_rados(read_log((RADOS / "stopped-int.stdout").read_text()))
    assert found.stopped
    assert [finding.code for finding in found.findings] == ["incomplete"]
    assert found.options["block-size"] == "256k"
    (read,) = find_rados(read_log((RADOS / "stopped-rand.stdout").read_text()))
    assert read.options["block-size"] == "256k"  # by its rate: the size itself comes with the totals


# ---------------------------------------------------------------------------------------------- the session


def run(*words: str) -> int:
    code = cli.main([*words], prog_name="cephtui", standalone_mode=False)
    return int(code or 0)


def imported(home: Path, name: str) -> list[Run]:
    return store.read_runs(home / "data" / "sessions" / name)[0]


def test_a_log_becomes_a_session(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "old log.txt").write_text(COMMAND + WRITES + RADOS_READ)
    assert run("import", str(home / "old log.txt")) == 0
    out, err = capsys.readouterr()
    assert "2 runs in session old-log-2025-04-07: cephtui show old-log-2025-04-07" in out
    assert not err
    first, second = imported(home, "old-log-2025-04-07")
    assert (first.imported_from, second.imported_from) == ("old log.txt:4", "old log.txt:33")
    assert (first.outcome, first.nodes[0].node, first.cephtui_version) == ("ok", "pve1", None)
    assert second.nodes[0].node == units.DASH
    assert first.environment["pve1"].tools == {"fio": "fio-3.33"}
    assert "short" in {finding.code for finding in second.findings}
    directory = home / "data" / "sessions" / "old-log-2025-04-07"
    assert (directory / "001" / "raw" / "pve1.stdout").read_text() == WRITES
    assert len(list(store.read_samples(directory, 2))) == 8
    assert store.read_history(directory, 2).directions == ["read"]
    assert not list(store.read_samples(directory, 1))


def test_an_imported_session_reads_as_such(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "a.txt").write_text(COMMAND + WRITES)
    run("import", str(home / "a.txt"), "--session", "before")
    capsys.readouterr()
    run("sessions")
    assert "1 ok (imported)" in capsys.readouterr().out
    run("show", "before")
    assert "· imported" in capsys.readouterr().out
    run("show", "before/1")
    assert "from a.txt:4" in capsys.readouterr().out
    run("show", "before", "--format", "md")
    assert "- imported: from a.txt:4" in capsys.readouterr().out
    (row,) = list_sessions(home / "data" / "sessions")
    assert row.imported


def test_there_is_nothing_to_replay(home: Path, golden: Golden) -> None:
    (home / "a.txt").write_text(WRITES)
    run("import", str(home / "a.txt"), "--session", "before")
    with golden.raises(StoreError):
        Playback(home / "data" / "sessions" / "before", 1)


def test_what_a_log_does_not_say_is_no_difference(home: Path) -> None:
    (home / "a.txt").write_text(WRITES)
    run("import", str(home / "a.txt"), "--session", "before")
    (old,) = imported(home, "before")
    today = store.read_run(SESSION, WRITE_IOPS)
    found = differences(Side((old,)), Side((today,)))
    assert units.DASH not in {each.left for each in found}
    assert [(each.left, each.right) for each in found if each.topic == "not known"] == [
        ("target, options, nodes, cluster", "nodes, cluster")
    ]
    assert ("runtime", "unknown") in {(each.name, each.left) for each in found}
    assert not unlike(Side((old,)), Side((today,)))


def test_runs_of_a_loop_repeat_each_other(home: Path) -> None:
    (home / "loop.txt").write_text(3 * (COMMAND + WRITES) + WRITES.replace("iodepth=64", "iodepth=1"))
    (home / "other.txt").write_text(WRITES)
    run("import", str(home / "loop.txt"), str(home / "other.txt"), "--session", "loop")
    found = imported(home, "loop")
    assert [(each.batch, each.repeat) for each in found] == [
        *(("imported-1", number) for number in (1, 2, 3)),
        ("imported-1", 1),
        ("imported-2", 1),  # of another file nobody knows that it was set up alike
    ]


def test_a_session_is_never_added_to(home: Path, golden: Golden) -> None:
    (home / "a.txt").write_text(WRITES)
    assert run("import", str(home / "a.txt")) == 0
    with golden.raises(Exception):
        run("import", str(home / "a.txt"))
    with golden.raises(Exception):
        run("import", str(home / "a.txt"), "--session", "a-2025-04-07")
    assert len(imported(home, "a-2025-04-07")) == 1


def test_the_exit_code_says_whether_all_some_or_none_was_read(
    home: Path, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    folder = home / "logs"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "a.txt").write_text(WRITES)
    (folder / "notes.txt").write_text("nothing was measured\n")
    (folder / "write.fio").write_text("[a]\nrw=write\n")
    (folder / "objects.yaml").write_text("tests:\n  - name: small\n")
    (folder / "picture.png").write_bytes(b"\x89PNG\0\0")
    (folder / ".hidden").write_text(WRITES)
    assert run("import", "--dry-run", "--json", str(folder)) == 4
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    files = {Path(row["path"]).name: row["problem"] for row in rows if row["event"] == "file"}
    golden.same([f"{name}: {files[name]}" for name in sorted(files)])
    assert [name for name, problem in files.items() if problem is None] == ["a.txt"]
    assert len(files) == 6
    assert run("import", str(folder), "--session", "some") == 4
    out = capsys.readouterr().out
    assert "picture.png" not in out
    assert ".hidden" not in out
    golden.same(out.splitlines()[-7])
    assert len(imported(home, "some")) == 1
    assert run("import", str(folder / "deep"), "--session", "all") == 0
    assert run("import", str(folder / "notes.txt"), "--session", "none") == 1
    assert run("import", str(folder / "picture.png")) == 1
    golden.same(capsys.readouterr().err)
    assert not (home / "data" / "sessions" / "none").exists()


def test_a_dry_run_saves_nothing(home: Path, capsys: pytest.CaptureFixture[str], golden: Golden) -> None:
    (home / "a.txt").write_text(COMMAND + WRITES)
    assert run("import", "--dry-run", str(home / "a.txt")) == 0
    out = capsys.readouterr().out
    assert "4k randwrite qd64 j8 60 s" in out
    golden.same(out.splitlines()[-1])
    assert not (home / "data").exists()


def test_json_lines_have_the_runs_and_the_files(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "a.txt").write_text(WRITES)
    (home / "b.txt").write_text("no output\n")
    assert run("import", "--json", str(home / "a.txt"), str(home / "b.txt"), "--session", "x") == 4
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["event"], row.get("problem")) for row in rows] == [
        ("run", None),
        ("part", None),
        ("file", None),
        ("file", log_files.NOTHING_FOUND),
    ]
    assert (rows[1]["line"], rows[1]["last_line"], rows[1]["what"], rows[1]["runs"]) == (1, 26, "fio text", [1])
    assert rows[2]["runs"] == [1]
    assert rows[2]["session"] == "x"


def test_files_of_any_encoding_and_size(home: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    for name, data in {
        "utf-16.txt": WRITES.encode("utf-16"),
        "bom.txt": WRITES.encode("utf-8-sig"),
        "latin.txt": b"\xe9t\xe9\n" + WRITES.encode(),
    }.items():
        (home / name).write_bytes(data)
        assert len(read_log_file(home / name).runs) == 1, name
    monkeypatch.setattr(log_files, "FILE_MOST_BYTES", 100)
    assert "too large" in (read_log_file(home / "latin.txt").problem or "")
    golden.same(read_log_file(home / "missing.txt").problem)


@pytest.mark.parametrize(
    "piece",
    [
        "{\n",
        "\r\n",
        "{},",
    ],
)
def test_a_file_of_millions_of_pieces_is_refused_before_it_takes_memory(home: Path, piece: str, golden: Golden) -> None:
    path = home / "a.txt"
    path.write_text(piece * 8_000_000)
    tracemalloc.start()
    try:
        golden.same(read_log_file(path).problem)
        assert tracemalloc.get_traced_memory()[1] < 4 * path.stat().st_size
    finally:
        tracemalloc.stop()


def test_hostile_names_go_nowhere(home: Path) -> None:
    hostile = WRITES.replace("write_iops", "\x1b[31m[bold]../../x")
    prefix = "Object prefix: benchmark_data_../../../escape_12\n"
    (home / "a.txt").write_text(hostile + "hints = 1\n" + prefix + RADOS_READ.split("\n", 1)[1])
    run("import", str(home / "a.txt"), "--session", "hostile")
    first, second = imported(home, "hostile")
    assert first.preset == "[bold]../../x"
    assert second.nodes[0].node == units.DASH
    assert {path.name for path in home.iterdir()} - {"STATE"} == {"a.txt", "data"}  # the first of a process opens a log


# ---------------------------------------------------------------------------------------------- whatever comes

BASES = [
    WRITES,
    COMMAND + WRITES,
    log("fio-2.2.10-text.txt"),
    log("fio-2.2.10-jobs.txt"),
    log("fio-3.33-groups.txt"),
    json.dumps(json.loads(log("fio-3.33-json.txt")), indent=1)[:2600] + "}",
    RADOS_READ,
    (RADOS / "write.stdout").read_text(),
]
BEFORE, AFTER = WRITES.replace("write_iops", "before"), WRITES.replace("write_iops", "after")
NUMBERS = ["9" * 30, "-1", "nan", "1e400", "0msec", "1 ", ""]
PIECES = [*NUMBERS, "\x1b[2J", "\r", "{", '{"fio version"', "err=5", "\0", "é", "="]


def mutated(text: str, chance: random.Random) -> str:
    """With one to four changes of a kind that happens to logs, or of a kind that does not."""
    for _ in range(chance.randint(1, 4)):
        lines = text.split("\n")
        at = chance.randrange(len(lines))
        match chance.randrange(6):
            case 0:
                del lines[at : at + chance.randint(1, 5)]
            case 1:
                lines.insert(at, chance.choice(lines))
            case 2:
                other = chance.randrange(len(lines))
                lines[at], lines[other] = lines[other], lines[at]
            case 3:
                lines = lines[: at + 1]
            case 4:
                lines[at] = re.sub(r"\d+", lambda _: chance.choice(PIECES), lines[at], count=chance.randint(1, 3))
            case _:
                middle = chance.randint(0, len(lines[at]))
                lines[at] = lines[at][:middle] + chance.choice(PIECES) + lines[at][middle:]
        text = "\n".join(lines)
    return text


def figures(value: object) -> Iterator[float]:
    """Every number in what a model holds."""
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from figures(part)


@given(st.integers(0, 2**32 - 1))
def test_a_damaged_log_raises_nothing_and_harms_no_other_run(seed: int) -> None:
    """Fifty logs each time: every figure is one, and the runs before and after are whole."""
    chance = random.Random(seed)
    before, after = only(BEFORE).summary, only(AFTER).summary
    for _ in range(50):
        text = mutated(chance.choice(BASES), chance)
        between = chance.random() < 0.2
        whole = read_log(f"{BEFORE}\n\n{text}\n\n{AFTER}" if between else text)
        found = [*find_fio(whole), *find_rados(whole)]
        for each in found:
            models = [each.summary, *(job.summary for job in each.jobs)]
            values = [value for model in models for value in figures(model.model_dump())]
            assert all(math.isfinite(value) and value >= 0 for value in values)
            assert 0 <= each.duration_seconds < 2e9
            assert 1 <= each.line <= each.last_line <= len(whole.lines)
            assert len(each.readings) < 1000
        if between:
            summaries = {each.name: each.summary for each in found}
            assert summaries["before"] == before
            assert summaries["after"] == after


def test_every_tool_that_reads_logs_is_in_the_table() -> None:
    from cephtui.tools.saved import SAVED

    assert SAVED.keys() <= TOOLS.keys()
    assert SAVED["fio"].find is find_fio
