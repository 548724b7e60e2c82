"""What goes wrong on the way to a node, on it, and in the cluster: it is told, and nothing is left anywhere."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.lab import Lab
from tests.on_lab.conftest import NewBench
from tests.on_lab.others import kill_osd, peer_again, start_osd, wait_pgs
from tests.on_lab.runs import (
    ENDLESS,
    Bench,
    Console,
    assert_agrees_with_the_tool,
    assert_samples_add_up,
    completed_ios,
    fio_documents,
    images,
    left_on,
    noted,
    objects,
    raw,
    read_samples,
    run_directories,
    sets,
    wait_for,
)
from tests.support.waiting import LEAST_SECONDS

SHARED = ["--shared-pool"]
CONTAINER = ["unshare", "--pid", "--fork", "--mount-proc"]
GENTLE = sets(size="4M", numjobs=1, runtime=ENDLESS, ramp_time=0, rate_iops=20)


# ---------------------------------------------------------------------------------------------- refused at once


def refused(bench: Bench, *, status: int = 3) -> str:
    """What is said of a run that is refused before anything was made."""
    console = bench.run("write-iops", words=SHARED, size="4M", runtime=2)
    assert console.process.returncode == status, console.describe()
    assert "Traceback" not in console.stderr
    assert not noted(bench.sandbox)
    assert left_on(bench.lab) == []
    errors = [run["error"] for run in console.runs]
    return "\n".join([console.stderr, *errors])


def other_ssh(bench: Bench, **changes: Path) -> None:
    """Reach the nodes with other files than the lab's."""
    text = bench.lab.ssh_config.read_text()
    for option, path in changes.items():
        text = re.sub(rf"(?m)^(\s*{option}) .*$", rf"\1 {path}", text)
    own = bench.sandbox.root / "ssh_config"
    own.write_text(text)
    bench.config = bench.sandbox.root / "config.toml"
    bench.config.write_text(bench.lab.config.read_text().replace('ssh_config = "ssh_config"', f'ssh_config = "{own}"'))


@pytest.mark.essential
def test_a_wrong_key_is_told(bench: Bench) -> None:
    key = bench.sandbox.root / "other_key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    other_ssh(bench, IdentityFile=key)
    said = refused(bench)
    assert "publickey" in said


@pytest.mark.essential
def test_a_changed_host_key_is_refused_and_nothing_is_asked(bench: Bench) -> None:
    known = bench.sandbox.root / "known_hosts"
    lines = bench.lab.known_hosts.read_text().splitlines()
    known.write_text(lines[0].split()[0] + " " + lines[1].partition(" ")[2] + "\n")
    before = known.read_text()
    other_ssh(bench, UserKnownHostsFile=known)
    said = refused(bench)
    assert "lab1" in said
    assert "CHANGED" in said
    assert str(known) in said
    assert known.read_text() == before


@pytest.mark.essential
def test_an_unknown_host_key_is_not_accepted_without_a_terminal(bench: Bench) -> None:
    known = bench.sandbox.root / "known_hosts"
    known.touch()
    other_ssh(bench, UserKnownHostsFile=known)
    said = refused(bench)
    assert "lab1" in said
    assert known.read_text() == ""


@pytest.mark.essential
def test_a_node_that_is_down_is_told(bench: Bench) -> None:
    bench.lab.end_sshd("lab1")
    try:
        assert "lab1" in refused(bench)
    finally:
        bench.lab.start_sshd("lab1")


@pytest.mark.essential
def test_no_fio_is_told_with_what_installs_it(bench: Bench) -> None:
    bench.configure(lab1={"prefix": bench.without("lab1", "fio"), "ceph_prefix": []})
    assert "apt-get install fio" in refused(bench)


@pytest.mark.essential
def test_no_ceph_is_told(bench: Bench) -> None:
    bench.configure(lab1={"ceph_prefix": bench.without("lab1", "ceph", "rbd", "rados")})
    said = refused(bench)
    assert "ceph" in said
    assert "apt-get install ceph-common" in said


