"""Caches that are dropped before a run: when, on what, what could not be, and where that is kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click
import pytest

from cephtui.analysis.runs.sides import Side
from cephtui.analysis.verdicts.conditions import differences, drops_caches
from cephtui.ceph import commands, commands_on_node
from cephtui.ceph.pool_guards import guard_osd_caches, guard_quiet
from cephtui.cli.work import check_manner
from cephtui.models import ClusterEnvironment, Node, NodeEnvironment, Plan, Run
from cephtui.models.base import Quiet
from cephtui.models.findings.data import CACHES
from cephtui.models.manner import Manner
from cephtui.nodes.local import LocalConnection
from cephtui.nodes.transport import Completed, TransportError
from cephtui.nodes.vault import Vault
from cephtui.reports.drawn.plan import draw_plans
from cephtui.reports.words.facts import facts, head_line
from cephtui.running import caches, node_run
from cephtui.running.caches import drop_osd_caches, drop_page_cache
from tests.support.drawings import printed
from tests.support.golden import Golden
from tests.support.runs import begun
from tests.unit.running.test_runner import Stage, new_stage, plan, until

__all__ = ["new_stage"]

DROP = "cephtui-drop-page-cache"


def dropping(*, drop: bool = True) -> Plan:
    return plan().model_copy(update={"drop_caches": drop, "drop_agreed": drop})


def drops_on(stage: Stage, name: str, *, status: int = 0, stderr: str = "") -> None:
    """A node that drops its page cache, or can't."""
    host = stage.hosts[name]

    def matches(argv: tuple[str, ...]) -> bool:
        if DROP in argv:
            host.log.add("dropped", host.name)
        return DROP in argv

    host.answer(matches, stderr=stderr, status=status)


# ---------------------------------------------------------------------------------------------- in a run


async def test_page_caches_are_dropped_after_all_is_filled_and_before_anything_is_ready(
    new_stage: Callable[..., Stage], golden: Golden
) -> None:
    stage = new_stage(dropping())
    for name in "ab":
        drops_on(stage, name)
    drops_on(stage, "c", status=1, stderr="that needs root: log in as root")
    run = await stage.run()
    order = [what for what, _ in stage.log.events]
    first, last = order.index("dropped"), len(order) - 1 - order[::-1].index("dropped")
    assert order.count("dropped") == 3
    assert "ended fill" not in order[first:]
    assert "started write-iops" not in order[:last]
    assert run.outcome == "ok"
    assert {name: found.page_cache_dropped for name, found in run.environment.items()} == {
        "a": True, "b": True, "c": False,
    }  # fmt: skip
    golden.same([finding.text for finding in run.findings if finding.code == CACHES.code])


async def test_no_cache_is_dropped_unasked(new_stage: Callable[..., Stage]) -> None:
    stage = new_stage(dropping(drop=False))
    drops_on(stage, "a")
    run = await stage.run()
    assert stage.log.of("dropped") == []
    assert {found.page_cache_dropped for found in run.environment.values()} == {None}


