"""Ceph's access that is only behind ``ceph_prefix``: when it is fetched, how it is noted and removed."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from cephtui.ceph import access
from cephtui.models import Node
from cephtui.nodes.local import LocalConnection
from cephtui.nodes.shell import NodeShell
from cephtui.paths import packaged_text
from cephtui.reports.drawn.plan import draw_plans
from cephtui.targets import TargetError, parse_target, target_kind
from cephtui.targets.access import AccessKind
from tests.support.drawings import printed
from tests.support.fakes import FakeNode
from tests.support.golden import Golden
from tests.unit.running.test_runner import Stage, new_stage, plan, undo_of

__all__ = ["new_stage"]

KUBECTL = ("kubectl", "-n", "rook-ceph", "exec", "-i", "deploy/rook-ceph-tools", "--")
ROOK = Node(name="k8s1", host="k8s1", ceph_prefix=KUBECTL)
TOKEN = "0123456789abcdef" * 2


@pytest.mark.parametrize(
    ("settings", "elsewhere"),
    [
        ({}, True),
        ({"prefix": ("sudo", "-n")}, True),
        ({"ceph_id": "bench"}, True),
        ({"prefix": KUBECTL}, False),
        ({"ceph_prefix": ()}, False),
        ({"ceph_conf": "/etc/ceph/ceph.conf"}, False),
        ({"ceph_keyring": "/etc/ceph/k"}, False),
        ({"ceph_mon_host": "10.0.0.1"}, False),
    ],
)
def test_it_is_fetched_where_a_node_has_none_of_its_own(settings: dict[str, object], elsewhere: bool) -> None:
    assert access.is_elsewhere(ROOK.model_copy(update=settings)) is elsewhere


def test_the_plan_has_the_command_that_fetches_it_for_tools_that_are_not_of_ceph_and_images(golden: Golden) -> None:
    fetched = plan(nodes=(ROOK,), target="rbd:bench")
    (node,) = fetched.steps[0].nodes
    assert node.access[: len(KUBECTL)] == KUBECTL
    assert node.access[-1] == "admin"
    what = node.writes[0].what
    assert all(value in what for value in ("client.admin", "ceph_prefix", "/etc/ceph"))
    golden.same(what)
    assert what in printed(draw_plans([fetched]))
    bench = ROOK.model_copy(update={"ceph_id": "bench"})
    assert plan(nodes=(bench,), target="rbd:bench").steps[0].nodes[0].access[-1] == "bench"
    for others in (
        plan(nodes=(ROOK,)),
        plan("rados-write", nodes=(ROOK,), target="pool:bench", set=("block-size=4M",)),
    ):
        assert others.steps[0].nodes[0].access == ()
        assert "access" not in others.steps[0].nodes[0].model_dump(mode="json")


# ---------------------------------------------------------------------------------------------- what is fetched

CONF = "[global]\n\tmon_host = 10.0.0.1\n\tkeyring = /etc/ceph/keyring\n"
KEYRING = '[client.bench]\n\tkey = AQcanary==\n\tcaps mon = "allow r"\n'


@pytest.mark.parametrize("may_ask", [True, False])
def test_what_is_printed_is_a_ceph_conf_and_a_keyring(tmp_path: Path, may_ask: bool, golden: Golden) -> None:
    script = packaged_text("cephtui.ceph", "access_fetch.sh").replace("/etc/ceph", str(tmp_path))
    (tmp_path / "ceph.conf").write_text(CONF)
    (tmp_path / "keyring").write_text(KEYRING)
    ceph = tmp_path / "bin" / "ceph"
    ceph.parent.mkdir()
    answers = f"case $* in *minimal*) echo '[global]'; echo mon_host = 10.0.0.2;; *) cat {tmp_path}/keyring;; esac"
    ceph.write_text(f"#!/bin/sh\n{answers if may_ask else 'echo denied >&2; exit 13'}\n")
    ceph.chmod(0o755)
    argv = ["sh", "-c", script, "cephtui-access", "bench"]
    environment = {"PATH": f"{ceph.parent}:{os.environ['PATH']}"}
    done = subprocess.run(argv, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert lines == ["[global]", f"mon_host = 10.0.0.{2 if may_ask else 1}", "[client.bench]", "key = AQcanary=="]
    (tmp_path / "keyring").write_text("")
    done = subprocess.run(argv, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 1
    if not may_ask:
        (tmp_path / "keyring").unlink()
        done = subprocess.run(argv, capture_output=True, text=True, env=environment, check=False)
        assert "client.bench" in done.stderr
        assert str(tmp_path) in done.stderr, "where a keyring may lie"
        golden.same(done.stderr)


# ---------------------------------------------------------------------------------------------- the undo list


async def test_it_is_noted_before_each_command_and_as_removed_after_it(new_stage: object, tmp_path: Path) -> None:
    assert callable(new_stage)
    stage: Stage = new_stage(plan(nodes=(Node(name="a", host="a", ceph_prefix=("box",)),)))
    whole = stage.plan
    (node,) = whole.steps[0].nodes
    step = whole.steps[0].model_copy(update={"nodes": (node.model_copy(update={"access": ("box", "cat")}),)})
    stage.plan = whole.model_copy(update={"steps": (step,)})
    run = await stage.run()
    assert run.outcome == "ok"
    undo = [each for each in undo_of(stage.directory) if each.target.startswith("ceph-access:")]
    assert [each.done for each in undo] == [False, True, False, True], "the prefill, then the run"
    assert len({each.target for each in undo}) == 2
    assert not [target for _, target in stage.bench.created if target.startswith("ceph-access:")]


def test_it_is_no_target(golden: Golden) -> None:
    assert isinstance(target_kind(f"ceph-access:{TOKEN}"), AccessKind)
    with golden.raises(TargetError):
        parse_target(f"ceph-access:{TOKEN}")


def test_what_a_killed_watchdog_has_left_is_removed_unless_the_run_still_lives(golden: Golden) -> None:
    folder = Path(f"/dev/shm/cephtui-{TOKEN}")
    folder.mkdir(0o700)
    (folder / "ceph.conf").write_text("canary")
    shell = NodeShell(Node(name="local"), LocalConnection())
    living = subprocess.Popen(["sleep", "60"], env={**os.environ, "CEPHTUI_RUN": TOKEN})
    try:
        removed = asyncio.run(AccessKind().remove(shell, TOKEN, None))
        assert removed.status == "busy"
        assert folder.exists()
    finally:
        living.kill()
        living.wait()
    for _ in range(2):  # the second time there is nothing
        assert asyncio.run(AccessKind().remove(shell, TOKEN, None)).status == "done"
        assert not folder.exists()
    golden.same(removed.text)


async def test_any_other_name_is_not_ours() -> None:
    host = FakeNode(Node(name="a"))
    for name in ("", "..", f"../{TOKEN}", TOKEN[1:], f"{TOKEN}0"):
        removed = await AccessKind().remove(NodeShell(host.node, await host.connect()), name, None)
        assert removed.status == "not ours"
    assert host.commands == []