@pytest.mark.essential
def test_a_wrong_key_for_ceph_is_told(bench: Bench) -> None:
    text = bench.lab.ceph_keyring.read_text()
    other = re.search(r"key = (\S+)", bench.lab.restricted_keyring.read_text())
    assert other
    keyring = bench.file("lab1", re.sub(r"key = \S+", f"key = {other[1]}", text))
    bench.configure(lab1={"ceph_keyring": keyring})
    said = refused(bench)
    assert "key" in said


@pytest.fixture
def reader(lab: Lab) -> Iterator[str]:
    """A user who may look at everything and write nothing."""
    lab.ceph("auth", "get-or-create", "client.reader", "mon", "allow r", "mgr", "allow r", "osd", "allow r")
    try:
        yield str(lab.ceph("auth", "print-key", "client.reader")["key"])
    finally:
        lab.ceph("auth", "rm", "client.reader")


@pytest.mark.essential
def test_no_permission_to_make_an_image_is_told(bench: Bench, reader: str) -> None:
    keyring = bench.file("lab1", f"[client.reader]\nkey = {reader}\n")
    bench.configure(lab1={"ceph_keyring": keyring, "ceph_id": "reader"})
    console = bench.run("write-iops", words=SHARED, size="4M", runtime=2)
    assert console.process.returncode == 3, console.describe()
    assert console.runs, console.describe()
    (run,) = console.runs
    assert run["outcome"] == "refused"
    assert re.search(r"can't create image bench/cephtui-\S+: .*(permi|Permi)", run["error"]), run["error"]
    assert left_on(bench.lab) == []


@pytest.fixture
def quota(lab: Lab) -> Iterator[Callable[[int], None]]:
    """Sets the quota of the pool in bytes, until the end of the test."""
    try:
        yield lambda number: lab.ceph("osd", "pool", "set-quota", lab.pool, "max_bytes", str(number))
    finally:
        lab.ceph("osd", "pool", "set-quota", lab.pool, "max_bytes", "0")
        wait_until_healthy(lab)


def wait_until_healthy(lab: Lab) -> None:
    """Nothing is left of what a test did to the cluster."""

    def holds() -> bool:
        status = lab.ceph("status")
        states = [state["state_name"] for state in status["pgmap"]["pgs_by_state"]]
        (pool,) = [pool for pool in lab.ceph("osd", "pool", "ls", "detail") if pool["pool_name"] == lab.pool]
        full = "full" in pool["flags_names"]
        return status["health"]["status"] == "HEALTH_OK" and states == ["active+clean"] and not full

    wait_for(holds, 90, "a healthy cluster", lambda: str(lab.ceph("health", "detail")))


@pytest.mark.essential
def test_a_quota_that_is_too_small_is_told_before(bench: Bench, quota: Callable[[int], None]) -> None:
    quota(20 << 20)
    said = refused(bench)
    assert "pool bench: needs 32.0 MiB " in said
    assert "quota" in said


# ---------------------------------------------------------------------------------------------- some of several nodes


