"""Removal of what cephtui has created: after a step, at the end, and after consoles that were killed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cephtui import models
from cephtui.nodes.shell import NodeShell
from cephtui.nodes.transport import TransportError
from cephtui.running.bench import Bench
from cephtui.running.connections import Connections
from cephtui.sessions.store import unwritable
from cephtui.sessions.undo import Undo, left_behind
from cephtui.targets import removal_groups, target_kind
from cephtui.targets.base import Removed
from cephtui.targets.scratch import is_scratch

if TYPE_CHECKING:
    from cephtui.models import Event, Node

REMOVAL_SECONDS = 60.0
"""How long a removal is tried again: the watch of a client that was killed lasts about 30 s, and a process that ends
holds a file on a shared file system until its last I/O has come back."""
ENDING_SECONDS = 60.0
"""How long the end of the console waits for a removal."""
_AT_START_MOST = 100
"""Files that are removed before the first plan; the rest is for cleanup."""
log = logging.getLogger(__name__)


class Cleanup:
    """Removes parts of targets; how far it is can be read from any thread."""

    def __init__(self, root: Path, connections: Connections, publish: Callable[[Event], None]) -> None:
        self.leaves = False
        """Whether something that this console has created stays on the undo list for another time."""
        self._root, self._connections, self._publish = root, connections, publish
        self._at_start = asyncio.Lock()
        """Held while the leftovers of killed consoles are being removed."""
        self._removing: dict[tuple[str, str], None] = {}
        self._in_all, self._begun_at = 0, 0.0

    # ------------------------------------------------------------------ read from any thread

    @property
    def removing(self) -> tuple[tuple[str, str], ...]:
        """Nodes and parts that are being removed."""
        return tuple(self._removing)

    @property
    def progress(self) -> str:
        """The removal in progress, of how many; empty where nothing is being removed."""
        removing = self.removing
        return f"removing {self._in_all - len(removing) + 1} of {self._in_all}: {removing[0][1]}" if removing else ""

    @property
    def begun_at(self) -> float:
        """When the removal began, by the monotonic clock; 0 where nothing is being removed."""
        return self._begun_at if self._removing else 0.0

    def is_overdue(self, requested_at: float) -> bool:
        """Whether to stop waiting for the end that was asked for at this time, by the monotonic clock.

        A removal has a minute of its own.
        """
        return time.monotonic() - max(requested_at, self.begun_at) > ENDING_SECONDS

    # ------------------------------------------------------------------ on the runner's thread

    async def remove_left_behind(self) -> None:
        """Remove the leftovers of killed consoles on this machine; the first plan waits for it.

        That may use a file of the same name. The user has agreed to nothing yet, so no command in a session's list is
        run, and only files of this machine are removed.
        """
        from cephtui.sessions.changes import left_changed, remedy_of

        async with self._at_start:
            from cephtui.sessions.writer import drop_killed

            drop_killed(self._root)
            for directory, _ in left_changed(self._root):
                text = f"the change of session {directory.name} was not undone: {remedy_of(directory.name)}"
                self._publish(models.Notice(0, text))
            left = left_behind(self._root)
            for directory, undo in left:
                if (kind := target_kind(undo.target)) and kind.ends_with_study:
                    text = f"{undo.target} of session {directory.name} is still in place"
                    self._publish(models.Notice(0, f"{text}: cephtui cleanup restores it"))
            for directory, undo in [(path, undo) for path, undo in left if _is_here(undo)][:_AT_START_MOST]:
                removed = await self.remove(directory, models.Node(name="local"), undo)
                if removed.status == "done":
                    self._publish(models.Notice(0, f"removed {undo.target}, left behind by session {directory.name}"))
                elif removed.status == "not ours":
                    self._publish(models.Notice(0, f"{undo.target} of session {directory.name} stays: {removed.text}"))
                else:  # in use, or not to be removed now: the next start will see to it
                    log.warning("can't remove %s: %s", undo.target, removed.text)

    async def finish_left_behind(self) -> None:
        """Wait until no leftovers are being removed."""
        async with self._at_start:
            pass

    async def remove(self, directory: Path, node: Node, undo: Undo) -> Removed:
        """Remove a part that the session in this directory has left behind; raises nothing."""
        try:
            removed = await self._remove(node, undo)
            if removed.is_settled:
                from cephtui.sessions.writer import mark_undone

                mark_undone(directory, undo)
        except (OSError, TransportError) as error:
            return Removed("failed", str(error))
        return removed

    async def remove_created(self, bench: Bench, only: Collection[tuple[str, str]] | None = None) -> None:
        """Remove what the present console session has created, or of it only these parts, by node and spec.

        What can't be removed becomes a problem.
        """
        keys = [key for key in bench.created if only is None or key in only]
        for group in removal_groups(keys, lambda key: key[1]):
            await asyncio.gather(*(self._undo(bench, key) for key in group))

    async def _undo(self, bench: Bench, key: tuple[str, str]) -> None:
        undo, stays, problem = bench.created[key], True, ""
        assert undo.at is not None
        try:
            removed = await self._remove(undo.at, undo)
            if removed.status == "done" and removed.text:
                self._publish(models.Notice(0, f"{undo.target}: {removed.text}"))
            if removed.status != "done":
                problem = f"{undo.target} was not removed: {removed.text}"
            if removed.is_settled:
                unnoted = _note_undone(bench, undo)
                problem, stays = problem or unnoted, bool(unnoted)
        except TransportError as error:
            problem = f"{undo.target} was not removed: {error}"
        except Exception as error:  # one part's trouble must not leave the others behind
            log.exception("can't remove %s", undo.target)
            problem = f"{undo.target} was not removed: unexpected error: {error!r}"
        del bench.created[key]
        bench.prefilled.pop(key, None)
        self.leaves |= stays
        if problem:
            bench.problems.append(f"{undo.node}: {problem}{': cephtui cleanup tries again' if stays else ''}")

    async def _remove(self, node: Node, undo: Undo) -> Removed:
        """Raises TransportError."""
        with self.counted(node.name, undo.target):
            shell = await self._connections.shell(node)
            return await remove_patiently(shell, undo, lambda text: self._publish(models.Notice(0, text)))

    @contextlib.contextmanager
    def counted(self, node: str, spec: str) -> Iterator[None]:
        """Count a part in the progress while it is being removed; all at the same time is one removal."""
        if not self._removing:
            self._in_all, self._begun_at = 0, time.monotonic()
        self._in_all += 1
        self._removing[node, spec] = None
        try:
            yield
        finally:
            self._removing.pop((node, spec), None)


async def remove_patiently(shell: NodeShell, undo: Undo, say: Callable[[str], None]) -> Removed:
    """Remove a part of cephtui's, again and again while it is still in use; raises TransportError."""
    until = asyncio.get_running_loop().time() + REMOVAL_SECONDS
    is_announced = False
    while True:
        from cephtui.targets.removal import remove_part

        removed = await remove_part(shell, undo)
        if removed.status != "busy" or asyncio.get_running_loop().time() > until:
            return removed
        if not is_announced:
            say(f"{undo.target} is still in use, waiting until it is free ({removed.text})")
            is_announced = True
        await asyncio.sleep(2.0)


def _note_undone(bench: Bench, undo: Undo) -> str:
    """Take a part off the undo list; why it stays there, else empty, also where the session was removed."""
    try:
        bench.session.undo(undo.model_copy(update={"done": True}))
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"{undo.target} is removed, but still on the undo list: {unwritable(error)}"
    return ""


def leftovers(parts: Iterable[tuple[str, str]]) -> list[str]:
    """A line for each node's part that stays; scratch files are left out, they go with their directory."""
    return [
        f"{node}: {spec} was not removed: cephtui cleanup removes it" for node, spec in parts if not is_scratch(spec)
    ]


def _is_here(undo: Undo) -> bool:
    """Whether it is a file of the console's own machine, and not of a container there."""
    here = models.Node(name="local") if undo.at is None else undo.at
    kind = target_kind(undo.target)
    return kind is not None and kind.leaves_files and here.host is None and not here.prefix
