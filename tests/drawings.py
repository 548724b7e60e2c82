"""Views in one of the formats, for tests that look at what is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import RenderableType

from cephtui.analysis.ceiling import Ceiling
from cephtui.analysis.history import History
from cephtui.models import Mark, Run
from cephtui.reports.render.csv import csv_of
from cephtui.reports.render.gfm import markdown_of
from cephtui.reports.render.rich import draw
from cephtui.reports.render.xlsx import xlsx_of
from cephtui.reports.views.report.content import report_view
from cephtui.reports.views.report.material import Material
from cephtui.reports.views.report.sheets import figures_sheet
from cephtui.reports.views.run import RunDetails, run_document
from cephtui.reports.views.runs import runs_blocks, runs_sheet, session_view
from cephtui.stats import Buckets


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
