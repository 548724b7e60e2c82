"""What was ordered as a whole: the cells of a suite's matrix, enough to fill them in and to resume another time."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from cephtui.models.base import SCHEMA_VERSION, Line, Model, Name, NamesOf, OptionValue
from cephtui.models.promise import MeasuredVolume, Promise


class Cell(Model):
    """One step of a suite on one target and one set of nodes: a batch of runs, with all points of a sweep."""

    step: Line
    """What the step is called, the row of the matrix: its title, by default the preset with what it sets."""
    preset: Name
    options: dict[Name, OptionValue | list[OptionValue]] = {}
    """Options that are not as in the preset; a list is a sweep."""
    of_preset: dict[Name, OptionValue | list[OptionValue]] = {}
    """All options of the preset as it was: they count if its file has changed before the cell is done."""
    target: Annotated[str, NamesOf("target")]
    data_pool: Annotated[str | None, NamesOf("pool")] = None
    nodes: Annotated[tuple[Name, ...], NamesOf("node")]
    """As they were named; all of them run at once."""
    repeats: int = Field(default=1, ge=1)
    batch: Name
    expect: tuple[Line, ...] = ()
    """Figures that are expected of it: ``iops>=5000``."""
    volume: MeasuredVolume | None = None
    """Null where it is none of ``provisioned``."""


class Ordered(Model):
    """Kept in the session's ``suite.json``. It names no command: what a session holds can't run anything."""

    schema_version: int = SCHEMA_VERSION
    at: AwareDatetime
    suite: Name = ""
    """Its name; empty where the steps were named on a command line."""
    title: Line = ""
    order: Literal["abab", "abba"] | None = None
    """How the cells take turns; null runs each to its end before the next."""
    drop_caches: bool = False
    """Whether caches are dropped before each run."""
    cells: tuple[Cell, ...]

    @property
    def titles(self) -> dict[str, str]:
        """What the steps are called, by their batches."""
        return {cell.batch: cell.step for cell in self.cells}

    @property
    def promises(self) -> dict[str, Promise]:
        """What is expected of the cells, by their batches; those of which nothing is are left out."""
        presets = [cell.preset for cell in self.cells]
        return {
            cell.batch: Promise(
                step=cell.preset if presets.count(cell.preset) == 1 else cell.step,
                expect=cell.expect,
                volume=cell.volume,
            )
            for cell in self.cells
            if cell.expect
        }
