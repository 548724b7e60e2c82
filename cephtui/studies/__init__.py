"""Every kind of study: how it is asked for, on the command line and in the console, and the module that decides.

Every start of cephtui loads this module, so it imports little. A new kind is a module here, its row in ``KINDS``, and
its words in ``cephtui.reports.studies``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from cephtui.analysis.statistics.looks import LOOK_LIMITS
from cephtui.frozen import dataclass
from cephtui.units import parse_percent

if TYPE_CHECKING:
    from cephtui.studies.base import Study


@dataclass(frozen=True, slots=True)
class StudyOption:
    """An option of the command line, and a field of the console's dialog."""

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
    is_command: bool = False
    """Whether it is a command that makes a change or takes it back: sessions don't have it."""

    def value(self, text: str) -> object:
        """Of what is typed in the dialog; raises WrongText."""
        try:
            if self.choices and text not in self.choices:
                raise ValueError(f"expected {' or '.join(self.choices)}, got {text!r}")
            if self.is_flag and text != "yes":
                raise ValueError(f"expected yes or nothing, got {text!r}")
            return True if self.is_flag else self.parse(text)
        except ValueError as error:
            raise WrongText(self, str(error)) from None


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
    codes: str = ""
    """What the exit codes 5 and 6 of ``cephtui run`` say of it."""
    further: tuple[StudyOption, ...] = ()
    """What else the console's dialog asks for. On the command line these choose no kind: they stand with a verb."""

    @property
    def fields(self) -> tuple[StudyOption, ...]:
        """Of the console's dialog."""
        return tuple(option for option in (*self.options, *self.further) if option.field)

    def values(self, texts: Mapping[str, str]) -> dict[str, object]:
        """By field, what is typed in the dialog, also by field; what is left empty is left out. Raises WrongText."""
        texts_of_options = {option: text for option in self.fields if (text := texts.get(option.field, "").strip())}
        for option in self.options[:1]:
            if option.field and not option.usual and option not in texts_of_options:
                raise WrongText(option, f"is needed, such as {option.example}")
        return {option.field: option.value(text) for option, text in texts_of_options.items()}

    @property
    def option(self) -> str:
        """The one that chooses it; empty for runs that are known beforehand."""
        return self.options[0].name if self.options else ""


class WrongText(ValueError):
    """What is typed for an ``option`` in the dialog is not allowed."""

    def __init__(self, option: StudyOption, problem: str) -> None:
        super().__init__(f"{option.title}: {problem}")
        self.option = option


def _number(low: float, high: float, of: Callable[[str], float] = float) -> Callable[[str], float]:
    """A parser of the numbers in this range."""
    expected = "a percentage" if of is parse_percent else "a number"

    def parsed(text: str) -> float:
        try:
            value = of(text)
        except ValueError:
            raise ValueError(f"expected {expected}, got {text!r}") from None
        if not low <= value <= high:
            raise ValueError(f"{value:g} is not in the range {low:g} to {high:g}.")
        return value

    return parsed


def _bound(text: str) -> str:
    from cephtui.studies.bounded import bound_of

    bound_of(text)
    return text


def _expected(text: str) -> tuple[str, ...]:
    from cephtui.analysis.verdicts.expectation import parse_expectation

    figures = tuple(figure.strip() for figure in text.split(","))
    for figure in figures:
        parse_expectation(figure)
    return figures


def _promise(text: str) -> float | str:
    from cephtui.analysis.verdicts.expectation import parse_expectation

    if text == SET_LIMITS:
        return text
    try:
        return parse_expectation(f"iops>={text}").value
    except ValueError:
        raise ValueError(f"expected a number of IOPS, such as 8000 or 8k, or {SET_LIMITS}, got {text!r}") from None


def _several_jobs(text: str) -> tuple[int, ...]:
    return tuple(int(_number(*JOBS, int)(number.strip())) for number in text.split(","))


def command_of(text: str) -> str:
    """A command of the user's, which is noted in the session; raises ValueError."""
    from cephtui.printable import printable

    if printable(text) != text:
        raise ValueError("expected one line of printable text: put the commands into a script")
    return text


