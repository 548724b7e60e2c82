"""Suites: TOML files of steps that are measured in one order. Data only; nothing in them can run a command."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from cephtui.frozen import dataclass
from cephtui.models import Line
from cephtui.models.base import OVERHEAD_SECONDS, REPEATS_MOST, Scheme
from cephtui.presets import (
    Catalogue,
    Choice,
    Preset,
    PresetError,
    choice_text,
    choose,
    combinations,
    read_file,
    unknown_preset,
)
from cephtui.printable import printable
from cephtui.tools.base import OptionError, Workload

if TYPE_CHECKING:
    from cephtui.models.preset_rows import SuiteRow, SuiteStepRow
    from cephtui.tools.tool import Tool

WHY = "why"
"""The packaged suite that shows why a target is slow."""
SUITE_STEPS_MOST = 100
"""More than this many steps in one suite are taken for a mistake."""
SCHEMES: tuple[str, ...] = get_args(Scheme)


def _known_scheme(name: str) -> str:
    if name not in SCHEMES:
        raise ValueError(f"expected {', '.join(SCHEMES)}")
    return name


Repeats: TypeAlias = Annotated[int, Field(ge=1, le=REPEATS_MOST)]
KnownScheme: TypeAlias = Annotated[str, AfterValidator(_known_scheme)]


class StepFile(BaseModel):
    """One of the ``[[steps]]`` in a suite's file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    preset: Line
    title: Line = ""
    options: dict[str, Choice] = {}
    repeats: Repeats | None = None
    each: Literal["node"] | None = None
    targets: list[KnownScheme] = []
    expect: list[Line] = []
    optional: bool = False
    own_data: bool = False


class SuiteFile(BaseModel):
    """The content of a suite's file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    title: Line
    description: Line = ""
    order: Literal["abab", "abba"] | None = None
    repeats: Repeats = 1
    diagnosis: bool = False
    options: dict[str, Choice] = {}
    steps: Annotated[list[StepFile], Field(min_length=1, max_length=SUITE_STEPS_MOST)]


@dataclass(frozen=True, slots=True)
class SuiteStep:
    """A preset as a part of an order, with all that is not decided by target and nodes."""

    preset: Preset
    title: str
    options: Mapping[str, Choice]
    """The options that are not as in the preset."""
    repeats: int = 1
    each_node: bool = False
    """Whether it is run on each node in turn, and not on all at once."""
    schemes: tuple[str, ...] = ()
    """The schemes of its targets; empty for all that its tool can use."""
    expect: tuple[str, ...] = ()
    optional: bool = False
    """Whether it is left out where no target for it is named."""
    own_data: bool = False
    """Whether it is left out where the target is not one that cephtui makes and removes."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A valid suite and where it came from."""

    name: str
    path: Path
    user: bool
    file: SuiteFile
    steps: tuple[SuiteStep, ...]


Suites: TypeAlias = dict[str, Suite | PresetError]
"""Every suite by name; a broken file has its error instead."""


def shared_options(presets: Iterable[Preset], options: Mapping[str, Choice]) -> list[dict[str, Choice]]:
    """The options that are set in each of these presets: those that its tool has.

    An option that none of the tools has is set in all of them: they know why they don't take it.
    """
    tools = [preset.tool for preset in presets]
    names_by_tool = {tool: _options_of(tool, options) for tool in dict.fromkeys(tools)}
    unknown_preset = options.keys() - set().union(*names_by_tool.values())
    return [
        tool.canonical({name: value for name, value in options.items() if name in unknown_preset | names_by_tool[tool]})
        for tool in tools
    ]


def _options_of(tool: Tool, options: Collection[str]) -> set[str]:
    """The options of these that a tool has, under this or another name."""
    names = set(tool.Options.names())
    return {option for option in options if names.issuperset(tool.canonical({option: ""}))}


def load_suite(path: Path, catalogue: Catalogue, *, user: bool) -> Suite:
    """The suite in a file, of the presets in this catalogue; raises PresetError."""
    file = read_file(path, SuiteFile)
    name = printable(path.stem)
    if name in catalogue:
        raise PresetError(f"{path}: a preset is also named {name}: rename one of them")
    try:
        presets = choose(catalogue, [step.preset for step in file.steps])
    except PresetError as error:
        raise PresetError(f"{path}: {error}") from None
    common = shared_options(presets, file.options)
    steps = [_step(path, number, file, preset, options)
             for number, (preset, options) in enumerate(zip(presets, common, strict=True))]  # fmt: skip
    return Suite(name, path, user, file, tuple(steps))


