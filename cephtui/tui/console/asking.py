"""The questions of a launch, as dialogs of the console."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import Any

from textual.screen import ModalScreen

from cephtui.frozen import dataclass
from cephtui.models import Node
from cephtui.models.refusal import ConfirmKind, Refusal
from cephtui.nodes.transport import Question
from cephtui.running.dispatcher import Dispatcher
from cephtui.running.launch import Ask, Unanswered
from cephtui.running.queue import Entry

Show = Callable[[ModalScreen[Any]], Awaitable[Any]]
"""Puts a dialog on the screen and gives its result."""


@dataclass(frozen=True, slots=True)
class Dialogs(Ask):
    """Asks with dialogs; without a dispatcher no run is about to begin, and nothing is agreed to."""

    show: Show
    dispatcher: Dispatcher | None = None
    """Has the entry that is about to run, and those that wait behind it."""
    agreed: dict[tuple[str, frozenset[str], str, ConfirmKind], bool] = field(default_factory=dict)
    """The answers by target, nodes and refusal: each is asked for once."""

    async def answer(self, node: Node, question: Question) -> str:
        """A secret, masked, or a yes."""
        from cephtui.tui import dialogs

        answer: str | None = await self.show(dialogs.Ask(node.name, question.text, secret=question.secret))
        if answer is None:
            raise Unanswered(f"{node.name}: not connected: {question.topic}")
        return answer

    async def agree(self, refusal: Refusal) -> bool:
        """Asked once for all entries on the same target and nodes."""
        entry = self.dispatcher.current if self.dispatcher else None
        if entry is None or refusal.confirm is None:
            return False
        asked = (*entry.place, refusal.confirm, refusal.confirm_kind)
        if asked not in self.agreed:
            self.agreed[asked] = bool(await self.show(self._question(refusal, entry, refusal.confirm)))
        return self.agreed[asked]

    def _question(self, refusal: Refusal, entry: Entry, name: str) -> ModalScreen[bool]:
        from cephtui.tui import dialogs

        ready = self.dispatcher.queue.entries[: self.dispatcher.queue.ready] if self.dispatcher else ()
        others = sum(other.place == entry.place for other in ready)
        problem = refusal.problem + (f" (one answer for this run and {others} more that wait)" if others else "")
        if refusal.confirm_kind == "destroy":
            return dialogs.TypeName(problem, name)
        return dialogs.Confirm(f"{problem}. Run anyway?", "run", "don't")

    def say(self, text: str) -> None:
        """The status bar shows which nodes are connected."""
