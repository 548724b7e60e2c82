"""What a benchmark program is to the rest of cephtui: options become argv, output becomes readings."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, TypeVar

from cephtui.models import DiskUse, Finding, Interval, JobResult, Kind, OptionValue, Phase, Place
from cephtui.stats import Flow, join_intervals

__all__ = [
    "Errors",
    "Kind",
    "OptionError",
    "OptionField",
    "Parser",
    "Place",
    "Reading",
    "Sizing",
    "Stream",
    "Tool",
    "ToolResult",
    "join_readings",
    "spoken",
]

_LINE_MOST = 500
Stream = Literal["stdout", "stderr"]
V = TypeVar("V")
_LOG_LINE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S* +[0-9a-f]+ +-?\d+ +", re.ASCII)
_SOURCE = re.compile(r"(?:(?:\w+::)+\w+:|0x[0-9a-f]+|\w+:(?= \w+: )|(?!global_init)\w*_\w+:)\s+", re.ASCII)
"""Where in the source a log line is from: ``librbd::io::ObjectRequest: 0x7f43 handle_write_object:``."""


_HEAD_CHARACTERS, _TAIL_CHARACTERS = 8192, 8192


class Errors:
    """What a tool says on stderr: all of it, or its head and its tail where it does not end."""

    def __init__(self) -> None:
        self._head, self._tail = "", ""

    def add(self, data: bytes) -> None:
        """A piece, cut anywhere."""
        text = data.decode("utf-8", "replace")
        room = _HEAD_CHARACTERS - len(self._head)
        self._head += text[:room]
        self._tail = (self._tail + text[room:])[-_TAIL_CHARACTERS:]

    @property
    def text(self) -> str:
        """Its lines in their order, the longest cut."""
        return "\n".join(line[:_LINE_MOST] for line in f"{self._head}{self._tail}".splitlines())


class OptionError(ValueError):
    """An option or its value is not allowed; ``option`` names it, the text says what was expected."""

    def __init__(self, option: str, problem: str) -> None:
        super().__init__(f"{option}: {problem}")
        self.option = option


@dataclass(frozen=True, slots=True)
class OptionField:
    """One option of an allow-list, for a form."""

    name: str
    allowed: str
    """What may be typed, in words: ``1 to 65536``."""
    default: str
    """Empty where the option is left to the tool."""
    about: str
    """What it does, in a few words."""


def spoken(stderr: str) -> list[str]:
    """What a program said, line by line: first its own words, then its libraries' logs as plain sentences."""
    lines = [line.strip() for line in stderr.replace("\x00", " ").splitlines() if line.strip()]
    logged = [line for line in lines if _LOG_LINE.match(line)]
    return [line for line in lines if line not in logged] + [_plain(line) for line in logged]


def _plain(line: str) -> str:
    """A log line without its time, thread and place in the source."""
    text = _LOG_LINE.sub("", line, count=1)
    while (place := _SOURCE.match(text)) and place.end() < len(text):
        text = text[place.end() :]
    return text


@dataclass(frozen=True, slots=True)
class Reading:
    """One interval of one process: a Sample that does not yet know its run and node."""

    phase: Phase
    elapsed_seconds: float
    interval_seconds: float
    read: Interval | None
    write: Interval | None


