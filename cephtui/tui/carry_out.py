"""From an entry of the queue to its runs: nodes reached, the target looked at, guards asked, questions answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from textual.screen import ModalScreen

from cephtui.models import Plan, Run
from cephtui.plan import Request, make_plan, new_batch
from cephtui.presets import parse_overrides
from cephtui.refusal import ConfirmKind, Refusal
from cephtui.runner import NodeState, Runner, Survey
from cephtui.store import StoreError
from cephtui.targets import Target, TargetError, parse_target
from cephtui.targets.base import TargetFault
from cephtui.tools.base import OptionError
from cephtui.transport import TransportError
from cephtui.tui.dialogs import Ask, Confirm, TypeName
from cephtui.tui.queue import Entry

AskUser = Callable[[ModalScreen[Any]], Awaitable[Any]]
Agree = Callable[[Refusal], Awaitable[bool]]
FAULTS = (StoreError, TransportError, TargetFault, TargetError, OptionError)
"""What can go wrong before a run, told in one line."""


CANCELLED = "stopped before it began"
Place = tuple[str, frozenset[str]]
"""A target, and the names of the nodes that it is tested from."""
Answers = dict[tuple[Place, str, ConfirmKind], bool]
"""What the user has agreed to, and what not, while the queue goes on: the next run in the same place does not ask."""


class NotRun(Exception):
    """An entry was not run: the text says why; empty where the user knows."""


@dataclass(frozen=True, slots=True)
class Where:
    """What is the same for all that one console runs."""

    sitting: str
    data_pool: str | None = None
    ceph_node: str | None = None


def target_of(entry: Entry, where: Where) -> Target:
    """The target as typed; raises TargetError."""
    makes_images = entry.target.startswith("rbd:") and "/" not in entry.target
    return parse_target(entry.target, sitting=where.sitting, data_pool=where.data_pool if makes_images else None)


def decide(
    entry: Entry,
    where: Where,
    survey: Survey,
    filled: Mapping[tuple[str, str], int],
    confirmed: Sequence[Refusal] = (),
) -> Plan:
    """The plan of an entry; raises OptionError or TargetError."""
    names = {node.name for node in entry.nodes}
    request = Request(
        (entry.preset,),
        entry.nodes,
        target_of(entry, where),
        parse_overrides(entry.overrides),
        entry.repeats,
        destroy=tuple(r.confirm for r in confirmed if r.confirm and r.confirm_kind == "destroy"),
        shared_pool=any(r.confirm_kind == "shared-pool" for r in confirmed),
        ceph_node=where.ceph_node if where.ceph_node in names else None,
        room_bytes=survey.room_bytes,
        pool_use=survey.pool_use,
        begun=entry.begun,
    )
    return make_plan(request, lambda: entry.batch or new_batch(), filled)


async def answered(runner: Runner, state: NodeState, ask: AskUser) -> NodeState:
    """A node with all that it asks answered; one that was not answered has a ``problem``."""
    while state.question is not None:
        question = state.question
        answer = await ask(Ask(state.node.name, question.text, secret=question.secret))
        if answer is None:
            return NodeState(state.node, problem=f"{state.node.name}: not connected: {question.topic}")
        state = await asyncio.wrap_future(runner.reach(state.node, {question.key: answer}))
    return state


async def look_at(runner: Runner, entry: Entry, where: Where) -> Survey:
    """How much room the target has, and who else uses it; raises FAULTS."""
    ceph_node = where.ceph_node if where.ceph_node in {node.name for node in entry.nodes} else None
    return await asyncio.wrap_future(runner.survey(target_of(entry, where), entry.nodes, ceph_node))


async def carry_out(
    runner: Runner,
    entry: Entry,
    where: Where,
    agree: Callable[[Refusal], Awaitable[bool]],
    cancelled: Callable[[], bool],
) -> tuple[Run, ...]:
    """Run an entry whose nodes are ready; raises NotRun, and FAULTS."""
    survey = await look_at(runner, entry, where)
    if survey.refusal:
        await _settled([survey.refusal], agree)
    if cancelled():
        raise NotRun(CANCELLED)
    plan = decide(entry, where, survey, runner.filled())
    found = await asyncio.wrap_future(runner.check(plan))
    await _settled(found, agree)
    if cancelled():
        raise NotRun(CANCELLED)
    if found:
        plan = decide(entry, where, survey, runner.filled(), found)
    return await asyncio.wrap_future(runner.submit(plan))


async def _settled(refusals: Sequence[Refusal], agree: Agree) -> None:
    """Raises NotRun where something may not be, or was not agreed to."""
    for refusal in refusals:
        if refusal.confirm is None:
            raise NotRun(refusal.text)
        if not await agree(refusal):
            raise NotRun


async def agree(refusal: Refusal, entry: Entry, waiting: Sequence[Entry], answers: Answers, ask: AskUser) -> bool:
    """Whether the user gives up what is in the way, asked once for all that ``waiting`` has in the same place."""
    assert refusal.confirm is not None
    this = (_place(entry), refusal.confirm, refusal.confirm_kind)
    if this not in answers:
        others = sum(_place(other) == _place(entry) for other in waiting)
        problem = refusal.problem + (f" (one answer for this run and {others} more that wait)" if others else "")
        question: ModalScreen[Any] = Confirm(f"{problem}. Run all the same?", "run", "don't")
        if refusal.confirm_kind == "destroy":
            question = TypeName(problem, refusal.confirm)
        answers[this] = bool(await ask(question))
    return answers[this]


def _place(entry: Entry) -> Place:
    return entry.target, frozenset(node.name for node in entry.nodes)


def with_nodes(entry: Entry, states: Mapping[str, NodeState]) -> Entry:
    """With the way to Ceph that was found on each node."""
    return replace(entry, nodes=tuple(states[n.name].node if n.name in states else n for n in entry.nodes))
