"""OSDs that measure themselves: what they say is what is kept, the slow one is found, and none writes on for long."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.lab import Lab
from tests.on_lab.others import in_all_stores, kill_osd, start_osd
from tests.on_lab.runs import (
    ENDLESS,
    Bench,
    Console,
    Event,
    assert_samples_add_up,
    noted,
    raw,
    run_directories,
    wait_for,
)
from tests.on_lab.test_faults import wait_until_healthy
from tests.on_lab.test_undo import gate, gates_folder

__all__ = ["gates_folder"]
STORE = ("ceph-objectstore-tool", "--no-mon-config")
SHARED = ["--shared-pool"]
SLOW = {"bluestore_compression_mode": "force", "bluestore_compression_algorithm": "zlib"}
"""An OSD that compresses all that it writes is several times as slow."""
PORTION_BLOCKS = 64
"""Of 4 MiB, at most."""
OTHER_TRANSACTIONS = 200
"""Of the OSD's own, beside one for each block that is written, and those that remove them."""


@pytest.fixture
def slow_osd(lab: Lab) -> Iterator[str]:
    """One of the three."""
    for name, value in SLOW.items():
        lab.ceph("config", "set", "osd.1", name, value)
    try:
        yield "osd.1"
    finally:
        for name in SLOW:
            lab.ceph("config", "rm", "osd.1", name)


def portions(directory: Path) -> dict[str, tuple[int, float]]:
    """Bytes and seconds of each OSD by its own words."""
    found: dict[str, tuple[int, float]] = {}
    for row in map(json.loads, raw(directory, "lab1").read_text().splitlines()):
        if "bytes_written" in row:
            nbytes, seconds = found.get(f"osd.{row['osd']}", (0, 0.0))
            found[f"osd.{row['osd']}"] = nbytes + row["bytes_written"], seconds + row["elapsed_sec"]
    return found


def jobs_of(run: Event) -> Mapping[str, Event]:
    (node,) = run["nodes"]
    return {job["job"]: job for job in node["jobs"]}


@pytest.mark.parametrize("together", [False, True])
def test_the_figures_are_the_osds_own_and_the_slow_one_is_marked(bench: Bench, slow_osd: str, together: bool) -> None:
    console = bench.run(
        "osd-write", on=["lab"], target="osd:*", words=SHARED, runtime=8, together=str(together).lower()
    )
    assert console.process.returncode == 0, console.describe()
    (run,), (directory,) = console.runs, run_directories(console)
    assert [node["node"] for node in run["nodes"]] == ["lab1"], "one node asks for all"
    own = portions(directory)
    assert own.keys() == jobs_of(run).keys() == {"osd.0", "osd.1", "osd.2"}
    for name, job in jobs_of(run).items():
        nbytes, seconds = own[name]
        assert job["summary"]["write"]["bytes"] == nbytes
        assert job["summary"]["write"]["bandwidth_bytes"] == pytest.approx(nbytes / seconds)
        assert job["place"].startswith("ceph ")
    total = run["summary"]["write"]
    assert total["bytes"] == sum(nbytes for nbytes, _ in own.values())
    rates = sum(nbytes / seconds for nbytes, seconds in own.values())
    mean = total["bytes"] / sum(seconds for _, seconds in own.values())
    assert total["bandwidth_bytes"] == pytest.approx(rates if together else mean)
    assert total["latency_mean_seconds"] is None
    assert_samples_add_up(directory)
    assert slow_osd in " ".join(f["text"] for f in run["findings"] if f["code"] == "slow-job")
    shown = bench.cephtui("show", f"{run['session']}/1")
    marked = [line for line in shown.stdout.splitlines() if "median" in line and not line.startswith("#")]
    assert slow_osd in [line.split()[0] for line in marked], shown.stdout
    assert run["cluster"]["osds_up"] == 3, "the cluster is asked although no pool is used"
    assert (directory / "cluster.jsonl").read_text()


@pytest.mark.essential
def test_it_asks_first_with_the_names_of_the_pools(bench: Bench) -> None:
    console = bench.run("osd-write", target="osd:0,1", runtime=2)
    assert console.process.returncode == 3, console.describe()
    pools = re.search(r"osd\.0, osd\.1 serve the clients of pools? (.*), which wait", console.stderr)
    assert pools, console.describe()
    assert bench.lab.pool in pools[1].split(", "), "a gateway of the lab has pools, too"
    assert "allow it with --shared-pool" in console.stderr


@pytest.mark.essential
def test_caps_that_do_not_allow_it_are_told_before(bench: Bench) -> None:
    lab = bench.lab
    bench.configure(lab1={"ceph_keyring": str(lab.restricted_keyring), "ceph_id": lab.restricted_id})
    console = bench.run("osd-write", target="osd:0", words=SHARED, runtime=2)
    assert console.process.returncode == 3, console.describe()
    assert "caps" in console.complaints[-1]


def transactions(lab: Lab) -> int:
    """How many the stores of all OSDs have begun."""
    return in_all_stores(lab, "txc_count", "bluestore_txc")


