"""What Ceph's releases answer, as it was recorded under one load: the same readers read all of them."""

from __future__ import annotations

import json
import lzma
import re
from collections import Counter
from typing import Any

import pytest

from cephtui.ceph import answers, cluster, pools, rates
from cephtui.tools import TOOLS
from cephtui.tools.load_gen.output import LoadGenParser
from cephtui.tools.rbd_bench.output import RbdBenchParser
from tests import RECORDINGS
from tests.recordings.pieces import Piece, parsed
from tests.support.known import known

FOLDER = RECORDINGS / "releases"
RELEASES = sorted(path.name for path in FOLDER.iterdir())
POOL, POOLS_PGS, MIB = "recorded", 8, 1 << 20
every_release = pytest.mark.parametrize("release", RELEASES)


def said(release: str, name: str) -> str:
    path = FOLDER / release / f"{name}.stdout"
    packed = path.with_name(f"{path.name}.xz")
    return lzma.decompress(packed.read_bytes()).decode() if packed.exists() else path.read_text()


def document(release: str, name: str) -> Any:
    return json.loads(said(release, name))


def test_the_releases_are_those_of_debian() -> None:
    assert [re.sub(r"\.\d+$", "", release) for release in RELEASES] == ["ceph-16.2", "ceph-18.2", "ceph-20.2"]


@every_release
def test_the_state_of_the_cluster(release: str) -> None:
    state = cluster.parse_status(said(release, "status"))
    assert (state.health, state.checks) == ("HEALTH_OK", ())
    assert (state.osds, state.osds_up, state.osds_in) == (3, 3, 3)
    assert sum(state.pg_states.values()) == state.pgs > POOLS_PGS
    assert all(cluster.is_clean(name) for name in state.pg_states)
    assert (state.monitors, state.monitors_in_quorum) == (1, 1)
    assert state.write_iops > 100
    assert state.write_bytes > 100 * 4096
    assert state.recovery_bytes == 0
    assert {*cluster.parse_versions(said(release, "versions"))} == {release.removeprefix("ceph-")}


@every_release
def test_pools_pgs_and_osds(release: str) -> None:
    osd_map = pools.parse_osd_map(said(release, "osd-map"))
    pool = osd_map.pools[POOL]
    assert (pool.kind, pool.pg_num, pool.raw_per_byte) == ("replicated", POOLS_PGS, 2.0)
    assert osd_map.fsid == cluster.parse_status(said(release, "status")).fsid
    assert pools.parse_crush_rules(said(release, "crush-rules"))[pool.crush_rule].failure_domain == "osd"
    assert pools.parse_usage(said(release, "usage"))[POOL].stored > 100 * MIB
    osds = pools.parse_osd_usage(said(release, "osd-df"))
    assert [(osd.id, osd.total) for osd in osds] == [(osd, 6 << 30) for osd in range(3)]
    pgs = [pg for pg in pools.parse_pgs(said(release, "pgs-brief")) if pg.pool == pool.id]
    assert len(pgs) == POOLS_PGS
    assert {len(pg.osds) for pg in pgs} == {2}
    dumped = document(release, "pg-dump")["pg_map"]["pg_stats"]
    assert Counter(pg["pgid"].partition(".")[0] for pg in dumped)[str(pool.id)] == POOLS_PGS


@every_release
def test_the_present_load(release: str) -> None:
    found = rates.parse_pool_stats(said(release, "pool-stats"), POOL)
    assert found.write_iops > 100
    assert (found.read_iops, found.recovery_bytes) == (0, 0)
    latency = known(rates.osd_latency_of(answers.json_object(said(release, "osd-perf"))))
    assert {*latency.seconds} == {0, 1, 2}


@every_release
def test_rados_bench(release: str) -> None:
    for name, mode, flow in (("rados-write", "write", "write"), ("rados-rand", "rand", "read")):
        tool, text = TOOLS["rados-bench"], said(release, name)
        parser = tool.bind(tool.check_options({"mode": mode, "runtime": 5})).parser(ramp=False, seconds=5.0)
        readings, result = parsed(parser, [("stdout", 6.0, text.encode())])
        total = known(getattr(result, flow))
        made = known(re.search(r"^Total (?:writes|reads) made: +(\d+)", text, re.MULTILINE))
        assert (total.ios, total.bytes) == (int(made[1]), int(made[1]) * 65536)
        average = known(re.search(r"^Average IOPS: +(\d+)", text, re.MULTILINE))
        assert total.iops == pytest.approx(float(average[1]), abs=1)
        assert len(readings) >= 4
        assert result.error is None


@every_release
def test_rbd_bench(release: str) -> None:
    text = said(release, "rbd-bench")
    readings, result = parsed(RbdBenchParser(None), [("stdout", 22.0, text.encode())])
    ops = known(re.search(r"^elapsed: .* ops: +(\d+) +ops/sec: +([\d.]+)", text, re.MULTILINE))
    assert known(result.write).ios == int(ops[1])
    assert known(result.write).iops == pytest.approx(float(ops[2]), rel=0.001)
    assert result.error is None
    assert readings


@every_release
def test_load_gen(release: str) -> None:
    text = said(release, "load-gen")
    lines = text.encode().splitlines(keepends=True)
    pieces: list[Piece] = [("stdout", 5.0 * number / len(lines), line) for number, line in enumerate(lines)]
    _, result = parsed(LoadGenParser(4.0), pieces)
    completed = len(re.findall(r"^op \d+ completed", text, re.MULTILINE))
    done = [known(known(flow).ios) for flow in (result.read, result.write)]
    assert sum(done) == completed > 0
    assert result.error is None


@every_release
def test_counters_and_the_slowest_operations_are_there(release: str) -> None:
    """Their names are Ceph's own, and the same in all of them but for BlueStore's."""
    osd = document(release, "perf-osd")["osd"]
    stages = ("op_w_latency", "op_w_process_latency", "op_w_prepare_latency", "subop_w_latency")
    assert all(osd[name]["avgcount"] > 0 and osd[name]["sum"] > 0 for name in stages)
    store = document(release, "perf-bluestore")["bluestore"]
    assert all(store[f"{name}_lat"]["avgcount"] > 0 for name in ("state_kv_queued", "state_kv_commiting"))
    assert ("txc_commit_lat" in store) != ("commit_lat" in store)
    (throttle,) = document(release, "perf-message-throttle").values()
    assert throttle["max"] == 256
    assert {"get_or_fail_fail", "get_or_fail_success", "wait"} <= {*throttle}
    slowest = document(release, "historic-ops")["ops"]
    assert any("rbd_data." in one["description"] for one in slowest)
    assert all({"time", "event"} <= {*event} for one in slowest for event in one["type_data"]["events"])
    pings = document(release, "osd-network")["entries"]
    assert {(ping["from osd"], ping["to osd"], ping["interface"]) for ping in pings} == {
        (1, peer, interface) for peer in (0, 2) for interface in ("front", "back")
    }
    assert all(ping["average"]["1min"] > 0 for ping in pings)
