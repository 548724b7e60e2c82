"""Two runs beside each other: what differed in their conditions, and what in their figures. Pure."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from statistics import fmean, median
from typing import Literal, TypeAlias

from cephtui import units
from cephtui.metrics import DIRECTIONS, METRICS, Metric
from cephtui.models import ClusterEnvironment, Difference, Figure, Mark, NodeEnvironment, OptionValue, Run

Better: TypeAlias = Literal["better", "worse", "same"]
Facts: TypeAlias = dict[str, str]
"""Names and values as text, in the order in which they are shown."""

SAME_FRACTION = 0.005
"""A smaller change is called none. It is no measure of chance: see ``verdict``."""
_SPOILED: Mapping[str, Sequence[str]] = {"in-flight": ("iops", "bandwidth_bytes"), "space": ()}
"""By a finding's code the figures that it limits, where it is not all of them."""
_LENGTH_SECONDS, _LENGTH_FRACTION = 1.0, 0.02
"""By how much two runs may last longer than one another and count as equally long."""


@dataclass(frozen=True, slots=True)
class Side:
    """A run and its repeats, the chosen run first; more than one only where all of them ended well."""

    runs: tuple[Run, ...]
    marks: tuple[Mark, ...] = ()
    """All of its session."""

    @property
    def run(self) -> Run:
        """The chosen run."""
        return self.runs[0]

    @property
    def name(self) -> str:
        """``tuning/3``, as it is typed."""
        return f"{self.run.session}/{self.run.run}"

    @property
    def problem(self) -> str | None:
        """Why the side has no figures, or None."""
        return None if _is_measured(self.run) else f"{self.run.outcome or 'running'}: no figures"

    def findings(self) -> dict[str, tuple[Run, ...]]:
        """The runs that have a finding, by its code; the order is that of the runs."""
        found: dict[str, tuple[Run, ...]] = {}
        for run in self.runs:
            for code in dict.fromkeys(finding.code for finding in run.findings):
                found[code] = (*found.get(code, ()), run)
        return found


def side_of(run: Run, runs_of_its_session: Iterable[Run], marks: Iterable[Mark] = ()) -> Side:
    """A run with its repeats: the same preset, options, target and nodes, in the same batch.

    Only runs that ended well are repeats of each other; any other run stands alone.
    """
    if run.outcome != "ok":
        return Side((run,), tuple(marks))
    others = (other for other in runs_of_its_session if other.run != run.run)
    repeats = [o for o in others if o.outcome == "ok" and _is_measured(o) and _set_up(o) == _set_up(run)]
    return Side((run, *sorted(repeats, key=lambda other: other.run)), tuple(marks))


def marks_between(left: Side, right: Side) -> list[tuple[str, Mark]]:
    """What the user did from the beginning of the first run to the end of the last, each with its session's name."""
    runs = [*left.runs, *right.runs]
    first = min(run.started_at for run in runs)
    last = max(run.started_at + timedelta(seconds=run.duration_seconds) for run in runs)
    found = {
        (side.run.session, mark): None for side in (left, right) for mark in side.marks if first <= mark.at <= last
    }
    return sorted(found, key=lambda each: each[1].at)


def in_order(runs: Sequence[Run], marks: Iterable[Mark]) -> list[Run | Mark]:
    """The runs of a session with its marks: behind the run that they were made in, or between two."""
    numbers, starts = [run.run for run in runs], [run.started_at for run in runs]

    def place(mark: Mark) -> int:
        return bisect_right(starts, mark.at) if mark.run is None else bisect_right(numbers, mark.run)

    behind: dict[int, list[Mark]] = {}
    for mark in sorted(marks, key=lambda mark: mark.at):
        behind.setdefault(place(mark), []).append(mark)
    found: list[Run | Mark] = [*behind.get(0, [])]
    for number, run in enumerate(runs, 1):
        found += [run, *behind.get(number, [])]
    return found


def _set_up(run: Run) -> tuple[object, ...]:
    """What runs have in common that repeat each other."""
    return run.session, run.batch, run.preset, run.tool, run.target, run.options, _node_names(run)


def _node_names(run: Run) -> list[str]:
    """A run that was refused has no results of nodes."""
    return [node.node for node in run.nodes] or list(run.environment)


def _is_measured(run: Run) -> bool:
    return bool(run.summary.flows)


def verdict(left: Side, right: Side) -> str:
    """What may be concluded from the figures, in one line. At present: nothing.

    This is the one place for statistics. The unit is the run, not its seconds, which depend on each other: a
    test belongs on the figures of ``left.runs`` and ``right.runs``, and has no say where a side has a single run.
    """
    missing = [name for name, side in (("A", left), ("B", right)) if side.problem]
    if missing:
        return f"no figures of {' and '.join(missing)}: no verdict"
    if len(left.runs) == len(right.runs) == 1:
        return "one run each: no verdict"
    return f"{len(left.runs)} and {len(right.runs)} runs: the spread is shown, no verdict yet"


