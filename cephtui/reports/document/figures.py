"""The tables of figures: of a verdict, of the points of a study, of each run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cephtui import units
from cephtui.analysis.batches import Point, flow_names, group, measured, name_of, node_names, summarize
from cephtui.analysis.conclusion import Judgement, validity
from cephtui.analysis.figures import spoiled_by
from cephtui.models import Run
from cephtui.models.metrics import BY_NAME, LIVE, Metric
from cephtui.models.verdict import Verdict
from cephtui.reports.document.blocks import Block, Table
from cephtui.reports.document.findings import status_of
from cephtui.reports.document.material import Material
from cephtui.reports.facts import run_names
from cephtui.reports.text import conditions, cut, margin_of, spread_of, title_of
from cephtui.reports.verdict import interval_of, ratio_of, short_text

_P99 = BY_NAME["latency_p99_seconds"]


def figures_table(material: Material, judged: Judgement) -> tuple[Block, ...]:
    """A row for each figure, those that decide first."""
    runs = {name_of(run): run for run in material.runs}
    several = len({verdict.preset for verdict in judged.verdicts}) > 1
    rows, strong = [], set()
    for number, verdict in enumerate(judged.verdicts):
        metric = BY_NAME[verdict.figure]
        change, interval = change_texts(verdict)
        if verdict.decides and verdict.met is not None:
            strong.add(number)
        rows.append(
            (
                f"{f'{verdict.preset} ' * several}{verdict.direction} {metric.full_title}",
                metric.as_text(verdict.left),
                metric.as_text(verdict.right),
                change,
                interval,
                f"{len(verdict.before)} / {len(verdict.after)}",
                _quality(material, verdict, runs, metric),
                short_text(verdict) if verdict.decides else "also measured",
            )
        )
    confidence = f"{100 * judged.verdicts[0].confidence:g} % interval" if judged.verdicts else "interval"
    columns = ("", *material.sides, "change", confidence, "runs", "quality", "verdict")
    return (Table(columns, "lrrrrrll", tuple(rows), frozenset(strong)),)


def change_texts(verdict: Verdict) -> tuple[str, str]:
    """The change and its interval: ``-18.0 %``, ``-21.0 .. -14.9 %``; dashes where they are not known."""
    if verdict.ratio is None:
        return units.DASH, units.DASH
    return ratio_of(verdict), f"{interval_of(verdict)} %" if verdict.interval else units.DASH


def _quality(material: Material, verdict: Verdict, runs: dict[str, Run], metric: Metric) -> str:
    """VALID, or how many of the runs that count have a finding that limits this figure; INVALID without any run."""
    if not (verdict.before and verdict.after):
        return "INVALID"
    names = (*verdict.before, *verdict.after)
    limited = [name for name in names if spoiled_by([f.code for f in runs[name].findings], metric)]
    return f"SUSPECT ({len(limited)} of {len(names)})" if limited else "VALID"


def runs_table(material: Material) -> Table:
    """Each run with the figures that matter here."""
    wanted = _wanted(material)
    p99 = [flow for flow in flow_names(material.runs) if (flow, _P99) not in wanted and _has(material.runs, flow, _P99)]
    columns = [*wanted, *((flow, _P99) for flow in p99)]
    several = len({run.preset for run in material.runs}) > 1 or not material.changes
    shown, more = cut(material.runs, "runs")
    rows = [
        (
            name_of(run),
            *[material.side_of(run)] * bool(material.changes),
            *[f"{run.preset}: {conditions(run)}"] * several,
            f"{run.started_at.astimezone():%m-%d %H:%M:%S}",
            *(metric.text_of(run.summary.flows.get(flow)) for flow, metric in columns),
            status_of(run),
        )
        for run in shown
    ]
    heads = ("run", *["side"] * bool(material.changes), *["measured"] * several, "started")
    names = (*heads, *(f"{flow} {title_of(metric)}" for flow, metric in columns), "quality")
    rows += [(more, *[""] * (len(names) - 1))] * bool(more)
    return Table(names, "l" * len(heads) + "r" * len(columns) + "l", tuple(rows))


def _wanted(material: Material) -> list[tuple[str, Metric]]:
    """The figures that decide; in a study those that its presets are about."""
    if material.judged is not None:
        found = [(verdict.direction, BY_NAME[verdict.figure]) for verdict in material.judged.deciding]
    else:
        found = [(flow, material.headline(run)) for run in material.runs for flow in flow_names([run])]
    return list(dict.fromkeys(found))


def _has(runs: Iterable[Run], flow: str, metric: Metric) -> bool:
    return bool(measured(runs, flow, metric))


def points_table(material: Material) -> Table:
    """A row for each direction of what was set up alike: the mean of its repeats, with its interval."""
    points = [point for batch in group(material.runs) for point in batch.points]
    shown, more = cut([row for point in points for row in _point_rows(point, material)], "rows")
    columns = ("runs", "measured", "target", "nodes", "", *map(title_of, LIVE), "95 %", "spread", "quality")
    rows = [*shown, *[(more, *[""] * (len(columns) - 1))] * bool(more)]
    return Table(columns, "lllll" + "r" * len(LIVE) + "rrl", tuple(rows))


def _point_rows(point: Point, material: Material) -> list[tuple[str, ...]]:
    summary, run = summarize(point), point.repeats[-1]
    names = run_names(map(name_of, point.repeats))
    head = (names, f"{run.preset}: {conditions(run)}", run.target, ", ".join(node_names(run)))
    if not summary.estimates:
        return [(*head, "", *[units.DASH] * len(LIVE), "", "", status_of(run))]
    found = []
    for flow, estimates in summary.estimates.items():
        means = [metric.as_text(e.value if (e := estimates.get(metric.name)) else None) for metric in LIVE]
        main = estimates.get(material.headline(run).name)
        found.append((*head, flow, *means, margin_of(main), spread_of(main), _worst(point.repeats)))
        head = ("", "", "", "")
    return found


def _worst(runs: Sequence[Run]) -> str:
    """``VALID``, ``SUSPECT (1 of 3)``."""
    found = [validity(run) for run in runs]
    for word in ("INVALID", "SUSPECT"):
        if word in found:
            return f"{word} ({found.count(word)} of {len(found)})" if len(found) > 1 else word
    return "VALID"
