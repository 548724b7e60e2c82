"""A line of the listing of sessions."""

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from cephtui.models.base import SCHEMA_VERSION, Line, Model, Name, NamesOf


class SessionRow(Model):
    """One line of the listing of sessions; ``error`` instead of figures where a file of it is broken."""

    event: Literal["session"] = "session"
    schema_version: int = SCHEMA_VERSION
    session: Name
    path: str
    created_at: AwareDatetime | None = None
    last_at: AwareDatetime | None = None
    """When its newest run began, or the session itself if that was later: ``last`` is the session with the latest."""
    runs: int = 0
    presets: tuple[Name, ...] = ()
    outcomes: dict[Name, int] = Field(default_factory=dict)
    cluster: Line | None = None
    """The version of the cluster that its last run asked, ``ceph 16.2.15``; null where none did."""
    nodes: Annotated[tuple[Name, ...], NamesOf("node")] = ()
    """The names of its nodes, in the order in which they came into use."""
    targets: Annotated[tuple[Name, ...], NamesOf("target")] = ()
    """The targets of its runs, in the order in which they came into use."""
    validity: dict[Name, int] = Field(default_factory=dict)
    """How many of the runs that have ended are ``VALID``, ``SUSPECT`` and ``INVALID``."""
    best_read_iops: float | None = None
    """The greatest of its runs that ended ``ok``, as are the three figures below; null where none has measured it."""
    best_write_iops: float | None = None
    best_read_bandwidth_bytes: float | None = None
    """Bytes per second."""
    best_write_bandwidth_bytes: float | None = None
    note: Line = ""
    tags: tuple[Line, ...] = ()
    baseline: int | None = None
    """The number of the run that the user compares others with."""
    imported: bool = False
    """Whether its runs were read from saved output of the tools."""
    writing: bool = False
    error: Line | None = None
