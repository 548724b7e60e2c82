"""What is set in the cluster and on the nodes is kept with a run, so that a comparison names what was changed."""

from __future__ import annotations

import json
from typing import Any

from .runs import Bench

OPTION = "osd_op_num_shards_hdd"
"""An OSD takes it at its next start only, so that it changes nothing for the other tests."""


def measured(bench: Bench, session: str) -> dict[str, Any]:
    console = bench.run(
        "read-iops", words=["--shared-pool", "--session", session], size="4M", numjobs=1, runtime=2, rate_iops=20
    )
    assert console.process.returncode == 0, console.describe()
    (run,) = console.runs
    return run


def test_an_option_that_was_set_between_two_runs_is_named(bench: Bench) -> None:
    lab = bench.lab
    before = measured(bench, "before")
    lab.ceph("config", "set", "osd", OPTION, "8")
    try:
        after = measured(bench, "after")
    finally:
        lab.ceph("config", "rm", "osd", OPTION)

    assert f"osd {OPTION}" not in before["cluster"]["config"]
    assert after["cluster"]["config"][f"osd {OPTION}"] == "8"
    assert after["cluster"]["pool_settings"]["application"] == "rbd"
    assert after["environment"]["lab1"]["settings"]["vm.swappiness"].isdigit()
    compared = bench.cephtui("compare", "before/1", "after/1", "--json")
    assert compared.process.returncode == 0, compared.describe()
    rows = [json.loads(line) for line in compared.stdout.splitlines()]
    differing = [(row["topic"], row["name"], row["left"], row["right"]) for row in rows if row["event"] == "difference"]
    assert ("cluster", f"osd {OPTION}", "default", "8") in differing
    assert f"osd {OPTION} default 8" in " ".join(bench.cephtui("compare", "before/1", "after/1").stdout.split())


def test_the_queue_of_the_disk_under_a_file_is_kept(bench: Bench) -> None:
    console = bench.run("read-iops", target="file:/var/tmp/cephtui-conditions", size="4M", numjobs=1, runtime=2)
    assert console.process.returncode == 0, console.describe()
    (run,) = console.runs
    assert {"queue/scheduler", "queue/nr_requests", "queue/read_ahead_kb"} <= set(
        run["environment"]["lab1"]["settings"]
    )
