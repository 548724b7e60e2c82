"""The runner: a thread with an event loop of its own, where plans are queued and carried out.

Front ends submit plans, ask for a stop, and drain an Inbox at their own pace; however slow they are, the
heartbeat of a run and the writing of its session go on.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from cephtui import session_writer, store, targets
from cephtui.execute import Bench, StopRequest, execute, inspect, look_at
from cephtui.models import Event, NodeEnvironment, Notice, Plan, Run, Sample, Step
from cephtui.presets import TOOLS
from cephtui.session_writer import SessionWriter
from cephtui.store import StoreError, Undo
from cephtui.targets import Refusal
from cephtui.transport import Connection, TransportError, connect

INBOX_EVENTS = 4096
STALL_SECONDS = 120.0
log = logging.getLogger(__name__)


class Inbox:
    """What has happened, for one listener; bounded, so that a listener that stands still costs no memory."""

    def __init__(self) -> None:
        self.dropped = 0
        """Samples that were left out because the listener was too slow; the session has them."""
        self._events: deque[Event] = deque()
        self._changed = threading.Condition()

    def put(self, event: Event) -> None:
        """Called by the runner; never waits."""
        with self._changed:
            if isinstance(event, Sample) and len(self._events) >= INBOX_EVENTS:
                self.dropped += 1
                return
            self._events.append(event)
            self._changed.notify()

    def drain(self, timeout_seconds: float = 0.0) -> list[Event]:
        """All that has happened since the last call; waits up to the timeout for the first of it."""
        with self._changed:
            if not self._events and timeout_seconds:
                self._changed.wait(timeout_seconds)
            events = list(self._events)
            self._events.clear()
            return events


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
        connect_node: Callable[[str], Awaitable[Connection]] = connect,
    ) -> None:
        self._root, self._session_name = root, session_name
        self._stall_seconds, self._connect = stall_seconds, connect_node
        self._inboxes: list[Inbox] = []
        self._connections: dict[str, Connection] = {}
        self._bench: Bench | None = None
        self._stop: StopRequest | None = None
        self._ready = threading.Event()
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

    def submit(self, plan: Plan) -> Future[tuple[Run, ...]]:
        """Queue a plan. The result is its runs, fewer than its steps after a stop; or a StoreError."""
        job = _Job(plan, Future())
        self._loop.call_soon_threadsafe(self._jobs.put_nowait, job)
        return job.done

    def check(self, plan: Plan) -> Future[list[Refusal]]:
        """What the guards say of a plan, without starting it."""
        return asyncio.run_coroutine_threadsafe(self._check(plan), self._loop)

    def filled_bytes(self, node: str, target: targets.FileTarget) -> int:
        """How much of a target this sitting has filled."""
        known = self._bench.filled.get((node, target.spec)) if self._bench else None
        return known.bytes if known else 0

    def look_at(self, node: str) -> Future[tuple[NodeEnvironment, str | None]]:
        """What a node is like, and why nothing can run there; or a TransportError."""
        return asyncio.run_coroutine_threadsafe(self._look_at(node), self._loop)

    def remove_left_behind(self) -> Future[None]:
        """Remove what consoles that were killed have left on this machine; says so by notices."""
        return asyncio.run_coroutine_threadsafe(self._remove_left_behind(), self._loop)

    def stop(self) -> None:
        """End the run in progress, keeping what was measured, and drop what is queued."""
        self._loop.call_soon_threadsafe(self._stop_all)

    def close(self) -> list[str]:
        """Stop, remove what was created and end the thread; what could not be removed is told."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop_all)
            self._loop.call_soon_threadsafe(self._jobs.put_nowait, None)
            self._thread.join()
        return self._problems

    # ------------------------------------------------------------------ on the runner's own thread

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._jobs: asyncio.Queue[_Job | None] = asyncio.Queue()
        self._tidying = asyncio.Lock()
        self._ready.set()
        try:
            while (job := await self._jobs.get()) is not None:
                await self._do(job)
        finally:
            await self._clean_up()
            for connection in self._connections.values():
                await connection.close()

    async def _do(self, job: _Job) -> None:
        if not job.done.set_running_or_notify_cancel():
            return
        try:
            job.done.set_result(await self._carry_out(job.plan))
        except OSError as error:
            log.exception("can't write the session")
            job.done.set_exception(StoreError(f"can't write the session: {error.strerror}"))
        except Exception as error:
            log.exception("a plan failed")
            job.done.set_exception(error)

    async def _carry_out(self, plan: Plan) -> tuple[Run, ...]:
        async with self._tidying:
            pass  # what was left behind is gone first
        store.check_space(self._root, plan)
        bench = self._opened()
        bench.session.add_plan(plan)
        bench.destroy = plan.destroy
        self._publish(plan)
        self._stop = stop = StopRequest()
        runs: list[Run] = []
        try:
            for step in plan.steps:
                if stop.reason is not None:
                    break
                connections = {node.node: await self._connection(node.node) for node in step.nodes}
                runs.append(await execute(bench, step, connections, stop))
        finally:
            self._stop = None
        return tuple(runs)

    def _opened(self) -> Bench:
        if self._bench is None:
            session = SessionWriter.open(self._root, self._session_name)
            self._bench = Bench(session, self._publish, self._stall_seconds)
        return self._bench

    async def _connection(self, node: str) -> Connection:
        if node not in self._connections:
            self._connections[node] = await self._connect(node)
        return self._connections[node]

    async def _look_at(self, node: str) -> tuple[NodeEnvironment, str | None]:
        environment = await look_at(await self._connection(node))
        return environment, TOOLS["fio"].check_version(environment.tools.get("fio"))

    async def _check(self, plan: Plan) -> list[Refusal]:
        refusals: dict[str, Refusal] = {}
        try:
            store.check_space(self._root, plan)
        except StoreError as error:
            refusals[str(error)] = Refusal(str(error))
        for node, step in _distinct(plan):
            try:
                inspection = await inspect(await self._connection(node), step, plan.destroy)
            except TransportError as error:
                refusals[str(error)] = Refusal(str(error))
                continue
            if inspection.refusal:
                refusals[inspection.refusal.text] = inspection.refusal
        return list(refusals.values())

    def _stop_all(self) -> None:
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

    async def _remove_left_behind(self) -> None:
        """Before the first plan: it may use a file of the same name."""
        async with self._tidying:
            session_writer.drop_reserves(self._root)
            left: dict[tuple[str, str], list[Path]] = {}
            for directory, undo in store.left_behind(self._root):
                if undo.node == "local":
                    left.setdefault((undo.node, undo.target), []).append(directory)
            for (node, spec), directories in left.items():
                await self._remove(node, spec, directories)

    async def _remove(self, node: str, spec: str, directories: list[Path]) -> None:
        try:
            target = targets.parse_target(spec)
            removed = await (await self._connection(node)).run(target.remove_argv())
            if removed.status == 0:
                self._publish(Notice(0, f"removed {spec}, left behind by session {directories[0].name}"))
            if removed.status in (0, targets.REMOVE_NOT_OURS):
                for directory in directories:
                    session_writer.mark_undone(directory, Undo(node=node, target=spec))
            else:  # in use, or not to be removed now: the next start will see to it
                log.warning("can't remove %s: %s", spec, removed.stderr.strip())
        except (OSError, TransportError, targets.TargetError):
            log.exception("can't remove %s", spec)

    async def _clean_up(self) -> None:
        if self._bench is None:
            return
        for (node, spec), target in self._bench.created.items():
            try:
                removed = await (await self._connection(node)).run(target.remove_argv())
                problem = removed.stderr.strip() if removed.status else ""
                if not problem:
                    self._bench.session.undo(Undo(node=node, target=spec, done=True))
            except (OSError, TransportError) as error:
                problem = str(error)
            if problem:
                self._problems.append(f"{node}: {spec} was not removed: {problem}")
        self._bench.session.close()


def _distinct(plan: Plan) -> list[tuple[str, Step]]:
    """The steps that differ for the guards, with their nodes: a long sweep uses the same part of the target."""
    found = {
        (node.node, step.tool, step.target, max(step.span_bytes, step.fill_bytes)): step
        for step in plan.steps
        for node in step.nodes
    }
    return [(node, step) for (node, *_), step in found.items()]
