"""Views in one of the formats, for tests that look at what is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import Any

from rich.console import Console, RenderableType

from cephtui.analysis.runs.history import History
from cephtui.analysis.runs.links import Link
from cephtui.analysis.runs.sides import Side
from cephtui.analysis.verdicts.conclusion import Judgement
from cephtui.analysis.verdicts.versus import Versus
from cephtui.analysis.views.curve import Curve
from cephtui.analysis.views.matrix import Matrix
from cephtui.models import Ceiling, Mark, Run
from cephtui.models.metrics import Metric
from cephtui.models.rows import NodeRow
from cephtui.models.session_row import SessionRow
from cephtui.reports.render.csv import csv_of
from cephtui.reports.render.gfm import markdown_of
from cephtui.reports.render.rich import draw
from cephtui.reports.render.xlsx import xlsx_of
from cephtui.reports.views.comparison import comparison_document
from cephtui.reports.views.curve import curve_view, curves_sheet
from cephtui.reports.views.expected import Row, volume_blocks
from cephtui.reports.views.judgement import judgement_view
from cephtui.reports.views.links import links_blocks, links_view
from cephtui.reports.views.matrix import matrix_view
from cephtui.reports.views.nodes import nodes_blocks
from cephtui.reports.views.report.content import report_view
from cephtui.reports.views.report.material import Material
from cephtui.reports.views.report.sheets import figures_sheet
from cephtui.reports.views.run import RunDetails, run_document
from cephtui.reports.views.runs import runs_blocks, runs_sheet, session_view
from cephtui.reports.views.sessions import sessions_blocks
from cephtui.reports.views.versus import versus_view
from cephtui.stats import Buckets


def printed(value: RenderableType | None, width: int = 200) -> str:
    """What a terminal of this width shows, without colours."""
    console = Console(file=StringIO(), width=width)
    console.print(value)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def draw_runs(runs: Sequence[Run], marks: Sequence[Mark] = (), *, ascii_only: bool = False) -> RenderableType:
    return draw([*runs_blocks(runs, marks)], ascii_only=ascii_only)


def draw_session(runs: Sequence[Run], marks: Sequence[Mark] = (), *, saved: bool = True) -> RenderableType:
    return draw(session_view(runs, marks, is_saved=saved).document())


def draw_run(
    run: Run,
    history: History | None = None,
    marks: Sequence[Mark] = (),
    found: Sequence[Ceiling] | None = None,
    *,
    histograms: Mapping[str, Buckets] | None = None,
) -> RenderableType:
    return draw(run_document(run, RunDetails(marks, found, history, histograms)))


def runs_markdown(runs: Sequence[Run], marks: Sequence[Mark] = ()) -> str:
    return markdown_of(session_view(runs, marks).document())


def run_markdown(run: Run, marks: Sequence[Mark] = (), histograms: Mapping[str, Buckets] | None = None) -> str:
    return markdown_of(run_document(run, RunDetails(marks, histograms=histograms)))


def runs_csv(runs: Sequence[Run], marks: Iterable[Mark] = ()) -> str:
    return csv_of(runs_sheet(runs, marks))


def report_xlsx(material: Material, *, seconds: bool = False) -> bytes:
    return xlsx_of(report_view(material, seconds=seconds))


def report_csv(material: Material, *, seconds: bool = False) -> str:
    return csv_of(figures_sheet(material, seconds=seconds))


def draw_comparison(left: Side, right: Side, judged: Judgement | None = None, **options: Any) -> RenderableType:
    ascii_only = options.pop("ascii_only", False)
    return draw(comparison_document(left, right, judged, **options), ascii_only=ascii_only)


def comparison_markdown(left: Side, right: Side, judged: Judgement | None = None) -> str:
    return markdown_of(comparison_document(left, right, judged))


def draw_versus(
    compared: Versus, judged: Judgement, *, ascii_only: bool = False, answer: bool = False
) -> RenderableType:
    return draw(versus_view(compared, judged, has_answer=answer).document(), ascii_only=ascii_only)


def versus_markdown(compared: Versus, judged: Judgement) -> str:
    return markdown_of(versus_view(compared, judged).document())


def draw_judgement(judged: Judgement, *, ascii_only: bool = False) -> RenderableType:
    return draw(judgement_view(judged).document(), ascii_only=ascii_only)


def draw_matrix(matrix: Matrix, runs: Sequence[Run], *, live: bool = False, ascii_only: bool = False) -> RenderableType:
    return draw(matrix_view(matrix, runs, "study", live=live).document(), ascii_only=ascii_only)


def matrix_markdown(matrix: Matrix, runs: Sequence[Run]) -> str:
    return markdown_of(matrix_view(matrix, runs, "study").document())


def matrix_csv(matrix: Matrix, session: str) -> str:
    return csv_of(matrix_view(matrix, (), session).sheet())


def draw_curve(curve: Curve, *, ascii_only: bool = False) -> RenderableType:
    return draw(curve_view(curve).document(), ascii_only=ascii_only)


def curve_markdown(curve: Curve, metric: Metric) -> str:
    return markdown_of(curve_view(curve, metric).document())


def curves_csv(curves: Sequence[Curve]) -> str:
    return csv_of(curves_sheet(curves))


def draw_links(links: Sequence[Link], *, ascii_only: bool = False) -> RenderableType:
    return draw([*links_blocks(links)], ascii_only=ascii_only)


def links_markdown(links: Sequence[Link]) -> str:
    return markdown_of(links_view(links, "study").document())


def draw_provisioned(rows: Sequence[Row], runs: Mapping[str, Run]) -> RenderableType:
    return draw([*volume_blocks(rows, runs)])


def draw_nodes(rows: Sequence[NodeRow]) -> RenderableType:
    return draw([*nodes_blocks(rows)])


def draw_sessions(rows: Sequence[SessionRow]) -> RenderableType:
    return draw([*sessions_blocks(rows)])
