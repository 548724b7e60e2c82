"""The network between the lab's hosts, with a shaped link; whatever fails, no server is left and no port is open."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab import Lab
from tests.lab.machines import CLUSTER_ADDRESSES
from tests.on_lab.conftest import NewBench
from tests.on_lab.runs import ENDLESS, Bench, Console, Event, raw, read_samples, run_directories, shaping, wait_for
from tests.support.waiting import LEAST_SECONDS

NODES = ("lab1", "lab2", "lab3")
SHAPED, MEGABIT = "lab2", 1e6 / 8
SHAPE = 200 * MEGABIT
"""What it sends at most, with all headers."""
_LISTENS = re.compile(r"^ *\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:0000 0A ", re.MULTILINE)
SSH = 22


def listening(lab: Lab, node: str) -> set[int]:
    """The ports that are open on a host, but for sshd's."""
    tables = lab.on(node, "cat", "/proc/net/tcp", "/proc/net/tcp6").stdout
    ports = {int(port, 16) for port in _LISTENS.findall(tables)}
    assert SSH in ports, tables
    return ports - {SSH}


def received(text: str, direction: str = "") -> tuple[float, float]:
    """Seconds and bytes per second of all streams that arrived, in iperf3's own words: JSON where it streams that."""
    ends = [json.loads(line)["data"] for line in text.splitlines() if line.startswith('{"event":"end"')]
    if ends:
        total = ends[0]["sum_received_bidir_reverse" if direction == "RX-C" else "sum_received"]
        return total["seconds"], total["bits_per_second"] / 8
    of_all = re.escape(f"[SUM][{direction}]" if direction else "[SUM]")
    (found,) = re.findall(rf"^{of_all} +0\.00-([\d.]+) +sec .* ([\d.]+) Kbits/sec +receiver", text, re.MULTILINE)
    return float(found[0]), float(found[1]) * 125


def assert_nothing_is_left(bench: Bench) -> None:
    bench.wait_nothing_runs()
    assert [(node, listening(bench.lab, node)) for node in NODES] == [(node, set()) for node in NODES]


@pytest.fixture(scope="module")
def shaped(lab: Lab) -> Iterator[Lab]:
    """A host that sends slowly."""
    with shaping(lab, [SHAPED], "200mbit"):
        yield lab


@pytest.fixture(scope="module")
def measured(shaped: Lab, new_bench: NewBench) -> tuple[Bench, Console]:
    """Every pair, one after the other."""
    bench = new_bench()
    console = bench.run("network", on=NODES, target="host:*", words=["--session", "S"], runtime=3, seconds=240)
    assert console.process.returncode == 0, console.describe()
    return bench, console


@pytest.mark.essential
def test_each_pair_is_a_run_of_its_own(measured: tuple[Bench, Console]) -> None:
    bench, console = measured
    pairs = [(run["nodes"][0]["node"], run["target"]) for run in console.runs]
    assert pairs == [(one, f"host:{other}") for other in NODES for one in NODES if one != other]
    assert {run["outcome"] for run in console.runs} == {"ok"}
    for run in console.runs:
        (node,) = run["nodes"]
        far = run["target"].partition(":")[2]
        assert f"-c {bench.lab.address(far)} " in node["command"]
        assert {*run["environment"]} == {node["node"], far}
        assert run["summary"]["write"]["ios"] is None
        assert run["summary"]["write"]["latency_mean_seconds"] is None


@pytest.mark.essential
def test_the_rate_follows_the_shape_and_the_shaped_link_is_the_one_that_is_marked(
    measured: tuple[Bench, Console],
) -> None:
    _, console = measured
    links = [event for event in console.events if event["event"] == "link"]
    rates = {(link["source"], link["destination"]): link["bandwidth_bytes"] for link in links}
    assert len(rates) == 6
    for (source, _), rate in rates.items():
        if source == SHAPED:
            assert 0.5 * SHAPE < rate <= 1.02 * SHAPE, rates
        else:
            assert rate > 1.02 * SHAPE, rates
    (slowest,) = [link["source"] for link in links if link["slowest"]]
    assert slowest == SHAPED
    shown = measured[0].cephtui("show", "S").stdout
    assert re.search(
        rf"^slowest: {SHAPED} (→|->) lab\d, \d+ Mbit/s, .* below the median of 6 links", shown, re.MULTILINE
    )
    assert re.search(rf"^{SHAPED} .* Mbit/s (▼|v)", shown, re.MULTILINE)


