"""Reports to look at: of the recorded session, and of runs with given figures."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cephtui.analysis.runs.change import Change
from cephtui.analysis.verdicts.conclusion import ConclusionTerms, Judgement, conclude
from cephtui.models import Mark, Run
from cephtui.reports.blocks import Document
from cephtui.reports.views.charts import Line
from cephtui.reports.views.report.content import document_of
from cephtui.reports.views.report.material import Material, of_change
from cephtui.sessions.saved_changes import change_of_session
from tests.support.runs import IOPS, STARTED, STEP_SECONDS, cluster, environment, run, total

AT = datetime(2026, 11, 23, 9, 30, tzinfo=UTC)
BEFORE, AFTER = (10000.0, 10400.0, 9800.0, 10200.0, 9900.0), (8200.0, 8500.0, 8000.0, 8450.0, 8100.0)
"""Worse by 18 %, and shown to be."""
MARK = "ceph config set osd osd_op_num_shards_hdd 8"


def side(values: Sequence[float], first: int, config: str, **changes: Any) -> tuple[Run, ...]:
    """Runs of rbd images on one node, of a cluster with an option."""
    fields = {
        "environment": {"pve1": environment()},
        "cluster": cluster(config={"osd osd_op_num_shards_hdd": config}),
        "cephtui_version": "1.0",
        "user": "admin",
        **changes,
    }
    figures = [total(iops=iops, bandwidth_bytes=4096 * iops, latency_p99_seconds=64 / iops) for iops in values]
    return tuple(run(number, write=write, **fields) for number, write in enumerate(figures, first))


def differing(judged: Judgement, *changed: str) -> Judgement:
    """With what was seen to differ between the sides."""
    return replace(judged, conclusion=judged.conclusion.model_copy(update={"changed": changed}))


def material(
    before: Sequence[float] = BEFORE, after: Sequence[float] = AFTER, mark: str = MARK, **changes: Any
) -> Material:
    """A change between two sides."""
    left, right = side(before, 1, "5", **changes), side(after, 1 + len(before), "8", **changes)
    marks = (Mark(at=STARTED + timedelta(seconds=STEP_SECONDS * (len(before) + 1) - 1), text=mark),)
    asked = ConclusionTerms(lambda _: IOPS)
    change = Change(left, right)
    seconds = [(each, 1.0 + each % 3 / 10) for each in range(1, 31)]
    return Material(
        runs=(*left, *right),
        changes=(change,),
        judgement=differing(conclude([change], asked, AT), "osd_op_num_shards_hdd 5 -> 8"),
        headline=asked.headline,
        marks=marks,
        lines={
            f"tuning/{each.run}": Line(IOPS, tuple((at, value * factor) for at, factor in seconds))
            for each, value in zip((*left, *right), (*before, *after), strict=True)
        },
        files=(("tuning/001/run.json", "0" * 64),),
        other_runs=("tuning/11",),
        notes=(),
        made_at=AT,
    )


def study() -> Material:
    """Runs without a change."""
    return replace(material(), changes=(), judgement=None, marks=())


def recorded(directory: Path) -> Material:
    """Of the recorded session, whose change is for the worse."""
    found = change_of_session(directory)
    return of_change(found, ConclusionTerms(lambda _: IOPS), AT)


def stable(document: Document) -> Document:
    """The same for every version of cephtui."""
    return replace(document, footer="cephtui, made at a fixed time")


def document(of: Material) -> Document:
    return stable(document_of(of))


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times are written by the clock of the machine."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()
