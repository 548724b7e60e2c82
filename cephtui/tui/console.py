"""The console screen: presets, what will run, the run, and the session's runs.

What nobody sees at the start is imported when it is wanted.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import ModalScreen

from cephtui import report, store
from cephtui.config import Config, ConfigError
from cephtui.models import Mark, Node, Plan, Run
from cephtui.outcomes import failed_twice, got_nowhere
from cephtui.plan import new_batch
from cephtui.presets import Catalogue, Preset, PresetError, by_key, the_six
from cephtui.refusal import Refusal
from cephtui.runner import NodeState, Runner, Survey
from cephtui.store import StoreError
from cephtui.targets import TargetError
from cephtui.tools import OptionError
from cephtui.tui import carry_out
from cephtui.tui.carry_out import FAULTS, Answers, NotRun, Where
from cephtui.tui.dialogs import EnterText
from cephtui.tui.form import Edits, FormScreen
from cephtui.tui.keys import KeyBar, key
from cephtui.tui.live_view import LiveView
from cephtui.tui.nodes import NodeBook
from cephtui.tui.panels import Panels
from cephtui.tui.preview import Preview, commands
from cephtui.tui.queue import Entry, QueueScreen, summary
from cephtui.tui.run_screen import CompareWanted, RunScreen
from cephtui.tui.run_view import FIGURES
from cephtui.tui.runs_table import RunsTable
from cephtui.tui.status_bar import StatusBar


@dataclass(frozen=True, slots=True)
class Start:
    """What the console begins with."""

    nodes: tuple[Node, ...]
    target: str
    data_pool: str | None = None
    ceph_node: str | None = None
    earlier: tuple[Run, ...] = ()
    """Runs of a session that is continued."""
    marks: tuple[Mark, ...] = ()
    config: Config = field(default_factory=Config)
    """Where other nodes are found by their names."""
    ceph: Mapping[str, str] = field(default_factory=dict)
    """Each node's way to Ceph, where it was given for all."""


def _run_key(number: int) -> Binding:
    """The key of a preset; the six that are always there have one place in the footer."""
    word, sign = ("run", "1-6") if number == 1 else (f"run {number}", "1-6" if number <= 6 else None)
    about = "run this preset; during a run: queue it"
    return key(str(number), f"run_key({number})", word, about, "run", shown=number == 1, display=sign)