def join_readings(first: Reading, second: Reading) -> Reading:
    """One reading of two that follow each other."""
    seconds = first.interval_seconds + second.interval_seconds
    return replace(
        second,
        interval_seconds=seconds,
        read=join_intervals(first.read, second.read, seconds),
        write=join_intervals(first.write, second.write, seconds),
    )


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool's last output says of the whole run."""

    read: Flow | None = None
    write: Flow | None = None
    cpu_user_percent: float | None = None
    cpu_system_percent: float | None = None
    disks: tuple[DiskUse, ...] = ()
    jobs: tuple[JobResult, ...] = ()
    error: str | None = None
    """What the tool itself said went wrong."""
    findings: tuple[Finding, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Sizing:
    """A run ends with its data: a first filling is read for a moment, and its speed tells how much the run needs."""

    first_bytes: int
    most_bytes: int
    """However much a run could read: a pool is not filled with more for one run."""
    unit_bytes: int
    """What is filled is a multiple of it."""
    probe_argv: tuple[str, ...]
    refill_argv: Callable[[int], tuple[str, ...]]
    """The command that fills so many bytes, the first ones included."""
    run_seconds: float


class Parser(Protocol):
    """Pure: takes output cut anywhere, gives readings; one object per process."""

    def feed(self, stream: Stream, data: bytes, elapsed_seconds: float) -> list[Reading]:
        """Readings completed by this piece of output, which arrived ``elapsed_seconds`` after the release."""
        ...

    def expect_end(self) -> None:
        """The tool was told to stop: what comes next may be its last words."""
        ...

    def finish(self) -> list[Reading]:
        """The output has ended: readings that were held back."""
        ...

    def result(self) -> ToolResult:
        """The figures of the last complete output."""
        ...


class Tool(Protocol):
    """One program's knowledge."""

    name: str
    of_ceph: bool
    """Whether it comes with Ceph, and so runs behind a node's ``ceph_prefix``."""

    def canonical(self, options: Mapping[str, V]) -> dict[str, V]:
        """Every option under the one name that is used here; raises OptionError for one that is given twice."""
        ...

    def check_options(self, options: Mapping[str, object]) -> dict[str, OptionValue]:
        """One value per option, normalised; raises OptionError for what is unknown, refused or out of range."""
        ...

    def fields(self) -> tuple[OptionField, ...]:
        """Every option that may be set, for a form."""
        ...

    def check_version(self, text: str | None) -> str | None:
        """Why the installed version can't be used, or None."""
        ...

    def fit(self, options: dict[str, OptionValue], kind: Kind) -> dict[str, OptionValue]:
        """The options as this kind of target needs them; raises OptionError where the tool can't use it."""
        ...

    def jobs_and_size(self, options: Mapping[str, OptionValue], default_span_bytes: int) -> tuple[int, int]:
        """How many regions there are and the bytes of each; raises OptionError where they can't be."""
        ...

    def argv(self, name: str, options: Mapping[str, OptionValue], size_bytes: int, place: Place) -> tuple[str, ...]:
        """The command that measures."""
        ...

    def fill_argv(self, options: Mapping[str, OptionValue], sizes: Sequence[int], place: Place) -> tuple[str, ...]:
        """The command that writes a place in full: so many bytes of each of its images, or of the whole."""
        ...

    def sizing(self, options: Mapping[str, OptionValue], place: Place, most_bytes: int) -> Sizing | None:
        """How to find out how much is to be filled, at most so many bytes; None where all of it is."""
        ...

    def times(self, options: Mapping[str, OptionValue]) -> tuple[float, float | None]:
        """Seconds of ramp, and of the run: None where it ends with its data."""
        ...

    def most_seconds(self, options: Mapping[str, OptionValue]) -> float | None:
        """Seconds after which a run ends at the latest; None where nothing but its data ends it."""
        ...

    def writes(self, options: Mapping[str, OptionValue]) -> bool:
        """Whether the command that measures changes data."""
        ...

    def needs_data(self, options: Mapping[str, OptionValue], kind: Kind) -> bool:
        """Whether there has to be data before."""
        ...

    def describe(self, options: Mapping[str, OptionValue]) -> str:
        """What it does, in one line: ``4k randwrite, depth 64, jobs 8, 60 s``."""
        ...

    def block_bytes(self, options: Mapping[str, OptionValue]) -> int:
        """Bytes of one I/O."""
        ...

    def entries(self, options: Mapping[str, OptionValue]) -> int:
        """How many sets of figures it prints each second."""
        ...

    def parser(self, options: Mapping[str, OptionValue], *, ramp: bool, seconds: float | None) -> Parser:
        """A new parser for the output of one process, which runs for so long; None where it ends with its data."""
        ...
