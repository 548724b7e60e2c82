"""The runner: a thread with an event loop of its own, where plans are queued and carried out.

Front ends submit plans, ask for a stop, and drain an Inbox at their own pace; however slow they are, the
heartbeat of a run and the writing of its session go on.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from cephtui import models
from cephtui.frozen import dataclass
from cephtui.nodes.ssh import connect
from cephtui.nodes.vault import Vault
from cephtui.running.bench import BegunMark, Bench
from cephtui.running.cleanup import Cleanup, leftovers
from cephtui.running.connections import Connect, Connections
from cephtui.running.inbox import Inbox, Inboxes
from cephtui.running.loop_thread import LoopThread
from cephtui.running.node_requests import NodeRequests
from cephtui.sessions import store
from cephtui.sessions.store import StoreError, cannot_write
from cephtui.targets import target_kind

if TYPE_CHECKING:
    from cephtui.models import Mark, Plan, Run
    from cephtui.models.study import SavedStudy
    from cephtui.planning import Prefilled
    from cephtui.running.plan_run import PlanRun
    from cephtui.targets.base import Target

LOOP_STALL_SECONDS = 120.0
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Job:
    plan: Plan
    target: Target
    study: SavedStudy | None
    done: Future[tuple[Run, ...]]

    def drop(self) -> None:
        """End it without any run."""
        if self.done.set_running_or_notify_cancel():
            self.done.set_result(())

    async def fulfil(self, work: Coroutine[Any, Any, tuple[Run, ...]]) -> None:
        """Do the work and hand over its result; raises nothing."""
        try:
            self.done.set_result(await work)
        except OSError as error:
            log.exception("can't write the session")
            self.done.set_exception(cannot_write(error))
        except Exception as error:
            log.exception("a plan failed")
            self.done.set_exception(error)


class _Jobs(asyncio.Queue[_Job | None]):
    """The jobs that wait; None is the end."""

    def drop_next(self) -> bool:
        """End the next one without any run; whether there was one."""
        if not self.empty() and (job := self.get_nowait()):
            job.drop()
            return True
        return False


class Runner:
    """Carries out plans one after the other; the session is opened with the first of them."""

    def __init__(
        self,
        root: Path,
        session_name: str | None = None,
        *,
        stall_seconds: float = LOOP_STALL_SECONDS,
        connect_node: Connect = connect,
        vault: Vault | None = None,
    ) -> None:
        """``vault`` finds the secrets that the user has."""
        self.vault = vault or Vault()
        self._root, self._session_name, self._stall_seconds = root, session_name, stall_seconds
        self._inboxes, self._connections = Inboxes(), Connections(connect_node, self.vault)
        self._thread = LoopThread("runner", self._serve)
        self._bench: Bench | None = None
        self._problems: list[str] = []
        self.cleanup = Cleanup(root, self._connections, self._inboxes.publish)
        self.nodes = NodeRequests(self._thread.call, root, self._connections, self.cleanup)
        self._jobs = _Jobs()
        self._current: PlanRun | None = None
        self._tidying_up = False
        """Whether no plan is begun any more."""
        self._tidied, self._leave, self._abandoned = threading.Event(), asyncio.Event(), False

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ------------------------------------------------------------------ called from other threads

    def subscribe(self) -> Inbox:
        """An inbox that gets every event from now on."""
        return self._inboxes.subscribe()

    @property
    def session(self) -> str | None:
        """The name of the session that is being written; None before the first plan."""
        return self._bench.session.name if self._bench else self._session_name

    @property
    def directory(self) -> Path | None:
        """The directory of that session; None where there is none yet."""
        return self._root / self.session if self.session and (self._root / self.session).is_dir() else None

    def submit(self, plan: Plan, target: Target, study: SavedStudy | None = None) -> Future[tuple[Run, ...]]:
        """Queue a plan, with the target that it was made for, and the study that it is of, which is kept before it.

        The result is its runs, fewer than its steps after a stop; or a StoreError.
        """
        job = _Job(plan, target, study, Future())
        self._thread.call_soon(lambda: job.drop() if self._tidying_up else self._jobs.put_nowait(job))
        return job.done

    def prefilled(self) -> Prefilled:
        """Bytes that this console session has prefilled, for a plan."""
        prefilled_parts = self._bench.prefilled if self._bench else {}
        return {key: part.bytes for key, part in prefilled_parts.items()}

    def hold(self) -> Future[None]:
        """Open the session where it exists, so that no other process writes it from now on; or a StoreError."""
        return self._thread.call(_hold(self._opened if self.directory else lambda: None))

    def begin_mark(self) -> BegunMark:
        """A mark of this moment, on the time line of the run in progress; for when the user acts."""
        bench = self._bench
        mark = bench.begin_mark() if bench else models.Mark(at=datetime.now(UTC), text="")
        return BegunMark(mark, lambda worded: self._thread.call(_keep_mark(self._opened, worded)))

    def skip(self) -> None:
        """End the run in progress, keeping what was measured, and continue with what is queued."""
        self._thread.call_soon(
            lambda: self._current.skip() if self._current else self._tidying_up or self._jobs.drop_next()
        )

    def stop(self) -> None:
        """End the run in progress, keeping what was measured, and drop what is queued."""
        self._thread.call_soon(self._stop)

    def tidy_up(self) -> threading.Event:
        """Stop, begin nothing more and remove what was created; set when that is done. May be called again.

        Requests about nodes are still answered.
        """
        if not self._tidied.is_set():
            self._thread.call_soon(partial(self._stop, for_good=True))
        return self._tidied

    def put_back(self) -> Future[None]:
        """Put back what was changed in a cluster for the length of a study."""
        return self._thread.call(self._put_back())

    @property
    def to_be_removed(self) -> tuple[tuple[str, str], ...]:
        """Nodes and parts of all that is still to be removed."""
        return tuple(dict.fromkeys([*list(self._bench.created if self._bench else ()), *self.cleanup.removing]))

    def abandon(self) -> list[str]:
        """Wait for nothing any more, since the process ends; the result names what stays behind."""
        self._abandoned = True
        self._tidied.set()
        return [*self._problems, *leftovers(self.to_be_removed)]

    def close(self) -> list[str]:
        """Tidy up and end the thread, unless it was abandoned; the result names what could not be removed."""
        if self._abandoned:
            return []
        if self._thread.is_alive:
            self.tidy_up()
            self._thread.call_soon(self._leave.set)
            self._thread.join()
        return self._problems

    # ------------------------------------------------------------------ on the runner's own thread

    async def _serve(self) -> None:
        try:
            while (job := await self._jobs.get()) is not None:
                if job.done.set_running_or_notify_cancel():
                    await job.fulfil(self._carry_out(job))
            await self.cleanup.finish_left_behind()
        finally:
            try:
                if self._bench is not None:
                    await self.cleanup.remove_created(self._bench)
                    self._bench.session.close()
            finally:
                self._tidied.set()
            await self._leave.wait()
            await self._connections.close()

    async def _carry_out(self, job: _Job) -> tuple[Run, ...]:
        from cephtui.running.plan_run import PlanRun

        self._current = PlanRun(job.plan, job.target, self._connections, self.cleanup)
        try:
            if self._tidying_up:
                self._current.stop()
            await self.cleanup.finish_left_behind()
            await self._check_space(job)
            bench = self._opened()
            if job.study:
                bench.session.keep_study(job.study)
            return await self._current.carry_out(bench)
        finally:
            self._current = None

    async def _check_space(self, job: _Job) -> None:
        """Raises StoreError where the session has no room; where the target has none either, that is why."""
        try:
            store.check_space(self._root, job.plan)
        except StoreError:
            for refusal in await self.nodes.refusals(job.plan, job.target):
                raise StoreError(refusal.text) from None

    def _opened(self) -> Bench:
        if self._bench is None:
            from cephtui.sessions.writer import SessionWriter

            session = SessionWriter.open(self._root, self._session_name)
            self._bench = Bench(session, self._inboxes.publish, self._stall_seconds, problems=self._problems)
        return self._bench

    async def _put_back(self) -> None:
        if self._bench and not self._abandoned:
            kinds = {key: target_kind(key[1]) for key in self._bench.created}
            await self.cleanup.remove_created(
                self._bench, [key for key, kind in kinds.items() if kind and kind.ends_with_study]
            )

    def _stop(self, *, for_good: bool = False) -> None:
        if self._current:
            self._current.stop()
        if self._tidying_up:
            return
        while self._jobs.drop_next():
            pass
        if for_good:
            self._tidying_up = True
            self._jobs.put_nowait(None)


async def _hold(opened: Callable[[], object]) -> None:
    opened()


async def _keep_mark(opened: Callable[[], Bench], mark: Mark) -> Mark:
    return opened().keep_mark(mark)