class ConsoleScreen(RunScreen):
    """Sends the runner plans and a stop, and draws what comes back."""

    BINDINGS = [
        *(_run_key(number) for number in range(1, 10)),
        key("enter", "run_selected", "run", "run the selected preset; during a run: queue it", "run"),
        key("a", "all_six", "all six", "the six presets, or your own in their place, one after the other", "run"),
        key("p", "presets", "presets", "all presets, also those without a key", "run", shown=True),
        key("e", "edit", "edit", "block size, depth, runtime and every other option", "run", shown=True),
        key("t", "target", "target", "what is tested: pools, images, devices, a file", "run", shown=True),
        key("n", "nodes", "nodes", "which nodes run it, and what is missing there", "run", shown=True),
        key("u", "queue", "queue", "what waits: reorder it, take something out", "run"),
        key("s", "stop", "stop", "stop the run, keep what was measured; what waits goes on waiting", "run", shown=True),
        key("x", "skip", "skip", "stop this run and go on with the next of the queue", "run"),
        key("m", "mark", "mark", "a mark with a text on the time line: what you have changed", "look", shown=True),
        key("f", "presenter", "present", "the figure in big digits, for a room", "look"),
        key("l", "log", "log", "the real commands and the tool's raw output", "look"),
        key("r", "runs", "runs", "go to the runs: up, down, enter for all of one", "look"),
        key("c", "compare", "compare", "compare the run under the cursor with another", "look"),
        key("escape", "back", "back", "back", "more"),
    ]
    NOTHING = "nothing has run yet"

    def __init__(self, catalogue: Catalogue, start: Start, runner: Runner) -> None:
        super().__init__()
        self._catalogue, self._start_with, self._runner = catalogue, start, runner
        self._book, self._target = NodeBook(start.nodes), start.target
        self._where = Where(new_batch(), start.data_pool, start.ceph_node)
        self._preset = by_key(catalogue)[0]
        self._edits = Edits()
        self._surveys: dict[str, Survey] = {}
        """By target."""
        self._queue: tuple[Entry, ...] = ()
        self._ready = 0
        """How many of the first in the queue go on by themselves; the others are held until they are asked for."""
        self._queue_note = ""
        """Why they are held."""
        self._busy = self._cancelled = self._stopped = False
        self._last: Run | None = None

    @property
    def drawn(self) -> tuple[Path, Run] | None:
        """See RunScreen."""
        directory = self._runner.directory
        return (directory, self._last) if directory and self._last else None

    @property
    def busy(self) -> bool:
        """Whether something is being checked or carried out."""
        return self._busy

    @property
    def waiting(self) -> str:
        """What is queued, in words; empty for nothing."""
        return summary(self._queue)

    def compose(self) -> ComposeResult:
        """From the top: where we are, what there is, what will run, the run, the runs."""
        yield StatusBar(id="bar")
        yield Panels(by_key(self._catalogue))
        yield Preview()
        yield LiveView(self._runner.subscribe())
        yield RunsTable()
        yield KeyBar("presets", "mark", "compare")

    def on_mount(self) -> None:
        """Show the first preset and begin to listen."""
        table = self.query_one(RunsTable)
        table.put(*self._start_with.earlier)
        table.put_mark(*self._start_with.marks)
        self._load_earlier()
        self._select(self._preset)
        self.set_focus(self.query_one(Panels))
        for entry in self._catalogue.values():
            if isinstance(entry, PresetError):
                self.notify(str(entry), title="broken preset", severity="warning", markup=False)
        self._show_bar()
        self._reach_nodes()

    @work
    async def _load_earlier(self) -> None:
        """What the presets measured before, in a session that is continued."""
        latest = {run.preset: run for run in self._start_with.earlier}
        for run in self._start_with.earlier:
            values: list[float | None] = []
            with contextlib.suppress(StoreError):
                if run is latest[run.preset] and (directory := self._runner.directory):
                    history = await asyncio.to_thread(store.read_history, directory, run.run)
                    values = history.total("iops").values()
            self.query_one(Panels).show_result(run, values)

    # ------------------------------------------------------------------ what will run

    def _select(self, preset: Preset) -> None:
        self._preset = preset
        self.query_one(Panels).select(preset)
        self._show_bar()
        self._preview()

    def _entry(self, preset: Preset, edits: Edits | None = None) -> Entry:
        edits = edits or self._edits
        return Entry(preset, self._book.hosts, self._target, tuple(edits.overrides(preset)), edits.repeats)

    def _decide(self, entry: Entry) -> Plan:
        """Raises OptionError or TargetError."""
        survey = self._surveys.get(entry.target, Survey())
        return carry_out.decide(entry, self._where, survey, self._runner.filled())

    def _preview(self) -> None:
        """What would run next."""
        plan, problem, entry = None, "", self._entry(self._preset)
        try:
            plan = self._decide(entry)
        except (OptionError, TargetError) as error:
            problem = str(error)
        self.query_one(Preview).show_next(entry, plan, problem, running=self._busy)

    @on(Panels.Chosen)
    def _chosen(self, message: Panels.Chosen) -> None:
        self._select(message.preset)
        if message.run:
            self._enqueue([message.preset])

    @work
    async def action_edit(self) -> None:
        """Edit what will run."""
        edits = await self._ask(FormScreen(self._preset, self._edits, self._preview_of))
        if edits is not None:
            self._edits = edits
            self._preview()

    def _preview_of(self, edits: Edits) -> Text:
        return commands(self._decide(self._entry(self._preset, edits)))

    @work
    async def action_presets(self) -> None:
        """Choose from all presets."""
        from cephtui.tui.pickers.presets import PresetPicker

        preset = await self._ask(PresetPicker(self._catalogue))
        if preset is not None:
            self._select(preset)

    @work
    async def action_target(self) -> None:
        """Choose what is tested."""
        from cephtui.tui.pickers.targets import TargetPicker

        ceph_node = self._book.of(self._where.ceph_node)
        source = partial(self._runner.offers, ceph_node)
        picker = TargetPicker(self._target, self._start_with.target, source, ceph_node.name)
        target = await self._ask(picker)
        if target is not None:
            self._target = target
            self._preview()
            self._survey_later()

    @work
    async def action_nodes(self) -> None:
        """Choose the nodes; shows what is missing on each."""
        from cephtui.offers import known_nodes
        from cephtui.tui.pickers.nodes import NodePicker

        chosen = tuple(node.name for node in self._book.hosts)
        config = self._start_with.config
        reports = self._book.reports(self._preset.tool.name)
        names = await self._ask(NodePicker(config, known_nodes(config), chosen, reports))
        if names is None or names == chosen:
            return
        try:
            self._book.hosts = tuple(n.model_copy(update=dict(self._start_with.ceph)) for n in config.choose(names))
        except ConfigError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        self._surveys.clear()
        self._show_bar()
        self._preview()
        self._reach_nodes()

    # ------------------------------------------------------------------ running

    def action_run_key(self, number: int) -> None:
        """Run the preset with this key."""
        found = next((p for p in by_key(self._catalogue) if p.file.key == number), None)
        if found:
            self._select(found)
            self._enqueue([found])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A number key is there where a preset has it."""
        return action != "run_key" or any(preset.file.key in parameters for preset in by_key(self._catalogue))

    def action_run_selected(self) -> None:
        """Run what is selected."""
        self._enqueue([self._preset])

    def action_all_six(self) -> None:
        """Those that are packaged, or took their places."""
        self._enqueue(the_six(self._catalogue))

    def _enqueue(self, presets: Sequence[Preset]) -> None:
        """Decide what runs, at once: what is pressed next must find it so."""
        try:
            entries = [self._entry(preset) for preset in presets]
            entries = [self._planned(entry) for entry in entries]
        except (OptionError, TargetError) as error:
            self.notify(str(error), severity="error", markup=False)
            return
        self._queue = (*self._queue[: self._ready], *entries, *self._queue[self._ready :])
        if self._busy or len(entries) > 1:
            self.notify(
                f"queued: {', '.join(e.preset.name for e in entries)} (u shows the queue)", timeout=3, markup=False
            )
        self._go(self._ready + len(entries))

    def _planned(self, entry: Entry) -> Entry:
        """With how much it is; raises OptionError or TargetError."""
        plan = self._decide(entry)
        return replace(entry, seconds=plan.duration_seconds, steps=entry.begun + len(plan.steps))

    def _go(self, ready: int) -> None:
        self._ready = ready
        if not self._busy and ready:
            self._set_busy(True)
            self._work_off()
        self._show_bar()

    @work
    async def action_queue(self) -> None:
        """Reorder what waits."""
        note = self._queue_note if self._is_held else ""
        if await self._ask(QueueScreen(lambda: self._queue, self._set_queue, note)):
            self._go(len(self._queue))

    def _set_queue(self, entries: tuple[Entry, ...]) -> None:
        self._ready = min(self._ready, len(entries))
        self._queue = entries
        self._show_bar()

    @property
    def _is_held(self) -> bool:
        return self._ready < len(self._queue)

    def action_stop(self) -> None:
        """End the run and keep what was measured; what waits goes on waiting."""
        if not self._busy:
            self.notify("nothing is running")
            return
        self._stopped, self._ready, self._queue_note = True, 0, "stopped by you: g runs what is left"
        self._end_this("stopping")
        self._runner.stop()
        self._show_bar()

    def _end_this(self, word: str) -> None:
        """Say so at once, also where it has not been handed over to the runner yet."""
        self._cancelled, view = True, self.query_one(LiveView)
        if view.current:
            view.say(f"{word}, what was measured is kept")
        else:
            view.announce(f"{word} ...")

    def begin_nothing_more(self) -> None:
        """The console is about to end: what waits is left."""
        self._cancelled, self._stopped, self._ready = True, True, 0

    def action_skip(self) -> None:
        """End the run and go on with the next."""
        if self._busy:
            self._end_this("skipping")
            self._runner.skip()
        else:
            self.notify("nothing is running")

    @work
    async def _work_off(self) -> None:
        """Run what is queued until nothing is left, it is stopped, or two in a row have failed."""
        failures, answers = list[str](), Answers()
        try:
            while self._ready:
                entry, self._queue, self._ready = self._queue[0], self._queue[1:], self._ready - 1
                self._show_bar()
                failures += await self._run(entry, answers)
                if self._ready and (why := failed_twice(failures)):
                    self._hold(why)
        finally:
            self._set_busy(False)
        self._show_bar()

    def _put_back(self, left: Entry | None) -> None:
        """The rest of a sweep or of repeats: after a stop it is held before all that waits, else it is next."""
        if left is None:
            return
        with contextlib.suppress(OptionError, TargetError):  # told when its turn comes
            left = self._planned(left)
        at = self._ready if self._stopped else 0
        self._queue = (*self._queue[:at], left, *self._queue[at:])
        self._ready += not self._stopped

    def _hold(self, note: str) -> None:
        self._ready, self._queue_note = 0, f"{note}: g runs what is left"
        self.notify(f"{note}. {summary(self._queue)} (u shows the queue)", severity="error", timeout=15, markup=False)

    async def _agree(self, entry: Entry, answers: Answers, refusal: Refusal) -> bool:
        return await carry_out.agree(refusal, entry, self._queue[: self._ready], answers, self._ask)

    async def _run(self, entry: Entry, answers: Answers) -> list[str]:
        """Carry out an entry; the result is of each of its runs why it failed, empty where it did not."""
        view = self.query_one(LiveView)
        self._cancelled = self._stopped = False
        view.announce("looking at the nodes and the target ...")
        try:
            if not await self._all_reached(entry.nodes):
                raise NotRun("not all nodes can be used (n shows them)")
            if self._cancelled:
                raise NotRun
            ready = carry_out.with_nodes(entry, self._book.states)
            runs = await carry_out.carry_out(
                self._runner, ready, self._where, partial(self._agree, entry, answers), lambda: self._cancelled
            )
        except NotRun as why:
            view.announce(f"not run: {why}" if str(why) else "not run")
            if self._cancelled:
                self._put_back(entry.after(()))
                return [""]
            if str(why):
                self.notify(str(why), title="not run", severity="error", timeout=15, markup=False)
            return [str(why)]
        except FAULTS as error:
            view.announce(f"not run: {error}")
            self.notify(str(error), title="not run", severity="error", timeout=15, markup=False)
            return [str(error)]
        view.catch_up()
        if self._stopped:
            self._put_back(entry.after(runs))
        if not runs:
            view.announce("not run")
        return [str(run.error or run.outcome) if got_nowhere(run) else "" for run in runs] or [""]

    def _set_busy(self, busy: bool) -> None:
        self._busy, self._cancelled = busy, False
        self._preview()

    async def _ask(self, dialog: ModalScreen[Any]) -> Any:
        return await self.app.push_screen_wait(dialog)

    # ------------------------------------------------------------------ nodes and target

    @work(exclusive=True, group="reach")
    async def _reach_nodes(self) -> None:
        await self._all_reached(self._book.hosts)
        self._survey_later()

    async def _all_reached(self, nodes: Sequence[Node]) -> bool:
        """Connect to every node that is not ready, asking what they ask; says which can't be used."""
        waiting = [node for node in nodes if not self._book.is_ready(node)]
        futures = [self._runner.reach(node) for node in waiting]
        for future in futures:
            state = await carry_out.answered(self._runner, await asyncio.wrap_future(future), self._ask)
            self._take_state(state)
        return all(map(self._book.is_ready, nodes))

    def _take_state(self, state: NodeState) -> None:
        # what else is missing, for other presets, is in the list of nodes
        for problem in self._book.take(state, self._preset.tool.name):
            self.notify(problem, severity="error", timeout=15, markup=False)
        self._show_bar()

    def _survey_later(self) -> None:
        """What is asked of a target takes a moment; the preview need not wait for it."""
        self.run_worker(self._surveyed(), exclusive=True, group="survey")

    async def _surveyed(self) -> None:
        entry = self._entry(self._preset)
        with contextlib.suppress(*FAULTS):
            self._surveys[entry.target] = await carry_out.look_at(self._runner, entry, self._where)
            self._preview()

    # ------------------------------------------------------------------ what has happened

    @on(LiveView.Began)
    def _began(self, message: LiveView.Began) -> None:
        self._last = message.run
        preset = self._catalogue.get(message.run.preset)
        if isinstance(preset, Preset):
            self.view.figure = [figure.name for figure in FIGURES].index(preset.file.headline)
        if self.query_one(LiveView).current:  # else it has ended already, and what is said may be why
            self.app.clear_notifications()
        self.query_one(Preview).show_running(message.run)
        self.query_one(Panels).show_running(message.run)
        self.query_one(RunsTable).put(message.run)
        self._show_bar()

    @on(LiveView.Ended)
    def _ended(self, message: LiveView.Ended) -> None:
        self._last = message.run
        self.query_one(RunsTable).put(message.run)
        self.query_one(Panels).show_result(message.run, message.values)

    @on(LiveView.Marked)
    def _marked(self, message: LiveView.Marked) -> None:
        self.query_one(RunsTable).put_mark(message.mark)
        self._show_bar()  # the first of a sitting begins a session

    def _show_bar(self) -> None:
        bar, waiting = self.query_one(StatusBar), summary(self._queue)
        bar.session = self._runner.session
        bar.queue = f"{waiting}{', held' if self._is_held else ''}" if waiting else ""
        bar.nodes = report.node_states(self._book.hosts, self._book.states, self._preset.tool.name)

    # ------------------------------------------------------------------ looking

    @work
    async def action_mark(self) -> None:
        """Say what was done, on the time line."""
        text = await self._ask(EnterText("What have you changed?", check=lambda text: None if text.strip() else ""))
        if text is not None:
            try:
                await asyncio.wrap_future(self._runner.mark(text.strip()))
            except StoreError as error:
                self.notify(str(error), severity="error", markup=False)

    def action_compare(self) -> None:
        """Compare the run under the cursor with another one."""
        run, directory = self.query_one(RunsTable).chosen, self._runner.directory
        if run is not None and directory is not None:
            self.post_message(CompareWanted(directory, run.run))
        elif self._last is None and not self._start_with.earlier:
            self.notify("nothing has run yet (o opens saved sessions)")
        else:
            self.notify("that is a mark: r, then up or down, goes to a run")

    def action_runs(self) -> None:
        """Go to the table of runs."""
        self.set_focus(self.query_one(RunsTable))

    def action_back(self) -> None:
        """From the full-screen chart, else to where the number keys work, with the messages gone."""
        if not self.leave_zoom():
            self.app.clear_notifications()
            self.set_focus(self.query_one(Panels))
