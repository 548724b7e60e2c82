"""Lines of the listing of presets and suites."""

from typing import Literal

from pydantic import Field

from cephtui.models.base import SCHEMA_VERSION, Line, Model, Name, OptionValue


class PresetRow(Model):
    """One line of the listing of presets; ``error`` instead of the rest where its file is broken."""

    event: Literal["preset"] = "preset"
    schema_version: int = SCHEMA_VERSION
    preset: Name
    title: Line = ""
    description: Line = ""
    tool: Name = ""
    key: int | None = None
    """The key that runs it in the console."""
    group: Line = ""
    """The heading under which it is listed."""
    user: bool = False
    """True where the file is the user's own, not the package's."""
    path: Name = ""
    options: dict[Name, OptionValue | list[OptionValue]] = Field(default_factory=dict)
    error: Line | None = None


class SuiteStepRow(Model):
    """One step of a suite, with the options that are not as in its preset."""

    title: Line
    preset: Name
    options: dict[Name, OptionValue | list[OptionValue]]
    repeats: int
    each: Literal["node"] | None
    """``node`` where the step runs on each node in turn; null where it runs on all at once."""
    targets: tuple[Name, ...]
    """The kinds of targets that the step may use, by what their names begin with."""
    expect: tuple[Line, ...]
    optional: bool
    """Whether the step is left out where no target for it is named."""


class SuiteRow(Model):
    """One line of the listing of suites; ``error`` instead of the rest where its file is broken."""

    event: Literal["suite"] = "suite"
    schema_version: int = SCHEMA_VERSION
    suite: Name
    title: Line = ""
    description: Line = ""
    order: Literal["abab", "abba"] | None = None
    user: bool = False
    """True where the file is the user's own, not the package's."""
    path: Name = ""
    runs: int = 0
    """How many runs it has on one node, with one target of each kind."""
    duration_seconds: float = 0.0
    """How long these runs take, without prefill."""
    steps: tuple[SuiteStepRow, ...] = ()
    error: Line | None = None
