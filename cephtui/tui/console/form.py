"""The form of a preset, made from its tool's allow-list: what is typed here is what ``--set`` takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Grid, Horizontal, Vertical, VerticalScroll
from textual.events import DescendantFocus
from textual.widget import Widget
from textual.widgets import Input, Label, Static

from cephtui import units
from cephtui.models import Plan, RadosPlace
from cephtui.models.base import REPEATS_MOST, Quiet
from cephtui.models.manner import Manner
from cephtui.planning import Order
from cephtui.presets import Preset, choice_text
from cephtui.tools.base import YES_OR_NO, OptionError, OptionField
from cephtui.tui.console.edits import COMMON, Edits, order_text
from cephtui.tui.console.preview import fitted_texts, fitted_to_target, preview_text, problem_text
from cephtui.tui.dialogs import Dialog
from cephtui.tui.keys import key

REPEATS = OptionField("repeats", f"1 to {REPEATS_MOST}", "1", "number of repeats", "repeats")
ORDERS: Mapping[str, Order | None] = {"": None, "abab": "abab", "abba": "abba"}
_ORDER_ABOUT = "for several values A and B: A B B A reverses every second repeat, against drift"
ORDER = OptionField("order", "A B A B or A B B A", "A B A B", _ORDER_ABOUT, "order")
_CACHES_ABOUT = "of the nodes and of all OSDs, before each run: slows all their clients"
DROP_CACHES = OptionField("drop-caches", YES_OR_NO, "no", _CACHES_ABOUT, "drop caches")
_QUIET_ABOUT = "set noscrub and nodeep-scrub until the end; all: also balancer and PG autoscaler off"
QUIET = OptionField("quiet-cluster", "yes, all or no", "no", _QUIET_ABOUT, "quiet cluster")
_DROPS: Mapping[str, bool] = {"": False, "no": False, "yes": True}
_QUIETS: Mapping[str, Quiet] = {"": "", "no": "", "yes": "scrubs", "all": "all"}
_QUIET_WORDS: Mapping[Quiet, str] = {quiet: word for word, quiet in _QUIETS.items()}
UNSET = "not set"
COLUMNS = 2
Direction = Literal["up", "down", "left", "right"]
_STEPS = {"up": -1, "down": 1}
T = TypeVar("T")


class Field(Input):
    """The value of an option; bold where it differs from the preset's."""

    def __init__(self, option: OptionField, value: str, preset: str) -> None:
        super().__init__(value, id=option.name, compact=True, classes="field", placeholder=preset or option.default)
        self.option, self.preset_text = option, preset
        self.runs = ""
        """What runs instead, where the target needs another value."""
        self.label = Label(self.name_text, classes="field-label")

    @property
    def name_text(self) -> Text:
        """Plain words, with the tool's own name behind them."""
        name, title = self.option.name, self.option.title
        return Text(title if title == name.replace("-", " ") else f"{title} ({name})" if title else name)

    @property
    def differs(self) -> bool:
        """Whether it changes the preset."""
        return self.value.strip() not in ("", self.preset_text)

    @property
    def hint(self) -> str:
        """What is allowed, and what the option does."""
        option = self.option
        parts = [f"{option.name}: {option.allowed}", option.about]
        if option.name == COMMON:
            parts.append("for all presets")
        elif option not in (REPEATS, ORDER, QUIET) and option.allowed != YES_OR_NO:
            parts.append(f"{'1,4,16' if option.allowed[0].isdigit() else 'a,b,c'}: one run per value")
        parts.append(self.runs and f"this target runs {self.runs}")
        return "; ".join(filter(None, parts))

    def fits(self, words: Sequence[str]) -> bool:
        """Whether all these words, in small letters, are in its name or in what it is about."""
        shown = f"{self.name_text} {self.option.about}".lower()
        return all(word in shown for word in words)

    def mark(self, wrong: str | None, plan: Plan | None, fitted: Mapping[str, str]) -> None:
        """Show whether it is wrong or changed, what an empty one really uses, and what is ``fitted`` to the target."""
        self.runs = fitted.get(self.option.name, "")
        self.label.update(Text.assemble(self.name_text, (f", runs {self.runs}" * bool(self.runs), "italic")))
        self.set_class(self.option.name == wrong, "wrong")
        self.set_class(self.differs, "changed")
        self.label.set_class(self.differs, "changed")
        if not self.preset_text and not self.option.default:
            self.placeholder = (plan and _in_command(plan, self.option.name)) or UNSET


