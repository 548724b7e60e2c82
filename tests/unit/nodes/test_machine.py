"""What a node does beside the benchmark: the records of the script, in the output of a command, and what they say."""

from __future__ import annotations

import asyncio
import itertools
import os
import resource
import shlex
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.models import MachineUse
from cephtui.nodes import machine
from cephtui.nodes.local import LocalConnection
from cephtui.nodes.machine import Machine, record_mark
from cephtui.nodes.transport import Chunk, Command, Record
from cephtui.nodes.watched import _Records
from tests.lab.processes import all_pids, command_of
from tests.support.waiting import wait_for

HZ = 100
IDLE: Mapping[str, Sequence[int]] = {
    "cpus": [2],
    "cpu": [0, 0, 0, 2 * HZ, 0, 0, 0, 0],
    "run": [1],
    "own": [0, 0],
    "ceph": [0, 0],
    "tcp": [0, 0],
    "nic eth0": [0, 0, 0, 0, 0, 0, 0, 0],
}
"""What the counters of an idle node with two CPUs grow by in a second."""


Counts = Mapping[str, Sequence[int]]


def record(second: float, changes: Counts = MappingProxyType({}), *, ahead: float = 0.0, more: str = "") -> bytes:
    """The record of a node after so many seconds in which its counters grew like this."""
    groups = [
        f"{name} {' '.join(str(n if name in ('cpus', 'run') else round(1000 + n * second)) for n in counts)}"
        for name, counts in {**IDLE, **changes}.items()
    ]
    return "\x1f".join(["", f"time {1.7e9 + second + ahead:.6f} {50 + second:.2f}", *groups, more]).encode()


def use_of(changes: Counts = MappingProxyType({})) -> MachineUse:
    """The use of a node that goes on like this."""
    node = Machine()
    assert node.take(record(0, changes), 1.7e9) is None
    taken = node.take(record(1, changes), 1.7e9 + 1)
    assert taken
    assert taken[0] == pytest.approx(1)
    return taken[1]


def test_the_use_is_what_the_counters_grew_by() -> None:
    use = use_of(
        {
            "cpu": [100, 10, 20, 30, 20, 4, 6, 10],
            "own": [30, 10],
            "ceph": [20, 5],
            "run": [9],
            "tcp": [4000, 43],
            "needless": [3],
            "memory": [340000, 700],
            "order": [2000, 7],
            "nic eth0": [5 << 20, 5000, 0, 3, 1 << 20, 1000, 2, 0],
            "nic eth1": [0, 7, 0, 0, 0, 0, 0, 0],
            "disk sda": [985],
            "disk sdb": [1],
        }
    )
    assert use == MachineUse(
        cpus=2,
        cpu_busy_ratio=0.75,
        cpu_steal_ratio=0.05,
        cpu_own_ratio=0.2,
        cpu_others_ratio=0.25,
        processes_running=8,
        memory_wait_ratio=0.34,
        pages_swapped_in=700,
        tcp_segments_sent=4000,
        tcp_segments_resent=40,
        tcp_segments_received=2000,
        tcp_segments_disordered=7,
        packets=6007,
        nic_packets={"eth0": 6000, "eth1": 7},
        received_bytes_per_second=5 << 20,
        sent_bytes_per_second=1 << 20,
        nic_drops={"eth0": 3},
        nic_errors={"eth0": 2},
        disk_busy_ratio={"sda": 0.985},
        clock_offset_seconds=0.0,
    )


def test_round_trips_are_those_of_the_moment() -> None:
    trips = {"trip 10.0.0.5": [0], "trip [fd00::5]": [-910], "trip [::ffff:10.0.0.6]": [1130]}
    assert use_of(trips).round_trips_seconds == {"10.0.0.5": 0.001, "fd00::5": 9e-5, "10.0.0.6": 0.00213}


@pytest.mark.parametrize(
    ("groups", "resent"),
    [({"tcp": [900, 9]}, 9), ({"tcp": [900, 9], "needless": [9]}, 0), ({"tcp": [900, 9], "needless": [12]}, 0)],
    ids=["an old kernel", "all", "those of the second before"],
)
def test_segments_that_had_arrived_are_not_lost(groups: dict[str, list[int]], resent: int) -> None:
    assert use_of(groups).tcp_segments_resent == resent


