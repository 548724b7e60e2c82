"""The cluster's state every second or two during a run, without disturbing it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from cephtui.ceph import answers, commands, osd_counters
from cephtui.ceph.cluster import DOWN_ARGV, OUT_ARGV, STATUS_ARGV, ClusterState, OsdNames, cluster_state_of, osds_of
from cephtui.ceph.osd_counters import OsdRound
from cephtui.ceph.rates import OSD_PERF_ARGV, OsdLatency, PoolRates, osd_latency_of, pool_rates_of, pool_stats_argv
from cephtui.paths import packaged_text

Report: TypeAlias = ClusterState | OsdLatency | PoolRates | OsdNames | OsdRound
_MOST_CHARACTERS = 8 << 20
"""Characters of the longest answer: the latencies of the largest clusters are a quarter of it."""
_WORD = re.compile(r"\S")
_SCRIPT = packaged_text("cephtui.ceph", "watch.sh")
_PROGRAM = commands.with_connection(packaged_text("cephtui.ceph", "watch_on_node.py"))
_COMMANDS = (DOWN_ARGV, OUT_ARGV, STATUS_ARGV, OSD_PERF_ARGV)


def watch_argv(pool: str | None, seconds: float, osds: Sequence[int] = ()) -> tuple[str, ...]:
    """The command that reports OsdNames (down, then out), ClusterState, OsdLatency and PoolRates until it is ended.

    Beside these it reports an OsdRound of ``osds`` about once a second, where their counters can be asked.
    """
    if pool is not None and not re.fullmatch(r"[\w.-]+", pool):
        raise ValueError(f"pool {pool!r}: the ceph command can't handle such a name")
    requests = commands.requests((*_COMMANDS, pool_stats_argv(pool)) if pool else _COMMANDS)
    words = (requests, pool or "", f"{seconds:g}", osd_counters.REQUEST, json.dumps(list(osds)))
    return ("bash", "-c", _SCRIPT, "cephtui-ceph", _PROGRAM, *words)


class CephWatch:
    """The parser of ``watch_argv``, for output cut anywhere; queries that the cephx caps deny have no answer."""

    def __init__(self) -> None:
        self._rest = ""
        self._decoder = json.JSONDecoder()

    def feed(self, text: str) -> list[Report]:
        """The reports that are complete with this piece."""
        self._rest += text
        reports = []
        if "\n" in text:  # ceph ends each answer with one: to look before would only take time
            reports = [report for value in self._values() if (report := _report(value)) is not None]
        if len(self._rest) > _MOST_CHARACTERS:
            self._rest = "-"  # what begins like an answer and is longer than any is none
        return reports

    def _values(self) -> Iterator[Any]:
        """The JSON values that are complete; lines in which no JSON begins are dropped."""
        text, at = self._rest, 0
        while word := _WORD.search(text, at):
            at = word.start()
            if text[at] in "{[":
                try:
                    value, at = self._decoder.raw_decode(text, at)
                except ValueError:
                    break
                except RecursionError:
                    text, at = "-", 0
                    break
                yield value
            else:
                end = text.find("\n", at)
                if end < 0:
                    break
                at = end
        else:
            at = len(text)
        self._rest = text[at:]


def _report(value: Any) -> Report | None:
    if isinstance(value, list):
        return pool_rates_of(answers.objects(value))
    if "health" in value and "pgmap" in value:
        return cluster_state_of(value)
    if "nodes" in value and "stray" in value:
        return osds_of(value)
    return osd_counters.round_of(value) or osd_latency_of(value)