def test_lost_nodes_are_told_apart_and_the_others_go_on(bench: Bench) -> None:
    """One whose session is killed and one whose link is down, beside one that comes to its end."""
    lab = bench.lab
    console = bench.start(
        "mixed-75-25", on=["lab"], words=SHARED, size="4M", numjobs=1, runtime=25, ramp_time=0, rate_iops=50
    )
    console.wait_for_samples(2, seconds=90)
    for pid in lab.session_pids("lab2"):
        os.kill(pid, signal.SIGKILL)
    with lab.cut("lab3"):
        bench.wait_nothing_runs("lab2", "lab3")
        assert console.wait(120) == 4, console.describe()
    (run,) = console.runs
    outcomes = {node["node"]: node["outcome"] for node in run["nodes"]}
    assert outcomes == {"lab1": "ok", "lab2": "lost", "lab3": "lost"}
    assert run["outcome"] == "lost"
    for node in run["nodes"][1:]:
        assert node["error"]
    own = console.samples(node="lab1")
    assert sum(sample["interval_seconds"] for sample in own) == pytest.approx(25, abs=2)
    merged = console.samples()
    assert sum(s["interval_seconds"] for s in merged) == pytest.approx(25, abs=4)
    assert any("lab3" in sample.get("missing", []) for sample in merged), "who is silent is named"
    # the node that came to its end agrees with its tool
    (directory,) = run_directories(console)
    last = fio_documents(raw(directory, "lab1"))[-1]
    assert run["nodes"][0]["summary"]["read"]["ios"] == completed_ios(last, last["jobs"][0]["read"])
    assert_samples_add_up(directory)
    assert {name.split("-")[2] for name in images(lab)} == {"lab3"}
    bench.clean_up()


@pytest.mark.essential
def test_a_stop_by_key_ends_all_nodes_and_keeps_their_last_words(bench: Bench) -> None:
    lab = bench.lab
    ours, theirs = os.openpty()
    words = ["--config", str(bench.config), "--node", "lab", "--target", f"rbd:{lab.pool}", *SHARED, "--session", "S"]
    command = ["run", "mixed-75-25", *words, *GENTLE]
    console = bench.sandbox.start(*command, terminal=theirs)
    os.close(theirs)
    directory = bench.sandbox.data / "sessions" / "S" / "001"
    samples = directory / "samples.jsonl"

    def measuring() -> bool:
        _drain(ours)
        found = read_samples(directory) if samples.exists() else []
        return {sample["node"] for sample in found if sample["phase"] == "run"} >= set(lab.nodes)

    wait_for(measuring, 60, "samples of the run of every node", console.describe)
    assert len(bench.running(program="fio")) >= 3
    before = {node: len(fio_documents_so_far(raw(directory, node))) for node in lab.nodes}
    os.write(ours, b"\x03")
    wait_for(
        lambda: _drain(ours) or not bench.running(),
        LEAST_SECONDS,
        "the end on all nodes",
        lambda: str(bench.running()),
    )
    wait_for(lambda: _drain(ours) or console.process.poll() is not None, 30, "the end", console.describe)
    os.close(ours)
    assert console.process.returncode == 4
    run = assert_agrees_with_the_tool(directory)
    assert [node["outcome"] for node in run["nodes"]] == ["stopped"] * 3
    assert run["outcome"] == "stopped"
    for node in lab.nodes:
        documents = fio_documents(raw(directory, node))
        assert len(documents) > before[node], "the last document came after the key"
    assert_samples_add_up(directory)
    assert noted(bench.sandbox) == set()
    assert left_on(lab) == []


def _drain(terminal: int) -> bool:
    """Read what was printed; nobody waits for it then. Always False."""
    os.set_blocking(terminal, False)
    with contextlib.suppress(OSError):
        while os.read(terminal, 65536):
            pass
    return False


def fio_documents_so_far(path: Path) -> list[object]:
    """Those that are there in full while fio still writes."""
    text, at, found = path.read_text(), 0, []
    while (at := text.find("{", at)) >= 0:
        try:
            document, at = json.JSONDecoder().raw_decode(text, at)
        except ValueError:
            break
        found.append(document)
    return found


# ---------------------------------------------------------------------------------------------- the cluster is harmed


@pytest.fixture
def cluster(lab: Lab) -> Iterator[Lab]:
    """A cluster that may be harmed: afterwards it is as it was."""
    try:
        yield lab
    finally:
        for option, ratio in (("set-full-ratio", 0.95), ("set-backfillfull-ratio", 0.9), ("set-nearfull-ratio", 0.85)):
            lab.ceph("osd", option, str(ratio))
        lab.ceph("config", "rm", "osd", "osd_op_complaint_time")
        wait_until_healthy(lab)


