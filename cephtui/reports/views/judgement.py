"""A judgement: each figure that decides with its sentence and its interval, what is to be known, and the answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from cephtui import units
from cephtui.analysis.statistics.ratio import required_ratio
from cephtui.analysis.verdicts.conclusion import Judgement
from cephtui.models.metrics import BY_NAME
from cephtui.models.verdict import Conclusion, StageChange, Verdict
from cephtui.reports.blocks import (
    Block,
    Cell,
    ConfidenceInterval,
    Document,
    Items,
    LineChart,
    Part,
    Table,
    Text,
    View,
    columns,
    cut_items,
    cut_rows,
    document,
    words,
)
from cephtui.reports.sheets import Sheet
from cephtui.reports.styles import Style
from cephtui.reports.views.charts import ends_of, interval_chart
from cephtui.reports.words.stages import moved_line
from cephtui.reports.words.text import metric_of
from cephtui.reports.words.verdict import (
    INFORMATION,
    answer_text,
    brief_word,
    figures_text,
    for_information,
    interval_of,
    left_out_parts,
    ratio_of,
    signed_percent,
    statistics_text,
    verdict_text,
)

_ANSWERS: Mapping[bool | None, Style] = {True: "good", False: "bad", None: "open"}
_COLUMNS = (
    *("preset", "direction", "figure", "left", "right", "ratio", "ratio_low", "ratio_high", "confidence"),
    *("runs_left", "runs_right", "verdict", "differs", "p_same", "p_same_together"),
)
_INDENT = 2


def judgement_view(judgement: Judgement, *, has_code: bool = True) -> View:
    """All verdicts and the answer, with its exit code where there is one."""
    return View(
        document=lambda: _document(judgement, has_code=has_code),
        lines=lambda: [*judgement.verdicts, judgement.conclusion],
        sheet=lambda: verdicts_sheet(judgement.verdicts),
    )


def _document(judgement: Judgement, *, has_code: bool) -> Document:
    answer = answer_text(judgement, code=has_code)
    items: tuple[Cell, ...] = (
        *_moved(judgement.conclusion.stages),
        *(words(line, style="dim") for line in for_information(judgement.verdicts)),
        *_known(judgement.conclusion),
    )
    listed = [Items(items)] if items else []
    return document(answer, *verdicts_blocks(judgement), *listed, Text(answer, "strong"))


def _known(conclusion: Conclusion) -> Iterator[Cell]:
    """What is to be known of an answer."""
    yield from (words(line, style="strong") for line in conclusion.notes)
    yield from (f"mark: {line}" for line in _texts(conclusion.noted, "marks"))
    yield from (f"differs: {line}" for line in _texts(conclusion.changed, "differences"))
    yield from limits_of(conclusion)


def _moved(changes: Sequence[StageChange]) -> Iterator[str]:
    """Which stages of the latency have changed; behind their presets where there are several."""
    several = len({change.preset for change in changes}) > 1
    for change in changes:
        yield f"{change.preset}: {moved_line(change)}" if several else moved_line(change)


def _texts(lines: Sequence[str], what: str) -> list[Cell]:
    return list(cut_items(lines, what))


def limits_of(conclusion: Conclusion, letters: Mapping[str, str] | None = None) -> list[Cell]:
    """Runs that were left out, and findings that limit those that count; ``letters`` stand for sessions."""
    short = letters or {}
    return [
        words(sign, *_which(session, numbers, short.get(session, "")), f": {why}", style="limited")
        for sign, runs in (("left out: ", conclusion.left_out), ("! ", conclusion.limited))
        for session, numbers, why in left_out_parts(runs)
    ]


def _which(session: str, numbers: str, letter: str) -> tuple[str | Part, ...]:
    """``tuning/1-3``; ``A #1-3`` of a session that has a letter."""
    return (f"{letter} ", (f"#{numbers}", "runs")) if letter else (f"{session}/{numbers}",)


