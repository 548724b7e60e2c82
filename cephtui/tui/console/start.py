"""What the console begins with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from cephtui.config import Config
from cephtui.frozen import dataclass
from cephtui.planning import new_batch

if TYPE_CHECKING:
    from cephtui.models import Mark, Node, Run
    from cephtui.targets import Target


@dataclass(frozen=True, slots=True)
class Start:
    """What was given on the command line and found in the session."""

    nodes: tuple[Node, ...]
    target: Target
    data_pool: str | None = None
    ceph_node: str | None = None
    earlier: tuple[Run, ...] = ()
    """Runs of a session that is continued."""
    marks: tuple[Mark, ...] = ()
    config: Config = field(default_factory=Config)
    """The configuration that has other nodes by their names."""
    ceph: Mapping[str, str] = field(default_factory=dict)
    """The Ceph access that was given for all nodes."""
    looks_around: bool = False
    """Whether nothing was chosen yet, so that the first screen offers what there is to measure."""
    owner_id: str = field(default_factory=new_batch)
    """Makes the names of the images that are created unique."""
