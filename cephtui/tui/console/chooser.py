"""Opens the dialogs that choose what to run, connects to its nodes and surveys its target.

Pickers are imported when they are opened.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.screen import ModalScreen, Screen

from cephtui import paths
from cephtui.config import ConfigError
from cephtui.nodes.transport import TransportError
from cephtui.planning import Request
from cephtui.presets import Catalogue, presets_by_tool
from cephtui.reports.words.text import node_states
from cephtui.running.launch import FAULTS, Launcher, NotRun
from cephtui.running.runner import Runner
from cephtui.studies.dispatcher import Dispatcher
from cephtui.studies.queue import Entry
from cephtui.tools.base import OptionError
from cephtui.tui.console.asking import Dialogs
from cephtui.tui.console.choice import Choice, around_of
from cephtui.tui.console.edits import COMMON, Edits
from cephtui.tui.console.start import Start
from cephtui.tui.console.status_bar import StatusBar
from cephtui.tui.widgets.live_view import LiveView

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType

    from cephtui.ceph.qos import Limits
    from cephtui.models import Node, Plan
    from cephtui.studies.saved import StudyState
    from cephtui.suites import Suites


def queued_text(entry: Entry, left_out: Sequence[str], summary: str) -> str:
    """``queued: quick, 12 runs (12 runs waiting, about 5 min); M shows its table; left out: rados-write``."""
    why = f"; left out, not for this target: {', '.join(left_out)}" if left_out else ""
    return f"queued: {entry.name}, {entry.extent.most_runs} runs ({summary}); M shows the table{why}"


def _suites(catalogue: Catalogue) -> Suites:
    from cephtui.suites import find_suites

    return find_suites(paths.packaged_suites_dir(), paths.user_suites_dir(), catalogue)


class Chooser:
    """Changes a choice by dialogs over the console's screen."""

    def __init__(
        self, screen: Screen[None], choice: Choice, start: Start, runner: Runner, changed: Callable[[], None]
    ) -> None:
        """``changed`` is called after each change of the choice or of what its plan depends on."""
        self._screen, self._choice, self._start, self._runner, self._changed = screen, choice, start, runner, changed

    async def choose_preset(self, catalogue: Catalogue, dispatcher: Dispatcher) -> None:
        """Open the picker of presets and suites; of a suite all that would be run is shown first."""
        from cephtui.suites import Suite
        from cephtui.tui.pickers.presets import PresetPicker

        chosen = await self._show(PresetPicker(catalogue, _suites(catalogue)))
        if isinstance(chosen, Suite):
            await self._ask_how_often(chosen.name, {}, catalogue, dispatcher)
        elif chosen is not None:
            self._choice.preset = chosen
            self._changed()

    async def choose_options(self, catalogue: Catalogue, dispatcher: Dispatcher) -> None:
        """Open the form of the preset, and from there how often it is measured."""
        choice = self._choice

        def plan(edits: Edits) -> Plan:
            return choice.plan(choice.request(edits=edits))

        from cephtui.tui.console.form import FormScreen

        form = FormScreen(choice.preset, choice.edits, plan)
        edits = await self._show(form)
        if edits is not None:
            choice.edits = edits
            self._changed()
            if form.is_left_for_how_often:
                await self.choose_how_often(catalogue, dispatcher)

    async def choose_how_often(self, catalogue: Catalogue, dispatcher: Dispatcher) -> None:
        """Open the dialog of all kinds of studies, and queue what is chosen there."""
        edits = self._choice.edits
        initial = {"repeats": str(edits.repeats), "order": edits.order or ""}
        await self._ask_how_often(self._choice.preset.name, initial, catalogue, dispatcher)

    async def choose_why(self, catalogue: Catalogue, dispatcher: Dispatcher) -> None:
        """Show what is measured to know why it is slow, and queue it."""
        from cephtui.suites import WHY

        await self._ask_how_often(WHY, {}, catalogue, dispatcher)

    async def _ask_how_often(
        self, names: str, initial: Mapping[str, str], catalogue: Catalogue, dispatcher: Dispatcher
    ) -> None:
        from cephtui.suites import Suite
        from cephtui.tui.console.how_often import HowOftenScreen
        from cephtui.tui.console.ordered import study_of_suite

        choice, suites = self._choice, _suites(catalogue)
        where = f"{choice.target.spec} from {', '.join(node.name for node in choice.nodes.hosts)}"
        dialog = HowOftenScreen(names, where, initial, partial(choice.ordered, catalogue, suites))
        reading = self._screen.run_worker(self._read_limits(dialog.check))
        entry: Entry | None = await self._show(dialog)
        reading.cancel()
        if entry is not None:
            queued, suite = dispatcher.busy, suites.get(entry.study.saved.suite)
            dispatcher.push([entry])
            if isinstance(suite, Suite):
                left_out = study_of_suite(suite, choice.site)[1]
                self._screen.notify(queued_text(entry, left_out, dispatcher.queue.summary), timeout=15, markup=False)
            elif queued:
                text = f"queued: {entry.name}, {entry.text} ({dispatcher.queue.summary})"
                self._screen.notify(text, markup=False)

    async def _read_limits(self, changed: Callable[[], object]) -> None:
        """What is set for the clients of the target, on which a volume can be judged."""
        choice, target = self._choice, self._choice.target
        limits: Limits | str
        try:
            limits = await asyncio.wrap_future(self._runner.nodes.limits(choice.ceph_node, target))
        except FAULTS as error:
            limits = f"the limits of {target.spec} are not known: {error}"
        choice.take_limits(target, limits)
        changed()

    async def resume(self, directory: Path, state: StudyState, catalogue: Catalogue, dispatcher: Dispatcher) -> None:
        """Queue what is missing of a study, on its own presets, targets and nodes."""
        from cephtui.tui.console.resuming import resumed_entry

        try:
            entry = await resumed_entry(directory, state, catalogue, self._choice, self._show)
        except ValueError as error:
            self._screen.notify(f"{state.saved.id}: {error}", severity="error", markup=False)
            return
        dispatcher.push([entry])
        self._screen.notify(f"resumed: {state.saved.id}, {entry.name}: {entry.text}", markup=False)

    async def choose_runtime(self) -> None:
        """Ask for the runtime of all presets."""
        from cephtui.tui.dialogs import EnterText

        choice = self._choice

        def problem(text: str) -> str | None:
            try:
                choice.plan(choice.request(edits=replace(choice.edits, runtime=text.strip() or None)))
            except OptionError as error:
                return str(error) if error.option == COMMON else None
            return None

        dialog = EnterText("Runtime of all presets", choice.edits.runtime or "", problem, hint="such as 60 or 5m")
        text = await self._show(dialog)
        if text is not None:
            choice.edits = replace(choice.edits, runtime=text.strip() or None)
            self._changed()

    async def choose_target(self) -> None:
        """Open the picker of targets, and survey the one that was chosen."""
        from cephtui.tui.pickers.targets import TargetPicker

        node = self._choice.ceph_node
        discover = partial(self._runner.nodes.discover, node)
        picker = TargetPicker(self._choice.target.spec, self._start.target.spec, discover, node.name)
        text = await self._show(picker)
        if text is not None:
            self._choice.choose_target(text)
            self._changed()
            self._survey_later()

    async def choose_nodes(self, catalogue: Catalogue) -> None:
        """Open the picker of nodes, which shows what each has and lacks, and connect to those that were chosen."""
        from cephtui.targets.discovery import known_nodes
        from cephtui.tui.pickers.nodes import NodePicker

        config, book = self._start.config, self._choice.nodes
        chosen = tuple(node.name for node in book.hosts)
        tool = self._choice.preset.tool.name

        async def details(names: Sequence[str]) -> RenderableType:
            from cephtui.tui.console.hardware import drawn_hardware

            presets = presets_by_tool(catalogue)
            return await drawn_hardware(names, book.states, self._runner.nodes, tool, presets)

        names = await self._show(NodePicker(config, known_nodes(config), chosen, book.reports(tool), details))
        if names is None or names == chosen:
            return
        try:
            self._choice.choose_nodes(names)
        except ConfigError as error:
            self._screen.notify(str(error), severity="error", markup=False)
            return
        self._changed()
        self.connect_later()

    def connect_later(self) -> None:
        """Connect to the chosen nodes, then survey the target, in the background."""
        self._screen.run_worker(self._connect_and_survey(), exclusive=True, group="connect")

    async def _connect_and_survey(self) -> None:
        await self._connected(self._choice.nodes.hosts)
        if self._start.looks_around and not self._choice.around.text:
            await self._look_around()
        self._survey_later()

    async def _look_around(self) -> None:
        with contextlib.suppress(TransportError):  # then there is nothing to offer
            surroundings = await asyncio.wrap_future(self._runner.nodes.surroundings(self._choice.ceph_node))
            self._choice.around = around_of(surroundings)
            self._changed()

    async def _connected(self, nodes: Sequence[Node]) -> bool:
        """Whether all can be used, after connecting to those that were not ready; reports what is missing."""
        book = self._choice.nodes
        waiting = [node for node in nodes if not book.is_ready(node)]
        async for state in Launcher(self._runner, Dialogs(self._show)).connect(waiting):
            # what is missing for other presets is in the list of nodes
            for problem in book.take(state, self._choice.preset.tool.name):
                self._screen.notify(problem, severity="error", timeout=15, markup=False)
            self.show_nodes()
        return all(map(book.is_ready, nodes))

    def show_nodes(self) -> None:
        """Update the nodes and their states in the status bar."""
        choice = self._choice
        running = self._screen.query_one(LiveView).current
        states = node_states(choice.nodes.hosts, choice.nodes.states, choice.preset.tool.name, running)
        self._screen.query_one(StatusBar).nodes = states

    def connect_again(self, lost: Collection[str]) -> None:
        """Connect to nodes that a run has lost: they are not ready before they have answered."""
        self._choice.nodes.lose(lost)
        self.show_nodes()
        self.connect_later()

    def _survey_later(self) -> None:
        """Survey in the background: it takes a moment, and the preview need not wait for it."""
        self._screen.run_worker(self._survey(), exclusive=True, group="survey")

    async def _survey(self) -> None:
        with contextlib.suppress(NotRun, *FAULTS):
            launcher = Launcher(self._runner, Dialogs(self._show))
            self._choice.take_survey(await launcher.survey(self._choice.request(), patient=False))
            self._changed()

    async def _show(self, dialog: ModalScreen[Any]) -> Any:
        return await self._screen.app.push_screen_wait(dialog)

    # ------------------------------------------------------------------ for the dispatcher

    def plans(self, drafts: Sequence[Request]) -> list[Plan]:
        """The plans of drafts, by what is known of their targets and of prefilled data."""
        return self._choice.plans(drafts)

    async def connect(self, request: Request) -> Request:
        """Connect to the nodes of a request; shows their questions as dialogs."""
        book = self._choice.nodes
        if not await self._connected(request.hosts):
            unusable = [node.name for node in request.hosts if not book.is_ready(node)]
            problems = [state.problem for name in unusable if (state := book.states.get(name)) and state.problem]
            raise NotRun(next(iter(problems), "not all nodes can be used (n shows them)"), unusable=unusable)
        nodes = tuple(book.states[node.name].node for node in request.nodes)
        return replace(request, nodes=nodes, versions=book.versions)

    async def is_made(self, question: str) -> bool | None:
        """Ask with two dialogs whether a change is in place: neither answer is what escape gives."""
        from cephtui.tui.dialogs import Confirm

        if await self._show(Confirm(f"{question}\n\nIs the change in place now?", "in place", "no")):
            return True
        again = "Are you sure that the change is not in place? It will be made again."
        return False if await self._show(Confirm(again, "make it again", "leave the check")) else None

    def ask(self, dispatcher: Dispatcher) -> Dialogs:
        """Dialogs for the run that begins; each question is asked once."""
        return Dialogs(self._show, dispatcher)

    def start(self, work: Coroutine[None, None, None]) -> None:
        """Start some work as a worker of the screen."""
        self._screen.run_worker(work)
