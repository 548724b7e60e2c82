"""Looks: which verdicts on saved runs give chance another try, and which are the same look again."""

from __future__ import annotations

from pathlib import Path

import pytest

from cephtui.analysis.runs.change import Change
from cephtui.analysis.verdicts.conclusion import ConclusionTerms
from cephtui.analysis.verdicts.verdict import Criteria
from cephtui.models import Run
from cephtui.models.metrics import BY_NAME
from cephtui.sessions.verdicts import judge_saved, keep_verdicts
from tests.support.runs import STARTED, run

ALL = ((1, 2, 3), (4, 5, 6))
MORE = ((1, 2, 3), (4, 5, 6, 7))
MOST = ((1, 2, 3), (4, 5, 6, 7, 8))
LATER = ((4, 5, 6), (7, 8, 9))
Sides = tuple[tuple[int, ...], tuple[int, ...]]


def runs_of(numbers: tuple[int, ...]) -> tuple[Run, ...]:
    return tuple(run(number, 1000.0 + number) for number in numbers)


def looks(directory: Path, *sides: Sides, asked: ConclusionTerms | None = None) -> list[str]:
    """What is said of which look it is, of each judgement in turn; all are kept."""
    asked = asked or ConclusionTerms(lambda _: BY_NAME["iops"])
    found = []
    for before, after in sides:
        judged = judge_saved([Change(runs_of(before), runs_of(after))], asked, (), directory, STARTED)
        keep_verdicts(judged, directory)
        found.append("".join(note.partition(":")[0] for note in judged.conclusion.notes if "further look" in note))
    return found


@pytest.mark.parametrize(
    ("sides", "said"),
    [
        ([ALL] * 6, [""] * 6),
        ([ALL, ALL[::-1], ALL], [""] * 3),
        ([ALL, ((3, 1, 2), (6, 5, 4))], [""] * 2),
        ([ALL, MORE, MOST], ["", "second look", "look 3 at these runs"]),
        ([ALL, MORE, MORE, ALL], ["", "second look", "second look", ""]),
        ([ALL, MORE[::-1]], ["", "second look"]),
        ([ALL, LATER], ["", ""]),
    ],
    ids=["again", "swapped", "named otherwise", "more runs", "read again", "more and swapped", "another change"],
)
def test_other_runs_are_a_further_look_and_the_same_again_are_none(
    tmp_path: Path, sides: list[Sides], said: list[str]
) -> None:
    assert looks(tmp_path, *sides) == said


def test_what_is_asked_of_the_same_runs_makes_no_further_look(tmp_path: Path) -> None:
    assert looks(tmp_path, ALL) == [""]
    for percent in (-5.0, -1.0, 20.0):
        assert looks(
            tmp_path, ALL, asked=ConclusionTerms(lambda _: BY_NAME["iops"], Criteria(require_percent=percent))
        ) == [""]
