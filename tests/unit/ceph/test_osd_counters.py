"""What OSDs count: asked on a node by a program that no OSD holds up, and read as differences."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cephtui.ceph import osd_counters, watch_on_node
from cephtui.ceph.osd_counters import OsdDifferences, OsdRound, round_of
from cephtui.ceph.watch import CephWatch, watch_argv
from cephtui.models import OsdInterval
from tests.support.known import known
from tests.unit.ceph.test_releases import every_release, said

# ---------------------------------------------------------------------------------------------- what releases answer


class Recorded:
    """An OSD of a release."""

    def __init__(self, release: str) -> None:
        self.release = release

    def osd_command(self, osd: int, command: str, data: bytes) -> tuple[int, bytes, str]:
        logger = json.loads(command)["logger"]
        throttles = {"throttle-osd_client_messages": "message-throttle", "throttle-osd_client_bytes": "size-throttle"}
        name = f"perf-{throttles.get(logger, logger)}"
        return 0, said(self.release, name).encode(), ""


@every_release
def test_all_that_is_asked_is_known_in_every_release(release: str) -> None:
    row = watch_on_node.counted_by(Recorded(release), json.loads(osd_counters.REQUEST), 1)
    counts = known(round_of({"osd_counters": {"1": row}})).osds[1]
    dumped = json.loads(said(release, "perf-osd"))["osd"]
    assert counts.counts["writes"] == dumped["op_w"] > 1000
    assert counts.counts["write_bytes"] == dumped["op_w_in_bytes"]
    assert counts.means["write_seconds"] == (dumped["op_w_latency"]["avgcount"], dumped["op_w_latency"]["sum"])
    assert (counts.counts["message_cap"], counts.counts["size_cap_bytes"]) == (256, 500 << 20)
    store = json.loads(said(release, "perf-bluestore"))["bluestore"]
    commits = store.get("txc_commit_lat", store.get("commit_lat"))
    assert counts.means["commit_seconds"] == (commits["avgcount"], commits["sum"])
    parts = (counts.means[f"{name}_seconds"][1] for name in ("kv_queue", "kv_commit", "throttle"))
    assert 0.9 * commits["sum"] < sum(parts) < commits["sum"]
    assert counts.counts.keys() | counts.means.keys() == osd_counters._NAMES.keys(), "nothing is unknown"


def test_a_counter_that_an_osd_does_not_have_is_left_out() -> None:
    width = len(json.loads(osd_counters.REQUEST))
    row = [1.0, 0.0, 7, *[None] * (width - 1)]
    assert known(round_of({"osd_counters": {"0": row, "1": row[:-1], "x": row, "2": "?"}})).osds.keys() == {0}
    counts = known(round_of({"osd_counters": {"0": row}})).osds[0]
    assert (counts.counts, counts.means) == ({"reads": 7}, {})


# ---------------------------------------------------------------------------------------------- differences


def answered(at: float, took: float = 0.0003, **counted: Any) -> list[Any]:
    """A row of an OSD: counts, and means as pairs, by their names here; it has the last of several names of Ceph's."""
    row: list[Any] = [at, took]
    for name, counters in osd_counters._NAMES.items():
        row += [None] * (len(counters) - 1)
        row.append(counted.get(name, [0, 0.0] if name.endswith("_seconds") else 0))
    return row


def asked(**osds: list[Any]) -> OsdRound:
    return known(round_of({"osd_counters": {name.removeprefix("osd"): row for name, row in osds.items()}}))