@pytest.mark.essential
def test_the_totals_are_those_of_the_tool_and_its_seconds_add_up(measured: tuple[Bench, Console]) -> None:
    _, console = measured
    for directory in run_directories(console):
        run = json.loads((directory / "run.json").read_text())
        (node,) = run["nodes"]
        seconds_of_all, rate = received(raw(directory, node["node"]).read_text())
        total = run["summary"]["write"]
        assert total["bytes"] == pytest.approx(seconds_of_all * rate, abs=1)
        seconds = [s for s in read_samples(directory) if s["phase"] == "run" and s["node"] is None]
        assert len(seconds) >= 3
        assert sum(s["write"]["bytes"] for s in seconds) == pytest.approx(total["bytes"], rel=0.1), "sent, not arrived"
        assert sum(s["write"]["retransmits"] for s in seconds) == total["retransmits"]


@pytest.mark.essential
def test_the_server_was_one_for_one_test_on_one_address_and_nothing_is_left(measured: tuple[Bench, Console]) -> None:
    bench, console = measured
    (plan, *_) = [event for event in console.events if event["event"] == "plan"]
    (server,) = plan["steps"][0]["companions"]
    assert server["command"].startswith(f"iperf3 -s -1 -B {bench.lab.address(server['node'])} -p ")
    said = raw(run_directories(console)[0], f"{server['node']}.server").read_text()
    assert f"Accepted connection from {bench.lab.address('lab2')}" in said
    assert_nothing_is_left(bench)


def test_both_directions_at_once_have_each_their_own_rate(shaped: Lab, new_bench: NewBench) -> None:
    bench = new_bench()
    console = bench.run("network", on=[SHAPED], target="host:lab1", runtime=3, direction="both", seconds=120)
    (run,) = console.runs
    assert run["outcome"] == "ok", run["error"]
    out, back = (run["summary"][name]["bandwidth_bytes"] for name in ("write", "read"))
    assert 0.4 * SHAPE < out <= 1.02 * SHAPE
    said = raw(run_directories(console)[0], SHAPED).read_text()
    assert out == pytest.approx(received(said, "TX-C")[1], rel=0.001)
    assert back == pytest.approx(received(said, "RX-C")[1], rel=0.001)
    assert_nothing_is_left(bench)


def test_a_stop_keeps_what_was_measured(lab: Lab, bench: Bench) -> None:
    console = bench.start("network", on=["lab1"], target="host:lab3", runtime=ENDLESS)
    console.wait_for_samples(2)
    console.process.send_signal(signal.SIGINT)
    console.wait(60)
    (run,) = console.runs
    assert run["outcome"] == "stopped"
    assert run["summary"]["write"]["bytes"] > 0
    assert_nothing_is_left(bench)


def test_the_public_and_the_cluster_network_are_measured_at_their_own_addresses(lab: Lab, bench: Bench) -> None:
    words = ["--session", "S"]
    networks = "public,cluster"
    console = bench.run("network", on=["lab2", "lab3"], target="host:*", runtime=2, network=networks, words=words)
    assert console.process.returncode == 0, console.describe()
    measured = [(run["nodes"][0]["node"], run["target"], run["options"]["network"]) for run in console.runs]
    pairs = [("lab3", "host:lab2"), ("lab2", "host:lab3")]
    assert sorted(measured) == sorted((*pair, network) for pair in pairs for network in ("public", "cluster"))
    for run in console.runs:
        far = run["target"].partition(":")[2]
        address = CLUSTER_ADDRESSES[far] if run["options"]["network"] == "cluster" else lab.address(far)
        assert f"-c {address} " in run["nodes"][0]["command"]
    shown = bench.cephtui("show", "S").stdout
    assert re.search("^public network, ", shown, re.MULTILINE)
    assert re.search("^cluster network, ", shown, re.MULTILINE)
    (kept,) = (bench.sandbox.data / "clusters").iterdir()
    assert kept.stem == lab.ceph("fsid")["fsid"]
    links = [json.loads(line) for line in kept.read_text().splitlines()]
    assert sorted((link["source"], link["destination"], link["network"]) for link in links) == sorted(
        (near, far.partition(":")[2], network) for near, far, network in measured
    )
    assert_nothing_is_left(bench)


