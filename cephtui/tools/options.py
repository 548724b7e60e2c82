"""What the allow-lists of the tools' options have in common: types of values, and refusals in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from cephtui.models import OptionValue
from cephtui.printable import suggestion
from cephtui.reading import excerpt
from cephtui.tools.base import OptionError, OptionField, option_text
from cephtui.units import parse_duration, parse_size

Refused = Sequence[tuple[str, str]]
"""Patterns of options that a tool has and a preset may not set, and why."""


def _above_zero(value: str) -> str:
    if parse_size(value) == 0:
        raise ValueError("expected a size above 0")
    if parse_size(value) >= 1 << 63:
        raise ValueError("expected a smaller size")
    return value.strip()


def _number(value: object, check: ValidatorFunctionWrapHandler) -> object:
    """Python takes true for 1, a tool's option does not; and a tool counts in 64 bits."""
    if isinstance(value, bool):
        raise ValueError("expected a number, not true or false")
    found = check(value)
    if found >= 1 << 63:
        raise ValueError("expected a smaller number")
    return found


NUMBER = WrapValidator(_number)
"""Of the options that are numbers, behind their bounds."""


def _text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def seconds(value: object) -> object:
    """The seconds of ``5m``; what is no text stays as it is."""
    return parse_duration(value) if isinstance(value, str) else value


def fields(model: type[BaseModel], about: Mapping[str, str], titles: Mapping[str, str]) -> tuple[OptionField, ...]:
    """Every option of a model, in its order, those that are ``about`` something first."""
    found = [
        OptionField(name, _allowed(each), _default_text(each.get("default")), about.get(name, ""), titles.get(name, ""))
        for name, each in _schema(model).items()
    ]
    order = {name: number for number, name in enumerate(about)}
    return tuple(sorted(found, key=lambda option: order.get(option.name, len(order))))


def _default_text(value: OptionValue | None) -> str:
    return "" if value is None else option_text(value)


def _schema(model: type[BaseModel]) -> Mapping[str, Any]:
    """The JSON schema of each option, by its own name."""
    properties: Mapping[str, Any] = model.model_json_schema(by_alias=True)["properties"]
    return properties


def _allowed(schema: Mapping[str, Any]) -> str:
    """A JSON schema of one value in words."""
    choices = [each for each in schema.get("anyOf", [schema]) if each.get("type") != "null"]
    only: Mapping[str, Any] = choices[0]
    if "enum" in only:
        return "one of " + ", ".join(map(str, only["enum"]))
    if only.get("description"):
        return str(only["description"])
    if only.get("type") == "boolean":
        return "true or false"
    if "minimum" in only:
        most = only.get("maximum")
        return f"{only['minimum']:g} to {most}" if most else f"{only['minimum']:g} or more"
    return "text"


Size = Annotated[
    str, BeforeValidator(_text), AfterValidator(_above_zero), Field(description="a size such as 4k, 64k, 1M, 2G")
]

Runtime = Annotated[
    float,
    BeforeValidator(seconds),
    Field(ge=1, le=7 * 86400, description="seconds from 1, or a time such as 5m, 1h; at most 7 days"),
    NUMBER,
]
WholeRuntime = Annotated[
    int,
    BeforeValidator(seconds),
    Field(ge=1, le=7 * 86400, description="whole seconds from 1, or a time such as 5m; at most 7 days"),
    NUMBER,
]
"""Of tools that refuse a fraction of a second."""


def explain(
    error: ValidationError,
    model: type[BaseModel],
    *,
    aliases: Iterable[str] = (),
    refused: Refused,
    needless: Refused = (),
    verbs: str,
) -> OptionError:
    """The first thing that is wrong, in words; ``verbs`` are the values of the one option that has no default."""
    first, schema = error.errors()[0], _schema(model)
    option = f"{first['loc'][0]:.200}"
    if first["type"] == "extra_forbidden":
        return OptionError(option, _unknown(option, [*schema, *aliases], refused, needless))
    if first["type"] == "missing":
        return OptionError(option, f"missing, expected one of: {verbs}")
    problem = first["msg"].removeprefix("Value error, ").partition(", got ")[0]
    if first["type"] != "value_error":
        problem = f"expected {_allowed(schema[option])}"
    return OptionError(option, f"{problem}, got {excerpt(first['input'])}")


def reason(option: str, *, refused: Refused, needless: Refused = ()) -> str | None:
    """Why a preset may not set an option that the tool has, or need not; None for one that is not listed."""
    for word, patterns in (("not allowed", refused), ("not needed", needless)):
        for pattern, why in patterns:
            if re.fullmatch(pattern, option):
                return f"{word}: {why}"
    return None


def _unknown(option: str, names: Sequence[str], refused: Refused, needless: Refused) -> str:
    if listed := reason(option, refused=refused, needless=needless):
        return listed
    near = suggestion(option, names)
    return f"unknown option, {near}" if near else f"unknown option (known: {', '.join(names)})"