def use_in_a_container(counters: Counts) -> MachineUse:
    node = Machine()
    node.take(record(0, {"ceph": counters["others"], **counters}).replace(b"ceph", b"others"), 1.7e9)
    taken = node.take(record(1, {"ceph": counters["others"], **counters}).replace(b"ceph", b"others"), 1.7e9 + 1)
    assert taken
    return taken[1]


NS, MICROSECONDS = 10**9 // HZ, 10**6 // HZ


@pytest.mark.parametrize(
    ("counters", "ratio"),
    [
        ({"cpu": [30, 0, 150, 0, 0, 0, 20, 0], "own": [20, 40], "ceph": [10, 10]}, 0.0),
        (
            {"cpu": [30, 0, 150, 0, 0, 0, 20, 0], "own": [20, 40], "ceph": [10, 10], "cgroups": [190 * MICROSECONDS]},
            0.55,
        ),
        ({"cpu": [190, 0, 10, 0, 0, 0, 0, 0], "own": [50, 10], "ceph": [0, 0], "cgroups": [70 * MICROSECONDS]}, 0.7),
        ({"cpu": [40, 0, 160, 0, 0, 0, 0, 0], "own": [40, 40], "ceph": [0, 0], "cgroups": [79 * MICROSECONDS]}, 0.0),
        ({"cpu": [60, 140, 0, 0, 0, 0, 0, 0], "own": [50, 10], "ceph": [0, 0], "cgroups": [200 * MICROSECONDS]}, 0.05),
        (
            {"cpu": [150, 0, 50, 0, 0, 0, 0, 0], "own": [50, 10], "ceph": [0, 0], "watch": [90, 50]}
            | {"cgroups": [200 * MICROSECONDS]},
            0.05,
        ),
    ],
    ids=["user mode only", "in the kernel", "outside of cgroups", "threads of the kernel", "a lower priority", "watch"],
)
def test_what_other_programs_take(counters: Counts, ratio: float) -> None:
    assert use_of(counters).cpu_others_ratio == ratio


@pytest.mark.parametrize(("waited", "ratio"), [(59, 0.0), (61, 0.7)])
def test_a_lower_priority_takes_a_cpu_for_which_the_benchmark_waits(waited: int, ratio: float) -> None:
    """It counts within a cgroup or a session only."""
    counters = {"cpu": [50, 140, 10, 0, 0, 0, 0, 0], "own": [50, 10], "waited": [waited * NS, 60 * NS]}
    assert use_of(counters).cpu_others_ratio == ratio
    assert use_of({**counters, "cgroups": [200 * MICROSECONDS]}).cpu_others_ratio == ratio
    assert use_in_a_container({**counters, "others": [0, 140]}).cpu_others_ratio == ratio


def test_in_a_container_other_programs_are_those_in_sight() -> None:
    assert use_in_a_container({"others": [90, 30]}).cpu_others_ratio == 0.45


def test_of_an_idle_node_nothing_is_told_that_is_nothing() -> None:
    told = use_of().model_dump(mode="json")
    assert told["cpu_busy_ratio"] == 0
    assert not told.keys() & {"nic_drops", "nic_errors", "disk_busy_ratio", "kernel_errors", "clock_step_seconds"}


def test_what_a_node_does_not_report_is_not_known() -> None:
    node = Machine()
    assert node.take(b"\x1ftime 1700000000.5 77.25", 1.7e9) is None
    taken = node.take(b"\x1ftime 1700000001.5 78.25\x1fcpu 1 2 3\x1ftcp 1 x\x1fnic\x1fnic eth0 1\x1fdisk sda -4", 1.7e9)
    assert taken == (1.0, MachineUse(clock_offset_seconds=1.5))
    assert node.take(b"\x1fcpu 1 2 3 4 5 6 7 8", 1.7e9) is None


def test_counters_that_begin_anew_and_interfaces_that_come_and_go() -> None:
    node = Machine()
    gone = record(0, {"tcp": [5, 1], "nic eth0": [9] * 8, "nic eth1": [9] * 8})
    node.take(gone.replace(b"tcp 1000 1000", b"tcp 9000 9000").replace(b"eth0 1000", b"eth0 4294967295"), 1.7e9)
    now = {"tcp": [5, 1], "nic eth0": [9] * 8, "nic eth2": [9] * 8}
    taken = node.take(record(1, now), 1.7e9 + 1)
    assert taken
    assert taken[1].tcp_segments_sent is None
    assert taken[1].nic_packets == {}
    later = node.take(record(2, now), 1.7e9 + 2)
    assert later
    assert (later[1].tcp_segments_sent, later[1].nic_packets) == (5, {"eth0": 18, "eth2": 18})


