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
from cephtui.running.launch import Ask, Unanswered
from cephtui.studies.dispatcher import Dispatcher
from cephtui.studies.queue import Place

Show = Callable[[ModalScreen[Any]], Awaitable[Any]]
"""Puts a dialog on the screen and gives its result."""


@dataclass(frozen=True, slots=True)
class Dialogs(Ask):
    """Asks with dialogs; without a dispatcher no run is about to begin, and nothing is agreed to."""

    show: Show
    dispatcher: Dispatcher | None = None
    """Has what is about to run, and what waits behind it."""
    agreed: dict[tuple[Place, str, ConfirmKind], bool] = field(default_factory=dict)
    """The answers by target, nodes and refusal: each is asked for once."""

    async def answer(self, node: Node, question: Question) -> str:
        """A secret, masked, or a yes."""
        from cephtui.tui import dialogs

        answer: str | None = await self.show(dialogs.NodeQuestion(node.name, question.text, secret=question.secret))
        if answer is None:
            raise Unanswered(f"{node.name}: not connected: {question.topic}")
        return answer

    async def agree(self, refusal: Refusal) -> bool:
        """Asked once for all entries on the same target and nodes."""
        current = self.dispatcher.current if self.dispatcher else None
        if current is None or current.place is None or refusal.confirm is None:
            return False
        question = (current.place, refusal.confirm, refusal.confirm_kind)
        if question not in self.agreed:
            self.agreed[question] = bool(await self.show(self._question(refusal, current.place, refusal.confirm)))
        return self.agreed[question]

    def _question(self, refusal: Refusal, place: Place, name: str) -> ModalScreen[bool]:
        from cephtui.tui import dialogs

        ready = self.dispatcher.queue.entries[: self.dispatcher.queue.ready] if self.dispatcher else ()
        more = sum(place in entry.places for entry in ready)
        problem = refusal.problem + (f" (one answer for this run and {more} more in the queue)" if more else "")
        if refusal.confirm_kind == "destroy":
            return dialogs.TypeName(problem, name)
        return dialogs.Confirm(f"{problem}. Run anyway?", "run", "don't")

    def say(self, text: str) -> None:
        """The status bar shows which nodes are connected."""
