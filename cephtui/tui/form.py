"""What will run, editable: target, block size, depth, jobs and runtime."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Label

from cephtui.presets import Choice, Preset

FIELDS = {"bs": "bs", "iodepth": "depth", "numjobs": "jobs", "runtime": "runtime"}
"""The options that have a field, and its label."""
_COMMON = "runtime"


def as_text(value: Choice | None) -> str:
    """A field's text; a sweep is its values with commas."""
    if isinstance(value, list):
        return ",".join(map(as_text, value))
    return f"{value:g}" if isinstance(value, float) else str(value if value is not None else "")


class RunForm(Horizontal):
    """The fields in one row. What was typed is kept for each preset; target and runtime are common to all."""

    BINDINGS = [
        Binding("tab", "next(1)", "next field"),
        Binding("shift+tab", "next(-1)", "previous field", show=False),
        Binding("escape", "done", "end editing"),
    ]

    class Changed(Message):
        """What will run has changed."""

    class Done(Message):
        """Editing has ended."""

    def __init__(self, target: str) -> None:
        super().__init__(id="form")
        self._target = target
        self._preset: Preset | None = None
        self._typed: dict[tuple[str, str], str] = {}

    def compose(self) -> ComposeResult:
        """A label and an input for each field."""
        yield Label("target")
        yield Input(self._target, id="target", compact=True)
        for option, label in FIELDS.items():
            yield Label(label)
            yield Input(id=option, compact=True)

    def load(self, preset: Preset) -> None:
        """Show a preset's options, as edited before."""
        self._preset = preset
        with self.prevent(Input.Changed):
            for option in FIELDS:
                field, typed = self._input(option), self._typed.get(self._key(option))
                field.placeholder = as_text(preset.file.options.get(option))
                field.value = field.placeholder if typed is None else typed

    def _key(self, option: str) -> tuple[str, str]:
        assert self._preset is not None
        return ("" if option == _COMMON else self._preset.name, option)

    def _input(self, name: str) -> Input:
        return self.query_one(f"#{name}", Input)

    @property
    def target(self) -> str:
        """The target as typed."""
        return self._input("target").value

    @property
    def overrides(self) -> list[str]:
        """What differs from the preset, as ``OPTION=VALUE``; an empty field is as the preset says."""
        assert self._preset is not None
        values = {option: self._input(option).value.strip() for option in FIELDS}
        return [
            f"{option}={value}"
            for option, value in values.items()
            if value and value != as_text(self._preset.file.options.get(option))
        ]

    def action_next(self, by: int) -> None:
        """Go round the fields; a tab too many must not end where digits run presets."""
        fields = list(self.query(Input))
        # a field's own has_focus lags behind keys that come quickly
        at = next((index for index, field in enumerate(fields) if field is self.screen.focused), 0)
        self.screen.set_focus(fields[(at + by) % len(fields)])

    def action_done(self) -> None:
        """End editing."""
        self.post_message(self.Done())

    def edit(self) -> None:
        """Begin to edit."""
        self.screen.set_focus(self._input("bs"))

    def show_error(self, option: str | None) -> None:
        """Mark the field whose value can't be used."""
        for field in self.query(Input):
            field.set_class(field.id == option, "wrong")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Keep what is typed."""
        event.stop()
        if self._preset and event.input.id in FIELDS:
            self._typed[self._key(event.input.id)] = event.value
        self.post_message(self.Changed())

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter ends editing."""
        event.stop()
        self.post_message(self.Done())
