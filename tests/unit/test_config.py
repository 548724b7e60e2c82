"""The config file and typed nodes: what is understood, and how what is not is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui import config
from cephtui.config import Config, ConfigError, parse_node
from cephtui.models import Node
from tests.support.golden import Golden

WHOLE = """
ssh_config = "ssh/config"

[nodes.pve1]
host = "pve1.example.net"
user = "root"
port = 2222
prefix = ["sudo", "-n"]
ceph_prefix = ["cephadm", "shell", "--"]
ceph_conf = "/etc/ceph/ceph.conf"
ceph_keyring = "/etc/ceph/ceph.client.bench.keyring"
ceph_id = "bench"

[nodes.pve2]
[nodes."pve-3.example"]
prefix = ["kubectl", "exec", "-i", "bench", "--"]

[groups]
all = ["pve1", "pve2", "pve-3.example"]
two = ["pve2", "pve1"]
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(text, "utf-8")
    return path


def load(tmp_path: Path, text: str) -> Config:
    return config.load_config(write(tmp_path, text), required=True)


def refusal(tmp_path: Path, text: str) -> str:
    """What is said of a file, behind its path."""
    with pytest.raises(ConfigError) as error:
        load(tmp_path, text)
    path, _, said = str(error.value).partition("config.toml: ")
    assert path == f"{tmp_path}/"
    assert "\n" not in said
    return said


# ---------------------------------------------------------------------------------------------- the file


def test_a_whole_file(tmp_path: Path) -> None:
    found = load(tmp_path, WHOLE)
    ssh_config = str(tmp_path / "ssh" / "config")
    assert found.nodes == {
        "pve1": Node(
            name="pve1",
            host="pve1.example.net",
            user="root",
            port=2222,
            ssh_config=ssh_config,
            prefix=("sudo", "-n"),
            ceph_prefix=("cephadm", "shell", "--"),
            ceph_conf="/etc/ceph/ceph.conf",
            ceph_keyring="/etc/ceph/ceph.client.bench.keyring",
            ceph_id="bench",
        ),
        "pve2": Node(name="pve2", host="pve2", ssh_config=ssh_config),
        "pve-3.example": Node(
            name="pve-3.example",
            host="pve-3.example",
            ssh_config=ssh_config,
            prefix=("kubectl", "exec", "-i", "bench", "--"),
            ceph_prefix=("kubectl", "exec", "-i", "bench", "--"),
        ),
    }
    assert found.groups == {"all": ("pve1", "pve2", "pve-3.example"), "two": ("pve2", "pve1")}
    assert found.ssh_config == ssh_config


def test_the_example_in_the_documentation_is_valid(tmp_path: Path) -> None:
    assert config.__doc__ is not None
    example = config.__doc__.partition("\n\n")[2]
    others = "\n[nodes.pve2]\n[nodes.pve3]\n"
    assert [node.name for node in load(tmp_path, example + others).choose(["pve"])] == ["pve1", "pve2", "pve3"]


def test_an_empty_ceph_prefix_is_one(tmp_path: Path) -> None:
    """The benchmark in a container, Ceph's commands on the host."""
    found = load(tmp_path, '[nodes.a]\nprefix = ["podman", "exec", "-i", "x"]\nceph_prefix = []')
    assert (found.nodes["a"].prefix[0], found.nodes["a"].ceph_prefix) == ("podman", ())


@pytest.mark.parametrize("name", ["ssh_config", "./ssh_config", "sub/ssh_config"])
def test_ssh_config_is_beside_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    directory = tmp_path / "etc"
    directory.mkdir()
    write(directory, f'ssh_config = "{name}"\n[nodes.a]')
    monkeypatch.chdir(tmp_path)
    found = config.load_config(Path("etc/config.toml"), required=True)
    assert found.nodes["a"].ssh_config == str(directory / name)
    (typed,) = found.choose(["typed"])
    assert typed.ssh_config == str(directory / name)


def test_ssh_config_may_be_absolute_or_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    assert load(tmp_path, 'ssh_config = "/etc/x"').ssh_config == "/etc/x"
    assert load(tmp_path, 'ssh_config = "~/.ssh/bench"').ssh_config == "/home/somebody/.ssh/bench"


