"""The cluster's state each second or two while a run goes on, without disturbing it."""

from __future__ import annotations

import json
import re
from typing import Any, TypeAlias

from cephtui.ceph import answers
from cephtui.ceph.cluster import ClusterState, OsdsAway, osds_of, state_of
from cephtui.ceph.rates import OsdLatency, PoolRates, latency_of, rates_of

Seen: TypeAlias = ClusterState | OsdLatency | PoolRates | OsdsAway
_MOST_CHARACTERS = 8 << 20
"""Of an answer: the latencies of the largest clusters are a quarter of it."""

# Through one process that stays connected: starting ceph costs three times what the questions do.
_WATCH = r"""
export PYTHONUNBUFFERED=1
ask() { printf 'osd tree down\nosd tree out\nstatus\nosd perf\nosd pool stats %s\n' "$1" 2>/dev/null; }
while ask "$1" && sleep "$2"; do :; done | ceph -f json
"""


def watch_argv(pool: str, seconds: float) -> tuple[str, ...]:
    """Goes on reporting OsdsAway (down, then out), ClusterState, OsdLatency and PoolRates, until it is ended."""
    if not re.fullmatch(r"[\w.-]+", pool):
        raise ValueError(f"pool {pool!r}: ceph's own command line can't take such a name")
    return ("bash", "-c", _WATCH, "cephtui-ceph", pool, f"{seconds:g}")


class CephWatch:
    """Reads what ``watch_argv`` prints, in pieces cut anywhere; what the key may not ask does not come."""

    def __init__(self) -> None:
        self._rest = ""
        self._decoder = json.JSONDecoder()

    def feed(self, text: str) -> list[Seen]:
        """The answers that are complete with this piece."""
        self._rest += text
        if "\n" not in text:  # ceph ends each answer with one: to look before would only take time
            self._drop_endless()
            return []
        found = []
        while (value := self._next()) is not None:
            answer = _answer(value)
            if answer is not None:
                found.append(answer)
        self._drop_endless()
        return found

    def _drop_endless(self) -> None:
        """What begins like an answer and is longer than any is none."""
        if len(self._rest) > _MOST_CHARACTERS:
            self._rest = "-"

    def _next(self) -> Any:
        """The next JSON value; lines that begin none are dropped. None when more has to come."""
        while self._rest:
            self._rest = self._rest.lstrip()
            if self._rest[:1] in ("{", "["):
                try:
                    value, end = self._decoder.raw_decode(self._rest)
                except ValueError:
                    return None
                except RecursionError:
                    self._rest = "-"
                    return None
                self._rest = self._rest[end:]
                return value
            _, newline, rest = self._rest.partition("\n")
            if not newline:
                return None
            self._rest = rest
        return None


def _answer(value: Any) -> Seen | None:
    if isinstance(value, list):
        return rates_of(answers.objects(value))
    if "health" in value and "pgmap" in value:
        return state_of(value)
    if "nodes" in value and "stray" in value:
        return osds_of(value)
    return latency_of(value)
