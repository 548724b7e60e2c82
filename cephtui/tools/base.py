"""What a benchmark program is to the rest of cephtui: options become argv, output becomes readings.

A tool with its options is a ``Workload``, whose output a ``Parser`` reads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, ClassVar, Literal, Self, TypeVar

from cephtui.frozen import dataclass
from cephtui.models.metrics import DIRECTIONS, flows_of
from cephtui.tools.load import Load, Sizing
from cephtui.units import parse_size

if TYPE_CHECKING:
    from cephtui.models import DiskUse, Finding, Interval, JobResult, JobSample, Kind, Node, OptionValue, Phase, Place
    from cephtui.stats import Flow

Stream = Literal["stdout", "stderr"]
V = TypeVar("V")
YES_OR_NO = "yes or no"
"""What may be typed for an option that is on or off."""


def option_text(value: OptionValue) -> str:
    """The text of an option's value, as it is typed: ``yes``, ``4k``, ``0.5``."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


class OptionError(ValueError):
    """An option or its value is not allowed; ``option`` names it, the text has what was expected."""

    def __init__(self, option: str, problem: str) -> None:
        super().__init__(f"{option}: {problem}")
        self.option = option


@dataclass(frozen=True, slots=True)
class OptionField:
    """One option of an allow-list, for a form."""

    name: str
    allowed: str
    """The values that may be typed, in words: ``1 to 65536``."""
    default: str
    """Empty where the option is left to the tool."""
    about: str
    """The effect of the option, in a few words."""
    title: str = ""
    """Plain words for one of the few that are changed most; empty for the others."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One interval of one process: a Sample that does not yet know its run and node."""

    phase: Phase
    elapsed_seconds: float
    interval_seconds: float
    read: Interval | None
    write: Interval | None
    other: Mapping[str, Interval] = field(default_factory=dict)
    """The flows beside reads and writes, by the tool's name for them."""
    jobs: tuple[JobSample, ...] = ()
    """The samples of jobs that are measured by themselves."""

    @property
    def flows(self) -> dict[str, Interval]:
        """All that was done, by name: ``read``, ``write``, then the others."""
        return flows_of(self.read, self.write, self.other)


def by_direction(flows: Mapping[str, V]) -> tuple[V | None, V | None, dict[str, V]]:
    """The reads, the writes and all others, as a Reading and a ToolResult have them."""
    other = {name: flow for name, flow in flows.items() if name not in DIRECTIONS}
    return flows.get("read"), flows.get("write"), other


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The whole run by a tool's last output."""

    read: Flow | None = None
    write: Flow | None = None
    other: Mapping[str, Flow] = field(default_factory=dict)
    """The flows beside reads and writes, by the tool's name for them."""
    cpu_user_percent: float | None = None
    cpu_system_percent: float | None = None
    context_switches: int | None = None
    depths: Mapping[str, float] = field(default_factory=dict)
    """See NodeResult."""
    disks: tuple[DiskUse, ...] = ()
    jobs: tuple[JobResult, ...] = ()
    error: str | None = None
    """The tool's own error message."""
    failed: bool = False
    """Whether the output says that it has failed, whatever the exit status."""
    findings: tuple[Finding, ...] = field(default=())

    @property
    def flows(self) -> dict[str, Flow]:
        """All that was done, by name: ``read``, ``write``, then the others."""
        return flows_of(self.read, self.write, self.other)


class Parser(ABC):
    """Pure: takes output cut anywhere, gives readings; one object per process."""

    @abstractmethod
    def feed(self, stream: Stream, data: bytes, elapsed_seconds: float) -> list[Reading]:
        """Readings completed by this piece of output, which arrived ``elapsed_seconds`` after the release."""

    def expect_end(self) -> None:  # noqa: B027  # most tools' last words are like all others
        """Take in that the tool was asked to stop: what comes next may be its last words."""

    def is_preparing(self) -> bool:
        """Whether its process prepares its data, or waits then; see ``Workload.prepares_itself``."""
        return False

    def is_prepared(self) -> bool:
        """Whether it waits for the order to measure."""
        return False

    def finish(self) -> list[Reading]:
        """The readings that were held back, once the output has ended."""
        return []

    @abstractmethod
    def result(self) -> ToolResult:
        """The figures of the whole run so far."""


