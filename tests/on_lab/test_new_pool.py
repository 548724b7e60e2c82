"""Pools of cephtui's own, and the tools that come with Ceph: made, used, and nothing left, whatever is killed."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.lab import Lab
from tests.on_lab.runs import ENDLESS, Bench, Console, assert_samples_add_up, images, noted, raw, sets, wait_for

SMALL: dict[str, Any] = {"block-size": "64K", "concurrent-ios": 4}
LOAD: dict[str, Any] = {
    "num-objects": 4,
    "min-object-size": "1M",
    "max-object-size": "1M",
    "min-op-len": "64k",
    "max-op-len": "64k",
    "max-ops": 4,
    "target-throughput": "4M",
}
OPTION = "mon_allow_pool_delete"


def state(lab: Lab) -> list[object]:
    """All that a new pool changes in a cluster."""
    return [
        [pool for pool in lab.ceph("osd", "pool", "ls") if pool.startswith("cephtui-")],
        lab.ceph("osd", "crush", "rule", "ls"),
        lab.ceph("osd", "erasure-code-profile", "ls"),
        [(each["section"], each["value"]) for each in lab.ceph("config", "dump") if each["name"] == OPTION],
        [key for key in lab.ceph("config-key", "ls") if key.startswith("cephtui")],
    ]


def new_pools(lab: Lab) -> list[str]:
    return [pool for pool in lab.ceph("osd", "pool", "ls") if pool.startswith("cephtui-")]


@pytest.fixture
def before(bench: Bench) -> Iterator[list[object]]:
    """The cluster as it is, in which pools may not be deleted."""
    lab = bench.lab
    lab.ceph("config", "set", "mon", OPTION, "false")
    try:
        yield state(lab)
    finally:
        lab.ceph("config", "set", "mon", OPTION, "true")
        for pool in new_pools(lab):
            lab.ceph("osd", "pool", "rm", pool, pool, "--yes-i-really-really-mean-it")


def ended(console: Console) -> Any:
    assert console.process.returncode == 0, console.describe()
    return console.runs


def test_pools_are_made_used_and_deleted_with_the_option_as_it_was(bench: Bench, before: list[object]) -> None:
    lab = bench.lab
    shapes = ((1, "size=1", 1.0), (8, "size=3", 3.0), (8, "k=2,m=1,domain=osd", 1.5))
    for pgs, shape, raw_per_byte in shapes:
        (run,) = ended(bench.run("rados-write", target=f"new-pool:pg={pgs},{shape}", runtime=3, **SMALL))
        pool, cluster = run["cluster"]["pool"], run["cluster"]
        assert (run["target"].startswith(f"new-pool:pg={pgs},"), pool["pg_num"], pool["autoscale"]) == (
            True,
            pgs,
            "off",
        )
        assert cluster["stored_bytes"] > 0
        assert cluster["raw_bytes"] == pytest.approx(raw_per_byte * cluster["stored_bytes"], rel=0.2)
        shown = " ".join(bench.cephtui("show", f"{run['session']}/1").stdout.split())
        assert " raw: " in shown
        assert state(lab) == before
    assert not noted(bench.sandbox)


def test_all_tools_share_one_pool_until_the_end(bench: Bench, before: list[object]) -> None:
    (bench_run, load_run) = ended(
        bench.run(
            *("rbd-bench-write", "load-gen"),
            on=["lab1", "lab2"],
            target="new-pool:pg=8,size=1",
            words=sets(runtime=3, size="16M", **LOAD),
        )
    )
    assert bench_run["cluster"]["pool"]["name"] == load_run["cluster"]["pool"]["name"]
    for directory in run_directories_of(bench):
        assert_samples_add_up(directory)
    ops = json.loads((run_directories_of(bench)[0] / "run.json").read_text())["summary"]["write"]["ios"]
    said = [
        raw(run_directories_of(bench)[0], node).read_text().rpartition(" ops:")[2].split()[0]
        for node in ("lab1", "lab2")
    ]
    assert ops == sum(map(int, said)), "what rbd bench says itself at its end"
    assert state(bench.lab) == before


def run_directories_of(bench: Bench) -> list[Any]:
    return sorted(path for path in bench.sandbox.session().iterdir() if path.name.isdecimal())


@pytest.mark.essential
def test_objects_that_osds_do_not_take_are_refused_before_a_pool_is_made(bench: Bench, before: list[object]) -> None:
    sizes: dict[str, Any] = {"num-objects": 1, "min-object-size": "1G", "max-object-size": "1G", "runtime": 2}
    console = bench.run("load-gen", target="new-pool:pg=8,size=1", **sizes)
    assert console.process.returncode == 3, console.describe()
    assert "osd_max_object_size " in console.runs[0]["error"]
    assert console.runs[0]["error"].endswith(" 128M")
    assert not noted(bench.sandbox)
    assert state(bench.lab) == before


@pytest.mark.parametrize("preset", ["load-gen", "rbd-bench-write"])
def test_a_stop_ends_it_and_a_kill_leaves_what_cleanup_removes(bench: Bench, before: list[object], preset: str) -> None:
    lab = bench.lab
    options = LOAD if preset == "load-gen" else {"size": "16M"}
    for number in (signal.SIGINT, signal.SIGKILL):
        console = bench.start(preset, target="new-pool:pg=8,size=1", runtime=ENDLESS, **options)
        console.wait_for_samples(2, seconds=90)
        assert len(new_pools(lab)) == 1
        console.process.send_signal(number)
        bench.wait_nothing_runs()
        console.wait(120)
        if number == signal.SIGINT:
            assert console.runs[0]["outcome"] == "stopped", console.describe()
            assert console.runs[0]["summary"]["write"]["ios"] > 0
            assert state(lab) == before
    assert len(new_pools(lab)) == 1
    bench.clean_up()
    assert state(lab) == before


@pytest.mark.essential
def test_an_image_of_a_killed_rbd_bench_is_removed_by_cleanup(bench: Bench) -> None:
    lab = bench.lab
    console = bench.start("rbd-bench-write", words=["--shared-pool"], runtime=ENDLESS, size="16M")
    console.wait_for_samples(2, seconds=90)
    made = images(lab)
    assert {f"rbd:{lab.pool}/{name}" for name in made} == noted(bench.sandbox)
    console.process.kill()
    console.wait()
    bench.wait_nothing_runs()
    bench.clean_up()
    assert images(lab) == []


def kills(bench: Bench, after: str) -> None:
    """Have the shell that deletes pools killed on the node when Ceph has done this for the first time."""
    once = '[ -e "$0.once" ] || { touch "$0.once"; kill -KILL "$PPID"; }'
    script = f'"$REAL" "$@"\nstatus=$?\ncase "$*" in *"{after}"*) {once} ;; esac\nexit $status'
    bench.configure(lab1={"ceph_prefix": bench.program("lab1", "ceph", script)})


@pytest.mark.parametrize(
    "after",
    [
        f"config set mon.a {OPTION} true",
        "osd pool rm",
        f"config rm mon.a {OPTION}",
        "crush rule rm",
    ],
)
def test_a_removal_that_is_killed_is_finished_by_cleanup(bench: Bench, before: list[object], after: str) -> None:
    kills(bench, after)
    console = bench.run("rados-write", target="new-pool:pg=8,k=2,m=1,domain=osd", runtime=2, **SMALL)
    assert console.runs[0]["outcome"] == "ok", console.describe()
    if noted(bench.sandbox):
        bench.clean_up()
    assert state(bench.lab) == before


@pytest.mark.parametrize(
    "what",
    [
        "osd erasure-code-profile set",
        "osd pool create",
        "application set",
        "pool rename",
    ],
)
def test_a_console_that_is_killed_while_a_pool_is_made_leaves_nothing_that_cleanup_does_not_find(
    bench: Bench, before: list[object], what: str
) -> None:
    lab = bench.lab
    mark = lab.outside("lab1", "/tmp/cephtui-test-made")
    script = (
        f'"$REAL" "$@"\nstatus=$?\ncase "$*" in *"{what}"*) touch /tmp/cephtui-test-made; sleep 3 ;; esac\nexit $status'
    )
    bench.configure(lab1={"ceph_prefix": bench.program("lab1", "ceph", script)})
    console = bench.start("rados-write", target="new-pool:pg=8,k=2,m=1,domain=osd", runtime=ENDLESS, **SMALL)
    try:
        wait_for(mark.exists, 60, what, console.describe)
    finally:
        os.kill(console.process.pid, signal.SIGKILL)
        console.wait()
        mark.unlink(missing_ok=True)
    assert any(target.startswith("new-pool:cephtui-") for target in noted(bench.sandbox))
    bench.wait_nothing_runs()
    bench.clean_up()
    assert state(lab) == before