class Tick(Field):
    """An option that is on or off."""

    BINDINGS = [key("space", "tick", "yes/no", "yes, or no", priority=True)]

    def action_tick(self) -> None:
        self.value = "no" if (self.value or self.placeholder) == "yes" else "yes"


def fields_of(preset: Preset, edits: Edits) -> list[Field]:
    """The options that are changed most, the repeats, their order and the manner, then all others."""
    changes, options = edits.of(preset), preset.file.options
    fields = []
    for option in preset.tool.fields():
        text = choice_text(options.get(option.name))
        kind = Tick if option.allowed == YES_OR_NO else Field
        fields.append(kind(option, changes.get(option.name, text), text))
    main = [field for field in fields if field.option.title]
    repeated = [Field(REPEATS, str(edits.repeats), "1"), Field(ORDER, order_text(edits.order), "")]
    repeated.append(Tick(DROP_CACHES, "yes" if edits.manner.drop_caches else "no", "no"))
    repeated.append(Tick(QUIET, _QUIET_WORDS[edits.manner.quiet], "no"))
    return [*main, *repeated, *(field for field in fields if not field.option.title)]


def parse_repeats(text: str) -> int:
    """Raises OptionError."""
    repeats = text.strip() or "1"
    if not repeats.isdecimal() or not 1 <= int(repeats) <= REPEATS_MOST:
        raise OptionError(REPEATS.name, f"expected {REPEATS.allowed}, got {repeats!r}")
    return int(repeats)


def _choice(option: OptionField, choices: Mapping[str, T], text: str) -> T:
    """Raises OptionError."""
    word = "".join(text.lower().split())
    if word not in choices:
        raise OptionError(option.name, f"expected {option.allowed}, got {text!r}")
    return choices[word]


def _in_command(plan: Plan, option: str) -> str:
    """The value of an option that a command has by default, such as the size of the target."""
    start = f"--{option}="
    words = (word for word in plan.steps[0].nodes[0].argv if word.startswith(start))
    return next((word.removeprefix(start) for word in words), "")


def in_rows(fields: Sequence[T]) -> list[list[T]]:
    """The fields as they stand below each other."""
    return [list(fields[at : at + COLUMNS]) for at in range(0, len(fields), COLUMNS)]


def neighbour(rows: Sequence[Sequence[T]], here: T, direction: Direction) -> T:
    """The field that an arrow key points to; behind the last row comes the first, and a shorter row has its last."""
    row = next(number for number, fields in enumerate(rows) if here in fields)
    column = rows[row].index(here)
    if direction in _STEPS:
        row = (row + _STEPS[direction]) % len(rows)
        return rows[row][min(column, len(rows[row]) - 1)]
    to = column + (1 if direction == "right" else -1)
    return rows[row][to] if 0 <= to < len(rows[row]) else here


_CHOSEN_ELSEWHERE = ("", "target", "node")
"""What an error may name that no field here can mend; what is typed is kept all the same."""


def cost_text(plan: Plan) -> str:
    """What the plan costs: ``6 runs, about 6:30 min, writes 12.0 GiB first``."""
    number, seconds = len(plan.steps), units.duration(plan.duration_seconds)
    parts = [f"{number} run{'s' if number > 1 else ''}", f"{plan.bound} {seconds}"]
    nodes = [node for step in plan.steps for node in step.nodes if node.fill]
    if any(isinstance(node.place, RadosPlace) for node in nodes):
        parts.append("first writes what it will read")  # how much is found out while it is written
    elif nodes:
        parts.append(f"writes {units.size(sum(part.bytes for node in nodes for part in node.fill))} first")
    return ", ".join(parts)


