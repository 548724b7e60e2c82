"""``fio --client``: hosts that ran a job at the same time are the nodes of one run.

Format (fio 3.33)::

    hostname=pve1, be=0, 64-bit, os=Linux, arch=x86-64, fio=fio-3.33, flags=1
    <pve1> NAME: (g=0): rw=randread, bs=(R) 4096B-4096B, ...
    <pve1> Starting 1 process

and then the reports of one host after the other, which do not name it; of several hosts, those of all together last:
``All clients: (groupid=0, jobs=2): err= 0: pid=0: ...``, once for all groups. In JSON the reports are ``client_stats``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from cephtui.models import NodeResult, Outcome
from cephtui.models.results import PERCENTILES
from cephtui.tools.base import by_direction
from cephtui.tools.fio.saved_run import is_shown
from cephtui.tools.logs import FoundRun, node_result

ALL = "All clients"
HOST = re.compile(r"\s*hostname=(?P<host>\S{1,253}), be=\d, \d\d-bit, os=.*?(?:fio=(?P<version>fio-[\w.-]{1,40}).*)?")
SAID = re.compile(r"\s*(?:Jobs: .*)?<(?P<host>[\w.:-]{1,253})> ?(?P<text>.*)")
"""A line that a host has sent: an empty one stands right before its report."""


def run_of_clients(run: FoundRun, clients: Sequence[tuple[str, FoundRun]]) -> FoundRun:
    """A run of several hosts, with the run of each by its name, which need not be a name of its own."""
    names = unique([name for name, _ in clients])
    nodes = tuple(_node(name, client_run) for name, (_, client_run) in zip(names, clients, strict=True))
    return replace(run, nodes=nodes, disks=(), depths={}, latency_shares=(), node="")


def unique(names: Sequence[str]) -> list[str]:
    """Each name once: ``pve1-1`` and ``pve1-2`` for the same."""
    counts: dict[str, int] = {}
    unique_names = []
    for name in names:
        counts[name] = counts.get(name, 0) + 1
        unique_names.append(f"{name}-{counts[name]}" if names.count(name) > 1 else name)
    return unique_names


def _node(name: str, run: FoundRun) -> NodeResult:
    outcome: Outcome = "failed" if run.error or not run.summary.flows else "stopped" if run.stopped else "ok"
    return node_result(run, name, outcome, run.error)


def with_percentiles(run: FoundRun, percentiles: Mapping[str, Mapping[float, float]]) -> FoundRun:
    """The run with the percentiles of all hosts, in seconds by flow and percent, where there is no histogram."""
    totals = {}
    for name, total in run.summary.flows.items():
        values = {
            PERCENTILES[percent]: seconds
            for percent, seconds in percentiles.get(name, {}).items()
            if is_shown(percent, total.ios or 0) and getattr(total, PERCENTILES[percent]) is None
        }
        totals[name] = total.model_copy(update=values)
    read, write, other = by_direction(totals)
    return replace(run, summary=run.summary.model_copy(update={"read": read, "write": write, "other": other}))
