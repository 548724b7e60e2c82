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

from cephtui.config import Config, ConfigError
from cephtui.models import Mark, Node, Plan, Run
from cephtui.models.metrics import HEADLINES
from cephtui.nodes.state import NodeState
from cephtui.planning import Request, make_plan, new_batch
from cephtui.presets import Catalogue, Preset, PresetError, by_key, the_six
from cephtui.reports import report
from cephtui.running.launch import FAULTS, Launcher, NotRun
from cephtui.running.outcomes import failed_twice, got_nowhere
from cephtui.running.queue import Entry, Queue
from cephtui.running.runner import Runner
from cephtui.sessions import store
from cephtui.sessions.store import StoreError
from cephtui.targets import Target, parse_target, with_data_pool
from cephtui.tools.base import OptionError
from cephtui.tui.console.asking import Agreed, Dialogs
from cephtui.tui.console.form import Edits, FormScreen
from cephtui.tui.console.nodes import NodeBook
from cephtui.tui.console.panels import Panels
from cephtui.tui.console.preview import Preview, commands
from cephtui.tui.console.queue import QueueScreen
from cephtui.tui.console.status_bar import StatusBar
from cephtui.tui.dialogs import EnterText
from cephtui.tui.keys import KeyBar, key
from cephtui.tui.screens.run import CompareWanted, RunScreen
from cephtui.tui.widgets.live_view import LiveView
from cephtui.tui.widgets.runs_table import RunsTable


