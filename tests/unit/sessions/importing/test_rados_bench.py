"""What is found in saved output of rados bench of all ages and forms, against a plain reader of its text."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from cephtui.analysis.runs.batches import group
from cephtui.models import Run, Total
from cephtui.tools.logs import FoundRun, read_log
from cephtui.tools.rados_bench.saved import find_runs
from tests import RECORDINGS
from tests.support.imported import import_texts, rados

FOLDER = RECORDINGS / "rados-16.2"
WHOLE = ("write", "write-objects", "write-long", "fill-again", "fill-short", "seq", "rand", "rand-deep", "no-time")
MIB = 1 << 20


def recorded(name: str) -> str:
    return (FOLDER / f"{name}.stdout").read_text()


def runs(text: str) -> list[FoundRun]:
    return find_runs(read_log(text))


def flow_of(run: FoundRun | Run) -> Total:
    (flow,) = run.summary.flows.values()
    return flow


class Plain:
    """The figures of one run's text, by splitting it at blanks and colons."""

    def __init__(self, text: str) -> None:
        words = [re.sub(r"^\d{4}-\S+ ", "", line.strip()).split() for line in text.splitlines()]
        self.rows = [[*map(float, w[:4])] for w in words if len(w) == 8 and w[0].isdigit() and w[3].isdigit()]
        named = [line.rpartition(":") for line in text.splitlines() if re.search(r": +[\d.e+]+ *$", line)]
        self.totals = {re.sub(r"^\d{4}-\S+ ", "", n.strip()).replace("(s)", "").lower(): float(v) for n, _, v in named}

    @property
    def each_second(self) -> list[float]:
        return [now[3] - before[3] for before, now in pairwise(self.rows) if now[0] - before[0] == 1]


OLD_WRITE = """\
Maintaining {depth} concurrent writes of 4096 bytes {lasts}
{prefix}  sec Cur ops   started  finished  avg MB/s  cur MB/s  last lat   avg lat
    0       0         0         0         0         0         -         0
    1      {depth:>2}       115       114  0.445199  0.445312  0.018922 0.0195801
    2      {depth:>2}       217       216  0.421805  0.398438  0.018011 0.0188303
2012-10-12 01:51:32.948934min lat: 0.011 max lat: 0.04 avg lat: 0.01
 Total time run:         2.017121
Total writes made:      222
Write size:             4096
Bandwidth (MB/sec):     0.430

Stddev Bandwidth:       0.0790
Max bandwidth (MB/sec): 0.445312
Min bandwidth (MB/sec): 0
Average Latency:        0.0186860
Stddev Latency:         0.0021
Max latency:            0.041231
Min latency:            0.011203
"""
ENDS = (
    "for up to 6 seconds",
    "for at least 6 seconds.",
    "for up to 6 seconds or 0 objects",
    "to objects of size 4096 for up to 6 seconds or 0 objects",
    "for up to\n 6 seconds or 0 objects",
)


@pytest.mark.parametrize("lasts", ENDS)
def test_runs_of_any_release_have_their_own_node_depth_and_runtime(tmp_path: Path, lasts: str) -> None:
    text = "".join(
        OLD_WRITE.format(depth=depth, lasts=lasts, prefix=f" Object prefix: benchmark_data_{node}_4711\n")
        for node, depth in (("nodeA", 1), ("nodeB", 16))
    )
    found = import_texts(tmp_path, "s", {"a.txt": text.replace("0.430\n", "0.430 \n")})
    assert [(run.nodes[0].node, run.options["concurrent-ios"], run.options["runtime"]) for run in found] == [
        ("nodeA", 1, 6),
        ("nodeB", 16, 6),
    ]
    assert all(run.options["mode"] == "write" and run.options["block-size"] == "4k" for run in found)
    assert [len(point.repeats) for batch in group(found) for point in batch.points] == [1, 1]
    plain = Plain(text)
    assert flow_of(found[0]).iops == pytest.approx(plain.totals["total writes made"] / plain.totals["total time run"])
    assert flow_of(found[0]).latency_max_seconds == plain.totals["max latency"]
    assert found[0].started_at.year == 2012


# ---------------------------------------------------------------------------------------------- seconds


