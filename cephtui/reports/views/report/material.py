"""What a document is about: runs with what was said of them, gathered from saved sessions.

Of a session only its verdicts are added to, by new ones.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from pathlib import Path

from cephtui.analysis.detectors.slowest import osd_latency
from cephtui.analysis.runs.batches import group, in_time_order, name_of
from cephtui.analysis.runs.change import Change
from cephtui.analysis.runs.history import History
from cephtui.analysis.verdicts.conclusion import ConclusionTerms, Judgement, metric_named
from cephtui.analysis.verdicts.guided_check import criteria_of
from cephtui.analysis.verdicts.versus import Versus, conclude_versus
from cephtui.analysis.views.matrix import OsdLatencies
from cephtui.frozen import dataclass
from cephtui.models import Ceiling, ClusterSample, Mark, Run, Sample
from cephtui.models.expectation import Expected
from cephtui.models.metrics import BY_NAME, Metric
from cephtui.models.study import Ordered, SavedStudy
from cephtui.reading import open_regular
from cephtui.reports.blocks import Words, words
from cephtui.reports.drawn.sparks import bucket
from cephtui.reports.masking.mask import Mask, anonymous, names_in
from cephtui.reports.views.charts import Line
from cephtui.reports.words.facts import run_names
from cephtui.sessions import store
from cephtui.sessions.ceilings import ceilings_of
from cephtui.sessions.expected import judge_expected
from cephtui.sessions.saved_changes import NoChange, SavedChange, change_of_session
from cephtui.sessions.studies import batches_until_stable, ordered_in, read_studies
from cephtui.sessions.verdicts import is_kept, judge_saved, keep_verdicts, with_earlier

_PIECE_BYTES = 1 << 20
_POINTS_MOST = 150
"""Of a run's line: what a chart of the width of a page can show."""
_LINES_MOST = 40
"""Runs that have a line."""
_RATES = (BY_NAME["iops"], BY_NAME["bandwidth_bytes"])


@dataclass(frozen=True, slots=True)
class Material:
    """All that a document is made of. Texts are of any origin."""

    runs: tuple[Run, ...]
    """In the order of time, as far as that is known."""
    changes: tuple[Change, ...]
    """None of a study, which has no verdict."""
    judgement: Judgement | None
    headline: Callable[[Run], Metric]
    marks: tuple[Mark, ...]
    lines: Mapping[str, Line]
    """By the name of a run: ``tuning/3``."""
    files: tuple[tuple[str, str], ...]
    """What the runs were read from, and its SHA-256 in hexadecimal."""
    other_runs: tuple[str, ...]
    """Names of runs of the same sessions that are not in it."""
    notes: tuple[str, ...]
    """What has to be known before the verdict, or why there is none."""
    made_at: datetime
    title: str = ""
    """As the user has chosen it; else the document has one of its own."""
    sides: tuple[str, str] = ("before", "after")
    """What the sides of a change are called: of two sessions their names, A and B of others out of order in time."""
    is_versus: bool = False
    """Whether two whole sessions stand against each other: nothing was changed between their runs."""
    until_stable: frozenset[str] = frozenset()
    """Batches that were repeated until stable: their intervals were looked at after each run."""
    ceilings: Mapping[str, Sequence[Ceiling]] = field(default_factory=dict)
    """What may limit runs, also where it is not known, by their names: of one run of each side, or of each point."""
    is_diagnosis: bool = False
    """Whether a study was to say why the cluster is slow."""
    ordered: Ordered | None = None
    """What was ordered as a whole in the session of a study."""
    expected: tuple[Expected, ...] = ()
    """What became of what was expected of the runs."""
    osds: OsdLatencies = field(default_factory=dict)
    """Of the runs of a study."""
    seconds: Callable[[str], Iterable[Sample]] = lambda name: ()
    """The seconds of a run by its name, of all nodes together; raises StoreError."""

    @property
    def sessions(self) -> tuple[str, ...]:
        """Names, each once."""
        return tuple(dict.fromkeys(run.session for run in self.runs))

    def ids(self, names: Iterable[str]) -> Words:
        """``#1-3, 5`` of runs by their names; with their sessions where the document is about several."""
        by_session = run_names(names)
        if len(self.sessions) != 1:
            return words(by_session)
        return words((f"#{by_session.removeprefix(f'{self.sessions[0]}/')}", "runs"))

    def side_of(self, run: Run) -> str:
        """The name of a run's side; empty in a study."""
        for change in self.changes:
            for word, side in zip(self.sides, (change.before, change.after), strict=True):
                if any(name_of(other) == name_of(run) for other in side):
                    return word
        return ""


