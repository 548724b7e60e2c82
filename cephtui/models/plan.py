"""What will run: steps with the exact command of each node."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field

from cephtui.models.base import OVERHEAD_SECONDS, SCHEMA_VERSION, Elapsed, Kind, Line, Model, Name, OptionValue, Quiet
from cephtui.models.bounds import Bound, bound_of_all
from cephtui.models.metrics import HeadlineName
from cephtui.models.node import Node
from cephtui.models.nodes import PoolActivity
from cephtui.models.promise import Promise


class _Place(Model):
    """Where a step's data is on one node, in words that are no tool's; a tool makes its own options of it.

    Every kind of place is stored with the first of these keys, and those that are another's are empty; those of a host
    or of S3 are left out of others.
    """

    kind: Kind
    path: str = ""
    pool: str = ""
    images: tuple[str, ...] = ()
    namespace: str = ""
    osds: Name = Field(default="", exclude_if=lambda osds: not osds)
    """The OSDs as the target names them; left out of other places."""
    ceph_id: str | None = None
    """The Ceph user without ``client.``; null for the tools' default."""
    host: Name = Field(default="", exclude_if=lambda name: not name)
    addresses: dict[Name, Name] = Field(default={}, exclude_if=lambda addresses: not addresses)
    port: int = Field(default=0, exclude_if=lambda number: not number)
    endpoint: Name = Field(default="", exclude_if=lambda endpoint: not endpoint)
    bucket_prefix: Name = Field(default="", exclude_if=lambda prefix: not prefix)


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


class HostPlace(_Place):
    """Another node, at a port that is free there."""

    kind: Literal["host"]
    host: Name
    """The node's name."""
    addresses: dict[Name, Name] = {}
    """Addresses by their networks, ``public`` and ``cluster``; one that was typed has an empty name. Empty, and the
    port 0, where the node has not been asked yet."""
    fsid: Name = ""
    """The id of the cluster whose networks these are; empty where none was asked."""


class S3Place(_Place):
    """The buckets of an S3 endpoint whose names begin with a prefix."""

    kind: Literal["s3"]
    endpoint: Name
    bucket_prefix: Name


class OsdPlace(_Place):
    """The stores of some OSDs."""

    kind: Literal["osd"]
    osds: Name


Place: TypeAlias = Annotated[
    FilePlace | RbdPlace | RadosPlace | HostPlace | S3Place | OsdPlace, Field(discriminator="kind")
]


class Part(Model):
    """A part of a target, created, prefilled and removed as a whole: a file, an image, a namespace, a device."""

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
    """``prefix`` and ``argv`` quoted for display and for pasting into a shell.

    Where ``argv`` is the text of a program, it is what an admin would type for one of the things that it does.
    """
    place: Place
    parts: tuple[Part, ...] = ()
    """All parts of the target that the step uses."""
    fill: tuple[Part, ...] = ()
    """The parts that are prefilled before the benchmark; an earlier step has prefilled the others."""
    prepare_argv: tuple[str, ...] | None = None
    prepare_command: Name | None = None
    writes: tuple[Write, ...] = ()
    access: tuple[str, ...] = Field(default=(), exclude_if=lambda access: not access)
    """The command that fetches a ceph.conf and keyring for the time of the run; left out where that is not needed."""


class CompanionStep(Model):
    """A process that runs beside those of a step, from before the first of them begins until after the last ended."""

    name: Name
    """What the process is: ``server``. Its raw output is that of ``NODE.server``."""
    node: Name
    prefix: tuple[str, ...] = ()
    argv: tuple[str, ...]
    command: Name
    """``prefix`` and ``argv`` quoted for display."""
    ready: str = ""
    """The text in its output that says that the step may begin; empty where the step need not wait."""


