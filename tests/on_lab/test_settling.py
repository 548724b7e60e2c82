"""A run that falls off a cliff half-way: its mean stands for neither half, and it says so."""

from __future__ import annotations

from typing import Any

from tests.on_lab.runs import Bench

OPTION = "rbd_qos_iops_limit"
RUN_SECONDS, CUT_AT_SECONDS = 40, 18


def test_a_run_that_is_cut_half_way_is_not_settled(bench: Bench) -> None:
    """librbd takes a limit from the cluster's configuration at once."""
    lab = bench.lab
    load: dict[str, Any] = {
        "size": "4M",
        "numjobs": 1,
        "iodepth": 4,
        "runtime": RUN_SECONDS,
        "ramp_time": 0,
        "rate_iops": 80,
    }
    console = bench.start("write-iops", words=["--shared-pool", "--session", "S"], **load)
    try:
        console.wait_for_samples(CUT_AT_SECONDS)
        lab.ceph("config", "set", "client", OPTION, "20")
        console.wait(120.0)
    finally:
        lab.ceph("config", "rm", "client", OPTION)
    (run,) = console.runs
    assert run["outcome"] == "ok", console.describe()
    (found,) = [finding for finding in run["findings"] if finding["code"] == "not-settled"]
    assert "IOPS fell" in found["text"], found
    assert CUT_AT_SECONDS - 6 <= found["from_seconds"] <= RUN_SECONDS
    assert run["seconds"]["least"] < 0.5 * run["seconds"]["greatest"]
