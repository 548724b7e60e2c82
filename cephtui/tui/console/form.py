"""The form of a preset, made from its tool's allow-list: what is typed here is what ``--set`` takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Grid, Horizontal, Vertical, VerticalScroll
from textual.events import DescendantFocus
from textual.widgets import Input, Label, Static

from cephtui import units
from cephtui.models import Plan, RadosPlace
from cephtui.presets import Preset
from cephtui.tui.console.edits import Edits
from cephtui.tui.console.fields import (
    DROP_CACHES,
    ORDER,
    REPEATS,
    Direction,
    Field,
    fields_of,
    fitted_to_target,
    in_rows,
    neighbour,
    parse_order,
    parse_repeats,
    parse_yes,
)
from cephtui.tui.console.preview import command_text
from cephtui.tui.console.words import problem_text
from cephtui.tui.dialogs import Dialog
from cephtui.tui.keys import key

_CHOSEN_ELSEWHERE = ("", "target", "node")
"""What an error may name that no field here can mend; what is typed is kept all the same."""


def summary(plan: Plan) -> str:
    """What the plan costs: ``6 runs, about 6:30 min, writes 12.0 GiB first``."""
    number, seconds = len(plan.steps), units.duration(plan.duration_seconds)
    parts = [f"{number} run{'s' if number > 1 else ''}", f"{plan.bound} {seconds}"]
    nodes = [node for step in plan.steps for node in step.nodes if node.fill]
    if any(isinstance(node.place, RadosPlace) for node in nodes):
        parts.append("writes what it will read first")  # how much is found out while it is written
    elif nodes:
        parts.append(f"writes {units.size(sum(part.bytes for node in nodes for part in node.fill))} first")
    return ", ".join(parts)


class FormScreen(Dialog[Edits | None]):
    """Every option of a preset; enter keeps what was typed, escape discards it."""

    BINDINGS = [
        key("enter", "keep", "keeps", "keep what was typed", shown=True, priority=True),
        key("escape", "cancel", "cancels", "leave it as it was", shown=True),
        key("f2", "how_often", "how often", "keep it, and choose how often it is measured", priority=True),
        key("ctrl+r", "reset", "resets", "all fields as in the preset", shown=True),
        key("slash", "filter", "filter", "find one of the other options", shown=True, priority=True),
        # before the box around the fields scrolls with them
        key("up", "go('up')", "above", "the field above", priority=True),
        key("down", "go('down')", "below", "the field below", priority=True),
        key("left", "go('left')", "left", "at the start of a text: the field on the left", priority=True),
        key("right", "go('right')", "right", "at the end of a text: the field on the right", priority=True),
    ]
    DEFAULT_CSS = """
    FormScreen Grid { height: auto; grid-size: 4; grid-columns: 27 1fr 27 1fr; grid-rows: 1; grid-gutter: 0 1; }
    FormScreen.-narrow Grid { grid-columns: 26 1fr 26 1fr; }
    FormScreen .field-label { color: $foreground 70%; }
    FormScreen .field-label.changed { color: $foreground; text-style: bold; }
    FormScreen Input { width: 100%; height: 1; border: none; background: $surface-lighten-1; padding: 0; }
    FormScreen Input:focus { border: none; background: $primary; color: $text; }
    FormScreen Input.changed { text-style: bold; }
    FormScreen Input.wrong { text-style: underline bold; }
    FormScreen #main { padding-right: 2; }
    FormScreen #summary { height: 2; text-style: bold; }
    FormScreen #summary.problem { color: $text-error; }
    FormScreen #more-head { height: 1; }
    FormScreen #more-head Label { margin-right: 1; }
    FormScreen VerticalScroll { height: 1fr; }
    FormScreen #hint { height: 2; color: $foreground 80%; }
    FormScreen #preview { height: 5; color: $foreground 60%; }
    FormScreen.-short #preview { height: 3; }
    """

    def __init__(self, preset: Preset, edits: Edits, plan: Callable[[Edits], Plan]) -> None:
        """``plan`` gives what would run; or raises OptionError or ValueError."""
        super().__init__()
        self._preset, self._edits, self._plan = preset, edits, plan
        self.is_left_for_how_often = False
        """Whether it is chosen next how often it is measured."""
        self._fields = fields_of(preset, edits)
        main = next(number for number, field in enumerate(self._fields, 1) if field.option is DROP_CACHES)
        self._main: list[Input] = [*self._fields[:main]]
        self._others = self._fields[main:]
        self._filter = Input(id="filter", compact=True, placeholder="type to filter (/)")

    def compose(self) -> ComposeResult:
        """The options that are changed most, what it costs or what is wrong, all others, and the command."""
        with Vertical(classes="dialog") as box:
            box.border_title = Text(f" {self._preset.file.title}: {self._preset.file.tool} options ")
            with Grid(id="main"):
                yield from self._cells(self._fields[: len(self._main)])
            yield Static(id="summary")
            with Horizontal(id="more-head"):
                yield Label("more")
                yield self._filter
            with VerticalScroll(can_focus=False), Grid(id="more"):
                yield from self._cells(self._others)
            yield Static(id="hint")
            yield Static(id="preview")

    @staticmethod
    def _cells(fields: list[Field]) -> ComposeResult:
        for field in fields:
            yield field.label
            yield field

    def on_mount(self) -> None:
        self._check()
        self._fields[0].focus()

    # ------------------------------------------------------------------ what is typed

    def _typed(self) -> Edits:
        """Raises OptionError."""
        texts = {field.option.name: field.value for field in self._fields}
        edits = replace(
            self._edits,
            repeats=parse_repeats(texts.pop(REPEATS.name)),
            order=parse_order(texts.pop(ORDER.name)),
            drop_caches=parse_yes(texts.pop(DROP_CACHES.name)),
        )
        return edits.edited(self._preset, texts)

    def _check(self) -> Edits | None:
        """Show the command and what it costs, or what is wrong and where."""
        edits, plan, wrong, problem = None, None, None, ""
        try:
            edits = self._typed()
            plan = self._plan(edits)
        except ValueError as error:
            wrong, problem = str(getattr(error, "option", "")), problem_text(error, self._preset)
        if wrong is not None and wrong not in _CHOSEN_ELSEWHERE:
            edits = None
        costs = summary(plan) if plan else ""
        if edits and edits.order and not edits.order_of(self._preset):
            costs += "; order has no effect without repeats of several values"
        self.query_one("#summary", Static).update(Text(problem or costs))
        self.query_one("#summary").set_class(bool(problem), "problem")
        self.query_one("#preview", Static).update(command_text(plan) if plan else "")
        fitted = fitted_to_target(self._preset, edits, plan) if edits and plan else {}
        for field in self._fields:
            field.mark(wrong, plan, fitted)
        return edits

    @on(Input.Changed, ".field")
    def _changed(self) -> None:
        self._check()

    @on(Input.Changed, "#filter")
    def _narrow(self) -> None:
        words = self._filter.value.lower().split()
        for field in self._others:
            field.display = field.label.display = field.fits(words)

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """What is allowed in the field that has the focus."""
        field = event.widget
        hint = field.hint if isinstance(field, Field) else "options whose names or descriptions have these words"
        self.query_one("#hint", Static).update(Text(hint))

    # ------------------------------------------------------------------ keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """An arrow to the side moves within the text first."""
        focused = self.focused
        if action != "go" or not isinstance(focused, Input):
            return True
        return {"left": focused.cursor_at_start, "right": focused.cursor_at_end}.get(str(parameters[0]), True)

    def action_go(self, direction: Direction) -> None:
        """To the field that the key points to."""
        shown: list[Input] = [field for field in self._others if field.display]
        if isinstance(self.focused, Input):
            rows = [*in_rows(self._main), [self._filter], *in_rows(shown)]
            self.set_focus(neighbour(rows, self.focused, direction))

    def action_filter(self) -> None:
        self.set_focus(self._filter)

    def action_keep(self) -> None:
        """Keep what was typed, if it can be run; else go to what is wrong."""
        edits = self._check()
        if edits is not None:
            self.dismiss(edits)
            return
        self.is_left_for_how_often = False
        for wrong in self.query("Field.wrong"):
            wrong.display = True
            self.set_focus(wrong)

    def action_how_often(self) -> None:
        """Keep what was typed, if it can be run, and go to the dialog of that."""
        self.is_left_for_how_often = True
        self.action_keep()

    def action_reset(self) -> None:
        """All fields as in the preset."""
        for field in self._fields:
            field.value = field.preset_text

    def action_cancel(self) -> None:
        self.dismiss(None)
