"""Errors of a plan in the words of the console: what to press, not what to type on a command line."""

from __future__ import annotations

from cephtui.presets import Preset
from cephtui.tools.base import OptionError


def problem_text(error: Exception, preset: Preset) -> str:
    """What keeps a preset from being run, with the next step."""
    if isinstance(error, OptionError) and error.option == "target":
        return f"{preset.tool.title} needs {preset.tool.accepted_targets}: press t and choose one"
    return str(error)
