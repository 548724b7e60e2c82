"""new-pool: what may be asked for, what is refused before it is made, who uses it how, and how it is deleted."""

from __future__ import annotations

import json
import os
import random
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.ceph.crush_tree import parse_tree
from cephtui.ceph.new_pool import Shape, claim_argvs, delete_argv, guard_shape, make_argvs, new_pool_room, parse_shape
from cephtui.ceph.pool_guards import Space, guard_space
from cephtui.ceph.pools import CrushRule, OsdMap, OsdUsage, Pg, Pool, PoolUsage
from cephtui.ordering import by_kind, place
from cephtui.paths import packaged_suites_dir
from cephtui.suites import Suite, find_suites
from cephtui.targets import TargetError, parse_target, removal_groups, target_kind
from cephtui.targets.new_pool import NewPool
from cephtui.tools import TOOLS
from cephtui.tools.base import OptionError
from tests.support.golden import Golden
from tests.support.plans import catalogue, plan

OWNER = "0a1b2c3d"
POOL = f"cephtui-{OWNER}-pg32-size2"
TREE = parse_tree(
    json.dumps(
        {
            "nodes": [
                {"id": -1, "name": "default", "type": "root", "children": [-2, -3]},
                {"id": -2, "name": "a", "type": "host", "children": [0, 1]},
                {"id": -3, "name": "b", "type": "host", "children": [2, -1]},
                *(
                    {"id": n, "name": f"osd.{n}", "type": "osd", "device_class": "ssd" if n else "hdd"}
                    for n in range(3)
                ),
            ]
        }
    )
)
RULES = {
    0: CrushRule(0, "replicated_rule", ("default",), "host"),
    1: CrushRule(1, "ssd", ("default~ssd",), "osd"),
    2: CrushRule(2, "ec", ("default",), "osd", is_erasure=True),
}
MAP = OsdMap(
    {"other": Pool(1, "other", size=3, pg_num=32)},
    ec_profiles={"wide": {"k": "4", "m": "2", "crush-failure-domain": "osd"}, "small": {"k": "1", "m": "1"}},
)


# ---------------------------------------------------------------------------------------------- what it is to be


@pytest.mark.parametrize(
    ("text", "shape", "written"),
    [
        ("size=2", Shape(size=2), "pg=32,size=2"),
        ("rule=ssd,pg=8", Shape(pg=8, rule="ssd"), "pg=8,size=3,rule=ssd"),
        ("ec=wide,pg=16", Shape(pg=16, ec="wide"), "pg=16,ec=wide"),
        ("k=2,m=1", Shape(k=2, m=1), "pg=32,k=2,m=1,domain=host"),
        ("k=2,m=1,domain=osd,rule=ec", Shape(k=2, m=1, domain="osd", rule="ec"), "pg=32,k=2,m=1,domain=osd,rule=ec"),
    ],
)
def test_a_pool_is_what_is_written(text: str, shape: Shape, written: str) -> None:
    assert parse_shape(text) == shape == parse_shape(written)
    assert parse_target(f"new-pool:{text}").spec == f"new-pool:{written}"


@pytest.mark.parametrize(
    "text",
    [
        *("size", "size=0", "size=x", "pg=0", "size=3,size=2", "colour=red", "size=3,ec=a", "k=2", "m=1", "domain=osd"),
        *("rule=--force", "ec=", "size=3,", "rule=a b", "size=\u0663", POOL),
    ],
)
def test_anything_else_is_refused_with_what_was_expected(text: str) -> None:
    with pytest.raises(TargetError, match=r"^target 'new-pool:.*': "):
        parse_target(f"new-pool:{text}")


@given(st.text(max_size=40))
def test_any_text_is_a_shape_or_a_value_error(text: str) -> None:
    try:
        shape = parse_shape(text)
    except ValueError:
        return
    assert parse_shape(shape.text) == shape


def test_it_is_made_with_its_number_of_pgs_fixed() -> None:
    (made,) = make_argvs(Shape(pg=8, size=2, rule="ssd"), "x")
    assert " ".join(made) == "ceph osd pool create x 8 8 replicated ssd --size 2 --autoscale-mode off"
    profile, coded = make_argvs(Shape(k=2, m=1, domain="osd"), "x")
    assert " ".join(profile) == "ceph osd erasure-code-profile set x k=2 m=1 crush-failure-domain=osd"
    assert " ".join(coded) == "ceph osd pool create x 32 32 erasure x --autoscale-mode off"
    assert len(make_argvs(Shape(ec="wide"), "x")) == 1
    assert claim_argvs("x", "me")[-1][-2:] == ("session", "me")


