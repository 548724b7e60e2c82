"""Every preset measures every target that it is for, on a node that is reached by ssh.

All of them in the matrix.
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.lab import Lab
from tests.on_lab.conftest import NewBench
from tests.on_lab.runs import (
    Bench,
    Console,
    Event,
    assert_agrees_with_the_tool,
    assert_samples_add_up,
    left_on,
    noted,
    raw,
    read_samples,
    run_directories,
)
from tests.support.matrix import cases

pytestmark = pytest.mark.essential
MIB = 1 << 20
PRESETS = {
    "write-throughput": ["write"],
    "write-iops": ["write"],
    "read-throughput": ["read"],
    "read-iops": ["read"],
    "latency": ["read", "write"],
    "mixed-75-25": ["read", "write"],
}
RADOS = {"rados-write": ["write"], "rados-seq": ["read"], "rados-rand": ["read"]}
FIO_TARGETS = ["rbd", "file", "device"]
FIO_CASES = [(target, preset) for target in FIO_TARGETS for preset in PRESETS]
CASES = [*FIO_CASES, *(("pool", preset) for preset in RADOS)]
ALWAYS = {
    ("rbd", "write-iops"),
    ("rbd", "latency"),
    ("file", "mixed-75-25"),
    ("device", "read-iops"),
    ("pool", "rados-write"),
    ("pool", "rados-seq"),
}
"""Presets that write, read and do both, and two of one console: the first fills for both."""
THROUGHPUT = [preset for preset in PRESETS if "throughput" in preset]
"""Held back: 512 MiB in flight take longer than a short run."""
OTHERS = [preset for preset in PRESETS if preset not in THROUGHPUT]
JOBS, SIZE = 8, 8 * MIB
"""The most that any of the presets starts; each has as much of the target."""
RATE = 20
"""Of each job, and direction."""

Measured = dict[tuple[str, str], Console]


@pytest.fixture(scope="module")
def measured(request: pytest.FixtureRequest, lab: Lab, new_bench: NewBench) -> Measured:
    """Presets on targets, side by side; by target and preset."""
    started: list[tuple[str, list[str], Console]] = []
    shared = ["--shared-pool"]
    here = [item for item in request.session.items if item.path == request.path]
    wanted = {*CASES} if any(item.get_closest_marker("matrix") for item in here) else ALWAYS

    def start(kind: str, presets: list[str], node: str, **how: Any) -> None:
        presets = [preset for preset in presets if (kind, preset) in wanted]
        if presets:
            started.append((kind, presets, new_bench().start(*presets, on=[node], **how)))

    with lab.loop_device(JOBS * SIZE) as one, lab.loop_device(JOBS * SIZE) as two:
        start("pool", [*RADOS], "lab3", target=f"pool:{lab.pool}", words=shared, runtime=4, **{"concurrent-ios": 4})
        for presets, device, depth in ((OTHERS, one, {}), (THROUGHPUT, two, {"iodepth": 2})):
            how = {"runtime": 2, "ramp_time": 1, "size": SIZE, "rate_iops": RATE, **depth}
            start("rbd", presets, "lab1", words=shared, **how)
            start("file", presets, "lab2", target=f"file:/var/tmp/cephtui-{device.name}", **how)
            start("device", presets, "lab3", target=f"device:{device}", words=["--destroy", device.name], **how)
        for _, _, console in started:
            assert console.wait(300) == 0, console.describe()
    assert left_on(lab) == []
    return {(kind, preset): console for kind, presets, console in started for preset in presets}


def of_preset(measured: Measured, target: str, preset: str) -> list[tuple[Event, Path]]:
    """The runs of a preset, and where they are kept."""
    console = measured[target, preset]
    runs = zip(console.runs, run_directories(console), strict=True)
    return [(run, directory) for run, directory in runs if run["preset"] == preset]


def seen_of_cluster(directory: Path) -> list[Event]:
    """What a run keeps of what the cluster said of itself."""
    return [json.loads(line) for line in (directory / "cluster.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(("target", "preset"), cases(CASES, ALWAYS))
def test_a_preset_measures_its_directions(measured: Measured, target: str, preset: str) -> None:
    runs = of_preset(measured, target, preset)
    assert [run["outcome"] for run, _ in runs] == ["ok"] * (2 if preset == "latency" else 1)
    directions = [name for run, _ in runs for name in ("read", "write") if run["summary"][name]]
    assert directions == {**PRESETS, **RADOS}[preset]
    for run, _ in runs:
        for total in filter(None, run["summary"].values()):
            assert total["ios"] > 0
            assert total["runtime_seconds"] > 0.9
            assert total["latency_mean_seconds"] > 0


@pytest.mark.parametrize(("target", "preset"), cases(CASES, ALWAYS))
def test_the_totals_are_the_tools_own(measured: Measured, target: str, preset: str) -> None:
    for run, directory in of_preset(measured, target, preset):
        assert assert_agrees_with_the_tool(directory) == run


@pytest.mark.parametrize(("target", "preset"), cases(CASES, ALWAYS))
def test_the_samples_add_up_to_the_totals(measured: Measured, target: str, preset: str) -> None:
    for _, directory in of_preset(measured, target, preset):
        assert_samples_add_up(directory)


@pytest.mark.parametrize(("target", "preset"), cases(CASES, ALWAYS))
def test_the_command_that_was_shown_was_run(measured: Measured, lab: Lab, target: str, preset: str) -> None:
    steps = measured[target, preset].events[0]["steps"]
    planned = [step for step in steps if step["preset"] == preset]
    words = {
        "rbd": [f"--pool={lab.pool}", "--ioengine=rbd", "--rbdname=cephtui-", f"CEPH_CONF={lab.ceph_conf}"],
        "file": ["--ioengine=libaio", "--filename=/var/tmp/cephtui-loop", "--direct=1"],
        "device": ["--ioengine=libaio", "--filename=/dev/loop", "--direct=1"],
        "pool": ["rados --id admin ", f" -p {lab.pool} ", " -N cephtui-", f"CEPH_CONF={lab.ceph_conf}"],
    }[target]
    for step, (run, _) in zip(planned, of_preset(measured, target, preset), strict=True):
        assert run["command"] == run["nodes"][0]["command"] == step["nodes"][0]["command"]
        assert run["options"] == step["options"]
        assert [word for word in words if word not in run["command"]] == []


@pytest.mark.parametrize(("target", "first"), cases(product(FIO_TARGETS, ["write-throughput", "write-iops"]), ALWAYS))
def test_all_that_is_used_is_written_first_and_once(measured: Measured, target: str, first: str) -> None:
    """By the first preset that uses it, and by no later one: each of the 8 jobs has its own part."""
    console = measured[target, first]
    steps = console.events[0]["steps"]
    assert [step["fill_bytes"] for step in steps] == [JOBS * SIZE, *[0] * (len(steps) - 1)]
    written = [
        sum(s["write"]["bytes"] for s in read_samples(directory) if s["phase"] == "prepare" and s["node"] is None)
        for directory in run_directories(console)
    ]
    assert written == [JOBS * SIZE, *[0] * (len(steps) - 1)]


@pytest.mark.parametrize("preset", ["rados-seq", pytest.param("rados-rand", marks=pytest.mark.matrix)])
def test_objects_are_written_before_they_are_read(measured: Measured, preset: str) -> None:
    ((run, directory),) = of_preset(measured, "pool", preset)
    written = [s["write"]["bytes"] for s in read_samples(directory) if s["phase"] == "prepare" and s["write"]]
    assert sum(written) >= 64 * MIB
    assert run["summary"]["read"]["ios"] > 0


@pytest.mark.parametrize(("target", "preset"), cases([case for case in CASES if case[0] in ("rbd", "pool")], ALWAYS))
def test_a_run_keeps_the_conditions_of_the_cluster(measured: Measured, lab: Lab, target: str, preset: str) -> None:
    for run, directory in of_preset(measured, target, preset):
        cluster = run["cluster"]
        assert f"ceph version {cluster['ceph_version']} " in lab.ceph("version")["version"]
        assert (cluster["osds"], cluster["osds_up"], cluster["osds_in"]) == (3, 3, 3)
        assert (cluster["pool"]["name"], cluster["pool"]["size"], cluster["no_permission"]) == (lab.pool, 1, [])
        assert {sample["osds_up"] for sample in seen_of_cluster(directory)} == {3}


@pytest.mark.parametrize("target", ["rbd", "pool"])
def test_the_cluster_is_looked_at_during_the_runs(measured: Measured, target: str) -> None:
    """Every 2 s: a run as short as these may lie between two looks, not all of them do."""
    of_target = [preset for kind, preset in measured if kind == target]
    kept = [directory for preset in of_target for _, directory in of_preset(measured, target, preset)]
    assert "run" in {sample["phase"] for directory in kept for sample in seen_of_cluster(directory)}


@pytest.mark.parametrize("target", ["file", "device"])
def test_a_run_keeps_what_it_was_measured_on(measured: Measured, target: str) -> None:
    (console, *_) = [console for (kind, _), console in measured.items() if kind == target]
    for run in console.runs:
        (environment,) = run["environment"].values()
        assert environment["tools"]["fio"].startswith("fio-3")
        assert environment["device"].startswith("/dev/")
        assert run["cluster"] is None


@pytest.mark.parametrize("kind", ["file", "device"])
def test_each_request_of_a_ping_is_timed(bench: Bench, kind: str) -> None:
    lab = bench.lab
    with lab.loop_device(8 * MIB) as device:
        target = {"file": f"file:/var/tmp/cephtui-{device.name}", "device": f"device:{device}"}[kind]
        options = {"runtime": 2, "interval": 0.05, "work-size": 8 * MIB}
        # the hosts of the lab share their devices: two of them would be refused
        nodes = {"file": ["lab1", "lab2"], "device": ["lab1"]}[kind]
        console = bench.run("ping", on=nodes, target=target, **options)
    (run,), (directory,) = console.runs, run_directories(console)
    assert (run["outcome"], run["tool"], run["summary"]["write"]) == ("ok", "ioping", None)
    assert_samples_add_up(directory)
    for node in run["nodes"]:
        requests = [line.split() for line in raw(directory, node["node"]).read_text().splitlines()]
        assert node["summary"]["read"]["ios"] == len(requests) > 10
        longest = max(int(request[5]) for request in requests)
        assert node["summary"]["read"]["latency_max_seconds"] == pytest.approx(longest / 1e9)
    shown = bench.cephtui("show", f"{run['session']}/1")
    assert shown.process.returncode == 0, shown.describe()
    assert "ping" in shown.stdout
    assert left_on(lab) == []


def test_every_image_file_and_object_is_removed(measured: Measured, lab: Lab) -> None:
    """What was noted before it was made has been noted as removed."""
    for console in set(measured.values()):
        assert noted(console.sandbox) == set()
    shown = measured["rbd", "latency"].sandbox.run("cleanup")
    assert (shown.process.returncode, shown.complaints) == (0, [])
    assert left_on(lab) == []
