"""Which runs of two sides took turns: pairs of neighbours in time, one of each side."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import TypeAlias

from cephtui.analysis.runs.batches import name_of
from cephtui.frozen import dataclass
from cephtui.models import Run
from cephtui.models.verdict import JUDGED_RUNS

Sides: TypeAlias = tuple[Sequence[Run], Sequence[Run]]
"""The runs of the first side, and those of the second."""
Pair: TypeAlias = tuple[Run, Run]
"""A run of the first side, and its neighbour of the second."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """A run in the order of time."""

    run: Run
    side: int
    counts: bool


@dataclass(frozen=True, slots=True)
class _Pairing:
    """The runs from some place on as pairs."""

    passed: int
    """Runs that are left out and in no pair: another run was measured instead."""
    pairs: tuple[tuple[_Turn, _Turn], ...]


def pairs_in_turns(counted: Sides, left_out: Sides = ((), ())) -> list[Pair] | None:
    """The pairs of runs that count, in the order of time; None where the sides did not take turns.

    A run that is left out takes the other one of its pair with it, unless it was measured again: a run is never in a
    pair with one of another round. None also where a pair is not whole and too few are, or the order is not known.
    """
    turns = [
        *(_Turn(run, side, counts=True) for side, runs in enumerate(counted) for run in runs),
        *(_Turn(run, side, counts=False) for side, runs in enumerate(left_out) for run in runs),
    ]
    if not all(turn.run.is_dated for turn in turns):
        return None
    turns.sort(key=lambda turn: (turn.run.started_at, turn.side))
    pairing = _pairing(turns)
    if pairing is None:
        return None
    whole = [pair for pair in pairing.pairs if pair[0].counts and pair[1].counts]
    if len(whole) < min(JUDGED_RUNS, len(pairing.pairs)):
        return None
    ordered = (sorted(pair, key=lambda turn: turn.side) for pair in whole)
    return [(first.run, second.run) for first, second in ordered]


def _pairing(turns: Sequence[_Turn]) -> _Pairing | None:
    """All runs in pairs of neighbours, as few of those that are left out as possible passed over."""
    from_place: list[_Pairing | None] = [None] * len(turns) + [_Pairing(0, ())]
    for place in reversed(range(len(turns))):
        from_place[place] = min(_pairings(turns, place, from_place), key=lambda each: each.passed, default=None)
    return from_place[0]


def _pairings(turns: Sequence[_Turn], place: int, behind: Sequence[_Pairing | None]) -> Iterator[_Pairing]:
    """What becomes of the run at a place: it is in a pair with the next one, or was measured again later."""
    turn = turns[place]
    for other in range(place + 1, len(turns)):
        rest = behind[other + 1]
        if rest and turns[other].side != turn.side:
            yield _Pairing(rest.passed + other - place - 1, ((turn, turns[other]), *rest.pairs))
        if turns[other].counts:
            break
    rest = behind[place + 1]
    if rest and not turn.counts:
        yield _Pairing(rest.passed + 1, rest.pairs)


def left_alone(counted: Sides, left_out: Sides) -> list[str]:
    """The names of the runs that count and took turns with one that is left out."""
    pairs = pairs_in_turns(counted, left_out) if any(left_out) else None
    whole = {name_of(run) for pair in pairs or () for run in pair}
    return [name for side in counted for name in map(name_of, side) if pairs is not None and name not in whole]


def divided(sides: Sides, names: Container[str]) -> tuple[Sides, Sides]:
    """The runs of both sides but those with these names, and these."""
    first, second = sides
    counted = [run for run in first if name_of(run) not in names], [run for run in second if name_of(run) not in names]
    return counted, ([run for run in first if name_of(run) in names], [run for run in second if name_of(run) in names])
