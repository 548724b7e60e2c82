"""What the OSDs of the pool count during a run: other clients, and a user who may not ask."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.lab import Lab
from tests.on_lab.conftest import SLOW_OSDS
from tests.on_lab.runs import Bench, Console

RUN: dict[str, Any] = {"size": "32M", "numjobs": 1, "iodepth": 2, "runtime": 18, "ramp_time": 0, "rate_iops": 50}
FOREIGN = "foreign-load"
_WAITS = 3
"""How often an OSD waits for the injected delay of a write."""


def findings(console: Console) -> dict[str, dict[str, object]]:
    assert console.process.returncode == 0, console.describe()
    (run,) = console.runs
    return {finding["code"]: finding for finding in run["findings"]}


def foreign_load(lab: Lab, is_over: threading.Event) -> None:
    """Writes of 4 KiB by another client, far more than the run's own, until the run is over."""
    bench = ["bench", f"{lab.pool}/{FOREIGN}", "--io-type", "write", "--io-size", "4K", "--io-total", "40G"]
    access = ["env", f"CEPH_CONF={lab.ceph_conf}"]
    lab.on("lab2", *access, "rbd", "create", "--size", "64M", f"{lab.pool}/{FOREIGN}")
    while not is_over.is_set():
        lab.on("lab2", *access, "timeout", "15", "rbd", *bench, "--io-threads", "4", "--io-pattern", "rand")
    lab.on("lab2", *access, "rbd", "rm", "--no-progress", f"{lab.pool}/{FOREIGN}")


@pytest.mark.essential
def test_another_client_is_found_by_its_operations(bench: Bench) -> None:
    console = bench.start("write-iops", words=["--shared-pool"], **RUN)
    is_over = threading.Event()
    loading = threading.Thread(target=foreign_load, args=(bench.lab, is_over))
    loading.start()
    try:
        console.wait(120)
    finally:
        is_over.set()
        loading.join()
    finding = findings(console)["other-clients"]
    values = finding["values"]
    assert isinstance(values, dict)
    assert values["iops"] > 50
    assert 0.4 < values["share"] < 1
    (run,) = console.runs
    assert sum(osd["writes"] for osd in run["osds"].values()) > 18 * 100


def test_the_latency_of_writes_goes_where_the_osds_are_slow(bench: Bench) -> None:
    """A delay before the queue moves its own stage by as much, and hardly another one."""
    runs = [bench.run("write-iops", words=["--shared-pool"], **{**RUN, "runtime": 12}).runs[0]]
    delay = "osd_debug_inject_dispatch_delay_duration"
    bench.lab.ceph("config", "set", "osd", delay, "0.006")
    try:
        runs += bench.run("write-iops", words=["--shared-pool"], **{**RUN, "runtime": 12}).runs
    finally:
        bench.lab.ceph("config", "set", "osd", delay, SLOW_OSDS[delay])
    before, after = (run["stages"]["write"] for run in runs)
    for run, stages in zip(runs, (before, after), strict=True):
        assert stages["operations"] == pytest.approx(stages["ios"], rel=0.03)
        total = sum(seconds for name, seconds in stages.items() if name.endswith("_seconds"))
        assert total == pytest.approx(run["summary"]["write"]["latency_mean_seconds"], rel=0.05)
    moved = {name: after[name] - before[name] for name in before if name.endswith("_seconds")}
    assert moved["queue_seconds"] == pytest.approx(_WAITS * 0.004, rel=0.2)
    assert max(abs(moved[name]) for name in ("prepare_seconds", "store_seconds")) < 0.1 * moved["queue_seconds"]
    assert abs(moved["outside_seconds"]) < 0.25 * moved["queue_seconds"]  # messages wait for the thread that waits


@pytest.mark.essential
def test_a_user_who_may_not_ask_osds_has_one_note(bench: Bench) -> None:
    lab = bench.lab
    words = ["--ceph-id", lab.restricted_id, "--ceph-keyring", str(lab.restricted_keyring), "--shared-pool"]
    console = bench.run("write-iops", words=words, **{**RUN, "runtime": 6})
    assert findings(console)["osd-counters"]["level"] == "note"
    assert not {"osds", "stages"} & console.runs[0].keys()
