"""The dialog "how often": the kind of study, what it asks for, and what that costs before anything starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Grid, Vertical, VerticalScroll
from textual.events import DescendantFocus
from textual.widgets import Input, Label, OptionList, Static
from textual.widgets.option_list import Option

from cephtui.models import Plan
from cephtui.planning import alike_steps
from cephtui.presets import PresetError
from cephtui.reports.studies import view_of
from cephtui.running.command import time_limit
from cephtui.studies import KINDS, StudyKind, StudyOption, WrongText
from cephtui.studies.conductor import Commands
from cephtui.studies.queue import Entry
from cephtui.tools.base import OptionError
from cephtui.tui.console.preview import preview_text
from cephtui.tui.dialogs import Dialog
from cephtui.tui.keys import key

_COMMANDS_SHOWN = 6
Make = Callable[[str, str, Mapping[str, Any]], tuple[Entry, list[Plan]]]
"""An entry of presets, a kind of study, and the values of its options, with its plans; raises ValueError."""


class OptionInput(Input):
    """What is typed for an option of a kind of study."""

    def __init__(self, option: StudyOption, text: str) -> None:
        super().__init__(text, compact=True, classes="option", placeholder=option.example)
        self.option = option


class KindList(OptionList, inherit_bindings=False):
    """The kinds of studies; the dialog has their keys."""


class HowOftenScreen(Dialog[Entry | None]):
    """Gives what is to be measured, ready to be queued; escape gives None."""

    BINDINGS = [
        key("enter", "start", "starts", "start, or queue during a run", shown=True, priority=True),
        key("escape", "dismiss", "back", "leave it", shown=True),
        key("tab", "app.focus_next", "next field", "the next field", shown=True),
        key("pagedown", "scroll(1)", "scroll", "scroll the plan", priority=True),
        key("pageup", "scroll(-1)", "scroll up", "scroll the plan back", priority=True),
        key("down", "go(1)", "below", "the kind or the field below", priority=True),
        key("up", "go(-1)", "above", "the kind or the field above", priority=True),
    ]
    DEFAULT_CSS = """
    HowOftenScreen Input { width: 100%; height: 1; border: none; background: $surface-lighten-1; padding: 0; }
    HowOftenScreen Input:focus { border: none; background: $primary; color: $text; }
    HowOftenScreen Input.wrong { text-style: underline bold; }
    HowOftenScreen OptionList { height: auto; border: none; padding: 0; background: transparent; }
    HowOftenScreen Grid { height: auto; grid-size: 2; grid-columns: 22 1fr; grid-rows: 1; grid-gutter: 0 1; }
    HowOftenScreen Label { color: $foreground 70%; }
    HowOftenScreen #hint { height: 2; color: $foreground 80%; }
    HowOftenScreen #cost { height: auto; max-height: 3; text-style: bold; }
    HowOftenScreen #cost.problem { color: $text-error; }
    HowOftenScreen VerticalScroll { height: 1fr; }
    HowOftenScreen #plan { color: $foreground 70%; }
    """

    def __init__(self, presets: str, where: str, initial: Mapping[str, str], make: Make) -> None:
        """``initial`` are texts by the fields of options, ``where`` is the target with its nodes."""
        super().__init__()
        self._presets, self._where, self._make = presets, where, make
        self._inputs = {
            row.kind: [OptionInput(option, initial.get(option.field, "")) for option in row.fields]
            for row in KINDS.values()
        }

    def compose(self) -> ComposeResult:
        """The kinds, the presets, the fields of the chosen kind, the cost, the plan."""
        with Vertical(classes="dialog") as box:
            box.border_title = Text(f" how often, on {self._where} ")
            yield KindList(*(Option(row.title, id=row.kind) for row in KINDS.values()), compact=True)
            with Grid():
                yield Label("presets or suite")
                yield Input(self._presets, id="presets", compact=True, select_on_focus=False)
            for kind, inputs in self._inputs.items():
                with Grid(id=f"fields-{kind}"):
                    for field in inputs:
                        yield Label(field.option.title)
                        yield field
            yield Static(id="hint")
            yield Static(id="cost")
            with VerticalScroll(can_focus=False):
                yield Static(id="plan")

    def on_mount(self) -> None:
        self.query_one(KindList).highlighted = 0
        self.query_one(KindList).focus()
        self._choose()

    @property
    def _row(self) -> StudyKind:
        return [*KINDS.values()][self.query_one(KindList).highlighted or 0]

    @on(OptionList.OptionHighlighted)
    def _choose(self) -> None:
        for kind in self._inputs:
            self.query_one(f"#fields-{kind}").display = kind == self._row.kind
        self.check()

    @on(Input.Changed)
    def _typed(self) -> None:
        self.check()

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """What the field is that has the focus."""
        hint = event.widget.option.help if isinstance(event.widget, OptionInput) else ""
        if isinstance(event.widget, Input) and not hint:
            hint = "presets separated by commas, or a suite; e edits the options of a preset"
        self.query_one("#hint", Static).update(Text(hint))

    def check(self) -> Entry | None:
        """Show what it costs and what would be run, or what is wrong; the entry, or None."""
        if not self.is_mounted:
            return None
        row, inputs = self._row, self._inputs[self._row.kind]
        names, entry, problem, wrong = self.query_one("#presets", Input), None, "", None
        try:
            values = row.values({field.option.field: field.value for field in inputs})
            entry, plans = self._make(names.value, row.kind, values)
        except WrongText as error:
            problem, wrong = str(error), error.option
        except (OptionError, PresetError) as error:
            problem = str(error)
        except ValueError as error:
            problem = f"{row.title}: {error}"
        for field in inputs:
            field.set_class(field.option is wrong, "wrong")
        cost = problem or (entry.extent.text if entry else "")
        self.query_one("#cost", Static).update(Text(cost))
        self.query_one("#cost").set_class(bool(problem), "problem")
        self.query_one("#plan", Static).update(Text("\n").join(_lines(entry, plans)) if entry else "")
        return entry

    def action_start(self) -> None:
        """If nothing is wrong; else to what is."""
        if entry := self.check():
            self.dismiss(entry)
            return
        for wrong in self.query("Input.wrong"):
            self.set_focus(wrong)

    def action_go(self, rows: int) -> None:
        """Within the kinds, or from field to field."""
        kinds = self.query_one(KindList)
        if self.focused is not kinds:
            self.focus_next() if rows > 0 else self.focus_previous()
        elif rows > 0:
            kinds.action_cursor_down()
        else:
            kinds.action_cursor_up()

    def action_scroll(self, pages: int) -> None:
        """The plan, which may be longer than the room for it."""
        plan = self.query_one(VerticalScroll)
        plan.scroll_relative(y=pages * plan.size.height, animate=False)


def commands_of(row: StudyKind, values: Mapping[str, Any]) -> Commands:
    """Those that are typed for a kind of study."""
    return Commands(**{option.field: values.get(option.field) for option in row.fields if option.is_command})


def _lines(entry: Entry, plans: Iterable[Plan]) -> list[Text]:
    """Every command, and what else there may be to run."""
    plans = list(plans)
    commands = {"change": entry.commands.change, "undo": entry.commands.undo} if entry.commands else {}
    command_lines = [f"{name}, {time_limit()}: {command}" for name, command in commands.items() if command]
    view = view_of(entry.study)
    detail = view.detail(entry.study)
    planned = [Text(line) for line in ([detail] if detail else view.planned(entry.study, plans))]
    steps = (part for plan in plans for part in _by_step(plan, is_sketch=view.plans_are_sketch))
    shown = {text.plain: text for text in map(preview_text, steps)}
    more = len(shown) - _COMMANDS_SHOWN
    rest = [Text(f"and {more} more commands")] if more > 0 else []
    return [*map(Text, command_lines), *[*shown.values()][:_COMMANDS_SHOWN], *rest, *planned]


def _by_step(plan: Plan, *, is_sketch: bool) -> Iterator[Plan]:
    """Each step of a plan with its repeats; of a sketch without them: what is measured decides how many there are."""
    for steps in alike_steps([plan]):
        yield plan.model_copy(update={"steps": tuple(steps[:1] if is_sketch else steps)})
