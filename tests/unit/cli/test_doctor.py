"""``cephtui doctor``: what a host is called ready for, what is missing there, and the command that installs it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cephtui.analysis.detectors import host
from cephtui.analysis.detectors.host import ClusterFacts, Examined, Folder, Machine
from cephtui.cli.verbs import cli
from cephtui.cluster import facts
from cephtui.models import Node, NodeEnvironment
from cephtui.models.host import HostRow
from cephtui.nodes.transport import Completed
from cephtui.reports.render.rich import draw
from cephtui.reports.views.host import host_view
from cephtui.targets.surroundings import candidates_in
from tests.support.clusters import RecordedShell
from tests.support.drawings import printed
from tests.support.known import known
from tests.unit.ceph.test_surroundings import HOSTS, found

GIB = 1 << 30
MACHINE = Machine(
    python="3.11.2",
    colors="256",
    ascii_only=False,
    size=(80, 24),
    folders=tuple(Folder(name, f"/root/{name}", free_bytes=12 * GIB) for name in ("sessions", "config", "cache")),
    clipboard="copied text stays in tmux (set-clipboard external)",
    clipboard_cure="tmux set -g set-clipboard on",
    keys=("id_rsa",),
)
TOOLS = {"fio": "fio-3.33", "dd": "dd (coreutils) 9.1", "iperf3": "iperf 3.12 (cJSON 1.7.15)"}
CEPH = {"ceph": "ceph version 18.2.4 (2064df84) reef (stable)"}
HEALTHY = ClusterFacts("HEALTH_OK", "18.2.4", 3)


def examined(tree: str, tools: Mapping[str, str], cluster: ClusterFacts | None = None, **more: Any) -> Examined:
    """A host of the recorded ones, with these programs."""
    around = replace(found(HOSTS / tree), programs=frozenset(), versions={"ssh": "OpenSSH_9.2p1"})
    environment = NodeEnvironment(hostname=around.host, os=around.system.name, kernel="6.8.12-4-pve", tools=dict(tools))
    targets = {"": "a scratch file in the cache", **{each.spec: each.text for each in candidates_in(around)}}
    alone = not around.other_nodes
    return Examined(Node(name="local"), environment, "", around, cluster, targets, **{"alone": alone, **more})


def rows_of(*nodes: Examined, machine: Machine = MACHINE) -> dict[str, HostRow]:
    return {row.what: row for row in host.host_rows(machine, nodes)}


def drawn(rows: Sequence[HostRow], width: int = 80) -> list[str]:
    return [line.rstrip() for line in printed(draw(host_view(rows).document()), width).splitlines()]


def test_a_node_of_proxmox_is_seen_at_once() -> None:
    rows = rows_of(examined("pve8", TOOLS | CEPH, HEALTHY))
    assert host.can_measure(rows.values())
    lines = drawn([*rows.values()])
    assert len(lines) < 24
    text = "\n".join(lines)
    assert "Ceph     ok 18.2.4, HEALTH_OK, 3 OSDs, as client.admin (/etc/ceph/ceph.conf)" in lines
    assert "Proxmox  ok VE 8.2.4, node pve1, with pve2, pve3" in lines
    assert "$  cephtui run write-iops --target rbd:vm-pool --dry-run" in text
    assert "no ioping is not installed: apt-get install ioping" in text
    wide = " ".join("\n".join(drawn([*rows.values()], 180)).split())
    assert "--target rbd:vm-pool --dry-run # storage vm-pool: new images" in wide


def test_only_what_the_host_is_for_is_called_missing() -> None:
    one = rows_of(examined("bare", {"fio": "fio-3.33"}))
    optional = {what for what, row in one.items() if row.status == "optional"}
    assert {"iperf3", "hsbench", "gosbench", "curl", "ceph, rados, rbd", "cluster"} <= optional
    assert "keys" not in one
    gateways = replace(HEALTHY, gateways=("http://10.0.0.1:7480",))
    several = rows_of(examined("pve8", {"fio": "fio-3.33"}, gateways))
    missing = {what for what, row in several.items() if row.status == "missing"}
    assert missing == {"ioping", "iperf3", "hsbench", "gosbench", "dd", "curl", "ceph, rados, rbd"}
    assert several["hsbench"].cure.startswith("build it from")


@pytest.mark.parametrize(
    ("tree", "package", "command"),
    [
        ("pve8", "fio", "apt-get install fio"),
        ("cephadm", "fio", "dnf install fio"),
        ("cephadm", "openssh-client", "dnf install openssh-clients"),
        ("cephadm", "ceph-common", "cephadm add-repo --release RELEASE && cephadm install ceph-common"),
        ("bare", "fio", "zypper install fio"),
    ],
)
def test_the_command_that_installs_is_that_of_the_distribution(tree: str, package: str, command: str) -> None:
    around = replace(found(HOSTS / tree), programs=frozenset({"cephadm"}))
    assert host.install(around, package) == command


def test_a_distribution_that_is_not_known_is_known_by_its_programs() -> None:
    around = replace(found(HOSTS / "bare"), system=type(found(HOSTS / "bare").system)())
    assert host.install(replace(around, programs=frozenset({"dnf"})), "fio") == "dnf install fio"
    assert host.install(replace(around, programs=frozenset()), "fio") == "install the package fio"


def test_it_is_not_ready_without_fio_or_a_place_for_data() -> None:
    rows = rows_of(examined("cephadm", CEPH, HEALTHY))
    assert not host.can_measure(rows.values())
    assert drawn([*rows.values()])[0] == "Not ready to measure: fio is not installed: dnf install fio"
    cache = Folder("cache", "/root/cache", "/root can't be written")
    full = Folder("cache", "/root/cache", free_bytes=GIB - 1)
    for folder in (cache, full):
        machine = replace(MACHINE, folders=(*MACHINE.folders[:2], folder))
        rows = rows_of(examined("bare", TOOLS), machine=machine)
        assert (rows["cache"].status, host.can_measure(rows.values())) == ("missing", False)
        assert rows["cache"].cure


def test_a_node_that_is_not_reached_is_not_ready() -> None:
    away = Examined(Node(name="pve2", host="10.0.0.2"), problem="pve2: no route to host", alone=False)
    rows = rows_of(examined("pve8", TOOLS | CEPH, HEALTHY), away)
    assert not host.can_measure(rows.values())
    assert rows["node"].problem == "pve2: no route to host"
    assert drawn([*rows.values()])[0] == "Not ready to measure: pve2: no route to host"
    without = replace(examined("cephadm", CEPH), node=Node(name="ceph1", host="10.0.0.7"))
    lines = drawn(host.host_rows(MACHINE, [examined("pve8", TOOLS), without]))
    assert lines[0] == "Not ready to measure: ceph1: fio is not installed: dnf install fio"
    assert [line for line in lines if line in ("local", "ceph1")] == ["local", "ceph1"]
    assert not any("--dry-run" in line for line in lines)


def test_a_proxmox_whose_files_do_not_answer_is_unknown() -> None:
    stuck = replace(examined("pve8", TOOLS), surroundings=None, problem="local: no answer within 10 s: bash")
    rows = rows_of(stuck)
    assert (rows["storages"].status, rows["storages"].problem) == ("unknown", stuck.problem)
    assert host.can_measure(rows.values())


async def test_a_cluster_that_does_not_answer_is_unknown_after_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent(RecordedShell):
        async def ceph(self, argv: Sequence[str], *, timeout_seconds: float = 30.0) -> Completed:
            await asyncio.Event().wait()
            raise AssertionError

    monkeypatch.setattr(facts, "_ANSWER_SECONDS", 0.01)
    silent = await facts.cluster_facts(Silent())
    assert silent.problem.startswith("the cluster did not answer within")
    row = rows_of(examined("pve8", TOOLS | CEPH, silent))["cluster"]
    assert (row.status, row.cure) == ("unknown", silent.remedy)


async def test_a_cluster_that_answers() -> None:
    seen = await facts.cluster_facts(RecordedShell("healthy"))
    assert (seen.health, seen.osds > 0, seen.problem) == ("HEALTH_OK", True, "")


def test_the_verb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CEPHTUI_DATA_DIR", str(tmp_path / "data"))
    done = CliRunner().invoke(cli, ["doctor", "--json"], standalone_mode=False)
    rows = {row["what"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert (done.return_value, rows["fio"]["status"]) == (0, "works")
    assert rows["a scratch file"]["cure"] == "cephtui run write-iops --dry-run"
    assert known(rows["sessions"])["facts"]["path"] == str(tmp_path / "data" / "sessions")
    assert not (tmp_path / "data").exists(), "it only reads"
    empty = tmp_path / "bin"
    empty.mkdir()
    (empty / "bash").symlink_to("/bin/bash")
    monkeypatch.setenv("PATH", str(empty))
    done = CliRunner().invoke(cli, ["doctor"], standalone_mode=False)
    assert done.return_value == 1
    assert done.stdout.startswith("Not ready to measure: fio is not installed: ")
