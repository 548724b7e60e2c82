"""``run --sweep-depth auto``: runs at depths that follow from those before, and at most of the peak what that gives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import click

from cephtui.analysis.conditions import load_of
from cephtui.analysis.knee import OF_PEAK, Knee, knee_of
from cephtui.analysis.sweep import DEPTH_MOST, Measured, measured_of, next_depth, points_of
from cephtui.cli.emit import emit_table
from cephtui.cli.output import print_saved
from cephtui.cli.printing import print_lines
from cephtui.cli.series import Series, in_series, singly
from cephtui.exit_codes import EXIT_NO_VERDICT
from cephtui.models import Run
from cephtui.models.rows import KneeRow
from cephtui.ordering import plan_of
from cephtui.ordering import points_of as steps_of
from cephtui.planning import Request, new_batch
from cephtui.reports.sweep import confirmed_line, dry_sweep_line, point_line
from cephtui.reports.views.curve import curve_view, curves_of, rows_of_curve
from cephtui.running.runner import Runner
from cephtui.terminal import say
from cephtui.tools.base import OptionError

_MIXED = ("rw", "readwrite", "randrw")


def check_sweep(
    requests: Sequence[Request], confirm: bool, overrides: Sequence[str], others: Mapping[str, object]
) -> None:
    """Raises UsageError and OptionError where the depth can't be swept, before any node is connected."""
    for option, value in others.items():
        if value:
            raise click.UsageError(f"--sweep-depth decides how often and in which order it runs: leave out {option}")
    for request, _ in singly(requests):
        tool = request.preset.tool
        if not tool.depth_option:
            raise click.UsageError(f"--sweep-depth: {tool.title} has no depth ({request.preset.name})")
        if any(text.partition("=")[0].strip() == tool.depth_option for text in overrides):
            raise click.UsageError(f"--sweep-depth chooses the depths: leave out --set {tool.depth_option}")
        if steps_of(at_depth(request, 1)) > 1:
            problem = f"takes one value of each other option, and {request.preset.name} is a sweep"
            raise OptionError("sweep-depth", problem)
        if confirm:
            _check_confirmed(request)


def _check_confirmed(request: Request) -> None:
    tool, (step,) = request.preset.tool, plan_of(at_depth(request, 1)).steps
    if "rate_process" not in {field.name for field in tool.fields()}:
        raise click.UsageError(
            f"--confirm: {tool.title} can't offer a fixed rate, it begins an operation as soon as another ends: "
            "leave out --confirm"
        )
    if step.options.get(tool.direction_option) in _MIXED:
        raise click.UsageError(
            f"--confirm: {tool.title} paces reads and writes apart: take a preset that only does one"
        )


def at_depth(request: Request, depth: int) -> Request:
    """The same with this depth of a job."""
    return replace(request, overrides={**request.overrides, request.preset.tool.depth_option: depth})


def depth_most(request: Request) -> int:
    """The greatest power of two that the tool and its target take, up to 256."""
    most = 1
    while most < DEPTH_MOST and _is_possible(at_depth(request, 2 * most)):
        most *= 2
    return most


def _is_possible(request: Request) -> bool:
    try:
        plan_of(request)
    except OptionError:
        return False
    return True


def sweep_line(requests: Sequence[Request], *, confirm: bool) -> str:
    """How many runs there may be, and how long they take."""
    return dry_sweep_line([*map(plan_of, requests)], [*map(depth_most, requests)], confirm=confirm)


def run_sweep(runner: Runner, requests: Sequence[Request], confirm: bool, as_json: bool) -> int:
    """Sweep the depth of each preset on each target, and print its curve; the exit code.

    Raises StoreError where nothing could be run.
    """

    def work(series: Series) -> None:
        for request, name in singly(requests):
            prefix, runs = f"{name}: " if name else "", list[Run]()
            measured = sweep_depth(series, request, runs, prefix)
            if as_json:
                rows = (row for curve in curves_of(runs) for row in rows_of_curve(curve))
                print_lines(row for row in rows if isinstance(row, KneeRow))
            if confirm:
                confirm_knee(series, request, measured, runs[-1], prefix)

    return in_series(runner, work, as_json, _print_curves)


def _print_curves(runs: Sequence[Run]) -> None:
    """What was swept; a run that confirms it stands alone, and has had its line."""
    for curve in curves_of(runs):
        emit_table(curve_view(curve))
    print_saved(runs)


def sweep_depth(series: Series, request: Request, runs: list[Run], prefix: str) -> list[Measured]:
    """Add all runs of a sweep; those that count, by their depths."""
    measured, most = list[Measured](), depth_most(request)
    while (depth := next_depth(measured, most)) is not None:
        number, repeat = len(runs) + 1, 1 + sum(each.depth == depth for each in measured)
        one = replace(at_depth(request, depth), repeats=number, begun=number - 1, until=number)
        if not series.measure_another(one, runs, prefix, repeat):
            continue
        found = measured_of(runs[-1], depth)
        if found is None:
            say(f"{prefix}#{runs[-1].run} completed nothing: the sweep ends here")
            series.note(EXIT_NO_VERDICT)
            break
        measured.append(found)
        say(f"{prefix}{point_line(measured)}")
    return measured


def confirm_knee(series: Series, request: Request, measured: Sequence[Measured], last: Run, prefix: str) -> None:
    """Measure at most of the peak, where I/Os come at their own times and not as others end; or say why not."""
    knee = knee_of(points_of(measured))
    if knee is None or not knee.is_known:
        say(f"{prefix}not confirmed: the sweep has found no knee")
        series.note(EXIT_NO_VERDICT)
        return
    paced, runs = _paced(request, knee, last), list[Run]()
    while not series.measure_another(
        replace(paced, repeats=len(runs) + 1, begun=len(runs), until=len(runs) + 1), runs, prefix
    ):
        pass  # two in a row that do not count end it
    say(f"{prefix}{confirmed_line(runs[-1])}")


def _paced(request: Request, knee: Knee, run: Run) -> Request:
    """With the rate that each job on each node has of it, and room for twice the knee in flight."""
    load = load_of(run)
    jobs = (load.jobs if load else 1) * len(request.nodes)
    rate = max(1, round(OF_PEAK * knee.peak / jobs))
    paced = at_depth(request, math.ceil(2 * knee.located))
    overrides = {**paced.overrides, "rate_iops": rate, "rate_process": "poisson"}
    return replace(paced, overrides=overrides, batches=(new_batch(),))
