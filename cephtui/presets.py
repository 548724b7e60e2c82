"""Presets: TOML files found, validated and expanded. Data only; nothing in them can run a command."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from cephtui.frozen import dataclass
from cephtui.models import Line, OptionValue
from cephtui.models.metrics import COMMIT, HEADLINES, HeadlineName, Metric
from cephtui.printable import either, printable, suggestion
from cephtui.reading import excerpt, load_toml
from cephtui.tools import DEFAULT_TOOL, TOOLS
from cephtui.tools.base import OptionError, option_text

if TYPE_CHECKING:
    from cephtui.models import Kind, Run
    from cephtui.models.preset_rows import PresetRow
    from cephtui.tools.tool import Tool

STEPS_MOST = 200
"""The greatest number of steps in a sweep: more are taken for a mistake."""

_SIX = range(1, 7)
"""The keys of the six packaged presets."""

Choice: TypeAlias = OptionValue | list[OptionValue]
F = TypeVar("F", bound=BaseModel)


class PresetError(ValueError):
    """A preset or a suite can't be used; the text names file, key and what was expected."""


class SeveralValuesError(OptionError):
    """A preset with several values where one is measured; the text names the first option that has several."""

    def __init__(self, preset: str, several: Mapping[str, Sequence[OptionValue]]) -> None:
        option, values = next(iter(several.items()))
        listed = ", ".join(map(option_text, values))
        super().__init__(option, f"{preset} has several values ({listed}), but a check measures one")
        self.choice = [f"{name}={option_text(choices[0])}" for name, choices in several.items()]
        """A value for each option that has several, as it is typed: ``rw=randread``."""


def _known_tool(name: str) -> str:
    if name not in TOOLS:
        tools = either([f"'{tool}'" for tool in TOOLS])
        raise ValueError(f"expected {tools}")
    return name


class PresetFile(BaseModel):
    """The content of a preset's file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    title: Line
    short: Line = ""
    """The title where there is little room; empty where the title is short."""
    description: Line = ""
    tool: Annotated[str, AfterValidator(_known_tool)] = DEFAULT_TOOL
    key: Annotated[int, Field(ge=1, le=9)] | None = None
    """The key that runs it in the console."""
    group: Line = ""
    """The heading under which it is listed: ``sweeps``."""
    headline: HeadlineName = "iops"
    """The figure that the preset is about; latency where each write is flushed, unless another is given."""
    options: dict[str, Choice]
    """The tool's options in its own spelling; a list is a sweep, one step for each value."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A valid preset, and the file that it came from."""

    name: str
    path: Path
    user: bool
    file: PresetFile
    instead_of: int | None = None
    """The key of the packaged preset that it replaces by having the same name."""

    @property
    def tool(self) -> Tool:
        """The tool that runs it."""
        return TOOLS[self.file.tool]


Usual: TypeAlias = Mapping[str, Collection[OptionValue]]
"""The values of each option in the runs of an unchanged preset."""
Catalogue: TypeAlias = dict[str, Preset | PresetError]
"""Every preset by name; a broken file has its error instead."""


def expand(options: Mapping[str, Choice]) -> Iterator[dict[str, OptionValue]]:
    """Every combination of the values, the last list varying fastest."""
    lists = [value if isinstance(value, list) else [value] for value in options.values()]
    for values in itertools.product(*lists):
        yield dict(zip(options, values, strict=True))


def combinations(tool: Tool, options: Mapping[str, Choice]) -> list[dict[str, OptionValue]]:
    """Every step's options, checked; raises OptionError."""
    number = 1
    for option, value in options.items():
        if isinstance(value, list):
            number *= len(value)
            if not value:
                raise OptionError(option, "expected at least one value")
    if number > STEPS_MOST:
        raise OptionError("sweep", f"{number} steps are too many, expected at most {STEPS_MOST}")
    return [tool.check_options(chosen) for chosen in expand(options)]


def check_one_value(preset: Preset, overrides: Mapping[str, Choice]) -> None:
    """Raises SeveralValuesError where an option has several values, by the preset itself or by what was chosen."""
    options = {**preset.file.options, **preset.tool.canonical(overrides)}
    several = {name: value for name, value in options.items() if isinstance(value, list) and len(value) > 1}
    if several:
        raise SeveralValuesError(preset.name, several)


def usual_options(tool: Tool, options: Mapping[str, Choice], kind: Kind) -> Usual:
    """The values of options in a preset's runs on this kind of target; raises OptionError for what is not allowed."""
    usual: dict[str, set[OptionValue]] = {}
    for chosen in combinations(tool, options):
        workload = tool.bind(chosen)
        with suppress(OptionError):  # only with what was edited it may be for this kind of target
            workload = workload.fit(kind)
        for name, value in workload.options.items():
            usual.setdefault(name, set()).add(value)
    return usual


