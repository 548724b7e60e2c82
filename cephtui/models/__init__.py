"""Every noun of cephtui as plain frozen data; nothing here does I/O.

Quantities are SI base units and the unit is in the name: ``bandwidth_bytes`` is bytes per second,
``latency_mean_seconds`` seconds, ``ios`` a count. The objects with an ``event`` are the public JSON Lines
interface and, unchanged, what a session keeps on disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema

from cephtui.printable import one_line, printable

_T = TypeVar("_T")
SCHEMA_VERSION = 1
"""Major version of every stored and printed object: keys may be added under it, never changed or removed."""

Outcome: TypeAlias = Literal["ok", "failed", "stopped", "lost", "refused"]
Kind: TypeAlias = Literal["file", "device", "rbd", "image", "pool"]
"""``rbd`` is images of cephtui's own in a pool, one for each job; ``image`` is one that exists, for a single job."""
Phase: TypeAlias = Literal["prepare", "ramp", "run"]
FIGURE_MOST = 1e60
"""Above every figure there is; sums, quotients and squares of smaller ones are still finite."""
ELAPSED_MOST_SECONDS = 1e9
"""Some thirty years: longer than any run."""
Line: TypeAlias = Annotated[str, AfterValidator(one_line)]
"""Words for eyes, on one line, whoever wrote them."""
Name: TypeAlias = Annotated[str, AfterValidator(printable)]
"""For eyes too, with all its blanks; what commands are made of is a plain ``str``, and exact."""
NODES_MOST = 10_000
"""Of one run."""
OptionValue: TypeAlias = bool | Annotated[int, Field(gt=-(10**60))] | float | Name
Amount: TypeAlias = Annotated[float, Field(ge=0)]
Elapsed: TypeAlias = Annotated[float, Field(gt=-ELAPSED_MOST_SECONDS, lt=ELAPSED_MOST_SECONDS)]
_BOUNDS: Mapping[str, Mapping[str, Any]] = {
    "int": {"ge": 0, "lt": 10**60},
    "float": {"gt": -FIGURE_MOST, "lt": FIGURE_MOST, "allow_inf_nan": False},
    # far enough from the ends of the calendar for every time zone
    "datetime": {"ge": datetime(1970, 1, 1, tzinfo=UTC), "lt": datetime(3000, 1, 1, tzinfo=UTC)},
}
"""By type what holds for every value of it in a model, where the field does not say otherwise."""


class Model(BaseModel):
    """Metadata: validated when read, unknown keys ignored so that newer minor versions stay readable.

    Whole numbers are counts and not negative; no number is infinite or none; times are of the years 1970 to 2999.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        json_schema_serialization_defaults_required=True,
        defer_build=True,  # most are not used before something is seen
    )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The fields' own schemas, with the bounds of their types."""
        schema = handler(source)
        _set_bounds(schema)
        return schema


def _set_bounds(schema: Any) -> None:
    """In a schema and all that it is made of; what has a bound of its own keeps it."""
    if isinstance(schema, dict):
        for name, bound in _BOUNDS.get(str(schema.get("type")), {}).items():
            if not (name in ("ge", "gt") and schema.keys() & {"ge", "gt"}):
                schema.setdefault(name, bound)
    if isinstance(schema, dict | list | tuple):
        for part in schema.values() if isinstance(schema, dict) else schema:
            _set_bounds(part)


def flows_of(read: _T | None, write: _T | None, other: Mapping[str, _T]) -> dict[str, _T]:
    """All that a run did, by name: reads first, then writes."""
    return {name: flow for name, flow in (("read", read), ("write", write), *other.items()) if flow is not None}


