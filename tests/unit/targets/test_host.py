"""``host:NODE``: which nodes it stands for, from where it is measured, and its address in the cluster's networks."""

from __future__ import annotations

import itertools
import json
import socket
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cephtui.ceph import networks
from cephtui.ceph.pools import parse_osd_map
from cephtui.cli import work
from cephtui.cli.emit import Output
from cephtui.cli.options import Measuring
from cephtui.cli.verbs import cli
from cephtui.cli.where import Where
from cephtui.cli.work import NamedSteps, new_work
from cephtui.config import Config, ConfigError
from cephtui.exit_codes import EXIT_REFUSED
from cephtui.models import HostPlace, Node, Plan
from cephtui.nodes.shell import NodeShell
from cephtui.ordering import plan_of
from cephtui.paths import packaged_text
from cephtui.planning import Request, expand_targets, make_plan
from cephtui.running.launch import NotRun
from cephtui.running.survey import survey
from cephtui.studies.base import Study
from cephtui.targets import TargetError, parse_target, usual_target
from cephtui.targets.base import TargetFault, Use
from cephtui.targets.host import HostTarget
from cephtui.tools import TOOLS
from cephtui.tools.base import OptionError
from tests.support import plans
from tests.support.fakes import FakeNode
from tests.support.golden import Golden

A, B, C = (Node(name=name, host=f"{name}.example") for name in "abc")
THREE = (A, B, C)
CONFIG = Config(nodes={node.name: node for node in THREE}, groups={"pair": ("a", "b")})


def find(name: str) -> tuple[Node, ...]:
    return CONFIG.choose([name])


def target(text: str) -> HostTarget:
    found = parse_target(text)
    assert isinstance(found, HostTarget)
    return found


def request(text: str, nodes: Iterable[Node] = THREE) -> Request:
    return plans.request("network", nodes=nodes, target=text)


def pairs(text: str, nodes: Iterable[Node] = THREE) -> list[tuple[str, str]]:
    found = expand_targets(request(text, nodes), find)
    return [(node.name, each.target.spec) for each in found for node in each.nodes]


# ---------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("text", "name", "address"),
    [
        ("host:b", "b", ""),
        ("host:b@10.1.1.2", "b", "10.1.1.2"),
        ("host:b@fd00::2", "b", "fd00::2"),
        ("host:root@pve2:2222", "root@pve2:2222", ""),
        ("host:10.1.1.2", "10.1.1.2", ""),
        ("host:*", "*", ""),
    ],
)
def test_a_target_names_a_node_and_maybe_an_address(text: str, name: str, address: str) -> None:
    found = target(text)
    assert (found.name, found.address, found.spec) == (name, address, text)


@pytest.mark.parametrize("text", ["host:-x", "host:a b", "host:*@10.1.1.1", "host:", "host:a\x07"])
def test_what_is_no_node_is_refused(text: str) -> None:
    with pytest.raises(TargetError):
        parse_target(text)


def test_every_pair_of_the_nodes_is_measured_one_after_the_other() -> None:
    assert pairs("host:*") == [
        ("b", "host:a"), ("c", "host:a"), ("a", "host:b"), ("c", "host:b"), ("a", "host:c"), ("b", "host:c")
    ]  # fmt: skip


def test_one_node_is_measured_from_all_others_and_never_from_itself() -> None:
    assert pairs("host:b") == [("a", "host:b"), ("c", "host:b")]
    assert pairs("host:c@10.1.1.3", (A,)) == [("a", "host:c@10.1.1.3")]
    assert pairs("host:pair", (C,)) == [("c", "host:a"), ("c", "host:b")]


@pytest.mark.parametrize(
    ("text", "nodes"),
    [("host:*", (A,)), ("host:a", (A,)), ("host:pair@10.1.1.1", (C,)), ("host:x y", (C,)), ("host:@", (C,))],
)
def test_what_is_no_pair_is_told(text: str, nodes: tuple[Node, ...], golden: Golden) -> None:
    with golden.raises(OptionError, TargetError, ConfigError):
        pairs(text, nodes)


def test_only_a_tool_for_hosts_has_it_where_no_target_is_named() -> None:
    assert usual_target(TOOLS["iperf3"].kinds) == "host:*"
    assert usual_target(TOOLS["fio"].kinds) == ""
    assert usual_target({"host", "file"}) == ""


