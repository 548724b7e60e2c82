"""The rows of the table of runs as data: runs, marks and the results of batches, the newest first.

What only runs need is imported with the first of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from rich.text import Text

from cephtui.frozen import dataclass
from cephtui.models import Interval, Mark, Phase, Run, Total
from cephtui.models.metrics import LIVE
from cephtui.presets import Choice
from cephtui.reports.text import OUTCOME_STYLES, PHASES, counted, short_target, sweep, swept, value_range

if TYPE_CHECKING:
    from cephtui.analysis.batches import Batch, Estimate, PointSummary
    from cephtui.reports.differing import Usual

RANGES = {metric: f"{metric.name} range" for metric in LIVE}
"""The columns beside the metrics, for several runs."""
_PLAIN = dict.fromkeys(("differs", "target", *RANGES.values()), "")
"""Of a result, whose other texts are bold."""
_MARKS_MOST = 500
"""The newest marks: a table of more is slow."""
_PHASES: Mapping[Phase, str] = {**PHASES, "prepare": "prefill"}
_SHORT = {"read": "r", "write": "w"}


@dataclass(frozen=True, slots=True)
class Now:
    """The run in progress as it is in its last second."""

    run: int
    flows: Mapping[str, Interval | None]
    """By direction; None where nothing was done."""
    fraction: float | None
    phase: Phase


@dataclass(frozen=True, slots=True)
class Row:
    """One row; the cursor only goes to those with a run."""

    key: str
    texts: Mapping[str, str] = field(default_factory=dict)
    """By column."""
    styles: Mapping[str, str] = field(default_factory=dict)
    style: str = ""
    """Of the columns that have none of their own."""
    run: Run | None = None
    across: Text | None = None
    """Over all columns but the first, in the place of their texts."""


@dataclass(frozen=True)
class Content:
    """All that the table shows."""

    runs: Mapping[int, Run] = field(default_factory=dict)
    """By their numbers."""
    marks: tuple[Mark, ...] = ()
    presets: Mapping[str, Mapping[str, Choice]] = field(default_factory=dict)
    """The options of the presets that are known, by their names."""
    baseline: int | None = None
    now: Now | None = None

    def rows(self, *, narrow: bool = False) -> list[Row]:
        """From the top; the result of a batch stands above its runs."""
        found: list[tuple[datetime, int, int, list[Row]]] = [
            (mark.at, 1, number, [_mark_row(number, mark)])
            for number, mark in list(enumerate(self.marks))[-_MARKS_MOST:]
        ]
        for batch in _batches(self.runs):
            above = list(self._above(batch))
            found.append((self._last_moment(batch), 2, 0, above))
            apart, indent = swept(batch), "  " if above else ""
            found += [(run.started_at, 0, run.run, self._of_run(run, apart, indent)) for run in batch.runs]
        found.sort(key=lambda each: each[:3], reverse=True)
        rows = [row for *_, several in found for row in several]
        return [_narrow(row) for row in rows] if narrow else rows

    def live_texts(self, run: Run, flow: Interval | Total | None) -> dict[str, str]:
        """What changes while a run is in progress."""
        return {**{metric.name: metric.text_of(flow) for metric in LIVE}, "outcome": self._outcome(run)}

    def flows(self, run: Run) -> Mapping[str, Interval | Total | None]:
        """What has a row: one without a name, where nothing was measured yet."""
        live = self.now.flows if self.now and self.now.run == run.run and not run.outcome else {}
        return live or run.summary.flows or {"": None}

    def _outcome(self, run: Run) -> str:
        if run.outcome:
            return f"{run.outcome} !" if run.findings else run.outcome
        if self.now is None or self.now.run != run.run:
            return "running"
        word = _PHASES[self.now.phase]
        return word if self.now.fraction is None else f"{word} {int(100 * self.now.fraction)} %"

    def _last_moment(self, batch: Batch) -> datetime:
        """Of its last run, or of a mark that was made in it."""
        return max(max(run.started_at, self._marked.get(run.run, run.started_at)) for run in batch.runs)

    @cached_property
    def _marked(self) -> dict[int, datetime]:
        """When the last mark was made in each run that has one."""
        return {mark.run: mark.at for mark in self.marks if mark.run is not None}

    def _of_run(self, run: Run, apart: Iterable[str], indent: str) -> list[Row]:
        """A row for each direction."""
        from cephtui.analysis.figures import spoiled_by

        codes = [finding.code for finding in run.findings]
        spoiled = {m.name: "dim" for m in LIVE if run.outcome not in (None, "ok") or spoiled_by(codes, m)}
        common = {"#": str(run.run), "preset": f"{indent}{run.preset}", **self._where(run, apart)}
        if run.run == self.baseline:
            common["differs"] = f"baseline {common['differs']}".strip()
        styles = {**spoiled, "outcome": OUTCOME_STYLES.get(run.outcome or "", "bold")}
        return [
            Row(f"{run.run} {name}", {**common, "direction": name, **self.live_texts(run, flow)}, styles, run=run)
            for name, flow in self.flows(run).items()
        ]

    def _where(self, run: Run, apart: Iterable[str]) -> dict[str, str]:
        from cephtui.reports.differing import what_differs

        return {
            "differs": what_differs(run, self._usual(run), list(apart)),
            "target": short_target(run.target),
            "started": f"{run.started_at.astimezone():%m-%d %H:%M}",
        }

    def _usual(self, run: Run) -> Usual | None:
        from cephtui.reports.differing import usual_options

        key = run.preset, run.tool, run.target
        if run.preset in self.presets and key not in self._known:
            self._known[key] = usual_options(run.tool, self.presets[run.preset], run.target)
        return self._known.get(key)

    @cached_property
    def _known(self) -> dict[tuple[str, str, str], Usual | None]:
        """The usual options by preset, tool and target."""
        return {}

    def _above(self, batch: Batch) -> Iterator[Row]:
        """The results of the points of a batch that are repeated; or the values of a sweep."""
        from cephtui.analysis.batches import summarize

        first = batch.runs[0]
        if batch.is_repeated:
            for number, point in enumerate(batch.points):
                yield from self._summary(f"batch {first.run} {number}", summarize(point), swept(batch))
        elif text := sweep(batch):
            yield Row(f"batch {first.run}", across=Text.assemble((f" {first.preset}  ", "bold"), text))

    def _summary(self, key: str, found: PointSummary, apart: Iterable[str]) -> Iterator[Row]:
        """A row for each direction."""
        from cephtui.analysis.figures import spoiled_by

        run = found.point.repeats[0]
        common = {"preset": run.preset, **self._where(run, apart), "started": ""}
        common["outcome"] = counted(found) + (" !" if any(each.findings for each in found.point.repeats) else "")
        spoiled = {metric.name: "dim" for metric in LIVE if spoiled_by(found.findings, metric)}
        for name, estimates in (found.estimates or {"": {}}).items():
            texts = {**common, "direction": name, **_estimates(estimates)}
            yield Row(f"{key} {name}", texts, {**_PLAIN, **spoiled}, style="bold")


def _batches(runs: Mapping[int, Run]) -> list[Batch]:
    if not runs:
        return []
    from cephtui.analysis.batches import group

    return group(runs[number] for number in sorted(runs))


def _estimates(found: Mapping[str, Estimate]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for metric in LIVE:
        estimate = found.get(metric.name)
        texts[metric.name] = metric.as_text(estimate.value if estimate else None)
        if estimate and estimate.runs > 1:
            texts[RANGES[metric]] = value_range(metric, estimate.least, estimate.greatest)
    return texts


def _mark_row(number: int, mark: Mark) -> Row:
    when = f"{mark.at.astimezone():%H:%M:%S}"
    text = Text.assemble((f" {when}  ", "dim"), (mark.text, "bold italic"))
    return Row(f"mark {number}", {"#": "*"}, {"#": "bold"}, across=text)


def _narrow(row: Row) -> Row:
    """With one letter for the direction."""
    direction = row.texts.get("direction", "")
    return replace(row, texts={**row.texts, "direction": _SHORT[direction]}) if direction in _SHORT else row
