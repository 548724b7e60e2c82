"""From a request to its runs: nodes are connected, the target is surveyed, guards and questions are answered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from cephtui.models.refusal import Refusal
from cephtui.nodes.state import NodeState
from cephtui.nodes.transport import Question, TransportError
from cephtui.nodes.vault import Vault
from cephtui.planning import Request, make_plan, new_batch
from cephtui.running.runner import Runner
from cephtui.sessions.store import StoreError
from cephtui.targets import Target, TargetError
from cephtui.targets.base import SecretsMissing, TargetFault
from cephtui.tools.base import OptionError

if TYPE_CHECKING:
    from cephtui.models import Node, Plan
    from cephtui.running.survey import Conditions

FAULTS = (StoreError, TransportError, TargetFault, TargetError, OptionError)
"""Errors before a run; the text is one line for the user."""
_QUESTIONS_MOST = 12
"""Questions of one node: a server that asks for more is not going to be satisfied."""
PATIENCE_SECONDS = 2.0
"""Longer waits are announced."""
_INSPECTING = "inspecting the target ..."
T = TypeVar("T")


class NotRun(Exception):
    """Nothing was run. The text is the reason; empty where the user has decided so."""

    def __init__(self, text: str = "", refusal: Refusal | None = None, unusable: Collection[str] = ()) -> None:
        """``unusable`` are the names of the nodes that can't be used, where that is the reason."""
        super().__init__(text)
        self.refusal, self.unusable = refusal, unusable


class Unanswered(Exception):
    """A question of a node was not answered. The text is the reason, with the node's name."""


class Ask(Protocol):
    """The user: dialogs of the console, prompts on a terminal, or flags."""

    async def answer(self, node: Node, question: Question) -> str:
        """The user's answer; raises Unanswered."""
        ...

    async def agree(self, refusal: Refusal) -> bool:
        """Whether the user confirms a refusal that can be confirmed; may raise NotRun."""
        ...

    def say(self, text: str) -> None:
        """Show the reason of a longer wait."""
        ...


