"""The candidates of a node, on recorded answers of a cluster; and which nodes are known."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from cephtui import config
from cephtui.ceph import images
from cephtui.config import Config
from cephtui.models import Node
from cephtui.nodes.transport import Completed, Question, TransportError
from cephtui.nodes.vault import Vault
from cephtui.running.runner import Runner
from cephtui.targets import devices, discovery
from cephtui.targets.candidates import INSPECTED_AT_ONCE, INSPECTED_MOST, Candidate
from cephtui.targets.devices import DeviceFacts
from tests.support.clusters import ANSWERS, Argv, RecordedShell, ok
from tests.support.fakes import FakeNode, connector
from tests.support.golden import Golden

NEW = "new-pool:pg=32,size=3"
"""What is offered in every cluster."""
PAIRS = "host:*"
"""What is offered everywhere."""
TREE = (
    ("root", {"id": -1, "name": "default", "type": "root", "children": [-2, -3]}),
    ("pve1", {"id": -2, "name": "pve1", "type": "host", "children": [0]}),
    ("pve2", {"id": -3, "name": "pve2", "type": "host", "children": [1, 2]}),
    ("osd.0", {"id": 0, "name": "osd.0", "type": "osd", "device_class": "ssd", "status": "up"}),
    ("osd.1", {"id": 1, "name": "osd.1", "type": "osd", "device_class": "ssd", "status": "up"}),
    ("osd.2", {"id": 2, "name": "osd.2", "type": "osd", "device_class": "hdd", "status": "down"}),
)
FREE = "kind\tdevice\nname\tsdb\nnumber\t8:16\nsize\t1073741824\nroot\tyes\nclaim\tfree\nsignatures\t\n"


async def found(shell: RecordedShell, of: str) -> tuple[dict[str, Candidate], str]:
    """What is offered in the end, and what could not be asked."""
    seen: dict[str, Candidate] = {}
    problem = await discovery.discover(shell, of, lambda some: seen.update({one.spec: one for one in some}))
    return seen, problem


def refused(seen: dict[str, Candidate]) -> list[str]:
    return sorted(spec for spec, candidate in seen.items() if candidate.reason)


def reasons(seen: dict[str, Candidate]) -> list[str]:
    return [f"{spec}: {seen[spec].reason}" for spec in refused(seen)]


# ---------------------------------------------------------------------------------------------- pools


async def test_each_pool_is_offered_for_images_and_for_objects(golden: Golden) -> None:
    shell = RecordedShell("healthy")

    seen, problem = await found(shell, "pools")

    assert problem == ""
    assert len(shell.asked) == 9
    assert not any(spec.startswith("krbd:") for spec in seen)  # the recorded node has no such kernel
    assert {"rbd:rec", "pool:rec", "rbd:recquota", "pool:recquota", "rbd:recdata", "pool:recdata"} <= set(seen)
    golden.same(seen["rbd:rec"].text)
    golden.same(seen["pool:rec"].text)
    assert refused(seen) == ["rbd:recdata"]
    golden.same(seen["rbd:recdata"].reason)
    golden.same(seen["rbd:recdata"].remedy)


async def test_a_kernel_with_rbd_is_offered_the_pools_too(golden: Golden) -> None:
    shell = RecordedShell("healthy", **{"bash_krbd-inspect": ok("kernel\t6.8.12-4-pve\nmodule\tloadable\n")})

    seen, _ = await found(shell, "pools")

    golden.same(seen["krbd:rec"].text)
    golden.same(seen["krbd:recdata"].reason)


async def test_a_mounted_cephfs_is_offered(golden: Golden) -> None:
    mounts = ok("/mnt/pve/cephfs\n/mnt/a\\x20b\nnonsense\n")

    seen, _ = await found(RecordedShell("healthy", findmnt=mounts), "pools")

    assert [spec for spec in seen if spec.startswith("cephfs:")] == ["cephfs:/mnt/pve/cephfs/cephtui"]
    golden.same(seen["cephfs:/mnt/pve/cephfs/cephtui"].text)


async def test_osds_are_offered_together_and_by_class_and_host(golden: Golden) -> None:
    tree = ok({"nodes": [bucket for _, bucket in TREE]})

    seen, _ = await found(RecordedShell("healthy", ceph_osd_tree=tree), "pools")

    osds = {spec: candidate for spec, candidate in seen.items() if spec.startswith("osd:")}
    assert set(osds) == {"osd:*", "osd:class=hdd", "osd:class=ssd", "osd:host=pve1", "osd:host=pve2"}
    assert refused(osds) == ["osd:*", "osd:class=hdd", "osd:host=pve2"]
    golden.same(reasons(osds))
    golden.same(osds["osd:class=ssd"].text)


async def test_gateways_and_endpoints_of_the_config_are_offered(golden: Golden) -> None:
    daemons = {
        "summary": "",
        "41": {"addr": "10.0.0.9:0/69", "metadata": {"frontend_config#0": "beast port=80 ssl_port=443"}},
        "42": {"addr": "10.0.0.9:0/70", "metadata": {"frontend_config#0": "beast endpoint=10.0.0.10:7480"}},
        "43": {"addr": "10.0.0.9:0/71", "metadata": {"frontend_config#0": "beast endpoint=[::]:8080", "id": "a"}},
        "44": {"addr": 5, "metadata": {"frontend_config#0": "beast port=x endpoint="}},
    }
    dump = ok({"services": {"rgw": {"daemons": daemons}}})
    shell = RecordedShell("healthy", ceph_service_dump=dump)
    shell.vault = Vault(services=("https://s3.example.net",))

    seen, _ = await found(shell, "pools")

    services = sorted(spec for spec in seen if spec.startswith("s3:"))
    assert services == [
        "s3:http://10.0.0.10:7480",
        "s3:http://10.0.0.9:80",
        "s3:http://10.0.0.9:8080",
        "s3:https://10.0.0.9:443",
        "s3:https://s3.example.net",
    ]
    golden.same(seen[spec].text for spec in services)


async def test_what_others_use_comes_last_and_says_so() -> None:
    said = json.loads((ANSWERS / "healthy" / "osd-map.stdout").read_text())
    for pool in said["pools"]:
        if pool["pool_name"] == "rec":
            pool["application_metadata"] = {"cephfs": {}}

    seen, _ = await found(RecordedShell("healthy", ceph_osd_dump=ok(said)), "pools")

    assert list(seen)[-1] in ("pool:rec", "pool:device_health_metrics")
    assert list(seen).index("rbd:recquota") < list(seen).index("rbd:rec")
    assert "cephfs" in seen["rbd:rec"].text


@pytest.mark.parametrize(
    ("state", "spec"),
    [("full", "rbd:rec"), ("full", "pool:rec"), ("paused", "rbd:rec"), ("quota-full", "pool:recquota")],
)
async def test_a_pool_that_a_guard_refuses_says_why(state: str, spec: str, golden: Golden) -> None:
    seen, _ = await found(RecordedShell(state, "healthy"), "pools")

    golden.same(seen[spec].reason)


async def test_the_quota_of_a_pool_is_no_reason_for_another() -> None:
    seen, _ = await found(RecordedShell("quota-full", "healthy"), "pools")

    assert seen["rbd:rec"].reason is None


async def test_a_pool_whose_osds_are_nearly_full_is_refused(golden: Golden) -> None:
    seen, _ = await found(RecordedShell("nearfull", "healthy"), "pools")

    assert "nearfull" in str(seen["rbd:rec"].reason)
    golden.same(seen["rbd:rec"].text)


async def test_a_key_that_may_not_ask_all_is_no_reason(golden: Golden) -> None:
    seen, problem = await found(RecordedShell("denied"), "pools")

    assert problem == ""
    assert seen["rbd:rec"].reason is None
    golden.same(seen["rbd:rec"].text)


async def test_free_space_that_is_not_told(golden: Golden) -> None:
    seen, _ = await found(RecordedShell("healthy", ceph_df=Completed(13, "", "Error EACCES: access denied")), "pools")

    golden.same(seen["rbd:rec"].text)
    assert seen["rbd:rec"].reason is None


async def test_pgs_that_serve_nobody(golden: Golden) -> None:
    said = json.loads((ANSWERS / "healthy" / "status.stdout").read_text())
    said["pgmap"]["pgs_by_state"] = [{"state_name": "down", "count": 1}, {"state_name": "active+clean", "count": 48}]
    pgs = json.loads((ANSWERS / "healthy" / "pgs.stdout").read_text())
    rec = next(pg["pgid"].partition(".")[0] for pg in pgs["pg_stats"])
    next(pg for pg in pgs["pg_stats"] if pg["pgid"].startswith(f"{rec}."))["state"] = "down"

    seen, _ = await found(RecordedShell("healthy", ceph_status=ok(said), ceph_pg_dump=ok(pgs)), "pools")
    unknown = RecordedShell("healthy", ceph_status=ok(said), ceph_pg_dump=Completed(13, "", "EACCES"))
    denied, _ = await found(unknown, "pools")

    (pool,) = [spec for spec in refused(seen) if spec.startswith("pool:")]
    golden.same(seen[pool].reason)
    assert (denied.pop(NEW).reason, denied.pop(PAIRS).reason) == (None, None)
    assert refused(denied) == sorted(denied)
    golden.same(reasons(denied))


@pytest.mark.parametrize(
    "answer",
    [
        Completed(127, "", "env: 'ceph': No such file or directory"),
        Completed(1, "", "unable to get monitor info from DNS SRV"),
        Completed(1, "", "something else\nof two lines"),
        Completed(0, "not json", ""),
        TransportError("n1: can't start ceph: No such file or directory"),
    ],
)
async def test_why_a_cluster_can_not_be_asked(answer: Completed | TransportError, golden: Golden) -> None:
    seen, problem = await found(RecordedShell(ceph_status=answer, bash_access=ok("done\t\n")), "pools")

    assert [*seen] == [PAIRS]
    golden.same(problem)


async def test_a_connection_that_is_lost_is_no_missing_program() -> None:
    shell = RecordedShell(ceph_status=TransportError("n1: lost"), bash_access=ok("program\tceph\ndone\t\n"))

    with pytest.raises(TransportError, match="n1: lost"):
        await found(shell, "pools")


async def test_a_cluster_without_pools(golden: Golden) -> None:
    seen, problem = await found(RecordedShell("healthy", ceph_osd_dump=ok({"pools": []})), "pools")

    assert [*seen] == [PAIRS, NEW]
    golden.same(problem)


# ---------------------------------------------------------------------------------------------- images


async def test_images_are_listed_at_once_and_then_looked_at(golden: Golden) -> None:
    names = ["vm-100-disk-10", "vm-100-disk-2", "snapped", "plain", "none", "mirrored", "ec", "child", "parent"]
    shell = RecordedShell("images", rbd_ls=ok(names))
    puts: list[list[Candidate]] = []

    problem = await discovery.discover(shell, "rbd:rec", lambda some: puts.append(list(some)))

    listed, looked = puts[0], {candidate.spec: candidate for some in puts[1:] for candidate in some}
    assert problem == ""
    assert [candidate.spec for candidate in listed[-2:]] == ["rbd:rec/vm-100-disk-2", "rbd:rec/vm-100-disk-10"]
    assert {candidate.spec for candidate in listed} == {f"rbd:rec/{name}" for name in names}
    golden.same(str(candidate.reason) for candidate in listed[-2:])
    assert all(candidate.reason for candidate in listed[-2:])
    assert shell.about("vm-100-disk-2") == []
    assert sorted(looked) == sorted(f"rbd:rec/{name}" for name in names[2:])
    assert refused(looked) == ["rbd:rec/mirrored", "rbd:rec/none", "rbd:rec/parent", "rbd:rec/snapped"]
    golden.same(reasons(looked))
    golden.same(looked["rbd:rec/plain"].text)
    golden.same(looked["rbd:rec/child"].text)
    golden.same(looked["rbd:rec/ec"].text)


async def test_an_image_that_is_open_or_a_guests_is_refused(golden: Golden) -> None:
    watched = RecordedShell("busy", "images", rbd_ls=ok(["plain"]))
    line = "line\t/etc/pve/qemu-server/7.conf\tscsi0: ceph:plain,size=1G\ndone\t\n"
    named = RecordedShell("images", rbd_ls=ok(["plain"]), bash_guests=ok(line))

    (in_use,), (guests,) = [(await found(shell, "rbd:rec"))[0].values() for shell in (watched, named)]

    golden.same(in_use.reason)
    golden.same(guests.reason)


async def test_no_more_images_are_looked_at_than_is_bearable(golden: Golden) -> None:
    info = {"name": "x", "id": "1", "size": 1 << 30}
    many = [f"image{number}" for number in range(INSPECTED_MOST + 10)]
    answers = {"rbd_info": ok(info), "rbd_status": ok({"watchers": []}), "rbd_snap": ok([])}
    shell = RecordedShell(rbd_ls=ok(many), **answers)

    seen, _ = await found(shell, "rbd:rec")

    assert len(seen) == len(many)
    last = seen[f"rbd:rec/{many[-1]}"].text
    golden.same(last)
    assert [spec for spec, candidate in seen.items() if candidate.text == last] == [
        f"rbd:rec/{name}" for name in many[INSPECTED_MOST:]
    ]
    assert shell.most_at_once <= 3 * INSPECTED_AT_ONCE  # an image takes three commands side by side
    assert not shell.about(many[-1])


@pytest.mark.parametrize(
    "answer",
    [ok([]), Completed(1, "", "rbd: list: (1) Operation not permitted"), ok({})],
    ids=["none", "denied", "odd"],
)
async def test_a_pool_without_images_to_show(answer: Completed, golden: Golden) -> None:
    seen, problem = await found(RecordedShell(rbd_ls=answer), "rbd:rec")

    assert seen == {}
    golden.same(problem)


async def test_an_image_that_can_not_be_named_or_understood(golden: Golden) -> None:
    shell = RecordedShell("images", rbd_ls=ok(["a b", "plain"]), rbd_status=ok("junk"))

    seen, _ = await found(shell, "rbd:rec")

    golden.same(seen["rbd:rec/a b"].reason)
    golden.same(seen["rbd:rec/plain"].reason)


async def test_a_search_that_is_cancelled_asks_nothing_more() -> None:
    started, never = asyncio.Event(), asyncio.Event()

    class Hanging(RecordedShell):
        async def ceph(self, argv: Sequence[str], *, timeout_seconds: float = 30.0) -> Completed:
            if argv[1] == "info":
                started.set()
                await never.wait()
            return await super().ceph(argv)

    shell = Hanging("images", rbd_ls=ok([f"x{number}" for number in range(9)]))
    task = asyncio.create_task(found(shell, "rbd:rec"))
    await started.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await asyncio.sleep(0)

    assert task.cancelled()
    assert [argv[1] for argv in shell.asked] == ["ls"]


async def test_a_connection_that_breaks_ends_the_search() -> None:
    shell = RecordedShell("images", rbd_ls=ok(["plain", "ec"]), rbd_status=TransportError("n1: lost"))

    with pytest.raises(TransportError, match="n1: lost"):
        await found(shell, "rbd:rec")


def test_a_list_of_images(golden: Golden) -> None:
    assert images.parse_list('["a","b"]') == ("a", "b")
    with golden.raises(ValueError):
        images.parse_list('{"a": 1}')


# ---------------------------------------------------------------------------------------------- devices


def listed(*devices_: tuple[str, str]) -> Completed:
    """A node's list of devices: name, and what else is said of it."""
    return ok(
        "".join(f"kind\tdevice\nalias\t/dev/{name}\nname\t{name}\nsize\t1073741824\n{more}" for name, more in devices_)
    )


