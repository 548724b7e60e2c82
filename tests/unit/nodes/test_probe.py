"""A node that can't be asked, and programs that are not where the user has named them: why, in one line."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from cephtui.models import Node
from cephtui.nodes.local import LocalConnection
from cephtui.nodes.probe import parse_environment, probe, probe_argv
from cephtui.nodes.shell import NodeShell
from cephtui.nodes.transport import TransportError
from cephtui.tools import TOOLS
from tests.support.golden import Golden

SAYS = "echo 'sudo: a terminal is required to read the password' >&2; echo 'sudo: a password is required' >&2; exit 1"


def shell_of(tmp_path: Path, **more: object) -> NodeShell:
    sudo = tmp_path / "sudo"
    sudo.write_text(f"#!/bin/sh\n{SAYS}\n")
    sudo.chmod(0o755)
    node = Node.model_validate({"name": "n1", **more})
    return NodeShell(node, LocalConnection(node))


async def test_a_prefix_that_fails_is_named_with_what_it_says(tmp_path: Path, golden: Golden) -> None:
    for name in ("prefix", "ceph_prefix"):
        with pytest.raises(TransportError) as error:
            await probe(shell_of(tmp_path, **{name: (f"{tmp_path}/sudo",)}))
        golden.same(str(error.value))


async def test_sudo_that_asks_for_a_password_is_named_with_what_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    shell = shell_of(tmp_path, prefix=("sudo", "-n"))
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(TransportError) as error:
        await probe(shell)
    golden.same(str(error.value))


@pytest.mark.parametrize("tool", ["fio", "hsbench", "ioping", "iperf3"])
def test_a_program_that_is_not_where_it_was_named_is_told_by_its_path(tool: str, golden: Golden) -> None:
    program = TOOLS[tool].version_argv[0]
    problem = TOOLS[tool].check_version(None, {program: "/opt/nothing"})
    golden.same(problem)
    golden.same(TOOLS[tool].check_version(None, {"other": "/opt/nothing"}))


def test_what_holds_packets_back_is_known_by_its_limits() -> None:
    """Neither by what tc counts, nor by what is another each time."""
    text = (
        "shaping.eth0\ttbf refcnt 2 rate 80Mbit burst 15Kb lat 400ms\n"
        "shaping.eth0 ingress\tingress\n"
        "shaping.eth1\thtb refcnt 2 r2q 10 default 0x10 direct_packets_stat 7\n"
        "shaping.eth2\tcake refcnt 2 bandwidth unlimited diffserv3\n"
        "shaping.eth3\tcake refcnt 2 bandwidth 100Mbit diffserv3\n"
        "shaping.eth4\tnetem refcnt 2 limit 1000 delay 10ms loss 1% rate 1Mbit seed 12\n"
    )
    assert parse_environment(text).nic_shaping == {
        "eth0": "tbf rate 80Mbit",
        "eth0 ingress": "ingress",
        "eth1": "htb",
        "eth3": "cake bandwidth 100Mbit",
        "eth4": "netem delay 10ms loss 1% rate 1Mbit",
    }


def test_the_networks_of_a_nic_are_known_and_not_what_is_in_none() -> None:
    def networks(text: str) -> dict[str, str]:
        return parse_environment(f"mtu.eth0\t1500\nmtu.eth1\t1500\n{text}").nic_networks

    one, other = "route.eth0.0001A8C0\t00FFFFFF\n", "route.eth0.0002A8C0\t00FFFFFF\n"
    assert networks(one + other) == networks(other + one)
    assert networks(one)["eth0"] == networks(one.replace("eth0", "eth1"))["eth1"]
    assert len({networks(text)["eth0"] for text in (one, other, one + other)}) == 3
    assert networks("route.docker0.0001A8C0\t00FFFFFF\n") == {}
    assert "C0" not in networks(one)["eth0"]


def test_the_script_reads_the_networks_and_what_tc_says(tmp_path: Path) -> None:
    tc = tmp_path / "tc"
    tc.write_text("#!/bin/sh\ncat <<END\n"
        "qdisc noqueue 0: dev lo root refcnt 2 \n"
        "qdisc tbf 8001: dev eth0 root refcnt 2 rate 80Mbit burst 15Kb lat 400ms \n"
        "qdisc ingress ffff: dev eth0 parent ffff:fff1 ---------------- \n"
        "qdisc tbf 8002: dev tap100i0 root refcnt 2 rate 8Mbit burst 15Kb lat 400ms \n"
        "qdisc fq_codel 0: dev eth1 parent :1 limit 10240p flows 1024 \n"
        "END\n")  # fmt: skip
    tc.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(probe_argv(Node(name="n")), env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert parse_environment(done.stdout).nic_shaping == {"eth0": "tbf rate 80Mbit", "eth0 ingress": "ingress"}
    routes = [line.split() for line in Path("/proc/net/route").read_text().splitlines()[1:]]
    printed = {line.split("\t")[0] for line in done.stdout.splitlines() if line.startswith("route.")}
    direct = {f"route.{route[0]}.{route[1]}" for route in routes if route[2] == "00000000" and route[7] != "FFFFFFFF"}
    assert direct <= printed
