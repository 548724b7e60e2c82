"""What the options of the tools have in common: types of values, checks, and refusals in words."""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from cephtui.models import OptionValue
from cephtui.printable import suggestion
from cephtui.reading import excerpt
from cephtui.tools.base import YES_OR_NO, OptionError, OptionField, V, option_text
from cephtui.units import parse_duration, parse_size

RefusedOptions = Sequence[tuple[str, str]]
"""Patterns of options that a tool has and a preset may not set, and why."""
NOT_SET = "not an option that cephtui sets"
"""Why an option that is not ``RefusedOptions`` is in no preset either."""


def size_or_zero(text: str) -> int:
    """The bytes of a size as it was given; 0 for a text that is none."""
    try:
        return parse_size(text) if text else 0
    except ValueError:
        return 0


class ToolOptions(BaseModel):
    """The options of a tool that a preset may set, by the tool's own names; no other can reach a command line.

    A field's ``description`` says what the option does, its ``title`` is for one of the few that are changed most. A
    check of several options is a ``model_validator``, which raises OptionError.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    refused: ClassVar[RefusedOptions] = ()
    needless: ClassVar[RefusedOptions] = ()
    """As ``refused``, of options that a preset need not set."""
    aliases: ClassVar[Mapping[str, str]] = {}
    """The tool's other names of options, each with the one that is used here."""

    @classmethod
    def canonical(cls, options: Mapping[str, V]) -> dict[str, V]:
        """Every option under one name; raises OptionError for one that is given twice."""
        for alias, name in cls.aliases.items():
            if alias in options and name in options:
                raise OptionError(alias, f"is another name of {name}, which is given too")
        return {cls.aliases.get(option, option): value for option, value in options.items()}

    @classmethod
    def check(cls, options: Mapping[str, object]) -> dict[str, OptionValue]:
        """One value per option, normalised; raises OptionError for what is unknown, refused or out of range."""
        try:
            checked = cls.model_validate(cls.canonical(options))
        except ValidationError as error:
            raise cls._explained(error) from None
        return checked.model_dump(exclude_none=True, by_alias=True)

    @classmethod
    def names(cls) -> list[str]:
        """The tool's own names of the options, in the order of the model."""
        return [info.alias or name for name, info in cls.model_fields.items()]

    @classmethod
    def check_each(
        cls, options: Mapping[str, object], needed: Mapping[str, object] = MappingProxyType({})
    ) -> tuple[dict[str, OptionValue], dict[str, object]]:
        """Each value by itself, with those that are needed: the options that a preset can have, and the others."""
        checked: dict[str, OptionValue] = {}
        refused: dict[str, object] = {}
        for name, value in options.items():
            try:
                checked[name] = cls.check({**needed, name: value})[name]
            except OptionError:
                refused[name] = value
        return checked, refused

    @classmethod
    def form_fields(cls) -> tuple[OptionField, ...]:
        """The fields of a form in the order of the model, those with a title first."""
        schemas, infos = cls._schemas(), cls.model_fields.values()
        fields = [
            OptionField(
                name,
                _allowed(schema),
                "" if schema.get("default") is None else option_text(schema["default"]),
                about=info.description or "",
                title=info.title or "",
            )
            for (name, schema), info in zip(schemas.items(), infos, strict=True)
        ]
        return tuple(sorted(fields, key=lambda field: not field.title))

    @classmethod
    def reason_against(cls, option: str) -> str | None:
        """Why a preset may not set an option that the tool has, or need not; None for one that is not listed."""
        for word, patterns in (("not allowed", cls.refused), ("not needed", cls.needless)):
            for pattern, why in patterns:
                if re.fullmatch(pattern, option):
                    return f"{word}: {why}"
        return None

    @classmethod
    def reason_to_leave_out(cls, option: str) -> str:
        """Why an option that was given to the tool is in no preset."""
        return cls.reason_against(option) or NOT_SET

    @classmethod
    def _schemas(cls) -> Mapping[str, Any]:
        """The JSON schema of each option, by its own name."""
        properties: Mapping[str, Any] = cls.model_json_schema(by_alias=True)["properties"]
        return properties

    @classmethod
    def _explained(cls, error: ValidationError) -> OptionError:
        """The first thing that is wrong, in words."""
        first = error.errors()[0]
        cause = first.get("ctx", {}).get("error")
        if isinstance(cause, OptionError):
            return cause
        option, schemas = f"{first['loc'][0]:.200}", cls._schemas()
        if first["type"] == "extra_forbidden":
            return OptionError(option, cls._unknown(option, [*schemas, *cls.aliases]))
        if first["type"] == "missing":
            return OptionError(option, f"missing, expected {_allowed(schemas[option])}")
        problem = first["msg"].removeprefix("Value error, ").partition(", got ")[0]
        if first["type"] != "value_error":
            problem = f"expected {_allowed(schemas[option])}"
        return OptionError(option, f"{problem}, got {excerpt(first['input'])}")

    @classmethod
    def _unknown(cls, option: str, names: Sequence[str]) -> str:
        if reason := cls.reason_against(option):
            return reason
        near = suggestion(option, names)
        return f"unknown option, {near}" if near else f"unknown option (known: {', '.join(names)})"


def worded(allowed: str) -> Any:
    """Part of the type of an option's value: in words what may be typed, where its schema does not say it."""
    return Field(json_schema_extra={"allowed": allowed})


def _allowed(schema: Mapping[str, Any]) -> str:
    """A JSON schema of one value in words."""
    only: Mapping[str, Any] = next(kind for kind in schema.get("anyOf", [schema]) if kind.get("type") != "null")
    if words := schema.get("allowed") or only.get("allowed"):
        return str(words)
    if "enum" in only:
        return "one of " + ", ".join(map(str, only["enum"]))
    if only.get("type") == "boolean":
        return YES_OR_NO
    if "minimum" in only:
        most = only.get("maximum")
        return f"{only['minimum']:g} to {most}" if most else f"{only['minimum']:g} or more"
    return "text"


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
    number = check(value)
    if number >= 1 << 63:
        raise ValueError("expected a smaller number")
    return number


NUMBER = WrapValidator(_number)
"""The validator of options that are numbers, behind their bounds."""


def _text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def seconds(value: object) -> object:
    """The seconds of ``5m``; what is no text stays as it is."""
    return parse_duration(value) if isinstance(value, str) else value


Size = Annotated[str, BeforeValidator(_text), AfterValidator(_above_zero), worded("a size such as 4k, 64k, 1M, 2G")]
Runtime = Annotated[
    float,
    BeforeValidator(seconds),
    Field(ge=1, le=7 * 86400),
    worded("seconds from 1, or a time such as 5m, 1h; at most 7 days"),
    NUMBER,
]
WholeRuntime = Annotated[
    int,
    BeforeValidator(seconds),
    Field(ge=1, le=7 * 86400),
    worded("whole seconds from 1, or a time such as 5m; at most 7 days"),
    NUMBER,
]
"""The runtime of tools that refuse a fraction of a second."""
DayRuntime = Annotated[
    int,
    BeforeValidator(seconds),
    Field(ge=1, le=86400),
    worded("whole seconds from 1, or a time such as 5m; at most 1 day"),
    NUMBER,
]
"""The runtime of tools that also refuse more than a day."""