def test_a_sample_is_what_was_counted_between_two_answers() -> None:
    differences = OsdDifferences()
    first = asked(
        osd0=answered(10.0, writes=100, write_bytes=1000, write_seconds=[100, 1.0], received=5, message_cap=256),
        osd1=answered(10.0, reads=7, read_seconds=[7, 0.7], subop_seconds=[10, 1.0], refused=3, message_cap=100),
    )
    assert differences.take(first) is None
    second = asked(
        osd0=answered(11.0, writes=104, write_bytes=1400, write_seconds=[104, 1.2], received=9, message_cap=256),
        osd1=answered(11.0, reads=9, read_seconds=[9, 0.8], subop_seconds=[12, 1.5], refused=8, message_cap=100),
    )
    sample = known(differences.take(second))
    assert (sample.interval_seconds, sample.missing) == (1.0, ())
    assert (sample.reads, sample.writes, sample.write_bytes, sample.operations) == (2, 4, 400, 6)
    assert [sample.read_seconds, sample.write_seconds] == pytest.approx([0.05, 0.05])
    assert sample.message_cap == 100
    assert sample.osds == {
        "0": OsdInterval(writes=4, write_seconds=0.05, received=4),
        "1": OsdInterval(reads=2, read_seconds=0.05, subops=2, subop_seconds=0.25, refused=5),
    }


def test_how_long_operations_waited_for_a_thread_and_transactions_for_their_commit() -> None:
    differences = OsdDifferences()
    differences.take(asked(osd0=answered(0.0), osd1=answered(0.0)))
    busy: dict[str, Any] = {"write_seconds": [30, 0.6], "write_process_seconds": [30, 0.3], "reads": 10, "writes": 30}
    read: dict[str, Any] = {"read_seconds": [10, 0.1], "read_process_seconds": [10, 0.1]}
    commits: dict[str, Any] = {
        "commit_seconds": [50, 0.5],
        "kv_queue_seconds": [50, 0.1],
        "kv_commit_seconds": [50, 0.3],
    }
    later = asked(osd0=answered(1.0, **busy, **read, **commits), osd1=answered(1.0, commit_seconds=[150, 0.5], reads=1))
    sample = known(differences.take(later))
    first, second = sample.osds.values()
    assert (first.queue_seconds, first.commits, first.commit_seconds) == pytest.approx((0.0075, 50, 0.01))
    assert (second.queue_seconds, second.commits, second.commit_seconds) == pytest.approx((0.0, 150, 0.0033333))
    assert (sample.commits, sample.commit_seconds) == pytest.approx((200, 0.005))
    assert (sample.kv_queue_seconds, sample.kv_commit_seconds) == pytest.approx((0.002, 0.006))


def test_an_osd_that_did_not_answer_is_left_out_and_comes_with_its_whole_time() -> None:
    differences = OsdDifferences()
    for second in range(3):
        differences.take(asked(osd0=answered(second, writes=10 * second), osd1=answered(second, writes=10 * second)))
    without = known(differences.take(asked(osd0=answered(3, writes=30))))
    assert (without.writes, without.missing) == (10, ("1",))
    late = known(differences.take(asked(osd0=answered(4, writes=40), osd1=answered(4, writes=35))))
    assert (late.writes, late.missing, late.interval_seconds) == (25, (), 1.0)
    assert [osd.interval_seconds for osd in late.osds.values()] == [0.0, 2.0]


@pytest.mark.parametrize(("took", "kept"), [(0.0099, 0.0), (0.31, 0.31)])
def test_how_long_an_answer_took_is_kept_where_it_says_something(took: float, kept: float) -> None:
    differences = OsdDifferences()
    differences.take(asked(osd0=answered(0.0)))
    assert known(differences.take(asked(osd0=answered(1.0, took)))).osds["0"].answer_seconds == kept


def test_that_no_osd_answers_is_a_sample_too() -> None:
    differences = OsdDifferences()
    assert differences.take(asked()) is None
    differences.take(asked(osd0=answered(0), osd1=answered(0)))
    silent = known(differences.take(asked()))
    assert (silent.missing, silent.interval_seconds, silent.operations) == (("0", "1"), 0.0, 0)


def test_an_osd_that_was_started_again_has_no_difference() -> None:
    differences = OsdDifferences()
    differences.take(asked(osd0=answered(0, writes=50), osd1=answered(0, writes=50)))
    sample = known(differences.take(asked(osd0=answered(1, writes=60), osd1=answered(1, writes=2))))
    assert (sample.writes, sample.missing) == (10, ("1",))
    assert known(differences.take(asked(osd0=answered(2, writes=70), osd1=answered(2, writes=5)))).writes == 13


