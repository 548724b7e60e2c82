"""The OSDs of the pool in runs: how much each did, and how long that took it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cephtui import units
from cephtui.models import OsdResult, Run
from cephtui.models.findings.cluster import SLOW_OSD
from cephtui.models.findings.kind import names_in
from cephtui.reports.blocks import Block, Cell, Column, Table, Text, cut_rows, words

_FIGURES = (
    Column("share", "r"),
    Column("reads", "r", rank=2),
    Column("read latency", "r"),
    Column("writes", "r", rank=2),
    Column("write latency", "r"),
    Column("queue", "r", rank=2),
    Column("commit", "r", rank=1),
    Column("replica writes", "r", rank=3),
    Column("replica latency", "r", rank=1),
    Column("refused", "r"),
)


_ABOUT = Text(
    "All operations of the OSDs during the run, ramp included, for all clients. Latencies are means from the receipt "
    "of a message to the reply; queue is the wait for a worker thread in it, commit is that of a BlueStore transaction",
    "dim",
)


def osd_blocks(runs: Mapping[Cell, Run]) -> tuple[Block, ...]:
    """The OSDs of runs by name, as of ``osds_table``, and what their figures are; nothing where none is known."""
    counted = {name: run for name, run in runs.items() if run.osds}
    return (osds_table(counted), _ABOUT) if counted else ()


def osds_table(runs: Mapping[Cell, Run]) -> Table:
    """The OSDs of each run, by the name of the run, empty for the only one; those that a finding names strong."""
    rows: list[tuple[Cell, ...]] = []
    strong = set[int]()
    for name, run in runs.items():
        slow = {
            osd
            for finding in run.findings
            if finding.code == SLOW_OSD.code
            for osd in names_in(finding.values, "osd", "osds")
        }
        for osd, result in run.osds.items():
            mark = words("▼ slow", style="limited") if f"osd.{osd}" in slow else ""
            strong |= {len(rows)} if mark else set()
            rows.append((name, f"osd.{osd}", *_figures(result), mark))
    heads = (Column("run"), Column("OSD", is_whole=True), *_FIGURES, Column(" ", is_whole=True))
    table = Table(heads, tuple(rows), frozenset(strong)).filled
    return replace(table, rows=cut_rows(table.rows, "OSDs"))


def _figures(osd: OsdResult) -> tuple[str, ...]:
    """Its part of all operations, then counts and mean latencies; what it did not do is empty."""
    pairs = ((osd.reads, osd.read_seconds), (osd.writes, osd.write_seconds), (osd.subops, osd.subop_seconds))
    reads, writes, replica = (_counted(count, seconds) for count, seconds in pairs)
    own = (units.latency(seconds) if seconds is not None else "" for seconds in (osd.queue_seconds, osd.commit_seconds))
    tried = osd.received + osd.refused
    refused = units.percent(100 * osd.refused / tried) if osd.refused else ""
    return units.percent(100 * osd.share), *reads, *writes, *own, *replica, refused


def _counted(count: int, seconds: float | None) -> tuple[str, str]:
    return (f"{count:,}", units.latency(seconds)) if count else ("", "")
