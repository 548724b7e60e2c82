"""Lines of listings and comparisons."""

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from cephtui.models.base import SCHEMA_VERSION, Line, Model, Name, NamesOf, OptionValue
from cephtui.models.inventory import Disk, Nic, ToolRow
from cephtui.models.nodes import NodeEnvironment
from cephtui.models.results import Stages
from cephtui.models.verdict import Answer


class ImportedFile(Model):
    """A file that was to be imported."""

    event: Literal["file"] = "file"
    schema_version: int = SCHEMA_VERSION
    path: Line
    session: Name | None = None
    """The session with its runs; null where nothing was read, or saved."""
    runs: tuple[int, ...] = ()
    """The numbers of its runs in the session."""
    problem: Line | None = None
    """Why it has no runs."""


class ImportedPart(Model):
    """Some lines of a file that was to be imported: runs, or what looks like output of a benchmark and is none."""

    event: Literal["part"] = "part"
    schema_version: int = SCHEMA_VERSION
    path: Line
    line: int | None = None
    """The number of its first line, from 1; null where it is the whole file."""
    last_line: int | None = None
    heading: Line | None = None
    """The heading above it in the file."""
    what: Line = ""
    """``fio text``, ``rados bench write``, ``iperf3 output``; empty where that is not known."""
    runs: tuple[int, ...] = ()
    """The numbers of its runs in the session."""
    problem: Line | None = None
    """Why it has no runs, or what is wrong with them."""
    lost: bool = False
    """Whether it has figures that were not imported, or can't be read."""


class NodeRow(Model):
    """The conditions on a node, what it has, and what is missing there."""

    event: Literal["node"] = "node"
    schema_version: int = SCHEMA_VERSION
    node: Name
    host: Name | None = None
    ready: bool = False
    """Whether the node can be used: it is reached, and has no ``problems``."""
    round_trip_seconds: float | None = None
    environment: NodeEnvironment | None = None
    cluster: Line | None = None
    """The cluster's health as asked from there, or why it can't be asked; null without Ceph's programs."""
    problems: tuple[Line, ...] = ()
    """What makes it unusable, each with the next step: the command that installs what is missing."""
    lacking: tuple[Line, ...] = ()
    """What is missing and not needed, each with the next step."""
    tools: tuple[ToolRow, ...] = ()
    disks: tuple[Disk, ...] = ()
    nics: tuple[Nic, ...] = ()
    findings: tuple[Line, ...] = ()
    """What makes its disks or its network slower than they could be, each with the next step."""


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


class FindingKindRow(Model):
    """What a finding with this code means, in any run."""

    event: Literal["finding-kind"] = "finding-kind"
    schema_version: int = SCHEMA_VERSION
    code: Name
    title: Line
    level: Literal["note", "limits", "invalidates"]
    """``note`` marks nothing, ``limits`` puts figures in doubt, ``invalidates`` takes the run out."""
    figures: tuple[Name, ...] | None
    """The figures that it limits, as in the figures of a run; ``seconds`` are the sums by second; null for all."""
    topic: Name
    """``measurement``, ``data``, ``client``, ``cluster`` or ``record``."""
    observed: tuple[Line, ...]
    """Examples of the finding's text."""
    why: Line
    """Why the finding matters for the figures."""
    cure: Line
    """What to do."""
    source: Line
    """The documentation that says so; empty where there is none."""


class Difference(Model):
    """A difference between two runs, other than their figures."""

    event: Literal["difference"] = "difference"
    schema_version: int = SCHEMA_VERSION
    topic: Name
    """``run``, ``option``, ``nodes``, the name of a node, ``cephtui``, ``finding`` or ``cluster``."""
    name: Name
    left: Name
    """The value as text with its unit; ``-`` where it is not known."""
    right: Name


class Figure(Model):
    """A figure of two runs, in its base unit; null where a side has none."""

    event: Literal["figure"] = "figure"
    schema_version: int = SCHEMA_VERSION
    direction: Name
    """``read``, ``write``, or the name of another flow."""
    name: Name
    """The figure's name as in the figures of a run: ``latency_p99_seconds``."""
    tool: Name = ""
    """The tool that measured all runs; empty where there were several."""
    left: float | None
    """The value; of several runs the geometric mean."""
    right: float | None
    change_fraction: float | None
    """The change from left to right: 0.1 is 10 % more; null where left is zero or one is not known."""
    same_load: bool = True
    """Whether both sides measured the same operations; otherwise the change means nothing."""
    shown: Literal["more", "less"] | None = None
    """What the runs that count show right to be, with 95 % confidence; null where they show neither."""
    better: Literal["better", "worse", "same"] | None
    """Whether the change is an improvement; null where that can't be concluded from the runs."""
    left_spread: tuple[float, float] | None = None
    """The least and the greatest value of several runs; null for a single one."""
    right_spread: tuple[float, float] | None = None
    left_findings: tuple[Name, ...] = ()
    """Codes of the findings that limit what this figure means."""
    right_findings: tuple[Name, ...] = ()


