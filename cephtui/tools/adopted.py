"""Presets made of a tool's own job files: their options, and what is not taken of them and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cephtui.frozen import dataclass
from cephtui.models import OptionValue


@dataclass(frozen=True, slots=True)
class Adopted:
    """A section of a job file, or several that became one, as the options of a preset."""

    name: str
    tool: str
    options: Mapping[str, OptionValue | list[OptionValue]]
    left_out: tuple[tuple[str, str], ...] = ()
    """Each option as it was given, and why it is not taken."""
    notes: tuple[str, ...] = ()
    """Differences between what cephtui measures and what the tool would."""
    target: str = ""
    """The target as it would be typed; empty where none is named."""
    at_once: tuple[str, ...] = ()
    """Several targets, where the tool would use them at the same time."""
    waits: bool = False
    """Whether it begins when the one before it has ended."""


def is_in_order(sections: Sequence[Adopted]) -> bool | None:
    """Whether the tool runs them one after the other, or all together (False); None where some wait and some do not."""
    waiting = {section.waits for section in sections[1:]}
    return waiting.pop() if len(waiting) == 1 else None


def differing_options(sections: Sequence[Adopted]) -> list[str]:
    """The options in which sections are not alike."""
    names = dict.fromkeys(name for section in sections for name in section.options)
    return [name for name in names if len({repr(section.options.get(name)) for section in sections}) > 1]


def presets_in_order(sections: Sequence[Adopted], name: str) -> list[Adopted]:
    """Presets for sections that run one after the other: a sweep where they differ in one option only."""
    varied = differing_options(sections)
    same_target = len({section.target for section in sections}) == 1
    if len(sections) < 2 or len(varied) != 1 or not same_target or any(varied[0] not in s.options for s in sections):
        return list(sections)
    values = [value for s in sections if not isinstance(value := s.options[varied[0]], list)]
    return [joined_sections(sections, name, {**sections[0].options, varied[0]: values})]


def joined_sections(
    sections: Sequence[Adopted], name: str, options: Mapping[str, OptionValue | list[OptionValue]]
) -> Adopted:
    """One section made of several, with these options."""
    return replace(
        sections[0],
        name=name,
        options=options,
        left_out=tuple(dict.fromkeys(option for section in sections for option in section.left_out)),
        notes=tuple(dict.fromkeys(note for section in sections for note in section.notes)),
    )
