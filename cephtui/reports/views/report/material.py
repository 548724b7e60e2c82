"""What a document is about: runs with what was said of them, gathered from saved sessions."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from pathlib import Path

from cephtui.analysis.detectors.ceiling import Ceiling
from cephtui.analysis.runs.batches import name_of
from cephtui.analysis.runs.change import Change
from cephtui.analysis.runs.history import History
from cephtui.analysis.verdicts.conclusion import Judgement
from cephtui.analysis.views.matrix import OsdLatencies
from cephtui.frozen import dataclass
from cephtui.models import Mark, Run, Sample
from cephtui.models.expectation import Expected
from cephtui.models.metrics import BY_NAME, Metric
from cephtui.models.study import Ordered
from cephtui.reading import open_regular
from cephtui.reports.drawn.sparks import bucket
from cephtui.reports.views.charts import Line
from cephtui.sessions import store

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
    judged: Judgement | None
    headline: Callable[[Run], Metric]
    marks: tuple[Mark, ...]
    lines: Mapping[str, Line]
    """By the name of a run: ``tuning/3``."""
    files: tuple[tuple[str, str], ...]
    """What the runs were read from, and its SHA-256 in hexadecimal."""
    others: tuple[str, ...]
    """Runs of the same sessions that are not in it."""
    notes: tuple[str, ...]
    """What has to be known before the verdict, or why there is none."""
    made_at: datetime
    title: str = ""
    """As the user has chosen it; else the document has one of its own."""
    sides: tuple[str, str] = ("before", "after")
    """What the sides of a change are called: of two sessions their names, A and B of others out of order in time."""
    is_versus: bool = False
    """Whether two whole sessions stand against each other: nothing was changed between their runs."""
    ceilings: Mapping[str, Sequence[Ceiling]] = field(default_factory=dict)
    """What may limit runs, by their names: of one run of each side, or of each point."""
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

    def side_of(self, run: Run) -> str:
        """What the side of a run is called; empty in a study."""
        for change in self.changes:
            for word, side in zip(self.sides, (change.before, change.after), strict=True):
                if any(name_of(each) == name_of(run) for each in side):
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
    found = []
    for path in sorted(paths):
        with contextlib.suppress(OSError):
            found.append((path, _sha256(root / path)))
    return tuple(found)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with open_regular(path) as file:
        while piece := file.read(_PIECE_BYTES):
            digest.update(piece)
    return digest.hexdigest()


def lines_of(root: Path, runs: Sequence[Run]) -> dict[str, Line]:
    """How the first of these runs went; those without a curve are left out. Raises StoreError."""
    found = {}
    for run in runs[:_LINES_MOST]:
        line = line_of(store.read_history(root / run.session, run.run))
        if line is not None:
            found[name_of(run)] = line
    return found


def line_of(history: History) -> Line | None:
    """IOPS or bandwidth of a run over time, in few enough points; None where it has neither."""
    for metric in _RATES:
        stretches = [each for each in history.total(metric.name).stretches() if each[0] > history.ramp_until]
        each = -(-len(stretches) // _POINTS_MOST) or 1
        points = []
        for at in range(0, len(stretches), each):
            value = bucket([mean for _, _, mean, _ in stretches[at : at + each]])
            if value is not None:
                points.append((stretches[min(at + each, len(stretches)) - 1][0] - history.ramp_until, value))
        if points:
            return Line(metric, tuple(points))
    return None