def with_row_zero(done: int) -> str:
    """A write that has completed so many before row 0 was printed."""
    counts = [done, done + 257, done + 480, done + 700]
    rows = [
        f"{n:>5} {16:>7} {count + 16:>9} {count:>9} {1:>9} {1:>9} {0.01:>11} 0.01" for n, count in enumerate(counts)
    ]
    totals = ["Total time run:         3.05", f"Total writes made:      {counts[-1] + 16}", "Write size:   4096"]
    begun = "Maintaining 16 concurrent writes of 4096 bytes to objects of size 4096 for up to 3 seconds or 0 objects"
    return "\n".join(["hints = 1", begun, *rows, *totals, ""])


@pytest.mark.parametrize("done", [0, 1, 14])
def test_what_row_0_has_completed_is_not_of_the_first_second(tmp_path: Path, done: int) -> None:
    (run,) = import_texts(tmp_path, "s", {"a.txt": with_row_zero(done)})
    assert run.seconds
    plain = Plain(with_row_zero(done)).each_second
    assert (run.seconds.least, run.seconds.greatest, run.seconds.count) == (min(plain), max(plain), len(plain))
    assert flow_of(run).ios == done + 700 + 16


@pytest.mark.parametrize("name", [*WHOLE, "stopped-int", "stopped-rand"])
def test_the_seconds_are_those_of_the_rows(tmp_path: Path, name: str) -> None:
    (run,) = import_texts(tmp_path, "s", {"a.txt": recorded(name)})
    plain = Plain(recorded(name))
    if not plain.each_second:
        assert run.seconds is None
        return
    assert run.seconds
    assert run.seconds.greatest == pytest.approx(max(plain.each_second), rel=2e-3)
    assert run.seconds.least == pytest.approx(min(plain.each_second), rel=2e-3)
    if name in WHOLE:
        assert flow_of(run).ios == plain.totals.get("total writes made", plain.totals.get("total reads made"))


def test_the_end_of_a_run_lasts_as_long_as_it_does() -> None:
    (run,) = runs(recorded("rand-deep"))
    last = run.readings[-1].read
    assert last
    plain = Plain(recorded("rand-deep"))
    ios = plain.totals["total reads made"] - plain.rows[-1][3]
    assert last.iops == pytest.approx(ios / (plain.totals["total time run"] - plain.rows[-1][0]), rel=5e-3)


def test_rows_that_fall_behind_the_clock_do_not_slow_the_end() -> None:
    """After an hour the column of seconds is behind by one or two; the mean speed tells by how much."""
    per_second, lag = 100, 1.0005
    rows = []
    for second in range(3600):
        done = round(per_second * second * lag)
        speed = f"{done * 4096 / MIB / (second * lag):.6g}" if second else "0"
        rows.append(f"{second:>5} {16:>7} {done + 16:>9} {done:>9} {speed:>9} {0.4:>9} {0.01:>11} 0.01")
    end = 3599 * lag + 0.4
    totals = [f"Total time run:  {end:.4f}", f"Total reads made: {round(per_second * end)}", "Read size: 4096", ""]
    (run,) = runs("\n".join([*rows, *totals]))
    assert run.readings[-1].interval_seconds == pytest.approx(0.4, abs=0.05)


# ---------------------------------------------------------------------------------------------- errors

NOT_THERE = "error opening pool none: (2) No such file or directory"
NO_DATA = "Must write data before running a read benchmark!"
BROKEN = "error during benchmark: (5) Input/output error"
ROWS = "".join(rados("write").splitlines(keepends=True)[:9])


@pytest.mark.parametrize(
    ("text", "said", "ios"),
    [
        (f"$ rados bench -p none 10 write\n{NOT_THERE}\n", NOT_THERE, None),
        (f"$ rados bench -p bench 10 seq\n{NO_DATA}\n", NO_DATA, None),
        (f"{NO_DATA}\n{BROKEN}\n", NO_DATA, None),
        (f"{BROKEN}\n", BROKEN, None),
        (f"{ROWS}{BROKEN}\n", BROKEN, 250),
        (f"> {ROWS}> {BROKEN}\n".replace("\n", "\n> "), BROKEN, 250),
        (f"{rados('seq')}{BROKEN}\n", BROKEN, 2000),
        (f"{ROWS}benchmark_data_a_1_object20 is not correct!\n{BROKEN}\n", "is not correct", 250),
        ("$ rados bench -p bench 10 write\nerror: the pool is full\n", "error: the pool is full", None),
        ("$ rados bench -p bench 10 write\n-bash: rados: command not found\n", "command not found", None),
        ("$ rados bench -p bench 10 write\ncouldn't connect to cluster: (110) Connection timed out\n", "(110)", None),
    ],
)
def test_an_error_is_the_runs_own(tmp_path: Path, text: str, said: str, ios: int | None) -> None:
    (run,) = import_texts(tmp_path, "s", {"a.txt": text})
    assert run.outcome == "failed"
    assert said in (run.error or "")
    assert (flow_of(run).ios if run.summary.flows else None) == ios


