"""Short commands on a node: behind its prefix, and with its way to Ceph."""

from __future__ import annotations

import shlex
import subprocess

import pytest

from cephtui.models import Node
from cephtui.nodes.shell import NodeShell, failure_reason, with_ceph
from cephtui.nodes.transport import Completed, TransportError
from tests.support.fakes import FakeNode
from tests.support.golden import Golden

PLAIN = Node(name="a", host="a")
KEYED = PLAIN.model_copy(
    update={"ceph_conf": "/etc/ceph/b.conf", "ceph_keyring": "/etc/ceph/b.keyring", "ceph_id": "bench"}
)
MAPPED = PLAIN.model_copy(update={"ceph_mon_host": "192.0.2.1,192.0.2.2", "ceph_id": "bench"})
BOXED = KEYED.model_copy(update={"prefix": ("sudo", "-n"), "ceph_prefix": ("cephadm", "shell", "--")})


async def said(node: Node, argv: tuple[str, ...], *, of_ceph: bool) -> tuple[str, ...]:
    """What arrives at the node."""
    fake = FakeNode(node)
    fake.answer(lambda words: True, stdout="out", stderr="err", status=3)
    shell = NodeShell(node, await fake.connect())
    completed = await (shell.ceph if of_ceph else shell.run)(argv)
    assert (completed.status, completed.stdout, completed.stderr) == (3, "out", "err")
    (arrived,) = fake.commands
    return arrived


@pytest.mark.parametrize("node", [PLAIN, KEYED, MAPPED])
async def test_without_a_prefix_a_command_is_as_it_is(node: Node) -> None:
    assert await said(node, ("stat", "/x"), of_ceph=False) == ("stat", "/x")


async def test_commands_stand_behind_the_prefix_and_those_of_ceph_behind_their_own() -> None:
    assert await said(BOXED, ("stat", "/x"), of_ceph=False) == ("sudo", "-n", "stat", "/x")
    found = await said(BOXED, ("rbd", "ls"), of_ceph=True)
    assert found[:3] == ("cephadm", "shell", "--")
    assert "sudo" not in found
    assert found[-2:] == ("rbd", "ls")


def settings(argv: tuple[str, ...]) -> dict[str, str]:
    """What env sets, and that it is env that does it."""
    assert argv[0] == "env"
    return dict(word.split("=", 1) for word in argv[1:] if word.split("=", 1)[0].startswith("CEPH_"))


async def test_the_way_to_ceph_is_in_the_environment() -> None:
    found = await said(KEYED, ("rbd", "info", "pool/image"), of_ceph=True)
    assert settings(found) == {
        "CEPH_CONF": "/etc/ceph/b.conf",
        "CEPH_KEYRING": "/etc/ceph/b.keyring",
        "CEPH_ARGS": "--id bench",
    }
    assert found[-3:] == ("rbd", "info", "pool/image")


async def test_a_script_has_the_user_too() -> None:
    found = await said(KEYED, ("bash", "-c", 'rbd ls -- "$1"', "x", "pool"), of_ceph=True)
    assert settings(found)["CEPH_ARGS"] == "--id bench"
    assert found[-5:] == ("bash", "-c", 'rbd ls -- "$1"', "x", "pool")


async def test_monitors_that_no_file_names_are_arguments() -> None:
    found = settings(await said(MAPPED, ("rbd", "ls"), of_ceph=True))
    assert found == {"CEPH_CONF": "/dev/null", "CEPH_ARGS": "--mon-host=192.0.2.1,192.0.2.2 --id bench"}
    both = MAPPED.model_copy(update={"ceph_conf": "/etc/ceph/b.conf"})
    assert settings(await said(both, ("rbd", "ls"), of_ceph=True)) == {
        "CEPH_CONF": "/etc/ceph/b.conf",
        "CEPH_ARGS": "--id bench",
    }


async def test_ceph_does_not_wait_for_minutes() -> None:
    """Without a bound of its own it tries for 300 s to reach a monitor."""
    assert await said(PLAIN, ("ceph", "status"), of_ceph=True) == ("ceph", "--connect-timeout", "20", "status")
    assert await said(PLAIN, ("rbd", "ls"), of_ceph=True) == ("rbd", "ls")
    assert (await said(KEYED, ("ceph", "status"), of_ceph=True))[-4:] == ("ceph", "--connect-timeout", "20", "status")


@pytest.mark.parametrize("node", [KEYED, MAPPED])
def test_the_environment_is_what_a_shell_makes_of_it(node: Node) -> None:
    """The words survive being quoted, joined and read again, and env passes them on."""
    argv = with_ceph(node, ("bash", "-c", 'echo "$CEPH_CONF|$CEPH_ARGS"'))
    completed = subprocess.run(["bash", "-c", shlex.join(argv)], capture_output=True, text=True, check=True)
    conf = node.ceph_conf or "/dev/null"
    assert completed.stdout.startswith(f"{conf}|")
    assert ("192.0.2.1,192.0.2.2" in completed.stdout) == (node is MAPPED)


def test_a_node_without_a_way_of_its_own_has_no_env() -> None:
    assert with_ceph(PLAIN, ("fio", "--version")) == ("fio", "--version")
    assert with_ceph(PLAIN.model_copy(update={"ceph_id": "bench"}), ("fio",)) == ("fio",), "fio has an option for it"


async def test_a_node_that_is_gone_is_told() -> None:
    fake = FakeNode(PLAIN)
    shell = NodeShell(PLAIN, await fake.connect())
    fake.lose()
    with pytest.raises(TransportError, match="a: "):
        await shell.run(("true",))


@pytest.mark.parametrize(
    "stderr",
    [
        "",
        "mkdir: cannot create directory 'x': File exists\n",
        "first\nsecond\n",
        "mount: /mnt: wrong fs type, bad option or other error.\n       dmesg(1) may have more information.\n",
        "   all of it is indented\n",
    ],
)
def test_a_reason_is_the_last_line_that_stands_alone(stderr: str, golden: Golden) -> None:
    golden.same(failure_reason(Completed(32, "", stderr)))
