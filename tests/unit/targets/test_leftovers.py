"""What sessions left behind: removed where it carries its owner, and on nodes that are reached as the user says."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence

import pytest

from cephtui.models import Node, Part
from cephtui.nodes.transport import Completed
from cephtui.nodes.vault import Vault
from cephtui.sessions.undo import Undo
from cephtui.targets import parse_target
from cephtui.targets.base import Removed, TargetFault
from cephtui.targets.leftovers import connection_settings, describe
from cephtui.targets.removal import remove_part
from tests.support.fakes import dumped
from tests.support.golden import Golden

IMAGE = "cephtui-deadbeef-lab1-0"
OWNER = "tuning-0123456789abcdef0123456789abcdef"
FSID = "4a163f05-af76-47b3-ac72-51ac08948128"
NO_KEY = "auth: unable to find a keyring on /etc/ceph/x: (2) No such file or directory\nrbd: couldn't connect!"
DONE = Completed(0, "", "")


class Cluster:
    """Pools with images and namespaces, and a shell that asks them, in the words of rbd and ceph 16.2."""

    node, vault = Node(name="lab1", host="lab1"), Vault()

    def __init__(self) -> None:
        self.fsid = FSID
        self.pools: dict[str, int] = {"bench": 2}
        self.images: dict[str, dict[str, str]] = {}
        """What they carry, by ``pool/image``."""
        self.namespaces: dict[str, set[str]] = {}
        self.unreachable = ""
        self.dies_at = ""
        self.commands: list[tuple[str, ...]] = []

    async def run(self, argv: Sequence[str], *, timeout_seconds: float = 30.0, stdin: str = "") -> Completed:
        raise AssertionError(f"only Ceph is to be asked: {argv}")

    async def ceph(self, argv: Sequence[str], *, timeout_seconds: float = 30.0) -> Completed:
        self.commands.append(tuple(argv))
        if self.dies_at and self.dies_at in " ".join(argv):
            raise asyncio.CancelledError
        if self.unreachable:
            return Completed(2, "", self.unreachable)
        if argv[0] == "python3":
            return Completed(127, "", "")
        if argv[0] == "ceph":
            pools = [{"pool": number, "pool_name": name} for name, number in self.pools.items()]
            return Completed(0, json.dumps({"fsid": self.fsid, "pools": pools}), "")
        if argv[0] == "rados":
            return self._omap(argv[2], *argv[4:])
        return self._rados(*argv[3:]) if argv[0] == "bash" else self._rbd(*argv[1:])

    def _omap(self, pool: str, header: str, key: str) -> Completed:
        image = header.removeprefix("rbd_header.")
        carried = self.images[f"{pool}/{image}"]
        name = key.removeprefix("metadata_")
        if name not in carried:
            return Completed(1, "", f"No such key: {pool}/{header}/{key}\n")
        return Completed(0, dumped(carried[name]), "")

    def _rbd(self, verb: str, *words: str) -> Completed:
        if "--pool" in words:
            name = f"{words[words.index('--pool') + 1]}/{words[words.index('--image') + 1]}"
        else:
            name = next(word for word in words if "/" in word)
        pool, _, image = name.partition("/")
        if pool not in self.pools:
            return Completed(2, "", f"rbd: error opening pool '{pool}': (2) No such file or directory")
        if verb == "create":
            if name in self.images:
                return Completed(17, "", "rbd: create error: (17) File exists")
            self.images[name] = {}
            return DONE
        if name not in self.images:
            return Completed(2, "", f"rbd: error opening image {image}: (2) No such file or directory")
        if verb == "rm":
            del self.images[name]
        elif verb == "rename":
            if words[1] in self.images:
                return Completed(17, "", "rbd: rename error: (17) File exists")
            self.images[words[1]] = self.images.pop(name)
        elif verb == "image-meta" and words[0] == "set":
            self.images[name][words[2]] = words[3]
        else:
            return Completed(0, json.dumps({"name": image, "id": image, "size": 1 << 20}), "")
        return DONE

    def _rados(self, script: str, mark: str, *words: str) -> Completed:
        pool, namespace = words[words.index("-p") + 1], words[words.index("-N") + 1]
        if pool not in self.pools:
            return Completed(1, "", f"error opening pool {pool}: (2) No such file or directory")
        found = self.namespaces.setdefault(f"{pool}/{namespace}", set())
        if not found or mark not in found:
            return Completed(76 if found else 66, f"{len(found)}\n", "")
        found.clear()
        return Completed(0, "0\n", "")


def undo(target: str = f"rbd:bench/{IMAGE}", **more: object) -> Undo:
    known = {"node": "lab1", "at": Cluster.node, "owner": OWNER, "cluster": FSID, "pool_id": 2}
    return Undo.model_validate({"target": target, **known, **more})


class Mounted(Cluster):
    """A node on which a file is not there, and what is mounted above it."""

    async def run(self, argv: Sequence[str], *, timeout_seconds: float = 30.0, stdin: str = "") -> Completed:
        return Completed(77, "", "/mnt\n")


@pytest.mark.parametrize(("before", "status"), [("/mnt", "done"), (None, "done"), ("/mnt/files", "failed")])
def test_a_file_whose_file_system_is_not_mounted_stays_on_the_list(
    before: str | None, status: str, golden: Golden
) -> None:
    found = removed(Mounted(), undo("file:/mnt/files/x", mount=before, cluster=None, pool_id=None))
    assert found.status == status
    golden.same(f"{found.status}: {found.text}".rstrip())


def removed(cluster: Cluster, entry: Undo) -> Removed:
    return asyncio.run(remove_part(cluster, entry))


def create(cluster: Cluster, owner: str = OWNER) -> str:
    target = parse_target("rbd:bench", owner_id="deadbeef")
    return asyncio.run(target.create(cluster, Part(spec=f"rbd:bench/{IMAGE}", bytes=1 << 20), owner))


# ---------------------------------------------------------------------------------------------- whose it is


def test_what_carries_its_owner_is_removed() -> None:
    cluster = Cluster()
    create(cluster)
    assert cluster.images == {f"bench/{IMAGE}": {"cephtui.session": OWNER}}
    cluster.namespaces["bench/cephtui-deadbeef-lab1"] = {f"cephtui.session.{OWNER}", "benchmark_data_0"}
    assert removed(cluster, undo()) == Removed("done")
    assert removed(cluster, undo("pool:bench/cephtui-deadbeef-lab1")) == Removed("done")
    assert cluster.images == {}


@pytest.mark.parametrize("carried", [{}, {"cephtui.session": "tuning-ff"}, {"cephtui.session": ""}, {"other": OWNER}])
@pytest.mark.parametrize("owner", [OWNER, None, ""])
def test_an_image_with_another_mark_or_none_is_refused(carried: dict[str, str], owner: str | None) -> None:
    cluster = Cluster()
    cluster.images[f"bench/{IMAGE}"] = carried
    cluster.namespaces["bench/cephtui-deadbeef-lab1"] = {
        "ledger",
        *(f"cephtui.session.{c}" for c in carried.values() if c != OWNER),
    }
    for target in (f"rbd:bench/{IMAGE}", "pool:bench/cephtui-deadbeef-lab1"):
        found = removed(cluster, undo(target, owner=owner))
        assert (found.status, bool(found.text)) == ("not ours", True)
        assert found.is_settled
    assert cluster.images == {f"bench/{IMAGE}": carried}
    assert not any(command[1] == "rm" for command in cluster.commands)


def test_an_image_of_others_is_not_taken_to_create_ours(golden: Golden) -> None:
    cluster = Cluster()
    cluster.images[f"bench/{IMAGE}"] = {}
    with golden.raises(TargetFault):
        create(cluster)
    removed(cluster, undo())
    assert cluster.images == {f"bench/{IMAGE}": {}}, "and what was made for it is gone"


def test_an_image_of_this_session_is_made_anew() -> None:
    cluster = Cluster()
    create(cluster)
    create(cluster)
    assert cluster.images == {f"bench/{IMAGE}": {"cephtui.session": OWNER}}


@pytest.mark.parametrize("moment", ["rbd create", "image-meta set", "rbd rename", "rbd info"])
def test_at_no_moment_is_an_own_image_taken_for_another(moment: str) -> None:
    """A console that is killed leaves nothing that cleanup could not tell from a stranger's."""
    cluster = Cluster()
    cluster.dies_at = moment
    with pytest.raises(asyncio.CancelledError):
        create(cluster)
    cluster.dies_at = ""
    assert all(carried or name != f"bench/{IMAGE}" for name, carried in cluster.images.items())
    left = dict(cluster.images)
    assert removed(cluster, undo(owner="another")).status in ("done", "not ours")
    assert cluster.images == left
    assert removed(cluster, undo()).status == "done"
    assert cluster.images == {}
    # and an attempt that was broken off is not in the way of the next
    cluster.images = left
    create(cluster)
    assert cluster.images == {f"bench/{IMAGE}": {"cephtui.session": OWNER}}