def wait_until_quiet(lab: Lab) -> int:
    """Until the OSDs write no more; gives their transactions."""
    seen = [transactions(lab)]

    def is_quiet() -> bool:
        time.sleep(1)
        seen.append(transactions(lab))
        return seen[-1] - seen[-2] < PORTION_BLOCKS / 4

    wait_for(is_quiet, 60, "OSDs that write no more", lambda: str(seen))
    return seen[-1]


def begun(bench: Bench) -> Console:
    console = bench.start("osd-write", target="osd:*", words=SHARED, runtime=ENDLESS, together="true")
    console.wait_for_samples(2, seconds=90)
    return console


@pytest.mark.essential
def test_a_stop_leaves_at_most_the_portion_in_flight(bench: Bench) -> None:
    console = begun(bench)
    console.process.send_signal(signal.SIGINT)
    assert console.wait(30) == 4, console.describe()
    (run,) = console.runs
    before = transactions(bench.lab)
    assert run["outcome"] == "stopped"
    assert any(finding["code"] == "portion" for finding in run["findings"])
    assert run["summary"]["write"]["bytes"] > 0
    assert not bench.running()
    assert wait_until_quiet(bench.lab) - before <= 3 * 2 * PORTION_BLOCKS + OTHER_TRANSACTIONS


# ---------------------------------------------------------------------------------------------- what is killed


PHASES = ("before it begins", "in its first portion", "in a later portion")
WAYS = ("console killed", "console terminated", "session killed", "tool killed")
ENDS = [(phase, way) for phase in PHASES for way in WAYS if (phase, way) != ("before it begins", "tool killed")]


def in_phase(bench: Bench, phase: str, folder: Path) -> Console:
    """A run that has come so far, with OSDs that write one after the other."""
    held = gate(folder / "gate", "cephtui-osd-bench") if phase == PHASES[0] else None
    if held:
        bench.configure(lab1={"ceph_prefix": [str(held / "gate")]})
    console = bench.start("osd-write", target="osd:*", words=SHARED, runtime=ENDLESS)
    if held:
        console.wait_for((held / "reached").exists, 90, "the command")
    elif phase == PHASES[1]:
        console.wait_for(lambda: bench.running("lab1", program="python3"), 90, "the bench")
    else:
        console.wait_for_samples(2, seconds=90)
    return console


def end(bench: Bench, console: Console, way: str) -> None:
    if way.startswith("console"):
        console.process.send_signal(signal.SIGKILL if way == "console killed" else signal.SIGTERM)
    pids = bench.lab.session_pids("lab1") if way == "session killed" else []
    for pid in [*pids, *(bench.running("lab1", program="python3") if way == "tool killed" else [])]:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(("phase", "way"), ENDS)
def test_however_it_ends_no_osd_writes_on(bench: Bench, gates_folder: Path, phase: str, way: str) -> None:
    """But for the portion that it writes, of a second."""
    console = in_phase(bench, phase, gates_folder)
    end(bench, console, way)
    console.wait(60)
    for held in gates_folder.glob("*/reached"):
        held.with_name("open").touch()
    bench.wait_nothing_runs()
    before = transactions(bench.lab)
    assert wait_until_quiet(bench.lab) - before <= 2 * PORTION_BLOCKS + OTHER_TRANSACTIONS
    expected = {
        "console killed": None,
        "console terminated": "stopped",
        "session killed": "lost",
        "tool killed": "failed",
    }
    if outcome := expected[way]:
        assert console.process.returncode == (1 if outcome == "failed" else 4), console.describe()
        assert [run["outcome"] for run in console.runs] == [outcome]
    assert noted(bench.sandbox) == set()
    assert bench.cleanup("--yes").complaints == []


def test_what_an_osd_keeps_of_a_portion_in_which_it_was_killed_is_said_with_what_removes_it(
    bench: Bench, slow_osd: str
) -> None:
    lab = bench.lab

    def stored() -> str:
        """What is in the store, which a process that is being killed holds for a moment."""
        return lab.on("ceph", *STORE, "--data-path", str(lab.directory / "osd.1"), "--op", "meta-list").stdout

    def kept() -> bool:
        wait_for(lambda: '"osdmap.' in stored(), 60, "the store of an OSD that has ended")
        return "disk_bw_test" in stored()

    console = bench.start("osd-write", target=f"osd:{slow_osd[-1]}", words=SHARED, runtime=ENDLESS)
    console.wait_for_samples(3, seconds=90)
    time.sleep(0.5)  # in the mid of the next portion, which takes a second
    kill_osd(lab, 1)
    try:
        assert console.wait(90) == 1, console.describe()
        (run,) = console.runs
        assert (run["outcome"], "osd.1" in run["error"]) == ("failed", True), run["error"]
        assert run["summary"]["write"]["bytes"] > 0, "what was measured until then is kept"
        (text,) = [finding["text"] for finding in run["findings"] if finding["code"] == "residue"]
        removal = re.search(r"ceph (tell osd\.1 bench \d+ \d+) removes them", text)
        assert removal, text
        assert kept()
        start_osd(lab, 1)
        done = lab.on("ceph", "ceph", "--conf", lab.ceph_conf, *removal[1].split())
        assert done.returncode == 0, done.stderr
        kill_osd(lab, 1)
        assert not kept()
    finally:
        start_osd(lab, 1)
    bench.wait_nothing_runs()
    wait_until_healthy(lab)