class MatrixCell(Model):
    """One flow of one step in one place, with the figure of its runs; figures are in their base unit."""

    event: Literal["cell"] = "cell"
    schema_version: int = SCHEMA_VERSION
    session: Name
    step: Line
    """The step's name in the suite, or the preset."""
    options: dict[Name, OptionValue]
    """The options that distinguish it from the other points of its step."""
    turn: int
    """1; 2 and more where the same step was run again in another batch."""
    target: Name
    nodes: tuple[Name, ...]
    """The nodes that ran it together."""
    direction: Name
    """``read``, ``write``, or the name of another flow; empty before the first result."""
    name: Name
    """The figure that its preset is about, as in the figures of a run: ``iops``; empty before the first result."""
    value: float | None
    """The geometric mean of the runs that ended well; null without any."""
    least: float | None
    greatest: float | None
    spread_fraction: float | None
    """The coefficient of variation; null for fewer than two runs."""
    done: int
    """How many runs ended well."""
    wanted: int | None
    """How many were ordered; null where that is not known."""
    state: Name
    """``waiting``, ``running``, or the outcome."""
    runs: tuple[int, ...]
    """The numbers of its runs, however they ended."""
    findings: tuple[Name, ...] = ()
    """Codes of the findings that limit what the figure means."""
    stages: Stages | None = Field(default=None, exclude_if=lambda stages: stages is None)
    """Where its mean latency goes; left out where that is not known."""
    slower_fraction: float | None = None
    """How far the cell is below the median of its row, where it is clearly the slowest node there."""
    slowest_within: dict[Name, float] = Field(default_factory=dict)
    """How far a node or an OSD is below the others in its own runs, where it is clearly slower, by its name."""


class LinkRow(Model):
    """A network link that was measured, in one direction; figures are in their base unit."""

    event: Literal["link"] = "link"
    schema_version: int = SCHEMA_VERSION
    session: Name
    network: Name
    """The cluster's network, ``public`` or ``cluster``; empty where an address was typed."""
    both: bool
    """Whether the other direction was loaded at the same time."""
    source: Name
    """The node that sends."""
    destination: Name
    bandwidth_bytes: float
    """Bytes per second, the geometric mean of the runs."""
    retransmits: int | None
    """The retransmits of the run with the most; null where they were not counted."""
    rtt_seconds: float | None
    """The mean of the runs; null where it is not known."""
    runs: tuple[int, ...]
    """The numbers of its runs."""
    slowest: bool
    """Whether the link is the slowest of several that were measured alike."""


class KnownCeiling(Model):
    """What was measured of a cluster once, and limits runs on it; figures are in their base unit."""

    event: Literal["ceiling"] = "ceiling"
    schema_version: int = SCHEMA_VERSION
    fsid: Annotated[Name, NamesOf("fsid")]
    limit: Literal["network", "OSDs", "depth"]
    what: Line
    """``pve1 to pve2, public network``, ``osd.0, 4.00 MiB writes``, ``randwrite 4k on rbd:bench from pve1``."""
    figure: Literal["bandwidth_bytes", "iops", "latency_mean_seconds"]
    value: float
    measured_at: AwareDatetime
    session: Name
    run: int
    why_unused: Line = ""
    """Why a run that begins now does not count it; empty where it does."""


class Estimated(Model):
    """A figure of the runs at one point of a curve, in its base unit."""

    value: float
    """The geometric mean."""
    low: float | None = None
    """The lower end of the 95 % interval; null for a single run."""
    high: float | None = None
    runs: int


class CurvePointRow(Model):
    """One point of a curve: the runs with the same options, in one direction."""

    event: Literal["point"] = "point"
    schema_version: int = SCHEMA_VERSION
    session: Name
    preset: Name
    axis: Name
    """What was varied: the name of an option, ``target``, ``nodes`` or ``marks``."""
    place: Name
    """The value on the axis, as it was typed: ``64k``."""
    place_number: float | None = None
    """The value on the axis as a number, a size in bytes; null where it is none."""
    series: Name = ""
    """What distinguishes its curve from the others; empty for the only one."""
    direction: Name
    runs: tuple[int, ...]
    in_flight: int | None = None
    """I/Os in flight at once, of all jobs and nodes; null where that is not known."""
    figures: dict[Name, Estimated]
    findings: tuple[Name, ...] = ()
    """Codes of findings that limit the figures of any of the runs."""


