"""Options that several verbs have."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import click

from cephtui.cli.complete import complete_options, complete_targets
from cephtui.cli.emit import Output, check_output, output_options
from cephtui.cli.where import TARGET_HELP, Where, data_pool_option, session_option, where_options
from cephtui.studies import KINDS as STUDY_KINDS
from cephtui.studies import StudyOption
from cephtui.units import parse_duration, parse_percent

if TYPE_CHECKING:
    from cephtui.models.base import Quiet
    from cephtui.models.manner import Manner


@dataclass(frozen=True)
class CheckQuestion:
    """What a check is to answer, as the options say."""

    require_percent: float = -10.0
    same_percent: float = 10.0
    confidence: float = 95.0
    """In percent."""
    metrics: tuple[str, ...] = ()
    directions: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


def within(
    low: float, high: float, parse: Callable[[str], float] | None = None
) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """A callback that takes these numbers only; click's own range is given in the help as mathematics.

    ``parse`` reads a number with its unit, and raises ValueError; its option is ``UNPROCESSED`` by click.
    """

    def checked(context: click.Context, option: click.Parameter, value: Any) -> Any:
        if parse and isinstance(value, str):
            try:
                value = parse(value)
            except ValueError as error:
                raise click.BadParameter(str(error)) from None
        if value is not None and not low <= value <= high:
            raise click.BadParameter(f"{value:g} is not in the range {low:g} to {high:g}.")
        return value

    return checked


def each_within(low: float, high: float) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """The same of an option that is given several times."""
    checked = within(low, high)
    return lambda context, option, values: tuple(checked(context, option, value) for value in values)


json_option = click.option("--json", "as_json", is_flag=True, help="JSON Lines instead of a table.")
targets_option = click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="TARGET",
    shell_complete=complete_targets,
    help=f"{TARGET_HELP} Repeatable: each preset uses the first target that its tool supports; with several of one "
    "kind (or A,B) it runs on each.",
)


def study_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options of all kinds of studies; the command gets those that are given as ``chosen``, by their names."""
    options = [option for row in STUDY_KINDS.values() for option in row.options]
    names = {_field(option): option.name for option in options}

    @functools.wraps(command)
    def wrapped(**arguments: Any) -> Any:
        values = {name: arguments.pop(field) for field, name in names.items()}
        return command(
            chosen={name: value for name, value in values.items() if value not in (None, False)}, **arguments
        )

    decorated: Callable[..., Any] = wrapped
    for option in reversed(options):
        decorated = _study_option(option)(decorated)
    return decorated


def _field(option: StudyOption) -> str:
    return option.name.strip("-").replace("-", "_")


