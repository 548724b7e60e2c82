"""The console screen: presets, what will run, the run, and the session's runs."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import Footer, Input, Static

from cephtui import report, units
from cephtui.models import Node, Plan, Run
from cephtui.plan import Request, make_plan, new_batch
from cephtui.presets import Catalogue, Preset, PresetError, by_key, parse_overrides
from cephtui.refusal import Refusal
from cephtui.runner import NodeState, Runner, Survey, diagnosis
from cephtui.store import StoreError
from cephtui.targets import Target, TargetError, parse_target
from cephtui.targets.base import TargetFault
from cephtui.tools import OptionError
from cephtui.transport import TransportError
from cephtui.tui.dialogs import Ask, Confirm, Details, TypeName
from cephtui.tui.form import RunForm
from cephtui.tui.live_view import LiveView
from cephtui.tui.panels import Panels
from cephtui.tui.runs_table import RunsTable


@dataclass(frozen=True, slots=True)
class Start:
    """What the console begins with."""

    nodes: tuple[Node, ...]
    target: str
    data_pool: str | None = None
    ceph_node: str | None = None


class ConsoleScreen(Screen[None]):
    """Sends the runner plans and a stop, and draws what comes back."""

    BINDINGS = [
        Binding("1", "run_key(1)", "run", key_display="1-6"),
        *(Binding(str(key), f"run_key({key})", f"run preset {key}", show=False) for key in range(2, 10)),
        Binding("e", "edit", "edit"),
        Binding("enter", "run_selected", "run", show=False),
        Binding("s", "stop", "stop"),
        Binding("r", "runs", "runs"),
        Binding("n", "nodes", "nodes"),
        Binding("escape", "panels", "presets", show=False),
        Binding("question_mark", "help", "help", key_display="?"),
        Binding("q", "app.quit", "quit"),
    ]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-tall")]

    def __init__(self, catalogue: Catalogue, start: Start, runner: Runner, earlier: list[Run]) -> None:
        super().__init__()
        self._catalogue, self._start_with, self._runner, self._earlier = catalogue, start, runner, earlier
        self._hosts, self._sitting = start.nodes, new_batch()
        self._states: dict[str, NodeState] = {}
        self._surveys: dict[str, Survey] = {}
        """By target."""
        self._busy = False
        self._cancelled = False

    @property
    def busy(self) -> bool:
        """Whether a plan is being checked or carried out."""
        return self._busy

    def compose(self) -> ComposeResult:
        """From the top: where we are, what there is, what will run, the run, the runs."""
        yield Static(id="bar")
        yield Panels(by_key(self._catalogue))
        yield RunForm(self._start_with.target)
        yield Static(id="command")
        yield LiveView(self._runner.subscribe())
        yield RunsTable()
        yield Footer()

    def on_mount(self) -> None:
        """Show the first preset and begin to listen."""
        for run in self._earlier:
            self._show_run(run)
        self._select(self.query_one(Panels).preset)
        self.set_focus(self.query_one(Panels))
        for entry in self._catalogue.values():
            if isinstance(entry, PresetError):
                self.notify(str(entry), title="broken preset", severity="warning", markup=False)
        self._show_bar()
        self._reach_nodes()

    # ------------------------------------------------------------------ what will run

    def _select(self, preset: Preset) -> None:
        self.query_one(Panels).select(preset)
        self.query_one(Panels).watch_selected()
        self.query_one(RunForm).load(preset)
        self._preview()

    def _target(self) -> Target:
        """The target as typed; raises TargetError."""
        text = self.query_one(RunForm).target
        makes_images = text.startswith("rbd:") and "/" not in text
        data_pool = self._start_with.data_pool if makes_images else None
        return parse_target(text, sitting=self._sitting, data_pool=data_pool)

    def _decide(self, confirmed: tuple[Refusal, ...] = ()) -> Plan:
        """The plan for what is selected and typed; raises OptionError or TargetError."""
        target, survey = self._target(), self._surveys.get(self.query_one(RunForm).target, Survey())
        request = Request(
            (self.query_one(Panels).preset,),
            self._hosts,
            target,
            parse_overrides(self.query_one(RunForm).overrides),
            destroy=tuple(r.confirm for r in confirmed if r.confirm and r.confirm_kind == "destroy"),
            shared_pool=any(r.confirm_kind == "shared-pool" for r in confirmed),
            ceph_node=self._start_with.ceph_node,
            room_bytes=survey.room_bytes,
            pool_use=survey.pool_use,
        )
        return make_plan(request, new_batch, self._runner.filled())

    @on(RunForm.Changed)
    def _preview(self) -> None:
        """The exact command of what would run next; of a run in progress, its own."""
        command, form = self.query_one("#command", Static), self.query_one(RunForm)
        try:
            plan = self._decide()
        except (OptionError, TargetError) as error:
            form.show_error(error.option if isinstance(error, OptionError) else "target")
            command.set_class(not self._busy, "problem")
            if not self._busy:
                command.update(Text(str(error)))
            return
        form.show_error(None)
        command.set_class(False, "problem")
        if not self._busy:
            command.update(_commands(plan))

    @on(RunForm.Done)
    def action_panels(self) -> None:
        """Back to where the number keys work."""
        self.set_focus(self.query_one(Panels))

    @on(Panels.Chosen)
    def _chosen(self, message: Panels.Chosen) -> None:
        self._select(message.preset)
        if message.run:
            self._start()

    def action_edit(self) -> None:
        """Edit what will run."""
        if not self._told_busy():
            self.query_one(RunForm).edit()

    def action_help(self) -> None:
        """All keys, by topic."""
        self.app.push_screen(Details("keys", _help()))

    def action_nodes(self) -> None:
        """Every node: what works there, what is missing, and what installs it."""
        states = [self._states.get(node.name) or NodeState(node, problem="connecting") for node in self._hosts]
        self.app.push_screen(Details("nodes", report.nodes([diagnosis(state) for state in states])))

    def action_runs(self) -> None:
        """Go to the table of runs."""
        self.set_focus(self.query_one(RunsTable))

    # ------------------------------------------------------------------ running

    def action_run_key(self, key: int) -> None:
        """Run the preset with this key."""
        if isinstance(self.focused, Input):
            return  # typed right behind the key that opened the field, before it took the keys
        found = next((p for p in by_key(self._catalogue) if p.file.key == key), None)
        if found and not self._told_busy():
            self._select(found)
            self._start()

    def action_run_selected(self) -> None:
        """Run what is selected."""
        self._start()

    def action_stop(self) -> None:
        """End the run and keep what was measured."""
        if self._busy:
            self._cancelled = True  # where it has not been handed over yet
            self._runner.stop()
            self.query_one(LiveView).say("stopping, what was measured is kept")
        else:
            self.notify("nothing is running")

    def _told_busy(self) -> bool:
        if self._busy:
            self.notify("a run is in progress: s stops it", severity="warning")
        return self._busy

    def _start(self) -> None:
        """Decide what runs, at once: what is pressed next must find it so."""
        if self._told_busy():
            return
        try:
            self._decide()
        except (OptionError, TargetError) as error:
            self.notify(str(error), severity="error", markup=False)
            return
        self._set_busy(True)
        self._run()

    @work
    async def _run(self) -> None:
        try:
            await self._carry_out()
        except (StoreError, TransportError, TargetFault, TargetError, OptionError) as error:
            self.notify(str(error), title="not run", severity="error", timeout=15, markup=False)
        finally:
            self._set_busy(False)
            self._preview()

    def _set_busy(self, busy: bool) -> None:
        self._busy, self._cancelled = busy, False
        self.query_one(RunForm).disabled = busy

    async def _carry_out(self) -> None:
        """Reach the nodes, ask what has to be asked, then run."""
        view = self.query_one(LiveView)
        view.announce("looking at the nodes and the target ...")
        if not await self._all_reached():
            view.announce("not run: not all nodes can be used (n shows them)")
            return
        survey = await self._look_at_target()
        if survey.refusal:
            await self._confirmed([survey.refusal])
            return
        plan = self._decide()
        confirmed = await self._confirmed(await asyncio.wrap_future(self._runner.check(plan)))
        if confirmed is None or self._cancelled:
            return
        if confirmed:
            plan = self._decide(confirmed)
        await asyncio.wrap_future(self._runner.submit(plan))
        self.query_one(LiveView).catch_up()

    async def _confirmed(self, refusals: list[Refusal]) -> tuple[Refusal, ...] | None:
        """What the user has agreed to; None where the plan may not run."""
        agreed: list[Refusal] = []
        for refusal in refusals:
            if refusal.confirm is None:
                self.notify(refusal.text, title="refused", severity="error", timeout=15, markup=False)
                self.query_one(LiveView).announce("not run: refused")
                return None
            if not await self._agrees(refusal):
                return None
            agreed.append(refusal)
        return tuple(agreed)

    async def _agrees(self, refusal: Refusal) -> bool:
        if refusal.confirm_kind == "destroy":
            return await self._asked(TypeName(refusal.problem, refusal.confirm or ""))
        return await self._asked(Confirm(f"{refusal.problem}. Run all the same?", "run", "don't"))

    async def _asked(self, dialog: TypeName | Confirm) -> bool:
        answer: bool | None = await self.app.push_screen_wait(dialog)
        return bool(answer)

    # ------------------------------------------------------------------ nodes and target

    @work(exclusive=True, group="reach")
    async def _reach_nodes(self) -> None:
        await self._all_reached()
        self._survey_later()

    async def _all_reached(self) -> bool:
        """Connect to every node that is not ready, asking what they ask; says which can't be used."""
        waiting = [node for node in self._hosts if not self._is_ready(node)]
        futures = [self._runner.reach(node) for node in waiting]
        for future in futures:
            self._take_state(await self._answered(await asyncio.wrap_future(future)))
        return all(map(self._is_ready, self._hosts))

    def _is_ready(self, node: Node) -> bool:
        state = self._states.get(node.name)
        return state is not None and state.environment is not None

    async def _answered(self, state: NodeState) -> NodeState:
        while state.question is not None:
            question = state.question
            answer = await self.app.push_screen_wait(Ask(state.node.name, question.text, secret=question.secret))
            if answer is None:
                return NodeState(state.node, problem=f"{state.node.name}: not connected: {question.text}")
            state = await asyncio.wrap_future(self._runner.reach(state.node, {question.key: answer}))
        return state

    def _take_state(self, state: NodeState) -> None:
        self._states[state.node.name] = state
        self._hosts = tuple(state.node if node.name == state.node.name else node for node in self._hosts)
        for problem in diagnosis(state).problems:
            self.notify(problem, severity="error", timeout=15, markup=False)
        self._show_bar()

    @on(RunForm.Done)
    def _survey_later(self) -> None:
        """What is asked of a target takes a moment; the preview need not wait for it."""
        self.run_worker(self._surveyed(), exclusive=True, group="survey")

    async def _surveyed(self) -> None:
        with contextlib.suppress(TransportError, TargetFault, TargetError):
            await self._look_at_target()
            self._preview()

    async def _look_at_target(self) -> Survey:
        """How much room the target has, and who else uses it; raises TargetFault, TargetError and TransportError."""
        text = self.query_one(RunForm).target
        survey = await asyncio.wrap_future(self._runner.survey(self._target(), self._hosts, self._start_with.ceph_node))
        self._surveys[text] = survey
        return survey

    # ------------------------------------------------------------------ what has happened

    @on(LiveView.Began)
    def _began(self, message: LiveView.Began) -> None:
        self.app.clear_notifications()
        self.query_one("#command", Static).update(Text(f"$ {report.short_command(message.run.command)}"))
        self._show_run(message.run)
        self._show_bar()

    @on(LiveView.Ended)
    def _ended(self, message: LiveView.Ended) -> None:
        self._show_run(message.run)

    def _show_run(self, run: Run) -> None:
        self.query_one(RunsTable).put(run)
        if run.outcome is not None:
            self.query_one(Panels).show_result(run)

    @on(RunsTable.Opened)
    def _open(self, message: RunsTable.Opened) -> None:
        run = message.run
        self.app.push_screen(Details(f"{run.session}/{run.run}", report.run(run)))

    def _show_bar(self) -> None:
        session = self._runner.session or "new"
        bar = Text.assemble(("cephtui", "bold"), f"   session {session}   ")
        bar.append_text(report.node_states(self._hosts, self._states))
        self.query_one("#bar", Static).update(bar)


