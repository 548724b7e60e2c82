"""The runner: a thread with an event loop of its own, where plans are queued and carried out.

Front ends submit plans, ask for a stop, and drain an Inbox at their own pace; however slow they are, the
heartbeat of a run and the writing of its session go on.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from cephtui import paths
from cephtui.ceph.pool_guards import guard_busy_pool
from cephtui.cluster import preflight
from cephtui.cluster.access import with_access
from cephtui.models import Event, Mark, Node, Notice, Plan, PoolActivity, Run, Step
from cephtui.models.refusal import Refusal
from cephtui.nodes.shell import NodeShell
from cephtui.nodes.ssh import connect
from cephtui.nodes.state import NodeState
from cephtui.nodes.transport import Connection, Paced, Question, TransportError, Turns
from cephtui.planning import Filled, new_bytes
from cephtui.running.inbox import Inbox
from cephtui.running.node_run import Bench, inspect, look_at
from cephtui.running.outcomes import failed_twice, got_nowhere
from cephtui.running.recorder import StopRequest
from cephtui.running.step_run import ceph_shell, execute
from cephtui.sessions import store, writer
from cephtui.sessions.store import StoreError, Undo
from cephtui.sessions.writer import SessionWriter, unwritable
from cephtui.targets import kind_of, remove, target_of
from cephtui.targets.base import Removed, Target, TargetFault
from cephtui.targets.candidates import OnFound
from cephtui.targets.discovery import discover
from cephtui.targets.scratch import is_scratch

CONNECTS_AT_ONCE = 4
"""An sshd refuses some of more than ten that have not yet logged in (MaxStartups)."""
PATIENCE_SECONDS = 60.0
"""How long a removal is tried again: the watch of a client that was killed lasts about 30 s."""
ENDING_SECONDS = 60.0
STALL_SECONDS = 120.0
_AT_START_MOST = 100
"""Files that are removed before the first plan; the rest is for cleanup."""
log = logging.getLogger(__name__)


Connect = Callable[[Node, Mapping[str, str]], Awaitable[Connection | Question]]


@dataclass(frozen=True, slots=True)
class Survey:
    """What a plan has to know of a target beforehand."""

    room_bytes: int | None = None
    pool_use: PoolActivity | None = None
    refusal: Refusal | None = None
    """Why it can't even be looked at."""


@dataclass(frozen=True, slots=True)
class _Job:
    plan: Plan
    done: Future[tuple[Run, ...]]


