"""The tables of a report: figures of a verdict, of points, of each run; what limits them; what differed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from cephtui import units
from cephtui.analysis.detectors.jobs import job_figures
from cephtui.analysis.runs.batches import (
    Estimate,
    PointSummary,
    SweepPoint,
    flow_names,
    group,
    measured,
    metric_of_flow,
    name_of,
    node_names,
    summarize,
    under_heading,
)
from cephtui.analysis.runs.facts import why_invalid
from cephtui.analysis.runs.sides import Side
from cephtui.analysis.verdicts.conclusion import Judgement
from cephtui.analysis.verdicts.conditions import differences
from cephtui.analysis.views.matrix import Matrix
from cephtui.models import Finding, NodeEnvironment, Run
from cephtui.models.findings import limiting
from cephtui.models.metrics import BY_NAME, LIVE, Metric
from cephtui.models.verdict import Verdict
from cephtui.reports.blocks import Block, Cell, Items, Table, Text, columns, cut_items, cut_rows, words
from cephtui.reports.views.comparison import differences_block
from cephtui.reports.views.jobs import compared_jobs
from cephtui.reports.views.judgement import figure_cells, name_of_verdict
from cephtui.reports.views.matrix import legend, matrix_table
from cephtui.reports.views.report.material import Material
from cephtui.reports.views.versus import names_of_changes
from cephtui.reports.words.facts import by_run, facts
from cephtui.reports.words.folded import folded
from cephtui.reports.words.machine import machine_text
from cephtui.reports.words.quality import LEVELS, QUALITY, effect_of, quality_of, summed_findings
from cephtui.reports.words.run import reported_text
from cephtui.reports.words.text import (
    condition_parts,
    conditions,
    margin_of,
    spread_of,
    title_of,
    titles_of,
    tools_of,
    written,
)
from cephtui.reports.words.verdict import INFORMATION, word_text

_WHOLE_MOST = 3
"""Changes of which the figures are shown too that decide nothing."""
_P99 = BY_NAME["latency_p99_seconds"]


def figures_table(material: Material, judgement: Judgement) -> tuple[Block, ...]:
    """A row for each figure, those that decide first."""
    runs = {name_of(run): run for run in material.runs}
    names = names_of_changes(material.changes)
    shown = judgement.verdicts if len(material.changes) <= _WHOLE_MOST else judgement.deciding
    labels = [name_of_verdict(verdict, names) for verdict in shown]
    rows: list[tuple[Cell, ...]] = []
    for label, verdict in zip(labels, shown, strict=True):
        figure, *cells = figure_cells(verdict)
        title = f"{label} {figure}" if len({*labels}) > 1 else figure
        word = word_text(verdict) if verdict.decides else INFORMATION
        rows.append((title, *cells, _quality(material, verdict, runs), word))
    strong = frozenset(at for at, verdict in enumerate(shown) if verdict.decides and verdict.met is not None)
    confidence = f"{100 * judgement.verdicts[0].confidence:g} % interval" if judgement.verdicts else "interval"
    titles = ("", *material.sides, "change", confidence, "runs", "quality", "verdict")
    return (Table(columns(titles, "lrrrrrll"), tuple(rows), strong),)


def _quality(material: Material, verdict: Verdict, runs: dict[str, Run]) -> str:
    """Valid, or how many of the runs that count have a finding that limits this figure; and which side has no run."""
    names = (*verdict.before, *verdict.after)
    if not names:
        return QUALITY["INVALID"]
    lacking = [
        side
        for side, runs_of_side in zip(material.sides, (verdict.before, verdict.after), strict=True)
        if not runs_of_side
    ]
    codes = {name: [finding.code for finding in runs[name].findings] for name in names}
    limited = [name for name in names if limiting(codes[name], verdict.figure, verdict.direction)]
    quality = f"{LEVELS['limits']} ({len(limited)} of {len(names)})" if limited else QUALITY["VALID"]
    return ", ".join([quality, *(f"none of {side}" for side in lacking)])


def runs_table(material: Material) -> Table:
    """Each run with the figures that matter here."""
    main_figures = _main_figures(material)
    p99 = [
        flow
        for flow in flow_names(material.runs)
        if (flow, _P99) not in main_figures and measured(material.runs, flow, _P99)
    ]
    shown_figures = [*main_figures, *((flow, _P99) for flow in p99)]
    flows, metrics = [flow for flow, _ in shown_figures], [metric for _, metric in shown_figures]
    measured_texts = measured_in(material)
    rows: list[tuple[Cell, ...]] = [
        (
            material.ids([name_of(run)]),
            material.side_of(run),
            measured_texts[name_of(run)],
            started_text(run),
            *(
                metric.text_of(run.summary.flows.get(flow))
                for flow, metric in zip(flows, written(run.tool, metrics), strict=True)
            ),
            status_of(run),
        )
        for run in material.runs
    ]
    figures = [f"{flow} {title_of(metric, tools_of(material.runs), [flow])}" for flow, metric in shown_figures]
    heads = columns(("run", "side", "measured", "started", *figures, "quality"), "llll" + "r" * len(figures) + "l")
    return Table(heads, cut_rows(rows, "runs")).filled


def jobs_table(runs: Mapping[Cell, Run]) -> tuple[Table, ...]:
    """The jobs that are compared with each other, such as OSDs, the slow ones strong; none without such."""
    compared = {name: figures for name, run in runs.items() if (figures := job_figures(run.nodes))}
    return (compared_jobs(compared),) if compared else ()


def nodes_beside(runs: Mapping[Cell, Run]) -> Iterator[Items]:
    """What the machine of each node did in each run, and what its tool has counted; nothing where neither is known."""
    lines: list[Cell] = [
        *(
            words(name, f", {flow} by {run.tool}: {text}")
            for name, run in runs.items()
            for flow, total in run.summary.flows.items()
            if (text := reported_text(total))
        ),
        *(
            words(name, f", {node.node}: {machine_text(node.machine)}")
            for name, run in runs.items()
            for node in run.nodes
            if node.machine
        ),
    ]
    if lines:
        yield Items(cut_items(lines, "lines"))


def _main_figures(material: Material) -> list[tuple[str, Metric]]:
    """The figures that decide; in a study those that its presets are about."""
    if material.judgement is not None:
        figures = [(verdict.direction, BY_NAME[verdict.figure]) for verdict in material.judgement.deciding]
    else:
        figures = [
            (flow, metric_of_flow(material.headline(run), [run], flow))
            for run in material.runs
            for flow in flow_names([run])
        ]
    return list(dict.fromkeys(figures))


def matrix_blocks(matrix: Matrix) -> tuple[Block, ...]:
    """Steps over targets and nodes, where there are several of these: else the points have all that it would."""
    return (matrix_table(matrix), Items((f"cells: {legend(matrix)}",))) if len(matrix.columns) > 1 else ()


def points_of(material: Material) -> list[SweepPoint]:
    """What was set up alike in a study, in the order of time."""
    return [point for batch in group(material.runs) for point in batch.points]


def points_table(material: Material) -> Table:
    """A row for each direction of what was set up alike: the mean of its repeats, with its interval.

    Where nothing was repeated it is the table of the runs too, and has their times.
    """
    points = points_of(material)
    places = {name: text_of for name, text_of in _PLACES.items() if len({text_of(run) for run in material.runs}) > 1}
    if not is_repeated(points):
        places["started"] = started_text
    measured_texts = measured_in(material)
    rows = [row for point in points for row in _point_rows(point, material, measured_texts, places.values())]
    figures = titles_of(LIVE, material.runs)
    titles = ("runs", "measured", *places, "", *figures, "95 %", "spread", "quality")
    heads = columns(titles, "l" * (3 + len(places)) + "r" * len(LIVE) + "rrl")
    return Table(heads, cut_rows(rows, "rows")).filled


def is_repeated(points: Iterable[SweepPoint]) -> bool:
    """Whether any of them was measured more than once."""
    return any(len(point.repeats) > 1 for point in points)


def started_text(run: Run) -> str:
    """When it began, by the clock here."""
    return f"{run.started_at.astimezone():%m-%d %H:%M:%S}" if run.is_dated else units.DASH


_PLACES: Mapping[str, Callable[[Run], str]] = {
    "target": lambda run: run.target,
    "nodes": lambda run: ", ".join(node_names(run)),
}
"""Columns of what is not the same for all points."""


def _point_rows(
    point: SweepPoint, material: Material, measured_texts: Mapping[str, str], places: Iterable[Callable[[Run], str]]
) -> list[tuple[Cell, ...]]:
    summary, run = summarize(point), point.repeats[-1]
    ids = material.ids(map(name_of, point.repeats))
    head: tuple[Cell, ...] = (ids, measured_texts[name_of(run)], *(text_of(run) for text_of in places))
    if not summary.estimates:
        return [(*head, "", *[units.DASH] * len(LIVE), "", "", status_of(run))]
    rows: list[tuple[Cell, ...]] = []
    for flow, estimates in summary.estimates.items():
        estimated = [(metric, estimates.get(metric.name)) for metric in written(run.tool, LIVE)]
        means = [metric.as_text(estimate.value if estimate else None) for metric, estimate in estimated]
        _, main, margin = _main_of(material, summary, flow)
        rows.append((*head, flow, *means, margin, spread_of(main), quality_of(point.repeats)))
        head = ("",) * len(head)
    return rows


def _main_of(material: Material, summary: PointSummary, flow: str) -> tuple[Metric, Estimate | None, str]:
    """The figure that a point is about in a direction, its estimate, and the interval of that."""
    run = summary.point.repeats[-1]
    metric = metric_of_flow(material.headline(run), summary.counted, flow)
    estimate = summary.estimates[flow].get(metric.name)
    return metric, estimate, margin_of(estimate, is_looked_at=run.batch in material.until_stable)


def result_lines(material: Material) -> Iterator[str]:
    """``write-iops: write IOPS 109k (±2.9 %, 3 runs)``: the figure that each point is about, in each direction."""
    measured_texts = measured_in(material)
    for point in points_of(material):
        summary, run = summarize(point), point.repeats[-1]
        figures = []
        for flow in summary.estimates:
            metric, estimate, margin = _main_of(material, summary, flow)
            repeats = f" ({margin}, {len(summary.counted)} runs)" if margin else ""
            value = metric.as_text(estimate.value if estimate else None)
            figures.append(f"{flow} {title_of(metric, [run.tool], [flow])} {value}{repeats}")
        if figures:
            yield ": ".join(filter(None, [measured_texts[name_of(run)], ", ".join(figures)]))


def measured_in(material: Material) -> Mapping[str, str]:
    """What sets each run apart from the others, by its name: step or preset, and conditions that not all of it have."""
    steps = {cell.batch: cell.step for cell in (material.ordered.cells if material.ordered else ())}
    named = [(run, steps.get(run.batch) or run.preset) for run in material.runs]
    is_by_nodes = len({(*node_names(run),) for run in material.runs}) > 1  # which decide how much data is used
    parts = {
        name_of(run): [part for part in condition_parts(run) if not (is_by_nodes and part.startswith("on "))]
        for run in material.runs
    }
    common = {
        preset: set.intersection(*({*parts[name_of(run)]} for run in material.runs if run.preset == preset))
        for preset in {run.preset for run in material.runs}
    }
    has_titles = len({title for _, title in named}) > 1
    texts = {}
    for run, title in named:
        apart = " ".join(part for part in parts[name_of(run)] if part not in common[run.preset])
        whole = ": ".join(filter(None, [title if has_titles else "", apart]))
        texts[name_of(run)] = ", ".join(filter(None, [whole, under_heading(run)]))
    return texts


def loads_of(material: Material) -> list[Cell]:
    """All options of the runs of a study, with the size of what they used; those once that differ in one option."""
    runs_by_load: dict[tuple[str, ...], list[str]] = {}
    for run in material.runs:
        runs_by_load.setdefault((run.preset, *conditions(run).split(", ")), []).append(name_of(run))
    loads = [*runs_by_load]
    every = folded(loads)
    if len(every) == 1:
        return [f"load: {', '.join(every[0][0])}"]
    return [
        words(
            "load of ", material.ids(name for at in places for name in runs_by_load[loads[at]]), f": {', '.join(load)}"
        )
        for load, places in every
    ]


_Why: TypeAlias = tuple[str, str]
"""The effect of a finding, and what helps."""


def findings_of(material: Material) -> tuple[Block, ...]:
    """Findings of a kind once for all runs that have it, with these."""
    by_kind: dict[tuple[str, _Why], list[tuple[Run, Finding]]] = {}
    rows: list[tuple[Cell, ...]] = []
    failed: dict[str, list[str]] = {}
    for run in material.runs:
        if run.outcome != "ok":
            failed.setdefault(why_invalid(run), []).append(name_of(run))
        for finding in run.findings:
            by_kind.setdefault((finding.code, (effect_of(finding), finding.cure)), []).append((run, finding))
    rows += [(material.ids(names), text, QUALITY["INVALID"], "measure again") for text, names in failed.items()]
    for (_, why), found in by_kind.items():
        summed = summed_findings(found, len(material.runs))
        rows += [(material.ids(map(name_of, runs)), text, *why) for text, runs in summed.items()]
    if not rows:
        return (Text("none: no finding limits the figures"),)
    return (Table(columns(("runs", "finding", "effect", "what helps"), "llll"), cut_rows(rows, "findings")).filled,)


def status_of(run: Run) -> str:
    """Whether it counts, in words; with the file that an imported run was read from."""
    source = f", imported from {run.imported_from}" if run.imported_from else ""
    return f"{quality_of([run])}{source}"


_RESULTS = ("finding",)
"""Topics of differences that stand elsewhere."""


def conditions_of(material: Material) -> tuple[Block, ...]:
    """Alike facts as a list, differences between the sides of a change below."""
    if not material.changes:
        conditions_of_all = {**facts(material.runs), **hardware(material.runs)}
        return (Items(tuple(f"{name}: {text}" for name, text in conditions_of_all.items() if name != "date")),)
    before = _facts([run for change in material.changes for run in change.before])
    after = _facts([run for change in material.changes for run in change.after])
    alike = tuple(f"{name}: {text}" for name, text in before.items() if name != "date" and after.get(name) == text)
    return (*([Items(alike)] if alike else []), _differences(material))


def _facts(runs: Sequence[Run]) -> dict[str, str]:
    load = by_run(runs, lambda run: f"{run.preset}, {conditions(run)}")
    return {"load": load, **facts(runs), **hardware(runs)}


def _differences(material: Material) -> Block:
    """Differences between the sides, each once, whichever change it is of."""
    differing = dict.fromkeys(
        difference
        for change in material.changes
        for difference in differences(Side(change.before), Side(change.after))
        if difference.topic not in _RESULTS
    )
    runs = (run for change in material.changes for run in change.runs)
    return differences_block([*differing], runs, material.sides)


def hardware(runs: Iterable[Run]) -> Mapping[str, str]:
    """The hardware of nodes, by the names of those that are alike: system, kernel, processor, memory, network."""
    environments: dict[str, NodeEnvironment] = {}
    for run in runs:
        environments |= run.environment
    alike: dict[str, list[str]] = {}
    for node, environment in environments.items():
        if text := _node(environment):
            alike.setdefault(text, []).append(node)
    return {", ".join(nodes): text for text, nodes in alike.items()}


def _node(environment: NodeEnvironment) -> str:
    links = sorted({units.bit_rate(speed) for speed in environment.nic_bits_per_second.values()})
    parts = (
        environment.os,
        f"kernel {environment.kernel}" if environment.kernel else "",
        f"{environment.cpu_count} x {environment.cpu}"
        if environment.cpu_count and environment.cpu
        else environment.cpu,
        units.size(environment.memory_bytes) if environment.memory_bytes else "",
        f"network {' and '.join(links)}" if links else "",
        environment.filesystem,
        environment.device,
    )
    return ", ".join(part for part in parts if part)
