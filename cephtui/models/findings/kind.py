"""What a finding is, and the kinds of findings: each a row with all that is known of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from string import Formatter
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from pydantic import Field, computed_field

from cephtui import units
from cephtui.frozen import dataclass
from cephtui.models.base import Elapsed, Line, Model, Name, OptionValue
from cephtui.printable import listed

Level: TypeAlias = Literal["note", "limits", "invalidates"]
"""A ``note`` marks nothing, what ``limits`` puts figures in doubt, and what ``invalidates`` excludes the run."""
Topic: TypeAlias = Literal["measurement", "data", "client", "cluster", "record"]
"""What a finding is about: how it was measured, what was read or written, node and tool, the cluster, what is saved."""
TOPICS: Mapping[Topic, str] = {
    "measurement": "the measurement",
    "data": "what was read and written",
    "client": "node and tool",
    "cluster": "the cluster",
    "record": "what is saved",
}
Value: TypeAlias = OptionValue | tuple[Line, ...]
Values: TypeAlias = Mapping[str, Any]
LATENCIES = (
    "latency_mean_seconds",
    *(f"latency_{part}_seconds" for part in ("p50", "p90", "p95", "p99", "p995", "p999", "p9995", "p9999", "max")),
)
"""The figures of latency, by their fields in a Total."""


_NAMED_MOST = 12
"""So many names stand in a sentence: those of a host's OSDs."""
_ROWS: dict[str, FindingKind] = {}
KINDS: Mapping[str, FindingKind] = MappingProxyType(_ROWS)
"""The table of findings, by code; the package enters its rows."""


class Finding(Model):
    """An observation about a run: its kind, its values, and the same in words."""

    code: Name
    """The code of its kind."""
    text: Line
    values: dict[Name, Value] = Field(default_factory=dict, exclude_if=lambda values: not values)
    """The observed values, in base units; an earlier cephtui has left them out."""
    label: Line | None = None
    """Two or three words for the time line: ``osd.2 down``."""
    from_seconds: Elapsed | None = None
    """When it began, elapsed since the release of the benchmark; null where it has no time."""
    to_seconds: Elapsed | None = None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def level(self) -> Level:
        """What it means for the run, by the table of this version of cephtui and not of the one that measured."""
        return finding_kind(self.code).level

    @computed_field  # type: ignore[prop-decorator]
    @property
    def cure(self) -> Line:
        """What to do about it; where its cause is known, about that."""
        kind, cause = finding_kind(self.code), finding_kind(str(self.values.get("cause_code", "")))
        if cause.cure:
            return cause.cure
        return kind.cured(self.values) if kind.cured else kind.cure


@dataclass(frozen=True, slots=True)
class FindingKind:
    """A row of the table of findings: all that is known of a code, for every run that has it."""

    code: str
    level: Level
    topic: Topic
    title: str
    """Two or three words, for lists and the time line."""
    words: Callable[[Values], str]
    """Makes the sentence of a finding from its values."""
    why: str
    """Why the finding matters for the figures."""
    cure: str
    """What to do, whatever was observed."""
    figures: tuple[str, ...] | None = None
    """The figures that it limits, by their fields in a Total; ``seconds`` are the sums by second. None is all."""
    flow: str = ""
    """The only flow whose figures it limits, ``read``; empty for all."""
    label: Callable[[Values], str] | None = None
    """Makes the label for the time line, where the title does not name the thing that is meant."""
    source: str = ""
    """The documentation that says so; empty where there is none."""
    cured: Callable[[Values], str] | None = None
    """Makes the cure from the values, where it differs from ``cure``."""
    slows: bool = False
    """Whether figures can only be worse for it: one that is good enough nevertheless is good enough."""
    summed: Callable[[Sequence[Values]], str] | None = None
    """Makes words for findings of several runs from their values; empty where these do not say enough."""
    one_of_all: bool = False
    """Whether nodes of a run have the same finding with figures that differ a little: then one of them is kept."""

    def found(self, span: tuple[float, float] | None = None, /, **values: Value | None) -> Finding:
        """A finding of this kind; ``span`` is its start and end, elapsed. A value that is None is not known."""
        stated = {name: value for name, value in values.items() if value is not None}
        begin, end = (round(span[0], 3), round(span[1], 3)) if span else (None, None)
        timed = {**stated, "from_seconds": begin, "to_seconds": end} if span else stated
        label = (self.label(timed) if self.label else self.title) if span else None
        return Finding(
            code=self.code, text=self.words(timed), values=stated, label=label, from_seconds=begin, to_seconds=end
        )

    def limits(self, figure: str, flow: str | None = None) -> bool:
        """Whether it makes a figure doubtful, a field of a Total; without a ``flow``, the figure of any flow."""
        is_of_flow = not (self.flow and flow) or flow == self.flow
        return self.level != "note" and is_of_flow and (self.figures is None or figure in self.figures)


class _Words(Formatter):
    """A formatter of templates: ``{rate:bandwidth}`` is a value as the function of that name in ``units`` writes it."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec == "listed":
            return listed(value)
        as_text: Callable[[Any], str] | None = getattr(units, format_spec, None) if format_spec.isalpha() else None
        return as_text(value) if as_text else str(super().format_field(value, format_spec))


_WORDS = _Words()


def says(template: str) -> Callable[[Values], str]:
    """Makes words with values, ``only {lasted:.1f} s`` or ``{at:clock}``; ``clock`` is a function of ``units``."""
    return lambda values: _WORDS.vformat(template, (), values)


def worded(template: str, values: Values) -> str:
    """The words of a template with these values."""
    return _WORDS.vformat(template, (), values)


def named(names: tuple[str, ...], one: str, several: str) -> dict[str, Value | None]:
    """Values of a finding that ``names_in`` reads: ``one`` where one thing is meant, else ``several``."""
    return {one: names[0]} if len(names) == 1 else {several: names}


def names_in(values: Values, one: str, several: str) -> tuple[str, ...]:
    """The names of what is meant, by the value ``one``, or by ``several``, a tuple."""
    return tuple(map(str, values[several] if several in values else [values[one]]))


def were_slow(values: Values, one: str, several: str) -> str:
    """``osd.1 was slow``, ``osd.1, osd.4 were slow``, by the values of ``names_in``."""
    names = names_in(values, one, several)
    return f"{listed(names, _NAMED_MOST)} {'was' if len(names) == 1 else 'were'} slow"


def slow_label(one: str, several: str) -> Callable[[Values], str]:
    """``osd.1 slow``, or ``osd.1, osd.4 slow``, by the same values."""
    return lambda values: f"{listed(names_in(values, one, several))} slow"


def joined_words(values: Values) -> str:
    """The words of findings that are joined to one: their subjects and their time; empty for a single one."""
    if "things" not in values:
        return ""
    return worded("{things:listed}: {number} times between {from_seconds:clock} and {to_seconds:clock}", values)


def enter(kinds: Iterable[FindingKind]) -> None:
    """Add rows to the table of findings."""
    _ROWS.update((kind.code, kind) for kind in kinds)


def finding_kind(code: str) -> FindingKind:
    """The kind with this code; a kind that limits all figures for a code of an earlier or a later cephtui."""
    return KINDS.get(code) or FindingKind(code, "limits", "measurement", code, says(code), why="", cure="")


def limiting(codes: Iterable[str], figure: str, flow: str | None = None) -> tuple[str, ...]:
    """The codes that make a figure doubtful, named by its field in a Total; of a ``flow``, or of any."""
    return tuple(code for code in codes if finding_kind(code).limits(figure, flow))
