"""A run, the user's marks in it, and all events that are published during it."""

from typing import Annotated, Literal, TypeAlias

from pydantic import AwareDatetime, Field, computed_field

from cephtui.frozen import dataclass
from cephtui.models.base import NODES_MOST, SCHEMA_VERSION, Elapsed, Line, Model, Name, NamesOf, OptionValue, Outcome
from cephtui.models.ceilings import Ceiling
from cephtui.models.findings import Finding
from cephtui.models.nodes import ClusterEnvironment, NodeEnvironment
from cephtui.models.plan import Plan
from cephtui.models.promise import Promise
from cephtui.models.results import Commits, NodeResult, OsdResult, Seconds, SlowestOperation, Stages, Summary
from cephtui.models.samples import Sample, StateSample
from cephtui.printable import one_line

Validity: TypeAlias = Literal["VALID", "SUSPECT", "INVALID"]
"""``SUSPECT`` runs count, with findings that limit some of their figures; ``INVALID`` runs do not count."""


class Run(Model):
    """One step carried out on all its nodes. Without ``outcome`` it is in progress, or its console was lost."""

    event: Literal["run"] = "run"
    schema_version: int = SCHEMA_VERSION
    session: Name
    run: int
    batch: Name
    repeat: int = 1
    step: int | None = None
    """The ``number`` of the step in its plan; null where an earlier cephtui has written the run."""
    promise: Promise | None = Field(default=None, exclude_if=lambda promise: promise is None)
    """The figures that were expected when the run began; left out where none were."""
    preset: Name
    tool: Name
    target: Annotated[Name, NamesOf("target")]
    options: dict[Name, OptionValue]
    edited: tuple[Name, ...] = Field(default=(), exclude_if=lambda edited: not edited)
    """The names of options that are not as the preset has them; left out where all are, or where that is not known."""
    asked: dict[Name, OptionValue] = Field(default_factory=dict, exclude_if=lambda options: not options)
    """The values that were asked for of options that have others on this kind of target; left out where none have."""
    other_options: dict[Name, Line] = Field(default_factory=dict, exclude_if=lambda options: not options)
    """Options of an imported run that no preset can have, as they were given; left out where there are none."""
    has_all_options: bool = Field(default=False, exclude_if=lambda has_all: not has_all)
    """Whether ``options`` has all that were given, so that the others have the tool's defaults: for an imported run.
    Left out where that is not known. It is so for a run that cephtui has measured."""
    span_bytes: int = Field(default=0, exclude_if=lambda nbytes: not nbytes)
    """The part of the target that the run could use on each node; left out where that is not known."""
    outcome: Outcome | None = None
    error: Line | None = None
    command: Name
    """The command on the first node; ``nodes`` has that of each."""
    cephtui_version: Line | None = None
    user: Line | None = Field(default=None, exclude_if=lambda user: user is None)
    """The user who has measured it; left out where that is not known."""
    imported_from: Annotated[Line | None, NamesOf("path")] = Field(default=None, exclude_if=lambda file: file is None)
    """The file that the run was read from; left out of a run that cephtui has measured."""
    heading: Line | None = Field(default=None, exclude_if=lambda heading: heading is None)
    """The heading above it in the document that it was imported from; left out where there was none."""
    started_at: AwareDatetime
    is_dated: bool = Field(default=True, exclude_if=lambda is_dated: is_dated)
    """Whether ``started_at`` is when the run began. For an imported log without a date it is when the file was last
    written: the run had ended by then. Left out where true."""
    duration_seconds: Elapsed = 0.0
    """From the start of preparing to the end of the last node."""
    start_spread_seconds: Elapsed | None = None
    """The time between the starts of the first node and of the last; null for a single node."""
    findings: tuple[Finding, ...] = ()
    cluster: ClusterEnvironment | None = None
    environment: Annotated[dict[Name, NodeEnvironment], NamesOf("node")] = Field(
        default_factory=dict, max_length=NODES_MOST
    )
    summary: Summary = Field(default_factory=Summary)
    seconds: Seconds | None = Field(default=None, exclude_if=lambda seconds: seconds is None)
    """The distribution of its seconds; left out where it is not known."""
    nodes: Annotated[tuple[NodeResult, ...], Field(max_length=NODES_MOST)] = ()
    ceilings: tuple[Ceiling, ...] | None = Field(default=None, exclude_if=lambda ceilings: ceilings is None)
    """What would limit it, the nearest first, by what was known when it ended; left out of imported runs, and where an
    earlier cephtui has measured it."""
    osds: dict[Name, OsdResult] = Field(default_factory=dict, exclude_if=lambda osds: not osds)
    """The OSDs of the pool, by their ids; left out where their counters are not known."""
    stages: dict[Literal["read", "write"], Stages] = Field(default_factory=dict, exclude_if=lambda stages: not stages)
    """Where the latency of reads and writes went, by flow; left out where that is not known."""
    commits: Commits | None = Field(default=None, exclude_if=lambda commits: commits is None)
    """What BlueStore's transactions took on the OSDs of the pool; left out where that is not known."""

    slowest: tuple[SlowestOperation, ...] = Field(default=(), exclude_if=lambda slowest: not slowest)
    """The slowest operations, those of the run first; left out where they are not known."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def validity(self) -> Validity | None:
        """Whether the run counts, by its outcome and the levels of its findings; null while it is in progress."""
        if self.outcome is None:
            return None
        levels = {finding.level for finding in self.findings}
        if self.outcome != "ok" or "invalidates" in levels:
            return "INVALID"
        return "SUSPECT" if "limits" in levels else "VALID"


class Mark(Model):
    """What the user did at a moment, in words: a change whose effect is to be seen."""

    event: Literal["mark"] = "mark"
    schema_version: int = SCHEMA_VERSION
    at: AwareDatetime
    run: int | None = None
    """The number of the run in progress; null between two runs."""
    elapsed_seconds: Elapsed | None = None
    """Seconds since the release of the benchmark; null before it."""
    text: Line


class NodeEnded(Model):
    """A node's part in a run of several nodes is over; that of others may continue."""

    event: Literal["node-ended"] = "node-ended"
    schema_version: int = SCHEMA_VERSION
    run: int
    node: Annotated[Name, NamesOf("node")]
    elapsed_seconds: Elapsed | None = None
    """Seconds since the release of the benchmark; null where that node's benchmark never began."""
    outcome: Outcome
    error: Line | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """A message for the user during a run (a stall, a phase); never part of the public stream."""

    run: int
    text: str

    def __post_init__(self) -> None:
        """Make the text safe for a terminal, since it may contain output of nodes."""
        object.__setattr__(self, "text", one_line(self.text))


Event: TypeAlias = Plan | Sample | StateSample | NodeEnded | Run | Mark | Notice
