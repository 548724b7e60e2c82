"""Runs, nodes and the cluster in words, for tables and for the screens.

What only runs need is imported with the first of them: the console's first frame has none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import TYPE_CHECKING

from rich.text import Text

from cephtui import models, units
from cephtui.models.metrics import BIT_RATE, BY_NAME, COMMIT, FLUSH, LIVE, RETRANSMITS, RTT, Metric
from cephtui.presets import choice_text
from cephtui.reports.words.cutting import cut, joined, shorter
from cephtui.reports.words.quality import finding_line, first_of_each
from cephtui.tools import TOOLS
from cephtui.tools.tool import Tool

if TYPE_CHECKING:
    from cephtui.analysis.runs.batches import Batch, Estimate, PointSummary
    from cephtui.analysis.views.live import BatchProgress, LiveRun
    from cephtui.models import ClusterSample, Interval, Mark, Node, Phase, Run, Step, Total
    from cephtui.nodes.state import NodeState

IN_TABLE = (*LIVE, BY_NAME["latency_p999_seconds"])
"""The figures of a run in a table of runs."""
PHASES: Mapping[Phase, str] = {"prepare": "prefilling", "ramp": "ramp-up", "run": "running"}
_KNOWN_SECONDS = 1e-4
"""When a node began is what the console's clock says, less half a round trip: no smaller difference is known."""
_ENVIRONMENT = re.compile(r"^(.*? )?env (?:CEPH_\S+=\S+ |'CEPH_[^']*' )+")
_NODES_NAMED = 4
"""More nodes in the same state are only counted."""
_DIRECTIONS = {"write": "to", "read": "from"}
"""Between the ends of a link; else both directions are measured."""


def phase_words(state: LiveRun, phase: Phase) -> str:
    """The phase of a run in progress: ``running``; ``running on 2 of 3 nodes`` where one has broken off."""
    rest = taking_part(state)
    return f"{PHASES[phase]} on {rest}" if rest else PHASES[phase]


def taking_part(state: LiveRun) -> str:
    """``2 of 3 nodes`` where some have broken off; empty while all take part."""
    ended_early, all_of_them = len(state.left_early), len(state.step.nodes)
    return f"{all_of_them - ended_early} of {all_of_them} nodes" if ended_early else ""


def node_words(state: LiveRun) -> dict[str, tuple[str, bool]]:
    """A word on each node of a run in progress that does not measure, and whether it has broken off."""
    from cephtui.analysis.detectors.ended import ended_word

    late = state.latest.missing if state.latest and state.phase != "prepare" else ()
    ended_early = {ended.node: (ended_word(ended), True) for ended in state.left_early}
    return {**dict.fromkeys(late, ("no data", False)), **ended_early}


def written(tool: str, metrics: Iterable[Metric], flow: str = "") -> list[Metric]:
    """Figures as those of a tool are written: the bandwidth of a network link in bits, latencies by their own word."""
    measures_network, word = tool in TOOLS and TOOLS[tool].measures_network, latency_word([tool], [flow])
    of_tool = [BIT_RATE if measures_network and metric.name == BIT_RATE.name else metric for metric in metrics]
    return [replace(m, word=word) if m.unit == "s" and m.word != word else m for m in of_tool]


def metric_of(name: str, tool: str, flow: str = "") -> Metric:
    """A figure by its name, as it is written for a tool; ``flow`` where it is of one."""
    return written(tool, [BY_NAME[name]], flow)[0]


def link_figures(flow: Interval | Total | None) -> str:
    """``retransmits 12, rtt 0.41 ms``; empty where it is not of a network link."""
    figures = [f"{metric.title} {metric.text_of(flow)}" for metric in (RETRANSMITS, RTT) if metric.of(flow) is not None]
    return ", ".join(figures)


def conditions(step: Step | Run, said_elsewhere: Iterable[str] = ()) -> str:
    """The options in one line, behind the ends of a link: ``4k randwrite, depth 64, jobs 8, 60 s, fsync=1``.

    Those that are not usual are named, then how much data is used, and what was asked for in vain. Options that are
    ``said_elsewhere`` are left out where they are not usual.
    """
    from cephtui.analysis.runs.facts import working_set

    try:
        described = TOOLS[step.tool].bind(step.options).describe()
    except (LookupError, ValueError, OverflowError):  # an unknown tool, or a session changed by hand
        described = joined((f"{name}={value}" for name, value in step.options.items()), "options")
        return ", ".join(filter(None, [link_ends(step), described]))
    nbytes = working_set(step)
    used = f"working set {units.size(nbytes)}" if nbytes else ""
    return ", ".join(
        filter(None, [link_ends(step), described, unusual_options(step, said_elsewhere), used, _asked(step)])
    )


