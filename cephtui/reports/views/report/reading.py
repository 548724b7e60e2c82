"""From saved sessions to the material of a document. Of a session only its verdicts are added to, by new ones."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from cephtui.analysis.detectors.ceiling import Ceiling, ceilings
from cephtui.analysis.detectors.slowest import osd_latency
from cephtui.analysis.runs.batches import group, in_time_order, name_of
from cephtui.analysis.runs.change import Change
from cephtui.analysis.verdicts.conclusion import ConclusionTerms, Judgement, metric_named
from cephtui.analysis.verdicts.guided_check import criteria_of
from cephtui.analysis.verdicts.versus import Versus, conclude_versus
from cephtui.models import Mark, Run, Sample
from cephtui.models.expectation import Expected
from cephtui.reports.masking.anonymous import anonymous
from cephtui.reports.masking.mask import Mask, names_in
from cephtui.reports.views.report.material import Material, digests, lines_of
from cephtui.sessions import store
from cephtui.sessions.cluster_links import kept_links
from cephtui.sessions.expected import judge_expected
from cephtui.sessions.saved_changes import NoChange, SavedChange, change_of_session
from cephtui.sessions.studies import ordered_in, read_studies
from cephtui.sessions.verdicts import is_kept, judge_saved, keep_verdicts, with_earlier


def of_session(directory: Path, asked: ConclusionTerms, at: datetime) -> Material:
    """The verdict around its last mark, or of its guided check; else a study. Raises StoreError.

    A new verdict is kept in the session as that of a check is, where it can be written.
    """
    try:
        found = change_of_session(directory)
    except NoChange as error:
        runs, _ = store.read_runs(directory)
        return of_study(directory, runs, asked, at, "", str(error))
    material = of_change(found, as_asked(asked, found), at)
    if material.judged and not is_kept(material.judged, directory):
        with contextlib.suppress(OSError):
            keep_verdicts(material.judged, directory)
    return material


def as_asked(asked: ConclusionTerms, change: SavedChange) -> ConclusionTerms:
    """As a guided check was asked, where it is one; else with the looks of the change."""
    guided = change.guided
    if guided is None:
        criteria = replace(asked.criteria, looks=change.looks)
        return replace(asked, criteria=criteria, session_runs=change.session_runs, not_chosen=change.not_chosen)
    metrics = tuple(metric_named(name) for name in guided.metrics)
    return replace(
        asked, criteria=criteria_of(guided), metrics=metrics, directions=guided.directions, not_chosen=change.not_chosen
    )


def of_change(saved: SavedChange, asked: ConclusionTerms, at: datetime, title: str = "") -> Material:
    """The verdict on a change, with what it rests on; raises StoreError."""
    root = saved.directory.parent
    runs = [run for change in saved.changes for run in change.runs]
    judged = judge_saved(saved.changes, asked, saved.marks, saved.directory, at)
    return _material(root, runs, saved.marks, asked, at, title, saved.notes, saved.changes, judged)


def of_study(
    directory: Path, runs: Sequence[Run], asked: ConclusionTerms, at: datetime, title: str, why: str
) -> Material:
    """Runs of one session without a verdict; ``why`` there is none. Raises StoreError, also for no runs."""
    if not runs:
        raise store.StoreError(f"session {directory.name} has no runs: there is nothing to report")
    notes = (why,) if why else ()
    material = _material(directory.parent, runs, tuple(store.read_marks(directory)), asked, at, title, notes)
    osds = {run.run: osd_latency(store.read_cluster(directory, run.run), run) for run in runs}
    return replace(material, ordered=ordered_in(read_studies(directory)), osds=osds)


def of_versus(compared: Versus, directory: Path, asked: ConclusionTerms, at: datetime, title: str = "") -> Material:
    """All runs of one session against those of another, whose ``directory`` it is; raises StoreError."""
    judged = with_earlier(conclude_versus(compared, asked, at), directory)
    runs = [run for pair in compared.pairs for run in pair.runs]
    material = _material(directory.parent, runs, (), asked, at, title, (), compared.pairs, judged)
    return replace(material, sides=(compared.left.name, compared.right.name), is_versus=True)


def _material(
    root: Path,
    runs: Sequence[Run],
    marks: tuple[Mark, ...],
    asked: ConclusionTerms,
    at: datetime,
    title: str,
    notes: tuple[str, ...],
    changes: tuple[Change, ...] = (),
    judged: Judgement | None = None,
) -> Material:
    ordered = in_time_order(runs)
    names = {name_of(run) for run in ordered}
    sessions = dict.fromkeys(run.session for run in ordered)
    every = [run for session in sessions for run in store.read_runs(root / session)[0]]
    points = [side for change in changes for side in (change.before, change.after)]
    points = points or [point.repeats for batch in group(ordered) for point in batch.points]
    return Material(
        runs=tuple(ordered),
        changes=changes,
        judged=judged,
        headline=(lambda run: asked.metrics[0]) if asked.metrics else asked.headline,
        marks=marks,
        lines=lines_of(root, ordered),
        files=digests(root, ordered),
        others=tuple(name_of(run) for run in every if name_of(run) not in names),
        notes=notes,
        made_at=at,
        title=title,
        seconds=lambda name: _seconds(root, name),
        ceilings=_ceilings(root, points, every),
        expected=_expected(root, ordered, every, at),
        sides=("before", "after") if all(change.is_in_order for change in changes) else ("A", "B"),
    )


def _expected(root: Path, runs: Sequence[Run], every: Sequence[Run], at: datetime) -> tuple[Expected, ...]:
    """What became of what was expected of runs, each with all of its batch; raises StoreError."""
    found: list[Expected] = []
    for session in dict.fromkeys(run.session for run in runs):
        batches = {run.batch for run in runs if run.session == session}
        whole = [run for run in every if run.session == session and run.batch in batches]
        found += judge_expected(root / session, whole, at)
    return tuple(found)


def _ceilings(root: Path, points: Iterable[Sequence[Run]], every: Sequence[Run]) -> dict[str, tuple[Ceiling, ...]]:
    """Of the last run of each point for which any is known."""
    found = {}
    for run in (runs[-1] for runs in points):
        own = [other for other in every if other.session == run.session]
        known = ceilings(run, own, kept_links(root, run))
        if near := tuple(each for each in known if each.is_known):
            found[name_of(run)] = near
    return found


def _seconds(root: Path, name: str) -> Iterator[Sample]:
    session, _, number = name.rpartition("/")
    return (sample for sample in store.read_samples(root / session, int(number)) if sample.node is None)


def with_stand_ins(material: Material) -> Material:
    """The same without names of hosts, addresses, clusters, pools, images, files and users."""
    ordered = [material.ordered] if material.ordered else []
    judged = [material.judged.conclusion, *material.judged.verdicts] if material.judged else []
    mask = Mask(names_in([*material.runs, *ordered]))  # what these say a name is counts before what others seem to say
    mask.see([*material.runs, *ordered, *material.marks, *judged, *material.expected])
    known = -1
    while known != len(mask):  # until no text has a name that was not known to all others
        known = len(mask)
        masked = _masked(material, mask)
    return masked


def _masked(material: Material, mask: Mask) -> Material:
    runs = {name_of(run): anonymous(run, mask) for run in material.runs}
    own = {name_of(runs[name_of(run)]): run for run in material.runs}
    judged = material.judged
    if judged is not None:
        verdicts = tuple(anonymous(verdict, mask) for verdict in judged.verdicts)
        judged = Judgement(verdicts, anonymous(judged.conclusion, mask))
    return replace(
        material,
        runs=tuple(runs.values()),
        changes=tuple(
            replace(
                change,
                before=tuple(runs[name_of(run)] for run in change.before),
                after=tuple(runs[name_of(run)] for run in change.after),
            )
            for change in material.changes
        ),
        judged=judged,
        marks=tuple(anonymous(mark, mask) for mark in material.marks),
        lines={mask.text(name): line for name, line in material.lines.items()},
        files=tuple((mask.text(path), digest) for path, digest in material.files),
        others=tuple(map(mask.text, material.others)),
        notes=tuple(map(mask.text, material.notes)),
        title=mask.text(material.title),
        sides=(mask.text(material.sides[0]), mask.text(material.sides[1])),
        ceilings={
            mask.text(name): tuple(replace(each, basis=mask.text(each.basis)) for each in found)
            for name, found in material.ceilings.items()
        },
        ordered=anonymous(material.ordered, mask) if material.ordered else None,
        expected=tuple(anonymous(each, mask) for each in material.expected),
        headline=lambda run: material.headline(own[name_of(run)]),
        seconds=lambda name: material.seconds(name_of(own[name])),
    )
