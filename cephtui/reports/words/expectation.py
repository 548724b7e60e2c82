"""Expected figures in words: a line for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cephtui import units
from cephtui.analysis.verdicts.expectation import SECOND_REACHES
from cephtui.models.expectation import Expected, Kept
from cephtui.models.metrics import BY_NAME
from cephtui.models.verdict import JUDGED_RUNS, Answer
from cephtui.reports.styles import Style
from cephtui.reports.words.facts import run_names
from cephtui.reports.words.verdict import left_out_lines

_WORDS: Mapping[Kept, str] = {"NO VERDICT": "INCONCLUSIVE", "INVALID": "NOT COUNTED"}
"""Of what is said otherwise than it is kept."""
STYLES: Mapping[str, Style] = {"PASS": "good", "NOT CAPPED": "open", "FAIL": "bad"}
"""By the word; the others are open."""
SECONDS = f"seconds >= {100 * SECOND_REACHES:g} %"
"""Those that reached so much of what is promised."""


def expected_lines(every: Sequence[Expected]) -> list[tuple[str, Style]]:
    """A line for each, and its style."""
    return [
        (_line(expected, name), STYLES.get(expected.word, "open"))
        for expected, name in zip(every, _step_names(every), strict=True)
    ]


def expected_sentence(every: Sequence[Expected]) -> str:
    """``3 of 4 expected figures reached, 1 inconclusive``."""
    answers = [expected.answer for expected in every]
    words: dict[Answer, str] = {"met": f"of {len(every)} expected figures reached", "not met": "not reached",
                                "undecided": "inconclusive"}  # fmt: skip
    return ", ".join(
        f"{answers.count(answer)} {word}" for answer, word in words.items() if answer in answers or answer == "met"
    )


def _step_names(every: Sequence[Expected]) -> list[str]:
    """The name of each step: with its target where there are several, with its runs where names are alike."""
    several = len({expected.target for expected in every}) > 1
    names = [f"{expected.step} on {expected.target}" if several else expected.step for expected in every]
    alike = [(name, expected.expectation) for name, expected in zip(names, every, strict=True)]
    return [
        f"{name} ({run_names(runs_of(expected))})" if alike.count((name, expected.expectation)) > 1 else name
        for name, expected in zip(names, every, strict=True)
    ]


def runs_of(expected: Expected) -> tuple[str, ...]:
    """The names of those that count, else of those that were left out."""
    return expected.runs or tuple(left_out.run for left_out in expected.left_out)


def word_text(word: Kept) -> str:
    """``PASS``, ``INCONCLUSIVE``."""
    return _WORDS.get(word, word)


def given_text(expected: Expected) -> str:
    """``, given as FAIL before``: where another word was given for the same runs; empty else."""
    return f", given as {word_text(expected.given)} before" if expected.given else ""


def _line(expected: Expected, name: str) -> str:
    """``PASS write-iops: write 8,006 IOPS, expected 8,000 IOPS, 100 % of seconds >= 90 %``."""
    where = f"{word_text(expected.word)} {name}: "
    verb = "promised" if expected.of_volume else "expected"
    promise = f"{verb} {figure_text(expected, expected.promised)}"
    if expected.measured is None:
        reasons = "; ".join(left_out_lines(expected.left_out))
        return f"{where}{promise}; {reasons}{given_text(expected)}"
    figure = figure_text(expected, expected.measured)
    parts = [
        f"{expected.direction or ''} {figure}{_ends(expected)}".strip(),
        promise,
        *([] if expected.seconds is None else [_seconds_text(expected)]),
        *[f"{100 * expected.measured / expected.promised:,.0f} % of the promise: no limit, or a burst"]
        * (expected.word == "NOT CAPPED"),
    ]
    left_out = [f"left out: {line}" for line in left_out_lines(expected.left_out)]
    return "; ".join([where + ", ".join(parts), *left_out_lines(expected.limited), *left_out]) + given_text(expected)


def figure_text(expected: Expected, value: float) -> str:
    """``8,006 IOPS``, ``200 MiB/s``, ``p99 4.81 ms``: IOPS to the last one, as they are promised."""
    metric = BY_NAME[expected.figure]
    if metric.unit == "IO/s":
        return f"{value:,.0f} IOPS"
    return f"{metric.full_title} {metric.as_text(value)}" if metric.unit == "s" else units.bandwidth(value)


def _seconds_text(expected: Expected) -> str:
    """``100 % of seconds >= 90 %``; empty where none are known. Less than all is never rounded to 100 %."""
    if not expected.seconds or expected.seconds_reached is None:
        return ""
    percent = 100 * expected.seconds_reached / expected.seconds
    return f"{'100' if percent == 100 else f'{min(percent, 99.9):.1f}'} % of {SECONDS}"


def _ends(expected: Expected) -> str:
    """`` (95 %: 7,980 .. 8,031 IOPS)``; `` (one run: no interval)`` where the mean of too few decides; empty else."""
    if expected.interval is not None:
        low, high = (figure_text(expected, end) for end in expected.interval)
        return f" (95 %: {low} .. {high})"
    runs = len(expected.runs)
    if expected.answer == "undecided" or runs >= JUDGED_RUNS:
        return ""
    return f" ({'one run' if runs == 1 else f'{runs} runs'}: no interval)"