# ---------------------------------------------------------------------------------------------- conditions


def differences(left: Side, right: Side) -> list[Difference]:
    """All that was not alike in two chosen runs, the most important first; findings are those of the repeats too.

    First what was asked for, then nodes, versions, findings, outcome and length, then the cluster.
    """
    first, second = left.run, right.run
    return [
        *_differing("run", _asked(first), _asked(second)),
        *_differing("option", _options(first), _options(second)),
        *_differing("nodes", {"names": _listed(_node_names(first))}, {"names": _listed(_node_names(second))}),
        *_node_differences(first, second),
        *_differing("cephtui", {"version": _text(first.cephtui_version)}, {"version": _text(second.cephtui_version)}),
        *_differing("finding", _found(left), _found(right), missing="no"),
        *_differing("run", {"outcome": first.outcome or "running"}, {"outcome": second.outcome or "running"}),
        *_length_difference(first, second),
        *_cluster_differences(first.cluster, second.cluster),
    ]


def _differing(topic: str, left: Facts, right: Facts, missing: str = units.DASH) -> list[Difference]:
    """The facts that are not equal; one that only one side has stands against ``missing``."""
    pairs = {name: (left.get(name, missing), right.get(name, missing)) for name in (left | right)}
    return [Difference(topic=topic, name=name, left=a, right=b) for name, (a, b) in pairs.items() if a != b]


def _text(value: OptionValue | None) -> str:
    if value is None or value == "":
        return units.DASH
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words) or units.DASH


def _asked(run: Run) -> Facts:
    return {"preset": run.preset, "tool": run.tool, "target": run.target}


def _options(run: Run) -> Facts:
    return {name: _text(value) for name, value in run.options.items()}


def _found(side: Side) -> Facts:
    """By code which part of the runs has a finding; in all of 3 is the same as in the one."""
    texts = {}
    for code, runs in side.findings().items():
        texts[code] = "yes" if len(runs) == len(side.runs) else f"in {len(runs)} of {len(side.runs)} runs"
    return texts


def _node_differences(left: Run, right: Run) -> list[Difference]:
    """Nodes of the same name with each other, the rest in their order; what is left over is in the names."""
    names, others = dict.fromkeys(_node_names(left)), dict.fromkeys(_node_names(right))
    pairs = [(name, name) for name in names if name in others]
    pairs += zip([n for n in names if n not in others], [n for n in others if n not in names], strict=False)
    found = []
    for name, other in pairs:
        topic = name if name == other else f"{name} / {other}"
        tools = {left.tool, right.tool}
        facts, counterpart = (_node_facts(run.environment.get(n), tools) for run, n in ((left, name), (right, other)))
        found += _differing(topic, facts, counterpart)
    return found


def _node_facts(found: NodeEnvironment | None, tools: Collection[str]) -> Facts:
    """What hardly changes by itself: the load of the moment is not among it, nor are tools that did not run."""
    if found is None:
        return {}
    return {
        "kernel": _text(found.kernel),
        "os": _text(found.os),
        "cpu": _text(found.cpu),
        "cpus": _text(found.cpu_count),
        "memory": units.size(found.memory_bytes) if found.memory_bytes else units.DASH,
        **{
            name: text
            for name, text in found.tools.items()
            if name == "ceph" or (name in tools and text != found.tools.get("ceph"))
        },
        "filesystem": _text(found.filesystem),
        "device": _text(found.device),
        **{f"nic {name}": units.bit_rate(speed) for name, speed in found.nic_bits_per_second.items()},
    }


def _length_difference(left: Run, right: Run) -> list[Difference]:
    """How long was measured, without the ramp; what a timer makes of it is none."""
    lengths = [_measured_seconds(run) for run in (left, right)]
    known = [seconds for seconds in lengths if seconds is not None]
    if len(known) == len(lengths) and max(known) - min(known) <= max(_LENGTH_SECONDS, _LENGTH_FRACTION * max(known)):
        return []
    texts = [units.DASH if seconds is None else units.duration(seconds) for seconds in lengths]
    return _differing("run", {"measured": texts[0]}, {"measured": texts[1]})


def _measured_seconds(run: Run) -> float | None:
    return max((total.runtime_seconds for total in run.summary.flows.values()), default=None)


def _cluster_differences(left: ClusterEnvironment | None, right: ClusterEnvironment | None) -> list[Difference]:
    """In one line where only one run had to do with a cluster."""
    if left is None or right is None:
        return _differing("cluster", {"state": _cluster_in_short(left)}, {"state": _cluster_in_short(right)})
    states = list(left.pg_states | right.pg_states)
    return _differing("cluster", _cluster_facts(left, states), _cluster_facts(right, states))


