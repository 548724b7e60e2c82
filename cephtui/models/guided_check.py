"""What is measured before and after a change, and what is asked of it: enough to continue another time."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import AwareDatetime

from cephtui.models.base import SCHEMA_VERSION, Line, Model, Name, NamesOf, OptionValue

SideName: TypeAlias = Literal["before", "after"]


class GuidedCheck(Model):
    """Kept in the session's ``guided.json``. It names no command: what a session holds can't run anything."""

    schema_version: int = SCHEMA_VERSION
    at: AwareDatetime
    presets: tuple[Name, ...]
    overrides: dict[Name, OptionValue | list[OptionValue]] = {}
    target: Annotated[Name, NamesOf("target")]
    data_pool: Annotated[Name | None, NamesOf("pool")] = None
    nodes: Annotated[tuple[Name, ...], NamesOf("node")]
    """As they were named."""
    drop_caches: bool = False
    """Whether caches are dropped before each run."""
    before: tuple[Name, ...]
    """The batch of each preset before the change."""
    after: tuple[Name, ...]
    takes_turns: bool = False
    """Whether the sides are measured in the order A B B A, the change undone in between."""
    before_runs: int
    """Of each preset, where the sides do not take turns."""
    most: int | None = None
    """Runs a side after which it is given up; null for a single look."""
    fixed: int | None = None
    """Runs a side, of a single look."""
    require_percent: float
    same_percent: float
    confidence: float
    """Two-sided, between 0 and 1."""
    metrics: tuple[Line, ...] = ()
    directions: tuple[Line, ...] = ()
