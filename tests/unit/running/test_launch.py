"""From a choice to its runs, with nobody in front but a script of answers."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, TypeVar, cast

import pytest

from cephtui.models import Node, NodeEnvironment, Plan, Run
from cephtui.models.refusal import Refusal
from cephtui.models.study import SavedStudy
from cephtui.nodes.state import NodeState
from cephtui.nodes.transport import Question, TransportError
from cephtui.nodes.vault import Vault
from cephtui.paths import packaged_presets_dir
from cephtui.planning import Request, make_plan
from cephtui.presets import load_preset
from cephtui.running.launch import Ask, Launcher, NotRun, Unanswered
from cephtui.running.runner import Runner
from cephtui.running.survey import Survey
from cephtui.targets import Target, parse_target
from cephtui.targets.base import SecretsMissing
from tests.support.golden import Golden

T = TypeVar("T")
NODES = tuple(Node(name=name, host=f"{name}.example") for name in ("pve1", "pve2"))
KEY = Question("pve1", "SHA256:x", "accept the host key SHA256:x?", secret=False)
PASSWORD = Question("pve1", "password", "Password: ", secret=True, refused=("SHA256:x",))
EXISTS = Refusal("/mnt/test exists and was not made by cephtui", "choose a new file", confirm="test")
DROPS = Refusal("dropping slows others", "--drop-caches", confirm="bench", confirm_kind="drop-caches")
SHARED = Refusal("2 others use pool bench", "--shared-pool", confirm="bench", confirm_kind="shared-pool")
FULL = Refusal("the cluster is full", "free some space")
REQUEST = Request(
    (load_preset(packaged_presets_dir() / "write-iops.toml", user=False),),
    NODES[:1],
    parse_target("file:/mnt/test"),
    {"runtime": "1"},
)


def done(value: T) -> Future[T]:
    future: Future[T] = Future()
    future.set_result(value)
    return future


class FakeRunner:
    """Answers at once; what it is asked for is kept."""

    def __init__(
        self, questions: Sequence[Question] = (), survey: Survey | None = None, refusals: Sequence[Refusal] = ()
    ) -> None:
        self.nodes, self.vault = self, Vault()
        self.missing: SecretsMissing | None = None
        self.questions, self.surveyed, self.refusals = list(questions), survey or Survey(), list(refusals)
        self.given: list[tuple[str, dict[str, str]]] = []
        self.plans: list[Plan] = []
        self.waits: tuple[str, ...] = ()

    def reach(self, node: Node, answers: dict[str, str] | None = None, pool: str | None = None) -> Future[NodeState]:
        self.given.append((node.name, answers or {}))
        if node.name == "pve1" and self.questions:
            return done(NodeState(node, question=self.questions.pop(0)))
        return done(NodeState(node, NodeEnvironment()))

    def put_back(self) -> Future[None]:
        return done(None)

    def resolve_access(self, target: Target, nodes: Sequence[Node]) -> Future[Target]:
        if self.missing and not self.vault.get(self.missing.service):
            failed: Future[Target] = Future()
            failed.set_exception(self.missing)
            return failed
        return done(target)

    def survey(self, target: Any, nodes: Any, ceph_node: str | None = None, *, patient: bool = True) -> Future[Survey]:
        return done(self.surveyed)

    def prefilled(self) -> dict[tuple[str, str], int]:
        return {}

    def check(self, plan: Plan, target: Target) -> Future[list[Refusal]]:
        assert target is REQUEST.target, "parsed once"
        return done(self.refusals)

    def submit(self, plan: Plan, target: Target, study: SavedStudy | None = None) -> Future[tuple[Run, ...]]:
        assert target is REQUEST.target, "parsed once"
        self.plans.append(plan)
        return done(())


class Script(Ask):
    """Answers as it was told."""

    def __init__(self, answers: Sequence[str] = (), *, agrees: bool = True) -> None:
        self.answers, self.agrees = list(answers), agrees
        self.asked: list[Refusal] = []
        self.questions: list[Question] = []
        self.said: list[str] = []

    async def answer(self, node: Node, question: Question) -> str:
        self.questions.append(question)
        if not self.answers:
            raise Unanswered(f"{node.name}: not connected: {question.topic}")
        return self.answers.pop(0)

    async def agree(self, refusal: Refusal) -> bool:
        self.asked.append(refusal)
        return self.agrees

    def say(self, text: str) -> None:
        self.said.append(text)


async def connected(runner: FakeRunner, ask: Ask) -> list[NodeState]:
    return [state async for state in Launcher(cast(Runner, runner), ask).connect(NODES)]


async def launched(runner: FakeRunner, ask: Ask, *, cancelled: bool = False) -> None:
    """Its plan is kept by the runner."""

    def plan_of(request: Request) -> Plan:
        return make_plan(request, lambda: "0a1b2c3d", runner.prefilled())

    plan, target = await Launcher(cast(Runner, runner), ask).ready(REQUEST, plan_of, lambda: cancelled)
    runner.submit(plan, target)


async def test_what_a_node_asks_is_answered_and_the_others_do_not_wait_for_it() -> None:
    runner = FakeRunner([KEY, PASSWORD])
    states = await connected(runner, Script(["yes", "s3cret"]))
    assert runner.given == [("pve1", {}), ("pve2", {}), ("pve1", {"SHA256:x": "yes"}), ("pve1", {"password": "s3cret"})]
    assert [(state.node.name, state.question, state.problem) for state in states] == [
        ("pve1", None, None),
        ("pve2", None, None),
    ]


async def test_a_question_without_an_answer_leaves_only_that_node_out() -> None:
    states = await connected(FakeRunner([KEY]), Script())
    assert [state.problem for state in states] == ["pve1: not connected: accept the host key SHA256:x", None]


async def test_a_node_that_asks_for_ever_is_given_up() -> None:
    (state, _) = await connected(FakeRunner([PASSWORD] * 50), Script(["wrong"] * 50))
    assert state.problem == "pve1: too many wrong answers"


async def test_what_takes_longer_is_announced_with_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    monkeypatch.setattr("cephtui.running.launch.PATIENCE_SECONDS", 0.01)
    runner, ask = FakeRunner(), Script()
    late: Future[NodeState] = Future()
    monkeypatch.setattr(runner, "reach", lambda node, pool: late if node.name == "pve2" else done(NodeState(node)))

    def say(text: str) -> None:
        ask.said.append(text)
        late.set_result(NodeState(NODES[1]))

    monkeypatch.setattr(ask, "say", say)
    assert len(await connected(runner, ask)) == 2
    golden.same(ask.said)


async def test_a_node_that_failed_is_none_that_is_connected_and_each_wait_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("cephtui.running.launch.PATIENCE_SECONDS", 0.01)
    runner, ask = FakeRunner(), Script()
    late: Future[NodeState] = Future()
    failed = done(NodeState(NODES[0], problem="pve1: no route"))
    monkeypatch.setattr(runner, "reach", lambda node, pool: late if node.name == "pve2" else failed)

    def say(text: str) -> None:
        ask.said.append(text)
        if runner.waits:
            late.set_result(NodeState(NODES[1]))
        runner.waits = ("pve2: the server hangs up",)

    monkeypatch.setattr(ask, "say", say)
    assert len(await connected(runner, ask)) == 2
    assert ask.said == ["connecting ...", "connecting ...; pve2: the server hangs up"]


async def test_a_request_becomes_a_plan_with_what_the_survey_found() -> None:
    runner = FakeRunner(survey=Survey(room_bytes=64 << 20))
    await launched(runner, Script())
    (plan,) = runner.plans
    assert [step.batch for step in plan.steps] == ["0a1b2c3d"]
    assert plan.steps[0].span_bytes <= 64 << 20
    assert (plan.destroy, plan.shared_pool, plan.drop_agreed) == ((), False, False)


@pytest.fixture
def locked() -> FakeRunner:
    """Its target needs keys."""
    runner = FakeRunner()
    runner.missing = SecretsMissing("http://gw", ("access key", "secret key"), "none in the config")
    return runner


async def test_secrets_that_nobody_has_are_asked_for_once(locked: FakeRunner, golden: Golden) -> None:
    ask = Script(["canary-access", " canary-secret\n"])
    await launched(locked, ask)
    await launched(locked, ask)
    assert locked.vault.get("http://gw") == ("canary-access", "canary-secret")
    golden.same(each.text for each in ask.questions)
    assert all(each.secret for each in ask.questions)
    assert "canary" not in f"{locked.plans!r} {locked.vault!r}"


@pytest.mark.parametrize("answers", [[], ["a", ""]])
async def test_without_its_secrets_nothing_is_run(locked: FakeRunner, answers: list[str], golden: Golden) -> None:
    with golden.raises(NotRun):
        await launched(locked, Script(answers))
    assert (locked.plans, locked.vault.get("http://gw")) == ([], None)


async def test_what_is_agreed_to_is_in_the_plan() -> None:
    runner, ask = FakeRunner(refusals=[EXISTS, SHARED, DROPS]), Script()
    await launched(runner, ask)
    assert ask.asked == [EXISTS, SHARED, DROPS]
    (plan,) = runner.plans
    assert (plan.destroy, plan.shared_pool, plan.drop_agreed) == (("test",), True, True)


@pytest.mark.parametrize("refusal", [EXISTS, SHARED, DROPS])
async def test_what_is_not_agreed_to_is_not_run(refusal: Refusal) -> None:
    runner = FakeRunner(refusals=[refusal])
    with pytest.raises(NotRun) as error:
        await launched(runner, Script(agrees=False))
    assert (str(error.value), runner.plans) == ("", [])


async def test_what_nobody_can_agree_to_is_not_asked(golden: Golden) -> None:
    for runner in (FakeRunner(refusals=[EXISTS, FULL]), FakeRunner(survey=Survey(refusal=FULL))):
        ask = Script()
        with golden.raises(NotRun) as error:
            await launched(runner, ask)
        assert error.value.refusal is FULL
        assert FULL not in ask.asked
        assert runner.plans == []


async def test_what_was_cancelled_meanwhile_is_not_run(golden: Golden) -> None:
    runner = FakeRunner()
    with golden.raises(NotRun):
        await launched(runner, Script(), cancelled=True)
    assert runner.plans == []


async def test_a_fault_is_passed_on() -> None:
    runner = FakeRunner()
    failed: Future[Survey] = Future()
    failed.set_exception(TransportError("pve1: the connection was lost"))
    runner.survey = lambda *_, **__: failed  # type: ignore[method-assign]
    with pytest.raises(TransportError):
        await launched(runner, Script())