def test_an_ssh_config_that_is_asked_for_comes_first(tmp_path: Path) -> None:
    found = config.load_config(write(tmp_path, WHOLE), required=True, ssh_config="/other")
    assert {node.ssh_config for node in found.nodes.values()} == {"/other"}
    assert config.load_config(tmp_path / "none", required=False, ssh_config="/other").ssh_config == "/other"


def test_no_file_is_an_empty_one_unless_it_was_asked_for(tmp_path: Path, golden: Golden) -> None:
    assert config.load_config(tmp_path / "config.toml", required=False) == Config()
    with golden.raises(ConfigError):
        config.load_config(tmp_path / "config.toml", required=True)


def test_a_file_that_can_not_be_read_is_told_though_it_was_not_asked_for(tmp_path: Path, golden: Golden) -> None:
    (tmp_path / "config.toml").mkdir()
    with golden.raises(ConfigError):
        config.load_config(tmp_path / "config.toml", required=False)
    (tmp_path / "latin.toml").write_bytes(b'ssh_config = "\xe4"')
    with golden.raises(ConfigError):
        config.load_config(tmp_path / "latin.toml", required=False)


def test_local_may_have_a_way_to_ceph_of_its_own(tmp_path: Path) -> None:
    found = load(tmp_path, 'ssh_config = "x"\n[nodes.local]\nceph_id = "bench"')
    assert found.choose(["local"]) == (Node(name="local", ceph_id="bench"),)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("node = 1", "node: "),
        ('[nodes.a]\nprot = 22\nhost = "a"', "nodes.a.prot: "),
        ("[nodes.a]\nport = 0", "nodes.a.port: "),
        ("[nodes.a]\nport = 65536", "nodes.a.port: "),
        ('[nodes.a]\nport = "22"', "nodes.a.port: "),
        ("[nodes.a]\nhost = 5", "nodes.a.host: "),
        ('[nodes.a]\nprefix = "sudo -n"', "nodes.a.prefix: "),
        ("[nodes.a]\nceph_prefix = [1]", "nodes.a.ceph_prefix.0: "),
        ("[nodes.a]\nuser = '$(touch x)'", "nodes.a: user '$(touch x)': "),
        ("[nodes.a]\nuser = '-l'", "nodes.a: user '-l': "),
        ("[nodes.a]\nhost = '$(touch x)'", "nodes.a: host '$(touch x)': "),
        ("ssh_config = 1", "ssh_config: "),
        ('groups = "a"', "groups: "),
        ("[nodes.a]\n[groups]\nx = []", "groups.x: "),
        ('[nodes.a]\n[groups]\nx = ["a", "b"]', "groups.x: "),
        ('[nodes.a]\n[groups]\nx = ["a"]\ny = ["x"]', "groups.y: "),
        ('[nodes.a]\n[groups]\na = ["a"]', "groups.a: "),
        ('[nodes."a b"]', "'a b': "),
        ('[nodes."-a"]', "'-a': "),
        ('[nodes."../a"]', "'../a': "),
        ('[nodes.""]', "'': "),
        (f'[nodes."{"a" * 65}"]', f"'{'a' * 65}': "),
        ('[nodes.a]\n[groups]\n"x y" = ["a"]', "'x y': "),
    ],
)
def test_errors_name_the_file_and_the_key_and_what_was_expected(
    tmp_path: Path, text: str, key: str, golden: Golden
) -> None:
    said = refusal(tmp_path, text)
    assert said.startswith(key)
    golden.same(said)


@pytest.mark.parametrize("text", ["nodes = [", "[nodes.a]\n[nodes.a]"])
def test_a_file_that_is_no_toml_is_told(tmp_path: Path, text: str, golden: Golden) -> None:
    ours, _, parsers = refusal(tmp_path, text).partition(": ")
    assert parsers
    golden.same(ours)


# ---------------------------------------------------------------------------------------------- choosing


def test_names_groups_and_hosts_give_nodes_in_order_and_each_once(tmp_path: Path) -> None:
    found = load(tmp_path, WHOLE)
    names = [node.name for node in found.choose(["two", "local", "root@other:23", "all", "pve2"])]
    assert names == ["pve2", "pve1", "local", "other:23", "pve-3.example"]
    assert found.choose([]) == ()
    assert found.choose(["local"]) == (Node(name="local"),)