def test_time_of_processes_that_have_ended_is_not_guessed() -> None:
    node = Machine()
    node.take(record(0).replace(b"own 1000 1000", b"own 5000 1000"), 1.7e9)
    taken = node.take(record(1), 1.7e9 + 1)
    assert taken
    assert (taken[1].cpu_own_ratio, taken[1].cpu_others_ratio) == (None, None)


def test_the_last_record_has_what_is_known_at_the_end() -> None:
    node = Machine()
    node.take(record(0, more="heat 10 5000\x1fquota 3 1000000000"), 1.7e9)
    assert node.take(record(0.2), 1.7e9 + 0.2) is None
    node.take(record(1), 1.7e9 + 1)
    logged = "heat 14 9000\x1fquota 23 3500000000\x1flog [9.1] Buffer I/O error\x1flog [8.5] nvme0: timeout"
    taken = node.take(record(1.2, more=logged), 1.7e9 + 1.2)
    assert taken
    seconds, use = taken
    assert seconds == pytest.approx(0.2)
    assert use == MachineUse(
        clock_offset_seconds=0.0,
        throttled=4,
        throttled_seconds=4.0,
        quota_ended=20,
        quota_seconds=2.5,
        kernel_errors=("[8.5] nvme0: timeout", "[9.1] Buffer I/O error"),
    )


@pytest.mark.parametrize(
    ("ahead", "steps"),
    [
        ([0, 0, 0, 0, 0], []),
        ([0, 0, 3, 3.01, 3], [3.01]),
        ([0, 0, -60, -60, -60], [-60.0]),
        ([0, -4, 0, 0, 0], []),  # it had to wait between its two times
        ([0, -4, -7, 0, 0], []),
        ([0, 0.5, 1.0, 1.5, 2.1], []),  # it is slewed
    ],
)
def test_a_clock_that_is_set(ahead: list[float], steps: list[float]) -> None:
    node = Machine()
    taken = [node.take(record(second, ahead=by), 1.7e9 + second) for second, by in enumerate(ahead)]
    found = [entry[1].clock_step_seconds for entry in taken if entry and entry[1].clock_step_seconds is not None]
    assert found == pytest.approx(steps)


def test_the_clock_is_compared_with_the_consoles() -> None:
    node = Machine()
    node.take(record(0), 1.7e9 - 300)
    taken = node.take(record(1), 1.7e9 - 299)
    assert taken
    assert taken[1].clock_offset_seconds == 300


WORDS = st.sampled_from(["time", "log", "eth0", "sda", "nan", "inf", "nic", "disk", *machine._LENGTHS])
NUMBERS = st.integers(-(1 << 70), 1 << 70).map(str) | st.floats().map(str) | st.just("")


@given(st.lists(st.lists(WORDS | NUMBERS | st.text(max_size=5), max_size=12).map(" ".join), max_size=12), st.booleans())
def test_no_record_can_break_it(groups: list[str], timed: bool) -> None:
    node = Machine()
    broken = "\x1f".join([*(["time 1700000001 51"] if timed else []), *groups]).encode("utf-8", "replace")
    for data in (record(0), broken, broken[:40], record(2), broken):
        taken = node.take(data, 1.7e9)
        assert taken is None or 0 <= taken[0] < 1e11
        if taken:
            assert MachineUse.model_validate_json(taken[1].model_dump_json())


@given(st.binary(max_size=200))
def test_no_bytes_can_break_it(data: bytes) -> None:
    node = Machine()
    for piece in (record(0), data, b"\x1ftime 1 2\x1f" + data, b"\x1ftime 2 3\x1f" + data):
        node.take(piece, 1.7e9)


# ---------------------------------------------------------------------------------------------- in the output


def split(pieces: Sequence[bytes]) -> tuple[bytes, list[bytes]]:
    """The command's own output, and the records."""
    records = _Records("t")
    chunks: list[Chunk] = [chunk for piece in pieces for chunk in records.feed(piece, 1.0)]
    own = b"".join(chunk.data for chunk in chunks if not isinstance(chunk, Record)) + records.end()
    assert all(chunk.data for chunk in chunks if not isinstance(chunk, Record))
    return own, [chunk.data for chunk in chunks if isinstance(chunk, Record)]