def test_each_run_has_its_own_error() -> None:
    text = f"{ROWS}{BROKEN}\n{ROWS}{BROKEN}\n{rados('write')}$ rados bench -p none 10 write\n{NOT_THERE}\n"
    assert [run.error for run in runs(text)] == [BROKEN, BROKEN, None, NOT_THERE]


def test_a_warning_before_the_run_is_no_error() -> None:
    warned = "2026-11-27T13:24:31.594+0000 7f08de693d00 -1 auth: unable to find a keyring on /etc: (2) No such file\n"
    (run,) = runs(f"$ rados bench -p bench 40 write\n{warned}{rados('write')}")
    assert (run.error, flow_of(run).ios, run.target) == (None, 2000, "pool:bench")
    (run,) = runs(f"$ rados bench -p bench 40 write\n{warned}failed to fetch mon config (--no-mon-config to skip)\n")
    assert "unable to find a keyring" in (run.error or "")


@pytest.mark.parametrize(
    "text",
    [
        "There was an error during the benchmark: see below.\n",
        "$ rados bench -p bench 10 write\n\nTest (2) Sequential reads failed to impress us.\n",
        f"{rados('write')}\nerror: this is about something else\n",
        "Error during benchmark: timeout\n",
    ],
)
def test_prose_is_no_error(text: str) -> None:
    assert all(run.error is None for run in runs(text))


# ---------------------------------------------------------------------------------------------- parts of the output


def totals(text: str) -> str:
    return text[text.index("Total time run") :]


@pytest.mark.parametrize("name", WHOLE)
def test_totals_without_the_table_are_the_same_run(name: str) -> None:
    (found,), (whole,) = runs(totals(recorded(name))), runs(recorded(name))
    assert (found.summary, found.readings, found.stopped) == (whole.summary, (), False)


def test_totals_one_behind_the_other_are_runs() -> None:
    text = "".join(totals(recorded(name)) for name in WHOLE)
    assert [run.summary for run in runs(text)] == [run.summary for name in WHOLE for run in runs(recorded(name))]


LOOP = "root@pve1:~# for i in 1 2 3; do rados bench -p bench 10 write -t 4 -b 64k | grep Bandwidth; done\n"
LOOP_OF_LINES = "for i in 1 2 3\ndo\n  rados bench -p bench 10 write -t 4 -b 64k | grep Bandwidth\ndone\n"


@pytest.mark.parametrize("loop", [LOOP, LOOP_OF_LINES])
@pytest.mark.parametrize("stddev", ["", "Stddev Bandwidth:       3.1\nMax bandwidth (MB/sec): 368\n"])
def test_each_line_of_a_loop_is_a_run_without_seconds(tmp_path: Path, loop: str, stddev: str) -> None:
    speeds = [250.271, 260.5, 245.75]
    text = loop + "".join(f"Bandwidth (MB/sec):     {speed}\n{stddev}" for speed in speeds)
    found = import_texts(tmp_path, "s", {"a.txt": text})
    assert [flow_of(run).bandwidth_bytes for run in found] == [pytest.approx(speed * MIB) for speed in speeds]
    assert [flow_of(run).iops for run in found] == [pytest.approx(speed * 16) for speed in speeds]
    assert {(flow_of(run).ios, flow_of(run).latency_mean_seconds, run.seconds) for run in found} == {(None, None, None)}
    assert [run.repeat for run in found] == [1, 2, 3]
    assert {run.target for run in found} == {"pool:bench"}
    assert all(run.has_all_options and run.outcome == "ok" and not run.findings for run in found)


