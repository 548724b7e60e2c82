"""What the user has answered so far, and what is to be asked next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cephtui.nodes.transport import Question


class Questions:
    """The questions of one attempt to log in."""

    def __init__(self, node: str, answers: Mapping[str, str]) -> None:
        self.open: Question | None = None
        """The first question without an answer: nothing more can be tried before it is answered."""
        self.passed_over = False
        """Whether a secret was left empty."""
        self._node, self._answers = node, answers
        self._given: set[str] = set()
        self._shown: list[Question] = []
        """Questions answered in the newest try: one answer is wrong if the server refuses the login."""
        self._anew = False

    def __contains__(self, key: str) -> bool:
        return key in self._answers

    def accepted(self, key: str, text: str) -> bool | None:
        """Whether the user has agreed; None where there is no answer yet, which asks the question."""
        if key in self._answers:
            return self._answers[key] == "yes"
        self.open = Question(self._node, key, text, secret=False)
        return None

    def begin_try(self) -> None:
        """Begin a try: what the server gets from now on is accepted or refused as a whole."""
        self._anew = True

    def secret(self, key: str, text: str, *, for_server: bool = True) -> str | None:
        """A password or the like; None where there is none, or it was given already, which asks the question."""
        if self.open:
            return None
        question = Question(self._node, key, text, secret=True)
        if key in self._given:
            self.open = self._wrong() if for_server and self._shown else _wrong(question)
        elif key not in self._answers:
            self.open = question
        else:
            self._give(question, for_server)
            return self._answers[key]
        return None

    def open_question(self, *, denied: bool) -> Question | None:
        """The question to the user, if any; ``denied`` if the server has refused the login."""
        return self.open if self.open or not denied or not self._shown else self._wrong()

    def forget(self) -> None:
        """Forget what the server got to see: it was right, and the login is refused all the same."""
        self._shown = []

    def _give(self, question: Question, for_server: bool) -> None:
        self._given.add(question.key)
        empty = not self._answers[question.key]
        self.passed_over |= empty
        if self._anew or empty or not for_server:
            self._anew, self._shown = False, []
        if for_server and not empty:
            self._shown.append(question)

    def _wrong(self) -> Question:
        """The first question with a refused answer; the others are asked after it: a code is used up by one try."""
        first, *following = self._shown
        return _wrong(replace(first, refused=tuple(question.key for question in following)))


def _wrong(question: Question) -> Question:
    return replace(question, text=f"That was wrong. {question.text}")
