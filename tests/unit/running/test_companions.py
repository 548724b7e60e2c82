"""Processes beside those of a step: ready before the first of them begins, ended after the last, whatever fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from cephtui.models import Node, Place, Plan
from cephtui.nodes.transport import TransportError
from cephtui.reports.drawn.plan import draw_plans
from cephtui.running import companions
from cephtui.running.follow import CONNECTION_LOST
from cephtui.running.survey import plan_refusals
from cephtui.sessions.jsonlines import line
from cephtui.targets.file import FileTarget
from cephtui.tools.base import Companion
from cephtui.tools.fio.command import FioWorkload
from tests.support.drawings import printed
from tests.support.fakes import Script
from tests.support.golden import Golden
from tests.unit.running.test_runner import PRESET, Stage, errors, new_stage, outcomes, plan, target_of, until

__all__ = ["new_stage"]
LISTENING = "Server listening on 5201\n"
ELSEWHERE = Node(name="z", host="z", prefix=("sudo", "-n"))


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Plan:
    """Nodes ``a`` and ``b`` measure, with a server on ``z``."""

    def wanted(self: FioWorkload, nodes: Sequence[Node], place: Place) -> tuple[Companion, ...]:
        return (Companion("server", "z", ("serve", "--for", nodes[0].name, place.path), ready="listening"),)

    monkeypatch.setattr(FioWorkload, "companions", wanted)
    monkeypatch.setattr(FileTarget, "hosts", (ELSEWHERE,))
    return plan(nodes=("a", "b"))


def with_server(stage: Stage, **script: object) -> Script:
    """The server's script on ``z``, by default ready at once."""
    stage.hosts["z"].scripts["serve"] = found = Script(**{"says": LISTENING, **script})  # type: ignore[arg-type]
    return found


def test_it_stands_in_the_plan_with_its_command(served: Plan) -> None:
    (step,) = served.steps
    (server,) = step.companions
    assert (server.name, server.node, server.ready) == ("server", "z", "listening")
    assert server.command == "sudo -n serve --for a /mnt/bench/test.a"
    assert [node.name for node in served.hosts] == ["a", "b", "z"], "it has to be reached"
    assert step.names == ("a", "b"), "and does not measure"
    assert "z$ sudo -n serve --for a /mnt/bench/test.a" in printed(draw_plans([served]), 120)
    assert Plan.model_validate_json(line(served)) == served


def test_a_plan_without_any_says_nothing_of_it() -> None:
    assert "companions" not in line(plan())


async def test_it_runs_from_before_the_first_node_begins_until_after_the_last_has_ended(
    served: Plan, new_stage: Callable[..., Stage]
) -> None:
    stage = new_stage(served)
    with_server(stage)
    run = await stage.run()
    assert (run.outcome, run.error, outcomes(run)) == ("ok", None, {"a": "ok", "b": "ok"})
    told = [event for event in stage.log.events if event[0].split()[-1] in ("serve", PRESET)]
    names = [what for what, _ in told]
    assert names.index("released serve") < names.index(f"started {PRESET}")
    last = max(at for at, what in enumerate(names) if what == f"ended {PRESET}")
    assert names.index("stopped serve") > last
    assert "z" not in {sample.node for sample in stage.samples("z")}
    assert {sample.missing for sample in stage.samples(None)} == {()}, "nothing is waited for from its node"
    raw = stage.directory / "001" / "raw"
    assert (raw / "z.server.stdout").read_text() == LISTENING
    assert stage.hosts["z"].started == [("sudo", "-n", "serve", "--for", "a", "/mnt/bench/test.a")]


async def test_nothing_begins_before_it_is_ready(served: Plan, new_stage: Callable[..., Stage]) -> None:
    stage = new_stage(served)
    server = with_server(stage, says="a line cut in the mid")
    async with stage.running() as task:
        await until(lambda: bool(stage.log.of("released serve")), task)
        assert not stage.log.of(f"started {PRESET}")
        server.status, server.stderr = 1, "serve: error - unable to listen: Address already in use\nserve: exiting\n"
        stage.hosts["z"].scripts["serve"].go_on.set()
    run = task.result()
    why = "server on z: serve: error - unable to listen: Address already in use"
    assert (run.outcome, run.error) == ("failed", f"a: {why}")
    assert errors(run) == {"a": why, "b": why}
    assert not stage.log.of(f"started {PRESET}")


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ({"fails": "no more sessions"}, "no more sessions"),
        ({"says": "starting\n"}, "0 s"),
    ],
)
async def test_one_that_can_not_begin_is_the_failure_of_the_run(
    served: Plan,
    new_stage: Callable[..., Stage],
    monkeypatch: pytest.MonkeyPatch,
    script: dict[str, object],
    why: str,
    golden: Golden,
) -> None:
    monkeypatch.setattr(companions, "READY_SECONDS", 0.05)
    stage = new_stage(served)
    with_server(stage, **script)
    told = errors(await stage.run())
    text = told["a"] or ""
    assert told == {"a": text, "b": text}
    assert why in text
    golden.same(text)
    assert not stage.log.of(f"started {PRESET}")
    assert len(stage.log.of("released serve")) == len(stage.log.of("ended serve")), "nothing of it runs on"


