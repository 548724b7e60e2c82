"""One saved session: its runs, and the charts of each as they were live."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.widgets import Static

from cephtui import paths, units
from cephtui.analysis.runs.history import History
from cephtui.models import Mark, Run, SessionNotes
from cephtui.presets import Catalogue, find_presets, headline_metric, options_by_preset
from cephtui.reports.views.matrix import NO_RUNS
from cephtui.reports.words.cutting import joined, short_target
from cephtui.reports.words.facts import ranges
from cephtui.reports.words.quality import short_notes
from cephtui.reports.words.text import conditions, imported
from cephtui.sessions import archive, store
from cephtui.sessions.store import StoreError
from cephtui.tui.copying import COPY
from cephtui.tui.exporting import EXPORT, ExportingScreen
from cephtui.tui.keys import MATRIX_ABOUT, WHY_ABOUT, KeyBar, key
from cephtui.tui.screens.replay import ReplayScreen
from cephtui.tui.screens.run import CURVE, FILTER, RunScreen
from cephtui.tui.widgets.run_view import RunView
from cephtui.tui.widgets.runs_filter import RunsFilter
from cephtui.tui.widgets.runs_table import RunsTable
from cephtui.tui.widgets.shown import first_event, shown_of_run
from cephtui.tui.widgets.title_bar import TitleBar


class SessionScreen(ExportingScreen, RunScreen):
    """The table above, the run under its cursor below."""

    BINDINGS = [
        key("p", "play", "play", "replay the run as it was live", "run", shown=True),
        key("c", "compare", "compare", "compare the run with another", "view", shown=True),
        CURVE,
        FILTER,
        COPY,
        replace(EXPORT, show=False),
        key("B", "baseline", "baseline", "set or clear this session's baseline", "run", shown=True),
        key("f", "presenter", "present", "large digits and the chart, for an audience", "view"),
        key("l", "log", "log", "exact commands and raw output", "view"),
        key("M", "matrix", "matrix", MATRIX_ABOUT, "view", shown=True),
        key("W", "why", "why", WHY_ABOUT, "view"),
        key("escape", "back", "back", "clear the filter, then back to the sessions", "more", shown=True, display="esc"),
    ]
    DEFAULT_CSS = """
    SessionScreen #conditions { height: auto; max-height: 4; padding: 0 1; color: $foreground 80%; }
    """

    CAN_MOVE = True

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self._directory = directory
        self._marks: list[Mark] = []
        self._catalogue: Catalogue = {}

    def compose(self) -> ComposeResult:
        yield TitleBar(f"session {self._directory.name}")
        table = RunsTable()
        yield RunsFilter(table)
        yield table
        yield Static(id="conditions")
        yield RunView()
        yield KeyBar("compare", "matrix", "copy", "filter")

    def on_mount(self) -> None:
        self.query_one("#conditions", Static).update("reading the session ...")
        self.set_focus(self.query_one(RunsTable))
        self._read()

    @work
    async def _read(self) -> None:
        try:
            runs, broken = await asyncio.to_thread(store.read_runs, self._directory)
        except StoreError as error:
            self.query_one("#conditions", Static).update(Text(str(error)))
            return
        notes = self._notes()
        self._marks = store.read_marks(self._directory)
        folders = paths.packaged_presets_dir(), paths.user_presets_dir()
        self._catalogue = await asyncio.to_thread(find_presets, *folders)
        table = self.query_one(RunsTable)
        table.show_session(runs, self._marks, options_by_preset(self._catalogue), notes.baseline)
        tags = " ".join(f"#{tag}" for tag in notes.tags)
        self.query_one(TitleBar).show(f"session {self._directory.name}   {notes.note}", tags)
        if not runs:
            self.query_one("#conditions", Static).update(NO_RUNS)
        for problem in broken:
            self.notify(str(problem), title="broken run", severity="warning", markup=False)

    def _notes(self) -> SessionNotes:
        try:
            return archive.read_notes(self._directory)
        except StoreError as error:
            self.notify(str(error), severity="error", timeout=15, markup=False)
            return SessionNotes()

    @on(RunsTable.Reached)
    @work(exclusive=True)
    async def _show(self, message: RunsTable.Reached) -> None:
        run = message.run
        try:
            history = await asyncio.to_thread(store.read_history, self._directory, run.run)
        except StoreError as error:
            self.notify(str(error), severity="error", markup=False)
            history = History()
        self.query_one("#conditions", Static).update(_conditions(run, message.repeats, history))
        shown = shown_of_run(run, history, self._marks)
        self.view.follow(run.preset, headline_metric(self._catalogue, run))
        self.view.around = first_event(shown)
        self.view.show(shown)
        self.refresh_bindings()

    @property
    def to_export(self) -> Path | None:
        return self._directory

    @property
    def drawn(self) -> tuple[Path, Run] | None:
        run = self.query_one(RunsTable).chosen
        return (self._directory, run) if run else None

    def action_play(self) -> None:
        if drawn := self._drawn_or_notified():
            try:
                self.app.push_screen(ReplayScreen(self._directory, drawn[1].run))
            except StoreError as error:
                self.notify(str(error), severity="error", markup=False)

    def action_presenter(self) -> None:
        """Present a run, if there is one: none begins here by itself."""
        if self._drawn_or_notified():
            super().action_presenter()

    def action_matrix(self) -> None:
        from cephtui.tui.screens.matrix import MatrixScreen

        self.app.push_screen(MatrixScreen(self._directory))

    def action_why(self) -> None:
        from cephtui.tui.screens.why import WhyScreen

        self.app.push_screen(WhyScreen(self._directory))

    def action_baseline(self) -> None:
        drawn, table = self._drawn_or_notified(), self.query_one(RunsTable)
        if drawn is None:
            return
        run = drawn[1]
        baseline = None if table.content.baseline == run.run else run.run
        try:
            archive.annotate(self._directory, baseline=baseline)
        except (StoreError, OSError) as error:
            self.notify(str(error), severity="error", markup=False)
            return
        table.put_baseline(baseline)
        self.notify(f"#{run.run} is the baseline" if baseline else "the baseline is cleared")


def _conditions(run: Run, repeats: Sequence[Run], history: History) -> Text:
    """A run's conditions, and what limits its figures; of ``repeats`` those of the one whose charts are drawn."""
    nodes = joined((node.node for node in run.nodes if node.node != units.DASH), "nodes")
    numbers = ranges(sorted(repeat.run for repeat in repeats)) or str(run.run)
    text = Text.assemble((f"#{numbers} {run.preset} ", "bold"), f"{conditions(run)}, {short_target(run.target)}")
    text.append(f" on {nodes}" if nodes else "")
    if run.imported_from:
        text.append(f", {imported(run)}{'' if history.directions else ', without seconds to draw'}")
    text.append(f"; charts: #{run.run}" if repeats else "")
    for note in short_notes(run):
        text.append(f"  {note}", "yellow")
    return text