@dataclass(frozen=True, slots=True)
class Start:
    """What the console begins with."""

    nodes: tuple[Node, ...]
    target: Target
    data_pool: str | None = None
    ceph_node: str | None = None
    earlier: tuple[Run, ...] = ()
    """Runs of a session that is continued."""
    marks: tuple[Mark, ...] = ()
    config: Config = field(default_factory=Config)
    """Where other nodes are found by their names."""
    ceph: Mapping[str, str] = field(default_factory=dict)
    """Each node's Ceph access, where it was given for all."""
    owner_id: str = field(default_factory=new_batch)
    """In the names of the images that are created, which it makes unique."""


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
        key("m", "mark", "mark", "a mark with a text on the time line: what you have changed", "view", shown=True),
        key("f", "presenter", "present", "the figure in big digits, for a room", "view"),
        key("l", "log", "log", "the real commands and the tool's raw output", "view"),
        key("r", "runs", "runs", "go to the runs: up, down, enter for all of one", "view"),
        key("c", "compare", "compare", "compare the run under the cursor with another", "view"),
        key("escape", "back", "back", "back", "more"),
    ]
    NOTHING = "nothing has run yet"

    def __init__(self, catalogue: Catalogue, start: Start, runner: Runner) -> None:
        super().__init__()
        self._catalogue, self._start_with, self._runner = catalogue, start, runner
        self._book, self._target = NodeBook(start.nodes), start.target
        self._preset = by_key(catalogue)[0]
        self._edits = Edits()
        self._surveyed: dict[str, Request] = {}
        """By target, with how much room it has and who else uses its pool."""
        self._queue = Queue()
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
        return self._queue.summary

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

    def _request(self, preset: Preset, edits: Edits | None = None) -> Request:
        edits = edits or self._edits
        return Request(
            (preset,),
            self._book.hosts,
            self._target,
            edits.overrides(preset),
            edits.repeats,
            ceph_node=self._ceph_node.name if self._start_with.ceph_node else None,
        )

    @property
    def _ceph_node(self) -> Node:
        """The node that asks the cluster."""
        return self._book.of(self._start_with.ceph_node)

    def _plan(self, request: Request) -> Plan:
        """As far as it is known before it is the request's turn; raises OptionError."""
        known = self._surveyed.get(request.target.spec, request)
        request = replace(request, room_bytes=known.room_bytes, pool_use=known.pool_use)
        return make_plan(request, new_batch, self._runner.filled())

    def _preview(self) -> None:
        """What would run next."""
        plan, problem, entry = None, "", Entry(self._request(self._preset))
        try:
            plan = self._plan(entry.request)
        except OptionError as error:
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
        return commands(self._plan(self._request(self._preset, edits)))

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

        source = partial(self._runner.discover, self._ceph_node)
        picker = TargetPicker(self._target.spec, self._start_with.target.spec, source, self._ceph_node.name)
        text = await self._ask(picker)
        if text is not None:
            self._target = self._parsed(text)
            self._preview()
            self._survey_later()

    def _parsed(self, text: str) -> Target:
        """A target that can be understood; only where images are created has the data pool a meaning."""
        start = self._start_with
        target = parse_target(text, sitting=start.owner_id)
        return with_data_pool(target, start.data_pool) if start.data_pool and target.creates_images else target

    @work
    async def action_nodes(self) -> None:
        """Choose the nodes; shows what is missing on each."""
        from cephtui.targets.discovery import known_nodes
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
        self._surveyed.clear()
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
            entries = [Entry.of(self._request(preset), self._plan) for preset in presets]
        except OptionError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        if self._busy or len(entries) > 1:
            self.notify(
                f"queued: {', '.join(e.preset.name for e in entries)} (u shows the queue)", timeout=3, markup=False
            )
        self._go(self._queue.push(entries))

    def _go(self, queue: Queue) -> None:
        self._queue = queue
        if not self._busy and queue.ready:
            self._set_busy(True)
            self._work_off()
        self._show_bar()

    @work
    async def action_queue(self) -> None:
        """Reorder what waits."""
        if await self._ask(QueueScreen(lambda: self._queue, self._set_queue)):
            self._go(self._queue.release())

    def _set_queue(self, queue: Queue) -> None:
        self._queue = queue
        self._show_bar()

    def action_stop(self) -> None:
        """End the run and keep what was measured; what waits goes on waiting."""
        if not self._busy:
            self.notify("nothing is running")
            return
        self._stopped, self._queue = True, self._queue.hold("stopped by you: g runs what is left")
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
        self._cancelled, self._stopped, self._queue = True, True, self._queue.hold("")

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
        agreed: Agreed = {}
        failures: list[str] = []
        try:
            while self._queue.ready:
                entry, self._queue = self._queue.take()
                self._show_bar()
                failures += await self._run(entry, agreed)
                if self._queue.ready and (why := failed_twice(failures)):
                    self._hold(why)
        finally:
            self._set_busy(False)
        self._show_bar()

    def _put_back(self, left: Entry | None) -> None:
        """The rest of a sweep or of repeats: after a stop it is held before all that waits, else it is next."""
        if left is None:
            return
        with contextlib.suppress(OptionError):  # said when its turn comes
            left = left.planned(self._plan)
        self._queue = self._queue.put_back(left, held=self._stopped)

    def _hold(self, note: str) -> None:
        self._queue = self._queue.hold(f"{note}: g runs what is left")
        text = f"{note}. {self._queue.summary} (u shows the queue)"
        self.notify(text, severity="error", timeout=15, markup=False)

    async def _run(self, entry: Entry, agreed: Agreed) -> list[str]:
        """Carry out an entry; the result is of each of its runs why it failed, empty where it did not."""
        view = self.query_one(LiveView)
        self._cancelled = self._stopped = False
        view.announce("looking at the nodes and the target ...")
        try:
            if not await self._all_reached(entry.request.nodes):
                raise NotRun("not all nodes can be used (n shows them)")
            if self._cancelled:
                raise NotRun
            ready = entry.with_access({name: state.node for name, state in self._book.states.items()})
            launcher = Launcher(self._runner, Dialogs(self._ask, entry, lambda: self._queue, agreed))
            runs = await launcher.launch(ready.request, entry.batch, lambda: self._cancelled)
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
        async for state in Launcher(self._runner, Dialogs(self._ask)).connect(waiting):
            self._take_state(state)
        return all(map(self._book.is_ready, nodes))

    def _take_state(self, state: NodeState) -> None:
        # what else is missing, for other presets, is in the list of nodes
        for problem in self._book.take(state, self._preset.tool.name):
            self.notify(problem, severity="error", timeout=15, markup=False)
        self._show_bar()

    def _survey_later(self) -> None:
        """What is asked of a target takes a moment; the preview need not wait for it."""
        self.run_worker(self._survey(), exclusive=True, group="survey")

    async def _survey(self) -> None:
        request = self._request(self._preset)
        with contextlib.suppress(NotRun, *FAULTS):
            self._surveyed[request.target.spec] = await Launcher(self._runner, Dialogs(self._ask)).survey(request)
            self._preview()

    # ------------------------------------------------------------------ what has happened

    @on(LiveView.Began)
    def _began(self, message: LiveView.Began) -> None:
        self._last = message.run
        preset = self._catalogue.get(message.run.preset)
        if isinstance(preset, Preset):
            self.view.figure = [figure.name for figure in HEADLINES].index(preset.file.headline)
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
        bar = self.query_one(StatusBar)
        bar.session = self._runner.session
        bar.queue = f"{self.waiting}{', held' if self._queue.is_held else ''}" if self.waiting else ""
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