class Runner:
    """Carries out plans one after the other; the session is opened with the first of them."""

    def __init__(
        self,
        root: Path,
        session_name: str | None = None,
        *,
        stall_seconds: float = STALL_SECONDS,
        connect_node: Connect = connect,
    ) -> None:
        self._root, self._session_name = root, session_name
        self._stall_seconds, self._connect = stall_seconds, connect_node
        self._inboxes: list[Inbox] = []
        self._connections: dict[str, Connection] = {}
        self._answers: dict[str, dict[str, str]] = {}
        self._turns: dict[str, asyncio.Lock] = {}
        self._bench: Bench | None = None
        self._stop: StopRequest | None = None
        self._stopped = False
        """Whether the plan in progress is to end with its present step."""
        self._tidying_up = False
        """Whether no plan is to be begun any more."""
        self._ending = False
        """Whether no connection is to be opened any more."""
        self._loaded_at: float | None = None
        """When the last run ended, by the monotonic clock."""
        self._ready, self._tidied, self._abandoned = threading.Event(), threading.Event(), False
        self._removing: dict[tuple[str, str], None] = {}
        """Nodes and parts."""
        self._to_remove, self._removing_since = 0, 0.0
        self._problems: list[str] = []
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="runner")

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ------------------------------------------------------------------ called from other threads

    def subscribe(self) -> Inbox:
        """An inbox that gets every event from now on."""
        inbox = Inbox()
        self._inboxes.append(inbox)
        return inbox

    @property
    def session(self) -> str | None:
        """The name of the session that is being written; None before the first plan."""
        return self._bench.session.name if self._bench else self._session_name

    @property
    def directory(self) -> Path | None:
        """Where that session is; None where there is none yet."""
        return self._root / self.session if self.session and (self._root / self.session).is_dir() else None

    def submit(self, plan: Plan) -> Future[tuple[Run, ...]]:
        """Queue a plan. The result is its runs, fewer than its steps after a stop; or a StoreError."""
        job = _Job(plan, Future())
        self._loop.call_soon_threadsafe(self._queue, job)
        return job.done

    def check(self, plan: Plan) -> Future[list[Refusal]]:
        """What the guards say of a plan, without starting it."""
        return asyncio.run_coroutine_threadsafe(self._check(plan), self._loop)

    def filled(self) -> Filled:
        """What this sitting has filled, for a plan."""
        known = self._bench.filled if self._bench else {}
        return {key: part.bytes for key, part in known.items()}

    def reach(self, node: Node, answers: Mapping[str, str] | None = None, pool: str | None = None) -> Future[NodeState]:
        """Connect to a node, with the answers to what it has asked, and look at it; raises nothing.

        ``pool`` helps to choose between several ways to Ceph that the node has.
        """
        return asyncio.run_coroutine_threadsafe(self._reach(node, answers or {}, pool), self._loop)

    def health(self, node: Node) -> Future[str]:
        """What the cluster of a node says of its health, or why it can't be asked; or a TransportError."""
        return asyncio.run_coroutine_threadsafe(self._health(node), self._loop)

    def survey(
        self, target: Target, nodes: tuple[Node, ...], ceph_node: str | None = None, *, patient: bool = True
    ) -> Future[Survey]:
        """What a plan has to know of a target; or a TransportError or TargetFault.

        ``patient`` takes up to a quarter of a minute where the pool is, or has just been, in use.
        """
        return asyncio.run_coroutine_threadsafe(self._survey(target, nodes, ceph_node, patient), self._loop)

    def discover(self, node: Node, of: str, on_found: OnFound) -> Future[str]:
        """Find the candidates of a node (see ``discovery.discover``); the result is why not all of them, or empty.

        ``on_found`` is called on the runner's thread and must not wait. To cancel the future ends the search.
        """
        return asyncio.run_coroutine_threadsafe(self._discover(node, of, on_found), self._loop)

    def remove(self, node: Node, undo: Undo, directory: Path) -> Future[Removed]:
        """Remove what a session has left behind, reaching its node like this."""
        return asyncio.run_coroutine_threadsafe(self._remove_for(directory, node, undo), self._loop)

    def remove_left_behind(self) -> Future[None]:
        """Remove what consoles that were killed have left on this machine; says so by notices."""
        return asyncio.run_coroutine_threadsafe(self._remove_left_behind(), self._loop)

    def mark(self, text: str) -> Future[Mark]:
        """Keep what the user says that was done, on the time line of the run in progress; or a StoreError."""
        return asyncio.run_coroutine_threadsafe(self._mark(text), self._loop)

    def skip(self) -> None:
        """End the run in progress, keeping what was measured, and go on with what is queued."""
        self._loop.call_soon_threadsafe(lambda: self._stop.request() if self._stop else None)

    def stop(self) -> None:
        """End the run in progress, keeping what was measured, and drop what is queued."""
        self._loop.call_soon_threadsafe(self._stop_all)

    def tidy_up(self) -> threading.Event:
        """Stop, begin nothing more and remove what was created; set when that is done. May be called again.

        What asks the runner is still answered.
        """
        if not self._tidied.is_set():
            self._loop.call_soon_threadsafe(self._begin_the_end)
        return self._tidied

    @property
    def left(self) -> tuple[tuple[str, str], ...]:
        """Nodes and parts of all that is still to be removed."""
        return tuple(dict.fromkeys([*list(self._bench.created if self._bench else ()), *list(self._removing)]))

    @property
    def removing(self) -> str:
        """How far a removal is, in words; empty where nothing is being removed."""
        left = list(self._removing)
        return f"removing {self._to_remove - len(left) + 1} of {self._to_remove}: {left[0][1]}" if left else ""

    @property
    def removing_since(self) -> float:
        """When the removal began, by the monotonic clock; 0 where nothing is being removed."""
        return self._removing_since if self._removing else 0.0

    def is_overdue(self, asked_at: float) -> bool:
        """Whether the end that was asked for at this time, by the monotonic clock, is not to be waited for any longer.

        A removal has a minute of its own.
        """
        return time.monotonic() - max(asked_at, self.removing_since) > ENDING_SECONDS

    def abandon(self) -> list[str]:
        """Wait for nothing any more, since the process ends; what stays is told."""
        self._abandoned = True
        self._tidied.set()
        return [*self._problems, *leftovers(self.left)]

    def close(self) -> list[str]:
        """Tidy up and end the thread, unless it was abandoned; what could not be removed is told."""
        if self._abandoned:
            return []
        if self._thread.is_alive():
            self.tidy_up()
            self._loop.call_soon_threadsafe(self._leave.set)
            self._thread.join()
        return self._problems

    # ------------------------------------------------------------------ on the runner's own thread

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._jobs: asyncio.Queue[_Job | None] = asyncio.Queue()
        self._tidying = asyncio.Lock()
        self._connecting = asyncio.Semaphore(CONNECTS_AT_ONCE)
        self._leave = asyncio.Event()
        self._pace = Turns()
        self._ready.set()
        try:
            while (job := await self._jobs.get()) is not None:
                await self._do(job)
            async with self._tidying:
                pass  # what another console has left behind is being removed
        finally:
            try:
                await self._clean_up()
            finally:
                self._tidied.set()
            await self._leave.wait()
            self._ending = True
            for connection in list(self._connections.values()):
                await connection.close()

    def _queue(self, job: _Job) -> None:
        if not self._tidying_up:
            self._jobs.put_nowait(job)
        elif job.done.set_running_or_notify_cancel():
            job.done.set_result(())

    def _begin_the_end(self) -> None:
        if not self._tidying_up:
            self._tidying_up = True
            self._stop_all()
            self._jobs.put_nowait(None)

    async def _do(self, job: _Job) -> None:
        if not job.done.set_running_or_notify_cancel():
            return
        try:
            job.done.set_result(await self._carry_out(job.plan))
        except OSError as error:
            log.exception("can't write the session")
            job.done.set_exception(StoreError(unwritable(error)))
        except Exception as error:
            log.exception("a plan failed")
            job.done.set_exception(error)

    async def _carry_out(self, plan: Plan) -> tuple[Run, ...]:
        self._stopped, self._stop = self._tidying_up, StopRequest()
        runs: list[Run] = []
        try:
            async with self._tidying:
                pass  # what was left behind is gone first
            store.check_space(self._root, plan)
            bench = self._opened()
            bench.session.add_plan(plan)
            self._publish(plan)
            for step in plan.steps:
                if why := failed_twice([_failure(run) for run in runs]):
                    self._publish(Notice(0, why))
                    self._problems.append(why)
                    break
                if self._stopped:
                    break
                try:
                    shells = await self._shells(plan)
                except TransportError as error:
                    if not runs:
                        raise
                    self._publish(Notice(0, str(error)))
                    self._problems.append(f"{step.preset} was not run: {error}")
                    break
                stop, target = self._stop, target_of(step)
                try:
                    if stop.reason is None:  # else it was skipped before it began
                        runs.append(await execute(bench, plan, step, target, shells, stop))
                except OSError as error:
                    if not runs:
                        raise
                    log.exception("can't write the session")
                    self._problems.append(f"{step.preset} was not run: {unwritable(error)}")
                    break
                self._stopped |= bool(stop.reason)
                self._stop = StopRequest()
                self._loaded_at = time.monotonic()
                if not target.kept:
                    await self._remove_created()
        finally:
            self._stop = None
        return tuple(runs)

    async def _mark(self, text: str) -> Mark:
        bench = self._opened()
        mark = bench.recorder.mark(text) if bench.recorder else Mark(at=datetime.now(UTC), text=text)
        try:
            bench.session.mark(mark)
        except OSError as error:
            raise StoreError(unwritable(error)) from None
        self._publish(mark)
        return mark

    def _opened(self) -> Bench:
        if self._bench is None:
            session = SessionWriter.open(self._root, self._session_name)
            self._bench = Bench(session, self._publish, self._stall_seconds)
        return self._bench

    # ------------------------------------------------------------------ nodes

    async def _connection(self, node: Node) -> Connection | Question:
        async with self._turns.setdefault(node.name, asyncio.Lock()):  # or each of many would make a connection
            known = self._connections.get(node.name)
            if known is not None and not known.closed and _same_way(known.node, node):
                return known
            async with self._connecting:
                if self._ending:
                    raise TransportError(f"{node.name}: cephtui is ending")
                answers = self._answers.get(node.name, {})
                made = await self._connect(node, answers)
            if not isinstance(made, Question):
                self._connections[node.name] = paced = Paced(made, self._pace)
                return paced
            for key in (made.key, *made.refused):
                answers.pop(key, None)
            return made

    async def _shell(self, node: Node) -> NodeShell:
        """A way to a node that has been reached before; raises TransportError."""
        made = await self._connection(node)
        if isinstance(made, Question):
            raise TransportError(f"{node.name}: not connected: {made.topic}")
        return NodeShell(node, made)

    async def _shells(self, plan: Plan) -> dict[str, NodeShell]:
        found = await asyncio.gather(*(self._shell(node) for node in plan.hosts))
        return {shell.node.name: shell for shell in found}

    async def _reach(self, node: Node, answers: Mapping[str, str], pool: str | None) -> NodeState:
        self._answers.setdefault(node.name, {}).update(answers)
        try:
            made = await self._connection(node)
            if isinstance(made, Question):
                return NodeState(node, question=made)
            node = await with_access(NodeShell(node, made), pool)
            environment = await look_at(NodeShell(node, made))
        except TransportError as error:
            return NodeState(node, problem=str(error))
        return NodeState(node, environment, made.round_trip_seconds)

    async def _health(self, node: Node) -> str:
        return await preflight.health(await self._shell(node))

    async def _survey(self, target: Target, nodes: tuple[Node, ...], ceph_node: str | None, patient: bool) -> Survey:
        asked = next((node for node in nodes if node.name == ceph_node), nodes[0])
        shell = await self._shell(asked)
        if target.pool is None:
            return Survey(await target.room(shell, len(nodes)))
        refusal = await preflight.guard_service(shell, target.pool)
        if refusal:
            return Survey(refusal=refusal)
        own_load = self._loaded_at is not None and time.monotonic() - self._loaded_at < preflight.LINGER_SECONDS
        room, use = await asyncio.gather(
            target.room(shell, len(nodes)),
            preflight.pool_activity(shell, target.pool, own_load=own_load, patient=patient),
        )
        return Survey(room, use)

    async def _discover(self, node: Node, of: str, on_found: OnFound) -> str:
        try:
            return await discover(await self._shell(node), of, on_found)
        except TransportError as error:
            return str(error)

    # ------------------------------------------------------------------ guards

    async def _check(self, plan: Plan) -> list[Refusal]:
        refusals: dict[str, Refusal] = {}
        try:
            store.check_space(self._root, plan)
            shells = await self._shells(plan)
            for refusal in await self._refusals(plan, shells):
                refusals[refusal.text] = refusal
        except (StoreError, TransportError, TargetFault) as error:
            refusals[str(error)] = Refusal(str(error))
        return list(refusals.values())

    async def _refusals(self, plan: Plan, shells: Mapping[str, NodeShell]) -> list[Refusal]:
        first = plan.steps[0]
        target = target_of(first)
        step = next((step for step in plan.steps if step.writes), first)
        largest = max(new_bytes([step]) for step in plan.steps)
        wanted = new_bytes(plan.steps) if target.kept else largest
        before = await preflight.check(ceph_shell(plan, shells), target.demand(step, wanted))
        busy = guard_busy_pool(plan.pool_use, writes=step.writes, nodes=len(step.nodes), agreed=plan.shared_pool)
        found = [refusal for refusal in (before.refusal, busy) if refusal]
        if before.state is None and before.refusal:
            return found  # what does not serve does not answer either
        for name, each in _distinct(plan):
            node_step = next(node for node in each.nodes if node.node == name)
            inspection = await inspect(shells[name], each, node_step, target, plan.destroy)
            if inspection.problem:
                found.append(Refusal(inspection.problem))
            if inspection.found.refusal:
                found.append(inspection.found.refusal)
        return found

    def _stop_all(self) -> None:
        self._stopped = True
        if self._stop:
            self._stop.request()
        while not self._jobs.empty():
            job = self._jobs.get_nowait()
            if job is None:
                self._jobs.put_nowait(None)
                break
            if job.done.set_running_or_notify_cancel():
                job.done.set_result(())

    def _publish(self, event: Event) -> None:
        for inbox in self._inboxes:
            inbox.put(event)

    # ------------------------------------------------------------------ tidying up

    async def _remove_left_behind(self) -> None:
        """Before the first plan: it may use a file of the same name.

        Nobody has been asked, so nothing that a list names is run, and only files of this very machine are removed.
        """
        async with self._tidying:
            writer.drop_reserves(self._root)
            left = [(path, undo) for path, undo in store.left_behind(self._root) if _is_here(undo)]
            for directory, undo in left[:_AT_START_MOST]:
                removed = await self._remove_for(directory, Node(name="local"), undo)
                if removed.status == "done":
                    self._publish(Notice(0, f"removed {undo.target}, left behind by session {directory.name}"))
                elif removed.status == "not ours":
                    self._publish(Notice(0, f"{undo.target} of session {directory.name} stays: {removed.text}"))
                else:  # in use, or not to be removed now: the next start will see to it
                    log.warning("can't remove %s: %s", undo.target, removed.text)

    async def _remove_for(self, directory: Path, node: Node, undo: Undo) -> Removed:
        try:
            removed = await self._removed(node, undo)
            if removed.is_settled:
                writer.mark_undone(directory, undo)
        except (OSError, TransportError) as error:
            return Removed("failed", str(error))
        return removed

    async def _removed(self, node: Node, undo: Undo) -> Removed:
        """Raises TransportError."""
        with self._counted(node.name, undo.target):
            return await remove_patiently(await self._shell(node), undo, lambda text: self._publish(Notice(0, text)))

    @contextlib.contextmanager
    def _counted(self, node: str, spec: str) -> Iterator[None]:
        """All that is removed at the same time is one removal."""
        if not self._removing:
            self._to_remove, self._removing_since = 0, time.monotonic()
        self._to_remove += 1
        self._removing[node, spec] = None
        try:
            yield
        finally:
            self._removing.pop((node, spec), None)

    async def _clean_up(self) -> None:
        if self._bench is not None:
            await self._remove_created()
            self._bench.session.close()

    async def _remove_created(self) -> None:
        assert self._bench is not None
        bench = self._bench
        created = list(bench.created)
        await asyncio.gather(*(self._undo(bench, key) for key in created))

    async def _undo(self, bench: Bench, key: tuple[str, str]) -> None:
        undo, again = bench.created[key], ": cephtui cleanup tries again"
        assert undo.at is not None
        try:
            removed = await self._removed(undo.at, undo)
            problem = removed.text if removed.status != "done" else ""
            if removed.is_settled:
                again = ""
                with contextlib.suppress(OSError):  # cephtui cleanup will then find that it is gone
                    bench.session.undo(undo.model_copy(update={"done": True}))
        except TransportError as error:
            problem = str(error)
        except Exception as error:  # one part's trouble must not leave the others behind
            log.exception("can't remove %s", undo.target)
            problem = f"unexpected error: {error!r}"
        bench.removed_at = time.monotonic()
        del bench.created[key]
        bench.filled.pop(key, None)
        if problem:
            self._problems.append(f"{undo.node}: {undo.target} was not removed: {problem}{again}")


