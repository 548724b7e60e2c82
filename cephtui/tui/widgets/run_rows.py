"""The rows of the table of runs as data: runs, marks and the results of batches, the newest first.

What only runs need is imported with the first of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from rich.text import Text

from cephtui import units
from cephtui.analysis.runs.batches import under_heading
from cephtui.frozen import dataclass
from cephtui.models import Interval, Mark, Phase, Run, Total
from cephtui.models.metrics import LIVE
from cephtui.presets import Choice
from cephtui.reports.styles import STYLES
from cephtui.reports.words.cutting import short_target
from cephtui.reports.words.quality import is_marked, outcome_style, outcome_word
from cephtui.reports.words.text import (
    PHASES,
    clock,
    counted,
    link_ends,
    margin_of,
    spread_of,
    started,
    sweep,
    unusual_options,
    written,
)

if TYPE_CHECKING:
    from cephtui.analysis.runs.batches import Batch, Estimate, PointSummary, SweepPoint
    from cephtui.presets import Usual

MARGINS = {metric: f"{metric.name} margin" for metric in LIVE}
SPREADS = {metric: f"{metric.name} spread" for metric in LIVE}
"""The columns beside the metrics, for repeats: the interval of the mean, the coefficient of variation."""
LIMITED = "!"
"""The sign behind a figure that a finding limits, or whose run did not end well."""
LEGEND = f"{LIMITED} after a figure: a finding limits it, or its run did not end well; enter on the run shows which."
_PLAIN = dict.fromkeys(("differs", "target", "started", *MARGINS.values(), *SPREADS.values()), "")
"""Styles of a result, whose other texts are bold."""
_MARKS_MOST = 500
"""The newest marks: a table of more is slow."""
_PHASES: Mapping[Phase, str] = {**PHASES, "prepare": "prefill"}
_SHORT = {"read": "r", "write": "w"}
_OPENED, _CLOSED = "▾ ", "▸ "
_NUMBERS_MOST = 5
"""Columns of the numbers of repeats; ``11-20`` has room."""
_Placed: TypeAlias = tuple[datetime, int, int, list["RunRow"]]
"""Rows with what they are sorted by."""


@dataclass(frozen=True, slots=True)
class LiveFigures:
    """The run in progress as it is in its last second."""

    run: int
    flows: Mapping[str, Interval | None]
    """Intervals by direction; None where nothing was done."""
    phase: Phase


@dataclass(frozen=True, slots=True)
class RunRow:
    """One row; the cursor only goes to those with a run."""

    key: str
    texts: Mapping[str, str] = field(default_factory=dict)
    """Texts by column."""
    styles: Mapping[str, str] = field(default_factory=dict)
    style: str = ""
    """The style of columns that have none of their own."""
    run: Run | None = None
    """The run of the row; of repeats together, the one that stands for them."""
    repeats: tuple[Run, ...] = ()
    """All repeats, where the row is their result."""
    point: str = ""
    """The key by which repeats are opened and closed, in the row of their result and of each of them."""
    across: Text | None = None
    """A text over all columns but the first, in the place of their texts."""

    @property
    def name(self) -> str:
        """What the rows of all its directions have in common."""
        return self.key.partition(" ")[0]

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs that it is about."""
        return self.repeats or ((self.run,) if self.run else ())

    def fits(self, words: Iterable[str]) -> bool:
        """Whether it has each word (in small letters), a number as that of a run, or in a preset or a target."""
        names = " ".join([self.texts.get("preset", ""), *(run.target for run in self.runs)]).lower()
        seen = [self.across.plain] if self.across else [self.texts.get(name, "") for name in ("differs", "direction")]
        text = " ".join([names, *seen, *map(outcome_word, self.runs)]).lower()
        numbers = {str(run.run) for run in self.runs}
        return all(word.removeprefix("#") in numbers or word in (names if word.isdecimal() else text) for word in words)


