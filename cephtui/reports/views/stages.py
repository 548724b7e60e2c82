"""Where the latency of runs goes: on the network and in the client, and in the OSDs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from cephtui import units
from cephtui.analysis.runs.stages import is_capped
from cephtui.models import Finding, Run, Stages
from cephtui.reports.blocks import Block, Cell, Column, Table, Text, naming_runs, plain_text, words
from cephtui.reports.words.stages import LAST_STAGE, commits_text, named_stages, operations_per_io, round_trips_text

_ABOUT = Text(
    "Where the latency goes: the OSDs count, from the receipt of a message, the wait for a worker thread (queue), the "
    "preparation, and the write of the slowest copy or the read. Network and client is the rest of the client's mean. "
    "OSDs do 1.00 operations (ops) per I/O of the run, unless other clients are active, or I/Os are split or merged",
    "dim",
)


def stage_blocks(runs: Mapping[Cell, Run]) -> tuple[Block, ...]:
    """The stages of runs by name, empty for the only one; nothing where none are known."""
    rows = [
        (name, flow, *_cells(stages, flow, run.findings))
        for name, run in runs.items()
        for flow, stages in run.stages.items()
    ]
    if not rows:
        return ()
    flows = {flow for run in runs.values() for flow in run.stages}
    inside = (
        Text(naming_runs(commits_text(run.commits, plain_text(name))))
        for name, run in runs.items()
        if run.commits and "write" in run.stages
    )
    trips = round_trips_text(run for run in runs.values() if run.stages)
    return Table(_heads(flows), tuple(rows)).filled, _ABOUT, *inside, *([Text(trips)] if trips else [])


def _heads(flows: Iterable[str]) -> tuple[Column, ...]:
    return (
        Column("run"),
        Column("flow", is_whole=True),
        Column("mean", "r"),
        Column("network, client", "r"),
        Column("queue", "r"),
        Column("preparation", "r", rank=1),
        Column(" / ".join(LAST_STAGE[flow] for flow in sorted(flows)), "r"),
        Column("ops per I/O", "r", rank=2),
    )


def _cells(stages: Stages, flow: str, findings: tuple[Finding, ...]) -> Iterator[Cell]:
    seconds = named_stages(stages, flow, is_capped=is_capped(findings))
    total = sum(seconds.values())
    yield units.latency(total)
    for part in seconds.values():
        yield f"{units.latency(part)} {100 * part / total:3.0f} %" if part else ""
    ratio, is_alone = operations_per_io(stages)
    yield ratio if is_alone else words(ratio, style="limited")
