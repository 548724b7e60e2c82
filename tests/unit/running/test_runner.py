"""A run on several nodes: all are ready before one begins, and one node's trouble is its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from cephtui.analysis.views.live import Live
from cephtui.ceph.cluster import ClusterState, HealthCheck
from cephtui.cluster import monitor, preflight
from cephtui.cluster.monitor import Observation
from cephtui.cluster.preflight import Preflight
from cephtui.cluster.reader import ClusterError
from cephtui.models import ClusterSample, Event, Node, NodeEnvironment, Notice, Outcome, Plan, Run, Sample, Total
from cephtui.models.refusal import Refusal
from cephtui.nodes import probe
from cephtui.nodes import state as state_module
from cephtui.nodes.shell import NodeShell, Shell
from cephtui.nodes.state import NodeState, diagnosis
from cephtui.nodes.transport import Completed, Connection, Question, TransportError
from cephtui.reports.words.text import node_states
from cephtui.running import cleanup, follow
from cephtui.running.bench import Bench, PrefilledPart
from cephtui.running.inbox import Inbox
from cephtui.running.recorder import StopRequest
from cephtui.running.runner import Runner
from cephtui.running.step_run import execute
from cephtui.sessions import store
from cephtui.sessions.jsonlines import line, parse_sample
from cephtui.sessions.playback import step_of
from cephtui.sessions.undo import Undo, left_behind
from cephtui.sessions.writer import RunWriter, SessionWriter
from cephtui.targets import Target, parse_target
from cephtui.targets.base import TargetState, Use
from cephtui.targets.file import FileTarget
from cephtui.tools import TOOLS
from tests import RECORDINGS
from tests.support import plans
from tests.support.fakes import GIB, FakeNode, Log, Script, connector
from tests.support.golden import Golden
from tests.support.known import known
from tests.support.plans import FILE, OWNER

THREE = ("a", "b", "c")
PRESET = "write-iops"
RBD = "rbd:bench"
LONG = 30.0


def plan(
    *presets: str,
    nodes: tuple[str, ...] | tuple[Node, ...] = THREE,
    target: str = FILE,
    set: tuple[str, ...] = (),
) -> Plan:
    """By default random writes as they were recorded, and the 1 GiB that was filled for them."""
    size = ("size=128M",) if target == RBD else ()
    return plans.plan(*(presets or (PRESET,)), nodes=nodes, target=target, options=("runtime=20", *size, *set))


def target_of(whole: Plan) -> Target:
    return parse_target(whole.steps[0].target)


def hosts_of(whole: Plan, **script: Any) -> dict[str, FakeNode]:
    """Its nodes, where a run may go as a script has it."""
    log = Log()
    hosts = {node.name: FakeNode(node, log) for node in whole.hosts}
    if script:
        for host in hosts.values():
            host.scripts[PRESET] = Script(**script)
    return hosts


@dataclass
class Stage:
    """One console's core without its thread."""

    plan: Plan
    hosts: dict[str, FakeNode]
    bench: Bench
    directory: Path
    events: list[Event]
    stop: StopRequest = field(default_factory=StopRequest)
    shells: dict[str, NodeShell] = field(default_factory=dict)

    @property
    def log(self) -> Log:
        return next(iter(self.hosts.values())).log

    async def run(self, step: int = 0) -> Run:
        """Carry out a step, within a time in which it must be over."""
        for name, host in self.hosts.items():
            if name not in self.shells or self.shells[name].connection.closed:
                self.shells[name] = NodeShell(host.node, await host.connect())
        async with asyncio.timeout(LONG):
            run = await execute(
                self.bench, self.plan, self.plan.steps[step], target_of(self.plan), self.shells, self.stop
            )
        assert run == store.read_run(self.directory, run.run), "what is told is what is kept"
        return run

    @contextlib.asynccontextmanager
    async def running(self, step: int = 0) -> AsyncIterator[asyncio.Task[Run]]:
        """A step in progress, which must come to its end."""
        task = asyncio.create_task(self.run(step))
        try:
            yield task
            await task
        finally:
            task.cancel()

    def samples(self, node: str | None, *phases: str) -> list[Sample]:
        found = [event for event in self.events if isinstance(event, Sample) and event.node == node]
        return [sample for sample in found if not phases or sample.phase in phases]

    def undo(self) -> list[Undo]:
        return undo_of(self.directory)


