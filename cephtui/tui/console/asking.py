"""What a launch asks, as dialogs of the console."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from textual.screen import ModalScreen

from cephtui.models import Node
from cephtui.models.refusal import ConfirmKind, Refusal
from cephtui.nodes.transport import Question
from cephtui.running.launch import Ask, Unanswered
from cephtui.running.queue import Entry, Queue
from cephtui.tui import dialogs

Show = Callable[[ModalScreen[Any]], Awaitable[Any]]
"""Puts a dialog on the screen and gives its result."""
Agreed = dict[tuple[str, frozenset[str], str, ConfirmKind], bool]
"""What the user has agreed to, and what not, by target, nodes and refusal: while a queue is worked off it is asked
once."""


@dataclass(frozen=True, slots=True)
class Dialogs(Ask):
    """Asks with dialogs; without an entry nobody is about to run anything, and nothing is agreed to."""

    show: Show
    entry: Entry | None = None
    """What is about to run."""
    queue: Callable[[], Queue] = Queue
    """What waits behind it."""
    agreed: Agreed = field(default_factory=dict)

    async def answer(self, node: Node, question: Question) -> str:
        """A secret, masked, or a yes."""
        answer: str | None = await self.show(dialogs.Ask(node.name, question.text, secret=question.secret))
        if answer is None:
            raise Unanswered(f"{node.name}: not connected: {question.topic}")
        return answer

    async def agree(self, refusal: Refusal) -> bool:
        """Asked once for all that is ready to run in the same place."""
        if self.entry is None or refusal.confirm is None:
            return False
        this = (*self.entry.place, refusal.confirm, refusal.confirm_kind)
        if this not in self.agreed:
            self.agreed[this] = bool(await self.show(self._question(refusal, self.entry.place, refusal.confirm)))
        return self.agreed[this]

    def _question(self, refusal: Refusal, place: tuple[str, frozenset[str]], name: str) -> ModalScreen[bool]:
        queue = self.queue()
        others = sum(other.place == place for other in queue.entries[: queue.ready])
        problem = refusal.problem + (f" (one answer for this run and {others} more that wait)" if others else "")
        if refusal.confirm_kind == "destroy":
            return dialogs.TypeName(problem, name)
        return dialogs.Confirm(f"{problem}. Run all the same?", "run", "don't")

    def say(self, text: str) -> None:
        """The bar of the console shows which nodes are connected."""