OUTPUT = st.lists(st.sampled_from([b"", b"\x01", b"\x01cephtui node", b"\n", b"jobs: 8", b"\x01cephtui node u\x1f"]))


@given(OUTPUT.map(b"".join), st.lists(st.tuples(st.integers(0, 60), st.binary(max_size=20))), st.lists(st.integers(0)))
def test_records_are_taken_out_wherever_they_stand(
    own: bytes, inserted: list[tuple[int, bytes]], cuts: list[int]
) -> None:
    texts = [(min(at, len(own)), data.replace(b"\n", b"").replace(b"\x01", b"")) for at, data in inserted]
    texts.sort(key=lambda pair: pair[0])
    whole, at = b"", 0
    for place, text in texts:
        whole += own[at:place] + record_mark("t") + text + b"\n"
        at = place
    whole += own[at:]
    edges = sorted({0, len(whole), *(cut % (len(whole) + 1) for cut in cuts)})
    pieces = [whole[first:last] for first, last in itertools.pairwise(edges)]
    assert split(pieces) == (own, [text for _, text in texts])


def test_a_record_that_was_cut_off_is_nothing_and_no_record_is_kept_for_ever() -> None:
    assert split([b"fio: ", record_mark("t") + b"\x1fcpu 1 2"]) == (b"fio: ", [])
    endless = record_mark("t") + bytes(3 * machine.RECORD_MOST_BYTES)
    assert split([endless[:100], endless[100:], b"rest"]) == (endless + b"rest", [])


# ---------------------------------------------------------------------------------------------- the script


async def reported(script: str, *, stop_after: float | None = None) -> tuple[bytes, list[Record], str]:
    """The stderr of a command here, its records, and its token."""
    command = Command(["bash", "-c", script], limit_seconds=30, reports_machine=True)
    process = await LocalConnection().start(command)
    process.release()
    if stop_after is not None:
        asyncio.get_running_loop().call_later(stop_after, lambda: asyncio.ensure_future(process.stop()))
    chunks = [chunk async for chunk in process.chunks()]
    await process.wait()
    own = b"".join(c.data for c in chunks if c.stream == "stderr" and not isinstance(c, Record))
    return own, [chunk for chunk in chunks if isinstance(chunk, Record)], command.token


def uses_of(records: Sequence[Record]) -> list[MachineUse]:
    """The use in each second."""
    node, now = Machine(), time.time() - time.monotonic()
    taken = [entry for record in records if (entry := node.take(record.data, now + record.time))]
    return [use for seconds, use in taken if seconds >= machine.LEAST_SECONDS]


def nothing_is_left(token: str) -> None:
    wait_for(lambda: not any(token in command_of(pid) for pid in all_pids()), 10, "the end of every process")


async def test_a_command_is_watched_until_its_end_and_its_output_stays() -> None:
    own, records, token = await reported('for i in 1 2 3 4 5; do printf "part$i" >&2; sleep 0.45; done; echo end >&2')
    assert own == b"part1part2part3part4part5end\n"
    assert len(records) >= 2
    uses = uses_of(records)
    assert uses
    for use in uses:
        assert use.cpus == os.cpu_count()
        assert use.cpu_busy_ratio is not None
        assert use.processes_running is not None
        assert use.tcp_segments_sent is not None
        assert abs(use.clock_offset_seconds or 0.0) < 1
    nothing_is_left(token)


async def test_the_benchmarks_own_time_is_that_of_all_its_processes() -> None:
    """Of those that are forked by a child too."""
    busy = "timeout 3 bash -c '(while :; do :; done) & while :; do :; done'"
    _, records, _ = await reported(busy)
    uses = uses_of(records)
    own = [use.cpu_own_ratio for use in uses if use.cpu_own_ratio]
    assert own
    # two loops: more than half of what anybody had, unless others are as busy
    assert max(own) * (os.cpu_count() or 1) > 0.2
    assert all(use.cpu_own_ratio is None or use.cpu_own_ratio <= (use.cpu_busy_ratio or 0) + 0.05 for use in uses)


