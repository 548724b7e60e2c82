"""The picker of a run to compare with."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from textual import on, work

from cephtui import units
from cephtui.models.metrics import BY_NAME
from cephtui.reports.masking.mask import Names, names_in
from cephtui.reports.words.quality import outcome_word
from cephtui.reports.words.text import conditions, short_target
from cephtui.sessions.saved_runs import SavedRun, candidates
from cephtui.sessions.store import StoreError
from cephtui.stats import known_sum
from cephtui.tui.keys import key
from cephtui.tui.pickers.picker import Filter, Picker
from cephtui.tui.widgets.pick_list import PickList, PickRow

_IOPS = BY_NAME["iops"]
_AT_ONCE, _SHOWN = 50, 200
"""Runs that are read in one go, and that are listed before the user has asked for more."""


def _row(saved: SavedRun) -> PickRow:
    """The row of a run in the list."""
    run = saved.run
    iops = known_sum(_IOPS.of(total) for total in (run.summary.read, run.summary.write) if total)
    figure = units.DASH if iops is None else f"{_IOPS.as_text(iops)} {_IOPS.title}"
    cells = (saved.name, run.preset, figure, outcome_word(run), "baseline" if saved.baseline else "")
    return PickRow(saved.name, cells, f"{conditions(run)}, {short_target(run.target)}", more=run.target)


class RunPicker(Picker[tuple[Path, int]]):
    """The run to compare with, of any session or (without ``others``) of its own: its directory and number."""

    TITLE_TEXT = "compare with"
    PLACEHOLDER = "type to filter: session, preset, target, option, outcome, baseline"
    BINDINGS = [key("enter", "use", "compare", "compare with this run", priority=True)]

    def __init__(self, root: Path, exclude: tuple[str, int], *, other_sessions: bool = True) -> None:
        super().__init__()
        self._source = candidates(root, exclude, other_sessions=other_sessions)
        self._saved_runs: dict[str, SavedRun] = {}
        self._rows: list[PickRow] = []
        self._most = _SHOWN
        self._reading = self._all_read = False

    def on_mount(self) -> None:
        self._read_more()

    def names_to_hide(self) -> Names:
        """Names of the runs that were read."""
        return names_in(saved.run for saved in self._saved_runs.values())

    def rows(self) -> list[PickRow]:
        return list(islice(self._fitting(), self._most))

    def _fitting(self) -> Iterable[PickRow]:
        words = self.filter_text.lower().split()
        return (row for row in self._rows if row.fits(words))

    def note(self) -> str:
        """How many runs there are, and whether that is all."""
        if not self._all_read and not self._rows:
            return "reading runs ..."
        if not self._rows:
            return "there is no other run yet: run a preset, then compare"
        return super().note() or f"{len(self._rows)} runs{'' if self._all_read else ', more below'}"

    def use(self, row: PickRow | None) -> None:
        chosen = self._saved_runs.get(row.key) if row else None
        if chosen:
            self.dismiss((chosen.directory, chosen.run.run))

    @on(PickList.OptionHighlighted)
    def _come_to_the_end(self, event: PickList.OptionHighlighted) -> None:
        if event.option_index == self._most - 1:
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
        return not self._all_read and sum(1 for _ in islice(self._fitting(), self._most)) < self._most

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
        self._saved_runs |= {saved.name: saved for saved in batch}
        self._rows += [_row(saved) for saved in batch]
        self.show_rows()
