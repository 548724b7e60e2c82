"""A verdict in words: the ratio with its interval, against what is asked for."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

from cephtui import units
from cephtui.analysis.statistics.ratio import Better, answer_of, required_ratio
from cephtui.analysis.verdicts.conclusion import Judgement
from cephtui.analysis.verdicts.verdict import why_not_judged
from cephtui.models.metrics import BY_NAME
from cephtui.models.verdict import JUDGED_RUNS, Answer, LeftOut, Verdict, Word
from cephtui.printable import either
from cephtui.reports.words.facts import ranges
from cephtui.reports.words.text import metric_of

_WORDS: dict[Word, str] = {
    "better": "better by more than {}",
    "worse": "worse by more than {}",
    "same": "the same within {}",
    "not worse": "not worse by more than {}",
    "not better": "not better by more than {}",
}
_SEEN_MOST = 0.99
"""A figure that falls by more is as good as gone."""
_NO_CHANGE = "no change"
ANSWERS: dict[Answer, str] = {"met": "met", "not met": "not met", "undecided": "no verdict"}


def answer_text(judgement: Judgement, *, code: bool) -> str:
    """``required: at most 10 % worse: not met (exit 5)``."""
    requirement = f"required: {required_text(judgement.deciding[0])}: " if judgement.deciding else ""
    exit_code = f" (exit {judgement.conclusion.exit_code})" if code else ""
    return f"{requirement}{ANSWERS[judgement.conclusion.answer]}{exit_code}"


def headline(verdict: Verdict) -> str:
    """``write-iops  write IOPS  10.1k -> 8.25k  -18.0 %  (95 %: -21.0 .. -14.9)``."""
    return "".join(headline_parts(verdict))


def headline_parts(verdict: Verdict) -> tuple[str, str, str]:
    """The preset, the figures of both sides, and the change where it is known."""
    metric = metric_of(verdict.figure, verdict.tool, verdict.direction)
    left, right = metric.as_text(verdict.left), metric.as_text(verdict.right)
    figures = f"{left} -> {right}" if verdict.in_order else f"A {left}, B {right}"
    change = change_of(verdict)
    return verdict.preset, f"  {verdict.direction} {metric.full_title}  {figures}", f"  {change}" if change else ""


def change_of(verdict: Verdict) -> str:
    """``-18.0 %  (95 %: -21.0 .. -14.9)``; without an interval where there are too few runs."""
    if verdict.ratio is None:
        return ""
    text = ratio_of(verdict)
    if verdict.interval is None:
        return text
    looks = f" over up to {verdict.looks_most} looks" if verdict.looks_most > 1 else ""
    return f"{text}  ({_plain(100 * verdict.confidence)} %{looks}: {interval_of(verdict)})"


def ratio_of(verdict: Verdict) -> str:
    """``-18.0 %``: from before to after; empty where that is not known."""
    return "" if verdict.ratio is None else signed_percent(verdict.ratio)


def interval_of(verdict: Verdict) -> str:
    """``-21.0 .. -14.9``, in per cent of before; empty without one."""
    return " .. ".join(map(_signed, verdict.interval or ()))


def verdict_text(verdict: Verdict) -> str:
    """A sentence on a verdict; where there is none, on what would bring one."""
    before, after = len(verdict.before), len(verdict.after)
    if verdict.lacks == "runs":
        return _too_few(verdict, before, after)
    if verdict.lacks:
        return f"no verdict: {why_not_judged(verdict, *_of_sides(verdict))}"
    word = short_text(verdict) if verdict.word in _WORDS else ""
    if _differs_besides(verdict):
        word += f" by {_percent(_away(verdict.ratio or 1.0))}"
    if verdict.met is not None:
        answer = _answer(verdict)
        return word if _follows(verdict) else f"{word}; {answer}" if word else answer
    if word:
        return f"{word}; {required_text(verdict)}: no verdict, {_between(verdict)}{_more_runs(verdict)}"
    return f"no verdict: {_between(verdict)}{_more_runs(verdict)}"


def short_text(verdict: Verdict, *, brief: bool = False) -> str:
    """The word of a verdict, with which every output begins: ``not better by more than 10 %, slower``.

    Where the words are explained beside it, a ``brief`` one is that of its data: ``not better, slower``. An interval
    that is wide around no change has no word, and is met or not met all the same where much less, or much more, is
    required: that answer stands for its word then.
    """
    if verdict.word in _WORDS:
        word = verdict.word if brief else _word(verdict)
        return ", ".join(filter(None, [word, _differs_besides(verdict)]))
    return "no verdict" if verdict.met is None else _answer(verdict)


def _differs_besides(verdict: Verdict) -> str:
    """``slower``, ``faster``: where that is shown and its word does not say it; empty else."""
    return "" if verdict.word in ("better", "worse") else verdict.differs or ""


def _word(verdict: Verdict) -> str:
    """The word for the second side; it has a letter where that is not what came after a change."""
    word = _WORDS[verdict.word].format(_percent(verdict.same_percent))
    return word if verdict.in_order else f"B {word}"


def _answer(verdict: Verdict) -> str:
    """``at least 20 % better: not met``, where that is known."""
    return f"{required_text(verdict)}: {'met' if verdict.met else 'not met'}"


def _of_sides(verdict: Verdict) -> tuple[str, str]:
    """The words behind a number of runs, for each side."""
    return ("before", "after") if verdict.in_order else ("of A", "of B")


def required_text(verdict: Verdict) -> str:
    """``at most 10 % worse``, ``at least 20 % better``."""
    return required_percent(verdict.require_percent)


def required_percent(percent: float) -> str:
    """A requirement in words: ``at most 10 % worse`` of -10, ``at least 20 % better`` of 20."""
    return f"at least {_percent(percent)} better" if percent > 0 else f"at most {_percent(-percent)} worse"


def basis(verdict: Verdict) -> str:
    """How many runs it rests on, how far they are spread, and which change could be seen."""
    first, second = len(verdict.before), len(verdict.after)
    words = _of_sides(verdict)
    sides = (
        f"{first} run{'s' * (first != 1)} {words[0]}{_spread(verdict.spread[0])}",
        f"{second} {words[1]}{_spread(verdict.spread[1])}",
    )
    text = f"{sides[0]}, {sides[1]}{_order(verdict)}."
    change = _least_seen(verdict) if verdict.is_judged else ""
    if not change:
        return text
    takes = _are_few(verdict) and change != _NO_CHANGE
    seen = f"it takes {change} to be seen" if takes else f"{change} would be seen"
    return f"{text} With this spread {seen} (80 %)."


def _order(verdict: Verdict) -> str:
    """``, in turns``, ``, one side after the other: a drift below 12 % would not be noticed``; empty of few runs."""
    if not verdict.interval:
        return ""
    if verdict.method == "paired":
        return ", in turns"
    drift = verdict.unnoticed_drift_fraction
    if drift is None:
        return ", one side after the other"
    below = f" below {_about(drift)}" if drift <= _SEEN_MOST else ""
    return f", one side after the other: a drift{below} would not be noticed"


def _least_seen(verdict: Verdict) -> str:
    """The least change to the worse, of few runs between what it is; empty where that is not known."""
    fall, better = verdict.detectable_fraction, BY_NAME[verdict.figure].better
    if not fall:
        return ""
    return seen_between(verdict.detectable_between, better) if _are_few(verdict) else seen_text([fall], {better})


def _are_few(verdict: Verdict) -> bool:
    """Whether a side has so few runs that their spread is hardly known: what follows from it is a range then."""
    return min(len(verdict.before), len(verdict.after)) == JUDGED_RUNS


def seen_between(falls: tuple[float, float] | None, better: Better) -> str:
    """``a fall of 12 to 40 %``, ``a fall of 12 % or more``, ``no change``; empty where that is not known."""
    if falls is None:
        return ""
    shown = [fall if better == "more" else fall / (1 - fall) for fall in falls if fall <= _SEEN_MOST]
    if not shown:
        return _NO_CHANGE
    what = "a fall of" if better == "more" else "a rise of"
    low = _about(shown[0])
    return f"{what} {low.removesuffix(' %')} to {_about(shown[1])}" if len(shown) > 1 else f"{what} {low} or more"


def seen_text(falls: Sequence[float], betters: Collection[Better]) -> str:
    """``a fall of about 5.0 %``, of a latency ``a rise of about 5.3 %``: the least ones to the worse, given as falls.

    A rise is the same factor the other way, and more per cent. ``betters`` are those of the figures in question.
    """
    if all(fall > _SEEN_MOST for fall in falls):
        return _NO_CHANGE
    smaller_falls = [fall for fall in falls if fall <= _SEEN_MOST]
    beyond = ["none"] if len(smaller_falls) < len(falls) else []
    down, up = (
        either([*map(_about, fractions), *beyond])
        for fractions in (smaller_falls, [fall / (1 - fall) for fall in smaller_falls])
    )
    if set(betters) == {"less"}:
        return f"a rise of about {up}"
    return f"a fall of about {down}" + (f" (of a latency a rise of about {up})" if "less" in betters else "")


def _about(fraction: float) -> str:
    return f"{100 * fraction:,.{0 if fraction >= 0.0995 else 1}f} %"


def also_measured(verdicts: Iterable[Verdict]) -> list[str]:
    """Figures that are not part of the answer, in one line; none without any."""
    figures = []
    for verdict in verdicts:
        if not verdict.decides and verdict.ratio is not None:
            ends = f" ({interval_of(verdict)})" if verdict.interval else ""
            title = metric_of(verdict.figure, verdict.tool, verdict.direction).full_title
            figures.append(f"{verdict.direction} {title} {_signed(verdict.ratio)} %{ends}")
    return [f"also measured, not part of the verdict: {', '.join(figures)}"] if figures else []


def left_out_lines(left_out: Iterable[LeftOut]) -> list[str]:
    """``tuning/1-3, 5: why``: runs with the same reason on one line."""
    runs: dict[tuple[str, str], list[int]] = {}
    for left_out_run in left_out:
        session, _, number = left_out_run.run.rpartition("/")
        runs.setdefault((session, left_out_run.why), []).append(int(number))
    return [f"{session}/{ranges(sorted(numbers))}: {why}" for (session, why), numbers in runs.items()]


def _too_few(verdict: Verdict, before: int, after: int) -> str:
    if verdict.predicted is not None and after == 1:
        assert verdict.left
        assert verdict.right
        low, high = (end / verdict.left for end in verdict.predicted)
        lies = "inside" if verdict.predicted[0] <= verdict.right <= verdict.predicted[1] else "outside"
        return (
            f"no verdict from one run: it lies {lies} what a further run {_of_sides(verdict)[0]} would show "
            f"({_signed(low)} .. {_signed(high)} %)"
        )
    if (before, after) == (1, 1):
        change = _least_seen(verdict)
        more = f"; 4 a side would show {change}" if change else ""
        return f"one run each: no verdict{more}"
    if min(before, after) == 1:
        sides = _of_sides(verdict)
        alone = sides[0] if before == 1 else sides[1]
        return f"no verdict: one run {alone} has no spread; {JUDGED_RUNS} runs a side are judged"
    return f"no verdict: {JUDGED_RUNS} runs a side are judged"


def _follows(verdict: Verdict) -> bool:
    """Whether the word alone says whether it is met."""
    return verdict.require_percent == -verdict.same_percent and verdict.word != "no verdict"


def _between(verdict: Verdict) -> str:
    """``between 10.7 % and 3.9 % slower``, ``between 36.4 % slower and 27.9 % faster``."""
    assert verdict.interval
    more = BY_NAME[verdict.figure].better == "more"
    ends = [(_percent(_away(end)), "faster" if (end > 1) == more else "slower") for end in verdict.interval]
    (low, first), (high, second) = ends
    return f"between {low} and {high} {first}" if first == second else f"between {low} {first} and {high} {second}"


def _more_runs(verdict: Verdict) -> str:
    """A hint on what would bring a verdict."""
    needed, if_same = verdict.runs_needed, verdict.runs_needed_if_same
    sides = len(verdict.before), len(verdict.after)
    threshold = f"{verdict.require_percent:+.3g} %"
    if if_same is not None and if_same > max(sides):
        shown_as = "not worse" if verdict.require_percent <= 0 else "not met"
        runs = _to([f"{number:,}" for number in _numbers(verdict, if_same)])
        return f". {runs[0].upper()}{runs[1:]} runs a side would show no change as {shown_as}"
    if needed is None and if_same is None and _is_decided_alone(verdict):
        return ". Not enough for all figures together (Holm)"
    if needed is None or if_same is not None:
        about = "" if needed is None else f": about {needed:,} runs a side"
        return f". Too near the threshold of {threshold} to be decided{about}"
    numbers = _numbers(verdict, needed)
    more = [sum(max(0, number - runs) for runs in sides) for number in numbers]
    times = [units.duration(number * verdict.run_seconds) for number in more] if verdict.run_seconds else []
    time = f": {_to(times, about='')}" if times else ""
    what = "change" if verdict.in_order else "difference"
    return (
        f". If the true {what} is {ratio_of(verdict)}, {_to([f'{number:,}' for number in numbers])} runs a side would "
        f"decide ({_to([f'{number:,}' for number in more], about='')} more{time})"
    )


def _numbers(verdict: Verdict, needed: int) -> list[int]:
    """The number of runs, at least one more than there are; where there are few between which two it is."""
    least = min(len(verdict.before), len(verdict.after)) + 1
    are_few = _are_few(verdict) and verdict.runs_needed_between
    numbers = verdict.runs_needed_between if are_few and verdict.runs_needed_between else (needed,)
    return list(dict.fromkeys(max(number, least) for number in numbers))


def _to(texts: Sequence[str], about: str = "about ") -> str:
    """``about 8`` of one, ``6 to 30`` of two."""
    return " to ".join(dict.fromkeys(texts)) if len(texts) > 1 else f"{about}{texts[0]}"


def _is_decided_alone(verdict: Verdict) -> bool:
    """Whether its own interval lies on one side of what is required."""
    assert verdict.interval
    better = BY_NAME[verdict.figure].better
    return answer_of(verdict.interval, required_ratio(verdict.require_percent, better), better) != "undecided"


def _spread(value: float | None) -> str:
    return "" if value is None else f" (spread {_percent(100 * value)})"


def _away(ratio: float) -> float:
    """The distance of a ratio from 1 in per cent, without the direction."""
    return abs(100 * (ratio - 1))


def signed_percent(ratio: float) -> str:
    """``-18.0 %``."""
    return f"{_signed(ratio)} %"


def _signed(ratio: float) -> str:
    text = f"{100 * (ratio - 1):+.1f}"
    return "0.0" if text in ("-0.0", "+0.0") else text


def _percent(value: float) -> str:
    """``10 %``, ``8.8 %``: what was typed as it was, what was measured with a decimal."""
    return f"{_plain(value)} %"


def _plain(value: float) -> str:
    text = f"{value:.0f}" if math.isclose(value, round(value), abs_tol=1e-9) else f"{value:.1f}"
    return text.removeprefix("-") if float(text) == 0 else text
