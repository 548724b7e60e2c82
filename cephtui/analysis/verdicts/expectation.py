"""Whether runs reach a figure that was expected of them: ``iops>=5000``, ``write p99<=5ms``. Pure.

It is reached if the mean of the runs, each all I/Os over the longest job, reaches it but for the tolerance, with its
interval where there are runs enough for one. What is promised of a volume must hold over time too: 99 % of the seconds
reach 90 % of it, as providers promise it ("within 10 % of the provisioned IOPS 99 % of the time").

What a finding of a run limits shows neither, unless the right figure is known otherwise: the other runs decide without
it, and where there are none there is no verdict; unless the figure is reached in spite of what can only make it worse.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from cephtui.analysis.detectors.settling import WHOLE_SECOND
from cephtui.analysis.runs.batches import name_of
from cephtui.analysis.runs.completed import is_corrected
from cephtui.analysis.runs.facts import why_invalid
from cephtui.analysis.statistics.ratio import geometric_mean, mean_of
from cephtui.analysis.verdicts.conclusion import METRIC_NAMES, metric_named
from cephtui.frozen import dataclass
from cephtui.models import Finding, Interval, Run, Sample, Total
from cephtui.models.expectation import Expected, Kept
from cephtui.models.findings import limiting
from cephtui.models.findings.kind import finding_kind
from cephtui.models.findings.measurement import SHORT
from cephtui.models.metrics import COMMIT, DIRECTIONS, FLUSH, METRICS, Metric, Unit
from cephtui.models.verdict import JUDGED_RUNS, Answer, LeftOut
from cephtui.stats import known_sum

TOLERANCE_PERCENT = 1.0
_CAPPED_UP_TO = 1.1
"""The share of what is promised of a volume that it may do: one that does more has no limit, or a burst."""
SECOND_REACHES, _OF_SECONDS = 0.9, 0.99
_CONFIDENCE = 0.95
_ASKED_FOR = (SHORT.code,)
"""How long a run measured is what was asked for: its figure is that of this time."""
_FLOWS = (*DIRECTIONS, FLUSH, COMMIT)
_TEXT = re.compile(rf"(?:({'|'.join(_FLOWS)})\s+)?([a-z0-9.]+)\s*(>=|<=)\s*([0-9][0-9,]*(?:\.[0-9]+)?)\s*([A-Za-z/]*)")
_UNITS: dict[Unit, dict[str, float]] = {
    "IO/s": {"": 1, "k": 1e3, "M": 1e6},
    "B/s": {
        "B/s": 1, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "KiB/s": 1 << 10, "MiB/s": 1 << 20, "GiB/s": 1 << 30,
    },
    "s": {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1},
}  # fmt: skip
_MET: dict[Answer, Kept] = {"met": "PASS", "not met": "FAIL", "undecided": "NO VERDICT"}


@dataclass(frozen=True, slots=True)
class Expectation:
    """The figure that is expected of the runs of a point."""

    metric: Metric
    value: float
    """The least value, of a latency the greatest, in the metric's unit."""
    direction: str | None = None
    """``read``, ``write``, ``flush`` or ``commit``; None takes the whole, such as reads and writes together."""
    tolerance_percent: float = TOLERANCE_PERCENT

    @property
    def is_rate(self) -> bool:
        """Whether more is better, and each second has one."""
        return self.metric.unit != "s"

    @property
    def required(self) -> float:
        """The value that is enough, with the tolerance."""
        return self.value * (1 + (-1 if self.is_rate else 1) * self.tolerance_percent / 100)

    def is_met_by(self, value: float) -> bool:
        """Whether a figure is enough."""
        return value >= self.required if self.is_rate else value <= self.required

    @property
    def text(self) -> str:
        """The expectation as it is typed, in base units: ``write iops>=5000``."""
        name = next(name for name, field in METRIC_NAMES.items() if field == self.metric.name)
        number = Decimal(f"{self.value:.12g}")  # written out: what is typed has no exponent
        value = f"{number:f}{'' if self.metric.unit == 'IO/s' else self.metric.unit}"
        return f"{self.direction or ''} {name}{'>=' if self.is_rate else '<='}{value}".strip()