REPEATS_MOST = 1000
REQUIRED_PERCENT = (-99, 10_000)
"""What a change can be required to bring, at least and at most."""
ONE_LOOK_RUNS = (2, 100)
"""Runs a side of a single look."""
LOOKS_MOST = tuple(map(str, LOOK_LIMITS))
"""Runs a side after which a check is given up."""
JOBS = (2, 1000)
"""Jobs with which a volume can be measured beside one."""
PROMISED, SET_LIMITS = "promised", "limits"
"""The field with which a volume is measured instead of presets; and its text for the limits that its clients have."""
KINDS = {
    row.kind: row
    for row in (
        StudyKind(
            "runs",
            "once, or several times",
            codes="5 a figure given with --expect was not reached; 6 not certain whether it was",
            further=(
                StudyOption(
                    "--repeat",
                    "Runs of each preset and of each value of its options; an interval needs three or more.",
                    "how many times",
                    field="repeats",
                    metavar="N",
                    parse=_number(1, REPEATS_MOST, int),
                    example="1",
                ),
                StudyOption(
                    "--order",
                    "Presets, values or targets take turns: A B A B, or A B B A against drift. "
                    "Default: all repeats of each in a row; values A B A B.",
                    "order of turns",
                    field="order",
                    choices=("abab", "abba"),
                    example="abba",
                ),
                StudyOption(
                    "--expect",
                    "Required figures, judged at the end: one, or several separated by commas.",
                    "expected figures",
                    field="expect",
                    parse=_expected,
                    example="iops>=5000, p99<=5ms",
                ),
                StudyOption(
                    "--volume",
                    "Measure the target as a volume instead of the presets: reads, writes and both must reach "
                    f"these IOPS. {SET_LIMITS}: those set for its clients.",
                    "promised IOPS",
                    field=PROMISED,
                    parse=_promise,
                    example="8000",
                ),
                StudyOption(
                    "--jobs",
                    "Measure a volume also with N jobs; several numbers separated by commas.",
                    "and with N jobs",
                    field="jobs",
                    parse=_several_jobs,
                    example="none",
                ),
            ),
        ),
        StudyKind(
            "stable",
            "until stable",
            (
                StudyOption(
                    "--until-stable",
                    "Repeat until the mean is known to +-PERCENT (5 by default) with 95 % confidence.",
                    "mean known to +- %",
                    field="percent",
                    metavar="[PERCENT]",
                    usual="5",
                    parse=_number(0.1, 100, parse_percent),
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
            in_suites="a suite sets how often its steps are repeated",
            codes="6 not stable: the mean is not known to the percentage of --until-stable",
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
                    "confirm the knee",
                    field="confirm",
                    is_flag=True,
                    example="yes",
                ),
            ),
            decides="how often and in which order it runs",
            excludes=("--repeat", "--until-stable", "--expect"),
            in_suites="a suite sets the depths of its steps",
            codes="6 --confirm: no knee was found",
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
            in_suites="a suite sets the depths of its steps",
            codes="5 --within: even depth 1 is above the bound; 6 no depth was shown to be within it",
        ),
        StudyKind(
            "check",
            "before and after a change",
            in_suites="run a suite before and after the change, in two sessions, then cephtui check SESSION SESSION",
            further=(
                StudyOption(
                    "--change",
                    "A command that makes the change, on this machine, in 10 minutes at most. "
                    "Without one you are asked to make it.",
                    "change by command",
                    field="change",
                    metavar="COMMAND",
                    parse=command_of,
                    example="you make it",
                    is_command=True,
                ),
                StudyOption(
                    "--undo",
                    "A command that reverts the change, in 10 minutes at most; runs in the order A B B A and leaves "
                    "nothing changed.",
                    "undo by command",
                    field="undo",
                    metavar="COMMAND",
                    parse=command_of,
                    example="it stays",
                    is_command=True,
                ),
                StudyOption(
                    "--require",
                    "Smallest acceptable change in percent: -10 allows 10 % worse, 20 demands 20 % better.",
                    "required %",
                    field="require_percent",
                    metavar="PERCENT",
                    parse=_number(*REQUIRED_PERCENT, parse_percent),
                    example="-10",
                ),
                StudyOption(
                    "--most",
                    "At most so many runs per side: 8, 12 or 20; looked at after 4, 6, 8, 12 and 20. Default: 12.",
                    "at most N per side",
                    field="most",
                    metavar="N",
                    choices=LOOKS_MOST,
                    parse=int,
                    example="12",
                ),
                StudyOption(
                    "--runs",
                    "Runs per side, with a single look at the end.",
                    "N per side, one look",
                    field="fixed",
                    metavar="N",
                    parse=_number(*ONE_LOOK_RUNS, int),
                    example="none",
                ),
            ),
        ),
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
    (study,) = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Study) and value.__module__ == module.__name__
    ]
    return study
