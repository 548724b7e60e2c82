"""A verdict in words: the ratio with its interval, against what is asked for."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from itertools import chain

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
    "better": "better",
    "worse": "worse",
    "same": "the same within {}",
    "not worse": "not worse by more than {}",
    "not better": "not better by more than {}",
}
_SEEN_MOST = 0.99
"""A figure that falls by more is as good as gone."""
_NO_CHANGE = "no change"
_MANY_TIMES = 3.0
"""From here on "5.2 times as many" can be read out, and "420 % more" can not."""
_LEAST_SHOWN = 0.0005
"""Of a change: less is 0.0 %."""
_COUNTED_MOST, _HUNDREDS_MOST = 100, 1000
"""Numbers of runs that are named, and that are hundreds: who has to make so many asks no further."""
ANSWERS: dict[Answer, str] = {"met": "met", "not met": "not met", "undecided": "inconclusive"}
INFORMATION = "for information"
"""What a figure is shown for that decides nothing."""
_FIGURE = re.compile(r"(?<![\w.#/-])\d[\d.,:]*(?: (?:ns|us|ms|s|%)\b)?")
"""A figure with its unit, and not the number of an OSD, a run or a host."""


def answer_text(judgement: Judgement, *, code: bool) -> str:
    """``not met (exit 5): required was at most 10 % worse``."""
    conclusion = judgement.conclusion
    answer = f"{ANSWERS[conclusion.answer]}{f' (exit {conclusion.exit_code})' if code else ''}"
    if not judgement.deciding:
        return f"{answer}: no figure could be judged"
    required = required_text(judgement.deciding[0])
    why = f"could not show that it is {required}" if conclusion.answer == "undecided" else f"required was {required}"
    return f"{answer}: {why}"


def verdict_text(verdict: Verdict) -> str:
    """The answer on a figure, to be read out: the word, the change, the runs; where it is open, what would help.

    ``WORSE: 59 % fewer write IOPS (between 49 % and 67 % fewer), 3 runs each``. Every output has this sentence.
    """
    if verdict.lacks == "runs":
        return f"{_open_word()}: {_too_few(verdict)}"
    if verdict.lacks:
        return f"{_open_word()}: {why_not_judged(verdict, *_of_sides(verdict))}"
    text = f"{word_text(verdict).upper()}: {_change(verdict)}, {_runs(verdict)}"
    if _is_open(verdict):
        hints = "; ".join(filter(None, [_noise(verdict), _more_runs(verdict)]))
        return f"{text}. {hints[0].upper()}{hints[1:]}"
    if verdict.met is None:
        return f"{text}. Whether it is {required_text(verdict)} is open: {_more_runs(verdict)}"
    if _follows(verdict):
        return text
    is_said = verdict.word not in _WORDS
    return f"{text}; required: {required_text(verdict)}{'' if is_said else f': {_met(verdict)}'}"


def _open_word() -> str:
    return ANSWERS["undecided"].upper()


def _is_open(verdict: Verdict) -> bool:
    """Whether nothing is shown at all: neither has it a word nor is it known to be met or not."""
    return verdict.word not in _WORDS and verdict.met is None


def word_text(verdict: Verdict) -> str:
    """The word with which the sentence begins: ``worse``, ``slower``, ``the same within 10 %``, ``inconclusive``.

    Of two sides that are not in the order of time it is that of the second: ``B is worse``. An interval that is wide
    around no change has no word, and is met or not met all the same where much less, or much more, is required.
    """
    if verdict.word not in _WORDS:
        return ANSWERS["undecided"] if verdict.met is None else _met(verdict)
    is_one_sided = verdict.word in ("not worse", "not better")
    word = (is_one_sided and verdict.differs) or _WORDS[verdict.word].format(_percent(verdict.same_percent))
    return word if verdict.in_order else f"B is {word}"


def brief_word(verdict: Verdict) -> str:
    """The word of the verdict's data, for tables: ``not better, slower``."""
    if verdict.word not in _WORDS:
        return word_text(verdict)
    besides = "" if verdict.word in ("better", "worse") else verdict.differs
    return ", ".join(filter(None, [verdict.word, besides]))