def _step(path: Path, number: int, file: SuiteFile, preset: Preset, common: Mapping[str, Choice]) -> SuiteStep:
    step = file.steps[number]
    try:
        step_options = preset.tool.canonical(step.options)
        options = {**common, **step_options}
        combinations(preset.tool, {**preset.file.options, **options})
    except OptionError as error:
        raise PresetError(f"{path}: steps.{number + 1}.options.{error}") from None
    try:
        _check_expect(step.expect)
    except ValueError as error:
        raise PresetError(f"{path}: steps.{number + 1}.expect: {error}") from None
    return SuiteStep(
        preset,
        step.title or step_title(preset, step_options),
        options,
        step.repeats or file.repeats,
        step.each == "node",
        tuple(step.targets),
        tuple(step.expect),
        step.optional,
        step.own_data,
    )


def _check_expect(texts: Iterable[str]) -> None:
    """Raises ValueError for an expectation that can't be read."""
    for text in texts:
        from cephtui.analysis.verdicts.expectation import parse_expectation

        parse_expectation(text)


def step_title(preset: Preset, options: Mapping[str, Choice]) -> str:
    """``write-iops iodepth 4``: a preset with what is set in it; the values of a sweep are those of its points."""
    sets = ", ".join(f"{name} {choice_text(value)}" for name, value in options.items() if not isinstance(value, list))
    return f"{preset.name} {sets}" if sets else preset.name


def find_suites(packaged: Path, users: Path, catalogue: Catalogue) -> Suites:
    """The packaged suites and the user's own, which win where the names are the same."""
    suites: Suites = {}
    for folder, user in ((packaged, False), (users, True)):
        for path in sorted(folder.glob("*.toml")):
            try:
                suites[printable(path.stem)] = load_suite(path, catalogue, user=user)
            except PresetError as error:
                suites[printable(path.stem)] = error
    return suites


def choose_suite(suites: Suites, catalogue: Catalogue, name: str) -> Suite | None:
    """The suite of this name, None for the name of a preset; raises PresetError for one that is unknown or broken."""
    suite = None if name in catalogue else suites.get(name)
    if isinstance(suite, PresetError):
        raise suite
    if suite is None and name not in catalogue:
        raise unknown_preset(name, [*catalogue, *suites])
    return suite


def suite_rows(suites: Suites) -> list[SuiteRow]:
    """The suites as a listing."""
    return [_row(name, entry) for name, entry in sorted(suites.items())]


def _row(name: str, entry: Suite | PresetError) -> SuiteRow:
    from cephtui.models.preset_rows import SuiteRow

    if isinstance(entry, PresetError):
        return SuiteRow(suite=name, error=str(entry))
    return SuiteRow(
        suite=name,
        title=entry.file.title,
        description=entry.file.description,
        order=entry.file.order,
        user=entry.user,
        path=str(entry.path),
        runs=sum(len(_points(step)) * step.repeats for step in entry.steps),
        duration_seconds=sum(map(_seconds, entry.steps)),
        steps=tuple(map(_step_row, entry.steps)),
    )


def _step_row(step: SuiteStep) -> SuiteStepRow:
    from cephtui.models.preset_rows import SuiteStepRow

    return SuiteStepRow(
        title=step.title,
        preset=step.preset.name,
        options=dict(step.options),
        repeats=step.repeats,
        each="node" if step.each_node else None,
        targets=step.schemes or tuple(scheme for scheme in SCHEMES if scheme in step.preset.tool.kinds),
        expect=step.expect,
        optional=step.optional,
    )


def _points(step: SuiteStep) -> list[Workload]:
    tool = step.preset.tool
    return [tool.bind(options) for options in combinations(tool, {**step.preset.file.options, **step.options})]


def _seconds(step: SuiteStep) -> float:
    """Seconds of all runs of a step on one node, without prefill."""
    return step.repeats * sum(
        ramp + (run or workload.most_seconds() or 0.0) + OVERHEAD_SECONDS
        for workload in _points(step)
        for ramp, run in [workload.times()]
    )