def undo_of(directory: Path) -> list[Undo]:
    path = directory / "undo.jsonl"
    return [Undo.model_validate_json(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def new_stage(tmp_path: Path) -> Iterator[Callable[..., Stage]]:
    with contextlib.ExitStack() as stack:

        def make(whole: Plan | None = None, *, stall_seconds: float = 120.0) -> Stage:
            session = SessionWriter.open(tmp_path, "s")
            stack.callback(session.close)
            chosen = whole or plan()
            events: list[Event] = []
            bench = Bench(session, events.append, stall_seconds)
            stage = Stage(chosen, hosts_of(chosen), bench, tmp_path / "s", events)
            stage.log.undo = tmp_path / "s" / "undo.jsonl"
            return stage

        yield make


async def until(condition: Callable[[], bool], task: asyncio.Task[Run] | None = None) -> None:
    """Wait for what the run brings about; raises what ends it before, and TimeoutError."""
    async with asyncio.timeout(LONG):
        while not condition():
            if task is not None and task.done():
                pytest.fail(f"the run has ended before: {task.result()}")
            await asyncio.sleep(0.005)


def outcomes(run: Run) -> dict[str, Outcome | None]:
    return {node.node: node.outcome for node in run.nodes}


def errors(run: Run) -> dict[str, str | None]:
    return {node.node: node.error for node in run.nodes}


def written(run: Run, node: str | None = None) -> Total | None:
    summary = run.summary if node is None else next(n.summary for n in run.nodes if n.node == node)
    return summary.write


def ios(total: Total | None) -> int:
    return known(total.ios) if total else 0


RECORDED = json.loads((RECORDINGS / "replay/001/run.json").read_text())["summary"]["write"]
RECORDED["ios"] = RECORDED["bytes"] // 4096  # an earlier cephtui has kept those that began
RECORDED["iops"] = RECORDED["ios"] / RECORDED["runtime_seconds"]


def recorded_total() -> Total:
    return Total.model_validate(RECORDED)


def as_recorded(total: Total | None) -> dict[str, object]:
    """The figures that the recording has too."""
    return known(total).model_dump(include={*RECORDED})


# ---------------------------------------------------------------------------------------------- together


async def test_three_nodes_are_three_times_one(new_stage: Callable[..., Stage]) -> None:
    stage = new_stage()
    run = await stage.run()
    one, whole = recorded_total(), written(run)
    assert (run.outcome, run.error) == ("ok", None)
    assert outcomes(run) == {"a": "ok", "b": "ok", "c": "ok"}
    assert whole is not None
    assert (whole.ios, whole.bytes) == (3 * known(one.ios), 3 * one.bytes)
    assert whole.iops == pytest.approx(3 * known(one.iops))
    assert whole.latency_p99_seconds == one.latency_p99_seconds, "of the same histogram three times"
    assert whole.latency_mean_seconds == pytest.approx(one.latency_mean_seconds)
    assert [as_recorded(written(run, node)) for node in THREE] == [RECORDED] * 3
    assert run.start_spread_seconds is not None
    assert run.start_spread_seconds < 1.0
    assert set(run.environment) == set(THREE)
    seconds = [known(sample.write.iops) for sample in stage.samples(None, "run") if sample.write]
    spread = known(run.seconds)
    assert (spread.count, spread.least, spread.greatest) == (len(seconds), min(seconds), max(seconds))


async def test_every_second_of_each_is_in_the_seconds_of_all(new_stage: Callable[..., Stage]) -> None:
    stage = new_stage()
    run = await stage.run()
    for phases in (("prepare",), ("ramp",), ("run",)):
        single = [s.write for node in THREE for s in stage.samples(node, *phases) if s.write]
        merged = [s.write for s in stage.samples(None, *phases) if s.write]
        assert sum(known(i.ios) for i in merged) == sum(known(i.ios) for i in single) > 0
        assert sum(i.bytes for i in merged) == sum(i.bytes for i in single)
    assert [s.missing for s in stage.samples(None)] == [()] * len(stage.samples(None))
    assert len(stage.samples(None, "run")) == len(stage.samples("a", "run"))
    samples = [parse_sample(line(s)) for s in stage.events if isinstance(s, Sample)]
    assert list(store.read_samples(stage.directory, run.run)) == samples, "stored as it was published"
    for node in THREE:
        for name in (node, f"{node}.prepare"):
            assert (stage.directory / "001" / "raw" / f"{name}.stdout").stat().st_size > 1000


async def test_a_run_is_stored_with_its_ceilings_by_what_was_measured_before_it(
    new_stage: Callable[..., Stage],
) -> None:
    stage = new_stage(plan(nodes=("a",), set=("iodepth=1,64", "numjobs=1")))
    alone, deep = await stage.run(0), await stage.run(1)
    assert alone.ceilings
    assert deep.ceilings
    assert {ceiling.limit for ceiling in alone.ceilings if ceiling.is_itself} == {"depth"}
    (depth,) = [ceiling for ceiling in deep.ceilings if ceiling.limit == "depth"]
    assert depth.basis.endswith("with 1 on each node (#1)")


async def test_what_happens_on_all_nodes_happens_in_order(new_stage: Callable[..., Stage]) -> None:
    stage = new_stage()
    await stage.run()
    happened: dict[str, list[int]] = {}
    for index, (what, _) in enumerate(stage.log.events):
        happened.setdefault(what, []).append(index)
    for before, after in (("ended fill", f"started {PRESET}"), (f"ready {PRESET}", f"released {PRESET}")):
        assert len(happened[before]) == len(happened[after]) == 3
        assert max(happened[before]) < min(happened[after]), f"{after} on one node before {before} on all"
    first, last = min(happened[f"released {PRESET}"]), max(happened[f"released {PRESET}"])
    assert last - first == 2, "at once: nothing else happens between"


async def test_nobody_is_released_before_all_are_ready(new_stage: Callable[..., Stage]) -> None:
    stage, ready = new_stage(), asyncio.Event()
    stage.hosts["c"].scripts[PRESET] = Script(ready=ready)
    async with stage.running() as task:
        await until(lambda: len(stage.log.of(f"started {PRESET}")) == 3, task)
        await until(lambda: len(stage.log.of(f"ready {PRESET}")) == 2, task)
        await asyncio.sleep(0.05)  # would be long enough for a release that waits for nobody
        assert stage.log.of(f"released {PRESET}") == []
        ready.set()
    assert len(stage.log.of(f"released {PRESET}")) == 3


async def test_nobody_is_held_before_all_are_filled(new_stage: Callable[..., Stage]) -> None:
    stage, slow = new_stage(), Script(waits_after=0.0)
    stage.hosts["b"].scripts["fill"] = slow
    async with stage.running() as task:
        await until(lambda: sorted(stage.log.of("ended fill")) == ["a", "c"], task)
        await until(lambda: stage.log.of("waits in fill") == ["b"], task)
        assert stage.log.of(f"started {PRESET}") == []
        slow.go_on.set()
    assert outcomes(task.result()) == {"a": "ok", "b": "ok", "c": "ok"}


async def test_commands_run_behind_their_prefix_and_hold_their_file(new_stage: Callable[..., Stage]) -> None:
    boxed = Node(name="b", host="b", prefix=("sudo", "-n"))
    stage = new_stage(plan(nodes=(Node(name="a", host="a"), boxed)))
    run = await stage.run()
    assert run.outcome == "ok"
    for name, prefix in (("a", ()), ("b", ("sudo", "-n"))):
        fill, measured = stage.hosts[name].started
        assert fill[: len(prefix) + 1] == measured[: len(prefix) + 1] == (*prefix, "fio")
        assert f"--filename=/mnt/bench/test.{name}" in fill
        assert stage.hosts[name].locks == [f"/mnt/bench/test.{name}"] * 2


async def test_what_is_filled_is_not_filled_again_unless_it_is_another_file(new_stage: Callable[..., Stage]) -> None:
    stage = new_stage(plan(PRESET, "read-iops"))
    await stage.run(0)
    stage.hosts["b"].there["file:/mnt/bench/test.b"] = "replaced"
    await stage.run(1)
    assert sorted(stage.log.of("started fill")) == ["a", "b", "b", "c"]
    assert sorted(stage.log.of("started read-iops")) == ["a", "b", "c"]
    assert stage.bench.prefilled["b", "file:/mnt/bench/test.b"].identity == "replaced"


async def test_a_node_that_has_nothing_to_fill_is_not_missed_in_the_filling(new_stage: Callable[..., Stage]) -> None:
    stage = new_stage()
    spec = "file:/mnt/bench/test.a"
    stage.hosts["a"].there[spec] = "known"
    stage.bench.prefilled["a", spec] = PrefilledPart("known", GIB)
    run = await stage.run()
    assert run.outcome == "ok"
    assert sorted(stage.log.of("started fill")) == ["b", "c"]
    filling = stage.samples(None, "prepare")
    assert sum(known(s.write.ios) for s in filling if s.write) > 0
    assert [s.missing for s in filling] == [()] * len(filling)


# ---------------------------------------------------------------------------------------------- refused


def without_fio(host: FakeNode) -> None:
    host.tools = {}


def with_old_fio(host: FakeNode) -> None:
    host.tools = {"fio": "fio-2.21"}


def full(host: FakeNode) -> None:
    host.facts = {"free": GIB}


def with_a_foreign_file(host: FakeNode) -> None:
    host.facts = {"kind": "file", "size": 5, "marked": ""}
    del host.facts["marked"]


def speechless(host: FakeNode) -> None:
    host.answer(lambda argv: "cephtui-inspect" in argv, stdout="", stderr="bash: no space left")


def broken(host: FakeNode) -> None:
    host.answer(lambda argv: bool(argv[9999]))


def gone(host: FakeNode) -> None:
    def lost(argv: tuple[str, ...]) -> bool:
        host.lose()
        return True

    host.answer(lost)


@pytest.mark.parametrize(
    ("spoil", "outcome"),
    [
        (without_fio, "refused"),
        (with_old_fio, "refused"),
        (full, "refused"),
        (with_a_foreign_file, "refused"),
        (speechless, "refused"),
        (broken, "failed"),
        (gone, "lost"),
    ],
)
async def test_where_one_can_not_take_part_nothing_is_started_anywhere(
    new_stage: Callable[..., Stage], spoil: Callable[[FakeNode], None], outcome: Outcome, golden: Golden
) -> None:
    stage = new_stage()
    spoil(stage.hosts["b"])
    run = await stage.run()
    assert outcomes(run) == {"a": "refused", "b": outcome, "c": "refused"}
    golden.same(str(errors(run)[node]) for node in THREE)
    assert run.outcome == ("failed" if outcome == "failed" else "refused")
    assert [event for event in stage.log.events if event[0] != "connected"] == []
    assert stage.undo() == []
    assert (run.summary.read, run.summary.write, stage.samples(None)) == (None, None, [])


async def test_a_cluster_that_is_not_to_be_loaded_refuses_all(
    new_stage: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def check(*arguments: object) -> Preflight:
        return Preflight(Refusal("pool bench is nearly full", "remove something"))

    monkeypatch.setattr(preflight, "check", check)
    stage = new_stage(plan(target=RBD))
    run = await stage.run()
    assert set(outcomes(run).values()) == {"refused"}
    assert set(errors(run).values()) == {"pool bench is nearly full: remove something"}
    assert [host.commands for host in stage.hosts.values()] == [[], [], []]


HEALTHY = ClusterState("HEALTH_OK", osds=3, osds_up=3, osds_in=3, pools=1)


@pytest.fixture
def monitored(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lets a cluster that is healthy before a run report these states during it, and then the error."""

    def report_states(*states: ClusterState, error: Exception | None = None) -> None:
        async def check(*arguments: object) -> Preflight:
            return Preflight(state=HEALTHY, pool="bench")

        async def observe(shell: NodeShell, pool: str, osds: Sequence[int]) -> AsyncGenerator[Observation, None]:
            assert (shell.node.name, pool) == ("a", "bench")
            for state in states:
                yield Observation(state)
            if error:
                raise error
            await asyncio.Event().wait()

        monkeypatch.setattr(preflight, "check", check)
        monkeypatch.setattr(monitor, "observe", observe)

    return report_states


def full_cluster(code: str) -> ClusterState:
    return replace(HEALTHY, health="HEALTH_ERR", checks=(HealthCheck(code, "HEALTH_ERR", "1 of them is full", 1),))


async def test_what_the_cluster_reports_is_stored_and_what_harms_it_ends_the_run(
    new_stage: Callable[..., Stage], monitored: Callable[..., None], golden: Golden
) -> None:
    monitored(replace(HEALTHY, health="HEALTH_WARN"), full_cluster("OSD_FULL"), HEALTHY)
    stage = new_stage(plan(target=RBD))
    run = await stage.run()
    assert run.outcome == "stopped"
    golden.same(run.error)
    told = [event.health for event in stage.events if isinstance(event, ClusterSample)]
    assert told == ["HEALTH_OK", "HEALTH_WARN", "HEALTH_ERR", "HEALTH_OK"], "what it was like before comes first"


@pytest.mark.parametrize(("flags", "outcome"), [("hashpspool", "ok"), ("full", "stopped")])
async def test_a_pool_that_is_full_ends_the_runs_that_use_it(
    new_stage: Callable[..., Stage], monitored: Callable[..., None], flags: str, outcome: Outcome, golden: Golden
) -> None:
    monitored(full_cluster("POOL_FULL"))
    stage = new_stage(plan(target=RBD))
    pools = [
        {"pool": 1, "pool_name": "bench", "flags_names": flags},
        {"pool": 2, "pool_name": "theirs", "flags_names": "full"},
    ]
    stage.hosts["a"].answer(lambda argv: "dump" in argv, json.dumps({"pools": pools}))
    run = await stage.run()
    assert run.outcome == outcome
    golden.same(str(run.error))


@pytest.mark.parametrize("error", [ClusterError("ceph ended on a again and again"), TransportError("a: lost")])
async def test_a_monitor_that_ends_leaves_the_run_alone(
    new_stage: Callable[..., Stage], monitored: Callable[..., None], error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    monitored(HEALTHY, error=error)
    stage = new_stage(plan(target=RBD))
    run = await stage.run()
    assert run.outcome == "ok"
    assert any(message.endswith(f" watched: {error}") for message in caplog.messages)


async def test_the_cause_comes_first_in_the_error_of_the_run(new_stage: Callable[..., Stage], golden: Golden) -> None:
    """What the user reads is why, not that the others were not started."""
    stage = new_stage()
    without_fio(stage.hosts["b"])
    run = await stage.run()
    golden.same(run.error)


# ---------------------------------------------------------------------------------------------- lost


async def test_where_one_is_lost_the_others_finish_and_what_it_did_counts(
    new_stage: Callable[..., Stage], golden: Golden
) -> None:
    stage = new_stage()
    stage.hosts["b"].scripts[PRESET] = Script(lost_after=8.0)
    run = await stage.run()
    assert (run.outcome, outcomes(run)) == ("lost", {"a": "ok", "b": "lost", "c": "ok"})
    assert errors(run)["a"] is None
    golden.same(errors(run)["b"])
    one, part = recorded_total(), written(run, "b")
    assert as_recorded(written(run, "a")) == as_recorded(written(run, "c")) == RECORDED
    assert part is not None
    assert 0 < ios(part) < ios(one) / 2
    assert part.runtime_seconds == pytest.approx(5, abs=2)
    assert ios(written(run)) == 2 * ios(one) + ios(part)
    assert known(written(run)).iops == pytest.approx(ios(written(run)) / one.runtime_seconds)
    assert [finding.code for finding in run.findings] == ["incomplete"]


async def test_after_a_loss_the_seconds_go_on_and_say_so(new_stage: Callable[..., Stage]) -> None:
    """Its process has ended: there is nobody to wait for, and what it said is not lost."""
    stage = new_stage()
    stage.hosts["b"].scripts[PRESET] = Script(lost_after=8.0)
    await stage.run()
    merged = stage.samples(None, "run")
    single = [known(s.write.ios) for node in THREE for s in stage.samples(node, "run") if s.write]
    assert sum(known(s.write.ios) for s in merged if s.write) == sum(single)
    assert len(merged) >= len(stage.samples("a", "run"))
    assert merged[-1].elapsed_seconds == stage.samples("a", "run")[-1].elapsed_seconds


async def test_a_node_without_figures_adds_nothing_to_the_totals(new_stage: Callable[..., Stage]) -> None:
    stage = new_stage()
    stage.hosts["b"].scripts[PRESET] = Script(lost_after=0.5)
    run = await stage.run()
    assert outcomes(run)["b"] == "lost"
    assert written(run, "b") is None
    assert ios(written(run)) == 2 * ios(recorded_total())
    assert {s.missing for s in stage.samples(None)} == {()}


async def test_where_the_pool_is_gone_that_is_the_error(
    new_stage: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def deleted(shell: NodeShell, names: tuple[str, ...]) -> str:
        return "pool bench was deleted during the run"

    monkeypatch.setattr("cephtui.running.step_run.deleted_pool", deleted)
    stage = new_stage()
    stage.hosts["b"].scripts[PRESET] = Script(status=1, stderr="fio: io_u error on file x: Operation not permitted")
    run = await stage.run()
    assert outcomes(run) == {"a": "ok", "b": "failed", "c": "ok"}
    assert errors(run) == {"a": None, "b": "pool bench was deleted during the run", "c": None}


async def test_a_node_that_is_lost_while_filling_is_not_measured_and_the_others_are(
    new_stage: Callable[..., Stage],
    golden: Golden,
) -> None:
    stage = new_stage()
    stage.hosts["b"].scripts["fill"] = Script(lost_after=0.0)
    run = await stage.run()
    assert (run.outcome, outcomes(run)) == ("lost", {"a": "ok", "b": "lost", "c": "ok"})
    golden.same(errors(run)["b"])
    assert sorted(stage.log.of(f"started {PRESET}")) == ["a", "c"]
    assert ios(written(run)) == 2 * ios(recorded_total())
    assert {s.missing for s in stage.samples(None, "ramp", "run")} == {()}
    assert {node for node, _ in stage.bench.prefilled} == {"a", "c"}, "it may have been written in part"
    assert {node for node, _ in stage.bench.created} == {*THREE}, "it has to be removed"


async def test_a_filling_that_falls_short_is_no_filling(new_stage: Callable[..., Stage], golden: Golden) -> None:
    """fio ends with status 0 where a size was less than asked for."""
    stage = new_stage(plan(set=("size=129M",)))
    run = await stage.run()
    assert outcomes(run) == {"a": "failed", "b": "failed", "c": "failed"}
    (error,) = {*errors(run).values()}
    golden.same(error)
    assert stage.log.of(f"started {PRESET}") == []
    assert stage.bench.prefilled == {}


async def test_a_filling_that_fails_is_told_with_the_words_of_the_tool(new_stage: Callable[..., Stage]) -> None:
    stage = new_stage()
    stage.hosts["b"].scripts["fill"] = Script(status=1, stderr="fio: io_u error on file /mnt/bench/test.b\n")
    run = await stage.run()
    assert outcomes(run) == {"a": "ok", "b": "failed", "c": "ok"}
    assert errors(run)["b"] == f"prefilling {FILE}: fio: io_u error on file /mnt/bench/test.b"


async def test_a_node_that_can_not_create_is_refused_and_told(new_stage: Callable[..., Stage], golden: Golden) -> None:
    stage = new_stage()
    stage.hosts["b"].answer(lambda argv: "cephtui-create" in argv, stderr="bash: no space left\n", status=1)
    run = await stage.run()
    assert outcomes(run) == {"a": "ok", "b": "refused", "c": "ok"}
    golden.same(errors(run)["b"])


async def test_a_node_that_does_not_get_ready_holds_up_nobody(new_stage: Callable[..., Stage], golden: Golden) -> None:
    stage = new_stage()
    stage.hosts["b"].scripts[PRESET] = Script(fails="not ready to run anything within 30 s")
    run = await stage.run()
    assert (run.outcome, outcomes(run)) == ("lost", {"a": "ok", "b": "lost", "c": "ok"})
    golden.same(errors(run)["b"])
    assert {s.missing for s in stage.samples(None, "ramp", "run")} == {()}
    assert [node.started_seconds is None for node in run.nodes] == [False, True, False]


async def test_a_node_that_fails_in_mid_run_is_told_and_the_others_count(
    new_stage: Callable[..., Stage], golden: Golden
) -> None:
    stage = new_stage()
    stage.hosts["c"].scripts[PRESET] = Script(status=1, stderr="fio: job killed by signal 9\n")
    run = await stage.run()
    assert (run.outcome, outcomes(run)) == ("failed", {"a": "ok", "b": "ok", "c": "failed"})
    golden.same(errors(run)["c"])
    golden.same(run.error)


# ---------------------------------------------------------------------------------------------- stopped


async def test_a_stop_while_filling_ends_it_everywhere_and_measures_nothing(new_stage: Callable[..., Stage]) -> None:
    stage = new_stage()
    for host in stage.hosts.values():
        host.scripts["fill"] = Script(waits_after=0.0)
    async with stage.running() as task:
        await until(lambda: len(stage.log.of("waits in fill")) == 3, task)
        stage.stop.request()
    run = task.result()
    assert (run.outcome, run.error) == ("stopped", None)
    assert set(outcomes(run).values()) == {"stopped"}
    assert sorted(stage.log.of("stopped fill")) == [*THREE]
    assert stage.log.of(f"started {PRESET}") == []
    assert stage.bench.prefilled == {}


async def test_a_stop_while_only_one_still_fills_measures_nothing(new_stage: Callable[..., Stage]) -> None:
    stage = new_stage()
    stage.hosts["b"].scripts["fill"] = Script(waits_after=0.0)
    async with stage.running() as task:
        await until(lambda: sorted(stage.log.of("ended fill")) == ["a", "c"], task)
        await until(lambda: stage.log.of("waits in fill") == ["b"], task)
        stage.stop.request()
    assert set(outcomes(task.result()).values()) == {"stopped"}
    assert stage.log.of(f"started {PRESET}") == []


async def test_a_stop_before_the_release_releases_nobody_and_leaves_nothing(new_stage: Callable[..., Stage]) -> None:
    stage, ready = new_stage(), asyncio.Event()
    stage.hosts["c"].scripts[PRESET] = Script(ready=ready)
    async with stage.running() as task:
        await until(lambda: len(stage.log.of(f"ready {PRESET}")) == 2, task)
        stage.stop.request()
        ready.set()
    run = task.result()
    assert (run.outcome, set(outcomes(run).values())) == ("stopped", {"stopped"})
    assert stage.log.of(f"released {PRESET}") == []
    assert sorted(stage.log.of(f"stopped {PRESET}")) == [*THREE], "what waits for its release is ended"
    assert (run.summary.write, run.start_spread_seconds) == (None, None)


@pytest.mark.parametrize(("reason", "status"), [("", 128), ("the cluster has lost an OSD", 128), ("", 0)])
async def test_a_stop_in_mid_run_ends_all_and_keeps_what_was_measured(
    new_stage: Callable[..., Stage], reason: str, status: int
) -> None:
    stage = new_stage()
    for host in stage.hosts.values():
        host.scripts[PRESET] = Script(waits_after=8.0, stopped_status=status)
    async with stage.running() as task:
        await until(lambda: len(stage.log.of(f"waits in {PRESET}")) == 3, task)
        stage.stop.request(reason)
    run = task.result()
    assert (run.outcome, run.error) == ("stopped", reason or None)
    assert set(outcomes(run).values()) == {"stopped"}
    assert sorted(stage.log.of(f"stopped {PRESET}")) == [*THREE]
    assert ios(written(run)) == 3 * ios(written(run, "a")) > 0
    assert {finding.code for finding in run.findings} == {"incomplete"}
    assert len(stage.samples(None, "run")) == len(stage.samples("a", "run")) > 2


async def test_a_wish_to_stop_that_comes_after_the_end_of_one_does_not_spoil_it(
    new_stage: Callable[..., Stage],
) -> None:
    stage = new_stage()
    stage.hosts["b"].scripts[PRESET] = Script(waits_after=8.0)
    async with stage.running() as task:
        await until(lambda: sorted(stage.log.of(f"ended {PRESET}")) == ["a", "c"], task)
        stage.stop.request()
    assert outcomes(task.result()) == {"a": "ok", "b": "stopped", "c": "ok"}


async def test_a_node_that_stands_still_ends_the_run_and_is_named(
    new_stage: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "SILENCE_SECONDS", 0.5)
    stage = new_stage(stall_seconds=1.5)
    stage.hosts["b"].scripts[PRESET] = Script(waits_after=8.0)
    run = await stage.run()
    assert (run.outcome, outcomes(run)) == ("stopped", {"a": "ok", "b": "stopped", "c": "ok"})
    assert re.match(r"stalled: .*\bb\b", str(errors(run)["b"]))
    notices = [event.text for event in stage.events if isinstance(event, Notice)]
    assert re.match(r"stalled: .*\bfio on b\b", notices[0])


# ---------------------------------------------------------------------------------------------- the whole runner


@dataclass
class Desk:
    """A runner with its thread, and the nodes that it reaches."""

    plan: Plan
    hosts: dict[str, FakeNode]
    runner: Runner
    inbox: Inbox
    directory: Path

    @property
    def log(self) -> Log:
        return next(iter(self.hosts.values())).log

    def submit(self) -> tuple[Run, ...]:
        return self.runner.submit(self.plan, target_of(self.plan)).result(LONG)

    def notices(self) -> list[str]:
        return [event.text for event in self.inbox.drain() if isinstance(event, Notice)]

    def follow(self, condition: Callable[[Event], bool]) -> None:
        """Until an event of this kind."""
        for _ in range(int(LONG / 0.5)):
            if any(condition(event) for event in self.inbox.drain(0.5)):
                return
        pytest.fail("it has not come to that")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Callable[[Plan], Desk]]:
    with contextlib.ExitStack() as stack:

        def make(whole: Plan, hosts: Mapping[str, FakeNode] | None = None, session: str = "s") -> Desk:
            chosen = dict(hosts or hosts_of(whole))
            made = stack.enter_context(Runner(tmp_path, session, connect_node=connector(chosen)))
            directory = tmp_path / session
            next(iter(chosen.values())).log.undo = directory / "undo.jsonl"
            return Desk(whole, chosen, made, made.subscribe(), directory)

        yield make


@pytest.fixture
def no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known of the cluster: its guards have tests of their own."""

    async def check(*arguments: object) -> Preflight:
        return Preflight()

    monkeypatch.setattr(preflight, "check", check)


def test_what_was_created_is_noted_before_and_removed_at_the_end(desk: Callable[..., Desk]) -> None:
    this = desk(plan())
    (run,) = this.submit()
    assert run.outcome == "ok"
    specs = {f"file:/mnt/bench/test.{node}" for node in THREE}
    assert {spec for spec, _ in this.log.noted} == specs
    for spec, noted in this.log.noted:
        pending = [Undo.model_validate_json(line) for line in noted.splitlines()]
        assert spec in {undo.target for undo in pending if not undo.done}, "before it was created"
    assert {spec for host in this.hosts.values() for spec in host.there} == specs, "kept for the next plan"
    assert this.runner.close() == []
    assert {spec for host in this.hosts.values() for spec in host.there} == set()
    found = undo_of(this.directory)
    assert {(u.node, u.target, u.done) for u in found} == {
        (node, f"file:/mnt/bench/test.{node}", done) for node in THREE for done in (False, True)
    }
    assert all(u.at == this.hosts[u.node].node for u in found), "with the way to it"
    assert left_behind(this.directory.parent) == []
    assert sorted(this.log.of("connected")) == sorted(this.log.of("closed")) == [*THREE]


async def test_what_the_target_knows_of_a_cause_is_said_with_it(
    new_stage: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    inspect = FileTarget.inspect

    async def knowing(self: FileTarget, shell: Shell, use: Use) -> TargetState:
        return replace(await inspect(self, shell, use), causes={"NoSpace": "the pool has 3 GiB"})

    monkeypatch.setattr(FileTarget, "inspect", knowing)
    stage = new_stage(plan(nodes=("a",)))
    stage.hosts["a"].scripts[PRESET] = Script(status=1, stderr="fio: NoSpace, at 4096\n")
    run = await stage.run()
    golden.same(run.error)


def test_what_is_removed_and_can_not_be_taken_off_the_list_is_told(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    def full(self: object, entry: Undo) -> None:
        raise OSError(28, "No space left on device")

    this = desk(plan(nodes=("a",)))
    this.submit()
    monkeypatch.setattr(SessionWriter, "undo", full)
    (problem,) = this.runner.close()
    golden.same(problem)
    assert this.runner.cleanup.leaves
    assert this.hosts["a"].there == {}
    assert [undo.target for _, undo in left_behind(this.directory.parent)] == ["file:/mnt/bench/test"]


@pytest.mark.usefixtures("no_cluster")
def test_images_are_created_for_each_job_and_removed(desk: Callable[..., Desk]) -> None:
    this = desk(plan(target=RBD))
    (run,) = this.submit()
    assert (run.outcome, run.error) == ("ok", None)
    assert [len(host.there) for host in this.hosts.values()] == [8, 8, 8]
    assert this.runner.close() == []
    assert [host.there for host in this.hosts.values()] == [{}, {}, {}]
    assert len(undo_of(this.directory)) == 48
    assert left_behind(this.directory.parent) == []


@pytest.mark.usefixtures("no_cluster")
def test_an_image_that_is_still_in_use_is_removed_when_it_is_free(desk: Callable[..., Desk]) -> None:
    """The watch of a client that was killed lasts for half a minute."""
    this = desk(plan(target=RBD, nodes=("a",), set=("numjobs=8",)))
    this.submit()
    this.hosts["a"].busy = 1
    this.notices()
    assert this.runner.close() == []
    assert this.log.of("busy") == ["a"]
    assert this.hosts["a"].there == {}
    (notice,) = this.notices()
    assert "(rbd: error: image still has watchers)" in notice
    assert left_behind(this.directory.parent) == []


@pytest.mark.usefixtures("no_cluster")
def test_an_image_that_stays_in_use_is_told_with_what_removes_it_later(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cleanup, "REMOVAL_SECONDS", 0.0)
    this = desk(plan(target=RBD, nodes=("a", "b")))
    this.submit()
    this.hosts["b"].busy = 1
    (problem,) = this.runner.close()
    assert this.runner.cleanup.leaves
    assert problem.startswith(f"b: rbd:bench/cephtui-{OWNER}-b-")
    assert ": rbd: error: image still has watchers: cephtui cleanup " in problem
    (left,) = this.hosts["b"].there
    ((directory, undo),) = left_behind(this.directory.parent)
    assert (directory, undo.node, undo.target) == (this.directory, "b", left)
    assert undo.at == this.hosts["b"].node

    again = desk(this.plan, this.hosts, session="another")
    assert undo.at is not None
    assert again.runner.nodes.remove(undo.at, undo, directory).result(LONG).status == "done"
    assert this.hosts["b"].there == {}
    assert left_behind(this.directory.parent) == []


def test_a_node_that_was_lost_is_reached_again_to_clean_up(desk: Callable[..., Desk]) -> None:
    whole = plan()
    hosts = hosts_of(whole)
    hosts["b"].scripts[PRESET] = Script(lost_after=8.0)
    this = desk(whole, hosts)
    (run,) = this.submit()
    assert run.outcome == "lost"
    assert this.runner.close() == []
    assert not this.runner.cleanup.leaves
    assert [host.there for host in hosts.values()] == [{}, {}, {}]
    assert sorted(this.log.of("connected")) == ["a", "b", "b", "c"]


@pytest.mark.usefixtures("no_cluster")
def test_a_node_is_reached_again_once_however_much_is_to_be_removed(desk: Callable[..., Desk]) -> None:
    whole = plan(target=RBD, nodes=("a",))
    hosts = hosts_of(whole)
    hosts["a"].scripts[PRESET] = Script(lost_after=8.0)
    this = desk(whole, hosts)
    this.submit()
    assert this.runner.close() == []
    assert hosts["a"].there == {}
    assert this.log.of("connected") == ["a", "a"]
    assert [connection.closed for connection in hosts["a"].connections] == [True, True]


def test_a_node_that_stays_away_is_told_and_the_others_are_cleaned_up(
    desk: Callable[..., Desk], golden: Golden
) -> None:
    whole = plan()
    hosts = hosts_of(whole)
    hosts["b"].scripts[PRESET] = Script(lost_after=8.0)
    this = desk(whole, hosts)
    this.submit()
    hosts["b"].unreachable = "no route to host"
    (problem,) = this.runner.close()
    golden.same(problem)
    assert [bool(host.there) for host in hosts.values()] == [False, True, False]
    assert [undo.node for _, undo in left_behind(this.directory.parent)] == ["b"]


def test_a_node_that_was_lost_takes_part_in_the_next_step(desk: Callable[..., Desk]) -> None:
    whole = plan(PRESET, "read-iops")
    hosts = hosts_of(whole)
    hosts["b"].scripts[PRESET] = Script(lost_after=8.0)
    this = desk(whole, hosts)
    first, second = this.submit()
    assert (outcomes(first)["b"], outcomes(second)["b"]) == ("lost", "ok")
    assert (first.outcome, second.outcome) == ("lost", "ok")


def test_a_plan_that_is_skipped_when_it_is_about_to_begin_does_not_run(desk: Callable[..., Desk]) -> None:
    whole = plan(nodes=("a",))
    this = desk(whole, hosts_of(whole))
    submitted: Future[Future[tuple[Run, ...]]] = Future()

    def at_once() -> None:
        submitted.set_result(this.runner.submit(whole, target_of(whole)))
        this.runner.skip()

    this.runner._thread.call_soon(at_once)
    assert submitted.result(LONG).result(LONG) == ()


def test_a_step_that_is_skipped_before_it_began_moves_no_other_out_of_place(desk: Callable[..., Desk]) -> None:
    """While its node is being reached again, say."""
    whole = plan(nodes=("a",), set=("iodepth=1,2,4",))
    hosts = hosts_of(whole)
    hosts["a"].scripts[PRESET] = Script(lost_after=8.0)
    ask = hosts["a"].ask

    async def skipped(answers: Mapping[str, str] | None = None) -> Connection | Question:
        if hosts["a"].connections:
            hosts["a"].scripts[PRESET] = Script()
            this.runner.skip()
            await asyncio.sleep(0)
        return await ask(answers or {})

    hosts["a"].ask = skipped  # type: ignore[method-assign]
    this = desk(whole, hosts)
    inbox = this.runner.subscribe()
    runs = this.submit()
    assert [(run.step, run.options["iodepth"], run.outcome) for run in runs] == [(1, 1, "lost"), (3, 4, "ok")]
    live, drawn = Live(), []
    for event in inbox.drain():
        live.take(event)
        if isinstance(event, Run) and live.current:
            drawn.append((live.place, live.current.step.options["iodepth"]))
    assert drawn == [("1/3", 1), ("3/3", 4)]
    assert [step_of(this.directory, run) for run in runs] == [whole.steps[0], whole.steps[2]]


def test_a_node_that_stays_away_before_the_next_step_does_not_take_the_first_with_it(
    desk: Callable[..., Desk],
) -> None:
    """What was measured is told, and no run is left without an outcome."""
    whole = plan(PRESET, "read-iops")
    hosts = hosts_of(whole)
    hosts["b"].scripts[PRESET] = Script(lost_after=8.0, and_away=True)
    this = desk(whole, hosts)
    first, *others = this.submit()
    assert (first.preset, first.outcome) == (PRESET, "lost")
    assert all(run.outcome in ("lost", "refused") for run in others)
    assert "started read-iops" not in {what for what, _ in this.log.events}
    stored = [store.read_run(this.directory, number) for number in range(1, 2 + len(others))]
    assert stored == [first, *others]


def test_a_way_to_the_cluster_that_is_lost_ends_the_run_and_not_the_console(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def check(*arguments: object) -> Preflight:
        raise TransportError("a: the connection was lost")

    monkeypatch.setattr(preflight, "check", check)
    this = desk(plan(target=RBD))
    (run,) = this.submit()
    assert run.outcome in ("lost", "refused")
    assert "a: the connection was lost" in str(run.error)
    assert store.read_run(this.directory, 1) == run
    assert this.log.of("started fill") == []


def test_a_node_that_can_not_be_reached_is_told_and_nothing_is_started(
    desk: Callable[..., Desk], golden: Golden
) -> None:
    whole = plan()
    hosts = hosts_of(whole)
    hosts["b"].unreachable = "no route to host"
    this = desk(whole, hosts)
    state = this.runner.nodes.reach(whole.hosts[1]).result(LONG)
    assert (state.problem, state.environment, state.question) == ("b: no route to host", None, None)
    golden.same([refusal.text for refusal in this.runner.nodes.check(whole, target_of(whole)).result(LONG)])
    with golden.raises(TransportError):
        this.submit()
    assert [what for what, _ in this.log.events if what.startswith(("started", "created"))] == []
    assert this.runner.close() == []


def test_a_node_that_is_reached_says_what_it_is_like(desk: Callable[..., Desk]) -> None:
    this = desk(plan())
    state = this.runner.nodes.reach(this.plan.hosts[0]).result(LONG)
    assert state.problem is None
    assert state.environment is not None
    assert state.environment.tools == {"fio": "fio-3.33"}
    assert state.round_trip_seconds == pytest.approx(0.002)
    assert diagnosis(state).ready
    this.hosts["b"].tools = {}
    row = diagnosis(this.runner.nodes.reach(this.plan.hosts[1]).result(LONG))
    assert not row.ready
    assert FIO_MISSES in row.problems


@pytest.fixture
def two_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are: the rule is told by two."""
    monkeypatch.setattr(state_module, "TOOLS", {name: TOOLS[name] for name in ("fio", "rados-bench")})


FIO_IS_OLD = str(TOOLS["fio"].check_version("fio-2.1"))
FIO_MISSES, RADOS_MISSES = (tool.check_version(None) or "" for tool in (TOOLS["fio"], TOOLS["rados-bench"]))


@pytest.mark.parametrize(
    ("tools", "needed", "problems", "lacking"),
    [
        ({"fio": "fio-3.33"}, (), [], [RADOS_MISSES]),
        ({"fio": "fio-3.33"}, ("fio",), [], [RADOS_MISSES]),
        ({"fio": "fio-3.33"}, ("fio", "rados-bench"), [RADOS_MISSES], []),
        ({"rados-bench": "ceph version 16.2.15"}, (), [], [FIO_MISSES]),
        ({"rados-bench": "ceph version 16.2.15"}, ("fio",), [FIO_MISSES], []),
        ({"fio": "fio-2.1"}, ("rados-bench",), [RADOS_MISSES], [FIO_IS_OLD]),
        ({}, (), [FIO_MISSES, RADOS_MISSES], []),
        ({}, ("rados-bench",), [RADOS_MISSES], [FIO_MISSES]),
    ],
)
def test_a_tool_is_missing_only_where_it_is_needed(
    two_tools: None, tools: dict[str, str], needed: tuple[str, ...], problems: list[str], lacking: list[str]
) -> None:
    row = diagnosis(NodeState(Node(name="b"), NodeEnvironment(tools=tools)), needed)
    assert ([*row.problems], row.ready) == (problems, not problems)
    assert [*row.lacking] == lacking


def test_what_every_run_needs_is_missing_on_any_node_and_what_devices_need_is_not(two_tools: None) -> None:
    texts = [f"{command} is not installed: apt-get install util-linux" for command in ("flock", "wipefs")]
    found = NodeEnvironment(tools={"fio": "fio-3.33"}, missing=tuple(texts))
    row = diagnosis(NodeState(Node(name="b"), found), ["fio"])
    assert (row.problems, row.lacking, row.ready) == ((texts[0],), (RADOS_MISSES, texts[1]), False)


@pytest.mark.parametrize(
    ("word", "tools", "tool"), [("ready", {"rados-bench": "16.2"}, "rados-bench"), ("without fio", {}, "fio")]
)
def test_the_line_of_nodes_says_what_lacks_the_tool_in_question(word: str, tools: dict[str, str], tool: str) -> None:
    state = NodeState(Node(name="b"), NodeEnvironment(tools=tools))
    assert str(node_states([state.node], {"b": state}, tool)) == f"b {word}"


async def test_a_tool_says_by_itself_whether_it_is_behind_the_prefix_of_ceph(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another tool of the host's, and programs of Ceph's that are on the host and not where they would run."""
    boxed = Node(name="a", ceph_prefix=("cephadm", "shell", "--"))
    monkeypatch.setattr(probe, "TOOLS", {**TOOLS, "elbencho": TOOLS["fio"]})

    class Box(FakeNode):
        def answer_to(self, argv: tuple[str, ...]) -> Completed:
            self.tools = {"fio": "fio-1", "elbencho": "1", "ceph": "ceph version 15", "rados-bench": "ceph version 15"}
            if argv[:1] == ("cephadm",):
                self.tools = {"fio": "fio-2", "elbencho": "2", "ceph": "ceph version 18"}
            return super().answer_to(argv)

    environment = await probe.probe(NodeShell(boxed, await Box(boxed).connect()))
    assert environment.tools == {"fio": "fio-1", "elbencho": "1", "ceph": "ceph version 18"}


def test_what_a_node_asks_is_answered_one_by_one_and_remembered(desk: Callable[..., Desk]) -> None:
    whole = plan()
    hosts = hosts_of(whole)
    key = Question("b", "SHA256:abc", "accept its host key SHA256:abc?", secret=False)
    password = Question("b", "root@b password", "password of root@b", secret=True)
    hosts["b"].questions = [key, password]
    this = desk(whole, hosts)
    node = whole.hosts[1]
    assert this.runner.nodes.reach(node).result(LONG).question == key
    assert this.runner.nodes.reach(node, {"another": "yes"}).result(LONG).question == key
    assert this.runner.nodes.reach(node, {key.key: "yes"}).result(LONG).question == password
    assert this.log.of("connected") == []
    state = this.runner.nodes.reach(node, {password.key: "s3cret"}).result(LONG)
    assert (state.question, state.problem) == (None, None)
    (run,) = this.submit()
    assert run.outcome == "ok"
    hosts["b"].lose()
    assert this.runner.close() == [], "reached again without asking"
    kept = [path.read_bytes() for path in this.directory.rglob("*") if path.is_file()]
    assert kept
    assert not any(b"s3cret" in content for content in kept)


def test_without_an_answer_nothing_is_started(desk: Callable[..., Desk], golden: Golden) -> None:
    whole = plan()
    hosts = hosts_of(whole)
    hosts["b"].questions = [Question("b", "k", "accept its host key SHA256:abc?", secret=False)]
    this = desk(whole, hosts)
    with golden.raises(TransportError):
        this.submit()
    assert this.log.of("started fill") == []


def test_a_stop_ends_the_run_and_drops_the_rest_of_the_plan(desk: Callable[..., Desk]) -> None:
    whole = plan(PRESET, "read-iops")
    hosts = hosts_of(whole, waits_after=8.0)
    this = desk(whole, hosts)
    done, queued = (this.runner.submit(whole, target_of(whole)) for _ in range(2))
    this.follow(lambda event: isinstance(event, Sample) and event.node is None and event.phase == "run")
    this.runner.stop()
    (run,) = done.result(LONG)
    assert (run.outcome, set(outcomes(run).values())) == ("stopped", {"stopped"})
    assert queued.result(LONG) == ()
    assert this.log.of("started read-iops") == []
    assert this.runner.close() == []
    assert [host.there for host in hosts.values()] == [{}, {}, {}]


def test_a_stop_is_known_where_the_console_ends_before_the_run(
    desk: Callable[..., Desk], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, cut, finish = plan(), tmp_path / "cut", RunWriter.finish

    def copied_before(writer: RunWriter, run: Run) -> None:
        shutil.copytree(writer.directory.parent, cut)
        finish(writer, run)

    monkeypatch.setattr(RunWriter, "finish", copied_before)
    hosts = hosts_of(whole, waits_after=8.0)
    this = desk(whole, hosts)
    done = this.runner.submit(whole, target_of(whole))
    this.follow(lambda event: isinstance(event, Sample) and event.node is None and event.phase == "run")
    this.runner.stop()
    assert [run.outcome for run in done.result(LONG)] == ["stopped"]
    assert store.read_run(cut, 1).outcome == "stopped"


def test_closing_in_mid_run_stops_it_and_cleans_up(desk: Callable[..., Desk]) -> None:
    whole = plan()
    hosts = hosts_of(whole, waits_after=8.0)
    this = desk(whole, hosts)
    done = this.runner.submit(whole, target_of(whole))
    this.follow(lambda event: isinstance(event, Sample) and event.node is None and event.phase == "run")
    assert this.runner.close() == []
    (run,) = done.result(0)
    assert run.outcome == "stopped"
    assert [host.there for host in hosts.values()] == [{}, {}, {}]


def test_what_a_dead_console_left_elsewhere_is_not_touched_at_the_start(
    desk: Callable[..., Desk], tmp_path: Path, golden: Golden
) -> None:
    """Only what is on this machine is removed without being asked for; the rest is for cleanup."""
    dead = tmp_path / "dead"
    dead.mkdir()
    here, there = Node(name="local"), Node(name="b", host="b")
    left = [
        Undo(node="local", target="file:/cache/old", at=here),
        Undo(node="b", target="file:/mnt/bench/test.b", at=there),
        Undo(node="local", target=f"rbd:bench/cephtui-{OWNER}-local-0", at=here),
    ]
    (dead / "undo.jsonl").write_text("".join(undo.model_dump_json() + "\n" for undo in left))
    log = Log()
    hosts = {node.name: FakeNode(node, log) for node in (here, there)}
    for undo in left:
        hosts[undo.node].there[undo.target] = "old"
    this = desk(plan(nodes=("b",)), hosts)
    this.runner.nodes.remove_left_behind().result(LONG)
    assert [undo.target for _, undo in left_behind(tmp_path)] == [undo.target for undo in left[1:]]
    assert len(hosts["local"].there) == len(hosts["b"].there) == 1
    golden.same(this.notices())
