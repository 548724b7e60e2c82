"""What the user has answered so far, and what is to be asked next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cephtui.transport import Question


class Questions:
    """The questions of one attempt to log in."""

    def __init__(self, node: str, answers: Mapping[str, str]) -> None:
        self.open: Question | None = None
        """The first without an answer: there is nothing more to try until there is one."""
        self.last: Question | None = None
        """The last secret that was given: a wrong one where the server refuses us after it."""
        self._node, self._answers = node, answers
        self._given: set[str] = set()

    def __contains__(self, key: str) -> bool:
        return key in self._answers

    def accepted(self, key: str, text: str) -> bool | None:
        """Whether the user has said yes; None where there is no answer, and the question is put."""
        if key in self._answers:
            return self._answers[key] == "yes"
        self.open = Question(self._node, key, text, secret=False)
        return None

    def secret(self, key: str, text: str) -> str | None:
        """A password or the like; None where there is none, or it was given already, and the question is put."""
        if self.open:
            return None
        question = Question(self._node, key, text, secret=True)
        if key in self._given:
            self.open = _wrong(question)
        elif key not in self._answers:
            self.open = question
        else:
            self._given.add(key)
            self.last = question if self._answers[key] else None
            return self._answers[key]
        return None

    def left(self, *, denied: bool) -> Question | None:
        """What to ask the user, where anything; ``denied`` if the server has refused us."""
        if self.open or not denied or not self.last:
            return self.open
        return _wrong(self.last)


def _wrong(question: Question) -> Question:
    return replace(question, text=f"That was wrong. {question.text}")