def test_the_command_line_takes_every_pair_of_the_nodes_where_it_is_given_none(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("".join(f'[nodes.{name}]\nhost = "{name}.example"\n' for name in "abc"))
    where = Where(names=("a", "b", "c"), config=config, ssh_config=None, ceph_node=None, ceph={})
    with ExitStack() as stack:
        options = Measuring(where, None, None, (), False, 120.0, True, Output())
        study, _ = new_work(NamedSteps(("network",)), options, stack)
    assert [(cell.nodes, cell.target) for cell in study.saved.cells] == [
        ((one,), f"host:{other}") for other, one in itertools.permutations("abc", 2)
    ]
    assert [[node.name for node in each.hosts] for each in study.requests] == [
        [one, other] for other, one in itertools.permutations("abc", 2)
    ]
    assert [plan_of(each).steps[0].companions[0].node for each in study.requests] == ["a", "a", "b", "b", "c", "c"]


# ---------------------------------------------------------------------------------------------- addresses


def interfaces(*texts: str) -> str:
    links = [{"ifname": "lo", "addr_info": [{"local": "127.0.0.1", "prefixlen": 8, "scope": "host"}]}, {}]
    infos = [text.partition("/") for text in texts]
    links += [{"addr_info": [{"local": ip, "prefixlen": int(bits), "scope": "global"}]} for ip, _, bits in infos]
    return json.dumps(links)


def osd_dump(*addresses: tuple[str, str]) -> str:
    osds = [{"public_addr": f"{public}:6800/1", "cluster_addr": f"{own}:6801/1"} for public, own in addresses]
    return json.dumps({"pools": [], "osds": osds})


def chosen(own: Iterable[str], daemons: Iterable[str], configured: Iterable[str] = ()) -> str | None:
    found = networks.address_in(
        networks.parse_interfaces(interfaces(*own)),
        networks.networks_in({"global public_network": ", ".join(configured)}, "public"),
        [known for each in daemons if (known := networks.parse_address(f"{each}:6800/1"))],
    )
    return str(found) if found else None


def test_the_address_is_that_of_a_daemon_then_one_that_is_configured_then_one_that_reaches_a_daemon() -> None:
    own = ("192.168.9.2/24", "10.1.1.2/24", "10.3.3.2/24")
    assert chosen(own, ["10.1.1.9", "10.3.3.2"]) == "10.3.3.2"
    assert chosen(own, ["10.1.1.9"], ["10.3.0.0/16"]) == "10.3.3.2"
    assert chosen(own, ["10.1.1.9"]) == "10.1.1.2"
    assert chosen(own, ["172.16.0.1"]) is None
    assert chosen(("fd00::2/64",), ["[fd00::9]"]) == "fd00::2"
    assert chosen(own, [], ["no network", "10.1.0.0/16"]) == "10.1.1.2"


def test_an_osd_that_was_never_up_has_no_address() -> None:
    found = parse_osd_map(osd_dump(("10.1.1.1", "10.2.2.1"), ("0.0.0.0", "0.0.0.0"), ("", "")))
    assert [str(each) for each in found.public_addresses] == ["10.1.1.1"]
    assert [str(each) for each in found.cluster_addresses] == ["10.2.2.1"]


def hosts_of(
    dump: str | None, own: Iterable[str] = ("192.168.9.2/24", "10.1.1.2/24", "10.2.2.2/24"), ssh: str = "192.168.9.2"
) -> dict[str, FakeNode]:
    hosts = {node.name: FakeNode(node) for node in (A, B)}
    told = f"interfaces\t{interfaces(*own)}\nport\t5203\nssh\t{ssh}\n"
    hosts["b"].answer(lambda argv: "cephtui-host" in argv, told)
    if dump is not None:
        hosts["a"].answer(lambda argv: "dump" in argv and "osd" in argv, dump)
        hosts["a"].answer(lambda argv: "config" in argv, "[]")
    return hosts


async def located(text: str, hosts: Mapping[str, FakeNode]) -> HostTarget:
    """What a survey gives, from node ``a``."""
    (pair,) = expand_targets(request(text, (A,)), find)
    shells = {name: NodeShell(host.node, await host.connect()) for name, host in hosts.items()}
    found = (await survey(shells["a"], pair.target, 1, shells, Path("nowhere"), None)).target
    assert isinstance(found, HostTarget)
    return found


async def test_its_addresses_are_those_in_the_public_and_in_the_cluster_network() -> None:
    found = await located("host:b", hosts_of(osd_dump(("10.1.1.9", "10.2.2.9"))))
    assert (found.addresses, found.port, found.is_known) == ({"public": "10.1.1.2", "cluster": "10.2.2.2"}, 5203, True)
    plan = make_plan(
        Request(request("host:b").presets, (A,), found, {"network": ["public", "cluster"]}), lambda: "0a1b2c3d"
    )
    assert [step.nodes[0].argv[2] for step in plan.steps] == ["10.1.1.2", "10.2.2.2"]
    assert [step.companions[0].argv[4] for step in plan.steps] == ["10.1.1.2", "10.2.2.2"]
    place = plan.steps[0].nodes[0].place
    assert isinstance(place, HostPlace)
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


async def test_one_network_for_all_is_the_public_one() -> None:
    found = await located("host:b", hosts_of(osd_dump(("10.1.1.9", "10.1.1.9"))))
    assert found.addresses == {"public": "10.1.1.2"}


@pytest.mark.parametrize(
    ("ssh", "address"), [("10.2.2.2", "10.2.2.2"), ("", "192.168.9.2"), ("1.2.3.4", "192.168.9.2")]
)
async def test_without_a_cluster_it_is_the_address_that_ssh_uses(ssh: str, address: str) -> None:
    hosts = hosts_of(None, ssh=ssh)
    found = await located("host:b", hosts)
    assert (found.addresses, found.is_known) == ({"public": address}, False)
    shell = NodeShell(A, await hosts["a"].connect())
    (finding,) = (await found.inspect(shell, USE)).findings
    assert finding.code == "network-unknown"


async def test_an_address_that_was_typed_is_its_own(golden: Golden) -> None:
    hosts = hosts_of(osd_dump(("10.1.1.9", "10.2.2.9")))
    assert (await located("host:b@192.168.9.2", hosts)).addresses == {"": "192.168.9.2"}
    with golden.raises(TargetFault):
        await located("host:b@10.9.9.9", hosts)


@pytest.mark.parametrize("told", ["", "interfaces\t\nport\t5201\n", "interfaces\t{}\nport\t5201\n", "interfaces\t[]\n"])
async def test_a_node_that_does_not_say_is_told(told: str, golden: Golden) -> None:
    hosts = hosts_of(None)
    hosts["b"]._answers.clear()
    hosts["b"].answer(lambda argv: "cephtui-host" in argv, told)
    with golden.raises(TargetFault):
        await located("host:b", hosts)


USE = Use(parts=(), writes=False, filled=True, options={"network": "public"}, destroy=())


async def test_a_node_is_never_measured_against_itself(golden: Golden) -> None:
    """The same node under two names."""
    hosts = hosts_of(osd_dump(("10.1.1.9", "10.2.2.9")))
    found, shell = await located("host:b", hosts), NodeShell(A, await hosts["a"].connect())
    assert (await found.inspect(shell, USE)).refusal is None
    hosts["a"].answer(lambda argv: argv[:2] == ("ip", "-j") and "10.1.1.2" in argv, interfaces("10.1.1.2/24"))
    refusal = (await found.inspect(shell, USE)).refusal
    assert refusal is not None
    golden.same(refusal.text)


async def test_what_was_not_asked_is_not_run() -> None:
    (pair,) = expand_targets(request("host:b", (A,)), find)
    found = await pair.target.inspect(NodeShell(A, await FakeNode(A).connect()), USE)
    assert found.refusal is not None
    assert "host:*" in str(await _fault(parse_target("host:*")))


async def _fault(every: object) -> TargetFault:
    assert isinstance(every, HostTarget)
    with pytest.raises(TargetFault) as error:
        await every.locate({}, NodeShell(A, await FakeNode(A).connect()))
    return error.value


def test_the_script_finds_addresses_and_a_port_on_which_nothing_listens() -> None:
    script = packaged_text("cephtui.targets", "host_inspect.sh")
    with socket.create_server(("", 0)) as server:
        taken = server.getsockname()[1]
        words = ["bash", "-c", script, "cephtui-host", str(taken), str(taken + 50)]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    told = dict(line.split("\t", 1) for line in done.stdout.splitlines())
    assert taken < int(told["port"]) <= taken + 50
    networks.parse_interfaces(told["interfaces"])
    assert done.stderr == ""


def test_a_check_is_of_one_pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    monkeypatch.setenv("CEPHTUI_DATA_DIR", str(tmp_path))
    words = [
        "check",
        "--preset",
        "network",
        "--node",
        "a.example",
        "--node",
        "b.example",
        "--node",
        "c.example",
        "--dry-run",
    ]
    asked = CliRunner().invoke(cli, [*words, "--target", "host:*"])
    assert asked.exit_code == 2
    golden.same(asked.output.rpartition("Error: ")[2])
    studies: list[Study[Any]] = []

    def connecting(runner: object, study: Study[Any], *_: object) -> Study[Any]:
        studies.append(study)
        raise NotRun("not here")

    monkeypatch.setattr(work, "surveyed", connecting)
    assert CliRunner().invoke(cli, [*words[:5], "--dry-run", "--target", "host:b.example"]).exit_code == EXIT_REFUSED
    assert [study.saved.targets for study in studies] == [("host:b.example",)]


def test_a_target_whose_node_is_not_known_is_no_plan(golden: Golden) -> None:
    with golden.raises(OptionError):
        make_plan(request("host:b", (A,)), lambda: "0a1b2c3d")