def test_an_osd_that_is_gone_for_long_is_not_missing_for_ever() -> None:
    differences = OsdDifferences()
    differences.take(asked(osd0=answered(0), osd1=answered(0)))
    assert [known(differences.take(asked(osd0=answered(at)))).missing for at in (1, 29, 31, 32)] == [
        ("1",), ("1",), (), (),
    ]  # fmt: skip


# ---------------------------------------------------------------------------------------------- the program

RADOS = """
import json, os, time
class Error(Exception): pass
class TimedOut(Error): pass
count = {}
class Rados:
    def __init__(self, name, conffile): pass
    def conf_parse_argv(self, words): pass
    def conf_set(self, name, value): pass
    def connect(self, timeout): pass
    def mon_command(self, text, data):
        return 0, json.dumps({"nodes": [], "stray": []}).encode(), ""
    def osd_command(self, osd, text, data):
        asked = json.loads(text)
        if "denied" in os.environ: return -13, b"", "access denied"
        if str(osd) in os.environ.get("stopped", ""): time.sleep(30)
        time.sleep(float(os.environ.get("takes", "0")))
        if str(osd) in os.environ.get("absent", ""): return -6, b"", "no such OSD"
        count[osd] = count.get(osd, 0) + 1
        values = {"op_r": count[osd], "op_r_latency": {"avgcount": 2, "sum": 0.5, "avgtime": 0.25}, "max": 256}
        return 0, json.dumps({asked["logger"]: values}).encode(), ""
"""


@pytest.fixture
def node(tmp_path: Path) -> dict[str, str]:
    """The environment in which ``rados`` is a fake."""
    (tmp_path / "rados.py").write_text(RADOS)
    (tmp_path / "ceph").touch(mode=0o755)
    (tmp_path / "python3").symlink_to(sys.executable)
    return {**os.environ, "PYTHONPATH": str(tmp_path), "PATH": f"{tmp_path}:{os.environ['PATH']}"}


def lines(osds: list[int], environment: Mapping[str, str], until: int, states_most: int = 150) -> list[OsdRound]:
    """The rounds that the program reports, until there are as many, or it has reported its state so many times."""
    argv = watch_argv(None, 0.3, osds)
    with subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        reader, rounds, states = CephWatch(), list[OsdRound](), 0
        for line in process.stdout:
            reports = reader.feed(line)
            rounds += [report for report in reports if isinstance(report, OsdRound)]
            states += len(reports) - sum(isinstance(report, OsdRound) for report in reports)
            if len(rounds) >= until or states >= states_most:
                break
        process.terminate()
    assert states > 2, "the state of the cluster goes on"
    return rounds


def test_each_second_has_a_line_with_all_osds(node: dict[str, str]) -> None:
    first, second = lines([0, 1, 12], node, 2)
    assert first.osds.keys() == second.osds.keys() == {0, 1, 12}
    assert second.osds[12].counts["reads"] > first.osds[12].counts["reads"]
    assert first.osds[0].means["read_seconds"] == (2, 0.5)
    assert 0.5 < second.osds[0].at - first.osds[0].at < 5


def test_how_long_each_answer_took_is_told(node: dict[str, str]) -> None:
    (first,) = lines([0], {**node, "takes": "0.06"}, 1)
    assert 0.06 <= first.osds[0].answer_seconds < 5


def test_an_osd_that_is_stopped_or_gone_holds_nothing_up(node: dict[str, str]) -> None:
    first, second = lines([0, 1, 2], {**node, "stopped": "1", "absent": "2"}, 2)
    assert [first.osds.keys(), second.osds.keys()] == [{0}, {0}]


def test_many_osds_are_asked_in_turn(node: dict[str, str]) -> None:
    (first,) = lines([*range(17)], node, 1)
    assert len(first.osds) == 17
    assert first.osds[16].at - first.osds[0].at > 0.5


def test_without_permission_it_says_so_once(node: dict[str, str]) -> None:
    rounds = lines([0, 1], {**node, "denied": "yes"}, 2, 30)
    assert rounds == [OsdRound({}, denied=True)]


def test_no_osd_is_asked_where_none_is_named(node: dict[str, str]) -> None:
    assert lines([], node, 1, 30) == []
