"""What runs or will run next, and its exact command or what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Click
from textual.reactive import reactive
from textual.widgets import Static

from cephtui import models, units
from cephtui.presets import choice_text, combinations
from cephtui.reports.drawn.plan import above_cap_text
from cephtui.reports.words.text import conditions, tool_command
from cephtui.targets.scratch import SCRATCH, is_scratch
from cephtui.tools.base import OptionError
from cephtui.tui.console.edits import order_text

if TYPE_CHECKING:
    from cephtui.models import Plan, Run
    from cephtui.planning import Request
    from cephtui.presets import Choice, Preset


def problem_text(error: Exception, preset: Preset) -> str:
    """What keeps a preset from being run, with the next step."""
    if isinstance(error, OptionError) and error.option == "target":
        return f"{preset.tool.title} needs {preset.tool.accepted_targets}: press t and choose one"
    return str(error)


_PADDING, _ROWS_MOST = 2, 3
"""Columns beside what will run, and the rows that it has at most."""


class Settings(Static):
    """What will run, in a line; a click edits it."""

    def on_click(self, event: Click) -> None:
        self.screen.call_later(self.screen.run_action, "choose('options')")


class Preview(Vertical):
    """During a run what runs, and what would run next only where that is something else."""

    DEFAULT_CSS = "Preview { height: auto; }"

    def __init__(self) -> None:
        super().__init__()
        self._begun: Run | None = None
        self._next: tuple[Text, Text] = Text(), Text()
        """What would run next, and its command."""
        self._conditions = ("", "")
        """The conditions of what would run next, and its target."""

    problem = reactive(False)
    """Whether a problem is shown instead of the command."""

    def compose(self) -> ComposeResult:
        yield Settings(id="form")
        yield Static(id="command")

    def show_next(self, request: Request, plan: Plan | None, problem: str) -> None:
        """What would run next, or the problem where there is no plan."""
        differences = _differences(request)
        what = conditions(plan.steps[0]) if plan else ""
        if plan and len(plan.steps) > 1:
            of = f"{differences}: " if differences else ""
            what += f" ({of}{len(plan.steps)} runs, {plan.bound} {units.duration(plan.duration_seconds)})"
        preset, target = request.preset, request.target.spec
        name = "" if preset.file.key else f"{preset.name}: "
        text = Text.assemble(name, (what or differences or preset.file.title, "bold"), ("  on ", "dim"), _where(target))
        fitted = fitted_texts(fitted_to_target(preset, request.overrides, plan)) if plan else []
        text.append(f"  {', '.join([*fitted, *_notes(plan)])}" if plan else "", "italic")
        self._next = text, preview_text(plan) if plan else Text(problem)
        self._conditions = conditions(plan.steps[0]) if plan else "", target
        self.problem = plan is None
        self._draw()

    def show_running(self, run: Run | None) -> None:
        """A run has begun; None where it has ended and nothing else runs."""
        self._begun = run
        self._draw()

    def _draw(self) -> None:
        following, command = self._next
        if self._begun is None:
            self._update(Text.assemble(("next     ", "dim"), following), command)
            return
        run = self._begun
        now = Text.assemble((conditions(run), "bold"), ("  on ", "dim"), _where(run.target))
        same = (conditions(run), run.target) == self._conditions
        shown = Text(f"$ {tool_command(run.command, run.tool)}") if same else following
        label = "" if same else "next     "
        self._update(Text.assemble(("running  ", "dim"), now), Text.assemble((label, "dim"), shown))

    def on_resize(self) -> None:
        self._draw()

    def _update(self, settings: Text, command: Text) -> None:
        """Conditions are wrapped and not cut off: half of them would be those of another run."""
        form = self.query_one("#form", Static)
        rows = len(settings.wrap(self.app.console, max(1, self.size.width - _PADDING))) if self.size.width else 1
        form.styles.height = max(1, min(rows, _ROWS_MOST))
        form.update(settings, layout=False)
        self.query_one("#command", Static).update(command, layout=False)

    def watch_problem(self, problem: bool) -> None:
        self.query_one("#command", Static).set_class(problem, "problem")


def _where(target: str) -> str:
    return SCRATCH if is_scratch(target) else target


def _differences(request: Request) -> str:
    """What differs from the preset, in words."""
    times = [f"{request.repeats} times"] if request.repeats > 1 else []
    order = [f"order {order_text(request.order)}"] if request.order else []
    return ", ".join([*request.option_texts, *times, *order, *request.manner.texts])


def fitted_to_target(preset: Preset, overrides: Mapping[str, Choice], plan: Plan) -> dict[str, str]:
    """What runs, by option, where this kind of target needs another value than was chosen."""
    combined = combinations(preset.tool, {**preset.file.options, **overrides})
    names = [name for name, value in plan.steps[0].options.items() if combined[0].get(name) != value]
    return {name: ",".join(dict.fromkeys(choice_text(step.options[name]) for step in plan.steps)) for name in names}


def fitted_texts(fitted: Mapping[str, str]) -> list[str]:
    """``runs ioengine=rbd iodepth=512``; empty where all is as chosen."""
    return [f"runs {' '.join(f'{name}={text}' for name, text in fitted.items())}"] if fitted else []


def preview_text(plan: Plan) -> Text:
    """The command as it would be typed, and a comment on what else is run."""
    step = plan.steps[0]
    text = Text(f"$ {tool_command(step.nodes[0].command, step.tool)}")
    notes = [*(f"with {companion.command} on {companion.node}" for companion in step.companions), *_notes(plan)]
    return text.append(f"  # {', '.join(notes)}", "italic") if notes else text


def _notes(plan: Plan) -> list[str]:
    """What is run besides the command."""
    step, notes = plan.steps[0], []
    notes += [f"from {step.nodes[0].node} alone"] * bool(plan.idle)
    if step.fill_bytes:
        per_node = " on each node" if len(step.nodes) > 1 else ""
        # how many objects a run reads from a pool is found out while they are written
        amount = (
            "what it will read" if isinstance(step.nodes[0].place, models.RadosPlace) else units.size(step.fill_bytes)
        )
        notes.append(f"prefills {amount}{per_node} first")
    if above := above_cap_text(step, plan.pool_use):
        notes.append(above)
    if plan.drop_caches:
        notes.append("drops caches")
    notes += ["holds scrubs back"] * bool(plan.quiet)
    if len(plan.steps) > 1:
        notes.append(f"then {len(plan.steps) - 1} more")
    return notes