# ---------------------------------------------------------------------------------------------- refused before


@pytest.mark.parametrize(
    ("shape", "refused"),
    [
        (Shape(size=2), False),
        (Shape(size=3), True),
        (Shape(size=2, rule="ssd"), False),
        (Shape(size=3, rule="ssd"), True),
        (Shape(rule="nope"), True),
        (Shape(ec="nope"), True),
        (Shape(ec="small"), False),
        (Shape(ec="wide"), True),
        (Shape(k=2, m=1, domain="osd"), False),
        (Shape(k=2, m=1), True),
        (Shape(pg=400, size=2), True),
        (Shape(pg=327, size=2), False),
    ],
)
def test_what_would_never_be_clean_is_refused_with_the_next_step(shape: Shape, refused: bool, golden: Golden) -> None:
    refusal = guard_shape(shape, MAP, RULES, TREE, 3, 250)
    assert bool(refusal) == refused
    if refusal:
        golden.same(refusal.text)


def test_what_could_not_be_asked_refuses_nothing() -> None:
    assert guard_shape(Shape(size=9, rule="x"), MAP, None, None, 30, 250) is None


# ---------------------------------------------------------------------------------------------- room in it


def usages(*gib: int, used: int = 0) -> list[OsdUsage]:
    return [OsdUsage(number, size << 30, used << 30) for number, size in enumerate(gib)]


@pytest.mark.parametrize(
    ("shape", "osds", "part"),
    [
        (Shape(pg=8, size=1), usages(100, 100, 100), 0.85 * 0.8),  # all of its PGs may be on one OSD
        (Shape(pg=32, size=3), usages(100, 100, 100), 0.85 * 0.8),  # each OSD has them all
        (Shape(pg=32, size=2), usages(100, 100, 100), 0.85 * 0.8),
        (Shape(k=2, m=1, domain="osd"), usages(100, 100, 100), 2 * 0.85 * 0.8),
        (Shape(pg=512, size=1, rule="ssd"), usages(1, 100, 100), 512 / (256 + 4 * 16 + 3) * 0.85 * 0.8),
        (Shape(pg=1024, size=1), usages(100, 100, 200), 1024 / (256 + 4 * 16 + 3) * 0.85 * 0.8),
        (Shape(pg=8, size=3), usages(100, 100, 100, used=80), 0.05 * 0.8),
        (Shape(pg=8, size=3), usages(100, 100, 100, used=90), 0),
    ],
)
def test_a_new_pool_has_room_wherever_its_pgs_will_be(shape: Shape, osds: list[OsdUsage], part: float) -> None:
    assert new_pool_room(shape, MAP, RULES, TREE, osds) == pytest.approx(part * (100 << 30), rel=1e-6)


def test_room_on_osds_that_could_not_be_asked_is_unknown() -> None:
    assert new_pool_room(Shape(), MAP, RULES, TREE, None) is None
    assert new_pool_room(Shape(), MAP, None, None, usages(100, 100, 100)) is not None


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("number", [3, 12, 100])
@pytest.mark.parametrize("pgs", [1, 8, 32, 512])
def test_the_guards_allow_that_room_of_the_pool_once_it_is_made(pgs: int, number: int, size: int) -> None:
    chance = random.Random(1)
    osds = [OsdUsage(each, 100 << 30, chance.randrange(40) << 30) for each in range(number)]
    found = new_pool_room(Shape(pg=pgs, size=size), OsdMap({}), {}, None, osds)
    made = Pool(2, "made", size=size, pg_num=pgs)
    assert found is not None
    for _ in range(20):
        placed = [Pg(2, "active+clean", tuple(chance.sample(range(number), size))) for _ in range(pgs)]
        assert guard_space(Space(made, PoolUsage(0, 1 << 60), osds=osds, pgs=placed), found) is None


# ---------------------------------------------------------------------------------------------- who uses it how


@pytest.mark.parametrize(
    ("tool", "part"),
    [
        ("rados-bench", f"pool:{POOL}/cephtui-{OWNER}-"),
        ("fio", f"rbd:{POOL}/cephtui-{OWNER}-a-0"),
        ("rbd-bench", f"rbd:{POOL}/cephtui-{OWNER}-a-0"),
        ("load-gen", f"new-pool:{POOL}"),
    ],
)
def test_a_tool_uses_it_as_it_uses_any_pool(tool: str, part: str) -> None:
    preset = {"rados-bench": "rados-write", "fio": "latency", "rbd-bench": "rbd-bench-read", "load-gen": "load-gen"}[
        tool
    ]
    target = parse_target("new-pool:size=2", owner_id=OWNER)
    (first, *_) = plan(preset, nodes=("a",), target=target).steps
    assert first.target == "new-pool:pg=32,size=2"
    assert first.nodes[0].parts[0].spec.startswith(part)
    assert target.check_tool(TOOLS[tool]) is None
    assert target.new_pool is not None
    assert target.for_tool(TOOLS[tool]).pool == target.new_pool.pool_name == POOL


