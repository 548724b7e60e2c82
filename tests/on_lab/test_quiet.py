"""A quiet cluster for a study: scrubs held back, and exactly what was there before put back, whatever ends it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.lab import Lab
from tests.on_lab.others import SMALL
from tests.on_lab.runs import ENDLESS, Bench, Console

FLAGS = {"noscrub", "nodeep-scrub"}


def state(lab: Lab) -> dict[str, Any]:
    """All that a quiet cluster changes."""
    osd_map = lab.ceph("osd", "dump")
    return {
        "flags": FLAGS & set(osd_map["flags_set"]),
        "autoscale": {pool["pool_name"]: pool["pg_autoscale_mode"] for pool in osd_map["pools"]},
        "balancer": lab.ceph("balancer", "status")["active"],
        "config": [option for option in lab.ceph("config", "dump") if option["name"].startswith("mgr/balancer")],
        "keys": [key for key in lab.ceph("config-key", "ls") if key.startswith("cephtui/quiet")],
    }


@pytest.fixture
def before(bench: Bench) -> Iterator[dict[str, Any]]:
    """The cluster, in which somebody has switched deep scrubs off already."""
    lab = bench.lab
    lab.ceph("osd", "set", "nodeep-scrub")
    try:
        yield state(lab)
    finally:
        lab.ceph("osd", "unset", "nodeep-scrub")
        lab.ceph("osd", "unset", "noscrub")


def start(bench: Bench, option: str = "--quiet-cluster", **options: Any) -> Console:
    return bench.start("write-iops", words=["--shared-pool", option], **{**SMALL, "numjobs": 1, **options})


@pytest.mark.essential
def test_two_consoles_are_quiet_together_and_one_that_is_killed_is_put_back_by_cleanup(
    bench: Bench, before: dict[str, Any]
) -> None:
    lab = bench.lab
    killed = start(bench, runtime=ENDLESS)
    killed.wait_for_samples(2, seconds=90)
    other = start(bench, runtime=3)
    other.wait(120)

    (run,) = other.runs
    assert run["cluster"]["quiet"] == "scrubs"
    assert set(run["cluster"]["osd_flags"]) >= FLAGS
    assert "health-other" not in [finding["code"] for finding in run["findings"]]
    assert "noscrub still set for another session of cephtui since" in other.stderr
    assert state(lab)["flags"] == FLAGS  # the other one goes on

    killed.process.kill()
    killed.wait()
    assert state(lab)["flags"] == FLAGS
    bench.wait_nothing_runs()
    cleaned = bench.cleanup("--yes", env={"COLUMNS": "400"})
    assert "quiet:noscrub: as before: noscrub cleared" in cleaned.stdout + cleaned.stderr
    assert state(lab) == before


def test_balancer_and_autoscaler_are_off_for_the_study_and_then_as_before(bench: Bench, before: dict[str, Any]) -> None:
    lab = bench.lab
    lab.ceph("osd", "pool", "set", lab.pool, "pg_autoscale_mode", "warn")
    at_first = state(lab)
    console = start(bench, "--quiet-all", runtime=ENDLESS)
    console.wait_for_samples(2, seconds=90)
    held = state(lab)
    console.process.send_signal(signal.SIGINT)
    console.wait(90)
    try:
        assert (held["flags"], held["balancer"], set(held["autoscale"].values())) == (FLAGS, False, {"off"})
        assert [option["value"] for option in held["config"]] == ["false"]
        assert state(lab) == at_first
    finally:
        lab.ceph("osd", "pool", "set", lab.pool, "pg_autoscale_mode", before["autoscale"][lab.pool])
