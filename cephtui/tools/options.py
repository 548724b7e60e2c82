"""What the allow-lists of the tools' options have in common: types of values, and refusals in words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, ValidationError

from cephtui.tools import OptionError
from cephtui.units import parse_duration, parse_size

Refused = Sequence[tuple[str, str]]
"""Patterns of options that a tool has and a preset may not set, and why."""


def _above_zero(value: str) -> str:
    if parse_size(value) == 0:
        raise ValueError("expected a size above 0")
    return value.strip()


def _text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def seconds(value: object) -> object:
    """The seconds of ``5m``; what is no text stays as it is."""
    return parse_duration(value) if isinstance(value, str) else value


Size = Annotated[str, BeforeValidator(_text), AfterValidator(_above_zero)]


def explain(error: ValidationError, *, names: Sequence[str], refused: Refused, verbs: str) -> OptionError:
    """The first thing that is wrong, in words; ``verbs`` are the values of the one option that has no default."""
    first = error.errors()[0]
    option = str(first["loc"][0])
    if first["type"] == "extra_forbidden":
        return OptionError(option, _unknown(option, names, refused))
    if first["type"] == "missing":
        return OptionError(option, f"missing, it says what to do ({verbs})")
    problem = first["msg"].removeprefix("Value error, ").replace("Input should be", "expected")
    return OptionError(option, f"{problem.partition(', got ')[0]}, got {first['input']!r}")


def _unknown(option: str, names: Sequence[str], refused: Refused) -> str:
    for pattern, reason in refused:
        if re.fullmatch(pattern, option):
            return f"not allowed: {reason}"
    near = difflib.get_close_matches(option, names, n=1)
    hint = f", did you mean {near[0]}?" if near else f" (known: {', '.join(names)})"
    return f"unknown option{hint}"