def unusual_options(step: Step | Run, said_elsewhere: Iterable[str] = ()) -> str:
    """``size=16M fsync=1``: what its description does not have, and was edited or is not the tool's default.

    Options that are ``said_elsewhere`` are left out.
    """
    if step.tool not in TOOLS:
        return ""
    other = step.other_options if isinstance(step, models.Run) else {}
    options = {**TOOLS[step.tool].unusual(step.options, step.edited), **other}
    return " ".join(f"{name}={choice_text(value)}" for name, value in options.items() if name not in said_elsewhere)


def _asked(step: Step | Run) -> str:
    """``iodepth=64 numjobs=8 were asked for: one image is used by one job``; empty where all is as asked."""
    if not step.asked or step.tool not in TOOLS:
        return ""
    texts = " ".join(f"{name}={choice_text(value)}" for name, value in step.asked.items())
    why = dict.fromkeys(text for name in step.asked if (text := TOOLS[step.tool].why_fitted.get(name)))
    return f"{texts} asked for: {', '.join(why)}" if why else f"{texts} asked for"


def link_ends(step: Step | Run) -> str:
    """The ends of a network link: ``pve1 to pve2``; empty for all else."""
    if step.tool not in TOOLS or not TOOLS[step.tool].measures_network or not step.nodes:
        return ""
    from cephtui.analysis.runs.facts import load_of

    load = load_of(step)
    word = _DIRECTIONS.get(load.pattern if load else "", "and")
    return f"{step.nodes[0].node} {word} {step.target.partition(':')[2]}"


def short_conditions(run: Step | Run) -> str:
    """The options for a column: ``4k randwrite qd64 j8 60 s fsync=1 on 8.00 GiB``."""
    return " ".join(_short_parts(run)) or conditions(run)


def shared_conditions(runs: Sequence[Run]) -> dict[str, tuple[str, ...]]:
    """By tool the parts of the short conditions that all of its runs have, of which there are several."""
    by_tool: dict[str, list[Run]] = {}
    for run in runs:
        by_tool.setdefault(run.tool, []).append(run)
    shared = {}
    for tool, (first, *others) in by_tool.items():
        parts = [{*condition_parts(run)} for run in others]
        if found := tuple(part for part in condition_parts(first) if parts and all(part in each for each in parts)):
            shared[tool] = found
    return shared


def conditions_but(run: Run, said: Iterable[str]) -> str:
    """Its short conditions without the parts that are ``said`` elsewhere."""
    left_out = {*said}
    between = " " if _short_parts(run) else ", "
    return between.join(part for part in condition_parts(run) if part not in left_out)


def condition_parts(run: Step | Run) -> tuple[str, ...]:
    """The parts of its short conditions, of which other runs may have some."""
    return _short_parts(run) or tuple(conditions(run).split(", "))


def _short_parts(run: Step | Run) -> tuple[str, ...]:
    """Empty where it has no blocks."""
    from cephtui.analysis.runs.facts import load_of, working_set

    load = load_of(run)
    if load is None or not load.block_bytes:
        return ()
    nbytes = working_set(run)
    parts = (
        units.short_size(load.block_bytes),
        load.pattern,
        f"qd{load.depth}" if load.depth else "",
        f"j{load.jobs}" if load.jobs > 1 else "",
        "" if load.seconds is None else units.duration(load.seconds),
        *unusual_options(run).split(" "),
        f"on {units.size(nbytes)}" if nbytes else "",
    )
    return tuple(part for part in parts if part)


def imported(run: Run) -> str:
    """``imported from rook.txt:12, under "1 OSD"``; empty for a run that cephtui has measured."""
    from cephtui.analysis.runs.batches import under_heading

    return (
        ", ".join(filter(None, [f"imported from {run.imported_from}", under_heading(run)])) if run.imported_from else ""
    )


def title_of(metric: Metric, tools: Iterable[str], flows: Iterable[str] = ()) -> str:
    """A column's heading, above these flows of runs of these tools: ``IOPS``, ``clat p99``."""
    return f"{latency_word(tools, flows)} {metric.title}" if metric.unit == "s" else metric.title


def live_columns(tool: str) -> tuple[str, ...]:
    """The headings of what is measured each second."""
    return tuple(title_of(metric, [tool]) for metric in LIVE)


