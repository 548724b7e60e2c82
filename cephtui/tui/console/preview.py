"""What will run next and its exact command; during a run, that run's command."""

from __future__ import annotations

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Click
from textual.reactive import reactive
from textual.widgets import Static

from cephtui import units
from cephtui.models import Plan, RadosPlace, Run
from cephtui.reports.text import conditions, tool_command
from cephtui.running.queue import Entry


class Settings(Static):
    """What will run, in a line; a click edits it."""

    def on_click(self, event: Click) -> None:
        self.screen.call_later(self.screen.run_action, "choose('options')")


class Preview(Vertical):
    """A line of settings, and the command below it."""

    DEFAULT_CSS = "Preview { height: auto; }"
    settings: reactive[Text] = reactive(Text)
    command: reactive[Text] = reactive(Text)
    problem = reactive(False)
    """Whether a problem is shown instead of the command."""

    def compose(self) -> ComposeResult:
        yield Settings(id="form")
        yield Static(id="command")

    def show_next(self, entry: Entry, plan: Plan | None, problem: str, *, running: bool) -> None:
        """What would run next, or the problem where there is no plan; during a run, its command stays."""
        what = conditions(plan.steps[0]) if plan else ""
        if plan and len(plan.steps) > 1:
            what += f" ({entry.text}: {len(plan.steps)} runs, about {units.duration(plan.duration_seconds)})"
        self.settings = _settings(entry, what, next_one=running)
        if not running:
            self.problem, self.command = plan is None, commands(plan) if plan else Text(problem)

    def show_running(self, run: Run) -> None:
        self.problem, self.command = False, Text(f"$ {tool_command(run.command, run.tool)}")

    def watch_settings(self, settings: Text) -> None:
        self.query_one("#form", Static).update(settings)

    def watch_command(self, command: Text) -> None:
        self.query_one("#command", Static).update(command)

    def watch_problem(self, problem: bool) -> None:
        self.query_one("#command", Static).set_class(problem, "problem")


def _settings(entry: Entry, conditions: str, *, next_one: bool) -> Text:
    """What will run, in a line; ``next_one`` during a run."""
    panel = "" if entry.request.preset.file.key else f"{entry.request.preset.name}: "
    head = ("next: ", "dim") if next_one else ""
    return Text.assemble(head, panel, (conditions or entry.text, "bold"), ("  on ", "dim"), entry.target)


def commands(plan: Plan) -> Text:
    """The command as it would be typed, and a comment on what else is run."""
    step = plan.steps[0]
    text = Text(f"$ {tool_command(step.nodes[0].command, step.tool)}")
    notes = []
    if step.fill_bytes:
        each = " on each node" if len(step.nodes) > 1 else ""
        # how many objects a run reads from a pool is found out while they are written
        amount = "what it will read" if isinstance(step.nodes[0].place, RadosPlace) else units.size(step.fill_bytes)
        notes.append(f"prefills {amount}{each} first")
    if len(plan.steps) > 1:
        notes.append(f"then {len(plan.steps) - 1} more")
    if notes:
        text.append(f"  # {', '.join(notes)}", "italic")
    return text