def stopped(console: Console, seconds: float = 60) -> str:
    """Why a run was stopped; all of it has been removed."""
    assert console.wait(seconds) == 4, console.describe()
    (run,) = console.runs
    assert run["outcome"] == "stopped", console.describe()
    assert run["error"] in console.stderr
    assert noted(console.sandbox) == set()
    return str(run["error"])


@pytest.mark.essential
def test_a_pool_that_becomes_full_stops_the_run(bench: Bench, cluster: Lab, quota: Callable[[int], None]) -> None:
    """On a pool over its quota rados bench never ends by itself, and what it has written is removed all the same."""
    # slowly, or all the objects that it may write are there before the quota is
    words = [*SHARED, *sets(runtime=ENDLESS, **{"concurrent-ios": 1, "block-size": "64k"})]
    console = bench.start("rados-write", on=["lab1", "lab2"], target=f"pool:{cluster.pool}", words=words)
    console.wait_for_samples(2, seconds=90)
    assert len(objects(cluster)) == 2
    quota(1 << 20)
    why = stopped(console)
    assert why.startswith(
        f"the quota of pool {cluster.pool} (1.00 MiB) was reached during the run: raise it: ceph osd pool"
    )
    assert left_on(cluster) == []


def test_a_full_cluster_stops_the_run(bench: Bench, cluster: Lab) -> None:
    console = bench.start("mixed-75-25", on=["lab1", "lab2"], words=[*SHARED, *GENTLE])
    console.wait_for_samples(2, seconds=90)
    # an OSD takes the greatest of the three: with the last of them it is full at once
    for option in ("set-full-ratio", "set-backfillfull-ratio", "set-nearfull-ratio"):
        cluster.ceph("osd", option, "0.0001")
    assert "full" in stopped(console, 90)
    assert left_on(cluster) == []


def test_an_osd_that_becomes_nearly_full_stops_the_run(bench: Bench, cluster: Lab) -> None:
    console = bench.start("mixed-75-25", on=["lab1", "lab2"], words=[*SHARED, *GENTLE])
    console.wait_for_samples(2, seconds=90)
    cluster.ceph("osd", "set-nearfull-ratio", "0.0001")
    assert "nearly full" in stopped(console)
    assert left_on(cluster) == []


def test_slow_operations_stop_the_run(bench: Bench, cluster: Lab) -> None:
    """What is slow is for Ceph to say: here it says so of whatever takes 10 ms."""
    console = bench.start("write-iops", words=SHARED, size="8M", numjobs=2, runtime=ENDLESS, ramp_time=0)
    console.wait_for_samples(2, seconds=90)
    cluster.ceph("config", "set", "osd", "osd_op_complaint_time", "0.01")
    assert "slow ops" in stopped(console)
    assert left_on(cluster) == []


def complains(console: Console, text: str) -> bool:
    return text in console.stderr


def test_a_stall_is_reported_and_the_run_goes_on(bench: Bench, cluster: Lab) -> None:
    """All OSDs stand still for a while.

    fio falls silent then; rados goes on to say that nothing has been completed.
    """
    pool, words = f"pool:{cluster.pool}", [*SHARED, *sets(**{"concurrent-ios": 1}), "--session", "R"]
    consoles = {
        "no output from fio on lab1": bench.start(
            "mixed-75-25", words=SHARED, size="8M", numjobs=1, runtime=25, ramp_time=0, rate_iops=50
        ),
        "no completion from rados-bench on lab2": bench.start(
            "rados-write", on=["lab2"], target=pool, words=words, runtime=25
        ),
    }
    for console in consoles.values():
        console.wait_for_samples(2, seconds=90)
    osds = [pid for pid, command in cluster.processes("ceph-osd", "ceph").items() if command.startswith("ceph-osd ")]
    assert len(osds) == 3
    for pid in osds:
        os.kill(pid, signal.SIGSTOP)
    try:
        for said, console in consoles.items():
            console.wait_for(partial(complains, console, f"stalled: {said} for 1"), 60, said)
    finally:
        for pid in osds:
            os.kill(pid, signal.SIGCONT)
        peer_again(cluster)
    for console in consoles.values():
        assert console.wait(90) == 0, console.describe()
        (run,) = console.runs
        assert run["outcome"] == "ok"
        stalls = [found for found in run["findings"] if found["code"] == "stalled"]
        assert max(found["to_seconds"] - found["from_seconds"] for found in stalls) > 10, run["findings"]
        assert max(sample["elapsed_seconds"] for sample in console.samples()) > 23, "it went on to its end"
    for session in (bench.sandbox.data / "sessions").iterdir():
        assert_agrees_with_the_tool(session / "001")
        assert_samples_add_up(session / "001")