def test_without_a_command_the_layout_tells_writes_from_reads_and_no_more_is_known(tmp_path: Path) -> None:
    found = import_texts(tmp_path, "s", {"a.txt": "Bandwidth (MB/sec):     250\nBandwidth (MB/sec):   900\n"})
    assert [(*run.summary.flows,) for run in found] == [("write",), ("read",)]
    assert all(flow_of(run).iops is None and "block-size" not in run.options for run in found)
    assert [len(point.repeats) for batch in group(found) for point in batch.points] == [1, 1]
    assert runs("Bandwidth (MB/sec): 250\n") == []


def test_a_figure_that_prose_repeats_is_no_run() -> None:
    (run,) = runs(f"{recorded('write')}\nSo the average is:\n\n    Bandwidth (MB/sec):     287.623\n")
    assert flow_of(run).ios == 4609


# ---------------------------------------------------------------------------------------------- JSON

_NAMES = {
    "sec": 0,
    "cur_ops": 1,
    "started": 2,
    "finished": 3,
    "avg_bw": 4,
    "cur_bw": 5,
    "last_lat": 6,
    "avg_lat": 7,
}


def as_json(text: str, *, indent: int | None, cleaned: bool = False) -> str:
    """What ``rados bench -f json`` prints of the same run: all values as text, figures with six decimals."""
    rows = [re.sub(r"^\d{4}-\S+ ", "", line).split() for line in text.splitlines()]
    datas = [
        {name: row[at] if at < 4 else f"{float(row[at].replace('-', '0')):.6f}" for name, at in _NAMES.items()}
        for row in rows
        if len(row) == 8 and row[0].isdigit()
    ]
    content: dict[str, object] = {}
    if begun := re.search(
        r"Maintaining (\d+) .* of (\d+) bytes to objects of size (\d+) .* (\d+) seconds or (\d+)", text
    ):
        names = ("concurrent_ios", "op_size", "object_size", "seconds_to_run", "max_objects")
        content |= dict(zip(names, begun.groups(), strict=True))
        content["object_prefix"] = re.search(r"prefix: (\S+)", text)[1]  # type: ignore[index]
    content["datas"] = datas
    for line in totals(text).splitlines():
        name, _, value = line.partition(":")
        key = re.sub(r" ?\(.*\)", "", name).lower().replace(" ", "_")
        content[key] = value.strip() if "." not in value and "e" not in value else f"{float(value):.6f}"
    found = json.dumps(content, indent=indent, separators=(",", ":") if indent is None else None)
    if cleaned:
        lines = "Cleaning up (deleting benchmark objects)\nClean up completed and total clean up time :0.4\n"
        found = re.sub(r"\]", f"{lines}]", found, count=1)
    return f"hints = 1\n{found}\n"


@pytest.mark.parametrize("cleaned", [False, True])
@pytest.mark.parametrize("indent", [None, 4])
@pytest.mark.parametrize("name", WHOLE)
def test_json_has_the_run_of_the_text(name: str, indent: int | None, cleaned: bool) -> None:
    (found,), (text,) = runs(as_json(recorded(name), indent=indent, cleaned=cleaned)), runs(recorded(name))
    assert (found.options, found.node, found.stopped) == (text.options, text.node, False)
    assert (flow_of(found).ios, flow_of(found).bytes) == (flow_of(text).ios, flow_of(text).bytes)
    assert flow_of(found).iops == pytest.approx(flow_of(text).iops, rel=1e-4)
    assert flow_of(found).latency_mean_seconds == pytest.approx(flow_of(text).latency_mean_seconds, abs=1e-6)
    counts = [[flow.ios for reading in run.readings for flow in reading.flows.values()] for run in (found, text)]
    assert counts[0] == counts[1] or len(counts[0]) == len(counts[1]) + 1  # by the clock, which JSON does not have


def test_a_latency_of_few_digits_is_no_mean_of_a_second() -> None:
    """Six decimals of a mean of 0.3 ms are three digits: too few after some seconds."""
    (found,), (text,) = runs(as_json(recorded("seq"), indent=4)), runs(recorded("seq"))
    for one, other in zip(found.readings, text.readings, strict=False):
        if one.read and one.read.latency_mean_seconds and other.read and other.read.latency_mean_seconds:
            assert one.read.latency_mean_seconds == pytest.approx(other.read.latency_mean_seconds, rel=0.03)