async def test_its_end_in_the_run_ends_the_nodes_and_is_why(
    served: Plan, new_stage: Callable[..., Stage], golden: Golden
) -> None:
    stage = new_stage(served)
    server = with_server(stage, status=137)
    for name in ("a", "b"):
        stage.hosts[name].scripts[PRESET] = Script(waits_after=8.0)
    async with stage.running() as task:
        await until(lambda: len(stage.log.of(f"waits in {PRESET}")) == 2, task)
        server.go_on.set()
    run = task.result()
    why = errors(run)["a"] or ""
    assert (run.outcome, errors(run)) == ("failed", {"a": why, "b": why})
    assert "SIGKILL" in why
    golden.same(why)
    assert run.summary.write is not None, "what was measured until then is kept"


async def test_the_connection_to_it_is_lost(served: Plan, new_stage: Callable[..., Stage]) -> None:
    stage = new_stage(served)
    with_server(stage)
    stage.hosts["a"].scripts[PRESET] = Script(waits_after=8.0)
    async with stage.running() as task:
        await until(lambda: bool(stage.log.of(f"waits in {PRESET}")), task)
        stage.hosts["z"].lose()
    run = task.result()
    why = f"server on z: {CONNECTION_LOST}"
    assert (outcomes(run)["a"], errors(run)["a"], run.outcome) == ("lost", why, "lost"), "as of a node that measures"


async def test_a_failed_node_is_lost_with_the_connection_to_its_server(
    served: Plan, new_stage: Callable[..., Stage], golden: Golden
) -> None:
    stage = new_stage(served)
    with_server(stage)
    for name in ("a", "b"):
        stage.hosts[name].scripts[PRESET] = Script(status=1, stderr="fio: control socket has closed\n")
    async with stage.running() as task:
        await until(lambda: len(stage.log.of(f"ended {PRESET}")) == 2, task)
        stage.hosts["z"].lose()
    run = task.result()
    assert run.outcome == "lost"
    golden.same(errors(run)["a"])


async def test_it_may_end_by_itself_as_one_that_serves_once(served: Plan, new_stage: Callable[..., Stage]) -> None:
    stage = new_stage(served)
    server = with_server(stage)
    stage.hosts["a"].scripts[PRESET] = held = Script(waits_after=8.0)
    async with stage.running() as task:
        await until(lambda: bool(stage.log.of(f"waits in {PRESET}")), task)
        server.go_on.set()
        await until(lambda: bool(stage.log.of("ended serve")), task)
        held.go_on.set()
    assert outcomes(task.result()) == {"a": "ok", "b": "ok"}


async def test_a_failed_node_is_told_with_the_failure_of_its_server(
    served: Plan, new_stage: Callable[..., Stage], golden: Golden
) -> None:
    stage = new_stage(served)
    server = with_server(stage, status=1, stderr="serve: error - out of memory\n")
    stage.hosts["a"].scripts[PRESET] = Script(status=1, stderr="fio: control socket has closed\n")
    stage.hosts["b"].scripts[PRESET] = Script(status=1, stderr="fio: control socket has closed\n")
    async with stage.running() as task:
        await until(lambda: len(stage.log.of(f"ended {PRESET}")) == 2, task)
        server.go_on.set()
    assert "error - out of memory" in str(errors(task.result())["a"])
    golden.same(errors(task.result())["a"])


async def test_a_stop_ends_it_too(served: Plan, new_stage: Callable[..., Stage]) -> None:
    stage = new_stage(served)
    with_server(stage, says="starting\n")
    async with stage.running() as task:
        await until(lambda: bool(stage.log.of("released serve")), task)
        stage.stop.request()
    assert outcomes(task.result()) == {"a": "stopped", "b": "stopped"}
    assert stage.log.of("ended serve") == ["z"]


async def test_its_node_needs_the_tool_too(served: Plan, new_stage: Callable[..., Stage], golden: Golden) -> None:
    stage = new_stage(served)
    stage.hosts["z"].tools = {"fio": ""}
    run = await stage.run()
    why = errors(run)["a"] or ""
    assert (run.outcome, errors(run)) == ("refused", {"a": why, "b": why})
    golden.same(why)
    assert stage.hosts["z"].started == []
    assert [
        refusal.text for refusal in await plan_refusals(served, target_of(served), stage.shells, Path("nowhere"), print)
    ] == [why]


async def test_a_node_that_does_not_answer_is_why(
    served: Plan, new_stage: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    async def unanswered(shell: object) -> None:
        raise TransportError("z: no answer within 30 s")

    monkeypatch.setattr(companions, "probe", unanswered)
    stage = new_stage(served)
    golden.same((await stage.run()).error)
