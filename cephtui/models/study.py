"""What is measured as a whole: a preset with its repeats, a suite, a sweep, a check; enough to resume it."""

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AwareDatetime, Field, model_validator

from cephtui.models.base import REPEATS_MOST, SCHEMA_VERSION, Line, Model, Name, NamesOf, OptionValue, Quiet
from cephtui.models.manner import Manner
from cephtui.models.promise import MeasuredVolume, Promise

RUNS, CHECK, STABLE = "runs", "check", "stable"
"""The kinds of studies that are known below ``cephtui.studies``: those whose runs are known beforehand, checks, and
repeats until the mean is known."""
SideName: TypeAlias = Literal["before", "after"]


class Cell(Model):
    """A preset on one target and one set of nodes: a batch of runs, with all points of a sweep."""

    step: Line
    """What the step is called, the row of the matrix: its title, by default the preset with what it sets."""
    preset: Name
    options: dict[Name, OptionValue | list[OptionValue]] = {}
    """Options that are not as in the preset; a list is a sweep."""
    of_preset: dict[Name, OptionValue | list[OptionValue]] = {}
    """All options of the preset as it was: they count if its file has changed before the cell is done."""
    target: Annotated[str, NamesOf("target")]
    data_pool: Annotated[str | None, NamesOf("pool")] = None
    nodes: Annotated[tuple[Name, ...], NamesOf("node")] = Field(min_length=1)
    """As they were named; all of them run at once."""
    repeats: int = Field(default=1, ge=1, le=REPEATS_MOST)
    """How many runs of each point are ordered, where the kind of the study does not decide it."""
    batch: Name
    expect: tuple[Line, ...] = ()
    """Figures that are expected of it: ``iops>=5000``."""
    volume: MeasuredVolume | None = None
    """Null where it is none of ``provisioned``."""
    optional: bool = Field(default=False, exclude_if=lambda optional: not optional)
    """Whether its failures are no reason to leave out other cells; left out where they are."""


class SavedStudy(Model):
    """A line of the session's ``studies.jsonl``. It names no command: what a session holds can't run anything."""

    schema_version: int = SCHEMA_VERSION
    id: Annotated[Name, Field(pattern="^(s[1-9][0-9]{0,8})?$")] = ""
    """``s1``: its name in the session; empty before it is kept there."""
    at: AwareDatetime
    kind: Name = RUNS
    """Which module of ``cephtui.studies`` decides what is measured next."""
    suite: Name = ""
    """Its name; empty where the steps were named on a command line."""
    title: Line = ""
    order: Literal["abab", "abba"] | None = None
    """How the cells take turns; null runs each to its end before the next."""
    drop_caches: bool = False
    """Whether caches are dropped before each run."""
    quiet: Quiet = Field(default="", exclude_if=lambda quiet: not quiet)
    """What of the cluster's own work is held back until its end; left out where nothing is."""
    diagnosis: bool = Field(default=False, exclude_if=lambda diagnosis: not diagnosis)
    """Whether it ends with what makes the cluster slow; left out where it does not."""
    cells: tuple[Cell, ...]
    goal: dict[Name, OptionValue | list[OptionValue] | None] = Field(default={}, exclude_if=lambda goal: not goal)
    """What is asked for, in the words of its kind; left out where its cells say all."""

    @property
    def manner(self) -> Manner:
        """How all of its runs are measured."""
        return Manner(self.drop_caches, self.quiet)

    @property
    def presets(self) -> tuple[str, ...]:
        """Their names, each once."""
        return tuple(dict.fromkeys(cell.preset for cell in self.cells))

    @property
    def targets(self) -> tuple[str, ...]:
        """Each once."""
        return tuple(dict.fromkeys(cell.target for cell in self.cells))

    @property
    def nodes(self) -> tuple[str, ...]:
        """Their names, each once."""
        return tuple(dict.fromkeys(name for cell in self.cells for name in cell.nodes))

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


class Ordered(Model):
    """What was ordered in a session by all of its studies together."""

    title: Line = ""
    """Of the last suite; empty where there was none."""
    cells: tuple[Cell, ...] = ()
    """Those of which the number of runs is known beforehand."""


class CheckGoal(Model):
    """What a check measures before and after a change, and what it asks of that: the goal of its study."""

    before: tuple[Name, ...] = Field(min_length=1)
    """The batch of each preset before the change."""
    after: tuple[Name, ...]
    before_session: Name = ""
    """Where the runs before the change are, if that is another session; else empty."""
    takes_turns: bool = False
    """Whether the sides are measured in the order A B B A, the change undone in between."""
    is_commanded: bool = False
    """Whether a command makes the change, and not the user."""
    before_runs: int
    """Of each preset, where the sides do not take turns."""
    most: int | None = Field(default=None, ge=4)
    """Runs a side after which it is given up; null for a single look."""
    fixed: int | None = Field(default=None, ge=1, le=REPEATS_MOST)
    """Runs a side, of a single look."""
    require_percent: float
    same_percent: float
    confidence: float = Field(gt=0, lt=1)
    """Two-sided, between 0 and 1."""
    metrics: tuple[Line, ...] = ()
    directions: tuple[Line, ...] = ()
    without: tuple[Line, ...] = ()
    """Runs that are left out: ``tuning/3``."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if len(self.before) != len(self.after):
            raise ValueError("each preset has one batch before the change and one after it")
        if self.most is None and self.fixed is None:
            raise ValueError("it is looked at once or several times")
        return self
