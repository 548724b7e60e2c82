"""A run with its repeats: one side of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from cephtui.analysis.runs.batches import SweepPoint, group, name_of
from cephtui.frozen import dataclass
from cephtui.models import Finding, Mark, Run


@dataclass(frozen=True, slots=True)
class Side:
    """A run and its repeats, the chosen run first; more than one only where all of them ended well."""

    runs: tuple[Run, ...]
    marks: tuple[Mark, ...] = ()
    """All marks of its session."""

    @property
    def run(self) -> Run:
        """The chosen run."""
        return self.runs[0]

    @property
    def name(self) -> str:
        """``tuning/3``, as it is typed."""
        return name_of(self.run)

    @property
    def problem(self) -> str | None:
        """Why the side has no results, or None."""
        return None if _is_measured(self.run) else f"{self.run.outcome or 'running'}: no results"

    def findings(self) -> dict[str, tuple[Run, ...]]:
        """The runs that have a finding, by its code; the order is that of the runs."""
        runs_by_code: dict[str, tuple[Run, ...]] = {}
        for run in self.runs:
            for code in dict.fromkeys(finding.code for finding in run.findings):
                runs_by_code[code] = (*runs_by_code.get(code, ()), run)
        return runs_by_code


def side_of(run: Run, runs_of_session: Iterable[Run], marks: Iterable[Mark] = ()) -> Side:
    """A run with its repeats: the same preset, options, target and nodes, in the same batch.

    Only runs that ended well are repeats of each other; any other run stands alone.
    """
    if run.outcome != "ok":
        return Side((run,), tuple(marks))
    other_runs = (other for other in runs_of_session if other.run != run.run)
    repeats = counted_repeats(group([run, *other_runs])[0].points[0])
    return Side((run, *(other for other in repeats if other is not run)), tuple(marks))


def counted_repeats(point: SweepPoint) -> tuple[Run, ...]:
    """The runs of a point that stand for each other, by their numbers: those that ended well and have figures."""
    counted = (run for run in point.repeats if run.outcome == "ok" and _is_measured(run))
    return tuple(sorted(counted, key=lambda run: run.run))


def without_shared_runs(left: Side, right: Side) -> tuple[Side, Side]:
    """Both sides; of sides that repeat each other the chosen runs only, as both would have the same runs."""
    if right.run not in left.runs:
        return left, right
    return replace(left, runs=(left.run,)), replace(right, runs=(right.run,))


def _is_measured(run: Run) -> bool:
    return bool(run.summary.flows)


def findings_with_runs(side: Side) -> list[tuple[Finding, str]]:
    """Each kind of finding of a side, from the first run that has it, with the runs that have it if not all do."""
    having = side.findings()
    by_code: dict[str, list[tuple[Finding, str]]] = {code: [] for code in having}
    for run in side.runs:
        for finding in run.findings:
            runs = having[finding.code]
            if runs[0] is run:
                by_code[finding.code].append((finding, _where(side, runs)))
    return list(chain.from_iterable(by_code.values()))


def _where(side: Side, runs: Sequence[Run]) -> str:
    if len(runs) == len(side.runs):
        return ""
    return f" (in {len(runs)} of {len(side.runs)} runs: {', '.join(f'#{run.run}' for run in runs)})"