async def test_devices_in_use_are_told_without_opening_them(golden: Golden) -> None:
    busy = listed(
        ("sda", "partition\tsda1\n"),
        ("sdb", "holder\tdm-0\n"),
        ("sdc", "readonly\tyes\n"),
        ("mapper/pve-vm--100--disk--0", "dm.name\tpve-vm--100--disk--0\n"),
    )
    shell = RecordedShell(bash_devices=busy)

    seen, problem = await found(shell, "devices")

    assert problem == ""
    assert len(shell.asked) == 1
    assert refused(seen) == sorted(seen)
    golden.same(reasons(seen))
    assert seen["device:/dev/sda"].text == "1.00 GiB"


async def test_devices_that_seem_free_are_looked_at(golden: Golden) -> None:
    shell = RecordedShell(bash_devices=listed(("sdb10", ""), ("sdb2", "backing\t/var/disk\n"), ("rbd0", "")))
    shell.instead["bash_device"] = ok(FREE)
    claimed = RecordedShell(bash_devices=listed(("sdb", "")), bash_device=ok(FREE.replace("free", "busy")))
    broken = RecordedShell(bash_devices=listed(("sdb", "")), bash_device=ok("?"))

    seen, _ = await found(shell, "devices")

    assert list(seen) == ["device:/dev/rbd0", "device:/dev/sdb2", "device:/dev/sdb10"]
    assert refused(seen) == []
    golden.same(seen["device:/dev/sdb2"].text)
    for shell in (claimed, broken):
        golden.same((await found(shell, "devices"))[0]["device:/dev/sdb"].reason)


