"""What a target is to the rest of cephtui: it knows how to inspect, guard, create and remove its data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from cephtui.models import Finding, Kind, Node, OptionValue, Part, Place
from cephtui.printable import one_line
from cephtui.refusal import Refusal
from cephtui.shell import Shell
from cephtui.tools.base import spoken
from cephtui.transport import Completed

OWN_PREFIX = "cephtui-"
"""Images and namespaces of cephtui's own begin with it."""
OWN_NAME = re.compile(rf"{OWN_PREFIX}[0-9a-f]{{8}}-[A-Za-z0-9._-]+")
"""All of such a name. Others may have it too: what is cephtui's carries its owner besides."""
OWNER_KEY = "cephtui.session"
"""Under which images and namespaces carry their owner."""
_NO_TEXT = re.compile(r"[\x00-\x1f\ud800-\udfff]")
"""Control characters, and what stands for bytes that are no UTF-8: neither can be printed or stored."""


class TargetError(ValueError):
    """A target's text can't be understood."""


class TargetFault(Exception):
    """A node can't do what is asked of it with a target; the text is for the user."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a step divides its data on each node."""

    jobs: int
    size_bytes: int
    """Of each job."""
    alone: bool
    """Whether the step runs on a single node."""
    batch: str


@dataclass(frozen=True, slots=True)
class Use:
    """What a step is about to do with a target on a node."""

    parts: tuple[Part, ...]
    writes: bool
    """Filling included."""
    known: bool
    """Whether cephtui fills, or has filled, what it reads."""
    options: Mapping[str, OptionValue]
    destroy: tuple[str, ...]
    filled: frozenset[str] = frozenset()
    """Parts that this sitting has filled, if they are still what they were."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a node says of a target, and what follows from it."""

    refusal: Refusal | None = None
    findings: tuple[Finding, ...] = ()
    identities: Mapping[str, str] = field(default_factory=dict)
    """Of each part that is there, by its spec; another one means that it is not what was filled."""
    to_create: tuple[Part, ...] = ()
    """Parts that have to be made, or fitted, before they are filled."""
    filesystem: str | None = None
    device: str | None = None
    features: tuple[str, ...] = ()
    """Of the image."""


@dataclass(frozen=True, slots=True)
class Removed:
    """What became of a removal; ``text`` is the reason where nothing was removed."""

    status: Literal["done", "absent", "busy", "not ours", "failed"]
    """``absent`` is what was not found where it was looked for; ``not ours`` does not carry its owner."""
    text: str = ""

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to try again: what is somebody else's now is not cephtui's to remove."""
        return self.status in ("done", "not ours")


class Target(Protocol):
    """What is tested."""

    @property
    def spec(self) -> str:
        """The target as the user writes it."""
        ...

    @property
    def kind(self) -> Kind:
        """What a tool can do with it."""
        ...

    @property
    def pool(self) -> str | None:
        """The Ceph pool that it is known to be in."""
        ...

    @property
    def data_pool(self) -> str | None:
        """The erasure-coded pool for the data of new images."""
        ...

    @property
    def own(self) -> bool:
        """Whether its data is cephtui's own; other data is filled only where it is given up."""
        ...

    @property
    def kept(self) -> bool:
        """Whether its parts stay for the next step; else they are removed after each."""
        ...

    @property
    def one_node(self) -> bool:
        """Whether only one node can use it."""
        ...

    @property
    def default_span_bytes(self) -> int:
        """How much of it is used on each node where no size is asked for."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """What the user may type to give up what is there."""
        ...

    def lay_out(self, node: Node, layout: Layout) -> tuple[Place, tuple[Part, ...]]:
        """Where a step's data is on a node."""
        ...

    async def inspect(self, shell: Shell, use: Use) -> Found:
        """Look at it and apply its guards; writes nothing. Raises TargetFault and TransportError."""
        ...

    async def create(self, shell: Shell, part: Part, owner: str) -> str:
        """Make a part that carries its owner, and give its identity. Raises TargetFault and TransportError."""
        ...

    async def room(self, shell: Shell, nodes: int) -> int | None:
        """Bytes that it has for the default span on each of so many nodes; None where that is no question."""
        ...


def is_text(text: str) -> bool:
    """Whether it can be printed and stored."""
    return not _NO_TEXT.search(text)


def safe_name(node: str) -> str:
    """A node's name as part of an image's or a namespace's; different ones stay different."""
    return re.sub(r"[^A-Za-z0-9.-]", lambda found: f"_{ord(found[0]):x}", node)


def reason(failed: Completed) -> str:
    """The last line of what a command that failed has said, rather not of its libraries' logs."""
    said = [line.strip() for line in failed.stderr.splitlines()]
    lines = spoken(failed.stderr)
    own = [line for line in lines if line in said]
    return one_line((own or lines)[-1]) if lines else f"status {failed.status}, no reason given"


def unverified(use: Use) -> tuple[Finding, ...]:
    """What nobody has filled may be full of holes, which read as fast as memory."""
    if use.known:
        return ()
    text = "unverified: cephtui did not fill what was read, holes in it read much faster than data"
    return (Finding(code="unverified", text=text),)


def page_cache(options: Mapping[str, OptionValue]) -> tuple[Finding, ...]:
    """Without direct I/O the kernel's memory takes part."""
    if options.get("direct", True):
        return ()
    return (Finding(code="page-cache", text="direct=0: the page cache takes part, this may be memory"),)
