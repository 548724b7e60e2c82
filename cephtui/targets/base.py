"""What a target is to the rest of cephtui: it knows how to inspect, guard, create and remove its data."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, ClassVar, Literal

from cephtui.frozen import dataclass
from cephtui.models.refusal import Refusal
from cephtui.nodes.shell import Shell
from cephtui.targets.candidates import ASKS_FIRST, Candidate, OnFound, PoolFacts

if TYPE_CHECKING:
    from cephtui.ceph.images import ImageInfo
    from cephtui.ceph.qos import Limits
    from cephtui.ceph.surroundings import Surroundings
    from cephtui.cluster.preflight import Demand
    from cephtui.models import Finding, Kind, NameKind, Node, OptionValue, Part, Place, Step
    from cephtui.tools.tool import Tool

OWN_PREFIX = "cephtui-"
"""The prefix of the names of cephtui's own images and namespaces."""
OWN_NAME = re.compile(rf"{OWN_PREFIX}[0-9a-f]{{8}}-[A-Za-z0-9._-]+")
"""The whole name of such an image or namespace. What is cephtui's also carries its owner: others may be named so."""
OWNER_KEY = "cephtui.session"
"""The key under which images and namespaces carry their owner."""
_NO_TEXT = re.compile(r"[\x00-\x1f\ud800-\udfff]")
"""Control characters, and code points that stand for bytes that are no UTF-8: they can't be printed or stored."""


class TargetError(ValueError):
    """A target's text can't be understood."""


class TargetFault(Exception):
    """A node can't do what is asked of it with a target; the text is for the user."""


class SecretsMissing(Exception):
    """A target needs secrets that nobody has given; ``why`` is where they were looked for, in words."""

    def __init__(self, service: str, names: tuple[str, ...], why: str) -> None:
        super().__init__(f"the {' and the '.join(names)} of {service} are not known: {why}")
        self.service, self.names, self.why = service, names, why


@dataclass(frozen=True, slots=True)
class DataLayout:
    """How a step divides its data on each node."""

    jobs: int
    size_bytes: int
    """The size of each job's data."""
    alone: bool
    """Whether the step runs on one node only."""
    batch: str


@dataclass(frozen=True, slots=True)
class Use:
    """What a step is about to do with a target on a node."""

    parts: tuple[Part, ...]
    writes: bool
    """Whether the step, or its prefill, writes."""
    filled: bool
    """Whether cephtui prefills, or has prefilled, the data that the step reads."""
    options: Mapping[str, OptionValue]
    destroy: tuple[str, ...]
    object_bytes: int = 0
    """The size of the largest object that the tool makes by itself; 0 where it makes none."""
    prefilled: frozenset[str] = frozenset()
    """Parts that this console session has prefilled, if their identity is still the same."""
    shared_pool: bool = False
    """Whether the user has agreed to load what others use."""


@dataclass(frozen=True, slots=True)
class TargetState:
    """What a node reports of a target, and what follows from it."""

    refusal: Refusal | None = None
    findings: tuple[Finding, ...] = ()
    identities: Mapping[str, str] = field(default_factory=dict)
    """The identity of each part that exists, by its spec; another identity means that it is not the prefilled one."""
    to_create: tuple[Part, ...] = ()
    """Parts that have to be created, or resized, before they are prefilled."""
    to_extend: tuple[tuple[str, ...], ...] = ()
    """Commands that extend parts which the user has given up to the size of what is written to them."""
    causes: Mapping[str, str] = field(default_factory=dict)
    """What only the target knows of a cause, by the word for it in the tool's output."""
    mount: str | None = None
    """The mount point of the file system that it is on."""
    filesystem: str | None = None
    device: str | None = None
    queues: Mapping[str, str] = field(default_factory=dict)
    """Settings of the queues of the disks under it, by their names in sysfs: ``queue/scheduler``."""
    image: ImageInfo | None = None
    """The image that exists; None where it is none, or is to be made."""


@dataclass(frozen=True, slots=True)
class Removed:
    """The result of a removal; ``text`` is the reason where nothing was removed."""

    status: Literal["done", "absent", "busy", "not ours", "failed"]
    """``absent`` does not exist under its name; ``not ours`` does not carry its owner.

    Of an absent file the text is the mount point of the file system that its path is on.
    """
    text: str = ""

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to try again: a part that another owner has now is not cephtui's to remove."""
        return self.status in ("done", "not ours")


class OwnPool(ABC):
    """A pool that is made for a target."""

    __slots__ = ()

    @property
    @abstractmethod
    def pool_name(self) -> str:
        """The name of the pool."""

    @property
    @abstractmethod
    def part(self) -> str:
        """The pool as a part on the undo list."""

    @abstractmethod
    async def make(self, shell: Shell, owner: str) -> None:
        """Make the pool, so that it carries its owner. Raises TargetFault and TransportError."""

    @abstractmethod
    async def unready(self, shell: Shell) -> str:
        """Why the pool can't be used yet; empty once it can. Raises TransportError."""


