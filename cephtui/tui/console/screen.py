"""The console screen: presets, what will run, the run in progress, and the session's runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding

from cephtui import units
from cephtui.presets import Catalogue, Preset, PresetError, by_key, options_by_preset, the_six
from cephtui.studies.dispatcher import Dispatcher
from cephtui.targets.scratch import is_scratch, target_words
from cephtui.tools.base import OptionError
from cephtui.tui.console.choice import Choice, first_for
from cephtui.tui.console.chooser import Chooser
from cephtui.tui.console.display import ConsoleDisplay, StudyLine
from cephtui.tui.console.panels import Panels
from cephtui.tui.console.preview import Preview, problem_text
from cephtui.tui.console.status_bar import StatusBar, running_text
from cephtui.tui.copying import COPY
from cephtui.tui.keys import MATRIX_ABOUT, WHY_ABOUT, KeyBar, key
from cephtui.tui.screens.run import CURVE, FILTER, CompareWanted, RunScreen
from cephtui.tui.terminal.in_order import opening
from cephtui.tui.widgets.cluster_now import health_text
from cephtui.tui.widgets.live_view import LiveView

if TYPE_CHECKING:
    from cephtui.models import Mark, Run
    from cephtui.reports.masking.mask import Names
    from cephtui.running.runner import Runner
    from cephtui.studies.saved import StudyState
    from cephtui.tui.console.start import Start


def _preset_key(number: int) -> Binding:
    """The key of a preset; the six that are always there have one place in the footer."""
    word, sign = ("select", "1-6") if number == 1 else (f"select {number}", "1-6" if number <= 6 else None)
    about = "select a preset; enter runs it"
    return key(str(number), f"select({number})", word, about, "run", shown=number == 1, display=sign)


_KEYS = """1-6 select a preset    enter runs it    e edit options
t choose the target    n the nodes      ? all keys

