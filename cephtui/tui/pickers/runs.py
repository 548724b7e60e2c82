"""The picker of a run to compare with."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path

from textual import on, work

from cephtui import units
from cephtui.analysis.statistics.ratio import geometric_mean
from cephtui.models import Run
from cephtui.models.metrics import BY_NAME
from cephtui.reports.masking.mask import Names, names_in
from cephtui.reports.words.cutting import short_target
from cephtui.reports.words.facts import ranges
from cephtui.reports.words.quality import outcome_word
from cephtui.reports.words.text import clock, conditions, short_conditions, started
from cephtui.sessions.saved_runs import SavedRun, candidates
from cephtui.sessions.store import StoreError
from cephtui.stats import known_sum
from cephtui.tui.keys import key
from cephtui.tui.pickers.picker import Filter, Picker
from cephtui.tui.widgets.pick_list import PickList, PickRow, matching

_IOPS = BY_NAME["iops"]
_AT_ONCE, _SHOWN = 50, 200
"""What is read in one go, and listed before the user has asked for more."""


def _row(saved: SavedRun, since: str) -> PickRow:
    """A row of the list, found by the mark ``since`` which newer runs were measured, too."""
    run, repeats, today = saved.run, saved.repeats, datetime.now().date()
    when = started(repeats[0], today)
    figure = _IOPS.as_text(_iops(repeats))
    cells = (
        f"{'#' if saved.is_own else f'{saved.directory.name}/'}{ranges([repeat.run for repeat in repeats])}",
        run.preset,
        f"{len(repeats)} runs, {when}" if len(repeats) > 1 else when,
        figure if figure == units.DASH else f"{figure} {_IOPS.title}",
    )
    outcomes = list(dict.fromkeys(map(outcome_word, repeats)))
    more = f"{saved.name} {conditions(run)}, {run.target} {' '.join(outcomes)} {since}"
    told = ["baseline"] * saved.baseline + [word for word in outcomes if word != "ok"]
    return PickRow(saved.name, cells, ", ".join([*told, short_conditions(run), short_target(run.target)]), more=more)


def _iops(repeats: Iterable[Run]) -> float | None:
    """The geometric mean of the IOPS of both directions together."""
    sums = (known_sum(_IOPS.of(total) for total in run.summary.flows.values()) for run in repeats)
    return geometric_mean([iops for iops in sums if iops])


def _heading(text: str) -> PickRow:
    return PickRow(f"heading {text}", (text,), heading=True)


class RunPicker(Picker[tuple[Path, int]]):
    """The run to compare with, of any session or (without ``others``) of its own: its directory and number."""

    TITLE_TEXT = "compare with"
    PLACEHOLDER = "type to filter: session, preset, target, option, outcome, mark, baseline"
    BINDINGS = [key("enter", "use", "compare", "compare with this run, or with these repeats", priority=True)]

    def __init__(self, root: Path, exclude: tuple[str, int], *, other_sessions: bool = True) -> None:
        super().__init__()
        self._source = candidates(root, exclude, other_sessions=other_sessions)
        self._saved_runs: dict[str, SavedRun] = {}
        self._rows: list[PickRow] = []
        """With headings over the own session, over what was measured before each of its marks, over the others."""
        self._since = ""
        self._most = _SHOWN
        self._reading = self._all_read = False

    def on_mount(self) -> None:
        self._read_more()

    def names_to_hide(self) -> Names:
        """Names of the runs that were read."""
        return names_in(saved.run for saved in self._saved_runs.values())

    def rows(self) -> list[PickRow]:
        fitting = self._fitting()
        runs = [index for index, row in enumerate(fitting) if not row.heading]
        return fitting[: runs[self._most]] if len(runs) > self._most else fitting

    def _fitting(self) -> list[PickRow]:
        return matching(self._rows, self.filter_text)

    def note(self) -> str:
        """How many runs there are, and whether that is all."""
        if not self._all_read and not self._rows:
            return "reading runs ..."
        if not self._rows:
            return "there is no other run yet: run a preset, then compare"
        return super().note() or f"{self._count()}{'' if self._all_read else ', more below'}"

    def _count(self) -> str:
        """``14 runs``, ``3 of 14 runs``."""
        shown = [self._saved_runs[row.key] for row in self._fitting() if not row.heading]
        fitting, number = (sum(len(saved.repeats) for saved in some) for some in (shown, self._saved_runs.values()))
        return f"{number} runs" if fitting == number else f"{fitting} of {number} runs"

    def use(self, row: PickRow | None) -> None:
        chosen = self._saved_runs.get(row.key) if row else None
        if chosen:
            self.dismiss((chosen.directory, chosen.run.run))

    @on(PickList.OptionHighlighted)
    def _come_to_the_end(self, event: PickList.OptionHighlighted) -> None:
        shown = self.query_one(PickList).shown
        if event.option_index == len(shown) - 1 and sum(not row.heading for row in shown) == self._most:
            self._most += _SHOWN
            self.show_rows()
            self._read_more()

    @on(Filter.Changed)
    def _read_more(self) -> None:
        """Read more runs, unless that is being done or there is enough to show."""
        if not self._reading and self._wants_more():
            self._reading = True
            self._read()

    def _wants_more(self) -> bool:
        return not self._all_read and sum(not row.heading for row in self._fitting()) < self._most

    @work
    async def _read(self) -> None:
        """Read one batch at a time: the iterator is not reentrant."""
        while self._wants_more():
            try:
                batch = await asyncio.to_thread(lambda: list(islice(self._source, _AT_ONCE)))
            except StoreError as error:
                self.notify(str(error), severity="error", timeout=15, markup=False)
                batch = []
            self._take(batch)
        self._reading = False

    def _take(self, batch: list[SavedRun]) -> None:
        self._all_read = not batch
        for saved in batch:
            self._rows += [*self._headings(saved), _row(saved, self._since)]
            self._saved_runs[saved.name] = saved
        self.show_rows()

    def _headings(self, saved: SavedRun) -> Iterator[PickRow]:
        """What stands above a row: marks, and what begins with it."""
        before = [*self._saved_runs.values()][-1:]
        begins = not before or before[0].is_own != saved.is_own
        texts = [("this session" if saved.is_own else "other sessions")] * begins
        if saved.marks:
            today = datetime.now().date()
            self._since = ", ".join(f"{mark.text} ({clock(mark.at, today)})" for mark in saved.marks)
            texts.append(f"before {self._since}")
        elif begins:
            self._since = ""
        if texts:
            yield _heading(", ".join(texts))
