"""What a host has for measuring, and what it lacks: the lines of ``cephtui doctor``."""

from typing import Literal

from pydantic import Field

from cephtui.models.base import SCHEMA_VERSION, Line, Model, Name, OptionValue


class HostRow(Model):
    """One thing that measuring needs or can use."""

    event: Literal["host"] = "host"
    schema_version: int = SCHEMA_VERSION
    node: Name
    group: Literal["machine", "programs", "ceph", "proxmox", "ssh", "targets"]
    what: Line
    """The name of the thing: ``fio``, ``terminal``, ``cluster``, or a target: ``rbd:bench``."""
    status: Literal["works", "missing", "unknown", "optional"]
    """``unknown`` where it did not answer; ``optional`` where it is not needed for what this host is for."""
    facts: dict[Name, OptionValue] = Field(default_factory=dict)
    """Versions, paths, numbers; sizes are in bytes."""
    problem: Line = ""
    """Why it does not work, or is not needed."""
    cure: Line = ""
    """The next step: the command that installs what is missing, or the one that tries a target."""
    essential: bool = False
    """Whether nothing can be measured without it."""