@pytest.mark.parametrize(
    "target",
    [
        *("rbd:bench/vm-100-disk-0", "rbd:bench", "rbd:", "rbd:bench/", f"rbd:bench/{IMAGE}/vm-100-disk-0"),
        *(f"rbd:bench/{IMAGE}@snap", f"rbd:-p/{IMAGE}", f"rbd:be\nnch/{IMAGE}", f"rbd:bench/{IMAGE}\n", "rbd:bench/*"),
        *("pool:bench", "pool:bench/", "pool:bench/theirs", "pool:-x/cephtui-deadbeef-a", "pool:/cephtui-deadbeef-a"),
        *("pool:bench/cephtui-deadbeef-a b", "pool:bench/cephtui-deadbeef-a\n", "pool:bench/cephtui-deadbeef-a/b"),
        *("file:etc/passwd", "file:", "file:/x\ny", "file:/x\x00", "device:/dev/sda", "", "rm -rf /"),
    ],
)
def test_what_cephtui_never_makes_is_not_even_looked_at(target: str) -> None:
    cluster = Cluster()
    assert removed(cluster, undo(target)).status == "not ours"
    assert cluster.commands == []


# ---------------------------------------------------------------------------------------------- what is gone

GONE = [f"rbd:bench/{IMAGE}", "pool:bench/cephtui-deadbeef-lab1"]