def digests(root: Path, runs: Iterable[Run]) -> tuple[tuple[str, str], ...]:
    """The files that figures and marks of these runs are in, with the SHA-256 of each; what can't be read is left out.

    Their names are relative to the directory of the sessions, as sha256sum prints and checks them.
    """
    paths: dict[str, None] = {}
    for run in runs:
        paths |= dict.fromkeys(f"{run.session}/{run.run:03}/{name}" for name in ("run.json", "samples.jsonl"))
        paths[f"{run.session}/marks.jsonl"] = None
    sums = []
    for path in sorted(paths):
        with contextlib.suppress(OSError):
            sums.append((path, _sha256(root / path)))
    return tuple(sums)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with open_regular(path) as file:
        while piece := file.read(_PIECE_BYTES):
            digest.update(piece)
    return digest.hexdigest()


def lines_of(root: Path, runs: Sequence[Run]) -> dict[str, Line]:
    """How the first of these runs went; those without a curve are left out. Raises StoreError."""
    lines = {}
    for run in runs[:_LINES_MOST]:
        line = line_of(store.read_history(root / run.session, run.run))
        if line is not None:
            lines[name_of(run)] = line
    return lines


def line_of(history: History) -> Line | None:
    """IOPS or bandwidth of a run without its ramp, in few enough points, by the time since its release as findings have
    it; None where it has neither."""
    for metric in _RATES:
        stretches = [stretch for stretch in history.total(metric.name).stretches() if stretch[0] > history.ramp_until]
        per_point = -(-len(stretches) // _POINTS_MOST) or 1
        points = []
        for at in range(0, len(stretches), per_point):
            value = bucket([mean for _, _, mean, _ in stretches[at : at + per_point]])
            if value is not None:
                points.append((stretches[min(at + per_point, len(stretches)) - 1][0], value))
        if points:
            return Line(metric, tuple(points))
    return None


def of_session(directory: Path, question: ConclusionTerms, at: datetime) -> Material:
    """The verdict around its last mark, or of its guided check; else a study. Raises StoreError.

    A new verdict is kept in the session as that of a check is, where it can be written.
    """
    try:
        change = change_of_session(directory)
    except NoChange:
        runs, _ = store.read_runs(directory)
        return of_study(directory, runs, question, at)
    material = of_change(change, as_asked(question, change), at)
    if material.judgement and not is_kept(material.judgement, directory):
        with contextlib.suppress(OSError):
            keep_verdicts(material.judgement, directory)
    return material


def as_asked(question: ConclusionTerms, change: SavedChange) -> ConclusionTerms:
    """The question of a guided check, where the change is one; else this one, with the looks of the change."""
    guided = change.guided
    if guided is None:
        criteria = replace(question.criteria, looks=change.looks)
        return replace(question, criteria=criteria, session_runs=change.session_runs, not_chosen=change.not_chosen)
    metrics = tuple(metric_named(name) for name in guided.metrics)
    return replace(
        question,
        criteria=criteria_of(guided),
        metrics=metrics,
        directions=guided.directions,
        not_chosen=change.not_chosen,
    )


def of_change(saved: SavedChange, question: ConclusionTerms, at: datetime, title: str = "") -> Material:
    """The verdict on a change, with what it rests on; raises StoreError."""
    root = saved.directory.parent
    runs = [run for change in saved.changes for run in change.runs]
    judgement = judge_saved(saved.changes, question, saved.marks, saved.directory, at)
    return _material(root, runs, saved.marks, question, at, title, saved.notes, saved.changes, judgement)


def of_study(
    directory: Path,
    runs: Sequence[Run],
    question: ConclusionTerms,
    at: datetime,
    title: str = "",
    *,
    is_whole: bool = True,
) -> Material:
    """Runs of one session without a verdict: all, or some of them. Raises StoreError, also for no runs."""
    if not runs:
        raise store.StoreError(f"session {directory.name} has no runs: there is nothing to report")
    material = _material(directory.parent, runs, tuple(store.read_marks(directory)), question, at, title, ())
    osds = {run.run: osd_latency(store.read_states(directory, run.run, ClusterSample), run) for run in runs}
    studies = read_studies(directory)
    return replace(
        material,
        ordered=ordered_in(studies if is_whole else _studies_of(runs, studies)),
        osds=osds,
        until_stable=frozenset(batches_until_stable(directory)),
        is_diagnosis=any(study.diagnosis for study in studies),
    )


def _studies_of(runs: Iterable[Run], studies: Iterable[SavedStudy]) -> list[SavedStudy]:
    """The studies in which these runs were measured, with nothing in them that was to be measured besides."""
    batches = {run.batch for run in runs}
    parts = ((study, tuple(cell for cell in study.cells if cell.batch in batches)) for study in studies)
    return [study.model_copy(update={"cells": cells}) for study, cells in parts if cells]


def of_versus(versus: Versus, directory: Path, question: ConclusionTerms, at: datetime, title: str = "") -> Material:
    """The runs of one session against those of another, whose ``directory`` it is; raises StoreError."""
    judgement = with_earlier(conclude_versus(versus, question, at), directory)
    runs = [run for pair in versus.pairs for run in pair.runs]
    material = _material(directory.parent, runs, (), question, at, title, (), versus.pairs, judgement)
    return replace(material, sides=(versus.left.name, versus.right.name), is_versus=True)


def _material(
    root: Path,
    runs: Sequence[Run],
    marks: tuple[Mark, ...],
    question: ConclusionTerms,
    at: datetime,
    title: str,
    notes: tuple[str, ...],
    changes: tuple[Change, ...] = (),
    judgement: Judgement | None = None,
) -> Material:
    ordered = in_time_order(runs)
    names = {name_of(run) for run in ordered}
    sessions = dict.fromkeys(run.session for run in ordered)
    in_sessions = [run for session in sessions for run in store.read_runs(root / session)[0]]
    points = [side for change in changes for side in (change.before, change.after)]
    points = points or [point.repeats for batch in group(ordered) for point in batch.points]
    return Material(
        runs=tuple(ordered),
        changes=changes,
        judgement=judgement,
        headline=(lambda run: question.metrics[0]) if question.metrics else question.headline,
        marks=marks,
        lines=lines_of(root, ordered),
        files=digests(root, ordered),
        other_runs=tuple(name_of(run) for run in in_sessions if name_of(run) not in names),
        notes=notes,
        made_at=at,
        title=title,
        seconds=lambda name: _seconds(root, name),
        ceilings=_ceilings(root, points),
        expected=_expected(root, ordered, in_sessions, at),
        sides=("before", "after") if all(change.is_in_order for change in changes) else ("A", "B"),
    )


def _expected(root: Path, runs: Sequence[Run], in_sessions: Sequence[Run], at: datetime) -> tuple[Expected, ...]:
    """Expected figures of these runs, each judged with all of its batch; raises StoreError."""
    expected: list[Expected] = []
    for session in dict.fromkeys(run.session for run in runs):
        batches = {run.batch for run in runs if run.session == session}
        whole = [run for run in in_sessions if run.session == session and run.batch in batches]
        expected += judge_expected(root / session, whole, at)
    return tuple(expected)


def _ceilings(root: Path, points: Iterable[Sequence[Run]]) -> dict[str, tuple[Ceiling, ...]]:
    """Ceilings of the last run of each point."""
    return {name_of(run): ceilings_of(root / run.session, run) for run in (runs[-1] for runs in points)}


def _seconds(root: Path, name: str) -> Iterator[Sample]:
    session, _, number = name.rpartition("/")
    return (sample for sample in store.read_samples(root / session, int(number)) if sample.node is None)


def with_stand_ins(material: Material) -> Material:
    """The material without names of hosts, addresses, clusters, pools, images, files and users."""
    ordered = [material.ordered] if material.ordered else []
    verdicts = [material.judgement.conclusion, *material.judgement.verdicts] if material.judgement else []
    mask = Mask(names_in([*material.runs, *ordered]))  # what these say a name is counts before what others seem to say
    mask.see([*material.runs, *ordered, *material.marks, *verdicts, *material.expected])
    learned = -1
    while learned != len(mask):  # until no text has a name that was not known to all others
        learned = len(mask)
        masked = _masked(material, mask)
    return masked


def _masked(material: Material, mask: Mask) -> Material:
    masked = anonymous(material, mask)
    originals = {name_of(run): original for run, original in zip(masked.runs, material.runs, strict=True)}
    return replace(
        masked,
        headline=lambda run: material.headline(originals[name_of(run)]),
        seconds=lambda name: material.seconds(name_of(originals[name])),
    )