def _met(verdict: Verdict) -> str:
    return "met" if verdict.met else "not met"


def _change(verdict: Verdict) -> str:
    """``59 % fewer write IOPS (between 49 % and 67 % fewer)``, ``5.2 times as many write IOPS (...)``; of a change that
    is open only what it lies between.
    """
    assert verdict.ratio is not None
    assert verdict.interval is not None
    noun = f"{verdict.direction} {metric_of(verdict.figure, verdict.tool, verdict.direction).full_title}"
    if _is_open(verdict):
        return f"{_between(verdict.interval, verdict)} {noun}"
    if all(abs(ratio - 1) < _LEAST_SHOWN for ratio in verdict.interval):
        return f"no change in {noun}"
    if verdict.ratio >= _MANY_TIMES and verdict.interval[0] >= 1:
        figure, low, high = (f"{end:.{int(end < 99.95)}f}" for end in (verdict.ratio, *verdict.interval))
        is_counted = verdict.figure == "iops"
        between = f"between {low} and {high} times{' as many' if is_counted else ''}"
        return f"{figure} times {'as many' if is_counted else 'the'} {noun} ({between})"
    is_none = abs(verdict.ratio - 1) < _LEAST_SHOWN
    change = "no change in" if is_none else " ".join(_more_or_less(verdict.ratio, verdict))
    return f"{change} {noun} ({_between(verdict.interval, verdict)})"


def _between(interval: tuple[float, float], verdict: Verdict) -> str:
    """``between 49 % and 67 % fewer``, ``between 36 % fewer and 28 % more``."""
    if interval[0] < 1 < interval[1]:
        return "between " + " and ".join(" ".join(_more_or_less(end, verdict)) for end in interval)
    less, more = (_more_or_less(end, verdict) for end in sorted(interval, key=lambda end: abs(end - 1)))
    return f"between {less[0]} and {' '.join(more)}"


def _more_or_less(ratio: float, verdict: Verdict) -> tuple[str, str]:
    """``59 %`` and ``fewer``; a figure that is not counted is ``lower``."""
    down, up = ("fewer", "more") if verdict.figure == "iops" else ("lower", "higher")
    return _about(abs(ratio - 1)), up if ratio > 1 else down


def _runs(verdict: Verdict) -> str:
    """``3 runs each``, ``3 runs before, 5 after``."""
    before, after = len(verdict.before), len(verdict.after)
    if before == after:
        return f"{before} run{'s' * (before != 1)} each"
    first, second = _sides(verdict)
    return f"{before} run{'s' * (before != 1)} {first}, {after} {second}"


def _sides(verdict: Verdict) -> tuple[str, str]:
    return ("before", "after") if verdict.in_order else ("A", "B")


def _of_sides(verdict: Verdict) -> tuple[str, str]:
    """The words behind "run"."""
    return ("before", "after") if verdict.in_order else ("of A", "of B")


def figures_text(verdict: Verdict) -> str:
    """``write IOPS 3.83k -> 1.57k, -59.0 % (95 %: -67.1 .. -49.1); spread between runs 7.1 % before, 11 % after``."""
    metric = metric_of(verdict.figure, verdict.tool, verdict.direction)
    left, right = metric.as_text(verdict.left), metric.as_text(verdict.right)
    figures = f"{left} -> {right}" if verdict.in_order else f"A {left}, B {right}"
    text = ", ".join(filter(None, [f"{verdict.direction} {metric.full_title} {figures}", change_of(verdict)]))
    spreads = [
        f"{_about(spread)} {side}" for side, spread in zip(_sides(verdict), verdict.spread, strict=True) if spread
    ]
    return f"{text}; spread between runs {', '.join(spreads)}" if spreads else text


def change_of(verdict: Verdict) -> str:
    """``-18.0 % (95 %: -21.0 .. -14.9)``; without an interval where there are too few runs."""
    if verdict.ratio is None:
        return ""
    text = ratio_of(verdict)
    if verdict.interval is None:
        return text
    looks = f" over up to {verdict.looks_most} looks" if verdict.looks_most > 1 else ""
    return f"{text} ({_plain(100 * verdict.confidence)} %{looks}: {interval_of(verdict)})"