def parse_expectation(text: str) -> Expectation:
    """``iops>=5000``, ``write iops >= 5k``, ``p99<=5ms``, ``bandwidth>=200MiB/s``; raises ValueError."""
    match = _TEXT.fullmatch(text.strip())
    if match is None or match[2] not in METRIC_NAMES:
        raise ValueError(
            f"expected [{'|'.join(_FLOWS)}] FIGURE>=NUMBER, FIGURE being one of {', '.join(METRIC_NAMES)}, such as "
            f"iops>=5000, 'write iops>=5k', bandwidth>=200MiB/s or p99<=5ms, got {text!r}"
        )
    direction, name, sign, number, unit = match.groups()
    metric = metric_named(name)
    needed = "<=" if metric.better == "less" else ">="
    if sign != needed:
        raise ValueError(f"{text!r}: {metric.full_title} is expected with {needed}: {name}{needed}{number}{unit}")
    if unit not in _UNITS[metric.unit]:
        raise ValueError(f"{text!r}: {metric.full_title} is given in {', '.join(filter(None, _UNITS[metric.unit]))}")
    value = float(number.replace(",", "")) * _UNITS[metric.unit][unit]
    if not value:
        raise ValueError(f"{text!r}: expected more than 0")
    return Expectation(metric, value, direction)


def figure_of(run: Run, expected: Expectation) -> float | None:
    """The figure of a run; None where it does not have it.

    A rate is all I/Os, or bytes, of reads and writes over the longest job: the sum of the rates of jobs that end apart
    is more than was done.
    """
    flows = {name: run.summary.flows[name] for name in _flows(run.summary.flows, expected)}
    amounts = [flow.bytes if expected.metric.unit == "B/s" else flow.ios for flow in flows.values()]
    lasted = max((flow.runtime_seconds for flow in flows.values()), default=0.0)
    done = known_sum(amounts) if expected.is_rate and flows and lasted else None
    if done is not None:
        return done / lasted
    return expected.metric.of(flows.get(expected.direction)) if expected.direction else expected.metric.combined(flows)


def _limits(run: Run, expected: Expectation) -> Iterator[LeftOut]:
    """The findings of a run for which its figure shows nothing."""
    for finding in _limiting(run, expected):
        yield LeftOut(run=name_of(run), why=finding.text)


def _limiting(run: Run, expected: Expectation) -> list[Finding]:
    return [
        finding
        for finding in run.findings
        if finding.code not in _ASKED_FOR and limiting([finding.code], expected.metric.name, expected.direction)
    ]


def _is_slowed(run: Run, expected: Expectation) -> bool:
    """Whether all that limits the figure can only have made it worse."""
    return all(finding_kind(finding.code).slows for finding in _limiting(run, expected))


def _flows(flows: Collection[str], expected: Expectation) -> list[str]:
    """The flows of a run that an expectation is about."""
    if expected.direction:
        return [expected.direction] if expected.direction in flows else []
    return [name for name in expected.metric.names_of_whole(flows) if name in _FLOWS]


def seconds_reached(samples: Iterable[Sample], expected: Expectation, block: int = 0) -> tuple[int, int]:
    """How many whole seconds of a run reached 90 % of what is expected, and how many there were.

    The samples of all nodes together count, those of the ramp do not; nor does a second that lacks a node. I/Os are
    counted by their bytes where ``block`` says how many each has.
    """
    reached = count = 0
    for sample in samples:
        whole = sample.node is None and sample.phase == "run" and sample.interval_seconds >= WHOLE_SECOND
        if whole and not sample.missing:
            flows: dict[str, Interval] = {name: sample.flows[name] for name in _flows(sample.flows, expected)}
            rates = (_rate(flow, expected.metric, block * (name in DIRECTIONS)) for name, flow in flows.items())
            value = known_sum(rates) if flows else 0.0
            if value is not None:
                seconds = round(sample.interval_seconds)
                count += seconds
                reached += seconds * (value >= SECOND_REACHES * expected.value)
    return reached, count


def _rate(flow: Interval, metric: Metric, block: int) -> float | None:
    if block and metric.unit == "IO/s" and flow.bandwidth_bytes is not None:
        return flow.bandwidth_bytes / block
    return metric.of(flow)


def _lacking(run: Run, expected: Expectation) -> str:
    """Why a run has no such figure: a percentile is none where too few I/Os took longer."""
    flows = [run.summary.flows[name] for name in _flows(run.summary.flows, expected)]
    percent = expected.metric.percent
    timed = [
        flow for flow in flows if (getattr(flow, expected.metric.name, None), flow.latency_max_seconds) != (None, None)
    ]
    if percent is not None and any(not flow.carries(percent) and _has_percentiles(flow) for flow in timed):
        return f"fewer than 10 I/Os took longer than {expected.metric.title}"
    return f"it has no {_what(expected)}"


def _has_percentiles(flow: Total) -> bool:
    """Whether a flow has percentiles: those of some tools have none."""
    return bool(flow.latency_buckets) or any(getattr(flow, m.name, None) is not None for m in METRICS if m.percent)


@dataclass(frozen=True, slots=True)
class _Deciding:
    """The runs by which an expectation is judged."""

    measured: Sequence[tuple[Run, float]]
    left_out: Sequence[LeftOut]
    limited: Sequence[LeftOut]
    """The runs that are measured, where a finding limits every one."""


