"""The cluster's own background work, held back for a study: what is to be held back, and the commands for it.

Each session that holds something back has a key of its own in the cluster, which says what it found at work. So the
last of several sessions puts back what the first of them has found, and what was off before stays off.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from cephtui.ceph import answers
from cephtui.ceph.pools import OsdMap
from cephtui.frozen import dataclass
from cephtui.models.base import Quiet
from cephtui.models.findings.cluster import NO_SCRUBS

FLAGS = NO_SCRUBS
BALANCER, BALANCER_SET, AUTOSCALER = "balancer", "balancer set", "autoscaler"
"""The balancer, which is on by default; one that was switched on in the configuration; the PG autoscaler of a pool."""
BALANCER_ARGV = ("ceph", "balancer", "status", "-f", "json")
_BALANCER_OPTION = "mgr/balancer/active"
_KEYS = "cephtui/quiet/"
HOLDERS_ARGV = ("ceph", "config-key", "dump", _KEYS, "-f", "json")
"""The command that reports the holders, by their keys; the rights of an administrator are needed for it."""
_AUTOSCALED = re.compile(rf"{AUTOSCALER} ([0-9]{{1,9}}) (on|warn)")
_ITEMS_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Holder:
    """A session that holds background work back."""

    items: frozenset[str]
    """What is to be put back: a flag that is to be cleared, ``balancer``, ``autoscaler 3 on`` for the pool of id 3."""
    since: str = ""
    """When it began, as it is shown: ``2026-11-29 10:31 UTC``."""
    is_leaving: bool = False
    """Whether it is putting back what it holds."""

    @property
    def text(self) -> str:
        """The value of its key."""
        return json.dumps({"items": sorted(self.items), "since": self.since, "leaving": self.is_leaving})


def parse_holders(text: str) -> Mapping[str, Holder]:
    """The answer to ``HOLDERS_ARGV``, by the owners of the sessions."""
    found = answers.json_object(text)
    return {str(key).removeprefix(_KEYS): _holder(str(value)) for key, value in found.items()}


def _holder(value: str) -> Holder:
    try:
        answer = answers.json_object(value)
    except ValueError:
        return Holder(frozenset())
    items = frozenset(item for item in answers.names(answer.get("items"))[:_ITEMS_MOST] if is_item(item))
    return Holder(items, str(answer.get("since", ""))[:40], answer.get("leaving") is True)


def is_item(text: str) -> bool:
    """Whether it is something that cephtui holds back: nothing else is ever put back."""
    return text in (*FLAGS, BALANCER, BALANCER_SET) or bool(_AUTOSCALED.fullmatch(text))


def parse_balancer(text: str) -> bool:
    """Whether the balancer is on, of the answer to ``BALANCER_ARGV``."""
    return answers.json_object(text, "active")["active"] is True


def at_work(quiet: Quiet, osd_map: OsdMap, balancer: bool, config: Mapping[str, str]) -> frozenset[str]:
    """What is at work in the cluster, or may be at any time, of what ``quiet`` holds back.

    ``config`` are the options that are set, by section and name.
    """
    flags = {flag for flag in FLAGS if flag not in osd_map.flags}
    if quiet != "all":
        return frozenset(flags)
    is_set = any(name.rpartition(" ")[2] == _BALANCER_OPTION for name in config)
    balancers = {BALANCER_SET if is_set else BALANCER} if balancer else set[str]()
    scaled = {f"{AUTOSCALER} {pool.id} {pool.autoscale}" for pool in osd_map.pools.values()}
    return frozenset({*flags, *balancers, *filter(_AUTOSCALED.fullmatch, scaled)})


def subject(item: str) -> str:
    """What it is about, however that was: ``noscrub``, ``balancer``, ``autoscaler 3``."""
    words = item.split()
    return " ".join(words[:2]) if words[0] == AUTOSCALER else words[0]


def names(items: Iterable[str]) -> list[str]:
    """What is held back in the words of Ceph, each once: ``noscrub``, ``balancer``, ``autoscaler``."""
    order = (*FLAGS, BALANCER, AUTOSCALER)
    return sorted({item.partition(" ")[0] for item in items}, key=order.index)


def in_words(items: Iterable[str], of_flags: str, of_modules: str) -> str:
    """``noscrub, nodeep-scrub set, balancer, autoscaler off``: what is done to flags, and to the manager's modules."""
    flags = [name for name in names(items) if name in FLAGS]
    modules = [name for name in names(items) if name not in FLAGS]
    done = ((flags, of_flags), (modules, of_modules))
    return "; ".join(f"{', '.join(some)} {word}" for some, word in done if some)


# ---------------------------------------------------------------------------------------------- commands


def keep_argv(owner: str, holder: Holder) -> tuple[str, ...]:
    """The command that says in the cluster what a session holds back."""
    return ("ceph", "config-key", "set", f"{_KEYS}{owner}", holder.text)


def forget_argv(owner: str) -> tuple[str, ...]:
    """The command that removes that."""
    return ("ceph", "config-key", "rm", f"{_KEYS}{owner}")


def hold_argvs(item: str, osd_map: OsdMap) -> list[tuple[str, ...]]:
    """The commands that hold it back; none where that is so already."""
    if item in FLAGS:
        return [] if item in osd_map.flags else [("ceph", "osd", "set", item)]
    if item in (BALANCER, BALANCER_SET):
        return [("ceph", "balancer", "off")]
    return _autoscale_argvs(item, osd_map, "off")


def put_back_argvs(item: str, osd_map: OsdMap) -> list[tuple[str, ...]]:
    """The commands that put it back as it was; none for a pool that does not exist any more."""
    if item in FLAGS:
        return [("ceph", "osd", "unset", item)] if item in osd_map.flags else []
    if item in (BALANCER, BALANCER_SET):
        on = ("ceph", "balancer", "on")
        return [on] if item == BALANCER_SET else [on, ("ceph", "config", "rm", "mgr", _BALANCER_OPTION)]
    return _autoscale_argvs(item, osd_map, item.rpartition(" ")[2])


def _autoscale_argvs(item: str, osd_map: OsdMap, mode: str) -> list[tuple[str, ...]]:
    pools = [pool for pool in osd_map.pools.values() if str(pool.id) == item.split()[1] and pool.autoscale != mode]
    return [("ceph", "osd", "pool", "set", pool.name, "pg_autoscale_mode", mode) for pool in pools]