@dataclass(frozen=True)
class TableContent:
    """All that the table shows."""

    runs: Mapping[int, Run] = field(default_factory=dict)
    """Runs by their numbers."""
    marks: tuple[Mark, ...] = ()
    presets: Mapping[str, Mapping[str, Choice]] = field(default_factory=dict)
    """The options of the presets that are known, by their names."""
    baseline: int | None = None
    now: LiveFigures | None = None
    measuring: frozenset[str] = frozenset()
    """The batch that is being measured."""
    chosen: Mapping[str, bool] = field(default_factory=dict)
    """Whether the user has opened or closed a point, by its key."""
    filter: str = ""
    """Words that the rows must have."""
    today: date | None = None
    """The day whose times need no date."""
    ascii_only: bool = False

    def rows(self, *, narrow: bool = False) -> list[RunRow]:
        """The rows from the top; the result of repeats stands for them, and above them where they are open."""
        rows = _matching(self._all_rows(), self.filter.lower().split())
        return [_narrow(row) for row in rows] if narrow else rows

    def _all_rows(self) -> list[RunRow]:
        from cephtui.analysis.runs.batches import swept

        batches = _batches(self.runs)
        marks = self._marks_by_repeat(batches)
        placed = marks.pop(None, [])
        for batch in batches:
            axes, last = swept(batch), self._last_moment(batch)
            if batch.is_repeated:
                points = enumerate(batch.points)
                rows = [row for number, point in points for row in self._of_point(batch, number, point, axes, marks)]
                placed.append((last, 2, 0, rows))
                continue
            heading = sweep(batch)
            across = Text.assemble((f" {batch.runs[0].preset}  ", "bold"), heading)
            placed += [(last, 2, 0, [RunRow(_heading_key(batch.runs[0]), across=across)])] * bool(heading)
            placed += self._of_runs(batch.runs, axes, "  " * bool(heading))
        return _in_order(placed)

    def _marks_by_repeat(self, batches: Iterable[Batch]) -> dict[int | None, list[_Placed]]:
        """The marks that were made between repeats, or in one: by the number of the one before; the others by None."""
        last = {run.run: batch.runs for batch in batches if batch.is_repeated for run in batch.runs}
        runs = sorted(self.runs.values(), key=lambda run: self._moments[run.run])
        starts = [self._moments[run.run] for run in runs]
        by_repeat: dict[int | None, list[_Placed]] = {}
        for number, mark in list(enumerate(self.marks))[-_MARKS_MOST:]:
            before = mark.run
            if before is None and (place := bisect_right(starts, mark.at)):
                run = runs[place - 1]
                before = run.run if run is not max(last.get(run.run, [run]), key=lambda repeat: repeat.run) else None
            place_of = before if before in last else None
            by_repeat.setdefault(place_of, []).append((mark.at, 1, number, [self._mark_row(number, mark)]))
        return by_repeat

    def _of_runs(self, runs: Iterable[Run], axes: Iterable[str], indent: str, point: str = "") -> list[_Placed]:
        return [(self._moments[run.run], 0, run.run, self._of_run(run, axes, indent, point)) for run in runs]

    def live_texts(self, run: Run, flow: Interval | Total | None) -> dict[str, str]:
        """What changes while a run is in progress."""
        figures = {metric.name: metric.text_of(flow) for metric in written(run.tool, LIVE)}
        return {**figures, "outcome": self._outcome(run)}

    def flows(self, run: Run) -> Mapping[str, Interval | Total | None]:
        """What has a row: one without a name, where nothing was measured yet."""
        live = self.now.flows if self.now and self.now.run == run.run and not run.outcome else {}
        return live or run.summary.flows or {"": None}

    def _outcome(self, run: Run) -> str:
        if run.outcome:
            return outcome_word(run)
        if self.now is None or self.now.run != run.run:
            return "running"
        return _PHASES[self.now.phase]

    def _last_moment(self, batch: Batch) -> datetime:
        """The moment of the batch's last run, or of a mark that was made in it."""
        at = self._moments
        return max(max(at[run.run], self._marked.get(run.run, at[run.run])) for run in batch.runs)

    @cached_property
    def _moments(self) -> dict[int, datetime]:
        """When each run began, as far as that is known."""
        if not self.runs:
            return {}
        from cephtui.analysis.runs.batches import moments, name_of

        by_name = moments(self.runs.values())
        return {number: by_name[name_of(run)] for number, run in self.runs.items()}

    @cached_property
    def _marked(self) -> dict[int, datetime]:
        """When the last mark was made in each run that has one."""
        return {mark.run: mark.at for mark in self.marks if mark.run is not None}

    def _of_run(self, run: Run, axes: Iterable[str], indent: str, point: str) -> list[RunRow]:
        """A row for each direction."""
        from cephtui.models.findings import limiting

        codes = [finding.code for finding in run.findings]
        is_bad, outcome = run.outcome not in (None, "ok"), STYLES[outcome_style(run)] or "bold"

        def limited(flow: str) -> list[str]:
            return [m.name for m in LIVE if run.outcome and (is_bad or limiting(codes, m.name, flow))]

        common = {"#": str(run.run), "preset": f"{indent}{run.preset}", **self._where([run], axes)}
        return [
            RunRow(
                f"{run.run} {name}",
                _signed({**common, "direction": name, **self.live_texts(run, flow)}, limited(name)),
                {**dict.fromkeys(limited(name), STYLES["limited"]), "outcome": outcome},
                run=run,
                point=point,
            )
            for name, flow in self.flows(run).items()
        ]

    def _where(self, runs: Sequence[Run], axes: Iterable[str]) -> dict[str, str]:
        """What differs, the target and the start of a run, or of repeats."""
        from cephtui.reports.words.differing import what_differs

        run = runs[0]
        baseline = "baseline" if self.baseline in [repeat.run for repeat in runs] else ""
        usual = self._usual(run)
        unusual = unusual_options(run, axes) if usual is None else ""
        differs = (baseline, link_ends(run), under_heading(run), what_differs(run, usual, list(axes)), unusual)
        return {
            "differs": " ".join(text for text in differs if text),
            "target": short_target(run.target),
            "started": started(run, self.today),
        }

    def _usual(self, run: Run) -> Usual | None:
        from cephtui.reports.words.differing import usual_of

        key = run.preset, run.tool, run.target
        if run.preset in self.presets and key not in self._known:
            self._known[key] = usual_of(run.tool, self.presets[run.preset], run.target)
        return self._known.get(key)

    @cached_property
    def _known(self) -> dict[tuple[str, str, str], Usual | None]:
        """The usual options by preset, tool and target."""
        return {}

    def _of_point(
        self,
        batch: Batch,
        number: int,
        point: SweepPoint,
        axes: Iterable[str],
        marks: Mapping[int | None, list[_Placed]],
    ) -> list[RunRow]:
        """The result of repeats; below it the marks among them and, where they are open, themselves."""
        from cephtui.analysis.runs.batches import summarize

        name = f"point:{batch.runs[0].run}:{number}"
        is_open = self.chosen.get(name, self._is_measured_now(batch, point))
        below = [placed for run in point.repeats for placed in marks.get(run.run, [])]
        below += self._of_runs(point.repeats, axes, "  ", name) if is_open else []
        return [*self._result(name, summarize(point), axes, _OPENED if is_open else _CLOSED), *_in_order(below)]

    def _is_measured_now(self, batch: Batch, point: SweepPoint) -> bool:
        """Whether one of the repeats is in progress, or was the last one and others of its batch are to come."""
        newest = max(batch.runs, key=lambda run: run.run)
        is_last = newest in point.repeats and newest.batch in self.measuring
        return is_last or any(run.outcome is None for run in point.repeats)

    def _result(self, name: str, summary: PointSummary, axes: Iterable[str], sign: str) -> list[RunRow]:
        """A row for each direction."""
        from cephtui.models.findings import limiting
        from cephtui.reports.words.facts import ranges

        repeats = summary.point.repeats
        numbers = ranges(sorted(run.run for run in repeats)).replace(" ", "")
        common = {"#": numbers if len(numbers) <= _NUMBERS_MOST else "", "preset": f"{sign}{repeats[0].preset}"}
        is_limited = any(map(is_marked, repeats))
        common |= {**self._where(repeats, axes), "outcome": counted(summary) + f" {LIMITED}" * is_limited}
        styles = {**_PLAIN, "outcome": STYLES["open"] if is_limited else "bold"}

        def limited(flow: str) -> list[str]:
            return [metric.name for metric in LIVE if limiting(summary.findings, metric.name, flow)]

        return [
            RunRow(
                f"{name} {direction}",
                _signed(
                    {**common, "direction": direction, **self._estimates(estimates, repeats[0].tool)},
                    limited(direction),
                ),
                {**styles, **dict.fromkeys(limited(direction), STYLES["open"])},
                style="bold",
                run=summary.last,
                repeats=repeats,
                point=name,
            )
            for direction, estimates in (summary.estimates or {"": {}}).items()
        ]

    def _mark_row(self, number: int, mark: Mark) -> RunRow:
        when = clock(mark.at, self.today, seconds=True)
        text = Text.assemble((f" {when}  ", "dim"), (mark.text, "bold italic"))
        return RunRow(f"mark {number}", {"#": "*"}, {"#": "bold"}, across=text)

    def _estimates(self, estimates: Mapping[str, Estimate], tool: str) -> dict[str, str]:
        texts: dict[str, str] = {}
        for metric, shown in zip(LIVE, written(tool, LIVE), strict=True):
            estimate = estimates.get(metric.name)
            texts[metric.name] = shown.as_text(estimate.value if estimate else None)
            texts[MARGINS[metric]] = margin_of(estimate, ascii_only=self.ascii_only)
            texts[SPREADS[metric]] = spread_of(estimate)
        return texts


