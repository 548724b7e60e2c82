"""The guards on pools: what is full, what does not serve, and what others use, on a real cluster."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Sequence
from typing import Any

import pytest

from tests.lab import Lab
from tests.on_lab.others import (
    SMALL,
    Others,
    all_refused,
    allowed,
    busy,
    dry_run,
    erasure_profile,
    findings,
    opened,
    pool_on,
    refused,
    said,
    still,
    wait_clean,
    wait_pgs,
)
from tests.on_lab.runs import ENDLESS, Bench, wait_for

MIB = 1 << 20


# --- Pools: room ---------------------------------------------------------------------------------


def stored(lab: Lab, pool: str) -> int:
    (found,) = [one for one in lab.ceph("df", "detail")["pools"] if one["name"] == pool]
    value: int = found["stats"]["stored"]
    return value


def test_a_quota_leaves_a_fifth_of_what_is_left(bench: Bench, pool: str) -> None:
    lab = bench.lab
    blob = lab.directory / "blob"
    blob.write_bytes(b"x" * 20 * MIB)
    lab.rados("--pool", pool, "put", "ledger", str(blob))
    blob.unlink()
    lab.ceph("osd", "pool", "set-quota", pool, "max_bytes", str(120 * MIB))
    wait_for(lambda: stored(lab, pool) == 20 * MIB, 30, "what is stored")

    text = refused(bench, "write-iops", f"rbd:{pool}", "--shared-pool", size="81M")
    assert f"pool {pool}: needs 81.0 MiB " in text
    assert re.findall(r"quota|\d+(?:\.\d)? MiB", text.partition("81.0 MiB")[2])[:3] == ["100 MiB", "quota", "80.0 MiB"]
    allowed(bench, "write-iops", f"rbd:{pool}", "--shared-pool", size="80M")
    # jobs and nodes add up
    assert "88.0 MiB" in refused(bench, "write-iops", f"rbd:{pool}", "--shared-pool", numjobs=8, size="11M")
    three = bench.start(
        "write-iops",
        on=lab.nodes,
        target=f"rbd:{pool}",
        words=["--dry-run", "--shared-pool"],
        **{**SMALL, "size": "27M"},
    )
    assert "needs 81.0 MiB" in said(three)


@pytest.mark.essential
def test_a_run_neither_fills_a_pool_nor_makes_an_osd_nearly_full(bench: Bench, pool: str) -> None:
    lab = bench.lab
    (found,) = [one for one in lab.ceph("df", "detail")["pools"] if one["name"] == pool]
    free = found["stats"]["max_avail"]
    text = refused(bench, "write-iops", f"rbd:{pool}", "--shared-pool", size=f"{int(0.81 * free / MIB)}M")
    assert f"pool {pool}" in text

    used = max(osd["utilization"] for osd in lab.ceph("osd", "df")["nodes"])
    lab.ceph("osd", "set-nearfull-ratio", f"{used / 100 + 0.02:.3f}")
    try:
        text = refused(bench, "write-iops", f"rbd:{pool}", "--shared-pool", size="2G")
        assert "would fill osd." in text
        assert "above nearfull" in text
        allowed(bench, "write-iops", f"rbd:{pool}", "--shared-pool")
    finally:
        lab.ceph("osd", "set-nearfull-ratio", "0.85")
    wait_clean(lab)


def test_what_is_full_is_not_written(bench: Bench, pool: str, others: Others) -> None:
    lab = bench.lab
    into_image = ["write-iops", f"rbd:{pool}/data", "--destroy", "data", "--shared-pool"]
    into_pool = ["write-iops", f"rbd:{pool}", "--shared-pool"]
    # fio opens an image for writing even to read it: where nothing can be written it would hang
    from_image = ["read-iops", f"rbd:{pool}/data", "--shared-pool"]
    asked = (into_image, into_pool, from_image)

    lab.ceph("osd", "pool", "set-quota", pool, "max_objects", "1")
    wait_for(lambda: "full_quota" in flags(lab, pool), 60, "a pool that is full by its quota")
    all_refused(bench, [(words, (f"pool {pool} ", "full", "quota")) for words in asked])
    objects = bench.start("rados-write", target=f"pool:{pool}", words=["--dry-run", "--shared-pool"])
    assert "quota" in said(objects)
    lab.ceph("osd", "pool", "set-quota", pool, "max_objects", "0")
    wait_for(lambda: "full_quota" not in flags(lab, pool), 60, "a pool that is not full")

    ratios = {"nearfull": "0.001", "backfillfull": "0.002", "full": "0.003"}
    usual = {"full": "0.95", "backfillfull": "0.9", "nearfull": "0.85"}
    try:
        for name, ratio in ratios.items():
            lab.ceph("osd", f"set-{name}-ratio", ratio)
        wait_for(lambda: "OSD_FULL" in lab.ceph("health")["checks"], 60, "full OSDs")
        all_refused(bench, [(words, (f"pool {pool} ", "full")) for words in asked])
    finally:
        for name, ratio in usual.items():
            lab.ceph("osd", f"set-{name}-ratio", ratio)
    wait_clean(lab)
    others.assert_unchanged()


def flags(lab: Lab, pool: str) -> str:
    (found,) = [one for one in lab.ceph("osd", "dump")["pools"] if one["pool_name"] == pool]
    text: str = found["flags_names"]
    return text


# --- Pools: health -------------------------------------------------------------------------------


def test_pgs_that_serve_nobody_are_refused_and_degraded_ones_are_told(bench: Bench) -> None:
    lab = bench.lab
    with (
        pool_on(lab, size=2, min_size=2) as unserved,
        pool_on(lab, size=2, min_size=1) as degraded,
        erasure_profile(lab) as profile,
        pool_on(lab, profile=profile) as coded,
    ):
        lab.ceph("osd", "pool", "set", coded, "allow_ec_overwrites", "true")
        lab.ceph("osd", "pool", "set", coded, "min_size", "3")
        for pool in (unserved, degraded):
            lab.rbd("create", "--size", "16", f"{pool}/data")
        lab.rbd("bench", "--io-type", "write", "--io-size", "4M", "--io-total", "16M", f"{degraded}/data")
        lab.ceph("osd", "set", "noup")
        try:
            lab.ceph("osd", "down", "0")
            pools = (unserved, degraded, coded)
            # the manager learns of the OSD, and the OSDs of their PGs, one after the other
            wait_for(lambda: still(lambda: undersized(lab, pools), 4), 90, "PGs with too few OSDs")
            not_active = ("8 PGs", f" {unserved} ")
            asked = [
                (["write-iops", f"rbd:{unserved}"], not_active),
                (["read-iops", f"rbd:{unserved}/data"], not_active),
                (["write-iops", f"rbd:{unserved}/data", "--destroy", "data"], not_active),
                (["write-iops", f"rbd:{degraded}", "--data-pool", coded], ("PGs", f" {coded} ")),
            ]
            all_refused(bench, [([*words, "--shared-pool"], text) for words, text in asked])
            console = bench.run("write-iops", target=f"rbd:{degraded}", words=["--shared-pool"], **SMALL)
        finally:
            lab.ceph("osd", "unset", "noup")
        found = findings(console)
        assert "1 of 3 OSDs " in found["osd-down"]
        (run,) = console.runs
        states = [state for state in run["cluster"]["pg_states"] if state != "active+clean"]
        assert any("degraded" in state for state in states), run["cluster"]
        # only the three most frequent are named, which these are is up to the placement
        named = [state for state in states if state in found["pgs"]]
        assert len(named) >= min(3, len(states)), found["pgs"]
        assert "degraded" in found["recovery"]
        assert "OSD_DOWN (1 osds down)" in found["health-speed"]
        wait_clean(lab)


def undersized(lab: Lab, pools: Sequence[str]) -> bool:
    """Whether the cluster has noticed which PGs miss an OSD."""
    numbers = {one["pool_name"]: one["pool"] for one in lab.ceph("osd", "dump")["pools"]}
    states = {name: set[str]() for name in pools}
    for one in lab.ceph("pg", "dump", "pgs_brief")["pg_stats"]:
        for name in pools:
            if one["pgid"].startswith(f"{numbers[name]}."):
                states[name].add(one["state"])
    seen = ["+".join(sorted(found)) for found in states.values()]
    return all("undersized" in text and "stale" not in text and "peering" not in text for text in seen)


@pytest.mark.essential
def test_a_paused_cluster_is_refused(bench: Bench, pool: str) -> None:
    lab = bench.lab
    lab.rbd("create", "--size", "16", f"{pool}/data")
    lab.ceph("osd", "set", "pause")
    try:
        asked = [(["write-iops", f"rbd:{pool}"], ("paused", "pauserd, pausewr"))]
        asked += [(["read-iops", f"rbd:{pool}/data"], ("paused", "pauserd"))]
        all_refused(bench, [([*words, "--shared-pool"], text) for words, text in asked])
    finally:
        lab.ceph("osd", "unset", "pause")
    wait_clean(lab)


@pytest.mark.essential
def test_recovery_is_told_beside_the_figures(bench: Bench, pool: str) -> None:
    lab = bench.lab
    lab.rbd("create", "--size", "64", f"{pool}/data")
    lab.rbd("bench", "--io-type", "write", "--io-size", "4M", "--io-total", "64M", f"{pool}/data")
    try:
        for flag in ("nobackfill", "norecover"):
            lab.ceph("osd", "set", flag)
        lab.ceph("osd", "out", "0")
        wait_for(lambda: lab.ceph("status")["pgmap"].get("misplaced_ratio"), 60, "misplaced objects")
        wait_pgs(lab, pool)
        console = bench.run("read-iops", target=f"rbd:{pool}/data", words=["--shared-pool"], **SMALL)
    finally:
        lab.ceph("osd", "in", "0")
        for flag in ("nobackfill", "norecover"):
            lab.ceph("osd", "unset", flag)
    wait_clean(lab)

    found = findings(console)
    assert "1 of 3 OSDs " in found["osds"]
    assert "active+clean" in found["pgs"]
    assert "misplaced" in found["recovery"]
    assert console.runs[0]["cluster"]["osds_in"] == 2


def test_scrubbing_is_told_beside_the_figures(bench: Bench, pool: str) -> None:
    lab = bench.lab
    # Many objects: where the queue is mClock's, no scrub sleeps.
    lab.rbd("create", "--size", "32", "--object-size", "4K", f"{pool}/data")
    lab.rbd("bench", "--io-type", "write", "--io-size", "4K", "--io-total", "32M", f"{pool}/data")
    slowly = {"osd_scrub_sleep": "15", "osd_scrub_chunk_min": "1", "osd_scrub_chunk_max": "1"}
    try:
        for name, value in slowly.items():
            lab.ceph("config", "set", "osd", name, value)
        lab.ceph("osd", "pool", "deep-scrub", pool)
        wait_for(lambda: "scrubbing" in json.dumps(lab.ceph("status")["pgmap"]), 60, "a scrub")
        console = bench.run("read-iops", target=f"rbd:{pool}/data", words=["--shared-pool"], **SMALL)
    finally:
        for name in slowly:
            lab.ceph("config", "rm", "osd", name)
    wait_clean(lab)

    found = findings(console)
    assert "scrubbed" in found["scrub"]
    assert "pgs" not in found


# --- Pools: who else is there --------------------------------------------------------------------


def test_a_pool_that_others_use_is_loaded_only_where_that_is_typed(bench: Bench, pool: str) -> None:
    lab = bench.lab
    for image in ("data", "kept"):
        lab.rbd("create", "--size", "16", f"{pool}/{image}")
    in_use = "1 of 2 images"

    def on_all(*words: str) -> Any:
        small = {**SMALL, "size": "4M"}
        return bench.start("read-iops", on=lab.nodes, target=f"rbd:{pool}", words=["--dry-run", *words], **small)

    with opened(lab, f"{pool}/data"):
        asked = [
            ["write-iops", f"rbd:{pool}"],
            ["read-iops", f"rbd:{pool}"],  # it is filled first
            ["write-iops", f"rbd:{pool}/kept", "--destroy", "kept"],
        ]
        consoles = [dry_run(bench, *words) for words in asked]
        consoles += [on_all(), bench.start("rados-write", target=f"pool:{pool}", words=["--dry-run"])]
        for console in consoles:
            assert in_use in said(console)
            assert "--shared-pool" in console.stderr
        # what is only read, on one node, disturbs nobody much
        allowed(bench, "read-iops", f"rbd:{pool}/kept")
        allowed(bench, "write-iops", f"rbd:{pool}", "--shared-pool")
        together = on_all("--shared-pool")
        assert together.wait() == 0, together.describe()
        # a key that may not ask the OSDs asks each image
        restricted = ["--ceph-id", lab.restricted_id, "--ceph-keyring", str(lab.restricted_keyring)]
        with opened(lab, f"{lab.pool}/{watched_image(lab)}"):
            text = refused(bench, "write-iops", f"rbd:{lab.pool}", *restricted)
        lab.rbd("rm", "--no-progress", f"{lab.pool}/watched")
        assert f"pool {lab.pool} " in text
        assert re.search(r"1 of 1 images .*, \S+ client IOPS", text), "the monitors forward this to the manager"

    with busy(lab, pool):
        text = refused(bench, "write-iops", f"rbd:{pool}")
        assert "0 of 2 images" in text
        assert ", 0 client IOPS" not in text
        allowed(bench, "write-iops", f"rbd:{pool}", "--shared-pool")


def watched_image(lab: Lab) -> str:
    """An image in the pool that the restricted key may use."""
    lab.rbd("create", "--size", "4", f"{lab.pool}/watched")
    return "watched"


def narrow_key(lab: Lab) -> list[str]:
    """The options for a key that may ask less than ``profile rbd`` allows: not which PGs there are."""
    caps = ["mon", "allow service mon r, allow service osd r", "osd", f"profile rbd pool={lab.pool}"]
    (made,) = lab.ceph("auth", "get-or-create", "client.narrow", *caps)
    keyring = lab.directory / "narrow.keyring"
    keyring.touch(mode=0o600)
    keyring.write_text(f"[{made['entity']}]\nkey = {made['key']}\n")
    return ["--ceph-id", "narrow", "--ceph-keyring", str(keyring)]


def test_a_key_that_may_not_ask_everything_goes_on_and_says_so(bench: Bench, pool: str) -> None:
    lab = bench.lab
    restricted = narrow_key(lab)
    runs = {
        "write-iops": bench.run("write-iops", words=restricted, **SMALL),
        "rados-write": bench.run(
            "rados-write", target=f"pool:{lab.pool}", words=[*restricted, "--shared-pool"], runtime=2
        ),
    }

    for preset, console in runs.items():
        found = findings(console)
        assert "permission" in found["space"], preset
        cluster = console.runs[0]["cluster"]
        assert {"ceph pg dump pgs_brief", "ceph config get osd osd_op_queue"} <= set(cluster["no_permission"])
        assert cluster["pool"]["name"] == lab.pool
        assert cluster["health"].startswith("HEALTH_")
        assert console.runs[0]["summary"]["write"]["ios"] > 0
    (plan,) = [event for event in runs["write-iops"].events if event["event"] == "plan"]
    assert plan["pool_use"]["client_iops"] is not None, "the monitors forward this to the manager"
    # what it may not use is refused in words
    console = bench.run("write-iops", target=f"rbd:{pool}", words=restricted, **SMALL)
    assert console.process.returncode == 3, console.describe()
    assert "ermi" in console.stderr
    assert lab.rbd("ls", pool) == ""


# --- Erasure coding ------------------------------------------------------------------------------


def test_images_of_an_erasure_coded_pool_need_another_for_their_names(bench: Bench, pool: str) -> None:
    lab = bench.lab
    with erasure_profile(lab) as profile, pool_on(lab, profile=profile) as coded:
        text = refused(bench, "write-iops", f"rbd:{coded}")
        assert f"pool {coded} " in text
        assert "erasure-coded" in text
        assert f"use a replicated pool, with --data-pool {coded}" in text
        text = refused(bench, "write-iops", f"rbd:{pool}", "--data-pool", coded)
        assert f"ceph osd pool set {coded} allow_ec_overwrites true" in text
        assert "pool nope" in refused(bench, "write-iops", f"rbd:{pool}", "--data-pool", "nope")
        lab.ceph("osd", "pool", "set", coded, "allow_ec_overwrites", "true")

        words = ["--data-pool", coded, "--shared-pool"]
        console = bench.start("write-iops", target=f"rbd:{pool}", words=words, **{**SMALL, "runtime": ENDLESS})
        console.wait_for_samples(2, seconds=60)
        (image,) = lab.rbd("ls", pool).split()
        info = json.loads(lab.rbd("info", "--format", "json", f"{pool}/{image}"))
        data = [name for name in lab.rados("--pool", coded, "ls").split() if name.startswith("rbd_data.")]
        assert info["data_pool"] == coded
        assert len(data) == 2  # 8 MiB
        assert "rbd_data" not in lab.rados("--pool", pool, "ls")
        console.process.send_signal(signal.SIGINT)
        assert console.wait() == 4, console.describe()

        console = bench.run("write-iops", target=f"rbd:{pool}", words=words, **SMALL)
        assert console.process.returncode == 0, console.describe()

        (run,) = console.runs
        assert (run["cluster"]["pool"]["name"], run["cluster"]["pool"]["type"]) == (coded, "erasure")
        assert run["cluster"]["pool"]["erasure_code_profile"] == profile
        assert lab.rados("--pool", coded, "ls").split() == ["rbd_info"]
        assert lab.rbd("ls", pool).split() == []
        # objects need no image
        objects = bench.run("rados-write", target=f"pool:{coded}", words=["--shared-pool"], runtime=2)
        assert findings(objects) is not None
        assert lab.rados("--pool", coded, "ls", "--all").split() == ["rbd_info"]