def test_what_overwrites_parts_of_objects_is_refused_in_an_erasure_coded_pool(golden: Golden) -> None:
    target = parse_target("new-pool:k=2,m=1", owner_id=OWNER)
    assert target.check_tool(TOOLS["rados-bench"]) is None
    for tool in ("fio", "rbd-bench", "load-gen"):
        why = target.check_tool(TOOLS[tool])
        assert "allow_ec_overwrites" in (why or "")
        golden.same(why)
    assert isinstance(target, NewPool)
    assert not any("allow_ec_overwrites" in argv for argv in make_argvs(target.shape, "x"))
    assert target.check_tool(TOOLS["ioping"]) == TOOLS["ioping"].other_kinds


def test_load_gen_gets_no_pool_of_others(golden: Golden) -> None:
    for target in ("pool:bench", "rbd:bench"):
        with golden.raises(OptionError):
            plan("load-gen", nodes=("a",), target=target)


def test_a_whole_suite_has_one_new_pool() -> None:
    suite = find_suites(packaged_suites_dir(), Path("/nonexistent"), catalogue())["three-nodes"]
    assert isinstance(suite, Suite)
    target = parse_target("new-pool:size=3", owner_id=OWNER)
    placed, left_out = place([replace(step, optional=True) for step in suite.steps], by_kind([[target]]))
    assert {each.step.preset.tool.name for each in placed} >= {"rados-bench", "load-gen", "rbd-bench", "fio"}
    assert not any("rados" in text or "rbd" in text for text in left_out)


def test_a_pool_is_removed_before_what_is_in_it() -> None:
    specs = [f"rbd:{POOL}/cephtui-x", "file:/x", f"new-pool:{POOL}", f"pool:{POOL}/cephtui-y"]
    assert removal_groups(specs, str) == [[specs[2]], [specs[0], specs[1], specs[3]]]
    assert removal_groups(specs[:1], str) == [specs[:1]]


async def test_only_what_is_named_as_cephtui_names_its_pools_is_deleted() -> None:
    kind = target_kind("new-pool:x")
    assert kind is not None
    for name, owner in (("bench", "me"), ("cephtui-x", "me"), (POOL, None), (f"{POOL}/image", "me")):
        removed = await kind.remove(None, name, owner)  # type: ignore[arg-type]  # nothing is asked
        assert removed.status == "not ours"


# ---------------------------------------------------------------------------------------------- deleted

CEPH = r"""#!/bin/bash
# a cluster in a folder: a file for each pool, and one for each setting and each key
cd "$CLUSTER" || exit 1
shift 2
echo "$*" >> log
case "$*" in
    "osd pool rm "*)
        allowed=$(cat config:mon.a 2>/dev/null || cat config:mon 2>/dev/null)
        [ "$allowed" = true ] || {
            echo "Error EPERM: pool deletion is disabled; set the mon_allow_pool_delete config option to true" >&2
            exit 1
        }
        rm -f "$4" ;;
    "mon dump"*) echo '{"epoch":1,"mons":[{"rank":0,"name":"a"},{"rank":1,"name":"b"}],"quorum":[0,1]}' ;;
    "config dump"*)
        printf '[{"section":"osd","name":"mon_allow_pool_delete","value":"wrong","mask":""}'
        for file in config:*; do
            [ ! -e "$file" ] || printf ',{"section":"%s","name":"mon_allow_pool_delete","value":"%s","mask":""}' \
                "${file#config:}" "$(cat "$file")"
        done
        echo "]" ;;
    "config set "*) printf %s "$5" > "config:$3" ;;
    "config rm "*) rm -f "config:$3" ;;
    "config-key exists "*) [ -e "key:${3//\//|}" ] || exit 2 ;;
    "config-key get "*) cat "key:${3//\//|}" ;;
    "config-key set "*) printf %s "$4" > "key:${3//\//|}" ;;
    "config-key rm "*) rm -f "key:${3//\//|}" ;;
    "config-key ls") for file in key:*; do file=${file#key:}; echo "\"${file//|//}\","; done ;;
esac
status=$?
case "$*" in "$KILL_AT"*) kill -KILL 0 ;; esac
exit "$status"
"""