def titles_of(metrics: Sequence[Metric], runs: Collection[Run], *, short: bool = False) -> list[str]:
    """The headings of columns above all flows of these runs.

    If they are ``short``, only the first latency says which one it is: ``lat mean``, ``p99``.
    """
    from cephtui.analysis.runs.batches import flow_names

    titles = [title_of(metric, tools_of(runs), flow_names(runs)) for metric in metrics]
    if not short:
        return titles
    first = next((metric for metric in metrics if metric.unit == "s"), None)
    return [
        title.replace(Tool.latency, "lat") if metric is first else metric.title
        for metric, title in zip(metrics, titles, strict=True)
    ]


def latency_word(tools: Iterable[str], flows: Iterable[str] = ()) -> str:
    """The name of the latencies of these flows; ``latency`` where they have several.

    fio calls those of its I/Os ``clat`` and those of its flushes ``sync``, and has no word for a commit.
    """
    beside = {FLUSH: "sync", COMMIT: Tool.latency}
    words = {TOOLS[tool].latency if tool in TOOLS else Tool.latency for tool in tools}
    names = {word for flow in list(flows) or [""] for word in ([beside[flow]] if flow in beside else words)}
    return names.pop() if len(names) == 1 else Tool.latency


def tools_of(runs: Iterable[Run]) -> list[str]:
    """The tools of runs, each once."""
    return list(dict.fromkeys(run.tool for run in runs))


def saved_line(session: str, runs: int) -> str:
    """A line on where results are: ``12 runs in session tuning: cephtui show tuning``."""
    return f"{runs:,} run{'s' * (runs != 1)} in session {session}: cephtui show {session}"


def short_command(command: str, tool: str) -> str:
    """A tool's command as a user would type it."""
    return TOOLS[tool].short_command(command) if tool in TOOLS else command


def tool_command(command: str, tool: str) -> str:
    """The short command without the environment variables of the Ceph access, which are long."""
    return _ENVIRONMENT.sub("", short_command(command, tool), count=1)


def short_version(text: str | None) -> str:
    """``16.2.15`` of the output of ``ceph --version``; other text as it is."""
    words = (text or "").split()
    return words[2] if len(words) > 2 and words[:2] == ["ceph", "version"] else text or units.DASH


def details_command(runs: Sequence[Run]) -> str:
    """The command that shows the first of these runs in full: ``cephtui show tuning/1``."""
    return f"cephtui show {runs[0].session}/{runs[0].run}" if runs else ""


def notes(run: Run) -> list[str]:
    """A run's error, and its findings."""
    shown, more = cut(map(finding_line, first_of_each(run.findings)), "findings")
    return [shorter(text) for text in (*([run.error] if run.error else []), *shown, *([more] if more else []))]


def sweep(batch: Batch) -> str:
    """All values of a sweep, and how many runs it is up to now: ``iodepth=1,4,16 (3 runs)``; empty without one."""
    from cephtui.analysis.runs.batches import swept

    values = [f"{name}={','.join(map(choice_text, batch.values(name)))}" for name in swept(batch)]
    return f"{' '.join(values)} ({len(batch.runs)} runs)" if values else ""


def counted(summary: PointSummary) -> str:
    """How many runs a summary is of: ``n=3``; ``n=2 of 3`` where one did not end well."""
    n, ended = len(summary.counted), summary.ended
    return f"n={n}" if n == ended else f"n={n} of {ended}"


def margin_of(estimate: Estimate | None, *, ascii_only: bool = False, is_looked_at: bool = False) -> str:
    """``±2.9 %``: the 95 % interval of a mean, that was looked at after each run or not; empty for a single run."""
    margin = (estimate.margin_after_looks if is_looked_at else estimate.margin) if estimate else None
    return "" if margin is None else units.margin(margin, ascii_only=ascii_only)


def spread_of(estimate: Estimate | None) -> str:
    """``3.1 %``: the coefficient of variation; empty for a single run."""
    return units.percent(100 * estimate.spread) if estimate and estimate.spread is not None else ""


def value_range(metric: Metric, least: float, greatest: float) -> str:
    """``39.9..41.8 ms``: the unit once, where it is the same."""
    low, high = metric.as_text(least), metric.as_text(greatest)
    number, _, unit = low.partition(" ")
    return high if low == high else f"{number if unit and high.endswith(f' {unit}') else low}..{high}"


def how_far(elapsed_seconds: float, expected_seconds: float | None) -> str:
    """``34 of 62 s``; how long it has taken, where its length is not known."""
    if expected_seconds is None:
        return units.duration(elapsed_seconds)
    return f"{min(elapsed_seconds, expected_seconds):.0f} of {expected_seconds:.0f} s"