@pytest.mark.parametrize("target", GONE)
def test_what_is_gone_is_done(target: str, golden: Golden) -> None:
    cluster = Cluster()
    already = removed(cluster, undo(target))
    cluster.pools = {}
    gone = removed(cluster, undo(target))
    assert (already.status, gone.status) == ("done", "done")
    golden.same([already.text, gone.text])
    assert removed(cluster, undo(target, cluster=None, pool_id=None)) == gone
    cluster.pools = {"bench": 7}  # another of the name
    assert removed(cluster, undo(target)) == gone


@pytest.mark.parametrize("target", GONE)
def test_what_can_not_be_asked_is_not_gone(target: str, golden: Golden) -> None:
    cluster = Cluster()
    cluster.unreachable = NO_KEY
    found = removed(cluster, undo(target))
    assert (found.status, found.is_settled) == ("failed", False)
    cluster.unreachable = "rbd: error opening pool 'bench': (2) No such file or directory"
    assert removed(cluster, undo(target)).status == "failed", "nor is it where the cluster does not say so"
    cluster.unreachable, cluster.fsid = "", "another"
    for cluster.pools in ({}, {"bench": 2}):
        found = removed(cluster, undo(target))
        assert (found.status, found.is_settled) == ("failed", False)
        golden.same(found.text)


def test_an_owner_that_is_none_owns_nothing() -> None:
    cluster = Cluster()
    cluster.namespaces["bench/cephtui-deadbeef-lab1"] = {"cephtui.session.a\nledger", "ledger"}
    assert removed(cluster, undo("pool:bench/cephtui-deadbeef-lab1", owner="a\nledger")).status == "not ours"
    assert cluster.commands == []


def test_what_is_in_a_pool_of_another_name_now_is_removed_there() -> None:
    cluster = Cluster()
    create(cluster)
    cluster.pools = {"renamed": 2}
    cluster.images = {f"renamed/{IMAGE}": cluster.images[f"bench/{IMAGE}"]}
    assert removed(cluster, undo()) == Removed("done")
    assert cluster.images == {}


# ---------------------------------------------------------------------------------------------- how it is reached

OWN = {
    "local": Node(name="local"),
    "pve1": Node(name="pve1", host="10.0.0.1", prefix=("sudo", "-n"), ceph_prefix=("sudo", "-n")),
}


