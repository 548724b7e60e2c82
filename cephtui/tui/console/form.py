"""The form of a preset, made from its tool's allow-list: what is typed here is what ``--set`` takes."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Grid, Vertical, VerticalScroll
from textual.events import DescendantFocus
from textual.widgets import Input, Label, Static

from cephtui.presets import Preset, choice_text
from cephtui.tools.base import OptionError, OptionField
from cephtui.tui.console.edits import COMMON, Edits
from cephtui.tui.dialogs import Dialog
from cephtui.tui.keys import key

_REPEATS = "repeats"
_REPEATS_MOST = 1000
_CHOSEN_ELSEWHERE = ("", "target", "node")
"""What an error may name that no field here can mend; what is typed is kept all the same."""


class FormScreen(Dialog[Edits | None]):
    """Every option of a preset; enter keeps what was typed, escape discards it."""

    BINDINGS = [
        key("enter", "keep", "keeps", "keep what was typed", shown=True, priority=True),
        key("escape", "cancel", "cancels", "leave it as it was", shown=True),
        key("ctrl+r", "reset", "resets", "all fields as in the preset", shown=True),
        # before the box around the fields scrolls with them
        key("up", "app.focus_previous", "previous", "the field before", priority=True),
        key("down", "app.focus_next", "next", "the next field", priority=True),
    ]
    DEFAULT_CSS = """
    FormScreen VerticalScroll { height: auto; max-height: 16; }
    FormScreen Grid { height: auto; grid-size: 4; grid-columns: 27 1fr 27 1fr; grid-rows: 1; grid-gutter: 0 1; }
    FormScreen Grid Label { width: 100%; text-align: right; color: $foreground 70%; }
    FormScreen Input { width: 100%; background: $surface-lighten-1; padding: 0; }
    FormScreen Input:focus { background: $primary; color: $text; }
    FormScreen Input.wrong { text-style: underline bold; }
    FormScreen #hint { height: 2; color: $foreground 80%; margin-top: 1; }
    FormScreen #preview { height: auto; max-height: 6; color: $foreground 60%; margin-top: 1; }
    FormScreen #preview.problem { color: $text-error; }
    """

    def __init__(self, preset: Preset, edits: Edits, preview: Callable[[Edits], Text]) -> None:
        """``preview`` gives the command of what would run; or raises OptionError or ValueError."""
        super().__init__()
        self._preset, self._edits, self._preview = preset, edits, preview
        self._fields = {option.name: option for option in preset.tool.fields()}

    def compose(self) -> ComposeResult:
        """A label and an input for each option, what is allowed in it, and the command."""
        with Vertical(classes="dialog") as box:
            box.border_title = Text(f" {self._preset.file.title}: {self._preset.file.tool} options ")
            with VerticalScroll(can_focus=False), Grid():
                for option in self._fields.values():
                    yield Label(option.name)
                    yield self._input(option)
                yield Label(_REPEATS)
                yield Input(str(self._edits.repeats), id=_REPEATS, compact=True)
            yield Static(id="hint")
            yield Static(id="preview")

    def _input(self, option: OptionField) -> Input:
        own = self._edits.of(self._preset).get(option.name)
        value = choice_text(self._preset.file.options.get(option.name)) if own is None else own
        return Input(value, id=option.name, compact=True, placeholder=option.default or "-")

    def on_mount(self) -> None:
        self._check()
        self.query(Input).first().focus()

    def _typed(self) -> Edits:
        """Raises OptionError."""
        texts = {str(field.id): field.value for field in self.query(Input)}
        repeats = texts.pop(_REPEATS).strip() or "1"
        if not repeats.isdecimal() or not 1 <= int(repeats) <= _REPEATS_MOST:
            raise OptionError(_REPEATS, f"expected 1 to {_REPEATS_MOST}, got {repeats!r}")
        return self._edits.edited(self._preset, texts, int(repeats))

    def _check(self) -> Edits | None:
        """Show the command, or what is wrong and where."""
        wrong, edits = None, None
        preview = self.query_one("#preview", Static)
        try:
            edits = self._typed()
            preview.update(self._preview(edits))
        except ValueError as error:
            preview.update(Text(str(error)))
            wrong = getattr(error, "option", "")
            if wrong not in _CHOSEN_ELSEWHERE:
                edits = None
        preview.set_class(wrong is not None, "problem")
        for each in self.query(Input):
            each.set_class(each.id == wrong, "wrong")
        return edits

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """What is allowed in the field that has the focus."""
        option = self._fields.get(str(event.widget.id))
        text = f"{option.name}: {option.allowed}" if option else f"{_REPEATS}: how often each is run"
        if option and option.about:
            text += f"; {option.about}"
        if option and option.name == COMMON:
            text += "; for all presets"
        elif option and option.allowed != "true or false":
            text += "; 1,4,16 runs once for each" if option.allowed[0].isdigit() else "; several: a,b,c"
        self.query_one("#hint", Static).update(Text(text))

    def on_input_changed(self) -> None:
        self._check()

    def action_keep(self) -> None:
        """Keep what was typed, if it can be run."""
        self.after_typing(self._keep)

    def _keep(self) -> None:
        edits = self._check()
        if edits is not None:
            self.dismiss(edits)

    def action_reset(self) -> None:
        """All fields as in the preset."""
        for each in self.query(Input):
            each.value = "1" if each.id == _REPEATS else choice_text(self._preset.file.options.get(str(each.id)))

    def action_cancel(self) -> None:
        self.dismiss(None)
