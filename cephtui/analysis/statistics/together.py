"""What several figures show together: each further one is a further chance to be wrong.

All that have runs enough are counted, whatever they show by themselves. Holm 1979 keeps the probability that anything
is wrongly shown at that of a single figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cephtui.analysis.statistics.ratio import holm
from cephtui.frozen import dataclass
from cephtui.models.verdict import Answer, Verdict, Word

_LEFT_OF: Mapping[Word, Word] = {"better": "not worse", "worse": "not better"}
"""The words that still hold where a word is not shown by all figures together."""


@dataclass(frozen=True, slots=True)
class _Corrected:
    """A figure that decides and is judged, with its probabilities corrected for the number of all of these."""

    verdict: Verdict
    p_same: float
    p_failed: float
    p_beyond: float

    @property
    def differs(self) -> bool:
        return self.verdict.differs is not None and self.p_same < 1 - self.verdict.nominal_confidence

    @property
    def fails(self) -> bool:
        # a figure without any spread may differ from what is required by rounding alone: its own answer counts
        return self.verdict.met is False and self.p_failed < (1 - self.verdict.nominal_confidence) / 2

    @property
    def word(self) -> Word:
        """Better or worse by more than what counts as the same only where that is shown by all together."""
        is_shown = self.p_beyond < (1 - self.verdict.nominal_confidence) / 2
        return self.verdict.word if is_shown and self.differs else _LEFT_OF.get(self.verdict.word, self.verdict.word)


def _corrected(verdicts: Sequence[Verdict]) -> Iterator[_Corrected | None]:
    """The figures corrected, in the same order; None for one that is not judged, or does not decide."""
    counted = [verdict.decides and verdict.is_judged for verdict in verdicts]
    judged = [verdict for verdict, counts in zip(verdicts, counted, strict=True) if counts]
    same_corrected = holm([1.0 if verdict.p_same is None else verdict.p_same for verdict in judged])
    failed = holm([1.0 if verdict.p_met is None else 1 - verdict.p_met for verdict in judged])
    better, worse = (holm([_beyond(verdict, word) for verdict in judged]) for word in _LEFT_OF)
    corrected = map(_Corrected, judged, same_corrected, failed, map(min, better, worse))
    return (next(corrected) if counts else None for counts in counted)


def _beyond(verdict: Verdict, word: Word) -> float:
    """How likely this result is, were the change just what counts as the same; 1 without this word."""
    return verdict.p_beyond if verdict.word == word and verdict.p_beyond is not None else 1.0


def held_together(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Figures, each judged by itself, with what holds for all together of those that decide.

    None of these differs, is better, worse or not met that is not shown to be by all together. A figure that does not
    decide has no word: its interval stands for itself.
    """
    return [
        verdict.model_copy(update=_held(verdict, corrected))
        for verdict, corrected in zip(verdicts, _corrected(verdicts), strict=True)
    ]


def _held(verdict: Verdict, corrected: _Corrected | None) -> dict[str, object]:
    if not corrected:
        return {"differs": None, "p_same_together": None, "word": "no verdict", "met": None}
    return {
        "differs": verdict.differs if corrected.differs else None,
        "p_same_together": corrected.p_same,
        "word": corrected.word,
        "met": verdict.met if corrected.fails or verdict.met else None,
    }


def answer_of_all(verdicts: Sequence[Verdict]) -> Answer:
    """The answer of figures that decide: not met if one is not by all together, met if all are (Berger 1982)."""
    if any(corrected and corrected.fails for corrected in _corrected(verdicts)):
        return "not met"
    return "met" if verdicts and all(verdict.met for verdict in verdicts) else "undecided"