async def test_the_benchmarks_own_time_is_that_of_its_ended_processes_too() -> None:
    ends = "for ((at = 0; at < 20000; at++)); do :; done"
    before = seconds_of_children()
    _, records, _ = await reported(f"timeout 3 bash -c 'while :; do ({ends}); done'")
    used = seconds_of_children() - before  # which is little where others are at work
    own = sum(use.cpu_own_ratio or 0.0 for use in uses_of(records)) * (os.cpu_count() or 1)
    assert own > 0.4 * used, "of each of the seconds but the first"


def seconds_of_children() -> float:
    """The CPU time of the children of this process that have ended, and of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


async def test_a_command_that_is_stopped_leaves_no_watcher() -> None:
    _, records, token = await reported("sleep 60", stop_after=1.2)
    assert records
    nothing_is_left(token)


async def test_a_watchdog_that_is_killed_leaves_no_watcher() -> None:
    command = Command(["sleep", "60"], limit_seconds=30, reports_machine=True)
    process = await LocalConnection().start(command)
    process.release()
    chunks = process.chunks()
    await anext(chunks)
    watchdogs = [pid for pid in all_pids() if command.token in command_of(pid)]
    os.kill(min(watchdogs), signal.SIGKILL)
    await asyncio.to_thread(nothing_is_left, command.token)
    await process.stop()
    await process.wait()


def moment_with(folder: Path, *, before: str = "", turn: int = 0, after: str = "") -> str:
    """What the script reports where these files are all that there is."""
    text = machine.SCRIPT.replace("/proc/", f"{folder}/").replace("/sys/", f"{folder}/sys/")
    begin = f"set -u\ntoken=t\n{before}\n{text}\nlook_around\nturn={turn}"
    script = f"{begin}\nrecord=''\nmoment 4711\n{after}\nprintf '%s' \"$record\""
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_files_that_are_missing_are_left_out(tmp_path: Path) -> None:
    assert moment_with(tmp_path) == ""
    (tmp_path / "uptime").write_text("77.25 100.00\n")
    (tmp_path / "stat").write_text("cpu  1 2 3 4 5 6 7 8 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n")
    (tmp_path / "diskstats").write_text("   8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n")
    groups = moment_with(tmp_path).split("\x1f")
    assert groups[1].startswith("time ")
    assert groups[1].endswith(" 77.25")
    assert groups[2:] == ["cpus 1", "cpu  1 2 3 4 5 6 7 8 0 0"]


def test_what_is_read_of_a_machine(tmp_path: Path) -> None:
    """Its real disks and interfaces only, the processes of the command, and other programs that have a say."""
    (tmp_path / "net").mkdir()
    (tmp_path / "uptime").write_text("77.25 100.00\n")
    (tmp_path / "loadavg").write_text("0.10 0.20 0.30 7/400 4712\n")
    (tmp_path / "pressure").mkdir()
    (tmp_path / "pressure" / "memory").write_text("some avg10=1.00 avg60=2.00 avg300=3.00 total=500\nfull total=4\n")
    (tmp_path / "vmstat").write_text("nr_free 1\npswpin 60\npswpout 70\n")
    numbers = " ".join(map(str, range(1, 17)))
    lines = ["Inter-|", " face |", *(f"{name:>6}: {numbers}" for name in ("lo", "eth0", "tap100i0"))]
    (tmp_path / "net" / "dev").write_text("\n".join(lines) + "\n")
    (tmp_path / "net" / "snmp").write_text("Tcp: a b\nTcp: 1 200 120000 -1 5 6 7 8 9 10 11 12 13 14 15\nUdp: 1 2\n")
    (tmp_path / "net" / "netstat").write_text("TcpExt: A TCPOFOQueue B TCPDSACKRecvSegs C\nTcpExt: 1 77 2 9 3\n")
    (tmp_path / "diskstats").write_text(
        "".join(f"   8 {at} {name} 1 2 3 4 5 6 7 8 9 {at}0 11\n" for at, name in enumerate(["sda", "sda1", "dm-0"], 1))
    )
    for path in ("class/net/eth0/device", "block/sda/device", "block/dm-0"):
        (tmp_path / "sys" / path).mkdir(parents=True)
    for pid, children in ((4711, "4712 "), (4712, "4713 4714 "), (4713, ""), (4714, "")):
        task = tmp_path / str(pid) / "task" / str(pid)
        task.mkdir(parents=True)
        (task / "children").write_text(children)
        ticks = f"{pid} (a) b (c)) S {' '.join('0' * 10)} {pid - 4710} 10 5 2\n"  # 5 and 2 of ended children
        (tmp_path / str(pid) / "stat").write_text(ticks)
        (tmp_path / str(pid) / "schedstat").write_text(f"7 {pid - 4710}000 9\n")
    for pid, name, nice in ((9, "ceph-osd", 0), (10, "kvm", 0), (11, "nightly", 19)):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "stat").write_text(f"{pid} ({name}) S {'0 ' * 10}700 10 0 0 20 {nice} 1\n")
    groups = moment_with(tmp_path).split("\x1f")[2:]
    assert groups == [
        "run 7",
        "memory 500 60",
        "own 30 48",
        "waited 10000 28",
        "others 700 700",
        "tcp 11 12",
        "order 10 77",
        "needless 9",
        "nic eth0 1 2 3 4 9 10 11 12",
        "disk sda 10",
    ]


SOCKETS = """\
0      0      10.77.0.1:58944 10.0.0.5:6800
\t bbr rto:204 rtt:0.031/0.036 bbr:(bw:1158399584bps,mrtt:0.009,pacing_gain:2.88) app_limited minrtt:0.21 snd_wnd:65536
0      0      10.77.0.1:58946 10.0.0.5:6804
\t cubic rto:204 rtt:0.031/0.036 minrtt:0.1845
0      36     [fd00::1]:58948 [fd00::5]:7001
\t cubic rto:204 rtt:4/1 minrtt:3
0      0      10.77.0.1:58950 10.0.0.6:6800
\t cubic rto:204 rtt:4/1
"""


@pytest.mark.parametrize(
    ("sockets", "trips"),
    [(SOCKETS, {"trip 10.0.0.5 185", "trip [fd00::5] 3000"}), ("", set()), ("ss: Permission denied\n", set())],
    ids=["of an address the shortest", "no socket", "another output"],
)
def test_round_trips_to_the_osds_are_asked_for_once_in_a_while(tmp_path: Path, sockets: str, trips: set[str]) -> None:
    (tmp_path / "sockets").write_text(sockets)
    (tmp_path / "uptime").write_text("77.25 100.00\n")
    for turn, expected in ((3, set[str]()), (4, trips), (5, set()), (34, trips)):
        before = f"ss() {{ cat {tmp_path}/sockets; }}"
        groups = moment_with(tmp_path, before=before, turn=turn).split("\x1f")
        assert {group for group in groups if group.startswith("trip")} == expected
    assert moment_with(tmp_path, before="ss() { return 127; }", turn=4).count("\x1f") == 1


def test_a_daemon_of_ceph_that_is_started_again_is_none_of_the_others(tmp_path: Path) -> None:
    (tmp_path / "uptime").write_text("77.25 100.00\n")
    (tmp_path / "4711" / "task" / "4711").mkdir(parents=True)
    (tmp_path / "4711" / "task" / "4711" / "children").write_text("")
    for pid, name, ticks in ((1, "systemd", 1), (20, "ceph-osd", 300), (21, "ceph-mon", 40), (22, "bash", 5)):
        (tmp_path / str(pid)).mkdir(exist_ok=True)
        (tmp_path / str(pid) / "comm").write_text(f"{name}\n")
        (tmp_path / str(pid) / "stat").write_text(f"{pid} ({name}) S {'0 ' * 10}{ticks} 1 0\n")
    first = "readlink() { echo 'pid:[4026531836]'; }"
    again = f"rm {tmp_path}/20/stat; mv {tmp_path}/22 {tmp_path}/23; echo ceph-osd >{tmp_path}/23/comm"
    after = f"{again}; record=; moment 4711; turn=10; record=; moment 4711"
    groups = moment_with_log(tmp_path, first, f'moment 4711; printf %s "$record"; {after}').split("\x1f")
    assert [group for group in groups if group.startswith("ceph")] == ["ceph 340 2", "ceph 45 2"]


@pytest.mark.parametrize(("root", "told"), [("", "cgroups 7500"), ("unified/", "cgroups 7500"), ("cpu/", "")])
def test_the_time_of_all_cgroups_is_that_of_the_highest(tmp_path: Path, root: str, told: str) -> None:
    """What is in none, such as a thread of the kernel, is left out; files of version 1 have no such line."""
    groups = tmp_path / "sys" / "fs" / "cgroup"
    for name, used in (("", 9000), ("user.slice/", 7000), ("system.slice/", 500), ("system.slice/a.service/", 400)):
        (groups / root / name).mkdir(parents=True, exist_ok=True)
        (groups / root / name / "cpu.stat").write_text(
            f"usage_usec {used}\nuser_usec 1\n" if told else "nr_periods 1\n"
        )
    if not root:
        (groups / "cgroup.controllers").write_text("cpu\n")
    assert moment_with_log(tmp_path, "", "cgroups_time").removeprefix("\x1f") == told


VERSION_2 = "usage_usec 9\nnr_periods 10\nnr_throttled {}\nthrottled_usec {}\n"
VERSION_1 = "nr_periods 10\nnr_throttled {}\nthrottled_time {}000\n"


@pytest.mark.parametrize(
    ("membership", "stat", "told"),
    [
        ("0::/a.slice/b:c.scope", VERSION_2, "quota 7 70000"),
        ("0::/", VERSION_2, "quota 4 40000"),
        ("1:name=systemd:/a.slice\n4:cpu,cpuacct:/a.slice/b:c.scope\n0::/", VERSION_1, "quota 7 70000"),
        ("3:cpu:/elsewhere/on/the/host", VERSION_1, "quota 4 40000"),
        ("0::/a.slice/b:c.scope", "usage_usec 9\n", ""),
        ("", "", ""),
    ],
    ids=["version 2", "a container", "version 1", "a container of version 1", "no quota", "no cgroups"],
)
def test_a_quota_is_that_of_a_cgroup_or_of_one_above(tmp_path: Path, membership: str, stat: str, told: str) -> None:
    version = next((name for name in ("cpu,cpuacct", "cpu") if name in membership), "")
    groups = tmp_path / "sys" / "fs" / "cgroup"
    (groups / version / "a.slice" / "b:c.scope").mkdir(parents=True)
    if not version:
        (groups / "cgroup.controllers").write_text("cpu\n")
    for name, number in (("", 4), ("a.slice", 2), ("a.slice/b:c.scope", 1)):
        (groups / version / name / "cpu.stat").write_text(stat.format(number, 10 * number))
    (tmp_path / "4711").mkdir()
    (tmp_path / "4711" / "cgroup").write_text(membership + "\n")
    assert moment_with_log(tmp_path, "", "quota_of 4711").removeprefix("\x1f") == told


def test_the_kernels_log_since_the_begin(tmp_path: Path) -> None:
    """The newest errors; what was there before is none of the run's."""
    (tmp_path / "uptime").write_text("77.25 100.00\n")
    before = "dmesg() { printf '%s\\n' '[1.0] Buffer I/O error on dev sdx' '[2.0] eth9: NIC Link is Down'; }"
    lines = [f"[{at}.0] I/O error, dev sd{at}, sector 8" for at in range(3, 13)]
    later = ["[2.0] eth9: NIC Link is Down", *lines, "[20.0] I/O error, dev fd0", "[21.0] EXT4-fs: mounted"]
    after = f"dmesg() {{ printf '%s\\n' {shlex.join(later)}; }}; errors_of_log"
    text = moment_with_log(tmp_path, before, after)
    logged = [group.removeprefix("log ") for group in text.split("\x1f") if group.startswith("log ")]
    assert logged == lines[:1:-1]


def moment_with_log(folder: Path, before: str, after: str) -> str:
    text = machine.SCRIPT.replace("/proc/", f"{folder}/").replace("/sys/", f"{folder}/sys/")
    script = f"set -u\ntoken=t\n{before}\n{text}\nlook_around\nrecord=''\n{after}\nprintf '%s' \"$record\""
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout


def test_a_record_is_one_write_of_less_than_a_page(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "uptime").write_text("77.25 100.00\n")
    numbers = " ".join(str(10**15 + at) for at in range(16))
    names = [f"eth{at}" for at in range(60)]
    (tmp_path / "net" / "dev").write_text("a\nb\n" + "".join(f"{name}: {numbers}\n" for name in names))
    text = moment_with(tmp_path)
    assert 3000 < len(text) < machine.RECORD_MOST_BYTES - 100