cephtui demo plays a recorded session of a real cluster."""


def _empty_text(target: str, room_bytes: int | None, earlier: int, around: str = "") -> str:
    """How to begin; ``earlier`` runs of the session stand in the table, and ``around`` is what can be measured."""
    room = "" if room_bytes is None else f", {units.size(room_bytes)} free"
    gone = ", removed at the end" if is_scratch(target) else ""
    begun = f"{earlier} saved run{'s' * (earlier > 1)} below: r goes to the table, enter shows a run."
    where = f"Target: {target_words(target)}{room}{gone}"
    return f"{begun if earlier else 'Nothing has run yet.'}\n{where}\n\n{_KEYS}{around}"


class ConsoleScreen(RunScreen):
    """Holds the choice of what to run next, queues it, and draws the runner's events."""

    BINDINGS = [
        *(_preset_key(number) for number in range(1, 10)),
        key("enter", "run('selected')", "run", "run the selected preset; during a run: queue it", "run", shown=True),
        key("a", "run('six')", "all six", "run all six presets, one after the other", "run"),
        key(
            "p",
            "choose('preset')",
            "presets",
            "choose from all presets and suites",
            "run",
            shown=True,
        ),
        key(
            "e",
            "choose('options')",
            "edit",
            "edit block size, depth, runtime and other options",
            "run",
            shown=True,
        ),
        key(
            "H",
            "choose('how_often')",
            "how often",
            "run once, repeatedly, until a goal is reached, or before and after a change",
            "run",
            shown=True,
        ),
        key("t", "choose('target')", "target", "choose the target: pools, images, devices, a file", "run", shown=True),
        key("n", "choose('nodes')", "nodes", "choose and check nodes", "run", shown=True),
        key("C", "app.check", "check", "guided check: measure, make your change, measure, verdict", "run", shown=True),
        key("u", "app.queue", "queue", "show the queue: reorder or remove runs, resume a study", "run"),
        key("s", "app.stop", "stop", "stop the run and keep its data; the queue is kept", "run", shown=True),
        key("x", "app.skip", "skip", "skip: stop this run and start the next one", "run"),
        key("m", "app.mark", "mark", "mark the time of a change, with a note", "view", shown=True),
        key("f", "presenter", "present", "large digits, for an audience", "view"),
        key("l", "log", "log", "exact commands and raw output", "view"),
        key("M", "app.matrix", "matrix", MATRIX_ABOUT, "view"),
        key("W", "why", "why", WHY_ABOUT, "view"),
        key("r", "runs", "runs", "jump to the list of runs; enter shows details", "view"),
        key("c", "compare", "compare", "compare the run under the cursor with another", "view"),
        CURVE,
        FILTER,
        COPY,
        key("escape", "back", "back", "leave full screen or filter, close messages", "more"),
    ]
    NOTHING = "nothing has run yet in this console"
    PRESENTS_NOTHING = "nothing is running: esc, then enter runs the selected preset"

    def __init__(self, catalogue: Catalogue, start: Start, runner: Runner) -> None:
        super().__init__()
        self._catalogue, self._start, self._runner = catalogue, start, runner
        empty = _empty_text(start.target.spec, None, len(start.earlier))
        self._live_view = LiveView(runner.subscribe(), empty=empty, listens=False)
        self._last: Run | None = None
        self.choice = Choice(start, first_for(catalogue, start.target), runner.prefilled)
        self._chooser = Chooser(self, self.choice, start, runner, self._show_choice)
        self.dispatcher = Dispatcher(runner, self._chooser, ConsoleDisplay(self, self._live_view), self._show_choice)

    @property
    def drawn(self) -> tuple[Path, Run] | None:
        """The run that began last."""
        directory = self._runner.directory
        return (directory, self._last) if directory and self._last else None

    @property
    def session(self) -> tuple[Sequence[Run], Sequence[Mark], Path | None]:
        """The session's runs and marks so far, and its directory; None before the first run."""
        if self.table is None:
            return self._start.earlier, self._start.marks, self._runner.directory
        return tuple(self.table.content.runs.values()), self.table.content.marks, self._runner.directory

    def compose(self) -> ComposeResult:
        yield StatusBar(id="bar")
        yield Panels(by_key(self._catalogue))
        yield Preview()
        yield self._live_view
        yield StudyLine()
        yield KeyBar(
            "filter",
            "copy",
            "app.check",
            "choose('preset')",
            "compare",
            "app.mark",
            "choose('nodes')",
            "choose('how_often')",
        )

    def on_mount(self) -> None:
        """Show the first preset, and connect to the nodes."""
        panels = self.query_one(Panels)
        panels.show_earlier(self._start.earlier, self._runner.directory)
        panels.select(self.choice.preset)
        self.query_one(StatusBar).session = self._runner.session
        self.set_focus(panels)
        # the first frame does not wait for the first plan, nor for the table
        self.call_after_refresh(self._mount_table)
        self.call_after_refresh(self._show_choice)
        self.call_after_refresh(self._chooser.connect_later)
        for entry in self._catalogue.values():
            if isinstance(entry, PresetError):
                self.notify(str(entry), title="broken preset", severity="warning", markup=False)

    async def _mount_table(self) -> None:
        """Runs are looked for only then: the table lacks none of them."""
        from cephtui.tui.widgets.runs_filter import RunsFilter
        from cephtui.tui.widgets.runs_table import RunsTable

        if self.is_attached:
            table = RunsTable()
            await self.mount(RunsFilter(table), table, after=self.query_one(StudyLine))
            table.show_session(self._start.earlier, self._start.marks, options_by_preset(self._catalogue))
            self._live_view.listen()

    def _show_choice(self) -> None:
        """Update what depends on the choice, the queue or the session."""
        if len(self.query("StatusBar, Panels, Preview")) < 3:
            return  # the console is being left, and what was asked of a node before has been answered meanwhile
        choice, plan, problem = self.choice, None, ""
        self.query_one(Panels).select(choice.preset)
        self._chooser.show_nodes()
        bar, queue = self.query_one(StatusBar), self.dispatcher.queue
        bar.session = self._runner.session  # the first run or mark begins one
        if self.table:
            self.table.put_measuring(self.dispatcher.batches)
        bar.queue = f"{queue.summary}{', held' if queue.is_held else ''}" if queue.summary else ""
        around = f"\n\n{choice.around.text}" if choice.around.text else ""
        self.view.empty = _empty_text(choice.target.spec, choice.room_bytes, len(self._start.earlier), around)
        request = choice.request()
        try:
            plan = choice.plan(request)
        except OptionError as error:
            problem = problem_text(error, choice.preset)
        self.query_one(Preview).show_next(request, plan, problem)

    def names_to_hide(self) -> Names:
        """Names of the choice, of the config file, and of the runs."""
        from cephtui.reports.masking.mask import names_in, names_of_target

        nodes = [*self._start.nodes, *self.choice.nodes.hosts, *self._start.config.nodes.values()]
        targets = names_of_target(self._start.target.spec) | names_of_target(self.choice.target.spec)
        return {**names_in(nodes), **targets, **self.choice.around.names, **super().names_to_hide()}

    # ------------------------------------------------------------------ what runs next

    @work
    async def action_choose(self, part: str) -> None:
        chooser, queueing = self._chooser, (self._catalogue, self.dispatcher)
        choose: dict[str, Callable[[], Awaitable[None]]] = {
            "preset": partial(chooser.choose_preset, *queueing),
            "options": partial(chooser.choose_options, *queueing),
            "how_often": partial(chooser.choose_how_often, *queueing),
            "why": partial(chooser.choose_why, *queueing),
            "runtime": chooser.choose_runtime,
            "target": chooser.choose_target,
            "nodes": partial(chooser.choose_nodes, self._catalogue),
        }
        with opening(self.app):
            await choose[part]()

    @on(Panels.Chosen)
    def _chosen(self, message: Panels.Chosen) -> None:
        if message.run:
            self.run_preset(message.preset)
        else:
            self.choice.preset = message.preset
            self._show_choice()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A number key is active where a preset has it."""
        if action == "select":
            return any(preset.file.key in parameters for preset in by_key(self._catalogue))
        return super().check_action(action, parameters)

    def action_select(self, number: int) -> None:
        """Select the preset with this key; enter then runs it, wherever the focus was."""
        self.choice.preset = next(preset for preset in by_key(self._catalogue) if preset.file.key == number)
        self.set_focus(self.query_one(Panels))
        self._show_choice()

    def run_preset(self, preset: Preset) -> None:
        """Select a preset and run it; during a run, queue it."""
        self.choice.preset = preset
        self._show_choice()
        self._enqueue([preset])

    def action_run(self, which: str) -> None:
        """Run the ``selected`` preset, or the ``six`` packaged ones with the user's own in their place."""
        self._enqueue([self.choice.preset] if which == "selected" else the_six(self._catalogue))

    def _enqueue(self, presets: Sequence[Preset]) -> None:
        """Queue synchronously, so that the next key press sees the new queue."""
        try:
            entries = self.choice.entries(presets)
        except OptionError as error:
            self.notify(problem_text(error, presets[0]), severity="error", markup=False)
            return
        queued = self.dispatcher.busy or len(entries) > 1
        self.dispatcher.push(entries)
        if queued:
            names = ", ".join(entry.name for entry in entries)
            self.notify(f"queued: {names} ({self.dispatcher.queue.summary})", timeout=3, markup=False)

    @work
    async def resume(self, state: StudyState) -> None:
        """Queue what is missing of a study of the session."""
        if self._runner.directory:
            await self._chooser.resume(self._runner.directory, state, self._catalogue, self.dispatcher)

    # ------------------------------------------------------------------ the runs

    @on(LiveView.Began)
    def _began(self, message: LiveView.Began) -> None:
        self._last = message.run
        if self._live_view.current:  # else it has ended already, and a notification may give the reason
            self.app.clear_notifications()
        self.query_one(Preview).show_running(message.run)
        self.query_one(Panels).show_begun(message.run)
        if self.table:
            self.table.put(message.run)
        self._show_choice()

    @on(LiveView.Drawn)
    def _drawn(self, message: LiveView.Drawn) -> None:
        """The tile, the status bar and the table follow the run."""
        state, progress, bar = message.state, message.progress, self.query_one(StatusBar)
        self.query_one(Panels).show_live(state, message.silent_seconds)
        flows = state.latest.flows if state.latest and progress.phase != "prepare" else {}
        if self.table:
            self.table.show_live(state.run, flows, progress.phase)
        bar.running = running_text(state)
        self._chooser.show_nodes()
        bar.health = health_text(state.cluster, badge=True) if state.cluster else Text()

    @on(LiveView.Ended)
    def _ended(self, message: LiveView.Ended) -> None:
        self._last = message.run
        self.query_one(StatusBar).running = ""
        self.query_one(Preview).show_running(None)
        if self.table:
            self.table.put(message.run)
        self.query_one(Panels).show_result(message.run, message.values)
        lost = [node.node for node in message.run.nodes if node.outcome == "lost"]
        if lost:
            self._chooser.connect_again(lost)
        else:
            self._chooser.show_nodes()

    @on(LiveView.Marked)
    def _marked(self, message: LiveView.Marked) -> None:
        if self.table:
            self.table.put_mark(message.mark)
        self._show_choice()

    def action_why(self) -> None:
        """What the session shows; where nothing has run yet, what would be measured to know it."""
        from cephtui.tui.screens.why import WhyScreen

        def measure() -> None:
            self.action_choose("why")

        if self._runner.directory:
            self.app.push_screen(WhyScreen(self._runner.directory, measure))
        else:
            measure()

    def action_compare(self) -> None:
        run, directory = self.table.chosen if self.table else None, self._runner.directory
        if run is not None and directory is not None:
            self.post_message(CompareWanted(directory, run.run))
        else:
            self.notify("nothing has run yet (o opens saved sessions)")

    def action_back(self) -> None:
        """Close the full screen, else the filter, else dismiss notifications and go to where the number keys work."""
        if not (self.leave_full_screen() or self.leave_filter()):
            self.app.clear_notifications()
            self.set_focus(self.query_one(Panels))
