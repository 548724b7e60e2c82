"""A run in full as Markdown (GFM): its percentiles, submission and completion, jobs, and how busy its nodes were."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cephtui import units
from cephtui.analysis.ladder import PERCENTS, ladder
from cephtui.models import Mark, Run
from cephtui.reports.client import client_facts
from cephtui.reports.gfm import escaped, table
from cephtui.reports.jobs import COMPARED, COMPARED_SIDES, compared_rows, figure_titles, job_figures, job_rows, sum_note
from cephtui.reports.latency import TIMES, greatest_of, latency_parts, part_words, times_of
from cephtui.reports.markdown import runs_markdown
from cephtui.reports.text import latency_word
from cephtui.stats import Buckets


def run_markdown(run: Run, marks: Iterable[Mark], histograms: Mapping[str, Buckets]) -> str:
    """A run with its latencies, its jobs, and how busy its nodes were; ``histograms`` are of the whole run by flow."""
    several = len(run.nodes) > 1
    busy = [
        f"- {escaped(f'{node.node} {name}' if several else name)}: {escaped(text)}"
        for node in run.nodes
        for name, text in client_facts(run, node).items()
    ]
    return runs_markdown([run], marks, [_ladder(run, histograms), _parts(run), _jobs(run), busy])


def _ladder(run: Run, histograms: Mapping[str, Buckets]) -> list[str]:
    """The percentiles of each flow; a dash where too few I/Os took longer."""
    found = []
    for direction, buckets in histograms.items():
        rungs = [units.latency(rung.seconds) for rung in ladder(buckets)]
        greatest = units.latency(greatest_of(run.summary.flows.get(direction), buckets))
        word = latency_word([run.tool], [direction])
        found.append((f"{direction} {word}", f"{sum(buckets.values()):,}", *rungs, greatest))
    titles = ("", "I/Os", *(f"p{percent:g}" for percent in PERCENTS), "max")
    return table(titles, "l" + "r" * (len(titles) - 1), found) if found else []


def _parts(run: Run) -> list[str]:
    """Submission, completion and both."""
    found = [
        (f"{flow} {name}", *times_of(latency), part_words(run, flow, name))
        for flow in run.summary.flows
        for name, latency in latency_parts(run, flow).items()
    ]
    return table(("", *TIMES, ""), "lrrrrl", found) if found else []


def _jobs(run: Run) -> list[str]:
    """Those that were measured apart."""
    if not (jobs := job_rows(run)):
        return []
    if compared := compared_rows(run):
        return table(COMPARED, COMPARED_SIDES, compared)
    found = [
        (job.node, job.job, job.image, job.direction, *job_figures(job.total, job.share), job.word) for job in jobs
    ]
    found += [("all", "", "", name, *job_figures(total, 1.0), "") for name, total in run.summary.flows.items()]
    titles, note = figure_titles(run), sum_note(run, jobs)
    columns = ("node", "job", "image", "", *titles, "")
    return [*table(columns, "llll" + "r" * len(titles) + "l", found), *["", escaped(note)] * bool(note)]
