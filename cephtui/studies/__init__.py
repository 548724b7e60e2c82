"""Every kind of study: how it is asked for, on the command line and in the console, and the module that decides.

Every start of cephtui loads this module, so it imports little. A new kind is a module here, its row in ``KINDS``, and
its words in ``cephtui.reports.studies``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cephtui.frozen import dataclass

if TYPE_CHECKING:
    from cephtui.studies.base import Study


@dataclass(frozen=True, slots=True)
class StudyOption:
    """An option of ``cephtui run`` that a kind of study has, and a field of the console's dialog."""

    name: str
    """``--until-stable``."""
    help: str
    title: str
    """In the dialog."""
    field: str = ""
    """Of the goal; empty where the option only chooses the kind."""
    metavar: str = ""
    usual: str = ""
    """The text in its place where the option is given without one; empty where it needs one."""
    choices: tuple[str, ...] = ()
    is_flag: bool = False
    parse: Callable[[str], object] = str
    """The value of a text; raises ValueError."""
    example: str = ""
    """In the dialog, before anything is typed."""


@dataclass(frozen=True, slots=True)
class StudyKind:
    """A row of the table."""

    kind: str
    """As studies are saved; also the name of its modules."""
    title: str
    """In the console, behind "how often": ``until stable``."""
    options: tuple[StudyOption, ...] = ()
    """The first chooses this kind, the others go with it."""
    decides: str = ""
    """What it decides itself, and the options that are then left out: ``how many repeats there are``."""
    excludes: tuple[str, ...] = ()
    in_suites: str = ""
    """Why a suite can't be measured so."""

    @property
    def option(self) -> str:
        """The one that chooses it; empty for runs that are known beforehand."""
        return self.options[0].name if self.options else ""


def _number(low: float, high: float, of: Callable[[str], float] = float) -> Callable[[str], float]:
    """A parser of the numbers in this range."""

    def parsed(text: str) -> float:
        try:
            value = of(text)
        except ValueError:
            raise ValueError(f"takes a number, got {text!r}; put presets before it") from None
        if not low <= value <= high:
            raise ValueError(f"{value:g} is not in the range {low:g} to {high:g}.")
        return value

    return parsed


def _bound(text: str) -> str:
    from cephtui.studies.bounded import bound_of

    bound_of(text)
    return text


KINDS = {
    row.kind: row
    for row in (
        StudyKind("runs", "once, or several times"),
        StudyKind(
            "stable",
            "until stable",
            (
                StudyOption(
                    "--until-stable",
                    "Repeat until the mean is known to +-PERCENT with 95 % confidence; 5 where none is given.",
                    "mean known to +- %",
                    field="percent",
                    metavar="[PERCENT]",
                    usual="5",
                    parse=_number(0.1, 100),
                    example="5",
                ),
                StudyOption(
                    "--most",
                    "Give up --until-stable after N runs, 5 to 100. Default: 20.",
                    "at most N runs",
                    field="most",
                    metavar="N",
                    parse=_number(5, 100, int),
                    example="20",
                ),
            ),
            decides="how many repeats there are",
            excludes=("--repeat", "--order"),
            in_suites="a suite says how often each of its steps is repeated",
        ),
        StudyKind(
            "sweep",
            "to the knee",
            (
                StudyOption(
                    "--sweep-depth",
                    "Find the knee: depth 1, 2, 4, ... until the curve is flat, and back. "
                    "For a list: --set iodepth=1,4,16.",
                    "depth",
                    choices=("auto",),
                ),
                StudyOption(
                    "--confirm",
                    "After --sweep-depth, measure at 80 % of the peak with I/Os at random times (fio only).",
                    "confirm at 80 % of the peak",
                    field="confirm",
                    is_flag=True,
                ),
            ),
            decides="how often and in which order it runs",
            excludes=("--repeat", "--until-stable", "--expect"),
            in_suites="a suite says which depths each of its steps has",
        ),
        StudyKind(
            "bounded",
            "to the greatest depth within a latency",
            (
                StudyOption(
                    "--within",
                    "Find the greatest depth at which a latency stays within a bound: p99=5ms, latency=1ms (the mean), "
                    "'write p99.9=20ms'.",
                    "latency, at most",
                    field="within",
                    metavar="FIGURE",
                    parse=_bound,
                    example="p99=5ms",
                ),
            ),
            decides="how often and at which depth it runs",
            excludes=("--repeat", "--order", "--expect"),
            in_suites="a suite says which depths each of its steps has",
        ),
        StudyKind("check", "before and after a change"),
    )
}
"""By kind, in the order of the options and of the dialog."""


def kind_of(kind: str) -> type[Study[Any]]:
    """The class of a kind; raises ValueError for one of a newer cephtui."""
    from importlib import import_module

    from cephtui.studies.base import Study

    if kind not in KINDS:
        raise ValueError(f"a study of a newer cephtui: {kind}")
    module = import_module(f"{__name__}.{kind}")
    (found,) = [
        each
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, Study) and each.__module__ == module.__name__
    ]
    return found