@pytest.mark.parametrize(
    "change",
    [
        lambda node: {"host": "10.6.6.6"},
        lambda node: {"host": None},
        lambda node: {"user": "root"},
        lambda node: {"port": 2222},
        lambda node: {"ssh_config": "/tmp/ssh_config"},
        lambda node: {"prefix": ("touch", "/tmp/x")},
        lambda node: {"prefix": ()},
        lambda node: {"ceph_prefix": ("touch", "/tmp/x")},
    ],
)
def test_another_way_than_the_users_is_only_the_lists(change: Callable[[Node], dict[str, object]]) -> None:
    node = OWN["pve1"]
    same = connection_settings(Undo(node="pve1", target="rbd:bench/x", at=node), OWN)
    assert (same.is_own, same.configured, same.pool) == (True, node, "bench")
    for target in ("rbd:bench/x", "file:/x"):
        way = connection_settings(Undo(node="pve1", target=target, at=node.model_copy(update=change(node))), OWN)
        assert not way.is_own
        assert way.unusable is None
        for key, value in change(node).items():
            assert value in (None, ()) or f"{key}={json.dumps(value)}" in describe(way.listed)


@pytest.mark.parametrize("field", ["ceph_conf", "ceph_keyring", "ceph_id", "ceph_mon_host"])
def test_another_way_to_ceph_matters_for_what_is_in_ceph(field: str) -> None:
    at = OWN["pve1"].model_copy(update={field: "/tmp/x"})
    way = connection_settings(Undo(node="pve1", target="pool:bench/x", at=at), OWN)
    assert way.is_own
    assert not way.fits(OWN["pve1"])
    assert way.fits(at), "where it is what was found on the node"
    assert connection_settings(Undo(node="pve1", target="file:/x", at=at), OWN).fits(OWN["pve1"])


def test_a_node_that_the_user_does_not_know_is_only_the_lists() -> None:
    for name in ("pve2", "10.0.0.1", "-oProxyCommand=touch x", ""):
        assert not connection_settings(Undo(node=name, target="file:/x", at=OWN["pve1"]), OWN).is_own
        assert not connection_settings(Undo(node=name, target="file:/x"), OWN).is_own
    # the list's name for it is what counts, and null is this machine
    assert not connection_settings(Undo(node="local", target="file:/x", at=OWN["pve1"]), OWN).is_own
    assert connection_settings(Undo(node="local", target="file:/x"), OWN).is_own


@pytest.mark.parametrize(
    "at",
    [
        {"host": "-oProxyCommand=touch"},
        *({"host": host} for host in ("", "a b", "$(touch x)", "`x`", "a;b", "a|b", "a\nb", "\x1b[2J", "ü")),
        *({"host": "a", "user": user} for user in ("-x", "", "a b", "$(x)", "a'b")),
        {"host": "a", "prefix": ("x" * 3000,)},
    ],
)
def test_some_ways_are_not_taken_whoever_agrees(at: dict[str, object]) -> None:
    way = connection_settings(Undo(node="x", target="file:/x", at=Node.model_validate({"name": "x", **at})), OWN)
    assert way.unusable
    shown = describe(way.listed)
    assert shown.isascii()
    assert shown.isprintable()


def test_what_is_shown_of_a_way_is_all_of_it() -> None:
    node = Node(name="x", host="a", user="b", port=2, prefix=("sh", "-c", "\x1b[2Jevil \u202e"), ceph_id="c")
    shown = describe(node)
    assert re.findall(r"(\w+)=", shown) == ["host", "user", "port", "prefix", "ceph_id"]
    assert r"\u001b[2Jevil \u202e" in shown
    assert describe(Node(name="local")) == "this machine"


def test_nodes_that_name_programs_are_told_apart_by_their_settings() -> None:
    """Leftovers are grouped by how their nodes are reached."""
    nodes = [Node(name="n", programs={"x": path}) for path in ("/opt/x", "/opt/x", "/opt/y")]
    undos = [Undo(node="n", target="file:/mnt/cephtui-x", at=node) for node in nodes]
    assert len({connection_settings(undo, {"n": nodes[0]}) for undo in undos}) == 2