def _cluster_in_short(found: ClusterEnvironment | None) -> str:
    if found is None:
        return units.DASH
    version = f"ceph {found.ceph_version}" if found.ceph_version else "ceph"
    return ", ".join(part for part in (version, found.health) if part)


def _cluster_facts(found: ClusterEnvironment, pg_states: Sequence[str]) -> Facts:
    has_mclock = "mclock" in (found.osd_op_queue or "")
    return {
        "ceph": _text(found.ceph_version),
        "health": _text(found.health),
        "OSDs": _text(found.osds),
        "OSDs up": _text(found.osds_up),
        "OSDs in": _text(found.osds_in),
        **{f"PGs {state}": str(found.pg_states.get(state, 0)) for state in pg_states if found.pg_states},
        **{_pool_name(name): _pool_text(name, value) for name, value in found.pool.items()},
        "OSD queue": _text(found.osd_op_queue),
        "mclock profile": _text(found.osd_mclock_profile) if has_mclock else units.DASH,
        "image features": _listed(found.image_features),
        "checks": _listed(found.checks) if found.checks or found.health is None else "none",
    }


def _pool_name(fact: str) -> str:
    return f"pool {fact.removesuffix('_bytes')}"


def _pool_text(fact: str, value: OptionValue | None) -> str:
    return units.size(value) if fact.endswith("_bytes") and isinstance(value, int) else _text(value)


# ---------------------------------------------------------------------------------------------- figures


def figures(left: Side, right: Side) -> list[Figure]:
    """Every figure of what either side did: reads, writes, then the others."""
    found = {name for run in (*left.runs, *right.runs) for name in run.summary.flows}
    directions = [*(name for name in DIRECTIONS if name in found), *sorted(found.difference(DIRECTIONS))]
    codes = tuple(left.findings()), tuple(right.findings())
    return [_figure(direction, metric, left, right, codes) for direction in directions for metric in METRICS]


def _figure(
    direction: str, metric: Metric, left: Side, right: Side, codes: tuple[Sequence[str], Sequence[str]]
) -> Figure:
    values = [_values(side, direction, metric.name) for side in (left, right)]
    before, after = (_value(found, metric) for found in values)
    change = _change(before, after)
    spoiled = [_spoiled_by(own, metric.name) if found else () for own, found in zip(codes, values, strict=True)]
    return Figure(
        direction=direction,
        name=metric.name,
        left=before,
        right=after,
        change_fraction=change,
        better=_better(metric, before, after, change),
        left_spread=_spread(values[0]),
        right_spread=_spread(values[1]),
        left_findings=spoiled[0],
        right_findings=spoiled[1],
    )


def _values(side: Side, direction: str, name: str) -> list[float]:
    """One of each run that has it."""
    found = [getattr(total, name) for run in side.runs if (total := run.summary.flows.get(direction))]
    return [float(value) for value in found if value is not None and math.isfinite(value)]


def _value(values: Sequence[float], metric: Metric) -> float | None:
    """What stands for several runs: the mean, of percentiles and the greatest latency the median.

    The percentile of all completions together would need their histograms, and a mean of percentiles is moved far
    by one run with a slow tail.
    """
    average: Callable[[Sequence[float]], float] = median if metric.over_nodes == "completions" else fmean
    return average(values) if values else None


def _spread(values: Sequence[float]) -> tuple[float, float] | None:
    return (min(values), max(values)) if len(values) > 1 else None


def _change(before: float | None, after: float | None) -> float | None:
    """Relative to ``before``; None where that is zero, or so small that the ratio is no number."""
    if before is None or after is None:
        return None
    if before == after:
        return 0.0
    change = after / before - 1.0 if before else math.inf
    return change if math.isfinite(change) else None


def _better(metric: Metric, before: float | None, after: float | None, change: float | None) -> Better | None:
    if before is None or after is None:
        return None
    if change is not None and abs(change) < SAME_FRACTION:
        return "same"
    return "better" if (after > before) == (metric.better == "more") else "worse"


def _spoiled_by(codes: Sequence[str], name: str) -> tuple[str, ...]:
    """Those of the findings of a side's runs that limit what a figure means."""
    return tuple(code for code in codes if name in _SPOILED.get(code, (name,)))


def reasons(side: Side) -> list[str]:
    """What limits the figures of a side, in the words of the first run that has it; and which runs, if not all."""
    found = side.findings()
    texts: dict[str, list[str]] = {code: [] for code in found}
    for run in side.runs:
        for finding in run.findings:
            runs = found[finding.code]
            if runs[0] is run:
                texts[finding.code].append(finding.text + _where(side, runs))
    return [text for each in texts.values() for text in each]


def _where(side: Side, runs: Sequence[Run]) -> str:
    if len(runs) == len(side.runs):
        return ""
    return f" (in {len(runs)} of {len(side.runs)} runs: {', '.join(f'#{run.run}' for run in runs)})"