class Cluster:
    def __init__(self, folder: Path, option: str | None) -> None:
        self.folder = folder / "cluster"
        self.folder.mkdir()
        program = folder / "ceph"
        program.write_text(CEPH)
        program.chmod(0o755)
        for name in (POOL, f"{POOL}-2", "bench"):
            (self.folder / name).touch()
        if option is not None:
            (self.folder / "config:mon").write_text(option)

    def begin(self, pool: str = POOL, **more: str) -> subprocess.Popen[bytes]:
        path = f"{self.folder.parent}:{os.environ['PATH']}"
        env = {**os.environ, "PATH": path, "CLUSTER": str(self.folder), "KILL_AT": "never", **more}
        argv = delete_argv([pool], f"made-with-{pool}")
        return subprocess.Popen(argv, env=env, stderr=subprocess.PIPE, start_new_session=True)

    def delete(self, pool: str = POOL, **more: str) -> int:
        with self.begin(pool, **more) as process:
            process.communicate()
        return process.returncode

    def state(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in self.folder.iterdir() if path.name != "log"}


def as_before(option: str | None, *pools: str) -> dict[str, str]:
    return {**dict.fromkeys((*pools, "bench"), ""), **({} if option is None else {"config:mon": option})}


@pytest.mark.parametrize("option", [None, "false", "true"])
def test_the_option_is_what_it_was_after_a_pool_is_deleted(tmp_path: Path, option: str | None) -> None:
    cluster = Cluster(tmp_path, option)
    assert cluster.delete() == 0
    assert cluster.state() == as_before(option, f"{POOL}-2")
    log = (cluster.folder / "log").read_text()
    assert ("config set" in log) == (option != "true"), "what is allowed anyway needs no setting"
    assert "config set mon " not in log
    assert f"osd crush rule rm made-with-{POOL}" in log
    assert f"osd erasure-code-profile rm made-with-{POOL}" in log


MOMENTS = ("config-key set", "config set mon.a", "config set mon.b", "osd pool rm", "config rm", "config-key rm")


@pytest.mark.parametrize("option", [None, pytest.param("false", marks=pytest.mark.matrix)])
@pytest.mark.parametrize("at", MOMENTS)
def test_after_a_kill_at_any_moment_the_next_one_puts_it_back(tmp_path: Path, at: str, option: str | None) -> None:
    cluster = Cluster(tmp_path, option)
    cluster.delete(KILL_AT=at)
    assert cluster.delete() == 0
    assert cluster.state() == as_before(option, f"{POOL}-2")
    assert cluster.delete() == 0, "twice is harmless"


@pytest.mark.parametrize("option", [None, pytest.param("false", marks=pytest.mark.matrix)])
@pytest.mark.parametrize("at", MOMENTS)
def test_a_deletion_that_was_killed_leaves_nothing_set_by_another(tmp_path: Path, at: str, option: str | None) -> None:
    cluster = Cluster(tmp_path, option)
    cluster.delete(KILL_AT=at)
    assert cluster.delete(f"{POOL}-2") == 0
    assert not {"config:mon.a", "config:mon.b"} & cluster.state().keys()
    assert cluster.delete() == 0
    assert cluster.state() == as_before(option)


@pytest.mark.parametrize("option", [None, "false"])
def test_deletions_at_the_same_time_leave_the_option_as_it_was(tmp_path: Path, option: str | None) -> None:
    cluster = Cluster(tmp_path, option)
    pools = [f"{POOL}-{number}" for number in range(3, 9)]
    for pool in pools:
        (cluster.folder / pool).touch()
    processes = [cluster.begin(pool) for pool in pools]
    for process in processes:
        _, stderr = process.communicate()
        assert process.returncode == 0, stderr
    assert cluster.state() == as_before(option, POOL, f"{POOL}-2")


def test_what_is_noted_by_an_earlier_version_is_put_back(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path, "true")
    (cluster.folder / "key:cephtui|mon_allow_pool_delete").write_text("unset")
    assert cluster.delete() == 0
    assert cluster.state() == as_before(None, f"{POOL}-2")


def test_a_monitors_own_setting_is_not_touched(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path, "true")
    (cluster.folder / "config:mon.a").write_text("false")
    with cluster.begin() as process:
        _, stderr = process.communicate()
    assert process.returncode == 1
    assert b"a monitor has a mon_allow_pool_delete of its own" in stderr
    assert cluster.state() == {**as_before("true", POOL, f"{POOL}-2"), "config:mon.a": "false"}
