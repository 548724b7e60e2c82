"""What several figures show together: each further one is a further chance to be wrong.

All that have runs enough are counted, whatever they show by themselves. Holm 1979 keeps the probability that anything
is wrongly shown at that of a single figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cephtui.analysis.ratio import holm
from cephtui.frozen import dataclass
from cephtui.models.verdict import Answer, Verdict, Word

_LEFT_OF: Mapping[Word, Word] = {"better": "not worse", "worse": "not better"}
"""What still holds of a word where no difference is shown."""


@dataclass(frozen=True, slots=True)
class _Corrected:
    """A figure that decides and is judged, with its probabilities corrected for the number of all of these."""

    verdict: Verdict
    p_same: float
    p_failed: float

    @property
    def differs(self) -> bool:
        return self.verdict.differs is not None and self.p_same < 1 - self.verdict.nominal_confidence

    @property
    def fails(self) -> bool:
        # a figure without any spread may differ from what is required by rounding alone: its own answer counts
        return self.verdict.met is False and self.p_failed < (1 - self.verdict.nominal_confidence) / 2


def _corrected(verdicts: Sequence[Verdict]) -> Iterator[_Corrected | None]:
    """In their order; None for one that is not judged, or does not decide."""
    counted = [verdict.decides and verdict.is_judged for verdict in verdicts]
    judged = [verdict for verdict, counts in zip(verdicts, counted, strict=True) if counts]
    same = holm([1.0 if verdict.p_same is None else verdict.p_same for verdict in judged])
    failed = holm([1.0 if verdict.p_met is None else 1 - verdict.p_met for verdict in judged])
    found = map(_Corrected, judged, same, failed)
    return (next(found) if counts else None for counts in counted)


def shown_together(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Figures, each judged by itself, with the differences that are shown by all that decide together."""
    return [
        verdict.model_copy(
            update={
                "differs": verdict.differs if found and found.differs else None,
                "p_same_together": found.p_same if found else None,
            }
        )
        for verdict, found in zip(verdicts, _corrected(verdicts), strict=True)
    ]


def worded_together(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The same in words that hold for all of them: none is better or worse of which no difference is shown."""
    return [
        verdict.model_copy(
            update={
                "word": verdict.word if verdict.differs else _LEFT_OF.get(verdict.word, verdict.word),
                "met": verdict.met if found.fails or verdict.met else None,
            }
        )
        if found
        else verdict
        for verdict, found in zip(verdicts, _corrected(verdicts), strict=True)
    ]


def answer_of_all(verdicts: Sequence[Verdict]) -> Answer:
    """Of figures that decide: not met if that is shown of one by all together, met if every one is (Berger 1982)."""
    if any(found and found.fails for found in _corrected(verdicts)):
        return "not met"
    return "met" if verdicts and all(verdict.met for verdict in verdicts) else "undecided"
