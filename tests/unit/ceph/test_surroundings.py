"""What a host has to measure, by its files: hosts of Proxmox VE 8 and 9, of cephadm, and one that has nothing."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from cephtui.ceph.corosync import ClusterNode, parse_corosync
from cephtui.ceph.surroundings import Surroundings, parse_surroundings, surroundings_argv
from cephtui.cli import neighbours
from cephtui.cli.neighbours import with_neighbours
from cephtui.cli.verbs import cli
from cephtui.config import Config
from cephtui.models import Node
from cephtui.running.runner import Runner
from cephtui.targets import parse_target
from cephtui.targets.discovery import known_nodes
from cephtui.targets.surroundings import candidates_in
from cephtui.tui.console.app import ConsoleApp
from cephtui.tui.console.start import Start
from tests import RECORDINGS
from tests.support.fakes import FakeNode
from tests.support.plans import FILE, catalogue
from tests.support.replayed import console_screen, screen_text, until

HOSTS = RECORDINGS / "hosts"
ADMIN = "/etc/ceph/ceph.client.admin.keyring"


def found(root: Path) -> Surroundings:
    done = subprocess.run(
        surroundings_argv(str(root)), capture_output=True, text=True, encoding="utf-8", errors="replace", check=True
    )
    assert done.stderr == ""
    return parse_surroundings(done.stdout)


def specs(around: Surroundings) -> list[str]:
    return [each.spec for each in candidates_in(around)]


def test_a_node_of_proxmox_8() -> None:
    around = found(HOSTS / "pve8")
    assert (around.host, around.proxmox, around.system.ids) == ("pve1", "8.2.4", ("debian",))
    # neither what is disabled, nor what another node has
    assert [f"{each.name} {each.type}" for each in around.storages] == [
        "local dir",
        "local-lvm lvmthin",
        "vm-pool rbd",
        "cephfs cephfs",
        "backup nfs",
        "away nfs",
        "usb dir",
    ]
    assert around.other_nodes == (ClusterNode("pve2", "10.0.0.2"), ClusterNode("pve3", "fd00::3"))
    assert around.has_ceph
    # neither of what is not mounted: its files would be on another disk
    assert specs(around) == [
        "rbd:vm-pool",
        "cephfs:/mnt/pve/cephfs/cephtui",
        "file:/var/lib/vz/cephtui",
        "file:/mnt/pve/backup/cephtui",
        "new-pool:pg=32,size=3",
    ]
    assert not [
        spec for each in candidates_in(around, served=False) if (spec := each.spec).startswith(("rbd", "new-pool"))
    ]


def test_a_node_of_proxmox_9_without_a_cluster_of_its_own() -> None:
    around = found(HOSTS / "pve9")
    assert (around.host, around.proxmox, around.other_nodes) == ("alone", "9.0.10", ())
    assert around.keyrings == ("/etc/pve/priv/ceph/far.keyring",)
    assert not around.is_admin
    far, *files = candidates_in(around)
    assert far.spec == "rbd:far"
    assert "--data-pool ecdata" in far.text
    assert "namespace tenant" in far.text
    assert [each.spec for each in files] == ["file:/var/lib/vz/cephtui", "file:/srv/fast/cephtui"]


def test_hosts_without_proxmox() -> None:
    cephadm, bare = found(HOSTS / "cephadm"), found(HOSTS / "bare")
    assert (cephadm.host, cephadm.proxmox, cephadm.keyrings) == ("ceph1", None, (ADMIN,))
    assert specs(cephadm) == ["cephfs:/srv/with blank/cephtui", "new-pool:pg=32,size=3"]
    assert (bare.system.name, bare.proxmox, bare.has_ceph, specs(bare)) == ("openSUSE Leap 15.6", None, False, [])


def test_files_that_are_none_or_huge_are_named_or_cut(tmp_path: Path) -> None:
    pve = tmp_path / "etc" / "pve"
    (pve / "storage.cfg").mkdir(parents=True)
    (pve / "corosync.conf").write_bytes(b"node {\n name: a\0\xff\n ring0_addr: \x1b[2J\n}\n" + b"x\n" * 1_000_000)
    around = found(tmp_path)
    assert around.unreadable == ("/etc/pve/storage.cfg",)
    assert (around.proxmox, around.storages, around.nodes) == ("", (), ())


@given(st.text(), st.text())
def test_any_text_is_an_answer(text: str, more: str) -> None:
    rows = [*(f"{key}\t{text}" for key in ("storage", "corosync", "release", "mount", "conf")), more]
    candidates_in(parse_surroundings("\n".join(("proxmox\t8", *rows, "done\t"))))
    parse_corosync(text)


def test_a_name_that_no_host_can_have_is_no_node(tmp_path: Path) -> None:
    for name in ("pve1", "-oProxyCommand=x", "$(x)"):
        (tmp_path / "etc/pve/nodes" / name).mkdir(parents=True)
    assert found(tmp_path).nodes == (ClusterNode("pve1"),)


def test_an_answer_that_was_cut_off() -> None:
    with pytest.raises(ValueError, match="unexpected answer"):
        parse_surroundings("host\tpve1\n")


def test_nodes_of_the_cluster_can_be_named_unless_the_ssh_configuration_has_them(tmp_path: Path) -> None:
    ssh_config = tmp_path / "ssh_config"
    ssh_config.write_text("Host pve3\n  User bench\n")
    config = with_neighbours(Config(ssh_config=str(ssh_config)), HOSTS / "pve8")
    (node,) = config.choose(["pve2"])
    assert (node.host, node.user, node.ssh_config) == ("10.0.0.2", "root", str(ssh_config))
    assert "pve3" not in config.neighbours
    texts = {each.name: each.text for each in known_nodes(config)}
    assert texts["pve2"] == "Proxmox VE node, root@10.0.0.2"
    assert texts["pve3"] == "from the SSH configuration"
    # a corosync cluster of something else, and a host without one
    (tmp_path / "etc" / "corosync").mkdir(parents=True)
    (tmp_path / "etc" / "corosync" / "corosync.conf").write_text("node {\n name: a\n ring0_addr: b\n}\n")
    assert with_neighbours(Config(), tmp_path) == with_neighbours(Config(), HOSTS / "bare") == Config()


def test_a_shell_completes_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "ROOT", HOSTS / "pve8")
    monkeypatch.setenv("HOME", str(tmp_path))
    env = {"_CEPHTUI_COMPLETE": "bash_complete", "COMP_WORDS": "cephtui doctor --node pve", "COMP_CWORD": "3"}
    done = CliRunner().invoke(cli, prog_name="cephtui", env=env)
    assert done.output.split() == ["plain,pve1", "plain,pve2", "plain,pve3"]


# ---------------------------------------------------------------------------------------------- in the console


async def test_the_first_screen_offers_what_there_is(tmp_path: Path) -> None:
    node = FakeNode(Node(name="local"))
    answer = subprocess.run(surroundings_argv(str(HOSTS / "pve8")), capture_output=True, text=True, check=True)
    node.answer(lambda argv: "cephtui-surroundings" in argv, answer.stdout)
    start = Start((node.node,), parse_target(FILE), looks_around=True)
    with Runner(tmp_path / "sessions", connect_node=lambda _, answers: node.ask(answers)) as runner:
        app = ConsoleApp(catalogue(), start, runner, tmp_path / "sessions")
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: "Proxmox VE node pve1" in screen_text(app))
            assert "t offers rbd:vm-pool, cephfs:/mnt/pve/cephfs/cephtui and 3 more\n" in screen_text(app)
            assert "n offers pve2, pve3\n" in screen_text(app)
            assert {"vm-pool", "pve2"} <= {*console_screen(app).names_to_hide()}
            await pilot.press("t")
            await until(pilot, lambda: "storage vm-pool: new images" in screen_text(app))
            await pilot.press(*"vm-pool", "enter")
            await until(pilot, lambda: "Target: rbd:vm-pool" in screen_text(app))
