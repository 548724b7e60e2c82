"""The fields of a form: one for each option, in two columns, with what an empty one uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeVar

from rich.text import Text
from textual.widgets import Input, Label

from cephtui.models import Plan
from cephtui.models.study import REPEATS_MOST
from cephtui.planning import Order
from cephtui.presets import Preset, choice_text, combinations
from cephtui.tools.base import OptionError, OptionField
from cephtui.tui.console.edits import COMMON, Edits
from cephtui.tui.keys import key

REPEATS = OptionField("repeats", f"1 to {REPEATS_MOST}", "1", "number of repeats", "repeats")
ORDERS: Mapping[str, Order | None] = {"": None, "abab": "abab", "abba": "abba"}
ORDER = OptionField(
    "order", "abab, abba or empty", "abab", "abba: every second repeat in reverse, against drift", "order"
)
_CACHES_ABOUT = "before each run, of the nodes and of all OSDs: slows all their clients"
DROP_CACHES = OptionField("drop-caches", "yes or no", "no", _CACHES_ABOUT, "drop-caches")
_YES_OR_NO: Mapping[str, bool] = {"": False, "no": False, "yes": True}
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
        self.label = Label(self.name_text, classes="field-label")

    @property
    def name_text(self) -> Text:
        """Plain words, with the tool's own name behind them."""
        name, title = self.option.name, self.option.title
        return Text(f"{title} ({name})" if title and title != name else name)

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
        elif option not in (REPEATS, ORDER, DROP_CACHES) and option.allowed != "true or false":
            parts.append(f"{'1,4,16' if option.allowed[0].isdigit() else 'a,b,c'}: one run per value")
        return "; ".join(filter(None, parts))

    def fits(self, words: Sequence[str]) -> bool:
        """Whether all these words, in small letters, are in its name or in what it is about."""
        shown = f"{self.name_text} {self.option.about}".lower()
        return all(word in shown for word in words)

    def mark(self, wrong: str | None, plan: Plan | None, fitted: Mapping[str, str]) -> None:
        """Show whether it is wrong or changed, what an empty one really uses, and what is ``fitted`` to the target."""
        runs = fitted.get(self.option.name, "")
        self.label.update(Text.assemble(self.name_text, (f", runs {runs}" * bool(runs), "italic")))
        self.set_class(self.option.name == wrong, "wrong")
        self.set_class(self.differs, "changed")
        self.label.set_class(self.differs, "changed")
        if not self.preset_text and not self.option.default:
            self.placeholder = (plan and _in_command(plan, self.option.name)) or UNSET


class Tick(Field):
    """An option that is either set or not."""

    BINDINGS = [key("space", "tick", "tick", "tick it, or take the tick away", priority=True)]

    def action_tick(self) -> None:
        """Yes, where it was no."""
        self.value = "" if self.value == "yes" else "yes"


def fields_of(preset: Preset, edits: Edits) -> list[Field]:
    """The options that are changed most, the repeats, their order and the caches, then all others."""
    changes, options = edits.of(preset), preset.file.options
    fields = []
    for option in preset.tool.fields():
        text = choice_text(options.get(option.name))
        fields.append(Field(option, changes.get(option.name, text), text))
    main = [field for field in fields if field.option.title]
    repeated = [Field(REPEATS, str(edits.repeats), "1"), Field(ORDER, edits.order or "", "")]
    repeated.append(Tick(DROP_CACHES, "yes" if edits.drop_caches else "", ""))
    return [*main, *repeated, *(field for field in fields if not field.option.title)]


def fitted_to_target(preset: Preset, edits: Edits, plan: Plan) -> dict[str, str]:
    """By option what runs, where this kind of target needs another value than what the form has."""
    combined = combinations(preset.tool, {**preset.file.options, **edits.overrides(preset)})
    names = [name for name, value in plan.steps[0].options.items() if combined[0].get(name) != value]
    return {name: ",".join(dict.fromkeys(choice_text(step.options[name]) for step in plan.steps)) for name in names}


def parse_repeats(text: str) -> int:
    """Raises OptionError."""
    repeats = text.strip() or "1"
    if not repeats.isdecimal() or not 1 <= int(repeats) <= REPEATS_MOST:
        raise OptionError(REPEATS.name, f"expected {REPEATS.allowed}, got {repeats!r}")
    return int(repeats)


def parse_order(text: str) -> Order | None:
    """Raises OptionError."""
    order = text.strip().lower()
    if order not in ORDERS:
        raise OptionError(ORDER.name, f"expected {ORDER.allowed}, got {text!r}")
    return ORDERS[order]


def parse_yes(text: str) -> bool:
    """Raises OptionError."""
    word = text.strip().lower()
    if word not in _YES_OR_NO:
        raise OptionError(DROP_CACHES.name, f"expected {DROP_CACHES.allowed}, got {text!r}")
    return _YES_OR_NO[word]


def _in_command(plan: Plan, option: str) -> str:
    """The value of an option that a command has by default, such as the size of the target."""
    start = f"--{option}="
    words = (word for word in plan.steps[0].nodes[0].argv if word.startswith(start))
    return next((word.removeprefix(start) for word in words), "")


def in_rows(fields: Sequence[T]) -> list[list[T]]:
    """As they stand below each other."""
    return [list(fields[at : at + COLUMNS]) for at in range(0, len(fields), COLUMNS)]


def neighbour(rows: Sequence[Sequence[T]], here: T, direction: Direction) -> T:
    """Where an arrow key points; behind the last row comes the first, and a shorter row has its last."""
    row = next(number for number, fields in enumerate(rows) if here in fields)
    column = rows[row].index(here)
    if direction in _STEPS:
        row = (row + _STEPS[direction]) % len(rows)
        return rows[row][min(column, len(rows[row]) - 1)]
    to = column + (1 if direction == "right" else -1)
    return rows[row][to] if 0 <= to < len(rows[row]) else here