class KneeRow(Model):
    """What a load curve shows: from which depth on more I/Os in flight bring latency instead of throughput."""

    event: Literal["knee"] = "knee"
    schema_version: int = SCHEMA_VERSION
    session: Name
    preset: Name
    axis: Name
    series: Name = ""
    known: bool
    """False where the curve still rises at its end, is flat from its beginning, rises by no more than chance, or its
    points are not in order."""
    in_flight: float | None = None
    """The depth at the knee, a whole number; null where it is not known."""
    between: tuple[int, int] | None = None
    """The depths of the measured points around the knee, where these are more than 4 times apart."""
    low: float | None = None
    """The lower end of the knee's 95 % interval; null where nothing was measured twice."""
    high: float | None = None
    peak_iops: float
    """The geometric mean of the points near the greatest."""
    working_iops: float | None = None
    """80 % of the peak; null without a knee, as are the two below."""
    working_latency_seconds: float | None = None
    working_latency_p99_seconds: float | None = None
    text: Line
    """The same in words."""


class StudyRow(Model):
    """What was ordered in a session as a whole, and what of it is missing."""

    event: Literal["study"] = "study"
    schema_version: int = SCHEMA_VERSION
    session: Name
    study: Name
    """Its name in the session: ``s1``."""
    at: AwareDatetime
    """When it was ordered."""
    kind: Name
    """What decides which runs it has: ``runs`` are known beforehand."""
    suite: Name = ""
    """Empty where it is of presets."""
    presets: tuple[Name, ...]
    targets: tuple[Annotated[Name, NamesOf("target")], ...]
    nodes: tuple[Annotated[Name, NamesOf("node")], ...]
    runs: int
    """That ended well."""
    missing: int | None
    """Runs that are still to be made; null where that depends on what the next ones show, or is not known."""
    finished: bool
    """Whether nothing is missing."""
    problem: Line = ""
    """Why it can't be resumed here, as without its preset; empty where it can."""


class ConcludedRow(Model):
    """What the runs of a preset in a study show, where its kind has no row of its own."""

    event: Literal["concluded"] = "concluded"
    schema_version: int = SCHEMA_VERSION
    session: Name
    kind: Name
    """Of the study."""
    preset: Name
    target: Annotated[Name, NamesOf("target")]
    answer: Answer
    """Whether what was asked for is reached."""
    text: Line
    figures: dict[Name, float | None] = {}
    """In base units, with the unit in the name."""


class DiagnosisRow(Model):
    """Why a cluster is slow, as runs show it together; a line for each cause follows."""

    event: Literal["diagnosis"] = "diagnosis"
    schema_version: int = SCHEMA_VERSION
    runs: tuple[Line, ...]
    """``why-20261128/1``: those that measured I/O."""
    text: Line
    latencies: tuple[Line, ...] = ()
    """The mean latency of each run, and where it goes, in words; the runs have the figures."""
    since: tuple[Line, ...] = ()
    """What has changed since the last diagnosis of the same target; empty where there is none."""
    causes: tuple[Name, ...] = ()
    """The codes of their findings, what matters most first; empty where nothing stands out."""
    slight: tuple[Name, ...] = ()
    """The codes of those that are known to cost less than a tenth of the latency."""
    unexplained: tuple[Line, ...] = ()
    """What was slow, and no cause explains it."""
    caveats: tuple[Line, ...] = ()
    """Why figures may be better than the disks are."""
    not_seen: tuple[Line, ...] = ()
    """What could not be seen, and what would show it."""


class CauseRow(Model):
    """What makes a cluster slow, or figures better than it is."""

    event: Literal["cause"] = "cause"
    schema_version: int = SCHEMA_VERSION
    number: int
    """From 1, in the order of their importance."""
    code: Name
    """Of its finding: cephtui explain CODE."""
    title: Line
    sureness: Literal["measured", "seen", "set-up"]
    """Whether its cost is measured, or the cause was only seen at work, or in the set-up of the cluster."""
    run: Line
    """The run in which it costs the most."""
    flow: Literal["read", "write"] | None
    cost_seconds: float | None
    """Of the mean latency of that run; at most that, where it is not measured; null where nothing is known."""
    of_seconds: float | None
    """That mean latency."""
    evidence: tuple[Line, ...]
    cure: Line
    change: Line | None
    """A command that takes the cause away; null where Ceph has none."""
    undo: Line | None