def ratio_of(verdict: Verdict) -> str:
    """``-18.0 %``: from before to after; empty where that is not known."""
    return "" if verdict.ratio is None else signed_percent(verdict.ratio)


def interval_of(verdict: Verdict) -> str:
    """``-21.0 .. -14.9``, in percent of before; empty without one."""
    return " .. ".join(map(_signed, verdict.interval or ()))


def required_text(verdict: Verdict) -> str:
    """``at most 10 % worse``, ``at least 20 % better``."""
    return required_percent(verdict.require_percent)


def required_percent(percent: float) -> str:
    """A requirement in words: ``at most 10 % worse`` of -10, ``at least 20 % better`` of 20."""
    return f"at least {_percent(percent)} better" if percent > 0 else f"at most {_percent(-percent)} worse"


def statistics_text(verdict: Verdict) -> str:
    """In which order the runs were made, which drift that hides, and which change could be seen; may be empty."""
    noise = _noise(verdict) if verdict.is_judged and not _is_open(verdict) else ""
    sentences = [text for text in (_order(verdict), noise) if text]
    return " ".join(f"{text[0].upper()}{text[1:]}." for text in sentences)


def _order(verdict: Verdict) -> str:
    """``interleaved``, ``not interleaved ...: a drift below 12 % would go unnoticed``; empty of few runs."""
    if not verdict.interval:
        return ""
    if verdict.method == "paired":
        return "runs of both sides were interleaved"
    text = f"not interleaved (all {'before, then all after' if verdict.in_order else 'of one side, then the other'})"
    drift = verdict.unnoticed_drift_fraction
    if drift is None:
        return text
    below = f" below {_about(drift)}" if drift <= _SEEN_MOST else ""
    return f"{text}: a drift{below} would go unnoticed"


def _noise(verdict: Verdict) -> str:
    """``with this noise only a fall of about 51 % or more is likely to show``; empty where that is not known."""
    change = _least_seen(verdict)
    if not change:
        return ""
    if change == _NO_CHANGE:
        return "with this noise no change is likely to show"
    return f"with this noise only {change.removesuffix(' or more')} or more is likely to show"


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

    A rise is the same factor the other way, and more percent. ``betters`` are those of the figures in question.
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


def for_information(verdicts: Iterable[Verdict]) -> list[str]:
    """Figures that are not part of the answer, in one line; none without any."""
    figures = []
    for verdict in verdicts:
        if not verdict.decides and verdict.ratio is not None:
            ends = f" ({interval_of(verdict)})" if verdict.interval else ""
            title = metric_of(verdict.figure, verdict.tool, verdict.direction).full_title
            figures.append(f"{verdict.direction} {title} {_signed(verdict.ratio)} %{ends}")
    return [f"{INFORMATION}: {', '.join(figures)}"] if figures else []


def left_out_lines(left_out: Iterable[LeftOut]) -> list[str]:
    """``tuning/1-3, 5: why``: runs on one line whose reasons are the same, or differ in their figures only."""
    return [f"{session}/{numbers}: {why}" for session, numbers, why in left_out_parts(left_out)]


def left_out_parts(left_out: Iterable[LeftOut]) -> list[tuple[str, str, str]]:
    """The session, the numbers of the runs, and the reason of the first, with how many are more like it."""
    alike: dict[tuple[str, str], dict[str, list[int]]] = {}
    for left_out_run in left_out:
        session, _, number = left_out_run.run.rpartition("/")
        reasons = alike.setdefault((session, _FIGURE.sub("", left_out_run.why)), {})
        reasons.setdefault(left_out_run.why, []).append(int(number))
    return [
        (session, ranges(sorted(chain(*reasons.values()))), _first_of(tuple(reasons)))
        for (session, _), reasons in alike.items()
    ]


def _first_of(reasons: Sequence[str]) -> str:
    return f"{reasons[0]}; {len(reasons) - 1} more like it" if len(reasons) > 1 else reasons[0]


