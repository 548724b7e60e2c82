"""Every run in a saved log of fio, whatever it was printed as."""

from __future__ import annotations

from cephtui.models.metrics import DIRECTIONS
from cephtui.tools.fio.saved_json import find_documents
from cephtui.tools.fio.saved_terse import find_terse
from cephtui.tools.fio.saved_text import find_text
from cephtui.tools.logs import FoundRun, Log


def find_runs(log: Log) -> list[FoundRun]:
    """In the order of the log; raises nothing. A run that was printed in several forms is one."""
    documents = find_documents(log)
    texts = [run for run in find_text(log) if not any(_is_same(run, other) for other in documents)]
    terse = [run for run in find_terse(log) if not any(_is_rounded(run, other) for other in (*documents, *texts))]
    return sorted([*documents, *texts, *terse], key=lambda run: run.line)


def _is_same(one: FoundRun, other: FoundRun) -> bool:
    return one.name == other.name and bool(one.summary.flows) and _done(one) == _done(other)


def _done(run: FoundRun) -> dict[str, tuple[int | None, float]]:
    flows = run.summary.flows
    return {name: (flows[name].ios, flows[name].runtime_seconds) for name in DIRECTIONS if name in flows}


def _is_rounded(run: FoundRun, other: FoundRun) -> bool:
    """Whether a run in terse form is one that was printed otherwise, too."""
    ours, theirs = run.summary.flows, other.summary.flows
    return (
        run.name == other.name
        and ours.keys() == theirs.keys() & set(DIRECTIONS)
        and all(
            round(total.runtime_seconds * 1e3) == round(theirs[name].runtime_seconds * 1e3)
            and abs((total.bytes or 0) - (theirs[name].bytes or 0)) <= _NEAR * (total.bytes or 0)
            for name, total in ours.items()
        )
    )


_NEAR = 0.01
"""By how much the bytes of text are rounded."""