def read_file(path: Path, model: type[F], *, is_valid: bool = False) -> F:
    """The content of a TOML file, which is checked unless it is known to be valid; raises PresetError."""
    try:
        content = load_toml(path)
        return model.model_construct(**content) if is_valid else model.model_validate(content)
    except OSError as error:
        raise PresetError(f"{path}: {error.strerror}") from None
    except ValidationError as error:
        raise PresetError(f"{path}: {_explain(error, model)}") from None
    except ValueError as error:
        raise PresetError(f"{path}: not valid TOML: {error}") from None


def _explain(error: ValidationError, model: type[BaseModel]) -> str:
    """The first error in a file: its key, what is wrong with it, and what was expected."""
    first = error.errors()[0]
    location = first["loc"]
    in_options = "options" in location[:-1]
    if in_options:  # what follows the option's name are the types that its value could have
        location = location[: location.index("options") + 2]
    key = ".".join(f"{part + 1}" if isinstance(part, int) else f"{part:.200}" for part in location)
    if first["type"] == "extra_forbidden":
        return f"{key}: unknown key, expected one of {', '.join(_model_at(model, location).model_fields)}"
    if first["type"] == "missing":
        return f"{key}: missing"
    if in_options:
        return f"{key}: expected text, a number, true, false, or a list of these, got {excerpt(first['input'])}"
    problem = first["msg"].removeprefix("Value error, ").replace("Input should be", "expected")
    return f"{key}: {problem}, got {excerpt(first['input'])}"


def _model_at(model: type[BaseModel], location: Sequence[int | str]) -> type[BaseModel]:
    """The model in which a key is looked up, where models contain lists of others."""
    for part in location[:-1]:
        inner = get_args(model.model_fields[part].annotation) if part in model.model_fields else ()
        model = next((candidate for candidate in inner if issubclass(candidate, BaseModel)), model)
    return model


def load_preset(path: Path, *, user: bool) -> Preset:
    """The preset in a file; raises PresetError.

    One that is not the ``user``'s is valid, and its options are as its tool wants them, which tests see to: the console
    begins without the schema of presets, and without the tools of those that nobody has chosen.
    """
    file = read_file(path, PresetFile, is_valid=not user)
    return Preset(printable(path.stem), path, user, _checked(path, file) if user else file)


def _checked(path: Path, file: PresetFile) -> PresetFile:
    """The content with the options and the headline that its tool has; raises PresetError."""
    try:
        file = file.model_copy(update={"options": TOOLS[file.tool].canonical(file.options)})
        steps = combinations(TOOLS[file.tool], file.options)
    except OptionError as error:
        raise PresetError(f"{path}: options.{error}") from None
    if "headline" not in file.model_fields_set and all(TOOLS[file.tool].bind(step).load().commits for step in steps):
        file = file.model_copy(update={"headline": "latency"})
    if problem := _wrong_headline(file):
        raise PresetError(f"{path}: {problem}")
    return file


def _wrong_headline(file: PresetFile) -> str | None:
    """Why the tool can't have such a headline, or None."""
    tool = TOOLS[file.tool]
    names = [headline.name for headline in HEADLINES if headline.metric in tool.metrics]
    if file.headline in names:
        return None
    return f"headline: {tool.title} has no {file.headline}, expected one of {', '.join(names)}"


def find_presets(packaged: Path, users: Path) -> Catalogue:
    """The packaged presets and the user's own, which win where the names or the keys are the same."""
    catalogue: Catalogue = {}
    for folder, user in ((packaged, False), (users, True)):
        for path in sorted(folder.glob("*.toml")):
            name = printable(path.stem)
            packaged_preset = catalogue.get(name)
            key = packaged_preset.file.key if isinstance(packaged_preset, Preset) else None
            try:
                catalogue[name] = replace(load_preset(path, user=user), instead_of=key)
            except PresetError as error:
                catalogue[name] = error
    return {
        name: _with_key(entry, catalogue) if isinstance(entry, Preset) else entry for name, entry in catalogue.items()
    }


def _with_key(preset: Preset, catalogue: Catalogue) -> Preset:
    """The preset; without its key where another has that: the user's own, or of the same kind the first by name."""
    if preset.file.key is None:
        return preset
    rivals = [rival for rival in catalogue.values() if isinstance(rival, Preset) and rival.file.key == preset.file.key]
    if min(rivals, key=lambda rival: (not rival.user, rival.name)) is preset:
        return preset
    return replace(preset, file=preset.file.model_copy(update={"key": None}))


def choose(catalogue: Catalogue, names: Sequence[str]) -> tuple[Preset, ...]:
    """The presets of these names; raises PresetError for one that is unknown or broken."""
    chosen = []
    for name in names:
        entry = catalogue.get(name)
        if entry is None:
            raise unknown_preset(name, catalogue)
        if isinstance(entry, PresetError):
            raise entry
        chosen.append(entry)
    return tuple(chosen)


