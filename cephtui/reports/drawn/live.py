"""The run in progress."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from cephtui import units
from cephtui.analysis.detectors.ended import ended_text, ended_word
from cephtui.analysis.views.live import Live, LiveRun
from cephtui.models.findings.client import NODE_ENDED
from cephtui.models.metrics import LIVE
from cephtui.reports.drawn.bars import bars
from cephtui.reports.drawn.sparks import spark
from cephtui.reports.render.tables import add_row, make_table
from cephtui.reports.words.quality import effect_of
from cephtui.reports.words.text import cluster_line, conditions, link_figures, live_columns, written

_SPARK_WIDTH = 24
_LIVE_FINDINGS = 3
_LIVE_BARS = 16


def draw_live(live: Live, since_sample_seconds: float) -> RenderableType:
    """The running step, its progress and the current figures."""
    state = live.current
    if state is None:
        return Text()
    progress = state.progress(since_sample_seconds)
    place = f"({live.place}) {conditions(state.step)} on {state.step.target}"
    heading = Text.assemble((f"{state.run.preset} ", "bold"), place)
    bar = Table.grid(padding=(0, 1))
    add_row(
        bar,
        Text(progress.phase.ljust(7), style="cyan"),
        ProgressBar(total=1.0, completed=progress.fraction or 0.0, width=30, pulse=progress.fraction is None),
        Text(_progress_text(state, progress.elapsed_seconds, progress.eta_seconds)),
    )
    rows: list[RenderableType] = [heading, bar, *_current(state), *_nodes_now(state), *_jobs_now(state)]
    if state.cluster:
        rows.append(Text(cluster_line(state.cluster), style="cyan"))
    rows += [Text(f"! {ended_text(left)}", style="bold red") for left in state.left_early]
    rows += [
        Text(f"{effect_of(finding)}: {finding.text}", style="dim" if finding.level == "note" else "yellow")
        for finding in [finding for finding in state.findings() if finding.code != NODE_ENDED.code][-_LIVE_FINDINGS:]
    ]
    if state.notice:
        rows.append(Text(state.notice, style="yellow"))
    return Group(*rows)


def _progress_text(state: LiveRun, elapsed: float, eta: float | None) -> str:
    if state.phase == "prepare" and (state.prefill_bytes or state.prepared_bytes):
        done = f"{units.size_of(state.prepared_bytes, state.prefill_bytes)} written"
    else:
        done = units.duration(elapsed)
    return done + (f", {units.duration(eta)} left" if eta is not None else "")


def _current(state: LiveRun) -> list[RenderableType]:
    if state.latest is None or state.phase == "prepare":
        return []
    columns = live_columns(state.run.tool)
    table = make_table("", *columns, "", right=columns)
    for direction, interval in state.latest.flows.items():
        name = "iops" if interval.iops is not None else "bandwidth_bytes"
        history = state.history.curves[f"{direction}.{name}"].values()
        figures = [metric.text_of(interval) for metric in written(state.run.tool, LIVE)]
        add_row(table, direction, *figures, Text(spark(history[-_SPARK_WIDTH:], _SPARK_WIDTH), style="green"))
    links = [f"{name}: {text}" for name, flow in state.latest.flows.items() if (text := link_figures(flow))]
    return [table, *map(Text, links)]


def _jobs_now(state: LiveRun) -> list[RenderableType]:
    """Bars of what each job did so far, where jobs are compared."""
    figures = state.jobs.figures()
    return [bars(figures, rows=_LIVE_BARS)] if figures else []


def _nodes_now(state: LiveRun) -> list[RenderableType]:
    """Each node's last second, where there are several; a node whose sample is late is marked."""
    if len(state.step.nodes) < 2 or state.latest is None or state.phase == "prepare":
        return []
    columns = live_columns(state.run.tool)
    table = make_table("node", *columns, "", right=columns)
    metrics = written(state.run.tool, LIVE)
    for node in state.step.nodes:
        if ended := state.ended.get(node.node):
            style = "bold red" if ended in state.left_early else ""
            add_row(table, node.node, *[units.DASH] * len(LIVE), Text(ended_word(ended), style=style))
            continue
        sample = state.nodes.get(node.node)
        late = "" if node.node not in state.latest.missing else "no sample"
        parts = list(sample.flows.values()) if sample else []
        if not parts:
            add_row(table, node.node, *[units.DASH] * len(LIVE), late)
        for interval in parts:
            add_row(table, node.node, *[metric.text_of(interval) for metric in metrics], Text(late, style="yellow"))
    return [table]
