"""A cluster whose ceph.conf and keys are only behind ``ceph_prefix``, as with rook: fio gets them for a run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.lab.processes import holders
from tests.on_lab.runs import ENDLESS, Bench, Console, wait_for

SHARED = ["--shared-pool"]
SCHEME = "ceph-access:"
FOLDERS = ("/run", "/dev/shm", "/tmp")
INSIDE = 'mount -t tmpfs tmpfs /etc/ceph && cp "$0" /etc/ceph/ceph.conf && cp "$1" /etc/ceph/ && shift && exec "$@"'


@pytest.fixture
def behind(bench: Bench) -> Bench:
    """As ``kubectl exec``: what runs behind it has another /etc/ceph than the node."""
    lab = bench.lab
    prefix = ["unshare", "--mount", "sh", "-c", INSIDE, str(lab.ceph_conf), str(lab.ceph_keyring)]
    away = {"ceph_prefix": prefix, "ceph_conf": None, "ceph_keyring": None, "ceph_id": None}
    bench.configure(lab1=away, lab2=away)
    return bench


def noted(bench: Bench) -> dict[str, bool]:
    """The tokens of what was fetched, and whether it is noted as removed."""
    paths = (bench.sandbox.data / "sessions").glob("*/undo.jsonl")
    entries = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    found = {entry["target"]: entry["done"] for entry in entries if entry["target"].startswith(SCHEME)}
    return {target.removeprefix(SCHEME): done for target, done in found.items()}


def fetched(bench: Bench) -> list[str]:
    """What of it is there, as the node sees it."""
    paths = [f"{folder}/cephtui-{token}" for token in noted(bench) for folder in FOLDERS]
    return bench.lab.on("lab1", "sh", "-c", 'ls -d "$@" 2>/dev/null', "sh", *paths).stdout.split() if paths else []


def key_of(bench: Bench) -> str:
    (key,) = re.findall(r"key = (\S+)", Path(bench.lab.ceph_keyring).read_text())
    return str(key)


def begun(bench: Bench, runtime: int) -> Console:
    console = bench.start("read-iops", words=SHARED, size="4M", numjobs=1, runtime=runtime, rate_iops=20)
    console.wait_for_samples(1, seconds=90)
    return console


@pytest.mark.essential
def test_fio_on_the_node_has_the_key_for_the_run_only_and_nobody_sees_it(behind: Bench) -> None:
    key = key_of(behind)
    console = begun(behind, 15)  # seconds, in which it is looked at
    (folder,) = fetched(behind)
    file = f"{folder}/ceph.conf"
    assert folder.startswith(("/run/", "/dev/shm/"))
    assert behind.lab.on("lab1", "stat", "-c", "%a", folder, file).stdout.split() == ["700", "600"]
    assert key in behind.lab.on("lab1", "cat", file).stdout, "it is what fio uses"
    assert holders(key) == set()
    assert console.wait(60) == 0, console.describe()
    assert console.runs[0]["outcome"] == "ok"
    assert fetched(behind) == []
    assert len(noted(behind)) == 2, "for the prefill and for the run"
    assert all(noted(behind).values())
    seen = [path for path in behind.sandbox.root.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]
    assert seen == []
    (node,) = console.events[0]["steps"][0]["nodes"]
    assert "ceph_prefix" in node["writes"][0]["what"]


@pytest.mark.parametrize("fault", ["console", "link"])
def test_nothing_of_it_stays_after_a_kill(behind: Bench, fault: str) -> None:
    console = begun(behind, ENDLESS)
    assert len(fetched(behind)) == 1
    if fault == "link":
        with behind.lab.cut("lab1"):
            wait_for(lambda: not fetched(behind), 60, "the end of the key on a node that was cut off")
            behind.wait_nothing_runs("lab1")
    console.process.kill()
    console.process.wait(90)
    wait_for(lambda: not fetched(behind), 60, "the end of the key")
    behind.wait_nothing_runs()
    behind.clean_up()
    assert all(noted(behind).values())


@pytest.mark.essential
def test_without_the_right_to_it_the_reason_is_in_one_line(behind: Bench) -> None:
    behind.configure(lab1={"ceph_prefix": ["env"], "ceph_conf": None, "ceph_keyring": None, "ceph_id": None})
    console = behind.run("read-iops", words=SHARED, size="4M", runtime=2)
    assert console.process.returncode == 3, console.describe()
    assert "cluster" in console.complaints[-1]