def _too_few(verdict: Verdict) -> str:
    before, after = len(verdict.before), len(verdict.after)
    needed = f"too few for a verdict ({JUDGED_RUNS} needed)"
    if verdict.predicted is not None and after == 1:
        assert verdict.left
        assert verdict.right
        low, high = (end / verdict.left for end in verdict.predicted)
        lies = "inside" if verdict.predicted[0] <= verdict.right <= verdict.predicted[1] else "outside"
        first, second = _sides(verdict)
        return (
            f"one run {second} is {needed}; it lies {lies} what another run {first} would show "
            f"({_signed(low)} .. {_signed(high)} %)"
        )
    if before != after:
        return f"{_runs(verdict)}: {needed}"
    change = _least_seen(verdict) if before == 1 else ""
    return f"{before} run{'s' * (before != 1)} per side: {needed}{f'; 4 per side would show {change}' * bool(change)}"


def _follows(verdict: Verdict) -> bool:
    """Whether the word alone says whether it is met."""
    return verdict.require_percent == -verdict.same_percent and verdict.word != "no verdict"


def _more_runs(verdict: Verdict) -> str:
    """A hint on what would bring a verdict."""
    needed, if_same = verdict.runs_needed, verdict.runs_needed_if_same
    sides = len(verdict.before), len(verdict.after)
    if if_same is not None and if_same > max(sides):
        numbers = _to([_number(number) for number in _numbers(verdict, if_same)])
        return f"to rule out {_ruled_out(verdict)} would take {numbers} runs per side"
    if needed is None and if_same is None and _is_decided_alone(verdict):
        return "not enough for all figures together (Holm)"
    if needed is None or if_same is not None:
        about = "" if needed is None else f": that would take {_number(needed)} runs per side"
        return f"too near the threshold of {verdict.require_percent:+.3g} % to be decided{about}"
    numbers_of_runs = _numbers(verdict, needed)
    more = [sum(max(0, number - runs) for runs in sides) for number in numbers_of_runs]
    what = "change" if verdict.in_order else "difference"
    numbers = _to([_number(number) for number in numbers_of_runs])
    text = f"if the true {what} is {ratio_of(verdict)}, {numbers} runs per side would decide"
    if max(numbers_of_runs) >= _COUNTED_MOST:
        return text
    times = [units.duration(number * verdict.run_seconds) for number in more] if verdict.run_seconds else []
    time = f": {_to(times)}" if times else ""
    return f"{text} ({_to([f'{number:,}' for number in more])} more{time})"


def _ruled_out(verdict: Verdict) -> str:
    """``a loss of 10 %``, ``a gain of 20 %``: what no change at all is to be told from."""
    return f"a {'gain' if verdict.require_percent > 0 else 'loss'} of {_percent(abs(verdict.require_percent))}"


def _number(runs: int) -> str:
    """``about 8``, ``several hundred``."""
    if runs < _COUNTED_MOST:
        return f"about {runs}"
    return "several hundred" if runs < _HUNDREDS_MOST else "thousands of"


def _numbers(verdict: Verdict, needed: int) -> list[int]:
    """The number of runs, at least one more than there are; where there are few between which two it is."""
    least = min(len(verdict.before), len(verdict.after)) + 1
    are_few = _are_few(verdict) and verdict.runs_needed_between
    numbers = verdict.runs_needed_between if are_few and verdict.runs_needed_between else (needed,)
    return list(dict.fromkeys(max(number, least) for number in numbers))


def _to(texts: Sequence[str]) -> str:
    """``about 8`` of one, ``6 to 30`` of two."""
    first, *others = dict.fromkeys(texts)
    return f"{first.removeprefix('about ')} to {others[0].removeprefix('about ')}" if others else first


def _is_decided_alone(verdict: Verdict) -> bool:
    """Whether its own interval lies on one side of what is required."""
    assert verdict.interval
    better = BY_NAME[verdict.figure].better
    return answer_of(verdict.interval, required_ratio(verdict.require_percent, better), better) != "undecided"


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
