"""Background work that is held back for a study: what was there before is put back, whoever else does the same."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from cephtui.ceph import quiet
from cephtui.ceph.quiet import Holder
from cephtui.cluster.quiet import hold, put_back, to_hold
from cephtui.cluster.reader import ClusterError
from cephtui.models import Node
from cephtui.models.base import Quiet
from cephtui.nodes.transport import COMMAND_SECONDS, Completed
from cephtui.nodes.vault import Vault
from cephtui.sessions.undo import Undo
from cephtui.targets import target_kind
from cephtui.targets.base import TargetError
from cephtui.targets.removal import remove_part

FSID = "6c5b4d3e-0000-4000-8000-000000000001"


@dataclass
class Cluster:
    """What the commands of a quiet cluster read and change; after each of them others may come first."""

    flags: set[str] = field(default_factory=set)
    balancer: bool = True
    balancer_is_set: bool = False
    autoscale: dict[str, str] = field(default_factory=lambda: {"rbd": "on", "data": "warn", "old": "off"})
    keys: dict[str, str] = field(default_factory=dict)
    vault: Vault = field(default_factory=Vault)
    node: Node = field(default_factory=lambda: Node(name="pve1"))
    denied: bool = False

    @property
    def state(self) -> object:
        return sorted(self.flags), self.balancer, self.balancer_is_set, sorted(self.autoscale.items())

    async def run(self, argv: Sequence[str], *, timeout_seconds: float = 0, stdin: str = "") -> Completed:
        raise AssertionError(argv)

    async def ceph(self, argv: Sequence[str], *, timeout_seconds: float = COMMAND_SECONDS) -> Completed:
        await asyncio.sleep(0)
        if argv[0] == "python3":
            return Completed(127, "", "")
        if self.denied and "config-key" in argv:
            return Completed(13, "", "Error EACCES: access denied")
        return Completed(0, json.dumps(self._answer(list(argv[1:]))), "")

    def _answer(self, words: list[str]) -> object:
        match words:
            case ["osd", "dump", *_]:
                pools = [{"pool": at, "pool_name": name, "pg_autoscale_mode": mode, "pg_num": 8}
                         for at, (name, mode) in enumerate(self.autoscale.items(), 1)]  # fmt: skip
                return {"fsid": FSID, "flags_set": sorted(self.flags), "pools": pools}
            case ["balancer", "status", *_]:
                return {"active": self.balancer}
            case ["config", "dump", *_]:
                option = {"section": "mgr", "name": "mgr/balancer/active", "value": "true"}
                return [option] * self.balancer_is_set
            case ["config-key", "dump", prefix, *_]:
                return {key: value for key, value in self.keys.items() if key.startswith(prefix)}
        self._change(words)
        return {}

    def _change(self, words: list[str]) -> None:
        match words:
            case ["osd", "set" | "unset" as word, flag]:
                self.flags = self.flags | {flag} if word == "set" else self.flags - {flag}
            case ["balancer", word]:
                self.balancer, self.balancer_is_set = word == "on", True
            case ["config", "rm", "mgr", "mgr/balancer/active"]:
                self.balancer_is_set = False
            case ["osd", "pool", "set", name, "pg_autoscale_mode", mode]:
                self.autoscale[name] = mode
            case ["config-key", "set", key, value]:
                self.keys[key] = value
            case ["config-key", "rm", key]:
                self.keys.pop(key, None)
            case _:
                raise AssertionError(words)


async def made_quiet(cluster: Cluster, what: Quiet, owner: str) -> frozenset[str]:
    holder, fsid = await to_hold(cluster, what, owner)
    assert fsid == FSID
    if holder.items:
        await hold(cluster, holder, owner)
    return holder.items


@pytest.mark.parametrize("what", ["scrubs", "all"])
@pytest.mark.parametrize("flags", [(), ("noscrub",), ("noscrub", "nodeep-scrub", "noout")])
@pytest.mark.parametrize(("balancer", "is_set"), [(True, False), (True, True), (False, True)])
async def test_all_is_put_back_as_it_was(what: Quiet, flags: tuple[str, ...], balancer: bool, is_set: bool) -> None:
    cluster = Cluster(set(flags), balancer, is_set)
    before = cluster.state

    items = await made_quiet(cluster, what, "s1")

    assert {*quiet.FLAGS, *flags} == cluster.flags
    assert cluster.balancer == (balancer and what == "scrubs")
    assert what == "scrubs" or set(cluster.autoscale.values()) == {"off"}
    if items:
        assert await put_back(cluster, "s1")
    assert cluster.state == before
    assert not cluster.keys
    assert await put_back(cluster, "s1") is None


async def test_another_session_keeps_what_both_hold_and_the_last_one_puts_it_back() -> None:
    cluster = Cluster()
    before = cluster.state
    await made_quiet(cluster, "scrubs", "s1")
    await made_quiet(cluster, "all", "s2")

    first = await put_back(cluster, "s1")
    assert first is not None
    assert "noscrub, nodeep-scrub still set for another session of cephtui since 20" in first
    assert cluster.flags == {*quiet.FLAGS}
    assert await put_back(cluster, "s2") == ("as before: noscrub, nodeep-scrub cleared; balancer, autoscaler on again")
    assert cluster.state == before


@pytest.mark.parametrize("seed", range(60))
async def test_whatever_the_order_of_the_commands_and_whoever_is_killed_all_is_as_before_in_the_end(seed: int) -> None:
    """Sessions come, look again before each step, go, are killed at any command, and are cleaned up later."""
    chance = random.Random(seed)
    cluster = Cluster({"noscrub"} if chance.random() < 0.3 else set(), balancer=chance.random() < 0.7)
    before = cluster.state

    async def session(owner: str) -> None:
        for _ in range(chance.randrange(1, 4)):
            await made_quiet(cluster, chance.choice(("scrubs", "all")), owner)
        await put_back(cluster, owner)

    owners = ["a", "b", "c"]
    running: dict[str, Generator[Any, None, None]] = {owner: session(owner).__await__() for owner in owners}
    while running:
        owner = chance.choice([*running])
        if chance.random() < 0.02:
            running.pop(owner).close()  # killed: its cleanup comes later
            continue
        try:
            next(running[owner])
        except StopIteration:
            running.pop(owner)
    for owner in owners:
        await put_back(cluster, owner)
    assert cluster.state == before
    assert not cluster.keys


async def test_a_session_says_since_when_it_holds_something_back() -> None:
    cluster = Cluster()
    await made_quiet(cluster, "scrubs", "s1")
    (text,) = cluster.keys.values()
    began = "2026-11-21 10:31 UTC"
    cluster.keys = {key: json.dumps({**json.loads(text), "since": began}) for key in cluster.keys}
    await made_quiet(cluster, "scrubs", "s1")
    assert [json.loads(text)["since"] for text in cluster.keys.values()] == [began]


async def test_a_key_that_somebody_else_has_written_puts_back_nothing_but_what_cephtui_holds() -> None:
    cluster = Cluster(set(quiet.FLAGS))
    texts = ["", "no JSON", "[]", '{"items": 7}', '{"items": ["noout", "autoscaler 1 off", "autoscaler 9 on", "x; y"]}']
    for at, text in enumerate(texts):
        cluster.keys[f"cephtui/quiet/k{at}"] = text
    before = cluster.state
    for at in range(len(texts)):
        await put_back(cluster, f"k{at}")
    assert cluster.state == before
    assert not cluster.keys


async def test_without_the_rights_nothing_is_changed() -> None:
    cluster = Cluster(denied=True)
    before = cluster.state
    with pytest.raises(ClusterError, match=r"no permission.*admin caps"):
        await to_hold(cluster, "scrubs", "s1")
    assert cluster.state == before


# ---------------------------------------------------------------------------------------------- the undo list


def noted(owner: str, cluster: str = FSID) -> Undo:
    return Undo(node="pve1", target="quiet:noscrub,nodeep-scrub", owner=owner, cluster=cluster)


async def test_cleanup_puts_back_what_the_session_of_the_list_holds_and_no_other() -> None:
    cluster = Cluster()
    await made_quiet(cluster, "scrubs", "s1")
    for owner in ("s2", "", "../s1", "s1 s1"):
        assert (await remove_part(cluster, noted(owner))).status == "done"  # it holds nothing
        assert cluster.flags == {*quiet.FLAGS}
    removed = await remove_part(cluster, noted("s1"))
    assert (removed.status, removed.text) == ("done", "as before: noscrub, nodeep-scrub cleared")
    assert not cluster.flags
    assert (await remove_part(cluster, noted("s1"))).status == "done"


async def test_of_another_cluster_nothing_is_taken_off_the_list() -> None:
    removed = await remove_part(Cluster(), noted("s1", "another"))
    assert removed.status == "failed"
    assert "it was created in cluster" in removed.text
    assert (await remove_part(Cluster(denied=True), noted("s1"))).status == "failed"


def test_it_is_no_target() -> None:
    kind = target_kind("quiet:noscrub")
    assert kind is not None
    assert kind.ends_with_study
    with pytest.raises(TargetError):
        kind.parse("noscrub")


def test_what_is_held_is_said_in_the_words_of_ceph() -> None:
    items = {"noscrub", "balancer set", "autoscaler 3 on", "autoscaler 4 warn", "nodeep-scrub"}
    assert quiet.names(items) == ["noscrub", "nodeep-scrub", "balancer", "autoscaler"]
    assert quiet.in_words(items, "set", "off") == "noscrub, nodeep-scrub set; balancer, autoscaler off"
    assert quiet.in_words({"balancer"}, "set", "off") == "balancer off"
    (holder,) = quiet.parse_holders(
        json.dumps({"cephtui/quiet/s1": Holder(frozenset(items), "now", is_leaving=True).text})
    ).values()
    assert holder == Holder(frozenset(items), "now", is_leaving=True)