def verdicts_blocks(judgement: Judgement | None) -> Iterator[Block]:
    """Each verdict that decides, then for a page a chart of their intervals."""
    deciding = judgement.deciding if judgement else []
    for verdict in deciding:
        yield from verdict_blocks(verdict)
    if chart := intervals_chart(deciding, {}):
        yield chart


def intervals_chart(verdicts: Sequence[Verdict], names: Mapping[str, str]) -> LineChart | None:
    """A chart of where each change lies; ``names`` are those of pairs by their runs. None without an interval."""
    return interval_chart([(verdict, name_of_verdict(verdict, names)) for verdict in verdicts])


def verdict_blocks(verdict: Verdict) -> Iterator[Block]:
    """The answer in a sentence, the figures behind it, their interval as a bar, and the statistics."""
    yield Text(words((verdict.preset, "strong"), "  ", (verdict_text(verdict), style_of(verdict))))
    if verdict.left is not None or verdict.right is not None:
        yield Text(figures_text(verdict), indent=_INDENT)
    if verdict.interval is not None:
        yield interval_of_verdict(verdict)
    if text := statistics_text(verdict):
        yield Text(text, "dim", _INDENT)


def interval_of_verdict(verdict: Verdict) -> ConfidenceInterval:
    """The interval of a verdict that has one."""
    required = required_ratio(verdict.require_percent, BY_NAME[verdict.figure].better)
    text, same = signed_percent(required), verdict.same_percent / 100
    return ConfidenceInterval(*ends_of(verdict), required, text, same, _ANSWERS[verdict.met], _INDENT)


def evidence_blocks(judgement: Judgement, sides: tuple[str, str]) -> Iterator[Block]:
    """What stands behind the answer: the figures, what was noted and differs, and findings."""
    rows = [(*figure_cells(v), brief_word(v) if v.decides else INFORMATION) for v in judgement.verdicts]
    strong = frozenset(at for at, verdict in enumerate(judgement.verdicts) if verdict.decides)
    heads = columns(("figure", *sides, "change", "interval", "runs", "verdict"), "lrrrrrl")
    yield Table(
        tuple(replace(head, rank=rank) for head, rank in zip(heads, (0, 0, 0, 0, 3, 2, 1), strict=True)),
        cut_rows(rows, "figures"),
        strong,
    )
    conclusion = judgement.conclusion
    if items := (*_moved(conclusion.stages), *_known(conclusion)):
        yield Items(items)


def figure_cells(verdict: Verdict) -> tuple[str, ...]:
    """The figure, its values on both sides, the change, its interval, and the runs of both sides."""
    metric = metric_of(verdict.figure, verdict.tool, verdict.direction)
    return (
        f"{verdict.direction} {metric.full_title}",
        metric.as_text(verdict.left),
        metric.as_text(verdict.right),
        ratio_of(verdict) or units.DASH,
        f"{interval_of(verdict)} %" if verdict.interval else units.DASH,
        f"{len(verdict.before)} / {len(verdict.after)}",
    )


def style_of(verdict: Verdict) -> Style:
    """The style of a verdict's word."""
    return _ANSWERS[verdict.met] if verdict.is_judged else "dim"


def verdicts_sheet(verdicts: Iterable[Verdict], names: Mapping[str, str] | None = None) -> Sheet:
    """A row for each figure; ``names`` are those of pairs by their runs, else each is called by its preset."""
    return Sheet("verdicts", _COLUMNS, (_row(verdict, name_of_verdict(verdict, names or {})) for verdict in verdicts))


def name_of_verdict(verdict: Verdict, names: Mapping[str, str]) -> str:
    """The name of a verdict's runs in ``names``, which sets pairs of a preset apart; else its preset."""
    return next((names[run] for run in (*verdict.before, *verdict.after) if run in names), verdict.preset)


def _row(verdict: Verdict, name: str) -> Mapping[str, object]:
    low, high = verdict.interval or (None, None)
    return {
        **{column: getattr(verdict, column, None) for column in _COLUMNS},
        "preset": name,
        "ratio_low": low,
        "ratio_high": high,
        "runs_left": len(verdict.before),
        "runs_right": len(verdict.after),
        "verdict": verdict.word,
    }