class FormScreen(Dialog[Edits | None]):
    """Every option of a preset; enter keeps what was typed, escape discards it."""

    BINDINGS = [
        key("enter", "found", "goes to it", "go to the option found", shown=True, priority=True),
        key("enter", "keep", "keeps", "keep what was typed", shown=True, priority=True),
        key("escape", "unfilter", "all options", "show all options again", shown=True),
        key("escape", "dismiss", "cancels", "discard the changes", shown=True),
        key("f2", "how_often", "how often", "keep it, and choose how often to run", priority=True),
        key("ctrl+r", "reset", "resets", "all fields as in the preset", shown=True),
        key("slash", "filter", "filter", "find an option", shown=True, priority=True),
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
        main = next(number for number, field in enumerate(self._fields, 1) if field.option is QUIET)
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
                yield Label("more", id="more-count")
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
            order=_choice(ORDER, ORDERS, texts.pop(ORDER.name)),
            manner=Manner(
                _choice(DROP_CACHES, _DROPS, texts.pop(DROP_CACHES.name)),
                _choice(QUIET, _QUIETS, texts.pop(QUIET.name)),
            ),
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
        fitted = fitted_to_target(self._preset, edits.overrides(self._preset), plan) if edits and plan else {}
        costs = ", ".join([cost_text(plan), *fitted_texts(fitted)]) if plan else ""
        if edits and edits.order and not edits.order_of(self._preset):
            costs += "; order has no effect without repeats of several values"
        self.query_one("#summary", Static).update(Text(problem or costs))
        self.query_one("#summary").set_class(bool(problem), "problem")
        self.query_one("#preview", Static).update(preview_text(plan) if plan else "")
        for field in self._fields:
            field.mark(wrong, plan, fitted)
        return edits

    @on(Input.Changed, ".field")
    def _changed(self) -> None:
        self._check()

    @property
    def _words(self) -> list[str]:
        """What is typed in the filter."""
        return self._filter.value.lower().split()

    @on(Input.Changed, "#filter")
    def _narrow(self) -> None:
        words = self._words
        for field in self._others:
            field.display = field.label.display = field.fits(words)
        found = sum(field.fits(words) for field in self._fields)
        self.query_one("#more-count", Label).update(f"{found} of {len(self._fields)}" if words else "more")
        self.refresh_bindings()

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        field = event.widget
        hint = field.hint if isinstance(field, Field) else "type words from the name or the description of an option"
        self.query_one("#hint", Static).update(Text(hint))

    # ------------------------------------------------------------------ keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """An arrow to the side moves within the text first, and a filter is left before the form."""
        focused = self.focused
        if action in ("found", "unfilter", "keep", "dismiss"):
            return bool(self._filter.value.strip()) == (action in ("found", "unfilter"))
        if action != "go" or not isinstance(focused, Input):
            return True
        return {"left": focused.cursor_at_start, "right": focused.cursor_at_end}.get(str(parameters[0]), True)

    def action_go(self, direction: Direction) -> None:
        shown: list[Input] = [field for field in self._others if field.display]
        if isinstance(self.focused, Input):
            rows = [*in_rows(self._main), [self._filter], *in_rows(shown)]
            self.set_focus(neighbour(rows, self.focused, direction))

    def action_filter(self) -> None:
        self.set_focus(self._filter)

    def action_found(self) -> None:
        """Go to the field that has the focus among those that were found, else to the first, with all others around.

        Those above the filter are always shown: they come after the others.
        """
        above = [field for field in self._fields if field not in self._others and field.fits(self._words)]
        found = [*(field for field in self._others if field.display), *above]
        if found:
            self._leave_filter(self.focused if self.focused in found else found[0])

    def action_unfilter(self) -> None:
        self._leave_filter(self._filter)

    def _leave_filter(self, to: Widget) -> None:
        with self.prevent(Input.Changed):
            self._filter.value = ""
        self._narrow()
        self.set_focus(to)
        self.call_after_refresh(to.scroll_visible, animate=False)

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
        for field in self._fields:
            field.value = field.preset_text