class Launcher:
    """Brings requests to their runs."""

    def __init__(self, runner: Runner, ask: Ask) -> None:
        self._runner, self._ask = runner, ask

    async def connect(self, nodes: Sequence[Node], pool: str | None = None) -> AsyncIterator[NodeState]:
        """Connect to nodes at the same time, with their questions put to the user; an unusable node has a problem.

        ``pool`` helps to choose between several Ceph accesses that a node has.
        """
        futures = [self._runner.nodes.reach(node, pool=pool) for node in nodes]
        answered = 0

        def so_far() -> str:
            done = answered + sum(future.done() and _is_connected(future.result()) for future in futures)
            number = f" {done} of {len(nodes)} nodes are connected" if done else ""
            return "; ".join([f"connecting ...{number}", *self._runner.nodes.waits[:1]])

        for future in futures:
            reached = await self._patiently(future, so_far)
            state = await self._answered(reached, pool)
            answered += _is_connected(state) and not _is_connected(reached)
            yield state

    async def survey(self, request: Request, *, patient: bool = True) -> Request:
        """The request with its target as the nodes can use it, the room that this has, and its pool's other clients.

        ``patient`` waits for up to half a minute where the pool is, or has just been, in use. Raises NotRun,
        TransportError and TargetFault.
        """
        request = replace(request, target=await self._with_access(request))
        surveying = self._runner.nodes.survey(request.target, request.nodes, request.ceph_node, patient=patient)
        survey = await self._patiently(surveying, self._inspecting)
        if survey.refusal:
            await self._confirm([survey.refusal])
        target = survey.target or request.target
        return replace(request, target=target, room_bytes=survey.room_bytes, pool_use=survey.pool_use)

    async def ready(
        self, request: Request, plan_of: Callable[[Request], Plan], cancelled: Callable[[], bool]
    ) -> tuple[Plan, Target]:
        """The plan of a request whose nodes are connected, and its target, to be run now. Raises NotRun, and FAULTS.

        ``plan_of`` makes it of the request as it is surveyed and confirmed.
        """
        surveyed = await self.survey(request)
        _go_on(cancelled)
        plan = plan_of(surveyed)
        refusals = await self.check(plan, surveyed.target)
        await self._confirm(refusals)
        _go_on(cancelled)
        return plan_of(_confirmed(surveyed, refusals)) if refusals else plan, surveyed.target

    async def conditions(self, request: Request) -> Conditions:
        """The conditions under which a request would run now; it is not run. Raises NotRun, and FAULTS."""
        surveyed = await self.survey(request, patient=False)
        plan = make_plan(surveyed, new_batch, self._runner.prefilled())
        inspecting = self._runner.nodes.conditions(plan, surveyed.target)
        return await self._patiently(inspecting, self._inspecting)

    async def check(self, plan: Plan, target: Target) -> list[Refusal]:
        """Why the guards refuse a plan; empty where they don't."""
        return await self._patiently(self._runner.nodes.check(plan, target), self._inspecting)

    def _inspecting(self) -> str:
        return next(iter(self._runner.nodes.waits), _INSPECTING)

    async def _with_access(self, request: Request) -> Target:
        """The target, with the secrets that it needs of the user; raises NotRun, TransportError and TargetFault."""
        while True:
            try:
                resolved = self._runner.nodes.resolve_access(request.target, request.nodes)
                return await self._patiently(resolved, lambda: _INSPECTING)
            except SecretsMissing as missing:
                await give_secrets(self._ask, self._runner.vault, request.nodes[0], missing)

    async def _answered(self, state: NodeState, pool: str | None) -> NodeState:
        for _ in range(_QUESTIONS_MOST):
            if state.question is None:
                return state
            try:
                answer = await self._ask.answer(state.node, state.question)
            except Unanswered as why:
                return replace(state, question=None, problem=str(why))
            state = await asyncio.wrap_future(self._runner.nodes.reach(state.node, {state.question.key: answer}, pool))
        return replace(state, question=None, problem=f"{state.node.name}: too many wrong answers")

    async def _confirm(self, refusals: Sequence[Refusal]) -> None:
        """Put refusals to the user; raises NotRun where one can't be confirmed, or was not."""
        for refusal in refusals:
            if refusal.confirm is None:
                raise NotRun(refusal.text, refusal)
            if not await self._ask.agree(refusal):
                raise NotRun

    async def _patiently(self, future: Future[T], text: Callable[[], str]) -> T:
        """The result; where it takes longer than PATIENCE_SECONDS the text is shown, and again where it has changed."""
        result, shown = asyncio.wrap_future(future), ""
        try:
            while not (await asyncio.wait([result], timeout=PATIENCE_SECONDS))[0]:
                if (now := text()) != shown:
                    self._ask.say(shown := now)
            return result.result()
        finally:
            result.cancel()  # where nobody waits any more


async def give_secrets(ask: Ask, vault: Vault, node: Node, missing: SecretsMissing) -> None:
    """Ask the user for secrets, and keep them for this program; raises NotRun."""
    secrets = []
    for name in missing.names:
        question = Question(node.name, name, f"{name} of {missing.service} ({missing.why}):", secret=True)
        try:
            secrets.append((await ask.answer(node, question)).strip())
        except Unanswered as why:
            raise NotRun(str(why)) from None
        if not secrets[-1].isprintable() or not secrets[-1]:
            raise NotRun(f"{missing.service}: no {name} was typed")
    vault.put(missing.service, tuple(secrets))


def _is_connected(state: NodeState) -> bool:
    return state.problem is None and state.question is None


def _go_on(cancelled: Callable[[], bool]) -> None:
    if cancelled():
        raise NotRun("stopped before it began")


def _confirmed(request: Request, refusals: Sequence[Refusal]) -> Request:
    return replace(
        request,
        destroy=tuple(r.confirm for r in refusals if r.confirm and r.confirm_kind == "destroy"),
        shared_pool=any(r.confirm_kind == "shared-pool" for r in refusals),
        drop_agreed=any(r.confirm_kind == "drop-caches" for r in refusals),
        quiet_agreed=any(r.confirm_kind == "quiet-cluster" for r in refusals),
    )
