"""What is set in the cluster and on the nodes is kept with a run, so that a comparison names what was changed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.lab import Lab
from tests.on_lab.others import in_all_stores
from tests.on_lab.runs import Bench

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


@pytest.mark.essential
def test_the_queue_of_the_disk_under_a_file_is_kept(bench: Bench) -> None:
    console = bench.run("read-iops", target="file:/var/tmp/cephtui-conditions", size="4M", numjobs=1, runtime=2)
    assert console.process.returncode == 0, console.describe()
    (run,) = console.runs
    assert {"queue/scheduler", "queue/nr_requests", "queue/read_ahead_kb"} <= set(
        run["environment"]["lab1"]["settings"]
    )


def cached(file: Path) -> int:
    """How many bytes of a file the kernel has in memory."""
    return int(subprocess.check_output(["fincore", "--bytes", "--noheadings", "--output", "RES", str(file)]))


def onodes(lab: Lab) -> int:
    """How many objects' metadata the OSDs have in their caches."""
    return in_all_stores(lab, "onodes", "bluestore_onodes")


def test_caches_are_dropped_before_a_run_and_that_is_among_its_conditions(bench: Bench, pool: str) -> None:
    lab = bench.lab
    file = lab.directory / "canary"
    file.write_bytes(b"\1" * (1 << 20))
    lab.rados("--pool", pool, "bench", "1", "write", "-b", "4096", "--max-objects", "200", "--no-cleanup")
    before = cached(file), onodes(lab)
    words = ["--shared-pool", "--drop-caches", "--session", "dropped"]
    console = bench.run("read-iops", words=words, size="4M", numjobs=1, runtime=2, rate_iops=20)
    after = cached(file), onodes(lab)
    file.unlink()
    assert console.process.returncode == 0, console.describe()
    (run,) = console.runs
    assert before[0] >= 1 << 20
    assert before[1] >= 200
    assert after[0] == 0
    assert after[1] < 100, "what the run has read, and not what was there before"
    assert run["environment"]["lab1"]["page_cache_dropped"] is True
    assert run["cluster"]["osd_caches_dropped"] == 3
    assert not [finding for finding in run["findings"] if finding["code"] == "caches"]
    assert "3 OSDs" in bench.cephtui("show", "dropped/1", "--format", "md").stdout


def test_what_a_restricted_user_can_not_drop_is_a_finding(bench: Bench) -> None:
    lab = bench.lab
    bench.configure(lab1={"ceph_id": lab.restricted_id, "ceph_keyring": str(lab.restricted_keyring)})
    console = bench.run(
        "read-iops", words=["--shared-pool", "--drop-caches"], size="4M", numjobs=1, runtime=2, rate_iops=20
    )
    assert console.process.returncode == 0, console.describe()
    (run,) = console.runs
    assert run["cluster"]["osd_caches_dropped"] == 0
    (finding,) = [finding for finding in run["findings"] if finding["code"] == "caches"]
    assert "permission" in finding["text"]