@dataclass(frozen=True, slots=True)
class Target(ABC):
    """What is tested."""

    kind: ClassVar[Kind]
    """What the target is to tools."""
    is_managed: ClassVar[bool] = True
    """Whether cephtui makes and removes the target's data; other data is prefilled only if the user gives it up."""
    persists_between_steps: ClassVar[bool] = True
    """Whether the target's parts stay for the next step; else they are removed after each."""
    single_client: ClassVar[bool] = False
    """Whether only one node can use the target."""
    runs_from_one_node: ClassVar[bool] = False
    """Whether the first node alone carries out a step, however many are chosen: the load is not on the nodes."""
    default_span_bytes: ClassVar[int] = 10 << 30
    """Bytes of the target that are used on each node where no size is asked for."""
    opens_for_writing: ClassVar[bool] = False
    """Whether the target is opened for writing even where it is only read: in a full pool that hangs."""
    identified_at_path: ClassVar[bool] = False
    """Whether the first word of a part's identity can be seen at its path, as in a ``Lock``."""
    marks_paths: ClassVar[bool] = True
    """Whether a path of the target carries its owner where it is a file of cephtui's."""
    has_mds: ClassVar[bool] = False
    """Whether the target's I/O passes an MDS of CephFS, or may."""
    creates_images: ClassVar[bool] = False
    """Whether the parts are new images, whose data may be in another pool."""
    secrets: ClassVar[tuple[str, ...]] = ()
    """Names of the secrets that a tool may ask for, as in ``Tool.secrets``."""

    pool: str | None = field(default=None, kw_only=True)
    """The Ceph pool of the target, as far as it is known."""
    data_pool: str | None = field(default=None, kw_only=True)
    """The erasure-coded pool for the data of new images."""

    @property
    @abstractmethod
    def spec(self) -> str:
        """The target as the user writes it."""

    @property
    def hosts(self) -> tuple[Node, ...]:
        """Nodes that take part in the target, whether or not they measure."""
        return ()

    def expand(self, nodes: Sequence[Node], find: Callable[[str], Sequence[Node]]) -> tuple[Target, ...]:
        """The targets that it stands for where these nodes measure; ``find`` gives others by their name, and raises
        ValueError.

        Raises TargetError.
        """
        return (self,)

    def measured_from(self, nodes: Sequence[str]) -> list[tuple[str, ...]]:
        """The sets of nodes that measure the target, one after the other: by default all nodes at once."""
        return [tuple(nodes)]

    async def locate(self, shells: Mapping[str, Shell], cluster_shell: Shell) -> Target:
        """The target with its place, as its own nodes, given by name, and the cluster report it: addresses or a pool.

        Raises TargetFault and TransportError.
        """
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """What the user may type to give up the data that exists."""
        return ()

    @property
    def listed_by(self) -> str | None:
        """The target below which ``discover`` lists what else is in the same pool; None where it lists nothing."""
        return None

    @property
    def new_pool(self) -> OwnPool | None:
        """The pool that is made for the target, once in a console session; None where it needs none."""
        return None

    def check_tool(self, tool: Tool) -> str | None:
        """Why a tool can't use the target, or None."""
        return tool.check_kind(self.kind)

    def for_tool(self, tool: Tool) -> Target:
        """The target as a tool that can use it sees it."""
        return self

    @abstractmethod
    def lay_out(self, node: Node, layout: DataLayout) -> tuple[Place, tuple[Part, ...]]:
        """The place of a step's data on a node, and its parts."""

    @abstractmethod
    async def inspect(self, shell: Shell, use: Use) -> TargetState:
        """Inspect the target and apply its guards; writes nothing. Raises TargetFault and TransportError."""

    async def create(self, shell: Shell, part: Part, owner: str) -> str:
        """Make a part that carries its owner, and return its identity. Raises TargetFault and TransportError."""
        raise TargetFault(f"{self.spec} exists already, so cephtui does not create it")

    def demand(self, step: Step, new_bytes: int) -> Demand:
        """What a step on the target that adds so many bytes needs of the cluster."""
        from cephtui.cluster.preflight import Demand

        return Demand(
            self.pool,
            step.data_pool,
            step.writes,
            step.writes or self.opens_for_writing,
            self.creates_images,
            new_bytes,
            has_mds=self.has_mds,
        )

    async def resolve_access(self, shells: Sequence[Shell]) -> Target:
        """The target with these nodes' access to it; raises SecretsMissing, TargetFault and TransportError."""
        return self

    async def secrets_for(self, shell: Shell, place: Place) -> Mapping[str, str]:
        """The secrets of a process at a place, by their names; raises TargetFault and TransportError."""
        return {}

    async def image_info(self, shell: Shell, part: Part) -> ImageInfo | None:
        """The image that a part is, once it is prepared, if it is one; raises TransportError."""
        return None

    async def queues(self, shell: Shell, part: Part) -> Mapping[str, str]:
        """The settings of queues, as in ``TargetState``, of a part that had to be made first; raises TransportError."""
        return {}

    async def room(self, shell: Shell, nodes: int) -> int | None:
        """Bytes that are available for the default span on each of so many nodes; None where any size fits."""
        return None

    async def limits(self, shell: Shell) -> Limits:
        """The limits of the target's clients, if they can be read; raises TargetFault and TransportError."""
        from cephtui.ceph.qos import Limits

        return Limits()