def _deciding(expected: Expectation, runs: Iterable[Run]) -> _Deciding:
    """The runs that count and have the figure; beside runs that no finding limits the others are left out."""
    invalid, lacking, measured = list[LeftOut](), list[LeftOut](), list[tuple[Run, float]]()
    for run in runs:
        if why := why_invalid(run):
            invalid.append(LeftOut(run=name_of(run), why=why))
        elif (value := figure_of(run, expected)) is None:
            lacking.append(LeftOut(run=name_of(run), why=_lacking(run, expected)))
        else:
            measured.append((run, value))
    limited = [limit for run, _ in measured for limit in _limits(run, expected)]
    names = {limit.run for limit in limited}
    clear = [(run, value) for run, value in measured if name_of(run) not in names]
    if clear:
        return _Deciding(clear, [*invalid, *lacking, *limited], ())
    return _Deciding(measured, [*invalid, *lacking], limited)


def judge_expectation(
    expected: Expectation, step: str, runs: Sequence[Run], seconds: Mapping[str, tuple[int, int]], at: datetime
) -> Expected:
    """The runs of a point of a step; ``seconds`` are those of each run that counts, ``at`` is the time of it."""
    deciding = _deciding(expected, runs)
    measured_runs = deciding.measured
    values = [value for _, value in measured_runs]
    reached, count = (sum(seconds[name_of(run)][part] for run, _ in measured_runs) for part in (0, 1))
    interval = _interval(values)
    answer = _answer(expected, values, interval)
    has_seconds = bool(values and count and expected.is_rate)
    of_volume = _is_of_volume(runs[0], expected)
    if of_volume and has_seconds and reached < _OF_SECONDS * count:
        answer = "not met"
    if deciding.limited and not (answer == "met" and all(_is_slowed(run, expected) for run, _ in measured_runs)):
        answer = "undecided"
    measured = geometric_mean(values)
    return Expected(
        at=at,
        expectation=expected.text,
        step=step,
        preset=runs[0].preset,
        target=runs[0].target,
        runs=tuple(name_of(run) for run, _ in measured_runs),
        left_out=tuple(deciding.left_out),
        limited=tuple(deciding.limited),
        direction=expected.direction,
        figure=expected.metric.name,
        promised=expected.value,
        of_volume=of_volume,
        measured=measured,
        by_bytes=expected.metric.unit == "IO/s" and any(is_corrected(run) for run, _ in measured_runs),
        interval=interval,
        tolerance_percent=expected.tolerance_percent,
        seconds=count if has_seconds else None,
        seconds_reached=reached if has_seconds else None,
        word=_word(expected, answer, measured, of_volume=of_volume),
        answer=answer,
    )


def _is_of_volume(run: Run, expected: Expectation) -> bool:
    promise = run.promise
    return promise is not None and promise.volume is not None and expected.text in promise.expect


def _what(expected: Expectation) -> str:
    return f"{expected.direction or ''} {expected.metric.full_title}".strip()


def _interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The confidence interval of the mean; None for too few runs."""
    if len(values) < JUDGED_RUNS or min(values) <= 0:
        return None
    return mean_of(values).interval(_CONFIDENCE)


def _answer(expected: Expectation, values: Sequence[float], interval: tuple[float, float] | None) -> Answer:
    """The answer by the end of the interval that lies nearer to what is expected; of one or two runs by their mean."""
    mean = geometric_mean(values)
    if mean is None:
        return "undecided"
    ends = [expected.is_met_by(value) for value in interval or (mean,)]
    return "met" if all(ends) else "undecided" if any(ends) else "not met"


def _word(expected: Expectation, answer: Answer, measured: float | None, *, of_volume: bool) -> Kept:
    """The word for an answer. What is promised of a volume is its limit too; ``--expect`` names none."""
    if measured is None:
        return "INVALID"
    is_above = of_volume and expected.is_rate and measured > _CAPPED_UP_TO * expected.value
    return "NOT CAPPED" if answer == "met" and is_above else _MET[answer]


def is_about(expected: Expectation, runs: Iterable[Run]) -> bool:
    """Whether runs that count have the flow that is expected: a step may read at one point and write at another."""
    done = {name for run in runs if not why_invalid(run) for name in run.summary.flows}
    return not done or bool(_flows(done, expected))


def answer_to(expectations: Sequence[Expected]) -> Answer:
    """The answer to all expectations together: not met if one is not, met if all are."""
    answers = {expected.answer for expected in expectations}
    if "not met" in answers:
        return "not met"
    return "met" if answers == {"met"} else "undecided"
