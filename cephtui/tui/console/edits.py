"""What was typed into the forms of presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from cephtui.frozen import dataclass
from cephtui.models.manner import AS_USUAL, Manner
from cephtui.planning import Order
from cephtui.presets import Choice, Preset, choice_text, parse_choice

COMMON = "runtime"
"""The one option that is kept for all presets of a console session."""


def order_text(order: Order | None) -> str:
    """``A B A B``; empty where none was chosen."""
    return " ".join((order or "").upper())


@dataclass(frozen=True, slots=True)
class Edits:
    """What was typed: for each preset what differs from it, and the runtime and the repeats of all."""

    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Texts by preset and option."""
    runtime: str | None = None
    repeats: int = 1
    order: Order | None = None
    """How the values of a sweep take turns."""
    manner: Manner = AS_USUAL

    def of(self, preset: Preset) -> dict[str, str]:
        """What differs from a preset, by option."""
        changes = dict(self.options.get(preset.name, {}))
        if self.runtime is not None and self.runtime != choice_text(preset.file.options.get(COMMON)):
            changes[COMMON] = self.runtime
        return changes

    def overrides(self, preset: Preset) -> dict[str, Choice]:
        """What differs from a preset, as values by option."""
        return {option: parse_choice(text) for option, text in self.of(preset).items()}

    def order_of(self, preset: Preset) -> Order | None:
        """The order of its runs; None where it has no effect, with one value of each option or one repeat."""
        options = {**preset.file.options, **self.overrides(preset)}
        is_sweep = any(isinstance(value, list) and len(value) > 1 for value in options.values())
        return self.order if is_sweep and self.repeats > 1 else None

    def edited(self, preset: Preset, texts: Mapping[str, str]) -> Edits:
        """The edits with the texts of a form for options; an empty field has the preset's value."""
        values = {option: text.strip() for option, text in texts.items()}
        runtime = values.pop(COMMON, "") or None
        changes = {o: v for o, v in values.items() if v and v != choice_text(preset.file.options.get(o))}
        common = None if runtime == choice_text(preset.file.options.get(COMMON)) else runtime
        return replace(self, options={**self.options, preset.name: changes}, runtime=common)