def presets_by_tool(catalogue: Catalogue) -> dict[str, list[str]]:
    """The names of the presets of each tool, in their order."""
    by_tool: dict[str, list[str]] = {}
    for name, preset in catalogue.items():
        if isinstance(preset, Preset):
            by_tool.setdefault(preset.tool.name, []).append(name)
    return by_tool


def unknown_preset(name: str, names: Iterable[str]) -> PresetError:
    """The error for a name that is not among these names."""
    return PresetError(f"unknown preset {name!r}: {suggestion(name, names) or 'cephtui presets lists them'}")


def headline_metric(catalogue: Catalogue, run: Run) -> Metric:
    """The figure that a run is about: the headline of its preset, if that is known and measured, else the first."""
    headline_name = _wanted_headline(catalogue, run)
    metrics = sorted(HEADLINES, key=lambda headline: headline.name != headline_name)
    flows = run.summary.flows.values()
    measured = (headline.metric for headline in metrics if any(headline.metric.of(flow) is not None for flow in flows))
    return next(measured, metrics[0].metric)


def _wanted_headline(catalogue: Catalogue, run: Run) -> HeadlineName | None:
    """The headline of the preset; IOPS where flushes were not timed, as in runs of an earlier cephtui."""
    preset, has_commits = catalogue.get(run.preset), COMMIT in run.summary.flows
    if not isinstance(preset, Preset):
        return "latency" if has_commits else None
    is_flushed = preset.file.headline == "latency" and not has_commits and _commits(run)
    return "iops" if is_flushed else preset.file.headline


def _commits(run: Run) -> bool:
    """Whether each write was flushed; a saved run may have any options."""
    with suppress(LookupError, ValueError):
        return TOOLS[run.tool].bind(dict(run.options)).load().commits
    return False


def preset_rows(catalogue: Catalogue) -> list[PresetRow]:
    """The catalogue as a listing: presets with a key first, then group by group."""
    listing = [_row(name, entry) for name, entry in catalogue.items()]
    places = {preset.name: place for place, preset in enumerate(by_key(catalogue))}
    return sorted(listing, key=lambda row: (places.get(row.preset, len(places)), row.group, row.preset))


def _row(name: str, entry: Preset | PresetError) -> PresetRow:
    from cephtui.models.preset_rows import PresetRow

    if isinstance(entry, PresetError):
        return PresetRow(preset=name, error=str(entry))
    return PresetRow(
        preset=name,
        title=entry.file.title,
        description=entry.file.description,
        tool=entry.file.tool,
        key=entry.file.key,
        group=entry.file.group,
        user=entry.user,
        path=str(entry.path),
        options=entry.file.options,
    )


def options_by_preset(catalogue: Catalogue) -> dict[str, Mapping[str, Choice]]:
    """The options of each usable preset, by its name."""
    return {name: entry.file.options for name, entry in catalogue.items() if isinstance(entry, Preset)}


def by_key(catalogue: Catalogue) -> list[Preset]:
    """The usable presets that have a key in the console, in the order of the keys."""
    with_key = [preset for preset in catalogue.values() if isinstance(preset, Preset) and preset.file.key]
    return sorted(with_key, key=lambda preset: (preset.file.key or 0, preset.name))


def usable_presets(catalogue: Catalogue) -> list[Preset]:
    """All presets that can be run, those with a key first."""
    with_key = by_key(catalogue)
    return [*with_key, *(entry for entry in catalogue.values() if isinstance(entry, Preset) and entry not in with_key)]


def the_six(catalogue: Catalogue) -> list[Preset]:
    """The presets of the six keys in their order: packaged, or the user's own that have the key or the name."""
    six: dict[int, Preset] = {}
    presets = [preset for preset in catalogue.values() if isinstance(preset, Preset)]
    for preset in sorted(presets, key=lambda preset: preset.file.key not in _SIX):  # a key counts before a name
        place = preset.file.key if preset.file.key in _SIX else preset.instead_of
        if place:
            six.setdefault(place, preset)
    return [six[place] for place in _SIX if place in six]


def parse_overrides(texts: Iterable[str]) -> dict[str, Choice]:
    """The options in ``OPTION=VALUE`` and ``OPTION=A,B,C`` (a sweep); raises OptionError."""
    overrides: dict[str, Choice] = {}
    for text in texts:
        option, equals, value = text.partition("=")
        if not equals or not option or not value:
            raise OptionError(text, "expected OPTION=VALUE, such as runtime=30")
        overrides[option.strip()] = parse_choice(value)
    return overrides


def parse_choice(text: str) -> Choice:
    """A value from its text, or several with commas (a sweep)."""
    values: list[OptionValue] = [part.strip() for part in text.split(",")]
    return values if len(values) > 1 else values[0]


def choice_text(value: Choice | None) -> str:
    """A value, or several, as they are typed; empty for none."""
    if isinstance(value, list):
        return ",".join(map(choice_text, value))
    return "" if value is None else option_text(value)