def test_what_is_no_node_is_told_with_what_is_near(tmp_path: Path, golden: Golden) -> None:
    found = load(tmp_path, WHOLE)
    with pytest.raises(ConfigError) as error:
        found.choose(["pve1/"])
    golden.same(str(error.value))
    with pytest.raises(ConfigError, match=r"config file$"):
        found.choose(["@"])


# ---------------------------------------------------------------------------------------------- typed


@pytest.mark.parametrize(
    ("text", "name", "host", "user", "port"),
    [
        ("pve1", "pve1", "pve1", None, None),
        ("root@pve1", "pve1", "pve1", "root", None),
        ("pve1:2222", "pve1:2222", "pve1", None, 2222),
        ("root@pve1.example.net:22", "pve1.example.net:22", "pve1.example.net", "root", 22),
        ("admin@ad.example@pve1", "pve1", "pve1", "admin@ad.example", None),
        ("AD\\jörg.o-k@pve1", "pve1", "pve1", "AD\\jörg.o-k", None),
        ("me@root@pve1:ssh:me@bastion", "bastion", "bastion", "me@root@pve1:ssh:me", None),
        ("192.0.2.7", "192.0.2.7", "192.0.2.7", None, None),
        ("192.0.2.7:65535", "192.0.2.7:65535", "192.0.2.7", None, 65535),
        ("2001:db8::7", "2001:db8::7", "2001:db8::7", None, None),
        ("root@2001:db8::7", "2001:db8::7", "2001:db8::7", "root", None),
        ("[2001:db8::7]:2222", "[2001:db8::7]:2222", "2001:db8::7", None, 2222),
        ("root@[::1]:22", "[::1]:22", "::1", "root", 22),
        ("fe80::1%eth0", "fe80::1%eth0", "fe80::1%eth0", None, None),
    ],
)
def test_a_typed_node(text: str, name: str, host: str, user: str | None, port: int | None) -> None:
    expected = Node(name=name, host=host, user=user, port=port, ssh_config="/etc/x")
    assert parse_node(text, "/etc/x") == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", "@", "@pve1", "root@", "root@:22", ":22", "pve1:", "pve1:0", "pve1:65536", "pve1:ssh", "pve1:-1"),
        *("[2001:db8::7", "[2001:db8::7]:", "[2001:db8::7]:x", "[]:22", "[::1]x", "[::1]22", "[::1]", "::1]"),
        *("-oProxyCommand=reboot", "root@-x", "a b", "a/b", "../x", "it's", 'a"b', "a\nb", "a\tb"),
        *("a;b", "a#b", "a\x00b", "a\x1b[31m", "a\udcff", "%h", "+a", f"{'a' * 256}", f"{'u' * 256}@a"),
        *(
            f"{name}{suffix}"
            for name in (
                "$(x)",
                "a`x`",
                "a|x",
                "a&",
                "a>x",
                "a<x",
                "a{x,y}",
                "${IFS}",
                "a*",
                "~a",
                "-l",
                "a\\",
                "!a",
                "a=b",
                "a\u202eb",
            )
            for suffix in ("", "@pve1")
        ),
        *(f"{user}@pve1" for user in ("a b", "a;b", "it's", 'a"b', "a\nb", "a/b", "%r", "#a", "@a", "a\x1b[31m", "a$")),
    ],
)
def test_what_is_no_node_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected \[USER@\]HOST\[:PORT\]"):
        parse_node(text, None)


@given(st.text(max_size=20) | st.text("ab@:[]%.-/ 012", max_size=12))
def test_any_text_is_a_node_that_can_name_a_file_or_refused(text: str) -> None:
    try:
        node = parse_node(text, None)
    except ValueError:
        return
    assert node.host
    assert not node.host.startswith("-")
    assert not set(node.name) & set("/\n\t ")
    assert text.endswith(node.name)


def test_a_program_may_have_a_path_on_all_nodes_or_on_one(tmp_path: Path) -> None:
    text = '[programs]\nfio = "/opt/fio"\nx = "/opt/x"\n[nodes.a]\n[nodes.b.programs]\nfio = "/usr/local/bin/fio"\n'
    nodes = {node.name: node.programs for node in load(tmp_path, text).choose(["a", "b", "local", "c"])}
    usual = {"fio": "/opt/fio", "x": "/opt/x"}
    assert nodes == {"a": usual, "b": {**usual, "fio": "/usr/local/bin/fio"}, "local": usual, "c": usual}
