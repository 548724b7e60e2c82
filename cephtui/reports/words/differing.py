"""What sets a run apart from others of its preset, in short."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from cephtui.analysis.runs.batches import all_options
from cephtui.models import Run
from cephtui.presets import Choice, Usual, choice_text, usual_options
from cephtui.targets import TargetError, parse_target
from cephtui.tools import TOOLS

_SHORT = {"iodepth": "qd{}", "concurrent-ios": "qd{}", "numjobs": "j{}", "runtime": "{}s"}
"""The options that are changed most, as they are written in benchmarks."""


def usual_of(tool: str, options: Mapping[str, Choice], target: str) -> Usual | None:
    """The options of the runs of an unchanged preset; None where it can't run on this target."""
    try:
        return usual_options(TOOLS[tool], options, parse_target(target).for_tool(TOOLS[tool]).kind)
    except (LookupError, ValueError, OverflowError, TargetError):  # saved by another version, or changed by hand
        return None


def what_differs(run: Run, usual: Usual | None, in_batch: Collection[str] = ()) -> str:
    """Options that set a run apart from others of its preset: ``qd1 j15 size=128M 30s``.

    First the options that set it apart ``in_batch``, its own one, then those that do not have a ``usual`` value, or
    that no preset can have; None is for a preset that is not known.
    """
    changed = [] if usual is None else [name for name, value in run.options.items() if value not in usual.get(name, ())]
    options = all_options(run)
    names = dict.fromkeys([*(name for name in in_batch if name in options), *changed, *run.other_options])
    return " ".join(_SHORT.get(name, f"{name}={{}}").format(choice_text(options[name])) for name in names)