class Step(Model):
    """One command set on one or more nodes: a preset with every option decided."""

    preset: Name
    tool: Name
    batch: Name
    """The batch, which is the same for the steps of one sweep and its repeats."""
    repeat: int = 1
    number: int | None = None
    """The place of the step in what was ordered, from 1; the rest of a plan that was stopped counts on."""
    target: str
    data_pool: str | None = None
    """The pool for the data of new images, where the target is a replicated pool beside an erasure-coded one."""
    writes: bool = False
    """Whether the benchmark, or its prefill, changes data."""
    has_mds: bool = Field(default=True, exclude_if=lambda has_mds: has_mds)
    """Whether its I/O passes an MDS of CephFS, or may; left out where true."""
    filled: bool = True
    """Whether the whole span is prefilled first; if not, reads may hit unallocated blocks."""
    span_bytes: int
    """The part of the target that the step uses on each node: ``size`` times ``numjobs``."""
    fill_bytes: int = 0
    """Bytes that each node prefills; 0 where an earlier step has prefilled them."""
    block_bytes: int = 0
    """Bytes of an I/O."""
    headline: HeadlineName = "iops"
    """The figure that the preset is about."""
    options: dict[Name, OptionValue]
    edited: tuple[Name, ...] = Field(default=(), exclude_if=lambda edited: not edited)
    """The names of options that are not as the preset has them; left out where all are."""
    asked: dict[Name, OptionValue] = Field(default_factory=dict, exclude_if=lambda options: not options)
    """The values that were asked for of options that have others on this kind of target; left out where none have."""
    nodes: tuple[NodeStep, ...]
    companions: tuple[CompanionStep, ...] = Field(default=(), exclude_if=lambda companions: not companions)
    """Processes beside those of the step; left out where it has none."""
    prepare_seconds: Elapsed
    """An estimate of the prefill; the speed of the target is not known before it was measured."""
    ramp_seconds: Elapsed
    run_seconds: Elapsed | None
    """How long the run takes; null where it ends with its data and not with its time."""
    most_seconds: Elapsed | None = None
    """After how long the run ends at the latest, without the ramp; null where only its data ends it."""
    promise: Promise | None = Field(default=None, exclude_if=lambda promise: promise is None)
    """The figures that the step has to reach; left out where nothing is expected of it."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the nodes that measure."""
        return tuple(node.node for node in self.nodes)

    def with_unfilled(self, prefilled: Mapping[tuple[str, str], int]) -> Self:
        """The step as it will be carried out: it also prefills what an earlier step was to prefill and did not.

        ``prefilled`` are the bytes that are, by node and part.
        """
        if not self.filled:
            return self
        nodes = []
        for node in self.nodes:
            planned = {part.spec for part in node.fill}
            missing = [part for part in node.parts if prefilled.get((node.node, part.spec), -1) < part.bytes]
            unfilled = tuple(part for part in missing if part.spec not in planned)
            nodes.append(node.model_copy(update={"fill": (*node.fill, *unfilled)}))
        writes = self.writes or any(node.fill for node in nodes)
        return self.model_copy(update={"nodes": tuple(nodes), "writes": writes})

    @property
    def bound(self) -> Bound:
        """The bound of ``likely_seconds``: a run may end sooner with its data; without a limit only data ends it."""
        if self.run_seconds is not None:
            return "about"
        return "more than" if self.most_seconds is None else "at most"

    @property
    def likely_seconds(self) -> float:
        """An estimate of prefill, ramp and run."""
        run = self.run_seconds or self.most_seconds or 0.0
        return self.prepare_seconds + self.ramp_seconds + run + OVERHEAD_SECONDS


class Plan(Model):
    """All that will run, in order, decided before anything starts."""

    event: Literal["plan"] = "plan"
    schema_version: int = SCHEMA_VERSION
    steps: tuple[Step, ...]
    hosts: tuple[Node, ...] = ()
    """The nodes as they are reached: those that measure, then those on which only companions run."""
    ceph_node: str | None = None
    """The name of the node that asks the cluster; null for the first."""
    pool_use: PoolActivity | None = None
    shared_pool: bool = False
    """Whether the user has agreed to load a pool that others use."""
    drop_caches: bool = False
    """Whether the page cache of the nodes and the caches of all OSDs are dropped before each step."""
    drop_agreed: bool = False
    """Whether the user has agreed to slowing down other clients of the cluster by that."""
    quiet: Quiet = Field(default="", exclude_if=lambda quiet: not quiet)
    """What of the cluster's own work is held back until the end of the study; left out where nothing is."""
    quiet_agreed: bool = Field(default=False, exclude_if=lambda agreed: not agreed)
    """Whether the user has agreed to that; left out where that is not so."""
    destroy: tuple[str, ...] = ()
    """Names of existing data that the user gave up by typing them."""
    duration_seconds: float
    session_bytes: int
    """About how many bytes the session will grow on disk."""

    @property
    def idle(self) -> tuple[str, ...]:
        """The names of nodes that were chosen and have nothing to do, since one node does it for all."""
        busy = {
            name for step in self.steps for name in (*step.names, *(companion.node for companion in step.companions))
        }
        return tuple(host.name for host in self.hosts if host.name not in busy)

    @property
    def bound(self) -> Bound:
        """The bound of ``duration_seconds``."""
        return bound_of_all(step.bound for step in self.steps)