class TargetKind(ABC):
    """What is known of a scheme before there is a target of it."""

    scheme: ClassVar[str]
    """The scheme with which targets and their parts begin, before a colon."""
    examples: ClassVar[tuple[str, ...]]
    """How targets of the kind are written: ``rbd:POOL``."""
    usual: ClassVar[str] = ""
    """The name of the target that is used where none is named, for tools that can use no other kind."""
    is_path: ClassVar[bool] = False
    """Whether the name after the scheme is a path on the node: on another machine it has to be absolute."""
    leaves_files: ClassVar[bool] = False
    """Whether what cephtui makes are files of the node, in which Ceph has no part.

    Those that a killed console has left on its own machine are removed when the next one starts.
    """
    in_pool: ClassVar[bool] = False
    """Whether what cephtui makes is in a Ceph pool, whose name comes first and may change.

    A killed client keeps it in use for a while.
    """

    ends_with_study: ClassVar[bool] = False
    """Whether it is put back at the end of each study, and not of the console session."""
    secrets: ClassVar[tuple[str, ...]] = ()
    """Names of the secrets that a removal may need."""
    holds_parts: ClassVar[bool] = False
    """Whether what cephtui makes is a pool, with which all parts in it are removed."""

    @abstractmethod
    def parse(self, name: str, owner_id: str | None = None) -> Target:
        """The target of this name; raises TargetError. ``owner_id`` makes the names of new images unique."""

    def names_in(self, name: str) -> Mapping[str, NameKind]:
        """The names that users have given, in a target or a part of this name: of hosts, pools, buckets."""
        return {}

    def service(self, name: str) -> str:
        """The service whose secrets the removal of a part needs; empty where it needs none."""
        return ""

    async def remove(self, shell: Shell, name: str, owner: str | None) -> Removed:
        """Remove the part of this name if it carries its owner, and nothing else; raises TransportError."""
        return Removed("not ours", "cephtui does not create such targets")

    async def is_usable(self, shell: Shell) -> bool:
        """Whether a node can have targets of this kind at all; raises TransportError."""
        return True

    def in_this_pool(self, facts: PoolFacts) -> Candidate | None:
        """What can be tested in a pool."""
        return None

    async def on_node(self, shell: Shell) -> Sequence[Candidate]:
        """What can be tested from a node beside pools and devices; raises TransportError."""
        return ()

    def in_any_cluster(self) -> Candidate | None:
        """What can be tested in every cluster, whatever pools it has."""
        return None

    def in_surroundings(self, surroundings: Surroundings) -> Sequence[Candidate]:
        """What can be tested on such a host with files, images and pools of cephtui's own alone."""
        return ()

    async def discover(self, shell: Shell, name: str, on_found: OnFound) -> str:
        """Find the candidates below a name, or all candidates of the node where the name is empty.

        The result is why there is none, or not all of them, in words; else empty. Raises ClusterError and
        TransportError.
        """
        return ""

    def spec(self, name: str) -> str:
        """A target or a part of this kind as it is written."""
        return f"{self.scheme}:{name}"

    def measured_by(self, name: str, nodes: str) -> str:
        """A target together with the nodes that measure it, for a column; ``nodes`` may be empty."""
        return f"{self.spec(name)} {nodes}".strip()

    def candidate(self, name: str, text: str, refusal: Refusal | None) -> Candidate:
        """A candidate with what a guard says of it; one that can't be named is refused as well."""
        spec = self.spec(name)
        try:
            self.parse(name)
        except TargetError as error:
            return Candidate(spec, text, str(error).partition(": ")[2])
        if refusal is None or refusal.confirm:
            return Candidate(spec, f"{text}, {ASKS_FIRST}" if refusal else text)
        return Candidate(spec, text, refusal.problem, refusal.remedy)


def is_text(text: str) -> bool:
    """Whether a text can be printed and stored."""
    return not _NO_TEXT.search(text)


def safe_name(node: str) -> str:
    """A node's name in a form for names of images and namespaces; different names stay different."""
    return re.sub(r"[^A-Za-z0-9.-]", lambda match: f"_{ord(match[0]):x}", node)
