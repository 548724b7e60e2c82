"""Every preset measures every target that it is for, on a node that is reached by ssh."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import Lab

from .conftest import NewBench
from .runs import (
    Console,
    Event,
    assert_agrees_with_the_tool,
    assert_samples_add_up,
    left_on,
    raw,
    read_samples,
    run_directories,
)

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
JOBS, SIZE = 8, 8 * MIB
"""The most that any of the presets starts; each has as much of the target."""

Measured = dict[str, Console]


@pytest.fixture(scope="module")
def measured(lab: Lab, new_bench: NewBench) -> Iterator[Measured]:
    """All presets on all targets, the targets side by side."""
    fio = {"runtime": 2, "ramp_time": 1, "size": "8M"}
    with lab.loop_device(JOBS * SIZE) as device:
        given = ["--destroy", device.name]
        consoles = {
            "rbd": new_bench().start(*PRESETS, on=["lab1"], words=["--shared-pool"], **fio),
            "file": new_bench().start(*PRESETS, on=["lab2"], target="file:/var/tmp/cephtui-file", **fio),
            "device": new_bench().start(*PRESETS, on=["lab3"], target=f"device:{device}", words=given, **fio),
            "pool": new_bench().start(
                *RADOS, on=["lab2"], target=f"pool:{lab.pool}", words=["--shared-pool"], runtime=2
            ),
        }
        for console in consoles.values():
            assert console.wait(180) == 0, console.describe()
    assert left_on(lab) == []
    yield consoles


def of_preset(measured: Measured, target: str, preset: str) -> list[tuple[Event, Path]]:
    """The runs of a preset, and where they are kept."""
    runs = zip(measured[target].runs, run_directories(measured[target]), strict=True)
    return [(run, directory) for run, directory in runs if run["preset"] == preset]


@pytest.mark.parametrize(("target", "preset"), CASES)
def test_a_preset_measures_its_directions(measured: Measured, target: str, preset: str) -> None:
    runs = of_preset(measured, target, preset)
    assert [run["outcome"] for run, _ in runs] == ["ok"] * (2 if preset == "latency" else 1)
    directions = [name for run, _ in runs for name in ("read", "write") if run["summary"][name]]
    assert directions == {**PRESETS, **RADOS}[preset]
    for run, _ in runs:
        assert "in-flight" not in {finding["code"] for finding in run["findings"]}
        for total in filter(None, run["summary"].values()):
            assert total["ios"] > 0
            assert total["runtime_seconds"] > 1
            assert total["latency_mean_seconds"] > 0


@pytest.mark.parametrize(("target", "preset"), CASES)
def test_the_totals_are_the_tools_own(measured: Measured, target: str, preset: str) -> None:
    for run, directory in of_preset(measured, target, preset):
        assert assert_agrees_with_the_tool(directory) == run


@pytest.mark.parametrize(("target", "preset"), CASES)
def test_the_samples_add_up_to_the_totals(measured: Measured, target: str, preset: str) -> None:
    for _, directory in of_preset(measured, target, preset):
        assert_samples_add_up(directory)


@pytest.mark.parametrize(("target", "preset"), CASES)
def test_the_command_that_was_shown_was_run(measured: Measured, target: str, preset: str) -> None:
    console = measured[target]
    planned = {step["nodes"][0]["command"]: step for step in console.events[0]["steps"] if step["preset"] == preset}
    for run, directory in of_preset(measured, target, preset):
        step = planned[run["command"]]
        assert run["options"] == step["options"]
        assert raw(directory, run["nodes"][0]["node"]).stat().st_size > 0
        wanted = {
            "rbd": [f"--pool={console.args[-1] and 'bench'}", "--ioengine=rbd", "--rbdname=cephtui-"],
            "file": ["--filename=/var/tmp/cephtui-file", "--direct=1"],
            "device": ["--filename=/dev/loop", "--direct=1"],
            "pool": ["rados ", "--namespace"],
        }[target]
        assert [word for word in wanted if word not in run["command"]] == []


@pytest.mark.parametrize("target", FIO_TARGETS)
def test_all_that_is_used_is_written_first_and_once(measured: Measured, target: str) -> None:
    """By the first preset that uses it, and no later one: each of the 8 jobs has its own part."""
    steps = measured[target].events[0]["steps"]
    assert [step["fill_bytes"] for step in steps] == [JOBS * SIZE, *[0] * (len(steps) - 1)]
    first, *later = run_directories(measured[target])
    filled = [s["write"] for s in read_samples(first) if s["phase"] == "prepare" and s["node"] is None]
    assert sum(write["bytes"] for write in filled) == JOBS * SIZE
    assert not any(sample["phase"] == "prepare" for directory in later for sample in read_samples(directory))


@pytest.mark.parametrize("preset", ["rados-seq", "rados-rand"])
def test_objects_are_written_before_they_are_read(measured: Measured, preset: str) -> None:
    ((run, directory),) = of_preset(measured, "pool", preset)
    filled = [s["write"]["bytes"] for s in read_samples(directory) if s["phase"] == "prepare" and s["write"]]
    assert sum(filled) >= 64 * MIB
    assert run["summary"]["read"]["ios"] > 0


@pytest.mark.parametrize("target", ["rbd", "pool"])
def test_a_run_keeps_the_conditions_of_the_cluster(measured: Measured, lab: Lab, target: str) -> None:
    for run, directory in zip(measured[target].runs, run_directories(measured[target]), strict=True):
        cluster = run["cluster"]
        assert cluster["ceph_version"] in str(lab.ceph("version")["version"])
        assert (cluster["osds"], cluster["osds_up"], cluster["osds_in"]) == (3, 3, 3)
        assert (cluster["pool"]["name"], cluster["pool"]["size"], cluster["no_permission"]) == (lab.pool, 1, [])
        said = [line for line in (directory / "cluster.jsonl").read_text().splitlines() if '"run"' in line]
        assert said, "the cluster was not looked at during the run"


@pytest.mark.parametrize(("target", "device"), [("file", None), ("device", "/dev/loop")])
def test_a_run_keeps_what_it_was_measured_on(measured: Measured, target: str, device: str | None) -> None:
    for run in measured[target].runs:
        (environment,) = run["environment"].values()
        assert environment["tools"]["fio"].startswith("fio-3")
        assert environment["device"]
        if device:
            assert environment["device"].startswith(device)
        assert run["cluster"] is None


def test_every_image_and_object_is_removed(measured: Measured, lab: Lab) -> None:
    """What was noted before it was made has been noted as removed, and is gone."""
    for console in measured.values():
        assert console.sandbox.run("cleanup").stdout.strip() == "nothing was left behind"
    assert left_on(lab) == []