def test_an_osd_that_dies_in_mid_run_is_told_with_its_time(bench: Bench, cluster: Lab, new_bench: NewBench) -> None:
    """Of a run that has data on it, where it is the cause of the stall, and of one that may have none."""
    other = new_bench()
    words = [*SHARED, *sets(runtime=30, ramp_time=0, numjobs=1)]
    consoles = [
        bench.start("write-iops", words=words, size="64M"),
        other.start("write-iops", on=["lab2"], words=words, size="4M", rate_iops=20),
    ]
    for console in consoles:
        console.wait_for_samples(2, seconds=90)
    kill_osd(cluster, 2)
    try:
        wait_for(lambda: cluster.ceph("status")["osdmap"]["num_up_osds"] == 2, 40, "an OSD that is down")
        time.sleep(5)  # it is down for a while, and not only for a moment
    finally:
        start_osd(cluster, 2)
    for console in consoles:
        assert console.wait(150) in (0, 4), console.describe()
        (run,) = console.runs
        (down,) = [found for found in run["findings"] if found["code"] == "osd-down"]
        assert down["label"] == "osd.2 down"
        assert 0 < down["from_seconds"] + 3 < down["to_seconds"], run["findings"]
        codes = {found["code"] for found in run["findings"]}
        assert "health-speed" in codes
        assert codes & {"pgs-inactive", "pgs-mostly-inactive"}, "which of them depends on how long it was"
    (run,) = consoles[0].runs
    stall = max(
        (found for found in run["findings"] if found["code"] == "stalled"),
        key=lambda found: found["to_seconds"] - found["from_seconds"],
    )
    assert re.fullmatch(
        r"all I/O stopped for \d+ s \(\d:\d\d to (\d:\d\d|the end)\): osd\.2 was down .*", stall["text"]
    )
    shown = bench.cephtui("show", str(bench.sandbox.session().name)).stdout
    assert re.search(r"osd\.2 \w+ down from 0:", " ".join(shown.split()))


def test_a_pool_that_is_deleted_in_mid_run_is_told(bench: Bench, cluster: Lab) -> None:
    """And no line of a library's log."""
    cluster.ceph("config", "set", "mon", "mon_allow_pool_delete", "true")
    cluster.ceph("osd", "pool", "create", "doomed", "8")
    try:
        cluster.rbd("pool", "init", "doomed")
        wait_pgs(cluster, "doomed")
        wait_until_healthy(cluster)
        console = bench.start("write-iops", target="rbd:doomed", words=SHARED, size="8M", runtime=ENDLESS, ramp_time=0)
        console.wait_for_samples(2, seconds=90)
    finally:
        cluster.ceph("osd", "pool", "rm", "doomed", "doomed", "--yes-i-really-really-mean-it")
    assert console.wait(60) == 1, console.describe()
    (run,) = console.runs
    assert run["outcome"] == "failed"
    assert run["error"].startswith("pool doomed ")
    assert "deleted" in run["error"]
