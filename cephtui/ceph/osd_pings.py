"""How long the heartbeats of OSDs to each other take, where that is long: ``dump_osd_network`` of each OSD.

docs.ceph.com, Monitoring OSDs and PGs, Network performance checks. OSDs of a healthy network answer within a
millisecond; Ceph itself complains from a second on (mon_warn_on_slow_ping_ratio).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cephtui.ceph import answers
from cephtui.models import OsdPing

LONG_MS = 20
"""Shorter ones say nothing: an OSD with much to do answers some milliseconds later."""
ARGV = ("ceph", "tell", "osd.*", "dump_osd_network", str(LONG_MS), "-f", "json")
"""The command that asks all OSDs; the cephx caps ``osd allow *`` are needed."""
_NETWORKS = {"front": "public", "back": "cluster"}
_PINGS_MOST = 50


def parse(text: str) -> tuple[OsdPing, ...]:
    """The answer to ``ARGV``: the mean of the last minute, the longest first; what can't be read is left out."""
    pings = [ping for _, answer in answers.of_osds(text) for ping in _pings(answer)]
    return tuple(sorted(pings, key=lambda ping: -ping.seconds)[:_PINGS_MOST])


def _pings(text: str) -> Iterator[OsdPing]:
    try:
        entries = answers.objects(answers.json_object(text, "entries")["entries"])
    except ValueError:
        return
    for entry in entries:
        network = _NETWORKS.get(str(entry.get("interface")))
        osd, peer = entry.get("from osd"), entry.get("to osd")
        seconds = answers.number(answers.part(entry, "average").get("1min")) / 1000
        is_known = network and _is_osd(osd) and _is_osd(peer) and not entry.get("stale")
        if network and is_known and seconds >= LONG_MS / 1000:
            yield OsdPing(osd=str(osd), peer=str(peer), network=network, seconds=seconds)


def _is_osd(value: Any) -> bool:
    return type(value) is int and value >= 0
