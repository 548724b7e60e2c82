"""gosbench against the lab's gateway: figures as in its log, no port and no key in sight, and nothing left."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.sandbox import Process
from tests.lab import Lab
from tests.lab.processes import all_pids, command_of, environment_of, holders
from tests.on_lab.runs import ENDLESS, RUN, Bench, Console, wait_for
from tests.on_lab.s3 import admin, configure, own_at, requests

MIX: dict[str, Any] = {"delete_weight": 0, "list_weight": 0, "read_weight": 50, "write_weight": 50}
SMALL = {**MIX, "size_min": "16k", "objects": 20, "buckets": 1, "parallel_clients": 2, "runtime": 3}
LONG = {**SMALL, "runtime": ENDLESS}
PREPARED = 10
"""Of its objects every other one is read."""
SOMEBODY = "somebody-else"
TWO = ("lab1", "lab2")


@pytest.fixture
def somebody(bench: Bench) -> Iterator[tuple[str, str]]:
    """The keys of a user."""
    bench.lab.gateway()
    made = admin(bench.lab, "user", "create", "--uid", SOMEBODY, "--display-name", SOMEBODY)["keys"][0]
    yield made["access_key"], made["secret_key"]
    admin(bench.lab, "user", "rm", "--uid", SOMEBODY, "--purge-data")


def programs(lab: Lab, name: str = "") -> list[Process]:
    """Everything that cephtui runs for it on the nodes, in whatever network; or gosbench's server or worker."""
    found, nodes = [], {lab.pid_namespace(node) for node in lab.nodes}
    for pid in all_pids():
        with contextlib.suppress(OSError):
            argv = tuple(command_of(pid).split(" "))
            if Path(f"/proc/{pid}/ns/pid").stat().st_ino not in nodes:
                continue
            if RUN in environment_of(pid) and any(word.endswith(f"/{name}") for word in argv[:2]):
                found.append(Process(pid, 0, "S", argv))
    return found


def wait_nothing_runs(bench: Bench) -> None:
    """No process is left, in the nodes' networks or in those of its own."""
    bench.wait_nothing_runs()
    wait_for(
        lambda: not programs(bench.lab, "server") + programs(bench.lab, "worker"),
        20,
        "the end of gosbench",
        lambda: str(programs(bench.lab)),
    )


def until_it_measures(bench: Bench, **how: Any) -> Console:
    console = bench.start("s3-mixed", **how)
    console.wait_for_samples()
    return console


def listening(bench: Bench, node: str) -> set[str]:
    """All addresses on which something listens on a node."""
    rows = [row.split() for row in bench.lab.on(node, "cat", "/proc/net/tcp", "/proc/net/tcp6").stdout.splitlines()]
    return {row[1] for row in rows if row[3] == "0A"}


def test_figures_are_those_of_the_gateways_log(bench: Bench) -> None:
    endpoint = configure(bench)
    before = requests(bench.lab, "cephtui-*")
    console = bench.run("s3-mixed", on=TWO, target=f"s3:{endpoint}", **SMALL)
    assert console.process.returncode == 0, console.describe()
    (run,) = console.runs
    logged = requests(bench.lab, "cephtui-*") - before
    read, write = run["summary"]["read"], run["summary"]["write"]
    assert read["ios"] == logged["GET"] > 10
    assert write["ios"] + 2 * PREPARED == logged["PUT"]
    assert [flow["bytes"] for flow in (read, write)] == [flow["ios"] << 14 for flow in (read, write)]
    measured = console.samples()
    assert sum(sample["write"]["ios"] for sample in measured) == write["ios"]
    assert {"coarse"} <= {finding["code"] for finding in run["findings"]}
    assert "stalled" not in {finding["code"] for finding in run["findings"]}
    assert own_at(bench.lab) == []


def test_nobody_sees_a_port_or_a_key(bench: Bench, somebody: tuple[str, str]) -> None:
    lines = "[s3.lab]", f'access_key = "{somebody[0]}"', f'secret_key = "{somebody[1]}"'
    endpoint = configure(bench, *lines, f'endpoint = "{bench.lab.gateway()}"')
    before = {node: listening(bench, node) for node in TWO}
    console = until_it_measures(bench, on=TWO, target=f"s3:{endpoint}", **LONG)
    assert len(programs(bench.lab, "server")) == len(programs(bench.lab, "worker")) == 2
    assert {node: listening(bench, node) for node in TWO} == before
    assert holders(somebody[1]) == set()
    console.process.send_signal(signal.SIGINT)
    console.wait(30)
    wait_nothing_runs(bench)
    files = [path for path in bench.sandbox.root.rglob("*") if path.is_file() and path != bench.config]
    assert [path for path in files if somebody[1].encode() in path.read_bytes()] == []
    assert somebody[1] not in console.stdout + console.stderr
    assert admin(bench.lab, "bucket", "list", "--uid", SOMEBODY) == []


@pytest.mark.parametrize("step", ["made", "preparing", "measuring"])
def test_nothing_is_left_after_the_kill_of_the_console_at_each_step(bench: Bench, step: str) -> None:
    endpoint = configure(bench)
    console = bench.start("s3-mixed", on=TWO, target=f"s3:{endpoint}", **LONG)
    if step == "made":
        wait_for(lambda: bool(own_at(bench.lab)), 30, "a user of the run's own")
    elif step == "preparing":
        wait_for(lambda: len(programs(bench.lab, "worker")) == 2, 30, "the workers")
    else:
        console.wait_for_samples()
    console.process.kill()
    console.process.wait()
    wait_nothing_runs(bench)
    bench.clean_up()
    assert own_at(bench.lab) == []


def test_a_server_that_is_killed_ends_its_node_with_the_reason(bench: Bench) -> None:
    endpoint = configure(bench)
    console = until_it_measures(bench, target=f"s3:{endpoint}", **LONG)
    programs(bench.lab, "server")[0].kill()
    console.wait(60)
    (run,) = console.runs
    assert run["outcome"] == "failed"
    assert "server " in run["error"]
    assert " -9: " in run["error"]
    wait_nothing_runs(bench)
    assert own_at(bench.lab) == []


@pytest.mark.essential
def test_a_node_without_it_says_how_to_get_it(bench: Bench) -> None:
    endpoint = configure(bench)
    text = bench.config.read_text()
    bench.config.write_text(text.replace("gosbench = ", 'gosbench = "/nonexistent" # '))
    console = bench.run("s3-mixed", target=f"s3:{endpoint}", **SMALL)
    assert console.process.returncode == 3, console.describe()
    assert "go install github.com/mulbc/gosbench/server@latest" in console.stderr
    assert own_at(bench.lab) == []
