"""A session of several steps on three nodes, each in turn and then all: as far as it has been measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cephtui.models import ClusterSample, Finding, NodeResult, Run, Summary
from cephtui.models.study import Cell, Ordered, SavedStudy
from tests.support.known import known
from tests.support.runs import recorded
from tests.support.sessions import write_session

NAME = "study"
NODES = ("pve1", "pve2", "pve3")
REPEATS = 3
AT = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
_STEPS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("4k random writes", "write-iops", {}),
    ("mixed 75/25", "mixed-75-25", {}),
    ("writes by depth", "write-iops", {"iodepth": [1, 16]}),
)
_FIGURES = {
    "4k random writes": ((16_700.0, 9_800.0, 16_400.0, 21_900.0), 0.02),
    "mixed 75/25": ((12_100.0, 11_800.0, 12_300.0, 18_000.0), 0.04),
    "writes by depth": ((2_900.0, 2_850.0, 2_950.0, 7_400.0), 0.01),
}
"""Writes a second in each of the places, and how far apart repeats are."""


def order() -> Ordered:
    """All that was ordered: each step on each node in turn, then on all."""
    places = [*((node,) for node in NODES), NODES]
    cells = [
        Cell(
            step=step, preset=preset, options=options, target="rbd:bench", nodes=nodes, repeats=REPEATS,
            batch=f"{at}{number}",
        )
        for at, (step, preset, options) in enumerate(_STEPS)
        for number, nodes in enumerate(places)
    ]  # fmt: skip
    return Ordered(title="RBD from each node", cells=tuple(cells))


def _summary(run: Run, iops: float) -> Summary:
    total = known(recorded().summary.write)
    write = total.model_copy(update={"iops": iops, "bandwidth_bytes": iops * 4096})
    read = write.model_copy(update={"iops": 3 * iops}) if run.preset == "mixed-75-25" else None
    return Summary(read=read, write=write)


def runs(most: int = 1_000) -> Iterator[Run]:
    """The runs of the first cells, the last one in progress; one failed, and one has a finding."""
    numbers = iter(range(1, most + 1))
    for cell in order().cells:
        figures, apart = _FIGURES[cell.step]
        iops = figures[3 if len(cell.nodes) > 1 else NODES.index(cell.nodes[0])]
        swept = cell.options.get("iodepth")
        for depth in swept if isinstance(swept, list) else [64]:
            for repeat in range(1, cell.repeats + 1):
                if (number := next(numbers, None)) is None:
                    return
                yield _run(number, cell, repeat, iops * (1 + apart * (repeat - 2)), depth, is_last=number == most)


def _run(number: int, cell: Cell, repeat: int, iops: float, depth: Any, *, is_last: bool) -> Run:
    run = recorded(
        number,
        session=NAME,
        batch=cell.batch,
        repeat=repeat,
        preset=cell.preset,
        target=cell.target,
        options={**recorded().options, "iodepth": depth},
        started_at=AT + timedelta(seconds=70 * number),
        duration_seconds=65.0,
        findings=(Finding(code="health", text="the cluster was HEALTH_WARN from 0:04 to 0:08"),) * (number == 3),
    )
    share = (0.36, 0.24, 0.40) if len(cell.nodes) > 1 else (1.0,)
    nodes = tuple(
        NodeResult(node=name, command="fio", outcome="ok", summary=_summary(run, iops * part))
        for name, part in zip(cell.nodes, share, strict=True)
    )
    if is_last:
        return run.model_copy(update={"outcome": None, "nodes": nodes, "summary": Summary(), "duration_seconds": 0.0})
    if number == 8:
        changes = {"outcome": "failed", "error": "fio ended with status 1: No space left on device"}
        return run.model_copy(update={**changes, "nodes": nodes, "summary": Summary()})
    return run.model_copy(update={"nodes": nodes, "summary": _summary(run, iops)})


def write(root: Path, runs: Iterable[Run], ordered: Ordered | None = None) -> Path:
    """A session with these runs, and with what was ordered; the directory."""
    studies = []
    if ordered:
        studies.append(SavedStudy(at=AT, suite="proxmox", title=ordered.title, cells=ordered.cells))
    return write_session(root, runs, name=NAME, created_at=AT, studies=studies, samples=with_a_slow_osd)


def with_a_slow_osd(run: Run) -> list[ClusterSample]:
    """What the cluster said during a run."""
    latency = {"0": 0.004, "1": 0.004, "2": 0.019}
    return [ClusterSample(run=run.run, elapsed_seconds=2.0 * n, osd_latency_seconds=latency) for n in range(3)]
