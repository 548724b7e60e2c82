"""Samples of a long run on many nodes, as a runner publishes them; the same ones each time."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from cephtui.analysis.runs.history import History
from cephtui.models import Interval, Node, NodeResult, Plan, Run, Sample, Step
from cephtui.paths import packaged_presets_dir
from cephtui.planning import Request, make_plan, new_batch
from cephtui.presets import choose, find_presets
from cephtui.sessions import store
from cephtui.stats import Buckets, bucket_of, make_interval
from cephtui.targets import parse_target
from tests.bench.recording import PRESET, RECORDING, RUN, TARGET, names

BUCKETS = 60
_KINDS, _SEED = 64, 1
_BLOCK_BYTES, _NODE_IOS = 4096, 5000


def begin(nodes: int, seconds: float) -> tuple[Plan, Run]:
    """What is published before the samples: the plan of a run on so many nodes and for so long, and the run."""
    presets = choose(find_presets(packaged_presets_dir(), Path()), [PRESET])
    hosts = tuple(Node(name=name) for name in names(nodes))
    plan = make_plan(Request(presets, hosts, parse_target(TARGET), {"runtime": seconds, "ramp_time": 0}), new_batch)
    run = store.read_run(RECORDING, RUN).model_copy(update={"run": 1, "outcome": None, "nodes": ()})
    return plan, run


def ended(run: Run, step: Step) -> Run:
    """The run with its outcome, on all its nodes."""
    whole = store.read_run(RECORDING, RUN)
    results = tuple(NodeResult(node=n.node, outcome="ok", command=n.command, summary=whole.summary) for n in step.nodes)
    update = {"outcome": "ok", "nodes": results, "summary": whole.summary, "duration_seconds": step.run_seconds}
    return run.model_copy(update=update)


def samples(nodes: int, seconds: int) -> Iterator[list[Sample]]:
    """Of each second that of each node, and that of all merged; reads and writes, each with its histogram."""
    every = names(nodes)
    for second in range(1, seconds + 1):
        each = [
            _sample(name, second, _intervals(1)[(second * 7 + number) % _KINDS]) for number, name in enumerate(every)
        ]
        yield [*each, _sample(None, second, _intervals(nodes)[second * 7 % _KINDS])]


def history(nodes: int, seconds: int) -> History:
    """All of it as it is kept."""
    kept = History()
    for each in samples(nodes, seconds):
        for sample in each:
            kept.add(sample)
    return kept


def _sample(node: str | None, second: int, kind: Interval) -> Sample:
    """With intervals of its own, and of all merged with histograms of its own: what is kept of them takes memory."""
    read, write = (_copy(kind, deep=node is None) for _ in range(2))
    return Sample(1, node, PRESET, "run", float(second), 1.0, read, write)


def _copy(kind: Interval, *, deep: bool) -> Interval:
    buckets = dict(kind.latency_buckets or {}) if deep else kind.latency_buckets
    figures = (kind.ios, kind.bytes, kind.iops, kind.bandwidth_bytes)
    return Interval(*figures, kind.latency_mean_seconds, kind.latency_p99_seconds, buckets)


@cache
def _intervals(nodes: int) -> Sequence[Interval]:
    """Some that differ, of so many nodes together."""
    chance = random.Random(_SEED)
    return [_interval(chance, nodes) for _ in range(_KINDS)]


def _interval(chance: random.Random, nodes: int) -> Interval:
    middle = chance.uniform(0.0005, 0.004)
    buckets = histogram(middle, nodes * chance.randint(_NODE_IOS // 2, _NODE_IOS))
    ios = sum(buckets.values())
    return make_interval(ios, ios * _BLOCK_BYTES, 1.0, middle, buckets)


def histogram(middle_seconds: float, completions: int) -> Buckets:
    """About so many completions around a latency, in as many buckets as a second of a real disk has."""
    first = bucket_of(round(middle_seconds * 1e9)) - BUCKETS // 2
    weights = [math.exp(-(((place - BUCKETS / 2) / (BUCKETS / 5)) ** 2)) for place in range(BUCKETS)]
    return {first + place: max(1, round(completions * w / sum(weights))) for place, w in enumerate(weights)}
