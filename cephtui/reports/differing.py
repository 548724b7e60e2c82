"""What sets a run apart from others of its preset, in short."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeAlias

from cephtui.models import OptionValue, Run
from cephtui.presets import Choice, choice_text, combinations
from cephtui.targets import TargetError, parse_target
from cephtui.tools import TOOLS

Usual: TypeAlias = Mapping[str, Collection[OptionValue]]
"""By option the values that it has in the runs of an unchanged preset."""
_SHORT = {"iodepth": "qd{}", "concurrent-ios": "qd{}", "numjobs": "j{}", "runtime": "{}s"}
"""The options that are changed most, as they are written in benchmarks."""


def usual_options(tool: str, options: Mapping[str, Choice], target: str) -> Usual | None:
    """The options of the runs of an unchanged preset; None where it can't run on this target."""
    try:
        kind = parse_target(target).for_tool(TOOLS[tool]).kind
        steps = [TOOLS[tool].bind(each).fit(kind).options for each in combinations(TOOLS[tool], options)]
    except (LookupError, ValueError, OverflowError, TargetError):  # saved by another version, or changed by hand
        return None
    names = dict.fromkeys(name for step in steps for name in step)
    return {name: [step[name] for step in steps if name in step] for name in names}


def what_differs(run: Run, usual: Usual | None, apart: Collection[str] = ()) -> str:
    """What sets a run apart from those of its preset: ``qd1 j15 size=128M 30s``.

    First the options that set it ``apart`` from its own batch, then those that do not have a ``usual`` value; None
    is for a preset that is not known.
    """
    changed = [] if usual is None else [name for name, value in run.options.items() if value not in usual.get(name, ())]
    names = dict.fromkeys([*(name for name in apart if name in run.options), *changed])
    return " ".join(_SHORT.get(name, f"{name}={{}}").format(choice_text(run.options[name])) for name in names)
