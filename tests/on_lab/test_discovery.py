"""What a node of the lab offers: real pools, images and devices, each refused or asked for as a run would."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from cephtui import config
from cephtui.ceph.answers import is_denied
from cephtui.ceph.commands import TIMED_OUT, parse_answers, script_argv
from cephtui.models import Node
from cephtui.running.runner import Runner
from cephtui.targets.candidates import Candidate
from cephtui.targets.discovery import known_nodes
from tests.lab import Lab
from tests.on_lab.others import erasure_profile, opened, pool_on
from tests.on_lab.runs import Bench
from tests.support import disks

pytestmark = pytest.mark.essential
MIB = 1 << 20


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    with Runner(tmp_path / "sessions") as running:
        yield running


def node_of(bench: Bench, name: str = "lab1", **more: str) -> Node:
    (node,) = config.load_config(bench.config, required=True).choose([name])
    return node.model_copy(update=more)


def found(runner: Runner, node: Node, of: str) -> tuple[dict[str, Candidate], str]:
    seen: dict[str, Candidate] = {}
    problem = runner.nodes.discover(node, of, lambda some: seen.update({one.spec: one for one in some})).result(60)
    return seen, problem


def test_pools_and_their_images(bench: Bench, runner: Runner) -> None:
    rbd, node = bench.lab.rbd, node_of(bench)
    with ExitStack() as stack:
        own = stack.enter_context(pool_on(bench.lab))
        erasure = stack.enter_context(pool_on(bench.lab, profile=stack.enter_context(erasure_profile(bench.lab))))
        for name in ("vm-100-disk-0", "data", "watched", "kept"):
            rbd("create", "--size", "16", f"{own}/{name}")
        rbd("snap", "create", "--no-progress", f"{own}/kept@before")
        stack.enter_context(opened(bench.lab, f"{own}/watched"))

        pools, pool_problem = found(runner, node, "pools")
        images, problem = found(runner, node, f"rbd:{own}")
        none, no_images = found(runner, node, f"rbd:{erasure}")

    assert (pool_problem, problem) == ("", "")
    assert {f"rbd:{bench.lab.pool}", f"pool:{bench.lab.pool}", f"rbd:{own}", f"pool:{own}"} <= set(pools)
    assert pools[f"rbd:{own}"].reason is None
    assert pools[f"rbd:{own}"].text.startswith("new images, replicated x1, 8 PGs, ")
    assert "room" in pools[f"pool:{own}"].text
    assert f"pool {erasure} " in str(pools[f"rbd:{erasure}"].reason)
    assert "erasure-coded" in str(pools[f"rbd:{erasure}"].reason)
    assert pools[f"pool:{erasure}"].reason is None
    reasons = {spec.rpartition("/")[2]: candidate.reason for spec, candidate in images.items()}
    assert reasons["data"] is None
    assert images[f"rbd:{own}/data"].text.startswith("image of 16.0 MiB, ")
    assert f"image {own}/vm-100-disk-0 " in str(reasons["vm-100-disk-0"])
    assert "guest" in str(reasons["vm-100-disk-0"])
    assert f" {bench.lab.address('ceph')}:" in str(reasons["watched"])
    assert str(reasons["kept"]).endswith(": before")
    assert none == {}
    assert f"pool {erasure} " in no_images


def test_what_a_restricted_key_is_offered(bench: Bench, runner: Runner) -> None:
    restricted = {"ceph_id": bench.lab.restricted_id, "ceph_keyring": str(bench.lab.restricted_keyring)}
    node = node_of(bench, **restricted)
    with pool_on(bench.lab) as own:
        bench.lab.rbd("create", "--size", "16", f"{own}/data")

        pools, problem = found(runner, node, "pools")
        images, denied = found(runner, node, f"rbd:{own}")

    assert problem == ""
    assert pools[f"rbd:{bench.lab.pool}"].reason is None
    assert images == {}
    assert f"pool {own}: " in denied
    assert "permission" in denied


def test_devices(bench: Bench, runner: Runner) -> None:
    with bench.lab.loop_device(64 * MIB) as free, bench.lab.loop_device(64 * MIB) as used:
        subprocess.run(["mkfs.ext4", "-q", str(used)], check=True, capture_output=True)

        with disks.undisturbed():
            devices, problem = found(runner, node_of(bench), "devices")

    assert problem == ""
    assert devices[f"device:{free}"].reason is None
    assert devices[f"device:{free}"].text.startswith("64.0 MiB on ")
    assert devices[f"device:{free}"].text.endswith(", needs confirmation")
    assert devices[f"device:{used}"].reason == f"{used} contains an ext4 file system"
    whole = subprocess.run(["findmnt", "-no", "SOURCE", "/"], check=True, capture_output=True, text=True).stdout.strip()
    if f"device:{whole}" in devices:
        assert devices[f"device:{whole}"].reason


def test_a_node_without_a_way_to_ceph(bench: Bench, runner: Runner) -> None:
    bench.configure(lab1={"ceph_conf": None, "ceph_keyring": None, "ceph_id": None})

    pools, problem = found(runner, node_of(bench), "pools")

    assert set(pools) == {"host:*"}, "but for the network it takes Ceph"
    assert "cluster" in problem


def test_the_labs_nodes_are_known(bench: Bench) -> None:
    known = {node.name: node for node in known_nodes(config.load_config(bench.config, required=True))}

    assert {"local", *bench.lab.nodes} <= set(known)
    assert known["lab"].members == tuple(bench.lab.nodes)


@pytest.mark.parametrize("user", ["admin", "restricted", "unknown"])
def test_several_commands_at_once_have_the_answers_of_each_alone(lab: Lab, user: str) -> None:
    keyring, name = {
        "admin": (lab.ceph_keyring, "admin"),
        "restricted": (lab.restricted_keyring, lab.restricted_id),
        "unknown": (lab.ceph_keyring, "unknown"),
    }[user]
    access = ["env", f"CEPH_CONF={lab.ceph_conf}", f"CEPH_KEYRING={keyring}", f"CEPH_ARGS=--id {name}"]
    commands = [
        ("ceph", "osd", "dump", "-f", "json"),
        ("ceph", "config", "get", "osd", "osd_op_queue"),
        ("ceph", "osd", "tree", "down", "-f", "json"),
        ("ceph", "osd", "crush", "rule", "dump", "-f", "json"),
        ("ceph", "versions", "-f", "json"),
    ]
    if user == "admin":  # the monitors forward them for a key that the manager itself would refuse
        commands.append(("ceph", "pg", "dump", "pgs_brief", "-f", "json"))
        commands.append(("ceph", "osd", "pool", "stats", "nope", "-f", "json"))
    done = lab.on("lab1", *access, *script_argv(commands))
    if user == "unknown":
        assert done.returncode not in (0, TIMED_OUT), "ceph itself is to say why"
        return
    assert done.returncode == 0, done.stderr
    for command, (status, output, error) in zip(commands, parse_answers(done.stdout, len(commands)), strict=True):
        alone = lab.on("lab1", *access, *command)
        assert (status, output.strip()) == (alone.returncode, alone.stdout.strip()), error
        assert is_denied(status, error) == is_denied(alone.returncode, alone.stderr)
