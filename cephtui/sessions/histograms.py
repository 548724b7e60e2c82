"""The latencies of a whole saved run as histograms on the fixed grid."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cephtui.models import Run
from cephtui.sessions.store import read_samples
from cephtui.stats import Buckets


def read_histograms(directory: Path, run: Run) -> Mapping[str, Buckets]:
    """The histograms of the flows that were measured, by the flows' names; raises StoreError.

    A run has its own since its end. One of an earlier cephtui, one that was lost and one in progress have the sum of
    their seconds, all nodes together.
    """
    flows = run.summary.flows
    if flows and all(total.latency_buckets or total.latency_p50_seconds is None for total in flows.values()):
        return {name: total.latency_buckets for name, total in flows.items() if total.latency_buckets}
    by_flow: dict[str, dict[int, int]] = {}
    for sample in read_samples(directory, run.run):
        if sample.node is None and sample.phase == "run":
            for name, interval in sample.flows.items():
                _add(by_flow.setdefault(name, {}), interval.latency_buckets or {})
    return {name: buckets for name, buckets in by_flow.items() if buckets}


def _add(buckets: dict[int, int], added: Buckets) -> None:
    for index, number in added.items():
        buckets[index] = buckets.get(index, 0) + number