_KEYS = {
    "run": {
        "1 to 6": "run this preset",
        "left, right": "select a preset and see its command (h, l)",
        "enter": "run the selected preset",
        "s": "stop the run, keep what was measured",
    },
    "edit": {
        "e": "edit bs, depth, jobs, runtime, target; tab for the next field",
        "enter, esc": "end editing; a value such as 1,4,16 runs once for each",
    },
    "look": {
        "r": "go to the runs; up, down (j, k), enter for all of a run",
        "n": "the nodes: state, versions, what is missing",
        "esc": "back",
    },
    "more": {"ctrl+p": "all commands", "q": "quit; asks while something runs"},
}


def _help() -> Table:
    table = Table.grid(padding=(0, 2))
    for topic, keys in _KEYS.items():
        for row, (key, text) in enumerate(keys.items()):
            table.add_row(Text("" if row else topic, style="bold"), Text(key, style="bold"), text)
    return table


def _commands(plan: Plan) -> Text:
    """What would run, as it would be typed."""
    step = plan.steps[0]
    text = Text(f"$ {report.short_command(step.nodes[0].command)}")
    notes = []
    if step.fill_bytes:
        each = " on each node" if len(step.nodes) > 1 else ""
        notes.append(f"fills {units.size(step.fill_bytes)}{each} first")
    if len(plan.steps) > 1:
        notes.append(f"then {len(plan.steps) - 1} more of the sweep")
    if notes:
        text.append(f"  # {', '.join(notes)}", "italic")
    return text