def _study_option(option: StudyOption, **settings: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def parsed(context: click.Context, parameter: click.Parameter, text: str | None) -> object:
        if text is None:
            return None
        try:
            return option.parse(text)
        except ValueError as error:
            hint = "; put presets before it" if option.usual and text[:1].isalpha() else ""
            raise click.BadParameter(f"{error}{hint}") from None

    if option.is_flag:
        return click.option(option.name, is_flag=True, help=option.help)
    if option.choices:
        settings["type"] = click.Choice(option.choices)
    if option.usual:
        settings |= {"is_flag": False, "flag_value": option.usual}
    return click.option(option.name, callback=parsed, metavar=option.metavar or None, help=option.help, **settings)


def study_option(kind: str, name: str, **settings: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds an option that chooses no kind of study, of this kind; ``settings`` are click's."""
    (option,) = [option for option in STUDY_KINDS[kind].further if option.name == name]
    return _study_option(option, **settings)


mark_option = click.option(
    "--mark",
    type=int,
    callback=within(1, math.inf),
    metavar="N",
    help="Use the Nth mark of the session instead of the last.",
)
METRICS = ("iops", "bandwidth", "latency", "p50", "p95", "p99", "p99.9")
"""What a check may judge."""
metric_option = click.option(
    "--metric",
    type=click.Choice(METRICS),
    help="What is shown; latency is the mean. Default: what the preset is about.",
)
_judging_options = (
    study_option("check", "--require", default=f"{CheckQuestion.require_percent:g}", show_default=True),
    click.option(
        "--same",
        "same_percent",
        type=click.UNPROCESSED,
        callback=within(0.1, 99, parse_percent),
        default=CheckQuestion.same_percent,
        show_default=True,
        metavar="PERCENT",
        help="Changes up to this count as the same.",
    ),
    click.option(
        "--metric",
        "metrics",
        multiple=True,
        type=click.Choice(METRICS),
        help="What is judged; latency is the mean. Default: what the preset is about.",
    ),
    click.option(
        "--direction",
        "directions",
        multiple=True,
        type=click.Choice(("read", "write", "flush", "commit")),
        help="Judge only this direction.",
    ),
    click.option(
        "--confidence",
        type=click.UNPROCESSED,
        callback=within(50, 99.9, parse_percent),
        default=CheckQuestion.confidence,
        show_default=True,
        metavar="PERCENT",
        help="Confidence level, two-sided.",
    ),
    click.option("--without", multiple=True, metavar="N,...", help="Exclude these runs (the report lists them)."),
)


JUDGING = ("--require", "--same", "--metric", "--direction", "--confidence", "--without")
"""What they are called."""


def judging_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that say what is to be judged; the command gets them as a ``question``."""

    @functools.wraps(command)
    def wrapped(
        require: float,
        same_percent: float,
        metrics: tuple[str, ...],
        directions: tuple[str, ...],
        confidence: float,
        without: tuple[str, ...],
        **others: Any,
    ) -> Any:
        question = CheckQuestion(require, same_percent, confidence, metrics, directions, without)
        return command(question=question, **others)

    for option in reversed(_judging_options):
        wrapped = option(wrapped)
    return wrapped


set_option = click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="OPTION=VALUE",
    shell_complete=complete_options,
    help="Change an option of the preset, by the tool's own name for it; A,B,C makes one run for each value.",
)
destroy_option = click.option(
    "--destroy", multiple=True, metavar="NAME", help="Allow overwriting an existing file, device or image."
)
shared_pool_option = click.option("--shared-pool", is_flag=True, help="Allow load on a pool that is in use.")
drop_caches_option = click.option(
    "--drop-caches",
    is_flag=True,
    help="Before each run, drop the page cache of the nodes and the caches of all OSDs: this slows all their clients.",
)
quiet_option = click.option(
    "--quiet-cluster",
    "quiet",
    flag_value="scrubs",
    default="",
    help="Set noscrub and nodeep-scrub for the cluster; flags that were not set before are cleared at the end.",
)
quiet_all_option = click.option(
    "--quiet-all",
    "quiet",
    flag_value="all",
    help="Like --quiet-cluster, and switch off the balancer and the PG autoscaler of all pools; back on at the end.",
)
stall_option = click.option(
    "--stall-timeout",
    type=click.UNPROCESSED,
    callback=within(10, math.inf, parse_duration),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="Stop a run after SECONDS without a completed I/O.",
)
_JSON_HELP = "JSON Lines on stdout: plan, samples, runs, results."
_measuring_options = (
    data_pool_option,
    set_option,
    session_option,
    destroy_option,
    shared_pool_option,
    drop_caches_option,
    quiet_option,
    quiet_all_option,
    stall_option,
    click.option("--dry-run", is_flag=True, help="Show commands, writes and duration; run nothing."),
)
_CONDITIONS = (set_option, drop_caches_option, quiet_option, quiet_all_option)
"""Those that change how it is measured."""


@dataclass(frozen=True)
class Measuring:
    """The options of all that measures."""

    where: Where
    data_pool: str | None
    session: str | None
    destroy: tuple[str, ...]
    shared_pool: bool
    stall_timeout: float
    dry_run: bool
    output: Output
    """Of what the runs show."""
    overrides: tuple[str, ...] = ()
    drop_caches: bool = False
    quiet: Quiet = ""

    @property
    def manner(self) -> Manner:
        """How it is measured."""
        from cephtui.models.manner import Manner

        return Manner(self.drop_caches, self.quiet)

    @property
    def as_json(self) -> bool:
        """Whether programs read the output, which has samples and runs too."""
        return self.output.form == "json"

    @property
    def consents(self) -> dict[str, Any]:
        """What a request has of the options that allow something, and of the node that asks the cluster."""
        return {
            "destroy": self.destroy,
            "shared_pool": self.shared_pool,
            "ceph_node": self.where.ceph_node,
            "manner": self.manner,
            "drop_agreed": self.drop_caches,
            "quiet_agreed": bool(self.quiet),
        }


def measuring_options(command: Callable[..., Any], left_out: Collection[object] = ()) -> Callable[..., Any]:
    """Adds the options of all that measures, but for some, with its nodes; the command gets them as ``options``.

    Where the result can't be written, nothing is measured: Refused is raised.
    """
    names = [field.name for field in fields(Measuring)]

    @functools.wraps(command)
    def wrapped(**arguments: Any) -> Any:
        options = Measuring(**{name: arguments.pop(name) for name in names if name in arguments})
        check_output(options.output)
        return command(options=options, **arguments)

    decorated = output_options(wrapped, json_help=_JSON_HELP)
    for option in reversed(_measuring_options):
        decorated = decorated if option in left_out else option(decorated)
    return where_options(decorated)


ceiling_options = functools.partial(measuring_options, left_out=_CONDITIONS)
"""The same without what changes how it is measured."""