def test_documents_follow_each_other_and_may_be_cut() -> None:
    text = "".join(as_json(recorded(name), indent=4) for name in ("write", "seq", "rand"))
    assert [flow_of(run).ios for run in runs(text)] == [4609, 16025, flow_of(runs(recorded("rand"))[0]).ios]
    cut = as_json(recorded("write-long"), indent=4)
    (found, other) = runs(cut[: cut.index('"total_time_run"')] + text[: text.index("hints", 10)])
    assert (found.stopped, other.stopped) == (True, False)
    assert "> " not in repr(runs("".join(f"> {line}\n" for line in text.splitlines())))
    assert len(runs("".join(f"> {line}\n" for line in text.splitlines()))) == 3


# ---------------------------------------------------------------------------------------------- commands

WRITE = rados("write")


@pytest.mark.parametrize(
    ("words", "other"),
    [
        ("rados bench -p bench 40 write", {}),
        ("rados -p bench bench 40 write -b 4M -t 16 --no-cleanup", {"no-cleanup": "true"}),
        ("rados --pool=bench -N ns bench 40 write --some-new=3", {"namespace": "ns", "some-new": "3"}),
        ("rados bench -p bench 40 write --concurrent_ios 16 --run-name a --show-time -f plain", {}),
        ("sudo rados bench -p bench 40 write -O 4M | tee log", {}),
        ("kubectl -n rook exec deploy/tools -- rados bench -p bench 40 write", {}),
    ],
)
def test_options_of_the_command_are_known_or_kept(words: str, other: dict[str, str]) -> None:
    (run,) = runs(f"root@pve1:~# {words}\n{WRITE}")
    assert (run.command.endswith(words.removeprefix("kubectl -n rook exec deploy/tools -- ")), run.has_all_options) == (
        True,
        True,
    )
    assert run.other_options == other
    assert run.target == "pool:bench"
    assert (run.options["concurrent-ios"], run.options["runtime"], run.options["block-size"]) == (16, 40, "4M")


@pytest.mark.parametrize(
    "words",
    [
        "rados bench -p bench 30 write",
        "rados bench -p bench 40 write -t 4",
        "rados bench -p bench 40 write -b 4096",
        "rados bench -p bench 40 write -O 8M",
        "rados bench -p bench 40 seq",
    ],
)
def test_a_command_that_disagrees_with_what_was_printed_is_not_the_runs(words: str) -> None:
    (run,) = runs(f"root@pve1:~# {words}\n{WRITE}")
    assert (run.command, run.target, run.has_all_options) == ("", "", False)


@pytest.mark.parametrize("words", ["rados bench -p bench 40 rand -t 4", "rados bench -p bench 40 rand -t 64"])
def test_a_read_shows_how_many_were_in_flight(words: str) -> None:
    (run,) = runs(f"$ {words}\n{rados('rand')}")
    assert run.command == ""


def test_commands_above_all_outputs_belong_to_those_that_they_fit_alone() -> None:
    commands = "rados bench -p bench 40 write\nrados bench -p bench 40 seq -t 16\n"
    assert [run.name for run in runs(f"{commands}\n{WRITE}{rados('seq')}")] == ["rados-write", "rados-seq"]
    pools = "rados bench -p one 40 write\nrados bench -p two 40 write\n"
    assert [run.target for run in runs(f"{pools}\n{WRITE}{WRITE}")] == ["", ""]
    apart = "".join(f"$ rados bench -p {pool} 40 write\n{WRITE}" for pool in ("one", "two"))
    assert [run.target for run in runs(apart)] == ["pool:one", "pool:two"]


def test_totals_that_do_not_fit_the_table_are_of_the_same_run() -> None:
    (run,) = runs(rados("seq").replace("reads made:      2000", "reads made:      1900"))
    assert (flow_of(run).ios, run.stopped) == (1900, False)


def test_of_a_log_with_more_runs_than_a_session_takes_the_first_are_found() -> None:
    assert 5000 < len(runs("Bandwidth (MB/sec):     250\n" * 20_000)) <= 5002


@pytest.mark.parametrize(
    ("words", "is_all"), [("-p $POOL 40 write", True), ("-p a 40 write $MORE", False), ("$MORE -p a 40 write", False)]
)
def test_a_variable_in_the_place_of_options_leaves_them_unknown(words: str, is_all: bool) -> None:
    (run,) = find_runs(read_log(f"$ rados bench {words}\n{rados('write')}"))
    assert run.has_all_options is is_all