def _batches(runs: Mapping[int, Run]) -> list[Batch]:
    if not runs:
        return []
    from cephtui.analysis.runs.batches import group

    return group(runs[number] for number in sorted(runs))


def _in_order(placed: Iterable[_Placed]) -> list[RunRow]:
    """The newest first."""
    ordered = sorted(placed, key=lambda entry: entry[:3], reverse=True)
    return [row for *_, rows in ordered for row in rows]


_HEADING = "heading "


def _heading_key(run: Run) -> str:
    return f"{_HEADING}{run.batch}"


def _matching(rows: list[RunRow], words: Sequence[str]) -> list[RunRow]:
    """The rows with all words; the heading of a sweep is kept above those of its runs."""
    if not words:
        return rows
    kept = {row.key for row in rows if not row.key.startswith(_HEADING) and row.fits(words)}
    kept |= {_heading_key(run) for row in rows if row.key in kept for run in row.runs}
    return [row for row in rows if row.key in kept]


def _signed(texts: Mapping[str, str], limited: Iterable[str]) -> dict[str, str]:
    """The texts of a row, with a sign behind the figures that are ``limited``."""
    return {**texts, **{name: f"{texts[name]}{LIMITED}" for name in limited if texts[name] != units.DASH}}


def _narrow(row: RunRow) -> RunRow:
    """The row with one letter for the direction."""
    direction = row.texts.get("direction", "")
    return replace(row, texts={**row.texts, "direction": _SHORT[direction]}) if direction in _SHORT else row