@dataclass(frozen=True, slots=True)
class Companion:
    """A process that a workload talks to, such as the server of a network test.

    It is started before the workload's own processes and ended after the last of them. It may end by itself with
    status 0; any other end before theirs ends them, too.
    """

    name: str
    """Its role in a word: ``server``. Its raw output is that of ``NODE.server``."""
    node: str
    """The name of a node that measures, or of one of the target's own."""
    argv: tuple[str, ...]
    ready: str = ""
    """A text that its output has as soon as it can be talked to; empty where that is so from its start."""
    ships_with_ceph: bool = False
    """Whether it runs behind the node's ``ceph_prefix``."""


@dataclass(frozen=True)
class Workload(ABC):
    """A tool with every option decided: its commands, how long they take, and what they do to the data.

    The options may also be those of a saved run, which was made by another version or changed by hand: a method that
    can't use them raises LookupError or ValueError.
    """

    options: dict[str, OptionValue]
    prepares_itself: ClassVar[bool] = False
    """Whether its process prepares its own data first, and then waits for a line on its stdin.

    All nodes get it at the same time, which is the begin of the benchmark.
    """
    block_option: ClassVar[str] = ""
    """The option that says how many bytes one I/O has; empty where there is none such."""
    uses_span: ClassVar[bool] = False
    """Whether it reads or writes the same part of its target again and again; else that grows with its speed."""

    @abstractmethod
    def argv(self, name: str, size_bytes: int, place: Place) -> tuple[str, ...]:
        """The command that measures, on regions of ``size_bytes`` each; ``name`` is the preset's."""

    def display_command(self, argv: Sequence[str], place: Place) -> tuple[str, ...]:
        """The command as it is shown: another than ``argv`` where that is a program's text that nobody would type."""
        return tuple(argv)

    @abstractmethod
    def parser(self, *, ramp: bool, seconds: float | None) -> Parser:
        """A new parser for the output of one process that runs for so long; None where it ends with its data."""

    def times(self) -> tuple[float, float | None]:
        """Seconds of ramp, and of the run: None where it ends with its data. By default there is no ramp."""
        return 0.0, float(self.options["runtime"])

    @abstractmethod
    def describe(self) -> str:
        """The workload in one line: ``4k randwrite, depth 64, jobs 8, 60 s``."""

    def block_bytes(self) -> int:
        """Bytes of one I/O; 0 where they differ or there are none."""
        return parse_size(str(self.options[self.block_option])) if self.block_option else 0

    @abstractmethod
    def writes(self) -> bool:
        """Whether the command that measures changes data."""

    def object_bytes(self) -> int:
        """Bytes of the largest object that it makes in a pool; 0 where the target decides that."""
        return 0

    def load(self) -> Load:
        """The load on the target: by default one job with one I/O at a time."""
        return Load(self.block_bytes(), "write" if self.writes() else "read", 1, 1, self.times()[1])

    def fit(self, kind: Kind) -> Self:
        """The workload with the options that this kind of target needs."""
        return self

    def for_version(self, text: str) -> Self:
        """The workload for the version on a node, as ``version_argv`` prints it; empty where that is not known yet."""
        return self

    def jobs_and_size(self, default_span_bytes: int) -> tuple[int, int]:
        """How many regions there are and the bytes of each; raises OptionError where they can't be."""
        return 1, default_span_bytes

    def most_seconds(self) -> float | None:
        """Seconds after which a run ends at the latest, the ramp left out; None where only its data ends it."""
        return self.times()[1]

    def prepare_seconds(self) -> float:
        """An estimate of how long a process that ``prepares_itself`` does that."""
        return 0.0

    def needs_data(self, kind: Kind) -> bool:
        """Whether there has to be data before; then ``prefill_argv`` writes it."""
        return False

    def prefill_argv(self, sizes: Sequence[int], place: Place) -> tuple[str, ...]:
        """The command that writes a place in full: so many bytes of each of its images, or of the whole."""
        raise NotImplementedError(f"{type(self).__name__} has no command that prefills a target")

    def prefill_parser(self) -> Parser:
        """A new parser for the output of ``prefill_argv``, and of a sizing's commands."""
        return self.parser(ramp=False, seconds=None)

    def sizing(self, place: Place, most_bytes: int) -> Sizing | None:
        """How to find the size of the prefill, at most so many bytes; None where it is all of them."""
        return None

    def entries(self) -> int:
        """How many sets of figures it prints each second."""
        return 1

    def companions(self, nodes: Sequence[Node], place: Place) -> tuple[Companion, ...]:
        """The processes that have to run as long as it runs on these nodes; ``place`` is that of the first."""
        return ()