@dataclass(frozen=True, slots=True)
class Interval:
    """What one flow (reads, writes or another) did in one interval; a dataclass because there are many of them."""

    ios: int | None
    """I/O operations completed in the interval; null where the tool does not count them."""
    bytes: int
    iops: float | None
    bandwidth_bytes: float
    """Bytes per second."""
    latency_mean_seconds: float | None = None
    """Mean completion latency; null where nothing completed or the tool measured none."""
    latency_p99_seconds: float | None = None
    latency_buckets: Annotated[
        Mapping[int, int] | None,
        Field(
            description="Completions per bucket of the fixed latency grid, only buckets that hold any. Bucket i below "
            "128 holds i nanoseconds; above, with e = i // 64 - 1, it holds the 2**e nanoseconds from "
            "(64 + i % 64) * 2**e on. There are 1856 buckets, 64 to an octave.",
            json_schema_extra={"propertyNames": {"pattern": "^[0-9]+$"}},
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class Sample:
    """One interval of one node, or of all nodes merged."""

    run: int
    node: Annotated[str | None, Field(description="The node's name; null for all nodes merged.")]
    preset: str
    phase: Phase
    elapsed_seconds: Annotated[
        float,
        Field(description="End of the interval, from the release of the benchmark (in prepare: of the filling)."),
    ]
    interval_seconds: float
    read: Interval | None
    write: Interval | None
    missing: Annotated[
        tuple[str, ...],
        Field(description="Nodes that said nothing in time: their part is not in the figures of all nodes."),
    ] = ()
    other: Annotated[
        Mapping[str, Interval],
        Field(description="What was done beside reads and writes, by the tool's name for it; left out where nothing."),
    ] = field(default_factory=dict)
    event: Literal["sample"] = "sample"

    @property
    def flows(self) -> dict[str, Interval]:
        """All that was done, by name: ``read``, ``write``, then the others."""
        return flows_of(self.read, self.write, self.other)


class Total(Model):
    """What one flow did over a whole run, the ramp left out; latency is completion latency."""

    ios: int | None
    """Null where the tool does not count them."""
    bytes: int
    runtime_seconds: Annotated[Elapsed, Field(ge=0)]
    iops: Amount | None
    bandwidth_bytes: Amount
    latency_mean_seconds: Amount | None = None
    latency_p50_seconds: Amount | None = None
    latency_p95_seconds: Amount | None = None
    latency_p99_seconds: Amount | None = None
    latency_p999_seconds: Amount | None = None
    latency_min_seconds: Amount | None = None
    latency_max_seconds: Amount | None = None
    latency_stddev_seconds: Amount | None = None


class Summary(Model):
    """Read and write apart; null where the run had none of it."""

    read: Total | None = None
    write: Total | None = None
    other: dict[Name, Total] = Field(default_factory=dict)
    """What was done beside reads and writes, by the tool's name for it."""

    @property
    def flows(self) -> dict[str, Total]:
        """All that was done, by name: ``read``, ``write``, then the others."""
        return flows_of(self.read, self.write, self.other)


class DiskUse(Model):
    """How busy a block device was during the run, as the tool reports it."""

    name: Name
    utilisation_percent: float


class JobResult(Model):
    """The figures of one job, where the tool reports jobs apart."""

    job: Name
    summary: Summary


class NodeResult(Model):
    """One node's part in a run."""

    node: Name
    outcome: Outcome | None = None
    error: Line | None = None
    command: Name
    started_seconds: Elapsed | None = None
    """When the benchmark began, after that of the first node."""
    ended_seconds: Elapsed | None = None
    """When it ended, by the same clock."""
    summary: Summary = Summary()
    cpu_user_percent: float | None = None
    cpu_system_percent: float | None = None
    disks: tuple[DiskUse, ...] = ()
    jobs: tuple[JobResult, ...] = ()


class Finding(Model):
    """Something that limits what a run's figures mean, with the reason in words."""

    code: Name
    text: Line
    label: Line | None = None
    """In two or three words, for the time line: ``osd.2 down``."""
    from_seconds: Elapsed | None = None
    """What happened at a time of the run has one: elapsed, from the release of the benchmark."""
    to_seconds: Elapsed | None = None


class Node(Model):
    """A host that runs benchmarks, and its way to Ceph. Paths are paths on that host."""

    name: Name
    """As it stands in figures and files: the key in the config file, or what was typed."""
    host: str | None = None
    """Name or address for SSH, looked up in ``ssh_config``; None is the console's own machine."""
    user: str | None = None
    port: int | None = None
    ssh_config: str | None = None
    """A file in the format of ssh_config(5) instead of ``~/.ssh/config``."""
    prefix: tuple[str, ...] = ()
    """Stands before the benchmark's command line: ``sudo -n``, ``kubectl exec ... --``."""
    ceph_prefix: tuple[str, ...] = ()
    """Stands before ceph, rbd and rados instead: ``cephadm shell --``."""
    ceph_conf: str | None = None
    ceph_keyring: str | None = None
    ceph_id: str | None = None
    """Ceph's user without ``client.``."""
    ceph_mon_host: str | None = None
    """The monitors, where there is no ``ceph_conf`` that names them."""


class NodeEnvironment(Model):
    """The conditions on one node when a run began."""

    os: Line | None = None
    kernel: Line | None = None
    cpu: Line | None = None
    cpu_count: int | None = None
    memory_bytes: int | None = None
    load_1m: float | None = None
    tools: dict[Name, Line] = Field(default_factory=dict)
    """What each benchmark program that is installed says of its version, by its name."""
    nic_bits_per_second: dict[Name, int] = Field(default_factory=dict)
    """Of each network interface that is up and says how fast it is."""
    missing: tuple[Line, ...] = ()
    """Commands that cephtui needs and that are not there, with what installs them."""
    filesystem: Line | None = None
    device: Line | None = None


class ClusterEnvironment(Model):
    """The conditions in the cluster when a run began; null where the key may not ask."""

    ceph_version: Line | None = None
    health: Line | None = None
    checks: tuple[Line, ...] = ()
    osds: int | None = None
    osds_up: int | None = None
    osds_in: int | None = None
    pg_states: dict[Name, int] = Field(default_factory=dict)
    pool: dict[Name, OptionValue | None] = Field(default_factory=dict)
    """Name, type, size, pg_num, autoscale mode, CRUSH rule and what else the pool is."""
    osd_op_queue: Line | None = None
    osd_mclock_profile: Line | None = None
    """It has a meaning with the queue ``mclock_scheduler`` only."""
    image_features: tuple[Line, ...] = ()
    no_permission: tuple[Line, ...] = ()
    """Commands that the key may not give."""


class ClusterSample(Model):
    """What the cluster says of itself during a run."""

    event: Literal["cluster"] = "cluster"
    schema_version: int = SCHEMA_VERSION
    run: int
    phase: Phase = "run"
    elapsed_seconds: Elapsed
    """When the answer came, from the release of the benchmark (in prepare: from the beginning of the run)."""
    health: Line | None = None
    osds: int | None = None
    osds_up: int | None = None
    osds_in: int | None = None
    osds_down: tuple[Name, ...] | None = None
    """Their names; null where that is not known, as in sessions of earlier versions."""
    osds_out: tuple[Name, ...] | None = None
    checks: dict[Name, Line] = Field(default_factory=dict)
    """What health complains of, by the code of the check; what is muted is left out."""
    flags: tuple[Name, ...] = ()
    """Of the whole cluster: ``noout``."""
    slow_ops: int | None = None
    monitors: int | None = None
    monitors_in_quorum: int | None = None
    pools: int | None = None
    pg_states: dict[Name, int] = Field(default_factory=dict)
    degraded_ratio: float | None = None
    """0 to 1, of all object copies."""
    misplaced_ratio: float | None = None
    client_iops: float | None = None
    client_bandwidth_bytes: float | None = None
    recovery_bandwidth_bytes: float | None = None
    osd_latency_seconds: dict[Name, float] = Field(default_factory=dict)
    """Commit latency by the id of the OSD."""


class _Place(Model):
    """Where a step's data is on one node, in words that are no tool's; a tool makes its own options of it.

    Every kind of place is stored with all of these keys, and those that are another's are empty.
    """

    kind: Kind
    path: str = ""
    pool: str = ""
    images: tuple[str, ...] = ()
    namespace: str = ""
    ceph_id: str | None = None
    """Ceph's user without ``client.``; null is the tools' default."""


class FilePlace(_Place):
    """A path that programs open."""

    kind: Literal["file", "device"]
    path: str


class RbdPlace(_Place):
    """Images of a pool, one for each job."""

    kind: Literal["rbd", "image"]
    pool: str
    images: tuple[str, ...]


class RadosPlace(_Place):
    """The objects in a RADOS namespace of a pool."""

    kind: Literal["pool"]
    pool: str
    namespace: str


Place: TypeAlias = Annotated[FilePlace | RbdPlace | RadosPlace, Field(discriminator="kind")]


class Part(Model):
    """A piece of a target that is made, filled and removed as a whole: a file, an image, a namespace, a device."""

    spec: str
    bytes: int


class Write(Model):
    """Data that a step will write somewhere."""

    what: Line
    bytes: int | None = None
    """Bytes written while preparing; null for what the benchmark itself writes until its time is over."""


class NodeStep(Model):
    """A step's exact commands on one node."""

    node: Name
    prefix: tuple[str, ...] = ()
    argv: tuple[str, ...]
    command: Name
    """``prefix`` and ``argv`` quoted for eyes and for pasting into a shell."""
    place: Place
    parts: tuple[Part, ...] = ()
    """All that the step uses of the target."""
    fill: tuple[Part, ...] = ()
    """What of it is written in full before; an earlier step has filled the rest."""
    prepare_argv: tuple[str, ...] | None = None
    prepare_command: Name | None = None
    writes: tuple[Write, ...] = ()


class Step(Model):
    """One command set on one or more nodes: a preset with every option decided."""

    preset: Name
    tool: Name
    batch: Name
    """Ties the steps of one sweep and its repeats together."""
    repeat: int = 1
    number: int | None = None
    """Its place in what was ordered, from 1; the rest of a plan that was stopped counts on."""
    target: str
    data_pool: str | None = None
    """For the data of new images, where the target is a replicated pool beside an erasure-coded one."""
    writes: bool = False
    """Whether the benchmark, or the filling before it, changes data."""
    filled: bool = True
    """Whether all that it uses is written in full before; else nobody knows what it reads."""
    span_bytes: int
    """The part of the target that the step uses on each node: ``size`` times ``numjobs``."""
    fill_bytes: int = 0
    """How much is written before on each node; 0 where an earlier step has filled it."""
    block_bytes: int = 0
    """Bytes of one I/O."""
    options: dict[Name, OptionValue]
    nodes: tuple[NodeStep, ...]
    prepare_seconds: Elapsed
    """Estimate; the speed of the target is not known before it was measured."""
    ramp_seconds: Elapsed
    run_seconds: Elapsed | None
    """Null where the run ends with its data and not with its time."""
    most_seconds: Elapsed | None = None
    """After which it ends at the latest, the ramp left out; null where nothing but its data ends it."""


class PoolActivity(Model):
    """Who else uses a pool; null where the key may not ask."""

    pool: Name
    images_in_use: int | None = None
    images: int | None = None
    images_looked_at: int | None = None
    """Fewer than there are where the key may not ask the OSDs and there are many."""
    client_iops: float | None = None
    text: Line = ""
    """All that in words."""


class Plan(Model):
    """All that will run, in order, decided before anything starts."""

    event: Literal["plan"] = "plan"
    schema_version: int = SCHEMA_VERSION
    steps: tuple[Step, ...]
    hosts: tuple[Node, ...] = ()
    """The nodes as they are reached."""
    ceph_node: str | None = None
    """The node that asks the cluster; by default the first."""
    pool_use: PoolActivity | None = None
    shared_pool: bool = False
    """Whether the user has agreed to load a pool that others use."""
    destroy: tuple[str, ...] = ()
    """Existing data that the user gave up by typing its name."""
    duration_seconds: float
    session_bytes: int
    """About how much the session will grow on disk."""


class Run(Model):
    """One step carried out on all its nodes. Without ``outcome`` it is in progress, or its console was lost."""

    event: Literal["run"] = "run"
    schema_version: int = SCHEMA_VERSION
    session: Name
    run: int
    batch: Name
    repeat: int = 1
    step: int | None = None
    """The ``number`` of the step in its plan; null where an earlier cephtui has written it."""
    preset: Name
    tool: Name
    target: Name
    options: dict[Name, OptionValue]
    outcome: Outcome | None = None
    error: Line | None = None
    command: Name
    """On the first node; ``nodes`` has that of each."""
    cephtui_version: Line | None = None
    started_at: AwareDatetime
    duration_seconds: Elapsed = 0.0
    """From the start of preparing to the end of the last node."""
    start_spread_seconds: Elapsed | None = None
    """Between the first node's start and the last's; null for a single node."""
    findings: tuple[Finding, ...] = ()
    cluster: ClusterEnvironment | None = None
    environment: dict[Name, NodeEnvironment] = Field(default_factory=dict, max_length=NODES_MOST)
    summary: Summary = Summary()
    nodes: Annotated[tuple[NodeResult, ...], Field(max_length=NODES_MOST)] = ()


class Mark(Model):
    """What the user did at a moment, in words: a change whose effect is to be seen."""

    event: Literal["mark"] = "mark"
    schema_version: int = SCHEMA_VERSION
    at: AwareDatetime
    run: int | None = None
    """The run in progress then; null between two runs."""
    elapsed_seconds: Elapsed | None = None
    """In the run, from the release of the benchmark; null before."""
    text: Line


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to tell the user while a run goes on (a stall, a phase); never part of the public stream."""

    run: int
    text: str

    def __post_init__(self) -> None:
        """In it is what nodes say."""
        object.__setattr__(self, "text", one_line(self.text))


Event: TypeAlias = Plan | Sample | ClusterSample | Run | Mark | Notice


class Session(Model):
    """The runs of one sitting, in one directory."""

    schema_version: int = SCHEMA_VERSION
    session: Name
    created_at: AwareDatetime
    cephtui_version: Line
    """Of the program that made the session; each run has its own."""


def _distinct(tags: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag for tag in tags if tag))


Tags: TypeAlias = Annotated[tuple[Line, ...], AfterValidator(_distinct)]


class SessionNotes(Model):
    """What the user has noted of a session."""

    schema_version: int = SCHEMA_VERSION
    note: Line = ""
    tags: Tags = ()
    baseline: int | None = None
    """The number of the run that others are compared with."""


class SessionRow(Model):
    """One line of the listing of sessions; ``error`` instead of figures where a file of it is broken."""

    event: Literal["session"] = "session"
    schema_version: int = SCHEMA_VERSION
    session: Name
    path: str
    created_at: AwareDatetime | None = None
    runs: int = 0
    presets: tuple[Name, ...] = ()
    outcomes: dict[Name, int] = Field(default_factory=dict)
    cluster: Line | None = None
    """Short, such as ``ceph 16.2.15``: of the last run that asked one; null where none did."""
    nodes: tuple[Name, ...] = ()
    """Their names, in the order in which they came into use."""
    note: Line = ""
    tags: tuple[Line, ...] = ()
    baseline: int | None = None
    """The number of the run that the user compares others with."""
    writing: bool = False
    error: Line | None = None


class PresetRow(Model):
    """One line of the listing of presets; ``error`` instead of the rest where its file is broken."""

    event: Literal["preset"] = "preset"
    schema_version: int = SCHEMA_VERSION
    preset: Name
    title: Line = ""
    description: Line = ""
    tool: Name = ""
    user: bool = False
    """True where the file is the user's own, not the package's."""
    path: Name = ""
    options: dict[Name, OptionValue | list[OptionValue]] = Field(default_factory=dict)
    error: Line | None = None


class NodeRow(Model):
    """What a node is like, and what is missing there."""

    event: Literal["node"] = "node"
    schema_version: int = SCHEMA_VERSION
    node: Name
    host: Name | None = None
    ready: bool = False
    """Whether it can be used: it is reached, and has no ``problems``."""
    round_trip_seconds: float | None = None
    environment: NodeEnvironment | None = None
    cluster: Line | None = None
    """Its health as asked from there, or why it can't be asked; null where Ceph's programs are not installed."""
    problems: tuple[Line, ...] = ()
    """Each with the next step: the command that installs what is missing."""
    lacking: tuple[Line, ...] = ()
    """What can't be used there either and is not needed, each with the next step."""


class Info(Model):
    """Versions, and where things are."""

    event: Literal["info"] = "info"
    schema_version: int = SCHEMA_VERSION
    cephtui_version: Line
    python_version: Line
    tools: dict[Name, Line]
    presets: tuple[Name, ...]
    sessions: Name
    config: Name
    cache: Name
    log: Name


class Difference(Model):
    """Something in which two runs were not alike, other than their figures."""

    event: Literal["difference"] = "difference"
    schema_version: int = SCHEMA_VERSION
    topic: Name
    """``run``, ``option``, ``nodes``, the name of a node, ``cephtui``, ``finding`` or ``cluster``."""
    name: Name
    left: Name
    """As text with its unit; ``-`` where it is not known."""
    right: Name


class Figure(Model):
    """A figure of two runs, in its base unit; null where a side has none."""

    event: Literal["figure"] = "figure"
    schema_version: int = SCHEMA_VERSION
    direction: Name
    """``read``, ``write``, or the name of another flow."""
    name: Name
    """As in the figures of a run: ``latency_p99_seconds``."""
    left: float | None
    """Of several runs the mean; of percentiles and the greatest latency the median."""
    right: float | None
    change_fraction: float | None
    """From left to right: 0.1 is 10 % more; null where left is zero or one is not known."""
    better: Literal["better", "worse", "same"] | None
    """What the change means. It says nothing of chance."""
    left_spread: tuple[float, float] | None = None
    """The least and the greatest of several runs; null for a single one."""
    right_spread: tuple[float, float] | None = None
    left_findings: tuple[Name, ...] = ()
    """Codes of the findings that limit what this figure means."""
    right_findings: tuple[Name, ...] = ()