@pytest.mark.essential
def test_a_network_that_a_node_is_not_in_is_refused(lab: Lab, bench: Bench) -> None:
    console = bench.run("network", on=["lab3"], target="host:lab1", network="cluster")
    assert console.process.returncode == 2, console.describe()
    assert "lab1 " in console.complaints[-1]
    assert "(10.77.0.1)" in console.complaints[-1]


@pytest.mark.essential
def test_a_node_without_it_is_told(lab: Lab, bench: Bench) -> None:
    bench.configure(lab3={"prefix": bench.without("lab3", "iperf3"), "ceph_prefix": []})
    console = bench.run("network", on=["lab1"], target="host:lab3", runtime=2)
    assert console.process.returncode == 3, console.describe()
    assert "lab3: iperf3 " in console.stderr
    assert "apt-get install iperf3" in console.stderr
    assert_nothing_is_left(bench)


# ---------------------------------------------------------------------------------------------- faults


class Case:
    """A measurement in progress from ``lab1`` to ``lab3``."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.lab = bench, bench.lab
        words = ["--session", "S"]
        self.console = bench.start("network", on=["lab1"], target="host:lab3", words=words, runtime=ENDLESS)
        self.console.wait_for_samples(2)

    def pid(self, node: str, text: str) -> int:
        """Of iperf3 itself on a node."""
        return next(pid for pid, command in self.bench.running(node, program="iperf3").items() if text in command)

    @property
    def run(self) -> Event:
        """As it is kept."""
        found: dict[str, Any] = json.loads((run_directories(self.console)[0] / "run.json").read_text())
        return found


@pytest.mark.essential
def test_the_console_is_killed(lab: Lab, bench: Bench) -> None:
    case = Case(bench)
    case.console.process.kill()
    assert_nothing_is_left(bench)


def test_the_client_is_killed(lab: Lab, bench: Bench) -> None:
    case = Case(bench)
    os.kill(case.pid("lab1", " -c "), signal.SIGKILL)
    case.console.wait(60)
    assert case.run["outcome"] == "failed"
    assert "SIGKILL" in case.run["error"]
    assert_nothing_is_left(bench)


def test_the_server_is_killed(lab: Lab, bench: Bench) -> None:
    case = Case(bench)
    os.kill(case.pid("lab3", " -s "), signal.SIGKILL)
    case.console.wait(60)
    assert case.run["outcome"] == "failed"
    assert "lab3: " in case.run["error"]
    assert "SIGKILL" in case.run["error"]
    assert case.run["summary"]["write"]["bytes"] > 0
    assert_nothing_is_left(bench)


@pytest.mark.parametrize("node", ["lab1", "lab3"])
def test_the_sessions_of_a_node_are_killed(lab: Lab, bench: Bench, node: str) -> None:
    case = Case(bench)
    for pid in lab.session_pids(node):
        os.kill(pid, signal.SIGKILL)
    case.console.wait(60)
    where = {"lab1": "lab1: the connection was lost", "lab3": "server on lab3: the connection was lost"}
    assert where[node] in case.run["error"]
    assert (case.run["outcome"], case.console.process.returncode) == ("lost", 4)
    assert_nothing_is_left(bench)


def test_the_link_to_the_server_is_cut(lab: Lab, bench: Bench) -> None:
    case = Case(bench)
    with lab.cut("lab3"):
        wait_for(lambda: not bench.running("lab3"), 2 * LEAST_SECONDS, "the end of the server", case.console.describe)
        case.console.wait(120)
    assert (case.run["outcome"], case.console.process.returncode) == ("lost", 4)
    assert_nothing_is_left(bench)


@pytest.mark.essential
def test_nothing_is_noted_to_be_undone(measured: tuple[Bench, Console]) -> None:
    _, console = measured
    assert not Path(run_directories(console)[0].parent / "undo.jsonl").exists()
