"""The console screen: presets, what will run, the run in progress, and the session's runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding

from cephtui.models import Run
from cephtui.models.metrics import HEADLINES
from cephtui.presets import Catalogue, Preset, PresetError, by_key, the_six
from cephtui.running.dispatcher import Dispatcher
from cephtui.running.queue import Entry
from cephtui.running.runner import Runner
from cephtui.tools.base import OptionError
from cephtui.tui.console.choice import Choice
from cephtui.tui.console.chooser import Chooser
from cephtui.tui.console.panels import Panels
from cephtui.tui.console.preview import Preview
from cephtui.tui.console.start import Start
from cephtui.tui.console.status_bar import StatusBar
from cephtui.tui.keys import KeyBar, key
from cephtui.tui.screens.run import CompareWanted, RunScreen
from cephtui.tui.widgets.live_view import LiveView
from cephtui.tui.widgets.runs_table import RunsTable


def _run_key(number: int) -> Binding:
    """The key of a preset; the six that are always there have one place in the footer."""
    word, sign = ("run", "1-6") if number == 1 else (f"run {number}", "1-6" if number <= 6 else None)
    about = "run this preset; during a run: queue it"
    return key(str(number), f"run_key({number})", word, about, "run", shown=number == 1, display=sign)


class ConsoleScreen(RunScreen):
    """Holds the choice of what to run next, queues it, and draws the runner's events."""

    BINDINGS = [
        *(_run_key(number) for number in range(1, 10)),
        key("enter", "run_selected", "run", "run the selected preset; during a run: queue it", "run"),
        key("a", "all_six", "all six", "the six presets, or your own in their place, one after the other", "run"),
        key("p", "choose('preset')", "presets", "all presets, also those without a key", "run", shown=True),
        key("e", "choose('options')", "edit", "block size, depth, runtime and every other option", "run", shown=True),
        key("t", "choose('target')", "target", "what is tested: pools, images, devices, a file", "run", shown=True),
        key("n", "choose('nodes')", "nodes", "which nodes run it, and what they lack", "run", shown=True),
        key("u", "app.queue", "queue", "what waits: reorder it, take something out", "run"),
        key("s", "app.stop", "stop", "stop the run, keep what was measured and the queue", "run", shown=True),
        key("x", "app.skip", "skip", "stop this run and begin the next of the queue", "run"),
        key("m", "app.mark", "mark", "a mark with a text on the time line: what you have changed", "view", shown=True),
        key("f", "presenter", "present", "the figure in big digits, for a room", "view"),
        key("l", "log", "log", "the real commands and the tool's raw output", "view"),
        key("r", "runs", "runs", "go to the runs: up, down, enter for all of one", "view"),
        key("c", "compare", "compare", "compare the run under the cursor with another", "view"),
        key("escape", "back", "back", "back", "more"),
    ]
    NOTHING = "nothing has run yet"

    def __init__(self, catalogue: Catalogue, start: Start, runner: Runner) -> None:
        super().__init__()
        self._catalogue, self._start, self._runner = catalogue, start, runner
        self._live_view = LiveView(runner.subscribe())
        self._last: Run | None = None
        self.choice = Choice(start, by_key(catalogue)[0], runner.prefilled)
        self._chooser = Chooser(self, self.choice, start, runner, self._show_choice)
        self.dispatcher = Dispatcher(runner, self._chooser, self._live_view, self._show_choice)

    @property
    def drawn(self) -> tuple[Path, Run] | None:
        """The run that began last."""
        directory = self._runner.directory
        return (directory, self._last) if directory and self._last else None

    def compose(self) -> ComposeResult:
        """From the top: session and nodes, presets, the next command, the run, the table of runs."""
        yield StatusBar(id="bar")
        yield Panels(by_key(self._catalogue))
        yield Preview()
        yield self._live_view
        yield RunsTable()
        yield KeyBar("choose('preset')", "app.mark", "compare")

    def on_mount(self) -> None:
        """Show the first preset, and connect to the nodes."""
        table, panels = self.query_one(RunsTable), self.query_one(Panels)
        table.put(*self._start.earlier)
        table.put_mark(*self._start.marks)
        panels.show_earlier(self._start.earlier, self._runner.directory)
        self._show_choice()
        self.set_focus(panels)
        for entry in self._catalogue.values():
            if isinstance(entry, PresetError):
                self.notify(str(entry), title="broken preset", severity="warning", markup=False)
        self._chooser.connect_later()

    def _show_choice(self) -> None:
        """Update what depends on the choice or the queue."""
        if not self.query(Preview):
            return  # the console is being left, and what was asked of a node before has been answered meanwhile
        choice, plan, problem = self.choice, None, ""
        self.query_one(Panels).select(choice.preset)
        self._chooser.show_nodes()
        self._show_session()
        entry = Entry(choice.request())
        try:
            plan = choice.plan(entry.request)
        except OptionError as error:
            problem = str(error)
        self.query_one(Preview).show_next(entry, plan, problem, running=self.dispatcher.busy)

    def _show_session(self) -> None:
        """Update the name of the session and the queue in the status bar."""
        bar, queue = self.query_one(StatusBar), self.dispatcher.queue
        bar.session = self._runner.session  # the first run or mark begins one
        bar.queue = f"{queue.summary}{', held' if queue.is_held else ''}" if queue.summary else ""

    # ------------------------------------------------------------------ what runs next

    @work
    async def action_choose(self, part: str) -> None:
        """Open the dialog for a part of the choice."""
        chooser = self._chooser
        if part == "preset":
            await chooser.choose_preset(self._catalogue)
        else:
            choose = {"options": chooser.choose_options, "target": chooser.choose_target, "nodes": chooser.choose_nodes}
            await choose[part]()

    @on(Panels.Chosen)
    def _chosen(self, message: Panels.Chosen) -> None:
        self.choice.preset = message.preset
        self._show_choice()
        if message.run:
            self._enqueue([message.preset])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A number key is active where a preset has it."""
        return action != "run_key" or any(preset.file.key in parameters for preset in by_key(self._catalogue))

    def action_run_key(self, number: int) -> None:
        """Run the preset with this key."""
        found = next((preset for preset in by_key(self._catalogue) if preset.file.key == number), None)
        if found:
            self.choice.preset = found
            self._show_choice()
            self._enqueue([found])

    def action_run_selected(self) -> None:
        self._enqueue([self.choice.preset])

    def action_all_six(self) -> None:
        """Run the six packaged presets, or the user's own in their place."""
        self._enqueue(the_six(self._catalogue))

    def _enqueue(self, presets: Sequence[Preset]) -> None:
        """Queue synchronously, so that the next key press sees the new queue."""
        try:
            entries = self.choice.entries(presets)
        except OptionError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        if self.dispatcher.busy or len(entries) > 1:
            names = ", ".join(entry.request.preset.name for entry in entries)
            self.notify(f"queued: {names} (u shows the queue)", timeout=3, markup=False)
        self.dispatcher.push(entries)

    # ------------------------------------------------------------------ the runs

    @on(LiveView.Began)
    def _began(self, message: LiveView.Began) -> None:
        self._last = message.run
        preset = self._catalogue.get(message.run.preset)
        if isinstance(preset, Preset):
            self.view.figure = [figure.name for figure in HEADLINES].index(preset.file.headline)
        if self._live_view.current:  # else it has ended already, and a notification may give the reason
            self.app.clear_notifications()
        self.query_one(Preview).show_running(message.run)
        self.query_one(Panels).show_running(message.run)
        self.query_one(RunsTable).put(message.run)
        self._show_session()

    @on(LiveView.Ended)
    def _ended(self, message: LiveView.Ended) -> None:
        self._last = message.run
        self.query_one(RunsTable).put(message.run)
        self.query_one(Panels).show_result(message.run, message.values)

    @on(LiveView.Marked)
    def _marked(self, message: LiveView.Marked) -> None:
        self.query_one(RunsTable).put_mark(message.mark)
        self._show_session()

    def action_compare(self) -> None:
        """Compare the run under the cursor with another one."""
        run, directory = self.query_one(RunsTable).chosen, self._runner.directory
        if run is not None and directory is not None:
            self.post_message(CompareWanted(directory, run.run))
        elif self._last is None and not self._start.earlier:
            self.notify("nothing has run yet (o opens saved sessions)")
        else:
            self.notify("that is a mark: r, then up or down, goes to a run")

    def action_runs(self) -> None:
        self.set_focus(self.query_one(RunsTable))

    def action_back(self) -> None:
        """Close the full screen, else dismiss notifications and go to where the number keys work."""
        if not self.leave_zoom():
            self.app.clear_notifications()
            self.set_focus(self.query_one(Panels))