async def remove_patiently(shell: NodeShell, undo: Undo, say: Callable[[str], None]) -> Removed:
    """Remove a part of cephtui's, again and again while something still has it open; raises TransportError."""
    until = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    kind, told = kind_of(undo.target), False
    while True:
        removed = await remove(shell, undo)
        is_passing = removed.status == "busy" and kind is not None and kind.in_pool
        if not is_passing or asyncio.get_running_loop().time() > until:
            return removed
        if not told:
            say(f"{undo.target} is still in use, waiting for the end of it ({removed.text})")
            told = True
        await asyncio.sleep(2.0)


def leftovers(left: Iterable[tuple[str, str]]) -> list[str]:
    """What is said of nodes' parts that stay where they are; scratch files go with their directory."""
    cache = paths.cache_dir()
    return [
        f"{node}: {spec} was not removed: cephtui cleanup removes it"
        for node, spec in left
        if not is_scratch(spec, cache)
    ]


def _is_here(undo: Undo) -> bool:
    """Whether it is a file of the console's own machine, and not of a container there."""
    here = Node(name="local") if undo.at is None else undo.at
    kind = kind_of(undo.target)
    return kind is not None and kind.leaves_files and here.host is None and not here.prefix


def _failure(run: Run) -> str:
    """Why a run yielded nothing; empty where it did not."""
    return f"{run.preset} {run.outcome}: {run.error}" if got_nowhere(run) else ""


def _same_way(one: Node, other: Node) -> bool:
    """Whether one connection serves both."""
    return (one.host, one.user, one.port, one.ssh_config) == (other.host, other.user, other.port, other.ssh_config)


def _distinct(plan: Plan) -> list[tuple[str, Step]]:
    """The steps that differ for the guards, with their nodes: a long sweep uses the same part of the target."""
    found = {
        (node.node, step.tool, node.parts, step.writes): step for step in reversed(plan.steps) for node in step.nodes
    }
    return [(node, step) for (node, *_), step in found.items()]
