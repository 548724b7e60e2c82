"""What is expected of runs for the command line: as it is typed, and what became of it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.console import Group

from cephtui.analysis.batches import Point, group
from cephtui.analysis.conclusion import why_invalid
from cephtui.analysis.expectation import (
    Expectation,
    answer_to,
    block_of,
    is_about,
    judge_expectation,
    parse_expectation,
    seconds_reached,
)
from cephtui.cli.printing import print_lines, print_report
from cephtui.exit_codes import EXIT_NO_VERDICT, EXIT_NOT_MET
from cephtui.models import Run
from cephtui.models.expectation import Expected
from cephtui.models.suite import Cell
from cephtui.models.verdict import Answer
from cephtui.reports.expectation import expected_lines
from cephtui.reports.tables import plain
from cephtui.reports.text import varied
from cephtui.sessions import store
from cephtui.sessions.store import StoreError

CODES: dict[Answer, int] = {"met": 0, "not met": EXIT_NOT_MET, "undecided": EXIT_NO_VERDICT}


def check_expected(texts: Sequence[str]) -> tuple[str, ...]:
    """What --expect names; raises UsageError for what is none."""
    try:
        for text in texts:
            parse_expectation(text)
    except ValueError as error:
        raise click.UsageError(f"--expect: {error}") from None
    return tuple(texts)


def expected_of(runs: Sequence[Run], directory: Path, cells: Sequence[Cell]) -> dict[str, list[Expected]]:
    """What became of all that is expected of the cells of a session, by their batches, as far as they were measured.

    ``runs`` are all of the session in this directory; raises StoreError for samples that can't be read.
    """
    names, presets = varied(runs), [cell.preset for cell in cells]
    found: dict[str, list[Expected]] = {}
    for cell in cells:
        step = cell.preset if presets.count(cell.preset) == 1 else cell.step
        points = [point for batch in group(run for run in runs if run.batch == cell.batch) for point in batch.points]
        for expected in map(parse_expectation, cell.expect):
            about = [point for point in points if is_about(expected, point.repeats)]
            for point in about or points:
                name = f"{step} {names[point.repeats[0].run]}".strip()
                found.setdefault(cell.batch, []).append(_judged(directory, expected, name, point))
    return found


def _judged(directory: Path, expected: Expectation, step: str, point: Point) -> Expected:
    seconds = [_seconds(directory, run, expected) for run in point.repeats if not why_invalid(run)]
    return judge_expectation(expected, step, point.repeats, seconds, datetime.now(UTC))


def _seconds(directory: Path, run: Run, expected: Expectation) -> tuple[int, int]:
    """None are known of an imported run."""
    if run.imported_from:
        return (0, 0)
    return seconds_reached(store.read_samples(directory, run.run), expected, block_of(run))


def read_expected(directory: Path, cells: Sequence[Cell]) -> tuple[list[Run], dict[str, list[Expected]]]:
    """The runs of a session, and by batch what became of what is expected of them; raises ClickException."""
    try:
        runs = store.read_runs(directory)[0]
        return runs, expected_of(runs, directory, cells)
    except StoreError as error:
        raise click.ClickException(str(error)) from None


def conclude_expected(directory: Path | None, cells: Sequence[Cell], as_json: bool) -> int:
    """Print what became of all that is expected; the exit code, 0 where nothing is."""
    wanted = [cell for cell in cells if cell.expect]
    if not wanted or directory is None:
        return 0
    _, by_batch = read_expected(directory, wanted)
    found = [each for every in by_batch.values() for each in every]
    if as_json:
        print_lines(found)
        sys.stdout.flush()
    else:
        print_report(Group(*(plain(text, style) for text, style in expected_lines(found))))
    return CODES[answer_to(found)]