async def test_a_node_without_devices(golden: Golden) -> None:
    for answer in (ok(""), Completed(1, "", "bash: oops")):
        seen, problem = await found(RecordedShell(bash_devices=answer), "devices")
        assert seen == {}
        golden.same(problem)


def test_the_list_of_this_machines_devices() -> None:
    done = subprocess.run(devices.list_devices_argv(), capture_output=True, text=True, check=True, timeout=30)
    facts = {one.name: one for one in devices.parse_devices(done.stdout)}

    there = [path for path in Path("/sys/class/block").iterdir() if (Path("/dev") / path.name).is_block_device()]
    memory = ("ram", "zram", "fd", "sr")
    sized = {path.name: int((path / "size").read_text()) * 512 for path in there if not path.name.startswith(memory)}
    assert done.stderr == ""
    assert {name: one.size for name, one in facts.items() if name in sized} == {n: s for n, s in sized.items() if s}
    assert all(Path(one.aliases[0]).is_block_device() for one in facts.values())


def test_a_device_whose_name_says_nothing_has_to_be_looked_at() -> None:
    assert devices.guard_listed("/dev/sdb", DeviceFacts("device", name="sdb", size=1)) is None


# ---------------------------------------------------------------------------------------------- nodes


SSH_CONFIG = """
# Host commented
Include more/*.conf "~/other dir/one" /nonexistent/* missing
Host web1 web2 *.example.net !web3 web?
    HostName 10.0.0.1
host=old
  Host "quoted" fine # not this
Host -x a@b 1:2 fe80::1
Match host matched
Host *
HostKeyAlgorithms x
Host broken "
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh" / "more").mkdir(parents=True)
    return tmp_path


def test_hosts_of_the_ssh_configuration(home: Path) -> None:
    (home / "other dir").mkdir()
    (home / "other dir" / "one").write_text("Host other\nInclude config\n")
    (home / ".ssh" / "more" / "b.conf").write_text("Host b web1\n")
    (home / ".ssh" / "more" / "a.conf").write_text("Host a\nInclude more/b.conf\n")
    (home / ".ssh" / "more" / "d.conf").mkdir()
    (home / ".ssh" / "config").write_text(SSH_CONFIG)

    own = config.ssh_hosts(str(home / ".ssh" / "config"))

    assert own == ("a", "b", "web1", "other", "web2", "old", "quoted", "fine", "fe80::1")
    assert config.ssh_hosts(None)[: len(own)] == own
    assert config.ssh_hosts(str(home / "none")) == ()


def test_keys_of_the_ssh_configuration_are_those_that_are_there(home: Path) -> None:
    (home / "key one").touch()
    (home / ".ssh" / "more" / "a.conf").write_text('Host a\nIdentityFile "~/key one"\nIdentityFile ~/gone\n')
    (home / ".ssh" / "config").write_text("Include more/*.conf\nHost b\n  identityfile=~/.ssh/config\n")
    assert config.ssh_keys(str(home / ".ssh" / "config")) == ("~/key one", "~/.ssh/config")
    assert config.ssh_keys(str(home / "none")) == ()


def test_an_ssh_configuration_without_end_is_read_for_a_while_only(home: Path) -> None:
    for number in range(30):
        (home / ".ssh" / f"c{number}").write_text(f"Host h{number}\nInclude c{number + 1}\n")
    (home / ".ssh" / "large").write_text("Host large\n" + "# x\n" * (1 << 20) + "Host beyond\n")

    deep = config.ssh_hosts(str(home / ".ssh" / "c0"))

    assert deep == tuple(f"h{number}" for number in range(6))
    assert config.ssh_hosts(str(home / ".ssh" / "large")) == ("large",)


def test_known_nodes(home: Path, golden: Golden) -> None:
    (home / "ssh_config").write_text("Host pve1 web\n")
    (home / "config.toml").write_text(
        'ssh_config = "ssh_config"\n'
        '[nodes.pve1]\nhost = "pve1.example.net"\nuser = "root"\nport = 2222\nprefix = ["sudo", "-n"]\n'
        '[nodes.pve2]\n[groups]\npve = ["pve1", "pve2"]\n'
    )
    loaded = config.load_config(home / "config.toml", required=True)

    known = discovery.known_nodes(loaded)
    assert [(node.name, node.members) for node in known] == [
        ("local", ()),
        ("pve1", ()),
        ("pve2", ()),
        ("pve", ("pve1", "pve2")),
        ("web", ()),
    ]
    golden.same(node.text for node in known)
    assert all(loaded.choose([node.name]) for node in known)


def test_without_any_configuration_there_is_this_machine(home: Path) -> None:
    (home / "empty").write_text("")

    assert [node.name for node in discovery.known_nodes(Config(ssh_config=str(home / "empty")))] == ["local"]


# ---------------------------------------------------------------------------------------------- the runner


def is_script(name: str) -> Callable[[Argv], bool]:
    return lambda argv: argv[3:4] == (f"cephtui-{name}",)


def test_a_runner_asks_a_node(tmp_path: Path, golden: Golden) -> None:
    host = FakeNode(Node(name="a", host="a"))
    host.answer(is_script("devices"), listed(("sda", "holder\tdm-0\n")).stdout)
    seen: list[Candidate] = []

    with Runner(tmp_path, connect_node=connector({"a": host})) as runner:
        problem = runner.nodes.discover(host.node, "devices", seen.extend).result(10)
        no_ceph = runner.nodes.discover(host.node, "pools", seen.extend).result(10)

    assert (problem, [candidate.spec for candidate in seen]) == ("", ["device:/dev/sda", PAIRS])
    golden.same(no_ceph)


def test_a_node_that_can_not_be_asked_is_told_in_words(tmp_path: Path, golden: Golden) -> None:
    gone, asking = FakeNode(Node(name="a", host="a")), FakeNode(Node(name="b", host="b"))
    gone.unreachable = "no route to host"
    asking.questions = [Question("b", "password", "password of root@b", secret=True)]

    with Runner(tmp_path, connect_node=connector({"a": gone, "b": asking})) as runner:
        answers = [runner.nodes.discover(host.node, "pools", lambda some: None).result(10) for host in (gone, asking)]

    golden.same(answers)
