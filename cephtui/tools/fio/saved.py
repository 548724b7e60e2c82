"""Every run in a saved log of fio, whatever it was printed as."""

from __future__ import annotations

from cephtui.models.metrics import DIRECTIONS
from cephtui.tools.fio.saved_json import find_documents
from cephtui.tools.fio.saved_text import find_text
from cephtui.tools.logs import FoundRun, Log


def find_runs(log: Log) -> list[FoundRun]:
    """In the order of the log; raises nothing. A run that was printed twice, as text and as JSON, is one."""
    documents = find_documents(log)
    texts = [run for run in find_text(log) if not any(_is_same(run, other) for other in documents)]
    return sorted([*documents, *texts], key=lambda run: run.line)


def _is_same(one: FoundRun, other: FoundRun) -> bool:
    return one.name == other.name and bool(one.summary.flows) and _done(one) == _done(other)


def _done(run: FoundRun) -> dict[str, tuple[int | None, float]]:
    flows = run.summary.flows
    return {name: (flows[name].ios, flows[name].runtime_seconds) for name in DIRECTIONS if name in flows}