async def test_a_run_that_is_stopped_does_not_wait_for_a_node_that_writes_what_is_dirty(
    new_stage: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = asyncio.Event()

    async def for_ever(shell: object) -> None:
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(node_run, "drop_page_cache", for_ever)
    stage = new_stage(dropping())
    async with stage.running() as task:
        await until(begun.is_set, task)
        stage.stop.request()
    assert task.result().outcome == "stopped"
    assert "started write-iops" not in [what for what, _ in stage.log.events]


# ---------------------------------------------------------------------------------------------- the node


async def test_the_script_writes_to_the_kernel_s_file_and_names_what_hinders_it(tmp_path: Path) -> None:
    file = tmp_path / "drop_caches"
    for path, user, status, text in (
        (file, 0, 0, ""),
        (tmp_path / "missing" / "drop_caches", 0, 1, "can't be written: is it a container without privileges?"),
        (file, 1000, 1, 'that needs root: log in as root, or set prefix = ["sudo", "-n"] for the node'),
    ):
        file.write_text("")
        script = f"id() {{ echo {user}; }}; sync() {{ :; }}; {caches._SCRIPT}"
        done = await LocalConnection().run(("bash", "-c", script, DROP, str(path)))
        assert (done.status, text in done.stderr) == (status, True), done
        assert file.read_text() == ("" if status else "3\n")


async def test_a_node_that_does_not_answer_is_a_finding(golden: Golden) -> None:
    finding = await drop_page_cache(Osds({}))
    assert finding is not None
    assert finding.code == CACHES.code
    golden.same(finding.text)


# ---------------------------------------------------------------------------------------------- the OSDs


@dataclass
class Osds:
    """See Shell: a cluster whose OSDs answer so to a command for each of them."""

    answers: Mapping[str, tuple[int, str]]
    rados: bool = True
    """Whether the node has Ceph's Python."""
    node: Node = field(default_factory=lambda: Node(name="n"))
    vault: Vault = field(default_factory=Vault)
    asked: list[str] = field(default_factory=list)

    async def run(self, argv: Sequence[str], *, timeout_seconds: float = 30.0, stdin: str = "") -> Completed:
        raise TransportError(f"n: no answer within {timeout_seconds:.0f} s")

    async def ceph(self, argv: Sequence[str], *, timeout_seconds: float = 30.0) -> Completed:
        if argv[0] == "python3":
            if not self.rados:
                return Completed(127, "", "")
            return Completed(0, json.dumps([self._answer(**one) for one in json.loads(argv[3])]), "")
        prefix = " ".join(argv[3:]) if argv[1] == "tell" else "osd tree"
        return Completed(*self._answer(prefix, target=argv[2] if argv[1] == "tell" else ""))

    def _answer(self, prefix: str, target: str = "", **_: object) -> tuple[int, str, str]:
        if prefix == "osd tree":
            return 0, json.dumps({"nodes": [{"type": "osd", "name": name} for name in self.answers], "stray": []}), ""
        assert prefix == "cache drop"
        self.asked.append(target)
        status, error = self.answers[target]
        return status, "", error


@pytest.mark.parametrize("rados", [True, False])
async def test_each_osd_that_is_up_is_asked_and_those_that_could_not_are_named(rados: bool, golden: Golden) -> None:
    fine, denied = (0, ""), (13, "Error EACCES: ")
    shell = Osds({"osd.0": fine, "osd.1": denied, "osd.2": (110, "Error ETIMEDOUT: "), "osd.7": denied}, rados)
    dropped = await drop_osd_caches(shell)
    assert shell.asked == ["osd.0", "osd.1", "osd.2", "osd.7"]
    assert dropped.number == 1
    first, second = dropped.findings
    golden.same(first.text)
    golden.same(second.text)


async def test_all_osds_are_not_listed(golden: Golden) -> None:
    dropped = await drop_osd_caches(Osds({f"osd.{n}": (13, "EACCES") for n in range(40)}))
    golden.same([each.text.partition(" were ")[0] for each in dropped.findings])
    assert dropped.number == 0
    assert (await drop_osd_caches(Osds({f"osd.{n}": (0, "") for n in range(40)}))).findings == ()
    assert (await drop_osd_caches(None)).number is None


async def test_osds_that_never_answer_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hanging(Osds):
        async def ceph(self, argv: Sequence[str], *, timeout_seconds: float = 30.0) -> Completed:
            await asyncio.Event().wait()
            raise AssertionError

    monkeypatch.setattr(caches, "OSDS_SECONDS", 0.01)
    dropped = await drop_osd_caches(Hanging({}))
    assert (dropped.number, len(dropped.findings)) == (0, 1)


def test_on_the_node_one_osd_and_all_of_them_are_different_targets() -> None:
    asked: list[tuple[int, str]] = []

    class Cluster:
        def mon_command(self, text: str, data: bytes) -> tuple[int, bytes, str]:
            return 0, b"[0, 1]", ""

        def osd_command(self, osd: int, text: str, data: bytes) -> tuple[int, bytes, str]:
            asked.append((osd, json.loads(text)["prefix"]))
            return (-13 if osd else 0), b"", ""

    found = commands_on_node.ask_all(
        Cluster(), [{"target": f"osd.{osd}", "prefix": "cache drop"} for osd in (0, 1, 12)]
    )
    assert [status for status, _, _ in found] == [0, 13, 13]
    assert sorted(asked) == [(0, "cache drop"), (1, "cache drop"), (12, "cache drop")]
    asked.clear()
    assert len(commands_on_node.ask_all(Cluster(), [{"target": "osd.*", "prefix": "dump_watchers"}])) == 1
    assert sorted(asked) == [(0, "dump_watchers"), (1, "dump_watchers")]


def test_what_an_osd_is_asked_has_its_parameters() -> None:
    asked: list[object] = []

    class Cluster:
        def osd_command(self, osd: int, text: str, data: bytes) -> tuple[int, bytes, str]:
            asked.append(json.loads(text))
            return 0, b"{}", ""

    commands_on_node.ask_all(
        Cluster(), json.loads(commands.requests([("ceph", "tell", "osd.3", "dump_osd_network", "20")]))
    )
    assert asked == [{"prefix": "dump_osd_network", "value": 20, "format": "json"}]


def test_of_every_osd_only_what_is_wanted_is_reported() -> None:
    class Cluster:
        def mon_command(self, text: str, data: bytes) -> tuple[int, bytes, str]:
            return 0, b"[0, 1, 7]", ""

        def osd_command(self, osd: int, text: str, data: bytes) -> tuple[int, bytes, str]:
            diff = {"diff": {"debug_osd": {"final": osd}, "keyring": {"final": "/secret"}}, "other": 1}
            return (-6 if osd == 1 else 0), json.dumps(diff).encode(), "no such OSD" if osd == 1 else ""

    request = json.loads(commands.requests([("ceph", "tell", "osd.*", "config", "diff", "-f", "json")]))
    ((status, text, _),) = commands_on_node.ask_all(Cluster(), request)
    assert status == 0, "one that is down has none"
    assert text == 'osd.0: {"diff": {"debug_osd": {"final": 0}}}\nosd.7: {"diff": {"debug_osd": {"final": 7}}}'
    assert commands_on_node.ask_all(Cluster(), [{**request[0], "most": 2}]) == [(0, "", "")]


# ---------------------------------------------------------------------------------------------- consent


def test_the_osds_caches_need_consent_and_those_of_nodes_alone_do_not() -> None:
    refusal = guard_osd_caches("bench", drops=True, agreed=False)
    assert refusal is not None
    assert (refusal.confirm, refusal.confirm_kind) == ("bench", "drop-caches")
    assert "slows every client" in refusal.text
    assert "--drop-caches" in refusal.text
    assert guard_osd_caches("bench", drops=True, agreed=True) is None
    assert guard_osd_caches(None, drops=True, agreed=False) is None
    assert guard_osd_caches("bench", drops=False, agreed=False) is None


@pytest.mark.parametrize(("before", "now", "word"), [(True, False, "give"), (False, True, "leave out")])
def test_what_is_continued_has_its_caches_as_before(before: bool, now: bool, word: str) -> None:
    check_manner(Manner(before), Manner(before))
    with pytest.raises(click.UsageError, match=f"{word} --drop-caches"):
        check_manner(Manner(before), Manner(now))


def test_what_is_continued_is_measured_in_a_cluster_as_quiet_as_before() -> None:
    words: Mapping[Quiet, str] = {
        "": "without holding scrubs back",
        "scrubs": "with --quiet-cluster",
        "all": "with --quiet-all",
    }
    for before, word in words.items():
        check_manner(Manner(quiet=before), Manner(quiet=before))
        with pytest.raises(click.UsageError, match=word):
            check_manner(Manner(quiet=before), Manner(quiet="all" if before != "all" else ""))


def test_holding_scrubs_back_needs_consent() -> None:
    flags: Mapping[Quiet, str] = {"scrubs": "--quiet-cluster", "all": "--quiet-all"}
    for quiet, flag in flags.items():
        refusal = guard_quiet(quiet, agreed=False)
        assert refusal is not None
        assert (refusal.confirm, refusal.confirm_kind) == (quiet, "quiet-cluster")
        assert flag in refusal.text
        assert guard_quiet(quiet, agreed=True) is None
    assert guard_quiet("", agreed=False) is None


# ---------------------------------------------------------------------------------------------- conditions


def measured(*nodes: bool | None, osds: int | None = None) -> Run:
    environment = {f"n{at}": NodeEnvironment(page_cache_dropped=dropped) for at, dropped in enumerate(nodes)}
    return begun(outcome="ok", environment=environment, cluster=ClusterEnvironment(osds=3, osd_caches_dropped=osds))


def test_a_run_s_conditions_have_its_caches(golden: Golden) -> None:
    golden.same(facts([measured(True, True, osds=3)])["caches"])
    golden.same(facts([measured(True, False)])["caches"])
    assert "caches dropped" in head_line([measured(True, osds=3)])
    for run in (measured(None), measured()):
        assert "caches" not in facts([run])
        assert "caches" not in head_line([run])
        assert not drops_caches(run)
    assert drops_caches(measured(False))


def test_a_comparison_names_what_was_dropped_on_one_side_only() -> None:
    def found(left: Run, right: Run) -> list[tuple[str, str, str]]:
        every = differences(Side((left,)), Side((right,)))
        return [(each.name, each.left, each.right) for each in every if "cache" in each.name]

    assert found(measured(None), measured(True, osds=3)) == [
        ("OSD caches", "not dropped", "dropped on 3"),
        ("page cache", "not dropped", "dropped"),
    ]
    assert found(measured(True, osds=3), measured(True, osds=3)) == []
    assert found(measured(False, osds=0), measured(None)) == [], "what failed is as if it had not been asked for"


def test_the_plan_says_that_caches_are_dropped(golden: Golden) -> None:
    whole = plan()
    usual = printed(draw_plans([whole])).splitlines()
    dropping = printed(draw_plans([whole.model_copy(update={"drop_caches": True})])).splitlines()
    golden.same(line for line in dropping if line not in usual)