def time_left(progress: BatchProgress) -> str:
    """``run 2 of 4, 1:40 min left``; of a single run only the time; ``at most`` where its data may end sooner."""
    of = "" if progress.of is None else f" of {progress.of}"
    parts = [] if progress.of == 1 else [f"run {progress.run}{of}"]
    if progress.seconds_left is not None:
        bound = "" if progress.bound == "about" else f"{progress.bound} "
        parts.append(f"{bound}{units.duration(progress.seconds_left)} left")
    return ", ".join(parts)


def clock(at: datetime, today: date | None, *, seconds: bool = False) -> str:
    """A moment by the clock here: ``18:03``, with its date where that is not ``today``: ``11-21 18:03``."""
    here = at.astimezone()
    day = "" if here.date() == today else "%m-%d " if today is None or here.year == today.year else "%Y-%m-%d "
    return here.strftime(f"{day}%H:%M{':%S' * seconds}")


def started(run: Run, today: date | None) -> str:
    """When a run began, as ``clock`` says it; a dash where that is not known."""
    return clock(run.started_at, today) if run.is_dated else units.DASH


def moment(mark: Mark, *, dated: bool = True) -> str:
    """When a mark was made: ``2026-03-09 14:02:11``, ``14:02:11, 12 s into #3`` where it is not ``dated``."""
    when = f"{mark.at.astimezone():{'%Y-%m-%d ' * dated}%H:%M:%S}"
    if mark.run is None:
        return when
    if mark.elapsed_seconds is None:
        return f"{when}, before #{mark.run} measured"
    return f"{when}, {units.duration(mark.elapsed_seconds)} into #{mark.run}"


def spread(run: Run) -> str:
    """How far apart the nodes of a run started and ended; empty for a single node."""
    if run.start_spread_seconds is None:
        return ""
    ended = [node.ended_seconds for node in run.nodes if node.ended_seconds is not None]
    done = f", the first done after {min(ended):.1f} s, the last after {max(ended):.1f} s" if ended else ""
    within = began(max(_KNOWN_SECONDS, run.start_spread_seconds))
    return f"#{run.run} {len(run.nodes)} nodes began within {within}{done}"


def began(seconds: float | None) -> str:
    """How long after the first node one began, no more precisely than it is known: ``0.0 ms``."""
    return units.latency(seconds) if seconds is None or seconds >= 1 else f"{1000 * seconds:.1f} ms"


def cluster_line(sample: ClusterSample, *, narrow: bool = False) -> str:
    """Health, OSDs, client I/O and recovery, if there is any, in one line; a ``narrow`` one has no IOPS of the clients.

    The slowest OSD is that of the cluster: which of them have PGs of the run's pool is known at the run's end.
    """
    iops = "" if narrow else f"{units.iops(sample.client_iops)} IOPS "
    slowest = max(sample.osd_latency_seconds.items(), key=lambda item: item[1], default=None)
    parts = [
        sample.health or "health unknown",
        f"{sample.osds_up}/{sample.osds} osd" if sample.osds else "",
        f"client {iops}{units.bandwidth(sample.client_bandwidth_bytes)}",
        f"recovery {units.bandwidth(sample.recovery_bandwidth_bytes)}" if sample.recovery_bandwidth_bytes else "",
        f"slowest of all OSDs: osd.{slowest[0]} {units.latency(slowest[1])}" if slowest else "",
    ]
    unclean = {state: number for state, number in sample.pg_states.items() if state != "active+clean"}
    parts += [f"{number} pgs {state}" for state, number in unclean.items()]
    return "  ".join(part for part in parts if part)


def node_states(
    nodes: Sequence[Node], states: Mapping[str, NodeState], tool: str, running: LiveRun | None = None
) -> Text:
    """The nodes in one line, those first that can't be used at all, or not with this tool.

    Of the run in progress those that have broken off, or say nothing, are before all others.
    """
    words = node_words(running) if running else {}
    parts = [
        (node.name, words[node.name][0], "bold red" if words[node.name][1] else "bold yellow")
        for node in nodes
        if node.name in words
    ]
    names = [node.name for node in nodes if node.name not in words]
    environments = {name: states[name].environment for name in names if name in states}
    without = [name for name, environment in environments.items() if environment and not environment.tools.get(tool)]
    failed = [name for name, environment in environments.items() if environment is None]
    waiting = [name for name in names if name not in states]
    for alike, word, style in (
        (failed, "unreachable", "bold red"),
        (without, f"without {tool}", "bold red"),
        (waiting, "connecting", "dim"),
        ([name for name in names if name not in (*failed, *waiting, *without)], "ready", ""),
    ):
        if alike:
            parts.append((" ".join(alike) if len(alike) <= _NODES_NAMED else f"{len(alike)} nodes", word, style))
    return Text("  ").join(Text.assemble((name, "bold"), (f" {word}", style)) for name, word, style in parts)
